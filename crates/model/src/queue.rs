//! A queue of tokens, first come, first served.
//!
//! Every I/O that waits is put into one and taken out of it. So it is a ring whose size is a power of two: finding a place
//! is an addition and a mask.

use fathom_units::Nanos;

/// A token that waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Waiting {
    pub token: u32,
    pub bytes: u32,
    /// When it came.
    pub since: Nanos,
}

/// Tokens that wait.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    /// As many as a power of two, or none.
    ring: Vec<Waiting>,
    /// Number of the first; numbers go round the ring, and round after 2^32.
    first: u32,
    count: u32,
}

impl Queue {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The token that came first.
    #[inline]
    pub fn front(&self) -> Option<Waiting> {
        if self.count == 0 {
            return None;
        }
        self.ring.get(self.place(0)).copied()
    }

    /// Takes the first token out.
    #[inline]
    pub fn pop_front(&mut self) -> Option<Waiting> {
        let front = self.front()?;
        self.first = self.first.wrapping_add(1);
        self.count -= 1;
        Some(front)
    }

    /// A token comes last.
    #[expect(
        clippy::inline_always,
        reason = "every I/O comes by here, and a call costs as much as the work"
    )]
    #[inline(always)]
    pub fn push_back(&mut self, waiting: Waiting) {
        let last = self.place(self.count);
        if (self.count as usize) < self.ring.len()
            && let Some(place) = self.ring.get_mut(last)
        {
            *place = waiting;
        } else {
            self.grow();
            let last = self.place(self.count);
            self.ring[last] = waiting;
        }
        self.count += 1;
    }

    /// Takes out the tokens that `goes` says, wherever they stand; gives their bytes.
    #[cold]
    pub fn take_out(&mut self, goes: impl Fn(u32) -> bool) -> Vec<u32> {
        let all = (0..self.count).map(|ahead| self.ring[self.place(ahead)]);
        let (out, kept): (Vec<_>, Vec<_>) = all.partition(|waiting| goes(waiting.token));
        (self.first, self.count) = (0, kept.len() as u32);
        self.ring[..kept.len()].copy_from_slice(&kept);
        out.into_iter().map(|waiting| waiting.bytes).collect()
    }

    /// Where the token lies that `ahead` others stand before.
    #[inline]
    fn place(&self, ahead: u32) -> usize {
        self.first.wrapping_add(ahead) as usize & self.ring.len().wrapping_sub(1)
    }

    #[cold]
    fn grow(&mut self) {
        let old = self.ring.len();
        let start = self.place(0).min(old);
        self.ring.rotate_left(start);
        self.first = 0;
        self.ring.resize((2 * old).max(4), Waiting::default());
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;
    use crate::random::mix;

    #[test]
    fn it_is_a_queue_at_every_length() {
        for (seed, grows_of_8) in [(1, 7), (2, 5), (3, 4)] {
            let mut queue = Queue {
                first: u32::MAX - 100,
                ..Queue::default()
            };
            let mut plain = VecDeque::new();
            for step in 0..5_000u32 {
                assert_eq!(queue.front(), plain.front().copied());
                assert_eq!(queue.is_empty(), plain.is_empty());
                if step % 100 == 99 {
                    let out = queue.take_out(|token| token % 7 == 0);
                    let gone = plain
                        .iter()
                        .filter(|waiting: &&Waiting| waiting.token.is_multiple_of(7));
                    assert_eq!(out, gone.map(|waiting| waiting.bytes).collect::<Vec<_>>());
                    plain.retain(|waiting| waiting.token % 7 != 0);
                }
                if mix(seed ^ mix(u64::from(step))) % 8 < grows_of_8 {
                    let waiting = Waiting {
                        token: step,
                        bytes: step * 2,
                        since: Nanos::new(u64::from(step) * 3),
                    };
                    queue.push_back(waiting);
                    plain.push_back(waiting);
                } else {
                    assert_eq!(queue.pop_front(), plain.pop_front());
                }
            }
        }
    }
}
