//! Named checks of a run: what makes a figure doubtful, with evidence and the remedy.
//!
//! Each check looks at measurements alone, so that it says the same of a run, of its replay and of a stored record.
//! Thresholds stand beside the check that uses them, with their reason.

mod background;
#[cfg(test)]
mod chance;
mod changed;
mod cliff;
mod clock;
mod contents;
mod cut_short;
mod depth;
mod fall;
mod processor;
mod reach;
mod seconds;
mod steady;

pub use clock::MachineClock;
pub use contents::{Reduced, Reducing, compressible_note};

use fathom_stats::confidence_95;
use fathom_units::{Bytes, Nanos, Percent, group_digits, per_second};
use fathom_workload::{
    Arrival, Backend, Direction, FileTask, Job, MinimumRates, Poisson, SetOperation, Workload,
};

use crate::asked::{AskedRate, RateUnit, asked_rates};
use crate::{Check, EndReason, OpStats, RunKind, StageResult, Verdict, WorkerStats, total_of};

/// What of the machine's memory holds a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InMemory {
    /// A file system of this type, such as `tmpfs`.
    FileSystem(String),
    /// A block device of this name, such as `zram0`.
    Device(String),
    /// The page cache of a file behind a loop device that does not read and write it directly.
    PageCache {
        /// Name of the loop device.
        device: String,
        /// The file.
        file: String,
    },
}

/// What is known of a target beyond the I/O measured on it.
#[derive(Debug, Clone, PartialEq)]
pub struct TargetFacts {
    /// Its path.
    pub path: String,
    /// Share (0 to 1) of the range used that the file system holds as holes or unwritten extents; `None`: unknown.
    pub unwritten_share: Option<f64>,
    /// Share (0 to 1) of the places looked at in a block device that hold nothing but zeroes; `None`: unknown.
    pub zeroes_share: Option<f64>,
    /// What of the machine's memory holds it; `None`: nothing that is known. The page cache is told of direct I/O alone.
    pub in_memory: Option<InMemory>,
    /// What below it makes less of data that compresses or repeats; `None`: nothing that is known.
    pub reducing: Option<Reducing>,
    /// What of it, or of the devices below it, was another after the last stage than before the first, each in words that name
    /// both; `None`: nothing could be looked at. What several targets have below them is told of the first.
    pub changes: Option<Vec<String>>,
}

/// Everything the checks look at.
#[derive(Debug, Clone, Copy)]
pub struct Evidence<'a> {
    /// What was to be run.
    pub workload: &'a Workload,
    /// What was measured.
    pub results: &'a [StageResult],
    /// What is known of the targets; empty for predictions.
    pub targets: &'a [TargetFacts],
    /// Real or predicted.
    pub kind: RunKind,
    /// Whether it was stopped before its end.
    pub interrupted: bool,
    /// The clock that workers read; `None`: nothing is known of it.
    pub clock: Option<&'a MachineClock>,
}

/// Runs every check that applies, in a fixed order.
pub fn run_checks(evidence: &Evidence<'_>) -> Vec<Check> {
    let mut checks = vec![
        io_errors(evidence),
        depth::achieved_depth(evidence),
        littles_law(evidence),
        schedule_lag(evidence),
        too_short(evidence),
        samples_for_percentile(evidence),
        repeat_spread(evidence),
        steady::steady_state(evidence),
        cliff::cache_cliff(evidence),
    ];
    let has_minimum = |(_, job): (_, &Job)| job.features.minimum.is_some();
    if evidence.workload.jobs().any(has_minimum) {
        checks.push(rates_kept_up(evidence));
    }
    let idle = idle_jobs(evidence);
    if !idle.is_empty() {
        checks.push(work_done(&idle));
    }
    if evidence.interrupted {
        checks.extend(cut_short::cut_short(evidence));
    }
    if evidence.kind == RunKind::Run {
        checks.extend([
            reach::in_memory(evidence),
            reach::unwritten_extents(evidence),
            reach::zeroes_read(evidence),
            reach::cache_served(evidence),
            processor::generator_headroom(evidence),
            processor::processor_limit(evidence),
            clock::clock_source(evidence),
            contents::data_compressibility(evidence),
            background::background_io(evidence),
            changed::device_changed(evidence),
        ]);
    }
    checks
}

