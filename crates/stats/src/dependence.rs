//! How much equally spaced values that follow one another depend on each other, and what that leaves a mean of them to chance.
//!
//! Values that each keep a part `lag1` of what the one before was above or below the mean (an autoregressive process of the
//! first order) go up and down in waves, and a mean over few of them says less than the same number of independent ones would.
//! Both are estimated from differences of neighbours, since a level that changes slowly, or a few times, is hardly in those.

use std::f64::consts::FRAC_PI_2;

/// A series whose values depend on the one before.
///
/// ```
/// use fathom_stats::Dependence;
/// let alone = Dependence { deviation: 10.0, lag1: 0.0 };
/// assert_eq!(alone.error_of_mean(4), 5.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dependence {
    /// Standard deviation of the values, in their unit.
    pub deviation: f64,
    /// Correlation of a value with the one before, from -1 to under 1.
    pub lag1: f64,
}

impl Dependence {
    /// Estimates it from the mean distance of neighbours and of those that are two apart; `None` with fewer than three values.
    ///
    /// Of normal values with the standard deviation s the differences of those k apart have the variance 2 s² (1 − ρᵏ), and their
    /// mean distance is the root of 2/π of them; so (distance₂ ÷ distance₁)² − 1 is ρ. A step moves a mean distance by its height
    /// over the number of values, and the mean square difference (J. von Neumann, "Distribution of the ratio of the mean square
    /// successive difference to the variance", Annals of Mathematical Statistics 12, 1941) by the square of it.
    ///
    /// A correlation above `most` is taken as that, which is to be under 1: values that are more alike are on their way somewhere.
    pub fn of(values: &[f64], most: f64) -> Option<Self> {
        let (one, two) = (distance(values, 1)?, distance(values, 2)?);
        let variance_of_one = one * one * FRAC_PI_2;
        let lag1 = if one > 0.0 {
            ((two / one).powi(2) - 1.0).clamp(-1.0, most)
        } else {
            0.0
        };
        Some(Self {
            deviation: (variance_of_one / (2.0 * (1.0 - lag1))).sqrt(),
            lag1,
        })
    }

    /// Standard error of the mean of `count` values that follow one another, in their unit: s²/m (1 + 2 Σ (1 − k/m) ρᵏ), k from 1
    /// to m − 1, is its square (G. V. Bayley and J. M. Hammersley, "The 'effective' number of independent observations in an
    /// autocorrelated time series", Supplement to the Journal of the Royal Statistical Society 8, 1946).
    pub fn error_of_mean(self, count: usize) -> f64 {
        let all = count.max(1) as f64;
        let (mut sum, mut power) = (0.0, 1.0);
        for apart in 1..count {
            power *= self.lag1;
            sum += (1.0 - apart as f64 / all) * power;
        }
        self.deviation * ((1.0 + 2.0 * sum).max(0.0) / all).sqrt()
    }
}

/// Mean distance of values that are so many places apart; `None` without any.
fn distance(values: &[f64], apart: usize) -> Option<f64> {
    let pairs = values.len().checked_sub(apart).filter(|pairs| *pairs > 0)?;
    let distances = values.iter().zip(&values[apart..]);
    let sum: f64 = distances.map(|(one, other)| (other - one).abs()).sum();
    Some(sum / pairs as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of a mean of 100 and a standard deviation of 10, nearly normal (sums of twelve numbers of a `SplitMix64` sequence).
    fn series(count: u64, lag1: f64) -> Vec<f64> {
        let uniform = |at: u64| {
            let mut z = at.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
        };
        let normal = |at: u64| (1..=12).map(|part| uniform(12 * at + part)).sum::<f64>() - 6.0;
        let mut state = normal(count + 1);
        let values = (0..count).map(|at| {
            state = lag1 * state + (1.0 - lag1 * lag1).sqrt() * normal(at);
            100.0 + 10.0 * state
        });
        values.collect()
    }

    #[test]
    fn both_are_those_that_the_values_were_drawn_with() {
        for lag1 in [0.0, 0.3, 0.6, 0.8] {
            let found = Dependence::of(&series(100_000, lag1), 0.95).unwrap();
            assert!((found.lag1 - lag1).abs() < 0.02, "{lag1}: {found:?}");
            assert!((found.deviation - 10.0).abs() < 0.5, "{lag1}: {found:?}");
        }
    }

    #[test]
    fn the_error_of_a_mean_is_how_far_means_scatter() {
        for lag1 in [0.0, 0.5, 0.8] {
            let values = series(120_000, lag1);
            let means = values.chunks_exact(12);
            let squares = means.map(|part| (part.iter().sum::<f64>() / 12.0 - 100.0).powi(2));
            let scatter = (squares.sum::<f64>() / 10_000.0).sqrt();
            let deviation = 10.0;
            let error = Dependence { deviation, lag1 }.error_of_mean(12);
            assert!((error / scatter - 1.0).abs() < 0.03, "{error} {scatter}");
        }
    }

    #[test]
    fn what_changes_once_depends_hardly() {
        let mut values = series(60, 0.0);
        let before = Dependence::of(&values, 0.8).unwrap();
        values[30..].iter_mut().for_each(|value| *value -= 30.0);
        let after = Dependence::of(&values, 0.8).unwrap();
        assert!(after.deviation < before.deviation * 1.15, "{after:?}");
        assert!(after.lag1 < before.lag1 + 0.15, "{after:?}");
    }

    #[test]
    fn the_correlation_stays_within_its_bounds() {
        let turns: Vec<f64> = (0..9).map(|at| f64::from(at % 2)).collect();
        let turning = Dependence::of(&turns, 0.8).unwrap();
        assert!((turning.lag1 + 1.0).abs() < 1e-9);
        assert!(turning.error_of_mean(6) < 1e-6, "ups and downs even out");
        let rises: Vec<f64> = (0..9).map(f64::from).collect();
        assert_eq!(Dependence::of(&rises, 0.8).map(|it| it.lag1), Some(0.8));
        let level = Dependence {
            deviation: 0.0,
            lag1: 0.0,
        };
        assert_eq!(Dependence::of(&[5.0; 3], 0.8), Some(level));
        assert!(level.error_of_mean(0).abs() < 1e-9);
        assert_eq!(Dependence::of(&[5.0; 2], 0.8), None);
    }
}
