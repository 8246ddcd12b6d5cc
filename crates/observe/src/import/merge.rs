//! Several files as one observation: the parts of a trace, a job's logs, or sources that complete each other.

use fathom_diagnostics::{Diagnostic, Diagnostics};

use super::detect::{self, Format};
use super::input::{File, Text};
use super::{
    Options, azure_monitor, blktrace, diskstats, fio_log, iostat, perfmon, sadf, sysstat_json,
    unknown, vmstat,
};
use crate::periods::is_dated;
use crate::{Device, MachineSample, Observation, Sample, Zone};

/// Reads files together.
pub(super) fn read(files: Vec<File>, options: &Options) -> Result<Observation, Diagnostics> {
    let mut complaints = Diagnostics::default();
    let mut traces = Vec::new();
    let mut texts: Vec<(Format, Text)> = Vec::new();
    for file in files {
        match recognise(file, options) {
            Ok(Kind::Trace(file)) => traces.push(file),
            Ok(Kind::Text(format, text)) => texts.push((format, text)),
            Err(errors) => errors.0.into_iter().for_each(|one| complaints.push(one)),
        }
    }
    let mut found: Vec<Observation> = Vec::new();
    let mut keep = |read: Result<Observation, Diagnostics>| match read {
        Ok(observation) => found.push(observation),
        Err(errors) => errors
            .0
            .into_iter()
            .for_each(|error| complaints.push(error)),
    };
    if !traces.is_empty() {
        keep(blktrace::read(&traces, options));
    }
    let logs: Vec<&Text> = texts
        .iter()
        .filter(|(format, _)| *format == Format::FioLog)
        .map(|(_, text)| text)
        .collect();
    if !logs.is_empty() {
        keep(fio_log::read(&logs, options));
    }
    for (format, text) in &texts {
        if *format != Format::FioLog {
            let read = one(*format, text, options);
            keep(read.map(|mut observation| {
                observation.doubts.extend(text.doubt());
                observation
            }));
        }
    }
    if complaints.has_errors() {
        return Err(complaints);
    }
    let mut whole = together(found).map_err(|error| Diagnostics(vec![*error]))?;
    unknown::complete(&mut whole);
    if whole.zone == Zone::Own && !whole.devices.is_empty() && is_dated(&whole) {
        let doubt = "its times are told in UTC: hours of the day are those of this machine's zone, unless `TZ` names another";
        whole.doubts.push(doubt.to_owned());
    }
    Ok(whole)
}

fn one(format: Format, text: &Text, options: &Options) -> Result<Observation, Diagnostics> {
    match format {
        Format::PerfMon => perfmon::read(text, options),
        Format::Iostat => iostat::read(text, options),
        Format::SysstatJson => sysstat_json::read(text, options),
        Format::AzureMonitor => azure_monitor::read(text, options),
        Format::Sadf => sadf::read(text, options),
        Format::Vmstat => vmstat::read(text, options),
        Format::Diskstats => diskstats::read(text, options),
        Format::FioLog => fio_log::read(&[text], options),
        // Traces are no text, and were told apart before.
        Format::Blktrace => Err(Diagnostics::default()),
    }
}

/// What a file is.
enum Kind {
    Trace(File),
    Text(Format, Text),
}

fn recognise(file: File, options: &Options) -> Result<Kind, Diagnostics> {
    let one = |error: Box<Diagnostic>| Diagnostics(vec![*error]);
    let binary = detect::binary(&file.head()?, &file.name).map_err(one)?;
    let named = options.format;
    if (binary == Some(Format::Blktrace) && named.is_none()) || named == Some(Format::Blktrace) {
        return Ok(Kind::Trace(file));
    }
    let text = Text::new(file, options.encoding.as_deref())?;
    let format = match named {
        Some(format) => format,
        None => detect::text(&text.head()?, &text.name).map_err(one)?,
    };
    Ok(Kind::Text(format, text))
}

