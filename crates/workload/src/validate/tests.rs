//! What is told of each contradiction, alone and among others.

use fathom_units::{Nanos, Percent};

use super::*;
use crate::{
    Access, Arrival, ExistingFiles, Mix, Pacing, Place, SequentialScope, Target, VerifyTrust,
    preset,
};

#[track_caller]
fn check(change: impl FnOnce(&mut Workload), expected: &[&str]) {
    let mut workload = preset("quick", "/mnt/data").unwrap();
    workload.stages.truncate(1);
    change(&mut workload);
    let messages: Vec<String> = match validate(&workload) {
        Ok(()) => Vec::new(),
        Err(diagnostics) => diagnostics
            .0
            .into_iter()
            .map(|found| found.message)
            .collect(),
    };
    assert_eq!(messages, expected);
}

#[track_caller]
fn check_job(change: impl FnOnce(&mut Job), expected: &[&str]) {
    let prefixed: Vec<String> = expected
        .iter()
        .map(|message| format!("job `random read 4k qd32`: {message}"))
        .collect();
    let expected: Vec<&str> = prefixed.iter().map(String::as_str).collect();
    check(
        |workload| change(&mut workload.stages[0].jobs[0]),
        &expected,
    );
}

#[test]
fn stages_are_checked() {
    check(|_| {}, &[]);
    check(
        |workload| workload.stages.clear(),
        &["the workload has no stages"],
    );
    let stage = "stage `random read 4k qd32`: ";
    check(
        |workload| workload.stages.push(workload.stages[0].clone()),
        &[&format!("{stage}another stage has this name")],
    );
    check(
        |workload| {
            workload.stages[0].jobs.clear();
            workload.stages[0].repeats = 0;
        },
        &[
            &format!("{stage}it has no jobs"),
            &format!("{stage}it has 0 repeats"),
        ],
    );
}

#[test]
fn counts_are_checked_all_at_once() {
    check_job(
        |job| {
            job.workers = 0;
            job.depth = DEPTH_MAX + 1;
            job.targets.clear();
            job.limits.ios = Some(0);
        },
        &[
            "it has 0 workers",
            "it has 1048577 I/Os outstanding; at most 1048576 are possible",
            "it may do 0 I/Os",
            "it has no target",
        ],
    );
}

#[test]
fn shares_and_sizes_are_checked() {
    check_job(
        |job| job.mix.write = Percent::whole(20).unwrap(),
        &["its mix of reads, writes and trims adds up to 120 %, not 100 %"],
    );
    check_job(
        |job| job.block.read.clear(),
        &["it has no block size for reads"],
    );
    check_job(|job| job.block.write.clear(), &[]);
    check_job(
        |job| job.block.read[0].size = Bytes::ZERO,
        &["a block for reads has 0 bytes"],
    );
    check_job(
        |job| job.block.read[0].size = Bytes::new(5000),
        &["a block of 5000 bytes is no multiple of 512, which direct I/O needs"],
    );
    check_job(
        |job| {
            job.block.read[0].size = Bytes::new(5000);
            job.caching = Caching::Buffered;
        },
        &[],
    );
    check_job(
        |job| {
            job.access = Access::Random {
                coverage: crate::Coverage::Independent,
                run: 0,
            }
        },
        &["each random offset is followed by a run of 0 I/Os"],
    );
}

#[test]
fn batches_fit_the_depth() {
    check_job(
        |job| {
            job.features.batches = Some(crate::Batches {
                submit: 64,
                complete_min: 8,
                complete_max: 4,
                low: 33,
            });
        },
        &[
            "it waits for 8 completions (`complete_min`), and takes 4 at a time (`complete_max`)",
            "`submit` is 64, and its depth is 32",
            "`low` is 33, and its depth is 32",
        ],
    );
}

#[test]
fn what_is_trusted_when_synced_is_synced() {
    let trusting = |job: &mut Job| {
        let mut verify = crate::Verify::new(crate::Checksum::Md5);
        verify.trust = VerifyTrust::Synced;
        job.features.verify = Some(Box::new(verify));
    };
    let message = "it trusts only what was synced, and it never syncs: nothing would be checked";
    check_job(trusting, &[message]);
    check_job(
        |job| {
            trusting(job);
            job.sync.fsync_every = 32;
        },
        &[],
    );
}

#[test]
fn files_made_anew_are_written_alone() {
    let reads = "each pass is to make its files anew, and there is nothing in them to read or trim";
    let fresh = "a fresh file in a directory has no name under which it could be made anew";
    let anew = |job: &mut Job| job.features.files.made_anew = true;
    check_job(anew, &[reads, fresh]);
    check_job(
        |job| {
            anew(job);
            job.mix = Mix::WRITE;
            job.targets[0].place = Place::Path("/mnt/data/file".to_owned());
        },
        &[],
    );
    check_job(
        |job| {
            anew(job);
            job.mix = Mix::WRITE;
            job.targets[0].place = Place::Path("/mnt/data/file".to_owned());
            job.features.files.sync_range = Some(crate::SyncRange {
                every: 8,
                wait_before: false,
                write: true,
                wait_after: false,
            });
        },
        &["`sync_range` is of the files that were opened first, and each pass is to make others"],
    );
}

