//! What a worker notes of each completion.

use fathom_rawio::{Completion, Queue, Taken};
use fathom_record::{
    EndReason, FailedOperation, HalfSecond, IoErrors, IoFailure, OpStats, WRONG_DATA, batch_level,
};
use fathom_units::Nanos;
use fathom_workload::generator::Io;
use fathom_workload::{Backend, Direction, ExistingFiles};

use super::source::{Source, Verdict};
use super::{FailedIo, Kind, Slot, Worker};
use crate::exports::GIVEN_UP;

/// Offsets kept of the failed I/Os of one kind.
const FIRST_OFFSETS: usize = 8;
/// `ENOSPC` and `EDQUOT`: the file system, or the user's quota of it, is full.
const IS_FULL: [i32; 2] = [28, 122];

/// Completions of one batch and direction that were submitted together: their times are equal, so they are counted as one.
#[derive(Debug, Clone, Copy, Default)]
struct Alike {
    begun: Nanos,
    submitted: Nanos,
    count: u64,
    bytes: u64,
}

/// Where reads, writes and trims are counted that did what they were asked for.
struct Tally<'a> {
    now: Nanos,
    sample: &'a mut HalfSecond,
    directions: &'a mut [Option<OpStats>; 3],
}

impl Tally<'_> {
    /// Counts completions that were submitted together, at least one.
    #[inline]
    fn record(&mut self, direction: Direction, run: &Alike) {
        let way = direction as usize;
        self.sample.ios[way] += run.count;
        self.sample.bytes[way] += run.bytes;
        let Some(stats) = &mut self.directions[way] else {
            return;
        };
        stats.bytes += run.bytes;
        record_times(stats, self.now, (run.begun, run.submitted), run.count);
    }
}

/// The end of a submission that is timed apart: later than its beginning by a nanosecond at least, for by that it is told from
/// one that is not.
#[inline]
pub(super) fn submission_end(begun: Nanos, now: Nanos) -> Nanos {
    now.max(begun + Nanos::new(1))
}

/// Puts the times of completions that were submitted together into the histograms.
#[inline]
pub(super) fn record_times(
    stats: &mut OpStats,
    now: Nanos,
    (begun, submitted): (Nanos, Nanos),
    count: u64,
) {
    let from_begun = now.saturating_sub(begun).get();
    stats.latency.record_many(from_begun, count);
    record_parts(stats, now, (begun, submitted), count);
}

/// The same for the times of their submission and of what followed it, where those are kept.
#[inline]
pub(super) fn record_parts(
    stats: &mut OpStats,
    now: Nanos,
    (begun, submitted): (Nanos, Nanos),
    count: u64,
) {
    if let Some(complete) = &mut stats.complete {
        let from = submitted.max(begun);
        complete.record_many(now.saturating_sub(from).get(), count);
    }
    if let Some(submit) = stats.submit.as_mut().filter(|_| submitted > begun) {
        let span = submitted.saturating_sub(begun).get();
        submit.record_many(span, count);
    }
}

/// The longest that something taken at `now` may have lain unseen, where all that came until `seen_until` was taken before:
/// what completes during a wait is seen when it ends, and what came before it lay there.
#[inline]
pub(super) fn unseen(
    seen_until: &mut Nanos,
    now: Nanos,
    waited_from: Option<Nanos>,
    taken: Taken,
) -> Nanos {
    let unseen = waited_from.unwrap_or(now).saturating_sub(*seen_until);
    *seen_until = if taken == Taken::All {
        now
    } else {
        now.saturating_sub(unseen)
    };
    unseen
}

