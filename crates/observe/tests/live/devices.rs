//! Devices that go and come back, and what a watch leaves behind.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use fathom_observe::live::{Options, watch};
use fathom_rawio::{Clock, sleep_until};
use fathom_units::Nanos;

use super::agreement::sum;
use super::bench::{Bench, watch_apart};
use super::{alone, output};

/// Its counters stay as they were, so that nothing else shows why nothing more happens.
#[test]
fn a_device_that_is_detached_is_told() {
    let _alone = alone();
    let bench = Bench::new();
    let stop = Arc::new(AtomicBool::new(false));
    let raised = Arc::clone(&stop);
    let options = Options {
        interval: Nanos::from_millis(200),
        ..bench.options()
    };
    let watching = watch_apart(options, stop);
    let wait = || sleep_until(Clock::now() + Nanos::from_millis(700));
    wait();
    output("losetup", &["-d", &bench.device]);
    wait();
    raised.store(true, Ordering::Relaxed);
    let seen = watching.join().unwrap().unwrap();
    output("losetup", &[&bench.device, bench.image.to_str().unwrap()]);
    let doubts = &seen.observation.doubts;
    let told = doubts.iter().filter(|it| it.contains("was detached"));
    assert_eq!(told.count(), 1, "{doubts:?}");
    assert!(doubts.iter().all(|it| !it.contains("times")), "{doubts:?}");
}

#[test]
fn a_device_may_go_and_come_back() {
    let _alone = alone();
    let bench = Bench::new();
    let image = bench.image.to_str().unwrap();
    // A partition, of 4 MiB from sector 2048 on, can be taken away and given back.
    output("losetup", &["-d", &bench.device]);
    output("losetup", &["-P", &bench.device, image]);
    let add = || output("addpart", &[&bench.device, "1", "2048", "8192"]);
    let part = format!("{}p1", bench.device);
    let read = |skip: &str| {
        let from = format!("if={part}");
        let words = [
            "bs=4k",
            "count=100",
            "iflag=direct",
            "of=/dev/null",
            "status=none",
        ];
        let mut all = vec![from.as_str(), skip];
        all.extend(words);
        output("dd", &all)
    };
    add();
    let stop = Arc::new(AtomicBool::new(false));
    let raised = Arc::clone(&stop);
    let options = Options {
        devices: vec![part.clone()],
        interval: Nanos::from_millis(200),
        ..bench.options()
    };
    let watching = watch_apart(options, stop);
    let wait = || {
        sleep_until(Clock::now() + Nanos::from_millis(700));
    };
    wait();
    read("skip=0");
    wait();
    output("delpart", &[&bench.device, "1"]);
    wait();
    add();
    wait();
    read("skip=500");
    wait();
    raised.store(true, Ordering::Relaxed);
    let seen = watching.join().unwrap().unwrap();
    output("delpart", &[&bench.device, "1"]);
    let device = &seen.observation.devices[0];
    assert_eq!(sum(device, |it| it.reads), (200.0, 200.0 * 4096.0));
    let traced = device.traced.as_ref().unwrap();
    assert_eq!((traced.read_size.count(), traced.random), (200, 0));
    for part in ["went away", "came back"] {
        let told = seen
            .observation
            .doubts
            .iter()
            .any(|doubt| doubt.contains(part));
        assert!(told, "{part}: {:?}", seen.observation.doubts);
    }
}

#[test]
fn nothing_is_left_in_the_kernel() {
    let _alone = alone();
    let bench = Bench::new();
    let mounts = fs::read_to_string("/proc/mounts").unwrap();
    let tracefs = mounts
        .lines()
        .find(|line| line.split(' ').nth(2) == Some("tracefs"))
        .unwrap();
    let instances = Path::new(tracefs.split(' ').nth(1).unwrap()).join("instances");
    let own = || {
        let entries = fs::read_dir(&instances).unwrap().flatten();
        let prefix = format!("fathom-{}-", std::process::id());
        entries
            .filter(|entry| entry.file_name().to_string_lossy().starts_with(&prefix))
            .count()
    };
    // One of a program that was killed.
    let stale = instances.join(format!("fathom-{}-0", u32::MAX - 1));
    fs::create_dir(&stale).unwrap();
    let options = Options {
        duration: Nanos::from_millis(400),
        interval: Nanos::from_millis(200),
        ..bench.options()
    };
    let mut most = 0;
    let seen = watch(&options, &AtomicBool::new(false), &mut |_| {
        most = most.max(own());
    })
    .unwrap();
    assert!(
        seen.observation.devices[0].traced.is_some(),
        "{:?}",
        seen.notes
    );
    assert_eq!((most, own(), stale.exists()), (1, 0, false));
}
