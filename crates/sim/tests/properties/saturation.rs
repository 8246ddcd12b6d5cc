//! A limit whose queue never empties serves at least 99.9 % of it.

use fathom_units::Bytes;
use proptest::prelude::*;

use super::drive::{Arrival, design, device, drive, machine};

const SIZE: Bytes = Bytes::gib(2);

/// 5,000 I/Os at once.
fn flood(length: u32, write: bool) -> Vec<Arrival> {
    let arrival = |number: u64| Arrival {
        at: 0,
        write,
        // A prime step over the file, on boundaries of the I/O.
        offset: number * 7_919 % (SIZE.get() / u64::from(length)) * u64::from(length),
        length,
    };
    (0..5_000).map(arrival).collect()
}

/// Share of `rate` that is served from the first completion to the last, while others wait.
fn share(text: &str, arrivals: &[Arrival], rate: u64, cost: impl Fn(&Arrival) -> u64) -> f64 {
    let completions = drive(&design(text), SIZE, arrivals);
    let (first, last) = (completions[0], completions[completions.len() - 1]);
    let served = completions[1..]
        .iter()
        .map(|one| cost(&arrivals[one.arrival]));
    let served: u64 = served.sum();
    served as f64 * 1e9 / (last.at - first.at) as f64 / rate as f64
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn of_a_device(iops in 50..100_000u64, rate in 1_000_000..1_000_000_000u64, kib in 1..257u32) {
        let length = kib << 10;
        let text = device(&format!("iops = {iops}\nbandwidth = \"{rate}B/s\""));
        let arrivals = flood(length, false);
        let by_ios = share(&text, &arrivals, iops, |_| 1);
        let by_bytes = share(&text, &arrivals, rate, |one| u64::from(one.length));
        let most = by_ios.max(by_bytes);
        prop_assert!((0.999..1.0005).contains(&most), "{by_ios} of I/Os, {by_bytes} of bytes");
    }

    /// One disk: whichever limit of the path is the least for this size serves all of it.
    #[test]
    fn of_a_path(
        machine_and_limits in prop::sample::select(&[
            ("Standard_DS1", 3_200.0, 32_000_000.0),
            ("Standard_DS2", 6_400.0, 64_000_000.0),
            ("Standard_DS4", 25_600.0, 256_000_000.0),
        ][..]),
        disk_and_limits in prop::sample::select(&[
            ("P20", 2_300.0, 150_000_000.0),
            ("P30", 5_000.0, 200_000_000.0),
            ("S30", 500.0, 60_000_000.0),
        ][..]),
        kib in prop::sample::select(&[4u32, 8, 32, 64, 256, 1024][..]),
        write in any::<bool>(),
    ) {
        let (size, vm_iops, vm_bytes) = machine_and_limits;
        let (disk, disk_iops, disk_bytes) = disk_and_limits;
        let length = u64::from(kib) << 10;
        let units = if disk == "S30" { 1 } else { length.div_ceil(256 << 10) };
        let text = machine(size, disk, 1, "caching = \"none\"\nburst = \"off\"");
        let least = [
            vm_iops,
            vm_bytes / length as f64,
            disk_iops / units as f64,
            disk_bytes / length as f64,
        ];
        let least = least.into_iter().fold(f64::INFINITY, f64::min);
        let found = share(&text, &flood(length as u32, write), 1_000_000, |_| 1_000_000);
        // A machine's budget gives 2 ms of its rate at the start.
        let most = 1.0005 + 0.002 * least / 5_000.0;
        let share = found / least;
        prop_assert!((0.999..most).contains(&share), "{share} of {least} a second");
    }
}
