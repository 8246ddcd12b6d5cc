//! Every figure of a result beside what it was measured as: each has a value of its own, so that none can stand in another's place.

use fathom_record::{DeviceCounters, LogChunk, LoggedIo};
use fathom_workload::IoPriority;

use super::*;

/// I/Os of these latencies in ns, the first part of which is their submission.
fn operations(parts: &[(u64, u64)], bytes: u64) -> OpStats {
    let mut stats = OpStats::new(false, true);
    for (submit, complete) in parts {
        stats.latency.record(submit + complete);
        if let (Some(submits), Some(completes)) = (&mut stats.submit, &mut stats.complete) {
            submits.record(*submit);
            completes.record(*complete);
        }
    }
    stats.bytes = bytes;
    stats
}

fn samples(of: &[(u64, [u64; 3], [u64; 3])]) -> Vec<HalfSecond> {
    let sample = |(at, ios, kib): &(u64, [u64; 3], [u64; 3])| HalfSecond {
        at: Nanos::from_millis(*at),
        ios: *ios,
        bytes: kib.map(|kib| kib * 1024),
    };
    of.iter().map(sample).collect()
}

/// Reads and writes, two failed reads among them, and syncs; a little more than two seconds.
fn first() -> WorkerStats {
    let mut worker = WorkerStats::new(0, 0);
    worker.measured = Nanos::new(2_000_500_000);
    worker.directions[0] = Some(operations(&[(10, 30), (20, 60), (40, 120)], 6_003_000));
    worker.directions[1] = Some(operations(&[(50, 5_000), (60, 7_000)], 9_007_000));
    let mut sync = OpStats::new(false, false);
    for latency in [150, 200, 250] {
        sync.latency.record(latency);
    }
    worker.sync = Some(sync);
    worker.short_ios = [1, 2, 0];
    worker.errors = vec![IoErrors {
        direction: Direction::Read,
        operation: None,
        errno: 5,
        count: 2,
        first_offsets: Vec::new(),
    }];
    worker.samples = samples(&[
        (500, [10, 4, 0], [100, 60, 0]),
        (1_000, [20, 4, 0], [300, 80, 0]),
        (2_000, [60, 0, 0], [800, 0, 0]),
    ]);
    worker.usage.user = Nanos::from_millis(120);
    worker.usage.system = Nanos::from_millis(360);
    worker.usage.context_switches = 7;
    worker.usage.minor_faults = 11;
    worker.usage.major_faults = 13;
    worker.depth_levels = [1, 2, 3, 0, 0, 0, 0];
    worker.submit_batches = [1, 2, 3, 4, 0, 0, 0];
    worker.complete_batches = [0, 0, 0, 0, 1, 2, 5];
    worker
}

/// Reads and trims of the same group, over four seconds.
fn second() -> WorkerStats {
    let mut worker = WorkerStats::new(1, 0);
    worker.measured = Nanos::from_secs(4);
    let reads = [(70, 170), (80, 2_000_000), (90, 1_500_000_000)];
    worker.directions[0] = Some(operations(&reads, 12_001_000));
    worker.directions[1] = Some(operations(&[], 0));
    worker.directions[2] = Some(operations(&[(5, 15), (6, 2_500_000_000)], 20_000));
    worker.unissued = [(0, 0), (3, 5_120), (0, 0)];
    worker.short_ios = [3, 0, 4];
    worker.samples = samples(&[
        (500, [30, 0, 2], [640, 0, 10]),
        (1_000, [50, 0, 6], [700, 0, 20]),
    ]);
    worker.usage.user = Nanos::from_millis(60);
    worker.usage.system = Nanos::from_millis(30);
    worker.usage.context_switches = 100;
    worker.usage.minor_faults = 200;
    worker.usage.major_faults = 300;
    worker.depth_levels = [0, 0, 0, 1, 1, 1, 1];
    worker.submit_batches = [0, 0, 0, 0, 1, 2, 3];
    worker.complete_batches = [1, 2, 3, 4, 0, 0, 0];
    worker
}

