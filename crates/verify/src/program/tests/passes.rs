//! How many I/Os a program has, in which order its passes come, and where they end.

use super::*;

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

/// Bytes are left that no I/O fits into, or that only another pass has room for; who does I/Os at once sees the bytes of all passes
/// alone. A limit of I/Os leaves nothing out.
#[test]
fn a_program_that_leaves_bytes_out_says_so() {
    #[track_caller]
    fn check(kib: u64, limits: Limits, expected: [bool; 2]) {
        let mut job = job();
        job.block = fathom_workload::BlockSizes::uniform(Bytes::kib(kib));
        job.limits = limits;
        let (outcome, program) = run(&job, &crc(), 1, &mut Disk::new(1), |_| {});
        let found = [false, true].map(|at_once| program.fell_short(at_once));
        assert_eq!(found, expected, "{} writes", outcome.writes);
    }
    let plain = Limits::default();
    let loops = |loops| Limits { loops, ..plain };
    let ios = |ios| Limits {
        ios: Some(ios),
        ..plain
    };
    let bytes = |kib| Limits {
        bytes: Some(Bytes::kib(kib)),
        ..plain
    };
    // 64 KiB are 16 blocks of 4 KiB, and 5 of 12 KiB with 4 KiB left.
    check(4, plain, [false, false]);
    check(12, plain, [true, true]);
    check(4, loops(3), [false, false]);
    check(12, loops(3), [true, true]);
    check(12, ios(3), [false, false]);
    check(12, ios(100), [true, true]);
    check(4, bytes(48), [false, false]);
    check(4, bytes(50), [true, true]);
    // A pass and its checks are 128 KiB, and what is left of 131 is for another pass, which has no room for a block.
    check(4, bytes(131), [false, true]);
    check(12, bytes(131), [true, true]);
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
