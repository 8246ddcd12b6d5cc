//! Designs, workloads and what their predictions must show.
//!
//! A case is a closure in a table keyed by its id. It writes a small design and a few jobs as a user would, predicts
//! them, and compares figures with the printed ones. Every failing case of a table is told, not the first alone.

use std::path::PathBuf;

use fathom_catalog::Catalog;
use fathom_dialects::fio::{self, ReadContext, SystemFiles};
use fathom_model::Design;
use fathom_record::{DirectionRecord, Ignore, StageRecord, StorageRecord, stage_record};
use fathom_sim::predict;
use fathom_workload::{Workload, native};

/// The documents' own arithmetic, reached by a simulation of some seconds.
pub const EXACT: f64 = 0.002;
/// A figure printed in few digits, or disks striped at random, of which one is idle now and then.
pub const ROUNDED: f64 = 0.01;
/// A benchmark. They lie up to 2.4 % above the printed limits, which predictions keep to.
pub const MEASURED: f64 = 0.03;
/// Arithmetic that takes 2^20 for 10^6.
pub const BINARY: f64 = 0.05;

/// An id and what must hold.
pub type Vector = (&'static str, fn());

/// Checks every case, then complains of those that failed.
pub fn check_all(vectors: &[Vector]) {
    let failed = vectors
        .iter()
        .filter(|(_, check)| std::panic::catch_unwind(check).is_err());
    let failed: Vec<&str> = failed.map(|(id, _)| *id).collect();
    assert!(failed.is_empty(), "these do not hold: {failed:?}");
}

/// `found` lies within `share` of `expected`.
#[track_caller]
pub fn within(what: &str, found: f64, expected: f64, share: f64) {
    let off = (found / expected - 1.0).abs();
    assert!(off <= share, "{what} is {found}, not {expected} ± {share}");
}

/// A machine with its volumes. Bursting is off: where a case is about it, the case says so.
pub fn machine(size: &str, era: &str, volumes: &[String]) -> String {
    let volumes = volumes.concat();
    format!("[[vm]]\nname = \"vm\"\nburst = \"off\"\nsize = \"{size}\"\nera = \"{era}\"\n{volumes}")
}

/// A volume `/NAME` of `count` disks without media latency.
pub fn volume(name: &str, disk: &str, count: u32, caching: &str) -> String {
    let cache = if caching == "none" {
        ""
    } else {
        "cache = \"warm\"\n"
    };
    format!(
        "[[vm.volume]]\nname = \"{name}\"\nmount = \"/{name}\"\nlatency = \"none\"\nburst = \"off\"\n\
         disks = {{ type = \"{disk}\", count = {count} }}\ncaching = \"{caching}\"\n{cache}"
    )
}

/// `count` uncached disks as one stripe on `/a`.
pub fn stripe(size: &str, era: &str, disk: &str, count: u32) -> String {
    machine(size, era, &[volume("a", disk, count, "none")])
}

/// One uncached disk on `/a` of a machine of 2016 that has more to give than any disk of its time.
pub fn one_disk(disk: &str) -> String {
    stripe("Standard_DS14", "2016", disk, 1)
}

/// Volumes `/a`, `/b`, … of one disk each.
pub fn disks(size: &str, disk: &str, cachings: &[&str]) -> String {
    let volumes = cachings.iter().zip('a'..);
    let volumes: Vec<_> = volumes
        .map(|(caching, name)| volume(&name.to_string(), disk, 1, caching))
        .collect();
    machine(size, "current", &volumes)
}

/// A device on `/a` known by its figures alone.
pub fn device(lines: &str) -> String {
    format!("[[device]]\nname = \"d\"\nmount = \"/a\"\nsize = \"1TiB\"\n{lines}\n")
}

/// Random blocks on the volume `/NAME`: reads or writes (`way`), and what else the job says.
pub fn job(name: &str, way: &str, block: &str, more: &str) -> String {
    // Sizes of 1,000 bytes are no multiple of a sector; the page cache is not modelled either way.
    let caching = if block.ends_with("kB") {
        "buffered"
    } else {
        "direct"
    };
    format!(
        "[[stage.job]]\nname = \"{name}\"\ntarget = {{ path = \"/{name}/f\", size = \"8GiB\" }}\n\
         mix = \"{way}\"\nblock = \"{block}\"\ncaching = \"{caching}\"\n{more}\n"
    )
}

/// As much as the storage gives.
pub fn greedy(name: &str, way: &str, block: &str) -> String {
    job(name, way, block, "depth = 1024")
}

/// As much as the storage gives to so many at a time.
pub fn deep(name: &str, way: &str, block: &str, depth: u32) -> String {
    job(name, way, block, &format!("depth = {depth}"))
}

/// So much a second, whatever the storage does.
pub fn paced(name: &str, way: &str, block: &str, rate: &str) -> String {
    let more = format!("depth = 1024\narrival = {{ rate = \"{rate}\" }}");
    job(name, way, block, &more)
}

/// One measured stage.
pub struct Predicted(pub StageRecord);

/// Reads a design that has no mistake.
#[track_caller]
pub fn read_design(text: &str) -> Design {
    match Design::read(text, "case.design.toml", Catalog::builtin()) {
        Ok((design, _)) => design,
        Err(complaints) => panic!("{complaints}\n{text}"),
    }
}

/// What is wrong with a design that cannot be.
#[track_caller]
pub fn complaints(text: &str) -> String {
    match Design::read(text, "case.design.toml", Catalog::builtin()) {
        Ok(_) => panic!("no complaint about\n{text}"),
        Err(complaints) => complaints.to_string(),
    }
}

/// Five seconds of some jobs.
#[track_caller]
pub fn run(design: &str, jobs: &[String]) -> Predicted {
    run_for("5s", design, jobs)
}

/// Some jobs for a time.
#[track_caller]
pub fn run_for(measure: &str, design: &str, jobs: &[String]) -> Predicted {
    let text = format!("[[stage]]\nmeasure = \"{measure}\"\n{}", jobs.concat());
    let (workload, _) = match native::read(&text, "case.workload.toml") {
        Ok(read) => read,
        Err(complaints) => panic!("{complaints}\n{text}"),
    };
    run_workload(&workload, &read_design(design)).remove(0)
}

/// Every measured stage of a workload.
#[track_caller]
pub fn run_workload(workload: &Workload, design: &Design) -> Vec<Predicted> {
    let prediction = match predict(workload, design, &mut Ignore, &|| false) {
        Ok(prediction) => prediction,
        Err(error) => panic!("{error}"),
    };
    let stages = workload.stages.iter().filter(|stage| !stage.discard);
    let stages = stages.flat_map(|stage| (0..stage.repeats.max(1)).map(move |_| stage));
    stages
        .zip(&prediction.results)
        .map(|(stage, result)| Predicted(stage_record(stage, result)))
        .collect()
}

/// A file under `examples/`.
pub fn example_path(name: &str) -> PathBuf {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    PathBuf::from(root).join(name)
}

/// The text of a file under `examples/`.
#[track_caller]
pub fn example_text(name: &str) -> String {
    let path = example_path(name);
    match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) => panic!("{}: {error}", path.display()),
    }
}

