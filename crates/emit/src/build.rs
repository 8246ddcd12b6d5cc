//! What is to be built of an offer, in the order in which every script names it.

use fathom_catalog::{DiskKind, ShareMedia, Sold};
use fathom_model::HostCaching;
use fathom_planner::{
    Choice, Disks, NfsVolumes, Offer, Plan, SmbShares, Storage, Unit, VolumeNeed,
};
use fathom_units::BytesPerSec;

/// An offer, and the names that its parts have in scripts: letters, digits, `-` and `_` alone.
pub struct Build<'p> {
    pub plan: &'p Plan,
    pub offer: &'p Offer,
    /// The application's name.
    pub app: String,
    /// Name of each machine.
    pub machines: Vec<String>,
}

/// The disks of a volume on one machine, and where they are attached.
pub struct DiskSet<'p> {
    pub volume: &'p VolumeNeed,
    pub disks: &'p Disks,
    /// Logical unit number of the first.
    pub first: u32,
}

/// One share.
pub struct SharePart<'p> {
    pub shares: &'p SmbShares,
    pub name: String,
    /// Behind the account's name.
    pub suffix: String,
}

impl<'p> Build<'p> {
    pub fn new(plan: &'p Plan, offer: &'p Offer) -> Self {
        let app = fathom_profile::slug(&plan.need.name);
        let machines = match offer.candidate.machines {
            1 => vec![app.clone()],
            several => (1..=several)
                .map(|number| format!("{app}-{number}"))
                .collect(),
        };
        Self {
            plan,
            offer,
            app,
            machines,
        }
    }

    fn volumes(&self) -> impl Iterator<Item = (&'p VolumeNeed, &'p Storage)> {
        let volumes = self.plan.need.volumes.iter();
        volumes.zip(&self.offer.candidate.volumes)
    }

    /// Volumes on disks.
    pub fn disks(&self) -> Vec<DiskSet<'p>> {
        let mut first = 0;
        let mut sets = Vec::new();
        for (volume, storage) in self.volumes() {
            if let Storage::Disks(disks) = storage {
                sets.push(DiskSet {
                    volume,
                    disks,
                    first,
                });
                first += disks.count;
            }
        }
        sets
    }

    /// Volumes over NFS.
    pub fn nfs(&self) -> Vec<(&'p VolumeNeed, &'p NfsVolumes)> {
        let found = self
            .volumes()
            .filter_map(|(volume, storage)| match storage {
                Storage::Nfs(volumes) => Some((volume, volumes)),
                Storage::Disks(_) | Storage::Smb(_) => None,
            });
        found.collect()
    }

    /// Shares over SMB.
    pub fn smb(&self) -> Vec<(&'p VolumeNeed, &'p SmbShares)> {
        let found = self
            .volumes()
            .filter_map(|(volume, storage)| match storage {
                Storage::Smb(shares) => Some((volume, shares)),
                Storage::Disks(_) | Storage::Nfs(_) => None,
            });
        found.collect()
    }

    /// Each share, with its name and what is put behind the name of the storage account: every share has one of its own,
    /// since the limits of an account are those of one share.
    pub fn shares(&self) -> Vec<SharePart<'p>> {
        let mut parts = Vec::new();
        for (volume, shares) in self.smb() {
            for name in names(&volume.slug, shares.count) {
                let suffix = match parts.len() {
                    0 => String::new(),
                    more => (more + 1).to_string(),
                };
                parts.push(SharePart {
                    shares,
                    name,
                    suffix,
                });
            }
        }
        parts
    }

    /// Drive letters on Windows: what is mounted on Linux at these places.
    pub fn drives(&self) -> Vec<(String, char)> {
        let striped = self.disks();
        let striped = striped.iter().map(|set| set.volume.slug.clone());
        let shares = self.shares().into_iter().map(|part| part.name);
        let mounts = striped.chain(shares).map(|name| format!("/mnt/{name}"));
        mounts.zip('F'..='Z').collect()
    }

    /// Comments at the head of a script.
    pub fn head(&self, mark: &str, lines: &[&str]) -> String {
        // Not every reader of scripts takes a file as UTF-8.
        let title = self.offer.title().replace('×', "x");
        let mut text = format!("{mark} {title}, for {}\n{mark}\n", self.app);
        for line in lines {
            let line = format!("{mark} {line}");
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}

/// Names of `count` parts: the name alone, or numbered.
pub fn names(name: &str, count: u32) -> Vec<String> {
    match count {
        1 => vec![name.to_owned()],
        several => (1..=several)
            .map(|number| format!("{name}-{number}"))
            .collect(),
    }
}

/// The provider's name for a product of disks.
pub const fn sku(kind: DiskKind) -> &'static str {
    match kind {
        DiskKind::PremiumSsd => "Premium_LRS",
        DiskKind::PremiumSsdV2 => "PremiumV2_LRS",
        DiskKind::Ultra => "UltraSSD_LRS",
        DiskKind::StandardSsd => "StandardSSD_LRS",
        DiskKind::StandardHdd | DiskKind::Temporary => "Standard_LRS",
    }
}

