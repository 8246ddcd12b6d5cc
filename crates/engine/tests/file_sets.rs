//! Work on file sets, in real directories.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use common::{job, run_jobs, stage};
use fathom_engine::{EngineError, Overwrite, RunOptions, RunOutcome, StopFlag, run};
use fathom_record::{Ignore, OpStats, SetStats};
use fathom_units::{Bytes, Iops, Nanos, Percent};
use fathom_workload::{
    Access, Backend, BlockSizes, Caching, ExistingFiles, FileSet, FileSizes, FileSpread, FileTask,
    FileWork, Job, Limits, Mix, Place, Poisson, SequentialScope, SetChoice, SetFormat,
    SetOperation as Op, SetRate, StopAfter, WeightedSize, Workload,
};
use proptest::prelude::*;

const SEQUENTIAL: Access = Access::Sequential {
    gap: Bytes::ZERO,
    scope: SequentialScope::PerWorker,
};
const FORMAT: FileTask = FileTask::Format(SetFormat::Anew);

fn set(anchor: &Path) -> FileSet {
    FileSet {
        depth: 2,
        width: 2,
        files: 5,
        sizes: FileSizes::uniform(Bytes::kib(20)),
        ..FileSet::at(anchor.display().to_string())
    }
}

/// A job of two workers through the page cache (not every file system has direct I/O), in blocks of 8 KiB.
fn on(set: &FileSet, work: FileWork) -> Job {
    let mut job = job(Path::new("/unused"), Bytes::kib(8));
    job.targets[0].place = Place::FileSet(Box::new(set.clone()));
    job.targets[0].length = None;
    (job.workers, job.depth, job.backend) = (2, 1, Backend::Sync);
    job.caching = Caching::Buffered;
    job.block = BlockSizes::uniform(Bytes::kib(8));
    job.mix = Mix::reads(Percent::whole(50).unwrap());
    job.features.file_work = Some(Box::new(work));
    job
}

fn task(set: &FileSet, task: FileTask) -> Job {
    on(set, FileWork::new(task))
}

/// Runs stages of one job each.
#[track_caller]
fn run_all(jobs: Vec<Job>) -> Result<RunOutcome, EngineError> {
    run_with(jobs, Overwrite::Refuse)
}

fn run_with(jobs: Vec<Job>, overwrite: Overwrite) -> Result<RunOutcome, EngineError> {
    let stages = jobs.into_iter().enumerate();
    let stages = stages.map(|(number, job)| stage(&format!("stage {number}"), vec![job]));
    let workload = Workload {
        stages: stages.collect(),
        seed: 1,
    };
    fathom_workload::validate(&workload).unwrap();
    let options = RunOptions {
        overwrite,
        ..RunOptions::default()
    };
    run(&workload, &options, &StopFlag::new(), &mut Ignore)
}

/// Operations and I/Os of a stage, by name.
fn counts(outcome: &RunOutcome, stage: usize) -> BTreeMap<&'static str, u64> {
    assert!(outcome.failure.is_none(), "{:?}", outcome.failure);
    let mut sum = SetStats::default();
    let mut moved = [0; 3];
    for worker in &outcome.results[stage].workers {
        sum.merge(&worker.set);
        for (way, stats) in worker.directions.iter().enumerate() {
            moved[way] += stats.as_ref().map_or(0, OpStats::ios);
        }
    }
    let operations = sum.0.iter();
    let operations = operations.map(|(operation, stats)| (operation.name(), stats.ios()));
    let moved = [("read", moved[0]), ("write", moved[1])];
    operations
        .chain(moved)
        .filter(|(_, count)| *count > 0)
        .collect()
}

/// Every file below a directory with its size, and every directory without one.
fn tree(anchor: &Path) -> BTreeMap<PathBuf, Option<u64>> {
    let mut found = BTreeMap::new();
    let mut next = vec![anchor.to_owned()];
    while let Some(directory) = next.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(anchor).unwrap().to_owned();
            let metadata = fs::metadata(&path).unwrap();
            found.insert(name, metadata.is_file().then_some(metadata.len()));
            if metadata.is_dir() {
                next.push(path);
            }
        }
    }
    found
}

