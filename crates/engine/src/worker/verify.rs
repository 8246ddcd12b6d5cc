//! Checks of what was written, as a source of I/O.
//!
//! The order of writes and checks is [`Program`]'s, their bytes are [`Blocks`]'; here they meet the worker: buffers are
//! filled before they are written and checked after they were read, what is wrong becomes lines to be told, wrong blocks
//! are saved where that is asked for, and the state of the job is written when it ends.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use fathom_rawio::{Begin, look_for_results, open_results, wall_clock};
use fathom_record::CheckTimes;
use fathom_units::Nanos;
use fathom_verify::{Blocks, Completed, Drawn, Expected, Mismatch, Program, Step, Task};
use fathom_workload::generator::WorkerStream;
use fathom_workload::{Backend, Checksum, Direction, Job, OnMismatch, Verify};

use super::full::IoSource;
use super::rates::{Lanes, Turn};
use super::replay::Replayer;
use super::source::{Leftover, Next, Sourced, Verdict};
use crate::{EngineError, TraceLeft};

/// Lines that one worker tells at most.
const LINES_MAX: usize = 100;
/// Blocks that one worker saves at most.
const DUMPS_MAX: u32 = 1000;
/// Steps without an I/O before the worker looks at its clock and its orders again.
const STEPS_AT_A_TIME: u32 = 32;

/// What a worker's time goes into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Doing {
    Pass,
    Settle,
    Check,
}

/// What the I/O of a pass comes from.
pub(crate) enum Passes<'a> {
    /// Its stream, at the job's rate.
    Stream,
    /// Its stream, each direction at its own rate.
    Rated(Box<Lanes>),
    /// A trace, at its own times.
    Trace(Box<Replayer<'a>>),
}

/// A worker's checks.
pub(crate) struct Verification<'a> {
    job: &'a Job,
    verify: &'a Verify,
    program: Program,
    passes: Passes<'a>,
    blocks: Blocks,
    /// What is in flight, by tag.
    tasks: Vec<Option<Task>>,
    free_tags: Vec<usize>,
    /// Whether the I/O given last is a check or discard of our own, before which no sync is due.
    own: bool,
    /// Steps of checks after a pass.
    after_pass: u64,
    now: Nanos,
    /// What has been going on since then.
    doing: Doing,
    times: CheckTimes,
    /// What the wall clock is ahead of the run's clock.
    wall_ahead: u64,
    verdict: Option<Verdict>,
    lines: Vec<String>,
    unsaid: u64,
    dumped: u32,
}

