//! Paths: the steps that a token passes in tandem.
//!
//! A path is built once and shared by all tokens that take it. New kinds of storage are new lists of these steps, not new
//! steps: a network volume is windows, rates and a delay; a background flush is the rates it is charged to.

use fathom_units::Nanos;

use crate::factor::Factor;
use crate::latency::LatencyTable;
use crate::limit::MOST_WAITS;

/// Most steps of a path.
pub(super) const MOST_STEPS: usize = 8;

/// A path: the place of its first step among those of all paths.
pub(super) type PathId = u32;

/// No index: a delay inside no stage, a token of no I/O.
pub(super) const NONE: u32 = u32::MAX;

/// What a token passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// A stage: leaves when the stage's limits let it, first come, first served.
    Rate(u32),
    /// The stage of the token's file, where it has one.
    File,
    /// A window: enters when there is room, and makes room when the whole token completes.
    Window(u32),
    /// Takes a time of its own, whatever else is under way.
    Delay {
        /// Index of the law that gives the time.
        law: u32,
        /// The stage whose depth includes tokens in the delay; [`NONE`]: no stage's.
        inside: u32,
    },
    /// The token has passed its path.
    End {
        /// Whether any step was a window.
        windows: bool,
    },
}

/// How long a delay takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum DelayLaw {
    /// Always the same: a round trip.
    Constant(Nanos),
    /// Drawn: media.
    Table(LatencyTable),
}

impl DelayLaw {
    /// The same with every time `factor` times as long.
    pub fn slowed(&self, factor: Factor) -> Self {
        match self {
            Self::Constant(time) => Self::Constant(Nanos::new(factor.times(time.get()))),
            Self::Table(table) => Self::Table(table.changed(|time| factor.times(time))),
        }
    }

    /// The time at the quantile `number` / 2^64.
    #[expect(
        clippy::inline_always,
        reason = "every I/O comes by here, and a call costs as much as the work"
    )]
    #[inline(always)]
    pub fn at(&self, number: u64) -> Nanos {
        match self {
            Self::Constant(time) => *time,
            Self::Table(table) => table.at(number),
        }
    }
}

/// All paths, one after another, each followed by [`Step::End`].
#[derive(Debug, Default)]
pub(super) struct Paths {
    steps: Vec<Step>,
    /// For each step that is a delay and the last of a path without windows, the stage whose depth includes it; [`NO_END`]
    /// for all others.
    ends: Vec<u32>,
}

/// Not the last step of a path.
const NO_END: u32 = u32::MAX - 1;

impl Paths {
    /// Adds the path of these steps: at most [`MOST_STEPS`], of which at most [`MOST_WAITS`] are not delays.
    pub fn add(&mut self, steps: &[Step]) -> PathId {
        assert!(steps.len() <= MOST_STEPS, "a path has at most 8 steps");
        let waits = steps
            .iter()
            .filter(|step| !matches!(step, Step::Delay { .. }));
        assert!(
            waits.count() <= MOST_WAITS,
            "at most 6 steps of a path can be waited for"
        );
        let path = self.steps.len() as PathId;
        self.steps.extend_from_slice(steps);
        let windows = steps.iter().any(|step| matches!(step, Step::Window(_)));
        self.steps.push(Step::End { windows });
        let last = |place: usize| match steps.get(place) {
            Some(Step::Delay { inside, .. }) if place + 1 == steps.len() && !windows => *inside,
            _ => NO_END,
        };
        self.ends.extend((0..=steps.len()).map(last));
        path
    }

    /// The step at `place`: that of the path itself is its first, those behind follow up to its end.
    #[inline]
    pub fn step(&self, place: u32) -> Step {
        self.steps[place as usize]
    }

    /// The stage whose depth includes the delay at `place` ([`NONE`]: no stage's), where nothing but the end of its path
    /// follows.
    #[inline]
    pub fn ending(&self, place: u32) -> Option<u32> {
        let end = self.ends.get(place as usize).copied();
        end.filter(|inside| *inside != NO_END)
    }

    /// Each step with the one behind it.
    pub fn pairs(&self) -> impl Iterator<Item = (Step, Step)> + '_ {
        let behind = self.steps.iter().skip(1);
        self.steps.iter().copied().zip(behind.copied())
    }

    /// Each step with the two behind it.
    pub fn triples(&self) -> impl Iterator<Item = [Step; 3]> + '_ {
        let triples = self.steps.windows(3);
        triples.filter_map(|steps| steps.try_into().ok())
    }

    /// Places and laws of the delays whose tokens count to a stage.
    pub fn delays_inside(&self, stage: u32) -> Vec<(u32, u32)> {
        let steps = self.steps.iter().enumerate();
        let delays = steps.filter_map(|(place, step)| match step {
            Step::Delay { law, inside } if *inside == stage => Some((place as u32, *law)),
            _ => None,
        });
        delays.collect()
    }

    /// The delay at `place` follows another law.
    pub fn set_law(&mut self, place: u32, new: u32) {
        if let Step::Delay { law, .. } = &mut self.steps[place as usize] {
            *law = new;
        }
    }

    /// The windows of a path.
    pub fn windows(&self, path: PathId) -> impl Iterator<Item = u32> {
        let steps = &self.steps[path as usize..];
        let steps = steps
            .iter()
            .take_while(|step| !matches!(step, Step::End { .. }));
        steps.filter_map(|step| match step {
            Step::Window(window) => Some(*window),
            _ => None,
        })
    }
}
