//! The stamp in each sector of a validated block: where it was written, how often, when, and bytes that follow from that.
//!
//! A sector is 512 bytes, whatever the storage's own are. Its first 32 bytes say what it is, in the order in which Vdbench's
//! error log explains its own; the other 480 follow from place, key and name, so that every byte is known before it is read.
//! The time alone is not known beforehand: it has a check of its own.
//!
//! | bytes | contents |
//! |---|---|
//! | 0x00 | offset of the sector, 8 bytes, lowest first |
//! | 0x08 | time of the write, ms since 1970, 8 bytes |
//! | 0x10 | key: how often the block was written, 1 to 126 and over again |
//! | 0x11 | check of the time, 3 bytes |
//! | 0x14 | name of the storage, 8 bytes, filled up with blanks |
//! | 0x1c | size of a key block, 4 bytes |
//! | 0x20 | pattern, 480 bytes |
//!
//! Invariant: a sector that [`Stamp::check`] finds right has all bytes as [`Stamp::fill`] made them, but for its time, of which
//! the check holds no more than that it is one that was written.

use std::fmt;

use crate::next_key;

/// Bytes with one stamp.
pub const SECTOR: u32 = 512;
/// Bytes of a stamp before its pattern.
const HEAD: usize = 32;

/// What the stamps of one piece of storage have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    name: [u8; 8],
    /// A hash of all of the name.
    whole_name: u64,
    key_block: u32,
}

/// What a key block holds whose last write is not known to have ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pending {
    /// What was there before.
    Before,
    /// What was being written.
    Written,
    /// Sectors of each, or what was there before anything was known.
    Unknown,
    /// Something else.
    Wrong(BadBlock),
}

/// What is wrong with a key block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadBlock {
    /// Its first byte.
    pub offset: u64,
    /// The key that it should have.
    pub expected: u8,
    /// Sectors, and how many of them are wrong.
    pub sectors: (u32, u32),
    /// Offset of the first sector that is wrong.
    pub first: u64,
    /// What is wrong with that.
    pub faults: SectorFaults,
}

/// What is wrong with a sector: what was found where something else was expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SectorFaults {
    /// The offset found, where it is another.
    pub offset: Option<u64>,
    /// The key found, where it is another.
    pub key: Option<u8>,
    /// Whether the name or the size of key blocks is another.
    pub name: bool,
    /// Whether the time is none that was written.
    pub time: bool,
    /// The first byte of the sector's pattern that is another.
    pub pattern: Option<u32>,
    /// When the sector says it was written, ms since 1970; none where that is not to be believed.
    pub written: Option<u64>,
}

impl SectorFaults {
    fn is_right(&self) -> bool {
        let Self {
            offset,
            key,
            name,
            time,
            pattern,
            written: _,
        } = self;
        offset.is_none() && key.is_none() && !name && !time && pattern.is_none()
    }
}

impl fmt::Display for BadBlock {
    /// `key …; place …`: without the time, which is shown in the zone of whoever reads it.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (all, wrong) = self.sectors;
        write!(formatter, "{wrong} of {all} sectors are wrong")?;
        write!(formatter, ", the first at 0x{:08x}: ", self.first)?;
        let mut parts = Vec::new();
        if let Some(key) = self.faults.key {
            let expected = self.expected;
            parts.push(format!(
                "Data Validation Key miscompare. Expecting key=0x{expected:02x} received key=0x{key:02x} ({expected}/{key})"
            ));
        }
        if let Some(found) = self.faults.offset {
            parts.push(format!(
                "Logical byte address miscompare. Expecting 0x{:08x}, receiving 0x{found:08x}",
                self.first
            ));
        }
        if self.faults.name {
            parts.push("the name or the key block's size is another".to_owned());
        }
        if self.faults.time {
            parts.push("the time stamp does not fit its checksum".to_owned());
        }
        if let Some(byte) = self.faults.pattern {
            parts.push(format!("the pattern differs from byte {byte} on"));
        }
        formatter.write_str(&parts.join("; "))
    }
}

impl Stamp {
    /// Of storage of this name, of which the first eight bytes stand in each sector and all count; key blocks are whole sectors.
    pub fn new(name: &str, key_block: u32) -> Self {
        let mut bytes = [b' '; 8];
        for (into, byte) in bytes.iter_mut().zip(name.bytes()) {
            *into = byte;
        }
        Self {
            name: bytes,
            whole_name: hash(name.as_bytes()),
            key_block,
        }
    }

