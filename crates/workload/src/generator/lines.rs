//! The stream of a job whose I/O comes from weighted lines, burst by burst.
//!
//! A worker has one position in each of its targets: an I/O that is not random begins where the last on that target
//! ended. A random offset is any byte of the range. Either is moved up to the next multiple of the line's alignment, and
//! an I/O that would leave the range goes to its start: the range's first bytes are a little likelier than others, as they
//! are with Iometer, whose rules these are.
//!
//! Where lines have replies, I/Os take the places of a queue in turn, and what follows a request in its place is its
//! reply. That is the order in which a queue whose I/Os complete in order issues them.

use fathom_units::{Bytes, Nanos};

use super::rng::{Purpose, Xoshiro256};
use super::{Io, Rejection, StreamError, StreamKey, TargetRange};
use crate::{AccessLine, Direction, FileChoice, Job, LINE_ALIGNMENT};

/// The walk of one worker.
#[derive(Debug)]
pub(super) struct LineWalk {
    lines: Vec<AccessLine>,
    /// Sum of the weights up to each line.
    past: Vec<u64>,
    targets: Vec<Position>,
    choice: FileChoice,
    next_target: usize,
    picks: Xoshiro256,
    reads: Xoshiro256,
    jumps: Xoshiro256,
    offsets: Xoshiro256,
    target_draws: Xoshiro256,
    /// Index of the line of the present burst, and what is left of it.
    burst: (usize, u32),
    /// What was waited for before the I/O that was given last.
    delay: Nanos,
    /// Places of the queue with the reply that each owes; empty where no line has replies.
    places: Vec<Option<Reply>>,
    place: usize,
    next_index: u64,
    ios_left: u64,
    bytes_left: u64,
}

/// A range and where the last I/O on it ended, both from the start of the target.
#[derive(Debug)]
struct Position {
    start: u64,
    end: u64,
    next: u64,
}

/// What a request is owed.
#[derive(Debug, Clone, Copy)]
struct Reply {
    line: usize,
    direction: Direction,
    size: u64,
}

impl LineWalk {
    /// The walk of the worker named by `key` over `targets`.
    pub(super) fn new(
        job: &Job,
        key: StreamKey,
        targets: &[TargetRange],
    ) -> Result<Self, StreamError> {
        let lines = job.features.lines.clone();
        check_room(job, targets)?;
        let mut sum = 0u64;
        let past = lines.iter().map(|line| {
            sum += u64::from(line.weight);
            sum
        });
        let past = past.collect();
        let limits = &job.limits;
        let total = targets
            .iter()
            .fold(0u64, |sum, range| sum.saturating_add(range.length));
        let pass = limits.bytes.map_or(total, Bytes::get);
        let answered = lines.iter().any(|line| line.reply.is_some());
        let places = if answered {
            job.effective_depth().max(1)
        } else {
            0
        };
        let position = |range: &TargetRange| Position {
            start: range.offset,
            end: range.offset + range.length,
            next: range.offset,
        };
        Ok(Self {
            lines,
            past,
            targets: targets.iter().map(position).collect(),
            choice: job.file_choice,
            next_target: 0,
            picks: Xoshiro256::keyed(key, Purpose::Size),
            reads: Xoshiro256::keyed(key, Purpose::Direction),
            jumps: Xoshiro256::keyed(key, Purpose::Jump),
            offsets: Xoshiro256::keyed(key, Purpose::Offset),
            target_draws: Xoshiro256::keyed(key, Purpose::Target),
            burst: (0, 0),
            delay: Nanos::ZERO,
            places: vec![None; places as usize],
            place: 0,
            next_index: 0,
            ios_left: limits.most_ios(),
            bytes_left: limits.most_bytes(pass),
        })
    }

    /// How long to wait before the I/O that was given last, from when it could have gone.
    pub(super) fn delay(&self) -> Nanos {
        self.delay
    }

