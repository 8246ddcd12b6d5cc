//! What is known ahead of storage that nobody changes.
//!
//! When a token leaves a limit without credits follows from what came before it, and so it is known when the token comes.
//! Where a delay follows (the machine's budget and then the media, or a cache's budget and then the cache), the stage is
//! charged when a token comes, the token stands in no queue, and the end of its delay is its next event.
//!
//! Figures of parts are then counted before their time. So a driver says until when nobody will look at them
//! ([`Storage::unwatched_until`]); what goes beyond waits for its time.
//!
//! Invariant: everything happens at the same times and in the same order as in storage that looks at nothing ahead.

use fathom_units::Nanos;

use super::Storage;
use super::agenda::Agenda;
use super::lanes::Lane;
use super::path::Step;
use super::token::Token;
use super::ways::Ways;
use crate::limit::{Limit, Wait};

/// How far ahead things are known.
#[derive(Debug, Default)]
pub(super) struct Ahead {
    /// Whether storage will not be changed.
    pub unchanging: bool,
    /// Until when nobody looks at figures of parts.
    pub until: Nanos,
    /// The latest time that figures are counted for.
    pub known: Nanos,
    /// For each place in the paths, the lane that begins there.
    pub lanes: Vec<Lane>,
}

impl Ways<'_> {
    /// A token that came to a stage at `now` will leave it at `at`, when `limit` lets it.
    #[expect(
        clippy::inline_always,
        reason = "every I/O comes by here, and a call costs as much as the work"
    )]
    #[inline(always)]
    pub(super) fn leaves(
        &mut self,
        now: Nanos,
        (slot, token): (u32, &mut Token),
        stage: u32,
        (at, limit): (Nanos, Limit),
    ) {
        let time = at - now;
        token.waited.0.add(Wait { limit, time });
        if let Step::Delay { law, inside } = self.paths.step(token.step + 1)
            && self.ends_ahead(stage, inside, at)
        {
            token.step += 1;
            let ends = at.saturating_add(self.delays[law as usize].at(token.draw));
            self.agenda.leaves_and_ends((at, stage), ends, slot);
        } else {
            self.agenda.leaves(at, stage, slot);
        }
    }

    /// Whether nothing has to happen when a token leaves a stage at `at` for a delay; if so, figures are counted.
    #[inline]
    fn ends_ahead(&mut self, stage: u32, inside: u32, at: Nanos) -> bool {
        let left = &mut self.stages[stage as usize];
        if inside == stage {
            // It stays inside.
            return left.leaves_alone(at);
        }
        let ahead = at <= self.ahead.until && left.leaves_alone(at);
        if ahead {
            self.ahead.known = self.ahead.known.max(at);
            left.meter.leave(at);
            if let Some(inside) = self.stages.get_mut(inside as usize) {
                inside.meter.enter(at);
            }
        }
        ahead
    }
}

impl Storage {
    /// The same, faster, for those who will not change it: when an I/O leaves a limit without credits is then known when it
    /// comes there. No I/O may have been submitted yet, and [`Storage::change`] and [`Storage::crash`] must not be used;
    /// everything else is to the nanosecond as without.
    #[must_use]
    pub fn unchanging(mut self) -> Self {
        assert!(!self.has_requests(), "it is not in use yet");
        if self.stages.len() >= Agenda::MOST_STAGES {
            return self;
        }
        self.ahead.unchanging = true;
        // Elsewhere what leaves is an event all the same, and queues know the first of all sooner.
        let mut leads_to_delays = vec![false; self.stages.len()];
        for (step, next) in self.paths.pairs() {
            if let (Step::Rate(stage), Step::Delay { .. }) = (step, next) {
                leads_to_delays[stage as usize] = true;
            }
        }
        let stages = self.stages.iter_mut().zip(leads_to_delays);
        for (stage, _) in stages.filter(|(_, leads)| *leads) {
            stage.look_ahead();
        }
        self.ahead.lanes = Lane::all(&self.paths, &self.stages);
        self
    }

    /// Nobody will look at statistics before `at`: of storage that will not be changed, more is known ahead then. A driver
    /// that ends before must go on to [`Storage::known_until`].
    pub fn unwatched_until(&mut self, at: Nanos) {
        // Background writes go on when a driver has no more I/O.
        if self.ahead.unchanging && self.flushers.is_empty() {
            self.ahead.until = at;
        }
    }

    /// The first moment for which statistics are right.
    pub fn known_until(&self) -> Nanos {
        self.ahead.known
    }
}
