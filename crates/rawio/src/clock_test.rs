//! A test of the processors' counters: whether they go on from one another.
//!
//! A thread on each processor takes numbers from one sequence and reads its counter for each. A number is taken only where
//! nobody took it since the counter was read, so that the readings, in the order of their numbers, were made one after
//! another: one that lies below the one before it shows two processors whose counters are apart.
//!
//! Invariant: memory is bounded whatever the number of processors.

use std::io;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;

use crate::cycles::{counter_keeps_time, cycles};
use crate::placement::{allowed_processors, run_on};

/// Readings by each processor, as fio takes them.
const READINGS: usize = 100_000;
/// Readings of all processors together: 64 MiB.
const READINGS_MAX: usize = 1 << 22;

/// A counter as one processor read it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CounterReading {
    /// Number in the sequence of all processors.
    pub sequence: u32,
    /// The processor.
    pub processor: u32,
    /// Its counter.
    pub counter: u64,
}

/// What the test saw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CounterTest {
    /// Whether the kernel keeps time by the counter.
    pub keeps_time: bool,
    /// The readings of each processor, in its own order.
    pub readings: Vec<Vec<CounterReading>>,
}

impl CounterTest {
    /// Neighbours in the sequence whose counters go back.
    pub fn steps_back(&self) -> Vec<[CounterReading; 2]> {
        let mut all: Vec<_> = self.readings.iter().flatten().copied().collect();
        all.sort_unstable_by_key(|reading| reading.sequence);
        let pairs = all.windows(2).map(|pair| [pair[0], pair[1]]);
        pairs.filter(|[a, b]| a.counter > b.counter).collect()
    }

    /// Processors whose counter stood still, which is how a missing one shows.
    pub fn still(&self) -> usize {
        let ends = self
            .readings
            .iter()
            .filter_map(|all| Some((all.first()?, all.last()?)));
        ends.filter(|(first, last)| first.counter == last.counter)
            .count()
    }
}

/// Whether this program can read a counter of the processor's.
pub const fn has_counter() -> bool {
    cfg!(target_arch = "x86_64")
}

/// Tests the counters of the processors that this program may run on.
///
/// # Errors
/// Where they cannot be told, or a thread cannot be started on one.
pub fn test_counters() -> io::Result<CounterTest> {
    let processors = allowed_processors()?;
    let each = READINGS.min(READINGS_MAX / processors.len().max(1));
    let begin = Arc::new(Barrier::new(processors.len()));
    let sequence = Arc::new(AtomicU32::new(0));
    let mut threads = Vec::new();
    for processor in processors {
        let (begin, sequence) = (Arc::clone(&begin), Arc::clone(&sequence));
        threads.push(thread::spawn(move || {
            // All come to the barrier, so that none waits for one that failed.
            let placed = run_on(&[processor]);
            let mut readings = Vec::with_capacity(each);
            begin.wait();
            placed?;
            readings.extend((0..each).map(|_| reading(processor, &sequence)));
            Ok(readings)
        }));
    }
    let readings: io::Result<Vec<_>> = threads
        .into_iter()
        .map(|thread| {
            let ended = thread.join();
            ended.unwrap_or_else(|_| Err(io::Error::other("a thread of the test ended early")))
        })
        .collect();
    Ok(CounterTest {
        keeps_time: counter_keeps_time(),
        readings: readings?,
    })
}

/// The counter, read while `sequence` had the number that goes with it.
fn reading(processor: u32, sequence: &AtomicU32) -> CounterReading {
    loop {
        let number = sequence.load(Ordering::SeqCst);
        let counter = ordered_cycles();
        let taken = sequence.compare_exchange(
            number,
            number.wrapping_add(1),
            Ordering::SeqCst,
            Ordering::SeqCst,
        );
        if taken.is_ok() {
            return CounterReading {
                sequence: number,
                processor,
                counter,
            };
        }
    }
}

/// The counter, read after all that stands before it was done: the processor would read it ahead of that.
fn ordered_cycles() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has the instruction; it touches no memory.
    unsafe {
        core::arch::x86_64::_mm_lfence();
    }
    cycles()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(sequence: u32, processor: u32, counter: u64) -> CounterReading {
        CounterReading {
            sequence,
            processor,
            counter,
        }
    }

    #[test]
    fn a_counter_behind_another_is_seen() {
        let test = |readings| CounterTest {
            keeps_time: true,
            readings,
        };
        let in_step = test(vec![
            vec![at(0, 0, 10), at(3, 0, 40)],
            vec![at(1, 1, 20), at(2, 1, 20)],
        ]);
        assert!(in_step.steps_back().is_empty());
        assert_eq!(in_step.still(), 1);
        let apart = test(vec![
            vec![at(0, 0, 10), at(2, 0, 40)],
            vec![at(1, 1, 5), at(3, 1, 50)],
        ]);
        assert_eq!(apart.steps_back(), [[at(0, 0, 10), at(1, 1, 5)]]);
        assert_eq!(apart.still(), 0);
    }

    #[test]
    fn each_number_is_taken_once_and_every_processor_is_heard() {
        let test = test_counters().unwrap();
        assert_eq!(test.readings.len(), allowed_processors().unwrap().len());
        let mut numbers: Vec<_> = test
            .readings
            .iter()
            .flatten()
            .map(|it| it.sequence)
            .collect();
        numbers.sort_unstable();
        assert!(
            numbers
                .iter()
                .zip(0..)
                .all(|(seen, expected)| *seen == expected)
        );
        assert!(test.readings.iter().all(|all| !all.is_empty()));
    }
}
