//! Each backend does exactly the I/O that its job asks for.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{command, for_time, job, run_jobs, stage, workload};
use fathom_engine::{RunOptions, StopFlag, run};
use fathom_record::{EndReason, Ignore, OpStats};
use fathom_units::{Bytes, Nanos, Percent};
use fathom_workload::{
    Access, Backend, Batches, Caching, Calls, Coverage, Job, Limits, Mix, SequentialScope,
    Submitter,
};

const SIZE: Bytes = Bytes::mib(2);

/// Each way of doing I/O.
fn ways() -> [(Backend, Caching, Calls); 10] {
    let plain = Calls::default();
    let taken = Calls {
        submitter: Some(Submitter::default()),
        ..plain
    };
    let some_handed_over = Calls {
        async_every: 3,
        ..plain
    };
    let half_polled = Calls {
        polled: 50,
        ..plain
    };
    [
        (Backend::IoUring, Caching::Direct, plain),
        (Backend::IoUring, Caching::Buffered, plain),
        (Backend::IoUring, Caching::Direct, taken),
        (Backend::IoUring, Caching::Buffered, taken),
        (Backend::IoUring, Caching::Direct, some_handed_over),
        (Backend::Libaio, Caching::Direct, plain),
        (Backend::Sync, Caching::Direct, plain),
        (Backend::Sync, Caching::Buffered, plain),
        (Backend::Sync, Caching::Direct, half_polled),
        (Backend::Null, Caching::Direct, plain),
    ]
}

/// Runs a job that its size ends, on each way of doing I/O, and compares its counts of reads and writes.
#[track_caller]
fn check(change: impl Fn(&mut Job), reads: u64, writes: u64) {
    for (backend, caching, calls) in ways() {
        let directory = tempfile::tempdir().unwrap();
        let mut job = job(&directory.path().join("file"), SIZE);
        (job.backend, job.caching) = (backend, caching);
        job.features.calls = calls;
        change(&mut job);
        let split = job.split_latency && backend != Backend::Sync;
        let block = job.block.largest(job.mix).get();
        let outcome = run_jobs(vec![job]).unwrap();
        let workers = &outcome.results[0].workers;
        let count = |way: usize| -> (u64, u64) {
            let stats = workers
                .iter()
                .filter_map(|worker| worker.directions[way].as_ref());
            stats.fold((0, 0), |sum, stats| {
                (sum.0 + stats.ios(), sum.1 + stats.bytes)
            })
        };
        let way = format!("{backend:?} {caching:?} {calls:?}");
        assert_eq!(count(0), (reads, reads * block), "reads, {way}");
        assert_eq!(count(1), (writes, writes * block), "writes, {way}");
        for worker in workers {
            assert_eq!(worker.ended, EndReason::Done, "{way}");
            assert_eq!(worker.errors, [], "{way}");
            assert_eq!(
                worker.depth_levels.iter().sum::<u64>(),
                worker.ios(),
                "{way}"
            );
            // Each I/O is outstanding for as long as its latency lasts.
            let latencies = worker.directions.iter().flatten();
            let latencies: u128 = latencies.map(|stats| stats.latency.sum()).sum();
            assert_eq!(latencies, worker.outstanding_ns, "{way}");
            for stats in worker.directions.iter().flatten().filter(|_| split) {
                let sum =
                    |histogram: &Option<fathom_stats::Histogram>| histogram.as_ref().unwrap().sum();
                let parts = sum(&stats.submit) + sum(&stats.complete);
                assert_eq!(parts, stats.latency.sum(), "{way}");
            }
        }
        let intervals = outcome.results[0].intervals.iter();
        let seen: u64 = intervals
            .flat_map(|interval| interval.directions.iter().flatten())
            .map(OpStats::ios)
            .sum();
        assert_eq!(seen, reads + writes, "intervals, {way}");
    }
}

#[test]
fn a_pass_does_every_block_once() {
    check(|_| {}, 512, 0);
    check(|job| job.mix = Mix::WRITE, 0, 512);
    check(|job| job.workers = 3, 3 * 512, 0);
    check(|job| job.split_latency = true, 512, 0);
    check(
        |job| {
            job.access = Access::Sequential {
                gap: Bytes::ZERO,
                scope: SequentialScope::Shared,
            };
            job.workers = 2;
        },
        512,
        0,
    );
}

#[test]
fn completions_are_taken_where_none_is_waited_for() {
    for split in [false, true] {
        check(
            |job| {
                job.split_latency = split;
                job.features.batches = Some(Batches {
                    submit: 1,
                    complete_min: 0,
                    complete_max: 8,
                    low: 0,
                });
            },
            512,
            0,
        );
    }
}

