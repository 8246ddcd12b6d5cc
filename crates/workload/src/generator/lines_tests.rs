//! Tests of the I/O of jobs with lines.

use fathom_units::{Bytes, Nanos, Percent};

use super::{Io, SharedCursor, StreamKey, TargetRange, WorkerStream};
use crate::{AccessLine, Direction, Job, preset};

fn percent(share: u32) -> Percent {
    Percent::whole(share).unwrap()
}

fn job(lines: Vec<AccessLine>) -> Job {
    let mut job = preset("quick", "/d")
        .unwrap()
        .stages
        .remove(0)
        .jobs
        .remove(0);
    job.set_lines(lines);
    job
}

fn stream(job: &Job, length: u64) -> WorkerStream {
    let range = TargetRange { offset: 0, length };
    WorkerStream::new(job, StreamKey::default(), &[range], &SharedCursor::new()).unwrap()
}

fn ios(lines: Vec<AccessLine>, length: u64, count: usize) -> Vec<Io> {
    let job = job(lines);
    let mut stream = stream(&job, length);
    std::iter::from_fn(|| stream.next_io())
        .take(count)
        .collect()
}

#[test]
fn shares_of_lines_reads_and_random_offsets_are_kept() {
    let small = AccessLine {
        weight: 60,
        read: percent(80),
        ..AccessLine::of_size(Bytes::kib(4))
    };
    let large = AccessLine {
        weight: 40,
        read: percent(10),
        random: percent(25),
        ..AccessLine::of_size(Bytes::kib(64))
    };
    let count = 100_000;
    let all = ios(vec![small, large], 64 << 30, count);
    let share = |part: &dyn Fn(&Io) -> bool, of: usize| {
        all.iter().filter(|io| part(io)).count() as f64 / of as f64
    };
    let is_small = |io: &Io| io.length == 4 << 10;
    let smalls = all.iter().filter(|io| is_small(io)).count();
    let reads = |io: &Io| io.direction == Direction::Read;
    // Standard deviations are below 0.0025.
    let near =
        |share: f64, expected: f64| assert!((share - expected).abs() < 0.01, "{share} {expected}");
    near(smalls as f64 / count as f64, 0.6);
    near(share(&|io| is_small(io) && reads(io), smalls), 0.8);
    near(share(&|io| !is_small(io) && reads(io), count - smalls), 0.1);
    let mut end = 0;
    let mut following = 0;
    for io in &all {
        following += u32::from(io.offset == end && !is_small(io));
        end = io.offset + u64::from(io.length);
    }
    near(f64::from(following) / (count - smalls) as f64, 0.75);
    assert!(
        all.iter()
            .all(|io| io.offset % 512 == 0 && io.offset + u64::from(io.length) <= 64 << 30)
    );
}

#[test]
fn a_burst_keeps_to_its_line_and_waits_once() {
    let line = |size, weight| AccessLine {
        weight,
        burst: 3,
        delay: Nanos::from_millis(7),
        ..AccessLine::of_size(Bytes::kib(size))
    };
    let job = job(vec![line(4, 1), line(8, 1), line(16, 0)]);
    let mut stream = stream(&job, 1 << 20);
    let drawn: Vec<(u32, Nanos)> = (0..600)
        .map(|_| (stream.next_io().unwrap().length, stream.delay()))
        .collect();
    for burst in drawn.chunks(3) {
        assert!(
            burst.iter().all(|(size, _)| *size == burst[0].0),
            "{burst:?}"
        );
        assert_eq!(
            burst
                .iter()
                .map(|(_, delay)| delay.get())
                .collect::<Vec<_>>(),
            [7_000_000, 0, 0]
        );
    }
    let sizes: std::collections::BTreeSet<u32> = drawn.iter().map(|(size, _)| *size).collect();
    assert_eq!(sizes.into_iter().collect::<Vec<_>>(), [4 << 10, 8 << 10]);
}

#[test]
fn offsets_move_up_and_wrap_to_the_start() {
    let line = AccessLine {
        random: Percent::ZERO,
        alignment: Some(Bytes::kib(3)),
        ..AccessLine::of_size(Bytes::kib(4))
    };
    let offsets = |line, length, count| -> Vec<u64> {
        let all = ios(vec![line], length, count);
        all.iter().map(|io| io.offset >> 10).collect()
    };
    // 4 KiB end at 4 KiB; the next multiple of 3 KiB is 6 KiB; 18 KiB is the last with room in 23 KiB.
    assert_eq!(offsets(line, 23 << 10, 6), [0, 6, 12, 18, 0, 6]);
    let random = AccessLine {
        random: Percent::ALL,
        ..line
    };
    let all = offsets(random, 23 << 10, 1000);
    assert!(all.iter().all(|at| at % 3 == 0 && *at <= 18), "{all:?}");
    assert!((0..=18).step_by(3).all(|at| all.contains(&at)));
}

#[test]
fn a_reply_follows_in_its_place_of_the_queue() {
    let mut answered = job(vec![AccessLine {
        reply: Some(Bytes::kib(1)),
        read: percent(50),
        ..AccessLine::of_size(Bytes::kib(4))
    }]);
    answered.depth = 4;
    let mut stream = stream(&answered, 1 << 20);
    let all: Vec<Io> = (0..80).map(|_| stream.next_io().unwrap()).collect();
    for group in all.chunks(8) {
        for (request, reply) in group[..4].iter().zip(&group[4..]) {
            assert_eq!((request.length, reply.length), (4096, 1024));
            assert_ne!(request.direction, reply.direction);
        }
    }
}

#[test]
fn limits_end_the_stream() {
    let mut limited = job(vec![AccessLine::of_size(Bytes::kib(4))]);
    limited.limits.time_based = false;
    limited.limits.bytes = Some(Bytes::kib(30));
    let count = |job: &Job| {
        let mut stream = stream(job, 1 << 20);
        std::iter::from_fn(|| stream.next_io()).count()
    };
    assert_eq!(count(&limited), 7);
    limited.limits.ios = Some(3);
    assert_eq!(count(&limited), 3);
}

#[test]
fn a_range_without_room_is_refused() {
    let job = job(vec![AccessLine {
        alignment: Some(Bytes::kib(64)),
        ..AccessLine::of_size(Bytes::kib(4))
    }]);
    let range = TargetRange {
        offset: 4096,
        length: 32 << 10,
    };
    let made = WorkerStream::new(&job, StreamKey::default(), &[range], &SharedCursor::new());
    let error = made.unwrap_err().to_string();
    assert!(error.contains("do not fit into"), "{error}");
}
