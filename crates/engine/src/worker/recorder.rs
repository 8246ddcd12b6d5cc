//! A trace of what a worker issues, in the third version of fio's text format.
//!
//! Times are those of submission, in microseconds since the worker's first I/O. A trace that cannot be written any more
//! (a full file system) ends where it is; the I/O goes on, and the run tells it as it ends.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use fathom_rawio::{Begin, open_results};
use fathom_units::Nanos;
use fathom_workload::generator::Io;
use fathom_workload::trace::{HEADER_V3, write_file_action, write_io};
use fathom_workload::{Direction, Job};

use super::{Kind, Slot};
use crate::{EngineError, guard};

/// Bytes kept before they are written.
const BUFFER_BYTES: usize = 1 << 18;
/// What fails where a trace cannot be written.
const WRITING: &str = "writing a trace";

/// The file of a job's trace that its worker of this number writes.
pub(crate) fn trace_file(path: &str, worker: u32) -> String {
    match worker {
        0 => path.to_owned(),
        more => format!("{path}.{more}"),
    }
}

/// Writes the trace of one worker.
pub(super) struct Recorder<'a> {
    path: String,
    out: BufWriter<File>,
    job: &'a Job,
    start: Option<Nanos>,
    /// Why the trace ends before the I/O does.
    broken: Option<io::Error>,
}

impl<'a> Recorder<'a> {
    /// Makes the file anew; further workers of a job write to `PATH.1` and so on.
    ///
    /// # Errors
    /// Where it cannot be made.
    pub(super) fn new(path: &str, worker: u32, job: &'a Job) -> Result<Self, EngineError> {
        let path = trace_file(path, worker);
        let made = open_results(Path::new(&path), Begin::Emptied).and_then(|file| {
            let mut out = BufWriter::with_capacity(BUFFER_BYTES, file);
            writeln!(out, "{HEADER_V3}")?;
            Ok(out)
        });
        let out = made.map_err(|error| guard::unwritten(&path, WRITING, error))?;
        Ok(Self {
            path,
            out,
            job,
            start: None,
            broken: None,
        })
    }

    fn since_start(&mut self, now: Nanos) -> Nanos {
        let Some(start) = self.start else {
            self.start = Some(now);
            self.all_files("add", Nanos::ZERO);
            self.all_files("open", Nanos::ZERO);
            return Nanos::ZERO;
        };
        now.saturating_sub(start)
    }

    fn all_files(&mut self, action: &str, at: Nanos) {
        for target in &self.job.targets {
            let path = target.place.path();
            self.write(|out| write_file_action(out, at, path, action));
        }
    }

    fn write(&mut self, line: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) {
        if self.broken.is_none() {
            self.broken = line(&mut self.out).err();
        }
    }

    fn line(&mut self, target: u32, kind: &str, offset: u64, length: u32, now: Nanos) {
        let at = self.since_start(now);
        let path = self.job.targets[target as usize].place.path();
        self.write(|out| write_io(out, at, path, kind, offset, length));
    }

    /// An I/O is about to be issued. Trims that are done at once are in no batch: all are told here.
    pub(super) fn drawn(&mut self, io: Io, now: Nanos) {
        if io.direction == Direction::Trim {
            self.line(io.target, io.direction.name(), io.offset, io.length, now);
        }
    }

    /// A batch was submitted.
    pub(super) fn submitted(&mut self, slots: &[Slot], batch: &[u32]) {
        for index in batch {
            let slot = &slots[*index as usize];
            let kind = match slot.kind {
                Kind::Data(Direction::Trim) => continue,
                Kind::Data(direction) => direction.name(),
                Kind::Sync { data_only: false } => "sync",
                Kind::Sync { data_only: true } => "datasync",
            };
            self.line(slot.target, kind, slot.offset, slot.length, slot.begun);
        }
    }

    /// All files are about to be synced.
    pub(super) fn syncing_all(&mut self, now: Nanos) {
        for target in 0..self.job.targets.len() as u32 {
            self.line(target, "sync", 0, 0, now);
        }
    }

    /// The worker has come to its end.
    pub(super) fn finished(&mut self, now: Nanos) {
        let at = self.since_start(now);
        self.all_files("close", at);
        self.write(Write::flush);
    }

    /// Why the trace is not whole, if it is not; asked after [`Self::finished`].
    pub(super) fn take_problem(&mut self) -> Option<EngineError> {
        let error = self.broken.take()?;
        Some(EngineError::target(&self.path, WRITING, error))
    }
}
