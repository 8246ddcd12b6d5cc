//! Premium storage, 2016: what disks and machines give, alone and together (S0-01 to S0-33).

use fathom_catalog::{Catalog, Era, Limits};
use fathom_units::{Bytes, BytesPerSec, Iops, Nanos};

use super::support::*;

/// The cases.
pub const VECTORS: &[Vector] = &[
    ("S0-01", || {
        let read = run(&one_disk("P30"), &[greedy("a", "read", "4KiB")]);
        read.iops(5_000.0, EXACT).bound_by("disk-iops");
    }),
    ("S0-02", || {
        let write = run(&one_disk("P30"), &[greedy("a", "write", "256KiB")]);
        write.megabytes(200.0, EXACT).bound_by("disk-bytes");
    }),
    ("S0-03", || {
        gs5("uncached IOPS")
            .iops(80e3, EXACT)
            .bound_by("vm-uncached-iops");
    }),
    ("S0-04", || {
        let read = gs5("uncached bytes");
        read.megabytes(2_000.0, EXACT).bound_by("vm-uncached-bytes");
    }),
    ("S0-05", || {
        for (block, bytes) in [
            ("4KiB", 4_096.0),
            ("64KiB", 65_536.0),
            ("1MiB", 1_048_576.0),
        ] {
            let read = run(&one_disk("P30"), &[greedy("a", "read", block)]);
            within(
                "throughput",
                read.total_bytes(),
                read.total_iops() * bytes,
                1e-9,
            );
        }
    }),
    ("S0-06", || {
        let read = run(&one_disk("P30"), &[greedy("a", "read", "8kB")]);
        read.iops(5_000.0, EXACT).megabytes(40.0, EXACT);
    }),
    ("S0-07", || {
        let read = run(&one_disk("P30"), &[greedy("a", "read", "1MiB")]);
        read.iops(200.0, BINARY).megabytes(200.0, EXACT);
    }),
    ("S0-08", || {
        let read = run(&one_disk("P30"), &[greedy("a", "read", "64KiB")]);
        read.iops(3_200.0, BINARY).megabytes(200.0, EXACT);
    }),
    ("S0-09", || {
        let read = run(&one_disk("P30"), &[greedy("a", "read", "32kB")]);
        read.iops(5_000.0, EXACT).megabytes(160.0, EXACT);
    }),
    // A size of I/O is told by which limit it meets: many small ones, or throughput.
    ("S0-10", || {
        let read = run(&one_disk("P30"), &[greedy("a", "read", "8KiB")]);
        read.bound_by("disk-iops");
    }),
    ("S0-11", || {
        let read = run(&one_disk("P30"), &[greedy("a", "read", "1MiB")]);
        read.bound_by("disk-bytes");
    }),
    ("S0-12", || {
        let two = stripe("Standard_DS14", "2016", "P30", 2);
        run(&two, &[greedy("a", "write", "4KiB")]).iops(10e3, ROUNDED);
        run(&two, &[greedy("a", "write", "64KiB")]).megabytes(400.0, ROUNDED);
    }),
    ("S0-13", || {
        machine_facts("Standard_DS14", [16, 112, 224, 32, 576]);
    }),
    ("S0-14", || {
        let design = stripe("Standard_DS14", "2016-article", "P30", 16);
        let small = run(&design, &[greedy("a", "write", "4KiB")]);
        small.iops(50e3, EXACT).bound_by("vm-uncached-iops");
        let large = run(&design, &[greedy("a", "write", "64KiB")]);
        large.megabytes(512.0, EXACT).bound_by("vm-uncached-bytes");
    }),
    ("S0-15", || {
        article_cache_limit("Standard_DS14", (4_000, 33), (64_000, 512));
    }),
    ("S0-16", || {
        machine_facts("Standard_GS5", [32, 448, 896, 64, 4_224]);
    }),
    ("S0-17", || {
        article_cache_limit("Standard_GS5", (5_000, 50), (160_000, 1_600));
    }),
    ("S0-18", || {
        let design = stripe("Standard_DS1", "2016", "P30", 1);
        let read = run(&design, &[paced("a", "read", "4KiB", "4000/s")]);
        read.iops(3_200.0, EXACT).bound_by("vm-uncached-iops");
    }),
    ("S0-19", || {
        // 1,024 I/Os over 32 disks: now and then one is idle.
        let design = stripe("Standard_D14", "2016", "STD-1TB", 32);
        let read = run(&design, &[greedy("a", "read", "8KiB")]);
        read.iops(16e3, BINARY).bound_by("disk-iops");
    }),
    ("S0-23", || {
        let p30 = |count| stripe("Standard_DS13", "2016", "P30", count);
        run(&p30(4), &[greedy("a", "read", "8KiB")]).iops(20e3, ROUNDED);
        // One less does not carry the 16,000 that are asked for.
        run(&p30(3), &[greedy("a", "read", "8KiB")]).iops(15e3, ROUNDED);
    }),
    ("S0-28", || premium_disk("P10", 128, 500, 100)),
    ("S0-29", || premium_disk("P20", 512, 2_300, 150)),
    ("S0-30", || premium_disk("P30", 1_024, 5_000, 200)),
    ("S0-31", || {
        let design = stripe("Standard_DS4", "2016", "P30", 1);
        let read = run(&design, &[paced("a", "read", "256KiB", "250MB/s")]);
        read.megabytes(200.0, EXACT).bound_by("disk-bytes");
    }),
    ("S0-32", || {
        let design = machine(
            "Standard_DS14",
            "2016",
            &[volume("a", "P10", 1, "read-only")],
        );
        let writes = greedy("a", "write", "256KiB").replace("name = \"a\"", "name = \"writes\"");
        let both = run(&design, &[paced("a", "read", "256KiB", "60MB/s"), writes]);
        both.megabytes_of(0, 60.0, EXACT)
            .megabytes_of(1, 100.0, EXACT);
    }),
    ("S0-33", || {
        let design = machine(
            "Standard_DS14",
            "2016",
            &[volume("a", "P30", 1, "read-only")],
        );
        let read = run(&design, &[greedy("a", "read", "4KiB")]);
        read.iops(64e3, EXACT).bound_by("vm-cached-iops");
        assert_eq!(read.part("vm/a/disk1").ios, 0);
        assert_eq!(read.part("vm/uncached").ios, 0);
    }),
    ("S0-40", || {
        let striped = |size, count| stripe(size, "2016", "P30", count);
        for (size, most) in [("Standard_DS14", 32), ("Standard_GS5", 64)] {
            read_design(&striped(size, most));
            let refused = complaints(&striped(size, most + 1));
            assert!(refused.contains(&most.to_string()), "{refused}");
        }
    }),
];

