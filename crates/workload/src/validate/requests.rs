//! Directions, sizes and places of I/Os that no I/O can have.

use fathom_units::{Bytes, Percent};

use crate::{Access, Direction, Job};

use super::{DIRECT_UNIT, Found};

pub(super) fn check(job: &Job, found: &mut Found) {
    check_mix(job, found);
    check_blocks(job, found);
    check_access(job, found);
}

fn check_mix(job: &Job, found: &mut Found) {
    let shares = Direction::ALL.map(|way| job.mix.share(way));
    let total: u32 = shares.iter().map(|share| share.basis_points()).sum();
    if total != Percent::ALL.basis_points() {
        let total = f64::from(total) / 100.0;
        let message = format!("its mix of reads, writes and trims adds up to {total} %, not 100 %");
        found.add("mix", message, "change a share");
    }
}

fn check_blocks(job: &Job, found: &mut Found) {
    for way in Direction::ALL {
        if job.mix.share(way) == Percent::ZERO {
            continue;
        }
        let list = job.block.of(way);
        if list.iter().all(|entry| entry.weight == 0) {
            let message = format!("it has no block size for {}s", way.name());
            found.add(
                "block",
                message,
                "give at least one size with a weight above 0",
            );
        }
        for entry in list.iter().filter(|entry| entry.weight > 0) {
            if entry.size == Bytes::ZERO || entry.size.get() > u64::from(u32::MAX) {
                let message = format!("a block for {}s has {} bytes", way.name(), entry.size.get());
                found.add("block", message, "give 1 byte to 4 GiB - 1");
            }
        }
    }
    if job.block.alignment == Some(Bytes::ZERO) {
        let hint = "leave it out to align to the smallest block";
        found.add("block", "its alignment is 0 bytes", hint);
    }
}

fn check_access(job: &Job, found: &mut Found) {
    if matches!(job.access, Access::Random { run: 0, .. }) {
        let message = "each random offset is followed by a run of 0 I/Os";
        found.add("access", message, "a run of 1 makes every I/O random");
    }
}

/// The kernel refuses direct I/O that is not aligned to the device's logical blocks, none of which are below 512 bytes.
pub(super) fn check_direct(job: &Job, found: &mut Found) {
    let hint = "use a multiple, or buffered I/O";
    let odd = |bytes: Bytes| !bytes.get().is_multiple_of(DIRECT_UNIT.get());
    let mut tell = |key, what: &str, bytes: Bytes| {
        if odd(bytes) {
            let bytes = bytes.get();
            let message =
                format!("{what} of {bytes} bytes is no multiple of 512, which direct I/O needs");
            found.add(key, message, hint);
        }
    };
    let mut sizes: Vec<Bytes> = Direction::ALL
        .into_iter()
        .filter(|way| job.mix.share(*way) > Percent::ZERO)
        .flat_map(|way| job.block.of(way))
        .filter(|entry| entry.weight > 0)
        .map(|entry| entry.size)
        .collect();
    sizes.sort_unstable();
    sizes.dedup();
    for size in sizes {
        tell("block", "a block", size);
    }
    tell(
        "block",
        "an alignment",
        job.block.alignment.unwrap_or_default(),
    );
    if let Access::Sequential { gap, .. } = job.access {
        tell("access", "a gap", gap);
    }
    for target in &job.targets {
        tell(
            "target",
            &format!("the offset in `{}`", target.place.path()),
            target.offset,
        );
    }
}
