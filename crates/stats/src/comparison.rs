//! Whether two means differ by more than their noise.
//!
//! Welch's interval of a difference of means: B. L. Welch, "The generalization of 'Student's' problem when several different
//! population variances are involved", Biometrika 34 (1947), with the degrees of freedom of F. E. Satterthwaite, "An
//! approximate distribution of estimates of variance components", Biometrics Bulletin 2 (1946). The two may spread
//! differently and be of different number; values of one are taken to be independent of each other.
//!
//! ```
//! use fathom_stats::welch_95;
//! let difference = welch_95(&[100.0, 101.0, 99.0], &[90.0, 91.0, 89.0]).unwrap();
//! assert_eq!(difference.difference, -10.0);
//! assert!(difference.is_more_than_noise());
//! ```

use crate::confidence::student_95;

/// A difference of two means and the half-width of its 95 % confidence interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Difference95 {
    /// The second mean less the first, in the values' unit.
    pub difference: f64,
    /// Half-width of the interval, in the values' unit.
    pub half_width: f64,
    /// Degrees of freedom, by Satterthwaite; infinite where no value differs from its mean.
    pub degrees: f64,
}

impl Difference95 {
    /// Whether the interval leaves out 0.
    pub fn is_more_than_noise(&self) -> bool {
        self.difference.abs() > self.half_width
    }
}

/// The difference of the means of `second` and `first`; `None` where either has fewer than two values.
pub fn welch_95(first: &[f64], second: &[f64]) -> Option<Difference95> {
    let (first, second) = (Sample::of(first)?, Sample::of(second)?);
    let variance = first.of_mean + second.of_mean;
    let parts = [&first, &second].map(|sample| sample.of_mean.powi(2) / sample.degrees);
    let difference = second.mean - first.mean;
    if variance <= 0.0 {
        return Some(Difference95 {
            difference,
            half_width: 0.0,
            degrees: f64::INFINITY,
        });
    }
    let degrees = variance.powi(2) / (parts[0] + parts[1]);
    Some(Difference95 {
        difference,
        half_width: student_between(degrees) * variance.sqrt(),
        degrees,
    })
}

struct Sample {
    mean: f64,
    /// Variance of the mean.
    of_mean: f64,
    degrees: f64,
}

impl Sample {
    fn of(values: &[f64]) -> Option<Self> {
        let count = values.len() as f64;
        let degrees = (values.len() >= 2).then_some(count - 1.0)?;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Some(Self {
            mean,
            of_mean: squares / degrees / count,
            degrees,
        })
    }
}

/// Student's quantile for a fraction of degrees of freedom: on the chord in 1/degrees between the whole ones beside it. As a
/// function of 1/degrees the quantile is convex, so that the chord is never too narrow.
fn student_between(degrees: f64) -> f64 {
    let degrees = degrees.max(1.0);
    let below = degrees.floor();
    let (few, many) = (student_95(below as usize), student_95(below as usize + 1));
    let part = (1.0 / below - 1.0 / degrees) / (1.0 / below - 1.0 / (below + 1.0));
    few + (many - few) * part
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The data of "Student", "The probable error of a mean", Biometrika 6 (1908), with what R's documentation prints for
    /// `t.test(extra ~ group, data = sleep)`: t = −1.8608, df = 17.776, interval −3.365 to 0.205.
    #[test]
    fn students_sleep_is_as_published() {
        let first = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0];
        let second = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4];
        let found = welch_95(&first, &second).unwrap();
        assert!((found.degrees - 17.776).abs() < 0.000_5, "{found:?}");
        assert!((found.difference - 1.58).abs() < 1e-9, "{found:?}");
        assert!((found.half_width - 1.785_5).abs() < 0.001, "{found:?}");
        assert!(!found.is_more_than_noise());
        let back = welch_95(&second, &first).unwrap();
        assert!((back.difference + found.difference).abs() < 1e-12);
        assert!((back.half_width - found.half_width).abs() < 1e-12);
    }

    #[test]
    fn a_fraction_of_degrees_is_between_its_neighbours() {
        // The exact quantile of 1.5 degrees is 6.1; the chord is a little wider.
        assert!((6.1..7.2).contains(&student_between(1.5)));
        for degrees in [1.0, 2.0, 17.0, 30.0, 31.0, 1e6] {
            let whole = student_95(degrees as usize);
            assert!((student_between(degrees) - whole).abs() < 1e-9, "{degrees}");
        }
    }

    /// The least there is: means 2 and 7, whose variances are 1 and 4, with 25 / 17 degrees.
    #[test]
    fn two_values_each_are_enough() {
        let found = welch_95(&[1.0, 3.0], &[5.0, 9.0]).unwrap();
        assert!((found.difference - 5.0).abs() < 1e-12, "{found:?}");
        assert!((found.degrees - 25.0 / 17.0).abs() < 1e-12, "{found:?}");
        let half_width = student_between(25.0 / 17.0) * 5.0f64.sqrt();
        assert!((found.half_width - half_width).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn values_without_spread_differ_or_do_not() {
        let same = welch_95(&[5.0; 3], &[5.0; 4]).unwrap();
        assert!(!same.is_more_than_noise());
        let other = welch_95(&[5.0; 3], &[4.0; 4]).unwrap();
        assert!(other.is_more_than_noise() && other.half_width == 0.0);
        assert_eq!(welch_95(&[5.0], &[4.0; 4]), None);
    }
}
