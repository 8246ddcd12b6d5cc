//! Every limit that a design's I/O meets: what is needed of it, and what it gives.
//!
//! The accounting is that of the model (docs/model.md, "Which limits an I/O meets"), with a host cache that is cold: a read
//! passes the cached budget, the disk and the uncached budget. Credits are left out, for they run out, unless a length of
//! the peak was given that they are to last.

use fathom_catalog::{BurstScope, Catalog, Limits, MediaLatency, ShareModel, VmSize};
use fathom_model::{HostCaching, channel_reads, channel_writes, figures};
use fathom_profile::{Level, PeriodKind};
use fathom_units::{Bytes, BytesPerSec, Iops, Nanos, Percent};

use crate::burst::{self, Credits, Given};
use crate::candidate::{Candidate, Disks, Storage};
use crate::grow;
use crate::line::{Line, Unit};
use crate::need::{Load, Need, VolumeNeed};
use crate::network::{NfsVolumes, SmbShares};
use crate::{PlanError, Request};

/// 10^6 bits a second in bytes a second.
const MEGABIT: u64 = 1_000_000 / 8;
/// What a machine receives at most, in percent of its network limit, which is of what it sends: 2.7 GiB/s were read where
/// 1.86 GiB/s are printed (smb-performance.md, 15 January 2026).
const MOST_RECEIVED: u64 = 145;

/// What limits are judged by, besides a design.
#[derive(Debug, Clone, Copy)]
pub struct Terms<'c> {
    /// Where facts come from.
    pub catalog: &'c Catalog,
    /// How long credits are to carry the peak; `None`: credits are left out.
    pub burst: Option<Nanos>,
    /// Round trip to volumes and shares over the network.
    pub round_trip: Nanos,
    /// Mean time of an I/O over NFS that meets no queue: the round trip and the storage's own latency.
    pub nfs_latency: Nanos,
}

impl<'c> Terms<'c> {
    /// Those of a request.
    ///
    /// # Errors
    /// A distance that the catalogue does not have.
    pub fn of(request: &Request, catalog: &'c Catalog) -> Result<Self, PlanError> {
        let rtt = request.round_trip(catalog)?;
        let media = catalog.media_latency("netapp_files");
        let mean = media.map_or(0.0, |row| log_normal_mean(row.median, row.p99));
        Ok(Self {
            catalog,
            burst: request.burst,
            round_trip: rtt,
            nfs_latency: rtt.saturating_add(Nanos::new(mean.ceil() as u64)),
        })
    }
}

/// Mean of the log-normal law with this median and 99th percentile, in ns: median × e^(σ²/2), σ = ln(p99/median)/2.326.
pub(crate) fn log_normal_mean(median: Nanos, p99: Nanos) -> f64 {
    const NORMAL_P99: f64 = 2.326_347_874;
    let median = median.get().max(1) as f64;
    let sigma = libm::log((p99.get() as f64 / median).max(1.0)) / NORMAL_P99;
    median * libm::exp(sigma * sigma / 2.0)
}

/// A percentile of the log-normal law with this median and 99th percentile, in ns: median × e^(z × σ).
pub(crate) fn log_normal_at(level: Level, median: Nanos, p99: Nanos) -> f64 {
    let z_of_p99 = match level {
        Level::P50 => 0.0,
        Level::P90 => 1.281_551_566 / 2.326_347_874,
        Level::P99 => 1.0,
    };
    let median = median.get().max(1) as f64;
    let tail = (p99.get() as f64 / median).max(1.0);
    median * libm::pow(tail, z_of_p99)
}

/// The same percentile of the slowest of so many that are drawn by themselves: each must be below it, so that it is the
/// `parts`th root of the percentile of one.
pub(crate) fn log_normal_slowest(parts: u64, level: Level, median: Nanos, p99: Nanos) -> f64 {
    if parts < 2 {
        return log_normal_at(level, median, p99);
    }
    let share = match level {
        Level::P50 => 0.5,
        Level::P90 => 0.9,
        Level::P99 => 0.99,
    };
    let above = 1.0 - libm::pow(share, 1.0 / parts as f64);
    let median = median.get().max(1) as f64;
    let tail = (p99.get() as f64 / median).max(1.0);
    median * libm::pow(tail, upper_normal(above) / 2.326_347_874)
}

