//! What a job checks of the data it writes.
//!
//! A job with [`Verify`] puts a header into every interval of its writes, reads everything back, and says which bytes
//! are not those that were written. The work itself is in the crate `fathom-verify`; here stands what can be asked for.

use fathom_units::{Bytes, Percent};

use crate::Pattern;

/// How the data of a job is checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verify {
    /// What tells right data from wrong.
    pub checksum: Checksum,
    /// Bytes under one header; `None`: a whole block, or the smallest block where sizes vary.
    pub interval: Option<Bytes>,
    /// Where in an interval its header stands.
    pub header_offset: u32,
    /// What blocks hold; `None`: random bytes from a seed that the header names.
    pub pattern: Option<Pattern>,
    /// Bytes after which the pattern starts anew; `None`: it runs through the whole block.
    pub pattern_interval: Option<Bytes>,
    /// When what was written is read back.
    pub phase: VerifyPhase,
    /// Reads back while the job still writes.
    pub backlog: Option<Backlog>,
    /// Whether blocks that were written twice are read twice.
    pub repeats: VerifyRepeats,
    /// Whether the header's number of the write must be that of the last write to the block.
    pub sequence: HeaderCheck,
    /// Whether the header's seed must be that of the write.
    pub seed: HeaderCheck,
    /// What wrong data leads to.
    pub on_mismatch: OnMismatch,
    /// Folder into which wrong blocks are saved, as received and as expected.
    pub dump: Option<String>,
    /// Which writes a check may count on.
    pub trust: VerifyTrust,
    /// File that says after the job how far it came.
    pub save_state: Option<String>,
    /// File of an earlier job: only what that job had written is checked.
    pub load_state: Option<String>,
    /// Blocks that are discarded between write and check.
    pub trims: Option<VerifyTrims>,
}

impl Verify {
    /// A check by `checksum` after each pass, everything else at its default.
    pub fn new(checksum: Checksum) -> Self {
        Self {
            checksum,
            interval: None,
            header_offset: 0,
            pattern: None,
            pattern_interval: None,
            phase: VerifyPhase::default(),
            backlog: None,
            repeats: VerifyRepeats::default(),
            sequence: HeaderCheck::default(),
            seed: HeaderCheck::default(),
            on_mismatch: OnMismatch::default(),
            dump: None,
            trust: VerifyTrust::default(),
            save_state: None,
            load_state: None,
            trims: None,
        }
    }
}

/// What tells right data from wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Checksum {
    /// Nothing is checked; reads are made all the same.
    Null = 0,
    /// The header alone (and the pattern, where there is one).
    Meta = 1,
    /// The pattern alone, without a header.
    Pattern = 2,
    /// The header and the pattern.
    PatternHeader = 3,
    /// CRC-7 as of MMC cards.
    Crc7 = 4,
    /// CRC-16/ARC.
    Crc16 = 5,
    /// CRC-32 as of Ethernet and zip.
    Crc32 = 6,
    /// CRC-32C (Castagnoli), as of iSCSI; by the processor's instruction where it has one.
    Crc32c = 7,
    /// CRC-64/XZ.
    Crc64 = 8,
    /// xxHash, 32 bits.
    XxHash = 9,
    /// MD5.
    Md5 = 10,
    /// SHA-1.
    Sha1 = 11,
    /// SHA-256.
    Sha256 = 12,
    /// SHA-512.
    Sha512 = 13,
    /// SHA3-224.
    Sha3_224 = 14,
    /// SHA3-256.
    Sha3_256 = 15,
    /// SHA3-384.
    Sha3_384 = 16,
    /// SHA3-512.
    Sha3_512 = 17,
}

impl Checksum {
    /// All, in the order of their numbers.
    pub const ALL: [Self; 18] = [
        Self::Null,
        Self::Meta,
        Self::Pattern,
        Self::PatternHeader,
        Self::Crc7,
        Self::Crc16,
        Self::Crc32,
        Self::Crc32c,
        Self::Crc64,
        Self::XxHash,
        Self::Md5,
        Self::Sha1,
        Self::Sha256,
        Self::Sha512,
        Self::Sha3_224,
        Self::Sha3_256,
        Self::Sha3_384,
        Self::Sha3_512,
    ];

