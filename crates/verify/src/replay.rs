//! The writes of a pass, drawn a second time.
//!
//! A stream of I/Os depends on its key alone, so nothing has to be kept to know what was written: the stream is made
//! again, and as many I/Os are taken from it as had been issued. Where their directions followed time, those were kept; and
//! the I/O of a trace stands in the trace.
//!
//! Invariant: a walk that comes to its end without a problem has drawn what had been issued, all of it. What is left out
//! would never be checked, and a check that says nothing has found nothing wrong.

use std::fmt;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::sync::Arc;

use fathom_workload::Direction;
use fathom_workload::generator::{Io, StreamError, WorkerStream};

use crate::directions::Directions;

/// I/O of a trace, from its start; after an error there is no more.
pub type TraceIo = Box<dyn Iterator<Item = io::Result<Io>> + Send>;

/// Opens the trace that a job replays once more.
#[derive(Clone)]
pub struct TraceWalks(Arc<dyn Fn() -> io::Result<TraceIo> + Send + Sync>);

impl TraceWalks {
    /// Each of which `open` begins.
    pub fn new(open: impl Fn() -> io::Result<TraceIo> + Send + Sync + 'static) -> Self {
        Self(Arc::new(open))
    }

    pub(crate) fn walk(&self) -> Result<TraceIo, WalkProblem> {
        (self.0)().map_err(WalkProblem::Unreadable)
    }
}

/// Why what a pass wrote cannot be told a second time, so that not all of it is checked.
#[derive(Debug, thiserror::Error)]
pub enum WalkProblem {
    /// The trace is not to be read any more.
    #[error("{0}")]
    Unreadable(io::Error),
    /// The stream is not to be made again.
    #[error("{0}")]
    Unmade(StreamError),
    /// There are fewer I/Os than were issued.
    #[error("it ends after {found} I/Os, where {issued} were issued")]
    Short {
        /// Those that are there.
        found: u64,
        /// Those that were issued.
        issued: u64,
    },
    /// They are as many, but others.
    #[error("its I/Os are not those that were issued")]
    Changed,
}

/// What the I/Os of a trace come to: others come to something else.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fingerprint(DefaultHasher);

impl Fingerprint {
    pub(crate) fn add(&mut self, io: &Io) {
        (io.direction as u8, io.target, io.offset, io.length).hash(&mut self.0);
    }

    fn is(&self, other: &Self) -> bool {
        self.0.finish() == other.0.finish()
    }
}

impl fmt::Debug for TraceWalks {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("TraceWalks")
    }
}

/// Walks through the first I/Os of a stream and yields the writes among them.
pub struct Replay {
    source: Source,
    ios: u64,
    ios_left: u64,
    next_number: u64,
    problem: Option<WalkProblem>,
}

enum Source {
    Stream(Box<WorkerStream>),
    /// With the directions of its I/Os, and the number of the next.
    Directed(Box<WorkerStream>, Arc<Directions>, u64),
    /// With what its I/Os come to, so far and in the end.
    Trace(TraceIo, Box<[Fingerprint; 2]>),
}

impl Source {
    fn next_io(&mut self) -> io::Result<Option<Io>> {
        Ok(match self {
            Self::Stream(stream) => stream.next_io(),
            Self::Directed(stream, directions, number) => {
                let way = directions.get(*number);
                *number += 1;
                way.and_then(|way| stream.next_io_of(way))
            }
            Self::Trace(ios, prints) => {
                let io = ios.next().transpose()?;
                if let Some(io) = &io {
                    prints[0].add(io);
                }
                io
            }
        })
    }

    /// Whether all of it was what had been issued.
    fn is_the_same(&self) -> bool {
        match self {
            Self::Trace(_, prints) => prints[0].is(&prints[1]),
            Self::Stream(_) | Self::Directed(..) => true,
        }
    }
}

impl Replay {
    /// The writes among the first `ios` I/Os of `stream`, counted from `first_number`.
    pub fn new(stream: WorkerStream, ios: u64, first_number: u64) -> Self {
        Self::of(Source::Stream(Box::new(stream)), ios, first_number)
    }

    /// The same, where the I/Os went these ways.
    pub(crate) fn directed(
        stream: WorkerStream,
        directions: Arc<Directions>,
        ios: u64,
        first_number: u64,
    ) -> Self {
        let source = Source::Directed(Box::new(stream), directions, 0);
        Self::of(source, ios, first_number)
    }

    /// The same of a trace, whose first `ios` I/Os came to `issued`.
    pub(crate) fn of_trace(
        trace: TraceIo,
        issued: Fingerprint,
        ios: u64,
        first_number: u64,
    ) -> Self {
        let prints = Box::new([Fingerprint::default(), issued]);
        Self::of(Source::Trace(trace, prints), ios, first_number)
    }

    fn of(source: Source, ios: u64, first_number: u64) -> Self {
        Self {
            source,
            ios,
            ios_left: ios,
            next_number: first_number,
            problem: None,
        }
    }

    /// Why the walk came to its end, where that was not the end of what had been issued.
    pub fn take_problem(&mut self) -> Option<WalkProblem> {
        self.problem.take()
    }

    /// The next I/O of those that were issued, and whatever is wrong with it.
    fn next_io(&mut self) -> Result<Option<Io>, WalkProblem> {
        if self.ios_left == 0 {
            return Ok(None);
        }
        let io = self.source.next_io().map_err(WalkProblem::Unreadable)?;
        let Some(io) = io else {
            let (issued, found) = (self.ios, self.ios - self.ios_left);
            return Err(WalkProblem::Short { found, issued });
        };
        self.ios_left -= 1;
        if self.ios_left == 0 && !self.source.is_the_same() {
            return Err(WalkProblem::Changed);
        }
        Ok(Some(io))
    }
}

impl fmt::Debug for Replay {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (left, number) = (self.ios_left, self.next_number);
        write!(formatter, "Replay({left} left, next {number})")
    }
}

impl Iterator for Replay {
    type Item = (u64, Io);

    fn next(&mut self) -> Option<(u64, Io)> {
        loop {
            let io = match self.next_io() {
                Ok(io) => io?,
                Err(problem) => {
                    (self.problem, self.ios_left) = (Some(problem), 0);
                    return None;
                }
            };
            if io.direction == Direction::Write {
                let number = self.next_number;
                self.next_number += 1;
                return Some((number, io));
            }
        }
    }
}
