//! `fathom fio` with `verify=`: as many reads and writes as Debian's fio does, and no wrong block unseen.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// The document among what a fio prints.
fn document(output: &Output) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    let from = text.find('{').unwrap_or(0);
    serde_json::from_str(&text[from..]).unwrap_or_else(|error| {
        let stderr = String::from_utf8_lossy(&output.stderr);
        panic!("{error}\n{text}\n{stderr}")
    })
}

/// Name, error, reads and writes of each job.
fn counts(document: &Value) -> Vec<(String, i64, u64, u64)> {
    let jobs = document["jobs"].as_array().unwrap().iter();
    jobs.map(|job| {
        let ios = |way: &str| job[way]["total_ios"].as_u64().unwrap();
        let name = job["jobname"].as_str().unwrap().to_owned();
        (
            name,
            job["error"].as_i64().unwrap(),
            ios("read"),
            ios("write"),
        )
    })
    .collect()
}

fn ours(folder: &Path, words: &str) -> Output {
    let words = words.split_whitespace();
    let mut command = support::fathom(folder);
    command.args(["fio", "--output-format=json"]).args(words);
    command.output().unwrap()
}

/// What Debian's fio says of the same.
fn theirs(folder: &Path, words: &str) -> Output {
    let mut command = support::fio(folder, true);
    command.arg("--output-format=json");
    command.args(words.split_whitespace()).output().unwrap()
}

/// Runs both, each in a folder of its own, and compares exit codes and counts.
#[track_caller]
fn same_counts(words: &str) {
    let folder = support::disk_folder();
    let mine = ours(folder.path(), words);
    let other = support::disk_folder();
    let theirs = theirs(other.path(), words);
    assert_eq!(
        counts(&document(&mine)),
        counts(&document(&theirs)),
        "fio {words}"
    );
    assert_eq!(
        mine.status.success(),
        theirs.status.success(),
        "fio {words}"
    );
    let states = |names: Vec<String>| -> Vec<String> {
        let is_state = |name: &String| name.contains("-verify.state");
        names.into_iter().filter(is_state).collect()
    };
    assert_eq!(
        states(support::names_in(folder.path())),
        states(support::names_in(other.path())),
        "fio {words}"
    );
}

#[test]
fn counts_are_those_of_fio() {
    let base = "--name=j --filename=f --size=256k";
    for engine in [
        "--ioengine=psync",
        "--ioengine=libaio --iodepth=8 --direct=1",
        "--ioengine=io_uring --iodepth=4",
    ] {
        for rw in ["--rw=write", "--rw=randwrite"] {
            for rest in [
                "--verify=md5",
                "--verify=crc32c --loops=2",
                "--verify=sha256 --do_verify=0",
                "--verify=crc16 --verify_backlog=8",
                "--verify=xxhash --verify_backlog=8 --verify_backlog_batch=4 --loops=2",
                "--verify=crc64 --io_size=128k",
                "--verify=meta --number_ios=20",
                "--verify=sha1 --verify_interval=512",
                "--verify=null",
                "--verify=crc7 --bs=16k --verify_interval=4k --verify_offset=100",
                "--verify=pattern --verify_pattern=0xdeadbeef%o",
                "--verify=sha3-512 --offset=64k",
            ] {
                same_counts(&format!("{base} {engine} {rw} {rest}"));
            }
        }
        same_counts(&format!(
            "--name=j --nrfiles=4 --size=256k --rw=randwrite --verify=md5 {engine}"
        ));
        same_counts(&format!(
            "--name=j --numjobs=2 --size=256k --rw=write --verify=md5 {engine}"
        ));
    }
}

