//! `fathom fio` with jobs that burn processors beside the I/O of others (`ioengine=cpuio`), side by side with the fio that is
//! installed.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// The document that a program prints, behind fio's own lines before it, and whether the program succeeded.
#[track_caller]
fn document(program: &mut Command, folder: &Path, options: &str) -> (bool, Value) {
    let options = options.split_whitespace();
    let program = program.current_dir(folder).args(options);
    let output = program.arg("--output-format=json").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let begin = text.find("{\n").unwrap_or_else(|| panic!("{text}"));
    let document = serde_json::from_str(&text[begin..]);
    (output.status.success(), document.unwrap())
}

fn ours(folder: &Path, options: &str) -> (bool, Value) {
    document(support::fathom(folder).arg("fio"), folder, options)
}

/// What follows from a job's options, of each job: its name, group and error, what each direction did and moved and in what time,
/// how many samples of its bandwidth there are, and its options.
fn told(document: &Value) -> Vec<String> {
    let jobs = document["jobs"].as_array().unwrap().iter();
    let of_job = |job: &Value| {
        let ways = ["read", "write", "trim"].map(|way| {
            let of_way = |key: &str| job[way][key].clone();
            let counted = [&job[way]["clat_ns"]["N"], &job[way]["lat_ns"]["N"]];
            format!(
                "{way} {} {} {} {} {counted:?}",
                of_way("total_ios"),
                of_way("io_bytes"),
                of_way("runtime"),
                of_way("bw_samples")
            )
        });
        let others = ["jobname", "groupid", "error", "job options"].map(|key| job[key].clone());
        let classes = ["iodepth_level", "iodepth_submit", "iodepth_complete"];
        format!(
            "{others:?} {ways:?} {:?}",
            classes.map(|key| job[key].clone())
        )
    };
    jobs.map(of_job).collect()
}

/// Jobs that are done once they have had so many bursts, of any mode and load, are told as fio tells them, whatever they say of
/// I/O.
#[test]
fn bursts_are_told_as_by_fio() {
    #[track_caller]
    fn check(options: &str, bursts: u64) {
        let folder = tempfile::tempdir().unwrap();
        let (success, document) = ours(folder.path(), options);
        assert!(success, "{options}: {document}");
        let (_, theirs) = self::document(&mut Command::new("fio"), folder.path(), options);
        assert_eq!(told(&document), told(&theirs), "{options}");
        assert_eq!(
            document["jobs"][0]["read"]["total_ios"], bursts,
            "{options}"
        );
        let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
        assert!(left.is_empty(), "{options}: {left:?}");
    }
    let work = "--name=a --ioengine=cpuio --cpuchunks=1000";
    check(&format!("{work} --cpuload=50 --number_ios=3"), 3);
    check(&format!("{work} --cpuload=400 --number_ios=3 --loops=2"), 6);
    check(
        &format!("{work} --cpuload=90 --number_ios=1 --cpumode=qsort"),
        1,
    );
    check(
        &format!("{work} --cpuload=9 --number_ios=2 --numjobs=3 --group_reporting=1"),
        6,
    );
    check(
        &format!(
            "{work} --cpuload=50 --number_ios=3 --rw=randrw --bs=8k --size=64k --filename=none.dat \
             --rate_iops=1 --direct=1 --thinktime=9s --fsync=1 --unlink=1"
        ),
        3,
    );
}

/// Each rest is as long as the share asks for: of ten bursts of 10 ms at 25 % the job's time is 400 ms at least, whatever else
/// the machine does.
#[test]
fn rests_follow_bursts() {
    let folder = tempfile::tempdir().unwrap();
    let options = "--name=a --ioengine=cpuio --cpuload=25 --cpuchunks=10000 --number_ios=10";
    let (success, document) = ours(folder.path(), options);
    assert!(success, "{document}");
    let job = &document["jobs"][0];
    let shortest = job["read"]["clat_ns"]["min"].as_u64().unwrap();
    assert!(shortest >= 10_000_000, "{document}");
    assert!(job["job_runtime"].as_u64().unwrap() >= 400, "{document}");
}

