//! One worker in virtual time: what it issues next, and what it measured.
//!
//! Invariants: no more I/Os are outstanding than the job's depth; intended times never move because of completions, but once
//! as the measurement begins; at and after the end of the runtime nothing is issued but what was due by then, and what was
//! issued is waited for.

mod measured;
mod start;
mod times;

use fathom_model::{Limit, Waits};
use fathom_record::{EndReason, IoErrors, OpStats, WorkerStats, depth_level};
use fathom_units::Nanos;
use fathom_workload::Direction;
use fathom_workload::generator::{ArrivalSchedule, Io, WorkerStream, is_owed};

pub(crate) use self::times::Times;
use crate::recent::Recent;

/// So many I/Os ahead storage is told where they will go: what it looks up for more would leave the nearest cache again.
const LOOK_AHEAD: usize = 64;

/// An I/O under way.
#[derive(Debug, Clone, Copy)]
struct Slot {
    submitted: Nanos,
    length: u32,
    direction: Direction,
    /// Whether it is an `fsync` in place of data.
    sync: bool,
}

/// What a worker does next.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Step {
    /// Issue this I/O now; it bears the number of its slot.
    Issue(Io, u32),
    /// Flush the volume of this target; it takes the slot with this number.
    Sync(u32, u32),
    /// Look again at this time.
    WaitUntil(Nanos),
    /// Nothing until an I/O completes, or never again.
    Rest,
}

/// A worker of a stage.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is looked at by itself with every I/O"
)]
pub(crate) struct Worker {
    stream: WorkerStream,
    schedule: Option<ArrivalSchedule>,
    /// What the schedule counts from.
    base: Nanos,
    /// Whether I/Os of its closed loop may have to wait: lines have delays.
    delays: bool,
    pub times: Times,
    depth: u32,
    /// The next I/O of an open loop and its intended start.
    pending: Option<(Io, Nanos)>,
    /// The time it already waits for, so that completions meanwhile do not ask again.
    waiting: Option<Nanos>,
    /// Whether it is a closed loop that synchronises nothing and belongs to no flow.
    plain: bool,
    /// The same of an open loop.
    open: bool,
    /// Whether it is one of these and does nothing but read and write.
    turns: bool,
    /// Until when an I/O that completes is followed by another, and nothing else, as long as there are I/Os: the first of
    /// its deadline and the end of the half second.
    turns_until: Nanos,
    /// The class of its depth.
    full_level: usize,
    /// Whether storage wants to know early where its I/Os will go.
    pub looks_ahead: bool,
    /// Whether the stream has ended, or the time is over.
    closed: bool,
    /// Whether its time is over, and only what was due by then is still issued.
    owing: bool,
    /// Writes from one `fsync` or `fdatasync` to the next; 0: there is none.
    sync_every: u32,
    /// Writes issued since the last.
    unsynced: u32,
    /// How long the sync took that completed last, until it is counted for its second.
    synced: Option<Nanos>,
    /// The target to be synchronised next.
    pending_sync: Option<u32>,
    slots: Vec<Slot>,
    /// Of an open loop: the intended start of the I/O in each slot.
    intended: Vec<Nanos>,
    free: Vec<u32>,
    outstanding: u32,
    /// When it last issued an I/O or one completed.
    last_event: Nanos,
    last_completion: Nanos,
    /// Measured completions, failed ones included.
    completions: u64,
    waited: [[u128; Limit::ALL.len()]; 3],
    /// Completed I/Os of each direction that are not counted yet.
    recent: [Recent; 3],
    /// Of an open loop: response times of those, in the order of completion, and at most that of one that is not there yet.
    responses: [Vec<u64>; 3],
    /// How long measured I/Os were outstanding before measurement.
    before_ns: u128,
    /// End of the half second that is going on, or of a window before it.
    sample_end: Nanos,
    half_end: Nanos,
    /// I/Os and bytes of each direction in the samples that are closed.
    sampled: ([u64; 3], [u64; 3]),
    pub stats: WorkerStats,
}

impl Worker {
    /// Whether [`Self::turn`] may be used: `plain` says that it reads and writes storage alone, and tells nothing of it.
    pub fn may_turn(&mut self, plain: bool) {
        self.turns = plain && (self.plain || self.open);
        self.bound_turns();
    }