/// Reads go as fast as they can while writes come at their rate: which comes next follows time, and all writes are checked.
///
/// Where a block is written twice, fio itself now and then calls what it wrote last wrong ("bad header rand_seed").
#[test]
fn a_job_with_a_rate_for_one_direction_is_checked() {
    type Of = fn(&Path, &str) -> Output;
    let (both, ours_alone): ([Of; 2], [Of; 1]) = ([ours, theirs], [ours]);
    for (rest, programs) in [
        ("--rate_iops=,500", both.as_slice()),
        ("--rate_iops=,500 --verify_backlog=4", &both),
        ("--rate=,2m --norandommap", &ours_alone),
    ] {
        let words = format!("--name=j --rw=randrw --size=1m --verify=crc32c {rest}");
        for of in programs {
            let folder = support::disk_folder();
            let output = of(folder.path(), &words);
            let (_, error, reads, writes) = counts(&document(&output)).remove(0);
            assert_eq!(
                (output.status.code(), error),
                (Some(0), 0),
                "{words}: {output:?}"
            );
            assert!(writes > 0 && writes < 100, "{words}: {writes} writes");
            // Reads of the pass and checks together; of what was written twice the last is checked.
            let checks = reads + writes - 256;
            let least = if rest.contains("norandommap") {
                writes / 2
            } else {
                writes
            };
            assert!(
                (least..=writes).contains(&checks),
                "{words}: {checks} of {writes}"
            );
        }
    }
}

/// What a trace wrote last to each place is read back after it, and what is wrong is found.
#[test]
fn what_a_trace_wrote_is_checked() {
    let trace = "fio version 3 iolog\n1 f add\n2 f open\n3 f write 0 4096\n1000 f write 8192 8192\n\
                 2000 f read 0 4096\n3000 f write 4096 4096\n4000 f write 0 4096\n\
                 5000 f write 65536 16384\n6000 f sync 0 0\n7000 f close\n";
    for (checks, rest) in [
        (4, "--verify=crc32c"),
        (
            4,
            "--verify=md5 --verify_interval=1k --ioengine=libaio --iodepth=4",
        ),
        (4, "--verify=sha1 --replay_no_stall=1"),
        (5, "--verify=crc32c --verify_backlog=1"),
        (0, "--verify=crc32c --do_verify=0"),
    ] {
        let folder = support::disk_folder();
        std::fs::write(folder.path().join("trace"), trace).unwrap();
        let output = ours(
            folder.path(),
            &format!("--name=j --read_iolog=trace {rest}"),
        );
        let counted = counts(&document(&output)).remove(0);
        assert_eq!(
            counted,
            ("j".to_owned(), 0, 1 + checks, 5),
            "{rest}: {output:?}"
        );
    }
    // A trace of reads alone checks what is there.
    let folder = support::disk_folder();
    std::fs::write(
        folder.path().join("trace"),
        "fio version 3 iolog\n1 f add\n2 f read 0 4096\n",
    )
    .unwrap();
    std::fs::write(folder.path().join("f"), [7; 4096]).unwrap();
    let output = ours(folder.path(), "--name=j --read_iolog=trace --verify=crc32c");
    assert_eq!(
        counts(&document(&output)),
        [("j".to_owned(), 84, 1, 0)],
        "{output:?}"
    );
}

#[test]
fn a_job_checks_what_another_wrote() {
    let write = "--name=w --filename=f --size=256k --verify=md5 --do_verify=0";
    let then = "--stonewall --filename=f --size=256k --verify=md5";
    same_counts(&format!(
        "{write} --rw=write --name=only {then} --rw=write --verify_only \
         --name=read {then} --rw=read"
    ));
    same_counts(&format!(
        "{write} --rw=randwrite --name=read {then} --rw=randread"
    ));
}

