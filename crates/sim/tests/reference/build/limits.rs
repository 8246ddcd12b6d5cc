//! Limits of a queue, with what raises them.

use fathom_catalog::Limits;
use fathom_model::{Burst, Credits};
use fathom_units::{BytesPerSec, Iops};

use crate::allowance::Allowance;
use crate::queue::{Counts, Limit};

/// How something goes above its own limits.
#[derive(Clone, Copy)]
pub struct Bursting {
    pub how: Burst,
    pub highest: Limits,
    /// How long a full bucket lasts at the highest rate.
    pub seconds: u64,
    pub start: Credits,
}

/// Limits that nothing raises, those of I/Os first.
pub fn steady(base: &Limits) -> Vec<Limit> {
    let none = Bursting {
        how: Burst::Off,
        highest: Limits::default(),
        seconds: 0,
        start: Credits::FULL,
    };
    raised(base, 0, none)
}

/// Limits of which `tolerance_ns` may leave ahead, raised by bursting: on demand to the highest rate, by credits to the highest
/// rate as long as the bucket has some.
pub fn raised(base: &Limits, tolerance_ns: u64, bursting: Bursting) -> Vec<Limit> {
    let highest = bursting.highest;
    let bytes = |rate: Option<BytesPerSec>| rate.map(BytesPerSec::get);
    let ios = |rate: Option<Iops>| rate.map(Iops::get);
    let kinds = [
        (Counts::Ios, ios(base.iops), ios(highest.iops)),
        (
            Counts::Bytes,
            bytes(base.bandwidth),
            bytes(highest.bandwidth),
        ),
    ];
    let mut limits = Vec::new();
    for (counts, base, highest) in kinds {
        let Some(base) = base else { continue };
        let mut add = |allowance| limits.push(Limit { counts, allowance });
        // A burst limit below the base raises nothing.
        match (bursting.how, highest.filter(|highest| *highest > base)) {
            (Burst::Off, _) | (_, None) => add(Allowance::new(base, tolerance_ns)),
            (Burst::OnDemand, Some(highest)) => add(Allowance::new(highest, tolerance_ns)),
            (Burst::Credits, Some(highest)) => {
                add(Allowance::new(highest, tolerance_ns));
                let start = bursting.start.share();
                add(Allowance::bucket(base, highest, bursting.seconds, start));
            }
        }
    }
    limits
}
