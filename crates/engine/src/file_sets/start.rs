//! The beginning of a worker on a file set, on its own thread.

use std::sync::mpsc::{Receiver, Sender};

use fathom_rawio::precise_timers;

use crate::timing::Times;
use crate::worker::{Finished, SetParts, SetWorker};
use crate::{EngineError, thread};

/// A worker on a file set before its thread begins.
pub(crate) struct SetStart<'a> {
    pub(crate) parts: SetParts<'a>,
    /// Where it says that it is ready, or why it cannot be.
    pub(crate) ready: Sender<Result<(), EngineError>>,
    pub(crate) go: Receiver<Times>,
}

impl SetStart<'_> {
    /// Runs the worker on the calling thread; `None` where it could not begin, or was sent home.
    pub(crate) fn work(self) -> Option<Finished> {
        let Self { parts, ready, go } = self;
        let (job, order) = (parts.job, parts.order);
        precise_timers();
        let _placed = match thread::place(job, parts.worker) {
            Ok(placed) => placed,
            Err(error) => {
                let _ = ready.send(Err(error));
                return None;
            }
        };
        let worker = SetWorker::new(parts);
        // The control thread waits for exactly one word from each worker.
        let _ = ready.send(Ok(()));
        drop(ready);
        let times = go.recv().ok()?;
        Some(thread::run_set(worker, job, times, order))
    }
}
