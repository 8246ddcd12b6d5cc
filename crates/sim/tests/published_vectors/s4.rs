//! Notes on measuring disks on Windows (S4-*), predicted from the files of `examples/windows-guide`.

use fathom_units::{Bytes, Nanos, Percent};
use fathom_workload::{Access, Coverage, Workload};

use super::support::*;

/// The cases.
pub const VECTORS: &[Vector] = &[
    // An array that is asked for too much shows it by its latency.
    ("S4-01", || assert!(diskspd().mean_ms() > 25.0)),
    ("S4-02", || {
        // Up to 38 outstanding, its latency stays at 10 ms.
        let san = device("iops = 3866\nlatency = \"none\"");
        run(&san, &[deep("a", "read", "64KiB", 38)]).latency_ms(10.0, MEASURED);
    }),
    ("S4-06", || {
        let four = stripe("Standard_DS14", "2016", "P30", 4);
        run(&four, &[deep("a", "read", "8KiB", 8)]).depth_of_disks("vm/a/", 4.0 * 2.0);
    }),
    ("S4-08", || {
        let read = diskspd();
        read.iops(3_866.0, EXACT)
            .mebibytes(241.0, ROUNDED)
            .latency_ms(66.206, EXACT);
        read.bound_by("device-iops");
    }),
    // Printed in Mb.
    ("S4-09", || {
        diskspd().megabytes(252.0, ROUNDED);
    }),
    ("S4-10", || {
        let workload = example_workload(DISKSPD);
        let job = &workload.stages[0].jobs[0];
        assert_eq!(job.targets[0].length, Some(Bytes::gib(50)));
        assert_eq!(job.block.read[0].size, Bytes::kib(64));
        assert_eq!((job.workers, job.depth), (8, 32));
        assert_eq!(job.limits.runtime, Some(Nanos::from_secs(300)));
        assert_eq!(
            job.mix.write,
            Percent::from_basis_points(4_000).expect("a share")
        );
        let stage = &diskspd().0;
        let of = |figures: &Option<fathom_record::DirectionRecord>| {
            figures.as_ref().map_or(0.0, |figures| figures.ios as f64)
        };
        let (read, write) = (of(&stage.jobs[0].read), of(&stage.jobs[0].write));
        within("share of writes", write / (read + write), 0.4, MEASURED);
    }),
    ("S4-11", || {
        let design = machine(
            "Standard_DS1",
            "2016",
            &[volume("a", "P10", 1, "read-only")],
        );
        let of_size = |size: &str| {
            let read = deep("a", "read", "4KiB", 64).replace("8GiB", size);
            run(&design, &[read]).total_iops()
        };
        // All of it from the cache, and most of it from the disk.
        within("IOPS of 8 GiB", of_size("8GiB"), 4_000.0, EXACT);
        assert!(of_size("120GiB") < 1_000.0);
    }),
    ("S4-12", || {
        let workload = example_workload(SCRIPT);
        let [small, large] = &workload.stages[..] else {
            panic!("two stages");
        };
        let (small, large) = (&small.jobs[0], &large.jobs[0]);
        let random = Access::Random {
            coverage: Coverage::Independent,
            run: 1,
        };
        assert_eq!(
            (small.block.read[0].size, &small.access),
            (Bytes::kib(8), &random)
        );
        assert_eq!(large.block.read[0].size, Bytes::kib(512));
        assert!(matches!(large.access, Access::Sequential { .. }));
        for job in [small, large] {
            assert_eq!(job.limits.runtime, Some(Nanos::from_secs(10)));
            assert_eq!(job.targets[0].length, Some(Bytes::gib(1)));
        }
    }),
    ("S4-13", || {
        let design = example_design("windows-guide/msa2040.design.toml");
        let stages = run_workload(&example_workload(SCRIPT), &design);
        stages[0].iops(15e3, EXACT);
        stages[1].megabytes(625.0, EXACT).iops(1_192.0, EXACT);
    }),
    ("S4-14", || disk_of_kind("ssd-slc", 6_000.0, 6_000.0)),
    ("S4-15", || disk_of_kind("ssd-mlc", 1_000.0, 1_000.0)),
    ("S4-16", || disk_of_kind("15k", 175.0, 200.0)),
    ("S4-17", || disk_of_kind("10k", 125.0, 150.0)),
    ("S4-18", || disk_of_kind("7.2k", 50.0, 75.0)),
    // Blocks too large for one request.
    ("S4-23", || {
        let four = stripe("Standard_DS14", "2016", "P30", 4);
        let parts = |block| {
            let read = run(&four, &[deep("a", "read", block, 8)]);
            let of_disk = |disk: u32| read.part(&format!("vm/a/disk{disk}")).ios;
            (1..=4).map(of_disk).sum::<u64>() as f64 / read.all().ios as f64
        };
        within("requests for 8 KiB", parts("8KiB"), 1.0, EXACT);
        within("requests for 256 KiB", parts("256KiB"), 4.0, EXACT);
    }),
];

const DISKSPD: &str = "windows-guide/diskspd.workload.toml";
const SCRIPT: &str = "windows-guide/diskperformance.workload.toml";

/// What the model gives for S4-19, whose printed 1,000 exceeds six times the most that the table has for one disk.
#[test]
fn six_disks_do_no_more_than_six_times_one() {
    let array = device("type = \"10k\"\ndisks = 6\nraid = \"5\"\nlatency = \"none\"");
    let reads = run(&array, &[deep("a", "read", "8KiB", 512)]).total_iops();
    assert!(
        (6.0 * 125.0 * 0.97..=6.0 * 150.0 * 1.01).contains(&reads),
        "{reads}"
    );
    // A small write takes two I/Os of each of two disks.
    let writes = run(&array, &[deep("a", "write", "8KiB", 512)]).total_iops();
    within("IOPS written", writes, reads / 4.0, MEASURED);
}

/// A minute of the five.
#[track_caller]
fn diskspd() -> Predicted {
    let mut workload: Workload = example_workload(DISKSPD);
    workload.stages[0].jobs[0].limits.runtime = Some(Nanos::from_secs(60));
    run_workload(&workload, &example_design("windows-guide/san.design.toml")).remove(0)
}

/// A disk known by its kind gives what the table says, at its best.
#[track_caller]
fn disk_of_kind(kind: &str, least: f64, most: f64) {
    let design = device(&format!("type = \"{kind}\"\nlatency = \"none\""));
    let iops = run(&design, &[deep("a", "read", "4KiB", 8)]).total_iops();
    assert!(
        (least * 0.99..=most * 1.01).contains(&iops),
        "{iops} of {kind}"
    );
}
