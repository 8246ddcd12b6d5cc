//! `fathom fio` beside Debian's fio: traces that are written and replayed in one run.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use serde_json::Value;

/// Exit code, and for each job its error, its I/Os and its bytes.
type Said = (Option<i32>, Vec<(i64, u64, u64)>);

fn said(theirs: bool, jobs: &str) -> Said {
    let folder = support::disk_folder();
    std::fs::write(folder.path().join("jobs.fio"), jobs).unwrap();
    let mut command = support::fio(folder.path(), theirs);
    let output = command
        .args(["--output-format=json", "--output=o.json", "jobs.fio"])
        .output()
        .unwrap();
    let document = std::fs::read_to_string(folder.path().join("o.json")).unwrap();
    let document: Value = serde_json::from_str(&document[document.find('{').unwrap()..])
        .unwrap_or_else(|error| panic!("{command:?}: {error}\n{document}\n{output:?}"));
    let sum = |job: &Value, key: &str| -> u64 {
        let of = |way: &str| job[way][key].as_u64().unwrap();
        of("read") + of("write") + of("trim")
    };
    let jobs = document["jobs"].as_array().unwrap().iter();
    let jobs = jobs.map(|job| {
        let error = job["error"].as_i64().unwrap();
        (error, sum(job, "total_ios"), sum(job, "io_bytes"))
    });
    (output.status.code(), jobs.collect())
}

/// The job behind a `stonewall` replays what the one before it recorded.
#[test]
fn a_trace_of_the_same_run_is_replayed() {
    for first in [
        "rw=write\nbs=16k",
        "rw=randread\nnrfiles=3",
        "rw=randrw\nbs=4k,8k",
        "rw=write\nioengine=libaio\ndirect=1\niodepth=4\nnumber_ios=5",
    ] {
        let jobs = format!(
            "[a]\nsize=96k\nwrite_iolog=trace\n{first}\n\
             [b]\nstonewall\nread_iolog=trace\nreplay_no_stall=1\n"
        );
        let [ours, theirs] = [false, true].map(|theirs| said(theirs, &jobs));
        if !first.contains("randrw") {
            assert_eq!(ours, theirs, "{jobs}");
        }
        let (code, jobs) = ours;
        assert_eq!((code, jobs.len()), (Some(0), 2));
        assert!(jobs[0].1 > 0 && jobs[0] == jobs[1], "{first}: {jobs:?}");
    }
}

/// What syncs all files at a job's end is in its trace, as in fio's.
#[test]
fn syncs_at_the_end_are_recorded() {
    let syncs = |theirs, option: &str| {
        let folder = support::disk_folder();
        let mut command = support::fio(folder.path(), theirs);
        command.args(["--name=j", "--size=32k", "--nrfiles=2", "--write_iolog=t"]);
        let output = command.args(option.split(' ')).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let trace = std::fs::read_to_string(folder.path().join("t")).unwrap();
        let words = trace.lines().map(|line| line.split(' ').skip(1));
        let words = words.map(|words| words.take(2).collect::<Vec<_>>().join(" "));
        let found: Vec<_> = words.filter(|it| it.ends_with(" sync")).collect();
        found
    };
    for (option, expected) in [
        ("--rw=write --end_fsync=1", 2),
        ("--rw=randwrite --fsync_on_close=1", 2),
        ("--rw=write --end_fsync=1 --ioengine=libaio", 2),
        ("--rw=read --end_fsync=1", 0),
        ("--rw=write", 0),
    ] {
        let [ours, theirs] = [false, true].map(|theirs| syncs(theirs, option));
        assert_eq!(ours, theirs, "{option}");
        assert_eq!(ours.len(), expected, "{option}");
    }
}

/// A record of a read that was queued, as `blktrace` writes it.
fn queued(time: u64, sector: u64) -> Vec<u8> {
    let mut record = Vec::new();
    record.extend((0x6561_7400u32 | 7).to_ne_bytes());
    record.extend(0u32.to_ne_bytes());
    record.extend(time.to_ne_bytes());
    record.extend(sector.to_ne_bytes());
    for number in [4096, 1 | 1 << 16, 0, 8 << 20, 0, 0_u32] {
        record.extend(number.to_ne_bytes());
    }
    record
}

