//! The model of a whole design: I/Os enter, pass the steps of their paths, and complete.
//!
//! An I/O is split into one token for each stripe unit it touches; a token passes the steps of its path in tandem (say
//! cached budget, disk, uncached budget, media latency); the I/O completes with its last token. Which stages make the path
//! of a cached disk is the catalogue's accounting table.
//!
//! The model has no clock, but it keeps its own due times. A driver asks for [`Storage::next_due`], and calls
//! [`Storage::advance`] when that time has come; what happens then happens at the due time, however late the call is.
//! At one time, departures come before the ends of delays, departures in the order of their stages and ends in the order in
//! which the delays began; a driver with events of its own lets the model's go first.
//!
//! How to build on it:
//! - **Another kind of storage** is a list of [`path::Step`]s, made in `build`: rates are [`Stage`]s (limits in tandem, first
//!   come, first served), windows bound what is under way, delays take time of their own. `submit` chooses the path.
//! - **Tokens that the model starts by itself** (flushes, fills that cost something) are tokens without a volume and without
//!   a parent, begun with `Storage::launch`; their [`token::Effect`] says what their completion does.
//! - **Work that waits for others** is put into `ready`; `Storage::settle` moves it on before a call returns.
//!
//! Invariants: time never goes back between calls; a driver lets everything happen that is due before it submits at a later
//! time; every submitted I/O completes once.

use std::collections::VecDeque;

use fathom_units::Nanos;

use crate::cache::{HostCache, Warmed};
use crate::design::VolumeId;
use crate::limit::Waits;
use crate::random::draw;
use crate::request::{Completed, IoKind, Request};
use crate::stage::{Entered, Stage};
use crate::statistics::Meter;
use crate::stripe::{Stripe, StripePart};
use crate::window::Window;

mod agenda;
mod build;
mod path;
mod report;
mod token;
mod wakes;

#[cfg(test)]
mod tests;

use agenda::Agenda;
use path::{DelayLaw, NONE, Path, PathId, Step};
use token::{Effect, Parent, Slab, Token, TokenWaits};
use wakes::Wakes;

/// Why a model cannot be built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// The files on cached disks are too many to track.
    #[error(
        "the files on cached volumes of `{vm}` span {lines} lines of 64 KiB; at most {most} can be tracked"
    )]
    CacheTooLarge {
        /// The machine.
        vm: String,
        /// Lines that files can touch.
        lines: u64,
        /// Most lines.
        most: u64,
    },
    /// A part of the design that the format has and this model does not.
    #[error("{what}, which cannot be modelled yet")]
    NotBuilt {
        /// The part and what it has, such as ``the volume `vm1/data` is cached read-write``.
        what: String,
    },
}

/// Paths of one disk (or device).
#[derive(Debug)]
struct DiskPaths {
    read: PathId,
    read_hit: PathId,
    write: PathId,
    /// Key of its media latencies.
    random_key: u64,
    /// Where its bytes begin in its machine's cache space.
    cache_base: u64,
}

#[derive(Debug)]
struct VolumeModel {
    stripe: Stripe,
    first_disk: u32,
    cache: Option<u32>,
    meter: Meter,
    reads: u64,
    hits: u64,
}

/// The model of a design. Built by `Storage::new`.
#[derive(Debug)]
pub struct Storage {
    stages: Vec<Stage>,
    stage_names: Vec<(String, Vec<String>)>,
    windows: Vec<Window>,
    delays: Vec<DelayLaw>,
    paths: Vec<Path>,
    disks: Vec<DiskPaths>,
    volumes: Vec<VolumeModel>,
    volume_names: Vec<(String, &'static str)>,
    caches: Vec<HostCache>,
    /// The next departure of each stage.
    wakes: Wakes,
    /// The ends of delays.
    agenda: Agenda,
    tokens: Slab<Token>,
    waits: TokenWaits,
    parents: Slab<Parent>,
    /// Tokens that may move on at the present time.
    ready: VecDeque<u32>,
}

impl Storage {
    /// An I/O comes in at `now`. What completes at once is appended to `completed`.
    pub fn submit(&mut self, now: Nanos, request: Request, completed: &mut Vec<Completed>) {
        match request.kind {
            IoKind::Read | IoKind::Write => self.transfer(now, &request, completed),
            // Every write is durable when it completes, and nothing limits metadata.
            IoKind::Flush | IoKind::Metadata(_) => completed.push(Completed {
                tag: request.tag,
                waits: Waits::NONE,
                error: None,
            }),
        }
        if !self.ready.is_empty() {
            self.settle(now, completed);
        }
    }

