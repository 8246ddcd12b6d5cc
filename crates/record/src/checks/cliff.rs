//! Whether the rate of a stage went over from one level to another, and stayed there.
//!
//! A write cache that is full, burst credits that are used up, a cache that is warm by now, a throttle: the mean over both
//! levels is the figure of neither, and depends on how long was measured.

use fathom_units::Nanos;

use super::Evidence;
use super::seconds::{Finding, Seconds, Series, over_stages};
use crate::{Check, RunKind, StageResult};

/// Fifteen seconds that scatter without any order, however much, make a change of level by the bounds below in about one of a
/// thousand runs at most (simulated: normal, log-normal, exponential and Pareto rates, and seconds that stand still); twelve do
/// so three times as often.
const LEAST_SECONDS: usize = 15;
/// Each level lasts so long, and for this share of the seconds: what is shorter changes the mean by some percent at most.
const LEAST_LEVEL: usize = 3;
const LEAST_LEVEL_SHARE: f64 = 0.1;
/// How far the levels are apart at least: what other load on shared storage takes and gives stays mostly below.
const LEAST_FACTOR: f64 = 1.5;
/// How much of the variance of the seconds the two levels explain at least. A straight line is explained by 75 %, one period of
/// a sine by 81 %.
const LEAST_EXPLAINED: f64 = 0.85;

/// Two levels of a rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Levels {
    /// Seconds of the first.
    first: usize,
    before: f64,
    after: f64,
}

pub(super) fn cache_cliff(evidence: &Evidence<'_>) -> Check {
    let silent = "no rate went over from one level to another";
    over_stages(evidence, ("cache-cliff", silent), |result| {
        let seconds = Seconds::of(evidence, result)?.at_least(LEAST_SECONDS)?;
        Ok(find(&seconds).map(|(series, levels)| Finding {
            words: words(&seconds, &series, levels),
            remedy: remedy(evidence.kind).into(),
        }))
    })
}

/// Whether the check tells of these seconds.
pub(super) fn has_cliff(seconds: &Seconds<'_>) -> bool {
    seconds.len() >= LEAST_SECONDS && find(seconds).is_some()
}

fn find(seconds: &Seconds<'_>) -> Option<(Series, Levels)> {
    let mut all = seconds.series().into_iter();
    all.find_map(|series| {
        let levels = levels(&series.rates)?;
        Some((series, levels))
    })
}

/// The split of seconds into two levels that leaves the least squares.
#[derive(Debug, Clone, Copy)]
pub(super) struct Split {
    /// Seconds of the first level.
    pub(super) first: usize,
    pub(super) before: f64,
    pub(super) after: f64,
    /// Sum of squares that the levels explain, and that of all seconds around their mean.
    pub(super) explained: f64,
    pub(super) all: f64,
}

/// The change of level, where there is one.
pub(super) fn levels(rates: &[f64]) -> Option<Levels> {
    let Split {
        first,
        before,
        after,
        explained,
        all,
    } = split(rates)?;
    let (low, high) = (before.min(after), before.max(after));
    let is_cliff = all > 0.0 && explained >= all * LEAST_EXPLAINED && high >= low * LEAST_FACTOR;
    is_cliff.then_some(Levels {
        first,
        before,
        after,
    })
}

/// The best split, each level of which lasts as long as it has to; `None` of so few seconds that there is none.
pub(super) fn split(rates: &[f64]) -> Option<Split> {
    let count = rates.len();
    let least = LEAST_LEVEL.max((count as f64 * LEAST_LEVEL_SHARE).ceil() as usize);
    let sum: f64 = rates.iter().sum();
    let mean = sum / count as f64;
    let all: f64 = rates.iter().map(|rate| (rate - mean).powi(2)).sum();
    let mut best: Option<Split> = None;
    let mut so_far = 0.0;
    for (index, rate) in rates.iter().enumerate() {
        so_far += rate;
        let (first, rest) = (index + 1, count - index - 1);
        if first < least || rest < least {
            continue;
        }
        let (before, after) = (so_far / first as f64, (sum - so_far) / rest as f64);
        let explained =
            first as f64 * (before - mean).powi(2) + rest as f64 * (after - mean).powi(2);
        if best.is_none_or(|most| explained > most.explained) {
            best = Some(Split {
                first,
                before,
                after,
                explained,
                all,
            });
        }
    }
    best
}

