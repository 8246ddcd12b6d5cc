//! What is refused of checks of all blocks before anything is written.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use fathom_engine::{RunOptions, preflight};
use fathom_units::Bytes;
use fathom_workload::{BlockSizes, Job, Mix, Place, Validate, Workload, preset};

/// Two jobs on one file, both with checks, after `change`; what is said of them.
fn complaints(change: impl Fn(&mut [Job])) -> String {
    let directory = tempfile::tempdir().unwrap();
    let mut workload: Workload = preset("quick", "/unused").unwrap();
    workload.stages.truncate(1);
    let stage = &mut workload.stages[0];
    stage.jobs.truncate(1);
    let job = &mut stage.jobs[0];
    job.targets[0].place = Place::Path(directory.path().join("file").display().to_string());
    job.targets[0].length = Some(Bytes::mib(4));
    (job.mix, job.workers) = (Mix::WRITE, 1);
    job.block = BlockSizes::uniform(Bytes::kib(8));
    job.features.validate = Some(Box::new(Validate {
        name: "sd1".to_owned(),
        pre_read: true,
        ..Validate::default()
    }));
    let other = stage.jobs[0].clone();
    stage.jobs.push(other);
    change(&mut stage.jobs);
    match preflight(&workload, &RunOptions::default()) {
        Ok(_) => String::new(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn what_cannot_be_checked_is_refused_before_anything_is_written() {
    assert_eq!(complaints(|_| {}), "");
    let unchecked = complaints(|jobs| jobs[1].features.validate = None);
    assert!(unchecked.contains("without checks"), "{unchecked}");
    // One that reads alone disturbs nobody.
    let reads = complaints(|jobs| {
        jobs[1].features.validate = None;
        jobs[1].mix = Mix::READ;
    });
    assert_eq!(reads, "");
    let odd = complaints(|jobs| {
        jobs[1].block = BlockSizes::uniform(Bytes::new(8200));
        for job in jobs {
            job.caching = fathom_workload::Caching::Buffered;
        }
    });
    assert!(odd.contains("8 bytes is the largest"), "{odd}");
    let large = complaints(|jobs| {
        let all = Some(Bytes::gib(16_384));
        for job in jobs {
            job.targets[0].length = all;
        }
    });
    assert!(
        large.contains("1 GiB is the most") || large.contains("1.00 GiB is the most"),
        "{large}"
    );
}
