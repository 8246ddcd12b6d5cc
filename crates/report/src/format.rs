//! Figures as text, each with its unit and no wider than a column.

use fathom_units::group_digits;

use crate::cells::fitted;

/// `text` so that nothing in it steers a terminal: control characters become a replacement mark, but for the ends of lines and the
/// tabs that a text of many lines has.
pub fn plain(text: &str) -> String {
    text.replace(
        |c: char| c.is_control() && c != '\n' && c != '\t',
        REPLACEMENT,
    )
}

/// A name that must stay on its line: as [`plain`], with no ends of lines and no tabs either.
pub(crate) fn on_one_line(name: &str) -> String {
    name.replace(char::is_control, REPLACEMENT)
}

const REPLACEMENT: &str = "\u{fffd}";

/// A duration in three significant digits without a space: `20.5ms`.
pub(crate) fn short_time(ns: u64) -> String {
    fathom_units::Nanos::new(ns).to_string().replace(' ', "")
}

/// A mean duration, rounded to whole ns first.
pub(crate) fn short_mean(ns: f64) -> String {
    short_time(ns.round() as u64)
}

/// A rate in I/Os a second: `85,123`; with decimals where whole ones would hide it.
pub(crate) fn rate(per_sec: f64) -> String {
    match per_sec {
        0.0 => "0".to_owned(),
        ..0.095 => format!("{per_sec:.4}"),
        ..9.95 => format!("{per_sec:.1}"),
        _ => group_digits(per_sec.round() as u64),
    }
}

/// MiB a second: one decimal below 100, more where one would hide it.
pub(crate) fn mebibytes(bytes_per_sec: f64) -> String {
    let mebibytes = bytes_per_sec / f64::from(1u32 << 20);
    match mebibytes {
        0.0 => "0".to_owned(),
        ..0.095 => format!("{mebibytes:.4}"),
        ..99.95 => format!("{mebibytes:.1}"),
        _ => group_digits(mebibytes.round() as u64),
    }
}

/// `text` on one line of at most `width` columns: what is too long loses its middle, since clones differ at the end.
pub(crate) fn shortened(text: &str, width: usize) -> String {
    fitted(&on_one_line(text), width)
}

/// A share as whole percents: `98 %`.
pub(crate) fn share(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// What orders names as people count: `disk2` before `disk10`.
pub fn natural(name: &str) -> Vec<(&str, usize, &str)> {
    let is_same = |a: &u8, b: &u8| a.is_ascii_digit() == b.is_ascii_digit();
    let mut left = name;
    let runs = name.as_bytes().chunk_by(is_same).map(|run| {
        let (run, rest) = left.split_at_checked(run.len()).unwrap_or((left, ""));
        left = rest;
        if run.starts_with(|first: char| first.is_ascii_digit()) {
            let digits = run.trim_start_matches('0');
            ("", digits.len(), digits)
        } else {
            (run, 0, "")
        }
    });
    runs.collect()
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

    #[test]
    fn small_rates_do_not_look_like_none() {
        assert_eq!(rate(1.0), "1.0");
        assert_eq!(rate(0.000_24), "0.0002");
        assert_eq!(rate(0.0), "0");
        assert_eq!(mebibytes(4096.0), "0.0039");
    }

    #[test]
    fn long_names_lose_their_middle() {
        assert_eq!(shortened("writer1 read", 22), "writer1 read");
        assert_eq!(
            shortened("a_rather_long_job_name read", 14),
            "a_rath…me read"
        );
    }

    #[test]
    fn names_are_in_the_order_of_counting() {
        let mut names = [
            "a/disk10",
            "b",
            "a/disk2/x",
            "a/disk2",
            "a",
            "a/disk1",
            "ä9",
            "ä10",
        ];
        names.sort_by(|a, b| natural(a).cmp(&natural(b)));
        let counted = [
            "a",
            "a/disk1",
            "a/disk2",
            "a/disk2/x",
            "a/disk10",
            "b",
            "ä9",
            "ä10",
        ];
        assert_eq!(names, counted);
    }
}