/// The provider's name for a caching mode.
pub const fn caching(mode: HostCaching) -> &'static str {
    match mode {
        HostCaching::None => "None",
        HostCaching::ReadOnly => "ReadOnly",
        HostCaching::ReadWrite => "ReadWrite",
    }
}

impl DiskSet<'_> {
    /// How many, in words: `1 disk`.
    pub fn told(&self) -> String {
        Unit::Disks.figure(u64::from(self.disks.count))
    }

    /// Logical unit numbers.
    pub fn luns(&self) -> std::ops::Range<u32> {
        self.first..self.first + self.disks.count
    }

    /// Size of each, in GiB.
    pub fn gib(&self) -> u64 {
        self.disks.kind.size().get() >> 30
    }

    /// I/Os and 10^6 bytes a second, where they are bought apart.
    pub fn set(&self) -> Option<(u64, u64)> {
        match self.disks.kind {
            Choice::Named(_) | Choice::Plus(_) => None,
            Choice::Set {
                iops, bandwidth, ..
            } => Some((iops.get(), bandwidth.get().div_ceil(1_000_000))),
        }
    }

    /// Whether they burst on demand, which is said of no other disks: `true` or `null`.
    pub const fn bursts(&self) -> &'static str {
        if self.disks.on_demand { "true" } else { "null" }
    }

    /// Whether they are created with performance plus, which is said of no other disks: `true` or `null`.
    pub const fn plus(&self) -> &'static str {
        if self.disks.kind.has_plus() {
            "true"
        } else {
            "null"
        }
    }

    /// Stripe unit in KiB.
    pub fn chunk(&self) -> u64 {
        self.disks.stripe_unit.get() >> 10
    }
}

/// The provider's name for a service level.
pub fn level(volumes: &NfsVolumes) -> &'static str {
    volumes.level.title
}

/// What a pool for these volumes must hold, in TiB.
pub fn pool_tib(volumes: &NfsVolumes) -> u64 {
    volumes.pool().get() >> 40
}

/// Bandwidth to order for the pool of volumes whose own is assigned, in MiB/s: what they have together, and no less than a
/// pool comes with. `None` where the size of the pool gives it.
pub fn pool_mibps(volumes: &NfsVolumes) -> Option<u64> {
    let all = volumes.bandwidth.get().saturating_mul(volumes.count.into());
    let least = volumes.level.pool_bandwidth.map_or(0, BytesPerSec::get);
    volumes
        .is_assigned()
        .then(|| all.max(least).div_ceil(1 << 20))
}

/// The kind and the redundancy of a storage account for these shares.
pub const fn account(shares: &SmbShares) -> (&'static str, &'static str) {
    match (shares.model.media, shares.model.sold) {
        (ShareMedia::Ssd, Sold::AsBought) => ("FileStorage", "PremiumV2_LRS"),
        (ShareMedia::Ssd, _) => ("FileStorage", "Premium_LRS"),
        (ShareMedia::Hdd, Sold::AsBought) => ("FileStorage", "StandardV2_LRS"),
        (ShareMedia::Hdd, _) => ("StorageV2", "Standard_LRS"),
    }
}
