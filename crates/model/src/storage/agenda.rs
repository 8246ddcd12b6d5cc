//! What is due but departures, in order: a timing wheel of two levels (Varghese, Lauck: "Hashed and hierarchical timing
//! wheels", SOSP 1987), exact to the nanosecond.
//!
//! A heap of all events costs tens of nanoseconds an event with a thousand of them under way, which is most of what an I/O
//! may cost in all. Here an event is linked into the slot of its microsecond; when time comes to a slot, its events (mostly
//! one) go through a small heap, which gives them their exact order. Events of more than 8 ms ahead wait in coarser slots, and
//! those of more than half a minute ahead in a heap of their own, and move down as time comes near.
//!
//! Invariant: events leave in the order of (time, order of entry), so ties are the same on every machine.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use fathom_units::Nanos;

/// What is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    /// A token's delay is over.
    Token(u32),
    /// A cache is flushed, as it is from time to time.
    Flush(u32),
}

/// A slot of the fine wheel is 2^10 ns wide.
const SLOT_BITS: u32 = 10;
/// The fine wheel has 2^13 slots: 8.4 ms.
const FINE_BITS: u32 = 13;
/// The coarse wheel has 2^12 slots, each as wide as the fine wheel: 34 s.
const COARSE_BITS: u32 = 12;

const NOTHING: u32 = u32::MAX;

/// An event with its place in the order. The earliest is the greatest, as the standard heap gives the greatest first.
#[derive(Debug, Clone, Copy)]
struct Entry {
    at: u64,
    sequence: u64,
    event: Event,
}

impl Entry {
    /// Stands where there is no entry, after all others.
    const NONE: Self = Self {
        at: u64::MAX,
        sequence: u64::MAX,
        event: Event::Token(u32::MAX),
    };

    #[inline]
    fn is_none(&self) -> bool {
        self.sequence == u64::MAX
    }

