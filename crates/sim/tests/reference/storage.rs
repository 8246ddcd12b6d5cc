//! The storage of a design, event by event.
//!
//! Every I/O is cut into parts; every part has a list of steps and a place in it. Nothing is done ahead of time: what a step
//! holds back is written into a list of things to look at later, and looked at then.

use std::collections::BTreeMap;

use fathom_model::LatencyTable;

use super::cache::Cache;
use super::draw::{self, Draw};
use super::queue::{Queue, Row, Window};
use super::volume::{Disk, Kind, Step, Volume};
use super::write_back::Run;

/// How often all that is dirty in a cache becomes due.
const FLUSH_PERIOD_NS: u64 = 5_000_000_000;

/// What happens later inside storage.
#[derive(Debug, Clone, Copy)]
pub enum Event {
    /// The head of this queue may leave.
    Leave(usize),
    /// This part's media latency, or another pause, is over.
    PauseOver(usize),
    /// All that is dirty in this cache is due.
    Flush(usize),
}

/// What came of a call: events with their times, and finished I/Os, in the order in which they came about.
#[derive(Debug, Default)]
pub struct Happenings {
    pub later: Vec<(u64, Event)>,
    pub finished: Vec<Finished>,
}

/// A finished I/O.
#[derive(Debug)]
pub struct Finished {
    pub tag: usize,
    /// Time spent waiting for each limit, in ns, by the limit's name; those of the last part.
    pub waits: Vec<(&'static str, u64)>,
}

/// An I/O as it comes in.
#[derive(Debug, Clone, Copy)]
pub struct Request {
    pub volume: usize,
    /// The machine it comes from.
    pub client: Option<usize>,
    /// Number of its file.
    pub file: usize,
    pub write: bool,
    /// A write must be on its disk when it completes.
    pub durable: bool,
    pub offset: u64,
    pub length: u64,
    pub stream: u64,
    pub index: u64,
    pub tag: usize,
}

/// A part before it sets out.
struct Plan {
    path: Vec<Step>,
    bytes: u64,
    /// Key of its media latency.
    key: u64,
    at_end: AtEnd,
}

#[derive(Debug)]
struct Part {
    /// `None`: storage does it by itself.
    request: Option<usize>,
    bytes: u64,
    path: Vec<Step>,
    /// Steps done.
    done: usize,
    since: u64,
    /// Chooses its media latency.
    quantile: u64,
    at_end: AtEnd,
    waits: Vec<(&'static str, u64)>,
    /// Index of its present stay, where it is inside.
    stay: usize,
}

/// What a part does when it is done. Places are (cache, disk, offset on it).
#[derive(Debug, Clone, Copy)]
enum AtEnd {
    Nothing,
    /// Fills the cache.
    Fills(usize, usize, u64),
    /// Is in the cache, and dirty.
    Dirties(usize, usize, u64),
    /// Is on the disk.
    Cleans(usize, Run),
}

#[derive(Debug)]
struct Open {
    request: Request,
    parts_left: usize,
    stay: usize,
}

/// A whole storage system.
#[derive(Debug, Default)]
pub struct Storage {
    pub seed: u64,
    pub queues: Vec<Queue>,
    pub windows: Vec<Window>,
    pub volumes: Vec<Volume>,
    pub disks: Vec<Disk>,
    pub caches: Vec<Cache>,
    pub laws: Vec<LatencyTable>,
    requests: Vec<Open>,
    parts: Vec<Part>,
    /// Parts that a window has let in.
    let_in: Vec<usize>,
    /// Caches whose next flush is noted.
    flush_noted: Vec<usize>,
}

impl Storage {
    /// Nothing yet; media latencies will come from `seed`.
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            ..Self::default()
        }
    }

    /// An I/O comes in.
    pub fn submit(&mut self, now: u64, request: Request, happenings: &mut Happenings) {
        let volume = &mut self.volumes[request.volume];
        volume.row.count(request.length);
        let stay = volume.row.enter(now);
        let number = self.requests.len();
        self.requests.push(Open {
            request,
            parts_left: self.parts_of(request),
            stay,
        });
        for part in 0..self.requests[number].parts_left {
            let plan = self.plan(now, request, part);
            let draw = Draw {
                stream: request.stream,
                index: request.index,
                part: part as u64,
            };
            self.start(now, Some(number), plan, draw, happenings);
        }
        self.settle(now, happenings);
    }