/// What `checks` add up to.
pub fn verdict(checks: &[Check], results: &[StageResult]) -> Verdict {
    if results
        .iter()
        .all(|result| result.workers.iter().all(|worker| worker.operations() == 0))
    {
        Verdict::Empty
    } else if checks.iter().all(|check| check.passed) {
        Verdict::Trustworthy
    } else {
        Verdict::Questionable
    }
}

/// A check that fails with `finding`, and otherwise says what is `silent`.
pub(crate) fn check(id: &str, finding: Option<String>, silent: &str, remedy: &str) -> Check {
    let passed = finding.is_none();
    Check {
        id: id.to_owned(),
        passed,
        evidence: finding.unwrap_or_else(|| silent.to_owned()),
        remedy: if passed {
            String::new()
        } else {
            remedy.to_owned()
        },
    }
}

/// Every measured job with its workers.
fn jobs<'a>(
    evidence: &Evidence<'a>,
) -> impl Iterator<Item = (&'a StageResult, &'a Job, Vec<&'a WorkerStats>)> {
    let workload = evidence.workload;
    evidence.results.iter().flat_map(move |result| {
        let stage = workload.stages.get(result.stage);
        let jobs = stage
            .into_iter()
            .flat_map(|stage| stage.jobs.iter().enumerate());
        jobs.map(move |(index, job)| {
            (
                result,
                job,
                result
                    .workers
                    .iter()
                    .filter(|worker| worker.job == index)
                    .collect(),
            )
        })
    })
}

fn io_errors(evidence: &Evidence<'_>) -> Check {
    let errors = evidence
        .results
        .iter()
        .flat_map(|result| &result.workers)
        .flat_map(|worker| &worker.errors);
    let count: u64 = errors.clone().map(|error| error.count).sum();
    let first = errors.clone().next().map(|error| {
        let what = match (error.operation, count) {
            (None, 1) => "I/O",
            (None, _) => "I/Os",
            (Some(_), 1) => "operation",
            (Some(_), _) => "operations",
        };
        let (count, name) = (group_digits(count), error.name());
        format!(
            "{count} {what} failed, the first a {name}: {}",
            error.reason()
        )
    });
    let silent = match compared_reads(evidence) {
        0 => "no I/O failed".to_owned(),
        count => format!(
            "no I/O failed, and {} reads found what had been written",
            group_digits(count)
        ),
    };
    check(
        "io-errors",
        first,
        &silent,
        "look at the device's and the kernel's log before trusting any figure",
    )
}

/// Reads that compared what was written: those of jobs that read for nothing else.
fn compared_reads(evidence: &Evidence<'_>) -> u64 {
    if evidence.kind != RunKind::Run {
        return 0;
    }
    let reads_back = |job: &Job| {
        let verify = job.features.verify.as_ref();
        verify.is_some_and(|verify| verify.phase.reads_back())
            && job.mix.share(Direction::Read) == Percent::ZERO
    };
    let checking = jobs(evidence).filter(|(_, job, _)| reads_back(job));
    let reads = checking.flat_map(|(.., workers)| workers).map(|worker| {
        let reads = worker.directions[Direction::Read as usize].as_ref();
        reads.map_or(0, OpStats::ios)
    });
    reads.sum()
}

/// What became of it stands in the notes.
fn rates_kept_up(evidence: &Evidence<'_>) -> Check {
    let slow = jobs(evidence).find_map(|(_, job, workers)| {
        let mut workers = workers.iter();
        let was_slow = workers.any(|worker| worker.ended == EndReason::TooSlow);
        was_slow.then(|| format!("{} fell below a rate that it was to keep up", job.name))
    });
    let finding = slow.or_else(|| {
        jobs(evidence).find_map(|(result, job, workers)| {
            // What an error ended was not measured too short by itself.
            if workers
                .iter()
                .any(|worker| worker.ended == EndReason::Failed)
            {
                return None;
            }
            let cycle = job.features.minimum?.cycle;
            let least = MinimumRates::SETTLING.saturating_add(cycle);
            (result.measured < least).then(|| {
                let measured = result.measured;
                let name = &job.name;
                format!("{name} was measured for {measured}, and its rate is judged after {least}")
            })
        })
    });
    check(
        "rates-kept-up",
        finding,
        "every job kept up the rates that it was to",
        "the target is slower than the job demands, or was not measured long enough; lower the rate, or measure longer",
    )
}