    /// Fills one key block that begins at `offset` and is written with `key` at `time_ms`.
    pub fn fill(&self, offset: u64, key: u8, time_ms: u64, block: &mut [u8]) {
        let mut at = offset;
        for sector in block.chunks_mut(SECTOR as usize) {
            let mut head = self.head(at, key);
            head[8..16].copy_from_slice(&time_ms.to_le_bytes());
            head[17..20].copy_from_slice(&time_check(time_ms));
            let length = sector.len().min(HEAD);
            sector[..length].copy_from_slice(&head[..length]);
            let mut pattern = self.pattern(&head);
            for word in sector[length..].chunks_mut(8) {
                word.copy_from_slice(&pattern.next_word()[..word.len()]);
            }
            at = at.wrapping_add(u64::from(SECTOR));
        }
    }

    /// What is wrong with a key block that begins at `offset` and was last written with `key`.
    pub fn check(&self, offset: u64, key: u8, block: &[u8]) -> Option<BadBlock> {
        let mut found: Option<BadBlock> = None;
        let mut at = offset;
        let mut all = 0;
        for sector in block.chunks(SECTOR as usize) {
            all += 1;
            let faults = self.faults(at, key, sector);
            if !faults.is_right() {
                let bad = found.get_or_insert(BadBlock {
                    offset,
                    expected: key,
                    sectors: (0, 0),
                    first: at,
                    faults,
                });
                bad.sectors.1 += 1;
            }
            at = at.wrapping_add(u64::from(SECTOR));
        }
        if let Some(bad) = &mut found {
            bad.sectors.0 = all;
        }
        found
    }

    /// The name in its sectors, and the hash of all of it.
    pub(crate) fn name(&self) -> ([u8; 8], u64) {
        (self.name, self.whole_name)
    }

    /// What a key block that begins at `offset` holds, of which a write with the key after `key` is not known to have ended.
    /// Where `key` is 0 nothing is known of what was there before, and only the write itself can be recognised.
    pub fn check_pending(&self, offset: u64, key: u8, block: &[u8]) -> Pending {
        let new = next_key(key);
        let Some(bad) = self.check(offset, new, block) else {
            return Pending::Written;
        };
        if key == 0 {
            return Pending::Unknown;
        }
        if self.check(offset, key, block).is_none() {
            return Pending::Before;
        }
        let mut at = offset;
        for sector in block.chunks(SECTOR as usize) {
            let fits = |key| self.faults(at, key, sector).is_right();
            if !fits(new) && !fits(key) {
                return Pending::Wrong(bad);
            }
            at = at.wrapping_add(u64::from(SECTOR));
        }
        Pending::Unknown
    }

    /// The head of a sector, without its time.
    fn head(&self, offset: u64, key: u8) -> [u8; HEAD] {
        let mut head = [0; HEAD];
        head[..8].copy_from_slice(&offset.to_le_bytes());
        head[16] = key;
        head[20..28].copy_from_slice(&self.name);
        head[28..].copy_from_slice(&self.key_block.to_le_bytes());
        head
    }

    /// What follows a head. The time, and the bytes that check it, say nothing of it.
    fn pattern(&self, head: &[u8; HEAD]) -> Pattern {
        let place = number(&head[..8]).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let key = u64::from(head[16]).wrapping_mul(0xd134_2543_de82_ef95);
        Pattern(place ^ key ^ self.whole_name)
    }

    fn faults(&self, offset: u64, key: u8, sector: &[u8]) -> SectorFaults {
        let Some((head, rest)) = sector.split_first_chunk::<HEAD>() else {
            return SectorFaults {
                pattern: Some(0),
                ..SectorFaults::default()
            };
        };
        let expected = self.head(offset, key);
        let time = number(&head[8..16]);
        let time_is_right = head[17..20] == time_check(time);
        let mut pattern = self.pattern(&expected);
        let mut differs = None;
        for (index, word) in rest.chunks(8).enumerate() {
            let right = pattern.next_word();
            if differs.is_none() && word != &right[..word.len()] {
                let byte = word
                    .iter()
                    .zip(right)
                    .position(|(one, other)| *one != other);
                differs = Some((HEAD + index * 8 + byte.unwrap_or(0)) as u32);
            }
        }
        SectorFaults {
            offset: (head[..8] != expected[..8]).then(|| number(&head[..8])),
            key: (head[16] != key).then_some(head[16]),
            name: head[20..] != expected[20..],
            time: !time_is_right,
            pattern: differs,
            written: time_is_right.then_some(time),
        }
    }
}

