//! What is refused with its place and a remedy, and what is taken with a warning.

use super::*;

#[test]
fn traps_are_told() {
    check_warning("bs=4k", &[]);
    check_warning(
        "bs=4KiB",
        &["`bs=4KiB` is read as 4,000 bytes, as fio does"],
    );
    check_warning(
        "bs = 512k",
        &["`bs= 512k` is read as 512 bytes, as fio does"],
    );
    check_warning(
        "runtime=5min",
        &["`runtime=5min` is read as 5 µs, as fio does"],
    );
    check_warning(
        "runtime=00:01",
        &["`runtime=00:01` is read as 0 ns, as fio does"],
    );
    check_warning(
        "rw=write\nthinktime=5-7",
        &["`thinktime=5-7` is read as 5 µs, as fio does"],
    );
    for (option, expected) in [
        (
            "log_entries=1023",
            "`log_entries=1023` is out of range: 1024 to 1,048,576",
        ),
        (
            "log_compression=0",
            "`log_compression=0` is out of range: 1024 to 536,870,912",
        ),
    ] {
        check_error(&format!("[j]\nsize=1m\n{option}\n"), &[expected]);
    }
    check_warning("log_entries=1024\nlog_compression=512m", &[]);
    let drawn = "job `j`: `blockalign` other than the block size turns off the random map";
    check_warning("rw=randread\nba=8k", &[drawn]);
    check_warning("rw=randread\nba=4k", &[]);
    check_warning("rw=randread\nba=8k\nnorandommap", &[]);
    check_warning("rw=read\nba=8k", &[]);
    check_warning("block=8k", &["`block` has no effect in a job, in fio too"]);
    check_warning("kb_base=1000\nbs=4KiB", &[]);
    check_warning("iodepth=8\nioengine=null", &[]);
    check_warning(
        "iodepth=8",
        &["job `j`: `iodepth=8` has no effect with the synchronous engine `psync`"],
    );
    check_warning(
        "time_based",
        &["job `j`: `time_based` requires a runtime, and has no effect without one"],
    );
}

#[test]
fn what_to_write_is_told() {
    let hint = |option: &str| {
        let refused = read_text(&format!("[j]\nsize=1m\n{option}\n")).unwrap_err();
        refused.0[0].hint.clone().unwrap_or_default()
    };
    assert!(hint("numjobs=many").contains("such as `8`"));
    let words = ["--name=x", "--size=1m", "--sweep", "iodepth=1,2"];
    let refused = read_in(&Memory::default(), &words).unwrap_err();
    let told = refused.0[0].hint.as_deref();
    assert!(
        told.is_some_and(|hint| hint.contains("`fathom run --sweep")),
        "{told:?}"
    );
    assert!(hint("size=much").contains("such as `64k`"));
    assert!(hint("runtime=long").contains("such as `90s`"));
}

#[test]
fn all_errors_come_at_once_with_their_place() {
    let text = "[j]\nrw=randreed\nfrobnicate=1\niodepth=many\ngpu_dev_id=1\nmmap=1\n";
    let found = read_text(text).unwrap_err();
    let shown: Vec<_> = found
        .0
        .iter()
        .map(|it| {
            let place = it.location.as_ref().unwrap();
            (
                it.message.as_str(),
                place.line,
                &place.text[place.span.clone()],
            )
        })
        .collect();
    let expected = [
        ("`randreed` is no value of `rw`", 2, "randreed"),
        ("fio has no option `frobnicate`", 3, "frobnicate=1"),
        ("`many` is no number for `iodepth`", 4, "many"),
        (
            "option `gpu_dev_id` is known to fio, but not built yet",
            5,
            "1",
        ),
        ("fio has no option `mmap`", 6, "mmap=1"),
    ];
    assert_eq!(shown, expected);
    assert_eq!(found.0[0].hint.as_deref(), Some("did you mean `randread`?"));
}

#[test]
fn numbers_that_fio_refuses_are_refused() {
    check_error(
        "[j]\nsize=1m\ndirect=0x10\n",
        &["`direct=0x10` is out of range: 0 or 1"],
    );
    for option in [
        "bs=8z",
        "iodepth=1z",
        "runtime=1z",
        "startdelay=1z",
        "nice=1z",
    ] {
        let text = format!("[j]\nsize=1m\n{option}\n");
        let expected = format!("`{option}`: `z` counts zones, which this option has none of");
        check_error(&text, &[&expected]);
    }
}

