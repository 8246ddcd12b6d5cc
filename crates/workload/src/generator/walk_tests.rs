//! Tests of walks: counts, positions and coverage.

use std::collections::{BTreeMap, BTreeSet};

use fathom_units::{Bytes, Percent};
use proptest::prelude::*;

use super::stream_tests::{DRAWS, EACH_ONCE, IN_ORDER, KEY, job, places, ranges};
use super::{Io, SharedCursor, StreamKey, TargetRange, WorkerStream};
use crate::{
    Access, Between, BlockSizes, Coverage, Direction, Distribution, FileChoice, Job, Mix,
    Placement, SizeRange, WeightedSize, ZoneStride,
};

fn placed(access: Access, block: u64, change: impl FnOnce(&mut Placement)) -> Job {
    let mut job = job(access, block);
    let mut rules = Placement::default();
    change(&mut rules);
    job.features.placement = Some(Box::new(rules));
    job
}

/// All I/Os of a walk that must end by itself.
#[track_caller]
fn all(job: &Job, lengths: &[u64]) -> Vec<Io> {
    let ranges = ranges(lengths);
    let mut stream = WorkerStream::new(job, KEY, &ranges, &SharedCursor::new()).unwrap();
    let ios: Vec<Io> = std::iter::from_fn(|| stream.next_io())
        .take(1_000_000)
        .collect();
    assert!(ios.len() < 1_000_000, "the walk does not end");
    assert_eq!(stream.next_io(), None);
    ios
}

fn offsets(ios: &[Io]) -> Vec<u64> {
    ios.iter().map(|io| io.offset).collect()
}

fn bytes(ios: &[Io]) -> u64 {
    ios.iter().map(|io| u64::from(io.length)).sum()
}

fn pairs(rules: &mut Placement) {
    rules.trim_then_write = true;
}

const HALF: fn() -> Mix = || {
    let half = Percent::whole(50).unwrap();
    Mix {
        read: Percent::ZERO,
        write: half,
        trim: half,
    }
};

fn range(least: u64, most: u64) -> SizeRange {
    SizeRange {
        least: Bytes::new(least),
        most: Bytes::new(most),
    }
}

/// A job whose sizes lie between two bounds in all directions.
fn ranged(access: Access, least: u64, most: u64) -> Job {
    let mut job = placed(access, most, |rules| {
        rules.ranges = [Some(range(least, most)); 3];
    });
    let bound = |size| WeightedSize {
        size: Bytes::new(size),
        weight: 1,
    };
    let list = vec![bound(least), bound(most)];
    job.block = BlockSizes {
        read: list.clone(),
        write: list.clone(),
        trim: list,
        alignment: None,
    };
    job
}

/// As fio 3.42 does with `rw=read:512k`, `bs=1m`, `size=128m`: 85 I/Os, the last at 126 MiB.
#[test]
fn a_skip_ends_with_the_target() {
    const MIB: u64 = 1 << 20;
    let job = placed(IN_ORDER, MIB, |rules| rules.skip = 512 << 10);
    let found = offsets(&all(&job, &[128 * MIB]));
    let expected: Vec<u64> = (0..85).map(|index| index * (MIB + 512 * 1024)).collect();
    assert_eq!(found, expected);
}

#[test]
fn a_skip_that_meets_the_end_goes_round() {
    let job = placed(IN_ORDER, 10, |rules| rules.skip = 10);
    assert_eq!(offsets(&all(&job, &[40])), [0, 20, 0, 20]);
}

#[test]
fn a_negative_skip_walks_backwards() {
    let job = placed(IN_ORDER, 10, |rules| rules.skip = -20);
    assert_eq!(offsets(&all(&job, &[50])), [0, 30, 20, 10, 0]);
    let mut from_offset = WorkerStream::new(
        &job,
        KEY,
        &[TargetRange {
            offset: 100,
            length: 50,
        }],
        &SharedCursor::new(),
    )
    .unwrap();
    let found: Vec<u64> =
        std::iter::from_fn(|| from_offset.next_io().map(|io| io.offset)).collect();
    assert!(
        found.iter().all(|offset| (100..150).contains(offset)),
        "{found:?}"
    );
}

