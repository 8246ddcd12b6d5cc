//! Tests of file sets and work on them in the native file.

use fathom_units::{Bytes, Iops, Percent};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use super::words::{PROCESSES, SPREADS, TASKS, Words};
use super::{read, write};
use crate::{
    Backend, FileSet, FileSizes, FileTask, FileWork, Job, Place, SetChoice, SetFormat, SetRate,
    StopAfter, Target, WeightedSize, Workload,
};

const TREE: &str = r#"
target = { tree = "/mnt/tree", depth = 2, width = 10, files = 100, sizes = "64KiB" }
[[stage]]
name = "format"
discard = true
[[stage.job]]
file_work = "format"
workers = 8
mix = "write"
block = "64KiB"
access = "sequential"
[[stage]]
name = "work"
measure = "60s"
[[stage.job]]
name = "readers"
file_work = { task = "read", choice = "poisson", stop_after = "50%", rate = "1000/s", process = "poisson" }
workers = 8
"#;

#[track_caller]
fn parse(text: &str) -> Workload {
    match read(text, "t.workload.toml") {
        Ok((workload, warnings)) => {
            assert!(warnings.0.is_empty(), "{warnings}");
            workload
        }
        Err(diagnostics) => panic!("{diagnostics}"),
    }
}

#[test]
fn the_example_is_read() {
    let workload = parse(TREE);
    let set = FileSet {
        depth: 2,
        width: 10,
        files: 100,
        sizes: FileSizes::uniform(Bytes::kib(64)),
        ..FileSet::at("/mnt/tree")
    };
    let [format, work] = [0, 1].map(|stage| &workload.stages[stage].jobs[0]);
    assert_eq!(format.targets[0].place, Place::FileSet(Box::new(set)));
    assert_eq!(format.backend, Backend::Sync);
    let task = FileTask::Format(SetFormat::Anew);
    assert_eq!(
        format.features.file_work.as_deref(),
        Some(&FileWork::new(task))
    );
    let expected = FileWork {
        choice: SetChoice::Poisson(3),
        stop_after: Some(StopAfter::Share(Percent::whole(50).unwrap())),
        rate: Some(SetRate {
            rate: Iops::new(1000),
            process: crate::Poisson::Exponential,
        }),
        ..FileWork::new(FileTask::Read)
    };
    assert_eq!(work.features.file_work.as_deref(), Some(&expected));
    assert_eq!(parse(&write(&workload)), workload);
}

/// What is complained of in the example with `from` replaced by `to`.
#[track_caller]
fn check_refused(from: &str, to: &str, expected: &str) {
    assert!(TREE.contains(from), "{from}");
    let text = TREE.replacen(from, to, 1);
    let refused = read(&text, "t.workload.toml").unwrap_err();
    let messages: Vec<&str> = refused
        .0
        .iter()
        .map(|found| found.message.as_str())
        .collect();
    assert!(
        messages.iter().any(|message| message.contains(expected)),
        "{messages:?}"
    );
    assert!(refused.0[0].location.is_some(), "{to}");
}

#[test]
fn contradictions_are_told() {
    check_refused("depth = 2", "depth = 33", "33 directories deep; at most 32");
    check_refused(
        "depth = 2",
        "depth = 20",
        "directories; at most 10000000 are possible",
    );
    check_refused(
        "files = 100",
        "files = 1000000",
        "100000000 files; at most 10000000",
    );
    check_refused("files = 100", "files = 0", "is 0");
    check_refused("\"64KiB\" }", "\"0B\" }", "is 0, or there is none");
    check_refused(
        "\"64KiB\" }",
        "\"64KiB\", total = \"1GiB\" }",
        "have 625 MiB to choose from",
    );
    check_refused("\"64KiB\" }", "\"100B\" }", "no multiples of 512");
    check_refused(
        "\"64KiB\" }",
        "\"64KiB\", mean_size = \"1MiB\" }",
        "are both given",
    );
    check_refused(
        "workers = 8\nmix",
        "backend = \"libaio\"\nmix",
        "other than `sync`",
    );
    check_refused(
        "workers = 8\nmix",
        "depth = 2\nmix",
        "more than one I/O outstanding",
    );
    check_refused(
        "file_work = \"format\"",
        "depth = 1",
        "does not say what is done",
    );
    check_refused(
        "\"format\"\nworkers",
        "\"copy\"\nworkers",
        "needs two file sets",
    );
    check_refused(
        "\"format\"\nworkers",
        "\"formt\"\nworkers",
        "`formt` is no value",
    );
    check_refused("stop_after = \"50%\"", "stop_after = 0", "after 0 I/Os");
    check_refused("\"1000/s\"", "\"0/s\"", "its rate is 0");
    check_refused(
        "choice = \"poisson\"",
        "poisson_mean = 0, choice = \"poisson\"",
        "from 1 to 100",
    );
    check_refused(
        "rate = ",
        "delete_first = true, rate = ",
        "written sequentially can be removed",
    );
    check_refused(
        "rate = ",
        "task2 = 1, rate = ",
        "`task2` is no key of work on a file set",
    );
    let path = "target = \"/f\"\nfile_work = \"read\"\nmeasure = \"1s\"";
    check_refused("file_work = \"format\"", path, "needs one file set");
}

