//! Who waits for whom, who ends whom, and what is run around a job.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{assert_asked_by, for_time, job, run_jobs, stage, workload};
use fathom_engine::{ErrorPolicy, RunOptions, StopFlag, run};
use fathom_record::{EndReason, Ignore};
use fathom_units::{Bytes, Nanos};
use fathom_workload::{Backend, EndsOthers, Job, ProcessorSharing, ThreadPriority};

/// A job of the null backend, which needs no file.
fn null(name: &str, time: Nanos) -> Job {
    let mut null = job(std::path::Path::new("/nothing"), Bytes::mib(1));
    name.clone_into(&mut null.name);
    null.backend = Backend::Null;
    null.limits = for_time(time);
    null
}

#[test]
fn a_job_waits_for_the_end_of_another() {
    let (first, mut second) = (
        null("a", Nanos::from_millis(80)),
        null("b", Nanos::from_millis(5)),
    );
    second.features.process.after = Some("a".to_owned());
    second.workers = 3;
    let outcome = run_jobs(vec![second, first]).unwrap();
    let workers = &outcome.results[0].workers;
    let (b, a): (Vec<_>, Vec<_>) = workers.iter().partition(|worker| worker.job == 0);
    assert_eq!((b.len(), a.len()), (3, 1));
    for worker in b {
        assert!(worker.started >= a[0].started + a[0].measured, "{worker:?}");
        assert!(worker.ios() > 0);
    }
}

#[track_caller]
fn check_ends(ends: EndsOthers, expected: [EndReason; 3], stages: usize) {
    let mut jobs = vec![
        null("short", Nanos::from_millis(20)),
        null("same group", Nanos::from_millis(2000)),
        null("other group", Nanos::from_millis(2000)),
    ];
    jobs[0].features.process.ends = ends;
    jobs[2].group.id = 1;
    let mut workload = workload(jobs);
    let last = vec![null("last", Nanos::from_millis(5))];
    workload.stages.push(stage("last", last));
    let options = RunOptions::default();
    let outcome = run(&workload, &options, &StopFlag::new(), &mut Ignore).unwrap();
    let mut ended = [EndReason::Failed; 3];
    for worker in &outcome.results[0].workers {
        ended[worker.job] = worker.ended;
    }
    assert_eq!(
        (ended, outcome.results.len()),
        (expected, stages),
        "{ends:?}"
    );
    assert!(!outcome.interrupted && outcome.failure.is_none());
}

#[test]
fn the_end_of_a_job_ends_others() {
    use EndReason::{Interrupted, Time};
    check_ends(EndsOthers::Nothing, [Time, Time, Time], 2);
    check_ends(EndsOthers::Group, [Time, Interrupted, Time], 2);
    check_ends(EndsOthers::Stage, [Time, Interrupted, Interrupted], 2);
    check_ends(EndsOthers::Run, [Time, Interrupted, Interrupted], 1);
}

/// Nothing is measured of a job that is ended in its delay, and its start is none that it was to have.
#[test]
fn a_job_that_is_ended_in_its_delay_never_begins() {
    for ends in [EndsOthers::Group, EndsOthers::Stage, EndsOthers::Run] {
        let mut jobs = vec![
            null("short", Nanos::from_millis(20)),
            null("delayed", Nanos::from_millis(20)),
        ];
        jobs[0].features.process.ends = ends;
        jobs[1].limits.start_delay = Nanos::from_secs(3600);
        let outcome = run_jobs(jobs).unwrap();
        let workers = &outcome.results[0].workers;
        let delayed = workers.iter().find(|worker| worker.job == 1).unwrap();
        assert_eq!((delayed.measured, delayed.ios()), (Nanos::ZERO, 0));
        assert!(delayed.started < Nanos::from_secs(3600), "{delayed:?}");
        assert_eq!(delayed.ended, EndReason::Interrupted);
    }
}

