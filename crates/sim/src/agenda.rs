//! Due times of a run that are not the model's, in order.
//!
//! Invariant: events leave in the order of (time, order of entry), so ties are the same on every machine.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use fathom_units::Nanos;

/// What is due.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Due {
    /// A worker may issue I/O.
    Worker(u32),
    /// The stage's measurement begins.
    Measure,
}

#[derive(Debug)]
struct Entry {
    at: Nanos,
    sequence: u64,
    due: Due,
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Reversed: the standard heap gives the largest first, and the earliest is wanted.
impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        (other.at, other.sequence).cmp(&(self.at, self.sequence))
    }
}

/// Events in order of their times.
#[derive(Debug, Default)]
pub(crate) struct Agenda {
    heap: BinaryHeap<Entry>,
    sequence: u64,
}

impl Agenda {
    #[inline]
    pub fn push(&mut self, at: Nanos, due: Due) {
        let sequence = self.sequence;
        self.sequence += 1;
        self.heap.push(Entry { at, sequence, due });
    }

    /// When the first event is due.
    #[inline]
    pub fn next_due(&self) -> Option<Nanos> {
        self.heap.peek().map(|entry| entry.at)
    }

    /// The same; the end of time where there is none.
    #[inline]
    pub fn next_at(&self) -> Nanos {
        self.next_due().unwrap_or(Nanos::MAX)
    }

    #[inline]
    pub fn pop(&mut self) -> Option<(Nanos, Due)> {
        self.heap.pop().map(|entry| (entry.at, entry.due))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earliest_leaves_first_and_ties_in_order_of_entry() {
        let mut agenda = Agenda::default();
        for (at, worker) in [(5, 0), (3, 1), (5, 2), (3, 3), (4, 4)] {
            agenda.push(Nanos::new(at), Due::Worker(worker));
        }
        let mut order = Vec::new();
        while let Some((at, Due::Worker(worker))) = agenda.pop() {
            order.push((at.get(), worker));
        }
        assert_eq!(order, [(3, 1), (3, 3), (4, 4), (5, 0), (5, 2)]);
    }
}