/// Jobs that did nothing in a stage that was measured, though nothing failed: `JOB in STAGE`. A format may find everything
/// there.
fn idle_jobs(evidence: &Evidence<'_>) -> Vec<String> {
    let is_format = |job: &Job| {
        let work = job.features.file_work.as_deref();
        work.is_some_and(|work| matches!(work.task, FileTask::Format(_)))
    };
    let is_idle = |job: &Job, workers: &[&WorkerStats]| {
        let nothing = |worker: &&WorkerStats| {
            let syncs = worker.sync.as_ref().map_or(0, OpStats::ios);
            worker.operations() + syncs == 0 && worker.errors.is_empty()
        };
        !is_format(job) && workers.iter().all(nothing)
    };
    let idle = jobs(evidence).filter(|(_, job, workers)| is_idle(job, workers));
    idle.map(|(result, job, _)| format!("{} in {}", job.name, result.name))
        .collect()
}

/// What was not done has neither a rate nor a latency; the figures of the others are those of less load than was asked for.
fn work_done(idle: &[String]) -> Check {
    let first = idle.first().map_or("", String::as_str);
    let others = match idle.len() {
        0 | 1 => String::new(),
        count => format!("; {} more", count - 1),
    };
    check(
        "work-done",
        Some(format!("{first} did no I/O{others}")),
        "every job did I/O",
        "its rates and latencies are not known, whatever stands in their place; measure longer, or look for what it waited for (`start_delay`, a rate, pauses, another job)",
    )
}

/// Little's law: I/Os outstanding = rate × latency. A measurement that is more than 5 % off, or a prediction of 400 mean
/// latencies or more that is more than 0.5 % off, has a wrong figure among the three.
fn littles_law(evidence: &Evidence<'_>) -> Check {
    let predicted = evidence.kind == RunKind::Predict;
    let finding = jobs(evidence)
        .filter(|(_, job, _)| job.backend != Backend::Null)
        .find_map(|(_, job, workers)| {
            let law = LittlesLaw::of(&workers)?;
            let most_off = if predicted {
                law.most_off_predicted(job, &workers)?
            } else {
                law.most_off_measured(job, &workers)?
            };
            (law.off() > most_off).then(|| {
                let percent = law.off() * 100.0;
                format!(
                    "{}: rate × latency differs from the I/Os outstanding by {percent:.1} %",
                    job.name
                )
            })
        });
    let silent = if predicted {
        "rate × latency = I/Os outstanding, within 0.5 %"
    } else {
        "rate × latency = I/Os outstanding, within 5 %"
    };
    let remedy = "report this: one of rate, latency and depth is measured wrongly";
    check("littles-law", finding, silent, remedy)
}

/// The two sides of the law over a job's workers, in I/O-nanoseconds.
struct LittlesLaw {
    latency: u128,
    outstanding: u128,
    ios: u64,
}

impl LittlesLaw {
    /// `None` where nothing was measured, or where synchronisations or failed I/Os, which are in one side alone, came between.
    fn of(workers: &[&WorkerStats]) -> Option<Self> {
        if workers.iter().any(|worker| !worker.errors.is_empty()) {
            return None;
        }
        let latencies = workers
            .iter()
            .flat_map(|worker| worker.directions.iter().flatten())
            .map(|stats| stats.latency.sum());
        // The parts of a copy are counted by themselves.
        let of_sets = workers.iter().flat_map(|worker| &worker.set.0);
        let of_sets = of_sets.filter(|(operation, _)| *operation != SetOperation::Copy);
        let latencies = latencies.chain(of_sets.map(|(_, stats)| stats.latency.sum()));
        let syncs = workers.iter().filter_map(|worker| worker.sync.as_ref());
        let law = Self {
            latency: latencies.sum(),
            outstanding: workers.iter().map(|worker| worker.outstanding_ns).sum(),
            ios: workers.iter().map(|worker| worker.ios()).sum(),
        };
        (syncs.map(OpStats::ios).sum::<u64>() == 0 && law.ios > 0).then_some(law)
    }

