//! The next departure of each stage, as a tournament: every node knows the earlier of the two below it.
//!
//! A stage has one departure to wait for at most, and there are few stages, so that replacing its time costs as many
//! comparisons as the tournament has rounds.
//!
//! Invariant: the winner is the earliest departure; of several at one time that of the stage with the lowest number.

use fathom_units::Nanos;

/// Departures of all stages.
#[derive(Debug, Default)]
pub(super) struct Wakes {
    /// A tree in an array: node n stands above 2n and 2n + 1; leaves begin at `leaves`.
    nodes: Vec<Node>,
    leaves: usize,
}

/// The winner of a part of the stages.
#[derive(Debug, Clone, Copy)]
struct Node {
    at: u64,
    stage: u64,
}

/// The time of a stage that waits for nothing.
const NEVER: u64 = u64::MAX;

impl Wakes {
    /// Nothing to wait for at `stages` stages.
    pub fn new(stages: usize) -> Self {
        let leaves = stages.next_power_of_two().max(1);
        let nobody = Node {
            at: NEVER,
            stage: 0,
        };
        Self {
            nodes: vec![nobody; 2 * leaves],
            leaves,
        }
    }

    /// The earliest departure of all, in ns, and its stage; `u64::MAX`: there is none.
    #[inline]
    pub fn first(&self) -> (u64, u32) {
        let winner = self.nodes[1];
        (winner.at, winner.stage as u32)
    }

    /// The head of a stage leaves at `at`.
    #[inline]
    pub fn set(&mut self, stage: u32, at: Nanos) {
        self.put(stage, at.get());
    }

    /// Nobody waits at a stage.
    #[inline]
    pub fn clear(&mut self, stage: u32) {
        self.put(stage, NEVER);
    }

    fn put(&mut self, stage: u32, at: u64) {
        let mut node = self.leaves + stage as usize;
        let stage = u64::from(stage);
        let mut winner = Node { at, stage };
        self.nodes[node] = winner;
        while node > 1 {
            let other = self.nodes[node ^ 1];
            // Of equal times the left one wins, whose stages have lower numbers. Who wins cannot be predicted: no branch.
            let right = node as u64 & 1;
            let lose = u64::from(other.at < winner.at) | (u64::from(other.at == winner.at) & right);
            let mask = lose.wrapping_neg();
            winner.at ^= (winner.at ^ other.at) & mask;
            winner.stage ^= (winner.stage ^ other.stage) & mask;
            node /= 2;
            self.nodes[node] = winner;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::mix;

    #[test]
    fn the_winner_is_the_earliest_and_of_equals_the_lowest() {
        for stages in [1, 2, 3, 13, 64, 100] {
            let mut wakes = Wakes::new(stages);
            let mut times = vec![NEVER; stages];
            assert_eq!(wakes.first().0, NEVER);
            for step in 0..2_000 {
                let draw = mix(step ^ (stages as u64) << 32);
                let stage = (draw % stages as u64) as usize;
                times[stage] = if (draw >> 30).is_multiple_of(4) {
                    NEVER
                } else {
                    draw >> 58
                };
                if times[stage] == NEVER {
                    wakes.clear(stage as u32);
                } else {
                    wakes.set(stage as u32, Nanos::new(times[stage]));
                }
                let earliest = times.iter().copied().min().unwrap();
                let lowest = times.iter().position(|time| *time == earliest);
                assert_eq!(wakes.first().0, earliest);
                if earliest != NEVER {
                    assert_eq!(Some(wakes.first().1 as usize), lowest);
                }
            }
        }
    }
}
