//! Worked examples: machines, disks and caches together, stripes, and queue depth.

use super::support::*;

/// The cases.
pub const VECTORS: &[Vector] = &[
    ("cap-disk-1", || {
        let rates = ["1000/s", "4500/s", "4500/s"];
        let jobs = ["a", "b", "c"].into_iter().zip(rates);
        let jobs: Vec<_> = jobs
            .map(|(name, rate)| paced(name, "write", "4KiB", rate))
            .collect();
        let write = run(&disks(D8S, "E30", &["none"; 3]), &jobs);
        write.iops(1_500.0, EXACT).bound_by("disk-iops");
        write.each_iops(3, 500.0, EXACT);
    }),
    // Printed as 4,267 and twice 4,266, which is one too few.
    ("cap-vm-1", || {
        let jobs = ["a", "b", "c"].map(|name| paced(name, "write", "4KiB", "5000/s"));
        let write = run(&disks(D8S, "P30", &["none"; 3]), &jobs);
        write.iops(12_800.0, EXACT).bound_by("vm-uncached-iops");
        write.each_iops(3, 12_800.0 / 3.0, EXACT);
    }),
    // Writes complete in the cache and reach the disks later.
    ("cap-cached-2026", || {
        let jobs = ["a", "b", "c"].map(|name| half(name, "6000/s"));
        let both = run(&disks(D8S, "P30", &["read-write"; 3]), &jobs);
        both.iops(16e3, EXACT).bound_by("vm-cached-iops");
    }),
    ("cap-cached-2020", || {
        let jobs = ["a", "b", "c"].map(|name| half(name, "5000/s"));
        let both = run(&disks(D8S, "P30", &["read-write"; 3]), &jobs);
        both.iops(15e3, EXACT);
    }),
    ("cap-combined-1", || {
        let cachings = ["read-write", "read-write", "read-write", "none", "none"];
        let jobs = ["a", "b", "c", "d", "e"].map(|name| half(name, "5000/s"));
        let both = run(&disks(D8S, "P30", &cachings), &jobs);
        both.iops(25e3, EXACT);
    }),
    ("cap-ds1-p30", || {
        let design = stripe("Standard_DS1", "2016", "P30", 1);
        let read = run(&design, &[paced("a", "read", "4KiB", "4000/s")]);
        read.iops(3_200.0, EXACT).bound_by("vm-uncached-iops");
    }),
    ("cap-ds1-p10-mbps", || {
        // Few enough that their start, at the disk's pace, is short.
        let design = stripe("Standard_DS1", "2016", "P10", 1);
        let read = run(&design, &[deep("a", "read", "256KiB", 64)]);
        read.megabytes(32.0, EXACT).bound_by("vm-uncached-bytes");
    }),
    ("cap-ds4-p30-mbps", || {
        let design = stripe("Standard_DS4", "2016", "P30", 1);
        let read = run(&design, &[paced("a", "read", "256KiB", "250MB/s")]);
        read.megabytes(200.0, EXACT).bound_by("disk-bytes");
    }),
    ("stripe-2xp30", || {
        let two = stripe("Standard_DS14", "2016", "P30", 2);
        run(&two, &[greedy("a", "write", "4KiB")]).iops(10e3, ROUNDED);
        run(&two, &[greedy("a", "write", "64KiB")]).megabytes(400.0, ROUNDED);
    }),
    ("stripe-4xp30-ds13", || {
        let four = stripe("Standard_DS13", "2016", "P30", 4);
        run(&four, &[greedy("a", "read", "8KiB")])
            .iops(20e3, ROUNDED)
            .bound_by("disk-iops");
    }),
    ("stripe-10xp30-ds14-derived", || {
        let ten = stripe("Standard_DS14", "2016", "P30", 10);
        let write = run(&ten, &[greedy("a", "write", "8KiB")]);
        write
            .iops(50e3, ROUNDED)
            .latency_ms(20.5, ROUNDED)
            .bound_by("disk-iops");
    }),
    ("qd-1", || {
        let design = device("latency = { median = \"1ms\", p99 = \"1ms\" }");
        let read = run(&design, &[deep("a", "read", "4KiB", 5)]);
        read.iops(5e3, EXACT).latency_ms(1.0, EXACT);
    }),
    ("qd-stripe-idle", || {
        let four = stripe("Standard_DS14", "2016", "P30", 4);
        run(&four, &[deep("a", "read", "4KiB", 2)]).depth_of_disks("vm/a/", 2.0);
    }),
];

const D8S: &str = "Standard_D8s_v3";

/// Reads and writes in equal parts, so many a second.
fn half(name: &str, rate: &str) -> String {
    let job = paced(name, "read", "4KiB", rate);
    job.replace("\"read\"", "{ read = \"50%\", write = \"50%\" }")
}
