//! Whether the figures of a stage are those of one state.
//!
//! The SNIA Solid State Storage Performance Test Specification calls five rounds steady whose values range over at most 20 % of
//! their mean, and whose least-squares line rises or falls by at most 10 % of it from the first to the last. A job that ends
//! when its own criterion is met is held to that one alone.

use fathom_stats::{Dependence, mean, slope};
use fathom_workload::{Job, SteadyJudgement, SteadyLimit, SteadyMetric};

use super::cliff::has_cliff;
use super::fall::{Fall, fall};
use super::seconds::{Finding, Seconds, Series, over_stages};
use super::{Evidence, jobs};
use crate::{Check, RunKind, StageResult, SteadyOutcome};

const ROUNDS: usize = 5;
const MOST_RANGE: f64 = 0.2;
const MOST_DRIFT: f64 = 0.1;
/// Seconds of a round at least: storage that others use too has slow moments of a second or two.
const LEAST_ROUND: usize = 6;
/// What chance leaves, in standard errors of a round: five rounds of six seconds that scatter without any order exceed one of these
/// in less than one of a thousand runs (simulated: normal, log-normal, exponential and Pareto rates, and seconds that stand
/// still), seconds that depend on the one before by a correlation of up to 0.8 in less than one of twenty, and longer rounds less
/// often.
const CHANCE_RANGE: f64 = 8.0;
const CHANCE_DRIFT: f64 = 6.0;
/// Seconds that are more alike than this are on their way somewhere: with more, no drift of a short run would be told.
const MOST_ALIKE: f64 = 0.8;

pub(super) fn steady_state(evidence: &Evidence<'_>) -> Check {
    let silent = "no rate ranged over more than 20 % of its mean in five rounds, or drifted by more than 10 %";
    over_stages(evidence, ("steady-state", silent), |result| {
        if let Some(own) = own_criterion(evidence, result) {
            let met = "its jobs met their own criterion of a steady state";
            return own.map_or_else(|finding| Ok(Some(finding)), |()| Err(met.to_owned()));
        }
        let seconds = Seconds::of(evidence, result)?.at_least(ROUNDS * LEAST_ROUND)?;
        if has_cliff(&seconds) {
            return Err("two levels, as `cache-cliff` tells".to_owned());
        }
        judge(&seconds, evidence.kind)
    })
}

fn judge(seconds: &Seconds<'_>, kind: RunKind) -> Result<Option<Finding>, String> {
    let mut unknown = None;
    for series in seconds.series() {
        let Some(rounds) = Rounds::of(&series.rates) else {
            continue;
        };
        if rounds.is_steady() {
            continue;
        }
        if rounds.may_be_chance() {
            let (way, seconds) = (series.way.name(), rounds.seconds);
            let why = format!("{way}s scatter too much for rounds of {seconds} s to tell");
            unknown.get_or_insert(why);
            continue;
        }
        return Ok(Some(Finding {
            words: rounds.words(&series),
            remedy: match fall(&series.rates) {
                Some(fall) => after_fall(seconds, &series, fall, kind).into(),
                None => remedy(kind).into(),
            },
        }));
    }
    unknown.map_or(Ok(None), Err)
}

fn remedy(kind: RunKind) -> &'static str {
    match kind {
        RunKind::Run | RunKind::Serve => {
            "the figures are those of a change from one state to another: warm up longer (`warmup`; in fio's words `ramp_time`), \
             measure longer, and look for other load on the device"
        }
        RunKind::Predict => {
            "the figures are those of a change from one state to another: warm up longer (`warmup`; in fio's words `ramp_time`), \
             or begin with it (`cache = \"warm\"`, `credits = \"empty\"` in the design)"
        }
    }
}

/// What to do where the rate fell once and stayed low.
fn after_fall(seconds: &Seconds<'_>, series: &Series, fall: Fall, kind: RunKind) -> String {
    let at = seconds.end_of_first(fall.first);
    let (before, after) = (
        series.unit.words(fall.before),
        series.unit.words(fall.after),
    );
    let fell = format!(
        "{}s fell by {:.0} % after {at}, from {before} before to {after} from then on, as where a cache filled up or burst credits \
         ran out",
        series.way.name(),
        fall.percent()
    );
    let what = match kind {
        RunKind::Run | RunKind::Serve => format!(
            "for the state behind it fill the storage first (write it once in full), or warm up for {at} and more (`warmup`; in \
             fio's words `ramp_time`), and measure longer"
        ),
        RunKind::Predict => format!(
            "predict the state behind it with a warm-up of {at} and more (`warmup`; in fio's words `ramp_time`), or begin with it \
             (`cache = \"warm\"`, `credits = \"empty\"` in the design)"
        ),
    };
    format!("{fell}: {what}")
}

