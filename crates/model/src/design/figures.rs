//! Formulas of what is provisioned: limits from a size, and the most that a buyer may set.
//!
//! The parameters are rows of the catalogue, each with its source; here is the arithmetic alone, in integers. GiB and TiB
//! are base 2; the disks' MB/s are 10^6 bytes a second, the MiB/s of NetApp Files and Azure Files 2^20.

use fathom_catalog::{AdjustableDisk, BurstOf, ServiceLevel, ShareModel};
use fathom_units::{Bytes, BytesPerSec, Iops};

const GIB: u64 = 1 << 30;
const TIB: u64 = 1 << 40;

/// Most I/Os a second that a disk of this size can be given: `clamp(IOPS per GiB × GiB, least, most)`.
///
/// Premium SSD v2: `clamp(500 × GiB, 3000, 80000)`; Ultra: `min(1000 × GiB, 400000)` (disks-types.md, 2026-08-11).
pub fn most_iops(row: &AdjustableDisk, size: Bytes) -> Iops {
    let by_size = (size.get() / GIB).saturating_mul(row.iops_per_gib);
    let least = row.min.iops.map_or(0, Iops::get);
    let most = row.max.iops.map_or(u64::MAX, Iops::get);
    Iops::new(by_size.clamp(least, most))
}

/// Most bytes a second that a disk with these I/Os a second can be given: `min(0.25 MB/s × IOPS, most)`, and never less
/// than what every size has (disks-types.md, 2026-08-11).
pub fn most_bandwidth(row: &AdjustableDisk, iops: Iops) -> BytesPerSec {
    let by_iops = iops.get().saturating_mul(row.bytes_per_io);
    let least = row.min.bandwidth.map_or(0, BytesPerSec::get);
    let most = row.max.bandwidth.map_or(u64::MAX, BytesPerSec::get);
    BytesPerSec::new(by_iops.clamp(least, most))
}

/// Bytes a second of a volume of NetApp Files: `quota in TiB × what the service level gives for each`, reads and writes
/// together (azure-netapp-files-service-levels.md, 2026-01-29); `None` where throughput is assigned instead.
pub fn quota_bandwidth(level: &ServiceLevel, quota: Bytes) -> Option<BytesPerSec> {
    let per_tib = level.bandwidth_per_tib?;
    Some(share_of_tib(per_tib, quota))
}

/// Most bytes a second that the volumes of a pool of this size may be given together; `None` where the quota decides.
pub fn pool_bandwidth(level: &ServiceLevel, pool: Bytes) -> Option<BytesPerSec> {
    let per_tib = level.pool_max_bandwidth_per_tib?;
    let least = level.pool_bandwidth.unwrap_or_default();
    Some(share_of_tib(per_tib, pool).max(least))
}

/// Smallest quota that gives so many bytes a second, in whole bytes; `None` where the quota does not decide.
pub fn quota_for(level: &ServiceLevel, bandwidth: BytesPerSec) -> Option<Bytes> {
    let per_tib = level.bandwidth_per_tib?;
    let bytes = u128::from(bandwidth.get()) * u128::from(TIB);
    let quota = bytes.div_ceil(u128::from(per_tib.get().max(1)));
    Some(Bytes::new(u64::try_from(quota).unwrap_or(u64::MAX)))
}

fn share_of_tib(per_tib: BytesPerSec, size: Bytes) -> BytesPerSec {
    let rate = u128::from(per_tib.get()) * u128::from(size.get()) / u128::from(TIB);
    BytesPerSec::new(u64::try_from(rate).unwrap_or(u64::MAX))
}

/// I/Os a second of a share of this size: `base + ceil(per GiB × GiB)`, within the model's bounds. Where the buyer sets
/// them, it is the provider's recommendation (understanding-billing.md, 2026-10-06).
pub fn share_iops(model: &ShareModel, size: Bytes) -> Iops {
    let iops = model.base_iops + per_gib(model.milli_iops_per_gib, size);
    let least = model.min_iops.map_or(0, Iops::get);
    Iops::new(iops.max(least).min(model.max_iops.get()))
}

/// Bytes a second of a share of this size: `base + Σ ceil(term × GiB)` MiB/s, within the model's bounds; as for IOPS.
pub fn share_bandwidth(model: &ShareModel, size: Bytes) -> BytesPerSec {
    let terms = model.milli_mibps_per_gib.iter();
    let mibps = model.base_mibps + terms.map(|milli| per_gib(*milli, size)).sum::<u64>();
    let least = model.min_mibps.unwrap_or_default();
    BytesPerSec::new(mibps.max(least).min(model.max_mibps) << 20)
}

/// I/Os a second while bursting of a share of this size and these I/Os a second:
/// `min(max(factor × (GiB or IOPS), floor), most)`; `None` where it does not burst (understanding-billing.md, 2026-10-06).
pub fn share_burst(model: &ShareModel, size: Bytes, iops: Iops) -> Option<Iops> {
    let burst = model.burst?;
    let of = match burst.of {
        BurstOf::Gib => size.get() / GIB,
        BurstOf::Iops => iops.get(),
    };
    let wanted = of.saturating_mul(burst.factor).max(burst.floor.get());
    Some(Iops::new(wanted.min(model.max_iops.get())))
}

/// `ceil(milli / 1000 × GiB)`.
fn per_gib(milli: u64, size: Bytes) -> u64 {
    let gib_milli = u128::from(milli) * u128::from(size.get());
    let whole = gib_milli.div_ceil(1000 * u128::from(GIB));
    u64::try_from(whole).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
