//! Files of all ages and shapes: what they come to, and what is told of them.

use std::fmt::Write as _;
use std::io;

use fathom_record::{OpStats, StageResult, WorkerStats};
use fathom_units::{Bytes, Nanos, Percent};
use fathom_workload::{Access, BufferContents, Coverage, Direction, Job, Mix, SequentialScope};
use proptest::prelude::*;

use super::*;
use crate::fio::FileStatus;

const SETUP: &str = "'TEST SETUP ====\n'Test Description\n\ttwo mixes\n'Run Time\n'\thours      minutes    seconds\n\t0          1          30\n'Ramp Up Time (s)\n\t5\n'Default Disk Workers to Spawn\n\tNUMBER_OF_CPUS\n'Default Network Workers to Spawn\n\t0\n'Record Results\n\tALL\n'Worker Cycling\n'\tstart step step type\n\t1 1 LINEAR\n'Disk Cycling\n'\tstart step step type\n\t1 1 LINEAR\n'Queue Depth Cycling\n'\tstart end step step type\n\t2 8 2 EXPONENTIAL\n'Test Type\n\tNORMAL\n'END test setup\n";

const SPECS: &str = "'ACCESS SPECIFICATIONS ====\n'Access specification name,default assignment\n\tmail,NONE\n'size,% of size,% reads,% random,delay,burst,align,reply\n\t4096,60,80,100,0,1,0,0\n\t32768,40,10,0,5,8,4096,512\n'Access specification name,default assignment\n\t8 KiB reads,NONE\n'size,% of size,% reads,% random,delay,burst,align,reply\n\t8192,100,100,100,0,1,8192,0\n'END access specifications\n";

/// One manager with two workers, on two targets and on one.
const MANAGERS: &str = "'MANAGER LIST ====\n'Manager ID, manager name\n\t1,BOX\n'Manager network address\n\n'Worker\n\tWorker 1\n'Worker type\n\tDISK\n'Default target settings for worker\n'Number of outstanding IOs,test connection rate,transactions per connection,use fixed seed,fixed seed value\n\t16,DISABLED,1,ENABLED,77\n'Disk maximum size,starting sector,Data pattern\n\t2097152,2048,2\n'End default target settings for worker\n'Assigned access specs\n\tmail\n\t8 KiB reads\n'End assigned access specs\n'Target assignments\n'Target\n\tD: \"data\"\n'Target type\n\tDISK\n'End target\n'Target\n\tPHYSICALDRIVE:2\n'Target type\n\tDISK\n'End target\n'End target assignments\n'End worker\n'Worker\n\tWorker 2\n'Worker type\n\tDISK\n'Default target settings for worker\n'Number of outstanding IOs,test connection rate,transactions per connection\n\t4,DISABLED,1\n'Disk maximum size,starting sector\n\t0,0\n'End default target settings for worker\n'Assigned access specs\n\tIdle\n\t8 kib READS\n'End assigned access specs\n'Target assignments\n'Target\n\t/mnt/data\n'Target type\n\tDISK\n'End target\n'End target assignments\n'End worker\n'End manager\n'END manager list\n";

fn whole() -> String {
    format!(
        "Version 1.1.0 \n{SETUP}'RESULTS DISPLAY ====\n'Bar chart 1 statistic\n\tIOPS\n'END results display\n{SPECS}{MANAGERS}Version 1.1.0 \n"
    )
}

#[track_caller]
fn parse(text: &str) -> IometerInput {
    match read_text("test.icf", text, 3) {
        Ok(input) => input,
        Err(complaints) => panic!("{complaints}\n{text}"),
    }
}

fn jobs(input: &IometerInput, stage: usize) -> &[Job] {
    &input.workload.stages[stage].jobs
}

/// Stages with their jobs' names, depths and paths.
fn shape(input: &IometerInput) -> Vec<String> {
    let stages = input.workload.stages.iter();
    let shown = stages.map(|stage| {
        let jobs = stage.jobs.iter();
        let jobs =
            jobs.map(|job| format!("{} {} {}", job.name, job.depth, job.targets[0].place.path()));
        format!("{}: {}", stage.name, jobs.collect::<Vec<_>>().join(", "))
    });
    shown.collect()
}

