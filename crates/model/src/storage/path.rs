//! Paths: the steps that a token passes in tandem.
//!
//! A path is built once and shared by all tokens that take it. New kinds of storage are new lists of these steps, not new
//! steps: a network volume is windows, rates and a delay; a background flush is the rates it is charged to.

use fathom_units::Nanos;

use crate::latency::LatencyTable;
use crate::limit::MOST_WAITS;

/// Most steps of a path.
pub(super) const MOST_STEPS: usize = 8;

/// Index of a path.
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
    /// The time at the quantile `number` / 2^64.
    #[inline]
    pub fn at(&self, number: u64) -> Nanos {
        match self {
            Self::Constant(time) => *time,
            Self::Table(table) => table.at(number),
        }
    }
}

/// Steps in tandem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Path {
    steps: [Step; MOST_STEPS],
    length: u8,
    /// Whether any step is a window.
    pub has_windows: bool,
}

impl Path {
    /// The path of these steps: at most [`MOST_STEPS`], of which at most [`MOST_WAITS`] are not delays.
    pub fn new(steps: &[Step]) -> Self {
        assert!(steps.len() <= MOST_STEPS, "a path has at most 8 steps");
        let waits = steps
            .iter()
            .filter(|step| !matches!(step, Step::Delay { .. }));
        assert!(
            waits.count() <= MOST_WAITS,
            "at most 6 steps of a path can be waited for"
        );
        let mut all = [Step::Rate(0); MOST_STEPS];
        all[..steps.len()].copy_from_slice(steps);
        Self {
            steps: all,
            length: steps.len() as u8,
            has_windows: steps.iter().any(|step| matches!(step, Step::Window(_))),
        }
    }

    /// The step at `index`; `None` past the last.
    #[inline]
    pub fn step(&self, index: u8) -> Option<Step> {
        (index < self.length).then(|| self.steps[usize::from(index)])
    }

    /// All steps.
    pub fn steps(&self) -> &[Step] {
        &self.steps[..usize::from(self.length)]
    }
}
