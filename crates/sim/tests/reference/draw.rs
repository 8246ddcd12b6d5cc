//! The number that chooses an I/O's media latency: SplitMix64 over (seed, disk, stream, index, part).

/// One step of SplitMix64 from `state`.
fn split_mix(state: u64) -> u64 {
    let sum = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let first = (sum ^ (sum >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let second = (first ^ (first >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    second ^ (second >> 31)
}

/// Who draws.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    pub seed: u64,
    /// Index of the disk or device among all of the design.
    pub disk: u64,
    /// Number of the job in the upper half, of the worker in the lower.
    pub stream: u64,
    /// Number of the I/O within the stream.
    pub index: u64,
    /// Number of the part within the I/O.
    pub part: u64,
}

/// A quantile, in units of 2^-64.
pub fn quantile(key: Key) -> u64 {
    let disk = split_mix(key.seed ^ split_mix(key.disk));
    let stream = split_mix(disk ^ key.stream.rotate_left(32));
    split_mix(stream ^ key.index ^ key.part.rotate_left(48))
}
