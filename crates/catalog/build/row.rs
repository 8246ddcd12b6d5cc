//! One row of a fact file, and its values as Rust expressions.

use std::collections::HashMap;

use toml::{Table, Value};

/// A row and the sources it may name.
pub struct Row<'a> {
    pub row: &'a Table,
    pub sources: &'a HashMap<String, String>,
}

impl Row<'_> {
    pub fn text(&self, key: &str) -> &str {
        self.row
            .get(key)
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    pub fn number(&self, key: &str) -> Option<i64> {
        self.row.get(key).and_then(Value::as_integer)
    }

    pub fn plain(&self, key: &str) -> i64 {
        self.number(key).unwrap_or_default()
    }

    pub fn truth(&self, key: &str) -> bool {
        self.row
            .get(key)
            .and_then(Value::as_bool)
            .unwrap_or_default()
    }

    /// A number that may have a fraction, in thousandths.
    pub fn thousandths(&self, key: &str) -> i64 {
        match self.row.get(key) {
            Some(Value::Float(number)) => (number * 1000.0).round() as i64,
            Some(Value::Integer(number)) => number * 1000,
            _ => 0,
        }
    }

    pub fn optional(&self, key: &str, wrap: &str) -> String {
        self.number(key).map_or_else(
            || "None".to_owned(),
            |number| format!("Some({wrap}({number}))"),
        )
    }

    pub fn integer(&self, key: &str) -> String {
        self.number(key)
            .map_or_else(|| "None".to_owned(), |number| format!("Some({number})"))
    }

    /// A rate in 10^6 bytes/s, which may have a fraction.
    pub fn rate(&self, key: &str) -> String {
        match self.thousandths(key) {
            0 => "None".to_owned(),
            thousandths => format!("Some(BytesPerSec::new({}))", thousandths * 1000),
        }
    }

    pub fn limits(&self, prefix: &str) -> String {
        format!(
            "Limits {{ iops: {}, bandwidth: {} }}",
            self.optional(&format!("{prefix}iops"), "Iops::new"),
            self.rate(&format!("{prefix}mbps"))
        )
    }

    /// A rate in 2^20 bytes/s.
    pub fn rate_mib(&self, key: &str) -> String {
        self.number(key).map_or_else(
            || "None".to_owned(),
            |mib| format!("Some(BytesPerSec::new({}))", mib << 20),
        )
    }

    /// A limit on I/Os and one in 2^20 bytes/s.
    pub fn limits_mib(&self, prefix: &str) -> String {
        format!(
            "Limits {{ iops: {}, bandwidth: {} }}",
            self.optional(&format!("{prefix}iops"), "Iops::new"),
            self.rate_mib(&format!("{prefix}mibps"))
        )
    }

    /// Numbers that may have fractions, in thousandths.
    pub fn thousandths_of_all(&self, key: &str) -> String {
        let list = self.row.get(key).and_then(Value::as_array);
        let list = list.map_or(&[][..], Vec::as_slice).iter();
        let numbers = list
            .filter_map(Value::as_float)
            .map(|number| ((number * 1000.0).round() as i64).to_string());
        format!("&[{}]", numbers.collect::<Vec<_>>().join(", "))
    }

    pub fn source(&self) -> &str {
        self.sources
            .get(self.text("source"))
            .map_or("", String::as_str)
    }

    pub fn words(&self, key: &str, of: &str) -> String {
        let list = self.row.get(key).and_then(Value::as_array);
        let list = list.map_or(&[][..], Vec::as_slice).iter();
        let names = list
            .filter_map(Value::as_str)
            .map(|word| format!("{of}::{}", camel(word)));
        format!("&[{}]", names.collect::<Vec<_>>().join(", "))
    }
}

/// `premium_ssd_v2` or `read-hit` as the name of an enum's variant.
pub fn camel(word: &str) -> String {
    let parts = word.split(['_', '-']);
    parts
        .map(|part| {
            part.chars().next().map_or_else(String::new, |first| {
                first.to_uppercase().collect::<String>() + &part[first.len_utf8()..]
            })
        })
        .collect()
}
