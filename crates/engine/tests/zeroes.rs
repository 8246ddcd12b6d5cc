//! Block devices that hold nothing where jobs read are known as that. These tests need root.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::os::unix::fs::FileExt;
use std::path::Path;

use common::{LoopDevice, command, job, workload};
use fathom_engine::{RunOptions, StopFlag, run};
use fathom_record::Ignore;
use fathom_units::Bytes;
use fathom_workload::{Mix, Stage, Workload};

/// The share of zeroes that a run says of its only target.
#[track_caller]
fn found(planned: &Workload, device: &LoopDevice) -> Option<f64> {
    let options = RunOptions {
        destroy_data: vec![device.name().to_owned()],
        ..RunOptions::default()
    };
    let _alone = common::no_program_begins();
    let outcome = run(planned, &options, &StopFlag::new(), &mut Ignore).unwrap();
    assert!(outcome.failure.is_none(), "{:?}", outcome.failure);
    outcome.facts.targets[0].zeroes_share
}

#[test]
fn a_device_that_was_never_written_is_told() {
    let device = LoopDevice::new(Bytes::mib(8));
    let reader = job(Path::new(&device.path), Bytes::mib(8));
    let planned = workload(vec![reader]);
    assert_eq!(found(&planned, &device), Some(1.0));

    let half = vec![7; 4 << 20];
    device.image.as_file().write_all_at(&half, 0).unwrap();
    command(&format!("blockdev --flushbufs {}", device.path));
    assert_eq!(found(&planned, &device), Some(0.5));
}

#[test]
fn what_an_earlier_stage_wrote_counts_as_data() {
    let device = LoopDevice::new(Bytes::mib(8));
    let reader = job(Path::new(&device.path), Bytes::mib(8));
    let mut writer = reader.clone();
    writer.mix = Mix::WRITE;
    let only_written = workload(vec![writer.clone()]);
    assert_eq!(found(&only_written, &device), None);

    let device = LoopDevice::new(Bytes::mib(8));
    let path = Path::new(&device.path);
    let [mut writer, mut reader] = [writer, reader];
    let placed = job(path, Bytes::mib(8)).targets;
    (writer.targets, reader.targets) = (placed.clone(), placed);
    let mut planned = workload(vec![writer]);
    planned.stages.push(Stage {
        jobs: vec![reader],
        ..planned.stages[0].clone()
    });
    assert_eq!(found(&planned, &device), Some(0.0));
}