fn expected(set: &FileSet) -> BTreeMap<PathBuf, Option<u64>> {
    let directories = (0..set.directory_count() as u32)
        .map(|directory| (PathBuf::from(set.directory_path(directory)), None));
    let all = || (0..set.file_count() as u32).collect();
    let files = set.used().unwrap_or_else(all).into_iter();
    let files = files.map(|file| (set.file_name(file).into(), Some(set.size(file).get())));
    directories.chain(files).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_format_makes_what_the_set_says(
        (depth, width, files, kib) in (1u32..4, 1u32..4, 1u32..5, 1u64..50),
        every in any::<bool>(),
        around in any::<bool>(),
        total in proptest::option::of(1u64..100),
    ) {
        let directory = tempfile::tempdir().unwrap();
        let mut set = FileSet {
            depth,
            width,
            files,
            spread: if every { FileSpread::EveryDirectory } else { FileSpread::Leaves },
            sizes: if around {
                FileSizes::Around(Bytes::kib(kib))
            } else {
                FileSizes::uniform(Bytes::kib(kib))
            },
            ..FileSet::at(directory.path().join("set").display().to_string())
        };
        set.total = total.map(|percent| Bytes::new((set.bytes().get() * percent / 100).max(1)));
        let outcome = run_all(vec![task(&set, FORMAT)]).unwrap();
        prop_assert_eq!(tree(Path::new(&set.anchor)), expected(&set));
        let counts = counts(&outcome, 0);
        let used = set.used().map_or(set.file_count(), |used| used.len() as u64);
        prop_assert_eq!((counts["mkdir"], counts["create"]), (set.directory_count(), used));
    }
}

