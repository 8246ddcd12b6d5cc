//! The disks that could carry one volume on one machine.

use std::cell::OnceCell;
use std::ops::RangeInclusive;

use fathom_catalog::{AdjustableDisk, BurstMode, Catalog, Disk, DiskKind, VmSize};
use fathom_model::{CachedDisk, HostCaching, caching_obstacle, figures};
use fathom_profile::Role;
use fathom_units::{Bytes, BytesPerSec, Iops, Percent};

use crate::candidate::{Choice, Disks, Storage};
use crate::goal::{self, Slow};
use crate::limits::{self, Figure, Terms};
use crate::line::Line;
use crate::need::{Need, VolumeNeed};
use crate::{Cost, Family, Prices, Request};

/// Names in designs of the disks whose limits the buyer sets.
const SET: [(DiskKind, &str); 2] = [
    (DiskKind::PremiumSsdV2, "premium-v2"),
    (DiskKind::Ultra, "ultra"),
];

/// Stripe unit for I/Os of up to its size: for the small random I/O of transactions; and for larger ones, of scans (guide
/// on premium storage, "disk striping").
const STRIPE_UNITS: [Bytes; 2] = [Bytes::kib(64), Bytes::kib(256)];

/// The names of disks whose limits the buyer sets, as on price lists.
pub fn set_names() -> [&'static str; 2] {
    SET.map(|(_, name)| name)
}

/// The stripe unit that suits a volume's I/O.
pub fn stripe_unit(need: &VolumeNeed) -> Bytes {
    let small = need.loads.iter().all(|load| load.size <= STRIPE_UNITS[0]);
    STRIPE_UNITS[usize::from(!small)]
}

/// The caching that the provider recommends for a volume, and why: none for logs and for what is mostly written, read-only
/// otherwise (guide on premium storage, "disk caching"). "Mostly" is taken as more than half.
pub fn recommended_caching(need: &VolumeNeed) -> (HostCaching, &'static str) {
    if need.role == Role::Log {
        return (
            HostCaching::None,
            "a log is written, and a cache serves reads",
        );
    }
    let half = Percent::whole(50).unwrap_or_default();
    let known = || need.loads.iter().filter_map(|load| load.reads);
    if known().next().is_none() {
        return (
            HostCaching::ReadOnly,
            "its share of reads is not known; data files are recommended to be cached read-only",
        );
    }
    if known().all(|reads| reads < half) {
        return (
            HostCaching::None,
            "it is mostly written, and a cache serves reads",
        );
    }
    (
        HostCaching::ReadOnly,
        "data that is read is recommended to be cached read-only",
    )
}

/// Every choice of disks that by itself carries `part` on `vm`, with its cost: for each disk and caching the numbers that do
/// and may be cheapest, without those that another choice beats in cost and in number. And of those that miss a goal by their own latency the one
/// that misses it least.
pub fn of_volume(
    part: &VolumeNeed,
    vm: &'static VmSize,
    products: &Products,
    prices: Option<&Prices>,
    terms: &Terms<'_>,
) -> (Vec<(Storage, Cost)>, Option<Slow>) {
    let mut found: Vec<(Disks, Cost)> = Vec::new();
    let mut slow: Option<Slow> = None;
    for (choose, on_demand) in products.on(vm) {
        if part.left_out.contains(&choose.kind().name()) {
            continue;
        }
        for caching in cachings(part, vm, &choose, terms.catalog) {
            // By itself a stripe takes as long, of however many disks it is.
            let by_itself: [OnceCell<Option<Slow>>; 2] = Default::default();
            for disks in enough(part, vm, (&choose, on_demand), caching, terms) {
                let storage = Storage::Disks(disks.clone());
                let missed = by_itself[usize::from(disks.count > 1)]
                    .get_or_init(|| goal::missed(part, &storage, terms));
                if missed.is_some() {
                    slow = Slow::faster(slow, missed.clone());
                } else if let Some(cost) = Cost::of_storage(&storage, vm, prices) {
                    found.push((disks, cost));
                }
            }
        }
    }
    let beats = |one: &(Disks, Cost), other: &(Disks, Cost)| {
        let same_load = one.0.caching == other.0.caching
            && (one.0.count > 1) == (other.0.count > 1)
            && one.0.count <= other.0.count;
        let is_better = one.1 < other.1 || (one.1 == other.1 && one.0.count < other.0.count);
        same_load && is_better
    };
    let kept = found.iter();
    let kept = kept.filter(|one| !found.iter().any(|other| beats(other, one)));
    let mut kept: Vec<_> = kept.cloned().collect();
    kept.sort_by_key(|(disks, cost)| (*cost, disks.caching == HostCaching::None));
    let kept = kept.into_iter();
    let kept = kept.map(|(disks, cost)| (Storage::Disks(disks), cost));
    (kept.collect(), slow)
}

