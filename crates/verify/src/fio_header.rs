//! The header of an interval that fio wrote, as far as a check needs it.
//!
//! Numbers with their lowest byte first; fio's checksum of the other bytes follows, then those bytes:
//!
//! | | fio 3.33 | fio 3.42 |
//! |---|---|---|
//! | magic `ca ac` | 0–1 | 0–1 |
//! | version, `81` | none | 2 |
//! | kind of checksum | 2–3 | 3 |
//! | length of the interval | 4–7 | 4–7 |
//! | seed | 8–15 | 8–15 |
//! | offset of the interval in its target | 16–23 | 16–23 |
//! | time, thread, number of the write | 24–35 | 24–41 |
//! | CRC-32C of everything before it | 36–39 | 44–47 |
//!
//! Seen in files that fio 3.33 and 3.42 wrote. What is read here is what tells a wrong block from a right one without the
//! choices of fio's own generator: seed and number come from those.

use fathom_workload::Checksum;

use crate::{Digest, digest};

static CRC32: crc::Crc<u32, crc::Table<16>> =
    crc::Crc::<u32, crc::Table<16>>::new(&crc::CRC_32_CKSUM);
static CRC64: crc::Crc<u64, crc::Table<16>> =
    crc::Crc::<u64, crc::Table<16>>::new(&crc::CRC_64_REDIS);

/// First bytes of every header of fio's.
const MAGIC: [u8; 2] = [0xca, 0xac];
/// The version of headers that have one.
const VERSION: u8 = 0x81;

/// What a header of fio's says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FioHeader {
    /// Bytes of the interval, the header's own included.
    pub length: u32,
    /// Offset of the interval in its target.
    pub offset: u64,
    /// The header's own checksum: received, computed.
    pub sum: (u32, u32),
    /// Bytes of the header, without the checksum of the data.
    bytes: usize,
}

impl FioHeader {
    /// Reads the start of an interval; nothing where fio wrote no header there.
    pub fn read(interval: &[u8]) -> Option<Self> {
        let sum_at = match interval.get(..4)? {
            [a, b, VERSION, _] if [*a, *b] == MAGIC => 44,
            [a, b, _, 0] if [*a, *b] == MAGIC => 36,
            _ => return None,
        };
        let before = interval.get(..sum_at)?;
        let received = interval.get(sum_at..sum_at + 4)?;
        Some(Self {
            length: u32::from_le_bytes(before[4..8].try_into().ok()?),
            offset: u64::from_le_bytes(before[16..24].try_into().ok()?),
            sum: (
                u32::from_le_bytes(received.try_into().ok()?),
                !crc32c::crc32c(before),
            ),
            bytes: sum_at + 4,
        })
    }

    /// The checksum of the data as it stands behind the header, and as computed.
    ///
    /// Nothing where that of fio is not what its name says: of its SHA-256 the low bytes of eight words, over a length in the
    /// other order of bytes; of the SHA-512 of 3.33 what its buffer held last.
    pub fn sums(&self, kind: Checksum, interval: &[u8]) -> Option<[Digest; 2]> {
        let has_version = self.bytes == 48;
        let room = match kind {
            Checksum::Sha512 if has_version => 128,
            Checksum::Sha256 | Checksum::Sha512 => return None,
            kind => kind.digest_bytes() as usize,
        };
        let data = interval.get(self.bytes + room..)?;
        let computed = fio_digest(kind, data);
        let received = interval.get(self.bytes..self.bytes + computed.bytes().len())?;
        Some([Digest::new(received), computed])
    }
}

/// The checksum of `data` as fio has it, which for some kinds is another than the one of that name.
fn fio_digest(kind: Checksum, data: &[u8]) -> Digest {
    let usual = digest(kind, [data, &[]]);
    match kind {
        // Not inverted at the end.
        Checksum::Crc32c => {
            Digest::new(&usual.bytes().iter().map(|byte| !byte).collect::<Vec<_>>())
        }
        // Highest bit first, from 0.
        Checksum::Crc32 => {
            let inverted = CRC32.checksum(data);
            Digest::new(&(!inverted).to_le_bytes())
        }
        // Jones's polynomial.
        Checksum::Crc64 => Digest::new(&CRC64.checksum(data).to_le_bytes()),
        // Each word with its lowest byte first.
        Checksum::Sha1 => {
            let words = usual.bytes().chunks(4);
            let swapped: Vec<u8> = words.flat_map(|word| word.iter().rev().copied()).collect();
            Digest::new(&swapped)
        }
        _ => usual,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first 56 bytes of files of 64 KiB that fio 3.33 and 3.42 wrote with `bs=16k verify=crc32c`.
    const WRITTEN: [&str; 2] = [
        "caac0500004000003c5409c501cca400000000000000000000000000bee7620601000000f37324cef71fbf85242febb13c15459cb6c6e00a",
        "caac8105004000003c5409c501cca4000000000000000000000000000f2e6f06000000000000000001002e68a4ab7a5b3d2b505ab6c6e00a",
    ];

    fn bytes(text: &str) -> Vec<u8> {
        let pairs = text.as_bytes().chunks(2);
        let digits = pairs.map(|pair| std::str::from_utf8(pair).unwrap());
        digits
            .map(|pair| u8::from_str_radix(pair, 16).unwrap())
            .collect()
    }

    #[test]
    fn headers_of_both_layouts_are_read() {
        for (text, bytes_of_header) in WRITTEN.into_iter().zip([40, 48]) {
            let mut interval = bytes(text);
            let header = FioHeader::read(&interval).unwrap();
            assert_eq!((header.length, header.offset), (16384, 0));
            assert_eq!(header.sum.0, header.sum.1);
            assert_eq!(header.bytes, bytes_of_header);
            interval[9] ^= 1;
            let header = FioHeader::read(&interval).unwrap();
            assert_ne!(header.sum.0, header.sum.1);
            assert_eq!(FioHeader::read(&interval[..bytes_of_header - 1]), None);
        }
        assert_eq!(FioHeader::read(b"FtmV\x01\x07"), None);
        assert_eq!(FioHeader::read(&[]), None);
    }

    #[test]
    fn checksums_are_those_of_fio() {
        let check = |kind, expected: &str| {
            let found = fio_digest(kind, b"123456789").to_string();
            assert_eq!(found, expected, "{kind:?}");
        };
        // The catalogue's check values: CRC-32/CKSUM and CRC-32C inverted, CRC-64/REDIS.
        check(Checksum::Crc32, "7f89a189");
        check(Checksum::Crc32c, "7c6df91c");
        check(Checksum::Crc64, "cad9b8c414d9c6e9");
        check(Checksum::Crc16, "3dbb");
        // FIPS 180-4's message "abc", a9993e36 4706816a ..., each word the other way round.
        let found = fio_digest(Checksum::Sha1, b"abc").to_string();
        assert_eq!(
            found,
            "363e99a96a8106477125 3eba6cc25078 9dd8d09c".replace(' ', "")
        );
    }
}
