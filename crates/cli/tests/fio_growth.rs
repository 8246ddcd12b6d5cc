//! `fathom fio` writes a missing file first, as Debian's fio does: nothing is laid out for a job that only writes.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;

use fathom_rawio::{ExtentShares, OpenHow, extent_shares, open};
use fathom_units::Bytes;
use serde_json::Value;

const MODES: [&str; 7] = ["native", "none", "posix", "keep", "truncate", "0", "1"];
/// Bytes that a process may write beside what its job does: the file system's own.
const BESIDE: u64 = 1 << 20;

/// Size, allocated bytes, and what of the first 16 MiB holds data, of `file.dat`.
fn found(folder: &Path) -> (u64, u64, ExtentShares) {
    let path = folder.join("file.dat");
    let metadata = path.metadata().unwrap();
    let file = open(&path, OpenHow::LOOK).unwrap();
    file.sync_all().unwrap();
    let shares = extent_shares(&file, Bytes::ZERO, Bytes::mib(16)).unwrap();
    (metadata.len(), metadata.blocks() * 512, shares)
}

fn document(mut command: Command) -> Value {
    let output = command.output().unwrap();
    let (stdout, stderr) = (&output.stdout, &output.stderr);
    let (stdout, stderr) = (
        String::from_utf8_lossy(stdout),
        String::from_utf8_lossy(stderr),
    );
    assert!(output.status.success(), "{command:?}\n{stdout}\n{stderr}");
    let from = stdout.find('{').unwrap_or(0);
    serde_json::from_str(&stdout[from..]).unwrap_or_else(|error| panic!("{error}\n{stdout}"))
}

/// Runs the words as ours and as fio's, each in a folder of its own; in one with a file of `has` bytes of data.
fn both(words: &str, has: usize) -> [(tempfile::TempDir, Value); 2] {
    let list = "--output-format=json --filename=file.dat --size=16m";
    let list: Vec<&str> = list
        .split_whitespace()
        .chain(words.split_whitespace())
        .collect();
    [false, true].map(|theirs| {
        let folder = support::disk_folder();
        if has > 0 {
            std::fs::write(folder.path().join("file.dat"), vec![7; has]).unwrap();
        }
        let mut command = support::fio(folder.path(), theirs);
        command.args(&list);
        let document = document(command);
        (folder, document)
    })
}

/// Both leave a file of the same size, with as much allocated and as much of it written.
#[track_caller]
fn alike(words: &str, has: usize) {
    let [ours, theirs] = both(words, has);
    let (ours, theirs) = (found(ours.0.path()), found(theirs.0.path()));
    assert_eq!(ours.0, theirs.0, "size after fio {words}");
    assert_eq!(ours.2, theirs.2, "extents after fio {words}");
    // The map of extents itself may take a block more.
    assert!(
        ours.1.abs_diff(theirs.1) <= 64 << 10,
        "{} and {} bytes allocated after fio {words}",
        ours.1,
        theirs.1
    );
}

#[test]
fn a_few_writes_leave_what_fio_leaves() {
    for mode in MODES {
        for job in [
            "--rw=write --bs=4k --direct=1 --ioengine=libaio --iodepth=4",
            "--rw=write --bs=64k --offset=1m",
        ] {
            alike(
                &format!("--name=x --number_ios=8 --fallocate={mode} {job}"),
                0,
            );
        }
    }
    for words in [
        // fio's default.
        "--rw=randwrite --bs=4k --direct=1",
        "--rw=randwrite --bs=4k --direct=1 --overwrite=1",
        "--rw=randwrite --bs=4k --ioengine=mmap",
        "--rw=randrw --bs=4k --direct=1",
        "--rw=write --bs=4k --create_on_open=1",
        "--rw=write --bs=4k --create_on_open=1 --overwrite=1",
    ] {
        alike(&format!("--name=x --number_ios=8 {words}"), 0);
    }
    // What is long enough is written in place.
    alike("--name=x --number_ios=8 --rw=write --bs=4k", 16 << 20);
    // Only what is written counts, whatever is reserved.
    alike("--name=x --rw=write --bs=4k --create_only=1", 0);
}

/// The bytes that a process of ours has had written to disk by the end of its job.
fn written(words: &str) -> u64 {
    let folder = support::disk_folder();
    let mut command = support::fathom(folder.path());
    command
        .args(["fio", "--name=x", "--filename=file.dat", "--size=16m"])
        .args(["--direct=1", "--bs=64k", "--output-format=json"])
        .arg("--exec_postrun=cat /proc/$PPID/io")
        .args(words.split_whitespace());
    document(command);
    let text = std::fs::read_to_string(folder.path().join("x.postrun.txt")).unwrap();
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("write_bytes: "));
    line.unwrap().parse().unwrap()
}

#[test]
fn a_new_file_is_written_once() {
    for engine in ["io_uring", "libaio", "psync"] {
        for mode in ["native", "none"] {
            let words = format!("--rw=write --ioengine={engine} --fallocate={mode}");
            let bytes = written(&words);
            let most = (16 << 20) + BESIDE;
            assert!((16 << 20..most).contains(&bytes), "{words}: {bytes}");
        }
    }
    let bytes = written("--rw=write --overwrite=1");
    assert!(bytes >= 32 << 20, "laid out, then written: {bytes}");
    let bytes = written("--rw=randwrite --number_ios=4");
    assert!(bytes < BESIDE, "a few writes are a few writes: {bytes}");
}

