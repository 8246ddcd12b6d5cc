//! Rounds of I/Os that differ in their place alone, as most jobs have them: the shortest way from completions to the next
//! submission.
//!
//! While a worker waits, the kernel uses the nearest caches for itself, and whatever code and data a round touches has to
//! come back from further away. So a round stands here in one piece and looks at nothing that cannot change while it goes
//! on; what can is left to the worker's other ways, which are asked at each [`End`].
//!
//! Nor does it keep a [`Slot`] for each I/O, a line of the cache of which three words differ: those words stand close together
//! in [`Notes`] while rounds go on, and the slots are written when others are to read them.
//!
//! Invariants: all that is in flight reads, or all writes, and asks for equally many bytes; rounds count exactly what
//! [`Worker::submit_and_reap`] would have counted.

use std::io;

use fathom_rawio::{Completion, CycleClock, Operation, Queue, Request, Taken};
use fathom_record::{HalfSecond, OpStats, WorkerStats, batch_level, depth_level};
use fathom_units::Nanos;
use fathom_workload::Direction;
use fathom_workload::generator::{Alike, BufferFill};

use super::record::{record_times, submission_end, unseen};
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

/// Completions that have arrived by `now`, and were waited for from that moment if at all.
#[derive(Debug, Clone, Copy)]
struct Arrived {
    now: Nanos,
    waited_from: Option<Nanos>,
}

/// What the I/Os of rounds have in common.
#[derive(Debug, Clone, Copy)]
struct Like {
    direction: Direction,
    target: u32,
    length: u32,
}

/// What they have not, by slot.
#[derive(Debug)]
pub(super) struct Notes {
    offsets: Box<[u64]>,
    stamps: Box<[Stamps]>,
}

/// When an I/O was submitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamps {
    begun: Nanos,
    submitted: Nanos,
}

impl Notes {
    pub(super) fn new(slots: u32) -> Self {
        let never = Stamps {
            begun: Nanos::ZERO,
            submitted: Nanos::ZERO,
        };
        Self {
            offsets: vec![0; slots as usize].into_boxed_slice(),
            stamps: vec![never; slots as usize].into_boxed_slice(),
        }
    }

    /// Takes over what is in flight.
    #[cold]
    fn read(&mut self, slots: &[Slot]) {
        let places = self.offsets.iter_mut().zip(&mut self.stamps);
        for ((offset, stamps), slot) in places.zip(slots) {
            *offset = slot.offset;
            *stamps = Stamps {
                begun: slot.begun,
                submitted: slot.submitted,
            };
        }
    }

    /// Gives it back; what is in no flight gets a meaning that nobody asks for.
    #[cold]
    fn write(&self, like: Like, slots: &mut [Slot]) {
        let places = self.offsets.iter().zip(&self.stamps);
        for ((offset, stamps), slot) in places.zip(slots) {
            *slot = Slot {
                kind: Kind::Data(like.direction),
                target: like.target,
                offset: *offset,
                length: like.length,
                begun: stamps.begun,
                submitted: stamps.submitted,
                ..Slot::IDLE
            };
        }
    }
}

