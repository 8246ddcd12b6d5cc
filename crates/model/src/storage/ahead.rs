//! What is known ahead of storage that nobody changes.
//!
//! When a token leaves a limit without credits follows from what came before it, and so it is known when the token comes: the
//! stage is charged then, and the token needs no queue. Two things follow.
//!
//! - A token that goes from a stage into a delay needs one event, the end of the delay.
//! - Where stages (disks) lead to one stage (their machine's budget) and from there into delays, each stage's tokens come to
//!   it in order, so that merging them gives the order of all. No token that is yet to come can leave a feeder before that
//!   feeder's limits let the next one go; up to the first such moment of all feeders all are merged together ([`Merge`]).
//!
//! Figures of parts are then counted before their time. So a driver says until when nobody will look at them
//! ([`Storage::foresee`]); what goes beyond waits for its time.
//!
//! Invariant: everything happens at the same times and in the same order as in storage that looks at nothing ahead.

use std::collections::{BTreeMap, VecDeque};
use std::hint::select_unpredictable;

use fathom_units::Nanos;

use super::agenda::Agenda;
use super::departures::NEVER;
use super::path::{NONE, Step};
use super::token::Token;
use super::{Storage, VolumeKind, Ways};
use crate::cache::HostCache;
use crate::design::VolumeId;
use crate::limit::{Limit, Wait};
use crate::stage::Entered;

/// Most stages that lead to one: the first of them is found by a look at each.
const MOST_FEEDERS: usize = 32;

/// How far ahead things are known.
#[derive(Debug, Default)]
pub(super) struct Ahead {
    /// Whether storage will not be changed.
    pub unchanging: bool,
    /// Until when nobody looks at figures of parts, and it is known where I/O will come to.
    until: Nanos,
    /// The latest time that figures are counted for.
    known: Nanos,
    pub merges: Vec<Merge>,
}

/// A stage that others lead to.
#[derive(Debug)]
pub(super) struct Merge {
    stage: u32,
    /// Those others, and the tokens that come from each, with their times.
    feeders: Vec<Feeder>,
    /// When the first of each comes; [`NEVER`]: none does.
    heads: Vec<u64>,
    /// The feeder whose first token comes first of all, and stands on the agenda; [`NONE`]: no token comes.
    first: u32,
    /// Stages of the feeders that tokens may come to.
    used: Vec<u32>,
    /// When the last token came.
    last: u64,
}

#[derive(Debug)]
struct Feeder {
    stage: u32,
    coming: VecDeque<(u64, u32)>,
}

impl Merge {
    /// A token comes from a feeder at `at`; `true`: it is the first of all.
    #[inline]
    fn comes(&mut self, at: u64, feeder: u32, token: u32) -> bool {
        let place = feeder as usize;
        self.feeders[place].coming.push_back((at, token));
        if self.heads[place] != NEVER {
            return false;
        }
        self.heads[place] = at;
        let first = self.heads.get(self.first as usize);
        first.is_none_or(|first| (at, feeder) < (*first, self.first))
    }

    /// Takes the first token of a feeder.
    #[inline]
    fn take(&mut self, feeder: usize) -> Option<u32> {
        let coming = &mut self.feeders[feeder].coming;
        let (_, token) = coming.pop_front()?;
        self.heads[feeder] = coming.front().map_or(NEVER, |(at, _)| *at);
        Some(token)
    }