#[test]
fn a_whole_file_becomes_tests_of_workers_on_targets() {
    let input = parse(&whole());
    assert!(input.warnings.0.is_empty(), "{}", input.warnings);
    assert_eq!(
        shape(&input),
        [
            "mail: Worker 1 D: \"data\" 16 D:\\iobw.tst, Worker 1 PHYSICALDRIVE:2 16 PHYSICALDRIVE:2",
            "8 KiB reads: Worker 1 D: \"data\" 16 D:\\iobw.tst, Worker 1 PHYSICALDRIVE:2 16 PHYSICALDRIVE:2, Worker 2 4 /mnt/data/iobw.tst",
        ]
    );
    let [first, ..] = jobs(&input, 1) else {
        panic!()
    };
    assert_eq!(first.limits.warmup, Nanos::from_secs(5));
    assert_eq!(first.limits.runtime, Some(Nanos::from_secs(90)));
    assert_eq!((first.host.as_deref(), first.salt), (Some("BOX"), 77));
    let target = &first.targets[0];
    assert_eq!(
        (target.offset, target.length),
        (Bytes::mib(1), Some(Bytes::gib(1)))
    );
    assert_eq!(first.contents, BufferContents::RandomEachWrite);
    let last = &jobs(&input, 1)[2];
    assert_eq!((last.targets[0].length, last.salt), (None, 0));
    assert_eq!(
        (input.description.as_str(), input.record),
        ("two mixes", Record::All)
    );
    assert_eq!(input.tests[0].specs.len(), 1);
}

#[test]
fn one_plain_line_is_a_plain_job_and_all_else_has_lines() {
    let input = parse(&whole());
    let plain = &jobs(&input, 1)[0];
    assert!(plain.features.lines.is_empty());
    assert_eq!(
        (plain.mix, plain.block.alignment),
        (Mix::READ, Some(Bytes::kib(8)))
    );
    let coverage = Coverage::Independent;
    assert_eq!(plain.access, Access::Random { coverage, run: 1 });
    let [small, large] = jobs(&input, 0)[0].features.lines.as_slice() else {
        panic!()
    };
    assert_eq!((small.weight, small.alignment), (60, Some(Bytes::new(512))));
    assert_eq!((large.burst, large.reply), (8, Some(Bytes::new(512))));
    // The delay of a worker with two targets: each has every other burst.
    assert_eq!(large.delay, Nanos::from_millis(10));
    let line = |text: &str| {
        let specs = format!(
            "'ACCESS SPECIFICATIONS\n'Access specification name,default assignment\n\tx,ALL\n'size\n\t{text}\n'END access specifications\n"
        );
        parse(
            &format!("Version 1.1.0\n{SETUP}{specs}{MANAGERS}")
                .replace("\tmail\n\t8 KiB reads\n", "\tx\n")
                .replace("8 kib READS", "x"),
        )
        .workload
        .stages
        .remove(0)
        .jobs
        .remove(0)
    };
    let gap = |gap: u64| Access::Sequential {
        gap: Bytes::new(gap),
        scope: SequentialScope::PerWorker,
    };
    assert_eq!(line("4096,100,0,0,0,1,0,0").access, gap(0));
    assert_eq!(line("512,100,0,0,0,1,4096,0").access, gap(3584));
    let random = Percent::whole(30).unwrap();
    assert_eq!(
        line("4096,100,50,30,0,1,4096,0").access,
        Access::Mixed { random }
    );
    assert_eq!(line("4096,100,50,30,0,1,3072,0").features.lines.len(), 1);
    assert_eq!(line("4096,100,50,30,0,2,4096,0").features.lines.len(), 1);
    assert_eq!(line("4096,100,50,30,1,1,4096,0").features.lines.len(), 1);
}

/// Files that are read as the whole one, with what each warns of.
#[test]
fn shapes_of_all_ages_are_read() {
    let same = |text: String, warnings: usize| {
        let input = parse(&text);
        assert_eq!(shape(&input), shape(&parse(&whole())), "{text}");
        assert_eq!(input.warnings.0.len(), warnings, "{}", input.warnings);
        input
    };
    same(whole().replace('\t', "    "), 0);
    same(whole().replace('\n', "\r\n"), 0);
    same(whole().replace('\t', ""), 0);
    same(format!("\u{feff}{}", whole()), 0);
    same(
        whole()
            .to_uppercase()
            .replace("8 KIB READS", "8 KiB reads")
            .replace("MAIL", "mail")
            .replace("WORKER 1\n", "Worker 1\n")
            .replace("WORKER 2\n", "Worker 2\n")
            .replace("\"DATA\"", "\"data\"")
            .replace("/MNT/DATA", "/mnt/data"),
        0,
    );
    same(
        whole().replace("Version 1.1.0 \n", "Version 2006.07.27 \n"),
        0,
    );
    same(whole().replacen("Version 1.1.0 \n", "", 1), 1);
    same(whole().replace("'Ramp Up Time (s)", "'Ramp Up Time"), 0);
    same(whole().replace("'End manager\n", ""), 0);
    same(whole().replace("'End worker\n", ""), 0);
    same(whole().replace("'END test setup\n", ""), 0);
    same(whole().replace("NUMBER_OF_CPUS", "-1"), 0);
    same(
        whole().replace(
            "'Default Disk Workers to Spawn\n\tNUMBER_OF_CPUS",
            "'Default Workers to Spawn\n\t0",
        ),
        0,
    );
    same(
        whole().replace(
            "'Test Type\n\tNORMAL\n",
            "'Test Type\n\t0\n'Colour\n\tgreen\n",
        ),
        1,
    );
    same(whole().replace("ALL\n", "0\n"), 0);
    same(whole().replace("16,DISABLED", "16,ENABLED"), 1);
    same(
        whole().replace(
            ",Data pattern\n\t2097152,2048,2",
            ",Use Random Data\n\t2097152,2048,ENABLED",
        ),
        0,
    );
    let network = "'Worker\n\tNet\n'Worker type\n\tNETWORK,TCP\n'Target assignments\n'Target\n\t10.0.0.1\n'Target type\n\tNETWORK,TCP\n'Target manager ID, manager name\n\t1,BOX\n'End target\n'End target assignments\n'End worker\n'End manager\n";
    same(whole().replace("'End manager\n", network), 1);
    let unused = "'Worker\n\tW3\n'Worker type\n\tDISK\n'End worker\n'End manager\n";
    same(whole().replace("'End manager\n", unused), 1);
}

