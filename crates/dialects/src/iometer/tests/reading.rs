//! What files of all ages come to.

use fathom_units::{Nanos, Percent};
use fathom_workload::{Access, BufferContents, Coverage, Mix, SequentialScope};

use super::*;

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

/// A line that begins with `'` and a blank is a comment wherever it stands between sections; other lines are told.
#[test]
fn comments_are_passed_over() {
    let with = |line: &str| whole().replacen("'TEST SETUP", &format!("{line}\n'TEST SETUP"), 1);
    let told = |text: &str| parse(text).warnings.0.len();
    let before = told(&whole());
    assert_eq!(told(&with("' written by hand\n'\ttwice")), before);
    assert_eq!(told(&with("'TSET SETUP")), before + 1);
    assert_eq!(told(&with("stray")), before + 1);
}

/// A test is called by its specifications in the order of the workers that use them.
#[test]
fn tests_are_called_by_what_workers_do() {
    let text = whole()
        .replace("\tIdle\n\t8 kib READS", "\tmail\n\tmail")
        .replace("\tmail\n\t8 KiB reads\n'End", "\t8 KiB reads\n\tmail\n'End");
    let input = parse(&text);
    let names: Vec<&str> = input
        .workload
        .stages
        .iter()
        .map(|stage| stage.name.as_str())
        .collect();
    assert_eq!(names, ["8 KiB reads + mail", "mail"]);
    // In the results, they stand in the order of the file.
    let specs: Vec<&str> = input.tests[0]
        .specs
        .iter()
        .map(|spec| spec.name.as_str())
        .collect();
    assert_eq!(specs, ["mail", "8 KiB reads"]);
}
