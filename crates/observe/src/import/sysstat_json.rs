//! sysstat's JSON: of iostat (`-o JSON`) and of sadf (`-j`), which share their envelope.
//!
//! `{"sysstat": {"hosts": [{"nodename": …, "statistics": [{"timestamp": …, "disk": [{…}]}]}]}}`. sadf says each interval's
//! length; iostat's first report counts from the machine's start. Reports are taken as they come, so a text that ends early
//! (iostat was killed) is read up to its last whole report.

use std::fmt;
use std::io::BufReader;

use fathom_diagnostics::{Diagnostic, Diagnostics};
use fathom_units::Nanos;
use serde::Deserialize;
use serde::de::{
    DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor,
};

use super::collect::{Collector, TooMuch};
use super::input::Text;
use super::iostat::{FIRST, enough};
use super::sysstat::{DISCARDS, Memory, Row, processors, went_back};
use super::when::Dates;
use super::{Options, devices, json, unknown};
use crate::Observation;

#[derive(Deserialize)]
struct Statistic {
    timestamp: Option<Timestamp>,
    #[serde(rename = "avg-cpu")]
    average: Option<Load>,
    #[serde(rename = "cpu-load", default)]
    loads: Vec<Load>,
    memory: Option<Memory>,
    disk: Option<Vec<Row>>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Timestamp {
    Line(String),
    Parts {
        date: String,
        time: String,
        #[serde(default)]
        utc: u8,
        timezone: Option<String>,
        interval: f64,
    },
}

#[derive(Deserialize)]
struct Load {
    cpu: Option<String>,
    idle: Option<f64>,
    iowait: Option<f64>,
}

/// Reads the JSON of either tool.
pub(super) fn read(text: &Text, options: &Options) -> Result<Observation, Diagnostics> {
    let mut order = Order::default();
    // It ends with what was sought, or with what the second time tells.
    let _ = walk(text, &mut order)?;
    let mut reports = Reports {
        name: &text.name,
        options,
        dates: order.dates,
        collector: Collector::default(),
        machines: 0,
        count: 0,
        sadf: false,
        stamped: false,
        discards: false,
        went_back: 0,
        failure: None,
    };
    let walked = walk(text, &mut reports)?;
    let mut doubts = Vec::new();
    match (reports.failure.take(), walked) {
        (Some(failure), _) => return Err(Diagnostics(vec![failure])),
        (None, Err(error)) if error.is_eof() && reports.count > 0 => {
            doubts.push("it ends in the middle: read up to its last whole report".to_owned());
        }
        (None, Err(error)) => return Err(Diagnostics(vec![refusal(text, &error)])),
        (None, Ok(())) => {}
    }
    reports.finish(doubts)
}

/// What is done with reports in the order they stand in.
trait Take {
    /// One that stands first of its machine or not; whether more are wanted.
    fn take(&mut self, first: bool, statistic: Statistic) -> bool;

    /// The name of the machine whose reports follow.
    fn machine(&mut self, _name: String) {}

    /// How many processors it has.
    fn processors(&mut self, _count: u64) {}
}

/// Goes through the reports of a text, one at a time.
fn walk<T: Take>(text: &Text, to: &mut T) -> Result<serde_json::Result<()>, Diagnostics> {
    let reader = BufReader::with_capacity(1 << 18, text.reader()?);
    let mut json = serde_json::Deserializer::from_reader(reader);
    let walked = Inside {
        level: Level::Envelope,
        to,
    };
    Ok(walked.deserialize(&mut json).and_then(|()| json.end()))
}

/// Where in the text something stands.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Level {
    Envelope,
    Sysstat,
    Hosts,
    Host,
    Statistics,
}

/// What stands at a level, handed over as it is read.
struct Inside<'a, T> {
    level: Level,
    to: &'a mut T,
}

impl<'de, T: Take> DeserializeSeed<'de> for Inside<'_, T> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        if matches!(self.level, Level::Hosts | Level::Statistics) {
            deserializer.deserialize_seq(self)
        } else {
            deserializer.deserialize_map(self)
        }
    }
}

