//! What is due, in order: a timing wheel of two levels (Varghese, Lauck: "Hashed and hierarchical timing wheels", SOSP
//! 1987), exact to the nanosecond.
//!
//! A heap of all events costs tens of nanoseconds an event with a thousand of them under way, which is most of what an I/O
//! may cost in all. Here an event is linked into the slot of its two microseconds; when time comes to a slot, its events (mostly
//! one) are put into their exact order. Events of more than 134 ms ahead wait in coarser slots, and those of more than half a
//! minute ahead in a heap of their own, and move down as time comes near.
//!
//! A cache and a token have one event each at most. So each has a node of its own, by its number, and none is handed out
//! or given back. Departures of stages stand apart, in [`Departures`].
//!
//! Invariants: of events at one time departures come first, in the order of their stages, and then all others in the order
//! of entry, so ties are the same on every machine; what is due at the end of time is never due.

#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use fathom_units::Nanos;

use super::departures::{Departures, NEVER};

/// What is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    /// The head of a stage's queue leaves.
    Departure(u32),
    /// A cache is flushed, as it is from time to time.
    Flush(u32),
    /// A token's delay is over.
    Token(u32),
}

/// A slot of the fine wheel is 2^11 ns wide.
const SLOT_BITS: u32 = 11;
/// Slots of the fine wheel: 134 ms.
const FINE: usize = 1 << 16;
/// Slots of the coarse wheel, each as wide as the fine wheel: 34 s.
const COARSE: usize = 1 << 8;
/// Slots of which one word tells whether they are empty.
const WORD: usize = 64;

const NOTHING: u32 = u32::MAX;

/// Bits of an order that are the number of the entry; above them is the rank.
const NUMBER_BITS: u32 = 40;
/// The rank of what no departure brought about, after those of all stages.
const NO_STAGE: u64 = u64::MAX << NUMBER_BITS;

/// The rank of a stage's departures.
#[inline]
fn rank_of(stage: u32) -> u64 {
    u64::from(stage) << NUMBER_BITS
}

/// An event with its place in the order. The earliest is the greatest, as the standard heap gives the greatest first.
#[derive(Debug, Clone, Copy)]
struct Entry {
    at: u64,
    /// Of what began at a time: the moment after it. Of departures: 0, as they come before all else.
    began: u64,
    /// Decides among those: the stage that leaves, or whose departure began it, and then the number of the entry.
    order: u64,
    /// Number of its node.
    id: u32,
}

impl Entry {
    /// Stands where there is no entry, after all others.
    const NONE: Self = Self {
        at: u64::MAX,
        began: u64::MAX,
        order: u64::MAX,
        id: NOTHING,
    };

    #[inline]
    fn is_none(&self) -> bool {
        self.at == u64::MAX
    }

    #[inline]
    fn key(&self) -> (u64, u64, u64) {
        (self.at, self.began, self.order)
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        other.key().cmp(&self.key())
    }
}

/// The event of one cache or token while it lies in a wheel.
#[derive(Debug, Clone, Copy)]
#[repr(align(32))]
struct Node {
    at: u64,
    began: u64,
    order: u64,
    /// The next in the list of its slot.
    next: u32,
}

impl Node {
    const EMPTY: Self = Self {
        at: u64::MAX,
        began: u64::MAX,
        order: u64::MAX,
        next: NOTHING,
    };
}

impl Node {
    #[inline]
    fn entry(&self, id: u32) -> Entry {
        let Self {
            at, began, order, ..
        } = *self;
        Entry {
            at,
            began,
            order,
            id,
        }
    }
}

/// Slots that come round again, each with a list of nodes.
#[derive(Debug)]
struct Wheel<const SLOTS: usize, const WORDS: usize> {
    heads: Box<[u32; SLOTS]>,
    /// One bit a slot: its list is not empty.
    filled: Box<[u64; WORDS]>,
}

impl<const SLOTS: usize, const WORDS: usize> Wheel<SLOTS, WORDS> {
    const MASK: u64 = SLOTS as u64 - 1;

    fn new() -> Self {
        const {
            assert!(SLOTS.is_power_of_two() && SLOTS == WORDS * WORD);
        }
        Self {
            heads: boxed(NOTHING),
            filled: boxed(0),
        }
    }

    /// Puts `node` in front of the list of `slot`; gives what stood there.
    #[inline]
    fn link(&mut self, slot: u64, node: u32) -> u32 {
        let index = (slot & Self::MASK) as usize;
        self.filled[index / WORD] |= 1 << (index % WORD);
        std::mem::replace(&mut self.heads[index], node)
    }

