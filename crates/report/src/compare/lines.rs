//! Figures of one record, line by line: a stage (its repeats together), a job name (its clones together) and a direction.
//!
//! Invariant: percentiles come from merged histograms.

use std::collections::{BTreeMap, BTreeSet};

use fathom_record::{
    DirectionRecord, IntervalDirection, IntervalRecord, JobRecord, LatencyRecord, StageRecord,
};
use fathom_stats::{Histogram, from_hdr_base64, percentile_95};

use super::figure::{Figure, Point};

/// What is known of one job name (or all jobs) and direction of a stage.
#[derive(Debug, Clone)]
pub(super) struct Line {
    pub(super) ios: u64,
    pub(super) errors: u64,
    /// Operations a second and bytes a second of each repeat.
    pub(super) repeats: Vec<[f64; 2]>,
    /// The same of each whole second; empty where they are not known.
    pub(super) seconds: Vec<[f64; 2]>,
    latency: Option<Distribution>,
    response: Option<Distribution>,
}

/// Durations over all repeats and clones.
#[derive(Debug, Clone)]
struct Distribution {
    merged: Histogram,
    min: u64,
    max: u64,
    repeats: Vec<Histogram>,
}

type OfJob = fn(&JobRecord) -> Option<&DirectionRecord>;
type OfInterval = fn(&IntervalRecord) -> Option<&IntervalDirection>;

const DIRECTIONS: [(&str, OfJob); 4] = [
    ("read", |job| job.read.as_ref()),
    ("write", |job| job.write.as_ref()),
    ("trim", |job| job.trim.as_ref()),
    ("sync", |job| job.sync.as_ref()),
];

/// Names of the jobs of a stage, each once, in order.
pub(super) fn job_names<'a>(repeats: &[&'a StageRecord]) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    for job in repeats.iter().flat_map(|stage| &stage.jobs) {
        if !names.contains(&job.name.as_str()) {
            names.push(&job.name);
        }
    }
    names
}

/// The lines of the jobs called `job`, by direction.
pub(super) fn lines_of_job(repeats: &[&StageRecord], job: &str) -> Vec<(String, Line)> {
    let is_only = job_names(repeats).len() == 1;
    let clones = |stage: &&StageRecord| -> Vec<JobRecord> {
        let jobs = stage.jobs.iter().filter(|one| one.name == job);
        jobs.cloned().collect()
    };
    let clones: Vec<Vec<JobRecord>> = repeats.iter().map(clones).collect();
    let mut lines = Vec::new();
    for (index, (direction, of_job)) in DIRECTIONS.into_iter().enumerate() {
        let of_clones = |stage: &&StageRecord| of_clones(stage, job, (index, of_job));
        let figures: Vec<_> = repeats.iter().map(of_clones).collect();
        let seconds = if is_only {
            seconds_of_stages(repeats, direction)
        } else {
            let jobs = clones.iter();
            jobs.flat_map(|jobs| seconds_of_jobs(jobs, index)).collect()
        };
        lines.extend(line(direction, &figures, seconds));
    }
    let operations = clones.iter().flatten().flat_map(|job| job.meta.keys());
    let operations: BTreeSet<&String> = operations.collect();
    for operation in operations {
        let figures = clones.iter().map(|jobs| {
            let done = jobs.iter().filter_map(|job| job.meta.get(operation));
            done.cloned().collect()
        });
        lines.extend(line(operation, &figures.collect::<Vec<_>>(), Vec::new()));
    }
    lines
}