/// Of all disks that a machine takes and that can be bought, as many as it takes, those that come closest to carrying
/// `part`, which is of one volume: their worst limit, or the machine's.
pub fn closest(
    part: &Need,
    vm: &'static VmSize,
    products: &Products,
    prices: Option<&Prices>,
    terms: &Terms<'_>,
) -> Option<Line> {
    let volume = part.volumes.first()?;
    let stripe_unit = stripe_unit(volume);
    let missed = products.on(vm).filter_map(|(product, on_demand)| {
        let count = vm.max_data_disks;
        let kind = match product {
            Product::Named(disk) => Choice::Named(disk),
            Product::Plus(disk) => Choice::Plus(disk),
            // Where no such disk could be given a part of the need, its limits are no measure.
            Product::Set(row, name) => set(volume, (row, name), (count, stripe_unit), terms)?,
        };
        let disks = Disks {
            kind,
            count,
            stripe_unit,
            caching: HostCaching::None,
            on_demand,
        };
        let own = limits::of_disks(volume, &disks, vm, terms);
        let storage = Storage::Disks(disks);
        Cost::of_storage(&storage, vm, prices)?;
        let title = format!("{} with {}", vm.name, storage.title());
        let own = own.map(|figure| (title.clone(), figure));
        let all = limits::of_machine(part, (vm, &[&storage]), terms).into_iter();
        let all = all.map(|(meter, figure)| (meter.owner(vm), figure));
        let failing = all.chain(own).filter(|(_, it)| !it.carries());
        let worst = failing.max_by(|(_, one), (_, other)| missing(one).total_cmp(&missing(other)));
        worst.map(|(owner, figure)| figure.owned(owner))
    });
    missed.min_by(|one, other| one.missing().total_cmp(&other.missing()))
}

/// How many times what it gives is asked of a limit.
pub fn missing(figure: &Figure) -> f64 {
    figure.need as f64 / figure.have.max(1) as f64
}