    /// The first node in the list of a slot.
    #[inline]
    fn head(&self, slot: u64) -> u32 {
        self.heads[(slot & Self::MASK) as usize]
    }

    /// Empties a slot and gives its list.
    #[inline]
    fn take(&mut self, slot: u64) -> u32 {
        let index = (slot & Self::MASK) as usize;
        self.filled[index / WORD] &= !(1 << (index % WORD));
        std::mem::replace(&mut self.heads[index], NOTHING)
    }

    /// The first slot after `slot` that is not empty, where every event lies within one turn; `u64::MAX`: all are empty.
    #[inline]
    fn next_after(&self, slot: u64) -> u64 {
        let start = slot + 1;
        let index = (start & Self::MASK) as usize;
        let word = self.filled[index / WORD] >> (index % WORD);
        if word != 0 {
            return start + u64::from(word.trailing_zeros());
        }
        self.next_in_words(start)
    }

    /// The same where the word of the first slot has none left.
    fn next_in_words(&self, start: u64) -> u64 {
        let first = (start & Self::MASK) as usize / WORD;
        let base = start - start % WORD as u64;
        // The first word comes up again at the end, for the slots before the start.
        for before in 0..WORDS {
            let step = before + 1;
            let word = self.filled[(first + step) % WORDS];
            if word != 0 {
                return base + (step * WORD) as u64 + u64::from(word.trailing_zeros());
            }
        }
        u64::MAX
    }
}

/// An array on the heap, without a copy on the stack.
fn boxed<T: Copy, const N: usize>(value: T) -> Box<[T; N]> {
    let filled = vec![value; N].try_into();
    filled.unwrap_or_else(|_| Box::new([value; N]))
}

/// Events in order of their times.
#[derive(Debug)]
pub(super) struct Agenda {
    departures: Departures,
    /// The first event but departures; [`Entry::NONE`] where the wheels have to be asked, and then none is in `ready` or
    /// `late`.
    first: Entry,
    /// Slot of the fine wheel that time has come to; its events and earlier ones, but the first, are in `ready` and `late`.
    current: u64,
    /// Events that lay in the wheel when time came to their slot, the earliest last.
    ready: Vec<Entry>,
    /// Events that were entered after time had come to their slot.
    late: BinaryHeap<Entry>,
    fine: Wheel<FINE, { FINE / WORD }>,
    /// Whether a look has found the fine wheel empty, and nothing was put into it since: a model with nothing under way is
    /// asked at every request, and each look goes through all of it.
    fine_is_empty: bool,
    coarse: Wheel<COARSE, { COARSE / WORD }>,
    far: BinaryHeap<Entry>,
    /// The first fine slot that an event outside the fine wheel may lie in; `u64::MAX`: there is none.
    outside: u64,
    /// Of caches, then of tokens.
    nodes: Vec<Node>,
    /// The first node of a token.
    tokens: u32,
    next_number: u64,
    /// The rank of what goes on: that of the stage whose departure it is.
    going_on: u64,
}

impl Agenda {
    /// So many stages and more have no ranks of their own.
    pub const MOST_STAGES: usize = (1 << (u64::BITS - NUMBER_BITS)) - 1;

    /// Nothing is due in a model of so many stages and caches; of tokens there may be any number.
    pub fn new(stages: usize, caches: usize) -> Self {
        Self {
            departures: Departures::new(stages),
            first: Entry::NONE,
            current: 0,
            ready: Vec::new(),
            late: BinaryHeap::new(),
            fine: Wheel::new(),
            fine_is_empty: true,
            coarse: Wheel::new(),
            far: BinaryHeap::new(),
            outside: u64::MAX,
            nodes: vec![Node::EMPTY; caches],
            tokens: caches as u32,
            next_number: 0,
            going_on: NO_STAGE,
        }
    }

