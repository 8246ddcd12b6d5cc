//! Files that each pass makes anew.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::fs;
use std::os::unix::fs::MetadataExt;

use common::{job, run_jobs};
use fathom_units::Bytes;
use fathom_workload::{Backend, Caching, ExistingFiles, Mix};

/// Three passes over two files leave files of the last, with all that it wrote, and not those that were there before.
#[track_caller]
fn check(backend: Backend, caching: Caching, depth: u32, block: Bytes) {
    let directory = tempfile::tempdir().unwrap();
    let paths = [0, 1].map(|number| directory.path().join(format!("file{number}")));
    // A second name keeps the inode from being given away again.
    let kept = [0, 1].map(|number| directory.path().join(format!("kept{number}")));
    for (path, kept) in paths.iter().zip(&kept) {
        fs::write(path, vec![0; 64 << 10]).unwrap();
        fs::hard_link(path, kept).unwrap();
    }
    let mut job = job(&paths[0], Bytes::kib(64));
    job.targets
        .push(common::target(&paths[1], Some(Bytes::kib(64))));
    job.backend = backend;
    job.caching = caching;
    job.depth = depth;
    job.mix = Mix::WRITE;
    job.existing = ExistingFiles::AsPeer;
    job.block = fathom_workload::BlockSizes::uniform(block);
    job.limits.loops = 3;
    job.features.files.made_anew = true;
    let outcome = run_jobs(vec![job]).unwrap();
    assert!(outcome.failure.is_none(), "{:?}", outcome.failure);
    let ios = 3 * 2 * (64 << 10) / block.get();
    assert_eq!(outcome.results[0].workers[0].ios(), ios);
    for (path, kept) in paths.iter().zip(&kept) {
        let inode = |path| fs::metadata(path).unwrap().ino();
        assert_ne!(inode(path), inode(kept), "{backend:?}");
        let bytes = fs::read(path).unwrap();
        assert_eq!(bytes.len(), 64 << 10);
        // No block of the last pass went elsewhere.
        for block in bytes.chunks(4096) {
            assert!(block.iter().any(|byte| *byte != 0), "{backend:?}");
        }
    }
}

#[test]
fn each_pass_begins_with_new_files() {
    for backend in [Backend::Sync, Backend::Libaio, Backend::IoUring] {
        let depth = if backend == Backend::Sync { 1 } else { 8 };
        for caching in [Caching::Direct, Caching::Buffered] {
            check(backend, caching, depth, Bytes::kib(4));
            // Each pass is over before its first I/O is.
            check(backend, caching, depth, Bytes::kib(64));
        }
    }
}
