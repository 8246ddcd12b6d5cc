//! One stage in virtual time.
//!
//! Invariant: the clock only goes forward, and every wake-up of the model is delivered at its time.

mod results;

use fathom_model::{
    ClosedLoops, Completed, IoError, IoKind, MetadataOp, Request, Storage, Turn, Waits,
};
use fathom_record::{Event, EventSink, StageResult, WorkerStats};
use fathom_units::{Nanos, Percent};
use fathom_workload::generator::WorkerStream;
use fathom_workload::generator::{ArrivalSchedule, Io, SharedCursor, StreamError, StreamKey};
use fathom_workload::{Backend, Direction, FileOperation, Job, OpenSync};

pub use self::results::storage_rows;
use crate::agenda::{Agenda, Due};
use crate::flows::Flows;
use crate::gauges::Gauges;
use crate::intervals::Intervals;
use crate::io_logs::IoLogs;
use crate::plan::{PlannedJob, PlannedTarget};
use crate::worker::{Step, Times, Worker};

/// How many times storage goes on (each time by hundreds of events at most) between two looks at the stop signal.
const EVENTS_PER_LOOK: u32 = 1 << 10;

/// What a stage is run with.
pub(crate) struct Setup<'a> {
    pub jobs: &'a [PlannedJob<'a>],
    pub seed: u64,
    /// Index among all stages and repeats.
    pub index: usize,
    /// Which repeat of its stage, counted from 0.
    pub repeat: u32,
    /// When it starts on the run's clock.
    pub start: Nanos,
}

impl Setup<'_> {
    /// What the number of a worker's first I/O is moved by where storage's chances are drawn: nothing in the first repeat,
    /// and in every other so far from all the rest that none takes another's. Repeats do the same I/O, and what storage does
    /// to it by chance (media latency, failures of media) is new each time; otherwise they were copies, and their spread
    /// nothing.
    ///
    /// Multiples of 2^64 / golden ratio lie evenly (Knuth, The Art of Computer Programming, 6.4): as many as a stage has
    /// repeats at most are 2^50 apart.
    pub fn first_draw(&self) -> u64 {
        u64::from(self.repeat).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

/// What came of a stage.
pub(crate) struct Finished {
    pub result: StageResult,
    /// When its last event happened, and its measurement ended.
    pub end: Nanos,
    pub interrupted: Interrupted,
}

/// Whether the user stopped it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Interrupted {
    No,
    Yes,
}

/// Where the I/O of one worker goes, and what it is.
struct Route<'a> {
    /// Index of its job within the stage.
    job: usize,
    targets: &'a [PlannedTarget],
    stream: u64,
    first_draw: u64,
    backend: Backend,
    /// Whether it is reads and writes of storage alone.
    plain: bool,
    /// What stands in place of reads and writes.
    operation: Option<FileOperation>,
    /// Writes are durable when they complete.
    fua: bool,
}

/// The tag of requests that nothing waits for.
const UNWATCHED: u64 = u64::MAX;

/// A stage under way.
pub(crate) struct Run<'a, 'r> {
    setup: &'r Setup<'a>,
    storage: &'r mut Storage,
    sink: &'r mut dyn EventSink,
    agenda: Agenda,
    completed: Vec<Completed>,
    workers: Vec<Worker>,
    routes: Vec<Route<'r>>,
    flows: Flows,
    logs: IoLogs,
    intervals: Intervals,
    gauges: Gauges,
    measure: Nanos,
    now: Nanos,
    /// Whether a consumer of events has ended it.
    is_cut: bool,
}

