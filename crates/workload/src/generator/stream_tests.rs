//! Tests of [`WorkerStream`]: what each access, mix and limit yields.

use std::collections::{BTreeMap, BTreeSet};

use fathom_diagnostics::Diagnostic;
use fathom_units::{Bytes, Percent};
use proptest::prelude::*;

use super::{Io, SharedCursor, StreamKey, TargetRange, WorkerStream};
use crate::{
    Access, Arrival, Backend, BlockSizes, BufferContents, Caching, Coverage, Direction,
    ExistingFiles, Features, FileChoice, Job, Limits, Mix, Place, ReportGroup, SequentialScope,
    SyncPolicy, Target, WeightedSize,
};

pub(super) const KEY: StreamKey = StreamKey {
    seed: 1,
    job: 2,
    worker: 3,
    salt: 4,
};
pub(super) const EACH_ONCE: Access = Access::Random {
    coverage: Coverage::EachBlockOnce,
    run: 1,
};
pub(super) const DRAWS: Access = Access::Random {
    coverage: Coverage::Independent,
    run: 1,
};
pub(super) const IN_ORDER: Access = Access::Sequential {
    gap: Bytes::ZERO,
    scope: SequentialScope::PerWorker,
};

pub(super) fn job(access: Access, block: u64) -> Job {
    Job {
        name: "test".to_owned(),
        group: ReportGroup::default(),
        host: None,
        targets: vec![Target {
            place: Place::Path("file".to_owned()),
            offset: Bytes::ZERO,
            length: None,
        }],
        file_choice: FileChoice::RoundRobin,
        workers: 1,
        depth: 1,
        mix: Mix::READ,
        access,
        block: BlockSizes::uniform(Bytes::new(block)),
        arrival: Arrival::Closed,
        limits: Limits::default(),
        sync: SyncPolicy::default(),
        contents: BufferContents::default(),
        backend: Backend::Null,
        caching: Caching::Direct,
        existing: ExistingFiles::OnlyOurs,
        split_latency: false,
        drop_cache: false,
        unlink: false,
        salt: 0,
        features: Features::default(),
    }
}

pub(super) fn ranges(lengths: &[u64]) -> Vec<TargetRange> {
    let range = |length: &u64| TargetRange {
        offset: 0,
        length: *length,
    };
    lengths.iter().map(range).collect()
}

#[track_caller]
fn stream(job: &Job, lengths: &[u64]) -> WorkerStream {
    WorkerStream::new(job, KEY, &ranges(lengths), &SharedCursor::new()).unwrap()
}

/// All I/Os of a stream that must end by itself within a million.
#[track_caller]
fn all(job: &Job, lengths: &[u64]) -> Vec<Io> {
    let mut stream = stream(job, lengths);
    let bound = stream.ios_bound();
    let ios: Vec<Io> = std::iter::from_fn(|| stream.next_io())
        .take(1_000_000)
        .collect();
    assert!(ios.len() < 1_000_000, "the stream does not end");
    assert_eq!(stream.next_io(), None);
    if let Some(bound) = bound {
        assert_eq!(bound, ios.len() as u64);
    }
    for (index, io) in (0..).zip(&ios) {
        assert_eq!(io.index, index);
        assert!(io.offset + u64::from(io.length) <= lengths[io.target as usize]);
    }
    ios
}

pub(super) fn places(ios: &[Io]) -> Vec<(u32, u64)> {
    ios.iter().map(|io| (io.target, io.offset)).collect()
}

#[track_caller]
fn check_places(job: &Job, lengths: &[u64], expected: &[(u32, u64)]) {
    assert_eq!(places(&all(job, lengths)), expected, "{:?}", job.access);
}

/// Targets that begin anew, with the number of the I/O that they do so with.
fn restarts(job: &Job, lengths: &[u64]) -> Vec<(u64, Vec<u32>)> {
    let mut stream = stream(job, lengths);
    stream.watch_restarts();
    let mut found = Vec::new();
    while let Some(io) = stream.next_io().filter(|io| io.index < 30) {
        if stream.has_restarted() {
            found.push((io.index, stream.take_restarted()));
        }
    }
    found
}

