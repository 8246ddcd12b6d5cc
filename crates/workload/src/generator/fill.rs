//! What written buffers hold.
//!
//! Storage that compresses or removes duplicates shows figures that have nothing to do with its media if buffers repeat.
//! So the default is new random bytes for every write, made fast enough not to be the bottleneck.

use super::filler::Filler;
use super::random_bytes::RandomBytes;
use super::rng::{Purpose, hash_key, mix};
use super::{Io, StreamKey};
use crate::{BufferContents, Direction, Job};

/// The unit in which storage could find duplicates: the smallest sector there is.
const SECTOR: usize = 512;

/// Fills the buffers of one worker. Equal keys give equal bytes; a repeat that must not write what is already there
/// needs another salt.
#[derive(Debug)]
pub struct BufferFill {
    contents: BufferContents,
    bytes: RandomBytes,
    /// Sets this worker's stamps apart from those of others.
    worker: u64,
    /// What counts instead where the job says more of its contents.
    filler: Option<Box<Filler>>,
}

impl BufferFill {
    /// The contents that the worker of `job` named by `key` writes.
    pub fn for_job(job: &Job, key: StreamKey) -> Self {
        let filling = job.features.filling.as_ref();
        Self {
            filler: filling.map(|rules| Box::new(Filler::new(job, rules, key))),
            ..Self::new(job.contents, key)
        }
    }

    /// Plain contents of the worker named by `key`.
    pub fn new(contents: BufferContents, key: StreamKey) -> Self {
        let worker = hash_key(key, Purpose::Contents);
        Self {
            contents,
            bytes: RandomBytes::new(worker),
            worker,
            filler: None,
        }
    }

    /// Gives a buffer its first contents; to be called once for each buffer.
    pub fn prepare(&mut self, buffer: &mut [u8]) {
        if let Some(filler) = &mut self.filler {
            return filler.prepare(buffer);
        }
        match self.contents {
            BufferContents::Zeroes => buffer.fill(0),
            BufferContents::RandomEachWrite
            | BufferContents::RandomStamped
            | BufferContents::RandomOnce => self.bytes.fill(buffer),
        }
    }

    /// Gives `buffer` the contents of `io`, in its first `io.length` bytes; to be called before each write. Reads and
    /// trims are left alone.
    #[inline]
    pub fn refill(&mut self, io: &Io, buffer: &mut [u8]) {
        if io.direction != Direction::Write {
            return;
        }
        let length = buffer.len().min(io.length as usize);
        let buffer = &mut buffer[..length];
        if let Some(filler) = &mut self.filler {
            return filler.fill(io.offset, buffer);
        }
        match self.contents {
            BufferContents::RandomEachWrite => self.bytes.fill(buffer),
            BufferContents::RandomStamped => self.stamp(io.index, buffer),
            BufferContents::RandomOnce | BufferContents::Zeroes => {}
        }
    }

