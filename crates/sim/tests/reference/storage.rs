//! The storage of a design, event by event.
//!
//! Every I/O is cut into parts; every part has a list of steps and a place in it. Nothing is done ahead of time: what a step
//! holds back is written into a list of things to look at later, and looked at then.

use std::collections::BTreeMap;

use fathom_model::LatencyTable;

use super::allowance::Allowance;
use super::cache::Cache;
use super::draw::{self, Key};
use super::stripe::Stripe;

/// What happens later inside storage.
#[derive(Debug, Clone, Copy)]
pub enum Event {
    /// The head of this queue may leave.
    Leave(usize),
    /// This part's media latency is over.
    MediaOver(usize),
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

/// One step of a path.
#[derive(Debug, Clone, Copy)]
pub enum Step {
    /// Wait in this queue until its limits let the part go.
    Queue(usize),
    /// Stay on media for a time drawn from this law; the depth counts in this queue's row.
    Media { law: usize, row: usize },
}

/// A queue and its limits.
#[derive(Debug)]
pub struct Queue {
    pub name: String,
    pub limits: Vec<Limit>,
    /// What waits for limits of I/Os, and for those of bytes, are called.
    pub limit_names: [&'static str; 2],
    /// Bytes above which an I/O counts as several.
    pub unit: Option<u64>,
    pub waiting: Vec<usize>,
    pub row: Row,
    /// Every I/O that left.
    pub left: Vec<Departure>,
}

/// A limit, and what it counts.
#[derive(Debug)]
pub struct Limit {
    pub counts: Counts,
    pub allowance: Allowance,
}

/// What a limit counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counts {
    Ios,
    Bytes,
}

/// An I/O that left a queue.
#[derive(Debug, Clone, Copy)]
pub struct Departure {
    pub at: u64,
    /// What it counted for the limit of I/Os.
    pub units: u64,
    pub bytes: u64,
    /// Index of the limit that held it longest; `None`: it did not wait.
    pub held_by: Option<usize>,
}

/// What passed a part of the storage.
#[derive(Debug, Default)]
pub struct Row {
    pub ios: u64,
    pub bytes: u64,
    pub reads: u64,
    pub hits: u64,
    /// When each of those inside came and went.
    pub stays: Vec<(u64, Option<u64>)>,
}

/// A volume or device.
#[derive(Debug)]
pub struct Volume {
    /// `None`: it has no row of its own.
    pub name: Option<String>,
    pub stripe: Stripe,
    /// Its disks among all of the design.
    pub first_disk: usize,
    /// Index of the cache, where it is cached.
    pub cache: Option<usize>,
    pub row: Row,
}

/// Paths of one disk.
#[derive(Debug, Clone)]
pub struct Disk {
    pub read: Vec<Step>,
    pub read_hit: Vec<Step>,
    pub write: Vec<Step>,
}

/// An I/O as it comes in.
#[derive(Debug, Clone, Copy)]
pub struct Request {
    pub volume: usize,
    pub write: bool,
    pub offset: u64,
    pub length: u64,
    pub stream: u64,
    pub index: u64,
    pub tag: usize,
}

#[derive(Debug)]
struct Part {
    request: usize,
    disk: usize,
    number: u64,
    bytes: u64,
    path: Vec<Step>,
    /// Steps done.
    done: usize,
    since: u64,
    /// Offset on the disk from which it fills the cache in the end.
    fill: Option<u64>,
    waits: Vec<(&'static str, u64)>,
    /// Index of its present stay, where it is inside.
    stay: usize,
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
    seed: u64,
    pub queues: Vec<Queue>,
    pub volumes: Vec<Volume>,
    pub disks: Vec<Disk>,
    pub caches: Vec<Cache>,
    pub laws: Vec<LatencyTable>,
    requests: Vec<Open>,
    parts: Vec<Part>,
}

impl Queue {
    /// First moment at which all limits let the head go.
    fn earliest(&self) -> u64 {
        let each = self.limits.iter().map(|limit| limit.allowance.earliest());
        each.max().unwrap_or(0)
    }

    /// Index of the first of those limits that let the head go last.
    fn last_limit(&self) -> Option<usize> {
        let last = self.earliest();
        let mut each = self.limits.iter();
        each.position(|limit| limit.allowance.earliest() == last)
    }

    /// What a wait for the head's last limit is called. Where limits of I/Os and of bytes let it go at once, I/Os do.
    fn wait_name(&self) -> &'static str {
        let last = self.earliest();
        let ios = self
            .limits
            .iter()
            .any(|limit| limit.counts == Counts::Ios && limit.allowance.earliest() == last);
        self.limit_names[usize::from(!ios)]
    }

    fn charge(&mut self, now: u64, bytes: u64, held_by: Option<usize>) {
        let units = self.unit.map_or(1, |unit| bytes.div_ceil(unit).max(1));
        for limit in &mut self.limits {
            let cost = match limit.counts {
                Counts::Ios => units,
                Counts::Bytes => bytes,
            };
            limit.allowance.take(now, cost);
        }
        self.left.push(Departure {
            at: now,
            units,
            bytes,
            held_by,
        });
    }
}

impl Row {
    fn enter(&mut self, now: u64) -> usize {
        self.stays.push((now, None));
        self.stays.len() - 1
    }

