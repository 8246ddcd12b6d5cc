//! Walks with one position for all directions: targets that are one, and strides that may be below the block.
//!
//! [`crate::Placement::joined`] takes the targets of a job as one, one after another: a random offset falls anywhere in all
//! of them, and what follows it goes on into the next. [`crate::Placement::stride`] has I/Os begin so many bytes apart. An
//! I/O never crosses the end of a target: it begins at the start of the next one instead, and after the last at the first.

use super::rng::{Purpose, Xoshiro256};
use super::sizes::{Directions, Sizes};
use super::spread::{Draw, Spread};
use super::{Io, SharedCursor, StreamKey, TargetRange};
use crate::{Access, Direction, Job, Placement, SequentialScope};

/// The walk of one worker.
#[derive(Debug)]
pub(super) struct Course {
    targets: Vec<TargetRange>,
    /// Bytes of all targets before each.
    before: Vec<u64>,
    total: u64,
    /// Share of random I/Os, in basis points.
    random: u64,
    /// By direction, where random offsets are not uniform.
    spreads: Option<Box<[Spread; 3]>>,
    align: u64,
    /// Bytes from the start of an I/O to the next one's; `None`: as many as it has.
    stride: Option<u64>,
    /// The position of all workers, where they share one.
    shared: Option<SharedCursor>,
    /// Where the next I/O that is not random begins, from the start of the first target.
    next: u64,
    offsets: Xoshiro256,
    coins: Xoshiro256,
    issued: [u64; 3],
    index: u64,
    ios_left: u64,
    bytes_left: u64,
}

impl Course {
    /// Whether these rules are of such a walk.
    pub(super) fn is_of(rules: &Placement) -> bool {
        rules.joined || rules.stride.is_some()
    }

    /// The walk of the worker named by `key` over `targets`, none of which is empty.
    pub(super) fn new(
        job: &Job,
        rules: &Placement,
        key: StreamKey,
        (targets, shared): (&[TargetRange], &SharedCursor),
    ) -> Self {
        let smallest = job.block.smallest(job.mix).get();
        let align = job
            .block
            .alignment
            .map_or(smallest, fathom_units::Bytes::get);
        let mut total = 0u64;
        let before = targets.iter().map(|range| {
            let start = total;
            total = total.saturating_add(range.length);
            start
        });
        let before = before.collect();
        let (random, shared) = match job.access {
            Access::Random { .. } => (10_000, None),
            Access::Mixed { random } => (u64::from(random.basis_points()), None),
            Access::Sequential { scope, .. } => {
                let is_shared = scope == SequentialScope::Shared && rules.stride.is_some();
                (0, is_shared.then(|| shared.clone()))
            }
        };
        let uniform = rules
            .distribution
            .iter()
            .all(crate::Distribution::is_uniform);
        let spreads = (!uniform).then(|| {
            let blocks = (total / align.max(1)).max(1);
            let spread = |way: Direction| {
                Spread::new(
                    rules.distribution_of(way),
                    blocks,
                    align.max(1),
                    u64::from(key.job),
                )
            };
            Box::new(Direction::ALL.map(spread))
        });
        let limits = &job.limits;
        let pass = limits.bytes.map_or(total, fathom_units::Bytes::get);
        Self {
            targets: targets.to_vec(),
            before,
            total,
            random,
            spreads,
            align: align.max(1),
            stride: rules.stride.map(fathom_units::Bytes::get),
            shared,
            next: 0,
            offsets: Xoshiro256::keyed(key, Purpose::Offset),
            coins: Xoshiro256::keyed(key, Purpose::Jump),
            issued: [0; 3],
            index: 0,
            ios_left: limits.most_ios(),
            bytes_left: limits.most_bytes(pass),
        }
    }

    /// Bytes of one pass.
    pub(super) fn bytes_per_pass(&self) -> u64 {
        self.total.min(self.bytes_left)
    }

