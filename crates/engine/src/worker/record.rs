//! What a worker notes of each completion.

use fathom_rawio::{Clock, Completion, Queue};
use fathom_record::{EndReason, IoErrors, batch_level};
use fathom_units::Nanos;
use fathom_workload::Direction;

use super::{FailedIo, Kind, Slot, Worker};
use crate::ErrorPolicy;

/// Offsets kept of the failed I/Os of one kind.
const FIRST_OFFSETS: usize = 8;

impl<Q: Queue> Worker<'_, Q> {
    /// Takes at most a batch of completions; `waited_from` is when the wait for them began, if there was one.
    pub(super) fn reap(&mut self, waited_from: Option<Nanos>) {
        let now = Clock::now();
        self.integrate(now, self.queue.in_flight());
        self.tick(now);
        let mut count = 0;
        let mut is_drained = false;
        while count < self.batch_max as u32 {
            let Some(Completion { slot, result }) = self.queue.completion() else {
                is_drained = true;
                break;
            };
            count += 1;
            self.free.push(slot);
            self.record(self.slots[slot as usize], result, now);
        }
        // What completes during a wait is seen when it ends; what came before it, since all was taken, lay unseen.
        let unseen = waited_from.unwrap_or(now).saturating_sub(self.seen_until);
        self.seen_until = if is_drained || !self.queue.has_completion() {
            now
        } else {
            now.saturating_sub(unseen)
        };
        if count > 0 {
            self.stamp_error.add(unseen);
            self.stats.complete_batches[batch_level(count)] += 1;
            if self.full_until == Nanos::MAX {
                self.full_until = now;
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
    pub(super) fn record(&mut self, slot: Slot, result: Result<u32, i32>, now: Nanos) {
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

    #[cold]
    fn count_error(&mut self, slot: Slot, errno: i32) {
        let (direction, name) = match slot.kind {
            Kind::Data(direction) => (direction, direction.name()),
            Kind::Sync => (Direction::Write, "fsync"),
        };
        self.last_completion = self.integrated;
        let place = (slot.target, slot.offset);
        let same = |error: &&mut IoErrors| error.errno == errno && error.direction == direction;
        if let Some(error) = self.stats.errors.iter_mut().find(same) {
            error.count += 1;
            if error.first_offsets.len() < FIRST_OFFSETS {
                error.first_offsets.push(place);
            }
        } else {
            self.stats.errors.push(IoErrors {
                direction,
                errno,
                count: 1,
                first_offsets: vec![place],
            });
        }
        if self.parts.on_error == ErrorPolicy::Stop {
            self.fail(FailedIo {
                direction: name,
                target: slot.target,
                offset: slot.offset,
                length: slot.length,
                errno,
            });
        }
    }

    #[cold]
    pub(super) fn fail(&mut self, failure: FailedIo) {
        self.end_with(EndReason::Failed);
        self.failure.get_or_insert(failure);
        self.parts
            .abort
            .store(true, std::sync::atomic::Ordering::Relaxed);
    }
}
