//! What brings the dirty blocks of the host cache to their disks.
//!
//! The cache says what is due ([`crate::cache`]); this starts the background tokens, which are charged to the disk and to
//! the machine's uncached budget, and completes flushes when what they asked for is written.
//!
//! Invariant: while anything is dirty, a flush of its cache is scheduled or under way.

use fathom_units::Nanos;

use super::path::{NONE, PathId};
use super::token::{Effect, Parent, Token, Waited};
use super::{Storage, VolumeKind};
use crate::cache::{FLUSH_PERIOD, Run};
use crate::design::VolumeId;
use crate::limit::Waits;
use crate::random::draw;
use crate::request::{Completed, Request};

/// Writes the dirty blocks of one disk.
#[derive(Debug)]
pub(super) struct Flusher {
    /// The cache, and the disk's index among its disks with write-back.
    pub cache: u32,
    pub disk: usize,
    path: PathId,
    random_key: u64,
    /// Background writes begun.
    begun: u64,
    /// Flushes under way: the number that each waits for, and its I/O.
    pub waiting: Vec<(u64, u32)>,
}

impl Flusher {
    pub fn new((cache, disk): (u32, usize), path: PathId, random_key: u64) -> Self {
        Self {
            cache,
            disk,
            path,
            random_key,
            begun: 0,
            waiting: Vec::new(),
        }
    }
}

/// When a cache is flushed next.
#[derive(Debug, Default)]
pub(super) struct Period {
    /// Whether it is scheduled.
    armed: bool,
}

impl Storage {
    /// A write of a disk with write-back has reached the cache at `offset` of its space.
    pub(super) fn cached_write(
        &mut self,
        now: Nanos,
        flusher: u32,
        (offset, length): (u64, u64),
        completed: &mut Vec<Completed>,
    ) {
        let Flusher { cache, disk, .. } = self.flushers[flusher as usize];
        self.caches[cache as usize].write(disk, offset, length);
        if !self.periods[cache as usize].armed {
            self.periods[cache as usize].armed = true;
            let period = FLUSH_PERIOD.get();
            let next = Nanos::new((now.get() / period + 1) * period);
            self.agenda.flushes(now, next, cache);
        }
        self.start_writes(now, flusher, completed);
    }

    /// The time of a cache's periodic flush has come.
    pub(super) fn flush_cache(&mut self, now: Nanos, cache: u32, completed: &mut Vec<Completed>) {
        for index in 0..self.flushers.len() {
            if self.flushers[index].cache == cache {
                let disk = self.flushers[index].disk;
                self.caches[cache as usize].flush(disk);
                self.start_writes(now, index as u32, completed);
            }
        }
        let dirty = self.caches[cache as usize].dirty_bytes() > 0;
        self.periods[cache as usize].armed = dirty;
        if dirty {
            let next = now.saturating_add(FLUSH_PERIOD);
            self.agenda.flushes(now, next, cache);
        }
    }

    /// Starts the background writes of a disk that are due and have room.
    fn start_writes(&mut self, now: Nanos, flusher_index: u32, completed: &mut Vec<Completed>) {
        let flusher = &mut self.flushers[flusher_index as usize];
        let mut runs = Vec::new();
        self.caches[flusher.cache as usize].start_writes(flusher.disk, &mut runs);
        let (path, key, begun) = (flusher.path, flusher.random_key, flusher.begun);
        flusher.begun += runs.len() as u64;
        for (number, run) in runs.into_iter().enumerate() {
            let bytes = run.length as u32;
            let slot = self.runs.put((flusher_index, run));
            self.tell_taken(slot);
            let run = slot;
            let token = Token {
                draw: draw(key, 0, begun + number as u64, 0),
                tag: 0,
                io: NONE,
                volume: NONE,
                path,
                bytes,
                file: NONE,
                effect: Effect::Written(run),
                step: path,
                waited: Waited::NOT,
            };
            self.launch(now, token, completed);
        }
    }

    /// A background write has reached its disk.
    pub(super) fn background_written(
        &mut self,
        now: Nanos,
        run_slot: u32,
        completed: &mut Vec<Completed>,
    ) {
        let (flusher_index, run): (u32, Run) = *self.runs.get(run_slot);
        self.tell_durable(run_slot);
        self.runs.give_back(run_slot);
        let flusher = &mut self.flushers[flusher_index as usize];
        let cache = &mut self.caches[flusher.cache as usize];
        cache.written(flusher.disk, run);
        let disk = flusher.disk;
        let mut durable = Vec::new();
        flusher.waiting.retain(|(number, io)| {
            let done = cache.is_durable(disk, *number);
            if done {
                durable.push(*io);
            }
            !done
        });
        for io in durable {
            self.close_part(now, io, Waits::NONE, completed);
        }
        self.start_writes(now, flusher_index, completed);
    }

    /// A flush of a volume of disks: completes when everything that was written and completed before it is durable.
    pub(super) fn flush(&mut self, now: Nanos, request: &Request, completed: &mut Vec<Completed>) {
        let volume = &mut self.volumes[request.volume.index()];
        volume.meter.enter(now);
        if let VolumeKind::Faulty(fault) = volume.kind
            && self.fails(fault, request)
        {
            return self.at_once(now, fault, request, completed);
        }
        let disks = self.disks_of(request.volume);
        let parent = self.parents.put(Parent {
            tag: request.tag,
            volume: request.volume.index() as u32,
            parts_left: 1,
        });
        for disk in disks {
            let index = self.disks[disk].flusher;
            let Some(flusher) = self.flushers.get_mut(index as usize) else {
                continue;
            };
            let cache = &mut self.caches[flusher.cache as usize];
            let number = cache.flush(flusher.disk);
            if !cache.is_durable(flusher.disk, number) {
                flusher.waiting.push((number, parent));
                self.parents.get_mut(parent).parts_left += 1;
                self.start_writes(now, index, completed);
            }
        }
        self.close_part(now, parent, Waits::NONE, completed);
    }

    /// Bytes of a volume's machine that are in the cache and on no disk; `None` where the volume has no write-back.
    pub(super) fn dirty_bytes_of(&self, volume: VolumeId) -> Option<u64> {
        let disk = self.disks_of(volume).next()?;
        let flusher = self.disks.get(disk)?.flusher;
        let flusher = self.flushers.get(flusher as usize)?;
        Some(self.caches[flusher.cache as usize].dirty_bytes())
    }

    /// The disks of a volume that has write-back.
    fn disks_of(&self, volume: VolumeId) -> std::ops::Range<usize> {
        let volume = &self.volumes[volume.index()];
        if volume.cache.is_none() {
            return 0..0;
        }
        let first = volume.first_disk as usize;
        first..first + volume.disk_count as usize
    }
}