    #[inline]
    fn key(&self) -> u128 {
        u128::from(self.at) << 64 | u128::from(self.sequence)
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

/// An entry in a slot's list, or a free node.
#[derive(Debug, Clone, Copy)]
struct Node {
    entry: Entry,
    next: u32,
}

/// Slots that come round again, each with a list of nodes.
#[derive(Debug)]
struct Wheel {
    heads: Box<[u32]>,
    /// One bit a slot: its list is not empty.
    filled: Box<[u64]>,
    mask: u64,
}

impl Wheel {
    fn new(bits: u32) -> Self {
        Self {
            heads: vec![NOTHING; 1 << bits].into(),
            filled: vec![0; 1 << (bits - 6)].into(),
            mask: (1 << bits) - 1,
        }
    }

    /// Puts `node` in front of the list of `slot`; gives what stood there.
    #[inline]
    fn link(&mut self, slot: u64, node: u32) -> u32 {
        let index = slot & self.mask;
        self.filled[(index / 64) as usize] |= 1 << (index % 64);
        std::mem::replace(&mut self.heads[index as usize], node)
    }

    /// Empties a slot and gives its list.
    #[inline]
    fn take(&mut self, slot: u64) -> u32 {
        let index = slot & self.mask;
        self.filled[(index / 64) as usize] &= !(1 << (index % 64));
        std::mem::replace(&mut self.heads[index as usize], NOTHING)
    }

    /// The first slot after `slot` that is not empty, where every event lies within one turn.
    #[inline]
    fn next_after(&self, slot: u64) -> Option<u64> {
        let start = slot + 1;
        let words = self.filled.len() as u64;
        let first = (start & self.mask) / 64;
        let skipped = start % 64;
        let head = self.filled[first as usize] >> skipped;
        if head != 0 {
            return Some(start + u64::from(head.trailing_zeros()));
        }
        // The first word comes up again at the end, for the slots before the start.
        (1..=words).find_map(|step| {
            let word = self.filled[((first + step) % words) as usize];
            (word != 0).then(|| start - skipped + step * 64 + u64::from(word.trailing_zeros()))
        })
    }
}

/// Events in order of their times.
#[derive(Debug)]
pub(super) struct Agenda {
    /// The first event of all; [`Entry::NONE`] where the wheels have to be asked.
    first: Entry,
    /// Slot of the fine wheel that time has come to; its events and earlier ones, but the first, are in `ready`.
    current: u64,
    ready: BinaryHeap<Entry>,
    fine: Wheel,
    coarse: Wheel,
    far: BinaryHeap<Entry>,
    /// The first fine slot that an event outside the fine wheel may lie in; `u64::MAX`: there is none.
    outside: u64,
    nodes: Vec<Node>,
    free: u32,
    sequence: u64,
}

impl Default for Agenda {
    fn default() -> Self {
        Self {
            first: Entry::NONE,
            current: 0,
            ready: BinaryHeap::new(),
            fine: Wheel::new(FINE_BITS),
            coarse: Wheel::new(COARSE_BITS),
            far: BinaryHeap::new(),
            outside: u64::MAX,
            nodes: Vec::new(),
            free: NOTHING,
            sequence: 0,
        }
    }
}

impl Agenda {
    /// An event will be due.
    #[inline]
    pub fn push(&mut self, at: Nanos, event: Event) {
        let entry = Entry {
            at: at.get(),
            sequence: self.sequence,
            event,
        };
        self.sequence += 1;
        self.place(entry);
    }

    /// When the first event is due, in ns; `u64::MAX`: there is none.
    #[inline]
    pub fn next_due(&mut self) -> u64 {
        if self.first.is_none() {
            self.refill();
        }
        self.first.at
    }

    /// Takes the first event.
    #[inline]
    pub fn pop(&mut self) -> Option<(Nanos, Event)> {
        if self.first.is_none() && !self.refill() {
            return None;
        }
        let Entry { at, event, .. } = self.first;
        self.first = if self.ready.is_empty() {
            Entry::NONE
        } else {
            self.ready.pop().unwrap_or(Entry::NONE)
        };
        Some((Nanos::new(at), event))
    }

    #[inline]
    fn place(&mut self, entry: Entry) {
        let slot = entry.at >> SLOT_BITS;
        if slot <= self.current {
            self.make_ready(entry);
        } else if slot - self.current < 1 << FINE_BITS {
            let node = self.node(entry);
            self.nodes[node as usize].next = self.fine.link(slot, node);
        } else {
            self.place_outside(slot, entry);
        }
    }

    /// Puts an entry among those that come before the wheels.
    #[inline]
    fn make_ready(&mut self, entry: Entry) {
        if self.first.is_none() {
            self.first = entry;
        } else if entry > self.first {
            // Greater is earlier.
            let later = std::mem::replace(&mut self.first, entry);
            self.ready.push(later);
        } else {
            self.ready.push(entry);
        }
    }

    fn place_outside(&mut self, slot: u64, entry: Entry) {
        let turn = slot >> FINE_BITS;
        if turn - (self.current >> FINE_BITS) < 1 << COARSE_BITS {
            let node = self.node(entry);
            self.nodes[node as usize].next = self.coarse.link(turn, node);
            self.outside = self.outside.min(turn << FINE_BITS);
        } else {
            self.far.push(entry);
            self.outside = self.outside.min(slot);
        }
    }

    /// Makes the events of the next slot that has any ready; `false`: there are none.
    #[inline]
    fn refill(&mut self) -> bool {
        match self.fine.next_after(self.current) {
            Some(slot) if slot < self.outside => {
                self.current = slot;
                self.drain_fine();
                true
            }
            Some(slot) => self.refill_from_outside(slot),
            None => self.outside != u64::MAX && self.refill_from_outside(u64::MAX),
        }
    }

    #[inline]
    fn drain_fine(&mut self) {
        let mut node = self.fine.take(self.current);
        while node != NOTHING {
            let Node { entry, next } = self.nodes[node as usize];
            self.make_ready(entry);
            self.give_back(node);
            node = next;
        }
    }

    /// Brings events from outside the fine wheel into it until the first of all is ready. `fine` is the first slot of the
    /// fine wheel that has any.
    #[cold]
    fn refill_from_outside(&mut self, mut fine: u64) -> bool {
        while self.first.is_none() {
            if fine < self.outside {
                self.current = fine;
            } else {
                // Nothing lies before: time may come to the start of what is outside.
                self.current = self.outside.max(self.current);
                self.bring_in();
            }
            self.drain_fine();
            fine = self.fine.next_after(self.current).unwrap_or(u64::MAX);
        }
        true
    }

    /// Moves what begins at the present slot down from the coarse wheel and the heap.
    fn bring_in(&mut self) {
        let turn = self.current >> FINE_BITS;
        let mut node = self.coarse.take(turn);
        while node != NOTHING {
            let Node { entry, next } = self.nodes[node as usize];
            self.give_back(node);
            self.place(entry);
            node = next;
        }
        while let Some(entry) = self.far.peek() {
            if (entry.at >> SLOT_BITS >> FINE_BITS) - turn >= 1 << COARSE_BITS {
                break;
            }
            if let Some(entry) = self.far.pop() {
                self.place(entry);
            }
        }
        let coarse = self.coarse.next_after(turn);
        let coarse = coarse.map_or(u64::MAX, |turn| turn << FINE_BITS);
        let far = self
            .far
            .peek()
            .map_or(u64::MAX, |entry| entry.at >> SLOT_BITS);
        self.outside = coarse.min(far);
    }

    #[inline]
    fn node(&mut self, entry: Entry) -> u32 {
        let next = NOTHING;
        if self.free == NOTHING {
            self.nodes.push(Node { entry, next });
            return self.nodes.len() as u32 - 1;
        }
        let node = self.free;
        self.free = self.nodes[node as usize].next;
        self.nodes[node as usize] = Node { entry, next };
        node
    }

    #[inline]
    fn give_back(&mut self, node: u32) {
        self.nodes[node as usize].next = self.free;
        self.free = node;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::mix;

    /// Drives the agenda and a plain heap with the same pushes, each `spread` ns at most ahead of the last event.
    fn check(seed: u64, spread: u64, most: usize, steps: u64) {
        let mut agenda = Agenda::default();
        let mut heap = BinaryHeap::new();
        let (mut now, mut sequence) = (0, 0);
        for step in 0..steps {
            let draw = mix(seed ^ mix(step));
            let grow = heap.len() < most && draw % 5 < 3;
            if grow || heap.is_empty() {
                // Mostly near, sometimes at the very time, sometimes far.
                let ahead = match draw >> 8 & 7 {
                    0 => 0,
                    1..=5 => (draw >> 16) % spread,
                    _ => (draw >> 16) % (spread * 50),
                };
                let event = Event::Token(sequence as u32);
                agenda.push(Nanos::new(now + ahead), event);
                let at = now + ahead;
                heap.push(Entry {
                    at,
                    sequence,
                    event,
                });
                sequence += 1;
            } else {
                let expected = heap.pop().map(|entry| (Nanos::new(entry.at), entry.event));
                if draw >> 11 & 1 == 0 {
                    let due = expected.map_or(u64::MAX, |(at, _)| at.get());
                    assert_eq!(agenda.next_due(), due);
                }
                assert_eq!(agenda.pop(), expected, "seed {seed}, step {step}");
                now = expected.map_or(now, |(at, _)| at.get());
            }
        }
    }

    #[test]
    fn it_gives_what_a_heap_of_all_events_gives() {
        for seed in 0..20 {
            check(seed, 50, 100, 3_000);
            check(seed, 3_000, 10, 3_000);
            check(seed, 2_000_000, 50, 3_000);
            check(seed, 30_000_000, 50, 3_000);
            check(seed, 5_000_000_000, 20, 3_000);
            check(seed, 300_000_000_000, 5, 3_000);
        }
    }

    /// Looking for the next event moves the wheel on to it; what is pushed for earlier must still come first.
    #[test]
    fn events_before_the_next_one_are_not_lost_after_a_look() {
        let mut agenda = Agenda::default();
        for seconds in [100, 50, 2] {
            agenda.push(Nanos::from_secs(seconds), Event::Token(seconds as u32));
            assert_eq!(agenda.next_due(), seconds * 1_000_000_000);
        }
        agenda.push(Nanos::new(5), Event::Token(0));
        let order: Vec<_> = std::iter::from_fn(|| agenda.pop())
            .map(|(at, _)| at)
            .collect();
        let seconds = [2, 50, 100].map(Nanos::from_secs);
        assert_eq!(order[0], Nanos::new(5));
        assert_eq!(order[1..], seconds);
    }
}
