//! I/Os that end before their time: their host has failed, or their volume is gone.
//!
//! What waits is taken out of its queue. What is in a delay cannot be taken back: it goes on as a token of no I/O, and
//! nobody hears of it.
//!
//! Invariants: every I/O that is aborted is so once, and its windows are free again; what is not aborted keeps its place.

use std::collections::{BTreeMap, BTreeSet};

use fathom_units::Nanos;

use super::path::{NONE, Step};
use super::token::{Effect, Token};
use super::{Storage, VolumeId};
use crate::change::InFlight;
use crate::request::Completed;

/// An I/O of one part, by its token, or of several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Root {
    Token(u32),
    Parent(u32),
}

/// What is aborted.
pub(super) trait Aborted {
    /// Whether the I/O of this token is, or the token that the model started by itself.
    fn token(&self, storage: &Storage, token: &Token) -> bool;

    /// Whether flushes of this volume are.
    fn flushes(&self, volume: usize) -> bool;
}

impl Storage {
    /// Ends what `aborted` says. Nothing is told to anybody but by what is given back: the I/Os, in the order of their
    /// tags. I/Os that others make room for go on, and may complete.
    pub(super) fn abort(
        &mut self,
        now: Nanos,
        aborted: &impl Aborted,
        completed: &mut Vec<Completed>,
    ) -> Vec<InFlight> {
        let live = self.tokens.live().into_iter();
        let slots = live.filter(|slot| aborted.token(self, self.tokens.get(*slot)));
        let slots: Vec<u32> = slots.collect();
        let mut ended: BTreeMap<Root, InFlight> = BTreeMap::new();
        for slot in &slots {
            let token = self.tokens.get(*slot);
            let at_media = matches!(self.paths.step(token.step), Step::Delay { .. });
            if token.volume != NONE {
                let root = if token.io == NONE {
                    Root::Token(*slot)
                } else {
                    Root::Parent(token.io)
                };
                let entry = ended.entry(root).or_insert(InFlight {
                    tag: token.tag,
                    volume: VolumeId::new(token.volume as usize),
                    at_media,
                });
                entry.at_media |= at_media;
            }
        }
        for (parent, one) in self.flushes_under_way(aborted) {
            ended.insert(Root::Parent(parent), one);
        }
        self.take_out(now, &slots);
        for (root, one) in &ended {
            if let Root::Parent(parent) = root {
                self.parents.give_back(*parent);
            }
            self.requests -= 1;
            self.volumes[one.volume.index()].meter.leave(now);
        }
        self.settle(now, completed);
        let mut ended: Vec<InFlight> = ended.into_values().collect();
        ended.sort_by_key(|one| one.tag);
        ended
    }

    /// Takes flushes off the lists of what they wait for.
    fn flushes_under_way(&mut self, aborted: &impl Aborted) -> Vec<(u32, InFlight)> {
        let mut found = Vec::new();
        let parents = &self.parents;
        for flusher in &mut self.flushers {
            flusher.waiting.retain(|(_, parent)| {
                let io = parents.get(*parent);
                let goes = aborted.flushes(io.volume as usize);
                if goes {
                    let one = InFlight {
                        tag: io.tag,
                        volume: VolumeId::new(io.volume as usize),
                        at_media: false,
                    };
                    found.push((*parent, one));
                }
                !goes
            });
        }
        found
    }

    /// Takes tokens out of their queues and windows; those in a delay become tokens of no I/O.
    fn take_out(&mut self, now: Nanos, slots: &[u32]) {
        let gone: BTreeSet<u32> = slots.iter().copied().collect();
        let (mut stages, mut windows) = (BTreeSet::new(), BTreeSet::new());
        let mut left = Vec::new();
        for slot in slots {
            let token = self.tokens.get_mut(*slot);
            if let Effect::Written(run) = token.effect {
                self.runs.give_back(run);
            }
            match self.paths.step(token.step) {
                Step::Delay { .. } => {
                    (token.volume, token.io) = (NONE, NONE);
                    token.effect = Effect::None;
                    continue;
                }
                Step::Rate(stage) => stages.insert(stage),
                Step::File => stages.insert(token.file),
                Step::Window(window) => windows.insert(window),
                Step::End { .. } => false,
            };
            left.push(*slot);
        }
        for stage in &stages {
            let stage = &mut self.stages[*stage as usize];
            stage.take_out(now, |token| gone.contains(&token));
        }
        for window in &windows {
            let window = &mut self.windows[*window as usize];
            window.take_out(now, |token| gone.contains(&token));
        }
        let stages: Vec<u32> = stages.into_iter().collect();
        self.depart_anew_from(now, &stages);
        for slot in left {
            let Token {
                path, step, bytes, ..
            } = *self.tokens.get(slot);
            self.tokens.give_back(slot);
            for place in path..step {
                if let Step::Window(window) = self.paths.step(place) {
                    windows.insert(window);
                    self.windows[window as usize].leave(now, bytes);
                }
            }
        }
        // Also where nobody left but the one that was too large for what was free.
        for window in windows {
            self.admit_all(now, window);
        }
    }
}
