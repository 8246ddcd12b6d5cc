//! Bursts, write-back, temporary disks, arrays, NFS volumes and shares: each with the number that its rule gives.

use fathom_record::StageResult;
use fathom_units::{Bytes, Iops, Nanos, Percent};
use fathom_workload::{
    Access, BlockSizes, Coverage, Direction, DirectionRates, FileOperation, Job, Limits, Mix,
    OpenSync, Pacing, Poisson, Stage, SyncPolicy, Workload,
};

use super::{
    bound_by, bytes_per_sec, design, iops, iops_of, job, mean_latency, paced, run, target, within,
    workload,
};

const GIB: u64 = 1 << 30;
const MIB: f64 = 1_048_576.0;

/// A job of random blocks over `gib` GiB of one file for `seconds`.
fn random(directory: &str, mix: Mix, kib: u64, depth: u32, (gib, seconds): (u64, u64)) -> Job {
    Job {
        targets: vec![target(&format!("{directory}f"), Bytes::gib(gib))],
        access: Access::Random {
            coverage: Coverage::Independent,
            run: 1,
        },
        limits: Limits {
            runtime: Some(Nanos::from_secs(seconds)),
            time_based: true,
            ..Limits::default()
        },
        block: BlockSizes::uniform(Bytes::kib(kib)),
        ..job("j", directory, mix, Bytes::kib(kib), depth)
    }
}

#[track_caller]
fn result(text: &str, jobs: Vec<Job>) -> StageResult {
    run(&workload(jobs), &design(text)).results.remove(0)
}

fn vm(size: &str, lines: &str, volumes: &[(&str, &str, &str)]) -> String {
    let volumes = volumes.iter().map(|(name, disks, lines)| {
        format!(
            "[[vm.volume]]\nname = \"{name}\"\nmount = \"/{name}\"\ndisks = {disks}\nlatency = \"none\"\n{lines}\n"
        )
    });
    let volumes: String = volumes.collect();
    format!("[[vm]]\nname = \"vm\"\nsize = \"{size}\"\n{lines}\n{volumes}")
}

/// P4: 120 IOPS, bursts to 3,500 for 30 minutes of a full bucket; then what it earns is all it has.
#[test]
fn a_p4_bursts_for_half_an_hour_and_then_has_its_base() {
    let text = |lines: &str| {
        let lines = format!("caching = \"none\"\n{lines}");
        vm("Standard_D8s_v3", "", &[("p", "{ type = \"P4\" }", &lines)])
    };
    let reads = |seconds| vec![random("/p/", Mix::READ, 4, 32, (8, seconds))];
    let after = result(&text(""), reads(3600));
    within(
        iops(&after),
        (3500.0 * 1800.0 + 120.0 * 1800.0) / 3600.0,
        0.0001,
    );
    within(
        iops(&result(&text("credits = \"empty\""), reads(100))),
        120.0,
        0.001,
    );
    within(
        iops(&result(&text("burst = \"off\""), reads(100))),
        120.0,
        0.001,
    );
    // 1 % of 6,084,000 I/Os lasts 18 s.
    let some = result(&text("credits = \"1%\""), reads(36));
    within(iops(&some), f64::midpoint(3500.0, 120.0), 0.01);
}

/// A stage lasts until its time is over, also where its last I/O came long before: what a bucket earns meanwhile is there for
/// the next stage.
#[test]
fn a_stage_begins_after_the_time_of_the_one_before() {
    let lines = "caching = \"none\"\ncredits = \"empty\"";
    let text = vm("Standard_D8s_v3", "", &[("p", "{ type = \"P4\" }", lines)]);
    let mut first = random("/p/", Mix::READ, 4, 1, (8, 0));
    first.arrival = paced(1);
    first.limits.runtime = Some(Nanos::from_millis(1900));
    let mut both = workload(vec![first]);
    let second = workload(vec![random("/p/", Mix::READ, 4, 32, (8, 2))]);
    both.stages.extend(second.stages);
    let results = run(&both, &design(&text)).results;
    assert_eq!(results[0].measured, Nanos::from_millis(1900));
    // 120 a second for 1.9 s but for two I/Os, and for 2 s; 32 may still be under way at the end.
    let ios = results[1].workers[0].ios();
    assert!((466 - 5..=466 + 40).contains(&ios), "{ios}");
}

