//! The panel shown on a terminal while a run goes.
//!
//! Events go in, lines of text for a room of some columns and rows come out: what is run, where it is, what the last second
//! was like for each direction, and how IOPS and the 99th percentile went over the seconds before.
//!
//! Invariants: no line is wider than the room, and there are fewer lines than it has rows; nothing in a line steers the
//! terminal. What has less room leaves out charts before figures.

mod chart;
mod table;

use std::collections::VecDeque;

use fathom_record::{Event, IntervalStats, OpStats, Phase, RunKind};
use fathom_units::{Bytes, Nanos, group_digits, per_second};

use self::chart::{bar, chart};
use self::table::Table;
use crate::cells::{beginning, columns_of, fitted};
use crate::course::{Course, all_directions, all_of_set, phase_name};
use crate::format::{on_one_line, rate, short_time};
use crate::progress::layout_line;

/// What a terminal has for a panel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    columns: usize,
    rows: usize,
}

impl Room {
    /// The smallest terminal that has room for a panel, in columns and rows.
    pub const LEAST: (usize, usize) = (60, 12);
    /// More columns make it no better to read.
    const MOST_COLUMNS: usize = 100;

    /// That of a terminal of so many columns and rows; `None` where a panel has no room. The last column stays free, since
    /// some terminals go on in the next line there, and the last row too, where the cursor stands.
    pub fn of_terminal(columns: usize, rows: usize) -> Option<Self> {
        let (least_columns, least_rows) = Self::LEAST;
        (columns >= least_columns && rows >= least_rows).then(|| Self {
            columns: (columns - 1).min(Self::MOST_COLUMNS),
            rows: rows - 1,
        })
    }
}

/// A second of the past, for the charts.
#[derive(Debug, Clone, Copy)]
struct Sample {
    /// Its end, from the start of the stage.
    at: Nanos,
    length: Nanos,
    iops: f64,
    p99: f64,
}

/// What is known of a run while it goes.
#[derive(Debug, Clone)]
pub struct Panel {
    kind: RunKind,
    what: String,
    /// How often each stage of the workload runs.
    repeats: Vec<u32>,
    course: Course,
    /// A file that is being written before the first stage.
    layout: Option<(String, Bytes, Bytes)>,
    /// Part of the stage, and time since it began.
    now: Option<(Phase, Nanos)>,
    table: Table,
    /// The second that was told last, with its syncs.
    latest: Option<(IntervalStats, Option<OpStats>)>,
    /// Syncs of the second that is told next.
    syncs: Option<OpStats>,
    /// The newest last.
    samples: VecDeque<Sample>,
    failed: u64,
}

/// Characters of a chart's scale: its name, the figure at its end, and a blank.
const SCALE: usize = 16;
/// A chart of more rows says no more.
const MOST_CHART_ROWS: usize = 4;

impl Panel {
    /// That of a run of `what`, whose stages run so many times each.
    pub fn new(kind: RunKind, what: &str, repeats: Vec<u32>) -> Self {
        Self {
            kind,
            what: on_one_line(what),
            repeats,
            course: Course::default(),
            layout: None,
            now: None,
            table: Table::default(),
            latest: None,
            syncs: None,
            samples: VecDeque::new(),
            failed: 0,
        }
    }

    /// Takes one event.
    pub fn event(&mut self, event: &Event<'_>) {
        self.course.event(event);
        match event {
            Event::Layout { path, done, total } => {
                self.layout = Some((on_one_line(path), *done, *total));
            }
            Event::StageStarted { .. } => {
                (self.layout, self.now) = (None, None);
                (self.latest, self.syncs) = (None, None);
                self.samples.clear();
                self.table.begin_stage();
            }
            Event::Syncs { stats, .. } => self.syncs = Some((*stats).clone()),
            Event::Interval {
                phase, interval, ..
            } => {
                self.now = Some((*phase, interval.at));
                let syncs = self.syncs.take();
                self.second(interval, syncs.as_ref());
                self.latest = Some(((*interval).clone(), syncs));
            }
            Event::IntervalLate { interval, .. } => self.late(interval),
            Event::MoreFailed { count } => self.failed = *count,
            _ => {}
        }
    }

