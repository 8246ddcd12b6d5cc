//! The list of stored runs, and runs of it beside each other.

use std::fmt::Write as _;

use fathom_record::{Record, Verdict};
use fathom_report::{Comparison, ListedRun, Summary, escaped, list_table};
use fathom_runs::{Digest, RunEntry, RunState};
use fathom_units::counted;
use jiff::Timestamp;

use crate::answer::{Answer, Status};
use crate::page::{of_run, page, sorry, sorry_store, to_list};
use crate::request::Request;
use crate::shelf::{Sheet, Shelf};

/// Most records that are laid beside each other.
const BESIDE_MOST: usize = 12;

/// The part of the list that `request` asks for.
pub(crate) fn list(shelf: &Shelf, request: &Request) -> Answer {
    let asked = request.asked("page").next();
    let asked = asked.and_then(|page| page.parse().ok()).unwrap_or(1);
    let sheet = match shelf.sheet(asked) {
        Ok(sheet) => sheet,
        Err(error) => return sorry_store(&error),
    };
    let mut body = String::from("<h1>Stored runs</h1>\n");
    let folder = shelf.store.folder().display().to_string();
    let folder = escaped(&folder);
    if sheet.count == 0 {
        let _ = write!(
            body,
            "<p>No runs are stored yet. <code>fathom run quick</code> makes one: it measures the disk under a folder in a \
             minute. Then load this page again.</p>\n<p class=\"soft\">They are looked for in {folder}.</p>\n"
        );
        return page(Status::Ok, "Stored runs", &[], &body);
    }
    let _ = writeln!(
        body,
        "<p class=\"soft\">{} in {folder}, the newest first. Of a run with several stages the least and the most of \
         their figures are shown.</p>",
        counted(sheet.count as u64, ("run", "runs"))
    );
    let rows: Vec<ListedRun> = sheet.runs.iter().map(|(run, it)| listed(run, it)).collect();
    let _ = write!(
        body,
        "<form action=\"/compare\" method=\"get\">\n{}\
         <p><button>Compare the chosen runs</button> <span class=\"soft\">The oldest of them is the baseline.</span></p>\n\
         </form>\n",
        list_table(&rows)
    );
    body.push_str(&other_sheets(&sheet));
    page(Status::Ok, "Stored runs", &[], &body)
}

/// Links to the sheets beside this one.
fn other_sheets(sheet: &Sheet) -> String {
    if sheet.pages < 2 {
        return String::new();
    }
    let link = |page: usize, words: &str| format!("<a href=\"/?page={page}\">{words}</a>\n");
    let mut html = format!(
        "<nav>\n<span>Page {} of {}</span>\n",
        sheet.page, sheet.pages
    );
    if sheet.page > 1 {
        html.push_str(&link(sheet.page - 1, "Newer runs"));
    }
    if sheet.page < sheet.pages {
        html.push_str(&link(sheet.page + 1, "Older runs"));
        html.push_str(&link(sheet.pages, "Oldest runs"));
    }
    html + "</nav>\n"
}

fn listed(run: &RunEntry, digest: &Digest) -> ListedRun {
    let (verdict, is_good) = match digest.state {
        RunState::Ended(Verdict::Trustworthy) => ("trustworthy", Some(true)),
        RunState::Ended(Verdict::Empty) => ("nothing measured", Some(false)),
        RunState::UnderWay => ("under way: open it to follow", None),
        other => (other.words(), Some(false)),
    };
    let note = match digest.state {
        RunState::CutShort => {
            Some("it never came to its end; what was measured until then is kept")
        }
        RunState::Ended(_) if digest.interrupted => Some("stopped before its end"),
        _ => None,
    };
    let stages = digest.stages.iter();
    ListedRun {
        id: run.id.clone(),
        link: of_run(&run.id),
        kind: run.kind.clone(),
        when: when(run.started_unix_ns),
        what: run.what.clone(),
        verdict: verdict.to_owned(),
        is_good,
        note: digest.why.clone().or_else(|| note.map(str::to_owned)),
        iops: stages.clone().map(|stage| stage.iops).collect(),
        bandwidth_bytes_per_sec: stages
            .clone()
            .map(|stage| stage.bandwidth_bytes_per_sec)
            .collect(),
        p50_ns: stages.clone().map(|stage| stage.p50_ns).collect(),
        p99_ns: stages.map(|stage| stage.p99_ns).collect(),
    }
}

/// A moment, as ids of runs have it: in UTC.
fn when(unix_ns: u64) -> String {
    let moment = Timestamp::from_nanosecond(i128::from(unix_ns)).unwrap_or_default();
    moment.strftime("%Y-%m-%d %H:%M:%S").to_string()
}

/// The runs that `request` names beside the oldest of them.
pub(crate) fn compare(shelf: &Shelf, request: &Request) -> Answer {
    let mut runs: Vec<RunEntry> = Vec::new();
    for id in request.asked("run") {
        let Some(run) = shelf.store.run(id) else {
            return sorry(
                Status::NotFound,
                &format!("No run is called {id}"),
                "It may have been removed since: choose from the list.",
            );
        };
        if !runs.iter().any(|other| other.id == run.id) {
            runs.push(run);
        }
    }
    if runs.len() < 2 || runs.len() > BESIDE_MOST {
        return sorry(
            Status::BadRequest,
            &format!("{} chosen", runs.len()),
            &format!("Choose two or more runs of the list, up to {BESIDE_MOST}."),
        );
    }
    runs.sort_by(|one, other| {
        (one.started_unix_ns, &one.id).cmp(&(other.started_unix_ns, &other.id))
    });
    let mut records: Vec<(String, Record)> = Vec::new();
    for run in runs {
        match run.record() {
            Ok(record) => records.push((run.id, record)),
            Err(error) => return sorry_store(&error),
        }
    }
    let comparison = Comparison::new(&records, Summary::Full);
    let body = format!("<h1>Comparison</h1>\n{}", comparison.to_html(of_run));
    page(Status::Ok, "Comparison", &[to_list()], &body)
}
