//! I/O from a trace, and traces of I/O.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::path::Path;

use common::{for_time, job, run_jobs, stage, target, workload};
use fathom_engine::{Overwrite, RunOptions, RunOutcome, StopFlag};
use fathom_record::{Ignore, OpStats};
use fathom_units::{Bytes, Nanos, Percent};
use fathom_workload::trace::{TraceAction, TraceReader};
use fathom_workload::{
    Backend, Caching, Checksum, Direction, ExistingFiles, Job, Mix, Replay, ReplayPace, Verify,
};

/// A job that replays `text` on files of 1 MiB.
fn replay(directory: &Path, text: &str, names: &[&str], replay: &Replay) -> Job {
    let path = directory.join("trace");
    std::fs::write(&path, format!("fio version 3 iolog\n{text}")).unwrap();
    let mut job = job(&path, Bytes::mib(1));
    let targets = names.iter().map(|name| {
        let path = directory.join(name);
        target(&path, Some(Bytes::mib(1)))
    });
    job.targets = targets.collect();
    job.mix = Mix::reads(Percent::whole(50).unwrap());
    job.features.replay = Some(Replay {
        path: path.display().to_string(),
        ..replay.clone()
    });
    job
}

fn counts(outcome: &RunOutcome) -> [(u64, u64); 2] {
    assert!(outcome.failure.is_none(), "{:?}", outcome.failure);
    let directions = &outcome.results[0].workers[0].directions;
    [0, 1].map(|way: usize| {
        let stats = directions[way].as_ref();
        stats.map_or((0, 0), |stats| (stats.ios(), stats.bytes))
    })
}

const SMALL: &str = "0 /a add\n10 /b add\n\
    100000 /a write 0 4096\n100000 /b read 4096 4096\n\
    150000 /a sync 0 0\n200000 /b write 8192 4096\n";

#[test]
fn a_trace_is_replayed_at_its_own_times() {
    let directory = tempfile::tempdir().unwrap();
    // The same, a thousand times as slow: 200 s, of which nothing is waited for.
    let slow = SMALL.replace("0000 /", "0000000 /");
    for (text, pace, least_ms, most_ms) in [
        (SMALL, ReplayPace::Timed(100), 200, 20_000),
        (SMALL, ReplayPace::Timed(50), 400, 20_000),
        (&slow, ReplayPace::AtOnce, 0, 100_000),
    ] {
        let how = Replay {
            pace,
            ..Replay::default()
        };
        let outcome = run_jobs(vec![replay(directory.path(), text, &["a", "b"], &how)]).unwrap();
        assert_eq!(counts(&outcome), [(1, 4096), (2, 8192)], "{pace:?}");
        let worker = &outcome.results[0].workers[0];
        assert_eq!(worker.sync.as_ref().map(OpStats::ios), Some(1));
        let measured = worker.measured;
        assert!(
            measured >= Nanos::from_millis(least_ms),
            "{pace:?}: {measured}"
        );
        assert!(
            measured <= Nanos::from_millis(most_ms),
            "{pace:?}: {measured}"
        );
    }
}

#[test]
fn response_counts_from_the_time_of_the_trace() {
    let directory = tempfile::tempdir().unwrap();
    // A hundred writes at one moment through a queue of one: the last one waits for all others.
    let lines: Vec<_> = (0..100)
        .map(|block| format!("5 /a write {} 4096\n", block * 4096))
        .collect();
    let lines = lines.concat();
    let mut job = replay(directory.path(), &lines, &["a"], &Replay::default());
    job.depth = 1;
    let outcome = run_jobs(vec![job]).unwrap();
    let worker = &outcome.results[0].workers[0];
    let writes = worker.directions[Direction::Write as usize]
        .as_ref()
        .unwrap();
    let response = writes.response.as_ref().unwrap();
    assert_eq!((writes.ios(), response.count()), (100, 100));
    assert!(
        response.max() > 10 * writes.latency.percentile(50.0),
        "{}",
        response.max()
    );
}

