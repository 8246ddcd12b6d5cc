//! The proof of an offer: its own workload, predicted on it.

use fathom_catalog::Catalog;
use fathom_model::Design;
use fathom_profile::{Level, PeriodKind};
use fathom_record::{Event, EventSink, OpStats, StageResult, total_of};
use fathom_units::{Nanos, group_digits};
use fathom_workload::{Direction, Stage, native};

use crate::PlanError;
use crate::need::{Need, VolumeNeed};
use crate::workload::volume_of;

/// Share of the wanted I/Os a second that must come: a limit that is just enough lets its last I/Os wait a little.
const ENOUGH: f64 = 0.99;

/// A median that is so many times what the storage takes by itself is time that I/Os wait for each other, at three parts in four.
const WAITING: u64 = 4;

/// What a design did with the workload it has to carry.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Proof {
    /// Each volume in each period.
    pub volumes: Vec<ProvenVolume>,
}

/// One volume in one period.
#[derive(Debug, Clone, PartialEq)]
pub struct ProvenVolume {
    /// Name of the volume.
    pub volume: String,
    /// The period.
    pub period: PeriodKind,
    /// I/Os a second that are needed.
    pub iops_needed: u64,
    /// I/Os a second that were predicted.
    pub iops: f64,
    /// Predicted response times, from the intended start: reads, then writes.
    pub response: Vec<(&'static str, Response)>,
    /// Latency goals.
    pub goal: Vec<(Level, Nanos)>,
    /// What its storage takes on average for an I/O that meets no other, where that is known.
    pub unloaded: Option<Nanos>,
}

/// I/Os of one direction that wait for each other most of the time.
struct Waiting {
    name: &'static str,
    median: Nanos,
    /// How many times `unloaded` the median is.
    times: u64,
    unloaded: Nanos,
}

/// How a design fails its proof: the first that it misses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Name of the volume.
    pub volume: String,
    /// The period.
    pub period: PeriodKind,
    /// What is missed.
    pub misses: Misses,
    /// What was predicted, and what is needed.
    figures: String,
}

/// What a design misses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Misses {
    /// I/Os a second.
    Rate,
    /// A latency goal at a percentile, of reads or of writes.
    Goal(Level, &'static str),
}

impl Failure {
    /// Whether another fails for the same reason: in the same volume and period, on the same figure, whatever it comes to.
    pub fn is_like(&self, other: &Self) -> bool {
        let of = |it: &Self| (it.volume.clone(), it.period, it.misses);
        of(self) == of(other)
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let period = self.period.name();
        write!(f, "`{}`, {period}: {}", self.volume, self.figures)
    }
}

/// Predicted response times of all I/O of one direction, over all machines.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Response {
    /// Mean, in ns.
    pub mean: f64,
    /// The median.
    pub p50: Nanos,
    /// The 90th percentile.
    pub p90: Nanos,
    /// The 99th percentile.
    pub p99: Nanos,
    /// The longest.
    pub max: Nanos,
}

impl Response {
    fn of(stats: &OpStats) -> Option<Self> {
        let times = stats.response.as_ref().unwrap_or(&stats.latency);
        let at = |percent| Nanos::new(times.percentile(percent));
        (times.count() > 0).then(|| Self {
            mean: times.mean(),
            p50: at(50.0),
            p90: at(90.0),
            p99: at(99.0),
            max: Nanos::new(times.max()),
        })
    }

    /// The time at a percentile.
    pub const fn at(&self, level: Level) -> Nanos {
        match level {
            Level::P50 => self.p50,
            Level::P90 => self.p90,
            Level::P99 => self.p99,
        }
    }
}

struct Silent;

