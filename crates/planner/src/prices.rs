//! A price list: the user's own file.
//!
//! ```toml
//! currency = "USD"
//! as_of = "2016-02-20"
//! [[price]]
//! item = "P30"
//! month = 135.17
//! [[price]]
//! item = "nfs-premium"
//! per = "TiB"
//! month = 300
//! ```

use std::collections::BTreeMap;

use fathom_diagnostics::Diagnostics;
use fathom_tables::{Complaints, Entry, document};
use fathom_units::Bytes;
use toml::de::DeValue;

/// Largest price list.
const LARGEST: Bytes = Bytes::mib(4);
/// The highest price, in millionths.
const MOST_MILLIONTHS: f64 = 1e17;

/// What a price is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Per {
    /// One of the item.
    Each,
    /// A GiB.
    Gib,
    /// A TiB.
    Tib,
    /// An I/O a second.
    Iops,
    /// 10^6 bytes a second.
    Mbps,
    /// 2^20 bytes a second.
    Mibps,
    /// Bursting on demand, on one of the item.
    OnDemand,
    /// The option "performance plus", on one of the item.
    PerformancePlus,
}

impl Per {
    const WORDS: [(&'static str, Self); 7] = [
        ("GiB", Self::Gib),
        ("TiB", Self::Tib),
        ("IOPS", Self::Iops),
        ("MB/s", Self::Mbps),
        ("MiB/s", Self::Mibps),
        ("on-demand", Self::OnDemand),
        ("performance-plus", Self::PerformancePlus),
    ];

    /// How much of the thing counted one unit is: bytes, I/Os a second or bytes a second.
    const fn one(self) -> u64 {
        match self {
            Self::Each | Self::Iops | Self::OnDemand | Self::PerformancePlus => 1,
            Self::Gib => 1 << 30,
            Self::Tib => 1 << 40,
            Self::Mbps => 1_000_000,
            Self::Mibps => 1 << 20,
        }
    }

    /// Whether it is paid for what an item can be given, and not for the item.
    const fn is_extra(self) -> bool {
        matches!(self, Self::OnDemand | Self::PerformancePlus)
    }

    /// Whether both count the same thing, in whatever unit.
    const fn counts_as(self, other: Self) -> bool {
        use Per::{Each, Gib, Iops, Mbps, Mibps, OnDemand, PerformancePlus, Tib};
        matches!(
            (self, other),
            (Each, Each)
                | (Iops, Iops)
                | (OnDemand, OnDemand)
                | (PerformancePlus, PerformancePlus)
                | (Gib | Tib, Gib | Tib)
                | (Mbps | Mibps, Mbps | Mibps)
        )
    }
}

/// One price of an item, which may have several: for its space, for its I/Os a second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Price {
    per: Per,
    /// Millionths of the currency a month.
    month: u64,
    /// So many units are included.
    above: u64,
}

/// Prices a month.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Prices {
    /// Name of the currency.
    pub currency: String,
    /// When the prices held.
    pub as_of: Option<String>,
    each: BTreeMap<String, Vec<Price>>,
}