/// Jobs after one that found wrong data run all the same; each that checks it finds it.
#[test]
fn damage_between_two_jobs_is_error_84() {
    let folder = support::disk_folder();
    let check = "--stonewall --filename=f --size=256k --verify=crc32c";
    let words = format!(
        "--name=w --filename=f --size=256k --rw=write --verify=crc32c --do_verify=0 \
         --name=damage --stonewall --filename=f --size=256k --offset=100k --io_size=4 --bs=4 --rw=write \
         --name=read {check} --rw=read --name=only {check} --rw=write --verify_only"
    );
    let output = ours(folder.path(), &words);
    assert_eq!(output.status.code(), Some(2));
    let counts = counts(&document(&output));
    let errors: Vec<_> = counts.iter().map(|(_, error, ..)| *error).collect();
    assert_eq!(errors, [0, 0, 84, 84], "{counts:?}");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let lines: Vec<_> = stderr.lines().collect();
    assert_eq!(lines.len(), 2, "{stderr}");
    for line in lines {
        assert!(line.starts_with("verify: bad header: magic "), "{line}");
        assert!(
            line.contains(" at file f offset 102400, length 4096 "),
            "{line}"
        );
    }
}

#[test]
fn what_is_interrupted_is_checked_as_far_as_it_came() {
    let folder = support::disk_folder();
    let job = "--name=j --filename=f --size=64m --rw=randwrite --verify=md5 --ioengine=libaio \
               --iodepth=8 --bs=4k";
    let mut child = support::fathom(folder.path())
        .args(["fio", "--eta=always", "--eta-newline=1"])
        .args(job.split_whitespace())
        .args(["--do_verify=0", "--rate_iops=2000"])
        .stderr(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // The first line of progress: it writes.
    let mut told = BufReader::new(child.stdout.take().unwrap()).lines();
    for line in told.by_ref() {
        if line.unwrap().contains("Jobs: 1") {
            break;
        }
    }
    support::system("kill", &["-INT", &child.id().to_string()]);
    drop(told);
    assert!(!child.wait().unwrap().success());
    let state = std::fs::read_to_string(folder.path().join("local-j-0-verify.state")).unwrap();
    let numbers = |name: &str| -> Vec<u64> {
        let line = state.lines().find_map(|line| line.strip_prefix(name));
        let words = line.unwrap().split_whitespace();
        words.map(|word| word.parse().unwrap()).collect()
    };
    let written = numbers("writes")[0];
    assert!((1..16384).contains(&written), "{state}");
    // A write that was drawn and never issued ends the check as one on its way does.
    let sure = numbers("unfinished").first().copied().unwrap_or(written);
    assert!(written - sure <= 8, "{state}");
    for mode in ["--verify_only", "--rw=randread"] {
        let words = format!("{job} --verify_state_load=1 --verify_state_save=0 {mode}");
        let output = ours(folder.path(), &words);
        let (_, error, reads, _) = counts(&document(&output)).remove(0);
        assert_eq!((error, reads), (0, sure), "{words}");
    }
}

/// fio's own state is told to be one, where it was a matter of characters.
#[test]
fn a_state_that_fio_saved_is_told_as_such() {
    let folder = support::disk_folder();
    let job = "--name=j --filename=v --size=64k --bs=4k --verify=crc32c";
    let mut theirs = Command::new("fio");
    theirs.args(job.split_whitespace());
    theirs.args(["--rw=randwrite", "--do_verify=0", "--verify_state_save=1"]);
    let saved = theirs.current_dir(folder.path()).output().unwrap();
    assert!(saved.status.success(), "{saved:?}");
    let load = format!("{job} --rw=randwrite --verify_only --verify_state_load=1");
    let output = ours(folder.path(), &load);
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("fio reads its own alone"), "{told}");
    assert!(told.contains("hint: let that job run again"), "{told}");
}

