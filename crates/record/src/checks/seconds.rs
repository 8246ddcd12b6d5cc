//! Seconds of a stage whose rates are those of the storage alone, for the checks that judge how they went on.
//!
//! Invariant: a stage with a job that sets its own pace has none, since its rates are those of the job.

use std::borrow::Cow;
use std::ops::Range;

use fathom_stats::Histogram;
use fathom_units::{Nanos, per_second};
use fathom_workload::{Backend, Direction, Job, Stage};

use super::Evidence;
use super::depth::keeps_its_depth;
use crate::asked::RateUnit;
use crate::{Check, IntervalStats, OpStats, StageResult};

/// Below that many I/Os one more or less in a round is a percent of it.
const LEAST_IOS: u64 = 500;
/// All workers must have been measured for so much of the stage; what one did alone is left out.
const LEAST_TOGETHER: f64 = 0.9;

/// Whole seconds in which all workers of a stage were measured, one after another. Of stages that last for hours they are
/// longer intervals.
pub(super) struct Seconds<'a> {
    pub(super) result: &'a StageResult,
    whole: &'a [IntervalStats],
    /// Start of the measurement, from the start of the stage.
    start: Nanos,
}

/// What was done one way in each of the seconds.
pub(super) struct Series {
    pub(super) way: Direction,
    pub(super) unit: RateUnit,
    pub(super) rates: Vec<f64>,
}

impl<'a> Seconds<'a> {
    /// Those of a stage, or why it has none.
    pub(super) fn of(evidence: &Evidence<'a>, result: &'a StageResult) -> Result<Self, String> {
        let stage = evidence.workload.stages.get(result.stage);
        let stage = stage.ok_or("its jobs are not known")?;
        let own = |job: &Job| Some(format!("{} {}", job.name, own_pace(job)?));
        if let Some(why) = stage.jobs.iter().find_map(own) {
            return Err(why);
        }
        let workers = &result.workers;
        if workers.iter().any(|worker| !worker.errors.is_empty()) {
            return Err("I/O failed".to_owned());
        }
        let starts = || workers.iter().map(|worker| worker.started);
        let ends = workers.iter();
        let ends = ends.map(|worker| worker.started.saturating_add(worker.measured));
        let (Some(start), Some(from), Some(until)) = (starts().min(), starts().max(), ends.min())
        else {
            return Err("nothing was measured".to_owned());
        };
        let together = until.saturating_sub(from);
        if together.as_secs_f64() < result.measured.as_secs_f64() * LEAST_TOGETHER {
            let whole = result.measured;
            return Err(format!(
                "its workers were measured together for {together} of {whole} alone"
            ));
        }
        let whole = whole_within(&result.intervals, from, until);
        let whole = if syncs_at_end(stage) {
            before_last_sync(whole)
        } else {
            whole
        };
        Ok(Self {
            result,
            whole,
            start,
        })
    }

    pub(super) fn len(&self) -> usize {
        self.whole.len()
    }

    /// As many as there are, if those are `least` or more.
    pub(super) fn at_least(self, least: usize) -> Result<Self, String> {
        let found = self.len();
        if found < least {
            return Err(format!("{found} whole seconds, and {least} are needed"));
        }
        Ok(self)
    }

    /// I/Os and bytes of each direction: where sizes differ, they need not go the same way.
    pub(super) fn series(&self) -> Vec<Series> {
        let ways = Direction::ALL
            .into_iter()
            .filter(|way| self.ios(*way) >= LEAST_IOS);
        let units = [RateUnit::Ios, RateUnit::Bytes];
        ways.flat_map(|way| units.map(|unit| self.series_of(way, unit)))
            .collect()
    }

    fn series_of(&self, way: Direction, unit: RateUnit) -> Series {
        let rate = |interval: &IntervalStats| {
            let stats = interval.directions[way as usize].as_ref();
            let count = stats.map_or(0, |stats| match unit {
                RateUnit::Ios => stats.ios(),
                RateUnit::Bytes => stats.bytes,
            });
            per_second(count, interval.length)
        };
        let rates = self.whole.iter().map(rate).collect();
        Series { way, unit, rates }
    }

    fn ios(&self, way: Direction) -> u64 {
        let stats = self.whole.iter();
        let stats = stats.filter_map(|interval| interval.directions[way as usize].as_ref());
        stats.map(OpStats::ios).sum()
    }

