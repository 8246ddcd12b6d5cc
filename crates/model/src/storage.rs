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

use fathom_units::{Bytes, Nanos};

use crate::cache::{HostCache, Run, Warmed};
use crate::change::Durability;
use crate::design::VolumeId;
use crate::limit::Waits;
use crate::random::draw;
use crate::request::{Completed, IoError, IoKind, MetadataOp, Request};
use crate::stage::{Entered, Stage};
use crate::statistics::Meter;
use crate::stripe::{Stripe, StripePart};
use crate::window::Window;

mod abort;
mod agenda;
mod ahead;
mod array;
mod build;
mod changes;
mod crash;
mod departures;
mod endings;
mod faulty;
mod lanes;
mod network;
mod parts;
mod path;
mod report;
mod token;
mod trim;
mod turns;
mod ways;
mod write_back;

#[cfg(test)]
mod tests;

use agenda::{Agenda, Event};
use ahead::Ahead;
use array::Array;
use changes::Faults;
use network::{NfsModel, ShareModel};
use path::{DelayLaw, NONE, PathId, Paths, Step};
use token::{Effect, Parent, Slab, Token, Tokens};
use write_back::{Flusher, Period};

pub use turns::{ClosedLoops, Turn};

/// Why a model cannot be built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// The files on cached disks are too many to track.
    #[error(
        "the files on cached volumes of `{vm}` are {files}; to track them takes {state} of memory, and at most 1 GiB is \
         taken\n  hint: give volumes less capacity, or `caching = \"none\"` where that does not matter"
    )]
    CacheTooLarge {
        /// The machine.
        vm: String,
        /// Bytes of files on cached volumes.
        files: Bytes,
        /// Memory that would be needed.
        state: Bytes,
    },
}

/// Paths of one disk (or device).
#[derive(Debug)]
struct DiskPaths {
    read: PathId,
    read_hit: PathId,
    /// Of reads that the host's memory serves, where that is a tier of its own.
    read_memory: PathId,
    /// Of writes that are durable when they complete.
    write: PathId,
    /// Of writes that complete in the cache.
    write_back: PathId,
    /// Key of its media latencies.
    random_key: u64,
    /// Where its bytes begin in its machine's cache space.
    cache_base: u64,
    /// What writes its dirty blocks; [`NONE`]: it has no write-back.
    flusher: u32,
}

/// What serves a volume.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum VolumeKind {
    /// Striped disks, or a single one.
    Disks,
    /// A RAID-5 array.
    Array(u32),
    /// A volume over NFS.
    Nfs(u32),
    /// A share over SMB.
    Share(u32),
    /// One of these that fails or is detached.
    Faulty(u32),
}

#[derive(Debug)]
struct VolumeModel {
    kind: VolumeKind,
    stripe: Stripe,
    first_disk: u32,
    disk_count: u32,
    cache: Option<u32>,
    meter: Meter,
    reads: u64,
    hits: u64,
    /// Those of them that the host's memory served.
    memory_hits: u64,
}

/// For how many events after an I/O that fills a cache others are expected. Where there are none, the processor has near
/// what events look at, and to look early costs more than it saves.
const LOOK_AHEAD: u32 = 4096;

