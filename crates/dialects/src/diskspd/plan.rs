//! From settings to one stage of jobs.
//!
//! Each target is a job of its own whose workers are the threads on it, since DISKSPD keeps its outstanding I/Os on every
//! target; with a stride between threads, each thread is a job, since it begins elsewhere.

use fathom_units::{Bytes, BytesPerSec, Iops, Nanos, Percent};
use fathom_workload::{
    Access, Arrival, Backend, BlockSizes, BufferContents, Caching, Coverage, ExistingFiles,
    Features, FileChoice, FileHandling, Filling, IoLog, Job, Limits, Mix, OpenSync, Pacing,
    Pattern, Place, Placement, Poisson, Process, ProcessorSharing, ReportGroup, SequentialScope,
    Stage, SyncPolicy, Target, ThinkCounts, ThinkTime, ThreadPriority, WhenFull, Workload,
};

use super::Row;
use super::fit::is_device;
use super::settings::{Cache, Contents, Settings, Throttle};

/// The workload, and where the tables show each of its workers, job by job.
pub fn build(settings: &Settings, targets: &[String]) -> (Workload, Vec<Row>) {
    let threads = settings.threads_per_target();
    let mut jobs = Vec::new();
    let mut rows = Vec::new();
    for (target, path) in targets.iter().enumerate() {
        let first = match settings.pool {
            Some(_) => 0,
            None => threads.saturating_mul(target as u32),
        };
        rows.extend((0..threads).map(|thread| Row {
            thread: first.saturating_add(thread),
            target,
        }));
        match settings.thread_stride {
            None => jobs.push(job(settings, path, threads, 0)),
            Some(stride) => jobs.extend((0..threads).map(|thread| {
                let start = stride.saturating_mul(u64::from(thread));
                job(settings, path, 1, start)
            })),
        }
    }
    let stage = Stage {
        name: "timespan 1".to_owned(),
        jobs,
        cooldown: Nanos::from_secs(settings.cooldown),
        repeats: 1,
        discard: false,
        rate_from: None,
    };
    let workload = Workload {
        stages: vec![stage],
        seed: settings.seed,
    };
    (workload, rows)
}

fn job(settings: &Settings, path: &str, workers: u32, start: u64) -> Job {
    let depth = settings.depth();
    Job {
        name: path.to_owned(),
        group: ReportGroup::default(),
        host: None,
        targets: vec![target(settings, path, start)],
        file_choice: FileChoice::RoundRobin,
        workers,
        depth,
        mix: Mix::reads(Percent::whole(100 - settings.writes).unwrap_or(Percent::ALL)),
        access: access(settings),
        block: BlockSizes {
            alignment: settings.random.map(Bytes::new),
            ..BlockSizes::uniform(Bytes::new(settings.block))
        },
        arrival: arrival(settings),
        limits: Limits {
            warmup: Nanos::from_secs(settings.warmup),
            runtime: Some(Nanos::from_secs(settings.duration)),
            time_based: true,
            ..Limits::default()
        },
        sync: SyncPolicy {
            open: if settings.write_through {
                OpenSync::Dsync
            } else {
                OpenSync::None
            },
            fdatasync_every: u32::from(settings.flush.is_some()),
            ..SyncPolicy::default()
        },
        contents: match settings.contents {
            Contents::Zeroes => BufferContents::Zeroes,
            Contents::Fresh => BufferContents::RandomEachWrite,
            Contents::Source(_) | Contents::Counting => BufferContents::RandomStamped,
        },
        backend: match (settings.mapped, depth) {
            (true, _) => Backend::Mmap,
            (false, 1) => Backend::Sync,
            (false, _) => Backend::IoUring,
        },
        caching: match settings.cache {
            Cache::Cached => Caching::Buffered,
            Cache::Uncached | Cache::LocalOff => Caching::Direct,
        },
        existing: ExistingFiles::AsPeer,
        split_latency: false,
        drop_cache: false,
        unlink: false,
        salt: 0,
        features: features(settings, path),
    }
}

