//! Rates that no job can keep up.

use fathom_units::Nanos;

use crate::{Arrival, Direction, Job, Pacing};

use super::Found;

/// The shortest cycle: rates are judged by whole milliseconds.
const CYCLE_MIN: Nanos = Nanos::from_millis(1);

pub(super) fn check(job: &Job, found: &mut Found) {
    let Some(minimum) = &job.features.minimum else {
        return;
    };
    if minimum.rates == [None; 3] {
        let message = "it is to keep up rates, and there are none";
        found.add("rates_min", message, "give one, such as read = \"500/s\"");
    }
    if minimum.cycle < CYCLE_MIN {
        let message = "a rate to keep up is judged over less than 1 ms";
        found.add("rates_min", message, "give a longer cycle, such as \"1s\"");
    }
    for way in Direction::ALL {
        let Some(least) = minimum.of(way) else {
            continue;
        };
        if !job.moves(way) {
            let message = format!("it is to keep up a rate of {}s, and does none", way.name());
            found.add("rates_min", message, "leave that rate out");
        }
        let zero = matches!(least, Pacing::Iops(iops) if iops.get() == 0)
            || matches!(least, Pacing::Bytes(bytes) if bytes.get() == 0);
        if zero {
            let message = format!("the rate of {}s to keep up is 0", way.name());
            found.add("rates_min", message, "leave that rate out");
        }
        if held_back_to(job, way).is_some_and(|most| is_less(most, least)) {
            let message = format!(
                "it is to keep up a rate of {}s above the one it is held to",
                way.name()
            );
            found.add("rates_min", message, "lower it, or raise the other");
        }
    }
}

/// The rate that a direction is held to, where one is known for it alone.
fn held_back_to(job: &Job, way: Direction) -> Option<Pacing> {
    if let Some(rates) = &job.features.rates {
        return rates.rates[way as usize];
    }
    let alone = Direction::ALL.iter().filter(|way| job.moves(**way)).count() == 1;
    match job.arrival {
        Arrival::Open { rate, .. } if alone && job.features.rate_steps.is_none() => Some(rate),
        _ => None,
    }
}

/// Rates of different kinds cannot be compared.
fn is_less(most: Pacing, least: Pacing) -> bool {
    match (most, least) {
        (Pacing::Iops(most), Pacing::Iops(least)) => most < least,
        (Pacing::Bytes(most), Pacing::Bytes(least)) => most < least,
        _ => false,
    }
}
