//! Programs run against a disk in memory.

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

/// Which of reads and writes comes next follows time; each goes where the stream has it.
#[test]
fn directions_that_follow_time_are_drawn_again() {
    let both = DirectionRates {
        rates: [Some(Pacing::Iops(Iops::new(1))), None, None],
        poisson: Poisson::Fixed,
    };
    let key = StreamKey::default();
    for access in [
        random(Coverage::EachBlockOnce),
        random(Coverage::Independent),
    ] {
        let mut job = Job {
            access,
            mix: half(),
            ..job()
        };
        job.features.rates = Some(both);
        let mut disk = Disk::new(1);
        let mut program = Program::new(&job, &crc(), (key, key), &[RANGE], None).unwrap();
        let mut number = 0u64;
        let mut issued = [0u64; 2];
        let outcome = run_drawn(&mut program, (&job, &crc()), &mut disk, &mut |stream| {
            number += 1;
            if number.is_multiple_of(5) {
                return Drawn::NotYet;
            }
            // No mix of half and half ever is so.
            let way = if number % 64 < 48 {
                Direction::Write
            } else {
                Direction::Read
            };
            stream.next_io_of(way).map_or(Drawn::Over, |io| {
                issued[way as usize] += 1;
                Drawn::Io(io)
            })
        });
        assert!(outcome.mismatches.is_empty(), "{:?}", outcome.mismatches);
        assert_eq!((outcome.writes, outcome.settled), (issued[1], 1));
        let checks = outcome.reads - issued[0];
        assert!(checks > 0 && checks <= issued[1], "{checks} of {issued:?}");
        assert!(issued[1] > 2 * issued[0]);
        if access == random(Coverage::EachBlockOnce) {
            assert_eq!(checks, issued[1]);
        }
    }
}

#[test]
fn an_order_that_no_memory_holds_is_refused() {
    let mut job = Job {
        mix: half(),
        ..job()
    };
    job.features.rates = Some(DirectionRates {
        rates: [Some(Pacing::Iops(Iops::new(1))), None, None],
        poisson: Poisson::Fixed,
    });
    let key = StreamKey::default();
    let check = |length: u64, is_taken: bool| {
        let range = TargetRange { offset: 0, length };
        let program = Program::new(&job, &crc(), (key, key), &[range], None);
        assert_eq!(program.is_ok(), is_taken, "{length}");
    };
    let block = job.block.smallest(job.mix).get();
    check(block << 29, true);
    check((block << 29) + block, false);
}

/// A trace writes where it likes: what it wrote last to each place is read back.
#[test]
fn a_trace_is_read_a_second_time() {
    let job = Job {
        mix: half(),
        ..job()
    };
    let io = |index, direction, offset, length| Io {
        index,
        direction,
        target: 0,
        offset,
        length,
    };
    let ios = vec![
        io(0, Direction::Write, 0, 4096),
        io(1, Direction::Write, 8192, 8192),
        io(2, Direction::Read, 0, 4096),
        io(3, Direction::Write, 0, 4096),
        io(4, Direction::Write, 12288, 512),
        io(5, Direction::Write, 32768, 4096),
    ];
    let key = StreamKey::default();
    let walked = ios.clone();
    let walks = TraceWalks::new(move || Ok(Box::new(walked.clone().into_iter().map(Ok))));
    let program = Program::new(&job, &crc(), (key, key), &[RANGE], None).unwrap();
    let mut program = program.of_trace(walks);
    let mut disk = Disk::new(1);
    let mut left = ios.into_iter();
    let outcome = run_drawn(&mut program, (&job, &crc()), &mut disk, &mut |_| {
        left.next().map_or(Drawn::Over, Drawn::Io)
    });
    assert!(outcome.mismatches.is_empty(), "{:?}", outcome.mismatches);
    // Of the second write half was written again, so that it cannot be checked.
    assert_eq!(
        (outcome.writes, outcome.reads, outcome.settled),
        (5, 1 + 3, 1)
    );
}

/// What is read of a trace when it is read again.
type Second = Box<dyn Fn() -> Vec<std::io::Result<Io>> + Send + Sync>;

