//! Lines of fio's logs.
//!
//! A line is `time in ms, value[, largest value], direction, block size[, offset], priority[, time of issue in ns]`; of a
//! histogram log `time in ms, direction, block size, count of each bucket`. Windows begin at whole multiples of their
//! length, and a rate is what was done in the window over the window's true length. fio's windows begin where an I/O
//! happened to end, which makes them drift and their rates wrong.

use std::fmt::Write as _;

use fathom_record::{DurationSum, LogChunk, LogHistogram, LogWindow, LoggedIo, WindowSums};
use fathom_units::Nanos;
use fathom_workload::{Direction, IoPriority};

use super::buckets;
use crate::fio::input::{JobLogs, LogFile, LogKind, WindowValue};

/// The lines of one worker's logs, made as it tells of its I/O.
#[derive(Debug)]
pub struct LogLines<'a> {
    logs: &'a JobLogs,
    begun_ms: u64,
    /// Windows that are not over yet, one for each log.
    open: Vec<Option<LogWindow>>,
}

impl<'a> LogLines<'a> {
    /// Of a worker whose measurement began at `begun_unix_ms`.
    pub fn new(logs: &'a JobLogs, begun_unix_ms: u64) -> Self {
        Self {
            logs,
            begun_ms: (logs.ahead_ms).map_or(0, |ahead| begun_unix_ms.saturating_add_signed(ahead)),
            open: vec![None; logs.files.len()],
        }
    }

    /// What `chunk` adds to each of the job's logs, in their order.
    pub fn take(&mut self, chunk: &LogChunk) -> Vec<String> {
        let logs = self.logs;
        let files = logs.files.iter().enumerate();
        let texts = files.map(|(index, file)| {
            let mut out = String::new();
            match (file.kind, file.window) {
                _ if file.muted => {}
                (LogKind::Histogram, _) => {
                    for histogram in &chunk.histograms {
                        self.histogram_line(&mut out, histogram);
                    }
                }
                (_, None) => {
                    for io in &chunk.ios {
                        self.io_line(&mut out, file.kind, io);
                    }
                }
                (_, Some(length)) => {
                    for window in &chunk.windows {
                        self.add_window(&mut out, index, file, length, window);
                    }
                }
            }
            out
        });
        texts.collect()
    }

    /// What is left once the worker has ended.
    pub fn finish(&mut self) -> Vec<String> {
        let logs = self.logs;
        let files = logs.files.iter().enumerate();
        let texts = files.map(|(index, file)| {
            let mut out = String::new();
            if let Some(window) = self.open[index].take() {
                self.window_lines(&mut out, file, &window);
            }
            out
        });
        texts.collect()
    }

    fn time(&self, at: Nanos) -> u64 {
        self.begun_ms + at.get() / 1_000_000
    }

    /// A line of an I/O by itself; submission latency is told at the time of issue.
    fn io_line(&self, out: &mut String, kind: LogKind, io: &LoggedIo) {
        let (at, value, issued) = match kind {
            LogKind::Submit => match io.submit {
                Some(submit) => (io.issued, submit.get(), io.issued.get()),
                None => return,
            },
            LogKind::Complete => (io.completed, io.complete().get(), io.issued.get()),
            LogKind::Latency => (io.completed, io.latency.get(), 0),
            LogKind::Bandwidth => {
                let rate = u128::from(io.bytes) * 1_000_000_000 / 1024;
                let rate = rate / u128::from(io.latency.get().max(1));
                (io.completed, u64::try_from(rate).unwrap_or(u64::MAX), 0)
            }
            LogKind::Iops => (io.completed, 1, 0),
            LogKind::Histogram => return,
        };
        let (time, way) = (self.time(at), io.direction as usize);
        let _ = write!(out, "{time}, {value}");
        if self.logs.value == WindowValue::Both {
            // The largest of one.
            let _ = write!(out, ", {value}");
        }
        let _ = write!(out, ", {way}, {}", io.bytes);
        self.end_line(out, io.offset, io.priority, issued);
    }

    /// Without `log_prio`, fio tells real-time I/Os from all others alone.
    fn end_line(&self, out: &mut String, offset: u64, priority: IoPriority, issued: u64) {
        if self.logs.offset {
            let _ = write!(out, ", {offset}");
        }
        let _ = if self.logs.priority {
            write!(out, ", 0x{:04x}", priority.get())
        } else {
            write!(out, ", {}", u8::from(priority.class() == 1))
        };
        if self.logs.issue_time {
            let _ = write!(out, ", {issued}");
        }
        out.push('\n');
    }

