//! Members of RAID sets that firmware makes: of chip sets, of BIOSes and of cards that leave the work to a driver.
//!
//! Nothing mounts or holds such a disk where no driver has put its set together, and its set is lost all the same when it is
//! written to. What marks it stands near its end, in sectors of 512 bytes counted from there.
//!
//! Places and bytes: as libblkid's manual page and programs of the same package (`blkid -p`, `wipefs`) tell them; DDF from SNIA's
//! "Common RAID Disk Data Format", 2.0. A mark of a few bytes is believed with its checksum alone: a disk of random bytes has
//! any two of them once in 65,536 times.

use std::fs::File;
use std::io;

use super::signature::{has, read};

const SECTOR: u64 = 512;
/// Smaller ones hold no such member.
const LEAST: u64 = 64 << 10;

/// Whose it is; how many sectors from the end its sector begins; where in it which bytes are.
type Mark = (&'static str, u64, usize, &'static [u8]);

const INTEL: &str = "an Intel firmware RAID member (isw)";
const DDF: &str = "a DDF RAID member";
const PROMISE: &str = "a Promise firmware RAID member";
const HIGHPOINT: &str = "a HighPoint firmware RAID member";

const MARKS: [Mark; 9] = [
    (INTEL, 2, 0, b"Intel Raid ISM Cfg Sig. "),
    // Written in either order of bytes; Adaptec's controllers leave the last 128 KiB to themselves.
    (DDF, 1, 0, &[0xde, 0x11, 0xde, 0x11]),
    (DDF, 1, 0, &[0x11, 0xde, 0x11, 0xde]),
    (DDF, 257, 0, &[0xde, 0x11, 0xde, 0x11]),
    (DDF, 257, 0, &[0x11, 0xde, 0x11, 0xde]),
    ("an NVIDIA firmware RAID member", 2, 0, b"NVIDIA"),
    ("an LSI firmware RAID member", 1, 0, b"$XIDE$"),
    (HIGHPOINT, 11, 0, &[0xf3, 0x16, 0x78, 0x5a]),
    (HIGHPOINT, 11, 0, &[0xfd, 0x16, 0x78, 0x5a]),
];

/// Where Promise's controllers have their sector, by model.
const PROMISE_SECTORS: [u64; 13] = [
    16, 63, 255, 256, 399, 591, 675, 735, 911, 951, 974, 991, 3087,
];
const PROMISE_MARK: &[u8] = b"Promise Technology, Inc.";

/// HighPoint's earlier controllers have theirs near the start.
const HIGHPOINT_START: u64 = 9 * SECTOR + 32;
const HIGHPOINT_MARKS: [&[u8]; 2] = [&[0xf0, 0x16, 0x78, 0x5a], &[0xfd, 0x16, 0x78, 0x5a]];

/// The sets that a device of `size` bytes is a member of, by what its bytes say.
///
/// # Errors
/// Where the device cannot be read.
pub(super) fn find(device: &File, size: u64) -> io::Result<Vec<&'static str>> {
    if size < LEAST {
        return Ok(Vec::new());
    }
    let sectors = size / SECTOR;
    let sector = |from_end: u64| match sectors.checked_sub(from_end) {
        Some(at) => read(device, at * SECTOR, SECTOR),
        None => Ok(Vec::new()),
    };
    let mut found = Vec::new();
    for (whose, from_end, at, bytes) in MARKS {
        if has(&sector(from_end)?, at as u64, bytes) {
            found.push(whose);
        }
    }
    for from_end in PROMISE_SECTORS {
        if has(&sector(from_end)?, 0, PROMISE_MARK) {
            found.push(PROMISE);
        }
    }
    let start = read(device, HIGHPOINT_START, 4)?;
    if HIGHPOINT_MARKS.iter().any(|mark| has(&start, 0, mark)) {
        found.push(HIGHPOINT);
    }
    let last = sector(1)?;
    for (whose, is_one) in SUMMED {
        if is_one(&last) {
            found.push(whose);
        }
    }
    found.dedup();
    Ok(found)
}

