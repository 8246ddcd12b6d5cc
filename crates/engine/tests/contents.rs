//! What is written is made before its I/O begins.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{for_time, job, run_jobs};
use fathom_units::{Bytes, Nanos};
use fathom_workload::{Backend, BlockSizes, BufferContents, Mix};

/// The time of an I/O that does nothing is short beside that of making a mebibyte of random data.
#[test]
fn data_is_made_before_its_write_begins() {
    let directory = tempfile::tempdir().unwrap();
    let mut job = job(&directory.path().join("file"), Bytes::mib(64));
    job.limits = for_time(Nanos::from_millis(300));
    job.mix = Mix::WRITE;
    job.block = BlockSizes::uniform(Bytes::mib(1));
    job.contents = BufferContents::RandomEachWrite;
    job.backend = Backend::Null;
    let worker = run_jobs(vec![job]).unwrap().results[0].workers[0].clone();
    let writes = worker.directions.iter().flatten().next().unwrap();
    let each = worker.measured.get() / worker.ios();
    let latency = writes.latency.percentile(50.0);
    assert!(latency * 10 < each, "{latency} ns of {each} ns: {writes:?}");
}
