//! Shares of `maxdata=`: how much each job of a run moves until all together have moved enough.
//!
//! Vdbench counts what all workloads move. Here each job ends when its part is done, so parts are in proportion to what the jobs
//! move in the same time: their rates by `skew=` and `iorate=`, times their transfer sizes.

use super::super::sections::{Rd, Xfersize};
use super::{Slot, Spec};

/// Below this an amount is a multiple of the size of all SDs.
const MULTIPLE: f64 = 100.0;

/// Gives each slot its part of what `rd` allows, where it allows anything. `rates` are those of the slots, to each other;
/// `size` is that of all SDs.
pub(super) fn share_out(
    slots: &mut [Slot],
    (rd, size): (&Rd, u64),
    specs: &[Spec<'_>],
    rates: &[f64],
) {
    let reads = |slot: &Slot| specs[slot.member].rdpct / 100.0;
    let speeds = slots.iter().zip(rates);
    let speeds: Vec<f64> = speeds
        .map(|(slot, rate)| rate * mean(specs[slot.member].xfersize))
        .collect();
    let sum = |part: &dyn Fn(&Slot) -> f64| -> f64 {
        let moved = slots.iter().zip(&speeds);
        moved.map(|(slot, speed)| speed * part(slot)).sum()
    };
    let limits = [
        (rd.maxdata.both, sum(&|_| 1.0)),
        (rd.maxdata.read, sum(&reads)),
        (rd.maxdata.written, sum(&|slot| 1.0 - reads(slot))),
    ];
    let seconds = limits.into_iter().filter_map(|(amount, speed)| {
        let amount = amount.filter(|_| speed > 0.0)?;
        let bytes = if amount < MULTIPLE {
            amount * size as f64
        } else {
            amount
        };
        Some(bytes / speed)
    });
    let Some(seconds) = seconds.reduce(f64::min) else {
        return;
    };
    for (slot, speed) in slots.iter_mut().zip(speeds) {
        slot.maxdata = Some(speed * seconds);
    }
}

/// Mean bytes of an I/O.
fn mean(size: &Xfersize) -> f64 {
    match size {
        Xfersize::One(size) => *size as f64,
        Xfersize::Mix(sizes) => sizes
            .iter()
            .map(|(size, percent)| *size as f64 * percent / 100.0)
            .sum(),
        Xfersize::Range { least, most, .. } => f64::midpoint(*least as f64, *most as f64),
    }
}
