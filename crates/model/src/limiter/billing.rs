//! What on-demand bursting is billed for.
//!
//! On-demand bursting has no bucket: the disk's limits are the burst limits for as long as it is paid for. Each second
//! costs the larger of the I/Os above the base and the bytes above the base in units of 256 KiB
//! (managed-disks-bursting-2.md, 14 January 2025; its examples count 1,024 / 256 units for each MB).

/// What one second used of a disk, and what the disk has without bursting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SecondOfUse {
    /// I/Os a second.
    pub iops: u64,
    /// 10^6 bytes a second.
    pub megabytes: u64,
}

/// Billed transactions of `seconds` seconds of equal use.
pub fn on_demand_transactions(used: SecondOfUse, base: SecondOfUse, seconds: u64) -> u64 {
    let ios = used.iops.saturating_sub(base.iops);
    let units = used.megabytes.saturating_sub(base.megabytes) * 1024 / 256;
    ios.max(units) * seconds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_larger_excess_is_billed() {
        #[track_caller]
        fn check(iops: u64, megabytes: u64, seconds: u64, expected: u64) {
            // P30: 5,000 IOPS, 200 MB/s.
            let base = SecondOfUse {
                iops: 5000,
                megabytes: 200,
            };
            let used = SecondOfUse { iops, megabytes };
            let found = on_demand_transactions(used, base, seconds);
            assert_eq!(found, expected, "{used:?} for {seconds} s");
        }
        // The article's two examples.
        check(6000, 200, 10, 10_000);
        check(7000, 200, 60, 120_000);
        check(10_000, 300, 5, 25_000);
        check(6000, 600, 5, 8000);
        check(4000, 100, 60, 0);
    }
}
