//! A stage of work on file sets, in virtual time.
//!
//! Workers draw what they do from the streams that real runs use; each act is a request to the storage model, which says
//! when it is over. Operations on directories and files take time over the network alone, as docs/model.md has it.
//!
//! Invariants: the clock only goes forward; a worker has one act under way; where all workers wait for each other, they
//! end.

mod states;
mod worker;

use std::collections::BTreeMap;

use fathom_model::{Completed, FileId, IoKind, MetadataOp, Request, Storage};
use fathom_record::{EventSink, StageResult, WorkerStats};
use fathom_units::Nanos;
use fathom_workload::Direction;
use fathom_workload::generator::{SetAct, SetFile};

pub(crate) use self::states::SetStates;
pub(crate) use self::worker::Done;
use self::worker::{Step, Worker};
use crate::flows::Flows;
use crate::gauges::Gauges;
use crate::intervals::Intervals;
use crate::plan::PlannedJob;
use crate::stage::{Finished, Interrupted, Setup, storage_rows};

/// Events between two looks at the stop signal.
const EVENTS_PER_LOOK: u32 = 1 << 12;
/// The tag of requests that nothing waits for.
const UNWATCHED: u64 = u64::MAX;

/// What happens at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Due {
    Worker(usize),
    Measure,
}

/// A stage under way.
pub(crate) struct SetRun<'a, 'r> {
    setup: &'r Setup<'a>,
    storage: &'r mut Storage,
    sink: &'r mut dyn EventSink,
    /// By time and order of arrival.
    agenda: BTreeMap<(Nanos, u64), Due>,
    sequence: u64,
    workers: Vec<Worker>,
    flows: Flows,
    intervals: Intervals,
    gauges: Gauges,
    measure: Nanos,
    now: Nanos,
    /// Whether the consumer of events ended it.
    is_cut: bool,
}

impl<'a, 'r> SetRun<'a, 'r> {
    /// Of a stage whose jobs all work on file sets.
    pub fn new(
        setup: &'r Setup<'a>,
        storage: &'r mut Storage,
        states: &mut SetStates,
        sink: &'r mut dyn EventSink,
    ) -> Self {
        while storage.next_due().is_some_and(|at| at < setup.start) {
            storage.advance(&mut Vec::new());
        }
        let mut workers = Vec::new();
        for (index, planned) in setup.jobs.iter().enumerate() {
            workers.extend(worker::of_job(index, planned, setup, states));
        }
        let jobs = setup.jobs.iter();
        let mut goes = jobs.map(|planned| Direction::ALL.map(|way| planned.job.moves(way)));
        let used = [0, 1, 2].map(|way| goes.clone().any(|goes| goes[way]));
        let mut intervals = Intervals::new(setup.index, used).after_failures(setup.failed_before);
        if sink.wants_jobs() {
            intervals = intervals.with_jobs(goes.by_ref());
        }
        let measure = workers.iter().map(|worker| worker.times.measure).min();
        Self {
            setup,
            storage,
            sink,
            agenda: BTreeMap::new(),
            sequence: 0,
            flows: Flows::of(workers.iter().map(|worker| setup.jobs[worker.job].job)),
            workers,
            intervals,
            gauges: Gauges::default(),
            measure: measure.unwrap_or(setup.start),
            now: setup.start,
            is_cut: false,
        }
    }

    /// Runs to the end, or until `stop` says so.
    pub fn run(mut self, name: &str, stage: usize, stop: &dyn Fn() -> bool) -> Finished {
        self.note(self.measure, Due::Measure);
        for index in 0..self.workers.len() {
            self.note(self.workers[index].times.first, Due::Worker(index));
        }
        let mut interrupted = Interrupted::No;
        let mut events = 0;
        while self.happen() {
            if self.is_cut && self.workers.iter().all(Worker::is_closed) {
                break;
            }
            events += 1;
            if events % EVENTS_PER_LOOK == 0 && stop() {
                interrupted = Interrupted::Yes;
                self.workers.iter_mut().for_each(Worker::interrupt);
                break;
            }
        }
        let ends = self.workers.iter().map(Worker::end).max();
        self.now = self.now.max(ends.unwrap_or_default());
        let end = self.now;
        Finished {
            result: self.finish(name, stage),
            end,
            interrupted,
        }
    }

