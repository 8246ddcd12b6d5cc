//! Rules that are figures, their sources, and prices.

use fathom_units::{Bytes, Nanos};

use crate::DiskKind;

/// Where a row was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Source {
    /// Short name within the fact file.
    pub key: &'static str,
    /// Page or article.
    pub page: &'static str,
    /// Date the page bears: `2020-06-01`, a year, or `undated`.
    pub date: &'static str,
    /// Repository and commit that hold the page as read; may be empty.
    pub revision: &'static str,
}

impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({})", self.page, self.date)
    }
}

/// A budget that an I/O counts against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Budget {
    /// The machine's limits for the host cache and the temporary disk.
    VmCached,
    /// The machine's limits for everything else.
    VmUncached,
    /// The disk's own limits.
    Disk,
}

/// Host-cache mode, or the temporary disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AccountingMode {
    /// No host cache.
    None,
    /// Reads are cached, writes go through.
    ReadOnly,
    /// Writes complete in the cache.
    ReadWrite,
    /// The temporary disk.
    TemporaryDisk,
}

/// What an I/O is to the host cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CacheAccess {
    /// A read without a cache.
    Read,
    /// A write.
    Write,
    /// A read that the cache holds.
    ReadHit,
    /// A read that the cache does not hold.
    ReadMiss,
    /// Either way (temporary disk).
    ReadOrWrite,
}

/// Which budgets an I/O counts against, in the order it passes them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accounting {
    /// Mode of the disk.
    pub mode: AccountingMode,
    /// The I/O.
    pub access: CacheAccess,
    /// Before it completes.
    pub counts: &'static [Budget],
    /// After it has completed (write-back).
    pub later: &'static [Budget],
    /// Where the row was read.
    pub source: Source,
}

/// Which disks the host cache takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostCacheRules {
    /// Products that can be cached.
    pub kinds: &'static [DiskKind],
    /// Largest disk that can be cached.
    pub max_disk: Bytes,
    /// Where the rule was read.
    pub source: Source,
}

/// Latency that a tier adds by itself, without any limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MediaLatency {
    /// A disk kind's name, or `host_cache`.
    pub tier: &'static str,
    /// Half of the I/Os take no longer.
    pub median: Nanos,
    /// 99 % of the I/Os take no longer.
    pub p99: Nanos,
    /// Whether it was assumed from hints; no distribution has been published for most tiers.
    pub assumed: bool,
    /// Where the hints were read.
    pub source: Source,
}

/// A list price as an article printed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Price {
    /// Machine size or disk.
    pub item: &'static str,
    /// How many the price is for.
    pub count: u32,
    /// US cents a month for all of them.
    pub usd_cents_month: u64,
    /// Where it was read.
    pub source: Source,
}
