//! SQLIO's command line.

use fathom_dialects::sqlio::{self, Action};

use super::Spoken;
use super::patient::PatientFiles;
use crate::{Code, Console, Failure, Input, tell_warnings};

pub(super) fn from_words(words: &[String], console: &dyn Console) -> Result<Input, Failure> {
    let input = sqlio::read(words, &PatientFiles(console))?;
    if input.action != Action::Run {
        let message = "this option makes SQLIO print something instead of running";
        return Err(Failure::new(Code::Usage, message).hint("say it to `fathom sqlio …`"));
    }
    tell_warnings(&input.warnings, console);
    let workload = input.workload.clone();
    Ok(Input::new("sqlio", workload).spoken(Spoken::Sqlio(Box::new(input))))
}
