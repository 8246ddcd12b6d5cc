//! The stream of I/Os of one worker.
//!
//! A *round* gives every target its share once: each of its blocks, or as many bytes as it has. A *pass* is the bytes of
//! [`crate::Limits::bytes`], or one round. A pass starts every target from its beginning, with a new permutation; a pass
//! larger than a round goes round again. Only whole blocks are counted: 30 KiB in blocks of 4 KiB are 28 KiB. Sequential I/Os
//! with gaps between them that go by time have no rounds: each target starts over where it ends.
//!
//! Most jobs have one target and one size of block. Their I/Os come from a [`Stretch`]: as many as can follow without a
//! look at rounds, passes and limits.

mod begin;
mod ends;
mod order;

use fathom_units::Nanos;

use self::ends::{Ends, RoundEnd};
use self::order::Order;
use super::conditioning::ConditioningWalk;
use super::course::Course;
use super::lines::LineWalk;
use super::permutation::Permutation;
use super::picker::{Left, Picker};
use super::regions::{Region, Stride};
use super::restarts::Restarts;
use super::rng::Xoshiro256;
use super::sizes::{Directions, Sizes};
use super::stretch::{Stretch, StretchOrder};
use super::walk::Walk;
use super::{Alike, Io};
use crate::{Direction, FileChoice};

/// The I/Os of one worker, in order. What a stretch takes comes first: nearness makes instructions short.
#[derive(Debug)]
#[repr(C)]
pub struct WorkerStream {
    next_index: u64,
    directions: Directions,
    stretch: Stretch,
    regions: Vec<Region>,
    picker: Picker,
    sizes: Sizes,
    offsets: Xoshiro256,
    order: Order,
    /// Where the last random I/O ended and how many follow it.
    run: Run,
    stride: Stride,
    ends: Ends,
    /// The stream of a job with a placement; nothing else counts then.
    walk: Option<Box<Walk>>,
    /// The stream of a job with lines; nothing else counts then.
    lines: Option<Box<LineWalk>>,
    /// The stream of a job with one position for all directions; beside it, directions and sizes count.
    course: Option<Box<Course>>,
    /// The stream of a job that conditions flash; nothing else counts then.
    conditioning: Option<Box<ConditioningWalk>>,
    restarts: Restarts,
}

/// The rest of a run of I/Os that follow each other.
#[derive(Debug, Default)]
struct Run {
    left: u64,
    target: usize,
    /// Relative to the target's range.
    next: u64,
}

impl WorkerStream {
    /// Bytes of one pass, as far as they are known: exact with one block size, an upper bound with several. Where workers
    /// share a position without a limit of bytes, those of all workers together.
    pub fn bytes_per_pass(&self) -> u64 {
        self.ends.pass_bytes
    }

    /// The number of I/Os of the whole stream where it has an end and one block size: exact, but an upper bound where
    /// workers share a position without a limit of their own.
    pub fn ios_bound(&self) -> Option<u64> {
        self.ends.ios_bound
    }

    /// The next I/O, or `None` once the limits of the job are reached; never `None` for a time-based job.
    #[inline]
    pub fn next_io(&mut self) -> Option<Io> {
        match self.next_of_stretch() {
            None => self.next_by_rules(),
            found => found,
        }
    }

    /// The next I/O where it follows the last by the same rule; `None` says nothing: [`Self::next_io`] must be asked then.
    #[inline]
    pub fn next_of_stretch(&mut self) -> Option<Io> {
        let offset = self.stretch.next_offset()?;
        let index = self.next_index;
        self.next_index += 1;
        Some(Io {
            index,
            direction: self.directions.draw(),
            target: 0,
            offset,
            length: self.stretch.length,
        })
    }

