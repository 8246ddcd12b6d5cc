//! What the panel looks like.

use super::*;
use fathom_record::SetStats;

/// I/Os of 4 KiB that took so many µs, and where there is a second figure had so long a response time.
fn stats(ios: u64, latency_us: u64, response_us: Option<u64>) -> OpStats {
    let mut stats = OpStats::new(response_us.is_some(), false);
    stats.latency.record_many(latency_us * 1000, ios);
    stats.bytes = 4096 * ios;
    if let (Some(response), Some(us)) = (&mut stats.response, response_us) {
        response.record_many(us * 1000, ios);
    }
    stats
}

fn begin(panel: &mut Panel, (index, count): (usize, usize), name: &str, expected: Option<u64>) {
    panel.event(&Event::StageStarted {
        index,
        count,
        name,
        words: name,
        expected: expected.map(Nanos::from_secs),
    });
}

/// The second that ends then.
fn second(panel: &mut Panel, at: u64, directions: [Option<OpStats>; 3]) {
    let interval = IntervalStats {
        at: Nanos::from_secs(at),
        length: Nanos::from_secs(1),
        directions,
        set: SetStats::default(),
    };
    panel.event(&Event::Interval {
        index: 0,
        phase: Phase::Measure,
        interval: &interval,
    });
}

#[track_caller]
fn check(panel: &Panel, (columns, rows): (usize, usize), expected: &[&str]) {
    let room = Room::of_terminal(columns, rows).unwrap();
    let lines = panel.lines(room);
    assert!(lines.len() < rows, "{lines:#?}");
    let widest = lines.iter().map(|line| columns_of(line)).max();
    assert!(widest < Some(columns), "{lines:#?}");
    assert_eq!(lines, expected, "{}", lines.join("\n"));
}

#[test]
fn small_terminals_have_no_room() {
    for (columns, rows, has_room) in [
        (60, 12, true),
        (59, 12, false),
        (60, 11, false),
        (0, 0, false),
        (usize::MAX, usize::MAX, true),
    ] {
        let room = Room::of_terminal(columns, rows);
        assert_eq!(room.is_some(), has_room, "{columns} × {rows}");
    }
}

#[test]
fn a_run_is_shown_from_its_layout_to_its_repeats() {
    let mut panel = Panel::new(RunKind::Run, "oltp on /mnt/data", vec![1, 2]);
    check(
        &panel,
        (60, 12),
        &[
            "run: oltp on /mnt/data",
            "before the first stage",
            "no I/O yet",
            "failed I/Os 0",
        ],
    );
    panel.event(&Event::Layout {
        path: "/mnt/data/fathom.dat",
        done: Bytes::gib(1),
        total: Bytes::gib(4),
    });
    check(
        &panel,
        (60, 12),
        &[
            "run: oltp on /mnt/data",
            "writing /mnt/data/fathom.dat: 1 GiB of 4 GiB (25 %)",
            "█████████████░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░  25 %",
            "no I/O yet",
            "failed I/Os 0",
        ],
    );
    begin(&mut panel, (2, 3), "mixed #2", Some(90));
    second(
        &mut panel,
        44,
        [
            Some(stats(500, 250, None)),
            Some(stats(100, 900, None)),
            None,
        ],
    );
    second(
        &mut panel,
        45,
        [
            Some(stats(1000, 250, None)),
            Some(stats(200, 1100, None)),
            None,
        ],
    );
    panel.event(&Event::MoreFailed { count: 1234 });
    check(
        &panel,
        (60, 12),
        &[
            "run: oltp on /mnt/data",
            "stage 2 of 2: mixed, repeat 2 of 2   measure 00:45 of 01:30",
            "██████████████████████████░░░░░░░░░░░░░░░░░░░░░░░░░░░  50 %",
            "                  IOPS       MiB/s         p50         p99",
            "read             1,000         3.9       250µs       250µs",
            "write              200         0.8       1.1ms       1.1ms",
            "all              1,200         4.7       250µs       1.1ms",
            "failed I/Os 1,234",
            "IOPS      1,200 ▄█",
            "p99       1.1ms ▇█",
        ],
    );
}