impl<'a> Verification<'a> {
    /// The checks of a worker of `job`.
    pub(crate) fn new(
        job: &'a Job,
        verify: &'a Verify,
        (program, passes): (Program, Passes<'a>),
        blocks: Blocks,
    ) -> Self {
        Self {
            job,
            verify,
            program,
            passes,
            blocks,
            tasks: Vec::new(),
            free_tags: Vec::new(),
            own: false,
            after_pass: 0,
            now: Nanos::ZERO,
            doing: Doing::Pass,
            times: CheckTimes::default(),
            wall_ahead: 0,
            verdict: None,
            lines: Vec::new(),
            unsaid: 0,
            dumped: 0,
        }
    }

    /// Adds the time since the last step to what it went into.
    fn account(&mut self, now: Nanos) {
        let spent = now.saturating_sub(self.now);
        match self.doing {
            Doing::Pass => {}
            Doing::Settle => self.times.settling += spent,
            Doing::Check => self.times.checks += spent,
        }
    }

    fn step(&mut self, now: Nanos, in_flight: u32) -> Next {
        for _ in 0..STEPS_AT_A_TIME {
            self.after_pass += u64::from(self.program.is_after_pass());
            // What holds the pass back, and when what is drawn is to start.
            let (mut held, mut at, mut durable) = (Next::AfterCompletion, None, false);
            let passes = &mut self.passes;
            let step = self.program.next_of(in_flight, &mut |stream| match passes
                .draw(stream, (now, in_flight))
            {
                Next::Io(sourced) => {
                    (at, durable) = (sourced.at, sourced.durable);
                    Drawn::Io(sourced.io)
                }
                Next::End => Drawn::Over,
                other => {
                    held = other;
                    Drawn::NotYet
                }
            });
            match step {
                Step::Issue(task) => {
                    self.own = matches!(task, Task::Check { .. } | Task::Discard { .. });
                    let tag = self.keep(task);
                    let io = *task.io();
                    // The job's rate is that of its writes; one that only reads checks at its own rate.
                    let beside = self.own && self.job.mix.changes_data();
                    let at = if beside { Some(now) } else { at };
                    let durable = durable && !self.own;
                    return Next::Io(Sourced {
                        io,
                        at,
                        tag,
                        durable,
                    });
                }
                Step::Wait => return Next::AfterCompletion,
                Step::Held => return held,
                Step::Again => {}
                Step::Settle => {
                    self.passes.pause();
                    return Next::Settle;
                }
                Step::End => return Next::End,
            }
        }
        Next::NotBefore(now)
    }

    fn keep(&mut self, task: Task) -> u64 {
        let tag = self.free_tags.pop().unwrap_or_else(|| {
            self.tasks.push(None);
            self.tasks.len() - 1
        });
        self.tasks[tag] = Some(task);
        tag as u64
    }

    fn give_back(&mut self, tag: u64) -> Option<Task> {
        let task = self.tasks.get_mut(tag as usize)?.take()?;
        self.free_tags.push(tag as usize);
        Some(task)
    }

    fn tell(&mut self, line: String) {
        if self.lines.len() < LINES_MAX {
            self.lines.push(line);
        } else {
            self.unsaid += 1;
        }
    }

    fn check(&mut self, task: &Task, expected: Expected, moved: u32, buffer: &mut [u8]) {
        let io = task.io();
        let Some(block) = buffer.get_mut(..io.length as usize) else {
            return;
        };
        // What was not read is not what was written.
        if let Some(missing) = block.get_mut(moved as usize..) {
            missing.fill(0);
        }
        let found = self.blocks.check(io.offset, block, expected);
        if found.is_empty() {
            return;
        }
        let path = self.job.targets[io.target as usize].place.path();
        for wrong in &found {
            self.tell(line(path, wrong, task));
        }
        if let Some(folder) = &self.verify.dump {
            let right = self.blocks.expected_block(io.offset, block, expected);
            for wrong in &found {
                let sides = (&*block, right.as_deref());
                self.dump(Path::new(folder), path, wrong, io.offset, sides);
            }
        }
        self.verdict = Some(match self.verify.on_mismatch {
            OnMismatch::GoOn => Verdict::WrongData,
            OnMismatch::EndJob | OnMismatch::EndAtOnce => Verdict::EndOfJob,
        });
    }

    /// Saves what an interval holds and should hold, as far as that is known, under fio's names for such files.
    fn dump(
        &mut self,
        folder: &Path,
        target: &str,
        wrong: &Mismatch,
        block: u64,
        (received, expected): (&[u8], Option<&[u8]>),
    ) {
        let start = wrong.offset.saturating_sub(block) as usize;
        let range = start..start + wrong.length as usize;
        let base = Path::new(target).file_name().unwrap_or_default();
        let base = base.to_string_lossy();
        for (kind, bytes) in [("received", Some(received)), ("expected", expected)] {
            let Some(bytes) = bytes else {
                self.tell(format!(
                    "verify: what was written to `{target}` at {} is not known: no {kind} data saved",
                    wrong.offset
                ));
                return;
            };
            if self.dumped >= 2 * DUMPS_MAX {
                return;
            }
            self.dumped += 1;
            let path = folder.join(format!("{base}.{}.{kind}", wrong.offset));
            let bytes = bytes.get(range.clone()).unwrap_or_default();
            let line = match write_whole(&path, bytes) {
                Ok(()) => format!("verify: {kind} data saved as `{}`", path.display()),
                Err(error) => format!("verify: `{}` cannot be written: {error}", path.display()),
            };
            self.tell(line);
        }
    }

    /// Why not all of what was to be replayed or checked was, once.
    fn take_problem(&mut self) -> Option<EngineError> {
        if let Passes::Trace(trace) = &mut self.passes
            && let Some(problem) = trace.take_problem()
        {
            return Some(problem);
        }
        let problem = self.program.take_problem()?;
        let job = self.job.name.clone();
        let why = problem.to_string();
        Some(match &self.job.features.replay {
            Some(replay) => EngineError::TraceChanged {
                job,
                path: replay.path.clone(),
                left: TraceLeft::Unchecked,
                why,
            },
            None => EngineError::Unchecked { job, why },
        })
    }

    fn save_state(&mut self) {
        let Some(path) = &self.verify.save_state else {
            return;
        };
        let text = self.program.state(&self.job.name).to_text();
        if let Err(error) = save(path, &text) {
            let line = format!("verify: the state cannot be saved as `{path}`: {error}");
            self.tell(line);
        }
    }
}

/// Where a state stands that is not whole yet.
pub(crate) fn state_part(path: &str) -> String {
    format!("{path}.new")
}

/// A reader finds the old state or the new one, never half of one. What is no regular file keeps its place.
fn save(path: &str, text: &str) -> io::Result<()> {
    look_for_results(Path::new(path))?;
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return write_whole(Path::new(path), text.as_bytes());
    }
    let beside = state_part(path);
    write_whole(Path::new(&beside), text.as_bytes())?;
    fs::rename(&beside, path)
}

fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    open_results(path, Begin::Emptied)?.write_all(bytes)
}