fn words(seconds: &Seconds<'_>, series: &Series, levels: Levels) -> String {
    let (way, unit) = (series.way, series.unit);
    let Levels {
        first,
        before,
        after,
    } = levels;
    let at = seconds.end_of_first(first);
    let (from, to) = (unit.words(before), unit.words(after));
    let factor = (before > 0.0).then(|| format!(" ({:.2} ×)", after / before));
    let latencies = seconds
        .p99(way, 0..first)
        .zip(seconds.p99(way, first..seconds.len()));
    let latencies =
        latencies.map(|(before, after)| format!("; p99 {before} before, {after} after"));
    let credits = used_up(seconds.result, at).map(|credits| format!("; {credits}"));
    let more: String = [factor, latencies, credits].into_iter().flatten().collect();
    format!("{}s {from} for {at}, then {to}{more}", way.name())
}

/// The credits of a modelled part that were used up by then: from any to next to none.
fn used_up(result: &StageResult, at: Nanos) -> Option<String> {
    const USED_UP: f64 = 0.01;
    result.storage.iter().find_map(|(part, row)| {
        let course = row.over_time.as_ref()?;
        // One value may be of the second in which they ran out.
        let by_then = course.at_ns.iter().position(|time| *time > at.get());
        let ran_out = |left: &[f64]| {
            let first = left.first().copied().unwrap_or_default();
            let then = by_then.map_or(left.last(), |index| left.get(index));
            first > 0.0 && then.is_some_and(|then| *then <= first * USED_UP)
        };
        let (ios, bytes) = (&course.iops_credit_share, &course.bytes_credit_share);
        let what = match (ran_out(ios), ran_out(bytes)) {
            (true, _) => "IOPS",
            (false, true) => "throughput",
            (false, false) => return None,
        };
        Some(format!("the {what} credits of `{part}` were used up"))
    })
}

