//! Delays before the bursts of a job's lines.
//!
//! The stream draws a burst when there is room for its first I/O; that I/O waits from then on, and those in flight go on.

use fathom_units::Nanos;
use fathom_workload::Job;
use fathom_workload::generator::{Io, WorkerStream};

use super::full::IoSource;
use super::source::Next;

/// A stream whose I/Os may have to wait.
#[derive(Debug)]
pub(super) struct Delayed {
    stream: WorkerStream,
    /// Drawn, and due at this moment.
    kept: Option<(Io, Nanos)>,
}

impl Delayed {
    /// Whether a job has delays.
    pub(super) fn is_needed(job: &Job) -> bool {
        let lines = job.features.lines.iter();
        lines.into_iter().any(|line| line.delay > Nanos::ZERO)
    }

    pub(super) fn new(stream: WorkerStream) -> Self {
        let kept = None;
        Self { stream, kept }
    }
}

impl IoSource for Delayed {
    fn next(&mut self, now: Nanos, _in_flight: u32) -> Next {
        let (io, due) = match self.kept.take() {
            Some(kept) => kept,
            None => match self.stream.next_io() {
                Some(io) => (io, now.saturating_add(self.stream.delay())),
                None => return Next::End,
            },
        };
        if due > now {
            self.kept = Some((io, due));
            return Next::NotBefore(due);
        }
        Next::of(Some(io))
    }
}
