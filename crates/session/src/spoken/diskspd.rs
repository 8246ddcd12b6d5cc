//! DISKSPD's command line and profiles.

use fathom_diagnostics::{Diagnostic, Diagnostics};
use fathom_dialects::diskspd::{self, Action};
use fathom_dialects::fio::{Files, SystemFiles};
use fathom_workload::Workload;

use super::held::Held;
use super::patient::PatientFiles;
use super::{File, Spoken};
use crate::{Code, Console, Failure, Input, tell_warnings};

pub(super) fn from_words(words: &[String], console: &dyn Console) -> Result<Input, Failure> {
    taken("diskspd", words, &PatientFiles(console), console)
}

/// A profile that is named alone.
pub(super) fn from_file(file: &File<'_>, console: &dyn Console) -> Result<Input, Failure> {
    let words = [format!("-X{}", file.path)];
    taken(&file.name, &words, &Held(file), console)
}

pub(super) fn recognises(file: &File<'_>) -> bool {
    file.has_extension("xml") && file.text.contains("<Profile") && file.text.contains("<TimeSpan")
}

fn taken(
    name: &str,
    words: &[String],
    files: &dyn Files,
    console: &dyn Console,
) -> Result<Input, Failure> {
    let input = diskspd::read(words, fathom_rawio::wall_clock(), files)?;
    if input.action != Action::Run {
        let message = "this option makes DISKSPD print something instead of running";
        return Err(Failure::new(Code::Usage, message).hint("say it to `fathom diskspd …`"));
    }
    tell_warnings(&input.warnings, console);
    let workload = input.workload.clone();
    Ok(Input::new(name, workload).spoken(Spoken::Diskspd(Box::new(input))))
}

/// Fits a workload that was written for Windows to the files of this machine. Gives what the user should know of them.
///
/// # Errors
/// A path that means something to Windows alone, with the `--map` that it needs.
pub fn settle(workload: &mut Workload) -> Result<Diagnostics, Failure> {
    if let Some(complaint) = windows_path(workload) {
        return Err(Diagnostics(vec![complaint]).into());
    }
    Ok(diskspd::fit_to_files(workload, &SystemFiles))
}

/// Refuses a path of Windows that nothing was mapped to.
pub(super) fn windows_path(workload: &Workload) -> Option<Diagnostic> {
    unserved(workload, diskspd::is_windows_path)
}

/// Refuses the first path that `is_unserved` says nothing here serves.
pub(super) fn unserved(
    workload: &Workload,
    is_unserved: impl Fn(&str) -> bool,
) -> Option<Diagnostic> {
    let jobs = workload.stages.iter().flat_map(|stage| &stage.jobs);
    let mut paths = jobs
        .flat_map(|job| &job.targets)
        .map(|target| target.place.path());
    let path = paths.find(|path| is_unserved(path))?;
    let from = match path.split_once(':') {
        Some((drive, _)) if drive.len() == 1 => format!("{drive}:"),
        _ => path.to_owned(),
    };
    let message = format!("`{path}` is a path of Windows, and nothing serves it here");
    let hint = format!("say where it is with `--map '{from}=/PATH'`");
    Some(Diagnostic::error(message).hint(hint).about("", path))
}
