//! Figures as text, each with its unit and no wider than a column.

use fathom_units::group_digits;

/// A duration in three significant digits without a space: `20.5ms`.
pub(crate) fn short_time(ns: u64) -> String {
    fathom_units::Nanos::new(ns).to_string().replace(' ', "")
}

/// A mean duration, rounded to whole ns first.
pub(crate) fn short_mean(ns: f64) -> String {
    short_time(ns.round() as u64)
}

/// A rate in whole I/Os a second: `85,123`.
pub(crate) fn rate(per_sec: f64) -> String {
    group_digits(per_sec.round() as u64)
}

/// MiB a second: one decimal below 100.
pub(crate) fn mebibytes(bytes_per_sec: f64) -> String {
    let mebibytes = bytes_per_sec / f64::from(1u32 << 20);
    if mebibytes < 99.95 {
        format!("{mebibytes:.1}")
    } else {
        group_digits(mebibytes.round() as u64)
    }
}

/// A share as whole percents: `98 %`.
pub(crate) fn share(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_keep_their_unit() {
        assert_eq!(short_time(20_480_000), "20.5ms");
        assert_eq!(rate(49_873.4), "49,873");
        assert_eq!(mebibytes(390.0 * 1_048_576.0), "390");
        assert_eq!(mebibytes(1_048_576.0 * 5.25), "5.2");
    }
}