/// Writes that are slowed down to take half a second, and checks that are not.
#[test]
fn each_direction_is_told_by_its_own_time() {
    let job = "--name=j --filename=v --rw=write --bs=64k --size=4m --verify=crc32c";
    for slowed in ["--thinktime=8000", "--rate=8m", "--rate_iops=256 --loops=2"] {
        let words = format!("{job} {slowed}");
        let mine = || {
            let folder = support::disk_folder();
            ours(folder.path(), &words)
        };
        let theirs = || {
            let folder = support::disk_folder();
            let mut theirs = Command::new("fio");
            theirs.arg("--output-format=json");
            theirs.args(words.split_whitespace());
            theirs.current_dir(folder.path()).output().unwrap()
        };
        for output in [&mine as &dyn Fn() -> Output, &theirs] {
            let times = || {
                let document = document(&output());
                let job = &document["jobs"][0];
                let times = ["read", "write"].map(|way| {
                    let runtime = job[way]["runtime"].as_u64().unwrap();
                    let bytes = job[way]["io_bytes"].as_u64().unwrap();
                    let rate = job[way]["bw_bytes"].as_u64().unwrap();
                    assert!(rate.abs_diff(bytes * 1000 / runtime) <= 1, "{job}");
                    runtime
                });
                // Where the machine has no time for the first I/O, what is late is caught up with, and takes less.
                assert!(times[1] >= 400, "{words}: {times:?} ms");
                times
            };
            // A disk that is busy with others may take long for what is read, which another round meets.
            let mut rounds = Vec::new();
            while rounds.len() < 5 && rounds.last().is_none_or(|read| *read >= 400) {
                rounds.push(times()[0]);
            }
            assert!(rounds.last() < Some(&400), "{words}: {rounds:?} ms");
        }
    }
}

/// Passes follow each other until writes and checks together have moved `io_size`.
#[test]
fn more_than_the_files_hold_is_written_in_passes() {
    for rw in ["--rw=write", "--rw=randwrite"] {
        for rest in [
            "--io_size=200k",
            "--io_size=127k",
            "--io_size=128k",
            "--io_size=132k",
            "--io_size=300k --loops=2",
            "--io_size=48k --loops=3",
            "--io_size=300k --number_ios=50",
            "--io_size=300k --bs=12k",
            "--io_size=300k --nrfiles=2",
            "--io_size=200k --verify_backlog=4",
            "--io_size=200k --do_verify=0",
            "--io_size=300k --do_verify=0 --loops=3",
        ] {
            same_counts(&format!("--name=j --size=64k {rw} --verify=crc32c {rest}"));
        }
    }
    // How many I/Os there are follows from draws of sizes, and how much they move does not.
    for sizes in ["--bssplit=4k/50:8k/", "--bsrange=4k-8k"] {
        for rest in [
            "--io_size=65k",
            "--io_size=150k",
            "--io_size=200k",
            "--io_size=150k --loops=2",
        ] {
            let words = format!("--name=j --size=64k --rw=write --verify=crc32c {sizes} {rest}");
            let (folder, other) = (support::disk_folder(), support::disk_folder());
            let moved = |output: &Output| {
                let document = document(output);
                let job = &document["jobs"][0];
                ["read", "write"].map(|way| job[way]["io_bytes"].as_u64().unwrap())
            };
            let mine = moved(&ours(folder.path(), &words));
            assert_eq!(mine, moved(&theirs(other.path(), &words)), "{words}");
        }
    }
}

/// Syncs of a job that checks, in ours and in fio.
fn syncs(document: &Value) -> u64 {
    document["jobs"][0]["sync"]["total_ios"].as_u64().unwrap()
}

/// A sync that is due as a pass ends goes before its checks where fio looks for one more write first, and is none otherwise.
#[test]
fn a_job_that_checks_syncs_as_often_as_in_fio() {
    let common = "--name=j --rw=write --size=64k --verify=crc32c";
    for rest in [
        "--fsync=4",
        "--fsync=4 --size=66k",
        "--fsync=3 --bs=3k",
        "--fsync=3 --nrfiles=3",
        "--fsync=4 --io_size=128k",
        "--fsync=4 --io_size=128k --ioengine=libaio",
        "--fsync=4 --size=66k --do_verify=0",
        "--fsync=4 --size=66k --number_ios=16",
    ] {
        let words = format!("{common} {rest}");
        let (folder, other) = (support::disk_folder(), support::disk_folder());
        let theirs = theirs(other.path(), &words);
        let mine = ours(folder.path(), &words);
        assert_eq!(
            syncs(&document(&mine)),
            syncs(&document(&theirs)),
            "{words}"
        );
    }
    // Counts of fio 3.42: a check between the write and its sync leaves none to be done. Older ones do it all the same.
    for (rest, expected) in [
        ("--fsync=4 --verify_backlog=8", 2),
        ("--fsync=1 --verify_backlog=4", 12),
        ("--fsync=4 --loops=2", 7),
        ("--fsync=4 --loops=2 --ioengine=libaio", 6),
        ("--fsync=4 --io_size=200k", 8),
    ] {
        let folder = support::disk_folder();
        let mine = ours(folder.path(), &format!("{common} {rest}"));
        assert_eq!(syncs(&document(&mine)), expected, "{rest}");
    }
}

