//! Whose hours of the day a log's times are.

use fathom_observe::Zone;
use fathom_observe::import::Options;

use super::{read, read_text, says};

fn iostat(stamps: [&str; 2]) -> String {
    let report = |stamp: &str| format!("\n{stamp}\nDevice tps kB_read/s kB_wrtn/s\nsda 5 5 5\n");
    let head = "Linux 6.1.0 (db1) \t11/20/2026 \t_x86_64_\t(4 CPU)\n";
    format!("{head}{}", stamps.map(report).concat())
}

#[track_caller]
fn check(stamps: [&str; 2], zone: Zone, first: i64) {
    let seen = read_text(&iostat(stamps), &Options::default());
    assert_eq!(seen.zone, zone);
    assert_eq!(seen.devices[0].samples[0].at_unix_ns, first * 1_000_000_000);
}

#[test]
fn a_time_is_of_the_zone_it_tells() {
    let noon = 1_795_176_000 + 5;
    let plain = ["11/20/2026 12:00:00 PM", "11/20/2026 12:00:05 PM"];
    check(plain, Zone::Written, noon);
    let berlin = ["2026-11-20T12:00:00+0100", "2026-11-20T12:00:05+0100"];
    check(berlin, Zone::East(3_600), noon - 3_600);
    let stated = ["2026-11-20 12:00:00 UTC", "2026-11-20 12:00:05 UTC"];
    check(stated, Zone::Own, noon);
}

#[test]
fn a_distance_from_greenwich_that_changes_is_said() {
    let winter = ["2026-10-25T02:59:59+0200", "2026-10-25T02:00:04+0100"];
    let seen = read_text(&iostat(winter), &Options::default());
    assert_eq!(seen.zone, Zone::East(7_200));
    says(&seen, "distance from Greenwich changes");
}

#[test]
fn both_ways_that_sadf_says_utc_are_one() {
    for said in ["\"utc\": 1", "\"timezone\": \"UTC\""] {
        let report = |time: &str| {
            format!(
                "{{\"timestamp\": {{\"date\": \"2026-11-20\", \"time\": \"{time}\", {said}, \"interval\": 5}}, \
                 \"disk\": [{{\"disk-device\": \"sda\", \"tps\": 1, \"rkB\": 4, \"wkB\": 4}}]}}"
            )
        };
        let (one, other) = (report("12:00:00"), report("12:00:05"));
        let log = format!(
            "{{\"sysstat\": {{\"hosts\": [{{\"nodename\": \"db1\", \"statistics\": [{one}, {other}]}}]}}}}"
        );
        let seen = read_text(&log, &Options::default());
        assert_eq!(seen.zone, Zone::Own, "{said}");
        says(&seen, "told in UTC");
    }
}

#[test]
fn vmstat_s_times_stand_under_their_zone_s_name() {
    let check = |name: &str, zone: Zone, first: i64| {
        let figures = "1 0 0 800000 10000 500000 0 0 5 10 100 200 2 1 96 1 0";
        let row = |second| format!(" {figures} 2026-11-20 12:00:0{second}\n");
        let head = " r b swpd free buff cache si so bi bo in cs us sy id wa st";
        let log = format!(
            "procs ---memory--- ---swap-- --io-- -system- --cpu-- --timestamp--\n{head} {name}\n{}{}",
            row(0),
            row(5)
        );
        let seen = read_text(&log, &Options::default());
        assert_eq!(seen.zone, zone, "{name}");
        let samples = &seen.machine.samples;
        assert_eq!(samples.len(), 1, "{name}");
        assert_eq!(samples[0].at_unix_ns, first * 1_000_000_000, "{name}");
    };
    let noon = 1_795_176_000 + 5;
    for name in ["CET", "CEST", "AEDT", "ChST", "timestamp"] {
        check(name, Zone::Written, noon);
    }
    check("UTC", Zone::East(0), noon);
    check("+03", Zone::East(10_800), noon - 10_800);
    check("-0330", Zone::East(-12_600), noon + 12_600);
    check("+1030", Zone::East(37_800), noon - 37_800);
}

#[test]
fn of_two_files_the_one_with_disks_has_the_hours() {
    let seen = read(&["vmstat.txt", "iostat-plain.txt"], &Options::default());
    let disks = read(&["iostat-plain.txt"], &Options::default());
    assert_eq!(seen.zone, disks.zone);
}
