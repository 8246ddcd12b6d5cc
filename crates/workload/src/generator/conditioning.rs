//! The writes that bring flash to its steady state in one pass: a target's blocks, some of them again.
//!
//! Flash that has long been written at random holds regions of every age, and the older one is, the fewer of its blocks still
//! count. In the steady state the share of the flash whose regions have a share `v` of valid blocks goes as `1 / v` (Desnoyers,
//! "Analytic models of SSD write performance", ACM Transactions on Storage 8, 2012), from 1 down to that of the region that is
//! collected next, `1 - 1/WA` for a write amplification of about `0.5 / OP + 0.7`. So the capacity with its over-provisioning
//! (OP) is written once, region after region, and of each region's writes as many are written again later as makes it what it
//! would be: the first regions the most, the last none. This is fio 3.42's `sprandom`, whose shares these are.
//!
//! Invariants: each block is written, and the I/Os of a region are drawn for their second writing by exact counts, so that all
//! numbers of I/Os follow from sizes alone; what waits for its second writing is bounded by [`WAITING_MAX`].

use std::collections::VecDeque;

use super::permutation::Permutation;
use super::rng::{Purpose, Xoshiro256};
use super::{Io, Rejection, StreamKey, TargetRange};
use crate::{Conditioning, Direction, Job};

/// Blocks that may wait for their second writing: 64 MiB of numbers.
const WAITING_MAX: u64 = 8 << 20;

/// The writes of one worker, in order.
#[derive(Debug)]
pub(super) struct ConditioningWalk {
    base: u64,
    block: u64,
    /// Blocks of the target, in the order of their first writing.
    order: Permutation,
    first_writes: u64,
    regions: Vec<Region>,
    region: usize,
    /// What is left of the region.
    left: Left,
    /// Blocks to be written again: `old` of them in this region, the others in the next.
    waiting: VecDeque<u64>,
    old: u64,
    defers: bool,
    draws: Xoshiro256,
    index: u64,
    ios_left: u64,
}

/// How many I/Os a region gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Region {
    /// Second writings of blocks of the region before.
    again: u64,
    /// First writings.
    fresh: u64,
    /// How many of both are written again.
    chosen: u64,
}

/// What of a region is yet to come.
#[derive(Debug, Default)]
struct Left {
    fresh: u64,
    /// I/Os, and how many of them are yet to be chosen.
    ios: u64,
    chosen: u64,
}

impl ConditioningWalk {
    /// The writes of `job`, which has one size of block, to `range`.
    pub(super) fn new(
        job: &Job,
        rules: &Conditioning,
        key: StreamKey,
        range: TargetRange,
    ) -> Result<Self, Rejection> {
        let block = job.block.largest(job.mix).get().max(1);
        let blocks = range.length / block;
        let capacity = capacity(blocks, rules);
        let regions = regions(blocks, rules);
        let length = capacity / u64::from(rules.regions.max(1)) * block;
        if rules.cache.get() > length {
            return Err(Rejection::CacheBeyondRegion {
                cache: rules.cache,
                region: fathom_units::Bytes::new(length),
            });
        }
        let defers = rules.cache > fathom_units::Bytes::ZERO;
        let waits = |it: &Region| {
            if defers {
                it.again + it.chosen
            } else {
                it.again.max(it.chosen + 1)
            }
        };
        let waiting = regions.iter().map(waits).max().unwrap_or(0);
        if waiting > WAITING_MAX {
            return Err(Rejection::ConditioningBeyondMemory {
                waiting,
                most: WAITING_MAX,
            });
        }
        let mut draws = Xoshiro256::keyed(key, Purpose::Jump);
        let order = Permutation::new(
            blocks,
            Xoshiro256::keyed(key, Purpose::Offset).next() ^ draws.next(),
        );
        let mut walk = Self {
            base: range.offset,
            block,
            order,
            first_writes: 0,
            regions,
            region: 0,
            left: Left::default(),
            waiting: VecDeque::with_capacity(waiting as usize),
            old: 0,
            defers,
            draws,
            index: 0,
            ios_left: job.limits.ios.unwrap_or(u64::MAX),
        };
        walk.begin_region();
        Ok(walk)
    }

    /// I/Os of the whole walk.
    pub(super) fn ios(&self) -> u64 {
        let all = self.regions.iter().map(|it| it.again + it.fresh).sum();
        self.ios_left.min(all)
    }

    /// Bytes of the whole walk.
    pub(super) fn bytes(&self) -> u64 {
        self.ios().saturating_mul(self.block)
    }

    /// The next write, or `None` once all are done.
    pub(super) fn next_io(&mut self) -> Option<Io> {
        if self.ios_left == 0 {
            return None;
        }
        while self.left.fresh == 0 && self.old == 0 {
            self.region += 1;
            if self.region >= self.regions.len() {
                return None;
            }
            self.begin_region();
        }
        let number = self.next_block()?;
        self.choose(number);
        self.ios_left -= 1;
        let index = self.index;
        self.index += 1;
        Some(Io {
            index,
            direction: Direction::Write,
            target: 0,
            offset: self.base + number * self.block,
            length: self.block as u32,
        })
    }

