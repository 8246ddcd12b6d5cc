//! How a run ends: stored, shown, and with which exit code.

use fathom_record::{Record, Verdict};
use fathom_report::{Summary, summary};
use fathom_runs::RunWriter;
use fathom_session::{Code, Failure};

use crate::args::OutputArgs;

/// Prints the record as `output` asks, stores it, and says how the program ends.
pub fn finish(
    record: &Record,
    writer: Option<RunWriter>,
    output: &OutputArgs,
) -> Result<Code, Failure> {
    if let Some(problem) = writer.and_then(|writer| writer.finish(record)) {
        crate::tell(&format!("note: {problem}"));
    }
    show(record, output.json, output.full)?;
    let failed = record.verdict != Verdict::Trustworthy;
    Ok(match (record.interrupted, output.strict && failed) {
        (true, _) => Code::Interrupted,
        (false, true) => Code::Check,
        (false, false) => Code::Success,
    })
}

/// Prints a record: as JSON, or as a summary.
pub fn show(record: &Record, json: bool, full: bool) -> Result<(), Failure> {
    if json {
        return crate::print_json(record);
    }
    crate::print(&summary(
        record,
        if full { Summary::Full } else { Summary::Short },
    ));
    Ok(())
}
