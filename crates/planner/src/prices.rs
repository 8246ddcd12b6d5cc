//! A price list: the user's own file.
//!
//! ```toml
//! currency = "USD"
//! as_of = "2016-02-20"
//! [[price]]
//! item = "P30"
//! month = 135.17
//! ```

use std::collections::BTreeMap;

use fathom_diagnostics::{Diagnostic, Diagnostics, Location};
use fathom_tables::{Complaints, Entry};
use toml::de::{DeTable, DeValue};

/// Largest price list.
const MOST_BYTES: usize = 4 << 20;
/// The highest price, in hundredths.
const MOST_HUNDREDTHS: f64 = 1e13;

/// Prices a month, in hundredths of the currency.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Prices {
    /// Name of the currency.
    pub currency: String,
    /// When the prices held.
    pub as_of: Option<String>,
    each: BTreeMap<String, u64>,
}

impl Prices {
    /// Reads a price list. `file` names it in complaints.
    ///
    /// # Errors
    /// All complaints at once.
    pub fn read(text: &str, file: &str) -> Result<Self, Diagnostics> {
        if text.len() > MOST_BYTES {
            let message = format!("`{file}` is larger than 4 MiB, which no price list needs");
            return Err(Diagnostics(vec![Diagnostic::error(message)]));
        }
        let parsed = DeTable::parse(text).map_err(|error| {
            let mut diagnostic = Diagnostic::error(error.message().to_owned());
            if let Some(span) = error.span() {
                diagnostic = diagnostic.at(Location::in_text(file, text, span));
            }
            Diagnostics(vec![diagnostic.hint("a price list is written in TOML")])
        })?;
        let mut complaints = Complaints::new(file, text);
        let span = parsed.span();
        let top = Entry::new("a price list", parsed.get_ref(), &span);
        top.check_keys(&["currency", "as_of", "price"], &mut complaints);
        let currency = top.required_text("currency", "currency = \"USD\"", &mut complaints);
        let as_of = top.text("as_of", &mut complaints);
        if !top.has("price") {
            top.missing("price", "[[price]]", &mut complaints);
        }
        let mut each = BTreeMap::new();
        for entry in top.tables("price", "a price", &mut complaints) {
            let Some((item, month)) = read_price(&entry, &mut complaints) else {
                continue;
            };
            if each.insert(item.clone(), month).is_some() {
                let message = format!("`{item}` has two prices");
                complaints.error(&entry.span_of("item"), message, "leave one out");
            }
        }
        if complaints.found.has_errors() {
            return Err(complaints.in_order());
        }
        Ok(Self {
            currency: currency.map_or_else(String::new, |it| it.value.to_owned()),
            as_of: as_of.map(|it| it.value.to_owned()),
            each,
        })
    }

    /// What `count` of an item cost a month, in hundredths; `None` where the list has no price of it.
    pub fn of(&self, item: &str, count: u64) -> Option<u64> {
        self.each.get(item)?.checked_mul(count)
    }

    /// Hundredths as an amount with its currency.
    pub fn amount(&self, hundredths: u64) -> String {
        let (whole, part) = (hundredths / 100, hundredths % 100);
        let whole = fathom_units::group_digits(whole);
        match self.currency.as_str() {
            "USD" => format!("${whole}.{part:02}"),
            other => format!("{whole}.{part:02} {other}"),
        }
    }
}

fn read_price(entry: &Entry<'_>, complaints: &mut Complaints<'_>) -> Option<(String, u64)> {
    entry.check_keys(&["item", "month", "source"], complaints);
    let item = entry.required_text("item", "item = \"P30\"", complaints);
    if !entry.has("month") {
        entry.missing("month", "month = 135.17", complaints);
    }
    let value = entry.table.get("month")?;
    let number = match value.get_ref() {
        DeValue::Integer(number) => number.as_str().parse::<f64>().ok(),
        DeValue::Float(number) => number.as_str().parse::<f64>().ok(),
        _ => None,
    };
    let hundredths = number.map(|number| (number * 100.0).round());
    let hundredths = hundredths.filter(|it| (0.0..=MOST_HUNDREDTHS).contains(it));
    if hundredths.is_none() {
        let message = "`month` must be a price a month, such as 135.17";
        complaints.error(&value.span(), message, "");
    }
    Some((item?.value.to_owned(), hundredths? as u64))
}
