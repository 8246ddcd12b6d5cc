//! Choice of the target of each I/O.

use super::StreamKey;
use super::rng::{Purpose, Xoshiro256};
use crate::FileChoice;

/// What a target has left to give in the present round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Left {
    More,
    Nothing,
}

/// Picks targets until each has nothing left; then the round is over.
///
/// Finished targets leave the list in constant time: under round robin the living are moved together while the list is
/// gone through, so that a set of a hundred thousand files costs no more an I/O than two.
#[derive(Debug)]
pub(super) struct Picker {
    choice: FileChoice,
    /// Targets that have something left, in the first `living` places.
    list: Vec<u32>,
    living: usize,
    cursor: usize,
    /// Under round robin: those of this turn that go on into the next.
    kept: usize,
    draws: Xoshiro256,
}

impl Picker {
    pub(super) fn new(choice: FileChoice, targets: u32, key: StreamKey) -> Self {
        Self {
            choice,
            list: (0..targets).collect(),
            living: targets as usize,
            cursor: 0,
            kept: 0,
            draws: Xoshiro256::keyed(key, Purpose::Target),
        }
    }

    pub(super) fn choice(&self) -> FileChoice {
        self.choice
    }

    /// Starts a round with all targets.
    pub(super) fn restart(&mut self) {
        for (index, target) in (0..).zip(self.list.iter_mut()) {
            *target = index;
        }
        self.living = self.list.len();
        self.cursor = 0;
        self.kept = 0;
    }

    /// The target of the next I/O, or `None` when the round is over. [`Self::advance`] must follow before the next call.
    #[inline]
    pub(super) fn pick(&mut self) -> Option<usize> {
        if self.living == 0 {
            return None;
        }
        if self.choice == FileChoice::Random && self.living > 1 {
            self.cursor = self.draws.below(self.living as u64) as usize;
        }
        Some(self.list[self.cursor] as usize)
    }

    /// Says what the picked target has left.
    #[inline]
    pub(super) fn advance(&mut self, left: Left) {
        match (self.choice, left) {
            (FileChoice::RoundRobin, left) => self.turn(left),
            (_, Left::More) => {}
            (FileChoice::Random, Left::Nothing) => {
                self.living -= 1;
                self.list.swap(self.cursor, self.living);
                self.cursor = 0;
            }
            (FileChoice::Sequential, Left::Nothing) => {
                self.cursor += 1;
                if self.cursor == self.living {
                    self.living = 0;
                }
            }
        }
    }

    #[inline]
    fn turn(&mut self, left: Left) {
        if left == Left::More {
            self.list[self.kept] = self.list[self.cursor];
            self.kept += 1;
        }
        self.cursor += 1;
        if self.cursor == self.living {
            self.living = self.kept;
            self.cursor = 0;
            self.kept = 0;
        }
    }
}
