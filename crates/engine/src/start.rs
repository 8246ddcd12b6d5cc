//! The beginning of a worker: on its own thread, from the parts of it to its first I/O.
//!
//! A queue is made here, since a ring belongs to its thread. What is compiled once for each kind of queue is kept out of
//! line, and what is large is handed on in a box: every page that a frame touches is there as often as there are workers.

use std::fs::File;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, Sender};

use fathom_nbd::client::Offer;
use fathom_rawio::{
    AioQueue, NullQueue, OneByOne, Queue, RingUnusable, SyncQueue, UringQueue, precise_timers,
};
use fathom_workload::generator::WorkerStream;
use fathom_workload::{Backend, Job};

use crate::file_sets::SetStart;
use crate::order::Order;
use crate::timing::Times;
use crate::worker::{Extras, Finished, Full, Parts, Source, Worker};
use crate::{About, Capability, EngineError, calls, exports, scheduler, thread};

/// Where a worker says that it is ready, or why it cannot be.
type Ready = Sender<Result<(), EngineError>>;

/// A worker before its thread begins.
pub(crate) enum Start<'a> {
    /// One whose I/O is of files and devices.
    Io(IoStart<'a>),
    /// One on a file set.
    Set(Box<SetStart<'a>>),
}

impl Start<'_> {
    /// Runs the worker on the calling thread; `None` where it could not begin, or was sent home.
    pub(crate) fn work(self) -> Option<Finished> {
        match self {
            Self::Io(start) => start.work(),
            Self::Set(start) => start.work(),
        }
    }
}

/// A worker with I/O of files and devices before its thread begins.
pub(crate) struct IoStart<'a> {
    pub(crate) parts: Box<Parts<'a, WorkerStream>>,
    pub(crate) opened: Opened,
    /// Of targets that are names to the job, and are not opened.
    pub(crate) names: Vec<PathBuf>,
    pub(crate) order: &'a Order<'a>,
    pub(crate) ready: Ready,
    pub(crate) go: Receiver<Times>,
}

/// The targets of a worker, in the job's order.
pub(crate) struct Opened {
    pub(crate) files: Vec<File>,
    /// Of files that are connections to exports.
    pub(crate) offers: Vec<Offer>,
}

/// What a worker's thread needs to begin.
struct Begin<'a> {
    order: &'a Order<'a>,
    ready: Ready,
    go: Receiver<Times>,
    files: thread::Kept,
}

impl IoStart<'_> {
    fn work(self) -> Option<Finished> {
        let job = self.parts.job;
        let features = &job.features;
        let waits = features.think.is_some()
            || features.rates.is_some()
            || features.flow.is_some()
            || features.replay.is_some()
            || features.processor_work.is_some();
        let waits = waits || self.parts.schedule.is_some();
        if waits {
            precise_timers();
        }
        let slots = match self.parts.backend {
            _ if features.operation.is_some() || features.processor_work.is_some() => 1,
            Backend::Sync | Backend::Mmap => 1,
            _ => job.depth,
        };
        let size = job.largest_buffer().get().max(1) as u32;
        let IoStart {
            mut parts,
            opened,
            names,
            order,
            ready,
            go,
        } = self;
        parts.outside_calls &= !waits;
        let begin_order = Begin {
            order,
            ready,
            go,
            files: thread::kept(job, &opened.files),
        };
        let _placed = placed(job, parts.worker, &opened.files, &begin_order.ready)?;
        calls::advise(job, &opened.files);
        if let Some(performer) = thread::performer(job, &opened.files, names, &parts.stop) {
            let queue = performer.and_then(|performer| OneByOne::new(performer, size));
            let queue = queue.map_err(|source| RingUnusable::Other {
                ring: thread::what(job),
                slots,
                source,
            });
            return begin(parts, queue, slots, begin_order);
        }
        begin_by_backend(parts, opened, (slots, size), begin_order)
    }
}

