//! What I/Os wait for: the names of limits, and the waits of one I/O.
//!
//! Invariants: an I/O has at most [`MOST_WAITS`] waits, which a path's builder asserts; a limit's name is its key in records
//! and never changes.

use fathom_units::Nanos;

/// A limit that I/Os wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Limit {
    /// A disk's I/Os a second.
    DiskIops,
    /// A disk's bytes a second.
    DiskBytes,
    /// The machine's I/Os a second through the host cache.
    VmCachedIops,
    /// The machine's bytes a second through the host cache.
    VmCachedBytes,
    /// The machine's I/Os a second past the host cache.
    VmUncachedIops,
    /// The machine's bytes a second past the host cache.
    VmUncachedBytes,
    /// A device's I/Os a second.
    DeviceIops,
    /// A device's bytes a second.
    DeviceBytes,
    /// The machine's packets a second on the network.
    VmNetworkIops,
    /// The machine's bytes a second on the network.
    VmNetworkBytes,
    /// A network volume's I/Os a second.
    VolumeIops,
    /// A network volume's bytes a second.
    VolumeBytes,
    /// A share's I/Os a second.
    ShareIops,
    /// A share's bytes a second.
    ShareBytes,
    /// A single file's I/Os a second.
    FileIops,
    /// A single file's bytes a second.
    FileBytes,
    /// A channel's I/Os a second.
    ChannelIops,
    /// A channel's bytes a second.
    ChannelBytes,
    /// A share's metadata operations a second.
    MetadataIops,
    /// A share's bytes of metadata a second.
    MetadataBytes,
    /// I/Os that a connection may have outstanding.
    ConnectionSlots,
    /// Bytes that a connection may have in flight.
    ConnectionBytes,
    /// A part of the storage that lets nothing go for a time.
    Stall,
}

impl Limit {
    /// All limits, in the order of their numbers.
    pub const ALL: [Self; 23] = [
        Self::DiskIops,
        Self::DiskBytes,
        Self::VmCachedIops,
        Self::VmCachedBytes,
        Self::VmUncachedIops,
        Self::VmUncachedBytes,
        Self::DeviceIops,
        Self::DeviceBytes,
        Self::VmNetworkIops,
        Self::VmNetworkBytes,
        Self::VolumeIops,
        Self::VolumeBytes,
        Self::ShareIops,
        Self::ShareBytes,
        Self::FileIops,
        Self::FileBytes,
        Self::ChannelIops,
        Self::ChannelBytes,
        Self::MetadataIops,
        Self::MetadataBytes,
        Self::ConnectionSlots,
        Self::ConnectionBytes,
        Self::Stall,
    ];

    /// The key that records use in `bound_by`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::DiskIops => "disk-iops",
            Self::DiskBytes => "disk-bytes",
            Self::VmCachedIops => "vm-cached-iops",
            Self::VmCachedBytes => "vm-cached-bytes",
            Self::VmUncachedIops => "vm-uncached-iops",
            Self::VmUncachedBytes => "vm-uncached-bytes",
            Self::DeviceIops => "device-iops",
            Self::DeviceBytes => "device-bytes",
            Self::VmNetworkIops => "vm-network-iops",
            Self::VmNetworkBytes => "vm-network-bytes",
            Self::VolumeIops => "volume-iops",
            Self::VolumeBytes => "volume-bytes",
            Self::ShareIops => "share-iops",
            Self::ShareBytes => "share-bytes",
            Self::FileIops => "file-iops",
            Self::FileBytes => "file-bytes",
            Self::ChannelIops => "channel-iops",
            Self::ChannelBytes => "channel-bytes",
            Self::MetadataIops => "metadata-iops",
            Self::MetadataBytes => "metadata-bytes",
            Self::ConnectionSlots => "connection-slots",
            Self::ConnectionBytes => "connection-bytes",
            Self::Stall => "stall",
        }
    }
}

/// Most steps of one path that I/Os can wait at.
pub(crate) const MOST_WAITS: usize = 6;

/// Bits of a packed wait that hold its time: 2^56 ns are more than two years, and longer waits are cut to that. Above them
/// is the number of the limit, from 1.
const TIME_BITS: u32 = 56;
const TIME: u64 = (1 << TIME_BITS) - 1;
/// The bit of a packed wait that says that another follows.
const MORE: u64 = 1 << 63;

/// A wait for one limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wait {
    /// The limit that was the later of its stage's two when the I/O left.
    pub limit: Limit,
    /// Time from entering the stage to leaving it.
    pub time: Nanos,
}

/// The waits of one I/O, at most one a step of its path. Of an I/O in several parts: those of the part that finished last.
#[derive(Debug, Clone, Copy)]
pub struct Waits {
    /// The first is 0 where there is none. What stands behind the last means nothing: mostly there is one, and whoever
    /// reads or writes it touches nothing else.
    packed: [u64; MOST_WAITS],
}

impl Default for Waits {
    fn default() -> Self {
        Self::NONE
    }
}

impl PartialEq for Waits {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Waits {}

impl Waits {
    /// No waits at all.
    pub const NONE: Self = Self {
        packed: [0; MOST_WAITS],
    };

    /// Each wait, in the order of the path.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = Wait> + '_ {
        let mut more = self.packed[0] != 0;
        let packed = self.packed.iter().map_while(move |wait| {
            let here = more;
            more = wait & MORE != 0;
            here.then_some(*wait)
        });
        packed.map(|wait| Wait {
            limit: Limit::ALL[number_of(wait)],
            time: Nanos::new(wait & TIME),
        })
    }

