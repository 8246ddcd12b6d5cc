//! Results for which the file system has no room: none is lost that took time to get, and what to do is said.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::fmt::Write as _;
use std::fs;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use support::expect_code;

const RAM: &str = "[[device]]\nname = 'ram'\nmount = '/ram'\nsize = '1MiB'\nlatency = 'none'\n";

/// A folder on a file system of its own, until dropped.
struct Small(String);

impl Small {
    fn new(home: &Path, size: &str) -> Self {
        let place = home.join(size);
        fs::create_dir(&place).unwrap();
        let path = place.display().to_string();
        let size = format!("size={size}");
        support::system("mount", &["-t", "tmpfs", "-o", &size, "tmpfs", &path]);
        Self(path)
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

/// A folder whose file system is full, until dropped.
struct Full(String);

impl Full {
    fn new(home: &Path) -> Self {
        let place = home.join("full");
        fs::create_dir(&place).unwrap();
        let path = place.display().to_string();
        support::system("mount", &["-t", "tmpfs", "-o", "size=4k", "tmpfs", &path]);
        fs::write(place.join("fill"), [1; 4096]).unwrap();
        Self(path)
    }
}

impl Drop for Full {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

/// iostat's reports of an hour, with I/O in each.
fn log() -> String {
    let mut log = "Linux 6.1.0 (db1) \t11/20/2026 \t_x86_64_\t(4 CPU)\n".to_owned();
    for minute in 0..60 {
        let _ = writeln!(
            log,
            "\n11/20/2026 09:{minute:02}:00 AM\nDevice r/s w/s rkB/s wkB/s\nsda 5.00 5.00 40.00 40.00"
        );
    }
    log
}

#[test]
fn results_that_find_no_room_are_printed() {
    let folder = support::disk_folder();
    let home = folder.path();
    let _full = Full::new(home);
    fs::write(home.join("log"), log()).unwrap();
    fs::write(
        home.join("parm"),
        "sd=s,lun=x,size=1m\nwd=w,sd=s\nrd=r,wd=w,iorate=max,elapsed=2,interval=1\n",
    )
    .unwrap();
    let job = ["fio", "--name=n", "--ioengine=null", "--size=4m"];
    let fio = |more| [&job[..], &[more]].concat();
    let [results, trace, log_of_each, log_of_all] = [
        "--output=full/fio.txt",
        "--write_iolog=full/trace",
        "--write_iops_log=full/each",
        "--bandwidth-log=full/all",
    ]
    .map(fio);
    let iometer = "iometer --spec Database --target . --qd 1 --size 1MiB --time 1s /r full/r.csv";
    let iometer: Vec<&str> = iometer.split(' ').collect();
    let observe = ["observe", "--from", "log", "-o", "full/o.profile.toml"];
    let vdbench = ["vdbench", "-s", "-f", "parm", "-o", "full/out"];
    for (words, code, printed) in [
        (&results[..], 1, "issued rwts"),
        (&trace, 1, "issued rwts"),
        (&log_of_each, 1, "issued rwts"),
        (&log_of_all, 1, "issued rwts"),
        (&iometer, 5, "'End Test"),
        (&observe, 5, "[[volume.period]]"),
        (&vdbench, 157, ""),
    ] {
        let (stdout, stderr) = expect_code(home, words, code);
        assert!(stdout.contains(printed), "{words:?}: {stdout}");
        assert!(
            stderr.contains("No space left on device"),
            "{words:?}: {stderr}"
        );
        assert!(stderr.contains("hint: free space"), "{words:?}: {stderr}");
    }
    assert!(!home.join("full/o.profile.toml").exists());
}

/// A write beyond `ulimit -f` fails like others, and what was measured before is told.
#[test]
fn a_limit_of_file_sizes_is_an_error() {
    let folder = support::disk_folder();
    let home = folder.path();
    let program = support::fathom_binary();
    let job = "fio --name=big --rw=write --bs=4k --size=64k --fallocate=none --output-format=json";
    for engine in ["psync", "libaio", "io_uring"] {
        // bash's blocks are 1 KiB.
        let line = format!(
            "ulimit -f 32; exec '{}' {job} --ioengine={engine}",
            program.display()
        );
        let ran = Command::new("bash")
            .args(["-c", &line])
            .current_dir(home)
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(1), "{engine}: {told}");
        assert!(told.contains("ulimit -f"), "{engine}: {told}");
        let record: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
        let job = &record["jobs"][0];
        assert_eq!(job["error"], 27, "{engine}: {job}");
        // Those before it and, as in fio, itself.
        assert_eq!(job["write"]["total_ios"], 9, "{engine}");
        fs::remove_file(home.join("big.0.0")).unwrap();
    }
}

/// A trace that ends early is told at the end, and in the exit code: its reader would take the part for all of it.
#[test]
fn a_trace_that_finds_no_room_fails_the_serving() {
    let folder = support::disk_folder();
    let home = folder.path();
    let full = Full::new(home);
    fs::remove_file(Path::new(&full.0).join("fill")).unwrap();
    fs::write(home.join("d.design.toml"), RAM).unwrap();
    let words = "serve d.design.toml --nbd unix:s --no-record -q --trace full/t.csv";
    let mut server = support::fathom(home)
        .args(words.split(' '))
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let socket = home.join("s/fathom.sock");
    while UnixStream::connect(&socket).is_err() {
        assert!(server.try_wait().unwrap().is_none(), "it ended");
        std::thread::park_timeout(Duration::from_millis(20));
    }
    let uri = format!("nbd+unix:///ram?socket={}", socket.display());
    let reads = format!(
        "import nbd\nh = nbd.NBD()\nh.connect_uri({uri:?})\nfor _ in range(1000): h.pread(512, 0)"
    );
    support::system("/usr/bin/python3", &["-c", &reads]);
    support::system("kill", &["-INT", &server.id().to_string()]);
    let ended = server.wait_with_output().unwrap();
    let told = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(5), "{told}");
    for part in [
        "`full/t.csv`",
        "No space left on device",
        "hint: free space",
        "the trace ends there",
    ] {
        assert!(told.contains(part), "{told}");
    }
}

/// A run whose record found no room is not pointed at, and one that is pointed at is there.
#[test]
fn nobody_is_sent_to_a_record_that_is_not_there() {
    let folder = support::disk_folder();
    let home = folder.path();
    let design =
        "[[device]]\nname = 'd'\nmount = '/d'\nsize = '1MiB'\niops = 1000\nlatency = 'none'\n";
    fs::write(home.join("d.design.toml"), design).unwrap();
    let workload =
        "[[stage]]\nmeasure = '1s'\n[[stage.job]]\ntarget = { path = '/d/x', size = '1MiB' }\n";
    fs::write(home.join("w.workload.toml"), workload).unwrap();
    let mut pointed_at = Vec::new();
    // From no room for the first line to room for all.
    for size in ["4k", "12k", "16k", "20k", "24k", "1m"] {
        let small = Small::new(home, size);
        let program = |words: &str| {
            let mut program = support::fathom(home);
            program.env("XDG_DATA_HOME", &small.0);
            program.args(words.split(' ')).output().unwrap()
        };
        let output = program("predict --on d.design.toml w.workload.toml");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (shown, told) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.success(), "{size}: {told}");
        if shown.contains("`fathom report last") {
            let report = program("report last");
            assert!(report.status.success(), "{size}: {report:?}");
            assert!(!told.contains("No space left"), "{size}: {told}");
        } else {
            assert!(shown.contains("this run was not stored"), "{size}: {shown}");
            assert!(told.contains("No space left on device"), "{size}: {told}");
        }
        pointed_at.push(shown.contains("`fathom report last"));
    }
    assert!(
        !pointed_at[0] && pointed_at.ends_with(&[true]),
        "{pointed_at:?}"
    );
}
