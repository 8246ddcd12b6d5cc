//! What fio's settings ask for beyond plain I/O, in the terms of the workload model.

use fathom_workload::{EndsOthers, Features, FileOperation};

use super::settings::Settings;
use super::table;

/// The operation on files that takes the place of reads and writes.
pub fn operation(settings: &Settings) -> Option<FileOperation> {
    table::find_engine(&settings.engine)?.operation(settings.stat_call)
}

/// All features of clone `number`, but for a replayed trace.
pub fn of(settings: &Settings, number: u64) -> Features {
    let mut process = settings.process.clone();
    if settings.exit_all {
        process.ends = settings.exit_what;
    } else {
        process.ends = EndsOthers::Nothing;
    }
    Features {
        process,
        files: settings.handling.clone(),
        errors: settings.errors.clone(),
        operation: operation(settings),
        // Clones of one job must not write over each other's trace.
        trace_to: settings.trace.write.as_ref().map(|path| match number {
            0 => path.clone(),
            more => format!("{path}.{more}"),
        }),
        ..Features::default()
    }
}
