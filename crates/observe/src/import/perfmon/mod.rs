//! PerfMon's text, as relog, typeperf and logman write it: comma or tab, or semicolon where a spreadsheet saved it again.
//!
//! The first line names the columns (`"(PDH-CSV 4.0) (zone)(bias)","\\HOST\PhysicalDisk(0 C:)\Disk Reads/sec",…`), each
//! further one is a moment of the local clock and a value a column. A value that was not had is blank, or `-1`. What a row
//! tells a second holds for the time since the row before.

mod header;
mod names;

use fathom_diagnostics::{Diagnostic, Diagnostics};
use fathom_units::{Bytes, Nanos};

use self::header::{Header, Target, fields, refuse};
use self::names::{MEANINGS, Meaning as M};
use super::collect::{Collector, Flow, TooMuch, percent};
use super::input::{Line, Text};
use super::number::{Decimals, NotANumber};
use super::when::Dates;
use super::{Options, devices, unknown};
use crate::{MachineSample, Observation, Sample};

pub use self::names::Meaning;

/// How many column names of a text are known.
pub(super) fn score(text: &str) -> usize {
    text.lines()
        .find(|line| line.contains("(PDH-"))
        .map_or(0, names::known_names)
}

/// Reads a log.
pub(super) fn read(text: &Text, options: &Options) -> Result<Observation, Diagnostics> {
    let mut reader = Reader::new(text, options)?;
    let mut lines = text.lines()?;
    while let Some(line) = lines.next()? {
        if reader.complaints.is_full() {
            break;
        }
        let trimmed = line.text.trim_start_matches(['"', '\u{feff}']).trim_start();
        if trimmed.starts_with("(PDH-") {
            let mut header = Header::read(&line, options)?;
            if let Some(host) = reader.header.take().and_then(|before| before.host) {
                let now = header.host.replace(host);
                now.map_or(Ok(()), |now| header.of_host(&now, &line))?;
            }
            reader.header = Some(header);
            reader.fresh = true;
            reader.ended = None;
        } else if line.text.trim().is_empty() {
        } else if let Some(header) = reader.header.take() {
            let read = reader.row(&line, &header);
            reader.header = Some(header);
            read?;
        } else {
            let message = "the first line does not name the columns as PerfMon does";
            let hint = "it begins with \"(PDH-CSV 4.0)\": write the log anew with `relog LOG -f CSV -o NEW.csv`";
            return Err(refuse(line.error("", message).hint(hint)));
        }
    }
    reader.finish()
}

/// The memory that a row says is free.
fn available(header: &Header, values: &[Option<f64>]) -> Option<Bytes> {
    let pairs = header.targets.iter().zip(values);
    let mut found = pairs.filter_map(|pair| match pair {
        (Target::Available(unit), Some(value)) => Some(Bytes::new((value * *unit as f64) as u64)),
        _ => None,
    });
    found.next_back()
}

struct Reader<'a> {
    text: &'a Text,
    options: &'a Options,
    header: Option<Header>,
    fresh: bool,
    dates: Dates,
    decimals: Decimals,
    collector: Collector,
    complaints: Diagnostics,
    doubts: Vec<String>,
    blanks: usize,
    /// The last row, and how many were the same once more.
    last: String,
    twice: usize,
    /// The line after the last row.
    ended: Option<usize>,
    seen: Seen,
}

/// What of the counters must be said in the end.
#[derive(Default)]
struct Seen {
    queue_now: bool,
    little: bool,
    free: bool,
}

impl<'a> Reader<'a> {
    fn new(text: &'a Text, options: &'a Options) -> Result<Self, Diagnostics> {
        let mut dates = Dates::default();
        let mut lines = text.lines()?;
        while let Some(line) = lines.next()?.filter(|line| line.number <= 100_000) {
            let end = line.text.find([',', ';', '\t']).unwrap_or(line.text.len());
            dates.learn(line.text[..end].trim_matches('"'));
        }
        Ok(Self {
            text,
            options,
            header: None,
            fresh: true,
            dates,
            decimals: Decimals::default(),
            collector: Collector::default(),
            complaints: Diagnostics::default(),
            doubts: Vec::new(),
            blanks: 0,
            last: String::new(),
            twice: 0,
            ended: None,
            seen: Seen::default(),
        })
    }

