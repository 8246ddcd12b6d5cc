//! Whether the I/O measured reached the storage that is meant.

use fathom_workload::{Caching, Direction};

use super::{Evidence, InMemory, check, jobs};
use crate::{Check, WorkerStats, total_of};

/// What memory gives says nothing of storage, whether it is read or written.
pub(super) fn in_memory(evidence: &Evidence<'_>) -> Check {
    let mut targets = evidence.targets.iter();
    let found = targets.find_map(|target| Some((&target.path, target.in_memory.as_ref()?)));
    let finding = found.map(|(path, memory)| match memory {
        InMemory::FileSystem(kind) => {
            format!("{path} is on {kind}, which keeps its files in memory: no storage is measured")
        }
        InMemory::Device(device) => {
            format!("{path} is on {device}, which keeps its data in memory: no storage is measured")
        }
        InMemory::PageCache { device, file } => {
            format!("{path} is on {device}, which goes through the page cache of {file}")
        }
    });
    let remedy = match found {
        Some((_, InMemory::PageCache { .. })) => {
            "attach the loop device with `losetup --direct-io=on`, or measure the file system below"
        }
        _ => "name a target on the storage that is meant",
    };
    check(
        "in-memory",
        finding,
        "no target is known to stand in memory",
        remedy,
    )
}

fn has_read(evidence: &Evidence<'_>) -> bool {
    let mut all = jobs(evidence).filter(|(_, job, _)| {
        job.features.operation.is_none() && job.features.processor_work.is_none()
    });
    all.any(|(_, _, workers)| workers.iter().any(|worker| worker.directions[0].is_some()))
}

pub(super) fn unwritten_extents(evidence: &Evidence<'_>) -> Check {
    let found = evidence
        .targets
        .iter()
        .find(|target| target.unwritten_share.is_some_and(|share| share > 0.01));
    let finding = found.filter(|_| has_read(evidence)).map(|target| {
        let share = target.unwritten_share.unwrap_or_default() * 100.0;
        format!(
            "{share:.0} % of {} was never written: reading it reaches no device",
            target.path
        )
    });
    check(
        "unwritten-extents",
        finding,
        "the files read are written throughout",
        "write the file once, then read it",
    )
}

/// Thin volumes, cloud disks and SSDs answer reads of what was never written, or was trimmed, without their media. Data may
/// hold some blocks of zeroes; a tenth is more than most do.
pub(super) fn zeroes_read(evidence: &Evidence<'_>) -> Check {
    let found = evidence.targets.iter().find_map(|target| {
        let share = target.zeroes_share.filter(|share| *share > 0.1)?;
        Some((&target.path, share * 100.0))
    });
    let finding = found.filter(|_| has_read(evidence)).map(|(path, share)| {
        format!(
            "{share:.0} % of the places looked at in {path} hold zeroes alone: what was never written, or was trimmed, is mostly read without the media"
        )
    });
    check(
        "zeroes-read",
        finding,
        "no device that was read holds zeroes in place of data",
        "write the device once with data that is not zeroes (what is on it is lost), then read it",
    )
}

/// Direct reads that the device never saw came from a cache. 5 % is left for counters read at other moments.
pub(super) fn cache_served(evidence: &Evidence<'_>) -> Check {
    let finding = evidence.results.iter().find_map(|result| {
        let stage = evidence.workload.stages.get(result.stage)?;
        let direct = stage
            .jobs
            .iter()
            .all(|job| job.caching == Caching::Direct && job.backend.opens_files());
        // Operations on files stand in place of reads, and read nothing.
        let reads = |worker: &&WorkerStats| {
            let job = stage.jobs.get(worker.job);
            job.is_some_and(|job| job.features.operation.is_none())
        };
        let workers: Vec<_> = result.workers.iter().filter(reads).collect();
        let read = total_of(&workers, Direction::Read)?.bytes;
        let device: u64 = result
            .devices
            .iter()
            .map(|device| device.sectors[0] * 512)
            .sum();
        let judged = direct && !result.devices.is_empty() && read > 1 << 20;
        (judged && device < read / 100 * 95).then(|| {
            let share = (1.0 - device as f64 / read as f64) * 100.0;
            format!(
                "{}: {share:.0} % of the bytes read never reached a device",
                result.name
            )
        })
    });
    let known = evidence
        .results
        .iter()
        .any(|result| !result.devices.is_empty());
    check(
        "cache-served",
        finding,
        if known {
            "the devices saw the bytes that were read"
        } else {
            "not judged: no block device under the targets is known"
        },
        "use direct I/O and data larger than the caches between",
    )
}