/// Flips a bit of the byte at `at` of the file `f`.
fn harm(folder: &Path, at: usize) {
    let path = folder.join("f");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[at] ^= 1;
    std::fs::write(&path, bytes).unwrap();
}

#[test]
fn data_that_fio_wrote_is_checked() {
    /// Where a block and an interval of any of these begin.
    const BLOCK: usize = 96 << 10;
    for kind in [
        "crc7",
        "crc16",
        "crc32",
        "crc32c --verify_interval=512",
        "crc64",
        "xxhash --bs=16k",
        "md5 --bs=16k --verify_interval=4k",
        "sha1 --bs=512",
        "sha3-224",
        "sha3-256",
        "sha3-384",
        "sha3-512",
        "meta",
        "meta --verify_pattern=0x123456",
    ] {
        let words = format!("--name=j --filename=f --size=256k --verify={kind}");
        let folder = support::disk_folder();
        let folder = folder.path();
        let written = theirs(folder, &format!("{words} --rw=randwrite --do_verify=0"));
        assert!(written.status.success(), "{words}");
        for rw in ["read", "randread", "randwrite --verify_only"] {
            let mine = ours(folder, &format!("{words} --rw={rw}"));
            let told = String::from_utf8_lossy(&mine.stderr);
            assert!(mine.status.success(), "{words} --rw={rw}: {told}");
        }
        let finds = |wanted: &str| {
            let mine = ours(folder, &format!("{words} --rw=read"));
            let told = String::from_utf8_lossy(&mine.stderr);
            assert!(told.contains(wanted), "{words}: {told}");
            assert_eq!(counts(&document(&mine))[0].1, 84, "{words}");
        };
        if kind != "meta" {
            harm(folder, BLOCK + 300);
            finds("verify: bad ");
            harm(folder, BLOCK + 300);
        }
        harm(folder, BLOCK + 16);
        finds("verify: bad header offset 98305, wanted 98304");
    }
    // What fio calls so is another checksum.
    let words = "--name=j --filename=f --size=64k --verify=sha256";
    let folder = support::disk_folder();
    theirs(folder.path(), &format!("{words} --rw=write --do_verify=0"));
    let mine = ours(folder.path(), &format!("{words} --rw=read"));
    let told = String::from_utf8_lossy(&mine.stderr);
    assert!(
        told.contains("bad header: one of fio's, whose sha256 is not the standard's"),
        "{told}"
    );
}

/// Seeds that are asked for are compared where they are known: those of a last pass that another run wrote are not.
#[test]
fn seeds_of_passes_of_another_run_are_not_compared() {
    let common = "--name=j --filename=f --size=64k --verify=crc32c --verify_header_seed=1";
    for passes in ["", "--loops=2", "--io_size=128k"] {
        let folder = support::disk_folder();
        for check in ["--rw=write", "--rw=write --verify_only", "--rw=read"] {
            let output = ours(folder.path(), &format!("{common} {passes} {check}"));
            let error = document(&output)["jobs"][0]["error"].as_u64();
            assert_eq!(error, Some(0), "{passes} {check}: {output:?}");
        }
    }
}