    /// Sixteen bytes at the start of each sector that no other sector of this worker bears: the first eight are a
    /// bijection of the index, the others count sectors.
    fn stamp(&self, index: u64, buffer: &mut [u8]) {
        let of_io = mix(self.worker ^ index).to_le_bytes();
        let (sectors, rest) = buffer.as_chunks_mut::<SECTOR>();
        let mut number = self.worker;
        for sector in sectors {
            // Two stores: put together first, the halves would have to wait for each other.
            sector[..8].copy_from_slice(&of_io);
            sector[8..16].copy_from_slice(&number.to_le_bytes());
            number = number.wrapping_add(1);
        }
        let stamp = of_io.into_iter().chain(number.to_le_bytes());
        for (byte, value) in rest.iter_mut().zip(stamp) {
            *byte = value;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const KEY: StreamKey = StreamKey {
        seed: 9,
        job: 0,
        worker: 0,
        salt: 0,
    };

    fn write(index: u64, length: u32) -> Io {
        Io {
            index,
            direction: Direction::Write,
            target: 0,
            offset: 0,
            length,
        }
    }

    /// Distinct sectors among those of `writes` writes of 4 KiB from two buffers.
    fn distinct_sectors(contents: BufferContents, writes: u64) -> usize {
        let mut fill = BufferFill::new(contents, KEY);
        let mut buffers = [vec![1u8; 4096], vec![2u8; 4096]];
        for buffer in &mut buffers {
            fill.prepare(buffer);
        }
        let mut seen = BTreeSet::new();
        for index in 0..writes {
            let buffer = &mut buffers[index as usize % 2];
            fill.refill(&write(index, 4096), buffer);
            seen.extend(buffer.chunks(SECTOR).map(<[u8]>::to_vec));
        }
        seen.len()
    }

    #[test]
    fn sectors_repeat_as_their_contents_say() {
        let check = |contents, distinct| {
            assert_eq!(distinct_sectors(contents, 100), distinct, "{contents:?}");
        };
        check(BufferContents::RandomEachWrite, 800);
        check(BufferContents::RandomStamped, 800);
        check(BufferContents::RandomOnce, 16);
        check(BufferContents::Zeroes, 1);
    }

    /// Every byte value about equally often: nothing for an entropy coder to save.
    #[test]
    fn random_bytes_are_incompressible() {
        let mut buffer = vec![0u8; 1 << 20];
        BufferFill::new(BufferContents::RandomEachWrite, KEY)
            .refill(&write(0, 1 << 20), &mut buffer);
        let mut counts = [0f64; 256];
        for byte in &buffer {
            counts[usize::from(*byte)] += 1.0;
        }
        let total = buffer.len() as f64;
        let entropy: f64 = counts
            .iter()
            .map(|count| -count / total * libm::log2(count / total))
            .sum();
        assert!(entropy > 7.999, "{entropy} bits a byte");
    }

    #[test]
    fn workers_write_different_bytes_and_equal_keys_the_same() {
        let first = |contents, worker| {
            let mut buffer = vec![0u8; 1003];
            let mut fill = BufferFill::new(contents, StreamKey { worker, ..KEY });
            fill.prepare(&mut buffer);
            fill.refill(&write(0, 1003), &mut buffer);
            buffer
        };
        for contents in [
            BufferContents::RandomEachWrite,
            BufferContents::RandomStamped,
        ] {
            assert_eq!(first(contents, 0), first(contents, 0));
            assert_ne!(first(contents, 0), first(contents, 1));
        }
    }

    /// Pinned: a change here makes a repeated run write other bytes.
    #[test]
    fn the_first_bytes_are_frozen() {
        let mut buffer = [0u8; 12];
        let mut fill = BufferFill::new(BufferContents::RandomStamped, KEY);
        fill.prepare(&mut buffer);
        assert_eq!(
            buffer,
            [152, 176, 124, 40, 151, 145, 137, 204, 153, 81, 221, 154]
        );
        fill.refill(&write(3, 12), &mut buffer);
        assert_eq!(
            buffer,
            [41, 137, 2, 214, 248, 107, 113, 45, 182, 4, 124, 15]
        );
    }

    #[test]
    fn only_the_bytes_of_a_write_are_touched() {
        let mut fill = BufferFill::new(BufferContents::RandomEachWrite, KEY);
        let mut buffer = vec![0u8; 8192];
        let read = Io {
            direction: Direction::Read,
            ..write(0, 4096)
        };
        fill.refill(&read, &mut buffer);
        assert!(buffer.iter().all(|byte| *byte == 0));
        fill.refill(&write(1, 4096), &mut buffer);
        assert!(buffer[4096..].iter().all(|byte| *byte == 0));
        assert!(buffer[..4096].iter().any(|byte| *byte != 0));
        // A buffer shorter than its write is filled as far as it goes.
        fill.refill(&write(2, 4096), &mut buffer[..100]);
    }
}