    fn bound_turns(&mut self) {
        let deadline = self.times.deadline.unwrap_or(Nanos::MAX);
        self.turns_until = if self.turns && !self.closed {
            deadline.min(self.sample_end)
        } else {
            Nanos::ZERO
        };
    }

    /// The time it waited for has come (or that of an older wait, which changes nothing).
    pub fn wake(&mut self, at: Nanos) {
        if self.waiting == Some(at) {
            self.waiting = None;
        }
    }

    /// Whether there is nothing to do until an I/O completes, or never again.
    #[inline]
    pub fn rests(&self) -> bool {
        self.closed || self.outstanding >= self.depth
    }

    /// I/Os under way.
    pub fn outstanding(&self) -> u32 {
        self.outstanding
    }

    /// Whether it issues nothing more.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Whether storage is to be told of what comes after the next I/O.
    #[inline]
    pub fn is_to_look_ahead(&self) -> bool {
        self.looks_ahead && self.stream.upcoming().len().is_multiple_of(LOOK_AHEAD)
    }

    /// Offsets within the target of the next I/Os that are drawn, of which storage is to be told.
    pub fn upcoming(&self) -> &[u64] {
        let upcoming = self.stream.upcoming();
        &upcoming[..upcoming.len().min(LOOK_AHEAD)]
    }