    fn off(&self) -> f64 {
        // Storage that takes no time has nothing outstanding.
        if self.latency == self.outstanding {
            return 0.0;
        }
        (self.latency as f64 / self.outstanding.max(1) as f64 - 1.0).abs()
    }

    /// A measurement is judged where the I/Os in flight at its ends are few against all.
    fn most_off_measured(&self, job: &Job, workers: &[&WorkerStats]) -> Option<f64> {
        let depth = u64::from(job.effective_depth()) * workers.len() as u64;
        (self.ios > 50 * depth).then(|| cut_by_warm_up(job, workers, self.outstanding).max(0.05))
    }

    /// A prediction waits for all it issued, so that the law is exact, but for what warm-up cuts.
    fn most_off_predicted(&self, job: &Job, workers: &[&WorkerStats]) -> Option<f64> {
        const LEAST_LATENCIES: f64 = 400.0;
        let shortest = workers.iter().map(|worker| worker.measured).min()?;
        let mean = self.latency as f64 / self.ios as f64;
        let cut = cut_by_warm_up(job, workers, self.outstanding);
        (shortest.get() as f64 >= LEAST_LATENCIES * mean).then_some(cut.max(0.005))
    }
}

/// The share of `outstanding` by which the law may be off because I/Os were in flight when warm-up ended: their whole
/// latency counts, and only the rest of their time. At most the depth of them, none for longer than the longest: a disk that
/// stood still for as long as was measured leaves nothing to judge.
fn cut_by_warm_up(job: &Job, workers: &[&WorkerStats], outstanding: u128) -> f64 {
    if job.limits.warmup == Nanos::ZERO && job.features.warmup_bytes == Bytes::ZERO {
        return 0.0;
    }
    let stats = workers
        .iter()
        .flat_map(|worker| worker.directions.iter().flatten());
    let longest = stats.map(|stats| stats.latency.max()).max().unwrap_or(0);
    let in_flight = f64::from(job.effective_depth()) * workers.len() as f64;
    in_flight * longest as f64 / outstanding.max(1) as f64
}

/// An open loop that falls behind its schedule: it asked for more than the storage gives.
fn schedule_lag(evidence: &Evidence<'_>) -> Check {
    let late = jobs(evidence).find_map(|(_, job, workers)| late_trace(job, &workers));
    let is_trace = late.is_some();
    let missed = || jobs(evidence).find_map(|(_, job, workers)| missed_rate(job, &workers));
    let remedy = if is_trace {
        "the storage (or the depth) does not carry the trace at this pace: response time grows as long as that lasts; slow the trace down, or raise the limit that binds"
    } else {
        "the storage (or the depth) does not carry the rate: response time grows as long as the run lasts, and what was due and never begun is in no percentile; lower the rate or raise the limit that binds"
    };
    check(
        "schedule-lag",
        late.or_else(missed),
        "every open loop kept its schedule",
        remedy,
    )
}

/// The first rate that an open loop missed.
fn missed_rate(job: &Job, workers: &[&WorkerStats]) -> Option<String> {
    let least = least_share(job, workers);
    let rates = rates_of(job, workers).into_iter();
    let mut missed = rates.filter(|rates| rates.reached < rates.wanted * least);
    missed.next().map(|rates| {
        let words = |rate| rates.asked.unit.words(rate);
        let of = rates
            .asked
            .direction
            .map_or(String::new(), |way| format!(" {}s", way.name()));
        let (wanted, reached) = (words(rates.wanted), words(rates.reached));
        // What stands behind the name has the colon after it.
        let name = if of.is_empty() {
            before_colon(&job.name)
        } else {
            &job.name
        };
        format!("{name}{of}: {reached} reached of {wanted} asked for")
    })
}

/// A name that a colon follows: one that ends with a colon of its own (a drive, `D:`) has that one.
pub fn before_colon(name: &str) -> &str {
    name.strip_suffix(':').unwrap_or(name)
}

