//! What was served: counts and latencies of every export, seconds as they go by, and how far all that was from the model.
//!
//! Invariant: counting an I/O allocates nothing but a second's first of its direction; what is handed over each second goes
//! to a thread of its own.

use std::collections::BTreeMap;
use std::sync::mpsc::SyncSender;

use fathom_model::{Limit, Waits};
use fathom_nbd::{Command, NbdError, Request};
use fathom_record::{FailedOperation, IntervalStats, IoErrors, OpStats, SetStats, WorkerStats};
use fathom_stats::Histogram;
use fathom_units::Nanos;
use fathom_workload::Direction;

use crate::in_flight::Io;
use crate::pace::Pace;
use crate::trace::{Entry, Tracer};

const SECOND: Nanos = Nanos::from_secs(1);
/// Offsets of failed I/Os that are kept.
const OFFSETS_KEPT: usize = 8;

/// What an I/O of these counts as.
fn direction(command: Command) -> Option<Direction> {
    match command {
        Command::Read => Some(Direction::Read),
        Command::Write | Command::WriteZeroes => Some(Direction::Write),
        Command::Trim => Some(Direction::Trim),
        _ => None,
    }
}

/// The limit that an I/O waited for longest.
pub(crate) fn binding(waits: &Waits) -> Option<Limit> {
    let waits = waits.iter().filter(|wait| wait.time > Nanos::ZERO);
    waits.max_by_key(|wait| wait.time).map(|wait| wait.limit)
}

/// One export's figures.
#[derive(Debug)]
struct ExportMeter {
    stats: WorkerStats,
    waited: [[u128; Limit::ALL.len()]; 3],
    errors: BTreeMap<(&'static str, i32), IoErrors>,
    next_index: u64,
    first: Option<Nanos>,
    last: Nanos,
    instant: bool,
}

/// What happened in a second, for those who show and keep it.
#[derive(Debug)]
pub(crate) struct Second {
    pub interval: IntervalStats,
    /// How late answers were, in ns.
    pub error: Histogram,
    /// How long was waited for each limit, in ns.
    pub waited: [u128; Limit::ALL.len()],
    /// Gauges of the model, in its order.
    pub gauges: Vec<GaugeSample>,
}

/// What a part of the model holds at the end of a second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct GaugeSample {
    pub reads: u64,
    pub hits: u64,
    pub iops_credits: Option<f64>,
    pub bytes_credits: Option<f64>,
    pub dirty_bytes: Option<u64>,
}

/// All figures of a server.
#[derive(Debug)]
pub(crate) struct Meter {
    start: Nanos,
    exports: Vec<ExportMeter>,
    /// The second that is going on.
    present: [Option<OpStats>; 3],
    present_error: Histogram,
    present_waited: [u128; Limit::ALL.len()],
    /// Start of that second, and when it is to end.
    from: Nanos,
    next: Nanos,
    error: Histogram,
    /// I/Os for which this machine had no room.
    without_room: u64,
    seconds: SyncSender<Second>,
    tracer: Option<Tracer>,
}

impl Meter {
    /// Nothing served yet, at `start`; of each export whether its I/O takes no time in the model.
    pub fn new(
        start: Nanos,
        instant: impl Iterator<Item = bool>,
        seconds: SyncSender<Second>,
        tracer: Option<Tracer>,
    ) -> Self {
        let exports = instant.enumerate().map(|(job, instant)| ExportMeter {
            stats: WorkerStats::new(job, 0),
            waited: [[0; Limit::ALL.len()]; 3],
            errors: BTreeMap::new(),
            next_index: 0,
            first: None,
            last: Nanos::ZERO,
            instant,
        });
        Self {
            start,
            exports: exports.collect(),
            present: [None, None, None],
            present_error: Histogram::new(),
            present_waited: [0; Limit::ALL.len()],
            from: start,
            next: start + SECOND,
            error: Histogram::new(),
            without_room: 0,
            seconds,
            tracer,
        }
    }

    /// I/Os that failed because this machine had no room for their bytes.
    pub fn without_room(&self) -> u64 {
        self.without_room
    }

    /// The number that an export's next I/O will have.
    #[inline]
    pub fn index(&self, export: usize) -> u64 {
        self.exports[export].next_index
    }

    /// The number of an export's next I/O, which it takes.
    #[inline]
    pub fn next_index(&mut self, export: usize) -> u64 {
        let next = &mut self.exports[export].next_index;
        *next += 1;
        *next - 1
    }

    /// Counts a request that was refused.
    pub fn refuse(&mut self, export: usize, request: &Request, error: NbdError) {
        self.exports[export].fail(request.command, error as i32, request.offset);
    }

    /// Counts a request that was right and could not be done.
    pub fn could_not(&mut self, export: usize, (command, offset): (Command, u64), error: NbdError) {
        self.without_room += u64::from(error == NbdError::NoSpace);
        self.exports[export].fail(command, error as i32, offset);
    }

