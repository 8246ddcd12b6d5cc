//! Volumes over NFS and shares over SMB as they are bought, and every choice of them that carries a volume.
//!
//! They are shared by all machines of a design. More than one of them carries a volume only where one does not: then the
//! application spreads its files over them evenly.

use fathom_catalog::{Limits, Qos, ServiceLevel, ShareMedia, ShareModel, Sold, VolumeRules};
use fathom_model::figures;
use fathom_units::{Bytes, BytesPerSec, Iops};

use crate::candidate::Storage;
use crate::goal::{self, Slow};
use crate::limits::{self, Terms};
use crate::line::{Line, Unit};
use crate::need::VolumeNeed;
use crate::{Family, Prices, Request};

const GIB: u64 = 1 << 30;
const MIB: u64 = 1 << 20;
const TIB: u64 = 1 << 40;

/// Most volumes or shares that one volume of a profile is spread over.
const MOST_PIECES: u32 = 16;

/// Equal volumes of NetApp Files over NFS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NfsVolumes {
    /// Service level.
    pub level: &'static ServiceLevel,
    /// Whether they are large volumes.
    pub large: bool,
    /// Quota of each.
    pub quota: Bytes,
    /// Bytes a second of each.
    pub bandwidth: BytesPerSec,
    /// How many.
    pub count: u32,
    /// Connections of each machine to each (`nconnect`).
    pub connections: u32,
}

impl NfsVolumes {
    /// Its name on price lists.
    pub fn item(&self) -> String {
        nfs_item(self.level)
    }

    /// The capacity pool that they lie in together: whole TiB, from the smallest that is sold on.
    pub fn pool(&self) -> Bytes {
        let least = fathom_catalog::Catalog::builtin().netapp_volume().min_pool;
        let quotas = self.quota.get().saturating_mul(u64::from(self.count));
        let tib = quotas.max(least.get()).div_ceil(TIB);
        Bytes::new(tib.saturating_mul(TIB))
    }

    /// Whether the bandwidth is assigned, and not given by the quota.
    pub fn is_assigned(&self) -> bool {
        self.level.qos == Qos::Manual
    }
}

/// Equal shares of Azure Files over SMB.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SmbShares {
    /// How they are sold.
    pub model: &'static ShareModel,
    /// Size of each.
    pub size: Bytes,
    /// I/Os a second of each.
    pub iops: Iops,
    /// Bytes a second of each.
    pub bandwidth: BytesPerSec,
    /// How many.
    pub count: u32,
    /// SMB channels of each machine to each.
    pub channels: u32,
    /// Files of each share that the I/O must be spread over, for a single file has limits of its own.
    pub files: u32,
}

impl SmbShares {
    /// Its name on price lists.
    pub fn item(&self) -> String {
        smb_item(self.model)
    }

    /// Whether I/Os and bytes a second are bought apart from the size.
    pub fn is_set(&self) -> bool {
        self.model.sold == Sold::AsBought
    }
}

fn nfs_item(level: &ServiceLevel) -> String {
    format!("nfs-{}", level.name)
}

fn smb_item(model: &ShareModel) -> String {
    model.name.to_owned()
}

/// Names of all products over the network, as on price lists.
pub fn items(catalog: &fathom_catalog::Catalog) -> Vec<String> {
    let levels = catalog.service_levels().iter().map(nfs_item);
    levels
        .chain(catalog.share_models().iter().map(smb_item))
        .collect()
}

/// Every choice of volumes and shares that by itself carries `total`, of which each machine does `part`: of each product
/// the fewest, and of those the smallest. And of those that miss a goal by their own latency the one that misses it least.
pub fn choices(
    total: &VolumeNeed,
    part: &VolumeNeed,
    request: &Request,
    terms: &Terms<'_>,
) -> (Vec<Storage>, Option<Slow>) {
    let mut found = Vec::new();
    if request.families.contains(&Family::Nfs) {
        for level in terms.catalog.service_levels() {
            // The pool's bandwidth of a shared level is used by volumes that no profile knows of.
            if level.qos == Qos::Shared || !request.takes(&nfs_item(level)) {
                continue;
            }
            for large in [false, true] {
                found.extend(nfs(total, part, (level, large), terms).map(Storage::Nfs));
            }
        }
    }
    if request.families.contains(&Family::Smb) {
        for model in terms.catalog.share_models() {
            if request.takes(&smb_item(model)) {
                found.extend(smb(total, part, model, terms).map(Storage::Smb));
            }
        }
    }
    found.retain(|storage| !total.left_out.contains(&goal::tier(storage)));
    let mut slow = None;
    found.retain(|storage| {
        let missed = goal::missed(total, storage, terms);
        let is_fast = missed.is_none();
        slow = Slow::faster(slow.take(), missed);
        is_fast
    });
    (found, slow)
}

