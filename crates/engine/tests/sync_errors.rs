//! Syncs that fail: on a loop device whose file has no room, and on a server that cannot make anything durable. The first needs
//! root.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command};

use common::{LoopDevice, Mounted, job, workload};
use fathom_engine::{RunOptions, RunOutcome, StopFlag, run};
use fathom_rawio::{Clock, sleep_until};
use fathom_record::{FailedOperation, Ignore};
use fathom_units::{Bytes, Nanos};
use fathom_workload::{Backend, BlockSizes, Caching, ExistingFiles, Job, Mix};

/// How long a server may take to begin: far longer than any does.
const BEGIN_MOST: Nanos = Nanos::from_secs(60);

struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        // Killed, it would leave its scripts behind in `/tmp`.
        common::end(&mut self.0);
    }
}

fn writer(path: &str) -> Job {
    let mut job = job(Path::new(path), Bytes::mib(4));
    job.mix = Mix::WRITE;
    job.depth = 1;
    job.block = BlockSizes::uniform(Bytes::kib(64));
    job.existing = ExistingFiles::AsPeer;
    job
}

/// Runs a job that may destroy what it writes to. The run has failed, and what failed is a sync, as often as it was asked for.
#[track_caller]
fn check(job: Job, name: &str) -> RunOutcome {
    let options = RunOptions {
        destroy_data: vec![name.to_owned()],
        ..RunOptions::default()
    };
    let _alone = common::no_program_begins();
    let outcome = run(
        &workload(vec![job]),
        &options,
        &StopFlag::new(),
        &mut Ignore,
    )
    .unwrap();
    assert!(outcome.failure.is_some());
    let errors = &outcome.results[0].workers[0].errors;
    let found: Vec<_> = errors
        .iter()
        .map(|error| (error.operation, error.errno, error.count))
        .collect();
    assert_eq!(found, [(Some(FailedOperation::Sync), 5, 1)]);
    outcome
}

#[test]
fn a_device_that_loses_what_it_took_has_failed() {
    let memory = Mounted::new("-t tmpfs -o size=2m none");
    let device = LoopDevice::new_in(memory.directory.path(), Bytes::mib(16));
    let mut buffered = writer(&device.path);
    buffered.caching = Caching::Buffered;
    buffered.backend = Backend::Sync;
    buffered.sync.at_end = true;
    check(buffered, device.name());
}

#[test]
fn a_server_that_makes_nothing_durable_has_failed() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("socket");
    let mut server = Command::new("nbdkit");
    server.args(["--foreground", "--unix"]).arg(&socket).args([
        "eval",
        "get_size=echo 16M",
        "pread=dd if=/dev/zero count=$3 iflag=count_bytes status=none",
        "pwrite=cat > /dev/null",
        "can_write=exit 0",
        "can_flush=exit 0",
        "flush=echo EIO nothing is durable >&2; exit 1",
    ]);
    let _server = Server(server.spawn().unwrap());
    let until = Clock::now() + BEGIN_MOST;
    while UnixStream::connect(&socket).is_err() {
        assert!(Clock::now() < until, "it does not begin");
        sleep_until(Clock::now() + Nanos::from_millis(5));
    }
    let uri = format!("nbd+unix:///?socket={}", socket.display());
    for at_end in [true, false] {
        let mut job = writer(&uri);
        job.backend = Backend::Nbd;
        job.sync.at_end = at_end;
        job.sync.fsync_every = if at_end { 0 } else { 4 };
        check(job, &uri);
    }
}
