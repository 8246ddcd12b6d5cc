//! Which refusals have results, and the error of each job in them.

use super::*;

/// The errors of all jobs of `arguments`; `None` where there are no results.
#[track_caller]
fn errors(arguments: &str) -> Option<Vec<i32>> {
    let mut files = Memory::default();
    let there = FileStatus::Regular(Bytes::mib(1));
    files.statuses.insert("there".to_owned(), there);
    files.statuses.insert(
        "device".to_owned(),
        FileStatus::Special(Some(Bytes::mib(1))),
    );
    let context = ReadContext {
        files: &files,
        environment,
        entropy: 99,
        page_size: Bytes::kib(4),
        processors: 3,
        memory_mib: 1000,
        clock: |_| None,
    };
    let arguments: Vec<String> = arguments.split(' ').map(str::to_owned).collect();
    let Err(unready) = read_to_run(&arguments, &context) else {
        panic!("{arguments:?} is not refused");
    };
    unready.refused.map(|refused| refused.errnos)
}

#[test]
fn what_fio_finds_late_has_its_number() {
    let again = "--size=64k --unlink_each_loop=1 --loops=2";
    let flash = "--size=1m --sprandom=1";
    for (options, expected) in [
        ("", Some(22)),
        ("--size=64k --cpumask=0", Some(22)),
        ("--size=64k --cgroup=here", Some(95)),
        ("--size=64k --fdp=1", Some(22)),
        ("--size=64k --dataplacement=streams --plids=1", Some(22)),
        ("--size=64k --rw=trim --ioengine=null --num_range=4", None),
        ("--size=64k --numa_cpu_nodes=0-", None),
        (again, Some(2)),
        (&format!("{again} --create_on_open=1"), Some(5)),
        (&format!("{again} --rw=rw"), Some(5)),
        (&format!("{again} --rw=write --verify=md5"), Some(95)),
        (
            "--size=64k --ioengine=io_uring --io_submit_mode=offload",
            Some(3),
        ),
        (
            "--size=64k --rw=write --verify=md5 --verify_offset=4090",
            Some(84),
        ),
        ("--size=64k --rw=write --verify=pattern", Some(22)),
        (
            "--size=64k --rw=write --ioengine=mmap --end_syncfs=1",
            Some(22),
        ),
        ("--size=64k --ioengine=nbd", Some(22)),
        (
            "--size=64k --ioengine=nbd --uri=nbd://h --nrfiles=2",
            Some(95),
        ),
        (
            "--size=64k --zonemode=strided --zonesize=8k --zoneskip=-4k",
            Some(95),
        ),
        ("--size=64k --zonesize=4k", None),
        ("--size=64k --zonemode=zbd --zonesize=4k", Some(95)),
        ("--size=64k --zonemode=zbd", Some(95)),
        ("--size=2z", Some(95)),
        ("--size=2z --size=64k --offset=1z", Some(95)),
        ("--size=64k --zoneskip=1z", Some(95)),
        ("--size=64k --offset=10%z", None),
        ("--size=64k --ioengine=sg", Some(95)),
        ("--size=64k --ioengine=mtd", Some(95)),
        ("--size=64k --ioengine=io_uring_cmd", Some(95)),
        ("--size=64k --ioengine=rbd", None),
        ("--size=64k --filename=there --filetype=block", Some(25)),
        ("--filename=there --filetype=block", Some(25)),
        ("--filename=there --filetype=char", Some(22)),
        ("--size=64k --filename=new --filetype=char", Some(2)),
        ("--size=64k --filename=device:new --filetype=block", Some(2)),
        ("--size=64k --dp_scheme=missing", None),
        ("--size=64k --dp_scheme=device", None),
        (&format!("{flash} --rw=randrw"), None),
        (&format!("{flash} --rw=randwrite --nrfiles=2"), Some(22)),
        (
            &format!("{flash} --rw=randwrite --random_distribution=zipf:1.2"),
            Some(95),
        ),
    ] {
        let line = format!("--name=a {options}");
        let expected = expected.map(|errno| vec![errno]);
        assert_eq!(errors(line.trim_end()), expected, "{options}");
    }
}

/// The first error of a job is its error, others are cancelled, and one that fio finds as it reads leaves no results.
#[test]
fn each_job_has_its_first_error() {
    let (good, bad) = ("--size=64k", "--size=64k --cgroup=here");
    for (line, expected) in [
        (
            format!("--name=a {good} --name=b {bad}"),
            Some(vec![125, 95]),
        ),
        (
            format!("--name=a {bad} --name=b {good} --name=c"),
            Some(vec![95, 125, 22]),
        ),
        (
            format!("--name=a {bad} --cpumask=0 --name=b {good}"),
            Some(vec![95, 125]),
        ),
        (format!("--name=a {bad} --name=b {good} --rw=nowhere"), None),
        (
            format!("--name=a {good} --zonesize=4k --name=b {bad}"),
            None,
        ),
    ] {
        let found = errors(&line);
        assert_eq!(found, expected, "{line}");
    }
}

/// A device is one, and a scheme is there; a device that may be one of a design is not looked for, nor what no engine opens.
#[test]
fn what_files_are_to_be_they_are() {
    let mut files = Memory::default();
    let there = FileStatus::Regular(Bytes::mib(1));
    files.statuses.insert("there".to_owned(), there);
    let device = FileStatus::Special(Some(Bytes::mib(1)));
    files.statuses.insert("device".to_owned(), device);
    let context = ReadContext {
        files: &files,
        environment,
        entropy: 99,
        page_size: Bytes::kib(4),
        processors: 3,
        memory_mib: 1000,
        clock: |_| None,
    };
    for options in [
        "--filename=device --filetype=block",
        "--filename=/dev/of-a-design --filetype=block --size=1m",
        "--filename=there --filetype=block --ioengine=null --size=1m",
        "--filename=there --filetype=char --size=1m",
        "--filename=there --filetype=file",
        "--filename=there --dp_scheme=there",
        "--filename=there --filetype=block --parse-only",
        "--filename=there --dp_scheme=missing --parse-only",
    ] {
        let line = format!("--name=a {options}");
        let arguments: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let read = read_to_run(&arguments, &context);
        assert!(read.is_ok(), "{options}: {:?}", read.err());
    }
}