impl<Q: Queue, S: Source> Worker<'_, Q, S> {
    /// Takes at most a batch of completions; `waited_from` is when the wait for them began, if there was one.
    pub(super) fn reap(&mut self, waited_from: Option<Nanos>) {
        let now = self.clock.now();
        self.integrate(now, self.queue.in_flight());
        self.tick(now);
        let before = self.free.len();
        let taken = if S::HOOKS || self.parts.schedule.is_some() {
            self.take_apart(now)
        } else {
            self.take_together(now)
        };
        let count = (self.free.len() - before) as u32;
        let unseen = unseen(&mut self.seen_until, now, waited_from, taken);
        if count > 0 {
            self.stamp_error.add(unseen);
            self.stats.complete_batches[batch_level(count)] += 1;
            if self.full_until == Nanos::MAX {
                self.full_until = now;
            }
        }
        if S::HOOKS {
            if !self.measuring && self.parts.source.is_warm() {
                self.end_warm_up(now);
            } else if self.parts.source.begins_anew() && self.measuring {
                self.measure_anew(now);
            }
        }
    }

    /// Takes completions, each of which has something to itself, and frees their slots.
    fn take_apart(&mut self, now: Nanos) -> Taken {
        let mut done = std::mem::take(&mut self.done);
        let taken = self.queue.take(self.sizes.take, &mut done);
        for completion in done.drain(..) {
            self.free.push(completion.slot);
            self.record_with_hooks(&completion, now);
        }
        self.done = done;
        taken
    }

    /// Takes completions, of which those submitted together are counted as one, and frees their slots.
    #[inline]
    fn take_together(&mut self, now: Nanos) -> Taken {
        let Self {
            queue,
            free,
            slots,
            done: odd,
            boundaries,
            parts,
            ..
        } = self;
        let mut tally = Tally {
            now,
            sample: &mut boundaries.sample,
            directions: &mut parts.handover.current.directions,
        };
        let mut runs = [Alike::default(); 3];
        let taken = queue.take_each(self.sizes.take, |completion| {
            free.push(completion.slot);
            let slot = &slots[completion.slot as usize];
            let (Kind::Data(direction), true) = (slot.kind, completion.result == Ok(slot.length))
            else {
                return odd.push(completion);
            };
            let run = &mut runs[direction as usize];
            if run.begun != slot.begun {
                if run.count > 0 {
                    tally.record(direction, run);
                }
                *run = Alike {
                    begun: slot.begun,
                    submitted: slot.submitted,
                    ..Alike::default()
                };
            }
            run.count += 1;
            run.bytes += u64::from(slot.length);
        });
        for (direction, run) in Direction::ALL.into_iter().zip(&runs) {
            if run.count > 0 {
                self.last_completion = now;
                tally.record(direction, run);
            }
        }
        if !self.done.is_empty() {
            self.record_odd_ones(now);
        }
        taken
    }

    /// Records what is no read or write that did all it was asked for; its slots are free already.
    #[cold]
    pub(super) fn record_odd_ones(&mut self, now: Nanos) {
        let mut odd = std::mem::take(&mut self.done);
        for completion in odd.drain(..) {
            self.record_with_hooks(&completion, now);
        }
        self.done = odd;
    }

    /// Records the one I/O of a worker that does one at a time.
    #[inline]
    pub(super) fn record_single(&mut self, io: &Io, begun: Nanos, now: Nanos) {
        let run = Alike {
            begun,
            submitted: Nanos::ZERO,
            count: 1,
            bytes: u64::from(io.length),
        };
        self.last_completion = now;
        let mut tally = Tally {
            now,
            sample: &mut self.boundaries.sample,
            directions: &mut self.parts.handover.current.directions,
        };
        tally.record(io.direction, &run);
    }

    /// Lets the source look at a completion, and records it.
    fn record_with_hooks(&mut self, completion: &Completion, now: Nanos) {
        let slot = self.slots[completion.slot as usize];
        let mut completion = *completion;
        if slot.kind == Kind::Data(Direction::Trim) {
            let trims = &mut self.served.trims_in_flight;
            *trims = trims.saturating_sub(1);
            // What the kernel answers says nothing of how much that was.
            completion.result = completion.result.map(|_| slot.length);
        }
        if completion.result == Err(GIVEN_UP) && self.parts.backend == Backend::Nbd {
            return self.give_up(&slot, now);
        }
        let mut looked = Ok(());
        if S::HOOKS {
            let buffer = self.queue.buffer(completion.slot);
            looked = self.parts.source.completed(&slot, &completion, buffer, now);
            self.record_written_back();
        }
        self.record_one(&slot, completion.result, now);
        // The I/O itself has succeeded and counts: its time is the longest of all where it took too long.
        if let (Err(errno), Ok(_)) = (looked, completion.result) {
            self.count_error(&slot, errno);
        }
        if S::HOOKS
            && let Some(verdict) = self.parts.source.take_verdict()
        {
            self.count_wrong(&slot, verdict);
        }
    }

    /// The run is to end, and a server has not answered what it was asked: that counts as not done, and as never begun.
    #[cold]
    fn give_up(&mut self, slot: &Slot, now: Nanos) {
        let counted_from = slot.begun.max(self.measure_start);
        let waited = now.saturating_sub(counted_from).get();
        let outstanding = &mut self.stats.outstanding_ns;
        *outstanding = outstanding.saturating_sub(u128::from(waited));
        self.served.unanswered += 1;
        self.end_with(EndReason::Interrupted);
    }

    /// Counts a read whose data is not what was written; the read itself has succeeded.
    #[cold]
    fn count_wrong(&mut self, slot: &Slot, verdict: Verdict) {
        self.note_error(Direction::Read, slot, WRONG_DATA);
        if verdict == Verdict::EndOfJob {
            self.end_with(EndReason::Failed);
            // A peer's other jobs go on; a native run has failed.
            if self.parts.job.existing == ExistingFiles::OnlyOurs {
                self.fail_at("verify", slot, WRONG_DATA);
            }
        }
    }

    #[inline]
    pub(super) fn integrate(&mut self, now: Nanos, in_flight: u32) {
        let span = now.saturating_sub(self.integrated).get();
        self.stats.outstanding_ns += u128::from(span) * u128::from(in_flight);
        self.integrated = now;
    }

    #[inline]
    pub(super) fn record_one(&mut self, slot: &Slot, result: Result<u32, i32>, now: Nanos) {
        let moved = match result {
            Ok(moved) if moved > 0 || slot.length == 0 => moved,
            Ok(_) => return self.count_error(slot, 0),
            Err(errno) => return self.count_error(slot, errno),
        };
        let set = &mut self.parts.handover.current;
        let latency = now.saturating_sub(slot.begun).get();
        self.last_completion = now;
        let Kind::Data(direction) = slot.kind else {
            if let Some(stats) = &mut set.sync {
                stats.latency.record(latency);
            }
            return;
        };
        let way = direction as usize;
        if moved < slot.length {
            self.stats.short_ios[way] += 1;
        }
        self.boundaries.sample.ios[way] += 1;
        self.boundaries.sample.bytes[way] += u64::from(moved);
        let Some(stats) = &mut set.directions[way] else {
            return;
        };
        stats.bytes += u64::from(moved);
        stats.latency.record(latency);
        if let Some(response) = &mut stats.response {
            response.record(now.saturating_sub(slot.intended).get());
        }
        let was_split = slot.submitted > slot.begun;
        if let Some(submit) = stats.submit.as_mut().filter(|_| was_split) {
            submit.record(slot.submitted.saturating_sub(slot.begun).get());
        }
        if let Some(complete) = &mut stats.complete {
            let from = slot.submitted.max(slot.begun);
            complete.record(now.saturating_sub(from).get());
        }
    }

    /// Ranges that were written back between I/Os are syncs.
    pub(super) fn record_written_back(&mut self) {
        if let Some(took) = self.parts.source.take_written_back()
            && let Some(stats) = &mut self.parts.handover.current.sync
        {
            stats.latency.record(took.get());
        }
    }

    #[cold]
    fn count_error(&mut self, slot: &Slot, errno: i32) {
        let (direction, name) = match slot.kind {
            Kind::Data(direction) => (direction, direction.name()),
            Kind::Sync { .. } => (Direction::Write, "fsync"),
        };
        self.last_completion = self.integrated;
        if self.parts.job.features.errors.full_ends && IS_FULL.contains(&errno) {
            return self.end_full();
        }
        self.note_error(direction, slot, errno);
        let handling = &self.parts.job.features.errors;
        let way = direction as usize;
        let survived = handling.go_on[way] || handling.ignored[way].contains(&errno);
        // All further I/O over a connection that broke would fail like this one, as fast as it can be asked for.
        let is_gone = self.parts.backend == Backend::Nbd && self.queue.is_gone(slot.target);
        if !survived || is_gone {
            self.tell_failure(name, slot, errno);
        }
        if is_gone || (!survived && !self.parts.tolerance.survives_another()) {
            self.fail_at(name, slot, errno);
        }
    }

    fn tell_failure(&mut self, operation: &'static str, slot: &Slot, errno: i32) {
        let wrong = if S::HOOKS {
            self.parts.source.take_wrong()
        } else {
            Vec::new()
        };
        let parts = &self.parts;
        parts.tolerance.tell(|| IoFailure {
            at_unix_ns: fathom_rawio::wall_clock(),
            job: parts.job_index,
            operation,
            path: parts.job.targets[slot.target as usize]
                .place
                .path()
                .to_owned(),
            offset: matches!(slot.kind, Kind::Data(_)).then_some(slot.offset),
            length: u64::from(slot.length),
            errno,
            wrong,
        });
    }

    /// Ends the worker where nothing more can be written: this is its end, whatever its time, and nothing is checked after it.
    fn end_full(&mut self) {
        self.boundaries.run_end = self.boundaries.run_end.min(self.last_completion);
        self.end_with(EndReason::Time);
    }

    fn note_error(&mut self, direction: Direction, slot: &Slot, errno: i32) {
        let operation = match slot.kind {
            Kind::Data(_) => {
                let operation = self.parts.job.features.operation;
                operation.map(|operation| FailedOperation::OnFile(operation, direction))
            }
            Kind::Sync { .. } => Some(FailedOperation::Sync),
        };
        self.count_failed(direction, operation, (slot.target, slot.offset), errno);
    }

    /// Counts what failed at an offset of a target.
    pub(super) fn count_failed(
        &mut self,
        direction: Direction,
        operation: Option<FailedOperation>,
        place: (u32, u64),
        errno: i32,
    ) {
        self.parts.tolerance.count();
        let same = |error: &&mut IoErrors| {
            (error.errno, error.direction, error.operation) == (errno, direction, operation)
        };
        if let Some(error) = self.stats.errors.iter_mut().find(same) {
            error.count += 1;
            if error.first_offsets.len() < FIRST_OFFSETS {
                error.first_offsets.push(place);
            }
        } else {
            self.stats.errors.push(IoErrors {
                direction,
                operation,
                errno,
                count: 1,
                first_offsets: vec![place],
            });
        }
    }

    fn fail_at(&mut self, direction: &'static str, slot: &Slot, errno: i32) {
        self.fail(FailedIo {
            direction,
            target: slot.target,
            offset: slot.offset,
            length: slot.length,
            errno,
            took: self.last_completion.saturating_sub(slot.begun),
        });
    }

    #[cold]
    pub(super) fn fail(&mut self, failure: FailedIo) {
        self.end_with(EndReason::Failed);
        self.failure.get_or_insert(failure);
        if !self.parts.tolerance.workers_fail_alone() {
            self.parts
                .abort
                .store(true, std::sync::atomic::Ordering::Relaxed);
        }
    }
}
