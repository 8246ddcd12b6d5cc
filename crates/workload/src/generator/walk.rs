//! A walk over targets: the stream of a job with a [`Placement`].
//!
//! The rules that a placement holds act on each other (a zone moves the position that a skip starts from, a pair repeats
//! what a distribution drew), so they are all here, in the order in which fio 3.42 applies them, and the counts of I/Os
//! are fio's. A *round* goes through the targets until each is done or as many bytes were issued as they have; a target is
//! done when its next I/O would leave it. A walk with a limit of bytes starts rounds until the limit is reached, one
//! without as many as there are passes. The I/O that reaches a limit is still done whole.
//!
//! Invariants: I/Os lie within their targets; with each block once no block is visited twice in a round; a round without
//! an I/O ends the walk.

use super::bitmap::{Bitmap, MAP_BLOCKS_MAX};
use super::cells::Cells;
use super::picker::{Left, Picker};
use super::restarts::Restarts;
use super::rng::{Purpose, Xoshiro256};
use super::sizes::Directions;
use super::spread::{Draw, Spread, TargetSpread};
use super::walk_region::{Map, Steps, Visit, WalkRegion};
use super::walk_sizes::WalkSizes;
use super::{Io, StreamError, StreamKey, TargetRange};
use crate::{Access, Between, Coverage, Direction, FileChoice, Job, Placement};

/// Targets without a place for an I/O that are drawn before the walk is over, for each target there is.
const TRIES_PER_TARGET: usize = 16;

/// The I/Os of one worker, in order.
#[derive(Debug)]
pub(super) struct Walk {
    rules: Placement,
    regions: Vec<WalkRegion>,
    picker: Picker,
    /// Where random targets are not uniform.
    target_spread: Option<(TargetSpread, Xoshiro256)>,
    /// The picked target and the I/Os that it still gets.
    current: (usize, u32),
    directions: Directions,
    sizes: WalkSizes,
    offsets: Xoshiro256,
    coins: Xoshiro256,
    order: Order,
    steps: Steps,
    /// By direction: random offsets are multiples of this.
    align: [u64; 3],
    /// Bytes of a block of the map.
    unit: u64,
    /// Whether trims and writes of pairs have positions of their own, since their sizes differ.
    pairs_apart: bool,
    /// Whether finished targets of a time-based walk begin again by themselves.
    endless: bool,
    /// Bytes moved since the zone began.
    zone_bytes: u64,
    /// I/Os of each direction.
    issued: [u64; 3],
    next_index: u64,
    ends: Ends,
    pub(super) restarts: Restarts,
}

/// How offsets follow each other.
#[derive(Debug, Clone, Copy)]
enum Order {
    Sequential,
    /// A random one, then `run` - 1 others.
    Random {
        run: u64,
        until_random: u64,
    },
}

/// What ends rounds and the walk.
#[derive(Debug)]
struct Ends {
    ios_left: u64,
    /// Bytes that count towards the limit, and the limit.
    counted: u64,
    limit: u64,
    /// Bytes of all I/Os, which another round is decided by; of pairs at offsets that may repeat, those of their writes.
    moved: u64,
    /// Whether trims are among them.
    trims_move: bool,
    /// Rounds that are left after this one; counts where there is no limit of bytes.
    rounds_left: u64,
    limited: bool,
    /// Bytes of this round, and what ends it.
    round: u64,
    round_bytes: u64,
    /// Largest I/O: a rest below it is not worth a round.
    largest: u64,
    /// Whether the walk has ended below its limit.
    fell_short: bool,
}

/// A place for an I/O, from the start of the present zone.
struct Found {
    relative: u64,
    is_random: bool,
    /// Whether its blocks count as visited.
    marks: bool,
    /// Its size, where that is settled.
    size: Option<u64>,
}

impl Walk {
    /// From now on only I/Os of this direction; gives what was so before.
    pub(super) fn hold_direction(&mut self, only: Option<Direction>) -> Option<Direction> {
        self.directions.hold(only)
    }

