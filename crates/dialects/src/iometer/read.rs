//! The sections of an .icf file but those of access specifications and managers, which have files of their own.

use super::config::{Config, Cycle, RECORDS, Setup, TEST_TYPES, Version};
use super::source::{Line, Source};
use super::{managers, specs};

/// Longest run or ramp-up, in seconds: ten years.
const SECONDS_MAX: u64 = 315_360_000;

/// Sections, by how they begin.
const SECTIONS: [&str; 4] = [
    "TEST SETUP",
    "RESULTS DISPLAY",
    "ACCESS SPECIFICATIONS",
    "MANAGER LIST",
];

/// Whether a text has a section of an .icf file.
pub fn looks_like_icf(text: &str) -> bool {
    text.lines().take(2_000).any(|line| {
        let line = line.trim_start().strip_prefix('\'').unwrap_or("");
        let start = |section: &str| {
            let start = line.get(..section.len());
            start.is_some_and(|start| start.eq_ignore_ascii_case(section))
        };
        SECTIONS.iter().any(|section| start(section))
    })
}

/// Whether a line begins a section.
pub(super) fn begins_section(line: Line<'_>) -> bool {
    SECTIONS.iter().any(|section| line.is_key(section))
}

/// Refuses a file of another tool, which has nothing of what Iometer's have.
pub(super) fn check_kind(source: &mut Source<'_>) {
    let lines = source.lines();
    let is_own = lines
        .iter()
        .any(|line| is_version(*line) || begins_section(*line));
    let first = lines.iter().find(|line| !line.text().is_empty());
    if let (Some(line), false) = (first.copied(), is_own) {
        let message = "this is no file of Iometer: it has neither a version nor a section";
        let hint = "name a configuration that Iometer saved (.icf); `fathom run FILE` tells other tools' files by themselves";
        source.refuse(line, message, hint);
    }
}

/// Reads a whole file.
pub(super) fn config<'t>(source: &mut Source<'t>) -> Config<'t> {
    let mut config = Config::default();
    match source.take_filled() {
        Some(line) if is_version(line) => config.version = version(source, line),
        Some(line) => {
            source.back();
            let hint = "begin it with a line such as `Version 1.1.0`";
            source.warn(
                line,
                "the file does not begin with a version: 1.1.0 is taken",
                hint,
            );
        }
        None => {}
    }
    while let Some(line) = source.take_filled() {
        if line.is_key("TEST SETUP") {
            setup(source, &mut config.setup);
        } else if line.is_key("RESULTS DISPLAY") {
            results_display(source);
        } else if line.is_key("ACCESS SPECIFICATIONS") {
            specs::section(source, &mut config);
        } else if line.is_key("MANAGER LIST") {
            managers::section(source, &mut config.managers);
        } else if !is_version(line) && !line.is_remark() {
            let message = "this line stands in no section and is passed over";
            source.warn(line, message, "sections begin with 'TEST SETUP, 'RESULTS DISPLAY, 'ACCESS SPECIFICATIONS or 'MANAGER LIST");
        }
    }
    config
}

fn is_version(line: Line<'_>) -> bool {
    let text = line.text().trim_start_matches('\'');
    let start = text.get(..7);
    start.is_some_and(|start| start.eq_ignore_ascii_case("version"))
}

/// `Version 1.1.0` or a date, `Version 2006.07.27`; the oldest files have it as month, day and year.
fn version<'t>(source: &mut Source<'t>, line: Line<'t>) -> Version {
    let numbers = line.text().split(|c: char| !c.is_ascii_digit());
    let numbers = numbers.filter(|part| !part.is_empty());
    let numbers: Vec<u64> = numbers.filter_map(|part| part.parse().ok()).collect();
    let date = |year: u64, month: u64, day: u64| {
        let date = year.saturating_mul(10_000);
        Version(date.saturating_add(month.min(99) * 100 + day.min(99)))
    };
    match numbers.as_slice() {
        [year, month, day, ..] if *year > 1900 => date(*year, *month, *day),
        [month, day, year] if (97..100).contains(year) => date(1900 + year, *month, *day),
        [_, _, _, ..] => Version::NUMBERED,
        _ => {
            let message = "this is no version of Iometer: 1.1.0 is taken";
            source.warn(line, message, "write it like `Version 1.1.0`");
            Version::NUMBERED
        }
    }
}

/// Nothing of it is about I/O.
fn results_display(source: &mut Source<'_>) {
    while let Some(line) = source.take() {
        if line.is_key("END results display") {
            return;
        }
        if begins_section(line) {
            source.back();
            return;
        }
    }
}

fn setup<'t>(source: &mut Source<'t>, setup: &mut Setup<'t>) {
    while let Some(key) = source.take_filled() {
        if key.is_key("END test setup") {
            return;
        }
        if begins_section(key) {
            source.back();
            return;
        }
        entry(source, setup, key);
    }
}

