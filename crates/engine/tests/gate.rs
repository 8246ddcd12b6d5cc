//! A gate says when each stage begins; what began is told, and a gate that gives up ends the run in order.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::cell::{Cell, RefCell};

use common::{for_time, job, stage, workload};
use fathom_engine::{Gate, RunOptions, RunOutcome, StopFlag, Upcoming, run, run_gated};
use fathom_rawio::{Clock, sleep_until, wall_clock};
use fathom_record::Ignore;
use fathom_units::{Bytes, Nanos};
use fathom_workload::Workload;

const AHEAD: Nanos = Nanos::from_millis(60);
/// The machine of the tests has few processors, and others use them.
const NEAR: Nanos = Nanos::from_millis(50);

/// Lets `most` stages begin, each so long after it was asked, and raises the stop flag where it is asked for more.
#[derive(Debug)]
struct Later {
    ahead: Nanos,
    most: usize,
    asked: RefCell<Vec<(usize, usize, u32, String)>>,
    given: RefCell<Vec<Nanos>>,
}

impl Later {
    fn new(ahead: Nanos, most: usize) -> Self {
        Self {
            ahead,
            most,
            asked: RefCell::default(),
            given: RefCell::default(),
        }
    }
}

impl Gate for Later {
    fn begin(&self, next: &Upcoming<'_>, _: &StopFlag) -> Option<Nanos> {
        assert_eq!(next.count, 3);
        let told = (next.index, next.stage, next.repeat, next.name.to_owned());
        self.asked.borrow_mut().push(told);
        let at = Clock::now() + self.ahead;
        (next.index < self.most).then(|| {
            self.given.borrow_mut().push(at);
            at
        })
    }
}

/// Two stages, the first of them twice, each for 50 ms.
fn planned(directory: &std::path::Path) -> Workload {
    let mut short = job(&directory.join("file"), Bytes::mib(1));
    short.limits = for_time(Nanos::from_millis(50));
    let mut planned = workload(vec![short.clone()]);
    planned.stages[0].repeats = 2;
    planned.stages.push(stage("second", vec![short]));
    planned
}

fn gated(gate: &dyn Gate, stop: &StopFlag, directory: &std::path::Path) -> RunOutcome {
    let options = RunOptions::default();
    run_gated(&planned(directory), &options, stop, &mut Ignore, gate).unwrap()
}

#[test]
fn each_stage_and_repeat_begins_when_the_gate_has_it() {
    let directory = tempfile::tempdir().unwrap();
    let gate = Later::new(AHEAD, 3);
    let outcome = gated(&gate, &StopFlag::new(), directory.path());
    let told = |index, stage, repeat, name: &str| (index, stage, repeat, name.to_owned());
    let expected = [
        told(0, 0, 0, "stage"),
        told(1, 0, 1, "stage #2"),
        told(2, 1, 0, "second"),
    ];
    assert_eq!(*gate.asked.borrow(), expected);
    let ahead_of_wall = wall_clock() - Clock::now().get();
    assert_eq!(outcome.results.len(), 3);
    for (result, given) in outcome.results.iter().zip(gate.given.borrow().iter()) {
        let began = result.began.unwrap();
        assert!(began.at >= *given, "{} began early", result.name);
        let late = began.at.saturating_sub(*given);
        assert!(late < NEAR, "{} began {late} late", result.name);
        let apart = began.unix_ns.abs_diff(began.at.get() + ahead_of_wall);
        assert!(apart < 5_000_000, "{apart} ns between the clocks");
        assert!(result.notes.is_empty(), "{:?}", result.notes);
        assert!(result.workers[0].ios() > 0);
    }
    assert!(!outcome.interrupted);
}

/// Has every stage begin in the past.
#[derive(Debug)]
struct Past;
impl Gate for Past {
    fn begin(&self, _: &Upcoming<'_>, _: &StopFlag) -> Option<Nanos> {
        Some(Clock::now().saturating_sub(Nanos::from_secs(3)))
    }
}

#[test]
fn a_moment_that_has_passed_is_now_and_told() {
    let directory = tempfile::tempdir().unwrap();
    let outcome = gated(&Past, &StopFlag::new(), directory.path());
    for result in &outcome.results {
        let late = " s after the time it was to begin at: ";
        assert!(result.notes[0].contains(late), "{:?}", result.notes);
    }
    assert_eq!(outcome.notes.len(), 0);
}

#[test]
fn a_gate_that_gives_up_ends_the_run_with_what_was_measured() {
    let directory = tempfile::tempdir().unwrap();
    let stop = StopFlag::new();
    let outcome = gated(&Later::new(Nanos::ZERO, 1), &stop, directory.path());
    assert!(outcome.interrupted && outcome.failure.is_none());
    assert_eq!(outcome.results.len(), 1);
    assert!(outcome.results[0].workers[0].ios() > 0);
}

/// Waits for a long time, as for other hosts; the flag is raised meanwhile.
#[derive(Debug)]
struct Stopped(Cell<bool>);

impl Gate for Stopped {
    fn begin(&self, _: &Upcoming<'_>, stop: &StopFlag) -> Option<Nanos> {
        self.0.set(true);
        let stop = stop.clone();
        std::thread::spawn(move || {
            sleep_until(Clock::now() + AHEAD);
            stop.request();
        });
        Some(Clock::now() + Nanos::from_secs(600))
    }
}

#[test]
fn a_stop_is_heeded_while_a_stage_waits() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    let begun = Clock::now();
    let gate = Stopped(Cell::new(false));
    let outcome = gated(&gate, &StopFlag::new(), directory.path());
    assert!(gate.0.get() && outcome.interrupted && outcome.results.is_empty());
    assert!(Clock::now().saturating_sub(begun) < Nanos::from_secs(20));
    // It was laid out, and the next run finds it so.
    assert!(file.exists());
}

#[test]
fn without_a_gate_the_beginning_is_told_as_well() {
    let directory = tempfile::tempdir().unwrap();
    let before = Clock::now();
    let planned = planned(directory.path());
    let outcome = run(
        &planned,
        &RunOptions::default(),
        &StopFlag::new(),
        &mut Ignore,
    );
    let results = outcome.unwrap().results;
    let starts: Vec<Nanos> = results.iter().map(|it| it.began.unwrap().at).collect();
    assert!(starts.is_sorted() && starts[0] > before && starts[2] < Clock::now());
}
