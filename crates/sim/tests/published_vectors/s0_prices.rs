//! Premium storage, 2016: what it cost (S0-20 to S0-27). Sums of rows of the catalogue, in cents.

use fathom_catalog::Catalog;

use super::support::Vector;

/// The cases.
pub const VECTORS: &[Vector] = &[
    ("S0-20", || assert_eq!(monthly("Standard_D14", 1), 157_058)),
    ("S0-21", || {
        assert_eq!(monthly("STD-1TB", 32), 163_840);
        assert_eq!(monthly("STD-1TB", 32) / 32, 5_120);
    }),
    ("S0-22", || assert_eq!(standard(), 320_898)),
    ("S0-24", || assert_eq!(monthly("Standard_DS13", 1), 100_366)),
    // Printed as 544.34; four times the price of one is what the printed total needs.
    ("S0-25", || {
        assert_eq!(monthly("P30", 4), 54_434);
        assert_eq!(4 * monthly("P30", 1), 54_068);
    }),
    ("S0-26", || {
        assert_eq!(monthly("Standard_DS13", 1) + 4 * monthly("P30", 1), 154_434);
        assert_eq!(premium(), 154_800);
    }),
    ("S0-27", || assert!(premium() < standard())),
];

/// Cents a month as printed for so many of an item.
#[track_caller]
fn monthly(item: &str, count: u32) -> u64 {
    let mut rows = Catalog::builtin().prices().iter();
    let row = rows.find(|row| row.item == item && row.count == count);
    row.expect("a price").usd_cents_month
}

fn standard() -> u64 {
    monthly("Standard_D14", 1) + monthly("STD-1TB", 32)
}

fn premium() -> u64 {
    monthly("Standard_DS13", 1) + monthly("P30", 4)
}