/// The part of a target that a thread begins `start` bytes into.
fn target(settings: &Settings, path: &str, start: u64) -> Target {
    let created = settings.create.filter(|_| !is_device(path));
    let end = match (created, settings.end) {
        (Some(size), Some(end)) => Some(size.min(end)),
        (size, end) => size.or(end),
    };
    let offset = settings.base.saturating_add(start);
    Target {
        place: Place::Path(path.to_owned()),
        offset: Bytes::new(offset),
        length: end.map(|end| Bytes::new(end.saturating_sub(offset))),
    }
}

fn access(settings: &Settings) -> Access {
    let random = Access::Random {
        coverage: Coverage::Independent,
        run: 1,
    };
    match (settings.random_percent, settings.random) {
        (Some(share), _) if share < 100 => Access::Mixed {
            random: Percent::whole(share).unwrap_or(Percent::ALL),
        },
        (Some(_), _) | (None, Some(_)) => random,
        (None, None) => Access::Sequential {
            gap: Bytes::new(
                settings
                    .stride
                    .map_or(0, |stride| stride.saturating_sub(settings.block)),
            ),
            scope: if settings.interlocked {
                SequentialScope::Shared
            } else {
                SequentialScope::PerWorker
            },
        },
    }
}

/// A thread that is held back goes by the time since its start, so that it makes up for what it missed.
fn arrival(settings: &Settings) -> Arrival {
    let rate = match settings.throttle {
        None => return Arrival::Closed,
        Some(Throttle::Iops(iops)) => Pacing::Iops(Iops::new(iops)),
        Some(Throttle::BytesPerMs(bytes)) => Pacing::Bytes(BytesPerSec::new(bytes * 1000)),
    };
    Arrival::Open {
        rate,
        poisson: Poisson::Fixed,
        when_full: WhenFull::Queue,
    }
}

fn features(settings: &Settings, path: &str) -> Features {
    let counting = (settings.contents == Contents::Counting && settings.writes > 0)
        .then(|| Pattern::new((0..=u8::MAX).collect(), Vec::new()))
        .flatten();
    let placed = !settings.distribution.is_uniform();
    Features {
        think: think(settings),
        placement: placed.then(|| {
            let one = &settings.distribution;
            Box::new(Placement {
                distribution: [one.clone(), one.clone(), one.clone()],
                alignment: [settings.random.map(Bytes::new); 3],
                ..Placement::default()
            })
        }),
        filling: counting.map(|pattern| {
            Box::new(Filling {
                pattern: Some(pattern),
                ..Filling::default()
            })
        }),
        io_log: IoLog {
            window: settings.bucket_ms.map(Nanos::from_millis),
            ..IoLog::default()
        },
        process: Process {
            processors: settings.processors.clone(),
            sharing: if settings.processors.is_empty() {
                ProcessorSharing::Shared
            } else {
                ProcessorSharing::Split
            },
            io_priority: match settings.priority {
                1 => Some((3, 0)),
                2 => Some((2, 7)),
                _ => None,
            }
            .map(|(class, level)| ThreadPriority {
                class,
                level,
                hint: 0,
            }),
            ..Process::default()
        },
        files: FileHandling {
            must_exist: settings.create.is_none() || is_device(path),
            ..FileHandling::default()
        },
        ..Features::default()
    }
}

/// A burst is shared out among the threads of a target. A rate leaves no room for thinking.
fn think(settings: &Settings) -> Option<ThinkTime> {
    let (burst, pause) = settings.burst.zip(settings.think_ms)?;
    let thinks = pause > 0 && settings.throttle.is_none();
    thinks.then(|| ThinkTime {
        pause: Nanos::from_millis(pause),
        spin: Nanos::ZERO,
        every: (burst / settings.threads_per_target()).max(1),
        counts: ThinkCounts::Issued,
        after: Nanos::ZERO,
    })
}
