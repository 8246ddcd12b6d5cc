//! Room for what is written, and for copies of what it replaces, where a crash may bring it back.
//!
//! No write and no zeroing fails because copies have the room. Where they have what it needs, it waits, and the host caches are
//! written out as by a flush, as a machine does whose memory is full of what its disks do not have. Once that is done it is
//! taken in, whatever came of it, unless the data of all volumes alone has no room: what others have under way may keep its
//! copies for as long as they like. What becomes zeroes a part at a time waits likewise before any of its parts (`zeroing.rs`).
//!
//! Invariant: nothing waits longer than for one such flush.

use std::collections::VecDeque;

use fathom_fuse::{FileOp, Request as FileRequest};
use fathom_model::Waits;
use fathom_nbd::{Command, Request};
use fathom_rawio::Clock;
use fathom_units::{Nanos, counted};

use super::Server;
use super::files::Files;
use crate::client::Client;
use crate::in_flight::{Io, Sync};
use crate::undo::{BLOCK, With};

/// Who asks for those flushes: none of the clients.
pub(super) const NOBODY: (u32, u32) = (u32::MAX - 1, 0);

/// A write or zeroing that waits for room, or did.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Starved {
    /// When it came.
    pub since: Nanos,
    pub turn: Turn,
}

/// How far such a write is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// It waits.
    Waits,
    /// There may be room for it.
    Looks,
    /// It is taken in now.
    Goes,
}

/// Who waits, and for what.
#[derive(Debug, Default)]
pub(super) struct Room {
    /// Flushes under way.
    flushes: usize,
    /// The least blocks that one who waits needs; `None`: nobody waits.
    need: Option<i64>,
    /// Requests of files that wait.
    files: VecDeque<(Vec<u8>, Starved)>,
    /// Writes and zeroings that have waited, and for how long.
    writes: u64,
    waited: Nanos,
}

impl Room {
    /// What a reader of the figures should know.
    pub fn note(&self) -> Option<String> {
        let (writes, waited) = (self.writes, self.waited);
        let writes_in_words = counted(writes, ("write", "writes"));
        (writes > 0).then(|| {
            format!(
                "{writes_in_words} waited {waited} in all for room that copies had of what was written over or zeroed, as a crash \
                 may bring it back: give more `--memory`"
            )
        })
    }
}

/// Keeps a write that lacks room.
fn keep(starved: &mut Option<Starved>, now: Nanos) {
    let since = starved.map_or(now, |starved| starved.since);
    let turn = Turn::Waits;
    *starved = Some(Starved { since, turn });
}

