//! Tests of credit buckets: the published figures, the bound over any window, and what is left.

use super::*;

/// Premium disks as the catalogue has them: base and burst IOPS (2025), buckets of 30 minutes.
fn iops_of(disk: &str) -> CreditRate {
    let base = match disk {
        "P1" | "P4" => 120,
        "P20" => 2300,
        other => panic!("no figures of {other}"),
    };
    CreditRate::for_seconds(base, 3500, 1800)
}

#[test]
fn buckets_hold_30_minutes_and_refill_from_what_is_not_used() {
    #[track_caller]
    fn check(rate: &CreditRate, bucket: u64, refill_seconds: f64) {
        assert_eq!(rate.bucket, bucket);
        assert_eq!(rate.lasts(rate.burst), Some(Nanos::from_secs(1800)));
        let refill = rate.refills(0).unwrap().get() as f64 / 1e9;
        assert!((refill - refill_seconds).abs() < 0.05, "{refill} s");
    }
    check(&iops_of("P1"), 6_084_000, 50_700.0);
    check(&iops_of("P20"), 2_160_000, 939.1);
    // P4 by bytes: 25 and 170 MB/s.
    let p4_bytes = CreditRate::for_seconds(25_000_000, 170_000_000, 1800);
    check(&p4_bytes, 261_000_000_000, 10_440.0);
    assert_eq!(iops_of("P4").lasts(120), None);
    assert_eq!(iops_of("P4").refills(120), None);
}

/// `accrual = base − used` a second, while below the base.
#[test]
fn an_idle_disk_earns_its_base_rate() {
    #[track_caller]
    fn check(disk: &str, per_second: f64) {
        let rate = iops_of(disk).starting_at(0.0);
        let bucket = CreditBucket::new(&rate);
        let held = |at| bucket.level(at) * rate.bucket as f64;
        let earned = held(Nanos::from_secs(101)) - held(Nanos::from_secs(1));
        assert!(
            (earned / 100.0 - per_second).abs() < 0.01,
            "{disk}: {earned}"
        );
    }
    check("P1", 120.0);
    check("P20", 2300.0);
}

/// Serves as early as allowed for `seconds`; how many I/Os left.
fn served(limits: &mut Limits, from: u64, seconds: u64) -> u64 {
    let (start, end) = (Nanos::from_secs(from), Nanos::from_secs(from + seconds));
    let mut now = start;
    let mut count = 0;
    loop {
        now = now.max(limits.earliest());
        if now >= end {
            return count;
        }
        limits.take(now, 1, 4096);
        count += 1;
    }
}

#[test]
fn a_full_bucket_lasts_30_minutes_at_the_burst_rate_and_then_the_base_rate_is_left() {
    let mut limits = Limits::new(Some(Rate::Credits(iops_of("P4"))), None, Nanos::ZERO);
    assert_eq!(served(&mut limits, 0, 1800), 3500 * 1800);
    assert!(limits.levels(Nanos::from_secs(1800)).iops.unwrap() < 1e-6);
    assert_eq!(served(&mut limits, 1800, 100), 120 * 100);
    // An hour of rest earns 3,600 × 120 I/Os; at 3,500 a second they last 127.8 s.
    let saved = served(&mut limits, 1900 + 3600, 100);
    assert_eq!(saved, 350_000);
}

#[test]
fn the_start_and_the_two_buckets_are_apart() {
    let iops = iops_of("P20").starting_at(0.4);
    let bytes = CreditRate::for_seconds(150_000_000, 170_000_000, 1800);
    let (iops, bytes) = (Some(Rate::Credits(iops)), Some(Rate::Credits(bytes)));
    let mut limits = Limits::new(iops, bytes, Nanos::ZERO);
    let start = limits.levels(Nanos::ZERO);
    assert!((start.iops.unwrap() - 0.4).abs() < 1e-9 && start.bytes == Some(1.0));
    // 4 KiB at 3,500 a second is 14 MB/s: bytes stay below the base, so their bucket stays full.
    served(&mut limits, 0, 100);
    let left = limits.levels(Nanos::from_secs(100));
    let spent = 1200.0 * 100.0 / 2_160_000.0;
    assert!((left.iops.unwrap() - (0.4 - spent)).abs() < 1e-5);
    assert!(left.bytes.unwrap() > 0.999_999);
    assert_eq!(Limits::default().levels(Nanos::ZERO), Levels::default());
}

#[test]
fn an_empty_bucket_serves_the_base_rate_from_the_first_second() {
    let rate = Rate::Credits(iops_of("P4").starting_at(0.0));
    let mut limits = Limits::new(Some(rate), None, Nanos::ZERO);
    assert_eq!(served(&mut limits, 0, 10), 1200);
    assert!(!limits.bytes_bind());
}

/// A tier is changed while its bucket is half spent: what was spent stays spent.
#[test]
fn a_change_of_tier_keeps_what_was_spent() {
    let mut bucket = CreditBucket::new(&iops_of("P4"));
    bucket.take(Nanos::ZERO, 1_000_000);
    bucket.change(Nanos::ZERO, &iops_of("P20"));
    let left = bucket.level(Nanos::ZERO);
    assert!(
        (left - (1.0 - 1_000_000.0 / 2_160_000.0)).abs() < 1e-9,
        "{left}"
    );
}

/// Over any window: at most `burst × time` and one I/O, and at most `base × time + bucket` and one I/O.
#[test]
fn no_window_serves_more_than_its_allowance_with_bursts() {
    for seed in 0..60u64 {
        let draw = |index: u64| mix(seed.wrapping_mul(0x51ed) ^ index << 18);
        let base = 1 + draw(0) % 5000;
        let burst = base + draw(1) % 50_000;
        let seconds = 1 + draw(2) % 4;
        let rate =
            CreditRate::for_seconds(base, burst, seconds).starting_at((draw(3) % 5) as f64 / 4.0);
        let mut limits = Limits::new(Some(Rate::Credits(rate)), None, Nanos::ZERO);
        let mut left: Vec<(u64, u64)> = Vec::new();
        let mut now = 0;
        for index in 4..500 {
            // Pauses, now and then long ones, and eager arrivals.
            now += [0, 0, draw(index) % 1_000_000, draw(index) % 2_000_000_000]
                [draw(index + 700) as usize % 4];
            now = now.max(limits.earliest().get());
            let units = 1 + draw(index + 2000) % 4 * (burst / 20);
            limits.take(Nanos::new(now), units, 0);
            left.push((now, units));
        }
        for start in (0..left.len()).step_by(5) {
            let mut sum = 0u128;
            for end in start..left.len() {
                let span = u128::from(left[end].0 - left[start].0 + 1);
                let (base, burst) = (u128::from(base), u128::from(burst));
                let saved = u128::from(rate.bucket) * NANOS_PER_SEC + base;
                assert!(
                    sum * NANOS_PER_SEC <= span * burst + burst,
                    "seed {seed}: above the burst rate"
                );
                assert!(
                    sum * NANOS_PER_SEC <= span * base + saved,
                    "seed {seed}: above the bucket"
                );
                sum += u128::from(left[end].1);
            }
        }
    }
}
