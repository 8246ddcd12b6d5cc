//! What a worker puts into its queue, and when.

use std::fs;
use std::io;
use std::path::Path;

use fathom_rawio::{self as rawio, Clock, Completion, Operation, Queue, Request, Trims};
use fathom_record::{EndReason, depth_level};
use fathom_units::{Nanos, Percent};
use fathom_workload::generator::Io;
use fathom_workload::{Arrival, Backend, Direction, FileOperation, Job};

use crate::calls::{self, NextPass};
use crate::{marker, store};

use super::source::{Next, Source, Sourced};
use super::{ChecksAfter, FailedIo, Kind, Round, Slot, State, Worker, think};

/// I/Os done one at a time that are not yet in the worker's counters.
#[derive(Debug, Default)]
struct Alone {
    ios: u64,
    outstanding_ns: u64,
}

/// An I/O that waits for its moment or for a slot.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pending {
    pub(super) io: Io,
    pub(super) tag: u64,
    /// As of [`Sourced::durable`].
    pub(super) durable: bool,
    /// When it should start.
    pub(super) due: Nanos,
}

impl<Q: Queue, S: Source> Worker<'_, Q, S> {
    /// Puts into the queue what may start now; returns how many I/Os were done at once instead (trims).
    #[inline]
    pub(super) fn issue(&mut self) -> u32 {
        if !self.is_issuing() {
            return 0;
        }
        if self.round == Round::Plain {
            self.issue_plain();
            return 0;
        }
        self.issue_all_kinds()
    }

    /// A closed loop of reads and writes that nothing interrupts.
    #[inline]
    fn issue_plain(&mut self) {
        let room = self.sizes.submit.saturating_sub(self.batch.len());
        for _ in 0..room.min(self.free.len()) {
            // Borrowed, not moved out: a copy would load at once what was just stored in parts, and wait for it.
            let next = self.parts.source.next_io();
            let Some(io) = &next else {
                return self.end_with(EndReason::Done);
            };
            self.drop_restarted();
            self.push_data(io, 0, self.now, Operation::Write);
        }
    }

    /// I/Os of a worker that has one outstanding at a time, without the books of a queue, until something else than I/O
    /// is to be looked at.
    pub(super) fn one_by_one(&mut self) {
        let until = self.next_moment();
        let mut alone = Alone::default();
        loop {
            let next = self.parts.source.next_io();
            let Some(io) = &next else {
                self.count_alone(&alone);
                return self.end_with(EndReason::Done);
            };
            self.drop_restarted();
            let (result, begun, now) = self.perform(io);
            let is_last = now >= until;
            if is_last {
                // What came before a boundary is counted before it is passed.
                self.count_alone(&std::mem::take(&mut alone));
                self.tick(now);
            }
            alone.ios += 1;
            alone.outstanding_ns += now.saturating_sub(begun).get();
            if result == Ok(io.length) {
                self.record_single(io, begun, now);
            } else {
                self.record_odd(io, result, begun, now);
            }
            if is_last || !self.is_issuing() {
                (self.now, self.integrated) = (now, now);
                return self.count_alone(&alone);
            }
        }
    }

    /// Does one I/O at once; gives its result, and when it began and ended.
    #[inline]
    fn perform(&mut self, io: &Io) -> (Result<u32, i32>, Nanos, Nanos) {
        let mut operation = Operation::Read;
        if io.direction == Direction::Write {
            let buffer = &mut self.queue.buffer(0)[..io.length as usize];
            self.parts.fill.refill(io, buffer);
            operation = Operation::Write;
        }
        let begun = self.clock.now();
        let result = self.queue.perform(Request {
            slot: 0,
            file: io.target,
            operation,
            offset: io.offset,
            length: io.length,
        });
        (result, begun, self.clock.now())
    }

    fn count_alone(&mut self, alone: &Alone) {
        self.stats.outstanding_ns += u128::from(alone.outstanding_ns);
        self.stats.depth_levels[0] += alone.ios;
        self.stats.submit_batches[1] += alone.ios;
        self.stats.complete_batches[1] += alone.ios;
    }

    /// Records an I/O that failed or was short.
    #[cold]
    fn record_odd(&mut self, io: &Io, result: Result<u32, i32>, begun: Nanos, now: Nanos) {
        self.integrated = now;
        let slot = Slot {
            kind: Kind::Data(io.direction),
            target: io.target,
            offset: io.offset,
            length: io.length,
            begun,
            submitted: begun,
            ..Slot::IDLE
        };
        self.record_one(&slot, result, now);
    }

    fn issue_all_kinds(&mut self) -> u32 {
        let mut done_at_once = 0;
        while self.is_issuing()
            && done_at_once < self.slots.len() as u32
            && self.batch.len() < self.sizes.submit
            && !self.free.is_empty()
        {
            if self.awaits_trims() {
                return done_at_once;
            }
            if let Some((operation, target)) = self.pending_sync {
                if self.syncs_between && !self.has_next() {
                    if self.fell_short() {
                        self.pending_sync = None;
                        self.push_sync(operation, target);
                    }
                    return done_at_once;
                }
                if !(S::HOOKS && self.parts.source.holds_syncs()) {
                    self.pending_sync = None;
                    self.push_sync(operation, target);
                    continue;
                }
                if self.syncs_between {
                    // What is checked came in between: for fio a sync follows a write, or is none.
                    self.pending_sync = None;
                }
            }
            let Some(pending) = self.take_due() else {
                if self.state == State::Owing {
                    self.end_with(EndReason::Time);
                }
                return done_at_once;
            };
            let Pending { io, tag, due, .. } = pending;
            if io.direction == Direction::Trim && !self.acts_on_names() {
                if self.push_trim(&io, tag, due) == Trims::Apart {
                    self.trim(&io, tag, due);
                    done_at_once += 1;
                }
            } else if S::HOOKS && pending.durable {
                self.push_data(&io, tag, due, Operation::WriteThrough);
            } else {
                self.push_data(&io, tag, due, Operation::Write);
            }
        }
        done_at_once
    }

    /// Whether names are what the job works on: no file is open that could be trimmed or synced.
    pub(super) fn acts_on_names(&self) -> bool {
        let operation = self.parts.job.features.operation;
        operation.is_some_and(FileOperation::is_of_names)
    }

    /// Whether the job has come to its end with bytes left that no I/O fits into. fio finds that out as it looks for the next
    /// I/O, and issues a sync that is due before; where its last byte was written it does not look.
    fn fell_short(&mut self) -> bool {
        let ended = !self.is_issuing() && self.stats.ended == EndReason::Done;
        ended && self.parts.source.looks_for_more()
    }

    /// Whether a sync goes before the checks of a pass that is over: where fio looks for one more write before it ends the pass.
    /// It is issued then, and the checks begin once it is done.
    fn syncs_before_checks(&mut self) -> bool {
        if !(S::HOOKS && self.syncs_between) {
            return false;
        }
        let due = (self.pending_sync.take()).filter(|_| self.parts.source.looks_for_more());
        if let Some((operation, target)) = due {
            self.push_sync(operation, target);
            self.checks_after = ChecksAfter::Sync;
            self.held_until = Some(Nanos::MAX);
        }
        due.is_some()
    }

    /// What the source gives next.
    fn draw(&mut self, now: Nanos) -> Next {
        let in_flight = self.queue.in_flight();
        if self.checks_after == ChecksAfter::Pass {
            return self.next_of_source(now, in_flight);
        }
        if in_flight > 0 || !self.batch.is_empty() {
            return Next::AfterCompletion;
        }
        self.checks_after = ChecksAfter::Pass;
        Next::Settle
    }

    fn next_of_source(&mut self, now: Nanos, in_flight: u32) -> Next {
        let next = self.parts.source.next(now, in_flight);
        if S::HOOKS {
            self.record_written_back();
        }
        next
    }

    /// The next I/O if it may start now.
    fn take_due(&mut self) -> Option<Pending> {
        if S::HOOKS
            && let Some(sourced) = self.parts.source.follow_up(self.now)
        {
            let due = self.now;
            let Sourced {
                io, tag, durable, ..
            } = sourced;
            return Some(Pending {
                io,
                tag,
                durable,
                due,
            });
        }
        if !self.has_next() {
            return None;
        }
        let now = self.schedule_now();
        self.pending.take_if(|next| next.due <= now)
    }

    /// Draws the next I/O where that has not been done, and says whether there is one.
    fn has_next(&mut self) -> bool {
        if self.pending.is_some() {
            return true;
        }
        self.held_until = None;
        let now = self.schedule_now();
        let mut drawn = self.draw(now);
        while drawn == Next::Settle && self.is_issuing() {
            if self.syncs_before_checks() {
                return false;
            }
            self.settle();
            // That took its time, which is none of the next I/O's.
            self.now = self.clock.now();
            // What is not written while there are checks is not owed to the next pass.
            self.base = None;
            drawn = self.next_of_source(self.now, self.queue.in_flight());
        }
        self.drop_restarted();
        let Sourced {
            io,
            at,
            tag,
            durable,
        } = match drawn {
            Next::Io(sourced) => sourced,
            Next::Sync(operation, target) => {
                self.push_sync(operation, target);
                // Where there is no room for more, a completion makes some, and this is asked again.
                return !self.free.is_empty() && self.has_next();
            }
            Next::NotBefore(moment) => {
                self.held_until = Some(moment);
                return false;
            }
            Next::AfterCompletion | Next::Settle => {
                self.held_until = Some(Nanos::MAX);
                return false;
            }
            Next::End => {
                self.end_with(EndReason::Done);
                return false;
            }
        };
        if S::HOOKS {
            self.move_rate();
        }
        let due = match (at, &mut self.parts.schedule) {
            (Some(at), _) => at,
            (None, None) => self.now,
            (None, Some(schedule)) => {
                let (now, next) = (self.now, Nanos::new(schedule.peek()));
                let base = self.base.get_or_insert_with(|| now.saturating_sub(next));
                self.last_start = schedule.next_start(io.length);
                base.saturating_add(Nanos::new(self.last_start))
            }
        };
        self.pending = Some(Pending {
            io,
            tag,
            durable,
            due,
        });
        true
    }

    /// Has the rate go on after a pause that it stood still in.
    fn move_rate(&mut self) {
        let stood = self.parts.source.take_stood();
        let job = self.parts.job;
        if stood > Nanos::ZERO
            && let (Some(base), Arrival::Open { rate, .. }) = (&mut self.base, job.arrival)
        {
            *base += think::moved_by(stood, rate, job.block.smallest(job.mix).get());
        }
    }

    /// Puts a read in line, or what `write` says: a write, or one that is durable when it completes.
    #[expect(
        clippy::inline_always,
        reason = "every I/O comes by here, and a call costs as much as the work"
    )]
    #[inline(always)]
    fn push_data(&mut self, io: &Io, tag: u64, intended: Nanos, write: Operation) {
        let Some(slot) = self.free.pop() else {
            return;
        };
        let operation = if io.direction == Direction::Write {
            let buffer = &mut self.queue.buffer(slot)[..io.length as usize];
            self.parts.fill.refill(io, buffer);
            if S::HOOKS {
                self.parts.source.before_write(io, tag, buffer);
            }
            if self.round != Round::Plain {
                self.count_write(io.target);
            }
            write
        } else {
            Operation::Read
        };
        if S::HOOKS {
            let priority = self.parts.source.priority(io, slot);
            self.queue.set_priority(priority.get());
        }
        self.queue.push(Request {
            slot,
            file: io.target,
            operation,
            offset: io.offset,
            length: io.length,
        });
        self.slots[slot as usize] = Slot {
            kind: Kind::Data(io.direction),
            target: io.target,
            offset: io.offset,
            length: io.length,
            tag,
            intended,
            begun: Nanos::ZERO,
            submitted: Nanos::ZERO,
        };
        self.batch.push(slot);
    }

    pub(super) fn push_sync(&mut self, operation: Operation, target: u32) {
        let Some(slot) = self.free.pop() else {
            return;
        };
        self.queue.push(Request {
            slot,
            file: target,
            operation,
            offset: 0,
            length: 0,
        });
        let tag = if S::HOOKS {
            self.parts.source.sync_begins()
        } else {
            0
        };
        self.slots[slot as usize] = Slot {
            kind: Kind::Sync {
                data_only: operation == Operation::Fdatasync,
            },
            target,
            tag,
            intended: self.now,
            begun: self.now,
            submitted: self.now,
            ..Slot::IDLE
        };
        self.batch.push(slot);
    }

    /// Drops what is used of targets that begin anew from the page cache, or makes their files anew, where the job has it so.
    #[inline]
    fn drop_restarted(&mut self) {
        if self.next_pass == NextPass::FindsWhatIsLeft {
            return;
        }
        if let Some(stream) = self.parts.source.stream()
            && stream.has_restarted()
        {
            let targets = stream.take_restarted();
            self.drop_each(&targets);
        }
    }

    #[cold]
    fn drop_each(&mut self, targets: &[u32]) {
        for index in targets {
            let target = &self.parts.job.targets[*index as usize];
            match self.next_pass {
                NextPass::MakesFilesAnew => {
                    if let Err(error) = self.make_anew(*index) {
                        self.fail(FailedIo {
                            direction: "making its file anew",
                            target: *index,
                            offset: 0,
                            length: 0,
                            errno: error.raw_os_error().unwrap_or(0),
                            took: Nanos::ZERO,
                        });
                    }
                }
                NextPass::FindsNothing | NextPass::FindsWhatIsLeft => {
                    calls::drop_used(self.queue.file(*index), target);
                }
            }
        }
    }

    /// Removes a target's file and makes another. What is in flight ends in the one that was removed.
    fn make_anew(&mut self, index: u32) -> io::Result<()> {
        let file = self.queue.file(index);
        // As in fio, a device stays what it is.
        if !file.metadata()?.is_file() {
            return Ok(());
        }
        let is_ours = marker::is_ours(file);
        self.queue.submit_and_wait(0, None)?;
        let path = Path::new(self.parts.job.targets[index as usize].place.path());
        marker::forget(path);
        match fs::remove_file(path) {
            // Another worker of the same file was first.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            removed => removed?,
        }
        let file = store::make(path, self.parts.job)?;
        if is_ours {
            marker::mark(&file);
        }
        self.queue.replace_file(index, file)
    }

    fn count_write(&mut self, target: u32) {
        self.writes += 1;
        let sync = &self.parts.job.sync;
        let due = |every: u32| every > 0 && self.writes.is_multiple_of(u64::from(every));
        if due(sync.fsync_every) {
            self.pending_sync = Some((Operation::Fsync, target));
        } else if due(sync.fdatasync_every) {
            self.pending_sync = Some((Operation::Fdatasync, target));
        }
    }

    /// Whether nothing goes before the trims in flight are answered: a write of what is being trimmed might be done before that.
    #[inline]
    fn awaits_trims(&self) -> bool {
        self.served.trims_in_flight > 0 && !trims_alone(self.parts.job)
    }

    /// Puts a trim in line where the queue does them. Where others would have to wait for it, the kernel's are done at once.
    #[cold]
    #[inline(never)]
    fn push_trim(&mut self, io: &Io, tag: u64, intended: Nanos) -> Trims {
        let is_server = self.parts.backend == Backend::Nbd;
        if !is_server && !trims_alone(self.parts.job) {
            return Trims::Apart;
        }
        let Some(slot) = self.free.last().copied() else {
            return Trims::Apart;
        };
        let went = self.queue.push_trim(Request {
            slot,
            file: io.target,
            operation: Operation::Write,
            offset: io.offset,
            length: io.length,
        });
        if went == Trims::Apart {
            return went;
        }
        self.free.pop();
        self.slots[slot as usize] = Slot {
            kind: Kind::Data(Direction::Trim),
            target: io.target,
            offset: io.offset,
            length: io.length,
            tag,
            intended,
            ..Slot::IDLE
        };
        self.batch.push(slot);
        self.served.trims_in_flight += 1;
        went
    }

    /// Does a trim at once.
    fn trim(&mut self, io: &Io, tag: u64, intended: Nanos) {
        let begun = Clock::now();
        let result = if self.parts.backend == Backend::Null {
            Ok(())
        } else if self.parts.job.features.operation == Some(FileOperation::Allocate) {
            rawio::punch_hole(self.queue.file(io.target), io.offset, io.length)
        } else {
            rawio::discard(self.queue.file(io.target), io.offset, u64::from(io.length))
        };
        let ended = Clock::now();
        let slot = Slot {
            kind: Kind::Data(Direction::Trim),
            target: io.target,
            offset: io.offset,
            length: io.length,
            tag,
            intended,
            begun,
            submitted: begun,
        };
        self.stats.depth_levels[depth_level(self.queue.in_flight() + 1)] += 1;
        self.stats.submit_batches[1] += 1;
        self.stats.complete_batches[1] += 1;
        self.stats.outstanding_ns += u128::from(ended.saturating_sub(begun).get());
        let result = result.map(|()| io.length);
        let mut result = result.map_err(|error| error.raw_os_error().unwrap_or(0));
        if S::HOOKS {
            let completion = Completion { slot: 0, result };
            let looked = self
                .parts
                .source
                .completed(&slot, &completion, &mut [], ended);
            self.record_written_back();
            if let (Err(errno), Ok(_)) = (looked, result) {
                result = Err(errno);
            }
        }
        self.record_one(&slot, result, ended);
    }
}

/// Whether a job trims and does nothing else, so that nothing can overtake a trim that is on its way.
fn trims_alone(job: &Job) -> bool {
    let features = &job.features;
    let is_plain = features.verify.is_none() && features.operation.is_none();
    is_plain && job.mix.trim == Percent::ALL
}
