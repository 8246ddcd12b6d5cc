//! Ranges that become zeroes a part at a time, where a crash may bring back what was there.
//!
//! What is zeroed is copied first, about a millisecond for each megabyte of data. So a range is zeroed for a moment in each
//! turn of the loop, and everybody else is served in between. What of it enters the model has been zeroed before: a step
//! is held where the model is faster, which counts as emulation error.
//!
//! Where copies have the room that a part needs for its own, it waits (`room.rs`). The model gets what is zeroed by then, in a
//! shorter step; once it is done with that, the copies of it go as disks get the zeroes, and the caches are written out for it.
//!
//! Invariants: nothing else changes bytes of a block of the range until it is done; no part waits longer than for the model and
//! one such flush; ranges that wait keep no other waiting.

use std::collections::VecDeque;

use fathom_nbd::NbdError;
use fathom_rawio::Clock;
use fathom_units::Nanos;

use super::kept::write_of;
use super::{STEP, Server, Starved, Turn, next_step};
use crate::in_flight::{Io, Sync};
use crate::pace::HandedOn;
use crate::undo::{BLOCK, Undo, With};

/// Bytes that are zeroed in one go, some tens of microseconds.
pub(super) const PART: u64 = 64 << 10;
/// How long is zeroed in one turn of the loop.
const TURN: Nanos = Nanos::from_micros(100);
/// After it has waited for room, a range is zeroed on to the next multiple of this, whatever room there is.
const PORTION: u64 = 1 << 20;

/// A range on its way.
#[derive(Debug, Clone, Copy)]
pub(super) struct Zeroing {
    /// The I/O's number, which another may have after a crash, and what names it.
    io: (u32, (u32, u64)),
    offset: u64,
    at: u64,
    end: u64,
    /// What its client's last answer hands on to it.
    handed_on: HandedOn,
    stage: Stage,
    /// Its next part lacks room.
    starved: Option<Starved>,
    /// How long parts have waited for room, and how far they take it without asking.
    waited: Nanos,
    taken: u64,
}

impl Zeroing {
    /// Whether its next part does not wait for anything.
    fn is_ready(&self) -> bool {
        self.starved.is_none_or(|one| one.turn != Turn::Waits)
    }
}

/// What the model is to get of a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// A step, once all of it is zeroed.
    Whole,
    /// What is zeroed.
    Short,
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

/// All ranges on their way; the first of those that do not wait is worked on.
#[derive(Debug, Default)]
pub(super) struct Zeroings(VecDeque<Zeroing>);

impl Zeroings {
    /// Whether nothing can be zeroed now.
    pub fn is_idle(&self) -> bool {
        !self.0.iter().any(Zeroing::is_ready)
    }

    /// Those that lack room have a turn.
    pub fn feed(&mut self, turn: Turn) {
        for starved in self.0.iter_mut().filter_map(|one| one.starved.as_mut()) {
            starved.turn = turn;
        }
    }

    /// Those that wait look again, since there may be no room needed any more.
    pub fn look_again(&mut self) {
        let all = self.0.iter_mut().filter(|one| !one.is_ready());
        for starved in all.filter_map(|one| one.starved.as_mut()) {
            starved.turn = Turn::Looks;
        }
    }

    /// The range that is worked on, which is the first from now on.
    fn next(&mut self) -> Option<Zeroing> {
        let place = self.0.iter().position(Zeroing::is_ready)?;
        let one = self.0.remove(place)?;
        self.0.push_front(one);
        Some(one)
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
            if let Some(starved) = own.starved.as_mut().filter(|one| one.turn == Turn::Waits) {
                starved.turn = Turn::Looks;
            }
        }
        holds
    }
}

/// Where the next step of an I/O begins: the model has got what is before.
fn step_start(io: &Io) -> u64 {
    io.offset + u64::from(io.length - io.left)
}

