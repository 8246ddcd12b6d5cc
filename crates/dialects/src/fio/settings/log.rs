//! Options of fio's logs, and what they ask of a job.

use fathom_units::Nanos;
use fathom_workload::{IoLog, RateSamples};

use super::Settings;
use super::reader::{Counts, ValueReader};
use crate::fio::input::{JobLogs, LogFile, LogKind, WindowValue};

/// Longest window in ms: a day.
const MAX_WINDOW_MS: u64 = 24 * 3600 * 1000;
/// What the result has a sample of, unless another length is asked for.
const HALF_MS: u64 = 500;

/// A log that is asked for, with the beginning of its files' names where that is given.
type Asked = Option<Option<String>>;

/// fio's options of logs, with its defaults.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of fio's own"
)]
pub struct LogSettings {
    bandwidth: Asked,
    latency: Asked,
    iops: Asked,
    histogram: Asked,
    /// 0: every I/O.
    average_ms: u64,
    bandwidth_ms: Option<u64>,
    iops_ms: Option<u64>,
    histogram_ms: u64,
    coarseness: u32,
    value: WindowValue,
    offset: bool,
    priority: bool,
    issue_time: bool,
    per_job: bool,
    absolute: bool,
    clock: u32,
    start_clock: u32,
    store_compressed: bool,
    no_latency: bool,
    no_submit: bool,
    no_complete: bool,
    no_bandwidth: bool,
}

impl Default for LogSettings {
    fn default() -> Self {
        Self {
            bandwidth: None,
            latency: None,
            iops: None,
            histogram: None,
            average_ms: 0,
            bandwidth_ms: None,
            iops_ms: None,
            histogram_ms: 0,
            coarseness: 0,
            value: WindowValue::Mean,
            offset: false,
            priority: false,
            issue_time: false,
            per_job: true,
            absolute: false,
            clock: WALL_CLOCK,
            start_clock: WALL_CLOCK,
            store_compressed: false,
            no_latency: false,
            no_submit: false,
            no_complete: false,
            no_bandwidth: false,
        }
    }
}

impl Settings {
    /// Applies an option of logs; `false` where it is none.
    pub(super) fn apply_log(&mut self, reader: &mut ValueReader<'_>) -> bool {
        let log = &mut self.log;
        match reader.name() {
            "write_bw_log" => ask(reader, &mut log.bandwidth),
            "write_lat_log" => ask(reader, &mut log.latency),
            "write_iops_log" => ask(reader, &mut log.iops),
            "write_hist_log" => ask(reader, &mut log.histogram),
            "log_avg_msec" => set(&mut log.average_ms, window(reader)),
            "bwavgtime" => log.bandwidth_ms = window(reader).or(log.bandwidth_ms),
            "iopsavgtime" => log.iops_ms = window(reader).or(log.iops_ms),
            "log_hist_msec" => set(&mut log.histogram_ms, window(reader)),
            "log_hist_coarseness" => {
                let coarseness = reader.number(Counts::Things, 0, 6);
                set(&mut log.coarseness, coarseness.map(|value| value as u32));
            }
            "log_window_value" => match reader.word(&["avg", "0", "max", "1", "both"]) {
                Some(0 | 1) => log.value = WindowValue::Mean,
                Some(2 | 3) => log.value = WindowValue::Max,
                Some(_) => log.value = WindowValue::Both,
                None => {}
            },
            "log_offset" => set(&mut log.offset, reader.switch()),
            "log_prio" => set(&mut log.priority, reader.switch()),
            "log_issue_time" => set(&mut log.issue_time, reader.switch()),
            "per_job_logs" => set(&mut log.per_job, reader.switch()),
            "log_alternate_epoch" => set(&mut log.absolute, reader.switch()),
            "log_alternate_epoch_clock_id" => set(&mut log.clock, clock(reader)),
            "job_start_clock_id" => set(&mut log.start_clock, clock(reader)),
            "log_store_compressed" => set(&mut log.store_compressed, reader.switch()),
            "disable_lat" => set(&mut log.no_latency, reader.switch()),
            "disable_slat" => set(&mut log.no_submit, reader.switch()),
            "disable_clat" => set(&mut log.no_complete, reader.switch()),
            "disable_bw_measurement" => set(&mut log.no_bandwidth, reader.switch()),
            "gtod_reduce" => {
                if let Some(reduce) = reader.switch() {
                    (log.no_latency, log.no_submit) = (reduce, reduce);
                    (log.no_complete, log.no_bandwidth) = (reduce, reduce);
                }
            }
            _ => return false,
        }
        true
    }
}

/// Linux's number of the wall clock, which is fio's default.
const WALL_CLOCK: u32 = 0;