#[test]
fn each_task_does_what_it_says() {
    let directory = tempfile::tempdir().unwrap();
    let set = set(directory.path());
    let sequential = |work| Job {
        access: SEQUENTIAL,
        ..on(&set, work)
    };
    let one_pass = |task_| task(&set, task_);
    let outcome = run_all(vec![
        one_pass(FORMAT),
        one_pass(FileTask::Read),
        sequential(FileWork::new(FileTask::Read)),
        one_pass(FileTask::ReadWrite),
        sequential(FileWork {
            delete_first: true,
            ..FileWork::new(FileTask::Write)
        }),
        one_pass(FileTask::GetAttributes),
        one_pass(FileTask::SetAttributes),
        one_pass(FileTask::Access),
        one_pass(FileTask::Open),
        one_pass(FileTask::Close),
        one_pass(FileTask::Delete),
        one_pass(FileTask::Create),
        one_pass(FileTask::Format(SetFormat::Complete)),
        one_pass(FileTask::Format(SetFormat::Clean)),
        one_pass(FileTask::MakeDirectory),
        one_pass(FileTask::RemoveDirectory),
        one_pass(FileTask::Format(SetFormat::Directories)),
    ])
    .unwrap();
    let check = |stage: usize, wanted: &[(&'static str, u64)]| {
        assert_eq!(
            counts(&outcome, stage),
            wanted.iter().copied().collect(),
            "{stage}"
        );
    };
    check(
        0,
        &[("mkdir", 6), ("create", 20), ("write", 60), ("close", 20)],
    );
    check(1, &[("open", 20), ("read", 60), ("close", 20)]);
    check(2, &[("open", 20), ("read", 60), ("close", 20)]);
    let mixed = counts(&outcome, 3);
    assert_eq!((mixed["read"] + mixed["write"], mixed["open"]), (60, 20));
    check(
        4,
        &[("delete", 20), ("create", 20), ("write", 60), ("close", 20)],
    );
    check(5, &[("getattr", 20)]);
    check(6, &[("setattr", 20)]);
    check(7, &[("access", 20)]);
    check(8, &[("open", 20), ("close", 20)]);
    check(9, &[("open", 20), ("close", 20)]);
    check(10, &[("delete", 20)]);
    check(11, &[("create", 20), ("close", 20)]);
    check(12, &[("open", 20), ("write", 60), ("close", 20)]);
    check(13, &[("delete", 20), ("rmdir", 6)]);
    check(14, &[("mkdir", 6)]);
    check(15, &[("rmdir", 6)]);
    check(16, &[("mkdir", 6)]);
    let record = fathom_record::stage_record(
        &stage("stage 0", vec![one_pass(FORMAT)]),
        &outcome.results[0],
    );
    check_record_of_format(&record);
}

/// The record of a pass that made a set of 20 files of 60 blocks in all, in six directories.
fn check_record_of_format(record: &fathom_record::StageRecord) {
    let create = &record.jobs[0].meta["create"];
    assert_eq!((create.ios, create.bytes, create.errors), (20, 0, 0));
    assert!(create.latency_ns.p50 > 0 && create.latency_ns.max >= create.latency_ns.p50);
    assert_eq!(record.total.meta["mkdir"].ios, 6);
    assert_eq!(
        record.jobs[0].write.as_ref().map(|write| write.bytes),
        Some(20 * (20 << 10))
    );
    let second = &record.intervals[0];
    assert_eq!(
        (
            second.meta["create"].ios,
            second.write.map(|write| write.ios)
        ),
        (20, Some(60))
    );
}

#[test]
fn copies_and_moves_go_to_the_second_set() {
    let directory = tempfile::tempdir().unwrap();
    let [from, to] = ["from", "to"].map(|name| set(&directory.path().join(name)));
    let second = |mut job: Job| {
        let mut target = job.targets[0].clone();
        target.place = Place::FileSet(Box::new(to.clone()));
        job.targets.push(target);
        job
    };
    let outcome = run_all(vec![
        task(&from, FORMAT),
        task(&to, FileTask::Format(SetFormat::Directories)),
        second(task(&from, FileTask::Copy)),
        second(task(&from, FileTask::Move)),
    ])
    .unwrap();
    let copied = counts(&outcome, 2);
    let names = ["copy", "open", "create", "read", "write", "close"];
    assert_eq!(names.map(|name| copied[name]), [20, 20, 20, 60, 60, 40]);
    assert_eq!(
        counts(&outcome, 3),
        BTreeMap::from([("delete", 20), ("move", 20)])
    );
    assert_eq!(tree(Path::new(&to.anchor)), expected(&to));
    assert!(tree(Path::new(&from.anchor)).values().all(Option::is_none));
    // A copy takes as long as all its parts.
    let stats = outcome.results[2].workers.iter().map(|worker| &worker.set);
    let mut sum = SetStats::default();
    for stats in stats {
        sum.merge(stats);
    }
    let total = |operation| sum.of(operation).unwrap().latency.sum();
    assert!(total(Op::Copy) >= total(Op::Open) + total(Op::Create) + total(Op::Close));
}

#[test]
fn a_rate_counts_requests_of_all_workers() {
    let directory = tempfile::tempdir().unwrap();
    let set = set(directory.path());
    let rate = SetRate {
        rate: Iops::new(500),
        process: Poisson::Fixed,
    };
    let work = FileWork {
        rate: Some(rate),
        stop_after: Some(StopAfter::Ios(1)),
        ..FileWork::new(FileTask::Read)
    };
    let mut paced = on(&set, work);
    paced.limits = Limits {
        runtime: Some(Nanos::from_millis(600)),
        time_based: true,
        ..Limits::default()
    };
    let outcome = run_all(vec![task(&set, FORMAT), paced.clone()]).unwrap();
    let counts = counts(&outcome, 1);
    // 300 are due; on a busy machine the last may come too late to be owed.
    assert!((200..=300).contains(&counts["read"]), "{counts:?}");
    let record = fathom_record::stage_record(&stage("", vec![paced]), &outcome.results[1]);
    assert_eq!(record.jobs[0].iops_wanted, Some(500.0));
    assert!(record.jobs[0].read.as_ref().unwrap().response_ns.is_some());
}

/// Far more than can be done is due in the warm-up, too.
#[test]
fn what_a_warm_up_left_undone_is_not_owed() {
    let directory = tempfile::tempdir().unwrap();
    let set = set(directory.path());
    let rate = SetRate {
        rate: Iops::new(100_000_000),
        process: Poisson::Fixed,
    };
    let mut paced = on(
        &set,
        FileWork {
            rate: Some(rate),
            ..FileWork::new(FileTask::GetAttributes)
        },
    );
    let measured = Nanos::from_millis(200);
    paced.limits = Limits {
        warmup: measured * 5,
        ..common::for_time(measured)
    };
    let outcome = run_all(vec![task(&set, FORMAT), paced]).unwrap();
    let workers = &outcome.results[1].workers;
    let stats = workers.iter().filter_map(|it| it.set.of(Op::GetAttributes));
    let longest = stats.map(|it| it.response.as_ref().unwrap().max()).max();
    let longest = Nanos::new(longest.unwrap());
    // Most of what is due is never begun: what was begun last waited for nearly all of the time.
    let expected = Nanos::from_millis(100)..measured * 4;
    assert!(expected.contains(&longest), "{longest}");
}

/// A large read as the time ends, behind which a request waits that was due before.
#[test]
fn what_was_due_by_the_end_is_done() {
    let directory = tempfile::tempdir().unwrap();
    let large = Bytes::mib(64);
    let sizes = vec![
        WeightedSize {
            size: Bytes::kib(8),
            weight: 9,
        },
        WeightedSize {
            size: large,
            weight: 1,
        },
    ];
    let set = FileSet {
        depth: 1,
        width: 1,
        files: 10,
        sizes: FileSizes::Weighted(sizes),
        ..FileSet::at(directory.path().display().to_string())
    };
    let is_large = |file: &u32| set.size(*file) == large;
    let all: Vec<u32> = (0..10).filter(is_large).collect();
    let [only] = all[..] else {
        panic!("{all:?}");
    };
    let gap = Nanos::from_millis(10);
    let rate = SetRate {
        rate: Iops::new(100),
        process: Poisson::Fixed,
    };
    let work = FileWork {
        rate: Some(rate),
        choice: SetChoice::Sequential,
        stop_after: Some(StopAfter::Ios(1)),
        ..FileWork::new(FileTask::Read)
    };
    let mut paced = on(&set, work);
    (paced.workers, paced.block) = (1, BlockSizes::uniform(large));
    // The second time that the large one is read.
    let requests = u64::from(only) + 10 + 2;
    paced.limits = common::for_time(gap * (requests - 1) + Nanos::from_millis(1));
    let outcome = run_all(vec![task(&set, FORMAT), paced]).unwrap();
    assert_eq!(counts(&outcome, 1)["read"], requests);
}

#[test]
fn jobs_of_one_set_work_together() {
    let directory = tempfile::tempdir().unwrap();
    let set = set(directory.path());
    let for_time = |task_, choice| {
        let mut job = on(
            &set,
            FileWork {
                choice,
                ..FileWork::new(task_)
            },
        );
        job.limits = common::for_time(Nanos::from_millis(300));
        job
    };
    run_all(vec![task(&set, FORMAT)]).unwrap();
    let outcome = run_jobs(vec![
        for_time(FileTask::Delete, SetChoice::Random),
        for_time(FileTask::Create, SetChoice::Sequential),
        for_time(FileTask::MakeDirectory, SetChoice::Random),
        for_time(FileTask::RemoveDirectory, SetChoice::Random),
        for_time(FileTask::GetAttributes, SetChoice::Poisson(3)),
    ])
    .unwrap();
    let counts = counts(&outcome, 0);
    assert!(counts["delete"] > 20 && counts["create"] > 20, "{counts:?}");
    assert!(
        outcome.results[0]
            .workers
            .iter()
            .all(|worker| worker.errors.is_empty())
    );
}

#[track_caller]
fn check_refused(overwrite: Overwrite, jobs: Vec<Job>, words: &str) {
    let refused = run_with(jobs, overwrite).unwrap_err();
    assert!(refused.to_string().contains(words), "{refused}");
}

#[test]
fn what_is_not_ours_is_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let anchor = directory.path().join("set");
    let set = set(&anchor);
    fs::create_dir(&anchor).unwrap();
    fs::write(anchor.join("letter.txt"), "dear").unwrap();
    let found = "it holds `letter.txt`, and Fathom did not make it";
    check_refused(Overwrite::Refuse, vec![task(&set, FORMAT)], found);
    assert_eq!(tree(&anchor).len(), 1);
    // Asked for it, we write beside it, and never remove it.
    run_with(vec![task(&set, FORMAT)], Overwrite::Allowed).unwrap();
    run_with(vec![task(&set, FORMAT)], Overwrite::Allowed).unwrap();
    let peer = Job {
        existing: ExistingFiles::AsPeer,
        ..task(&set, FORMAT)
    };
    run_all(vec![peer]).unwrap();
    run_with(
        vec![task(&set, FileTask::Format(SetFormat::Clean))],
        Overwrite::Allowed,
    )
    .unwrap();
    assert_eq!(
        tree(&anchor).into_keys().collect::<Vec<_>>(),
        [Path::new("letter.txt")]
    );
    // A directory of a set that holds another's file is not removed, and the run says so.
    run_with(vec![task(&set, FORMAT)], Overwrite::Allowed).unwrap();
    fs::write(anchor.join("vdb1_1.dir/letter.txt"), "dear").unwrap();
    let clean = vec![task(&set, FileTask::Format(SetFormat::Clean))];
    let outcome = run_with(clean, Overwrite::Allowed).unwrap();
    let failure = outcome.failure.unwrap().to_string();
    assert!(
        failure.contains("vdb1_1.dir") && failure.contains("rmdir"),
        "{failure}"
    );
    assert!(anchor.join("vdb1_1.dir/letter.txt").exists());
}