#[test]
fn the_oldest_specifications_have_no_names() {
    let specs = "'ACCESS SPECIFICATIONS ====\n'size, % of size, % reads, % random, delay, burst\n2048 100 67 100 0 1\n512 40 100 0 0 1\n4096 60 0 100 0 4\n'END access specifications\n";
    let managers = MANAGERS
        .replace(
            "'Assigned access specs\n\tmail\n\t8 KiB reads\n'End assigned access specs\n",
            "",
        )
        .replace("\tIdle\n\t8 kib READS\n", "");
    let input = parse(&format!("Version 1998.02.01\n{SETUP}{specs}{managers}"));
    let names: Vec<&str> = input
        .workload
        .stages
        .iter()
        .map(|stage| stage.name.as_str())
        .collect();
    assert_eq!(names, ["2 KiB random 67% reads", "Untitled 1"]);
    assert_eq!(jobs(&input, 0)[0].block.alignment, Some(Bytes::kib(2)));
    assert_eq!(jobs(&input, 1)[0].features.lines.len(), 2);
    assert_eq!(jobs(&input, 0)[2].contents, BufferContents::RandomOnce);
    let ancient = parse(&format!("Version 3.26.97\n{SETUP}{specs}{managers}"));
    assert_eq!(shape(&ancient), shape(&input));
    // What stands in the section counts before the version.
    let named = parse(&whole().replace("Version 1.1.0", "Version 3.26.97"));
    assert_eq!(shape(&named), shape(&parse(&whole())));
}

#[test]
fn data_patterns_are_the_peers() {
    let pattern = |version: &str, text: &str| {
        let text = whole()
            .replace("2097152,2048,2", text)
            .replace("Version 1.1.0", version);
        let input = parse(&text);
        let job = &jobs(&input, 0)[0];
        (job.contents, job.features.filling.is_some())
    };
    assert_eq!(
        pattern("Version 1.1.0", "9000,0,0"),
        (BufferContents::RandomOnce, true)
    );
    assert_eq!(
        pattern("Version 1.1.0", "9000,0"),
        (BufferContents::RandomOnce, true)
    );
    assert_eq!(
        pattern("Version 1.1.0", "9000,0,1"),
        (BufferContents::RandomOnce, false)
    );
    assert_eq!(
        pattern("Version 2006.07.27", "9000,0"),
        (BufferContents::RandomOnce, false)
    );
    assert_eq!(
        pattern("Version 1.1.0", "9000,0,2"),
        (BufferContents::RandomEachWrite, false)
    );
}

#[test]
fn cycles_become_stages_for_each_specification() {
    let names = |test_type: &str| {
        let input = parse(&whole().replace("\tNORMAL\n", &format!("\t{test_type}\n")));
        let stages = input.workload.stages.iter();
        stages
            .map(|stage| format!("{} {}", stage.name, stage.jobs.len()))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        names("CYCLE_OUTSTANDING_IOS"),
        [
            "mail, qd 2 2",
            "mail, qd 4 2",
            "mail, qd 8 2",
            "8 KiB reads, qd 2 3",
            "8 KiB reads, qd 4 3",
            "8 KiB reads, qd 8 3",
        ]
    );
    assert_eq!(
        names("CYCLE_WORKERS"),
        [
            "mail, 1 worker 2",
            "8 KiB reads, 1 worker 2",
            "8 KiB reads, 2 workers 3"
        ]
    );
    assert_eq!(
        names("3"),
        [
            "mail, 1 target 1",
            "mail, 2 targets 2",
            "8 KiB reads, 1 target 1",
            "8 KiB reads, 2 targets 2",
            "8 KiB reads, 3 targets 3"
        ]
    );
    let input = parse(&whole().replace("\tNORMAL\n", "\t6\n"));
    let begun: Vec<usize> = input.tests.iter().map(|test| test.specs.len()).collect();
    assert_eq!(begun, [1, 0, 0, 1, 0, 0]);
    assert_eq!((input.test_type, jobs(&input, 2)[0].depth), (6, 8));
}

