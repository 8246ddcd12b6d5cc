//! Paths of most I/Os: a rate, perhaps another, and a delay.
//!
//! Striped disks are such paths: the disk, the machine's budget, the media. Where storage is not changed, the budget says at
//! once when a token leaves it, so that a token that leaves its disk is on its way to its end in one go. What such a path
//! consists of is found once, and stands side by side here.
//!
//! Invariant: everything happens at the same times and in the same order as step by step.

use fathom_units::Nanos;

use super::Storage;
use super::path::{NONE, Paths, Step};
use super::token::Token;
use super::ways::Ways;
use crate::request::Completed;
use crate::stage::{Stage, Through};

/// A rate at which tokens wait, one that says at once when they leave, and a delay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Lane {
    /// The first rate; [`NONE`]: the path is another.
    first: u32,
    second: u32,
    /// The place of the delay, its law, and the stage whose depth includes it.
    delay: u32,
    law: u32,
    inside: u32,
}

impl Lane {
    const NONE: Self = Self {
        first: NONE,
        second: NONE,
        delay: NONE,
        law: NONE,
        inside: NONE,
    };

    /// For each place in the paths, the lane that begins there.
    pub fn all(paths: &Paths, stages: &[Stage]) -> Vec<Self> {
        let ahead = |stage: u32| stages[stage as usize].looks_ahead();
        let lane = |delay: usize, steps: [Step; 3]| match steps {
            [
                Step::Rate(first),
                Step::Rate(second),
                Step::Delay { law, inside },
            ] if ahead(second) && !ahead(first) && first != second && inside != second => Self {
                first,
                second,
                delay: delay as u32,
                law,
                inside,
            },
            _ => Self::NONE,
        };
        let places = paths.triples().enumerate();
        places
            .map(|(place, steps)| lane(place + 2, steps))
            .collect()
    }
}

impl Storage {
    /// The head of a stage leaves; mostly it is in a lane.
    #[expect(
        clippy::inline_always,
        reason = "every I/O comes by here, and a call costs as much as the work"
    )]
    #[inline(always)]
    pub(super) fn departs(&mut self, now: Nanos, stage_index: u32, completed: &mut Vec<Completed>) {
        loop {
            let Some(slot) = self.stages[stage_index as usize].head() else {
                return self.release_from_anywhere(now, stage_index, completed);
            };
            let (token, mut ways) = self.ways(slot);
            let lane = ways.ahead.lanes.get(token.path as usize);
            // A path may come to a stage again.
            let begins = token.step == token.path;
            let lane = lane
                .copied()
                .filter(|lane| begins && lane.first == stage_index);
            let Some(lane) = lane else {
                return self.release_from_anywhere(now, stage_index, completed);
            };
            let stage = &mut ways.stages[stage_index as usize];
            let released = stage.release_inside(now);
            let next = stage.next_departure();
            ways.agenda.departs(next, stage_index);
            let Some((waiting, limit)) = released else {
                return;
            };
            token.waited((waiting.since, now), limit);
            ways.goes_to_second(now, (slot, token), lane);
            if next.is_none_or(|at| at > now) {
                return;
            }
        }
    }

    /// A token that has passed the first stage of its path at once goes on; `false`: its path is no lane.
    #[inline(never)]
    pub(super) fn goes_on_in_lane(&mut self, now: Nanos, slot: u32) -> bool {
        let (token, mut ways) = self.ways(slot);
        let lane = ways.ahead.lanes.get(token.path as usize).copied();
        let Some(lane) = lane.filter(|lane| lane.first != NONE) else {
            return false;
        };
        // For no time.
        ways.stages[lane.first as usize].meter.enter(now);
        ways.goes_to_second(now, (slot, token), lane);
        true
    }
}

impl Ways<'_> {
    /// A token, which still counts to the first stage of its lane, comes to the second.
    #[expect(
        clippy::inline_always,
        reason = "every I/O comes by here, and a call costs as much as the work"
    )]
    #[inline(always)]
    fn goes_to_second(&mut self, now: Nanos, (slot, token): (u32, &mut Token), lane: Lane) {
        token.step = lane.delay;
        let second = &mut self.stages[lane.second as usize];
        match second.go_through(now, token.bytes, self.ahead.until) {
            Through::Passed => {
                let time = self.delays[lane.law as usize].at(token.draw);
                self.agenda.ends(now, now.saturating_add(time), slot);
                self.goes_inside(lane, (now, now));
            }
            Through::Leaves(at, limit) => {
                token.waited((now, at), limit);
                let time = self.delays[lane.law as usize].at(token.draw);
                let ends = at.saturating_add(time);
                self.agenda.leaves_and_ends((at, lane.second), ends, slot);
                self.ahead.known = self.ahead.known.max(at);
                self.goes_inside(lane, (now, at));
            }
            Through::Stays(at, limit) => {
                token.waited((now, at), limit);
                token.step -= 1;
                self.agenda.leaves(at, lane.second, slot);
                self.stages[lane.first as usize].meter.leave(now);
            }
        }
    }

    /// A token leaves the first stage of its lane at `from`, and comes into its delay at `to`.
    #[inline]
    fn goes_inside(&mut self, lane: Lane, (from, to): (Nanos, Nanos)) {
        let first = &mut self.stages[lane.first as usize];
        if lane.inside == lane.first {
            first.meter.is_away(from, to);
            return;
        }
        first.meter.leave(from);
        if let Some(inside) = self.stages.get_mut(lane.inside as usize) {
            inside.meter.enter(to);
        }
    }
}
