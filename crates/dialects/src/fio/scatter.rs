//! Numbers that are set apart from each other.

/// SplitMix64's finisher (Steele, Lea and Flood, 2014): near seeds give salts far apart.
pub fn scatter(seed: u64) -> u64 {
    let mut value = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}
