//! Large holes punched beside the thread that serves.
//!
//! Giving back the room of a gigabyte takes a file system some tens of milliseconds or more, in which nobody else's I/O may
//! wait. So the blocks read as zeroes at once, by the table of what is allocated, and a thread of its own gives their room
//! back, a slice at a time: a write elsewhere in the file waits for one slice at most.
//!
//! Invariant: nothing else changes bytes of a hole until it has been punched.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use rustix::event::{EventfdFlags, eventfd};
use rustix::fs::FallocateFlags;

/// Bytes whose room is given back in one call. A hole up to this is no matter for another thread.
pub(crate) const SLICE: u64 = 1 << 20;
/// What is written where a file system has no holes.
static ZEROES: [u8; SLICE as usize] = [0; SLICE as usize];

/// A hole to be punched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hole {
    /// First byte.
    pub start: u64,
    /// Bytes.
    pub length: u64,
    /// Blocks of memory that are given back with it.
    pub blocks: u64,
}

/// A hole on its way, of an export, and the I/O that waits for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Punch {
    pub io: u32,
    pub export: usize,
    pub hole: Hole,
}

/// The thread that punches, and what it has been asked for.
#[derive(Debug)]
pub(crate) struct Puncher {
    wishes: Option<Sender<(Arc<File>, Hole)>>,
    results: Receiver<io::Result<()>>,
    bell: Arc<OwnedFd>,
    /// In the order of their wishes, in which they are done too.
    pending: std::collections::VecDeque<Punch>,
    thread: Option<JoinHandle<()>>,
}

impl Puncher {
    /// Starts the thread.
    pub fn new() -> io::Result<Self> {
        let (wishes, wished) = channel::<(Arc<File>, Hole)>();
        let (told, results) = channel();
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        let bell = Arc::new(eventfd(0, flags)?);
        let ring = Arc::clone(&bell);
        let thread = std::thread::Builder::new().name("punch".to_owned());
        let thread = thread.spawn(move || {
            while let Ok((file, hole)) = wished.recv() {
                // Nobody hears of the last ones at the end.
                let _ = told.send(punch(&file, hole.start, hole.length));
                let _ = rustix::io::write(&*ring, &1u64.to_ne_bytes());
            }
        })?;
        Ok(Self {
            wishes: Some(wishes),
            results,
            bell,
            pending: std::collections::VecDeque::new(),
            thread: Some(thread),
        })
    }

    /// Asks for a hole.
    pub fn ask(&mut self, file: &Arc<File>, punch: Punch) {
        if let Some(wishes) = &self.wishes {
            // The thread ends after this side alone.
            let _ = wishes.send((Arc::clone(file), punch.hole));
            self.pending.push_back(punch);
        }
    }

    /// Readable while there are results.
    pub fn bell(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }

    /// Silences the bell, before the results are taken.
    pub fn heard(&self) {
        let _ = rustix::io::read(&*self.bell, &mut [0; 8]);
    }

    /// The next hole that is done.
    pub fn next(&mut self) -> Option<(Punch, io::Result<()>)> {
        let result = self.results.try_recv().ok()?;
        Some((self.pending.pop_front()?, result))
    }

    /// The same, once it is done; `None`: nothing was asked for.
    pub fn wait(&mut self) -> Option<(Punch, io::Result<()>)> {
        let punch = self.pending.pop_front()?;
        let result = self.results.recv();
        Some((
            punch,
            result.unwrap_or_else(|_| Err(io::ErrorKind::BrokenPipe.into())),
        ))
    }

    /// Whether a hole of an export that is not done yet touches a range.
    #[inline]
    pub fn touches(&self, export: usize, offset: u64, length: u64) -> bool {
        let end = offset.saturating_add(length);
        let touches = |one: &Punch| {
            let (start, stop) = (one.hole.start, one.hole.start + one.hole.length);
            one.export == export && start < end && offset < stop
        };
        self.pending.iter().any(touches)
    }
}

impl Drop for Puncher {
    fn drop(&mut self) {
        self.wishes = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Gives a range of a file back, a slice at a time; where that is not possible, it becomes zeroes.
fn punch(file: &File, start: u64, length: u64) -> io::Result<()> {
    let (mut at, end) = (start, start + length);
    while at < end {
        let count = SLICE.min(end - at);
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        if rustix::fs::fallocate(file, flags, at, count).is_err() {
            let size = file.metadata()?.len();
            let count = count.min(size.saturating_sub(at));
            file.write_all_at(&ZEROES[..count as usize], at)?;
        }
        at += count;
        // Whoever waits for the file goes first.
        std::thread::yield_now();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holes_are_punched_in_order_and_guarded_until_then() {
        let file = tempfile::tempfile().unwrap();
        let size = 5 * SLICE + 4096;
        for at in (0..size).step_by(4096) {
            file.write_all_at(&[7; 4096], at).unwrap();
        }
        let file = Arc::new(file);
        let mut puncher = Puncher::new().unwrap();
        let punch = |io, start, length| Punch {
            io,
            export: 3,
            hole: Hole {
                start,
                length,
                blocks: 0,
            },
        };
        let (first, second) = (punch(1, 4096, 2 * SLICE), punch(2, 3 * SLICE, 2 * SLICE));
        puncher.ask(&file, first);
        puncher.ask(&file, second);
        for (export, offset, length, expected) in [
            (3, 0, 4096, false),
            (3, 0, 4097, true),
            (3, 4096 + 2 * SLICE, 1, false),
            (3, 5 * SLICE - 1, u64::MAX, true),
            (2, 0, u64::MAX, false),
        ] {
            assert_eq!(puncher.touches(export, offset, length), expected);
        }
        let done: Vec<_> = std::iter::from_fn(|| puncher.wait())
            .map(|(punch, result)| (punch, result.is_ok()))
            .collect();
        assert_eq!(done, [(first, true), (second, true)]);
        assert!(!puncher.touches(3, 0, u64::MAX) && puncher.next().is_none());
        let mut bytes = vec![0; size as usize];
        file.read_exact_at(&mut bytes, 0).unwrap();
        let whole = |at: u64| {
            (4096..4096 + 2 * SLICE).contains(&at) || (3 * SLICE..5 * SLICE).contains(&at)
        };
        let wrong = bytes
            .iter()
            .zip(0u64..)
            .find(|(byte, at)| (**byte == 0) != whole(*at));
        assert_eq!(wrong, None);
    }
}