    /// The head of a stage leaves at `at`, whatever was said before; `None`: none leaves.
    #[expect(
        clippy::inline_always,
        reason = "every I/O comes by here, and a call costs as much as the work"
    )]
    #[inline(always)]
    pub fn departs(&mut self, at: Option<Nanos>, stage: u32) {
        self.departures.set(stage, at.map_or(NEVER, Nanos::get));
    }

    /// A cache is flushed at `at`, as is known from `now` on. It must not have a flush to come.
    pub fn flushes(&mut self, now: Nanos, at: Nanos, cache: u32) {
        let order = self.going_on | self.number();
        self.enter(at, (now.get().saturating_add(1), order), cache);
    }

    /// The delay of a token, which is in no other and begins `now`, ends at `at`.
    #[inline]
    pub fn ends(&mut self, now: Nanos, at: Nanos, token: u32) {
        let order = self.going_on | self.number();
        self.enter(
            at,
            (now.get().saturating_add(1), order),
            self.tokens + token,
        );
    }

    /// A token will leave a stage at `leaves`, which none other does, and will then be in a delay that ends at `at`.
    #[inline]
    pub fn leaves_and_ends(&mut self, (leaves, stage): (Nanos, u32), at: Nanos, token: u32) {
        let order = rank_of(stage) | self.number();
        self.enter(
            at,
            (leaves.get().saturating_add(1), order),
            self.tokens + token,
        );
    }

    /// A token leaves a stage at `at`. Of those that leave one at the same time, the first that is said is the first.
    #[inline]
    pub fn leaves(&mut self, at: Nanos, stage: u32, token: u32) {
        let order = rank_of(stage) | self.number();
        self.enter(at, (0, order), self.tokens + token);
    }

    #[inline]
    fn number(&mut self) -> u64 {
        self.next_number += 1;
        self.next_number
    }

    #[inline]
    fn enter(&mut self, at: Nanos, (began, order): (u64, u64), id: u32) {
        let at = at.get();
        self.place(Entry {
            at,
            began,
            order,
            id,
        });
    }

    /// When the first event is due; `None`: there is none. What is entered next, no departure brings about.
    #[inline]
    pub fn next_due(&mut self) -> Option<Nanos> {
        self.going_on = NO_STAGE;
        if self.first.is_none() {
            self.refill();
        }
        let at = self.first.at.min(self.departures.first().at);
        (at < NEVER).then(|| Nanos::new(at))
    }

    /// The first event, where it is due at `latest` or before. A departure stays until another is said of its stage, all
    /// others are taken out.
    #[expect(
        clippy::inline_always,
        reason = "every I/O comes by here, and a call costs as much as the work"
    )]
    #[inline(always)]
    pub fn pop(&mut self, latest: u64) -> Option<(Nanos, Event)> {
        if self.first.is_none() {
            self.refill();
        }
        let Entry {
            at,
            began,
            order,
            id,
        } = self.first;
        let departure = self.departures.first();
        let latest = latest.min(NEVER - 1);
        if departure.at <= at {
            let rank = rank_of(departure.stage);
            if departure.at < at || (0, rank) < (began, order) {
                let due = departure.at <= latest;
                self.going_on = if due { rank } else { NO_STAGE };
                return due.then(|| (Nanos::new(departure.at), Event::Departure(departure.stage)));
            }
        }
        if at > latest {
            self.going_on = NO_STAGE;
            return None;
        }
        self.going_on = if began == 0 {
            order & NO_STAGE
        } else {
            NO_STAGE
        };
        if self.ready.is_empty() && self.late.is_empty() {
            self.first.at = u64::MAX;
        } else {
            self.first = self.next_ready();
        }
        Some((Nanos::new(at), self.event(id)))
    }

    /// What comes next, as far as a look can tell: a guess that costs little, for those who want to be prepared.
    #[inline]
    pub fn likely_next(&self) -> Option<Event> {
        let departure = self.departures.first();
        let (at, id) = if self.first.is_none() {
            let slot = self.next_fine();
            (slot.saturating_mul(1 << SLOT_BITS), self.fine.head(slot))
        } else {
            (self.first.at, self.first.id)
        };
        if departure.at < at {
            return Some(Event::Departure(departure.stage));
        }
        (id != NOTHING).then(|| self.event(id))
    }

    #[inline]
    fn event(&self, id: u32) -> Event {
        match id.checked_sub(self.tokens) {
            Some(token) => Event::Token(token),
            None => Event::Flush(id),
        }
    }

    #[expect(
        clippy::inline_always,
        reason = "every I/O comes by here, and a call costs as much as the work"
    )]
    #[inline(always)]
    fn place(&mut self, entry: Entry) {
        let slot = entry.at >> SLOT_BITS;
        // Of a slot that time has come to, this is more than any wheel holds.
        let ahead = slot.wrapping_sub(self.current + 1);
        if ahead < FINE as u64 - 1
            && let Some(node) = self.nodes.get_mut(entry.id as usize)
        {
            let next = self.fine.link(slot, entry.id);
            self.fine_is_empty = false;
            let Entry {
                at, began, order, ..
            } = entry;
            *node = Node {
                at,
                began,
                order,
                next,
            };
        } else {
            self.place_elsewhere(slot, entry);
        }
    }

    #[cold]
    fn place_elsewhere(&mut self, slot: u64, entry: Entry) {
        let Entry {
            at,
            began,
            order,
            id,
        } = entry;
        if at == u64::MAX {
            return;
        }
        if id as usize >= self.nodes.len() {
            self.nodes.resize(id as usize + 1, Node::EMPTY);
            return self.place(entry);
        }
        if slot <= self.current {
            self.make_ready(entry);
            return;
        }
        let turn = slot / FINE as u64;
        if turn - self.current / (FINE as u64) < COARSE as u64 {
            let next = self.coarse.link(turn, id);
            self.nodes[id as usize] = Node {
                at,
                began,
                order,
                next,
            };
            self.outside = self.outside.min(turn * FINE as u64);
        } else {
            self.far.push(entry);
            self.outside = self.outside.min(slot);
        }
    }

    /// Puts an entry among those that come before the wheels.
    fn make_ready(&mut self, entry: Entry) {
        if self.first.is_none() {
            self.first = entry;
        } else if entry > self.first {
            // Greater is earlier.
            let later = std::mem::replace(&mut self.first, entry);
            self.late.push(later);
        } else {
            self.late.push(entry);
        }
    }

    /// Takes the earliest of those that come before the wheels.
    fn next_ready(&mut self) -> Entry {
        let next = match (self.ready.last(), self.late.peek()) {
            (Some(ready), Some(late)) if late > ready => self.late.pop(),
            (None, _) => self.late.pop(),
            _ => self.ready.pop(),
        };
        next.unwrap_or(Entry::NONE)
    }

    /// The next slot of the fine wheel that has any events; `u64::MAX`: none has.
    #[inline]
    fn next_fine(&self) -> u64 {
        if self.fine_is_empty {
            return u64::MAX;
        }
        self.fine.next_after(self.current)
    }

    /// Makes the events of the next slot that has any ready, where there is one.
    #[expect(
        clippy::inline_always,
        reason = "every I/O comes by here, and a call costs as much as the work"
    )]
    #[inline(always)]
    fn refill(&mut self) {
        let slot = self.next_fine();
        if slot < self.outside {
            self.current = slot;
            self.drain_fine();
        } else if self.outside != u64::MAX {
            self.refill_from_outside(slot);
        } else {
            self.fine_is_empty = true;
        }
    }

    #[expect(
        clippy::inline_always,
        reason = "every I/O comes by here, and a call costs as much as the work"
    )]
    #[inline(always)]
    fn drain_fine(&mut self) {
        let id = self.fine.take(self.current);
        let Some(node) = self.nodes.get(id as usize).copied() else {
            return;
        };
        if node.next == NOTHING && self.first.is_none() {
            self.first = node.entry(id);
        } else {
            self.drain_list(id);
        }
    }

    /// Makes every event of a list ready.
    fn drain_list(&mut self, mut id: u32) {
        // The last that was linked stands first, and mostly is the latest.
        let mut sorted = true;
        while let Some(node) = self.nodes.get(id as usize).copied() {
            let entry = node.entry(id);
            sorted &= self.ready.last().is_none_or(|last| entry > *last);
            self.ready.push(entry);
            id = node.next;
        }
        if !sorted {
            self.ready.sort_unstable();
        }
        if self.first.is_none() {
            self.first = self.ready.pop().unwrap_or(Entry::NONE);
        } else if let Some(ready) = self.ready.pop_if(|ready| *ready > self.first) {
            self.late.push(self.first);
            self.first = ready;
        }
    }

    /// Brings events from outside the fine wheel into it until the first of all is ready. `fine` is the first slot of the
    /// fine wheel that has any.
    #[cold]
    fn refill_from_outside(&mut self, mut fine: u64) {
        while self.first.is_none() {
            if fine < self.outside {
                self.current = fine;
            } else {
                // Nothing lies before: time may come to the start of what is outside.
                self.current = self.outside.max(self.current);
                self.bring_in();
            }
            self.drain_fine();
            fine = self.fine.next_after(self.current);
        }
    }

    /// Moves what begins at the present slot down from the coarse wheel and the heap.
    fn bring_in(&mut self) {
        let turn = self.current / FINE as u64;
        let mut id = self.coarse.take(turn);
        while let Some(node) = self.nodes.get(id as usize).copied() {
            self.place(node.entry(id));
            id = node.next;
        }
        while let Some(entry) = self.far.peek() {
            if (entry.at >> SLOT_BITS) / FINE as u64 - turn >= COARSE as u64 {
                break;
            }
            if let Some(entry) = self.far.pop() {
                self.place(entry);
            }
        }
        let coarse = self.coarse.next_after(turn).saturating_mul(FINE as u64);
        let far = self.far.peek();
        let far = far.map_or(u64::MAX, |entry| entry.at >> SLOT_BITS);
        self.outside = coarse.min(far);
    }
}
