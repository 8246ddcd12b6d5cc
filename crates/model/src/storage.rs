//! The model of a whole design: I/Os enter, pass their stages, and complete.
//!
//! An I/O is split into one token for each stripe unit it touches; a token passes the stages of its path in tandem (say
//! cached budget, disk, uncached budget), then waits for its media latency; the I/O completes with its last token. Which
//! stages make the path is the catalogue's accounting table.
//!
//! The model owns no clock and no list of due times. [`Storage::submit`] and [`Storage::advance`] put what will happen into
//! [`Outcome::scheduled`]; the driver keeps those wake-ups ordered by (time, order of arrival) and hands each back when it is
//! due. Several wake-ups may come of one call, so tokens that the model starts by itself (cache fills, flushes) need no
//! other interface.
//!
//! Invariants: time never goes back between calls; a driver delivers every wake-up that is due before it submits at a later
//! time; every submitted I/O completes once.

use std::collections::BTreeMap;

use fathom_units::Nanos;

use crate::cache::{HostCache, Warmed};
use crate::design::VolumeId;
use crate::latency::LatencyTable;
use crate::random::draw;
use crate::stage::{Cost, Entered, Stage, Wait, Waits};
use crate::statistics::{Meter, PartStatistics};
use crate::stripe::Stripe;

mod build;

/// What an I/O does to storage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IoKind {
    /// Moves data to the host.
    Read,
    /// Moves data to storage, or discards it.
    Write,
}

/// One I/O of an application.
#[derive(Debug, Clone, Copy)]
pub struct Request {
    /// Where it goes.
    pub volume: VolumeId,
    /// What it does.
    pub kind: IoKind,
    /// First byte on the volume.
    pub offset: u64,
    /// Bytes; the I/O must end within the volume.
    pub length: u32,
    /// Which stream it belongs to; with `index` it chooses the I/O's media latency.
    pub stream: u64,
    /// Its index within the stream.
    pub index: u64,
    /// Given back when it completes.
    pub tag: u64,
}

/// Something that happens inside the model at a known time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wake(WakeKind);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WakeKind {
    /// The head of a stage's queue may leave.
    Stage(u32),
    /// A token's media latency is over.
    Media(u32),
}

/// A wake-up and its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scheduled {
    /// When it is due.
    pub at: Nanos,
    /// What to hand back to [`Storage::advance`].
    pub wake: Wake,
}

/// A finished I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Completed {
    /// As submitted.
    pub tag: u64,
    /// What it waited for.
    pub waits: Waits,
}

/// What came of a call. The driver empties both lists after each.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Wake-ups to deliver later.
    pub scheduled: Vec<Scheduled>,
    /// I/Os that completed at the time of the call.
    pub completed: Vec<Completed>,
}

/// Why a model cannot be built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// The files on cached disks are too many to track.
    #[error(
        "the files on cached volumes of `{vm}` span {lines} lines of 64 KiB; at most {most} can be tracked"
    )]
    CacheTooLarge {
        /// The machine.
        vm: String,
        /// Lines that files can touch.
        lines: u64,
        /// Most lines.
        most: u64,
    },
    /// A part of the design that the format has and this model does not.
    #[error("{what}, which cannot be modelled yet")]
    NotBuilt {
        /// The part and what it has, such as ``the volume `vm1/data` is cached read-write``.
        what: String,
    },
}

/// Stages in tandem, at most three, and the latency after them.
#[derive(Debug, Clone, Copy)]
struct Path {
    stages: [u32; 3],
    length: u8,
    /// Index into the latency tables; `u32::MAX`: none.
    latency: u32,
    /// The stage whose depth includes the time that tokens spend on media.
    media_stage: u32,
}

const NO_LATENCY: u32 = u32::MAX;

/// Paths of one disk (or device).
#[derive(Debug)]
struct DiskPaths {
    read: Path,
    read_hit: Path,
    write: Path,
    /// Key of its media latencies.
    random_key: u64,
    /// Where its bytes begin in its machine's cache space.
    cache_base: u64,
}

#[derive(Debug)]
struct VolumeModel {
    stripe: Stripe,
    first_disk: u32,
    cache: Option<u32>,
    meter: Meter,
    reads: u64,
    hits: u64,
}

/// A token: the part of an I/O that goes to one disk.
#[derive(Debug, Clone, Copy)]
struct Part {
    io: u32,
    disk: u32,
    path: Path,
    step: u8,
    /// Which part of its I/O it is.
    number: u32,
    entered: Nanos,
    bytes: u64,
    /// Where it fills the cache when it completes.
    fill: Option<u64>,
    waits: Waits,
}

