//! Workloads on exports of NBD servers, as a user runs them.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Output};

use fathom_rawio::{Clock, sleep_until};
use fathom_units::Nanos;
use serde_json::Value;

/// A qemu-nbd on a file of 16 MiB in `folder`, ended when it is dropped.
struct Server(Child);

impl Server {
    fn start(folder: &Path) -> Self {
        let image = std::fs::File::create(folder.join("image")).unwrap();
        image.set_len(16 << 20).unwrap();
        let mut command = Command::new("qemu-nbd");
        command.args(["--persistent", "--shared=0", "--format=raw", "-x", "disk"]);
        command.arg("--discard=unmap");
        command.arg("-k").arg(folder.join("socket"));
        let server = Self(command.arg(folder.join("image")).spawn().unwrap());
        // The socket is there before anybody listens on it.
        while UnixStream::connect(folder.join("socket")).is_err() {
            sleep_until(Clock::now() + Nanos::from_millis(5));
        }
        server
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn uri(folder: &Path) -> String {
    let socket = folder.join("socket");
    format!("nbd+unix:///disk?socket={}", socket.display())
}

fn fio(folder: &Path, words: &[&str]) -> Output {
    let mut command = support::fathom(folder);
    command.args(["fio", "--name=x", "--ioengine=nbd"]);
    command.arg(format!("--uri={}", uri(folder))).args(words);
    command.output().unwrap()
}

/// Bytes read and written by the one job of a run that succeeds.
#[track_caller]
fn check(folder: &Path, words: &[&str], expected: (u64, u64)) {
    let flag = format!("--destroy-data={}", uri(folder));
    let words = [words, &[flag.as_str(), "--output-format=json"]].concat();
    let output = fio(folder, &words);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words:?}: {stderr}");
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let job = &document["jobs"][0];
    let bytes = |way: &str| job[way]["io_bytes"].as_u64().unwrap();
    assert_eq!((bytes("read"), bytes("write")), expected, "{words:?}");
    assert_eq!(job["error"], 0, "{words:?}");
}

#[test]
fn jobs_of_fio_read_write_and_verify() {
    let folder = tempfile::tempdir().unwrap();
    let _server = Server::start(folder.path());
    let check = |words: &[&str], expected| check(folder.path(), words, expected);
    let (all, part) = (16 << 20, 4 << 20);
    check(&["--rw=randread", "--bs=4k", "--iodepth=32"], (all, 0));
    check(&["--rw=read", "--bs=64k"], (all, 0));
    let verify = ["--verify=crc32c", "--size=4m", "--end_fsync=1"];
    check(
        &[&verify[..], &["--rw=randwrite", "--bs=4k"]].concat(),
        (part, part),
    );
    let deep = ["--rw=randwrite", "--bs=4k", "--iodepth=32", "--fsync=8"];
    check(&[&verify[..], &deep].concat(), (part, part));
    let large = ["--rw=write", "--bs=2m", "--iodepth=2", "--sync=1"];
    check(&[&verify[..], &large].concat(), (part, part));
    // As in fio, which knows how much the server has.
    check(&["--rw=read", "--bs=64k", "--size=32m"], (all, 0));
    check(&["--rw=read", "--bs=64k", "--size=25%"], (part, 0));
    let behind = ["--offset=12m", "--size=8m"];
    check(
        &[&["--rw=read", "--bs=64k"], &behind[..]].concat(),
        (part, 0),
    );
    // What was written is there for others.
    let image = std::fs::read(folder.path().join("image")).unwrap();
    assert!(image[..4 << 20].iter().any(|byte| *byte != 0));
    assert!(image[4 << 20..].iter().all(|byte| *byte == 0));
}

#[test]
fn jobs_of_fio_write_only_what_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let _server = Server::start(folder.path());
    for (words, code, told) in [
        (
            vec!["--rw=write"],
            4,
            "add `--destroy-data='nbd+unix:///disk?socket=",
        ),
        (
            vec!["--rw=write", "--destroy-data=disk"],
            4,
            "`--destroy-data=disk` does not name it",
        ),
        (
            vec!["--rw=randtrim", "--size=1m"],
            4,
            "add `--destroy-data='nbd+unix:///disk?socket=",
        ),
    ] {
        let output = fio(folder.path(), &words);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{words:?}: {stderr}");
        assert!(stderr.contains(told), "{words:?}: {stderr}");
    }
    let image = std::fs::read(folder.path().join("image")).unwrap();
    assert!(image.iter().all(|byte| *byte == 0));
}

#[test]
fn a_native_job_is_interrupted() {
    let folder = tempfile::tempdir().unwrap();
    let _server = Server::start(folder.path());
    let text = format!(
        "[target]\npath = \"{}\"\n[[stage]]\nname = \"read\"\nmeasure = \"60s\"\n[[stage.job]]\ndepth = 16\nworkers = 2\n",
        uri(folder.path())
    );
    std::fs::write(folder.path().join("w.toml"), text).unwrap();
    let mut command = support::fathom(folder.path());
    let mut child = command.args(["run", "w.toml"]).spawn().unwrap();
    sleep_until(Clock::now() + Nanos::from_millis(1500));
    let id = child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-INT", &id])
            .status()
            .unwrap()
            .success()
    );
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