/// Begins a worker whose I/O is that of its backend, in so many buffers of a size.
fn begin_by_backend<'a>(
    parts: Box<Parts<'a, WorkerStream>>,
    Opened { files, offers }: Opened,
    (slots, size): (u32, u32),
    begin_order: Begin<'a>,
) -> Option<Finished> {
    let job = parts.job;
    let calls = calls::of(job);
    let plain = |ring: &'static str, source| RingUnusable::Other {
        ring,
        slots,
        source,
    };
    match parts.backend {
        Backend::IoUring => {
            let queue = UringQueue::with_calls(files, slots, size, &calls);
            begin(parts, queue, slots, begin_order)
        }
        Backend::Libaio => {
            let queue = AioQueue::with_calls(files, slots, size, &calls);
            begin(parts, queue, slots, begin_order)
        }
        // Mapped files were taken care of above.
        Backend::Sync | Backend::Mmap => {
            let queue = SyncQueue::with_calls(files, slots, size, &calls);
            let queue = queue.map_err(|error| plain("pread and pwrite", error));
            begin(parts, queue, slots, begin_order)
        }
        Backend::Nbd => {
            let (stop, abort) = (parts.stop.clone(), parts.abort);
            let is_called_off = move || stop.is_requested() || abort.load(Ordering::Relaxed);
            let queue = exports::queue(job, (files, offers), (slots, size), is_called_off);
            let queue = queue.map_err(|error| plain("exports of NBD servers", error));
            let queue = made_or_told(job, queue, &begin_order.ready)?;
            begin_full(parts, queue, slots, begin_order)
        }
        Backend::Null => {
            let queue = NullQueue::new(files, slots, size);
            let queue = queue.map_err(|error| plain("the null backend", error));
            begin(parts, queue, slots, begin_order)
        }
    }
}

/// Begins a worker whose queue was made, if it was.
#[inline(never)]
fn begin<'a, Q: Queue>(
    parts: Box<Parts<'a, WorkerStream>>,
    queue: Result<Q, RingUnusable>,
    slots: u32,
    begin: Begin<'a>,
) -> Option<Finished> {
    let job = parts.job;
    let queue = made_or_told(job, queue, &begin.ready)?;
    if Full::is_needed(job) {
        begin_full(parts, queue, slots, begin)
    } else {
        start(made(parts, queue, slots), job, begin)
    }
}

/// The queue, where it was made; why it was not is told.
fn made_or_told<Q>(job: &Job, queue: Result<Q, RingUnusable>, ready: &Ready) -> Option<Q> {
    let told = |error: RingUnusable| {
        // The control thread waits for exactly one word from each worker.
        let remedy = error.remedy().unwrap_or(
            "lower its depth, block size or number of workers, or choose another engine",
        );
        let _ = ready.send(Err(EngineError::Unsupported {
            capability: Capability::IoUring,
            about: About::Job(job.name.clone()),
            what: format!("job `{}`", job.name),
            why: error.to_string(),
            remedy: remedy.to_owned(),
        }));
    };
    queue.map_err(told).ok()
}

/// Puts the thread of a worker where its job wants it, with the memory that it locks, and tells what the job has to say of its
/// files; `None` where it cannot, which is said.
fn placed(job: &Job, worker: u32, files: &[File], ready: &Ready) -> Option<thread::Placed> {
    let placed = thread::place(job, worker).and_then(|placed| {
        scheduler::switch(job, files)?;
        calls::tell_lifetime(job, files)?;
        calls::check_atomic(job, files)?;
        Ok(placed)
    });
    placed.map_err(|error| drop(ready.send(Err(error)))).ok()
}

/// Begins a worker with hooks.
#[inline(never)]
fn begin_full<'a, Q: Queue>(
    mut parts: Box<Parts<'a, WorkerStream>>,
    queue: Q,
    slots: u32,
    begin: Begin<'a>,
) -> Option<Finished> {
    let job = parts.job;
    let extras = Extras {
        arrivals: parts.arrivals,
        logger: parts.logger.take(),
        share: parts.share.take(),
        warm_up: parts.warm_up.take(),
        enough: parts.enough.take(),
        verification: parts.verification.take(),
        checked: std::mem::take(&mut parts.checked),
        worker: parts.worker,
        io_is_over: parts.io_is_over,
        files: &begin.files.targets,
    };
    let full = parts.with_source(|stream| Full::new(job, stream, extras));
    match full {
        Ok(parts) => start(made(Box::new(parts), queue, slots), job, begin),
        Err(error) => {
            let _ = begin.ready.send(Err(error));
            None
        }
    }
}

/// The worker, apart from what is done with it: the room that it takes on the stack while it is made is free again.
#[inline(never)]
#[expect(
    clippy::boxed_local,
    reason = "unboxed, every caller would have a copy on its stack"
)]
fn made<Q: Queue, S: Source>(
    parts: Box<Parts<'_, S>>,
    queue: Q,
    slots: u32,
) -> Box<Worker<'_, Q, S>> {
    Box::new(Worker::new(*parts, queue, slots))
}

/// Begins a worker once all are ready.
#[inline(never)]
fn start<Q: Queue, S: Source>(
    worker: Box<Worker<'_, Q, S>>,
    job: &Job,
    begin: Begin<'_>,
) -> Option<Finished> {
    let Begin {
        order,
        ready,
        go,
        files,
    } = begin;
    let _ = ready.send(Ok(()));
    drop(ready);
    let times = go.recv().ok()?;
    Some(thread::run(worker, job, times, order, &files))
}