/// How probable the log-normal law with a row's median and 99th percentile makes a time of up to so many ns.
pub(crate) fn log_normal_below(time: f64, row: &MediaLatency) -> f64 {
    let median = row.median.get().max(1) as f64;
    let sigma = libm::log((row.p99.get() as f64 / median).max(1.000_001)) / 2.326_347_874;
    libm::erfc(-libm::log(time / median) / sigma / std::f64::consts::SQRT_2) / 2.0
}

/// Where a standard normal variable is above with a chance of `above`, up to a half; to 0.00045 (Abramowitz and Stegun,
/// Handbook of Mathematical Functions, 26.2.23).
fn upper_normal(above: f64) -> f64 {
    let t = libm::sqrt(-2.0 * libm::log(above.clamp(1e-12, 0.5)));
    let over = 2.515_517 + t * (0.802_853 + t * 0.010_328);
    let under = 1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308));
    t - over / under
}

/// A limit in figures alone, without the name of its owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Figure {
    /// What is limited.
    pub unit: Unit,
    /// What is asked of it, in the period that leaves least headroom.
    pub need: u64,
    /// What it gives then; `u64::MAX` where no page prints a limit.
    pub have: u64,
    /// What it gives without credits.
    pub steady: u64,
    /// That period; `None` for what does not change over the day.
    pub period: Option<PeriodKind>,
    /// Credits of the peak, where it spends any.
    pub credits: Option<Credits>,
}

impl Figure {
    /// Whether the limit is enough.
    pub const fn carries(&self) -> bool {
        self.need <= self.have
    }

    /// How many times the need it gives; `None` where no page prints a limit, or nothing is asked of it.
    pub fn headroom(&self) -> Option<f64> {
        (self.need > 0 && self.have != u64::MAX).then(|| self.have as f64 / self.need as f64)
    }

    pub(crate) fn owned(self, owner: String) -> Line {
        Line {
            owner,
            unit: self.unit,
            need: self.need,
            have: self.have,
            steady: self.steady,
            period: self.period,
            credits: self.credits,
            raise: String::new(),
        }
    }

    /// What is there once and for all.
    pub(crate) const fn lasting(unit: Unit, need: u64, have: u64) -> Self {
        Self {
            unit,
            need,
            have,
            steady: have,
            period: None,
            credits: None,
        }
    }
}

/// The period that leaves least headroom: of `asked` for each load, and what is `given` in its period.
fn tightest(
    unit: Unit,
    asked: impl Iterator<Item = (u64, PeriodKind)>,
    given: &Given,
    terms: &Terms<'_>,
) -> Figure {
    let asked: Vec<_> = asked.collect();
    let credits = terms.burst.and_then(|_| given.credits(&asked));
    let figures = asked.into_iter().map(|(need, period)| Figure {
        unit,
        need,
        have: given.in_period(period, terms.burst),
        steady: given.steady,
        period: Some(period),
        credits,
    });
    let worst = figures.reduce(|worst, next| {
        let more = u128::from(next.need) * u128::from(worst.have)
            > u128::from(worst.need) * u128::from(next.have);
        if more { next } else { worst }
    });
    worst.unwrap_or_else(|| Figure::lasting(unit, 0, given.steady))
}

/// Parts of I/Os a second that so many disks get of `iops`: one of each I/O for each stripe unit that it touches, where there
/// are several disks.
///
/// I/Os are taken as aligned to their size. Where stripe units are no multiples of it, some cross from one into the next: of
/// 40 KiB on units of 64 KiB every second.
pub fn parts(iops: u64, size: Bytes, count: u32, stripe_unit: Bytes) -> u64 {
    if count < 2 {
        return iops;
    }
    let (size, unit) = (size.get().max(1), stripe_unit.get().max(1));
    // Units begin `size / unit` times within an I/O, and as often as both have a multiple in common where one begins as well.
    let crossings = u128::from(size - common(size, unit));
    let all = u128::from(iops) * (u128::from(unit) + crossings);
    u64::try_from(all.div_ceil(u128::from(unit))).unwrap_or(u64::MAX)
}

/// Greatest common divisor (Euclid).
const fn common(one: u64, other: u64) -> u64 {
    if other == 0 {
        one
    } else {
        common(other, one % other)
    }
}

