//! One load seen by two tools at once: iostat's JSON, and PerfMon's CSV made to its format from /proc/diskstats.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use fathom_observe::import::{self, Options};
use fathom_observe::{Observation, Ops};
use fathom_rawio::{Clock, sleep_until, wall_clock};
use fathom_units::Nanos;

use crate::{device, in_order, near, only, total};

/// A loop device that goes away with it.
struct Loop(String);

impl Loop {
    fn of(file: &Path) -> Self {
        let output = Command::new("losetup")
            .args(["-f", "--show"])
            .arg(file)
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        Self(String::from_utf8(output.stdout).unwrap().trim().to_owned())
    }

    fn name(&self) -> &str {
        self.0.trim_start_matches("/dev/")
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").args(["-d", &self.0]).status();
    }
}

/// A process that does not outlive the test.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn sleep(time: Nanos) {
    sleep_until(Clock::now() + time);
}

/// The counters of a disk at a moment.
struct Counters {
    at: jiff::Timestamp,
    counters: Vec<f64>,
}

fn counters(name: &str) -> Counters {
    let text = fs::read_to_string("/proc/diskstats").unwrap();
    let at = jiff::Timestamp::from_nanosecond(i128::from(wall_clock())).unwrap();
    let line = text
        .lines()
        .find(|line| line.split_whitespace().nth(2) == Some(name))
        .unwrap();
    let counters = line
        .split_whitespace()
        .skip(3)
        .map(|word| word.parse().unwrap())
        .collect();
    Counters { at, counters }
}

