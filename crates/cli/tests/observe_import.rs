//! `fathom observe --from`: logs of other machines, read on machines that may stand elsewhere.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::fmt::Write as _;
use std::fs;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::Stdio;

use fathom_profile::{PeriodKind, Profile};
use support::fathom;

/// Zones of the machine that a log is read on, on both sides of Greenwich and of the day.
const ZONES: [&str; 4] = [
    "UTC",
    "America/New_York",
    "Europe/Berlin",
    "Pacific/Auckland",
];

/// From 06:00 to 16:00, report by minute: 2,000 I/Os a second from 09:00 to 12:00, 400 otherwise.
fn minutes(mut report: impl FnMut(u32, u32, u32)) {
    for minute in 6 * 60..=16 * 60 {
        // What a report tells holds for the minute before it.
        let busy = (9 * 60 + 1..=12 * 60).contains(&minute);
        let rate = if busy { 2_000 } else { 400 };
        report(minute / 60, minute % 60, rate);
    }
}

/// `iostat -x -t` with `stamp` written after each hour and minute.
fn iostat(stamp: impl Fn(u32, u32) -> String) -> String {
    let mut log = "Linux 6.1.0 (db1) \t11/20/2026 \t_x86_64_\t(4 CPU)\n".to_owned();
    minutes(|hour, minute, rate| {
        let (stamp, half) = (stamp(hour, minute), rate / 2);
        let _ = writeln!(
            log,
            "\n{stamp}\nDevice r/s w/s rkB/s wkB/s\nsda {half}.00 {half}.00 1600.00 1600.00"
        );
    });
    log
}

/// PerfMon's log, with what its header says of the zone.
fn perfmon(zone: &str) -> String {
    let of = |counter: &str| format!("\"\\\\DB1\\PhysicalDisk(0 C:)\\{counter}\"");
    let (reads, writes) = (of("Disk Reads/sec"), of("Disk Writes/sec"));
    let mut log = format!("\"(PDH-CSV 4.0){zone}\",{reads},{writes}\n");
    minutes(|hour, minute, rate| {
        let half = rate / 2;
        let _ = writeln!(
            log,
            "\"11/20/2026 {hour:02}:{minute:02}:00.000\",\"{half}\",\"{half}\""
        );
    });
    log
}

/// `sadf -d`, whose times are UTC whatever the clock of the machine shows.
fn sadf() -> String {
    let mut log = "# hostname;interval;timestamp;DEV;tps;rkB/s;wkB/s\n".to_owned();
    minutes(|hour, minute, rate| {
        let _ = writeln!(
            log,
            "db1;60;2026-11-20 {hour:02}:{minute:02}:00 UTC;sda;{rate}.00;1600.00;1600.00"
        );
    });
    log
}

/// Azure Monitor's answer about the data disk of LUN 3, whose times are UTC and those of each minute's begin.
fn azure() -> String {
    let metric = |name: &str| {
        let mut points = Vec::new();
        minutes(|hour, minute, rate| {
            let (hour, minute) = if minute == 0 {
                (hour - 1, 59)
            } else {
                (hour, minute - 1)
            };
            let at = format!("2026-11-20T{hour:02}:{minute:02}:00Z");
            points.push(format!(
                "{{\"timeStamp\": \"{at}\", \"average\": {}.0}}",
                rate / 2
            ));
        });
        format!(
            "{{\"name\": {{\"value\": \"{name}\"}}, \"unit\": \"CountPerSecond\", \"timeseries\": [{{\"metadatavalues\": \
             [{{\"name\": {{\"value\": \"LUN\"}}, \"value\": \"3\"}}], \"data\": [{}]}}]}}",
            points.join(", ")
        )
    };
    let metrics = [
        "Data Disk Read Operations/Sec",
        "Data Disk Write Operations/Sec",
    ]
    .map(metric);
    format!(
        "{{\"interval\": \"PT1M\", \"value\": [{}]}}",
        metrics.join(", ")
    )
}

