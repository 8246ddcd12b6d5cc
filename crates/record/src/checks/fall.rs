//! Whether a rate that is not steady fell once and stayed low, in seconds that scatter too much for `cache-cliff` to tell two
//! levels: what to do about a cache that filled up is another thing than what to do about a drift.
//!
//! A fall is told from a drift, and from a rate that goes up and down, by what each leaves of the squares: one step has to leave
//! less than the best curve of the third degree, which follows a straight line, a wave and a slow decline, and no step.

use fathom_stats::Dependence;

use super::cliff::{Split, split};

/// How far the rate falls at least.
const LEAST_FALL: f64 = 0.2;
/// How much of the variance of the seconds the two levels explain at least: a pause that ends has less.
const LEAST_EXPLAINED: f64 = 0.5;
/// By how many of its own variances of a second the step leaves less than the curve. Drifts of independent seconds are taken for
/// falls in less than one of a hundred runs, whatever their scatter; those that depend on the second before by 0.8 in up to
/// seven.
const LEAST_BETTER: f64 = 3.5;
/// Of fewer seconds a drift looks like a fall too often.
const LEAST_SECONDS: usize = 60;
/// As much may seconds be alike.
const MOST_ALIKE: f64 = 0.8;
/// Degree of the curve.
const DEGREE: usize = 3;

/// A rate that fell and stayed low.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Fall {
    /// Seconds before it.
    pub(super) first: usize,
    pub(super) before: f64,
    pub(super) after: f64,
}

impl Fall {
    /// In percent of the rate before it.
    pub(super) fn percent(self) -> f64 {
        (1.0 - self.after / self.before) * 100.0
    }
}

/// The fall of rates of one second after another, where there is one.
pub(super) fn fall(rates: &[f64]) -> Option<Fall> {
    if rates.len() < LEAST_SECONDS {
        return None;
    }
    let Split {
        first,
        before,
        after,
        explained,
        all,
    } = split(rates)?;
    if all <= 0.0 || after > before * (1.0 - LEAST_FALL) || explained < all * LEAST_EXPLAINED {
        return None;
    }
    let of_step = (all - explained).max(all * 1e-12);
    let of_curve = (all - explained_by_curve(rates)).max(0.0);
    let alike = Dependence::of(rates, MOST_ALIKE)?.lag1.max(0.0);
    // So many seconds that do not depend on each other tell as much.
    let seconds = rates.len() as f64 * (1.0 - alike) / (1.0 + alike);
    let better = (of_curve / of_step - 1.0) * seconds;
    (better > LEAST_BETTER).then_some(Fall {
        first,
        before,
        after,
    })
}

/// Sum of squares that the best polynomial of [`DEGREE`] explains, beside the mean: by polynomials that are orthogonal over the
/// seconds (Gram and Schmidt), each of which explains its own part.
fn explained_by_curve(rates: &[f64]) -> f64 {
    let half = (rates.len().max(2) - 1) as f64 / 2.0;
    let places: Vec<f64> = (0..rates.len())
        .map(|second| second as f64 / half - 1.0)
        .collect();
    let dot = |one: &[f64], other: &[f64]| -> f64 {
        one.iter().zip(other).map(|(one, other)| one * other).sum()
    };
    let mut basis: Vec<Vec<f64>> = vec![vec![1.0; rates.len()]];
    let mut explained = 0.0;
    for _ in 0..DEGREE {
        // The one before times its place is of the next degree, and far from the others.
        let last = basis.last().into_iter().flatten();
        let mut next: Vec<f64> = last
            .zip(&places)
            .map(|(value, place)| value * place)
            .collect();
        for known in &basis {
            let share = dot(&next, known) / dot(known, known);
            for (value, known) in next.iter_mut().zip(known) {
                *value -= share * known;
            }
        }
        let length = dot(&next, &next);
        if length <= f64::EPSILON {
            break;
        }
        explained += dot(rates, &next).powi(2) / length;
        basis.push(next);
    }
    explained
}

#[cfg(test)]
mod tests {
    use super::super::chance::Chance;
    use super::*;

