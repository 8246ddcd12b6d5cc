//! What a failing host loses, and where written bytes are meanwhile.
//!
//! A driver that keeps the bytes of volumes with read-write caching asks to be told ([`Storage::watch_durability`]): which
//! parts of a write the cache has, what a background write takes, and when that is on its disk. A crash then drops what the
//! model says, and nothing else.

use fathom_units::Nanos;

use super::abort::Aborted;
use super::path::NONE;
use super::token::{Effect, Token};
use super::{Storage, VolumeKind};
use crate::cache::LostBlocks;
use crate::change::{Crash, Durability, Lost, VolumeRange};
use crate::design::{ClientId, VolumeId};
use crate::limit::Waits;
use crate::request::{Completed, IoError};

/// What goes with a host, or with all hosts.
struct OfHost {
    host: Option<ClientId>,
    /// Its volumes of disks.
    volumes: Vec<usize>,
}

impl Aborted for OfHost {
    fn token(&self, storage: &Storage, token: &Token) -> bool {
        let Some(host) = self.host else {
            // What comes to its end by itself needs no end.
            return token.volume != NONE || matches!(token.effect, Effect::Written(_));
        };
        if let Effect::Written(run) = token.effect {
            let (flusher, _) = storage.runs.get(run);
            let cache = storage.flushers[*flusher as usize].cache;
            return host.index() == Some(cache as usize);
        }
        if token.volume == NONE {
            return false;
        }
        let volume = token.volume as usize;
        match storage.volumes[volume].kind_beneath(&storage.faults) {
            VolumeKind::Nfs(nfs) => storage.nfs[nfs as usize].is_path_of(host, token.path),
            VolumeKind::Share(share) => storage.shares[share as usize].is_path_of(host, token.path),
            _ => self.volumes.contains(&volume),
        }
    }

    fn flushes(&self, volume: usize) -> bool {
        self.host.is_none() || self.volumes.contains(&volume)
    }
}

/// What goes with a volume.
struct OfVolume(usize);

impl Aborted for OfVolume {
    fn token(&self, storage: &Storage, token: &Token) -> bool {
        if let Effect::Written(run) = token.effect {
            let (flusher, _) = storage.runs.get(run);
            let mut disks = storage.all_disks_of(self.0);
            return disks.any(|disk| storage.disks[disk].flusher == *flusher);
        }
        token.volume as usize == self.0
    }

    fn flushes(&self, volume: usize) -> bool {
        self.0 == volume
    }
}

impl Storage {
    /// The host of a machine fails at `now`, and with it all that it has under way; `None`: all hosts at once, and what is
    /// under way to devices too. Their caches are cold afterwards, and what no disk has is lost.
    ///
    /// What is given back never completes. I/Os of others, for which that made room, may, and are appended to `completed`.
    /// Everything that is due before `now` must have happened.
    pub fn crash(
        &mut self,
        now: Nanos,
        machine: Option<ClientId>,
        completed: &mut Vec<Completed>,
    ) -> Crash {
        assert!(!self.ahead.unchanging, "unchanging storage does not crash");
        let index = machine.and_then(ClientId::index);
        let of_host = OfHost {
            host: machine,
            volumes: index.map_or_else(Vec::new, |index| self.volumes_of(index)),
        };
        let in_flight = self.abort(now, &of_host, completed);
        let mut lost = Vec::new();
        for cache in 0..self.caches.len() {
            if machine.is_none() || index == Some(cache) {
                for (disk, blocks) in self.caches[cache].crash() {
                    lost.extend(self.lost_of(cache as u32, disk, &blocks));
                }
                self.caches[cache].cold();
            }
        }
        lost.sort_by_key(|lost| (lost.volume, lost.offset));
        Crash { lost, in_flight }
    }

    /// A machine restarts in good order: its cache is cold. What is dirty stays so until it is written.
    pub fn reboot(&mut self, machine: ClientId) {
        let cache = machine.index().and_then(|index| self.caches.get_mut(index));
        if let Some(cache) = cache {
            cache.cold();
        }
    }

    /// A volume is gone: all that is under way to it fails, and what the host cache has of it is forgotten.
    pub(super) fn abandon(
        &mut self,
        now: Nanos,
        volume: usize,
        completed: &mut Vec<Completed>,
    ) -> Vec<Lost> {
        for one in self.abort(now, &OfVolume(volume), completed) {
            completed.push(Completed {
                tag: one.tag,
                waits: Waits::NONE,
                error: Some(IoError::Gone),
            });
        }
        let mut lost = Vec::new();
        let Some(cache) = self.volumes[volume].cache else {
            return lost;
        };
        for disk in self.all_disks_of(volume) {
            let base = self.disks[disk].cache_base;
            if let Some(flusher) = self.flushers.get(self.disks[disk].flusher as usize) {
                let number = flusher.disk;
                let blocks = self.caches[cache as usize].crash_disk(number);
                lost.extend(self.lost_of(cache, number, &blocks));
            }
            let size = self.cache_bytes_of(disk);
            self.caches[cache as usize].forget(base, size);
        }
        lost.sort_by_key(|lost| lost.offset);
        lost
    }

