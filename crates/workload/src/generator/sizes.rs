//! Draws of directions and sizes.

use super::StreamError;
use super::rng::{Purpose, Xoshiro256};
use super::{Rejection, StreamKey};
use crate::{Direction, Job, Mix};

/// A coin a draw; none is thrown where there is but one side.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Directions {
    only: Option<Direction>,
    read_below: u64,
    write_below: u64,
    coins: Xoshiro256,
}

impl Directions {
    pub(super) fn new(job: &Job, key: StreamKey) -> Result<Self, StreamError> {
        let shares = Direction::ALL.map(|way| u64::from(job.mix.share(way).basis_points()));
        if shares.iter().sum::<u64>() != 10_000 {
            return Err(StreamError::new(job, Rejection::Mix(job.mix)));
        }
        let only = Direction::ALL
            .into_iter()
            .find(|way| job.mix.share(*way).basis_points() == 10_000);
        Ok(Self {
            only,
            read_below: shares[0],
            write_below: shares[0] + shares[1],
            coins: Xoshiro256::keyed(key, Purpose::Direction),
        })
    }

    /// From now on only this direction is drawn; gives what was so before.
    pub(super) fn hold(&mut self, only: Option<Direction>) -> Option<Direction> {
        std::mem::replace(&mut self.only, only)
    }

    /// The direction of all I/Os, where there is but one.
    #[inline]
    pub(super) fn only(&self) -> Option<Direction> {
        self.only
    }

    #[inline]
    pub(super) fn draw(&mut self) -> Direction {
        if let Some(only) = self.only {
            return only;
        }
        let coin = self.coins.below(10_000);
        // No branch on the coin: it could not be predicted.
        Direction::ALL[usize::from(coin >= self.read_below) + usize::from(coin >= self.write_below)]
    }
}

/// Weighted sizes of each direction.
#[derive(Debug)]
pub(super) struct Sizes {
    /// By direction: (first draw past the entry, size); entries without weight are left out.
    lists: [Vec<(u64, u64)>; 3],
    /// The one size of all directions in use.
    uniform: Option<u64>,
    draws: Xoshiro256,
}

impl Sizes {
    pub(super) fn new(job: &Job, key: StreamKey) -> Result<Self, StreamError> {
        let mut lists = [const { Vec::new() }; 3];
        for way in Direction::ALL {
            if job.mix.share(way).basis_points() > 0 {
                lists[way as usize] = cumulative(job, way)?;
            }
        }
        Ok(Self {
            lists,
            uniform: job.block.single_size(job.mix).map(fathom_units::Bytes::get),
            draws: Xoshiro256::keyed(key, Purpose::Size),
        })
    }

    pub(super) fn uniform(&self) -> Option<u64> {
        self.uniform
    }

    #[inline]
    pub(super) fn draw(&mut self, direction: Direction) -> u64 {
        if let Some(size) = self.uniform {
            return size;
        }
        let list = &self.lists[direction as usize];
        let Some((total, last)) = list.last().copied() else {
            return 0;
        };
        let draw = self.draws.below(total);
        let found = list.iter().find(|(past, _)| draw < *past);
        found.map_or(last, |(_, size)| *size)
    }

    /// The largest size of the direction that fits into `room`.
    pub(super) fn fitting(&self, direction: Direction, room: u64) -> Option<u64> {
        let sizes = self.lists[direction as usize].iter().map(|(_, size)| *size);
        sizes.filter(|size| *size <= room).max()
    }
}

fn cumulative(job: &Job, way: Direction) -> Result<Vec<(u64, u64)>, StreamError> {
    let mut total = 0u64;
    let mut list = Vec::new();
    for entry in job.block.of(way).iter().filter(|entry| entry.weight > 0) {
        let size = entry.size.get();
        if size == 0 || size > u64::from(u32::MAX) {
            return Err(StreamError::new(job, Rejection::BlockSize(entry.size)));
        }
        total += u64::from(entry.weight);
        list.push((total, size));
    }
    if list.is_empty() {
        return Err(StreamError::new(job, Rejection::NoSize(way.name())));
    }
    Ok(list)
}

/// Shares as text, for the error of a mix that does not add up.
pub(super) fn describe(mix: Mix) -> String {
    let parts = Direction::ALL.map(|way| format!("{} {}", way.name(), mix.share(way)));
    parts.join(", ")
}
