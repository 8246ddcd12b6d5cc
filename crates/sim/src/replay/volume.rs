//! One volume of a replayed trace: what comes to it, and what is measured of it.

use fathom_model::{Limit, Waits};
use fathom_record::{EndReason, OpStats, WorkerStats, depth_level};
use fathom_units::{Bytes, BytesPerSec, Iops, Nanos, Percent};
use fathom_workload::trace::{ServedEntry, ServedOp};
use fathom_workload::{
    Access, Arrival, Backend, BlockSizes, BufferContents, Caching, Coverage, Direction,
    ExistingFiles, Features, FileChoice, Job, Limits, Mix, Pacing, Place, Poisson, ReportGroup,
    Stage, SyncPolicy, Target, WhenFull, Workload,
};

/// Where a served operation counts; `None`: it is a flush.
fn direction_of(op: ServedOp) -> Option<Direction> {
    match op {
        ServedOp::Read => Some(Direction::Read),
        ServedOp::Write | ServedOp::Zeroes => Some(Direction::Write),
        ServedOp::Trim => Some(Direction::Trim),
        ServedOp::Flush => None,
    }
}

/// What a trace comes to on a volume.
#[derive(Debug, Default)]
pub(super) struct Counts {
    ios: [u64; 3],
    bytes: u64,
    /// End of the farthest byte.
    pub end: u64,
}

impl Counts {
    /// Another I/O of a volume of `capacity`.
    pub fn add(&mut self, entry: &ServedEntry, capacity: Bytes) -> Result<(), String> {
        let end = entry.offset + u64::from(entry.length);
        if end > capacity.get() {
            return Err(format!(
                "it ends at byte {end}, and the volume has {capacity} ({} bytes)",
                capacity.get()
            ));
        }
        self.end = self.end.max(end);
        if let Some(direction) = direction_of(entry.op) {
            self.ios[direction as usize] += 1;
            self.bytes = self.bytes.saturating_add(u64::from(entry.length));
        }
        Ok(())
    }

    /// Whether anything is trimmed.
    pub fn trims(&self) -> bool {
        self.ios[Direction::Trim as usize] > 0
    }

    /// The directions that I/O goes.
    pub fn used(&self) -> [bool; 3] {
        self.ios.map(|ios| ios > 0)
    }

    /// A job that stands for all of it, which takes `length`. Its size of I/Os and its rate are means, cut to
    /// whole ones: what came is not less than was asked for. One of less than an I/O a second is told in bytes.
    pub fn job(&self, name: &str, length: Nanos) -> Job {
        let ios: u64 = self.ios.iter().sum();
        let share = |ios_of: u64| {
            let points = u128::from(ios_of) * 10_000 / u128::from(ios.max(1));
            Percent::from_basis_points(points as u32).unwrap_or(Percent::ZERO)
        };
        let [_, write, trim] = self.ios.map(share);
        let most = Percent::ALL.basis_points();
        let read = most - write.basis_points() - trim.basis_points();
        let seconds = length.as_secs_f64().max(1e-9);
        let rate = (ios as f64 / seconds).floor() as u64;
        let bytes = ((self.bytes as f64 / seconds).floor() as u64).max(1);
        let open = Arrival::Open {
            rate: if rate > 0 {
                Pacing::Iops(Iops::new(rate))
            } else {
                Pacing::Bytes(BytesPerSec::new(bytes))
            },
            poisson: Poisson::Fixed,
            when_full: WhenFull::Queue,
        };
        Job {
            name: name.to_owned(),
            group: ReportGroup::default(),
            host: None,
            targets: vec![Target {
                place: Place::Path(name.to_owned()),
                offset: Bytes::ZERO,
                length: Some(Bytes::new(self.end)),
            }],
            file_choice: FileChoice::RoundRobin,
            workers: 1,
            depth: 1,
            mix: Mix {
                read: Percent::from_basis_points(read).unwrap_or(Percent::ZERO),
                write,
                trim,
            },
            access: Access::Random {
                coverage: Coverage::Independent,
                run: 1,
            },
            block: BlockSizes::uniform(Bytes::new((self.bytes / ios.max(1)).max(1))),
            // Flushes alone have no rate that could be reached.
            arrival: if ios == 0 { Arrival::Closed } else { open },
            limits: Limits {
                ios: Some(ios),
                ..Limits::default()
            },
            sync: SyncPolicy::default(),
            contents: BufferContents::default(),
            backend: Backend::IoUring,
            caching: Caching::Direct,
            existing: ExistingFiles::OnlyOurs,
            split_latency: false,
            drop_cache: false,
            unlink: false,
            salt: 0,
            features: Features::default(),
        }
    }
}

