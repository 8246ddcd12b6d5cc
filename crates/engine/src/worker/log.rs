//! What a worker tells of its I/O, where its job asks for a log.

use fathom_rawio::Completion;
use fathom_record::LoggedIo;
use fathom_units::Nanos;
use fathom_workload::{IoPriority, Job};

use super::{Kind, Slot};
use crate::io_log::IoLogger;

/// The log of one worker; what completes before its measurement begins is left out.
#[derive(Debug)]
pub(super) struct Log {
    logger: IoLogger,
    /// What an I/O moves at least to be told: bursts of work in its place move nothing.
    least: u32,
    measure_start: Option<Nanos>,
}

impl Log {
    pub(super) fn new(logger: IoLogger, job: &Job) -> Self {
        Self {
            logger,
            least: u32::from(job.features.processor_work.is_none()),
            measure_start: None,
        }
    }

    pub(super) fn measuring(&mut self, start: Nanos) {
        self.measure_start = Some(start);
        self.logger.restart(start);
    }

    /// Takes an I/O that moved something, or a burst.
    pub(super) fn completed(
        &mut self,
        slot: &Slot,
        completion: &Completion,
        priority: IoPriority,
        now: Nanos,
    ) {
        let (Some(start), Kind::Data(direction)) = (self.measure_start, slot.kind) else {
            return;
        };
        let moved = completion.result.ok();
        let Some(bytes) = moved.filter(|bytes| *bytes >= self.least) else {
            return;
        };
        let is_split = slot.submitted > slot.begun;
        let issued = if is_split { slot.submitted } else { slot.begun };
        self.logger.record(&LoggedIo {
            issued: issued.saturating_sub(start),
            completed: now.saturating_sub(start),
            submit: is_split.then(|| slot.submitted.saturating_sub(slot.begun)),
            latency: now.saturating_sub(slot.begun),
            direction,
            target: slot.target,
            offset: slot.offset,
            bytes,
            priority,
        });
    }

    pub(super) fn finished(&mut self, now: Nanos) {
        if let Some(start) = self.measure_start {
            self.logger.finish(now.saturating_sub(start));
        }
    }
}
