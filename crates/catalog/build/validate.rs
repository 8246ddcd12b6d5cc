//! What every row of the fact files must have.
//!
//! Complaints name the table and the row, all at once.

use toml::{Table, Value};

use super::shapes::{SHAPES, Shape};

/// Everything wrong with a fact file; empty where nothing is.
pub fn complaints(facts: &Table) -> Vec<String> {
    let empty = Table::new();
    let sources = facts
        .get("sources")
        .and_then(Value::as_table)
        .unwrap_or(&empty);
    let mut found = source_complaints(sources);
    for (name, value) in facts {
        if name == "sources" {
            continue;
        }
        let Some(shape) = SHAPES.iter().find(|shape| shape.table == name) else {
            found.push(format!("unknown table `{name}`"));
            continue;
        };
        if shape.key.is_empty() {
            found.extend(value.as_table().map_or_else(
                || vec![format!("`{name}` is no table")],
                |row| row_complaints(shape, name, row, sources),
            ));
            continue;
        }
        let rows = value.as_array().map_or(&[][..], Vec::as_slice);
        if rows.is_empty() {
            found.push(format!("`{name}` has no rows"));
        }
        found.extend(table_complaints(shape, rows, sources));
    }
    found
}

fn source_complaints(sources: &Table) -> Vec<String> {
    let text = |row: &Value, key: &str| row.get(key).and_then(Value::as_str).map(str::to_owned);
    let mut found = Vec::new();
    for (name, row) in sources {
        if text(row, "page").is_none_or(|page| page.is_empty()) {
            found.push(format!("source `{name}`: no page"));
        }
        let dated =
            |date: String| date == "undated" || date.starts_with("20") || date.starts_with("19");
        if !text(row, "date").is_some_and(dated) {
            found.push(format!(
                "source `{name}`: no date (`2020-06-01`, `2020` or `undated`)"
            ));
        }
        if text(row, "revision").is_none() {
            found.push(format!("source `{name}`: no revision (may be empty)"));
        }
    }
    found
}

fn table_complaints(shape: &Shape, rows: &[Value], sources: &Table) -> Vec<String> {
    let mut found = Vec::new();
    let mut seen: Vec<String> = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        let Some(row) = row.as_table() else {
            found.push(format!("{} row {}: no table", shape.table, index + 1));
            continue;
        };
        let parts = shape
            .key
            .iter()
            .map(|key| row.get(*key).map(plain).unwrap_or_default());
        let key = parts.collect::<Vec<_>>().join(" ");
        let name = format!("{} `{key}`", shape.table);
        if seen.contains(&key) {
            found.push(format!("{name}: given twice"));
        }
        seen.push(key);
        found.extend(row_complaints(shape, &name, row, sources));
    }
    found
}

fn row_complaints(shape: &Shape, name: &str, row: &Table, sources: &Table) -> Vec<String> {
    let mut found = Vec::new();
    for required in shape.key.iter().chain(shape.required) {
        if !row.contains_key(*required) {
            found.push(format!("{name}: `{required}` is missing"));
        }
    }
    for given in row.keys() {
        let known = [shape.key, shape.required, shape.optional];
        if !known.iter().any(|keys| keys.contains(&given.as_str())) {
            found.push(format!("{name}: unknown key `{given}`"));
        }
    }
    found.extend(value_complaints(name, row, sources));
    found.extend(pair_complaints(name, row));
    found
}

fn value_complaints(name: &str, row: &Table, sources: &Table) -> Vec<String> {
    let mut found = Vec::new();
    for (key, value) in row {
        let bad = match value {
            Value::Integer(number) => *number <= 0,
            Value::Float(number) => *number <= 0.0,
            Value::String(text) => text.is_empty(),
            Value::Array(list) => list.is_empty(),
            _ => false,
        };
        if bad {
            found.push(format!("{name}: `{key}` is not positive or empty"));
        }
    }
    match row.get("source").and_then(Value::as_str) {
        Some(source) if sources.contains_key(source) => {}
        Some(source) => found.push(format!("{name}: the source `{source}` is not listed")),
        None => found.push(format!("{name}: `source` is missing")),
    }
    found
}

/// A limit in I/Os has its twin in bytes, and a burst or a p99 is not below its base.
fn pair_complaints(name: &str, row: &Table) -> Vec<String> {
    let mut found = Vec::new();
    let number = |key: &str| row.get(key).and_then(Value::as_integer);
    for prefix in [
        "",
        "cached_",
        "uncached_",
        "burst_cached_",
        "burst_uncached_",
        "burst_",
    ] {
        let (iops, mbps) = (format!("{prefix}iops"), format!("{prefix}mbps"));
        if row.contains_key(&iops) != row.contains_key(&mbps) {
            found.push(format!("{name}: `{iops}` and `{mbps}` go together"));
        }
    }
    let ordered = [
        ("iops", "burst_iops"),
        ("mbps", "burst_mbps"),
        ("uncached_iops", "burst_uncached_iops"),
        ("cached_iops", "burst_cached_iops"),
        ("median_us", "p99_us"),
    ];
    for (low, high) in ordered {
        if let (Some(base), Some(top)) = (number(low), number(high))
            && base > top
        {
            found.push(format!("{name}: `{high}` is below `{low}`"));
        }
    }
    found
}

fn plain(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}
