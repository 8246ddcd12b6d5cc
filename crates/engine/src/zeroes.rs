//! Whether a block device holds anything where jobs read: one that was never written there, or was trimmed, mostly answers
//! without its media, and the kernel tells of no device what it holds.

use std::fs::File;

use fathom_rawio::{Clock, Operation, Queue, Request, SyncQueue};
use fathom_units::Nanos;
use fathom_workload::generator::TargetRange;

/// Bytes that are looked at in one place.
const BLOCK: u32 = 4096;

/// Places that are looked at, equally far from each other.
const PLACES: u64 = 64;

/// A slow device is looked at in fewer, but not in so few that they say nothing.
const LONGEST: Nanos = Nanos::from_millis(500);
const FEWEST: u64 = 8;

/// Share (0 to 1) of the places looked at that hold nothing but zeroes; `None` where that cannot be told: the range is too
/// short, or reading failed, which the job will tell of.
///
/// `device`: opened for reading.
pub(crate) fn share_of_zeroes(device: File, range: TargetRange) -> Option<f64> {
    let block = u64::from(BLOCK);
    let first = range.offset.checked_next_multiple_of(block)?;
    let end = range.offset.checked_add(range.length)?;
    let blocks = end.checked_sub(first)? / block;
    let places = PLACES.min(blocks);
    if places < FEWEST {
        return None;
    }
    let mut queue = SyncQueue::new(vec![device], 1, BLOCK).ok()?;
    let begun = Clock::now();
    let (mut looked, mut zeroes) = (0u64, 0u64);
    // From the middle of each part: what begins a device or ends it is seldom like the rest.
    for place in spread(places) {
        let block_number = (2 * place + 1) * blocks / (2 * places);
        zeroes += u64::from(is_zero(&mut queue, first + block_number * block)?);
        looked += 1;
        if looked >= FEWEST && Clock::now().saturating_sub(begun) > LONGEST {
            break;
        }
    }
    Some(zeroes as f64 / looked as f64)
}

/// All numbers below `count`, of which the first few are spread over all.
fn spread(count: u64) -> impl Iterator<Item = u64> {
    let step = count.div_ceil(FEWEST);
    (0..step).flat_map(move |start| (start..count).step_by(step as usize))
}

/// Whether a block holds zeroes alone; `None` where it cannot be read.
fn is_zero(queue: &mut SyncQueue, offset: u64) -> Option<bool> {
    queue.push(Request {
        slot: 0,
        file: 0,
        operation: Operation::Read,
        offset,
        length: BLOCK,
    });
    queue.submit_and_wait(1, None).ok()?;
    let mut done = Vec::new();
    queue.take(1, &mut done);
    let read = done.first()?.result.ok()?;
    (read == BLOCK).then(|| queue.buffer(0).iter().all(|byte| *byte == 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_looked_at_once_each() {
        for count in [8, 9, 63, 64] {
            let mut all: Vec<u64> = spread(count).collect();
            let few = &all[..FEWEST as usize];
            assert!(few.iter().max() >= Some(&(count / 2)), "{few:?} of {count}");
            all.sort_unstable();
            assert!(all.into_iter().eq(0..count));
        }
    }

    /// A file of 1 MiB, whose first bytes are written, serves as a device here: it is read in the same way.
    #[track_caller]
    fn check(written: usize, (offset, length): (u64, u64), expected: Option<f64>) {
        use std::os::unix::fs::FileExt;
        let file = tempfile::tempfile().unwrap();
        file.set_len(1 << 20).unwrap();
        file.write_all_at(&vec![7; written], 0).unwrap();
        let range = TargetRange { offset, length };
        assert_eq!(share_of_zeroes(file, range), expected);
    }

    #[test]
    fn zeroes_are_found() {
        let whole = (0, 1 << 20);
        check(0, whole, Some(1.0));
        check(1 << 20, whole, Some(0.0));
        check(1 << 19, whole, Some(0.5));
        check(1 << 19, (1 << 19, 1 << 19), Some(1.0));
        check(1 << 19, (512, (1 << 19) - 512), Some(0.0));
        check(0, (0, 16 << 10), None);
        // Past its end nothing can be read.
        check(0, (1 << 20, 1 << 20), None);
        check(0, (u64::MAX - 5, 4096), None);
    }
}
