//! What devices did for others while a stage was measured: what is told of it, when it is not, and over which time. These
//! tests need root.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::path::Path;

use common::{LoopDevice, Mounted, command, for_time, job, undisturbed, workload};
use fathom_engine::{Gate, RunOptions, StopFlag, Upcoming, run, run_gated};
use fathom_rawio::Clock;
use fathom_record::{Ignore, StageResult};
use fathom_units::{Bytes, Nanos};
use fathom_workload::{BlockSizes, Job, Mix};

const SIZE: Bytes = Bytes::mib(8);

/// What a stage of these jobs measured.
#[track_caller]
fn measured(jobs: Vec<Job>) -> StageResult {
    let (options, stop) = (RunOptions::default(), StopFlag::new());
    let mut outcome = run(&workload(jobs), &options, &stop, &mut Ignore).unwrap();
    assert!(outcome.failure.is_none(), "{:?}", outcome.failure);
    outcome.results.remove(0)
}

#[test]
fn what_a_run_reads_of_a_device_is_its_own() {
    let device = LoopDevice::new(SIZE);
    let result = measured(vec![job(Path::new(&device.path), SIZE)]);
    let others = result.others.unwrap();
    assert_eq!(others.devices, [device.name()]);
    assert_eq!(others.own, [SIZE.get(), 0]);
    assert_eq!(others.bytes, [0, 0]);
    assert!(others.writes_known);
    // What goes to files is written later, and more of it.
    let folder = tempfile::tempdir().unwrap();
    let mut writer = job(&folder.path().join("file"), SIZE);
    writer.mix = Mix::WRITE;
    let others = measured(vec![writer]).others;
    assert!(others.is_none_or(|others| !others.writes_known));
}

/// Lets every stage begin at once.
#[derive(Debug)]
struct Now;

impl Gate for Now {
    fn begin(&self, _: &Upcoming<'_>, _: &StopFlag) -> Option<Nanos> {
        Some(Clock::now())
    }
}

/// Other hosts that begin with this one may be on this machine, and a device that is made of another has its I/O twice.
#[test]
fn what_may_be_counted_twice_is_not_told() {
    let device = LoopDevice::new(Bytes::mib(32));
    let path = Path::new(&device.path);
    let planned = workload(vec![job(path, SIZE)]);
    let (options, stop) = (RunOptions::default(), StopFlag::new());
    let gated = run_gated(&planned, &options, &stop, &mut Ignore, &Now).unwrap();
    assert!(gated.results[0].others.is_none());

    command(&format!(
        "mkfs.ext4 -q -E lazy_itable_init=0 {}",
        device.path
    ));
    let mounted = Mounted::new(&device.path);
    let image = mounted.directory.path().join("image");
    std::fs::write(&image, vec![1; SIZE.get() as usize]).unwrap();
    let above = command(&format!("losetup --find --show {}", image.display()));
    let [both, alone] = [2, 1].map(|count| {
        let paths = [Path::new(&above), path];
        let jobs = paths[..count].iter().map(|path| job(path, SIZE));
        std::panic::catch_unwind(|| measured(jobs.collect()).others.is_some())
    });
    command(&format!("losetup -d {above}"));
    assert!(!both.unwrap() && alone.unwrap());
}

/// Of a warm-up three times as long as what is measured, nothing is counted.
#[test]
fn devices_are_counted_while_it_is_measured() {
    let device = LoopDevice::new(SIZE);
    let measure = || {
        let mut reads = job(Path::new(&device.path), SIZE);
        reads.block = BlockSizes::uniform(Bytes::kib(64));
        reads.limits = for_time(Nanos::from_millis(200));
        reads.limits.warmup = Nanos::from_millis(600);
        let result = measured(vec![reads]);
        let counters = &result.devices[0];
        let of_device = (counters.sectors[0] * 512) as f64;
        let of_run = result.workers[0].bytes() as f64;
        (of_device / of_run, counters.over.as_secs_f64() / 0.2)
    };
    let near = |ratio: f64| (0.8..1.5).contains(&ratio);
    undisturbed(measure, |(bytes, time)| near(*bytes) && near(*time));
}
