//! From measurements to the record.

use std::collections::BTreeMap;

use fathom_stats::{Histogram, to_hdr_base64};
use fathom_units::{Nanos, per_second};
use fathom_workload::{Direction, Job, Stage};

use crate::asked::asked_iops;
use crate::{
    CpuRecord, DetailRecord, DeviceCounters, DeviceCountersRecord, DirectionRecord, ErrorRecord,
    FailedOperation, IntervalDirection, IntervalRecord, IntervalStats, JobRecord, LatencyRecord,
    OpStats, OutsideCalls, SetStats, StageRecord, StageResult, StorageRecord, TotalRecord,
    WorkerStats,
};

/// The key under `meta` of bursts of work in place of I/O.
const BURST: &str = "burst";

/// Whether what a job's workers count as reads, writes and trims is I/O.
fn moves_data(job: &Job) -> bool {
    job.features.operation.is_none() && job.features.processor_work.is_none()
}

/// The record of one stage, from what was measured of it.
///
/// `stage` is the workload's stage that `result` belongs to; workers of `result` name its jobs by index.
pub fn stage_record(stage: &Stage, result: &StageResult) -> StageRecord {
    let jobs = stage.jobs.iter().enumerate().map(|(index, job)| {
        let workers: Vec<_> = result
            .workers
            .iter()
            .filter(|worker| worker.job == index)
            .collect();
        job_record(job, &workers)
    });
    // Operations on files move no data: they are no part of what the stage read and wrote.
    let is_of_data = |worker: &&WorkerStats| (stage.jobs.get(worker.job)).is_none_or(moves_data);
    let everyone: Vec<_> = result.workers.iter().filter(is_of_data).collect();
    let mut storage = result.storage.clone();
    for device in &result.devices {
        storage.insert(device.name.clone(), device_record(device));
    }
    StageRecord {
        name: result.name.clone(),
        started_unix_ns: result.began.map(|began| began.unix_ns),
        started_ns: result.began.map(|began| began.at.get()),
        measured_ns: result.measured.get(),
        jobs: jobs.collect(),
        total: total_record(&everyone, result.measured),
        intervals: interval_records(&result.intervals),
        storage,
        emulation: None,
        notes: result.notes.clone(),
        hosts: None,
    }
}

fn device_record(device: &DeviceCounters) -> StorageRecord {
    const SECTOR: u64 = 512;
    const MILLISECOND: u64 = 1_000_000;
    let counters = DeviceCountersRecord {
        read_ios: device.ios[0],
        write_ios: device.ios[1],
        read_bytes: device.sectors[0] * SECTOR,
        write_bytes: device.sectors[1] * SECTOR,
        read_merges: device.merges[0],
        write_merges: device.merges[1],
        read_ns: device.ticks_ms[0] * MILLISECOND,
        write_ns: device.ticks_ms[1] * MILLISECOND,
        in_queue_ns: device.in_queue_ms * MILLISECOND,
        busy_ns: device.busy_ms * MILLISECOND,
        over_ns: device.over.get(),
    };
    StorageRecord {
        kind: "block-device".to_owned(),
        ios: counters.read_ios + counters.write_ios,
        bytes: counters.read_bytes + counters.write_bytes,
        depth: Some(ratio(counters.in_queue_ns as f64, device.over)),
        busy_share: Some(ratio(counters.busy_ns as f64, device.over).min(1.0)),
        counters: Some(counters),
        ..StorageRecord::default()
    }
}

/// Everything that `workers` did in one direction; `None` where none goes that way.
pub fn total_of(workers: &[&WorkerStats], direction: Direction) -> Option<OpStats> {
    merged(
        workers
            .iter()
            .filter_map(|worker| worker.directions[direction as usize].as_ref()),
    )
}

/// The total of a stage of which only its seconds are known, by [`Direction`] and, on file sets, by operation: failures and
/// synchronisations are not.
pub fn total_of_seconds(
    directions: &[Option<OpStats>; 3],
    operations: &SetStats,
    measured: Nanos,
) -> TotalRecord {
    let figures = |stats: &OpStats| of_stats(stats, 0, measured);
    let [read, write, trim] = directions.each_ref().map(|way| way.as_ref().map(figures));
    let all = merged(directions.iter().flatten());
    TotalRecord {
        read,
        write,
        trim,
        sync: None,
        meta: {
            let done = operations.0.iter().filter(|(_, stats)| stats.ios() > 0);
            done.map(|(operation, stats)| (operation.name().to_owned(), figures(stats)))
                .collect()
        },
        all: all.as_ref().map(figures),
    }
}

