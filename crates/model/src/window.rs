//! A window: at most so many tokens, and so many bytes, between a step of their path and their completion.
//!
//! Slots of an NFS session, the TCP window of a connection and SMB credits are windows: what holds a token back is not a rate
//! but what is still under way. Tokens enter in the order they came. A token of more bytes than the window has alone passes
//! when nothing else is inside, as a sender with an empty window always may send.
//!
//! Invariants: tokens enter in order; what is inside never exceeds the slots, nor the bytes but for a single large token.

use fathom_units::Nanos;

use crate::limit::Limit;
use crate::queue::{Queue, Waiting};
use crate::statistics::Meter;

/// What a window lets in at once; an absent bound is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Bounds {
    /// Most tokens.
    pub slots: Option<u32>,
    /// Most bytes.
    pub bytes: Option<u64>,
}

/// A queue, and what is inside.
#[derive(Debug)]
pub(crate) struct Window {
    bounds: Bounds,
    tokens: u32,
    bytes: u64,
    /// The bound that last kept the head out.
    held_by: Limit,
    /// Tokens that wait.
    queue: Queue,
    /// Counts what entered, and who waits or is inside.
    pub meter: Meter,
}

impl Window {
    pub fn new(bounds: Bounds) -> Self {
        let slots = bounds.slots.map(|slots| slots.max(1));
        Self {
            bounds: Bounds { slots, ..bounds },
            tokens: 0,
            bytes: 0,
            held_by: Limit::ConnectionSlots,
            queue: Queue::default(),
            meter: Meter::default(),
        }
    }

    /// A token comes; whether it is inside at once.
    #[inline]
    pub fn enter(&mut self, now: Nanos, token: u32, bytes: u32) -> bool {
        self.meter.count(u64::from(bytes));
        self.meter.enter(now);
        if self.queue.is_empty() && self.open_to(bytes) {
            self.admit(bytes);
            return true;
        }
        self.queue.push_back(Waiting {
            token,
            bytes,
            since: now,
        });
        false
    }

    /// A token that was inside completed.
    #[inline]
    pub fn leave(&mut self, now: Nanos, bytes: u32) {
        self.meter.leave(now);
        self.tokens -= 1;
        self.bytes -= u64::from(bytes);
    }

    /// The head enters if it may: the token, and the bound that held it.
    #[inline]
    pub fn admit_next(&mut self) -> Option<(Waiting, Limit)> {
        let head = self.queue.front()?;
        let held_by = self.held_by;
        if !self.open_to(head.bytes) {
            return None;
        }
        self.queue.pop_front();
        self.admit(head.bytes);
        Some((head, held_by))
    }

    /// Takes out the tokens that wait and that `goes` says.
    pub fn take_out(&mut self, now: Nanos, goes: impl Fn(u32) -> bool) {
        for _ in self.queue.take_out(goes) {
            self.meter.leave(now);
        }
    }

    /// Whether a token of `bytes` may enter; if not, notes which bound keeps it out.
    #[inline]
    fn open_to(&mut self, bytes: u32) -> bool {
        if self.bounds.slots.is_some_and(|most| self.tokens >= most) {
            self.held_by = Limit::ConnectionSlots;
            return false;
        }
        let after = self.bytes + u64::from(bytes);
        let full = self.tokens > 0 && self.bounds.bytes.is_some_and(|most| after > most);
        if full {
            self.held_by = Limit::ConnectionBytes;
        }
        !full
    }

    #[inline]
    fn admit(&mut self, bytes: u32) {
        self.tokens += 1;
        self.bytes += u64::from(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Nanos = Nanos::ZERO;

    /// The token that enters next, and what held it.
    fn next(window: &mut Window) -> Option<(u32, Limit)> {
        let admitted = window.admit_next();
        admitted.map(|(waiting, limit)| (waiting.token, limit))
    }

    #[test]
    fn slots_and_bytes_hold_tokens_back_in_order() {
        let bounds = Bounds {
            slots: Some(2),
            bytes: Some(100),
        };
        let mut window = Window::new(bounds);
        assert!(window.enter(NOW, 1, 60));
        assert!(!window.enter(NOW, 2, 60));
        // It would fit, but those before it go first.
        assert!(!window.enter(NOW, 3, 10));
        assert_eq!(window.admit_next(), None);
        window.leave(NOW, 60);
        assert_eq!(next(&mut window), Some((2, Limit::ConnectionBytes)));
        assert_eq!(next(&mut window), Some((3, Limit::ConnectionBytes)));
        assert!(!window.enter(NOW, 4, 1));
        window.leave(NOW, 60);
        assert_eq!(next(&mut window), Some((4, Limit::ConnectionSlots)));
    }

    #[test]
    fn a_token_larger_than_the_window_passes_alone() {
        let mut window = Window::new(Bounds {
            slots: None,
            bytes: Some(100),
        });
        assert!(window.enter(NOW, 1, 500));
        assert!(!window.enter(NOW, 2, 500));
        window.leave(NOW, 500);
        assert_eq!(next(&mut window), Some((2, Limit::ConnectionBytes)));
    }
}