    /// The walk of the worker named by `key` over `targets`.
    pub(super) fn new(
        job: &Job,
        rules: &Placement,
        key: StreamKey,
        targets: &[TargetRange],
    ) -> Result<Self, StreamError> {
        let sizes = WalkSizes::new(job, rules, key)?;
        let used = |way: &Direction| job.mix.share(*way).basis_points() > 0;
        let unit = Direction::ALL.into_iter().filter(used);
        let unit = unit.map(|way| sizes.least(way)).min().unwrap_or(1).max(1);
        let align = Direction::ALL.map(|way| {
            let own = rules.alignment[way as usize].or(job.block.alignment);
            own.map_or_else(|| sizes.least(way), fathom_units::Bytes::get)
                .max(1)
        });
        let (order, coverage) = match job.access {
            Access::Sequential { .. } => (Order::Sequential, Coverage::Independent),
            Access::Random { coverage, run } => {
                let run = u64::from(run.max(1));
                let until_random = 1;
                (Order::Random { run, until_random }, coverage)
            }
            Access::Mixed { .. } => {
                let (run, until_random) = (1, 1);
                (Order::Random { run, until_random }, Coverage::Independent)
            }
        };
        let sequential = matches!(order, Order::Sequential);
        let total = targets
            .iter()
            .fold(0u64, |sum, range| sum.saturating_add(range.length));
        let ends = Ends::new(job, rules, total, sequential);
        // Pairs of trim and write end their round where the targets do.
        let goes_round = job.mix.changes_data() && !rules.trim_then_write;
        let past_round = goes_round && ends.limited && ends.limit > total;
        let count = targets.len();
        let mut walk = Self {
            regions: targets
                .iter()
                .map(|range| WalkRegion::new(*range, rules.past_end))
                .collect(),
            picker: Picker::new(job.file_choice, count as u32, key).at_once(rules.targets_at_once),
            target_spread: (!rules.target_distribution.is_uniform()
                && job.file_choice == FileChoice::Random)
                .then(|| {
                    let spread = TargetSpread::new(&rules.target_distribution, count as u64);
                    (spread, Xoshiro256::keyed(key, Purpose::Target))
                }),
            current: (0, 0),
            directions: Directions::new(job, key)?,
            offsets: Xoshiro256::keyed(key, Purpose::Offset),
            coins: Xoshiro256::keyed(key, Purpose::Jump),
            order,
            steps: Steps {
                skip: rules.skip,
                wraps: past_round || (job.limits.time_based && count == 1),
            },
            align,
            unit,
            pairs_apart: sequential && !sizes.draws_alike(Direction::Trim, Direction::Write),
            endless: job.limits.time_based,
            zone_bytes: 0,
            issued: [0; 3],
            next_index: 0,
            ends,
            restarts: Restarts::default(),
            sizes,
            rules: rules.clone(),
        };
        if !sequential {
            walk.prepare_regions(job, coverage);
        }
        walk.start_round();
        Ok(walk)
    }

    /// Maps and distributions of the targets.
    fn prepare_regions(&mut self, job: &Job, coverage: Coverage) {
        let uniform = self
            .rules
            .distribution
            .iter()
            .all(crate::Distribution::is_uniform);
        if !uniform {
            for index in 0..self.regions.len() {
                let key = self.offsets.next();
                let spread = |way: Direction| {
                    let (align, blocks) = (self.align[way as usize], self.blocks(index, way));
                    Spread::new(self.rules.distribution_of(way), blocks.max(1), align, key)
                };
                let spreads = Box::new(Direction::ALL.map(spread));
                self.regions[index].spreads = Some(spreads);
            }
            return;
        }
        if coverage == Coverage::Independent {
            return;
        }
        let used = |way: &Direction| job.mix.share(*way).basis_points() > 0;
        let used: Vec<Direction> = Direction::ALL.into_iter().filter(used).collect();
        let common = self.sizes.common(&used, self.unit);
        let one_size = used
            .into_iter()
            .all(|way| self.sizes.only(way) == Some(self.unit));
        let blocks = (0..self.regions.len()).map(|index| self.map_blocks(index));
        let blocks: Vec<u64> = blocks.collect();
        let total = blocks
            .iter()
            .fold(0u64, |sum, count| sum.saturating_add(*count));
        if !one_size && total > MAP_BLOCKS_MAX {
            return;
        }
        for (region, count) in self.regions.iter_mut().zip(blocks) {
            let visit = Visit::new(count, 0);
            region.map = match common {
                _ if one_size => Map::Order(visit),
                Some(sizes) => Map::Cells(visit, Cells::new(count, sizes)),
                None => Map::Blocks(visit, Bitmap::new(count)),
            };
        }
    }