/// What the jobs called `job` did in a direction, with rates that add up to their rate over one time: the stage's where no other
/// job goes that way, as a report has it, else that of the longest. Clones may run for different times (on several hosts, or
/// until each has moved its bytes), and rates over the time of each by itself add up to more than was ever reached.
fn of_clones(
    stage: &StageRecord,
    job: &str,
    (index, of_job): (usize, OfJob),
) -> Vec<DirectionRecord> {
    let done = |one: &JobRecord| of_job(one).map_or(0, |figures| figures.ios);
    let doing = stage.jobs.iter().filter(|one| done(one) > 0);
    let is_alone = doing.clone().all(|one| one.name == job);
    let (total, own) = (&stage.total, doing.clone().filter(|one| one.name == job));
    let ways = [&total.read, &total.write, &total.trim, &total.sync];
    let total = ways[index].as_ref().filter(|_| is_alone);
    let longest = own.clone().map(|one| one.measured_ns).max().unwrap_or(0);
    let is_one = own.count() < 2;
    let clones = stage.jobs.iter().filter(|one| one.name == job);
    let figures = clones.filter_map(|one| {
        let mut figures = of_job(one)?.clone();
        if is_one || figures.ios == 0 {
            return Some(figures);
        }
        let share = |part: u64, whole: u64| part as f64 / whole.max(1) as f64;
        if let Some(total) = total {
            figures.iops = total.iops * share(figures.ios, total.ios);
            let bytes = share(figures.bytes, total.bytes);
            figures.bandwidth_bytes_per_sec = total.bandwidth_bytes_per_sec * bytes;
        } else {
            let time = share(one.measured_ns, longest);
            figures.iops *= time;
            figures.bandwidth_bytes_per_sec *= time;
        }
        Some(figures)
    });
    figures.collect()
}

/// The lines of all jobs together, by direction.
pub(super) fn lines_of_total(repeats: &[&StageRecord]) -> Vec<(String, Line)> {
    let mut totals: BTreeMap<(usize, &str), Vec<Vec<DirectionRecord>>> = BTreeMap::new();
    for stage in repeats {
        let total = &stage.total;
        let ways = [&total.read, &total.write, &total.trim, &total.sync];
        let named = DIRECTIONS.iter().enumerate().zip(ways);
        let known =
            named.filter_map(|((index, (name, _)), way)| Some((index, *name, way.as_ref()?)));
        let operations = total.meta.iter();
        let operations =
            operations.map(|(name, figures)| (DIRECTIONS.len(), name.as_str(), figures));
        for (index, name, figures) in known.chain(operations) {
            let all = totals.entry((index, name)).or_default();
            all.push(vec![figures.clone()]);
        }
    }
    let lines = totals.into_iter();
    let lines = lines
        .filter_map(|((_, name), figures)| line(name, &figures, seconds_of_stages(repeats, name)));
    lines.collect()
}

fn line(
    direction: &str,
    repeats: &[Vec<DirectionRecord>],
    seconds: Vec<[f64; 2]>,
) -> Option<(String, Line)> {
    let all = || repeats.iter().flatten();
    let (ios, errors) = (
        all().map(|one| one.ios).sum(),
        all().map(|one| one.errors).sum(),
    );
    if ios == 0 && errors == 0 {
        return None;
    }
    let rates = repeats.iter().filter(|clones| !clones.is_empty());
    let rates = rates.map(|clones| {
        let iops = clones.iter().map(|one| one.iops).sum();
        let bytes = clones.iter().map(|one| one.bandwidth_bytes_per_sec).sum();
        [iops, bytes]
    });
    let latency = |one: &DirectionRecord| (one.ios > 0).then(|| one.latency_ns.clone());
    let response = |one: &DirectionRecord| one.response_ns.clone().filter(|_| one.ios > 0);
    let line = Line {
        ios,
        errors,
        repeats: rates.collect(),
        seconds,
        latency: Distribution::of(repeats, latency),
        response: Distribution::of(repeats, response),
    };
    Some((direction.to_owned(), line))
}

impl Distribution {
    fn of(
        repeats: &[Vec<DirectionRecord>],
        durations: impl Fn(&DirectionRecord) -> Option<LatencyRecord>,
    ) -> Option<Self> {
        let (mut merged, mut own) = (Histogram::new(), Vec::new());
        let (mut min, mut max) = (u64::MAX, 0);
        for clones in repeats {
            let mut repeat = Histogram::new();
            for one in clones.iter().filter_map(&durations) {
                repeat.merge(&from_hdr_base64(&one.histogram).ok()?);
                (min, max) = (min.min(one.min), max.max(one.max));
            }
            merged.merge(&repeat);
            own.push(repeat);
        }
        own.retain(|repeat| repeat.count() > 0);
        (merged.count() > 0).then_some(Self {
            merged,
            min,
            max,
            repeats: own,
        })
    }