/// Reads `log` on a machine in `zone`: the page and the profile.
#[track_caller]
fn observe(log: &str, zone: &str, arguments: &[&str]) -> (String, Profile) {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("log"), log).unwrap();
    let mut command = fathom(home.path());
    command.env("TZ", zone).args(["observe", "--from", "log"]);
    let output = command.args(arguments).args(["-o", "shop.profile.toml"]);
    let output = output.output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{zone}: {error}");
    let text = fs::read_to_string(home.path().join("shop.profile.toml")).unwrap();
    let page = String::from_utf8_lossy(&output.stdout).into_owned();
    (page, Profile::read(&text, "shop.profile.toml").unwrap().0)
}

/// I/Os a second at the median of the peak and of normal load; none where there is no such period.
fn rates(profile: &Profile) -> [Option<u64>; 2] {
    [PeriodKind::Peak, PeriodKind::Normal].map(|kind| {
        let mut periods = profile.volumes[0].periods.iter();
        let period = periods.find(|period| period.kind == kind)?;
        Some(period.iops.p50?.get())
    })
}

/// The peak is from 09:00 to 12:00 of the log's own hours wherever it is read.
#[track_caller]
fn check_everywhere(log: &str) {
    for zone in ZONES {
        let (_, given) = observe(log, zone, &["--peak", "09:00-12:00"]);
        assert_eq!(rates(&given), [Some(2_000), Some(400)], "{zone}");
        let (page, _) = observe(log, zone, &[]);
        let hours = ["09:00-10:00", "10:00-11:00", "11:00-12:00"];
        assert!(
            hours.iter().any(|hour| page.contains(hour)),
            "{zone}:\n{page}"
        );
    }
}

#[test]
fn hours_of_times_without_a_zone_are_those_written() {
    let american = |hour: u32, minute: u32| {
        let half = if hour < 12 { "AM" } else { "PM" };
        let hour = (hour + 11) % 12 + 1;
        format!("11/20/2026 {hour:02}:{minute:02}:00 {half}")
    };
    check_everywhere(&iostat(american));
    check_everywhere(&perfmon(""));
}

#[test]
fn hours_of_times_with_a_distance_from_greenwich_are_those_of_their_clock() {
    check_everywhere(&perfmon(" (Pacific Standard Time)(480)"));
    check_everywhere(&perfmon(" (India Standard Time)(-330)"));
    check_everywhere(&perfmon(" (Coordinated Universal Time)(0)"));
    check_everywhere(&iostat(|hour, minute| {
        format!("2026-11-20T{hour:02}:{minute:02}:00+0100")
    }));
}

#[test]
fn hours_of_times_in_utc_are_those_of_the_machine_they_are_read_on() {
    let peaks = [
        ("UTC", "09:00-12:00"),
        ("America/New_York", "04:00-07:00"),
        ("Europe/Berlin", "10:00-13:00"),
    ];
    for log in [sadf(), azure()] {
        for (zone, peak) in peaks {
            let (page, profile) = observe(&log, zone, &["--peak", peak]);
            assert_eq!(rates(&profile), [Some(2_000), Some(400)], "{zone}");
            assert!(page.contains("told in UTC"), "{page}");
        }
    }
}

/// The page of Azure Monitor's metrics has what they hide; JSON of another kind is told what kinds are read.
#[test]
fn metrics_of_azure_monitor_are_read_and_other_json_is_named() {
    let (page, profile) = observe(&azure(), "UTC", &["--device", "lun3", "--log", "lun3"]);
    for part in [
        "from Azure Monitor's metrics `log`",
        "lun3 (log), peak",
        "each figure is the `Average` of an interval of 60 s",
    ] {
        assert!(page.contains(part), "`{part}` is not in {page}");
    }
    assert_eq!(profile.volumes[0].name, "lun3");
    let home = tempfile::tempdir().unwrap();
    fs::write(
        home.path().join("other.json"),
        "{\"fio version\": \"fio-3.33\"}",
    )
    .unwrap();
    let words = ["observe", "--from", "other.json"];
    let (_, stderr) = support::expect_code(home.path(), &words, 3);
    assert!(
        stderr.contains("`other.json`: it is fio's result"),
        "{stderr}"
    );
}

