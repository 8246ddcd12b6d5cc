//! fio's logs (`NAME_lat.1.log`, `NAME_bw.1.log`, `NAME_iops.1.log`), of which those of one job belong together.
//!
//! A line is `milliseconds, value, direction, size, offset, …`. With `log_avg_msec` a line is an average and its size is 0;
//! without it a line is one I/O. Latencies are nanoseconds, bandwidth is KiB/s. The kind stands in the file's name alone.

use std::collections::BTreeMap;

use fathom_diagnostics::{Diagnostic, Diagnostics};
use fathom_stats::Histogram;
use fathom_units::Nanos;

use super::input::{Line, Text};
use super::{Options, devices, unknown};
use crate::{Device, Observation, Ops, Placed, Sample, Traced, Unknown};

/// What a log tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// From submission to completion, all in all.
    Latency,
    /// From issue to completion.
    Completion,
    /// From submission to issue: not the storage's.
    Submission,
    Bandwidth,
    Iops,
}

/// How the names of the kinds end.
const KINDS: &[(&str, Kind)] = &[
    ("_clat", Kind::Completion),
    ("_slat", Kind::Submission),
    ("_lat", Kind::Latency),
    ("_bw", Kind::Bandwidth),
    ("_iops", Kind::Iops),
];

/// One line.
#[derive(Debug, Clone, Copy)]
struct Entry {
    ms: u64,
    value: u64,
    direction: usize,
    size: u64,
    offset: u64,
}

/// Longest log, in intervals.
const MOST_INTERVALS: usize = 200_000;

/// The logs of one job.
type Logs = BTreeMap<Kind, Vec<Entry>>;

