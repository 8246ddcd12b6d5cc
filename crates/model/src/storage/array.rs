//! RAID-5: stripes with one parity unit each, which goes round over the disks.
//!
//! A write that covers a whole stripe writes its data and its parity. A smaller one must first read what it replaces: each
//! disk with data of it, and the disk with the parity, does a read and then a write, so that a small write costs four I/Os
//! of two disks. A read costs one I/O of each disk that it touches.
//!
//! Invariant: the data parts of an I/O cover it exactly, and no two units of one stripe share a disk.

use fathom_units::Nanos;

use super::Storage;
use super::path::{NONE, PathId};
use super::token::{Effect, Parent, Token, Waited};
use crate::limit::Waits;
use crate::random::draw;
use crate::request::{Completed, IoKind, Request};

/// Paths of one disk of an array.
#[derive(Debug, Clone, Copy)]
pub(super) struct Member {
    /// Past the array's own limits to the disk.
    pub data: PathId,
    /// The same, then to the disk once more: a read and a write.
    pub rewrite: PathId,
    /// To the disk alone: parity is no I/O of the array's users.
    pub parity: PathId,
    /// Twice to the disk alone.
    pub reparity: PathId,
}

/// An array.
#[derive(Debug)]
pub(super) struct Array {
    pub members: Vec<Member>,
    /// Bytes of a stripe unit.
    pub unit: u64,
    /// Index of its first disk.
    pub first_disk: u32,
}

/// What one disk does for an I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Work {
    disk: u32,
    path: PathId,
    bytes: u64,
}

impl Array {
    /// What a read or write of `length` bytes at `offset` does, stripe by stripe.
    fn work(&self, kind: IoKind, offset: u64, length: u64) -> Vec<Work> {
        let disks = self.members.len() as u64;
        let row_bytes = self.unit * (disks - 1);
        let end = offset + length;
        let mut work = Vec::new();
        for row in offset / row_bytes..end.div_ceil(row_bytes) {
            let (start, stop) = (row * row_bytes, (row + 1) * row_bytes);
            let (from, to) = (offset.max(start), end.min(stop));
            let full = from == start && to == stop;
            // Left-symmetric: parity goes down by one disk a stripe, data follow it.
            let parity = disks - 1 - row % disks;
            for column in (from - start) / self.unit..(to - start).div_ceil(self.unit) {
                let (low, high) = (column * self.unit, (column + 1) * self.unit);
                let disk = ((parity + 1 + column) % disks) as u32;
                let member = &self.members[disk as usize];
                let small = kind == IoKind::Write && !full;
                work.push(Work {
                    disk,
                    path: if small { member.rewrite } else { member.data },
                    bytes: (to - start).min(high) - (from - start).max(low),
                });
            }
            if kind == IoKind::Write {
                let member = &self.members[parity as usize];
                work.push(Work {
                    disk: parity as u32,
                    path: if full { member.parity } else { member.reparity },
                    bytes: (to - from).min(self.unit),
                });
            }
        }
        work
    }
}

impl Array {
    /// Disk, path and bytes of the first part of an I/O.
    pub fn first(&self, kind: IoKind, offset: u64, length: u64) -> (u32, PathId, u64) {
        let row_bytes = self.unit * (self.members.len() as u64 - 1);
        // What lies in its first stripe begins as the whole I/O does.
        let within = length.min(row_bytes - offset % row_bytes);
        let work = self.work(kind, offset, within);
        work.first().map_or((self.first_disk, 0, 0), |first| {
            (self.first_disk + first.disk, first.path, first.bytes)
        })
    }

    /// The disks on which data of a range lies, each once, with their paths. Parity stays as it is: what is trimmed has no
    /// content that it must match.
    pub fn trimmed(&self, offset: u64, length: u64) -> Vec<(u32, PathId)> {
        let units = self.unit * self.members.len() as u64;
        // After so many bytes every disk has had its turn.
        let length = length.min(units * self.members.len() as u64);
        let mut touched: Vec<(u32, PathId)> = Vec::new();
        for work in self.work(IoKind::Read, offset, length) {
            let disk = self.first_disk + work.disk;
            if !touched.iter().any(|(other, _)| *other == disk) {
                touched.push((disk, work.path));
            }
        }
        touched
    }
}

impl Storage {
    /// Starts a read or write of an array.
    pub(super) fn on_array(
        &mut self,
        now: Nanos,
        array: u32,
        request: &Request,
        completed: &mut Vec<Completed>,
    ) {
        let array = &self.arrays[array as usize];
        let length = u64::from(request.length.max(1));
        let work = array.work(request.kind, request.offset, length);
        let first_disk = array.first_disk;
        let parent = self.parents.put(Parent {
            tag: request.tag,
            volume: request.volume.index() as u32,
            parts_left: 1 + work.len() as u32,
        });
        for (number, part) in work.iter().enumerate() {
            let key = self.disks[(first_disk + part.disk) as usize].random_key;
            let token = Token {
                draw: draw(key, request.stream, request.index, number as u64),
                tag: request.tag,
                io: parent,
                volume: request.volume.index() as u32,
                path: part.path,
                bytes: part.bytes as u32,
                file: NONE,
                effect: Effect::None,
                step: part.path,
                waited: Waited::NOT,
            };
            self.launch(now, token, completed);
        }
        self.close_part(now, parent, Waits::NONE, completed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three disks, units of 64 bytes; paths 10 + disk: data, 20: rewrite, 30: parity, 40: reparity.
    #[track_caller]
    fn check(kind: IoKind, offset: u64, length: u64, expected: &[(u32, u32, u64)]) {
        let member = |disk: u32| Member {
            data: 10 + disk,
            rewrite: 20 + disk,
            parity: 30 + disk,
            reparity: 40 + disk,
        };
        let array = Array {
            members: (0..3).map(member).collect(),
            unit: 64,
            first_disk: 0,
        };
        let work = array.work(kind, offset, length);
        let found: Vec<_> = work
            .iter()
            .map(|one| (one.disk, one.path, one.bytes))
            .collect();
        assert_eq!(found, expected, "{kind:?} of {length} at {offset}");
    }

    #[test]
    fn a_small_write_is_two_reads_and_two_writes() {
        check(IoKind::Write, 0, 16, &[(0, 20, 16), (2, 42, 16)]);
        check(IoKind::Write, 64, 16, &[(1, 21, 16), (2, 42, 16)]);
        // In the second stripe the parity is on the disk before.
        check(IoKind::Write, 128, 16, &[(2, 22, 16), (1, 41, 16)]);
    }

    #[test]
    fn a_whole_stripe_is_written_without_reading() {
        check(
            IoKind::Write,
            0,
            128,
            &[(0, 10, 64), (1, 11, 64), (2, 32, 64)],
        );
        check(
            IoKind::Write,
            0,
            160,
            &[
                (0, 10, 64),
                (1, 11, 64),
                (2, 32, 64),
                (2, 22, 32),
                (1, 41, 32),
            ],
        );
    }

    #[test]
    fn reads_touch_data_alone() {
        check(IoKind::Read, 0, 16, &[(0, 10, 16)]);
        check(
            IoKind::Read,
            48,
            96,
            &[(0, 10, 16), (1, 11, 64), (2, 12, 16)],
        );
    }
}