    fn begin_region(&mut self) {
        let Some(region) = self.regions.get(self.region) else {
            return;
        };
        self.old = self.waiting.len() as u64;
        self.left = Left {
            fresh: region.fresh,
            ios: region.fresh + self.old,
            chosen: region.chosen,
        };
    }

    /// What was written before goes first; behind a cache it goes last, since what is still in there would take the place of
    /// the first writing.
    fn next_block(&mut self) -> Option<u64> {
        let again = self.old > 0 && (!self.defers || self.left.fresh == 0);
        if again {
            self.old -= 1;
            return self.waiting.pop_front();
        }
        self.left.fresh -= 1;
        self.first_writes += 1;
        Some(self.order.at(self.first_writes - 1))
    }

    /// Chooses as many of a region's I/Os as it says, each as likely as any other.
    fn choose(&mut self, number: u64) {
        let chosen = self.draws.below(self.left.ios) < self.left.chosen;
        self.left.ios -= 1;
        if chosen {
            self.left.chosen -= 1;
            self.waiting.push_back(number);
        }
    }
}

/// Blocks of the flash behind `blocks` that can be written.
fn capacity(blocks: u64, rules: &Conditioning) -> u64 {
    let points = u128::from(rules.over_provisioning.basis_points());
    let spare = (u128::from(blocks) * points).div_ceil(10_000);
    blocks.saturating_add(u64::try_from(spare).unwrap_or(u64::MAX))
}

/// The I/Os of each region. The last that has any takes what first writings are left, so that no block is left out.
fn regions(blocks: u64, rules: &Conditioning) -> Vec<Region> {
    let (count, capacity) = (u64::from(rules.regions.max(1)), capacity(blocks, rules));
    let start =
        |region: u64| (u128::from(capacity) * u128::from(region) / u128::from(count)) as u64;
    let (mut left, mut again) = (blocks, 0u64);
    let shares = invalid_shares(rules);
    let mut regions: Vec<Region> = (0..count)
        .zip(shares)
        .map(|(number, invalid)| {
            let writes = start(number + 1) - start(number);
            let fresh = writes.saturating_sub(again).min(left);
            left -= fresh;
            let ios = again + fresh;
            let chosen = (ios as f64 * invalid).round() as u64;
            let region = Region {
                again,
                fresh,
                chosen: chosen.min(ios),
            };
            again = region.chosen;
            region
        })
        .collect();
    if let Some(last) = regions.last_mut() {
        last.fresh += left;
        last.chosen = 0;
    }
    regions
}

/// Shares of each region's writes that are written again, from the first region on.
///
/// Valid shares in equal steps stand at places along the flash that follow from the room each takes; between them the share at
/// as many places in equal steps is read off a straight line.
fn invalid_shares(rules: &Conditioning) -> Vec<f64> {
    let count = rules.regions.max(1) as usize;
    let spare = f64::from(rules.over_provisioning.basis_points()) / 10_000.0;
    // None to spare: nothing is ever collected but what is wholly valid.
    let collected = if spare > 0.0 {
        1.0 - 1.0 / (0.5 / spare + 0.7)
    } else {
        1.0
    };
    let steps = (count - 1).max(1) as f64;
    let valid = |number: usize| 1.0 + (collected - 1.0) * number as f64 / steps;
    let mut place = 0.0;
    let points: Vec<(f64, f64)> = (0..count)
        .map(|number| {
            place += 1.0 / valid(number);
            (place, valid(number))
        })
        .collect();
    let (first, last) = (points[0].0, points[count - 1].0);
    let mut below = 0;
    let mut shares: Vec<f64> = (0..count)
        .map(|number| {
            let wanted = first + (last - first) * number as f64 / steps;
            while below + 2 < count && points[below + 1].0 < wanted {
                below += 1;
            }
            let (from, to) = (points[below], points[(below + 1).min(count - 1)]);
            let width = to.0 - from.0;
            let share = if width > 0.0 {
                from.1 + (to.1 - from.1) * (wanted - from.0) / width
            } else {
                from.1
            };
            (1.0 - share).clamp(0.0, 1.0)
        })
        .collect();
    shares.reverse();
    shares
}

#[cfg(test)]
mod tests {
    use fathom_units::{Bytes, Percent};

    use super::super::{SharedCursor, StreamError, WorkerStream};
    use super::*;
    use crate::{Access, BlockSizes, Coverage, Mix, Placement, preset};

    fn rules(points: u32, regions: u32, cache: u64) -> Conditioning {
        Conditioning {
            over_provisioning: Percent::from_basis_points(points).unwrap(),
            regions,
            cache: Bytes::new(cache),
        }
    }