fn job_record(job: &Job, workers: &[&WorkerStats]) -> JobRecord {
    let measured = span_of(workers);
    let outstanding: u128 = workers.iter().map(|worker| worker.outstanding_ns).sum();
    let total_time: u64 = workers.iter().map(|worker| worker.measured.get()).sum();
    let direction = |way| direction_record(workers, way, measured);
    let moves_data = moves_data(job);
    JobRecord {
        name: job.name.clone(),
        host: job.host.clone(),
        targets: job
            .targets
            .iter()
            .map(|target| target.place.path().to_owned())
            .collect(),
        workers: job.workers,
        depth_wanted: f64::from(job.depth),
        depth_achieved: if total_time == 0 {
            0.0
        } else {
            outstanding as f64 / total_time as f64
        },
        iops_wanted: match &job.features.file_work {
            Some(work) => work.rate.map(|rate| rate.rate.get() as f64),
            None => asked_iops(job).map(|each| each * f64::from(job.workers)),
        },
        measured_ns: measured.get(),
        read: direction(Direction::Read).filter(|_| moves_data),
        write: direction(Direction::Write).filter(|_| moves_data),
        trim: direction(Direction::Trim).filter(|_| moves_data),
        sync: sync_record(workers, measured),
        meta: match (job.features.operation, job.features.processor_work) {
            (Some(operation), _) => {
                let ways = Direction::ALL.into_iter();
                let done = ways
                    .filter_map(|way| Some((operation.name_by(way).to_owned(), direction(way)?)));
                done.collect()
            }
            (None, Some(_)) => {
                let bursts = direction(Direction::Read).into_iter();
                bursts.map(|done| (BURST.to_owned(), done)).collect()
            }
            (None, None) => set_record(workers, measured),
        },
        cpu: cpu_record(workers),
        errors: error_records(workers),
        detail: workers.iter().map(|worker| detail_record(worker)).collect(),
    }
}

/// Processor time of these workers.
fn cpu_record(workers: &[&WorkerStats]) -> CpuRecord {
    let usage = || workers.iter().map(|worker| &worker.usage);
    // Of workers of which one was not measured, a sum would be too small.
    let outside = |of: fn(&OutsideCalls) -> u64| -> Option<u64> {
        usage().map(|it| it.outside_calls.as_ref().map(of)).sum()
    };
    CpuRecord {
        user_ns: usage().map(|it| it.user.get()).sum(),
        system_ns: usage().map(|it| it.system.get()).sum(),
        outside_calls_ns: outside(|it| it.time.get()).filter(|_| !workers.is_empty()),
        io_calls: outside(|it| it.calls).filter(|_| !workers.is_empty()),
    }
}

/// Operations on file sets, but those that were never tried.
fn set_record(workers: &[&WorkerStats], measured: Nanos) -> BTreeMap<String, DirectionRecord> {
    let mut sum = SetStats::default();
    for worker in workers {
        sum.merge(&worker.set);
    }
    let done = sum.0.iter().filter_map(|(operation, stats)| {
        let errors = workers.iter().flat_map(|worker| &worker.errors);
        let errors =
            errors.filter(|error| error.operation == Some(FailedOperation::OnSet(*operation)));
        let errors: u64 = errors.map(|error| error.count).sum();
        let record = of_stats(stats, errors, measured);
        (record.ios + errors > 0).then(|| (operation.name().to_owned(), record))
    });
    done.collect()
}

/// First start to last end of the measurements of workers that had any: one that came when all was done has no part in it.
fn span_of(workers: &[&WorkerStats]) -> Nanos {
    let measured = workers
        .iter()
        .filter(|worker| worker.measured > Nanos::ZERO);
    let start = measured.clone().map(|worker| worker.started).min();
    let end = measured
        .map(|worker| worker.started + worker.measured)
        .max();
    let (start, end) = (start.unwrap_or_default(), end.unwrap_or_default());
    end.saturating_sub(start)
}