    /// Bytes of one round.
    pub(super) fn bytes_per_round(&self) -> u64 {
        self.ends.round_bytes.min(self.ends.limit)
    }

    /// The next I/O, or `None` once the limits of the job are reached.
    pub(super) fn next_io(&mut self) -> Option<Io> {
        if self.ends.ios_left == 0 {
            return None;
        }
        let drawn = self.directions.draw();
        let mut tries = 0;
        loop {
            if self.ends.is_reached() {
                break;
            }
            if self.ends.round >= self.ends.round_bytes && !self.has_open_pair() {
                if !self.ends.allows_another() {
                    break;
                }
                self.start_another_round();
            }
            let Some(target) = self.pick() else {
                if self.ends.round == 0 || !self.ends.allows_another() {
                    break;
                }
                self.start_another_round();
                continue;
            };
            if let Some((direction, offset, size)) = self.place(target, drawn) {
                self.after(Left::More);
                return Some(self.account(target, direction, offset, size));
            }
            if self.target_spread.is_none() {
                self.after(Left::Nothing);
            } else {
                // Targets that are drawn by rank are never done, but begin again.
                self.current.1 = 0;
                self.restarts.add(target);
                self.restart(target);
                tries += 1;
                if tries > TRIES_PER_TARGET * self.regions.len() {
                    break;
                }
            }
        }
        self.ends.ios_left = 0;
        self.ends.fell_short = !self.ends.is_reached();
        None
    }

    /// Whether something was trimmed that is yet to be written: a round never ends between the two.
    fn has_open_pair(&self) -> bool {
        self.rules.trim_then_write && self.regions.iter().any(|it| it.trimmed.is_some())
    }

    /// As that of the stream.
    pub(super) fn fell_short(&self) -> bool {
        self.ends.fell_short
    }

    fn account(&mut self, target: usize, direction: Direction, offset: u64, size: u64) -> Io {
        self.regions[target].done(direction, offset, size);
        self.issued[direction as usize] += 1;
        self.zone_bytes += size;
        self.ends.round = self.ends.round.saturating_add(size);
        if self.ends.trims_move || direction != Direction::Trim {
            self.ends.moved = self.ends.moved.saturating_add(size);
        }
        if !self.rules.trim_then_write || direction == Direction::Write {
            self.ends.counted = self.ends.counted.saturating_add(size);
        }
        self.ends.ios_left -= 1;
        let index = self.next_index;
        self.next_index += 1;
        Io {
            index,
            direction,
            target: target as u32,
            offset,
            length: size as u32,
        }
    }

    fn pick(&mut self) -> Option<usize> {
        if self.current.1 == 0 {
            let target = match &mut self.target_spread {
                Some((spread, draws)) => spread.draw(draws),
                None => self.picker.pick()?,
            };
            self.current = (target, self.rules.ios_per_target.max(1));
        }
        Some(self.current.0)
    }

    fn after(&mut self, left: Left) {
        self.current.1 = if left == Left::More {
            self.current.1 - 1
        } else {
            0
        };
        if self.current.1 == 0 && self.target_spread.is_none() {
            self.picker.advance(left);
        }
    }