    pub(super) fn next_io(&mut self, directions: &mut Directions, sizes: &mut Sizes) -> Option<Io> {
        if self.ios_left == 0 {
            return None;
        }
        let direction = directions.draw();
        let size = sizes.draw(direction);
        if size > self.bytes_left {
            self.ios_left = 0;
            return None;
        }
        let wanted = self.wanted(direction, size);
        let Some((target, within)) = self.place(wanted, size) else {
            self.ios_left = 0;
            return None;
        };
        self.next = (self.before[target] + within).saturating_add(self.stride.unwrap_or(size));
        self.ios_left -= 1;
        self.bytes_left -= size;
        self.issued[direction as usize] += 1;
        let index = self.index;
        self.index += 1;
        Some(Io {
            index,
            direction,
            target: target as u32,
            offset: self.targets[target].offset + within,
            length: size as u32,
        })
    }

    /// Where the next I/O would begin, from the start of the first target.
    fn wanted(&mut self, direction: Direction, size: u64) -> u64 {
        if let Some(cursor) = &self.shared {
            let stride = self.stride.unwrap_or(size);
            let places = self
                .total
                .saturating_sub(size)
                .checked_div(stride)
                .map_or(1, |last| last + 1);
            return cursor.take() % places * stride;
        }
        let is_random = match self.random {
            0 => false,
            10_000 => true,
            share => self.coins.below(10_000) < share,
        };
        if !is_random {
            return self.next;
        }
        if let Some(spreads) = &self.spreads {
            let issued = self.issued[direction as usize];
            let rng = &mut self.offsets;
            let block = spreads[direction as usize].draw(Draw { rng, issued });
            return block.unwrap_or(0).saturating_mul(self.align);
        }
        let places = self.total.saturating_sub(size) / self.align + 1;
        self.offsets.below(places) * self.align
    }

