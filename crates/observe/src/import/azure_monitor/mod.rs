//! Azure Monitor's metrics, as `az monitor metrics list -o json`, `az rest` and the REST calls "Metrics - List" and "Metrics
//! Batch" answer them: of a virtual machine's disks, of managed disks, and of volumes of Azure NetApp Files.
//!
//! A value is the average (of what is moved: the total) of an interval that begins at its `timeStamp`; times are UTC. A
//! value that there is none of is a gap. What is not used is named, and so is what the figures hide: peaks within a minute,
//! disks that were not told apart, demand that a limit cut off.

mod ask;
mod document;
mod gather;
mod interval;
mod metrics;
mod notes;
mod resource;

use std::collections::BTreeSet;

use fathom_diagnostics::{Diagnostic, Diagnostics};
use fathom_units::{Bytes, Nanos};

use self::ask::Ask;
use self::gather::{Gathered, Key, Rows};
use self::metrics::{
    BOTH_MS, Of, QUEUE, RATES, READ_BYTES, READ_MS, READS, WRITE_BYTES, WRITE_MS, WRITES,
};
use super::collect::{Collector, Flow, TooMuch, percent};
use super::input::Text;
use super::{Options, devices, unknown};
use crate::{MachineSample, Observation, Sample, Zone};

/// Reads the answers of one file.
pub(super) fn read(text: &Text, options: &Options) -> Result<Observation, Diagnostics> {
    let file = &text.name;
    let mut gathered = Gathered::of(document::answers(text)?, file)?;
    let span = span_of(&gathered);
    let mut doubts = Vec::new();
    check(&gathered, file, span)?;
    without_doubles(&mut gathered, span, &mut doubts);
    without_halves(&mut gathered, file, span, &mut doubts)?;
    let mut reports = Reports {
        collector: Collector::default(),
        interval: gathered.interval.unwrap_or(Nanos::from_secs(60)),
        little: false,
    };
    let full = |TooMuch| refuse(file, &TooMuch::message(), notes::LESS);
    let begins = reports
        .fill(&gathered, options)
        .map_err(|error| match error {
            NotTaken::TooMuch => full(TooMuch),
            NotTaken::Memory(message) => refuse(file, &message, Options::MEMORY_HINT),
        })?;
    let facts = reports.collector.machine_facts();
    facts.name = gathered.machine.as_ref().map(|it| it.name.clone());
    facts.memory = options.memory;
    let little = reports.little;
    let collected = reports.collector.finish(Nanos::from_secs(1));
    notes::tell(&gathered, reports.interval, &begins, span, &mut doubts);
    if little {
        let doubt = "queue depth is made of rates and latencies (Little's law): the queue depth of a disk is not in it";
        doubts.push(doubt.to_owned());
    }
    doubts.extend(collected.doubts);
    let mut devices = collected.devices;
    if !options.devices.is_empty() {
        devices::choose(&mut devices, &options.devices, &mut doubts)
            .map_err(|error| Diagnostics(vec![*error]))?;
    }
    let mut unknown = unknown::OF_AVERAGES.to_vec();
    let has_memory = gathered.host.values().any(|row| row[1].is_some());
    if has_memory && options.memory.is_none() {
        unknown.push(unknown::MEMORY_FREE);
    }
    Ok(Observation {
        source: format!("Azure Monitor's metrics `{file}`"),
        devices,
        machine: collected.machine,
        unknown,
        doubts,
        zone: Zone::Own,
    })
}

fn refuse(file: &str, message: &str, hint: &str) -> Diagnostics {
    Diagnostics(vec![
        Diagnostic::error(format!("`{file}`: {message}")).hint(hint),
    ])
}

/// Begin of the first interval and end of the last.
fn span_of(gathered: &Gathered) -> Option<(i64, i64)> {
    let rows = gathered.devices.values().map(|it| &it.by_begin);
    let first = rows.clone().filter_map(|it| it.keys().next()).min()?;
    let last = rows.filter_map(|it| it.keys().next_back()).max()?;
    let length = gathered.interval.unwrap_or_default();
    Some((*first, last.saturating_add_unsigned(length.get())))
}

