//! One stage of the model: a queue, and the limits that let its head go.
//!
//! Who leaves, and when, is decided at *departure*: the head waits until the limits let it go, and only then are they
//! charged. So limits can change while I/Os wait, and another rule of who goes next (round robin by source) can take the
//! queue's place without touching anything else. Charging a later stage ahead of time is what this avoids: done over disks
//! of 500 and 5,000 IOPS under a machine of 6,400, it yields 618 IOPS where 5,499 is right.
//!
//! Where nobody will change the limits, the same is known when a token comes: it is charged then, in the order of the queue
//! and for the time at which it leaves, and is told that time ([`Entered::Leaves`]). It needs no place in the queue.
//!
//! Invariants: tokens leave in the order they came; a stage has at most one wake-up pending.

use fathom_units::Nanos;

use crate::limit::Limit;
use crate::limiter::{Levels, Limits, Rate};
use crate::pace::{Pace, Taken};
use crate::queue::{Queue, Waiting};
use crate::statistics::Meter;

/// Which budget a stage is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StageKind {
    VmCached,
    VmUncached,
    VmNetwork,
    Disk,
    Device,
    Volume,
    Share,
    File,
    Channel,
    Metadata,
}

impl StageKind {
    /// The names of its limits: I/Os a second and bytes a second.
    const fn limits(self) -> (Limit, Limit) {
        match self {
            Self::VmCached => (Limit::VmCachedIops, Limit::VmCachedBytes),
            Self::VmUncached => (Limit::VmUncachedIops, Limit::VmUncachedBytes),
            Self::VmNetwork => (Limit::VmNetworkIops, Limit::VmNetworkBytes),
            Self::Disk => (Limit::DiskIops, Limit::DiskBytes),
            Self::Device => (Limit::DeviceIops, Limit::DeviceBytes),
            Self::Volume => (Limit::VolumeIops, Limit::VolumeBytes),
            Self::Share => (Limit::ShareIops, Limit::ShareBytes),
            Self::File => (Limit::FileIops, Limit::FileBytes),
            Self::Channel => (Limit::ChannelIops, Limit::ChannelBytes),
            Self::Metadata => (Limit::MetadataIops, Limit::MetadataBytes),
        }
    }

    /// The kind of its row in statistics.
    pub const fn name(self) -> &'static str {
        match self {
            Self::VmCached | Self::VmUncached | Self::VmNetwork => "vm",
            Self::Disk => "disk",
            Self::Device => "device",
            Self::Volume => "volume",
            Self::Share => "share",
            Self::File => "file",
            Self::Channel => "channel",
            Self::Metadata => "metadata",
        }
    }
}

/// The rule by which tokens leave.
#[derive(Debug)]
enum Gate {
    /// Rates alone.
    Plain(Pace),
    /// Anything that [`Limits`] can say.
    Limits(Box<Limits>),
}

/// A queue and its limits.
#[derive(Debug)]
pub(crate) struct Stage {
    /// When the limits let the next token go: theirs, kept beside because every token asks.
    open_at: Nanos,
    /// Tokens that wait.
    queue: Queue,
    pub meter: Meter,
    gate: Gate,
    /// Bytes above which an I/O counts as several; 0: every I/O counts once.
    io_unit: u64,
    /// The limit that is the later of the two.
    held_by: Limit,
    /// The limits on I/Os and on bytes.
    names: (Limit, Limit),
    pub kind: StageKind,
    has_limits: bool,
    /// Whether tokens are charged when they come, and told when they will leave.
    ahead: bool,
    /// Tokens that were told so, and have not left.
    told: u32,
}

/// What became of a token that entered a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entered {
    /// It left at once.
    Passed,
    /// It waits behind others.
    Queued,
    /// It is the head, and may leave at this time.
    Waits(Nanos),
    /// It leaves at this time, and this limit holds it until then.
    Leaves(Nanos, Limit),
}

/// What becomes of a token that goes through a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Through {
    /// It left at once.
    Passed,
    /// It leaves at this time, this limit holds it until then, and nothing else has to happen then.
    Leaves(Nanos, Limit),
    /// The same, and that it leaves must be said.
    Stays(Nanos, Limit),
}

impl Stage {
    pub fn new(kind: StageKind, limits: Limits, io_unit: u64) -> Self {
        let has_limits = limits.iops.is_some() || limits.bytes.is_some();
        let open_at = limits.earliest();
        let gate = match Pace::of(&limits) {
            Some(pace) => Gate::Plain(pace),
            None => Gate::Limits(Box::new(limits)),
        };
        Self {
            open_at,
            queue: Queue::default(),
            meter: Meter::default(),
            gate,
            io_unit,
            held_by: kind.limits().0,
            names: kind.limits(),
            kind,
            has_limits,
            ahead: false,
            told: 0,
        }
    }

