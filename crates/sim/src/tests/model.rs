//! Identities that any correct model obeys, and the composition of limits.

use fathom_record::{EndReason, Event, EventSink, Ignore, stage_record};
use fathom_stats::Histogram;
use fathom_units::{Bytes, Iops, Nanos};
use fathom_workload::{
    Access, Arrival, Backend, BlockSizes, Coverage, Job, Limits, Mix, Pacing, RateStep, RateSteps,
    Stage, Workload,
};

use super::{
    bound_by, design, iops, iops_of, job, mean_latency, paced, run, target, within, workload,
};
use crate::predict;

/// Machines of the current catalogue with one uncached disk on `/a` and one on `/b`, both without media latency.
fn two_disks(size: &str, a: &str, b: &str) -> String {
    let volume = |name: &str, disk: &str| {
        format!(
            "[[vm.volume]]\nname = \"{name}\"\nmount = \"/{name}\"\n\
             disks = {{ type = \"{disk}\" }}\ncaching = \"none\"\nburst = \"off\"\nlatency = \"none\"\n"
        )
    };
    format!(
        "[[vm]]\nname = \"vm\"\nsize = \"{size}\"\n{}{}",
        volume("a", a),
        volume("b", b)
    )
}

fn device(lines: &str) -> String {
    format!("[[device]]\nname = \"d\"\nmount = \"/d\"\nsize = \"1TiB\"\n{lines}\n")
}

fn small_reads(name: &str, directory: &str, depth: u32) -> Job {
    Job {
        targets: vec![target(&format!("{directory}/{name}"), Bytes::gib(8))],
        limits: Limits {
            runtime: Some(Nanos::from_secs(20)),
            ..Limits::default()
        },
        ..job(name, directory, Mix::READ, Bytes::kib(4), depth)
    }
}

#[test]
fn limits_in_tandem_do_not_eat_each_others_share() {
    #[track_caller]
    fn check(machine: &str, disks: [&str; 2], depths: [u32; 2], expected: [f64; 2]) {
        let design = design(&two_disks(machine, disks[0], disks[1]));
        let jobs = vec![
            small_reads("x", "/a", depths[0]),
            small_reads("y", "/b", depths[1]),
        ];
        let result = &run(&workload(jobs), &design).results[0];
        for (job, expected) in expected.into_iter().enumerate() {
            within(iops_of(result, job), expected, 0.005);
        }
    }
    check("Standard_DS2", ["E30", "P30"], [64, 16], [500.0, 5_000.0]);
    check("Standard_DS2", ["P30", "P30"], [16, 16], [3_200.0, 3_200.0]);
    check("Standard_DS2", ["P30", "P30"], [16, 2], [5_000.0, 1_400.0]);
    check("Standard_DS1", ["P4", "P40"], [128, 8], [120.0, 3_080.0]);
}

/// What was outstanding before the measurement began is no part of its mean, however long it had been.
#[test]
fn a_closed_loop_has_its_depth_outstanding_after_a_warm_up() {
    let mut job = small_reads("x", "/d", 32);
    job.limits.warmup = Nanos::from_millis(1_050);
    job.limits.runtime = Some(Nanos::from_secs(1));
    // Each I/O takes 320 ms.
    let text = device("iops = 100\nlatency = \"none\"");
    let result = &run(&workload(vec![job]), &design(&text)).results[0];
    let worker = &result.workers[0];
    let outstanding = worker.outstanding_ns as f64 / worker.measured.get() as f64;
    // A second of 32; then one after another ends, from the 31 that are left as time is up.
    let drained = f64::from((1..=31).sum::<u32>()) * 0.01;
    within(outstanding, (32.0 + drained) / 1.31, 0.001);
}