#[test]
fn more_rows_have_larger_charts() {
    let mut panel = Panel::new(RunKind::Predict, "reads on big.design.toml", vec![1]);
    begin(&mut panel, (0, 1), "reads", None);
    for at in 1..=200 {
        second(&mut panel, at, [Some(stats(at, at, None)), None, None]);
    }
    let room = Room::of_terminal(80, 24).unwrap();
    let lines = panel.lines(room);
    let expected = [
        "prediction in virtual time: reads on big.design.toml",
        "stage 1 of 1: reads                                               measure 03:20",
        "                  IOPS       MiB/s         p50         p99",
        "read               200         0.8       200µs       200µs",
        "IOPS        200 ",
        "      last 63 s",
        "",
        "              0",
        "p99       200µs",
    ];
    assert_eq!(lines.len(), 12, "{lines:#?}");
    assert_eq!(lines[..4], expected[..4]);
    for (line, expected) in lines[4..].iter().zip(&expected[4..]) {
        assert!(line.starts_with(expected), "{line}");
    }
    assert!(lines[4].ends_with("▆▆▇▇▇▇▇▇████"), "{}", lines[4]);
    assert_eq!(lines[7].chars().filter(|c| *c == '█').count(), 63);
    assert!(
        !lines.iter().any(|line| line.starts_with("failed")),
        "{lines:#?}"
    );
    panel.event(&Event::MoreFailed { count: 2 });
    assert_eq!(panel.lines(room)[4], "failed I/Os 2");
}

