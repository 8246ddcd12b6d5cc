//! Steadiness of a series of equally spaced values.
//!
//! Two judgements, as fio's `steadystate` and the SNIA Solid State Storage Performance Test Specification use them: the
//! largest distance of a value from the mean, and the slope of the least-squares line.
//!
//! ```
//! use fathom_stats::{largest_deviation, slope};
//! let values = [100.0, 102.0, 104.0, 106.0];
//! assert_eq!(slope(&values), Some(2.0));
//! assert_eq!(largest_deviation(&values), Some(3.0));
//! ```

/// Mean of the values; `None` without any.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Largest distance of a value from the mean, in the values' unit; `None` without any.
pub fn largest_deviation(values: &[f64]) -> Option<f64> {
    let mean = mean(values)?;
    let distances = values.iter().map(|value| (value - mean).abs());
    distances.reduce(f64::max)
}

/// Slope of the least-squares line through (0, first), (1, second), …, in the values' unit per value; `None` with fewer
/// than two.
pub fn slope(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let middle = (values.len() - 1) as f64 / 2.0;
    let mean = mean(values)?;
    let (mut products, mut squares) = (0.0, 0.0);
    for (index, value) in values.iter().enumerate() {
        let from_middle = index as f64 - middle;
        products += from_middle * (value - mean);
        squares += from_middle * from_middle;
    }
    Some(products / squares)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_series_has_no_slope_and_no_deviation() {
        assert_eq!(slope(&[5.0; 7]), Some(0.0));
        assert_eq!(largest_deviation(&[5.0; 7]), Some(0.0));
    }

    #[test]
    fn a_series_too_short_has_no_judgement() {
        assert_eq!((slope(&[1.0]), largest_deviation(&[])), (None, None));
    }

    #[test]
    fn a_peak_moves_the_deviation_and_not_the_slope() {
        let values = [10.0, 10.0, 40.0, 10.0, 10.0];
        assert_eq!(slope(&values), Some(0.0));
        assert_eq!(largest_deviation(&values), Some(24.0));
    }
}
