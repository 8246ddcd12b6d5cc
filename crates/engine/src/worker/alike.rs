//! Rounds of I/Os that differ in their place alone, as most jobs have them: the shortest way from completions to the next
//! submission.
//!
//! While a worker waits, the kernel uses the nearest caches for itself, and whatever code and data a round touches has to
//! come back from further away. So a round stands here in one piece and looks at nothing that cannot change while it goes
//! on; what can is left to the worker's other ways, which are asked at each [`End`].
//!
//! Invariants: all that is in flight reads, or all writes, and asks for equally many bytes; rounds count exactly what
//! [`Worker::submit_and_reap`] would have counted.

use std::io;

use fathom_rawio::{Completion, CycleClock, Operation, Queue, Request, Taken};
use fathom_record::{HalfSecond, OpStats, WorkerStats, batch_level, depth_level};
use fathom_units::Nanos;
use fathom_workload::Direction;
use fathom_workload::generator::{Alike, BufferFill};

use super::record::{record_times, unseen};
use super::source::Source;
use super::{Kind, Slot, Worker};
use crate::timing::Gauge;

/// Why rounds end.
enum End {
    /// The next I/O is found by other rules.
    OtherRules,
    /// Something else is to be looked at. Completions have arrived, and were waited for from that moment if at all.
    Moment(Option<Nanos>),
    /// Something completed that did not do all it was asked for.
    Odd,
    /// The queue failed.
    Broken(io::Error),
}

/// A batch that was submitted.
struct Sent {
    begun: Nanos,
    /// Whether the queue is to be filled further before anything is waited for.
    goes_on: bool,
    /// Whether completions have arrived.
    has_more: bool,
}

/// What a worker lends its rounds.
struct Rounds<'a, Q, S> {
    source: &'a mut S,
    fill: &'a mut BufferFill,
    queue: &'a mut Q,
    clock: &'a CycleClock,
    slots: &'a mut [Slot],
    began: &'a mut [Nanos],
    free: &'a mut Vec<u32>,
    batch: &'a mut Vec<u32>,
    odd: &'a mut Vec<Completion>,
    stats: &'a mut WorkerStats,
    sample: &'a mut HalfSecond,
    directions: &'a mut [Option<OpStats>; 3],
    batch_sizes: [(usize, usize); 2],
    wait_least: u32,
    split: bool,
    /// When something else is to be looked at.
    until: Nanos,
    /// Which way the I/Os go, and the bytes of each, once one was put in line.
    like: Option<(Direction, u32)>,
    books: Books,
}

/// What rounds change of a worker, by the names it has there.
struct Books {
    batch_max: usize,
    reap_max: usize,
    integrated: Nanos,
    seen_until: Nanos,
    last_completion: Nanos,
    outstanding_ns: u64,
    stamp_error: Gauge,
}

impl<Q: Queue, S: Source> Worker<'_, Q, S> {
    /// Does I/O as long as it differs in its place alone and nothing else is to be looked at; `false` where the next I/O is
    /// found by other rules.
    pub(super) fn rounds_alike(&mut self) -> bool {
        match self.rounds() {
            End::OtherRules => return false,
            End::Moment(waited_from) => {
                self.reap(waited_from);
                self.size_batches(waited_from.is_none());
            }
            End::Odd => self.record_odd_ones(self.integrated),
            End::Broken(error) => self.break_off(&error),
        }
        true
    }

    fn rounds(&mut self) -> End {
        let until = self.next_moment();
        let handover = &mut self.parts.handover;
        let mut rounds = Rounds {
            source: &mut self.parts.source,
            fill: &mut self.parts.fill,
            queue: &mut self.queue,
            clock: &self.clock,
            slots: &mut self.slots,
            began: &mut self.began,
            free: &mut self.free,
            batch: &mut self.batch,
            odd: &mut self.done,
            stats: &mut self.stats,
            sample: &mut self.boundaries.sample,
            directions: &mut handover.current.directions,
            batch_sizes: self.batch_sizes,
            wait_least: self.wait_least,
            split: self.split,
            until,
            like: None,
            books: Books {
                batch_max: self.batch_max,
                reap_max: self.reap_max,
                integrated: self.integrated,
                seen_until: self.seen_until,
                last_completion: self.last_completion,
                outstanding_ns: 0,
                stamp_error: self.stamp_error,
            },
        };
        let end = loop {
            if let Err(end) = rounds.round() {
                break end;
            }
        };
        let books = rounds.books;
        self.stats.outstanding_ns += u128::from(books.outstanding_ns);
        (self.batch_max, self.reap_max) = (books.batch_max, books.reap_max);
        self.integrated = books.integrated;
        self.seen_until = books.seen_until;
        self.last_completion = books.last_completion;
        self.stamp_error = books.stamp_error;
        end
    }
}

