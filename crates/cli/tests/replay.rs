//! `fathom replay`: recorded traces on real storage, and the same traces predicted.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Read as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use fathom_rawio::{Clock, sleep_until};
use fathom_units::Nanos;
use serde_json::Value;
use support::{disk_folder, expect_code, fathom, system};

const HEADER: &str = "arrival_ns,volume,op,offset,length,due_ns,done_ns,limit\n";
const MS: u64 = 1_000_000;

/// A device of 64 MiB.
fn device(limits: &str) -> String {
    format!("[[device]]\nname = 'ram'\nmount = '/ram'\nsize = '64MiB'\n{limits}\n")
}

/// A server of one device, whose trace is `trace.csv` beside its design; ended with its value.
struct Served {
    child: Child,
    folder: PathBuf,
}

impl Served {
    fn start(folder: &Path, design: &str) -> Self {
        std::fs::create_dir_all(folder).unwrap();
        std::fs::write(folder.join("d.design.toml"), design).unwrap();
        let words =
            "serve d.design.toml --nbd unix:sockets --trace trace.csv --json --no-record -q";
        let mut command = fathom(folder);
        command.args(words.split(' ')).stdout(Stdio::piped());
        let served = Self {
            child: command.spawn().unwrap(),
            folder: folder.to_owned(),
        };
        let started = Clock::now();
        while UnixStream::connect(folder.join("sockets/fathom.sock")).is_err() {
            assert!(Clock::now() - started < Nanos::from_secs(60), "no server");
            std::thread::park_timeout(Duration::from_millis(20));
        }
        served
    }

    fn uri(&self) -> String {
        let socket = self.folder.join("sockets/fathom.sock");
        format!("nbd+unix:///ram?socket={}", socket.display())
    }

