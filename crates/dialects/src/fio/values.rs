//! Numbers, sizes and times as fio reads them.
//!
//! fio takes much that it then reads as something else (`4KiB` is 4,000 bytes, ` 8k` is 8 bytes, `5min` is 5 µs). Runs
//! must mean here what they mean there, so the reading is copied exactly, and each surprise is told as a [`Trap`].
//!
//! Source of the rules: behaviour of fio 3.33, and the source of 3.42.

use fathom_units::{Bytes, Nanos};

/// Why a value is not what it looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trap {
    /// `KiB` and its like mean powers of 1,000 under `kb_base=1024`.
    BinarySuffixIsDecimal,
    /// What follows the number is not understood and counts as nothing.
    UnknownSuffix,
    /// A blank before the number makes its suffix count for nothing.
    BlankBefore,
    /// What follows the decimal point counts for nothing, the suffix included.
    Fraction,
    /// A time suffix that is not understood means microseconds.
    UnknownTimeSuffix,
    /// A suffix after a hexadecimal number counts for nothing.
    HexSuffix,
    /// A number below zero loses its sign.
    BelowZero,
    /// A number of more than 32 bits loses those above.
    TooWide,
    /// Of several times, the first alone counts.
    SeveralTimes,
}

impl Trap {
    /// Why fio reads it so, and what to write.
    pub fn hint(self) -> &'static str {
        match self {
            Self::BinarySuffixIsDecimal => {
                "under kb_base=1024 fio swaps the two: `KiB` is 1,000 and `k` is 1,024; write `k`"
            }
            Self::UnknownSuffix => "fio ignores a suffix it does not know; write k, m, g, t or p",
            Self::BlankBefore => "fio loses the suffix after a blank; write no blank after `=`",
            Self::Fraction => "fio reads whole numbers only; write a smaller unit",
            Self::UnknownTimeSuffix => {
                "fio takes an unknown time suffix as microseconds; write d, h, m, s, ms or us"
            }
            Self::HexSuffix => "fio ignores a suffix after a hexadecimal number",
            Self::BelowZero => "fio keeps no sign here; write a number of 0 or more",
            Self::TooWide => "fio keeps 32 bits here; write a number below 4,294,967,296",
            Self::SeveralTimes => {
                "fio takes what stands before the first `,`, `:` or `-` alone; write one time, such as `90s`"
            }
        }
    }
}

/// A number with what its suffix made of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Number {
    /// The value; bytes for sizes, microseconds for times.
    pub value: i128,
    /// Whether it stands for a percentage.
    pub percent: bool,
    /// The surprise in it, if any.
    pub trap: Option<Trap>,
}

/// Reads a number with an optional size suffix. `kb_base` is 1024 or 1000. `None`: fio refuses it.
pub fn number(text: &str, kb_base: u64) -> Option<Number> {
    let base = integer(text)?;
    let unit = unit_of(text, SignRule::BeforeDigits);
    let (factor, percent, known) = size_factor(unit, kb_base);
    let trap = if is_hex(text) {
        (unit.len() > 1 && size_factor(unit.trim_start_matches(HEX), kb_base).0 > 1)
            .then_some(Trap::HexSuffix)
    } else if known == SuffixKnown::No {
        trap_of_tail(text, unit)
    } else if known == SuffixKnown::Swapped {
        Some(Trap::BinarySuffixIsDecimal)
    } else {
        None
    };
    Some(Number {
        value: base.checked_mul(i128::from(factor))?,
        percent,
        trap,
    })
}

/// What a bare number of a time means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BareTime {
    /// Seconds.
    Seconds,
    /// Microseconds.
    Micros,
}

/// Reads a time into microseconds. `None`: fio refuses it.
pub fn time(text: &str, bare: BareTime) -> Option<Number> {
    let base = integer(text)?;
    let unit = unit_of(text, SignRule::Anywhere);
    let bare_factor = match bare {
        BareTime::Seconds => 1_000_000,
        BareTime::Micros => 1,
    };
    let lower = unit.to_ascii_lowercase();
    let (factor, trap) = match lower.as_str() {
        "" => (bare_factor, None),
        "s" => (1_000_000, None),
        "m" => (60_000_000, None),
        "h" => (3_600_000_000, None),
        "d" => (86_400_000_000, None),
        "us" | "usec" => (1, None),
        "ms" | "msec" => (1_000, None),
        other if other.starts_with("us") => (1, Some(Trap::UnknownTimeSuffix)),
        other if other.starts_with("ms") => (1_000, Some(Trap::UnknownSuffix)),
        other if other.starts_with(|c: char| c.is_ascii_alphabetic()) => {
            (1, Some(Trap::UnknownTimeSuffix))
        }
        _ => (bare_factor, trap_of_tail(text, unit)),
    };
    let value = base.checked_mul(factor)?;
    Some(Number {
        value,
        percent: false,
        trap,
    })
}

