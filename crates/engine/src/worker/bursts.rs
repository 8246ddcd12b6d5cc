//! The bursts of a job that works in place of I/O, and its rests between them.
//!
//! Each burst is an I/O of no bytes, one at a time; the rest after it is a pause (`think.rs`), whose length follows from the
//! job's share of a processor.

use std::sync::atomic::{AtomicBool, Ordering};

use fathom_units::Nanos;
use fathom_workload::generator::Io;
use fathom_workload::{Direction, Job, ProcessorWork, ThinkCounts, ThinkTime, WorkKind};

use super::full::IoSource;
use super::source::Next;

/// Bursts, one after another.
#[derive(Debug)]
pub(super) struct Bursts<'a> {
    done: u64,
    /// How many there are; `None`: as many as fit into its time.
    most: Option<u64>,
    /// Set when the I/O of all other jobs is over, where that ends it.
    io_is_over: Option<&'a AtomicBool>,
}

impl<'a> Bursts<'a> {
    /// `None` where the job does I/O.
    pub(super) fn of(job: &Job, io_is_over: &'a AtomicBool) -> Option<Self> {
        let work = job.features.processor_work?;
        let limits = &job.limits;
        Some(Self {
            done: 0,
            most: limits.ios.filter(|_| !limits.time_based),
            io_is_over: work.ends_with_io.then_some(io_is_over),
        })
    }
}

impl IoSource for Bursts<'_> {
    fn next(&mut self, _now: Nanos, _in_flight: u32) -> Next {
        let is_over = |told: &AtomicBool| told.load(Ordering::Relaxed);
        if self.most.is_some_and(|most| self.done >= most) || self.io_is_over.is_some_and(is_over) {
            return Next::End;
        }
        let index = self.done;
        self.done += 1;
        Next::of(Some(Io {
            index,
            target: 0,
            offset: 0,
            length: 0,
            direction: Direction::Read,
        }))
    }
}

/// The rest after each burst, which is as long as the first is asked for until one has taken its time.
pub(super) fn rests(work: &ProcessorWork) -> ThinkTime {
    ThinkTime {
        pause: work.rest_after(work.burst),
        spin: Nanos::ZERO,
        every: 1,
        counts: ThinkCounts::Completed,
        after: Nanos::ZERO,
        stops_rate: false,
    }
}

/// The rest after a burst that took `took`, where it depends on that: of a burst that spins, what others took of its processor
/// meanwhile is no work.
pub(super) fn rest_after(work: &ProcessorWork, took: Nanos) -> Option<Nanos> {
    (work.kind == WorkKind::Sort).then(|| work.rest_after(took))
}
