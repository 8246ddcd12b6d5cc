//! The arguments of DiskPerformance.ps1.

use std::path::Path;

use fathom_dialects::diskperformance::{self, Existing, Settings};
use fathom_workload::Workload;

use super::Spoken;
use crate::{Code, Console, Failure, Input, tell_warnings};

pub(super) fn from_words(words: &[String], console: &dyn Console) -> Result<Input, Failure> {
    let input = diskperformance::read(words)?;
    tell_warnings(&input.warnings, console);
    let whole = Input {
        sweep: input.sweep(),
        ..Input::new("diskperformance", input.workload.clone())
    };
    Ok(whole.spoken(Spoken::DiskPerformance(Box::new(input))))
}

/// Looks for the test file; gives its path.
///
/// # Errors
/// A path of Windows that is not mapped, or a file that is there and may not be removed.
pub fn prepare(settings: &Settings, workload: &mut Workload) -> Result<String, Failure> {
    // The script makes its file in the size that it uses.
    let _ = super::settle_paths(workload)?;
    let mut jobs = workload.jobs().flat_map(|(_, job)| &job.targets);
    let path = jobs.next().map(|target| target.place.path().to_owned());
    let path = path.unwrap_or_else(|| settings.path());
    let file = Path::new(&path);
    if file.exists() {
        if settings.existing == Existing::Keep || !file.is_file() {
            let message = format!("File Exists, break: `{path}` is there already");
            let hint = "give `-RemoveTestFile True` if it may be removed";
            return Err(Failure::new(Code::Refused, message).hint(hint));
        }
        return Ok(path);
    }
    Ok(path)
}

/// The folder of the test file, where it is not there yet.
pub fn missing_folder(path: &str) -> Option<&Path> {
    let folder = Path::new(path).parent()?;
    (!folder.as_os_str().is_empty() && !folder.exists()).then_some(folder)
}

/// Makes the folder of the test file, as the script does.
///
/// # Errors
/// A folder that cannot be made.
pub fn make_folder(path: &str) -> Result<(), Failure> {
    let made = missing_folder(path).map(std::fs::create_dir_all);
    made.unwrap_or(Ok(())).map_err(|error| {
        let message = format!("the folder of `{path}` cannot be made: {error}");
        Failure::new(Code::Target, message)
    })
}
