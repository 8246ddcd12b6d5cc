//! Shares of a rate and of threads, as runs on storage and runs on files divide them.

/// Of each workload its share of the rate, of 1: what `skew=` gives it in percent, or an equal part of what the others leave.
pub(super) fn of_skews(skews: impl Iterator<Item = Option<f64>> + Clone) -> Vec<f64> {
    let given: f64 = skews.clone().flatten().sum();
    let open = skews.clone().filter(Option::is_none).count();
    let rest = (100.0 - given).max(0.0) / open.max(1) as f64;
    skews.map(|skew| skew.unwrap_or(rest) / 100.0).collect()
}

/// Whole parts of a number, the first ones one larger where it does not divide.
pub(super) fn split(total: u32, parts: usize) -> impl Iterator<Item = u32> {
    let parts = (parts as u32).max(1);
    (0..parts).map(move |part| total / parts + u32::from(part < total % parts))
}

/// A rate by weights: whole numbers that add up to it, but each at least 1. What rounding takes from one it gives to the next.
pub(super) fn whole(total: u64, weights: &[f64]) -> Vec<u64> {
    let sum: f64 = weights.iter().sum();
    let (mut passed, mut given) = (0.0, 0);
    let part = |weight: &f64| {
        passed += weight;
        let until = if sum > 0.0 {
            (total as f64 * (passed / sum)).round() as u64
        } else {
            total
        };
        let own = until.saturating_sub(given);
        given = given.max(until);
        own.max(1)
    };
    weights.iter().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skews_leave_equal_parts_of_the_rest() {
        let check = |skews: &[Option<f64>], expected: &[f64]| {
            assert_eq!(of_skews(skews.iter().copied()), expected, "{skews:?}");
        };
        check(&[None, None], &[0.5, 0.5]);
        check(&[Some(75.0), None], &[0.75, 0.25]);
        check(&[Some(50.0), None, None], &[0.5, 0.25, 0.25]);
        check(&[], &[]);
    }

    #[test]
    fn whole_parts_add_up() {
        let check = |total: u64, weights: &[f64], expected: &[u64]| {
            assert_eq!(whole(total, weights), expected, "{total} {weights:?}");
        };
        check(10, &[1.0, 1.0, 1.0], &[3, 4, 3]);
        check(100, &[0.7, 0.3], &[70, 30]);
        check(1, &[1.0, 1.0], &[1, 1]);
        check(8, &[0.0, 0.0], &[8, 1]);
        assert_eq!(split(7, 3).collect::<Vec<_>>(), [3, 2, 2]);
    }
}
