//! Buffers that compress and repeat as much as a job's [`Filling`] asks for.
//!
//! Each piece of a buffer is random at its start and repeats at its end; so a compressor that sees whole pieces saves what
//! was asked for. Which random bytes a buffer has follows from one number alone: a duplicate is made again from the
//! number of the block it repeats, and nothing is kept.

use super::StreamKey;
use super::random_bytes::RandomBytes;
use super::rng::{Purpose, Xoshiro256, hash_key, mix};
use crate::{DedupeFrom, Direction, Filling, Job};

/// A write begins at a multiple of this in a pattern that it begins anywhere in.
const START_UNIT: usize = 512;

/// Makes the contents of one worker's writes.
#[derive(Debug)]
pub(super) struct Filler {
    rules: Filling,
    /// Bytes of a piece.
    chunk: usize,
    /// Sets this worker's new blocks apart from those of others.
    worker: u64,
    /// The working set: its first number and how many blocks it has.
    set: (u64, u64),
    /// New blocks so far.
    fresh: u64,
    draws: Xoshiro256,
    /// Whether a buffer that is filled once stays as it is to be: nothing in it differs from write to write, and the job
    /// reads nothing into its buffers.
    stays: bool,
}

impl Filler {
    pub(super) fn new(job: &Job, rules: &Filling, key: StreamKey) -> Self {
        let smallest = job.block.of(Direction::Write).iter();
        let smallest = smallest
            .filter(|entry| entry.weight > 0)
            .map(|entry| entry.size.get());
        let smallest = smallest.min().unwrap_or(512).max(1);
        let chunk = rules
            .chunk
            .map_or(smallest, |chunk| chunk.get().clamp(1, smallest));
        let set = match rules.dedupe.map(|dedupe| dedupe.from) {
            Some(DedupeFrom::WorkingSet { percent, global }) => {
                // The high half of the salt tells repeats of a run apart; they must not write the same.
                let of_all = StreamKey {
                    job: 0,
                    worker: 0,
                    salt: key.salt >> 32 << 32,
                    ..key
                };
                let owner = if global { of_all } else { key };
                let lengths = job.targets.iter().filter_map(|target| target.length);
                let total = lengths.fold(0u64, |sum, length| sum.saturating_add(length.get()));
                let total = job
                    .limits
                    .bytes
                    .map_or(total, |bytes| total.min(bytes.get()));
                let bytes = u128::from(total) * u128::from(percent) / 100;
                let blocks = (bytes / u128::from(smallest)) as u64;
                (hash_key(owner, Purpose::Contents), blocks.max(1))
            }
            _ => (0, 1),
        };
        Self {
            rules: rules.clone(),
            chunk: chunk as usize,
            worker: hash_key(key, Purpose::Contents),
            set,
            fresh: 0,
            draws: Xoshiro256::keyed(key, Purpose::Contents),
            stays: repeats_one_pattern(rules) && !job.moves(Direction::Read),
        }
    }

    /// Gives a buffer its first contents.
    pub(super) fn prepare(&mut self, buffer: &mut [u8]) {
        if let (Some(pattern), true) = (&self.rules.pattern, self.stays) {
            pattern.fill(0, buffer);
        }
    }

    /// Gives `buffer` the contents of a write at `offset`.
    pub(super) fn fill(&mut self, offset: u64, buffer: &mut [u8]) {
        if self.stays {
            return;
        }
        let compress = usize::from(self.rules.compress.min(100));
        if let (Some(pattern), None, 0) = (&self.rules.pattern, self.rules.dedupe, compress) {
            if self.rules.anywhere {
                let places = pattern.bytes().len().div_ceil(START_UNIT);
                let place = self.draws.below(places as u64) as usize;
                pattern.fill_from(place * START_UNIT, offset, buffer);
            } else {
                pattern.fill(offset, buffer);
            }
            return;
        }
        let mut random = RandomBytes::new(self.seed());
        for piece in buffer.chunks_mut(self.chunk) {
            let kept = piece.len() * (100 - compress) / 100;
            let (incompressible, rest) = piece.split_at_mut(kept);
            random.fill(incompressible);
            match &self.rules.pattern {
                Some(pattern) => pattern.fill(offset, rest),
                None => rest.fill(0),
            }
        }
    }

    /// The number that the next buffer's random bytes follow from.
    fn seed(&mut self) -> u64 {
        if let Some(dedupe) = self.rules.dedupe
            && self.draws.below(100) < u64::from(dedupe.percent)
        {
            match dedupe.from {
                DedupeFrom::WorkingSet { .. } => {
                    let (first, blocks) = self.set;
                    return mix(first ^ self.draws.below(blocks));
                }
                // The first block of all repeats nothing.
                DedupeFrom::Last if self.fresh > 0 => return mix(self.worker ^ (self.fresh - 1)),
                DedupeFrom::Last => {}
            }
        }
        let seed = mix(self.worker ^ self.fresh);
        self.fresh += 1;
        seed
    }
}

/// Whether every write of these rules holds the same bytes.
fn repeats_one_pattern(rules: &Filling) -> bool {
    let pattern = rules.pattern.as_ref();
    let is_fixed = pattern.is_some_and(|pattern| !pattern.has_offsets());
    is_fixed && !rules.anywhere && rules.compress == 0 && rules.dedupe.is_none()
}
