//! A worker on a file set: one act after another, as its stream has them.
//!
//! It has no queue and no ring: each act is a call that is over when it returns. Its books are those of the other workers:
//! sets of histograms handed over each second, samples, usage.
//!
//! Invariant: between acts nothing is held that another worker waits for, but the file that is open.

use std::hint::spin_loop;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use fathom_rawio::{self as rawio, CycleClock, Waking, sleep_until};
use fathom_record::{EndReason, FailedOperation, IoErrors, IoFailure, Phase, WorkerStats};
use fathom_units::Nanos;
use fathom_workload::generator::{
    ActEnd, BufferFill, Io, RequestPart, SetAct, SetNext, SetShare, SetStream, is_owed,
};
use fathom_workload::{Direction, Job, SetOperation};

use super::flow::Share;
use super::set_files::{Call, PlacedSet, SetFiles};
use super::source::Next;
use super::{FailedIo, Finished, LOOK_EVERY, usage_since};
use crate::file_sets::clean;
use crate::gate::wait_for;
use crate::interval::{Handover, phase};
use crate::order::Order;
use crate::timing::{Boundaries, Gauge, Times};
use crate::tolerance::Tolerance;
use crate::{EngineError, StopFlag};

/// How long it waits where all that it could work on is used by others.
const BUSY_PAUSE: Nanos = Nanos::from_micros(50);

/// What a worker is made of.
pub(crate) struct SetParts<'a> {
    pub(crate) job: &'a Job,
    pub(crate) job_index: usize,
    pub(crate) worker: u32,
    pub(crate) stream: SetStream,
    pub(crate) share: Arc<SetShare>,
    pub(crate) sets: Vec<PlacedSet>,
    pub(crate) fill: BufferFill,
    pub(crate) handover: Handover,
    pub(crate) flow: Option<Share>,
    pub(crate) order: &'a Order<'a>,
    /// Whether it goes on after a failed operation.
    pub(crate) tolerance: &'a Tolerance,
    pub(crate) stop: StopFlag,
    pub(crate) abort: &'a AtomicBool,
}

impl SetParts<'_> {
    /// The same with its part in a flow.
    pub(crate) fn in_flow(self, flow: Option<Share>) -> Self {
        Self { flow, ..self }
    }
}

/// One worker at work.
pub(crate) struct SetWorker<'a> {
    parts: SetParts<'a>,
    files: SetFiles,
    clock: CycleClock,
    boundaries: Boundaries,
    stage_start: Nanos,
    measure_start: Nanos,
    /// When the first request of a job with a rate was due.
    base: Nanos,
    /// When the present request was due, and when it began.
    intended: Nanos,
    request_begun: Nanos,
    last_completion: Nanos,
    measuring: bool,
    index: u64,
    usage_start: rawio::ThreadUsage,
    stats: WorkerStats,
    lag: Gauge,
    waking: Waking,
    /// The time is over, and what was due by then is still done.
    owing: bool,
    ended: Option<EndReason>,
}

/// What came of waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Waited {
    Until,
    Ended,
}

impl<'a> SetWorker<'a> {
    /// Prepares a worker.
    pub(crate) fn new(mut parts: SetParts<'a>) -> Self {
        let mut files = SetFiles::new(parts.job, parts.sets.clone());
        let blocks = Direction::ALL
            .into_iter()
            .flat_map(|way| parts.job.block.of(way));
        let largest = blocks.map(|entry| entry.size.get()).max().unwrap_or(0);
        parts.fill.prepare(files.buffer(largest as u32));
        Self {
            stats: WorkerStats::new(parts.job_index, parts.worker),
            parts,
            files,
            clock: CycleClock::new(),
            boundaries: Boundaries::default(),
            stage_start: Nanos::ZERO,
            measure_start: Nanos::ZERO,
            base: Nanos::ZERO,
            intended: Nanos::ZERO,
            request_begun: Nanos::ZERO,
            last_completion: Nanos::ZERO,
            measuring: false,
            index: 0,
            usage_start: rawio::ThreadUsage::default(),
            lag: Gauge::default(),
            waking: Waking::default(),
            owing: false,
            ended: None,
        }
    }

    /// Index of its job within the stage.
    pub(crate) fn job_index(&self) -> usize {
        self.parts.job_index
    }

    /// What ends the whole run.
    pub(crate) fn stop(&self) -> &StopFlag {
        &self.parts.stop
    }

    /// Has it end before its first I/O: `told` is raised.
    pub(crate) fn end_at_once(&mut self, told: &'a AtomicBool) {
        self.parts.abort = told;
    }

