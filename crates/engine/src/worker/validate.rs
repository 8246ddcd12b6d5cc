//! Checks of all blocks that were ever written, as a source of I/O.
//!
//! What is read, written and when is the stream's; here stands what Vdbench's data validation puts around it. An I/O begins by
//! reserving its blocks. A write of blocks that are known is preceded by a read of them, where the job asks for that, and
//! followed by one where it asks for that; a read is compared with what is known. These I/Os of our own follow at once, and are
//! counted as reads, as in Vdbench.
//!
//! Where a journal is kept, a write is told there before it is submitted and when it has ended, and a block of which a journal
//! does not say whether its last write has ended is read before it is written.
//!
//! Invariants: the blocks of an I/O are reserved from before its first step until after its last; a key changes after the write
//! has succeeded, and a block whose write failed is never used again, since it may hold either.

use std::collections::VecDeque;

use fathom_rawio::wall_clock;
use fathom_units::{Nanos, group_digits};
use fathom_verify::{BadBlock, BlockRange, Pending, Reservation, next_key};
use fathom_workload::generator::{Io, WorkerStream};
use fathom_workload::{Access, Direction, Job, Validate};

use super::full::IoSource;
use super::source::{Leftover, Next, Sourced};
use crate::EngineError;
use crate::validation::Checked;

/// I/Os drawn in place of one whose blocks are busy or bad, before the worker looks at its clock and its orders again.
const DRAWS_AT_A_TIME: u32 = 32;
/// I/Os drawn and left out, since nothing is known of their blocks, before that.
const LEFT_OUT_AT_A_TIME: u32 = 4096;
/// How soon a block that another worker is at is asked for again.
const ASK_AGAIN: Nanos = Nanos::from_micros(50);
/// Key blocks that are told of one I/O.
const TOLD_MAX: usize = 8;

/// What an I/O is at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Read,
    PreRead,
    Write,
    ReadBack,
}

impl Step {
    fn name(self) -> &'static str {
        match self {
            Self::Read => "a read that the workload asked for",
            Self::PreRead => "the read before a write",
            Self::Write => "a write",
            Self::ReadBack => "the read after a write",
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Task {
    io: Io,
    blocks: BlockRange,
    step: Step,
    /// Whether its write has begun.
    writes: bool,
}

/// A worker's checks of all blocks.
pub(crate) struct Validation<'a> {
    job: &'a Job,
    validate: &'a Validate,
    stream: WorkerStream,
    /// Of the job's targets.
    targets: Vec<Checked>,
    /// Whether another I/O takes the place of one whose blocks are busy.
    redraws: bool,
    /// Drawn, and waits for its blocks.
    kept: Option<Io>,
    /// I/Os that have begun, by tag.
    tasks: Vec<Option<Task>>,
    free_tags: Vec<usize>,
    /// Whose next step is due.
    due: VecDeque<usize>,
    over: bool,
    now: Nanos,
    /// What the wall clock is ahead of the run's clock.
    wall_ahead: u64,
    wrong: Vec<String>,
    is_wrong: bool,
    problem: Option<EngineError>,
}

impl<'a> Validation<'a> {
    /// The checks of a worker of `job`, whose I/O is that of `stream`.
    pub(crate) fn new(
        job: &'a Job,
        validate: &'a Validate,
        stream: WorkerStream,
        targets: Vec<Checked>,
    ) -> Self {
        // Who counts what he draws, or goes through all blocks in their order, must not lose one.
        let goes_through = matches!(job.access, Access::Sequential { .. } | Access::Mixed { .. });
        let counted = job.limits.bytes.is_some() || job.limits.ios.is_some();
        let timed = job.limits.runtime.is_some();
        Self {
            redraws: !goes_through && !counted && timed,
            job,
            validate,
            stream,
            targets,
            kept: None,
            tasks: Vec::new(),
            free_tags: Vec::new(),
            due: VecDeque::new(),
            over: false,
            now: Nanos::ZERO,
            wall_ahead: 0,
            wrong: Vec::new(),
            is_wrong: false,
            problem: None,
        }
    }

    /// Begins an I/O whose blocks are free; `None`: it is left out.
    fn begin(&mut self, io: Io) -> Result<Option<Sourced>, Reservation> {
        let Some(Checked { map, .. }) = self.targets.get(io.target as usize) else {
            return Err(Reservation::Outside);
        };
        let Some(blocks) = map.range(io.offset, io.length) else {
            return Err(Reservation::Outside);
        };
        match map.reserve(blocks) {
            Reservation::Granted => {}
            refused => return Err(refused),
        }
        let is_known = map.knows_any(blocks);
        let is_pending = map.has_pending(blocks);
        let step = match io.direction {
            Direction::Read if self.validate.known_only && !is_known && !is_pending => {
                map.release(blocks);
                return Ok(None);
            }
            Direction::Read => Step::Read,
            // What they hold is to be known before they hold something else.
            _ if is_pending || self.validate.pre_read && is_known => Step::PreRead,
            _ if self.tell_begin(io.target, blocks) => Step::Write,
            _ => {
                self.targets[io.target as usize].map.release(blocks);
                return Ok(None);
            }
        };
        let tag = self.free_tags.pop().unwrap_or_else(|| {
            self.tasks.push(None);
            self.tasks.len() - 1
        });
        self.tasks[tag] = Some(Task {
            io,
            blocks,
            step,
            writes: false,
        });
        Ok(Some(Sourced {
            tag: tag as u64,
            ..Sourced::of(directed(io, step))
        }))
    }

