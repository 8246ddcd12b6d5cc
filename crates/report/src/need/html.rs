//! A need beside a record, as a part of the page.

use std::fmt::Write as _;

use super::{Met, NOTHING, NeedBeside, Outcome};
use crate::html::{escaped, table};

impl NeedBeside {
    /// The part of the page.
    pub(crate) fn to_html(&self) -> String {
        let class = match self.met() {
            Met::Yes => "good",
            Met::No => "bad",
            Met::Unknown => "soft",
        };
        let mut html = format!(
            "<h2>{}</h2>\n<p class=\"verdict {class}\">{}</p>\n",
            escaped(&self.heading()),
            escaped(&self.verdict())
        );
        for part in &self.parts {
            let _ = writeln!(html, "<h3>{}</h3>", escaped(&part.heading()));
            if part.lines.is_empty() {
                let _ = writeln!(html, "<p>{NOTHING}</p>");
                continue;
            }
            let rows = part.lines.iter().map(|line| {
                let class = match line.outcome {
                    Outcome::Pass => "good",
                    Outcome::Fail(_) => "bad",
                    Outcome::Open(_) | Outcome::Unknown(_) => "soft",
                };
                format!(
                    "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td class=\"words {class}\">{}</td></tr>\n",
                    escaped(&line.figure),
                    escaped(&line.need),
                    escaped(&line.found),
                    escaped(&line.outcome.to_string())
                )
            });
            html.push_str(&table(
                &["", "need", self.found, ""],
                &rows.collect::<String>(),
            ));
        }
        if !self.notes.is_empty() {
            let notes = self
                .notes
                .iter()
                .map(|note| format!("<li>{}</li>\n", escaped(note)));
            let _ = writeln!(html, "<ul>\n{}</ul>", notes.collect::<String>());
        }
        html
    }
}
