//! What the kernel is asked for beside the plain read or write: flags of single calls, and the set-up of a ring.

use rustix::io::ReadWriteFlags;

/// `RWF_DONTCACHE` of `linux/fs.h` (Linux 6.14).
const DONT_CACHE: u32 = 0x80;
/// `RWF_ATOMIC` of `linux/fs.h` (Linux 6.11).
const ATOMIC: u32 = 0x40;

/// Flags of each read and write, and how a ring is made; none by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Calls {
    /// Percent of the I/Os whose completion is polled for. A ring polls for all if this is 100, and for none below.
    pub polled: u8,
    /// Buffered I/O leaves nothing in the page cache.
    pub uncached: bool,
    /// An I/O that would block fails with `EAGAIN`.
    pub no_wait: bool,
    /// A write is stored whole or not at all, whatever happens to the machine.
    pub atomic: bool,
    /// Each I/O of this number is handed to a kernel worker at once; 0: none is. Rings alone have it.
    pub async_every: u32,
    /// A kernel thread takes submissions out of the ring. Rings alone have it.
    pub submitter: Option<Submitter>,
}

/// The kernel thread that takes submissions out of a ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Submitter {
    /// The processor it stays on; `None`: any.
    pub processor: Option<u32>,
}

impl Calls {
    /// Flags of every write, polling aside.
    pub(crate) fn write_flags(&self) -> ReadWriteFlags {
        let mut flags = self.read_flags();
        if self.atomic {
            flags |= ReadWriteFlags::from_bits_retain(ATOMIC);
        }
        flags
    }

    /// Flags of every read, polling aside.
    pub(crate) fn read_flags(&self) -> ReadWriteFlags {
        let mut flags = ReadWriteFlags::empty();
        if self.uncached {
            flags |= ReadWriteFlags::from_bits_retain(DONT_CACHE);
        }
        if self.no_wait {
            flags |= ReadWriteFlags::NOWAIT;
        }
        flags
    }
}

/// Spreads a share of I/Os evenly over all of them.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Share {
    percent: u8,
    /// Percents that are owed; below 100.
    owed: u8,
}

impl Share {
    pub(crate) fn new(percent: u8) -> Self {
        let percent = percent.min(100);
        Self { percent, owed: 0 }
    }

    /// Whether the next I/O is one of the share.
    pub(crate) fn next(&mut self) -> bool {
        self.owed += self.percent;
        let is_one = self.owed >= 100;
        if is_one {
            self.owed -= 100;
        }
        is_one
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_spread_evenly() {
        let taken = |percent| {
            let mut share = Share::new(percent);
            (0..200).filter(|_| share.next()).count()
        };
        assert_eq!([0, 1, 30, 99, 100].map(taken), [0, 2, 60, 198, 200]);
        let mut half = Share::new(50);
        assert_eq!([0; 4].map(|_| half.next()), [false, true, false, true]);
    }
}
