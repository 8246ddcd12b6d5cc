//! I/O that comes from a trace.
//!
//! Each I/O of a trace with times has an intended start: the worker's first look at the trace, plus the trace's own time,
//! at the pace asked for. A slow storage does not move it, so response time counts from it; where a trace is replayed at
//! once, I/Os start as soon as the depth allows.
//!
//! A thread of its own reads ahead, a bounded number of entries: the worker never waits for the file that holds the trace,
//! unless that is read more slowly than it is replayed.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use fathom_rawio::Operation;
use fathom_units::Nanos;
use fathom_workload::generator::Io;
use fathom_workload::trace::{TraceAction, TraceEntry, TraceError, TraceReader};
use fathom_workload::{Direction, Job, Replay, ReplayPace};

use super::full::IoSource;
use super::source::{Leftover, Next, Sourced};
use crate::{EngineError, TraceLeft};

/// Entries handed over together.
const CHUNK: usize = 4096;
/// Chunks read ahead.
const AHEAD: usize = 4;
/// Bytes of the trace read at a time.
const BUFFER_BYTES: usize = 1 << 18;

type Chunk = Result<Vec<TraceEntry>, TraceError>;

/// A trace being replayed by one worker.
pub(crate) struct Replayer<'a> {
    chunks: Receiver<Chunk>,
    current: std::vec::IntoIter<TraceEntry>,
    next: Option<TraceEntry>,
    pace: ReplayPace,
    job: &'a Job,
    largest: [u64; 3],
    start: Option<Nanos>,
    /// When the last I/O that was taken is to start.
    intended_end: Option<Nanos>,
    /// End of the last wait of a trace without times.
    waited: Nanos,
    index: u64,
    /// Why it broke off. It was looked through before, so it was changed since.
    broken: Option<String>,
}

impl<'a> Replayer<'a> {
    /// Begins to read.
    ///
    /// # Errors
    /// Where the trace cannot be opened, or its start is none.
    pub(crate) fn new(replay: &Replay, job: &'a Job) -> Result<Self, EngineError> {
        let failed = |source| EngineError::target(&replay.path, "reading the trace", source);
        let trace = File::open(&replay.path).and_then(|file| reader(file, replay));
        let trace = trace.map_err(failed)?;
        let (sender, chunks) = sync_channel(AHEAD);
        let adapted = replay.clone();
        let reader = std::thread::Builder::new().name("trace".to_owned());
        let spawned = reader.spawn(move || read(trace, &adapted, &sender));
        spawned.map_err(failed)?;
        Ok(Self {
            chunks,
            current: Vec::new().into_iter(),
            next: None,
            pace: replay.pace,
            job,
            largest: Direction::ALL.map(|way| {
                let sizes = job.block.of(way).iter().map(|entry| entry.size.get());
                sizes.max().unwrap_or(0)
            }),
            start: None,
            intended_end: None,
            waited: Nanos::ZERO,
            index: 0,
            broken: None,
        })
    }

    /// The next entry that does something; `None` at the end, or where it breaks off.
    fn entry(&mut self) -> Option<TraceEntry> {
        loop {
            if let Some(entry) = self.next.take().or_else(|| self.current.next()) {
                return Some(entry);
            }
            self.current = match self.chunks.recv().ok()? {
                Ok(chunk) => chunk.into_iter(),
                Err(error) => {
                    self.broken = Some(error.to_string());
                    return None;
                }
            };
        }
    }

    /// Why not all of it was replayed, once.
    pub(super) fn take_problem(&mut self) -> Option<EngineError> {
        let why = self.broken.take()?;
        Some(EngineError::TraceChanged {
            job: self.job.name.clone(),
            path: self.job.features.replay.as_ref()?.path.clone(),
            left: TraceLeft::Unreplayed,
            why,
        })
    }

    /// When an entry is to start, if it has a time.
    fn due(&self, entry: &TraceEntry, start: Nanos) -> Option<Nanos> {
        let ReplayPace::Timed(percent) = self.pace else {
            return None;
        };
        let at = u128::from(entry.at?.get()) * 100 / u128::from(percent.max(1));
        let at = Nanos::new(u64::try_from(at).unwrap_or(u64::MAX));
        Some(start.saturating_add(at))
    }

