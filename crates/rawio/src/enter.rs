//! The system call that submits to a ring and waits for its completions, made in line.
//!
//! The kernel leaves the processor without its predictions of where functions return to (it overwrites them on purpose,
//! against Spectre), so each function around a system call costs a misprediction on the way back: four of them were a
//! tenth of what a worker at a depth of 64 does outside the kernel.

use std::io;
use std::os::fd::RawFd;

/// Wait, and look after what has completed (`include/uapi/linux/io_uring.h`).
const GET_EVENTS: u32 = 1;
/// The ring is named by its registered number.
const REGISTERED_RING: u32 = 1 << 4;
/// Operations of `io_uring_register` (the same header).
const REGISTER_RING: libc::c_uint = 20;
const UNREGISTER_RING: libc::c_uint = 21;

/// The kernel's `struct io_uring_rsrc_update`.
#[repr(C)]
struct Update {
    offset: u32,
    reserved: u32,
    data: u64,
}

/// A ring as the calling thread enters it.
#[derive(Debug)]
pub(crate) struct Entrance {
    ring: RawFd,
    /// Its registered number and the flag that says so, or its file descriptor and no flag.
    number: i32,
    flags: u32,
}

impl Entrance {
    /// Of an open ring, which the calling thread alone enters. It is registered where the kernel can (Linux 5.18), so that
    /// entering looks nothing up.
    pub(crate) fn new(ring: RawFd) -> Self {
        let mut update = Update {
            offset: u32::MAX,
            reserved: 0,
            data: ring as u64,
        };
        let (number, flags) = match register(ring, REGISTER_RING, &mut update) {
            1 => (update.offset.cast_signed(), REGISTERED_RING),
            _ => (ring, 0),
        };
        Self {
            ring,
            number,
            flags,
        }
    }

    /// Lets go of the registered number, before the ring is closed.
    pub(crate) fn close(&mut self) {
        if self.flags == REGISTERED_RING {
            let mut update = Update {
                offset: self.number.cast_unsigned(),
                reserved: 0,
                data: 0,
            };
            // What cannot be let go goes with the thread.
            register(self.ring, UNREGISTER_RING, &mut update);
            (self.number, self.flags) = (self.ring, 0);
        }
    }

    /// Submits `count` requests in line and waits for at least `least` completions; gives how many were submitted.
    ///
    /// # Errors
    /// Those of `io_uring_enter`.
    #[inline]
    pub(crate) fn enter(&self, count: usize, least: usize, look: bool) -> io::Result<usize> {
        let wait = if least > 0 || look { GET_EVENTS } else { 0 };
        let result = call(self.number, count, least, self.flags | wait);
        if result < 0 {
            return Err(io::Error::from_raw_os_error(-result as i32));
        }
        Ok(result as usize)
    }
}

fn register(ring: RawFd, operation: libc::c_uint, update: &mut Update) -> libc::c_long {
    // SAFETY: both operations take one update, which they read and write.
    unsafe {
        libc::syscall(
            libc::SYS_io_uring_register,
            ring,
            operation,
            std::ptr::from_mut(update),
            1,
        )
    }
}

/// `io_uring_enter` without a signal mask; a negative error number where it fails.
#[cfg(target_arch = "x86_64")]
#[inline]
fn call(number: i32, count: usize, least: usize, flags: u32) -> i64 {
    let result: i64;
    // SAFETY: the call as the kernel's interface for x86-64 has it; it reads and writes what the ring's entries name, for
    // which those who lined them up vouch, and changes no registers but these three.
    unsafe {
        std::arch::asm!(
            "syscall",
            inlateout("rax") libc::SYS_io_uring_enter => result,
            in("rdi") i64::from(number),
            in("rsi") count,
            in("rdx") least,
            in("r10") u64::from(flags),
            in("r8") 0,
            in("r9") 0,
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    result
}

/// `io_uring_enter` without a signal mask; a negative error number where it fails.
#[cfg(not(target_arch = "x86_64"))]
fn call(number: i32, count: usize, least: usize, flags: u32) -> i64 {
    let nothing = std::ptr::null::<libc::c_void>();
    // SAFETY: as above.
    let result = unsafe {
        libc::syscall(
            libc::SYS_io_uring_enter,
            number,
            count as libc::c_uint,
            least as libc::c_uint,
            flags,
            nothing,
            0usize,
        )
    };
    if result < 0 {
        -i64::from(io::Error::last_os_error().raw_os_error().unwrap_or(0))
    } else {
        result as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_ring_is_an_error_with_its_number() {
        let file = std::fs::File::open("/dev/null").unwrap();
        let mut entrance = Entrance::new(std::os::fd::AsRawFd::as_raw_fd(&file));
        assert_eq!(entrance.flags, 0);
        let error = entrance.enter(0, 0, false).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EOPNOTSUPP));
        entrance.close();
    }
}
