//! What `fathom fio` does with each event of a run: progress, logs, debug lines and results in between.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use fathom_dialects::fio::{self, FioInput, FioRun, OutputFormat, PriorityLatencies};
use fathom_rawio::Clock;
use fathom_record::{Event, EventSink, Phase, StageResult};
use fathom_session::{Console, Screen, Show};
use fathom_units::Nanos;

use super::bandwidth::BandwidthLogs;
use super::logs::{Logs, Place};
use super::output::{Output, results};
use super::progress::ProgressLine;
use crate::processors::{CpuTicks, shares, ticks};

/// The consumer of a run's events.
pub struct Watcher<'a> {
    input: &'a FioInput,
    output: Output<'a>,
    progress: ProgressLine<'a>,
    /// Notes and layout, for a person who watches.
    screen: Screen<'a>,
    logs: Logs<'a>,
    bandwidth: Option<BandwidthLogs>,
    /// Index of the first job of each stage.
    first_jobs: Vec<usize>,
    /// What was measured of each stage so far.
    snapshots: BTreeMap<usize, StageResult>,
    priorities: PriorityLatencies,
    /// Of the processors as the first job began, and the percent of the time since then that each was idle.
    ticks: Vec<CpuTicks>,
    idle: Vec<(u32, f64)>,
    began: Nanos,
    pid: u32,
}

impl<'a> Watcher<'a> {
    pub fn new(
        input: &'a FioInput,
        output: Output<'a>,
        logs: Place<'a>,
        began: Nanos,
        console: &'a dyn Console,
    ) -> Self {
        let mut first_jobs = vec![0];
        for stage in &input.workload.stages {
            first_jobs.push(first_jobs.last().copied().unwrap_or(0) + stage.jobs.len());
        }
        let progress = ProgressLine::new(input, console);
        let show = if progress.is_on_terminal() {
            Show::Progress
        } else {
            Show::Notes
        };
        Self {
            input,
            output,
            progress,
            screen: Screen::new(show, console),
            logs: Logs::new(input, logs),
            bandwidth: (input.output.bandwidth_log.as_deref()).map(BandwidthLogs::new),
            first_jobs,
            snapshots: BTreeMap::new(),
            priorities: PriorityLatencies::default(),
            ticks: Vec::new(),
            idle: Vec::new(),
            began,
            pid: std::process::id(),
        }
    }

    /// Prints what stands before a run.
    pub fn start(&mut self) {
        let mut text = String::new();
        let debug = self.input.output.debug;
        for (on, name) in [(debug.random, "random"), (debug.io, "io")] {
            if on {
                let _ = writeln!(text, "fio: set debug option {name}");
            }
        }
        if debug.random {
            text.push_str(&fio::debug_seeds(self.input, self.pid));
        }
        if self.input.output.formats.contains(&OutputFormat::Normal) {
            text.push_str(&fio::write_start(self.input));
            text.push_str(&fio::write_laying_out(self.input, &file_size));
            text.push_str(&fio::write_working(self.input));
        }
        self.output.write(&text);
    }

    /// Prints the results and ends; what of the logs could not be written is told. Also whether all of them are whole.
    pub fn finish(
        mut self,
        measured: &[StageResult],
        signal: Option<i32>,
        console: &dyn Console,
    ) -> (Output<'a>, bool) {
        self.progress.close();
        self.screen.close();
        self.tell_idle();
        let text = results(self.input, &self.run(measured), signal);
        self.output.write(&text);
        let problems = close_logs(self.logs, self.bandwidth);
        for problem in &problems {
            console.tell(&format!("fio: {problem}"));
        }
        (self.output, problems.is_empty())
    }

