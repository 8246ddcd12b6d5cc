//! Benchmark of network volumes, 2019 (S2-*), predicted from the files of `examples/anf-2019`.

use fathom_catalog::Catalog;
use fathom_model::{AnyVolume, Design};
use fathom_units::{Bytes, BytesPerSec, Nanos};
use fathom_workload::{Access, Coverage, Mix, Workload};

use super::support::*;

/// The cases.
pub const VECTORS: &[Vector] = &[
    ("S2-01", || {
        let half = Mix::reads(fathom_units::Percent::whole(50).expect("a share"));
        let expected = [
            ("RndRead", 8, Mix::READ, true),
            ("RndWrite", 8, Mix::WRITE, true),
            ("SeqRead", 64, Mix::READ, false),
            ("SeqWrite", 64, Mix::WRITE, false),
            ("SeqMix", 64, half, false),
            ("RndMix", 8, half, true),
        ];
        for (pattern, kib, mix, random) in expected {
            for job in jobs_of(pattern) {
                assert_eq!(job.block.read[0].size, Bytes::kib(kib), "{pattern}");
                assert_eq!(job.block.write[0].size, Bytes::kib(kib), "{pattern}");
                assert_eq!(job.mix, mix, "{pattern}");
                assert_eq!(is_random(&job.access), random, "{pattern}");
            }
        }
    }),
    ("S2-02", || {
        predicted("anf-12-near", "SeqRead-12", None).mebibytes(4_500.0, EXACT);
    }),
    ("S2-03", || {
        let quota = |text| nfs_limit_mibps(&volume_of("premium", text));
        within("MiB/s", quota("70.3125TiB"), 4_500.0, 1e-9);
        within(
            "MiB/s of the printed quota",
            quota("70.31TiB"),
            4_500.0,
            1e-4,
        );
    }),
    ("S2-04", || {
        for (level, each) in [("standard", 16.0), ("premium", 64.0), ("ultra", 128.0)] {
            let row = Catalog::builtin().service_level(level).expect("a level");
            let found = row.bandwidth_per_tib.map_or(0, BytesPerSec::get);
            within("MiB/s for a TiB", mib(found), each, 1e-9);
            within(
                "MiB/s",
                nfs_limit_mibps(&volume_of(level, "4TiB")),
                4.0 * each,
                1e-9,
            );
        }
    }),
    ("S2-05", || {
        predicted("anf-12-near", "RndRead-12", None).iops(300e3, MEASURED);
    }),
    ("S2-06", || {
        // 300 outstanding at 300,000 IOPS.
        predicted("anf-12-near", "RndRead-12", None).latency_ms(1.0, MEASURED);
    }),
    ("S2-07", || {
        predicted("anf-12-near", "SeqRead-12", None).mebibytes(4.5 * 1_024.0, MEASURED);
    }),
    ("S2-08", || {
        for (design, machines, volumes) in [("anf-24-near", 24, 6), ("anf-12-near", 12, 1)] {
            let design = named(design);
            assert_eq!((design.vms.len(), design.nfs.len()), (machines, volumes));
            for vm in &design.vms {
                assert_eq!(vm.size.name, "Standard_D32s_v3");
            }
            for volume in &design.nfs {
                assert_eq!(volume.clients.len(), machines);
            }
        }
    }),
    ("S2-09", || {
        for depth in [1, 2, 4] {
            let at = |design| predicted(design, "RndRead-12", Some(depth));
            let (near, far) = (at("anf-12-near"), at("anf-12-far"));
            assert!(
                far.total_iops() < 0.75 * near.total_iops(),
                "{depth} outstanding a file"
            );
            let longer = far.mean_ms() / near.mean_ms();
            within(
                "IOPS lost",
                near.total_iops() / far.total_iops(),
                longer,
                EXACT,
            );
        }
        // With enough outstanding, distance does not show.
        predicted("anf-12-far", "RndRead-12", Some(300)).iops(300e3, MEASURED);
        predicted("anf-12-near", "RndRead-12", Some(300)).iops(300e3, MEASURED);
    }),
    ("S2-10", || {
        let read = predicted("anf-12-far", "RndRead-12", Some(4));
        within(
            "threads",
            read.total_iops() * read.mean_ms() / 1e3,
            12.0 * 4.0,
            EXACT,
        );
    }),
    ("S2-11", || {
        let design = device("latency = { median = \"1.14ms\", p99 = \"1.14ms\" }");
        run(&design, &[deep("a", "read", "8KiB", 4)]).iops(3_500.0, ROUNDED);
    }),
    ("S2-13", || {
        let at = |rtt: &str, window: &str| {
            let volume =
                volume_of("ultra", "50TiB").replace("rtt = \"1ms\"", &format!("rtt = \"{rtt}\""));
            let volume = format!("{volume}window = \"{window}\"\n");
            let read = "host = \"client\"\ndepth = 64";
            run(&volume, &[job("n", "read", "64KiB", read)]).total_bytes()
        };
        // Twice as far, half as much, until twice as much may be on its way.
        let (near, far) = (at("1ms", "256KiB"), at("2ms", "256KiB"));
        within("bytes a second", near, 256.0 * 1_024.0 / 1e-3, EXACT);
        within("bytes a second", far, near / 2.0, EXACT);
        within("bytes a second", at("2ms", "512KiB"), near, EXACT);
    }),
    ("S2-14", || {
        for text in [
            volume_of("premium", "4TiB"),
            example_text("anf-2019/anf-24-near.design.toml"),
        ] {
            let design = read_design(&text);
            let volume = &design.nfs[0];
            assert_eq!(
                (volume.rsize, volume.wsize),
                (Bytes::kib(64), Bytes::kib(64))
            );
        }
    }),
    ("S2-15", || {
        let workload = of_pattern("RndRead");
        let jobs = &workload.stages[0].jobs;
        assert_eq!(jobs.len(), 24 * 6);
        let design = named("anf-24-near");
        for (index, job) in jobs.iter().enumerate() {
            let (vm, volume) = (index / 6 + 1, index % 6 + 1);
            let path = format!("/mnt/vdb{volume}/file-{vm}-{volume}");
            assert_eq!(job.targets[0].place.path(), path);
            assert_eq!(job.targets[0].length, Some(Bytes::gib(693)));
            assert_eq!(job.host, Some(format!("vm{vm}")));
            assert_eq!(job.caching, fathom_workload::Caching::Direct);
            design.locate(job.host.as_deref(), &path).expect("a volume");
        }
        // 16.2 TiB of each volume's 17.
        let of_volume = Bytes::gib(24 * 693);
        let fits = |volume: AnyVolume<'_>| match volume {
            AnyVolume::Nfs(nfs) => of_volume <= nfs.quota,
            _ => false,
        };
        assert!(design.volumes().all(fits));
    }),
    ("S2-16", || {
        for job in jobs_of("FillWrite") {
            assert_eq!(job.block.write[0].size, Bytes::kib(64));
            assert_eq!((job.mix, job.workers, job.depth), (Mix::WRITE, 1, 1));
            assert_eq!(job.limits.runtime, Some(Nanos::from_secs(259_200)));
            assert!(!is_random(&job.access));
        }
    }),
    ("S2-17", || {
        for pattern in PATTERNS {
            for job in jobs_of(pattern) {
                assert_eq!(job.limits.warmup, Nanos::from_secs(60));
                assert_eq!(job.limits.runtime, Some(Nanos::from_secs(600)));
            }
        }
    }),
    // One run is named for 4 threads and has 20.
    ("S2-18", || {
        let expected: [&[(&str, u32)]; 6] = [
            &[("RndRead", 25)],
            &[("RndWrite", 20)],
            &[("SeqRead-4", 20)],
            &[
                ("SeqWrite-26", 26),
                ("SeqWrite-32", 32),
                ("SeqWrite-40", 40),
            ],
            &[("RndMix", 25)],
            &[("SeqMix-6", 6), ("SeqMix-7", 7)],
        ];
        for (pattern, runs) in PATTERNS.into_iter().zip(expected) {
            let workload = of_pattern(pattern);
            let stages = workload.stages.iter();
            let found: Vec<_> = stages
                .map(|stage| (stage.name.as_str(), stage.jobs[0].depth))
                .collect();
            assert_eq!(found, runs, "{pattern}");
            for stage in &workload.stages {
                assert!(
                    stage
                        .jobs
                        .iter()
                        .all(|job| job.depth == stage.jobs[0].depth)
                );
            }
        }
    }),
    ("S2-19", || {
        for pattern in PATTERNS {
            let kib = if pattern.starts_with("Rnd") { 8 } else { 64 };
            for job in jobs_of(pattern) {
                assert_eq!(job.block.read[0].size, Bytes::kib(kib), "{pattern}");
                let mixed = job.mix.read == job.mix.write;
                assert_eq!(mixed, pattern.ends_with("Mix"), "{pattern}");
            }
        }
    }),
];

