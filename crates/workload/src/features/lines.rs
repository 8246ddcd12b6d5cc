//! Weighted lines of an access specification, drawn burst by burst.
//!
//! A worker draws a line by its weight, waits for the line's delay, and then issues a burst of I/Os with the size and the
//! shares of that line; then it draws again. This is how Iometer describes I/O: sizes that come with their own share of
//! reads and of random offsets, which a mix, an access and a list of sizes beside each other cannot say.

use std::collections::BTreeMap;

use fathom_units::{Bytes, Nanos, Percent};

use crate::{Access, BlockSizes, Coverage, Direction, Job, Mix, SequentialScope, WeightedSize};

/// Most lines of a job.
pub const LINES_MAX: usize = 100;

/// What random offsets are moved up to where a line does not say: a sector.
pub const LINE_ALIGNMENT: Bytes = Bytes::new(512);

/// Largest weight of a size in the lists that stand for lines.
const WEIGHT_MAX: u128 = 1_000_000;

/// One kind of I/O, and how often a burst of it comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AccessLine {
    /// Relative weight among the bursts; a line of 0 is never drawn.
    pub weight: u32,
    /// Bytes of each I/O.
    pub size: Bytes,
    /// Share of reads; the others write.
    pub read: Percent,
    /// Share of random offsets; the others follow the last I/O on the target.
    pub random: Percent,
    /// Wait before each burst. What is in flight goes on.
    pub delay: Nanos,
    /// I/Os of a burst; at least 1. Replies are not counted.
    pub burst: u32,
    /// Offsets are moved up to the next multiple; `None`: of [`LINE_ALIGNMENT`].
    pub alignment: Option<Bytes>,
    /// Size of the I/O the other way that follows each I/O in its place of the queue; `None`: there is none.
    pub reply: Option<Bytes>,
    /// Index of the target that its I/Os go to; `None`: the job's choice of targets says it.
    pub target: Option<u32>,
}

impl AccessLine {
    /// I/Os of one size, all reads at random offsets: a line to begin with.
    pub const fn of_size(size: Bytes) -> Self {
        Self {
            weight: 1,
            size,
            read: Percent::ALL,
            random: Percent::ALL,
            delay: Nanos::ZERO,
            burst: 1,
            alignment: None,
            reply: None,
            target: None,
        }
    }

    /// Sizes and directions of its I/Os, with weights in I/Os: requests, and replies the other way.
    fn parts(&self) -> impl Iterator<Item = (Direction, Bytes, u128)> {
        let bursts = u128::from(self.weight) * u128::from(self.burst);
        let reads = bursts * u128::from(self.read.basis_points());
        let writes = bursts * u128::from(self.read.rest().basis_points());
        let (read, write) = (Direction::Read, Direction::Write);
        let requests = [(read, self.size, reads), (write, self.size, writes)];
        let replies = self
            .reply
            .map(|size| [(read, size, writes), (write, size, reads)]);
        let all = requests.into_iter().chain(replies.into_iter().flatten());
        all.filter(|(_, _, weight)| *weight > 0)
    }

    /// Whether any I/O of it goes that way.
    pub fn moves(&self, way: Direction) -> bool {
        self.parts().any(|(moved, ..)| moved == way)
    }

    /// Its largest I/O.
    pub fn largest(&self) -> Bytes {
        self.size.max(self.reply.unwrap_or_default())
    }
}

impl Job {
    /// Gives the job these lines, and the mix, sizes and access that they come to over many bursts.
    pub fn set_lines(&mut self, lines: Vec<AccessLine>) {
        let (mix, block, access) = overall(&lines);
        self.mix = mix;
        self.block = block;
        self.access = access;
        self.features.lines = lines;
    }
}

