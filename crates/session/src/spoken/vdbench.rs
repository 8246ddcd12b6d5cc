//! Vdbench's command line and parameter files.

use std::mem;

use fathom_diagnostics::Diagnostics;
use fathom_dialects::diskspd::is_windows_path;
use fathom_dialects::fio::SystemFiles;
use fathom_dialects::vdbench::{self, VdbenchInput};
use fathom_workload::Workload;

use super::diskspd::unserved;
use super::held::Held;
use super::patient::PatientFiles;
use super::{File, Spoken};
use crate::places::located;
use crate::{Code, Console, Failure, Input, tell_warnings};

pub(super) fn from_words(words: &[String], console: &dyn Console) -> Result<Input, Failure> {
    let read = vdbench::read(words, &PatientFiles(console));
    taken(read, "vdbench", console)
}

pub(super) fn from_file(file: &File<'_>, console: &dyn Console) -> Result<Input, Failure> {
    taken(
        vdbench::read_file(file.path, &Held(file)),
        &file.name,
        console,
    )
}

pub(super) fn recognises(file: &File<'_>) -> bool {
    vdbench::looks_like_parameter_file(&file.text)
}

fn taken(
    read: Result<VdbenchInput, Diagnostics>,
    name: &str,
    console: &dyn Console,
) -> Result<Input, Failure> {
    let mut input = read?;
    if input.options.simulate {
        let message = "`-s` makes Vdbench say what it would run";
        let hint = "use `fathom explain vdbench …`, which says it for every run";
        return Err(Failure::new(Code::Usage, message).hint(hint));
    }
    tell_warnings(&input.warnings, console);
    let named = input
        .options
        .files
        .first()
        .and_then(|path| path.rsplit('/').next());
    let name = named.unwrap_or(name).to_owned();
    let none = Workload {
        stages: Vec::new(),
        seed: input.workload.seed,
    };
    let workload = mem::replace(&mut input.workload, none);
    Ok(Input::new(name, workload).spoken(Spoken::Vdbench(Box::new(input))))
}

/// Does `work` on what was read with the workload as it is now, paths mapped.
pub(crate) fn with_workload<T>(
    input: &mut VdbenchInput,
    workload: &mut Workload,
    work: impl FnOnce(&mut VdbenchInput) -> T,
) -> T {
    mem::swap(&mut input.workload, workload);
    let done = work(input);
    mem::swap(&mut input.workload, workload);
    done
}

/// Fits the workload of parameter files to this machine: its hosts, its files' sizes, and the run that writes short ones.
///
/// # Errors
/// Hosts that are other machines; paths that mean something to Windows alone.
pub fn settle(
    input: &mut VdbenchInput,
    workload: &mut Workload,
    console: &dyn Console,
) -> Result<(), Failure> {
    let seed = fathom_rawio::wall_clock();
    let notes = with_workload(input, workload, |input| input.settle(&SystemFiles, seed));
    let notes = notes.map_err(|others| {
        let hint = others.hint();
        Failure::new(Code::Unsupported, others).hint(hint)
    })?;
    refuse_windows(input, workload)?;
    for note in notes {
        console.tell(&format!("note: {note}"));
    }
    Ok(())
}

/// Refuses a path of Windows that nothing was mapped to: Vdbench would make a file of that name.
///
/// # Errors
/// The path, with its line and the `--map` that it needs.
pub fn refuse_windows(input: &VdbenchInput, workload: &Workload) -> Result<(), Failure> {
    // A backslash within a path of this machine is what it says.
    let is_of_windows = |path: &str| !path.starts_with('/') && is_windows_path(path);
    let Some(complaint) = unserved(workload, is_of_windows) else {
        return Ok(());
    };
    let complaints = Diagnostics(vec![complaint]);
    Err(located(complaints, |subject| input.place_of(subject)).into())
}

/// Adds the run that writes all files in full, which a prediction takes as there otherwise.
pub(crate) fn with_layout(input: &mut VdbenchInput, workload: &mut Workload) {
    with_workload(input, workload, VdbenchInput::with_layout);
}