    fn course(rate: impl Fn(f64) -> f64) -> Vec<f64> {
        (0..60)
            .map(|second| rate(f64::from(second) / 59.0))
            .collect()
    }

    #[track_caller]
    fn check(rate: impl Fn(f64) -> f64, expected: Option<usize>) {
        let found = fall(&course(rate));
        assert_eq!(found.map(|fall| fall.first), expected, "{found:?}");
    }

    fn step(at: f64, by: f64) -> impl Fn(f64) -> f64 {
        move |place| {
            if place < at {
                1000.0
            } else {
                1000.0 * (1.0 - by)
            }
        }
    }

    #[test]
    fn one_fall_is_told_from_other_courses() {
        check(step(0.4, 0.4), Some(24));
        check(step(0.4, 0.21), Some(24));
        check(step(0.4, 0.19), None);
        // It rises, drifts, declines, waves, pauses, stands still, or is nothing.
        check(step(0.4, -0.5), None);
        check(|at| 1000.0 * (1.0 - 0.9 * at), None);
        check(|at| 1000.0 * (1.0 - at).powi(2), None);
        check(
            |at| 1000.0 + 300.0 * (at * std::f64::consts::TAU).sin(),
            None,
        );
        check(
            |at| {
                if (0.4..0.6).contains(&at) {
                    100.0
                } else {
                    1000.0
                }
            },
            None,
        );
        check(|_| 1000.0, None);
        check(|_| 0.0, None);
        assert_eq!(fall(&[]), None);
        let long = [vec![1000.0; 24], vec![500.0; 36]].concat();
        assert!(fall(&long).is_some() && fall(&long[..59]).is_none());
        let found = fall(&course(step(0.5, 0.4))).map(Fall::percent);
        assert!(
            found.is_some_and(|percent| (percent - 40.0).abs() < 1e-9),
            "{found:?}"
        );
    }

    /// A polynomial of the third degree is explained in full, a step by a part.
    #[test]
    fn a_curve_follows_what_it_is_said_to() {
        let share = |rates: &[f64]| {
            let mean = rates.iter().sum::<f64>() / rates.len() as f64;
            let all: f64 = rates.iter().map(|rate| (rate - mean).powi(2)).sum();
            explained_by_curve(rates) / all
        };
        let cubic = share(&course(|at| {
            5.0 - 3.0 * at + 7.0 * at.powi(2) - 20.0 * at.powi(3)
        }));
        assert!((cubic - 1.0).abs() < 1e-9, "{cubic}");
        let half = share(&course(step(0.5, 0.5)));
        assert!((0.80..0.88).contains(&half), "{half}");
    }

    /// Percent of 1,000 runs of such seconds in which a fall is told.
    fn told(count: usize, of: (f64, f64), rate: impl Fn(f64) -> f64) -> f64 {
        let mut chance = Chance(7);
        let runs = (0..1000).filter(|_| fall(&chance.seconds(count, of, &rate)).is_some());
        runs.count() as f64 / 10.0
    }

    #[test]
    fn falls_are_told_in_rough_seconds() {
        for (count, least) in [(60, 88.0), (120, 98.0), (300, 99.0)] {
            for scatter in [0.05, 0.1, 0.15] {
                for by in [0.4, 0.5] {
                    for at in [0.25, 0.4, 0.55, 0.7] {
                        let percent = told(count, (scatter, 0.0), step(at, by));
                        assert!(
                            percent >= least,
                            "{percent} % of {count} s at {scatter}, a fall by {by} at {at}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn drifts_and_noise_are_no_falls() {
        for count in [60, 120, 300] {
            for scatter in [0.02, 0.05, 0.1, 0.15] {
                for (alike, most) in [(0.0, 1.0), (0.4, 4.0), (0.8, 7.0)] {
                    for by in [0.0, 0.2, 0.3, 0.6, 0.9] {
                        let drift = |at: f64| 1000.0 * (1.0 + by * (0.5 - at));
                        let percent = told(count, (scatter, alike), drift);
                        assert!(
                            percent <= most,
                            "{percent} % of {count} s at {scatter}, correlation {alike}, a drift by {by}"
                        );
                    }
                }
            }
        }
    }
}