/// Not even where submissions complete what they submit, or where a disk is quick.
#[test]
fn fewer_than_are_waited_for_are_not_taken() {
    for (backend, caching, calls) in ways() {
        let is_queued = backend != Backend::Sync && calls == Calls::default();
        for split in [false, true].into_iter().filter(|_| is_queued) {
            let directory = tempfile::tempdir().unwrap();
            let mut job = job(&directory.path().join("file"), SIZE);
            (job.backend, job.caching, job.depth) = (backend, caching, 16);
            job.split_latency = split;
            job.features.batches = Some(Batches {
                submit: 4,
                complete_min: 8,
                complete_max: 16,
                low: 0,
            });
            let outcome = run_jobs(vec![job]).unwrap();
            let worker = &outcome.results[0].workers[0];
            assert_eq!(worker.ios(), 512);
            // The last ones, and those of a wait that one of the worker's moments has ended.
            let few = worker.complete_batches[1];
            assert!(few <= 4, "{backend:?} {caching:?} {split}: {few} below 5");
        }
    }
}

/// What is submitted together is kept back from the device where the call itself waits for it.
#[test]
fn reads_that_libaio_waits_for_are_submitted_one_by_one() {
    for (caching, alone) in [(Caching::Buffered, true), (Caching::Direct, false)] {
        let directory = tempfile::tempdir().unwrap();
        let mut job = job(&directory.path().join("file"), SIZE);
        (job.backend, job.caching, job.depth) = (Backend::Libaio, caching, 256);
        let outcome = run_jobs(vec![job]).unwrap();
        let worker = &outcome.results[0].workers[0];
        let calls = &worker.submit_batches;
        assert_eq!(calls[1] == worker.ios(), alone, "{caching:?}: {calls:?}");
    }
}

#[test]
fn limits_end_a_job() {
    check(|job| job.limits.bytes = Some(Bytes::kib(40)), 10, 0);
    check(|job| job.limits.ios = Some(7), 7, 0);
    check(|job| job.limits.loops = 2, 1024, 0);
    check(
        |job| {
            job.limits = Limits {
                ios: Some(1500),
                runtime: Some(Nanos::from_secs(20)),
                loops: 5,
                ..Limits::default()
            };
        },
        1500,
        0,
    );
}

#[test]
fn written_blocks_hold_what_was_written() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    let outcome = run_jobs(vec![job(&path, SIZE)]).unwrap();
    assert!(outcome.failure.is_none());
    let laid_out = std::fs::read(&path).unwrap();
    for backend in [Backend::IoUring, Backend::Libaio, Backend::Sync] {
        let before = std::fs::read(&path).unwrap();
        let mut writer = job(&path, SIZE);
        (writer.mix, writer.backend) = (Mix::WRITE, backend);
        writer.salt = backend as u64 + 1;
        run_jobs(vec![writer]).unwrap();
        let after = std::fs::read(&path).unwrap();
        assert_eq!(after.len(), laid_out.len());
        let blocks = before.chunks(4096).zip(after.chunks(4096));
        assert_eq!(blocks.filter(|(old, new)| old == new).count(), 0);
    }
}

#[test]
fn syncs_are_counted_apart() {
    let directory = tempfile::tempdir().unwrap();
    for backend in [Backend::IoUring, Backend::Libaio, Backend::Sync] {
        let path = directory.path().join(backend.name());
        let mut job = job(&path, SIZE);
        (job.mix, job.backend) = (Mix::WRITE, backend);
        job.sync.fsync_every = 100;
        job.sync.at_end = true;
        let outcome = run_jobs(vec![job]).unwrap();
        let worker = &outcome.results[0].workers[0];
        assert_eq!(worker.directions[1].as_ref().unwrap().ios(), 512);
        assert_eq!(worker.sync.as_ref().unwrap().ios(), 6, "{backend:?}");
    }
}

/// A stage of fio's files has its first job's name, and people are told of the others too.
#[test]
fn a_stage_is_told_by_all_of_its_jobs() {
    let directory = tempfile::tempdir().unwrap();
    let one = job(&directory.path().join("file"), Bytes::kib(64));
    let mut other = one.clone();
    other.name = "other".to_owned();
    let mut planned = workload(vec![one, other]);
    "job".clone_into(&mut planned.stages[0].name);
    planned.stages[0].repeats = 2;
    let mut told = common::Told::default();
    run(
        &planned,
        &RunOptions::default(),
        &StopFlag::new(),
        &mut told,
    )
    .unwrap();
    assert_eq!(told.stages, ["job", "job #2"]);
    assert_eq!(told.words, ["job and other", "job and other #2"]);
}

