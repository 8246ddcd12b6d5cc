//! Jobs that are alike but for their random numbers, such as fio's clones (`numjobs`).
//!
//! On one target they are what other tools call its threads. Written job by job, the same path would stand there several
//! times, which reads as several files.

use std::collections::HashSet;

use fathom_workload::{Access, Arrival, Features, Job, Place as Where, SequentialScope, Workload};

use crate::loss::{Loss, Place, Weight};

/// Whether two jobs are the same but for their random numbers, each of one worker.
pub fn are_clones(one: &Job, other: &Job) -> bool {
    let salted = Job {
        salt: one.salt,
        ..other.clone()
    };
    // A clone has a file for its trace, and a state of its checks, of its own.
    one.workers == 1
        && one.features.trace_to.is_none()
        && one.features.verify.is_none()
        && *one == salted
}

/// A workload with clones on one target as workers of one job.
pub struct Merged {
    /// The workload.
    pub workload: Workload,
    /// The numbers of the jobs that clones became, over all stages.
    pub numbers: HashSet<usize>,
    /// What is told of them.
    pub told: Vec<Loss>,
}

/// The workload with clones as workers, where `is_fit` says that the dialect's threads do what these do.
pub fn as_workers(workload: &Workload, is_fit: fn(&Job) -> bool) -> Merged {
    let mut workload = workload.clone();
    let (mut numbers, mut told) = (HashSet::new(), Vec::new());
    let mut number = 0;
    for stage in &mut workload.stages {
        let mut jobs = Vec::with_capacity(stage.jobs.len());
        let mut rest = stage.jobs.as_slice();
        while let Some((first, behind)) = rest.split_first() {
            let mut job = first.clone();
            if shares_nothing(first) && is_fit(first) {
                // Jobs that draw the same numbers are no clones: somebody listed one twice.
                let is_one_more = |job: &&Job| are_clones(first, job) && job.salt != first.salt;
                let alike = behind.iter().take_while(is_one_more);
                job.workers += alike.count() as u32;
            }
            if job.workers > first.workers {
                numbers.insert(number);
                told.push(loss(&job));
            }
            number += 1;
            rest = &rest[1 + (job.workers - first.workers) as usize..];
            jobs.push(job);
        }
        stage.jobs = jobs;
    }
    Merged {
        workload,
        numbers,
        told,
    }
}

/// Whether workers of the job would share nothing that clones of it have for themselves: a rate, a place in the file, a log.
fn shares_nothing(job: &Job) -> bool {
    let Features {
        files,
        calls,
        placement,
        filling,
        lines,
        ..
    } = job.features.clone();
    let alone = Features {
        files,
        calls,
        placement,
        filling,
        lines,
        ..Features::default()
    };
    let shares_place = matches!(
        job.access,
        Access::Sequential {
            scope: SequentialScope::Shared,
            ..
        }
    );
    let mut places = job.targets.iter().map(|target| &target.place);
    let is_closed = job.arrival == Arrival::Closed;
    let on_paths = places.all(|place| matches!(place, Where::Path(_)));
    is_closed && !shares_place && on_paths && job.features == alone
}

fn loss(job: &Job) -> Loss {
    Loss {
        weight: Weight::Differs,
        place: Place::Jobs(vec![job.name.clone()]),
        key: "workers".to_owned(),
        message: format!(
            "{} jobs that are alike but for their random numbers become as many workers of one",
            job.workers
        ),
    }
}