/// Nothing is made of answers that tell of no disk, nor of the same I/O from two sides.
fn check(gathered: &Gathered, file: &str, span: Option<(i64, i64)>) -> Result<(), Diagnostics> {
    let has = |kinds: &[Of]| gathered.devices.keys().any(|key| kinds.contains(&key.of));
    if has(&[Of::ManagedDisk]) && has(&[Of::DataDisk, Of::OsDisk, Of::Disks]) {
        let message = "it tells of a machine's disks and of managed disks by themselves: of a disk that is both, I/Os would be counted twice";
        let hint = "give the metrics of the machine alone, or those of its disks";
        return Err(refuse(file, message, hint));
    }
    let has_host = !gathered.host.is_empty();
    if !gathered.devices.is_empty() || has_host {
        return Ok(());
    }
    if let Some((name, aggregation)) = gathered.lacking.iter().next() {
        let message = format!("`{name}` is told without its {aggregation}, which its figure is");
        let hint = format!("ask with `--aggregation {aggregation}` too");
        return Err(refuse(file, &message, &hint));
    }
    if let Some(failed) = gathered.failed.iter().next() {
        let message = format!("Azure has no figures of {failed}");
        return Err(refuse(
            file,
            &message,
            "put right what it says, and ask again",
        ));
    }
    let kind = gathered.other_kind.as_deref().unwrap_or_default();
    if kind.starts_with("microsoft.storage/") {
        let message = "it is of a storage account, which counts transactions of all kinds together, not reads and writes";
        let hint = "observe a machine that uses the share or the blobs: `fathom observe`, or a log of iostat or PerfMon";
        return Err(refuse(file, message, hint));
    }
    let ask = Ask {
        resource: gathered.machine.as_ref(),
        of: Of::DataDisk,
        span,
    };
    let hint = format!("ask for the disks of a machine: {}", ask.command());
    if gathered.unused.is_empty() {
        let message = "it holds no values: there are none of that time, or the resource was off";
        return Err(refuse(file, message, &hint));
    }
    let names: Vec<String> = gathered.unused.iter().cloned().collect();
    let message = format!(
        "no metric in it tells of the I/O of a disk or a volume: it holds {}",
        devices::list(&names)
    );
    Err(refuse(file, &message, &hint))
}

/// Leaves out what tells of the same I/O as others do, more coarsely.
fn without_doubles(gathered: &mut Gathered, span: Option<(i64, i64)>, doubts: &mut Vec<String>) {
    let is_split = gathered
        .devices
        .keys()
        .any(|key| key.of == Of::DataDisk && !key.is_mean);
    let apart = [Of::DataDisk, Of::OsDisk, Of::TempDisk];
    let is_apart = gathered.devices.keys().any(|key| apart.contains(&key.of));
    gathered.devices.retain(|key, rows| {
        if is_split && key.is_mean {
            doubts.push("data disks are told one by one and as their mean too: the mean is left out".to_owned());
            return false;
        }
        if is_apart && key.of == Of::Disks {
            doubts.push("`Disk Read Operations/Sec` and its like count all disks of the machine together, which are told apart too: they are left out".to_owned());
            return false;
        }
        if key.is_mean {
            let ask = Ask {
                resource: rows.resource.as_ref(),
                of: Of::DataDisk,
                span,
            };
            doubts.push(format!(
                "`{}` is not split by LUN: each figure is the mean of the machine's data disks (`Average` over all of them), not their sum, so that of several disks together the machine did that many times as much; each disk is told by {}",
                key.name,
                ask.command()
            ));
        }
        true
    });
}

