//! Numbers with decimals as C's `sscanf` reads them: what `text` begins with, in decimal or hexadecimal digits.

/// The number that `text` begins with, and its part of `text`, which is empty where there is none. What C reads besides,
/// infinity and what is no number, has no meaning in any option.
pub fn leading(text: &str) -> (Option<f64>, &str) {
    let unsigned = text.trim_start_matches(['+', '-']);
    let sign = &text[..text.len() - unsigned.len()];
    if sign.len() > 1 {
        return (None, "");
    }
    if let Some((value, length)) = hexadecimal(unsigned) {
        let value = if sign == "-" { -value } else { value };
        return (Some(value), &text[..sign.len() + length]);
    }
    let of_number = |byte: u8| byte.is_ascii_digit() || b"+-.eE".contains(&byte);
    let most = text.bytes().take_while(|byte| of_number(*byte)).count();
    let mut ends = (1..=most).rev().map(|end| &text[..end]);
    let found = ends.find_map(|it| Some((it.parse::<f64>().ok()?, it)));
    found.map_or((None, ""), |(value, it)| (Some(value), it))
}

/// `0x`, digits with at most one point, and `p` with a power of two, which may be left out; with its length.
fn hexadecimal(text: &str) -> Option<(f64, usize)> {
    let digits = text
        .strip_prefix("0x")
        .or_else(|| text.strip_prefix("0X"))?;
    let (mut value, mut after_point, mut any, mut length) = (0.0, None::<i32>, false, 0);
    for character in digits.chars() {
        match (character.to_digit(16), after_point) {
            (Some(digit), places) => {
                value = value * 16.0 + f64::from(digit);
                after_point = places.map(|places| places.saturating_add(4));
                any = true;
            }
            (None, None) if character == '.' => after_point = Some(0),
            (None, _) => break,
        }
        length += 1;
    }
    if !any {
        return None;
    }
    let (power, more) = binary_power(&digits[length..]);
    let places = after_point.unwrap_or(0);
    let value = value * f64::powi(2.0, power.saturating_sub(places));
    Some((value, "0x".len() + length + more))
}

/// What `p` and a number make of it, and their length; 0 and 0 where there is none.
fn binary_power(text: &str) -> (i32, usize) {
    let Some(number) = text.strip_prefix(['p', 'P']) else {
        return (0, 0);
    };
    let digits = number.strip_prefix(['+', '-']).unwrap_or(number);
    let length = digits.bytes().take_while(u8::is_ascii_digit).count();
    let whole = &number[..number.len() - digits.len() + length];
    match whole.parse() {
        Ok(power) => (power, 1 + whole.len()),
        Err(_) => (0, 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `sscanf(text, "%lf%n", …)` of glibc.
    #[track_caller]
    fn check(text: &str, value: Option<f64>, read: &str) {
        assert_eq!(leading(text), (value, read), "{text}");
    }

    #[test]
    fn decimals_are_read_as_in_c() {
        check("1.2k", Some(1.2), "1.2");
        check("-1e2x", Some(-100.0), "-1e2");
        check("1e", Some(1.0), "1");
        check(".5", Some(0.5), ".5");
        check("--1", None, "");
        check("k", None, "");
        check("", None, "");
    }

    #[test]
    fn hexadecimal_digits_are_read_as_in_c() {
        check("0x1", Some(1.0), "0x1");
        check("0X1fk", Some(31.0), "0X1f");
        check("-0x.8", Some(-0.5), "-0x.8");
        check("0x1.8p1", Some(3.0), "0x1.8p1");
        check("0x1p-2:3", Some(0.25), "0x1p-2");
        check("0x1p", Some(1.0), "0x1");
        check("0x", Some(0.0), "0");
        check("0xg", Some(0.0), "0");
    }
}