impl<'a, 'r> Run<'a, 'r> {
    pub fn new(
        setup: &'r Setup<'a>,
        storage: &'r mut Storage,
        sink: &'r mut dyn EventSink,
    ) -> Result<Self, StreamError> {
        // What storage does by itself goes on between stages.
        while storage.next_due().is_some_and(|at| at < setup.start) {
            storage.advance(&mut Vec::new());
        }
        let mut workers = Vec::new();
        let mut routes = Vec::new();
        for (index, planned) in setup.jobs.iter().enumerate() {
            let shared = SharedCursor::new();
            for number in 0..planned.job.workers.max(1) {
                let key = StreamKey {
                    seed: setup.seed,
                    job: planned.number,
                    worker: number,
                    salt: planned.job.salt,
                };
                let mut worker = new_worker(index, planned, key, &shared, setup)?;
                let first = planned.targets.first();
                worker.may_turn(is_plain(planned.job));
                worker.looks_ahead = planned.job.backend != Backend::Null
                    && first.is_some_and(|target| storage.expects(target.volume));
                workers.push(worker);
                routes.push(Route {
                    job: index,
                    targets: &planned.targets,
                    stream: u64::from(planned.number) << 32 | u64::from(number),
                    first_draw: setup.first_draw(),
                    backend: planned.job.backend,
                    plain: is_plain(planned.job),
                    operation: planned.job.features.operation,
                    fua: planned.job.sync.open != OpenSync::None,
                });
            }
        }
        let flows = Flows::of(routes.iter().map(|route| setup.jobs[route.job].job));
        let logs = IoLogs::of(routes.iter().zip(&workers).map(|(route, worker)| {
            let job = setup.jobs[route.job].job;
            (route.job, job, worker.stats.worker, worker.times.measure)
        }));
        let goes = |planned: &PlannedJob<'_>| {
            Direction::ALL.map(|way| planned.job.mix.share(way).basis_points() > 0)
        };
        let jobs = || setup.jobs.iter().map(goes);
        let used = jobs().fold([false; 3], |used, goes| {
            [0, 1, 2].map(|way| used[way] || goes[way])
        });
        let mut intervals = Intervals::new(setup.index, used);
        if sink.wants_jobs() {
            intervals = intervals.with_jobs(jobs());
        }
        let measure = workers.iter().map(|worker| worker.times.measure).min();
        Ok(Self {
            setup,
            storage,
            sink,
            agenda: Agenda::default(),
            completed: Vec::new(),
            workers,
            routes,
            flows,
            logs,
            intervals,
            gauges: Gauges::default(),
            measure: measure.unwrap_or(setup.start),
            now: setup.start,
            is_cut: false,
        })
    }

    /// Runs to the end, or until `stop` says so.
    pub fn run(mut self, name: &str, stage: usize, stop: &dyn Fn() -> bool) -> Finished {
        self.storage.unwatched_until(self.measure);
        self.agenda.push(self.measure, Due::Measure);
        for (index, worker) in self.workers.iter().enumerate() {
            self.agenda
                .push(worker.times.first, Due::Worker(index as u32));
        }
        let mut interrupted = Interrupted::No;
        let mut events = 0;
        while self.happen() {
            if self.is_cut && !self.storage.has_requests() {
                // What was waited for comes no more.
                break;
            }
            events += 1;
            if events % EVENTS_PER_LOOK == 0 && stop() {
                interrupted = Interrupted::Yes;
                self.workers.iter_mut().for_each(Worker::interrupt);
                // What storage knows ahead has been counted.
                while self.now < self.storage.known_until() && self.happen() {}
                break;
            }
        }
        // A worker that time ended has measured beyond its last I/O: what comes next comes after that.
        let ends = self.workers.iter().map(Worker::end).max();
        self.now = self.now.max(ends.unwrap_or_default());
        let end = self.now;
        let result = self.finish(name, stage);
        Finished {
            result,
            end,
            interrupted,
        }
    }

    /// The next event of all happens; the model's go first. `false`: there is none.
    #[expect(
        clippy::inline_always,
        reason = "every I/O comes by here, and a call costs as much as the work"
    )]
    #[inline(always)]
    fn happen(&mut self) -> bool {
        let end = self.setup.start.saturating_add(self.intervals.end());
        let end = end.saturating_sub(Nanos::new(1));
        let latest = self.agenda.next_at().min(self.gauges.last_before());
        let latest = latest.min(end);
        if self.storage.has_requests()
            && let Some(at) = self.advance_until(latest)
        {
            assert!(at >= self.now, "the clock only goes forward");
            self.now = at;
            if !self.completed.is_empty() {
                self.settle();
            }
            return true;
        }
        self.happen_by_rules()
    }

    /// What is due in storage at `latest` or before happens, and closed loops go on; gives the time of the last event.
    #[expect(
        clippy::inline_always,
        reason = "every I/O comes by here, and a call costs as much as the work"
    )]
    #[inline(always)]
    fn advance_until(&mut self, latest: Nanos) -> Option<Nanos> {
        let mut turns = Turns {
            workers: &mut self.workers,
            routes: &self.routes,
            intervals: &mut self.intervals,
        };
        let completed = &mut self.completed;
        self.storage.advance_turning(latest, completed, &mut turns)
    }

    /// The same where it may not be an event of the model's alone, or comes with a sample.
    #[inline(never)]
    fn happen_by_rules(&mut self) -> bool {
        let own = self.agenda.next_due();
        // What storage does by itself holds no stage open.
        if own.is_none() && !self.storage.has_requests() {
            return false;
        }
        match self.storage.next_due() {
            Some(at) if own.is_none_or(|own| at <= own) => {
                self.go_to(at);
                self.storage.advance(&mut self.completed);
                self.settle();
            }
            _ => {
                let Some((at, due)) = self.agenda.pop() else {
                    return false;
                };
                self.go_to(at);
                self.handle(due);
            }
        }
        true
    }

    #[inline]
    fn go_to(&mut self, at: Nanos) {
        assert!(at >= self.now, "the clock only goes forward");
        if at >= self.gauges.due() {
            self.gauges.read_until(at, self.storage);
        }
        self.now = at;
    }

    #[inline]
    fn handle(&mut self, due: Due) {
        match due {
            Due::Worker(index) => {
                self.workers[index as usize].wake(self.now);
                self.pump(index);
                self.settle();
            }
            Due::Measure => {
                self.storage.restart_statistics(self.now);
                self.storage.unwatched_until(Nanos::MAX);
                self.gauges.begin(self.now, self.storage);
                self.count_all_recent();
                self.intervals
                    .measure(self.now - self.setup.start, self.sink);
            }
        }
    }

    /// Handles completions until none are left.
    #[inline(never)]
    fn settle(&mut self) {
        while let Some(last) = self.completed.len().checked_sub(1) {
            self.complete(last);
        }
    }

    /// Handles the last completion, which stands at `place`: there, since to take it out would copy it.
    #[expect(
        clippy::inline_always,
        reason = "every I/O comes by here, and a call costs as much as the work"
    )]
    #[inline(always)]
    fn complete(&mut self, place: usize) {
        let Some(Completed { tag, waits, error }) = self.completed.get(place) else {
            return;
        };
        let (tag, error) = (*tag, *error);
        if tag == UNWATCHED {
            self.completed.truncate(place);
            return;
        }
        let index = (tag >> 32) as u32;
        let worker = &mut self.workers[index as usize];
        if let Some(error) = error {
            worker.fail(self.now, tag as u32, errno_of(error));
        } else if let Some(io) = worker.complete(self.now, tag as u32, waits) {
            if self.now - self.setup.start >= self.intervals.end() {
                self.begin_interval();
            }
            if self.workers[index as usize].put_aside(io) {
                self.count_recent(index as usize, io.0);
            }
            if !self.logs.is_empty() {
                let of = (self.setup.index, index, tag as u32);
                self.logs.completed(of, self.now, io, self.sink);
            }
        }
        self.completed.truncate(place);
        self.pump(index);
    }

    /// Counts what workers have put aside, of one direction.
    #[inline(never)]
    fn count_recent(&mut self, index: usize, direction: Direction) {
        let job = self.routes[index].job;
        count_recent(
            &mut self.workers[index],
            direction,
            job,
            &mut self.intervals,
        );
    }

    /// The same of all workers and directions.
    fn count_all_recent(&mut self) {
        for index in 0..self.workers.len() {
            for direction in Direction::ALL {
                if self.workers[index].has_recent(direction) {
                    self.count_recent(index, direction);
                }
            }
        }
    }

    /// The present interval is over.
    #[cold]
    fn begin_interval(&mut self) {
        self.count_all_recent();
        self.intervals.roll(self.now - self.setup.start, self.sink);
        if !self.is_cut && self.sink.ends_stage() {
            self.is_cut = true;
            for (index, worker) in self.workers.iter_mut().enumerate() {
                worker.end_at(self.now);
                self.agenda.push(self.now, Due::Worker(index as u32));
            }
        }
    }

    /// Lets a worker issue what it may.
    #[inline(never)]
    fn pump(&mut self, index: u32) {
        loop {
            let worker = &mut self.workers[index as usize];
            if worker.rests() {
                return;
            }
            let looks_ahead = worker.is_to_look_ahead();
            if let Some((io, slot)) = worker.next_of_stretch(self.now) {
                if looks_ahead {
                    self.look_ahead(index);
                }
                self.issue(index, io, slot);
            } else if !self.pump_by_rules(index) {
                return;
            }
        }
    }

    /// Tells storage of the I/Os that a worker has drawn.
    fn look_ahead(&self, index: u32) {
        let route = &self.routes[index as usize];
        if let [target, ..] = route.targets {
            for offset in self.workers[index as usize].upcoming() {
                self.storage.expect(target.volume, target.start + offset);
            }
        }
    }

    /// The same with a look at everything that a worker may do; `false`: there is nothing more to do now.
    #[inline(never)]
    fn pump_by_rules(&mut self, index: u32) -> bool {
        if self.flows.is_empty() {
            return self.pump_one(index);
        }
        if self.flows.holds(index) {
            return false;
        }
        let group = self.flows.group_of(index);
        let (before, goes_on) = (
            self.workers[index as usize].outstanding(),
            self.pump_one(index),
        );
        let worker = &self.workers[index as usize];
        if worker.is_closed() {
            self.flows.leave(index);
        } else if worker.outstanding() > before {
            self.flows.issued(index);
        }
        while let Some(other) = group.and_then(|group| self.flows.released(group)) {
            self.agenda.push(self.now, Due::Worker(other));
        }
        goes_on
    }

    /// One step of a worker; `false`: there is nothing more to do now.
    fn pump_one(&mut self, index: u32) -> bool {
        match self.workers[index as usize].step(self.now) {
            Step::Issue(io, slot) => self.issue(index, io, slot),
            Step::Sync(target, slot) => self.sync(index, target, slot),
            Step::WaitUntil(at) => {
                self.agenda.push(at, Due::Worker(index));
                return false;
            }
            Step::Rest => return false,
        }
        true
    }

    #[expect(
        clippy::inline_always,
        reason = "every I/O comes by here, and a call costs as much as the work"
    )]
    #[inline(always)]
    fn issue(&mut self, index: u32, io: Io, slot: u32) {
        let route = &self.routes[index as usize];
        if !route.plain {
            self.issue_other(index, &{ io }, slot);
            return;
        }
        let tag = u64::from(index) << 32 | u64::from(slot);
        let request = request_of(route, &io, kind_of(io.direction), tag);
        self.storage.submit(self.now, request, &mut self.completed);
    }

    /// The same for work that is not plain reads and writes.
    #[inline(never)]
    fn issue_other(&mut self, index: u32, io: &Io, slot: u32) {
        self.logs.issued(index, slot, io);
        let route = &self.routes[index as usize];
        let tag = u64::from(index) << 32 | u64::from(slot);
        if route.backend == Backend::Null {
            self.completed.push(done_at_once(tag));
            return;
        }
        let kind = match (route.operation, io.direction) {
            (Some(operation), _) => IoKind::Metadata(metadata_of(operation)),
            (None, Direction::Trim) => IoKind::Trim,
            (None, direction) => kind_of(direction),
        };
        let request = request_of(route, io, kind, tag);
        self.storage.submit(self.now, request, &mut self.completed);
        // What was created is open, and is closed again; the worker does not wait for that.
        if request.kind == IoKind::Metadata(MetadataOp::Create) {
            let close = Request {
                kind: IoKind::Metadata(MetadataOp::Close),
                tag: UNWATCHED,
                ..request
            };
            self.storage.submit(self.now, close, &mut self.completed);
        }
    }

    /// Makes what was written to a target's volume durable.
    fn sync(&mut self, index: u32, target: u32, slot: u32) {
        let route = &self.routes[index as usize];
        let tag = u64::from(index) << 32 | u64::from(slot);
        if route.backend == Backend::Null {
            self.completed.push(done_at_once(tag));
            return;
        }
        let target = &route.targets[target as usize];
        let request = Request {
            volume: target.volume,
            client: target.client,
            file: target.file,
            kind: IoKind::Flush,
            fua: false,
            offset: target.start,
            length: 0,
            stream: route.stream,
            index: route.first_draw,
            tag,
        };
        self.storage.submit(self.now, request, &mut self.completed);
    }
}

