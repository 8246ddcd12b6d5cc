//! fio's logs (`NAME_lat.1.log`, `NAME_bw.1.log`, `NAME_iops.1.log`), of which those of one job belong together.
//!
//! A line is `milliseconds, value, direction, size, offset, …`. With `log_avg_msec` a line is an average and its size is 0;
//! without it a line is one I/O. Latencies are nanoseconds, bandwidth is KiB/s. The kind stands in the file's name alone.

use std::collections::BTreeMap;

use fathom_diagnostics::{Diagnostic, Diagnostics};
use fathom_stats::Histogram;
use fathom_units::{Nanos, counted};

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

/// What is kept of one log.
#[derive(Default)]
struct Log {
    /// Milliseconds of its first line.
    first: Option<u64>,
    /// Its lines, as long as they may all be averages.
    lines: Vec<Entry>,
    /// What its lines add up to, once one told an I/O of its own.
    each: Option<Tally>,
}

/// The logs of one job.
type Logs = BTreeMap<Kind, Log>;

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
pub(super) fn read(texts: &[&Text], options: &Options) -> Result<Observation, Diagnostics> {
    let mut complaints = Diagnostics::default();
    let mut doubts = Vec::new();
    let mut jobs: BTreeMap<String, Logs> = BTreeMap::new();
    for text in texts {
        let Some((job, kind)) = named(&text.name) else {
            let message = format!(
                "{}: what it logs stands only in its name, and this does not tell",
                text.name
            );
            let hint = "name it as fio does: `JOB_lat.1.log`, `JOB_clat.1.log`, `JOB_bw.1.log` or `JOB_iops.1.log`";
            complaints.push(Diagnostic::error(message).hint(hint));
            continue;
        };
        let log = read_log(text, &job, &mut complaints, &mut doubts)?;
        jobs.entry(job).or_default().insert(kind, log);
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
        let averaged = logs.values().all(|log| log.each.is_none());
        let first = logs.values().find_map(|log| log.first);
        epoch |= first.is_some_and(|ms| ms > EPOCH_MS);
        let read = if averaged {
            averages(&job, &logs)
        } else {
            each(&job, logs, &mut unknown)
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
    let names: Vec<String> = texts.iter().map(|text| text.name.clone()).collect();
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

fn read_log(
    text: &Text,
    job: &str,
    complaints: &mut Diagnostics,
    doubts: &mut Vec<String>,
) -> Result<Log, Diagnostics> {
    let mut log = Log::default();
    let mut trims = 0_u64;
    let mut lines = text.lines()?;
    while let Some(line) = lines.next()? {
        if complaints.is_full() {
            break;
        }
        if line.text.trim().is_empty() {
            continue;
        }
        match entry(&line) {
            Ok(entry) if entry.direction > 1 => trims += 1,
            Ok(entry) => log
                .add(entry, job)
                .map_err(|error| Diagnostics(vec![*error]))?,
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
        let trims = counted(trims, ("trim", "trims"));
        doubts.push(format!("{trims} in `{}` left out", text.name));
    }
    Ok(log)
}

impl Log {
    fn add(&mut self, entry: Entry, job: &str) -> Result<(), Box<Diagnostic>> {
        self.first.get_or_insert(entry.ms);
        if entry.size > 0 && self.each.is_none() {
            self.each = Some(Tally::of(&self.lines));
            self.lines = Vec::new();
        }
        let Some(tally) = &mut self.each else {
            self.lines.push(entry);
            if self.lines.len() > MOST_AVERAGES {
                return Err(Box::new(too_many(job)));
            }
            return Ok(());
        };
        tally.add(&entry);
        if tally.seconds.len() > MOST_INTERVALS {
            return Err(Box::new(too_long(job)));
        }
        Ok(())
    }
}

/// Most lines of averages: of both directions, with a line at the end of a job beside those of intervals.
const MOST_AVERAGES: usize = 3 * MOST_INTERVALS;

fn too_long(job: &str) -> Diagnostic {
    let message = format!("the log of `{job}` spans more than {MOST_INTERVALS} seconds");
    Diagnostic::error(message).hint("log averages: `log_avg_msec=1000`")
}

fn too_many(job: &str) -> Diagnostic {
    let message = format!("the log of `{job}` has more than {MOST_INTERVALS} intervals");
    Diagnostic::error(message).hint("log with a longer `log_avg_msec`")
}

fn entry(line: &Line<'_>) -> Result<Entry, Box<Diagnostic>> {
    let fields: Vec<&str> = line.text.split(',').map(str::trim).collect();
    let refuse = |part: &str, message: String| {
        let hint = "a line of fio's logs is `milliseconds, value, direction, size, offset`";
        Box::new(line.error(part, message).hint(hint))
    };
    if fields.len() < 4 {
        let fields = counted(fields.len() as u64, ("field", "fields"));
        return Err(refuse("", format!("this line has {fields}")));
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
    /// Reads and writes, with what the log tells of each, added up.
    ops: [Ops; 2],
    places: Placed,
    /// The least of what the log tells of an I/O.
    least: Option<u64>,
}

/// What a log of each I/O adds up to; what it tells of each is its latency, in some.
#[derive(Default)]
struct Tally {
    seconds: BTreeMap<u64, Second>,
    /// The second of the last I/O, which is mostly that of the next.
    current: Option<(u64, Second)>,
    values: [Histogram; 2],
    size: [Histogram; 2],
    places: Placed,
    count: u64,
    /// Without `log_offset` all offsets are zero, and tell nothing.
    placed: bool,
    /// Where the last I/O of each direction ended, which are streams of their own.
    ends: [Option<u64>; 2],
}

impl Tally {
    fn of(entries: &[Entry]) -> Self {
        let mut tally = Self::default();
        for entry in entries {
            tally.add(entry);
        }
        tally
    }

    fn add(&mut self, entry: &Entry) {
        let number = entry.ms / 1000;
        if self.current.is_some_and(|(current, _)| current != number) {
            self.settle();
        }
        let known = || (number, self.seconds.remove(&number).unwrap_or_default());
        let (_, second) = self.current.get_or_insert_with(known);
        let ops = &mut second.ops[entry.direction];
        ops.count += 1.0;
        *ops.bytes.get_or_insert(0.0) += entry.size as f64;
        let time = ops.time.get_or_insert(Nanos::ZERO);
        *time = time.saturating_add(Nanos::new(entry.value));
        self.values[entry.direction].record(entry.value);
        self.size[entry.direction].record(entry.size);
        let least = second.least.get_or_insert(entry.value);
        *least = entry.value.min(*least);
        self.placed |= entry.offset > 0;
        let next = entry.offset.saturating_add(entry.size);
        if let Some(end) = self.ends[entry.direction].replace(next) {
            for places in [&mut self.places, &mut second.places] {
                places.judged += 1;
                places.random += u64::from(end != entry.offset);
            }
        }
        self.count += 1;
    }

    /// Keeps the second that is being added to.
    fn settle(&mut self) {
        if let Some((number, second)) = self.current.take() {
            self.seconds.insert(number, second);
        }
    }
}

/// A log of each I/O: latencies and sizes as they were, and samples of each second.
fn each(job: &str, mut logs: Logs, unknown: &mut Vec<Unknown>) -> Result<Device, Box<Diagnostic>> {
    let order = [Kind::Latency, Kind::Completion, Kind::Iops, Kind::Bandwidth];
    let found = order
        .iter()
        .find_map(|kind| Some((*kind, logs.remove(kind)?)));
    let Some((kind, log)) = found else {
        return Err(Box::new(alone(job)));
    };
    let timed = matches!(kind, Kind::Latency | Kind::Completion);
    let mut tally = log.each.unwrap_or_else(|| Tally::of(&log.lines));
    tally.settle();
    let first = tally.seconds.keys().next().copied().unwrap_or(0);
    let base = if first > EPOCH_MS / 1000 { first } else { 0 };
    let last = tally.seconds.keys().next_back().copied().unwrap_or(0);
    if last - base > MOST_INTERVALS as u64 {
        return Err(Box::new(too_long(job)));
    }
    let samples = (base..=last).map(|second| {
        let seen = tally.seconds.get(&second).copied().unwrap_or_default();
        let [reads, writes] = seen.ops.map(|ops| {
            let time = ops.time.filter(|_| timed);
            known(Ops { time, ..ops }, true, timed)
        });
        let (end, length) = ((second + 1) * 1000, Nanos::from_secs(1));
        Sample {
            placed: (tally.placed && seen.places.judged > 0).then_some(seen.places),
            fastest: seen.least.filter(|_| timed).map(Nanos::new),
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
    let [read_latency, write_latency] = tally.values;
    let [read_size, write_size] = tally.size;
    let places = if tally.placed {
        tally.places
    } else {
        Placed::default()
    };
    let traced = timed.then(|| Traced {
        read_latency,
        write_latency,
        read_size,
        write_size,
        depth: Vec::new(),
        random: places.random,
        judged: places.judged,
        processes: vec![(job.to_owned(), tally.count)],
        lost: 0,
        flushes: 0,
    });
    Ok(Device {
        name: job.to_owned(),
        samples,
        traced,
        ..Device::default()
    })
}

/// What a direction without I/O did is known, where it is known of others: nothing.
fn known(ops: Ops, sized: bool, timed: bool) -> Ops {
    let idle = ops.count == 0.0;
    Ops {
        bytes: ops.bytes.or((idle && sized).then_some(0.0)),
        time: ops.time.or((idle && timed).then_some(Nanos::ZERO)),
        ..ops
    }
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
    let lines = |kind| logs.get(&kind).map(|log: &Log| log.lines.as_slice());
    let Some(iops) = lines(Kind::Iops).filter(|iops| !iops.is_empty()) else {
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
    fill(&mut slots, iops, width);
    let bandwidth = lines(Kind::Bandwidth);
    for entry in bandwidth.into_iter().flatten() {
        if let Some(ops) = slots.get_mut(&slot(entry)) {
            let bytes = entry.value as f64 * 1024.0 * seconds;
            ops[entry.direction].bytes.get_or_insert(bytes);
        }
    }
    let latency = lines(Kind::Latency).or_else(|| lines(Kind::Completion));
    for entry in latency.into_iter().flatten() {
        if let Some(ops) = slots.get_mut(&slot(entry)) {
            let ops = &mut ops[entry.direction];
            // What fio writes at its end of the last few I/Os comes second in its interval.
            let time = Nanos::new((entry.value as f64 * ops.count) as u64);
            ops.time.get_or_insert(time);
        }
    }
    if slots.len() > MOST_INTERVALS {
        return Err(Box::new(too_many(job)));
    }
    let length = Nanos::from_millis(width);
    let samples = slots
        .iter()
        .map(|(slot, ops)| {
            let timed = latency.is_some();
            let [reads, writes] = ops.map(|ops| known(ops, bandwidth.is_some(), timed));
            sample(slot * width, length, reads, writes, timed)
        })
        .collect();
    Ok(Device {
        name: job.to_owned(),
        samples,
        ..Device::default()
    })
}

/// Adds the intervals that have no line, since nothing was done in them: fio writes none of those.
fn fill(slots: &mut BTreeMap<u64, [Ops; 2]>, iops: &[Entry], width: u64) {
    let mut times: Vec<u64> = iops.iter().map(|entry| entry.ms).collect();
    // Times count from the job's start, but for those of the Unix epoch.
    if times.iter().all(|ms| *ms < EPOCH_MS) {
        times.push(0);
    }
    times.sort_unstable();
    for pair in times.windows(2) {
        // A line that comes late is none that is missing.
        if pair[1] - pair[0] < width * 3 / 2 {
            continue;
        }
        let slot = |ms: u64| (ms + width / 2) / width;
        for missing in slot(pair[0]) + 1..slot(pair[1]) {
            if slots.len() > MOST_INTERVALS {
                return;
            }
            slots.entry(missing).or_default();
        }
    }
}

/// The milliseconds between lines of one direction, of those that follow upon each other: most lines do, unless the job
/// pauses often, and then a quarter of them.
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
    let step = steps.get(steps.len() / 4).copied()?;
    // A line that came late has a shorter step behind it: what was asked for is a round number.
    let round = (step + 5) / 10 * 10;
    let is_near = step >= 50 && round.abs_diff(step) * 50 <= step;
    Some(if is_near { round } else { step })
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
        let text = Text::of("db_lat.1.log", text);
        let seen = read(&[&text], &Options::default()).unwrap();
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

    /// A job that reads, and pauses: the samples' counts, and bytes and times, which are known also of intervals without I/O.
    #[test]
    fn intervals_without_i_o_have_no_line() {
        let logs = [
            ("db_iops.1.log", [500, 502, 498, 500, 2_000, 2_000]),
            ("db_bw.1.log", [2_000, 2_008, 1_992, 2_000, 8_000, 8_000]),
            ("db_lat.1.log", [1_000_000; 6]),
        ];
        let ends = [500, 1_001, 1_500, 2_000, 4_500, 6_505];
        let texts = logs.map(|(name, values)| {
            let lines = ends.iter().zip(values);
            let lines = lines.map(|(end, value)| format!("{end}, {value}, 0, 0, 0\n"));
            Text::of(name, &lines.collect::<String>())
        });
        let texts: Vec<&Text> = texts.iter().collect();
        let seen = read(&texts, &Options::default()).unwrap();
        let samples = &seen.devices[0].samples;
        let counts: Vec<f64> = samples.iter().map(|it| it.ios().unwrap()).collect();
        let (busy, idle) = (1_000.0, 0.0);
        let expected = [
            250.0, 251.0, 249.0, 250.0, idle, idle, idle, idle, busy, idle, idle, idle, busy,
        ];
        assert_eq!(counts, expected);
        for (sample, count) in samples.iter().zip(expected) {
            assert_eq!(sample.length, Nanos::from_millis(500));
            assert_eq!(sample.bytes(), Some(count * 4096.0));
            assert_eq!(sample.time(), Some(count * 1e6));
        }
    }

    #[test]
    fn a_job_that_only_reads_tells_its_throughput_and_latency() {
        let each = Text::of(
            "db_lat.1.log",
            "0, 500000, 0, 4096, 0\n2000, 400000, 0, 4096, 0\n",
        );
        let seen = read(&[&each], &Options::default()).unwrap();
        let samples = &seen.devices[0].samples;
        let bytes: Vec<_> = samples.iter().map(|it| it.bytes().unwrap()).collect();
        assert_eq!(bytes, [4096.0, 0.0, 4096.0]);
        let times: Vec<_> = samples.iter().map(|it| it.time().unwrap()).collect();
        assert_eq!(times, [500_000.0, 0.0, 400_000.0]);
    }
}