impl<Q: Queue, S: Source> Rounds<'_, Q, S> {
    #[inline]
    fn round(&mut self) -> Result<(), End> {
        let in_flight = self.queue.in_flight();
        let (left, like) = self.push()?;
        let Sent {
            begun,
            goes_on,
            has_more,
        } = self.submit(left, in_flight)?;
        if goes_on && !has_more {
            return Ok(());
        }
        let mut waited_from = None;
        if !has_more {
            waited_from = Some(begun);
            let waited = self.queue.submit_and_wait(self.wait_least, None);
            waited.map_err(End::Broken)?;
        }
        let now = self.clock.now();
        if now >= self.until {
            return Err(End::Moment(waited_from));
        }
        self.integrate(now, self.queue.in_flight());
        self.reap(like, now, waited_from)
    }

    /// Puts a batch in line; returns how many slots stay free, behind which those of the batch stand, and which way it goes
    /// with how many bytes each.
    #[inline]
    fn push(&mut self) -> Result<(usize, (Direction, u32)), End> {
        let mut left = self.free.len();
        let least = left.saturating_sub(self.books.batch_max);
        while left > least {
            let Some(alike) = self.source.next_alike(left - least) else {
                break;
            };
            self.like = Some((alike.direction, alike.length));
            let first = left - alike.offsets.len();
            let into = &self.free[first..left];
            push_alike(self.queue, self.fill, &alike, into);
            for (slot, offset) in into.iter().zip(alike.offsets) {
                // What is not set here has no meaning here, or is set once they are submitted.
                let slot = &mut self.slots[*slot as usize];
                slot.kind = Kind::Data(alike.direction);
                slot.target = alike.target;
                slot.offset = *offset;
                slot.length = alike.length;
            }
            left = first;
        }
        match self.like {
            Some(like) if left == least => Ok((left, like)),
            _ => {
                // What is in line is in line: others complete the batch.
                self.batch.extend(self.free.drain(left..));
                Err(End::OtherRules)
            }
        }
    }

    /// Submits a batch unless it can go with the wait that follows.
    #[inline]
    fn submit(&mut self, left: usize, in_flight: u32) -> Result<Sent, End> {
        let count = self.free.len() - left;
        let begun = self.clock.now();
        self.integrate(begun, in_flight);
        let goes_on = count == self.books.batch_max && left > 0;
        let mut has_more = self.queue.arrived() > 0;
        let mut submitted = begun;
        if count > 0 {
            if self.split || goes_on || has_more {
                self.queue.submit().map_err(End::Broken)?;
                // What the submission itself completed needs no waiting for.
                has_more = has_more || self.queue.arrived() > 0;
                if self.split {
                    submitted = self.clock.now();
                }
            }
            for slot in &self.free[left..] {
                let index = *slot as usize;
                self.began[index] = begun;
                let slot = &mut self.slots[index];
                (slot.begun, slot.submitted) = (begun, submitted);
            }
            self.free.truncate(left);
            let (count, depth) = (count as u32, in_flight + count as u32);
            self.stats.submit_batches[batch_level(count)] += 1;
            self.stats.depth_levels[depth_level(depth)] += u64::from(count);
        }
        Ok(Sent {
            begun,
            goes_on,
            has_more,
        })
    }

    #[inline]
    fn integrate(&mut self, now: Nanos, in_flight: u32) {
        let span = now.saturating_sub(self.books.integrated).get();
        self.books.outstanding_ns += span * u64::from(in_flight);
        self.books.integrated = now;
    }

    /// Takes a batch of completions.
    #[inline]
    fn reap(
        &mut self,
        like: (Direction, u32),
        now: Nanos,
        waited_from: Option<Nanos>,
    ) -> Result<(), End> {
        let before = self.free.len();
        let taken = self.take(like, now);
        let count = (self.free.len() - before) as u32;
        let books = &mut self.books;
        let unseen = unseen(&mut books.seen_until, now, waited_from, taken);
        if count > 0 {
            books.last_completion = now;
            books.stamp_error.add(unseen);
            self.stats.complete_batches[batch_level(count)] += 1;
        }
        if !self.odd.is_empty() {
            return Err(End::Odd);
        }
        let at_once = waited_from.is_none() && self.queue.in_flight() == self.queue.arrived();
        if at_once || waited_from.is_some() {
            (books.batch_max, books.reap_max) = self.batch_sizes[usize::from(at_once)];
        }
        Ok(())
    }

    /// Takes completions, of which those submitted together are counted as one, and frees their slots.
    #[inline]
    fn take(&mut self, (direction, length): (Direction, u32), now: Nanos) -> Taken {
        let Self {
            queue,
            free,
            odd,
            slots,
            began,
            ..
        } = self;
        let way = direction as usize;
        let mut stats = self.directions[way].as_mut();
        let (mut begun, mut submitted) = (Nanos::ZERO, Nanos::ZERO);
        let (mut together, mut count) = (0, 0);
        let mut record = |times, together| {
            if let Some(stats) = &mut stats
                && together > 0
            {
                record_times(stats, now, times, together);
            }
        };
        let taken = queue.take_each(self.books.reap_max, |completion| {
            let slot = completion.slot as usize;
            free.push(completion.slot);
            if completion.result != Ok(length) {
                return odd.push(completion);
            }
            if begun != began[slot] {
                record((begun, submitted), together);
                count += together;
                together = 0;
                begun = began[slot];
                submitted = begun;
                if self.split {
                    submitted = slots[slot].submitted;
                }
            }
            together += 1;
        });
        record((begun, submitted), together);
        count += together;
        let bytes = count * u64::from(length);
        if let Some(stats) = stats {
            stats.bytes += bytes;
        }
        self.sample.ios[way] += count;
        self.sample.bytes[way] += bytes;
        taken
    }
}

/// Puts these I/Os in line, in these slots.
#[inline]
fn push_alike<Q: Queue>(queue: &mut Q, fill: &mut BufferFill, alike: &Alike<'_>, into: &[u32]) {
    let mut operation = Operation::Read;
    if alike.direction == Direction::Write {
        operation = Operation::Write;
        for (io, slot) in alike.each().zip(into) {
            let buffer = &mut queue.buffer(*slot)[..io.length as usize];
            fill.refill(&io, buffer);
        }
    }
    let like = Request {
        slot: 0,
        file: alike.target,
        operation,
        offset: 0,
        length: alike.length,
    };
    queue.push_alike(like, into, alike.offsets);
}