fn remedy(kind: RunKind) -> &'static str {
    match kind {
        RunKind::Run | RunKind::Serve => {
            "a cache that filled up or was warm by then, burst credits that were used up, a throttle: measure the state after it by \
             itself with a warm-up as long as the first level (`warmup`; in fio's words `ramp_time`), and the one before with a \
             shorter `measure`"
        }
        RunKind::Predict => {
            "predict each state by itself: the one after with a warm-up as long as the first level, or with `credits = \"empty\"` \
             or `cache = \"warm\"` in the design, and the one before with a shorter `measure`"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::chance::Chance;
    use super::*;

    #[track_caller]
    fn check(rates: &[f64], expected: Option<usize>) {
        assert_eq!(levels(rates).map(|levels| levels.first), expected);
    }

    fn seconds(count: u32, rate: impl Fn(f64) -> f64) -> Vec<f64> {
        (0..count)
            .map(|second| rate(f64::from(second) / f64::from(count)))
            .collect()
    }

    /// Levels with every second a tenth above or below.
    fn step(first: usize, before: f64, rest: usize, after: f64) -> Vec<f64> {
        let rough = |(index, rate): (usize, f64)| rate * if index % 2 == 0 { 1.1 } else { 0.9 };
        let before = std::iter::repeat_n(before, first);
        let rates = before.chain(std::iter::repeat_n(after, rest));
        rates.enumerate().map(rough).collect()
    }

    #[test]
    fn a_lasting_change_of_level_is_found_where_it_is() {
        check(&step(37, 8000.0, 23, 2000.0), Some(37));
        check(&step(12, 50.0, 3, 500.0), Some(12));
        check(&step(20, 100.0, 20, 60.0), Some(20));
        check(&step(30, 100.0, 30, 0.0), Some(30));
    }

    /// Levels without any scatter.
    fn plain(first: usize, before: f64, rest: usize, after: f64) -> Vec<f64> {
        [vec![before; first], vec![after; rest]].concat()
    }

    #[test]
    fn the_bounds_are_where_they_are_said_to_be() {
        // A factor of 1.5.
        check(&plain(20, 150.0, 20, 101.0), None);
        check(&plain(20, 100.0, 20, 149.0), None);
        check(&plain(20, 150.0, 20, 99.0), Some(20));
        // Three seconds, and a tenth of all, at each end.
        check(&plain(13, 100.0, 2, 10.0), None);
        check(&plain(2, 100.0, 13, 10.0), None);
        check(&plain(12, 100.0, 3, 10.0), Some(12));
        check(&plain(3, 100.0, 12, 10.0), Some(3));
        check(&plain(55, 100.0, 5, 10.0), None);
        check(&plain(5, 100.0, 55, 10.0), None);
        check(&plain(54, 100.0, 6, 10.0), Some(54));
        check(&plain(6, 100.0, 54, 10.0), Some(6));
    }

    #[test]
    fn what_is_no_change_of_level_is_none() {
        // Too small, too short, and a pause that ends.
        check(&step(20, 100.0, 20, 80.0), None);
        check(&step(98, 100.0, 2, 10.0), None);
        let pause = [step(20, 100.0, 10, 0.0), step(20, 100.0, 0, 0.0)].concat();
        check(&pause, None);
        // A drift, oscillations, nothing at all.
        check(&seconds(60, |at| 1000.0 * (1.0 - 0.9 * at)), None);
        for periods in [1.0, 2.0, 7.0] {
            let wave = |at: f64| 100.0 + 60.0 * (at * periods * std::f64::consts::TAU).sin();
            check(&seconds(60, wave), None);
        }
        check(&[5.0; 60], None);
        check(&[0.0; 60], None);
        check(&[], None);
    }

    /// Percent of 1,000 runs of such seconds in which a cliff is told.
    fn told(count: usize, of: (f64, f64), course: impl Fn(f64) -> f64) -> f64 {
        let mut chance = Chance(7);
        let runs = (0..1000).filter(|_| levels(&chance.seconds(count, of, &course)).is_some());
        runs.count() as f64 / 10.0
    }

    /// Waves of seconds that depend on each other have no two levels: they leave too much of the variance, or lie too near.
    #[test]
    fn seconds_that_depend_on_each_other_are_no_cliff() {
        for count in [15, 20, 30, 60, 120, 300, 600] {
            for scatter in [0.02, 0.05, 0.1, 0.15, 0.3] {
                for alike in [0.0, 0.2, 0.4, 0.6, 0.8, 0.9] {
                    let percent = told(count, (scatter, alike), |_| 1000.0);
                    let is_short = count < 30;
                    let most = if is_short { 5.0 } else { 2.0 };
                    assert!(
                        percent <= most,
                        "{percent} % of {count} s, scatter {scatter}, correlation {alike}"
                    );
                }
            }
        }
    }

    /// A third of the rate is where they begin, and what is less is no cliff but a change.
    #[test]
    fn cliffs_are_told_from_seconds_that_depend_on_each_other() {
        let falls = |by: f64| {
            move |at: f64| {
                if at < 0.4 {
                    1000.0
                } else {
                    1000.0 * (1.0 - by)
                }
            }
        };
        for alike in [0.0, 0.4, 0.8, 0.9] {
            for count in [30, 60, 600] {
                let check = |scatter: f64, by: f64, least: f64| {
                    let percent = told(count, (scatter, alike), falls(by));
                    assert!(
                        percent >= least,
                        "{percent} % of {count} s at {scatter}, correlation {alike}, a fall by {by}"
                    );
                };
                check(0.05, 0.5, 99.0);
                check(0.02, 0.4, 99.0);
                check(0.05, 0.4, 98.0);
                check(0.1, 0.5, 98.0);
                let small = told(count, (0.02, alike), falls(0.3));
                assert!(small <= 1.0, "{small} %");
            }
        }
    }
}
