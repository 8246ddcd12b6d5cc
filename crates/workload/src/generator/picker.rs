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
///
/// No more than `at_once` targets are begun and not finished: under round robin, the list holds these alone, and one that is
/// finished makes way for the next. At random, they are the first `begun` of the living.
#[derive(Debug)]
pub(super) struct Picker {
    choice: FileChoice,
    targets: u32,
    at_once: usize,
    /// Targets that have something left, in the first `living` places.
    list: Vec<u32>,
    /// Under round robin: the target that is begun next.
    next: u32,
    living: usize,
    cursor: usize,
    /// Under round robin: those of this turn that go on into the next.
    kept: usize,
    /// At random: those of the living that were picked before.
    begun: usize,
    draws: Xoshiro256,
}

impl Picker {
    pub(super) fn new(choice: FileChoice, targets: u32, key: StreamKey) -> Self {
        let mut picker = Self {
            choice,
            targets,
            at_once: targets as usize,
            list: Vec::new(),
            next: 0,
            living: 0,
            cursor: 0,
            kept: 0,
            begun: 0,
            draws: Xoshiro256::keyed(key, Purpose::Target),
        };
        picker.restart();
        picker
    }

    /// The same, with no more than this many targets begun and not finished; all, where nothing is given.
    pub(super) fn at_once(mut self, most: Option<u32>) -> Self {
        let most = most.map_or(self.targets, |most| most.clamp(1, self.targets.max(1)));
        self.at_once = most as usize;
        self.restart();
        self
    }

    pub(super) fn choice(&self) -> FileChoice {
        self.choice
    }

    /// Starts a round with all targets.
    pub(super) fn restart(&mut self) {
        let listed = match self.choice {
            FileChoice::RoundRobin => self.at_once as u32,
            FileChoice::Random | FileChoice::Sequential => self.targets,
        };
        self.list.clear();
        self.list.extend(0..listed);
        self.next = listed;
        self.living = self.list.len();
        self.cursor = 0;
        self.kept = 0;
        self.begun = 0;
    }

    /// The target of the next I/O, or `None` when the round is over. [`Self::advance`] must follow before the next call.
    #[inline]
    pub(super) fn pick(&mut self) -> Option<usize> {
        if self.living == 0 {
            return None;
        }
        if self.choice == FileChoice::Random && self.living > 1 {
            self.cursor = self.draw();
        }
        Some(self.list[self.cursor] as usize)
    }

    /// A place in the list: of one that is begun, where no more may be.
    #[inline]
    fn draw(&mut self) -> usize {
        if self.begun >= self.at_once {
            return self.draws.below(self.begun as u64) as usize;
        }
        let drawn = self.draws.below(self.living as u64) as usize;
        if self.at_once >= self.living || drawn < self.begun {
            return drawn;
        }
        let place = self.begun;
        self.list.swap(drawn, place);
        self.begun += 1;
        place
    }

    /// Says what the picked target has left.
    #[inline]
    pub(super) fn advance(&mut self, left: Left) {
        match (self.choice, left) {
            (FileChoice::RoundRobin, left) => self.turn(left),
            (_, Left::More) => {}
            (FileChoice::Random, Left::Nothing) => {
                if self.cursor < self.begun {
                    self.begun -= 1;
                    self.list.swap(self.cursor, self.begun);
                    self.cursor = self.begun;
                }
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
        } else if self.next < self.targets {
            self.list.push(self.next);
            self.next += 1;
            self.living += 1;
        }
        self.cursor += 1;
        if self.cursor == self.living {
            self.list.truncate(self.kept);
            self.living = self.kept;
            self.cursor = 0;
            self.kept = 0;
        }
    }
}
