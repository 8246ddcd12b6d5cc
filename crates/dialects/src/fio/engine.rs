//! What serves a job's I/O, and what that can do.

use fathom_workload::{Backend, FileOperation};

use super::settings::Settings;
use super::table;

/// What issues the settings' I/O.
pub fn backend(settings: &Settings) -> Backend {
    let engine = table::find_engine(&settings.engine);
    let backend = engine.and_then(table::EngineRow::backend);
    match backend.unwrap_or(Backend::Sync) {
        // As many of fio's threads as `iodepth` says make the calls then, each one at a time.
        Backend::Sync
            if settings.pacing.offload && settings.depth > 1 && operation(settings).is_none() =>
        {
            Backend::IoUring
        }
        backend => backend,
    }
}

/// The operation on files that takes the place of reads and writes.
pub fn operation(settings: &Settings) -> Option<FileOperation> {
    table::find_engine(&settings.engine)?.operation(settings.control.stat_call)
}

/// Whether it is one of names, in place of bytes.
pub fn is_of_names(settings: &Settings) -> bool {
    operation(settings).is_some_and(FileOperation::is_of_names)
}

/// What the job asks for and its engine cannot do, as in fio.
pub fn engine_problem(settings: &Settings) -> Option<(&'static str, String)> {
    let engine = settings.engine.as_str();
    let cannot = |does: &str| format!("the engine `{engine}` cannot {does}");
    if backend(settings) == Backend::Mmap && settings.placement.append {
        return Some(("file_append", cannot("append to files")));
    }
    if settings.control.handling.end_syncfs && !table::syncs_file_systems(engine) {
        return Some(("end_syncfs", cannot("sync file systems")));
    }
    if settings.pacing.offload && engine == "io_uring" {
        let message = cannot("submit from other threads");
        return Some(("io_submit_mode", message));
    }
    None
}
