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
    let t = T_95.get(degrees - 1).copied().unwrap_or(1.96);
    Some(Interval95 {
        mean,
        half_width: t * (variance / values.len() as f64).sqrt(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_repeats() {
        let interval = confidence_95(&[9.0, 10.0, 11.0]).unwrap();
        assert!((interval.mean - 10.0).abs() < 1e-9);
        assert!((interval.half_width - 4.303 / 3f64.sqrt()).abs() < 1e-9);
        assert_eq!(confidence_95(&[1.0]), None);
    }
}
