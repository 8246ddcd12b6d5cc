//! The I/O of a verified job, in order: writes, and the reads that check them.
//!
//! A *pass* is one walk over the job's stream. After it everything that is in flight is waited for, files are made
//! durable and the page cache is dropped, and then what the pass wrote is read back. The stream of a pass depends on
//! the number of the pass and the worker's key alone, so that the check draws it again.
//!
//! How many passes there are, and what is counted against the limits of a job, is as in fio: a time-based job goes on
//! with further passes; a limit of I/Os counts the reads of checks too; a mix in order ends once all its passes together have
//! moved what its targets have, as often as they are asked for; where a job that writes each block once, in order
//! or at random, shall move more bytes than its files have, passes follow until reads and writes together have moved as many.
//!
//! Invariants: a write is checked after it completed; a block whose write failed is not checked; nothing here grows with
//! the size of a target.

mod pass;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::Arc;

use fathom_workload::generator::{Io, StreamError, StreamKey, TargetRange, WorkerStream};
use fathom_workload::{
    Direction, HeaderCheck, Job, Mix, Verify, VerifyPhase, VerifyRepeats, VerifyTrust,
};

use crate::backlog::{Due, Entry, Waiting};
use crate::contents;
use crate::last_writers::{LastWriters, Line, Search};
use crate::trims::Trims;
use crate::{Expected, Replay, SavedState, TraceWalks, WalkProblem};
use pass::{Pass, Passes};

/// Most I/Os of a pass that is not issued which are drawn in one step.
const UNISSUED_AT_A_TIME: u32 = 1 << 16;
/// The size that most writes of a trace have at least.
const TRACED_SIZE: u64 = 4096;
/// Most failed writes that are remembered; with more the job has other worries than their blocks.
const FAILED_MAX: usize = 1 << 16;

/// An I/O to issue, and what it is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Task {
    /// A read that is not checked, or a discard of the job's own.
    Plain(Io),
    /// A write, to be filled by [`crate::Blocks::fill`].
    Write {
        /// Where to.
        io: Io,
        /// Its number.
        number: u64,
        /// The seed of its contents.
        seed: u64,
    },
    /// A read whose data is checked by [`crate::Blocks::check`].
    Check {
        /// Where from.
        io: Io,
        /// What it must hold.
        expected: Expected,
    },
    /// The discard of a block that was written.
    Discard {
        /// The block.
        io: Io,
        /// Number of its write.
        number: u64,
    },
}

impl Task {
    /// The I/O.
    pub const fn io(&self) -> &Io {
        match self {
            Self::Plain(io)
            | Self::Write { io, .. }
            | Self::Check { io, .. }
            | Self::Discard { io, .. } => io,
        }
    }
}

/// What to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Issue an I/O.
    Issue(Task),
    /// Something in flight must complete first.
    Wait,
    /// The next I/O of the pass is not due, as it was told by what draws it.
    Held,
    /// Nothing yet: ask again.
    Again,
    /// Make all files durable and drop their pages from the cache; nothing is in flight.
    Settle,
    /// The job is done; nothing is in flight.
    End,
}

/// What comes next in a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drawn {
    /// This I/O.
    Io(Io),
    /// Nothing yet.
    NotYet,
    /// Nothing any more.
    Over,
}

/// How an I/O ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Completed {
    /// All of it was transferred.
    Done,
    /// It was not.
    Failed,
}

#[derive(Debug)]
enum Phase {
    /// The stream of the pass.
    Stream,
    /// The stream is over: blocks that are still to be discarded.
    LastTrims,
    /// Nothing is issued until everything has completed.
    Drain,
    /// What was written is read back.
    Check(Checks),
    /// The same at the end of the check.
    DrainChecks,
    Over,
}

#[derive(Debug)]
enum Checks {
    /// In the order of the writes.
    InOrder(Box<Replay>),
    /// In the order of places.
    LastWrites(Box<LastWriters>),
    /// What is left of the backlog.
    Backlog,
}

/// The order of a worker's I/O.
#[derive(Debug)]
pub struct Program {
    verify: Verify,
    passes: Passes,
    pass: Pass,
    phase: Phase,
    line: Line,
    base: u64,
    writes_data: bool,
    /// Whether the job's reads are themselves checks.
    checks_reads: bool,
    overlaps: bool,
    backlog: Option<Waiting>,
    trims: Option<Trims>,
    /// I/Os issued or counted, over all passes; reads of checks too.
    ios: u64,
    bytes: u64,
    /// Bytes of the streams of all passes, without checks.
    streamed: u64,
    writes: u64,
    reads: u64,
    in_flight: BTreeSet<u64>,
    failed: BTreeSet<u64>,
    synced: u64,
    loaded: Option<SavedState>,
    unissued: [(u64, u64); 3],
    /// Of a job that replays a trace.
    trace: Option<TraceWalks>,
    /// Why not all that was written is checked.
    problem: Option<WalkProblem>,
}

