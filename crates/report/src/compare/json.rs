//! A comparison as one JSON document (schema `fathom.comparison/1`).

use serde_json::{Map, Value, json};

use super::change::{Basis, Change};
use super::{Comparison, Group, Row, Threshold, letter};

impl Comparison {
    /// The document; keys end in their unit. `thresholds` stand in it with where they are crossed.
    pub fn to_json(&self, thresholds: &[Threshold]) -> Value {
        let sides = self.sides.iter().enumerate().map(|(index, side)| {
            json!({
                "letter": letter(index),
                "name": side.name,
                "title": side.title,
                "kind": side.kind,
                "started_unix_ns": side.started_unix_ns,
                "verdict": side.verdict,
                "tool": side.tool,
            })
        });
        let thresholds = thresholds.iter().map(|threshold| {
            json!({
                "threshold": threshold.to_string(),
                "crossed": threshold.crossed(self),
            })
        });
        json!({
            "schema": "fathom.comparison/1",
            "records": sides.collect::<Vec<_>>(),
            "groups": self.groups.iter().map(group_json).collect::<Vec<_>>(),
            "partners": self.partners,
            "doubts": self.doubts,
            "thresholds": thresholds.collect::<Vec<_>>(),
        })
    }
}

fn group_json(group: &Group) -> Value {
    let counted = |count: fn(&super::Line) -> u64| -> Vec<Option<u64>> {
        group
            .lines
            .iter()
            .map(|line| line.as_ref().map(count))
            .collect()
    };
    json!({
        "stage": group.stage,
        "job": group.job,
        "direction": group.direction,
        "ios": counted(|line| line.ios),
        "errors": counted(|line| line.errors),
        "repeats": counted(|line| line.repeats.len() as u64),
        "figures": group.rows().iter().map(|row| row_json(group, row)).collect::<Vec<_>>(),
    })
}

fn row_json(group: &Group, row: &Row) -> Value {
    let unit = row.figure.unit();
    let mut object = Map::new();
    object.insert("figure".to_owned(), json!(row.figure.name()));
    object.insert(format!("values_{unit}"), json!(row.values));
    let intervals = group.lines.iter();
    let intervals: Vec<_> = intervals
        .map(|line| line.as_ref().and_then(|line| line.interval(row.figure)))
        .collect();
    if intervals.iter().any(Option::is_some) {
        object.insert(format!("intervals_95_{unit}"), json!(intervals));
    }
    let changes = row
        .changes
        .iter()
        .map(|change| change.as_ref().map(|it| change_json(it, unit)));
    object.insert("changes".to_owned(), changes.collect());
    Value::Object(object)
}

fn change_json(change: &Change, unit: &str) -> Value {
    let mut object = Map::new();
    object.insert("change_percent".to_owned(), json!(change.percent));
    object.insert("more_than_noise".to_owned(), json!(change.more_than_noise));
    let basis = match change.basis {
        Basis::Repeats => Some("repeats"),
        Basis::Seconds => Some("seconds"),
        Basis::Ranks => Some("ranks"),
        Basis::Nothing => None,
    };
    object.insert("judged_by".to_owned(), json!(basis));
    if let Some(found) = change.difference_95 {
        let ends = [
            found.difference - found.half_width,
            found.difference + found.half_width,
        ];
        object.insert(format!("difference_95_{unit}"), json!(ends));
    }
    Value::Object(object)
}
