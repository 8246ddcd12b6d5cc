//! What is seen live against what fio says of itself, on loop devices. Needs root, fio and losetup.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod agreement;
mod bench;
mod devices;
mod latencies;
mod loads;
mod processes;

use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// One load at a time: each is measured.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

#[track_caller]
fn output(program: &str, arguments: &[&str]) -> String {
    let done = Command::new(program).args(arguments).output();
    let done = done.unwrap_or_else(|error| panic!("`{program}` cannot be run: {error}"));
    let told = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{program} {arguments:?}: {told}");
    String::from_utf8_lossy(&done.stdout).trim().to_owned()
}
