//! Seconds of serving, as they are shown and kept, beside the thread that serves.
//!
//! Invariants: memory is bounded: past [`MOST`] seconds neighbours are merged, and past as many samples of the model every
//! other one goes; nothing here can stop serving.

use std::sync::mpsc::Receiver;

use fathom_model::Limit;
use fathom_record::{
    Event, EventSink, IntervalStats, OverTimeRecord, Phase, StageRecord, StorageRecord,
};
use fathom_runs::RunWriter;
use fathom_session::Console;
use fathom_units::{Nanos, group_digits, per_second};

use crate::meter::{GaugeSample, Second};
use crate::tls::Refusals;

/// Most seconds that are kept.
const MOST: usize = 3600;
/// Most values of gauges that are kept, over all parts.
const VALUES_MOST: usize = 200_000;
/// Name of the one stage.
pub(crate) const STAGE: &str = "served";

/// Whether seconds are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown {
    Yes,
    No,
}

/// What is shown and kept.
pub(crate) struct Keeper<'a> {
    console: &'a dyn Console,
    shown: Shown,
    pub writer: Option<RunWriter>,
    /// Clients that got no TLS.
    refusals: Refusals,
    /// Names of the parts that have gauges.
    parts: Vec<String>,
    pub intervals: Vec<IntervalStats>,
    gauges: Vec<(Nanos, Vec<GaugeSample>)>,
    /// Every so many seconds a sample of gauges is kept.
    stride: usize,
    seen: usize,
    open_line: usize,
}

impl<'a> Keeper<'a> {
    pub fn new(
        console: &'a dyn Console,
        shown: Shown,
        writer: Option<RunWriter>,
        refusals: Refusals,
        parts: Vec<String>,
    ) -> Self {
        Self {
            console,
            shown,
            writer,
            refusals,
            parts,
            intervals: Vec::new(),
            gauges: Vec::new(),
            stride: 1,
            seen: 0,
            open_line: 0,
        }
    }

    /// Shows and keeps seconds until there are no more.
    pub fn work(mut self, seconds: &Receiver<Second>) -> Self {
        self.emit(&Event::StageStarted {
            index: 0,
            count: 1,
            name: STAGE,
            words: STAGE,
            expected: None,
        });
        for second in seconds {
            self.tell_refusals();
            if self.shown == Shown::Yes {
                self.show(&second);
            }
            self.emit(&Event::Interval {
                index: 0,
                phase: Phase::Measure,
                interval: &second.interval,
            });
            self.keep(second);
        }
        if self.open_line > 0 {
            self.console.draw("\n");
            self.open_line = 0;
        }
        self.tell_refusals();
        self
    }

    fn tell_refusals(&mut self) {
        for line in self.refusals.take() {
            if self.open_line > 0 {
                self.console.draw("\n");
                self.open_line = 0;
            }
            self.console.tell(&line);
        }
    }

    /// The stage is over.
    pub fn finished(&mut self, record: &StageRecord) {
        self.emit(&Event::StageFinished { index: 0, record });
    }

    fn emit(&mut self, event: &Event<'_>) {
        if let Some(writer) = &mut self.writer {
            writer.event(event);
        }
    }

    fn keep(&mut self, second: Second) {
        let at = second.interval.at;
        self.intervals.push(second.interval);
        if self.intervals.len() >= MOST {
            self.intervals = merged(std::mem::take(&mut self.intervals));
        }
        self.seen += 1;
        if self.seen.is_multiple_of(self.stride) {
            self.gauges.push((at, second.gauges));
        }
        let most = (VALUES_MOST / self.parts.len().max(1)).clamp(60, MOST);
        if self.gauges.len() >= most {
            let mut index = 0;
            self.gauges.retain(|_| {
                index += 1;
                index % 2 == 0
            });
            self.stride *= 2;
        }
    }

    /// Puts what the model held over time into the rows of its parts.
    pub fn fill(&self, rows: &mut std::collections::BTreeMap<String, StorageRecord>) {
        for (index, part) in self.parts.iter().enumerate() {
            let samples = self.gauges.iter();
            let samples: Vec<_> = samples
                .filter_map(|(at, samples)| Some((*at, *samples.get(index)?)))
                .collect();
            if let (Some(row), Some(found)) = (rows.get_mut(part), over_time(&samples)) {
                row.over_time = Some(found);
            }
        }
    }

