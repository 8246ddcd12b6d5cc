//! Options that hold a job's I/O back or end it by its results, and the features they ask for.

use fathom_units::{Bytes, BytesPerSec, Iops, Nanos};
use fathom_workload::{
    AfterFound, Backend, Batches, Caching, Direction, DirectionRates, Flow, Job, LatencyTarget,
    MinimumRates, Overlaps, Pacing, Poisson, SteadyJudgement, SteadyLimit, SteadyMetric,
    SteadyState, ThinkCounts, ThinkTime,
};

use super::super::directions::{goes, kept};
use super::apply::set_some;
use super::reader::{Counts, ValueReader};
use super::{
    Settings,
    apply::{set, set_parts},
};
use crate::fio::values::BareTime;

/// fio's options of this kind, with its defaults.
#[derive(Debug, Clone, PartialEq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of fio's own"
)]
pub struct PacingSettings {
    think: Nanos,
    think_spin: Nanos,
    think_blocks: Option<u32>,
    think_counts: ThinkCounts,
    think_iotime: Nanos,
    think_stops_rate: bool,
    think_cycles: u32,
    /// `ramp_size`, in bytes.
    ramp_size: u64,
    minimum: MinimumSettings,
    batch: Option<u32>,
    complete_min: Option<u32>,
    complete_max: Option<u32>,
    low: u32,
    serialize: bool,
    /// `io_submit_mode=offload`. Submission has no thread of its own here, and needs none: it never waits for completions.
    pub offload: bool,
    flow: u32,
    flow_id: u32,
    flow_sleep: Nanos,
    target: Nanos,
    target_window: Nanos,
    target_percentile: f64,
    target_run: bool,
    /// As typed, for fio's own output.
    steady: Option<(SteadyMetric, SteadyJudgement, SteadyLimit)>,
    steady_window: Nanos,
    steady_ramp: Nanos,
    steady_interval: Nanos,
}

impl Default for PacingSettings {
    fn default() -> Self {
        Self {
            think: Nanos::ZERO,
            think_spin: Nanos::ZERO,
            think_blocks: None,
            think_counts: ThinkCounts::Completed,
            think_iotime: Nanos::ZERO,
            think_stops_rate: false,
            think_cycles: 0,
            ramp_size: 0,
            minimum: MinimumSettings::default(),
            batch: None,
            complete_min: None,
            complete_max: None,
            low: 0,
            serialize: false,
            offload: false,
            flow: 0,
            flow_id: 0,
            flow_sleep: Nanos::ZERO,
            target: Nanos::ZERO,
            target_window: Nanos::ZERO,
            target_percentile: 100.0,
            target_run: false,
            steady: None,
            steady_window: Nanos::ZERO,
            steady_ramp: Nanos::ZERO,
            steady_interval: Nanos::from_secs(1),
        }
    }
}

/// `rate_min`, `rate_iops_min` and `rate_cycle`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct MinimumSettings {
    bytes: [u64; 3],
    ios: [u64; 3],
    cycle: Nanos,
}

impl Default for MinimumSettings {
    fn default() -> Self {
        Self {
            bytes: [0; 3],
            ios: [0; 3],
            cycle: MinimumRates::CYCLE,
        }
    }
}

fn count(reader: &mut ValueReader<'_>, least: u64) -> Option<u32> {
    let number = reader.number(Counts::Things, least, u64::from(u32::MAX));
    number.map(|number| number as u32)
}

impl PacingSettings {
    /// Whether a latency is to be kept (`latency_target`).
    pub fn has_target(&self) -> bool {
        self.target > Nanos::ZERO
    }

    /// `latency_window` and `latency_percentile` as typed.
    pub fn typed_target(&self) -> (Nanos, f64) {
        (self.target_window, self.target_percentile)
    }

