//! `fathom fio`: what is written, and where, as files and logs show it.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

/// Runs `fathom fio` with `--name=x` and these arguments; gives the JSON document.
#[track_caller]
fn fio(folder: &Path, arguments: &[&str]) -> Value {
    let mut command = support::fathom(folder);
    command.args(["fio", "--name=x", "--output-format=json"]);
    let output = command.args(arguments).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {stderr}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn ios(document: &Value, way: &str) -> u64 {
    document["jobs"][0][way]["total_ios"].as_u64().unwrap()
}

/// Direction, size and offset of each line of a log.
fn log(path: &Path) -> Vec<(u64, u64, u64)> {
    let text = std::fs::read_to_string(path).unwrap();
    let line = |line: &str| {
        let numbers: Vec<u64> = line.split(", ").filter_map(|it| it.parse().ok()).collect();
        (numbers[2], numbers[3], numbers[4])
    };
    text.lines().map(line).collect()
}

const LOGGED: [&str; 4] = [
    "--ioengine=null",
    "--write_bw_log=x",
    "--log_offset=1",
    "--log_avg_msec=0",
];

/// The I/Os of a job on the null engine, in order.
#[track_caller]
fn issued(options: &[&str]) -> Vec<(u64, u64, u64)> {
    let folder = tempfile::tempdir().unwrap();
    let mut arguments = LOGGED.to_vec();
    arguments.extend(options);
    let mut command = support::fathom(folder.path());
    command.current_dir(folder.path()).args(["fio", "--name=x"]);
    let output = command.args(&arguments).output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    log(&folder.path().join("x_bw.1.log"))
}

#[test]
fn patterns_of_files_are_written() {
    let folder = support::disk_folder();
    let pattern: Vec<u8> = (0..10_000u32)
        .map(|index| (index * 7 % 251) as u8)
        .collect();
    let source = folder.path().join("pattern");
    std::fs::write(&source, &pattern).unwrap();
    let target = folder.path().join("target");
    for engine in ["psync", "io_uring", "libaio"] {
        let arguments = [
            &format!("--filename={}", target.display()),
            &format!("--buffer_pattern='{}'", source.display()),
            &format!("--ioengine={engine}"),
            "--rw=randwrite",
            "--bs=16k",
            "--size=64k",
        ];
        fio(folder.path(), &arguments);
        let written = std::fs::read(&target).unwrap();
        assert_eq!(written.len(), 65_536);
        for block in written.chunks(16_384) {
            assert_eq!(block[..10_000], pattern, "{engine}");
            assert_eq!(block[10_000..], pattern[..6_384], "{engine}");
        }
        std::fs::remove_file(&target).unwrap();
    }
}

#[test]
fn duplicates_are_written_as_often_as_asked() {
    let folder = support::disk_folder();
    let target = folder.path().join("target");
    let arguments = [
        &format!("--filename={}", target.display()),
        "--ioengine=io_uring",
        "--iodepth=8",
        "--rw=write",
        "--size=4m",
        "--dedupe_percentage=75",
        "--dedupe_mode=working_set",
        "--dedupe_working_set_percentage=1",
        "--buffer_compress_percentage=50",
    ];
    fio(folder.path(), &arguments);
    let written = std::fs::read(&target).unwrap();
    let distinct: BTreeSet<&[u8]> = written.chunks(4096).collect();
    // A quarter of 1,024 blocks, and a set of ten.
    assert!(distinct.len().abs_diff(266) < 60, "{}", distinct.len());
    for piece in written.chunks(512) {
        assert!(
            piece[256..].iter().all(|byte| *byte == 0)
                && piece[..256].iter().any(|byte| *byte != 0)
        );
    }
}

#[test]
fn appended_files_keep_what_they_had() {
    let folder = support::disk_folder();
    let target = folder.path().join("target");
    std::fs::write(&target, vec![7; 100_000]).unwrap();
    let filename = format!("--filename={}", target.display());
    let arguments = [
        &filename,
        "--rw=write",
        "--size=64k",
        "--file_append=1",
        "--buffer_pattern=0x5a",
    ];
    let document = fio(folder.path(), &arguments);
    assert_eq!(ios(&document, "write"), 16);
    let written = std::fs::read(&target).unwrap();
    assert_eq!(written.len(), 165_536);
    assert!(written[..100_000].iter().all(|byte| *byte == 7));
    assert!(written[100_000..].iter().all(|byte| *byte == 0x5a));
}

#[test]
fn trims_come_before_the_writes_of_the_same_block() {
    for options in [
        ["--rw=trimwrite", "--size=1m"],
        ["--rw=randtrimwrite", "--bsrange=512-4k"],
        ["--rw=randtrimwrite", "--bssplit=512/25:1k/:2k/:4k/"],
    ] {
        let ios = issued(&[options[0], options[1], "--size=1m"]);
        let mut bytes = 0;
        let mut offsets = BTreeSet::new();
        for pair in ios.chunks(2) {
            let [(2, size, offset), (1, again, same)] = pair else {
                panic!("{options:?}: {pair:?}");
            };
            assert_eq!((size, offset), (again, same), "{options:?}");
            assert!(offsets.insert(*offset), "{offset} twice");
            bytes += size;
        }
        assert_eq!(bytes, 1 << 20, "{options:?}");
    }
}

#[test]
fn trims_take_no_buffers_whatever_their_length() {
    // 1,000 buffers of this size would be 2.3 TB.
    let long = ["--rw=trim", "--bs=2300m", "--iodepth=1000", "--size=100g"];
    let trims = issued(&long);
    assert_eq!(trims.len(), 44);
    for (index, trim) in trims.iter().enumerate() {
        assert_eq!(*trim, (2, 2300 << 20, index as u64 * (2300 << 20)));
    }
    let folder = tempfile::tempdir().unwrap();
    let mut command = support::fathom(folder.path());
    command.args(["fio", "--name=x", "--ioengine=null", "--rw=read"]);
    let output = command.args(["--bs=2g", "--size=100g"]).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    let expected = "error: job `x`: a block of 2 GiB is too large\n  hint: read and write blocks of at most 1 GiB\n";
    assert_eq!(stderr, expected);
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn sequences_are_issued_as_written() {
    let ios = issued(&[
        "--rw=randread",
        "--size=48k",
        "--io_size=24k",
        "--random_distribution=sequence:2,0,1",
        "--random_sequence_stride=1",
    ]);
    let blocks: Vec<u64> = ios.iter().map(|(_, _, offset)| offset / 4096).collect();
    assert_eq!(blocks, [2, 0, 1, 5, 3, 4]);
}

#[test]
fn equal_jobs_repeat_unless_asked_not_to() {
    let same = [
        "--rw=randread",
        "--size=1m",
        "--random_distribution=zipf:1.1",
    ];
    assert_eq!(issued(&same), issued(&same));
    let other = [&same[..], &["--randrepeat=0"]].concat();
    assert_ne!(issued(&other), issued(&other));
    let seeded = [&same[..], &["--randseed=99"]].concat();
    assert_ne!(issued(&seeded), issued(&same));
    assert_eq!(issued(&seeded), issued(&seeded));
}

#[test]
fn many_files_and_huge_ones_are_walked() {
    let folder = tempfile::tempdir().unwrap();
    let many = [
        "--ioengine=null",
        "--rw=randread",
        "--nrfiles=10000",
        "--size=80m",
    ];
    // The first file is a block longer than the others, as fio divides a size among files.
    assert_eq!(ios(&fio(folder.path(), &many), "read"), 20_001);
    let huge = [
        "--ioengine=null",
        "--rw=randread",
        "--size=16t",
        "--number_ios=100000",
    ];
    assert_eq!(ios(&fio(folder.path(), &huge), "read"), 100_000);
}
