//! iostat's text: reports of processors and disks, with the columns of old and new sysstat.
//!
//! The first report of a run counts from the machine's start (or, with `-y`, covers an interval whose beginning is not in
//! the text), so nothing is made of it. Reports bear a time with `-t`; without it the interval must be said.

use fathom_diagnostics::{Diagnostic, Diagnostics};
use fathom_units::{Nanos, counted};

use super::collect::{Collector, TooMuch};
use super::doubled::Doubled;
use super::input::{Line, Text};
use super::number::Decimals;
use super::sysstat::{DISCARDS, Row, processors, went_back};
use super::when::{Dates, NotADate};
use super::{Options, devices, unknown};
use crate::Observation;

/// Reads the text.
pub(super) fn read(text: &Text, options: &Options) -> Result<Observation, Diagnostics> {
    let mut reader = Reader {
        text,
        options,
        dates: Dates::default(),
        decimals: Decimals::default(),
        collector: Collector::default(),
        complaints: Diagnostics::default(),
        doubts: Vec::new(),
        table: Table::None,
        fresh: true,
        open: false,
        stamp: None,
        day: None,
        discards: false,
        went_back: 0,
        unnamed: Vec::new(),
    };
    let mut lines = text.lines()?;
    while let Some(line) = lines.next()?.filter(|line| line.number <= 200_000) {
        reader.dates.learn(line.text);
    }
    let doubled = Doubled::of(text)?;
    reader.doubts.extend(doubled.doubt());
    let mut lines = text.lines()?;
    while let Some(line) = lines.next()? {
        if reader.complaints.is_full() {
            break;
        }
        if !doubled.has(line.number) {
            reader.line(&line)?;
        }
    }
    reader.finish()
}

/// The table that a line stands in.
enum Table {
    None,
    Processors(Vec<String>),
    /// And how far its titles are indented: the names of groups are further.
    Disks(Vec<String>, usize),
}

struct Reader<'a> {
    text: &'a Text,
    options: &'a Options,
    dates: Dates,
    decimals: Decimals,
    collector: Collector,
    complaints: Diagnostics,
    doubts: Vec<String>,
    table: Table,
    /// The next report is the first of a run.
    fresh: bool,
    /// The report has begun.
    open: bool,
    /// The time that the next report bears.
    stamp: Option<i64>,
    /// The day that the run's first line tells.
    day: Option<String>,
    discards: bool,
    /// Rows with figures below 0.
    went_back: usize,
    unnamed: Vec<String>,
}