impl<'de, T: Take> Visitor<'de> for Inside<'_, T> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.level {
            Level::Envelope => "sysstat's envelope",
            Level::Sysstat => "what sysstat holds",
            Level::Hosts => "a list of machines",
            Level::Host => "a machine",
            Level::Statistics => "a list of reports",
        })
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<(), M::Error> {
        let (wanted, level) = match self.level {
            Level::Envelope => ("sysstat", Level::Sysstat),
            Level::Sysstat => ("hosts", Level::Hosts),
            _ => ("statistics", Level::Statistics),
        };
        let mut found = self.level == Level::Host;
        while let Some(key) = map.next_key::<String>()? {
            if key == wanted {
                found = true;
                let to = &mut *self.to;
                map.next_value_seed(Inside { level, to })?;
            } else if key == "nodename" && self.level == Level::Host {
                if let Some(name) = map.next_value()? {
                    self.to.machine(name);
                }
            } else if key == "number-of-cpus" && self.level == Level::Host {
                if let Some(count) = map.next_value::<serde_json::Value>()?.as_u64() {
                    self.to.processors(count);
                }
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        if found {
            Ok(())
        } else {
            Err(M::Error::missing_field(wanted))
        }
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut list: S) -> Result<(), S::Error> {
        if self.level == Level::Hosts {
            loop {
                let (level, to) = (Level::Host, &mut *self.to);
                if list.next_element_seed(Inside { level, to })?.is_none() {
                    return Ok(());
                }
            }
        }
        let mut first = true;
        while let Some(statistic) = list.next_element()? {
            if !self.to.take(first, statistic) {
                return Err(S::Error::custom("no more is wanted"));
            }
            first = false;
        }
        Ok(())
    }
}

/// Looks for the order of day and month, up to where it is known or need not be.
#[derive(Default)]
struct Order {
    dates: Dates,
}

impl Take for Order {
    fn take(&mut self, _first: bool, statistic: Statistic) -> bool {
        let Some(Timestamp::Line(line)) = &statistic.timestamp else {
            return false;
        };
        self.dates.learn(line);
        line.contains('/') && !self.dates.is_ordered()
    }
}

fn refusal(text: &Text, error: &serde_json::Error) -> Diagnostic {
    let hint = "log with `LC_ALL=C iostat -x -t -o JSON 1 60`, or `sadf -j FILE -- -d -u -r`";
    json::refusal(text, error, "this is not JSON as sysstat writes it", hint)
}

/// The reports of a machine so far.
struct Reports<'a> {
    name: &'a str,
    options: &'a Options,
    dates: Dates,
    collector: Collector,
    /// Machines with reports: those of the first are kept.
    machines: usize,
    count: usize,
    sadf: bool,
    stamped: bool,
    discards: bool,
    /// Rows with figures below 0.
    went_back: usize,
    failure: Option<Diagnostic>,
}

impl Take for Reports<'_> {
    fn take(&mut self, first: bool, statistic: Statistic) -> bool {
        self.machines += usize::from(first);
        if self.machines > 1 {
            return true;
        }
        self.count += 1;
        self.sadf |= matches!(statistic.timestamp, Some(Timestamp::Parts { .. }));
        self.stamped |= statistic.timestamp.is_some();
        let mut rows = statistic.disk.iter().flatten();
        self.discards |= rows.any(|row| row.discards() > 0.0);
        let rows = statistic.disk.iter().flatten();
        self.went_back += rows.filter(|row| row.went_back()).count();
        let added = self
            .begin(&statistic, first)
            .and_then(|()| add(&mut self.collector, &statistic));
        if let Err(error) = added {
            let message = format!("{}: report {}: {}", self.name, self.count, error.message);
            self.failure = Some(Diagnostic { message, ..*error });
        }
        self.failure.is_none()
    }

    fn machine(&mut self, name: String) {
        if self.machines == 0 {
            self.collector.machine_facts().name = Some(name);
        }
    }

    fn processors(&mut self, count: u64) {
        if self.machines == 0 {
            self.collector.machine_facts().processors = Some(count);
        }
    }
}