#[test]
fn a_closed_loop_at_a_limit_obeys_littles_law() {
    #[track_caller]
    fn check(lines: &str, depth: u32, rate: f64, limit: &str) {
        let result = &run(
            &workload(vec![small_reads("x", "/d", depth)]),
            &design(&device(lines)),
        )
        .results[0];
        within(iops(result), rate, 0.001);
        within(mean_latency(result), f64::from(depth) / rate * 1e9, 0.005);
        assert!(bound_by(result, limit) > 0.999, "{limit}");
        let worker = &result.workers[0];
        within(
            worker.outstanding_ns as f64 / worker.measured.get() as f64,
            f64::from(depth),
            0.005,
        );
        assert!(result.storage["d"].busy_share.unwrap() > 0.999);
        assert_eq!(result.storage["d"].ios, worker.ios());
        assert_eq!(result.intervals.len(), 21);
    }
    check(
        "iops = 5000\nlatency = \"none\"",
        32,
        5_000.0,
        "device-iops",
    );
    check(
        "iops = 5000\nbandwidth = \"4096000B/s\"",
        32,
        1_000.0,
        "device-bytes",
    );
    let latency = "latency = { median = \"1ms\", p99 = \"4ms\" }";
    check(
        &format!("iops = 9000\n{latency}"),
        256,
        9_000.0,
        "device-iops",
    );
}

/// What completes as a second ends is of the next one, with its response time.
#[test]
fn seconds_have_the_response_times_of_the_whole() {
    let design = design(&device("iops = 1_000\nlatency = \"none\""));
    let reads = |arrival| {
        let mut reads = small_reads("x", "/d", 4);
        (reads.arrival, reads.limits.warmup) = (arrival, Nanos::from_secs(2));
        reads
    };
    for rate in [800, 1_500] {
        let result = &run(&workload(vec![reads(paced(rate))]), &design).results[0];
        let mut all = Histogram::new();
        for interval in &result.intervals {
            let reads = interval.directions[0].as_ref().unwrap();
            let responses = reads.response.as_ref().unwrap();
            assert_eq!(responses.count(), reads.ios(), "{rate} {:?}", interval.at);
            all.merge(responses);
        }
        let whole = result.workers[0].directions[0].as_ref().unwrap();
        assert_eq!(whole.response.as_ref(), Some(&all), "{rate}");
    }
    let closed = &run(&workload(vec![reads(Arrival::Closed)]), &design).results[0];
    let mut seconds = closed.intervals.iter();
    assert!(seconds.all(|second| second.directions[0].as_ref().unwrap().response.is_none()));
}

/// Syncs of each second, as many in all as the whole has: they are in no second of the record.
#[test]
fn seconds_are_told_with_their_syncs() {
    #[derive(Default)]
    struct Syncs(Vec<u64>);
    impl EventSink for Syncs {
        fn event(&mut self, event: &Event<'_>) {
            if let Event::Syncs { stats, .. } = event {
                self.0.push(stats.ios());
            }
        }
    }
    let mut log = small_reads("x", "/d", 1);
    (log.mix, log.sync.fsync_every) = (Mix::WRITE, 4);
    let design = design(&device("iops = 1_000\nlatency = \"none\""));
    let mut told = Syncs::default();
    let result = predict(&workload(vec![log]), &design, &mut told, &|| false).unwrap();
    let whole = result.results[0].workers[0].sync.as_ref().unwrap().ios();
    assert!(whole > 1_000 && told.0.len() > 2, "{whole} {:?}", told.0);
    assert_eq!(told.0.iter().sum::<u64>(), whole);
    assert!(
        told.0[..2].iter().all(|syncs| (249..252).contains(syncs)),
        "{:?}",
        told.0
    );
}

#[test]
fn without_a_limit_the_rate_is_depth_over_latency() {
    let lines = "latency = { median = \"2ms\", p99 = \"2ms\" }";
    let result = &run(
        &workload(vec![small_reads("x", "/d", 8)]),
        &design(&device(lines)),
    )
    .results[0];
    within(iops(result), 4_000.0, 0.001);
    // A log-normal law through (m, p) has the mean m exp(sigma² / 2), sigma = ln(p / m) / 2.3263.
    let lines = "latency = { median = \"2ms\", p99 = \"8ms\" }";
    let result = &run(
        &workload(vec![small_reads("x", "/d", 8)]),
        &design(&device(lines)),
    )
    .results[0];
    within(
        mean_latency(result),
        2e6 * libm::exp(0.595_9_f64.powi(2) / 2.0),
        0.01,
    );
    assert!(result.workers[0].waited_ns[0].is_empty());
}