/// Reads and writes of each job, and its error.
fn counts(document: &Value) -> Vec<(u64, u64, i64)> {
    let jobs = document["jobs"].as_array().unwrap().iter();
    jobs.map(|job| {
        let ios = |way: &str| job[way]["total_ios"].as_u64().unwrap();
        (ios("read"), ios("write"), job["error"].as_i64().unwrap())
    })
    .collect()
}

#[test]
fn what_was_written_is_read_and_checked_in_every_mode() {
    for mode in MODES {
        for jobs in [
            "--bs=64k --direct=1 --name=w --rw=write --name=r --stonewall --rw=read",
            "--bs=64k --name=w --rw=randwrite --name=r --stonewall --rw=randread",
            "--bs=4k --name=v --rw=write --verify=crc32c",
            "--bs=4k --direct=1 --ioengine=libaio --iodepth=8 --name=v --rw=randwrite --verify=md5",
            "--bs=16k --name=v --rw=randwrite --verify=crc32c --number_ios=20",
            "--bs=64k --direct=1 --name=w --rw=write --name=r --rw=randread",
            "--bs=64k --name=w --rw=write --numjobs=2",
        ] {
            let words = format!("--fallocate={mode} {jobs}");
            let [ours, theirs] = both(&words, 0);
            assert_eq!(counts(&ours.1), counts(&theirs.1), "fio {words}");
        }
    }
}

#[test]
fn a_reader_of_what_was_not_written_is_told() {
    let folder = support::disk_folder();
    let words = "run fio --filename=file.dat --size=16m --bs=64k --direct=1 --name=w --rw=write \
                 --number_ios=64 --name=r --stonewall --rw=read";
    let words: Vec<&str> = words.split_whitespace().collect();
    let (stdout, stderr) = support::expect_code(folder.path(), &words, 0);
    assert!(
        stdout.contains("FAIL unwritten-extents: 75 % of file.dat was never written"),
        "{stdout}"
    );
    assert!(
        stderr.contains("75 % of `file.dat` holds no data"),
        "{stderr}"
    );
}

#[test]
fn space_that_is_missing_is_told_before_any_write() {
    let folder = support::disk_folder();
    let words = ["fio", "--name=x", "--filename=file.dat", "--rw=write"];
    let words: Vec<&str> = words.into_iter().chain(["--size=1p"]).collect();
    let output = support::run(folder.path(), &words);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(
        stderr.contains("the files to be written there need 1 PiB"),
        "{stderr}"
    );
    assert!(!folder.path().join("file.dat").exists());
}

#[test]
fn files_of_a_range_of_sizes_are_used_whole_by_both() {
    let folder = support::disk_folder();
    let folder = folder.path();
    std::fs::write(folder.join("x.0.1"), vec![7; 100 << 10]).unwrap();
    let list = "--name=x --rw=read --bs=4k --nrfiles=8 --filesize=64k-1m --output-format=json";
    let sizes = || -> Vec<u64> {
        let size = |file| folder.join(format!("x.0.{file}")).metadata().unwrap().len();
        (0..8).map(size).collect()
    };
    // fio's run and the second of ours find the files of the first.
    let found = [false, true, false].map(|theirs| {
        let mut command = support::fio(folder, theirs);
        command.args(list.split_whitespace());
        let document = document(command);
        (sizes(), document["jobs"][0]["read"]["io_bytes"].clone())
    });
    let (sizes, bytes) = &found[0];
    assert!(sizes.iter().all(|size| (64 << 10..=1 << 20).contains(size)));
    assert_eq!(sizes[1], 100 << 10, "one that is there keeps its size");
    assert!(sizes.iter().filter(|size| **size != sizes[0]).count() > 4);
    assert_eq!(bytes.as_u64(), Some(sizes.iter().sum()));
    assert_eq!(found[1], found[0], "fio's");
    assert_eq!(found[2], found[0], "ours once more");
}

/// Lines of what is laid out, as ours and as fio's, in the order in which they stand.
#[test]
fn the_text_tells_what_is_laid_out() {
    let lines = |theirs: bool, words: &str| -> Vec<String> {
        let folder = support::disk_folder();
        std::fs::write(folder.path().join("there"), vec![1; 65_536]).unwrap();
        let mut command = support::fio(folder.path(), theirs);
        let output = command.args(words.split(' ')).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{words}: {text}");
        let told = text.lines().filter(|line| line.contains("Laying out"));
        told.map(str::to_owned).collect()
    };
    for (words, told) in [
        ("--name=a --size=4m --rw=write", 1),
        ("--name=a --size=4m --rw=read", 1),
        ("--name=a --size=64k --filename=there", 0),
        (
            "--name=a --size=1m --offset=1m --filename=there --rw=write",
            1,
        ),
        (
            "--name=a --size=4m --nrfiles=3 --rw=write --fallocate=none",
            1,
        ),
        (
            "--size=2m --filename=x --name=a --rw=write --name=b --rw=read --stonewall",
            1,
        ),
        (
            "--size=2m --filename=x --fallocate=none --name=a --rw=write --name=b --rw=read --stonewall",
            2,
        ),
        ("--name=a --size=1m --numjobs=2", 2),
        ("--name=a --size=1m --ioengine=null", 0),
        ("--name=a --size=1m --rw=write --create_on_open=1", 0),
    ] {
        let mine = lines(false, words);
        assert_eq!(mine, lines(true, words), "{words}");
        assert_eq!(mine.len(), told, "{words}");
    }
    let folder = support::disk_folder();
    let words = ["--name=a", "--size=1m", "--output-format=json"];
    let json = document({
        let mut command = support::fio(folder.path(), false);
        command.args(words);
        command
    });
    assert_eq!(json["jobs"][0]["read"]["total_ios"], 256);
}
