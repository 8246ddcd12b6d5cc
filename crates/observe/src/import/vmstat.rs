//! vmstat's text: processors and memory beside another source's disks. Its blocks are of all disks together, so of I/Os it
//! tells nothing.
//!
//! The names of its columns are those of the machine's language, their order is the same in all of them: columns are known by
//! their place.

use fathom_diagnostics::{Diagnostic, Diagnostics};
use fathom_units::{Bytes, Nanos, counted};

use super::collect::{Collector, TooMuch};
use super::input::{Line, Text};
use super::number::Decimals;
use super::sysstat::processors;
use super::when::Dates;
use super::{Options, unknown};
use crate::{MachineSample, Observation};

/// The columns in their order. Older versions have neither `st` nor `gu`.
const COLUMNS: [&str; 18] = [
    "r", "b", "swpd", "free", "buff", "cache", "si", "so", "bi", "bo", "in", "cs", "us", "sy",
    "id", "wa", "st", "gu",
];
/// How the fifth column begins with `-a`, where it and the next tell inactive and active memory, in the languages of procps 4.
const INACTIVE: &[&str] = &["inact", "inakt", "inativ", "nieakt", "비활", "不活动"];

/// Whether a text that begins with these lines is vmstat's: groups of columns, and the columns.
pub(super) fn looks_like(first: &str, second: &str) -> bool {
    let words = || second.split_whitespace();
    let are_names = words().all(|word| !word.starts_with(|one: char| one.is_ascii_digit()));
    is_groups(first) && are_names && (16..=COLUMNS.len() + 1).contains(&words().count())
}

/// Whether a line names groups of columns: `procs -----------memory---------- ---swap--`.
fn is_groups(line: &str) -> bool {
    line.contains("---") && line.split_whitespace().count() > 3
}

/// The names that columns have in English.
fn in_english(names: &[String]) -> Vec<String> {
    if !(16..=COLUMNS.len()).contains(&names.len()) {
        return names.to_vec();
    }
    let is_active = INACTIVE.iter().any(|word| names[4].starts_with(word));
    let english = COLUMNS.iter().map(|name| match *name {
        "buff" if is_active => "inact",
        "cache" if is_active => "active",
        name => name,
    });
    english.take(names.len()).map(str::to_owned).collect()
}

/// Reads the text.
pub(super) fn read(text: &Text, options: &Options) -> Result<Observation, Diagnostics> {
    let mut reader = Reader {
        columns: Vec::new(),
        east: None,
        dates: Dates::default(),
        decimals: Decimals::default(),
        collector: Collector::default(),
        complaints: Diagnostics::default(),
        doubts: Vec::new(),
        stamped: false,
        stamp: 0,
        options,
    };
    let mut lines = text.lines()?;
    let mut follows_groups = false;
    while let Some(line) = lines.next()? {
        if reader.complaints.is_full() {
            break;
        }
        let trimmed = line.text.trim();
        if trimmed.is_empty() {
        } else if is_groups(trimmed) || trimmed.starts_with("procs") {
            follows_groups = true;
        } else if std::mem::take(&mut follows_groups) || trimmed.starts_with('r') {
            let mut names: Vec<String> = trimmed.split_whitespace().map(str::to_owned).collect();
            let zone = names.pop_if(|name| is_zone(name));
            reader.east = zone.and_then(|zone| east(&zone));
            reader.columns = in_english(&names);
        } else {
            reader.row(&line)?;
        }
    }
    reader.finish(text)
}

/// Whether it is the name of a zone over the times: `CET`, `CEST`, `ChST`, `+03`, `-0330`. Columns have small letters.
fn is_zone(name: &str) -> bool {
    let letters = name.bytes().all(|one| one.is_ascii_alphabetic());
    let large = name.starts_with(|one: char| one.is_ascii_uppercase());
    name == "timestamp" || letters && large || east(name).is_some()
}

/// The seconds that a zone's name tells.
fn east(name: &str) -> Option<i64> {
    if ["UTC", "GMT"].contains(&name) {
        return Some(0);
    }
    let sign = if name.starts_with('-') { -1 } else { 1 };
    let digits = name.strip_prefix(['+', '-'])?;
    if !digits.bytes().all(|one| one.is_ascii_digit()) {
        return None;
    }
    let number: i64 = digits.parse().ok()?;
    let (hours, minutes) = match digits.len() {
        2 => (number, 0),
        4 => (number / 100, number % 100),
        _ => return None,
    };
    (hours <= 14 && minutes < 60).then_some(sign * (hours * 60 + minutes) * 60)
}

struct Reader<'a> {
    columns: Vec<String>,
    /// Seconds east of Greenwich, where the zone's name tells them.
    east: Option<i64>,
    dates: Dates,
    decimals: Decimals,
    collector: Collector,
    complaints: Diagnostics,
    doubts: Vec<String>,
    stamped: bool,
    /// Characters of the longest time met.
    stamp: usize,
    options: &'a Options,
}

