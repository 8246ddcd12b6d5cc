//! How a run ends: stored, shown, and with which exit code.

use fathom_record::{Record, Verdict};
use fathom_report::{NeedBeside, Summary, named_summary, record_csv};
use fathom_runs::RunWriter;

use crate::{Code, Console, Failure, Needed, OutputArgs, Page, need_code};

/// What shows a record in place of our own summary.
pub type PeerView<'a> = Box<dyn FnOnce(&Record) -> Result<(), Failure> + 'a>;

/// Prints the record as `output` asks, or shows it by `view`; stores it, lays it beside the need, and says how the program
/// ends.
///
/// # Errors
/// What cannot be written or printed, and a need that the record has nothing of.
pub fn finish(
    record: &mut Record,
    writer: Option<RunWriter>,
    output: &OutputArgs,
    (need, view): (Option<&Needed>, Option<PeerView<'_>>),
    console: &dyn Console,
) -> Result<Code, Failure> {
    let name = writer.as_ref().map(RunWriter::name);
    if let Some(writer) = writer {
        store(record, writer, output, console);
    }
    let need = need.map(|need| need.beside(record)).transpose();
    let spoken = output.json || output.csv || view.is_some();
    match view {
        Some(view) => view(record)?,
        None if output.json => print_json(record, console)?,
        None if output.csv => console.print(&record_csv(record)),
        None => {
            let (full, width) = (how_much(output.full), console.width());
            console.show(&named_summary(record, full, width, name.as_deref()));
        }
    }
    let need = need?;
    if let Some(need) = &need {
        show_need(need, spoken, console);
    }
    if let Some(path) = &output.html {
        Page::at(path)?.write(record, need.as_ref())?;
    }
    let code = need.as_ref().map_or(Code::Success, need_code);
    let failed = record.verdict != Verdict::Trustworthy;
    Ok(match (record.interrupted, output.strict && failed) {
        (true, _) => Code::Interrupted,
        (false, true) => Code::Check,
        (false, false) => code,
    })
}

fn store(record: &mut Record, mut writer: RunWriter, output: &OutputArgs, console: &dyn Console) {
    let folder = writer.folder().display().to_string();
    let removed = writer.take_note();
    let failed = writer.finish_shown(record);
    if output.verbose && failed.is_none() {
        console.tell(&format!("the run is stored in `{folder}`"));
    }
    for told in removed.into_iter().chain(failed) {
        console.tell(&format!("note: {told}"));
    }
}

/// Prints a need; on stderr where stdout is for a machine.
pub fn show_need(need: &NeedBeside, spoken: bool, console: &dyn Console) {
    let text = need.to_text(console.width());
    if spoken {
        console.tell(text.trim_end());
    } else {
        console.show(&format!("\n{text}"));
    }
}

/// How much of a record is shown.
pub fn how_much(full: bool) -> Summary {
    if full { Summary::Full } else { Summary::Short }
}

/// Prints a JSON document and a newline.
///
/// # Errors
/// What has no form in JSON.
pub fn print_json(document: &impl serde::Serialize, console: &dyn Console) -> Result<(), Failure> {
    let text =
        serde_json::to_string(document).map_err(|error| Failure::new(Code::Unexpected, error))?;
    console.print(&(text + "\n"));
    Ok(())
}
