//! Machine sizes and the pairs of limits that they print.

use fathom_units::{Bytes, BytesPerSec, Iops};

use crate::{Era, Source};

/// A limit on I/Os and one on bytes; an absent one was not printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limits {
    /// I/Os a second.
    pub iops: Option<Iops>,
    /// Bytes a second.
    pub bandwidth: Option<BytesPerSec>,
}

impl Limits {
    /// Whether neither limit is known.
    pub fn is_empty(&self) -> bool {
        self.iops.is_none() && self.bandwidth.is_none()
    }
}

/// One machine size as one page prints it. Key: (`era`, `name`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VmSize {
    /// Which pages it was read from.
    pub era: Era,
    /// Full name, such as `Standard_DS14`.
    pub name: &'static str,
    /// Series it belongs to.
    pub series: &'static str,
    /// Virtual processors.
    pub vcpus: u32,
    /// Main memory.
    pub memory: Bytes,
    /// Most data disks that can be attached.
    pub max_data_disks: u32,
    /// Size of the host cache.
    pub cache: Option<Bytes>,
    /// Limits of the host cache and the temporary disk together.
    pub cached: Limits,
    /// Limits of disk traffic that passes the cache by, or misses it.
    pub uncached: Limits,
    /// Burst limits of the cached budget.
    pub burst_cached: Limits,
    /// Burst limits of the uncached budget.
    pub burst_uncached: Limits,
    /// Size of the temporary disk.
    pub temporary_disk: Option<Bytes>,
    /// Limits of the temporary disk, where the page prints them apart.
    pub temporary: Limits,
    /// Bytes a second written to the temporary disk, where printed apart.
    pub temporary_write: Option<BytesPerSec>,
    /// Local NVMe disks.
    pub nvme_disks: Option<u32>,
    /// Read limits of the local NVMe disks together.
    pub nvme_read: Limits,
    /// I/Os a second of each standard data disk, where the page prints that instead of the machine's limits.
    pub data_disk_iops_each: Option<Iops>,
    /// "Cache I/O limits" of the 2016 article's own table; no size page repeats them.
    pub article_cache_limit: Limits,
    /// Network cards.
    pub network_cards: Option<u32>,
    /// Network bandwidth in 10^6 bit/s.
    pub network_mbps: Option<u32>,
    /// Whether premium disks can be attached.
    pub premium: bool,
    /// Whether disks can use the host cache.
    pub premium_caching: bool,
    /// Where the row was read.
    pub source: Source,
}
