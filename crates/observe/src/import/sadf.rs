//! sadf's lines (`sadf -d`): fields parted by semicolons, a line that begins with `#` before each table.
//!
//! `# hostname;interval;timestamp;DEV;tps;rkB/s;…`, then a row a disk and interval. Tables of disks, processors and memory
//! may follow one another, each over all the time.

use fathom_diagnostics::{Diagnostic, Diagnostics};
use fathom_units::{Nanos, counted};

use super::collect::{Collector, TooMuch};
use super::input::{Line, Text};
use super::number::Decimals;
use super::sysstat::{Memory, Row, processors, went_back};
use super::when::Dates;
use super::{Options, devices, unknown};
use crate::Observation;

/// Reads the lines.
pub(super) fn read(text: &Text, options: &Options) -> Result<Observation, Diagnostics> {
    let mut reader = Reader::default();
    let mut lines = text.lines()?;
    while let Some(line) = lines.next()? {
        if reader.complaints.is_full() {
            break;
        }
        if line.text.trim().is_empty() {
            continue;
        }
        if let Some(names) = line.text.strip_prefix("# ") {
            reader.columns = names
                .split(';')
                .map(|name| name.trim().to_owned())
                .collect();
        } else {
            reader.row(&line)?;
        }
    }
    reader.finish(text, options)
}

#[derive(Default)]
struct Reader {
    columns: Vec<String>,
    dates: Dates,
    decimals: Decimals,
    collector: Collector,
    complaints: Diagnostics,
    doubts: Vec<String>,
    disks: usize,
    /// Rows with figures below 0.
    went_back: usize,
}

impl Reader {
    fn row(&mut self, line: &Line<'_>) -> Result<(), Diagnostics> {
        let fields: Vec<&str> = line.text.split(';').collect();
        if fields.iter().any(|field| field.contains("LINUX-RESTART")) || fields.contains(&"COM") {
            return Ok(());
        }
        let is_short = fields.len() < self.columns.len() || fields.last() == Some(&"");
        if line.cut && is_short {
            let doubt = format!(
                "its last row, line {}, is cut short and left out",
                line.number
            );
            self.doubts.push(doubt);
            return Ok(());
        }
        if fields.len() != self.columns.len() || fields.len() < 4 {
            let message = format!(
                "this row has {} for {}",
                counted(fields.len() as u64, ("field", "fields")),
                counted(self.columns.len() as u64, ("column", "columns"))
            );
            let hint = "each table begins with its columns (`# hostname;interval;timestamp;…`): write the log anew with `sadf -d FILE -- -d`";
            self.complaints.push(line.error("", message).hint(hint));
            return Ok(());
        }
        let Some((at, length)) = self.time(line, fields[1], fields[2]) else {
            return Ok(());
        };
        self.collector.host(fields[0]).map_err(|two| {
            let hint = "one machine is observed: give each machine's rows a file of their own";
            two.refuse(line, fields[0], hint)
        })?;
        let added = match self.columns[3].as_str() {
            "DEV" => self.disk(line, &fields, at, length),
            "CPU" => self.processors(line, &fields, at, length),
            name if name.starts_with("kbmem") => self.memory(line, &fields, at, length),
            _ => Ok(()),
        };
        added.map_err(|TooMuch| {
            Diagnostics(vec![line.error("", TooMuch::message()).hint(TooMuch::HINT)])
        })
    }

    fn time(&mut self, line: &Line<'_>, interval: &str, stamp: &str) -> Option<(i64, Nanos)> {
        let length = match self.decimals.number(interval, line.number) {
            Ok(seconds) if (0.0..1e7).contains(&seconds) => Nanos::new((seconds * 1e9) as u64),
            _ => {
                let message = format!("`{interval}` is no interval in seconds");
                let hint = "the second field is the interval's length";
                self.complaints
                    .push(line.error(interval, message).hint(hint));
                return None;
            }
        };
        // With `-U` times are seconds of the Unix epoch.
        let epoch = stamp
            .parse::<i64>()
            .ok()
            .filter(|seconds| (0..4_102_444_800).contains(seconds));
        if let Some(seconds) = epoch {
            return Some((seconds * 1_000_000_000, length));
        }
        match self.dates.read(stamp) {
            Ok(at) => Some((at, length)),
            Err(error) => {
                let hint = "sadf writes `2026-11-22 07:03:12 UTC`";
                self.complaints
                    .push(line.error(stamp, error.message(stamp)).hint(hint));
                None
            }
        }
    }

