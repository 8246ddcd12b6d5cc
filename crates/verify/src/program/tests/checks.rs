//! What is checked of what was written, and what is found.

use super::*;

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
    // In order, round after round: reads of the mix are not checked, and move the job on.
    let mut rounds = self::job();
    rounds.mix = half();
    rounds.limits.bytes = Some(Bytes::kib(512));
    let (outcome, _) = run(&rounds, &crc(), 1, &mut Disk::new(1), |_| {});
    assert_eq!(outcome.mismatches, []);
    assert!(outcome.writes > 32, "{}", outcome.writes);
}

/// A file that is named twice is written twice, and read once for what was written last.
#[test]
fn a_target_that_is_there_twice_is_one_place() {
    let mut job = job();
    job.targets.push(job.targets[0].clone());
    let (outcome, _) = run(&job, &crc(), 1, &mut Disk::new(2), |_| {});
    assert_eq!(outcome.mismatches, []);
    assert_eq!((outcome.writes, outcome.reads), (32, 16));
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

/// As many writes as the job would have done are counted, and checked; the others are none of its own.
#[test]
fn what_is_counted_alone_ends_with_the_jobs_ios() {
    let (mut job, mut disk, mut verify) = (job(), Disk::new(1), crc());
    verify.phase = VerifyPhase::Never;
    run(&job, &verify, 1, &mut disk, |_| {});
    verify.phase = VerifyPhase::Only;
    job.limits.ios = Some(5);
    let (outcome, program) = run(&job, &verify, 2, &mut disk, |_| {});
    assert_eq!(program.unissued()[Direction::Write as usize], (5, 20_480));
    assert_eq!((outcome.reads, outcome.mismatches.len()), (5, 0));
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

/// A sync covers what had completed when it was submitted, and no write that was issued after one that had not.
#[test]
fn a_sync_covers_writes_up_to_the_first_in_flight() {
    let mut verify = crc();
    verify.trust = VerifyTrust::Synced;
    let key = StreamKey::default();
    let mut program = Program::new(&job(), &verify, (key, key), &[RANGE], None).unwrap();
    let tasks: Vec<Task> = (0..4)
        .filter_map(|in_flight| match program.next(in_flight) {
            Step::Issue(task) => Some(task),
            _ => None,
        })
        .collect();
    assert_eq!((tasks.len(), program.sync_begins()), (4, 0));
    for number in [0, 2, 3] {
        program.completed(&tasks[number], Completed::Done);
    }
    let before = program.sync_begins();
    assert_eq!(before, 1);
    program.completed(&tasks[1], Completed::Done);
    let after = program.sync_begins();
    assert_eq!(after, 4);
    // The earlier of two syncs may be over last.
    program.sync_ended(after);
    program.sync_ended(before);
    assert_eq!(program.state("j").writes, 4);
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
