//! Workloads on exports of NBD servers, as a user runs them.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

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
        command.arg("-k").arg(folder.join("socket"));
        let server = Self(command.arg(folder.join("image")).spawn().unwrap());
        while !folder.join("socket").exists() {
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
        (vec!["--rw=randtrim", "--size=1m"], 1, "does not know trims"),
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