#[test]
fn the_last_block_may_end_past_the_range() {
    let job = |past_end| placed(IN_ORDER, 8, |rules| rules.past_end = past_end);
    assert_eq!(all(&job(false), &[30]).len(), 3);
    assert_eq!(offsets(&all(&job(true), &[30])), [0, 8, 16, 24]);
    let draws = |past_end| placed(DRAWS, 8, |rules| rules.past_end = past_end);
    // Draws go on until as many bytes were moved as there are.
    assert_eq!(all(&draws(false), &[30]).len(), 4);
}

#[test]
fn each_direction_has_a_position_of_its_own() {
    let mut job = placed(IN_ORDER, 10, |_| {});
    job.mix = Mix::reads(Percent::whole(50).unwrap());
    let ios = all(&job, &[10_000]);
    assert_eq!(ios.len(), 1000);
    for way in [Direction::Read, Direction::Write] {
        let own: Vec<u64> = ios
            .iter()
            .filter(|io| io.direction == way)
            .map(|io| io.offset)
            .collect();
        let expected: Vec<u64> = (0..own.len() as u64).map(|index| index * 10).collect();
        assert_eq!(own, expected);
        assert!((400..600).contains(&own.len()));
    }
}

#[track_caller]
fn check_pairs(ios: &[Io]) {
    for pair in ios.chunks(2) {
        let [trim, write] = pair else {
            panic!("a trim without its write");
        };
        assert_eq!(
            (trim.direction, write.direction),
            (Direction::Trim, Direction::Write)
        );
        let place = |io: &Io| (io.target, io.offset, io.length);
        assert_eq!(place(trim), place(write));
    }
}

#[test]
fn pairs_trim_and_write_each_block() {
    for access in [IN_ORDER, EACH_ONCE, DRAWS] {
        let mut job = placed(access, 8, pairs);
        job.mix = HALF();
        let ios = all(&job, &[800]);
        check_pairs(&ios);
        assert_eq!(ios.len(), 200, "{access:?}");
        if access != DRAWS {
            assert_eq!(places(&ios).into_iter().collect::<BTreeSet<_>>().len(), 100);
        }
        job.limits.ios = Some(10);
        assert_eq!(all(&job, &[800]).len(), 10);
    }
}

/// No byte twice, and all of them.
#[track_caller]
fn check_covered(ios: &[Io], length: u64) {
    let mut seen = vec![false; length as usize];
    for io in ios {
        for byte in &mut seen[io.offset as usize..][..io.length as usize] {
            assert!(!std::mem::replace(byte, true), "{io:?} visits a byte twice");
        }
    }
    assert!(seen.iter().all(|byte| *byte), "bytes are left out");
}