impl Program {
    /// The I/O of the worker whose streams have `key` on `ranges`; `contents` sets the contents of its writes apart from
    /// those of earlier runs. `loaded` is the state that [`Verify::load_state`] names.
    ///
    /// # Errors
    /// Where the job has no stream.
    pub fn new(
        job: &Job,
        verify: &Verify,
        (key, contents): (StreamKey, StreamKey),
        ranges: &[TargetRange],
        loaded: Option<SavedState>,
    ) -> Result<Self, StreamError> {
        let names: Vec<String> = (job.targets.iter())
            .map(|target| target.place.path().to_owned())
            .collect();
        let line = Line::new(ranges, &names);
        let mut passes = Passes::new(job, key, ranges);
        let overlaps = passes.may_overlap() || line.has_doubles();
        passes.check_order()?;
        let pass = passes.next_pass()?;
        let base = contents::base(contents);
        let writes_data = job.mix.write > fathom_units::Percent::ZERO;
        let backlog = verify.backlog.filter(|_| {
            writes_data
                && verify.phase == VerifyPhase::AfterPass
                && verify.repeats == VerifyRepeats::LastWrite
        });
        let trims = verify.trims.filter(|_| writes_data);
        Ok(Self {
            passes,
            pass,
            phase: Phase::Stream,
            line,
            base,
            writes_data,
            checks_reads: job.mix == Mix::READ,
            overlaps,
            backlog: backlog.map(|asked| Waiting::new(asked, overlaps)),
            trims: trims.map(|asked| Trims::new(asked, base)),
            ios: 0,
            bytes: 0,
            streamed: 0,
            writes: 0,
            reads: 0,
            in_flight: BTreeSet::new(),
            failed: loaded
                .as_ref()
                .map(|it| it.failed.clone())
                .unwrap_or_default(),
            synced: 0,
            loaded,
            unissued: [(0, 0); 3],
            trace: None,
            problem: None,
            verify: verify.clone(),
        })
    }

    /// Whether the order of a job's I/O on `ranges` can be kept, as far as that is known by now: files that are not there yet
    /// may be longer when the job begins, and it is judged once more.
    ///
    /// # Errors
    /// Where it cannot.
    pub fn check_order(job: &Job, ranges: &[TargetRange]) -> Result<(), StreamError> {
        Passes::new(job, StreamKey::default(), ranges).check_order()
    }

    /// The same of a job that replays a trace, of which `walks` yield the I/O that [`Program::next_of`] is given. There is one
    /// pass.
    #[must_use]
    pub fn of_trace(mut self, walks: TraceWalks) -> Self {
        self.trace = Some(walks);
        self.passes.once();
        self.pass.of_trace();
        // Whoever recorded it wrote where it liked.
        self.overlaps = true;
        self.backlog = self.backlog.map(Waiting::of_overlapping);
        self
    }

    /// What to do next, while `in_flight` I/Os have not completed.
    pub fn next(&mut self, in_flight: u32) -> Step {
        self.next_of(in_flight, &mut |stream| {
            stream.next_io().map_or(Drawn::Over, Drawn::Io)
        })
    }

    /// The same, with the I/O of the pass drawn from its stream, or elsewhere, by `draw`. What is drawn otherwise than by
    /// [`WorkerStream::next_io`] must be of a job of [`crate::directions_follow_time`], or of a trace
    /// ([`Program::of_trace`]).
    pub fn next_of(
        &mut self,
        in_flight: u32,
        draw: &mut dyn FnMut(&mut WorkerStream) -> Drawn,
    ) -> Step {
        let step = self.step(in_flight, draw);
        if let Step::Issue(task) = &step {
            self.count(task);
        }
        step
    }

    fn count(&mut self, task: &Task) {
        self.ios += 1;
        self.bytes += u64::from(task.io().length);
    }