    fn value(&self, point: Point) -> u64 {
        match point.percent() {
            Some(percent) => self.merged.percentile(percent).clamp(self.min, self.max),
            None => self.max,
        }
    }

    /// What encloses the percentile: the interval by ranks of all values, and the percentile of every repeat.
    fn interval(&self, point: Point) -> Option<(Option<u64>, Option<u64>)> {
        let percent = point.percent()?;
        let (mut lower, mut upper) = percentile_95(&self.merged, percent);
        if self.repeats.len() > 1 {
            let of_repeats = || self.repeats.iter().map(|one| one.percentile(percent));
            lower = lower.zip(of_repeats().min()).map(|(a, b)| a.min(b));
            upper = upper.zip(of_repeats().max()).map(|(a, b)| a.max(b));
        }
        Some((lower, upper))
    }
}

impl Line {
    /// The figure over all repeats; `None` where it is not known.
    pub(super) fn value(&self, figure: Figure) -> Option<f64> {
        let mean = |index: usize| {
            let all = self.repeats.iter().map(|rates| rates[index]);
            all.sum::<f64>() / self.repeats.len() as f64
        };
        match figure {
            Figure::Iops => Some(mean(0)),
            Figure::Bandwidth => Some(mean(1)),
            Figure::Latency(point) => Some(self.latency.as_ref()?.value(point) as f64),
            Figure::Response(point) => Some(self.response.as_ref()?.value(point) as f64),
        }
    }

    /// The 95 % interval of a percentile in ns, without a bound where there are too few values; `None` for other figures.
    pub(super) fn interval(&self, figure: Figure) -> Option<(Option<u64>, Option<u64>)> {
        match figure {
            Figure::Iops | Figure::Bandwidth => None,
            Figure::Latency(point) => self.latency.as_ref()?.interval(point),
            Figure::Response(point) => self.response.as_ref()?.interval(point),
        }
    }
}

/// Operations and bytes a second in each interval of the stages; one that is shorter than half of the longest, such as the
/// rest at the end, says little and is left out.
fn seconds_of_stages(repeats: &[&StageRecord], direction: &str) -> Vec<[f64; 2]> {
    let of_interval: OfInterval = match direction {
        "read" => |interval| interval.read.as_ref(),
        "write" => |interval| interval.write.as_ref(),
        "trim" => |interval| interval.trim.as_ref(),
        _ => return Vec::new(),
    };
    let mut seconds = Vec::new();
    for stage in repeats {
        let mut begin = 0;
        let spans = stage.intervals.iter().map(|interval| {
            let span = interval.at_ns.saturating_sub(begin);
            begin = interval.at_ns;
            (span, of_interval(interval))
        });
        let spans: Vec<_> = spans.collect();
        let longest = spans.iter().map(|(span, _)| *span).max().unwrap_or(0);
        let whole = spans
            .iter()
            .filter(|(span, _)| *span > 0 && *span >= longest / 2);
        seconds.extend(whole.map(|(span, done)| {
            let each = |amount: u64| amount as f64 * 1e9 / *span as f64;
            done.map_or([0.0; 2], |done| [each(done.ios), each(done.bytes)])
        }));
    }
    seconds
}

/// Operations and bytes in each whole second of jobs, from their workers' half-second samples; empty where a worker has none.
fn seconds_of_jobs(jobs: &[JobRecord], direction: usize) -> Vec<[f64; 2]> {
    const HALF: u64 = 500_000_000;
    let workers = || jobs.iter().flat_map(|job| &job.detail);
    let shortest = workers()
        .map(|worker| worker.measured_ns)
        .min()
        .unwrap_or(0);
    let count = (shortest / (2 * HALF)) as usize;
    if direction > 2 || count < 2 || workers().any(|worker| worker.samples.is_empty()) {
        return Vec::new();
    }
    let mut seconds = vec![[0.0; 2]; count];
    for (at, ios, bytes) in workers().flat_map(|worker| &worker.samples) {
        let second = (at.saturating_sub(1) / (2 * HALF)) as usize;
        if let Some(second) = seconds.get_mut(second) {
            second[0] += ios[direction] as f64;
            second[1] += bytes[direction] as f64;
        }
    }
    seconds
}
