//! What stands with an SD: its file or device, the part of it that is used, and how it is opened.

use std::fmt::Write as _;

use fathom_units::Bytes;
use fathom_workload::{Caching, Job, OpenSync, Place, SyncPolicy};

use super::general::General;
use super::wd::hits;
use super::{list, size};
use crate::draft::Draft;

/// Where a target is for Vdbench, which makes no fresh files.
pub(super) fn path_of(place: &Place, number: usize, part: usize, draft: &mut Draft) -> String {
    match place {
        Place::Path(path) => path.clone(),
        Place::FileSet(set) => format!("{}/fathom-{number}-{part}.dat", set.anchor),
        Place::FreshFileIn(folder) => {
            let path = format!("{folder}/fathom-{number}-{part}.dat");
            let message =
                format!("a fresh file in `{folder}` is `{path}`, which Vdbench leaves there");
            draft.lost(number, "target", message);
            path
        }
    }
}

/// Vdbench leaves the first block of a device alone.
pub(super) fn first_used(path: &str, job: &Job) -> Bytes {
    if path.starts_with("/dev/") {
        job.block.largest(job.mix)
    } else {
        Bytes::ZERO
    }
}

/// What an SD says beside its file or device and threads.
pub(super) fn of_storage(
    general: &General,
    job: &Job,
    path: &str,
    (part, streams): (usize, &[(usize, &Job)]),
) -> String {
    let target = &job.targets[part];
    let largest = job.block.largest(job.mix);
    let first = first_used(path, job);
    let mut text = String::new();
    let offset = target.offset.saturating_sub(first);
    if let Some(length) = target.length {
        let all = length.get().saturating_mul(streams.len() as u64);
        let end = all.saturating_add(first.get());
        // Vdbench counts it from the start of the file, and uses whole transfers of it; it joins no SDs with offsets.
        let end = if offset > Bytes::ZERO && !general.joined {
            let end = end.saturating_add(offset.get());
            end.checked_next_multiple_of(largest.get()).unwrap_or(end)
        } else {
            end
        };
        let _ = write!(text, ",size={}", size(end));
    }
    if offset > Bytes::ZERO {
        let _ = write!(text, ",offset={}", size(offset.get()));
    }
    if let Some(alignment) = job.block.alignment {
        let _ = write!(text, ",align={}", size(alignment.get()));
    }
    if let Some(hits) = hits(job) {
        let _ = write!(text, ",hitarea={}", size(hits.area.get()));
    }
    text
}

/// I/Os outstanding of a job, or of all `streams` of a workload.
pub(super) fn threads(job: &Job, streams: &[(usize, &Job)]) -> u32 {
    let depth: u32 = if streams.len() > 1 {
        streams.iter().map(|(_, job)| job.depth).sum()
    } else {
        job.depth
    };
    depth.saturating_mul(job.workers)
}

/// How files are opened.
pub(super) fn open_flags(job: &Job) -> String {
    let SyncPolicy {
        open,
        // Vdbench flushes when it closes, or never.
        fsync_every: _,
        fdatasync_every: _,
        at_end: _,
        on_close,
    } = job.sync;
    let flags = [
        (job.caching == Caching::Direct, "o_direct"),
        (open != OpenSync::None, "o_dsync"),
        (on_close, "fsync"),
    ];
    let flags: Vec<String> = flags
        .into_iter()
        .filter(|(used, _)| *used)
        .map(|(_, flag)| flag.to_owned())
        .collect();
    if flags.is_empty() {
        return String::new();
    }
    format!(",openflags={}", list(&flags))
}