    fn io(&mut self, entry: &TraceEntry, at: Option<Nanos>) -> Option<Next> {
        let io = io_of(entry, self.index)?;
        let (direction, length) = (io.direction, io.length);
        // Only a trace that was changed since it was looked through holds what was not foreseen.
        let fits =
            direction == Direction::Trim || u64::from(length) <= self.largest[direction as usize];
        let is_known = (entry.file as usize) < self.job.targets.len();
        let goes = self.job.mix.share(direction).basis_points() > 0;
        if !(fits && is_known && goes) {
            self.broken = Some(format!("its I/O {} is none of this job", self.index + 1));
            return Some(Next::End);
        }
        self.index += 1;
        self.intended_end = at.or(self.intended_end);
        let durable = matches!(entry.action, TraceAction::Io { durable: true, .. });
        let sourced = Sourced::of(io);
        Some(Next::Io(Sourced {
            at,
            durable,
            ..sourced
        }))
    }
}

/// A file that must not end before it did when it was opened: a trace that is cut between two entries reads as a whole one.
struct Uncut {
    file: File,
    length: u64,
    read: u64,
}

impl Read for Uncut {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(into)?;
        self.read += read as u64;
        if read == 0 && !into.is_empty() && self.read < self.length {
            let (read, length) = (self.read, self.length);
            let message = format!("it ends after {read} bytes and had {length}");
            return Err(io::Error::other(message));
        }
        Ok(read)
    }
}

/// What reads `file` as `replay` has it.
fn reader(file: File, replay: &Replay) -> io::Result<TraceReader> {
    let length = file.metadata()?.len();
    let uncut = Uncut {
        file,
        length,
        read: 0,
    };
    let input = BufReader::with_capacity(BUFFER_BYTES, uncut);
    let trace = <TraceReader>::new(Box::new(input)).map_err(io::Error::other)?;
    Ok(trace.replayed_by(replay))
}

/// The I/O of an entry, which is the one of this number; `None` where it is none.
fn io_of(entry: &TraceEntry, index: u64) -> Option<Io> {
    let TraceAction::Io {
        direction,
        offset,
        length,
        ..
    } = entry.action
    else {
        return None;
    };
    Some(Io {
        index,
        direction,
        target: entry.file,
        offset,
        length,
    })
}

/// The I/O of the trace in `file` as it is replayed, from its start and without its times. One walk is over before another
/// begins: they share the file's position.
pub(crate) fn trace_ios(
    file: &File,
    replay: &Replay,
) -> io::Result<impl Iterator<Item = io::Result<Io>> + Send + use<>> {
    let mut file = file.try_clone()?;
    file.rewind()?;
    let mut trace = reader(file, replay)?;
    let (replay, mut index) = (replay.clone(), 0);
    Ok(std::iter::from_fn(move || {
        loop {
            let entry = match trace.next_entry().transpose()? {
                Ok(entry) => adapted(entry, &trace, &replay),
                Err(error) => return Some(Err(io::Error::other(error))),
            };
            if let Some(io) = entry.and_then(|entry| io_of(&entry, index)) {
                index += 1;
                return Some(Ok(io));
            }
        }
    }))
}

