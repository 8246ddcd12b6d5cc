//! Seconds of simulated runs, for tests of what chance alone does to a check.

/// Uniform numbers from 0 to 1 (`SplitMix64`).
pub(super) struct Chance(pub(super) u64);

impl Chance {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (((z ^ (z >> 31)) >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// Of variance 1 and nearly normal: the sum of twelve, less their mean.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }

    /// So many seconds of a course from 0 to 1, each of which keeps a part of what the one before was above or below it.
    pub(super) fn seconds(
        &mut self,
        count: usize,
        (scatter, alike): (f64, f64),
        course: impl Fn(f64) -> f64,
    ) -> Vec<f64> {
        let mut state = self.normal();
        let seconds = (0..count).map(|second| {
            state = alike * state + (1.0 - alike * alike).sqrt() * self.normal();
            let at = second as f64 / (count - 1) as f64;
            (course(at) * (1.0 + scatter * state)).max(0.0)
        });
        seconds.collect()
    }
}
