//! Numbers on the command line.

/// A reader of whole numbers from `least` to `most`, which `T` must have room for.
pub fn whole_number<T: TryFrom<u64>>(
    least: u64,
    most: u64,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static {
    move |text| {
        let digits = text.bytes().all(|byte| byte.is_ascii_digit());
        let read = digits.then(|| text.parse::<u64>().ok()).flatten();
        let read = read.filter(|number| (least..=most).contains(number));
        read.and_then(|number| T::try_from(number).ok())
            .ok_or_else(|| refusal(text, least, most))
    }
}

/// A whole number that whoever uses it has bounds for, and tells them. One that is too long to be held is the largest.
///
/// # Errors
/// What the text is, as one line: it is none.
pub fn any_whole_number(text: &str) -> Result<u64, String> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!(
            "`{text}` is no whole number: write one such as `100`"
        ));
    }
    Ok(text.parse().unwrap_or(u64::MAX))
}

fn refusal(text: &str, least: u64, most: u64) -> String {
    if most == u64::MAX {
        // Nought is a whole number, where it is not allowed too.
        let from = match least {
            0 => String::new(),
            least => format!(" from {least} on"),
        };
        format!(
            "`{text}` is no whole number{from}: write one such as `{}`, and no more than {most}",
            least.max(1)
        )
    } else {
        format!(
            "`{text}` is no whole number from {least} to {most}: write one such as `{}`",
            least.max(2).min(most)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_without_bounds_are_whole() {
        for (text, number) in [
            ("0", 0),
            ("0100", 100),
            ("99999999999999999999999", u64::MAX),
        ] {
            assert_eq!(any_whole_number(text), Ok(number), "{text}");
        }
        for wrong in ["", "-1", "+1", "1.5", "1e1", "x"] {
            let why = any_whole_number(wrong).unwrap_err();
            assert!(
                why.starts_with(&format!("`{wrong}` is no whole number")),
                "{why}"
            );
        }
    }

    #[test]
    fn whole_numbers_are_read_within_their_bounds() {
        let read = whole_number::<u8>(1, 100);
        assert_eq!((read("1"), read("100")), (Ok(1), Ok(100)));
        for wrong in [
            "",
            "0",
            "101",
            "-1",
            "+1",
            "1.5",
            "1e1",
            "x",
            "99999999999999999999999",
        ] {
            let why = read(wrong).unwrap_err();
            assert!(
                why.starts_with(&format!("`{wrong}` is no whole number from 1 to 100")),
                "{why}"
            );
        }
        assert_eq!(
            whole_number::<u64>(0, u64::MAX)(&u64::MAX.to_string()),
            Ok(u64::MAX)
        );
        let why = whole_number::<u64>(0, u64::MAX)("x").unwrap_err();
        assert!(why.contains("such as `1`"), "{why}");
        let why = whole_number::<u64>(1, u64::MAX)("0").unwrap_err();
        assert!(
            why.starts_with("`0` is no whole number from 1 on:"),
            "{why}"
        );
    }
}
