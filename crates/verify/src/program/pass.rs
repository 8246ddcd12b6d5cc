//! The passes of a job, each with a stream of its own.

use fathom_units::Percent;
use fathom_workload::generator::{
    Io, Rejection, SharedCursor, StreamError, StreamKey, TargetRange, WorkerStream,
};
use fathom_workload::{Access, Coverage, Direction, Job, Limits, Mix, Placement, SequentialScope};

use super::Drawn;
use crate::directions::{Directions, KEPT_MAX, directions_follow_time};
use crate::intervals::write_sizes;
use crate::replay::Fingerprint;

/// Sets the streams of the passes apart: pass 0 has the stream of an unverified job.
const PASS_SALT: u64 = 0x9e37_79b9_0000_0000;

/// What the passes of a job are made from, and how many there are.
#[derive(Debug, Clone)]
pub(super) struct Passes {
    /// With the limits of a single pass.
    job: Job,
    key: StreamKey,
    ranges: Vec<TargetRange>,
    made: u32,
    left: u64,
    /// Passes that are asked for.
    asked: u64,
    /// Bytes of all targets.
    total: u64,
    endless: bool,
    ios_max: u64,
    /// Passes follow until this many bytes were moved.
    bytes_until: Option<u64>,
    /// The streams of all passes end together once they have moved this many bytes.
    together: Option<u64>,
    /// Whether the directions of I/Os are kept.
    keeps_directions: bool,
}

/// One pass as far as it went.
#[derive(Debug)]
pub(super) struct Pass {
    stream: WorkerStream,
    index: u32,
    ios: u64,
    writes: u64,
    bytes: u64,
    directions: Option<Directions>,
    /// What the I/Os of a trace come to.
    print: Option<Fingerprint>,
}

/// Whether a walk in order has all of its targets, block after block, whatever the sizes.
fn leaves_nothing_out(rules: &Placement) -> bool {
    rules.skip == 0 && rules.zones.is_none() && rules.stride.is_none()
}

/// Whether reads and writes in order, each from its own last place, go through all of their targets.
fn is_mix_in_order(job: &Job) -> bool {
    let is_mix = job.mix.read > Percent::ZERO && job.mix.write > Percent::ZERO;
    let walk = job.features.placement.as_deref();
    let in_order = matches!(job.access, Access::Sequential { gap, .. } if gap.get() == 0);
    is_mix && in_order && walk.is_none_or(leaves_nothing_out)
}

impl Passes {
    pub(super) fn new(job: &Job, key: StreamKey, ranges: &[TargetRange]) -> Self {
        let limits = job.limits;
        let total = ranges
            .iter()
            .fold(0u64, |sum, range| sum.saturating_add(range.length));
        let each_once = match job.access {
            Access::Random { coverage, .. } => coverage == Coverage::EachBlockOnce,
            // Reads in between would not be checked, and move the job on by as much: it goes round in one.
            Access::Sequential { gap, .. } => {
                let walk = job.features.placement.as_deref();
                let pairs = walk.is_some_and(|rules| rules.trim_then_write);
                let writes = job.mix == Mix::WRITE || pairs;
                gap.get() == 0 && writes && walk.is_none_or(leaves_nothing_out)
            }
            Access::Mixed { .. } => false,
        };
        let in_passes = each_once && job.mix.write > Percent::ZERO;
        let asked = u64::from(limits.loops.max(1));
        let ends_together = is_mix_in_order(job) && limits.bytes.is_none() && !limits.time_based;
        let together = ends_together.then(|| total.saturating_mul(asked));
        let more = limits.bytes.map(fathom_units::Bytes::get);
        let bytes_until = more.filter(|bytes| in_passes && *bytes > total);
        // Of a trace they stand in the trace.
        let keeps_directions = directions_follow_time(job) && job.features.replay.is_none();
        let mut job = job.clone();
        job.limits = Limits {
            time_based: false,
            loops: 1,
            ios: None,
            bytes: limits.bytes.filter(|_| bytes_until.is_none()),
            ..limits
        };
        Self {
            job,
            key,
            ranges: ranges.to_vec(),
            made: 0,
            left: asked - 1,
            asked,
            total,
            endless: limits.time_based,
            ios_max: limits
                .ios
                .filter(|_| !limits.time_based)
                .unwrap_or(u64::MAX),
            bytes_until,
            together,
            keeps_directions,
        }
    }

    /// Of a job that replays a trace: there is one pass.
    pub(super) fn once(&mut self) {
        (self.left, self.asked, self.endless) = (0, 1, false);
        (self.bytes_until, self.together) = (None, None);
    }

    /// Whether the order of a pass can be kept, where it must be.
    pub(super) fn check_order(&self) -> Result<(), StreamError> {
        let sizes = |way| self.job.block.of(way).iter().map(|entry| entry.size.get());
        let smallest = sizes(Direction::Read).chain(sizes(Direction::Write)).min();
        let ios = self.bytes_of_one() / smallest.unwrap_or(1).max(1);
        if !self.keeps_directions || ios.min(self.ios_max) <= KEPT_MAX {
            return Ok(());
        }
        let most = KEPT_MAX;
        Err(StreamError {
            job: self.job.name.clone(),
            reason: Rejection::OrderBeyondMemory { ios, most },
        })
    }