/// 1,200 I/Os a second of a device that does 1,000: each second of a warm-up leaves 200 undone.
#[test]
fn what_a_warm_up_left_undone_is_not_owed() {
    #[track_caller]
    fn check(warmup: u64, depth: u32) {
        let job = Job {
            arrival: paced(1_200),
            limits: Limits {
                warmup: Nanos::from_secs(warmup),
                runtime: Some(Nanos::from_secs(6)),
                time_based: true,
                ..Limits::default()
            },
            ..small_reads("x", "/d", depth)
        };
        let design = design(&device("iops = 1000\nlatency = \"none\""));
        let result = &run(&workload(vec![job]), &design).results[0];
        let response = result.workers[0].directions[0].as_ref().unwrap();
        let median = response.response.as_ref().unwrap().percentile(50.0);
        // When half was done, after 3 s, 600 were undone, due within half a second; up to 16 were under way before.
        within(median as f64, 0.5e9, 0.04);
    }
    for warmup in [0, 10, 60] {
        check(warmup, 1);
        check(warmup, 16);
    }
}

/// Poisson arrivals at a server of constant time: mean wait ρ / (2 (1 - ρ)) service times (Pollaczek–Khinchine).
#[test]
fn poisson_arrivals_wait_as_queueing_theory_says() {
    #[track_caller]
    fn check(load_percent: u64) {
        let arrival = match paced(50 * load_percent) {
            Arrival::Open {
                rate, when_full, ..
            } => Arrival::Open {
                rate,
                poisson: fathom_workload::Poisson::Exponential,
                when_full,
            },
            closed @ Arrival::Closed => closed,
        };
        let limits = Limits {
            runtime: Some(Nanos::from_secs(400)),
            ..Limits::default()
        };
        let job = Job {
            arrival,
            limits,
            ..small_reads("x", "/d", 4096)
        };
        let design = design(&device("iops = 5000\nlatency = \"none\""));
        let result = &run(&workload(vec![job]), &design).results[0];
        let load = load_percent as f64 / 100.0;
        within(
            mean_latency(result),
            200_000.0 * load / (2.0 * (1.0 - load)),
            0.05,
        );
    }
    check(50);
    check(80);
    check(90);
}

/// A burst as the time ends, which takes longer than is left: its I/Os were due, and those that wait longest are among them.
/// The device does one in 200 µs, so that the last of 40 that come in 4 ms waits for 4 ms.
#[test]
fn what_was_due_by_the_end_is_done() {
    let step = |rate, millis| RateStep {
        rate: Some(Pacing::Iops(Iops::new(rate))),
        length: Nanos::from_millis(millis),
    };
    let mut job = Job {
        arrival: paced(100),
        limits: Limits {
            runtime: Some(Nanos::from_secs(1)),
            ..Limits::default()
        },
        ..small_reads("x", "/d", 1)
    };
    job.features.rate_steps = Some(Box::new(RateSteps {
        steps: vec![step(100, 996), step(10_000, 4)],
        together: false,
    }));
    let design = design(&device("iops = 5000\nlatency = \"none\""));
    let worker = &run(&workload(vec![job]), &design).results[0].workers[0];
    assert!(worker.ios().abs_diff(139) <= 1, "{}", worker.ios());
    let stats = worker.directions[0].as_ref().unwrap();
    let longest = stats.response.as_ref().unwrap().max();
    assert!((3_800_000..4_500_000).contains(&longest), "{longest}");
}

const CACHED: &str = r#"
[[vm]]
name = "vm"
size = "Standard_DS1"
[[vm.volume]]
name = "c"
mount = "/c"
disks = { type = "P30" }
caching = "read-only"
cache = "START"
latency = "none"
"#;

