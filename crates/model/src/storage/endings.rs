//! What follows when a token has passed its last step: its effect, room in windows, and the end of its I/O.
//!
//! Invariant: a token's slot is free when what follows begins, since that may start tokens.

use fathom_units::Nanos;

use super::Storage;
use super::path::NONE;
use super::token::{Effect, Token};
use crate::limit::Waits;
use crate::request::{Completed, IoError};

impl Storage {
    /// A token has passed its last step; `windows`: some step was a window.
    #[expect(
        clippy::inline_always,
        reason = "every I/O comes by here, and a call costs as much as the work"
    )]
    #[inline(always)]
    pub(super) fn finish(
        &mut self,
        now: Nanos,
        slot: u32,
        windows: bool,
        completed: &mut Vec<Completed>,
    ) {
        self.tokens.give_back(slot);
        let token = self.tokens.get(slot);
        if windows || token.effect != Effect::None {
            self.finish_with_effect(now, slot, windows, completed);
        } else if token.io != NONE {
            let (io, waits) = (token.io, token.waited.0);
            self.close_part(now, io, waits, completed);
        } else if let Some(volume) = self.volumes.get_mut(token.volume as usize) {
            self.requests -= 1;
            volume.meter.leave(now);
            completed.push(Completed {
                tag: token.tag,
                waits: token.waited.0.copied(),
                error: None,
            });
        }
    }

    /// The same where more happens than the end of an I/O.
    fn finish_with_effect(
        &mut self,
        now: Nanos,
        slot: u32,
        windows: bool,
        completed: &mut Vec<Completed>,
    ) {
        let token = *self.tokens.get(slot);
        // What follows may start tokens, which take the slot.
        let waits = token.waited.0;
        let error = self.take_effect(now, token, windows, completed);
        if token.volume == NONE {
            return;
        }
        if token.io == NONE {
            self.complete(now, (token.tag, token.volume), (waits, error), completed);
        } else {
            self.close_part(now, token.io, waits, completed);
        }
    }

    /// What the completion of a token brings with it but that of its I/O.
    fn take_effect(
        &mut self,
        now: Nanos,
        token: Token,
        windows: bool,
        completed: &mut Vec<Completed>,
    ) -> Option<IoError> {
        if windows {
            self.make_room(now, &token);
        }
        let length = u64::from(token.bytes);
        match token.effect {
            Effect::None => {}
            Effect::Fill(cache, offset) => self.caches[cache as usize].fill(offset, length),
            Effect::Dirty(flusher, offset) => {
                self.tell_cached(token.tag, flusher, (offset, length));
                self.cached_write(now, flusher, (offset, length), completed);
            }
            Effect::Written(run) => self.background_written(now, run, completed),
            Effect::Failed(error) => return Some(error),
        }
        None
    }

    /// A token leaves the windows of its path; others enter.
    fn make_room(&mut self, now: Nanos, token: &Token) {
        for window in self.paths.windows(token.path) {
            let window = &mut self.windows[window as usize];
            window.leave(now, token.bytes);
            while let Some((waiting, limit)) = window.admit_next() {
                let next = self.tokens.get_mut(waiting.token);
                next.step += 1;
                next.waited((waiting.since, now), limit);
                self.ready.push_back(waiting.token);
            }
        }
    }

    /// Everything enters a window that may.
    pub(super) fn admit_all(&mut self, now: Nanos, window: u32) {
        while let Some((waiting, limit)) = self.windows[window as usize].admit_next() {
            let next = self.tokens.get_mut(waiting.token);
            next.step += 1;
            next.waited((waiting.since, now), limit);
            self.ready.push_back(waiting.token);
        }
    }

    /// One part (or the submission itself) of an I/O of several parts is over.
    pub(super) fn close_part(
        &mut self,
        now: Nanos,
        parent: u32,
        waits: Waits,
        completed: &mut Vec<Completed>,
    ) {
        let io = self.parents.get_mut(parent);
        io.parts_left -= 1;
        if io.parts_left == 0 {
            let (tag, volume) = (io.tag, io.volume);
            self.parents.give_back(parent);
            self.complete(now, (tag, volume), (waits, None), completed);
        }
    }
}
