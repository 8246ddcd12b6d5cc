//! What holds a job's I/O back, and what ends it by its results.

use fathom_units::Nanos;

use crate::{Direction, Pacing, Poisson};

/// A rate of its own for each direction of a mixed job.
///
/// A direction that is ahead of its rate waits, and the other goes on; a direction without a rate is not held back.
/// Where each block is trimmed, then written, both go when the write is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DirectionRates {
    /// By [`crate::Direction`]; `None`: as fast as it can.
    pub rates: [Option<Pacing>; 3],
    /// Gaps between the starts of one direction.
    pub poisson: Poisson,
}

/// Rates that each worker must keep up, or its job fails.
///
/// Each direction is judged by itself, from one completion to another that comes a cycle later or more. A direction that has
/// done nothing yet is not judged, nor is what comes before [`MinimumRates::SETTLING`] is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MinimumRates {
    /// By [`crate::Direction`]; `None`: any rate will do.
    pub rates: [Option<Pacing>; 3],
    /// How long a rate is averaged over at least; 1 ms or more.
    pub cycle: Nanos,
}

impl MinimumRates {
    /// What is left out of account at the start of the measurement, as in fio.
    pub const SETTLING: Nanos = Nanos::from_secs(2);
    /// The cycle where none is asked for, as in fio.
    pub const CYCLE: Nanos = Nanos::from_secs(1);

    /// What of it concerns the directions that `goes` names; `None`: nothing.
    #[must_use]
    pub fn only(mut self, goes: impl Fn(Direction) -> bool) -> Option<Self> {
        for way in Direction::ALL {
            self.rates[way as usize].take_if(|_| !goes(way));
        }
        (self.rates != [None; 3]).then_some(self)
    }

    /// The rate that a direction must keep up.
    pub fn of(&self, way: Direction) -> Option<Pacing> {
        self.rates[way as usize]
    }
}

/// Rates of an open loop that follow one another, over and over, from the job's first I/O on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RateSteps {
    /// In order; 1 to [`RATE_STEPS_MAX`], not all without a rate, each at least 1 ms. All rates are of one kind.
    pub steps: Vec<RateStep>,
    /// All I/Os of a second start together at its beginning.
    pub together: bool,
}

/// A rate for a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateStep {
    /// Rate of each worker; `None`: nothing starts.
    pub rate: Option<Pacing>,
    /// How long it holds.
    pub length: Nanos,
}

/// Most steps of a job's rate.
pub const RATE_STEPS_MAX: usize = 4096;

/// A job's share of the I/O of all jobs of its flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flow {
    /// Jobs of one number that run together are held to their weights.
    pub id: u32,
    /// Weight of each of the job's workers; at least 1.
    pub weight: u32,
    /// How long a worker that is ahead sleeps before it looks again; zero: it looks at once.
    pub pause: Nanos,
}

/// A search for the largest depth at which latency stays below a limit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LatencyTarget {
    /// The limit.
    pub most: Nanos,
    /// How long each depth is tried.
    pub window: Nanos,
    /// Share of the I/Os that must stay below the limit, in percent, 0 to 100. Of 0 % every window is good.
    pub percentile: f64,
    /// What happens when the depth is found.
    pub then: AfterFound,
}

/// What a search for a depth does when it has found it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AfterFound {
    /// The job ends.
    #[default]
    Ends,
    /// The job goes on, and the depth follows the latency.
    GoesOn,
}

/// What is judged to be steady.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SteadyMetric {
    /// I/Os a second.
    Iops,
    /// Bytes a second.
    Bandwidth,
    /// Mean latency.
    Latency,
}

/// How steadiness is judged over a window of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SteadyJudgement {
    /// By the largest distance of a value from the mean.
    Deviation,
    /// By the slope of the least-squares line, per value.
    Slope,
}

/// Below what a deviation or slope counts as steady.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SteadyLimit {
    /// In the metric's unit: I/Os a second, bytes a second, or ns.
    Absolute(f64),
    /// In percent of the window's mean.
    Percent(f64),
}

/// The job ends when its results have become steady.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SteadyState {
    /// What is judged.
    pub metric: SteadyMetric,
    /// How.
    pub judgement: SteadyJudgement,
    /// The limit.
    pub limit: SteadyLimit,
    /// The window that is judged.
    pub window: Nanos,
    /// Time from the start of the measurement that is not looked at.
    pub ramp: Nanos,
    /// Time between two values; the window holds a whole number of them.
    pub interval: Nanos,
}

impl SteadyState {
    /// Values a window may hold: eleven days of seconds.
    pub const VALUES_MAX: u64 = 1_000_000;

    /// Values of a full window, 0 where the interval is 0.
    pub fn values(&self) -> u64 {
        self.window
            .get()
            .checked_div(self.interval.get())
            .unwrap_or(0)
    }
}

/// I/Os whose blocks overlap are never outstanding together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Overlaps {
    /// They may be.
    #[default]
    Allowed,
    /// A later one waits for the earlier.
    Serialized,
}