    /// One line: what was done, how long it took, how late it was, what it waited for.
    fn show(&mut self, second: &Second) {
        let terminal = self.console.is_terminal();
        let idle = second.interval.directions.iter().flatten().next().is_none();
        // In a pipe, a line a second of nothing helps nobody.
        if idle && !terminal {
            return;
        }
        let line = line(second);
        if terminal {
            let width = self.console.columns().unwrap_or(80);
            let line: String = line.chars().take(width).collect();
            let count = line.chars().count();
            let padding = " ".repeat(self.open_line.saturating_sub(count));
            self.console.draw(&format!("\r{line}{padding}"));
            self.open_line = count;
        } else {
            self.console.tell(&line);
        }
    }
}

fn line(second: &Second) -> String {
    let seconds = second.interval.at.get() / 1_000_000_000;
    let mut parts = vec![format!("{:02}:{:02}", seconds / 60, seconds % 60)];
    let names = ["read", "write", "trim"];
    for (name, stats) in names.iter().zip(&second.interval.directions) {
        let Some(stats) = stats else { continue };
        let rate = per_second(stats.ios(), second.interval.length);
        let bytes = per_second(stats.bytes, second.interval.length) / 1_048_576.0;
        parts.push(format!(
            "{name} {} IOPS {bytes:.1} MiB/s p50 {} p99 {}",
            group_digits(rate.round() as u64),
            Nanos::new(stats.latency.percentile(50.0)),
            Nanos::new(stats.latency.percentile(99.0)),
        ));
    }
    if second.error.count() > 0 {
        parts.push(format!(
            "late by {} (p99 {})",
            Nanos::new(second.error.percentile(50.0)),
            Nanos::new(second.error.percentile(99.0)),
        ));
    }
    let waited = Limit::ALL.iter().zip(second.waited);
    if let Some((limit, _)) = waited.filter(|(_, ns)| *ns > 0).max_by_key(|(_, ns)| *ns) {
        parts.push(format!("waits for {}", limit.name()));
    }
    let credits = second.gauges.iter();
    let credits = credits.flat_map(|gauge| [gauge.iops_credits, gauge.bytes_credits]);
    if let Some(least) = credits.flatten().reduce(f64::min) {
        parts.push(format!("credits {:.1} %", least * 100.0));
    }
    parts.join("  ")
}

/// Every two neighbours as one.
fn merged(intervals: Vec<IntervalStats>) -> Vec<IntervalStats> {
    let mut merged: Vec<IntervalStats> = Vec::with_capacity(MOST);
    for (index, interval) in intervals.into_iter().enumerate() {
        match merged.last_mut() {
            Some(first) if index % 2 == 1 => {
                first.at = interval.at;
                first.length += interval.length;
                for (mine, theirs) in first.directions.iter_mut().zip(interval.directions) {
                    match (mine.as_mut(), theirs) {
                        (Some(mine), Some(theirs)) => mine.merge(&theirs),
                        (None, theirs) => *mine = theirs,
                        (Some(_), None) => {}
                    }
                }
            }
            // A clone keeps only the part of a histogram that is used.
            _ => merged.push(interval.clone()),
        }
    }
    merged
}

