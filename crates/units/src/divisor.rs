//! The largest number that divides two.

/// The largest number that divides both; 0 is divided by all.
///
/// ```
/// use fathom_units::common_divisor;
/// assert_eq!(common_divisor(12_288, 131_072), 4_096);
/// assert_eq!(common_divisor(0, 512), 512);
/// ```
pub const fn common_divisor(one: u64, other: u64) -> u64 {
    let (mut one, mut other) = (one, other);
    while other > 0 {
        (one, other) = (other, one % other);
    }
    one
}
