//! Verbs that only look: `catalog`, `runs`, `report`.

use fathom_catalog::{Catalog, CatalogError, SummaryRow};
use fathom_report::{Lines, RunRow, record_csv, runs_table, stored_summary};
use fathom_session::{
    Code, Console, Failure, Page, how_much, named_record, need_code, print_json, show_need,
    store_failure, user_store,
};

use crate::args::{CatalogAction, ReportArgs};
use crate::terminal::TERMINAL;

/// `fathom catalog list|show NAME`.
pub fn catalog(action: &CatalogAction) -> Result<Code, Failure> {
    let catalog = Catalog::builtin();
    let mut text = Lines::new(TERMINAL.width());
    match action {
        CatalogAction::List { json: true } => print_json(&catalog.list_json(), &TERMINAL)?,
        CatalogAction::List { json: false } => write_list(&mut text, &catalog.list()),
        CatalogAction::Show { name, json: true } => {
            let rows = catalog.show_json(name).map_err(|error| unknown(&error))?;
            print_json(&rows, &TERMINAL)?;
        }
        CatalogAction::Show { name, json: false } => {
            for row in catalog.show(name).map_err(|error| unknown(&error))? {
                let heading = format!("{} {} (era {})", row.what, row.name, row.era);
                text.line("", &heading, 2);
                for (key, value) in &row.fields {
                    if text.is_narrow() {
                        text.wrap("  ", &format!("{key}: {value}"), 4);
                    } else {
                        text.wrap(&format!("  {key:28}  "), value, 32);
                    }
                }
            }
        }
    }
    TERMINAL.show(&text.finish());
    Ok(Code::Success)
}

fn unknown(error: &CatalogError) -> Failure {
    let hint = error.hint();
    let hint = hint.unwrap_or_else(|| "`fathom catalog list` prints every name".to_owned());
    Failure::new(Code::Input, error).hint(hint)
}

/// A line for each row of the catalogue; on a narrow screen its figures stand below its name.
fn write_list(text: &mut Lines, rows: &[SummaryRow]) {
    let is_narrow = text.is_narrow();
    let mut put = |name: &str, era: &str, figures: &str| {
        if is_narrow {
            text.wrap("", &format!("{name}  {era}"), 2);
            let columns = figures.split("  ").map(str::trim);
            let columns: Vec<&str> = columns.filter(|it| !it.is_empty()).collect();
            text.wrap("  ", &columns.join("  "), 4);
        } else {
            text.line(&format!("{name:20}  {era:12}  "), figures, 36);
        }
    };
    let mut what = "";
    for row in rows {
        if row.what != what {
            what = row.what;
            put(&what.to_uppercase(), "ERA", row.columns);
        }
        put(row.name, row.era, &row.summary);
    }
}

/// `fathom runs`.
pub fn runs(json: bool) -> Result<Code, Failure> {
    let store = user_store()?;
    let runs = store.list().map_err(|error| store_failure(&error))?;
    if json {
        print_json(&store.list_json(&runs), &TERMINAL)?;
        return Ok(Code::Success);
    }
    let rows = runs.into_iter().map(|run| RunRow {
        id: run.id,
        kind: run.kind,
        what: run.what,
        verdict: run.state.words().to_owned(),
    });
    TERMINAL.show(&runs_table(&rows.collect::<Vec<_>>(), TERMINAL.width()));
    Ok(Code::Success)
}

/// `fathom report RUN`.
pub fn report(args: &ReportArgs) -> Result<Code, Failure> {
    let need = args.need.read(&TERMINAL)?;
    let (_, record) = named_record(&args.run)?;
    let need = need.map(|need| need.beside(&record)).transpose()?;
    if let Some(path) = &args.html {
        Page::at(path)?.write(&record, need.as_ref())?;
    } else {
        if args.csv {
            crate::print(&record_csv(&record));
        } else if args.json {
            print_json(&record, &TERMINAL)?;
        } else {
            let (full, width) = (how_much(args.full), TERMINAL.width());
            TERMINAL.show(&stored_summary(&record, full, width, &args.run));
        }
        if let Some(need) = &need {
            show_need(need, args.json || args.csv, &TERMINAL);
        }
    }
    Ok(need.as_ref().map_or(Code::Success, need_code))
}
