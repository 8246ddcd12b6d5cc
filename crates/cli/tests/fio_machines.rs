//! `fathom fio --server` and `--client`: fio's jobs on other machines.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

/// Runs `fathom fio` in `folder` and returns what it prints; nothing may go to stderr.
#[track_caller]
fn ours(folder: &Path, arguments: &[&str]) -> String {
    let (stdout, stderr) = support::expect_code(folder, &[&["fio"], arguments].concat(), 0);
    assert!(stderr.is_empty(), "{arguments:?}: {stderr}");
    stdout
}

/// A server of the test's own, ended with it.
struct Server(std::process::Child);

impl Server {
    fn start(folder: &Path) -> Self {
        let mut command = support::fathom(folder);
        command
            .args(["fio", "--server=sock:socket"])
            .stdout(Stdio::piped());
        let mut server = command.spawn().unwrap();
        let mut line = String::new();
        let stdout = server.stdout.take().unwrap();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(stdout), &mut line).unwrap();
        assert!(line.contains("listening"), "{line}");
        Self(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn several_machines_are_one_document() {
    let folder = support::disk_folder();
    let _server = Server::start(folder.path());
    let job = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    job(
        "a.fio",
        "[global]\nioengine=null\nsize=4m\n[a]\nrw=randread\n[b]\nrw=read\n",
    );
    job("c.fio", "[c]\nioengine=null\nsize=8m\nrw=randread\n");
    let text = ours(
        folder.path(),
        &[
            "--client=sock:socket",
            "a.fio",
            "--client=sock:socket",
            "c.fio",
            // There is one output, wherever it is spoken of.
            "--output-format=json+",
        ],
    );
    let document: Value = serde_json::from_str(&text).unwrap();
    let stats = document["client_stats"].as_array().unwrap();
    let names: Vec<_> = stats
        .iter()
        .map(|job| job["jobname"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["a", "b", "c", "All clients"]);
    assert!(
        stats
            .iter()
            .all(|job| job["hostname"] == "socket" && job["port"] == 0)
    );
    let ios = |job: &Value| job["read"]["total_ios"].as_u64().unwrap();
    assert_eq!(
        stats.iter().map(ios).collect::<Vec<_>>(),
        [1024, 1024, 2048, 4096]
    );
    let all = &stats[3]["read"]["clat_ns"];
    let bins = all["bins"].as_object().unwrap().values();
    assert_eq!(bins.map(|count| count.as_u64().unwrap()).sum::<u64>(), 4096);
    let slowest = stats[..3]
        .iter()
        .map(|job| job["read"]["clat_ns"]["max"].as_u64());
    assert_eq!(slowest.max().unwrap(), all["max"].as_u64());
    let globals = document["global options"].as_array().unwrap();
    assert_eq!(globals.len(), 1);
    assert_eq!(globals[0]["size"], "4m");
    // One client's options are an object, and what a server refuses is told with its name.
    let text = ours(
        folder.path(),
        &["--client=sock:socket", "c.fio", "--output-format=json"],
    );
    let document: Value = serde_json::from_str(&text).unwrap();
    assert!(document["global options"].as_object().unwrap().is_empty());
    job("d.fio", "[d]\nrw=read\ndirectory=/nowhere\nsize=4k\n");
    let refused = ["fio", "--client=sock:socket", "d.fio"];
    let (_, stderr) = support::expect_code(folder.path(), &refused, 1);
    assert!(
        stderr.contains("<socket>") && stderr.contains("/nowhere"),
        "{stderr}"
    );
}

/// Latencies by priority come from each server, and are in the sum of all: those of jobs whose I/Os have but one, too.
#[test]
fn latencies_by_priority_come_to_the_client() {
    let folder = support::disk_folder();
    let _server = Server::start(folder.path());
    let job = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let global = "[global]\nioengine=libaio\nrw=randread\nsize=1m\nprioclass=2\n";
    job("a.fio", &format!("{global}[a]\nprio=6\n"));
    let some = "prio=1\ncmdprio_percentage=50\ncmdprio_class=2\ncmdprio=3\n";
    job("b.fio", &format!("{global}[b]\n{some}"));
    let clients = [
        "--client=sock:socket",
        "a.fio",
        "--client=sock:socket",
        "b.fio",
    ];
    let text = ours(
        folder.path(),
        &[&clients[..], &["--output-format=json"]].concat(),
    );
    let document: Value = serde_json::from_str(&text).unwrap();
    let of_entry = |place: usize| {
        let prios = document["client_stats"][place]["read"]["prios"].as_array();
        let prios = prios.into_iter().flatten();
        let one = |prio: &Value| {
            (
                prio["prio"].as_u64().unwrap(),
                prio["clat_ns"]["N"].as_u64().unwrap(),
            )
        };
        prios.map(one).collect::<Vec<_>>()
    };
    let (a, b, all) = (of_entry(0), of_entry(1), of_entry(2));
    assert_eq!(a, []);
    assert_eq!((b[0].0, b[1].0, b[0].1 + b[1].1), (1, 3, 256));
    assert_eq!(all, [(6, 256), b[0], b[1]]);
    let text = ours(folder.path(), &clients);
    assert_eq!(
        text.matches(" clat prio 2/6/0 (50.00% of IOs)").count(),
        1,
        "{text}"
    );
}

/// What a server refuses stands in the results with its errors, beside what others measured.
#[test]
fn what_a_server_refuses_is_in_the_results() {
    let folder = support::disk_folder();
    let _server = Server::start(folder.path());
    let job = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    job(
        "dir.fio",
        "[x]\nrw=read\nsize=4k\nfilename=.\n[y]\nioengine=null\nsize=4k\n",
    );
    job("none.fio", "[z]\nrw=read\nfilename=none\n");
    job("good.fio", "[good]\nioengine=null\nsize=4k\n");
    let run = |format: &str, words: &[&str]| {
        let mut arguments = vec!["fio", format];
        arguments.extend(
            words
                .iter()
                .flat_map(|file| ["--client=sock:socket", *file]),
        );
        support::expect_code(folder.path(), &arguments, 1)
    };
    for (files, expected) in [
        (
            &["dir.fio"][..],
            &[("x", 21), ("y", 125), ("All clients", 21)][..],
        ),
        (&["none.fio"], &[("z", 22)]),
        (
            &["dir.fio", "good.fio"],
            &[("x", 21), ("y", 125), ("good", 0), ("All clients", 21)],
        ),
    ] {
        let (text, stderr) = run("--output-format=json", files);
        let document: Value =
            serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}\n{text}\n{stderr}"));
        let stats = document["client_stats"].as_array().unwrap().iter();
        let errors = stats.map(|job| {
            (
                job["jobname"].as_str().unwrap(),
                job["error"].as_u64().unwrap(),
            )
        });
        assert_eq!(errors.collect::<Vec<_>>(), expected, "{files:?}\n{stderr}");
        assert!(stderr.contains("<socket> error: job `"), "{stderr}");
    }
    // People are told by the message alone.
    assert_eq!(run("--output-format=normal", &["dir.fio"]).0, "");
}

/// A client that is stopped has the servers report what they measured until then, and the code of fio where a signal ended it.
#[test]
fn a_client_that_is_stopped_has_its_results() {
    let folder = support::disk_folder();
    let _server = Server::start(folder.path());
    let job = "[long]\nfilename=long.dat\nrw=write\nsize=1g\nrate=1m\nfallocate=none\n";
    std::fs::write(folder.path().join("long.fio"), job).unwrap();
    let client = support::fathom(folder.path())
        .args(["fio", "--output-format=json", "--client=sock:socket"])
        .args(["long.fio", "--client=sock:nowhere", "long.fio"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let written = folder.path().join("long.dat");
    while std::fs::metadata(&written).map_or(0, |file| file.len()) == 0 {
        let _ = Command::new("sleep").arg("0.02").status();
    }
    support::system("kill", &["-INT", &client.id().to_string()]);
    let ended = client.wait_with_output().unwrap();
    let told = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(128), "{told}");
    // The other server's absence holds nobody back.
    assert!(told.contains("<nowhere> nobody answers"), "{told}");
    let document: Value = serde_json::from_slice(&ended.stdout).unwrap();
    let job = &document["client_stats"][0];
    assert_eq!(job["jobname"], "long");
    let ios = job["write"]["total_ios"].as_u64().unwrap();
    assert!((1..256 << 10).contains(&ios), "{job}");
}

/// No server's jobs begin before all have laid out their files.
#[test]
fn jobs_of_all_servers_begin_together() {
    let folder = support::disk_folder();
    let _server = Server::start(folder.path());
    let job = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    job("soon.fio", "[soon]\nioengine=null\nsize=4m\nrw=read\n");
    // Its file takes a second or so to write.
    job(
        "late.fio",
        "[late]\nfilename=late\nioengine=psync\nsize=768m\nio_size=4m\nrw=read\n",
    );
    let text = ours(
        folder.path(),
        &[
            "--output-format=json",
            "--client=sock:socket",
            "soon.fio",
            "--client=sock:socket",
            "late.fio",
        ],
    );
    let document: Value = serde_json::from_str(&text).unwrap();
    let begun = |index: usize| {
        document["client_stats"][index]["job_start"]
            .as_u64()
            .unwrap()
    };
    assert!(begun(0).abs_diff(begun(1)) < 500, "{text}");
}

/// Logs are the client's, beside where it is, however their directories are called; the server keeps none.
#[test]
fn logs_of_a_server_come_to_its_client() {
    let folder = support::disk_folder();
    let [there, here] = ["there", "here"].map(|name| folder.path().join(name));
    std::fs::create_dir_all(&there).unwrap();
    std::fs::create_dir_all(here.join("logs")).unwrap();
    let _server = Server::start(&there);
    let job =
        "[a]\nioengine=null\nsize=4m\nrw=read\nnumjobs=2\nwrite_lat_log=logs/a\nper_job_logs=1\n";
    std::fs::write(here.join("a.fio"), job).unwrap();
    let client = ["--client=sock:../there/socket", "a.fio"];
    let text = ours(&here, &[&client[..], &["--output-format=json"]].concat());
    let document: Value = serde_json::from_str(&text).unwrap();
    assert!(document.get("timestamp_ms").is_none(), "fio has none here");
    // Nothing takes time to submit here: that log is there, and has no lines.
    for (name, lines) in [
        ("lat.1", 1024),
        ("lat.2", 1024),
        ("clat.1", 1024),
        ("slat.2", 0),
    ] {
        let log = format!("logs/a_{name}.log..._there_socket");
        let text = std::fs::read_to_string(here.join(&log)).unwrap();
        assert_eq!(text.lines().count(), lines, "{log}");
    }
    let left: Vec<_> = std::fs::read_dir(&there).unwrap().collect();
    assert_eq!(left.len(), 1, "the socket alone: {left:?}");
    // Without the directory the results are there nevertheless.
    std::fs::remove_dir_all(here.join("logs")).unwrap();
    let arguments = [&["fio"], &client[..]].concat();
    let (stdout, stderr) = support::expect_code(&here, &arguments, 1);
    assert!(stdout.contains("read: IOPS="), "{stdout}");
    assert!(stderr.contains("make its directory"), "{stderr}");
}

/// A client that goes away ends its jobs: the server serves the next at once.
#[test]
fn a_client_that_is_gone_ends_its_jobs() {
    let folder = support::disk_folder();
    let _server = Server::start(folder.path());
    let job = "[long]\nfilename=long.dat\nrw=write\nsize=1g\nrate=1m\nfallocate=none\n";
    std::fs::write(folder.path().join("long.fio"), job).unwrap();
    let mut client = support::fathom(folder.path());
    client.args(["fio", "--client=sock:socket", "long.fio"]);
    let mut client = client.stdout(Stdio::null()).spawn().unwrap();
    let written = folder.path().join("long.dat");
    let size = || std::fs::metadata(&written).map_or(0, |file| file.blocks());
    let wait = |until: &dyn Fn() -> bool| {
        for _ in 0..3000 {
            if until() {
                return true;
            }
            let _ = Command::new("sleep").arg("0.01").status();
        }
        false
    };
    assert!(wait(&|| size() > 0), "the job never began");
    client.kill().unwrap();
    client.wait().unwrap();
    // Its file stops growing.
    let stopped = wait(&|| {
        let before = size();
        let _ = Command::new("sleep").arg("2.5").status();
        size() == before
    });
    assert!(stopped);
}