    /// When the first token of all comes, and the place of its feeder.
    #[inline]
    fn earliest(&self) -> (u64, usize) {
        let mut earliest = (NEVER, 0);
        for (place, head) in self.heads.iter().enumerate() {
            let earlier = *head < earliest.0;
            earliest = (
                select_unpredictable(earlier, *head, earliest.0),
                select_unpredictable(earlier, place, earliest.1),
            );
        }
        earliest
    }
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
        match self.paths.step(token.step + 1) {
            Step::Delay { law, inside } if self.ends_ahead(stage, inside, at) => {
                token.step += 1;
                let ends = at.saturating_add(self.delays[law as usize].at(token.draw));
                self.agenda.leaves_and_ends((at, stage), ends, slot);
            }
            Step::Rate(next) => {
                let (merge, feeder) = self.stages[stage as usize].feeds;
                match self.ahead.merges.get_mut(merge as usize) {
                    Some(to) if to.stage == next => {
                        if to.comes(at.get(), feeder, slot) {
                            to.first = feeder;
                            self.agenda.comes(at, stage, merge);
                        }
                    }
                    _ => self.agenda.leaves(at, stage, slot),
                }
            }
            _ => self.agenda.leaves(at, stage, slot),
        }
    }

    /// Whether nothing has to happen when a token leaves a stage at `at` for a delay; if so, figures are counted.
    #[inline]
    fn ends_ahead(&mut self, stage: u32, inside: u32, at: Nanos) -> bool {
        if inside == stage {
            return self.stages[stage as usize].leaves_alone(at);
        }
        let ahead = at <= self.ahead.until && self.stages[stage as usize].leaves_alone(at);
        if ahead {
            self.moves(at, stage, inside);
        }
        ahead
    }

    /// A token goes from a stage to a delay inside another at `at`.
    #[inline]
    fn moves(&mut self, at: Nanos, stage: u32, inside: u32) {
        self.ahead.known = self.ahead.known.max(at);
        self.stages[stage as usize].meter.leave(at);
        if let Some(inside) = self.stages.get_mut(inside as usize) {
            inside.meter.enter(at);
        }
    }

    /// A token comes from a feeder to the stage of a merge at `at`.
    #[expect(
        clippy::inline_always,
        reason = "every I/O comes by here, and a call costs as much as the work"
    )]
    #[inline(always)]
    fn merged(&mut self, at: Nanos, feeder: u32, (slot, token): (u32, &mut Token)) {
        self.agenda.goes_on_with(feeder);
        self.stages[feeder as usize].arrives();
        token.step += 1;
        let Step::Rate(stage) = self.paths.step(token.step) else {
            return;
        };
        match self.stages[stage as usize].enter(at, slot, token.bytes) {
            Entered::Passed => {
                token.step += 1;
                if let Step::Delay { law, inside } = self.paths.step(token.step) {
                    if inside != feeder {
                        self.moves(at, feeder, inside);
                    }
                    let ends = at.saturating_add(self.delays[law as usize].at(token.draw));
                    self.agenda.ends(at, ends, slot);
                }
            }
            Entered::Leaves(leaves, limit) => {
                self.stages[feeder as usize].meter.leave(at);
                self.leaves(at, (slot, token), stage, (leaves, limit));
            }
            Entered::Queued | Entered::Waits(_) => {}
        }
    }
}

impl Storage {
    /// The same, faster, for those who will not change it: when an I/O leaves a limit without credits is then known when it
    /// comes there. No I/O may have been submitted yet, and [`Storage::change`] and [`Storage::crash`] must not be used;
    /// everything else is to the nanosecond as without.
    #[must_use]
    pub fn unchanging(mut self) -> Self {
        assert!(!self.has_requests(), "it is not in use yet");
        self.ahead.unchanging = self.stages.len() < Agenda::MOST_STAGES;
        if self.ahead.unchanging {
            for stage in &mut self.stages {
                stage.looks_ahead();
            }
            self.find_merges();
            self.agenda.set_merges(self.ahead.merges.len());
        }
        self
    }

    /// Until `at`, nobody will look at statistics, and I/O will come to these volumes alone; `true`: also I/O that is no
    /// read. Of storage that will not be changed more is known ahead then. Where a driver ends before, it must go on to
    /// [`Storage::known_until`].
    pub fn foresee(&mut self, at: Nanos, uses: impl Iterator<Item = (VolumeId, bool)>) {
        // Background writes go on when a driver has no more I/O.
        if !self.ahead.unchanging || !self.flushers.is_empty() {
            return;
        }
        self.ahead.until = at;
        let mut used = vec![false; self.stages.len()];
        for (volume, writes) in uses {
            self.mark_used(volume, writes, &mut used);
        }
        for merge in &mut self.ahead.merges {
            let stages = merge.feeders.iter().map(|feeder| feeder.stage);
            merge.used = stages.filter(|stage| used[*stage as usize]).collect();
        }
    }

    /// Marks the stages that I/O of a volume may come to.
    fn mark_used(&self, volume: VolumeId, writes: bool, used: &mut [bool]) {
        let model = &self.volumes[volume.index()];
        if model.kind != VolumeKind::Disks {
            used.fill(true);
            return;
        }
        let cache = model.cache.map(|cache| &self.caches[cache as usize]);
        let hits_alone = !writes && cache.is_some_and(HostCache::holds_all);
        let first = model.first_disk as usize;
        for disk in &self.disks[first..first + model.disk_count as usize] {
            let ways = [disk.read, disk.write, disk.write_back];
            let ways = ways.into_iter().filter(|_| !hits_alone);
            for path in ways.chain([disk.read_hit, disk.read_memory]) {
                for stage in self.paths.rates(path) {
                    used[stage as usize] = true;
                }
            }
        }
    }