const PATTERNS: [&str; 6] = [
    "RndRead", "RndWrite", "SeqRead", "SeqWrite", "RndMix", "SeqMix",
];

/// All 24 machines at once: every volume at the ceiling of its quota, near or far.
#[test]
fn with_3600_outstanding_both_distances_are_at_the_ceiling() {
    // Six times 1,088 MiB/s in blocks of 8 KiB.
    let ceiling = 6.0 * 1_088.0 * 128.0;
    for design in ["anf-24-near", "anf-24-far"] {
        let read = predicted(design, "RndRead", None);
        read.iops(ceiling, EXACT)
            .latency_ms(3_600.0 / ceiling * 1e3, EXACT);
    }
    let at = |design| predicted(design, "RndRead", Some(1)).total_iops();
    assert!(at("anf-24-far") < 0.75 * at("anf-24-near"));
}

/// The script's other runs, and the one that fills its files: each has enough outstanding for the six quotas.
#[test]
fn every_run_of_the_script_is_at_the_ceiling() {
    for pattern in PATTERNS.into_iter().chain(["FillWrite"]) {
        let run = predicted_for("anf-24-near", pattern, None, 1_000);
        run.mebibytes(6.0 * 1_088.0, MEASURED);
    }
}

/// The table of `examples/anf-2019/README.md`.
#[test]
fn distance_shows_until_the_ceiling() {
    let rows = [
        (1, 27_300.0, 9_690.0),
        (4, 109_000.0, 38_700.0),
        (8, 217_000.0, 77_400.0),
        (32, 300_000.0, 300_000.0),
        (256, 300_000.0, 300_000.0),
    ];
    for (depth, near, far) in rows {
        predicted("anf-12-near", "RndRead-12", Some(depth)).iops(near, ROUNDED);
        predicted("anf-12-far", "RndRead-12", Some(depth)).iops(far, ROUNDED);
    }
}