    /// The I/Os that come next, at least one and at most `most` (which is not 0), where they differ in nothing but their
    /// place and where that is found by one rule; `None` says nothing: [`Self::next_io`] must be asked then.
    #[inline]
    pub fn next_alike(&mut self, most: usize) -> Option<Alike<'_>> {
        let direction = self.directions.only()?;
        let length = self.stretch.length;
        let offsets = self.stretch.next_offsets(most)?;
        let first_index = self.next_index;
        self.next_index += offsets.len() as u64;
        Some(Alike {
            first_index,
            direction,
            target: 0,
            length,
            offsets,
        })
    }

    /// Offsets of the I/Os that come next within the first target, where the job has no other and they are known already:
    /// a few, or none. What they go through can be brought near.
    #[inline]
    pub fn upcoming(&self) -> &[u64] {
        self.stretch.upcoming()
    }

    /// How long to wait before the I/O that was given last, from when it could have gone: the delay of a job's lines.
    pub fn delay(&self) -> Nanos {
        let lines = self.lines.as_ref();
        lines.map_or(Nanos::ZERO, |lines| lines.delay())
    }

    /// From now on, targets that begin anew are known to [`Self::has_restarted`] until they are taken.
    pub fn watch_restarts(&mut self) {
        self.restarts.watch();
        if let Some(walk) = &mut self.walk {
            walk.restarts.watch();
        }
    }

    /// Whether the I/O that was given last, or one before it, had targets begin anew: each of their blocks was visited, or
    /// their end was reached, or another pass began.
    #[inline]
    pub fn has_restarted(&self) -> bool {
        match &self.walk {
            None => !self.restarts.is_empty(),
            Some(walk) => !walk.restarts.is_empty(),
        }
    }

    /// The numbers of these targets, once.
    pub fn take_restarted(&mut self) -> Vec<u32> {
        match &mut self.walk {
            None => self.restarts.take(),
            Some(walk) => walk.restarts.take(),
        }
    }

    /// A direction as the job's mix has them, for [`Self::next_io_of`].
    pub fn draw_direction(&mut self) -> Direction {
        self.directions.draw()
    }

    /// The next I/O, going that way whatever the mix: for jobs whose directions have rates of their own.
    pub fn next_io_of(&mut self, direction: Direction) -> Option<Io> {
        let of_walk = |stream: &mut Self, only| {
            let walk = stream.walk.as_mut();
            walk.and_then(|walk| walk.hold_direction(only))
        };
        let before = self.directions.hold(Some(direction));
        let before_in_walk = of_walk(self, Some(direction));
        let io = self.next_io();
        self.directions.hold(before);
        of_walk(self, before_in_walk);
        io
    }

    /// Whether the stream has ended because no I/O fits into the bytes that its job has left, or its order leaves no place
    /// for one: not where the job's last byte, or its last I/O, was given.
    pub fn fell_short(&self) -> bool {
        match &self.walk {
            None => self.ends.fell_short,
            Some(walk) => walk.fell_short(),
        }
    }

    /// The next I/O with a look at everything that may end a round, a pass or the stream; then as many as may follow
    /// without one become a stretch.
    #[inline(never)]
    fn next_by_rules(&mut self) -> Option<Io> {
        if let Some(walk) = &mut self.walk {
            return walk.next_io();
        }
        if let Some(lines) = &mut self.lines {
            return lines.next_io();
        }
        if let Some(course) = &mut self.course {
            return course.next_io(&mut self.directions, &mut self.sizes);
        }
        if let Some(conditioning) = &mut self.conditioning {
            return conditioning.next_io();
        }
        self.end_stretch();
        if self.ends.ios_left == 0 {
            return None;
        }
        let direction = self.directions.draw();
        let drawn = self.sizes.draw(direction);
        let Some((target, offset, size)) = self.place(direction, drawn) else {
            // The end is an end, even where a smaller block would still have had a place.
            self.ends.ios_left = 0;
            self.ends.fell_short = self.ends.rest > 0 || self.ends.pass_left > 0;
            return None;
        };
        self.ends.pass_left -= size;
        self.ends.ios_left -= 1;
        let index = self.next_index;
        self.next_index += 1;
        self.begin_stretch();
        Some(Io {
            index,
            direction,
            target: target as u32,
            offset: self.regions[target].offset + offset,
            length: size as u32,
        })
    }

    /// Finds how many I/Os may follow by the same rule.
    fn begin_stretch(&mut self) {
        let (Some(size), [region]) = (self.sizes.uniform(), self.regions.as_mut_slice()) else {
            return;
        };
        let by_limits = self.ends.ios_left.min(self.ends.pass_left / size);
        let (count, order) = match &self.order {
            Order::EachBlockOnce { run: 1, .. } => {
                let Some(permutation) = region.order.clone() else {
                    return;
                };
                let order = StretchOrder::EachBlockOnce(permutation, self.stride);
                // The last of a round is left to the rules, which end it.
                (region.left.saturating_sub(1), order)
            }
            Order::Sequential { gap } => {
                let step = size.saturating_add(*gap);
                let room = region.length.saturating_sub(region.position);
                let before_end = (room / step).saturating_sub(1);
                let by_bytes = (region.left / size).saturating_sub(1);
                (before_end.min(by_bytes), StretchOrder::Sequential { step })
            }
            Order::Independent { run: 1 } => {
                let order = StretchOrder::Independent {
                    draws: self.offsets.clone(),
                    steps: self.stride.steps(region.length, size),
                    stride: self.stride,
                };
                ((region.left / size).saturating_sub(1), order)
            }
            _ => return,
        };
        let place = (region.offset, region.position);
        let count = count.min(by_limits);
        self.stretch.begin(count, size as u32, place, order);
    }

    /// Books what a stretch gave.
    fn end_stretch(&mut self) {
        let taken = std::mem::take(&mut self.stretch.taken_from);
        let (true, [region]) = (taken > 0, self.regions.as_mut_slice()) else {
            return;
        };
        let bytes = taken * u64::from(self.stretch.length);
        region.position = self.stretch.position;
        region.left -= match &self.stretch.order {
            StretchOrder::EachBlockOnce(..) => taken,
            StretchOrder::Sequential { .. } => bytes,
            StretchOrder::Independent { draws, .. } => {
                self.offsets = draws.clone();
                bytes
            }
        };
        self.ends.pass_left -= bytes;
        self.ends.ios_left -= taken;
    }

    /// Target, offset within its range and size of the next I/O.
    #[inline]
    fn place(&mut self, direction: Direction, drawn: u64) -> Option<(usize, u64, u64)> {
        // Two rounds are enough: every target holds every block, so a fresh round has a place.
        for _ in 0..3 {
            let size = if drawn <= self.ends.pass_left {
                Some(drawn)
            } else {
                self.sizes.fitting(direction, self.ends.pass_left)
            };
            let Some(size) = size else {
                self.next_pass()?;
                continue;
            };
            let found = match &self.order {
                Order::Sequential { gap } => self.sequential(direction, size, *gap),
                Order::Shared(order) => {
                    let place = match self.sizes.uniform() {
                        Some(uniform) => order.next_uniform(uniform),
                        None => order.next_sized(size),
                    };
                    return place.map(|place| (place.target, place.offset, size));
                }
                Order::EachBlockOnce { run, block } => self.each_block_once(*run, *block),
                Order::Independent { run } => self.independent(*run, size),
                Order::Mixed { .. } => self.mixed(size),
            };
            if found.is_some() {
                return found;
            }
            match self.ends.round {
                RoundEnd::EndsPass => self.next_pass()?,
                RoundEnd::StartsAgain => {
                    self.restarts.add_all(self.regions.len());
                    self.start_round();
                }
            }
        }
        None
    }

    #[inline]
    fn sequential(
        &mut self,
        direction: Direction,
        drawn: u64,
        gap: u64,
    ) -> Option<(usize, u64, u64)> {
        while let Some(target) = self.picker.pick() {
            let region = &mut self.regions[target];
            let size = if drawn <= region.left {
                Some(drawn)
            } else {
                self.sizes.fitting(direction, region.left)
            };
            let Some(size) = size else {
                self.picker.advance(Left::Nothing);
                continue;
            };
            if region.position > region.length - size {
                region.position = 0;
                if self.ends.starts_over {
                    self.restarts.add(target);
                }
            }
            let offset = region.position;
            region.position = offset.saturating_add(size).saturating_add(gap);
            region.left -= size;
            let left = self.after(target);
            self.picker.advance(left);
            return Some((target, offset, size));
        }
        None
    }

    #[inline]
    fn each_block_once(&mut self, run: u64, block: u64) -> Option<(usize, u64, u64)> {
        if self.run.left > 0 {
            self.run.left -= 1;
            let step = self.run.next;
            self.run.next += 1;
            return Some((self.run.target, self.stride.offset(step), block));
        }
        let target = self.picker.pick()?;
        let region = &mut self.regions[target];
        let group = region.order.as_ref()?.at(region.position);
        region.position += 1;
        region.left -= 1;
        let first = group * run;
        if run > 1 {
            let steps = self.stride.steps(region.length, block);
            self.run = Run {
                left: run.min(steps - first) - 1,
                target,
                next: first + 1,
            };
        }
        let left = self.after(target);
        self.picker.advance(left);
        Some((target, self.stride.offset(first), block))
    }

    #[inline]
    fn independent(&mut self, run: u64, size: u64) -> Option<(usize, u64, u64)> {
        if self.run.left > 0 {
            self.run.left -= 1;
            if let Some(found) = self.follow(size) {
                return Some(found);
            }
        }
        let found = self.random(size)?;
        self.run.left = run - 1;
        Some(found)
    }

    fn mixed(&mut self, size: u64) -> Option<(usize, u64, u64)> {
        let Order::Mixed {
            random_below,
            coins,
        } = &mut self.order
        else {
            return None;
        };
        if coins.below(10_000) >= *random_below {
            // Past the end the sequence goes on from the start of the same target.
            let follow = self.follow(size);
            if follow.is_some() {
                return follow;
            }
            self.run.next = 0;
            return self.follow(size);
        }
        self.random(size)
    }

    /// The block right after the last, if it fits.
    fn follow(&mut self, size: u64) -> Option<(usize, u64, u64)> {
        let Run { target, next, .. } = self.run;
        if next > self.regions[target].length - size {
            return None;
        }
        self.run.next += size;
        let region = &mut self.regions[target];
        region.left = region.left.saturating_sub(size);
        Some((target, next, size))
    }

    /// A block at a random place of the target that is next.
    #[inline]
    fn random(&mut self, size: u64) -> Option<(usize, u64, u64)> {
        let target = self.picker.pick()?;
        let region = &mut self.regions[target];
        let steps = self.stride.steps(region.length, size);
        let offset = self.stride.offset(self.offsets.below(steps));
        self.run.target = target;
        self.run.next = offset + size;
        region.left = region.left.saturating_sub(size);
        let left = self.after(target);
        self.picker.advance(left);
        Some((target, offset, size))
    }

    #[inline]
    fn after(&self, target: usize) -> Left {
        if self.regions[target].left == 0 {
            Left::Nothing
        } else {
            Left::More
        }
    }

    fn next_pass(&mut self) -> Option<()> {
        if self.ends.passes_left == 0 {
            return None;
        }
        self.ends.passes_left -= 1;
        self.ends.pass_left = self.ends.pass_bytes;
        if self.ends.begins_anew {
            self.restarts.add_all(self.regions.len());
        }
        self.start_round();
        Some(())
    }

    fn start_round(&mut self) {
        self.picker.restart();
        self.run = Run::default();
        let one_by_one = self.picker.choice() == FileChoice::Sequential;
        for region in &mut self.regions {
            region.position = 0;
            region.left = match &self.order {
                Order::Sequential { .. } if self.ends.starts_over => u64::MAX,
                Order::Sequential { .. } => match self.sizes.uniform() {
                    Some(size) => region.length - region.length % size,
                    None => region.length,
                },
                Order::EachBlockOnce { run, block } => {
                    let groups = self.stride.steps(region.length, *block).div_ceil(*run);
                    region.order = Some(Permutation::new(groups, self.offsets.next()));
                    groups
                }
                // Independent draws never finish a target, unless the targets are taken one after another.
                _ if one_by_one => region.length,
                _ => u64::MAX,
            };
        }
    }
}
