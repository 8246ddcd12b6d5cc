//! From settings to one stage of jobs.
//!
//! With a queue, each thread keeps its I/Os outstanding on every file: each file is a job. Without one, a thread goes from
//! file to file: one job has them all. Files of a parameter file have threads of their own.

use fathom_units::{Bytes, Nanos};
use fathom_workload::{
    Access, Arrival, Backend, BlockSizes, BufferContents, Caching, Coverage, ExistingFiles,
    Features, FileChoice, FileHandling, Job, Limits, Mix, OpenSync, Place, Process,
    ProcessorSharing, ReportGroup, SequentialScope, Stage, SyncPolicy, Target as Used, Workload,
};

use super::settings::{Buffering, Order, Settings, Target};

/// The workload of a line.
pub fn build(settings: &Settings) -> Workload {
    let one_by_one = settings.outstanding.is_none() && settings.parameters.is_none();
    let jobs = if one_by_one && !settings.targets.is_empty() {
        vec![job(settings, &settings.targets)]
    } else {
        let targets = settings.targets.iter();
        targets
            .map(|it| job(settings, std::slice::from_ref(it)))
            .collect()
    };
    Workload {
        stages: vec![Stage {
            name: "sqlio".to_owned(),
            jobs,
            cooldown: Nanos::ZERO,
            repeats: 1,
            discard: false,
            rate_from: None,
        }],
        seed: 0,
    }
}

/// The job of the threads on `targets`, of which there is at least one.
pub fn job(settings: &Settings, targets: &[Target]) -> Job {
    let block = Bytes::kib(settings.block_kib.into());
    let depth = settings.outstanding.unwrap_or(1);
    let first = targets.first();
    let past_cache = matches!(settings.buffering, Buffering::None | Buffering::Hardware);
    let through = matches!(settings.buffering, Buffering::None | Buffering::Software);
    Job {
        name: first.map_or_else(String::new, |target| target.path.clone()),
        group: ReportGroup::default(),
        host: None,
        targets: targets
            .iter()
            .map(|target| used(settings, target))
            .collect(),
        file_choice: FileChoice::RoundRobin,
        workers: first.map_or(1, |target| target.threads),
        depth,
        mix: if settings.writes {
            Mix::WRITE
        } else {
            Mix::READ
        },
        access: access(settings),
        block: BlockSizes::uniform(block),
        arrival: Arrival::Closed,
        limits: Limits {
            runtime: Some(Nanos::from_secs(settings.seconds)),
            time_based: true,
            ..Limits::default()
        },
        sync: SyncPolicy {
            open: if through {
                OpenSync::Dsync
            } else {
                OpenSync::None
            },
            ..SyncPolicy::default()
        },
        contents: BufferContents::RandomStamped,
        backend: if settings.outstanding.is_some() {
            Backend::IoUring
        } else {
            Backend::Sync
        },
        caching: if past_cache {
            Caching::Direct
        } else {
            Caching::Buffered
        },
        existing: ExistingFiles::AsPeer,
        split_latency: false,
        drop_cache: false,
        unlink: false,
        salt: 0,
        features: Features {
            process: Process {
                processors: processors(first.map_or(0, |target| target.mask)),
                sharing: if settings.in_turn {
                    ProcessorSharing::Split
                } else {
                    ProcessorSharing::Shared
                },
                ..Process::default()
            },
            files: FileHandling {
                must_exist: targets.iter().all(|target| target.size_mib.is_none()),
                ..FileHandling::default()
            },
            ..Features::default()
        },
    }
}

fn used(settings: &Settings, target: &Target) -> Used {
    let block = u64::from(settings.block_kib) << 10;
    let offset = settings.first_block.saturating_mul(block);
    let size = target.size_mib.map(|mib| mib << 20);
    Used {
        place: Place::Path(target.path.clone()),
        offset: Bytes::new(offset),
        length: size.map(|size| Bytes::new(size.saturating_sub(offset))),
    }
}

fn access(settings: &Settings) -> Access {
    let skipped = match settings.order {
        Order::Random => {
            return Access::Random {
                coverage: Coverage::Independent,
                run: 1,
            };
        }
        Order::Sequential => 0,
        Order::Stripes(blocks) => u64::from(blocks).saturating_sub(1),
    };
    Access::Sequential {
        gap: Bytes::kib(skipped * u64::from(settings.block_kib)),
        scope: SequentialScope::PerWorker,
    }
}

/// Numbers of the bits of a mask.
fn processors(mask: u64) -> Vec<u32> {
    (0..64).filter(|bit| mask >> bit & 1 == 1).collect()
}
