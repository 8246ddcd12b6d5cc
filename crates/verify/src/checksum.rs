//! Checksums of parts of a buffer.
//!
//! The sources of the algorithms: CRC-7/MMC, CRC-16/ARC and CRC-64/XZ of the catalogue of parametrised CRC algorithms
//! (reveng.sourceforge.io), CRC-32 of ISO/IEC 13239, CRC-32C of RFC 3720, xxHash (XXH32, seed 1), RFC 1321, FIPS 180-4
//! and FIPS 202.

use fathom_workload::Checksum;
use md5::Md5;
use sha1::Sha1;
use sha2::{Sha256, Sha512};
use sha3::{Sha3_224, Sha3_256, Sha3_384, Sha3_512};

/// Longest checksum in bytes.
const LONGEST: usize = 64;

/// Sixteen bytes at a time, which takes a fraction of the time and a few KiB of tables.
type BySixteen = crc::Table<16>;

static CRC7: crc::Crc<u8, BySixteen> = crc::Crc::<u8, BySixteen>::new(&crc::CRC_7_MMC);
static CRC16: crc::Crc<u16, BySixteen> = crc::Crc::<u16, BySixteen>::new(&crc::CRC_16_ARC);
static CRC64: crc::Crc<u64, BySixteen> = crc::Crc::<u64, BySixteen>::new(&crc::CRC_64_XZ);

/// A checksum of any length up to 64 bytes; numbers stand with their lowest byte first.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Digest {
    bytes: [u8; LONGEST],
    length: usize,
}

impl Digest {
    /// Of its bytes; what goes beyond 64 is cut off.
    pub fn new(bytes: &[u8]) -> Self {
        let length = bytes.len().min(LONGEST);
        let mut digest = Self {
            bytes: [0; LONGEST],
            length,
        };
        digest.bytes[..length].copy_from_slice(&bytes[..length]);
        digest
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

impl std::fmt::Display for Digest {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.bytes()
            .iter()
            .try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}

impl std::fmt::Debug for Digest {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Digest({self})")
    }
}

/// The checksum of `parts`, one after another. Empty for kinds without a checksum.
pub fn digest(kind: Checksum, parts: [&[u8]; 2]) -> Digest {
    match kind {
        Checksum::Null | Checksum::Meta | Checksum::Pattern | Checksum::PatternHeader => {
            Digest::new(&[])
        }
        Checksum::Crc7 => {
            let mut sum = CRC7.digest();
            for part in parts {
                sum.update(part);
            }
            Digest::new(&[sum.finalize()])
        }
        Checksum::Crc16 => {
            let mut sum = CRC16.digest();
            for part in parts {
                sum.update(part);
            }
            Digest::new(&sum.finalize().to_le_bytes())
        }
        Checksum::Crc64 => {
            let mut sum = CRC64.digest();
            for part in parts {
                sum.update(part);
            }
            Digest::new(&sum.finalize().to_le_bytes())
        }
        Checksum::Crc32 => {
            let mut hasher = crc32fast::Hasher::new();
            for part in parts {
                hasher.update(part);
            }
            Digest::new(&hasher.finalize().to_le_bytes())
        }
        Checksum::Crc32c => {
            let sum = crc32c::crc32c_append(crc32c::crc32c(parts[0]), parts[1]);
            Digest::new(&sum.to_le_bytes())
        }
        Checksum::XxHash => {
            let mut hasher = xxhash_rust::xxh32::Xxh32::new(1);
            for part in parts {
                hasher.update(part);
            }
            Digest::new(&hasher.digest().to_le_bytes())
        }
        Checksum::Md5 => hashed::<Md5>(parts),
        Checksum::Sha1 => hashed::<Sha1>(parts),
        Checksum::Sha256 => hashed::<Sha256>(parts),
        Checksum::Sha512 => hashed::<Sha512>(parts),
        Checksum::Sha3_224 => hashed::<Sha3_224>(parts),
        Checksum::Sha3_256 => hashed::<Sha3_256>(parts),
        Checksum::Sha3_384 => hashed::<Sha3_384>(parts),
        Checksum::Sha3_512 => hashed::<Sha3_512>(parts),
    }
}

fn hashed<D: sha2::Digest>(parts: [&[u8]; 2]) -> Digest {
    let mut hasher = D::new();
    for part in parts {
        hasher.update(part);
    }
    Digest::new(&hasher.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The check values of the catalogue and of the standards, for "123456789" or "abc".
    #[test]
    fn published_check_values_come_out() {
        let check = |kind, text: &str, expected: &str| {
            let (left, right) = text.as_bytes().split_at(2);
            assert_eq!(
                digest(kind, [left, right]).to_string(),
                expected,
                "{kind:?}"
            );
        };
        check(Checksum::Crc7, "123456789", "75");
        check(Checksum::Crc16, "123456789", "3dbb");
        check(Checksum::Crc32, "123456789", "2639f4cb");
        check(Checksum::Crc32c, "123456789", "839206e3");
        check(Checksum::Crc64, "123456789", "fa3919dfbbc95d99");
        check(Checksum::Md5, "abc", "900150983cd24fb0d6963f7d28e17f72");
        check(
            Checksum::Sha1,
            "abc",
            "a9993e364706816aba3e25717850c26c9cd0d89d",
        );
        check(
            Checksum::Sha256,
            "abc",
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        );
        check(
            Checksum::Sha3_224,
            "abc",
            "e642824c3f8cf24ad09234ee7d3c766fc9a3a5168d0c94ad73b46fdf",
        );
        check(
            Checksum::Sha3_256,
            "abc",
            "3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532",
        );
    }

    /// The value of the reference program for seed 1.
    #[test]
    fn xxhash_uses_seed_one() {
        let sum = digest(Checksum::XxHash, [b"", b""]);
        assert_eq!(sum.bytes(), 0x0b2c_b792_u32.to_le_bytes());
    }

    #[test]
    fn each_kind_has_the_length_it_says_and_changes_with_each_byte() {
        for kind in Checksum::ALL {
            let sum = digest(kind, [b"some", b"bytes"]);
            assert_eq!(sum.bytes().len(), kind.digest_bytes() as usize, "{kind:?}");
            let other = digest(kind, [b"some", b"bytez"]);
            assert_eq!(sum == other, kind.digest_bytes() == 0, "{kind:?}");
        }
    }
}