/// One with `exit_on_io_done` ends when all jobs with I/O have, and others of its kind go on; the I/O is told as without them.
#[test]
fn work_ends_with_the_io_where_it_is_asked_to() {
    let folder = tempfile::tempdir().unwrap();
    let work = "--ioengine=cpuio --cpuload=30 --cpuchunks=2000";
    let (success, document) = ours(
        folder.path(),
        &format!(
            "--name=ends {work} --exit_on_io_done=1 --runtime=60 --name=goes {work} --number_ios=40 \
             --name=reader --ioengine=psync --rw=randread --size=64k --filename=file.dat"
        ),
    );
    assert!(success, "{document}");
    let count = |job: usize, key: &str| document["jobs"][job]["read"][key].as_u64().unwrap();
    assert_eq!((count(1, "total_ios"), count(1, "io_bytes")), (40, 0));
    assert_eq!((count(2, "total_ios"), count(2, "io_bytes")), (16, 65_536));
    assert_eq!(count(0, "io_bytes"), 0);
    let ended = document["jobs"][0]["job_runtime"].as_u64().unwrap();
    assert!(ended < 60_000, "{document}");
}

/// Logs have a line of each burst, which moves nothing.
#[test]
fn bursts_are_logged() {
    let folder = tempfile::tempdir().unwrap();
    let options = "--name=a --ioengine=cpuio --cpuload=90 --cpuchunks=2000 --number_ios=5 --write_lat_log=x \
                   --write_bw_log=x --write_hist_log=x --log_hist_msec=1000";
    let (success, document) = ours(folder.path(), options);
    assert!(success, "{document}");
    let columns = |kind: &str, from: usize, to: usize| {
        let log = std::fs::read_to_string(folder.path().join(format!("x_{kind}.1.log"))).unwrap();
        let lines = log.lines().map(|line| {
            let columns: Vec<&str> = line.split(", ").collect();
            columns[from..to].join(" ")
        });
        lines.collect::<Vec<_>>()
    };
    assert_eq!(columns("bw", 1, 5), ["0 0 0 0"; 5]);
    assert_eq!(columns("clat_hist", 1, 3), ["0 0"]);
    for kind in ["lat", "clat"] {
        assert_eq!(columns(kind, 2, 5), ["0 0 0"; 5]);
        for latency in columns(kind, 1, 2) {
            let latency: u64 = latency.parse().unwrap();
            assert!(latency >= 2_000_000, "{latency}");
        }
    }
    let (success, _) = ours(folder.path(), &format!("{options} --log_avg_msec=1000"));
    assert!(success);
    assert_eq!(columns("clat", 2, 5), ["0 0 0"]);
    assert!(columns("bw", 0, 5).is_empty());
}

/// Behind the last I/O of the run there is nothing that it would be beside.
#[test]
fn work_behind_all_io_ends_at_once_where_it_is_asked_to() {
    let folder = tempfile::tempdir().unwrap();
    let (success, document) = ours(
        folder.path(),
        "--name=reader --ioengine=psync --rw=randread --size=64k --filename=file.dat \
         --name=ends --stonewall --ioengine=cpuio --cpuload=30 --cpuchunks=2000 --exit_on_io_done=1 --runtime=5",
    );
    assert!(success, "{document}");
    assert_eq!(document["jobs"][1]["read"]["total_ios"], 0, "{document}");
}

/// Fathom's own record keeps bursts apart from the stage's I/O.
#[test]
fn records_keep_bursts_apart() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = support::fathom(folder.path());
    command.current_dir(folder.path()).args([
        "run",
        "--json",
        "fio",
        "--name=a",
        "--ioengine=cpuio",
        "--cpuload=100",
        "--cpuchunks=1000",
        "--number_ios=5",
        "--name=b",
        "--ioengine=null",
        "--rw=read",
        "--size=64k",
    ]);
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let record: Value =
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let stage = &record["stages"][0];
    let job = &stage["jobs"][0];
    assert_eq!(job["meta"]["burst"]["ios"], 5, "{stage}");
    assert_eq!(job["meta"]["burst"]["bytes"], 0, "{stage}");
    assert_eq!(job["read"], Value::Null, "{stage}");
    assert_eq!(stage["total"]["read"]["ios"], 16, "{stage}");
    assert_eq!(stage["total"]["all"]["ios"], 16, "{stage}");
    let mut checks = record["checks"].as_array().unwrap().iter();
    let samples = checks.find(|check| check["id"] == "samples-for-percentile");
    let told = samples.unwrap()["evidence"].as_str().unwrap();
    assert!(told.contains("16 reads"), "{told}");
}