/// Leaves out devices of which one direction is not told: how many I/Os there were is not known.
fn without_halves(
    gathered: &mut Gathered,
    file: &str,
    span: Option<(i64, i64)>,
    doubts: &mut Vec<String>,
) -> Result<(), Diagnostics> {
    let mut lacking = Vec::new();
    gathered.devices.retain(|key, rows| {
        let is_told = |place: usize| rows.by_begin.values().any(|row| row[place].is_some());
        let missing: Vec<String> = [READS, WRITES]
            .into_iter()
            .filter(|place| !is_told(*place))
            .map(|place| format!("`{}`", metrics::name_of(key.of, place)))
            .collect();
        if missing.is_empty() {
            return true;
        }
        let message = format!(
            "{} of `{}` is not in it, so that the number of its I/Os is not known",
            missing.join(" and "),
            key.name
        );
        let ask = Ask {
            resource: rows.resource.as_ref(),
            of: key.of,
            span,
        };
        lacking.push((
            message,
            format!("ask for what is needed: {}", ask.command()),
        ));
        false
    });
    if gathered.devices.is_empty() && !lacking.is_empty() {
        let mut complaints = Diagnostics::default();
        for (message, hint) in lacking {
            complaints.push(Diagnostic::error(format!("`{file}`: {message}")).hint(hint));
        }
        return Err(complaints);
    }
    doubts.extend(
        lacking
            .into_iter()
            .map(|(message, _)| format!("{message}: the device is left out")),
    );
    Ok(())
}

/// Why a collector does not go on.
enum NotTaken {
    TooMuch,
    Memory(String),
}

impl From<TooMuch> for NotTaken {
    fn from(_: TooMuch) -> Self {
        Self::TooMuch
    }
}

/// Samples in the order of their intervals.
struct Reports {
    collector: Collector,
    interval: Nanos,
    /// A queue depth follows from rates and latencies.
    little: bool,
}

impl Reports {
    /// Hands over all intervals with a value; their begins.
    fn fill(&mut self, gathered: &Gathered, options: &Options) -> Result<BTreeSet<i64>, NotTaken> {
        let mut begins: BTreeSet<i64> = BTreeSet::new();
        for rows in gathered.devices.values() {
            let told = rows.by_begin.iter().filter(|(_, row)| has_ios(row));
            begins.extend(told.map(|(begin, _)| *begin));
        }
        if gathered.devices.is_empty() {
            begins.extend(gathered.host.keys());
        }
        for begin in &begins {
            let end = begin.saturating_add_unsigned(self.interval.get());
            self.collector.report(end, Some(self.interval), false);
            for (key, rows) in &gathered.devices {
                self.device(key, rows, *begin)?;
            }
            if let Some([processors, free]) = gathered.host.get(begin) {
                let free = free.map(|bytes| options.memory_in_use(Bytes::new(bytes as u64)));
                let memory = free.transpose().map_err(NotTaken::Memory)?.flatten();
                self.collector.machine(MachineSample {
                    processors: processors.and_then(percent),
                    memory,
                    ..MachineSample::default()
                })?;
            }
        }
        Ok(begins)
    }

    fn device(&mut self, key: &Key, rows: &Rows, begin: i64) -> Result<(), TooMuch> {
        let Some(row) = rows.by_begin.get(&begin).filter(|row| has_ios(row)) else {
            return Ok(());
        };
        let seconds = |place: usize| row[place].map(|ms| ms / 1e3);
        let flow = |count: usize, bytes: usize, latency: usize| {
            row[count].map(|count| Flow {
                count,
                bytes: row[bytes],
                latency: seconds(latency),
                merged: None,
            })
        };
        let reads = flow(READS, READ_BYTES, READ_MS);
        let writes = flow(WRITES, WRITE_BYTES, WRITE_MS);
        let sum = |of: fn(Flow) -> Option<f64>| Some(of(reads?)? + of(writes?)?);
        // One latency for both directions stands with both together.
        let all = seconds(BOTH_MS).and_then(|latency| {
            Some(Flow {
                count: reads?.count + writes?.count,
                bytes: sum(|flow| flow.bytes),
                latency: Some(latency),
                merged: None,
            })
        });
        let timed = |flow: Flow| Some(flow.count * flow.latency?);
        let little = all.and_then(timed).or_else(|| sum(timed));
        self.little |= row[QUEUE].is_none() && little.is_some();
        let sample = Sample {
            reads: reads.map(Flow::ops),
            writes: writes.map(Flow::ops),
            all: all.map(Flow::ops),
            queue: row[QUEUE].or(little),
            ..Sample::default()
        };
        self.collector.sample(&key.name, &sample)
    }
}

/// Whether a row tells how many I/Os there were.
fn has_ios(row: &[Option<f64>; RATES]) -> bool {
    row[READS].is_some() && row[WRITES].is_some()
}