/// What disks that take I/Os in units of `unit` count the I/Os a second of a load as.
pub fn counted(load: &Load, (count, stripe_unit): (u32, Bytes), unit: Option<Bytes>) -> u64 {
    let part = if count < 2 {
        load.size
    } else {
        load.size.min(stripe_unit)
    };
    let units = unit.map_or(1, |unit| part.get().div_ceil(unit.get().max(1)).max(1));
    parts(load.iops.get(), load.size, count, stripe_unit).saturating_mul(units)
}

/// What the disks of one machine are asked for by its part of a volume, and give: I/Os, bytes, space.
pub fn of_disks(part: &VolumeNeed, disks: &Disks, vm: &VmSize, terms: &Terms<'_>) -> [Figure; 3] {
    let count = u64::from(disks.count);
    let [iops, bandwidth] = burst::of_disk(disks, vm);
    let stripe = (disks.count, disks.stripe_unit);
    let unit = terms.catalog.io_unit(disks.kind.kind());
    let costs = part
        .loads
        .iter()
        .map(|load| (counted(load, stripe, unit), load.period));
    let bytes = part
        .loads
        .iter()
        .map(|load| (load.bandwidth.get(), load.period));
    let space = disks.kind.size().get().saturating_mul(count);
    [
        tightest(Unit::Iops, costs, &iops.times(count), terms),
        tightest(Unit::Bandwidth, bytes, &bandwidth.times(count), terms),
        Figure::lasting(Unit::Capacity, part.capacity.get(), space),
    ]
}

/// What volumes over NFS are asked for and give: bytes, space, and I/Os in flight of each machine.
pub fn of_nfs(
    total: &VolumeNeed,
    part: &VolumeNeed,
    volumes: &NfsVolumes,
    terms: &Terms<'_>,
) -> [Figure; 3] {
    let count = u64::from(volumes.count);
    let bytes = total
        .loads
        .iter()
        .map(|load| (load.bandwidth.get(), load.period));
    let rate = Given::steady(volumes.bandwidth.get().saturating_mul(count));
    let rules = terms.catalog.nfs();
    let slots = u64::from(rules.slots_per_connection) * u64::from(volumes.connections) * count;
    // Of the latency alone: a call that waits at the volume's rate would wait as long for a slot, and the rate comes either way.
    let flying = part.loads.iter().map(|load| {
        let depth = depth_for(calls(load, terms), terms.nfs_latency);
        (depth, load.period)
    });
    let space = volumes.quota.get().saturating_mul(count);
    [
        tightest(Unit::BinaryBandwidth, bytes, &rate, terms),
        Figure::lasting(Unit::Capacity, total.capacity.get(), space),
        tightest(Unit::Outstanding, flying, &Given::steady(slots), terms),
    ]
}

/// Calls a second over NFS that make up the I/Os of a load.
pub(crate) fn calls(load: &Load, terms: &Terms<'_>) -> u64 {
    load.iops.get().saturating_mul(calls_of_each(load, terms))
}

/// Calls over NFS that make up an I/O of a load: one for each `rsize` or `wsize` that is begun.
pub(crate) fn calls_of_each(load: &Load, terms: &Terms<'_>) -> u64 {
    let unit = terms.catalog.nfs().recommended_io.get().max(1);
    load.size.get().div_ceil(unit).max(1)
}

/// I/Os outstanding that reach a rate at a latency: Little's law, rounded up. 5,000 a second at 1 ms are 5.
pub fn depth_for(iops: u64, latency: Nanos) -> u64 {
    let product = u128::from(iops) * u128::from(latency.get());
    u64::try_from(product.div_ceil(1_000_000_000)).unwrap_or(u64::MAX)
}

/// A share of a rate, rounded up.
fn part_of(rate: u64, share: Percent) -> u64 {
    let points = u128::from(rate) * u128::from(share.basis_points());
    u64::try_from(points.div_ceil(10_000)).unwrap_or(u64::MAX)
}

/// Share of the I/O that writes; where nobody knows, all of it.
fn writes(load: &Load) -> Percent {
    load.reads.map_or(Percent::ALL, Percent::rest)
}

/// Whether so many shares of this size and these limits are enough by themselves: I/Os, bytes, bytes written, space.
pub fn share_suffices(
    total: &VolumeNeed,
    model: &ShareModel,
    (size, limits, count): (Bytes, &Limits, u64),
    terms: &Terms<'_>,
) -> bool {
    let figures = share_figures(total, model, (size, limits, count), terms);
    figures.iter().all(Figure::carries)
}

