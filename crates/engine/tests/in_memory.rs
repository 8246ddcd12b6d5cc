//! Targets that the machine's memory holds are known as that. These tests need root.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::path::Path;

use common::{LoopDevice, Mounted, command, job, workload};
use fathom_engine::{RunOptions, StopFlag, run};
use fathom_record::{Ignore, InMemory};
use fathom_units::Bytes;
use fathom_workload::Caching;

/// What a run of reads says of its target.
#[track_caller]
fn found(path: &Path, caching: Caching) -> Option<InMemory> {
    let mut reader = job(path, Bytes::kib(64));
    reader.caching = caching;
    let (options, stop) = (RunOptions::default(), StopFlag::new());
    let _alone = common::no_program_begins();
    let outcome = run(&workload(vec![reader]), &options, &stop, &mut Ignore).unwrap();
    assert!(outcome.failure.is_none(), "{:?}", outcome.failure);
    outcome.facts.targets[0].in_memory.clone()
}

#[test]
fn a_file_system_in_memory_is_told() {
    let mounted = Mounted::new("-t tmpfs -o size=4m none");
    let expected = InMemory::FileSystem("tmpfs".to_owned());
    let file = mounted.directory.path().join("file");
    assert_eq!(found(&file, Caching::Buffered), Some(expected));
}

#[test]
fn a_loop_device_is_told_unless_it_reads_its_file_directly() {
    let device = LoopDevice::new(Bytes::mib(8));
    let through_cache = Some(InMemory::PageCache {
        device: device.name().to_owned(),
        file: device.image.path().display().to_string(),
    });
    let path = Path::new(&device.path);
    assert_eq!(found(path, Caching::Direct), through_cache);
    // Whoever reads through one page cache is told nothing of a second.
    assert_eq!(found(path, Caching::Buffered), None);
    command(&format!("losetup --direct-io=on {}", device.path));
    assert_eq!(found(path, Caching::Direct), None);

    command(&format!("losetup --direct-io=off {}", device.path));
    command(&format!("mkfs.ext4 -q {}", device.path));
    let mounted = Mounted::new(&device.path);
    let file = mounted.directory.path().join("file");
    assert_eq!(found(&file, Caching::Direct), through_cache);
}

/// Directly into a file that is in memory itself.
#[test]
fn what_is_under_a_loop_device_is_looked_at() {
    let image = tempfile::NamedTempFile::new_in("/dev/shm").unwrap();
    image.as_file().set_len(8 << 20).unwrap();
    let place = image.path().display().to_string();
    let path = command(&format!("losetup --find --show --direct-io=on {place}"));
    let device = LoopDevice { path, image };
    let direct = command(&format!("losetup --noheadings -O DIO {}", device.path));
    let seen = found(Path::new(&device.path), Caching::Direct);
    let expected = match direct.trim() {
        "1" => InMemory::FileSystem("tmpfs".to_owned()),
        // A kernel whose tmpfs does no direct I/O.
        _ => InMemory::PageCache {
            device: device.name().to_owned(),
            file: place,
        },
    };
    assert_eq!(seen, Some(expected));
}
