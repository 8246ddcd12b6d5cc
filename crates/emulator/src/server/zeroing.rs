//! Ranges that become zeroes a part at a time, where a crash may bring back what was there.
//!
//! What is zeroed is copied first, about a millisecond for each megabyte of data. So a range is zeroed for a moment in each
//! turn of the loop, and everybody else is served in between. What of it enters the model has been zeroed before: a step
//! is held where the model is faster, which counts as emulation error.
//!
//! Invariant: nothing else changes bytes of a block of the range until it is done.

use std::collections::VecDeque;

use fathom_nbd::NbdError;
use fathom_rawio::Clock;
use fathom_units::Nanos;

use super::{STEP, Server, next_step};
use crate::in_flight::{Io, Sync};
use crate::pace::HandedOn;
use crate::undo::{BLOCK, Undo};

/// Bytes that are zeroed in one go, some tens of microseconds.
pub(super) const PART: u64 = 64 << 10;
/// How long is zeroed in one turn of the loop.
const TURN: Nanos = Nanos::from_micros(100);

/// A range on its way.
#[derive(Debug)]
pub(super) struct Zeroing {
    /// The I/O's number, which another may have after a crash, and what names it.
    io: (u32, (u32, u64)),
    offset: u64,
    at: u64,
    end: u64,
    /// What its client's last answer hands on to it.
    handed_on: HandedOn,
    stage: Stage,
}

/// Where the model is with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// It has nothing of it yet.
    Outside,
    /// It has the step that was zeroed last but one, or last.
    Inside,
    /// It could have the next step since this time.
    Waits(Nanos),
}

/// All ranges on their way; the first is worked on.
#[derive(Debug, Default)]
pub(super) struct Zeroings(VecDeque<Zeroing>);

impl Zeroings {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether any block of a range is to become zeroes still.
    #[inline]
    pub fn touches(&self, export: usize, offset: u64, length: u64) -> bool {
        let (start, end) = (
            offset / BLOCK,
            offset.saturating_add(length).div_ceil(BLOCK),
        );
        let touches = |one: &Zeroing| {
            one.io.1.0 as usize == export
                && one.offset / BLOCK < end
                && start < one.end.div_ceil(BLOCK)
        };
        self.0.iter().any(touches)
    }

    /// Whether the next step of an I/O is not zeroed yet: the model gets it later.
    #[inline]
    pub fn holds(&mut self, number: u32, io: &Io, now: Nanos) -> bool {
        let mut all = self.0.iter_mut();
        let Some(own) = all.find(|one| one.io == (number, io.identity())) else {
            return false;
        };
        let holds = own.at < step_end(io);
        if holds {
            own.stage = Stage::Waits(now);
        }
        holds
    }
}

/// Where the next step of an I/O ends.
fn step_end(io: &Io) -> u64 {
    io.offset + u64::from(io.length - io.left + io.left.min(STEP))
}

