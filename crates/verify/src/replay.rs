//! The writes of a pass, drawn a second time.
//!
//! A stream of I/Os depends on its key alone, so nothing has to be kept to know what was written: the stream is made
//! again, and as many I/Os are taken from it as had been issued. Where their directions followed time, those were kept; and
//! the I/O of a trace stands in the trace.

use std::fmt;
use std::sync::Arc;

use fathom_workload::Direction;
use fathom_workload::generator::{Io, WorkerStream};

use crate::directions::Directions;

/// I/O of a trace, from its start.
pub type TraceIo = Box<dyn Iterator<Item = Io> + Send>;

/// Opens the trace that a job replays once more; `None` where it is not there any longer.
#[derive(Clone)]
pub struct TraceWalks(Arc<dyn Fn() -> Option<TraceIo> + Send + Sync>);

impl TraceWalks {
    /// Each of which `open` begins.
    pub fn new(open: impl Fn() -> Option<TraceIo> + Send + Sync + 'static) -> Self {
        Self(Arc::new(open))
    }

    pub(crate) fn walk(&self) -> Option<TraceIo> {
        (self.0)()
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
    ios_left: u64,
    next_number: u64,
}

enum Source {
    Stream(Box<WorkerStream>),
    /// With the directions of its I/Os, and the number of the next.
    Directed(Box<WorkerStream>, Arc<Directions>, u64),
    Trace(TraceIo),
}

impl Source {
    fn next_io(&mut self) -> Option<Io> {
        match self {
            Self::Stream(stream) => stream.next_io(),
            Self::Directed(stream, directions, number) => {
                let way = directions.get(*number)?;
                *number += 1;
                stream.next_io_of(way)
            }
            Self::Trace(ios) => ios.next(),
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

    /// The same of a trace.
    pub(crate) fn of_trace(trace: TraceIo, ios: u64, first_number: u64) -> Self {
        Self::of(Source::Trace(trace), ios, first_number)
    }

    fn of(source: Source, ios: u64, first_number: u64) -> Self {
        Self {
            source,
            ios_left: ios,
            next_number: first_number,
        }
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
        while self.ios_left > 0 {
            self.ios_left -= 1;
            let io = self.source.next_io()?;
            if io.direction == Direction::Write {
                let number = self.next_number;
                self.next_number += 1;
                return Some((number, io));
            }
        }
        None
    }
}
