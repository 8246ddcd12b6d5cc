//! What happens in a stage, in order: events of storage first, then those of workers; each completion lets its worker go on.
//!
//! A closed loop's next I/O takes the place of the one that ended (`Turns`), as long as nothing else is due.

use fathom_model::{ClosedLoops, Completed, Turn, Waits};
use fathom_units::Nanos;
use fathom_workload::Direction;

use super::issue::{kind_of, request_of};
use super::{Route, Run, UNWATCHED, errno_of};
use crate::agenda::Due;
use crate::intervals::Intervals;
use crate::worker::Worker;

impl Run<'_, '_> {
    /// The next event of all happens; the model's go first. `false`: there is none.
    #[expect(
        clippy::inline_always,
        reason = "every I/O comes by here, and a call costs as much as the work"
    )]
    #[inline(always)]
    pub(super) fn happen(&mut self) -> bool {
        let end = self.setup.start.saturating_add(self.intervals.end());
        let end = end.saturating_sub(Nanos::new(1));
        let latest = self.agenda.next_at().min(self.gauges.last_before());
        let latest = latest.min(end);
        if self.storage.has_requests()
            && let Some(at) = self.advance_until(latest)
        {
            assert!(at >= self.now, "the clock only goes forward");
            self.now = at;
            if !self.completed.is_empty() {
                self.settle();
            }
            return true;
        }
        self.happen_by_rules()
    }

    /// What is due in storage at `latest` or before happens, and closed loops go on; gives the time of the last event.
    #[expect(
        clippy::inline_always,
        reason = "every I/O comes by here, and a call costs as much as the work"
    )]
    #[inline(always)]
    fn advance_until(&mut self, latest: Nanos) -> Option<Nanos> {
        let mut turns = Turns {
            workers: &mut self.workers,
            routes: &self.routes,
            intervals: &mut self.intervals,
        };
        let completed = &mut self.completed;
        self.storage.advance_turning(latest, completed, &mut turns)
    }

    /// The same where it may not be an event of the model's alone, or comes with a sample.
    #[inline(never)]
    fn happen_by_rules(&mut self) -> bool {
        let own = self.agenda.next_due();
        // What storage does by itself holds no stage open.
        if own.is_none() && !self.storage.has_requests() {
            return false;
        }
        match self.storage.next_due() {
            Some(at) if own.is_none_or(|own| at <= own) => {
                self.go_to(at);
                self.storage.advance(&mut self.completed);
                self.settle();
            }
            _ => {
                let Some((at, due)) = self.agenda.pop() else {
                    return false;
                };
                self.go_to(at);
                self.handle(due);
            }
        }
        true
    }

    #[inline]
    fn go_to(&mut self, at: Nanos) {
        assert!(at >= self.now, "the clock only goes forward");
        if at >= self.gauges.due() {
            self.gauges.read_until(at, self.storage);
        }
        self.now = at;
    }

    #[inline]
    fn handle(&mut self, due: Due) {
        match due {
            Due::Worker(index) => {
                self.workers[index as usize].wake(self.now);
                self.pump(index);
                self.settle();
            }
            Due::Measure => {
                self.storage.restart_statistics(self.now);
                self.storage.unwatched_until(Nanos::MAX);
                self.gauges.begin(self.now, self.storage);
                self.count_all_recent();
                self.intervals
                    .measure(self.now - self.setup.start, self.sink);
            }
        }
    }

    /// Handles completions until none are left.
    #[inline(never)]
    fn settle(&mut self) {
        while let Some(last) = self.completed.len().checked_sub(1) {
            self.complete(last);
        }
    }

    /// Handles the last completion, which stands at `place`: there, since to take it out would copy it.
    #[expect(
        clippy::inline_always,
        reason = "every I/O comes by here, and a call costs as much as the work"
    )]
    #[inline(always)]
    fn complete(&mut self, place: usize) {
        let Some(Completed { tag, waits, error }) = self.completed.get(place) else {
            return;
        };
        let (tag, error) = (*tag, *error);
        if tag == UNWATCHED {
            self.completed.truncate(place);
            return;
        }
        let index = (tag >> 32) as u32;
        let worker = &mut self.workers[index as usize];
        if let Some(error) = error {
            if worker.fail(self.now, tag as u32, errno_of(error)) {
                self.begin_due_interval();
                self.intervals
                    .record_failure(self.now - self.setup.start, self.sink);
            }
        } else if let Some(io) = worker.complete(self.now, tag as u32, waits) {
            if self.now - self.setup.start >= self.intervals.end() {
                self.begin_interval();
            }
            if self.workers[index as usize].put_aside(io) {
                self.count_recent(index as usize, io.0);
            }
            if !self.logs.is_empty() {
                let of = (self.setup.index, index, tag as u32);
                self.logs.completed(of, self.now, io, self.sink);
            }
        } else if let Some(latency) = self.workers[index as usize].take_synced() {
            self.count_sync(latency);
        }
        self.completed.truncate(place);
        self.pump(index);
    }

    /// Counts what workers have put aside, of one direction.
    #[inline(never)]
    fn count_recent(&mut self, index: usize, direction: Direction) {
        let job = self.routes[index].job;
        count_recent(
            &mut self.workers[index],
            direction,
            job,
            &mut self.intervals,
        );
    }

    /// The same of all workers and directions.
    pub(super) fn count_all_recent(&mut self) {
        for index in 0..self.workers.len() {
            for direction in Direction::ALL {
                if self.workers[index].has_recent(direction) {
                    self.count_recent(index, direction);
                }
            }
        }
    }

    /// Counts a sync for its second.
    #[inline(never)]
    fn count_sync(&mut self, latency: Nanos) {
        self.begin_due_interval();
        self.intervals
            .record_sync(self.now - self.setup.start, latency, self.sink);
    }

    /// Closes the present interval where what ends now is not of it any more.
    fn begin_due_interval(&mut self) {
        if self.now - self.setup.start >= self.intervals.end() {
            self.begin_interval();
        }
    }

    /// The present interval is over.
    #[cold]
    fn begin_interval(&mut self) {
        self.count_all_recent();
        self.intervals.roll(self.now - self.setup.start, self.sink);
        if !self.is_cut && self.sink.ends_stage() {
            self.is_cut = true;
            for (index, worker) in self.workers.iter_mut().enumerate() {
                worker.end_at(self.now);
                self.agenda.push(self.now, Due::Worker(index as u32));
            }
        }
    }
}

