//! What the output takes from the events of a run or a prediction.

use std::path::PathBuf;

use fathom_dialects::vdbench::output::{JobSecond, Processors, Rate, Report, RunEnd, Tally};
use fathom_dialects::vdbench::{Run, RunRate, VdbenchInput};
use fathom_engine::StopFlag;
use fathom_record::{Event, EventSink, IntervalStats, OpStats, SetStats, StageResult, stage_rate};
use fathom_units::Nanos;
use fathom_workload::Workload;

use super::directory::Files;
use super::enough::has_enough;
use super::{errors, processors};

/// Whose time it is.
#[derive(Debug, Clone, Copy)]
pub enum Time {
    /// The machine's.
    Real,
    /// A prediction's: where its clock started, in ns since the epoch.
    Virtual(u64),
}

/// The consumer of events.
pub struct Watcher<'a> {
    input: &'a VdbenchInput,
    workload: &'a Workload,
    report: Report,
    files: Files<'a>,
    time: Time,
    stop: StopFlag,
    /// When the present stage started, from the start of the whole, in virtual time.
    stage_began: Nanos,
    /// How far the present stage came.
    reached: Nanos,
    /// I/Os a second that each stage reached, as rates that follow from it count them.
    rates: Vec<Option<f64>>,
    /// The run that goes on.
    run: Option<usize>,
    jobs: Vec<(usize, [Option<OpStats>; 3], SetStats)>,
    before: Option<Processors>,
    monitor: Option<PathBuf>,
    /// Whether something ended the run before its time.
    was_cut: bool,
    failed: bool,
}