/// A run merges what it replays, and whatever does not run leaves nothing. fio merges nothing, and replays the first trace.
#[test]
fn a_run_merges_its_traces() {
    let folder = support::disk_folder();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("a"), queued(0, 0)).unwrap();
    std::fs::write(path("b"), queued(2_000, 8)).unwrap();
    let job = "[j]\nread_iolog=a:b\nmerge_blktrace_file=m\nmerge_blktrace_iters=1:2\n\
               replay_redirect=x\nreplay_no_stall=1\n[k]\nread_iolog=m\nreplay_redirect=x\n";
    std::fs::write(path("j.fio"), job).unwrap();
    let run = |words: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_fathom"));
        command.current_dir(folder.path()).args(words);
        command.output().unwrap()
    };
    for words in [
        &["fio", "--parse-only", "j.fio"][..],
        &["explain", "fio", "j.fio"],
    ] {
        let output = run(words);
        assert!(output.status.success(), "{words:?}: {output:?}");
        assert!(!path("m").exists(), "{words:?}");
    }
    let expected = [queued(0, 0), queued(2_000, 8), queued(4_000, 8)].concat();
    for words in [
        &["fio", "--output-format=json", "j.fio"][..],
        &["run", "fio", "j.fio"],
    ] {
        let output = run(words);
        assert!(output.status.success(), "{words:?}: {output:?}");
        let text = String::from_utf8_lossy(&output.stdout);
        if words[0] == "fio" {
            let document: Value = serde_json::from_str(&text[text.find('{').unwrap()..]).unwrap();
            for job in document["jobs"].as_array().unwrap() {
                assert_eq!(job["read"]["total_ios"], 3, "{text}");
            }
        }
        assert!(std::fs::read(path("m")).unwrap() == expected, "{words:?}");
        std::fs::remove_file(path("m")).unwrap();
    }
    // Refused before anything is written: a trace never takes the place of a device.
    let device = job.replace("=m\n", "=/dev/null\n");
    std::fs::write(path("j.fio"), device).unwrap();
    let refused = run(&["fio", "j.fio"]);
    let text = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(1), "{text}");
    assert!(
        text.contains("merged trace `/dev/null`: it is no regular file"),
        "{text}"
    );
    assert!(!std::fs::metadata("/dev/null").unwrap().is_file());
}

/// What is merged is one trace, which fio replays as ours does.
#[test]
fn merged_traces_are_replayed() {
    let folder = support::disk_folder();
    let traces = [[0, 2_000_000], [1_000_000, 9_000_000]].map(|times| {
        let records = times.map(|time| queued(time, time / 1_000));
        records.concat()
    });
    for (name, trace) in ["a", "b"].iter().zip(&traces) {
        std::fs::write(folder.path().join(name), trace).unwrap();
    }
    let run = |theirs, words: &[&str]| {
        let mut command = support::fio(folder.path(), theirs);
        command.args(["--name=j", "--read_iolog=a:b"]).args(words);
        command.output().unwrap()
    };
    let merge = ["--merge_blktrace_file=m", "--merge-blktrace-only"];
    let output = run(false, &merge);
    assert!(output.status.success(), "{output:?}");
    let merged = std::fs::read(folder.path().join("m")).unwrap();
    let expected = [0, 1_000_000, 2_000_000, 9_000_000].map(|time| queued(time, time / 1_000));
    assert!(merged == expected.concat());
    for theirs in [false, true] {
        let words = ["--read_iolog=m", "--ioengine=null", "--replay_redirect=x"];
        let output = run(theirs, &[&words[..], &["--output-format=json"]].concat());
        let text = String::from_utf8_lossy(&output.stdout);
        let document: Value = serde_json::from_str(&text[text.find('{').unwrap()..]).unwrap();
        assert_eq!(document["jobs"][0]["read"]["total_ios"], 4, "{text}");
    }
    for unwritable in ["none/m", "/dev/null"] {
        let into = format!("--merge_blktrace_file={unwritable}");
        let failed = run(false, &[&into, "--merge-blktrace-only"]);
        assert_eq!(failed.status.code(), Some(1), "{failed:?}");
    }
    assert!(!std::fs::metadata("/dev/null").unwrap().is_file());
    std::fs::write(folder.path().join("a"), "no trace").unwrap();
    let failed = run(false, &merge);
    assert_eq!(failed.status.code(), Some(1));
    // The trace that is there stays.
    assert!(std::fs::read(folder.path().join("m")).unwrap() == merged);
    assert!(!folder.path().join("m.unfinished").exists());
}