    /// Interrupts it and gives its trace.
    fn stop(mut self) -> PathBuf {
        system("kill", &["-TERM", &self.child.id().to_string()]);
        let mut text = String::new();
        let told = self.child.stdout.as_mut().unwrap();
        told.read_to_string(&mut text).unwrap();
        assert!(self.child.wait().unwrap().success());
        self.folder.join("trace.csv")
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A loop device over a file of 64 MiB, detached with its value.
struct LoopDevice {
    image: PathBuf,
    device: String,
}

impl LoopDevice {
    fn new(folder: &Path) -> Self {
        let image = folder.join("disk.img");
        std::fs::File::create(&image)
            .unwrap()
            .set_len(64 << 20)
            .unwrap();
        let words = ["--find", "--show", image.to_str().unwrap()];
        let device = system("losetup", &words);
        Self { image, device }
    }

    fn name(&self) -> &str {
        self.device.trim_start_matches("/dev/")
    }

    /// Flushes that the device has done since it is there (`Documentation/block/stat.rst`).
    fn flushes(&self) -> u64 {
        let path = format!("/sys/block/{}/stat", self.name());
        let told = std::fs::read_to_string(path).unwrap();
        told.split_whitespace().nth(15).unwrap().parse().unwrap()
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        let _ = std::process::Command::new("losetup")
            .args(["--detach", &self.device])
            .status();
    }
}

/// Arrival, operation, offset and length of each line of a served trace, by arrival.
fn lines(trace: &Path) -> Vec<(u64, String, u64, u64)> {
    let text = std::fs::read_to_string(trace).unwrap();
    let lines = text.lines().skip(1).map(|line| {
        let columns: Vec<&str> = line.split(',').collect();
        let number = |at: usize| columns[at].parse::<u64>().unwrap();
        (number(0), columns[2].to_owned(), number(3), number(4))
    });
    let mut lines: Vec<_> = lines.collect();
    lines.sort();
    lines
}

/// `fathom WORDS --json --no-record -q` that ends with `code`: its record.
#[track_caller]
fn record(home: &Path, words: &[&str], code: i32) -> Value {
    let words = [words, &["--json", "--no-record", "-q"]].concat();
    let (stdout, stderr) = expect_code(home, &words, code);
    serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stdout}{stderr}"))
}

/// A figure of the only stage's `way`.
fn figure(record: &Value, way: &str, path: &str) -> f64 {
    let of = &record["stages"][0]["total"][way];
    let found = of.pointer(path).and_then(Value::as_f64);
    found.unwrap_or_else(|| panic!("{way} {path}: {of}"))
}

/// A figure that counts.
fn count(record: &Value, way: &str, path: &str) -> u64 {
    figure(record, way, path) as u64
}

fn ios(record: &Value) -> (u64, u64) {
    let ios = |way| count(record, way, "/ios");
    (ios("read"), ios("write"))
}

fn measured_ms(record: &Value) -> f64 {
    record["stages"][0]["measured_ns"].as_f64().unwrap() / 1e6
}

fn failed(record: &Value) -> Vec<&str> {
    let checks = record["checks"].as_array().unwrap().iter();
    let failed = checks.filter(|check| check["passed"] == false);
    failed.map(|check| check["id"].as_str().unwrap()).collect()
}

/// Reads and writes of a client of a served export: what is recorded.
fn recorded(folder: &Path, design: &str) -> PathBuf {
    let served = Served::start(folder, design);
    let uri = served.uri();
    let destroy = format!("--destroy-data={uri}");
    let job = "--name=x --ioengine=nbd --rw=randrw --rwmixread=60 --bs=4k --rate_iops=300,200 \
               --rate_process=poisson --iodepth=32 --fdatasync=50 --runtime=2 --time_based";
    let uri = format!("--uri={uri}");
    let words = ["run", "--no-record", "-q", &destroy, "fio"].into_iter();
    let words: Vec<&str> = words.chain(job.split_whitespace()).chain([&*uri]).collect();
    expect_code(folder, &words, 0);
    served.stop()
}

/// What a server of modelled storage recorded is played to another: the same I/Os at the same times, and as predicted.
#[test]
fn a_replay_is_what_was_recorded_and_what_is_predicted() {
    let folder = disk_folder();
    let design = device("latency = { median = '2ms', p99 = '3ms' }");
    let trace = recorded(&folder.path().join("a"), &design);
    let trace = trace.to_str().unwrap();
    let served = Served::start(&folder.path().join("b"), &design);
    let uri = served.uri();
    let destroy = format!("--destroy-data={uri}");
    let replayed = record(folder.path(), &["replay", trace, "--to", &uri, &destroy], 0);
    let again = lines(&served.stop());
    let first = lines(Path::new(trace));
    assert!(first.len() > 800, "{}", first.len());
    let of = |lines: &[(u64, String, u64, u64)], op: &str| -> Vec<(u64, u64, u64)> {
        let start = lines[0].0;
        let of = lines.iter().filter(|line| line.1 == op);
        of.map(|(at, _, offset, length)| (at - start, *offset, *length))
            .collect()
    };
    for op in ["read", "write", "flush"] {
        let (first, again) = (of(&first, op), of(&again, op));
        assert_eq!(first.len(), again.len(), "{op}");
        // Two that came within microseconds may change places.
        let places = |lines: &[(u64, u64, u64)]| {
            let mut places: Vec<_> = lines.iter().map(|it| (it.1, it.2)).collect();
            places.sort_unstable();
            places
        };
        assert_eq!(places(&first), places(&again), "{op}");
        let mut off: Vec<u64> = first
            .iter()
            .zip(&again)
            .map(|(one, other)| one.0.abs_diff(other.0))
            .collect();
        off.sort_unstable();
        let median = off[off.len() / 2];
        assert!(median < 2 * MS, "{op}: {median} ns off its time");
    }
    let design = folder.path().join("b/d.design.toml");
    let design = design.to_str().unwrap();
    let words = ["predict", "--on", design, "--replay", trace];
    let predicted = record(folder.path(), &words, 0);
    assert_eq!(ios(&replayed), ios(&predicted));
    let apart = measured_ms(&replayed) / measured_ms(&predicted);
    assert!((0.98..1.1).contains(&apart), "{apart}");
    for way in ["read", "write"] {
        let p50 = |record| figure(record, way, "/response_ns/p50") / 1e6;
        let (replayed, predicted) = (p50(&replayed), p50(&predicted));
        let apart = (replayed - predicted).abs();
        assert!(apart < 1.0, "{way}: {replayed} ms and {predicted} ms");
    }
}

/// Counts, bytes and places on a block device, which is written only when it is named.
#[test]
fn a_block_device_gets_what_the_trace_wrote() {
    let folder = disk_folder();
    let home = folder.path();
    let mut text = HEADER.to_owned();
    let mut written = BTreeSet::new();
    for number in 0..200 {
        let place = number * 7_919 % 16_000 * 4096;
        let op = ["write", "read", "write+fua", "zeroes"][number as usize % 4];
        if op.starts_with("write") || op == "zeroes" {
            written.insert(place);
        }
        let _ = writeln!(text, "{},ram,{op},{place},4096,1,1,", number * 2 * MS);
    }
    text += "398000000,ram,trim,65536,4096,1,1,\n399000000,ram,flush,0,0,1,1,\n";
    std::fs::write(home.join("t.csv"), &text).unwrap();
    let disk = LoopDevice::new(home);
    let words = ["replay", "t.csv", "--to", &disk.device];
    let (_, stderr) = expect_code(home, &words, 4);
    assert!(stderr.contains("--destroy-data"), "{stderr}");
    assert!(
        std::fs::read(&disk.image)
            .unwrap()
            .iter()
            .all(|byte| *byte == 0)
    );
    let destroy = format!("--destroy-data={}", disk.name());
    let words = [&words[..], &[&destroy]].concat();
    let flushes = || disk.flushes();
    let before = flushes();
    let replayed = record(home, &words, 0);
    assert_eq!(ios(&replayed), (50, 150));
    // A durable write is one I/O: the only sync is the trace's flush. Writes come 4 ms after each other, too far to share one.
    assert_eq!(count(&replayed, "sync", "/ios"), 1);
    let flushed = flushes() - before;
    assert!((26..=60).contains(&flushed), "{flushed} flushes of 51");
    let notes = replayed["notes"].to_string();
    assert!(
        notes.contains("50 requests of its trace wrote zeroes without sending them"),
        "{notes}"
    );
    assert_eq!(count(&replayed, "write", "/bytes"), 150 * 4096);
    assert_eq!(count(&replayed, "trim", "/ios"), 1);
    let measured = measured_ms(&replayed);
    assert!((398.0..1500.0).contains(&measured), "{measured}");
    system("sync", &[]);
    let image = std::fs::read(&disk.image).unwrap();
    let blocks = image.chunks(4096).zip(0..);
    let found = blocks.filter(|(block, _)| block.iter().any(|byte| *byte != 0));
    let found: BTreeSet<u64> = found.map(|(_, number)| number * 4096).collect();
    assert_eq!(found, written);
    // It reaches byte 65,532,928 and this far no smaller one does.
    let words = ["replay", "t.csv", "--to", "small", "--skip", "trim"];
    std::fs::write(home.join("small"), [0; 8192]).unwrap();
    let (_, stderr) = expect_code(home, &words, 3);
    assert!(stderr.contains("and the trace reaches byte"), "{stderr}");
    assert!(stderr.contains("hint: name a larger file"), "{stderr}");
}

/// What genuine fio recorded, on a file that is not there yet: at its times, faster, and at once.
#[test]
fn a_trace_of_fio_is_replayed_at_any_speed() {
    let folder = disk_folder();
    let home = folder.path();
    let job = "--name=x --filename=source --size=4m --rw=randrw --bs=4k --rate_iops=50,50 --runtime=3 \
               --time_based --write_iolog=log";
    let mut fio = std::process::Command::new("timeout");
    fio.args(["-s", "KILL", "60", "fio"]).current_dir(home);
    let output = fio.args(job.split_whitespace()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let log = std::fs::read_to_string(home.join("log")).unwrap();
    let of = |word: &str| log.lines().filter(|line| line.contains(word)).count() as u64;
    let counted = (of(" read "), of(" write "));
    assert!(counted.0 > 50 && counted.1 > 50, "{counted:?}");
    let times = log
        .lines()
        .filter(|line| line.contains(" read ") || line.contains(" write "));
    let times: Vec<f64> = times
        .map(|line| line.split(' ').next().unwrap().parse().unwrap())
        .collect();
    let opened = log.lines().nth(1).unwrap().split(' ').next().unwrap();
    let length = (times.last().unwrap() - opened.parse::<f64>().unwrap()) / 1000.0;
    for (more, least, most) in [
        (&[][..], length * 0.98, length + 1500.0),
        (&["--speed", "4x"], length * 0.245, length / 4.0 + 700.0),
        (&["--as-fast-as-possible"], 0.0, length / 4.0),
    ] {
        let words = [&["replay", "log", "--to", "copy"], more].concat();
        let replayed = record(home, &words, 0);
        assert_eq!(ios(&replayed), counted, "{more:?}");
        let measured = measured_ms(&replayed);
        assert!(
            (least..most).contains(&measured),
            "{more:?}: {measured} of {length}"
        );
    }
    let design = device("latency = { median = '2ms', p99 = '3ms' }");
    std::fs::write(home.join("d.design.toml"), design).unwrap();
    let words = ["predict", "--on", "d.design.toml", "--replay", "log"];
    let predicted = record(home, &words, 0);
    assert_eq!(ios(&predicted), counted);
    assert!((measured_ms(&predicted) - length).abs() < 10.0);
}

/// Storage that does not carry a trace: its I/Os begin in time, and end ever later.
#[test]
fn a_target_that_is_too_slow_is_told() {
    let folder = disk_folder();
    let home = folder.path();
    let mut text = HEADER.to_owned();
    for number in 0..600 {
        let place = number % 1000 * 4096;
        let _ = writeln!(text, "{},ram,read,{place},4096,1,1,", number * 5 * MS / 2);
    }
    std::fs::write(home.join("t.csv"), text).unwrap();
    let fast = Served::start(
        &home.join("fast"),
        &device("latency = { median = '1ms', p99 = '2ms' }"),
    );
    let replayed = record(home, &["replay", "t.csv", "--to", &fast.uri()], 0);
    assert!(!failed(&replayed).contains(&"schedule-lag"), "{replayed:#}");
    assert!(figure(&replayed, "read", "/response_ns/p99") < 200e6);
    // 200 a second of the 400 that are asked for: three seconds for half as many.
    let slow = Served::start(
        &home.join("slow"),
        &device("iops = 200\nlatency = { median = '1ms', p99 = '2ms' }"),
    );
    let uri = slow.uri();
    let words = ["replay", "t.csv", "--to", &uri];
    let replayed = record(home, &words, 0);
    assert!(failed(&replayed).contains(&"schedule-lag"), "{replayed:#}");
    assert_eq!(count(&replayed, "read", "/ios"), 600);
    let measured = measured_ms(&replayed);
    assert!((2900.0..4500.0).contains(&measured), "{measured}");
    let p99 = figure(&replayed, "read", "/response_ns/p99") / 1e6;
    assert!((1300.0..2500.0).contains(&p99), "{p99}");
    let (_, _) = expect_code(home, &[&words[..], &["--strict", "-q"]].concat(), 6);
    // Predicted it is the same.
    let words = ["predict", "--on", "slow/d.design.toml", "--replay", "t.csv"];
    let predicted = record(home, &words, 0);
    assert!(
        failed(&predicted).contains(&"schedule-lag"),
        "{predicted:#}"
    );
    let apart = figure(&predicted, "read", "/response_ns/p99") / 1e6 - p99;
    assert!(apart.abs() < 300.0, "{apart}");
}

/// Several names go to targets of their own, each with a job of its own; formats are told by content.
#[test]
fn names_go_to_their_own_targets() {
    let folder = disk_folder();
    let home = folder.path();
    let msr = "128166372003061629,hm,0,Read,8192,4096,1\n128166372003561629,hm,1,Write,4096,8192,1\n\
               128166372004061629,hm,0,Read,0,4096,1\n";
    std::fs::write(home.join("log"), msr).unwrap();
    for name in ["a", "b"] {
        std::fs::write(home.join(name), [7; 16_384]).unwrap();
    }
    let words = ["replay", "log", "--to", "hm.0=a", "--to", "hm.1=new"];
    let replayed = record(home, &words, 0);
    assert_eq!(ios(&replayed), (2, 1));
    let jobs = replayed["stages"][0]["jobs"].as_array().unwrap();
    let jobs: Vec<&str> = jobs
        .iter()
        .map(|job| job["name"].as_str().unwrap())
        .collect();
    assert_eq!(jobs, ["hm.0", "hm.1"]);
    assert!((100.0..600.0).contains(&measured_ms(&replayed)));
    assert_eq!(std::fs::metadata(home.join("new")).unwrap().len(), 12_288);
    // What is there and was not made here is not written over.
    let words = ["replay", "log", "--to", "hm.0=a", "--to", "hm.1=b", "-q"];
    let (_, stderr) = expect_code(home, &words, 4);
    assert!(stderr.contains("--overwrite"), "{stderr}");
    assert_eq!(std::fs::read(home.join("b")).unwrap(), [7; 16_384]);
    let words = ["replay", "log", "--to", "a", "--leave-out", "hm.1"];
    assert_eq!(count(&record(home, &words, 0), "read", "/ios"), 2);
    let blkparse = "  8,0    1        1     0.000000000   697  Q   R 8 + 8 [x]\n\
                    \x20 8,0    1        2     0.100000000   697  Q   R 16 + 8 [x]\nCPU0 (sda):\n";
    std::fs::write(home.join("log"), blkparse).unwrap();
    let words = ["replay", "log", "--to", "a"];
    assert_eq!(count(&record(home, &words, 0), "read", "/ios"), 2);
    let mut binary = Vec::new();
    for (time, sector) in [(5_000_u64, 0_u64), (50_000_000, 8)] {
        binary.extend((0x6561_7400_u32 | 7).to_ne_bytes());
        binary.extend(0_u32.to_ne_bytes());
        binary.extend(time.to_ne_bytes());
        binary.extend(sector.to_ne_bytes());
        for number in [4096, 1 | 1 << 16, 0, 8 << 20, 0, 0_u32] {
            binary.extend(number.to_ne_bytes());
        }
    }
    std::fs::write(home.join("log"), binary).unwrap();
    assert_eq!(count(&record(home, &words, 0), "read", "/ios"), 2);
    // Predicted on volumes of other names.
    std::fs::write(home.join("log"), msr).unwrap();
    let design = device("latency = { median = '1ms', p99 = '2ms' }")
        + &device("latency = { median = '1ms', p99 = '2ms' }").replace("ram", "other");
    std::fs::write(home.join("d.toml"), design).unwrap();
    let words = ["predict", "--on", "d.toml", "--replay", "log"];
    let (_, stderr) = expect_code(home, &words, 3);
    assert!(stderr.contains("has no volume `hm.0`"), "{stderr}");
    assert!(stderr.contains("--map NAME=VOLUME"), "{stderr}");
    let maps = ["--map", "hm.0=ram", "--map", "hm.1=other"];
    let predicted = record(home, &[&words[..], &maps].concat(), 0);
    assert_eq!(ios(&predicted), (2, 1));
}

/// What is wrong is told with what to do, before any I/O.
#[test]
fn what_is_wrong_is_told() {
    let folder = disk_folder();
    let home = folder.path();
    let write = |name: &str, text: &str| std::fs::write(home.join(name), text).unwrap();
    write("empty", "");
    write("none", HEADER);
    write("strace", "read(3, \"\", 512) = 0\n");
    write("odd", &format!("{HEADER}0,a,read,100,512,1,1,\n"));
    write("cut", &format!("{HEADER}0,a,read,0,512,1,1,\n5,a,wri"));
    write(
        "two",
        &format!("{HEADER}0,a,read,0,512,1,1,\n5,b,read,0,512,1,1,\n"),
    );
    write("one", &format!("{HEADER}0,a,read,0,512,1,1,\n"));
    write("trims", &format!("{HEADER}0,a,trim,0,512,1,1,\n"));
    std::fs::write(home.join("binary"), [0x7f, b'E', b'L', b'F', 0xff, 0, 0, 0]).unwrap();
    system("mkfifo", &[home.join("pipe").to_str().unwrap()]);
    for (words, code, told) in [
        (
            "missing --to x",
            3,
            "the trace `missing` cannot be read: No such file",
        ),
        ("empty --to x", 3, "it is empty"),
        ("none --to x", 3, "holds no I/O to replay"),
        ("pipe --to x", 3, "it is no regular file"),
        (". --to x", 3, "it is a folder"),
        ("strace --to x", 3, "it is output of strace"),
        (
            "binary --to x",
            3,
            "it begins with the bytes 7f 45 4c 46 ff 00 00 00",
        ),
        (
            "binary --to x",
            3,
            "hint: name a trace of `fathom serve --trace`, fio",
        ),
        ("cut --to x", 3, "line 3: it has fewer columns"),
        ("cut --to x", 3, "the trace was cut short"),
        ("odd --to x", 3, "`--buffered`"),
        ("one", 2, "nothing says where the trace's I/O on `a` goes"),
        ("two --to x", 2, "write `--to a=x`"),
        ("two --to a=x", 2, "I/O on `b` goes"),
        ("one --to c=x", 2, "the trace has no `c`; it names `a`"),
        ("one --to no/such/folder/x", 3, "there is no directory"),
        ("one --to /dev/no-such-device", 3, "there is no such device"),
        ("one --to nbd://127.0.0.1:1/x", 3, "nbd://127.0.0.1:1/x"),
        ("one --to x --speed 0", 2, "`0` is no speed"),
        (
            "one --to x --speed 2x --as-fast-as-possible",
            2,
            "cannot be used with",
        ),
        ("trims --to x", 3, "only block devices can be trimmed"),
        ("trims --to x --skip trim", 3, "skip less of it"),
    ] {
        let words: Vec<&str> = ["replay"].into_iter().chain(words.split(' ')).collect();
        let (stdout, stderr) = expect_code(home, &words, code);
        assert!(stderr.contains(told), "{words:?}: {stderr}");
        assert!(stdout.is_empty(), "{words:?}: {stdout}");
        assert!(!home.join("x").exists(), "{words:?}");
    }
    let replayed = record(home, &["replay", "odd", "--to", "x", "--buffered"], 0);
    assert_eq!(count(&replayed, "read", "/ios"), 1);
    let words = ["replay", "one", "--to", "y", "--dry-run"];
    let (stdout, _) = expect_code(home, &words, 0);
    assert!(stdout.contains("files = [\"a\"]"), "{stdout}");
    assert!(!home.join("y").exists());
}

/// Where nothing has come for a while, that is part of what was measured.
#[test]
fn a_replay_that_is_interrupted_in_a_silence_has_measured_it() {
    let folder = disk_folder();
    let home = folder.path();
    let text = format!(
        "{HEADER}0,a,read,0,4096,1,1,\n{},a,read,0,4096,1,1,\n",
        60_000 * MS
    );
    std::fs::write(home.join("t.csv"), text).unwrap();
    std::fs::write(home.join("file"), vec![1; 32_768]).unwrap();
    let words = ["replay", "t.csv", "--to", "file", "--json", "-q"];
    let mut command = fathom(home);
    let child = command.args(words).stdout(Stdio::piped()).spawn().unwrap();
    sleep_until(Clock::now() + Nanos::from_millis(2000));
    system("kill", &["-INT", &child.id().to_string()]);
    let output = child.wait_with_output().unwrap();
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(count(&told, "read", "/ios"), 1);
    let rate = figure(&told, "read", "/iops");
    assert!((0.4..2.0).contains(&rate), "{rate}");
}

/// Ctrl-C keeps what was done.
#[test]
fn an_interrupted_replay_tells_what_was_done() {
    let folder = disk_folder();
    let home = folder.path();
    let mut text = HEADER.to_owned();
    for number in 0..6_000 {
        let _ = writeln!(
            text,
            "{},a,read,{},4096,1,1,",
            number * 10 * MS,
            number % 8 * 4096
        );
    }
    std::fs::write(home.join("t.csv"), text).unwrap();
    std::fs::write(home.join("file"), vec![1; 32_768]).unwrap();
    let words = ["replay", "t.csv", "--to", "file", "--json", "-q"];
    let mut command = fathom(home);
    command.args(words).stdout(Stdio::piped());
    let child = command.spawn().unwrap();
    sleep_until(Clock::now() + Nanos::from_millis(2500));
    system("kill", &["-INT", &child.id().to_string()]);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(told["interrupted"], true);
    let done = figure(&told, "read", "/ios");
    assert!((50.0..400.0).contains(&done), "{done}");
    let (listed, _) = expect_code(home, &["runs"], 0);
    assert!(listed.contains("t.csv"), "{listed}");
    let (shown, _) = expect_code(home, &["report", "last"], 0);
    assert!(shown.contains("read"), "{shown}");
}