impl<'a> Watcher<'a> {
    /// For `input` run as `workload`, into `files`. `stop` ends runs that reached what they were to reach.
    pub fn new(
        (input, workload): (&'a VdbenchInput, &'a Workload),
        (report, files): (Report, Files<'a>),
        time: Time,
        stop: StopFlag,
    ) -> Self {
        Self {
            input,
            workload,
            report,
            files,
            time,
            stop,
            stage_began: Nanos::ZERO,
            reached: Nanos::ZERO,
            rates: vec![None; workload.stages.len()],
            run: None,
            jobs: Vec::new(),
            before: None,
            monitor: input.general.monitor.as_ref().map(PathBuf::from),
            was_cut: false,
            failed: false,
        }
    }

    /// The output's parts, when all is over.
    pub fn finish(self) -> (Report, Files<'a>) {
        (self.report, self.files)
    }

    /// What the clock of the run says, in ns since the epoch.
    pub fn now(&self) -> u64 {
        match self.time {
            Time::Real => fathom_rawio::wall_clock(),
            Time::Virtual(start) => start.saturating_add((self.stage_began + self.reached).get()),
        }
    }

    fn begins(&mut self, stage: usize) {
        let runs = &self.input.runs;
        self.run = runs.iter().position(|run| run.stage == stage);
        (self.was_cut, self.reached) = (false, Nanos::ZERO);
        self.jobs.clear();
        let Some(run) = self.run else {
            return;
        };
        let rate = self
            .resolved(&runs[run])
            .map(|rate| Rate::Number(rate as f64));
        let now = self.now();
        self.report.run_starts(&mut self.files, run, rate, now);
        self.files.flush();
        if let Time::Real = self.time {
            self.before = processors::now();
        }
    }

    /// The rate of a run that follows from an earlier one.
    fn resolved(&self, run: &Run) -> Option<u64> {
        let from = run.rate_from(self.workload)?;
        let reached = self.rates.get(from.stage).copied().flatten()?;
        Some(from.total(reached))
    }

    fn second(&mut self, interval: &IntervalStats) {
        let Some(run) = self.run else {
            return;
        };
        self.reached = interval.at;
        let used = match self.time {
            Time::Real => {
                let after = processors::now();
                let used = self.before.zip(after);
                self.before = after;
                used.map(|(before, after)| processors::between(before, after))
            }
            Time::Virtual(_) => None,
        };
        let jobs = std::mem::take(&mut self.jobs);
        let seconds: Vec<_> = jobs
            .iter()
            .map(|(job, directions, set)| JobSecond {
                job: *job,
                directions,
                set,
            })
            .collect();
        let now = (self.now(), interval.length);
        if self.is_unknown(interval, &seconds) {
            self.report.unknown_second(&mut self.files, now);
        } else {
            self.report.second(&mut self.files, now, &seconds, used);
        }
        if let Time::Real = self.time {
            self.files.flush();
            self.heed_monitor();
        }
        let run = &self.input.runs[run];
        if has_enough(
            &run.maxdata,
            run.facts.lun_bytes,
            self.report.counted_bytes(),
        ) {
            self.cut();
        }
    }

    /// Whether an interval is of a prediction's warm-up, which counts no I/O.
    fn is_unknown(&self, interval: &IntervalStats, jobs: &[JobSecond<'_>]) -> bool {
        let stage = self.run.map(|run| self.input.runs[run].stage);
        let stage = stage.and_then(|stage| self.workload.stages.get(stage));
        let warmups = stage.into_iter().flat_map(|stage| &stage.jobs);
        let warmup = warmups.map(|job| job.limits.warmup).max();
        let did = |job: &JobSecond<'_>| job.directions.iter().flatten().any(|it| it.ios() > 0);
        matches!(self.time, Time::Virtual(_))
            && warmup.is_some_and(|warmup| interval.at <= warmup)
            && !jobs.iter().any(did)
    }

    fn cut(&mut self) {
        self.was_cut = true;
        self.stop.end_stage();
    }

    /// Words in the file of `monitor=` end the run, or all runs.
    fn heed_monitor(&mut self) {
        let text = self
            .monitor
            .as_ref()
            .and_then(|path| std::fs::read_to_string(path).ok());
        let text = text.unwrap_or_default();
        let has = |words: [&str; 2]| words.iter().any(|word| text.contains(word));
        if has(["end_vdbench", "terminate"]) {
            self.was_cut = true;
            self.stop.request();
        } else if has(["end_rd", "shutdown"]) {
            self.cut();
        }
    }

    fn ends(&mut self, result: &StageResult) {
        if let Some(rate) = self.rates.get_mut(result.stage) {
            let stage = self.workload.stages.get(result.stage);
            *rate = stage
                .map(|stage| stage_rate(stage, result))
                .filter(|rate| *rate > 0.0);
        }
        if let Some(run) = self.run.take() {
            let end = self.end_of(&self.input.runs[run]);
            let now = self.now();
            let average = self.report.run_ends(&mut self.files, end, now);
            for line in errors::lines(self.workload, result) {
                self.report.error(&mut self.files, now, &line);
            }
            self.end_curve(run, &average);
            self.files.flush();
        }
        let cooldown = self.workload.stages.get(result.stage);
        let cooldown = cooldown.map_or(Nanos::ZERO, |stage| stage.cooldown);
        self.stage_began += self.reached + cooldown;
        self.reached = Nanos::ZERO;
    }

    fn end_of(&self, run: &Run) -> RunEnd {
        let planned = run
            .elapsed
            .map(|elapsed| Nanos::from_secs(elapsed + run.warmup));
        let is_short = planned.is_none_or(|planned| self.report.reported() < planned);
        match () {
            () if self.stop.is_requested() => RunEnd::Interrupted,
            () if self.was_cut => RunEnd::Enough,
            () if run.until_eof && is_short => RunEnd::EndOfFile,
            () => RunEnd::Over,
        }
    }

    /// Leaves the rest of a curve out where responses take longer than `stopcurve=`.
    fn end_curve(&mut self, run: usize, average: &Tally) {
        let runs = &self.input.runs;
        let Some(limit) = runs[run].stopcurve else {
            return;
        };
        let RunRate::Of { run: first, .. } = runs[run].rate else {
            return;
        };
        if average.response() / 1e6 <= limit {
            return;
        }
        let later = runs[run + 1..].iter();
        let rest =
            later.take_while(|run| matches!(run.rate, RunRate::Of { run, .. } if run == first));
        let count = rest.count();
        if count > 0 {
            self.stop.skip_stages(count);
            let text = format!(
                "Average response time is above stopcurve={limit}: the rest of the curve is left out."
            );
            let now = self.now();
            self.report.note(&mut self.files, now, &text);
        }
    }
}

impl EventSink for Watcher<'_> {
    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::StageStarted { index, .. } => self.begins(*index),
            Event::JobInterval {
                job,
                directions,
                set,
                ..
            } => self
                .jobs
                .push((*job, (*directions).clone(), (*set).clone())),
            Event::Interval { interval, .. } => self.second(interval),
            Event::Snapshot {
                over: true, result, ..
            } => self.ends(result),
            Event::Note { text } => {
                let now = self.now();
                self.report.note(&mut self.files, now, text);
            }
            Event::WrongData { text } => {
                let now = self.now();
                self.report.error(&mut self.files, now, text);
                self.failed = true;
            }
            Event::IoFailed { failure, .. } => {
                let now = self.now();
                self.report.io_failed(&mut self.files, now, failure);
                self.files.flush();
            }
            Event::Layout { path, done, total } if done == total => {
                let now = self.now();
                let text = format!("`{path}` is laid out: {} bytes", total.get());
                self.report.note(&mut self.files, now, &text);
                self.files.flush();
            }
            _ => {}
        }
    }

    fn wants_jobs(&self) -> bool {
        true
    }
}
