//! Results of jobs that were not run.

use fathom_record::{EndReason, FailedOperation, IoErrors, StageResult, WorkerStats};
use fathom_workload::{Direction, Job, Workload};

/// Nothing but errors: of each job, counted from 0 through all of them, the number that `errno_of` gives.
pub fn results(workload: &Workload, errno_of: &dyn Fn(usize, &Job) -> i32) -> Vec<StageResult> {
    let mut place = 0..;
    let stages = workload.stages.iter().enumerate();
    let results = stages.map(|(index, stage)| {
        let jobs = stage.jobs.iter().enumerate();
        let workers = jobs.flat_map(|(number, job)| {
            let errno = place.next().map_or(0, |place| errno_of(place, job));
            (0..job.workers).map(move |worker| refused(number, worker, errno))
        });
        StageResult {
            workers: workers.collect(),
            ..StageResult::new(&stage.name, index)
        }
    });
    results.collect()
}

fn refused(job: usize, worker: u32, errno: i32) -> WorkerStats {
    WorkerStats {
        // It is no I/O that failed, and none that a job could survive.
        errors: vec![IoErrors {
            direction: Direction::Read,
            operation: Some(FailedOperation::Sync),
            errno,
            count: 0,
            first_offsets: Vec::new(),
        }],
        ended: EndReason::Failed,
        ..WorkerStats::new(job, worker)
    }
}
