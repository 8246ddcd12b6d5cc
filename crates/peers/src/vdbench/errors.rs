//! Failed I/Os of a run: Vdbench goes on until there are 50, or `data_errors=`.
//!
//! Each is told as it happens, as Vdbench does; those of a run that failed alike are told together at its end, too.

use std::num::NonZeroU64;

use fathom_record::{IoErrors, StageResult, WRONG_DATA};
use fathom_session::{Code, Failure};
use fathom_units::{counted_ios, group_digits};
use fathom_workload::Workload;

/// How many failed.
pub fn count(results: &[StageResult]) -> u64 {
    let workers = results.iter().flat_map(|result| &result.workers);
    let errors = workers.flat_map(|worker| &worker.errors);
    errors.map(|error| error.count).sum()
}

/// What a run ends with in which I/Os failed, but fewer than end it.
pub fn failure(failed: u64, limit: NonZeroU64) -> Failure {
    let (ios, limit) = (counted_ios(failed), group_digits(limit.get()));
    let message = format!(
        "{ios} failed, of {limit} that end a run (`data_errors=`): the figures are of those that did not fail"
    );
    let hint = "look at the log of the device and of the kernel before trusting them";
    Failure::new(Code::VdbenchFailed, message).hint(hint)
}

/// Why the run ended, where failed I/Os that were survived came to the limit; the first alone is told by itself.
pub fn reached(failed: u64, limit: NonZeroU64) -> Option<String> {
    let is_last = failed >= limit.get() && limit > NonZeroU64::MIN;
    is_last.then(|| format!("data_errors={limit}: so many I/Os failed, which ends all runs"))
}

/// A line for each job, direction and error number of a run.
pub fn lines(workload: &Workload, result: &StageResult) -> Vec<String> {
    let mut found: Vec<(usize, IoErrors)> = Vec::new();
    for worker in &result.workers {
        for error in &worker.errors {
            let same = |(job, other): &&mut (usize, IoErrors)| {
                (*job, other.name(), other.errno) == (worker.job, error.name(), error.errno)
            };
            match found.iter_mut().find(same) {
                Some((_, known)) => known.count += error.count,
                None => found.push((worker.job, error.clone())),
            }
        }
    }
    found
        .iter()
        .map(|(job, error)| line(workload, (result.stage, *job), error))
        .collect()
}

fn line(workload: &Workload, (stage, job): (usize, usize), error: &IoErrors) -> String {
    let stage = workload.stages.get(stage);
    let job = stage.and_then(|stage| stage.jobs.get(job));
    let place = error.first_offsets.first().and_then(|(target, offset)| {
        let path = job?.targets.get(*target as usize)?.place.path();
        Some(format!("; first: lun: {path} lba: {offset} 0x{offset:08x}"))
    });
    format!(
        "{}: failed: {} {} errno {}{}",
        job.map_or("", |job| job.name.as_str()),
        group_digits(error.count),
        error.name(),
        reason(error),
        place.unwrap_or_default()
    )
}

/// The number of an error and what it means; wrong data has a number of Vdbench's own.
fn reason(error: &IoErrors) -> String {
    match error.errno {
        WRONG_DATA => "60003: 'A Data Validation error was discovered'".to_owned(),
        number => format!("{number}: '{}'", error.reason()),
    }
}