/// Observations of one machine become one; a device may go on from one to the next, but not be told twice.
fn together(found: Vec<Observation>) -> Result<Observation, Box<Diagnostic>> {
    let mut found = found.into_iter();
    let mut whole = found.next().unwrap_or_default();
    for next in found {
        if let (Some(one), Some(other)) = (&whole.machine.name, &next.machine.name)
            && !one.eq_ignore_ascii_case(other)
        {
            let message = format!(
                "`{one}` and `{other}` are two machines: {} is of the second",
                next.source
            );
            return Err(Box::new(
                Diagnostic::error(message).hint("observe each of them alone"),
            ));
        }
        let disks = !next.devices.is_empty();
        if disks && whole.devices.is_empty() {
            whole.zone = next.zone;
        } else if disks && whole.zone != next.zone {
            whole.doubts.push(format!(
                "{} tells its hours in another zone than {}: those of the first count",
                next.source, whole.source
            ));
        }
        whole.source = format!("{} and {}", whole.source, next.source);
        for device in next.devices {
            match whole
                .devices
                .iter_mut()
                .find(|known| known.name == device.name)
            {
                Some(known) => append(known, device)?,
                None => whole.devices.push(device),
            }
        }
        whole.machine.name = whole.machine.name.or(next.machine.name);
        whole.machine.processors = whole.machine.processors.or(next.machine.processors);
        whole.machine.memory = whole.machine.memory.or(next.machine.memory);
        combine(&mut whole.machine.samples, next.machine.samples);
        whole.doubts.extend(next.doubts);
        for unknown in next.unknown {
            if !whole.unknown.contains(&unknown) {
                whole.unknown.push(unknown);
            }
        }
    }
    settle(&mut whole);
    Ok(whole)
}

/// What one source cannot know and another one told is known.
fn settle(whole: &mut Observation) {
    let disks = whole
        .devices
        .iter()
        .any(|device| !device.samples.is_empty());
    let machine = &whole.machine.samples;
    let processors = machine.iter().any(|sample| sample.processors.is_some());
    let memory = machine.iter().any(|sample| sample.memory.is_some());
    whole.unknown.retain(|unknown| {
        let told = (*unknown == unknown::NO_DISKS && disks)
            || (*unknown == unknown::PROCESSORS && processors)
            || ([unknown::MEMORY, unknown::MEMORY_FREE].contains(unknown) && memory);
        !told
    });
}

fn append(known: &mut Device, next: Device) -> Result<(), Box<Diagnostic>> {
    let begin = |sample: &Sample| {
        sample
            .at_unix_ns
            .saturating_sub_unsigned(sample.length.get())
    };
    let (first, last) = (next.samples.first(), known.samples.last());
    let after = first
        .zip(last)
        .is_none_or(|(next, known)| begin(next) >= known.at_unix_ns);
    let before = known.samples.first().zip(next.samples.last());
    let before = before.is_some_and(|(known, next)| next.at_unix_ns <= begin(known));
    if (after || before) && known.traced.is_none() && next.traced.is_none() {
        known.samples.extend(next.samples);
        known.samples.sort_by_key(|sample| sample.at_unix_ns);
        return Ok(());
    }
    let message = format!("two of the files tell of `{}` at the same time", known.name);
    let hint = "observe from one of them, or name its device with `--device` for each alone";
    Err(Box::new(Diagnostic::error(message).hint(hint)))
}

/// Processors and memory of two sources, in order of time; of the same moment what each tells.
fn combine(known: &mut Vec<MachineSample>, next: Vec<MachineSample>) {
    known.extend(next);
    known.sort_by_key(|sample| sample.at_unix_ns);
    known.dedup_by(|later, earlier| {
        let same = later.at_unix_ns == earlier.at_unix_ns;
        if same {
            earlier.processors = earlier.processors.or(later.processors);
            earlier.memory = earlier.memory.or(later.memory);
        }
        same
    });
}
