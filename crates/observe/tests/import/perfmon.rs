//! PerfMon's text: English and localised, in its own and a spreadsheet's form, whole and damaged.

use fathom_observe::Observation;
use fathom_observe::import::{self, Disks, Options};
use fathom_units::{Bytes, Nanos, Percent};

use crate::{device, in_order, near, read_text, refused, says};

const ENGLISH: &str = "\"(PDH-CSV 4.0) (W. Europe Standard Time)(-60)\",\"\\\\DB1\\PhysicalDisk(0 C:)\\Disk Reads/sec\",\"\\\\DB1\\PhysicalDisk(0 C:)\\Disk Writes/sec\",\"\\\\DB1\\PhysicalDisk(0 C:)\\Disk Read Bytes/sec\",\"\\\\DB1\\PhysicalDisk(0 C:)\\Disk Write Bytes/sec\",\"\\\\DB1\\PhysicalDisk(0 C:)\\Avg. Disk sec/Read\",\"\\\\DB1\\PhysicalDisk(0 C:)\\Avg. Disk sec/Write\",\"\\\\DB1\\PhysicalDisk(0 C:)\\Avg. Disk Queue Length\",\"\\\\DB1\\PhysicalDisk(0 C:)\\% Idle Time\",\"\\\\DB1\\PhysicalDisk(0 C:)\\Split IO/Sec\",\"\\\\DB1\\PhysicalDisk(_Total)\\Disk Reads/sec\",\"\\\\DB1\\Processor(_Total)\\% Processor Time\",\"\\\\DB1\\Memory\\Available MBytes\"\r\n";
const GERMAN: &str = "\"(PDH-CSV 4.0) (Mitteleuropäische Zeit)(-60)\",\"\\\\DB1\\Physikalischer Datenträger(0 C:)\\Lesevorgänge/s\",\"\\\\DB1\\Physikalischer Datenträger(0 C:)\\Schreibvorgänge/s\",\"\\\\DB1\\Physikalischer Datenträger(0 C:)\\Bytes gelesen/s\",\"\\\\DB1\\Physikalischer Datenträger(0 C:)\\Bytes geschrieben/s\",\"\\\\DB1\\Physikalischer Datenträger(0 C:)\\Mittlere Sek./Lesevorgänge\",\"\\\\DB1\\Physikalischer Datenträger(0 C:)\\Mittlere Sek./Schreibvorgänge\",\"\\\\DB1\\Physikalischer Datenträger(0 C:)\\Durchschnittl. Warteschlangenlänge des Datenträgers\",\"\\\\DB1\\Physikalischer Datenträger(0 C:)\\Leerlaufzeit (%)\",\"\\\\DB1\\Physikalischer Datenträger(0 C:)\\Teil-E/A/s\",\"\\\\DB1\\Physikalischer Datenträger(_Total)\\Lesevorgänge/s\",\"\\\\DB1\\Prozessor(_Total)\\Prozessorzeit (%)\",\"\\\\DB1\\Arbeitsspeicher\\Verfügbare MB\"\r\n";
const ROWS: &str = "\"11/22/2026 08:03:11.000\",\" \",\" \",\" \",\" \",\" \",\" \",\" \",\" \",\" \",\" \",\" \",\"3000\"\r\n\
\"11/22/2026 08:03:12.000\",\"420.5\",\"180\",\"3444736\",\"1474560\",\"0.000640000\",\"0.00073\",\"0.4\",\"77.25\",\"0\",\"420.5\",\"12.5\",\"2900\"\r\n\
\"11/22/2026 08:03:13.500\",\"100\",\"50\",\"819200\",\"409600\",\"8.8E-05\",\"0.001\",\"1.5\",\"-0.5\",\"2.5\",\"100\",\"99.99\",\"2800\"\r\n";

fn memory() -> Options {
    Options {
        memory: Some(Bytes::mib(4_000)),
        ..Options::default()
    }
}

