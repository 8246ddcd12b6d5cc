//! How long an I/O takes that meets no other: what queue depths follow from by Little's law.
//!
//! Over NFS an I/O above `rsize` or `wsize` is taken in calls that begin together. A limit lets the first go at once and each
//! of the others after as long as the one before takes at its rate (docs/model.md, "Rates"), so that the last waits for all
//! before it, and the I/O is over with the slowest of them.

use fathom_catalog::{MediaLatency, VmSize};
use fathom_units::{Nanos, Percent};

use crate::candidate::Storage;
use crate::goal;
use crate::limits::{self, Terms, log_normal_below, log_normal_mean};
use crate::need::Load;
use crate::network::NfsVolumes;

/// Steps of the sum over the times that an I/O may take.
const STEPS: u32 = 500;
/// How many times its 99th percentile no latency is taken to exceed.
const LONGEST: f64 = 8.0;

/// Mean time of an I/O that meets no other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unloaded {
    /// The time.
    pub mean: Nanos,
    /// Calls that it is taken in: 1 where it is whole.
    pub calls: u64,
}

impl Unloaded {
    /// Of a load's I/Os on `storage`, as a machine of that size does them; `None` where nothing says how long they take.
    pub fn of(load: &Load, storage: &Storage, vm: &VmSize, terms: &Terms<'_>) -> Option<Self> {
        let row = terms.catalog.media_latency(goal::tier(storage))?;
        let whole = Nanos::new(log_normal_mean(row.median, row.p99).round() as u64);
        let (mean, calls) = match storage {
            Storage::Disks(_) => (whole, 1),
            Storage::Smb(_) => (whole.saturating_add(terms.round_trip), 1),
            Storage::Nfs(volumes) => match limits::calls_of_each(load, terms) {
                1 => (terms.nfs_latency, 1),
                calls => (in_calls(load, (volumes, vm), calls, (row, terms)), calls),
            },
        };
        Some(Self { mean, calls })
    }
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
        .map(|(share, rate)| share * slowest(calls, apart(*rate), row))
        .sum();
    Nanos::new(mean.round() as u64).saturating_add(terms.round_trip)
}

/// Mean time, in ns, until the last of so many calls is over that go `apart` ns after each other. It is over at a time where
/// all are, each of which takes a latency of its own.
fn slowest(calls: u64, apart: f64, row: &MediaLatency) -> f64 {
    let longest = row.p99.get() as f64 * LONGEST;
    let step = longest / f64::from(STEPS);
    let above = (0..STEPS).map(|index| {
        // Since the last of them went.
        let since = (f64::from(index) + 0.5) * step;
        let waits = (0..calls).map(|before| since + before as f64 * apart);
        let near = waits.take_while(|time| *time < longest);
        1.0 - near
            .map(|time| log_normal_below(time, row))
            .product::<f64>()
    });
    (calls - 1) as f64 * apart + above.sum::<f64>() * step
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
        near(slowest(1, 0.0, row), mean);
        near(slowest(4, 1e9, row), 3e9 + mean);
        // By its density, the mean of the larger of two is twice the mean times the normal law at σ ÷ √2.
        let tail = row.p99.get() as f64 / row.median.get() as f64;
        let sigma = libm::log(tail) / 2.326_347_874;
        let of_two = mean * libm::erfc(-sigma / 2.0);
        near(slowest(2, 0.0, row), of_two);
        assert!(slowest(100, 0.0, row) > of_two * 1.5);
    }
}
