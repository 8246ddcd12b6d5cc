//! What a worker is made of, and what it leaves behind.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use fathom_record::WorkerStats;
use fathom_units::Nanos;
use fathom_workload::generator::{ArrivalSchedule, BufferFill, StreamKey};
use fathom_workload::{Backend, Job};

use super::flow::Share;
use super::minimum::Shortfall;
use super::verify::Verification;
use super::warm_up::WarmUp;
use crate::interval::Handover;
use crate::io_log::IoLogger;
use crate::timing::Gauge;
use crate::tolerance::Tolerance;
use crate::validation::Checked;
use crate::{EngineError, StopFlag};

/// What a worker is made of, apart from its queue.
pub(crate) struct Parts<'a, S> {
    pub(crate) job: &'a Job,
    pub(crate) job_index: usize,
    pub(crate) worker: u32,
    pub(crate) source: S,
    pub(crate) schedule: Option<ArrivalSchedule>,
    pub(crate) fill: BufferFill,
    pub(crate) backend: Backend,
    pub(crate) handover: Handover,
    /// The taker of the job's log, where it asks for one.
    pub(crate) logger: Option<IoLogger>,
    /// Its part in a flow.
    pub(crate) share: Option<Share>,
    /// Its part in a warm-up that bytes end.
    pub(crate) warm_up: Option<WarmUp>,
    /// Set when its job's results are steady.
    pub(crate) enough: Option<Arc<AtomicBool>>,
    /// Draws and checks the I/O of a job whose data is checked.
    pub(crate) verification: Option<Verification<'a>>,
    /// What is known of the blocks of its targets, where all are checked.
    pub(crate) checked: Vec<Checked>,
    /// What its arrivals are drawn by.
    pub(crate) arrivals: StreamKey,
    /// Set when the I/O of all jobs of its stage is over.
    pub(crate) io_is_over: &'a AtomicBool,
    /// Whether it goes on after a failed I/O.
    pub(crate) tolerance: &'a Tolerance,
    /// Whether its time outside system calls is measured.
    pub(crate) outside_calls: bool,
    pub(crate) stop: StopFlag,
    pub(crate) abort: &'a AtomicBool,
}

impl<'a, S> Parts<'a, S> {
    /// The same parts with what `wrap` makes of the source.
    ///
    /// # Errors
    /// That of `wrap`.
    pub(crate) fn with_source<T, E>(
        self,
        wrap: impl FnOnce(S) -> Result<T, E>,
    ) -> Result<Parts<'a, T>, E> {
        Ok(Parts {
            job: self.job,
            job_index: self.job_index,
            worker: self.worker,
            source: wrap(self.source)?,
            schedule: self.schedule,
            fill: self.fill,
            backend: self.backend,
            handover: self.handover,
            logger: self.logger,
            share: self.share,
            warm_up: self.warm_up,
            enough: self.enough,
            verification: self.verification,
            checked: self.checked,
            arrivals: self.arrivals,
            io_is_over: self.io_is_over,
            tolerance: self.tolerance,
            outside_calls: self.outside_calls,
            stop: self.stop,
            abort: self.abort,
        })
    }
}

/// The I/O that ended a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FailedIo {
    pub(crate) direction: &'static str,
    pub(crate) target: u32,
    pub(crate) offset: u64,
    pub(crate) length: u32,
    /// 0: the end of the file was reached.
    pub(crate) errno: i32,
    /// How long it took.
    pub(crate) took: Nanos,
}

/// What a worker leaves behind.
#[derive(Debug)]
pub(crate) struct Finished {
    /// Counters; its operations are in the sets it sent.
    pub(crate) stats: WorkerStats,
    /// How late I/Os were submitted though a slot was free (open loops).
    pub(crate) lag: Gauge,
    /// How long completions may have waited unseen.
    pub(crate) stamp_error: Gauge,
    pub(crate) failure: Option<FailedIo>,
    /// The rate that it did not keep up, which ended it.
    pub(crate) shortfall: Option<Shortfall>,
    /// What it did not do of what was asked.
    pub(crate) problem: Option<EngineError>,
    /// What its source has to say.
    pub(crate) lines: Vec<String>,
    /// Requests that a server did not answer before the run was to end.
    pub(crate) unanswered: u64,
    /// What is to be said of its writes where kernel threads did them.
    pub(crate) handed_over: Option<String>,
}
