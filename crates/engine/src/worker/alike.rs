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

mod counts;
mod notes;
mod tally;

use std::io;

use fathom_rawio::{Completion, CycleClock, Operation, Queue, Request, Taken};
use fathom_record::{OpStats, WorkerStats, batch_level, depth_level};
use fathom_stats::Histogram;
use fathom_units::Nanos;
use fathom_workload::Direction;
use fathom_workload::generator::{Alike, BufferFill};

use self::counts::Counts;
use self::notes::Note;
pub(super) use self::notes::Notes;
use super::batches::Sizes;
use super::record::{record_parts, record_times, submission_end, unseen};
use super::source::Source;
use super::{Slot, Worker};

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

/// Completions that have arrived by `now`, and were waited for from that moment if at all.
#[derive(Debug, Clone, Copy)]
struct Arrived {
    now: Nanos,
    waited_from: Option<Nanos>,
}

/// What the I/Os of rounds have in common.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
struct Like {
    direction: Direction,
    target: u32,
    length: u32,
}

impl Like {
    /// Before it is known.
    const ANY: Self = Self {
        direction: Direction::Read,
        target: 0,
        length: 0,
    };
}

/// What a worker lends its rounds. What each round touches comes first: nearness makes instructions short.
#[repr(C)]
struct Rounds<'a, Q, S> {
    queue: &'a mut Q,
    clock: &'a CycleClock,
    notes: &'a mut Notes,
    /// As many as there are slots; the first [`Books::free`] are free.
    free: &'a mut [u32],
    source: &'a mut S,
    /// When something else is to be looked at.
    until: Nanos,
    /// What it is all like, once that is known: from the first I/O put in line on. The notes then hold what is in flight, and
    /// the slots do not.
    like: Like,
    is_known: bool,
    wait_least: u32,
    /// How many are taken without a wait: as many as one is for, but at least one.
    enough: u32,
    books: Books,
    fill: &'a mut BufferFill,
    slots: &'a [Slot],
    batch: &'a mut Vec<u32>,
    odd: &'a mut Vec<Completion>,
    stats: &'a mut WorkerStats,
    directions: &'a mut [Option<OpStats>; 3],
    sizes_of: [Sizes; 2],
    split: bool,
}

/// What rounds change of a worker, by the names it has there.
#[repr(C)]
struct Books {
    /// Slots that are free.
    free: usize,
    /// When the clock was read last: after the last system call, so that the next I/Os begin then.
    integrated: Nanos,
    sizes: Sizes,
    seen_until: Nanos,
    last_completion: Nanos,
    counts: Counts,
}

impl Books {
    #[inline]
    fn integrate(&mut self, now: Nanos, in_flight: u32) {
        let span = now.saturating_sub(self.integrated).get();
        self.counts.outstanding_ns += span * u64::from(in_flight);
        self.integrated = now;
    }
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
        let free = self.free.len();
        self.free.resize(self.slots.len(), 0);
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
            directions: &mut handover.current.directions,
            sizes_of: self.sizes_of,
            wait_least: self.wait_least,
            enough: self.wait_least.max(1),
            split: self.split,
            until,
            like: like.unwrap_or(Like::ANY),
            is_known: like.is_some(),
            books: Books {
                sizes: self.sizes,
                integrated: self.integrated,
                seen_until: self.seen_until,
                last_completion: self.last_completion,
                free,
                counts: Counts::ZERO,
            },
        };
        let end = if rounds.split {
            rounds.go_on::<true>(arrived)
        } else {
            rounds.go_on::<false>(arrived)
        };
        rounds.count_kept();
        *like = rounds.is_known.then_some(rounds.like);
        let books = &rounds.books;
        self.free.truncate(books.free);
        let counts = &books.counts;
        counts.add_to(&mut self.stats, &mut self.stamp_error, self.slots.len());
        if let Some(like) = like {
            let (way, bytes) = (
                like.direction as usize,
                counts.done * u64::from(like.length),
            );
            self.boundaries.sample.ios[way] += counts.done;
            self.boundaries.sample.bytes[way] += bytes;
            if let Some(stats) = &mut handover.current.directions[way] {
                stats.bytes += bytes;
            }
        }
        self.sizes = books.sizes;
        self.integrated = books.integrated;
        self.seen_until = books.seen_until;
        self.last_completion = books.last_completion;
        end
    }
}

