//! Data that the cache has taken from writers and that is not yet on its disk.
//!
//! What a provider's host does with such data is known in words alone: it is written "lazily, when the cache is flushed
//! periodically", or when a flush or a forced write asks for it (disks-performance.md, 9 September 2026). The figures are
//! therefore ours, and assumed:
//!
//! - every [`FLUSH_PERIOD`] all that is dirty then is due; above a tenth of the cache's lines, everything is due at once;
//! - oldest first; no line is started while [`FLUSH_DEPTH`] writes are under way to its disk, so the disk bounds the rate;
//! - a write carries one run of dirty blocks, across lines that became dirty one after another, up to 256 KiB;
//! - above a fifth of the cache's lines, writes go through to their disks, which holds writers to what the disks take.
//!
//! Every line that becomes dirty gets the next number of its disk; a flush notes the number it must reach.
//!
//! Invariants: a line is in its disk's queue once if it is dirty, and not at all if it is clean; numbers leave in order.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use fathom_units::Nanos;

use super::HostCache;
use super::lines::{BLOCK, LINE, lines_of, runs_of};

/// How often all that is dirty becomes due.
pub const FLUSH_PERIOD: Nanos = Nanos::from_secs(5);
/// With so many background writes under way to a disk, no more are started. The guides want 8 to 16 outstanding per disk for its full rate.
pub const FLUSH_DEPTH: usize = 16;
/// Most lines that are taken together: 256 KiB, the I/O unit of SSD disks.
const MOST_LINES_AT_ONCE: u64 = (256 << 10) / LINE;
/// Dirty lines are due at once above this part of the cache's lines.
const EAGER_PART: u64 = 10;
/// Writes go through above this part of the cache's lines.
const FULL_PART: u64 = 5;

/// A background write: a range of the cache's space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// First byte in the cache's space.
    pub offset: u64,
    /// Bytes.
    pub length: u64,
    /// Number of the oldest line in it.
    number: u64,
}

/// Blocks that a crash took: a range of the cache's space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LostBlocks {
    /// First byte in the cache's space.
    pub offset: u64,
    /// Bytes, in whole blocks.
    pub length: u64,
    /// Whether a background write of them was under way.
    pub under_way: bool,
}

/// Dirty data of one disk.
#[derive(Debug, Clone, Default)]
struct Disk {
    /// Dirty lines in the order in which they became dirty.
    queue: VecDeque<u32>,
    /// Number of the queue's head; lines below have been taken.
    head: u64,
    /// Lines below this number are due.
    due: u64,
    under_way: Vec<Run>,
}

/// Dirty data of all disks of a cache.
#[derive(Debug, Clone)]
pub(super) struct WriteBack {
    /// Dirty blocks of each line.
    dirty: Vec<u16>,
    dirty_lines: u64,
    dirty_blocks: u64,
    eager: u64,
    full: u64,
    disks: Vec<Disk>,
    ranges: Vec<Range<u64>>,
}

impl WriteBack {
    pub fn new(lines: usize, capacity_lines: u64, disks: &[Range<u64>]) -> Self {
        Self {
            dirty: vec![0; lines],
            dirty_lines: 0,
            dirty_blocks: 0,
            eager: capacity_lines / EAGER_PART,
            full: capacity_lines / FULL_PART,
            disks: vec![Disk::default(); disks.len()],
            ranges: disks.to_vec(),
        }
    }

    /// Bytes that full queues take: lines of 4 bytes, in buffers that double when they grow.
    pub const fn queue_bytes(capacity_lines: u64) -> u64 {
        capacity_lines / FULL_PART * 8
    }

    pub fn dirty(&self, line: usize) -> u16 {
        self.dirty[line]
    }

    fn mark(&mut self, disk: usize, offset: u64, length: u64) {
        let range = &self.ranges[disk];
        assert!(
            range.start <= offset && offset + length <= range.end,
            "a write lies on its disk"
        );
        let queue = &mut self.disks[disk];
        for (line, blocks) in lines_of(offset, length) {
            let before = self.dirty[line];
            if before == 0 {
                queue.queue.push_back(line as u32);
                self.dirty_lines += 1;
            }
            self.dirty_blocks += u64::from((blocks & !before).count_ones());
            self.dirty[line] = before | blocks;
        }
        if self.dirty_lines > self.eager {
            queue.due = queue.next();
        }
    }

    /// Takes the oldest dirty line of a disk, and those that became dirty after it and go on where it ends.
    fn take(&mut self, disk: usize, runs: &mut Vec<Run>) {
        let disk = &mut self.disks[disk];
        let number = disk.head;
        let first = disk.under_way.len();
        for _ in 0..MOST_LINES_AT_ONCE {
            let Some(line) = disk.queue.front().copied() else {
                break;
            };
            let blocks = self.dirty[line as usize];
            let mut rest = runs_of(line, blocks).peekable();
            if let Some(last) = disk.under_way[first..].last_mut() {
                let end = last.offset + last.length;
                let Some((_, length)) = rest.next_if(|(offset, _)| *offset == end) else {
                    break;
                };
                last.length += length;
            }
            disk.under_way.extend(rest.map(|(offset, length)| Run {
                offset,
                length,
                number,
            }));
            disk.queue.pop_front();
            disk.head += 1;
            self.dirty[line as usize] = 0;
            self.dirty_lines -= 1;
            self.dirty_blocks -= u64::from(blocks.count_ones());
        }
        runs.extend_from_slice(&disk.under_way[first..]);
    }
}

