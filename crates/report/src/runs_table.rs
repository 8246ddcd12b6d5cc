//! The list of stored runs.

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
    let width = rows.iter().map(|row| row.id.len()).max().unwrap_or(0);
    let line = |id: &str, kind: &str, verdict: &str, what: &str| {
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
}
