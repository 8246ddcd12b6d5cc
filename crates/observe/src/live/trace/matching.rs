//! Issue and completion of each I/O, brought together.
//!
//! An I/O is known by its disk, first sector and direction. Two of the same are told apart by their order.
//!
//! Invariants: memory is bounded; a completion whose issue was not seen counts for the depth, not for a latency.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};

use super::format::Direction;

/// Most I/Os kept as outstanding: far more than any machine has.
const OUTSTANDING_MOST: usize = 1 << 18;

/// What an I/O is known by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key {
    /// Number of the disk.
    pub dev: u32,
    /// First sector.
    pub sector: u64,
    /// Read or write.
    pub direction: Direction,
}

/// An I/O that was issued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Issued {
    /// When, in nanoseconds of the trace's clock.
    pub at: u64,
    /// Its size.
    pub bytes: u64,
    /// What of it has not completed.
    pub left: u64,
    /// Whether it counts, or is only known so that its completion is.
    pub counts: bool,
}

/// I/Os that were issued and did not complete yet.
#[derive(Debug, Default)]
pub struct Outstanding {
    first: HashMap<Key, Issued, BuildHasherDefault<Mix>>,
    /// Further I/Os of a key that is there: two readers of one place.
    more: HashMap<Key, VecDeque<Issued>>,
    count: usize,
}

impl Outstanding {
    /// An I/O begins. Gives whether it is kept.
    #[inline]
    pub fn issue(&mut self, key: Key, at: u64, bytes: u64, counts: bool) -> bool {
        if self.count >= OUTSTANDING_MOST {
            return false;
        }
        self.count += 1;
        let issued = Issued {
            at,
            bytes,
            left: bytes,
            counts,
        };
        match self.first.entry(key) {
            Entry::Vacant(place) => {
                place.insert(issued);
            }
            Entry::Occupied(_) => self.more.entry(key).or_default().push_back(issued),
        }
        true
    }

    /// `bytes` from `key` on completed. Gives the I/O when that was the last of it.
    #[inline]
    pub fn complete(&mut self, key: Key, bytes: u64) -> Completed {
        let Some(mut issued) = self.take(key) else {
            return Completed::Unknown;
        };
        if bytes > 0 && bytes < issued.left {
            // A part: the rest completes from the sector behind it on.
            issued.left -= bytes;
            let rest = Key {
                sector: key.sector + bytes / super::super::devices::SECTOR,
                ..key
            };
            self.count += usize::from(self.first.insert(rest, issued).is_none());
            return Completed::Part;
        }
        Completed::All(issued)
    }

    /// The I/O at `key`, which counts as not issued any more.
    #[inline]
    pub fn take(&mut self, key: Key) -> Option<Issued> {
        let issued = self.first.remove(&key)?;
        self.count -= 1;
        if !self.more.is_empty()
            && let Some(queue) = self.more.get_mut(&key)
        {
            if let Some(next) = queue.pop_front() {
                self.first.insert(key, next);
            }
            if queue.is_empty() {
                self.more.remove(&key);
            }
        }
        Some(issued)
    }

    /// How many there are.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.first.clear();
        self.more.clear();
        self.count = 0;
    }
}

/// What a completion was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Completed {
    /// Of an I/O whose issue was not seen.
    Unknown,
    /// Of the first part of an I/O.
    Part,
    /// Of this I/O.
    All(Issued),
}

/// Mixes a key's few words by multiplication: keys are places on disks, not texts of strangers.
#[derive(Debug, Default, Clone, Copy)]
pub struct Mix(u64);

impl Hasher for Mix {
    #[inline]
    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 29)
    }

    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    #[inline]
    fn write_u32(&mut self, value: u32) {
        self.write_u64(u64::from(value));
    }

    #[inline]
    fn write_isize(&mut self, value: isize) {
        self.write_u64(value.cast_unsigned() as u64);
    }

    #[inline]
    fn write_u64(&mut self, value: u64) {
        self.0 = (self.0.rotate_left(5) ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(sector: u64) -> Key {
        Key {
            dev: 7,
            sector,
            direction: Direction::Read,
        }
    }

    #[test]
    fn two_readers_of_one_place_are_told_apart_by_their_order() {
        let mut outstanding = Outstanding::default();
        assert!(outstanding.issue(key(8), 100, 4096, true));
        assert!(outstanding.issue(key(8), 200, 4096, true));
        let issued = |at| {
            Completed::All(Issued {
                at,
                bytes: 4096,
                left: 4096,
                counts: true,
            })
        };
        assert_eq!(outstanding.complete(key(8), 4096), issued(100));
        assert_eq!(outstanding.complete(key(8), 4096), issued(200));
        assert_eq!(outstanding.complete(key(8), 4096), Completed::Unknown);
        assert_eq!((outstanding.len(), outstanding.more.len()), (0, 0));
    }

    #[test]
    fn an_io_that_completes_in_parts_is_one() {
        let mut outstanding = Outstanding::default();
        outstanding.issue(key(0), 100, 8192, true);
        assert_eq!(outstanding.complete(key(0), 4096), Completed::Part);
        let whole = Issued {
            at: 100,
            bytes: 8192,
            left: 4096,
            counts: true,
        };
        assert_eq!(outstanding.complete(key(8), 4096), Completed::All(whole));
        assert_eq!(outstanding.len(), 0);
    }

    #[test]
    fn memory_is_bounded() {
        let mut outstanding = Outstanding::default();
        let kept = (0..OUTSTANDING_MOST as u64 + 10)
            .filter(|sector| outstanding.issue(key(*sector), 0, 512, true));
        assert_eq!(kept.count(), OUTSTANDING_MOST);
    }
}
