//! What a command line adds to a file, and what targets are on a machine.

use fathom_units::Nanos;

use super::*;

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
        ("/x", "`/x` is no option"),
        ("/c a.icf /quiet", "`/quiet` is no option"),
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
fn a_number_that_is_too_large_or_none_is_told_as_such() {
    for (number, hint) in [("0", "give 1 to 1048576"), ("two", "write digits alone")] {
        let error = line(&whole(), &format!("a.icf --qd {number}")).unwrap_err();
        assert!(error.contains(hint), "{number}: {error}");
    }
}

#[test]
fn a_manager_is_not_found_where_there_is_none() {
    let text = whole();
    let (head, _) = text.split_once("'MANAGER LIST").unwrap();
    let error = line(head, "a.icf --manager X").unwrap_err();
    assert!(error.contains("it has no manager at all"), "{error}");
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
    // A folder and a file of the present directory.
    assert_eq!(
        fitted("beside", ""),
        there("./beside/iobw.tst", Bytes::mib(64))
    );
    assert_eq!(fitted("image", ""), there("./image", Bytes::mib(64)));
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

#[test]
fn origins_name_the_file_or_the_line() {
    let text = origins(&line(&whole(), "a.icf --qd 3").unwrap());
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

#[test]
fn files_of_other_tools_are_refused() {
    for (text, words) in [
        ("[x]\nrw=read\nsize=1m\n", "a.icf"),
        ("PK\u{3}", "a.icf --target /mnt/data"),
    ] {
        let error = line(text, words).unwrap_err();
        assert!(error.contains("this is no file of Iometer"), "{error}");
        assert!(
            !error.contains("warning") && !error.contains("no worker"),
            "{error}"
        );
    }
}

#[test]
fn a_specification_that_nobody_knows_is_told_with_those_that_are_known() {
    let Err(error) = line("", "--spec Nope --target /mnt/data --time 1s") else {
        panic!("taken");
    };
    assert!(
        error.contains("use one of Idle, Default, Database"),
        "{error}"
    );
    let Err(error) = line("", "--spec Databas --target /mnt/data --time 1s") else {
        panic!("taken");
    };
    assert!(error.contains("did you mean `Database`?"), "{error}");
}
