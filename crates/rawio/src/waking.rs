//! Waking up on time.
//!
//! A sleep ends late: the processor has to leave its rest, and the kernel has to come round to the thread (some 30 µs in a
//! virtual machine). Of a load with intended starts that would stand in every response time. So the last part of a wait is
//! spent awake, as long as the sleeps before were late.

use fathom_units::Nanos;

/// A sleep that ends later than this tells of a processor that is busy with others: to wait awake would only keep it busier.
const LATE_MOST: Nanos = Nanos::new(100_000);
/// The lead follows what was later than it by this part of the difference, and what was earlier by that: most sleeps end in
/// time, and a few late ones do not count for long.
const UP: u64 = 8;
const DOWN: u64 = 32;

/// How late the sleeps of a thread have ended of late.
#[derive(Debug, Clone, Copy, Default)]
pub struct Waking {
    lead: Nanos,
}

impl Waking {
    /// When a sleep should end for its thread to be awake at `moment`.
    pub fn before(self, moment: Nanos) -> Nanos {
        moment.saturating_sub(self.lead)
    }

    /// Takes note of a sleep that should have ended at `planned` and ended at `woke`.
    pub fn note(&mut self, planned: Nanos, woke: Nanos) {
        let late = woke.saturating_sub(planned).get();
        let lead = self.lead.get();
        let next = if late > LATE_MOST.get() {
            lead / 2
        } else if late > lead {
            lead + (late - lead).div_ceil(UP)
        } else {
            lead - (lead - late) / DOWN
        };
        self.lead = Nanos::new(next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lead(waking: Waking) -> u64 {
        1_000_000 - waking.before(Nanos::new(1_000_000)).get()
    }

    #[test]
    fn sleeps_end_earlier_by_what_they_were_late() {
        let mut waking = Waking::default();
        assert_eq!(lead(waking), 0);
        for round in 0..1000 {
            // Nine sleeps of ten are 20 µs late, the tenth 30.
            let late = if round % 10 == 9 { 30_000 } else { 20_000 };
            waking.note(Nanos::new(500), Nanos::new(500 + late));
        }
        assert!((20_000..30_000).contains(&lead(waking)), "{waking:?}");
    }

    #[test]
    fn a_busy_processor_is_not_kept_busier() {
        let mut waking = Waking::default();
        for _ in 0..100 {
            waking.note(Nanos::ZERO, Nanos::new(60_000));
        }
        assert!(lead(waking) > 50_000, "{waking:?}");
        for _ in 0..20 {
            waking.note(Nanos::ZERO, Nanos::new(400_000));
        }
        assert_eq!(lead(waking), 0);
    }

    #[test]
    fn a_sleep_that_was_interrupted_is_not_late() {
        let mut waking = Waking::default();
        waking.note(Nanos::new(900), Nanos::new(100));
        assert_eq!(lead(waking), 0);
    }
}