    fn step(&mut self, in_flight: u32, draw: &mut dyn FnMut(&mut WorkerStream) -> Drawn) -> Step {
        let waits = |over: Step| if in_flight > 0 { Step::Wait } else { over };
        match &self.phase {
            Phase::Stream if self.is_unissued() => self.skip_stream(),
            Phase::Stream => self.stream_step(in_flight, draw),
            Phase::LastTrims => match self.trims.as_mut().map(|trims| (trims.take(), trims)) {
                Some((Some(chosen), _)) => self.discard(chosen.number, chosen.io),
                Some((None, trims)) if !trims.is_empty() && in_flight > 0 => Step::Wait,
                _ => {
                    self.phase = Phase::Drain;
                    Step::Again
                }
            },
            Phase::Drain | Phase::DrainChecks if in_flight > 0 => Step::Wait,
            Phase::Drain => self.begin_checks(),
            Phase::Check(_) => self.check_step(),
            Phase::DrainChecks => {
                self.next_pass();
                Step::Again
            }
            Phase::Over => waits(Step::End),
        }
    }

    fn is_unissued(&self) -> bool {
        let unissued = [VerifyPhase::Only, VerifyPhase::Nothing];
        self.writes_data && unissued.contains(&self.verify.phase)
    }

    /// The pass is only counted, not issued.
    fn skip_stream(&mut self) -> Step {
        for _ in 0..UNISSUED_AT_A_TIME {
            let counted: u64 = self.unissued.iter().map(|(_, bytes)| bytes).sum();
            let next = if self.passes.allows(self.ios) && !self.passes.ended_together(counted) {
                self.pass.next_io()
            } else {
                None
            };
            let ends = |state: &SavedState| state.ends_before(self.writes);
            let ends = self.loaded.as_ref().is_some_and(ends);
            let Some(io) = next.filter(|io| !(ends && io.direction == Direction::Write)) else {
                self.pass.ended_before(next.is_some());
                self.phase = Phase::Drain;
                return Step::Again;
            };
            self.ios += 1;
            self.bytes += u64::from(io.length);
            let (ios, bytes) = &mut self.unissued[io.direction as usize];
            *ios += 1;
            *bytes += u64::from(io.length);
            if io.direction == Direction::Write {
                self.writes += 1;
                self.pass.wrote();
            }
        }
        Step::Again
    }

    fn stream_step(
        &mut self,
        in_flight: u32,
        draw: &mut dyn FnMut(&mut WorkerStream) -> Drawn,
    ) -> Step {
        let may_go_on = self.passes.allows(self.ios);
        if may_go_on && let Some(backlog) = &mut self.backlog {
            match backlog.due() {
                Due::Check(entry) => return self.check_entry(entry),
                Due::Wait if in_flight > 0 => return Step::Wait,
                Due::Wait | Due::Nothing => {}
            }
        }
        if let Some(chosen) = self.trims.as_mut().and_then(Trims::due) {
            return self.discard(chosen.number, chosen.io);
        }
        let drawn = if may_go_on && !self.passes.ended_together(self.streamed) {
            self.pass.draw(draw)
        } else {
            Drawn::Over
        };
        let io = match drawn {
            Drawn::Io(io) => io,
            Drawn::NotYet => return Step::Held,
            Drawn::Over => {
                self.phase = Phase::LastTrims;
                return Step::Again;
            }
        };
        self.streamed += u64::from(io.length);
        match io.direction {
            Direction::Write => self.write(io),
            Direction::Read if self.checks_reads => self.read(io),
            Direction::Read | Direction::Trim => Step::Issue(Task::Plain(io)),
        }
    }

    fn write(&mut self, io: Io) -> Step {
        let number = self.writes;
        self.writes += 1;
        self.pass.wrote();
        self.in_flight.insert(number);
        if let Some(backlog) = &mut self.backlog {
            let trims = &mut self.trims;
            backlog.add(number, io, self.line.position(&io), |gone| {
                if let Some(trims) = trims {
                    trims.forget(gone);
                }
            });
        }
        if let Some(trims) = &mut self.trims {
            trims.written(number, io);
        }
        let seed = contents::seed_of(self.base, number);
        Step::Issue(Task::Write { io, number, seed })
    }

    /// A read of a job that only reads: it checks what an earlier job wrote.
    fn read(&mut self, io: Io) -> Step {
        let number = self.reads;
        if let Some(state) = &self.loaded {
            if state.ends_before(number) {
                self.phase = Phase::Over;
                return Step::Again;
            }
            if state.failed.contains(&number) {
                self.reads += 1;
                return Step::Again;
            }
        }
        self.reads += 1;
        let seed = contents::seed_of(self.base, number);
        let expected = Expected::Data {
            number: None,
            seed: (self.verify.seed == HeaderCheck::Compared).then_some(seed),
        };
        Step::Issue(Task::Check { io, expected })
    }

