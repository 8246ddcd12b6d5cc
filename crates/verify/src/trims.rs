//! Blocks that are discarded between their write and their check.
//!
//! Whether a write is chosen follows from its number, so that the check knows it without a list.

use std::collections::VecDeque;

use fathom_workload::VerifyTrims;
use fathom_workload::generator::Io;

use crate::contents::mix;

/// Sets this choice apart from other uses of the same numbers.
const PURPOSE: u64 = 0x7472_696d_7472_696d;

/// A write that is to be discarded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Chosen {
    pub(crate) number: u64,
    pub(crate) io: Io,
    pub(crate) in_flight: bool,
}

/// The chosen writes that were not discarded yet.
#[derive(Debug)]
pub(crate) struct Trims {
    asked: VerifyTrims,
    base: u64,
    waiting: VecDeque<Chosen>,
    batch_left: u32,
    writes_since: u32,
}

impl Trims {
    pub(crate) fn new(asked: VerifyTrims, base: u64) -> Self {
        Self {
            asked,
            base,
            waiting: VecDeque::new(),
            batch_left: 0,
            writes_since: 0,
        }
    }

    /// Whether the write of this number is discarded.
    pub(crate) fn chooses(&self, number: u64) -> bool {
        let draw = mix(mix(self.base ^ PURPOSE).wrapping_add(number)) % 10_000;
        draw < u64::from(self.asked.share.basis_points())
    }

    /// Takes note of a write.
    pub(crate) fn written(&mut self, number: u64, io: Io) {
        self.writes_since += 1;
        if self.chooses(number) {
            self.waiting.push_back(Chosen {
                number,
                io,
                in_flight: true,
            });
        }
    }

    /// Takes note that a write has completed.
    pub(crate) fn completed(&mut self, number: u64) {
        let found = self.waiting.binary_search_by_key(&number, |it| it.number);
        if let Some(chosen) = found.ok().and_then(|index| self.waiting.get_mut(index)) {
            chosen.in_flight = false;
        }
    }

    /// Forgets a write that failed, was overwritten or is checked already.
    pub(crate) fn forget(&mut self, number: u64) {
        if let Ok(index) = self.waiting.binary_search_by_key(&number, |it| it.number) {
            self.waiting.remove(index);
        }
    }

    /// The write to discard before the next write, if its time has come.
    pub(crate) fn due(&mut self) -> Option<Chosen> {
        if self.batch_left == 0 {
            if self.writes_since < self.asked.writes {
                return None;
            }
            self.writes_since = 0;
            // What was chosen but does not fit into batches is discarded with the next, so that the list stays short.
            let rest = self
                .waiting
                .len()
                .saturating_sub(self.asked.writes as usize);
            self.batch_left = self
                .asked
                .batch
                .max(u32::try_from(rest).unwrap_or(u32::MAX));
        }
        let chosen = self.take();
        self.batch_left = if chosen.is_some() {
            self.batch_left - 1
        } else {
            0
        };
        chosen
    }

    /// The next of them that is complete.
    pub(crate) fn take(&mut self) -> Option<Chosen> {
        if self.waiting.front()?.in_flight {
            return None;
        }
        self.waiting.pop_front()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_units::Percent;
    use fathom_workload::{Direction, TrimmedData};

    fn trims(share: u32, writes: u32, batch: u32) -> Trims {
        let share = Percent::whole(share).unwrap();
        let zero = TrimmedData::Zeroes;
        let asked = VerifyTrims {
            share,
            writes,
            batch,
            zero,
        };
        Trims::new(asked, 9)
    }

    fn io() -> Io {
        Io {
            index: 0,
            direction: Direction::Write,
            target: 0,
            offset: 0,
            length: 4096,
        }
    }

    #[test]
    fn the_share_is_chosen() {
        let chosen = |share| (0..10_000).filter(move |number| trims(share, 1, 1).chooses(*number));
        assert_eq!(chosen(0).count(), 0);
        assert_eq!(chosen(100).count(), 10_000);
        assert!(chosen(50).count().abs_diff(5000) < 250);
    }

    #[test]
    fn discards_come_in_batches_and_never_before_their_write_completed() {
        let mut trims = trims(100, 4, 2);
        for number in 0..4 {
            assert_eq!(trims.due(), None);
            trims.written(number, io());
        }
        assert_eq!(trims.due(), None, "nothing has completed");
        for number in 4..8 {
            trims.written(number, io());
        }
        (0..8).for_each(|number| trims.completed(number));
        // Eight wait where four are asked for, so four go.
        let numbers: Vec<_> = std::iter::from_fn(|| trims.due())
            .map(|it| it.number)
            .collect();
        assert_eq!(numbers, [0, 1, 2, 3]);
        trims.forget(4);
        assert_eq!(trims.take().map(|it| it.number), Some(5));
        assert!(!trims.is_empty());
    }
}