#[test]
fn on_demand_has_no_bucket() {
    let text = |burst: &str| {
        let lines = format!("caching = \"none\"\nburst = \"{burst}\"");
        vm(
            "Standard_D64s_v3",
            "",
            &[("p", "{ type = \"P30\" }", &lines)],
        )
    };
    let reads = vec![random("/p/", Mix::READ, 4, 64, (8, 60))];
    within(
        iops(&result(&text("on-demand"), reads.clone())),
        30_000.0,
        0.001,
    );
    within(iops(&result(&text("off"), reads)), 5_000.0, 0.001);
}

/// D8s_v3: 12,800 IOPS past the cache, 16,000 while credits last; 16,000 through it. Cached and uncached add up.
#[test]
fn machines_burst_and_their_two_budgets_add_up() {
    let disks = "{ type = \"P30\", count = 4 }";
    let text = |lines: &str| {
        let cached = ("c", disks, "caching = \"read-only\"\ncache = \"warm\"");
        vm(
            "Standard_D8s_v3",
            lines,
            &[("u", disks, "caching = \"none\""), cached],
        )
    };
    let jobs = || {
        let uncached = random("/u/", Mix::READ, 4, 64, (8, 30));
        vec![uncached, random("/c/", Mix::READ, 4, 64, (8, 30))]
    };
    let steady = result(&text("burst = \"off\""), jobs());
    within(iops(&steady), 28_800.0, 0.001);
    within(iops_of(&steady, 1), 16_000.0, 0.001);
    let bursting = result(&text(""), jobs());
    within(iops_of(&bursting, 0), 16_000.0, 0.001);
}

const WRITE_BACK: &str = "caching = \"read-write\"";

/// Writes complete in the cache at its budget, whatever the disk can do; the disk gets them later.
#[test]
fn write_back_takes_writes_at_the_cached_budget_until_its_share_is_dirty() {
    let disk = ("w", "{ type = \"P30\" }", WRITE_BACK);
    let text = vm("Standard_DS1", "era = \"2016\"\nburst = \"off\"", &[disk]);
    // 4,000 IOPS through the cache, a disk of 5,000 behind 3,200 past it: 800 a second stay dirty.
    let short = result(&text, vec![random("/w/", Mix::WRITE, 4, 32, (40, 60))]);
    within(iops(&short), 4000.0, 0.002);
    assert!(bound_by(&short, "vm-cached-iops") > 0.99);
    // 43 GiB of cache have 704,512 lines, of which a fifth may be dirty: reached in 176 s; then writes go through.
    let long = result(&text, vec![random("/w/", Mix::WRITE, 4, 32, (40, 400))]);
    let held = iops(&long);
    assert!((3200.0..3700.0).contains(&held), "{held}");
    // The background writes are at the disk, as many as were written but for what is still dirty.
    let at_disk = short.storage["vm/w/disk1"].ios as f64;
    assert!(at_disk > 3000.0 * 50.0, "{at_disk}");
}

#[test]
fn writes_that_must_be_durable_go_through() {
    let disk = (
        "w",
        "{ type = \"P10\" }",
        "caching = \"read-write\"\nburst = \"off\"",
    );
    let text = vm("Standard_D8s_v3", "burst = \"off\"", &[disk]);
    let durable = Job {
        sync: SyncPolicy {
            open: OpenSync::Dsync,
            ..SyncPolicy::default()
        },
        ..random("/w/", Mix::WRITE, 4, 16, (8, 30))
    };
    within(iops(&result(&text, vec![durable])), 500.0, 0.001);
}

/// `fsync` after every write waits for the disk: 500 a second, however fast the cache is.
#[test]
fn fsync_waits_for_the_disk_where_the_cache_keeps_writes() {
    let text = |caching: &str| {
        let lines = format!("caching = \"{caching}\"\nburst = \"off\"");
        vm(
            "Standard_D8s_v3",
            "burst = \"off\"",
            &[("w", "{ type = \"P10\" }", &lines)],
        )
    };
    let synced = |every| {
        vec![Job {
            sync: SyncPolicy {
                fsync_every: every,
                ..SyncPolicy::default()
            },
            ..random("/w/", Mix::WRITE, 4, 1, (8, 10))
        }]
    };
    let every = result(&text("read-write"), synced(1));
    within(iops(&every), 500.0, 0.002);
    let syncs = every.workers[0].sync.as_ref().unwrap().latency.count();
    assert_eq!(syncs, every.workers[0].ios());
    // Without a cache that keeps writes, they are durable when they complete.
    let through = result(&text("none"), synced(1));
    let sync = through.workers[0].sync.as_ref().unwrap();
    assert_eq!(sync.latency.max(), 0);
    let eighth = result(&text("read-write"), synced(8));
    assert!(iops(&eighth) > 490.0, "{}", iops(&eighth));
}