    /// Nobody will change its limits: where they are plain rates, when a token leaves is known when it comes.
    pub fn look_ahead(&mut self) {
        assert!(self.queue.is_empty(), "no token waits yet");
        self.ahead = matches!(self.gate, Gate::Plain(_));
    }

    /// Whether tokens are told when they will leave.
    pub fn looks_ahead(&self) -> bool {
        self.ahead
    }

    /// A token comes in.
    #[expect(
        clippy::inline_always,
        reason = "every I/O comes by here, and a call costs as much as the work"
    )]
    #[inline(always)]
    pub fn enter(&mut self, now: Nanos, token: u32, bytes: u32) -> Entered {
        self.meter.count(u64::from(bytes));
        if !self.ahead {
            return self.enter_queue(now, token, bytes);
        }
        let (at, limit) = (self.open_at.max(now), self.held_by);
        let passes = self.told == 0 && self.open_at <= now;
        self.charge(at, bytes);
        if passes {
            return Entered::Passed;
        }
        self.meter.enter(now);
        self.told += 1;
        Entered::Leaves(at, limit)
    }

    /// The same where tokens are told when they will leave, and the next step begins no earlier than that. A token that
    /// leaves alone, at `until` or before, has been in the stage then, and needs not say when it leaves.
    #[expect(
        clippy::inline_always,
        reason = "every I/O comes by here, and a call costs as much as the work"
    )]
    #[inline(always)]
    pub fn go_through(&mut self, now: Nanos, bytes: u32, until: Nanos) -> Through {
        self.meter.count(u64::from(bytes));
        let (at, limit) = (self.open_at.max(now), self.held_by);
        let passes = self.told == 0 && self.open_at <= now;
        self.charge(at, bytes);
        if passes {
            return Through::Passed;
        }
        if at <= until && self.open_at > at {
            self.meter.passes(now, at);
            return Through::Leaves(at, limit);
        }
        self.meter.enter(now);
        self.told += 1;
        Through::Stays(at, limit)
    }

    /// A token that was told its time leaves.
    #[inline]
    pub fn leave(&mut self, now: Nanos) {
        self.told -= 1;
        self.meter.leave(now);
    }

    /// A token that was told its time needs not say when it leaves: none other leaves then. It stays in the stage.
    /// Says whether that is so.
    #[inline]
    pub fn leaves_alone(&mut self, at: Nanos) -> bool {
        let alone = self.open_at > at;
        self.told -= u32::from(alone);
        alone
    }

    /// The same where tokens wait in the queue.
    #[expect(
        clippy::inline_always,
        reason = "every I/O comes by here, and a call costs as much as the work"
    )]
    #[inline(always)]
    fn enter_queue(&mut self, now: Nanos, token: u32, bytes: u32) -> Entered {
        let first = self.queue.is_empty();
        if first && self.open_at <= now {
            self.charge(now, bytes);
            return Entered::Passed;
        }
        self.meter.enter(now);
        self.queue.push_back(Waiting {
            token,
            bytes,
            since: now,
        });
        if first {
            Entered::Waits(self.open_at)
        } else {
            Entered::Queued
        }
    }

    /// The head leaves if the limits let it: the token, and the limit that held it.
    #[expect(
        clippy::inline_always,
        reason = "every I/O comes by here, and a call costs as much as the work"
    )]
    #[inline(always)]
    pub fn release(&mut self, now: Nanos) -> Option<(Waiting, Limit)> {
        let released = self.release_inside(now)?;
        self.meter.leave(now);
        Some(released)
    }

    /// The same for a token that goes where it still counts to the stage, or that will be said to have left.
    #[expect(
        clippy::inline_always,
        reason = "every I/O comes by here, and a call costs as much as the work"
    )]
    #[inline(always)]
    pub fn release_inside(&mut self, now: Nanos) -> Option<(Waiting, Limit)> {
        let head = self.queue.front()?;
        if self.open_at > now {
            return None;
        }
        let limit = self.held_by;
        self.queue.pop_front();
        self.charge(now, head.bytes);
        Some((head, limit))
    }

    /// The token that leaves next, if there is one.
    #[inline]
    pub fn head(&self) -> Option<u32> {
        self.queue.front().map(|head| head.token)
    }

    /// When the head may leave, if there is one.
    #[inline]
    pub fn next_departure(&self) -> Option<Nanos> {
        (!self.queue.is_empty()).then_some(self.open_at)
    }

    /// Its limits on I/Os and on bytes.
    pub fn rates(&self) -> (Option<Rate>, Option<Rate>) {
        match &self.gate {
            Gate::Plain(pace) => pace.limits().rates(),
            Gate::Limits(limits) => limits.rates(),
        }
    }

    /// It has other limits from `now` on, or lets nothing go. Its departure must be put in its new place.
    pub fn change(
        &mut self,
        now: Nanos,
        rates: (Option<Rate>, Option<Rate>),
        (tolerance, stalled): (Nanos, bool),
    ) {
        let mut limits = match &self.gate {
            Gate::Plain(pace) => pace.limits(),
            Gate::Limits(limits) => limits.as_ref().clone(),
        };
        limits.change(now, rates, tolerance);
        self.meter.busy_until_only(now, limits.paid_at());
        self.has_limits = limits.iops.is_some() || limits.bytes.is_some();
        let was_stalled = self.held_by == Limit::Stall && !self.queue.is_empty();
        self.open_at = if stalled {
            Nanos::MAX
        } else {
            limits.earliest()
        };
        let (by_ios, by_bytes) = self.names;
        self.held_by = match limits.bytes_bind() {
            // What waits at a stage that was stalled has waited for that.
            _ if stalled || was_stalled => Limit::Stall,
            true => by_bytes,
            false => by_ios,
        };
        self.gate = Gate::Limits(Box::new(limits));
    }

    /// Takes out the tokens that wait and that `goes` says. Its departure must be put in its new place.
    pub fn take_out(&mut self, now: Nanos, goes: impl Fn(u32) -> bool) {
        for _ in self.queue.take_out(goes) {
            self.meter.leave(now);
        }
    }

    /// Credits left at `now`.
    pub fn levels(&self, now: Nanos) -> Levels {
        match &self.gate {
            Gate::Plain(_) => Levels::default(),
            Gate::Limits(limits) => limits.levels(now),
        }
    }

    pub fn has_limits(&self) -> bool {
        self.has_limits
    }

    #[expect(
        clippy::inline_always,
        reason = "every I/O comes by here, and a call costs as much as the work"
    )]
    #[inline(always)]
    fn charge(&mut self, now: Nanos, bytes: u32) {
        assert!(
            now >= self.open_at,
            "a limit never serves more than its allowance"
        );
        let unit = self.io_unit;
        let count = |bytes: u64| {
            if unit == 0 {
                1
            } else {
                bytes.div_ceil(unit).max(1)
            }
        };
        let bytes = u64::from(bytes);
        let taken = match &mut self.gate {
            Gate::Plain(pace) => {
                let taken = pace.take(now, bytes, count);
                self.meter.busy_on(now, taken.paid_at);
                taken
            }
            Gate::Limits(limits) => {
                limits.take(now, count(bytes), bytes);
                let paid_at = limits.paid_at();
                self.meter.busy(now, paid_at);
                Taken {
                    paid_at,
                    open_at: limits.earliest(),
                    bytes_bind: limits.bytes_bind(),
                }
            }
        };
        self.open_at = taken.open_at;
        let (by_ios, by_bytes) = self.names;
        self.held_by = if taken.bytes_bind { by_bytes } else { by_ios };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stage(iops: u64, bytes: u64, io_unit: u64) -> Stage {
        let rate = |rate| Some(Rate::Steady(rate));
        let limits = Limits::new(rate(iops), rate(bytes), Nanos::ZERO);
        Stage::new(StageKind::Disk, limits, io_unit)
    }

    /// The token that leaves at so many milliseconds, when it came, and what held it.
    fn left(stage: &mut Stage, milliseconds: u64) -> Option<(u32, u64, Limit)> {
        let released = stage.release(Nanos::from_millis(milliseconds));
        released.map(|(waiting, limit)| (waiting.token, waiting.since.get(), limit))
    }

    #[test]
    fn tokens_leave_in_order_when_the_limits_let_them() {
        let mut stage = stage(1000, 1_000_000_000, 0);
        assert_eq!(stage.enter(Nanos::ZERO, 7, 4096), Entered::Passed);
        assert_eq!(
            stage.enter(Nanos::ZERO, 8, 4096),
            Entered::Waits(Nanos::from_millis(1))
        );
        assert_eq!(stage.enter(Nanos::ZERO, 9, 4096), Entered::Queued);
        assert_eq!(stage.release(Nanos::from_micros(999)), None);
        assert_eq!(left(&mut stage, 1), Some((8, 0, Limit::DiskIops)));
        assert_eq!(stage.next_departure(), Some(Nanos::from_millis(2)));
        assert_eq!(left(&mut stage, 2), Some((9, 0, Limit::DiskIops)));
        assert_eq!(stage.next_departure(), None);
    }

    #[test]
    fn large_ios_count_as_several() {
        #[track_caller]
        fn check(bytes: u32, unit: u64, milliseconds: u64) {
            let mut stage = stage(1000, 1_000_000_000_000, unit);
            stage.enter(Nanos::ZERO, 0, bytes);
            let next = stage.enter(Nanos::ZERO, 1, bytes);
            assert_eq!(
                next,
                Entered::Waits(Nanos::from_millis(milliseconds)),
                "{bytes}"
            );
        }
        check(4096, 256 << 10, 1);
        check(256 << 10, 256 << 10, 1);
        check((256 << 10) + 1, 256 << 10, 2);
        check(1 << 20, 256 << 10, 4);
        check(1 << 20, 0, 1);
    }
}