    /// When something happens next; `None` while nothing is under way.
    #[inline]
    pub fn next_due(&mut self) -> Option<Nanos> {
        let (stage_at, _) = self.wakes.first();
        let at = stage_at.min(self.agenda.next_due());
        (at != u64::MAX).then(|| Nanos::new(at))
    }

    /// What is due next happens, at its due time. What completes is appended to `completed`.
    pub fn advance(&mut self, completed: &mut Vec<Completed>) {
        self.advance_until(Nanos::MAX, completed);
    }

    /// What is due next happens, if it is due at `latest` or before: when it was due. What completes is appended to
    /// `completed`.
    pub fn advance_until(
        &mut self,
        latest: Nanos,
        completed: &mut Vec<Completed>,
    ) -> Option<Nanos> {
        let (stage_at, stage) = self.wakes.first();
        let delay_at = self.agenda.next_due();
        let now = Nanos::new(stage_at.min(delay_at));
        if now > latest || now == Nanos::MAX {
            return None;
        }
        if stage_at <= delay_at {
            self.release(now, stage, completed);
        } else if let Some((_, token)) = self.agenda.pop() {
            self.end_delay(now, token, completed);
        }
        if !self.ready.is_empty() {
            self.settle(now, completed);
        }
        Some(now)
    }

    /// Splits a read or write into tokens and starts them.
    fn transfer(&mut self, now: Nanos, request: &Request, completed: &mut Vec<Completed>) {
        let volume_index = request.volume.index() as u32;
        let volume = &mut self.volumes[volume_index as usize];
        volume.meter.count(u64::from(request.length));
        volume.meter.enter(now);
        let stripe = volume.stripe;
        let length = u64::from(request.length.max(1));
        let mut parts = stripe.parts(request.offset, length);
        let Some(mut part) = parts.next() else { return };
        let parent = if part.length == length {
            NONE
        } else {
            self.parents.put(Parent {
                tag: request.tag,
                volume: volume_index,
                // Held open until every part has been started, since parts may pass at once.
                parts_left: 1,
            })
        };
        for number in 0.. {
            if parent != NONE {
                self.parents.get_mut(parent).parts_left += 1;
            }
            let token = self.token_of(now, request, (parent, number), part);
            self.launch(now, token, completed);
            match parts.next() {
                Some(next) => part = next,
                None => break,
            }
        }
        if parent != NONE {
            self.close_part(now, parent, Waits::NONE, completed);
        }
    }

    /// The token of one part of a read or write, with its path.
    #[inline]
    fn token_of(
        &mut self,
        now: Nanos,
        request: &Request,
        (io, number): (u32, u64),
        part: StripePart,
    ) -> Token {
        let volume = &mut self.volumes[request.volume.index()];
        let disk = &self.disks[(volume.first_disk + part.disk) as usize];
        let cache_offset = disk.cache_base + part.offset;
        let fill = |cache| Effect::Fill(cache, cache_offset);
        let (path, effect) = match (volume.cache, request.kind) {
            (None, IoKind::Read) => (disk.read, Effect::None),
            (None, _) => (disk.write, Effect::None),
            (Some(cache), IoKind::Read) => {
                volume.reads += 1;
                if self.caches[cache as usize].holds(cache_offset, part.length) {
                    volume.hits += 1;
                    (disk.read_hit, Effect::None)
                } else {
                    (disk.read, fill(cache))
                }
            }
            (Some(cache), _) => (disk.write, fill(cache)),
        };
        Token {
            entered: now,
            draw: draw(disk.random_key, request.stream, request.index, number),
            tag: request.tag,
            io,
            volume: request.volume.index() as u32,
            path,
            bytes: part.length as u32,
            effect,
            step: 0,
        }
    }

    /// Starts a token at the first step of its path.
    #[inline]
    fn launch(&mut self, now: Nanos, token: Token, completed: &mut Vec<Completed>) {
        let slot = self.tokens.put(token);
        self.waits.begin(slot);
        self.forward(now, slot, completed);
    }

    /// Moves tokens on that others have made way for.
    fn settle(&mut self, now: Nanos, completed: &mut Vec<Completed>) {
        while let Some(slot) = self.ready.pop_front() {
            self.forward(now, slot, completed);
        }
    }