/// The job and kind that a file's name tells: `dir/job_lat.1.log`.
fn named(name: &str) -> Option<(String, Kind)> {
    let file = name.rsplit('/').next().unwrap_or(name);
    let stem = file.strip_suffix(".log")?;
    let (stem, number) = match stem.rsplit_once('.') {
        Some((before, number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => {
            (before, number)
        }
        _ => (stem, ""),
    };
    let (job, kind) = KINDS
        .iter()
        .find_map(|(end, kind)| Some((stem.strip_suffix(end)?, *kind)))?;
    let job = if number.is_empty() {
        job.to_owned()
    } else {
        format!("{job}.{number}")
    };
    Some((job, kind))
}

/// Reads the logs, which may be of several jobs.
pub(super) fn read(texts: &[Text<'_>], options: &Options) -> Result<Observation, Diagnostics> {
    let mut complaints = Diagnostics::default();
    let mut doubts = Vec::new();
    let mut jobs: BTreeMap<String, Logs> = BTreeMap::new();
    for text in texts {
        let Some((job, kind)) = named(text.name) else {
            let message = format!(
                "{}: what it logs stands only in its name, and this does not tell",
                text.name
            );
            let hint = "name it as fio does: `JOB_lat.1.log`, `JOB_clat.1.log`, `JOB_bw.1.log` or `JOB_iops.1.log`";
            complaints.push(Diagnostic::error(message).hint(hint));
            continue;
        };
        let entries = entries(*text, &mut complaints, &mut doubts);
        jobs.entry(job).or_default().insert(kind, entries);
    }
    let mut found = Vec::new();
    let mut unknown = vec![
        Unknown {
            figure: "devices",
            reason: "fio's logs tell jobs, not devices: each job is taken as one",
        },
        unknown::PROCESSORS,
        unknown::MEMORY,
    ];
    let mut epoch = false;
    for (job, logs) in jobs {
        if complaints.has_errors() {
            break;
        }
        let averaged = logs.values().flatten().all(|entry| entry.size == 0);
        epoch |= logs
            .values()
            .flatten()
            .next()
            .is_some_and(|entry| entry.ms > EPOCH_MS);
        let read = if averaged {
            averages(&job, &logs)
        } else {
            each(&job, &logs, &mut unknown)
        };
        match read {
            Ok(device) => found.push(device),
            Err(error) => complaints.push(*error),
        }
        if averaged && !unknown.contains(&unknown::PERCENTILES) {
            unknown.extend([unknown::PERCENTILES, unknown::RANDOM, unknown::SIZES]);
        }
    }
    if complaints.has_errors() {
        return Err(complaints);
    }
    if !epoch {
        doubts
            .push("its times count from the job's start: they tell no hour of the day".to_owned());
    }
    doubts.push("its latencies are taken as nanoseconds, as fio 3 writes them".to_owned());
    if !options.devices.is_empty() {
        devices::choose(&mut found, &options.devices, &mut doubts)
            .map_err(|error| Diagnostics(vec![*error]))?;
    }
    let names: Vec<String> = texts.iter().map(|text| text.name.to_owned()).collect();
    Ok(Observation {
        source: format!("fio's logs {}", devices::list(&names)),
        devices: found,
        unknown,
        doubts,
        ..Observation::default()
    })
}

/// Times beyond this are of the Unix epoch (`log_unix_epoch`), not of the job: 2001.
const EPOCH_MS: u64 = 1_000_000_000_000;

fn entries(text: Text<'_>, complaints: &mut Diagnostics, doubts: &mut Vec<String>) -> Vec<Entry> {
    let mut entries = Vec::new();
    let mut trims = 0_u64;
    for line in text.lines() {
        if complaints.is_full() {
            break;
        }
        if line.text.trim().is_empty() {
            continue;
        }
        match entry(&line) {
            Ok(entry) if entry.direction > 1 => trims += 1,
            Ok(entry) => entries.push(entry),
            Err(_) if line.cut => {
                doubts.push(format!(
                    "the last line of `{}` is cut short and left out",
                    text.name
                ));
            }
            Err(error) => complaints.push(*error),
        }
    }
    if trims > 0 {
        doubts.push(format!("{trims} trims in `{}` are left out", text.name));
    }
    entries
}

fn entry(line: &Line<'_>) -> Result<Entry, Box<Diagnostic>> {
    let fields: Vec<&str> = line.text.split(',').map(str::trim).collect();
    let refuse = |part: &str, message: String| {
        let hint = "a line of fio's logs is `milliseconds, value, direction, size, offset`";
        Box::new(line.error(part, message).hint(hint))
    };
    if fields.len() < 4 {
        return Err(refuse("", format!("this line has {} fields", fields.len())));
    }
    let mut numbers = [0; 5];
    for (place, field) in numbers.iter_mut().zip(&fields) {
        *place = field
            .parse()
            .map_err(|_| refuse(field, format!("`{field}` is no whole number")))?;
    }
    let [ms, value, direction, size, offset] = numbers;
    if ms > 10 * EPOCH_MS || value > 1 << 50 || size > 1 << 40 || direction > 2 {
        return Err(refuse("", "its figures are more than can be".to_owned()));
    }
    Ok(Entry {
        ms,
        value,
        direction: direction as usize,
        size,
        offset,
    })
}

/// What a log of each I/O tells of one second.
#[derive(Debug, Clone, Copy, Default)]
struct Second {
    /// Reads and writes.
    ops: [Ops; 2],
    places: Placed,
    fastest: Option<Nanos>,
}

/// What a log of each I/O adds up to.
struct Tally {
    seconds: BTreeMap<u64, Second>,
    latency: [Histogram; 2],
    size: [Histogram; 2],
    places: Placed,
    /// Without `log_offset` all offsets are zero, and tell nothing.
    placed: bool,
}

fn tally(entries: &[Entry], timed: bool) -> Tally {
    let mut tally = Tally {
        seconds: BTreeMap::new(),
        latency: [Histogram::new(), Histogram::new()],
        size: [Histogram::new(), Histogram::new()],
        places: Placed::default(),
        placed: entries.iter().any(|entry| entry.offset > 0),
    };
    // Reads and writes of a job are streams of their own.
    let mut ends = [None; 2];
    for entry in entries {
        let second = tally.seconds.entry(entry.ms / 1000).or_default();
        let ops = &mut second.ops[entry.direction];
        ops.count += 1.0;
        *ops.bytes.get_or_insert(0.0) += entry.size as f64;
        tally.size[entry.direction].record(entry.size);
        if timed {
            let time = ops.time.get_or_insert(Nanos::ZERO);
            *time = time.saturating_add(Nanos::new(entry.value));
            tally.latency[entry.direction].record(entry.value);
            let taken = Nanos::new(entry.value);
            second.fastest = Some(second.fastest.map_or(taken, |least| least.min(taken)));
        }
        let next = entry.offset.saturating_add(entry.size);
        let last = ends[entry.direction].replace(next);
        if let Some(end) = last.filter(|_| tally.placed) {
            for places in [&mut tally.places, &mut second.places] {
                places.judged += 1;
                places.random += u64::from(end != entry.offset);
            }
        }
    }
    tally
}

/// A log of each I/O: latencies and sizes as they were, and samples of each second.
fn each(job: &str, logs: &Logs, unknown: &mut Vec<Unknown>) -> Result<Device, Box<Diagnostic>> {
    let order = [Kind::Latency, Kind::Completion, Kind::Iops, Kind::Bandwidth];
    let Some((kind, entries)) = order.iter().find_map(|kind| Some((*kind, logs.get(kind)?))) else {
        return Err(Box::new(alone(job)));
    };
    let timed = matches!(kind, Kind::Latency | Kind::Completion);
    let tally = tally(entries, timed);
    let first = tally.seconds.keys().next().copied().unwrap_or(0);
    let base = if first > EPOCH_MS / 1000 { first } else { 0 };
    let last = tally.seconds.keys().next_back().copied().unwrap_or(0);
    if last - base > MOST_INTERVALS as u64 {
        let message = format!("the log of `{job}` spans more than {MOST_INTERVALS} seconds");
        let hint = "log averages: `log_avg_msec=1000`";
        return Err(Box::new(Diagnostic::error(message).hint(hint)));
    }
    let samples = (base..=last).map(|second| {
        let seen = tally.seconds.get(&second).copied().unwrap_or_default();
        let [reads, writes] = seen.ops;
        let (end, length) = ((second + 1) * 1000, Nanos::from_secs(1));
        Sample {
            placed: (seen.places.judged > 0).then_some(seen.places),
            fastest: seen.fastest,
            ..sample(end, length, reads, writes, timed)
        }
    });
    let samples = samples.collect();
    if !tally.placed {
        let lacking = Unknown {
            figure: unknown::RANDOM.figure,
            reason: "fio's logs tell where an I/O goes with `log_offset=1` only",
        };
        if !unknown.contains(&lacking) {
            unknown.push(lacking);
        }
    }
    let [read_latency, write_latency] = tally.latency;
    let [read_size, write_size] = tally.size;
    let traced = timed.then(|| Traced {
        read_latency,
        write_latency,
        read_size,
        write_size,
        depth: Vec::new(),
        random: tally.places.random,
        judged: tally.places.judged,
        processes: vec![(job.to_owned(), entries.len() as u64)],
        lost: 0,
    });
    Ok(Device {
        name: job.to_owned(),
        samples,
        traced,
        ..Device::default()
    })
}

fn alone(job: &str) -> Diagnostic {
    let message = format!("the logs of `{job}` do not tell how many I/Os there were");
    let hint = "name its log of IOPS too (`write_iops_log`), or one of each I/O's latency (`write_lat_log` without `log_avg_msec`)";
    Diagnostic::error(message).hint(hint)
}

/// A sample that ends at `ms`; its depth by Little's law, where latencies are known.
fn sample(ms: u64, length: Nanos, reads: Ops, writes: Ops, timed: bool) -> Sample {
    let time = |ops: Ops| ops.time.unwrap_or(Nanos::ZERO);
    let outstanding = time(reads).saturating_add(time(writes)).as_secs_f64();
    Sample {
        at_unix_ns: i64::try_from(u128::from(ms) * 1_000_000).unwrap_or(i64::MAX),
        length,
        reads: Some(reads),
        writes: Some(writes),
        queue: timed.then(|| outstanding / length.as_secs_f64()),
        ..Sample::default()
    }
}

/// Logs of averages: IOPS, with bandwidth and latency of the same intervals where there are.
fn averages(job: &str, logs: &Logs) -> Result<Device, Box<Diagnostic>> {
    let Some(iops) = logs.get(&Kind::Iops).filter(|iops| !iops.is_empty()) else {
        return Err(Box::new(alone(job)));
    };
    let width = interval(iops).ok_or_else(|| {
        let message = format!(
            "the log of `{job}` has one line a direction: how long its intervals are is not told"
        );
        Box::new(
            Diagnostic::error(message).hint("log for longer, or with a shorter `log_avg_msec`"),
        )
    })?;
    // Logs of one job write the same interval a few milliseconds apart.
    let slot = |entry: &Entry| (entry.ms + width / 2) / width;
    let mut slots: BTreeMap<u64, [Ops; 2]> = BTreeMap::new();
    let seconds = width as f64 / 1e3;
    for entry in iops {
        let ops = &mut slots.entry(slot(entry)).or_default()[entry.direction];
        if ops.count == 0.0 {
            ops.count = entry.value as f64 * seconds;
        }
    }
    for entry in logs.get(&Kind::Bandwidth).into_iter().flatten() {
        if let Some(ops) = slots.get_mut(&slot(entry)) {
            let bytes = entry.value as f64 * 1024.0 * seconds;
            ops[entry.direction].bytes.get_or_insert(bytes);
        }
    }
    let latency = logs
        .get(&Kind::Latency)
        .or_else(|| logs.get(&Kind::Completion));
    for entry in latency.into_iter().flatten() {
        if let Some(ops) = slots.get_mut(&slot(entry)) {
            let ops = &mut ops[entry.direction];
            // What fio writes at its end of the last few I/Os comes second in its interval.
            let time = Nanos::new((entry.value as f64 * ops.count) as u64);
            ops.time.get_or_insert(time);
        }
    }
    if slots.len() > MOST_INTERVALS {
        let message = format!("the log of `{job}` has more than {MOST_INTERVALS} intervals");
        return Err(Box::new(
            Diagnostic::error(message).hint("log with a longer `log_avg_msec`"),
        ));
    }
    let length = Nanos::from_millis(width);
    let samples = slots
        .iter()
        .map(|(slot, [reads, writes])| {
            sample(slot * width, length, *reads, *writes, latency.is_some())
        })
        .collect();
    Ok(Device {
        name: job.to_owned(),
        samples,
        ..Device::default()
    })
}

/// The milliseconds between lines of one direction: the middle one.
fn interval(entries: &[Entry]) -> Option<u64> {
    let mut steps = Vec::new();
    for direction in 0..2 {
        let of = entries.iter().filter(|entry| entry.direction == direction);
        let times: Vec<u64> = of.map(|entry| entry.ms).collect();
        steps.extend(
            times
                .windows(2)
                .filter_map(|pair| pair[1].checked_sub(pair[0])),
        );
    }
    steps.retain(|step| *step > 0);
    steps.sort_unstable();
    steps.get(steps.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_tells_the_job_and_the_kind() {
        assert_eq!(
            named("logs/db_clat.1.log"),
            Some(("db.1".to_owned(), Kind::Completion))
        );
        assert_eq!(named("db_lat.log"), Some(("db".to_owned(), Kind::Latency)));
        assert_eq!(
            named("db_1_iops.12.log"),
            Some(("db_1.12".to_owned(), Kind::Iops))
        );
        assert_eq!(named("db.log"), None);
    }

    #[track_caller]
    fn check(text: &str, places: [u64; 2]) {
        let text = Text {
            name: "db_lat.1.log",
            text,
        };
        let seen = read(&[text], &Options::default()).unwrap();
        let [sample] = seen.devices[0].samples.as_slice() else {
            panic!("{:?}", seen.devices[0].samples);
        };
        let [random, judged] = places;
        assert_eq!(sample.placed, Some(Placed { random, judged }));
        assert_eq!(sample.fastest, Some(Nanos::from_micros(400)));
    }

    #[test]
    fn reads_and_writes_are_streams_of_their_own() {
        check(
            "0, 500000, 0, 4096, 0\n1, 400000, 1, 4096, 1048576\n2, 500000, 0, 4096, 4096\n3, 500000, 1, 4096, 1052672\n",
            [0, 2],
        );
        check(
            "0, 500000, 0, 4096, 0\n1, 400000, 0, 4096, 1048576\n2, 500000, 0, 4096, 4096\n",
            [2, 2],
        );
    }
}