/// Reads of another group, of a job that could not end as it was to.
fn third() -> WorkerStats {
    let mut worker = WorkerStats::new(0, 0);
    worker.measured = Nanos::from_secs(1);
    worker.directions[0] = Some(operations(&[(2, 8)], 4_096));
    worker.errors = vec![IoErrors {
        direction: Direction::Read,
        operation: None,
        errno: 22,
        count: 0,
        first_offsets: Vec::new(),
    }];
    // No time has passed between the two.
    worker.samples = samples(&[(500, [1, 0, 0], [2, 0, 0]), (500, [9, 0, 0], [9, 0, 0])]);
    worker
}

/// More of them, in an entry of its own.
fn fourth() -> WorkerStats {
    let mut worker = WorkerStats::new(1, 0);
    worker.measured = Nanos::from_secs(3);
    worker.directions[0] = Some(operations(&[(3, 9), (4, 11)], 60_000));
    worker
}

fn disk(times: u64) -> DeviceCounters {
    let [ios, sectors, merges, ticks_ms] = [[21, 22], [31, 32], [41, 42], [51, 52]];
    DeviceCounters {
        name: "sda".to_owned(),
        ios: ios.map(|it| it * times),
        sectors: sectors.map(|it| it * times),
        merges: merges.map(|it| it * times),
        ticks_ms: ticks_ms.map(|it| it * times),
        in_queue_ms: 61 * times,
        busy_ms: 71 * times,
        over: Nanos::from_millis(400 * times),
    }
}

