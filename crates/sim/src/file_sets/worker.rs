//! One worker on a file set in virtual time: what it does next, and what it measured.

use std::collections::VecDeque;
use std::sync::Arc;

use fathom_model::{Completed, IoError, Limit};
use fathom_record::{EndReason, FailedOperation, IoErrors, OpStats, SetStats, WorkerStats};
use fathom_units::Nanos;
use fathom_workload::generator::{
    ActEnd, ArrivalSchedule, RequestPart, SetAct, SetFile, SetNext, SetShare, SetState, SetStream,
    StreamKey, is_owed,
};
use fathom_workload::{Direction, Pacing, SetOperation};

use super::states::SetStates;
use crate::plan::PlannedJob;
use crate::stage::Setup;
use crate::worker::Times;

/// What a worker does next.
#[derive(Debug, Clone, Copy)]
pub(super) enum Step {
    /// This, now.
    Act(SetAct),
    /// Nothing: a request of several acts is over; it is given where it is measured.
    Whole(Option<Done>),
    /// Look again at this time.
    WaitUntil(Nanos),
    /// Nothing until something completes, or never again.
    Rest,
}

/// What was done, and is measured.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Done {
    /// Data that moved: which way, and how many bytes.
    pub moved: Option<(Direction, u64)>,
    /// The operation, where no data moved.
    pub operation: Option<SetOperation>,
    /// How long it took.
    pub latency: Nanos,
    /// How long after its intended start it was done, where it has one.
    pub response: Option<Nanos>,
}

/// A worker of a stage.
pub(super) struct Worker {
    /// Index of its job within the stage.
    pub job: usize,
    pub times: Times,
    /// Number of its stream, for the model's draws.
    pub stream_number: u64,
    /// Acts so far.
    pub acts: u64,
    stream: SetStream,
    state: Arc<SetState>,
    share: Arc<SetShare>,
    /// Files of the first set, which come first among the job's targets.
    first_files: usize,
    /// Under way, since when.
    under_way: Option<(SetAct, Nanos)>,
    /// The first act of a request that is not due yet.
    pending: Option<SetAct>,
    /// What a clean-up has left to remove.
    cleaning: Option<VecDeque<SetAct>>,
    idle: bool,
    closed: bool,
    intended: Nanos,
    request_begun: Nanos,
    last_completion: Nanos,
    waited: [[u128; Limit::ALL.len()]; 3],
    stats: WorkerStats,
}

/// The workers of a job.
pub(super) fn of_job(
    index: usize,
    planned: &PlannedJob<'_>,
    setup: &Setup<'_>,
    states: &mut SetStates,
) -> Vec<Worker> {
    let job = planned.job;
    let Some(work) = job.features.file_work.as_deref() else {
        return Vec::new();
    };
    let key = |worker| StreamKey {
        seed: setup.seed,
        job: planned.number,
        worker,
        salt: job.salt,
    };
    let mut sets = Vec::new();
    let mut before = 0;
    for set in job
        .targets
        .iter()
        .filter_map(|target| target.place.file_set())
    {
        let Some(target) = planned.targets.get(before) else {
            break;
        };
        sets.push(states.of(target.volume, set, work.task));
        before += set.file_count() as usize;
    }
    let arrivals = key(0).of_repeat(setup.repeat);
    let schedule = work
        .rate
        .map(|rate| ArrivalSchedule::new(Pacing::Iops(rate.rate), rate.process, arrivals));
    let share = Arc::new(SetShare::new(schedule));
    let open = work.rate.is_some();
    let limits = &job.limits;
    let first = setup.start.saturating_add(limits.start_delay);
    let measure = first.saturating_add(limits.warmup);
    let times = Times {
        stage: setup.start,
        first,
        measure,
        deadline: limits.runtime.map(|time| measure.saturating_add(time)),
    };
    let worker = |number| {
        let mut stats = WorkerStats::new(index, number);
        stats.started = measure - setup.start;
        stats.set = SetStats::new(&work.task.operations(work.delete_first), open);
        stats.directions =
            Direction::ALL.map(|way| job.moves(way).then(|| OpStats::new(open, false)));
        Worker {
            job: index,
            times,
            stream_number: u64::from(planned.number) << 32 | u64::from(number),
            acts: 0,
            stream: SetStream::new(job, work, key(number), sets.clone(), Arc::clone(&share)),
            state: Arc::clone(&sets[0]),
            share: Arc::clone(&share),
            first_files: sets[0].set().file_count() as usize,
            under_way: None,
            pending: None,
            cleaning: None,
            idle: false,
            closed: false,
            intended: Nanos::ZERO,
            request_begun: Nanos::ZERO,
            last_completion: Nanos::ZERO,
            waited: Default::default(),
            stats,
        }
    };
    (0..job.workers.max(1)).map(worker).collect()
}