/// The completion of what no storage is asked for.
fn done_at_once(tag: u64) -> Completed {
    Completed {
        tag,
        waits: Waits::NONE,
        error: None,
    }
}

/// What an I/O is to storage that is read and written alone.
#[inline]
fn kind_of(direction: Direction) -> IoKind {
    match direction {
        Direction::Read => IoKind::Read,
        Direction::Write | Direction::Trim => IoKind::Write,
    }
}

/// An I/O as storage takes it.
#[expect(
    clippy::inline_always,
    reason = "every I/O comes by here, and a call costs as much as the work"
)]
#[inline(always)]
fn request_of(route: &Route<'_>, io: &Io, kind: IoKind, tag: u64) -> Request {
    let target = &route.targets[io.target as usize];
    Request {
        volume: target.volume,
        client: target.client,
        file: target.file,
        kind,
        fua: route.fua,
        offset: target.start + io.offset,
        length: io.length,
        stream: route.stream,
        index: io.index.wrapping_add(route.first_draw),
        tag,
    }
}

/// The workers of a stage in an interval.
struct Turns<'s, 'r> {
    workers: &'s mut [Worker],
    routes: &'s [Route<'r>],
    intervals: &'s mut Intervals,
}

impl ClosedLoops for Turns<'_, '_> {
    #[expect(
        clippy::inline_always,
        reason = "every I/O comes by here, and a call costs as much as the work"
    )]
    #[inline(always)]
    fn next(&mut self, now: Nanos, tag: u64, waits: &Waits) -> Turn {
        let (index, slot) = ((tag >> 32) as usize, tag as u32);
        let Some(worker) = self.workers.get_mut(index) else {
            return Turn::Unknown;
        };
        let Some((io, full)) = worker.turn(now, slot, waits) else {
            return Turn::Unknown;
        };
        let route = &self.routes[index];
        if let Some(direction) = full {
            count_recent(worker, direction, route.job, self.intervals);
        }
        match io {
            Some(io) => Turn::Next(request_of(route, &io, kind_of(io.direction), tag)),
            None => Turn::Over,
        }
    }
}

