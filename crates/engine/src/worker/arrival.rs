//! Waiting for the next arrival of an open loop, or the end of a pause, with and without I/Os in flight.

use std::hint::spin_loop;
use std::io;

use fathom_rawio::{Queue, sleep_until};
use fathom_units::Nanos;

use super::source::Source;
use super::{LOOK_EVERY, Worker};

impl<Q: Queue, S: Source> Worker<'_, Q, S> {
    /// Submits what is in line and waits for completions, but no longer than to the next arrival if there is a slot for it.
    pub(super) fn wait_in_flight(&mut self, now: Nanos) -> io::Result<()> {
        let due = self
            .next_arrival()
            .filter(|due| *due < Nanos::MAX && self.is_issuing() && !self.free.is_empty());
        let Some(due) = due else {
            return self.queue.submit_and_wait(self.wait_least, None);
        };
        let planned = self.waking.before(due);
        if planned <= now {
            // Short before it, and after it, what has completed is looked for without a sleep.
            return self.queue.submit_and_wait(0, None);
        }
        let sleep = planned.saturating_sub(now);
        self.queue.submit_and_wait(self.wait_least, Some(sleep))?;
        if self.queue.arrived() == 0 {
            self.waking.note(planned, self.clock.now());
        }
        Ok(())
    }

    /// When the next I/O is due that waits for its moment.
    fn next_arrival(&self) -> Option<Nanos> {
        self.pending.map(|next| next.due).or(self.held_until)
    }

    /// Waits for the next arrival of an open loop that has nothing in flight; `false` where none will come.
    pub(super) fn wait_for_arrival(&mut self) -> bool {
        if !self.is_issuing() {
            return false;
        }
        let Some(due) = self.next_arrival() else {
            // The queue refused nothing and the source gave nothing: the end was just noted.
            return self.is_issuing();
        };
        let planned = self.waking.before(due);
        let moment = planned
            .min(self.boundaries.next_without_completions())
            .min(self.now + LOOK_EVERY);
        if self.clock.now() < moment {
            sleep_until(moment);
            self.waking.note(moment, self.clock.now());
        }
        let mut now = self.clock.now();
        // A sleep that a signal ended is gone on with.
        while planned <= now && now < due {
            spin_loop();
            now = self.clock.now();
        }
        self.integrate(now, 0);
        self.tick(now);
        true
    }
}