fn mib(bytes: u64) -> f64 {
    bytes as f64 / 1_048_576.0
}

fn is_random(access: &Access) -> bool {
    *access
        == Access::Random {
            coverage: Coverage::Independent,
            run: 1,
        }
}

#[track_caller]
fn of_pattern(pattern: &str) -> Workload {
    example_workload(&format!("anf-2019/{pattern}.workload.toml"))
}

#[track_caller]
fn jobs_of(pattern: &str) -> Vec<fathom_workload::Job> {
    let stages = of_pattern(pattern).stages.into_iter();
    stages.flat_map(|stage| stage.jobs).collect()
}

#[track_caller]
fn named(design: &str) -> Design {
    example_design(&format!("anf-2019/{design}.design.toml"))
}

/// A fifth of a second of one pattern, with its own threads or so many for each file.
#[track_caller]
fn predicted(design: &str, pattern: &str, depth: Option<u32>) -> Predicted {
    predicted_for(design, pattern, depth, 200)
}

/// So many milliseconds of the first run of one pattern.
#[track_caller]
fn predicted_for(design: &str, pattern: &str, depth: Option<u32>, millis: u64) -> Predicted {
    let mut workload = of_pattern(pattern);
    workload.stages.truncate(1);
    for job in &mut workload.stages[0].jobs {
        job.limits.warmup = Nanos::from_millis(50);
        job.limits.runtime = Some(Nanos::from_millis(millis));
        job.depth = depth.unwrap_or(job.depth);
    }
    run_workload(&workload, &named(design)).remove(0)
}

/// A volume on `/n` with a client and no latency but the round trip.
pub fn volume_of(level: &str, quota: &str) -> String {
    format!(
        "[[vm]]\nname = \"client\"\nsize = \"Standard_D32s_v3\"\n\n[[nfs]]\nname = \"n\"\nmount = \"/n\"\n\
         level = \"{level}\"\nquota = \"{quota}\"\nrtt = \"1ms\"\nlatency = \"none\"\non = [\"client\"]\n"
    )
}

/// MiB/s that the one volume of a design may do.
#[track_caller]
pub fn nfs_limit_mibps(text: &str) -> f64 {
    let design = read_design(text);
    let bandwidth = design.nfs[0].limits.bandwidth;
    mib(bandwidth.expect("a limit").get())
}