/// Text that replaces another in the whole file, what is told, and where.
const WRONG: &[(&str, &str, &str, usize)] = &[
    (
        "\t0          1          30",
        "\t0 1",
        "the number of seconds is missing",
        7,
    ),
    (
        "\t0          1          30",
        "\t0 x 30",
        "`x` is no number of minutes",
        7,
    ),
    (
        "\t0          1          30",
        "\t0 0 0",
        "the run time is 0",
        0,
    ),
    ("\t5\n", "\t-5\n", "`-5` is no ramp-up time", 9),
    ("\tALL\n", "\tSOME\n", "`SOME` is no level of results", 15),
    (
        "\t2 8 2 EXPONENTIAL",
        "\t2 8 0 EXPONENTIAL",
        "`0` is no step of a cycle",
        24,
    ),
    (
        "\t2 8 2 EXPONENTIAL",
        "\t2 8 2 UP",
        "`UP` is no kind of steps",
        24,
    ),
    ("\tNORMAL\n", "\tCYCLE\n", "`CYCLE` is no test type", 26),
    ("\tNORMAL\n", "\t9\n", "`9` is no test type", 26),
    (
        "\t4096,60,",
        "\t4096,50,",
        "the shares of `mail` add up to 90 %, not 100 %",
        34,
    ),
    (
        "\t4096,60,80",
        "\t4096,60,180",
        "`180` is no share of reads",
        36,
    ),
    (
        "\t4096,60,80,100,0,1,0,0",
        "\t4096,60,80,100,0,1,0",
        "the size of a reply in bytes is missing",
        36,
    ),
    (
        "\t4096,60,",
        "\t4000,60,",
        "4000 bytes are no whole number of sectors",
        36,
    ),
    (
        "\t32768,40,10,0,5,8,4096,",
        "\t32768,40,10,0,5,8,4097,",
        "4097 bytes are no whole number of sectors",
        37,
    ),
    (
        "\tmail,NONE",
        "\tmail,MAYBE",
        "`MAYBE` is no default assignment",
        34,
    ),
    (
        "\tmail\n",
        "\tmial\n",
        "there is no access specification `mial`",
        59,
    ),
    (
        "\t16,DISABLED",
        "\t0,DISABLED",
        "`0` is no number of outstanding I/Os",
        54,
    ),
    (
        "\t2097152,2048,2\n",
        "\t2097152,2048,3\n",
        "`3` is no data pattern",
        56,
    ),
    ("\t1,BOX", "\tBOX", "a manager's line is its number", 45),
    (
        "'Worker type\n\tDISK\n'Default",
        "'Worker type\n\tTAPE\n'Default",
        "`TAPE` is no type of worker",
        51,
    ),
    (
        "'Target type\n\tDISK",
        "'Target type\n\tNETWORK,TCP",
        "networks are not measured here",
        66,
    ),
];

#[test]
fn what_is_wrong_is_told_with_its_place() {
    for (old, new, message, line) in WRONG {
        assert!(whole().contains(old), "{old}");
        let text = whole().replacen(old, new, 1);
        let Err(complaints) = read_text("test.icf", &text, 3) else {
            panic!("{new} is taken")
        };
        assert!(complaints.has_errors());
        let found = complaints
            .0
            .iter()
            .find(|found| found.message.contains(message));
        let found = found.unwrap_or_else(|| panic!("no `{message}` in\n{complaints}"));
        let at = found.location.as_ref().map_or(0, |place| place.line);
        assert_eq!(at, *line, "{complaints}");
        assert!(found.hint.is_some(), "{complaints}");
    }
}

#[test]
fn all_complaints_come_at_once() {
    let text = whole()
        .replace("\t5\n", "\tfive\n")
        .replace("4096,60", "4096,61")
        .replace("\t16,", "\tmany,");
    let complaints = read_text("test.icf", &text, 3).unwrap_err();
    assert_eq!(complaints.0.len(), 3, "{complaints}");
    let shown = complaints.to_string();
    assert!(shown.contains("--> test.icf:9:2"), "{shown}");
}

fn words(line: &str) -> Vec<String> {
    line.split_whitespace()
        .map(|word| word.replace('_', " "))
        .collect()
}

/// A machine with one file to read and a few things to do I/O on.
struct Machine1(String);

impl Files for Machine1 {
    fn read_text(&self, path: &str) -> io::Result<String> {
        if path == "a.icf" {
            Ok(self.0.clone())
        } else {
            Err(io::ErrorKind::NotFound.into())
        }
    }