/// A note stands only where something is left out.
#[test]
fn what_is_said_of_fsync_is_said_of_the_end_alone() {
    let design = design(&vm(
        "Standard_D8s_v3",
        "",
        &[("w", "{ type = \"P10\" }", "caching = \"none\"")],
    ));
    let noted = |sync| {
        let job = Job {
            sync,
            ..random("/w/", Mix::WRITE, 4, 1, (1, 1))
        };
        let notes = run(&workload(vec![job]), &design).notes;
        notes.iter().any(|note| note.contains("fsync"))
    };
    let every = SyncPolicy {
        fsync_every: 1,
        ..SyncPolicy::default()
    };
    assert!(!noted(every));
    let at_end = SyncPolicy {
        at_end: true,
        ..SyncPolicy::default()
    };
    assert!(noted(at_end));
}

/// What was written is read from the cache.
#[test]
fn what_was_written_is_read_from_the_cache() {
    let disk = ("w", "{ type = \"P10\" }", WRITE_BACK);
    let text = vm("Standard_D8s_v3", "burst = \"off\"", &[disk]);
    let pass = |name: &str, mix| Stage {
        name: name.to_owned(),
        ..workload(vec![Job {
            limits: Limits::default(),
            access: Access::Random {
                coverage: Coverage::EachBlockOnce,
                run: 1,
            },
            targets: vec![target("/w/f", Bytes::mib(64))],
            ..random("/w/", mix, 4, 32, (8, 1))
        }])
        .stages
        .remove(0)
    };
    let stages = vec![pass("write", Mix::WRITE), pass("read", Mix::READ)];
    let results = run(&Workload { stages, seed: 5 }, &design(&text)).results;
    within(iops(&results[0]), 16_000.0, 0.01);
    within(iops(&results[1]), 16_000.0, 0.01);
    assert_eq!(results[1].storage["vm/w"].hit_share, Some(1.0));
}

/// The temporary disk shares the budget of the cache.
#[test]
fn the_temporary_disk_shares_the_cached_budget() {
    let disk = (
        "c",
        "{ type = \"P30\", count = 4 }",
        "caching = \"read-only\"\ncache = \"warm\"",
    );
    let text = vm("Standard_D8s_v3", "burst = \"off\"", &[disk])
        + "[[vm.temp]]\nname = \"t\"\nmount = \"/t\"\n";
    let both = vec![
        random("/c/", Mix::READ, 4, 32, (8, 20)),
        random("/t/", Mix::WRITE, 4, 32, (8, 20)),
    ];
    within(iops(&result(&text, both)), 16_000.0, 0.002);
}

/// Six disks of 150 IOPS: reads have all of them; a small write costs four I/Os of two disks.
#[test]
fn raid_5_pays_four_ios_for_a_small_write() {
    let text = "[[device]]\nname = \"r\"\nmount = \"/r\"\nsize = \"1TiB\"\ntype = \"10k\"\ndisks = 6\nraid = \"5\"\nlatency = \"none\"\n";
    let reads = result(text, vec![random("/r/", Mix::READ, 4, 256, (64, 60))]);
    within(iops(&reads), 900.0, 0.02);
    let writes = result(text, vec![random("/r/", Mix::WRITE, 4, 256, (64, 60))]);
    within(iops(&writes), 225.0, 0.02);
}

fn nfs(lines: &str) -> String {
    format!(
        "[[vm]]\nname = \"a\"\nsize = \"Standard_D32s_v3\"\n[[vm]]\nname = \"b\"\nsize = \"Standard_D32s_v3\"\n\
         [[nfs]]\nname = \"v\"\nmount = \"/v\"\nlevel = \"premium\"\nquota = \"17TiB\"\non = [\"a\", \"b\"]\nlatency = \"none\"\n{lines}\n"
    )
}

fn from(host: &str, job: Job) -> Job {
    Job {
        host: Some(host.to_owned()),
        name: host.to_owned(),
        ..job
    }
}

