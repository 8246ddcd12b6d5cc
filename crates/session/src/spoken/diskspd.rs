//! DISKSPD's command line.

use fathom_dialects::diskspd::{self, Action};
use fathom_dialects::fio::SystemFiles;
use fathom_workload::Workload;

use super::Spoken;
use crate::{Code, Console, Failure, Input, tell_warnings};

pub(super) fn from_words(words: &[String], console: &dyn Console) -> Result<Input, Failure> {
    let input = diskspd::read(words, fathom_rawio::wall_clock())?;
    if input.action != Action::Run {
        let message = "this option makes DISKSPD print something instead of running";
        return Err(Failure::new(Code::Usage, message).hint("say it to `fathom diskspd …`"));
    }
    tell_warnings(&input.warnings, console);
    let workload = input.workload.clone();
    Ok(Input::new("diskspd", workload).spoken(Spoken::Diskspd(Box::new(input))))
}

/// Fits the workload of a DISKSPD line to the files of this machine.
///
/// # Errors
/// A path that means something to Windows alone, with the `--map` that it needs.
pub fn settle(workload: &mut Workload) -> Result<(), Failure> {
    no_windows_paths(workload)?;
    diskspd::fit_to_files(workload, &SystemFiles);
    Ok(())
}

/// Refuses a path of Windows that nothing was mapped to.
pub(super) fn no_windows_paths(workload: &Workload) -> Result<(), Failure> {
    let jobs = workload.stages.iter().flat_map(|stage| &stage.jobs);
    let mut paths = jobs
        .flat_map(|job| &job.targets)
        .map(|target| target.place.path());
    if let Some(path) = paths.find(|path| diskspd::is_windows_path(path)) {
        let from = match path.split_once(':') {
            Some((drive, _)) if drive.len() == 1 => format!("{drive}:"),
            _ => path.to_owned(),
        };
        let message = format!("`{path}` is a path of Windows, and nothing serves it here");
        let hint = format!("say where it is with `--map '{from}=/PATH'`");
        return Err(Failure::new(Code::Input, message).hint(hint));
    }
    Ok(())
}