/// Reads `0`, `1` or another whole number the way fio reads switches: what follows the digits counts for nothing. As with
/// other numbers `0x` makes it hexadecimal.
pub fn switch(text: &str) -> Option<i64> {
    if is_hex(text) {
        return i64::try_from(integer(text)?).ok();
    }
    let trimmed = text.trim_start();
    let digits: String = trimmed
        .strip_prefix(['+', '-'])
        .unwrap_or(trimmed)
        .chars()
        .take_while(char::is_ascii_digit)
        .collect();
    let value: i64 = digits.parse().ok()?;
    Some(if trimmed.starts_with('-') {
        -value
    } else {
        value
    })
}

/// Most parts that are told apart.
const PARTS_MAX: usize = 4;

/// Splits a value into its parts for reads, writes and trims: by `,`, else by `:`, else by `-`.
///
/// A trailing comma ends the list, and the part after it keeps its default.
pub fn parts(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text;
    loop {
        let cut = rest.find(',').or_else(|| rest.find(':')).or_else(|| {
            let first = usize::from(rest.starts_with('-'));
            rest[first..].find('-').map(|index| index + first)
        });
        // Each cut looks through all that follows; no more than three parts mean anything.
        let Some(cut) = cut.filter(|_| parts.len() < PARTS_MAX) else {
            parts.push(rest);
            return parts;
        };
        parts.push(&rest[..cut]);
        rest = &rest[cut + 1..];
    }
}

/// One value each for reads, writes and trims; `None` where the text leaves the one before as it was.
pub type Triple<T> = [Option<T>; 3];

/// Reads a value of up to three parts. A part that is missing at the end repeats the last one; an empty part keeps what
/// was there before. `None`: no part can be read.
pub fn triple<T: Copy>(text: &str, mut read: impl FnMut(&str) -> Option<T>) -> Option<Triple<T>> {
    let parts = parts(text);
    let mut values: Triple<T> = [None; 3];
    for (index, part) in parts.iter().take(3).enumerate() {
        values[index] = read(part);
    }
    if let Some(last) = parts.len().checked_sub(1).filter(|last| *last < 2) {
        let value = values[last];
        values[last + 1..].fill(value);
    }
    values.iter().any(Option::is_some).then_some(values)
}

/// A number of bytes, where it is one.
pub fn bytes(value: i128) -> Option<Bytes> {
    u64::try_from(value)
        .ok()
        .filter(|bytes| *bytes <= MAX_BYTES)
        .map(Bytes::new)
}

/// Microseconds as a span of time, where they are one.
pub fn span(micros: i128) -> Option<Nanos> {
    let nanos = u64::try_from(micros).ok()?.checked_mul(1_000)?;
    (nanos <= MAX_NANOS).then(|| Nanos::new(nanos))
}

/// Largest size that is read: 2^62 bytes, so that sums of a few never overflow.
const MAX_BYTES: u64 = 1 << 62;
/// Longest time that is read: a hundred years.
const MAX_NANOS: u64 = 100 * 366 * 86_400 * 1_000_000_000;
const HEX: fn(char) -> bool = |c| c == 'x' || c == 'X' || c.is_ascii_hexdigit();

fn is_hex(text: &str) -> bool {
    text.contains("0x") || text.contains("0X")
}

/// The leading whole number: blanks, a sign, digits; hexadecimal where `0x` stands anywhere in the text.
fn integer(text: &str) -> Option<i128> {
    let trimmed = text.trim_start_matches([' ', '\t', '\n', '\r', '\x0b', '\x0c']);
    let (sign, unsigned) = match trimmed.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, trimmed.strip_prefix('+').unwrap_or(trimmed)),
    };
    let (radix, digits) = if is_hex(text) {
        (
            16,
            unsigned
                .strip_prefix("0x")
                .or(unsigned.strip_prefix("0X"))
                .unwrap_or(unsigned),
        )
    } else {
        (10, unsigned)
    };
    let end = digits
        .find(|c: char| !c.is_digit(radix))
        .unwrap_or(digits.len());
    let value = i128::from_str_radix(digits.get(..end)?, radix).ok()?;
    i64::try_from(value).ok()?;
    Some(sign * value)
}

#[derive(PartialEq, Eq, Clone, Copy)]
enum SignRule {
    BeforeDigits,
    Anywhere,
}

/// What follows the digits that stand at the very start of `text` (a blank at the start hides all of them).
fn unit_of(text: &str, signs: SignRule) -> &str {
    let mut seen = false;
    let end = text.find(|c: char| {
        let is_sign = (c == '+' || c == '-') && (signs == SignRule::Anywhere || !seen);
        seen |= c.is_ascii_digit();
        !(c.is_ascii_digit() || is_sign)
    });
    end.map_or("", |end| &text[end..])
}

#[derive(PartialEq, Eq, Clone, Copy)]
enum SuffixKnown {
    Yes,
    Swapped,
    No,
}