    fn discard(&mut self, number: u64, io: Io) -> Step {
        if let Some(backlog) = &mut self.backlog {
            let position = self.line.position(&io);
            backlog.change(number, position, |entry| entry.in_flight = true);
        }
        let io = Io {
            direction: Direction::Trim,
            ..io
        };
        Step::Issue(Task::Discard { io, number })
    }

    fn check_entry(&mut self, entry: Entry) -> Step {
        if let Some(trims) = &mut self.trims {
            trims.forget(entry.number);
        }
        self.check(entry.number, entry.io, entry.trimmed)
    }

    fn check(&self, number: u64, io: Io, trimmed: bool) -> Step {
        let io = Io {
            direction: Direction::Read,
            ..io
        };
        if trimmed {
            let expected = Expected::Trimmed;
            return Step::Issue(Task::Check { io, expected });
        }
        let seed = contents::seed_of(self.base, number);
        let expected = Expected::Data {
            number: (self.verify.sequence == HeaderCheck::Compared).then_some(number),
            seed: (self.verify.seed == HeaderCheck::Compared).then_some(seed),
        };
        Step::Issue(Task::Check { io, expected })
    }

    /// The stream of the pass is over and everything has completed.
    fn begin_checks(&mut self) -> Step {
        let nothing_done = self.pass.ios() == 0;
        if nothing_done {
            self.phase = Phase::Over;
            return Step::Again;
        }
        let unchecked = [VerifyPhase::Never, VerifyPhase::Nothing];
        if !self.writes_data || unchecked.contains(&self.verify.phase) {
            self.next_pass();
            return Step::Again;
        }
        match self.checks() {
            Ok(checks) => {
                self.phase = Phase::Check(checks);
                Step::Settle
            }
            Err(problem) => self.end_with(problem),
        }
    }

    /// What was written is not to be told a second time: the job ends, since it would say that it had found nothing wrong.
    fn end_with(&mut self, problem: WalkProblem) -> Step {
        self.problem = Some(problem);
        self.phase = Phase::Over;
        Step::Again
    }

    fn checks(&mut self) -> Result<Checks, WalkProblem> {
        if self.backlog.is_some() {
            return Ok(Checks::Backlog);
        }
        let first = self.writes - self.pass.writes();
        let (ios, index) = (self.pass.ios(), self.pass.index());
        let passes = self.passes.clone();
        let trace = self.trace.clone();
        let print = self.pass.print();
        let directions = self.pass.take_directions().map(Arc::new);
        let walk = move || {
            if let Some(trace) = &trace {
                let walk = trace.walk()?;
                return Ok(Replay::of_trace(walk, print.clone(), ios, first));
            }
            let stream = passes.stream(index).map_err(WalkProblem::Unmade)?;
            Ok(match &directions {
                Some(directions) => Replay::directed(stream, directions.clone(), ios, first),
                None => Replay::new(stream, ios, first),
            })
        };
        if self.overlaps && self.verify.repeats == VerifyRepeats::LastWrite {
            let mut sizes = self.passes.block_bounds();
            if self.trace.is_some() {
                // Of a trace the largest alone is known.
                sizes.0 = sizes.0.min(TRACED_SIZE);
            }
            let line = self.line.clone();
            let writers = LastWriters::new(Box::new(walk), line, self.pass.writes(), sizes);
            return Ok(Checks::LastWrites(Box::new(writers)));
        }
        Ok(Checks::InOrder(Box::new(walk()?)))
    }

    fn check_step(&mut self) -> Step {
        let Phase::Check(checks) = &mut self.phase else {
            return Step::Again;
        };
        let found = match checks {
            Checks::InOrder(replay) => match replay.next() {
                None => match replay.take_problem() {
                    Some(problem) => return self.end_with(problem),
                    None => None,
                },
                found => found,
            },
            Checks::LastWrites(writers) => match writers.search() {
                Search::Found(number, io) => Some((number, io)),
                Search::Busy => return Step::Again,
                Search::Over => None,
                Search::Broken(problem) => return self.end_with(problem),
            },
            Checks::Backlog => {
                let due = self.backlog.as_mut().map(Waiting::take);
                let Some(Due::Check(entry)) = due else {
                    self.phase = Phase::DrainChecks;
                    return Step::Again;
                };
                if self.ends_before(entry.number) {
                    self.phase = Phase::DrainChecks;
                    return Step::Again;
                }
                return self.check_entry(entry);
            }
        };
        match found {
            Some((number, _)) if self.failed.contains(&number) => Step::Again,
            Some((number, io)) if !self.ends_before(number) => {
                let trims = self.trims.as_ref().filter(|_| !self.is_unissued());
                let trimmed = trims.is_some_and(|trims| trims.chooses(number));
                self.check(number, io, trimmed)
            }
            _ => {
                self.phase = Phase::DrainChecks;
                Step::Again
            }
        }
    }

