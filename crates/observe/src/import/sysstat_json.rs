//! sysstat's JSON: of iostat (`-o JSON`) and of sadf (`-j`), which share their envelope.
//!
//! `{"sysstat": {"hosts": [{"nodename": …, "statistics": [{"timestamp": …, "disk": [{…}]}]}]}}`. sadf says each interval's
//! length; iostat's first report counts from the machine's start. A text that ends early (iostat was killed) is read up to
//! its last whole report.

use fathom_diagnostics::{Diagnostic, Diagnostics, Location};
use fathom_units::{Bytes, Nanos};
use serde::Deserialize;

use super::collect::{Collector, TooMuch};
use super::input::Text;
use super::iostat::{FIRST, enough};
use super::sysstat::{DISCARDS, Row, processors};
use super::when::Dates;
use super::{Options, devices, unknown};
use crate::{MachineSample, Observation};

#[derive(Deserialize)]
struct Envelope {
    sysstat: Sysstat,
}

#[derive(Deserialize)]
struct Sysstat {
    hosts: Vec<Host>,
}

#[derive(Deserialize)]
struct Host {
    nodename: Option<String>,
    #[serde(default)]
    statistics: Vec<Statistic>,
}

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

#[derive(Deserialize)]
struct Memory {
    memused: Option<f64>,
}

/// Reads the JSON of either tool.
pub(super) fn read(text: Text<'_>, options: &Options) -> Result<Observation, Diagnostics> {
    let mut doubts = Vec::new();
    let whole = match serde_json::from_str::<Envelope>(text.text) {
        Err(error) if error.is_eof() => {
            let again = closed(text.text).and_then(|text| serde_json::from_str(&text).ok());
            doubts.extend(
                again
                    .is_some()
                    .then(|| "it ends in the middle: read up to its last whole report".to_owned()),
            );
            again.ok_or(error)
        }
        other => other,
    };
    let envelope = whole.map_err(|error| Diagnostics(vec![refusal(text, &error)]))?;
    let mut hosts = envelope.sysstat.hosts;
    hosts.retain(|host| !host.statistics.is_empty());
    if hosts.len() != 1 {
        let message = format!(
            "{}: it holds logs of {} machines with reports",
            text.name,
            hosts.len()
        );
        let hint = "one machine is observed: give it a log of its own, of several reports";
        return Err(Diagnostics(vec![Diagnostic::error(message).hint(hint)]));
    }
    match hosts.pop() {
        Some(host) => collect(text, host, options, doubts),
        None => Err(Diagnostics::default()),
    }
}

fn refusal(text: Text<'_>, error: &serde_json::Error) -> Diagnostic {
    let line = text.lines().nth(error.line().saturating_sub(1));
    let shown = line.map_or("", |line| line.text);
    let column = error.column().saturating_sub(1).min(shown.len());
    let column = (0..=column)
        .rev()
        .find(|at| shown.is_char_boundary(*at))
        .unwrap_or(0);
    let at = Location::in_line(text.name, error.line().max(1), shown, column..column);
    let mut message = error.to_string();
    if let Some(place) = message.rfind(" at line ") {
        message.truncate(place);
    }
    Diagnostic::error(format!("this is not JSON as sysstat writes it: {message}"))
        .at(at)
        .hint("log with `LC_ALL=C iostat -x -t -o JSON 1 60`, or `sadf -j FILE -- -d -u -r`")
}

/// The text up to its last whole report, with what is open closed.
fn closed(text: &str) -> Option<String> {
    /// Brackets open within the list of reports: `{ { [ { [`.
    const DEPTH: usize = 5;
    let mut open: Vec<char> = Vec::new();
    let (mut quoted, mut escaped) = (false, false);
    let mut last: Option<(usize, Vec<char>)> = None;
    for (at, one) in text.char_indices() {
        if quoted {
            quoted = escaped || one != '"';
            escaped = one == '\\' && !escaped;
            continue;
        }
        match one {
            '"' => quoted = true,
            '{' => open.push('}'),
            '[' => open.push(']'),
            '}' | ']' => {
                open.pop();
                if open.len() == DEPTH && open.last() == Some(&']') {
                    last = Some((at + 1, open.clone()));
                }
            }
            _ => {}
        }
        if open.len() > 64 {
            return None;
        }
    }
    let (end, open) = last?;
    let close: String = open.iter().rev().collect();
    Some(format!("{}{close}", &text[..end]))
}