impl Server<'_> {
    /// Whether a request of a client has to wait for room.
    #[inline]
    pub(super) fn starves(
        &mut self,
        export: usize,
        request: &Request,
        client: &mut Client,
        now: Nanos,
    ) -> bool {
        let with = match request.command {
            Command::Write => With::Bytes,
            Command::WriteZeroes => With::Zeroes,
            _ => return false,
        };
        let goes = client.starved.is_some_and(|one| one.turn == Turn::Goes);
        let range = (request.offset, u64::from(request.length));
        let waits = !goes && self.lacks_room(export, range, with);
        if waits {
            keep(&mut client.starved, now);
        }
        waits
    }

    /// A write is taken in; gives for how long it had to wait.
    pub(super) fn fed(&mut self, starved: Option<Starved>, now: Nanos) -> Nanos {
        let Some(starved) = starved else {
            return Nanos::ZERO;
        };
        let waited = now.saturating_sub(starved.since);
        self.has_waited(waited);
        waited
    }

    /// A write, or what became zeroes a part at a time, has waited for so long.
    pub(super) fn has_waited(&mut self, waited: Nanos) {
        self.room.writes += 1;
        self.room.waited += waited;
    }

    /// The same for a request of a file, which is kept.
    pub(super) fn file_starves(
        &mut self,
        files: &Files,
        (request, bytes): (&FileRequest<'_>, &[u8]),
        operation: &FileOp<'_>,
        starved: Option<Starved>,
    ) -> bool {
        let Some(export) = files.tree.file(request.node) else {
            return false;
        };
        let (range, with) = match operation {
            FileOp::Write(range, _) => ((range.offset, u64::from(range.size)), With::Bytes),
            FileOp::Allocate(range) if range.zeroes() => {
                ((range.offset, range.length), With::Zeroes)
            }
            _ => return false,
        };
        let goes = starved.is_some_and(|one| one.turn == Turn::Goes);
        if goes || !self.lacks_room(export, range, with) {
            return false;
        }
        let mut starved = starved;
        keep(&mut starved, Clock::now());
        self.room
            .files
            .extend(starved.map(|one| (bytes.to_vec(), one)));
        true
    }

    /// Whether a request has no room as long as copies are kept: it will be made then.
    #[inline]
    fn lacks_room(&mut self, export: usize, (offset, length): (u64, u64), with: With) -> bool {
        if self.budget.kept() == 0 && self.undo[export].is_none() {
            return false;
        }
        let end = offset.checked_add(length);
        if end.is_none_or(|end| end > self.disks[export].size()) || self.there(export).is_err() {
            // It is refused.
            return false;
        }
        if with == With::Zeroes && self.zeroes_in_parts(export, length) {
            // Each part waits by itself.
            return false;
        }
        let need = self.need(export, (offset, length), with);
        need.is_some_and(|need| self.make_room_for(need))
    }

    /// Blocks that a write or zeroes need, for bytes or what they replace, and that are not there as long as copies are kept.
    #[inline]
    pub(super) fn need(&self, export: usize, range: (u64, u64), with: With) -> Option<i64> {
        let left = self.budget.left();
        if (range.1 / BLOCK + 2).cast_signed() <= left {
            return None;
        }
        let disk = &self.disks[export];
        let copies = self.undo[export]
            .as_ref()
            .map_or(0, |undo| undo.copies(disk, range))
            .cast_signed();
        let need = match with {
            With::Bytes => {
                let data = disk.missing(range.0, range.1).cast_signed();
                if data > self.budget.for_data() {
                    // It is refused.
                    return None;
                }
                copies + data
            }
            With::Zeroes => copies - disk.gives_back(range.0, range.1).cast_signed(),
        };
        (need > 0 && need > left).then_some(need)
    }

    /// Has what is kept brought to disks; `false`: nothing is kept.
    pub(super) fn make_room_for(&mut self, need: i64) -> bool {
        if self.room.flushes == 0 {
            for export in 0..self.undo.len() {
                let kept = self.undo[export].as_ref();
                if kept.is_some_and(|undo| !undo.is_empty()) && self.there(export).is_ok() {
                    self.room.flushes += 1;
                    self.flush_for_room(export);
                }
            }
        }
        if self.room.flushes > 0 {
            self.room.need = Some(self.room.need.map_or(need, |least| least.min(need)));
        }
        self.room.flushes > 0
    }

    fn flush_for_room(&mut self, export: usize) {
        let now = self.pace.at(Clock::now());
        let io = Io {
            client: NOBODY,
            structured: false,
            export: export as u32,
            command: Command::Flush,
            fua: false,
            cookie: 0,
            offset: 0,
            length: 0,
            left: 0,
            reached: 0,
            index: self.meter.next_index(export),
            asked: now,
            sent: now,
            held: Nanos::ZERO,
            due: None,
            waits: Waits::NONE,
            sync: Sync::Done,
            cached: false,
            era: self.era(export),
            error: None,
        };
        self.enter(io, None);
    }

    /// A flush for room is over, or a crash has ended it.
    pub(super) fn flushed_for_room(&mut self) {
        self.room.flushes -= 1;
        if self.room.flushes == 0 {
            self.feed(Turn::Goes);
        }
    }

    /// Lets those who wait look again, where there may be room by now.
    #[inline]
    pub(super) fn feed_where_there_is_room(&mut self) {
        if self
            .room
            .need
            .is_some_and(|need| self.budget.left() >= need)
        {
            self.feed(Turn::Looks);
        }
    }

    fn feed(&mut self, turn: Turn) {
        self.room.need = None;
        for (place, client) in self.crowd.places.iter_mut().enumerate() {
            if let Some(client) = client
                && let Some(starved) = &mut client.starved
            {
                starved.turn = turn;
                self.dirty.push(place as u32);
            }
        }
        for (_, starved) in &mut self.room.files {
            starved.turn = turn;
        }
        self.zeroings.feed(turn);
    }

    /// Takes in what has waited of files.
    pub(super) fn feed_files(&mut self) {
        let first = self.room.files.front();
        if first.is_none_or(|(_, starved)| starved.turn == Turn::Waits) {
            return;
        }
        let all = std::mem::take(&mut self.room.files);
        let Some(mut files) = self.files.take() else {
            // They are gone with the mount.
            return;
        };
        for (bytes, starved) in all {
            self.take_file(&mut files, &bytes, Some(starved));
        }
        self.files = Some(files);
    }
}
