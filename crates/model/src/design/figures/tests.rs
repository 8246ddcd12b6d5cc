//! Worked examples as the providers' pages print them.

use fathom_catalog::{AdjustableDisk, BurstScope, Catalog, DiskKind};
use fathom_units::{Bytes, BytesPerSec, Iops};

use super::*;

fn row(kind: DiskKind) -> &'static AdjustableDisk {
    let rows = Catalog::builtin().adjustable_disks();
    rows.iter().find(|row| row.kind == kind).unwrap()
}

fn tib_milli(milli: u64) -> Bytes {
    Bytes::new((u128::from(milli) * u128::from(TIB) / 1000) as u64)
}

#[test]
fn disks_sold_by_formula_have_the_printed_ceilings() {
    #[track_caller]
    fn check(kind: DiskKind, gib: u64, iops: u64, mbps: u64) {
        let (row, size) = (row(kind), Bytes::gib(gib));
        let most = most_iops(row, size);
        assert_eq!(most, Iops::new(iops), "{gib} GiB");
        assert_eq!(
            most_bandwidth(row, most),
            BytesPerSec::mb(mbps),
            "{gib} GiB"
        );
    }
    check(DiskKind::PremiumSsdV2, 6, 3_000, 750);
    check(DiskKind::PremiumSsdV2, 8, 4_000, 1_000);
    check(DiskKind::PremiumSsdV2, 10, 5_000, 1_250);
    check(DiskKind::PremiumSsdV2, 160, 80_000, 2_000);
    check(DiskKind::PremiumSsdV2, 65_536, 80_000, 2_000);
    let capped = most_bandwidth(row(DiskKind::PremiumSsdV2), Iops::new(8_000));
    assert_eq!(capped, BytesPerSec::mb(2_000));
    let ultra = [
        (4, 4_000, 1_000),
        (8, 8_000, 2_000),
        (16, 16_000, 4_000),
        (32, 32_000, 8_000),
        (64, 64_000, 10_000),
        (128, 128_000, 10_000),
        (256, 256_000, 10_000),
        (512, 400_000, 10_000),
        (1024, 400_000, 10_000),
        (2048, 400_000, 10_000),
    ];
    for (gib, iops, mbps) in ultra {
        check(DiskKind::Ultra, gib, iops, mbps);
    }
}

#[test]
fn quotas_give_the_printed_throughput() {
    #[track_caller]
    fn check(level: &str, quota: Bytes, mibps_milli: u64) {
        let level = Catalog::builtin().service_level(level).unwrap();
        let expected = BytesPerSec::new((mibps_milli << 20) / 1000);
        assert_eq!(quota_bandwidth(level, quota), Some(expected));
    }
    check("premium", tib_milli(2000), 128_000);
    check("premium", Bytes::gib(100), 6_250);
    check("ultra", tib_milli(1000), 128_000);
    check("standard", tib_milli(1000), 16_000);
    // A pool of each size, shared by its volumes.
    for (tib, mibps) in [
        (1, 32),
        (4, 128),
        (8, 256),
        (16, 512),
        (32, 1024),
        (128, 4096),
    ] {
        check("elastic", tib_milli(tib * 1000), mibps * 1000);
    }
    let catalog = Catalog::builtin();
    let ultra = catalog.service_level("ultra").unwrap();
    let pool = quota_bandwidth(ultra, tib_milli(10_000)).unwrap();
    assert_eq!(pool.get(), 1280 << 20);
    assert_eq!(704 + 256 + 64 + 256, 1280);
}

#[test]
fn the_quota_for_a_throughput_is_the_printed_one() {
    let premium = Catalog::builtin().service_level("premium").unwrap();
    let wanted = BytesPerSec::new(4500 << 20);
    let quota = quota_for(premium, wanted).unwrap();
    // 4,500 / 64 = 70.3125, printed as 70.31.
    assert_eq!(
        quota,
        Bytes::new(TIB / 10_000 * 703_125 + TIB % 10_000 * 703_125 / 10_000)
    );
    assert_eq!(quota_bandwidth(premium, quota), Some(wanted));
    assert!(quota_bandwidth(premium, Bytes::new(quota.get() - 1 - (TIB >> 26))) < Some(wanted));
}