    /// Direction, offset and size of the next I/O on `target`, or `None` where the target is done.
    fn place(&mut self, target: usize, drawn: Direction) -> Option<(Direction, u64, u64)> {
        let direction = if self.rules.trim_then_write {
            if let Some((offset, size)) = self.regions[target].trimmed.take() {
                return Some((Direction::Write, offset, size));
            }
            if self.pairs_apart {
                self.regions[target].next_of_pair()
            } else {
                Direction::Trim
            }
        } else {
            drawn
        };
        if self.rules.zones.is_some() {
            self.enter_zone(target, direction);
        }
        let found = self.find(target, direction)?;
        let region = &mut self.regions[target];
        if found.relative >= region.length {
            return None;
        }
        let offset = region.base + found.relative;
        if offset >= region.end {
            return None;
        }
        let size = if let Some(size) = found.size {
            size
        } else {
            let room = region.room(offset);
            self.sizes.draw(direction, found.is_random, room)?
        };
        if offset.checked_add(size).is_none_or(|end| end > region.end) {
            return None;
        }
        let size = if found.marks {
            region.visit(found.relative, size, self.unit)
        } else {
            size
        };
        if self.rules.trim_then_write && !self.pairs_apart {
            region.trimmed = Some((offset, size));
        }
        Some((direction, offset, size))
    }

    fn find(&mut self, target: usize, direction: Direction) -> Option<Found> {
        let steps = self.steps;
        let follow = |walk: &mut Self| {
            if walk.regions[target].wraps(direction, steps) {
                walk.restarts.add(target);
            }
            let relative = walk.regions[target].follow(direction, steps)?;
            Some(Found {
                relative,
                is_random: false,
                marks: false,
                size: None,
            })
        };
        let Order::Random { run, until_random } = &mut self.order else {
            return follow(self);
        };
        *until_random -= 1;
        if *until_random > 0 {
            return match self.rules.between {
                Between::Sequential => follow(self).or_else(|| self.anywhere(target, direction)),
                Between::Identical => Some(Found {
                    relative: self.regions[target].repeat(direction),
                    is_random: false,
                    marks: false,
                    size: None,
                }),
            };
        }
        *until_random = *run;
        let share = u64::from(self.rules.random[direction as usize].basis_points());
        if share < 10_000 && self.coins.below(10_000) >= share {
            return follow(self).or_else(|| self.anywhere(target, direction));
        }
        let (relative, size) = match self.random(target, direction) {
            Some(found) => found,
            None if self.endless || self.target_spread.is_some() => {
                self.restarts.add(target);
                self.restart(target);
                self.random(target, direction)?
            }
            None => return None,
        };
        Some(Found {
            relative,
            is_random: true,
            marks: true,
            size,
        })
    }

    /// The place of a random I/O, and its size where that is settled.
    fn random(&mut self, target: usize, direction: Direction) -> Option<(u64, Option<u64>)> {
        let align = self.align[direction as usize];
        let least = self.sizes.least(direction);
        if self.regions[target].spreads.is_some() {
            let issued = self.issued[direction as usize];
            let region = &self.regions[target];
            let spread = &region.spreads.as_ref()?[direction as usize];
            let rng = &mut self.offsets;
            return Some((spread.draw(Draw { rng, issued })? * align, None));
        }
        let region = &mut self.regions[target];
        if matches!(region.map, Map::None) {
            let blocks = self.blocks(target, direction);
            return (blocks > 0).then(|| (self.offsets.below(blocks) * align, None));
        }
        let step = (align / self.unit).max(1);
        let unit = self.unit;
        let sizes = &mut self.sizes;
        let draw = |room: u64| {
            sizes
                .draw(direction, true, room * unit)
                .map_or(1, |size| size / unit)
        };
        let (block, size) = region.next_unvisited((step, least, unit), draw)?;
        Some((block * unit, size.map(|blocks| blocks * unit)))
    }

    /// A random place that does not count as visited, for an I/O that could not follow the one before.
    fn anywhere(&mut self, target: usize, direction: Direction) -> Option<Found> {
        let blocks = self.blocks(target, direction);
        let relative = self.offsets.below(blocks) * self.align[direction as usize];
        (blocks > 0).then_some(Found {
            relative,
            is_random: false,
            marks: false,
            size: None,
        })
    }

