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

/// The rates of all directions, and which goes next.
#[derive(Debug)]
pub(crate) struct Lanes {
    by_direction: [Option<Lane>; 3],
    used: [bool; 3],
    /// Whether each block is trimmed, then written.
    pairs: bool,
    /// Drawn by the mix, and not gone yet.
    wanted: Option<Direction>,
    started: bool,
}

/// What may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// An I/O of this direction, with its intended start where it has one.
    Of(Direction, Option<Nanos>),
    /// Nothing before this moment.
    NotBefore(Nanos),
    /// Nothing of a direction that is used.
    Never,
}

impl Lanes {
    pub(crate) fn new(job: &Job, rates: &DirectionRates, key: StreamKey) -> Self {
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
            by_direction: Direction::ALL.map(lane),
            used: Direction::ALL.map(used),
            pairs,
            wanted: None,
            started: false,
        }
    }

    /// When a direction may go; `None`: at once.
    fn due(&self, way: Direction) -> Option<Nanos> {
        let lane = self.by_direction[way as usize].as_ref()?;
        Some(lane.base.saturating_add(Nanos::new(lane.next)))
    }

    /// What may go at `now`; `draw` gives a direction as the mix has them.
    pub(super) fn turn(&mut self, now: Nanos, draw: impl FnOnce() -> Direction) -> Turn {
        if !self.started {
            self.begin(now);
        }
        let wanted = match self.wanted {
            Some(wanted) => wanted,
            None if self.pairs => Direction::Write,
            None => *self.wanted.insert(draw()),
        };
        let is_due = |way: &Direction| self.due(*way).is_none_or(|due| due <= now);
        let others = Direction::ALL
            .into_iter()
            .filter(|way| self.used[*way as usize]);
        if let Some(way) = std::iter::once(wanted).chain(others.clone()).find(is_due) {
            return Turn::Of(way, self.due(way));
        }
        let first = others.filter_map(|way| self.due(way)).min();
        first.map_or(Turn::Never, Turn::NotBefore)
    }

    /// The I/O that goes on a turn.
    pub(super) fn passed(&mut self, io: &Io) {
        self.wanted = None;
        if let Some(lane) = &mut self.by_direction[io.direction as usize] {
            // The start of this I/O, and then that of the next, which lies this one's size behind it.
            lane.schedule.next_start(io.length);
            lane.next = lane.schedule.peek();
        }
    }

    /// Of a direction that has no rate, nothing is ever due.
    pub(super) fn oldest_due(&self) -> Option<Nanos> {
        let used = Direction::ALL.into_iter();
        let used = used.filter(|way| self.used[*way as usize]);
        used.filter_map(|way| self.due(way)).min()
    }

    /// The schedules start again: what was late before `now` is not owed.
    pub(super) fn begin(&mut self, now: Nanos) {
        self.started = true;
        for lane in self.by_direction.iter_mut().flatten() {
            lane.base = now.saturating_sub(Nanos::new(lane.next));
        }
    }

    /// They do so with the next turn.
    pub(super) fn begin_anew(&mut self) {
        self.started = false;
    }

    pub(super) fn stood_still(&mut self, pause: Nanos) {
        for lane in self.by_direction.iter_mut().flatten() {
            lane.base += think::moved_by(pause, lane.rate, lane.block);
        }
    }
}

/// A stream held to rates by direction.
#[derive(Debug)]
pub(super) struct Rated {
    stream: WorkerStream,
    lanes: Lanes,
}

impl Rated {
    pub(super) fn new(
        job: &Job,
        rates: &DirectionRates,
        key: StreamKey,
        stream: WorkerStream,
    ) -> Self {
        let lanes = Lanes::new(job, rates, key);
        Self { stream, lanes }
    }
}

impl IoSource for Rated {
    fn next(&mut self, now: Nanos, _in_flight: u32) -> Next {
        let (way, at) = match self.lanes.turn(now, || self.stream.draw_direction()) {
            Turn::Of(way, at) => (way, at),
            Turn::NotBefore(moment) => return Next::NotBefore(moment),
            Turn::Never => return Next::AfterCompletion,
        };
        let Some(io) = self.stream.next_io_of(way) else {
            return Next::End;
        };
        self.lanes.passed(&io);
        let sourced = Sourced::of(io);
        Next::Io(Sourced { at, ..sourced })
    }

    fn stream(&mut self) -> Option<&mut WorkerStream> {
        Some(&mut self.stream)
    }

    fn oldest_due(&self) -> Option<Nanos> {
        self.lanes.oldest_due()
    }

    fn measuring(&mut self, now: Nanos) {
        self.lanes.begin(now);
    }

    fn stood_still(&mut self, pause: Nanos) {
        self.lanes.stood_still(pause);
    }
}
