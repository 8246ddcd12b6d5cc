//! `--memcpytest`: how fast memory is copied, without any storage.

use std::hint::black_box;

use fathom_dialects::fio::{self, COPY_SIZES, CopyKind};
use fathom_rawio::Clock;
use fathom_units::Bytes;

use super::output::Output;
use super::self_tests::{noise, spin};

/// What is copied from and to, as in fio.
const REGION: usize = 32 << 20;
/// How often it is, as in fio: 2 GiB a line.
const ROUNDS: u64 = 64;

/// Measures `kinds` at all sizes.
pub fn copies(kinds: &[CopyKind], output: &mut Output<'_>) {
    // Both regions are one slice, so that memory which may overlap can be copied within it.
    let mut memory: Vec<u8> = noise(REGION);
    memory.resize(2 * REGION, 0);
    for kind in kinds {
        spin();
        // Once without the clock, for memory that was never touched.
        copy(*kind, COPY_SIZES[0], &mut memory);
        output.write(&format!("{}\n", kind.name()));
        for size in COPY_SIZES {
            let begun = Clock::now();
            copy(*kind, size, &mut memory);
            let time = Clock::now().saturating_sub(begun);
            let copied = Bytes::new(ROUNDS * REGION as u64);
            output.write(&fio::copy_speed(size, copied, time));
        }
    }
}

/// Copies the first half of `memory` to the second, `size` bytes at a time.
fn copy(kind: CopyKind, size: usize, memory: &mut [u8]) {
    for _ in 0..ROUNDS {
        let memory = black_box(&mut *memory);
        let half = memory.len() / 2;
        if kind == CopyKind::Memmove {
            for start in (0..half).step_by(size) {
                let end = half.min(start + size);
                memory.copy_within(start..end, half + start);
            }
            continue;
        }
        let (from, to) = memory.split_at_mut(half);
        let pairs = to.chunks_mut(size).zip(from.chunks(size));
        match kind.at(size) {
            CopyKind::Simple => pairs.for_each(|(to, from)| by_bytes(to, from)),
            _ => pairs.for_each(|(to, from)| to.copy_from_slice(from)),
        }
    }
}

/// Not inlined, or several copies would become one.
#[inline(never)]
fn by_bytes(to: &mut [u8], from: &[u8]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = *from;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_way_copies_all_of_it() {
        let kinds = [
            CopyKind::Memcpy,
            CopyKind::Memmove,
            CopyKind::Simple,
            CopyKind::Hybrid,
        ];
        for kind in kinds {
            for size in [8, 96, 524_288] {
                // No multiple of any size.
                let mut memory: Vec<u8> = noise(1 << 13);
                memory.truncate(1_001);
                memory.resize(2_002, 0);
                copy(kind, size, &mut memory);
                assert!(memory[..1_001] == memory[1_001..], "{kind:?} {size}");
                assert!(memory[..1_001].iter().any(|byte| *byte != 0));
            }
        }
    }
}