#[test]
fn directories_above_a_set_are_made_where_that_is_asked_for() {
    let directory = tempfile::tempdir().unwrap();
    let anchor = directory.path().join("a/b/set");
    let mut job = task(&set(&anchor), FORMAT);
    check_refused(
        Overwrite::Refuse,
        vec![job.clone()],
        "there is no directory",
    );
    assert!(!directory.path().join("a").exists());
    job.features.files.make_parents = true;
    run_all(vec![job]).unwrap();
    assert_eq!(tree(&anchor).len(), expected(&set(&anchor)).len());
}

#[test]
fn a_set_of_ours_is_written_again_and_one_of_vdbench_is_not() {
    let directory = tempfile::tempdir().unwrap();
    let set = set(&directory.path().join("set"));
    run_all(vec![task(&set, FORMAT)]).unwrap();
    run_all(vec![task(&set, FileTask::Write)]).unwrap();
    let others = FileSet {
        anchor: directory.path().join("vdb").display().to_string(),
        ..set
    };
    fs::create_dir_all(Path::new(&others.anchor).join("vdb1_1.dir")).unwrap();
    fs::write(Path::new(&others.anchor).join("vdb_control.file"), "").unwrap();
    let found = "it holds a file set, and Fathom did not make it";
    check_refused(Overwrite::Refuse, vec![task(&others, FORMAT)], found);
    // Reading is always allowed.
    run_with(vec![task(&others, FORMAT)], Overwrite::Allowed).unwrap();
    run_all(vec![task(&others, FileTask::Read)]).unwrap();
    assert!(Path::new(&others.anchor).join("vdb_control.file").exists());
}

