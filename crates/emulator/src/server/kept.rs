//! What is kept of bytes that no disk has, as writes come, get into caches and end.

use fathom_model::Durability;
use fathom_nbd::{Command, NbdError};

use super::Server;
use crate::in_flight::Io;
use crate::punch::Hole;
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
        if io.writes() || io.command == Command::Trim {
            self.disks[export].has_changed();
        }
        if let Some(undo) = &mut self.undo[export]
            && io.writes()
        {
            let reached = Write {
                range: (io.offset, u64::from(io.reached)),
                ..write_of(io)
            };
            undo.is_over(&self.disks[export], &mut self.budget, reached, io.cached);
        }
    }

    /// A write that was about to change bytes will not be one.
    pub(super) fn has_written(&mut self, export: usize, offset: u64, length: u64) {
        if let Some(undo) = &mut self.undo[export] {
            let write = (u64::MAX, (offset, length));
            undo.wrote(&self.disks[export], &mut self.budget, write, false);
        }
    }

    /// A write of an export, by its index, is about to change bytes.
    #[inline]
    fn will_write(&mut self, export: usize, write: (u64, (u64, u64)), with: With) {
        if let Some(undo) = &mut self.undo[export] {
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
        let index = self.meter.index(export);
        self.will_write(export, (index, (offset, length)), With::Bytes);
        let room = self.disks[export].reserve(&mut self.budget, offset, length);
        room.inspect_err(|_| self.has_written(export, offset, length))
    }

    /// Makes a range zeroes for the next I/O of an export; where a crash may bring back what was there, a short one.
    pub(super) fn zero(
        &mut self,
        export: usize,
        offset: u64,
        length: u64,
    ) -> Result<Option<Hole>, NbdError> {
        if self.undo[export].is_none() {
            return self.disks[export].discard(&mut self.budget, offset, length);
        }
        let zeroed = self.zero_part(export, self.meter.index(export), (offset, length));
        zeroed.inspect_err(|_| self.has_written(export, offset, length))?;
        Ok(None)
    }

    /// Makes a short range zeroes and keeps what was there.
    pub(super) fn zero_part(
        &mut self,
        export: usize,
        index: u64,
        (offset, length): (u64, u64),
    ) -> Result<(), NbdError> {
        self.will_write(export, (index, (offset, length)), With::Zeroes);
        let zeroed = self.disks[export].discard(&mut self.budget, offset, length);
        zeroed.map(|_| ())
    }
}

pub(super) fn write_of(io: &Io) -> Write {
    Write {
        index: io.index,
        era: io.era,
        range: (io.offset, u64::from(io.length)),
    }
}