/// What the size page of its time adds to the article: the cached budget, and both at once.
#[test]
fn the_largest_machine_gives_both_budgets() {
    gs5("cached IOPS").iops(160e3, EXACT);
    gs5("cached bytes").megabytes(1_600.0, EXACT);
    gs5("both IOPS").iops(240e3, EXACT);
    gs5("both bytes").megabytes(3_600.0, EXACT);
}

/// One stage of the example of a GS5, shortened.
#[track_caller]
fn gs5(stage: &str) -> Predicted {
    let mut workload = example_workload("guide-2016/gs5.workload.toml");
    workload.stages.retain(|other| other.name == stage);
    for job in &mut workload.stages[0].jobs {
        job.limits.runtime = Some(Nanos::from_secs(5));
    }
    run_workload(&workload, &example_design("guide-2016/gs5.design.toml")).remove(0)
}

/// Processors, GiB of memory, GB of local disk, data disks and GB of cache. The size of the system disk is no fact of the
/// catalogue.
#[track_caller]
fn machine_facts(name: &str, expected: [u64; 5]) {
    for era in ["2016", "2016-article"] {
        let row = Catalog::builtin().vm(Era::new(era), name).expect("a row");
        let gib = |size: Option<Bytes>| size.map_or(0, |size| size.get() >> 30);
        let found = [
            u64::from(row.vcpus),
            gib(Some(row.memory)),
            gib(row.temporary_disk),
            u64::from(row.max_data_disks),
            gib(row.cache),
        ];
        assert_eq!(found, expected, "{era} {name}");
    }
}

const fn limits(iops: u64, megabytes: u64) -> Limits {
    Limits {
        iops: Some(Iops::new(iops)),
        bandwidth: Some(BytesPerSec::mb(megabytes)),
    }
}

/// The article's own column is kept as a fact that no limit is made of; the size page of its time is what counts.
#[track_caller]
fn article_cache_limit(name: &str, printed: (u64, u64), counts: (u64, u64)) {
    let row = |era| Catalog::builtin().vm(Era::new(era), name).expect("a row");
    let printed = limits(printed.0, printed.1);
    assert_eq!(row("2016-article").article_cache_limit, printed);
    assert_eq!(row("2016").cached, limits(counts.0, counts.1));
}

#[track_caller]
fn premium_disk(name: &str, gib: u64, iops: u64, megabytes: u64) {
    let row = Catalog::builtin()
        .disk(Era::new("2016"), name)
        .expect("a row");
    assert_eq!(row.size, Bytes::gib(gib));
    assert_eq!(row.limits, limits(iops, megabytes));
    let small = run(&one_disk(name), &[greedy("a", "read", "4KiB")]);
    small.iops(iops as f64, EXACT).bound_by("disk-iops");
    let large = run(&one_disk(name), &[greedy("a", "write", "256KiB")]);
    large
        .megabytes(megabytes as f64, EXACT)
        .bound_by("disk-bytes");
}
