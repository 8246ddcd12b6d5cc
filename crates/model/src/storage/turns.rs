//! I/Os in closed loops: as one ends, its place is taken by the next.
//!
//! Of most jobs a worker keeps its I/Os outstanding, so that what an I/O gives back when it is over (its token, its place
//! in its volume, a record of what it was) is taken again at once. Here a driver that has the next I/O says so in the
//! moment in which one ends, and nothing is given back.
//!
//! Invariant: everything is as if the I/O had been handed out as completed, and the next submitted then.

use fathom_units::Nanos;

use super::Storage;
use super::VolumeKind;
use super::agenda::Event;
use super::path::NONE;
use super::token::Effect;
use crate::limit::Waits;
use crate::request::{Completed, IoKind, Request};

/// Most events until a driver is asked whether it goes on.
const MOST_EVENTS: u32 = 1 << 8;

/// What follows when an I/O is over.
#[derive(Debug, Clone, Copy)]
pub enum Turn {
    /// This is submitted in its place.
    Next(Request),
    /// Nothing until a time beyond that up to which storage may go on.
    Over,
    /// The I/O is to be handed out as completed. Nothing has changed yet.
    Unknown,
}

/// Those who know in the moment in which one of their I/Os is over what follows.
pub trait ClosedLoops {
    /// An I/O with this tag, which waited so, is over `now`.
    fn next(&mut self, now: Nanos, tag: u64, waits: &Waits) -> Turn;
}

impl Storage {
    /// [`Self::advance_until`] for closed loops: I/Os that end are told to `loops`, and those alone are appended to
    /// `completed` of which it does not know what follows. Also returns from time to time while nothing completes, with the
    /// time it has come to.
    #[expect(
        clippy::inline_always,
        reason = "every I/O comes by here, and a call costs as much as the work"
    )]
    #[inline(always)]
    pub fn advance_turning(
        &mut self,
        latest: Nanos,
        completed: &mut Vec<Completed>,
        loops: &mut impl ClosedLoops,
    ) -> Option<Nanos> {
        let mut last = None;
        for _ in 0..MOST_EVENTS {
            let Some((now, event)) = self.agenda.pop(latest.get()) else {
                break;
            };
            match event {
                Event::Token(slot) => {
                    self.bring_near();
                    self.ends_or_goes_on(now, slot, completed, loops);
                }
                Event::Departure(stage) => {
                    self.bring_near();
                    self.departs(now, stage, completed);
                }
                Event::Flush(cache) => self.flush_cache(now, cache, completed),
            }
            if !self.ready.is_empty() {
                self.settle(now, completed);
            }
            last = Some(now);
            if !completed.is_empty() {
                break;
            }
        }
        last
    }

    /// A token's delay is over, or it leaves a stage at the time that it was told.
    #[expect(
        clippy::inline_always,
        reason = "every I/O comes by here, and a call costs as much as the work"
    )]
    #[inline(always)]
    fn ends_or_goes_on(
        &mut self,
        now: Nanos,
        slot: u32,
        completed: &mut Vec<Completed>,
        loops: &mut impl ClosedLoops,
    ) {
        let token = self.tokens.get(slot);
        if let Some(inside) = self.paths.ending(token.step)
            && token.io == NONE
            && let Some(volume) = self.volumes.get_mut(token.volume as usize)
        {
            match token.effect {
                Effect::None => {}
                Effect::Fill(cache, offset) => {
                    self.caches[cache as usize].fill(offset, u64::from(token.bytes));
                }
                _ => return self.go_on_from_anywhere(now, slot, completed),
            }
            if let Some(stage) = self.stages.get_mut(inside as usize) {
                stage.meter.leave(now);
            }
            let waits = &token.waited.0;
            let over = match loops.next(now, token.tag, waits) {
                Turn::Next(request) => {
                    let place = (slot, token.volume);
                    self.follow(now, place, request, completed);
                    return;
                }
                Turn::Over => None,
                Turn::Unknown => Some(Completed {
                    tag: token.tag,
                    waits: waits.copied(),
                    error: None,
                }),
            };
            volume.meter.leave(now);
            self.requests -= 1;
            completed.extend(over);
            self.tokens.give_back(slot);
        } else {
            self.go_on_from_anywhere(now, slot, completed);
        }
    }

    /// An I/O is submitted in the moment in which the one in `slot`, of the volume `before`, ends.
    #[expect(
        clippy::inline_always,
        reason = "every I/O comes by here, and a call costs as much as the work"
    )]
    #[inline(always)]
    fn follow(
        &mut self,
        now: Nanos,
        (slot, before): (u32, u32),
        request: Request,
        completed: &mut Vec<Completed>,
    ) {
        let volume = &mut self.volumes[request.volume.index()];
        let moves_data = matches!(request.kind, IoKind::Read | IoKind::Write);
        if before as usize == request.volume.index()
            && moves_data
            && volume.kind == VolumeKind::Disks
        {
            let length = u64::from(request.length.max(1));
            let part = volume.stripe.first_part(request.offset, length);
            if part.length == length {
                volume.meter.count(u64::from(request.length));
                self.start_part(now, slot, request, (NONE, 0), part, completed);
                return;
            }
        }
        self.follow_elsewhere(now, slot, &{ request }, completed);
    }

    /// The same where it goes to another volume, or is not of one part.
    #[inline(never)]
    fn follow_elsewhere(
        &mut self,
        now: Nanos,
        slot: u32,
        request: &Request,
        completed: &mut Vec<Completed>,
    ) {
        let before = self.tokens.get(slot).volume;
        self.tokens.give_back(slot);
        self.volumes[before as usize].meter.leave(now);
        self.requests -= 1;
        self.submit(now, *request, completed);
    }
}
