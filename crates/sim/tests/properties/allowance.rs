//! No window of time serves more than its allowance: rate × window + bucket, and one I/O.
//!
//! The same is checked of every queue of the random cases where the second implementation agrees with the shipped one
//! (`tests/reference/windows.rs`). Here it is checked without either's own account, of what limiters and storage let through.

use fathom_model::{CreditRate, Limiter, Limits, Rate};
use fathom_units::{Bytes, Nanos};
use proptest::prelude::*;

use super::drive::{Arrival, Completion, design, device, drive, machine};

/// What a limit allows: so much a second, and so much at once beside it.
#[derive(Debug, Clone, Copy)]
pub struct Allowance {
    pub rate: u64,
    pub tolerance_ns: u64,
}

/// A machine's budgets let I/Os leave so far ahead of their rate.
pub const VM_TOLERANCE_NS: u64 = 2_000_000;

/// Of `left` (time, units) in order of time: by how many units the worst window exceeds its allowance, one I/O left out.
pub fn excess(allowance: Allowance, left: &[(u64, u64)]) -> i128 {
    let rate = i128::from(allowance.rate);
    // Departures fall on whole nanoseconds.
    let ahead = rate * (i128::from(allowance.tolerance_ns) + 1);
    let (mut before, mut least, mut worst) = (0, i128::MAX, 0);
    for (at, units) in left {
        let height = before * 1_000_000_000 - rate * i128::from(*at);
        if least != i128::MAX {
            worst = worst.max(height - least - ahead);
        }
        least = least.min(height);
        before += i128::from(*units);
    }
    (worst + 999_999_999) / 1_000_000_000
}

#[test]
fn one_unit_too_many_is_seen() {
    let allowance = Allowance {
        rate: 1000,
        tolerance_ns: 5_000_000,
    };
    let served = |count| vec![(0, 1); count];
    // A bucket of five, one I/O more, and one that the next nanosecond could pay.
    assert_eq!(excess(allowance, &served(6)), 0);
    assert_eq!(excess(allowance, &served(7)), 1);
}

/// Idle times and sizes of a run of I/Os.
fn demands() -> impl Strategy<Value = Vec<(u64, u64, u64)>> {
    let idle = prop_oneof![Just(0), 0..1_000_000u64, 0..1_000_000_000u64];
    let units = prop_oneof![Just(1), 1..20u64];
    let bytes = prop_oneof![Just(4096), 1..2_000_000u64];
    prop::collection::vec((idle, units, bytes), 1..300)
}

proptest! {
    #[test]
    fn a_limiter_keeps_it(
        rate in prop_oneof![1..100u64, 100..1_000_000u64, 1_000_000..10_000_000_000u64],
        tolerance_ns in prop_oneof![Just(0), 0..10_000_000_000u64],
        demands in demands(),
    ) {
        let mut limiter = Limiter::new(rate, Nanos::new(tolerance_ns));
        let mut now = 0;
        let mut left = Vec::new();
        for (idle, units, _) in demands {
            now = (now + idle).max(limiter.earliest().get());
            limiter.take(Nanos::new(now), units);
            left.push((now, units));
        }
        prop_assert_eq!(excess(Allowance { rate, tolerance_ns }, &left), 0);
    }

    #[test]
    fn two_limits_taken_together_keep_theirs(
        iops in 1..200_000u64,
        rate in 1_000..5_000_000_000u64,
        tolerance_ns in prop_oneof![Just(0), 0..100_000_000u64],
        demands in demands(),
    ) {
        let (steady, tolerance) = (|rate| Some(Rate::Steady(rate)), Nanos::new(tolerance_ns));
        let mut limits = Limits::new(steady(iops), steady(rate), tolerance);
        let mut now = 0;
        let (mut ios, mut bytes) = (Vec::new(), Vec::new());
        for (idle, units, length) in demands {
            now = (now + idle).max(limits.earliest().get());
            limits.take(Nanos::new(now), units, length);
            ios.push((now, units));
            bytes.push((now, length));
        }
        prop_assert_eq!(excess(Allowance { rate: iops, tolerance_ns }, &ios), 0);
        prop_assert_eq!(excess(Allowance { rate, tolerance_ns }, &bytes), 0);
    }

    /// No more than the burst rate, nor than base rate and bucket, of which at first only a share is there.
    #[test]
    fn credits_keep_the_base_rate_and_the_bucket(
        base in 1..20_000u64,
        above in 1..50_000u64,
        seconds in 1..4_000u64,
        start in 0..=100u32,
        demands in demands(),
    ) {
        let rate = CreditRate::for_seconds(base, base + above, seconds);
        let share = f64::from(start) / 100.0;
        let limit = Rate::Credits(rate.starting_at(share));
        let mut limits = Limits::new(Some(limit), None, Nanos::ZERO);
        let mut now = 0;
        let mut left = Vec::new();
        for (idle, units, bytes) in demands {
            // Hundreds at once, so that a bucket is spent.
            let units = units * 500;
            now = (now + idle).max(limits.earliest().get());
            limits.take(Nanos::new(now), units, bytes);
            left.push((now, units));
        }
        let bucket = |share: f64| {
            let time = u128::from(above) * u128::from(seconds) * 1_000_000_000 / u128::from(base);
            Allowance { rate: base, tolerance_ns: (time as f64 * share).ceil() as u64 }
        };
        let burst = Allowance { rate: base + above, tolerance_ns: 0 };
        prop_assert_eq!(excess(burst, &left), 0);
        prop_assert_eq!(excess(bucket(1.0), &left), 0);
        // From the start on: as if nothing had left at moment zero.
        let from_start: Vec<_> = std::iter::once((0, 0)).chain(left.iter().copied()).collect();
        let spent = bucket(share);
        let mut before = 0u128;
        for (at, units) in from_start {
            let ahead = u128::from(at) + u128::from(spent.tolerance_ns) + 1;
            prop_assert!(before * 1_000_000_000 <= ahead * u128::from(base), "{before} units at {at} ns");
            before += u128::from(units);
        }
    }
}