impl IoSource for Replayer<'_> {
    fn leave(&mut self) -> Leftover {
        Leftover {
            problem: self.take_problem(),
            intended_end: self.intended_end,
            ..Leftover::default()
        }
    }

    fn next(&mut self, now: Nanos, _in_flight: u32) -> Next {
        let start = *self.start.get_or_insert(now);
        self.waited = self.waited.max(start);
        loop {
            if self.waited > now {
                return Next::NotBefore(self.waited);
            }
            let Some(entry) = self.entry() else {
                return Next::End;
            };
            let due = self.due(&entry, start);
            if let Some(next) = self.io(&entry, due) {
                return next;
            }
            match entry.action {
                TraceAction::Sync { data_only } => {
                    if let Some(due) = due.filter(|due| *due > now) {
                        self.next = Some(entry);
                        return Next::NotBefore(due);
                    }
                    let operation = if data_only {
                        Operation::Fdatasync
                    } else {
                        Operation::Fsync
                    };
                    return Next::Sync(operation, entry.file);
                }
                TraceAction::Wait(time) if self.pace != ReplayPace::AtOnce => {
                    self.waited = self.waited.saturating_add(time);
                }
                TraceAction::Wait(_) | TraceAction::File | TraceAction::Io { .. } => {}
            }
        }
    }
}

/// Reads a trace to its end, or until nobody wants more of it.
fn read(mut trace: TraceReader, replay: &Replay, chunks: &SyncSender<Chunk>) {
    loop {
        let mut chunk = Vec::with_capacity(CHUNK);
        let mut ended = Ok(false);
        while chunk.len() < CHUNK {
            match trace.next_entry() {
                Ok(Some(entry)) => chunk.extend(adapted(entry, &trace, replay)),
                Ok(None) => {
                    ended = Ok(true);
                    break;
                }
                Err(error) => {
                    ended = Err(error);
                    break;
                }
            }
        }
        if chunks.send(Ok(chunk)).is_err() {
            return;
        }
        match ended {
            Ok(false) => {}
            Ok(true) => return,
            // Where nobody listens, nobody misses it.
            Err(error) => return drop(chunks.send(Err(error))),
        }
    }
}

/// An entry as it is replayed; `None` where nothing of it is left.
fn adapted(entry: TraceEntry, trace: &TraceReader, replay: &Replay) -> Option<TraceEntry> {
    let file = trace.file_of(entry.file, replay)?;
    let action = trace.adapted(entry.action, replay)?;
    let file = if replay.redirected { 0 } else { file };
    (action != TraceAction::File).then_some(TraceEntry {
        action,
        file,
        ..entry
    })
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;

    use fathom_workload::preset;

    use super::*;

    /// Many more than are read ahead.
    const LINES: usize = 200_000;
    const LINE: &str = "0 /a read 0 4096\n";
    const HEADER: &str = "fio version 3 iolog\n0 /a add\n0 /a open\n";

    /// I/Os that are replayed where the trace keeps `kept` of its lines once it is opened, and what is told of it.
    fn replayed(kept: usize) -> (usize, Option<String>) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("trace");
        std::fs::write(&path, HEADER.to_owned() + &LINE.repeat(LINES)).unwrap();
        let mut job = preset("quick", "/a").unwrap().stages[0].jobs[0].clone();
        let replay = Replay {
            path: path.to_str().unwrap().to_owned(),
            pace: ReplayPace::AtOnce,
            ..Replay::default()
        };
        job.features.replay = Some(replay.clone());
        let mut replayer = Replayer::new(&replay, &job).unwrap();
        let file = OpenOptions::new().write(true).open(&path).unwrap();
        file.set_len((HEADER.len() + kept * LINE.len()) as u64)
            .unwrap();
        let mut ios = 0;
        while let Next::Io(_) = replayer.next(Nanos::ZERO, 0) {
            ios += 1;
        }
        let told = replayer.take_problem().map(|error| error.to_string());
        (ios, told)
    }

    #[test]
    fn a_trace_that_is_cut_between_lines_is_told() {
        assert_eq!(replayed(LINES), (LINES, None));
        let (ios, told) = replayed(LINES / 2);
        assert_eq!(ios, LINES / 2);
        let told = told.expect("it is told");
        let (kept, length) = (LINES / 2 * LINE.len(), LINES * LINE.len());
        let found = format!(
            "it ends after {} bytes and had {}",
            HEADER.len() + kept,
            HEADER.len() + length
        );
        for part in [
            "not all of its I/O was replayed",
            "is not what it was when the job began",
            &found,
            "hint: leave the trace alone",
        ] {
            assert!(told.contains(part), "{told}");
        }
    }
}
