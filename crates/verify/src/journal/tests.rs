//! Journals come back as they were written, wherever they end and whatever was harmed.

use std::collections::HashMap;

use super::*;
use crate::{Pending, Reservation, SECTOR};

const BLOCK: u32 = 1024;
const BLOCKS: u64 = 70_000;

fn storage() -> (KeyMap, Stamp) {
    let map = KeyMap::new(BLOCKS * u64::from(BLOCK), BLOCK);
    (map, Stamp::new("sd1", BLOCK))
}

fn range(map: &KeyMap, first: u64, count: u64) -> BlockRange {
    let size = u64::from(BLOCK);
    map.range(first * size, (count * size) as u32).unwrap()
}

/// A journal of a map in which blocks 3 to 5 were written twice, and block 69,999 once.
fn begun() -> (Vec<u8>, JournalWriter, JournalHead) {
    let (map, stamp) = storage();
    for (first, count, times) in [(3, 3, 2), (69_999, 1, 1)] {
        let range = range(&map, first, count);
        assert_eq!(map.reserve(range), Reservation::Granted);
        (0..times).for_each(|_| map.written(range));
    }
    let head = JournalHead::new(BLOCKS * u64::from(BLOCK), BLOCK, &stamp);
    let mut file = Vec::new();
    let writer = JournalWriter::begin(head, &map, &HashMap::new(), &mut file).unwrap();
    (file, writer, head)
}

fn recovered(file: &[u8], head: JournalHead) -> (KeyMap, Recovered) {
    let map = storage().0;
    let recovered = recover(&mut &*file, head, &map).unwrap();
    (map, recovered)
}

#[test]
fn keys_and_changes_come_back() {
    let (mut file, mut writer, head) = begun();
    let (map, told) = recovered(&file, head);
    assert_eq!(
        [3, 5, 6, 69_999].map(|number| map.key(number)),
        [2, 2, 0, 1]
    );
    assert_eq!((told.known, told.pending, told.torn), (4, 0, 0));
    for change in [
        Change::Begins(range(&map, 4, 1)),
        Change::Begins(range(&map, 10, 2)),
        Change::Ended(range(&map, 10, 2)),
        Change::Begins(range(&map, 69_999, 1)),
        Change::Found(69_999, 1),
        Change::Begins(range(&map, 30, 1)),
    ] {
        file.extend_from_slice(writer.change(change));
    }
    let (map, told) = recovered(&file, head);
    assert_eq!(
        [3, 4, 10, 11, 69_999, 30].map(|number| map.key(number)),
        [2, 2, 1, 1, 1, 0]
    );
    assert_eq!(map.pending(), [4, 30]);
    assert_eq!((told.known, told.pending, told.bad), (6, 2, 0));
    let wrong = range(&map, 69_999, 1);
    assert_eq!(map.reserve(wrong), Reservation::Granted);
    map.mark_bad(69_999);
    // Gone on with: what was not known to have ended is not forgotten.
    let mut again = Vec::new();
    JournalWriter::begin(head, &map, &HashMap::from([(10, 7)]), &mut again).unwrap();
    let (map, told) = recovered(&again, head);
    assert_eq!([3, 4, 10, 30].map(|number| map.key(number)), [2, 2, 7, 0]);
    assert_eq!(map.pending(), [4, 10, 30]);
    assert_eq!((told.known, told.bad), (6, 1));
    assert_eq!(map.reserve(wrong), Reservation::Bad);
}

#[test]
fn wherever_a_file_ends_what_is_whole_counts() {
    let (mut file, mut writer, head) = begun();
    let (map, _) = storage();
    let keys = file.len();
    for number in 0..20 {
        file.extend_from_slice(writer.change(Change::Begins(range(&map, number, 1))));
        file.extend_from_slice(writer.change(Change::Ended(range(&map, number, 1))));
    }
    for end in keys..=file.len() {
        let (map, told) = recovered(&file[..end], head);
        let whole = (end - keys) / RECORD;
        assert_eq!(told.torn, ((end - keys) % RECORD) as u64, "{end}");
        assert_eq!(map.pending().len(), whole % 2, "{end}");
        let ended = (0..20)
            .filter(|number| map.key(*number) == if (3..6).contains(number) { 3 } else { 1 });
        assert_eq!(ended.count(), whole / 2, "{end}");
    }
    for end in 0..keys {
        let problem = recover(&mut &file[..end], head, &storage().0);
        assert!(problem.is_err(), "{end}");
    }
}