#[test]
fn syncs_and_response_times_have_rows_that_stay() {
    let mut panel = Panel::new(RunKind::Run, "log", vec![1]);
    begin(&mut panel, (0, 1), "log", None);
    panel.event(&Event::Syncs {
        index: 0,
        stats: &stats(50, 2000, None),
    });
    let writes = stats(100, 300, Some(5000));
    second(&mut panel, 1, [None, Some(writes), None]);
    let rows = |panel: &Panel, height| {
        let lines = panel.lines(Room::of_terminal(60, height).unwrap());
        lines[2..]
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
    };
    let expected = [
        "                  IOPS       MiB/s         p50         p99",
        "write              100         0.4       300µs       300µs",
        "  response                                 5ms         5ms",
        "sync                50                     2ms         2ms",
        "failed I/Os 0",
    ];
    assert_eq!(rows(&panel, 12)[..5], expected);
    // A second in which nothing ends shows as one.
    second(&mut panel, 2, [None, None, None]);
    let stalled = [
        "                  IOPS       MiB/s         p50         p99",
        "write                0           0",
        "  response",
        "sync                 0",
        "failed I/Os 0",
        "IOPS        100 █",
        "              0 █",
        "p99       300µs █",
        "              0 █",
    ];
    assert_eq!(rows(&panel, 12), stalled);
    // Where there are more rows than room, response times go first, then the last rows.
    let names = |rows| {
        let lines = panel.table.lines(rows);
        let names = lines.iter().map(|line| line.split_whitespace().next());
        names
            .map(|name| name.unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(names(4), ["IOPS", "write", "response", "sync"]);
    assert_eq!(names(3), ["IOPS", "write", "sync"]);
    assert_eq!(names(2), ["IOPS", "write"]);
}

/// What is told of a second after it was told belongs to it: the record counts it there, too.
#[test]
fn what_comes_late_is_added_to_its_second() {
    let mut panel = Panel::new(RunKind::Run, "late", vec![1]);
    begin(&mut panel, (0, 1), "late", None);
    let late = |at, ios| IntervalStats {
        at: Nanos::from_secs(at),
        length: Nanos::from_secs(1),
        directions: [Some(stats(ios, 400, None)), None, None],
        set: SetStats::default(),
    };
    let tell = |panel: &mut Panel, interval| {
        panel.event(&Event::IntervalLate {
            index: 0,
            interval: &interval,
        });
    };
    panel.event(&Event::Syncs {
        index: 0,
        stats: &stats(7, 2000, None),
    });
    second(&mut panel, 1, [Some(stats(10, 100, None)), None, None]);
    tell(&mut panel, late(1, 30));
    let rows = panel.lines(Room::of_terminal(60, 12).unwrap());
    let expected = [
        "read                40         0.2       400µs       400µs",
        "sync               7.0                     2ms         2ms",
    ];
    assert_eq!(rows[3..5], expected);
    assert_eq!(rows[6], "IOPS         40 █");
    // The charts have it of an earlier second, too; the table is of the last one.
    second(&mut panel, 2, [Some(stats(20, 100, None)), None, None]);
    tell(&mut panel, late(1, 40));
    tell(&mut panel, late(9, 999));
    let rows = panel.lines(Room::of_terminal(60, 12).unwrap());
    assert!(rows[3].starts_with("read                20 "), "{rows:#?}");
    assert_eq!(rows[6..8], ["IOPS         80 █", "              0 █▄"]);
    // What no second was told of yet has nothing to be added to.
    begin(&mut panel, (0, 1), "next", None);
    tell(&mut panel, late(2, 10));
    let rows = panel.lines(Room::of_terminal(60, 12).unwrap());
    assert_eq!(rows[6], "IOPS          0", "{rows:#?}");
}

#[test]
fn the_next_stage_begins_with_nothing() {
    let mut panel = Panel::new(RunKind::Run, "two", vec![1, 1]);
    begin(&mut panel, (0, 2), "reads", None);
    second(&mut panel, 1, [Some(stats(10, 10, None)), None, None]);
    begin(&mut panel, (1, 2), "writes", None);
    let rows = panel.lines(Room::of_terminal(60, 12).unwrap());
    assert_eq!(rows[1], "stage 2 of 2: writes");
    // The old row is there until the new ones are known, so that the panel keeps its height.
    assert_eq!(rows[3], "read                 0           0");
    assert_eq!(rows[5], "IOPS          0");
    second(&mut panel, 1, [None, Some(stats(10, 10, None)), None]);
    let rows = panel.lines(Room::of_terminal(60, 12).unwrap());
    assert!(rows[3].starts_with("write "), "{rows:#?}");
    assert!(rows[4].starts_with("failed"), "{rows:#?}");
}

#[test]
fn names_steer_no_terminal_and_never_widen_the_panel() {
    let name = "a\u{1b}[2Jb\r\n長い名前".repeat(20);
    let mut panel = Panel::new(RunKind::Run, &name, vec![1, 3]);
    let mut shown = Vec::new();
    panel.event(&Event::Layout {
        path: &name,
        done: Bytes::ZERO,
        total: Bytes::ZERO,
    });
    shown.push(panel.clone());
    for (index, count) in [(2, 4), (2, 9), (usize::MAX - 1, usize::MAX)] {
        begin(&mut panel, (index, count), &name, Some(1));
        let huge = stats(u64::from(u32::MAX) * 1000, 1_000_000_000_000, Some(1));
        second(
            &mut panel,
            1_000_000_000,
            [(); 3].map(|()| Some(huge.clone())),
        );
        panel.event(&Event::MoreFailed { count: u64::MAX });
        shown.push(panel.clone());
    }
    for panel in shown {
        for (columns, rows) in [(60, 12), (61, 13), (80, 24), (500, 500)] {
            let lines = panel.lines(Room::of_terminal(columns, rows).unwrap());
            assert!(lines.len() < rows.min(30));
            for line in lines {
                assert!(!line.contains(char::is_control), "{line:?}");
                assert!(columns_of(&line) < columns.min(102), "{line:?}");
            }
        }
    }
}
