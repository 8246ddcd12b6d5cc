//! Worked examples of the pages on NetApp Files: bandwidth by quota, pools, Little's law, and slots of NFS.

use fathom_catalog::Catalog;

use super::s2::{nfs_limit_mibps, volume_of};
use super::support::*;

/// The cases.
pub const VECTORS: &[Vector] = &[
    ("anf-auto-1", || quota("premium", "2TiB", 128.0)),
    ("anf-auto-2", || quota("premium", "100GiB", 6.25)),
    ("anf-auto-3", || quota("ultra", "1TiB", 128.0)),
    ("anf-quota-4500", || quota("premium", "70.3125TiB", 4_500.0)),
    ("anf-manual-pool", || {
        assert_eq!(pool_mibps("ultra", 10), 1_280);
        let sold = [
            ("4TiB", 704),
            ("512GiB", 256),
            ("1TiB", 64),
            ("4.5TiB", 256),
        ];
        assert_eq!(
            sold.map(|(_, mibps)| u64::from(mibps)).iter().sum::<u64>(),
            1_280
        );
        for (quota, mibps) in sold {
            assigned("ultra", quota, mibps);
        }
    }),
    // A pool's 128 MiB/s at least come on top of what is bought.
    ("anf-manual-pool-flexible", || {
        let sold = [
            ("4TiB", 704),
            ("512GiB", 256),
            ("1TiB", 64),
            ("4.5TiB", 384),
        ];
        for (quota, mibps) in sold {
            assigned("flexible", quota, mibps);
        }
    }),
    ("anf-flexible-max", || {
        let row = Catalog::builtin()
            .service_level("flexible")
            .expect("a level");
        assert_eq!(row.pool_bandwidth.map(|rate| rate.get() >> 20), Some(128));
        let most = row.pool_max_bandwidth_per_tib.expect("a rate").get() >> 20;
        let pools = [1, 2, 10, 50, 100, 1_024].map(|tib| tib * most);
        assert_eq!(pools, [640, 1_280, 6_400, 32_000, 64_000, 655_360]);
    }),
    ("anf-elastic", || {
        let pools = [1, 4, 8, 16, 32, 128].map(|tib| pool_mibps("elastic", tib));
        assert_eq!(pools, [32, 128, 256, 512, 1_024, 4_096]);
    }),
    ("anf-little-1", || little("8KiB", "500us", 55, 110e3)),
    ("anf-little-2", || little("8KiB", "1ms", 155, 155e3)),
    ("anf-little-table", || {
        little("8KiB", "500us", 55, 110e3);
        little("8KiB", "2ms", 800, 400e3);
        little("256KiB", "2ms", 32, 16e3);
        little("256KiB", "4ms", 128, 32e3);
    }),
    ("anf-nfs41-slots", || {
        for (session, connections, at_once) in
            [(64, 1, 64), (64, 2, 64), (180, 1, 128), (180, 2, 180)]
        {
            let volume = volume_of("ultra", "100TiB");
            let keys =
                format!("version = \"4.1\"\nslots = {session}\nconnections = {connections}\n");
            let volume = format!("{volume}{keys}");
            // One round trip of 1 ms each: as many thousands a second as are under way at once.
            let read = "host = \"client\"\ndepth = 400";
            let read = run(&volume, &[job("n", "read", "4KiB", read)]);
            read.iops(f64::from(at_once) * 1e3, EXACT);
        }
    }),
];

#[track_caller]
fn quota(level: &str, quota: &str, mibps: f64) {
    within(
        "MiB/s",
        nfs_limit_mibps(&volume_of(level, quota)),
        mibps,
        1e-9,
    );
}

/// A volume of a pool of 10 TiB does what it is assigned, whatever its own quota.
#[track_caller]
fn assigned(level: &str, quota: &str, mibps: u32) {
    let keys = format!("qos = \"manual\"\npool = \"10TiB\"\nbandwidth = \"{mibps}MiB/s\"\n");
    let volume = format!("{}{keys}", volume_of(level, quota));
    let read = job("n", "read", "64KiB", "host = \"client\"\ndepth = 128");
    run(&volume, &[read]).mebibytes(f64::from(mibps), EXACT);
}

/// MiB/s of a pool of so many TiB.
#[track_caller]
fn pool_mibps(level: &str, tib: u64) -> u64 {
    let row = Catalog::builtin().service_level(level).expect("a level");
    (row.bandwidth_per_tib.expect("a rate").get() >> 20) * tib
}

/// So many outstanding on storage of this latency do so many a second.
#[track_caller]
fn little(block: &str, latency: &str, depth: u32, iops: f64) {
    let design = device(&format!(
        "latency = {{ median = \"{latency}\", p99 = \"{latency}\" }}"
    ));
    run_for("1s", &design, &[deep("a", "read", block, depth)]).iops(iops, EXACT);
}
