//! Benchmarking a disk, 2021: a D8ds_v4, predicted from the files of `examples/guide-2021`.

use fathom_catalog::{Catalog, Era, Limits};
use fathom_model::Design;
use fathom_units::{Bytes, BytesPerSec, Iops, Nanos};
use fathom_workload::{Access, Coverage, Mix, Workload};

use super::support::*;

/// The cases.
pub const VECTORS: &[Vector] = &[
    ("S1-01", || {
        let workload = example_workload(DISKSPD);
        let stage = &workload.stages[0];
        let job = &stage.jobs[0];
        assert_eq!((stage.name.as_str(), job.mix), ("baseline", Mix::WRITE));
        assert_eq!(job.targets[0].length, Some(Bytes::gib(200)));
        assert_eq!(job.block.write[0].size, Bytes::kib(4));
        assert_eq!((job.workers, job.depth), (4, 128));
        let independent = Access::Random {
            coverage: Coverage::Independent,
            run: 1,
        };
        assert_eq!(job.access, independent);
        assert_eq!(job.limits.warmup, Nanos::from_secs(7_200));
        assert_eq!(job.limits.runtime, Some(Nanos::from_secs(30)));
    }),
    ("S1-02", || {
        let write = diskspd("writes");
        write.iops(12_800.0, EXACT).iops(13_052.65, MEASURED);
        write
            .megabytes(101.97 * 1.048_576, MEASURED)
            .latency_ms(39.2, MEASURED);
    }),
    ("S1-03", || {
        let read = diskspd("reads");
        read.iops(77e3, EXACT).iops(78_521.23, MEASURED);
        read.megabytes(306.72 * 1.048_576, MEASURED)
            .latency_ms(6.52, MEASURED);
    }),
    ("S1-04", || {
        let row = |era| Catalog::builtin().vm(Era::new(era), "Standard_D8ds_v4");
        let limits = |iops, megabytes| Limits {
            iops: Some(Iops::new(iops)),
            bandwidth: Some(BytesPerSec::mb(megabytes)),
        };
        let first = row("2020").expect("a row");
        assert_eq!(first.cached, limits(77_000, 485));
        assert_eq!(first.uncached, limits(12_800, 192));
        assert_eq!(first.cache, Some(Bytes::gib(200)));
        // Later pages print the local disk alone.
        let later = row("current").expect("a row");
        assert!(later.cached.is_empty());
        assert_eq!(later.temporary, limits(38_000, 500));
    }),
    ("S1-05", || {
        let read = diskspd("throughput reads");
        read.megabytes(485.0, EXACT).bound_by("vm-cached-bytes");
        let write = diskspd("throughput writes");
        write.megabytes(192.0, EXACT).bound_by("vm-uncached-bytes");
    }),
    ("S1-06", || {
        let write = fio("fiowrite.ini");
        write
            .iops(12_800.0, EXACT)
            .iops(13_100.0, MEASURED)
            .latency_ms(80.0, ROUNDED);
    }),
    ("S1-07", || {
        let read = fio("fioread.ini");
        read.iops(77e3, EXACT)
            .iops(78_600.0, MEASURED)
            .latency_ms(13.3, EXACT);
    }),
    ("S1-08", || {
        let both = fio("fioreadwrite.ini");
        both.iops(89_800.0, EXACT).iops(90_900.0, MEASURED);
        let of = |read: bool| -> f64 {
            let jobs = both.0.jobs.iter().filter(|job| job.read.is_some() == read);
            jobs.filter_map(|job| job.read.as_ref().or(job.write.as_ref()))
                .map(|figures| figures.iops)
                .sum()
        };
        within("IOPS read", of(true), 78_300.0, MEASURED);
        within("IOPS written", of(false), 12_600.0, MEASURED);
    }),
    ("S1-09", || {
        let both = fio("fiothroughput.ini");
        both.megabytes(677.0, EXACT);
    }),
    // Written in blocks of 8 KiB with one tool and of 4 KiB with the other: both meet the IOPS.
    ("S1-10", || {
        diskspd("writes").bound_by("vm-uncached-iops");
        fio("fiowrite.ini").bound_by("vm-uncached-iops");
    }),
    ("S1-11", || {
        let cold = example_text(D8DS_V4).replace("cache = \"warm\"\n", "");
        let workload = example_workload("guide-2021/fioread.ini");
        let read = run_workload(&workload, &read_design(&cold)).remove(0);
        assert!(read.total_iops() < 0.1 * 77e3, "{}", read.total_iops());
    }),
];

const D8DS_V4: &str = "guide-2021/d8ds_v4.design.toml";
const DISKSPD: &str = "guide-2021/diskspd.workload.toml";

fn design() -> Design {
    example_design(D8DS_V4)
}

fn fio(file: &str) -> Predicted {
    let workload = example_workload(&format!("guide-2021/{file}"));
    run_workload(&workload, &design()).remove(0)
}

/// One stage, on a cache that is warm from the start, for a shorter time.
#[track_caller]
fn diskspd(stage: &str) -> Predicted {
    let mut workload: Workload = example_workload(DISKSPD);
    workload.stages.retain(|other| other.name == stage);
    for job in &mut workload.stages[0].jobs {
        job.limits.warmup = Nanos::ZERO;
        job.limits.runtime = Some(Nanos::from_secs(5));
    }
    run_workload(&workload, &design()).remove(0)
}