impl Disk {
    /// The number that the next dirty line gets.
    fn next(&self) -> u64 {
        self.head + self.queue.len() as u64
    }
}

/// Write-back. A `disk` is an index into the ranges that the cache was given.
impl HostCache {
    /// Whether a write may complete in the cache; otherwise it must go through to its disk.
    pub fn takes_writes(&self) -> bool {
        let fits = |write_back: &WriteBack| write_back.dirty_lines < write_back.full;
        self.write_back.as_deref().is_some_and(fits)
    }

    /// Takes in what was written to `disk`.
    pub fn write(&mut self, disk: usize, offset: u64, length: u64) {
        self.fill(offset, length);
        if let Some(write_back) = &mut self.write_back {
            write_back.mark(disk, offset, length);
        }
    }

    /// Makes all that is dirty on `disk` due. What must be durable then is known by the number given back.
    pub fn flush(&mut self, disk: usize) -> u64 {
        let Some(write_back) = &mut self.write_back else {
            return 0;
        };
        let queue = &mut write_back.disks[disk];
        queue.due = queue.next();
        queue.due
    }

    /// Whether all that a flush asked for is on `disk`.
    pub fn is_durable(&self, disk: usize, number: u64) -> bool {
        self.write_back.as_ref().is_none_or(|write_back| {
            let queue = &write_back.disks[disk];
            queue.head >= number && queue.under_way.iter().all(|run| run.number >= number)
        })
    }

    /// Starts as many background writes to `disk` as are due and fit beside those under way.
    pub fn start_writes(&mut self, disk: usize, runs: &mut Vec<Run>) {
        let Some(write_back) = &mut self.write_back else {
            return;
        };
        loop {
            let queue = &write_back.disks[disk];
            if queue.head >= queue.due || queue.under_way.len() >= FLUSH_DEPTH {
                return;
            }
            write_back.take(disk, runs);
        }
    }

    /// A background write has reached `disk`. One that a crash has cancelled is unknown, and changes nothing.
    pub fn written(&mut self, disk: usize, run: Run) {
        let Some(write_back) = &mut self.write_back else {
            return;
        };
        let under_way = &mut write_back.disks[disk].under_way;
        if let Some(index) = under_way.iter().position(|known| *known == run) {
            under_way.swap_remove(index);
        }
    }

    /// Bytes that are dirty or on their way to a disk, in whole blocks.
    pub fn dirty_bytes(&self) -> u64 {
        self.write_back.as_ref().map_or(0, |write_back| {
            let runs = write_back.disks.iter().flat_map(|disk| &disk.under_way);
            write_back.dirty_blocks * BLOCK + runs.map(|run| run.length).sum::<u64>()
        })
    }

    /// The host fails: what was not yet on a disk is gone, and nothing else. Gives what is lost of each disk.
    pub fn crash(&mut self) -> Vec<(usize, Vec<LostBlocks>)> {
        let disks = self.write_back.as_ref().map_or(0, |own| own.disks.len());
        (0..disks)
            .map(|disk| (disk, self.crash_disk(disk)))
            .collect()
    }

    /// What is not yet on `disk` is gone, and nothing else. Gives it, in the order of its places.
    pub fn crash_disk(&mut self, disk: usize) -> Vec<LostBlocks> {
        let Some(write_back) = &mut self.write_back else {
            return Vec::new();
        };
        // By line: dirty blocks, and those under way. A block may be both, and is lost once.
        let mut lost: BTreeMap<u32, (u16, u16)> = BTreeMap::new();
        let queue = &mut write_back.disks[disk];
        queue.head = queue.next();
        for line in queue.queue.drain(..) {
            let dirty = std::mem::take(&mut write_back.dirty[line as usize]);
            write_back.dirty_lines -= 1;
            write_back.dirty_blocks -= u64::from(dirty.count_ones());
            lost.entry(line).or_default().0 = dirty;
        }
        for run in queue.under_way.drain(..) {
            for (line, blocks) in lines_of(run.offset, run.length) {
                lost.entry(line as u32).or_default().1 |= blocks;
            }
        }
        let mut ranges = Vec::new();
        for (line, (dirty, under_way)) in lost {
            self.drop_blocks(line as usize, dirty | under_way);
            let mut of_line = Vec::new();
            for (blocks, under_way) in [(dirty & !under_way, false), (under_way, true)] {
                of_line.extend(runs_of(line, blocks).map(|(offset, length)| LostBlocks {
                    offset,
                    length,
                    under_way,
                }));
            }
            of_line.sort_by_key(|range| range.offset);
            for range in of_line {
                push_joined(&mut ranges, range);
            }
        }
        ranges
    }
}

/// Puts a range behind the last, or joins the two where they are one.
fn push_joined(ranges: &mut Vec<LostBlocks>, next: LostBlocks) {
    match ranges.last_mut() {
        Some(last)
            if last.offset + last.length == next.offset && last.under_way == next.under_way =>
        {
            last.length += next.length;
        }
        _ => ranges.push(next),
    }
}
