//! The directions that the I/Os of a pass went, where its stream alone does not tell.
//!
//! Where reads and writes are held to rates of their own, which goes next follows time. What each moves follows from the
//! stream and these directions: a bit for each I/O, which is what the check needs to draw the pass again.

use fathom_workload::{Direction, Job};

/// Most I/Os of a pass whose directions are kept: 64 MiB of them.
pub(crate) const KEPT_MAX: u64 = 1 << 29;

/// Whether the directions of a job's I/Os follow time: it reads and writes, and one of these has a rate of its own.
pub fn directions_follow_time(job: &Job) -> bool {
    let goes = |way| job.mix.share(way).basis_points() > 0;
    job.features.rates.is_some()
        && goes(Direction::Read)
        && goes(Direction::Write)
        && !goes(Direction::Trim)
}

/// Reads and writes in the order in which they were issued.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Directions {
    /// Set where it was a write.
    bits: Vec<u64>,
    count: u64,
}

impl Directions {
    pub(crate) fn push(&mut self, way: Direction) {
        if self.count.is_multiple_of(64) {
            self.bits.push(0);
        }
        if let Some(last) = self.bits.last_mut()
            && way == Direction::Write
        {
            *last |= 1 << (self.count % 64);
        }
        self.count += 1;
    }

    /// Of the I/O of this number, from 0; `None` where it was not issued.
    pub(crate) fn get(&self, number: u64) -> Option<Direction> {
        if number >= self.count {
            return None;
        }
        let word = self.bits.get(usize::try_from(number / 64).ok()?)?;
        Some(match word >> (number % 64) & 1 {
            0 => Direction::Read,
            _ => Direction::Write,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_pushed_is_there() {
        let way = |number: u64| match number % 3 * (number % 64) {
            0 => Direction::Read,
            _ => Direction::Write,
        };
        let mut kept = Directions::default();
        for number in 0..1_000 {
            assert_eq!(kept.get(number), None);
            kept.push(way(number));
        }
        for number in 0..1_000 {
            assert_eq!(kept.get(number), Some(way(number)), "{number}");
        }
        assert_eq!(kept.get(1_000), None);
        assert_eq!(kept.bits.len(), 16);
    }
}