/// What lines come to over many bursts: shares of directions (at least one basis point for each that occurs), sizes by
/// direction, and the share of random offsets.
fn overall(lines: &[AccessLine]) -> (Mix, BlockSizes, Access) {
    let mut by_way = [0u128; 3];
    let mut sizes: [BTreeMap<Bytes, u128>; 3] = Default::default();
    let (mut random, mut total) = (0u128, 0u128);
    for line in lines {
        let share = u128::from(line.random.basis_points());
        for (way, size, weight) in line.parts() {
            by_way[way as usize] += weight;
            *sizes[way as usize].entry(size).or_default() += weight;
            total += weight;
            random += weight * share / 10_000;
        }
    }
    let mix = mix(by_way);
    let [read, write, _] = sizes.map(|sizes| weighted(&sizes));
    let any = if read.is_empty() { &write } else { &read };
    let block = BlockSizes {
        trim: any.clone(),
        read: if read.is_empty() {
            write.clone()
        } else {
            read.clone()
        },
        write: if write.is_empty() { read } else { write },
        alignment: None,
    };
    (mix, block, access(random, total))
}

fn mix(by_way: [u128; 3]) -> Mix {
    let [reads, writes, _] = by_way;
    match (reads, writes) {
        (_, 0) => Mix::READ,
        (0, _) => Mix::WRITE,
        _ => Mix::reads(part(reads, reads + writes).unwrap_or(Percent::ZERO)),
    }
}

/// A share that is neither nothing nor all.
fn part(some: u128, all: u128) -> Option<Percent> {
    let points = (some * 10_000 + all / 2) / all.max(1);
    Percent::from_basis_points(points.clamp(1, 9_999) as u32)
}

fn access(random: u128, total: u128) -> Access {
    if random == 0 {
        return Access::Sequential {
            gap: Bytes::ZERO,
            scope: SequentialScope::PerWorker,
        };
    }
    match part(random, total) {
        Some(share) if random < total => Access::Mixed { random: share },
        _ => Access::Random {
            coverage: Coverage::Independent,
            run: 1,
        },
    }
}

fn weighted(sizes: &BTreeMap<Bytes, u128>) -> Vec<WeightedSize> {
    if let [size] = sizes.keys().collect::<Vec<_>>().as_slice() {
        let size = **size;
        return vec![WeightedSize { size, weight: 1 }];
    }
    let most = sizes.values().copied().max().unwrap_or(1).max(1);
    let entries = sizes.iter().map(|(size, weight)| WeightedSize {
        size: *size,
        weight: (weight * WEIGHT_MAX / most).max(1) as u32,
    });
    entries.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn percent(share: u32) -> Percent {
        Percent::whole(share).unwrap()
    }

    #[test]
    fn lines_come_to_shares_of_ios() {
        let small = AccessLine {
            weight: 25,
            read: percent(100),
            random: percent(100),
            ..AccessLine::of_size(Bytes::kib(4))
        };
        let large = AccessLine {
            weight: 75,
            read: percent(0),
            random: percent(0),
            ..AccessLine::of_size(Bytes::kib(64))
        };
        let (mix, block, access) = overall(&[small, large]);
        assert_eq!(mix, Mix::reads(percent(25)));
        let random = percent(25);
        assert_eq!(access, Access::Mixed { random });
        assert_eq!(
            (block.largest(mix), block.smallest(mix)),
            (Bytes::kib(64), Bytes::kib(4))
        );
        // Three times the burst of the one are as many I/Os as the other has.
        let (mix, _, _) = overall(&[AccessLine { burst: 3, ..small }, large]);
        assert_eq!(mix, Mix::reads(percent(50)));
        // A reply goes the other way.
        let answered = AccessLine {
            reply: Some(Bytes::kib(1)),
            ..small
        };
        let (mix, block, access) = overall(&[answered]);
        assert_eq!(mix, Mix::reads(percent(50)));
        assert_eq!(block.write[0].size, Bytes::kib(1));
        assert!(matches!(access, Access::Random { .. }));
        // A direction that occurs at all has a share.
        let rare = AccessLine { weight: 1, ..small };
        let many = AccessLine {
            weight: u32::MAX,
            ..large
        };
        assert_eq!(overall(&[rare, many]).0.read.basis_points(), 1);
    }
}
