//! Entries of the submission queue that are made anew: of syncs, of durable writes, and the first of reads and writes that
//! follow each other.

use std::os::fd::AsRawFd;

use rustix::io::ReadWriteFlags;
use rustix::io_uring::{
    IoringFsyncFlags, IoringOp, IoringSqeFlags, addr_or_splice_off_in_union, io_uring_ptr,
    io_uring_sqe, io_uring_user_data, ioprio_union, len_union, off_or_addr2_union, op_flags_union,
};

use super::{Registered, UringQueue};
use crate::ring::{HEAD, LENGTH, Words};
use crate::{Operation, Request};

/// The words of a read's or write's entry that are of no one place and slot, used as long as nothing else changes.
///
/// Words are read and written as wholes: a processor waits where it loads at once what was stored in parts a moment ago, as
/// an entry that is changed in memory and then copied would be.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub(super) struct Template {
    pub(super) head: u64,
    pub(super) length: u64,
    /// The file and length it was made of, with one added so that 0 is of nothing; it is void once the priority changes.
    pub(super) made_of: u64,
}

/// What [`Template::made_of`] says of this file and this length.
#[inline]
pub(super) fn made_of(file: u32, length: u32) -> u64 {
    (u64::from(file) << 32 | u64::from(length)).wrapping_add(1)
}

/// Word of the buffer's address.
pub(super) const ADDRESS: usize = 2;

/// Word of the user data.
pub(super) const USER_DATA: usize = 4;

/// Word that begins with the two bytes of the registered buffer's number; what follows them is zero.
pub(super) const BUFFER: usize = 5;

impl UringQueue {
    /// The entry of a request, made anew.
    #[inline(never)]
    pub(super) fn make(&self, request: &Request, address: *mut u8) -> Words {
        let mut entry = io_uring_sqe {
            fd: self.files[request.file as usize].as_raw_fd(),
            user_data: io_uring_user_data::from_u64(u64::from(request.slot)),
            ..io_uring_sqe::default()
        };
        if self.fixed_files == Registered::Yes {
            entry.fd = request.file.cast_signed();
            entry.flags = IoringSqeFlags::FIXED_FILE;
        }
        entry.opcode = match (request.operation, self.fixed_buffers) {
            (Operation::Read, Registered::Yes) => IoringOp::ReadFixed,
            (Operation::Write | Operation::WriteThrough, Registered::Yes) => IoringOp::WriteFixed,
            (Operation::Read, Registered::No) => IoringOp::Read,
            (Operation::Write | Operation::WriteThrough, Registered::No) => IoringOp::Write,
            (Operation::Fsync | Operation::Fdatasync, _) => IoringOp::Fsync,
        };
        match request.operation {
            Operation::Read | Operation::Write | Operation::WriteThrough => {
                entry.off_or_addr2 = off_or_addr2_union {
                    off: request.offset,
                };
                let addr = io_uring_ptr::new(address.cast());
                entry.addr_or_splice_off_in = addr_or_splice_off_in_union { addr };
                let len = request.length;
                entry.len = len_union { len };
                let ioprio = self.priority;
                entry.ioprio = ioprio_union { ioprio };
                let [reads, writes] = self.flags;
                let rw_flags = match request.operation {
                    Operation::Read => reads,
                    Operation::WriteThrough => writes | ReadWriteFlags::DSYNC,
                    _ => writes,
                };
                entry.op_flags = op_flags_union { rw_flags };
            }
            Operation::Fsync => {}
            Operation::Fdatasync => {
                let fsync_flags = IoringFsyncFlags::DATASYNC;
                entry.op_flags = op_flags_union { fsync_flags };
            }
        }
        // SAFETY: the same bytes as words; all of them were written, by the default if not since.
        unsafe { std::mem::transmute::<io_uring_sqe, Words>(entry) }
    }

    /// The template of such reads or writes, made anew.
    #[cold]
    #[inline(never)]
    pub(super) fn make_template(&mut self, operation: Operation, file: u32, length: u32) {
        assert!((file as usize) < self.files.len());
        let request = Request {
            slot: 0,
            file,
            operation,
            offset: 0,
            length,
        };
        let words = self.make(&request, std::ptr::null_mut());
        self.templates[usize::from(operation == Operation::Write)] = Template {
            head: words[HEAD],
            length: words[LENGTH],
            made_of: made_of(file, request.length),
        };
    }
}