    /// The target that `wanted` lies in, or the next one where the I/O does not end within it; and where it begins there.
    /// `None`: no target has room.
    fn place(&self, wanted: u64, size: u64) -> Option<(usize, u64)> {
        let count = self.targets.len();
        let (mut target, mut within) = if wanted < self.total {
            let target = self.before.partition_point(|start| *start <= wanted) - 1;
            (target, wanted - self.before[target])
        } else {
            (0, 0)
        };
        for _ in 0..=count {
            let room = self.targets[target].length.saturating_sub(within);
            if room >= size {
                return Some((target, within));
            }
            (target, within) = ((target + 1) % count, 0);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use fathom_units::{Bytes, Nanos, Percent};

    use super::super::{SharedCursor, StreamKey, TargetRange, WorkerStream};
    use crate::{
        Access, BlockSizes, Coverage, Distribution, FileChoice, Job, Mix, Placement,
        SequentialScope, Target, Zone, preset,
    };

    const KEY: StreamKey = StreamKey {
        seed: 5,
        job: 1,
        worker: 0,
        salt: 0,
    };

    fn job(access: Access, lengths: &[u64], rules: Placement) -> (Job, Vec<TargetRange>) {
        let mut job = preset("quick", "/unused").unwrap().stages[0].jobs[0].clone();
        job.targets = vec![job.targets[0].clone(); lengths.len()];
        job.targets = job
            .targets
            .into_iter()
            .map(|it| Target { length: None, ..it })
            .collect();
        job.file_choice = FileChoice::Sequential;
        job.mix = Mix::reads(Percent::whole(50).unwrap());
        job.access = access;
        job.block = BlockSizes::uniform(Bytes::kib(4));
        job.limits.time_based = true;
        job.limits.runtime = Some(Nanos::from_secs(1));
        job.features.placement = Some(Box::new(rules));
        let ranges = lengths.iter().map(|length| TargetRange {
            offset: 1 << 20,
            length: *length,
        });
        (job, ranges.collect())
    }

    const RANDOM: Access = Access::Random {
        coverage: Coverage::Independent,
        run: 1,
    };

    fn in_order(scope: SequentialScope) -> Access {
        Access::Sequential {
            gap: Bytes::ZERO,
            scope,
        }
    }

    fn joined() -> Placement {
        Placement {
            joined: true,
            ..Placement::default()
        }
    }

    /// Targets and offsets from their start.
    fn walk((job, ranges): &(Job, Vec<TargetRange>), count: usize) -> Vec<(u32, u64)> {
        let shared = SharedCursor::new();
        let mut stream = WorkerStream::new(job, KEY, ranges, &shared).unwrap();
        let mut next = || stream.next_io().unwrap();
        let ios = (0..count).map(|_| next());
        ios.map(|io| (io.target, io.offset - (1 << 20))).collect()
    }

    #[test]
    fn joined_targets_are_hit_by_their_sizes() {
        let job = job(RANDOM, &[3 << 20, 1 << 20], joined());
        let walked = walk(&job, 100_000);
        let first = walked.iter().filter(|(target, _)| *target == 0).count();
        assert!(first.abs_diff(75_000) < 700, "{first}");
        let far = walked
            .iter()
            .filter(|(target, at)| *target == 0 && *at >= 3 << 19)
            .count();
        assert!(far.abs_diff(37_500) < 700, "{far}");
        assert!(
            walked
                .iter()
                .all(|(target, at)| at + 4096 <= if *target == 0 { 3 << 20 } else { 1 << 20 })
        );
    }

    #[test]
    fn a_distribution_lies_over_all_of_them() {
        let zones = vec![
            Zone {
                access: 10,
                size: Bytes::mib(3),
            },
            Zone {
                access: 90,
                size: Bytes::mib(1),
            },
        ];
        let zoned = Distribution::ZonedAbsolute(zones);
        let rules = Placement {
            distribution: [zoned.clone(), zoned, Distribution::Uniform],
            ..joined()
        };
        let walked = walk(&job(RANDOM, &[3 << 20, 1 << 20], rules), 100_000);
        let last = walked.iter().filter(|(target, _)| *target == 1).count();
        assert!(last.abs_diff(90_000) < 500, "{last}");
    }

    #[test]
    fn a_sequence_goes_on_into_the_next_target_and_round() {
        let job = job(
            in_order(SequentialScope::PerWorker),
            &[10_000, 8192],
            joined(),
        );
        let expected = [(0, 0), (0, 4096), (1, 0), (1, 4096), (0, 0)];
        assert_eq!(walk(&job, 5), expected);
    }

    #[test]
    fn strides_below_the_block_overlap_and_go_round() {
        let strided = |scope, stride| {
            let rules = Placement {
                stride: Some(Bytes::new(stride)),
                ..Placement::default()
            };
            let walked = walk(&job(in_order(scope), &[10_000], rules), 6);
            walked.into_iter().map(|(_, at)| at).collect::<Vec<_>>()
        };
        let expected = [0, 2048, 4096, 0, 2048, 4096];
        assert_eq!(strided(SequentialScope::PerWorker, 2048), expected);
        assert_eq!(strided(SequentialScope::Shared, 2048), expected);
        assert_eq!(strided(SequentialScope::PerWorker, 0), [0; 6]);
        assert_eq!(strided(SequentialScope::Shared, 0), [0; 6]);
        assert_eq!(strided(SequentialScope::PerWorker, 8192), [0; 6]);
    }

    #[test]
    fn workers_share_a_strided_position() {
        let rules = Placement {
            stride: Some(Bytes::kib(2)),
            ..Placement::default()
        };
        let (job, ranges) = job(in_order(SequentialScope::Shared), &[1 << 20], rules);
        let shared = SharedCursor::new();
        let mut first = WorkerStream::new(&job, KEY, &ranges, &shared).unwrap();
        let mut second =
            WorkerStream::new(&job, StreamKey { worker: 1, ..KEY }, &ranges, &shared).unwrap();
        let starts =
            [&mut first, &mut second].map(|stream| stream.next_io().unwrap().offset - (1 << 20));
        assert_eq!(starts, [0, 2048]);
        assert_eq!(first.next_io().unwrap().offset - (1 << 20), 4096);
    }

    #[test]
    fn limits_end_the_walk() {
        let (mut job, ranges) = job(RANDOM, &[1 << 20, 1 << 20], joined());
        job.limits.time_based = false;
        let count = |job: &Job| {
            let mut stream = WorkerStream::new(job, KEY, &ranges, &SharedCursor::new()).unwrap();
            std::iter::from_fn(|| stream.next_io()).count()
        };
        assert_eq!(count(&job), 512);
        job.limits.bytes = Some(Bytes::kib(10));
        assert_eq!(count(&job), 2);
        job.limits.ios = Some(1);
        assert_eq!(count(&job), 1);
    }
}