/// Linux's number of a clock that goes on by itself: others count the time of a process or thread, or are none, where fio
/// writes what happens to be in memory.
fn clock(reader: &mut ValueReader<'_>) -> Option<u32> {
    const CLOCKS: [u32; 9] = [0, 1, 4, 5, 6, 7, 8, 9, 11];
    let number = reader.number(Counts::Things, 0, u64::from(u32::MAX))?;
    let known = (u32::try_from(number).ok()).filter(|number| CLOCKS.contains(number));
    if known.is_none() {
        let hint = "0 is the wall clock (CLOCK_REALTIME), 1 the one since the machine's start (CLOCK_MONOTONIC); 4 to 9 \
                    and 11 are their kin";
        let message = format!("clock {number} does not tell when a job began");
        reader.refuse(&message, Some(hint.to_owned()));
    }
    known
}

/// As in fio an option without `=` asks for the log by the name it was given before, such as in `[global]`.
fn ask(reader: &mut ValueReader<'_>, log: &mut Asked) {
    let name = match reader.optional_text() {
        None if reader.is_bare() => log.take().flatten(),
        name => name,
    };
    *log = Some(name);
}

fn set<T>(slot: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *slot = value;
    }
}

fn window(reader: &mut ValueReader<'_>) -> Option<u64> {
    reader.number(Counts::Things, 0, MAX_WINDOW_MS)
}

impl LogSettings {
    /// Whether total latency is counted (`disable_lat`, `gtod_reduce`).
    pub fn has_latency(&self) -> bool {
        !self.no_latency
    }

    /// What is wrong with the options together, if anything: fio's own rule.
    pub fn problem(&self) -> Option<&'static str> {
        let can = self.latency.is_some() && self.offset;
        (self.issue_time && !can)
            .then_some("`log_issue_time` requires `write_lat_log` and `log_offset`")
    }

    /// Windows of the samples of bandwidth and IOPS of the result, where they are no half seconds: `bwavgtime` and
    /// `iopsavgtime`, which a log of theirs shortens to its own window.
    pub fn rate_samples(&self) -> Option<RateSamples> {
        let window = |log: &Asked, own: Option<u64>| {
            let window = match (log, own) {
                (None, own) => own,
                (Some(_), Some(own)) => Some(own.min(self.average_ms)),
                (Some(_), None) => Some(self.average_ms),
            };
            // Each I/O by itself (0) is for the log alone.
            window.filter(|window| *window > 0).unwrap_or(HALF_MS)
        };
        let lengths = [
            window(&self.bandwidth, self.bandwidth_ms),
            window(&self.iops, self.iops_ms),
        ];
        (lengths != [HALF_MS; 2]).then(|| RateSamples {
            bandwidth: Nanos::from_millis(lengths[0]),
            iops: Nanos::from_millis(lengths[1]),
        })
    }

    /// What the clock of logged times is ahead of the wall clock, in ms, as `clock` tells of one by its number; `None` where
    /// times count from the job's start.
    pub fn ahead_ms(&self, clock: fn(u32) -> Option<i64>) -> Option<i64> {
        (self.absolute).then(|| clock(self.clock).unwrap_or(0))
    }

    /// The same of the clock by which a job's start is told.
    pub fn start_ahead_ms(&self, clock: fn(u32) -> Option<i64>) -> i64 {
        clock(self.start_clock).unwrap_or(0)
    }

    /// The logs of the job `name`, which is the `number`th of all, from 1; `block` is the size of its blocks by
    /// direction, where they are all of one size.
    pub fn of_job(&self, name: &str, number: usize, block: [u64; 3]) -> JobLogs {
        let mut files = Vec::new();
        let shorter =
            |own: Option<u64>| own.map_or(self.average_ms, |own| own.min(self.average_ms));
        let mut add = |asked: &Asked, kind: LogKind, window_ms: u64, muted: bool| {
            let Some(prefix) = asked.as_ref() else { return };
            let prefix = prefix.as_deref().unwrap_or(name);
            let suffix = if self.store_compressed {
                "log.fz"
            } else {
                "log"
            };
            let kind_name = kind.name();
            let path = if self.per_job {
                format!("{prefix}_{kind_name}.{number}.{suffix}")
            } else {
                format!("{prefix}_{kind_name}.{suffix}")
            };
            files.push(LogFile {
                kind,
                path,
                window: (window_ms > 0).then(|| Nanos::from_millis(window_ms)),
                muted,
            });
        };
        for (kind, off) in [
            (LogKind::Latency, self.no_latency),
            (LogKind::Submit, self.no_submit),
            (LogKind::Complete, self.no_complete),
        ] {
            if !off {
                add(&self.latency, kind, self.average_ms, false);
            }
        }
        let no_histogram = self.no_complete || self.histogram_ms == 0;
        add(
            &self.histogram,
            LogKind::Histogram,
            self.histogram_ms,
            no_histogram,
        );
        let bandwidth_ms = shorter(self.bandwidth_ms);
        // In fio each I/O by itself is left out of these logs as it completes; windows are another thread's, which goes by none
        // of the options that save readings of the clock.
        let muted = bandwidth_ms == 0 && self.no_bandwidth;
        add(&self.bandwidth, LogKind::Bandwidth, bandwidth_ms, muted);
        let iops_ms = shorter(self.iops_ms);
        let reads_no_clock = self.no_complete && self.no_submit && self.no_bandwidth;
        let muted = iops_ms == 0 && reads_no_clock;
        add(&self.iops, LogKind::Iops, iops_ms, muted);
        JobLogs {
            files,
            value: self.value,
            offset: self.offset,
            priority: self.priority,
            issue_time: self.issue_time,
            append: !self.per_job,
            ahead_ms: None,
            coarseness: self.coarseness,
            compressed: self.store_compressed,
            block,
        }
    }
}