impl Server<'_> {
    /// Whether a range of an export becomes zeroes a part at a time.
    pub(super) fn zeroes_in_parts(&self, export: usize, length: u64) -> bool {
        length > PART && self.undo[export].is_some()
    }

    /// Begins to make the range of an I/O zeroes.
    pub(super) fn zero_in_parts(&mut self, mut io: Io, handed_on: HandedOn) {
        (io.sync, io.reached) = (Sync::Hole, 0);
        let (offset, identity) = (io.offset, io.identity());
        let end = offset + u64::from(io.length);
        self.zeroings.0.push_back(Zeroing {
            io: (self.ios.put(io), identity),
            offset,
            at: offset,
            end,
            handed_on,
            stage: Stage::Outside,
        });
    }

    /// Zeroes for a moment.
    pub(super) fn zero_on(&mut self) {
        if self.zeroings.is_empty() {
            return;
        }
        let until = Clock::now() + TURN;
        while self.zero_next() && Clock::now() < until {}
    }

    /// Zeroes everything that is to be.
    pub(super) fn zero_all(&mut self) {
        while self.zero_next() {}
    }

    /// Zeroes the next part; `false`: there is none.
    fn zero_next(&mut self) -> bool {
        let Some(mut one) = self.zeroings.0.pop_front() else {
            return false;
        };
        let export = one.io.1.0 as usize;
        let era = self.undo[export].as_ref().map_or(0, Undo::era);
        let io = self.ios.get_mut(one.io.0);
        let Some(io) = io.filter(|io| io.identity() == one.io.1) else {
            // A crash has ended it.
            self.go_on();
            return true;
        };
        // What a crash has undone of it must not be acknowledged.
        let was_undone = io.era != era;
        let stop = ((one.at / PART + 1) * PART).min(one.end);
        io.reached = (stop - one.offset) as u32;
        let zeroed = match self.there(export) {
            Ok(()) if was_undone => Err(NbdError::Io),
            Ok(()) => self.zero_part(export, one.io.1.1, (one.at, stop - one.at)),
            Err(error) => Err(error),
        };
        if let Err(error) = zeroed {
            self.zeroing_failed(&one, error);
            self.go_on();
            return true;
        }
        one.at = stop;
        self.zeroings.0.push_front(one);
        self.next_is_zeroed();
        true
    }

    /// The first range has a part more: the model gets its next step, and the client its answer, if they wait for that.
    fn next_is_zeroed(&mut self) {
        let Some(one) = self.zeroings.0.front() else {
            return;
        };
        let ((number, _), stage, is_done) = (one.io, one.stage, one.at == one.end);
        let (at, handed_on) = (one.at, one.handed_on);
        let Some(io) = self.ios.get_mut(number) else {
            return;
        };
        let step = (io.left > 0 && at >= step_end(io)).then_some(stage);
        if let (Some(Stage::Outside | Stage::Waits(_)), Some(one)) =
            (step, self.zeroings.0.front_mut())
        {
            one.stage = Stage::Inside;
        }
        if is_done {
            self.zeroings.0.pop_front();
            self.hole_of(number, Ok(()));
            self.go_on();
        }
        match step {
            Some(Stage::Outside) => self.zeroing_enters(number, handed_on),
            Some(Stage::Waits(since)) => self.zeroing_goes_on(number, since),
            _ => {}
        }
    }

    /// The first step is zeroed.
    fn zeroing_enters(&mut self, number: u32, handed_on: HandedOn) {
        let now = self.pace.at(Clock::now());
        if let Some(io) = self.ios.get_mut(number) {
            let asked = self.pace.sent_at(io.asked, handed_on);
            io.sent = asked.max(now);
            io.held = io.sent.saturating_sub(asked);
            self.admit(number);
        }
    }

    /// The step that the model could have had `since` then is zeroed.
    fn zeroing_goes_on(&mut self, number: u32, since: Nanos) {
        let now = self.pace.at(Clock::now());
        self.let_happen(now);
        let Some(io) = self.ios.get_mut(number) else {
            return;
        };
        io.held += now.saturating_sub(since);
        let request = next_step(io, number, self.exports);
        self.pace.submit(now, request, &mut self.completed);
        self.settle(now);
    }

    /// What is to become zeroes on volumes that are gone fails now: they may be back before its next part.
    pub(super) fn turn_zeroings_away(&mut self) {
        for one in std::mem::take(&mut self.zeroings.0) {
            if self.there(one.io.1.0 as usize).is_ok() {
                self.zeroings.0.push_back(one);
                continue;
            }
            let io = self.ios.get_mut(one.io.0);
            if io.is_some_and(|io| io.identity() == one.io.1) {
                self.zeroing_failed(&one, NbdError::Io);
            }
            self.go_on();
        }
    }

    /// A part could not be zeroed: nothing more of it is.
    fn zeroing_failed(&mut self, one: &Zeroing, error: NbdError) {
        let now = self.pace.at(Clock::now());
        let Some(io) = self.ios.get_mut(one.io.0) else {
            return;
        };
        (io.error, io.left, io.sync) = (Some(error), 0, Sync::Done);
        if one.stage != Stage::Inside {
            io.due.get_or_insert(now);
        }
        if io.due.is_some() {
            self.answer(one.io.0);
        }
    }
}
