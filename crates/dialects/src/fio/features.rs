//! What fio's settings ask for beyond plain I/O, in the terms of the workload model.

use fathom_workload::{Calls, EndsOthers, ErrorHandling, Features, FileOperation};

use super::settings::{Settings, calls};
use super::table;

/// The operation on files that takes the place of reads and writes.
pub fn operation(settings: &Settings) -> Option<FileOperation> {
    table::find_engine(&settings.engine)?.operation(settings.control.stat_call)
}

/// Linux's numbers of the errors that fio survives where a job goes on after errors and names none: an I/O error, and
/// wrong data.
const SURVIVED: [i32; 2] = [5, 84];

/// fio goes on after the errors a job names, or after two where it names none.
fn errors(settings: &Settings) -> ErrorHandling {
    let mut errors = settings.control.errors.clone();
    for (go_on, ignored) in errors.go_on.iter_mut().zip(&mut errors.ignored) {
        if *go_on && ignored.is_empty() {
            *ignored = SURVIVED.to_vec();
        }
        *go_on = false;
    }
    errors
}

/// All features of clone `number`, but for a replayed trace.
pub fn of(settings: &Settings, number: u64) -> Features {
    let mut process = settings.control.process.clone();
    if settings.control.exit_all {
        process.ends = settings.control.exit_what.unwrap_or(EndsOthers::Group);
    } else {
        process.ends = EndsOthers::Nothing;
    }
    Features {
        process,
        calls: match operation(settings) {
            None => calls(settings),
            Some(_) => Calls::default(),
        },
        files: settings.control.handling.clone(),
        errors: errors(settings),
        operation: operation(settings),
        // Clones of one job must not write over each other's trace.
        trace_to: settings
            .control
            .trace
            .write
            .as_ref()
            .map(|path| match number {
                0 => path.clone(),
                more => format!("{path}.{more}"),
            }),
        ..Features::default()
    }
}