/// The factor of a size suffix, whether it is `%`, and whether it means what it says.
fn size_factor(unit: &str, kb_base: u64) -> (u64, bool, SuffixKnown) {
    let unit = unit
        .split([':', '-', ',', '/'])
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase();
    if unit.is_empty() || unit == "b" {
        return (1, false, SuffixKnown::Yes);
    }
    if unit.starts_with('%') {
        return (1, true, SuffixKnown::Yes);
    }
    let Some(power) = unit.chars().next().and_then(|letter| "kmgtp".find(letter)) else {
        return (1, false, SuffixKnown::No);
    };
    let power = power as u32 + 1;
    if unit.get(1..3) == Some("ib") {
        let (base, known) = if kb_base == 1000 {
            (1024u64, SuffixKnown::Yes)
        } else {
            (1000, SuffixKnown::Swapped)
        };
        return (base.pow(power), false, known);
    }
    let known = if matches!(&unit[1..], "" | "b" | "i") {
        SuffixKnown::Yes
    } else {
        SuffixKnown::No
    };
    (kb_base.pow(power), false, known)
}

fn trap_of_tail(text: &str, unit: &str) -> Option<Trap> {
    if text.starts_with(|c: char| c.is_ascii_whitespace()) {
        // The digits themselves are read; only a suffix is lost.
        let digits = text.trim_start().trim_end();
        return digits
            .contains(|c: char| !c.is_ascii_digit())
            .then_some(Trap::BlankBefore);
    }
    if unit.starts_with('.') {
        return Some(Trap::Fraction);
    }
    (!unit.trim().is_empty()).then_some(Trap::UnknownSuffix)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<(i128, Option<Trap>)>) {
        let read = number(text, 1024).map(|number| (number.value, number.trap));
        assert_eq!(read, expected, "{text:?}");
    }

    #[test]
    fn sizes_mean_what_fio_makes_of_them() {
        check("4096", Some((4096, None)));
        check("4k", Some((4096, None)));
        check("4K", Some((4096, None)));
        check("4kb", Some((4096, None)));
        check("4ki", Some((4096, None)));
        check("4B", Some((4, None)));
        check("0x1000", Some((4096, None)));
        check("30g", Some((30 << 30, None)));
        check("4KiB", Some((4000, Some(Trap::BinarySuffixIsDecimal))));
        check(
            "1GiB",
            Some((1_000_000_000, Some(Trap::BinarySuffixIsDecimal))),
        );
        check(" 8k", Some((8, Some(Trap::BlankBefore))));
        check(" 8", Some((8, None)));
        check("1 m", Some((1, Some(Trap::UnknownSuffix))));
        check("4x", Some((4, Some(Trap::UnknownSuffix))));
        check("1.5g", Some((1, Some(Trap::Fraction))));
        check("0x10k", Some((16, Some(Trap::HexSuffix))));
        check("-1", Some((-1, None)));
        for nonsense in ["", "many", "k", "99999999999999999999"] {
            check(nonsense, None);
        }
        assert_eq!(
            number("4kib", 1000).map(|n| (n.value, n.trap)),
            Some((4096, None))
        );
        assert_eq!(number("4k", 1000).map(|n| n.value), Some(4000));
        assert!(number("50%", 1024).is_some_and(|n| n.percent && n.value == 50));
    }

    #[track_caller]
    fn check_time(text: &str, expected: Option<(i128, Option<Trap>)>) {
        let read = time(text, BareTime::Seconds).map(|number| (number.value, number.trap));
        assert_eq!(read, expected, "{text:?}");
    }

    #[test]
    fn times_mean_what_fio_makes_of_them() {
        check_time("30", Some((30_000_000, None)));
        check_time("30s", Some((30_000_000, None)));
        check_time("2M", Some((120_000_000, None)));
        check_time("1h", Some((3_600_000_000, None)));
        check_time("500ms", Some((500_000, None)));
        check_time("10usec", Some((10, None)));
        check_time("1sec", Some((1, Some(Trap::UnknownTimeSuffix))));
        check_time("5min", Some((5, Some(Trap::UnknownTimeSuffix))));
        check_time("1.5h", Some((1_000_000, Some(Trap::Fraction))));
        check_time(" 5m", Some((5_000_000, Some(Trap::BlankBefore))));
        check_time("soon", None);
        assert_eq!(time("7", BareTime::Micros).map(|n| n.value), Some(7));
    }

    #[track_caller]
    fn check_triple(text: &str, expected: Option<Triple<i128>>) {
        let read = triple(text, |part| number(part, 1024).map(|number| number.value));
        assert_eq!(read, expected, "{text:?}");
    }

    #[test]
    fn parts_repeat_the_last_and_keep_what_is_empty() {
        check_triple("8k", Some([Some(8192); 3]));
        check_triple("4k,8k", Some([Some(4096), Some(8192), Some(8192)]));
        check_triple("4k,8k,1k", Some([Some(4096), Some(8192), Some(1024)]));
        check_triple("8k,", Some([Some(8192), None, None]));
        check_triple(",8k", Some([None, Some(8192), Some(8192)]));
        check_triple("-1", Some([Some(-1); 3]));
        check_triple("x", None);
    }

    #[test]
    fn switches_take_leading_digits() {
        assert_eq!(switch("1x"), Some(1));
        assert_eq!(switch(" 0"), Some(0));
        assert_eq!(switch("0x1"), Some(1));
        assert_eq!(switch("0x10"), Some(16));
        assert_eq!(switch("maybe"), None);
        assert_eq!(switch("99999999999999999999"), None);
    }
}
