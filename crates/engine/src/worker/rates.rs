//! A rate of its own for each direction.
//!
//! The mix picks a direction; where that one is ahead of its rate and another is not, the other goes instead. Every I/O of
//! a direction with a rate has its intended start, which no completion moves, so that its response time can be told. A trim
//! and the write that follows it go together, when the write is due.

use fathom_units::Nanos;
use fathom_workload::generator::{ArrivalSchedule, Io, StreamKey, WorkerStream};
use fathom_workload::{Direction, DirectionRates, Job, Pacing};

use super::full::IoSource;
use super::source::{Next, Sourced};
use super::think;

/// The schedule of one direction.
#[derive(Debug)]
struct Lane {
    schedule: ArrivalSchedule,
    rate: Pacing,
    /// Bytes of its smallest block.
    block: u64,
    /// Intended start of its next I/O, from the first; known once its size is.
    next: u64,
    /// The moment at which it starts.
    base: Nanos,
}

/// A stream held to rates by direction.
#[derive(Debug)]
pub(super) struct Rated {
    stream: WorkerStream,
    lanes: [Option<Lane>; 3],
    used: [bool; 3],
    /// Whether each block is trimmed, then written.
    pairs: bool,
    /// Drawn by the mix, and not gone yet.
    wanted: Option<Direction>,
    started: bool,
}

impl Rated {
    pub(super) fn new(
        job: &Job,
        rates: &DirectionRates,
        key: StreamKey,
        stream: WorkerStream,
    ) -> Self {
        let placement = job.features.placement.as_ref();
        let pairs = placement.is_some_and(|rules| rules.trim_then_write);
        let used = |way: Direction| {
            let is_held = !pairs || way == Direction::Write;
            is_held && job.mix.share(way).basis_points() > 0
        };
        let lane = |way: Direction| {
            let rate = rates.rates[way as usize].filter(|_| !pairs || used(way))?;
            // The directions of a Poisson process are independent of each other.
            let salt = key.salt ^ (way as u64).rotate_right(8);
            Some(Lane {
                schedule: ArrivalSchedule::new(rate, rates.poisson, StreamKey { salt, ..key }),
                rate,
                block: job
                    .block
                    .of(way)
                    .iter()
                    .map(|it| it.size.get())
                    .min()
                    .unwrap_or(0),
                next: 0,
                base: Nanos::ZERO,
            })
        };
        Self {
            stream,
            lanes: Direction::ALL.map(lane),
            used: Direction::ALL.map(used),
            pairs,
            wanted: None,
            started: false,
        }
    }

    /// When a direction may go; `None`: at once.
    fn due(&self, way: Direction) -> Option<Nanos> {
        let lane = self.lanes[way as usize].as_ref()?;
        Some(lane.base.saturating_add(Nanos::new(lane.next)))
    }

    fn take(&mut self, way: Direction) -> Next {
        let at = self.due(way);
        let Some(io) = self.stream.next_io_of(way) else {
            return Next::End;
        };
        self.pass(&io);
        self.wanted = None;
        Next::Io(Sourced { io, at, tag: 0 })
    }

    fn pass(&mut self, io: &Io) {
        if let Some(lane) = &mut self.lanes[io.direction as usize] {
            // The start of this I/O, and then that of the next, which lies this one's size behind it.
            lane.schedule.next_start(io.length);
            lane.next = lane.schedule.peek();
        }
    }
}

impl IoSource for Rated {
    fn next(&mut self, now: Nanos, _in_flight: u32) -> Next {
        if !self.started {
            self.measuring(now);
        }
        let wanted = match self.wanted {
            Some(wanted) => wanted,
            None if self.pairs => Direction::Write,
            None => *self.wanted.insert(self.stream.draw_direction()),
        };
        let is_due = |way: &Direction| self.due(*way).is_none_or(|due| due <= now);
        let others = Direction::ALL
            .into_iter()
            .filter(|way| self.used[*way as usize]);
        if let Some(way) = std::iter::once(wanted).chain(others.clone()).find(is_due) {
            return self.take(way);
        }
        let first = others.filter_map(|way| self.due(way)).min();
        first.map_or(Next::AfterCompletion, Next::NotBefore)
    }

    fn stream(&mut self) -> Option<&mut WorkerStream> {
        Some(&mut self.stream)
    }

    /// Of a direction that has no rate, nothing is ever due.
    fn oldest_due(&self) -> Option<Nanos> {
        let used = Direction::ALL.into_iter();
        let used = used.filter(|way| self.used[*way as usize]);
        used.filter_map(|way| self.due(way)).min()
    }

    /// The schedules start again: what was late before is not owed to the measurement.
    fn measuring(&mut self, now: Nanos) {
        self.started = true;
        for lane in self.lanes.iter_mut().flatten() {
            lane.base = now.saturating_sub(Nanos::new(lane.next));
        }
    }

    fn stood_still(&mut self, pause: Nanos) {
        for lane in self.lanes.iter_mut().flatten() {
            lane.base += think::moved_by(pause, lane.rate, lane.block);
        }
    }
}
