//! When the heads of stages leave: a tournament (Knuth: "The Art of Computer Programming", volume 3, 5.4.1).
//!
//! Most stages that hold anything up always have a departure to come, and each departure is followed by the stage's next.
//! So a stage's time is changed in place, and the games from its leaf to the root are played again: no game is a branch,
//! and the first of all is always known. Four play at a time: two games side by side and a third between the winners cost
//! little more than one.
//!
//! Invariant: of departures at one time that of the first stage wins.

use std::hint::select_unpredictable;

/// A time that never comes. The end of time itself is left free, so that one can be added.
pub(super) const NEVER: u64 = u64::MAX - 1;

/// A stage and when its head leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Departure {
    /// [`NEVER`]: nothing leaves.
    pub at: u64,
    pub stage: u32,
}

/// Those who play each other.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct Four {
    at: [u64; 4],
    stage: [u32; 4],
}

impl Four {
    const NOBODY: Self = Self {
        at: [NEVER; 4],
        stage: [0; 4],
    };

    /// The winner of two, the first of which comes first where they are alike.
    #[inline]
    fn game(first: Departure, second: Departure) -> Departure {
        let lost = second.at < first.at;
        Departure {
            at: select_unpredictable(lost, second.at, first.at),
            stage: select_unpredictable(lost, second.stage, first.stage),
        }
    }

    #[inline]
    fn winner(&self) -> Departure {
        let player = |place: usize| Departure {
            at: self.at[place],
            stage: self.stage[place],
        };
        let low = Self::game(player(0), player(1));
        let high = Self::game(player(2), player(3));
        Self::game(low, high)
    }
}

/// The departures of all stages.
#[derive(Debug)]
pub(super) struct Departures {
    /// The first of all.
    first: Departure,
    /// The winner of number `n` plays in number `(n - 1) / 4`, at place `(n - 1) % 4`; the last is number 0.
    fours: Box<[Four]>,
    /// Where each stage plays: at place `n % 4` of number `n / 4`; [`NOWHERE`] if it does not.
    places: Box<[u32]>,
}

/// Place of a stage from which nothing ever left: most work meets few of the stages that there are, and these alone play.
/// No four has that number.
const NOWHERE: u32 = u32::MAX;

impl Departures {
    /// Of so many stages, from none of which anything leaves.
    pub fn new(stages: usize) -> Self {
        Self {
            first: Departure {
                at: NEVER,
                stage: 0,
            },
            fours: Box::new([Four::NOBODY]),
            places: vec![NOWHERE; stages].into_boxed_slice(),
        }
    }

    /// The first of all.
    #[inline]
    pub fn first(&self) -> Departure {
        self.first
    }

    /// The head of a stage leaves at `at`, whatever was said before.
    #[expect(
        clippy::inline_always,
        reason = "every I/O comes by here, and a call costs as much as the work"
    )]
    #[inline(always)]
    pub fn set(&mut self, stage: u32, at: u64) {
        let departure = Departure {
            at: at.min(NEVER),
            stage,
        };
        let place = self.places[stage as usize];
        if !self.play(place, departure) && at < NEVER {
            self.enter(departure);
        }
    }

    /// Plays all games from a place to the root anew; `false`: nobody plays there.
    #[expect(
        clippy::inline_always,
        reason = "every I/O comes by here, and a call costs as much as the work"
    )]
    #[inline(always)]
    fn play(&mut self, place: u32, departure: Departure) -> bool {
        let (mut number, mut place) = (place / 4, place % 4);
        let mut winner = departure;
        while let Some(four) = self.fours.get_mut(number as usize) {
            four.at[place as usize] = winner.at;
            four.stage[place as usize] = winner.stage;
            winner = four.winner();
            if number == 0 {
                self.first = winner;
                return true;
            }
            (number, place) = ((number - 1) / 4, (number - 1) % 4);
        }
        false
    }

    /// When the head of the stage at a place leaves.
    fn at(&self, place: u32) -> u64 {
        self.fours[place as usize / 4].at[place as usize % 4]
    }

    /// A stage plays from now on. All stand in the order of their stages, which decides between times that are alike.
    #[cold]
    #[inline(never)]
    fn enter(&mut self, departure: Departure) {
        let mut playing = Vec::new();
        for (stage, place) in (0..).zip(&self.places) {
            if *place != NOWHERE {
                let at = self.at(*place);
                playing.push(Departure { at, stage });
            } else if stage == departure.stage {
                playing.push(departure);
            }
        }
        let (mut leaves, mut width) = (0, 1);
        while width * 4 < playing.len() {
            leaves += width;
            width *= 4;
        }
        self.fours = vec![Four::NOBODY; leaves + width].into_boxed_slice();
        for (place, departure) in (leaves as u32 * 4..).zip(playing) {
            self.places[departure.stage as usize] = place;
            self.play(place, departure);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::mix;

    #[test]
    fn the_first_is_the_earliest_of_the_first_stage() {
        for stages in [0, 1, 2, 3, 8, 13, 200] {
            let mut departures = Departures::new(stages);
            let mut plain = vec![NEVER; stages];
            for step in 0..2_000 {
                let first = departures.first();
                let expected = (0..stages as u32).min_by_key(|stage| plain[*stage as usize]);
                let at = expected.map_or(NEVER, |stage| plain[stage as usize]);
                assert_eq!(first.at, at, "{stages} stages, step {step}");
                if at != NEVER {
                    assert_eq!(Some(first.stage), expected, "{stages} stages, step {step}");
                }
                let draw = mix(step);
                if stages > 0 {
                    let stage = (draw % stages as u64) as usize;
                    // Few different times, so that many are alike.
                    plain[stage] = match draw >> 40 & 7 {
                        0 => u64::MAX,
                        time => step / 100 + time,
                    };
                    departures.set(stage as u32, plain[stage]);
                    plain[stage] = plain[stage].min(NEVER);
                }
            }
        }
    }
}