#[test]
fn a_trace_is_scaled_skipped_and_redirected() {
    let directory = tempfile::tempdir().unwrap();
    let text = "0 /x write 2097152 4096\n1 /y write 8388608 4096\n2 /z read 0 4096\n";
    let how = Replay {
        scale: 16,
        align: 4096,
        skip: [true, false, false, false],
        redirected: true,
        ..Replay::default()
    };
    let mut job = replay(directory.path(), text, &["only"], &how);
    job.mix = Mix::WRITE;
    let recorded = directory.path().join("again").display().to_string();
    job.features.trace_to = Some(recorded.clone());
    let outcome = run_jobs(vec![job]).unwrap();
    assert_eq!(counts(&outcome), [(0, 0), (2, 8192)]);
    let only = directory.path().join("only").display().to_string();
    let text = std::fs::read_to_string(recorded).unwrap();
    for offset in [2_097_152 / 16, 8_388_608 / 16] {
        let line = format!(" {only} write {offset} 4096\n");
        assert!(text.contains(&line), "{text}");
    }
}

#[test]
fn what_was_recorded_is_replayed() {
    for data_only in [false, true] {
        check_recorded(data_only);
    }
}

#[track_caller]
fn check_recorded(data_only: bool) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    let trace = directory.path().join("trace").display().to_string();
    let mut recorded = job(&path, Bytes::mib(1));
    recorded.mix = Mix::WRITE;
    if data_only {
        recorded.sync.fdatasync_every = 50;
    } else {
        recorded.sync.fsync_every = 50;
    }
    recorded.features.trace_to = Some(trace.clone());
    let first = run_jobs(vec![recorded.clone()]).unwrap();
    let mut reader = open(&trace);
    let (mut ios, mut syncs) = (0, 0);
    while let Some(entry) = reader.next_entry().unwrap() {
        ios += u64::from(matches!(entry.action, TraceAction::Io { .. }));
        syncs += u64::from(entry.action == TraceAction::Sync { data_only });
    }
    assert_eq!((ios, syncs), (256, 5));
    assert_eq!(reader.files(), [path.display().to_string()]);
    let mut again = recorded;
    again.features.trace_to = None;
    again.features.replay = Some(Replay {
        path: trace,
        pace: ReplayPace::AtOnce,
        ..Replay::default()
    });
    let second = run_jobs(vec![again]).unwrap();
    assert_eq!(counts(&first), counts(&second));
}

/// A trace that a stage before writes is looked at when that has ended, whatever stood there before the run.
#[test]
fn what_an_earlier_stage_recorded_is_replayed() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    let trace = directory.path().join("trace").display().to_string();
    let mut recorded = job(&path, Bytes::mib(1));
    recorded.mix = Mix::WRITE;
    recorded.features.trace_to = Some(trace.clone());
    let mut again = recorded.clone();
    again.features.trace_to = None;
    again.features.replay = Some(Replay {
        path: trace.clone(),
        pace: ReplayPace::AtOnce,
        ..Replay::default()
    });
    // What a job may do is what was judged before the run: one that goes other ways than its trace does not begin.
    let mut other_way = again.clone();
    other_way.mix = Mix::READ;
    for (job, problem) in [(again, None), (other_way, Some("the job's mix leaves out"))] {
        std::fs::write(&trace, "what was there before").unwrap();
        let mut workload = workload(vec![recorded.clone()]);
        workload.stages.push(stage("again", vec![job]));
        let (options, stop) = (RunOptions::default(), StopFlag::new());
        let outcome = fathom_engine::run(&workload, &options, &stop, &mut Ignore).unwrap();
        let stages: Vec<u64> = (outcome.results.iter())
            .map(|result| {
                result.workers[0].directions[1]
                    .as_ref()
                    .map_or(0, OpStats::ios)
            })
            .collect();
        let failure = outcome.failure.map(|error| error.to_string());
        match problem {
            None => assert_eq!((stages, failure), (vec![256, 256], None)),
            Some(problem) => {
                assert_eq!(stages, [256]);
                assert!(failure.unwrap().contains(problem));
            }
        }
    }
}

/// What is done is measured to its end, also by jobs beside it, and the run fails.
#[test]
fn a_trace_that_finds_no_room_fails_the_run() {
    let directory = tempfile::tempdir().unwrap();
    let mut recorded = job(&directory.path().join("recorded"), Bytes::mib(1));
    let beside = job(&directory.path().join("beside"), Bytes::mib(1));
    recorded.features.trace_to = Some("/dev/full".to_owned());
    let outcome = run_jobs(vec![recorded, beside]).unwrap();
    let workers = &outcome.results[0].workers;
    let bytes = |worker: usize| workers[worker].directions[0].as_ref().unwrap().bytes;
    assert_eq!((bytes(0), bytes(1)), (1 << 20, 1 << 20));
    let told = outcome.failure.unwrap().to_string();
    let expected =
        "`/dev/full`: writing a trace: No space left on device (os error 28)\n  hint: free space";
    assert!(told.starts_with(expected), "{told}");
}

