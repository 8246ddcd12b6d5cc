//! What fio's settings ask for beyond plain I/O, in the terms of the workload model.

use fathom_workload::{
    Backend, EndsOthers, ErrorHandling, Features, FileHandling, Growth, Reserve,
};

use super::engine::{backend, operation};
use super::processor_work;
use super::reopening::makes_anew;
use super::settings::{Settings, calls, calls_of_operation};

/// `IOPRIO_CLASS_BE` of the kernel.
const BEST_EFFORT: u8 = 2;

/// A trim that fails is an error of a write to fio.
fn errors(settings: &Settings) -> ErrorHandling {
    let mut errors = settings.control.errors.clone();
    if !settings.judges_latency() {
        errors.latency_max = [None; 3];
    }
    let survived = &settings.control.survived;
    errors.ignored = [survived.reads(), survived.writes(), survived.writes()];
    errors.full_ends = settings.placement.fill;
    errors
}

/// What becomes of a missing or short file. fio lays it out for a job that reads, for one that is to overwrite, and for an
/// engine that cannot make a file longer; for any other job that writes it reserves the space, and the job's writes fill it.
/// Jobs that make their files when they open them, or fill their device, have nothing reserved. The files of a trace are laid
/// out here, and those of operations on files and of checks alone.
fn growth(settings: &Settings) -> Growth {
    let [reads, writes, _] = settings.pattern.directions;
    let making = settings.control.making;
    let checks_alone = settings.verify.only && settings.verify.kind().is_some();
    let grows = writes
        && !reads
        && !checks_alone
        && settings.control.trace.read.is_none()
        && operation(settings).is_none()
        && !matches!(
            backend(settings),
            Backend::Mmap | Backend::Nbd | Backend::Null
        );
    if !grows {
        return Growth::No;
    }
    if making.on_open {
        return Growth::Reserved(Reserve::Nothing);
    }
    if making.overwrite && !settings.placement.append {
        return Growth::No;
    }
    if settings.placement.fill {
        return Growth::Reserved(Reserve::Nothing);
    }
    Growth::Reserved(making.reserve)
}

/// All features of clone `number`, but for a replayed trace. They say whom its end ends under `exitall`.
pub fn of(settings: &Settings, number: u64) -> Features {
    let mut process = settings.control.process.clone();
    let others = settings.control.exit_what.unwrap_or(EndsOthers::Group);
    if settings.control.exit_on_error {
        process.ends_on_error = others;
    }
    process.ends = others;
    // Without a class of its own a level is one of best effort.
    if let Some(priority) = process.io_priority.as_mut().filter(|it| it.class == 0) {
        priority.class = BEST_EFFORT;
    }
    Features {
        process,
        calls: match operation(settings) {
            None => calls(settings),
            Some(operation) => calls_of_operation(settings, operation),
        },
        files: FileHandling {
            grows: growth(settings),
            made_anew: makes_anew(settings),
            ..settings.control.handling.clone()
        },
        errors: errors(settings),
        operation: operation(settings),
        processor_work: processor_work::work(settings),
        // Clones of one job must not write over each other's trace.
        trace_to: settings
            .control
            .trace
            .write
            .as_ref()
            .filter(|_| settings.control.trace.read.is_none())
            .map(|path| match number {
                0 => path.clone(),
                more => format!("{path}.{more}"),
            }),
        ..Features::default()
    }
}