/// How long I/O of a direction was done within `measured`: from the first start of a worker to the last end of its time
/// for this direction where all of them took turns with checks, else all of it.
fn time_of(workers: &[&WorkerStats], way: Direction, measured: Nanos) -> Nanos {
    let goes = |worker: &&&WorkerStats| worker.directions[way as usize].is_some();
    let first = workers
        .iter()
        .filter(goes)
        .map(|worker| worker.started)
        .min();
    let first = first.unwrap_or_default();
    let mut times = workers.iter().filter(goes).map(|worker| {
        let taken = worker.time_of(way);
        let apart = worker.started.saturating_sub(first);
        (worker.checks.is_some() && taken > Nanos::ZERO).then_some(apart + taken)
    });
    let longest = times.try_fold(Nanos::ZERO, |longest, time| Some(longest.max(time?)));
    match longest {
        Some(time) if time > Nanos::ZERO => time.min(measured),
        _ => measured,
    }
}

fn merged<'a>(parts: impl Iterator<Item = &'a OpStats>) -> Option<OpStats> {
    parts.fold(None, |sum: Option<OpStats>, part| match sum {
        None => Some(part.clone()),
        Some(mut sum) => {
            sum.merge(part);
            Some(sum)
        }
    })
}

fn direction_record(
    workers: &[&WorkerStats],
    way: Direction,
    measured: Nanos,
) -> Option<DirectionRecord> {
    let errors = workers.iter().flat_map(|worker| &worker.errors);
    let errors = errors
        .filter(|error| error.direction == way && error.is_of_direction())
        .map(|error| error.count)
        .sum();
    let stats = total_of(workers, way)?;
    let mut record = of_stats(&stats, errors, time_of(workers, way, measured));
    set_waits(&mut record, &stats, workers, &[way]);
    Some(record)
}

fn sync_record(workers: &[&WorkerStats], measured: Nanos) -> Option<DirectionRecord> {
    let stats = merged(workers.iter().filter_map(|worker| worker.sync.as_ref()));
    let stats = stats.unwrap_or_else(|| OpStats::new(false, false));
    let errors = workers.iter().flat_map(|worker| &worker.errors);
    let errors = errors.filter(|error| error.operation == Some(FailedOperation::Sync));
    let errors = errors.map(|error| error.count).sum();
    (stats.ios() + errors > 0).then(|| of_stats(&stats, errors, measured))
}

fn total_record(workers: &[&WorkerStats], measured: Nanos) -> TotalRecord {
    let every = Direction::ALL
        .iter()
        .filter_map(|way| total_of(workers, *way))
        .collect::<Vec<_>>();
    let errors = workers
        .iter()
        .flat_map(|worker| &worker.errors)
        .filter(|error| error.is_of_direction())
        .map(|error| error.count)
        .sum();
    let direction = |way| direction_record(workers, way, measured);
    TotalRecord {
        read: direction(Direction::Read),
        write: direction(Direction::Write),
        trim: direction(Direction::Trim),
        sync: sync_record(workers, measured),
        meta: set_record(workers, measured),
        all: merged(every.iter()).map(|stats| {
            let mut record = of_stats(&stats, errors, measured);
            set_waits(&mut record, &stats, workers, &Direction::ALL);
            record
        }),
    }
}

fn of_stats(stats: &OpStats, errors: u64, measured: Nanos) -> DirectionRecord {
    DirectionRecord {
        ios: stats.ios(),
        bytes: stats.bytes,
        errors,
        iops: per_second(stats.ios(), measured),
        bandwidth_bytes_per_sec: per_second(stats.bytes, measured),
        latency_ns: latency_record(&stats.latency),
        response_ns: stats.response.as_ref().map(latency_record),
        bound_by: BTreeMap::new(),
        waited_share: None,
    }
}

/// Which limits the I/Os of `ways` waited for, and how much of their latency that was.
fn set_waits(
    record: &mut DirectionRecord,
    stats: &OpStats,
    workers: &[&WorkerStats],
    ways: &[Direction],
) {
    let mut waited: BTreeMap<String, u128> = BTreeMap::new();
    for worker in workers {
        for (limit, ns) in ways.iter().flat_map(|way| &worker.waited_ns[*way as usize]) {
            *waited.entry(limit.clone()).or_default() += ns;
        }
    }
    let total: u128 = waited.values().sum();
    if total == 0 {
        return;
    }
    waited.retain(|_, ns| *ns > 0);
    record.bound_by = waited
        .into_iter()
        .map(|(limit, ns)| (limit, ns as f64 / total as f64))
        .collect();
    record.waited_share = Some((total as f64 / stats.latency.sum().max(1) as f64).min(1.0));
}