    /// Everything leaves a stage that its limits let go at `now`.
    fn release(&mut self, now: Nanos, stage_index: u32, completed: &mut Vec<Completed>) {
        while let Some((slot, limit)) = self.stages[stage_index as usize].release(now) {
            let token = self.tokens.get_mut(slot);
            token.step += 1;
            self.waits.add(slot, limit, now - token.entered);
            self.forward(now, slot, completed);
        }
        match self.stages[stage_index as usize].next_departure() {
            Some(at) => self.wakes.set(stage_index, at),
            None => self.wakes.clear(stage_index),
        }
    }

    /// Moves a token on from its present step as far as it gets at `now`.
    fn forward(&mut self, now: Nanos, slot: u32, completed: &mut Vec<Completed>) {
        let token = self.tokens.get_mut(slot);
        token.entered = now;
        let (bytes, number) = (token.bytes, token.draw);
        let path = &self.paths[token.path as usize];
        while let Some(step) = path.step(token.step) {
            match step {
                Step::Rate(stage) => match self.stages[stage as usize].enter(now, slot, bytes) {
                    Entered::Passed => {}
                    Entered::Queued => return,
                    Entered::Waits(at) => {
                        self.wakes.set(stage, at);
                        return;
                    }
                },
                Step::Window(window) => {
                    if !self.windows[window as usize].enter(now, slot, bytes) {
                        return;
                    }
                }
                Step::Delay { law, inside } => {
                    if let Some(stage) = self.stages.get_mut(inside as usize) {
                        stage.meter.enter(now);
                    }
                    let time = self.delays[law as usize].at(number);
                    self.agenda.push(now.saturating_add(time), slot);
                    return;
                }
            }
            token.step += 1;
        }
        self.finish(now, slot, completed);
    }

    /// A token's delay is over.
    #[inline]
    fn end_delay(&mut self, now: Nanos, slot: u32, completed: &mut Vec<Completed>) {
        let token = self.tokens.get_mut(slot);
        let step = self.paths[token.path as usize].step(token.step);
        token.step += 1;
        if let Some(Step::Delay { inside, .. }) = step
            && let Some(stage) = self.stages.get_mut(inside as usize)
        {
            stage.meter.leave(now);
        }
        self.forward(now, slot, completed);
    }

    /// A token has passed its last step.
    fn finish(&mut self, now: Nanos, slot: u32, completed: &mut Vec<Completed>) {
        let token = *self.tokens.get(slot);
        self.tokens.give_back(slot);
        if self.paths[token.path as usize].has_windows {
            self.make_room(now, &token);
        }
        match token.effect {
            Effect::None => {}
            Effect::Fill(cache, offset) => {
                self.caches[cache as usize].fill(offset, u64::from(token.bytes));
            }
        }
        if token.volume == NONE {
            return;
        }
        let waits = self.waits.of(slot);
        if token.io == NONE {
            self.volumes[token.volume as usize].meter.leave(now);
            completed.push(Completed {
                tag: token.tag,
                waits,
                error: None,
            });
        } else {
            self.close_part(now, token.io, waits, completed);
        }
    }

    /// A token leaves the windows of its path; others enter.
    fn make_room(&mut self, now: Nanos, token: &Token) {
        for step in self.paths[token.path as usize].steps() {
            let Step::Window(window) = *step else {
                continue;
            };
            let window = &mut self.windows[window as usize];
            window.leave(now, token.bytes);
            while let Some((slot, limit)) = window.admit_next() {
                let next = self.tokens.get_mut(slot);
                next.step += 1;
                self.waits.add(slot, limit, now - next.entered);
                self.ready.push_back(slot);
            }
        }
    }

    /// One part (or the submission itself) of an I/O of several parts is over.
    fn close_part(
        &mut self,
        now: Nanos,
        parent: u32,
        waits: Waits,
        completed: &mut Vec<Completed>,
    ) {
        let io = self.parents.get_mut(parent);
        io.parts_left -= 1;
        if io.parts_left == 0 {
            let (tag, volume) = (io.tag, io.volume);
            self.parents.give_back(parent);
            self.volumes[volume as usize].meter.leave(now);
            completed.push(Completed {
                tag,
                waits,
                error: None,
            });
        }
    }

    /// Takes a range of a cached volume into its machine's cache, as long as there is room. Volumes without a cache ignore
    /// it.
    pub fn warm(&mut self, volume: VolumeId, offset: u64, length: u64) {
        let model = &self.volumes[volume.index()];
        let Some(cache) = model.cache else { return };
        for part in model.stripe.parts(offset, length) {
            let base = self.disks[(model.first_disk + part.disk) as usize].cache_base;
            let warmed = self.caches[cache as usize].warm(base + part.offset, part.length);
            if warmed == Warmed::Full {
                return;
            }
        }
    }
}