    /// What ends a job by its results, judged over `ss_dur`: as fio has it, slopes of IOPS where no criterion is given.
    pub fn steady_state(&self) -> Option<SteadyState> {
        let default = (
            SteadyMetric::Iops,
            SteadyJudgement::Slope,
            SteadyLimit::Percent(0.01),
        );
        let (metric, judgement, limit) = self.steady.unwrap_or(default);
        (self.steady_window > Nanos::ZERO).then_some(SteadyState {
            metric,
            judgement,
            limit,
            window: self.steady_window,
            ramp: self.steady_ramp,
            interval: self.steady_interval,
        })
    }

    /// `ramp_size`; zero: none.
    pub fn warm_up_bytes(&self) -> Bytes {
        Bytes::new(self.ramp_size)
    }
}

impl Settings {
    /// Applies an option of pacing; `false` where it is none.
    pub(super) fn apply_pacing(&mut self, reader: &mut ValueReader<'_>) -> bool {
        self.apply_think(reader)
            || self.apply_minimum(reader)
            || self.apply_batches(reader)
            || self.apply_target(reader)
    }

    fn apply_minimum(&mut self, reader: &mut ValueReader<'_>) -> bool {
        let minimum = &mut self.pacing.minimum;
        match reader.name() {
            "rate_min" => {
                let parts = reader.triple(Counts::BytesPerSecond, 0, 1 << 50);
                set_parts(&mut minimum.bytes, parts);
            }
            "rate_iops_min" => {
                let parts = reader.triple(Counts::Things, 0, u64::from(u32::MAX));
                set_parts(&mut minimum.ios, parts);
            }
            "rate_cycle" => {
                let millis = count(reader, 0).map(|millis| Nanos::from_millis(millis.into()));
                set(&mut minimum.cycle, millis);
            }
            _ => return false,
        }
        true
    }

    fn apply_think(&mut self, reader: &mut ValueReader<'_>) -> bool {
        let pacing = &mut self.pacing;
        match reader.name() {
            "thinktime" => set(&mut pacing.think, reader.time(BareTime::Micros)),
            "thinktime_spin" => set(&mut pacing.think_spin, reader.time(BareTime::Micros)),
            "thinktime_blocks" => set_some(&mut pacing.think_blocks, count(reader, 0)),
            "thinktime_blocks_type" => {
                let word = reader.word(&["complete", "issue"]);
                let counts = |index| match index {
                    0 => ThinkCounts::Completed,
                    _ => ThinkCounts::Issued,
                };
                set(&mut pacing.think_counts, word.map(counts));
            }
            "thinktime_iotime" => set(&mut pacing.think_iotime, reader.time(BareTime::Seconds)),
            "rate_ignore_thinktime" => set(&mut pacing.think_stops_rate, reader.switch()),
            "ramp_size" => {
                set(
                    &mut pacing.ramp_size,
                    reader.number(Counts::Bytes, 1, 1 << 62),
                );
            }
            "thinkcycles" => set(&mut pacing.think_cycles, count(reader, 0)),
            "flow" => set(&mut pacing.flow, count(reader, 0)),
            "flow_id" => set(&mut pacing.flow_id, count(reader, 0)),
            "flow_sleep" => set(&mut pacing.flow_sleep, reader.time(BareTime::Micros)),
            _ => return false,
        }
        true
    }

    fn apply_batches(&mut self, reader: &mut ValueReader<'_>) -> bool {
        let pacing = &mut self.pacing;
        match reader.name() {
            // None at all is the whole depth to fio.
            "iodepth_batch" => {
                let batch = count(reader, 0).map(|batch| if batch == 0 { u32::MAX } else { batch });
                pacing.batch = batch.or(pacing.batch);
            }
            "iodepth_batch_complete_min" => {
                pacing.complete_min = count(reader, 0).or(pacing.complete_min);
            }
            "iodepth_batch_complete_max" => {
                pacing.complete_max = count(reader, 0).or(pacing.complete_max);
            }
            "iodepth_low" => set(&mut pacing.low, count(reader, 0)),
            "serialize_overlap" => set(&mut pacing.serialize, reader.switch()),
            "io_submit_mode" => {
                let mode = reader.word(&["inline", "offload"]);
                set(&mut pacing.offload, mode.map(|mode| mode == 1));
            }
            _ => return false,
        }
        true
    }

