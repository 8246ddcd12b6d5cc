//! The line shown while a run goes.

use fathom_record::{Event, IntervalStats, Phase};
use fathom_units::{Bytes, Nanos, per_second};

use crate::format::{mebibytes, on_one_line, plain, rate, short_time, shortened};

/// Turns events into lines: one a second, and one for each thing a user should know at once.
#[derive(Debug, Clone, Default)]
pub struct Progress {
    stage: String,
    position: (usize, usize),
    expected: Option<Nanos>,
}

impl Progress {
    /// Nothing seen yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The line that `event` calls for, if any, without its end. What changes every second is no wider than `width`: the
    /// stage's name gives way to the figures.
    pub fn line(&mut self, event: &Event<'_>, width: usize) -> Option<String> {
        match event {
            Event::Layout { path, done, total } => {
                let rest = layout_line("", *done, *total).chars().count();
                let path = shortened(path, width.saturating_sub(rest).max(1));
                let line = on_one_line(&layout_line(&path, *done, *total));
                Some(cut(&line, width))
            }
            Event::StageStarted {
                index,
                count,
                name,
                expected,
            } => {
                (*name).clone_into(&mut self.stage);
                self.position = (index + 1, *count);
                self.expected = *expected;
                None
            }
            Event::Interval {
                phase, interval, ..
            } => Some(self.interval_line(*phase, interval, width)),
            Event::Note { text } => Some(plain(&format!("note: {text}"))),
            Event::WrongData { text } | Event::JobFailed { text } => Some(plain(text)),
            Event::StageFinished { .. }
            | Event::IoLog { .. }
            | Event::JobInterval { .. }
            | Event::IoFailed { .. }
            | Event::IntervalLate { .. }
            | Event::Snapshot { .. } => None,
        }
    }

    fn interval_line(&self, phase: Phase, interval: &IntervalStats, width: usize) -> String {
        let phase = match phase {
            Phase::Layout => "layout",
            Phase::Warmup => "warm-up",
            Phase::Measure => "measure",
        };
        let (position, count) = self.position;
        let elapsed = clock(interval.at);
        let expected = self
            .expected
            .map_or(String::new(), |expected| format!("/{}", clock(expected)));
        let mut all: Option<fathom_record::OpStats> = None;
        for stats in interval.directions.iter().flatten() {
            match &mut all {
                Some(all) => all.merge(stats),
                None => all = Some(stats.clone()),
            }
        }
        let figures = all.map_or("no I/O yet".to_owned(), |all| {
            let rates = format!(
                "{} IOPS  {} MiB/s",
                rate(per_second(all.ios(), interval.length)),
                mebibytes(per_second(all.bytes, interval.length)),
            );
            if all.ios() == 0 {
                // Nothing that was not done took a time.
                return rates;
            }
            format!(
                "{rates}  p50 {}  p99 {}",
                short_time(all.latency.percentile(50.0)),
                short_time(all.latency.percentile(99.0)),
            )
        });
        let head = format!("[{position}/{count}] ");
        let tail = format!(" {phase} {elapsed}{expected}  {figures}");
        let rest = head.chars().count() + tail.chars().count();
        let stage = shortened(&self.stage, width.saturating_sub(rest).max(1));
        let line = format!("{head}{stage}{tail}");
        // A name from a workload must not steer the terminal.
        cut(&on_one_line(&line), width)
    }
}

/// The first `width` characters of `line`.
fn cut(line: &str, width: usize) -> String {
    line.chars().take(width).collect()
}

/// Progress of writing a file out: `writing /mnt/a: 1.2 GiB of 4 GiB (30 %)`.
pub fn layout_line(path: &str, done: Bytes, total: Bytes) -> String {
    let percent = done
        .get()
        .saturating_mul(100)
        .checked_div(total.get())
        .unwrap_or(100);
    format!("writing {path}: {done} of {total} ({percent} %)")
}

fn clock(time: Nanos) -> String {
    let seconds = (time.get() + 500_000_000) / 1_000_000_000;
    if seconds < 3600 {
        format!("{:02}:{:02}", seconds / 60, seconds % 60)
    } else {
        format!(
            "{}:{:02}:{:02}",
            seconds / 3600,
            seconds / 60 % 60,
            seconds % 60
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_record::OpStats;

    #[test]
    fn a_second_is_one_line() {
        let mut progress = Progress::new();
        let start = Event::StageStarted {
            index: 0,
            count: 5,
            name: "reads",
            expected: Some(Nanos::from_secs(90)),
        };
        assert_eq!(progress.line(&start, 80), None);
        let mut reads = OpStats::new(false, false);
        for _ in 0..1000 {
            reads.latency.record(250_000);
            reads.bytes += 4096;
        }
        let interval = IntervalStats {
            at: Nanos::from_secs(61),
            length: Nanos::from_secs(1),
            directions: [Some(reads), None, None],
            set: fathom_record::SetStats::default(),
        };
        let second = Event::Interval {
            index: 0,
            phase: Phase::Measure,
            interval: &interval,
        };
        let line = progress.line(&second, 80);
        let expected =
            "[1/5] reads measure 01:01/01:30  1,000 IOPS  3.9 MiB/s  p50 250µs  p99 250µs";
        assert_eq!(line.as_deref(), Some(expected));
        let idle = IntervalStats {
            directions: [Some(OpStats::new(false, false)), None, None],
            ..interval.clone()
        };
        let nothing = Event::Interval {
            index: 0,
            phase: Phase::Measure,
            interval: &idle,
        };
        assert_eq!(
            progress.line(&nothing, 80).as_deref(),
            Some("[1/5] reads measure 01:01/01:30  0 IOPS  0 MiB/s")
        );
        // In a narrower window the name gives way, then the end.
        let line = progress
            .line(&second, expected.chars().count() - 2)
            .unwrap();
        assert!(line.starts_with("[1/5] r…s measure") && line.ends_with("p99 250µs"));
        assert_eq!(progress.line(&second, 40).unwrap().chars().count(), 40);
    }

    #[test]
    fn names_in_notes_and_paths_steer_no_terminal() {
        let (done, total) = (Bytes::gib(1), Bytes::gib(4));
        let text = "a\u{1b}[2Jb\r";
        for event in [
            Event::Note { text },
            Event::WrongData { text },
            Event::JobFailed { text },
            Event::Layout {
                path: text,
                done,
                total,
            },
        ] {
            let line = Progress::new().line(&event, 80).unwrap();
            assert!(!line.contains(char::is_control), "{line:?}");
        }
    }

    #[test]
    fn layout_shows_how_far_it_is() {
        let line = layout_line("/mnt/a", Bytes::gib(1), Bytes::gib(4));
        assert_eq!(line, "writing /mnt/a: 1 GiB of 4 GiB (25 %)");
    }
}
