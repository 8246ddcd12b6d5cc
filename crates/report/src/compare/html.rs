//! A comparison as a part of a page.

use std::fmt::Write as _;

use super::figure::Figure;
use super::text::{changed, legend};
use super::{Comparison, Group, letter};
use crate::html::{escaped, table};

impl Comparison {
    /// The comparison below a heading: every figure of every group. `link` gives where the page of a record is, by its name.
    pub fn to_html(&self, link: impl Fn(&str) -> String) -> String {
        let mut html = String::from("<ol class=\"sides\">\n");
        for (index, side) in self.sides.iter().enumerate() {
            let base = if index == 0 { " (baseline)" } else { "" };
            let _ = writeln!(
                html,
                "<li><strong>{}</strong>  <a href=\"{}\">{}</a>: {}{base}</li>",
                letter(index),
                escaped(&link(&side.name)),
                escaped(&side.name),
                escaped(&side.title)
            );
        }
        html.push_str("</ol>\n");
        if self.groups.is_empty() {
            html.push_str(
                "<p class=\"verdict\">Nothing of the one is in the other.</p>\n\
                 <p>Stages and jobs are matched by their names: compare runs of one workload.</p>\n",
            );
        }
        html.push_str(&self.sentences());
        for group in &self.groups {
            let _ = write!(
                html,
                "<h2>{}</h2>\n{}",
                escaped(&self.name_of(group)),
                self.group(group)
            );
        }
        html
    }

    /// What the marks mean, what has no partner, and what makes the comparison doubtful.
    fn sentences(&self) -> String {
        let mut html = String::new();
        if !self.groups.is_empty() {
            for (mark, sentence) in legend(self, |_| true) {
                let _ = writeln!(html, "<p class=\"soft\">{mark} {}</p>", escaped(&sentence));
            }
        }
        for (heading, sentences) in [("Doubts", &self.doubts), ("Partners", &self.partners)] {
            if sentences.is_empty() {
                continue;
            }
            let items = sentences
                .iter()
                .map(|it| format!("<li>{}</li>\n", escaped(it)));
            let items: String = items.collect();
            let _ = write!(html, "<h2>{heading}</h2>\n<ul>\n{items}</ul>\n");
        }
        html
    }

    fn group(&self, group: &Group) -> String {
        let mut headings = vec![String::new(), letter(0)];
        for index in 1..self.sides.len() {
            headings.extend([letter(index), "change".to_owned()]);
        }
        let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
        let mut rows = String::new();
        for row in group.rows() {
            let response = match row.figure {
                Figure::Response(_) => "response ",
                _ => "",
            };
            let written = |value: Option<f64>| {
                value.map_or_else(|| "-".to_owned(), |value| row.figure.written(value))
            };
            let mut cells = vec![(written(row.values[0]), "")];
            for (value, change) in row.values.iter().skip(1).zip(&row.changes) {
                let is_change = change
                    .as_ref()
                    .is_some_and(|it| it.more_than_noise == Some(true));
                let class = if is_change { " class=\"changed\"" } else { "" };
                cells.push((written(*value), ""));
                cells.push((changed(change.as_ref()), class));
            }
            let _ = write!(
                rows,
                "<tr><th scope=\"row\">{response}{}</th>",
                row.figure.label()
            );
            for (cell, class) in cells {
                let _ = write!(rows, "<td{class}>{}</td>", escaped(cell.trim_end()));
            }
            rows.push_str("</tr>\n");
        }
        table(&headings, &rows) + &errors(group)
    }
}

fn errors(group: &Group) -> String {
    let mut html = String::new();
    for (index, line) in group.lines.iter().enumerate() {
        let errors = line.as_ref().map_or(0, |line| line.errors);
        if errors > 0 {
            let errors = fathom_units::counted_ios(errors);
            let _ = writeln!(
                html,
                "<p class=\"bad\">{}: {errors} failed</p>",
                letter(index)
            );
        }
    }
    html
}
