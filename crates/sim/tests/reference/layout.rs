//! Where the files of a workload lie: one after another in order of first mention, each from a multiple of 4 KiB on.

use std::collections::BTreeMap;

use fathom_model::Design;
use fathom_workload::generator::TargetRange;
use fathom_workload::{Job, Place, Workload};

const ALIGNMENT: u64 = 4096;

/// Where a target lies.
#[derive(Debug, Clone, Copy)]
pub struct Placed {
    pub volume: usize,
    /// The machine its I/O comes from.
    pub client: Option<usize>,
    /// Number of its file, in the order of first mention.
    pub file: usize,
    /// First byte of the file on the volume.
    pub start: u64,
    pub range: TargetRange,
}

/// Places the targets of every job, in the order of the jobs; gives the volume of each file, too.
pub fn lay_out(workload: &Workload, design: &Design) -> (Vec<Vec<Placed>>, Vec<usize>) {
    let mut order = Vec::new();
    let mut lengths: BTreeMap<(usize, String), u64> = BTreeMap::new();
    let mut jobs = Vec::new();
    for (_, job) in workload.jobs() {
        let targets = files_of(job, jobs.len(), design);
        for (file, _, range) in &targets {
            let length = lengths.entry(file.clone()).or_insert(0);
            if *length == 0 {
                order.push(file.clone());
            }
            *length = (*length).max(range.offset + range.length);
        }
        jobs.push(targets);
    }
    let mut used: BTreeMap<usize, u64> = BTreeMap::new();
    let mut starts = BTreeMap::new();
    for (number, file) in order.iter().enumerate() {
        let used = used.entry(file.0).or_default();
        let start = used.next_multiple_of(ALIGNMENT);
        *used = start + lengths[file];
        starts.insert(file.clone(), (number, start));
    }
    let place = |(file, client, range): Target| Placed {
        volume: file.0,
        client,
        file: starts[&file].0,
        start: starts[&file].1,
        range,
    };
    let jobs = jobs
        .into_iter()
        .map(|targets| targets.into_iter().map(place).collect());
    let volumes = order.iter().map(|file| file.0);
    (jobs.collect(), volumes.collect())
}

type Target = ((usize, String), Option<usize>, TargetRange);

fn files_of(job: &Job, number: usize, design: &Design) -> Vec<Target> {
    let targets = job.targets.iter().enumerate().map(|(index, target)| {
        let path = target.place.path();
        let volume = design
            .locate(job.host.as_deref(), path)
            .expect("a volume serves it");
        let name = match &target.place {
            Place::Path(path) => path.clone(),
            Place::FreshFileIn(path) => format!("{path}, {number}, {index}"),
            Place::FileSet(set) => set.anchor.clone(),
        };
        let client = design.client_of(job.host.as_deref(), volume);
        let client = client.expect("one machine issues it").index();
        let range = TargetRange {
            offset: target.offset.get(),
            length: target.length.expect("its size is known").get(),
        };
        ((volume.index(), name), client, range)
    });
    targets.collect()
}
