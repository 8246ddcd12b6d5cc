//! Programs run against a disk in memory.

mod checks;
mod passes;
mod trace;

use std::collections::VecDeque;

use super::*;
use crate::{Blocks, Fault, Mismatch};
use fathom_units::{Bytes, Iops, Percent};
use fathom_workload::{
    Access, Backlog, Checksum, Coverage, DirectionRates, FormatAt, Limits, Pacing, Pattern,
    Placement, Poisson, SequentialScope, TrimmedData, VerifyTrims, WeightedSize, preset,
};

fn half() -> Mix {
    Mix::reads(Percent::whole(50).unwrap())
}

const RANGE: TargetRange = TargetRange {
    offset: 0,
    length: 64 << 10,
};

/// A job of 16 writes of 4 KiB, one after another.
fn job() -> Job {
    let mut job = preset("quick", "/unused").unwrap().stages[0].jobs[0].clone();
    job.access = Access::Sequential {
        gap: Bytes::ZERO,
        scope: SequentialScope::PerWorker,
    };
    job.mix = Mix::WRITE;
    job.limits = Limits::default();
    job
}

fn random(coverage: Coverage) -> Access {
    Access::Random { coverage, run: 1 }
}

/// What a program did on a disk.
#[derive(Debug, Default)]
struct Outcome {
    reads: u64,
    writes: u64,
    trims: u64,
    settled: u64,
    mismatches: Vec<Mismatch>,
    most_waiting: usize,
}

struct Disk {
    targets: Vec<Vec<u8>>,
}

impl Disk {
    fn new(targets: usize) -> Self {
        Self {
            targets: vec![vec![0xee; RANGE.length as usize]; targets],
        }
    }

    fn place(&mut self, io: &Io) -> &mut [u8] {
        let start = io.offset as usize;
        &mut self.targets[io.target as usize][start..start + io.length as usize]
    }
}

/// Runs a job's program with `depth` I/Os outstanding, which complete in turn; `meddle` sees the disk before checks.
fn run(
    job: &Job,
    verify: &Verify,
    depth: usize,
    disk: &mut Disk,
    mut meddle: impl FnMut(&mut Disk),
) -> (Outcome, Program) {
    let ranges = vec![RANGE; disk.targets.len()];
    let key = StreamKey::default();
    let mut program = Program::new(job, verify, (key, key), &ranges, None).unwrap();
    let outcome = run_program(&mut program, job, verify, depth, disk, &mut meddle);
    (outcome, program)
}

/// The same with `draw` in place of the stream's own order.
fn run_drawn(
    program: &mut Program,
    (job, verify): (&Job, &Verify),
    disk: &mut Disk,
    draw: &mut dyn FnMut(&mut WorkerStream) -> Drawn,
) -> Outcome {
    let mut blocks = Blocks::new(verify, job, 0).unwrap();
    let mut outcome = Outcome::default();
    loop {
        match program.next_of(0, draw) {
            Step::Issue(task) => {
                finish(&task, &mut blocks, disk, &mut outcome);
                program.completed(&task, Completed::Done);
            }
            Step::Settle => outcome.settled += 1,
            Step::End => return outcome,
            Step::Again | Step::Held => {}
            Step::Wait => panic!("nothing is in flight"),
        }
    }
}

fn run_program(
    program: &mut Program,
    job: &Job,
    verify: &Verify,
    depth: usize,
    disk: &mut Disk,
    meddle: &mut impl FnMut(&mut Disk),
) -> Outcome {
    let mut blocks = Blocks::new(verify, job, 0).unwrap();
    let mut outcome = Outcome::default();
    let mut flying: VecDeque<Task> = VecDeque::new();
    for step in 0..1_000_000 {
        let full = flying.len() == depth;
        match if full {
            Step::Wait
        } else {
            program.next(flying.len() as u32)
        } {
            Step::Issue(task) => flying.push_back(task),
            Step::Again | Step::Held => {}
            Step::Settle => {
                assert!(flying.is_empty());
                outcome.settled += 1;
                meddle(disk);
            }
            Step::Wait => {
                // Out of order, but the same in every run.
                flying.rotate_left(step % flying.len());
                let task = flying.pop_front().unwrap();
                finish(&task, &mut blocks, disk, &mut outcome);
                program.completed(&task, Completed::Done);
            }
            Step::End => {
                assert!(flying.is_empty());
                return outcome;
            }
        }
        let waiting = program.backlog.as_ref().map_or(0, Waiting::len);
        outcome.most_waiting = outcome.most_waiting.max(waiting);
    }
    panic!("the program does not end");
}

fn finish(task: &Task, blocks: &mut Blocks, disk: &mut Disk, outcome: &mut Outcome) {
    match task {
        Task::Plain(io) => match io.direction {
            Direction::Read => outcome.reads += 1,
            Direction::Write => panic!("an unverified write"),
            Direction::Trim => outcome.trims += 1,
        },
        Task::Write { io, number, seed } => {
            outcome.writes += 1;
            blocks.fill(io.offset, *number, *seed, 0, disk.place(io));
        }
        Task::Check { io, expected } => {
            outcome.reads += 1;
            let found = blocks.check(io.offset, disk.place(io), *expected);
            outcome.mismatches.extend(found);
        }
        Task::Discard { io, .. } => {
            outcome.trims += 1;
            disk.place(io).fill(0);
        }
    }
}

/// Runs and expects these reads and writes, and nothing wrong.
#[track_caller]
fn check(job: &Job, verify: &Verify, depth: usize, reads: u64, writes: u64) {
    let (outcome, _) = run(job, verify, depth, &mut Disk::new(1), |_| {});
    assert_eq!(outcome.mismatches, []);
    assert_eq!((outcome.reads, outcome.writes), (reads, writes));
}

fn crc() -> Verify {
    Verify::new(Checksum::Crc32c)
}