/// Nothing that was written stays unchecked without a word: a trace that cannot be read again, or that holds something else
/// by then, is a problem, and where later writes may be missing nothing of it is checked.
#[test]
fn a_trace_that_changed_before_its_check_is_a_problem() {
    let job = Job {
        mix: half(),
        ..job()
    };
    let write = |index: u64| Io {
        index,
        direction: Direction::Write,
        target: 0,
        offset: index * 4096,
        length: 4096,
    };
    let ios: Vec<Io> = (0..8).map(write).collect();
    let broken = || std::io::Error::other("line 9: it is no I/O");
    let part = |keep: usize| -> Second {
        let ios = ios.clone();
        Box::new(move || ios[..keep].iter().copied().map(Ok).collect())
    };
    let cases: [(Second, Result<u64, &str>); 5] = [
        (part(8), Ok(8)),
        (part(5), Err("it ends after 5 I/Os, where 8 were issued")),
        (part(0), Err("it ends after 0 I/Os, where 8 were issued")),
        (
            Box::new(move || vec![Ok(write(0)), Err(broken())]),
            Err("line 9: it is no I/O"),
        ),
        (
            Box::new(move || (0..8).map(|index| Ok(write(index / 2))).collect()),
            Err("its I/Os are not those that were issued"),
        ),
    ];
    let key = StreamKey::default();
    for (second, expected) in cases {
        let walks = TraceWalks::new(move || Ok(Box::new(second().into_iter())));
        let program = Program::new(&job, &crc(), (key, key), &[RANGE], None).unwrap();
        let mut program = program.of_trace(walks);
        let mut left = ios.clone().into_iter();
        let outcome = run_drawn(&mut program, (&job, &crc()), &mut Disk::new(1), &mut |_| {
            left.next().map_or(Drawn::Over, Drawn::Io)
        });
        assert!(outcome.mismatches.is_empty(), "{:?}", outcome.mismatches);
        let problem = program.take_problem().map(|problem| problem.to_string());
        assert_eq!(problem.as_deref(), expected.err());
        assert_eq!((outcome.writes, outcome.reads), (8, expected.unwrap_or(0)));
    }
    let walks = TraceWalks::new(|| Err(std::io::Error::other("it is gone")));
    let program = Program::new(&job, &crc(), (key, key), &[RANGE], None).unwrap();
    let mut program = program.of_trace(walks);
    let mut left = ios.into_iter();
    run_drawn(&mut program, (&job, &crc()), &mut Disk::new(1), &mut |_| {
        left.next().map_or(Drawn::Over, Drawn::Io)
    });
    assert_eq!(program.take_problem().unwrap().to_string(), "it is gone");
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

/// The counts that fio 3.42 gives for the same jobs.
#[test]
fn counts_are_those_of_fio() {
    check(&job(), &crc(), 1, 16, 16);
    check(&job(), &crc(), 4, 16, 16);
    let mut verify = crc();
    verify.phase = VerifyPhase::Never;
    check(&job(), &verify, 1, 0, 16);
    let mut looped = job();
    looped.limits.loops = 3;
    check(&looped, &crc(), 1, 48, 48);
    let limited = |ios: u64, loops: u32| {
        let mut job = job();
        job.limits.ios = Some(ios * u64::from(loops));
        job.limits.loops = loops;
        job
    };
    check(&limited(5, 1), &crc(), 1, 5, 5);
    check(&limited(5, 2), &crc(), 1, 10, 10);
    let with_bytes = |kib: u64, access: Access| {
        let mut job = job();
        job.limits.bytes = Some(Bytes::kib(kib));
        job.access = access;
        job
    };
    let once = random(Coverage::EachBlockOnce);
    check(&with_bytes(128, job().access), &crc(), 1, 16, 16);
    check(&with_bytes(132, job().access), &crc(), 1, 32, 32);
    check(&with_bytes(131, job().access), &crc(), 1, 16, 16);
    check(&with_bytes(48, job().access), &crc(), 1, 12, 12);
    let mut twice = with_bytes(300, job().access);
    twice.limits.loops = 2;
    check(&twice, &crc(), 1, 48, 48);
    // A walk that leaves nothing out goes in passes too, and the trims of pairs count among what was moved.
    let walk = |rules| {
        let mut job = with_bytes(200, job().access);
        job.features.placement = Some(Box::new(rules));
        job
    };
    check(&walk(Placement::default()), &crc(), 1, 32, 32);
    let mut pairs = walk(Placement {
        trim_then_write: true,
        ..Placement::default()
    });
    let half = Percent::whole(50).unwrap();
    pairs.mix = Mix {
        read: Percent::ZERO,
        write: half,
        trim: half,
    };
    check(&pairs, &crc(), 1, 32, 32);
    pairs.limits.bytes = Some(Bytes::kib(150));
    check(&pairs, &crc(), 1, 16, 16);
    let mut reader = with_bytes(200, once);
    reader.mix = Mix::READ;
    check(&reader, &Verify::new(Checksum::Null), 1, 50, 0);
    check(&with_bytes(128, once), &crc(), 1, 16, 16);
    check(&with_bytes(256, once), &crc(), 1, 32, 32);
    check(&with_bytes(32, once), &crc(), 1, 8, 8);
    let mut replayed = crc();
    replayed.repeats = VerifyRepeats::EachWrite;
    check(&job(), &replayed, 1, 16, 16);
}

#[test]
fn a_backlog_is_read_while_the_job_writes_and_stays_small() {
    let with = |writes, batch| {
        let mut verify = crc();
        verify.backlog = Some(Backlog { writes, batch });
        verify
    };
    for depth in [1, 3, 8] {
        for coverage in [Coverage::EachBlockOnce, Coverage::Independent] {
            for (writes, batch) in [(4, 4), (4, 2), (4, 9), (1, 1), (100, 100), (5, 5)] {
                let mut job = job();
                job.access = random(coverage);
                let mut verify = with(writes, batch);
                if coverage == Coverage::Independent && depth > 1 {
                    verify.sequence = HeaderCheck::Ignored;
                    verify.seed = HeaderCheck::Ignored;
                }
                let (outcome, _) = run(&job, &verify, depth, &mut Disk::new(1), |_| {});
                let case = format!("{writes} {batch} depth {depth} {coverage:?}");
                assert_eq!(outcome.mismatches, [], "{case}");
                assert_eq!(outcome.writes, 16, "{case}");
                assert!(outcome.most_waiting <= writes as usize, "{case}");
                if coverage == Coverage::EachBlockOnce {
                    assert_eq!(outcome.reads, 16, "{case}");
                }
            }
        }
    }
    let mut limited = job();
    limited.limits.ios = Some(7);
    check(&limited, &with(2, 2), 1, 4, 4);
}

#[test]
fn blocks_written_twice_are_checked_once_for_the_last_write() {
    let mut job = job();
    job.access = random(Coverage::Independent);
    job.limits.bytes = Some(Bytes::kib(256));
    let (outcome, _) = run(&job, &crc(), 1, &mut Disk::new(1), |_| {});
    assert_eq!(outcome.mismatches, []);
    assert_eq!(outcome.writes, 64);
    assert!(outcome.reads <= 16, "{}", outcome.reads);
    let mut each = crc();
    each.repeats = VerifyRepeats::EachWrite;
    each.sequence = HeaderCheck::Ignored;
    each.seed = HeaderCheck::Ignored;
    check(&job, &each, 1, 64, 64);
    // Sizes that overlap in part.
    let sized = |kib| WeightedSize {
        size: Bytes::kib(kib),
        weight: 1,
    };
    job.block.write = vec![sized(4), sized(8), sized(16)];
    job.block.alignment = Some(Bytes::new(512));
    let (outcome, _) = run(&job, &crc(), 1, &mut Disk::new(1), |_| {});
    assert_eq!(outcome.mismatches, []);
    assert!(outcome.reads < outcome.writes);
}

#[test]
fn reads_of_a_mix_are_not_checked_but_its_writes_are() {
    let mut job = job();
    job.mix = Mix::reads(Percent::whole(50).unwrap());
    job.access = random(Coverage::EachBlockOnce);
    let (outcome, _) = run(&job, &crc(), 4, &mut Disk::new(1), |_| {});
    assert_eq!(outcome.mismatches, []);
    assert_eq!(
        outcome.reads, 16,
        "those of the mix, and one for each write"
    );
    assert!(outcome.writes > 0);
}

/// A pass over 60 KiB is of 8 I/Os of 8 KiB, the last of which ends past them, and three move as much as 23 do. The reads that
/// check are none of these.
#[test]
fn passes_of_a_mix_in_order_end_together() {
    let mut job = job();
    job.mix = half();
    job.block = fathom_workload::BlockSizes::uniform(Bytes::kib(8));
    job.limits.loops = 3;
    job.features.placement = Some(Box::new(Placement {
        past_end: true,
        ..Placement::default()
    }));
    let range = TargetRange {
        offset: 0,
        length: 60 << 10,
    };
    for phase in [VerifyPhase::AfterPass, VerifyPhase::Only] {
        let verify = Verify { phase, ..crc() };
        let key = StreamKey::default();
        let mut program = Program::new(&job, &verify, (key, key), &[range], None).unwrap();
        let (mut moved, mut written, mut checked) = (0, 0, 0);
        loop {
            match program.next(0) {
                Step::Issue(task) => {
                    match task {
                        Task::Plain(_) => moved += 1,
                        Task::Write { .. } => (moved, written) = (moved + 1, written + 1),
                        Task::Check { .. } => checked += 1,
                        Task::Discard { .. } => panic!("nothing is trimmed"),
                    }
                    program.completed(&task, Completed::Done);
                }
                Step::End => break,
                Step::Settle | Step::Again => {}
                Step::Wait | Step::Held => panic!("nothing is in flight"),
            }
        }
        let [(reads, _), (writes, _), _] = program.unissued();
        assert_eq!(moved + reads + writes, 23, "{phase:?}");
        assert_eq!(checked, written + writes, "{phase:?}");
    }
}

#[test]
fn a_later_job_checks_what_an_earlier_one_wrote() {
    for access in [
        job().access,
        random(Coverage::EachBlockOnce),
        random(Coverage::Independent),
    ] {
        let mut job = job();
        job.access = access;
        let mut disk = Disk::new(1);
        let mut verify = crc();
        verify.phase = VerifyPhase::Never;
        run(&job, &verify, 1, &mut disk, |_| {});
        verify.phase = VerifyPhase::Only;
        let (outcome, program) = run(&job, &verify, 2, &mut disk, |_| {});
        assert_eq!(
            (outcome.mismatches.as_slice(), outcome.writes),
            (&[][..], 0)
        );
        assert!(outcome.reads > 0);
        assert_eq!(program.unissued()[Direction::Write as usize], (16, 65536));
        // And a job that only reads.
        if access != random(Coverage::Independent) {
            job.mix = Mix::READ;
            job.limits.loops = 2;
            let mut reading = crc();
            reading.seed = HeaderCheck::Ignored;
            check_on(&job, &reading, &mut disk, 32);
        }
    }
}

#[track_caller]
fn check_on(job: &Job, verify: &Verify, disk: &mut Disk, reads: u64) {
    let (outcome, _) = run(job, verify, 3, disk, |_| {});
    assert_eq!(
        (outcome.mismatches.as_slice(), outcome.reads),
        (&[][..], reads)
    );
}

#[test]
fn a_saved_state_ends_the_check_where_the_job_was_stopped() {
    let mut job = job();
    job.access = random(Coverage::EachBlockOnce);
    let mut verify = crc();
    verify.phase = VerifyPhase::Never;
    let mut disk = Disk::new(1);
    let mut blocks = Blocks::new(&verify, &job, 0).unwrap();
    let key = StreamKey::default();
    let mut program = Program::new(&job, &verify, (key, key), &[RANGE], None).unwrap();
    let mut outcome = Outcome::default();
    for count in 0..9 {
        let Step::Issue(task) = program.next(0) else {
            panic!("a write was to come");
        };
        let how = if count == 3 {
            Completed::Failed
        } else {
            finish(&task, &mut blocks, &mut disk, &mut outcome);
            Completed::Done
        };
        // The last write is still in flight.
        if count < 8 {
            program.completed(&task, how);
        }
    }
    let state = program.state("j");
    assert_eq!(
        (state.writes, state.unfinished.len(), state.failed.len()),
        (9, 1, 1)
    );
    for mix in [Mix::WRITE, Mix::READ] {
        let mut verify = crc();
        verify.phase = VerifyPhase::Only;
        verify.seed = HeaderCheck::Ignored;
        let mut job = job.clone();
        job.mix = mix;
        let mut later =
            Program::new(&job, &verify, (key, key), &[RANGE], Some(state.clone())).unwrap();
        let outcome = run_program(&mut later, &job, &verify, 1, &mut disk, &mut |_| {});
        assert_eq!(outcome.mismatches, []);
        assert_eq!(outcome.reads, 7, "eight were finished, one of which failed");
    }
}

#[test]
fn only_what_was_synced_is_checked_where_that_is_asked_for() {
    let mut verify = crc();
    verify.trust = VerifyTrust::Synced;
    check(&job(), &verify, 1, 0, 16);
    let key = StreamKey::default();
    let job = job();
    let mut program = Program::new(&job, &verify, (key, key), &[RANGE], None).unwrap();
    let mut covered = 0;
    for _ in 0..10 {
        let Step::Issue(task) = program.next(0) else {
            panic!("a write was to come");
        };
        program.completed(&task, Completed::Done);
        covered = program.sync_begins();
    }
    program.sync_ended(covered);
    assert_eq!(program.state("j").writes, 10);
    let mut disk = Disk::new(1);
    let outcome = run_program(&mut program, &job, &verify, 1, &mut disk, &mut |_| {});
    assert_eq!(outcome.reads, 10);
}

#[test]
fn discarded_blocks_are_zeroes() {
    for (share, writes, batch) in [(100, 1, 1), (50, 4, 4), (100, 4, 2), (50, 100, 100)] {
        for depth in [1, 5] {
            for backlog in [
                None,
                Some(Backlog {
                    writes: 3,
                    batch: 3,
                }),
            ] {
                let mut verify = crc();
                verify.backlog = backlog;
                verify.trims = Some(VerifyTrims {
                    share: Percent::whole(share).unwrap(),
                    writes,
                    batch,
                    zero: TrimmedData::Zeroes,
                });
                let (outcome, _) = run(&job(), &verify, depth, &mut Disk::new(1), |_| {});
                assert_eq!(outcome.mismatches, []);
                assert_eq!((outcome.writes, outcome.reads), (16, 16));
                if share == 100 && backlog.is_none() {
                    assert_eq!(outcome.trims, 16);
                    let found = run(&job(), &verify, depth, &mut Disk::new(1), |disk| {
                        disk.targets[0][4096 * 3 + 5] = 1;
                    });
                    let faults: Vec<_> = found.0.mismatches.iter().map(|it| &it.fault).collect();
                    assert_eq!(faults, [&Fault::NotZero { at: 5 }]);
                }
            }
        }
    }
}

/// Every kind with headers of every interval, whatever is done to the disk between write and check.
#[test]
fn damage_is_found_by_every_kind() {
    let bytes = vec![1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 4];
    let pattern = Pattern::new(bytes, vec![FormatAt(3)]).unwrap();
    for kind in Checksum::ALL {
        for interval in [None, Some(512), Some(1024)] {
            for header_offset in [0, 100] {
                let mut verify = Verify::new(kind);
                verify.interval = interval.map(Bytes::new);
                verify.header_offset = header_offset;
                if kind.needs_pattern() || kind == Checksum::Meta {
                    verify.pattern = Some(pattern.clone());
                }
                damage(&verify);
            }
        }
    }
}

fn damage(verify: &Verify) {
    let job = job();
    let found = |meddle: &mut dyn FnMut(&mut Disk)| {
        let (outcome, _) = run(&job, verify, 2, &mut Disk::new(1), meddle);
        assert_eq!((outcome.reads, outcome.settled), (16, 1));
        outcome.mismatches
    };
    assert_eq!(found(&mut |_| {}), [], "{verify:?}");
    if verify.checksum == Checksum::Null {
        assert_eq!(found(&mut |disk| disk.targets[0].fill(0)), []);
        return;
    }
    // One byte, in turn in the header, in its checksum and in the data.
    for byte in [0, 5, 47, 48, 50, 100, 130, 147, 149, 511] {
        let at = 4096 * 7 + byte;
        let wrong = found(&mut |disk| disk.targets[0][at] ^= 0x10);
        assert_eq!(wrong.len(), 1, "byte {byte}, {verify:?}");
        assert_eq!(wrong[0].offset, 4096 * 7, "byte {byte}, {verify:?}");
    }
    // Two blocks have changed places.
    let swapped = found(&mut |disk| {
        let (low, high) = disk.targets[0].split_at_mut(8192);
        low[..4096].swap_with_slice(&mut high[..4096]);
    });
    let mut offsets: Vec<_> = swapped.iter().map(|it| it.offset / 4096).collect();
    offsets.sort_unstable();
    offsets.dedup();
    assert_eq!(offsets, [0, 2], "{verify:?}");
    // A block that was never written.
    let lost = found(&mut |disk| disk.targets[0][4096..8192].fill(0));
    assert!(!lost.is_empty(), "{verify:?}");
}

#[test]
fn an_old_block_in_its_right_place_is_found_by_its_number() {
    let mut job = job();
    job.limits.loops = 2;
    let mut old = Vec::new();
    let (outcome, _) = run(&job, &crc(), 1, &mut Disk::new(1), |disk| {
        if old.is_empty() {
            old = disk.targets[0][4096..8192].to_vec();
        } else {
            disk.targets[0][4096..8192].copy_from_slice(&old);
        }
    });
    let fault = Fault::Field {
        name: "number",
        received: 1,
        expected: 17,
    };
    assert_eq!(outcome.mismatches.len(), 1);
    assert_eq!(outcome.mismatches[0].fault, fault);
}

#[test]
fn what_should_have_been_read_can_be_made_again() {
    let (mut disk, job, verify) = (Disk::new(1), job(), crc());
    run(&job, &verify, 1, &mut disk, |_| {});
    let blocks = Blocks::new(&verify, &job, 0).unwrap();
    let right = disk.targets[0][8192..12288].to_vec();
    let mut wrong = right.clone();
    wrong[1000] ^= 1;
    let expected = Expected::Data {
        number: None,
        seed: None,
    };
    assert_eq!(
        blocks.expected_block(8192, &wrong, expected),
        Some(right.clone())
    );
    // Without a header to be read nothing tells the seed.
    wrong[2] ^= 1;
    assert_eq!(blocks.expected_block(8192, &wrong, expected), None);
    let expected = Expected::Data {
        number: None,
        seed: Some(1),
    };
    assert!(blocks.expected_block(8192, &wrong, expected).is_some());
}

/// Many targets, several passes, a limit of time: what was ended early is not checked.
#[test]
fn a_stopped_program_ends() {
    let mut job = job();
    job.limits.time_based = true;
    job.targets.push(job.targets[0].clone());
    let key = StreamKey::default();
    let mut program = Program::new(&job, &crc(), (key, key), &[RANGE, RANGE], None).unwrap();
    for _ in 0..1000 {
        if let Step::Issue(task) = program.next(0) {
            program.completed(&task, Completed::Done);
        }
    }
    program.stop();
    assert_eq!(program.next(1), Step::Wait);
    assert_eq!(program.next(0), Step::End);
}

#[test]
fn patterns_are_compared_with_blocks_of_any_length_anywhere() {
    let verify = |offsets: Vec<FormatAt>| Verify {
        checksum: Checksum::Pattern,
        pattern: Pattern::new((1..=11).collect(), offsets),
        ..crc()
    };
    for verify in [verify(Vec::new()), verify(vec![FormatAt(2)])] {
        let mut blocks = Blocks::new(&verify, &job(), 0).unwrap();
        let places = [
            (0, 512),
            (4096, 4096),
            (512, 512),
            (8192, 65536),
            (512, 4096),
        ];
        for (offset, length) in places {
            let mut block = vec![0; length];
            blocks.fill(offset, 0, 0, 0, &mut block);
            let expected = Expected::Data {
                number: None,
                seed: None,
            };
            assert_eq!(blocks.check(offset, &block, expected), []);
            block[length - 1] ^= 1;
            let found = blocks.check(offset, &block, expected);
            let Fault::Pattern { at, .. } = found[0].fault else {
                panic!("{offset} {length}: {found:?}");
            };
            let end = offset + length as u64;
            assert_eq!(found[0].offset + u64::from(at), end - 1, "{length}");
        }
    }
}
