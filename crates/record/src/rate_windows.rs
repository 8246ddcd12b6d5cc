//! Rates over windows of a length that a job asks for.
//!
//! A job has half-second samples anyway. Where its peer's input asks for other windows, what was done in each goes into
//! sums as the window ends, so that a run of any length takes no more memory than one window.
//!
//! Invariant: windows follow one another without a gap from the start of the measurement, and only whole ones count.

use fathom_units::Nanos;
use fathom_workload::RateSamples;

/// What was done in the windows in which anything was done, by one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WindowCounts {
    /// Such windows.
    pub windows: u64,
    /// Least and most in one.
    pub least: u64,
    /// As `least`.
    pub most: u64,
    sum: u128,
    squares: u128,
}

impl WindowCounts {
    fn add(&mut self, count: u64) {
        self.least = if self.windows == 0 {
            count
        } else {
            self.least.min(count)
        };
        self.most = self.most.max(count);
        self.windows += 1;
        self.sum += u128::from(count);
        self.squares = self.squares.saturating_add(u128::from(count).pow(2));
    }

    /// Mean of a window; 0 without any.
    pub fn mean(&self) -> f64 {
        self.sum as f64 / self.windows.max(1) as f64
    }

    /// Sum of the squared differences from the mean.
    pub fn squares(&self) -> f64 {
        // In whole numbers as long as they fit: of large counts that hardly differ, floats would leave nothing.
        let windows = u128::from(self.windows.max(1));
        match (
            self.squares.checked_mul(windows),
            self.sum.checked_mul(self.sum),
        ) {
            (Some(all), Some(mean)) => all.saturating_sub(mean) as f64 / windows as f64,
            _ => (self.squares as f64 - self.sum as f64 * self.mean()).max(0.0),
        }
    }
}

/// Windows of one length, counted up to the one that is going on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Windows {
    /// Their length.
    pub length: Nanos,
    /// By [`fathom_workload::Direction`].
    pub counts: [WindowCounts; 3],
    /// End of the one that is going on, from the start of the measurement.
    end: Nanos,
    /// What had been done as it began.
    before: [u64; 3],
}

impl Windows {
    fn new(length: Nanos) -> Self {
        let length = length.max(Nanos::from_millis(1));
        Self {
            length,
            counts: [WindowCounts::default(); 3],
            end: length,
            before: [0; 3],
        }
    }

    fn close(&mut self, now: Nanos, done: [u64; 3]) {
        if now < self.end {
            return;
        }
        let counts = self.counts.iter_mut().zip(done.iter().zip(&self.before));
        for (counts, (done, before)) in counts {
            if done > before {
                counts.add(done - before);
            }
        }
        self.before = done;
        // Nothing was done in those that are over besides.
        let over = now.saturating_sub(self.end).get() / self.length.get();
        self.end = self.end.saturating_add(self.length * (over + 1));
    }
}

/// A worker's windows of bandwidth and of IOPS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RateWindows {
    /// Bytes in each window.
    pub bytes: Windows,
    /// I/Os in each.
    pub ios: Windows,
}

impl RateWindows {
    /// Of a measurement that begins.
    pub fn new(asked: RateSamples) -> Self {
        Self {
            bytes: Windows::new(asked.bandwidth),
            ios: Windows::new(asked.iops),
        }
    }

    /// When the next window of either ends, from the start of the measurement.
    pub fn next_end(&self) -> Nanos {
        self.bytes.end.min(self.ios.end)
    }

    /// Ends what is over at `now`, from the start of the measurement, by when so many I/Os and bytes of each direction had
    /// been done. It is to be called before anything is counted that was done after [`Self::next_end`].
    pub fn close(&mut self, now: Nanos, (ios, bytes): ([u64; 3], [u64; 3])) {
        self.bytes.close(now, bytes);
        self.ios.close(now, ios);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Nanos = Nanos::from_millis;

    fn windows(bandwidth: u64, iops: u64) -> RateWindows {
        RateWindows::new(RateSamples {
            bandwidth: MS(bandwidth),
            iops: MS(iops),
        })
    }

    #[test]
    fn each_kind_has_windows_of_its_own_length() {
        let mut windows = windows(100, 250);
        // A read of 1,000 bytes each 10 ms, and one more each 100 ms.
        let (mut ios, mut bytes) = (0, 0);
        for at in 1..=1_000 {
            if windows.next_end() <= MS(at) {
                windows.close(MS(at), ([ios, 0, 0], [bytes, 0, 0]));
            }
            let more = u64::from(at % 10 == 5) + u64::from(at % 200 == 5);
            (ios, bytes) = (ios + more, bytes + 1000 * more);
        }
        let reads = windows.bytes.counts[0];
        assert_eq!(
            (reads.windows, reads.least, reads.most),
            (10, 10_000, 11_000)
        );
        assert!((reads.mean() - 10_500.0).abs() < 1e-9);
        // Ten values, each 500 from the mean.
        assert!((reads.squares() - 10.0 * 500.0 * 500.0).abs() < 1e-6);
        let reads = windows.ios.counts[0];
        assert_eq!((reads.windows, reads.least, reads.most), (4, 26, 27));
        assert_eq!(windows.ios.counts[1], WindowCounts::default());
    }

    #[test]
    fn windows_without_io_count_nowhere() {
        let mut windows = windows(100, 100);
        windows.close(MS(100), ([5, 1, 0], [5, 1, 0]));
        // Nothing came for three windows and a half.
        windows.close(MS(450), ([5, 1, 0], [5, 1, 0]));
        assert_eq!(windows.next_end(), MS(500));
        windows.close(MS(500), ([7, 1, 0], [7, 1, 0]));
        let reads = windows.ios.counts[0];
        assert_eq!((reads.windows, reads.least, reads.most), (2, 2, 5));
        assert_eq!(windows.ios.counts[1].windows, 1);
    }
}
