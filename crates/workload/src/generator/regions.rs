//! The targets' ranges, checked, with the position of a worker in each.

use fathom_units::Bytes;

use super::permutation::Permutation;
use super::{Rejection, StreamError, TargetRange};
use crate::Job;

/// Bytes of one target and where a worker is in them.
#[derive(Debug)]
pub(super) struct Region {
    pub(super) offset: u64,
    pub(super) length: u64,
    /// Sequential: the next I/O, relative to `offset`. Each block once: the next index of the permutation.
    pub(super) position: u64,
    /// Sequential: bytes left of the round. Each block once: groups of blocks left. Independent draws: bytes left.
    pub(super) left: u64,
    /// Each block once: numbers of the groups in order.
    pub(super) order: Option<Permutation>,
}

/// Checks the ranges and makes the regions of them.
pub(super) fn regions(job: &Job, targets: &[TargetRange]) -> Result<Vec<Region>, StreamError> {
    let reject = |reason| Err(StreamError::new(job, reason));
    if targets.is_empty() {
        return reject(Rejection::NoTargets);
    }
    if u32::try_from(targets.len()).is_err() {
        return reject(Rejection::TooManyTargets(targets.len()));
    }
    let block = job.block.largest(job.mix);
    for (index, range) in targets.iter().enumerate() {
        // The engine may pass more ranges than the job names, where a directory stands for several files.
        let path = || {
            job.targets.get(index).map_or_else(
                || format!("target {index}"),
                |target| target.place.path().to_owned(),
            )
        };
        if range.length == 0 {
            return reject(Rejection::EmptyTarget(path()));
        }
        let end = range.offset.checked_add(range.length);
        if end.is_none_or(|end| end > i64::MAX as u64) {
            return reject(Rejection::RangeOverflow(path()));
        }
        if block.get() > range.length {
            return reject(Rejection::BlockExceedsTarget {
                block,
                target: path(),
                length: Bytes::new(range.length),
            });
        }
    }
    let region = |range: &TargetRange| Region {
        offset: range.offset,
        length: range.length,
        position: 0,
        left: 0,
        order: None,
    };
    Ok(targets.iter().map(region).collect())
}

/// Division by a number that is mostly a power of two, and then a shift.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stride {
    bytes: u64,
    shift: Option<u32>,
}

impl Stride {
    /// `bytes` must not be zero.
    pub(super) fn new(bytes: u64) -> Self {
        let shift = bytes.is_power_of_two().then(|| bytes.trailing_zeros());
        Self { bytes, shift }
    }

    /// Offsets, multiples of the stride, at which a block of `size` fits into `length`; `size` must be at most `length`.
    #[inline]
    pub(super) fn steps(self, length: u64, size: u64) -> u64 {
        let room = length.saturating_sub(size);
        1 + self
            .shift
            .map_or_else(|| room / self.bytes, |shift| room >> shift)
    }

    /// The offset of a step.
    #[inline]
    pub(super) fn offset(self, step: u64) -> u64 {
        step * self.bytes
    }

    /// Makes steps offsets, counted from `base`.
    pub(super) fn place(self, base: u64, steps: &mut [u64]) {
        // Shifts are done several at a time, and such products are not.
        match self.shift {
            Some(shift) => steps.iter_mut().for_each(|it| *it = base + (*it << shift)),
            None => steps
                .iter_mut()
                .for_each(|it| *it = base + *it * self.bytes),
        }
    }
}
