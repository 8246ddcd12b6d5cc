//! The division of blocks into intervals, each with a header.

use fathom_workload::{Checksum, Direction, HEADER_BYTES, Job, Verify};

/// How the blocks of a job are divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Intervals {
    /// Bytes of an interval.
    pub length: u32,
    /// Where in it its header stands.
    pub header_offset: u32,
    /// Bytes of the header with its checksum.
    pub header_bytes: u32,
}

/// Why blocks cannot be divided so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LayoutProblem {
    /// The header does not fit behind its offset.
    #[error(
        "a header of {header} bytes at offset {offset} does not fit into an interval of {interval} bytes"
    )]
    HeaderBeyondInterval {
        /// Bytes of the header with its checksum.
        header: u32,
        /// Where it would stand.
        offset: u32,
        /// Bytes of the interval.
        interval: u32,
    },
    /// Nothing to compare with.
    #[error("`{0}` compares with a pattern, but none is given")]
    NoPattern(&'static str),
}

impl Intervals {
    /// The intervals of a job's blocks, as fio divides them: the one asked for, no larger than the smallest block; where
    /// it does not divide every size, or none was asked for, the greatest common divisor of the sizes.
    ///
    /// # Errors
    /// What does not fit.
    pub fn new(verify: &Verify, job: &Job) -> Result<Self, LayoutProblem> {
        if verify.checksum.needs_pattern() && verify.pattern.is_none() {
            return Err(LayoutProblem::NoPattern(verify.checksum.name()));
        }
        let list = write_sizes(job);
        let sizes = || list.iter().copied();
        let smallest = sizes().min().unwrap_or(1);
        let largest = sizes().max().unwrap_or(1);
        let asked = verify.interval.map_or(0, fathom_units::Bytes::get);
        let wanted = match asked {
            0 if smallest != largest => smallest,
            asked => asked.min(smallest),
        };
        let divides = wanted > 0 && sizes().all(|size| size % wanted == 0);
        let length = if is_unaligned(job) {
            largest
        } else if divides {
            wanted
        } else {
            sizes().fold(0, gcd)
        };
        let intervals = Self {
            length: u32::try_from(length).unwrap_or(u32::MAX).max(1),
            header_offset: verify.header_offset,
            header_bytes: verify.checksum.header_bytes(),
        };
        let header = match verify.checksum {
            // fio asks for room for the header even where there is none.
            Checksum::Pattern | Checksum::Null if verify.header_offset > 0 => HEADER_BYTES,
            kind => kind.header_bytes(),
        };
        let end = u64::from(header) + u64::from(verify.header_offset);
        // Unaligned blocks are intervals by themselves, the smallest of them too.
        let shortest = u64::from(intervals.length).min(smallest);
        if header > 0 && end > shortest {
            return Err(LayoutProblem::HeaderBeyondInterval {
                header,
                offset: verify.header_offset,
                interval: u32::try_from(shortest).unwrap_or(u32::MAX),
            });
        }
        Ok(intervals)
    }

    /// Starts and lengths of the intervals of a block of `length` bytes; the last may be shorter.
    pub fn of(self, length: u32) -> impl Iterator<Item = (u32, u32)> {
        // A block smaller than an interval is an interval by itself.
        let step = self.length.min(length).max(1);
        (0..length)
            .step_by(step as usize)
            .map(move |start| (start, step.min(length - start)))
    }

    /// Where in an interval of `length` bytes the header stands; nothing where a rest is too short for one.
    pub fn header(self, length: u32) -> Option<std::ops::Range<usize>> {
        let end = self.header_offset.saturating_add(self.header_bytes);
        (self.header_bytes > 0 && end <= length)
            .then_some(self.header_offset as usize..end as usize)
    }
}

/// Sizes that a job's writes have; of a range the smallest and the largest.
pub(crate) fn write_sizes(job: &Job) -> Vec<u64> {
    let placement = job.features.placement.as_ref();
    if let Some(range) = placement.and_then(|it| it.ranges[Direction::Write as usize]) {
        return vec![range.least.get().max(1), range.most.get().max(1)];
    }
    let list = job.block.of(Direction::Write).iter();
    let used = list.filter(|entry| entry.weight > 0);
    used.map(|entry| entry.size.get().max(1)).collect()
}

/// Whether sizes are not multiples of the smallest.
fn is_unaligned(job: &Job) -> bool {
    let placement = job.features.placement.as_ref();
    placement.is_some_and(|it| it.unaligned)
}

fn gcd(one: u64, other: u64) -> u64 {
    if one == 0 {
        other
    } else {
        gcd(other % one, one)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_units::Bytes;
    use fathom_workload::{BlockSizes, WeightedSize, preset};

    fn job(size: u64) -> Job {
        let mut job = preset("quick", "/unused").unwrap().stages[0].jobs[0].clone();
        job.block = BlockSizes::uniform(Bytes::new(size));
        job
    }

    #[track_caller]
    fn check(asked: u64, sizes: &[u64], expected: u32) {
        let mut job = job(4096);
        job.block.write = sizes
            .iter()
            .map(|size| WeightedSize {
                size: Bytes::new(*size),
                weight: 1,
            })
            .collect();
        let mut verify = Verify::new(Checksum::Crc32c);
        verify.interval = (asked > 0).then_some(Bytes::new(asked));
        assert_eq!(Intervals::new(&verify, &job).unwrap().length, expected);
    }

    #[test]
    fn intervals_divide_every_size() {
        check(0, &[4096], 4096);
        check(0, &[4096, 16384], 4096);
        check(0, &[4096, 6144], 2048);
        check(512, &[4096], 512);
        check(100, &[4096], 4096);
        check(3791, &[4096], 4096);
        check(8192, &[4096], 4096);
        check(512, &[4096, 1024, 1536], 512);
    }

    /// What no I/O has divides nothing.
    #[test]
    fn sizes_without_weight_are_no_sizes() {
        let mut job = job(4096);
        let entry = |size, weight| WeightedSize {
            size: Bytes::new(size),
            weight,
        };
        job.block.write = vec![entry(4096, 1), entry(1536, 0)];
        let intervals = Intervals::new(&Verify::new(Checksum::Crc32c), &job).unwrap();
        assert_eq!(intervals.length, 4096);
    }

    #[test]
    fn the_last_interval_of_a_block_is_its_rest() {
        let intervals = Intervals::new(&Verify::new(Checksum::Crc32c), &job(4096)).unwrap();
        let of = |length| intervals.of(length).collect::<Vec<_>>();
        assert_eq!(of(10_000), [(0, 4096), (4096, 4096), (8192, 1808)]);
        assert_eq!(of(8192), [(0, 4096), (4096, 4096)]);
        assert_eq!(of(512), [(0, 512)]);
    }

    #[test]
    fn a_header_that_does_not_fit_is_refused() {
        let mut verify = Verify::new(Checksum::Sha512);
        let job_of_small = job(112);
        assert!(Intervals::new(&verify, &job_of_small).is_ok());
        verify.header_offset = 1;
        let problem = Intervals::new(&verify, &job_of_small);
        assert!(
            matches!(
                problem,
                Err(LayoutProblem::HeaderBeyondInterval { header: 112, .. })
            ),
            "{problem:?}"
        );
        let verify = Verify::new(Checksum::Pattern);
        let problem = Intervals::new(&verify, &job(4096));
        assert_eq!(problem, Err(LayoutProblem::NoPattern("pattern")));
    }
}
