//! A worker in virtual time before its first I/O.

use fathom_record::{OpStats, RateWindows, WorkerStats, depth_level};
use fathom_units::{Nanos, Percent};
use fathom_workload::generator::{ArrivalSchedule, WorkerStream};
use fathom_workload::{Direction, Job};

use super::measured::HALF_SECOND;
use super::{Times, Worker};
use crate::recent::Recent;

impl Worker {
    pub fn new(
        job: &Job,
        stats: WorkerStats,
        stream: WorkerStream,
        schedule: Option<ArrivalSchedule>,
        times: Times,
    ) -> Self {
        let mut stats = stats;
        let asked = job.features.rate_samples;
        stats.windows = asked.map(|asked| Box::new(RateWindows::new(asked)));
        let half_end = times.measure.saturating_add(Nanos::new(HALF_SECOND));
        let windows = stats.windows.as_ref();
        let first_end = windows.map_or(half_end, |windows| {
            half_end.min(times.measure.saturating_add(windows.next_end()))
        });
        let open = schedule.is_some();
        for direction in Direction::ALL {
            let used = job.mix.share(direction) > Percent::ZERO;
            stats.directions[direction as usize] =
                used.then(|| OpStats::new(open, job.split_latency));
        }
        stats.started = times.measure - times.stage;
        let syncs = job.sync.fsync_every > 0 || job.sync.fdatasync_every > 0;
        let flows = job.features.flow.is_some();
        let plain = !open && !syncs && !flows;
        let depth = job.effective_depth().max(1);
        Self {
            stream,
            schedule,
            base: times.first,
            delays: job
                .features
                .lines
                .iter()
                .any(|line| line.delay > Nanos::ZERO),
            times,
            depth,
            pending: None,
            waiting: None,
            plain,
            open: open && !syncs && !flows,
            turns: false,
            turns_until: Nanos::ZERO,
            full_level: depth_level(depth),
            looks_ahead: false,
            closed: false,
            owing: false,
            sync_every: if job.sync.fsync_every > 0 {
                job.sync.fsync_every
            } else {
                job.sync.fdatasync_every
            },
            unsynced: 0,
            synced: None,
            pending_sync: None,
            slots: Vec::new(),
            intended: Vec::new(),
            free: Vec::new(),
            outstanding: 0,
            last_event: Nanos::ZERO,
            last_completion: Nanos::ZERO,
            completions: 0,
            waited: Default::default(),
            recent: [Recent::NONE; 3],
            responses: <[Vec<u64>; 3]>::default(),
            before_ns: 0,
            sample_end: first_end,
            half_end,
            sampled: ([0; 3], [0; 3]),
            stats,
        }
    }
}
