//! Rates that a worker must keep up.
//!
//! A worker that falls behind one of them fails. It is judged where it looks at its clock anyway, so that the I/O itself
//! knows nothing of it: from the first completion after the time to settle to the first one a cycle later, and so on, by
//! what was counted between them. Each is met when the next completions are taken, or a wait without I/O begins. A pause
//! counts with the I/O around it, and what has not completed is judged when something has.
//!
//! Times are cut to whole milliseconds, as fio does: a job that is held to the very rate that it must keep up does not fail
//! because a completion was late by microseconds.

use fathom_rawio::Queue;
use fathom_record::{EndReason, HalfSecond};
use fathom_units::{BytesPerSec, Iops, Nanos};
use fathom_workload::{Direction, MinimumRates, Pacing};

use super::source::Source;
use super::{State, Worker};
use crate::timing::Done;

/// A rate that was not kept up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shortfall {
    pub(crate) direction: Direction,
    pub(crate) least: Pacing,
    pub(crate) got: Pacing,
}

/// What a direction had done at a completion.
#[derive(Debug, Clone, Copy)]
struct Mark {
    at: Nanos,
    ios: u64,
    bytes: u64,
}

/// What judges one worker.
#[derive(Debug)]
pub(super) struct Judge {
    minimum: MinimumRates,
    /// Up to here, nothing is judged.
    settled: Nanos,
    /// What had been done when it was last begun.
    begun: Done,
    /// From where each direction is judged next; `None`: not known yet.
    marks: [Option<Mark>; 3],
    /// What stands in samples that are over, and how many of them were added.
    sampled: (Done, usize),
    /// As [`Source::stretch`] told when it was last begun.
    stretch: u64,
    shortfall: Option<Shortfall>,
}

impl Judge {
    pub(super) fn new(minimum: MinimumRates) -> Self {
        Self {
            minimum,
            settled: Nanos::MAX,
            begun: Done::default(),
            marks: [None; 3],
            sampled: (Done::default(), 0),
            stretch: 0,
            shortfall: None,
        }
    }

    /// The measurement begins at `now`; gives when to judge.
    pub(super) fn begin(&mut self, now: Nanos) -> Nanos {
        self.settled = now.saturating_add(MinimumRates::SETTLING);
        self.settled
    }

    pub(super) fn shortfall(&self) -> Option<Shortfall> {
        self.shortfall
    }

    /// What was done up to the last completion, of which `sample` is not over.
    fn done(&mut self, samples: &[HalfSecond], sample: &HalfSecond) -> Done {
        let (done, added) = &mut self.sampled;
        for over in samples.get(*added..).unwrap_or_default() {
            done.add(over);
        }
        *added = samples.len();
        let mut done = *done;
        done.add(sample);
        done
    }

    /// Judges what was done up to the last completion, and gives when to judge again, at the earliest.
    fn judge(&mut self, now: Nanos, last: Nanos, done: &Done) -> Nanos {
        if last < self.settled {
            return self.settled;
        }
        let mut next = Nanos::MAX;
        for way in Direction::ALL {
            let Some(least) = self.minimum.of(way) else {
                continue;
            };
            let index = way as usize;
            if done.ios[index] == self.begun.ios[index] {
                // A direction that has done nothing yet is not judged, and may never do anything. What it does first is met with
                // the very next completions: a burst that began between two looks would count in part.
                next = next.min(now + Nanos::new(1));
                continue;
            }
            let mark = Mark {
                at: last,
                ios: done.ios[index],
                bytes: done.bytes[index],
            };
            let from = *self.marks[index].get_or_insert(mark);
            let spent = last.saturating_sub(from.at);
            if spent < self.minimum.cycle {
                next = next.min(from.at.saturating_add(self.minimum.cycle));
                continue;
            }
            let got = rate_between(&from, &mark, least);
            if is_less(got, least) {
                self.shortfall.get_or_insert(Shortfall {
                    direction: way,
                    least,
                    got,
                });
            }
            self.marks[index] = Some(mark);
            next = next.min(last.saturating_add(self.minimum.cycle));
        }
        next
    }
}

/// The rate between two marks, of the kind that `like` is; they lie a millisecond apart at least.
fn rate_between(from: &Mark, to: &Mark, like: Pacing) -> Pacing {
    let millis = (to.at.saturating_sub(from.at).get() / 1_000_000).max(1);
    let per_second = |count: u64| (u128::from(count) * 1000 / u128::from(millis)) as u64;
    match like {
        Pacing::Iops(_) => Pacing::Iops(Iops::new(per_second(to.ios - from.ios))),
        Pacing::Bytes(_) => Pacing::Bytes(BytesPerSec::new(per_second(to.bytes - from.bytes))),
    }
}

fn is_less(got: Pacing, least: Pacing) -> bool {
    match (got, least) {
        (Pacing::Iops(got), Pacing::Iops(least)) => got < least,
        (Pacing::Bytes(got), Pacing::Bytes(least)) => got < least,
        _ => false,
    }
}

impl<Q: Queue, S: Source> Worker<'_, Q, S> {
    /// Judges the rates that the job must keep up, and ends the worker where it has not.
    #[cold]
    pub(super) fn judge_rates(&mut self, now: Nanos) {
        let Some(judge) = self.judge.as_mut().filter(|_| self.state == State::Issuing) else {
            self.boundaries.judged_at = Nanos::MAX;
            return;
        };
        let done = judge.done(&self.stats.samples, &self.boundaries.sample);
        let stretch = if S::HOOKS {
            self.parts.source.stretch()
        } else {
            0
        };
        if stretch != judge.stretch {
            (judge.stretch, judge.begun, judge.marks) = (stretch, done, [None; 3]);
            self.boundaries.judged_at = judge.begin(now);
            return;
        }
        self.boundaries.judged_at = judge.judge(now, self.last_completion, &done);
        if judge.shortfall.is_some() {
            self.boundaries.judged_at = Nanos::MAX;
            self.end_with(EndReason::TooSlow);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes, of which there are to be 10 a second.
    fn writes(ios: u64) -> Done {
        Done {
            ios: [1_000, ios, 0],
            bytes: [0; 3],
        }
    }

    #[test]
    fn a_direction_is_judged_from_its_first_completions_on() {
        let mut judge = Judge::new(MinimumRates {
            rates: [None, Some(Pacing::Iops(Iops::new(10))), None],
            cycle: MinimumRates::CYCLE,
        });
        let ms = Nanos::from_millis;
        assert_eq!(judge.begin(Nanos::ZERO), MinimumRates::SETTLING);
        // Reads complete, and no write yet: the next completions are looked at, whenever they come.
        let next = judge.judge(ms(2_500), ms(2_500), &writes(0));
        assert_eq!(next, ms(2_500) + Nanos::new(1));
        // The first writes: their number is where the count begins.
        assert_eq!(judge.judge(ms(2_501), ms(2_501), &writes(4)), ms(3_501));
        assert_eq!(judge.judge(ms(3_501), ms(3_501), &writes(14)), ms(4_501));
        assert_eq!(judge.shortfall(), None);
        judge.judge(ms(4_501), ms(4_501), &writes(23));
        let got = judge.shortfall().map(|shortfall| shortfall.got);
        assert_eq!(got, Some(Pacing::Iops(Iops::new(9))));
    }
}