/// What the most volumes or shares that are spread over, of those that can be bought, come closest to, in bytes a second and
/// bytes, or in I/Os a second of shares: where nothing carries `total`.
pub fn closest(
    total: &VolumeNeed,
    request: &Request,
    prices: Option<&Prices>,
    terms: &Terms<'_>,
) -> Option<Line> {
    let is_sold = |item: &str| request.takes(item) && prices.is_none_or(|it| it.has(item));
    let models = terms.catalog.share_models().iter();
    let models: Vec<_> = models.filter(|model| is_sold(&smb_item(model))).collect();
    let [nfs_rate, nfs_space] = most_of_pool(&is_sold, terms).map_or([None; 2], |it| it.map(Some));
    let largest = |of: &dyn Fn(&ShareModel) -> u64| models.iter().map(|model| of(model)).max();
    let nfs = (Family::Nfs, "volumes over NFS in a capacity pool");
    let smb = (Family::Smb, "shares over SMB");
    let rate = most(total, |load| load.bandwidth.get());
    let iops = most(total, |load| load.iops.get());
    let space = total.capacity.get();
    let (by_rate, by_space) = (Unit::BinaryBandwidth, Unit::Capacity);
    let all = |limit: u64| limit.saturating_mul(u64::from(MOST_PIECES));
    let limits = [
        (nfs, by_rate, rate, nfs_rate),
        (nfs, by_space, space, nfs_space),
        (
            smb,
            by_rate,
            rate,
            largest(&|model| all(model.max_mibps * MIB)),
        ),
        (
            smb,
            by_space,
            space,
            largest(&|model| all(model.max_size.get())),
        ),
        (
            smb,
            Unit::Iops,
            iops,
            largest(&|model| all(model.max_iops.get())),
        ),
    ];
    let worst_of = |wanted: Family| {
        let own = limits.iter().filter(|((family, _), ..)| *family == wanted);
        let lines = own.filter_map(|((family, what), unit, need, have)| {
            let have = have.filter(|_| request.families.contains(family))?;
            Some(Line {
                owner: total.told(&format!("{MOST_PIECES} {what}")),
                unit: *unit,
                need: *need,
                have,
                steady: have,
                period: None,
                credits: None,
                raise: String::new(),
            })
        });
        let failing = lines.filter(|line| !line.carries());
        failing.max_by(|one, other| one.missing().total_cmp(&other.missing()))
    };
    let families = [Family::Nfs, Family::Smb].into_iter().filter_map(worst_of);
    families.min_by(|one, other| one.missing().total_cmp(&other.missing()))
}

/// Bytes a second and bytes of the most volumes over NFS that are sold, which lie in one pool; `None` where none is.
fn most_of_pool(is_sold: &impl Fn(&str) -> bool, terms: &Terms<'_>) -> Option<[u64; 2]> {
    let rules = terms.catalog.netapp_volume();
    let all = |limit: u64| limit.saturating_mul(u64::from(MOST_PIECES));
    let levels = terms.catalog.service_levels().iter();
    let levels = levels.filter(|level| level.qos != Qos::Shared && is_sold(&nfs_item(level)));
    let of_pool = levels.filter_map(|level| {
        let assigned = level.pool_max_bandwidth_per_tib;
        let per_tib = assigned.or(level.bandwidth_per_tib)?;
        Some(per_tib.get().saturating_mul(rules.max_pool.get() / TIB))
    });
    let rate = of_pool.max()?;
    Some([
        rate.min(all(rules.large_max_bandwidth.get())),
        rules.max_pool.get().min(all(rules.large_max_size.get())),
    ])
}

