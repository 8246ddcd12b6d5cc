//! What an open loop owes: after its warm-up, and when its time is over.
//!
//! What was due by the end and had not begun has waited, and what waits longest is what a figure like p99.9 is about: left
//! out, a stall shortly before the end would be in no percentile. So it is done all the same, but where the schedule is
//! further behind than [`MOST_OWED`]: what a job cannot carry is told by the rate it reached, and need not be worked off.
//! What was late in the warm-up, in turn, is not owed to the measurement: the schedule goes on from where that begins.

use fathom_units::Nanos;

/// One part in so many of the measured time: a rate that is reached as badly as this, or worse, fails a check of the run.
const MOST_OWED: u64 = 100;

/// Whether what was due at `due` is begun although the measurement from `start` was over at `end`.
pub fn is_owed(due: Nanos, start: Nanos, end: Nanos) -> bool {
    let allowed = end.saturating_sub(start).get() / MOST_OWED;
    due < end && (end - due).get() <= allowed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hundredth_of_the_measured_time_is_owed() {
        let owed = |due| is_owed(Nanos::new(due), Nanos::new(1_000), Nanos::new(2_000));
        let dues = [0, 1_989, 1_990, 1_999, 2_000, 2_001];
        assert_eq!(dues.map(owed), [false, false, true, true, false, false]);
    }
}
