//! The line shown while a run goes.

use fathom_record::{Event, IntervalStats, Phase};
use fathom_units::{Bytes, per_second};

use crate::cells::{beginning, columns_of};
use crate::course::{Course, all_directions, phase_name};
use crate::format::{mebibytes, on_one_line, plain, rate, short_time, shortened};

/// Turns events into lines: one a second, and one for each thing a user should know at once.
#[derive(Debug, Clone, Default)]
pub struct Progress {
    course: Course,
}

impl Progress {
    /// Nothing seen yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The line that `event` calls for, if any, without its end. What changes every second is no wider than `width`: the
    /// stage's name gives way to the figures.
    pub fn line(&mut self, event: &Event<'_>, width: usize) -> Option<String> {
        self.course.event(event);
        match event {
            Event::Layout { path, done, total } => {
                let rest = columns_of(&layout_line("", *done, *total));
                let path = shortened(path, width.saturating_sub(rest).max(1));
                let line = on_one_line(&layout_line(&path, *done, *total));
                Some(beginning(&line, width).to_owned())
            }
            Event::Interval {
                phase, interval, ..
            } => Some(self.interval_line(*phase, interval, width)),
            Event::Note { text } => Some(plain(&format!("note: {text}"))),
            Event::WrongData { text } | Event::JobFailed { text } => Some(plain(text)),
            Event::StageStarted { .. }
            | Event::StageFinished { .. }
            | Event::IoLog { .. }
            | Event::JobInterval { .. }
            | Event::Syncs { .. }
            | Event::MoreFailed { .. }
            | Event::IoFailed { .. }
            | Event::IntervalLate { .. }
            | Event::Snapshot { .. } => None,
        }
    }

    /// What has no room is left out whole, the last figures first: a part of a figure reads as another one.
    fn interval_line(&self, phase: Phase, interval: &IntervalStats, width: usize) -> String {
        let head = format!("[{}/{}] ", self.course.number, self.course.count);
        let times = self.course.times(interval.at, "/");
        let place = format!("{} {times}", phase_name(phase));
        let figures = figures(interval);
        let tails = (1..=figures.len()).rev().map(|count| {
            let shown = figures[..count].join("  ");
            format!("{place}  {shown}")
        });
        let tails: Vec<String> = tails.collect();
        let room = |tail: &str| width.saturating_sub(columns_of(&head) + columns_of(tail));
        // One column for the name, and the blank behind it.
        let line = match tails.iter().find(|tail| room(tail) >= 2) {
            Some(tail) => {
                let stage = shortened(&self.course.stage, room(tail) - 1);
                format!("{head}{stage} {tail}")
            }
            None => match tails.last().filter(|tail| columns_of(tail) <= width) {
                Some(tail) if room(tail) > 0 => format!("{head}{tail}"),
                Some(tail) => tail.clone(),
                None => place,
            },
        };
        // A name from a workload must not steer the terminal.
        beginning(&on_one_line(&line), width).to_owned()
    }
}

/// Figures of a second, those first that say most.
fn figures(interval: &IntervalStats) -> Vec<String> {
    let Some(all) = all_directions(interval) else {
        return vec!["no I/O yet".to_owned()];
    };
    let mut figures = vec![
        format!("{} IOPS", rate(per_second(all.ios(), interval.length))),
        format!(
            "{} MiB/s",
            mebibytes(per_second(all.bytes, interval.length))
        ),
    ];
    // Nothing that was not done took a time.
    if all.ios() > 0 {
        let times = [("p50", 50.0), ("p99", 99.0)];
        figures.extend(times.map(|(name, percent)| {
            let time = short_time(all.latency.percentile(percent));
            format!("{name} {time}")
        }));
    }
    figures
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

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_record::OpStats;
    use fathom_units::Nanos;

    #[test]
    fn a_second_is_one_line() {
        let mut progress = Progress::new();
        let start = Event::StageStarted {
            index: 0,
            count: 5,
            name: "a read",
            words: "reads",
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
        // In a narrower window the name gives way, then whole figures from the end, then the name.
        let line = progress
            .line(&second, expected.chars().count() - 2)
            .unwrap();
        assert!(line.starts_with("[1/5] r…s measure") && line.ends_with("p99 250µs"));
        for (width, expected) in [
            (
                72,
                "[1/5] … measure 01:01/01:30  1,000 IOPS  3.9 MiB/s  p50 250µs  p99 250µs",
            ),
            (
                71,
                "[1/5] reads measure 01:01/01:30  1,000 IOPS  3.9 MiB/s  p50 250µs",
            ),
            (52, "[1/5] r…s measure 01:01/01:30  1,000 IOPS  3.9 MiB/s"),
            (40, "[1/5] …s measure 01:01/01:30  1,000 IOPS"),
            (38, "[1/5] measure 01:01/01:30  1,000 IOPS"),
            (36, "measure 01:01/01:30  1,000 IOPS"),
            (30, "measure 01:01/01:30"),
            (3, "mea"),
        ] {
            let line = progress.line(&second, width).unwrap();
            assert_eq!(line, expected, "{width}");
        }
        // Letters of East Asia take two columns.
        progress.course.stage = "データベース".to_owned();
        for width in 3..100 {
            let line = progress.line(&second, width).unwrap();
            assert!(columns_of(&line) <= width, "{line:?} on {width}");
        }
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