    fn status(&self, path: &str) -> FileStatus {
        match path {
            "/mnt/data" | "/mnt/empty" => FileStatus::Directory,
            "/mnt/data/iobw.tst" | "/srv/file" => FileStatus::Regular(Bytes::mib(64)),
            "/dev/sdb" => FileStatus::Special(Some(Bytes::gib(4))),
            _ => FileStatus::Missing,
        }
    }
}

#[track_caller]
fn line(text: &str, words_after: &str) -> Result<IometerInput, String> {
    let machine = Machine1(text.to_owned());
    read(&words(words_after), &machine, 3).map_err(|complaints| complaints.to_string())
}

#[test]
fn files_of_specifications_alone_take_the_rest_from_the_line() {
    let specs = format!("Version 1.1.0\n{SPECS}");
    let input = line(&specs, "/c a.icf --spec mail --spec Webserver --target /mnt/data --target D: --qd 7 --time 30s --workers 2 --size 1GiB").unwrap();
    assert_eq!(
        shape(&input)[0],
        "mail: Worker 1 /mnt/data 7 /mnt/data/iobw.tst, Worker 1 D: 7 D:\\iobw.tst, Worker 2 /mnt/data 7 /mnt/data/iobw.tst, Worker 2 D: 7 D:\\iobw.tst"
    );
    assert_eq!(input.workload.stages[1].name, "Webserver");
    let job = &jobs(&input, 1)[0];
    assert_eq!(job.features.lines.len(), 10);
    assert_eq!((job.host.clone(), job.limits.warmup), (None, Nanos::ZERO));
    assert_eq!(job.targets[0].length, Some(Bytes::gib(1)));
    let input = line("", "--spec All_in_one --target /dev/sdb --time 30").unwrap();
    assert_eq!(
        (
            jobs(&input, 0).len(),
            jobs(&input, 0)[0].features.lines.len()
        ),
        (3, 20)
    );
    assert_eq!(jobs(&input, 0)[0].targets[0].place.path(), "/dev/sdb");
    for name in library::names() {
        let found = library::find(&name.to_uppercase()).unwrap();
        let shares: u32 = found.lines.iter().map(|line| line.share).sum();
        assert!(found.lines.is_empty() || shares == 100, "{name}");
    }
    let overridden = line(
        &whole(),
        "a.icf --qd 3 --target /mnt/data --ramp-up 1s --spec Database",
    )
    .unwrap();
    assert_eq!(
        shape(&overridden),
        ["Database: Worker 1 3 /mnt/data/iobw.tst, Worker 2 3 /mnt/data/iobw.tst"]
    );
    assert_eq!(jobs(&overridden, 0)[0].limits.warmup, Nanos::from_secs(1));
    let refused: &[(&str, &str)] = &[
        ("", "no configuration is named"),
        ("/c", "`/c` needs a value"),
        ("/c b.icf", "`b.icf` cannot be read"),
        ("a.icf", "no worker has a target"),
        (
            "a.icf --target /mnt/data --time 1s",
            "`Worker 1` has no access specification",
        ),
        ("a.icf --target /mnt/data --spec mail", "the run time is 0"),
        (
            "a.icf --target /mnt/data --spec nail --time 1s",
            "did you mean `mail`?",
        ),
        ("a.icf --qd 0", "`0` is no number from 1"),
        ("a.icf --time soon", "`soon` is no time"),
        ("a.icf --size 1000B", "no size in whole sectors"),
        ("a.icf --target", "`--target` needs a value"),
        ("a.icf --manager X", "the file has no manager `X`"),
        ("a.icf --frob 1", "`--frob` is no option"),
        ("a.icf -x", "`-x` is no option"),
        ("a.icf b.icf", "one file too many"),
    ];
    for (words, message) in refused {
        let error = line(&specs, words).unwrap_err();
        assert!(error.contains(message), "{words}: {error}");
    }
    let error = line(&whole(), "a.icf --workers 2").unwrap_err();
    assert!(
        error.contains("`--workers` is for files without workers"),
        "{error}"
    );
    assert_eq!(line("", "/?").unwrap().action, Action::Help);
}

#[test]
fn several_managers_are_told_apart() {
    let second = whole().replace("'END manager list", "'Manager ID, manager name\n\t2,OTHER\n'Manager network address\n\n'Worker\n\tWorker 1\n'Worker type\n\tDISK\n'Assigned access specs\n\tmail\n'End assigned access specs\n'Target assignments\n'Target\n\tE:\n'Target type\n\tDISK\n'End target\n'End target assignments\n'End worker\n'End manager\n'END manager list");
    let input = parse(&second);
    assert_eq!(input.managers, ["BOX", "OTHER"]);
    let last = jobs(&input, 0).last().unwrap();
    assert_eq!(
        (last.name.as_str(), last.host.as_deref()),
        ("OTHER/Worker 1", Some("OTHER"))
    );
    let input = line(&second, "a.icf --manager other").unwrap();
    assert_eq!(shape(&input), ["mail: Worker 1 1 E:\\iobw.tst"]);
}