/// A client does slots ÷ latency; two do twice that; more connections have more slots.
#[test]
fn slots_bound_what_a_client_does() {
    let reads = |host| from(host, random("/v/", Mix::READ, 4, 512, (8, 10)));
    let slow = "rtt = \"10ms\"\nslots = 128";
    let one = result(&nfs(slow), vec![reads("a")]);
    within(iops(&one), 12_800.0, 0.002);
    assert!(bound_by(&one, "connection-slots") > 0.99);
    let two = result(&nfs(slow), vec![reads("a"), reads("b")]);
    within(iops(&two), 25_600.0, 0.002);
    let connections = format!("{slow}\nconnections = 2");
    within(
        iops(&result(&nfs(&connections), vec![reads("a")])),
        25_600.0,
        0.002,
    );
}

/// 17 TiB at 64 MiB/s each are 1,088 MiB/s; one connection carries its window once a round trip.
#[test]
fn windows_quotas_and_split_calls_bound_bytes() {
    let reads = |kib| vec![from("a", random("/v/", Mix::READ, kib, 64, (8, 10)))];
    let quota = result(&nfs("rtt = \"0.5ms\""), reads(64));
    within(bytes_per_sec(&quota), 1088.0 * MIB, 0.002);
    assert!(bound_by(&quota, "volume-bytes") > 0.9);
    let window = nfs("rtt = \"2ms\"\nwindow = \"1MiB\"");
    within(
        bytes_per_sec(&result(&window, reads(64))),
        500.0 * MIB,
        0.002,
    );
    // I/Os of 256 KiB are four calls of 64 KiB each.
    let split = result(&nfs("rtt = \"0.5ms\"\nrsize = \"64KiB\""), reads(256));
    within(bytes_per_sec(&split), 1088.0 * MIB, 0.002);
    assert_eq!(split.storage["v"].bytes / split.storage["v"].ios, 64 << 10);
}

/// 16,000 Mbit/s of a D32s_v3 are 2 × 10^9 bytes: writes are held to them, reads are not.
#[test]
fn egress_is_metered_on_writes_alone() {
    let text = nfs("rtt = \"0.1ms\"\nconnections = 8").replace("17TiB", "70TiB");
    let job = |mix| vec![from("a", random("/v/", mix, 64, 512, (8, 5)))];
    let writes = result(&text, job(Mix::WRITE));
    within(bytes_per_sec(&writes), 2e9, 0.002);
    assert!(bound_by(&writes, "vm-network-bytes") > 0.9);
    within(
        bytes_per_sec(&result(&text, job(Mix::READ))),
        4480.0 * MIB,
        0.002,
    );
}

fn share(lines: &str) -> String {
    format!(
        "[[vm]]\nname = \"a\"\nsize = \"Standard_D32s_v3\"\n[[smb]]\nname = \"s\"\nmount = \"/s\"\nmodel = \"ssd-v1\"\n\
         size = \"100TiB\"\non = [\"a\"]\nrtt = \"0.2ms\"\nlatency = \"none\"\n{lines}\n"
    )
}

/// Eight threads on each of ten files.
fn ten_files(mix: Mix, kib: u64) -> Vec<Job> {
    let jobs = (0..10).map(|file| Job {
        name: format!("f{file}"),
        targets: vec![target(&format!("/s/f{file}"), Bytes::new(2 * GIB))],
        workers: 8,
        ..random("/s/", mix, kib, 8, (2, 4))
    });
    jobs.collect()
}

/// Four channels: up to 3 times the reads and 4 times the writes of one, for several threads and files.
#[test]
fn channels_gain_what_is_published() {
    let gain = |mix, kib| {
        let one = result(&share("channels = 1"), ten_files(mix, kib));
        let four = result(&share("channels = 4"), ten_files(mix, kib));
        assert!(bound_by(&one, "channel-iops") + bound_by(&one, "channel-bytes") > 0.9);
        (
            bytes_per_sec(&one),
            bytes_per_sec(&four) / bytes_per_sec(&one),
        )
    };
    let (one, times) = gain(Mix::READ, 4);
    within(one, 20_000.0 * 4096.0, 0.005);
    within(times, 3.0, 0.01);
    within(gain(Mix::WRITE, 4).1, 4.0, 0.02);
    within(gain(Mix::READ, 64).1, 3.0, 0.01);
    within(gain(Mix::WRITE, 64).1, 4.0, 0.02);
}

/// A single file has 8,000 IOPS; small I/O of several threads, and a single thread, lose a tenth to several channels.
#[test]
fn channels_cost_what_is_published() {
    let file = |workers, depth| {
        let job = Job {
            workers,
            ..random("/s/", Mix::READ, 4, depth, (2, 10))
        };
        vec![job]
    };
    let both = |jobs: Vec<Job>| {
        let one = result(&share("channels = 1"), jobs.clone());
        (one, result(&share("channels = 4"), jobs))
    };
    let (one, four) = both(file(8, 8));
    within(iops(&one), 8_000.0, 0.002);
    within(iops(&four), 7_200.0, 0.002);
    // One I/O at a time: the round trip is a ninth longer.
    let (one, four) = both(file(1, 1));
    within(mean_latency(&one), 200_000.0, 0.001);
    within(iops(&four) / iops(&one), 0.9, 0.001);
}