impl Prices {
    /// Reads a price list. `file` names it in complaints.
    ///
    /// # Errors
    /// All complaints at once.
    pub fn read(text: &str, file: &str) -> Result<Self, Diagnostics> {
        let parsed = document(text, file, ("price list", LARGEST))?;
        let mut complaints = Complaints::new(file, text);
        let span = parsed.span();
        let top = Entry::new("a price list", parsed.get_ref(), &span);
        top.check_keys(&["currency", "as_of", "price"], &mut complaints);
        let currency = top.required_text("currency", "currency = \"USD\"", &mut complaints);
        let as_of = top.text("as_of", &mut complaints);
        if !top.has("price") {
            top.missing("price", "[[price]]", &mut complaints);
        }
        let mut each: BTreeMap<String, Vec<Price>> = BTreeMap::new();
        for entry in top.tables("price", "a price", &mut complaints) {
            let Some((item, price)) = read_price(&entry, &mut complaints) else {
                continue;
            };
            let prices = each.entry(item.clone()).or_default();
            if prices.iter().any(|other| other.per.counts_as(price.per)) {
                let message = format!("`{item}` has two prices for the same");
                complaints.error(&entry.span_of("item"), message, "leave one out");
            }
            prices.push(price);
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

    /// What one of an item costs a month, in millionths, by how much of what it has: bytes, I/Os and bytes a second. `None`
    /// where the list has no price of it, or one for what it does not have.
    pub fn of(&self, item: &str, amounts: &[(Per, u64)]) -> Option<u64> {
        let prices = self.each.get(item)?;
        let prices = prices.iter().filter(|price| !price.per.is_extra());
        let cost = prices.clone().try_fold(0_u128, |sum, price| {
            let (_, amount) = amounts.iter().find(|(per, _)| price.per.counts_as(*per))?;
            let one = price.per.one();
            let charged = amount.saturating_sub(price.above.saturating_mul(one));
            let cost = u128::from(price.month) * u128::from(charged);
            Some(sum + cost.div_ceil(u128::from(one)))
        })?;
        prices.clone().next()?;
        u64::try_from(cost).ok()
    }

    /// What bursting on demand costs one of an item a month, in millionths, without what is paid by use.
    pub fn on_demand(&self, item: &str) -> Option<u64> {
        self.extra(item, Per::OnDemand)
    }

    /// What the option "performance plus" costs one of an item a month, in millionths.
    pub fn performance_plus(&self, item: &str) -> Option<u64> {
        self.extra(item, Per::PerformancePlus)
    }

    fn extra(&self, item: &str, per: Per) -> Option<u64> {
        let mut prices = self.each.get(item)?.iter();
        prices
            .find(|price| price.per == per)
            .map(|price| price.month)
    }

    /// Whether the list has a price of an item, other than of what it can be given.
    pub fn has(&self, item: &str) -> bool {
        let prices = self.each.get(item);
        prices.is_some_and(|prices| prices.iter().any(|price| !price.per.is_extra()))
    }

    /// Items of the list.
    pub fn items(&self) -> impl Iterator<Item = &str> {
        self.each.keys().map(String::as_str)
    }

    /// Millionths as an amount with its currency.
    pub fn amount(&self, millionths: u64) -> String {
        let hundredths = millionths.saturating_add(5_000) / 10_000;
        let (whole, part) = (hundredths / 100, hundredths % 100);
        let whole = fathom_units::group_digits(whole);
        match self.currency.as_str() {
            "USD" => format!("${whole}.{part:02}"),
            other => format!("{whole}.{part:02} {other}"),
        }
    }
}

fn read_price(entry: &Entry<'_>, complaints: &mut Complaints<'_>) -> Option<(String, Price)> {
    entry.check_keys(&["item", "month", "per", "above", "source"], complaints);
    let item = entry.required_text("item", "item = \"P30\"", complaints);
    if !entry.has("month") {
        entry.missing("month", "month = 135.17", complaints);
    }
    let per = entry.word("per", &Per::WORDS, complaints);
    let above = entry.number("above", 0..=1 << 40, complaints);
    if entry.has("above") && !entry.has("per") {
        let message = "`above` has no meaning for a price of the whole item";
        complaints.error(
            &entry.span_of("above"),
            message,
            "add `per`, or leave it out",
        );
    }
    let value = entry.table.get("month")?;
    let number = match value.get_ref() {
        DeValue::Integer(number) => number.as_str().parse::<f64>().ok(),
        DeValue::Float(number) => number.as_str().parse::<f64>().ok(),
        _ => None,
    };
    let millionths = number.map(|number| (number * 1e6).round());
    let millionths = millionths.filter(|it| (0.0..=MOST_MILLIONTHS).contains(it));
    if millionths.is_none() {
        let message = "`month` must be a price a month, such as 135.17";
        complaints.error(&value.span(), message, "");
    }
    let price = Price {
        per: per.map_or(Per::Each, |per| per.value),
        month: millionths? as u64,
        above: above.map_or(0, |above| above.value),
    };
    Some((item?.value.to_owned(), price))
}
