//! The number that chooses an I/O's media latency: SplitMix64 over (seed, disk, stream, index, part).

/// One step of SplitMix64 from `state`.
fn split_mix(state: u64) -> u64 {
    let sum = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let first = (sum ^ (sum >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let second = (first ^ (first >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    second ^ (second >> 31)
}

/// The key of a disk or device, by its index among all of the design.
pub fn disk_key(seed: u64, disk: usize) -> u64 {
    split_mix(seed ^ split_mix(disk as u64))
}

/// The key of what a cache writes to a disk in the background.
pub fn background_key(seed: u64, disk: usize) -> u64 {
    !disk_key(seed, disk)
}

/// The key of a network volume: disks that come before it, and volumes.
pub fn network_key(seed: u64, disks: usize, volumes: usize) -> u64 {
    !disk_key(seed, disks) ^ volumes as u64
}

/// Which draw of a key it is.
#[derive(Debug, Clone, Copy)]
pub struct Draw {
    /// Number of the job in the upper half, of the worker in the lower.
    pub stream: u64,
    /// Number of the I/O within the stream.
    pub index: u64,
    /// Number of the part within the I/O.
    pub part: u64,
}

/// A quantile, in units of 2^-64.
pub fn quantile(key: u64, draw: Draw) -> u64 {
    let stream = split_mix(key ^ draw.stream.rotate_left(32));
    split_mix(stream ^ draw.index ^ draw.part.rotate_left(48))
}
