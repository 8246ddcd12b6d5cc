//! Switching the I/O scheduler of a disk: a loop device of its own. This test needs root.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::fs;
use std::path::Path;

use common::{LoopDevice, assert_asked_by, job, run_jobs};
use fathom_units::Bytes;
use fathom_workload::{Caching, Job};

fn reader(device: &LoopDevice, scheduler: &str) -> Job {
    let mut job = job(Path::new(&device.path), Bytes::mib(1));
    job.caching = Caching::Buffered;
    job.features.process.scheduler = Some(scheduler.to_owned());
    job
}

#[test]
fn a_disk_gets_the_scheduler_that_its_job_asks_for() {
    let device = LoopDevice::new(Bytes::mib(2));
    let setting = format!("/sys/block/{}/queue/scheduler", device.name());
    // A loop device keeps what an earlier use of it left, and has others where the kernel was built with some.
    let _ = fs::write(&setting, "none");
    let list = fs::read_to_string(&setting).unwrap();
    let words = list.split_whitespace();
    let Some(other) = words.map(str::to_owned).find(|word| !word.starts_with('[')) else {
        return;
    };
    let outcome = run_jobs(vec![reader(&device, &other)]).unwrap();
    let switched = format!(
        "the I/O scheduler of {} is switched from none to {other}, and stays so after the run",
        device.name()
    );
    assert_eq!(outcome.notes, [switched]);
    assert_eq!(outcome.results[0].workers[0].ios(), 256);
    let chosen = format!("[{other}]");
    assert!(fs::read_to_string(&setting).unwrap().contains(&chosen));
    // It has that now: there is nothing to say.
    let outcome = run_jobs(vec![reader(&device, &other)]).unwrap();
    assert!(outcome.notes.is_empty(), "{:?}", outcome.notes);
    let asking = reader(&device, "elevator");
    let error = run_jobs(vec![asking.clone()]).unwrap_err();
    assert_asked_by(&error, &asking);
    let error = error.to_string();
    assert!(
        error.contains("the I/O scheduler `elevator`") && error.contains(&chosen),
        "{error}"
    );
    fs::write(&setting, "none").unwrap();
}
