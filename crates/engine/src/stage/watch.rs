//! The control thread of a stage: takes what its workers hand over, tells it, and gathers what they leave behind.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::thread::ScopedJoinHandle;
use std::time::Duration;

use fathom_rawio::{self as rawio, Clock};
use fathom_record::{Began, DeviceCounters, Event, EventSink, OtherIo, StageResult, WorkerStats};
use fathom_units::Nanos;
use fathom_workload::ExistingFiles;

use super::snapshots::Snapshots;
use super::{StageOutput, StageRun};
use crate::background::{Counting, Span};
use crate::collect::Collector;
use crate::failures::{io_error, too_slow};
use crate::interval::{IntervalSet, Message};
use crate::io_log::{LogBatch, LogTaker};
use crate::order::Order;
use crate::steady::SteadyWatch;
use crate::survey::are_on_each_other;
use crate::timing::{Begin, Gauge, Times};
use crate::worker::Finished;
use crate::{exports, gate};

/// How often the control thread looks at least.
const LOOK_EVERY: Nanos = Nanos::from_millis(100);

/// The control thread's ends of all channels.
pub(super) struct Ways<'a> {
    pub(super) begin: Begin,
    pub(super) steady: SteadyWatch,
    pub(super) goes: &'a [SyncSender<Times>],
    pub(super) messages: &'a Receiver<Message>,
    /// By worker.
    pub(super) returns: Vec<SyncSender<Box<IntervalSet>>>,
    /// By worker, where its job asks for a log.
    pub(super) log_returns: Vec<Option<SyncSender<Box<LogBatch>>>>,
}