#[test]
fn a_warm_cache_serves_what_it_holds_and_a_cold_one_what_it_has_seen() {
    #[track_caller]
    fn check(start: &str, gib: u64, hits: f64, rate: f64) {
        let design = design(&CACHED.replace("START", start));
        let job = Job {
            targets: vec![target("/c/f", Bytes::gib(gib))],
            access: Access::Random {
                coverage: Coverage::Independent,
                run: 1,
            },
            limits: Limits {
                runtime: Some(Nanos::from_secs(60)),
                ..Limits::default()
            },
            ..small_reads("x", "/c", 32)
        };
        let result = &run(&workload(vec![job]), &design).results[0];
        let found = result.storage["vm/c"].hit_share.unwrap();
        assert!((found - hits).abs() < 0.01, "{start} {gib} GiB: {found}");
        within(iops(result), rate, 0.02);
    }
    // Standard_DS1: 43 GiB of cache, 4,000 IOPS cached and 3,200 past it.
    check("warm", 40, 1.0, 4_000.0);
    check("cold", 40, 0.01, 3_225.0);
    // Half of it is held, and stays half: a miss gives up as many blocks as it takes in.
    check("warm", 86, 0.50, 4_000.0);
    // One GiB is 262,144 blocks: after n random reads the share seen is 1 - exp(-n / blocks).
    check("cold", 1, 0.34, 3_950.0);
}

/// Half of the reads of 20 GiB find their block in 10 GiB of memory, the others in the SSD behind it; of 5 GiB, all.
#[test]
fn the_memory_of_a_host_cache_serves_its_part_at_its_own_latency() {
    #[track_caller]
    fn check(gib: u64, from_memory: f64, mean_ns: f64) {
        let tiers = "[vm.host_cache]\nmemory = '10GiB'\nmemory_latency = { median = '500us', p99 = '500us' }\n\
                     latency = { median = '1500us', p99 = '1500us' }\n[[vm.volume]]";
        let text = CACHED.replace("[[vm.volume]]", tiers);
        let text = text
            .replace("START", "warm")
            .replace("latency = \"none\"", "");
        let job = Job {
            targets: vec![target("/c/f", Bytes::gib(gib))],
            access: Access::Random {
                coverage: Coverage::Independent,
                run: 1,
            },
            limits: Limits {
                runtime: Some(Nanos::from_secs(30)),
                ..Limits::default()
            },
            ..small_reads("x", "/c", 1)
        };
        let result = &run(&workload(vec![job]), &design(&text)).results[0];
        let row = &result.storage["vm/c"];
        assert_eq!(row.hit_share, Some(1.0), "{gib} GiB");
        let found = row.memory_share.unwrap();
        assert!((found - from_memory).abs() < 0.01, "{gib} GiB: {found}");
        within(mean_latency(result), mean_ns, 0.01);
    }
    check(20, 0.5, 1_000_000.0);
    check(5, 1.0, 500_000.0);
}

#[test]
fn writes_of_a_cached_volume_pass_all_limits_and_are_held() {
    let design = design(&CACHED.replace("START", "cold"));
    let write = Job {
        mix: Mix::WRITE,
        ..small_reads("x", "/c", 32)
    };
    let stage = |name: &str, job: Job| Stage {
        name: name.to_owned(),
        ..workload(vec![job]).stages.remove(0)
    };
    let size = Bytes::mib(64);
    let sized = |job: Job| Job {
        targets: vec![target("/c/f", size)],
        limits: Limits::default(),
        ..job
    };
    let read = Job {
        mix: Mix::READ,
        ..write.clone()
    };
    let stages = vec![stage("write", sized(write)), stage("read", sized(read))];
    let results = run(&Workload { stages, seed: 3 }, &design).results;
    assert_eq!(results[0].workers[0].ios(), size.get() / 4096);
    assert_eq!(results[0].workers[0].ended, EndReason::Done);
    within(iops(&results[0]), 3_200.0, 0.01);
    assert!((results[1].storage["vm/c"].hit_share.unwrap() - 1.0).abs() < f64::EPSILON);
    within(iops(&results[1]), 4_000.0, 0.01);
    assert_eq!(results[1].storage["vm/c/disk1"].ios, 0);
}