    /// How many parts an I/O has.
    fn parts_of(&self, request: Request) -> usize {
        let (offset, length) = (request.offset, request.length);
        match &self.volumes[request.volume].kind {
            Kind::Disks(stripe) => stripe.pieces(offset, length).len(),
            Kind::Array(array) => array.works(request.write, offset, length).len(),
            Kind::Nfs(nfs) => nfs.count(request.write, length),
            Kind::Share(_) => 1,
        }
    }

    /// One part of an I/O. The parts before it have set out.
    fn plan(&mut self, now: u64, request: Request, part: usize) -> Plan {
        let (offset, length) = (request.offset, request.length);
        let volume = &mut self.volumes[request.volume];
        let first_disk = volume.first_disk;
        match &mut volume.kind {
            Kind::Disks(stripe) => {
                let piece = stripe.pieces(offset, length)[part];
                let disk = first_disk + piece.disk;
                let (path, at_end) = self.path_of(request, disk, piece.offset, piece.length);
                Plan {
                    path,
                    bytes: piece.length,
                    key: draw::disk_key(self.seed, disk),
                    at_end,
                }
            }
            Kind::Array(array) => {
                let work = array.works(request.write, offset, length).swap_remove(part);
                Plan {
                    path: work.path,
                    bytes: work.bytes,
                    key: draw::disk_key(self.seed, first_disk + work.disk),
                    at_end: AtEnd::Nothing,
                }
            }
            Kind::Nfs(nfs) => {
                let (path, bytes) = nfs.call(request.client, request.write, length, part);
                Plan {
                    path,
                    bytes,
                    key: nfs.key,
                    at_end: AtEnd::Nothing,
                }
            }
            Kind::Share(share) => {
                let from = (request.client, request.stream, request.file);
                Plan {
                    path: share.path(now, from, (request.write, length)),
                    bytes: length,
                    key: share.key,
                    at_end: AtEnd::Nothing,
                }
            }
        }
    }

    /// The steps of a part on a disk, and what it does in the end.
    fn path_of(
        &mut self,
        request: Request,
        disk: usize,
        offset: u64,
        length: u64,
    ) -> (Vec<Step>, AtEnd) {
        let volume = &mut self.volumes[request.volume];
        let paths = &self.disks[disk];
        match (volume.cache, request.write) {
            (None, false) => (paths.read.clone(), AtEnd::Nothing),
            (None, true) => (paths.write.clone(), AtEnd::Nothing),
            (Some(cache), true) => {
                let taken = self.caches[cache].write_back.takes_writes();
                if taken && !paths.flush.is_empty() && !request.durable {
                    (
                        paths.into_cache.clone(),
                        AtEnd::Dirties(cache, disk, offset),
                    )
                } else {
                    (paths.write.clone(), AtEnd::Fills(cache, disk, offset))
                }
            }
            (Some(cache), false) => {
                volume.row.reads += 1;
                if self.caches[cache].read(disk, offset, length) {
                    volume.row.hits += 1;
                    if self.caches[cache].recalls(disk, offset, length) {
                        volume.row.from_memory += 1;
                        return (paths.read_memory.clone(), AtEnd::Nothing);
                    }
                    (paths.read_hit.clone(), AtEnd::Nothing)
                } else {
                    (paths.read.clone(), AtEnd::Fills(cache, disk, offset))
                }
            }
        }
    }

    /// A part sets out.
    fn start(
        &mut self,
        now: u64,
        request: Option<usize>,
        plan: Plan,
        draw: Draw,
        happenings: &mut Happenings,
    ) {
        self.parts.push(Part {
            request,
            bytes: plan.bytes,
            path: plan.path,
            done: 0,
            since: now,
            quantile: draw::quantile(plan.key, draw),
            at_end: plan.at_end,
            waits: Vec::new(),
            stay: 0,
        });
        self.go_on(now, self.parts.len() - 1, happenings);
    }