/// Figures and encoding of a histogram of times in ns.
pub fn latency_record(histogram: &Histogram) -> LatencyRecord {
    LatencyRecord {
        min: histogram.min(),
        mean: histogram.mean(),
        stddev: histogram.stddev(),
        max: histogram.max(),
        p50: histogram.percentile(50.0),
        p90: histogram.percentile(90.0),
        p95: histogram.percentile(95.0),
        p99: histogram.percentile(99.0),
        p99_9: histogram.percentile(99.9),
        p99_99: histogram.percentile(99.99),
        // Our buckets are those of the encoding, so it cannot refuse a value; an empty text would say it did.
        histogram: to_hdr_base64(histogram).unwrap_or_default(),
    }
}

fn error_records(workers: &[&WorkerStats]) -> Vec<ErrorRecord> {
    let mut records: Vec<ErrorRecord> = Vec::new();
    for error in workers.iter().flat_map(|worker| &worker.errors) {
        let direction = error.name();
        let same = |record: &&mut ErrorRecord| {
            record.errno == error.errno && record.direction == direction
        };
        if let Some(record) = records.iter_mut().find(same) {
            record.count += error.count;
        } else {
            records.push(ErrorRecord {
                direction: direction.to_owned(),
                errno: error.errno,
                count: error.count,
                first_offsets: error.first_offsets.clone(),
            });
        }
    }
    records
}

fn detail_record(worker: &WorkerStats) -> DetailRecord {
    let of = |pick: fn(&OpStats) -> u64| {
        std::array::from_fn(|way| worker.directions[way].as_ref().map_or(0, pick))
    };
    let split = |pick: fn(&OpStats) -> Option<&Histogram>| {
        std::array::from_fn(|way| {
            worker.directions[way]
                .as_ref()
                .and_then(pick)
                .map(latency_record)
        })
    };
    DetailRecord {
        worker: worker.worker,
        ios: of(OpStats::ios),
        bytes: of(|stats| stats.bytes),
        short_ios: worker.short_ios,
        measured_ns: worker.measured.get(),
        submit_ns: split(|stats| stats.submit.as_ref()),
        complete_ns: split(|stats| stats.complete.as_ref()),
        depth_levels: worker.depth_levels,
        submit_batches: worker.submit_batches,
        complete_batches: worker.complete_batches,
        samples: worker
            .samples
            .iter()
            .map(|sample| (sample.at.get(), sample.ios, sample.bytes))
            .collect(),
        cpu: cpu_record(&[worker]),
        context_switches: worker.usage.context_switches,
        minor_faults: worker.usage.minor_faults,
        major_faults: worker.usage.major_faults,
    }
}

fn interval_records(intervals: &[IntervalStats]) -> Vec<IntervalRecord> {
    let start = intervals
        .first()
        .map_or(Nanos::ZERO, |first| first.at.saturating_sub(first.length));
    let figures = |stats: &OpStats| IntervalDirection {
        ios: stats.ios(),
        bytes: stats.bytes,
        p50_ns: Some(stats.latency.percentile(50.0)),
        p99_ns: Some(stats.latency.percentile(99.0)),
        max_ns: stats.latency.max(),
    };
    let direction = |stats: &Option<OpStats>| stats.as_ref().map(figures);
    let record = |interval: &IntervalStats| IntervalRecord {
        at_ns: interval.at.saturating_sub(start).get(),
        read: direction(&interval.directions[0]),
        write: direction(&interval.directions[1]),
        trim: direction(&interval.directions[2]),
        meta: {
            let done = interval.set.0.iter().filter(|(_, stats)| stats.ios() > 0);
            done.map(|(operation, stats)| (operation.name().to_owned(), figures(stats)))
                .collect()
        },
    };
    intervals.iter().map(record).collect()
}

fn ratio(value: f64, over: Nanos) -> f64 {
    if over == Nanos::ZERO {
        0.0
    } else {
        value / over.get() as f64
    }
}