/// The results of all four, whose jobs are shown as three entries.
fn shown(options: &[&str], write: fn(&FioInput, &FioRun<'_>) -> String) -> String {
    let jobs = [
        "--ioengine=libaio",
        "--size=8m",
        "--rw=randrw",
        "--continue_on_error=all",
        "--percentile_list=50:100",
        "--lat_percentiles=1",
        "--slat_percentiles=1",
        "--name=a",
        "--group_reporting",
        "--name=b",
        "--group_reporting",
        "--name=c",
        "--stonewall",
        "--description=d",
        "--name=e",
    ];
    let input = input(&[options, &jobs[..]].concat());
    let mut results = results(&input.workload);
    results[0].workers = vec![first(), second()];
    results[0].devices = vec![disk(1)];
    results[1].workers = vec![third(), fourth()];
    let unseen = DeviceCounters {
        name: "sdb".to_owned(),
        over: Nanos::ZERO,
        ..disk(0)
    };
    results[1].devices = vec![disk(2), unseen];
    write(&input, &run(&results))
}

/// Each figure behind the keys that lead to it, without those that are zero and without names.
fn flat(path: &str, value: &serde_json::Value, lines: &mut Vec<String>) {
    use serde_json::Value;
    let mut within = |key: &str, value| flat(&format!("{path}/{key}"), value, lines);
    match value {
        Value::Object(keys) => keys.iter().for_each(|(key, value)| within(key, value)),
        Value::Array(values) => {
            let numbered = values.iter().enumerate();
            numbered.for_each(|(number, value)| within(&number.to_string(), value));
        }
        Value::Number(number) if number.as_f64() != Some(0.0) => {
            lines.push(format!("{path} {number}"));
        }
        _ => {}
    }
}

/// Compares line by line: what differs is seen without what does not.
#[track_caller]
fn compare(found: &str, expected: &str) {
    let (found, expected) = (found.trim_end().lines(), expected.trim_end().lines());
    let found: Vec<&str> = found.collect();
    for (index, expected) in expected.clone().enumerate() {
        assert_eq!(
            found.get(index).copied(),
            Some(expected),
            "line {}",
            index + 1
        );
    }
    assert_eq!(found.len(), expected.count());
}

/// The figures of a document in the order of their keys, those alone that `told` says.
fn figures_of(text: &str, told: fn(&str) -> bool) -> String {
    let document: serde_json::Value = serde_json::from_str(text).unwrap();
    let mut lines = Vec::new();
    for key in ["timestamp", "timestamp_ms", "jobs", "disk_util"] {
        flat(key, &document[key], &mut lines);
    }
    lines.retain(|line| told(line));
    lines.sort();
    lines.join("\n")
}

#[test]
fn each_key_has_its_figure() {
    let figures = figures_of(&shown(&[], write_json), |_| true);
    compare(&figures, include_str!("figures.keys"));
}

#[test]
fn each_key_of_the_sum_has_its_figure() {
    let text = shown(&["--unified_rw_reporting=both"], write_json);
    let figures = figures_of(&text, |line| line.contains("/mixed/"));
    compare(&figures, include_str!("figures_both.keys"));
}

#[test]
fn each_column_of_a_line_has_its_figure() {
    let versions = ["2", "3", "4", "5"].map(|version| format!("--terse-version={version}"));
    let lines = versions.map(|version| shown(&[&version], write_terse));
    compare(&lines.concat(), include_str!("figures.terse"));
}

#[test]
fn each_word_of_the_text_has_its_figure() {
    compare(&shown(&[], write_normal), include_str!("figures.txt"));
}

/// Latencies of each priority stand apart where there are several.
#[test]
fn each_priority_has_its_figures() {
    let words =
        "--name=a --size=8m --ioengine=libaio --direct=1 --rw=randrw --cmdprio_percentage=50";
    let words: Vec<&str> = words.split(' ').collect();
    let input = input(&words);
    let io = |direction, latency, priority: (u16, u16, u16)| LoggedIo {
        issued: Nanos::ZERO,
        completed: Nanos::ZERO,
        submit: Some(Nanos::new(10)),
        latency: Nanos::new(latency),
        direction,
        target: 0,
        offset: 0,
        bytes: 4096,
        priority: IoPriority::new(priority.0, priority.1, priority.2).unwrap(),
    };
    let chunk = LogChunk {
        ios: vec![
            io(Direction::Read, 50, (1, 2, 3)),
            io(Direction::Read, 110, (1, 2, 3)),
            io(Direction::Read, 130, (0, 0, 0)),
            io(Direction::Write, 90, (0, 0, 0)),
        ],
        ..LogChunk::default()
    };
    let mut latencies = PriorityLatencies::default();
    latencies.take(&input, 0, &chunk);
    let mut results = results(&input.workload);
    results[0].workers[0].directions[0] =
        Some(operations(&[(10, 40), (10, 100), (10, 120)], 12_288));
    results[0].workers[0].directions[1] = Some(operations(&[(10, 80)], 4_096));
    let run = FioRun {
        priorities: Some(&latencies),
        ..run(&results)
    };
    let told = figures_of(&write_json(&input, &run), |line| {
        line.contains("prio") && !line.contains("percentile")
    });
    let expected = "\
jobs/0/read/prios/0/clat_ns/N 1
jobs/0/read/prios/0/clat_ns/max 120
jobs/0/read/prios/0/clat_ns/mean 120.0
jobs/0/read/prios/0/clat_ns/min 120
jobs/0/read/prios/1/clat_ns/N 2
jobs/0/read/prios/1/clat_ns/max 100
jobs/0/read/prios/1/clat_ns/mean 70.0
jobs/0/read/prios/1/clat_ns/min 40
jobs/0/read/prios/1/clat_ns/stddev 42.426407
jobs/0/read/prios/1/prio 3
jobs/0/read/prios/1/prioclass 1
jobs/0/read/prios/1/priohint 2";
    compare(&told, expected);
    let text = write_normal(&input, &run);
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| line.contains(" prio "))
        .collect();
    let expected = [
        "    clat prio 0/0/0 (nsec): min=120, max=120, avg=120.00, stdev= 0.00",
        "    clat prio 1/3/2 (nsec): min=40, max=100, avg=70.00, stdev=42.43",
        "    clat prio 0/0/0 (33.33% of IOs) percentiles (nsec):",
        "    clat prio 1/3/2 (66.67% of IOs) percentiles (nsec):",
    ];
    assert_eq!(lines, expected, "{text}");
}