    /// Something is due.
    pub fn happen(&mut self, now: u64, event: Event, happenings: &mut Happenings) {
        match event {
            Event::Leave(queue) => self.let_go(now, queue, happenings),
            Event::PauseOver(number) => {
                let part = &mut self.parts[number];
                if let Step::Media { row, .. } = part.path[part.done] {
                    self.queues[row].row.leave(part.stay, now);
                }
                part.done += 1;
                self.go_on(now, number, happenings);
            }
            Event::Flush(cache) => self.flush(now, cache, happenings),
        }
        self.settle(now, happenings);
    }

    /// Parts that windows have let in go on, in the order in which they were let in.
    fn settle(&mut self, now: u64, happenings: &mut Happenings) {
        while !self.let_in.is_empty() {
            let number = self.let_in.remove(0);
            self.go_on(now, number, happenings);
        }
    }

    /// Lets go every head that may leave now, and looks again when the next one may.
    fn let_go(&mut self, now: u64, number: usize, happenings: &mut Happenings) {
        while !self.queues[number].waiting.is_empty() && self.queues[number].earliest() <= now {
            let queue = &mut self.queues[number];
            let head = queue.waiting.remove(0);
            let (name, limit) = (queue.wait_name(), queue.last_limit());
            let part = &mut self.parts[head];
            queue.charge(now, part.bytes, limit);
            queue.row.leave(part.stay, now);
            part.waits.push((name, now - part.since));
            part.done += 1;
            self.go_on(now, head, happenings);
        }
        let queue = &self.queues[number];
        if !queue.waiting.is_empty() {
            let at = queue.earliest();
            happenings.later.push((at, Event::Leave(number)));
        }
    }

    /// Takes a part through its steps until one holds it back.
    fn go_on(&mut self, now: u64, number: usize, happenings: &mut Happenings) {
        self.parts[number].since = now;
        while self.parts[number].done < self.parts[number].path.len() {
            let part = &mut self.parts[number];
            match part.path[part.done] {
                Step::Queue(queue_number) => {
                    let queue = &mut self.queues[queue_number];
                    queue.row.count(part.bytes);
                    if !queue.waiting.is_empty() || queue.earliest() > now {
                        part.stay = queue.row.enter(now);
                        queue.waiting.push(number);
                        if queue.waiting.len() == 1 {
                            let leave = Event::Leave(queue_number);
                            happenings.later.push((queue.earliest(), leave));
                        }
                        return;
                    }
                    queue.charge(now, part.bytes, None);
                }
                Step::Window(window) => {
                    let window = &mut self.windows[window];
                    if !window.waiting.is_empty() || !window.admit(part.bytes) {
                        window.waiting.push(number);
                        return;
                    }
                }
                Step::Media { law, row } => {
                    part.stay = self.queues[row].row.enter(now);
                    let at = now + self.laws[law].at(part.quantile).get();
                    happenings.later.push((at, Event::PauseOver(number)));
                    return;
                }
                Step::Pause(time) => {
                    let over = Event::PauseOver(number);
                    happenings.later.push((now + time, over));
                    return;
                }
            }
            part.done += 1;
        }
        self.part_done(now, number, happenings);
    }

    fn part_done(&mut self, now: u64, number: usize, happenings: &mut Happenings) {
        self.leave_windows(now, number);
        let bytes = self.parts[number].bytes;
        match self.parts[number].at_end {
            AtEnd::Nothing => {}
            AtEnd::Fills(cache, disk, offset) => self.caches[cache].fill(disk, offset, bytes),
            AtEnd::Dirties(cache, disk, offset) => {
                self.caches[cache].fill(disk, offset, bytes);
                self.caches[cache].write_back.write(disk, offset, bytes);
                if !self.flush_noted.contains(&cache) {
                    self.flush_noted.push(cache);
                    let at = (now / FLUSH_PERIOD_NS + 1) * FLUSH_PERIOD_NS;
                    happenings.later.push((at, Event::Flush(cache)));
                }
                self.begin_writes(now, cache, disk, happenings);
            }
            AtEnd::Cleans(cache, run) => {
                self.caches[cache].write_back.done(run);
                self.begin_writes(now, cache, run.disk, happenings);
            }
        }
        let Some(request) = self.parts[number].request else {
            return;
        };
        let open = &mut self.requests[request];
        open.parts_left -= 1;
        if open.parts_left == 0 {
            self.volumes[open.request.volume].row.leave(open.stay, now);
            happenings.finished.push(Finished {
                tag: open.request.tag,
                waits: std::mem::take(&mut self.parts[number].waits),
            });
        }
    }