    #[expect(
        clippy::inline_always,
        reason = "every I/O comes by here, and a call costs as much as the work"
    )]
    #[inline(always)]
    pub(crate) fn add(&mut self, wait: Wait) {
        let time = wait.time.get().min(TIME);
        let packed = (wait.limit as u64 + 1) << TIME_BITS | time;
        if self.packed[0] == 0 {
            self.packed[0] = packed;
        } else if self.packed[0] & MORE == 0 {
            self.packed[0] |= MORE;
            self.packed[1] = packed;
        } else {
            self.add_more(packed);
        }
    }

    #[inline(never)]
    fn add_more(&mut self, packed: u64) {
        let last = self.packed.iter().position(|wait| wait & MORE == 0);
        let last = last.unwrap_or(MOST_WAITS);
        self.packed[last] |= MORE;
        self.packed[last + 1] = packed;
    }

    /// Whether there are none.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.packed[0] == 0
    }

    /// The same, without a look at more than there is.
    #[inline]
    pub(crate) fn copied(&self) -> Self {
        if self.packed[0] & MORE == 0 {
            let mut one = Self::NONE;
            one.packed[0] = self.packed[0];
            return one;
        }
        *self
    }

    /// Adds each wait, in nanoseconds, to the total of its limit.
    #[expect(
        clippy::inline_always,
        reason = "every I/O comes by here, and a call costs as much as the work"
    )]
    #[inline(always)]
    pub fn add_to(&self, totals: &mut [u128; Limit::ALL.len()]) {
        let wait = self.packed[0];
        if wait == 0 {
            return;
        }
        if let Some(total) = totals.get_mut(number_of(wait)) {
            *total += u128::from(wait & TIME);
        }
        if wait & MORE != 0 {
            self.add_others_to(totals);
        }
    }

    /// The same of those behind the first.
    #[inline]
    fn add_others_to(&self, totals: &mut [u128; Limit::ALL.len()]) {
        for wait in &self.packed[1..] {
            totals[number_of(*wait)] += u128::from(wait & TIME);
            if wait & MORE == 0 {
                return;
            }
        }
    }

    /// The waits of an I/O that was done in steps: these, and those of the step that followed. Each limit stands there once,
    /// and where there are more than can be held, those of the longest waits.
    #[must_use]
    pub fn then(&self, following: &Self) -> Self {
        let mut totals = [0; Limit::ALL.len()];
        self.add_to(&mut totals);
        following.add_to(&mut totals);
        let mut all: Vec<(u128, Limit)> = totals.into_iter().zip(Limit::ALL).collect();
        all.retain(|(time, _)| *time > 0);
        all.sort_by_key(|(time, _)| std::cmp::Reverse(*time));
        let mut sum = Self::NONE;
        for (time, limit) in all.into_iter().take(MOST_WAITS) {
            let time = Nanos::new(u64::try_from(time).unwrap_or(u64::MAX));
            sum.add(Wait { limit, time });
        }
        sum
    }

    /// Forgets every wait.
    #[inline]
    pub(crate) fn clear(&mut self) {
        self.packed[0] = 0;
    }
}

/// The number of a packed wait's limit.
#[inline]
fn number_of(wait: u64) -> usize {
    ((wait & !MORE) >> TIME_BITS).wrapping_sub(1) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_come_back_as_they_were_added() {
        let mut waits = Waits::NONE;
        let long = Nanos::from_secs(365 * 86_400);
        for (index, limit) in Limit::ALL.into_iter().enumerate() {
            assert_eq!(limit as usize, index);
            waits.clear();
            waits.add(Wait { limit, time: long });
            waits.add(Wait {
                limit: Limit::DiskIops,
                time: Nanos::ZERO,
            });
            let found: Vec<_> = waits.iter().collect();
            assert_eq!(found.len(), 2);
            assert_eq!((found[0].limit, found[0].time), (limit, long));
            assert_eq!(found[1].limit, Limit::DiskIops);
        }
    }

    #[test]
    fn waits_of_steps_are_added_up() {
        let waits = |all: &[(Limit, u64)]| {
            let mut waits = Waits::NONE;
            for (limit, time) in all {
                let (limit, time) = (*limit, Nanos::new(*time));
                waits.add(Wait { limit, time });
            }
            waits
        };
        let first = waits(&[(Limit::DiskIops, 5), (Limit::DiskBytes, 1)]);
        let second = waits(&[(Limit::DiskBytes, 7)]);
        let both = waits(&[(Limit::DiskBytes, 8), (Limit::DiskIops, 5)]);
        assert_eq!(first.then(&second), both);
        assert_eq!(Waits::NONE.then(&Waits::NONE), Waits::NONE);
        let many: Vec<(Limit, u64)> = Limit::ALL.into_iter().zip(1..).collect();
        let all = many.chunks(MOST_WAITS).map(waits);
        let all = all.fold(Waits::NONE, |sum, more| sum.then(&more));
        assert_eq!(all.iter().count(), MOST_WAITS);
    }

    #[test]
    fn names_are_unique() {
        let names: std::collections::BTreeSet<_> = Limit::ALL.map(Limit::name).into();
        assert_eq!(names.len(), Limit::ALL.len());
    }
}
