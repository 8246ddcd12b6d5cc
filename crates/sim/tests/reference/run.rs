//! A workload on the obvious storage.

use std::collections::BTreeMap;

use fathom_model::Design;
use fathom_workload::generator::{SharedCursor, StreamKey};
use fathom_workload::{Stage, Workload};

use super::build::build;
use super::layout::{Placed, lay_out};
use super::storage::{Event, Happenings, Request, Storage};
use super::worker::{Next, Worker};

/// What one stage, or one repeat of it, measured.
pub struct StageOutcome {
    /// Jobs in order, workers of a job in order.
    pub workers: Vec<Worker>,
    /// From the first measured moment to the last completion, in ns.
    pub measured: u64,
    pub rows: BTreeMap<String, RowOutcome>,
}

/// What passed a part of the storage while it was measured.
#[derive(Debug, Clone, PartialEq)]
pub struct RowOutcome {
    pub ios: u64,
    pub bytes: u64,
    pub depth: f64,
    /// Share of reads that the cache served; `None` where nothing was read, or at parts that have no cache.
    pub hit_share: Option<f64>,
    /// Share of reads that the cache's memory served.
    pub memory_share: f64,
}

/// Something due.
#[derive(Debug, Clone, Copy)]
enum Due {
    Storage(Event),
    Worker(usize),
    Measure,
}

/// What goes first of what is due at one time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Departure,
    Storage,
    Run,
}

/// Runs all stages of `workload` one after another; gives the storage as it is afterwards, too.
pub fn run(workload: &Workload, design: &Design) -> (Vec<StageOutcome>, Storage) {
    let (placed, files) = lay_out(workload, design);
    let mut storage = build(design, &files, workload.seed);
    for target in placed.iter().flatten() {
        let volumes = design.vms.iter().flat_map(|vm| &vm.volumes);
        let warm = volumes
            .map(|volume| volume.cache_start == fathom_model::CacheStart::Warm)
            .nth(target.volume);
        if warm == Some(true) {
            let first = target.start + target.range.offset;
            storage.warm(target.volume, first, target.range.length);
        }
    }
    let mut outcomes = Vec::new();
    let mut start = 0;
    let mut first_job = 0;
    let mut pending = Vec::new();
    for stage in &workload.stages {
        for repeat in 0..stage.repeats.max(1) {
            let workers = workers_of((stage, repeat), first_job, workload.seed, &placed, start);
            let mut run = StageRun::new(&mut storage, workers);
            run.first_draw = u64::from(repeat).wrapping_mul(REPEAT);
            run.go_on(pending, start);
            run.run();
            pending = run.pending();
            start = run.over() + stage.cooldown.get();
            let outcome = run.outcome();
            if !stage.discard {
                outcomes.push(outcome);
            }
        }
        first_job += stage.jobs.len();
    }
    (outcomes, storage)
}

fn workers_of(
    (stage, repeat): (&Stage, u32),
    first_job: usize,
    seed: u64,
    placed: &[Vec<Placed>],
    start: u64,
) -> Vec<Worker> {
    let mut workers = Vec::new();
    for (index, job) in stage.jobs.iter().enumerate() {
        let shared = SharedCursor::new();
        let number = first_job + index;
        for worker in 0..job.workers.max(1) {
            let key = StreamKey {
                seed,
                job: number as u32,
                worker,
                salt: job.salt,
            };
            let targets = &placed[number];
            workers.push(Worker::new(
                job,
                index,
                (key, repeat),
                targets,
                &shared,
                start,
            ));
        }
    }
    workers
}

/// By so much the numbers of draws of one repeat lie behind those of the one before: 2^64 / golden ratio, odd.
const REPEAT: u64 = 11_400_714_819_323_198_485;

struct StageRun<'a> {
    storage: &'a mut Storage,
    workers: Vec<Worker>,
    /// By time. At one time: departures in the order of their queues, what else storage does in the order in which it came
    /// about, and then all else in that order.
    due: BTreeMap<(u64, Rank, u64), Due>,
    noted: u64,
    happenings: Happenings,
    /// (worker, number of its I/O) by tag.
    tags: Vec<(usize, usize)>,
    /// Added to the number of an I/O where its latency is drawn.
    first_draw: u64,
    measure: u64,
    now: u64,
}

impl<'a> StageRun<'a> {
    fn new(storage: &'a mut Storage, workers: Vec<Worker>) -> Self {
        let measure = workers.iter().map(|worker| worker.measure).min();
        let mut run = Self {
            storage,
            due: BTreeMap::new(),
            noted: 0,
            happenings: Happenings::default(),
            tags: Vec::new(),
            first_draw: 0,
            measure: measure.expect("a stage has workers"),
            now: 0,
            workers,
        };
        run.note(run.measure, Due::Measure);
        for worker in 0..run.workers.len() {
            run.note(run.workers[worker].first, Due::Worker(worker));
        }
        run
    }

