//! Data that is not what was written.

use fathom_workload::Checksum;

use crate::{Digest, HeaderProblem};

/// One interval of a block that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// Offset of the interval in its target.
    pub offset: u64,
    /// Its length in bytes.
    pub length: u32,
    /// What is wrong.
    pub fault: Fault,
}

/// What is wrong with an interval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// Its header cannot be read.
    Header(HeaderProblem),
    /// The header's field of this name holds another value.
    Field {
        /// Name of the field.
        name: &'static str,
        /// What it holds.
        received: u64,
        /// What it should hold.
        expected: u64,
    },
    /// The header names another kind of checksum.
    Kind {
        /// The kind it names.
        received: Checksum,
        /// The kind asked for.
        expected: Checksum,
    },
    /// The checksum that stands in the header is not that of the data.
    Checksum {
        /// Its kind.
        kind: Checksum,
        /// As it stands in the header.
        expected: Digest,
        /// As computed.
        received: Digest,
    },
    /// The data is not the pattern.
    Pattern {
        /// First wrong byte, from the start of the interval.
        at: u32,
        /// What it holds.
        received: u8,
        /// What it should hold.
        expected: u8,
    },
    /// A discarded block is not zeroes.
    NotZero {
        /// First byte that is not zero, from the start of the block.
        at: u32,
    },
}

impl std::fmt::Display for Fault {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Header(problem) => write!(formatter, "bad header: {problem}"),
            Self::Field {
                name,
                received,
                expected,
            } => write!(formatter, "bad header {name} {received}, wanted {expected}"),
            Self::Kind { received, expected } => write!(
                formatter,
                "bad header type {}, wanted {}",
                received.name(),
                expected.name()
            ),
            Self::Checksum {
                kind,
                expected,
                received,
            } => write!(
                formatter,
                "bad checksum: {} of the data is {received}, wanted {expected}",
                kind.name()
            ),
            Self::Pattern {
                at,
                received,
                expected,
            } => write!(
                formatter,
                "bad pattern: byte {at} is {received:02x}, wanted {expected:02x}"
            ),
            Self::NotZero { at } => write!(formatter, "bad trimmed block: byte {at} is not zero"),
        }
    }
}

impl std::fmt::Display for HeaderProblem {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Magic([a, b, c, d]) => {
                write!(
                    formatter,
                    "magic {a:02x}{b:02x}{c:02x}{d:02x}, wanted 46746d56"
                )
            }
            Self::Version(version) => write!(formatter, "version {version}, wanted 1"),
            Self::Kind(kind) => write!(formatter, "type {kind}, which does not exist"),
            Self::Uncheckable(kind) => write!(
                formatter,
                "one of fio's, whose {} is not the standard's; check it with the fio that wrote it",
                kind.name()
            ),
            Self::Sum(received, computed) => {
                write!(formatter, "crc {received:08x}, calculated {computed:08x}")
            }
        }
    }
}