    /// Whether checks end before the write of this number.
    fn ends_before(&self, number: u64) -> bool {
        match &self.loaded {
            Some(state) => state.ends_before(number),
            None => self.verify.trust == VerifyTrust::Synced && number >= self.synced,
        }
    }

    fn next_pass(&mut self) {
        let stops = self.is_unissued() && self.loaded.is_some();
        let goes_on = self.passes.goes_on(self.ios, self.bytes, stops);
        match goes_on.then(|| self.passes.next_pass()) {
            Some(Ok(pass)) => {
                self.pass = pass;
                self.phase = Phase::Stream;
            }
            _ => self.phase = Phase::Over,
        }
    }

    /// Whether the pass that is over left bytes that no I/O of it fits into, or that only another pass has room for. Where
    /// I/Os are done `at_once`, only the bytes of all passes tell.
    pub fn fell_short(&self, at_once: bool) -> bool {
        let left = self.trace.is_none() && self.streamed < self.passes.bytes_of_all();
        let left_by_pass = at_once || self.pass.bytes() < self.passes.bytes_of_one();
        left && left_by_pass && self.passes.allows(self.ios)
    }

    /// Ends the job: no more is issued but what [`Program::next`] has given already.
    pub fn stop(&mut self) {
        self.phase = Phase::Over;
    }

    /// Whether a pass is over and what it wrote is checked.
    pub fn is_after_pass(&self) -> bool {
        matches!(self.phase, Phase::Check(_) | Phase::DrainChecks)
    }

    /// Takes note of a completion.
    pub fn completed(&mut self, task: &Task, how: Completed) {
        match task {
            Task::Write { io, number, .. } => {
                self.in_flight.remove(number);
                let position = self.line.position(io);
                if how == Completed::Failed {
                    self.write_failed(*number, position);
                    return;
                }
                if let Some(backlog) = &mut self.backlog {
                    backlog.change(*number, position, |entry| entry.in_flight = false);
                }
                if let Some(trims) = &mut self.trims {
                    trims.completed(*number);
                }
            }
            Task::Discard { io, number } => {
                let position = self.line.position(io);
                if let Some(backlog) = &mut self.backlog {
                    backlog.change(*number, position, |entry| {
                        entry.in_flight = false;
                        entry.trimmed |= how == Completed::Done;
                    });
                }
                if how == Completed::Failed {
                    // Neither data nor zeroes can be counted on.
                    self.write_failed(*number, position);
                }
            }
            Task::Plain(_) | Task::Check { .. } => {}
        }
    }

    fn write_failed(&mut self, number: u64, position: u64) {
        if self.failed.len() < FAILED_MAX {
            self.failed.insert(number);
        }
        if let Some(backlog) = &mut self.backlog {
            backlog.remove(number, position);
        }
        if let Some(trims) = &mut self.trims {
            trims.forget(number);
        }
    }

    /// The number of writes that a sync which is submitted now covers.
    pub fn sync_begins(&self) -> u64 {
        self.in_flight.first().copied().unwrap_or(self.writes)
    }

    /// Takes note that a sync completed that began when [`Program::sync_begins`] gave `covered`.
    pub fn sync_ended(&mut self, covered: u64) {
        self.synced = self.synced.max(covered);
    }

    /// How far the job came.
    pub fn state(&self, job: &str) -> SavedState {
        SavedState {
            job: job.to_owned(),
            writes: match self.verify.trust {
                VerifyTrust::Completed => self.writes,
                VerifyTrust::Synced => self.synced,
            },
            unfinished: self.in_flight.clone(),
            failed: self.failed.clone(),
        }
    }

    /// Why not all that was written is checked, where it should be; once.
    pub fn take_problem(&mut self) -> Option<WalkProblem> {
        self.problem.take()
    }

    /// I/Os and bytes, by direction, of passes that were counted but not issued ([`VerifyPhase::Only`]).
    pub fn unissued(&self) -> [(u64, u64); 3] {
        self.unissued
    }
}
