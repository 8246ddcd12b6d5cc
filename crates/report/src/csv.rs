//! Fields of CSV (RFC 4180).

use std::borrow::Cow;

use crate::format::on_one_line;

/// A name as a field: in quotes where it has a comma, a quote or a line's end, and without what steers a terminal.
pub(crate) fn field(name: &str) -> Cow<'_, str> {
    let name = if name.contains(char::is_control) {
        Cow::Owned(on_one_line(name))
    } else {
        Cow::Borrowed(name)
    };
    if name.contains([',', '"']) {
        return Cow::Owned(format!("\"{}\"", name.replace('"', "\"\"")));
    }
    name
}

#[cfg(test)]
mod tests {
    use super::field;

    #[test]
    fn names_stay_one_field() {
        for (name, expected) in [
            ("mix", "mix"),
            ("depth=1,block=4k", "\"depth=1,block=4k\""),
            ("a \"b\"", "\"a \"\"b\"\"\""),
            ("a\nb", "a\u{fffd}b"),
        ] {
            assert_eq!(field(name), expected);
        }
    }
}