/// The workers of a stage in an interval.
struct Turns<'s, 'r> {
    workers: &'s mut [Worker],
    routes: &'s [Route<'r>],
    intervals: &'s mut Intervals,
}

impl ClosedLoops for Turns<'_, '_> {
    #[expect(
        clippy::inline_always,
        reason = "every I/O comes by here, and a call costs as much as the work"
    )]
    #[inline(always)]
    fn next(&mut self, now: Nanos, tag: u64, waits: &Waits) -> Turn {
        let (index, slot) = ((tag >> 32) as usize, tag as u32);
        let Some(worker) = self.workers.get_mut(index) else {
            return Turn::Unknown;
        };
        let Some((io, full)) = worker.turn(now, slot, waits) else {
            return Turn::Unknown;
        };
        let route = &self.routes[index];
        if let Some(direction) = full {
            count_recent(worker, direction, route.job, self.intervals);
        }
        match io {
            Some(io) => Turn::Next(request_of(route, &io, kind_of(io.direction), tag)),
            None => Turn::Over,
        }
    }
}

/// Counts what a worker of `job` has put aside, of one direction.
#[inline(never)]
fn count_recent(worker: &mut Worker, direction: Direction, job: usize, intervals: &mut Intervals) {
    let recent = worker.count_recent(direction, intervals.counting(direction));
    intervals.count_for_job(job, direction, recent);
    recent.clear();
}