fn share_figures(
    total: &VolumeNeed,
    model: &ShareModel,
    (size, limits, count): (Bytes, &Limits, u64),
    terms: &Terms<'_>,
) -> Vec<Figure> {
    let iops = limits.iops.unwrap_or_default();
    let given = Given {
        steady: iops.get(),
        burst: figures::share_burst(model, size, iops).map_or(0, Iops::get),
        seconds: u64::from(terms.catalog.bucket_seconds(BurstScope::Share)),
    };
    let bandwidth = limits.bandwidth.map_or(u64::MAX, BytesPerSec::get);
    let loads = || total.loads.iter();
    let space = size.get().saturating_mul(count);
    let mut figures = vec![
        tightest(
            Unit::Iops,
            loads().map(|load| (load.iops.get(), load.period)),
            &given.times(count),
            terms,
        ),
        tightest(
            Unit::BinaryBandwidth,
            loads().map(|load| (load.bandwidth.get(), load.period)),
            &Given::steady(bandwidth.saturating_mul(count)),
            terms,
        ),
        Figure::lasting(Unit::Capacity, total.capacity.get(), space),
    ];
    if let Some(rate) = model.write_bandwidth {
        let written =
            loads().map(|load| (part_of(load.bandwidth.get(), writes(load)), load.period));
        let given = Given::steady(rate.get().saturating_mul(count));
        figures.push(tightest(
            Unit::BinaryBandwidthWritten,
            written,
            &given,
            terms,
        ));
    }
    figures
}

/// What shares are asked for and give: their own limits, their files', and the channels' of each machine.
pub fn of_smb(
    total: &VolumeNeed,
    part: &VolumeNeed,
    shares: &SmbShares,
    terms: &Terms<'_>,
) -> Vec<Figure> {
    let own = own_of_smb(total, shares, terms);
    let [files, channels] = paths_of_smb(total, part, shares, terms);
    [own, files, channels].concat()
}

fn own_of_smb(total: &VolumeNeed, shares: &SmbShares, terms: &Terms<'_>) -> Vec<Figure> {
    let limits = Limits {
        iops: Some(shares.iops),
        bandwidth: Some(shares.bandwidth),
    };
    let count = u64::from(shares.count);
    share_figures(total, shares.model, (shares.size, &limits, count), terms)
}

/// Limits of the files and of the channels.
fn paths_of_smb(
    total: &VolumeNeed,
    part: &VolumeNeed,
    shares: &SmbShares,
    terms: &Terms<'_>,
) -> [Vec<Figure>; 2] {
    let pair = |limits: Limits, times: u64, asked: &dyn Fn(&Load) -> Percent, of: &VolumeNeed| {
        let iops = limits.iops.map_or(u64::MAX, Iops::get);
        let bytes = limits.bandwidth.map_or(u64::MAX, BytesPerSec::get);
        let ios = of
            .loads
            .iter()
            .map(|load| (part_of(load.iops.get(), asked(load)), load.period));
        let moved = of
            .loads
            .iter()
            .map(|load| (part_of(load.bandwidth.get(), asked(load)), load.period));
        let iops = Given::steady(iops.saturating_mul(times));
        let bytes = Given::steady(bytes.saturating_mul(times));
        [
            tightest(Unit::Iops, ios, &iops, terms),
            tightest(Unit::BinaryBandwidth, moved, &bytes, terms),
        ]
    };
    let count = u64::from(shares.count);
    let files = terms.catalog.share_file(shares.model.media);
    let files = files.map_or(Vec::new(), |row| {
        let times = u64::from(shares.files).saturating_mul(count);
        pair(row.limits, times, &|_| Percent::ALL, total).to_vec()
    });
    let channel = terms.catalog.share_channel();
    let channels = u64::from(shares.channels) * count;
    let reads = channel_reads(channel, shares.channels);
    let reads = pair(
        reads,
        channels,
        &|load| load.reads.unwrap_or_default(),
        part,
    );
    let written = pair(channel_writes(channel), channels, &writes, part);
    [files, [reads, written].concat()]
}

/// Which of a machine's limits it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meter {
    /// Its processors.
    Processors,
    /// Its memory.
    Memory,
    /// Data disks that it takes.
    Slots,
    /// Its budget of what passes the host cache by.
    Uncached,
    /// Its budget of what the host cache takes.
    Cached,
    /// What it sends.
    Writes,
    /// What it receives.
    Reads,
}