/// An I/O under way.
#[derive(Debug, Clone, Copy)]
struct Io {
    tag: u64,
    stream: u64,
    index: u64,
    volume: u32,
    parts_left: u32,
}

/// The model of a design. Built by `Storage::new`.
#[derive(Debug)]
pub struct Storage {
    stages: Vec<Stage>,
    stage_names: Vec<(String, Vec<String>)>,
    disks: Vec<DiskPaths>,
    volumes: Vec<VolumeModel>,
    volume_names: Vec<(String, &'static str)>,
    caches: Vec<HostCache>,
    latencies: Vec<LatencyTable>,
    parts: Vec<Part>,
    free_parts: Vec<u32>,
    ios: Vec<Io>,
    free_ios: Vec<u32>,
}

impl Storage {
    /// An I/O comes in at `now`.
    pub fn submit(&mut self, now: Nanos, request: Request, outcome: &mut Outcome) {
        let volume = &mut self.volumes[request.volume.index()];
        volume.meter.count(u64::from(request.length));
        volume.meter.enter(now);
        let (stripe, first_disk, cache) = (volume.stripe, volume.first_disk, volume.cache);
        let io = Io {
            tag: request.tag,
            stream: request.stream,
            index: request.index,
            volume: request.volume.index() as u32,
            // Held open until every part has been started, since parts may pass at once.
            parts_left: 1,
        };
        let io_slot = place(&mut self.ios, &mut self.free_ios, io);
        let length = u64::from(request.length.max(1));
        for (number, stripe_part) in stripe.parts(request.offset, length).enumerate() {
            let disk = first_disk + stripe_part.disk;
            let paths = &self.disks[disk as usize];
            let cache_offset = paths.cache_base + stripe_part.offset;
            let mut fill = None;
            let path = match (cache, request.kind) {
                (None, IoKind::Read) => paths.read,
                (None, IoKind::Write) => paths.write,
                (Some(_), IoKind::Write) => {
                    fill = Some(cache_offset);
                    paths.write
                }
                (Some(cache), IoKind::Read) => {
                    let volume = &mut self.volumes[request.volume.index()];
                    volume.reads += 1;
                    if self.caches[cache as usize].holds(cache_offset, stripe_part.length) {
                        volume.hits += 1;
                        paths.read_hit
                    } else {
                        fill = Some(cache_offset);
                        paths.read
                    }
                }
            };
            let part = Part {
                io: io_slot,
                disk,
                path,
                step: 0,
                number: number as u32,
                entered: now,
                bytes: stripe_part.length,
                fill,
                waits: Waits::default(),
            };
            self.ios[io_slot as usize].parts_left += 1;
            let part_slot = place(&mut self.parts, &mut self.free_parts, part);
            self.forward(now, part_slot, outcome);
        }
        self.close_one(now, io_slot, Waits::default(), outcome);
    }

    /// A wake-up is due: whatever can leave at its time leaves.
    ///
    /// The wake-up's own time is the time of the call, also where a driver delivers it late, so that lateness does not
    /// lower a rate.
    pub fn advance(&mut self, due: Scheduled, outcome: &mut Outcome) {
        let now = due.at;
        match due.wake.0 {
            WakeKind::Stage(stage) => self.release(now, stage, outcome),
            WakeKind::Media(part) => {
                let stage = self.parts[part as usize].path.media_stage;
                self.stages[stage as usize].meter.leave(now);
                self.finish(now, part, outcome);
            }
        }
    }

    fn release(&mut self, now: Nanos, stage_index: u32, outcome: &mut Outcome) {
        loop {
            let stage = &mut self.stages[stage_index as usize];
            let Some((part_slot, limit)) = stage.release(now) else {
                break;
            };
            let part = &mut self.parts[part_slot as usize];
            part.waits.add(Wait {
                limit,
                time: now - part.entered,
            });
            part.step += 1;
            self.forward(now, part_slot, outcome);
        }
        if let Some(at) = self.stages[stage_index as usize].next_departure() {
            outcome.scheduled.push(Scheduled {
                at,
                wake: Wake(WakeKind::Stage(stage_index)),
            });
        }
    }

