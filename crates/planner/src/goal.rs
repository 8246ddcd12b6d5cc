//! Latency goals that storage misses by itself: no design of it meets them, however little it is asked for.
//!
//! An I/O takes no less than its tier's latency and, over the network, the round trip; one that is taken in parts, a stripe
//! unit each or an `rsize` each, no less than the slowest of them. Two things may do better, and are left to the proof: reads
//! that the host cache serves, and the chance of a single prediction, for which a twentieth is allowed.

use fathom_catalog::ShareMedia;
use fathom_model::HostCaching;
use fathom_profile::Level;
use fathom_units::{Nanos, Percent};

use crate::candidate::Storage;
use crate::limits::{Terms, log_normal_slowest};
use crate::need::VolumeNeed;

/// How much slower than its goal, in percent, storage must be by itself to be left out without a proof.
const SURELY: u64 = 105;

/// Storage that misses a goal by its own latency.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slow {
    /// Its name on price lists.
    pub item: String,
    /// The percentile.
    pub level: Level,
    /// Parts that an I/O is taken in: 1 where it is whole.
    pub parts: u64,
    /// What it takes by itself.
    pub alone: Nanos,
    /// The goal.
    pub goal: Nanos,
}

impl Slow {
    /// Of two the one that misses by less.
    pub fn faster(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        match (one, other) {
            (Some(one), Some(other)) if other.misses() < one.misses() => Some(other),
            (None, other) => other,
            (one, _) => one,
        }
    }

    /// How many times its goal it takes.
    pub fn misses(&self) -> f64 {
        self.alone.get() as f64 / self.goal.get().max(1) as f64
    }
}

impl std::fmt::Display for Slow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            item,
            level,
            parts,
            alone,
            goal,
        } = self;
        let split = match parts {
            1 => String::new(),
            several => format!(" for I/Os that it takes in {several} parts"),
        };
        write!(
            f,
            "{item} takes {alone} at {level} by itself{split}, the goal is {goal}"
        )
    }
}

/// The tier of the catalogue that says what storage adds by itself.
pub fn tier(storage: &Storage) -> &'static str {
    match storage {
        Storage::Nfs(_) => "netapp_files",
        Storage::Disks(disks) => disks.kind.kind().name(),
        Storage::Smb(shares) => match shares.model.media {
            ShareMedia::Ssd => "files_ssd",
            ShareMedia::Hdd => "files_hdd",
        },
    }
}

/// Parts that the largest I/O of a volume is taken in at least, each with a latency of its own.
fn parts(volume: &VolumeNeed, storage: &Storage, terms: &Terms<'_>) -> u64 {
    let unit = match storage {
        Storage::Disks(disks) if disks.count > 1 => disks.stripe_unit,
        Storage::Nfs(_) => terms.catalog.nfs().recommended_io,
        Storage::Disks(_) | Storage::Smb(_) => return 1,
    };
    let sizes = volume.loads.iter().map(|load| load.size.get());
    let largest = sizes.max().unwrap_or(0);
    largest.div_ceil(unit.get().max(1)).max(1)
}

/// The goal that `storage` misses by most whatever its limits are; `None` where it may meet all.
pub fn missed(volume: &VolumeNeed, storage: &Storage, terms: &Terms<'_>) -> Option<Slow> {
    let reads_alone = |share: Option<Percent>| share == Some(Percent::ALL);
    let may_hit = storage
        .disks()
        .is_some_and(|it| it.caching != HostCaching::None)
        && volume.loads.iter().all(|load| reads_alone(load.reads));
    let row = terms.catalog.media_latency(tier(storage))?;
    if may_hit {
        return None;
    }
    let way = match storage {
        Storage::Disks(_) => Nanos::new(0),
        Storage::Nfs(_) | Storage::Smb(_) => terms.round_trip,
    };
    let parts = parts(volume, storage, terms);
    let slow = volume.goal.iter().filter_map(|(level, goal)| {
        let own = log_normal_slowest(parts, *level, row.median, row.p99);
        let alone = Nanos::new(own.round() as u64).saturating_add(way);
        let is_surely = alone.get().saturating_mul(100) > goal.get().saturating_mul(SURELY);
        is_surely.then(|| Slow {
            item: storage.item(),
            level: *level,
            parts,
            alone,
            goal: *goal,
        })
    });
    slow.max_by(|one, other| one.misses().total_cmp(&other.misses()))
}