#[test]
fn ends_are_checked() {
    check_job(
        |job| job.limits.runtime = None,
        &["it starts over when done, but has no time after which it ends"],
    );
    check_job(
        |job| job.limits.runtime = Some(Nanos::ZERO),
        &["its measured time is 0"],
    );
    check_job(
        |job| job.limits.bytes = Some(Bytes::kib(1)),
        &["it may move 1 KiB, less than one block of 4 KiB"],
    );
    check_job(
        |job| job.limits.warmup = Nanos::MAX,
        &["one of its times is over 100 years"],
    );
    check_job(
        |job| {
            job.arrival = Arrival::Open {
                rate: Pacing::Iops(fathom_units::Iops::new(0)),
                poisson: crate::Poisson::Fixed,
                when_full: crate::WhenFull::Queue,
            };
        },
        &["its rate is 0"],
    );
}

/// What is to be done about a pass that conditioning does not make, in a native file's words and in a peer's.
#[test]
fn conditioning_is_one_pass() {
    for (existing, remedy) in [
        (ExistingFiles::OnlyOurs, "say `measure = \"one-pass\"`"),
        (
            ExistingFiles::AsPeer,
            "leave `time_based`, `loops` and `bytes` out",
        ),
    ] {
        let mut workload = preset("quick", "/mnt/data").unwrap();
        workload.stages.truncate(1);
        let job = &mut workload.stages[0].jobs[0];
        job.existing = existing;
        job.mix = Mix::WRITE;
        job.access = Access::Random {
            coverage: crate::Coverage::Independent,
            run: 1,
        };
        job.features.placement = Some(Box::new(crate::Placement {
            conditioning: Some(crate::Conditioning {
                over_provisioning: Percent::default(),
                regions: 100,
                cache: Bytes::ZERO,
            }),
            ..crate::Placement::default()
        }));
        let told = validate(&workload).unwrap_err();
        let hints: Vec<_> = told
            .0
            .iter()
            .filter_map(|one| one.hint.as_deref())
            .collect();
        assert_eq!(hints, [remedy], "{told}");
        let job = &mut workload.stages[0].jobs[0];
        job.limits.time_based = false;
        assert!(validate(&workload).is_ok(), "{existing:?}");
    }
}

#[test]
fn targets_are_checked() {
    let target = |change: fn(&mut Target)| move |job: &mut Job| change(&mut job.targets[0]);
    check_job(
        target(|target| target.length = None),
        &["the fresh file in `/mnt/data` has no size"],
    );
    check_job(
        target(|target| target.length = Some(Bytes::kib(1))),
        &["its blocks of 4 KiB do not fit into the 1 KiB of `/mnt/data`"],
    );
    // Rounded, it would look as large as a block.
    check_job(
        |job| {
            job.targets[0].length = Some(Bytes::new(4095));
            job.caching = Caching::Buffered;
        },
        &["its blocks of 4 KiB do not fit into the 4,095 B of `/mnt/data`"],
    );
    check_job(
        target(|target| target.offset = Bytes::new(u64::MAX - 511)),
        &["the used part of `/mnt/data` ends past 2^63 bytes"],
    );
    check_job(
        target(|target| target.offset = Bytes::new(100)),
        &["the offset in `/mnt/data` of 100 bytes is no multiple of 512, which direct I/O needs"],
    );
    check_job(
        target(|target| target.place = Place::Path(String::new())),
        &["a target's path is empty or holds a zero byte"],
    );
}

#[test]
fn checks_of_data_need_a_stream_of_their_own() {
    let verify = |kind| Some(Box::new(crate::Verify::new(kind)));
    check_job(
        |job| {
            job.features.verify = verify(crate::Checksum::Md5);
            job.mix = Mix::WRITE;
            job.workers = 2;
            job.access = Access::Sequential {
                gap: Bytes::ZERO,
                scope: SequentialScope::Shared,
            };
        },
        &[
            "several workers write where each checks its own writes",
            "which worker wrote what is not known where they share a position",
        ],
    );
    check_job(
        |job| {
            job.features.verify = Some(Box::new(crate::Verify {
                phase: crate::VerifyPhase::Only,
                ..crate::Verify::new(crate::Checksum::Md5)
            }));
            job.features.replay = Some(crate::Replay {
                path: "/trace".to_owned(),
                pace: crate::ReplayPace::AtOnce,
                merged: Vec::new(),
                scale: 1,
                align: 0,
                skip: [false; 4],
                files: Vec::new(),
                redirected: false,
                plain_writes: false,
            });
        },
        &["a trace is checked in the run that replays it"],
    );
    check_job(
        |job| job.features.verify = verify(crate::Checksum::Pattern),
        &["`pattern` compares with a pattern, and there is none"],
    );
    check_job(
        |job| job.features.verify = verify(crate::Checksum::Md5),
        &[],
    );
}