impl StageRun<'_> {
    pub(super) fn watch(
        &self,
        threads: Vec<ScopedJoinHandle<'_, Option<Finished>>>,
        ways: Ways<'_>,
        order: &Order<'_>,
        sink: &mut dyn EventSink,
    ) -> StageOutput {
        // What was asked of the stage before is not asked of this one.
        self.stop.take_stage_end();
        let names = self.device_names();
        let times = self.times(&ways.begin);
        let lead = times.origin.saturating_sub(times.start);
        let began_unix_ns = unix_ns_of(times.start);
        let started_unix_ns = began_unix_ns + lead.get();
        let mut counting = Counting::begin(&names, &times);
        for go in ways.goes {
            // A worker that is gone has panicked; joining it says so.
            let _ = go.send(times);
        }
        let mut steady = ways.steady.begin(times.origin);
        let mut collector = Collector::new(self.index, times, ways.returns);
        if sink.wants_jobs() {
            collector = collector.with_jobs(self.job_of_workers());
        }
        let logs = LogTaker::new(
            self.index,
            self.stage,
            times,
            began_unix_ns,
            ways.log_returns,
        );
        let mut snapshots = Snapshots::new(self.options.snapshot_every, times.origin);
        loop {
            let now = Clock::now();
            counting.look(now);
            let wake = collector.next_show().min(now + LOOK_EVERY);
            let wait = Duration::from(wake.saturating_sub(now));
            match ways.messages.recv_timeout(wait) {
                Ok(Message::Interval(set)) => {
                    steady.take(&set);
                    collector.take(set);
                }
                Ok(Message::Last(set)) => {
                    steady.take_last(&set);
                    collector.add(&set);
                }
                Ok(Message::Log(batch)) => logs.take(batch, sink),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            self.tell_failed(order, sink);
            let now = Clock::now();
            steady.judge(now);
            if self.stop.take_stage_end() {
                order.end_all();
            }
            collector.show(now, sink);
            if snapshots.is_due(collector.next_show()) || self.stop.take_snapshot_request() {
                let devices = counting.devices(now);
                self.tell_snapshot((started_unix_ns, devices), &collector, sink);
            }
        }
        let ended = Clock::now();
        let mut output = self.empty_output(started_unix_ns);
        output.tell(gate::late_note(ways.begin.late));
        let (span, over) = counting.end(ended);
        self.take_all(threads, &mut output);
        span.tell(&mut output.result, over);
        output.result.others = self.others(&names, &span, over);
        self.tell_failed(order, sink);
        steady.finish(&mut output.result.workers);
        collector.finish(&mut output.result, sink);
        output.result.began = began(&output.result.workers, times.start, began_unix_ns);
        self.tell_over((snapshots, ended), &output.result, sink);
        output
    }

    /// Waits for all workers to be gone, and takes what they leave.
    fn take_all(
        &self,
        threads: Vec<ScopedJoinHandle<'_, Option<Finished>>>,
        output: &mut StageOutput,
    ) {
        let mut unanswered = vec![0; self.stage.jobs.len()];
        for finished in threads.into_iter().filter_map(joined) {
            unanswered[finished.stats.job] += finished.unanswered;
            self.take_finished(finished, output);
        }
        output.tell(exports::unanswered_notes(&self.stage.jobs, &unanswered));
    }

    /// Tells what the stage comes to, for each interval that it ended with, too.
    fn tell_over(
        &self,
        (mut snapshots, ended): (Snapshots, Nanos),
        result: &StageResult,
        sink: &mut dyn EventSink,
    ) {
        let index = self.index;
        let left = std::iter::from_fn(|| snapshots.is_left(ended).then_some(false));
        for over in left.chain([true]) {
            sink.event(&Event::Snapshot {
                index,
                over,
                result,
            });
        }
    }

    /// All workers in order, with when their measurements should begin.
    fn idle_workers(&self) -> Vec<WorkerStats> {
        let mut workers = Vec::new();
        for (index, job) in self.stage.jobs.iter().enumerate() {
            for number in 0..job.workers {
                let mut worker = WorkerStats::new(index, number);
                worker.started = job.limits.start_delay + job.warmup_time();
                workers.push(worker);
            }
        }
        workers
    }

    /// Index of its job for each worker, in order.
    fn job_of_workers(&self) -> Vec<usize> {
        let jobs = self.stage.jobs.iter().enumerate();
        jobs.flat_map(|(index, job)| (0..job.workers).map(move |_| index))
            .collect()
    }

    fn tell_snapshot(
        &self,
        (started_unix_ns, devices): (u64, Vec<DeviceCounters>),
        collector: &Collector,
        sink: &mut dyn EventSink,
    ) {
        let workers = collector.snapshot(self.idle_workers());
        let measured = workers.iter().map(|worker| worker.measured).max();
        let result = StageResult {
            measured: measured.unwrap_or_default(),
            workers,
            devices,
            ..self.empty_result(started_unix_ns)
        };
        sink.event(&Event::Snapshot {
            index: self.index,
            over: false,
            result: &result,
        });
    }

    fn take_finished(&self, finished: Finished, output: &mut StageOutput) {
        output.lag.merge(&finished.lag);
        output.stamp_error.merge(&finished.stamp_error);
        let alone = self.tolerance.workers_fail_alone();
        if let (Some(failure), None, false) = (finished.failure, &output.failure, alone) {
            let job = &self.stage.jobs[finished.stats.job];
            output.failure = Some(io_error(job, failure));
        }
        if let Some(shortfall) = finished.shortfall {
            let job = &self.stage.jobs[finished.stats.job];
            let (error, line) = too_slow(job, shortfall);
            if job.existing == ExistingFiles::OnlyOurs {
                output.failure.get_or_insert(error);
            } else {
                output.result.notes.push(line.clone());
                output.notes.push(line);
            }
        }
        output.problem = output.problem.take().or(finished.problem);
        output.result.notes.extend(finished.handed_over);
        output.lines.extend(finished.lines);
        output.result.workers.push(finished.stats);
    }

    /// Tells of I/Os that failed, of what workers that have ended found wrong, and of those that ended by themselves.
    fn tell_failed(&self, order: &Order<'_>, sink: &mut dyn EventSink) {
        if let Some(count) = self.tolerance.take_more_failed() {
            sink.event(&Event::MoreFailed { count });
        }
        for failure in &self.tolerance.take_untold() {
            sink.event(&Event::IoFailed {
                index: self.index,
                failure,
            });
        }
        for line in &order.take_wrong() {
            sink.event(&Event::WrongData { text: line });
        }
        for error in order.take_failed_alone() {
            let text = format!("error: {error}");
            sink.event(&Event::JobFailed { text: &text });
        }
    }

    fn device_names(&self) -> Vec<String> {
        let objects = self.targets.iter().flat_map(|job| &job.objects);
        let mut names: Vec<_> = objects
            .filter_map(|object| self.store.device_under(*object))
            .collect();
        names.sort();
        names.dedup();
        names
    }

    /// What the devices did for others. Not told where other hosts begin together with this one: their runs may be on this
    /// machine, and on these devices.
    fn others(&self, names: &[String], span: &Span, over: Nanos) -> Option<OtherIo> {
        if self.gate.is_some() || are_on_each_other(names) {
            return None;
        }
        let others = span.others(over)?;
        Some(OtherIo {
            writes_known: self.writes_to_devices,
            ..others
        })
    }

    fn empty_output(&self, started_unix_ns: u64) -> StageOutput {
        StageOutput {
            result: self.empty_result(started_unix_ns),
            lag: Gauge::default(),
            stamp_error: Gauge::default(),
            failure: None,
            problem: None,
            lines: Vec::new(),
            notes: Vec::new(),
            ends_run: false,
        }
    }

    fn empty_result(&self, started_unix_ns: u64) -> StageResult {
        StageResult {
            started_unix_ns,
            ..StageResult::new(self.name, self.stage_index)
        }
    }

    /// The moments of a stage that starts so: those of its start, and of the first job's measurement.
    fn times(&self, begin: &Begin) -> Times {
        Times {
            start: begin.at,
            origin: begin.at + self.stage.lead(),
            awake: begin.awake,
        }
    }
}

/// When the first measurement of a stage began that was begun at `start`; `None` where nothing was measured.
fn began(workers: &[WorkerStats], start: Nanos, start_unix_ns: u64) -> Option<Began> {
    let measured = (workers.iter()).filter(|worker| worker.measured > Nanos::ZERO);
    let first = measured.map(|worker| worker.started).min()?;
    Some(Began {
        at: start + first,
        unix_ns: start_unix_ns + first.get(),
    })
}

/// The wall clock at a moment that is near, or not yet there.
fn unix_ns_of(moment: Nanos) -> u64 {
    let (now, wall) = (Clock::now(), rawio::wall_clock());
    (wall + moment.saturating_sub(now).get()).saturating_sub(now.saturating_sub(moment).get())
}

/// What a worker leaves behind; a panic of its thread goes on here.
fn joined(thread: ScopedJoinHandle<'_, Option<Finished>>) -> Option<Finished> {
    match thread.join() {
        Ok(finished) => finished,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}