    /// Its name in native files and in fio's.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Meta => "meta",
            Self::Pattern => "pattern",
            Self::PatternHeader => "pattern_hdr",
            Self::Crc7 => "crc7",
            Self::Crc16 => "crc16",
            Self::Crc32 => "crc32",
            Self::Crc32c => "crc32c",
            Self::Crc64 => "crc64",
            Self::XxHash => "xxhash",
            Self::Md5 => "md5",
            Self::Sha1 => "sha1",
            Self::Sha256 => "sha256",
            Self::Sha512 => "sha512",
            Self::Sha3_224 => "sha3-224",
            Self::Sha3_256 => "sha3-256",
            Self::Sha3_384 => "sha3-384",
            Self::Sha3_512 => "sha3-512",
        }
    }

    /// Bytes of its checksum.
    pub const fn digest_bytes(self) -> u32 {
        match self {
            Self::Null | Self::Meta | Self::Pattern | Self::PatternHeader => 0,
            Self::Crc7 => 1,
            Self::Crc16 => 2,
            Self::Crc32 | Self::Crc32c | Self::XxHash => 4,
            Self::Crc64 => 8,
            Self::Md5 => 16,
            Self::Sha1 => 20,
            Self::Sha3_224 => 28,
            Self::Sha256 | Self::Sha3_256 => 32,
            Self::Sha3_384 => 48,
            Self::Sha512 | Self::Sha3_512 => 64,
        }
    }

    /// Whether intervals begin with a header.
    pub const fn has_header(self) -> bool {
        !matches!(self, Self::Null | Self::Pattern)
    }

    /// Bytes of the header with its checksum; 0 where there is none.
    pub const fn header_bytes(self) -> u32 {
        if self.has_header() {
            HEADER_BYTES + self.digest_bytes()
        } else {
            0
        }
    }

    /// Whether there is nothing to check without a pattern.
    pub const fn needs_pattern(self) -> bool {
        matches!(self, Self::Pattern | Self::PatternHeader)
    }
}

/// Bytes of a header without its checksum.
pub const HEADER_BYTES: u32 = 48;

/// When what was written is read back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum VerifyPhase {
    /// After each pass.
    #[default]
    AfterPass,
    /// Not at all: a later job checks.
    Never,
    /// Nothing is written: what an equal job wrote before is checked.
    Only,
    /// Nothing is written and nothing is checked: the job's I/O is only counted.
    Nothing,
}

impl VerifyPhase {
    /// Whether anything that was written is read.
    pub const fn reads_back(self) -> bool {
        matches!(self, Self::AfterPass | Self::Only)
    }
}

/// Checks while the job still writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backlog {
    /// Writes after which checks begin; at least 1.
    pub writes: u32,
    /// Blocks checked at a time; at least 1.
    pub batch: u32,
}

/// Whether blocks that were written twice are read twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum VerifyRepeats {
    /// Each block is read once, for its last write.
    #[default]
    LastWrite,
    /// Each write is followed up.
    EachWrite,
}

/// Whether a field of the header is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HeaderCheck {
    /// It must be as written.
    #[default]
    Compared,
    /// It may hold anything.
    Ignored,
}

/// What wrong data leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnMismatch {
    /// The job ends with the block in which it was found; all wrong intervals of the block are told.
    #[default]
    EndJob,
    /// The job ends at once.
    EndAtOnce,
    /// The job goes on; errors are counted.
    GoOn,
}

/// Which writes a check may count on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum VerifyTrust {
    /// All that completed.
    #[default]
    Completed,
    /// Those before the last completed `fsync` or `fdatasync`.
    Synced,
}

/// Blocks that are discarded between write and check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VerifyTrims {
    /// Share of the written blocks.
    pub share: Percent,
    /// Writes after which blocks are discarded; at least 1.
    pub writes: u32,
    /// Blocks discarded at a time; at least 1.
    pub batch: u32,
    /// Whether discarded blocks must read as zeroes.
    pub zero: TrimmedData,
}

/// What a discarded block must hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TrimmedData {
    /// Zeroes.
    #[default]
    Zeroes,
    /// Anything.
    Anything,
}