const SIZE: Bytes = Bytes::gib(2);

/// Random I/Os of one size or of several; `gap` is the mean time between them in ns.
fn arrivals(gap: u64, lengths: &'static [u32]) -> impl Strategy<Value = Vec<Arrival>> {
    let length = prop::sample::select(lengths);
    let one = (0..=gap * 2, any::<bool>(), 0..400_000u64, length);
    prop::collection::vec(one, 1..400).prop_map(|list| {
        let mut at = 0;
        let arrival = |(idle, write, block, length): (u64, bool, u64, u32)| {
            at += idle;
            Arrival {
                at,
                write,
                offset: block * 4096,
                length,
            }
        };
        list.into_iter().map(arrival).collect()
    })
}

const SIZES: &[u32] = &[4096, 8192, 65_536, 1 << 20];

/// Times and costs of what completed by way of `cost`.
fn costs(
    completions: &[Completion],
    arrivals: &[Arrival],
    cost: impl Fn(&Arrival) -> u64,
) -> Vec<(u64, u64)> {
    let of = |one: &Completion| (one.at, cost(&arrivals[one.arrival]));
    completions.iter().map(of).collect()
}

/// What `limit` let through, where it is the last that I/Os pass: over any window.
fn check_last(
    text: &str,
    arrivals: &[Arrival],
    iops: Allowance,
    bytes: Allowance,
) -> Result<(), TestCaseError> {
    let completions = drive(&design(text), SIZE, arrivals);
    let left = costs(&completions, arrivals, |_| 1);
    prop_assert_eq!(excess(iops, &left), 0, "I/Os {:?}", iops);
    let left = costs(&completions, arrivals, |one| u64::from(one.length));
    prop_assert_eq!(excess(bytes, &left), 0, "bytes {:?}", bytes);
    Ok(())
}

fn exact(rate: u64) -> Allowance {
    Allowance {
        rate,
        tolerance_ns: 0,
    }
}

