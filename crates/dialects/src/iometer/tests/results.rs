//! Results in the columns of Iometer.

use fathom_record::{OpStats, StageResult, WorkerStats};
use fathom_units::Nanos;
use fathom_workload::Direction;

use super::*;

/// What each job did in a second: reads and writes with their latencies in ns.
fn result(input: &IometerInput, stage: usize, each: &[(Direction, u64)]) -> StageResult {
    let workers = (0..jobs(input, stage).len()).map(|job| {
        let mut stats = WorkerStats::new(job, 0);
        for (way, latency) in each {
            let found =
                stats.directions[*way as usize].get_or_insert_with(|| OpStats::new(false, false));
            found.bytes += 8192;
            found.latency.record(*latency);
        }
        stats.measured = Nanos::from_secs(1);
        stats
    });
    StageResult {
        measured: Nanos::from_secs(2),
        workers: workers.collect(),
        ..StageResult::new(&input.workload.stages[stage].name, stage)
    }
}

fn table(input: &IometerInput, stage: usize) -> (String, Vec<Vec<String>>) {
    let each = [
        (Direction::Read, 40_000),
        (Direction::Read, 12_000_000),
        (Direction::Write, 3_000_000),
    ];
    let result = result(input, stage, &each);
    let machine = Machine {
        cpus: vec![
            CpuTimes {
                cpu: 0,
                shares: [50.0, 30.0, 20.0, 1.0, 2.0],
                interrupts: 100.0
            };
            2
        ],
        packets: 5.0,
        ..Machine::default()
    };
    let text = write_results(
        input,
        &input.tests[stage],
        &result,
        &machine,
        951_782_400_123_000_000,
    );
    let rows = text
        .lines()
        .filter(|line| !line.starts_with('\'') && line.contains(','));
    let rows = rows.map(|line| line.split(',').map(str::to_owned).collect());
    let rows = rows.collect();
    (text, rows)
}

/// The index of a column of a table of results.
#[track_caller]
fn column(text: &str, name: &str) -> usize {
    let header = text.lines().nth(1).unwrap();
    let index = header.split(',').position(|column| column == name);
    index.unwrap_or_else(|| panic!("no {name}"))
}

#[test]
fn results_have_the_columns_of_iometer() {
    let input = parse(&whole());
    let (text, rows) = table(&input, 1);
    let header = text.lines().nth(1).unwrap();
    assert!(header.starts_with("'Target Type,Target Name,Access Specification Name,# Managers,"));
    assert!(
        header.ends_with(",4.7 to 5 s,5 to 10 s, >= 10 s"),
        "{header}"
    );
    assert_eq!(header.split(',').count(), 80);
    assert!(
        text.ends_with("'Time Stamp\n2000-02-29 00:00:00:123\n"),
        "{text}"
    );
    let kinds: Vec<&str> = rows.iter().map(|row| row[0].as_str()).collect();
    let all = "ALL MANAGER PROCESSOR PROCESSOR WORKER DISK DISK WORKER DISK";
    assert_eq!(kinds.join(" "), all);
    for row in &rows {
        assert_eq!(
            row.len(),
            if row[0] == "PROCESSOR" { 59 } else { 80 },
            "{row:?}"
        );
    }
    assert_eq!(rows[2][48], "50.000000");
}

/// Row, column and value, of three jobs with three I/Os each in two seconds: 0 all, 1 manager, 4 worker, 5 disk.
const VALUES: &[(usize, &str, &str)] = &[
    (0, "IOps", "4.500000"),
    (0, "Read IOps", "3.000000"),
    (0, "MBps (Decimal)", "0.036864"),
    (0, "MiBps (Binary)", "0.035156"),
    (0, "Bytes Written", "24576"),
    (0, "Write I/Os", "3"),
    (0, "Average Write Response Time", "3.000000"),
    (0, "# Workers", "2"),
    (0, "# Disks", "3"),
    (0, "Queue Depth", "-1"),
    (4, "Queue Depth", "16"),
    (4, "Starting Sector", "2048"),
    (0, "Total Raw Run Time", ""),
    (1, "Total Raw Run Time", "2000000000"),
    (1, "% CPU Utilization", "50.000000"),
    (4, "% CPU Utilization", ""),
    (1, "CPU Effectiveness", "0.090000"),
    (0, "Processor Speed", ""),
    (1, "Processor Speed", "1000000000.000000"),
    (0, "0 to 50 uS", "3"),
    (0, "2 to 5 mS", "3"),
    (0, "10 to 15 mS", "3"),
    (5, "Target Name", "D: \"data\""),
    (1, "Target Name", "BOX"),
];