fn collect(
    text: Text<'_>,
    host: Host,
    options: &Options,
    mut doubts: Vec<String>,
) -> Result<Observation, Diagnostics> {
    let mut collector = Collector::default();
    collector.machine_facts().name = host.nodename;
    collector.machine_facts().memory = options.memory;
    let mut dates = Dates::default();
    for statistic in &host.statistics {
        if let Some(Timestamp::Line(line)) = &statistic.timestamp {
            dates.learn(line);
        }
    }
    let given = |one: &Statistic| matches!(one.timestamp, Some(Timestamp::Parts { .. }));
    let sadf = host.statistics.iter().any(given);
    let stamped = host.statistics.iter().any(|one| one.timestamp.is_some());
    let mut discards = false;
    for (index, statistic) in host.statistics.into_iter().enumerate() {
        let mut rows = statistic.disk.iter().flatten();
        discards |= rows.any(|row| row.discards() > 0.0);
        begin(&mut collector, &mut dates, &statistic, index == 0, options)
            .and_then(|()| add(&mut collector, &statistic))
            .map_err(|error| {
                let message = format!("{}: report {}: {}", text.name, index + 1, error.message);
                Diagnostics(vec![Diagnostic { message, ..*error }])
            })?;
    }
    let mut complaints = Diagnostics::default();
    if !sadf {
        doubts.push(FIRST.to_owned());
        enough(&mut complaints, text.name, collector.report_count());
    }
    if complaints.has_errors() {
        return Err(complaints);
    }
    let resolution = if stamped {
        dates.resolution()
    } else {
        Nanos::from_millis(1)
    };
    let collected = collector.finish(resolution);
    doubts.extend(dates.doubts());
    doubts.extend(collected.doubts);
    doubts.extend(discards.then(|| DISCARDS.to_owned()));
    let mut devices = collected.devices;
    devices::choose(&mut devices, &options.devices, &mut doubts)
        .map_err(|error| Diagnostics(vec![*error]))?;
    let tool = if sadf { "sadf" } else { "iostat" };
    Ok(Observation {
        source: format!("{tool}'s JSON `{}`", text.name),
        devices,
        machine: collected.machine,
        unknown: unknown::OF_AVERAGES.to_vec(),
        doubts,
        zone: dates.zone(),
    })
}

/// Begins the report of a statistic.
fn begin(
    collector: &mut Collector,
    dates: &mut Dates,
    statistic: &Statistic,
    fresh: bool,
    options: &Options,
) -> Result<(), Box<Diagnostic>> {
    match (&statistic.timestamp, options.interval) {
        (Some(stamp), _) => {
            let (line, length) = stamp_of(stamp);
            let at = dates.read(&line).map_err(|error| {
                Box::new(
                    Diagnostic::error(error.message(&line)).hint("log with `S_TIME_FORMAT=ISO`"),
                )
            })?;
            collector.report(at, length, fresh);
        }
        (None, Some(interval)) => collector.next_report(interval, fresh),
        (None, None) => {
            let message = "it bears no time, so the length of its interval is not known";
            let hint = "say it (`--interval 5s`), or log with `iostat -x -t -o JSON`";
            return Err(Box::new(Diagnostic::error(message).hint(hint)));
        }
    }
    Ok(())
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
    for row in statistic.disk.iter().flatten() {
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
    if let Some(used) = statistic.memory.as_ref().and_then(|memory| memory.memused) {
        let memory = Some(Bytes::new((used.max(0.0) * 1024.0) as u64));
        let sample = MachineSample {
            memory,
            ..MachineSample::default()
        };
        collector.machine(sample).map_err(full)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::closed;

    #[test]
    fn an_early_end_is_closed_after_the_last_report() {
        let whole = r#"{"sysstat": {"hosts": [{"n": "a]}", "statistics": [{"d": [{"x": 1}]}]}]}}"#;
        let cut =
            r#"{"sysstat": {"hosts": [{"n": "a]}", "statistics": [{"d": [{"x": 1}]}, {"d": [{"#;
        assert_eq!(closed(cut).as_deref(), Some(whole));
        assert_eq!(closed(r#"{"sysstat": {"#), None);
    }
}
