//! Which files a job uses, and how much of each.

use super::*;

fn parts(files: &Memory, arguments: &[&str]) -> Vec<(String, u64, Option<u64>)> {
    let input =
        read_in(files, arguments).unwrap_or_else(|errors| panic!("{arguments:?}\n{errors}"));
    let targets = input.workload.jobs().flat_map(|(_, job)| &job.targets);
    let part = |target: &fathom_workload::Target| {
        let length = target.length.map(Bytes::get);
        (target.place.path().to_owned(), target.offset.get(), length)
    };
    targets.map(part).collect()
}

fn with_file(path: &str, size: u64) -> Memory {
    let mut files = Memory::default();
    let status = FileStatus::Regular(Bytes::new(size));
    files.statuses.insert(path.to_owned(), status);
    files
}

#[track_caller]
fn check_paths(text: &str, expected: &[&str]) {
    assert_eq!(paths(text), expected, "{text}");
}

/// As in fio, a list sets `nrfiles`, and what follows sets it again.
#[test]
fn nrfiles_after_a_list_shortens_it() {
    check_paths("[j]\nsize=1m\nfilename=x:y:z\nnrfiles=2\n", &["x", "y"]);
    check_paths(
        "[j]\nsize=1m\nnrfiles=2\nfilename=x:y:z\n",
        &["x", "y", "z"],
    );
    check_paths(
        "[global]\nnrfiles=1\n[j]\nsize=1m\nfilename=x:y\n",
        &["x", "y"],
    );
    check_paths("[global]\nfilename=x:y\n[j]\nsize=1m\nnrfiles=1\n", &["x"]);
}

#[test]
fn readonly_makes_and_extends_no_file() {
    let arguments = ["--readonly", "--name=a", "--filename=x", "--size=64k"];
    let refused = |files: &Memory| read_in(files, &arguments).unwrap_err().0[0].message.clone();
    assert!(refused(&Memory::default()).contains("makes no file"));
    assert!(refused(&with_file("x", 10_000)).contains("extends no file"));
    assert!(read_in(&with_file("x", 65_536), &arguments).is_ok());
    let without_files = ["--readonly", "--name=a", "--size=1m", "--ioengine=null"];
    assert!(read_in(&Memory::default(), &without_files).is_ok());
}

/// Two jobs that append to one file, the second after the first.
#[test]
fn what_is_appended_lies_behind_what_jobs_before_wrote() {
    let append = [
        "--filename=x",
        "--rw=write",
        "--size=64k",
        "--file_append=1",
    ];
    let lone = |name: &'static str| std::iter::once(name).chain(append);
    let twice: Vec<&str> = lone("--name=a").chain(lone("--name=b")).collect();
    let part = |offset| ("x".to_owned(), offset, Some(65_536));
    assert_eq!(parts(&Memory::default(), &twice), [part(0), part(65_536)]);
    let there = with_file("x", 4096);
    assert_eq!(parts(&there, &twice), [part(4096), part(69_632)]);
}

#[test]
fn percentages_are_of_what_there_is() {
    let whole = with_file("x", 1 << 20);
    let pass = |files: &Memory, arguments: &[&str]| {
        let input = read_in(files, arguments).unwrap();
        let job = &input.workload.stages[0].jobs[0];
        job.limits.bytes.map(Bytes::get)
    };
    let tenth = [
        "--name=a",
        "--rw=randwrite",
        "--filename=x",
        "--io_size=10%",
    ];
    assert_eq!(pass(&whole, &tenth), Some(26 * 4096));
    let half = ["--name=a", "--filesize=1m", "--size=50%", "--filename=y"];
    assert_eq!(parts(&whole, &half), [("y".to_owned(), 0, Some(1 << 19))]);
    // Of a file whose size is given, the share is of that size, and not of what lies behind the offset.
    let sized = [
        "--name=a",
        "--filename=x",
        "--filesize=132k",
        "--size=50%",
        "--offset=25%",
    ];
    let there = with_file("x", 128 << 10);
    let part = |length| [("x".to_owned(), 32_768, Some(length))];
    assert_eq!(parts(&there, &sized), part(65_536));
    let most = [&sized[..3], &["--size=90%", "--offset=25%"]].concat();
    assert_eq!(parts(&there, &most), part(102_400));
}

/// A file that is yet to be made has nothing to take a share of; one that an earlier job makes has what that job left.
#[test]
fn offsets_in_percent_are_of_what_jobs_before_left() {
    let part = |path: &str, offset, length| (path.to_owned(), offset, Some(length));
    let quarter = ["--name=a", "--filename=x", "--size=1m", "--offset=25%"];
    let missing = Memory::default();
    assert_eq!(parts(&missing, &quarter), [part("x", 0, 1 << 20)]);
    let there = with_file("x", 1 << 20);
    assert_eq!(parts(&there, &quarter), [part("x", 1 << 18, 1 << 20)]);
    let clones = [
        "--name=a",
        "--filename=x",
        "--size=1m",
        "--offset_increment=10%",
        "--numjobs=2",
    ];
    let second = part("x", 106_496, 1 << 20);
    assert_eq!(parts(&missing, &clones), [part("x", 0, 1 << 20), second]);
    let sized = ["--name=a", "--filename=y", "--filesize=1m", "--offset=25%"];
    assert_eq!(parts(&missing, &sized), [part("y", 0, 1 << 20)]);
}

/// A file that is made is appended to from its start, wherever `offset` is.
#[test]
fn appending_heeds_no_offset() {
    let append = [
        "--name=a",
        "--filename=x",
        "--rw=write",
        "--size=64k",
        "--offset=4k",
        "--file_append=1",
    ];
    let part = |offset| ("x".to_owned(), offset, Some(65_536));
    assert_eq!(parts(&Memory::default(), &append), [part(0)]);
    assert_eq!(parts(&with_file("x", 4096), &append), [part(4096)]);
}

/// A file without a size is written until there is no room.
#[test]
fn a_file_that_fills_its_file_system_has_no_end() {
    let fill = ["--name=a", "--filename=x", "--rw=write", "--fill_device=1"];
    for files in [Memory::default(), with_file("x", 4096)] {
        assert_eq!(parts(&files, &fill), [("x".to_owned(), 0, Some(1 << 50))]);
    }
    let sized = [&fill[..], &["--size=1m"]].concat();
    let part = ("x".to_owned(), 0, Some(1 << 20));
    assert_eq!(parts(&Memory::default(), &sized), [part]);
}
