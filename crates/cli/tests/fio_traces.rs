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