    /// Shows a second anew with what came of it after it was told. Of an earlier one the rate alone is known still.
    fn late(&mut self, late: &IntervalStats) {
        let latest = self.latest.take_if(|(second, _)| second.at == late.at);
        if let Some((mut second, syncs)) = latest {
            merge_interval(&mut second, late);
            self.samples.pop_back();
            self.second(&second, syncs.as_ref());
            self.latest = Some((second, syncs));
            return;
        }
        let all = all_directions(late).or_else(|| all_of_set(late));
        let mut earlier = self.samples.iter_mut().rev();
        if let Some((sample, all)) = earlier.find(|sample| sample.at == late.at).zip(all) {
            sample.iops += per_second(all.ios(), sample.length);
        }
    }

    fn second(&mut self, interval: &IntervalStats, syncs: Option<&OpStats>) {
        let all = all_directions(interval);
        let files = all_of_set(interval);
        // A stage that works on directories and files alone has nothing else to draw.
        let drawn = all.as_ref().or(files.as_ref());
        self.samples.push_back(Sample {
            at: interval.at,
            length: interval.length,
            iops: drawn.map_or(0.0, |drawn| per_second(drawn.ios(), interval.length)),
            p99: drawn
                .filter(|drawn| drawn.ios() > 0)
                .map_or(0.0, |drawn| drawn.latency.percentile(99.0) as f64),
        });
        if self.samples.len() > Room::MOST_COLUMNS {
            self.samples.pop_front();
        }
        self.table.second(interval, all, [syncs.cloned(), files]);
    }

    /// The panel's lines, for a terminal that has so much room.
    pub fn lines(&self, room: Room) -> Vec<String> {
        let mut left = room.rows;
        let mut take = |wanted: usize| {
            let given = wanted.min(left);
            left -= given;
            given
        };
        // Who comes first gets its rows first: what is run and where it is, failures, figures, how far it is, charts.
        take(2 + usize::from(self.counts_failures()));
        let table = self.table.lines(take(self.table.needed()));
        let has_bar = self.share().is_some() && take(1) > 0;
        // The sum leaves a row for each chart.
        let has_sum = self.table.has_sum() && left > 2;
        let each = ((left - usize::from(has_sum)) / 2).min(MOST_CHART_ROWS);
        let mut lines = vec![self.heading(), self.place(room.columns)];
        if has_bar {
            lines.extend(self.share().map(|share| bar(share, room.columns)));
        }
        lines.extend(table);
        if has_sum {
            lines.push(self.table.sum());
        }
        if self.counts_failures() {
            lines.push(format!("failed I/Os {}", group_digits(self.failed)));
        }
        if each > 0 && self.course.number > 0 {
            lines.extend(self.charts(room.columns, each));
        }
        let fit = |line: String| fitted(line.trim_end(), room.columns);
        lines.into_iter().map(fit).collect()
    }

    /// Few predictions have any.
    fn counts_failures(&self) -> bool {
        self.kind == RunKind::Run || self.failed > 0
    }

    fn heading(&self) -> String {
        let kind = match self.kind {
            RunKind::Run => "run",
            RunKind::Predict => "prediction in virtual time",
            RunKind::Serve => "served",
        };
        format!("{kind}: {}", self.what)
    }

    /// Where it is: the file that is written, or the stage, its repeat, and how long it goes.
    fn place(&self, columns: usize) -> String {
        if let Some((path, done, total)) = &self.layout {
            let rest = columns_of(&layout_line("", *done, *total));
            let path = fitted(path, columns.saturating_sub(rest));
            return layout_line(&path, *done, *total);
        }
        if self.course.number == 0 {
            return "before the first stage".to_owned();
        }
        let times = self.now.map_or(String::new(), |(phase, at)| {
            format!("  {} {}", phase_name(phase), self.course.times(at, " of "))
        });
        let (head, name, tail) = self.stage();
        let beside = columns_of(&head) + columns_of(&tail) + columns_of(&times);
        let name = fitted(&name, columns.saturating_sub(beside).max(1));
        let left = format!("{head}{name}{tail}");
        let gap = columns.saturating_sub(columns_of(&left) + columns_of(&times));
        left + &" ".repeat(gap) + &times
    }