    /// Adds a window to the one it is part of, after the lines of that before it.
    fn add_window(
        &mut self,
        out: &mut String,
        index: usize,
        file: &LogFile,
        length: Nanos,
        window: &LogWindow,
    ) {
        let number = window.end.get().div_ceil(length.get()).max(1);
        let begin = Nanos::new((number - 1) * length.get());
        if let Some(open) = &mut self.open[index] {
            if open.end > begin {
                open.end = window.end;
                open.length = window.end.saturating_sub(begin);
                for (mine, theirs) in open.directions.iter_mut().zip(&window.directions) {
                    mine.merge(theirs);
                }
                return;
            }
            // Nothing happened after its last part, up to its end.
            let open_number = open.end.get().div_ceil(length.get()).max(1);
            let whole = LogWindow {
                end: Nanos::new(open_number * length.get()),
                length,
                ..*open
            };
            self.window_lines(out, file, &whole);
        }
        self.open[index] = Some(LogWindow {
            length: window.end.saturating_sub(begin),
            ..*window
        });
    }

    fn window_lines(&self, out: &mut String, file: &LogFile, window: &LogWindow) {
        for direction in Direction::ALL {
            let sums = &window.directions[direction as usize];
            // Without a submission latency, as with synchronous engines, there is nothing to tell.
            let nothing = match file.kind {
                LogKind::Submit => sums.submit.sum_ns == 0,
                // Of work in place of I/O.
                LogKind::Bandwidth => sums.bytes == 0,
                _ => false,
            };
            if sums.ios == 0 || nothing {
                continue;
            }
            let (mean, max) = values(file.kind, sums, window.length);
            let time = self.time(window.end);
            let _ = match self.logs.value {
                WindowValue::Mean => write!(out, "{time}, {mean}"),
                WindowValue::Max => write!(out, "{time}, {max}"),
                WindowValue::Both => write!(out, "{time}, {mean}, {max}"),
            };
            let _ = write!(out, ", {}, 0", direction as usize);
            self.end_line(out, 0, IoPriority::default(), 0);
        }
    }

    fn histogram_line(&self, out: &mut String, histogram: &LogHistogram) {
        let way = histogram.direction as usize;
        let (time, block) = (self.time(histogram.end), self.logs.block[way]);
        let _ = write!(out, "{time}, {way}, {block}");
        for count in buckets::counts(&histogram.complete, self.logs.coarseness) {
            let _ = write!(out, ", {count}");
        }
        out.push('\n');
    }
}

