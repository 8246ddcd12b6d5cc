//! Premium storage, 2016: its benchmarks on a DS14 (S0-46 to S0-59), predicted from the files of `examples/guide-2016`.

use fathom_model::HostCaching;
use fathom_units::{Bytes, Nanos};
use fathom_workload::{Mix, Workload};

use super::support::*;

/// The cases.
pub const VECTORS: &[Vector] = &[
    ("S0-46", || {
        let design = example_design("guide-2016/ds14.design.toml");
        let [nocache, readcache] = &design.vms[0].volumes[..] else {
            panic!("two volumes");
        };
        assert_eq!((nocache.disk_count, nocache.columns), (10, 10));
        assert_eq!(nocache.caching, HostCaching::None);
        assert_eq!(
            (readcache.disk_count, readcache.caching),
            (1, HostCaching::ReadOnly)
        );
        fio("fiowrite.ini")
            .iops(50e3, ROUNDED)
            .bound_by("disk-iops");
    }),
    ("S0-47", || {
        let workload = example_workload(IOMETER);
        let jobs = workload.stages.iter().flat_map(|stage| &stage.jobs);
        for job in jobs {
            assert!(job.targets[0].place.path().ends_with("/iobw.tst"));
            assert_eq!(job.targets[0].length, Some(Bytes::new(200_000_000_000)));
            assert_eq!((job.workers, job.depth), (3, 128));
        }
    }),
    ("S0-48", || {
        let workload = example_workload(IOMETER);
        let (first, second) = (&workload.stages[0], &workload.stages[1]);
        for (stage, mix) in [(first, Mix::WRITE), (second, Mix::READ)] {
            assert!(stage.discard);
            let job = &stage.jobs[0];
            assert_eq!(job.mix, mix);
            assert_eq!(job.limits.runtime, Some(Nanos::from_secs(7_200)));
            assert!(job.targets[0].place.path().starts_with("/mnt/readcache/"));
        }
        // Cold at first; after four hours everything that is read comes from the cache.
        let design = example_text(DS14).replace("cache = \"warm\"\n", "");
        let warmed = iometer(&workload, &["RandomReads_8K"], &read_design(&design));
        let hits = warmed.part("ds14/readcache").hit_share.unwrap_or_default();
        assert!(hits > 0.999, "{hits}");
    }),
    // Printed with the specification of the writes, and the writes with that of the reads.
    ("S0-49", || {
        iometer_warm(&["RandomWrites_8K"]).iops(50e3, MEASURED);
    }),
    ("S0-50", || {
        iometer_warm(&["RandomReads_8K"]).iops(64e3, MEASURED);
    }),
    ("S0-52", || {
        iometer_warm(&["RandomReads_64K"]).megabytes(524.0, MEASURED);
    }),
    ("S0-53", || {
        iometer_warm(&["RandomWrites_64K"]).megabytes(524.0, MEASURED);
    }),
    ("S0-54", || {
        iometer_warm(&["Combined_64K"]).megabytes(1_000.0, MEASURED);
    }),
    ("S0-55", || {
        fio("fiowrite.ini")
            .iops(50e3, ROUNDED)
            .latency_ms(20.5, ROUNDED);
    }),
    ("S0-56", || {
        fio("fioread.ini")
            .iops(64e3, MEASURED)
            .bound_by("vm-cached-bytes");
    }),
    ("S0-57", || {
        let both = fio("fioreadwrite.ini");
        assert!(both.total_iops() > 100e3);
        let workload = example_workload("guide-2016/fioreadwrite.ini");
        assert_eq!(workload.stages[0].jobs.len(), 8);
    }),
    ("S0-58", || {
        let workload = example_workload("guide-2016/fiothroughput.ini");
        for job in &workload.stages[0].jobs {
            assert_eq!(job.block.read[0].size, Bytes::kib(64));
            assert_eq!(job.depth, 128);
        }
        fio("fiothroughput.ini").megabytes(1_024.0, EXACT);
    }),
    // One translation gives the writers the readers' volume.
    ("S0-59", || {
        let workload = example_workload("guide-2016/fioreadwrite.ini");
        for job in &workload.stages[0].jobs {
            let reads = job.mix == Mix::READ;
            let expected = if reads {
                "/mnt/readcache/"
            } else {
                "/mnt/nocache/"
            };
            assert!(job.targets[0].place.path().starts_with(expected));
        }
    }),
];

const DS14: &str = "guide-2016/ds14.design.toml";
const IOMETER: &str = "guide-2016/iometer.workload.toml";

/// What the model gives for S0-51, which it does not agree with.
#[test]
fn both_at_once_give_more_than_was_measured() {
    iometer_warm(&["Combined_8K"]).iops(111_700.0, EXACT);
}

fn fio(file: &str) -> Predicted {
    let workload = example_workload(&format!("guide-2016/{file}"));
    run_workload(&workload, &example_design(DS14)).remove(0)
}

/// Some of the Iometer stages on a cache that is warm from the start.
#[track_caller]
fn iometer_warm(stages: &[&str]) -> Predicted {
    let mut workload = example_workload(IOMETER);
    workload.stages.retain(|stage| !stage.discard);
    iometer(&workload, stages, &example_design(DS14))
}

/// Some of the measured stages, shortened, after all that are discarded.
#[track_caller]
fn iometer(workload: &Workload, stages: &[&str], design: &fathom_model::Design) -> Predicted {
    let mut workload = workload.clone();
    workload
        .stages
        .retain(|stage| stage.discard || stages.contains(&stage.name.as_str()));
    for stage in workload.stages.iter_mut().filter(|stage| !stage.discard) {
        for job in &mut stage.jobs {
            job.limits.runtime = Some(Nanos::from_secs(2));
        }
    }
    run_workload(&workload, design).remove(0)
}
