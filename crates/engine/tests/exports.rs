//! Jobs on exports of a real NBD server.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use common::{for_time, job, run_jobs, workload};
use fathom_engine::{EngineError, ErrorPolicy, RunOptions, StopFlag, preflight, run};
use fathom_rawio::{Clock, sleep_until};
use fathom_record::{EndReason, Event, EventSink, Ignore, OpStats, WorkerStats};
use fathom_units::{Bytes, Nanos};
use fathom_workload::{Backend, BlockSizes, Job, Mix, OpenSync};

const SIZE: Bytes = Bytes::mib(64);

/// A qemu-nbd on a file, ended when it is dropped.
struct Server {
    child: Child,
    folder: tempfile::TempDir,
}

impl Server {
    fn start(more: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let image = folder.path().join("image");
        let file = std::fs::File::create(&image).unwrap();
        file.set_len(SIZE.get()).unwrap();
        let mut command = Command::new("qemu-nbd");
        command.args(["--persistent", "--format=raw", "-x", "disk", "-k"]);
        command
            .arg(folder.path().join("socket"))
            .args(more)
            .arg(&image);
        let child = command.spawn().unwrap();
        let server = Self { child, folder };
        let until = Clock::now() + Nanos::from_secs(60);
        // The socket is there before anybody listens on it.
        while UnixStream::connect(server.socket()).is_err() {
            assert!(Clock::now() < until, "qemu-nbd does not start");
            sleep_until(Clock::now() + Nanos::from_millis(5));
        }
        server
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("socket")
    }

    fn uri(&self, export: &str) -> String {
        format!("nbd+unix:///{export}?socket={}", self.socket().display())
    }

