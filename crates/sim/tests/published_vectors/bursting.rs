//! Worked examples of the page on bursting: credits of disks and machines, bursting on demand, and its bill.

use fathom_catalog::{BurstMode, Catalog, Disk, Era};
use fathom_model::{SecondOfUse, on_demand_transactions};
use fathom_units::{BytesPerSec, Iops};

use super::support::*;

/// The cases.
pub const VECTORS: &[Vector] = &[
    ("burst-vm-normal", || {
        let write = run_for("60s", &three("P50"), &paced_each("10MB/s"));
        write.megabytes(30.0, EXACT);
        write.each_megabytes(3, 10.0, EXACT);
    }),
    ("burst-vm-batch", || {
        let write = run(&three("P50"), &paced_each("200MB/s"));
        write.megabytes(600.0, EXACT);
        write.each_megabytes(3, 200.0, EXACT);
        // It is the machine that bursts.
        let calm = three("P50").replace("era", "burst = \"off\"\nera");
        let write = run(&calm, &paced_each("200MB/s"));
        write.megabytes(160.0, EXACT).bound_by("vm-uncached-bytes");
    }),
    ("burst-both-idle", || {
        let write = run_for("100s", &three("P4"), &paced_each("5MB/s"));
        write.megabytes(15.0, EXACT);
        write.each_megabytes(3, 5.0, EXACT);
    }),
    // What is saved in a while shows in the burst that follows: so many I/Os more than the base gives.
    ("burst-accrual-p1", || {
        let saved_in_100_s = 100.0 * 120.0;
        after_idling("P1", "100s", "10s").iops((saved_in_100_s + 10.0 * 120.0) / 10.0, EXACT);
    }),
    ("burst-accrual-p20", || {
        let saved_in_10_s = 10.0 * 2_300.0;
        after_idling("P20", "10s", "60s").iops((saved_in_10_s + 60.0 * 2_300.0) / 60.0, EXACT);
    }),
    ("burst-p4-startup-factor", || {
        let reads = |burst: &str| {
            let design = one(&format!("burst = \"{burst}\""), "P4", 1);
            run(&design, &[deep("a", "read", "256KiB", 16)]).total_bytes()
        };
        within(
            "times faster",
            reads("credits") / reads("off"),
            170.0 / 25.0,
            EXACT,
        );
        assert!(reads("credits") / reads("off") > 6.0);
    }),
    ("burst-on-demand-p30", || {
        let design = one("burst = \"on-demand\"", "P30", 1);
        let small = run(&design, &[deep("a", "read", "4KiB", 256)]);
        small.iops(30e3, EXACT).bound_by("disk-iops");
        let large = run(&design, &[deep("a", "read", "256KiB", 64)]);
        large.megabytes(1_000.0, EXACT).bound_by("disk-bytes");
    }),
    ("burst-billing-1", || {
        let slots = [(10, 6_000, 0), (60, 7_000, 0)].map(|slot| transactions("P30", slot));
        assert_eq!(slots, [10_000, 120_000]);
        let billed = Catalog::builtin().on_demand().billed_transactions;
        assert_eq!(slots.iter().sum::<u64>().div_ceil(billed), 13);
    }),
    ("burst-billing-2", || {
        let slots = [(5, 10_000, 300), (5, 6_000, 600)].map(|slot| transactions("P30", slot));
        assert_eq!(slots, [25_000, 8_000]);
    }),
    ("burst-refill-derived", || {
        let [p1, p20, p4] = ["P1", "P20", "P4"].map(buckets);
        assert_eq!(p1.0, 6_084_000);
        within("seconds", p1.1, 50_700.0, 1e-9);
        assert_eq!(p20.0, 2_160_000);
        within("seconds", p20.1, 939.1, 1e-3);
        // 261,000 MB for bandwidth.
        assert_eq!(p4.2, 261_000_000_000);
        within("seconds", p4.3, 10_440.0, 1e-9);
    }),
];

/// Volumes `/a`, `/b` and `/c` of one uncached disk each on a machine with little throughput that bursts eightfold.
fn three(disk: &str) -> String {
    let volumes = ["a", "b", "c"].map(|name| {
        let volume = volume(name, disk, 1, "none");
        volume.replace("burst = \"off\"\n", "")
    });
    machine("Standard_L8s_v2", "current", &volumes).replacen("burst = \"off\"\n", "", 1)
}

fn paced_each(rate: &str) -> [String; 3] {
    ["a", "b", "c"].map(|name| paced(name, "write", "256KiB", rate))
}

/// A stripe on `/a` of a machine that has more to give, with keys of its volume.
fn one(keys: &str, disk: &str, count: u32) -> String {
    let design = stripe("Standard_D64s_v3", "current", disk, count);
    let at = design
        .rfind("burst = \"off\"")
        .expect("the volume's own key");
    format!(
        "{}{keys}{}",
        &design[..at],
        &design[at + "burst = \"off\"".len()..]
    )
}

/// A disk that starts without credits, idles, and is then asked for all it gives.
#[track_caller]
fn after_idling(disk: &str, idle: &str, measure: &str) -> Predicted {
    let design = one("burst = \"credits\"\ncredits = \"empty\"", disk, 1);
    let size = if disk == "P1" { "2GiB" } else { "8GiB" };
    let read = job(
        "a",
        "read",
        "4KiB",
        &format!("depth = 2\nstart_delay = \"{idle}\""),
    );
    run_for(measure, &design, &[read.replace("8GiB", size)])
}

#[track_caller]
fn row(disk: &str) -> &'static Disk {
    Catalog::builtin().disk(Era::CURRENT, disk).expect("a row")
}

/// Transactions above the base in so many seconds at so many I/Os and MB a second.
fn transactions(disk: &str, (seconds, iops, megabytes): (u64, u64, u64)) -> u64 {
    let limits = row(disk).limits;
    let base = SecondOfUse {
        iops: limits.iops.map_or(0, Iops::get),
        megabytes: limits.bandwidth.map_or(0, BytesPerSec::get) / 1_000_000,
    };
    on_demand_transactions(SecondOfUse { iops, megabytes }, base, seconds)
}

/// I/Os of a full bucket and seconds of idling that fill it, and bytes and seconds of the other.
#[track_caller]
fn buckets(disk: &str) -> (u64, f64, u64, f64) {
    let row = row(disk);
    let burst = row.burst.expect("it bursts");
    assert_eq!(burst.mode, BurstMode::Credits);
    let seconds = u64::from(burst.seconds.expect("a bucket"));
    let iops = |limits: fathom_catalog::Limits| limits.iops.map_or(0, Iops::get);
    let bytes = |limits: fathom_catalog::Limits| limits.bandwidth.map_or(0, BytesPerSec::get);
    let ios = (iops(burst.limits) - iops(row.limits)) * seconds;
    let data = (bytes(burst.limits) - bytes(row.limits)) * seconds;
    let refill = |bucket: u64, base: u64| bucket as f64 / base as f64;
    (
        ios,
        refill(ios, iops(row.limits)),
        data,
        refill(data, bytes(row.limits)),
    )
}