/// A trace whose last I/O ended long after it was to start: by more than a hundredth of the time that it came over, and
/// by more than any storage takes for one I/O.
fn late_trace(job: &Job, workers: &[&WorkerStats]) -> Option<String> {
    const LEAST: Nanos = Nanos::from_millis(500);
    workers.iter().find_map(|worker| {
        let due = worker.intended_end?;
        let late = worker.measured.saturating_sub(due);
        (late > LEAST && late.get() > due.get() / 100).then(|| {
            format!(
                "{}: the trace's I/Os came over {due}, and the last of them ended {late} later",
                before_colon(&job.name)
            )
        })
    })
}

/// The share of its rate that a job must reach. Where gaps are drawn, so many I/Os as came spread by the square root of
/// their number: three of those say nothing about the storage.
fn least_share(job: &Job, workers: &[&WorkerStats]) -> f64 {
    const LEAST_SHARE: f64 = 0.99;
    let process = match (&job.features.rates, job.arrival) {
        (Some(rates), _) => rates.poisson,
        (None, Arrival::Open { poisson, .. }) => poisson,
        (None, Arrival::Closed) => Poisson::Fixed,
    };
    let ios: u64 = workers.iter().map(|worker| worker.ios()).sum();
    match process {
        Poisson::Fixed => LEAST_SHARE,
        Poisson::Uniform | Poisson::Exponential => {
            LEAST_SHARE.min(1.0 - 3.0 / (ios.max(1) as f64).sqrt())
        }
    }
}

/// Rates over all workers of a job.
struct Rates {
    asked: AskedRate,
    wanted: f64,
    reached: f64,
}

/// Rates of an open loop that ran against time long enough to be judged; none of any other job.
fn rates_of(job: &Job, workers: &[&WorkerStats]) -> Vec<Rates> {
    let long_enough = workers
        .iter()
        .all(|worker| worker.measured >= Nanos::from_millis(500));
    // Of rates that follow one another the mean over the whole time is known alone.
    let is_one_rate = job.features.rate_steps.is_none();
    let is_against_time = workers.iter().any(|worker| match worker.ended {
        EndReason::Time => true,
        EndReason::Interrupted => is_one_rate,
        EndReason::Done | EndReason::Failed | EndReason::TooSlow => false,
    });
    if !long_enough || !is_against_time || workers.is_empty() {
        return Vec::new();
    }
    let rates = asked_rates(job).into_iter();
    let rates = rates.map(|asked| Rates {
        asked,
        wanted: asked.per_sec * workers.len() as f64,
        reached: workers.iter().map(|worker| reached(asked, worker)).sum(),
    });
    rates.collect()
}

/// What a worker reached of a rate, a second's worth.
fn reached(asked: AskedRate, worker: &WorkerStats) -> f64 {
    let ways = Direction::ALL.into_iter();
    let ways = ways.filter(|way| asked.direction.is_none_or(|wanted| wanted == *way));
    let stats = ways.filter_map(|way| worker.directions[way as usize].as_ref());
    let count = stats.map(|stats| match asked.unit {
        RateUnit::Ios => stats.ios(),
        RateUnit::Bytes => stats.bytes,
    });
    per_second(count.sum(), worker.measured)
}

/// Below a second, start and end weigh as much as what lies between.
fn too_short(evidence: &Evidence<'_>) -> Check {
    let short = evidence
        .results
        .iter()
        .find(|result| result.measured < Nanos::from_secs(1));
    let finding = short.map(|result| format!("{}: measured for {}", result.name, result.measured));
    check(
        "too-short",
        finding,
        "every stage was measured for a second or more",
        if replays_all(evidence) {
            LONGER_TRACE
        } else {
            "measure longer (`measure = \"30s\"`; in fio's words `--runtime 30 --time_based`)"
        },
    )
}

/// What there is to do where a trace has too little.
const LONGER_TRACE: &str = "replay a longer part of the trace, or a longer trace";

/// Whether traces alone were replayed, whose end nobody can put off.
fn replays_all(evidence: &Evidence<'_>) -> bool {
    let mut jobs = jobs(evidence);
    jobs.all(|(_, job, _)| job.features.replay.is_some())
}