#[test]
fn targets_are_fitted_to_what_is_there() {
    let fitted = |target: &str, rest: &str| {
        let line_of = format!("--spec Database --target {target} --time 1s --workers 1 {rest}");
        let mut workload = line("", &line_of).unwrap().workload;
        let machine = Machine1(String::new());
        fit_to_machine(&mut workload, &machine).map_err(|complaints| complaints.to_string())?;
        let job = workload.stages.remove(0).jobs.remove(0);
        let target = &job.targets[0];
        let path = target.place.path().to_owned();
        Ok::<_, String>((path, target.length, job.features.files.must_exist))
    };
    let there = |path: &str, size| Ok((path.to_owned(), Some(size), true));
    assert_eq!(
        fitted("/mnt/data", ""),
        there("/mnt/data/iobw.tst", Bytes::mib(64))
    );
    assert_eq!(
        fitted("/mnt/data", "--size 1GiB"),
        there("/mnt/data/iobw.tst", Bytes::mib(64))
    );
    assert_eq!(
        fitted("/mnt/data", "--size 1MiB"),
        there("/mnt/data/iobw.tst", Bytes::mib(1))
    );
    assert_eq!(fitted("/srv/file", ""), there("/srv/file", Bytes::mib(64)));
    assert_eq!(
        fitted("/dev/sdb", "--size 1GiB"),
        there("/dev/sdb", Bytes::gib(1))
    );
    assert_eq!(fitted("/dev/sdb", ""), there("/dev/sdb", Bytes::gib(4)));
    let made = ("/mnt/empty/iobw.tst".to_owned(), Some(Bytes::gib(1)), false);
    assert_eq!(fitted("/mnt/empty", "--size 1GiB"), Ok(made));
    let error = fitted("/mnt/empty", "").unwrap_err();
    assert!(
        error.contains("Iometer would fill the disk") && error.contains("--size"),
        "{error}"
    );
    let error = fitted("/nowhere", "--size 1GiB").unwrap_err();
    assert!(error.contains("there is no `/nowhere`"), "{error}");
    let error = fitted("sdb", "--size 1GiB").unwrap_err();
    assert!(error.contains("--map 'sdb=/PATH'"), "{error}");
}

#[test]
fn labels_do_not_count_in_maps() {
    assert_eq!(mapped_name("D: \"data\""), "D:");
    assert_eq!(mapped_name("D:"), "D:");
    assert_eq!(mapped_name("D:\\x"), "D:\\x");
    assert_eq!(mapped_name("PHYSICALDRIVE:1"), "PHYSICALDRIVE:1");
}

/// What each job did in a second: reads and writes with their latencies in ns.
fn result(input: &IometerInput, stage: usize, each: &[(Direction, u64)]) -> StageResult {
    let workers = (0..jobs(input, stage).len()).map(|job| {
        let mut stats = WorkerStats::new(job, 0);
        for (way, latency) in each {
            let found =
                stats.directions[*way as usize].get_or_insert_with(|| OpStats::new(false, false));
            found.bytes += 8192;
            found.latency.record(*latency);
        }
        stats.measured = Nanos::from_secs(1);
        stats
    });
    StageResult {
        name: input.workload.stages[stage].name.clone(),
        stage,
        started_unix_ns: 0,
        measured: Nanos::from_secs(2),
        workers: workers.collect(),
        intervals: Vec::new(),
        storage: std::collections::BTreeMap::new(),
        devices: Vec::new(),
        notes: Vec::new(),
    }
}

fn table(input: &IometerInput, stage: usize) -> (String, Vec<Vec<String>>) {
    let each = [
        (Direction::Read, 40_000),
        (Direction::Read, 12_000_000),
        (Direction::Write, 3_000_000),
    ];
    let result = result(input, stage, &each);
    let machine = Machine {
        cpus: vec![
            CpuTimes {
                cpu: 0,
                shares: [50.0, 30.0, 20.0, 1.0, 2.0],
                interrupts: 100.0
            };
            2
        ],
        packets: 5.0,
        ..Machine::default()
    };
    let text = write_results(
        input,
        &input.tests[stage],
        &result,
        &machine,
        951_782_400_123_000_000,
    );
    let rows = text
        .lines()
        .filter(|line| !line.starts_with('\'') && line.contains(','));
    let rows = rows.map(|line| line.split(',').map(str::to_owned).collect());
    let rows = rows.collect();
    (text, rows)
}

/// The index of a column of a table of results.
#[track_caller]
fn column(text: &str, name: &str) -> usize {
    let header = text.lines().nth(1).unwrap();
    let index = header.split(',').position(|column| column == name);
    index.unwrap_or_else(|| panic!("no {name}"))
}

