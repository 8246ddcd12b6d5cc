//! Draws of sizes where they depend on the room that is left, or on the order of I/Os.

use super::cells::CellSizes;
use super::rng::{Purpose, Xoshiro256};
use super::{Rejection, StreamError, StreamKey};
use crate::{Direction, Job, Placement, SizeDraw, SizeRange, WeightedSize};

/// Draws before the largest size that fits is taken.
const TRIES: u32 = 16;

/// One way to draw sizes.
#[derive(Debug, PartialEq, Eq)]
struct Rule {
    least: u64,
    most: u64,
    /// (first draw past the entry, size); empty where sizes lie between `least` and `most`.
    list: Vec<(u64, u64)>,
    /// Sizes are multiples of this, but the largest.
    step: u64,
}

/// The sizes of a walk.
#[derive(Debug)]
pub(super) struct WalkSizes {
    rules: [Rule; 3],
    /// Rules of sequential and of random I/Os, where these count and not the direction's.
    by_order: Option<[Rule; 2]>,
    draws: Xoshiro256,
}

impl WalkSizes {
    pub(super) fn new(job: &Job, rules: &Placement, key: StreamKey) -> Result<Self, StreamError> {
        let step = |range: SizeRange| {
            if rules.unaligned {
                1
            } else {
                range.least.get()
            }
        };
        let rule_of = |way: Direction| match rules.ranges[way as usize] {
            Some(range) => Rule::between(job, range, step(range)),
            None => Rule::of_list(job, job.block.of(way), way.name()),
        };
        let [read, write, trim] = Direction::ALL.map(|way| {
            if job.mix.share(way).basis_points() > 0 {
                rule_of(way)
            } else {
                Ok(Rule::unused())
            }
        });
        let by_order = rules.by_order.as_ref().map(|draws| {
            let [sequential, random] = draws.each_ref().map(|draw| match draw {
                SizeDraw::List(list) => Rule::of_list(job, list, "sequential or random I/O"),
                SizeDraw::Range(range) => Rule::between(job, *range, step(*range)),
            });
            Ok::<_, StreamError>([sequential?, random?])
        });
        Ok(Self {
            rules: [read?, write?, trim?],
            by_order: by_order.transpose()?,
            draws: Xoshiro256::keyed(key, Purpose::Size),
        })
    }

    /// The rule of a direction's random I/Os.
    fn of_random(&self, direction: Direction) -> &Rule {
        let by_order = self.by_order.as_ref();
        by_order.map_or(&self.rules[direction as usize], |[_, random]| random)
    }

    /// The smallest size that a random I/O of the direction can have.
    pub(super) fn least(&self, direction: Direction) -> u64 {
        self.of_random(direction).least
    }

    /// The one size of the direction's random I/Os, if they have but one.
    pub(super) fn only(&self, direction: Direction) -> Option<u64> {
        let rule = self.of_random(direction);
        (rule.least == rule.most).then_some(rule.least)
    }

    /// Whether I/Os of both directions have sizes by one rule.
    pub(super) fn draws_alike(&self, one: Direction, other: Direction) -> bool {
        self.by_order.is_some() || self.rules[one as usize] == self.rules[other as usize]
    }

    /// The sizes of random I/Os in blocks of `unit` bytes, where all these directions draw alike, and whole blocks.
    pub(super) fn common(&self, used: &[Direction], unit: u64) -> Option<CellSizes> {
        let first = self.of_random(*used.first()?);
        let alike = used.iter().all(|way| self.of_random(*way) == first);
        let whole = |size: &u64| size.is_multiple_of(unit);
        let sizes = first.list.iter().map(|(_, size)| size);
        let bounds = [first.least, first.most, first.step];
        let whole = bounds.iter().chain(sizes).all(whole);
        (alike && whole).then(|| CellSizes {
            mean: first.mean() / unit,
            largest: first.most / unit,
        })
    }

    /// A size for an I/O with `room` bytes left before the end of the range, or `None` where none fits. The size of a rule
    /// that has but one is not held to the room: the target may go on past the range.
    pub(super) fn draw(&mut self, direction: Direction, is_random: bool, room: u64) -> Option<u64> {
        let rule = match &self.by_order {
            Some(rules) => &rules[usize::from(is_random)],
            None => &self.rules[direction as usize],
        };
        if rule.least == rule.most {
            return Some(rule.least);
        }
        rule.draw(&mut self.draws, room)
    }
}

impl Rule {
    fn unused() -> Self {
        Self {
            least: u64::MAX,
            most: u64::MAX,
            list: Vec::new(),
            step: 1,
        }
    }

    fn between(job: &Job, range: SizeRange, step: u64) -> Result<Self, StreamError> {
        let (least, most) = (range.least.get(), range.most.get());
        if least == 0 || most < least || most > u64::from(u32::MAX) {
            return Err(StreamError::new(job, Rejection::BlockSize(range.least)));
        }
        Ok(Self {
            least,
            most,
            list: Vec::new(),
            step,
        })
    }

    fn of_list(job: &Job, sizes: &[WeightedSize], what: &'static str) -> Result<Self, StreamError> {
        let mut total = 0;
        let mut list = Vec::new();
        for entry in sizes.iter().filter(|entry| entry.weight > 0) {
            let size = entry.size.get();
            if size == 0 || size > u64::from(u32::MAX) {
                return Err(StreamError::new(job, Rejection::BlockSize(entry.size)));
            }
            total += u64::from(entry.weight);
            list.push((total, size));
        }
        let bounds = list.iter().map(|(_, size)| *size);
        let Some((least, most)) = bounds.clone().min().zip(bounds.max()) else {
            return Err(StreamError::new(job, Rejection::NoSize(what)));
        };
        Ok(Self {
            least,
            most,
            list,
            step: least,
        })
    }

    fn mean(&self) -> u64 {
        let mut before = 0;
        let mut sum = 0u128;
        for (past, size) in &self.list {
            sum += u128::from(past - before) * u128::from(*size);
            before = *past;
        }
        let middle = self.least.midpoint(self.most);
        sum.checked_div(u128::from(before))
            .map_or(middle, |mean| mean as u64)
    }

    fn draw(&self, draws: &mut Xoshiro256, room: u64) -> Option<u64> {
        if self.least > room {
            return None;
        }
        let Some((total, _)) = self.list.last() else {
            let most = self.most.min(room);
            let steps = (most - self.least).div_ceil(self.step);
            let size = (self.least + draws.below(steps + 1) * self.step).min(self.most);
            let fits = size <= room;
            // Past the last whole step only the upper bound itself is a size.
            let whole = (most - self.least) / self.step * self.step + self.least;
            return Some(if fits { size } else { whole });
        };
        for _ in 0..TRIES {
            let draw = draws.below(*total);
            let found = self.list.iter().find(|(past, _)| draw < *past);
            if let Some((_, size)) = found.filter(|(_, size)| *size <= room) {
                return Some(*size);
            }
        }
        let fitting = self.list.iter().map(|(_, size)| *size);
        fitting.filter(|size| *size <= room).max()
    }
}