    fn apply_target(&mut self, reader: &mut ValueReader<'_>) -> bool {
        let pacing = &mut self.pacing;
        match reader.name() {
            "latency_target" => set(&mut pacing.target, reader.time(BareTime::Micros)),
            "latency_window" => set(&mut pacing.target_window, reader.time(BareTime::Micros)),
            "latency_percentile" => {
                let list = reader.decimals(1);
                let first = list.and_then(|(list, _)| list.first().copied());
                set(&mut pacing.target_percentile, first);
            }
            "latency_run" => set(&mut pacing.target_run, reader.switch()),
            "steadystate" => {
                if let Some(criterion) = steady_criterion(reader) {
                    pacing.steady = Some(criterion);
                }
            }
            "steadystate_duration" => {
                set(&mut pacing.steady_window, reader.time(BareTime::Seconds));
            }
            "steadystate_ramp_time" => {
                set(&mut pacing.steady_ramp, reader.time(BareTime::Seconds));
            }
            "steadystate_check_interval" => {
                set(&mut pacing.steady_interval, reader.time(BareTime::Seconds));
            }
            _ => return false,
        }
        true
    }
}

/// `iops:2`, `bw_slope:0.3%`: what is judged, how, and the limit.
fn steady_criterion(
    reader: &mut ValueReader<'_>,
) -> Option<(SteadyMetric, SteadyJudgement, SteadyLimit)> {
    const METRICS: [(&str, SteadyMetric); 3] = [
        ("iops", SteadyMetric::Iops),
        ("bw", SteadyMetric::Bandwidth),
        ("lat", SteadyMetric::Latency),
    ];
    let text = reader.text()?;
    let (name, limit) = text.split_once(':').unwrap_or((text, ""));
    let (base, judgement) = match name.strip_suffix("_slope") {
        Some(base) => (base, SteadyJudgement::Slope),
        None => (name, SteadyJudgement::Deviation),
    };
    let metric = METRICS.iter().find(|(word, _)| *word == base);
    let limit = metric.and_then(|(_, metric)| steady_limit(reader, limit, *metric));
    let (Some((_, metric)), Some(limit)) = (metric, limit) else {
        let hint = "write it like `iops:2%`, `bw_slope:0.3%`, `bw:10m` or `lat:50us`".to_owned();
        let message = format!("`steadystate={text}` is no criterion with its limit");
        reader.refuse(&message, Some(hint));
        return None;
    };
    Some((*metric, judgement, limit))
}

/// `2%`, `100`, `10m` bytes a second, `50us`; a latency without a unit is in nanoseconds.
fn steady_limit(
    reader: &mut ValueReader<'_>,
    text: &str,
    metric: SteadyMetric,
) -> Option<SteadyLimit> {
    let number = |text: &str| {
        let number = text.trim().parse::<f64>().ok();
        number.filter(|number| number.is_finite() && *number >= 0.0)
    };
    if let Some(digits) = text.strip_suffix('%') {
        return number(digits).map(SteadyLimit::Percent);
    }
    let limit = match (metric, number(text)) {
        (_, Some(number)) => number,
        (SteadyMetric::Iops, None) => return None,
        (SteadyMetric::Bandwidth, None) => reader.part(text, Counts::BytesPerSecond)? as f64,
        (SteadyMetric::Latency, None) => reader.part(text, Counts::Time)? as f64 * 1000.0,
    };
    Some(SteadyLimit::Absolute(limit))
}