#[test]
fn results_have_the_columns_of_iometer() {
    let input = parse(&whole());
    let (text, rows) = table(&input, 1);
    let header = text.lines().nth(1).unwrap();
    assert!(header.starts_with("'Target Type,Target Name,Access Specification Name,# Managers,"));
    assert!(
        header.ends_with(",4.7 to 5 s,5 to 10 s, >= 10 s"),
        "{header}"
    );
    assert_eq!(header.split(',').count(), 80);
    assert!(
        text.ends_with("'Time Stamp\n2000-02-29 00:00:00:123\n"),
        "{text}"
    );
    let kinds: Vec<&str> = rows.iter().map(|row| row[0].as_str()).collect();
    let all = "ALL MANAGER PROCESSOR PROCESSOR WORKER DISK DISK WORKER DISK";
    assert_eq!(kinds.join(" "), all);
    for row in &rows {
        assert_eq!(
            row.len(),
            if row[0] == "PROCESSOR" { 59 } else { 80 },
            "{row:?}"
        );
    }
    assert_eq!(rows[2][48], "50.000000");
}

/// Row, column and value, of three jobs with three I/Os each in two seconds: 0 all, 1 manager, 4 worker, 5 disk.
const VALUES: &[(usize, &str, &str)] = &[
    (0, "IOps", "4.500000"),
    (0, "Read IOps", "3.000000"),
    (0, "MBps (Decimal)", "0.036864"),
    (0, "MiBps (Binary)", "0.035156"),
    (0, "Bytes Written", "24576"),
    (0, "Write I/Os", "3"),
    (0, "Average Write Response Time", "3.000000"),
    (0, "# Workers", "2"),
    (0, "# Disks", "3"),
    (0, "Queue Depth", "-1"),
    (4, "Queue Depth", "16"),
    (4, "Starting Sector", "2048"),
    (0, "Total Raw Run Time", ""),
    (1, "Total Raw Run Time", "2000000000"),
    (1, "% CPU Utilization", "50.000000"),
    (4, "% CPU Utilization", ""),
    (1, "CPU Effectiveness", "0.090000"),
    (0, "Processor Speed", ""),
    (1, "Processor Speed", "1000000000.000000"),
    (0, "0 to 50 uS", "3"),
    (0, "2 to 5 mS", "3"),
    (0, "10 to 15 mS", "3"),
    (5, "Target Name", "D: \"data\""),
    (1, "Target Name", "BOX"),
];

#[test]
fn results_have_their_values_in_their_columns() {
    let input = parse(&whole());
    let (text, rows) = table(&input, 1);
    for (row, name, value) in VALUES {
        assert_eq!(rows[*row][column(&text, name)], *value, "{row} {name}");
    }
    // A reply is no transaction of its own.
    let (text, rows) = table(&input, 0);
    let value = |name: &str| rows[0][column(&text, name)].parse::<f64>().unwrap();
    let answered = value("IOps") / value("Transactions per Second") - 1.0;
    let expected = 40.0 * 8.0 / (60.0 + 40.0 * 8.0);
    assert!((answered - expected).abs() < 1e-3, "{answered}");
}

#[test]
fn rows_are_those_that_are_asked_for() {
    let kinds = |level: &str, rest: &str| {
        let input = line(
            &whole().replace("\tALL\n", &format!("\t{level}\n")),
            &format!("a.icf {rest}"),
        )
        .unwrap();
        let (_, rows) = table(&input, 1);
        let mut kinds: Vec<String> = rows.into_iter().map(|mut row| row.remove(0)).collect();
        kinds.dedup();
        kinds.join(" ")
    };
    assert_eq!(kinds("NO_TARGETS", ""), "ALL MANAGER PROCESSOR WORKER");
    assert_eq!(kinds("NO_WORKERS", ""), "ALL MANAGER PROCESSOR");
    assert_eq!(kinds("NO_MANAGERS", ""), "ALL");
    // Where a file of results is named, they are recorded after all.
    assert_eq!(
        kinds("NONE", "/r x.csv"),
        "ALL MANAGER PROCESSOR WORKER DISK WORKER DISK"
    );
    assert_eq!(
        line(&whole().replace("\tALL\n", "\tNONE\n"), "a.icf")
            .unwrap()
            .record,
        Record::Nothing
    );
}

#[test]
fn the_head_names_the_test_and_its_specifications() {
    let input = parse(&whole());
    let head = write_setup(&input, 0);
    assert_eq!(
        head,
        "'Test Type,Test Description\n0,two mixes\n'Version\n1.1.0 \n'Time Stamp\n1970-01-01 00:00:00:000\n"
    );
    let specs = write_specs(&input.tests[0]);
    let expected = "'Access specifications\n'Access specification name,default assignment\nmail,0\n'size,% of size,% reads,% random,delay,burst,align,reply\n4096,60,80,100,0,1,0,0,\n32768,40,10,0,5,8,4096,512,\n'End access specifications\n";
    assert_eq!(specs, expected);
    assert_eq!(
        (write_end(false), write_end(true)),
        ("'End Test\n", "Aborted test\n")
    );
}

