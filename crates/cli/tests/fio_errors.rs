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
    std::os::unix::fs::symlink("itself", folder.path().join("itself")).unwrap();
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

/// What cannot begin has its document, too, where programs read it: with an error of its own, fio's, and one of each job that it
/// kept from running.
#[test]
fn what_cannot_begin_has_its_error_in_json() {
    const ECANCELED: u64 = 125;
    let long = format!("--filename={}", "x".repeat(300));
    for (options, error) in [
        (&["--filename=dir", "--rw=read"][..], 21),
        (
            &["--filename=dir", "--rw=read", "--continue_on_error=all"],
            21,
        ),
        (&["--filename=file.dat", "--rw=trim"], 25),
        (&["--filename=new", "--rw=randtrim"], 25),
        (&["--filename=file.dat/new", "--rw=write"], 20),
        (&["--filename=itself"], 40),
        (&[long.as_str()], 36),
    ] {
        let theirs = refused(true, options);
        assert_eq!(theirs, (false, vec![error, 0]), "fio's, {options:?}");
        let ours = refused(false, options);
        assert_eq!(ours, (false, vec![error, ECANCELED]), "{options:?}");
    }
}

/// A scheduler that the disk does not have is the error of the job that asks for it, and of no other.
#[test]
fn a_scheduler_that_is_none_has_its_error_in_json() {
    let options = ["--filename=file.dat", "--ioscheduler=gibtsnicht"];
    let theirs = refused(true, &options);
    // A disk may have no choice, as here and there.
    let expected = match theirs {
        (true, _) => (true, vec![0, 0]),
        (false, _) => (false, vec![EINVAL, 125]),
    };
    assert_eq!(refused(false, &options), expected, "{theirs:?}");
}

/// What a run in a folder of its own leaves: whether it succeeded, and its document where there is one.
fn document_of(theirs: bool, options: &str, format: &str) -> (bool, String) {
    let folder = support::disk_folder();
    std::fs::create_dir(folder.path().join("dir")).unwrap();
    std::fs::write(folder.path().join("file.dat"), vec![7; 1 << 16]).unwrap();
    std::fs::write(folder.path().join("empty"), "").unwrap();
    std::fs::write(folder.path().join("words"), "no trace\n").unwrap();
    let mut command = support::fio(folder.path(), theirs);
    command.args([format, "--output=out"]);
    let output = command.args(options.split(' ')).output().unwrap();
    let text = std::fs::read_to_string(folder.path().join("out")).unwrap_or_default();
    let begin = text
        .lines()
        .position(|line| line == "{" || line.starts_with("3;"));
    let lines = text.lines().skip(begin.unwrap_or(usize::MAX));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        theirs || stderr.starts_with("error: "),
        "{options}\n{stderr}"
    );
    (
        output.status.success(),
        lines.collect::<Vec<_>>().join("\n"),
    )
}

/// The keys of a value, with those of all that is in it.
fn keys_of(value: &Value, within: &str, keys: &mut std::collections::BTreeSet<String>) {
    for (key, inner) in value.as_object().into_iter().flatten() {
        let path = format!("{within}/{key}");
        keys_of(inner, &path, keys);
        keys.insert(path);
    }
}

/// The error of each job, and the keys of the document that every job has.
fn errors_and_keys(text: &str, options: &str) -> (Vec<u64>, std::collections::BTreeSet<String>) {
    let document: Value =
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{options}: {error}\n{text}"));
    let mut keys = std::collections::BTreeSet::new();
    keys_of(&document, "", &mut keys);
    let jobs = document["jobs"].as_array().unwrap();
    for job in jobs {
        keys_of(job, "/job", &mut keys);
    }
    // Those that fio has got since 3.33, and those of jobs that it began before it found what was wrong.
    let others = [
        "job_start",
        "_sectors",
        "latency_depth",
        "latency_target",
        "latency_target_ns",
        "latency_percentile",
        "latency_window",
        "latency_window_us",
    ];
    let began = ["disk_util", "percentile"];
    keys.retain(|key| {
        let is_newer = others.iter().any(|other| key.ends_with(other));
        !is_newer && !began.iter().any(|part| key.contains(part))
    });
    let errors = jobs.iter().map(|job| job["error"].as_u64().unwrap());
    (errors.collect(), keys)
}

