//! When the heads of stages leave: a tournament (Knuth: "The Art of Computer Programming", volume 3, 5.4.1).
//!
//! Most stages that hold anything up always have a departure to come, and each departure is followed by the stage's next.
//! So a stage's time is changed in place, and the games from its leaf to the root are played again: no game is a branch,
//! and the first of all is always known.
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

/// The departures of all stages.
#[derive(Debug)]
pub(super) struct Departures {
    /// The first of all.
    first: Departure,
    /// Those who play each other. The winner of pair `n` plays in pair `n / 2`, on the side that `n` is odd or even; the
    /// last game is that of pair 1.
    pairs: Box<[[Departure; 2]]>,
    /// The number that the first stage would have among pairs, were it one.
    leaves: usize,
}

impl Departures {
    /// Of so many stages, from none of which anything leaves.
    pub fn new(stages: usize) -> Self {
        let leaves = stages.next_power_of_two();
        let nobody = Departure {
            at: NEVER,
            stage: 0,
        };
        let mut departures = Self {
            first: nobody,
            pairs: vec![[nobody; 2]; leaves].into_boxed_slice(),
            leaves,
        };
        for stage in 0..leaves {
            departures.set(stage as u32, NEVER);
        }
        departures
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
        let mut place = self.leaves + stage as usize;
        let mut winner = Departure {
            at: at.min(NEVER),
            stage,
        };
        while place > 1 {
            let side = place & 1;
            place /= 2;
            let pair = &mut self.pairs[place];
            pair[side] = winner;
            let other = pair[side ^ 1];
            // The left of two that are alike comes first.
            let lost = other.at < winner.at + side as u64;
            winner = Departure {
                at: select_unpredictable(lost, other.at, winner.at),
                stage: select_unpredictable(lost, other.stage, winner.stage),
            };
        }
        self.first = winner;
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
