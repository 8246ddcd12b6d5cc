//! What is kept of bytes that no disk has, as writes come, get into caches and end.

use fathom_model::Durability;
use fathom_nbd::NbdError;

use super::Server;
use crate::in_flight::Io;
use crate::punch::{Hole, SLICE};
use crate::undo::{Undo, With, Write};

impl Server<'_> {
    /// Takes note of where written bytes are, on volumes with write-back.
    #[inline]
    pub(super) fn hear_durability(&mut self) {
        if self.write_back {
            self.take_durability();
        }
    }

    fn take_durability(&mut self) {
        let mut told = std::mem::take(&mut self.told);
        self.pace.storage.take_durability(&mut told);
        for news in told.drain(..) {
            let (Durability::Cached { range, .. }
            | Durability::Taken { range, .. }
            | Durability::Durable { range, .. }) = news;
            let export = range.volume.index();
            let Some(undo) = &mut self.undo[export] else {
                continue;
            };
            let Durability::Cached { tag, range } = news else {
                undo.hear(&mut self.budget, &news);
                continue;
            };
            if let Some(io) = self.ios.get_mut(tag as u32) {
                io.cached = true;
                let range = (range.offset, range.length);
                undo.is_cached(&self.disks[export], &mut self.budget, write_of(io), range);
            }
        }
        self.told = told;
    }

    /// How many times the host of an export has failed, as far as bytes are kept for that.
    #[inline]
    pub(super) fn era(&self, export: usize) -> u32 {
        self.undo[export].as_ref().map_or(0, Undo::era)
    }

    /// An I/O is over: where it wrote and no cache has it, a disk does.
    #[inline]
    pub(super) fn landed_on_disk(&mut self, io: &Io) {
        let export = io.export as usize;
        if let Some(undo) = &mut self.undo[export]
            && io.writes()
        {
            undo.is_over(
                &self.disks[export],
                &mut self.budget,
                write_of(io),
                io.cached,
            );
        }
    }

    /// A write that was about to change bytes will not be one.
    pub(super) fn has_written(&mut self, export: usize, offset: u64, length: u64) {
        if let Some(undo) = &mut self.undo[export] {
            let write = (u64::MAX, (offset, length));
            undo.wrote(&self.disks[export], &mut self.budget, write, false);
        }
    }

    /// The next write of an export is about to change bytes.
    #[inline]
    fn will_write(&mut self, export: usize, range: (u64, u64), with: With) {
        if let Some(undo) = &mut self.undo[export] {
            let write = (self.meter.index(export), range);
            undo.will_write(&self.disks[export], &mut self.budget, write, with);
        }
    }

    /// Takes room for the next write of an export, whose bytes come now.
    #[inline]
    pub(super) fn make_room(
        &mut self,
        export: usize,
        offset: u64,
        length: u64,
    ) -> Result<(), NbdError> {
        // Before it has room: what is a hole now is kept as one.
        self.will_write(export, (offset, length), With::Bytes);
        let room = self.disks[export].reserve(&mut self.budget, offset, length);
        room.inspect_err(|_| self.has_written(export, offset, length))
    }

    /// Makes a range zeroes. Where a crash may bring back what was there, that is kept a slice at a time, so that it takes the
    /// room that the slice gives back; where it is in files, what is kept must have room beside them.
    pub(super) fn zero(
        &mut self,
        export: usize,
        offset: u64,
        length: u64,
    ) -> Result<Option<Hole>, NbdError> {
        if self.undo[export].is_none() {
            return self.disks[export].discard(&mut self.budget, offset, length);
        }
        let (mut at, end) = (offset, offset + length);
        while at < end {
            let stop = ((at / SLICE + 1) * SLICE).min(end);
            self.will_write(export, (at, stop - at), With::Zeroes);
            let disk = &mut self.disks[export];
            let mut zeroed = disk.discard(&mut self.budget, at, stop - at);
            if self.budget.0 < 0 && disk.durable_file().is_some() {
                zeroed = Err(NbdError::NoSpace);
            }
            if let Err(error) = zeroed {
                // Nothing of it is in a cache: what was zeroed until now is as it is.
                self.has_written(export, offset, stop - offset);
                return Err(error);
            }
            at = stop;
        }
        Ok(None)
    }
}

fn write_of(io: &Io) -> Write {
    Write {
        index: io.index,
        era: io.era,
        range: (io.offset, u64::from(io.length)),
    }
}