proptest! {
    #[test]
    fn differing_sizes_cover_each_block_once(
        blocks in 1u64..3_000,
        most in 1u64..20,
        loops in 1u32..3,
        trims: bool,
    ) {
        let mut job = ranged(EACH_ONCE, 4, 4 * most);
        job.limits.loops = loops;
        if trims {
            job.features.placement.as_mut().unwrap().trim_then_write = true;
            job.mix = HALF();
        }
        let length = (blocks * 4).max(4 * most);
        let mut ios = all(&job, &[length]);
        if trims {
            check_pairs(&ios);
            ios.retain(|io| io.direction == Direction::Trim);
        }
        prop_assert_eq!(bytes(&ios), length * u64::from(loops));
        let mut pass = Vec::new();
        for io in ios {
            pass.push(io);
            if bytes(&pass) == length {
                check_covered(&pass, length);
                pass.clear();
            }
        }
        prop_assert!(pass.is_empty());
    }

    #[test]
    fn walks_stay_in_range_and_end(
        lengths in proptest::collection::vec(64u64..2_000, 1..4),
        choice in 0usize..3,
        which in 0usize..5,
        skip in -100i64..100,
        random in 0u32..=100,
        zone in proptest::option::of((1u64..300, 64u64..300, 0u64..300)),
        spread in 0usize..6,
        ios_per_target in 1u32..4,
        at_once in proptest::option::of(1u32..4),
        limit in proptest::option::of(64u64..9_000),
        identical: bool,
        trims: bool,
    ) {
        let mut job = ranged(IN_ORDER, 8, 32);
        job.access = [
            IN_ORDER,
            EACH_ONCE,
            DRAWS,
            Access::Random { coverage: Coverage::EachBlockOnce, run: 3 },
            Access::Mixed { random: Percent::whole(40).unwrap() },
        ][which];
        job.file_choice =
            [FileChoice::RoundRobin, FileChoice::Random, FileChoice::Sequential][choice];
        job.limits.bytes = limit.map(Bytes::new);
        let rules = job.features.placement.as_mut().unwrap();
        let spreads = ["uniform", "zipf:1.2", "pareto:0.3:0.5", "normal:10", "zoned:90/10:10/90",
            "sequence:2,0,1:stride"];
        rules.distribution = [spreads[spread]; 3].map(|text| text.parse().unwrap());
        rules.target_distribution = spreads[spread % 4].parse().unwrap();
        rules.skip = skip;
        rules.random = [Percent::whole(random).unwrap(); 3];
        rules.ios_per_target = ios_per_target;
        rules.targets_at_once = at_once;
        rules.zones = zone.map(|(size, range, skip)| ZoneStride {
            size: Bytes::new(size),
            range: Bytes::new(range),
            skip: Bytes::new(skip),
        });
        if identical {
            rules.between = Between::Identical;
        }
        rules.trim_then_write = trims;
        job.mix = if trims { HALF() } else { Mix::reads(Percent::whole(60).unwrap()) };
        let ios = all(&job, &lengths);
        for io in &ios {
            prop_assert!(io.offset + u64::from(io.length) <= lengths[io.target as usize]);
        }
        prop_assert_eq!(all(&job, &lengths), ios);
    }
}

#[test]
fn weighted_sizes_cover_and_keep_their_bytes() {
    let mut job = placed(EACH_ONCE, 512, |_| {});
    let list: Vec<WeightedSize> = [(512, 25), (1024, 25), (2048, 25), (4096, 25)]
        .map(|(size, weight)| WeightedSize {
            size: Bytes::new(size),
            weight,
        })
        .to_vec();
    job.block.read = list;
    let ios = all(&job, &[1 << 20]);
    check_covered(&ios, 1 << 20);
    // The mean of the list is 1,920 bytes.
    assert!((400..1_200).contains(&ios.len()), "{}", ios.len());
}

/// A target is cut in pieces, at whose ends large I/Os do not fit: few are lost by that.
#[test]
fn shares_of_sizes_come_out_as_asked() {
    let mut job = placed(EACH_ONCE, 4096, |_| {});
    let shares = [(4096, 50), (16 << 10, 30), (64 << 10, 20)];
    job.block.read = shares
        .map(|(size, weight)| WeightedSize {
            size: Bytes::new(size),
            weight,
        })
        .to_vec();
    let ios = all(&job, &[256 << 20]);
    check_covered(&ios, 256 << 20);
    for (size, percent) in shares {
        let of_size = ios.iter().filter(|io| u64::from(io.length) == size).count();
        let found = of_size as f64 * 100.0 / ios.len() as f64;
        assert!(
            (found - f64::from(percent)).abs() < 1.0,
            "{percent} % of {size} bytes asked for, {found:.1} % came"
        );
    }
}

#[test]
fn runs_follow_or_repeat() {
    let run = |between| {
        let access = Access::Random {
            coverage: Coverage::EachBlockOnce,
            run: 4,
        };
        placed(access, 10, |rules| rules.between = between)
    };
    let ios = all(&run(Between::Sequential), &[10_000]);
    assert_eq!(ios.len(), 1000);
    for group in ios.chunks(4) {
        let start = group[0].offset;
        let follow = (0..4).map(|index| start + index * 10).collect::<Vec<_>>();
        assert!(offsets(group) == follow || start > 9960, "{group:?}");
    }
    for group in all(&run(Between::Identical), &[10_000]).chunks(4) {
        assert!(group.iter().all(|io| io.offset == group[0].offset));
    }
}