    /// Has the journal know of a write before it is submitted; `false`: it must not be, and nothing more is drawn.
    fn tell_begin(&mut self, target: u32, blocks: BlockRange) -> bool {
        let Checked { map, journal, .. } = &self.targets[target as usize];
        let told = (journal.as_ref()).map_or(Ok(()), |journal| journal.begins(map, blocks));
        self.keep_problem(told)
    }

    /// Ends the job where its journal cannot be written.
    fn keep_problem(&mut self, told: Result<(), EngineError>) -> bool {
        let Err(problem) = told else {
            return true;
        };
        self.over = true;
        self.problem.get_or_insert(problem);
        false
    }

    /// Nothing more is drawn: what has begun comes to its end.
    fn rest(&self) -> Next {
        if self.free_tags.len() < self.tasks.len() {
            return Next::AfterCompletion;
        }
        Next::End
    }

    /// An I/O that no block of the map fits: its checks would not be what they seem.
    fn give_up(&mut self, io: &Io) -> Next {
        self.over = true;
        let problem = EngineError::Unvalidated {
            job: self.job.name.clone(),
            path: self.path(io.target),
            offset: io.offset,
            length: io.length,
        };
        self.problem.get_or_insert(problem);
        self.rest()
    }

    fn path(&self, target: u32) -> String {
        let target = self.job.targets.get(target as usize);
        target.map_or_else(String::new, |target| target.place.path().to_owned())
    }

    /// Compares what was read with what is known of it; tells what is wrong, and marks it.
    fn compare(&mut self, task: &Task, moved: u32, buffer: &mut [u8]) -> bool {
        let Task {
            io, blocks, step, ..
        } = task;
        let Checked {
            map,
            stamp,
            journal,
        } = &self.targets[io.target as usize];
        let Some(read) = buffer.get_mut(..io.length as usize) else {
            return true;
        };
        // What was not read is not what was written.
        if let Some(missing) = read.get_mut(moved as usize..) {
            missing.fill(0);
        }
        let size = map.key_block();
        let mut compared = 0;
        let mut found: Vec<BadBlock> = Vec::new();
        let mut told = Ok(());
        for (number, block) in blocks.numbers().zip(read.chunks(size as usize)) {
            let (key, place) = (map.key(number), number * u64::from(size));
            if map.is_pending(number) {
                let holds = stamp.check_pending(place, key, block);
                compared += 1;
                let settled = match holds {
                    Pending::Before => key,
                    Pending::Written => next_key(key),
                    Pending::Unknown => 0,
                    Pending::Wrong(bad) => {
                        map.mark_bad(number);
                        found.push(bad);
                        continue;
                    }
                };
                map.settle(number, settled);
                if let Some(journal) = journal {
                    told = told.and(journal.found(number, settled));
                }
                continue;
            }
            if key == 0 {
                continue;
            }
            compared += 1;
            if let Some(bad) = stamp.check(place, key, block) {
                map.mark_bad(number);
                found.push(bad);
            }
        }
        map.count_checked(compared - found.len() as u64);
        self.keep_problem(told);
        if !found.is_empty() {
            self.tell(*io, *step, &found);
        }
        found.is_empty()
    }

    /// Lines about blocks that are wrong; the words before the first colon are those that Vdbench's users look for.
    #[cold]
    fn tell(&mut self, io: Io, step: Step, found: &[BadBlock]) {
        self.is_wrong = true;
        let (name, path) = (&self.validate.name, self.path(io.target));
        let size = self.targets[io.target as usize].map.key_block();
        let now_ms = self.wall_ms();
        self.wrong = vec![format!(
            "Corrupted data block for sd={name},lun={path}; lba: {} (0x{:08x}) xfersize={}: {} of {} key blocks, found by {}",
            group_digits(io.offset),
            io.offset,
            io.length,
            found.len(),
            io.length / size,
            step.name()
        )];
        for bad in found.iter().take(TOLD_MAX) {
            let written = bad.faults.written.map(|written| {
                let age = Nanos::from_millis(now_ms.saturating_sub(written));
                format!("; written {age} before, as that sector says")
            });
            self.wrong.push(format!(
                "Key block lba: 0x{:08x} of {size} bytes, written with key 0x{:02x}: {bad}{}",
                bad.offset,
                bad.expected,
                written.unwrap_or_default()
            ));
        }
        let more = found.len().saturating_sub(TOLD_MAX);
        if more > 0 {
            self.wrong
                .push(format!("{more} more key blocks of it are wrong"));
        }
    }

    fn wall_ms(&self) -> u64 {
        self.now.get().saturating_add(self.wall_ahead) / 1_000_000
    }

