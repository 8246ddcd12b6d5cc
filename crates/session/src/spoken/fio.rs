//! fio's options and job files.

use std::path::Path;

use fathom_diagnostics::Diagnostics;
use fathom_dialects::fio::{
    self, Action, FioInput, Origin, OutputOptions, ReadContext, SystemFiles,
};

use super::held::Held;
use super::patient::PatientFiles;
use super::{File, Spoken};
use crate::{Code, Console, Failure, Input, tell_warnings};

/// What the fio reader may know of this machine, with fresh entropy for `randrepeat=0`.
pub fn read_context() -> ReadContext<'static> {
    ReadContext {
        entropy: fathom_rawio::wall_clock(),
        clock: |number| fathom_rawio::ahead_of_wall(number).map(|ahead| ahead / 1_000_000),
        ..ReadContext::of_system(&SystemFiles)
    }
}

pub(super) fn from_words(words: &[String], console: &dyn Console) -> Result<Input, Failure> {
    let files = PatientFiles(console);
    let context = ReadContext {
        files: &files,
        ..read_context()
    };
    taken(fio::read(words, &context), "fio", console)
}

pub(super) fn from_file(file: &File<'_>, console: &dyn Console) -> Result<Input, Failure> {
    let held = Held(file);
    let context = ReadContext {
        files: &held,
        ..read_context()
    };
    let read = fio::read_file(file.path, &context);
    taken(read, &file.name, console)
}

pub(super) fn recognises(file: &File<'_>) -> bool {
    file.has_extension("fio") || fio::looks_like_job_file(&file.text)
}

fn taken(
    read: Result<FioInput, Diagnostics>,
    name: &str,
    console: &dyn Console,
) -> Result<Input, Failure> {
    let input = read?;
    if input.action != Action::Run {
        let message = "this option makes fio print something instead of running";
        return Err(Failure::new(Code::Usage, message).hint("say it to `fathom fio …`"));
    }
    let eta = OutputOptions {
        eta: input.output.eta,
        eta_newline: input.output.eta_newline,
        eta_interval: input.output.eta_interval,
        ..Default::default()
    };
    if input.output != eta {
        let message = "fio's output options have no place here: this verb prints its own summary";
        return Err(Failure::new(Code::Usage, message)
            .hint("use `fathom fio …` for fio's output, `--json` for the record"));
    }
    tell_warnings(&input.warnings, console);
    let name = job_file(&input).unwrap_or_else(|| name.to_owned());
    let workload = input.workload.clone();
    Ok(Input::new(name, workload).spoken(Spoken::Fio(Box::new(input))))
}

/// Name of the first job file that an option came from.
fn job_file(input: &FioInput) -> Option<String> {
    input
        .provenance
        .iter()
        .find_map(|entry| match &entry.origin {
            Origin::File { path, .. } if path == "-" => Some("stdin".to_owned()),
            Origin::File { path, .. } => Path::new(path)
                .file_name()
                .map(|name| name.to_string_lossy().into_owned()),
            _ => None,
        })
}
