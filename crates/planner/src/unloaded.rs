//! How long an I/O takes that meets no other: what queue depths follow from by Little's law.
//!
//! Over NFS an I/O above `rsize` or `wsize` is taken in calls, and on a stripe one that crosses into other stripe units in a part
//! for each: they begin together. A limit lets the first go at once and each of the others after as long as the one before takes
//! at its rate (docs/model.md, "Rates"; a machine's budgets let 2 ms of their rate go ahead), so that the last waits for all before
//! it, and the I/O is over with the slowest of them.

use fathom_catalog::{Limits, MediaLatency, VmSize};
use fathom_model::HostCaching;
use fathom_units::{Bytes, BytesPerSec, Iops, Nanos, Percent};

use crate::burst;
use crate::candidate::{Disks, Storage};
use crate::goal;
use crate::limits::{self, Terms, log_normal_below, log_normal_mean};
use crate::need::Load;
use crate::network::NfsVolumes;

/// Steps of the sum over the times that an I/O may take.
const STEPS: u32 = 500;
/// How many times its 99th percentile no latency is taken to exceed.
const LONGEST: f64 = 8.0;
/// What a machine's budgets let go ahead of their rate, in ns of it (docs/model.md).
const AHEAD: f64 = 2e6;

/// Mean time of an I/O that meets no other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unloaded {
    /// The time.
    pub mean: Nanos,
    /// Calls over NFS, or parts of a stripe, that it is taken in, the most where I/Os differ: 1 where it is whole.
    pub parts: u64,
    /// What all of its parts take together, from where they begin together: how long it keeps its columns busy, added up.
    pub together: Nanos,
}

impl Unloaded {
    /// Of a load's I/Os on `storage`, as a machine of that size does them; `None` where nothing says how long they take.
    pub fn of(load: &Load, storage: &Storage, vm: &VmSize, terms: &Terms<'_>) -> Option<Self> {
        let row = terms.catalog.media_latency(goal::tier(storage))?;
        let whole = Nanos::new(log_normal_mean(row.median, row.p99).round() as u64);
        let alone = |mean: Nanos| Self {
            mean,
            parts: 1,
            together: mean,
        };
        Some(match storage {
            Storage::Disks(disks) if disks.count > 1 => in_parts(load, (disks, vm), (row, terms)),
            Storage::Disks(_) => alone(whole),
            Storage::Smb(_) => alone(whole.saturating_add(terms.round_trip)),
            Storage::Nfs(volumes) => match limits::calls_of_each(load, terms) {
                1 => alone(terms.nfs_latency),
                calls => {
                    let mean = in_calls(load, (volumes, vm), calls, (row, terms));
                    Self {
                        parts: calls,
                        ..alone(mean)
                    }
                }
            },
        })
    }
}