fn open(path: &str) -> TraceReader {
    let file = std::fs::File::open(path).unwrap();
    <TraceReader>::new(Box::new(std::io::BufReader::new(file))).unwrap()
}

#[test]
fn a_long_trace_is_read_piece_by_piece() {
    let directory = tempfile::tempdir().unwrap();
    let lines: Vec<_> = (0..100_000)
        .map(|line| format!("{line} /a read {} 512\n", (line % 2048) * 512))
        .collect();
    let lines = lines.concat();
    let mut job = replay(directory.path(), &lines, &["a"], &Replay::default());
    (job.backend, job.mix) = (Backend::Null, Mix::READ);
    job.limits = for_time(Nanos::from_secs(20));
    job.limits.time_based = false;
    let outcome = run_jobs(vec![job]).unwrap();
    assert_eq!(counts(&outcome), [(100_000, 51_200_000), (0, 0)]);
    let measured = outcome.results[0].workers[0].measured;
    assert!(measured >= Nanos::from_millis(99), "{measured}");
}

#[test]
fn a_missing_trace_is_told() {
    let directory = tempfile::tempdir().unwrap();
    let mut job = replay(directory.path(), "", &["a"], &Replay::default());
    if let Some(replay) = &mut job.features.replay {
        replay.path.push_str(".gone");
    }
    let error = run_jobs(vec![job]).unwrap_err().to_string();
    assert!(error.contains("No such file or directory"), "{error}");
}

#[test]
fn a_trace_that_does_not_fit_its_job_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let text = "0 /a write 0 8192\n1 /b read 0 512\n2 /b trim 0 1073741824\n";
    let job = replay(directory.path(), text, &["a"], &Replay::default());
    let error = run_jobs(vec![job]).unwrap_err().to_string();
    for expected in [
        "it names 2 files, but the job has 1 targets",
        "it has trims, which the job's mix leaves out",
        "its largest write has 8192 bytes, but the job's blocks at most 4096",
    ] {
        assert!(error.contains(expected), "{error}");
    }
    assert!(!directory.path().join("a").exists());
}

/// A job whose trace is, under another name, the file that it writes to: by the time of its check the trace is another.
#[test]
fn a_trace_that_was_changed_before_its_check_fails_the_run() {
    let directory = tempfile::tempdir().unwrap();
    // All of it is read before the first of its writes.
    let lines: Vec<_> = (0..400)
        .map(|line| format!("{line} /a write 4096 4096\n"))
        .collect();
    for (verified, expected) in [
        (false, None),
        (true, Some("not all of what it wrote was checked")),
    ] {
        let mut job = replay(
            directory.path(),
            &lines.concat(),
            &["a"],
            &Replay::default(),
        );
        job.existing = ExistingFiles::AsPeer;
        (job.caching, job.mix) = (Caching::Buffered, Mix::WRITE);
        job.targets[0].length = Some(Bytes::kib(8));
        let verify = Box::new(Verify::new(Checksum::Crc32c));
        job.features.verify = verified.then_some(verify);
        let [trace, target] = ["trace", "a"].map(|name| directory.path().join(name));
        let _ = std::fs::remove_file(&target);
        std::fs::hard_link(&trace, &target).unwrap();
        let options = RunOptions {
            overwrite: Overwrite::Allowed,
            ..RunOptions::default()
        };
        let workload = workload(vec![job]);
        let outcome =
            fathom_engine::run(&workload, &options, &StopFlag::new(), &mut Ignore).unwrap();
        let ios = |way: usize| {
            let directions = &outcome.results[0].workers[0].directions;
            directions[way].as_ref().map_or(0, OpStats::ios)
        };
        assert_eq!((ios(0), ios(1)), (0, 400));
        let told = outcome.failure.map(|error| error.to_string());
        assert_eq!(told.is_some(), expected.is_some(), "{told:?}");
        if let (Some(told), Some(expected)) = (told, expected) {
            let named = format!("its trace `{}` is not what it was", trace.display());
            for part in [expected, &named, ": line ", "hint: leave the trace alone"] {
                assert!(told.contains(part), "{told}");
            }
        }
    }
}
