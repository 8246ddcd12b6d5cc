//! Who of a stage's jobs waits for whom, and who ends whom.
//!
//! Invariant: a worker that waits is woken by the end of what it waits for, or sees within [`LOOK_EVERY`] that the run is
//! to end.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use fathom_workload::{EndsOthers, Stage, Workload};

use crate::tolerance::Tolerance;
use crate::{EngineError, StopFlag};

/// How soon a waiting worker sees that the run is to end.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// The order of one stage's jobs, shared by its workers.
#[derive(Debug)]
pub(crate) struct Order<'a> {
    stage: &'a Stage,
    /// What an I/O that failed ends.
    tolerance: &'a Tolerance,
    /// Told to end, by place of the group in `groups`.
    told_to_end: Vec<AtomicBool>,
    /// Ids of the reporting groups.
    groups: Vec<u32>,
    /// Workers of each job that have not ended yet.
    running: Mutex<Vec<u32>>,
    one_ended: Condvar,
    /// Set when the workers of all jobs that do I/O have ended; where there are none, by [`Self::end_io`] alone.
    io_is_over: AtomicBool,
    ends_run: AtomicBool,
    /// The first command of a job that failed.
    failure: Mutex<Option<EngineError>>,
    /// Why workers ended by themselves, until it is told.
    failed_alone: Mutex<Vec<EngineError>>,
    /// What workers that have ended found wrong, until it is told.
    wrong: Mutex<Vec<String>>,
}

impl<'a> Order<'a> {
    pub(crate) fn new(stage: &'a Stage, tolerance: &'a Tolerance) -> Self {
        let mut groups: Vec<u32> = stage.jobs.iter().map(|job| job.group.id).collect();
        groups.sort_unstable();
        groups.dedup();
        Self {
            stage,
            tolerance,
            told_to_end: groups.iter().map(|_| AtomicBool::new(false)).collect(),
            groups,
            running: Mutex::new(stage.jobs.iter().map(|job| job.workers).collect()),
            one_ended: Condvar::new(),
            io_is_over: AtomicBool::new(false),
            ends_run: AtomicBool::new(false),
            failure: Mutex::new(None),
            failed_alone: Mutex::new(Vec::new()),
            wrong: Mutex::new(Vec::new()),
        }
    }

    /// What tells the workers of a job to end.
    pub(crate) fn told_to_end(&self, job: usize) -> &AtomicBool {
        let id = self.stage.jobs[job].group.id;
        let place = self.groups.binary_search(&id).unwrap_or(0);
        &self.told_to_end[place]
    }

    /// Tells jobs that are beside the I/O of others when that is over.
    pub(crate) fn io_is_over(&self) -> &AtomicBool {
        &self.io_is_over
    }

    /// Tells them so from the start: all I/O of the run lies behind the stage.
    pub(crate) fn end_io(&self) {
        self.io_is_over.store(true, Ordering::Relaxed);
    }

    /// Waits until all workers of the jobs whose end `job` waits for have ended.
    pub(crate) fn wait(&self, job: usize, stop: &StopFlag) {
        let Some(name) = &self.stage.jobs[job].features.process.after else {
            return;
        };
        let told = self.told_to_end(job);
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let mut awaited = self.stage.jobs.iter().zip(running.iter());
            let is_over = awaited.all(|(other, left)| other.name != *name || *left == 0);
            if is_over || stop.is_requested() || told.load(Ordering::Relaxed) {
                return;
            }
            let woken = self.one_ended.wait_timeout(running, LOOK_EVERY);
            running = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Whether a worker whose I/O failed ends by itself.
    pub(crate) fn workers_fail_alone(&self) -> bool {
        self.tolerance.workers_fail_alone()
    }

    /// Keeps why a worker ended by itself.
    pub(crate) fn failed_alone(&self, error: EngineError) {
        let failed = self.failed_alone.lock();
        failed.unwrap_or_else(PoisonError::into_inner).push(error);
    }

    /// Why workers ended by themselves since this was last asked.
    pub(crate) fn take_failed_alone(&self) -> Vec<EngineError> {
        let mut failed = self
            .failed_alone
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut failed)
    }

    /// Keeps what a worker has found wrong in the data that it read.
    pub(crate) fn found_wrong(&self, lines: Vec<String>) {
        let wrong = self.wrong.lock();
        wrong.unwrap_or_else(PoisonError::into_inner).extend(lines);
    }