#[test]
fn flexible_pools_have_the_printed_most() {
    let flexible = Catalog::builtin().service_level("flexible").unwrap();
    assert_eq!(quota_bandwidth(flexible, Bytes::gib(1024)), None);
    assert_eq!(flexible.pool_bandwidth, Some(BytesPerSec::new(128 << 20)));
    let printed = [
        (1, 640),
        (2, 1_280),
        (10, 6_400),
        (50, 32_000),
        (100, 64_000),
        (1024, 655_360),
    ];
    for (tib, mibps) in printed {
        let most = pool_bandwidth(flexible, tib_milli(tib * 1000)).unwrap();
        assert_eq!(most.get(), mibps << 20, "{tib} TiB");
    }
}

#[test]
fn provisioned_shares_of_the_first_version_have_the_printed_limits() {
    let catalog = Catalog::builtin();
    let model = catalog.share_model("ssd-v1").unwrap();
    let seconds = u64::from(catalog.bucket_seconds(BurstScope::Share));
    // GiB, IOPS, burst IOPS, credits, MiB/s. For 33,792 GiB the page prints a burst of 102,400 and credits that follow from
    // an older cap, for 51,200 GiB such credits; the formulas printed beside them give these.
    let printed = [
        (100, 3_100, 10_000, 24_840_000, 110),
        (500, 3_500, 10_000, 23_400_000, 150),
        (1_024, 4_024, 10_000, 21_513_600, 203),
        (5_120, 8_120, 15_360, 26_064_000, 613),
        (33_792, 36_792, 101_376, 232_502_400, 3_480),
        (51_200, 54_200, 102_400, 173_520_000, 5_220),
        (102_400, 102_400, 102_400, 0, 10_340),
    ];
    for (gib, iops, burst, credits, mibps) in printed {
        let size = Bytes::gib(gib);
        let base = share_iops(model, size);
        assert_eq!(base, Iops::new(iops), "{gib} GiB");
        let most = share_burst(model, size, base).unwrap();
        assert_eq!(most, Iops::new(burst), "{gib} GiB");
        assert_eq!((most.get() - base.get()) * seconds, credits, "{gib} GiB");
        assert_eq!(share_bandwidth(model, size).get(), mibps << 20, "{gib} GiB");
    }
}

#[test]
fn provisioned_shares_of_the_second_version_burst_as_printed() {
    #[track_caller]
    fn check(model: &str, iops: u64, burst: u64, credits: u64) {
        let catalog = Catalog::builtin();
        let model = catalog.share_model(model).unwrap();
        let seconds = u64::from(catalog.bucket_seconds(BurstScope::Share));
        let most = share_burst(model, Bytes::gib(1024), Iops::new(iops)).unwrap();
        assert_eq!(most, Iops::new(burst), "{iops}");
        assert_eq!((burst - iops) * seconds, credits, "{iops}");
    }
    check("hdd-v2", 500, 5_000, 16_200_000);
    check("hdd-v2", 1_000, 5_000, 14_400_000);
    check("hdd-v2", 3_000, 9_000, 21_600_000);
    check("hdd-v2", 5_000, 15_000, 36_000_000);
    check("hdd-v2", 10_000, 30_000, 72_000_000);
    check("hdd-v2", 50_000, 50_000, 0);
    check("ssd-v2", 3_000, 10_000, 25_200_000);
    check("ssd-v2", 5_000, 15_000, 36_000_000);
    check("ssd-v2", 10_000, 30_000, 72_000_000);
    check("ssd-v2", 50_000, 102_400, 188_640_000);
    check("ssd-v2", 75_000, 102_400, 98_640_000);
    check("ssd-v2", 102_400, 102_400, 0);
}

#[test]
fn recommended_limits_follow_the_size() {
    #[track_caller]
    fn check(model: &str, gib: u64, iops: u64, mibps: u64) {
        let model = Catalog::builtin().share_model(model).unwrap();
        let size = Bytes::gib(gib);
        assert_eq!(share_iops(model, size), Iops::new(iops), "{gib} GiB");
        assert_eq!(share_bandwidth(model, size).get(), mibps << 20, "{gib} GiB");
    }
    check("ssd-v2", 32, 3_032, 104);
    check("ssd-v2", 1_024, 4_024, 203);
    check("ssd-v2", 262_144, 102_400, 10_340);
    check("hdd-v2", 32, 1_007, 61);
    check("hdd-v2", 1_024, 1_205, 81);
    check("hdd-v2", 262_144, 50_000, 5_120);
    check("hdd-payg", 1, 20_000, 6_400);
    let payg = Catalog::builtin().share_model("hdd-payg").unwrap();
    assert_eq!(share_burst(payg, payg.max_size, Iops::new(20_000)), None);
}