impl EventSink for Silent {
    fn event(&mut self, _: &Event<'_>) {}
}

/// Predicts `workload`, which has a stage for each of `periods`, on `design`, both as texts, until `stop` says so.
///
/// # Errors
/// [`PlanError::Broken`] where one of them cannot be read, which is a fault of the planner; [`PlanError::Stopped`].
pub fn prove(
    need: &Need,
    periods: &[PeriodKind],
    (design, workload): (&str, &str),
    (catalog, stop): (&'static Catalog, &dyn Fn() -> bool),
) -> Result<Proof, PlanError> {
    let broken = |error: String| PlanError::Broken(error);
    let (design, _) = Design::read(design, "the planned design", catalog)
        .map_err(|found| broken(found.to_string()))?;
    let (workload, _) = native::read(workload, "the planned workload")
        .map_err(|found| broken(found.to_string()))?;
    let prediction = fathom_sim::predict(&workload, &design, &mut Silent, stop)
        .map_err(|error| broken(error.to_string()))?;
    if stop() {
        return Err(PlanError::Stopped);
    }
    let mut volumes = Vec::new();
    let stages = workload.stages.iter().zip(&prediction.results);
    for ((stage, result), period) in stages.zip(periods) {
        for volume in &need.volumes {
            volumes.extend(proven(need, volume, *period, (stage, result)));
        }
    }
    Ok(Proof { volumes })
}

/// What one volume did in one period; `None` where it had nothing to do.
fn proven(
    need: &Need,
    volume: &VolumeNeed,
    period: PeriodKind,
    (stage, result): (&Stage, &StageResult),
) -> Option<ProvenVolume> {
    let load = volume.load(period)?;
    let is_own = |job: usize| {
        let job = stage.jobs.get(job);
        let of = job.and_then(|job| volume_of(need, &job.name));
        of.is_some_and(|of| of.slug == volume.slug)
    };
    let workers: Vec<_> = result
        .workers
        .iter()
        .filter(|worker| is_own(worker.job))
        .collect();
    let ways = [("reads", Direction::Read), ("writes", Direction::Write)];
    let ways = ways.map(|(name, way)| Some((name, total_of(&workers, way)?)));
    let ways = || ways.iter().flatten();
    let ios: u64 = ways().map(|(_, stats)| stats.ios()).sum();
    let measured = workers.iter().map(|worker| worker.measured.get()).max();
    let seconds = measured.unwrap_or(0).max(1) as f64 / 1e9;
    Some(ProvenVolume {
        volume: volume.name.clone(),
        period,
        iops_needed: load.iops.get(),
        iops: ios as f64 / seconds,
        response: ways()
            .filter_map(|(name, stats)| Some((*name, Response::of(stats)?)))
            .collect(),
        goal: volume.goal.clone(),
        unloaded: None,
    })
}

impl Proof {
    /// Says what the storage of a volume takes for an I/O of a period that meets no other.
    pub fn tell_unloaded(&mut self, (volume, period): (&str, PeriodKind), unloaded: Option<Nanos>) {
        let own = self.volumes.iter_mut();
        let of_both = |it: &&mut ProvenVolume| it.volume == volume && it.period == period;
        for proven in own.filter(of_both) {
            proven.unloaded = unloaded;
        }
    }

    /// Whether every I/O that is needed comes, however late.
    pub fn keeps_up(&self) -> bool {
        self.volumes.iter().all(ProvenVolume::keeps_up)
    }

    /// Whether a volume is not carried in one of its periods.
    pub fn is_failing(&self, volume: &str) -> bool {
        let mut own = self.volumes.iter().filter(|it| it.volume == volume);
        own.any(|it| it.failure().is_some())
    }

    /// How the design fails; `None` where it carries everything.
    pub fn failure(&self) -> Option<Failure> {
        self.volumes.iter().find_map(ProvenVolume::failure)
    }
}

impl ProvenVolume {
    /// That the rate comes and I/Os wait long for it, where no goal says how long they may.
    pub fn doubt(&self) -> Option<String> {
        let Waiting {
            name,
            median,
            times,
            unloaded,
        } = self.waiting()?;
        Some(format!(
            "DOUBTFUL: half of these {name} take longer than {median}, {} times the {unloaded} of this storage by itself: \
             they come, and wait for each other; `latency_goal` in the profile leaves such designs out",
            group_digits(times)
        ))
    }

    /// The same in words that tell whose I/Os these are.
    pub(crate) fn waits(&self) -> Option<String> {
        let Waiting {
            name,
            median,
            times,
            unloaded,
        } = self.waiting()?;
        let times = group_digits(times);
        let (volume, period) = (&self.volume, self.period.name());
        Some(format!(
            "half of the {name} of `{volume}`, {period}, wait until they have taken {median}, {times} times the {unloaded} of its \
             storage by itself"
        ))
    }

    fn waiting(&self) -> Option<Waiting> {
        let unloaded = self.unloaded.filter(|_| self.goal.is_empty())?;
        let slowest = self.response.iter().max_by_key(|(_, times)| times.p50);
        let (name, median) = slowest.map(|(name, times)| (*name, times.p50))?;
        let times = median.get() / unloaded.get().max(1);
        (times >= WAITING).then_some(Waiting {
            name,
            median,
            times,
            unloaded,
        })
    }

    fn keeps_up(&self) -> bool {
        self.iops >= self.iops_needed as f64 * ENOUGH
    }

    fn failure(&self) -> Option<Failure> {
        let of = |misses, figures| Failure {
            volume: self.volume.clone(),
            period: self.period,
            misses,
            figures,
        };
        if !self.keeps_up() {
            let figures = format!(
                "{} of {} I/Os a second are predicted",
                too_few(self.iops, self.iops_needed),
                group_digits(self.iops_needed)
            );
            return Some(of(Misses::Rate, figures));
        }
        self.goal.iter().find_map(|(level, goal)| {
            let mut ways = self.response.iter();
            let (name, times) = ways.find(|(_, times)| times.at(*level) > *goal)?;
            let (time, goal) = apart(times.at(*level), *goal);
            let figures =
                format!("the {level} of {name} is predicted as {time}, above the goal of {goal}");
            Some(of(Misses::Goal(*level, name), figures))
        })
    }
}

/// A rate that falls short of what is needed, with as many digits as it takes to see that.
fn too_few(iops: f64, needed: u64) -> String {
    let whole = iops.round();
    if whole < needed as f64 * ENOUGH {
        group_digits(whole as u64)
    } else {
        let hundredths = (iops * 100.0).round() as u64;
        format!("{}.{:02}", group_digits(hundredths / 100), hundredths % 100)
    }
}

/// Two times that differ, with as many digits as it takes to see that.
fn apart(one: Nanos, other: Nanos) -> (String, String) {
    let rounded = (one.to_string(), other.to_string());
    if rounded.0 == rounded.1 {
        let [one, other] = [one, other].map(|time| format!("{} ns", group_digits(time.get())));
        (one, other)
    } else {
        rounded
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missed_by_little_is_seen_to_be_missed() {
        let of = |iops: f64, p99: u64| {
            let p99 = Nanos::new(p99);
            let times = Response {
                mean: 1.0,
                p50: Nanos::new(1),
                p90: Nanos::new(1),
                p99,
                max: p99,
            };
            let proven = ProvenVolume {
                volume: "data".to_owned(),
                period: PeriodKind::Peak,
                iops_needed: 100,
                iops,
                response: vec![("reads", times)],
                goal: vec![(Level::P99, Nanos::from_micros(1500))],
                unloaded: None,
            };
            proven.failure().map(|failure| failure.to_string())
        };
        let rate = |iops: f64| of(iops, 1).unwrap_or_default();
        assert_eq!(of(99.0, 1_500_000), None);
        assert_eq!(
            rate(80.4),
            "`data`, peak: 80 of 100 I/Os a second are predicted"
        );
        assert_eq!(
            rate(98.96),
            "`data`, peak: 98.96 of 100 I/Os a second are predicted"
        );
        assert_eq!(too_few(2969.806, 3000), "2,969.81");
        let late = "`data`, peak: the p99 of reads is predicted as";
        let expected = format!("{late} 1,500,007 ns, above the goal of 1,500,000 ns");
        assert_eq!(of(100.0, 1_500_007), Some(expected));
        let expected = format!("{late} 1.7 ms, above the goal of 1.5 ms");
        assert_eq!(of(100.0, 1_700_000), Some(expected));
    }

    #[test]
    fn a_median_of_waiting_is_a_doubt_where_no_goal_bounds_it() {
        let of = |p50: u64, unloaded: Option<u64>, goal: &[(Level, Nanos)]| {
            let p50 = Nanos::from_millis(p50);
            let times = Response {
                mean: 1.0,
                p50,
                p90: p50,
                p99: p50,
                max: p50,
            };
            let proven = ProvenVolume {
                volume: "data".to_owned(),
                period: PeriodKind::Peak,
                iops_needed: 1,
                iops: 1.0,
                response: vec![("writes", times)],
                goal: goal.to_vec(),
                unloaded: unloaded.map(Nanos::from_millis),
            };
            proven.doubt().unwrap_or_default()
        };
        let doubt = of(149, Some(4), &[]);
        assert!(
            doubt.contains("half of these writes take longer than 149 ms, 37 times"),
            "{doubt}"
        );
        assert_eq!(of(15, Some(4), &[]), "");
        assert_eq!(of(149, None, &[]), "");
        assert_eq!(of(149, Some(4), &[(Level::P99, Nanos::from_secs(1))]), "");
    }

    /// An I/O that waits before it is issued has waited.
    #[test]
    fn times_are_those_from_the_intended_start() {
        let mut stats = OpStats::new(true, false);
        assert_eq!(Response::of(&stats), None);
        stats.latency.record(1_000);
        if let Some(response) = &mut stats.response {
            response.record(50_000);
        }
        let found = Response::of(&stats).map(|it| (it.p50, it.max));
        assert_eq!(found, Some((Nanos::new(50_000), Nanos::new(50_000))));
        let mut closed = OpStats::new(false, false);
        closed.latency.record(1_000);
        let found = Response::of(&closed).map(|it| it.p99);
        assert_eq!(found, Some(Nanos::new(1_000)));
    }

    /// Reads that are quick do not hide writes that wait.
    #[test]
    fn the_slower_direction_is_the_doubt() {
        let times = |ms: u64| Response {
            mean: 1.0,
            p50: Nanos::from_millis(ms),
            p90: Nanos::from_millis(ms),
            p99: Nanos::from_millis(ms),
            max: Nanos::from_millis(ms),
        };
        let of = |reads: u64, writes: u64| {
            let proven = ProvenVolume {
                volume: "data".to_owned(),
                period: PeriodKind::Peak,
                iops_needed: 1,
                iops: 1.0,
                response: vec![("reads", times(reads)), ("writes", times(writes))],
                goal: Vec::new(),
                unloaded: Some(Nanos::from_millis(4)),
            };
            proven.doubt().unwrap_or_default()
        };
        assert!(of(4, 40).contains("half of these writes take longer than 40 ms, 10 times"));
        assert!(of(60, 4).contains("half of these reads take longer than 60 ms, 15 times"));
        assert_eq!(of(4, 15), "");
    }
}