/// Counts what a worker of `job` has put aside, of one direction.
#[inline(never)]
fn count_recent(worker: &mut Worker, direction: Direction, job: usize, intervals: &mut Intervals) {
    let recent = worker.count_recent(direction, intervals.counting(direction));
    intervals.count_for_job(job, direction, recent);
    recent.clear();
}

/// Whether a job reads and writes storage, and nothing else, and tells nothing of it.
fn is_plain(job: &Job) -> bool {
    let trims = job.mix.share(Direction::Trim) > Percent::ZERO;
    let told = job.features.io_log.each;
    job.backend != Backend::Null && job.features.operation.is_none() && !trims && !told
}

/// The operation on names of which a share knows.
fn metadata_of(operation: FileOperation) -> MetadataOp {
    match operation {
        FileOperation::Create | FileOperation::CreateDirectory => MetadataOp::Create,
        FileOperation::Delete | FileOperation::DeleteDirectory => MetadataOp::Delete,
        FileOperation::Stat(_)
        | FileOperation::StatDirectory(_)
        | FileOperation::Allocate
        | FileOperation::Truncate => MetadataOp::Stat,
    }
}

/// The number that Linux has for an error: `EMFILE` where too many handles are open, `EIO`, `ENODEV`.
pub(crate) const fn errno_of(error: IoError) -> i32 {
    match error {
        IoError::TooManyHandles => 24,
        IoError::Io => 5,
        IoError::Gone => 19,
    }
}

