//! The source of a job with features.
//!
//! Each feature has its own file beside this one and its own field here; what they do to an I/O happens in the order in
//! which [`Full`] calls them. Pauses come first, since they decide whether anything is issued at all.

use std::fs::File;

use fathom_rawio::Completion;
use fathom_units::Nanos;
use fathom_workload::Job;
use fathom_workload::generator::{Io, WorkerStream};

use super::Slot;
use super::limits::Limits;
use super::log::Log;
use super::recorder::Recorder;
use super::replay::Replayer;
use super::source::{Next, Source, Sourced};
use super::think::Pauses;
use crate::EngineError;
use crate::io_log::IoLogger;

/// Everything a job does beyond plain I/O.
pub(crate) struct Full<'a> {
    stream: Box<dyn IoSource + 'a>,
    pauses: Option<Pauses>,
    limits: Limits<'a>,
    recorder: Option<Recorder<'a>>,
    log: Option<Log>,
}

/// What a worker's features are made with, besides its job.
pub(crate) struct With<'a> {
    /// Takes the log of its I/O.
    pub(crate) logger: Option<IoLogger>,
    /// Number of the worker within the job.
    pub(crate) worker: u32,
    /// The job's files once more, where ranges of them are written back.
    pub(crate) files: &'a [File],
}

/// What the I/O itself comes from: the job's stream, or something that replaces or surrounds it.
pub(crate) trait IoSource {
    /// The next I/O, with `in_flight` outstanding.
    fn next(&mut self, now: Nanos, in_flight: u32) -> Next;
}

impl IoSource for WorkerStream {
    fn next(&mut self, _now: Nanos, _in_flight: u32) -> Next {
        self.next_io().map_or(Next::End, |io| {
            Next::Io(Sourced {
                io,
                at: None,
                tag: 0,
            })
        })
    }
}

impl<'a> Full<'a> {
    /// Whether a job needs it.
    pub(crate) fn is_needed(job: &Job) -> bool {
        let features = &job.features;
        features.think.is_some()
            || features.io_log.is_on()
            || features.replay.is_some()
            || features.trace_to.is_some()
            || Limits::is_needed(job)
    }

    /// All features of `job`, with `stream` as what its I/O is drawn from.
    ///
    /// # Errors
    /// Where a trace cannot be read or written.
    pub(crate) fn new(
        job: &'a Job,
        stream: WorkerStream,
        with: With<'_>,
    ) -> Result<Self, EngineError> {
        let recorder = job.features.trace_to.as_deref();
        let recorder = recorder.map(|path| Recorder::new(path, with.worker, job));
        Ok(Self {
            stream: match &job.features.replay {
                Some(replay) => Box::new(Replayer::new(replay, job)?),
                None => Box::new(stream),
            },
            pauses: job.features.think.map(Pauses::new),
            limits: Limits::new(job, with.files)?,
            recorder: recorder.transpose()?,
            log: with.logger.map(Log::new),
        })
    }
}

impl Source for Full<'_> {
    const HOOKS: bool = true;

    fn next_io(&mut self) -> Option<Io> {
        None
    }

    fn next(&mut self, now: Nanos, in_flight: u32) -> Next {
        if let Some(wait) = self
            .pauses
            .as_mut()
            .and_then(|pauses| pauses.wait(now, in_flight))
        {
            return wait;
        }
        let next = self.stream.next(now, in_flight);
        if let (Some(recorder), Next::Io(sourced)) = (&mut self.recorder, &next) {
            recorder.drawn(sourced.io, now);
        }
        if let (Some(pauses), Next::Io(_)) = (&mut self.pauses, next) {
            pauses.issued(now);
        }
        next
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
        _buffer: &mut [u8],
        now: Nanos,
    ) -> Result<(), i32> {
        if let Some(pauses) = &mut self.pauses {
            pauses.completed();
        }
        if let Some(log) = &mut self.log {
            log.completed(slot, completion, now);
        }
        self.limits.completed(slot, now)
    }

    fn measuring(&mut self, now: Nanos) {
        if let Some(log) = &mut self.log {
            log.measuring(now);
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