#[test]
fn zones_are_walked_one_after_another() {
    let zones = ZoneStride {
        size: Bytes::new(20),
        range: Bytes::new(30),
        skip: Bytes::new(10),
    };
    let job = placed(IN_ORDER, 10, |rules| rules.zones = Some(zones));
    assert_eq!(offsets(&all(&job, &[80])), [0, 10, 40, 50, 0, 10, 40, 50]);
    let whole = ZoneStride {
        size: Bytes::new(80),
        range: Bytes::new(40),
        skip: Bytes::ZERO,
    };
    let job = placed(EACH_ONCE, 10, |rules| rules.zones = Some(whole));
    let ios = all(&job, &[160]);
    // Each zone is visited twice over before the next.
    for (zone, ios) in (0..).zip(ios.chunks(4)) {
        let found: BTreeSet<u64> = ios.iter().map(|io| io.offset).collect();
        let start = zone / 2 * 40;
        assert_eq!(found, (0..4).map(|index| start + index * 10).collect());
    }
}

#[test]
fn sequences_are_walked_as_written() {
    let job = placed(EACH_ONCE, 10, |rules| {
        rules.distribution = ["sequence:2,0,1:stride"; 3].map(|text| text.parse().unwrap());
    });
    assert_eq!(offsets(&all(&job, &[60])), [20, 0, 10, 50, 30, 40]);
}

#[test]
fn targets_are_drawn_by_rank() {
    let mut job = placed(EACH_ONCE, 10, |rules| {
        rules.target_distribution = Distribution::Zipf {
            theta: 1.3,
            center: None,
        };
    });
    job.file_choice = FileChoice::Random;
    let mut counts = BTreeMap::new();
    for io in all(&job, &[10_000; 8]) {
        *counts.entry(io.target).or_insert(0u32) += 1;
    }
    assert_eq!(counts.values().sum::<u32>(), 8000);
    assert!(counts[&0] > 4 * counts[&7], "{counts:?}");
}

#[test]
fn a_picked_target_gets_its_ios() {
    let job = placed(IN_ORDER, 10, |rules| rules.ios_per_target = 3);
    let targets: Vec<u32> = all(&job, &[60, 40]).iter().map(|io| io.target).collect();
    assert_eq!(targets, [0, 0, 0, 1, 1, 1, 0, 0, 0, 1]);
}

#[test]
fn a_target_is_begun_when_another_is_finished() {
    let order = |choice| {
        let mut job = placed(EACH_ONCE, 10, |rules| rules.targets_at_once = Some(2));
        job.file_choice = choice;
        let ios = all(&job, &[30, 10, 30, 20, 10]);
        ios.into_iter().map(|io| io.target).collect::<Vec<u32>>()
    };
    let in_turn = order(FileChoice::RoundRobin);
    assert_eq!(in_turn, [0, 1, 0, 2, 0, 2, 2, 3, 3, 4]);
    let at_random = order(FileChoice::Random);
    let mut left = [3, 1, 3, 2, 1];
    let mut begun = BTreeSet::new();
    for target in at_random {
        begun.insert(target);
        left[target as usize] -= 1;
        let unfinished = begun.iter().filter(|it| left[**it as usize] > 0).count();
        assert!(unfinished <= 2, "{begun:?} {left:?}");
    }
    assert_eq!(left, [0; 5]);
}

#[test]
fn a_time_based_walk_never_ends() {
    for access in [IN_ORDER, EACH_ONCE, DRAWS] {
        for lengths in [&[100][..], &[100, 45, 70]] {
            let mut job = ranged(access, 8, 24);
            job.limits.time_based = true;
            let ranges = ranges(lengths);
            let mut stream = WorkerStream::new(&job, KEY, &ranges, &SharedCursor::new()).unwrap();
            assert!(
                (0..10_000).all(|_| stream.next_io().is_some()),
                "{access:?}"
            );
        }
    }
}

