//! Ctrl-C once ends a run in order; twice ends the process. Each case is a process of its own: this program again.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(
    clippy::print_stdout,
    reason = "how the child tells its parent where it is"
)]

mod common;

use std::io::{BufRead, BufReader, Lines};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use common::{for_time, job, workload};
use fathom_engine::{RunOptions, StopFlag, run};
use fathom_record::{Event, EventSink};
use fathom_units::{Bytes, Nanos};

const CHILD: &str = "FATHOM_TEST_SIGNALS_IN";

/// Says when the run has begun.
struct Begun;

impl EventSink for Begun {
    fn event(&mut self, event: &Event<'_>) {
        if let Event::StageStarted { .. } = event {
            println!("begun");
        }
    }
}

/// What the child does: a run without end on a fresh file, and then a wait without end.
fn child(directory: &str) {
    let stop = StopFlag::new();
    stop.install_signal_handlers().unwrap();
    let mut endless = job(directory.as_ref(), Bytes::mib(1));
    endless.limits = for_time(Nanos::from_secs(3600));
    let planned = workload(vec![endless]);
    let outcome = run(&planned, &RunOptions::default(), &stop, &mut Begun).unwrap();
    println!(
        "interrupted {} with {} stages",
        outcome.interrupted,
        outcome.results.len()
    );
    loop {
        std::thread::park();
    }
}

/// A child at work, ended when dropped.
struct Running {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Running {
    fn start(directory: &Path) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--nocapture", "--test-threads=1"])
            .env(CHILD, directory)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut running = Self { child, lines };
        running.wait_for("begun");
        running
    }

    #[track_caller]
    fn wait_for(&mut self, wanted: &str) -> String {
        let mut lines = self.lines.by_ref().map_while(Result::ok);
        let found = lines.find(|line| line.contains(wanted));
        found.unwrap_or_else(|| panic!("the child never said `{wanted}`"))
    }

    #[track_caller]
    fn send(&self, signal: &str) {
        common::command(&format!("kill -{signal} {}", self.child.id()));
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Ended already where all went well.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn files_in(directory: &Path) -> usize {
    std::fs::read_dir(directory).unwrap().count()
}

#[test]
fn the_first_signal_ends_the_run_and_the_second_the_process() {
    if let Ok(directory) = std::env::var(CHILD) {
        child(&directory);
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let mut running = Running::start(directory.path());
    running.send("INT");
    let said = running.wait_for("interrupted");
    assert!(said.contains("interrupted true with 1 stages"), "{said}");
    assert_eq!(files_in(directory.path()), 0);
    // The same one at once would be the first told again.
    running.send("TERM");
    assert_eq!(running.child.wait().unwrap().code(), Some(130));
}

#[test]
fn a_killed_process_leaves_no_fresh_file() {
    if std::env::var(CHILD).is_ok() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    drop(Running::start(directory.path()));
    assert_eq!(files_in(directory.path()), 0);
}
