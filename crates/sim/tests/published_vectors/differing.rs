//! What `docs/model.md` says about published figures: the tables behind its headings, one row for each group of ids.

/// Headings of the two tables.
const LEFT_OUT: &str = "### Figures without a case";
const QUALIFIED: &str = "### Figures that are met with a reservation";

/// Ids that are no case.
pub fn left_out() -> Vec<String> {
    ids_under(LEFT_OUT)
}

/// Ids that are a case, though not as printed.
pub fn qualified() -> Vec<String> {
    ids_under(QUALIFIED)
}

/// The first column of the table under a heading. A row without a reason does not count.
fn ids_under(heading: &str) -> Vec<String> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/model.md");
    let text = std::fs::read_to_string(path).expect("docs/model.md is read");
    let lines = text.lines().skip_while(|line| *line != heading).skip(1);
    let rows = lines.take_while(|line| !line.starts_with('#'));
    let cells = rows.map(|row| row.split('|').map(str::trim).collect::<Vec<_>>());
    let with_reason = cells.filter(|cells| cells.len() > 3 && cells[2].len() > 10);
    let ids: Vec<String> = with_reason
        .flat_map(|cells| cells[1].split(", ").map(str::to_owned).collect::<Vec<_>>())
        .filter(|id| id.contains('-') && !id.contains("--"))
        .collect();
    assert!(
        !ids.is_empty(),
        "docs/model.md has nothing under `{heading}`"
    );
    ids
}