#[test]
fn targets_that_begin_anew_are_told() {
    for access in [IN_ORDER, EACH_ONCE] {
        let mut job = job(access, 10);
        assert_eq!(restarts(&job, &[100]), []);
        job.limits.loops = 2;
        assert_eq!(restarts(&job, &[100]), [(10, vec![0])]);
        assert_eq!(restarts(&job, &[50, 30]), [(8, vec![0, 1])]);
        job.limits.time_based = true;
        let all = [(10, vec![0]), (20, vec![0])];
        assert_eq!(restarts(&job, &[100]), all);
        // By the rules of a walk.
        job.features.placement = Some(Box::default());
        assert_eq!(restarts(&job, &[100]), all);
    }
    let mut job = job(DRAWS, 10);
    job.limits.loops = 2;
    assert_eq!(restarts(&job, &[100]), [(10, vec![0])]);
    job.limits.time_based = true;
    assert_eq!(restarts(&job, &[100]), []);
    job.features.placement = Some(Box::default());
    assert_eq!(restarts(&job, &[100]), []);
}

#[test]
fn sequential_access_leaves_out_tails() {
    let mut job = job(IN_ORDER, 10);
    check_places(&job, &[35], &[(0, 0), (0, 10), (0, 20)]);
    check_places(
        &job,
        &[25, 45],
        &[(0, 0), (1, 0), (0, 10), (1, 10), (1, 20), (1, 30)],
    );
    job.file_choice = FileChoice::Sequential;
    check_places(&job, &[25, 19, 10], &[(0, 0), (0, 10), (1, 0), (2, 0)]);
    job.limits.loops = 2;
    check_places(&job, &[20], &[(0, 0), (0, 10), (0, 0), (0, 10)]);
}

#[test]
fn limits_of_bytes_and_ios_end_the_stream() {
    let mut job = job(IN_ORDER, 10);
    job.limits.bytes = Some(Bytes::new(29));
    check_places(&job, &[100], &[(0, 0), (0, 10)]);
    check_places(&job, &[10], &[(0, 0), (0, 0)]);
    job.limits.loops = 2;
    check_places(&job, &[100], &[(0, 0), (0, 10), (0, 0), (0, 10)]);
    job.limits.ios = Some(3);
    check_places(&job, &[100], &[(0, 0), (0, 10), (0, 0)]);
    job.limits.ios = Some(0);
    check_places(&job, &[100], &[]);
}

#[test]
fn a_time_based_stream_starts_over_for_ever() {
    let mut job = job(IN_ORDER, 10);
    job.limits.time_based = true;
    job.limits.ios = Some(2);
    let mut stream = stream(&job, &[25]);
    let offsets: Vec<u64> = (0..5).map(|_| stream.next_io().unwrap().offset).collect();
    assert_eq!(offsets, [0, 10, 0, 10, 0]);
    assert_eq!((stream.bytes_per_pass(), stream.ios_bound()), (20, None));
}

/// All I/Os of a stream, as many together as there are alike, but never more than each of `mosts` in turn.
fn all_together(job: &Job, lengths: &[u64], mosts: &[usize]) -> (Vec<Io>, usize) {
    let mut stream = stream(job, lengths);
    let (mut ios, mut together) = (Vec::new(), 0);
    for most in mosts.iter().cycle() {
        if let Some(alike) = stream.next_alike(*most) {
            assert!((1..=*most).contains(&alike.offsets.len()), "{alike:?}");
            together += alike.offsets.len();
            ios.extend(alike.each());
            continue;
        }
        let Some(io) = stream.next_io() else {
            break;
        };
        ios.push(io);
    }
    (ios, together)
}

