//! Predictions against what is known by other means: limits, identities, and published figures.

mod flows;
mod guides;
mod lines;
mod mechanisms;
mod model;
mod repeats;

use fathom_catalog::Catalog;
use fathom_model::Design;
use fathom_record::{Ignore, StageResult};
use fathom_units::{Bytes, Iops, Nanos};
use fathom_workload::{
    Access, Arrival, Backend, BlockSizes, BufferContents, Caching, Coverage, ExistingFiles,
    Features, FileChoice, Job, Limits, Mix, Pacing, Place, Poisson, ReportGroup, Stage, SyncPolicy,
    Target, WhenFull, Workload,
};

use crate::{Prediction, predict};

/// A job of one worker: random blocks of a file of its own, for 30 s.
fn job(name: &str, directory: &str, mix: Mix, block: Bytes, depth: u32) -> Job {
    Job {
        name: name.to_owned(),
        group: ReportGroup::default(),
        host: None,
        targets: vec![target(&format!("{directory}/{name}.0.0"), Bytes::gib(30))],
        file_choice: FileChoice::RoundRobin,
        workers: 1,
        depth,
        mix,
        access: Access::Random {
            coverage: Coverage::EachBlockOnce,
            run: 1,
        },
        block: BlockSizes::uniform(block),
        arrival: Arrival::Closed,
        limits: Limits {
            runtime: Some(Nanos::from_secs(30)),
            ..Limits::default()
        },
        sync: SyncPolicy::default(),
        contents: BufferContents::default(),
        backend: Backend::Libaio,
        caching: Caching::Direct,
        existing: ExistingFiles::AsPeer,
        split_latency: true,
        drop_cache: false,
        unlink: false,
        salt: 0,
        features: Features::default(),
    }
}

fn target(path: &str, length: Bytes) -> Target {
    Target {
        place: Place::Path(path.to_owned()),
        offset: Bytes::ZERO,
        length: Some(length),
    }
}

fn paced(rate: u64) -> Arrival {
    Arrival::Open {
        rate: Pacing::Iops(Iops::new(rate)),
        poisson: Poisson::Fixed,
        when_full: WhenFull::Queue,
    }
}

fn workload(jobs: Vec<Job>) -> Workload {
    let stage = Stage {
        name: "all".to_owned(),
        jobs,
        cooldown: Nanos::ZERO,
        repeats: 1,
        discard: false,
        rate_from: None,
    };
    Workload {
        stages: vec![stage],
        seed: 1,
    }
}

#[track_caller]
fn design(text: &str) -> Design {
    match Design::read(text, "test.design.toml", Catalog::builtin()) {
        Ok((design, _)) => design,
        Err(complaints) => panic!("{complaints}"),
    }
}

#[track_caller]
fn run(workload: &Workload, design: &Design) -> Prediction {
    predict(workload, design, &mut Ignore, &|| false).unwrap()
}

/// I/Os a second of one job.
fn iops_of(result: &StageResult, job: usize) -> f64 {
    let workers = result.workers.iter().filter(|worker| worker.job == job);
    workers
        .map(|worker| worker.ios() as f64 / worker.measured.as_secs_f64())
        .sum()
}

fn iops(result: &StageResult) -> f64 {
    let jobs = result
        .workers
        .iter()
        .map(|worker| worker.job)
        .max()
        .unwrap_or(0);
    (0..=jobs).map(|job| iops_of(result, job)).sum()
}

fn bytes_per_sec(result: &StageResult) -> f64 {
    let workers = result.workers.iter();
    let rates = workers.map(|worker| worker.bytes() as f64 / worker.measured.as_secs_f64());
    rates.sum()
}

/// Mean latency over all workers, in ns.
fn mean_latency(result: &StageResult) -> f64 {
    let stats = || {
        result
            .workers
            .iter()
            .flat_map(|worker| worker.directions.iter().flatten())
    };
    let sum: u128 = stats().map(|stats| stats.latency.sum()).sum();
    let count: u64 = stats().map(|stats| stats.latency.count()).sum();
    sum as f64 / count as f64
}

/// Share of all waiting that was for `limit`.
fn bound_by(result: &StageResult, limit: &str) -> f64 {
    let mut all = 0;
    let mut this = 0;
    for (name, ns) in result
        .workers
        .iter()
        .flat_map(|worker| worker.waited_ns.iter().flatten())
    {
        all += ns;
        if name == limit {
            this += ns;
        }
    }
    this as f64 / all as f64
}

#[track_caller]
fn within(found: f64, expected: f64, share: f64) {
    let off = (found / expected - 1.0).abs();
    assert!(
        off <= share,
        "{found} is not {expected} ± {} %",
        share * 100.0
    );
}