fn english() -> Observation {
    read_text(&format!("{ENGLISH}{ROWS}"), &memory())
}

#[test]
fn an_english_log() {
    let observation = english();
    in_order(&observation);
    assert_eq!(observation.devices.len(), 1);
    assert_eq!(observation.machine.name.as_deref(), Some("DB1"));
    let disk = device(&observation, "0 C:");
    let [first, second] = disk.samples.as_slice() else {
        panic!("{:?}", disk.samples);
    };
    // 08:03:12 an hour east of Greenwich.
    assert_eq!(first.at_unix_ns, 1_795_330_992_000_000_000);
    assert_eq!(second.length, Nanos::from_millis(1_500));
    near(second.reads.unwrap().count, 150.0, 1e-9);
    near(second.reads.unwrap().bytes.unwrap(), 1_228_800.0, 1e-9);
    assert_eq!(first.reads.unwrap().time, Some(Nanos::from_micros(269_120)));
    assert_eq!((first.queue, second.queue), (Some(0.4), Some(1.5)));
    assert_eq!(first.busy, Percent::from_basis_points(2_275));
    assert_eq!((first.split, second.split), (Some(0.0), Some(2.5)));
    let machine = &observation.machine.samples;
    assert_eq!(machine[0].memory, Some(Bytes::mib(1_100)));
    assert_eq!(machine[1].processors, Percent::from_basis_points(9_999));
    says(&observation, "1 value is blank or negative");
}

#[track_caller]
fn same(bytes: &[u8]) {
    let read = import::read(bytes, "log", &memory()).unwrap_or_else(|error| panic!("{error}"));
    let english = english();
    assert_eq!(
        format!("{:?}", read.devices),
        format!("{:?}", english.devices)
    );
    assert_eq!(
        format!("{:?}", read.machine),
        format!("{:?}", english.machine)
    );
}

#[test]
fn a_german_log_in_every_encoding_tells_the_same() {
    let german = format!("{GERMAN}{ROWS}");
    same(german.as_bytes());
    same(&encoding_rs::WINDOWS_1252.encode(&german).0);
    let wide: Vec<u8> = german.encode_utf16().flat_map(u16::to_le_bytes).collect();
    same(&[b"\xff\xfe".as_slice(), &wide].concat());
    let wide: Vec<u8> = german.encode_utf16().flat_map(u16::to_be_bytes).collect();
    same(&[b"\xfe\xff".as_slice(), &wide].concat());
    // The console's code page, as a redirected typeperf has it.
    let console = german.replace('ä', "\u{84}").replace('ü', "\u{81}");
    let console: Vec<u8> = console
        .chars()
        .map(|one| u8::try_from(u32::from(one)).unwrap())
        .collect();
    same(&console);
}

#[test]
fn tabs_semicolons_and_decimal_commas_tell_the_same() {
    let tabs = format!("{ENGLISH}{ROWS}")
        .replace("\",\"", "\"\t\"")
        .replace("PDH-CSV", "PDH-TSV");
    same(tabs.as_bytes());
    let saved = format!("{GERMAN}{ROWS}")
        .replace("\",\"", "\";\"")
        .replace("11/22/2026", "22.11.2026");
    let (header, rows) = saved.split_once('\n').unwrap();
    let rows = rows.replace('.', ",").replace("22,11,2026", "22.11.2026");
    same(format!("{header}\n{rows}").as_bytes());
}

#[test]
fn what_typeperf_says_around_its_rows_is_passed_over() {
    let around = format!(
        "\r\n{ENGLISH}{ROWS}\r\nExiting, please wait...                         \r\nThe command completed successfully.\r\n\r\n"
    );
    same(around.as_bytes());
}

#[test]
fn a_log_cut_short_is_read_up_to_there() {
    let whole = format!("{ENGLISH}{ROWS}\"11/22/2026 08:03:14.500\",\"17");
    let observation = read_text(&whole, &memory());
    says(&observation, "line 5, is cut short");
    assert_eq!(device(&observation, "0 C:").samples.len(), 2);
}

