//! A queue of tokens, first come, first served.
//!
//! Every I/O that waits is put into one and taken out of it. So it is a ring whose size is a power of two: finding a place
//! is an addition and a mask.

/// Tokens that wait, with their bytes.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    /// As many as a power of two, or none.
    ring: Vec<(u32, u32)>,
    /// Number of the first; numbers go round the ring, and round after 2^32.
    first: u32,
    count: u32,
}

impl Queue {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The token that came first, with its bytes.
    #[inline]
    pub fn front(&self) -> Option<(u32, u32)> {
        if self.count == 0 {
            return None;
        }
        self.ring.get(self.place(0)).copied()
    }

    /// Takes the first token out.
    #[inline]
    pub fn pop_front(&mut self) -> Option<(u32, u32)> {
        let front = self.front()?;
        self.first = self.first.wrapping_add(1);
        self.count -= 1;
        Some(front)
    }

    /// A token comes last.
    #[inline]
    pub fn push_back(&mut self, token: u32, bytes: u32) {
        let last = self.place(self.count);
        if (self.count as usize) < self.ring.len()
            && let Some(place) = self.ring.get_mut(last)
        {
            *place = (token, bytes);
        } else {
            self.grow();
            let last = self.place(self.count);
            self.ring[last] = (token, bytes);
        }
        self.count += 1;
    }

    /// Takes out the tokens that `goes` says, wherever they stand; gives their bytes.
    #[cold]
    pub fn take_out(&mut self, goes: impl Fn(u32) -> bool) -> Vec<u32> {
        let all = (0..self.count).map(|ahead| self.ring[self.place(ahead)]);
        let (out, kept): (Vec<_>, Vec<_>) = all.partition(|(token, _)| goes(*token));
        (self.first, self.count) = (0, kept.len() as u32);
        self.ring[..kept.len()].copy_from_slice(&kept);
        out.into_iter().map(|(_, bytes)| bytes).collect()
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
        self.ring.resize((2 * old).max(4), (0, 0));
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
                    let gone = plain.iter().filter(|(token, _)| token % 7 == 0);
                    assert_eq!(out, gone.map(|(_, bytes)| *bytes).collect::<Vec<_>>());
                    plain.retain(|(token, _)| token % 7 != 0);
                }
                if mix(seed ^ mix(u64::from(step))) % 8 < grows_of_8 {
                    queue.push_back(step, step * 2);
                    plain.push_back((step, step * 2));
                } else {
                    assert_eq!(queue.pop_front(), plain.pop_front());
                }
            }
        }
    }
}