    /// What follows a step that has ended; `None`: the I/O is over.
    fn after(&mut self, task: &Task, result: Result<u32, i32>, buffer: &mut [u8]) -> Option<Step> {
        let whole = result == Ok(task.io.length);
        let Checked { map, journal, .. } = &self.targets[task.io.target as usize];
        let journal = journal.as_ref();
        match (task.step, result) {
            (Step::Write, _) if whole => {
                map.written(task.blocks);
                let told = journal.map_or(Ok(()), |journal| journal.ended(task.blocks));
                self.keep_problem(told);
                self.validate.read_after_write.then_some(Step::ReadBack)
            }
            (Step::Write, _) => {
                // They hold what was there, what was written, or a part of each.
                task.blocks
                    .numbers()
                    .for_each(|number| map.mark_bad(number));
                None
            }
            (step, Ok(moved)) => {
                let goes_on = self.compare(task, moved, buffer) && step == Step::PreRead && whole;
                (goes_on && self.tell_begin(task.io.target, task.blocks)).then_some(Step::Write)
            }
            (_, Err(_)) => None,
        }
    }
}

/// An I/O as its step does it.
fn directed(io: Io, step: Step) -> Io {
    let direction = match step {
        Step::Write => Direction::Write,
        Step::Read | Step::PreRead | Step::ReadBack => Direction::Read,
    };
    Io { direction, ..io }
}

impl IoSource for Validation<'_> {
    fn next(&mut self, now: Nanos, in_flight: u32) -> Next {
        if self.now == Nanos::ZERO {
            self.wall_ahead = wall_clock().saturating_sub(now.get());
        }
        self.now = now;
        let (mut draws, mut left_out) = (0, 0);
        while draws < DRAWS_AT_A_TIME && left_out < LEFT_OUT_AT_A_TIME {
            if self.over {
                return self.rest();
            }
            let Some(io) = self.kept.take().or_else(|| self.stream.next_io()) else {
                self.over = true;
                continue;
            };
            match self.begin(io) {
                Ok(Some(sourced)) => return Next::Io(sourced),
                Ok(None) => left_out += 1,
                Err(Reservation::Outside) => return self.give_up(&io),
                Err(Reservation::Busy) if !self.redraws => {
                    self.kept = Some(io);
                    break;
                }
                Err(_) => draws += 1,
            }
        }
        if left_out == LEFT_OUT_AT_A_TIME {
            return Next::NotBefore(now);
        }
        // Of those of another worker nothing is heard.
        if in_flight > 0 && self.kept.is_none() {
            return Next::AfterCompletion;
        }
        Next::NotBefore(now + ASK_AGAIN)
    }

    fn follow_up(&mut self, now: Nanos) -> Option<Sourced> {
        let tag = self.due.pop_front()?;
        self.now = now;
        let task = self.tasks[tag]?;
        Some(Sourced {
            at: Some(now),
            tag: tag as u64,
            ..Sourced::of(directed(task.io, task.step))
        })
    }

    fn stream(&mut self) -> Option<&mut WorkerStream> {
        Some(&mut self.stream)
    }

    fn before_write(&mut self, tag: u64, buffer: &mut [u8]) {
        let time = self.wall_ms();
        let Some(task) = self.tasks.get_mut(tag as usize).and_then(Option::as_mut) else {
            return;
        };
        task.writes = true;
        let Checked { map, stamp, .. } = &self.targets[task.io.target as usize];
        let size = map.key_block();
        let blocks = buffer.chunks_mut(size as usize);
        for (number, block) in task.blocks.numbers().zip(blocks) {
            let key = next_key(map.key(number));
            stamp.fill(number * u64::from(size), key, time, block);
        }
    }

    fn completed(&mut self, tag: u64, result: Result<u32, i32>, buffer: &mut [u8]) {
        let Some(task) = self.tasks.get(tag as usize).copied().flatten() else {
            return;
        };
        if let Some(step) = self.after(&task, result, buffer) {
            self.tasks[tag as usize] = Some(Task {
                step,
                writes: false,
                ..task
            });
            self.due.push_back(tag as usize);
            return;
        }
        self.targets[task.io.target as usize]
            .map
            .release(task.blocks);
        self.tasks[tag as usize] = None;
        self.free_tags.push(tag as usize);
    }

    fn is_wrong(&mut self) -> bool {
        std::mem::take(&mut self.is_wrong)
    }

    fn take_wrong(&mut self) -> Vec<String> {
        std::mem::take(&mut self.wrong)
    }

    fn leave(&mut self) -> Leftover {
        // Writes that did not begin any more have changed nothing; what is still out may have.
        for task in self.tasks.iter().flatten() {
            let Checked { map, journal, .. } = &self.targets[task.io.target as usize];
            if task.writes {
                task.blocks
                    .numbers()
                    .for_each(|number| map.mark_bad(number));
            } else if let Some(journal) = journal.as_ref().filter(|_| task.step == Step::Write) {
                journal.withdrawn(task.blocks);
            }
            map.release(task.blocks);
        }
        self.tasks.clear();
        Leftover {
            problem: self.problem.take(),
            ..Leftover::default()
        }
    }
}