/// Five equal parts of the seconds; what cannot be shared out is left out of the first.
struct Rounds {
    /// Of a round.
    seconds: usize,
    means: Vec<f64>,
    mean: f64,
    range: f64,
    /// From the first round to the last on the least-squares line.
    drift: f64,
    /// Standard error of a round's mean: as the scatter within the rounds has it, or the dependence of the seconds on each other,
    /// whichever is more. The one knows seconds that stand still, the other waves longer than a round.
    error: f64,
}

impl Rounds {
    fn of(rates: &[f64]) -> Option<Self> {
        let seconds = rates.len() / ROUNDS;
        if seconds < LEAST_ROUND {
            return None;
        }
        let rates = &rates[rates.len() % ROUNDS..];
        let rounds = || rates.chunks_exact(seconds);
        let means: Vec<f64> = rounds().filter_map(mean).collect();
        let squares = |(round, mean): (&[f64], &f64)| -> f64 {
            round.iter().map(|rate| (rate - mean).powi(2)).sum()
        };
        let scatter: f64 = rounds().zip(&means).map(squares).sum();
        let freedom = (ROUNDS * (seconds - 1)) as f64;
        let of_scatter = (scatter / freedom / seconds as f64).sqrt();
        let dependence = Dependence::of(rates, MOST_ALIKE)?;
        let most = means.iter().copied().fold(f64::MIN, f64::max);
        let least = means.iter().copied().fold(f64::MAX, f64::min);
        Some(Self {
            seconds,
            mean: mean(&means)?,
            range: most - least,
            drift: slope(&means)? * (ROUNDS - 1) as f64,
            error: of_scatter.max(dependence.error_of_mean(seconds)),
            means,
        })
    }

    fn ranges(&self) -> bool {
        self.range > self.mean * MOST_RANGE
    }

    fn drifts(&self) -> bool {
        self.drift.abs() > self.mean * MOST_DRIFT
    }

    fn is_steady(&self) -> bool {
        !self.ranges() && !self.drifts()
    }

    fn may_be_chance(&self) -> bool {
        let ranges = self.ranges() && self.range > self.error * CHANCE_RANGE;
        let drifts = self.drifts() && self.drift.abs() > self.error * CHANCE_DRIFT;
        !ranges && !drifts
    }

    fn words(&self, series: &Series) -> String {
        let (way, seconds) = (series.way.name(), self.seconds);
        let rate = |rate: f64| series.unit.words(rate);
        let ends = self.means.first().copied().zip(self.means.last().copied());
        let (first, last) = ends.unwrap_or_default();
        let went = if self.drifts() {
            let went = if self.drift < 0.0 { "fell" } else { "rose" };
            format!("{went} from {} to {}", rate(first), rate(last))
        } else {
            let least = self.means.iter().copied().fold(f64::MAX, f64::min);
            format!(
                "went between {} and {}",
                rate(least),
                rate(least + self.range)
            )
        };
        let (range, drift) = (
            self.range / self.mean * 100.0,
            self.drift.abs() / self.mean * 100.0,
        );
        format!(
            "{way}s {went} over five rounds of {seconds} s: range {range:.0} % of the mean (steady: 20), drift {drift:.0} % (steady: 10)"
        )
    }
}

/// What became of criteria that jobs of the stage have themselves; `None` where none has any.
fn own_criterion(evidence: &Evidence<'_>, result: &StageResult) -> Option<Result<(), Finding>> {
    let of_stage = jobs(evidence).filter(|(of, ..)| std::ptr::eq(*of, result));
    let judged = of_stage.filter_map(|(_, job, workers)| {
        let outcome = workers.iter().find_map(|worker| worker.steady.as_deref())?;
        Some((job, outcome))
    });
    let judged: Vec<_> = judged.collect();
    if judged.is_empty() {
        return None;
    }
    let missed = judged.iter().find(|(_, outcome)| !outcome.attained);
    Some(missed.map_or(Ok(()), |(job, outcome)| {
        Err(Finding {
            words: format!("{} was not steady by its end{}", job.name, why(job, outcome)),
            remedy: "measure longer, or ask for less steadiness: the figures are those of storage on its way to a steady state".into(),
        })
    }))
}