    fn stream(rules: Conditioning, length: u64) -> Result<WorkerStream, StreamError> {
        let mut job = preset("quick", "/unused").unwrap().stages[0].jobs[0].clone();
        job.mix = Mix::WRITE;
        job.block = BlockSizes::uniform(Bytes::kib(4));
        job.access = Access::Random {
            coverage: Coverage::Independent,
            run: 1,
        };
        job.limits.ios = None;
        job.features.placement = Some(Box::new(Placement {
            conditioning: Some(rules),
            ..Placement::default()
        }));
        let range = TargetRange {
            offset: 1 << 20,
            length,
        };
        let key = StreamKey {
            seed: 5,
            ..StreamKey::default()
        };
        WorkerStream::new(&job, key, &[range], &SharedCursor::new())
    }

    fn blocks(rules: Conditioning, count: u64) -> Vec<u64> {
        let mut stream = stream(rules, count * 4096 + 100).unwrap();
        let bytes = stream.bytes_per_pass();
        let ios: Vec<Io> = std::iter::from_fn(|| stream.next_io()).collect();
        assert!(
            ios.iter()
                .all(|io| io.length == 4096 && io.direction == Direction::Write)
        );
        assert_eq!(bytes, ios.len() as u64 * 4096);
        assert_eq!(stream.ios_bound(), Some(ios.len() as u64));
        ios.iter()
            .map(|io| (io.offset - (1 << 20)) / 4096)
            .collect()
    }

    /// Each block is there, and as many I/Os as the flash has room for, as near as shares in steps come to that.
    #[track_caller]
    fn check(points: u32, regions: u32, count: u64) {
        let walked = blocks(rules(points, regions, 0), count);
        let mut each = walked.clone();
        each.sort_unstable();
        each.dedup();
        assert!(each.iter().copied().eq(0..count), "{} blocks", each.len());
        let wanted = capacity(count, &rules(points, regions, 0));
        let off = (walked.len() as u64).abs_diff(wanted);
        // With much to spare the shares leave less room for first writings than there are blocks.
        let about = if points > 5000 {
            wanted / 25
        } else {
            wanted / 200
        };
        assert!(
            off <= about + u64::from(regions) / 2,
            "{} I/Os, {wanted} wanted",
            walked.len()
        );
    }

    #[test]
    fn the_whole_capacity_is_written_and_no_block_left_out() {
        for points in [0, 700, 1500, 5000, 9000, 10_000] {
            for regions in [50, 100, 200] {
                check(points, regions, 16_384);
            }
        }
        // Regions of less than a block, of none, and one alone: nothing hangs or is left out.
        for (regions, count) in [(1, 100), (100, 16), (1000, 1), (3, 7), (2, 1000)] {
            let mut walked = blocks(rules(1500, regions, 0), count);
            walked.sort_unstable();
            walked.dedup();
            assert_eq!(walked.len() as u64, count, "{regions} regions");
        }
    }

    /// Shares of ten regions as fio 3.42 with `--debug=sprandom` tells them for `spr_op=0.15` and `0.5`.
    #[test]
    fn shares_are_those_of_fio() {
        let parts = |points: u32| -> Vec<u32> {
            let shares = invalid_shares(&rules(points, 10, 0));
            shares
                .iter()
                .map(|it| (it * 10_000.0).round() as u32)
                .collect()
        };
        let of_fifteen = [2479, 2237, 1988, 1730, 1464, 1190, 906, 614, 312, 0];
        assert_eq!(parts(1500), of_fifteen);
        let of_fifty = [5882, 5454, 4994, 4487, 3923, 3292, 2592, 1812, 949, 0];
        assert_eq!(parts(5000), of_fifty);
        assert_eq!(invalid_shares(&rules(0, 3, 0)), [0.0; 3]);
        assert_eq!(invalid_shares(&rules(1500, 1, 0)), [0.0]);
    }

    /// Of the writes of each region that share is written again, and all of it in the next region: at its start, or behind a
    /// cache at its end.
    #[test]
    fn a_region_is_written_again_in_the_next() {
        for cache in [0, 4096] {
            let rules = rules(1500, 10, cache);
            let walked = blocks(rules, 16_384);
            let plan = regions(16_384, &rules);
            let mut start = 0;
            for (number, region) in plan.iter().enumerate() {
                let ios = (region.again + region.fresh) as usize;
                let own = &walked[start..start + ios];
                let again = if cache == 0 {
                    &own[..region.again as usize]
                } else {
                    &own[region.fresh as usize..]
                };
                let before = &walked[start.saturating_sub(ios + 10)..start];
                assert!(
                    again.iter().all(|block| before.contains(block)),
                    "region {number}"
                );
                start += ios;
                let later = &walked[start..];
                let repeated = own.iter().filter(|block| later.contains(block)).count();
                assert_eq!(repeated as u64, region.chosen, "region {number}");
            }
            assert_eq!(start, walked.len());
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let reason = |rules, length| stream(rules, length).map(|_| ()).unwrap_err().reason;
        let beyond = reason(rules(1500, 10, 8 << 20), 16 << 20);
        assert!(
            matches!(beyond, Rejection::CacheBeyondRegion { .. }),
            "{beyond}"
        );
        let beyond = reason(rules(1500, 100, 0), 1 << 50);
        let most = WAITING_MAX;
        assert!(
            matches!(beyond, Rejection::ConditioningBeyondMemory { most: told, .. } if told == most),
            "{beyond}"
        );
    }
}