    /// Counts an I/O that failed: one without room lacked that of this machine, since the model has no such error.
    pub fn fail(&mut self, io: &Io, error: NbdError) {
        self.without_room += u64::from(error == NbdError::NoSpace);
        self.exports[io.export as usize].fail(io.command, error as i32, io.offset);
    }

    /// Counts an I/O that is answered at `now` by the clock, which is `time` in the model.
    #[inline]
    pub fn count(&mut self, io: &Io, now: Nanos, time: Nanos) {
        if let Some(error) = io.error {
            return self.fail(io, error);
        }
        let export = &mut self.exports[io.export as usize];
        let (due, way) = (io.due.unwrap_or(time), direction(io.command));
        export.first.get_or_insert(io.asked);
        export.last = now;
        let latency = time.saturating_sub(io.asked);
        // An answer cannot be before its request, which may be dated back.
        let late = time.saturating_sub(due.max(io.asked)) + io.held;
        let late = late.get();
        if !export.instant {
            self.error.record(late);
            self.present_error.record(late);
        }
        let Some(way) = way else {
            let sync = &mut export.stats.sync;
            let sync = sync.get_or_insert_with(|| OpStats::new(false, false));
            sync.latency.record(latency.get());
            return self.trace(io, due, time);
        };
        let both = [
            &mut export.stats.directions[way as usize],
            &mut self.present[way as usize],
        ];
        for stats in both {
            let stats = stats.get_or_insert_with(|| OpStats::new(false, false));
            stats.bytes += u64::from(io.length);
            stats.latency.record(latency.get());
        }
        export.stats.outstanding_ns += u128::from(latency.get());
        io.waits.add_to(&mut export.waited[way as usize]);
        io.waits.add_to(&mut self.present_waited);
        self.trace(io, due, time);
    }

    #[inline]
    fn trace(&mut self, io: &Io, due: Nanos, time: Nanos) {
        if let Some(tracer) = &mut self.tracer {
            tracer.add(Entry {
                arrival: io.sent.saturating_sub(self.start),
                export: io.export,
                command: io.command,
                fua: io.fua,
                offset: io.offset,
                length: io.length,
                due: due.saturating_sub(self.start),
                done: time.saturating_sub(self.start),
                limit: binding(&io.waits),
            });
        }
    }

    /// When the second that is going on ends.
    pub fn next(&self) -> Nanos {
        self.next
    }

    /// Hands over the second that has ended by `now`, if one has.
    #[inline]
    pub fn roll(&mut self, now: Nanos, pace: &Pace) {
        if now >= self.next {
            self.hand_over(now, pace);
        }
    }

    fn hand_over(&mut self, now: Nanos, pace: &Pace) {
        let length = now.saturating_sub(self.from);
        self.next = now + SECOND;
        let gauges = pace.storage.gauges(pace.since_start(now));
        let gauges = gauges.map(|gauge| GaugeSample {
            reads: gauge.reads,
            hits: gauge.hits,
            iops_credits: gauge.iops_credits,
            bytes_credits: gauge.bytes_credits,
            dirty_bytes: gauge.dirty_bytes,
        });
        let second = Second {
            interval: IntervalStats {
                at: now.saturating_sub(self.start),
                length,
                directions: std::mem::take(&mut self.present),
                set: SetStats::default(),
            },
            error: std::mem::replace(&mut self.present_error, Histogram::new()),
            waited: std::mem::replace(&mut self.present_waited, [0; Limit::ALL.len()]),
            gauges: gauges.collect(),
        };
        // Whoever shows and keeps seconds may be slow; then this one is shown with the next.
        if let Err(error) = self.seconds.try_send(second) {
            self.take_back(error);
        } else {
            self.from = now;
        }
        if let Some(tracer) = &mut self.tracer {
            tracer.flush();
        }
    }

    /// A second that nobody took goes on.
    fn take_back(&mut self, error: std::sync::mpsc::TrySendError<Second>) {
        let (std::sync::mpsc::TrySendError::Full(second)
        | std::sync::mpsc::TrySendError::Disconnected(second)) = error;
        self.present = second.interval.directions;
        self.present_error = second.error;
        self.present_waited = second.waited;
    }

    /// Ends at `now`: the last second, and the figures of each export; and how late answers were in all.
    pub fn finish(mut self, now: Nanos, pace: &Pace) -> (Vec<WorkerStats>, Histogram) {
        self.hand_over(now, pace);
        let exports = self.exports.into_iter();
        let start = self.start;
        let stats = exports.map(|export| export.finish(start));
        (stats.collect(), self.error)
    }
}

