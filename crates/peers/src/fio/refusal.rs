//! The results of jobs that cannot begin, in the layouts that programs read: fio has them there too, with each job's error.
//!
//! fio begins, and tells what the system says to its first call that fails. What is found here before that has the same number.

use std::fs;
use std::path::Path;

use fathom_dialects::fio::{self, FioInput, Report};
use fathom_engine::{Capability, EngineError};
use fathom_units::Nanos;
use fathom_workload::{Backend, Direction, Job, Place};

use super::output::{errors, run_of};

/// A directory stands in place of a file.
const EISDIR: i32 = 21;
/// A scheduler that the disk does not have, or direct I/O on a file system without.
const EINVAL: i32 = 22;
/// What can be done to devices alone.
const ENOTTY: i32 = 25;
/// A job that another's error kept from running.
const ECANCELED: i32 = 125;

/// The results of jobs that were not run because of `error`. Jobs that it is not about were cancelled. People are told by the
/// message alone.
pub fn refusal(input: &FioInput, error: &EngineError, began: Nanos) -> String {
    errors(input, &errno_of(input, error), began)
}

/// The same for a client, whose output it is a part of.
pub fn report(input: &FioInput, error: &EngineError, began: Nanos) -> Report {
    let results = fio::refused(&input.workload, &errno_of(input, error));
    Report::of_refused(input, &run_of(&results, began))
}

/// The number of each job's error, by its place and itself.
fn errno_of(input: &FioInput, error: &EngineError) -> impl Fn(usize, &Job) -> i32 {
    let is_told = input.workload.jobs().any(|(_, job)| error.is_about(job));
    move |_, job| {
        if error.is_about(job) || !is_told {
            of_job(error, job)
        } else {
            ECANCELED
        }
    }
}

/// Linux's number of `error` as that of `job`.
fn of_job(error: &EngineError, job: &Job) -> i32 {
    match error {
        EngineError::Invalid(_) => of_targets(job).unwrap_or_else(|| error.errno()),
        // What the system calls an invalid argument.
        EngineError::Unsupported {
            capability: Capability::Scheduler | Capability::DirectIo,
            ..
        } => EINVAL,
        _ => error.errno(),
    }
}

/// What the system says, or would say, to a call on the first of the job's targets that it is wrong with.
fn of_targets(job: &Job) -> Option<i32> {
    let trims = job.moves(Direction::Trim)
        || (job.features.verify.as_deref()).is_some_and(|verify| verify.trims.is_some());
    let of_path = |path: &Path| match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => Some(EISDIR),
        Ok(metadata) if trims && metadata.is_file() => Some(ENOTTY),
        // A file that is to be made.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => trims.then_some(ENOTTY),
        Err(error) => error.raw_os_error(),
        Ok(_) => None,
    };
    let opens = job.backend != Backend::Null && job.features.operation.is_none();
    let mut targets = job.targets.iter().filter(|_| opens);
    targets.find_map(|target| match &target.place {
        Place::Path(path) => of_path(Path::new(path)),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use fathom_engine::About;
    use fathom_session::read_context;

    use super::*;

    /// A scheduler and direct I/O have the number of an invalid argument, whatever the words that people are told.
    #[test]
    fn what_is_not_supported_has_the_number_of_its_own() {
        let words = ["--name=a", "--size=1m"].map(str::to_owned);
        let input = fio::read(&words, &read_context()).unwrap_or_else(|it| panic!("{it}"));
        let (_, job) = input.workload.jobs().next().expect("there is a job");
        for (capability, expected) in [
            (Capability::Scheduler, 22),
            (Capability::DirectIo, 22),
            (Capability::Processors, 95),
            (Capability::Polling, 95),
        ] {
            let error = EngineError::Unsupported {
                capability,
                about: About::Job("a".to_owned()),
                what: "direct I/O on `file`: the I/O scheduler `none`".to_owned(),
                why: String::new(),
                remedy: String::new(),
            };
            assert_eq!(of_job(&error, job), expected, "{capability:?}");
        }
    }

    /// Who is told of is what the error says, whatever its words name.
    #[test]
    fn what_is_not_supported_is_about_who_asks() {
        let words = ["--size=1m", "--filename=/x/y", "--name=a", "--name=b"].map(str::to_owned);
        let mut arguments = words.to_vec();
        arguments.push("--filename=/x/z".to_owned());
        let input = fio::read(&arguments, &read_context()).unwrap_or_else(|it| panic!("{it}"));
        for (about, expected) in [
            (About::Job("a".to_owned()), [95, 125]),
            (About::Job("b".to_owned()), [125, 95]),
            (About::Target("/x/z".to_owned()), [125, 95]),
            (About::Target("/x/y".to_owned()), [95, 95]),
            (About::Target("/x".to_owned()), [95, 95]),
        ] {
            let error = EngineError::Unsupported {
                capability: Capability::Export,
                about: about.clone(),
                what: "job `a` and job `b`: `/x/y` and `/x/z`".to_owned(),
                why: String::new(),
                remedy: String::new(),
            };
            let errno = errno_of(&input, &error);
            let found: Vec<i32> = (input.workload.jobs().enumerate())
                .map(|(place, (_, job))| errno(place, job))
                .collect();
            assert_eq!(found, expected, "{about:?}");
        }
    }
}
