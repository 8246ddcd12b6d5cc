//! The same for programs, as JSON.

use fathom_runs::{LIST_SCHEMA, StoreError};
use serde_json::{Value, json};

use crate::answer::{Answer, Kind, Status};
use crate::request::Request;
use crate::shelf::Shelf;

/// `/api/runs`: the part of the list that `request` asks for (schema [`LIST_SCHEMA`]).
pub(crate) fn list(shelf: &Shelf, request: &Request) -> Answer {
    let asked = request.asked("page").next();
    let asked = asked.and_then(|page| page.parse().ok()).unwrap_or(1);
    match shelf.sheet(asked) {
        Ok(sheet) => {
            let runs = sheet.runs.iter().map(|(run, it)| it.listed(run));
            document(&json!({
                "schema": LIST_SCHEMA,
                "page": sheet.page,
                "pages": sheet.pages,
                "count": sheet.count,
                "runs": runs.collect::<Vec<_>>(),
            }))
        }
        Err(error) => sorry_store(&error),
    }
}

/// `/api/runs/ID`: the record of a run.
pub(crate) fn record(shelf: &Shelf, id: &str) -> Answer {
    let Some(run) = shelf.store.run(id) else {
        return sorry(
            Status::NotFound,
            "no run is called so",
            "`/api/runs` lists them",
        );
    };
    let record = match run.record() {
        Ok(record) => record,
        Err(error) => return sorry_store(&error),
    };
    match serde_json::to_vec(&record) {
        Ok(text) => Answer::new(Status::Ok, Kind::Json, text),
        Err(error) => sorry(Status::Broken, &error.to_string(), ""),
    }
}

/// What is wrong, and what to do.
pub(crate) fn sorry(status: Status, error: &str, hint: &str) -> Answer {
    let text = json!({ "error": error, "hint": hint }).to_string();
    Answer::new(status, Kind::Json, text)
}

fn sorry_store(error: &StoreError) -> Answer {
    sorry(Status::Broken, &error.to_string(), &error.hint())
}

fn document(value: &Value) -> Answer {
    Answer::new(Status::Ok, Kind::Json, value.to_string())
}
