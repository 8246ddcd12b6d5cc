//! Decimal numbers with a unit after them, read exactly.
//!
//! Everything is done in integers: `"1.5ms"` is 15 tenths of a millisecond, so no rounding of binary fractions can
//! change a size by a byte.

/// Why a text is not a quantity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseUnitError {
    /// The text as given.
    pub text: String,
    /// What was wrong, and what would have been right.
    pub reason: String,
}

impl ParseUnitError {
    /// Whether it is a quantity of the right form, past what can be counted.
    pub fn is_too_large(&self) -> bool {
        self.reason.starts_with(TOO_LARGE)
    }
}

impl std::fmt::Display for ParseUnitError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}` {}", self.text, self.reason)
    }
}

impl std::error::Error for ParseUnitError {}

/// How the reason begins where a number is past what can be counted; what the most is follows.
const TOO_LARGE: &str = "is too large";

/// The reason where a number is past `most`.
pub(crate) fn too_large(most: &str) -> String {
    format!("{TOO_LARGE}: the most is {most}")
}

/// How a quantity is written.
pub(crate) struct Form {
    /// What is right, in an error.
    pub(crate) expected: &'static str,
    /// The largest one, in an error.
    pub(crate) most: &'static str,
}

/// Reads `NUMBER UNIT`, where `scale(unit)` gives the unit's size in base units, and returns base units.
///
/// `form` is what errors name. A fraction that is not a whole number of base units is rounded
/// down. `_` may stand between digits, and `,` between groups of three alone: a decimal comma (`1,5GiB`) is refused, since
/// read as 15 it would pass unseen.
pub(crate) fn parse_scaled(
    text: &str,
    form: &Form,
    scale: impl Fn(&str) -> Option<u64>,
) -> Result<u64, ParseUnitError> {
    parse(text, form, scale).map(|(value, _)| value)
}

/// As [`parse_scaled`], but nothing is rounded: `whole` names what there are whole numbers of alone.
pub(crate) fn parse_whole(
    text: &str,
    form: &Form,
    whole: &str,
    scale: impl Fn(&str) -> Option<u64>,
) -> Result<u64, ParseUnitError> {
    match parse(text, form, scale)? {
        (value, true) => Ok(value),
        (_, false) => Err(ParseUnitError {
            text: text.to_owned(),
            reason: format!("is no whole number of {whole}"),
        }),
    }
}

/// Base units, and whether they are all that was said.
fn parse(
    text: &str,
    form: &Form,
    scale: impl Fn(&str) -> Option<u64>,
) -> Result<(u64, bool), ParseUnitError> {
    let error = |reason: String| ParseUnitError {
        text: text.to_owned(),
        reason,
    };
    let Form { expected, most } = form;
    let trimmed = text.trim();
    if is_negative(trimmed) {
        return Err(error(negative(expected)));
    }
    let digits = trimmed
        .find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_' || c == ','))
        .unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(digits);
    let number = number.replace('_', "");
    let (whole, fraction) = number.split_once('.').unwrap_or((&number, ""));
    if !is_grouped(whole) || fraction.contains(['.', ',']) || fraction.len() > 18 {
        return Err(error(format!("is not {expected}")));
    }
    let whole = whole.replace(',', "");
    let scale = scale(unit.trim()).ok_or_else(|| {
        error(match unit.trim() {
            "" => format!("has no unit; expected {expected}"),
            unit => format!("has the unknown unit `{unit}`; expected {expected}"),
        })
    })?;
    let too_large = || error(too_large(most));
    let whole: u128 = whole.parse().map_err(|_| too_large())?;
    let mut total = whole.checked_mul(u128::from(scale)).ok_or_else(too_large)?;
    let mut is_exact = true;
    if !fraction.is_empty() {
        let tenths: u128 = fraction
            .parse()
            .map_err(|_| error(format!("is not {expected}")))?;
        let (parts, of) = (
            tenths * u128::from(scale),
            10u128.pow(fraction.len() as u32),
        );
        is_exact = parts.is_multiple_of(of);
        total = total.checked_add(parts / of).ok_or_else(too_large)?;
    }
    let total = u64::try_from(total).map_err(|_| too_large())?;
    Ok((total, is_exact))
}

/// The reason where a number is below 0.
pub(crate) fn negative(expected: &str) -> String {
    format!("is below 0; expected {expected}")
}

/// Whether it is a number with a minus before it.
pub(crate) fn is_negative(text: &str) -> bool {
    let positive = text.strip_prefix('-').map(str::trim_start);
    positive.is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
}

/// Whether `digits` is a number, without commas or with one before every group of three digits.
fn is_grouped(digits: &str) -> bool {
    let mut groups = digits.split(',');
    let first = groups.next().unwrap_or_default();
    let mut groups = groups.peekable();
    !first.is_empty()
        && (groups.peek().is_none() || first.len() <= 3)
        && groups.all(|group| group.len() == 3)
}

/// Writes an integer with a comma between groups of three digits: `1234567` gives `1,234,567`.
pub fn group_digits(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Writes `value` with three significant digits, without a trailing `.0`.
pub(crate) fn three_digits(value: f64) -> String {
    let decimals = if value >= 99.95 {
        0
    } else if value >= 9.995 {
        1
    } else {
        2
    };
    let text = format!("{value:.decimals$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped() {
        assert_eq!(group_digits(0), "0");
        assert_eq!(group_digits(999), "999");
        assert_eq!(group_digits(1000), "1,000");
        assert_eq!(group_digits(12_345_678), "12,345,678");
    }
}