#[test]
fn ios_that_are_alike_are_those_that_come_one_by_one() {
    for access in [EACH_ONCE, DRAWS, IN_ORDER] {
        let mut job = job(access, 512);
        job.limits.loops = 3;
        let expected = all(&job, &[50 * 512]);
        for mosts in [vec![1], vec![16], vec![64], vec![3, 40, 7]] {
            let (ios, together) = all_together(&job, &[50 * 512], &mosts);
            assert_eq!(ios, expected, "{access:?}");
            assert!(together > 120, "{together} of {}", ios.len());
        }
        job.mix = Mix::reads(Percent::whole(50).unwrap());
        let (ios, together) = all_together(&job, &[50 * 512], &[8]);
        assert_eq!((ios, together), (all(&job, &[50 * 512]), 0));
    }
}

#[test]
fn gaps_are_skipped_and_wrap() {
    let gap = |gap| Access::Sequential {
        gap: Bytes::new(gap),
        scope: SequentialScope::PerWorker,
    };
    check_places(
        &job(gap(10), 10),
        &[50],
        &[(0, 0), (0, 20), (0, 40), (0, 0), (0, 20)],
    );
    check_places(&job(gap(u64::MAX), 10), &[20], &[(0, 0), (0, 0)]);
}

#[test]
fn gaps_go_to_the_end_of_each_target_where_time_ends_the_job() {
    let gap = Access::Sequential {
        gap: Bytes::new(2),
        scope: SequentialScope::PerWorker,
    };
    let mut job = job(gap, 10);
    job.limits.time_based = true;
    let mut one = stream(&job, &[60]);
    let ios: Vec<Io> = std::iter::from_fn(|| one.next_io()).take(11).collect();
    let expected = [0, 12, 24, 36, 48, 0, 12, 24, 36, 48, 0];
    assert_eq!(places(&ios), expected.map(|offset| (0, offset)));
    assert_eq!(restarts(&job, &[60])[..2], [(5, vec![0]), (10, vec![0])]);
    // None waits for the other.
    let mut two = stream(&job, &[60, 24]);
    let ios: Vec<Io> = std::iter::from_fn(|| two.next_io()).take(8).collect();
    let expected = [
        (0, 0),
        (1, 0),
        (0, 12),
        (1, 12),
        (0, 24),
        (1, 0),
        (0, 36),
        (1, 12),
    ];
    assert_eq!(places(&ios), expected);
}

#[test]
fn offsets_count_from_the_start_of_the_target() {
    for access in [IN_ORDER, EACH_ONCE, DRAWS] {
        let range = TargetRange {
            offset: 1000,
            length: 40,
        };
        let mut stream =
            WorkerStream::new(&job(access, 10), KEY, &[range], &SharedCursor::new()).unwrap();
        while let Some(io) = stream.next_io() {
            assert!((1000..1040).contains(&io.offset), "{access:?} {io:?}");
        }
    }
}

/// The offsets of each pass, as sets, must be all blocks.
#[track_caller]
fn check_each_once(job: &Job, lengths: &[u64], block: u64, passes: usize) {
    let ios = all(job, lengths);
    let expected: BTreeSet<(u32, u64)> = (0..)
        .zip(lengths)
        .flat_map(|(target, length)| (0..length / block).map(move |index| (target, index * block)))
        .collect();
    assert_eq!(ios.len(), expected.len() * passes);
    let mut orders = BTreeSet::new();
    for pass in ios.chunks(expected.len()) {
        let order = places(pass);
        assert_eq!(order.iter().copied().collect::<BTreeSet<_>>(), expected);
        orders.insert(order);
    }
    // Orders of so many groups repeat less than once in ten million.
    let runs = lengths.iter().map(|length| (length / block).div_ceil(6));
    if runs.sum::<u64>() > 10 {
        assert_eq!(orders.len(), passes, "passes repeat their order");
    }
}