#[test]
fn striped_ios_count_by_parts_at_disks_and_once_in_the_record() {
    let text = r#"
[[vm]]
name = "vm"
size = "Standard_DS14"
[[vm.volume]]
name = "s"
mount = "/s"
disks = { type = "P30", count = 4 }
COLUMNS
caching = "none"
latency = "none"
"#;
    let limits = Limits {
        ios: Some(400),
        ..Limits::default()
    };
    let job = Job {
        block: BlockSizes::uniform(Bytes::kib(256)),
        limits,
        ..small_reads("x", "/s", 4)
    };
    let result = &run(
        &workload(vec![job.clone()]),
        &design(&text.replace("COLUMNS", "")),
    )
    .results[0];
    assert_eq!(result.workers[0].ios(), 400);
    assert_eq!(result.storage["vm/s"].ios, 400);
    for disk in 1..=4 {
        assert_eq!(result.storage[&format!("vm/s/disk{disk}")].ios, 400);
    }
    assert_eq!(result.storage["vm/uncached"].ios, 1600);
    let pair = &run(
        &workload(vec![job]),
        &design(&text.replace("COLUMNS", "columns = 2")),
    )
    .results[0];
    assert_eq!(pair.storage["vm/s/disk3"].ios, 0);
    assert_eq!(pair.storage["vm/s/disk1"].ios, 800);
}

#[test]
fn the_same_input_gives_the_same_record() {
    let design = design(&device(
        "iops = 5000\nlatency = { median = \"1ms\", p99 = \"4ms\" }",
    ));
    let open = Job {
        arrival: paced(2000),
        ..small_reads("y", "/d", 16)
    };
    let work = workload(vec![small_reads("x", "/d", 16), open]);
    let text = |seed: u64| {
        let work = Workload {
            seed,
            ..work.clone()
        };
        let result = run(&work, &design).results.remove(0);
        serde_json::to_string(&stage_record(&work.stages[0], &result)).unwrap()
    };
    assert_eq!(text(1), text(1));
    assert_ne!(text(1), text(2));
}

#[test]
fn delays_warm_ups_repeats_and_synchronous_workers_are_kept() {
    let limits = Limits {
        start_delay: Nanos::from_secs(2),
        warmup: Nanos::from_secs(3),
        runtime: Some(Nanos::from_secs(4)),
        time_based: true,
        ..Limits::default()
    };
    let job = Job {
        limits,
        backend: Backend::Sync,
        workers: 2,
        targets: vec![target("/d/f", Bytes::mib(1))],
        ..small_reads("x", "/d", 64)
    };
    let mut work = workload(vec![job]);
    work.stages[0].repeats = 2;
    let lines = "latency = { median = \"1ms\", p99 = \"1ms\" }";
    let results = run(&work, &design(&device(lines))).results;
    assert_eq!(results.len(), 2);
    assert_eq!(results[1].name, "all #2");
    for result in &results {
        assert_eq!(result.workers.len(), 2);
        within(iops(result), 2_000.0, 0.001);
        assert_eq!(result.workers[0].started, Nanos::from_secs(5));
        assert_eq!(result.intervals[0].at, Nanos::from_secs(6));
        assert_eq!(result.workers[0].ended, EndReason::Time);
        assert_eq!(result.workers[0].samples.len(), 8);
    }
}

#[test]
fn a_run_that_is_stopped_keeps_what_it_measured() {
    let looks = std::cell::Cell::new(0);
    let stop = || {
        looks.set(looks.get() + 1);
        looks.get() > 2
    };
    let design = design(&device("iops = 5000"));
    let work = workload(vec![small_reads("x", "/d", 16)]);
    let prediction = predict(&work, &design, &mut Ignore, &stop).unwrap();
    let worker = &prediction.results[0].workers[0];
    assert_eq!(worker.ended, EndReason::Interrupted);
    assert!(worker.ios() > 0 && worker.measured < Nanos::from_secs(20));
}

