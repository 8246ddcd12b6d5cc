//! `--crctest` and `--cpuclock-test`: what the machine's processors do, without any storage.

use std::hint::black_box;

use fathom_dialects::fio::{self, CounterAt, Counters};
use fathom_rawio::{Clock, CounterReading, has_counter, test_counters};
use fathom_session::{Code, Failure};
use fathom_units::{Bytes, Nanos};
use fathom_verify::digest;
use fathom_workload::Checksum;

use super::output::Output;

/// What is summed up at a time, as in fio.
const CHUNK: usize = 128 << 10;
/// How often it is, as in fio: 256 MiB a checksum.
const CHUNKS: u64 = 2_048;
/// For how long a processor is kept busy before it is measured, so that it is at its speed.
const SPIN: Nanos = Nanos::from_millis(100);

/// Measures the speed of `checksums`.
pub fn checksums(checksums: &[Checksum], output: &mut Output<'_>) {
    let buffer = noise(CHUNK);
    spin();
    if let Some(first) = checksums.first() {
        sum_up(*first, &buffer);
    }
    for checksum in checksums {
        let begun = Clock::now();
        sum_up(*checksum, &buffer);
        let time = Clock::now().saturating_sub(begun);
        let summed = Bytes::new(CHUNKS * CHUNK as u64);
        output.write(&fio::checksum_speed(*checksum, summed, time));
    }
}

fn sum_up(checksum: Checksum, buffer: &[u8]) {
    for _ in 0..CHUNKS {
        black_box(digest(checksum, [black_box(buffer), &[]]));
    }
}

/// Keeps the processor busy for a while.
pub(super) fn spin() {
    let until = Clock::now() + SPIN;
    while Clock::now() < until {}
}

/// So many bytes, a multiple of eight, without a pattern (xorshift64).
pub(super) fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x8989_u64;
    let words = std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    });
    words.take(length / 8).flatten().collect()
}

/// Tests whether the processors' counters go on from one another.
///
/// # Errors
/// Where they cannot be tested.
pub fn counters(output: &mut Output<'_>) -> Result<Code, Failure> {
    if !has_counter() {
        output.write(fio::NO_COUNTERS);
        return Ok(Code::Unexpected);
    }
    let test = test_counters().map_err(|error| {
        let message = format!("the processors' counters cannot be tested: {error}");
        Failure::new(Code::Unexpected, message)
    })?;
    let told = |reading: &CounterReading| CounterAt {
        processor: reading.processor,
        counter: reading.counter,
        sequence: reading.sequence,
    };
    let of_each = test.readings.iter();
    let seen: Vec<_> = of_each
        .filter_map(|all| Some([told(all.first()?), told(all.last()?)]))
        .collect();
    let back: Vec<_> = test
        .steps_back()
        .iter()
        .map(|it| [told(&it[0]), told(&it[1])])
        .collect();
    let still = test.still();
    output.write(&fio::counters(&Counters {
        reliable: test.keeps_time,
        seen: &seen,
        still,
        back: &back,
    }));
    Ok(if still == 0 && back.is_empty() {
        Code::Success
    } else {
        Code::Unexpected
    })
}