    /// A part gives its places in windows to others.
    fn leave_windows(&mut self, now: u64, number: usize) {
        for step in self.parts[number].path.clone() {
            let Step::Window(window) = step else { continue };
            let window = &mut self.windows[window];
            window.leave(self.parts[number].bytes);
            while let Some(first) = window.waiting.first().copied() {
                let part = &mut self.parts[first];
                let kept_out_by = window.held_by;
                if !window.admit(part.bytes) {
                    break;
                }
                window.waiting.remove(0);
                part.waits.push((kept_out_by, now - part.since));
                part.done += 1;
                self.let_in.push(first);
            }
        }
    }

    /// The time of a cache's periodic flush has come.
    fn flush(&mut self, now: u64, cache: usize, happenings: &mut Happenings) {
        let cached = self.volumes.iter().filter(|one| one.cache == Some(cache));
        let disks = cached.flat_map(|one| one.first_disk..one.first_disk + one.disk_count);
        for disk in disks.collect::<Vec<_>>() {
            self.caches[cache].write_back.flush(disk);
            self.begin_writes(now, cache, disk, happenings);
        }
        if self.caches[cache].write_back.has_work() {
            let at = now + FLUSH_PERIOD_NS;
            happenings.later.push((at, Event::Flush(cache)));
        } else {
            self.flush_noted.retain(|noted| *noted != cache);
        }
    }

    /// Background writes of a disk that may begin do.
    fn begin_writes(&mut self, now: u64, cache: usize, disk: usize, happenings: &mut Happenings) {
        for run in self.caches[cache].write_back.begin(disk) {
            let plan = Plan {
                path: self.disks[disk].flush.clone(),
                bytes: run.length,
                key: draw::background_key(self.seed, disk),
                at_end: AtEnd::Cleans(cache, run),
            };
            let draw = Draw {
                stream: 0,
                index: self.disks[disk].flushed,
                part: 0,
            };
            self.disks[disk].flushed += 1;
            self.start(now, None, plan, draw, happenings);
        }
    }

    /// Whether an I/O is under way.
    pub fn is_busy(&self) -> bool {
        self.requests.iter().any(|open| open.parts_left > 0)
    }

    /// Takes a range into the cache before a run, as long as there is room.
    pub fn warm(&mut self, volume: usize, offset: u64, length: u64) {
        let volume = &self.volumes[volume];
        let (Some(cache), Kind::Disks(stripe)) = (volume.cache, &volume.kind) else {
            return;
        };
        for piece in stripe.pieces(offset, length) {
            let disk = volume.first_disk + piece.disk;
            if self.caches[cache]
                .warm(disk, piece.offset, piece.length)
                .is_err()
            {
                return;
            }
        }
    }

    /// Forgets what passed so far. What is inside stays inside.
    pub fn restart_rows(&mut self) {
        let volumes = self.volumes.iter_mut().map(|volume| &mut volume.row);
        for row in volumes.chain(self.queues.iter_mut().map(|queue| &mut queue.row)) {
            (row.ios, row.bytes, row.reads) = (0, 0, 0);
            (row.hits, row.from_memory) = (0, 0);
        }
    }

    /// What passed each part, by name.
    pub fn rows(&self) -> BTreeMap<&str, &Row> {
        let named = self.queues.iter().filter(|queue| !queue.name.is_empty());
        let queues = named.map(|queue| (&*queue.name, &queue.row));
        let volumes = self.volumes.iter();
        let volumes = volumes.filter_map(|volume| Some((volume.name.as_deref()?, &volume.row)));
        queues.chain(volumes).collect()
    }
}