/// The mean and the largest value of a window; a rate has one value only.
fn values(kind: LogKind, sums: &WindowSums, length: Nanos) -> (u64, u64) {
    let rate = |count: u64, per: f64| {
        let seconds = length.get().max(1) as f64 / 1e9;
        (count as f64 / per / seconds).round() as u64
    };
    let latency = |sum: &DurationSum| {
        let mean = (sum.sum_ns as f64 / sums.ios as f64).round() as u64;
        (mean, sum.max.get())
    };
    match kind {
        LogKind::Submit => latency(&sums.submit),
        LogKind::Complete => latency(&sums.complete),
        LogKind::Latency | LogKind::Histogram => latency(&sums.total),
        LogKind::Bandwidth => {
            let rate = rate(sums.bytes, 1024.0);
            (rate, rate)
        }
        LogKind::Iops => {
            let rate = rate(sums.ios, 1.0);
            (rate, rate)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_stats::Histogram;

    fn logs(kinds: &[(LogKind, u64)], change: fn(&mut JobLogs)) -> JobLogs {
        let file = |(kind, window_ms): &(LogKind, u64)| LogFile {
            kind: *kind,
            path: String::new(),
            window: (*window_ms > 0).then(|| Nanos::from_millis(*window_ms)),
            muted: false,
        };
        let mut logs = JobLogs {
            files: kinds.iter().map(file).collect(),
            block: [4096; 3],
            ..JobLogs::default()
        };
        change(&mut logs);
        logs
    }

    fn io() -> LoggedIo {
        LoggedIo {
            issued: Nanos::from_micros(7_300),
            completed: Nanos::from_micros(8_300),
            submit: Some(Nanos::from_micros(100)),
            latency: Nanos::from_micros(1_100),
            direction: Direction::Write,
            target: 0,
            offset: 65_536,
            bytes: 8192,
            priority: IoPriority::default(),
        }
    }

    #[track_caller]
    fn check_io(kind: LogKind, change: fn(&mut JobLogs), line: &str) {
        let logs = logs(&[(kind, 0)], change);
        let chunk = LogChunk {
            ios: vec![io()],
            ..LogChunk::default()
        };
        let written = LogLines::new(&logs, 1_000_000).take(&chunk);
        assert_eq!(written, [format!("{line}\n")]);
    }

    #[test]
    fn a_line_of_an_io_has_the_columns_asked_for() {
        check_io(LogKind::Latency, |_| {}, "8, 1100000, 1, 8192, 0");
        check_io(LogKind::Submit, |_| {}, "7, 100000, 1, 8192, 0");
        check_io(LogKind::Complete, |_| {}, "8, 1000000, 1, 8192, 0");
        check_io(LogKind::Iops, |_| {}, "8, 1, 1, 8192, 0");
        // 8 KiB in 1.1 ms.
        check_io(LogKind::Bandwidth, |_| {}, "8, 7272, 1, 8192, 0");
        check_io(
            LogKind::Complete,
            |logs| (logs.offset, logs.priority, logs.issue_time) = (true, true, true),
            "8, 1000000, 1, 8192, 65536, 0x0000, 7300000",
        );
        check_io(
            LogKind::Complete,
            |logs| logs.value = WindowValue::Both,
            "8, 1000000, 1000000, 1, 8192, 0",
        );
        check_io(
            LogKind::Iops,
            |logs| logs.ahead_ms = Some(0),
            "1000008, 1, 1, 8192, 0",
        );
        check_io(
            LogKind::Iops,
            |logs| logs.ahead_ms = Some(-999_000),
            "1008, 1, 1, 8192, 0",
        );
    }

    fn window(end_ms: u64, length_ms: u64, ios: u64) -> LogWindow {
        let sum = |each: u64| DurationSum {
            sum_ns: u128::from(ios * each),
            max: Nanos::new(2 * each),
        };
        let sums = WindowSums {
            ios,
            bytes: ios * 4096,
            submit: sum(10),
            complete: sum(100),
            total: sum(110),
        };
        LogWindow {
            end: Nanos::from_millis(end_ms),
            length: Nanos::from_millis(length_ms),
            directions: [sums, WindowSums::default(), WindowSums::default()],
        }
    }

    #[test]
    fn windows_are_put_together_and_rates_are_over_their_true_length() {
        let kinds = [
            (LogKind::Iops, 200),
            (LogKind::Bandwidth, 100),
            (LogKind::Latency, 100),
        ];
        let logs = logs(&kinds, |logs| logs.value = WindowValue::Both);
        let mut lines = LogLines::new(&logs, 0);
        let chunk = LogChunk {
            windows: vec![
                window(100, 100, 100),
                window(200, 100, 300),
                window(500, 100, 50),
                window(520, 20, 10),
            ],
            ..LogChunk::default()
        };
        let mut texts = lines.take(&chunk);
        for (text, rest) in texts.iter_mut().zip(lines.finish()) {
            text.push_str(&rest);
        }
        assert_eq!(
            texts[0],
            "200, 2000, 2000, 0, 0, 0\n520, 500, 500, 0, 0, 0\n"
        );
        assert_eq!(
            texts[1],
            "100, 4000, 4000, 0, 0, 0\n200, 12000, 12000, 0, 0, 0\n500, 2000, 2000, 0, 0, 0\n520, 2000, 2000, 0, 0, 0\n"
        );
        assert!(texts[2].starts_with("100, 110, 220, 0, 0, 0\n"));
    }

    #[test]
    fn a_histogram_line_has_every_bucket() {
        let logs = logs(&[(LogKind::Histogram, 100)], |logs| logs.coarseness = 2);
        let mut complete = Histogram::new();
        complete.record_many(1000, 5);
        let chunk = LogChunk {
            histograms: vec![LogHistogram {
                end: Nanos::from_millis(100),
                direction: Direction::Read,
                complete,
            }],
            ..LogChunk::default()
        };
        let text = LogLines::new(&logs, 0).take(&chunk).remove(0);
        let fields: Vec<&str> = text.trim_end().split(", ").collect();
        assert_eq!(fields[..3], ["100", "0", "4096"]);
        assert_eq!(fields.len(), 3 + buckets::BUCKETS / 4);
        assert_eq!(fields.iter().filter(|count| **count == "5").count(), 1);
    }
}