impl Worker {
    /// Place among the job's targets of a file.
    pub fn place_of(&self, file: SetFile) -> usize {
        file.number as usize + usize::from(file.set) * self.first_files
    }

    /// Whether it waits for what others do.
    pub fn is_idle(&self) -> bool {
        self.idle && !self.closed
    }

    /// Whether what it does next begins a request.
    pub fn is_between_requests(&self) -> bool {
        let busy = self.closed || self.under_way.is_some() || self.pending.is_some();
        !busy && self.cleaning.is_none() && !self.stream.is_within_request()
    }

    /// Whether it does nothing more.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// What to do at `now`.
    pub fn step(&mut self, now: Nanos) -> Step {
        self.idle = false;
        if self.closed || self.under_way.is_some() {
            return Step::Rest;
        }
        let over = self.times.deadline.is_some_and(|deadline| now >= deadline);
        if over && !self.stream.is_within_request() && !self.owes() {
            return self.close(EndReason::Time);
        }
        if let Some(act) = self.next_removal(now) {
            return act;
        }
        if let Some(act) = self.pending.take() {
            return self.begin_request(act, now);
        }
        match self.stream.next_act() {
            SetNext::Act(act, RequestPart::First) => {
                let start = self.share.next_start(self.earliest(now));
                self.intended = start.map_or(now, |start| {
                    self.times.first.saturating_add(Nanos::new(start))
                });
                self.begin_request(act, now)
            }
            SetNext::Act(act, RequestPart::Later) => self.begin(act, now),
            SetNext::Whole(operation) => {
                let latency = now - self.request_begun;
                let done = Done {
                    moved: None,
                    operation: Some(operation),
                    latency,
                    response: None,
                };
                Step::Whole(self.count(now, self.request_begun, done))
            }
            // What is owed is in the hands of those that work.
            SetNext::Busy if over => self.close(EndReason::Time),
            SetNext::Busy => {
                self.idle = true;
                Step::Rest
            }
            SetNext::End => self.close(EndReason::Done),
        }
    }

    /// From when on a request that begins at `now` may have been due, in ns from the first.
    fn earliest(&self, now: Nanos) -> u64 {
        if now >= self.times.measure {
            (self.times.measure - self.times.first).get()
        } else {
            0
        }
    }

    /// Whether a worker whose time is over is to begin a request that was due by then, as in a real run.
    fn owes(&self) -> bool {
        let Some(deadline) = self.times.deadline else {
            return false;
        };
        let earliest = self.earliest(deadline);
        let next = || Some(self.times.first + Nanos::new(self.share.peek_start(earliest)?));
        let due = self.pending.map(|_| self.intended).or_else(next);
        due.is_some_and(|due| is_owed(due, self.times.measure, deadline))
    }

    fn begin_request(&mut self, act: SetAct, now: Nanos) -> Step {
        if self.intended > now {
            let never = self
                .times
                .deadline
                .is_some_and(|deadline| self.intended >= deadline);
            if never {
                // It was not begun, and what was taken for it is given back.
                self.stream.ended(act, ActEnd::Failed);
                return self.close(EndReason::Time);
            }
            self.pending = Some(act);
            return Step::WaitUntil(self.intended);
        }
        self.request_begun = now;
        self.begin(act, now)
    }

    fn begin(&mut self, act: SetAct, now: Nanos) -> Step {
        if act == SetAct::CleanUp {
            self.cleaning = Some(self.all_there_is());
            return self.step(now);
        }
        self.acts += 1;
        self.under_way = Some((act, now));
        if now >= self.times.measure {
            self.stats.depth_levels[0] += 1;
        }
        Step::Act(act)
    }

    /// Everything of the set, children before their directories.
    fn all_there_is(&self) -> VecDeque<SetAct> {
        let set = self.state.set();
        let files = (0..set.file_count() as u32).filter(|file| self.state.has_file(*file));
        let files = files.map(|number| SetAct::Delete(SetFile { set: 0, number }));
        let directories = (0..set.directory_count() as u32).rev();
        let directories = directories.filter(|it| self.state.has_directory(*it));
        files
            .chain(directories.map(SetAct::RemoveDirectory))
            .collect()
    }

