//! What a run of a server leaves: its stored run, its trace, and the record as it is shown or printed.

use std::path::Path;

use fathom_record::{Record, Verdict};
use fathom_report::{Summary, named_summary, shell_word};
use fathom_runs::{RunStart, RunWriter, Store, environment};
use fathom_session::{Code, Console, Failure, not_stored, unwritten};

use crate::args::ServeArgs;
use crate::document;
use crate::exports::ExportTable;
use crate::trace::{TraceFile, Tracer, trace};

pub(super) fn open_trace(
    args: &ServeArgs,
    exports: &ExportTable,
) -> Result<Option<(Tracer, TraceFile)>, Failure> {
    let names = exports.exports.iter().map(|export| export.name.as_str());
    let opened = args.trace.as_ref().map(|path| {
        let opened = trace(path, names);
        opened.map_err(|error| unwritten(path, &error))
    });
    opened.transpose()
}

pub(super) fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

pub(super) fn store(
    args: &ServeArgs,
    title: &str,
    design: &str,
    started_unix_ns: u64,
    console: &dyn Console,
) -> Option<RunWriter> {
    if args.no_record {
        return None;
    }
    let environment = environment();
    let start = RunStart {
        kind: "serve",
        what: title,
        started_unix_ns,
        workload: "# Served storage: the workload was whatever clients did.\n",
        design: Some(design),
        environment: &environment,
    };
    let store = Store::of_user(|name| std::env::var(name).ok());
    let writer = store.and_then(|store| store.begin(&start));
    let mut writer = writer
        .map_err(|error| console.tell(&not_stored(&error)))
        .ok();
    if let Some(note) = writer.as_mut().and_then(RunWriter::take_note) {
        console.tell(&format!("note: {note}"));
    }
    writer
}

/// A record of this machine's room is of no use, however it is read.
fn tell_lack_of_room(record: &Record, console: &dyn Console) {
    let mut checks = record.checks.iter();
    if let Some(check) = checks.find(|check| check.id == document::ROOM && !check.passed) {
        let (evidence, remedy) = (&check.evidence, &check.remedy);
        console.tell(&format!("warning: {evidence}\n  hint: {remedy}"));
    }
}

pub(super) fn finish(
    record: &mut Record,
    writer: Option<RunWriter>,
    args: &ServeArgs,
    console: &dyn Console,
) -> Result<Code, Failure> {
    // Others may have stored runs since this one began.
    let name = writer.as_ref().map(RunWriter::name);
    if let Some(problem) = writer.and_then(|writer| writer.finish_shown(record)) {
        console.tell(&format!("note: {problem}"));
    }
    if args.json {
        // What the summary says, where that is not printed.
        let own = name.as_deref().filter(|_| record.stored && !args.quiet);
        if let Some(own) = own.map(shell_word) {
            console.tell(&format!(
                "the run is stored: `fathom report {own}` shows it"
            ));
        }
        tell_lack_of_room(record, console);
        let text = serde_json::to_string(record);
        let text = text.map_err(|error| Failure::new(Code::Unexpected, error))?;
        console.print(&(text + "\n"));
    } else {
        let how_much = if args.full {
            Summary::Full
        } else {
            Summary::Short
        };
        console.show(&named_summary(
            record,
            how_much,
            console.width(),
            name.as_deref(),
        ));
    }
    Ok(if args.strict && record.verdict == Verdict::Questionable {
        Code::Check
    } else {
        Code::Success
    })
}