    /// The first moment for which statistics are right.
    pub fn known_until(&self) -> Nanos {
        self.ahead.known
    }

    /// Finds the stages whose tokens all come from other stages and go into delays.
    fn find_merges(&mut self) {
        let mut found: BTreeMap<u32, Option<Vec<u32>>> = BTreeMap::new();
        for [before, step, after] in self.paths.neighbours() {
            let Step::Rate(stage) = step else { continue };
            let feeders = found.entry(stage).or_insert_with(|| Some(Vec::new()));
            let feeder = match (before, after) {
                (Step::Rate(feeder), Step::Delay { .. }) => Some(feeder),
                _ => None,
            };
            let feeder = feeder.filter(|it| *it != stage && self.stages[*it as usize].is_ahead());
            match (feeder, feeders) {
                (Some(feeder), Some(feeders)) if !feeders.contains(&feeder) => feeders.push(feeder),
                (Some(_), _) => {}
                (None, feeders) => *feeders = None,
            }
        }
        for (stage, feeders) in found {
            let mut feeders = feeders.unwrap_or_default();
            feeders.sort_unstable();
            let free = feeders
                .iter()
                .all(|it| self.stages[*it as usize].feeds.0 == NONE);
            let fits = free && (1..=MOST_FEEDERS).contains(&feeders.len());
            if fits && self.stages[stage as usize].is_ahead() {
                self.add_merge(stage, &feeders);
            }
        }
    }

    fn add_merge(&mut self, stage: u32, feeders: &[u32]) {
        let merge = self.ahead.merges.len() as u32;
        for (place, feeder) in (0..).zip(feeders) {
            self.stages[*feeder as usize].feeds = (merge, place);
        }
        let feeder = |stage: &u32| Feeder {
            stage: *stage,
            coming: VecDeque::new(),
        };
        self.ahead.merges.push(Merge {
            stage,
            feeders: feeders.iter().map(feeder).collect(),
            heads: vec![NEVER; feeders.len()],
            first: NONE,
            used: feeders.to_vec(),
            last: 0,
        });
    }

    /// The first token of a merge comes `now`, and with it all those that no other can come before.
    #[inline(never)]
    pub(super) fn merge(&mut self, now: Nanos, index: u32) {
        let mut merge = std::mem::replace(&mut self.ahead.merges[index as usize], Merge::NONE);
        let first = merge.first as usize;
        self.merge_one(now, &mut merge, first);
        let mut sure = NEVER.min(self.ahead.until.get().saturating_add(1));
        for stage in &merge.used {
            sure = sure.min(self.stages[*stage as usize].open_at().get());
            if sure <= now.get() {
                break;
            }
        }
        let (mut at, mut first) = merge.earliest();
        while at < sure {
            for place in first..merge.feeders.len() {
                while merge.heads[place] == at {
                    self.merge_one(Nanos::new(at), &mut merge, place);
                }
            }
            self.ahead.known = self.ahead.known.max(Nanos::new(at));
            (at, first) = merge.earliest();
        }
        if at < NEVER {
            merge.first = first as u32;
            let stage = merge.feeders[first].stage;
            self.agenda.comes(Nanos::new(at), stage, index);
        } else {
            merge.first = NONE;
            self.agenda.comes_none(index);
        }
        self.ahead.merges[index as usize] = merge;
    }

    #[inline]
    fn merge_one(&mut self, at: Nanos, merge: &mut Merge, place: usize) {
        assert!(merge.last <= at.get(), "tokens come in order");
        merge.last = at.get();
        let feeder = merge.feeders[place].stage;
        if let Some(slot) = merge.take(place) {
            let (token, mut ways) = self.ways(slot);
            ways.merged(at, feeder, (slot, token));
        }
    }
}

impl Merge {
    const NONE: Self = Self {
        stage: NONE,
        feeders: Vec::new(),
        heads: Vec::new(),
        first: NONE,
        used: Vec::new(),
        last: 0,
    };
}