fn number(bytes: &[u8]) -> u64 {
    let mut eight = [0; 8];
    for (into, byte) in eight.iter_mut().zip(bytes) {
        *into = *byte;
    }
    u64::from_le_bytes(eight)
}

/// Three bytes that follow from a time.
fn time_check(time_ms: u64) -> [u8; 3] {
    let sum = crc32c::crc32c(&time_ms.to_le_bytes());
    let [first, second, third, _] = sum.to_le_bytes();
    [first, second, third]
}

/// The 64-bit hash of Fowler, Noll and Vo (FNV-1a), turned so that short names reach all of its bits.
fn hash(bytes: &[u8]) -> u64 {
    let mixed = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    mixed.rotate_left(23)
}

/// The bytes behind a head, eight at a time: `SplitMix64` (Steele, Lea and Flood, 2014) from place, key and name.
struct Pattern(u64);

impl Pattern {
    fn next_word(&mut self) -> [u8; 8] {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (word ^ (word >> 31)).to_le_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIME: u64 = 1_795_000_000_123;

    fn block(key: u8) -> Vec<u8> {
        let mut block = vec![0xaa; 4096];
        Stamp::new("sd1", 4096).fill(1 << 20, key, TIME, &mut block);
        block
    }

    #[track_caller]
    fn check(block: &[u8], expected: &str) {
        let found = Stamp::new("sd1", 4096).check(1 << 20, 7, block);
        let text = found.map(|bad| bad.to_string()).unwrap_or_default();
        assert_eq!(text, expected);
    }

    #[test]
    fn what_is_wrong_is_named() {
        check(&block(7), "");
        check(
            &block(6)[..512],
            "1 of 1 sectors are wrong, the first at 0x00100000: Data Validation Key miscompare. Expecting key=0x07 \
             received key=0x06 (7/6); the pattern differs from byte 32 on",
        );
        let mut flipped = block(7);
        flipped[1024 + 100] ^= 4;
        check(
            &flipped,
            "1 of 8 sectors are wrong, the first at 0x00100400: the pattern differs from byte 100 on",
        );
        let mut moved = vec![0; 4096];
        Stamp::new("sd1", 4096).fill(1 << 21, 7, TIME, &mut moved);
        check(
            &moved,
            "8 of 8 sectors are wrong, the first at 0x00100000: Logical byte address miscompare. Expecting 0x00100000, \
             receiving 0x00200000; the pattern differs from byte 32 on",
        );
        let mut of_another = vec![0; 512];
        Stamp::new("sd2", 4096).fill(1 << 20, 7, TIME, &mut of_another);
        check(
            &of_another,
            "1 of 1 sectors are wrong, the first at 0x00100000: the name or the key block's size is another; the pattern \
             differs from byte 32 on",
        );
    }

    /// Eight bytes of a name stand in its sectors, and all of it counts.
    #[test]
    fn names_that_begin_alike_are_told_apart() {
        let mut block = vec![0; 512];
        Stamp::new("storage-1", 512).fill(0, 1, TIME, &mut block);
        assert_eq!(Stamp::new("storage-1", 512).check(0, 1, &block), None);
        let other = Stamp::new("storage-2", 512).check(0, 1, &block).unwrap();
        assert_eq!(other.faults.pattern, Some(32));
    }

    /// No bit of a block may change unseen, that of its time neither.
    #[test]
    fn each_bit_counts() {
        let stamp = Stamp::new("sd1", 4096);
        let mut block = block(7);
        for bit in 0..block.len() * 8 {
            block[bit / 8] ^= 1 << (bit % 8);
            let found = stamp.check(1 << 20, 7, &block);
            let first = found.map(|bad| bad.first);
            let sector = (1 << 20) + (bit / 4096 * 512) as u64;
            assert_eq!(first, Some(sector), "bit {bit}");
            block[bit / 8] ^= 1 << (bit % 8);
        }
    }

    #[test]
    fn the_time_of_a_write_is_found_again() {
        let mut block = block(7);
        block[600] ^= 1;
        let found = Stamp::new("sd1", 4096).check(1 << 20, 7, &block).unwrap();
        assert_eq!(found.faults.written, Some(TIME));
    }
}