fn new_worker(
    index: usize,
    planned: &PlannedJob<'_>,
    key: StreamKey,
    shared: &SharedCursor,
    setup: &Setup<'_>,
) -> Result<Worker, StreamError> {
    let job = planned.job;
    let ranges: Vec<_> = planned.targets.iter().map(|target| target.range).collect();
    // A job under rates by direction is one stream at their sum.
    let at_rates = job.features.rates.map(|_| Job {
        mix: job.mix_at_rates(),
        ..job.clone()
    });
    let drawn = at_rates.as_ref().unwrap_or(job);
    let stream = WorkerStream::new(drawn, key, &ranges, shared)?;
    let schedule = ArrivalSchedule::of(job, key.of_repeat(setup.repeat));
    let limits = &job.limits;
    let first = setup.start.saturating_add(limits.start_delay);
    let measure = first.saturating_add(limits.warmup);
    let deadline = limits
        .runtime
        .map(|runtime| measure.saturating_add(runtime));
    let times = Times {
        stage: setup.start,
        first,
        measure,
        deadline,
    };
    let stats = WorkerStats::new(index, key.worker);
    Ok(Worker::new(job, stats, stream, schedule, times))
}

/// A stage's announcement.
pub(crate) fn announce(
    sink: &mut dyn EventSink,
    (index, count): (usize, usize),
    name: &str,
    jobs: &[PlannedJob<'_>],
) {
    let ends = jobs.iter().map(|planned| {
        let limits = &planned.job.limits;
        let before = limits.start_delay.saturating_add(limits.warmup);
        limits.runtime.map(|runtime| before.saturating_add(runtime))
    });
    let ends: Option<Vec<Nanos>> = ends.collect();
    let expected = ends.and_then(|ends| ends.into_iter().max());
    sink.event(&Event::StageStarted {
        index,
        count,
        name,
        expected,
    });
}
