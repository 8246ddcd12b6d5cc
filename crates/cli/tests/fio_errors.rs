//! `fathom fio` beside Debian's fio: what goes on where an I/O of one job fails.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use serde_json::Value;

/// A job whose first direct I/O, after a second, is no whole number of blocks, and so fails with `EINVAL`; a job beside it,
/// one of another group, and one after all of them. Between the failure and the end of the others lie three seconds: on a busy
/// machine fio hears of a failure late.
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
runtime=4
[apart]
ioengine=null
time_based
runtime=4
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
            (name, _) if name != "after" && job["job_runtime"].as_u64().unwrap() < 3900 => {
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

/// Exit code, and of the only job: its error, I/Os, errors in all, the first of them.
fn survived(theirs: bool, options: &[&str]) -> (bool, [u64; 4]) {
    let folder = support::disk_folder();
    let mut command = support::fio(folder.path(), theirs);
    command.args(["--name=a", "--filename=f", "--output-format=json"]);
    let output = command.args(options).output().unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    let document = &stdout[stdout.find('{').unwrap_or(0)..];
    let document: Value = serde_json::from_str(document)
        .unwrap_or_else(|error| panic!("{command:?}: {error}\n{stdout}"));
    let job = &document["jobs"][0];
    let ios = ["read", "write"].map(|way| job[way]["total_ios"].as_u64().unwrap());
    let number = |key: &str| job[key].as_u64().unwrap_or_default();
    let figures = [
        number("error"),
        ios[0] + ios[1],
        number("total_err"),
        number("first_error"),
    ];
    (output.status.success(), figures)
}

/// What a job survives is told in its figures, and its failed I/Os are among those it did; so are those that were too slow.
#[test]
fn errors_that_are_survived_are_told() {
    let misaligned = ["--rw=write", "--direct=1", "--bs=1000", "--size=10k"];
    let wrong = ["--rw=read", "--size=1m", "--bs=8k", "--verify=crc32c"];
    // No disk reads within a microsecond.
    let slow = ["--rw=read", "--direct=1", "--size=64k", "--max_latency=1us"];
    let cases: [(&[&str], &str, [u64; 4]); 3] = [
        (&misaligned, "--ignore_error=,EINVAL", [22, 10, 10, 22]),
        (&wrong, "--continue_on_error=verify", [84, 128, 128, 84]),
        (&wrong, "--ignore_error=,,84", [84, 128, 128, 84]),
    ];
    for (options, survives, figures) in cases {
        for theirs in [true, false] {
            let found = survived(theirs, &[options, &[survives]].concat());
            assert_eq!(found, (true, figures), "{survives}, theirs: {theirs}");
        }
    }
    // Older versions of fio look at whole microseconds.
    let found = survived(false, &[&slow[..], &["--ignore_error=110"]].concat());
    assert_eq!(found, (true, [110, 16, 16, 110]));
}

/// Here such a job has failed, while fio has it end as if nothing were amiss; others go on with both.
#[test]
fn other_jobs_go_on_where_a_command_fails() {
    for theirs in [true, false] {
        let folder = support::disk_folder();
        let jobs = "[global]\nioengine=null\nsize=64k\n\
                    [a]\nexec_prerun=false\nexec_postrun=true\n[b]\n[c]\nstonewall\n";
        std::fs::write(folder.path().join("jobs.fio"), jobs).unwrap();
        let mut command = support::fio(folder.path(), theirs);
        command.args(["--output-format=json", "--output=o.json", "jobs.fio"]);
        let output = command.output().unwrap();
        let document = std::fs::read_to_string(folder.path().join("o.json")).unwrap();
        let document = &document[document.find('{').unwrap()..];
        let document: Value = serde_json::from_str(document).unwrap();
        let jobs = document["jobs"].as_array().unwrap().iter();
        let ios: Vec<_> = jobs.map(|job| job["read"]["total_ios"].as_u64()).collect();
        assert_eq!(ios, [Some(0), Some(16), Some(16)], "theirs: {theirs}");
        assert_eq!(output.status.success(), theirs);
        assert!(folder.path().join("a.prerun.txt").exists());
        assert!(!folder.path().join("a.postrun.txt").exists());
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(theirs || stderr.contains("`false`"), "{stderr}");
    }
}

/// A job whose command fails has not begun, and so ends no other.
#[test]
fn a_command_that_fails_ends_no_other_job() {
    for ends in ["exitall", "exitall_on_error", "exitall\nexit_what=all"] {
        for theirs in [true, false] {
            let folder = support::disk_folder();
            let jobs = format!(
                "[global]\nioengine=null\nsize=64k\n{ends}\n\
                 [a]\nexec_prerun=false\n[b]\ntime_based\nruntime=1\n[c]\nstonewall\n"
            );
            std::fs::write(folder.path().join("jobs.fio"), jobs).unwrap();
            let mut command = support::fio(folder.path(), theirs);
            command.args(["--output-format=json", "--output=o.json", "jobs.fio"]);
            let output = command.output().unwrap();
            let document = std::fs::read_to_string(folder.path().join("o.json")).unwrap();
            let document = &document[document.find('{').unwrap()..];
            let document: Value = serde_json::from_str(document).unwrap();
            let ran = |job: usize| document["jobs"][job]["job_runtime"].as_u64().unwrap() >= 900;
            assert_eq!(
                [ran(0), ran(1)],
                [false, true],
                "{ends:?}, theirs: {theirs}"
            );
            assert_eq!(output.status.success(), theirs);
        }
    }
}

/// A job that waits for its start does not wait when others end it: else this would take an hour.
#[test]
fn exitall_ends_what_has_not_begun() {
    let options =
        "--name=a --size=64k --rw=read --exitall --name=b --size=64k --rw=read --startdelay=1h";
    let folder = support::disk_folder();
    let mut command = support::fio(folder.path(), false);
    assert!(
        command
            .args(options.split(' '))
            .output()
            .unwrap()
            .status
            .success()
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

/// The exit code of a job that cannot begin, its errors in JSON, and those of a job beside it.
fn refused(theirs: bool, options: &[&str]) -> (bool, Vec<u64>) {
    let folder = support::disk_folder();
    std::fs::create_dir(folder.path().join("dir")).unwrap();
    std::fs::write(folder.path().join("file.dat"), vec![7; 1 << 20]).unwrap();
    let mut command = support::fio(folder.path(), theirs);
    command.args(["--output-format=json", "--name=x", "--size=1m"]);
    command.args(options).arg("--output=out.json");
    command.args(["--name=beside", "--ioengine=null", "--size=1m"]);
    let output = command.output().unwrap();
    let stdout = std::fs::read_to_string(folder.path().join("out.json")).unwrap();
    // fio's own messages stand before its document.
    let document = &stdout[stdout.find("\n{").map_or(0, |at| at + 1)..];
    let document: Value = serde_json::from_str(document)
        .unwrap_or_else(|error| panic!("{command:?}: {error}\n{stdout}"));
    assert!(theirs || stdout.starts_with('{'), "{stdout}");
    let jobs = document["jobs"].as_array().unwrap().iter();
    let errors = jobs.map(|job| {
        assert!(matches!(job["total_err"].as_u64(), None | Some(0)), "{job}");
        job["error"].as_u64().unwrap()
    });
    (output.status.success(), errors.collect())
}

/// What cannot begin has its document, too, where programs read it: with an error of its own, and one of each job that it kept
/// from running.
#[test]
fn what_cannot_begin_has_its_error_in_json() {
    const ECANCELED: u64 = 125;
    for options in [
        &["--filename=dir", "--rw=read"][..],
        &["--filename=dir", "--rw=read", "--continue_on_error=all"],
        &["--filename=file.dat", "--rw=trim"],
    ] {
        let theirs = refused(true, options);
        assert!(!theirs.0 && theirs.1[0] > 0, "{options:?} {theirs:?}");
        let ours = refused(false, options);
        assert_eq!(ours, (false, vec![EINVAL, ECANCELED]), "{options:?}");
    }
}