#[test]
fn commands_are_run_around_the_job() {
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("log");
    let mut job = null(
        &directory.path().join("a").display().to_string(),
        Nanos::from_millis(5),
    );
    let echo = |word: &str| Some(format!("echo {word} >> {}; echo told", log.display()));
    job.features.process.command_before = echo("before");
    job.features.process.command_after = echo("after");
    let name = job.name.replace('/', "_");
    let outcome = run_jobs(vec![job.clone()]).unwrap();
    assert!(outcome.failure.is_none());
    assert_eq!(std::fs::read_to_string(&log).unwrap(), "before\nafter\n");
    for kept in [format!("{name}.prerun.txt"), format!("{name}.postrun.txt")] {
        assert_eq!(std::fs::read_to_string(&kept).unwrap(), "told\n");
        std::fs::remove_file(kept).unwrap();
    }
    job.features.process.command_before = Some("exit 3".to_owned());
    job.features.process.command_after = None;
    let outcome = run_jobs(vec![job]).unwrap();
    std::fs::remove_file(format!("{name}.prerun.txt")).unwrap();
    let failure = outcome.failure.unwrap().to_string();
    assert!(
        failure.contains("`exit 3`") && failure.contains("exit status: 3"),
        "{failure}"
    );
    assert_eq!(outcome.results[0].workers[0].ios(), 0);
}

/// A peer's other jobs go on; nothing is run after the one whose command failed.
#[test]
fn a_command_that_fails_ends_its_own_job_alone() {
    let directory = tempfile::tempdir().unwrap();
    let name = |it: &str| directory.path().join(it).display().to_string();
    let mut failing = null(&name("failing"), Nanos::from_millis(5));
    let after = directory.path().join("after");
    failing.features.process.command_before = Some("exit 3".to_owned());
    failing.features.process.command_after = Some(format!("touch {}", after.display()));
    let kept = format!("{}.prerun.txt", failing.name.replace('/', "_"));
    let beside = null(&name("beside"), Nanos::from_millis(50));
    let mut workload = workload(vec![failing, beside.clone()]);
    workload.stages.push(stage("last", vec![beside]));
    let options = RunOptions {
        on_error: ErrorPolicy::EndWorker,
        ..RunOptions::default()
    };
    let outcome = run(&workload, &options, &StopFlag::new(), &mut Ignore).unwrap();
    std::fs::remove_file(kept).unwrap();
    assert!(outcome.failure.is_none() && !after.exists());
    let workers = outcome.results.iter().flat_map(|stage| &stage.workers);
    let mut ended: Vec<_> = workers
        .map(|worker| (worker.job, worker.ended, worker.ios() > 0))
        .collect();
    ended[..2].sort_unstable_by_key(|(job, ..)| *job);
    let expected = [
        (0, EndReason::Failed, false),
        (1, EndReason::Time, true),
        (0, EndReason::Time, true),
    ];
    assert_eq!(ended, expected);
}

#[test]
fn workers_run_where_they_are_put() {
    let mut job = null("a", Nanos::from_millis(5));
    job.workers = 2;
    let process = &mut job.features.process;
    process.processors = vec![0];
    process.sharing = ProcessorSharing::Split;
    process.nice = 3;
    process.io_priority = Some(ThreadPriority {
        class: 2,
        level: 7,
        hint: 0,
    });
    assert!(run_jobs(vec![job]).is_ok());
}

/// The kernel would take the first, and say nothing of the other.
#[test]
fn processors_that_are_not_there_are_refused() {
    let mut job = null("a", Nanos::from_millis(5));
    job.features.process.processors = vec![0, 1_000_000];
    let error = run_jobs(vec![job.clone()]).unwrap_err();
    assert_asked_by(&error, &job);
    let error = error.to_string();
    let expected =
        "job `a`: running on the processors [0, 1000000]: processor 1000000 is not there\n  hint: ";
    assert!(error.starts_with(expected), "{error}");
}

#[test]
fn waits_that_never_end_are_refused() {
    let wait = |name: &str, other: &str| {
        let mut job = null(name, Nanos::from_millis(5));
        job.features.process.after = Some(other.to_owned());
        job
    };
    let jobs = vec![
        wait("a", "b"),
        wait("b", "c"),
        wait("c", "a"),
        wait("d", "e"),
    ];
    let error = run_jobs(jobs).unwrap_err().to_string();
    for expected in [
        "job `a` waits for its own end",
        "job `b` waits for its own end",
        "job `d` waits for `e`, which its stage does not have",
    ] {
        assert!(error.contains(expected), "{error}");
    }
    let error = run_jobs(vec![wait("a", "a")]).unwrap_err().to_string();
    assert!(error.contains("job `a` waits for its own end"), "{error}");
}
