//! Sequential access through one position shared by all workers.
//!
//! With one block size the position counts blocks, and each is taken by one atomic addition; a block's place follows from
//! its number alone. With several sizes it counts bytes over the targets one after another, and moves by
//! compare-and-exchange. A random choice of targets is taken as round robin, since a shared position has an order.

use super::SharedCursor;
use super::regions::Region;
use crate::FileChoice;

/// Where a shared I/O falls: target, and offset within its range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) target: usize,
    pub(super) offset: u64,
}

/// The map from the shared position to places.
#[derive(Debug)]
pub(super) struct SharedOrder {
    cursor: SharedCursor,
    /// By position: parts of a sweep, each a number of equal rows over a number of targets.
    parts: Vec<Part>,
    /// Targets in the order that `parts` counts on.
    targets: Vec<u32>,
    /// Positions of one sweep over all targets.
    sweep: u64,
    /// First position that is not to be taken; `None` where other limits end the stream.
    end: Option<u64>,
    gap: u64,
}

/// Rows of a sweep in which the same targets take part.
#[derive(Debug, Clone, Copy)]
struct Part {
    /// First position.
    first: u64,
    /// Step within each target of the first row.
    row: u64,
    /// First entry of the list of targets.
    from: usize,
    /// Targets in each row.
    width: u64,
}

/// What ends the walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SharedEnd {
    /// All workers together go through the targets this often.
    Sweeps(u64),
    /// Something else.
    Open,
}

impl SharedOrder {
    /// An order of blocks of `size` bytes (`None`: sizes vary) with `gap` bytes after each.
    pub(super) fn new(
        cursor: &SharedCursor,
        regions: &[Region],
        choice: FileChoice,
        (size, gap): (Option<u64>, u64),
        end: SharedEnd,
    ) -> Self {
        let mut order = Self {
            cursor: cursor.clone(),
            parts: Vec::new(),
            targets: (0..regions.len() as u32).collect(),
            sweep: 0,
            end: None,
            gap,
        };
        let steps = |target: u32| {
            let length = regions[target as usize].length;
            size.map_or(length, |size| {
                (length - size) / size.saturating_add(gap) + 1
            })
        };
        match choice {
            FileChoice::RoundRobin | FileChoice::Random if size.is_some() => order.rows(steps),
            _ => order.one_after_another(steps),
        }
        if let SharedEnd::Sweeps(sweeps) = end {
            order.end = Some(order.sweep.saturating_mul(sweeps));
        }
        order
    }

    /// Positions of one sweep: blocks, or bytes where sizes vary.
    pub(super) fn sweep(&self) -> u64 {
        self.sweep
    }

    /// Rows over the targets, longest first, so that those which take part in a row stand at the start of the list.
    fn rows(&mut self, steps: impl Fn(u32) -> u64) {
        self.targets
            .sort_by_key(|target| std::cmp::Reverse(steps(*target)));
        let mut row = 0;
        let mut first = 0;
        for width in (1..=self.targets.len()).rev() {
            let until = steps(self.targets[width - 1]);
            if until > row {
                let width = width as u64;
                self.parts.push(Part {
                    first,
                    row,
                    from: 0,
                    width,
                });
                first += (until - row) * width;
                row = until;
            }
        }
        self.sweep = first;
    }

    fn one_after_another(&mut self, steps: impl Fn(u32) -> u64) {
        let mut first = 0u64;
        for (from, target) in self.targets.iter().enumerate() {
            self.parts.push(Part {
                first,
                row: 0,
                from,
                width: 1,
            });
            first = first.saturating_add(steps(*target));
        }
        self.sweep = first;
    }

    /// The place of the next block of `size` bytes, the one size of the job.
    #[inline]
    pub(super) fn next_uniform(&self, size: u64) -> Option<Place> {
        let position = self.cursor.take();
        if self.end.is_some_and(|end| position >= end) {
            return None;
        }
        let within = if position < self.sweep {
            position
        } else {
            position % self.sweep
        };
        let part = self.part(within);
        let in_part = within - part.first;
        let (row, column) = if part.width == 1 {
            (in_part, 0)
        } else {
            (in_part / part.width, in_part % part.width)
        };
        Some(Place {
            target: self.targets[part.from + column as usize] as usize,
            offset: (part.row + row) * (size + self.gap),
        })
    }

    /// The place of the next block of `size` bytes where sizes vary.
    pub(super) fn next_sized(&self, size: u64) -> Option<Place> {
        let mut place = None;
        self.cursor.take_with(|position| {
            let start = self.fit(position, size);
            place = Some(self.locate(start % self.sweep));
            let past = self.end.is_some_and(|end| start >= end);
            let next = start.saturating_add(size).saturating_add(self.gap);
            (!past).then_some(next)
        })?;
        place
    }

    /// The first position at or after `position` from which `size` bytes lie within one target.
    fn fit(&self, position: u64, size: u64) -> u64 {
        let within = position % self.sweep;
        let index = self.part_index(within);
        let end = (self.parts.get(index + 1)).map_or(self.sweep, |next| next.first);
        if end - within >= size {
            position
        } else {
            // Every target holds the largest block, so the start of the next one fits.
            position.saturating_add(end - within)
        }
    }

    fn locate(&self, within: u64) -> Place {
        let part = self.part(within);
        Place {
            target: self.targets[part.from] as usize,
            offset: within - part.first,
        }
    }

    #[inline]
    fn part(&self, within: u64) -> Part {
        self.parts[self.part_index(within)]
    }

    #[inline]
    fn part_index(&self, within: u64) -> usize {
        self.parts.partition_point(|part| part.first <= within) - 1
    }
}