impl Reports<'_> {
    /// Begins the report of a statistic.
    fn begin(&mut self, statistic: &Statistic, fresh: bool) -> Result<(), Box<Diagnostic>> {
        match (&statistic.timestamp, self.options.interval) {
            (Some(stamp), _) => {
                let (line, length) = stamp_of(stamp);
                let at = self.dates.read(&line).map_err(|error| {
                    let message = error.message(&line);
                    Box::new(Diagnostic::error(message).hint("log with `S_TIME_FORMAT=ISO`"))
                })?;
                self.collector.report(at, length, fresh);
            }
            (None, Some(interval)) => self.collector.next_report(interval, fresh),
            (None, None) => {
                let message = "it bears no time, so the length of its interval is not known";
                let hint = "say it (`--interval 5s`), or log with `iostat -x -t -o JSON`";
                return Err(Box::new(Diagnostic::error(message).hint(hint)));
            }
        }
        Ok(())
    }

    fn finish(mut self, mut doubts: Vec<String>) -> Result<Observation, Diagnostics> {
        let refuse = |error: Diagnostic| Err(Diagnostics(vec![error]));
        if self.machines != 1 {
            let message = format!(
                "{}: it holds logs of {} machines with reports",
                self.name, self.machines
            );
            let hint = "one machine is observed: give it a log of its own, of several reports";
            return refuse(Diagnostic::error(message).hint(hint));
        }
        let mut complaints = Diagnostics::default();
        if !self.sadf {
            doubts.push(FIRST.to_owned());
            enough(&mut complaints, self.name, self.collector.report_count());
        }
        if complaints.has_errors() {
            return Err(complaints);
        }
        let resolution = if self.stamped {
            self.dates.resolution()
        } else {
            Nanos::from_millis(1)
        };
        self.collector.machine_facts().memory = self.options.memory;
        let collected = self.collector.finish(resolution);
        doubts.extend(self.dates.doubts());
        doubts.extend(collected.doubts);
        doubts.extend(went_back(self.went_back));
        doubts.extend(self.discards.then(|| DISCARDS.to_owned()));
        let mut devices = collected.devices;
        devices::choose(&mut devices, &self.options.devices, &mut doubts)
            .map_err(|error| Diagnostics(vec![*error]))?;
        let tool = if self.sadf { "sadf" } else { "iostat" };
        Ok(Observation {
            source: format!("{tool}'s JSON `{}`", self.name),
            devices,
            machine: collected.machine,
            unknown: unknown::OF_AVERAGES.to_vec(),
            doubts,
            zone: self.dates.zone(),
        })
    }
}

/// A time as one line, and the interval's length where it is said.
fn stamp_of(stamp: &Timestamp) -> (String, Option<Nanos>) {
    match stamp {
        Timestamp::Line(line) => (line.clone(), None),
        Timestamp::Parts {
            date,
            time,
            utc,
            timezone,
            interval,
        } => {
            let utc = *utc == 1 || timezone.as_deref() == Some("UTC");
            let zone = if utc { " UTC" } else { "" };
            let length = Nanos::new((interval.clamp(0.0, 1e7) * 1e9) as u64);
            (
                format!("{date} {time}{zone}"),
                (length > Nanos::ZERO).then_some(length),
            )
        }
    }
}

fn add(collector: &mut Collector, statistic: &Statistic) -> Result<(), Box<Diagnostic>> {
    let full = |TooMuch| Box::new(Diagnostic::error(TooMuch::message()).hint(TooMuch::HINT));
    let rows = statistic.disk.iter().flatten();
    for row in rows.filter(|row| !row.went_back()) {
        let sample = row.sample().ok_or_else(|| {
            let message = format!(
                "its figures of `{}` do not tell how many I/Os there were",
                row.name
            );
            let hint = "log with `iostat -x -t -o JSON`";
            Box::new(Diagnostic::error(message).hint(hint))
        })?;
        collector.sample(&row.name, &sample).map_err(full)?;
    }
    let all = |load: &&Load| load.cpu.as_deref().is_none_or(|cpu| cpu == "all");
    let load = statistic.average.iter().chain(&statistic.loads).find(all);
    if let Some(Load {
        idle: Some(idle),
        iowait,
        ..
    }) = load
    {
        let sample = processors(*idle, iowait.unwrap_or(0.0));
        collector.machine(sample).map_err(full)?;
    }
    if let Some(sample) = statistic.memory.and_then(Memory::in_use) {
        collector.machine(sample).map_err(full)?;
    }
    Ok(())
}