#[test]
fn jobs_of_fio_trim_and_verify() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    let part = 4 << 20;
    let verify = ["--verify=crc32c", "--size=4m", "--bs=16k"];
    for depth in ["--iodepth=1", "--iodepth=16"] {
        let words = [&verify[..], &["--rw=trimwrite", depth]].concat();
        check(folder.path(), &words, (part, part));
    }
    check(
        folder.path(),
        &["--rw=randtrim", "--size=2m", "--iodepth=8"],
        (0, 0),
    );
    let image = std::fs::read(folder.path().join("image")).unwrap();
    assert!(image[..2 << 20].iter().all(|byte| *byte == 0));
    assert!(image[2 << 20..4 << 20].iter().any(|byte| *byte != 0));
    drop(server);
}

#[test]
fn the_first_interrupt_does_not_wait_for_a_silent_server() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    let text = format!(
        "[target]\npath = \"{}\"\n[[stage]]\nname = \"read\"\nmeasure = \"60s\"\n[[stage.job]]\ndepth = 16\n",
        uri(folder.path())
    );
    std::fs::write(folder.path().join("w.toml"), text).unwrap();
    let mut command = support::fathom(folder.path());
    command.args(["run", "w.toml"]);
    command.stderr(std::process::Stdio::piped());
    let child = command.spawn().unwrap();
    let signal = |name: &str, id: u32| {
        let sent = Command::new("kill").args([name, &id.to_string()]).status();
        assert!(sent.unwrap().success());
    };
    sleep_until(Clock::now() + Nanos::from_millis(1500));
    signal("-STOP", server.0.id());
    sleep_until(Clock::now() + Nanos::from_millis(500));
    let start = Clock::now();
    signal("-INT", child.id());
    let output = child.wait_with_output().unwrap();
    let took = Clock::now().saturating_sub(start);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{stderr}");
    assert!(took < Nanos::from_secs(10), "{took}");
    let told = "the server of its export says nothing any more; 16 requests had no answer";
    assert!(stderr.contains(told), "{stderr}");
}

#[test]
fn a_path_is_mapped_to_an_export() {
    let folder = tempfile::tempdir().unwrap();
    let _server = Server::start(folder.path());
    let text = "[target]\npath = \"/nowhere/data\"\n[[stage]]\nname = \"read\"\nmeasure = \"1s\"\n[[stage.job]]\ndepth = 4\n";
    std::fs::write(folder.path().join("w.toml"), text).unwrap();
    let map = format!("/nowhere/data={}", uri(folder.path()));
    let mut command = support::fathom(folder.path());
    let output = command
        .args(["run", "w.toml", "--map", &map])
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
}

/// The files of a folder have names, which neither an export nor a file goes on with; what is said to do about it does.
#[test]
fn a_folder_is_mapped_file_by_file() {
    let folder = support::disk_folder();
    let home = folder.path();
    let _server = Server::start(home);
    let job = "[x]\nioengine=psync\ndirect=1\ndirectory=/data/x\nrw=read\nbs=64k\nsize=1m\n";
    std::fs::write(home.join("job.fio"), job).unwrap();
    let run = |map: &str, code| {
        let words = ["run", "--no-record", "--dialect", "fio", "--map", map];
        support::expect_code(home, &[&words[..], &["job.fio"]].concat(), code).1
    };
    let image = home.join("image").display().to_string();
    for (to, problem) in [
        (
            uri(home),
            "an export holds no files, and the URI goes on behind its socket",
        ),
        (image, "/image` is a file, which holds no files"),
    ] {
        let told = run(&format!("/data/x={to}"), 3);
        assert!(told.contains(problem), "{told}");
        let map = format!("/data/x/x.0.0={to}");
        assert!(told.contains(&format!("`--map '{map}'`")), "{told}");
        run(&map, 0);
    }
}

#[test]
fn an_export_without_a_size_is_predicted_at_what_its_server_says() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    let text = format!(
        "[target]\npath = \"{}\"\n[[stage]]\nname = \"read\"\nmeasure = \"1s\"\n[[stage.job]]\ndepth = 4\n",
        uri(folder.path())
    );
    std::fs::write(folder.path().join("w.toml"), text).unwrap();
    let design = support::example("guide-2016/ds14.design.toml");
    let predict = || {
        let mut command = support::fathom(folder.path());
        let map = format!("{}=/mnt/readcache/export", uri(folder.path()));
        command.args(["predict", "--on", &design, "w.toml", "--map", &map]);
        command.output().unwrap()
    };
    let known = predict();
    let stderr = String::from_utf8_lossy(&known.stderr);
    assert!(known.status.success(), "{stderr}");
    drop(server);
    let unknown = predict();
    let stderr = String::from_utf8_lossy(&unknown.stderr);
    assert_eq!(unknown.status.code(), Some(3), "{stderr}");
    assert!(stderr.contains("is not known"), "{stderr}");
}