/// Whose it is, and whether a last sector is one of theirs.
type Summed = (&'static str, fn(&[u8]) -> bool);

/// What the last sector says with more than one mark.
const SUMMED: [Summed; 4] = [
    ("an Adaptec firmware RAID member", is_adaptec),
    ("a Silicon Image firmware RAID member", is_silicon_image),
    ("a VIA firmware RAID member", is_via),
    ("a JMicron firmware RAID member", is_jmicron),
];

fn is_adaptec(sector: &[u8]) -> bool {
    has(sector, 0, &[0x37, 0xfc, 0x4d, 0x1e]) && has(sector, 256, b"DPTM")
}

/// The words before the checksum and itself add up to nothing.
fn is_silicon_image(sector: &[u8]) -> bool {
    const CHECKSUM_ENDS: usize = 0x140;
    has(sector, 0x60, &[0, 0, 0, 0x2f]) && sum_of_words(sector, CHECKSUM_ENDS) == Some(0)
}

/// The fifty bytes before the checksum add up to it.
fn is_via(sector: &[u8]) -> bool {
    const SUMMED: usize = 50;
    const NEWEST: u8 = 2;
    let Some(bytes) = sector.get(..=SUMMED) else {
        return false;
    };
    let sum = bytes[..SUMMED].iter().copied().fold(0, u8::wrapping_add);
    has(bytes, 0, &[0x55, 0xaa]) && bytes[2] <= NEWEST && sum == bytes[SUMMED]
}

/// All words add up to nothing, or to one.
fn is_jmicron(sector: &[u8]) -> bool {
    const LENGTH: usize = 128;
    has(sector, 0, b"JM") && sum_of_words(sector, LENGTH).is_some_and(|sum| sum <= 1)
}

/// Sum of the first `length` bytes as little-endian words.
fn sum_of_words(sector: &[u8], length: usize) -> Option<u16> {
    let words = sector.get(..length)?.chunks_exact(2);
    Some(words.fold(0, |sum: u16, word| {
        sum.wrapping_add(u16::from_le_bytes([word[0], word[1]]))
    }))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;

    use super::*;

    const SIZE: u64 = 4 << 20;

    /// What is found where these bytes stand so far from the end.
    #[track_caller]
    fn check(marks: &[(u64, &[u8])], expected: &[&str]) {
        let file = tempfile::tempfile().unwrap();
        file.set_len(SIZE).unwrap();
        for (from_end, bytes) in marks {
            file.write_all_at(bytes, SIZE - from_end).unwrap();
        }
        assert_eq!(find(&file, SIZE).unwrap(), expected, "{marks:?}");
    }

    #[test]
    fn marks_of_a_few_bytes_need_their_sums() {
        check(&[(512, &[0x37, 0xfc, 0x4d, 0x1e])], &[]);
        check(&[(512 - 0x60, &[0, 0, 0, 0x2f])], &[]);
        check(&[(512, &[0x55, 0xaa])], &[]);
        check(&[(512, b"JM")], &[]);
        check(&[(512, b"MJ"), (512 - 126, &[0xb3, 0xb5])], &[]);
    }

    #[test]
    fn marks_stand_at_their_places_alone() {
        check(&[(512, b"NVIDIA")], &[]);
        check(&[(1024, b"NVIDIA")], &["an NVIDIA firmware RAID member"]);
        check(&[(100 * 512, PROMISE_MARK)], &[]);
        check(&[(3087 * 512, PROMISE_MARK)], &[PROMISE]);
        check(
            &[(SIZE - HIGHPOINT_START, HIGHPOINT_MARKS[0])],
            &[HIGHPOINT],
        );
    }

    #[test]
    fn a_small_device_is_none() {
        for size in [0, 100, LEAST, 1 << 20] {
            let file = tempfile::tempfile().unwrap();
            file.set_len(size).unwrap();
            assert_eq!(find(&file, size).unwrap(), [""; 0], "{size}");
        }
    }
}