#[test]
fn what_cannot_be_worked_on_is_told() {
    let directory = tempfile::tempdir().unwrap();
    let set = set(&directory.path().join("set"));
    let refuse = |jobs: Vec<Job>, words| check_refused(Overwrite::Refuse, jobs, words);
    refuse(
        vec![task(&set, FileTask::Read)],
        "it has no files; make them first",
    );
    refuse(
        vec![task(&set, FileTask::Create)],
        "it has no directories; make them first",
    );
    let mut existing = task(&set, FORMAT);
    existing.features.files.must_exist = true;
    fs::remove_dir_all(&set.anchor).ok();
    refuse(vec![existing], "the job may not make it");
    run_all(vec![task(&set, FORMAT)]).unwrap();
    refuse(
        vec![task(&set, FileTask::MakeDirectory)],
        "all its directories are there",
    );
    refuse(
        vec![task(&set, FileTask::Create)],
        "all its files are there",
    );
    let wider = FileSet {
        width: 1,
        ..set.clone()
    };
    refuse(
        vec![task(&wider, FileTask::Read)],
        "one of another shape is there",
    );
    run_all(vec![task(&wider, FORMAT)]).unwrap();
    assert_eq!(tree(Path::new(&wider.anchor)), expected(&wider));
    let file = FileSet {
        anchor: directory.path().join("file").display().to_string(),
        ..set
    };
    fs::write(&file.anchor, "").unwrap();
    refuse(vec![task(&file, FORMAT)], "no file set can stand there");
}

