//! Fathom's own workload files.

use fathom_workload::native;

use super::{File, Spoken};
use crate::{Console, Failure, Input, tell_warnings};

/// What `--dialect` calls it.
pub(super) const NAME: &str = "native";

pub(super) fn from_file(file: &File<'_>, console: &dyn Console) -> Result<Input, Failure> {
    let (workload, warnings) = native::read(&file.text, file.path)?;
    tell_warnings(&warnings, console);
    let spoken = Spoken::Native {
        path: file.path.to_owned(),
        text: file.text.clone(),
    };
    Ok(Input::new(file.name.clone(), workload).spoken(spoken))
}