    /// From the start of the measurement to the end of the first `count` seconds.
    pub(super) fn end_of_first(&self, count: usize) -> Nanos {
        let last = count.checked_sub(1).and_then(|index| self.whole.get(index));
        last.map_or(Nanos::ZERO, |last| last.at.saturating_sub(self.start))
    }

    /// The 99th percentile of latency in some of the seconds; `None` where nothing was done.
    pub(super) fn p99(&self, way: Direction, seconds: Range<usize>) -> Option<Nanos> {
        let mut all = Histogram::new();
        for interval in self.whole.get(seconds)? {
            if let Some(stats) = &interval.directions[way as usize] {
                all.merge(&stats.latency);
            }
        }
        (all.count() > 0).then(|| Nanos::new(all.percentile(99.0)))
    }
}

/// What of a job makes its rates other than those of the storage.
fn own_pace(job: &Job) -> Option<&'static str> {
    let features = &job.features;
    if !keeps_its_depth(job) {
        return Some("has a pace of its own (a rate, pauses, a trace, a search)");
    }
    if features.lines.iter().any(|line| line.burst > 1) {
        return Some("does its I/O in bursts of one kind");
    }
    if features.verify.is_some() || features.validate.is_some() {
        return Some("checks what it wrote");
    }
    if features.operation.is_some() || features.file_work.is_some() {
        return Some("works on files");
    }
    (job.backend == Backend::Null).then_some("reaches no storage")
}

/// Intervals of full length between two moments. Workers begin up to some milliseconds after their stage.
fn whole_within(intervals: &[IntervalStats], from: Nanos, until: Nanos) -> &[IntervalStats] {
    let lengths = intervals.iter().map(|interval| interval.length);
    let longest = lengths.max().unwrap_or_default();
    let slack = Nanos::new(longest.get() / 50);
    let is_whole = |interval: &IntervalStats| {
        let began = interval.at.saturating_sub(interval.length);
        interval.length.saturating_add(slack) >= longest
            && began.saturating_add(slack) >= from
            && interval.at <= until.saturating_add(slack)
    };
    let first = intervals.iter().position(is_whole).unwrap_or_default();
    let last = intervals.iter().rposition(is_whole);
    last.map_or(&[], |last| &intervals[first..=last])
}

fn syncs_at_end(stage: &Stage) -> bool {
    let syncs = |job: &Job| job.sync.at_end || job.sync.on_close || job.features.files.end_syncfs;
    stage.jobs.iter().any(syncs)
}

/// All but the seconds at the end in which a last sync was waited for, and the one in which it began.
fn before_last_sync(seconds: &[IntervalStats]) -> &[IntervalStats] {
    let is_busy = |interval: &IntervalStats| {
        let mut stats = interval.directions.iter().flatten();
        stats.any(|stats| stats.ios() > 0)
    };
    match seconds.iter().rposition(is_busy) {
        Some(last) if last + 1 < seconds.len() => &seconds[..last],
        _ => seconds,
    }
}

/// What is found of a stage.
pub(super) struct Finding {
    pub(super) words: String,
    pub(super) remedy: Cow<'static, str>,
}

/// The check `id` over all stages: each is judged by itself, with a finding, none, or why it is not judged.
pub(super) fn over_stages<'a>(
    evidence: &Evidence<'a>,
    (id, silent): (&str, &str),
    judge: impl Fn(&'a StageResult) -> Result<Option<Finding>, String>,
) -> Check {
    let (mut found, mut unjudged) = (Vec::new(), Vec::new());
    for result in evidence.results {
        let of_stage = |words: String| format!("{}: {words}", result.name);
        match judge(result) {
            Ok(Some(finding)) => found.push((of_stage(finding.words), finding.remedy)),
            Ok(None) => {}
            Err(why) => unjudged.push(of_stage(why)),
        }
    }
    let first = found.first().map(|(words, _)| words.clone());
    let remedy = found.first().map(|(_, remedy)| remedy.clone());
    let finding = first.map(|words| words + &others(found.len()));
    let silent = match unjudged.first() {
        None => silent.to_owned(),
        Some(why) => {
            let judged = unjudged.len() < evidence.results.len();
            let before = if judged {
                format!("{silent}; ")
            } else {
                String::new()
            };
            format!("{before}not judged: {why}{}", others(unjudged.len()))
        }
    };
    super::check(id, finding, &silent, &remedy.unwrap_or_default())
}

fn others(count: usize) -> String {
    match count {
        0 | 1 => String::new(),
        2 => "; 1 more stage".to_owned(),
        count => format!("; {} more stages", count - 1),
    }
}