    fn note(&mut self, at: Nanos, due: Due) {
        self.sequence += 1;
        self.agenda.insert((at, self.sequence), due);
    }

    /// The next event of all happens; the model's go first. `false`: there is none.
    fn happen(&mut self) -> bool {
        let own = self.agenda.first_key_value().map(|(key, _)| key.0);
        if own.is_none() && !self.storage.has_requests() {
            return false;
        }
        let mut completed = Vec::new();
        match self.storage.next_due() {
            Some(at) if own.is_none_or(|own| at <= own) => {
                self.go_to(at);
                self.storage.advance(&mut completed);
            }
            _ => {
                let Some(((at, _), due)) = self.agenda.pop_first() else {
                    return false;
                };
                self.go_to(at);
                match due {
                    Due::Worker(index) => self.step(index, &mut completed),
                    Due::Measure => {
                        self.storage.restart_statistics(self.now);
                        self.gauges.begin(self.now, self.storage);
                        let at = self.now - self.setup.start;
                        self.intervals.measure(at, self.sink);
                    }
                }
            }
        }
        self.settle(completed);
        true
    }

    fn go_to(&mut self, at: Nanos) {
        assert!(at >= self.now, "the clock only goes forward");
        if at >= self.gauges.due() {
            self.gauges.read_until(at, self.storage);
        }
        self.now = at;
    }

    /// Handles completions until none are left; each may free what others wait for.
    fn settle(&mut self, mut completed: Vec<Completed>) {
        while let Some(one) = completed.pop() {
            if one.tag == UNWATCHED {
                continue;
            }
            let index = one.tag as usize;
            let at = self.now - self.setup.start;
            if let Some(done) = self.workers[index].completed(self.now, &one) {
                self.count(index, at, done);
            } else if one.error.is_some() && self.workers[index].measures_at(self.now) {
                if at >= self.intervals.end() {
                    self.begin_interval(at);
                }
                self.intervals.record_failure(at, self.sink);
            }
            self.step(index, &mut completed);
            for other in 0..self.workers.len() {
                if self.workers[other].is_idle() {
                    self.step(other, &mut completed);
                }
            }
        }
    }

    /// Counts what worker `index` did.
    fn count(&mut self, index: usize, at: Nanos, done: Done) {
        if at >= self.intervals.end() {
            self.begin_interval(at);
        }
        self.intervals.record_act(at, done, self.sink);
        self.intervals.record_job_act(self.workers[index].job, done);
    }

    /// The present interval is over; whoever consumes events may end the stage with it.
    fn begin_interval(&mut self, at: Nanos) {
        self.intervals.roll(at, self.sink);
        if self.is_cut || !self.sink.ends_stage() {
            return;
        }
        self.is_cut = true;
        for index in 0..self.workers.len() {
            self.workers[index].end_at(self.now);
            self.note(self.now, Due::Worker(index));
        }
    }

    /// Lets a worker begin what it may.
    fn step(&mut self, index: usize, completed: &mut Vec<Completed>) {
        loop {
            match self.step_in_flow(index) {
                Step::Act(act) => return self.submit(index, act, completed),
                Step::Whole(done) => {
                    let at = self.now - self.setup.start;
                    if let Some(done) = done {
                        self.count(index, at, done);
                    }
                }
                Step::WaitUntil(at) => return self.note(at, Due::Worker(index)),
                Step::Rest => return,
            }
        }
    }