    /// The next I/O and its slot where there is nothing else to look at: the jobs of most I/Os are closed loops. It must
    /// not be asked of a worker that rests.
    #[expect(
        clippy::inline_always,
        reason = "every I/O comes by here, and a call costs as much as the work"
    )]
    #[inline(always)]
    pub fn next_of_stretch(&mut self, now: Nanos) -> Option<(Io, u32)> {
        if !self.plain || now >= self.times.deadline.unwrap_or(Nanos::MAX) {
            return None;
        }
        let io = self.stream.next_of_stretch()?;
        Some((io, self.open_slot(now, now, io)))
    }

    /// [`Self::complete`] and [`Self::next_of_stretch`] in one, where the I/O in `slot` completes at `now` and nothing but
    /// the next in its place follows from that, or nothing at all until the time that it waits for; the direction is that
    /// of I/Os put aside that must be counted now. `None`: more may follow, and nothing has changed.
    #[expect(
        clippy::inline_always,
        reason = "every I/O comes by here, and a call costs as much as the work"
    )]
    #[inline(always)]
    pub fn turn(
        &mut self,
        now: Nanos,
        slot: u32,
        waits: &Waits,
    ) -> Option<(Option<Io>, Option<Direction>)> {
        let Slot {
            submitted,
            length,
            direction,
            ..
        } = *self.slots.get(slot as usize)?;
        let measured = now >= self.times.measure;
        if now >= self.turns_until || measured && submitted < self.times.measure {
            return None;
        }
        if self.outstanding != self.depth || self.waits_beyond(now) {
            return self.turn_to_rest(now, slot, waits);
        }
        if self.is_to_look_ahead() {
            return None;
        }
        let io = if self.plain {
            self.stream.next_of_stretch()?
        } else {
            let done = measured.then_some((direction, submitted));
            self.next_due(now, slot, done)?
        };
        self.last_event = now;
        self.slots[slot as usize] = Slot {
            submitted: now,
            length: io.length,
            direction: io.direction,
            sync: false,
        };
        if !measured {
            return Some((Some(io), None));
        }
        self.last_completion = now;
        waits.add_to(&mut self.waited[direction as usize]);
        self.stats.depth_levels[self.full_level] += 1;
        let full = self.put_aside((direction, u64::from(length), now - submitted));
        Some((Some(io), full.then_some(direction)))
    }

    /// Whether the next I/O of an open loop begins after `now`, and its time is waited for.
    #[inline]
    fn waits_beyond(&self, now: Nanos) -> bool {
        self.waiting.is_some_and(|at| at > now)
    }

    /// The same of an open loop where nothing follows until the time that it waits for.
    #[inline(never)]
    fn turn_to_rest(
        &mut self,
        now: Nanos,
        slot: u32,
        waits: &Waits,
    ) -> Option<(Option<Io>, Option<Direction>)> {
        let at = self.pending.as_ref().map(|(_, intended)| *intended);
        if !self.open || at != self.waiting || !self.waits_beyond(now) {
            return None;
        }
        let measured = self.complete(now, slot, waits);
        let full = measured.filter(|io| self.put_aside(*io));
        Some((None, full.map(|(direction, ..)| direction)))
    }

    /// The same of an open loop that is behind its schedule: its next I/O, where that should have begun. What the one in
    /// `slot` did, where that is measured, is recorded then, and its intended start is that of the next.
    fn next_due(&mut self, now: Nanos, slot: u32, done: Option<(Direction, Nanos)>) -> Option<Io> {
        if self.pending.is_none() {
            self.pending = self.next_io(now);
        }
        self.drop_debt(now);
        let (io, intended) = self.pending.take_if(|(_, intended)| *intended <= now)?;
        if let Some(done) = done {
            self.record_response(now, slot, done);
        }
        if let Some(place) = self.intended.get_mut(slot as usize) {
            *place = intended;
        }
        Some(io)
    }

    /// What to do at `now`; called again until it rests or waits.
    #[inline]
    pub fn step(&mut self, now: Nanos) -> Step {
        if self.rests() {
            return Step::Rest;
        }
        if self.times.deadline.is_some_and(|deadline| now >= deadline) && !self.owes(now) {
            self.close(EndReason::Time);
            return Step::Rest;
        }
        if let Some(target) = self.pending_sync.take() {
            let slot = Slot {
                submitted: now,
                length: 0,
                direction: Direction::Write,
                sync: true,
            };
            self.last_event = now;
            self.outstanding += 1;
            return Step::Sync(target, self.put(slot, now));
        }
        let Some((io, intended)) = self.next_io(now) else {
            self.close(EndReason::Done);
            return Step::Rest;
        };
        if intended > now {
            self.pending = Some((io, intended));
            // An arrival at or after the deadline will never be issued.
            if self
                .times
                .deadline
                .is_some_and(|deadline| intended >= deadline)
            {
                self.close(EndReason::Time);
                return Step::Rest;
            }
            if self.waiting == Some(intended) {
                return Step::Rest;
            }
            self.waiting = Some(intended);
            return Step::WaitUntil(intended);
        }
        let slot = self.open_slot(now, intended, io);
        Step::Issue(io, slot)
    }

    /// Whether an open loop whose time is over is to begin an I/O that was due by then, as in a real run.
    #[cold]
    fn owes(&mut self, now: Nanos) -> bool {
        let Some(deadline) = self.times.deadline.filter(|_| self.schedule.is_some()) else {
            return false;
        };
        self.pending = self.next_io(now);
        let Some((_, intended)) = self.pending else {
            return false;
        };
        let owed = self.owing || is_owed(intended, self.times.measure, deadline);
        self.owing = intended < deadline && owed;
        self.owing
    }

    #[inline]
    fn next_io(&mut self, now: Nanos) -> Option<(Io, Nanos)> {
        let Some(schedule) = &mut self.schedule else {
            if self.delays {
                return self.next_delayed(now);
            }
            return Some((self.stream.next_io()?, now));
        };
        if self.pending.is_none() {
            let io = self.stream.next_io()?;
            let offset = Nanos::new(schedule.next_start(io.length));
            self.pending = Some((io, self.base.saturating_add(offset)));
        }
        self.drop_debt(now);
        self.pending.take()
    }

    /// What was late in the warm-up is not owed to the measurement, as in a real run: the next I/O is due as that begins,
    /// and the schedule goes on from there.
    #[inline]
    fn drop_debt(&mut self, now: Nanos) {
        let measure = self.times.measure;
        if let Some((_, intended)) = &mut self.pending
            && *intended < measure
            && now >= measure
        {
            self.base = self.base.saturating_add(measure - *intended);
            *intended = measure;
        }
    }

    /// The next I/O of lines with delays, and when it may go.
    #[cold]
    fn next_delayed(&mut self, now: Nanos) -> Option<(Io, Nanos)> {
        if let Some(pending) = self.pending.take() {
            return Some(pending);
        }
        let io = self.stream.next_io()?;
        Some((io, now.saturating_add(self.stream.delay())))
    }

    fn close(&mut self, reason: EndReason) {
        self.closed = true;
        self.bound_turns();
        self.stats.ended = reason;
    }

    /// Its time is over at `now`.
    pub fn end_at(&mut self, now: Nanos) {
        let deadline = self
            .times
            .deadline
            .map_or(now, |deadline| deadline.min(now));
        self.times.deadline = Some(deadline);
        self.bound_turns();
    }

    /// The user stopped the run.
    pub fn interrupt(&mut self) {
        if !self.closed || self.outstanding > 0 {
            self.close(EndReason::Interrupted);
        }
    }

    #[expect(
        clippy::inline_always,
        reason = "every I/O comes by here, and a call costs as much as the work"
    )]
    #[inline(always)]
    fn open_slot(&mut self, now: Nanos, intended: Nanos, io: Io) -> u32 {
        self.last_event = now;
        self.outstanding += 1;
        if now >= self.times.measure {
            self.stats.depth_levels[depth_level(self.outstanding)] += 1;
        }
        let slot = Slot {
            submitted: now,
            length: io.length,
            direction: io.direction,
            sync: false,
        };
        if self.sync_every > 0 && io.direction == Direction::Write {
            self.unsynced += 1;
            if self.unsynced == self.sync_every {
                self.unsynced = 0;
                self.pending_sync = Some(io.target);
            }
        }
        self.put(slot, intended)
    }

    #[expect(
        clippy::inline_always,
        reason = "every I/O comes by here, and a call costs as much as the work"
    )]
    #[inline(always)]
    fn put(&mut self, slot: Slot, intended: Nanos) -> u32 {
        let index = if let Some(index) = self.free.pop() {
            self.slots[index as usize] = slot;
            index
        } else {
            self.slots.push(slot);
            self.slots.len() as u32 - 1
        };
        if self.schedule.is_some() {
            self.intended.resize(self.slots.len(), Nanos::ZERO);
            self.intended[index as usize] = intended;
        }
        index
    }

    /// An I/O completed at `now`: its direction, bytes and latency, if it is measured.
    #[expect(
        clippy::inline_always,
        reason = "every I/O comes by here, and a call costs as much as the work"
    )]
    #[inline(always)]
    pub fn complete(
        &mut self,
        now: Nanos,
        slot: u32,
        waits: &Waits,
    ) -> Option<(Direction, u64, Nanos)> {
        self.last_event = now;
        self.outstanding -= 1;
        self.free.push(slot);
        let Slot {
            submitted,
            length,
            direction,
            sync,
        } = self.slots[slot as usize];
        let measure = self.times.measure;
        if now < measure {
            return None;
        }
        if sync {
            let stats = self
                .stats
                .sync
                .get_or_insert_with(|| OpStats::new(false, false));
            stats.latency.record((now - submitted).get());
            self.last_completion = now;
            self.synced = Some(now - submitted);
            return None;
        }
        self.last_completion = now;
        if submitted < measure {
            self.before_ns += u128::from((measure - submitted).get());
        }
        if now >= self.sample_end {
            self.close_samples(now);
        }
        waits.add_to(&mut self.waited[direction as usize]);
        if self.schedule.is_some() {
            self.record_response(now, slot, (direction, submitted));
        }
        Some((direction, u64::from(length), now - submitted))
    }

    /// How long the measured sync took that completed last; once.
    pub fn take_synced(&mut self) -> Option<Nanos> {
        self.synced.take()
    }

    /// An I/O failed at `now`: it counts as an error, and has no latency. Whether it is measured.
    pub fn fail(&mut self, now: Nanos, slot: u32, errno: i32) -> bool {
        self.last_event = now;
        self.outstanding -= 1;
        self.free.push(slot);
        let Slot {
            submitted,
            direction,
            ..
        } = self.slots[slot as usize];
        if now < self.times.measure {
            return false;
        }
        self.last_completion = now;
        self.completions += 1;
        let from = submitted.max(self.times.measure);
        self.stats.outstanding_ns += u128::from((now - from).get());
        let errors = &mut self.stats.errors;
        let same = |known: &&mut IoErrors| known.direction == direction && known.errno == errno;
        match errors.iter_mut().find(same) {
            Some(known) => known.count += 1,
            None => errors.push(IoErrors {
                direction,
                operation: None,
                errno,
                count: 1,
                first_offsets: Vec::new(),
            }),
        }
        true
    }
}