/// Complaints about settings of pacing that do not go together: option, message, hint.
pub fn problems(settings: &Settings) -> Vec<(&'static str, String, &'static str)> {
    let pacing = &settings.pacing;
    let mut problems = minimum_problems(settings);
    if pacing.ramp_size > 0 && settings.ramp > Nanos::ZERO {
        let message = "`ramp_time` and `ramp_size` are mutually exclusive".to_owned();
        problems.push(("ramp_size", message, "keep one of them"));
    }
    // Without a window nothing is judged; one that is too short fio refuses, whether there is a criterion or none.
    let window = pacing.steady_window;
    if window > Nanos::ZERO && window < pacing.steady_interval * 2 {
        let message = "`ss_dur` must be at least two check intervals".to_owned();
        let hint = "give a longer ss_dur=, such as ss_dur=60s";
        problems.push(("steadystate_duration", message, hint));
    } else if window
        .get()
        .checked_rem(pacing.steady_interval.get())
        .unwrap_or(0)
        > 0
    {
        let message = "`ss_dur` is no whole number of check intervals".to_owned();
        let hint = "give a multiple of ss_interval=";
        problems.push(("steadystate_duration", message, hint));
    }
    if pacing.steady_window.get() / pacing.steady_interval.get().max(1) > SteadyState::VALUES_MAX {
        let message = "`ss_dur` is longer than a million check intervals".to_owned();
        problems.push(("steadystate_duration", message, "give a shorter ss_dur="));
    }
    if pacing.steady_interval < Nanos::from_secs(1) {
        let message = "`ss_interval` is shorter than a second".to_owned();
        problems.push((
            "steadystate_check_interval",
            message,
            "results are judged by whole seconds: give 1s or more",
        ));
    }
    problems
}

/// Minimum rates that fio refuses, whatever the directions of the job.
fn minimum_problems(settings: &Settings) -> Vec<(&'static str, String, &'static str)> {
    let MinimumSettings { bytes, ios, .. } = settings.pacing.minimum;
    let mut problems = Vec::new();
    let any = |rates: [u64; 3]| rates.iter().any(|rate| *rate > 0);
    if any(bytes) && any(ios) {
        let message = "`rate_min` and `rate_iops_min` are mutually exclusive".to_owned();
        problems.push(("rate_iops_min", message, "keep one of them"));
    }
    let pairs = [
        ("rate_min", "rate", bytes, settings.rate),
        ("rate_iops_min", "rate_iops", ios, settings.rate_iops),
    ];
    for (option, most, least, held) in pairs {
        let exceeds = |way: &Direction| {
            let way = *way as usize;
            held[way] > 0 && held[way] < least[way]
        };
        if let Some(way) = Direction::ALL.into_iter().find(exceeds) {
            let message = format!("`{option}` exceeds `{most}` for {}s", way.name());
            problems.push((option, message, "lower it, or raise the other"));
        }
    }
    problems
}

/// What the job must keep up; fio judges no direction that it does not go.
fn minimum(settings: &Settings) -> MinimumRates {
    let MinimumSettings { bytes, ios, cycle } = settings.pacing.minimum;
    let rate = |way: Direction| match (bytes[way as usize], ios[way as usize]) {
        (0, 0) => None,
        (0, ios) => Some(Pacing::Iops(Iops::new(ios))),
        (bytes, _) => Some(Pacing::Bytes(BytesPerSec::new(bytes))),
    };
    MinimumRates {
        rates: Direction::ALL.map(rate),
        // fio judges by whole milliseconds, and never over none.
        cycle: cycle.max(Nanos::from_millis(1)),
    }
}