    fn next_removal(&mut self, now: Nanos) -> Option<Step> {
        let left = self.cleaning.as_mut()?;
        if let Some(act) = left.pop_front() {
            return Some(self.begin(act, now));
        }
        self.cleaning = None;
        self.stream.ended(SetAct::CleanUp, ActEnd::Done);
        None
    }

    fn close(&mut self, reason: EndReason) -> Step {
        self.closed = true;
        self.stats.ended = reason;
        Step::Rest
    }

    /// Nothing that is due after `now` is begun.
    pub fn end_at(&mut self, now: Nanos) {
        let deadline = self.times.deadline.map_or(now, |own| own.min(now));
        self.times.deadline = Some(deadline);
    }

    /// The user stopped the run.
    pub fn interrupt(&mut self) {
        if !self.closed {
            self.close(EndReason::Interrupted);
        }
    }

    /// Whether what ends at `now` is measured.
    pub fn measures_at(&self, now: Nanos) -> bool {
        now >= self.times.measure
    }

    /// What was under way is over; it is given back where it is measured.
    pub fn completed(&mut self, now: Nanos, completed: &Completed) -> Option<Done> {
        let (act, begun) = self.under_way.take()?;
        let end = if completed.error.is_some() {
            ActEnd::Failed
        } else {
            ActEnd::Done
        };
        if self.cleaning.is_none() {
            self.stream.ended(act, end);
        }
        if let Some(error) = completed.error {
            self.fail(now, act, error);
            return None;
        }
        let moved = match act {
            SetAct::Transfer {
                direction, length, ..
            } => Some((direction, u64::from(length))),
            _ => None,
        };
        let done = Done {
            moved,
            operation: act.operation(),
            latency: now - begun,
            response: None,
        };
        if let Some((direction, _)) = moved.filter(|_| now >= self.times.measure) {
            for wait in completed.waits.iter() {
                let waited = &mut self.waited[direction as usize];
                waited[wait.limit as usize] += u128::from(wait.time.get());
            }
        }
        self.count(now, begun, done)
    }

    fn count(&mut self, now: Nanos, begun: Nanos, mut done: Done) -> Option<Done> {
        if now < self.times.measure {
            return None;
        }
        self.last_completion = now;
        let from = begun.max(self.times.measure);
        // The parts of a copy were under way, and are counted.
        if done.operation != Some(SetOperation::Copy) {
            self.stats.outstanding_ns += u128::from((now - from).get());
        }
        let stats = match (done.moved, done.operation) {
            (Some((way, _)), _) => self.stats.directions[way as usize].as_mut(),
            (None, Some(operation)) => self.stats.set.of_mut(operation),
            (None, None) => None,
        };
        if let Some(stats) = stats {
            stats.bytes += done.moved.map_or(0, |(_, bytes)| bytes);
            stats.latency.record(done.latency.get());
            if let Some(response) = &mut stats.response {
                let time = now - self.intended.min(now);
                response.record(time.get());
                done.response = Some(time);
            }
        }
        Some(done)
    }

    fn fail(&mut self, now: Nanos, act: SetAct, error: IoError) {
        if now < self.times.measure {
            return;
        }
        self.last_completion = now;
        let direction = match act {
            SetAct::Transfer { direction, .. } => direction,
            _ => Direction::Write,
        };
        let failed = IoErrors {
            direction,
            operation: act.operation().map(FailedOperation::OnSet),
            errno: crate::stage::errno_of(error),
            count: 1,
            first_offsets: Vec::new(),
        };
        let same = |known: &&mut IoErrors| {
            (known.errno, known.operation, known.direction)
                == (failed.errno, failed.operation, failed.direction)
        };
        match self.stats.errors.iter_mut().find(same) {
            Some(known) => known.count += 1,
            None => self.stats.errors.push(failed),
        }
    }

    /// When its last measured act completed; the start of measurement where none did.
    pub fn end(&self) -> Nanos {
        self.times
            .measured_until(self.stats.ended, self.last_completion)
    }

    /// Its measurements.
    pub fn finish(mut self) -> WorkerStats {
        self.stats.measured = self.end() - self.times.measure;
        if !self.closed {
            // All others waited too.
            self.stats.ended = EndReason::Done;
        }
        for (named, waited) in self.stats.waited_ns.iter_mut().zip(&self.waited) {
            let waits = Limit::ALL.iter().zip(waited).filter(|(_, ns)| **ns > 0);
            *named = waits
                .map(|(limit, ns)| (limit.name().to_owned(), *ns))
                .collect();
        }
        let done = self.stats.depth_levels[0];
        (self.stats.submit_batches[1], self.stats.complete_batches[1]) = (done, done);
        self.stats
    }
}
