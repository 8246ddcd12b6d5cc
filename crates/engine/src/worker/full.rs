//! The source of a job with features.
//!
//! Each feature has its own file beside this one and its own field here; what they do to an I/O happens in the order in
//! which [`Full`] calls them. What may hold the worker back altogether (a pause, the flow, the depth) comes before an I/O
//! is drawn, what depends on the I/O (blocks in flight) after it; an I/O that has to wait is kept, not drawn again.

use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use fathom_rawio::Completion;
use fathom_record::WRONG_DATA;
use fathom_units::{Bytes, Nanos};
use fathom_workload::generator::{Io, StreamKey, WorkerStream};
use fathom_workload::{IoPriority, Job, Overlaps, ProcessorWork, ThreadPriority};

use super::Slot;
use super::bursts::{self, Bursts};
use super::delays::Delayed;
use super::depth::{DepthSearch, Drain};
use super::flow::Share;
use super::limits::{Limits, TOO_SLOW};
use super::log::Log;
use super::overlap::InFlight;
use super::priority::PriorityPicker;
use super::rates::Rated;
use super::recorder::Recorder;
use super::replay::Replayer;
use super::source::{Leftover, Next, Source, Sourced, Verdict};
use super::think::{Pauses, Work};
use super::validate::Validation;
use super::verify::Verification;
use super::warm_up::WarmUp;
use crate::EngineError;
use crate::io_log::IoLogger;
use crate::validation::Checked;

/// Everything a job does beyond plain I/O.
pub(crate) struct Full<'a> {
    stream: Box<dyn IoSource + 'a>,
    /// Whether what is read is compared with what is known of all blocks, so that I/Os follow from others.
    validates: bool,
    pauses: Option<Pauses>,
    /// What its requests are in place of I/O.
    processor_work: Option<ProcessorWork>,
    /// As [`Source::take_stood`].
    stood: Nanos,
    work: Option<Work>,
    limits: Limits<'a>,
    recorder: Option<Recorder<'a>>,
    flow: Option<Share>,
    warm_up: Option<WarmUp>,
    enough: Option<Arc<AtomicBool>>,
    drain: Option<Drain>,
    search: Option<DepthSearch>,
    in_flight: Option<InFlight>,
    /// Drawn, but it overlaps what is in flight.
    kept: Option<Sourced>,
    log: Option<Log>,
    priorities: Option<PriorityPicker<'a>>,
    /// Of I/Os that are given none of their own: that of the thread.
    own_priority: IoPriority,
}

/// What features share with other workers or the control thread.
pub(crate) struct Extras<'a, 'f> {
    /// What its arrivals are drawn by, where directions have rates of their own.
    pub(crate) arrivals: StreamKey,
    /// Takes its log.
    pub(crate) logger: Option<IoLogger>,
    /// Its part in a flow.
    pub(crate) share: Option<Share>,
    /// Its part in a warm-up that bytes end.
    pub(crate) warm_up: Option<WarmUp>,
    /// Set when its job's results are steady.
    pub(crate) enough: Option<Arc<AtomicBool>>,
    /// What draws and checks the I/O of a job whose data is checked.
    pub(crate) verification: Option<Verification<'a>>,
    /// What is known of the blocks of its targets, where all are checked.
    pub(crate) checked: Vec<Checked>,
    /// Number of the worker within the job.
    pub(crate) worker: u32,
    /// Set when the I/O of all jobs of its stage is over.
    pub(crate) io_is_over: &'a AtomicBool,
    /// The job's files once more, where ranges of them are written back.
    pub(crate) files: &'f [File],
}

/// What the I/O itself comes from: the job's stream, or something that replaces or surrounds it.
pub(crate) trait IoSource {
    /// The next I/O, with `in_flight` outstanding.
    fn next(&mut self, now: Nanos, in_flight: u32) -> Next;

    /// As [`Source::follow_up`].
    fn follow_up(&mut self, now: Nanos) -> Option<Sourced> {
        let _ = now;
        None
    }

    /// As [`Source::stream`].
    fn stream(&mut self) -> Option<&mut WorkerStream> {
        None
    }

    /// As [`Source::oldest_due`].
    fn oldest_due(&self) -> Option<Nanos> {
        None
    }

    /// As [`Source::holds_syncs`].
    fn holds_syncs(&self) -> bool {
        false
    }

    /// As [`Source::looks_for_more`].
    fn looks_for_more(&mut self) -> bool {
        (self.stream()).is_some_and(|stream| stream.fell_short())
    }

