//! Volumes over NFS and shares over SMB: what is provisioned, and what the protocols allow.
//!
//! Bandwidths of these services are printed in 2^20 bytes a second.

use fathom_units::{Bytes, BytesPerSec, Iops, Nanos};

use crate::{Limits, Source};

/// How a service level gives bandwidth to a volume.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Qos {
    /// By the volume's own quota.
    Auto,
    /// As assigned, out of the pool's.
    Manual,
    /// The pool's serves all its volumes.
    Shared,
}

/// A service level of NetApp Files. Key: `name`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceLevel {
    /// Name in design files, such as `premium`.
    pub name: &'static str,
    /// Name in sentences.
    pub title: &'static str,
    /// How bandwidth is given.
    pub qos: Qos,
    /// Bytes a second for each TiB of quota (or of the pool, where shared).
    pub bandwidth_per_tib: Option<BytesPerSec>,
    /// Least bytes a second of a pool whose bandwidth is assigned.
    pub pool_bandwidth: Option<BytesPerSec>,
    /// Most bytes a second of such a pool for each of its TiB.
    pub pool_max_bandwidth_per_tib: Option<BytesPerSec>,
    /// Where the row was read.
    pub source: Source,
}

/// Bounds of a volume of NetApp Files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VolumeRules {
    /// Smallest quota.
    pub min_size: Bytes,
    /// Smallest capacity pool that volumes lie in.
    pub min_pool: Bytes,
    /// Largest capacity pool.
    pub max_pool: Bytes,
    /// Largest quota of a regular volume.
    pub max_size: Bytes,
    /// Most bytes a second of a regular volume, found by measurement.
    pub max_bandwidth: BytesPerSec,
    /// Least bytes a second that can be assigned.
    pub min_bandwidth: BytesPerSec,
    /// Smallest quota of a large volume.
    pub large_min_size: Bytes,
    /// Largest quota of a large volume.
    pub large_max_size: Bytes,
    /// Most bytes a second of a large volume.
    pub large_max_bandwidth: BytesPerSec,
    /// Largest file.
    pub max_file: Bytes,
    /// Where the rules were read.
    pub source: Source,
}

/// What NFS allows in flight.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NfsRules {
    /// Most connections of a client to a server (`nconnect`).
    pub max_connections: u32,
    /// Connections past which the pages see no gain.
    pub best_connections: u32,
    /// I/Os that the server takes on one connection at once.
    pub slots_per_connection: u32,
    /// I/Os that the server takes in one session at once (4.1).
    pub max_session_slots: u32,
    /// I/Os that a Linux client asks for in a session by default (4.1).
    pub default_session_slots: u32,
    /// `rsize` and `wsize` where the mount says nothing.
    pub default_io: Bytes,
    /// Largest that the pages recommend.
    pub recommended_io: Bytes,
    /// Largest that the service takes.
    pub max_io: Bytes,
    /// Where the rules were read.
    pub source: Source,
}

/// Media of a share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShareMedia {
    /// SSD.
    Ssd,
    /// HDD.
    Hdd,
}

/// What decides a share's limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sold {
    /// Its size.
    BySize,
    /// The buyer, within bounds; the size gives the default.
    AsBought,
    /// Nothing: it is paid as used, and has the limits of its storage account.
    AsUsed,
}

/// What a share's burst limit is a multiple of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BurstOf {
    /// Its size in GiB.
    Gib,
    /// Its IOPS.
    Iops,
}

/// How a share bursts, in IOPS alone: `min(max(factor × (GiB or IOPS), floor), most IOPS of the share)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShareBurst {
    /// What is multiplied.
    pub of: BurstOf,
    /// By how much.
    pub factor: u64,
    /// Least burst limit.
    pub floor: Iops,
}

/// How a share of Azure Files is sold, and the parameters of its formulas. Key: `name`.
///
/// IOPS are `base + ceil(per GiB × GiB)`, bandwidth `base + Σ ceil(term × GiB)` in MiB/s, both held between least and most.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShareModel {
    /// Name in design files, such as `ssd-v1`.
    pub name: &'static str,
    /// Name in sentences.
    pub title: &'static str,
    /// Media.
    pub media: ShareMedia,
    /// What decides its limits.
    pub sold: Sold,
    /// Smallest size.
    pub min_size: Bytes,
    /// Largest size.
    pub max_size: Bytes,
    /// I/Os a second of any size.
    pub base_iops: u64,
    /// Thousandths of an I/O a second for each GiB.
    pub milli_iops_per_gib: u64,
    /// Least I/Os a second that can be bought.
    pub min_iops: Option<Iops>,
    /// Most I/Os a second, bursting or not.
    pub max_iops: Iops,
    /// MiB a second of any size.
    pub base_mibps: u64,
    /// Thousandths of a MiB a second for each GiB, each term rounded up by itself.
    pub milli_mibps_per_gib: &'static [u64],
    /// Least MiB a second that can be bought.
    pub min_mibps: Option<u64>,
    /// Most MiB a second.
    pub max_mibps: u64,
    /// Bytes written a second, where they have a limit of their own.
    pub write_bandwidth: Option<BytesPerSec>,
    /// How it bursts; `None`: it does not.
    pub burst: Option<ShareBurst>,
    /// Where the row was read.
    pub source: Source,
}

/// Limits of one file of a share. Key: `media`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShareFile {
    /// Media of the share.
    pub media: ShareMedia,
    /// Largest file.
    pub max_size: Bytes,
    /// I/Os and bytes a second.
    pub limits: Limits,
    /// Where the row was read.
    pub source: Source,
}

/// Handles that a share can have open at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandleLimits {
    /// On the root directory.
    pub root: u32,
    /// On one file or directory.
    pub file: u32,
    /// On one file or directory where the preview of larger limits is on.
    pub file_preview: u32,
    /// Where the rules were read.
    pub source: Source,
}

/// Metadata operations of a share, with and without metadata caching.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetadataLimits {
    /// Operations a second without it.
    pub iops: Iops,
    /// Operations a second with it.
    pub cached_iops: Iops,
    /// By how much it lowers their latency at least.
    pub cached_latency_reduction_percent: u32,
    /// By how much it raises their rate at least.
    pub cached_iops_gain_percent: u32,
    /// Where the rules were read.
    pub source: Source,
}

/// SMB channels: how many, and what one carries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChannelLimits {
    /// Most channels of a client to an SSD share; HDD shares have one.
    pub max_channels: u32,
    /// Reads of one channel.
    pub read: Limits,
    /// Writes of one channel.
    pub write: Limits,
    /// I/Os below this are small.
    pub small_io: Bytes,
    /// What several channels cost small I/O of several threads on one file.
    pub small_io_penalty_percent: u32,
    /// What several channels cost a single thread.
    pub single_thread_penalty_percent: u32,
    /// Where the figures were read.
    pub source: Source,
}

/// A round trip between a machine and network storage. Key: `name`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoundTrip {
    /// `near` or `far`.
    pub name: &'static str,
    /// There and back.
    pub rtt: Nanos,
    /// Whether it was assumed.
    pub assumed: bool,
    /// Where the hints were read.
    pub source: Source,
}