#[test]
fn results_have_their_values_in_their_columns() {
    let input = parse(&whole());
    let (text, rows) = table(&input, 1);
    for (row, name, value) in VALUES {
        assert_eq!(rows[*row][column(&text, name)], *value, "{row} {name}");
    }
    // A reply is no transaction of its own.
    let (text, rows) = table(&input, 0);
    let value = |name: &str| rows[0][column(&text, name)].parse::<f64>().unwrap();
    let answered = value("IOps") / value("Transactions per Second") - 1.0;
    let expected = 40.0 * 8.0 / (60.0 + 40.0 * 8.0);
    assert!((answered - expected).abs() < 1e-3, "{answered}");
}

#[test]
fn rows_are_those_that_are_asked_for() {
    let kinds = |level: &str, rest: &str| {
        let input = line(
            &whole().replace("\tALL\n", &format!("\t{level}\n")),
            &format!("a.icf {rest}"),
        )
        .unwrap();
        let (_, rows) = table(&input, 1);
        let mut kinds: Vec<String> = rows.into_iter().map(|mut row| row.remove(0)).collect();
        kinds.dedup();
        kinds.join(" ")
    };
    assert_eq!(kinds("NO_TARGETS", ""), "ALL MANAGER PROCESSOR WORKER");
    assert_eq!(kinds("NO_WORKERS", ""), "ALL MANAGER PROCESSOR");
    assert_eq!(kinds("NO_MANAGERS", ""), "ALL");
    // Where a file of results is named, they are recorded after all.
    assert_eq!(
        kinds("NONE", "/r x.csv"),
        "ALL MANAGER PROCESSOR WORKER DISK WORKER DISK"
    );
    assert_eq!(
        line(&whole().replace("\tALL\n", "\tNONE\n"), "a.icf")
            .unwrap()
            .record,
        Record::Nothing
    );
}

#[test]
fn the_head_names_the_test_and_its_specifications() {
    let input = parse(&whole());
    let head = write_setup(&input, 0);
    assert_eq!(
        head,
        "'Test Type,Test Description\n0,two mixes\n'Version\n1.1.0 \n'Time Stamp\n1970-01-01 00:00:00:000\n"
    );
    let specs = write_specs(&input.tests[0]);
    let expected = "'Access specifications\n'Access specification name,default assignment\nmail,0\n'size,% of size,% reads,% random,delay,burst,align,reply\n4096,60,80,100,0,1,0,0,\n32768,40,10,0,5,8,4096,512,\n'End access specifications\n";
    assert_eq!(specs, expected);
    assert_eq!(
        (write_end(false), write_end(true)),
        ("'End Test\n", "Aborted test\n")
    );
}

#[test]
fn percentiles_have_a_file_of_their_own() {
    let input = parse(&whole());
    let each = [(Direction::Read, 1_000_000), (Direction::Write, 3_000_000)];
    let text = write_percentiles(&input, &input.tests[1], &result(&input, 1, &each));
    let columns = percentiles_header().split(',').count();
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    assert!(rows.iter().all(|row| row.len() == columns), "{text}");
    // All, and three targets; all I/O, reads and writes of each.
    assert_eq!(rows.len(), 12);
    assert_eq!(rows[1][5..9], ["read", "3", "1.000000", "1.000000"]);
}
