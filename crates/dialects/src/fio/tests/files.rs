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

/// As in fio, a list sets `nrfiles`, and what follows sets it again; in a section of a job file the list always comes last.
#[test]
fn nrfiles_after_a_list_shortens_it() {
    let line = ["--name=j", "--size=1m", "--filename=x:y:z", "--nrfiles=2"];
    let found = parts(&Memory::default(), &line);
    assert_eq!((found.len(), found[1].0.as_str()), (2, "y"));
    check_paths(
        "[j]\nsize=1m\nfilename=x:y:z\nnrfiles=2\n",
        &["x", "y", "z"],
    );
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

/// As in fio, each `filename` adds to what was named before, in the directory that was given by then.
#[test]
fn names_add_up() {
    check_paths(
        "[global]\nfilename=x:y\n[j]\nsize=1m\nfilename=z\n[k]\nsize=1m\nfilename=x\n",
        &["x", "y", "z", "x", "y", "x"],
    );
    check_paths(
        "[global]\ndirectory=d:e\nfilename=x\n[j]\nsize=1m\nfilename=y\ndirectory=f\n",
        &["d/x", "f/y"],
    );
    check_paths(
        "[global]\nfilename=x\ndirectory=d\n[j]\nsize=1m\ndirectory=f\n",
        &["d/x"],
    );
    // A count before the names counts them too, and one is never above theirs.
    check_paths(
        "[global]\nfilename=x\n[j]\nsize=1m\nnrfiles=1\nfilename=y:z\n",
        &["x", "y", "z"],
    );
    check_paths(
        "[global]\nfilename=x:y\n[j]\nsize=1m\nnrfiles=1\nfilename=z\n",
        &["x", "y"],
    );
    check_warning(
        "filename=x\nfilename=y",
        &["`filename` adds to the files that were named before it, as in fio: `x` is used too"],
    );
    let line = [
        "--name=j",
        "--filename=x",
        "--directory=d",
        "--size=1m",
        "--filename=y",
    ];
    let found = parts(&Memory::default(), &line);
    assert_eq!((found[0].0.as_str(), found[1].0.as_str()), ("x", "d/y"));
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

/// As in fio, whose bytes do not take away a percentage that was given before, such as in `[global]`.
#[test]
fn percentages_given_before_stay() {
    let check = |before: &str, options: &str, expected: &[(&str, u64, u64)]| {
        let words = format!("--name=global {before} --name=a {options}");
        let words: Vec<&str> = words.split(' ').collect();
        let expected: Vec<_> = (expected.iter())
            .map(|(path, offset, length)| ((*path).to_owned(), *offset, Some(*length)))
            .collect();
        assert_eq!(
            parts(&with_file("x", 131_072), &words),
            expected,
            "{words:?}"
        );
    };
    check("--size=50%", "--filename=y --size=64k", &[("y", 0, 32_768)]);
    check(
        "--size=50%",
        "--filename=y --size=60k --bs=8k",
        &[("y", 0, 24_576)],
    );
    let two = [("y", 0, 16_384), ("z", 0, 16_384)];
    check("--size=50%", "--filename=y:z --size=64k", &two);
    check(
        "--size=50%",
        "--filename=y --size=64k --offset=16k",
        &[("y", 16_384, 40_960)],
    );
    check(
        "--size=50%",
        "--filename=y --size=1m --filesize=64k",
        &[("y", 0, 32_768)],
    );
    check(
        "--size=50%",
        "--filename=y --size=100% --size=64k",
        &[("y", 0, 65_536)],
    );
    check(
        "--offset=50%",
        "--filename=x --size=32k --offset=8k",
        &[("x", 65_536, 32_768)],
    );
    check(
        "--offset=0%",
        "--filename=x --size=32k --offset=8k",
        &[("x", 8192, 32_768)],
    );
    check_warning(
        "size=50%\nsize=64k",
        &["`size` is 50% of that, as in fio, since it was given in percent before"],
    );
    check_warning(
        "offset=50%\noffset=8k",
        &["`offset` stays 50%, as in fio, since it was given in percent before"],
    );
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

/// fio takes a file that it does not open to have its share of `size`.
#[test]
fn offsets_in_percent_of_what_is_not_opened_are_of_its_size() {
    let words = "--name=a --ioengine=null --filename=x:y --size=2m --offset=25%";
    let words: Vec<&str> = words.split(' ').collect();
    let part = |path: &str| (path.to_owned(), 1 << 18, Some(1 << 20));
    for files in [Memory::default(), with_file("x", 4096)] {
        assert_eq!(parts(&files, &words), ["x", "y"].map(part));
    }
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

/// fio's job has nothing to do in such a file, or fails.
#[test]
fn a_file_of_its_filesize_is_not_appended_to() {
    let append = [
        "--name=a",
        "--filename=x",
        "--rw=write",
        "--filesize=64k",
        "--file_append=1",
    ];
    let part = |offset, length| ("x".to_owned(), offset, Some(length));
    assert_eq!(parts(&with_file("x", 4096), &append), [part(4096, 61_440)]);
    let refused = read_in(&with_file("x", 65_536), &append).expect_err("nothing is left");
    let message = "job `a`: the file is as long as `filesize` says: nothing is left to append";
    let found: Vec<_> = refused.0.iter().map(|it| it.message.as_str()).collect();
    assert_eq!(found, [message]);
}

/// All of a file that a writer before it makes longer is what that one writes, whether its space is reserved or not; what is there
/// counts where it is more.
#[test]
fn all_of_a_file_ends_where_a_writer_before_leaves_it() {
    let words = |fallocate: &'static str| {
        let first = [
            "--name=w",
            "--filename=x",
            "--rw=write",
            "--size=64k",
            fallocate,
        ];
        [
            &first[..],
            &["--name=r", "--stonewall", "--filename=x", "--size=100%"],
        ]
        .concat()
    };
    for fallocate in ["--fallocate=none", "--fallocate=keep", "--fallocate=native"] {
        let of_reader = |files: &Memory| parts(files, &words(fallocate))[1].2;
        assert_eq!(of_reader(&Memory::default()), Some(65_536), "{fallocate}");
        assert_eq!(
            of_reader(&with_file("x", 4096)),
            Some(65_536),
            "{fallocate}"
        );
        assert_eq!(of_reader(&with_file("x", 1 << 20)), None, "{fallocate}");
    }
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

#[test]
fn names_and_sizes_of_files() {
    let path = |options: &str| paths(&format!("[j]\nsize=1m\n{options}\n"));
    assert_eq!(path("directory=/mnt"), ["/mnt/j.0.0"]);
    assert_eq!(path("nrfiles=2"), ["j.0.0", "j.0.1"]);
    // Files bear the name of their section, whatever the job is called.
    assert_eq!(path("name=k"), ["j.0.0"]);
    assert_eq!(path("name=k\nfilename_format=$jobname.$filenum"), ["j.0"]);
    assert_eq!(path("name=k\nnumjobs=2"), ["j.0.0", "j.1.0"]);
    assert_eq!(
        path("filename=a:b\ndirectory=/mnt:/other"),
        ["/mnt/a", "/mnt/b"]
    );
    assert_eq!(path("filename_format=$jobname-$jobnum.$filenum"), ["j-0.0"]);
    assert_eq!(
        path("filename_format=$jobname.$clientuid.$filenum"),
        ["j..0"]
    );
    // Clones stand in fio's order, the last one first after the first.
    assert_eq!(path("numjobs=4"), ["j.0.0", "j.3.0", "j.2.0", "j.1.0"]);
    assert_eq!(path("numjobs=2\ndirectory=/a:/b"), ["/a/j.0.0", "/b/j.1.0"]);
    assert_eq!(path("numjobs=2\nfilename=/dev/x"), ["/dev/x", "/dev/x"]);
    let lengths = |job: &Job| -> Vec<_> {
        job.targets
            .iter()
            .map(|target| target.length.map(Bytes::get))
            .collect()
    };
    check("nrfiles=2", lengths, vec![Some(524_288); 2]);
    check(
        "filename=a:b:c\nsize=40k",
        lengths,
        vec![Some(13_653), Some(13_653), Some(13_653)],
    );
    check(
        "nrfiles=3\nsize=44k",
        lengths,
        vec![Some(15_018), Some(15_018), Some(15_018)],
    );
    check("nrfiles=2\nfilesize=64k", lengths, vec![Some(65_536); 2]);
    let drawn = job("nrfiles=3\nfilesize=64k-1m");
    let sizes: Vec<_> = lengths(&drawn).into_iter().flatten().collect();
    assert!(sizes.iter().all(|size| (65_536..=1_048_576).contains(size)));
    assert!(sizes.iter().any(|size| *size != sizes[0]), "{sizes:?}");
    check("nrfiles=3\nfilesize=64k,1m", lengths, lengths(&drawn));
    check("nrfiles=2\nfilesize=64k,", lengths, vec![Some(65_536); 2]);
    check(
        "nrfiles=2\nfilesize=64k\nsize=96k",
        |job| job.limits.bytes,
        Some(Bytes::kib(96)),
    );
}

/// As in fio, files that are taken as they are and hold no block are left alone, as long as others hold more.
#[test]
fn files_that_no_block_fits_into_are_left_out() {
    let mut files = Memory::default();
    for (path, size) in [("/d/a", 100_000), ("/d/b", 10_000), ("/d/c", 0)] {
        let status = FileStatus::Regular(Bytes::new(size));
        files.statuses.insert(path.to_owned(), status);
    }
    let check = |options: &str, expected: &[(&str, Option<u64>)], warning: &str| {
        let line: Vec<&str> = ["--name=j"].into_iter().chain(options.split(' ')).collect();
        let found = parts(&files, &line);
        let found: Vec<_> = (found.iter())
            .map(|(path, _, length)| (path.as_str(), *length))
            .collect();
        assert_eq!(found, expected, "{options}");
        let warnings = read_in(&files, &line).unwrap().warnings.to_string();
        assert!(warnings.contains(warning), "{options}: {warnings}");
    };
    let a = ("/d/a", None);
    let more = "no block of 16 KiB fits into are left as found: `/d/b` and 1 more\n";
    check("--opendir=/d --bs=16k", &[a], more);
    check("--opendir=/d --bs=16k --rw=randwrite", &[a], more);
    check("--opendir=/d --bs=4k,16k --rw=randrw", &[a], more);
    let one = "no block of 4 KiB fits into are left as found: `/d/c`\n";
    check("--opendir=/d", &[a, ("/d/b", None)], one);
    check(
        "--opendir=/d --size=50%",
        &[("/d/a", Some(49_152)), ("/d/b", Some(4096))],
        one,
    );
    check(
        "--opendir=/d --size=33%",
        &[("/d/a", Some(32_768))],
        "no block of 4 KiB fits into are left as found: `/d/b` and 1 more",
    );
    // Sizes that a file is too short for never come.
    check(
        "--filename=/d/a:/d/b --bsrange=4k-64k",
        &[a, ("/d/b", Some(10_000))],
        "sizes of I/O above 9.77 KiB do not fit",
    );
    // What is made longer is used.
    check(
        "--filename=/d/a:/d/b --bs=16k --filesize=64k",
        &[("/d/a", Some(65_536)), ("/d/b", Some(65_536))],
        "",
    );
    // Where none is long enough, the job says so.
    check("--filename=/d/b --bs=16k", &[("/d/b", None)], "");
}

/// As in fio, a file that a job makes before the first I/O is as long as that for the jobs behind it.
#[test]
fn what_earlier_jobs_make_is_used_whole() {
    let last = |files: &Memory, first: &str, second: &str| {
        let line = format!("--name=a --filename=f {first} --name=b --filename=f {second}");
        let line: Vec<&str> = line.split_whitespace().collect();
        let input = read_in(files, &line).map_err(|errors| errors.0[0].message.clone())?;
        let (_, job) = input.workload.jobs().last().unwrap();
        Ok::<_, String>(job.targets[0].length)
    };
    let check = |first: &str, second: &str, expected: Result<Option<u64>, &str>| {
        let found = last(&Memory::default(), first, second);
        let expected = expected.map(|it| it.map(Bytes::new)).map_err(str::to_owned);
        assert_eq!(found, expected, "{first} {second}");
    };
    let unknown = Err("job `b`: you need to specify size=");
    check("--rw=write --size=64k", "--stonewall", Ok(Some(65_536)));
    check("--rw=write --size=64k", "--rw=randwrite", Ok(Some(65_536)));
    check("--rw=read --size=64k", "--rw=randread", Ok(Some(65_536)));
    check("--filesize=64k", "--offset=16k", Ok(Some(49_152)));
    check(
        "--rw=write --size=64k --fallocate=truncate",
        "",
        Ok(Some(65_536)),
    );
    // Nothing gives it a size before the first I/O.
    check("--rw=write --size=64k --fallocate=none", "", unknown);
    check("--rw=write --size=64k --fallocate=keep", "", unknown);
    check(
        "--rw=read --size=64k --fallocate=none",
        "",
        Ok(Some(65_536)),
    );
    // A share of a file that is yet to grow is not known.
    let grown = "--rw=write --size=64k --io_size=32k --fallocate=none";
    check(grown, "--stonewall", unknown);
    let share = Err("job `b`: a percentage of `f`, whose size is not known");
    check(grown, "--stonewall --size=50%", share);
    check("--rw=write --size=64k", "--size=50%", Ok(Some(32_768)));
    check("--rw=write --size=64k --ioengine=null", "", unknown);
    check("--rw=write --size=64k", "--ioengine=null", unknown);
    let longer = with_file("f", 100_000);
    assert_eq!(last(&longer, "--size=64k", ""), Ok(None));
    assert_eq!(
        last(&with_file("f", 1000), "--size=64k", ""),
        Ok(Some(Bytes::kib(64)))
    );
}

/// As in fio, a job that may make no file makes none longer either.
#[test]
fn what_may_not_be_made_is_not_made_longer() {
    let read = |size: u64, options: &str| {
        let line = format!("--filename=f --size=64k {options} --name=j --allow_file_create=0");
        let line: Vec<&str> = line.split_whitespace().collect();
        let read = read_in(&with_file("f", size), &line);
        read.map(|_| ())
            .map_err(|errors| errors.0[0].message.clone())
    };
    let expected = "job `j`: `f` ends at 1000 B, and the job may not make it longer";
    for rw in ["read", "write", "randwrite"] {
        let options = format!("--rw={rw}");
        assert_eq!(read(1000, &options), Err(expected.to_owned()), "{rw}");
        assert_eq!(read(65_536, &options), Ok(()), "{rw}");
    }
    assert_eq!(read(1000, "--name=i --rw=write"), Ok(()));
}

/// As in fio: a share that is less than a block is refused, a number of bytes is good for one I/O.
#[test]
fn a_share_of_the_bytes_has_room_for_a_block() {
    let refused = |share: &str, held: &str| {
        check_error(
            &format!("[j]\nsize=40k\nrw=write\nbs=8k\nio_size={share}\n"),
            &[&format!(
                "job `j`: {share} of its files is {held}, less than one block of 8 KiB"
            )],
        );
    };
    refused("10%", "4 KiB");
    refused("19%", "7.6 KiB");
    let bytes = |job: &Job| job.limits.bytes.map(Bytes::get);
    check("size=40k\nrw=write\nbs=8k\nio_size=20%", bytes, Some(8192));
    check("size=40k\nrw=write\nbs=8k\nio_size=1k", bytes, Some(8192));
    check("size=40k\nrw=write\nbs=8k\nio_size=0%", bytes, None);
    check("size=40k\nrw=write\nbs=8k\nio_size=100%", bytes, None);
}

/// All of a file is all of it, whatever fits into it.
#[test]
fn a_hundred_percent_of_a_size_is_all_of_it() {
    let length = |size: &str| job(&format!("filesize=128k\nbs=3k\nsize={size}")).targets[0].length;
    assert_eq!(length("100%"), Some(Bytes::kib(128)));
    assert_eq!(length("50%"), Some(Bytes::kib(63)));
}

#[test]
fn parts_of_files_that_exist() {
    let mut files = Memory::default();
    files
        .statuses
        .insert("big".to_owned(), FileStatus::Regular(Bytes::mib(10)));
    files.statuses.insert(
        "/dev/here".to_owned(),
        FileStatus::Special(Some(Bytes::gib(1))),
    );
    let target = |arguments: &[&str]| {
        let input = read_in(&files, arguments).unwrap_or_else(|errors| panic!("{errors}"));
        input.workload.stages[0].jobs[0].targets[0].clone()
    };
    assert_eq!(target(&["--name=a", "--filename=big"]).length, None);
    let half = target(&["--name=a", "--filename=big", "--size=50%"]);
    assert_eq!(half.length, Some(Bytes::mib(5)));
    // A file in the range of sizes keeps its own; one outside it gets another.
    let within = target(&["--name=a", "--filename=big", "--filesize=8m-12m"]);
    assert_eq!(within.length, Some(Bytes::mib(10)));
    let outside = target(&["--name=a", "--filename=big", "--filesize=64k-1m"]);
    assert!(outside.length.unwrap() <= Bytes::mib(1));
    let end = target(&["--name=a", "--filename=big", "--offset=50%", "--size=100%"]);
    assert_eq!((end.offset, end.length), (Bytes::mib(5), None));
    assert_eq!(target(&["--name=/dev/here"]).place.path(), "/dev/here");
    // A device of a design need not exist on this machine.
    assert_eq!(target(&["--name=a", "--filename=/dev/sdz"]).length, None);
}

#[test]
fn files_may_add_up_to_more_than_can_be_counted() {
    let options = ["--name=a", "--filesize=4000p", "--nrfiles=9", "--size=1g"];
    let input = read_in(&Memory::default(), &options).unwrap();
    let job = &input.workload.stages[0].jobs[0];
    assert_eq!(job.targets.len(), 9);
    assert_eq!(job.limits.bytes, Some(Bytes::gib(1)));
}

/// fio draws a size again for as long as it does not fit.
#[test]
fn sizes_that_fit_into_no_file_never_come() {
    let largest = |job: &Job| job.block.largest(job.mix).get();
    let files = "rw=randrw\nnrfiles=2\nfilesize=16k";
    for (sizes, expected) in [
        ("bsrange=2k-64k", 16 << 10),
        ("bsrange=2k-8k", 8 << 10),
        ("bssplit=4k/50:8k/25:64k/25", 8 << 10),
        ("bs=4k,64k", 64 << 10),
        // What has no share is no size that fits.
        ("bssplit=4k/0:64k/100", 64 << 10),
    ] {
        check(&format!("{files}\n{sizes}"), largest, expected);
    }
    let warned = ["job `j`: sizes of I/O above 16 KiB do not fit into its files: they never come"];
    check_warning(&format!("{files}\nbsrange=2k-64k"), &warned);
    check_warning(&format!("{files}\nbsrange=2k-8k"), &[]);
}

#[test]
fn a_file_that_no_engine_opens_has_no_end_to_append_at() {
    let job = "[j]\nioengine=null\nrw=write\nfile_append=1\n";
    let message = "job `j`: no file is opened, and so there is no end to append at";
    check_error(&format!("{job}filesize=64k\n"), &[message]);
    assert!(read_text(&format!("{job}size=64k\n")).is_ok());
}
