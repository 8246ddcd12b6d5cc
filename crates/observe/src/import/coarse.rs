//! Samples put together where there are more than are kept: by two, then by four, and so on, of each device alike.
//!
//! What was counted stays what it was; what is higher or lower within an interval is evened out, which is said. While samples
//! are put together their time is the number of their group of reports, and their length that of the reports in it that
//! told of the device.

use fathom_units::{Nanos, Percent};

use super::collect::Report;
use super::spans::Span;
use crate::{Ops, Sample};

/// What is said of intervals that are longer than what happens within them.
pub(super) const EVENED_OUT: &str = "what is higher or lower within one is evened out";

/// How many reports become one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Groups {
    /// Each group has two to the power of it.
    pub level: u32,
    /// Nanoseconds of an ordinary interval.
    typical: i64,
}

impl Groups {
    /// Pairs of the reports so far and those that follow.
    pub fn new(reports: &[Report]) -> Self {
        let steps = reports.windows(2).map(|pair| match pair[1].length {
            Some(own) => i64::try_from(own.get()).unwrap_or(i64::MAX),
            None => pair[1].at.saturating_sub(pair[0].at),
        });
        let mut steps: Vec<i64> = steps.filter(|step| *step > 0).collect();
        steps.sort_unstable();
        let typical = steps.get(steps.len() / 2).copied().unwrap_or(1);
        Self { level: 0, typical }
    }

    /// The group of a report.
    pub fn of(&self, report: usize) -> i64 {
        i64::try_from(report >> self.level).unwrap_or(i64::MAX)
    }

    /// An ordinary group's length.
    pub fn length(&self) -> Nanos {
        let typical = u64::try_from(self.typical).unwrap_or(0);
        Nanos::new(typical.saturating_mul(1 << self.level.min(32)))
    }

    /// The nanoseconds for which a report's rates count; none where what it covers began before the log.
    pub fn weight(&self, reports: &[Report], report: usize) -> u64 {
        let Some(this) = reports.get(report) else {
            return 0;
        };
        if let Some(own) = this.length {
            return own.get();
        }
        let before = report.checked_sub(1).and_then(|place| reports.get(place));
        let Some(before) = before.filter(|_| !this.fresh) else {
            return 0;
        };
        let since = this.at.saturating_sub(before.at);
        // A gap counts as one ordinary interval, and so does one whose clock went back.
        let is_ordinary = since > 0 && since <= self.typical.saturating_mul(3) / 2;
        let ordinary = if is_ordinary { since } else { self.typical };
        u64::try_from(ordinary).unwrap_or(0)
    }

    /// Samples of one device, in the order of their groups, put together by group.
    pub fn join(samples: &mut Vec<Sample>) {
        samples.dedup_by(|later, earlier| {
            let same = later.at_unix_ns == earlier.at_unix_ns;
            if same {
                *earlier = together(earlier, later);
            }
            same
        });
        // Half of the room would lie idle otherwise.
        samples.shrink_to_fit();
    }

    /// What each group covers, by its number: its end, and for each nanosecond of weight so many of time.
    pub fn spans(&self, reports: &[Report], spans: &[Option<Span>]) -> Vec<Option<(i64, f64)>> {
        let size = 1 << self.level;
        let groups = spans.chunks(size).enumerate().map(|(group, spans)| {
            let last = spans.iter().flatten().last()?;
            let length: f64 = spans
                .iter()
                .flatten()
                .map(|it| it.length.get() as f64)
                .sum();
            let reports_of = (group * size..).take(spans.len());
            let counted = reports_of.zip(spans).filter(|(_, span)| span.is_some());
            let weight = counted.map(|(report, _)| self.weight(reports, report) as f64);
            let weight: f64 = weight.sum();
            (weight > 0.0).then_some((last.at, length / weight))
        });
        groups.collect()
    }
}

/// Two samples of rates a second as one of both lengths.
pub(super) fn together(one: &Sample, other: &Sample) -> Sample {
    let (first, second) = (one.length.get() as f64, other.length.get() as f64);
    let share = first / (first + second).max(1.0);
    let mean = |one: f64, other: f64| one * share + other * (1.0 - share);
    let ops = |one: Ops, other: Ops| Ops {
        count: mean(one.count, other.count),
        bytes: either(one.bytes, other.bytes, mean),
        time: either(one.time, other.time, |one, other| {
            Nanos::new(mean(one.get() as f64, other.get() as f64).round() as u64)
        }),
        merged: either(one.merged, other.merged, mean),
    };
    let percent = |one: Percent, other: Percent| {
        let points = mean(one.basis_points().into(), other.basis_points().into());
        Percent::from_basis_points(points.round() as u32).unwrap_or(one)
    };
    Sample {
        at_unix_ns: one.at_unix_ns,
        length: one.length.saturating_add(other.length),
        reads: either(one.reads, other.reads, ops),
        writes: either(one.writes, other.writes, ops),
        all: either(one.all, other.all, ops),
        queue: either(one.queue, other.queue, mean),
        busy: either(one.busy, other.busy, percent),
        split: either(one.split, other.split, mean),
        ..*one
    }
}

/// What of two tells; both as `mean` says.
fn either<T>(one: Option<T>, other: Option<T>, mean: impl FnOnce(T, T) -> T) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(mean(one, other)),
        (one, other) => one.or(other),
    }
}