#[test]
fn damage_is_said_with_its_line() {
    let check = |row: &str, expected: &str| {
        let log = format!("{ENGLISH}{ROWS}{row}{ROWS}");
        let error = refused(log.as_bytes(), "log.csv", &Options::default());
        assert!(
            error.contains(expected) && error.contains("log.csv:5:"),
            "{error}"
        );
    };
    check(
        "\"11/22/2026 08:03:14.000\",\"17\"\r\n",
        "this row has 2 fields, the header 13",
    );
    let row =
        |date: &str, value: &str| format!("\"{date}\",\"{value}\"{}\r\n", ",\"1\"".repeat(11));
    check(&row("22.11.26", "1"), "is no date");
    check(&row("13/13/2026 08:03:14.000", "1"), "no such moment");
    check(
        &row("22/11/2026 08:03:14.000", "1"),
        "two locales are mixed",
    );
    check(
        &row("11/22/2026 08:03:14.000", "1,5"),
        "two locales are mixed",
    );
    check(
        &row("11/22/2026 08:03:14.000", "1.234,5"),
        "more than one mark",
    );
    check(&row("11/22/2026 08:03:14.000", "n/a"), "`n/a` is no number");
}

#[test]
fn a_clock_set_back_and_a_gap_are_said() {
    let row = |time: &str| format!("\"11/22/2026 {time}\"{}\r\n", ",\"1\"".repeat(12));
    let times = [
        "02:59:58.000",
        "02:59:59.000",
        "02:00:00.000",
        "02:00:01.000",
        "02:10:01.000",
    ];
    let log = format!("{ENGLISH}{}", times.map(row).concat());
    let observation = read_text(&log, &Options::default());
    in_order(&observation);
    says(&observation, "goes back once, by 3600 s");
    says(&observation, "a gap in its times, of 600 s");
    let samples = &device(&observation, "0 C:").samples;
    assert!(
        samples
            .iter()
            .all(|sample| sample.length == Nanos::from_secs(1))
    );
    assert_eq!(samples.len(), 4);
}

fn disks(columns: &[&str], options: &Options) -> Observation {
    let counters = ["Disk Reads/sec", "Disk Writes/sec"];
    let names = columns
        .iter()
        .flat_map(|place| counters.map(|counter| format!(",\"\\\\H\\{place}\\{counter}\"")));
    let names: String = names.collect();
    let row = |second: u8| {
        let values: Vec<String> = (0..columns.len() * 2)
            .map(|value| value.to_string())
            .collect();
        let values = values.join("\",\"");
        format!("\"11/22/2026 08:03:0{second}.000\",\"{values}\"\n")
    };
    let log = format!("\"(PDH-CSV 4.0)\"{names}\n{}{}", row(1), row(2));
    read_text(&log, options)
}

#[track_caller]
fn chosen(columns: &[&str], choice: Disks, expected: &[&str], why: &str) {
    let options = Options {
        disks: choice,
        ..Options::default()
    };
    let observation = disks(columns, &options);
    let names: Vec<&str> = observation
        .devices
        .iter()
        .map(|device| device.name.as_str())
        .collect();
    assert_eq!(names, expected);
    if !why.is_empty() {
        says(&observation, why);
    }
}