    /// Bytes that a disk has of its machine's cache space: up to where the next disk begins.
    fn cache_bytes_of(&self, disk: usize) -> u64 {
        let base = self.disks[disk].cache_base;
        let cache = self.cache_of_disk(disk);
        let volumes = (0..self.volumes.len()).filter(|volume| self.volumes[*volume].cache == cache);
        let disks = volumes.flat_map(|volume| self.all_disks_of(volume));
        let bases = disks.map(|disk| self.disks[disk].cache_base);
        let next = bases.filter(|other| *other > base).min();
        next.map_or(u64::MAX, |next| next - base)
    }

    fn cache_of_disk(&self, disk: usize) -> Option<u32> {
        let mut volumes = 0..self.volumes.len();
        let volume = volumes.find(|volume| self.all_disks_of(*volume).contains(&disk))?;
        self.volumes[volume].cache
    }

    /// What was lost of a disk with write-back, as ranges of its volume.
    fn lost_of(&self, cache: u32, disk: usize, blocks: &[LostBlocks]) -> Vec<Lost> {
        let mut flushers = self.flushers.iter();
        let place = flushers.position(|one| (one.cache, one.disk) == (cache, disk));
        let Some(flusher) = place else {
            return Vec::new();
        };
        let disks = self.disks_by_flusher();
        let ranges = blocks.iter().flat_map(|lost| {
            let found = disks.get(&(flusher as u32));
            let ranges = found.map(|disk| self.volume_ranges(*disk, (lost.offset, lost.length)));
            let ranges = ranges.into_iter().flatten();
            ranges.map(|range| Lost {
                volume: range.volume,
                offset: range.offset,
                length: range.length,
                under_way: lost.under_way,
            })
        });
        ranges.collect()
    }

    /// The ranges of a volume that a range of the cache's space on one of its disks is, in the order of the disk.
    fn volume_ranges(
        &self,
        (volume, number): (usize, u32),
        (offset, length): (u64, u64),
    ) -> Vec<VolumeRange> {
        let model = &self.volumes[volume];
        let base = self.disks[(model.first_disk + number) as usize].cache_base;
        let ranges = model.stripe.volume_ranges(number, offset - base, length);
        let ranges = ranges.into_iter().map(|(offset, length)| VolumeRange {
            volume: VolumeId::new(volume),
            offset,
            length,
        });
        ranges.collect()
    }

    /// From now on it is told where bytes written to volumes with read-write caching are. What is told must be taken with
    /// [`Storage::take_durability`] after each call.
    pub fn watch_durability(&mut self) {
        self.durability.get_or_insert_default();
    }

    /// Appends to `told` what was told since it was last asked for, in the order in which it happened.
    pub fn take_durability(&mut self, told: &mut Vec<Durability>) {
        if let Some(news) = &mut self.durability {
            told.append(news);
        }
    }

    /// A part of a write is in the cache.
    pub(super) fn tell_cached(&mut self, tag: u64, flusher: u32, range: (u64, u64)) {
        self.tell(flusher, range, |range| Durability::Cached { tag, range });
    }

    /// A background write begins.
    pub(super) fn tell_taken(&mut self, run: u32) {
        let (flusher, taken) = *self.runs.get(run);
        let range = (taken.offset, taken.length);
        self.tell(flusher, range, |range| Durability::Taken { run, range });
    }

    /// A background write is over.
    pub(super) fn tell_durable(&mut self, run: u32) {
        let (flusher, taken) = *self.runs.get(run);
        let range = (taken.offset, taken.length);
        self.tell(flusher, range, |range| Durability::Durable { run, range });
    }

    fn tell(&mut self, flusher: u32, range: (u64, u64), what: impl Fn(VolumeRange) -> Durability) {
        if self.durability.is_none() {
            return;
        }
        let disk = self.disk_of_flusher(flusher);
        let ranges = disk.map(|disk| self.volume_ranges(disk, range));
        if let (Some(news), Some(ranges)) = (&mut self.durability, ranges) {
            news.extend(ranges.into_iter().map(what));
        }
    }

    /// The volume that a flusher writes for, and the number of the disk in it.
    fn disk_of_flusher(&self, flusher: u32) -> Option<(usize, u32)> {
        let volumes = self.volumes.iter().enumerate();
        let mut cached = volumes.filter(|(_, volume)| volume.cache.is_some());
        cached.find_map(|(index, volume)| {
            let mut disks = 0..volume.disk_count;
            let of = |disk: u32| self.disks[(volume.first_disk + disk) as usize].flusher;
            Some((index, disks.find(|disk| of(*disk) == flusher)?))
        })
    }
}