/// The most that is asked for in any period.
fn most(need: &VolumeNeed, ask: impl Fn(&crate::Load) -> u64) -> u64 {
    need.loads.iter().map(ask).max().unwrap_or(0)
}

/// The fewest volumes of one service level.
fn nfs(
    total: &VolumeNeed,
    part: &VolumeNeed,
    (level, large): (&'static ServiceLevel, bool),
    terms: &Terms<'_>,
) -> Option<NfsVolumes> {
    let rules = terms.catalog.netapp_volume();
    let nfs = terms.catalog.nfs();
    (1..=MOST_PIECES).find_map(|count| {
        let (quota, bandwidth) = quota_of(total, level, (large, count), rules)?;
        let with = |connections| NfsVolumes {
            level,
            large,
            quota,
            bandwidth,
            count,
            connections,
        };
        // The pages measure no gain past the best number, so that it is exceeded for slots alone.
        let mut tried = [nfs.best_connections, nfs.max_connections]
            .into_iter()
            .map(with);
        tried.find(|volumes| {
            limits::of_nfs(total, part, volumes, terms)
                .iter()
                .all(limits::Figure::carries)
        })
    })
}

/// Smallest quota of a volume over NFS that is planned: one that every tool takes. The service takes 50 GiB
/// (azure-netapp-files-resource-limits.md, 2025-06-10), but 100 GiB were its least in 2021 (the same page, 2021-07-28), and tools
/// of after that still check for them: Terraform's provider 4.10.0 refuses less (its issue 29334, 2025-04-14). It costs nothing,
/// for the pool that is paid for has 1 TiB at least.
const SMALLEST_QUOTA: Bytes = Bytes::gib(100);

/// The smallest quota that carries a `count`th, and the bandwidth that it has; `None` where no volume is sold so.
fn quota_of(
    total: &VolumeNeed,
    level: &ServiceLevel,
    (large, count): (bool, u32),
    rules: &VolumeRules,
) -> Option<(Bytes, BytesPerSec)> {
    let count = u64::from(count);
    let (least, largest, fastest) = if large {
        let (least, largest) = (rules.large_min_size, rules.large_max_size);
        (least, largest, rules.large_max_bandwidth)
    } else {
        let least = rules.min_size.max(SMALLEST_QUOTA);
        (least, rules.max_size, rules.max_bandwidth)
    };
    let asked = most(total, |load| load.bandwidth.get()).div_ceil(count);
    let asked = BytesPerSec::new(asked);
    if asked > fastest {
        return None;
    }
    let capacity = total.capacity.get().div_ceil(count);
    let (by_rate, assigned) = match level.pool_max_bandwidth_per_tib {
        None => (figures::quota_for(level, asked)?, None),
        Some(per_tib) => {
            let mib = asked
                .get()
                .div_ceil(MIB)
                .max(rules.min_bandwidth.get() / MIB);
            let assigned = BytesPerSec::new(mib.max(1) * MIB);
            let pool = u128::from(assigned.get()) << 40;
            let pool = pool.div_ceil(u128::from(per_tib.get().max(1)));
            (Bytes::new(u64::try_from(pool).ok()?), Some(assigned))
        }
    };
    let quota = by_rate.get().max(capacity).max(least.get()).div_ceil(GIB);
    let quota = Bytes::new(quota.checked_mul(GIB)?);
    // All lie in one pool.
    if quota.get().saturating_mul(count) > rules.max_pool.get() {
        return None;
    }
    if quota > largest || assigned.is_some_and(|assigned| assigned > fastest) {
        return None;
    }
    let given = match assigned {
        Some(assigned) => assigned,
        None => figures::quota_bandwidth(level, quota)?.min(fastest),
    };
    Some((quota, given))
}

/// The fewest shares of one model.
fn smb(
    total: &VolumeNeed,
    part: &VolumeNeed,
    model: &'static ShareModel,
    terms: &Terms<'_>,
) -> Option<SmbShares> {
    (1..=MOST_PIECES).find_map(|count| {
        let (size, given) = share_of(total, model, count, terms)?;
        let with = |channels| SmbShares {
            model,
            size,
            iops: given.iops.unwrap_or_default(),
            bandwidth: given.bandwidth.unwrap_or_default(),
            count,
            channels,
            files: files_of(total, model, (count, channels), terms),
        };
        let most = match model.media {
            ShareMedia::Ssd => terms.catalog.share_channel().max_channels,
            ShareMedia::Hdd => 1,
        };
        let mut tried = (1..=most).map(with);
        tried.find(|shares| {
            limits::of_smb(total, part, shares, terms)
                .iter()
                .all(limits::Figure::carries)
        })
    })
}

/// Files of each share that its I/O must be spread over; several channels need two at least, since small I/O on a single
/// file loses by them.
fn files_of(
    total: &VolumeNeed,
    model: &ShareModel,
    (count, channels): (u32, u32),
    terms: &Terms<'_>,
) -> u32 {
    let Some(file) = terms.catalog.share_file(model.media) else {
        return 1;
    };
    let count = u64::from(count);
    let needed = |asked: u64, limit: Option<u64>| {
        limit.map_or(1, |limit| asked.div_ceil(count).div_ceil(limit.max(1)))
    };
    let iops = needed(
        most(total, |load| load.iops.get()),
        file.limits.iops.map(Iops::get),
    );
    let bytes = needed(
        most(total, |load| load.bandwidth.get()),
        file.limits.bandwidth.map(BytesPerSec::get),
    );
    let space = needed(total.capacity.get(), Some(file.max_size.get()));
    let files = iops.max(bytes).max(space).max(u64::from(channels > 1) + 1);
    u32::try_from(files).unwrap_or(u32::MAX)
}

/// The smallest share that carries a `count`th, and its limits; `None` where none is sold so.
fn share_of(
    total: &VolumeNeed,
    model: &ShareModel,
    count: u32,
    terms: &Terms<'_>,
) -> Option<(Bytes, Limits)> {
    let count = u64::from(count);
    let capacity = total.capacity.get().div_ceil(count).div_ceil(GIB);
    let least = capacity.max(model.min_size.get() / GIB);
    let largest = model.max_size.get() / GIB;
    if least > largest {
        return None;
    }
    let given = |gib: u64| {
        let size = Bytes::new(gib * GIB);
        let limits = Limits {
            iops: Some(figures::share_iops(model, size)),
            bandwidth: Some(figures::share_bandwidth(model, size)),
        };
        (size, limits)
    };
    if model.sold == Sold::AsBought {
        let (size, _) = given(least);
        return Some((size, bought(total, model, (size, count), terms)?));
    }
    // Larger shares have higher limits, so that the smallest that is enough is found by halves.
    let enough = |gib: u64| {
        let (size, limits) = given(gib);
        limits::share_suffices(total, model, (size, &limits, count), terms)
    };
    if !enough(largest) {
        return None;
    }
    let (mut fails, mut carries) = (least.saturating_sub(1), largest);
    while carries - fails > 1 {
        let middle = u64::midpoint(fails, carries);
        if enough(middle) {
            carries = middle;
        } else {
            fails = middle;
        }
    }
    Some(given(carries))
}

/// The least limits to buy.
fn bought(
    total: &VolumeNeed,
    model: &ShareModel,
    (size, count): (Bytes, u64),
    terms: &Terms<'_>,
) -> Option<Limits> {
    let mibps = most(total, |load| load.bandwidth.get()).div_ceil(count);
    let mibps = mibps.div_ceil(MIB).max(model.min_mibps.unwrap_or(0));
    let with = |iops: u64| Limits {
        iops: Some(Iops::new(iops)),
        bandwidth: Some(BytesPerSec::new(mibps * MIB)),
    };
    let enough = |iops| limits::share_suffices(total, model, (size, &with(iops), count), terms);
    let most = model.max_iops.get();
    if mibps > model.max_mibps || !enough(most) {
        return None;
    }
    // What credits add grows with what is bought.
    let least = model.min_iops.map_or(1, Iops::get);
    let (mut fails, mut carries) = (least.saturating_sub(1), most);
    while carries - fails > 1 {
        let middle = u64::midpoint(fails, carries);
        if enough(middle) {
            carries = middle;
        } else {
            fails = middle;
        }
    }
    Some(with(carries))
}