impl Reader<'_> {
    fn line(&mut self, line: &Line<'_>) -> Result<(), Diagnostics> {
        let trimmed = line.text.trim();
        if trimmed.is_empty() {
            self.table = Table::None;
        } else if trimmed.starts_with("Linux ") {
            self.run(line, trimmed)?;
        } else if trimmed.starts_with("avg-cpu") {
            self.begin(line);
            let columns = trimmed.split_whitespace().skip(1).map(str::to_owned);
            self.table = Table::Processors(columns.collect());
        } else if trimmed.starts_with("Device") {
            if !self.open {
                self.begin(line);
            }
            self.open = false;
            let columns = trimmed.split_whitespace().skip(1).map(str::to_owned);
            self.table = Table::Disks(columns.collect(), indent(line));
        } else {
            return self.row(line, trimmed);
        }
        Ok(())
    }

    /// The first line of a run: `Linux 6.1.0 (host)  11/22/26  _x86_64_ (2 CPU)`.
    fn run(&mut self, line: &Line<'_>, trimmed: &str) -> Result<(), Diagnostics> {
        self.fresh = true;
        self.open = false;
        let mut words = trimmed.split_whitespace().skip(2);
        let host = words.next().map(|word| word.trim_matches(['(', ')']));
        self.day = words.next().map(str::to_owned);
        let number = trimmed
            .rsplit_once('(')
            .and_then(|(_, rest)| rest.strip_suffix(" CPU)"));
        if let Some(count) = number.and_then(|number| number.parse().ok()) {
            self.collector.machine_facts().processors = Some(count);
        }
        let Some(host) = host else { return Ok(()) };
        self.collector.host(host).map_err(|two| {
            let hint = "one machine is observed: give each machine's runs a file of their own";
            two.refuse(line, host, hint)
        })
    }

    /// A report begins with whichever table comes first.
    fn begin(&mut self, line: &Line<'_>) {
        let fresh = std::mem::take(&mut self.fresh);
        self.open = true;
        match (self.stamp.take(), self.options.interval) {
            (Some(at), _) => self.collector.report(at, None, fresh),
            (None, Some(interval)) => self.collector.next_report(interval, fresh),
            (None, None) => {
                let message =
                    "its reports bear no times, so the length of their intervals is not known";
                let hint = "say it (`--interval 5s`), or log with `iostat -x -t`";
                if !self.complaints.has_errors() {
                    self.complaints.push(line.error("", message).hint(hint));
                }
            }
        }
    }

    fn row(&mut self, line: &Line<'_>, trimmed: &str) -> Result<(), Diagnostics> {
        match std::mem::replace(&mut self.table, Table::None) {
            Table::None => {
                self.stamp(line, trimmed);
                Ok(())
            }
            Table::Processors(columns) => {
                let figures: Vec<&str> = trimmed.split_whitespace().collect();
                self.figures(line, &columns, &figures)
                    .map_or(Ok(()), |values| {
                        let of = |name: &str| {
                            let place = columns.iter().position(|column| column == name);
                            place.map_or(0.0, |place| values[place])
                        };
                        let sample = processors(of("%idle"), of("%iowait"));
                        self.keep(line, |collector| collector.machine(sample))
                    })
            }
            Table::Disks(columns, titles) => {
                let read = self.disk(line, trimmed, &columns, titles);
                self.table = Table::Disks(columns, titles);
                read
            }
        }
    }

    fn disk(
        &mut self,
        line: &Line<'_>,
        trimmed: &str,
        columns: &[String],
        titles: usize,
    ) -> Result<(), Diagnostics> {
        let mut words = trimmed.split_whitespace();
        let name = words.next().unwrap_or_default();
        let name = if indent(line) > titles {
            format!(" {name}")
        } else {
            name.to_owned()
        };
        let figures: Vec<&str> = words.collect();
        let Some(values) = self.figures(line, columns, &figures) else {
            return Ok(());
        };
        let mut row = Row::default();
        for (column, value) in columns.iter().zip(values) {
            if !row.put(column, value) && !self.unnamed.contains(column) && self.unnamed.len() < 20
            {
                self.unnamed.push(column.clone());
            }
        }
        if row.went_back() {
            self.went_back += 1;
            return Ok(());
        }
        self.discards |= row.discards() > 0.0;
        let Some(sample) = row.sample() else {
            let message = "its columns do not tell how many I/Os there were";
            let hint = "log with `iostat -x -t`, without `-h`";
            self.complaints.push(line.error("", message).hint(hint));
            return Ok(());
        };
        self.keep(line, |collector| collector.sample(&name, &sample))
    }

    fn keep(
        &mut self,
        line: &Line<'_>,
        add: impl FnOnce(&mut Collector) -> Result<(), TooMuch>,
    ) -> Result<(), Diagnostics> {
        if self.complaints.has_errors() {
            return Ok(());
        }
        add(&mut self.collector).map_err(|TooMuch| {
            Diagnostics(vec![line.error("", TooMuch::message()).hint(TooMuch::HINT)])
        })
    }

    /// The figures of a row, one a column; none where the row is cut or wrong, which is said.
    fn figures(
        &mut self,
        line: &Line<'_>,
        columns: &[String],
        figures: &[&str],
    ) -> Option<Vec<f64>> {
        if line.cut && (figures.len() < columns.len() || is_cut(figures)) {
            let doubt = format!(
                "its last row, line {}, is cut short and left out",
                line.number
            );
            self.doubts.push(doubt);
            return None;
        }
        if figures.len() != columns.len() {
            let message = format!(
                "this row has {} for {}",
                counted(figures.len() as u64, ("figure", "figures")),
                counted(columns.len() as u64, ("column", "columns"))
            );
            let hint =
                "rows of two runs are mixed, or the text was changed: log anew with `iostat -x -t`";
            self.complaints.push(line.error("", message).hint(hint));
            return None;
        }
        let mut values = Vec::with_capacity(figures.len());
        for figure in figures {
            match self.decimals.number(figure, line.number) {
                Ok(value) => values.push(value),
                Err(error) => {
                    let hint = "log with `LC_ALL=C iostat -x -t`, without `-h`";
                    self.complaints
                        .push(line.error(figure, error.message(figure)).hint(hint));
                    return None;
                }
            }
        }
        Some(values)
    }

    /// A line outside of all tables: a report's time (`Time: 07:03:11` in old versions).
    fn stamp(&mut self, line: &Line<'_>, trimmed: &str) {
        let whole = match (trimmed.strip_prefix("Time:"), &self.day) {
            (Some(time), Some(day)) => format!("{day} {}", time.trim()),
            _ => trimmed.to_owned(),
        };
        match self.dates.read(&whole) {
            Ok(at) => self.stamp = Some(at),
            Err(NotADate::Other) if line.cut => {}
            Err(error) => {
                let message = match error {
                    NotADate::Other => {
                        "this is neither a report's time nor a row of a table".to_owned()
                    }
                    other => other.message(trimmed),
                };
                let hint = "log with `S_TIME_FORMAT=ISO iostat -x -t`";
                self.complaints.push(line.error("", message).hint(hint));
            }
        }
    }

    fn finish(mut self) -> Result<Observation, Diagnostics> {
        enough(
            &mut self.complaints,
            &self.text.name,
            self.collector.report_count(),
        );
        if self.complaints.has_errors() {
            return Err(self.complaints);
        }
        let resolution = match self.options.interval {
            Some(_) if !self.dates.local => Nanos::from_millis(1),
            _ => self.dates.resolution(),
        };
        self.collector.machine_facts().memory = self.options.memory;
        let collected = self.collector.finish(resolution);
        let mut doubts = vec![FIRST.to_owned()];
        doubts.extend(self.dates.doubts());
        doubts.extend(self.doubts);
        doubts.extend(collected.doubts);
        doubts.extend(went_back(self.went_back));
        doubts.extend(self.discards.then(|| DISCARDS.to_owned()));
        if !self.unnamed.is_empty() {
            let names = devices::list(&self.unnamed);
            doubts.push(format!("columns {names} are not known and left out"));
        }
        let mut devices = collected.devices;
        devices::choose(&mut devices, &self.options.devices, &mut doubts)
            .map_err(|error| Diagnostics(vec![*error]))?;
        Ok(Observation {
            source: format!("iostat's text `{}`", self.text.name),
            devices,
            machine: collected.machine,
            unknown: unknown::OF_AVERAGES.to_vec(),
            doubts,
            zone: self.dates.zone(),
        })
    }
}

/// Blanks before a line's first word.
fn indent(line: &Line<'_>) -> usize {
    line.text.len() - line.text.trim_start().len()
}

/// Whether the last figure of a row has fewer decimals than the others.
fn is_cut(figures: &[&str]) -> bool {
    let decimals = |figure: &str| figure.rfind(['.', ',']).map(|mark| figure.len() - mark);
    match figures {
        [first, .., last] => decimals(last) < decimals(first),
        _ => false,
    }
}

/// What is said of the first report.
pub(super) const FIRST: &str = "the first report of a run is left out: it counts from the machine's start, or its interval began before the log";

/// Complains of a log of one report.
pub(super) fn enough(complaints: &mut Diagnostics, name: &str, reports: usize) {
    if reports < 2 && !complaints.has_errors() {
        let message = format!(
            "`{name}`: it holds {}, of which the first counts from the machine's start",
            counted(reports as u64, ("report", "reports"))
        );
        let hint = "log several: `iostat -x -t 1 60`";
        complaints.push(Diagnostic::error(message).hint(hint));
    }
}