impl Reader<'_> {
    fn row(&mut self, line: &Line<'_>) -> Result<(), Diagnostics> {
        let words: Vec<&str> = line.text.split_whitespace().collect();
        let stamp = words.get(self.columns.len()..).unwrap_or_default();
        let stamp: usize = stamp.iter().map(|word| word.len()).sum();
        let is_short = words.len() < self.columns.len() || stamp < self.stamp;
        self.stamp = self.stamp.max(stamp);
        if line.cut && is_short {
            let doubt = format!(
                "its last row, line {}, is cut short and left out",
                line.number
            );
            self.doubts.push(doubt);
            return Ok(());
        }
        if words.len() < self.columns.len() || self.columns.is_empty() {
            let message = format!(
                "this row has {} for {}",
                counted(words.len() as u64, ("figure", "figures")),
                counted(self.columns.len() as u64, ("column", "columns"))
            );
            let hint = "log with `vmstat -t 1`, without `-d`, `-D` or `-s`";
            self.complaints.push(line.error("", message).hint(hint));
            return Ok(());
        }
        let (figures, stamp) = words.split_at(self.columns.len());
        let fresh = self.collector.report_count() == 0;
        if !self.report(line, stamp, fresh) {
            return Ok(());
        }
        let mut values = Vec::with_capacity(figures.len());
        for figure in figures {
            match self.decimals.number(figure, line.number) {
                Ok(value) => values.push(value),
                Err(error) => {
                    let hint = "log with `vmstat -t 1`";
                    self.complaints
                        .push(line.error(figure, error.message(figure)).hint(hint));
                    return Ok(());
                }
            }
        }
        let of = |name: &str| {
            let place = self.columns.iter().position(|column| column == name);
            place.map(|place| values[place])
        };
        let mut sample = MachineSample::default();
        if let Some(idle) = of("id") {
            sample = processors(idle, of("wa").unwrap_or(0.0));
        }
        let free = [of("free"), of("buff"), of("cache")]
            .into_iter()
            .flatten()
            .sum::<f64>();
        let free = Bytes::new((free * 1024.0) as u64);
        sample.memory = self.options.memory_in_use(free).map_err(|message| {
            Diagnostics(vec![line.error("", message).hint(Options::MEMORY_HINT)])
        })?;
        self.collector.machine(sample).map_err(|TooMuch| {
            Diagnostics(vec![line.error("", TooMuch::message()).hint(TooMuch::HINT)])
        })
    }

    fn report(&mut self, line: &Line<'_>, stamp: &[&str], fresh: bool) -> bool {
        let (Some(first), Some(last)) = (stamp.first(), stamp.last()) else {
            let Some(interval) = self.options.interval else {
                let message =
                    "its rows bear no times, so the length of their intervals is not known";
                let hint = "say it (`--interval 5s`), or log with `vmstat -t`";
                if !self.complaints.has_errors() {
                    self.complaints.push(line.error("", message).hint(hint));
                }
                return false;
            };
            self.collector.next_report(interval, fresh);
            return true;
        };
        let start = first.as_ptr() as usize - line.text.as_ptr() as usize;
        let end = last.as_ptr() as usize - line.text.as_ptr() as usize + last.len();
        let text = &line.text[start..end];
        self.dates.offset = self.east;
        self.stamped = true;
        match self.dates.read(text) {
            Ok(at) => self.collector.report(at, None, fresh),
            Err(error) => {
                let hint = "vmstat -t writes `2026-11-22 07:03:11`";
                self.complaints
                    .push(line.error(text, error.message(text)).hint(hint));
                return false;
            }
        }
        true
    }

    fn finish(mut self, text: &Text) -> Result<Observation, Diagnostics> {
        if self.collector.report_count() < 2 && !self.complaints.has_errors() {
            let message = format!(
                "{}: it has fewer than two rows, of which the first counts from the machine's start",
                text.name
            );
            self.complaints
                .push(Diagnostic::error(message).hint("log several: `vmstat -t 1 60`"));
        }
        if self.complaints.has_errors() {
            return Err(self.complaints);
        }
        self.collector.machine_facts().memory = self.options.memory;
        let resolution = if self.stamped {
            self.dates.resolution()
        } else {
            Nanos::from_millis(1)
        };
        let collected = self.collector.finish(resolution);
        let mut doubts =
            vec!["its first row is left out: it counts from the machine's start".to_owned()];
        doubts.extend(self.dates.doubts());
        doubts.extend(self.doubts);
        doubts.extend(collected.doubts);
        let mut unknown = vec![unknown::NO_DISKS, unknown::PROCESSES];
        if self.options.memory.is_none() {
            unknown.push(unknown::MEMORY_FREE);
        } else {
            doubts.push("its memory is taken to be in KiB, as without `-S`".to_owned());
        }
        Ok(Observation {
            source: format!("vmstat's text `{}`", text.name),
            devices: Vec::new(),
            machine: collected.machine,
            unknown,
            doubts,
            zone: self.dates.zone(),
        })
    }
}
