//! A design scaled by a factor: where a limit binds it gives so many times as much, and where none does nothing changes.

use fathom_model::Factor;
use fathom_units::Bytes;
use proptest::prelude::*;

use super::drive::{Arrival, design, drive, machine};

const SIZE: Bytes = Bytes::gib(2);

/// I/Os a second while 5,000 wait.
fn saturated(text: &str, factor: Factor, length: u32) -> f64 {
    let arrival = |number: u64| Arrival {
        at: 0,
        write: number.is_multiple_of(3),
        offset: number * 7_919 % (SIZE.get() / u64::from(length)) * u64::from(length),
        length,
    };
    let arrivals: Vec<_> = (0..5_000).map(arrival).collect();
    let completions = drive(&design(text).scaled(factor), SIZE, &arrivals);
    let (first, last) = (completions[0].at, completions[completions.len() - 1].at);
    (completions.len() - 1) as f64 * 1e9 / (last - first) as f64
}

/// Completions of I/Os that come one at a time.
fn alone(text: &str, factor: Factor) -> Vec<u64> {
    let arrivals = (0..200).map(|number| Arrival {
        at: number * 1_000_000_000,
        write: number % 2 == 0,
        offset: number * 4096,
        length: 4096,
    });
    let arrivals: Vec<_> = arrivals.collect();
    let completions = drive(&design(text).scaled(factor), SIZE, &arrivals);
    completions.iter().map(|one| one.at).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn what_binds_gives_so_many_times_as_much(
        size in prop::sample::select(&["Standard_DS1", "Standard_DS4", "Standard_D8s_v3"][..]),
        disk in prop::sample::select(&["P10", "P30", "E20"][..]),
        count in prop::sample::select(&[1_u32, 2][..]),
        kib in prop::sample::select(&[4_u32, 16, 64, 256][..]),
        millionths in 10_000..20_000_000_u64,
    ) {
        let text = machine(size, disk, count, "caching = \"none\"");
        let factor = Factor::from_millionths(millionths).expect("in range");
        let (one, scaled) = (
            saturated(&text, Factor::ONE, kib << 10),
            saturated(&text, factor, kib << 10),
        );
        let found = scaled / one / factor.as_f64();
        // A machine's budget gives 2 ms of its rate at the start, of 5,000 I/Os; each disk's rate is the nearest whole
        // number.
        let rounded = 0.5 * f64::from(count) / scaled;
        let most = 0.001 + 0.002 * one.max(scaled) / 5_000.0 + rounded;
        prop_assert!((found - 1.0).abs() < most, "{found} of {factor} times {one}");
    }

    #[test]
    fn what_no_limit_holds_takes_as_long_as_before(millionths in 50_000..100_000_000_u64) {
        let text = machine("Standard_D8s_v3", "P30", 2, "caching = \"read-only\"");
        let text = text.replace("latency = \"none\"", "latency = { median = \"2ms\", p99 = \"30ms\" }");
        let factor = Factor::from_millionths(millionths).expect("in range");
        prop_assert_eq!(alone(&text, factor), alone(&text, Factor::ONE));
    }
}
