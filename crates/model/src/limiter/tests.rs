//! Tests of one limiter, of two taken together, and of credits in `credits`.

mod credits;

use super::*;
use crate::random::mix;

/// Serves as early as allowed and returns the departure of I/O number `count`.
fn departure_of(limiter: &mut Limiter, count: u64, units: u64) -> u64 {
    let mut now = 0;
    for _ in 0..=count {
        now = limiter.earliest().get();
        limiter.take(Nanos::new(now), units);
    }
    now
}

#[test]
fn the_long_run_rate_is_exact() {
    #[track_caller]
    fn check(rate: u64, units: u64, count: u64) {
        let left = departure_of(&mut Limiter::new(rate, Nanos::ZERO), count, units);
        let exact = u128::from(count) * u128::from(units) * NANOS_PER_SEC / u128::from(rate);
        assert_eq!(u128::from(left), exact, "{rate} a second, {units} units");
    }
    check(1, 1, 1_000);
    check(7, 3, 100_000);
    check(62_500, 1, 1_000_000);
    check(64_000, 1, 1_000_000);
    check(77_777, 1, 1_000_000);
    check(512_000_000, 8192, 1_000_000);
    check(485_000_001, 4097, 1_000_000);
    check(9_999_999_967, u64::from(u32::MAX), 10_000);
}

/// 10^12 I/Os one by one take too long to test. But what is taken at one moment in two parts leaves the limiter as it is
/// left when the sum is taken at once (checked for every kind of rate), so 10^6 times 10^6 is the same as 10^12 times one.
#[test]
fn it_does_not_drift_over_10_to_the_12_ios() {
    for rate in [1, 7, 62_500, 64_000, 77_777, 999_999_937, 9_999_999_967] {
        let (mut parts, mut whole) = (
            Limiter::new(rate, Nanos::ZERO),
            Limiter::new(rate, Nanos::ZERO),
        );
        for step in 0..1_000 {
            let (first, second) = (mix(step) % 1_000, mix(!step) % 1_000);
            let now = whole.earliest();
            whole.take(now, first + second);
            parts.take(now, first);
            parts.take(parts.earliest(), second);
            assert_eq!(parts, whole, "{rate} a second, step {step}");
        }
    }
    for rate in [62_500, 64_000, 77_777, 999_999_937] {
        let mut limiter = Limiter::new(rate, Nanos::ZERO);
        let left = departure_of(&mut limiter, 1_000_000, 1_000_000);
        let exact = 1_000_000_000_000 * NANOS_PER_SEC / u128::from(rate);
        assert_eq!(u128::from(left), exact, "{rate} a second");
    }
}

#[test]
fn no_window_serves_more_than_its_allowance() {
    for seed in 0..40u64 {
        let draw = |index: u64| mix(seed.wrapping_mul(0x9e37) ^ index << 20);
        let rate = 1 + draw(0) % 1_000_000;
        let tolerance = draw(1) % 3 * 1_000_000;
        let mut limiter = Limiter::new(rate, Nanos::new(tolerance));
        let mut now = 0;
        let mut left: Vec<(u64, u64)> = Vec::new();
        for index in 2..400 {
            now += draw(index) % (3_000_000_000 / rate);
            now = now.max(limiter.earliest().get());
            let units = 1 + draw(index + 1000) % 4;
            limiter.take(Nanos::new(now), units);
            left.push((now, units));
        }
        for start in (0..left.len()).step_by(7) {
            let mut sum = 0u128;
            for end in start..left.len() {
                // The last I/O of a window may leave on credit; those before it are paid for, to the nanosecond.
                let span = u128::from(left[end].0 - left[start].0 + tolerance + 1);
                assert!(
                    sum * NANOS_PER_SEC <= span * u128::from(rate) + u128::from(rate),
                    "seed {seed}: {sum} units in {span} ns at {rate} a second"
                );
                sum += u128::from(left[end].1);
            }
        }
    }
}

#[test]
fn both_limits_are_taken_together_and_the_later_binds() {
    let limits = || {
        let rate = |rate| Some(Rate::Steady(rate));
        Limits::new(rate(64_000), rate(512_000_000), Nanos::ZERO)
    };
    let mut large = limits();
    large.take(Nanos::ZERO, 1, 8192);
    assert_eq!(large.earliest(), Nanos::new(16_000));
    assert!(large.bytes_bind());
    let mut small = limits();
    small.take(Nanos::ZERO, 1, 4096);
    assert_eq!(small.earliest(), Nanos::new(15_625));
    assert!(!small.bytes_bind());
    assert_eq!(Limits::default().earliest(), Nanos::ZERO);
}

#[test]
fn a_tolerance_lets_units_leave_early_once() {
    let mut limiter = Limiter::new(1000, Nanos::from_millis(5));
    for _ in 0..6 {
        limiter.take(Nanos::ZERO, 1);
    }
    assert_eq!(limiter.earliest(), Nanos::from_millis(1));
}

/// What was owed before a change of rate is paid after it, in units.
#[test]
fn a_change_of_rate_keeps_what_is_owed() {
    #[track_caller]
    fn check(rates: (u64, u64), taken: u64, change_at_ns: u64, expected_ns: u64) {
        let mut limiter = Limiter::new(rates.0, Nanos::from_secs(1000));
        limiter.take(Nanos::ZERO, taken);
        limiter.change(Nanos::new(change_at_ns), rates.1, Nanos::ZERO);
        assert_eq!(limiter.earliest(), Nanos::new(expected_ns), "{rates:?}");
    }
    // 100 units at 100 a second; after 0.4 s 60 are owed, which take 0.03 s at 2,000 a second.
    check((100, 2000), 100, 400_000_000, 430_000_000);
    check((2000, 100), 2000, 500_000_000, 10_500_000_000);
    check((100, 2000), 10, 400_000_000, 400_000_000);
    // A third of a nanosecond is not lost: 1 unit at 3 a second is 333,333,333⅓ ns; at 1 a second the rest is 3 times that.
    check((3, 1), 1, 0, 1_000_000_000);
}

/// The GCRA of the definition, in fractions kept as one number: `arrival × rate` in 128 bits.
#[test]
fn the_remembered_cost_changes_nothing() {
    for seed in 0..50u64 {
        let draw = |index: u64| mix(seed.wrapping_mul(0x9e37) ^ index << 20);
        let rate = 1 + draw(0) % 10_000_000_000;
        let mut limiter = Limiter::new(rate, Nanos::ZERO);
        let (mut now, mut arrival) = (0u64, 0u128);
        for index in 1..2000 {
            let units =
                [1, 4096, 8192, 1 + draw(index) % 1_000_000][draw(index + 5000) as usize % 4];
            now = (now + draw(index + 9000) % 1000).max(limiter.earliest().get());
            limiter.take(Nanos::new(now), units);
            let at = u128::from(now) * u128::from(rate);
            arrival = if at / u128::from(rate) > arrival / u128::from(rate) {
                at
            } else {
                arrival
            };
            arrival += u128::from(units) * NANOS_PER_SEC;
            let whole = Nanos::new((arrival / u128::from(rate)) as u64);
            assert_eq!(limiter.paid_at(), whole, "seed {seed}, I/O {index}");
        }
    }
}
