//! Holes of files: where data is, as `lseek` asks for it.
//!
//! Programs that copy files, and virtual machines, leave holes out by that. It is answered from the table of what is allocated,
//! as the status of blocks is to clients of the network, and like that it is charged nothing.

use fathom_fuse::{self as fuse, Seek, errno};

use super::Server;
use super::files::{Files, number_of};
use crate::backing::Disk;

impl Server<'_> {
    /// Answers where the next data or hole of a file is.
    pub(super) fn seek(&self, files: &Files, (unique, export): (u64, usize), seek: Seek) {
        let there = self.there(export).map_err(number_of);
        match there.and_then(|()| found(&self.disks[export], seek)) {
            Ok(offset) => files.say(&fuse::sought(unique, offset)),
            Err(error) => files.fail(unique, error),
        }
    }
}

/// Where what is sought is; the end of a file is a hole.
fn found(disk: &Disk, seek: Seek) -> Result<u64, i32> {
    let for_data = seek.for_data().ok_or(errno::INVALID)?;
    let size = disk.size();
    if seek.offset >= size {
        return Err(errno::NO_PLACE);
    }
    let (end, holds) = disk.run(seek.offset);
    match (holds == for_data, for_data) {
        (true, _) => Ok(seek.offset),
        (false, true) if end == size => Err(errno::NO_PLACE),
        (false, _) => Ok(end),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backing::Medium;
    use crate::budget::Budget;

    #[track_caller]
    fn check(disk: &Disk, (offset, whence): (u64, u32), expected: Result<u64, i32>) {
        let seek = Seek { offset, whence };
        assert_eq!(found(disk, seek), expected, "{seek:?}");
    }

    #[test]
    fn data_and_holes_are_found() {
        const SIZE: u64 = 40_000;
        let (data, hole) = (3, 4);
        let mut disk = Disk::new(&Medium::Memory, "v", SIZE).unwrap();
        check(&disk, (0, data), Err(errno::NO_PLACE));
        check(&disk, (7, hole), Ok(7));
        let mut budget = Budget::new(100);
        for offset in [5000, 9000, 39_999] {
            disk.reserve(&mut budget, offset, 1).unwrap();
        }
        for (offset, of_data, of_hole) in [
            (0, Ok(4096), Ok(0)),
            (4096, Ok(4096), Ok(12_288)),
            (9000, Ok(9000), Ok(12_288)),
            (12_288, Ok(36_864), Ok(12_288)),
            (36_865, Ok(36_865), Ok(SIZE)),
            (SIZE - 1, Ok(SIZE - 1), Ok(SIZE)),
            (SIZE, Err(errno::NO_PLACE), Err(errno::NO_PLACE)),
            (u64::MAX, Err(errno::NO_PLACE), Err(errno::NO_PLACE)),
        ] {
            check(&disk, (offset, data), of_data);
            check(&disk, (offset, hole), of_hole);
        }
        check(&disk, (0, 0), Err(errno::INVALID));
        disk.discard(&mut budget, 36_864, SIZE - 36_864).unwrap();
        check(&disk, (12_288, data), Err(errno::NO_PLACE));
    }
}
