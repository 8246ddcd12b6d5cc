//! What stands with an RD on files and devices: its rates, times and bytes.

use std::fmt::Write as _;

use fathom_units::Nanos;
use fathom_workload::{Arrival, Job, Limits, Poisson, Stage};

use super::wd::ends_at_eof;
use super::{list, size, whole};

/// The times of a run are those of its longest job.
pub(super) fn of_run(
    (stage, rates, varies): (&Stage, &str, Option<&str>),
    jobs: &[(usize, &Job)],
    names: &[String],
    points: &[Stage],
) -> String {
    let limits = |of: fn(&Limits) -> u64| {
        jobs.iter()
            .map(|(_, job)| of(&job.limits))
            .max()
            .unwrap_or(0)
    };
    let warmup = limits(|limits| limits.warmup.get().div_ceil(1_000_000_000));
    let elapsed = limits(|limits| {
        limits
            .runtime
            .map_or(30, |time| time.get().div_ceil(1_000_000_000))
    });
    let work = list(names);
    let mut text = format!("wd={work},iorate={rates},interval=1");
    // Shared out over the streams of a workload. What a warm-up moves would not count.
    let bytes = match (names.len(), jobs) {
        (1, [(_, job), ..]) if warmup == 0 => job.limits.bytes,
        _ => None,
    };
    let maxdata = bytes.map(|bytes| bytes.get().saturating_mul(jobs.len() as u64));
    let ends_early = maxdata.is_some() || jobs.iter().any(|(_, job)| ends_at_eof(job));
    // A run has two intervals at least. Without a warm-up, the first is left out of what is measured.
    let elapsed = match (warmup, elapsed) {
        (0, elapsed) if ends_early => elapsed.max(2),
        (0, elapsed) => elapsed.max(1) + 1,
        (1, 0 | 1) if !ends_early => 2,
        (warmup, elapsed) => {
            let _ = write!(text, ",warmup={warmup}");
            elapsed.max(2)
        }
    };
    let _ = write!(text, ",elapsed={elapsed}");
    if stage.cooldown > Nanos::ZERO {
        let _ = write!(text, ",pause={}", whole(stage.cooldown));
    }
    let of_points = points.first().map_or(&[][..], |point| &point.jobs);
    let all = jobs.iter().map(|(_, job)| *job).chain(of_points);
    let paced = { all }.find_map(|job| match job.arrival {
        Arrival::Open {
            rate: _,
            poisson,
            when_full: _,
        } => Some(poisson),
        Arrival::Closed => None,
    });
    let gaps = paced.map(|gaps| match gaps {
        Poisson::Fixed => "deterministic",
        Poisson::Uniform => "uniform",
        Poisson::Exponential => "exponential",
    });
    let words = gaps.into_iter().chain(varies).map(str::to_owned);
    let words: Vec<String> = words.collect();
    if !words.is_empty() {
        let _ = write!(text, ",distribution={}", list(&words));
    }
    if let Some(all) = maxdata {
        let _ = write!(text, ",maxdata={}", size(all));
    }
    text
}