/// Where it ends.
fn step_end(io: &Io) -> u64 {
    step_start(io) + u64::from(io.left.min(STEP))
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
            starved: None,
            waited: Nanos::ZERO,
            taken: 0,
        });
    }

    /// Zeroes for a moment.
    pub(super) fn zero_on(&mut self) {
        if self.zeroings.is_idle() {
            return;
        }
        let until = Clock::now() + TURN;
        while self.zero_next() && Clock::now() < until {}
    }

    /// Zeroes the next part; `false`: there is none that can be.
    fn zero_next(&mut self) -> bool {
        let Some(one) = self.zeroings.next() else {
            return false;
        };
        let export = one.io.1.0 as usize;
        let era = self.undo[export].as_ref().map_or(0, Undo::era);
        let io = self.ios.get_mut(one.io.0);
        let Some(io) = io.filter(|io| io.identity() == one.io.1) else {
            // A crash has ended it.
            self.zeroings.0.pop_front();
            self.go_on();
            return true;
        };
        // What a crash has undone of it must not be acknowledged.
        let was_undone = (io.era != era).then_some(NbdError::Io);
        let failed = io.error.or(was_undone);
        let failed = failed.or(self.there(export).err());
        let stop = ((one.at / PART + 1) * PART).min(one.end);
        let part = (one.at, stop - one.at);
        if failed.is_none() && self.part_waits(&one, part) {
            return true;
        }
        let zeroed = match (failed, self.ios.get_mut(one.io.0)) {
            (None, Some(io)) => {
                io.reached = (stop - one.offset) as u32;
                self.zero_part(export, one.io.1.1, part)
            }
            (failed, _) => Err(failed.unwrap_or(NbdError::Io)),
        };
        if let Err(error) = zeroed {
            self.zeroings.0.pop_front();
            self.zeroing_failed(&one, error);
            self.go_on();
            return true;
        }
        if let Some(one) = self.zeroings.0.front_mut() {
            one.at = stop;
        }
        self.next_is_zeroed(Step::Whole);
        true
    }

    /// Whether the next part of the first range has to wait for room.
    fn part_waits(&mut self, one: &Zeroing, part: (u64, u64)) -> bool {
        let goes = one.starved.is_some_and(|one| one.turn == Turn::Goes);
        if !goes && one.at >= one.taken && self.part_starves(one, part) {
            return true;
        }
        if let Some((front, starved)) = self.zeroings.0.front_mut().zip(one.starved) {
            front.waited += Clock::now().saturating_sub(starved.since);
            if goes {
                front.taken = (one.at / PORTION + 1) * PORTION;
            }
        }
        if let Some(front) = self.zeroings.0.front_mut() {
            front.starved = None;
        }
        false
    }

    /// Whether the next part of the first range lacks room; then something is on the way after which it looks again.
    fn part_starves(&mut self, one: &Zeroing, part: (u64, u64)) -> bool {
        let export = one.io.1.0 as usize;
        if self.need(export, part, With::Zeroes).is_none() {
            return false;
        }
        if let Some(front) = self.zeroings.0.front_mut() {
            front.starved = Some(Starved {
                since: one.starved.map_or_else(Clock::now, |one| one.since),
                turn: Turn::Waits,
            });
        }
        let Some(io) = self.ios.get_mut(one.io.0) else {
            return false;
        };
        let done = step_start(io);
        if one.stage == Stage::Inside || one.at > done {
            self.next_is_zeroed(Step::Short);
            return true;
        }
        // The model is done with all that is zeroed. Where that is in no cache, a disk has it.
        let write = write_of(io);
        if let Some(undo) = self.undo[export].as_mut().filter(|_| done > one.offset) {
            undo.has_come_to(
                &self.disks[export],
                &mut self.budget,
                write,
                done - one.offset,
            );
        }
        let need = self.need(export, part, With::Zeroes);
        need.is_some_and(|need| self.make_room_for(need))
    }

    /// The first range has a part more, or waits: the model gets its next step, and the client its answer, if they wait for that.
    fn next_is_zeroed(&mut self, which: Step) {
        let Some(one) = self.zeroings.0.front() else {
            return;
        };
        let ((number, _), stage, is_done) = (one.io, one.stage, one.at == one.end);
        let (at, handed_on, waited) = (one.at, one.handed_on, one.waited);
        let Some(io) = self.ios.get_mut(number) else {
            return;
        };
        let is_zeroed = match which {
            Step::Whole => at >= step_end(io),
            Step::Short => at > step_start(io),
        };
        let step = (io.left > 0 && is_zeroed).then_some(stage);
        if let (Some(Stage::Outside | Stage::Waits(_)), Some(one)) =
            (step, self.zeroings.0.front_mut())
        {
            one.stage = Stage::Inside;
        }
        if is_done {
            self.zeroings.0.pop_front();
            if waited > Nanos::ZERO {
                self.has_waited(waited);
            }
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