/// Name of the check that [`samples_of`] gives.
pub(crate) const SAMPLES: &str = "samples-for-percentile";
/// A percentile read from fewer than ten values beyond it is chance: p99 needs so many I/Os.
pub(crate) const LEAST_SAMPLES: u64 = 1000;

fn samples_for_percentile(evidence: &Evidence<'_>) -> Check {
    let counts = |workers: &[&WorkerStats]| {
        Direction::ALL.map(|way| total_of(workers, way).map_or(0, |stats| stats.ios()))
    };
    // Work in place of I/O has percentiles of nothing that storage does.
    let does_io = |result: &StageResult, worker: &WorkerStats| {
        let stage = evidence.workload.stages.get(result.stage);
        let job = stage.and_then(|stage| stage.jobs.get(worker.job));
        job.is_none_or(|job| job.features.processor_work.is_none())
    };
    // Stages are often called as their first job, which may not be the one that did so few.
    let of_stages = evidence.results.iter().map(|result| {
        let workers: Vec<_> = result
            .workers
            .iter()
            .filter(|it| does_io(result, it))
            .collect();
        (result.name.clone(), counts(&workers))
    });
    let each = jobs(evidence)
        .filter(|(_, job, _)| !job.group.together && job.features.processor_work.is_none());
    let of_jobs = each.map(|(result, job, workers)| {
        let name = format!("{} in {}", job.name, result.name);
        (name, counts(&workers))
    });
    samples_of(
        of_stages.chain(of_jobs),
        "at least 1,000 I/Os stand behind each p99",
        if replays_all(evidence) {
            LONGER_TRACE
        } else {
            MEASURE_LONGER
        },
    )
}

/// What there is to do where too little was measured.
pub(crate) const MEASURE_LONGER: &str = "measure longer";

/// The check of what `named` read, wrote and trimmed: it tells the first of which too few of a kind stand behind percentiles.
pub(crate) fn samples_of(
    mut named: impl Iterator<Item = (String, [u64; 3])>,
    silent: &str,
    remedy: &'static str,
) -> Check {
    let finding = named.find_map(|(name, counts)| {
        let counts = counts.into_iter().zip(["reads", "writes", "trims"]);
        let done = counts.filter(|(ios, _)| *ios > 0);
        let (ios, called) = done.min_by_key(|(ios, _)| *ios)?;
        let told = group_digits(ios);
        (ios < LEAST_SAMPLES)
            .then(|| format!("{name}: {told} {called}; p99 needs 1,000 and p99.9 10,000"))
    });
    check(SAMPLES, finding, silent, remedy)
}

/// Repeats of a stage that differ by more than a tenth are no one figure.
fn repeat_spread(evidence: &Evidence<'_>) -> Check {
    const MOST: f64 = 0.1;
    let stages = evidence.workload.stages.iter().enumerate();
    let spreads = stages.filter_map(|(index, stage)| {
        let repeats = evidence
            .results
            .iter()
            .filter(|result| result.stage == index);
        let rates: Vec<f64> = repeats.map(stage_rate).collect();
        let interval = confidence_95(&rates)?;
        Some((
            interval.half_width / interval.mean,
            &stage.name,
            rates.len(),
        ))
    });
    let wide: Vec<_> = spreads.filter(|(spread, ..)| *spread > MOST).collect();
    let widest = wide.iter().max_by(|a, b| a.0.total_cmp(&b.0));
    let finding = widest.map(|(spread, name, repeats)| {
        let others = match wide.len() - 1 {
            0 => String::new(),
            others => format!("; {others} more over 10 %"),
        };
        let percent = spread * 100.0;
        format!("{name}: IOPS ± {percent:.0} % (95 %) over {repeats} repeats{others}")
    });
    check(
        "repeat-spread",
        finding,
        "repeats agree within 10 %",
        "measure longer or more often, and look for other load on the device",
    )
}

fn stage_rate(result: &StageResult) -> f64 {
    per_second(
        result.workers.iter().map(WorkerStats::ios).sum(),
        result.measured,
    )
}