fn why(job: &Job, outcome: &SteadyOutcome) -> String {
    let Some(rules) = job.features.steady else {
        return String::new();
    };
    // Nothing was judged before the window was full.
    if outcome.criterion == 0.0 {
        return format!(", which came before the {} of its window", rules.window);
    }
    let metric = match rules.metric {
        SteadyMetric::Iops => "IOPS",
        SteadyMetric::Bandwidth => "throughput",
        SteadyMetric::Latency => "mean latency",
    };
    let what = match rules.judgement {
        SteadyJudgement::Deviation => "deviation",
        SteadyJudgement::Slope => "slope",
    };
    let (found, limit, unit) = match rules.limit {
        SteadyLimit::Percent(limit) => (outcome.criterion.abs(), limit, " %"),
        SteadyLimit::Absolute(limit) => (outcome.criterion.abs(), limit, ""),
    };
    format!(": {what} of {metric} {found:.1}{unit}, less than {limit}{unit} asked for")
}

#[cfg(test)]
mod tests {
    use super::super::chance::Chance;
    use super::super::cliff::levels;
    use super::*;

    /// What becomes of rounds of these rates: steady, unknown, or not.
    #[track_caller]
    fn check(rates: &[f64], expected: &str) {
        let rounds = Rounds::of(rates).expect("long enough");
        let found = match (rounds.is_steady(), rounds.may_be_chance()) {
            (true, _) => "steady",
            (false, true) => "unknown",
            (false, false) => "unsteady",
        };
        let Rounds {
            range,
            drift,
            error,
            ..
        } = rounds;
        assert_eq!(
            found, expected,
            "range {range}, drift {drift}, error {error}"
        );
    }

    /// A minute of rates that `rough` raises and lowers in turn.
    fn minute(rough: f64, rate: impl Fn(f64) -> f64) -> Vec<f64> {
        let roughen = |second: u32| {
            if second.is_multiple_of(2) {
                1.0 + rough
            } else {
                1.0 - rough
            }
        };
        (0..60)
            .map(|second| rate(f64::from(second) / 60.0) * roughen(second))
            .collect()
    }

    #[test]
    fn five_rounds_tell_a_state_from_a_change() {
        check(&minute(0.0, |_| 100.0), "steady");
        check(&minute(0.5, |_| 100.0), "steady");
        check(&minute(0.05, |at| 100.0 - 8.0 * at), "steady");
        check(&minute(0.05, |at| 100.0 - 15.0 * at), "unsteady");
        check(&minute(0.05, |at| 100.0 + 30.0 * at), "unsteady");
        // One round a third below the others.
        let dip = |at: f64| {
            if (0.4..0.6).contains(&at) {
                65.0
            } else {
                100.0
            }
        };
        check(&minute(0.05, dip), "unsteady");
        // Seconds so rough that a drift as small may be chance.
        check(&minute(0.6, |at| 100.0 - 15.0 * at), "unknown");
        check(&[0.0; 60], "steady");
    }

    /// Rates of 100, in the third of five rounds of 12 s so much higher, and each second above or below that by a share.
    fn hump(higher: f64, rough: f64) -> Vec<f64> {
        let is_third = |at: f64| (0.4..0.6).contains(&at);
        minute(
            rough,
            |at| if is_third(at) { 100.0 + higher } else { 100.0 },
        )
    }

    #[test]
    fn the_bounds_are_where_they_are_said_to_be() {
        // 19.2 % of a mean of 104, and 21.1 % of one of 104.4, without any drift.
        check(&hump(20.0, 0.0), "steady");
        check(&hump(22.0, 0.0), "unsteady");
        // 9.7 % and 10.6 % of drift between the middles of the first and the last round.
        check(&minute(0.0, |at| 106.0 - 12.0 * at), "steady");
        check(&minute(0.0, |at| 107.0 - 13.2 * at), "unsteady");
        // Some ten standard errors, and five.
        check(&hump(30.0, 0.1), "unsteady");
        check(&hump(30.0, 0.2), "unknown");
    }

    #[test]
    fn a_standard_error_is_that_of_seconds_within_rounds() {
        // 60 squares of 10, over 55 degrees of freedom and 12 seconds.
        let error = Rounds::of(&minute(0.1, |_| 100.0)).map(|rounds| rounds.error);
        let expected = (60.0 * 100.0 / 55.0 / 12.0_f64).sqrt();
        assert!(
            error.is_some_and(|error| (error - expected).abs() < 1e-9),
            "{error:?}"
        );
    }

    #[test]
    fn what_makes_no_whole_round_is_left_out_at_the_start() {
        let start = [vec![900.0; 4], vec![100.0; 30]].concat();
        check(&start, "steady");
        assert_eq!(Rounds::of(&start).map(|rounds| rounds.error), Some(0.0));
    }

