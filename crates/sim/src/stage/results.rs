//! What a predicted stage comes to: its result, rows of its storage, and notes on rates that were not reached.

use std::collections::BTreeMap;

use fathom_model::Storage;
use fathom_record::{StageResult, StorageRecord, WorkerStats};
use fathom_units::{BytesPerSec, Nanos, per_second};
use fathom_workload::{Arrival, Pacing};

use super::Run;
use crate::plan::PlannedJob;
use crate::worker::Worker;

impl Run<'_, '_> {
    pub(super) fn finish(mut self, name: &str, stage: usize) -> StageResult {
        self.count_all_recent();
        self.logs.finish(self.setup.index, self.sink);
        let end = self
            .workers
            .iter()
            .map(Worker::end)
            .max()
            .unwrap_or(self.measure);
        let start = self.setup.start;
        let workers: Vec<WorkerStats> = self.workers.into_iter().map(Worker::finish).collect();
        let intervals = self.intervals.finish(end - start, self.sink);
        let mut storage = storage_rows(self.storage, self.now);
        self.storage.unwatched_until(Nanos::ZERO);
        self.gauges.finish(self.now, self.storage, &mut storage);
        let mut result = StageResult {
            measured: end - self.measure,
            workers,
            intervals,
            storage,
            ..StageResult::new(name, stage)
        };
        result.notes = shortfalls(self.setup.jobs, &result);
        result
    }
}

/// The model's parts as rows of a record, predicted and served alike.
pub fn storage_rows(storage: &Storage, now: Nanos) -> BTreeMap<String, StorageRecord> {
    let rows = storage.statistics(now).into_iter().map(|(name, row)| {
        let record = StorageRecord {
            kind: row.kind.to_owned(),
            ios: row.ios,
            bytes: row.bytes,
            depth: Some(row.depth),
            busy_share: row.busy_share,
            cached_reads: row.cached_reads,
            hit_share: row.hit_share,
            memory_share: row.memory_share,
            over_time: None,
            limits: row.limits,
            counters: None,
        };
        (name, record)
    });
    rows.collect()
}

/// One sentence for each job that asked for bytes a second and got less.
///
/// A rate of I/Os needs none: the job's record holds what was asked for and what was reached.
fn shortfalls(jobs: &[PlannedJob<'_>], result: &StageResult) -> Vec<String> {
    let mut notes = Vec::new();
    for (index, planned) in jobs.iter().enumerate() {
        let Arrival::Open {
            rate: Pacing::Bytes(rate),
            ..
        } = planned.job.arrival
        else {
            continue;
        };
        let workers = result.workers.iter().filter(|worker| worker.job == index);
        let workers: Vec<_> = workers.collect();
        let done: f64 = workers
            .iter()
            .map(|worker| per_second(worker.bytes(), worker.measured))
            .sum();
        let asked = rate.get() as f64 * f64::from(planned.job.workers.max(1));
        // Half a percent is what the ends of a run may take.
        if done > 0.0 && done < asked * 0.995 {
            let limit = waited_most(&workers);
            let limit = limit.map_or_else(String::new, |limit| format!("; it waited for {limit}"));
            notes.push(format!(
                "job `{}` asked for {} and reached {}{limit}",
                planned.job.name,
                BytesPerSec::new(asked.round() as u64),
                BytesPerSec::new(done.round() as u64)
            ));
        }
    }
    notes
}

/// The limit that I/Os waited for longest.
fn waited_most(workers: &[&WorkerStats]) -> Option<String> {
    let mut waited: BTreeMap<&str, u128> = BTreeMap::new();
    for (limit, ns) in workers
        .iter()
        .flat_map(|worker| worker.waited_ns.iter().flatten())
    {
        *waited.entry(limit).or_default() += ns;
    }
    let longest = waited.into_iter().max_by_key(|(_, ns)| *ns);
    longest.map(|(limit, _)| limit.to_owned())
}