    /// What workers have found wrong since this was last asked.
    pub(crate) fn take_wrong(&self) -> Vec<String> {
        let mut wrong = self.wrong.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut wrong)
    }

    /// A worker of `job` has come to its end, by an error or without.
    pub(crate) fn ended(&self, job: usize, by_error: bool) {
        let process = &self.stage.jobs[job].features.process;
        self.end(job, process.ends);
        if by_error {
            self.end(job, process.ends_on_error);
        }
        self.gone(job);
    }

    /// A worker of `job` is no more: what waits for its end may begin.
    pub(crate) fn gone(&self, job: usize) {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running[job] = running[job].saturating_sub(1);
        let jobs = self.stage.jobs.iter().zip(running.iter());
        let mut of_io = jobs.filter(|(job, _)| job.features.processor_work.is_none());
        let does_io = self.stage.jobs[job].features.processor_work.is_none();
        if does_io && of_io.all(|(_, left)| *left == 0) {
            self.io_is_over.store(true, Ordering::Relaxed);
        }
        drop(running);
        self.one_ended.notify_all();
    }

    /// Ends what ends with `job`.
    fn end(&self, job: usize, what: EndsOthers) {
        match what {
            EndsOthers::Nothing => {}
            EndsOthers::Group => self.told_to_end(job).store(true, Ordering::Relaxed),
            EndsOthers::Stage => self.end_all(),
            EndsOthers::Run => {
                self.ends_run.store(true, Ordering::Relaxed);
                self.end_all();
            }
        }
    }

    /// Tells every worker to end.
    pub(crate) fn end_all(&self) {
        for told in &self.told_to_end {
            told.store(true, Ordering::Relaxed);
        }
    }

    /// Keeps why a job cannot go on, and tells every worker to end.
    pub(crate) fn fail(&self, error: EngineError) {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.get_or_insert(error);
        drop(failure);
        self.end_all();
    }

    /// The first failure that was kept.
    pub(crate) fn take_failure(&self) -> Option<EngineError> {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.take()
    }

    /// Whether a job that has ended ends the whole run.
    pub(crate) fn ends_run(&self) -> bool {
        self.ends_run.load(Ordering::Relaxed)
    }
}

/// Whether the I/O of the run lies behind its `index`th stage: stages before it do some, and neither it nor one that is to come.
pub(crate) fn io_is_behind(workload: &Workload, index: usize) -> bool {
    let jobs = workload.jobs();
    let of_io = jobs.filter(|(_, job)| job.features.processor_work.is_none());
    let last = of_io.map(|(stage, _)| stage).max();
    last.is_some_and(|last| last < index)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_units::{Nanos, Percent};
    use fathom_workload::{ProcessorWork, WorkKind, preset};

    /// Stages of I/O (`i`), of work alone (`w`), and of both (`b`).
    fn workload(stages: &str) -> Workload {
        let mut workload = preset("quick", "/unused").unwrap();
        let mut stage = workload.stages.remove(0);
        stage.jobs.truncate(1);
        let mut work = stage.jobs[0].clone();
        work.features.processor_work = Some(ProcessorWork {
            share: Percent::from_basis_points(5000).unwrap(),
            burst: Nanos::from_millis(50),
            kind: WorkKind::Spin,
            ends_with_io: true,
        });
        let of_kind = |kind: char| {
            let mut stage = stage.clone();
            match kind {
                'i' => {}
                'w' => stage.jobs = vec![work.clone()],
                _ => stage.jobs.push(work.clone()),
            }
            stage
        };
        workload.stages = stages.chars().map(of_kind).collect();
        workload
    }

    #[test]
    fn io_lies_behind_a_stage_where_none_is_in_it_or_to_come() {
        #[track_caller]
        fn check(stages: &str, behind: &[bool]) {
            let workload = workload(stages);
            let places = 0..stages.len();
            let told: Vec<bool> = places.map(|index| io_is_behind(&workload, index)).collect();
            assert_eq!(told, behind, "{stages}");
        }
        check("w", &[false]);
        check("wi", &[false, false]);
        check("iw", &[false, true]);
        check("iww", &[false, true, true]);
        check("iwi", &[false, false, false]);
        check("ibw", &[false, false, true]);
    }
}