/// Puts the features that the settings ask for into their job.
pub fn pace(job: &mut Job, settings: &Settings) {
    let pacing = &settings.pacing;
    let minimum = minimum(settings).only(|way| job.moves(way));
    let batches = batches(pacing, job);
    let features = &mut job.features;
    features.think_cycles = pacing.think_cycles;
    features.warmup_bytes = pacing.warm_up_bytes();
    features.minimum = minimum;
    if pacing.think > Nanos::ZERO {
        // With a time between pauses, the number of blocks counts where it is given.
        let default = if pacing.think_iotime > Nanos::ZERO {
            u32::MAX
        } else {
            1
        };
        features.think = Some(ThinkTime {
            pause: pacing.think,
            spin: pacing.think_spin,
            every: pacing.think_blocks.unwrap_or(default).max(1),
            counts: pacing.think_counts,
            after: pacing.think_iotime,
            stops_rate: pacing.think_stops_rate,
        });
    }
    features.batches = batches;
    if pacing.serialize {
        features.overlaps = Overlaps::Serialized;
    }
    if pacing.flow > 0 {
        features.flow = Some(Flow {
            id: pacing.flow_id,
            weight: pacing.flow,
            pause: pacing.flow_sleep,
        });
    }
    features.rates = rates(settings);
    if pacing.target > Nanos::ZERO {
        let window = pacing.target_window;
        features.latency_target = Some(LatencyTarget {
            most: pacing.target,
            window: if window > Nanos::ZERO {
                window
            } else {
                Nanos::from_secs(1)
            },
            // Where latency is not measured fio finds none late, and each window good.
            percentile: if settings.judges_latency() {
                pacing.target_percentile
            } else {
                0.0
            },
            then: if pacing.target_run {
                AfterFound::GoesOn
            } else {
                AfterFound::Ends
            },
        });
    }
    features.steady = pacing.steady_state();
}

/// fio submits one by one and takes as few as it waits for unless told otherwise; only what was told is kept to, and what is
/// there is taken.
fn batches(pacing: &PacingSettings, job: &Job) -> Option<Batches> {
    let depth = job.depth;
    let asked = pacing.batch.is_some()
        || pacing.complete_min.is_some()
        || pacing.complete_max.is_some()
        || pacing.low > 0;
    let complete_min = pacing.complete_min.unwrap_or(1).min(depth);
    let most = match pacing.complete_max {
        // What is taken one by one goes on one by one, but for the first fill of the queue. `io_submit` waits for each read
        // that is not cached, and holds those that it was given with it back.
        None | Some(0) if is_within_the_call(job) && pacing.low == 0 => complete_min.max(1),
        _ => depth,
    };
    let submit = pacing.batch.unwrap_or(1).min(most);
    let complete_max = match pacing.complete_max {
        // Left out, it is the least number in fio: a queue drains to its low mark, and not below.
        None | Some(0) if pacing.low > 0 => complete_min.max(1),
        None | Some(0) => depth,
        Some(most) => most.clamp(complete_min.max(1), depth),
    };
    asked.then_some(Batches {
        submit,
        complete_min,
        complete_max,
        low: pacing.low.min(depth.saturating_sub(1)),
    })
}

/// Whether submissions wait for what they submit.
fn is_within_the_call(job: &Job) -> bool {
    job.backend == Backend::Libaio && job.caching == Caching::Buffered
}

/// Rates by direction, for a job that goes more than one way.
fn rates(settings: &Settings) -> Option<DirectionRates> {
    let used = goes(settings);
    let by_ios = kept(settings, settings.rate_iops);
    let by_bytes = kept(settings, settings.rate);
    let is_mixed = used.iter().filter(|used| **used).count() > 1;
    let rate = |way: usize| match (used[way], by_ios[way], by_bytes[way]) {
        (false, ..) | (true, 0, 0) => None,
        (true, 0, bytes) => Some(Pacing::Bytes(BytesPerSec::new(bytes))),
        (true, ios, _) => Some(Pacing::Iops(Iops::new(ios))),
    };
    let rates = [rate(0), rate(1), rate(2)];
    (is_mixed && rates.iter().any(Option::is_some)).then_some(DirectionRates {
        rates,
        poisson: if settings.poisson {
            Poisson::Exponential
        } else {
            Poisson::Fixed
        },
    })
}