impl ExportMeter {
    fn fail(&mut self, command: Command, errno: i32, offset: u64) {
        let (direction, operation) = match (direction(command), command) {
            (Some(direction), _) => (direction, None),
            (None, Command::Flush) => (Direction::Write, Some(FailedOperation::Sync)),
            // A disk has no such request.
            _ => return,
        };
        let key = operation.map_or(direction.name(), FailedOperation::name);
        let errors = self.errors.entry((key, errno));
        let errors = errors.or_insert_with(|| IoErrors {
            direction,
            operation,
            errno,
            count: 0,
            first_offsets: Vec::new(),
        });
        errors.count += 1;
        if errors.first_offsets.len() < OFFSETS_KEPT {
            errors.first_offsets.push((0, offset));
        }
    }

    fn finish(self, start: Nanos) -> WorkerStats {
        let mut stats = self.stats;
        stats.errors = self.errors.into_values().collect();
        let first = self.first.unwrap_or(start);
        stats.started = first.saturating_sub(start);
        stats.measured = self.last.saturating_sub(first);
        for (way, waited) in self.waited.iter().enumerate() {
            for (limit, ns) in Limit::ALL.iter().zip(waited).filter(|(_, ns)| **ns > 0) {
                stats.waited_ns[way].insert(limit.name().to_owned(), *ns);
            }
        }
        stats
    }
}

/// From the first I/O of all exports to their last; `None` where nothing was served.
pub(crate) fn measured(exports: &[WorkerStats]) -> Option<Nanos> {
    let served = exports.iter().filter(|one| one.measured > Nanos::ZERO);
    let first = served.clone().map(|one| one.started).min()?;
    let last = served.map(|one| one.started + one.measured).max()?;
    Some(last.saturating_sub(first))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::in_flight::Sync;
    use std::sync::mpsc::sync_channel;

    fn meter() -> Meter {
        let (seconds, _) = sync_channel(1);
        Meter::new(Nanos::ZERO, [false].into_iter(), seconds, None)
    }

    /// A read of 4 KiB that the client sent at `asked`, and the model was done with at `due`.
    fn read(asked: u64, due: u64) -> Io {
        Io {
            client: (0, 0),
            structured: false,
            export: 0,
            command: Command::Read,
            fua: false,
            cookie: 0,
            offset: 8192,
            length: 4096,
            left: 0,
            reached: 4096,
            index: 0,
            asked: Nanos::new(asked),
            sent: Nanos::new(asked),
            held: Nanos::ZERO,
            due: Some(Nanos::new(due)),
            waits: Waits::NONE,
            sync: Sync::Done,
            cached: false,
            era: 0,
            error: None,
        }
    }

    /// From when it was due, or from when it was asked for where that was later; and what the model had to wait is late, too.
    #[test]
    fn an_answer_is_late_by_what_it_is_after_its_due_time() {
        for (asked, due, held, answered, late, latency) in [
            (100, 300, 0, 350, 50, 250),
            (200, 150, 0, 230, 30, 30),
            (100, 300, 7, 350, 57, 250),
            (100, 300, 0, 290, 0, 190),
        ] {
            let mut meter = meter();
            let io = Io {
                held: Nanos::new(held),
                ..read(asked, due)
            };
            meter.count(&io, Nanos::new(answered), Nanos::new(answered));
            assert_eq!(meter.error.max(), late, "{io:?}");
            let stats = meter.exports[0].stats.directions[0].as_ref().unwrap();
            assert_eq!((stats.latency.max(), stats.bytes), (latency, 4096));
        }
    }

    #[test]
    fn what_failed_is_counted_by_its_error_and_what_had_no_room_apart() {
        let mut meter = meter();
        meter.fail(&read(0, 0), NbdError::NoSpace);
        meter.could_not(0, (Command::Write, 4096), NbdError::NoSpace);
        meter.could_not(0, (Command::Write, 8192), NbdError::Io);
        meter.could_not(0, (Command::Write, 12288), NbdError::Io);
        assert_eq!(meter.without_room(), 2);
        let export = meter.exports.remove(0).finish(Nanos::ZERO);
        let told = export.errors.iter();
        let told: Vec<_> = told
            .map(|it| (it.direction, it.errno, it.count, it.first_offsets.clone()))
            .collect();
        let expected = [
            (Direction::Read, 28, 1, vec![(0, 8192)]),
            (Direction::Write, 5, 2, vec![(0, 8192), (0, 12288)]),
            (Direction::Write, 28, 1, vec![(0, 4096)]),
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn measured_is_from_the_first_io_to_the_last() {
        let export = |started, measured| {
            let mut export = WorkerStats::new(0, 0);
            export.started = Nanos::from_secs(started);
            export.measured = Nanos::from_secs(measured);
            export
        };
        let idle = export(0, 0);
        assert_eq!(measured(std::slice::from_ref(&idle)), None);
        let exports = [idle, export(7, 2), export(3, 5)];
        assert_eq!(measured(&exports), Some(Nanos::from_secs(6)));
    }
}
