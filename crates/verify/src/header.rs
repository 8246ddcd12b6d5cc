//! The header of an interval of verified data.
//!
//! 48 bytes, numbers with their lowest byte first, followed by the checksum of the interval's other bytes:
//!
//! | bytes | what |
//! |---|---|
//! | 0–3 | magic `FtmV` |
//! | 4 | version, 1 |
//! | 5 | kind of checksum, the number of [`Checksum`] |
//! | 6–7 | low 16 bits of the number of the worker within the workload |
//! | 8–11 | length of the interval |
//! | 12–15 | CRC-32C of header and checksum with these four bytes as zeroes |
//! | 16–23 | offset of the interval in its target |
//! | 24–31 | number of the write within its job, from 0 |
//! | 32–39 | seed of the random bytes; 0 with a pattern |
//! | 40–47 | time of the write, ns since the epoch |
//!
//! The offset is what finds a block that was written to, or read from, the wrong place; the number what finds a write
//! that was lost over an older one; the time is for people.

use fathom_workload::{Checksum, HEADER_BYTES};

/// First bytes of every header.
const MAGIC: [u8; 4] = *b"FtmV";
const VERSION: u8 = 1;
/// Where the header's own checksum stands.
const SUM: std::ops::Range<usize> = 12..16;
const BYTES: usize = HEADER_BYTES as usize;

/// What a header says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Kind of checksum.
    pub kind: Checksum,
    /// Low bits of the worker's number.
    pub worker: u16,
    /// Bytes of the interval, the header's own included.
    pub length: u32,
    /// Offset of the interval in its target.
    pub offset: u64,
    /// Number of the write.
    pub number: u64,
    /// Seed of the contents.
    pub seed: u64,
    /// ns since the epoch.
    pub time_ns: u64,
}

/// Why bytes are no header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeaderProblem {
    /// Other first bytes.
    Magic([u8; 4]),
    /// A version of another release.
    Version(u8),
    /// A kind that does not exist.
    Kind(u8),
    /// The header's own checksum: received, computed.
    Sum(u32, u32),
    /// One of fio's, with no checksum of this kind that could be compared.
    Uncheckable(Checksum),
}

impl Header {
    /// Writes it and the checksum behind it into the start of `place`, which must have room for both.
    pub fn write(&self, digest: &[u8], place: &mut [u8]) {
        let place = &mut place[..BYTES + digest.len()];
        place[..4].copy_from_slice(&MAGIC);
        place[4] = VERSION;
        place[5] = self.kind as u8;
        place[6..8].copy_from_slice(&self.worker.to_le_bytes());
        place[8..12].copy_from_slice(&self.length.to_le_bytes());
        place[SUM].fill(0);
        place[16..24].copy_from_slice(&self.offset.to_le_bytes());
        place[24..32].copy_from_slice(&self.number.to_le_bytes());
        place[32..40].copy_from_slice(&self.seed.to_le_bytes());
        place[40..48].copy_from_slice(&self.time_ns.to_le_bytes());
        place[BYTES..].copy_from_slice(digest);
        let sum = own_sum(place);
        place[SUM].copy_from_slice(&sum.to_le_bytes());
    }

    /// Reads the header and its checksum, of the length that `expected` has, from the start of `place`.
    ///
    /// # Errors
    /// What is wrong with it. The kind found may be another than expected; then no checksum is covered.
    pub fn read(expected: Checksum, place: &[u8]) -> Result<Self, HeaderProblem> {
        let magic = array::<4>(place, 0);
        if magic != MAGIC {
            return Err(HeaderProblem::Magic(magic));
        }
        if place[4] != VERSION {
            return Err(HeaderProblem::Version(place[4]));
        }
        let kind = Checksum::ALL.get(usize::from(place[5])).copied();
        let kind = kind.ok_or(HeaderProblem::Kind(place[5]))?;
        let covered = BYTES + kind.digest_bytes() as usize;
        let received = u32::from_le_bytes(array(place, SUM.start));
        // Another kind's checksum may be longer than the interval has room for.
        if kind == expected || covered <= place.len() {
            let computed = own_sum(&place[..covered]);
            if received != computed {
                return Err(HeaderProblem::Sum(received, computed));
            }
        }
        Ok(Self {
            kind,
            worker: u16::from_le_bytes(array(place, 6)),
            length: u32::from_le_bytes(array(place, 8)),
            offset: u64::from_le_bytes(array(place, 16)),
            number: u64::from_le_bytes(array(place, 24)),
            seed: u64::from_le_bytes(array(place, 32)),
            time_ns: u64::from_le_bytes(array(place, 40)),
        })
    }
}

/// The checksum of a header and what stands behind it, its own place counted as zeroes.
fn own_sum(header: &[u8]) -> u32 {
    let before = crc32c::crc32c(&header[..SUM.start]);
    let place = crc32c::crc32c_append(before, &[0; 4]);
    crc32c::crc32c_append(place, &header[SUM.end..])
}

fn array<const N: usize>(bytes: &[u8], from: usize) -> [u8; N] {
    let mut array = [0; N];
    array.copy_from_slice(&bytes[from..from + N]);
    array
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: Header = Header {
        kind: Checksum::Md5,
        worker: 3,
        length: 4096,
        offset: 1 << 40,
        number: 77,
        seed: u64::MAX,
        time_ns: 1_700_000_000_000_000_000,
    };

    #[test]
    fn what_was_written_is_read() {
        let mut place = [0xff; 100];
        HEADER.write(&[7; 16], &mut place);
        assert_eq!(Header::read(Checksum::Md5, &place), Ok(HEADER));
        assert_eq!(
            place[48..65],
            [7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 0xff]
        );
    }

    #[test]
    fn every_flipped_bit_is_found() {
        let mut place = [0u8; 64];
        HEADER.write(&[7; 16], &mut place);
        for bit in 0..64 * 8 {
            let mut wrong = place;
            wrong[bit / 8] ^= 1 << (bit % 8);
            // A kind with a longer checksum than there is room for is found by being another kind.
            let passes = Header::read(Checksum::Md5, &wrong).is_ok_and(|it| it.kind == HEADER.kind);
            assert!(!passes, "bit {bit}");
        }
    }
}