    fn note(&mut self, at: u64, due: Due) {
        let (rank, place) = match due {
            Due::Storage(Event::Leave(queue)) => (Rank::Departure, queue as u64),
            Due::Storage(_) => (Rank::Storage, self.noted),
            Due::Worker(_) | Due::Measure => (Rank::Run, self.noted),
        };
        self.due.insert((at, rank, place), due);
        self.noted += 1;
    }

    /// What storage does by itself goes on between stages, up to the start of this one, and beside it.
    fn go_on(&mut self, pending: Vec<(u64, Event)>, start: u64) {
        let own = std::mem::take(&mut self.due);
        for (at, event) in pending {
            self.note(at, Due::Storage(event));
        }
        while let Some(((at, ..), Due::Storage(event))) = self.due.first_key_value()
            && *at < start
        {
            let (at, event) = (*at, *event);
            self.due.pop_first();
            self.storage.happen(at, event, &mut self.happenings);
            self.settle();
        }
        for ((at, ..), due) in own {
            self.note(at, due);
        }
    }

    /// Runs until the workers have nothing to do and no I/O is under way.
    fn run(&mut self) {
        loop {
            let waits = self.due.values().any(|due| !matches!(due, Due::Storage(_)));
            if !waits && !self.storage.is_busy() {
                return;
            }
            let Some(((at, ..), due)) = self.due.pop_first() else {
                return;
            };
            self.now = at;
            match due {
                Due::Storage(event) => self.storage.happen(at, event, &mut self.happenings),
                Due::Worker(worker) => {
                    self.workers[worker].ring(at);
                    self.issue(worker);
                }
                Due::Measure => self.storage.restart_rows(),
            }
            self.settle();
        }
    }

    /// What storage will do by itself after the stage.
    fn pending(&self) -> Vec<(u64, Event)> {
        let due = self.due.iter().filter_map(|((at, ..), due)| match due {
            Due::Storage(event) => Some((*at, *event)),
            Due::Worker(_) | Due::Measure => None,
        });
        due.collect()
    }

    /// Tells workers what is finished, which lets them issue more, until nothing is.
    fn settle(&mut self) {
        while !self.happenings.finished.is_empty() {
            let finished = self.happenings.finished.remove(0);
            let (worker, number) = self.tags[finished.tag];
            self.workers[worker].finish(self.now, number, &finished.waits);
            self.issue(worker);
        }
        for (at, event) in std::mem::take(&mut self.happenings.later) {
            self.note(at, Due::Storage(event));
        }
    }

    fn issue(&mut self, number: usize) {
        loop {
            let worker = &mut self.workers[number];
            let (io, issued) = match worker.next(self.now) {
                Next::Issue(io, issued) => (io, issued),
                Next::Alarm(at) => return self.note(at, Due::Worker(number)),
                Next::Nothing => return,
            };
            let target = &worker.targets[io.target as usize];
            let request = Request {
                volume: target.volume,
                client: target.client,
                file: target.file,
                write: Worker::writes(&io),
                durable: worker.durable,
                offset: target.start + io.offset,
                length: u64::from(io.length),
                stream: worker.stream_name,
                index: io.index.wrapping_add(self.first_draw),
                tag: self.tags.len(),
            };
            self.tags.push((number, issued));
            self.storage.submit(self.now, request, &mut self.happenings);
        }
    }

    /// When nobody measures any more.
    fn measured_until(&self) -> u64 {
        let ends = self.workers.iter().map(Worker::end);
        ends.max().expect("a stage has workers")
    }

    /// When all is over: the last event, and every measurement.
    fn over(&self) -> u64 {
        self.now.max(self.measured_until())
    }

    fn outcome(self) -> StageOutcome {
        let end = self.measured_until();
        let (from, to) = (self.measure, self.over());
        let rows = self.storage.rows().into_iter().map(|(name, row)| {
            let outcome = RowOutcome {
                ios: row.ios,
                bytes: row.bytes,
                depth: row.depth(from, to),
                hit_share: (row.reads > 0).then(|| row.hits as f64 / row.reads as f64),
                memory_share: row.from_memory as f64 / row.reads.max(1) as f64,
            };
            (name.to_owned(), outcome)
        });
        StageOutcome {
            rows: rows.collect(),
            measured: end - self.measure,
            workers: self.workers,
        }
    }
}