/// The bounds are fio's: a unit that leaves more than 2 of the least, and more than 99,999 of the most in the smaller one.
#[test]
fn latencies_have_the_units_of_fio() {
    for (least, most, expected) in [
        (2_000, 300_000, "(nsec): min=2000, max=300000,"),
        (2_001, 99_999, "(nsec): min=2001, max=99999,"),
        (2_001, 300_000, "(usec): min=2, max=300,"),
        (2_000_000, 300_000_000, "(usec): min=2000, max=300000,"),
        (2_000_001, 99_999_999, "(usec): min=2000, max=99999,"),
        (2_000_001, 300_000_000, "(msec): min=2, max=300,"),
        // A small deviation needs its digits.
        (100_000, 100_900, "(nsec): min=100000, max=100900,"),
    ] {
        let input = input(&["--name=a", "--size=8m", "--ioengine=null"]);
        let mut results = results(&input.workload);
        results[0].workers[0].directions[0] = Some(operations(&[(0, least), (0, most)], 8_192));
        let text = write_normal(&input, &run(&results));
        let line = text.lines().find(|line| line.contains("    clat ("));
        assert!(
            line.is_some_and(|line| line.contains(expected)),
            "{expected}\n{text}"
        );
    }
}

/// As many percentiles stand in a line as fio has there, and a comma behind each but the last.
#[test]
fn percentiles_fill_lines_as_in_fio() {
    let words = "--name=a --size=8m --ioengine=null --percentile_list=1:5:10:20:30:50";
    let words: Vec<&str> = words.split(' ').collect();
    let input = input(&words);
    let mut results = results(&input.workload);
    results[0].workers[0].directions[0] = Some(operations(&[(0, 40), (0, 50)], 8_192));
    let text = write_normal(&input, &run(&results));
    let list = text.split("    clat percentiles (nsec):\n").nth(1).unwrap();
    let lines: Vec<&str> = list.lines().take(3).collect();
    let expected = [
        "     |   1th=[   40],   5th=[   40],  10th=[   40],  20th=[   40],",
        "     |  30th=[   40],  50th=[   40]",
    ];
    assert_eq!(lines[..2], expected, "{text}");
}

/// Of more than 1,024 times 1,024 KiB a second, the samples are in MiB.
#[test]
fn samples_of_much_are_in_larger_units() {
    let input = input(&["--name=a", "--size=8m", "--ioengine=null"]);
    let mut results = results(&input.workload);
    results[0].workers[0].samples = samples(&[
        (500, [1, 0, 0], [1 << 20, 0, 0]),
        (1_000, [1, 0, 0], [3 << 20, 0, 0]),
    ]);
    let text = write_normal(&input, &run(&results));
    let expected = "   bw (  MiB/s): min= 2048, max= 6144, per=100.00%, avg=4096.00, \
                    stdev=2896.31, samples=2\n";
    assert!(text.contains(expected), "{text}");
}

/// Beside the directions stand the bounds of all of their rates, in place of them the sums.
#[test]
fn the_sum_of_a_group_has_its_rates() {
    let lines = |unified: &str| {
        let text = shown(
            &[&format!("--unified_rw_reporting={unified}")],
            write_normal,
        );
        let lines = text.lines().filter(|line| line.starts_with("  MIXED: "));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    let second = "  MIXED: bw=20.9KiB/s (21.4kB/s), 4096B/s-19.5KiB/s (4096B/s-20.0kB/s), \
                  io=62.6KiB (64.1kB), run=1000-3000msec";
    let first = |rates| {
        format!("  MIXED: bw=6599KiB/s (6758kB/s), {rates}, io=25.8MiB (27.0MB), run=2001-4000msec")
    };
    let bounds = "5000B/s-4396KiB/s (5000B/s-4501kB/s)";
    assert_eq!(lines("both"), [&first(bounds), second]);
    let sums = "8796KiB/s-8796KiB/s (9007kB/s-9007kB/s)";
    assert_eq!(lines("mixed"), [&first(sums), second]);
}