/// `observe` of `log` in `home` with room for the program, and for less than half of the log.
fn in_little_memory(home: &Path, log: &str) -> (Option<i32>, String) {
    let limited = format!("ulimit -v 300000; exec \"$0\" observe --from {log}");
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &limited]).arg(support::fathom_binary());
    let output = shell.current_dir(home).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    (output.status.code(), said)
}

#[test]
fn a_log_is_read_in_less_memory_than_it_is_long() {
    let folder = support::disk_folder();
    let home = folder.path();
    let mut log = BufWriter::new(fs::File::create(home.join("long.txt")).unwrap());
    let padding = format!("{:1023}\n", "").repeat(16 << 10);
    let first = b"Linux 6.1.0 (db1) \t11/22/26 \t_x86_64_\t(2 CPU)\n\n";
    Write::write_all(&mut log, first).unwrap();
    for second in 10..50 {
        let report = format!(
            "2026-11-22T07:03:{second}+0000
Device r/s rkB/s r_await w/s wkB/s w_await aqu-sz %util
sda 100.00 800.00 0.50 0.00 0.00 0.00 0.05 5.00
"
        );
        Write::write_all(&mut log, report.as_bytes()).unwrap();
        Write::write_all(&mut log, padding.as_bytes()).unwrap();
    }
    log.into_inner().unwrap().sync_all().unwrap();
    let (code, said) = in_little_memory(home, "long.txt");
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("sda (data)"), "{said}");
}

#[test]
fn what_has_no_lines_is_refused_before_it_is_read() {
    let folder = support::disk_folder();
    let home = folder.path();
    let log = fs::File::create(home.join("large.txt")).unwrap();
    log.set_len(1 << 30).unwrap();
    let (code, said) = in_little_memory(home, "large.txt");
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains("none of those that are read"), "{said}");
    let (code, said) = in_little_memory(home, "large.txt --format iostat");
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains("line 1 is longer than 32 MiB"), "{said}");
    let (code, said) = in_little_memory(home, "/dev/zero");
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains("more than 128 MiB come of it"), "{said}");
    assert!(said.contains("hint:"), "{said}");
}

#[test]
fn a_log_comes_on_the_standard_input() {
    let folder = tempfile::tempdir().unwrap();
    let log = sadf();
    fs::write(folder.path().join("log"), &log).unwrap();
    let observe = |from: &[&str]| {
        let mut command = fathom(folder.path());
        command
            .args(["observe", "--from"])
            .args(from)
            .stdin(Stdio::piped());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        // Who is refused reads nothing.
        let _ = input.write_all(log.as_bytes());
        drop(input);
        child.wait_with_output().unwrap()
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (piped, named) = (observe(&["-"]), observe(&["log"]));
    assert!(piped.status.success(), "{}", text(&piped.stderr));
    let of_file = text(&named.stdout).replace("`log`", "`-`");
    assert_eq!(text(&piped.stdout), of_file);
    let twice = observe(&["-", "-"]);
    assert_eq!(twice.status.code(), Some(3));
    assert!(text(&twice.stderr).contains("`-` is named twice"));
}

/// What is said of logs counts for nothing in a live observation, also where `--duration` hides that from the reader of the
/// command line.
#[test]
fn options_for_logs_need_a_log() {
    let home = support::disk_folder();
    let words = ["observe", "--duration", "1s", "--memory", "1GiB"];
    let (_, stderr) = support::expect_code(home.path(), &[&words[..], &["--name", ""]].concat(), 2);
    assert!(
        stderr.contains("`--memory` is for logs: name one with `--from`"),
        "{stderr}"
    );
    assert!(stderr.contains("`--name` is empty"), "{stderr}");
}