#[test]
fn percentiles_have_a_file_of_their_own() {
    let input = parse(&whole());
    let each = [(Direction::Read, 1_000_000), (Direction::Write, 3_000_000)];
    let text = write_percentiles(&input, &input.tests[1], &result(&input, 1, &each));
    let columns = percentiles_header().split(',').count();
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    assert!(rows.iter().all(|row| row.len() == columns), "{text}");
    // All, and three targets; all I/O, reads and writes of each.
    assert_eq!(rows.len(), 12);
    assert_eq!(rows[1][5..9], ["read", "3", "1.000000", "1.000000"]);
}

#[test]
fn origins_name_the_file_or_the_line() {
    let text = origins(&line(&whole(), "a.icf --qd 3").unwrap());
    assert!(
        text.contains("run time 90 s")
            || text.contains("run time 1.5 min")
            || text.contains("run time"),
        "{text}"
    );
    let of = |what: &str| {
        text.lines()
            .find(|line| line.contains(what))
            .unwrap_or_else(|| panic!("{what}: {text}"))
    };
    assert!(of("run time").ends_with("a.icf"), "{text}");
    assert!(
        of("3 outstanding, `mail`").ends_with("command line"),
        "{text}"
    );
}

/// A mebibyte of each: what repeats most, and what multiplies.
#[test]
fn large_inputs_are_answered() {
    let repeated = |piece: &str| piece.repeat((1 << 20) / piece.len());
    let mut texts = vec![
        repeated("'"),
        repeated("'\n"),
        repeated("a\n"),
        repeated("\n"),
        format!(
            "Version 1.1.0\n'ACCESS SPECIFICATIONS\n{}",
            repeated("'Access specification name,\n\ta,NONE\n'size\n\t512,1,1,1,1,1,1,1\n")
        ),
        format!(
            "Version 1.1.0\n'ACCESS SPECIFICATIONS\n'Access specification name,\n\ta,NONE\n{}",
            repeated("\t512,1,1,1,1,1,1,1\n")
        ),
        format!(
            "{SPECS}'MANAGER LIST\n'Manager ID\n\t1,a\n{}",
            repeated(
                "'Worker\n\tw\n'Target assignments\n'Target\n\tC:\n'Assigned access specs\n\tmail\n'End worker\n"
            )
        ),
        format!(
            "Version 1.1.0\n{SETUP}{SPECS}'MANAGER LIST\n'Manager ID\n\t1,a\n'Worker\n\tw\n'Target assignments\n'Target\n\tC:\n'End target assignments\n'Assigned access specs\n{}",
            repeated("\tnail\n")
        ),
        format!(
            "Version 1.1.0\n{SETUP}{SPECS}'MANAGER LIST\n'Manager ID\n\t1,a\n'Worker\n\tw\n'Target assignments\n'Target\n\tC:\n'End target assignments\n'Assigned access specs\n{}",
            repeated("\tmail\n")
        ),
        whole()
            .replace("2 8 2 EXPONENTIAL", "1 1048576 1 LINEAR")
            .replace("\tNORMAL", "\t7"),
    ];
    let mut many = "Version 1.1.0\n'ACCESS SPECIFICATIONS\n".to_owned();
    for number in 0..9_000 {
        let _ = write!(
            many,
            "'Access specification name,\n\t{number},ALL\n'\n512,100,1,1,1,1,512,0\n"
        );
    }
    many.push_str("'MANAGER LIST\n'Manager ID\n\t1,a\n");
    for number in 0..8_000 {
        let _ = write!(
            many,
            "'Worker\n\t{number}\n'Target assignments\n'Target\n\tC:\n'End worker\n"
        );
    }
    texts.push(many);
    for text in texts {
        if let Err(complaints) = read_text("large.icf", &text, 2) {
            assert!(complaints.0.len() <= 101 && complaints.to_string().len() < 200_000);
        }
    }
}

proptest! {
    #[test]
    fn damaged_files_are_answered(at in 0usize..3000, cut in 0usize..80, with in "[ -~\n\t]{0,20}") {
        let mut text = whole();
        let at = at.min(text.len());
        let end = (at + cut).min(text.len());
        text.replace_range(at..end, &with);
        match read_text("damaged.icf", &text, 2) {
            Ok(input) => prop_assert_eq!(input.tests.len(), input.workload.stages.len()),
            Err(complaints) => prop_assert!(complaints.has_errors()),
        }
    }

    #[test]
    fn any_text_and_line_are_answered(text in any::<String>(), words in prop::collection::vec("[-/a-z= 0-9]{0,9}", 0..5)) {
        let machine = Machine1(text.clone());
        let _ = read(&words, &machine, 1);
        let _ = (read_text("x", &text, 1), looks_like_icf(&text));
    }
}