#[test]
fn physical_disks_count_where_they_are_volumes_too() {
    let one = [
        "PhysicalDisk(0 C:)",
        "PhysicalDisk(1 D:)",
        "PhysicalDisk(_Total)",
        "LogicalDisk(C:)",
        "LogicalDisk(D:)",
        "LogicalDisk(HarddiskVolume1)",
    ];
    chosen(
        &one,
        Disks::Suited,
        &["0 C:", "1 D:"],
        "each physical disk holds one volume",
    );
    chosen(&one, Disks::Logical, &["C:", "D:", "HarddiskVolume1"], "");
    let shared = [
        "PhysicalDisk(0 C: D:)",
        "LogicalDisk(C:)",
        "LogicalDisk(D:)",
    ];
    chosen(
        &shared,
        Disks::Suited,
        &["C:", "D:"],
        "do not map one to one (`0 C: D:`)",
    );
    chosen(&shared, Disks::Physical, &["0 C: D:"], "");
    let striped = ["PhysicalDisk(2)", "PhysicalDisk(3)", "LogicalDisk(E:)"];
    chosen(
        &striped,
        Disks::Suited,
        &["E:"],
        "do not map one to one (`E:`)",
    );
    chosen(
        &["PhysicalDisk(_Total)"],
        Disks::Suited,
        &["_Total"],
        "the sum of all disks",
    );
}

#[test]
fn other_languages_tell_the_same() {
    let check = |disk: &str, names: [&str; 3]| {
        let columns = names.map(|name| format!("\"\\\\H\\{disk}(0 C:)\\{name}\""));
        let log = format!(
            "\"(PDH-CSV 4.0)\",{}\n\"11/22/2026 08:03:01.000\",\"1\",\"2\",\"3\"\n\
             \"11/22/2026 08:03:02.000\",\"30\",\"40\",\"5\"\n",
            columns.join(",")
        );
        let observation = read_text(&log, &Options::default());
        let sample = device(&observation, "0 C:").samples[0];
        near(sample.reads.unwrap().count, 30.0, 1e-9);
        near(sample.writes.unwrap().count, 40.0, 1e-9);
        near(sample.queue.unwrap(), 5.0, 1e-9);
    };
    check(
        "Dysk fizyczny",
        [
            "Odczyty dysku/s",
            "Zapisy dysku/s",
            "Średnia długość kolejki dysku",
        ],
    );
    check(
        "PhysicalDisk",
        [
            "Leituras de disco/s",
            "Gravações de disco/s",
            "Comprimento médio da fila de disco",
        ],
    );
    check(
        "Disco logico",
        [
            "Letture disco/sec",
            "Scritture disco/sec",
            "Avg. Disk Queue Length",
        ],
    );
    check(
        "MantıksalDisk",
        ["Disk Okuma/sn", "Disk Yazma/sn", "Avg. Disk Queue Length"],
    );
}

#[test]
fn names_that_nobody_knows_are_asked_for() {
    let header = "\"(PDH-CSV 4.0)\",\"\\\\H\\Dysk fizyczny(0 C:)\\Odczyty/s\",\"\\\\H\\Dysk fizyczny(0 C:)\\Zapisy/s\"\n";
    let log = format!(
        "{header}\"11/22/2026 08:03:01.000\",\"1\",\"2\"\n\"11/22/2026 08:03:02.000\",\"3\",\"4\"\n"
    );
    let error = refused(log.as_bytes(), "log", &Options::default());
    assert!(error.contains("`Odczyty/s`, `Zapisy/s`"), "{error}");
    assert!(
        error.contains("--counter 'NAME=MEANING'") && error.contains("reads, writes"),
        "{error}"
    );
    let options = Options {
        counters: vec![
            "Odczyty/s=reads".parse().unwrap(),
            "Dysk fizyczny\\Zapisy/s=writes".parse().unwrap(),
        ],
        ..Options::default()
    };
    let observation = read_text(&log, &options);
    let sample = device(&observation, "0 C:").samples[0];
    near(sample.reads.unwrap().count, 3.0, 1e-9);
    near(sample.writes.unwrap().count, 4.0, 1e-9);
    let other = log.replace("Dysk fizyczny", "Platte");
    let error = refused(other.as_bytes(), "log", &Options::default());
    assert!(error.contains("`Platte\\Odczyty/s`"), "{error}");
}

