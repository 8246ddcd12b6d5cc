//! Jobs that ran for a part of their stage alone.
//!
//! A line of several jobs in the table has their rate over the whole stage, so that lines add up. Where each of them took less
//! time than that, they were faster while they ran, which is said. Of each by itself: whether they ran at one time, the record
//! does not tell.

use fathom_record::{DirectionRecord, JobRecord, StageRecord, jobs_in_words};
use fathom_units::Nanos;

use super::names_of;
use crate::format::rate;

/// The largest part of a stage that jobs may have run for to be told of: what is closer shows in no figure's first two digits.
const SHARE_MOST: f64 = 0.95;

type OfJob = fn(&JobRecord) -> Option<&DirectionRecord>;

/// A sentence for each direction whose jobs, two or more, took less time than the first repeat of their stage.
pub(super) fn sentences(repeats: &[&StageRecord]) -> Vec<String> {
    let directions: [(&str, OfJob); 3] = [
        ("reads", |job| job.read.as_ref()),
        ("writes", |job| job.write.as_ref()),
        ("trims", |job| job.trim.as_ref()),
    ];
    let Some(stage) = repeats.first() else {
        return Vec::new();
    };
    let sentence = |(direction, of_job): (&str, OfJob)| {
        let ios = |job: &JobRecord| of_job(job).map_or(0, |figures| figures.ios);
        let doing = stage.jobs.iter().filter(|job| ios(job) > 0);
        let longest = Nanos::new(doing.map(|job| job.measured_ns).max()?);
        let whole = Nanos::new(stage.measured_ns);
        let names = names_of(&stage.jobs, |job| ios(job) > 0);
        // What one job did is in the table over its own time.
        if names.len() < 2 || longest.as_secs_f64() > whole.as_secs_f64() * SHARE_MOST {
            return None;
        }
        let rates = stage.jobs.iter().filter_map(of_job).map(|one| one.iops);
        let rates = rates.filter(|iops| *iops > 0.0);
        let least = rate(rates.clone().fold(f64::INFINITY, f64::min));
        let most = rate(rates.fold(0.0, f64::max));
        let reached = if least == most {
            least
        } else {
            format!("{least} to {most}")
        };
        let jobs = jobs_in_words(&names);
        Some(format!(
            "{direction} of {jobs} took {longest} of the stage's {whole}: {reached} IOPS each over their own time; the table \
             counts the whole stage"
        ))
    };
    directions.into_iter().filter_map(sentence).collect()
}