/// A disk before it is known how much of it is bought.
#[derive(Clone, Copy)]
enum Product {
    Named(&'static Disk),
    Plus(&'static Disk),
    Set(&'static AdjustableDisk, &'static str),
}

impl Product {
    fn kind(self) -> DiskKind {
        match self {
            Self::Named(disk) | Self::Plus(disk) => disk.kind,
            Self::Set(row, _) => row.kind,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Named(disk) | Self::Plus(disk) => disk.name,
            Self::Set(_, name) => name,
        }
    }

    /// The same with the option "performance plus", where that gives it more.
    fn with_plus(&self) -> Option<Self> {
        let Self::Named(disk) = self else {
            return None;
        };
        let (own, plus) = (&disk.limits, &disk.performance_plus);
        let gives_more = plus.iops > own.iops || plus.bandwidth > own.bandwidth;
        gives_more.then_some(Self::Plus(disk))
    }

    fn bursts_on_demand(&self) -> bool {
        let Self::Named(disk) = self else {
            return false;
        };
        disk.burst
            .is_some_and(|burst| burst.mode == BurstMode::OnDemand)
    }
}

/// Disks of the families asked for, as machines of the request's era find them; those that burst on demand or have
/// performance plus also so, where that is asked for.
pub struct Products(Vec<(Product, bool)>);

impl Products {
    /// Those of a request.
    pub fn of(request: &Request, catalog: &Catalog) -> Self {
        let mut names: Vec<&str> = catalog.disks().iter().map(|disk| disk.name).collect();
        names.sort_unstable();
        names.dedup();
        let named = names.iter();
        let named = named.filter_map(|name| catalog.disk(request.era, name).ok());
        let mut found: Vec<Product> = named.map(Product::Named).collect();
        if request.era == fathom_catalog::Era::CURRENT {
            let set = catalog.adjustable_disks().iter().filter_map(|row| {
                let (_, name) = SET.iter().find(|(kind, _)| *kind == row.kind)?;
                Some(Product::Set(row, name))
            });
            found.extend(set);
        }
        found.retain(|product| {
            let family = Family::of(product.kind());
            family.is_some_and(|family| request.families.contains(&family))
                && request.takes(product.name())
        });
        let raised = found.iter().filter(|it| it.bursts_on_demand());
        let raised = raised.filter(|_| request.on_demand);
        let mut raised: Vec<_> = raised.map(|product| (*product, true)).collect();
        if request.performance_plus {
            let plus = found.iter().filter_map(Product::with_plus);
            raised.extend(plus.map(|product| (product, false)));
        }
        let plain = found.into_iter().map(|product| (product, false));
        Self(plain.chain(raised).collect())
    }

    /// Those that a machine takes.
    fn on(&self, vm: &VmSize) -> impl Iterator<Item = (Product, bool)> {
        let all = self.0.iter().copied();
        all.filter(|(product, _)| vm.premium || !product.kind().is_premium())
    }
}

/// The recommended caching where the machine and the disk can, and none.
fn cachings(
    need: &VolumeNeed,
    vm: &'static VmSize,
    product: &Product,
    catalog: &Catalog,
) -> Vec<HostCaching> {
    let (recommended, _) = recommended_caching(need);
    if recommended == HostCaching::None {
        return vec![HostCaching::None];
    }
    let size = match product {
        Product::Named(disk) | Product::Plus(disk) => disk.size,
        Product::Set(row, _) => row.min_size,
    };
    let disk = CachedDisk {
        name: product.name(),
        kind: product.kind(),
        size,
    };
    if caching_obstacle(vm, &disk, catalog).is_some() {
        return vec![HostCaching::None];
    }
    vec![recommended, HostCaching::None]
}

/// Numbers of disks that carry a volume by themselves, and may be the cheapest: of disks that are sold by name the fewest; of
/// disks whose limits the buyer sets every one, since price lists include some I/O with each.
fn enough(
    need: &VolumeNeed,
    vm: &'static VmSize,
    (product, on_demand): (&Product, bool),
    caching: HostCaching,
    terms: &Terms<'_>,
) -> Vec<Disks> {
    let with = |count| with(need, vm, (product, on_demand), (caching, count), terms);
    let all = 1..=vm.max_data_disks;
    match product {
        Product::Named(_) | Product::Plus(_) => fewest(all, with).into_iter().collect(),
        Product::Set(..) => all.filter_map(with).collect(),
    }
}

/// So many disks of a product, if they carry a volume by themselves.
fn with(
    need: &VolumeNeed,
    vm: &'static VmSize,
    (product, on_demand): (&Product, bool),
    (caching, count): (HostCaching, u32),
    terms: &Terms<'_>,
) -> Option<Disks> {
    let stripe_unit = stripe_unit(need);
    let kind = match product {
        Product::Named(disk) => Choice::Named(disk),
        Product::Plus(disk) => Choice::Plus(disk),
        Product::Set(row, name) => set(need, (row, name), (count, stripe_unit), terms)?,
    };
    let disks = Disks {
        kind,
        count,
        stripe_unit,
        caching,
        on_demand,
    };
    let figures = limits::of_disks(need, &disks, vm, terms);
    figures.iter().all(Figure::carries).then_some(disks)
}

/// The fewest disks that carry a volume by themselves.
fn fewest(counts: RangeInclusive<u32>, with: impl Fn(u32) -> Option<Disks>) -> Option<Disks> {
    // One disk splits nothing, so that it may carry what two do not; from two on, more carry more.
    if let Some(disks) = with(1) {
        return Some(disks);
    }
    let most = *counts.end();
    with(most)?;
    let (mut fails, mut carries) = (1, most);
    while carries - fails > 1 {
        let middle = u32::midpoint(fails, carries);
        match with(middle) {
            Some(_) => carries = middle,
            None => fails = middle,
        }
    }
    with(carries)
}

/// A disk whose limits are set to a `count`th of what is needed; `None` where it is not sold so.
fn set(
    need: &VolumeNeed,
    (row, name): (&'static AdjustableDisk, &'static str),
    (count, stripe_unit): (u32, Bytes),
    terms: &Terms<'_>,
) -> Option<Choice> {
    const GIB: u64 = 1 << 30;
    const MB: u64 = 1_000_000;
    let count_of = u64::from(count);
    let unit = terms.catalog.io_unit(row.kind);
    let loads = need.loads.iter();
    let iops = loads.map(|load| limits::counted(load, (count, stripe_unit), unit));
    let bandwidth = need.loads.iter().map(|load| load.bandwidth.get());
    let least = row.min.bandwidth.map_or(0, BytesPerSec::get);
    let bandwidth = bandwidth.max().unwrap_or(0).div_ceil(count_of);
    // Sold by the whole MB/s: what is priced and proven is what the scripts build.
    let bandwidth = bandwidth.div_ceil(MB).saturating_mul(MB).max(least);
    // A rate is given only with the I/Os that it hangs on.
    let by_bandwidth = if bandwidth > least {
        bandwidth.div_ceil(row.bytes_per_io.max(1))
    } else {
        0
    };
    let iops = iops.max().unwrap_or(0).div_ceil(count_of);
    let iops = iops
        .max(row.min.iops.map_or(0, Iops::get))
        .max(by_bandwidth);
    let by_iops = if iops > row.min.iops.map_or(0, Iops::get) {
        iops.div_ceil(row.iops_per_gib.max(1))
    } else {
        0
    };
    let gib = need.capacity.get().div_ceil(count_of).div_ceil(GIB);
    let gib = gib.max(by_iops).max(row.min_size.get().div_ceil(GIB));
    let size = Bytes::new(gib.checked_mul(GIB)?);
    let is_sold = size <= row.max_size
        && iops <= figures::most_iops(row, size).get()
        && bandwidth <= figures::most_bandwidth(row, Iops::new(iops)).get();
    is_sold.then_some(Choice::Set {
        kind: row.kind,
        name,
        size,
        iops: Iops::new(iops),
        bandwidth: BytesPerSec::new(bandwidth),
    })
}