    /// Places at which a random I/O of a direction may start.
    fn blocks(&self, target: usize, direction: Direction) -> u64 {
        let region = &self.regions[target];
        let (align, least) = (self.align[direction as usize], self.sizes.least(direction));
        let zone = self.rules.zones.map_or(u64::MAX, |zones| zones.range.get());
        let span = region.length.min(zone);
        span.saturating_sub(least.saturating_sub(align)) / align
    }

    /// Blocks of the map of a target.
    fn map_blocks(&self, target: usize) -> u64 {
        let zone = self.rules.zones.map_or(u64::MAX, |zones| zones.range.get());
        self.regions[target].length.min(zone) / self.unit
    }

    /// Moves on to the next zone when the present one is done.
    fn enter_zone(&mut self, target: usize, direction: Direction) {
        let Some(zones) = self.rules.zones else {
            return;
        };
        let (size, range) = (zones.size.get().max(1), zones.range.get().max(1));
        let region = &mut self.regions[target];
        let way = direction as usize;
        if self.zone_bytes >= size {
            self.zone_bytes = 0;
            let next = region
                .base
                .saturating_add(range)
                .saturating_add(zones.skip.get());
            region.base = if next >= region.end {
                region.start
            } else {
                next
            };
            region.last_end[way] = region.base;
        }
        if region.last_end[way] >= region.base.saturating_add(range) {
            region.last_end[way] = region.base;
        }
        if self.zone_bytes.is_multiple_of(range) {
            self.restart(target);
        }
    }

    /// Starts one target over.
    fn restart(&mut self, target: usize) {
        let count = self.map_blocks(target);
        let key = self.offsets.next();
        let region = &mut self.regions[target];
        region.rewind();
        region.restart_map(count, key);
    }

    fn start_another_round(&mut self) {
        self.restarts.add_all(self.regions.len());
        self.start_round();
    }

    fn start_round(&mut self) {
        self.ends.round = 0;
        self.zone_bytes = 0;
        self.current.1 = 0;
        self.picker.restart();
        for target in 0..self.regions.len() {
            let region = &mut self.regions[target];
            region.base = region.start;
            region.trimmed = None;
            self.restart(target);
        }
    }
}

impl Ends {
    fn new(job: &Job, rules: &Placement, total: u64, sequential: bool) -> Self {
        let limits = &job.limits;
        let endless = limits.time_based;
        let loops = u64::from(limits.loops.max(1));
        let pairs = u64::from(rules.trim_then_write) + 1;
        let limit = limits.bytes.map_or(total, fathom_units::Bytes::get);
        let writes = job.mix.changes_data();
        let may_repeat = matches!(
            job.access,
            Access::Random {
                coverage: Coverage::Independent,
                ..
            }
        );
        // Writes in order go round within one round.
        let round = if writes && sequential {
            limit.max(total)
        } else {
            total
        };
        Self {
            ios_left: if endless {
                u64::MAX
            } else {
                limits.ios.unwrap_or(u64::MAX)
            },
            counted: 0,
            moved: 0,
            trims_move: !(rules.trim_then_write && may_repeat),
            limit: if endless {
                u64::MAX
            } else {
                limit.saturating_mul(loops)
            },
            rounds_left: if endless { u64::MAX } else { loops - 1 },
            limited: limits.bytes.is_some() && !endless,
            round: 0,
            round_bytes: if endless {
                u64::MAX
            } else {
                round.saturating_mul(pairs)
            },
            largest: job.block.largest(job.mix).get(),
            fell_short: false,
        }
    }

    fn is_reached(&self) -> bool {
        self.counted >= self.limit
    }

    /// Whether another round begins, which is then counted.
    fn allows_another(&mut self) -> bool {
        if self.limited {
            return self.limit - self.moved.min(self.limit) >= self.largest;
        }
        let allowed = self.rounds_left > 0;
        self.rounds_left = self.rounds_left.saturating_sub(1);
        allowed
    }
}