    /// Does the job's work from `times.start` on.
    pub(crate) fn run(mut self, times: Times) -> Finished {
        self.begin(times);
        while self.ended.is_none() {
            match self.parts.stream.next_act() {
                SetNext::Act(act, part) => {
                    if part == RequestPart::First && self.await_turn() == Waited::Ended {
                        // It was not begun, and what was taken for it is given back.
                        self.parts.stream.ended(act, ActEnd::Failed);
                        break;
                    }
                    self.act(act);
                }
                SetNext::Whole(operation) => {
                    let begun = self.request_begun;
                    self.count(Some(operation), begun, self.clock.now(), 0);
                }
                SetNext::Busy if self.owing => self.ended = Some(EndReason::Time),
                SetNext::Busy => {
                    let now = self.clock.now();
                    self.wait_until(now + BUSY_PAUSE);
                }
                SetNext::End => self.ended = Some(EndReason::Done),
            }
            if !self.parts.stream.is_within_request() {
                self.look();
            }
        }
        self.finish()
    }

    /// Whether the run, or the job, is to end.
    fn is_called_off(&self) -> bool {
        self.parts.stop.is_requested() || self.parts.abort.load(Ordering::Relaxed)
    }

    fn begin(&mut self, times: Times) {
        let limits = &self.parts.job.limits;
        self.stage_start = times.start;
        let first = times.start + limits.start_delay;
        wait_for(first, times.awake, || self.is_called_off());
        self.clock = CycleClock::new();
        let now = self.clock.now();
        // Workers that share a rate count their requests and their time from one moment: one that comes late owes no more.
        self.base = first;
        let start = if self.parts.share.has_rate() {
            first.min(now)
        } else {
            now
        };
        self.last_completion = now;
        self.measure_start = start + limits.warmup;
        self.boundaries = Boundaries::new(times.origin, now, self.measure_start, limits.runtime);
        if limits.warmup == Nanos::ZERO {
            self.start_measuring();
        }
    }

    fn start_measuring(&mut self) {
        self.measuring = true;
        let errors = std::mem::take(&mut self.stats.errors);
        self.stats = WorkerStats {
            errors,
            ..WorkerStats::new(self.parts.job_index, self.parts.worker)
        };
        self.boundaries.restart_samples(self.measure_start, None);
        self.lag = Gauge::default();
        self.usage_start = rawio::thread_usage().unwrap_or_default();
        self.last_completion = self.measure_start;
    }

    /// Looks at the time and at what stops the run.
    fn look(&mut self) {
        if self.is_called_off() {
            self.ended.get_or_insert(EndReason::Interrupted);
        }
        let now = self.clock.now();
        if now >= self.boundaries.next() {
            self.pass_boundaries(now);
        } else if now >= self.clock.next_hold() {
            self.clock.hold(now);
        }
    }

    #[cold]
    fn pass_boundaries(&mut self, now: Nanos) {
        if !self.measuring && now >= self.boundaries.warm_end {
            let end = self.boundaries.interval_end;
            self.parts.handover.send(end, Phase::Warmup);
            self.start_measuring();
        }
        if now >= self.boundaries.interval_end {
            let phase = phase(self.measuring);
            let end = self.boundaries.interval_end;
            self.parts.handover.send(end, phase);
            self.boundaries.next_interval(now);
        }
        if self.measuring {
            let start = self.measure_start;
            self.boundaries
                .take_samples(now, start, &mut self.stats.samples);
        }
        if now >= self.boundaries.run_end {
            self.time_is_over();
        }
        self.boundaries.update(now);
    }

    /// Ends the worker, unless its job has a rate and is being measured: then it ends at the first request that is not owed.
    #[cold]
    fn time_is_over(&mut self) {
        self.owing = self.measuring && self.parts.share.has_rate();
        if !self.owing {
            self.ended.get_or_insert(EndReason::Time);
        }
    }

    /// Sleeps, but goes on with its books meanwhile.
    fn wait_until(&mut self, moment: Nanos) -> Waited {
        loop {
            self.look();
            if self.ended.is_some() {
                return Waited::Ended;
            }
            let now = self.clock.now();
            if now >= moment {
                return Waited::Until;
            }
            let planned = self.waking.before(moment);
            if planned <= now {
                spin_loop();
                continue;
            }
            let next = self.boundaries.next().min(now + LOOK_EVERY);
            let until = planned.min(next);
            sleep_until(until);
            self.waking.note(until, self.clock.now());
        }
    }

