//! Lengths of intervals as answers write them: `PT1M`, `PT1H`, `P1D` of ISO 8601, or `0:01:00` and `1 day, 0:00:00` as older
//! command-line tools do.

use fathom_units::Nanos;

use super::document::{Metric, Point};

/// Longest interval: a year.
const MOST_SECONDS: u64 = 366 * 86_400;

/// The length that `text` tells; `None` where it is none, or none from 1 s to a year.
pub(super) fn read(text: &str) -> Option<Nanos> {
    let seconds = iso(text).or_else(|| clock(text))?;
    (1..=MOST_SECONDS)
        .contains(&seconds)
        .then(|| Nanos::from_secs(seconds))
}

/// `P1DT2H3M4S`, in seconds.
fn iso(text: &str) -> Option<u64> {
    let (date, time) = match text.strip_prefix('P')?.split_once('T') {
        Some((date, time)) => (date, time),
        None => (text.strip_prefix('P')?, ""),
    };
    let days = parts(date, &[('D', 86_400)])?;
    let rest = parts(time, &[('H', 3_600), ('M', 60), ('S', 1)])?;
    days.checked_add(rest)
}

/// Numbers with their letters, each letter once at most and in order.
fn parts(mut text: &str, units: &[(char, u64)]) -> Option<u64> {
    let mut sum = 0_u64;
    for (letter, seconds) in units {
        if let Some(end) = text.find(*letter) {
            let number: u64 = text[..end].parse().ok()?;
            sum = sum.checked_add(number.checked_mul(*seconds)?)?;
            text = &text[end + 1..];
        }
    }
    text.is_empty().then_some(sum)
}

/// `1 day, 2:03:04`, in seconds.
fn clock(text: &str) -> Option<u64> {
    let (days, time) = match text.split_once(',') {
        Some((days, time)) => (
            days.split_whitespace().next()?.parse::<u64>().ok()?,
            time.trim(),
        ),
        None => (0, text.trim()),
    };
    let mut fields = time.split(':').map(|field| field.parse::<u64>().ok());
    let (hours, minutes, seconds) = (fields.next()??, fields.next()??, fields.next()??);
    let is_clock = fields.next().is_none() && minutes < 60 && seconds < 60;
    let whole = days
        .checked_mul(24)?
        .checked_add(hours)?
        .checked_mul(3_600)?;
    is_clock.then_some(())?;
    whole.checked_add(minutes * 60 + seconds)
}

/// The smallest step between moments of any of these metrics, which is their interval where nothing tells it.
pub(super) fn finest(metrics: &[Metric]) -> Option<Nanos> {
    let series = metrics.iter().flat_map(|it| it.timeseries.iter().flatten());
    let steps = series.filter_map(|it| {
        let points: &[Point] = it.points.as_deref()?;
        let pairs = points.windows(2);
        let steps = pairs.map(|pair| pair[1].begin.abs_diff(pair[0].begin));
        steps.filter(|step| *step > 0).min()
    });
    let step = steps.min()?;
    (1..=MOST_SECONDS)
        .contains(&(step / 1_000_000_000))
        .then(|| Nanos::new(step))
}

/// As `--interval` takes it.
pub(super) fn written(length: Nanos) -> String {
    let seconds = length.get() / 1_000_000_000;
    match seconds {
        _ if seconds.is_multiple_of(86_400) => format!("P{}D", seconds / 86_400),
        _ if seconds.is_multiple_of(3_600) => format!("PT{}H", seconds / 3_600),
        _ if seconds.is_multiple_of(60) => format!("PT{}M", seconds / 60),
        _ => format!("PT{seconds}S"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, seconds: Option<u64>) {
        assert_eq!(read(text), seconds.map(Nanos::from_secs), "{text}");
    }

    #[test]
    fn lengths_are_read() {
        check("PT1M", Some(60));
        check("PT15M", Some(900));
        check("PT6H", Some(21_600));
        check("P1D", Some(86_400));
        check("P1DT1H1M1S", Some(90_061));
        check("0:01:00", Some(60));
        check("12:00:00", Some(43_200));
        check("1 day, 0:00:00", Some(86_400));
        check("2 days, 1:00:05", Some(176_405));
        for none in [
            "",
            "P",
            "PT",
            "PT0S",
            "PT-1M",
            "1M",
            "PTM",
            "PT1H1H",
            "PT1S1M",
            "FULL",
            "0:1",
            "0:61:00",
            "1:2:3:4",
            "P400D",
            "PT99999999999999999999H",
            "99999999999999999 days, 0:00:00",
        ] {
            check(none, None);
        }
    }

    #[test]
    fn lengths_are_written_as_they_are_read() {
        for text in ["PT1M", "PT90M", "PT1H", "P1D", "PT61S"] {
            assert_eq!(written(read(text).unwrap()), text);
        }
    }
}
