//! Which keys of two documents differ.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;

/// A key that differs, with both values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Difference {
    /// Keys and names from the root: `stage.mix.job.reader.depth`.
    path: String,
    /// The same without names, to tell one difference in many jobs as one.
    key: String,
    values: [String; 2],
    /// The place of the one document that has this table, where the other has none of its name.
    alone: Option<usize>,
}

/// All differences of `second` from `first`, in the order of their paths.
pub(super) fn differences(first: &Value, second: &Value) -> Vec<Difference> {
    let mut found = Vec::new();
    walk((String::new(), String::new()), [first, second], &mut found);
    found
}

/// `found` in words: at most `most` keys, each told once with how often it differs in that way; tables that one alone has are
/// told by their names.
pub(super) fn in_words(found: &[Difference], most: usize) -> String {
    let mut told: Vec<Vec<&Difference>> = Vec::new();
    for difference in found {
        let same = |others: &&mut Vec<&Difference>| {
            let first = others[0];
            first.key == difference.key
                && first.values == difference.values
                && first.alone == difference.alone
        };
        match told.iter_mut().find(same) {
            Some(others) => others.push(difference),
            None => told.push(vec![difference]),
        }
    }
    let more = told.len().saturating_sub(most);
    let words = told.iter().take(most).map(|alike| match alike[0].alone {
        Some(place) => names_alone(alike, place),
        None => change(alike),
    });
    let mut words = words.collect::<Vec<_>>().join(", ");
    if more > 0 {
        let _ = write!(words, " and {more} more (`--full`)");
    }
    words
}

/// A key with both its values, and in how many tables it differs so.
fn change(alike: &[&Difference]) -> String {
    let [first, second] = &alike[0].values;
    let (name, often) = match alike {
        [one] => (&one.path, String::new()),
        more => (&more[0].key, format!(" ({} ×)", more.len())),
    };
    format!("`{name}` {first} → {second}{often}")
}

/// The names of tables that one of the two has alone.
fn names_alone(alike: &[&Difference], place: usize) -> String {
    const MOST: usize = 4;
    let names = alike.iter().take(MOST);
    let names: Vec<String> = names.map(|one| format!("`{}`", one.path)).collect();
    let more = match alike.len().saturating_sub(MOST) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let which = ["first", "second"][place];
    format!("{}{more} in the {which} alone", names.join(", "))
}

fn walk(at: (String, String), pair: [&Value; 2], found: &mut Vec<Difference>) {
    let below = |(path, key): &(String, String), name: &str, is_key: bool| {
        let join = |to: &str| [to, name].join(if to.is_empty() { "" } else { "." });
        (join(path), if is_key { join(key) } else { key.clone() })
    };
    match pair {
        [Value::Object(first), Value::Object(second)] => {
            let mut keys: Vec<&String> = first.keys().chain(second.keys()).collect();
            keys.sort_unstable();
            keys.dedup();
            for key in keys {
                let value = |object: &'_ serde_json::Map<String, Value>| object.get(key).cloned();
                let values = [value(first), value(second)].map(Option::unwrap_or_default);
                walk(below(&at, key, true), values.each_ref(), found);
            }
        }
        [Value::Array(first), Value::Array(second)] if is_tables(first) && is_tables(second) => {
            // A list of one needs no name to be told apart.
            if let ([first], [second]) = (first.as_slice(), second.as_slice()) {
                walk(at, [first, second], found);
                return;
            }
            let [first, second] = [first, second].map(|list| by_name(list));
            let mut names: Vec<&String> = first.keys().collect();
            names.extend(second.keys().filter(|name| !first.contains_key(*name)));
            for name in names {
                let sides = [first.get(name), second.get(name)];
                let [Some(first), Some(second)] = sides else {
                    let (path, key) = below(&at, name, false);
                    found.push(Difference {
                        path,
                        key,
                        values: Default::default(),
                        alone: Some(usize::from(sides[0].is_none())),
                    });
                    continue;
                };
                walk(below(&at, name, false), [first, second], found);
            }
        }
        [first, second] if first != second => {
            let (path, key) = at;
            let values = [first, second].map(short);
            found.push(Difference {
                path,
                key,
                values,
                alone: None,
            });
        }
        _ => {}
    }
}

fn is_tables(list: &[Value]) -> bool {
    !list.is_empty() && list.iter().all(Value::is_object)
}

/// Tables of a list by their names, or by their places where they have none; of several with one name by both.
fn by_name(list: &[Value]) -> BTreeMap<String, &Value> {
    let mut named = BTreeMap::new();
    for (index, table) in list.iter().enumerate() {
        let place = (index + 1).to_string();
        let name = table["name"].as_str().unwrap_or(&place).to_owned();
        let mut own = name.clone();
        let mut number = 1;
        while named.contains_key(&own) {
            number += 1;
            own = format!("{name} #{number}");
        }
        named.insert(own, table);
    }
    named
}

/// A value in few columns.
fn short(value: &Value) -> String {
    let text = match value {
        Value::Null => "none".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    crate::format::shortened(&text, 32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(first: &Value, second: &Value, expected: &str) {
        assert_eq!(in_words(&differences(first, second), 2), expected);
    }

    #[test]
    fn keys_are_named_with_their_values() {
        let jobs = |a: u64, b: u64, c: &str| {
            json!({"stage": [{"name": "mix", "job": [
            {"name": "x", "depth": a}, {"name": "y", "depth": b, "block": c}]}]})
        };
        let first = jobs(32, 32, "4KiB");
        check(&first, &first, "");
        check(&first, &jobs(32, 64, "4KiB"), "`stage.job.y.depth` 32 → 64");
        let both = "`stage.job.depth` 32 → 64 (2 ×)";
        check(&first, &jobs(64, 64, "4KiB"), both);
        let block = format!("{both}, `stage.job.y.block` 4KiB → 8KiB");
        check(&first, &jobs(64, 64, "8KiB"), &block);
        let more =
            "`stage.job.x.depth` 32 → 1, `stage.job.y.block` 4KiB → 8KiB and 1 more (`--full`)";
        check(&first, &jobs(1, 64, "8KiB"), more);
    }

    #[test]
    fn what_one_has_alone_is_told() {
        let first = json!({"job": [{"name": "x"}, {"name": "y"}], "seed": 1});
        check(
            &first,
            &json!({"job": [{"name": "x"}, {"name": "z"}], "seed": 1}),
            "`job.y` in the first alone, `job.z` in the second alone",
        );
        let stages = |names: &[&str]| {
            let tables = names.iter().map(|name| json!({ "name": name }));
            json!({"stage": tables.collect::<Vec<_>>()})
        };
        check(
            &stages(&["a", "b"]),
            &stages(&["c", "d", "e", "f", "g"]),
            "`stage.a`, `stage.b` in the first alone, \
             `stage.c`, `stage.d`, `stage.e`, `stage.f` and 1 more in the second alone",
        );
    }
}
