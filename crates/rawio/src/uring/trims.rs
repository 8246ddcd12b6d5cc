//! Trims of block devices as requests of a ring, as many at a time as there are slots (Linux 6.12 and later).
//!
//! The kernel takes them as a command to the device: `BLOCK_URING_CMD_DISCARD` of `include/uapi/linux/blkdev.h`, with the range
//! in bytes in the words of the address and of the third address. It answers them with 0.

use std::fs::File;
use std::os::fd::AsRawFd;

use rustix::io_uring::{
    IoringEnterFlags, IoringOp, IoringSqeFlags, addr_or_splice_off_in_union, addr3_or_cmd_union,
    io_uring_params, io_uring_sqe, io_uring_user_data, off_or_addr2_union,
};

use super::begin::DEFERRED;
use super::{Entering, Registered, UringQueue};
use crate::Request;
use crate::ring::{Ring, Words};

/// `_IO(0x12, 0)`.
const BLOCK_URING_CMD_DISCARD: u32 = 0x12 << 8;

impl UringQueue {
    /// Whether trims of a file are requests of this ring, as they are then of all its files.
    pub(super) fn takes_trims(&mut self, file: u32) -> bool {
        if let Some(takes) = self.takes_trims {
            return takes;
        }
        // Devices are polled for reads and writes alone.
        let takes = self.entering != Entering::Polling && takes_trims(&self.files[file as usize]);
        self.takes_trims = Some(takes);
        takes
    }

    /// The entry of a trim.
    pub(super) fn trim_of(&self, request: &Request) -> Words {
        let (fd, flags) = match self.fixed_files {
            Registered::Yes => (request.file.cast_signed(), IoringSqeFlags::FIXED_FILE),
            Registered::No => {
                let file = &self.files[request.file as usize];
                (file.as_raw_fd(), IoringSqeFlags::empty())
            }
        };
        let range = (request.offset, u64::from(request.length));
        entry((fd, flags), range, u64::from(request.slot))
    }
}

fn entry(
    (fd, flags): (i32, IoringSqeFlags),
    (offset, length): (u64, u64),
    user_data: u64,
) -> Words {
    let mut command = off_or_addr2_union::default();
    command.cmd_op.cmd_op = BLOCK_URING_CMD_DISCARD;
    let mut third = addr3_or_cmd_union::default();
    third.addr3.addr3 = length;
    let entry = io_uring_sqe {
        opcode: IoringOp::UringCmd,
        fd,
        flags,
        off_or_addr2: command,
        addr_or_splice_off_in: addr_or_splice_off_in_union {
            splice_off_in: offset,
        },
        addr3_or_cmd: third,
        user_data: io_uring_user_data::from_u64(user_data),
        ..io_uring_sqe::default()
    };
    // SAFETY: the same bytes as words; all of them were written, by the default if not since.
    unsafe { std::mem::transmute::<io_uring_sqe, Words>(entry) }
}

/// Whether the kernel takes trims of a file as requests of rings. It is asked for one of no bytes, which is invalid to a kernel
/// that does: nothing is trimmed.
fn takes_trims(file: &File) -> bool {
    // To kernels before 5.19 all commands are invalid. None of them makes such a ring.
    let mut wanted = io_uring_params::default();
    wanted.flags |= DEFERRED;
    let Ok(mut ring) = Ring::new(1, wanted) else {
        return false;
    };
    let nothing = entry((file.as_raw_fd(), IoringSqeFlags::empty()), (0, 0), 0);
    // SAFETY: nothing is in line yet, and the entry points at no memory; the file is open until it is answered.
    let asked = unsafe {
        ring.line.put(0, nothing);
        ring.line.publish();
        ring.enter(1, 1, IoringEnterFlags::GETEVENTS)
    };
    ring.arrivals.look();
    let answer = ring.arrivals.take(1).next();
    asked.is_ok() && answer.is_some_and(|(_, result)| result == -libc::EINVAL)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Queue;
    use crate::{Caching, Trims, open_unnamed};

    /// A regular file knows no such command.
    #[test]
    fn trims_of_files_are_no_requests() {
        let file = open_unnamed(&std::env::temp_dir(), Caching::Buffered).unwrap();
        assert!(!takes_trims(&file));
        let mut queue = UringQueue::new(vec![file], 2, 4096).unwrap();
        let request = Request {
            slot: 0,
            file: 0,
            operation: crate::Operation::Write,
            offset: 0,
            length: 4096,
        };
        assert_eq!(queue.push_trim(request), Trims::Apart);
        assert_eq!(queue.in_flight(), 0);
    }
}
