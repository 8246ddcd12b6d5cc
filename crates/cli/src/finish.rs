//! How a run ends: stored, shown, and with which exit code.

use fathom_engine::StopFlag;
use fathom_peers::View;
use fathom_record::{Record, RunKind, Verdict};
use fathom_report::{NeedBeside, Summary, named_summary, record_csv};
use fathom_runs::RunWriter;
use fathom_session::{Code, Console, Failure, Input, Needed, Page, need_code};

use crate::args::OutputArgs;
use crate::explain::explanation;
use crate::terminal::TERMINAL;

/// The peer's view, where `output` asks for it; what it wants written can be written.
pub fn view<'a>(
    output: &OutputArgs,
    input: &'a Input,
    kind: RunKind,
    stop: &StopFlag,
) -> Result<Option<Box<dyn View + 'a>>, Failure> {
    output.html.as_deref().map(Page::at).transpose()?;
    let asked = output.format.as_ref();
    asked
        .map(|_| fathom_peers::view(input, kind, stop, &TERMINAL))
        .transpose()
}

/// Prints the record as `output` asks, or ends the peer's view; stores it, lays it beside the need, and says how the program
/// ends.
pub fn finish(
    record: &mut Record,
    writer: Option<RunWriter>,
    output: &OutputArgs,
    (need, view): (Option<&Needed>, Option<Box<dyn View + '_>>),
) -> Result<Code, Failure> {
    let name = writer.as_ref().map(RunWriter::name);
    if let Some(mut writer) = writer {
        let folder = writer.folder().display().to_string();
        let removed = writer.take_note();
        let failed = writer.finish_shown(record);
        if output.verbose && failed.is_none() {
            crate::tell(&format!("the run is stored in `{folder}`"));
        }
        for told in removed.into_iter().chain(failed) {
            crate::tell(&format!("note: {told}"));
        }
    }
    let need = need.map(|need| need.beside(record)).transpose();
    let spoken = output.json || output.csv || view.is_some();
    match view {
        Some(view) => view.finish(record)?,
        None if output.json => crate::print_json(record)?,
        None if output.csv => crate::print(&record_csv(record)),
        None => {
            let (full, width) = (how_much(output.full), TERMINAL.width());
            TERMINAL.show(&named_summary(record, full, width, name.as_deref()));
        }
    }
    let need = need?;
    if let Some(need) = &need {
        show_need(need, spoken);
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

/// Prints a need; on stderr where stdout is for a machine.
pub fn show_need(need: &NeedBeside, spoken: bool) {
    let text = need.to_text(TERMINAL.width());
    if spoken {
        crate::tell(text.trim_end());
    } else {
        TERMINAL.show(&format!("\n{text}"));
    }
}

/// How much of a record is shown.
pub fn how_much(full: bool) -> Summary {
    if full { Summary::Full } else { Summary::Short }
}

/// Tells what was decided of `input` and why, where `output` asks for it.
pub fn tell_decisions(output: &OutputArgs, input: &Input) {
    if output.verbose {
        crate::tell(explanation(input).trim_end());
    }
}