impl Meter {
    /// The limit as a line's owner.
    pub fn owner(self, vm: &VmSize) -> String {
        let what = match self {
            Self::Processors | Self::Memory | Self::Slots => return vm.name.to_owned(),
            Self::Uncached => "uncached",
            Self::Cached => "cached",
            Self::Writes => "network, writes",
            Self::Reads => "network, reads",
        };
        format!("{} {what}", vm.name)
    }
}

/// What the budgets of one machine are asked for and give.
pub fn of_machine(
    part: &Need,
    (vm, volumes): (&VmSize, &[&Storage]),
    terms: &Terms<'_>,
) -> Vec<(Meter, Figure)> {
    let disks = || volumes.iter().filter_map(|it| it.disks());
    let mut lines = Vec::with_capacity(7);
    if disks().next().is_some() {
        let count = disks().map(|disks| u64::from(disks.count)).sum();
        let slots = Figure::lasting(Unit::Disks, count, u64::from(vm.max_data_disks));
        lines.push((Meter::Slots, slots));
    }
    let budgets = [
        (Meter::Uncached, vm.uncached, vm.burst_uncached, false),
        (Meter::Cached, vm.cached, vm.burst_cached, true),
    ];
    for (meter, base, raised, by_cached) in budgets {
        let is_met = |disks: &Disks| !by_cached || disks.caching != HostCaching::None;
        if !disks().any(is_met) {
            continue;
        }
        let given = burst::of_pair(&base, &raised, terms.catalog.bucket_seconds(BurstScope::Vm));
        for (unit, given) in [Unit::Iops, Unit::Bandwidth].into_iter().zip(given) {
            let asked = part.periods().map(|period| {
                let met = part.volumes.iter().zip(volumes);
                let met = met.filter_map(|(volume, it)| Some((volume.load(period)?, it.disks()?)));
                let met = met.filter(|(_, disks)| is_met(disks));
                let asks = met.map(|(load, disks)| ask(load, disks, unit));
                (asks.fold(0, u64::saturating_add), period)
            });
            let figure = tightest(unit, asked, &given, terms);
            lines.push((meter, figure));
        }
    }
    lines.extend(network(part, (vm, volumes), terms));
    lines
}

fn ask(load: &Load, disks: &Disks, unit: Unit) -> u64 {
    match unit {
        Unit::Iops => parts(load.iops.get(), load.size, disks.count, disks.stripe_unit),
        _ => load.bandwidth.get(),
    }
}

/// Bytes a second that a machine sends at most, where its page prints that.
pub(crate) fn network_bandwidth(vm: &VmSize) -> Option<u64> {
    vm.network_mbps.map(|mbps| u64::from(mbps) * MEGABIT)
}

/// What one machine sends and receives over the network. What it sends is metered. What it receives is not, but no page
/// measured more than [`MOST_RECEIVED`] of the same limit, so that no more is planned with.
fn network(
    part: &Need,
    (vm, volumes): (&VmSize, &[&Storage]),
    terms: &Terms<'_>,
) -> Vec<(Meter, Figure)> {
    let over_network = |storage: &Storage| storage.disks().is_none();
    if !volumes.iter().any(|storage| over_network(storage)) {
        return Vec::new();
    }
    let given = |percent: u64| {
        let rate = network_bandwidth(vm);
        Given::steady(rate.map_or(u64::MAX, |rate| rate * percent / 100))
    };
    let ways = [
        (Meter::Writes, given(100), writes as fn(&Load) -> Percent),
        (Meter::Reads, given(MOST_RECEIVED), reads),
    ];
    let lines = ways.into_iter().map(|(way, given, share)| {
        let asked = part.periods().map(|period| {
            let met = part.volumes.iter().zip(volumes);
            let met = met.filter(|(_, storage)| over_network(storage));
            let loads = met.filter_map(|(volume, _)| volume.load(period));
            let moved = loads.map(|load| part_of(load.bandwidth.get(), share(load)));
            (moved.fold(0, u64::saturating_add), period)
        });
        let figure = tightest(Unit::Bandwidth, asked, &given, terms);
        (way, figure)
    });
    lines.collect()
}

/// Share of the I/O that reads; where nobody knows, none.
fn reads(load: &Load) -> Percent {
    load.reads.unwrap_or_default()
}

/// Whether limits tell what raises them: that takes longer than the limits, and is of use for designs that are shown.
#[derive(Debug, Clone, Copy)]
enum Hints {
    Told,
    LeftOut,
}