proptest! {
    #[test]
    fn each_pass_visits_each_block_once(
        lengths in proptest::collection::vec(8u64..600, 1..6),
        choice in 0usize..3,
        run in 1u32..6,
        loops in 1u32..4,
    ) {
        let mut job = job(Access::Random { coverage: Coverage::EachBlockOnce, run }, 8);
        job.file_choice =
            [FileChoice::RoundRobin, FileChoice::Random, FileChoice::Sequential][choice];
        job.limits.loops = loops;
        check_each_once(&job, &lengths, 8, loops as usize);
    }

    #[test]
    fn streams_stay_in_range_and_end(
        lengths in proptest::collection::vec(64u64..2_000, 1..4),
        choice in 0usize..3,
        which in 0usize..6,
        sizes in proptest::collection::vec((1u64..=64, 0u32..5), 1..4),
        alignment in proptest::option::of(1u64..100),
        bytes in proptest::option::of(64u64..5_000),
        read in 0u32..=10_000,
    ) {
        let mut job = job(IN_ORDER, 1);
        job.access = [
            IN_ORDER,
            Access::Sequential { gap: Bytes::new(7), scope: SequentialScope::Shared },
            EACH_ONCE,
            Access::Random { coverage: Coverage::Independent, run: 3 },
            Access::Mixed { random: Percent::whole(40).unwrap() },
            Access::Random { coverage: Coverage::EachBlockOnce, run: 2 },
        ][which];
        job.file_choice =
            [FileChoice::RoundRobin, FileChoice::Random, FileChoice::Sequential][choice];
        let mut list: Vec<WeightedSize> = sizes
            .into_iter()
            .map(|(size, weight)| WeightedSize { size: Bytes::new(size), weight })
            .collect();
        list[0].weight += 1;
        job.block = BlockSizes {
            read: list.clone(),
            write: list,
            trim: Vec::new(),
            alignment: alignment.map(Bytes::new),
        };
        job.mix = Mix::reads(Percent::from_basis_points(read).unwrap());
        job.limits.bytes = bytes.map(Bytes::new);
        let ios = all(&job, &lengths);
        prop_assert!(!ios.is_empty());
        let moved: u64 = ios.iter().map(|io| u64::from(io.length)).sum();
        prop_assert!(moved <= stream(&job, &lengths).bytes_per_pass());
        prop_assert_eq!(all(&job, &lengths), ios);
        job.limits.time_based = true;
        let mut endless = stream(&job, &lengths);
        prop_assert!((0..2_000).all(|_| endless.next_io().is_some()));
    }

    #[test]
    fn workers_sharing_a_position_take_each_block_once(
        lengths in proptest::collection::vec(8u64..600, 1..6),
        choice in 0usize..3,
        turns in proptest::collection::vec(0usize..3, 1..50),
        loops in 1u32..3,
    ) {
        let mut job = job(
            Access::Sequential { gap: Bytes::ZERO, scope: SequentialScope::Shared },
            8,
        );
        job.file_choice =
            [FileChoice::RoundRobin, FileChoice::Random, FileChoice::Sequential][choice];
        job.limits.loops = loops;
        let cursor = SharedCursor::new();
        let mut workers: Vec<WorkerStream> = (0..3)
            .map(|worker| StreamKey { worker, ..KEY })
            .map(|key| WorkerStream::new(&job, key, &ranges(&lengths), &cursor).unwrap())
            .collect();
        let mut counts = BTreeMap::new();
        for turn in turns.iter().cycle() {
            let Some(io) = workers[*turn].next_io() else { break };
            *counts.entry((io.target, io.offset)).or_insert(0u32) += 1;
        }
        let blocks: u64 = lengths.iter().map(|length| length / 8).sum();
        prop_assert_eq!(counts.len() as u64, blocks);
        prop_assert!(counts.values().all(|count| *count == loops));
    }
}

#[test]
fn a_shared_position_goes_round_the_targets_in_rows() {
    let shared = |gap| Access::Sequential {
        gap: Bytes::new(gap),
        scope: SequentialScope::Shared,
    };
    check_places(
        &job(shared(0), 10),
        &[20, 35],
        &[(1, 0), (0, 0), (1, 10), (0, 10), (1, 20)],
    );
    check_places(&job(shared(5), 10), &[40], &[(0, 0), (0, 15), (0, 30)]);
    let mut limited = job(shared(0), 10);
    limited.limits.bytes = Some(Bytes::new(50));
    check_places(&limited, &[20], &[(0, 0), (0, 10), (0, 0), (0, 10), (0, 0)]);
}

