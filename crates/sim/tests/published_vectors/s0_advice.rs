//! Premium storage, 2016: caching, striping, queue depth and what they are good for (S0-34 to S0-45, S0-60, S0-61).
//!
//! Advice is no figure. Where following it shows in a prediction, the prediction with it beats the one without.

use fathom_catalog::{Catalog, Era};
use fathom_model::HostCaching;

use super::support::*;

/// The cases.
pub const VECTORS: &[Vector] = &[
    ("S0-34", || {
        let rows = Catalog::builtin().vms().iter();
        let rows: Vec<_> = rows
            .filter(|row| row.era == Era::new("2016") && row.premium)
            .collect();
        let twice = rows
            .iter()
            .filter(|row| row.max_data_disks == 2 * row.vcpus);
        // Typically: for more sizes than not.
        assert!(2 * twice.count() > rows.len());
    }),
    ("S0-35", || {
        let system = volume("a", "P30", 1, "none").replace("caching = \"none\"", "role = \"os\"");
        let design = read_design(&machine("Standard_DS14", "2016", &[system]));
        assert_eq!(design.vms[0].volumes[0].caching, HostCaching::ReadWrite);
    }),
    // The article's text and its table name different defaults for data disks, so a design must say which it means.
    ("S0-36", || {
        let silent = one_disk("P30").replace("caching = \"none\"", "");
        assert!(complaints(&silent).contains("`caching`"));
    }),
    ("S0-37", || {
        let design = |caching| machine("Standard_GS5", "2016", &[volume("a", "P30", 32, caching)]);
        let bytes =
            |way, caching| run(&design(caching), &[greedy("a", way, "64KiB")]).total_bytes();
        // Writes that are cached count against both budgets; reads that are cached need no disk.
        assert!(bytes("write", "none") > 1.2 * bytes("write", "read-only"));
        let reads = |caching| run(&design(caching), &[greedy("a", "read", "4KiB")]).total_iops();
        assert!(reads("read-only") > 1.9 * reads("none"));
    }),
    ("S0-38", || {
        let columns = |columns: u32| {
            let design = stripe("Standard_GS5", "2016", "P30", 16);
            let design = design.replace("caching", &format!("columns = {columns}\ncaching"));
            run(&design, &[greedy("a", "read", "8KiB")]).total_iops()
        };
        within("IOPS of 16 columns", columns(16), 80e3, ROUNDED);
        within("IOPS of 8 columns", columns(8), 40e3, ROUNDED);
    }),
    ("S0-39", || {
        let stripes = |unit: &str, block| {
            let design = stripe("Standard_DS14", "2016", "P10", 4);
            let unit = format!("stripe_unit = \"{unit}\"\ncaching");
            run(
                &design.replace("caching", &unit),
                &[deep("a", "read", block, 128)],
            )
        };
        // Large I/Os on small units need as many disk I/Os as units, and meet the disks' IOPS before their throughput.
        stripes("256KiB", "256KiB").megabytes(400.0, MEASURED);
        stripes("64KiB", "256KiB")
            .bound_by("disk-iops")
            .iops(500.0, EXACT);
        // For small ones it makes no difference which disk serves them.
        stripes("64KiB", "8KiB").iops(2_000.0, MEASURED);
        stripes("256KiB", "8KiB").iops(2_000.0, MEASURED);
    }),
    ("S0-41", || {
        let read = run(&four(), &[deep("a", "read", "256KiB", 8)]);
        read.parts_each("vm/a/disk1", 1.0)
            .parts_each("vm/a/disk4", 1.0);
    }),
    ("S0-42", || {
        let design = one_disk("P30").replace("latency = \"none\"\n", "");
        let iops = |depth| run(&design, &[deep("a", "read", "4KiB", depth)]).total_iops();
        assert!(iops(1) < 0.1 * 5e3);
        assert!((0.5 * 5e3..5e3).contains(&iops(8)));
        within("IOPS at a depth of 16", iops(16), 5e3, MEASURED);
    }),
    ("S0-43", || {
        let read = run(&one_ms(), &[deep("a", "read", "4KiB", 5)]);
        read.iops(5e3, EXACT).latency_ms(1.0, EXACT);
    }),
    ("S0-44", || {
        let read = run(&four(), &[deep("a", "read", "4KiB", 2)]);
        read.depth_of_disks("vm/a/", 2.0);
    }),
    // One stripe unit after another, so that every disk has its share at any time.
    ("S0-45", || {
        let striped = |count| {
            let quick = stripe("Standard_GS5", "2016", "P30", count);
            quick.replace(
                "latency = \"none\"",
                "latency = { median = \"1ms\", p99 = \"1ms\" }",
            )
        };
        let in_turn = |depth| {
            let more = format!("depth = {depth}\naccess = \"sequential\"");
            job("a", "read", "64KiB", &more)
        };
        run(&striped(1), &[in_turn(2)]).iops(2e3, EXACT);
        run(&striped(4), &[in_turn(8)]).iops(8e3, EXACT);
    }),
    ("S0-60", || {
        let at = |rate| run(&one_disk("P30"), &[paced("a", "read", "4KiB", rate)]);
        let (below, above) = (at("4000/s"), at("6000/s"));
        below.iops(4_000.0, EXACT);
        above
            .iops(5_000.0, EXACT)
            .megabytes(5_000.0 * 0.004_096, EXACT);
        assert!(above.mean_ms() > 100.0 * below.mean_ms());
    }),
    ("S0-61", || {
        let read = run(&one_ms(), &[deep("a", "read", "4KiB", 5)]);
        let latency = &read.all().latency_ns;
        for percentile in [latency.p50, latency.p90, latency.p99] {
            within("a percentile in ms", percentile as f64 / 1e6, 1.0, EXACT);
        }
    }),
];

fn four() -> String {
    stripe("Standard_DS14", "2016", "P30", 4)
}

fn one_ms() -> String {
    device("latency = { median = \"1ms\", p99 = \"1ms\" }")
}
