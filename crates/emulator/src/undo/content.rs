//! The content of a block, as it is kept beside the volume's own bytes.

use std::ops::Range;
use std::sync::Arc;

use super::BLOCK;
use crate::backing::Disk;

/// The bytes of a block. What is a hole takes no memory here either, and what is kept twice lies there once.
#[derive(Debug, Clone)]
pub(super) enum Content {
    /// So many zeroes.
    Zeroes(usize),
    Bytes(Arc<Vec<u8>>),
}

impl Content {
    /// Where its bytes lie, if it has any.
    pub fn place(&self) -> Option<*const Vec<u8>> {
        match self {
            Self::Zeroes(_) => None,
            Self::Bytes(bytes) => Some(Arc::as_ptr(bytes)),
        }
    }

    pub fn len(&self) -> usize {
        match self {
            Self::Zeroes(length) => *length,
            Self::Bytes(bytes) => bytes.len(),
        }
    }

    pub fn is(&self, other: &[u8]) -> bool {
        match self {
            Self::Zeroes(_) => other.iter().all(|byte| *byte == 0),
            Self::Bytes(bytes) => **bytes == other,
        }
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        match self {
            Self::Zeroes(length) => vec![0; *length],
            Self::Bytes(bytes) => bytes.to_vec(),
        }
    }

    /// Replaces a part of it.
    pub fn put(&mut self, part: &Range<usize>, bytes: &[u8]) {
        if let Self::Zeroes(length) = *self {
            if bytes.iter().all(|byte| *byte == 0) {
                return;
            }
            *self = Self::Bytes(Arc::new(vec![0; length]));
        }
        if let Self::Bytes(own) = self {
            Arc::make_mut(own)[part.clone()].copy_from_slice(bytes);
        }
    }
}

/// The bytes of a block; the last one of a volume may be shorter.
pub(super) fn content(disk: &Disk, number: u64) -> Content {
    let start = number * BLOCK;
    let length = BLOCK.min(disk.size().saturating_sub(start)) as usize;
    if disk.is_hole(start, length as u32) {
        return Content::Zeroes(length);
    }
    let mut bytes = vec![0; length];
    disk.read(start, &mut bytes);
    Content::Bytes(Arc::new(bytes))
}