/// How a log is written.
struct Style {
    header: [&'static str; 2],
    names: [&'static str; 7],
    separator: char,
    date: &'static str,
    comma: bool,
}

const ENGLISH: Style = Style {
    header: [
        "(PDH-CSV 4.0) (Coordinated Universal Time)(0)",
        "PhysicalDisk",
    ],
    names: [
        "Disk Reads/sec",
        "Disk Writes/sec",
        "Disk Read Bytes/sec",
        "Disk Write Bytes/sec",
        "Avg. Disk sec/Read",
        "Avg. Disk sec/Write",
        "Avg. Disk Queue Length",
    ],
    separator: ',',
    date: "%m/%d/%Y %H:%M:%S.",
    comma: false,
};
const FRENCH: Style = Style {
    header: [
        "(PDH-CSV 4.0) (Temps universel coordonné)(0)",
        "Disque physique",
    ],
    names: [
        "Lectures disque/s",
        "Écritures disque/s",
        "Lectures disque, octets/s",
        "Écritures disque, octets/s",
        "Moyenne disque s/lecture",
        "Moyenne disque s/écriture",
        "Longueur moyenne de file d’attente du disque",
    ],
    ..ENGLISH
};
/// As a German spreadsheet saves it.
const GERMAN: Style = Style {
    header: [
        "(PDH-CSV 4.0) (Koordinierte Weltzeit)(0)",
        "Physikalischer Datenträger",
    ],
    names: [
        "Lesevorgänge/s",
        "Schreibvorgänge/s",
        "Bytes gelesen/s",
        "Bytes geschrieben/s",
        "Mittlere Sek./Lesevorgänge",
        "Mittlere Sek./Schreibvorgänge",
        "Durchschnittl. Warteschlangenlänge des Datenträgers",
    ],
    separator: ';',
    date: "%d.%m.%Y %H:%M:%S.",
    comma: true,
};

fn csv(moments: &[Counters], style: &Style) -> String {
    let mut log = format!("\"{}\"", style.header[0]);
    for name in style.names {
        write!(
            log,
            "{}\"\\\\HOST\\{}(0 C:)\\{name}\"",
            style.separator, style.header[1]
        )
        .unwrap();
    }
    log.push_str("\r\n");
    let date = |at: jiff::Timestamp| {
        let whole = at.strftime(style.date);
        let text = format!("{whole}{:03}", at.subsec_millisecond());
        if style.comma {
            text.replacen('.', "#", 2)
                .replace('.', ",")
                .replace('#', ".")
        } else {
            text
        }
    };
    let mut last: Option<&Counters> = None;
    for moment in moments {
        write!(log, "\"{}\"", date(moment.at)).unwrap();
        for place in 0..style.names.len() {
            let value = last.map_or_else(|| " ".to_owned(), |last| value(last, moment, place));
            let value = if style.comma {
                value.replace('.', ",")
            } else {
                value
            };
            write!(log, "{}\"{value}\"", style.separator).unwrap();
        }
        log.push_str("\r\n");
        last = Some(moment);
    }
    log
}

/// A counter of PerfMon's, in the order of the names, from two readings of the kernel's.
fn value(last: &Counters, now: &Counters, place: usize) -> String {
    // PerfMon's times have milliseconds.
    let seconds = (now.at.as_millisecond() - last.at.as_millisecond()) as f64 / 1e3;
    let passed = |counter: usize| now.counters[counter] - last.counters[counter];
    let mean = |time: usize, count: usize| {
        if passed(count) > 0.0 {
            passed(time) / 1e3 / passed(count)
        } else {
            0.0
        }
    };
    let value = match place {
        0 => passed(0) / seconds,
        1 => passed(4) / seconds,
        2 => passed(2) * 512.0 / seconds,
        3 => passed(6) * 512.0 / seconds,
        4 => mean(3, 0),
        5 => mean(7, 4),
        _ => passed(10) / 1e3 / seconds,
    };
    format!("{value:.15}")
}

/// A load whose rate is the same from before the first report to behind the last: nothing of the machine's own goes before it.
fn load(disk: &Loop) -> Process {
    let target = format!("--filename={}", disk.0);
    let fio = Command::new("chrt")
        .args(["-f", "20", "fio", "--name=load", &target, "--direct=1"])
        .args(["--ioengine=libaio", "--iodepth=4", "--bs=8k"])
        .args(["--rw=randrw", "--rwmixread=70", "--rate_iops=700,300"])
        .args(["--time_based", "--runtime=11"])
        .stdout(Stdio::null())
        .spawn();
    Process(fio.unwrap())
}

/// How far the two may be apart.
const SAME: f64 = 0.005;
/// iostat writes latencies in hundredths of a millisecond.
const LATENCY_STEP_NS: f64 = 5_000.0;
/// iostat writes queues in hundredths.
const QUEUE_STEP: f64 = 0.005;

#[track_caller]
fn agree(json: &Observation, name: &str, csv: &Observation) {
    in_order(csv);
    let seconds = |observation: &Observation, name: &str| {
        let samples = device(observation, name).samples.iter();
        samples.map(|one| one.length.as_secs_f64()).sum::<f64>()
    };
    let (length, same_length) = (seconds(json, name), seconds(csv, "0 C:"));
    let (reads, writes, _) = total(device(json, name));
    let (same_reads, same_writes, _) = total(device(csv, "0 C:"));
    for (one, other) in [(reads, same_reads), (writes, same_writes)] {
        assert!(one.count > 900.0, "{one:?}");
        // iostat writes its times in whole seconds.
        near(one.count / length, other.count / same_length, SAME);
        near(
            one.bytes.unwrap() / one.count,
            other.bytes.unwrap() / other.count,
            0.001,
        );
        let latency = |ops: Ops| ops.time.unwrap().get() as f64 / ops.count;
        let (one, other) = (latency(one), latency(other));
        let apart = (one - other).abs();
        assert!(apart <= LATENCY_STEP_NS + other * SAME, "{one} and {other}");
    }
    let queue = |observation: &Observation, name: &str, length: f64| {
        let samples = device(observation, name).samples.iter();
        let weighted = samples.map(|one| one.queue.unwrap() * one.length.as_secs_f64());
        weighted.sum::<f64>() / length
    };
    let one = queue(json, name, length);
    let other = queue(csv, "0 C:", same_length);
    assert!(
        (one - other).abs() <= QUEUE_STEP + other * SAME,
        "{one} and {other}"
    );
}

/// iostat's JSON of some seconds, and the kernel's counters at the moments of its reports: both tell of the same time.
fn watch_twice(disk: &Loop) -> (String, Vec<Counters>) {
    const REPORTS: usize = 8;
    // Line by line, so that a report is there when it is made.
    let mut iostat = Process(
        Command::new("stdbuf")
            .args(["-oL", "iostat", "-x", "-t", "-o", "JSON"])
            .args([disk.name(), "1", "60"])
            .env("LC_ALL", "C")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap(),
    );
    let mut text = String::new();
    let mut moments = Vec::new();
    for line in BufReader::new(iostat.0.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        if line.contains("\"timestamp\"") && moments.len() < REPORTS {
            moments.push(counters(disk.name()));
            if moments.len() == REPORTS {
                // As a person ends it.
                let interrupted = Command::new("kill")
                    .args(["-INT", &iostat.0.id().to_string()])
                    .status();
                assert!(interrupted.unwrap().success());
            }
        }
        text.push_str(&line);
        text.push('\n');
    }
    iostat.0.wait().unwrap();
    (text, moments)
}

#[test]
fn iostat_and_perfmon_of_one_load_tell_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("disk");
    fs::File::create(&file).unwrap().set_len(256 << 20).unwrap();
    let disk = Loop::of(&file);
    let log: PathBuf = folder.path().join("iostat.json");
    let mut fio = load(&disk);
    sleep(Nanos::from_millis(1_500));
    let (text, moments) = watch_twice(&disk);
    fs::write(&log, text).unwrap();
    assert!(fio.0.try_wait().unwrap().is_none(), "the load ended early");
    assert!(fio.0.wait().unwrap().success());

    let name = disk.name().to_owned();
    let json =
        import::read_files(&[log], &only(&[&name])).unwrap_or_else(|error| panic!("{error}"));
    in_order(&json);
    let read = |style: &Style| {
        let text = csv(&moments, style);
        let read = import::read(text.as_bytes(), "log.csv", &Options::default());
        read.unwrap_or_else(|error| panic!("{error}"))
    };
    let english = read(&ENGLISH);
    agree(&json, &name, &english);
    for style in [FRENCH, GERMAN] {
        let other = read(&style);
        assert_eq!(
            format!("{:?}", other.devices),
            format!("{:?}", english.devices)
        );
    }
}
