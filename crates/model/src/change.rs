//! Changes of storage while it is used, and what faults leave behind.
//!
//! A [`Change`] names a part of the storage and says what becomes of it: other limits, slower, stalled, failing, gone. Who
//! goes next is decided at departure, so a change holds for I/Os that wait too.
//!
//! Invariant: a change that is refused changes nothing.

use fathom_units::{BytesPerSec, Iops, Percent};

use crate::design::VolumeId;
use crate::factor::Factor;

/// What becomes of one part of the storage.
///
/// Parts have the names of [`crate::Storage::statistics`]: a volume (`VM/VOLUME`, or `VOLUME` alone where one machine has
/// it), a device, an NFS volume, a share, a machine (`VM`), one of its budgets (`VM/cached`, `VM/uncached`, `VM/network`),
/// a disk (`VM/VOLUME/disk1`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The part.
    pub part: String,
    /// What becomes of it.
    pub action: Action,
}

/// What becomes of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// It has other limits. A volume of several disks divides them evenly among its disks. A limit that is set does not
    /// burst. What has left and is not paid for yet is paid at the new rate.
    Limits {
        /// I/Os a second.
        iops: NewLimit<Iops>,
        /// Bytes a second.
        bandwidth: NewLimit<BytesPerSec>,
    },
    /// Everything at it takes so many times as long: its rates are divided, and its media latency multiplied. Relative to
    /// its limits as they are otherwise; 1 ends it.
    Slow(Factor),
    /// Nothing leaves it until it is resumed. What has left goes on.
    Stall,
    /// It goes on.
    Resume,
    /// Of the I/Os that come from now on to a volume (to each volume of a machine) this share fails, after the time that
    /// one part of them takes; flushes and operations on files fail at once. 0 % ends it.
    Fail(Percent),
    /// A volume (each volume of a machine) is gone: what is under way and what comes fails at once, and its host cache is
    /// lost with what was on no disk.
    Detach,
    /// It is there again, with a cold cache.
    Attach,
    /// It is as the design says. What is detached is there again.
    Restore,
}

/// What becomes of a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NewLimit<T> {
    /// It stays.
    #[default]
    Keep,
    /// It is this.
    Set(T),
    /// There is none.
    Lift,
}

/// Why a change is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChangeError {
    /// No part has this name.
    #[error("the storage has no part `{part}`{}", meant(near.as_deref(), known))]
    Unknown {
        /// The name as given.
        part: String,
        /// The part whose name is near enough to be meant.
        near: Option<String>,
        /// The parts there are, as far as they fit a message.
        known: Vec<String>,
    },
    /// Several volumes have this name.
    #[error("`{part}` may be {}\n  hint: name one of them", volumes.join(" or "))]
    Ambiguous {
        /// The name as given.
        part: String,
        /// The volumes.
        volumes: Vec<String>,
    },
    /// A machine has several budgets.
    #[error("the machine `{part}` has no limits of its own\n  hint: set those of {}", budgets.join(", "))]
    Budgets {
        /// The machine.
        part: String,
        /// Its budgets.
        budgets: Vec<String>,
    },
    /// Volumes alone fail and are detached.
    #[error(
        "`{part}` is a part of a volume or machine, and those fail or are detached as a whole\n  hint: name the volume or the machine"
    )]
    NoVolume {
        /// The name as given.
        part: String,
    },
    /// A limit of 0.
    #[error("a limit of 0 on `{part}` would let nothing go\n  hint: stall it instead")]
    Zero {
        /// The name as given.
        part: String,
    },
}

/// What may be meant by a name that no part has.
fn meant(near: Option<&str>, known: &[String]) -> String {
    match near {
        Some(near) => format!("\n  hint: did you mean `{near}`?"),
        None => format!("; it has {}", known.join(", ")),
    }
}

/// Bytes of a volume that are in no durable place any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lost {
    /// The volume.
    pub volume: VolumeId,
    /// First byte.
    pub offset: u64,
    /// Bytes, in whole blocks of 4 KiB.
    pub length: u64,
    /// Whether a background write of them was under way: with torn writes, any of its sectors may have reached the disk.
    pub under_way: bool,
}

/// What the failure of a host leaves.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Crash {
    /// What its cache had not brought to a disk: of these ranges the durable content is what was durable before.
    pub lost: Vec<Lost>,
    /// I/Os that were under way. They never complete; of a write any part may be durable.
    pub in_flight: Vec<InFlight>,
}

impl Crash {
    /// Bytes lost, in whole blocks.
    pub fn lost_bytes(&self) -> u64 {
        self.lost.iter().map(|lost| lost.length).sum()
    }
}

/// An I/O that was under way when its host failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InFlight {
    /// As submitted.
    pub tag: u64,
    /// Where it went.
    pub volume: VolumeId,
    /// Whether a part of it was at the media, so that a write may be durable in part; otherwise all of it still waited for
    /// limits.
    pub at_media: bool,
}

/// Where written bytes are, told as it changes where [`crate::Storage::watch_durability`] asks for it. It is told of
/// volumes with read-write caching alone: elsewhere, and of what is not told as [`Durability::Cached`], a write is durable
/// when it completes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// These bytes of the write with this tag are in the host cache and on no disk: a crash loses them.
    Cached {
        /// Of the request.
        tag: u64,
        /// The range.
        range: VolumeRange,
    },
    /// A background write takes what the cache holds of this range now. What is written there later is not in it.
    Taken {
        /// Its number among those under way; all ranges of one background write have one number.
        run: u32,
        /// The range, in whole blocks.
        range: VolumeRange,
    },
    /// What the background write took of this range is on its disk, and survives a crash. Where a later background write of
    /// the same bytes is durable already, it stays.
    Durable {
        /// Its number; another may have it from now on.
        run: u32,
        /// The range, in whole blocks.
        range: VolumeRange,
    },
}

/// Bytes of a volume.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VolumeRange {
    /// The volume.
    pub volume: VolumeId,
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub length: u64,
}