#[test]
fn runs_follow_each_random_offset() {
    let run = Access::Random {
        coverage: Coverage::Independent,
        run: 4,
    };
    let ios = all(&job(run, 10), &[100_000]);
    let follows = ios
        .windows(2)
        .filter(|pair| pair[1].offset == pair[0].offset + 10)
        .count();
    // Three of four I/Os follow the one before; a run at the very end of the target is cut short.
    assert!((7_480..=7_520).contains(&follows), "{follows}");
}

#[test]
fn mixed_access_jumps_as_often_as_it_should() {
    let access = Access::Mixed {
        random: Percent::whole(30).unwrap(),
    };
    let ios = all(&job(access, 10), &[1_000_000]);
    let jumps = ios
        .windows(2)
        .filter(|pair| pair[1].offset != pair[0].offset + 10)
        .count();
    // 100,000 I/Os; the standard deviation is 145.
    assert!(jumps.abs_diff(30_000) < 725, "{jumps}");
}

#[test]
fn random_choice_of_targets_is_even() {
    let mut job = job(DRAWS, 10);
    job.file_choice = FileChoice::Random;
    let ios = all(&job, &[100_000, 100_000, 100_000, 100_000]);
    let mut counts = [0usize; 4];
    for io in &ios {
        counts[io.target as usize] += 1;
    }
    // 40,000 I/Os; the standard deviation of each count is 87.
    assert!(
        counts.iter().all(|count| count.abs_diff(10_000) < 435),
        "{counts:?}"
    );
}

#[test]
fn independent_draws_are_uniform() {
    let ios = all(&job(DRAWS, 10), &[1_000_000]);
    let mut counts = [0usize; 10];
    for io in &ios {
        counts[io.offset as usize / 100_000] += 1;
    }
    assert!(
        counts.iter().all(|count| count.abs_diff(10_000) < 475),
        "{counts:?}"
    );
    let distinct: BTreeSet<u64> = ios.iter().map(|io| io.offset).collect();
    // 1 - 1/e of the blocks are drawn at least once.
    assert!(distinct.len().abs_diff(63_212) < 500, "{}", distinct.len());
}

#[test]
fn mix_and_sizes_have_their_shares_and_leave_offsets_alone() {
    let reads = all(&job(EACH_ONCE, 10), &[1_000_000]);
    let mut mixed = job(EACH_ONCE, 10);
    mixed.mix = Mix {
        read: Percent::whole(70).unwrap(),
        write: Percent::whole(25).unwrap(),
        trim: Percent::whole(5).unwrap(),
    };
    let ios = all(&mixed, &[1_000_000]);
    assert_eq!(places(&ios), places(&reads));
    let share = |way| ios.iter().filter(|io| io.direction == way).count();
    // 100,000 I/Os; five standard deviations of each share.
    assert!(share(Direction::Read).abs_diff(70_000) < 725);
    assert!(share(Direction::Write).abs_diff(25_000) < 685);
    assert!(share(Direction::Trim).abs_diff(5_000) < 345);

    let mut sized = job(DRAWS, 10);
    let entry = |size, weight| WeightedSize {
        size: Bytes::new(size),
        weight,
    };
    sized.block.read = vec![entry(10, 3), entry(20, 0), entry(40, 1)];
    sized.limits.ios = Some(100_000);
    sized.limits.bytes = Some(Bytes::mib(1000));
    let ios = all(&sized, &[1_000_000]);
    let large = ios.iter().filter(|io| io.length == 40).count();
    assert!(large.abs_diff(25_000) < 685, "{large}");
    assert!(ios.iter().all(|io| io.length != 20 && io.offset % 10 == 0));
}