    /// As [`Source::before_write`].
    fn before_write(&mut self, tag: u64, buffer: &mut [u8]) {
        let _ = (tag, buffer);
    }

    /// A read, write or discard has ended; `buffer` holds what was read.
    fn completed(&mut self, tag: u64, result: Result<u32, i32>, buffer: &mut [u8]) {
        let _ = (tag, result, buffer);
    }

    /// As [`Source::sync_begins`].
    fn sync_begins(&mut self) -> u64 {
        0
    }

    /// The sync of this tag has succeeded.
    fn sync_ended(&mut self, tag: u64) {
        let _ = tag;
    }

    /// Whether what the last completion has read is not what was written, once: the I/O has failed.
    fn is_wrong(&mut self) -> bool {
        false
    }

    /// As [`Source::take_wrong`].
    fn take_wrong(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// As [`Source::take_verdict`].
    fn take_verdict(&mut self) -> Option<Verdict> {
        None
    }

    /// As [`Source::leave`].
    fn leave(&mut self) -> Leftover {
        Leftover::default()
    }

    /// As [`Source::stretch`].
    fn stretch(&self) -> u64 {
        0
    }

    /// Whether a pass is over and what it wrote is checked: none of its pauses belong there.
    fn is_checking(&self) -> bool {
        false
    }

    /// The measurement begins at `now`.
    fn measuring(&mut self, now: Nanos) {
        let _ = now;
    }

    /// Rates of its own stood still in a pause of this length, which is over.
    fn stood_still(&mut self, pause: Nanos) {
        let _ = pause;
    }
}

impl IoSource for WorkerStream {
    fn next(&mut self, _now: Nanos, _in_flight: u32) -> Next {
        Next::of(self.next_io())
    }

    fn stream(&mut self) -> Option<&mut WorkerStream> {
        Some(self)
    }
}

/// What the I/O of a job comes from whose blocks are not checked.
fn source_of<'a>(
    job: &'a Job,
    stream: WorkerStream,
    arrivals: StreamKey,
    verification: Option<Verification<'a>>,
) -> Result<Box<dyn IoSource + 'a>, EngineError> {
    let features = &job.features;
    Ok(match (verification, &features.replay, &features.rates) {
        (Some(verification), ..) => Box::new(verification),
        (None, Some(replay), _) => Box::new(Replayer::new(replay, job)?),
        (None, None, Some(rates)) => Box::new(Rated::new(job, rates, arrivals, stream)),
        (None, None, None) if Delayed::is_needed(job) => Box::new(Delayed::new(stream)),
        (None, None, None) => Box::new(stream),
    })
}

impl<'a> Full<'a> {
    /// Whether a job needs it.
    pub(crate) fn is_needed(job: &Job) -> bool {
        let features = &job.features;
        features.think.is_some()
            || features.think_cycles > 0
            || features.warmup_bytes > Bytes::ZERO
            || features.verify.is_some()
            || features.validate.is_some()
            || features.processor_work.is_some()
            || features.io_log.is_on()
            || features.priorities.is_some()
            || features.replay.is_some()
            || features.trace_to.is_some()
            || Limits::is_needed(job)
            || features.rates.is_some()
            || Delayed::is_needed(job)
            || features.flow.is_some()
            || features.steady.is_some()
            || features.latency_target.is_some()
            || features.overlaps != Overlaps::Allowed
            || features.batches.is_some_and(|batches| batches.low > 0)
    }

