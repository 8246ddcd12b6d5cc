//! Long ranges of files, whose room is taken back or which become zeroes, a part at a time.
//!
//! A file may have any length, and an I/O less than 4 GiB, as those of NBD. The request for what is left of a range comes behind
//! its first part, as though the kernel had sent it then, and the last one alone is answered.
//!
//! Invariant: once an I/O of a range has failed, or who asked for it is gone, no more of it begins.

use std::collections::HashMap;

use fathom_fuse::{self as fuse, errno};
use fathom_nbd::Command;

use super::files::Files;
use crate::in_flight::Io;

/// The longest part of a range that is taken back, which takes hardly any time.
const PART: u64 = 2 << 30;

/// The longest part of a range for `command`. What becomes zeroes takes the time of a write, and whoever interrupts it waits for
/// the end of a part: it is as long as one step of the model, which a longer part is made of too.
pub(super) const fn longest(command: Command) -> u64 {
    match command {
        Command::WriteZeroes => super::STEP as u64,
        _ => PART,
    }
}

/// What is left of a range.
#[derive(Debug)]
struct Rest {
    /// Its request.
    bytes: Vec<u8>,
    /// Nobody waits for it any more.
    is_unwanted: bool,
}

/// What is left of ranges, by the number of their request.
#[derive(Debug, Default)]
pub(super) struct Parts(HashMap<u64, Rest>);

impl Parts {
    /// The first `done` bytes of a range are an I/O now.
    pub fn begin(&mut self, unique: u64, request: &[u8], done: u32) {
        let rest = fuse::without_start(request, u64::from(done)).map(|bytes| Rest {
            bytes,
            is_unwanted: false,
        });
        self.0.extend(rest.map(|rest| (unique, rest)));
    }

    /// Who asked for a range was interrupted.
    pub fn interrupt(&mut self, unique: u64) {
        if let Some(rest) = self.0.get_mut(&unique) {
            rest.is_unwanted = true;
        }
    }

    /// An I/O of a request is over.
    fn after(&mut self, unique: u64, failed: bool) -> Next {
        // Most requests are one I/O.
        if self.0.is_empty() {
            return Next::Nothing;
        }
        match self.0.remove(&unique) {
            Some(rest) if !failed && rest.is_unwanted => Next::Interrupted,
            Some(rest) if !failed => Next::Rest(rest.bytes),
            _ => Next::Nothing,
        }
    }
}

/// What comes behind an I/O.
#[derive(Debug, PartialEq, Eq)]
enum Next {
    /// Nothing: it was the last one, or has failed.
    Nothing,
    /// A request for the rest.
    Rest(Vec<u8>),
    /// Nobody waits for the rest.
    Interrupted,
}

impl Files {
    /// Whether an I/O that is over is not the one to be answered.
    pub(super) fn goes_on_behind(&mut self, io: &Io) -> bool {
        match self.parts.after(io.cookie, io.error.is_some()) {
            Next::Nothing => return false,
            Next::Interrupted => self.fail(io.cookie, errno::INTERRUPTED),
            Next::Rest(bytes) => {
                self.held.push((bytes, None));
                self.goes_on = true;
            }
        }
        true
    }

    /// Whether a request that was kept may be taken in now.
    pub(super) fn has_more(&self) -> bool {
        self.goes_on && !self.held.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A request to punch a hole, as the kernel lays it out.
    fn request(offset: u64, length: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        for word in [72_u32, 43] {
            bytes.extend(word.to_ne_bytes());
        }
        for word in [77, 2, 0, 0, 1, offset, length, 3_u64] {
            bytes.extend(word.to_ne_bytes());
        }
        bytes
    }

    #[test]
    fn a_range_goes_on_until_it_is_done_fails_or_is_not_wanted() {
        let mut parts = Parts::default();
        let begin = |parts: &mut Parts| parts.begin(77, &request(0, 3 * PART), PART as u32);
        begin(&mut parts);
        assert_eq!(parts.after(78, false), Next::Nothing);
        let rest = request(PART, 2 * PART);
        assert_eq!(parts.after(77, false), Next::Rest(rest));
        assert_eq!(parts.after(77, false), Next::Nothing);
        begin(&mut parts);
        assert_eq!(parts.after(77, true), Next::Nothing);
        assert_eq!(parts.after(77, false), Next::Nothing);
        begin(&mut parts);
        parts.interrupt(78);
        parts.interrupt(77);
        assert_eq!(parts.after(77, false), Next::Interrupted);
        assert_eq!(parts.after(77, false), Next::Nothing);
    }
}
