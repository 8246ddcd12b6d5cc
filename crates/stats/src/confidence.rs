//! Confidence intervals over repeated runs.

/// A mean and the half-width of its 95 % confidence interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval95 {
    /// Mean over the repeats.
    pub mean: f64,
    /// Half-width of the interval, in the unit of the mean.
    pub half_width: f64,
}

/// Two-sided 95 % quantiles of Student's t for 1 to 30 degrees of freedom (standard table).
const T_95: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
    2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
    2.052, 2.048, 2.045, 2.042,
];

/// Mean and 95 % confidence interval of independent repeats; `None` for fewer than two.
pub fn confidence_95(values: &[f64]) -> Option<Interval95> {
    let degrees = values.len().checked_sub(1).filter(|degrees| *degrees > 0)?;
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let variance = values
        .iter()
        .map(|value| (value - mean).powi(2))
        .sum::<f64>()
        / degrees as f64;
    Some(Interval95 {
        mean,
        half_width: student_95(degrees) * (variance / values.len() as f64).sqrt(),
    })
}

/// Two-sided 95 % quantile of Student's t for whole degrees of freedom, from 1.
pub(crate) fn student_95(degrees: usize) -> f64 {
    let listed = T_95.get(degrees.saturating_sub(1)).copied();
    listed.unwrap_or_else(|| quantile_of_many(degrees))
}

/// Student's quantile for more than 30 degrees of freedom: the normal one with the first two terms of its expansion
/// (Abramowitz and Stegun, "Handbook of Mathematical Functions", 26.7.5), exact to three decimals there.
fn quantile_of_many(degrees: usize) -> f64 {
    const Z: f64 = 1.959_964;
    let degrees = degrees as f64;
    let first = (Z.powi(3) + Z) / 4.0;
    let second = (5.0 * Z.powi(5) + 16.0 * Z.powi(3) + 3.0 * Z) / 96.0;
    Z + first / degrees + second / degrees.powi(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_repeats_follow_the_table() {
        for (degrees, expected) in [(31, 2.040), (40, 2.021), (60, 2.000), (120, 1.980)] {
            assert!((quantile_of_many(degrees) - expected).abs() < 0.000_6);
        }
    }

    #[test]
    fn three_repeats() {
        let interval = confidence_95(&[9.0, 10.0, 11.0]).unwrap();
        assert!((interval.mean - 10.0).abs() < 1e-9);
        assert!((interval.half_width - 4.303 / 3f64.sqrt()).abs() < 1e-9);
        assert_eq!(confidence_95(&[1.0]), None);
    }
}
