//! A comparison as CSV (RFC 4180, with line feeds): one row a figure.

use std::fmt::Write as _;

use super::{Comparison, letter};
use crate::csv::field;

impl Comparison {
    /// The header has a column `A`, and for each other record its value, its change in percent of A's, and whether that is more
    /// than the noise (`true`, `false`, or nothing where it is not known). `unit` says what the values of a row are in.
    /// `job` is empty in rows of all jobs together.
    pub fn to_csv(&self) -> String {
        let mut text = "stage,job,direction,figure,unit,A".to_owned();
        for index in 1..self.sides.len() {
            let letter = letter(index);
            let _ = write!(
                text,
                ",{letter},{letter}_change_percent,{letter}_more_than_noise"
            );
        }
        text.push('\n');
        let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
        for group in &self.groups {
            let job = group.job.as_deref().unwrap_or_default();
            for row in group.rows() {
                let names = [
                    &group.stage,
                    job,
                    &group.direction,
                    &row.figure.name(),
                    row.figure.unit(),
                ];
                let names = names.map(field).join(",");
                let _ = write!(text, "{names},{}", number(row.values[0]));
                for (value, change) in row.values[1..].iter().zip(&row.changes) {
                    let percent = number(change.as_ref().and_then(|change| change.percent));
                    let noise = change.as_ref().and_then(|change| change.more_than_noise);
                    let noise = noise.map_or_else(String::new, |noise| noise.to_string());
                    let _ = write!(text, ",{},{percent},{noise}", number(*value));
                }
                text.push('\n');
            }
        }
        text
    }
}
