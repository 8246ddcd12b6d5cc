//! File systems that made less of what was written to them are known as that. These tests need root.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{LoopDevice, Mounted, command, job, workload};
use fathom_engine::{RunOptions, StopFlag, run};
use fathom_record::{Ignore, Reduced, Reducing};
use fathom_units::Bytes;
use fathom_workload::{BlockSizes, BufferContents, Caching, Mix};

/// What a run that wrote 4 MiB of this in blocks of 64 KiB says of its target, on a btrfs mounted so.
fn found(options: &str, contents: BufferContents) -> Option<Reducing> {
    let device = LoopDevice::new(Bytes::mib(128));
    command(&format!("mkfs.btrfs -q {}", device.path));
    let mounted = Mounted::new(&format!("{options} {}", device.path));
    let file = mounted.directory.path().join("file");
    let mut writer = job(&file, Bytes::mib(4));
    writer.mix = Mix::WRITE;
    writer.block = BlockSizes::uniform(Bytes::kib(64));
    writer.contents = contents;
    writer.caching = Caching::Buffered;
    // What waits for write-back is in no extent.
    writer.sync.at_end = true;
    let (options, stop) = (RunOptions::default(), StopFlag::new());
    let _alone = common::no_program_begins();
    let outcome = run(&workload(vec![writer]), &options, &stop, &mut Ignore).unwrap();
    assert!(outcome.failure.is_none(), "{:?}", outcome.failure);
    outcome.facts.targets[0].reducing.clone()
}

#[test]
fn a_file_system_that_compressed_the_file_is_told() {
    let told = found("-o compress=zstd", BufferContents::Zeroes).unwrap();
    assert_eq!(told.what, Reduced::Compressible);
    assert!(told.how.starts_with("btrfs, which keeps "), "{}", told.how);
}

#[test]
fn one_that_did_not_is_not() {
    assert_eq!(found("", BufferContents::Zeroes), None);
    let random = BufferContents::RandomEachWrite;
    assert_eq!(found("-o compress=zstd", random), None);
}
