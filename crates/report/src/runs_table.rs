//! The list of stored runs.

use crate::format::on_one_line;

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

/// A table of runs, the newest last; a hint where there is none.
pub fn runs_table(rows: &[RunRow]) -> String {
    if rows.is_empty() {
        return "no runs are stored yet; `fathom run quick` makes one\n".to_owned();
    }
    let width = rows.iter().map(|row| row.id.chars().count()).max();
    let width = width.unwrap_or(0);
    // A name from a workload, or from a folder that somebody put there, must not steer the terminal.
    let line = |id: &str, kind: &str, verdict: &str, what: &str| {
        let [id, kind, verdict, what] = [id, kind, verdict, what].map(on_one_line);
        format!("{id:width$}  {kind:7}  {verdict:12}  {what}\n")
    };
    let header = line("RUN", "KIND", "VERDICT", "WORKLOAD");
    let lines = rows
        .iter()
        .map(|row| line(&row.id, &row.kind, &row.verdict, &row.what));
    std::iter::once(header).chain(lines).collect()
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
        assert!(runs_table(&[row]).contains("20260102-030405-run  run      trustworthy   quick"));
        assert!(runs_table(&[]).contains("fathom run quick"));
    }

    #[test]
    fn a_name_steers_no_terminal() {
        let row = RunRow {
            id: "\u{1b}[2J".to_owned(),
            kind: "\r".to_owned(),
            what: "a\u{1b}]0;b\u{7}\nc\u{9b}".to_owned(),
            verdict: "cut short".to_owned(),
        };
        let table = runs_table(&[row]);
        let controls = table.chars().filter(|c| c.is_control());
        assert_eq!(controls.collect::<String>(), "\n\n", "{table:?}");
    }
}