    pub(super) fn next_io(&mut self) -> Option<Io> {
        if self.ios_left == 0 {
            return None;
        }
        let (line, direction, size) = self.draw();
        if size > self.bytes_left {
            self.ios_left = 0;
            return None;
        }
        self.ios_left -= 1;
        self.bytes_left -= size;
        let target = match self.lines[line].target {
            Some(target) => target as usize,
            None => self.target(),
        };
        let offset = self.seek(target, line, size);
        let index = self.next_index;
        self.next_index += 1;
        Some(Io {
            index,
            direction,
            target: target as u32,
            offset,
            length: size as u32,
        })
    }

    /// Line, direction and size of the next I/O.
    fn draw(&mut self) -> (usize, Direction, u64) {
        self.delay = Nanos::ZERO;
        if self.places.is_empty() {
            return self.request();
        }
        let place = self.place;
        self.place = (place + 1) % self.places.len();
        if let Some(Reply {
            line,
            direction,
            size,
        }) = self.places[place].take()
        {
            return (line, direction, size);
        }
        let (line, direction, size) = self.request();
        self.places[place] = self.lines[line].reply.map(|reply| Reply {
            line,
            direction: match direction {
                Direction::Read => Direction::Write,
                _ => Direction::Read,
            },
            size: reply.get(),
        });
        (line, direction, size)
    }

    fn request(&mut self) -> (usize, Direction, u64) {
        if self.burst.1 == 0 {
            let total = self.past.last().copied().unwrap_or(0);
            let draw = self.picks.below(total);
            let line = self.past.partition_point(|past| *past <= draw);
            let line = line.min(self.lines.len() - 1);
            self.burst = (line, self.lines[line].burst.max(1));
            self.delay = self.lines[line].delay;
        }
        self.burst.1 -= 1;
        let line = self.lines[self.burst.0];
        let is_read = self.reads.below(10_000) < u64::from(line.read.basis_points());
        let direction = if is_read {
            Direction::Read
        } else {
            Direction::Write
        };
        (self.burst.0, direction, line.size.get())
    }

    fn target(&mut self) -> usize {
        let count = self.targets.len();
        match (count, self.choice) {
            (1, _) => 0,
            (_, FileChoice::Random) => self.target_draws.below(count as u64) as usize,
            _ => {
                let target = self.next_target;
                self.next_target = (target + 1) % count;
                target
            }
        }
    }

    fn seek(&mut self, target: usize, line: usize, size: u64) -> u64 {
        let line = &self.lines[line];
        let is_random = self.jumps.below(10_000) < u64::from(line.random.basis_points());
        let position = &mut self.targets[target];
        let from = if is_random {
            position.start + self.offsets.below(position.end - position.start)
        } else {
            position.next
        };
        let alignment = line.alignment.unwrap_or(LINE_ALIGNMENT).get();
        let fits = |offset: &u64| {
            offset
                .checked_add(size)
                .is_some_and(|end| end <= position.end)
        };
        let found = from.checked_next_multiple_of(alignment).filter(fits);
        let offset = found.unwrap_or(position.start.next_multiple_of(alignment));
        position.next = offset + size;
        offset
    }
}

/// Whether every line has room at the start of every range.
fn check_room(job: &Job, targets: &[TargetRange]) -> Result<(), StreamError> {
    for (index, range) in targets.iter().enumerate() {
        let goes = |line: &&AccessLine| line.target.is_none_or(|target| target as usize == index);
        for line in job.features.lines.iter().filter(goes) {
            let alignment = line.alignment.unwrap_or(LINE_ALIGNMENT).get();
            if alignment == 0 {
                return Err(StreamError::new(job, Rejection::ZeroAlignment));
            }
            let block = line.largest();
            let start = range.offset.checked_next_multiple_of(alignment);
            let end = start.and_then(|start| start.checked_add(block.get()));
            if end.is_none_or(|end| end > range.offset + range.length) {
                let target = job.targets.get(index).map_or_else(
                    || format!("target {index}"),
                    |target| target.place.path().to_owned(),
                );
                let length = Bytes::new(range.length);
                let reason = Rejection::BlockExceedsTarget {
                    block,
                    target,
                    length,
                };
                return Err(StreamError::new(job, reason));
            }
        }
    }
    Ok(())
}