    /// The stream of the pass of this number.
    pub(super) fn stream(&self, index: u32) -> Result<WorkerStream, StreamError> {
        let key = StreamKey {
            salt: self
                .key
                .salt
                .wrapping_add(u64::from(index).wrapping_mul(PASS_SALT)),
            ..self.key
        };
        WorkerStream::new(&self.job, key, &self.ranges, &SharedCursor::new())
    }

    pub(super) fn next_pass(&mut self) -> Result<Pass, StreamError> {
        let index = self.made;
        let stream = self.stream(index)?;
        self.made += 1;
        Ok(Pass {
            stream,
            index,
            ios: 0,
            writes: 0,
            bytes: 0,
            directions: self.keeps_directions.then(Directions::default),
            print: None,
        })
    }

    /// Bytes that all passes which are asked for shall move.
    pub(super) fn bytes_of_all(&self) -> u64 {
        let limit = self.job.limits.bytes.map(fathom_units::Bytes::get);
        let one = self.bytes_until.or(limit).unwrap_or(self.total);
        one.saturating_mul(self.asked)
    }

    /// Bytes that one pass shall move.
    pub(super) fn bytes_of_one(&self) -> u64 {
        let limit = self.job.limits.bytes.map(fathom_units::Bytes::get);
        limit.unwrap_or(self.total)
    }

    /// Whether another I/O may be issued after `ios`.
    pub(super) fn allows(&self, ios: u64) -> bool {
        ios < self.ios_max
    }

    /// Whether the streams of all passes have ended that moved `bytes` bytes together.
    pub(super) fn ended_together(&self, bytes: u64) -> bool {
        self.together.is_some_and(|until| bytes >= until)
    }

    /// Whether another pass follows after `ios` I/Os of `bytes` bytes; `stops`: only those that were asked for.
    pub(super) fn goes_on(&mut self, ios: u64, bytes: u64, stops: bool) -> bool {
        if self.endless {
            return true;
        }
        if self.left > 0 {
            self.left -= 1;
            return true;
        }
        let (_, largest) = self.block_bounds();
        let until = self.bytes_until.unwrap_or(0);
        !stops && self.allows(ios) && until.saturating_sub(bytes) >= largest.max(1)
    }

    /// Whether a pass may write a block twice.
    pub(super) fn may_overlap(&self) -> bool {
        let total = self
            .ranges
            .iter()
            .fold(0u64, |sum, range| sum.saturating_add(range.length));
        let fits = self
            .job
            .limits
            .bytes
            .is_none_or(|bytes| bytes.get() <= total);
        let in_order = match self.job.access {
            Access::Random {
                coverage: Coverage::EachBlockOnce,
                run: 1,
            } => self.job.block.single_size(self.job.mix).is_some(),
            Access::Sequential { gap, scope } => {
                gap.get() == 0 && scope == SequentialScope::PerWorker
            }
            _ => false,
        };
        let is_plain = self.job.features.placement.is_none();
        !(fits && in_order && is_plain)
    }

    /// Smallest and largest block of writes.
    pub(super) fn block_bounds(&self) -> (u64, u64) {
        let sizes = write_sizes(&self.job);
        let bound = |size: Option<&u64>| size.copied().unwrap_or(1);
        (bound(sizes.iter().min()), bound(sizes.iter().max()))
    }
}

impl Pass {
    /// The next I/O of a pass that is not issued: it goes as its mix has it.
    pub(super) fn next_io(&mut self) -> Option<Io> {
        let io = self.stream.next_io()?;
        self.directions = None;
        self.took(&io);
        Some(io)
    }

    /// The next I/O as `draw` gives it.
    pub(super) fn draw(&mut self, draw: &mut dyn FnMut(&mut WorkerStream) -> Drawn) -> Drawn {
        let drawn = draw(&mut self.stream);
        if let Drawn::Io(io) = &drawn {
            if let Some(directions) = &mut self.directions {
                directions.push(io.direction);
            }
            self.took(io);
        }
        drawn
    }

    fn took(&mut self, io: &Io) {
        self.ios += 1;
        self.bytes += u64::from(io.length);
        if let Some(print) = &mut self.print {
            print.add(io);
        }
    }

    /// Its I/Os are those of a trace.
    pub(super) fn of_trace(&mut self) {
        self.print = Some(Fingerprint::default());
    }

    /// What the I/Os of a trace came to.
    pub(super) fn print(&self) -> Fingerprint {
        self.print.clone().unwrap_or_default()
    }

    /// The directions of its I/Os, where they are kept; once.
    pub(super) fn take_directions(&mut self) -> Option<Directions> {
        self.directions.take()
    }

    /// Takes back the last I/O where it was not issued after all.
    pub(super) fn ended_before(&mut self, an_io: bool) {
        self.ios -= u64::from(an_io);
    }

    pub(super) fn wrote(&mut self) {
        self.writes += 1;
    }

    /// I/Os drawn.
    pub(super) fn ios(&self) -> u64 {
        self.ios
    }

    /// Bytes of them.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Writes among them.
    pub(super) fn writes(&self) -> u64 {
        self.writes
    }

    pub(super) fn index(&self) -> u32 {
        self.index
    }
}