#[test]
fn a_limit_of_bytes_starts_rounds_until_it_is_reached() {
    let mut job = placed(EACH_ONCE, 10, |_| {});
    job.limits.bytes = Some(Bytes::new(250));
    let ios = all(&job, &[100]);
    assert_eq!(ios.len(), 25);
    for round in ios.chunks(10).take(2) {
        assert_eq!(places(round).into_iter().collect::<BTreeSet<_>>().len(), 10);
    }
    job.limits.bytes = Some(Bytes::new(25));
    assert_eq!(all(&job, &[100]).len(), 3);
}

/// 16 TiB in blocks of 4 KiB: four thousand million blocks, and nothing that grows with them.
#[test]
fn a_huge_target_costs_no_memory() {
    const TIB_16: u64 = 16 << 40;
    let range = [TargetRange {
        offset: 0,
        length: TIB_16,
    }];
    let mut seen = BTreeSet::new();
    for job in [job(EACH_ONCE, 4096), placed(EACH_ONCE, 4096, |_| {})] {
        let mut stream = WorkerStream::new(&job, KEY, &range, &SharedCursor::new()).unwrap();
        seen.clear();
        for _ in 0..100_000 {
            let io = stream.next_io().unwrap();
            assert!(io.offset + 4096 <= TIB_16 && io.offset.is_multiple_of(4096));
            assert!(seen.insert(io.offset), "{} twice", io.offset);
        }
        let spread = seen.range(..TIB_16 / 2).count();
        assert!(
            spread.abs_diff(50_000) < 1_000,
            "{spread} in the first half"
        );
    }
    // Past the limit of the map, offsets are drawn without it.
    let mut stream = WorkerStream::new(
        &ranged(EACH_ONCE, 512, 4096),
        KEY,
        &range,
        &SharedCursor::new(),
    )
    .unwrap();
    assert!((0..1_000).all(|_| stream.next_io().is_some()));
}

#[test]
fn ten_thousand_targets_are_walked() {
    let lengths = vec![80; 10_000];
    let ios = all(&placed(EACH_ONCE, 8, |_| {}), &lengths);
    assert_eq!(
        places(&ios).into_iter().collect::<BTreeSet<_>>().len(),
        100_000
    );
}

/// Pinned: a change here makes a repeated run do other I/O.
#[test]
fn the_first_ios_of_walks_are_frozen() {
    let first = |job: &Job| {
        let mut stream = WorkerStream::new(
            job,
            StreamKey::default(),
            &ranges(&[1 << 20]),
            &SharedCursor::new(),
        )
        .unwrap();
        let ios = std::iter::from_fn(|| stream.next_io()).take(4);
        ios.map(|io| (io.offset, io.length)).collect::<Vec<_>>()
    };
    let spread = |text: &str| {
        placed(EACH_ONCE, 4096, |rules| {
            rules.distribution = [text; 3].map(|text| text.parse().unwrap());
        })
    };
    let found = [
        first(&spread("zipf:1.2")),
        first(&spread("pareto:0.2")),
        first(&spread("normal:20")),
        first(&spread("zoned:60/10:40/90")),
        first(&ranged(EACH_ONCE, 512, 4096)),
    ];
    let expected = [
        [
            (241_664, 4096),
            (155_648, 4096),
            (864_256, 4096),
            (413_696, 4096),
        ],
        [
            (155_648, 4096),
            (155_648, 4096),
            (638_976, 4096),
            (843_776, 4096),
        ],
        [
            (688_128, 4096),
            (544_768, 4096),
            (565_248, 4096),
            (491_520, 4096),
        ],
        [
            (24_576, 4096),
            (774_144, 4096),
            (745_472, 4096),
            (1_036_288, 4096),
        ],
        [
            (166_400, 1536),
            (890_880, 3072),
            (498_176, 4096),
            (575_488, 1024),
        ],
    ];
    assert_eq!(found, expected);
}
