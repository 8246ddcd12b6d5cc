//! `fathom fio` beside Debian's fio: what goes on where an I/O of one job fails.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use serde_json::Value;

/// A job whose first direct I/O, after a second, is no whole number of blocks, and so fails with `EINVAL`; a job beside it,
/// one of another group, and one after all of them.
const JOBS: &str = "
size=1m
bs=4k
[fails]
filename=file.dat
rw=read
bs=1000
direct=1
startdelay=1
[beside]
ioengine=null
time_based
runtime=2
[apart]
ioengine=null
time_based
runtime=2
new_group
[after]
stonewall
ioengine=null
";
const EINVAL: u64 = 22;

/// Whether the run succeeded, the error of each job, and whether it ran: not at all, for a part of its time, for all of it.
fn ended(theirs: bool, global: &str) -> (bool, Vec<(u64, &'static str)>, String) {
    let folder = support::disk_folder();
    std::fs::write(folder.path().join("file.dat"), vec![7; 1 << 20]).unwrap();
    let jobs = format!("[global]\n{global}{JOBS}");
    std::fs::write(folder.path().join("jobs.fio"), jobs).unwrap();
    let mut command = support::fio(folder.path(), theirs);
    let output = command
        .args(["--output-format=json", "jobs.fio"])
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let document = &stdout[stdout.find('{').unwrap_or(0)..];
    let document: Value = serde_json::from_str(document)
        .unwrap_or_else(|error| panic!("{command:?}: {error}\n{stdout}\n{stderr}"));
    let jobs = document["jobs"].as_array().unwrap().iter();
    let jobs = jobs.map(|job| {
        let ran = match (&job["jobname"], job["read"]["total_ios"].as_u64().unwrap()) {
            (_, 0) => "not at all",
            (name, _) if name != "after" && job["job_runtime"].as_u64().unwrap() < 1900 => {
                "in part"
            }
            _ => "whole",
        };
        (job["error"].as_u64().unwrap(), ran)
    });
    (output.status.success(), jobs.collect(), stderr)
}

/// How the jobs beside the first and after it end, with fio and here.
#[track_caller]
fn check(global: &str, others: [&str; 3]) {
    for theirs in [true, false] {
        let (success, jobs, stderr) = ended(theirs, global);
        let whose = if theirs { "fio's" } else { "ours" };
        assert!(!success, "{global}: {whose}");
        // fio counts the I/O that failed.
        assert_eq!(jobs[0].0, EINVAL, "{global}: {whose}, {jobs:?}");
        let expected = others.map(|ran| (0, ran));
        assert_eq!(jobs[1..], expected, "{global}: {whose}, {jobs:?}");
        assert_eq!(
            stderr.matches("Invalid argument").count(),
            1,
            "{global}: {whose}, {stderr}"
        );
    }
}

#[test]
fn other_jobs_go_on() {
    check("", ["whole", "whole", "whole"]);
}

#[test]
fn others_end_where_the_job_asks_for_it() {
    check("exitall_on_error=1\n", ["in part", "whole", "whole"]);
    check(
        "exitall_on_error=1\nexit_what=stonewall\n",
        ["in part", "in part", "whole"],
    );
    check(
        "exitall_on_error=1\nexit_what=all\n",
        ["in part", "in part", "not at all"],
    );
}

#[test]
fn what_failed_is_told_at_once() {
    let folder = support::disk_folder();
    std::fs::write(folder.path().join("file.dat"), vec![7; 1 << 20]).unwrap();
    let words = "fio --output=o.txt --name=beside --ioengine=null --size=1m --time_based --runtime=60 \
                 --name=fails --filename=file.dat --direct=1 --bs=1000 --size=1m";
    let mut command = support::fathom(folder.path());
    command.args(words.split_whitespace());
    let mut child = command
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = std::io::BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    std::io::BufRead::read_line(&mut lines, &mut line).unwrap();
    assert!(child.try_wait().unwrap().is_none(), "the other job goes on");
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(
        line.starts_with("error: job `fails`: read of 1000 bytes"),
        "{line}"
    );
}
