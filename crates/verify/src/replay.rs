//! The writes of a pass, drawn a second time.
//!
//! A stream of I/Os depends on its key alone, so nothing has to be kept to know what was written: the stream is made
//! again, and as many I/Os are taken from it as had been issued.

use fathom_workload::Direction;
use fathom_workload::generator::{Io, WorkerStream};

/// Walks through the first I/Os of a stream and yields the writes among them.
#[derive(Debug)]
pub struct Replay {
    stream: WorkerStream,
    ios_left: u64,
    next_number: u64,
}

impl Replay {
    /// The writes among the first `ios` I/Os of `stream`, counted from `first_number`.
    pub fn new(stream: WorkerStream, ios: u64, first_number: u64) -> Self {
        Self {
            stream,
            ios_left: ios,
            next_number: first_number,
        }
    }
}

impl Iterator for Replay {
    type Item = (u64, Io);

    fn next(&mut self) -> Option<(u64, Io)> {
        while self.ios_left > 0 {
            self.ios_left -= 1;
            let io = self.stream.next_io()?;
            if io.direction == Direction::Write {
                let number = self.next_number;
                self.next_number += 1;
                return Some((number, io));
            }
        }
        None
    }
}