    fn number(&mut self, line: &Line<'_>, field: &str) -> Option<f64> {
        match self.decimals.number(field, line.number) {
            Ok(value) => Some(value),
            Err(error) => {
                let hint = "write the log anew with `LC_ALL=C sadf -d`";
                self.complaints
                    .push(line.error(field, error.message(field)).hint(hint));
                None
            }
        }
    }

    fn disk(
        &mut self,
        line: &Line<'_>,
        fields: &[&str],
        at: i64,
        length: Nanos,
    ) -> Result<(), TooMuch> {
        let mut row = Row::default();
        for (index, field) in fields.iter().enumerate().skip(4) {
            let Some(value) = self.number(line, field) else {
                return Ok(());
            };
            row.put(&self.columns[index], value);
        }
        let report = self.collector.again(at, length);
        self.disks += 1;
        if row.went_back() {
            self.went_back += 1;
            return Ok(());
        }
        match row.sample() {
            Some(sample) => self.collector.sample_of(report, fields[3], &sample),
            None => Ok(()),
        }
    }

    fn named(&mut self, line: &Line<'_>, fields: &[&str], name: &str) -> Option<f64> {
        let place = self.columns.iter().position(|column| column == name)?;
        self.number(line, fields[place])
    }

    fn processors(
        &mut self,
        line: &Line<'_>,
        fields: &[&str],
        at: i64,
        length: Nanos,
    ) -> Result<(), TooMuch> {
        let all = ["-1", "all"].contains(&fields[3]);
        let idle = self.named(line, fields, "%idle");
        let (Some(idle), true) = (idle, all) else {
            return Ok(());
        };
        let waiting = self.named(line, fields, "%iowait").unwrap_or(0.0);
        let report = self.collector.again(at, length);
        self.collector.machine_of(report, processors(idle, waiting))
    }

    fn memory(
        &mut self,
        line: &Line<'_>,
        fields: &[&str],
        at: i64,
        length: Nanos,
    ) -> Result<(), TooMuch> {
        let mut of = |name: &str| self.named(line, fields, name);
        let memory = Memory {
            used: of("kbmemused"),
            used_percent: of("%memused"),
            free: of("kbmemfree"),
            buffers: of("kbbuffers"),
            cached: of("kbcached"),
        };
        let Some(part) = memory.in_use() else {
            return Ok(());
        };
        let report = self.collector.again(at, length);
        self.collector.machine_of(report, part)
    }

    fn finish(mut self, text: &Text, options: &Options) -> Result<Observation, Diagnostics> {
        if self.collector.report_count() == 0 && !self.complaints.has_errors() {
            let message = format!(
                "{}: it has no row of disks, processors or memory",
                text.name
            );
            let hint = "write it with `sadf -d FILE -- -d -u -r`";
            self.complaints.push(Diagnostic::error(message).hint(hint));
        }
        if self.complaints.has_errors() {
            return Err(self.complaints);
        }
        self.collector.machine_facts().memory = options.memory;
        let collected = self.collector.finish(self.dates.resolution());
        let mut doubts = self.dates.doubts();
        doubts.extend(self.doubts);
        doubts.extend(went_back(self.went_back));
        doubts.extend(collected.doubts);
        let mut devices = collected.devices;
        devices::choose(&mut devices, &options.devices, &mut doubts)
            .map_err(|error| Diagnostics(vec![*error]))?;
        Ok(Observation {
            source: format!("sadf's lines `{}`", text.name),
            devices,
            machine: collected.machine,
            unknown: unknown::OF_AVERAGES.to_vec(),
            doubts,
            zone: self.dates.zone(),
        })
    }
}