fn entry<'t>(source: &mut Source<'t>, setup: &mut Setup<'t>, key: Line<'t>) {
    if key.is_key("Test Description") {
        let value = source.value();
        setup.description = value.map_or_else(String::new, |line| line.text().to_owned());
        return;
    }
    if key.is_key("Default Network Workers") {
        let _ = source.value();
        return;
    }
    let known = [
        "Run Time",
        "Ramp Up Time",
        "Default Workers to Spawn",
        "Default Disk Workers to Spawn",
        "Record Results",
        "Worker Cycling",
        "Disk Cycling",
        "Queue Depth Cycling",
        "Test Type",
    ];
    let Some(known) = known.into_iter().find(|known| key.is_key(known)) else {
        unknown(source, key);
        return;
    };
    let Some(line) = source.filled_value(key) else {
        return;
    };
    let seconds = |what| (what, 0, SECONDS_MAX);
    match known {
        "Run Time" => {
            setup.run_time = run_time(source, line).unwrap_or(1);
            setup.run_time_line = Some(line);
        }
        "Ramp Up Time" => {
            let word = line.words().next();
            let found = source.number(line, word, seconds("ramp-up time in seconds"));
            setup.ramp_up = found.unwrap_or_default();
        }
        "Default Workers to Spawn" | "Default Disk Workers to Spawn" => {
            setup.workers = workers(source, line, known);
        }
        "Record Results" => {
            let words = RECORDS.map(|(word, _)| word);
            let found = source.choice(line, "level of results", &words);
            setup.record = found.map_or(setup.record, |index| RECORDS[index].1);
        }
        "Test Type" => {
            let words = TEST_TYPES.map(|(word, _)| word);
            let found = source.choice(line, "test type", &words);
            setup.test_type = found.map_or(setup.test_type, |index| TEST_TYPES[index].1);
        }
        "Worker Cycling" => cycle(source, line, &mut setup.worker_cycle, Ends::Never),
        "Disk Cycling" => cycle(source, line, &mut setup.target_cycle, Ends::Never),
        _ => {
            cycle(source, line, &mut setup.depth_cycle, Ends::AtLast);
            setup.depth_cycle_line = Some(line);
        }
    }
}

/// A key that Iometer has not: told, and passed over with its value.
pub(super) fn unknown<'t>(source: &mut Source<'t>, key: Line<'t>) {
    let message = "this is no key that is known here; it is passed over";
    source.warn(
        key,
        message,
        "see docs/dialects/iometer.md for what is read",
    );
    if key.text().starts_with('\'') {
        let _ = source.value();
    }
}

/// Hours, minutes, seconds.
fn run_time<'t>(source: &mut Source<'t>, line: Line<'t>) -> Option<u64> {
    let mut words = line.words();
    let mut total = 0;
    for (what, scale) in [("hours", 3600), ("minutes", 60), ("seconds", 1)] {
        let word = words.next();
        let what = format!("number of {what}");
        total += source.number(line, word, (&what, 0, SECONDS_MAX / scale))? * scale;
    }
    Some(total)
}

/// `NUMBER_OF_CPUS`, which was 0 in the oldest files and -1 between.
fn workers<'t>(source: &mut Source<'t>, line: Line<'t>, key: &str) -> Option<u64> {
    let word = line.words().next();
    let is_all = word.is_some_and(|word| word.eq_ignore_ascii_case("NUMBER_OF_CPUS"));
    if is_all || word == Some("-1") {
        return None;
    }
    let count = source.number(line, word, ("number of workers", 0, 65_536));
    count.filter(|count| *count > 0 || key != "Default Workers to Spawn")
}

/// Whether a cycle names its last value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ends {
    Never,
    AtLast,
}

fn cycle<'t>(source: &mut Source<'t>, line: Line<'t>, cycle: &mut Cycle, ends: Ends) {
    let mut words = line.words();
    let mut number = |what: &str| {
        let word = words.next();
        source.number(line, word, (what, 1, 1 << 20))
    };
    let start = number("start of a cycle");
    let end = match ends {
        Ends::Never => Some(u64::MAX),
        Ends::AtLast => number("end of a cycle"),
    };
    let step = number("step of a cycle");
    let (Some(start), Some(end), Some(step)) = (start, end, step) else {
        return;
    };
    let kind = words.next().unwrap_or("LINEAR");
    let kinds = [("LINEAR", "0", false), ("EXPONENTIAL", "1", true)];
    let found = kinds
        .iter()
        .find(|(word, number, _)| kind.eq_ignore_ascii_case(word) || kind == *number);
    if let Some((_, _, exponential)) = found {
        *cycle = Cycle {
            start,
            end,
            step,
            exponential: *exponential,
        };
    } else {
        let message = format!("`{}` is no kind of steps", super::source::shortened(kind));
        source.error(line, kind, message, "write LINEAR or EXPONENTIAL");
    }
}