/// What fio finds only as it runs is refused here as it is read, and has its results all the same: with the same keys, and fio's
/// number, or `EINVAL` where fio ends without one.
#[test]
fn what_fio_finds_as_it_runs_has_its_results() {
    for (options, theirs, ours) in [
        ("--name=a", 22, 22),
        ("--name=a --filename=empty --rw=randrw", 22, 22),
        ("--name=a --filename=dir", 21, 21),
        ("--name=a --filename=new --offset=50%", 22, 22),
        ("--name=a --rw=write --filename=new --size=50%", 22, 22),
        ("--name=a --opendir=dir", 22, 22),
        ("--name=a --size=1m --read_iolog=missing", 22, 22),
        ("--name=a --size=1m --read_iolog=words", 22, 22),
        ("--name=a --size=1m --read_iolog=empty", 2, 2),
        ("--name=a --size=1m --read_iolog=dir", 21, 21),
        (
            "--name=a --size=64k --filename=new --unlink_each_loop=1 --loops=2",
            2,
            2,
        ),
        (
            "--name=a --size=64k --filename=new --unlink_each_loop=1 --loops=2 --create_on_open=1",
            5,
            5,
        ),
        ("--name=a --size=64k --cpumask=0", 22, 22),
        ("--name=a --ioengine=cpuio --runtime=1", 22, 22),
        (
            "--name=a --size=64k --ioengine=io_uring --io_submit_mode=offload",
            3,
            3,
        ),
        (
            "--name=a --size=64k --ioengine=libaio --cmdprio_percentage=9 --cmdprio_bssplit=4k/9",
            22,
            22,
        ),
        ("--name=a --filename=new --size=64k --readonly", 2, 2),
        ("--name=a --filename=file.dat --size=128k --readonly", 5, 5),
        (
            "--name=a --filename=new --size=64k --allow_file_create=0",
            0,
            22,
        ),
        (
            "--name=a --filename=file.dat --size=128k --allow_file_create=0",
            0,
            22,
        ),
        ("--name=a --filesize=64k --offset=128k", 0, 22),
        ("--name=a --filename=file.dat --io_size=1%", 0, 22),
        (
            "--name=a --rw=write --filename=file.dat --filesize=64k --file_append=1",
            0,
            22,
        ),
    ] {
        let (success, text) = document_of(true, options, "--output-format=json");
        let (errors, keys) = errors_and_keys(&text, options);
        assert_eq!(
            (success, &errors[..]),
            (false, &[theirs][..]),
            "fio's, {options}"
        );
        let (success, text) = document_of(false, options, "--output-format=json");
        let (errors, ours_keys) = errors_and_keys(&text, options);
        assert_eq!((success, &errors[..]), (false, &[ours][..]), "{options}");
        assert_eq!(ours_keys, keys, "{options}");
    }
}

/// What fio does, and is not carried, has `EOPNOTSUPP`.
#[test]
fn what_is_not_carried_has_its_results() {
    const EOPNOTSUPP: u64 = 95;
    for options in [
        "--name=a --size=64k --ioengine=splice",
        "--name=a --size=64k --cgroup=here",
        "--name=a --rw=write --fill_device=1 --rw=randwrite",
        "--name=a --size=64k --zonemode=strided --zonesize=8k --zoneskip=-4k",
    ] {
        let (success, text) = document_of(false, options, "--output-format=json");
        let (errors, _) = errors_and_keys(&text, options);
        assert_eq!((success, errors), (false, vec![EOPNOTSUPP]), "{options}");
    }
}

/// Each clone has the error of its section, other jobs have not run, and a group is one entry; terse lines have it too.
#[test]
fn every_job_of_an_input_stands_in_its_results() {
    let others = "--name=b --size=64k --name=c --size=64k --stonewall";
    let (_, text) = document_of(
        false,
        &format!("--name=a --numjobs=2 {others}"),
        "--output-format=json",
    );
    assert_eq!(errors_and_keys(&text, others).0, [22, 22, 125, 125]);
    let (_, text) = document_of(
        false,
        "--name=a --numjobs=2 --group_reporting=1 --name=b --size=64k --group_reporting=1",
        "--output-format=json+",
    );
    assert_eq!(errors_and_keys(&text, others).0, [22]);
    let (success, text) = document_of(false, "--name=a --numjobs=2", "--output-format=terse");
    let errors = text.lines().map(|line| line.split(';').nth(4).unwrap());
    assert_eq!(
        (success, errors.collect::<Vec<_>>()),
        (false, vec!["22"; 2])
    );
}

/// What fio refuses as it reads has no results, here as there; nor has an input of which that is one of several errors.
#[test]
fn what_fio_refuses_as_it_reads_has_no_results() {
    for options in [
        "--name=a --size=1k",
        "--name=a --size=64k --zonesize=4k",
        "--name=a --size=64k --rate=1m --rate_iops=1",
        "--name=a --size=64k --wait_for=b",
        "--name=a --opendir=missing",
        "--name=a --name=b --rw=nowhere --size=64k",
    ] {
        for theirs in [true, false] {
            let found = document_of(theirs, options, "--output-format=json");
            assert_eq!(found, (false, String::new()), "{options}, theirs: {theirs}");
        }
    }
}

/// The exit code is the number of jobs that failed, clones counted, whether they fail as they run or cannot begin: as with fio,
/// where a byte holds it. What a job survives is no failure.
#[test]
fn the_exit_code_counts_failed_jobs() {
    #[track_caller]
    fn check(options: &str, expected: i32) {
        for theirs in [true, false] {
            let folder = support::disk_folder();
            std::fs::write(folder.path().join("file.dat"), vec![7; 1 << 16]).unwrap();
            std::fs::create_dir(folder.path().join("dir")).unwrap();
            let mut command = support::fio(folder.path(), theirs);
            let output = command.args(options.split_whitespace()).output().unwrap();
            let code = output.status.code();
            assert_eq!(
                code,
                Some(expected),
                "theirs: {theirs}, {options}: {output:?}"
            );
        }
    }
    let global = "--filename=file.dat --size=64k --rw=read";
    let wrong = "--verify=pattern --verify_pattern=0x11";
    check(&format!("{global} --name=a"), 0);
    check(&format!("{global} --name=a {wrong}"), 1);
    check(
        &format!("{global} --name=a --name=b {wrong} --numjobs=3"),
        3,
    );
    check(
        &format!("{global} --name=a {wrong} --name=b --name=c {wrong} --stonewall"),
        2,
    );
    check(
        &format!("{global} --name=a {wrong} --numjobs=2 --continue_on_error=verify"),
        0,
    );
    check(
        "--name=a --filename=dir --name=b --filename=dir --numjobs=2",
        3,
    );
}
