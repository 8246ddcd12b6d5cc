//! Pauses between I/Os, as peers call them: think time.
//!
//! After every so many I/Os a worker does nothing for a while. Where completed I/Os are counted, the queue drains before
//! the pause begins; where issued ones are, what is in flight goes on.
//!
//! Work between I/Os is counted in rounds of an idle loop instead of time, as fio has it.

use fathom_rawio::Clock;
use fathom_units::Nanos;
use fathom_workload::{Pacing, ThinkCounts, ThinkTime};

use super::source::Next;

/// Rounds of the idle loop before the worker looks at its clock and its orders again: some milliseconds at most.
const ROUNDS_AT_A_TIME: u32 = 1 << 16;

/// Work that follows each I/O.
#[derive(Debug)]
pub(super) struct Work {
    rounds: u32,
    /// Of the last I/O.
    left: u32,
}

impl Work {
    /// `None` where there is none.
    pub(super) fn of(rounds: u32) -> Option<Self> {
        (rounds > 0).then_some(Self { rounds, left: 0 })
    }

    pub(super) fn issued(&mut self) {
        self.left = self.rounds;
    }

    /// Does some of it, and says whether there is more.
    pub(super) fn goes_on(&mut self) -> bool {
        let now = self.left.min(ROUNDS_AT_A_TIME);
        for _ in 0..now {
            std::hint::spin_loop();
        }
        self.left -= now;
        self.left > 0
    }
}

/// The pauses of one worker.
#[derive(Debug)]
pub(super) struct Pauses {
    think: ThinkTime,
    /// I/Os counted since the last pause.
    counted: u32,
    issued: u32,
    /// When the pause is over; `None` outside one.
    until: Option<Nanos>,
    /// End of the last pause, or the first I/O.
    worked_from: Option<Nanos>,
    /// Pauses that a rate stood still in and was not told of yet.
    stood: Nanos,
}

impl Pauses {
    pub(super) fn new(think: ThinkTime) -> Self {
        Self {
            think,
            counted: 0,
            issued: 0,
            until: None,
            worked_from: None,
            stood: Nanos::ZERO,
        }
    }

    /// What the worker must wait for, if anything.
    pub(super) fn wait(&mut self, now: Nanos, in_flight: u32) -> Option<Next> {
        if let Some(until) = self.until {
            if now < until {
                return Some(Next::NotBefore(until));
            }
            self.until = None;
            self.worked_from = Some(now);
            if self.think.stops_rate {
                self.stood = self.think.pause;
            }
        }
        let worked = now.saturating_sub(*self.worked_from.get_or_insert(now));
        let after = self.think.after;
        let is_time = after > Nanos::ZERO && worked >= after;
        let is_due = |count: u32| is_time || count >= self.think.every;
        let counted = match self.think.counts {
            ThinkCounts::Issued => self.issued,
            ThinkCounts::Completed if is_due(self.issued) && in_flight > 0 => {
                return Some(Next::AfterCompletion);
            }
            ThinkCounts::Completed => self.counted,
        };
        if !is_due(counted) {
            return None;
        }
        (self.counted, self.issued) = (0, 0);
        let spun = now + self.think.spin.min(self.think.pause);
        while Clock::now() < spun {
            std::hint::spin_loop();
        }
        let until = now + self.think.pause;
        self.until = Some(until);
        Some(Next::NotBefore(until))
    }

    /// The length of the pause that has just ended, once, where rates stand still in it; zero otherwise.
    pub(super) fn take_stood(&mut self) -> Nanos {
        std::mem::take(&mut self.stood)
    }

    /// When the last pause was over, where nothing was issued since.
    pub(super) fn rested_until(&self) -> Option<Nanos> {
        self.worked_from.filter(|_| self.issued == 0)
    }

    pub(super) fn issued(&mut self, now: Nanos) {
        self.worked_from.get_or_insert(now);
        self.issued += 1;
    }

    /// The next pause lasts that long.
    pub(super) fn last_for(&mut self, pause: Nanos) {
        self.think.pause = pause;
    }

    pub(super) fn completed(&mut self) {
        self.counted += 1;
    }
}

/// How far a rate that stood still in a pause of `pause` is moved: where its I/Os, of `block` bytes at least, come closer
/// together than that, the next is due as the pause ends, as in fio 3.42 (`handle_thinktime` of backend.c).
pub(super) fn moved_by(pause: Nanos, rate: Pacing, block: u64) -> Nanos {
    let (units, per_second) = match rate {
        Pacing::Iops(rate) => (1, rate.get()),
        Pacing::Bytes(rate) => (block, rate.get()),
    };
    let gap = u128::from(units) * 1_000_000_000 / u128::from(per_second.max(1));
    let gap = Nanos::new(u64::try_from(gap).unwrap_or(u64::MAX));
    if gap <= pause { pause - gap } else { pause }
}