    /// A step of a worker, which waits between requests where it is ahead of its flow.
    fn step_in_flow(&mut self, index: usize) -> Step {
        if self.flows.is_empty() {
            return self.workers[index].step(self.now);
        }
        let number = index as u32;
        let begins = self.workers[index].is_between_requests();
        if begins && self.flows.holds(number) {
            return Step::Rest;
        }
        let group = self.flows.group_of(number);
        let step = self.workers[index].step(self.now);
        if self.workers[index].is_closed() {
            self.flows.leave(number);
        } else if begins && matches!(step, Step::Act(_) | Step::WaitUntil(_)) {
            self.flows.issued(number);
        }
        while let Some(other) = group.and_then(|group| self.flows.released(group)) {
            self.note(self.now, Due::Worker(other as usize));
        }
        step
    }

    fn submit(&mut self, index: usize, act: SetAct, completed: &mut Vec<Completed>) {
        let worker = &self.workers[index];
        let planned = &self.setup.jobs[worker.job];
        let own = SetFile { set: 0, number: 0 };
        let (file, kind, offset, length) = match act {
            SetAct::Transfer {
                file,
                direction,
                offset,
                length,
            } => {
                let kind = match direction {
                    Direction::Read => IoKind::Read,
                    Direction::Write | Direction::Trim => IoKind::Write,
                };
                (file, kind, offset, length)
            }
            SetAct::Create(file) => (file, IoKind::Metadata(MetadataOp::Create), 0, 0),
            SetAct::Open(file, _) => (file, IoKind::Metadata(MetadataOp::Open), 0, 0),
            SetAct::Close(file) => (file, IoKind::Metadata(MetadataOp::Close), 0, 0),
            SetAct::Delete(file) => (file, IoKind::Metadata(MetadataOp::Delete), 0, 0),
            SetAct::Access(file) | SetAct::GetAttributes(file) | SetAct::SetAttributes(file) => {
                (file, IoKind::Metadata(MetadataOp::Stat), 0, 0)
            }
            SetAct::Move(number) => {
                let file = SetFile { set: 0, number };
                (file, IoKind::Metadata(MetadataOp::Delete), 0, 0)
            }
            SetAct::MakeDirectory(_) => (own, IoKind::Metadata(MetadataOp::Create), 0, 0),
            SetAct::RemoveDirectory(_) | SetAct::CleanUp => {
                (own, IoKind::Metadata(MetadataOp::Delete), 0, 0)
            }
        };
        let target = &planned.targets[worker.place_of(file)];
        let is_directory = matches!(act, SetAct::MakeDirectory(_) | SetAct::RemoveDirectory(_));
        let request = Request {
            volume: target.volume,
            client: target.client,
            file: if is_directory {
                FileId::NONE
            } else {
                target.file
            },
            kind,
            fua: planned.job.sync.open != fathom_workload::OpenSync::None,
            offset: target.start + offset,
            length,
            stream: worker.stream_number,
            index: worker.acts.wrapping_add(self.setup.first_draw()),
            tag: index as u64,
        };
        self.storage.submit(self.now, request, completed);
        if matches!(act, SetAct::MakeDirectory(_)) {
            // What makes a directory opens it, and closes it again; the worker does not wait for that.
            let close = Request {
                kind: IoKind::Metadata(MetadataOp::Close),
                tag: UNWATCHED,
                ..request
            };
            self.storage.submit(self.now, close, completed);
        }
    }

    fn finish(self, name: &str, stage: usize) -> StageResult {
        let ends = self.workers.iter().map(Worker::end);
        let end = ends.max().unwrap_or(self.measure);
        let start = self.setup.start;
        let workers: Vec<WorkerStats> = self.workers.into_iter().map(Worker::finish).collect();
        let intervals = self.intervals.finish(end - start, self.sink);
        let mut storage = storage_rows(self.storage, self.now);
        self.gauges.finish(self.now, self.storage, &mut storage);
        StageResult {
            measured: end - self.measure,
            workers,
            intervals,
            storage,
            ..StageResult::new(name, stage)
        }
    }
}

/// Whether a stage's jobs work on file sets.
pub(crate) fn is_of_sets(jobs: &[PlannedJob<'_>]) -> bool {
    jobs.iter()
        .any(|planned| planned.job.features.file_work.is_some())
}
