//! I/Os that jobs ask to be told one by one (`IoLog::each`), in virtual time.
//!
//! Windows and histograms of a log are not told of a prediction: its intervals hold the same.

use fathom_record::{Event, EventSink, LogChunk, LoggedIo};
use fathom_units::Nanos;
use fathom_workload::generator::Io;
use fathom_workload::{Direction, IoPriority, Job};

/// I/Os of a chunk.
const IOS_PER_CHUNK: usize = 4096;

/// The logs of a stage's workers.
#[derive(Debug, Default)]
pub(crate) struct IoLogs {
    /// By worker; empty where no job of the stage has a log.
    workers: Vec<Option<Log>>,
}

#[derive(Debug)]
struct Log {
    job: usize,
    worker: u32,
    measure: Nanos,
    /// Target and offset of the I/O in each slot.
    slots: Vec<(u32, u64)>,
    chunk: LogChunk,
}

impl IoLogs {
    /// Logs of workers that stand in this order: each with its job's index, its job, its number and the start of its
    /// measurement.
    pub fn of<'a>(workers: impl Iterator<Item = (usize, &'a Job, u32, Nanos)>) -> Self {
        let logs = workers.map(|(index, job, worker, measure)| {
            job.features.io_log.each.then(|| Log {
                job: index,
                worker,
                measure,
                slots: Vec::new(),
                chunk: LogChunk {
                    begun: measure,
                    ..LogChunk::default()
                },
            })
        });
        let mut workers: Vec<Option<Log>> = logs.collect();
        if workers.iter().all(Option::is_none) {
            workers = Vec::new();
        }
        Self { workers }
    }

    /// Whether nothing is to be told.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.workers.is_empty()
    }

    /// An I/O is issued in a worker's slot.
    pub fn issued(&mut self, worker: u32, slot: u32, io: &Io) {
        let Some(Some(log)) = self.workers.get_mut(worker as usize) else {
            return;
        };
        let slot = slot as usize;
        if log.slots.len() <= slot {
            log.slots.resize(slot + 1, (0, 0));
        }
        log.slots[slot] = (io.target, io.offset);
    }

    /// A measured I/O of a worker's slot completed at `now`; `stage` is the index that events name.
    #[cold]
    pub fn completed(
        &mut self,
        (stage, worker, slot): (usize, u32, u32),
        now: Nanos,
        (direction, bytes, latency): (Direction, u64, Nanos),
        sink: &mut dyn EventSink,
    ) {
        let Some(Some(log)) = self.workers.get_mut(worker as usize) else {
            return;
        };
        let (target, offset) = log.slots.get(slot as usize).copied().unwrap_or((0, 0));
        let completed = now.saturating_sub(log.measure);
        log.chunk.ios.push(LoggedIo {
            issued: completed.saturating_sub(latency),
            completed,
            submit: None,
            latency,
            direction,
            target,
            offset,
            bytes: bytes as u32,
            priority: IoPriority::default(),
        });
        if log.chunk.ios.len() >= IOS_PER_CHUNK {
            log.tell(stage, sink);
        }
    }

    /// Tells what is left.
    pub fn finish(&mut self, stage: usize, sink: &mut dyn EventSink) {
        for log in self.workers.iter_mut().flatten() {
            log.tell(stage, sink);
        }
    }
}

impl Log {
    fn tell(&mut self, stage: usize, sink: &mut dyn EventSink) {
        if self.chunk.is_empty() {
            return;
        }
        sink.event(&Event::IoLog {
            index: stage,
            job: self.job,
            worker: self.worker,
            begun_unix_ns: self.measure.get(),
            chunk: &self.chunk,
        });
        self.chunk.clear();
    }
}