/// A workload of one stage.
pub(super) fn workload(stage: &str, jobs: Vec<Job>) -> Workload {
    let stage = Stage {
        name: stage.to_owned(),
        jobs,
        cooldown: Nanos::ZERO,
        repeats: 1,
        discard: false,
        rate_from: None,
    };
    Workload {
        stages: vec![stage],
        seed: 1,
    }
}

/// An I/O under way.
#[derive(Debug, Clone, Copy)]
struct Slot {
    arrived: Nanos,
    length: u32,
    direction: Option<Direction>,
}

/// A volume during a replay.
#[derive(Debug)]
pub(super) struct VolumeRun {
    slots: Vec<Slot>,
    free: Vec<u32>,
    outstanding: u32,
    /// Most outstanding so far.
    pub most: u32,
    /// I/Os so far.
    begun: u64,
    last_arrival: Nanos,
    last_completion: Nanos,
    waited: [[u128; Limit::ALL.len()]; 3],
    /// How long the flush took that completed last, until it is counted for its second.
    flushed: Option<Nanos>,
    stats: WorkerStats,
}

impl VolumeRun {
    pub fn new(job: usize, used: [bool; 3]) -> Self {
        let mut stats = WorkerStats::new(job, 0);
        stats.directions = used.map(|used| used.then(|| OpStats::new(true, false)));
        Self {
            slots: Vec::new(),
            free: Vec::new(),
            outstanding: 0,
            most: 0,
            flushed: None,
            begun: 0,
            last_arrival: Nanos::ZERO,
            last_completion: Nanos::ZERO,
            waited: [[0; Limit::ALL.len()]; 3],
            stats,
        }
    }

    /// An I/O comes: its slot, and its number.
    pub fn begin(&mut self, now: Nanos, entry: &ServedEntry) -> (u32, u64) {
        let slot = Slot {
            arrived: now,
            length: entry.length,
            direction: direction_of(entry.op),
        };
        if slot.direction.is_some() {
            self.last_arrival = now;
        }
        self.outstanding += 1;
        self.most = self.most.max(self.outstanding);
        self.stats.depth_levels[depth_level(self.outstanding)] += 1;
        let number = self.begun;
        self.begun += 1;
        let place = if let Some(place) = self.free.pop() {
            self.slots[place as usize] = slot;
            place
        } else {
            self.slots.push(slot);
            self.slots.len() as u32 - 1
        };
        (place, number)
    }

    /// An I/O completed: its direction, bytes and latency, if it was no flush.
    pub fn complete(
        &mut self,
        now: Nanos,
        place: u32,
        waits: &Waits,
    ) -> Option<(Direction, u64, Nanos)> {
        let Slot {
            arrived,
            length,
            direction,
        } = self.slots[place as usize];
        self.free.push(place);
        self.outstanding -= 1;
        self.last_completion = now;
        self.stats.complete_batches[1] += 1;
        let latency = now - arrived;
        let Some(direction) = direction else {
            let sync = self
                .stats
                .sync
                .get_or_insert_with(|| OpStats::new(false, false));
            sync.latency.record(latency.get());
            self.flushed = Some(latency);
            return None;
        };
        self.stats.outstanding_ns += u128::from(latency.get());
        waits.add_to(&mut self.waited[direction as usize]);
        let bytes = u64::from(length);
        if let Some(stats) = &mut self.stats.directions[direction as usize] {
            stats.bytes += bytes;
            stats.latency.record(latency.get());
            if let Some(response) = &mut stats.response {
                response.record(latency.get());
            }
        }
        Some((direction, bytes, latency))
    }

    /// How long the flush took that completed last; once.
    pub fn take_flushed(&mut self) -> Option<Nanos> {
        self.flushed.take()
    }

    /// When its last I/O completed.
    pub fn end(&self) -> Nanos {
        self.last_completion
    }

    /// Its measurements.
    pub fn finish(mut self, interrupted: bool) -> WorkerStats {
        self.stats.measured = self.last_completion;
        self.stats.intended_end = Some(self.last_arrival);
        self.stats.submit_batches[1] = self.begun;
        self.stats.ended = if interrupted {
            EndReason::Interrupted
        } else {
            EndReason::Done
        };
        for (named, waited) in self.stats.waited_ns.iter_mut().zip(&self.waited) {
            let waits = Limit::ALL.iter().zip(waited).filter(|(_, ns)| **ns > 0);
            *named = waits
                .map(|(limit, ns)| (limit.name().to_owned(), *ns))
                .collect();
        }
        self.stats
    }
}