    /// All features of `job`, with `stream` as what its I/O is drawn from, unless its checks draw it.
    ///
    /// # Errors
    /// Where a trace cannot be read or written.
    pub(crate) fn new(
        job: &'a Job,
        stream: WorkerStream,
        extras: Extras<'a, '_>,
    ) -> Result<Self, EngineError> {
        let Extras {
            arrivals,
            logger,
            share,
            warm_up,
            enough,
            verification,
            checked,
            worker,
            io_is_over,
            files,
        } = extras;
        let features = &job.features;
        let low = features
            .batches
            .map(|batches| batches.low)
            .filter(|low| *low > 0);
        let recorder = features.trace_to.as_deref();
        let recorder = recorder.map(|path| Recorder::new(path, worker, job));
        Ok(Self {
            validates: features.validate.is_some(),
            stream: match (Bursts::of(job, io_is_over), features.validate.as_deref()) {
                (Some(bursts), _) => Box::new(bursts),
                (None, Some(validate)) => Box::new(Validation::new(job, validate, stream, checked)),
                (None, None) => source_of(job, stream, arrivals, verification)?,
            },
            pauses: (features.think)
                .or(features.processor_work.as_ref().map(bursts::rests))
                .map(Pauses::new),
            processor_work: features.processor_work,
            stood: Nanos::ZERO,
            work: Work::of(features.think_cycles),
            limits: Limits::new(job, files)?,
            recorder: recorder.transpose()?,
            flow: share,
            warm_up,
            enough,
            drain: low.map(|low| Drain::new(job.depth, low)),
            search: features
                .latency_target
                .map(|target| DepthSearch::new(target, job.depth)),
            in_flight: (features.overlaps == Overlaps::Serialized)
                .then(|| InFlight::new(job.depth)),
            kept: None,
            log: logger.map(|logger| Log::new(logger, job)),
            priorities: (job.features.priorities.as_deref()).map(|priorities| {
                let seed = job.salt ^ u64::from(arrivals.worker) << 32;
                PriorityPicker::new(priorities, seed)
            }),
            own_priority: (features.process.io_priority)
                .map_or_else(IoPriority::default, ThreadPriority::of_ios),
        })
    }

    /// What must be waited for before anything is issued.
    fn hold_back(&mut self, now: Nanos, in_flight: u32) -> Option<Next> {
        if self.work.as_mut().is_some_and(Work::goes_on) {
            return Some(Next::NotBefore(now));
        }
        let steady = |enough: &Arc<AtomicBool>| enough.load(Ordering::Relaxed);
        if self.enough.as_ref().is_some_and(steady) {
            return Some(Next::End);
        }
        if let Some(search) = &self.search {
            if search.is_over() {
                return Some(Next::End);
            }
            if in_flight >= search.depth() {
                return Some(Next::AfterCompletion);
            }
        }
        if self
            .drain
            .as_mut()
            .is_some_and(|drain| drain.holds_back(in_flight))
        {
            return Some(Next::AfterCompletion);
        }
        let mut pause = None;
        if let Some(pauses) = &mut self.pauses {
            pause = pauses.wait(now, in_flight);
            let stood = pauses.take_stood();
            if stood > Nanos::ZERO {
                self.stood = stood;
                self.stream.stood_still(stood);
            }
        }
        pause.or_else(|| self.flow.as_mut()?.wait(now, in_flight))
    }

    /// Ranges that are due are written back before another I/O, and where fio looks for one.
    fn write_back_before(&mut self, next: Next) {
        match next {
            Next::Io(_) if self.stream.holds_syncs() => self.limits.came_between(),
            Next::Io(_) => self.limits.write_back(),
            Next::Settle | Next::End if self.stream.looks_for_more() => {
                self.limits.looked_for_more();
            }
            _ => {}
        }
    }

    /// Notes that `sourced` goes now, or keeps it where it must wait.
    fn let_go(&mut self, sourced: Sourced, now: Nanos, in_flight: u32) -> Next {
        if let Some(flying) = &mut self.in_flight {
            if flying.holds_back(&sourced.io) {
                self.kept = Some(sourced);
                return Next::AfterCompletion;
            }
            flying.issued(sourced.io);
        }
        if let Some(drain) = &mut self.drain {
            drain.issued(in_flight + 1);
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.drawn(sourced.io, now);
        }
        if !self.stream.is_checking() {
            if let Some(pauses) = &mut self.pauses {
                pauses.issued(now);
            }
            if let Some(work) = &mut self.work {
                work.issued();
            }
        }
        if let Some(flow) = &mut self.flow {
            flow.issued();
        }
        Next::Io(sourced)
    }
}

