//! A permutation's numbers, many at a time: the chains of multiplications that they are made by go side by side.
//!
//! One number is a chain of some hundred cycles, and a processor looks ahead over one such chain only. So the numbers of a
//! group take each step together, and what a step does to all of them has no order. Halves of a number have at most 31 bits,
//! so a product of 64 bits is made of few products of 32 by 32, of which the wide instructions do several at once; a sum of
//! two halves has no carry.
//!
//! Invariant: the numbers are those that [`Permutation`](super::permutation::Permutation) gives one by one.

use multiversion::multiversion;

use super::permutation::{MULTIPLIER, ROUNDS};

/// Numbers that take each step together: half as many take 1.1 to 1.2 times as long each, with instructions of 32 bytes and of
/// 64.
pub(super) const GROUP: usize = 32;

/// The lower 32 bits, and what products are made with.
const LOW: u64 = 0xffff_ffff;
const MULTIPLIER_LOW: u64 = MULTIPLIER & LOW;
const MULTIPLIER_HIGH: u64 = MULTIPLIER >> 32;

/// A permutation of at most 2^62 numbers, as its steps use it.
#[derive(Debug, Clone, Copy)]
pub(super) struct SideBySide {
    left_size: u64,
    right_bits: u32,
    keys: [Key; ROUNDS],
}

/// A round's key.
#[derive(Debug, Clone, Copy)]
struct Key {
    /// Its lower 32 bits; a half has none above.
    low: u64,
    /// What its upper 32 bits add to the first product, whatever the half.
    added: u64,
}

impl SideBySide {
    /// The permutation of that left size, of so many right bits and under those keys; `None` where a half may have more than
    /// 31 bits.
    #[inline]
    pub(super) fn of(left_size: u64, right_bits: u32, keys: [u64; ROUNDS]) -> Option<Self> {
        (right_bits <= 31 && left_size <= 1 << 31).then(|| Self {
            left_size,
            right_bits,
            keys: keys.map(|key| Key {
                low: key & LOW,
                added: (key >> 32).wrapping_mul(MULTIPLIER_LOW) << 32,
            }),
        })
    }

    /// Encrypts the numbers from `first` on, and says whether some of them came to lie at `size` or past it.
    pub(super) fn encrypt(&self, first: u64, into: &mut [[u64; GROUP]], size: u64) -> bool {
        encrypt_groups(*self, first, into, size)
    }

    /// `left` plus a number below the left size made of 32 random bits, modulo that size.
    #[inline]
    fn shift(&self, left: u64, random: u64) -> u64 {
        let sum = left + ((random * (self.left_size & LOW)) >> 32);
        let less = sum.wrapping_sub(self.left_size);
        // Its sign says whether that was too much.
        less.wrapping_add(self.left_size & (less.cast_signed() >> 63).cast_unsigned())
    }
}

#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
fn encrypt_groups(
    permutation: SideBySide,
    first: u64,
    into: &mut [[u64; GROUP]],
    size: u64,
) -> bool {
    let mask = (1u64 << permutation.right_bits) - 1;
    let last = size - 1;
    let mut signs = 0;
    let starts = (first..).step_by(GROUP);
    for (start, group) in starts.zip(into) {
        let (mut left, mut right) = ([0; GROUP], [0; GROUP]);
        for at in 0..GROUP {
            let value = start + at as u64;
            left[at] = value >> permutation.right_bits;
            right[at] = value & mask;
        }
        for [to_left, to_right] in permutation.keys.as_chunks::<2>().0 {
            for at in 0..GROUP {
                left[at] = permutation.shift(left[at], round(right[at], *to_left));
            }
            for at in 0..GROUP {
                right[at] ^= round(left[at], *to_right) & mask;
            }
        }
        for at in 0..GROUP {
            group[at] = (left[at] << permutation.right_bits) | right[at];
            signs |= last.wrapping_sub(group[at]);
        }
    }
    // A number past the last one left a sign: none has more than 62 bits.
    signs >> 63 != 0
}

/// The permutation's round function for a half of at most 32 bits. Of the first product's upper 32 bits and of the second's,
/// which are the result, no more is computed than they need.
#[inline]
const fn round(half: u64, key: Key) -> u64 {
    let half = (half ^ key.low) & LOW;
    let product = (half * MULTIPLIER_LOW)
        .wrapping_add((half * MULTIPLIER_HIGH) << 32)
        .wrapping_add(key.added);
    let high = product >> 32;
    let low = (product ^ high) & LOW;
    ((low * MULTIPLIER_LOW) >> 32)
        .wrapping_add(low * MULTIPLIER_HIGH)
        .wrapping_add(high * MULTIPLIER_LOW)
        & LOW
}
