//! The list of stored runs.

use crate::cells::{columns_of, padded};
use crate::format::on_one_line;
use crate::lines::{Lines, Width};

/// One stored run, ready to be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunRow {
    /// Its id.
    pub id: String,
    /// `run`, `predict` or `serve`.
    pub kind: String,
    /// What was run.
    pub what: String,
    /// `trustworthy`, `questionable`, `empty`, `under way`, `cut short` where it never ended, or `unreadable`.
    pub verdict: String,
}

/// A table of runs for a screen of a width, the newest last; a hint where there is none.
///
/// On a narrow screen, what was run stands below each run's id and verdict.
pub fn runs_table(rows: &[RunRow], width: Width) -> String {
    let mut text = Lines::new(width);
    if rows.is_empty() {
        text.line(
            "",
            "no runs are stored yet; `fathom run quick` makes one",
            2,
        );
        return text.finish();
    }
    let ids = rows.iter().map(|row| columns_of(&row.id)).max();
    let ids = ids.unwrap_or(0);
    let is_narrow = text.is_narrow();
    // A name from a workload, or from a folder that somebody put there, must not steer the terminal.
    let mut put = |row: [&str; 4]| {
        let [id, kind, verdict, what] = row.map(on_one_line);
        let id = padded(&id, ids);
        if is_narrow {
            text.wrap("", &format!("{id}  {verdict}"), 2);
            text.wrap(&format!("  {kind:7}  "), &what, 4);
        } else {
            let head = format!("{id}  {kind:7}  {verdict:12}  ");
            text.line(&head, &what, 4);
        }
    };
    put(["RUN", "KIND", "VERDICT", "WORKLOAD"]);
    for row in rows {
        put([&row.id, &row.kind, &row.verdict, &row.what]);
    }
    text.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_a_table() {
        let row = RunRow {
            id: "20260102-030405-run".to_owned(),
            kind: "run".to_owned(),
            what: "quick".to_owned(),
            verdict: "trustworthy".to_owned(),
        };
        assert!(
            runs_table(&[row], Width::PLAIN)
                .contains("20260102-030405-run  run      trustworthy   quick")
        );
        assert!(runs_table(&[], Width::PLAIN).contains("fathom run quick"));
    }

    #[test]
    fn on_a_narrow_screen_the_workload_stands_below() {
        let row = RunRow {
            id: "20260102-030405-predict".to_owned(),
            kind: "predict".to_owned(),
            what: "fioreadwrite.ini on ds14.design.toml, 12 points".to_owned(),
            verdict: "questionable".to_owned(),
        };
        let table = runs_table(&[row], Width::of_terminal(40));
        let expected = "\
            RUN                      VERDICT\n  KIND     WORKLOAD\n\
            20260102-030405-predict  questionable\n  predict  fioreadwrite.ini on\n    ds14.design.toml, 12 points\n";
        assert_eq!(table, expected);
    }

    #[test]
    fn no_line_is_longer_than_the_terminal() {
        let row = RunRow {
            id: "20260102-030405-predict".to_owned(),
            kind: "predict".to_owned(),
            what: "fioreadwrite.ini on ds14.design.toml, 12 points".to_owned(),
            verdict: "questionable".to_owned(),
        };
        let rows = [row];
        for columns in [40, 60, 79, 80, 81, 95] {
            let table = runs_table(&rows, Width::of_terminal(columns));
            let too_long = table.lines().find(|line| line.chars().count() > columns);
            assert_eq!(too_long, None, "{columns}: {table}");
        }
        // Other programs get each run on a line.
        assert_eq!(runs_table(&rows, Width::PLAIN).lines().count(), 2);
    }

    #[test]
    fn a_name_steers_no_terminal() {
        let row = RunRow {
            id: "\u{1b}[2J".to_owned(),
            kind: "\r".to_owned(),
            what: "a\u{1b}]0;b\u{7}\nc\u{9b}".to_owned(),
            verdict: "cut short".to_owned(),
        };
        let table = runs_table(&[row], Width::PLAIN);
        let controls = table.chars().filter(|c| c.is_control());
        assert_eq!(controls.collect::<String>(), "\n\n", "{table:?}");
    }
}
