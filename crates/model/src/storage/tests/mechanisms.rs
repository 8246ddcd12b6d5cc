//! Write-back and handles: what is durable when, what a crash loses, which open is refused.

use super::*;
use crate::cache::FLUSH_PERIOD;
use crate::change::Crash;
use crate::request::{IoError, MetadataOp};

#[test]
fn a_flush_completes_when_earlier_writes_are_on_the_disk() {
    let mut storage = of(WRITE_BACK, "/w/f");
    let mut completed = Vec::new();
    for tag in 0..3 {
        let request = write(tag, tag * 1_000_000, 4096);
        storage.submit(Nanos::ZERO, request, &mut completed);
    }
    assert_eq!(completed.len(), 3, "the cache takes them at once");
    let flush = Request {
        kind: IoKind::Flush,
        ..read(9, 0)
    };
    storage.submit(Nanos::ZERO, flush, &mut completed);
    assert_eq!(completed.len(), 3);
    assert!(storage.has_requests());
    // The disk's 500 IOPS let the third background write go after 4 ms.
    assert_eq!(until(&mut storage, MILLISECOND), []);
    let found = until(&mut storage, Nanos::from_millis(10));
    assert_eq!(found, [(4000, 9)]);
    assert!(!storage.has_requests());
    // Nothing is dirty: the next completes at once.
    storage.submit(Nanos::from_millis(10), flush, &mut completed);
    assert_eq!(completed.len(), 4);
}

#[test]
fn what_is_dirty_is_written_from_time_to_time() {
    let mut storage = of(WRITE_BACK, "/w/f");
    let machine = ClientId::new(0);
    let mut completed = Vec::new();
    storage.submit(MILLISECOND, write(0, 0, 8192), &mut completed);
    let dirty = |storage: &Storage| storage.gauges(MILLISECOND).next().unwrap().dirty_bytes;
    assert_eq!(dirty(&storage), Some(8192));
    until(&mut storage, FLUSH_PERIOD.saturating_sub(MILLISECOND));
    assert_eq!(dirty(&storage), Some(8192));
    until(&mut storage, FLUSH_PERIOD.saturating_add(MILLISECOND));
    assert_eq!(dirty(&storage), Some(0));
    let now = FLUSH_PERIOD.saturating_add(MILLISECOND);
    let crash = storage.crash(now, Some(machine), &mut completed);
    assert_eq!(crash, Crash::default());
    // The clock of the cache stops when there is nothing to write.
    until(&mut storage, Nanos::from_secs(60));
    assert_eq!(storage.next_due(), None);
}

/// The 2,001st handle of a file is refused; with the feature the 10,001st.
#[test]
fn opens_beyond_the_handles_of_a_file_fail() {
    for (lines, most) in [("", 2000), ("handles = 10000\n", 10_000)] {
        let text = format!(
            "[[smb]]\nname = 's'\nmount = '/s'\nmodel = 'ssd-v1'\nsize = '1TiB'\nlatency = 'none'\n{lines}"
        );
        let mut storage = of(&text, "/s/f");
        let operation = |tag, operation| Request {
            kind: IoKind::Metadata(operation),
            file: FileId::new(0),
            ..read(tag, 0)
        };
        let mut now = Nanos::ZERO;
        let mut refused = |storage: &mut Storage, request| {
            now = now.saturating_add(MILLISECOND);
            let mut completed = Vec::new();
            storage.submit(now, request, &mut completed);
            while completed.is_empty() {
                storage.advance(&mut completed);
            }
            completed[0].error
        };
        for tag in 0..most {
            let open = operation(tag, MetadataOp::Open);
            assert_eq!(refused(&mut storage, open), None, "open {tag}");
        }
        let next = operation(most, MetadataOp::Open);
        let too_many = Some(IoError::TooManyHandles);
        assert_eq!(refused(&mut storage, next), too_many);
        let close = operation(most, MetadataOp::Close);
        assert_eq!(refused(&mut storage, close), None);
        assert_eq!(refused(&mut storage, next), None);
        assert_eq!(refused(&mut storage, next), too_many);
    }
}
