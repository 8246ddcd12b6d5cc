//! Figures as fio prints them.

/// What follows a figure's prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Nothing.
    None,
    /// `B`.
    Bytes,
    /// `B/s`.
    BytesPerSecond,
    /// `bit/s`, of bytes a second.
    BitsPerSecond,
}

/// Steps between prefixes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prefixes {
    /// k, M, G in steps of 1,000.
    Decimal,
    /// Ki, Mi, Gi in steps of 1,024.
    Binary,
}

/// A whole number in at most `digits` digits, with a prefix where it needs one: `40.5MiB/s`, `10.4k`.
///
/// The rule, from fio's own figures: divide by the step until the digits suffice, then fill them up with decimals of the
/// last remainder.
pub fn figure(number: u64, digits: usize, prefixes: Prefixes, unit: Unit) -> String {
    const DECIMAL: [&str; 7] = ["", "k", "M", "G", "T", "P", "E"];
    const BINARY: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
    let (step, names) = match prefixes {
        Prefixes::Decimal => (1000, DECIMAL),
        Prefixes::Binary => (1024, BINARY),
    };
    let (number, unit) = match unit {
        Unit::None => (number, ""),
        Unit::Bytes => (number, "B"),
        Unit::BytesPerSecond => (number, "B/s"),
        Unit::BitsPerSecond => (number.saturating_mul(8), "bit/s"),
    };
    let (mut whole, mut remainder, mut power) = (number, None, 0);
    while whole.to_string().len() > digits && power + 1 < names.len() {
        remainder = Some(whole % step);
        whole /= step;
        power += 1;
    }
    let prefix = names[power];
    let Some(remainder) = remainder else {
        return format!("{whole}{prefix}{unit}");
    };
    let decimals = digits.saturating_sub(whole.to_string().len() + 1);
    if decimals == 0 {
        let rounded = whole + u64::from(remainder >= step / 2);
        return format!("{rounded}{prefix}{unit}");
    }
    let share = format!("{:.decimals$}", remainder as f64 / step as f64);
    let whole = whole + u64::from(share.starts_with('1'));
    format!("{whole}.{}{prefix}{unit}", &share[2..])
}

/// `Fri Nov 20 18:57:23 2026`, in UTC, from seconds since the epoch.
///
/// Civil date from a day count: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms" (2013).
pub fn wall_clock(unix_seconds: u64) -> String {
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let (days, second) = (unix_seconds / 86_400, unix_seconds % 86_400);
    // Days since 1 March of year 0, so that the leap day ends a year.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let year = year_of_era + era * 400 + u64::from(month >= 10);
    format!(
        "{} {} {day:>2} {:02}:{:02}:{:02} {year}",
        DAYS[(days % 7) as usize],
        MONTHS[((month + 2) % 12) as usize],
        second / 3600,
        second / 60 % 60,
        second % 60
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(number: u64, prefixes: Prefixes, unit: Unit, expected: &str) {
        assert_eq!(figure(number, 4, prefixes, unit), expected);
    }

    #[test]
    fn figures_are_cut_as_fio_cuts_them() {
        check(512, Prefixes::Binary, Unit::Bytes, "512B");
        check(4096, Prefixes::Binary, Unit::Bytes, "4096B");
        check(65_536, Prefixes::Binary, Unit::Bytes, "64.0KiB");
        check(1 << 20, Prefixes::Binary, Unit::Bytes, "1024KiB");
        check(1 << 20, Prefixes::Decimal, Unit::Bytes, "1049kB");
        check(
            500 << 20,
            Prefixes::Binary,
            Unit::BytesPerSecond,
            "500MiB/s",
        );
        check(
            500 << 20,
            Prefixes::Decimal,
            Unit::BytesPerSecond,
            "524MB/s",
        );
        check(
            100 << 20,
            Prefixes::Binary,
            Unit::BitsPerSecond,
            "800Mibit/s",
        );
        check(
            100 << 20,
            Prefixes::Decimal,
            Unit::BitsPerSecond,
            "839Mbit/s",
        );
        check(46_800, Prefixes::Decimal, Unit::None, "46.8k");
        check(2_665_666, Prefixes::Decimal, Unit::None, "2666k");
        check(32_755_712, Prefixes::Binary, Unit::Bytes, "31.2MiB");
        check(u64::MAX, Prefixes::Binary, Unit::Bytes, "16.0EiB");
    }

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(wall_clock(1_795_201_046), "Fri Nov 20 18:57:26 2026");
        assert_eq!(wall_clock(0), "Thu Jan  1 00:00:00 1970");
        assert_eq!(wall_clock(951_782_400), "Tue Feb 29 00:00:00 2000");
    }
}