fn of_vm(rate: u64) -> Allowance {
    Allowance {
        rate,
        tolerance_ns: VM_TOLERANCE_NS,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_device_keeps_it(
        arrivals in arrivals(100_000, SIZES),
        iops in 100..50_000u64,
        rate in 1_000_000..2_000_000_000u64,
    ) {
        let text = device(&format!("iops = {iops}\nbandwidth = \"{rate}B/s\""));
        check_last(&text, &arrivals, exact(iops), exact(rate))?;
    }

    /// Ten disks offer more than the machine takes: its budget is the last limit of each I/O, or of each part.
    #[test]
    fn a_machines_budget_keeps_it_over_striped_disks(arrivals in arrivals(20_000, &[4096])) {
        // Standard_DS3: 12,800 IOPS and 128 MB/s past the cache.
        let more = "caching = \"none\"\nstripe_unit = \"64KiB\"";
        let text = machine("Standard_DS3", "P30", 10, more);
        check_last(&text, &arrivals, of_vm(12_800), of_vm(128_000_000))?;
    }

    #[test]
    fn a_machines_budget_counts_bytes_of_large_ios(arrivals in arrivals(1_000_000, &[65_536])) {
        let more = "caching = \"none\"\nstripe_unit = \"64KiB\"";
        let text = machine("Standard_DS3", "P30", 10, more);
        // 4 KiB offsets let an I/O be two parts, which complete it with the later one.
        let whole = arrivals.into_iter().map(|one| Arrival { offset: one.offset / 65_536 * 65_536, ..one });
        check_last(&text, &whole.collect::<Vec<_>>(), of_vm(12_800), of_vm(128_000_000))?;
    }

    #[test]
    fn a_warm_cache_keeps_its_budget(arrivals in arrivals(100_000, &[4096, 16_384])) {
        // Standard_DS1: 4,000 IOPS and 32 MB/s through the cache; hits count against nothing else.
        let reads: Vec<_> = arrivals.into_iter().map(|one| Arrival { write: false, ..one }).collect();
        let text = machine("Standard_DS1", "P30", 1, "caching = \"read-only\"\ncache = \"warm\"");
        check_last(&text, &reads, of_vm(4_000), of_vm(32_000_000))?;
    }

    /// P4: 120 IOPS, 3,500 while credits last, of which 608 I/Os are there; 25 and 170 MB/s, and 26 MB.
    #[test]
    fn a_bursting_disk_keeps_its_buckets(arrivals in arrivals(100_000, &[65_536, 1 << 20])) {
        let more = "caching = \"none\"\ncredits = \"0.01%\"";
        let text = machine("Standard_D64s_v3", "P4", 1, more);
        let completions = drive(&design(&text), SIZE, &arrivals);
        // Above 256 KiB an I/O counts as several.
        let ios = costs(&completions, &arrivals, |one| u64::from(one.length.div_ceil(256 << 10)));
        let bytes = costs(&completions, &arrivals, |one| u64::from(one.length));
        let burst = [(exact(3_500), &ios), (exact(170_000_000), &bytes)];
        for (limit, left) in burst {
            prop_assert_eq!(excess(limit, left), 0, "{:?}", limit);
        }
        let buckets = [(&ios, 120u128, 608u128), (&bytes, 25_000_000, 26_100_000)];
        for (left, base, bucket) in buckets {
            let mut before = 0;
            for (at, units) in left {
                let earned = u128::from(*at + 1) * base;
                prop_assert!((before - bucket.min(before)) * 1_000_000_000 <= earned, "{before} at {at}");
                before += u128::from(*units);
            }
        }
    }

    /// A write of a cached volume passes cached budget, disk and uncached budget. From the start on, none has let through more than its own
    /// allowance, whatever the others did.
    #[test]
    fn a_composition_keeps_every_limit(arrivals in arrivals(50_000, &[4096, 65_536, 1 << 20])) {
        let text = machine("Standard_DS2", "P20", 1, "caching = \"read-only\"\nburst = \"off\"");
        let writes = arrivals.into_iter().map(|one| Arrival { write: true, ..one });
        let arrivals: Vec<_> = writes.collect();
        let completions = drive(&design(&text), SIZE, &arrivals);
        let limits = [(8_000, 64_000_000), (2_300, 150_000_000), (6_400, 64_000_000)];
        for (iops, rate) in limits {
            let (mut ios, mut bytes) = (0, 0);
            for one in &completions {
                let time = u128::from(one.at + VM_TOLERANCE_NS + 1);
                prop_assert!(ios * 1_000_000_000 <= time * iops, "{iops} IOPS at {}", one.at);
                prop_assert!(bytes * 1_000_000_000 <= time * rate, "{rate} B/s at {}", one.at);
                let length = arrivals[one.arrival].length;
                ios += if iops == 2_300 { u128::from(length.div_ceil(256 << 10)) } else { 1 };
                bytes += u128::from(length);
            }
        }
    }
}