#[test]
fn sizes_of_a_direction_are_its_own() {
    let mut job = job(IN_ORDER, 10);
    job.block.write = vec![WeightedSize {
        size: Bytes::new(30),
        weight: 1,
    }];
    job.mix = Mix::reads(Percent::whole(50).unwrap());
    for io in all(&job, &[3000]) {
        let expected = if io.direction == Direction::Read {
            10
        } else {
            30
        };
        assert_eq!(io.length, expected);
    }
}

#[track_caller]
fn check_refused(job: &Job, lengths: &[u64], expected: &str) {
    let error = WorkerStream::new(job, KEY, &ranges(lengths), &SharedCursor::new()).unwrap_err();
    let told = Diagnostic::from(&error).to_string();
    assert_eq!(told.trim_end(), format!("error: job `test`: {expected}"));
}

#[test]
fn impossible_jobs_are_refused() {
    let good = job(EACH_ONCE, 4096);
    check_refused(&good, &[], "it has no targets\n  hint: name at least one");
    check_refused(
        &good,
        &[0],
        "`file` has no bytes to use\n  hint: give it a size, or a smaller offset",
    );
    check_refused(
        &good,
        &[8192, 1024],
        "its blocks of 4 KiB do not fit into the 1 KiB of `target 1`\n  \
         hint: use a smaller block or a larger target",
    );
    check_refused(
        &good,
        &[u64::MAX],
        "the range of `file` ends past 2^63 bytes\n  hint: use a smaller offset or size",
    );
    check_refused(
        &job(EACH_ONCE, 0),
        &[8192],
        "its block size of 0 bytes is outside 1 byte to 4 GiB - 1",
    );
    let mut bad = good.clone();
    bad.mix.read = Percent::whole(60).unwrap();
    check_refused(
        &bad,
        &[8192],
        "its mix (read 60 %, write 0 %, trim 0 %) does not add up to 100 %",
    );
    let mut bad = good.clone();
    bad.block.read.clear();
    check_refused(
        &bad,
        &[8192],
        "it has no block size with a weight for reads",
    );
    let mut bad = good.clone();
    bad.limits.bytes = Some(Bytes::kib(1));
    check_refused(
        &bad,
        &[8192],
        "its limit of 1 KiB is less than one block of 4 KiB\n  hint: raise the limit or use a smaller block",
    );
    let mut bad = good;
    bad.block.alignment = Some(Bytes::ZERO);
    check_refused(
        &bad,
        &[8192],
        "its alignment is 0 bytes\n  hint: leave it out for that of the block size",
    );
}

/// Pinned: a change here breaks the comparison with every earlier record.
#[test]
fn the_first_ios_of_each_access_are_frozen() {
    let first = |access, mix| {
        let mut job = job(access, 4096);
        job.mix = mix;
        let mut stream = stream(&job, &[1 << 40]);
        let ios = std::iter::from_fn(|| stream.next_io()).take(6);
        ios.map(|io| (io.offset / 4096, io.direction as u8))
            .collect::<Vec<_>>()
    };
    let half = Mix::reads(Percent::whole(50).unwrap());
    assert_eq!(
        first(EACH_ONCE, half),
        [
            (23_377_921, 0),
            (93_528_882, 1),
            (58_527_341, 1),
            (183_361_878, 0),
            (162_988_139, 0),
            (179_435_092, 0)
        ]
    );
    assert_eq!(
        first(DRAWS, Mix::WRITE),
        [
            (243_658_773, 1),
            (20_613_629, 1),
            (96_366_691, 1),
            (3_266_390, 1),
            (213_534_209, 1),
            (177_091_126, 1)
        ]
    );
    let mixed = Access::Mixed {
        random: Percent::whole(50).unwrap(),
    };
    assert_eq!(
        first(mixed, Mix::READ),
        [
            (0, 0),
            (243_658_773, 0),
            (243_658_774, 0),
            (243_658_775, 0),
            (20_613_629, 0),
            (20_613_630, 0)
        ]
    );
}
