//! Fathom's own workload files.

use fathom_workload::native;

use super::{File, Spoken};
use crate::{Console, Failure, Input, tell_warnings};

/// What `--dialect` calls it.
pub(super) const NAME: &str = "native";

/// Whether `file` is called as they are, or has a stage: a pipe has no name that tells.
pub(super) fn recognises(file: &File<'_>) -> bool {
    let is_stage = |line: &str| line.trim_start().starts_with("[[stage");
    file.has_extension("toml") || file.text.lines().any(is_stage)
}

pub(super) fn from_file(file: &File<'_>, console: &dyn Console) -> Result<Input, Failure> {
    let (workload, warnings) = native::read(&file.text, file.path)?;
    tell_warnings(&warnings, console);
    let spoken = Spoken::Native {
        path: file.path.to_owned(),
        text: file.text.clone(),
    };
    Ok(Input::new(file.name.clone(), workload).spoken(spoken))
}
