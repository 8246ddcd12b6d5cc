//! The end of a worker: files made durable where that was asked for, and what it hands over.

use fathom_rawio::{self as rawio, Operation, Queue};
use fathom_record::{EndReason, FailedOperation};
use fathom_units::{Bytes, Nanos};
use fathom_workload::{Backend, Direction};

use super::source::Leftover;
use super::{FailedIo, Finished, Source, Worker};
use crate::handed_over;
use crate::interval::phase;

impl<Q: Queue, S: Source> Worker<'_, Q, S> {
    #[expect(
        clippy::boxed_local,
        reason = "unboxed, it would be on the stack once more"
    )]
    pub(super) fn finish(mut self: Box<Self>) -> Finished {
        let mut leftover = Leftover::default();
        let ended_at = self.clock.now();
        let syncs = self.syncs_at_end();
        if S::HOOKS {
            if syncs {
                self.parts.source.syncing_all(self.clock.now());
            }
            self.parts.source.finished(self.clock.now());
            leftover = self.parts.source.leave();
            self.count_last_pause(leftover.checks.is_some());
            self.stats.found_depth = self.parts.source.found_depth();
        }
        self.stats.unissued = leftover.unissued;
        let since = |at: Nanos| at.saturating_sub(self.measure_start);
        self.stats.intended_end = leftover.intended_end.map(since);
        self.stats.checks = leftover.checks;
        if syncs {
            self.sync_all_targets();
        }
        let until =
            self.boundaries
                .measured_until(self.stats.ended, self.last_completion, ended_at);
        if self.measuring {
            self.stats.windows = self.boundaries.take_windows();
            self.stats.measured = until.saturating_sub(self.measure_start);
            self.stats.usage = fathom_record::Usage {
                outside_calls: self
                    .queue
                    .outside_calls()
                    .map(|it| fathom_record::OutsideCalls {
                        time: it.time,
                        calls: it.calls,
                    }),
                ..usage_since(self.usage_start)
            };
        } else if self.stats.ended == EndReason::Done && self.syncs_between {
            let name = &self.parts.job.name;
            let option = match self.parts.job.features.warmup_bytes {
                Bytes::ZERO => "ramp_time",
                _ => "ramp_size",
            };
            leftover.lines.push(format!(
                "{name}: it was done before its warm-up ({option}) was over, so that nothing of it was measured"
            ));
        }
        self.stats.started = self.measure_start.saturating_sub(self.stage_start);
        self.stats.clock_deviated = self.clock.has_deviated();
        let phase = phase(self.measuring);
        let end = self.boundaries.interval_end;
        self.parts.handover.finish(end, until, phase);
        Finished {
            stats: self.stats,
            lag: self.lag,
            stamp_error: self.stamp_error,
            failure: self.failure,
            shortfall: self.judge.and_then(|judge| judge.shortfall()),
            problem: leftover.problem,
            lines: leftover.lines,
            unanswered: self.served.unanswered,
            handed_over: handed_over::note(self.parts.job, self.parts.backend, self.parts.worker),
        }
    }

    /// Whether the files are to be synced once the I/O is done.
    fn syncs_at_end(&self) -> bool {
        let sync = self.parts.job.sync;
        let reached_end = matches!(self.stats.ended, EndReason::Time | EndReason::Done);
        self.parts.backend != Backend::Null
            && !self.acts_on_names()
            && self.parts.job.mix.changes_data()
            && reached_end
            && (sync.at_end || sync.on_close)
    }

    /// The pause after a job's last I/O is part of its time with the peers, which pause before they look for another I/O. What
    /// `checks` has times of its own.
    fn count_last_pause(&mut self, checks: bool) {
        let counts = self.syncs_between && self.stats.ended == EndReason::Done && !checks;
        if let Some(end) = (self.parts.source.rested_until()).filter(|_| counts) {
            self.last_completion = self.last_completion.max(end);
        }
    }

    /// Makes all files durable and drops them from the page cache, so that what is read next comes from the device, unless the
    /// job leaves in the page cache what is there.
    #[cold]
    pub(super) fn settle(&mut self) {
        if !self.parts.backend.opens_files() || !self.parts.job.drop_cache {
            return;
        }
        for target in 0..self.parts.job.targets.len() as u32 {
            let file = self.queue.file(target);
            // What the kernel cannot drop (tmpfs) stays.
            if let Err(error) = file.sync_all() {
                self.fail_sync(target, &error);
                return;
            }
            let _ = rawio::drop_cache(self.queue.file(target), 0, 0);
        }
    }

    fn fail_sync(&mut self, target: u32, error: &std::io::Error) {
        let errno = error.raw_os_error().unwrap_or(0);
        let sync = Some(FailedOperation::Sync);
        self.count_failed(Direction::Write, sync, (target, 0), errno);
        self.fail(FailedIo {
            direction: "fsync",
            target,
            offset: 0,
            length: 0,
            errno,
            took: Nanos::ZERO,
        });
    }

    fn sync_all_targets(&mut self) {
        for target in 0..self.parts.job.targets.len() as u32 {
            if self.syncs_between && self.parts.backend.opens_files() {
                if let Err(error) = self.queue.file(target).sync_all() {
                    self.fail_sync(target, &error);
                }
                continue;
            }
            self.now = self.clock.now();
            self.push_sync(Operation::Fsync, target);
            while self.queue.in_flight() > 0 && self.failure.is_none() {
                self.submit_and_reap(0);
            }
        }
    }
}

/// What the thread has used since `start`; what cannot be told counts as nothing.
pub(super) fn usage_since(start: rawio::ThreadUsage) -> fathom_record::Usage {
    let end = rawio::thread_usage().unwrap_or_default();
    fathom_record::Usage {
        user: end.user.saturating_sub(start.user),
        system: end.system.saturating_sub(start.system),
        context_switches: end.context_switches.saturating_sub(start.context_switches),
        minor_faults: end.minor_faults.saturating_sub(start.minor_faults),
        major_faults: end.major_faults.saturating_sub(start.major_faults),
        waited: end.waited.saturating_sub(start.waited),
        outside_calls: None,
    }
}
