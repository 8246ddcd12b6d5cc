//! What keeps a processor busy in place of I/O: the bursts of a job that works (`Features::processor_work`).
//!
//! A burst is a request of no bytes to a queue that does one at a time; the rests between bursts are pauses, and the worker's
//! (`worker/bursts.rs` says how long). Nothing of it is on the way of real I/O.

use std::fs::File;
use std::io;

use fathom_rawio::{Clock, Performer, Request};
use fathom_workload::{ProcessorWork, WorkKind};

use crate::StopFlag;

/// Numbers that a burst sorts: a MiB of them.
const NUMBERS: usize = 1 << 18;

/// Rounds of the idle loop between two looks at the clock.
const ROUNDS: u32 = 64;

/// Does bursts of work.
#[derive(Debug)]
pub(crate) struct Bursts {
    work: ProcessorWork,
    stop: StopFlag,
    /// What is sorted; none where nothing is.
    numbers: Vec<u32>,
    /// State of the numbers' generator.
    state: u32,
}

impl Bursts {
    /// Bursts of `work`, which end early where the run is stopped.
    ///
    /// # Errors
    /// Where there is no memory for what is sorted.
    pub(crate) fn new(work: ProcessorWork, stop: StopFlag) -> io::Result<Self> {
        let mut numbers = Vec::new();
        if work.kind == WorkKind::Sort {
            let reserved = numbers.try_reserve_exact(NUMBERS);
            reserved.map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
            numbers.resize(NUMBERS, 0);
        }
        Ok(Self {
            work,
            stop,
            numbers,
            state: 1,
        })
    }

    fn spin(&self) {
        let end = Clock::now().saturating_add(self.work.burst);
        while Clock::now() < end && !self.stop.is_requested() {
            for _ in 0..ROUNDS {
                std::hint::spin_loop();
            }
        }
    }

    /// Sorts numbers that are drawn anew: once in order, once more by their digits turned round, which is another order.
    fn sort(&mut self) {
        for number in &mut self.numbers {
            // Marsaglia's xorshift with its first triple of 32 bits (Journal of Statistical Software 8/14, 2003).
            self.state ^= self.state << 13;
            self.state ^= self.state >> 17;
            self.state ^= self.state << 5;
            *number = self.state;
        }
        self.numbers.sort_unstable();
        self.numbers
            .sort_unstable_by_key(|number| number.reverse_bits());
        std::hint::black_box(&self.numbers);
    }
}

impl Performer for Bursts {
    fn perform(&mut self, request: Request, _buffer: &mut [u8]) -> Result<u32, i32> {
        match self.work.kind {
            WorkKind::Spin => self.spin(),
            WorkKind::Sort => self.sort(),
        }
        Ok(request.length)
    }

    fn files(&self) -> &[File] {
        &[]
    }
}