/// What a worker lends its rounds.
struct Rounds<'a, Q, S> {
    source: &'a mut S,
    fill: &'a mut BufferFill,
    queue: &'a mut Q,
    clock: &'a CycleClock,
    slots: &'a [Slot],
    notes: &'a mut Notes,
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
    /// Known once an I/O was put in line; from then on the notes hold what is in flight, and the slots do not.
    like: Option<Like>,
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
    /// Does I/O as long as it differs in its place alone; `false` where the next I/O is found by other rules.
    pub(super) fn rounds_alike(&mut self) -> bool {
        let (mut like, mut arrived) = (None, None);
        let end = loop {
            let end = self.rounds(&mut like, arrived);
            let End::Moment(waited_from) = end else {
                break end;
            };
            let now = self.clock.now();
            self.integrate(now, self.queue.in_flight());
            self.tick(now);
            self.glance();
            if !self.is_issuing() {
                break end;
            }
            arrived = Some(Arrived { now, waited_from });
        };
        if let Some(like) = like {
            self.notes.write(like, &mut self.slots);
        }
        match end {
            End::OtherRules => return false,
            End::Moment(waited_from) => self.reap(waited_from),
            End::Odd => self.record_odd_ones(self.integrated),
            End::Broken(error) => self.break_off(&error),
        }
        true
    }

    /// Goes round, once the completions are taken that have arrived before.
    fn rounds(&mut self, like: &mut Option<Like>, arrived: Option<Arrived>) -> End {
        let until = self.next_moment();
        let handover = &mut self.parts.handover;
        let mut rounds = Rounds {
            source: &mut self.parts.source,
            fill: &mut self.parts.fill,
            queue: &mut self.queue,
            clock: &self.clock,
            slots: &self.slots,
            notes: &mut self.notes,
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
            like: *like,
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
        let end = rounds.go_on(arrived);
        *like = rounds.like;
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
    fn go_on(&mut self, arrived: Option<Arrived>) -> End {
        if let Some(arrived) = arrived
            && let Err(end) = self.resume(arrived)
        {
            return end;
        }
        loop {
            if let Err(end) = self.round() {
                return end;
            }
        }
    }

    /// Ends the round that a moment has interrupted. It stands apart, so that rounds have their end within them.
    #[cold]
    #[inline(never)]
    fn resume(&mut self, arrived: Arrived) -> Result<(), End> {
        self.like.map_or(Ok(()), |like| self.reap(like, arrived))
    }

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
        self.reap(like, Arrived { now, waited_from })
    }

    /// Puts a batch in line; returns how many slots stay free, behind which those of the batch stand, and what it is like.
    #[inline]
    fn push(&mut self) -> Result<(usize, Like), End> {
        let mut left = self.free.len();
        let least = left.saturating_sub(self.books.batch_max);
        while left > least {
            let Some(alike) = self.source.next_alike(left - least) else {
                break;
            };
            if self.like.is_none() {
                self.notes.read(self.slots);
            }
            self.like = Some(Like {
                direction: alike.direction,
                target: alike.target,
                length: alike.length,
            });
            let first = left - alike.offsets.len();
            let into = &self.free[first..left];
            push_alike(self.queue, self.fill, &alike, into);
            for (slot, offset) in into.iter().zip(alike.offsets) {
                self.notes.offsets[*slot as usize] = *offset;
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
                    submitted = submission_end(begun, self.clock.now());
                }
            }
            for slot in &self.free[left..] {
                self.notes.stamps[*slot as usize] = Stamps { begun, submitted };
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
    fn reap(&mut self, like: Like, Arrived { now, waited_from }: Arrived) -> Result<(), End> {
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
    fn take(&mut self, like: Like, now: Nanos) -> Taken {
        let Self {
            queue,
            free,
            odd,
            notes,
            ..
        } = self;
        let way = like.direction as usize;
        let mut stats = self.directions[way].as_mut();
        let mut together = Stamps {
            begun: Nanos::ZERO,
            submitted: Nanos::ZERO,
        };
        let (mut alike, mut count) = (0, 0);
        let mut record = |together: Stamps, alike| {
            if let Some(stats) = &mut stats
                && alike > 0
            {
                record_times(stats, now, (together.begun, together.submitted), alike);
            }
        };
        let taken = queue.take_each(self.books.reap_max, |completion| {
            let slot = completion.slot as usize;
            free.push(completion.slot);
            if completion.result != Ok(like.length) {
                return odd.push(completion);
            }
            let stamps = notes.stamps[slot];
            if together.begun != stamps.begun {
                record(together, alike);
                count += alike;
                (together, alike) = (stamps, 0);
            }
            alike += 1;
        });
        record(together, alike);
        count += alike;
        let bytes = count * u64::from(like.length);
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