#[test]
fn a_set_goes_with_its_run_where_asked() {
    let directory = tempfile::tempdir().unwrap();
    let set = set(&directory.path().join("set"));
    let unlink = Job {
        unlink: true,
        ..task(&set, FORMAT)
    };
    run_all(vec![unlink]).unwrap();
    assert!(!Path::new(&set.anchor).exists());
}

#[test]
fn a_part_of_a_set_can_be_worked_on() {
    let directory = tempfile::tempdir().unwrap();
    let whole = set(directory.path());
    let part = FileSet {
        working_set: Some(Bytes::kib(60)),
        ..whole.clone()
    };
    let outcome = run_all(vec![
        task(&whole, FORMAT),
        task(&part, FileTask::GetAttributes),
    ]);
    assert_eq!(
        counts(&outcome.unwrap(), 1),
        BTreeMap::from([("getattr", 3)])
    );
}

#[test]
fn one_worker_does_the_same_again() {
    let directory = tempfile::tempdir().unwrap();
    let set = set(directory.path());
    run_all(vec![task(&set, FORMAT)]).unwrap();
    let twice = [(); 2].map(|()| {
        let mut job = Job {
            workers: 1,
            ..task(&set, FileTask::ReadWrite)
        };
        job.limits.ios = Some(50);
        counts(&run_all(vec![job]).unwrap(), 0)
    });
    assert_eq!(twice[0], twice[1]);
    assert_eq!(twice[0]["read"] + twice[0]["write"], 50);
}

#[test]
fn failures_are_told_with_their_file_or_counted() {
    let directory = tempfile::tempdir().unwrap();
    let set = set(directory.path());
    run_all(vec![task(&set, FORMAT)]).unwrap();
    // A file that turns into a directory, which no scan takes for a file: it is missing, and cannot be made.
    let file = directory.path().join(set.file_name(0));
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    let outcome = run_all(vec![task(&set, FileTask::Create)]).unwrap();
    let failure = outcome.failure.unwrap().to_string();
    assert!(
        failure.contains("vdb_f0000.file") && failure.contains("create"),
        "{failure}"
    );
    let workload = Workload {
        stages: vec![stage("s", vec![task(&set, FileTask::Create)])],
        seed: 1,
    };
    let on_error = fathom_engine::ErrorPolicy::Continue;
    let options = RunOptions {
        on_error,
        ..RunOptions::default()
    };
    let outcome = run(&workload, &options, &StopFlag::new(), &mut Ignore).unwrap();
    let record = fathom_record::stage_record(&workload.stages[0], &outcome.results[0]);
    assert_eq!(record.jobs[0].meta["create"].errors, 1);
    assert_eq!(record.jobs[0].errors[0].direction, "create");
}

#[test]
fn a_format_that_does_not_fit_is_refused_before_anything_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let anchor = folder.path().join("anchor");
    let big = FileSet {
        files: 1000,
        sizes: FileSizes::uniform(Bytes::gib(10 << 10)),
        ..set(&anchor)
    };
    let error = run_all(vec![task(&big, FORMAT)]).unwrap_err();
    assert!(matches!(error, EngineError::NoSpace { .. }), "{error}");
    assert!(
        error.to_string().contains("ask for smaller files"),
        "{error}"
    );
    assert!(!anchor.exists());
}
