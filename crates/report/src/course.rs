//! Where a run is: its stage among all, its phase, and how long that takes.
//!
//! What the progress line and the panel have in common, so that both say the same of one event.

use fathom_record::{Event, IntervalStats, OpStats, Phase};
use fathom_units::Nanos;

/// The stage under way.
#[derive(Debug, Clone, Default)]
pub(crate) struct Course {
    /// Its name; empty before the first.
    pub(crate) stage: String,
    /// Its place among all stages and repeats, from 1; 0 before the first.
    pub(crate) number: usize,
    /// Stages and repeats that will run.
    pub(crate) count: usize,
    /// How long it should take, where that is known.
    pub(crate) expected: Option<Nanos>,
}

impl Course {
    /// Takes what `event` says of it.
    pub(crate) fn event(&mut self, event: &Event<'_>) {
        if let Event::StageStarted {
            index,
            count,
            words,
            expected,
            ..
        } = event
        {
            (*words).clone_into(&mut self.stage);
            (self.number, self.count) = (index + 1, *count);
            self.expected = *expected;
        }
    }

    /// Time since the stage began, and the time that it should take, with `between` between them: `01:01/01:30`.
    pub(crate) fn times(&self, elapsed: Nanos, between: &str) -> String {
        let expected = self.expected.map_or(String::new(), |expected| {
            between.to_owned() + &clock(expected)
        });
        clock(elapsed) + &expected
    }
}

/// What a phase is called.
pub(crate) const fn phase_name(phase: Phase) -> &'static str {
    match phase {
        Phase::Layout => "layout",
        Phase::Warmup => "warm-up",
        Phase::Measure => "measure",
    }
}

/// I/O of all directions of a second; `None` where nothing goes any way.
pub(crate) fn all_directions(interval: &IntervalStats) -> Option<OpStats> {
    merged(interval.directions.iter().flatten())
}

/// Operations on file sets of a second; `None` where there are no file sets.
pub(crate) fn all_of_set(interval: &IntervalStats) -> Option<OpStats> {
    merged(interval.set.0.iter().map(|(_, stats)| stats))
}

fn merged<'a>(mut parts: impl Iterator<Item = &'a OpStats>) -> Option<OpStats> {
    let mut all = parts.next()?.clone();
    parts.for_each(|stats| all.merge(stats));
    Some(all)
}

fn clock(time: Nanos) -> String {
    let seconds = (time.get() + 500_000_000) / 1_000_000_000;
    if seconds < 3600 {
        format!("{:02}:{:02}", seconds / 60, seconds % 60)
    } else {
        format!(
            "{}:{:02}:{:02}",
            seconds / 3600,
            seconds / 60 % 60,
            seconds % 60
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(elapsed: u64, expected: Option<u64>, times: &str) {
        let mut course = Course::default();
        course.event(&Event::StageStarted {
            index: 2,
            count: 5,
            name: "a read",
            words: "reads",
            expected: expected.map(Nanos::from_millis),
        });
        assert_eq!((course.stage.as_str(), course.number), ("reads", 3));
        assert_eq!(course.times(Nanos::from_millis(elapsed), " of "), times);
    }

    #[test]
    fn times_have_hours_where_there_are_some() {
        check(0, None, "00:00");
        check(61_499, Some(90_000), "01:01 of 01:30");
        check(61_500, Some(3_600_000), "01:02 of 1:00:00");
        check(36_061_000, None, "10:01:01");
    }
}