impl Hints {
    fn told(self, raise: impl FnOnce() -> String) -> String {
        match self {
            Self::Told => raise(),
            Self::LeftOut => String::new(),
        }
    }
}

/// The limits of what carries one volume, with their owners. `free` slots of the machine are taken by no disk.
fn of_storage(
    (total, part): (&VolumeNeed, &VolumeNeed),
    storage: &Storage,
    (vm, free): (&VmSize, u32),
    (terms, hints): (&Terms<'_>, Hints),
) -> Vec<Line> {
    let owner = total.told(&storage.title());
    match storage {
        Storage::Disks(disks) => {
            let figures = of_disks(part, disks, vm, terms);
            let line = |it: Figure| Line {
                raise: hints.told(|| grow::disks(disks, (vm, free), it.unit, terms.catalog)),
                ..it.owned(owner.clone())
            };
            figures.map(line).to_vec()
        }
        Storage::Nfs(volumes) => {
            let [rate, space, flying] = of_nfs(total, part, volumes, terms);
            let slots = total.told(&format!("{} connections", volumes.connections));
            let own = [rate, space].map(|it| Line {
                raise: hints.told(|| grow::quota(volumes, it.unit, terms.catalog)),
                ..it.owned(owner.clone())
            });
            let slots = Line {
                raise: hints.told(|| grow::slots(volumes, terms.catalog)),
                ..flying.owned(slots)
            };
            own.into_iter().chain([slots]).collect()
        }
        Storage::Smb(shares) => {
            let own = own_of_smb(total, shares, terms).into_iter();
            let mut lines: Vec<Line> = own
                .map(|it| Line {
                    raise: hints.told(|| grow::share(shares, it.unit)),
                    ..it.owned(owner.clone())
                })
                .collect();
            let [files, channels] = paths_of_smb(total, part, shares, terms);
            let count = u64::from(shares.files) * u64::from(shares.count);
            let count = fathom_units::counted(count, ("file", "files"));
            let name = total.told(&format!("{count} at least"));
            lines.extend(files.into_iter().map(|it| Line {
                raise: hints.told(|| "the I/O spread over more files".to_owned()),
                ..it.owned(name.clone())
            }));
            let ways = ["reads", "reads", "writes", "writes"];
            lines.extend(channels.into_iter().zip(ways).map(|(it, way)| {
                let count = shares.channels;
                Line {
                    raise: hints.told(|| grow::channels(shares, terms.catalog)),
                    ..it.owned(total.told(&format!("SMB channels: {count}, {way}")))
                }
            }));
            lines
        }
    }
}

/// Every limit of a design: those of disks and machines are of one machine and its part of the I/O.
pub fn lines(need: &Need, candidate: &Candidate, terms: &Terms<'_>) -> Vec<Line> {
    every_line(need, candidate, (terms, Hints::Told))
}

/// Whether a design's limits carry the need.
pub fn carries(need: &Need, candidate: &Candidate, terms: &Terms<'_>) -> bool {
    let lines = every_line(need, candidate, (terms, Hints::LeftOut));
    lines.iter().all(Line::carries)
}

fn every_line(
    need: &Need,
    candidate: &Candidate,
    (terms, hints): (&Terms<'_>, Hints),
) -> Vec<Line> {
    let part = need.part(candidate.machines);
    let volumes = need.volumes.iter().zip(&part.volumes);
    let volumes = volumes.zip(&candidate.volumes);
    let disks = candidate.volumes.iter().filter_map(Storage::disks);
    let taken = disks.map(|disks| disks.count).sum();
    let machine = (
        candidate.vm,
        candidate.vm.max_data_disks.saturating_sub(taken),
    );
    let mut lines: Vec<Line> = volumes
        .flat_map(|(volume, storage)| of_storage(volume, storage, machine, (terms, hints)))
        .collect();
    let storage: Vec<_> = candidate.volumes.iter().collect();
    let own = of_machine(&part, (candidate.vm, &storage), terms).into_iter();
    let own = part.machine.of_each(candidate.vm).chain(own);
    lines.extend(own.map(|(meter, figure)| {
        let owner = meter.owner(candidate.vm);
        let unit = figure.unit;
        Line {
            raise: hints.told(|| grow::machine(candidate.vm, (meter, unit), terms.catalog)),
            ..figure.owned(owner)
        }
    }));
    lines
}
