//! What stands with a WD: sizes, directions and places of its I/O, and its rate.

use std::fmt::Write as _;

use fathom_dialects::vdbench::{Crowd, crowd_of};
use fathom_units::{Bytes, Percent};
use fathom_workload::{
    Access, Arrival, BlockSizes, Direction, Distribution, Job, Pacing, SequentialScope,
    WeightedSize, Zone,
};

use super::joined::length_of;
use super::{percent, size};
use crate::draft::Draft;

/// Hits on the first part of an SD, in percent.
pub(super) struct Hits {
    pub area: Bytes,
    pub reads: u32,
    pub writes: u32,
}

/// The hits that a job's zones are: two zones that are the whole target, of the same sizes for reads and writes.
pub(super) fn hits(job: &Job) -> Option<Hits> {
    let rules = job.features.placement.as_deref()?;
    let length = length_of(job)?;
    let zones = |distribution: &Distribution| match distribution {
        Distribution::ZonedAbsolute(zones) => match zones.as_slice() {
            [
                Zone { access, size },
                Zone {
                    access: rest,
                    size: others,
                },
            ] if access + rest == 100 && size.get().saturating_add(others.get()) == length => {
                Some((*size, *access))
            }
            _ => None,
        },
        _ => None,
    };
    let [reads, writes, _] = &rules.distribution;
    let ((area, reads), (other, writes)) = (zones(reads)?, zones(writes)?);
    (area == other).then_some(Hits {
        area,
        reads,
        writes,
    })
}

/// What a WD says of a job's I/O: sizes, directions, and where it goes.
pub(super) fn of_work(job: &Job, number: usize, draft: &mut Draft) -> String {
    let mut text = format!(
        ",{},rdpct={}",
        sizes(&job.block, job),
        percent(job.mix.read)
    );
    if job.mix.trim > Percent::ZERO {
        draft.lost(
            number,
            "mix",
            "Vdbench does not trim; the trims are written as writes",
        );
    }
    match job.access {
        Access::Random {
            coverage: _,
            run: _,
        } => match crowd(job) {
            Some(Crowd::Poisson(midpoint)) => {
                let _ = write!(text, ",seekpct=(poisson,{midpoint})");
            }
            Some(Crowd::HotBand) => text.push_str(",seekpct=100,hotband=(0,100)"),
            None => text.push_str(",seekpct=100"),
        },
        Access::Mixed { random } => {
            let _ = write!(text, ",seekpct={}", percent(random));
        }
        Access::Sequential {
            gap,
            scope: SequentialScope::PerWorker | SequentialScope::Shared,
        } => match (gap, ends_at_eof(job)) {
            (Bytes::ZERO, true) => text.push_str(",seekpct=eof"),
            (Bytes::ZERO, false) => text.push_str(",seekpct=0"),
            (gap, _) => {
                let gap = size(gap.get());
                let _ = write!(text, ",seekpct=100,stride=({gap},{gap})");
            }
        },
    }
    if let Some(Hits { reads, writes, .. }) = hits(job) {
        let _ = write!(text, ",rhpct={reads},whpct={writes}");
    }
    text
}

/// How a job's addresses crowd, where that is not by hits.
fn crowd(job: &Job) -> Option<Crowd> {
    let rules = job.features.placement.as_deref()?;
    if hits(job).is_some() {
        return None;
    }
    let of = |way: Direction| job.moves(way).then(|| rules.distribution_of(way));
    let block = job.block.largest(job.mix).get();
    crowd_of(
        [of(Direction::Read), of(Direction::Write)],
        (length_of(job)?, block),
    )
}

/// Whether a job goes through its target once.
pub(super) fn ends_at_eof(job: &Job) -> bool {
    matches!(job.access, Access::Sequential { .. })
        && !job.limits.time_based
        && job.limits.bytes.is_none()
}

/// What becomes of a rate of bytes that is no whole number of I/Os of all workers: Vdbench's rates are such numbers.
pub(super) fn bytes_lost(job: &Job) -> Option<String> {
    let Arrival::Open {
        rate: Pacing::Bytes(each),
        ..
    } = job.arrival
    else {
        return None;
    };
    let written = rate(job, 1)?;
    let all = u128::from(each.get()) * u128::from(job.workers);
    let largest = job.block.largest(job.mix);
    let became = u128::from(written) * u128::from(largest.get());
    (became != all || !is_of_one_size(job)).then(|| {
        format!(
            "{each} of each of {} workers become {written} I/Os a second of all: Vdbench's `iorate` counts whole I/Os",
            job.workers
        )
    })
}

/// Whether all I/Os of a job have one size.
fn is_of_one_size(job: &Job) -> bool {
    let largest = job.block.largest(job.mix);
    let used = Direction::ALL.iter().filter(|way| job.moves(**way));
    used.flat_map(|way| job.block.of(*way))
        .all(|sized| sized.size == largest)
}

/// I/Os a second of all workers and streams.
pub(super) fn rate(job: &Job, streams: usize) -> Option<u64> {
    let Arrival::Open {
        rate,
        poisson: _,
        when_full: _,
    } = job.arrival
    else {
        return None;
    };
    let of_all = |rate: u64| {
        let workers = rate.saturating_mul(job.workers.into());
        workers.saturating_mul(streams as u64).max(1)
    };
    Some(match rate {
        Pacing::Iops(iops) => of_all(iops.get()),
        Pacing::Bytes(bytes) => of_all(bytes.get()) / job.block.largest(job.mix).get().max(1),
    })
    .map(|rate| rate.max(1))
}

/// Sizes of transfers, with their shares.
pub(super) fn sizes(block: &BlockSizes, job: &Job) -> String {
    let BlockSizes {
        read,
        write,
        trim: _,
        // Stands with the SD.
        alignment: _,
    } = block;
    let list = if job.mix.read > Percent::ZERO {
        read
    } else {
        write
    };
    if let [only] = list.as_slice() {
        return format!("xfersize={}", size(only.size.get()));
    }
    format!("xfersize=({})", shares(list))
}

/// Sizes with their shares in percent, which add up to 100.
pub(super) fn shares(list: &[WeightedSize]) -> String {
    let total: u64 = list.iter().map(|entry| u64::from(entry.weight)).sum();
    let mut left = 10_000;
    let mut parts = Vec::new();
    for (place, entry) in list.iter().enumerate() {
        let points = u64::from(entry.weight) * 10_000 / total.max(1);
        let points = if place + 1 == list.len() {
            left
        } else {
            points.min(left)
        };
        left -= points;
        parts.push(format!(
            "{},{}",
            size(entry.size.get()),
            points as f64 / 100.0
        ));
    }
    parts.join(",")
}