#[test]
fn a_queue_s_depth_follows_from_latencies_where_it_is_not_told() {
    let log = "\"(PDH-CSV 4.0)\",\"\\\\H\\PhysicalDisk(0 C:)\\Disk Transfers/sec\",\"\\\\H\\PhysicalDisk(0 C:)\\Avg. Disk sec/Transfer\",\"\\\\H\\PhysicalDisk(0 C:)\\Current Disk Queue Length\"\n\"11/22/2026 08:03:01.000\",\"1\",\"1\",\"9\"\n\"11/22/2026 08:03:02.000\",\"1000\",\"0.002\",\"9\"\n";
    let observation = read_text(log, &Options::default());
    let sample = device(&observation, "0 C:").samples[0];
    near(sample.queue.unwrap(), 2.0, 1e-9);
    says(&observation, "Little's law");
    let log = log.replace("Avg. Disk sec/Transfer", "% Disk Time");
    let observation = read_text(&log, &Options::default());
    near(
        device(&observation, "0 C:").samples[0].queue.unwrap(),
        9.0,
        1e-9,
    );
    says(&observation, "at the end of each interval");
}

#[test]
fn a_blank_first_row_is_no_doubt() {
    let observation = english();
    let doubts = observation.doubts.join("\n");
    assert!(!doubts.contains("came or went"), "{doubts}");
    // One that is blank later on is.
    let (first, rest) = ROWS.split_once("\r\n").unwrap();
    let blank = first.replace("08:03:11", "08:03:15");
    let later = format!("{ENGLISH}{first}\r\n{rest}{blank}\r\n");
    says(
        &read_text(&later, &memory()),
        "`0 C:` is in 2 of 3 reports: it came or went",
    );
}

#[test]
fn a_row_that_stands_twice_counts_once() {
    let mut rows: Vec<&str> = ROWS.lines().collect();
    rows.insert(2, rows[1]);
    let twice = read_text(&format!("{ENGLISH}{}\r\n", rows.join("\r\n")), &memory());
    says(&twice, "1 row is the row before it once more");
    let once = format!("{:?}", english().devices);
    assert_eq!(format!("{:?}", twice.devices), once);
    // Of times in whole seconds or minutes, two may be alike.
    let row = "\"11/22/2026 08:03\",\"5\",\"5\"\n";
    let coarse = format!(
        "\"(PDH-CSV 4.0)\",\"\\\\H\\PhysicalDisk(0 C:)\\Disk Reads/sec\",\"\\\\H\\PhysicalDisk(0 C:)\\Disk Writes/sec\"\n{}",
        row.repeat(3) + &row.replace("08:03", "08:04").repeat(3)
    );
    let coarse = read_text(&coarse, &Options::default());
    assert_eq!(device(&coarse, "0 C:").samples.len(), 5);
}

/// A column each, under either of both names; the sum of all is none.
#[test]
fn processors_with_a_column_are_counted() {
    let columns = |instances: &[&str]| {
        let columns = instances
            .iter()
            .map(|it| format!("\"\\\\DB1\\{it}\\% Processor Time\","));
        let total = "\"\\\\DB1\\Processor(_Total)\\% Processor Time\",";
        let header = ENGLISH.replace(total, &format!("{total}{}", columns.collect::<String>()));
        let rows = ROWS.lines().map(|row| {
            let (before, last) = row.rsplit_once(',').unwrap();
            format!("{before},{}{last}\r\n", "\"7\",".repeat(instances.len()))
        });
        let text = format!("{header}{}", rows.collect::<String>());
        read_text(&text, &memory()).machine.processors
    };
    assert_eq!(columns(&[]), None);
    assert_eq!(
        columns(&["Processor(0)", "Processor(1)", "Processor(2)"]),
        Some(3)
    );
    let both = [
        "Processor(0)",
        "Processor Information(0,0)",
        "Processor Information(1,0)",
        "Processor Information(0,_Total)",
    ];
    assert_eq!(columns(&both), Some(2));
}
