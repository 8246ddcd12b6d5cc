//! Due times within the model, in order.
//!
//! Invariant: events leave in the order of (time, order of entry), so ties are the same on every machine.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use fathom_units::Nanos;

/// What is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Event {
    /// The head of a stage's queue may leave.
    Stage(u32),
    /// A token's delay is over.
    Token(u32),
}

/// Events in order of their times.
#[derive(Debug, Default)]
pub(super) struct Agenda {
    heap: BinaryHeap<Reverse<(Nanos, u64, Event)>>,
    sequence: u64,
}

impl Agenda {
    /// An event will be due.
    #[inline]
    pub fn push(&mut self, at: Nanos, event: Event) {
        self.heap.push(Reverse((at, self.sequence, event)));
        self.sequence += 1;
    }

    /// When the first event is due.
    #[inline]
    pub fn next_due(&mut self) -> Option<Nanos> {
        self.heap.peek().map(|Reverse((at, ..))| *at)
    }

    /// Takes the first event.
    #[inline]
    pub fn pop(&mut self) -> Option<(Nanos, Event)> {
        self.heap.pop().map(|Reverse((at, _, event))| (at, event))
    }
}
