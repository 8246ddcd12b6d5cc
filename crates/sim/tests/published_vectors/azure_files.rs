//! Worked examples of the pages on shares: what is provisioned by size or bought, credits, and depth.

use fathom_units::Iops;

use super::support::*;

/// The cases.
pub const VECTORS: &[Vector] = &[
    ("files-v1-100", || {
        v1("100GiB", 3_100, 10_000, 24_840_000, 110);
    }),
    ("files-v1-500", || {
        v1("500GiB", 3_500, 10_000, 23_400_000, 150);
    }),
    ("files-v1-1024", || {
        v1("1024GiB", 4_024, 10_000, 21_513_600, 203);
    }),
    ("files-v1-5120", || {
        v1("5120GiB", 8_120, 15_360, 26_064_000, 613);
    }),
    // Printed with 102,400 and 227,548,800, of an older formula.
    ("files-v1-33792", || {
        v1("33792GiB", 36_792, 101_376, 232_502_400, 3_480);
    }),
    // Printed with 164,880,000, of an older cap.
    ("files-v1-51200", || {
        v1("51200GiB", 54_200, 102_400, 173_520_000, 5_220);
    }),
    ("files-v1-102400", || {
        v1("102400GiB", 102_400, 102_400, 0, 10_340);
    }),
    ("files-v2-500", || v2("hdd-v2", 500, 5_000, 16_200_000)),
    ("files-v2-1000", || v2("hdd-v2", 1_000, 5_000, 14_400_000)),
    ("files-v2-3000", || {
        v2("ssd-v2", 3_000, 10_000, 25_200_000);
        v2("hdd-v2", 3_000, 9_000, 21_600_000);
    }),
    ("files-v2-5000", || {
        v2("ssd-v2", 5_000, 15_000, 36_000_000);
        v2("hdd-v2", 5_000, 15_000, 36_000_000);
    }),
    ("files-v2-10000", || {
        v2("ssd-v2", 10_000, 30_000, 72_000_000);
        v2("hdd-v2", 10_000, 30_000, 72_000_000);
    }),
    ("files-v2-50000", || {
        v2("ssd-v2", 50_000, 102_400, 188_640_000);
        v2("hdd-v2", 50_000, 50_000, 0);
    }),
    ("files-v2-75000", || {
        v2("ssd-v2", 75_000, 102_400, 98_640_000);
    }),
    ("files-v2-102400", || v2("ssd-v2", 102_400, 102_400, 0)),
    // Depth = clients × files × threads. The last row is printed as 64.
    ("files-depth-table", || {
        let rows = [
            [1, 1, 1, 1],
            [1, 1, 2, 2],
            [1, 2, 2, 4],
            [2, 2, 2, 8],
            [2, 2, 4, 16],
            [2, 4, 4, 32],
            [1, 8, 8, 64],
            [4, 4, 2, 32],
        ];
        let design = device("latency = { median = \"1ms\", p99 = \"1ms\" }");
        for [clients, files, threads, depth] in rows {
            let one = |index: u32| {
                let read = job("a", "read", "4KiB", &format!("workers = {threads}"));
                read.replace("name = \"a\"", &format!("name = \"job{index}\""))
            };
            let jobs: Vec<_> = (0..clients * files).map(one).collect();
            let read = run_for("1s", &design, &jobs);
            read.iops(f64::from(depth) * 1e3, EXACT);
        }
    }),
    // 3 ms to create a file, four writes of 2 ms, and 3 ms to close it.
    ("files-thread-example", || {
        let design = device("latency = { median = \"14ms\", p99 = \"14ms\" }");
        let seconds = |depth: u32| {
            let job = job(
                "a",
                "write",
                "16KiB",
                &format!("depth = {depth}\nmeasure = {{ ios = 10000 }}"),
            );
            run(&design, &[job]).0.measured_ns as f64 / 1e9
        };
        within("seconds", seconds(1), 140.0, EXACT);
        within("seconds", seconds(8), 17.5, EXACT);
    }),
    // Printed as 10 GiB/s and 38 MiB/s.
    ("files-throughput-example", || {
        let design = device("iops = 10000\nlatency = \"none\"");
        let read = |block| run_for("1s", &design, &[deep("a", "read", block, 32)]);
        read("1MiB").mebibytes(9.766 * 1_024.0, EXACT);
        read("4KiB").mebibytes(39.06, EXACT);
    }),
];

/// A share sold by its size: I/Os a second, bursting and not, credits of a full bucket, MiB/s.
#[track_caller]
fn v1(size: &str, iops: u64, burst: u64, credits: u64, mibps: u64) {
    share(
        &format!("model = \"ssd-v1\"\nsize = \"{size}\""),
        iops,
        burst,
        credits,
    );
    let design = read_design(&design(&format!("model = \"ssd-v1\"\nsize = \"{size}\"")));
    let bandwidth = design.smb[0].limits.bandwidth.expect("a limit");
    assert_eq!(bandwidth.get() >> 20, mibps, "MiB/s of {size}");
}

/// A share whose I/Os a second are bought.
#[track_caller]
fn v2(model: &str, iops: u64, burst: u64, credits: u64) {
    share(
        &format!("model = \"{model}\"\nsize = \"1TiB\"\niops = {iops}"),
        iops,
        burst,
        credits,
    );
}

fn design(keys: &str) -> String {
    format!("[[smb]]\nname = \"share\"\ndrive = \"z:\"\n{keys}\n")
}

#[track_caller]
fn share(keys: &str, iops: u64, burst: u64, credits: u64) {
    let design = read_design(&design(keys));
    let share = &design.smb[0];
    let base = share.limits.iops.expect("a limit").get();
    let most = share.burst_iops.map_or(base, Iops::get);
    assert_eq!((base, most), (iops, burst), "{keys}");
    let bucket = (most - base) * u64::from(share.bucket_seconds);
    assert_eq!(bucket, credits, "credits of {keys}");
}