/// A design under `examples/`.
#[track_caller]
pub fn example_design(name: &str) -> Design {
    read_design(&example_text(name))
}

/// A workload under `examples/`: a fio job file, or a native file.
#[track_caller]
pub fn example_workload(name: &str) -> Workload {
    let read = if name.contains(".workload.") {
        native::read(&example_text(name), name).map(|(workload, _)| workload)
    } else {
        let path = example_path(name).to_string_lossy().into_owned();
        let arguments = ["--runtime=10".to_owned(), "--time_based".to_owned(), path];
        fio::read(&arguments, &ReadContext::of_system(&SystemFiles)).map(|input| input.workload)
    };
    match read {
        Ok(workload) => workload,
        Err(complaints) => panic!("{name}: {complaints}"),
    }
}

impl Predicted {
    /// All jobs and directions together, or the last of those that do operations on names.
    #[track_caller]
    pub fn all(&self) -> &DirectionRecord {
        let operations = self.0.jobs.iter().flat_map(|job| job.meta.values());
        let all = self.0.total.all.as_ref().or(operations.last());
        all.expect("something was measured")
    }

    /// The one direction of a job.
    #[track_caller]
    pub fn of(&self, job: usize) -> &DirectionRecord {
        let job = &self.0.jobs[job];
        let figures = job.read.as_ref().or(job.write.as_ref());
        figures.expect("a job reads or writes")
    }

