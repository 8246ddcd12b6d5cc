//! A JSON tree printed in fio's own layout.
//!
//! fio puts a blank on both sides of a colon, two blanks a level, and six decimals behind every fraction. Some
//! consumers are `grep` and `awk`, so the layout is kept beside the keys.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A JSON value; objects keep the order of their keys.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Json {
    /// A whole number.
    Whole(u64),
    /// A number with six decimals.
    Fraction(f64),
    /// A string.
    Text(String),
    /// A list.
    List(Vec<Json>),
    /// Keys and values.
    Object(Vec<(String, Json)>),
}

impl Json {
    fn write(&self, f: &mut fmt::Formatter<'_>, level: usize) -> fmt::Result {
        match self {
            Self::Whole(number) => write!(f, "{number}"),
            Self::Fraction(number) if number.is_finite() => write!(f, "{number:.6}"),
            Self::Fraction(_) => f.write_str("0.000000"),
            Self::Text(text) => write_text(f, text),
            Self::List(values) => {
                f.write_str("[\n")?;
                for (index, value) in values.iter().enumerate() {
                    separate(f, index, level + 1)?;
                    value.write(f, level + 1)?;
                }
                write!(f, "\n{:width$}]", "", width = level * 2)
            }
            Self::Object(pairs) => {
                f.write_str("{\n")?;
                for (index, (key, value)) in pairs.iter().enumerate() {
                    separate(f, index, level + 1)?;
                    write_text(f, key)?;
                    f.write_str(" : ")?;
                    value.write(f, level + 1)?;
                }
                write!(f, "\n{:width$}}}", "", width = level * 2)
            }
        }
    }
}

/// A key with its value.
pub fn pair(key: &str, value: Json) -> (String, Json) {
    (key.to_owned(), value)
}

fn separate(f: &mut fmt::Formatter<'_>, index: usize, level: usize) -> fmt::Result {
    let comma = if index > 0 { ",\n" } else { "" };
    write!(f, "{comma}{:width$}", "", width = level * 2)
}

/// fio prints strings as they are, which breaks the document at a quotation mark; here they are escaped.
fn write_text(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    f.write_str("\"")?;
    for character in text.chars() {
        match character {
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            '\n' => f.write_str("\\n")?,
            '\t' => f.write_str("\\t")?,
            control if (control as u32) < 0x20 => write!(f, "\\u{:04x}", control as u32)?,
            other => write!(f, "{other}")?,
        }
    }
    f.write_str("\"")
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, 0)
    }
}

/// An object from pairs of borrowed keys.
pub fn object<const N: usize>(pairs: [(&str, Json); N]) -> Json {
    Json::Object(
        pairs
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value))
            .collect(),
    )
}