    fn leave(&mut self, stay: usize, now: u64) {
        self.stays[stay].1 = Some(now);
    }

    fn count(&mut self, bytes: u64) {
        self.ios += 1;
        self.bytes += bytes;
    }

    /// Mean number inside from `start` to `end`.
    pub fn depth(&self, start: u64, end: u64) -> f64 {
        let inside = self.stays.iter().map(|(came, went)| {
            let went = went.unwrap_or(end).min(end);
            u128::from(went.saturating_sub((*came).max(start)))
        });
        let area: u128 = inside.sum();
        if end == start {
            return 0.0;
        }
        area as f64 / (end - start) as f64
    }
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
        let pieces = volume.stripe.pieces(request.offset, request.length);
        let number = self.requests.len();
        self.requests.push(Open {
            request,
            parts_left: pieces.len(),
            stay,
        });
        for (part_number, piece) in pieces.into_iter().enumerate() {
            let disk = self.volumes[request.volume].first_disk + piece.disk;
            let (path, fills) = self.path_of(request, disk, piece.offset, piece.length);
            self.parts.push(Part {
                request: number,
                disk,
                number: part_number as u64,
                bytes: piece.length,
                path,
                done: 0,
                since: now,
                fill: fills.then_some(piece.offset),
                waits: Vec::new(),
                stay: 0,
            });
            self.go_on(now, self.parts.len() - 1, happenings);
        }
    }

    /// The steps of a part, and whether it fills the cache when it is done.
    fn path_of(
        &mut self,
        request: Request,
        disk: usize,
        offset: u64,
        length: u64,
    ) -> (Vec<Step>, bool) {
        let volume = &mut self.volumes[request.volume];
        let paths = &self.disks[disk];
        match (volume.cache, request.write) {
            (None, false) => (paths.read.clone(), false),
            (None, true) => (paths.write.clone(), false),
            (Some(_), true) => (paths.write.clone(), true),
            (Some(cache), false) => {
                volume.row.reads += 1;
                if self.caches[cache].read(disk, offset, length) {
                    volume.row.hits += 1;
                    (paths.read_hit.clone(), false)
                } else {
                    (paths.read.clone(), true)
                }
            }
        }
    }

    /// Something is due.
    pub fn happen(&mut self, now: u64, event: Event, happenings: &mut Happenings) {
        match event {
            Event::Leave(queue) => self.let_go(now, queue, happenings),
            Event::MediaOver(part) => {
                let Part {
                    ref path,
                    done,
                    stay,
                    ..
                } = self.parts[part];
                if let Step::Media { row, .. } = path[done] {
                    self.queues[row].row.leave(stay, now);
                }
                self.parts[part].done += 1;
                self.go_on(now, part, happenings);
            }
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
            happenings
                .later
                .push((queue.earliest(), Event::Leave(number)));
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
                    if queue.waiting.is_empty() && queue.earliest() <= now {
                        queue.charge(now, part.bytes, None);
                        part.done += 1;
                        continue;
                    }
                    part.stay = queue.row.enter(now);
                    queue.waiting.push(number);
                    if queue.waiting.len() == 1 {
                        let at = queue.earliest();
                        happenings.later.push((at, Event::Leave(queue_number)));
                    }
                    return;
                }
                Step::Media { law, row } => {
                    let request = &self.requests[part.request].request;
                    let quantile = draw::quantile(Key {
                        seed: self.seed,
                        disk: part.disk as u64,
                        stream: request.stream,
                        index: request.index,
                        part: part.number,
                    });
                    part.stay = self.queues[row].row.enter(now);
                    let at = now + self.laws[law].at(quantile).get();
                    happenings.later.push((at, Event::MediaOver(number)));
                    return;
                }
            }
        }
        self.part_done(now, number, happenings);
    }

    fn part_done(&mut self, now: u64, number: usize, happenings: &mut Happenings) {
        let part = &mut self.parts[number];
        let open = &mut self.requests[part.request];
        let volume = &mut self.volumes[open.request.volume];
        if let (Some(offset), Some(cache)) = (part.fill, volume.cache) {
            self.caches[cache].fill(part.disk, offset, part.bytes);
        }
        open.parts_left -= 1;
        if open.parts_left == 0 {
            volume.row.leave(open.stay, now);
            happenings.finished.push(Finished {
                tag: open.request.tag,
                waits: std::mem::take(&mut part.waits),
            });
        }
    }

    /// Takes a range into the cache before a run, as long as there is room.
    pub fn warm(&mut self, volume: usize, offset: u64, length: u64) {
        let volume = &self.volumes[volume];
        let Some(cache) = volume.cache else { return };
        for piece in volume.stripe.pieces(offset, length) {
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
            (row.ios, row.bytes, row.reads, row.hits) = (0, 0, 0, 0);
        }
    }

    /// What passed each part, by name.
    pub fn rows(&self) -> BTreeMap<&str, &Row> {
        let queues = self.queues.iter().map(|queue| (&*queue.name, &queue.row));
        let volumes = self.volumes.iter();
        let volumes = volumes.filter_map(|volume| Some((volume.name.as_deref()?, &volume.row)));
        queues.chain(volumes).collect()
    }
}
