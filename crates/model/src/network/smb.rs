//! SMB: what several channels gain and cost, and what caching metadata gains.
//!
//! The pages print ratios of four channels to one, measured on one machine with one network card (smb-performance.md,
//! 15 January 2026): 2 to 3 times for reads, 3 to 4 times for writes, where several threads use several files; 10 % less
//! than one channel for small I/O on a single file, and for a single thread, unless that has several files and larger I/O.
//! Between one and four channels the gain is taken as linear, to the upper ends: what is measured is then bound by the
//! share, its files or the machine, as in the pages.

use fathom_catalog::{ChannelLimits, Limits};
use fathom_units::{BytesPerSec, Iops, Nanos};

/// How long another thread or file must not have been seen for a client to count as using a single one.
const MEMORY: Nanos = Nanos::from_secs(1);

/// What each of `channels` channels carries of reads, so that four carry three times what one does:
/// `(1 + 2/3 × (channels − 1)) ÷ channels` of one alone.
pub fn channel_reads(channel: &ChannelLimits, channels: u32) -> Limits {
    let channels = u64::from(channels.max(1));
    part_of(&channel.read, (1 + 2 * channels, 3 * channels))
}

/// What each of several channels carries of writes: as much as one alone, so that four carry four times as much.
pub const fn channel_writes(channel: &ChannelLimits) -> Limits {
    channel.write
}

/// A part of limits.
pub(crate) fn part_of(limits: &Limits, (numerator, denominator): (u64, u64)) -> Limits {
    let part = |rate: u64| rate.saturating_mul(numerator) / denominator.max(1);
    Limits {
        iops: limits.iops.map(|rate| Iops::new(part(rate.get()))),
        bandwidth: limits
            .bandwidth
            .map(|rate| BytesPerSec::new(part(rate.get()))),
    }
}

/// The smaller of two limits, each by itself.
pub(crate) fn least(one: &Limits, other: &Limits) -> Limits {
    Limits {
        iops: one.iops.into_iter().chain(other.iops).min(),
        bandwidth: one.bandwidth.into_iter().chain(other.bandwidth).min(),
    }
}

/// What several channels cost an I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Penalty {
    /// Nothing.
    None,
    /// It does no better than nine tenths of one channel.
    OneThread,
    /// It does no better than nine tenths of one channel to a single file.
    OneFile,
}

/// The part (numerator, denominator) of one channel's performance that is left.
pub(crate) const fn left(channel: &ChannelLimits, penalty: Penalty) -> (u64, u64) {
    let percent = match penalty {
        Penalty::None => 0,
        Penalty::OneThread => channel.single_thread_penalty_percent,
        Penalty::OneFile => channel.small_io_penalty_percent,
    };
    (100 - percent as u64, 100)
}

/// What a client has used of a share lately: one thread or several, one file or several.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pattern {
    threads: Lately,
    files: Lately,
}

/// The last of something, and when it was last another.
#[derive(Debug, Clone, Default)]
struct Lately {
    last: Option<u64>,
    changed: Option<Nanos>,
}

impl Lately {
    /// Whether there has been a single one for the last second, this one included.
    fn single(&mut self, now: Nanos, this: u64) -> bool {
        if self.last.is_some_and(|last| last != this) {
            self.changed = Some(now);
        }
        self.last = Some(this);
        self.changed
            .is_none_or(|changed| now.saturating_sub(changed) > MEMORY)
    }
}

impl Pattern {
    /// An I/O of `thread` on `file`, small or not, over several channels: what they cost it.
    pub fn penalty(&mut self, now: Nanos, thread: u64, file: u64, small: bool) -> Penalty {
        let one_thread = self.threads.single(now, thread);
        let one_file = self.files.single(now, file);
        match (one_thread, one_file) {
            (true, true) => Penalty::OneFile,
            (true, false) if small => Penalty::OneThread,
            (false, true) if small => Penalty::OneFile,
            _ => Penalty::None,
        }
    }
}

/// A latency of a metadata operation with metadata caching: "30 % or more" less latency and "60 % or more" I/Os a second
/// are printed. The same outstanding operations at 1 ÷ 1.6 of the latency are 60 % more a second, and 37.5 % less latency.
pub(crate) const fn cached_metadata(latency: Nanos) -> Nanos {
    Nanos::new(latency.get() * 5 / 8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_catalog::Catalog;

    #[test]
    fn four_channels_carry_three_times_the_reads_and_four_times_the_writes() {
        let channel = Catalog::builtin().share_channel();
        let iops = |limits: Limits| limits.iops.unwrap().get();
        let one = iops(channel.read);
        assert_eq!(iops(channel_reads(channel, 1)), one);
        assert_eq!(iops(channel_reads(channel, 4)) * 4, one * 3);
        assert_eq!(iops(channel_reads(channel, 2)) * 2, one * 5 / 3 / 2 * 2);
        assert_eq!(channel_writes(channel), channel.write);
    }

    #[test]
    fn single_threads_and_single_files_are_known_by_what_was_lately_seen() {
        let at = Nanos::from_millis;
        let mut pattern = Pattern::default();
        assert_eq!(pattern.penalty(at(0), 1, 1, false), Penalty::OneFile);
        assert_eq!(pattern.penalty(at(1), 1, 2, true), Penalty::OneThread);
        assert_eq!(pattern.penalty(at(2), 1, 2, false), Penalty::None);
        assert_eq!(pattern.penalty(at(3), 2, 2, true), Penalty::None);
        // A second later all I/O was of one file.
        assert_eq!(pattern.penalty(at(900), 1, 2, true), Penalty::None);
        assert_eq!(pattern.penalty(at(1002), 2, 2, true), Penalty::OneFile);
        assert_eq!(pattern.penalty(at(1003), 2, 2, false), Penalty::None);
        assert_eq!(pattern.penalty(at(2003), 2, 2, false), Penalty::OneFile);
    }

    #[test]
    fn cached_metadata_gains_what_is_printed() {
        let before = Nanos::from_millis(8);
        let after = cached_metadata(before);
        assert_eq!(after, Nanos::from_millis(5));
        let (less, more) = (1.0 - 5.0 / 8.0, 8.0 / 5.0 - 1.0);
        assert!(less >= 0.3 && more >= 0.6 - 1e-9);
    }
}