/// `None` where a part has neither a cache that was read nor credits.
fn over_time(samples: &[(Nanos, GaugeSample)]) -> Option<OverTimeRecord> {
    let (_, last) = samples.last()?;
    let mut record = OverTimeRecord::default();
    if last.reads > 0 {
        let (mut reads, mut hits) = (0, 0);
        for (_, sample) in samples {
            let (came, served) = (sample.reads - reads, sample.hits - hits);
            let share = (came > 0).then(|| served as f64 / came as f64);
            record.hit_share.push(share);
            (reads, hits) = (sample.reads, sample.hits);
        }
    }
    let values = samples.iter().map(|(_, sample)| sample);
    record.iops_credit_share = values.clone().filter_map(|it| it.iops_credits).collect();
    record.bytes_credit_share = values.clone().filter_map(|it| it.bytes_credits).collect();
    record.dirty_bytes = values.filter_map(|it| it.dirty_bytes).collect();
    let applies = !(record.hit_share.is_empty()
        && record.iops_credit_share.is_empty()
        && record.bytes_credit_share.is_empty()
        && record.dirty_bytes.is_empty());
    record.at_ns = samples.iter().map(|(at, _)| at.get()).collect();
    applies.then_some(record)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_record::{OpStats, SetStats};
    use fathom_stats::Histogram;

    /// Where nothing is to be told.
    struct Nowhere;

    impl Console for Nowhere {
        fn print(&self, _: &str) {}
        fn tell(&self, _: &str) {}
        fn draw(&self, _: &str) {}
        fn is_terminal(&self) -> bool {
            false
        }
        fn columns(&self) -> Option<usize> {
            None
        }
    }

    /// The second that ends so many seconds after the start.
    fn second(end: u64) -> Second {
        let gauge = GaugeSample {
            reads: end,
            hits: 0,
            iops_credits: None,
            bytes_credits: None,
            dirty_bytes: None,
        };
        Second {
            interval: IntervalStats {
                at: Nanos::from_secs(end),
                length: Nanos::from_secs(1),
                directions: [None, None, None],
                set: SetStats::default(),
            },
            error: Histogram::new(),
            waited: [0; Limit::ALL.len()],
            gauges: vec![gauge],
        }
    }

    fn keeper(parts: usize) -> Keeper<'static> {
        let parts = (0..parts).map(|part| part.to_string());
        Keeper::new(
            &Nowhere,
            Shown::No,
            None,
            Refusals::default(),
            parts.collect(),
        )
    }

    /// Two hours and two seconds are kept as one hour's worth of longer intervals, and as many samples of the model, evenly
    /// apart.
    #[test]
    fn a_long_service_keeps_a_bounded_number_of_seconds() {
        let mut keeper = keeper(1);
        let most = MOST as u64;
        for end in 1..most {
            keeper.keep(second(end));
        }
        assert_eq!(keeper.intervals.len(), MOST - 1);
        assert_eq!((keeper.gauges.len(), keeper.stride), (MOST - 1, 1));
        keeper.keep(second(most));
        assert_eq!(keeper.intervals.len(), MOST / 2);
        assert_eq!((keeper.gauges.len(), keeper.stride), (MOST / 2, 2));
        for end in most + 1..=2 * most + 2 {
            keeper.keep(second(end));
        }
        let length: u64 = keeper.intervals.iter().map(|it| it.length.get()).sum();
        assert_eq!(length, (2 * most + 2) * 1_000_000_000);
        assert!(keeper.intervals.len() < MOST);
        let at: Vec<u64> = keeper.gauges.iter().map(|(at, _)| at.get()).collect();
        assert!(at.len() < MOST && keeper.stride == 4);
        let apart = 4_000_000_000;
        let even: Vec<u64> = (1..=at.len() as u64).map(|index| index * apart).collect();
        assert_eq!(at, even);
    }

    /// More parts have fewer samples each, and 60 at least.
    #[test]
    fn samples_of_many_parts_are_bounded_together() {
        let parts = VALUES_MOST / 100;
        let mut keeper = keeper(parts);
        for end in 1..=100 {
            keeper.keep(second(end));
        }
        assert_eq!((keeper.gauges.len(), keeper.stride), (50, 2));
    }

    /// A sample has the share of the reads since the one before; `None` where there were none.
    #[test]
    fn shares_of_a_cache_are_those_of_each_sample() {
        let sample = |reads, hits| GaugeSample {
            reads,
            hits,
            iops_credits: None,
            bytes_credits: None,
            dirty_bytes: None,
        };
        let samples = [sample(4, 1), sample(4, 1), sample(14, 6)];
        let samples = (1..).map(Nanos::from_secs).zip(samples);
        let record = over_time(&samples.collect::<Vec<_>>()).unwrap();
        assert_eq!(record.hit_share, [Some(0.25), None, Some(0.5)]);
        assert_eq!(over_time(&[(Nanos::from_secs(1), sample(0, 0))]), None);
    }

    #[test]
    fn merged_seconds_lose_nothing() {
        let interval = |index: u64| {
            let mut stats = OpStats::new(false, false);
            stats.latency.record(1000 * index + 1);
            stats.bytes = 1;
            IntervalStats {
                at: Nanos::from_secs(index + 1),
                length: Nanos::from_secs(1),
                directions: [None, (!index.is_multiple_of(3)).then_some(stats), None],
                set: SetStats::default(),
            }
        };
        let all = merged((0..9).map(interval).collect());
        assert_eq!(all.len(), 5);
        let ios: u64 = all
            .iter()
            .flat_map(|it| it.directions.iter().flatten())
            .map(OpStats::ios)
            .sum();
        assert_eq!(ios, 6);
        let length: u64 = all.iter().map(|it| it.length.get()).sum();
        assert_eq!((length, all[4].at), (9_000_000_000, Nanos::from_secs(9)));
    }
}
