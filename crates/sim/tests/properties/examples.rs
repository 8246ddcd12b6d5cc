//! The examples of the repository: every workload of a folder on every design of it.
//!
//! They are shortened, since here their figures do not matter.

use std::path::{Path, PathBuf};

use fathom_catalog::Catalog;
use fathom_dialects::fio::{self, ReadContext, SystemFiles};
use fathom_model::Design;
use fathom_record::Ignore;
use fathom_sim::predict;
use fathom_units::{Bytes, Nanos};
use fathom_workload::{Job, Workload, native};

/// A workload on a design.
pub struct Example {
    pub name: String,
    pub design: Design,
    pub workload: Workload,
}

/// Longest warm-up, and longest measured time, of a shortened job.
const WARMUP: Nanos = Nanos::from_millis(5);
const RUNTIME: Nanos = Nanos::from_millis(40);

/// Largest file, so that caches are warm soon.
const LENGTH: Bytes = Bytes::gib(1);
/// Most I/Os outstanding in a stage of a shortened workload.
const OUTSTANDING: u64 = 64;

/// All of them; those whose workload does not fit a design of its folder (paths that it does not serve) are left out.
pub fn examples() -> Vec<Example> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut found = Vec::new();
    for folder in entries(&root).into_iter().filter(|path| path.is_dir()) {
        let files = entries(&folder);
        let designs: Vec<_> = files
            .iter()
            .filter(|path| is(path, ".design.toml"))
            .collect();
        let workloads: Vec<_> = files.iter().filter_map(|path| workload(path)).collect();
        for (path, workload) in &workloads {
            let fitting = designs.iter().filter_map(|file| {
                let design = design(file);
                let name = format!("{} on {}", path.display(), file.display());
                let fits = serves(&design, workload) && is_known(&design, workload);
                fits.then(|| Example {
                    name,
                    design,
                    workload: workload.clone(),
                })
            });
            found.extend(fitting);
        }
        assert!(
            designs.is_empty() || !workloads.is_empty(),
            "{} has designs and no workload",
            folder.display()
        );
    }
    assert!(found.len() >= 8, "{} examples", found.len());
    found
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("the folder can be read");
    let mut paths: Vec<_> = entries
        .map(|entry| entry.expect("its entries too").path())
        .collect();
    paths.sort();
    paths
}

fn is(path: &Path, ending: &str) -> bool {
    path.to_string_lossy().ends_with(ending)
}

fn design(path: &Path) -> Design {
    let text = std::fs::read_to_string(path).expect("the file can be read");
    let read = Design::read(&text, &path.to_string_lossy(), Catalog::builtin());
    let (design, _) = read.unwrap_or_else(|complaints| panic!("{complaints}"));
    design
}

fn workload(path: &Path) -> Option<(PathBuf, Workload)> {
    let name = path.to_string_lossy();
    let workload = if is(path, ".workload.toml") {
        let text = std::fs::read_to_string(path).expect("the file can be read");
        let read = native::read(&text, &name);
        read.unwrap_or_else(|complaints| panic!("{complaints}")).0
    } else if is(path, ".ini") || is(path, ".fio") {
        let read = fio::read_file(&name, &ReadContext::of_system(&SystemFiles));
        read.unwrap_or_else(|complaints| panic!("{complaints}"))
            .workload
    } else {
        return None;
    };
    Some((path.to_owned(), shortened(workload)))
}

fn shortened(mut workload: Workload) -> Workload {
    for stage in &mut workload.stages {
        stage.repeats = 1;
        let of = |job: &Job| u64::from(job.workers) * u64::from(job.depth);
        let outstanding: u64 = stage.jobs.iter().map(of).sum();
        let share = outstanding.div_ceil(OUTSTANDING) as u32;
        for job in &mut stage.jobs {
            // A worker keeps histograms, which cost more to make than a short run.
            let depth = of(job).div_ceil(u64::from(share)) as u32;
            job.workers = job.workers.min(2).min(depth);
            job.depth = depth.div_ceil(job.workers);
            for target in &mut job.targets {
                target.length = target.length.map(|length| length.min(LENGTH));
            }
            let limits = &mut job.limits;
            limits.warmup = limits.warmup.min(WARMUP);
            limits.runtime = Some(limits.runtime.unwrap_or(RUNTIME).min(RUNTIME));
        }
    }
    workload
}

/// Whether the simulator knows everything that the workload asks for.
fn is_known(design: &Design, workload: &Workload) -> bool {
    match predict(workload, design, &mut Ignore, &|| true) {
        Ok(_) => true,
        Err(error) => !error.to_string().contains("cannot be predicted yet"),
    }
}

/// Whether the design serves every path of the workload.
fn serves(design: &Design, workload: &Workload) -> bool {
    let mut targets = workload
        .jobs()
        .flat_map(|(_, job)| job.targets.iter().map(|target| (&job.host, target)));
    targets.all(|(host, target)| design.locate(host.as_deref(), target.place.path()).is_ok())
}