#[test]
fn files_that_hold_no_jobs_are_refused() {
    check_error(
        "\u{feff}[j]\nsize=1m\n",
        &["the file begins with a byte order mark, which is part of its first line"],
    );
    check_error(
        "[j]\nsize=1m\n\0\n\0\n",
        &["`job.fio` is no text: its line 3 holds a zero byte"],
    );
    check_error("[global]\nrw=read\n", &["no jobs defined"]);
    let mut files = Memory::default();
    let jobs = "[j]\nsize=1m\n".to_owned();
    files.texts.insert("job.fio".to_owned(), jobs);
    for (words, hint) in [
        (
            &["--section=k"][..],
            "no job is called `k`, as `--section` asks for",
        ),
        (
            &["--section=k", "--section=l"],
            "no job is called one of `k`, `l`, as `--section` asks for",
        ),
    ] {
        let errors = read_in(&files, &[words, &["job.fio"]].concat());
        let hints = errors.map_or_else(|it| it.0[0].hint.clone(), |_| None);
        assert_eq!(hints.as_deref(), Some(hint), "{words:?}");
    }
    check_error("\n \n", &["`job.fio` is empty"]);
    check_error("; a\n# b\n", &["`job.fio` holds nothing but comments"]);
    check_error(
        "[j]\nsize=1m\ninclude absent\n",
        &["unable to open included file `absent`: entity not found"],
    );
}

#[test]
fn what_fio_refuses_is_refused() {
    check_error(
        "bs=4k\n[j]\nsize=1m\n",
        &["option `bs=4k` stands outside of a [section]"],
    );
    check_error("[j]\nrw=read\n", &["job `j`: you need to specify size="]);
    check_error(
        "[j]\nfilesize=8k-4k\n",
        &["`filesize` ends below its beginning"],
    );
    check_error(
        "[j]\nioengine=null\n",
        &["job `j`: you need to specify size="],
    );
    check_error(
        "[j]\nsize=1m\nrandom_distribution=gauss\n",
        &["`gauss` is no value of `random_distribution`"],
    );
    check_error(
        "[j]\nsize=1k\n",
        &["job `j`: size too small: 1024 bytes, less than one block of 4096"],
    );
    check_error(
        "[j]\nsize=1m\nbs=${UNSET}\n",
        &["option `bs` has an empty value"],
    );
    check_error(
        "[j]\nsize=1m\ndirect\n",
        &["option `direct` requires a value"],
    );
    check_error(
        "[j]\nsize=1m\ndirect=2\n",
        &["`direct=2` is out of range: 0 or 1"],
    );
    check_error("[j]\nsize=1m\nRW=read\n", &["fio has no option `RW`"]);
    check_error(
        "[j]\nsize=1m\nrwmixread=101\n",
        &["`rwmixread=101` is out of range: 0 to 100"],
    );
    check_error(
        "[j]\nsize=1m\nrate=1m\nrate_iops=9\n",
        &["job `j`: `rate` and `rate_iops` are mutually exclusive"],
    );
    check_error(
        "[j]\nsize=1m\nioengine=libaio\nfixedbufs=1\n",
        &["engine `libaio` has no option `fixedbufs`"],
    );
    check_error(
        "[j]\nsize=1m\nioengine=nfs\nnfs_url=nfs://host\n",
        &["engine `nfs` is not carried: it needs libnfs; mount the export and name a file there"],
    );
    check_error(
        "[j]\nsize=1m\nioengine=nul\n",
        &["`nul` is no value of `ioengine`"],
    );
    check_error(
        "[j]\nsize=1m\nnumjobs=5000\n",
        &["more than 4096 jobs, clones counted"],
    );
    let long = format!("[j]\nsize=1m\n{}\n", "a".repeat(9000));
    check_error(&long, &["the line is longer than 8 KiB"]);
}

#[test]
fn exports_need_a_uri_and_no_files() {
    check_error(
        "[j]\nsize=1m\nioengine=nbd\n",
        &["job `j`: the engine `nbd` needs the URI of an export"],
    );
    check_error(
        "[j]\nsize=1m\nioengine=nbd\nuri=nbd://host\nnrfiles=2\n",
        &["job `j`: the engine `nbd` has one export and no files, and `nrfiles` asks for more"],
    );
    check_error(
        "[j]\nioengine=psync\nuri=nbd://host\n",
        &["engine `psync` has no option `uri`"],
    );
}

#[test]
fn defaults_of_options_that_are_not_built_are_taken() {
    for options in [
        "verify=0",
        "zonemode=none",
        "thinktime=0",
        "mem=malloc",
        "io_submit_mode=inline",
    ] {
        check(options, |job| job.depth, 1);
    }
}

/// A row that says "built" and that nothing reads would panic.
#[test]
fn every_built_option_is_read() {
    let built = table::rows().filter(|row| row.support == table::Support::Built);
    let mut count = 0;
    for row in built {
        for value in ["1", "none", "4k/50:8k"] {
            let text = format!("[j]\nsize=1m\n{}={value}\n", row.name);
            let unknown = |it: &Diagnostics| it.to_string().contains("fio has no option");
            assert!(!read_text(&text).is_err_and(|it| unknown(&it)), "{text}");
        }
        count += 1;
    }
    assert!(count >= 55, "{count} options are built");
}