impl Passes<'_> {
    /// What is next, where it is from the pass.
    fn draw(&mut self, stream: &mut WorkerStream, (now, in_flight): (Nanos, u32)) -> Next {
        match self {
            Self::Stream => Next::of(stream.next_io()),
            Self::Trace(trace) => trace.next(now, in_flight),
            Self::Rated(lanes) => {
                let (way, at) = match lanes.turn(now, || stream.draw_direction()) {
                    Turn::Of(way, at) => (way, at),
                    Turn::NotBefore(moment) => return Next::NotBefore(moment),
                    Turn::Never => return Next::AfterCompletion,
                };
                let Some(io) = stream.next_io_of(way) else {
                    return Next::End;
                };
                lanes.passed(&io);
                let sourced = Sourced::of(io);
                Next::Io(Sourced { at, ..sourced })
            }
        }
    }

    /// The pass is over: what is not written while there are checks is not owed to the next one.
    fn pause(&mut self) {
        if let Self::Rated(lanes) = self {
            lanes.begin_anew();
        }
    }
}

fn line(path: &str, wrong: &Mismatch, task: &Task) -> String {
    let io = task.io();
    format!(
        "verify: {} at file {path} offset {}, length {} (requested block: offset={}, length={})",
        wrong.fault, wrong.offset, wrong.length, io.offset, io.length
    )
}

impl IoSource for Verification<'_> {
    fn next(&mut self, now: Nanos, in_flight: u32) -> Next {
        if self.now == Nanos::ZERO {
            self.wall_ahead = wall_clock().saturating_sub(now.get());
        } else {
            self.account(now);
        }
        self.now = now;
        let next = self.step(now, in_flight);
        self.doing = match next {
            Next::Settle => Doing::Settle,
            _ if self.program.is_after_pass() => Doing::Check,
            _ => Doing::Pass,
        };
        if let (Next::Io(sourced), Doing::Pass) = (&next, self.doing) {
            self.times.reads_in_passes |= sourced.io.direction == Direction::Read;
        }
        next
    }

    fn is_checking(&self) -> bool {
        self.doing == Doing::Check
    }

    fn measuring(&mut self, now: Nanos) {
        self.times = CheckTimes::default();
        if let Passes::Rated(lanes) = &mut self.passes {
            lanes.begin(now);
        }
        // What has been going on is counted from here; zero stands for not begun.
        if self.now > Nanos::ZERO {
            self.now = self.now.max(now);
        }
    }

    fn holds_syncs(&self) -> bool {
        self.own
    }

    fn looks_for_more(&mut self) -> bool {
        // One I/O at a time is done as fio issues it: then fio does not count what a pass has issued.
        let at_once = match self.job.backend {
            Backend::Sync | Backend::Mmap => true,
            Backend::Null => self.job.depth == 1,
            Backend::IoUring | Backend::Libaio | Backend::Nbd => false,
        };
        self.program.fell_short(at_once)
    }

    fn before_write(&mut self, tag: u64, buffer: &mut [u8]) {
        let task = self.tasks.get(tag as usize).copied().flatten();
        let Some(Task::Write { io, number, seed }) = task else {
            return;
        };
        if self.verify.checksum != Checksum::Null {
            let time = self.now.get().saturating_add(self.wall_ahead);
            self.blocks.fill(io.offset, number, seed, time, buffer);
        }
    }

    fn completed(&mut self, tag: u64, result: Result<u32, i32>, buffer: &mut [u8]) {
        let Some(task) = self.give_back(tag) else {
            return;
        };
        let all = result == Ok(task.io().length);
        let how = if all {
            Completed::Done
        } else {
            Completed::Failed
        };
        self.program.completed(&task, how);
        if let (Task::Check { expected, .. }, Ok(moved)) = (&task, result)
            && moved > 0
            && self.job.backend != Backend::Null
        {
            self.check(&task, *expected, moved, buffer);
        }
    }

    fn oldest_due(&self) -> Option<Nanos> {
        match &self.passes {
            Passes::Rated(lanes) if self.doing == Doing::Pass => lanes.oldest_due(),
            _ => None,
        }
    }

    fn stood_still(&mut self, pause: Nanos) {
        if let Passes::Rated(lanes) = &mut self.passes {
            lanes.stood_still(pause);
        }
    }

    fn sync_begins(&mut self) -> u64 {
        self.program.sync_begins()
    }

    fn sync_ended(&mut self, covered: u64) {
        self.program.sync_ended(covered);
    }

    fn stretch(&self) -> u64 {
        self.after_pass
    }

    fn take_verdict(&mut self) -> Option<Verdict> {
        let verdict = self.verdict.take();
        if verdict == Some(Verdict::EndOfJob) {
            self.program.stop();
        }
        verdict
    }

    fn leave(&mut self) -> Leftover {
        self.save_state();
        if self.unsaid > 0 {
            let line = format!("verify: {} more lines are not shown", self.unsaid);
            self.lines.push(line);
        }
        Leftover {
            lines: std::mem::take(&mut self.lines),
            unissued: self.program.unissued(),
            checks: (self.times.checks > Nanos::ZERO).then_some(self.times),
            problem: self.take_problem(),
            ..Leftover::default()
        }
    }
}