#[test]
fn a_device_without_a_size_is_used_whole() {
    let text = device("iops = 5000").replace("mount = \"/d\"", "mount = \"/dev/sdc\"");
    let design = design(&text);
    let [known, whole] = [Some(Bytes::gib(1024)), None].map(|length| {
        let job = Job {
            targets: vec![fathom_workload::Target {
                length,
                ..target("/dev/sdc", Bytes::gib(1))
            }],
            ..small_reads("x", "/d", 4)
        };
        run(&workload(vec![job]), &design).results[0].clone()
    });
    assert!(iops(&whole) > 4_000.0);
    assert_eq!(whole.workers[0].ios(), known.workers[0].ios());
    within(mean_latency(&whole), mean_latency(&known), 1e-9);
}

#[test]
fn what_does_not_fit_is_said_at_once_before_anything_runs() {
    #[track_caller]
    fn check(jobs: Vec<Job>, expected: &str) {
        let design = design(&device("latency = \"none\""));
        let error = predict(&workload(jobs), &design, &mut Ignore, &|| false).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
    let reads = |path: &str| Job {
        targets: vec![target(path, Bytes::gib(1))],
        ..small_reads("x", "/d", 4)
    };
    let unsized_job = Job {
        targets: vec![fathom_workload::Target {
            length: None,
            ..target("/d/g", Bytes::gib(1))
        }],
        ..small_reads("y", "/d", 4)
    };
    check(
        vec![reads("/mnt/data/f"), unsized_job],
        "error: job `x`: nothing in the design serves `/mnt/data/f`; it has `/d`\n  \
         hint: map it with `--map /mnt/data=/d`\n\n\
         error: job `y`: the size of `/d/g` is not known\n  hint: give the job a size",
    );
    let large = Job {
        targets: vec![target("/d/f", Bytes::gib(1025))],
        ..reads("/d/f")
    };
    check(
        vec![large],
        "error: the files on `d` take 1 TiB, which is 1 GiB more than it holds\n  \
         --> test.design.toml:1:1\n   |\n 1 | [[device]]\n   | ^\n  \
         hint: use smaller files, or more or larger disks",
    );
    let limits = Limits {
        time_based: true,
        runtime: Some(Nanos::from_secs(1)),
        ..Limits::default()
    };
    check(
        vec![Job {
            limits,
            ..reads("/d/f")
        }],
        "error: job `x` runs for a time, but its I/O takes none: nothing in the design limits it\n  \
         hint: give the device a limit or a latency, or the job a size or a rate",
    );
    let tiny = Job {
        targets: vec![target("/d/f", Bytes::new(512))],
        ..reads("/d/f")
    };
    check(
        vec![tiny],
        "error: job `x`: its blocks of 4 KiB do not fit into the 512 B of `/d/f`\n  hint: use a smaller \
         block or a larger target",
    );
}

#[test]
fn nothing_without_time_still_ends_by_its_size() {
    let job = Job {
        backend: Backend::Null,
        targets: vec![target("/d/f", Bytes::mib(4))],
        ..small_reads("x", "/d", 4)
    };
    let result = &run(&workload(vec![job]), &design(&device("iops = 1"))).results[0];
    assert_eq!(result.workers[0].ios(), 1024);
    assert_eq!(result.measured, Nanos::ZERO);
}

#[test]
fn a_file_that_its_service_cannot_hold_is_refused() {
    let share = "[[smb]]\nname = 's'\nmount = '/s'\nmodel = 'ssd-v2'\nsize = '8TiB'\n";
    let job = Job {
        targets: vec![target("/s/f", Bytes::gib(5 << 10))],
        ..small_reads("x", "/s", 4)
    };
    let error = predict(&workload(vec![job]), &design(share), &mut Ignore, &|| false);
    assert_eq!(
        error.unwrap_err().to_string(),
        "error: job `x`: `/s/f` takes 5 TiB, but a file on `s` has at most 4 TiB\n  \
         hint: use more and smaller files"
    );
}
