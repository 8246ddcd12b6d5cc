//! The beginning of a worker: what it is before its first I/O, and as its measurement begins.

use fathom_rawio::{self as rawio, CycleClock, Queue, Waking};
use fathom_record::WorkerStats;
use fathom_units::{Bytes, Nanos};
use fathom_workload::{Backend, ExistingFiles, Job};

use super::alike::Notes;
use super::batches;
use super::minimum::Judge;
use super::{ChecksAfter, Parts, Round, Served, Slot, Source, State, Worker};
use crate::calls::NextPass;
use crate::gate::wait_for;
use crate::timing::{Boundaries, Gauge, Times};

impl<'a, Q: Queue, S: Source> Worker<'a, Q, S> {
    /// Prepares a worker: the last place where memory is taken.
    pub(crate) fn new(mut parts: Parts<'a, S>, mut queue: Q, slots: u32) -> Self {
        // Buffers that are only read into hold nothing; those of the null backend then take no memory.
        if S::HOOKS || parts.job.mix.changes_data() {
            for slot in 0..slots {
                parts.fill.prepare(queue.buffer(slot));
            }
        }
        let batches = batches::of_job(parts.job, parts.backend, slots);
        let sizes_of = batches::sizes(parts.job, parts.backend, slots, batches);
        let next_pass = NextPass::of(parts.job, parts.backend);
        if next_pass != NextPass::FindsWhatIsLeft
            && let Some(stream) = parts.source.stream()
        {
            stream.watch_restarts();
        }
        let mut stats = WorkerStats::new(parts.job_index, parts.worker);
        stats.samples = Vec::with_capacity(samples(parts.job.limits.runtime));
        Self {
            slots: vec![Slot::IDLE; slots as usize].into_boxed_slice(),
            notes: Notes::new(slots),
            free: (0..slots).rev().collect(),
            batch: Vec::with_capacity(slots as usize),
            done: Vec::with_capacity(slots as usize),
            round: if S::HOOKS || parts.schedule.is_some() || !is_plain(parts.job) {
                Round::AllKinds
            } else if queue.is_one_by_one() {
                Round::OneByOne
            } else {
                Round::Plain
            },
            clock: CycleClock::new(),
            pending: None,
            held_until: None,
            pending_sync: None,
            checks_after: ChecksAfter::Pass,
            writes: 0,
            base: None,
            last_start: 0,
            full_until: Nanos::ZERO,
            state: State::Issuing,
            measuring: false,
            now: Nanos::ZERO,
            next_glance: Nanos::ZERO,
            stage_start: Nanos::ZERO,
            measure_start: Nanos::ZERO,
            last_completion: Nanos::ZERO,
            integrated: Nanos::ZERO,
            boundaries: Boundaries::default(),
            usage_start: rawio::ThreadUsage::default(),
            stats,
            lag: Gauge::default(),
            waking: Waking::default(),
            stamp_error: Gauge::default(),
            seen_until: Nanos::ZERO,
            failure: None,
            judge: parts
                .job
                .features
                .minimum
                .map(|it| Box::new(Judge::new(it))),
            syncs_between: parts.job.existing == ExistingFiles::AsPeer,
            sizes: sizes_of[0],
            sizes_of,
            wait_least: batches.complete_min,
            split: parts.job.split_latency
                && !matches!(parts.backend, Backend::Sync | Backend::Mmap)
                && parts.job.features.operation.is_none(),
            next_pass,
            served: Served::default(),
            parts,
            queue,
        }
    }

    pub(super) fn begin(&mut self, times: Times) {
        let limits = &self.parts.job.limits;
        self.stage_start = times.start;
        let first = times.start + limits.start_delay;
        wait_for(first, times.awake, || self.is_called_off());
        self.clock = CycleClock::new();
        self.now = self.clock.now();
        // One that is called off in its delay never begins: nothing of it is measured.
        let never_begins = self.now < first;
        self.base = Some(self.now);
        self.integrated = self.now;
        self.full_until = self.now;
        self.seen_until = self.now;
        self.last_completion = self.now;
        let by_bytes = self.parts.job.features.warmup_bytes > Bytes::ZERO;
        self.measure_start = self.now + self.parts.job.warmup_time();
        let warm_end = if by_bytes || never_begins {
            Nanos::MAX
        } else {
            self.measure_start
        };
        self.boundaries = Boundaries::new(times.origin, self.now, warm_end, limits.runtime);
        if warm_end == self.now {
            self.start_measuring();
        }
    }

    pub(super) fn start_measuring(&mut self) {
        self.measuring = true;
        if S::HOOKS {
            self.parts.source.measuring(self.measure_start);
        }
        let samples = std::mem::take(&mut self.stats.samples);
        let errors = std::mem::take(&mut self.stats.errors);
        let ended = self.stats.ended;
        let fresh = WorkerStats::new(self.parts.job_index, self.parts.worker);
        self.stats = WorkerStats {
            samples,
            errors,
            ended,
            ..fresh
        };
        let asked = self.parts.job.features.rate_samples;
        self.boundaries.restart_samples(self.measure_start, asked);
        if let Some(judge) = &mut self.judge {
            self.boundaries.judged_at = judge.begin(self.measure_start);
        }
        self.lag = Gauge::default();
        self.stamp_error = Gauge::default();
        self.usage_start = rawio::thread_usage().unwrap_or_default();
        if self.parts.outside_calls {
            self.queue.time_outside_calls();
        }
        self.last_completion = self.measure_start;
    }
}

/// How many half-second samples there is room for without taking memory: all that a bounded run has, and some for its end.
fn samples(runtime: Option<Nanos>) -> usize {
    let all = runtime.map_or(1024, |time| time.get() / 500_000_000 + 16);
    all.min(65_536) as usize
}

/// Whether a job asks for nothing between its reads and writes.
fn is_plain(job: &Job) -> bool {
    let sync = &job.sync;
    sync.fsync_every == 0 && sync.fdatasync_every == 0 && job.mix.trim.basis_points() == 0
}
