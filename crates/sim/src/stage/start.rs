//! How a stage starts: its workers with their streams and schedules, and where the I/O of each goes.
//!
//! Invariant: of one workload and seed each worker has the stream and the arrivals that it has on real storage.

use fathom_model::Storage;
use fathom_record::{EventSink, WorkerStats};
use fathom_units::Percent;
use fathom_workload::generator::{
    ArrivalSchedule, SharedCursor, StreamError, StreamKey, WorkerStream,
};
use fathom_workload::{Backend, Direction, Job, OpenSync};

use super::{Route, Run, Setup};
use crate::agenda::Agenda;
use crate::flows::Flows;
use crate::gauges::Gauges;
use crate::intervals::Intervals;
use crate::io_logs::IoLogs;
use crate::plan::PlannedJob;
use crate::worker::{Times, Worker};

impl<'a, 'r> Run<'a, 'r> {
    /// The stage before its first event.
    ///
    /// # Errors
    /// Where a job has no stream.
    pub fn new(
        setup: &'r Setup<'a>,
        storage: &'r mut Storage,
        sink: &'r mut dyn EventSink,
    ) -> Result<Self, StreamError> {
        // What storage does by itself goes on between stages.
        while storage.next_due().is_some_and(|at| at < setup.start) {
            storage.advance(&mut Vec::new());
        }
        let mut workers = Vec::new();
        let mut routes = Vec::new();
        for (index, planned) in setup.jobs.iter().enumerate() {
            let shared = SharedCursor::new();
            for number in 0..planned.job.workers.max(1) {
                let key = StreamKey {
                    seed: setup.seed,
                    job: planned.number,
                    worker: number,
                    salt: planned.job.salt,
                };
                let mut worker = new_worker(index, planned, key, &shared, setup)?;
                let first = planned.targets.first();
                worker.may_turn(is_plain(planned.job));
                worker.looks_ahead = planned.job.backend != Backend::Null
                    && first.is_some_and(|target| storage.expects(target.volume));
                workers.push(worker);
                routes.push(Route {
                    job: index,
                    targets: &planned.targets,
                    stream: u64::from(planned.number) << 32 | u64::from(number),
                    first_draw: setup.first_draw(),
                    backend: planned.job.backend,
                    plain: is_plain(planned.job),
                    operation: planned.job.features.operation,
                    fua: planned.job.sync.open != OpenSync::None,
                });
            }
        }
        let flows = Flows::of(routes.iter().map(|route| setup.jobs[route.job].job));
        let logs = IoLogs::of(routes.iter().zip(&workers).map(|(route, worker)| {
            let job = setup.jobs[route.job].job;
            (route.job, job, worker.stats.worker, worker.times.measure)
        }));
        let goes = |planned: &PlannedJob<'_>| {
            Direction::ALL.map(|way| planned.job.mix.share(way).basis_points() > 0)
        };
        let jobs = || setup.jobs.iter().map(goes);
        let used = jobs().fold([false; 3], |used, goes| {
            [0, 1, 2].map(|way| used[way] || goes[way])
        });
        let mut intervals = Intervals::new(setup.index, used).after_failures(setup.failed_before);
        if sink.wants_jobs() {
            intervals = intervals.with_jobs(jobs());
        }
        let measure = workers.iter().map(|worker| worker.times.measure).min();
        Ok(Self {
            setup,
            storage,
            sink,
            agenda: Agenda::default(),
            completed: Vec::new(),
            workers,
            routes,
            flows,
            logs,
            intervals,
            gauges: Gauges::default(),
            measure: measure.unwrap_or(setup.start),
            now: setup.start,
            is_cut: false,
        })
    }
}

/// Whether a job reads and writes storage, and nothing else, and tells nothing of it.
fn is_plain(job: &Job) -> bool {
    let trims = job.mix.share(Direction::Trim) > Percent::ZERO;
    let told = job.features.io_log.each;
    job.backend != Backend::Null && job.features.operation.is_none() && !trims && !told
}

fn new_worker(
    index: usize,
    planned: &PlannedJob<'_>,
    key: StreamKey,
    shared: &SharedCursor,
    setup: &Setup<'_>,
) -> Result<Worker, StreamError> {
    let job = planned.job;
    let ranges: Vec<_> = planned.targets.iter().map(|target| target.range).collect();
    // A job under rates by direction is one stream at their sum.
    let at_rates = job.features.rates.map(|_| Job {
        mix: job.mix_at_rates(),
        ..job.clone()
    });
    let drawn = at_rates.as_ref().unwrap_or(job);
    let stream = WorkerStream::new(drawn, key, &ranges, shared)?;
    let schedule = ArrivalSchedule::of(job, key.of_repeat(setup.repeat));
    let limits = &job.limits;
    let first = setup.start.saturating_add(limits.start_delay);
    let measure = first.saturating_add(limits.warmup);
    let deadline = limits
        .runtime
        .map(|runtime| measure.saturating_add(runtime));
    let times = Times {
        stage: setup.start,
        first,
        measure,
        deadline,
    };
    let stats = WorkerStats::new(index, key.worker);
    Ok(Worker::new(job, stats, stream, schedule, times))
}