fn one_of<T: Copy + std::fmt::Debug>(words: Words<T>) -> impl Strategy<Value = T> {
    (0..words.len()).prop_map(move |index| words[index].1)
}

fn file_sets() -> impl Strategy<Value = FileSet> {
    let weighted = vec((1u64..64, 1u32..9), 1..4).prop_map(|list| {
        let entry = |(kib, weight)| WeightedSize {
            size: Bytes::kib(kib),
            weight,
        };
        FileSizes::Weighted(list.into_iter().map(entry).collect())
    });
    let sizes = prop_oneof![
        weighted,
        (1u64..999).prop_map(|kib| FileSizes::Around(Bytes::kib(kib)))
    ];
    let parts = (option::of(1u64..=100), option::of(1u64..=100));
    (1u32..4, 1u32..5, 1u32..9, one_of(SPREADS), sizes, parts).prop_map(
        |(depth, width, files, spread, sizes, (total, working))| {
            let mut set = FileSet {
                depth,
                width,
                files,
                spread,
                sizes,
                ..FileSet::at("/mnt/a tree")
            };
            let part = |of: Bytes, percent: u64| Bytes::new((of.get() * percent / 100).max(1));
            let all = set.bytes();
            set.total = total.map(|percent| part(all, percent));
            set.working_set = working.map(|percent| part(set.total.unwrap_or(all), percent));
            set
        },
    )
}

fn works() -> impl Strategy<Value = FileWork> {
    let choices = prop_oneof![
        Just(SetChoice::Random),
        Just(SetChoice::Sequential),
        (1u32..=100).prop_map(SetChoice::Poisson)
    ];
    let stops = prop_oneof![
        (1u64..1000).prop_map(StopAfter::Ios),
        (1u32..=10_000)
            .prop_map(|part| StopAfter::Share(Percent::from_basis_points(part).unwrap()))
    ];
    let rates = (1u64..1_000_000, one_of(PROCESSES)).prop_map(|(rate, process)| SetRate {
        rate: Iops::new(rate),
        process,
    });
    let switches = (any::<bool>(), any::<bool>());
    (
        one_of(TASKS),
        choices,
        switches,
        option::of(stops),
        option::of(rates),
    )
        .prop_map(
            |(task, choice, (once, shared), stop_after, rate)| FileWork {
                choice,
                once,
                stop_after,
                shared: shared && matches!(task, FileTask::Read | FileTask::Write),
                rate,
                ..FileWork::new(task)
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn file_sets_and_their_work_survive_their_file(set in file_sets(), work in works()) {
        let mut workload = parse(TREE);
        workload.stages.remove(0);
        let job: &mut Job = &mut workload.stages[0].jobs[0];
        let target = |set: FileSet| Target {
            place: Place::FileSet(Box::new(set)),
            offset: Bytes::ZERO,
            length: None,
        };
        job.targets = std::vec![target(set.clone())];
        if work.task.has_second() {
            job.targets.push(target(FileSet { anchor: "/b".to_owned(), ..set }));
        }
        job.features.file_work = Some(Box::new(work));
        prop_assert_eq!(parse(&write(&workload)), workload);
    }
}