    /// Moves a token on from its present step as far as it gets at `now`.
    fn forward(&mut self, now: Nanos, part_slot: u32, outcome: &mut Outcome) {
        let part = &mut self.parts[part_slot as usize];
        part.entered = now;
        while part.step < part.path.length {
            let stage_index = part.path.stages[usize::from(part.step)];
            let stage = &mut self.stages[stage_index as usize];
            match stage.enter(now, part_slot, Cost { bytes: part.bytes }) {
                Entered::Passed => part.step += 1,
                Entered::Queued => return,
                Entered::Waits(at) => {
                    let wake = Wake(WakeKind::Stage(stage_index));
                    outcome.scheduled.push(Scheduled { at, wake });
                    return;
                }
            }
        }
        if part.path.latency == NO_LATENCY {
            self.finish(now, part_slot, outcome);
            return;
        }
        let io = &self.ios[part.io as usize];
        let disk = &self.disks[part.disk as usize];
        let number = draw(disk.random_key, io.stream, io.index, u64::from(part.number));
        let latency = self.latencies[part.path.latency as usize].at(number);
        self.stages[part.path.media_stage as usize].meter.enter(now);
        let wake = Wake(WakeKind::Media(part_slot));
        outcome.scheduled.push(Scheduled {
            at: now.saturating_add(latency),
            wake,
        });
    }

    fn finish(&mut self, now: Nanos, part_slot: u32, outcome: &mut Outcome) {
        let part = self.parts[part_slot as usize];
        self.free_parts.push(part_slot);
        if let Some(offset) = part.fill {
            let volume = self.ios[part.io as usize].volume;
            if let Some(cache) = self.volumes[volume as usize].cache {
                self.caches[cache as usize].fill(offset, part.bytes);
            }
        }
        self.close_one(now, part.io, part.waits, outcome);
    }

    /// One part (or the submission itself) of an I/O is over.
    fn close_one(&mut self, now: Nanos, io_slot: u32, waits: Waits, outcome: &mut Outcome) {
        let io = &mut self.ios[io_slot as usize];
        io.parts_left -= 1;
        if io.parts_left == 0 {
            let completed = Completed { tag: io.tag, waits };
            self.volumes[io.volume as usize].meter.leave(now);
            self.free_ios.push(io_slot);
            outcome.completed.push(completed);
        }
    }

    /// Takes a range of a cached volume into its machine's cache, as long as there is room. Volumes without a cache ignore
    /// it.
    pub fn warm(&mut self, volume: VolumeId, offset: u64, length: u64) {
        let model = &self.volumes[volume.index()];
        let Some(cache) = model.cache else { return };
        for part in model.stripe.parts(offset, length) {
            let base = self.disks[(model.first_disk + part.disk) as usize].cache_base;
            let warmed = self.caches[cache as usize].warm(base + part.offset, part.length);
            if warmed == Warmed::Full {
                return;
            }
        }
    }

    /// Starts a new window of statistics at `now`.
    pub fn restart_statistics(&mut self, now: Nanos) {
        for stage in &mut self.stages {
            stage.meter.restart(now);
        }
        for volume in &mut self.volumes {
            volume.meter.restart(now);
            (volume.reads, volume.hits) = (0, 0);
        }
    }

    /// What passed each part since the window began, by name: `VM/cached`, `VM/VOLUME`, `VM/VOLUME/disk1`, `DEVICE`.
    pub fn statistics(&self, now: Nanos) -> BTreeMap<String, PartStatistics> {
        let mut rows = BTreeMap::new();
        for (stage, (name, limits)) in self.stages.iter().zip(&self.stage_names) {
            let row = PartStatistics {
                kind: build::kind_name(stage.kind),
                ios: stage.meter.ios,
                bytes: stage.meter.bytes,
                depth: stage.meter.depth(now),
                busy_share: stage.has_limits().then(|| stage.meter.busy_share(now)),
                hit_share: None,
                limits: limits.clone(),
            };
            rows.insert(name.clone(), row);
        }
        for (volume, (name, kind)) in self.volumes.iter().zip(&self.volume_names) {
            if *kind == "device" {
                continue;
            }
            let row = PartStatistics {
                kind,
                ios: volume.meter.ios,
                bytes: volume.meter.bytes,
                depth: volume.meter.depth(now),
                busy_share: None,
                hit_share: (volume.reads > 0).then(|| volume.hits as f64 / volume.reads as f64),
                limits: Vec::new(),
            };
            rows.insert(name.clone(), row);
        }
        rows
    }
}

/// Puts `value` into a free slot, or a new one.
#[inline]
fn place<T>(slots: &mut Vec<T>, free: &mut Vec<u32>, value: T) -> u32 {
    if let Some(slot) = free.pop() {
        slots[slot as usize] = value;
        slot
    } else {
        slots.push(value);
        slots.len() as u32 - 1
    }
}
