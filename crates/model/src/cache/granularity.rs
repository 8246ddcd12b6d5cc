//! The error of the book by lines and of the hand's order, against exact caches of 4 KiB blocks.
//!
//! The same I/O goes to the cache, to an exact CLOCK whose hand visits blocks in the order of their frames, and to an exact
//! LRU, all of the same capacity; the steady hit shares are compared.

use std::collections::BTreeMap;

use super::*;
use crate::random::mix;

/// Blocks of the caches: 32 MiB, or 512 lines.
const CAPACITY: u64 = 8192;
const IOS: u64 = 160_000;

/// Exact least-recently-used blocks.
#[derive(Default)]
struct Lru {
    stamps: BTreeMap<u64, u64>,
    order: BTreeMap<u64, u64>,
    clock: u64,
}

impl Lru {
    fn access(&mut self, block: u64) -> bool {
        self.clock += 1;
        let before = self.stamps.insert(block, self.clock);
        if let Some(stamp) = before {
            self.order.remove(&stamp);
        }
        self.order.insert(self.clock, block);
        if self.stamps.len() as u64 > CAPACITY
            && let Some((_, oldest)) = self.order.pop_first()
        {
            self.stamps.remove(&oldest);
        }
        before.is_some()
    }
}

/// Exact CLOCK of frames in the order in which they were first filled.
#[derive(Default)]
struct Clock {
    frames: Vec<(u64, bool)>,
    places: BTreeMap<u64, usize>,
    hand: usize,
}

impl Clock {
    fn access(&mut self, block: u64) -> bool {
        if let Some(place) = self.places.get(&block) {
            self.frames[*place].1 = true;
            return true;
        }
        if (self.frames.len() as u64) < CAPACITY {
            self.places.insert(block, self.frames.len());
            self.frames.push((block, true));
            return false;
        }
        while self.frames[self.hand].1 {
            self.frames[self.hand].1 = false;
            self.hand = (self.hand + 1) % self.frames.len();
        }
        self.places.remove(&self.frames[self.hand].0);
        self.frames[self.hand] = (block, true);
        self.places.insert(block, self.hand);
        self.hand = (self.hand + 1) % self.frames.len();
        false
    }
}

/// Hit shares of (lines, CLOCK, LRU) in the second half of a run of I/Os, each (first block, count).
fn hit_shares(space_blocks: u64, io: impl Fn(u64) -> (u64, u64)) -> [f64; 3] {
    let mut lines = HostCache::new(CAPACITY * BLOCK, space_blocks * BLOCK);
    let (mut clock, mut lru) = (Clock::default(), Lru::default());
    let mut hits = [0u64; 3];
    for index in 0..IOS {
        let (first, count) = io(mix(index));
        let (offset, length) = (first * BLOCK, count * BLOCK);
        let mut hit = [lines.holds(offset, length), true, true];
        if !hit[0] {
            lines.fill(offset, length);
        }
        for block in first..first + count {
            hit[1] &= clock.access(block);
            hit[2] &= lru.access(block);
        }
        if index >= IOS / 2 {
            for (sum, hit) in hits.iter_mut().zip(hit) {
                *sum += u64::from(hit);
            }
        }
    }
    hits.map(|hits| hits as f64 / (IOS / 2) as f64)
}

/// A rank of `count` whose frequency falls as 1/rank (Zipf's law with exponent 1), by inversion of the logarithmic sum.
fn zipf(count: u64, number: u64) -> u64 {
    let share = (number >> 11) as f64 / (1u64 << 53) as f64;
    (libm::pow(count as f64 + 1.0, share) as u64 - 1).min(count - 1)
}

/// The hit share is that of the exact caches, which differ between each other: at most half a point outside what they have.
#[track_caller]
fn check(name: &str, shares: [f64; 3]) {
    let [lines, clock, lru] = shares.map(|share| share * 100.0);
    let text = format!("{name}: lines {lines:.2} %, CLOCK {clock:.2} %, LRU {lru:.2} %");
    assert!(
        lines >= clock.min(lru) - 0.5 && lines <= clock.max(lru) + 0.5,
        "{text}"
    );
}

#[test]
fn even_random_io_has_no_error() {
    for (quarters, count) in [(5, 1), (8, 2), (16, 1), (8, 16)] {
        let space = CAPACITY * quarters / 4;
        let shares = hit_shares(space, |number| (number % (space / count) * count, count));
        check("even", shares);
    }
}

#[test]
fn local_io_has_no_error() {
    // Nine of ten I/Os go to a tenth of the space, which lies together.
    let space = CAPACITY * 4;
    let shares = hit_shares(space, |number| {
        let reach = if number % 10 < 9 { space / 10 } else { space };
        ((number >> 8) % (reach / 2) * 2, 2)
    });
    check("a hot area", shares);
}

#[test]
fn scattered_hot_blocks_have_none_either() {
    for (factor, count) in [(2, 1), (4, 1), (4, 2), (8, 2)] {
        let space = CAPACITY * factor;
        let units = space / count;
        let shares = hit_shares(space, |number| {
            let rank = zipf(units, number);
            (mix(rank) % units * count, count)
        });
        check("Zipf", shares);
    }
    // One hot block in each line, a cold one beside it now and then.
    for factor in [4, 12, 16] {
        let space = CAPACITY * factor;
        let shares = hit_shares(space, |number| {
            let hot = number % 10 < 9;
            let block = (number >> 8) % space;
            (if hot { block / 16 * 16 } else { block }, 1)
        });
        check("one hot block a line", shares);
    }
}