    /// Waits until the next request may begin: for its flow, and for when it is due.
    fn await_turn(&mut self) -> Waited {
        loop {
            let now = self.clock.now();
            let wait = self.parts.flow.as_mut().and_then(|flow| flow.wait(now, 0));
            let Some(Next::NotBefore(moment)) = wait else {
                break;
            };
            if self.wait_until(moment) == Waited::Ended || self.owing {
                self.ended.get_or_insert(EndReason::Time);
                return Waited::Ended;
            }
        }
        if let Some(flow) = &mut self.parts.flow {
            flow.issued();
        }
        let now = self.clock.now();
        self.intended = now;
        let earliest = if self.measuring {
            self.measure_start.saturating_sub(self.base).get()
        } else {
            0
        };
        if let Some(start) = self.parts.share.next_start(earliest) {
            self.intended = self.base.saturating_add(Nanos::new(start));
            let could = self.intended.max(now);
            let end = self.boundaries.run_end;
            let waited = self.wait_until(self.intended.min(end));
            // The time may be over since it was last looked at.
            let begins = if self.owing {
                is_owed(self.intended, self.measure_start, end)
            } else {
                self.intended < end
            };
            if waited == Waited::Ended || !begins {
                self.ended.get_or_insert(EndReason::Time);
                return Waited::Ended;
            }
            if self.measuring {
                // The warm-up may have ended meanwhile.
                self.intended = self.intended.max(self.measure_start);
            }
            self.lag.add(self.clock.now().saturating_sub(could));
        }
        self.request_begun = self.clock.now();
        Waited::Until
    }

    fn act(&mut self, act: SetAct) {
        let Some(call) = self.files.call(act) else {
            let end = self.clean_up();
            return self.parts.stream.ended(act, end);
        };
        if let SetAct::Transfer {
            direction: Direction::Write,
            offset,
            length,
            ..
        } = act
        {
            let io = Io {
                index: self.index,
                direction: Direction::Write,
                target: 0,
                offset,
                length,
            };
            self.index += 1;
            self.parts.fill.refill(&io, self.files.buffer(length));
        }
        if let Some(sync) = self.files.syncs_before(&call) {
            self.sync(sync, act);
        }
        let begun = self.clock.now();
        let result = self.files.perform(call);
        let now = self.clock.now();
        match result {
            Ok(moved) => {
                if let SetAct::Transfer {
                    direction, length, ..
                } = act
                {
                    self.count_transfer(direction, (moved, length), begun, now);
                } else {
                    self.count(act.operation(), begun, now, 0);
                }
                self.parts.stream.ended(act, ActEnd::Done);
            }
            Err(error) => {
                self.count_error(act, &error);
                self.parts.stream.ended(act, ActEnd::Failed);
            }
        }
    }

    fn sync(&mut self, sync: Call, act: SetAct) {
        let begun = self.clock.now();
        let result = self.files.perform(sync);
        let now = self.clock.now();
        match result {
            Ok(_) => {
                if let Some(stats) = &mut self.parts.handover.current.sync {
                    stats.latency.record(now.saturating_sub(begun).get());
                }
                self.last_completion = now;
            }
            Err(error) => self.count_error(act, &error),
        }
    }

    /// Removes all that is there of the set, and of others before it.
    fn clean_up(&mut self) -> ActEnd {
        let anchor = self.files.anchor().to_owned();
        let mut failed = ActEnd::Done;
        let walked = clean(&anchor, &mut |removal| {
            let operation = match removal {
                crate::file_sets::Removal::File(_) => SetOperation::Delete,
                crate::file_sets::Removal::Directory(_) => SetOperation::RemoveDirectory,
            };
            let begun = self.clock.now();
            let removed = removal.perform();
            let now = self.clock.now();
            match removed {
                Ok(()) => self.count(Some(operation), begun, now, 0),
                Err(error) => {
                    failed = ActEnd::Failed;
                    let at = (removal.path(), None);
                    self.count_failed(operation.name(), Some(operation), at, &error);
                }
            }
            self.look();
            if self.ended.is_some() {
                Err(())
            } else {
                Ok(())
            }
        });
        if let Err(error) = walked {
            failed = ActEnd::Failed;
            self.count_failed(
                "rmdir",
                Some(SetOperation::RemoveDirectory),
                (&anchor, None),
                &error,
            );
        }
        failed
    }

    fn count(&mut self, operation: Option<SetOperation>, begun: Nanos, now: Nanos, bytes: u32) {
        if operation == Some(SetOperation::Copy) {
            // Its parts were under way, and are counted.
            self.last_completion = now;
        } else {
            self.note_completion(begun, now);
        }
        let set = &mut self.parts.handover.current.set;
        let stats = operation.and_then(|operation| set.of_mut(operation));
        if let Some(stats) = stats {
            stats.bytes += u64::from(bytes);
            stats.latency.record(now.saturating_sub(begun).get());
            if let Some(response) = &mut stats.response {
                response.record(now.saturating_sub(self.intended).get());
            }
        }
    }