    /// Prints `text` in place of results and ends.
    pub fn give_up(mut self, text: &str, console: &dyn Console) -> Output<'a> {
        self.progress.close();
        self.screen.close();
        self.output.write(text);
        for problem in close_logs(self.logs, self.bandwidth) {
            console.tell(&format!("fio: {problem}"));
        }
        self.output
    }

    /// Ends without results; returns what of the logs could not be written, and the latencies by priority.
    pub fn abandon(self) -> (Vec<String>, PriorityLatencies) {
        (close_logs(self.logs, self.bandwidth), self.priorities)
    }

    fn run<'r>(&'r self, results: &'r [StageResult]) -> FioRun<'r> {
        FioRun {
            results,
            finished_unix_ms: fathom_rawio::wall_clock() / 1_000_000,
            elapsed: Clock::now().saturating_sub(self.began),
            priorities: Some(&self.priorities),
            idle: &self.idle,
            pid: self.pid,
        }
    }

    /// Looks how long processors were idle so far.
    fn tell_idle(&mut self) {
        let shares = shares(&self.ticks, &ticks()).into_iter();
        self.idle = shares
            .map(|(number, [_, _, idle])| (number, idle))
            .collect();
    }

    /// Says where the output of the commands of a stage's jobs goes; fio does so among JSON and terse lines too.
    fn tell_saved(&mut self, stage: usize, after: bool) {
        if !self.input.output.formats.contains(&OutputFormat::Normal) {
            return;
        }
        let text = fio::write_saved(&self.input.workload.stages[stage], after);
        if !text.is_empty() {
            self.progress.close();
            self.output.write(&text);
        }
    }

    fn show_snapshots(&mut self) {
        self.tell_idle();
        let so_far: Vec<StageResult> = self.snapshots.values().cloned().collect();
        self.progress.close();
        let text = results(self.input, &self.run(&so_far), None);
        self.output.write(&text);
    }
}

/// How long a regular file is, 0 where there is none.
fn file_size(path: &str) -> Option<u64> {
    match std::fs::metadata(path) {
        Ok(found) => found.is_file().then_some(found.len()),
        Err(_) => Some(0),
    }
}

/// Writes what is left of all logs; returns what could not be written.
fn close_logs(logs: Logs<'_>, bandwidth: Option<BandwidthLogs>) -> Vec<String> {
    let problems = [logs.finish(), bandwidth.and_then(BandwidthLogs::finish)];
    problems.into_iter().flatten().collect()
}

impl EventSink for Watcher<'_> {
    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::StageStarted { index, .. } => {
                self.screen.close();
                if self.ticks.is_empty() && self.input.output.idle.is_some() {
                    self.ticks = ticks();
                }
                self.progress.stage(*index);
                if let Some(logs) = &mut self.bandwidth {
                    logs.stage();
                }
                self.tell_saved(*index, false);
            }
            Event::Interval {
                phase, interval, ..
            } => {
                self.progress.interval(*phase, interval);
                if let Some(logs) = self.bandwidth.as_mut().filter(|_| *phase == Phase::Measure) {
                    logs.interval(interval);
                }
            }
            Event::IoLog {
                index,
                job,
                begun_unix_ns,
                chunk,
                ..
            } => {
                let Some(first) = self.first_jobs.get(*index) else {
                    return;
                };
                self.priorities.take(self.input, first + job, chunk);
                self.logs
                    .take(first + job, begun_unix_ns / 1_000_000, chunk);
                let jobs = &self.input.workload.stages[*index].jobs;
                if let Some(job) = jobs.get(*job).filter(|_| self.input.output.debug.io) {
                    let text = fio::debug_ios(job, chunk, self.pid);
                    self.output.write(&text);
                }
            }
            Event::Snapshot {
                index,
                over,
                result,
            } => {
                self.snapshots.insert(*index, (*result).clone());
                if !over {
                    self.show_snapshots();
                }
            }
            Event::Layout { .. }
            | Event::Note { .. }
            | Event::WrongData { .. }
            | Event::JobFailed { .. } => {
                self.progress.close();
                self.screen.event(event);
            }
            Event::StageFinished { index, .. } => self.tell_saved(*index, true),
            Event::JobInterval { .. }
            | Event::Syncs { .. }
            | Event::MoreFailed { .. }
            | Event::IntervalLate { .. }
            | Event::IoFailed { .. } => {}
        }
    }
}
