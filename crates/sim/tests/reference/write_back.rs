//! What a host cache has taken from writers and not yet brought to its disks.
//!
//! The policy is an assumption of the model: all that is dirty is due every five seconds, or at once where more than a tenth of
//! the cache's lines are dirty; the oldest first, no more than 16 writes to a disk; above a fifth of the lines, writes go
//! through.

use std::collections::BTreeMap;

use super::cache::{BLOCK, BLOCKS, LINE, Name, lines};

const DEPTH: usize = 16;
/// Lines that one round takes from the queue at most: 256 KiB.
const LINES_AT_ONCE: usize = 4;

/// A background write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    pub disk: usize,
    pub offset: u64,
    pub length: u64,
    /// The place in the order of dirty lines of the oldest one in it.
    number: u64,
}

#[derive(Debug, Clone, Default)]
struct Disk {
    /// Dirty lines in the order in which they became dirty.
    order: Vec<u64>,
    /// How many have been taken from the front so far.
    taken: u64,
    /// Lines of a smaller number than this are due.
    due: u64,
    under_way: Vec<Run>,
}

/// Dirty blocks of a cache.
#[derive(Debug, Clone, Default)]
pub struct WriteBack {
    most_lines: usize,
    dirty: BTreeMap<Name, [bool; BLOCKS]>,
    disks: BTreeMap<usize, Disk>,
}

impl WriteBack {
    pub fn new(capacity_bytes: u64) -> Self {
        Self {
            most_lines: (capacity_bytes / LINE) as usize,
            ..Self::default()
        }
    }

    /// Whether a write may complete in the cache.
    pub fn takes_writes(&self) -> bool {
        self.dirty.len() < self.most_lines / 5
    }

    pub fn is_dirty(&self, name: Name, block: usize) -> bool {
        self.dirty.get(&name).is_some_and(|line| line[block])
    }

    /// Whether anything is dirty or on its way.
    pub fn has_work(&self) -> bool {
        !self.dirty.is_empty() || self.disks.values().any(|disk| !disk.under_way.is_empty())
    }

    /// A range has been written to the cache.
    pub fn write(&mut self, disk: usize, offset: u64, length: u64) {
        let queue = self.disks.entry(disk).or_default();
        for (line, blocks) in lines(offset, length) {
            let dirty = self.dirty.entry((disk, line)).or_insert_with(|| {
                queue.order.push(line);
                [false; BLOCKS]
            });
            for block in blocks {
                dirty[block] = true;
            }
        }
        if self.dirty.len() > self.most_lines / 10 {
            queue.due = queue.taken + queue.order.len() as u64;
        }
    }

    /// All that is dirty on a disk is due.
    pub fn flush(&mut self, disk: usize) {
        let queue = self.disks.entry(disk).or_default();
        queue.due = queue.taken + queue.order.len() as u64;
    }

    /// Writes to a disk that begin now.
    pub fn begin(&mut self, disk: usize) -> Vec<Run> {
        let mut begun = Vec::new();
        let queue = self.disks.entry(disk).or_default();
        while queue.taken < queue.due && queue.under_way.len() < DEPTH {
            let runs = take(disk, queue, &mut self.dirty);
            queue.under_way.extend(&runs);
            begun.extend(runs);
        }
        begun
    }

    /// A background write is done.
    pub fn done(&mut self, run: Run) {
        let queue = self.disks.entry(run.disk).or_default();
        queue.under_way.retain(|other| *other != run);
    }
}

/// The oldest dirty line, and those that became dirty after it as long as each goes on where the one before ends: one write for
/// each run of dirty blocks, across lines too.
fn take(disk: usize, queue: &mut Disk, dirty: &mut BTreeMap<Name, [bool; BLOCKS]>) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    let number = queue.taken;
    for _ in 0..LINES_AT_ONCE {
        let Some(line) = queue.order.first().copied() else {
            break;
        };
        let blocks = dirty[&(disk, line)];
        let start = line * LINE;
        if let Some(last) = runs.last()
            && !(last.offset + last.length == start && blocks[0])
        {
            break;
        }
        queue.order.remove(0);
        queue.taken += 1;
        dirty.remove(&(disk, line));
        for (index, _) in blocks.iter().enumerate().filter(|(_, dirty)| **dirty) {
            let offset = start + index as u64 * BLOCK;
            match runs.last_mut() {
                Some(last) if last.offset + last.length == offset => last.length += BLOCK,
                _ => runs.push(Run {
                    disk,
                    offset,
                    length: BLOCK,
                    number,
                }),
            }
        }
    }
    runs
}