    /// The stage under way: what stands before its name, the name, and what stands behind.
    fn stage(&self) -> (String, String, String) {
        let Course {
            stage,
            number,
            count,
            ..
        } = &self.course;
        let name = on_one_line(stage);
        let all: u64 = self.repeats.iter().map(|times| u64::from(*times)).sum();
        let mut before = 0;
        let own = self.repeats.iter().position(|times| {
            before += *times as usize;
            before >= *number
        });
        let Some(own) = own.filter(|_| all == *count as u64) else {
            return (format!("stage {number} of {count}: "), name, String::new());
        };
        let times = self.repeats[own] as usize;
        let head = format!("stage {} of {}: ", own + 1, self.repeats.len());
        if times < 2 {
            return (head, name, String::new());
        }
        let repeat = times - (before - number);
        let name = match name.strip_suffix(&format!(" #{repeat}")) {
            Some(plain) => plain.to_owned(),
            None => name,
        };
        (head, name, format!(", repeat {repeat} of {times}"))
    }

    /// How far the layout of a file or the stage is, from 0 to 1.
    fn share(&self) -> Option<f64> {
        let of = |part: u64, whole: u64| (whole > 0).then(|| (part as f64 / whole as f64).min(1.0));
        if let Some((_, done, total)) = &self.layout {
            return of(done.get(), total.get());
        }
        let elapsed = self.now.map_or(Nanos::ZERO, |(_, at)| at);
        of(elapsed.get(), self.course.expected?.get())
    }

    /// IOPS and the 99th percentile over the seconds that there is room for, on so many rows each.
    fn charts(&self, columns: usize, rows: usize) -> Vec<String> {
        let shown = columns.saturating_sub(SCALE);
        let skipped = self.samples.len().saturating_sub(shown);
        let samples = || self.samples.iter().skip(skipped);
        let span: u64 = samples().map(|sample| sample.length.get()).sum();
        let span = format!("last {:.0} s", Nanos::new(span).as_secs_f64());
        let iops: Vec<f64> = samples().map(|sample| sample.iops).collect();
        let p99: Vec<f64> = samples().map(|sample| sample.p99).collect();
        let most = |values: &[f64]| values.iter().copied().fold(0.0, f64::max);
        let time = |ns: f64| match ns {
            0.0 => "0".to_owned(),
            ns => short_time(ns.round() as u64),
        };
        let of = |name: &str, values: &[f64], top: &str| {
            let drawn = chart(values, most(values), rows).into_iter().enumerate();
            let line = |(row, drawn): (usize, String)| {
                let scale = match row {
                    0 => format!("{name:<5}{top:>10}"),
                    1 if rows > 2 => format!("{span:>15}"),
                    row if row + 1 == rows => format!("{:>15}", 0),
                    _ => format!("{:15}", ""),
                };
                format!("{} {drawn}", beginning(&scale, SCALE - 1))
            };
            drawn.map(line).collect::<Vec<_>>()
        };
        let mut lines = of("IOPS", &iops, &rate(most(&iops)));
        lines.extend(of("p99", &p99, &time(most(&p99))));
        lines
    }
}

/// Adds what came of a second after it was told.
fn merge_interval(second: &mut IntervalStats, late: &IntervalStats) {
    for (mine, late) in second.directions.iter_mut().zip(&late.directions) {
        match (mine, late) {
            (Some(mine), Some(late)) => mine.merge(late),
            (mine @ None, late) => mine.clone_from(late),
            (Some(_), None) => {}
        }
    }
    second.set.merge(&late.set);
}

#[cfg(test)]
mod tests;