    #[test]
    fn rounds_are_of_six_seconds_or_more() {
        assert!(Rounds::of(&[1.0; 29]).is_none());
        assert_eq!(Rounds::of(&[1.0; 34]).map(|rounds| rounds.seconds), Some(6));
    }

    /// Percent of 1,000 runs of such seconds that are told to be unsteady.
    fn told(count: usize, of: (f64, f64), course: impl Fn(f64) -> f64) -> f64 {
        let mut chance = Chance(7);
        let runs = (0..1000).filter(|_| {
            let seconds = chance.seconds(count, of, &course);
            Rounds::of(&seconds).is_some_and(|it| !it.is_steady() && !it.may_be_chance())
        });
        runs.count() as f64 / 10.0
    }

    #[test]
    fn seconds_that_depend_on_each_other_are_no_change() {
        for count in [30, 34, 60, 120, 300] {
            for scatter in [0.05, 0.1, 0.2, 0.4] {
                for alike in [0.0, 0.2, 0.4, 0.5, 0.6, 0.7, 0.8] {
                    let percent = told(count, (scatter, alike), |_| 1000.0);
                    let most = if alike == 0.0 { 0.1 } else { 5.0 };
                    assert!(
                        percent <= most,
                        "{percent} % of {count} s, scatter {scatter}, correlation {alike}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_trend_is_told_from_seconds_that_depend_on_each_other() {
        // Up to 9 % in all are within the bounds.
        let falls = |share: f64| move |at: f64| 1000.0 * (1.0 + share * (0.5 - at));
        let wave = |at: f64| 1000.0 * (1.0 + 0.2 * (at * std::f64::consts::TAU).sin());
        for alike in [0.0, 0.4, 0.8] {
            let least = |percent: f64, least: f64| {
                assert!(percent >= least, "{percent} % at a correlation of {alike}");
            };
            least(told(60, (0.02, alike), falls(0.2)), 98.0);
            least(told(120, (0.02, alike), falls(0.2)), 99.0);
            least(told(300, (0.05, alike), falls(0.2)), 95.0);
            least(told(30, (0.02, alike), falls(0.4)), 98.0);
            least(told(60, (0.05, alike), falls(0.4)), 85.0);
            least(told(60, (0.02, alike), wave), 98.0);
            least(told(60, (0.0, alike), falls(0.2)), 100.0);
            least(-told(60, (0.001, alike), falls(0.09)), 0.0);
        }
    }

    /// Of 1,000 runs of such seconds in how many a fall is named, by `cache-cliff` or by the remedy of `steady-state`, and in
    /// how many one of the two tells anything.
    fn named(count: usize, of: (f64, f64), course: impl Fn(f64) -> f64) -> (f64, f64) {
        let mut chance = Chance(7);
        let (mut named, mut told) = (0.0, 0.0);
        for _ in 0..1000 {
            let seconds = chance.seconds(count, of, &course);
            let rounds = Rounds::of(&seconds);
            let is_told = rounds.is_some_and(|it| !it.is_steady() && !it.may_be_chance());
            let is_cliff = levels(&seconds).is_some();
            told += f64::from(u8::from(is_told || is_cliff));
            named += f64::from(u8::from(is_cliff || (is_told && fall(&seconds).is_some())));
        }
        (named, told)
    }

    #[test]
    fn falls_are_named_and_drifts_and_noise_are_not() {
        for (count, least) in [(60, 0.93), (120, 0.97), (300, 0.99)] {
            for scatter in [0.05, 0.1, 0.15] {
                for (by, at) in [
                    (0.4, 0.25),
                    (0.4, 0.4),
                    (0.4, 0.55),
                    (0.4, 0.7),
                    (0.5, 0.4),
                    (0.5, 0.6),
                ] {
                    let step = |place: f64| {
                        if place < at {
                            1000.0
                        } else {
                            1000.0 * (1.0 - by)
                        }
                    };
                    let (named, told) = named(count, (scatter, 0.0), step);
                    assert!(
                        told > 800.0 && named > told * least,
                        "{named} of {told}, {count} s at {scatter}, a fall by {by} at {at}"
                    );
                }
                for by in [0.0, 0.1, 0.2, 0.4, 0.6, 0.9] {
                    let drift = |place: f64| 1000.0 * (1.0 + by * (0.5 - place));
                    let (named, _) = named(count, (scatter, 0.0), drift);
                    assert!(
                        named <= 10.0,
                        "{named} of 1,000, {count} s at {scatter}, a drift by {by}"
                    );
                }
            }
        }
    }
}
