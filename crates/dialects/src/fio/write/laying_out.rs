//! The lines that tell which jobs have files made or made longer: `a: Laying out IO file (1 file / 4MiB)` (fio 3.42,
//! `filesetup.c`). fio says so of jobs that only write too, whose files it lays out by reserving space.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use fathom_units::Bytes;
use fathom_workload::{FileOperation, Growth, Job, Reserve};

use crate::fio::input::{FioInput, FioJobMeta};

/// The lines of all jobs in their order. `size_of` tells how long a regular file is now, 0 where there is none; `None`: it is
/// something else.
pub fn lines(input: &FioInput, size_of: &dyn Fn(&str) -> Option<u64>) -> String {
    let mut out = String::new();
    // How long files will be when the jobs before have been seen to.
    let mut ends: BTreeMap<&str, u64> = BTreeMap::new();
    for ((_, job), meta) in input.workload.jobs().zip(&input.jobs) {
        if !lays_out(job, meta) {
            continue;
        }
        let (mut files, mut bytes) = (0_u64, 0_u64);
        for target in &job.targets {
            let path = target.place.path();
            let end = target.length.unwrap_or(Bytes::ZERO).get();
            let end = end.saturating_add(target.offset.get());
            let size = ends.get(path).copied().or_else(|| size_of(path));
            if size.is_none_or(|size| size >= end) {
                continue;
            }
            files += 1;
            bytes = bytes.saturating_add(end);
            if grows_at_once(job) {
                ends.insert(path, end);
            }
        }
        if files > 0 {
            let (plural, total) = if files > 1 { ("s", "total ") } else { ("", "") };
            let name = &meta.name;
            let mib = bytes >> 20;
            let _ = writeln!(
                out,
                "{name}: Laying out IO file{plural} ({files} file{plural} / {total}{mib}MiB)"
            );
        }
    }
    out
}

fn lays_out(job: &Job, meta: &FioJobMeta) -> bool {
    let features = &job.features;
    job.backend.opens_files()
        && features.replay.is_none()
        && !features.operation.is_some_and(FileOperation::is_of_names)
        && !meta.makes_files_on_open
}

/// Whether the files have their size before the job's first I/O.
fn grows_at_once(job: &Job) -> bool {
    let kept = [
        Growth::Reserved(Reserve::Nothing),
        Growth::Reserved(Reserve::KeepSize),
    ];
    !kept.contains(&job.features.files.grows)
}
