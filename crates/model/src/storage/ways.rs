//! How tokens go on: from step to step of their paths, out of stages and delays.
//!
//! Invariant: a token stands at one step, and what happens to it there happens at the time of the event that brings it on.

use fathom_units::Nanos;

use super::Storage;
use super::agenda::Agenda;
use super::ahead::Ahead;
use super::path::{DelayLaw, NONE, Paths, Step};
use super::token::Token;
use crate::request::Completed;
use crate::stage::{Entered, Stage};
use crate::window::Window;

/// What tokens pass.
pub(super) struct Ways<'s> {
    pub paths: &'s Paths,
    pub stages: &'s mut [Stage],
    pub windows: &'s mut [Window],
    pub delays: &'s [DelayLaw],
    pub agenda: &'s mut Agenda,
    pub ahead: &'s mut Ahead,
}

impl Ways<'_> {
    /// A token comes to its present step at `now`, and goes on as far as it gets. Where that is the end of its path, gives
    /// whether some step was a window.
    #[expect(
        clippy::inline_always,
        reason = "every I/O comes by here, and a call costs as much as the work"
    )]
    #[inline(always)]
    fn pass(&mut self, now: Nanos, slot: u32, token: &mut Token) -> Option<bool> {
        let bytes = token.bytes;
        loop {
            match self.paths.step(token.step) {
                step @ (Step::Rate(_) | Step::File) => {
                    let stage = match step {
                        Step::Rate(stage) => stage,
                        _ => token.file,
                    };
                    if stage != NONE {
                        match self.stages[stage as usize].enter(now, slot, bytes) {
                            Entered::Passed => {}
                            Entered::Queued => return None,
                            Entered::Waits(at) => {
                                self.agenda.departs(Some(at), stage);
                                return None;
                            }
                            Entered::Leaves(at, limit) => {
                                self.leaves(now, (slot, token), stage, (at, limit));
                                return None;
                            }
                        }
                    }
                }
                Step::Window(window) => {
                    if !self.windows[window as usize].enter(now, slot, bytes) {
                        return None;
                    }
                }
                Step::Delay { law, inside } => {
                    if let Some(stage) = self.stages.get_mut(inside as usize) {
                        stage.meter.enter(now);
                    }
                    let time = self.delays[law as usize].at(token.draw);
                    self.agenda.ends(now, now.saturating_add(time), slot);
                    return None;
                }
                Step::End { windows } => return Some(windows),
            }
            token.step += 1;
        }
    }
}

impl Storage {
    /// Moves tokens on that others have made way for.
    pub(super) fn settle(&mut self, now: Nanos, completed: &mut Vec<Completed>) {
        while let Some(slot) = self.ready.pop_front() {
            self.forward_from_anywhere(now, slot, completed);
        }
    }

    /// Everything leaves a stage that its limits let go at `now`.
    #[expect(
        clippy::inline_always,
        reason = "every I/O comes by here, and a call costs as much as the work"
    )]
    #[inline(always)]
    pub(super) fn release(&mut self, now: Nanos, stage_index: u32, completed: &mut Vec<Completed>) {
        loop {
            let stage = &mut self.stages[stage_index as usize];
            let released = stage.release(now);
            // Tokens that what follows starts find the next departure in place.
            let next = stage.next_departure();
            self.agenda.departs(next, stage_index);
            let Some((waiting, limit)) = released else {
                return;
            };
            let slot = waiting.token;
            let (token, mut ways) = self.ways(slot);
            token.step += 1;
            token.waited((waiting.since, now), limit);
            if let Some(windows) = ways.pass(now, slot, token) {
                self.finish(now, slot, windows, completed);
            }
            if next.is_none_or(|at| at > now) {
                return;
            }
        }
    }

    /// [`Self::release`] for where it is not on the way of most tokens.
    #[inline(never)]
    pub(super) fn release_from_anywhere(
        &mut self,
        now: Nanos,
        stage: u32,
        completed: &mut Vec<Completed>,
    ) {
        self.release(now, stage, completed);
    }

    /// Moves a token on from its present step as far as it gets at `now`.
    #[expect(
        clippy::inline_always,
        reason = "every I/O comes by here, and a call costs as much as the work"
    )]
    #[inline(always)]
    pub(super) fn forward(&mut self, now: Nanos, slot: u32, completed: &mut Vec<Completed>) {
        let (token, mut ways) = self.ways(slot);
        if let Some(windows) = ways.pass(now, slot, token) {
            self.finish(now, slot, windows, completed);
        }
    }

    /// A token and what it passes.
    #[inline]
    pub(super) fn ways(&mut self, slot: u32) -> (&mut Token, Ways<'_>) {
        let ways = Ways {
            paths: &self.paths,
            stages: &mut self.stages,
            windows: &mut self.windows,
            delays: &self.delays,
            agenda: &mut self.agenda,
            ahead: &mut self.ahead,
        };
        (self.tokens.get_mut(slot), ways)
    }

    /// [`Self::forward`] for where it is not on the way of most tokens.
    #[inline(never)]
    pub(super) fn forward_from_anywhere(
        &mut self,
        now: Nanos,
        slot: u32,
        completed: &mut Vec<Completed>,
    ) {
        self.forward(now, slot, completed);
    }

    /// A token's delay is over, or it leaves a stage at the time that it was told.
    #[expect(
        clippy::inline_always,
        reason = "every I/O comes by here, and a call costs as much as the work"
    )]
    #[inline(always)]
    pub(super) fn go_on(&mut self, now: Nanos, slot: u32, completed: &mut Vec<Completed>) {
        let (token, mut ways) = self.ways(slot);
        let step = ways.paths.step(token.step);
        token.step += 1;
        match step {
            Step::Delay { inside, .. } => {
                if let Some(stage) = ways.stages.get_mut(inside as usize) {
                    stage.meter.leave(now);
                }
                if let Step::End { windows } = ways.paths.step(token.step) {
                    self.finish(now, slot, windows, completed);
                } else {
                    self.forward_from_anywhere(now, slot, completed);
                }
                return;
            }
            Step::Rate(stage) => ways.stages[stage as usize].leave(now),
            _ => ways.stages[token.file as usize].leave(now),
        }
        if let Some(windows) = ways.pass(now, slot, token) {
            self.finish(now, slot, windows, completed);
        }
    }

    /// [`Self::go_on`] for where it is not on the way of most tokens.
    #[inline(never)]
    pub(super) fn go_on_from_anywhere(
        &mut self,
        now: Nanos,
        slot: u32,
        completed: &mut Vec<Completed>,
    ) {
        self.go_on(now, slot, completed);
    }
}