    /// Each job by its own time: what is outstanding at the end of the slower is no rest for the faster.
    fn jobs(&self) -> impl Iterator<Item = &DirectionRecord> {
        self.0.jobs.iter().flat_map(|job| {
            let directions = [job.read.as_ref(), job.write.as_ref()];
            directions.into_iter().flatten().chain(job.meta.values())
        })
    }

    /// I/Os a second of all jobs.
    pub fn total_iops(&self) -> f64 {
        self.jobs().map(|figures| figures.iops).sum()
    }

    /// Bytes a second of all jobs.
    pub fn total_bytes(&self) -> f64 {
        self.jobs()
            .map(|figures| figures.bandwidth_bytes_per_sec)
            .sum()
    }

    /// I/Os a second of all jobs.
    #[track_caller]
    pub fn iops(&self, expected: f64, share: f64) -> &Self {
        within("IOPS", self.total_iops(), expected, share);
        self
    }

    /// 10^6 bytes a second of all jobs.
    #[track_caller]
    pub fn megabytes(&self, expected: f64, share: f64) -> &Self {
        within("MB/s", self.total_bytes() / 1e6, expected, share);
        self
    }

    /// 2^20 bytes a second of all jobs.
    #[track_caller]
    pub fn mebibytes(&self, expected: f64, share: f64) -> &Self {
        within("MiB/s", self.total_bytes() / 1_048_576.0, expected, share);
        self
    }

    /// I/Os a second of one job.
    #[track_caller]
    pub fn iops_of(&self, job: usize, expected: f64, share: f64) -> &Self {
        within("a job's IOPS", self.of(job).iops, expected, share);
        self
    }

    /// 10^6 bytes a second of one job.
    #[track_caller]
    pub fn megabytes_of(&self, job: usize, expected: f64, share: f64) -> &Self {
        let found = self.of(job).bandwidth_bytes_per_sec / 1e6;
        within("a job's MB/s", found, expected, share);
        self
    }

    /// I/Os a second of each of so many jobs.
    #[track_caller]
    pub fn each_iops(&self, jobs: usize, expected: f64, share: f64) -> &Self {
        for job in 0..jobs {
            self.iops_of(job, expected, share);
        }
        self
    }

    /// 10^6 bytes a second of each of so many jobs.
    #[track_caller]
    pub fn each_megabytes(&self, jobs: usize, expected: f64, share: f64) -> &Self {
        for job in 0..jobs {
            self.megabytes_of(job, expected, share);
        }
        self
    }

    /// Mean latency in ms.
    #[track_caller]
    pub fn latency_ms(&self, expected: f64, share: f64) -> &Self {
        within("latency in ms", self.mean_ms(), expected, share);
        self
    }

    /// Mean latency of all I/Os in ms.
    #[track_caller]
    pub fn mean_ms(&self) -> f64 {
        self.all().latency_ns.mean / 1e6
    }

    /// The limit that most of the waiting was for.
    #[track_caller]
    pub fn bound_by(&self, limit: &str) -> &Self {
        let shares = &self.all().bound_by;
        let found = shares.get(limit).copied().unwrap_or(0.0);
        assert!(found > 0.8, "not bound by {limit}, but by {shares:?}");
        self
    }

    /// A part of the storage.
    #[track_caller]
    pub fn part(&self, name: &str) -> &StorageRecord {
        let parts = &self.0.storage;
        let Some(part) = parts.get(name) else {
            panic!("no part {name}, but {:?}", parts.keys());
        };
        part
    }

    /// I/Os that reached a part, for each of the application's.
    #[track_caller]
    pub fn parts_each(&self, name: &str, each: f64) -> &Self {
        let found = self.part(name).ios as f64 / self.all().ios as f64;
        within("I/Os of a part for each", found, each, EXACT);
        self
    }

    /// I/Os inside all disks whose names begin so, on average.
    #[track_caller]
    pub fn depth_of_disks(&self, prefix: &str, depth: f64) -> &Self {
        let rows = self.0.storage.iter();
        let disks = rows.filter(|(name, row)| name.starts_with(prefix) && row.kind == "disk");
        let found: f64 = disks.filter_map(|(_, row)| row.depth).sum();
        within("depth of the disks", found, depth, EXACT);
        self
    }
}
