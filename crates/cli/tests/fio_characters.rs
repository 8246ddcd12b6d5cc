//! `fathom fio` reads and writes character devices that store nothing, as fio does.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use serde_json::Value;

/// Exit code, standard error, and error, I/Os and bytes of the job.
fn said(theirs: bool, words: &str) -> (Option<i32>, String, Option<[u64; 5]>) {
    let folder = support::disk_folder();
    let mut command = support::fio(folder.path(), theirs);
    command.args(["--name=a", "--output-format=json"]);
    command.args(words.split_whitespace());
    let output = command.output().unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let document = stdout.find('{').map(|from| &stdout[from..]);
    let document: Option<Value> = document.map(|text| serde_json::from_str(text).unwrap());
    let figures = document.map(|document| {
        let job = &document["jobs"][0];
        let number = |value: &Value| value.as_u64().unwrap();
        let [read, write] = ["read", "write"].map(|way| &job[way]);
        [
            number(&job["error"]),
            number(&read["total_ios"]),
            number(&read["io_bytes"]),
            number(&write["total_ios"]),
            number(&write["io_bytes"]),
        ]
    });
    (output.status.code(), stderr, figures)
}

/// Both do the same, and end well.
#[track_caller]
fn alike(words: &str) {
    let (ours, theirs) = (said(false, words), said(true, words));
    assert_eq!(ours.0, Some(0), "fio {words}\n{}", ours.1);
    assert_eq!(
        (ours.0, ours.2),
        (theirs.0, theirs.2),
        "fio {words}\n{}",
        ours.1
    );
    assert!(
        ours.1.contains("is a character device"),
        "fio {words}\n{}",
        ours.1
    );
}

#[test]
fn every_engine_does_what_fio_does() {
    for engine in [
        "sync", "psync", "vsync", "pvsync", "pvsync2", "libaio", "io_uring", "posixaio",
    ] {
        let depth = if engine.contains("sync") { 1 } else { 8 };
        for job in [
            "--filename=/dev/zero --rw=read",
            "--filename=/dev/zero --rw=randread --norandommap",
            "--filename=/dev/null --rw=write",
            "--filename=/dev/null --rw=randwrite --unlink=1 --fadvise_hint=0",
        ] {
            alike(&format!(
                "{job} --size=1m --ioengine={engine} --iodepth={depth}"
            ));
        }
    }
    alike("--filename=/dev/null --rw=write --size=1m --bs=64k --numjobs=2 --group_reporting");
    alike("--filename=/dev/null:/dev/zero --rw=write --size=1m --write_hint=short");
    alike("--filename=/dev/zero --rw=read --size=64k --loops=3");
    assert!(
        std::path::Path::new("/dev/null").exists(),
        "`unlink` removes regular files alone"
    );
}

/// Both refuse it; ours says why.
#[track_caller]
fn refused(words: &str, why: &str) {
    let (ours, theirs) = (said(false, words), said(true, words));
    assert_ne!(theirs.0, Some(0), "fio {words}");
    assert_ne!(ours.0, Some(0), "fio {words}\n{}", ours.1);
    assert!(ours.1.contains(why), "fio {words}\n{}", ours.1);
}

#[test]
fn what_they_cannot_do_is_refused() {
    refused(
        "--filename=/dev/zero --rw=read",
        "you need to specify size=",
    );
    refused(
        "--filename=/dev/null --rw=write",
        "you need to specify size=",
    );
    refused(
        "--filename=/dev/zero --rw=read --size=1m --direct=1",
        "direct I/O on `/dev/zero`",
    );
    refused(
        "--filename=/dev/null --rw=write --size=1m --ioengine=mmap",
        "could be mapped",
    );
    refused(
        "--filename=/dev/null --rw=trim --size=1m",
        "only block devices can be trimmed",
    );
    refused(
        "--filename=/dev/full --rw=write --size=1m",
        "No space left on device",
    );
    refused(
        "--filename=/dev/null --rw=read --size=1m --ioengine=psync",
        "the end of the target was reached",
    );
}

/// Other character devices may do anything when they are written to.
#[test]
fn other_character_devices_are_refused() {
    const EINVAL: u64 = 22;
    for words in [
        "--filename=/dev/tty --rw=write --size=4k",
        "--filename=/dev/ptmx --rw=read --size=4k",
    ] {
        let (code, stderr, figures) = said(false, words);
        let nothing = [EINVAL, 0, 0, 0, 0];
        assert_eq!(
            (code, figures),
            (Some(1), Some(nothing)),
            "{words}\n{stderr}"
        );
        let why = "it is neither a regular file nor a block device";
        assert!(stderr.contains(why), "{words}\n{stderr}");
    }
}