    /// Random reads of all of it.
    fn job(&self) -> Job {
        let mut job = job(Path::new(&self.uri("disk")), SIZE);
        job.backend = Backend::Nbd;
        job
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[track_caller]
fn refused(job: Job, expected: &str) {
    let error = run_jobs(vec![job]).unwrap_err();
    assert!(error.to_string().contains(expected), "{error}");
}

#[test]
fn every_block_is_read_and_written_once() {
    let server = Server::start(&["--shared=0"]);
    for (depth, workers, block, mix) in [
        (1, 1, Bytes::kib(64), Mix::READ),
        (32, 2, Bytes::kib(4), Mix::READ),
        (8, 1, Bytes::mib(4), Mix::WRITE),
        (32, 1, Bytes::kib(16), Mix::WRITE),
    ] {
        let mut job = server.job();
        (job.depth, job.workers, job.mix) = (depth, workers, mix);
        job.block = BlockSizes::uniform(block);
        job.sync.at_end = true;
        let options = RunOptions {
            destroy_data: vec![server.uri("disk")],
            ..RunOptions::default()
        };
        let outcome = run(
            &workload(vec![job]),
            &options,
            &StopFlag::new(),
            &mut Ignore,
        )
        .unwrap();
        assert!(outcome.failure.is_none());
        let workers = &outcome.results[0].workers;
        for worker in workers {
            let moved = worker.directions.iter().flatten();
            let moved: u64 = moved.map(OpStats::ios).sum();
            assert_eq!(moved, SIZE.get() / block.get());
        }
    }
}

#[test]
fn an_export_is_written_to_by_its_whole_name_alone() {
    let server = Server::start(&["--shared=0"]);
    let mut job = server.job();
    job.mix = Mix::WRITE;
    let error = run_jobs(vec![job.clone()]).unwrap_err();
    let EngineError::Refused(refusals) = &error else {
        panic!("{error}");
    };
    let flag = format!("`--destroy-data='{}'`", server.uri("disk"));
    assert!(refusals[0].remedy.contains(&flag), "{error}");
    let image = std::fs::read(server.folder.path().join("image")).unwrap();
    assert!(image.iter().all(|byte| *byte == 0));
}

#[test]
fn what_its_server_refuses_is_known_before() {
    let server = Server::start(&["--read-only"]);
    let mut writes = server.job();
    writes.mix = Mix::WRITE;
    refused(
        writes,
        "its server offers it for reading alone, and the job writes",
    );
    let mut long = server.job();
    long.block = BlockSizes::uniform(Bytes::mib(64));
    refused(
        long,
        "its server takes at most 32 MiB in one request, and the job has blocks of 64 MiB",
    );
    let mut beyond = server.job();
    beyond.targets[0].length = Some(Bytes::mib(65));
    refused(beyond, "it has 64 MiB, but 65 MiB are asked for");
    let mut other = server.job();
    *other.targets[0].place.path_mut() = server.uri("other");
    refused(other, "it has no such export; it has `disk`");
    let mut wrong = server.job();
    wrong.backend = Backend::Sync;
    refused(
        wrong,
        "it is an export of an NBD server, which the backend `sync` cannot reach",
    );
    let mut file = server.job();
    *file.targets[0].place.path_mut() = server.socket().display().to_string();
    refused(
        file,
        "it is no export of an NBD server, which the backend `nbd` needs",
    );
    let mut durable = server.job();
    durable.sync.open = OpenSync::Dsync;
    assert!(preflight(&workload(vec![durable]), &RunOptions::default()).is_ok());
}

/// An nbdkit with 64 MiB in memory, ended when it is dropped.
struct Kit {
    child: Child,
    folder: tempfile::TempDir,
}

impl Kit {
    fn start(words: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("socket");
        let mut command = Command::new("nbdkit");
        command.args(["--foreground", "--unix"]).arg(&socket);
        let child = command.args(words).spawn().unwrap();
        let mut kit = Self { child, folder };
        let until = Clock::now() + Nanos::from_secs(60);
        // The socket is there before anybody listens on it.
        while UnixStream::connect(&socket).is_err() {
            let ended = kit.child.try_wait().unwrap();
            assert_eq!(ended, None, "nbdkit {words:?} has ended");
            assert!(Clock::now() < until, "nbdkit {words:?} does not start");
            sleep_until(Clock::now() + Nanos::from_millis(5));
        }
        kit
    }

    fn uri(&self) -> String {
        let socket = self.folder.path().join("socket");
        format!("nbd+unix:///?socket={}", socket.display())
    }

    fn job(&self, mix: Mix) -> Job {
        let mut job = job(Path::new(&self.uri()), SIZE);
        (job.backend, job.mix) = (Backend::Nbd, mix);
        job
    }

    /// Allowed to write.
    fn options(&self) -> RunOptions {
        RunOptions {
            destroy_data: vec![self.uri()],
            ..RunOptions::default()
        }
    }
}

impl Drop for Kit {
    fn drop(&mut self) {
        // Killed, it would leave its scripts behind in `/tmp`.
        common::end(&mut self.child);
    }
}

#[test]
fn what_is_trimmed_is_gone() {
    let server = Server::start(&["--shared=0", "--discard=unmap"]);
    let image = server.folder.path().join("image");
    let taken = || std::os::unix::fs::MetadataExt::blocks(&std::fs::metadata(&image).unwrap());
    let options = RunOptions {
        destroy_data: vec![server.uri("disk")],
        ..RunOptions::default()
    };
    for (depth, workers) in [(1, 1), (8, 1), (8, 2)] {
        std::fs::write(&image, vec![7; SIZE.get() as usize]).unwrap();
        let mut job = server.job();
        (job.mix, job.depth, job.workers) = (Mix::TRIM, depth, workers);
        job.block = BlockSizes::uniform(Bytes::kib(64));
        job.targets[0].length = Some(Bytes::mib(32));
        let outcome = run(
            &workload(vec![job]),
            &options,
            &StopFlag::new(),
            &mut Ignore,
        )
        .unwrap();
        assert!(outcome.failure.is_none());
        for worker in &outcome.results[0].workers {
            let trims = worker.directions[2].as_ref().unwrap();
            assert_eq!((trims.ios(), trims.bytes), (512, 32 << 20));
        }
        let bytes = std::fs::read(&image).unwrap();
        let (trimmed, kept) = bytes.split_at(32 << 20);
        assert!(trimmed.iter().all(|byte| *byte == 0), "depth {depth}");
        assert!(kept.iter().all(|byte| *byte == 7), "depth {depth}");
        assert!(taken() * 512 < 40 << 20, "the room is free again");
    }
}

/// A trace that is written has each of them once.
#[test]
fn trims_are_traced_once() {
    let server = Server::start(&["--shared=0", "--discard=unmap"]);
    let trace = server.folder.path().join("trace");
    let options = RunOptions {
        destroy_data: vec![server.uri("disk")],
        ..RunOptions::default()
    };
    let mut job = server.job();
    job.mix = Mix::TRIM;
    job.targets[0].length = Some(Bytes::kib(64));
    job.features.trace_to = Some(trace.display().to_string());
    run(
        &workload(vec![job]),
        &options,
        &StopFlag::new(),
        &mut Ignore,
    )
    .unwrap();
    let text = std::fs::read_to_string(trace).unwrap();
    let trims = text.lines().filter(|line| line.contains(" trim ")).count();
    assert_eq!(trims, 16, "{text}");
}

#[test]
fn trims_need_a_server_that_has_them() {
    let calls = ["get_size=echo 64M", "pread=exit 1", "pwrite=cat >/dev/null"];
    let kit = Kit::start(&[&["eval"], &calls[..]].concat());
    let refused = preflight(&workload(vec![kit.job(Mix::TRIM)]), &kit.options());
    let told = refused.unwrap_err().to_string();
    assert!(
        told.contains("its server has no trims, which the job asks for"),
        "{told}"
    );
}

#[test]
fn several_connections_need_a_server_that_keeps_them_alike() {
    let apart = Kit::start(&[
        "--filter=multi-conn",
        "memory",
        "64M",
        "multi-conn-mode=disable",
    ]);
    let together = Kit::start(&["memory", "64M"]);
    for (kit, workers, mix, expected) in [
        (&apart, 1, Mix::WRITE, false),
        (&apart, 2, Mix::READ, false),
        (&apart, 2, Mix::WRITE, true),
        (&together, 2, Mix::WRITE, false),
    ] {
        let mut job = kit.job(mix);
        job.workers = workers;
        let plan = preflight(&workload(vec![job]), &kit.options()).unwrap();
        let told = plan.notes.iter().any(|note| {
            note.starts_with(&format!("`{}` is written to over 2 connections", kit.uri()))
        });
        assert_eq!(told, expected, "{:?}", plan.notes);
    }
    // A reader beside a writer is one more.
    let jobs = vec![apart.job(Mix::WRITE), apart.job(Mix::READ)];
    assert_eq!(
        preflight(&workload(jobs), &apart.options())
            .unwrap()
            .notes
            .len(),
        1
    );
}

/// Stops the server once I/O has been done for a while, and the run after it.
struct StopBoth(Option<u32>, StopFlag);

impl EventSink for StopBoth {
    fn event(&mut self, event: &Event<'_>) {
        if let Event::Interval { .. } = event
            && let Some(id) = self.0.take()
        {
            let stopped = Command::new("kill")
                .args(["-STOP", &id.to_string()])
                .status();
            assert!(stopped.unwrap().success());
            self.1.request();
        }
    }
}

#[test]
fn a_run_that_is_to_end_does_not_wait_for_a_silent_server() {
    let server = Server::start(&["--shared=0"]);
    let mut job = server.job();
    (job.workers, job.depth) = (2, 16);
    job.limits = for_time(Nanos::from_secs(60));
    let stop = StopFlag::new();
    let mut sink = StopBoth(Some(server.child.id()), stop.clone());
    let start = Clock::now();
    let outcome = run(
        &workload(vec![job]),
        &RunOptions::default(),
        &stop,
        &mut sink,
    )
    .unwrap();
    let took = Clock::now().saturating_sub(start);
    assert!(took < Nanos::from_secs(8), "{took}");
    assert!(outcome.interrupted && outcome.failure.is_none());
    let result = &outcome.results[0];
    let ios = |stats: &OpStats| stats.ios();
    let done = result
        .workers
        .iter()
        .flat_map(|it| it.directions.iter().flatten());
    assert!(done.map(ios).sum::<u64>() > 0, "what was measured is kept");
    assert!(result.workers.iter().all(|it| it.errors.is_empty()));
    // What was given up is no part of what was outstanding: the mean of that is what rate and latency come to.
    let outstanding: u128 = result.workers.iter().map(|it| it.outstanding_ns).sum();
    let done = result
        .workers
        .iter()
        .flat_map(|it| it.directions.iter().flatten());
    let latencies: u128 = done.map(|stats| stats.latency.sum()).sum();
    let ratio = outstanding as f64 / latencies as f64;
    assert!((0.8..1.2).contains(&ratio), "{ratio}");
    // All of both workers, but for those that one which others keep from its processor has not asked for again.
    let silent = "the server of its export says nothing any more; ";
    let unanswered = result.notes.iter().find_map(|note| {
        let (count, rest) = note.split_once(silent)?.1.split_once(' ')?;
        let is_all = rest.starts_with("requests had no answer when the run was to end");
        count.parse::<u32>().ok().filter(|_| is_all)
    });
    assert!(
        unanswered.is_some_and(|count| (16..=32).contains(&count)),
        "{:?}",
        result.notes
    );
}

#[test]
fn a_server_with_too_few_connections_is_not_waited_for() {
    let server = Server::start(&["--shared=1"]);
    assert!(run_jobs(vec![server.job()]).is_ok());
    let mut two = server.job();
    two.workers = 2;
    let start = Clock::now();
    refused(two, "does not answer within 5 s");
    assert!(Clock::now().saturating_sub(start) < Nanos::from_secs(20));
}

/// Ends the server once I/O has been done for a while.
struct Kill(Option<u32>);

impl EventSink for Kill {
    fn event(&mut self, event: &Event<'_>) {
        if let Event::Interval { .. } = event
            && let Some(id) = self.0.take()
        {
            let killed = Command::new("kill").args(["-9", &id.to_string()]).status();
            assert!(killed.unwrap().success());
        }
    }
}

/// Whatever errors are survived: each further I/O would fail at once.
#[test]
fn a_server_that_ends_ends_runs_that_survive_errors() {
    for on_error in [ErrorPolicy::Stop, ErrorPolicy::Continue] {
        let server = Server::start(&["--shared=0"]);
        let mut job = server.job();
        (job.workers, job.depth) = (2, 16);
        job.limits = for_time(Nanos::from_secs(20));
        job.features.errors.go_on = [on_error == ErrorPolicy::Stop; 3];
        let options = RunOptions {
            on_error,
            ..RunOptions::default()
        };
        let start = Clock::now();
        let outcome = run(
            &workload(vec![job]),
            &options,
            &StopFlag::new(),
            &mut Kill(Some(server.child.id())),
        );
        let outcome = outcome.unwrap();
        assert!(Clock::now().saturating_sub(start) < Nanos::from_secs(15));
        let failure = outcome.failure.unwrap().to_string();
        for part in [
            "its server has ended the connection, or has died",
            "hint: see whether the server is still there",
        ] {
            assert!(failure.contains(part), "{failure}");
        }
        let workers = &outcome.results[0].workers;
        let errors = workers.iter().flat_map(|worker| &worker.errors);
        let errors: u64 = errors.map(|error| error.count).sum();
        assert!((1..=32).contains(&errors), "{errors} errors");
        let failed = |worker: &WorkerStats| worker.ended == EndReason::Failed;
        assert!(workers.iter().any(failed));
    }
}

#[test]
fn a_server_that_ends_ends_the_run() {
    let server = Server::start(&["--shared=0"]);
    let mut job = server.job();
    (job.workers, job.depth) = (2, 16);
    job.limits = for_time(Nanos::from_secs(30));
    let start = Clock::now();
    let outcome = run(
        &workload(vec![job]),
        &RunOptions::default(),
        &StopFlag::new(),
        &mut Kill(Some(server.child.id())),
    );
    let failure = outcome.unwrap().failure.unwrap().to_string();
    assert!(
        failure.contains("its server has ended the connection"),
        "{failure}"
    );
    assert!(Clock::now().saturating_sub(start) < Nanos::from_secs(20));
}
