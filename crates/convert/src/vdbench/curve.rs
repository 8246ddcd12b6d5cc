//! Rates that follow from what an earlier run reached.
//!
//! A curve is a run as fast as can be, and runs at shares of that: in a parameter file one RD, `iorate=curve` with the shares as
//! `curve=`; on files it is `fwdrate=curve`. Only a stage whose points come right behind it, and differ from it in their rates alone, is one. `iorate=50%` is a
//! share of what the run before reached.

use fathom_workload::{Arrival, FileTask, Job, RateRounding, SetRate, Stage};

use super::Writer;
use super::joined::is_joined;

impl Writer {
    /// A point of the curve whose run was written last.
    pub(super) fn point(&mut self, (index, number): (usize, usize), jobs: &[Job]) {
        for (place, job) in jobs.iter().enumerate() {
            if job.features.file_work.is_none() {
                self.tell(number + place, job);
            }
            self.draft.jobs[number + place].push((self.made, place));
            if jobs.len() == 1 {
                // The only job has all of the rate, whatever its share.
                self.draft.same(number, "arrival.rate");
                self.draft.same(number, "file_work.rate");
            }
        }
        self.draft.stages[index].push(self.made);
        self.made += 1;
    }
}

/// The stages behind stage `index` that are points of its curve; none where it is no such run.
pub(super) fn points_behind(stages: &[Stage], index: usize) -> &[Stage] {
    let run = &stages[index];
    let is_plain = |job: &Job| {
        job.arrival == Arrival::Closed
            && job.features.file_work.is_none()
            && (job.targets.len() == 1 || is_joined(job))
            && !job.name.contains('#')
    };
    let is_on_files = |job: &Job| {
        let work = job.features.file_work.as_deref();
        job.arrival == Arrival::Closed
            && work.is_some_and(|work| {
                work.rate.is_none() && !matches!(work.task, FileTask::Format(_))
            })
    };
    let is_of_a_kind = run.jobs.iter().all(is_plain) || run.jobs.iter().all(is_on_files);
    if run.rate_from.is_some() || !is_of_a_kind {
        return &[];
    }
    let behind = &stages[index + 1..];
    let Some(first) = behind.first() else {
        return &[];
    };
    let is_point = |stage: &&Stage| {
        let follows = stage
            .rate_from
            .is_some_and(|from| from.stage == index && from.rounding == RateRounding::UpToHundreds);
        // A share of the run before is called after its own RD.
        let is_named_apart = stage
            .name
            .split_once("_(")
            .is_some_and(|(name, _)| !run.name.starts_with(name));
        follows
            && !is_named_apart
            && stage.cooldown == run.cooldown
            && differs_in_rates(stage, run, first)
    };
    let count = behind.iter().take_while(is_point).count();
    &behind[..count]
}

/// Whether a point has the jobs of `run` but for their rates, which are those of the first point.
fn differs_in_rates(point: &Stage, run: &Stage, first: &Stage) -> bool {
    let jobs: Vec<Job> = point.jobs.iter().map(without_rate).collect();
    let own: Vec<Job> = run.jobs.iter().map(without_rate).collect();
    let rates = |stage: &Stage| -> Vec<(Arrival, Option<SetRate>)> {
        let jobs = stage.jobs.iter();
        jobs.map(|job| (job.arrival, set_rate(job))).collect()
    };
    jobs == own && rates(point) == rates(first)
}

/// A job as fast as it can be. Work on files that has a rate is held to its share by that, without a flow.
fn without_rate(job: &Job) -> Job {
    let mut job = Job {
        arrival: Arrival::Closed,
        ..job.clone()
    };
    if let Some(work) = job.features.file_work.as_deref_mut() {
        work.rate = None;
        job.features.flow = None;
    }
    job
}

fn set_rate(job: &Job) -> Option<SetRate> {
    job.features.file_work.as_deref()?.rate
}

/// The share, in percent, of what the run before it reached, which is the rate of stage `index`. Formats are no such runs.
pub(super) fn rate_of_last(stages: &[Stage], index: usize) -> Option<f64> {
    let stage = &stages[index];
    let from = stage.rate_from?;
    let is_format = |job: &Job| {
        let work = job.features.file_work.as_deref();
        work.is_some_and(|work| matches!(work.task, FileTask::Format(_)))
    };
    let before = &stages[..index];
    let last = before
        .iter()
        .rposition(|stage| !stage.jobs.iter().all(is_format));
    let is_last = last == Some(from.stage);
    // Among several workloads, the rates that stand there say who gets how much.
    (is_last && stage.jobs.len() == 1).then_some(from.percent)
}

/// The RD that a stage is, whichever run its rate is a share of.
pub(super) fn bare_name(stage: &Stage) -> &str {
    name_of(stage, stage.rate_from.map(|from| from.percent))
}

/// The RD that a stage is, without the share that Vdbench adds to its name.
pub(super) fn name_of(stage: &Stage, share: Option<f64>) -> &str {
    let suffix = share.map(|share| format!("_({share}%)"));
    let bare = suffix.and_then(|suffix| stage.name.strip_suffix(&suffix));
    bare.unwrap_or(&stage.name)
}

/// What `iorate=` says of a run with these points.
pub(super) fn of_rates(points: &[Stage]) -> String {
    let shares = points.iter().filter_map(|point| point.rate_from);
    let shares: Vec<String> = shares.map(|from| from.percent.to_string()).collect();
    if shares.is_empty() {
        "max".to_owned()
    } else {
        format!("curve,curve=({})", shares.join(","))
    }
}