#[test]
fn time_ends_a_job_and_warm_up_is_left_out() {
    let directory = tempfile::tempdir().unwrap();
    let mut job = job(&directory.path().join("file"), SIZE);
    job.mix = Mix::reads(Percent::whole(70).unwrap());
    job.access = Access::Random {
        coverage: Coverage::Independent,
        run: 1,
    };
    job.limits = Limits {
        start_delay: Nanos::from_millis(100),
        warmup: Nanos::from_millis(300),
        ..for_time(Nanos::from_millis(1200))
    };
    let mut told = common::Told::default();
    let mut planned = workload(vec![job]);
    planned.stages[0].repeats = 2;
    let stop = StopFlag::new();
    let outcome = run(&planned, &RunOptions::default(), &stop, &mut told).unwrap();
    assert_eq!(told.stages, ["stage", "stage #2"]);
    assert!(!told.intervals.is_empty());
    for result in &outcome.results {
        let worker = &result.workers[0];
        assert_eq!(worker.ended, EndReason::Time);
        let late = worker.started.saturating_sub(Nanos::from_millis(400));
        assert!(late < Nanos::from_secs(1), "started {}", worker.started);
        let over = worker.measured.saturating_sub(Nanos::from_millis(1200));
        assert!(
            worker.measured >= Nanos::from_millis(1100),
            "{}",
            worker.measured
        );
        assert!(over < Nanos::from_secs(2), "measured {}", worker.measured);
        let whole = worker.measured.get() / 500_000_000;
        assert!((2..=whole).contains(&(worker.samples.len() as u64)));
        let reads = worker.directions[0].as_ref().unwrap().ios() as f64;
        assert!((reads / worker.ios() as f64 - 0.7).abs() < 0.1);
        let depth = worker.outstanding_ns as f64 / worker.measured.get() as f64;
        assert!((6.0..=8.1).contains(&depth), "depth {depth}");
        assert!(worker.usage.user + worker.usage.system > Nanos::ZERO);
    }
}

#[test]
fn stages_run_one_after_another_and_a_discarded_one_is_silent() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    let mut planned = workload(vec![job(&path, SIZE)]);
    planned.stages[0].discard = true;
    planned.stages.push(stage("second", vec![job(&path, SIZE)]));
    let stop = StopFlag::new();
    let outcome = run(&planned, &RunOptions::default(), &stop, &mut Ignore).unwrap();
    assert_eq!(outcome.results.len(), 1);
    assert_eq!(outcome.results[0].name, "second");
    assert_eq!(outcome.results[0].stage, 1);
    let device = &outcome.results[0].devices;
    let source = command(&format!("stat -c %d {}", path.display()));
    assert!(!source.is_empty());
    if let Some(device) = device.first() {
        // Neighbours that are in line together may be merged.
        assert!(device.ios[0] + device.merges[0] >= 512, "{device:?}");
    }
}

/// What kernel threads do is told: file systems such as ext4 and tmpfs have them do each write through the page cache. Where
/// one can tell whether it would wait, none is needed, and nothing is told.
#[test]
fn writes_handed_to_kernel_threads_are_told() {
    let notes = |change: &dyn Fn(&mut Job)| {
        let directory = tempfile::tempdir().unwrap();
        let mut job = job(&directory.path().join("file"), SIZE);
        (job.mix, job.caching) = (Mix::WRITE, Caching::Buffered);
        change(&mut job);
        let notes = run_jobs(vec![job]).unwrap().results.remove(0).notes;
        let told = |note: &String| note.contains("to threads of its own");
        (notes.iter().filter(|note| told(note)).count(), directory)
    };
    let (told, directory) = notes(&|_| {});
    let line = format!("stat -f -c %T {}", directory.path().display());
    let file_system = command(&line);
    if ["ext2/ext3", "tmpfs"].contains(&file_system.as_str()) {
        assert_eq!(told, 1, "{file_system}");
    }
    let others: [&dyn Fn(&mut Job); 4] = [
        &|job| job.caching = Caching::Direct,
        &|job| job.backend = Backend::Sync,
        &|job| job.mix = Mix::READ,
        &|job| job.features.calls.async_every = 1,
    ];
    for change in others {
        assert_eq!(notes(change).0, 0);
    }
}