#[test]
fn a_byte_that_was_damaged_is_seen() {
    let (mut file, mut writer, head) = begun();
    let (map, _) = storage();
    let keys = file.len();
    for number in [10, 11] {
        file.extend_from_slice(writer.change(Change::Begins(range(&map, number, 1))));
        file.extend_from_slice(writer.change(Change::Ended(range(&map, number, 1))));
    }
    for at in keys..file.len() {
        let mut damaged = file.clone();
        damaged[at] ^= 0x11;
        let (map, told) = recovered(&damaged, head);
        let whole = (at - keys) / RECORD;
        assert_eq!(told.torn, ((4 - whole) * RECORD) as u64, "{at}");
        assert_eq!(map.key(10), u8::from(whole >= 2), "{at}");
    }
    for at in [
        0,
        9,
        13,
        20,
        26,
        33,
        41,
        HEAD,
        HEAD + 5,
        HEAD + 17,
        HEAD + RECORD + 9,
    ] {
        let mut damaged = file.clone();
        damaged[at] ^= 0x11;
        let result = recover(&mut &*damaged, head, &storage().0);
        let _problem = result.expect_err("a damaged head, or damaged keys");
    }
}

#[test]
fn it_is_of_one_storage_and_its_transfers_alone() {
    let (file, _, head) = begun();
    for (name, length, block, words) in [
        ("sd2", BLOCKS * 1024, 1024, "`sd2`"),
        ("sd1", BLOCKS * 1024, 2048, "2048 bytes"),
        ("sd1", BLOCKS * 512, 1024, "35000 key blocks"),
    ] {
        let map = KeyMap::new(length, block);
        let other = JournalHead::new(length, block, &Stamp::new(name, block));
        let problem = recover(&mut &*file, other, &map).unwrap_err().to_string();
        assert!(problem.contains(words), "{problem}");
        assert!(
            problem.contains("70000 key blocks of 1024 bytes of `sd1`"),
            "{problem}"
        );
    }
    // Storage that has grown, or of which more is used.
    let map = KeyMap::new(BLOCKS * 2048, BLOCK);
    let larger = JournalHead::new(BLOCKS * 2048, BLOCK, &Stamp::new("sd1", BLOCK));
    assert_eq!(recover(&mut &*file, larger, &map).unwrap().known, 4);
    let text = &b"sd=sd1,lun=/data/file\nwd=wd1,sd=sd1,xfersize=4k\n"[..];
    for foreign in [text, &[]] {
        let problem = recover(&mut &*foreign, head, &storage().0).unwrap_err();
        assert!(matches!(problem, JournalProblem::Foreign), "{problem}");
    }
}

#[test]
fn a_block_whose_write_may_not_have_ended_may_hold_either() {
    let stamp = Stamp::new("sd1", BLOCK);
    let at = 8 * u64::from(BLOCK);
    let written = |key| {
        let mut block = vec![0; BLOCK as usize];
        stamp.fill(at, key, 1, &mut block);
        block
    };
    assert_eq!(stamp.check_pending(at, 5, &written(5)), Pending::Before);
    assert_eq!(stamp.check_pending(at, 5, &written(6)), Pending::Written);
    assert_eq!(stamp.check_pending(at, 126, &written(1)), Pending::Written);
    let mut torn = written(5);
    torn[..SECTOR as usize].copy_from_slice(&written(6)[..SECTOR as usize]);
    assert_eq!(stamp.check_pending(at, 5, &torn), Pending::Unknown);
    assert!(matches!(
        stamp.check_pending(at, 5, &written(4)),
        Pending::Wrong(_)
    ));
    torn[0] ^= 1;
    assert!(matches!(
        stamp.check_pending(at, 5, &torn),
        Pending::Wrong(_)
    ));
    // What was there before the first write is not known.
    assert_eq!(stamp.check_pending(at, 0, &written(9)), Pending::Unknown);
    assert_eq!(stamp.check_pending(at, 0, &written(1)), Pending::Written);
}