/// The model of a design. Built by `Storage::new`.
#[derive(Debug)]
pub struct Storage {
    stages: Vec<Stage>,
    stage_names: Vec<(String, Vec<String>)>,
    windows: Vec<Window>,
    delays: Vec<DelayLaw>,
    paths: Paths,
    disks: Vec<DiskPaths>,
    volumes: Vec<VolumeModel>,
    volume_names: Vec<(String, &'static str)>,
    caches: Vec<HostCache>,
    flushers: Vec<Flusher>,
    periods: Vec<Period>,
    /// Background writes under way, with the flusher of each.
    runs: Slab<(u32, Run)>,
    arrays: Vec<Array>,
    nfs: Vec<NfsModel>,
    shares: Vec<ShareModel>,
    /// I/Os under way.
    requests: u64,
    /// For how many events more what comes next is looked at early: I/Os that fill a cache go to far places.
    look_ahead: u32,
    /// What is due: the next departure of each stage, the ends of delays, flushes.
    agenda: Agenda,
    tokens: Tokens,
    parents: Slab<Parent>,
    /// Tokens that may move on at the present time.
    ready: VecDeque<u32>,
    /// What is not as the design says.
    faults: Faults,
    /// What is told of where written bytes are; `None`: nobody asks.
    durability: Option<Vec<Durability>>,
    /// What is known of later times.
    ahead: Ahead,
}

impl Storage {
    /// An I/O comes in at `now`. What completes at once is appended to `completed`.
    #[expect(
        clippy::inline_always,
        reason = "every I/O comes by here, and a call costs as much as the work"
    )]
    #[inline(always)]
    pub fn submit(&mut self, now: Nanos, request: Request, completed: &mut Vec<Completed>) {
        self.requests += 1;
        if matches!(request.kind, IoKind::Read | IoKind::Write) {
            self.transfer(now, request, completed);
        } else {
            self.submit_other(now, &{ request }, completed);
        }
        if !self.ready.is_empty() {
            self.settle(now, completed);
        }
    }

    /// The same of what moves no data.
    #[inline(never)]
    fn submit_other(&mut self, now: Nanos, request: &Request, completed: &mut Vec<Completed>) {
        match request.kind {
            IoKind::Read | IoKind::Write => {}
            IoKind::Trim => self.trim(now, request, completed),
            IoKind::Flush => self.flush(now, request, completed),
            IoKind::Metadata(operation) => self.metadata(now, operation, request, completed),
        }
    }

    /// An I/O at `offset` of a volume will come soon: has the processor bring near what it will look up. Changes nothing.
    #[inline]
    pub fn expect(&self, volume: VolumeId, offset: u64) {
        let volume = &self.volumes[volume.index()];
        if let Some(cache) = volume.cache {
            let part = volume.stripe.first_part(offset, 1);
            let disk = &self.disks[(volume.first_disk + part.disk) as usize];
            self.caches[cache as usize].touch(disk.cache_base + part.offset);
        }
    }

    /// Whether I/Os to a volume look something up that [`Self::expect`] can bring near.
    pub fn expects(&self, volume: VolumeId) -> bool {
        let cache = self.volumes[volume.index()].cache;
        cache.is_some_and(|cache| !self.caches[cache as usize].holds_all())
    }

    /// Whether I/Os are under way. Without, what is due is background work alone.
    #[inline]
    pub fn has_requests(&self) -> bool {
        self.requests > 0
    }

    #[expect(
        clippy::inline_always,
        reason = "every I/O comes by here, and a call costs as much as the work"
    )]
    #[inline(always)]
    fn transfer(&mut self, now: Nanos, request: Request, completed: &mut Vec<Completed>) {
        let volume = &mut self.volumes[request.volume.index()];
        volume.meter.count(u64::from(request.length));
        volume.meter.enter(now);
        if volume.kind == VolumeKind::Disks {
            self.on_disks(now, request, completed);
        } else {
            let kind = volume.kind;
            self.transfer_elsewhere(now, kind, &{ request }, completed);
        }
    }

    /// A read or write of anything but disks that do not fail.
    #[inline(never)]
    fn transfer_elsewhere(
        &mut self,
        now: Nanos,
        kind: VolumeKind,
        request: &Request,
        completed: &mut Vec<Completed>,
    ) {
        match kind {
            VolumeKind::Disks => self.on_several_parts(now, request, completed),
            VolumeKind::Array(array) => self.on_array(now, array, request, completed),
            VolumeKind::Nfs(volume) => self.on_nfs(now, volume, request, completed),
            VolumeKind::Share(share) => self.on_share(now, share, request, completed),
            VolumeKind::Faulty(fault) => self.on_faulty(now, fault, request, completed),
        }
    }

    /// Starts an operation on a file itself. On disks it takes no time: the file system holds what it needs.
    fn metadata(
        &mut self,
        now: Nanos,
        operation: MetadataOp,
        request: &Request,
        completed: &mut Vec<Completed>,
    ) {
        let volume = &mut self.volumes[request.volume.index()];
        volume.meter.enter(now);
        match volume.kind {
            VolumeKind::Disks | VolumeKind::Array(_) => {
                let volume = request.volume.index() as u32;
                self.complete(now, (request.tag, volume), (Waits::NONE, None), completed);
            }
            VolumeKind::Nfs(volume) => self.on_nfs(now, volume, request, completed),
            VolumeKind::Share(share) => {
                self.share_metadata(now, share, (operation, request), completed);
            }
            VolumeKind::Faulty(fault) => self.at_once(now, fault, request, completed),
        }
    }

    /// An I/O is over.
    #[inline]
    fn complete(
        &mut self,
        now: Nanos,
        (tag, volume): (u64, u32),
        (waits, error): (Waits, Option<IoError>),
        completed: &mut Vec<Completed>,
    ) {
        self.requests -= 1;
        self.volumes[volume as usize].meter.leave(now);
        completed.push(Completed { tag, waits, error });
    }

    /// When something happens next; `None` while nothing is under way.
    #[inline]
    pub fn next_due(&mut self) -> Option<Nanos> {
        self.agenda.next_due()
    }

    /// What is due next happens, at its due time. What completes is appended to `completed`.
    pub fn advance(&mut self, completed: &mut Vec<Completed>) {
        self.happen(Nanos::MAX, completed);
    }

    /// What is due at `latest` or before happens, each at its due time, until I/Os complete; they are appended to
    /// `completed`, which must be empty. Gives the time of the last that happened; `None`: nothing was due.
    #[expect(
        clippy::inline_always,
        reason = "every I/O comes by here, and a call costs as much as the work"
    )]
    #[inline(always)]
    pub fn advance_until(
        &mut self,
        latest: Nanos,
        completed: &mut Vec<Completed>,
    ) -> Option<Nanos> {
        let mut last = None;
        while completed.is_empty() {
            match self.happen(latest, completed) {
                None => break,
                happened => last = happened,
            }
        }
        last
    }

    /// Looks at the token of the event that comes next, so that it and what it goes to are in the nearest cache when its
    /// time has come: where those are far more than fit there, and which is next is known early.
    #[expect(
        clippy::inline_always,
        reason = "every I/O comes by here, and a call costs as much as the work"
    )]
    #[inline(always)]
    fn bring_near(&mut self) {
        if self.look_ahead > 0 {
            self.look_at_next();
        }
    }

    /// The same where that is worth a look.
    #[inline]
    fn look_at_next(&mut self) {
        if !self.tokens.are_many() {
            self.look_ahead -= 1;
        }
        let token = match self.agenda.likely_next() {
            Some(Event::Token(token)) => Some(token),
            Some(Event::Departure(stage)) => self.stages[stage as usize].head(),
            _ => None,
        };
        if let Some(token) = token
            && let Some((cache, offset)) = self.tokens.touch(token)
        {
            self.caches[cache as usize].touch(offset);
        }
    }

    /// The next event of all, where it is due at `latest` or before; gives its time.
    #[expect(
        clippy::inline_always,
        reason = "every I/O comes by here, and a call costs as much as the work"
    )]
    #[inline(always)]
    fn happen(&mut self, latest: Nanos, completed: &mut Vec<Completed>) -> Option<Nanos> {
        let (now, event) = self.agenda.pop(latest.get())?;
        self.bring_near();
        match event {
            Event::Departure(stage) => self.release(now, stage, completed),
            Event::Token(token) => self.go_on(now, token, completed),
            Event::Flush(cache) => self.flush_cache(now, cache, completed),
        }
        if !self.ready.is_empty() {
            self.settle(now, completed);
        }
        Some(now)
    }

    /// Starts a read or write of disks: mostly one token.
    #[expect(
        clippy::inline_always,
        reason = "every I/O comes by here, and a call costs as much as the work"
    )]
    #[inline(always)]
    fn on_disks(&mut self, now: Nanos, request: Request, completed: &mut Vec<Completed>) {
        let stripe = &self.volumes[request.volume.index()].stripe;
        let length = u64::from(request.length.max(1));
        let part = stripe.first_part(request.offset, length);
        if part.length == length {
            let slot = self.open_token();
            self.start_part(now, slot, request, (NONE, 0), part, completed);
        } else {
            // A copy for what is not on the way of most I/Os: theirs need not lie in memory.
            self.on_several_parts(now, &{ request }, completed);
        }
    }

    /// Splits a read or write of disks into tokens and starts them.
    fn on_several_parts(&mut self, now: Nanos, request: &Request, completed: &mut Vec<Completed>) {
        let volume_index = request.volume.index() as u32;
        let stripe = self.volumes[volume_index as usize].stripe;
        let parent = self.parents.put(Parent {
            tag: request.tag,
            volume: volume_index,
            // Held open until every part has been started, since parts may pass at once.
            parts_left: 1,
        });
        let parts = stripe.parts(request.offset, u64::from(request.length));
        for (number, part) in parts.enumerate() {
            self.parents.get_mut(parent).parts_left += 1;
            let slot = self.open_token();
            let of = (parent, number as u64);
            self.start_part(now, slot, *request, of, part, completed);
        }
        self.close_part(now, parent, Waits::NONE, completed);
    }

    /// Starts the token of one part of a read or write. It is put together where it will lie: every I/O comes by here, and
    /// what is written in pieces and then copied as a whole waits for the pieces.
    #[expect(
        clippy::inline_always,
        reason = "every I/O comes by here, and a call costs as much as the work"
    )]
    #[inline(always)]
    fn start_part(
        &mut self,
        now: Nanos,
        slot: u32,
        request: Request,
        (io, number): (u32, u64),
        part: StripePart,
        completed: &mut Vec<Completed>,
    ) {
        let token = self.tokens.get_mut(slot);
        let volume = &mut self.volumes[request.volume.index()];
        let disk = &self.disks[(volume.first_disk + part.disk) as usize];
        let cache_offset = disk.cache_base + part.offset;
        token.effect = Effect::None;
        let path = match (volume.cache, request.kind) {
            (None, IoKind::Read) => disk.read,
            (None, _) => disk.write,
            (Some(cache), IoKind::Read) => {
                volume.reads += 1;
                let cached = &mut self.caches[cache as usize];
                if cached.holds(cache_offset, part.length) {
                    volume.hits += 1;
                    if cached.has_memory() && cached.recall(cache_offset, part.length) {
                        volume.memory_hits += 1;
                        disk.read_memory
                    } else {
                        disk.read_hit
                    }
                } else {
                    token.effect = Effect::Fill(cache, cache_offset);
                    self.look_ahead = LOOK_AHEAD;
                    disk.read
                }
            }
            (Some(cache), _) => {
                let kept = disk.flusher != NONE && !request.fua;
                if kept && self.caches[cache as usize].takes_writes() {
                    token.effect = Effect::Dirty(disk.flusher, cache_offset);
                    disk.write_back
                } else {
                    token.effect = Effect::Fill(cache, cache_offset);
                    self.look_ahead = LOOK_AHEAD;
                    disk.write
                }
            }
        };
        token.draw = draw(disk.random_key, request.stream, request.index, number);
        token.tag = request.tag;
        token.io = io;
        token.volume = request.volume.index() as u32;
        token.path = path;
        token.bytes = part.length as u32;
        token.file = NONE;
        token.step = path;
        token.waited.0.clear();
        self.start(now, slot, (path, part.length as u32), completed);
    }

    /// Starts a token.
    #[inline]
    fn launch(&mut self, now: Nanos, token: Token, completed: &mut Vec<Completed>) {
        let slot = self.open_token();
        *self.tokens.get_mut(slot) = token;
        self.start(now, slot, (token.step, token.bytes), completed);
    }

    /// A slot for a token.
    #[inline]
    fn open_token(&mut self) -> u32 {
        let slot = self.tokens.open();
        if slot >= Tokens::MANY {
            self.look_ahead = LOOK_AHEAD;
        }
        slot
    }

    /// A new token of so many bytes comes to the first step of its path, which is mostly a queue.
    #[expect(
        clippy::inline_always,
        reason = "every I/O comes by here, and a call costs as much as the work"
    )]
    #[inline(always)]
    fn start(
        &mut self,
        now: Nanos,
        slot: u32,
        (step, bytes): (u32, u32),
        completed: &mut Vec<Completed>,
    ) {
        if let Step::Rate(stage) = self.paths.step(step) {
            match self.stages[stage as usize].enter(now, slot, bytes) {
                Entered::Queued => return,
                Entered::Waits(at) => {
                    self.agenda.departs(Some(at), stage);
                    return;
                }
                Entered::Leaves(at, limit) => {
                    let (token, mut ways) = self.ways(slot);
                    return ways.leaves(now, (slot, token), stage, (at, limit));
                }
                Entered::Passed if self.goes_on_in_lane(now, slot) => return,
                Entered::Passed => self.tokens.get_mut(slot).step += 1,
            }
        }
        self.forward_from_anywhere(now, slot, completed);
    }

    /// Whether a volume's machine caches it.
    pub fn is_cached(&self, volume: VolumeId) -> bool {
        self.volumes[volume.index()].cache.is_some()
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