/// An I/O on a stripe. Where stripe units are no multiples of its size, some I/Os touch one more than others.
fn in_parts(
    load: &Load,
    (disks, vm): (&Disks, &VmSize),
    (row, terms): (&MediaLatency, &Terms<'_>),
) -> Unloaded {
    let (size, unit) = (load.size, disks.stripe_unit);
    // Of ten thousand I/Os: the same count as that of the limits.
    let all = limits::parts(10_000, size, disks.count, unit);
    let (fewest, more) = (all / 10_000, (all % 10_000) as f64 / 1e4);
    let of = |parts: u64| {
        let begin = begin_at(load, parts, (disks, vm), terms);
        let latency = log_normal_mean(row.median, row.p99);
        let together: f64 = begin.iter().map(|time| time + latency).sum();
        (slowest(&begin, row), together)
    };
    let (mean, together) = of(fewest);
    let (mean, together, parts) = if more > 0.0 {
        let (longer, busier) = of(fewest + 1);
        let mixed = |one: f64, other: f64| one + (other - one) * more;
        (mixed(mean, longer), mixed(together, busier), fewest + 1)
    } else {
        (mean, together, fewest)
    };
    let nanos = |value: f64| Nanos::new(value.round() as u64);
    Unloaded {
        mean: nanos(mean),
        parts,
        together: nanos(together),
    }
}

/// When each part of an I/O on a stripe leaves the limits on its way, in ns after it began: a disk's after those before it on
/// the same disk, the machine's after all before it.
fn begin_at(
    load: &Load,
    parts: u64,
    (disks, vm): (&Disks, &VmSize),
    terms: &Terms<'_>,
) -> Vec<f64> {
    let part = Bytes::new(load.size.get().div_ceil(parts.max(1)));
    let [iops, bandwidth] =
        burst::of_disk(disks, vm).map(|given| given.in_period(load.period, terms.burst));
    let unit = terms.catalog.io_unit(disks.kind.kind());
    let cost = unit.map_or(1, |unit| part.get().div_ceil(unit.get().max(1)).max(1));
    let apart = |cost: u64, rate: u64| match rate {
        0 | u64::MAX => 0.0,
        rate => cost as f64 * 1e9 / rate as f64,
    };
    let disk = apart(cost, iops).max(apart(part.get(), bandwidth));
    let of_budget = |limits: &Limits| {
        let iops = limits.iops.map_or(u64::MAX, Iops::get);
        let bytes = limits.bandwidth.map_or(u64::MAX, BytesPerSec::get);
        apart(1, iops).max(apart(part.get(), bytes))
    };
    let cached = if disks.caching == HostCaching::None {
        0.0
    } else {
        of_budget(&vm.cached)
    };
    let machine = of_budget(&vm.uncached).max(cached);
    let begin = (0..parts).map(|index| {
        let before = (index / u64::from(disks.count)) as f64 * disk;
        before.max(index as f64 * machine - AHEAD)
    });
    begin.collect()
}

/// The mean of an I/O of several calls: of reads at the volume's bandwidth, of writes at that of the machine where it is less.
fn in_calls(
    load: &Load,
    (volumes, vm): (&NfsVolumes, &VmSize),
    calls: u64,
    (row, terms): (&MediaLatency, &Terms<'_>),
) -> Nanos {
    let volume = volumes.bandwidth.get().max(1);
    let sent = limits::network_bandwidth(vm).map_or(volume, |machine| machine.min(volume));
    let call = terms.catalog.nfs().recommended_io.get() as f64;
    let apart = |rate: u64| call * 1e9 / rate.max(1) as f64;
    let points = load.reads.unwrap_or_default();
    let share = |of: Percent| f64::from(of.basis_points()) / 1e4;
    let ways = [(share(points), volume), (share(points.rest()), sent)];
    let mean: f64 = ways
        .iter()
        .map(|(share, rate)| share * slowest(&evenly(calls, apart(*rate)), row))
        .sum();
    Nanos::new(mean.round() as u64).saturating_add(terms.round_trip)
}

/// So many calls that go `apart` ns after each other.
fn evenly(calls: u64, apart: f64) -> Vec<f64> {
    (0..calls).map(|index| index as f64 * apart).collect()
}

/// Mean time, in ns, until the last of some parts is over, which begin at times in ascending order. It is over at a time where
/// all are, each of which takes a latency of its own.
fn slowest(begin: &[f64], row: &MediaLatency) -> f64 {
    let longest = row.p99.get() as f64 * LONGEST;
    let step = longest / f64::from(STEPS);
    let last = begin.last().copied().unwrap_or(0.0);
    // How long before the last so many began.
    let mut before: Vec<(f64, f64)> = Vec::new();
    for time in begin.iter().rev().map(|time| last - time) {
        match before.last_mut() {
            Some((same, count)) if time - *same < step / 10.0 => *count += 1.0,
            _ => before.push((time, 1.0)),
        }
    }
    let above = (0..STEPS).map(|index| {
        // Since the last of them began.
        let since = (f64::from(index) + 0.5) * step;
        let waits = before.iter().map(|(time, count)| (since + time, *count));
        let near = waits.take_while(|(time, _)| *time < longest);
        1.0 - near
            .map(|(time, count)| libm::pow(log_normal_below(time, row), count))
            .product::<f64>()
    });
    last + above.sum::<f64>() * step
}

#[cfg(test)]
mod tests {
    use fathom_catalog::Catalog;

    use super::*;

    /// Of one call it is the mean of the law; of two at once, above that of one; far apart, the last alone counts.
    #[test]
    fn the_slowest_of_several_calls_is_what_is_waited_for() {
        let catalog = Catalog::builtin();
        let row = catalog.media_latency("netapp_files").unwrap();
        let mean = log_normal_mean(row.median, row.p99);
        let near = |found: f64, expected: f64| {
            assert!((found / expected - 1.0).abs() < 0.01, "{found} {expected}");
        };
        near(slowest(&evenly(1, 0.0), row), mean);
        near(slowest(&evenly(4, 1e9), row), 3e9 + mean);
        // By its density, the mean of the larger of two is twice the mean times the normal law at σ ÷ √2.
        let tail = row.p99.get() as f64 / row.median.get() as f64;
        let sigma = libm::log(tail) / 2.326_347_874;
        let of_two = mean * libm::erfc(-sigma / 2.0);
        near(slowest(&evenly(2, 0.0), row), of_two);
        assert!(slowest(&evenly(100, 0.0), row) > of_two * 1.5);
    }
}
