//! How trims are charged.

use super::*;

fn trim(tag: u64, offset: u64, length: u32) -> Request {
    Request {
        kind: IoKind::Trim,
        ..write(tag, offset, length)
    }
}

/// Trims of `length` bytes at 0, all at once; gives I/Os and bytes of a part, and when the last was over, in ms.
#[track_caller]
fn check(text: &str, count: u64, length: u32, part: &str, expected: (u64, u64, u64)) {
    let mut storage = of(text, "/w/f");
    let mut completed = Vec::new();
    for tag in 0..count {
        storage.submit(Nanos::ZERO, trim(tag, 0, length), &mut completed);
    }
    let mut last = Nanos::ZERO;
    while storage.has_requests() {
        last = storage.next_due().unwrap();
        storage.advance(&mut completed);
    }
    assert_eq!(completed.len() as u64, count);
    assert!(completed.iter().all(|one| one.error.is_none()));
    let row = &storage.statistics(last)[part];
    let millis = last.get() / 1_000_000;
    assert_eq!((row.ios, row.bytes, millis), expected, "{part}: {text}");
}

#[test]
fn a_trim_is_one_io_of_no_bytes_at_each_disk() {
    let device = "[[device]]\nname = 'd'\nmount = '/w'\nsize = '2GiB'\niops = 1000\nbandwidth = '1MB/s'\nlatency = 'none'\n";
    check(device, 3, 1 << 30, "d", (3, 0, 2));
    // Past the write-back cache to the disk, whose 500 IOPS bind.
    check(WRITE_BACK, 3, 1 << 30, "vm/w/disk1", (3, 0, 4));
    check(WRITE_BACK, 3, 1 << 30, "vm/uncached", (3, 0, 4));
    let striped = WRITE_BACK.replace("'P10'", "'P10', count = 4");
    check(&striped, 3, 65_536, "vm/w/disk1", (3, 0, 4));
    check(&striped, 3, 65_536, "vm/w/disk2", (0, 0, 4));
    check(&striped, 3, 1 << 30, "vm/w/disk4", (3, 0, 4));
    let array = "[[device]]\nname = 'd'\nmount = '/w'\nsize = '2GiB'\ntype = '10k'\ndisks = 3\nraid = '5'\nlatency = 'none'\n";
    let (ios, bytes) = (2, 0);
    let mut storage = of(array, "/w/f");
    let mut completed = Vec::new();
    for tag in 0..2 {
        storage.submit(Nanos::ZERO, trim(tag, 0, 1 << 30), &mut completed);
    }
    while storage.has_requests() {
        storage.advance(&mut completed);
    }
    let rows = storage.statistics(Nanos::from_secs(1));
    for disk in 1..=3 {
        let row = &rows[&format!("d/disk{disk}")];
        assert_eq!((row.ios, row.bytes), (ios, bytes), "disk {disk}");
    }
}

/// What is dirty under a trim is still written, and what is held is still a hit.
#[test]
fn a_trim_leaves_the_host_cache_as_it_is() {
    let mut storage = of(WRITE_BACK, "/w/f");
    let mut completed = Vec::new();
    storage.submit(Nanos::ZERO, write(0, 0, 8192), &mut completed);
    storage.submit(Nanos::ZERO, trim(1, 0, 8192), &mut completed);
    storage.submit(Nanos::ZERO, read(2, 8192), &mut completed);
    until(&mut storage, MILLISECOND);
    let gauge = storage.gauges(MILLISECOND).next().unwrap();
    assert_eq!((gauge.hits, gauge.dirty_bytes), (1, Some(8192)));
}