    fn row(&mut self, line: &Line<'_>, header: &Header) -> Result<(), Diagnostics> {
        let row = fields(line.text, header.separator);
        self.dates.offset = header.bias.map(|bias| -bias * 60);
        if header.separator != ';' {
            self.dates.month_first();
        }
        let date_like = row[0]
            .trim_start()
            .starts_with(|one: char| one.is_ascii_digit());
        if !date_like && !line.text.trim_start().starts_with('"') {
            // What typeperf says at its end, in any language, is no row.
            self.ended.get_or_insert(line.number);
            return Ok(());
        }
        if let Some(ended) = self.ended {
            let message = format!("a row stands after line {ended}, which is none");
            let hint = "give each log a file of its own";
            self.complaints.push(line.error("", message).hint(hint));
            return Ok(());
        }
        let wanted = header.targets.len() + 1;
        let caption = row.len() + 1 == wanted && header.targets.last() == Some(&Target::Nothing);
        let blank_end = row.len() == wanted + 1 && row[wanted].trim().is_empty();
        if line.cut && row.len() < wanted {
            self.doubts.push(format!(
                "its last row, line {}, is cut short and left out",
                line.number
            ));
            return Ok(());
        }
        if row.len() != wanted && !caption && !blank_end {
            let message = format!("this row has {} fields, the header {wanted}", row.len());
            let hint = "a decimal comma without quotes, or a line cut short: write the log anew with `relog LOG -f CSV -o NEW.csv`";
            self.complaints.push(line.error("", message).hint(hint));
            return Ok(());
        }
        let at = match self.dates.read(&row[0]) {
            Ok(at) => at,
            Err(error) => {
                let error = line.error(quoted(line.text, &row[0]), error.message(&row[0]));
                self.complaints
                    .push(error.hint("PerfMon writes `11/22/2026 07:03:11.250`"));
                return Ok(());
            }
        };
        if self.is_twice(line) {
            return Ok(());
        }
        let values = self.values(line, &row[1..], header);
        self.collector.report(at, None, self.fresh);
        let begins = std::mem::take(&mut self.fresh);
        let free = available(header, &values);
        self.seen.free |= free.is_some();
        let memory = free.map(|free| self.options.memory_in_use(free));
        let memory = memory
            .transpose()
            .map_err(|message| refuse(line.error("", message).hint(Options::MEMORY_HINT)))?;
        self.add(header, &values, memory.flatten(), begins)
            .map_err(|TooMuch| refuse(line.error("", TooMuch::message()).hint(TooMuch::HINT)))
    }

    /// Whether a row is the one before it once more, as where logs that overlap were put together: one moment is no interval.
    /// Times without parts of a second may be alike in rows that are two.
    fn is_twice(&mut self, line: &Line<'_>) -> bool {
        let is_exact = self.dates.resolution() < Nanos::from_secs(1);
        if is_exact && line.text == self.last {
            self.twice += 1;
            return true;
        }
        line.text.clone_into(&mut self.last);
        false
    }

    /// The values of a row; none where there is none.
    fn values(&mut self, line: &Line<'_>, row: &[String], header: &Header) -> Vec<Option<f64>> {
        let mut values = Vec::with_capacity(header.targets.len());
        for (field, target) in row.iter().zip(&header.targets) {
            if *target == Target::Nothing {
                values.push(None);
                continue;
            }
            let blank = field.trim().is_empty() || field.trim() == "-1";
            let value = match self.decimals.number(field, line.number) {
                _ if blank => None,
                Ok(value) if value < 0.0 => None,
                Ok(value) => Some(value),
                Err(error) => {
                    let hint = match error {
                        NotANumber::Mixed(..) => {
                            "write the log anew on one machine: `relog LOG -f CSV -o NEW.csv`"
                        }
                        _ => "a value stands alone between its separators",
                    };
                    let message = error.message(field);
                    self.complaints
                        .push(line.error(quoted(line.text, field), message).hint(hint));
                    None
                }
            };
            // The first row of a rate has nothing before it.
            self.blanks += usize::from(value.is_none() && !self.fresh);
            values.push(value);
        }
        values
    }

    fn add(
        &mut self,
        header: &Header,
        values: &[Option<f64>],
        memory: Option<Bytes>,
        begins: bool,
    ) -> Result<(), TooMuch> {
        let mut disks = vec![[None; MEANINGS]; header.disks.len()];
        let (mut busy, mut processors) = (0.0, 0.0);
        for (target, value) in header.targets.iter().zip(values) {
            match (target, value) {
                (Target::Disk(disk, meaning), value) => disks[*disk][*meaning as usize] = *value,
                (Target::Processor, Some(value)) => {
                    busy += value;
                    processors += 1.0;
                }
                _ => {}
            }
        }
        let mut told = false;
        for (name, values) in header.disks.iter().zip(&disks) {
            if let Some(sample) = self.disk(values) {
                self.collector.sample(name, &sample)?;
                told = true;
            }
        }
        if begins && !told {
            // A rate has no value in the first row, whatever disk it is of.
            self.collector.void();
        }
        if processors > 0.0 || memory.is_some() {
            let processors = (processors > 0.0)
                .then(|| percent(busy / processors))
                .flatten();
            self.collector.machine(MachineSample {
                processors,
                memory,
                ..MachineSample::default()
            })?;
        }
        Ok(())
    }