/// What `logs` ask of their job: every I/O where a log holds each, windows that all others are made of.
pub fn io_log(logs: &JobLogs) -> IoLog {
    let mut asked = IoLog::default();
    for file in logs.files.iter().filter(|file| !file.muted) {
        match (file.kind, file.window) {
            (LogKind::Histogram, window) => asked.histogram = window,
            (_, None) => asked.each = true,
            (_, Some(window)) => {
                let common = asked
                    .window
                    .map_or(window.get(), |known| common(known.get(), window.get()));
                asked.window = Some(Nanos::new(common));
            }
        }
    }
    asked
}

/// Greatest common divisor (Euclid).
fn common(one: u64, other: u64) -> u64 {
    if other == 0 {
        one
    } else {
        common(other, one % other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which logs stay empty, as in fio 3.42.
    #[track_caller]
    fn check(change: impl FnOnce(&mut LogSettings), expected: [bool; 2]) {
        let mut settings = LogSettings {
            bandwidth: Some(None),
            iops: Some(None),
            ..LogSettings::default()
        };
        change(&mut settings);
        let logs = settings.of_job("j", 1, [4096; 3]);
        let muted: Vec<bool> = logs.files.iter().map(|file| file.muted).collect();
        assert_eq!(muted, expected);
    }

    #[test]
    fn logs_of_single_ios_are_empty_where_no_clock_is_read() {
        let reduced = |settings: &mut LogSettings| {
            (settings.no_complete, settings.no_submit) = (true, true);
            settings.no_bandwidth = true;
        };
        check(|_| {}, [false, false]);
        check(|settings| settings.no_bandwidth = true, [true, false]);
        check(reduced, [true, true]);
        let in_windows = |settings: &mut LogSettings| {
            reduced(settings);
            settings.average_ms = 100;
        };
        check(in_windows, [false, false]);
    }

    /// A log of each kind of latency, but for what is not counted.
    #[test]
    fn latency_that_is_not_counted_has_no_log() {
        let kinds = |settings: LogSettings| -> Vec<LogKind> {
            let settings = LogSettings {
                latency: Some(None),
                ..settings
            };
            let logs = settings.of_job("j", 1, [4096; 3]);
            logs.files.iter().map(|file| file.kind).collect()
        };
        let all = LogSettings::default;
        let (total, submit, complete) = (LogKind::Latency, LogKind::Submit, LogKind::Complete);
        assert_eq!(kinds(all()), [total, submit, complete]);
        let no_latency = LogSettings {
            no_latency: true,
            ..all()
        };
        assert_eq!(kinds(no_latency), [submit, complete]);
        let no_submit = LogSettings {
            no_submit: true,
            ..all()
        };
        assert_eq!(kinds(no_submit), [total, complete]);
        let no_complete = LogSettings {
            no_complete: true,
            ..all()
        };
        assert_eq!(kinds(no_complete), [total, submit]);
    }

    /// Windows of 300 and of 200 ms are made of windows of 100.
    #[test]
    fn windows_of_several_logs_are_made_of_common_ones() {
        let settings = LogSettings {
            bandwidth: Some(None),
            iops: Some(None),
            average_ms: 500,
            bandwidth_ms: Some(300),
            iops_ms: Some(200),
            ..LogSettings::default()
        };
        let asked = io_log(&settings.of_job("j", 1, [4096; 3]));
        assert_eq!(asked.window, Some(Nanos::from_millis(100)));
        assert!(!asked.each);
    }
}