impl Source for Full<'_> {
    const HOOKS: bool = true;

    fn stream(&mut self) -> Option<&mut WorkerStream> {
        self.stream.stream()
    }

    fn next_io(&mut self) -> Option<Io> {
        None
    }

    fn next(&mut self, now: Nanos, in_flight: u32) -> Next {
        if let Some(wait) = self.hold_back(now, in_flight) {
            return wait;
        }
        let next = match self.kept.take() {
            Some(kept) => Next::Io(kept),
            None => self.stream.next(now, in_flight),
        };
        if self.limits.writes_back() {
            self.write_back_before(next);
        }
        match next {
            Next::Io(sourced) => self.let_go(sourced, now, in_flight),
            other => other,
        }
    }

    fn follow_up(&mut self, now: Nanos) -> Option<Sourced> {
        if !self.validates {
            return None;
        }
        self.stream.follow_up(now)
    }

    fn take_wrong(&mut self) -> Vec<String> {
        self.stream.take_wrong()
    }

    fn before_write(&mut self, _io: &Io, tag: u64, buffer: &mut [u8]) {
        self.stream.before_write(tag, buffer);
    }

    fn sync_begins(&mut self) -> u64 {
        self.stream.sync_begins()
    }

    fn holds_syncs(&self) -> bool {
        self.stream.holds_syncs()
    }

    fn looks_for_more(&mut self) -> bool {
        self.stream.looks_for_more()
    }

    fn oldest_due(&self) -> Option<Nanos> {
        self.stream.oldest_due()
    }

    fn take_verdict(&mut self) -> Option<Verdict> {
        self.stream.take_verdict()
    }

    fn leave(&mut self) -> Leftover {
        let left = self.stream.leave();
        let recorder = self.recorder.as_mut();
        let problem = (left.problem).or(recorder.and_then(Recorder::take_problem));
        Leftover {
            problem: problem.or_else(|| self.limits.take_problem()),
            ..left
        }
    }

    fn submitted(&mut self, slots: &[Slot], batch: &[u32]) {
        if let Some(recorder) = &mut self.recorder {
            recorder.submitted(slots, batch);
        }
    }

    fn completed(
        &mut self,
        slot: &Slot,
        completion: &Completion,
        buffer: &mut [u8],
        now: Nanos,
    ) -> Result<(), i32> {
        if !slot.is_sync() {
            self.stream.completed(slot.tag, completion.result, buffer);
        } else if completion.result.is_ok() {
            self.stream.sync_ended(slot.tag);
        }
        if let (Some(warm_up), Ok(moved)) = (&mut self.warm_up, completion.result)
            && !slot.is_sync()
        {
            warm_up.moved(moved);
        }
        if let Some(pauses) = &mut self.pauses
            && !self.stream.is_checking()
        {
            pauses.completed();
            let took = now.saturating_sub(slot.begun);
            let rest = (self.processor_work.as_ref()).and_then(|it| bursts::rest_after(it, took));
            if let Some(rest) = rest {
                pauses.last_for(rest);
            }
        }
        if let Some(flying) = &mut self.in_flight {
            flying.completed(slot);
        }
        let mut is_too_slow = false;
        if let Some(search) = &mut self.search {
            search.completed(now.saturating_sub(slot.begun), now);
            is_too_slow = search.has_failed();
        }
        if let Some(log) = &mut self.log {
            let picker = self.priorities.as_ref();
            let given = picker.map(|it| it.of(completion.slot));
            let given = given.filter(|priority| *priority != IoPriority::default());
            log.completed(slot, completion, given.unwrap_or(self.own_priority), now);
        }
        if is_too_slow {
            return Err(TOO_SLOW);
        }
        if self.validates && self.stream.is_wrong() {
            return Err(WRONG_DATA);
        }
        self.limits.completed(slot, now)
    }

    fn priority(&mut self, io: &Io, slot: u32) -> IoPriority {
        let picker = self.priorities.as_mut();
        picker.map_or_else(IoPriority::default, |it| it.pick(io, slot))
    }

    fn begins_anew(&mut self) -> bool {
        let search = self.search.as_mut();
        search.is_some_and(DepthSearch::take_found)
    }

    fn is_warm(&self) -> bool {
        self.warm_up.as_ref().is_some_and(WarmUp::is_over)
    }

    fn measuring(&mut self, now: Nanos) {
        self.stream.measuring(now);
        if let Some(log) = &mut self.log {
            log.measuring(now);
        }
    }

    fn take_stood(&mut self) -> Nanos {
        std::mem::take(&mut self.stood)
    }

    fn take_written_back(&mut self) -> Option<Nanos> {
        self.limits.take_written_back()
    }

    fn rested_until(&self) -> Option<Nanos> {
        self.pauses.as_ref()?.rested_until()
    }

    fn stretch(&self) -> u64 {
        self.stream.stretch()
    }

    fn found_depth(&self) -> Option<u32> {
        self.search.as_ref().map(DepthSearch::found)
    }

    fn syncing_all(&mut self, now: Nanos) {
        if let Some(recorder) = &mut self.recorder {
            recorder.syncing_all(now);
        }
    }

    fn finished(&mut self, now: Nanos) {
        if let Some(recorder) = &mut self.recorder {
            recorder.finished(now);
        }
        if let Some(log) = &mut self.log {
            log.finished(now);
        }
    }
}