#[expect(
    clippy::inline_always,
    reason = "a call within a round costs lines of code that are not near, and a return that is not foreseen"
)]
impl<Q: Queue, S: Source> Rounds<'_, Q, S> {
    #[inline(never)]
    fn go_on<const SPLIT: bool>(&mut self, arrived: Option<Arrived>) -> End {
        if let Some(arrived) = arrived
            && let Err(end) = self.resume::<SPLIT>(arrived)
        {
            return end;
        }
        self.read_clock();
        loop {
            if let Err(end) = self.round::<SPLIT>() {
                return end;
            }
        }
    }

    /// Ends the round that a moment has interrupted. It stands apart, so that rounds have their end within them.
    #[cold]
    #[inline(never)]
    fn resume<const SPLIT: bool>(&mut self, arrived: Arrived) -> Result<(), End> {
        if self.is_known {
            self.reap::<SPLIT>(arrived)
        } else {
            Ok(())
        }
    }

    #[inline(always)]
    fn round<const SPLIT: bool>(&mut self) -> Result<(), End> {
        let in_flight = self.queue.in_flight();
        let left = self.push()?;
        let count = self.books.free - left;
        let goes_on = count == self.books.sizes.most_alike() && left > 0;
        let has_more = self.has_enough();
        self.note_batch(left, in_flight);
        let mut waits = !goes_on && !has_more;
        if SPLIT && count > 0 {
            waits = self.submit_apart(left, count)? && waits;
        }
        if waits || !SPLIT && count > 0 {
            let least = if waits { self.wait_least } else { 0 };
            let waited = self.queue.submit_for(least);
            waited.map_err(End::Broken)?;
        }
        if goes_on && !has_more && !self.has_enough() {
            self.read_clock();
            return Ok(());
        }
        let waited_from = waits.then_some(self.books.integrated);
        let now = self.clock.now();
        if now >= self.until {
            return Err(End::Moment(waited_from));
        }
        self.books.integrate(now, self.queue.in_flight());
        self.reap::<SPLIT>(Arrived { now, waited_from })
    }

    /// Whether as many have arrived as are waited for at a time: fewer are not taken while a wait can bring the rest.
    #[inline(always)]
    fn has_enough(&mut self) -> bool {
        self.queue.arrived() >= self.enough
    }

    /// Puts a batch in line; returns how many slots stay free, behind which those of the batch stand.
    #[inline(always)]
    fn push(&mut self) -> Result<usize, End> {
        let free = self.books.free;
        let least = free.saturating_sub(self.books.sizes.most_alike());
        let left = self.push_some(free, least);
        if left == least && self.is_known {
            Ok(left)
        } else {
            self.push_rest(left, least)
        }
    }

    /// Does so where the first I/Os of a batch were not all of it.
    #[cold]
    #[inline(never)]
    fn push_rest(&mut self, mut left: usize, least: usize) -> Result<usize, End> {
        while left > least {
            let before = left;
            left = self.push_some(left, least);
            if left == before {
                break;
            }
        }
        if left == least && self.is_known {
            return Ok(left);
        }
        // What is in line is in line: others complete the batch.
        self.batch.extend(&self.free[left..self.books.free]);
        self.books.free = left;
        Err(End::OtherRules)
    }

    /// Puts I/Os in line until `least` slots are left of those that are, as far as they are alike and known at once; returns how
    /// many are left.
    #[inline(always)]
    fn push_some(&mut self, left: usize, least: usize) -> usize {
        if left == least {
            return left;
        }
        let Some(alike) = self.source.next_alike(left - least) else {
            return left;
        };
        if !self.is_known {
            self.is_known = true;
            self.notes.read(self.slots, self.split);
            self.like = Like {
                direction: alike.direction,
                target: alike.target,
                length: alike.length,
            };
        }
        let first = left - alike.offsets.len();
        let into = &self.free[first..left];
        if alike.direction == Direction::Write {
            refill(self.queue, self.fill, alike, into);
            // What their contents take is no part of their time.
            let now = self.clock.now();
            self.books.integrate(now, self.queue.in_flight());
        }
        let begun = self.books.integrated;
        let like = Request {
            slot: 0,
            file: alike.target,
            operation: match alike.direction {
                Direction::Write => Operation::Write,
                _ => Operation::Read,
            },
            offset: 0,
            length: alike.length,
        };
        let notes = &mut *self.notes.of;
        self.queue
            .push_alike(like, into, alike.offsets, |slot, offset| {
                notes[slot as usize] = Note { offset, begun };
            });
        first
    }

    /// Counts the batch that was put in line, and takes its slots.
    #[inline(always)]
    fn note_batch(&mut self, left: usize, in_flight: u32) {
        let count = self.books.free - left;
        if count == 0 {
            return;
        }
        self.books.free = left;
        let counts = &mut self.books.counts;
        match counts.submitted.get_mut(count) {
            Some(there) => *there += 1,
            None => note_large(&mut self.stats.submit_batches, count),
        }
        if left == 0 && in_flight as usize + count == self.free.len() {
            counts.filling += count as u64;
        } else {
            note_depth(self.stats, in_flight, count);
        }
    }

    /// Submits the batch behind `left` by a call of its own, and notes when that had ended; `false` where enough
    /// has completed meanwhile.
    #[inline(never)]
    fn submit_apart(&mut self, left: usize, count: usize) -> Result<bool, End> {
        self.queue.submit().map_err(End::Broken)?;
        let end = submission_end(self.books.integrated, self.clock.now());
        for slot in &self.free[left..left + count] {
            self.notes.submitted[*slot as usize] = end;
        }
        Ok(!self.has_enough())
    }

    #[inline(always)]
    fn read_clock(&mut self) {
        let now = self.clock.now();
        self.books.integrate(now, self.queue.in_flight());
    }

    /// Takes a batch of completions.
    #[inline(always)]
    fn reap<const SPLIT: bool>(
        &mut self,
        Arrived { now, waited_from }: Arrived,
    ) -> Result<(), End> {
        let before = self.books.free;
        let (taken, is_odd) = self.take::<SPLIT>(now);
        let count = self.books.free - before;
        let books = &mut self.books;
        let unseen = unseen(&mut books.seen_until, now, waited_from, taken);
        if count > 0 {
            books.last_completion = now;
            books.counts.unseen_ns += unseen.get();
            books.counts.longest_unseen = books.counts.longest_unseen.max(unseen);
            if let Some(there) = books.counts.taken.get_mut(count) {
                *there += 1;
            } else {
                books.counts.taken_large += 1;
                note_large(&mut self.stats.complete_batches, count);
            }
        }
        if is_odd {
            return Err(End::Odd);
        }
        let at_once = waited_from.is_none() && self.queue.in_flight() == self.queue.arrived();
        if at_once || waited_from.is_some() {
            books.sizes = self.sizes_of[usize::from(at_once)];
        }
        Ok(())
    }

    /// Takes completions, of which those submitted together are counted as one, and frees their slots.
    #[inline(always)]
    fn take<const SPLIT: bool>(&mut self, now: Nanos) -> (Taken, bool) {
        let like = self.like;
        let free = &mut self.free[self.books.free..];
        let most = self.books.sizes.taken_of(self.queue.arrived());
        let most = most.min(free.len());
        let (count, taken) = self
            .queue
            .take_alike(like.length, &mut free[..most], self.odd);
        let mut rest = &free[..count];
        self.books.free += count;
        if !self.odd.is_empty() {
            self.record_but_odd(now, count);
            return (taken, true);
        }
        self.books.counts.done += count as u64;
        while let Some((begun, count)) = self.notes.together(rest) {
            let latency = now.saturating_sub(begun).get();
            if !self.notes.tally.keep(latency, count as u64) {
                let histogram = latencies(self.directions, like.direction);
                self.notes
                    .tally
                    .count_with(latency, count as u64, histogram);
            }
            if SPLIT && let Some(stats) = &mut self.directions[like.direction as usize] {
                let submitted = self.notes.submitted[rest[0] as usize];
                record_parts(stats, now, (begun, submitted), count as u64);
            }
            rest = &rest[count..];
        }
        (taken, false)
    }

    /// Counts the latencies that were kept.
    fn count_kept(&mut self) {
        let histogram = latencies(self.directions, self.like.direction);
        self.notes.tally.count_in(histogram);
    }

    /// Records those of the `count` slots freed last that did what they were asked for.
    #[cold]
    fn record_but_odd(&mut self, now: Nanos, count: usize) {
        let is_odd = |slot: &u32| self.odd.iter().any(|odd| odd.slot == *slot);
        let freed = &self.free[self.books.free - count..self.books.free];
        for slot in freed.iter().filter(|slot| !is_odd(slot)) {
            self.books.counts.done += 1;
            let begun = self.notes.of[*slot as usize].begun;
            let submitted = self.notes.submitted.get(*slot as usize).copied();
            if let Some(stats) = &mut self.directions[self.like.direction as usize] {
                record_times(stats, now, (begun, submitted.unwrap_or(begun)), 1);
            }
        }
    }
}

/// Counts a batch that has no place of its own.
#[inline(never)]
fn note_large<const N: usize>(batches: &mut [u64; N], count: usize) {
    batches[batch_level(count as u32)] += 1;
}

/// Counts I/Os that left a slot free.
#[inline(never)]
fn note_depth(stats: &mut WorkerStats, in_flight: u32, count: usize) {
    stats.depth_levels[depth_level(in_flight + count as u32)] += count as u64;
}

/// Where latencies of a direction are counted.
fn latencies(
    directions: &mut [Option<OpStats>; 3],
    direction: Direction,
) -> Option<&mut Histogram> {
    let stats = directions[direction as usize].as_mut();
    stats.map(|stats| &mut stats.latency)
}

/// Gives the buffers of these slots what these I/Os write.
#[inline(never)]
fn refill<Q: Queue>(queue: &mut Q, fill: &mut BufferFill, alike: Alike<'_>, slots: &[u32]) {
    for (io, slot) in alike.each().zip(slots) {
        let buffer = &mut queue.buffer(*slot)[..io.length as usize];
        fill.refill(&io, buffer);
    }
}
