//! What a job does at some completions: it fails where one took too long, and has ranges of files written back.
//!
//! Ranges are written back before the next I/O of the job goes: after the last one, and before the checks of a pass, none is,
//! as in fio.

use std::fs::File;
use std::io;

use fathom_rawio::{self as rawio, Clock};
use fathom_units::Nanos;
use fathom_workload::{Direction, Job, SyncPolicy, SyncRange, Target};

use super::{Kind, Slot};
use crate::EngineError;

/// `ETIMEDOUT`, which fio gives an I/O that took too long.
pub(crate) const TOO_SLOW: i32 = 110;

/// What one worker does at completions.
#[derive(Debug)]
pub(super) struct Limits<'a> {
    latency_max: &'a [Option<Nanos>; 3],
    range: Option<SyncRange>,
    sync: &'a SyncPolicy,
    writes: u64,
    written: Vec<Written>,
    /// Whether what was written is to be written back before the next I/O.
    is_due: bool,
    looked_for_more: bool,
    /// How long the last of it took, until that is asked for.
    took: Option<Nanos>,
    /// Which target could not be, and why.
    failed: Option<(usize, i32)>,
    targets: &'a [Target],
}

/// What was written to a target since it was last written back.
#[derive(Debug)]
struct Written {
    file: File,
    first: u64,
    end: u64,
}

impl<'a> Limits<'a> {
    /// Whether a job asks for any of it.
    pub(super) fn is_needed(job: &Job) -> bool {
        job.features.errors.latency_max != [None; 3] || job.features.files.sync_range.is_some()
    }

    /// `targets` are the job's files; none where nothing is written back.
    ///
    /// # Errors
    /// Where a file cannot be opened a second time.
    pub(super) fn new(job: &'a Job, targets: &[File]) -> Result<Self, EngineError> {
        let mut written = Vec::new();
        let range = job.features.files.sync_range;
        let targets = targets.iter().filter(|_| range.is_some());
        for (file, target) in targets.zip(&job.targets) {
            let path = target.place.path();
            let file = file.try_clone();
            written.push(Written {
                file: file.map_err(|error| EngineError::target(path, "opening it", error))?,
                first: u64::MAX,
                end: 0,
            });
        }
        Ok(Self {
            latency_max: &job.features.errors.latency_max,
            range,
            sync: &job.sync,
            writes: 0,
            written,
            is_due: false,
            looked_for_more: false,
            took: None,
            failed: None,
            targets: &job.targets,
        })
    }

    /// Looks at an I/O that succeeded at `now`.
    ///
    /// # Errors
    /// The error number of what follows from it.
    pub(super) fn completed(&mut self, slot: &Slot, now: Nanos) -> Result<(), i32> {
        let Kind::Data(direction) = slot.kind else {
            return Ok(());
        };
        if let Some(limit) = self.latency_max[direction as usize]
            && now.saturating_sub(slot.begun) > limit
        {
            return Err(TOO_SLOW);
        }
        if let Some(range) = self.range {
            // With several in flight this one may have gone before it was due.
            self.write_back();
            if direction == Direction::Write {
                self.count_write(slot, range);
            }
        }
        self.failed.take().map_or(Ok(()), |(_, errno)| Err(errno))
    }

    fn count_write(&mut self, slot: &Slot, range: SyncRange) {
        let Some(written) = self.written.get_mut(slot.target as usize) else {
            return;
        };
        written.first = written.first.min(slot.offset);
        written.end = written.end.max(slot.offset + u64::from(slot.length));
        self.writes += 1;
        self.is_due = is_written_back(self.writes, range.every, self.sync);
        if self.looked_for_more {
            self.write_back();
        }
    }

    /// Whether ranges are ever to be written back.
    pub(super) fn writes_back(&self) -> bool {
        self.range.is_some()
    }

    /// Writes back what is due to be. What cannot be fails the next I/O that completes.
    pub(super) fn write_back(&mut self) {
        let Some(range) = self.range.filter(|_| self.is_due) else {
            return;
        };
        self.is_due = false;
        let begun = Clock::now();
        let parts = rawio::SyncParts {
            wait_before: range.wait_before,
            write: range.write,
            wait_after: range.wait_after,
        };
        let some = |it: &(usize, &mut Written)| it.1.first < it.1.end;
        for (target, written) in self.written.iter_mut().enumerate().filter(some) {
            let length = written.end - written.first;
            let done = rawio::sync_range(&written.file, written.first, length, parts);
            (written.first, written.end) = (u64::MAX, 0);
            if let Err(error) = done {
                let errno = error.raw_os_error().unwrap_or(0);
                self.failed.get_or_insert((target, errno));
            }
        }
        self.took = Some(Clock::now().saturating_sub(begun));
    }

    /// How long it took to write back what was due since this was last asked.
    pub(super) fn take_written_back(&mut self) -> Option<Nanos> {
        self.took.take()
    }

    /// Another I/O was looked for, and there is none: what is due goes before that, also once those in flight have completed.
    pub(super) fn looked_for_more(&mut self) {
        self.looked_for_more = true;
        self.write_back();
    }

    /// Why the last call failed, after which no I/O has completed.
    pub(super) fn take_problem(&mut self) -> Option<EngineError> {
        let (target, errno) = self.failed.take()?;
        let path = self.targets[target].place.path();
        let error = io::Error::from_raw_os_error(errno);
        Some(EngineError::target(path, "writing it back", error))
    }

    /// What is checked came in between: nothing is due any more.
    pub(super) fn came_between(&mut self) {
        self.is_due = false;
    }
}

/// Whether what was written is written back after that many writes. One call alone follows a write, and `fsync` and `fdatasync`
/// go before, as in fio.
fn is_written_back(writes: u64, every: u32, sync: &SyncPolicy) -> bool {
    let is_due = |every: u32| every > 0 && writes.is_multiple_of(u64::from(every));
    is_due(every) && !is_due(sync.fsync_every) && !is_due(sync.fdatasync_every)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_call_alone_follows_a_write() {
        #[track_caller]
        fn check(every: u32, fsync_every: u32, fdatasync_every: u32, expected: &[u64]) {
            let sync = SyncPolicy {
                fsync_every,
                fdatasync_every,
                ..SyncPolicy::default()
            };
            let found = (1..=16).filter(|writes| is_written_back(*writes, every, &sync));
            assert_eq!(found.collect::<Vec<_>>(), expected);
        }
        // As fio 3.42 called them, by strace.
        check(4, 0, 0, &[4, 8, 12, 16]);
        check(8, 0, 4, &[]);
        check(6, 0, 4, &[6]);
        check(4, 4, 0, &[]);
        check(3, 2, 0, &[3, 9, 15]);
    }
}