/// 100 GiB: 3,100 IOPS, bursts to 10,000 for an hour of a full bucket.
#[test]
fn shares_burst_in_ios_alone() {
    let text = |lines: &str| share(lines).replace("100TiB", "100GiB");
    let reads = |kib, seconds| {
        let job = |name: &str| Job {
            name: name.to_owned(),
            targets: vec![target(&format!("/s/{name}"), Bytes::gib(8))],
            ..random("/s/", Mix::READ, kib, 64, (8, seconds))
        };
        vec![job("x"), job("y")]
    };
    within(iops(&result(&text(""), reads(4, 60))), 10_000.0, 0.001);
    within(
        iops(&result(&text("credits = \"empty\""), reads(4, 60))),
        3_100.0,
        0.001,
    );
    let half = result(&text("credits = \"1%\""), reads(4, 72));
    // A hundredth of 24,840,000 I/Os lasts 36 s.
    within(iops(&half), f64::midpoint(10_000.0, 3_100.0), 0.001);
    within(
        bytes_per_sec(&result(&text(""), reads(64, 10))),
        110.0 * MIB,
        0.002,
    );
}

fn operations(operation: FileOperation, workers: u32) -> Vec<Job> {
    let mut job = Job {
        workers,
        ..random("/s/", Mix::READ, 4, 1, (1, 10))
    };
    job.features.operation = Some(operation);
    vec![job]
}

/// A client's operations on names are bound by their latency, and by 12,000 a second, or 35,000 with the cache.
#[test]
fn metadata_operations_have_limits_of_their_own() {
    let cache = |on: bool| share(&format!("metadata_cache = {on}"));
    let slow = |on: bool| cache(on).replace("0.2ms", "8ms");
    let rate = |text: &str, operation, workers| iops(&result(text, operations(operation, workers)));
    let delete = FileOperation::Delete;
    let (without, with) = (
        rate(&slow(false), delete, 16),
        rate(&slow(true), delete, 16),
    );
    within(without, 2_000.0, 0.001);
    within(with / without, 1.6, 0.001);
    // A file that is created is closed: two operations.
    within(rate(&cache(false), delete, 64), 12_000.0, 0.001);
    within(
        rate(&cache(false), FileOperation::Create, 64),
        6_000.0,
        0.01,
    );
    within(rate(&cache(true), delete, 64), 35_000.0, 0.001);
    let limited = result(&cache(false), operations(delete, 64));
    assert!(bound_by(&limited, "metadata-iops") > 0.99);
}

#[test]
fn paced_io_keeps_credits() {
    let lines = "caching = \"none\"";
    let text = vm("Standard_D8s_v3", "", &[("p", "{ type = \"P20\" }", lines)]);
    let slow = Job {
        arrival: paced(2300),
        ..random("/p/", Mix::READ, 4, 32, (8, 100))
    };
    let result = result(&text, vec![slow]);
    within(iops(&result), 2300.0, 0.001);
}

/// A job whose directions have rates of their own is one stream at their sum, mixed as they are, whatever mix is drawn where
/// they are behind.
#[test]
fn rates_by_direction_are_predicted_in_their_ratio() {
    let mostly_reads = Mix::reads(Percent::whole(90).unwrap());
    let mut job = random("/p/", mostly_reads, 4, 8, (30, 30));
    job.arrival = paced(400);
    job.features.rates = Some(DirectionRates {
        rates: [Some(100), Some(300), None].map(|rate| rate.map(|it| Pacing::Iops(Iops::new(it)))),
        poisson: Poisson::Fixed,
    });
    let text = vm(
        "Standard_D8s_v3",
        "",
        &[("p", "{ type = \"P30\" }", "caching = \"none\"")],
    );
    let result = result(&text, vec![job]);
    let ios = |way: Direction| {
        let stats = result.workers[0].directions[way as usize].as_ref();
        stats.map_or(0, fathom_record::OpStats::ios) as f64
    };
    within(ios(Direction::Read) / 30.0, 100.0, 0.05);
    within(ios(Direction::Write) / 30.0, 300.0, 0.05);
}
