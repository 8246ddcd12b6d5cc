//! Iometer's configuration files and command line.

use fathom_diagnostics::Diagnostics;
use fathom_dialects::fio::SystemFiles;
use fathom_dialects::iometer::{self, Action, IometerInput};
use fathom_workload::Workload;

use super::patient::PatientFiles;
use super::{File, Spoken};
use crate::{Code, Console, Failure, Input, located, tell_warnings};

pub(super) fn from_words(words: &[String], console: &dyn Console) -> Result<Input, Failure> {
    let read = iometer::read(words, &PatientFiles(console), processors());
    let name = read
        .as_ref()
        .ok()
        .and_then(|input| input.options.config.as_deref());
    let name = name
        .and_then(|path| path.rsplit('/').next())
        .unwrap_or("iometer");
    taken(name.to_owned(), read, console)
}

pub(super) fn from_file(file: &File<'_>, console: &dyn Console) -> Result<Input, Failure> {
    let read = iometer::read_text(file.path, &file.text, processors());
    taken(file.name.clone(), read, console).map_err(|failure| {
        let hint = format!(
            "what a file does not say may stand behind it: `iometer {} --target PATH --spec NAME --qd N --time TIME`",
            file.path
        );
        failure.hint(hint)
    })
}

pub(super) fn recognises(file: &File<'_>) -> bool {
    file.has_extension("icf") || iometer::looks_like_icf(&file.text)
}

/// Processors of this machine.
pub fn processors() -> u32 {
    let count = std::thread::available_parallelism();
    count.map_or(1, |count| u32::try_from(count.get()).unwrap_or(1))
}

fn taken(
    name: String,
    read: Result<IometerInput, Diagnostics>,
    console: &dyn Console,
) -> Result<Input, Failure> {
    let input = read?;
    if input.action != Action::Run {
        let message = "this option makes Iometer print something instead of running";
        return Err(Failure::new(Code::Usage, message).hint("say it to `fathom iometer …`"));
    }
    if input.options.results.is_some() || input.options.percentiles.is_some() {
        let message = "files of results have no place here: this verb prints its own summary";
        return Err(Failure::new(Code::Usage, message)
            .hint("use `fathom iometer …` for Iometer's results, `--json` for the record"));
    }
    tell_warnings(&input.warnings, console);
    let workload = input.workload.clone();
    Ok(Input::new(name, workload).spoken(Spoken::Iometer(Box::new(input))))
}

/// Fits the workload of a configuration to the files of this machine.
///
/// # Errors
/// Targets that mean something to Windows alone, those that are not there, and several machines.
pub fn settle(workload: &mut Workload, input: &IometerInput) -> Result<(), Failure> {
    if let [_, _, ..] = input.managers.as_slice() {
        let message = format!(
            "the workers are on {} machines ({}), and this is one",
            input.managers.len(),
            input
                .managers
                .iter()
                .take(8)
                .cloned()
                .collect::<Vec<_>>()
                .join(", ")
        );
        let hint = "run each machine's own part there with `--manager NAME`; `fathom predict` takes them all together";
        return Err(Failure::new(Code::Unsupported, message).hint(hint));
    }
    let complaints = super::diskspd::windows_path(workload)
        .map_or(Ok(()), |complaint| Err(Diagnostics(vec![complaint])))
        .and_then(|()| iometer::fit_to_machine(workload, &SystemFiles));
    complaints.map_err(|found| located(found, |subject| input.place_of(subject)).into())
}