    fn count_transfer(
        &mut self,
        direction: Direction,
        (moved, length): (u32, u32),
        begun: Nanos,
        now: Nanos,
    ) {
        self.note_completion(begun, now);
        let way = direction as usize;
        if moved < length {
            self.stats.short_ios[way] += 1;
        }
        self.boundaries.sample.ios[way] += 1;
        self.boundaries.sample.bytes[way] += u64::from(moved);
        if let Some(stats) = &mut self.parts.handover.current.directions[way] {
            stats.bytes += u64::from(moved);
            stats.latency.record(now.saturating_sub(begun).get());
            if let Some(response) = &mut stats.response {
                response.record(now.saturating_sub(self.intended).get());
            }
        }
    }

    fn note_completion(&mut self, begun: Nanos, now: Nanos) {
        self.last_completion = now;
        if self.measuring {
            let span = now.saturating_sub(begun.max(self.measure_start));
            self.stats.outstanding_ns += u128::from(span.get());
            self.stats.depth_levels[0] += 1;
            self.stats.submit_batches[1] += 1;
            self.stats.complete_batches[1] += 1;
        }
    }

    #[cold]
    fn count_error(&mut self, act: SetAct, error: &io::Error) {
        let path = self.files.path_of(act);
        let (name, operation) = match act {
            SetAct::Transfer { direction, .. } => (direction.name(), None),
            other => {
                let operation = other.operation();
                (operation.map_or("clean", SetOperation::name), operation)
            }
        };
        if let SetAct::Transfer { direction, .. } = act {
            let handling = &self.parts.job.features.errors;
            let errno = error.raw_os_error().unwrap_or(0);
            let way = direction as usize;
            if handling.go_on[way] || handling.ignored[way].contains(&errno) {
                return self.note_error(direction, None, errno);
            }
        }
        let span = match act {
            SetAct::Transfer { offset, length, .. } => Some((offset, u64::from(length))),
            _ => None,
        };
        self.count_failed(name, operation, (&path, span), error);
    }

    #[cold]
    fn count_failed(
        &mut self,
        name: &'static str,
        operation: Option<SetOperation>,
        (path, span): (&Path, Option<(u64, u64)>),
        error: &io::Error,
    ) {
        let errno = error.raw_os_error().unwrap_or(0);
        let direction = if name == Direction::Read.name() {
            Direction::Read
        } else {
            Direction::Write
        };
        self.note_error(direction, operation, errno);
        self.parts.tolerance.tell(|| IoFailure {
            at_unix_ns: fathom_rawio::wall_clock(),
            job: self.parts.job_index,
            operation: name,
            path: path.display().to_string(),
            offset: span.map(|(offset, _)| offset),
            length: span.map_or(0, |(_, length)| length),
            errno,
            wrong: Vec::new(),
        });
        // A format that cannot be finished leaves nothing to work on.
        let formats = self.parts.job.features.file_work.as_ref();
        let formats =
            formats.is_some_and(|work| matches!(work.task, fathom_workload::FileTask::Format(_)));
        if !self.parts.tolerance.survives_another() || formats {
            let source = match error.raw_os_error() {
                Some(code) => io::Error::from_raw_os_error(code),
                None => io::Error::new(error.kind(), error.to_string()),
            };
            let path = path.display().to_string();
            self.parts
                .order
                .fail(EngineError::target(&path, name, source));
            self.ended = Some(EndReason::Failed);
        }
    }

    fn note_error(&mut self, direction: Direction, operation: Option<SetOperation>, errno: i32) {
        self.parts.tolerance.count();
        let operation = operation.map(FailedOperation::OnSet);
        let same = |error: &&mut IoErrors| {
            (error.errno, error.direction, error.operation) == (errno, direction, operation)
        };
        if let Some(error) = self.stats.errors.iter_mut().find(same) {
            error.count += 1;
            return;
        }
        self.stats.errors.push(IoErrors {
            direction,
            operation,
            errno,
            count: 1,
            first_offsets: Vec::new(),
        });
    }

    fn finish(mut self) -> Finished {
        self.stats.ended = self.ended.unwrap_or(EndReason::Done);
        let ended_at = self.clock.now();
        let until =
            self.boundaries
                .measured_until(self.stats.ended, self.last_completion, ended_at);
        if self.measuring {
            self.stats.measured = until.saturating_sub(self.measure_start);
            self.stats.usage = usage_since(self.usage_start);
        }
        self.stats.started = self.measure_start.saturating_sub(self.stage_start);
        self.stats.clock_deviated = self.clock.has_deviated();
        let phase = phase(self.measuring);
        let end = self.boundaries.interval_end;
        self.parts.handover.finish(end, until, phase);
        Finished {
            stats: self.stats,
            lag: self.lag,
            stamp_error: Gauge::default(),
            // What failed is with the order already, with the path that it failed on.
            failure: None::<FailedIo>,
            shortfall: None,
            problem: None,
            unanswered: 0,
            lines: Vec::new(),
            handed_over: None,
        }
    }
}