    /// What one row says of a disk, if anything.
    fn disk(&mut self, values: &[Option<f64>; MEANINGS]) -> Option<Sample> {
        let get = |meaning: Meaning| values[meaning as usize];
        let flow = |count, bytes, size, latency| {
            get(count).map(|count| Flow {
                count,
                bytes: get(bytes).or_else(|| get(size).map(|size| size * count)),
                latency: get(latency),
                merged: None,
            })
        };
        let reads = flow(M::Reads, M::ReadBytes, M::ReadSize, M::ReadSeconds);
        let writes = flow(M::Writes, M::WriteBytes, M::WriteSize, M::WriteSeconds);
        let all = flow(M::Transfers, M::Bytes, M::TransferSize, M::TransferSeconds);
        if reads.is_none() && writes.is_none() && all.is_none() {
            return None;
        }
        let timed = |flow: Option<Flow>| flow.and_then(|flow| Some(flow.count * flow.latency?));
        let little = timed(all).or_else(|| Some(timed(reads)? + timed(writes)?));
        let queue = get(M::Queue).or_else(|| {
            self.seen.little |= little.is_some();
            little.or_else(|| {
                self.seen.queue_now |= get(M::QueueNow).is_some();
                get(M::QueueNow)
            })
        });
        // Both directions together say nothing that they do not say apart, where they say it.
        let apart = reads.zip(writes).is_some_and(|(reads, writes)| {
            all.is_none_or(|all| {
                all.latency.is_none() || (reads.latency.is_some() && writes.latency.is_some())
            })
        });
        // What both together do not tell themselves follows from the directions.
        let sum = |of: fn(Flow) -> Option<f64>| Some(of(reads?)? + of(writes?)?);
        let all = all.map(|all| Flow {
            bytes: all.bytes.or_else(|| sum(|flow| flow.bytes)),
            ..all
        });
        Some(Sample {
            reads: reads.map(Flow::ops),
            writes: writes.map(Flow::ops),
            all: all.filter(|_| !apart).map(Flow::ops),
            queue,
            busy: get(M::Idle).and_then(|idle| percent(100.0 - idle)),
            split: get(M::Split),
            ..Sample::default()
        })
    }

    fn finish(mut self) -> Result<Observation, Diagnostics> {
        if self.collector.report_count() < 2 && !self.complaints.has_errors() {
            let message = format!(
                "{}: it has fewer than two rows, and an interval lies between two",
                self.text.name
            );
            let hint = "let the collector run for longer";
            self.complaints.push(Diagnostic::error(message).hint(hint));
        }
        if self.complaints.has_errors() {
            return Err(self.complaints);
        }
        let header = self.header.unwrap_or_default();
        self.collector.machine_facts().name = header.host;
        self.collector.machine_facts().processors = header.processors;
        self.collector.machine_facts().memory = self.options.memory;
        let collected = self.collector.finish(self.dates.resolution());
        let mut doubts = self.dates.doubts();
        doubts.extend(header.doubts);
        doubts.extend(self.doubts);
        doubts.extend(collected.doubts);
        let said = [
            (
                self.seen.little,
                "queue depth is made of rates and latencies (Little's law): `Avg. Disk Queue Length` is not in it",
            ),
            (
                self.seen.queue_now,
                "queue depth is that at the end of each interval (`Current Disk Queue Length`), not its average",
            ),
        ];
        doubts.extend(
            said.iter()
                .filter(|(holds, _)| *holds)
                .map(|(_, text)| (*text).to_owned()),
        );
        if self.twice > 0 {
            doubts.push(match self.twice {
                1 => "1 row is the row before it once more: it is left out".to_owned(),
                rows => format!("{rows} rows are the row before them once more: they are left out"),
            });
        }
        if self.blanks > 0 {
            doubts.push(match self.blanks {
                1 => "1 value is blank or negative: it is left out".to_owned(),
                values => format!("{values} values are blank or negative: they are left out"),
            });
        }
        let mut devices = collected.devices;
        if !self.options.devices.is_empty() {
            devices::choose(&mut devices, &self.options.devices, &mut doubts)
                .map_err(|error| refuse(*error))?;
        }
        let mut unknown = unknown::OF_AVERAGES.to_vec();
        if self.seen.free && self.options.memory.is_none() {
            unknown.push(unknown::MEMORY_FREE);
        }
        Ok(Observation {
            source: format!("PerfMon's log `{}`", self.text.name),
            devices,
            machine: collected.machine,
            unknown,
            doubts,
            zone: self.dates.zone(),
        })
    }
}

/// The part of a line that a field came from, for a mark under it.
fn quoted<'a>(line: &'a str, field: &str) -> &'a str {
    match line.find(field) {
        Some(start) if !field.is_empty() => &line[start..start + field.len()],
        _ => line,
    }
}
