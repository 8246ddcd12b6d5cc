//! When files were changed, as `stat` tells it.
//!
//! Programs that copy what has changed since they last did know it by this time, as sizes never change here. Clients of the
//! network change files too, and a clock that is read with each write would cost more than some writes take. So a volume
//! counts its changes, and a file whose count has grown since somebody last looked has been changed by now.
//!
//! Invariant: of two looks, the later one tells another time where bytes were changed in between, and the same where they were
//! not, unless somebody set it.

use fathom_fuse::NewTime;
use fathom_rawio::wall_clock;

use crate::backing::Disk;

/// Of each file its time, in nanoseconds of the Unix epoch, and what its volume had counted then.
#[derive(Debug)]
pub(super) struct Times {
    files: Vec<(u64, u64)>,
    /// That of files which were never changed.
    start: u64,
}

impl Times {
    /// Files that were as they are at `start`.
    pub fn new(start: u64) -> Self {
        Self {
            files: Vec::new(),
            start,
        }
    }

    /// Somebody looks at a file: when it was changed.
    pub fn look(&mut self, file: usize, disks: &[Disk]) -> u64 {
        let changes = disks[file].changes();
        let of = self.of(file);
        if of.1 != changes {
            *of = (wall_clock().max(of.0 + 1), changes);
        }
        of.0
    }

    /// Somebody says when a file was changed.
    pub fn set(&mut self, file: usize, disks: &[Disk], time: NewTime) {
        let at = match time {
            NewTime::Now => wall_clock(),
            NewTime::At(at) => at,
        };
        *self.of(file) = (at, disks[file].changes());
    }

    fn of(&mut self, file: usize) -> &mut (u64, u64) {
        if self.files.len() <= file {
            self.files.resize(file + 1, (self.start, 0));
        }
        &mut self.files[file]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backing::Medium;

    #[test]
    fn a_change_is_seen_once() {
        let disk = || Disk::new(&Medium::Memory, "v", 1 << 20).unwrap();
        let mut disks = [disk(), disk()];
        let mut times = Times::new(5);
        assert_eq!((times.look(0, &disks), times.look(1, &disks)), (5, 5));
        disks[1].has_changed();
        let changed = times.look(1, &disks);
        assert!(changed > 5);
        assert_eq!((times.look(0, &disks), times.look(1, &disks)), (5, changed));
        disks[1].has_changed();
        let again = times.look(1, &disks);
        assert!(again > changed);
        // What was set stays until the next change, whatever has not been looked at.
        disks[1].has_changed();
        times.set(1, &disks, NewTime::At(7));
        assert_eq!(times.look(1, &disks), 7);
        disks[1].has_changed();
        assert!(times.look(1, &disks) > again);
        times.set(0, &disks, NewTime::Now);
        assert!(times.look(0, &disks) > again);
    }
}
