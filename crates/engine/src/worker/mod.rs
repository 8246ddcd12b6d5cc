//! The data plane: one worker, from its first submission to its last completion.
//!
//! The loop is: put into the queue what may start now, read the clock, submit and wait, read the clock, record what
//! completed. Every I/O of a batch shares the batch's two stamps.
//!
//! Where a device is at work, no more completions are taken at a time than I/Os are submitted at a time: what was taken has
//! its place in the queue filled again before more is taken. A storage device that answers 32 I/Os at once would otherwise
//! find its queue empty while one worker prepares and submits 32 others, and the worker would have less outstanding than it
//! was asked for.
//!
//! Invariants: between the first and the last I/O nothing here allocates, locks or formats, and no system call is made
//! that is not the I/O itself (errors and half-second samples aside, which extend a list); an intended start time never
//! moves because of completions; completions never exceed submissions, since a queue frees each slot once.

mod alike;
mod arrival;
mod batches;
mod begin;
mod bursts;
mod delays;
mod depth;
mod end;
mod file_set;
mod flow;
mod full;
mod issue;
mod limits;
mod log;
mod minimum;
mod overlap;
mod owed;
mod parts;
mod priority;
mod rates;
mod record;
mod recorder;
mod replay;
mod set_files;
mod source;
mod think;
mod validate;
mod verify;
mod warm_up;

use std::sync::atomic::{AtomicBool, Ordering};

use fathom_rawio::{self as rawio, Completion, CycleClock, Operation, Queue, Waking};
use fathom_record::{EndReason, Phase, WorkerStats, batch_level, depth_level};
use fathom_units::Nanos;
use fathom_workload::{Backend, Direction};

use self::alike::Notes;
use self::batches::Sizes;
use self::end::usage_since;
pub(crate) use self::file_set::{SetParts, SetWorker};
pub(crate) use self::flow::Flows;
pub(crate) use self::full::{Extras, Full};
use self::issue::Pending;
pub(crate) use self::limits::TOO_SLOW;
use self::minimum::Judge;
pub(crate) use self::minimum::Shortfall;
pub(crate) use self::parts::{FailedIo, Finished, Parts};
pub(crate) use self::rates::Lanes;
pub(crate) use self::recorder::trace_file;
pub(crate) use self::replay::{Replayer, trace_ios};
pub(crate) use self::set_files::PlacedSet;
pub(crate) use self::source::Source;
pub(crate) use self::verify::{Passes, Verification, state_part};
pub(crate) use self::warm_up::WarmUps;
use crate::StopFlag;
use crate::calls::NextPass;
use crate::interval::phase;
use crate::timing::{Boundaries, Gauge, Times};

/// How long a worker without anything in flight sleeps before it looks at the stop flag again.
const LOOK_EVERY: Nanos = Nanos::from_millis(20);

/// How long a worker goes on before it looks again at what may stop it; an I/O that takes longer is followed by a look.
const GLANCE_EVERY: Nanos = Nanos::from_millis(2);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Issuing,
    /// Its time is over, and only what was due by then is still issued.
    Owing,
    /// Nothing more is issued; what is in flight is waited for.
    Draining,
    /// The queue itself failed: nothing more will come out of it.
    Broken,
}

/// What the checks that follow a pass wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ChecksAfter {
    /// Nothing but the pass.
    Pass,
    /// A sync that was due as it ended.
    Sync,
}

/// What a worker looks at before each I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Round {
    /// Nothing: a closed loop of reads and writes without syncs and hooks.
    Plain,
    /// Nothing, and each I/O is over when its call returns.
    OneByOne,
    /// Arrivals, syncs, trims, hooks.
    AllKinds,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Data(Direction),
    Sync { data_only: bool },
}

/// What is in flight in one slot, in one line of the processor's cache.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(crate) struct Slot {
    kind: Kind,
    target: u32,
    offset: u64,
    length: u32,
    /// What its source wants back.
    tag: u64,
    intended: Nanos,
    /// Start of the submitting call, where latency starts.
    begun: Nanos,
    /// End of the submitting call, where latency is split.
    submitted: Nanos,
}

impl Slot {
    const IDLE: Self = Self {
        kind: Kind::Sync { data_only: false },
        target: 0,
        offset: 0,
        length: 0,
        tag: 0,
        intended: Nanos::ZERO,
        begun: Nanos::ZERO,
        submitted: Nanos::ZERO,
    };

    fn is_sync(&self) -> bool {
        matches!(self.kind, Kind::Sync { .. })
    }
}

/// One worker at work.
pub(crate) struct Worker<'a, Q: Queue, S: Source> {
    parts: Parts<'a, S>,
    queue: Q,
    clock: CycleClock,
    slots: Box<[Slot]>,
    /// What rounds of I/Os that differ in their place alone keep of what is in flight.
    notes: Notes,
    free: Vec<u32>,
    /// Slots pushed since the last submission.
    batch: Vec<u32>,
    /// Completions just taken.
    done: Vec<Completion>,
    round: Round,
    /// The next I/O of an open loop with its intended start.
    pending: Option<Pending>,
    /// When the source is asked again, where it had nothing to give.
    held_until: Option<Nanos>,
    pending_sync: Option<(Operation, u32)>,
    checks_after: ChecksAfter,
    /// Whether a sync waits for an I/O to stand before, and those of the end are not counted, as in fio.
    syncs_between: bool,
    writes: u64,
    /// The moment at which an open loop's schedule starts; `None`: when its next I/O is drawn.
    base: Option<Nanos>,
    last_start: u64,
    /// When the queue last had no free slot, or the worker began.
    full_until: Nanos,
    state: State,
    measuring: bool,
    now: Nanos,
    /// When it looks again at what stops the run.
    next_glance: Nanos,
    stage_start: Nanos,
    measure_start: Nanos,
    last_completion: Nanos,
    /// Up to when `outstanding_ns` is summed.
    integrated: Nanos,
    boundaries: Boundaries,
    usage_start: rawio::ThreadUsage,
    stats: WorkerStats,
    lag: Gauge,
    waking: Waking,
    stamp_error: Gauge,
    /// When all completions that had arrived were last taken; later ones may have waited since then.
    seen_until: Nanos,
    failure: Option<FailedIo>,
    /// What judges the rates that it must keep up.
    judge: Option<Box<Judge>>,
    /// How many I/Os go at a time.
    sizes: Sizes,
    /// The same where a device is at work, and where submissions complete at once what they submit.
    sizes_of: [Sizes; 2],
    /// Completions waited for at least.
    wait_least: u32,
    /// Whether submission and completion are timed apart; without a ring there is no such thing.
    split: bool,
    next_pass: NextPass,
    served: Served,
}

/// What a worker on exports knows beside its slots.
#[derive(Debug, Clone, Copy, Default)]
struct Served {
    /// Trims that the queue does.
    trims_in_flight: u32,
    /// Requests that were given up because the run was to end and their server said nothing.
    unanswered: u64,
}

impl<'a, Q: Queue, S: Source> Worker<'a, Q, S> {
    /// Index of its job within the stage.
    pub(crate) fn job_index(&self) -> usize {
        self.parts.job_index
    }

    /// What ends the whole run.
    pub(crate) fn stop(&self) -> &StopFlag {
        &self.parts.stop
    }

    /// Has it end before its first I/O: `told` is raised.
    pub(crate) fn end_at_once(&mut self, told: &'a AtomicBool) {
        self.parts.abort = told;
    }

    /// Does the job's I/O from `times.start` on.
    pub(crate) fn run(mut self: Box<Self>, times: Times) -> Finished {
        self.begin(times);
        loop {
            self.glance();
            if self.state == State::Broken {
                break;
            }
            if self.round == Round::OneByOne && self.is_issuing() {
                self.one_by_one();
                continue;
            }
            if self.round == Round::Plain && self.is_issuing() && self.rounds_alike() {
                continue;
            }
            // What rounds have left in line has not begun yet.
            let in_flight = self.queue.in_flight() - self.batch.len() as u32;
            let done_at_once = self.issue();
            if self.queue.in_flight() > 0 {
                self.submit_and_reap(in_flight);
            } else if done_at_once > 0 {
                self.tick(self.clock.now());
            } else if !self.wait_for_arrival() {
                break;
            }
        }
        self.finish()
    }

    /// Whether the run, or the job, ends before it has begun.
    fn is_called_off(&self) -> bool {
        self.parts.stop.is_requested() || self.parts.abort.load(Ordering::Relaxed)
    }

    /// When something else than I/O is to be looked at.
    fn next_moment(&self) -> Nanos {
        self.next_glance
            .min(self.boundaries.next())
            .min(self.clock.next_hold())
    }

    /// Looks at what stops the run, now and then: other threads write there, and the look costs more than an I/O's books.
    #[inline]
    fn glance(&mut self) {
        if self.now >= self.next_glance {
            self.next_glance = self.now + GLANCE_EVERY;
            if self.is_called_off() {
                self.end_with(EndReason::Interrupted);
            }
        }
    }

    fn is_issuing(&self) -> bool {
        matches!(self.state, State::Issuing | State::Owing)
    }

    fn end_with(&mut self, reason: EndReason) {
        if self.is_issuing() {
            self.state = State::Draining;
            self.stats.ended = reason;
        }
    }

    fn submit_and_reap(&mut self, in_flight_before: u32) {
        let begun = self.clock.now();
        self.integrate(begun, in_flight_before);
        let goes_on = self.batch.len() == self.sizes.submit && !self.free.is_empty();
        let mut has_more = self.has_enough();
        let mut outcome = Ok(());
        if !self.batch.is_empty() {
            if self.split || goes_on || has_more {
                outcome = self.queue.submit();
                // What the submission itself completed needs no waiting for.
                has_more = has_more || self.has_enough();
            }
            let submitted = if self.split {
                record::submission_end(begun, self.clock.now())
            } else {
                begun
            };
            self.stamp(begun, submitted);
            if S::HOOKS {
                self.parts.source.submitted(&self.slots, &self.batch);
            }
            self.count_batch();
        }
        // What the submission itself completed is taken at once: it is not outstanding any more. A queue that was to drain
        // first is filled up before: taking as it goes would keep it near its low mark.
        let fills = S::HOOKS && self.fills_up();
        if !goes_on || (has_more && !fills) {
            let mut waited_from = None;
            if !has_more && outcome.is_ok() {
                waited_from = Some(begun);
                outcome = self.wait_in_flight(begun);
            }
            self.reap(waited_from);
            self.size_batches(waited_from.is_none());
        }
        if let Err(error) = outcome {
            self.break_off(&error);
        }
    }

    /// Whether as many have arrived as are waited for at a time: fewer are not taken while a wait can bring the rest.
    #[inline]
    fn has_enough(&mut self) -> bool {
        self.queue.arrived() >= self.wait_least.max(1)
    }

    /// Whether nothing is taken while the queue is being filled up, once it has drained.
    fn fills_up(&self) -> bool {
        let batches = self.parts.job.features.batches;
        batches.is_some_and(|own| own.low > 0) && self.parts.backend != Backend::Null
    }

    /// The queue itself failed.
    #[cold]
    fn break_off(&mut self, error: &std::io::Error) {
        self.fail(FailedIo {
            direction: "submission",
            target: 0,
            offset: 0,
            length: 0,
            errno: error.raw_os_error().unwrap_or(0),
            took: Nanos::ZERO,
        });
        self.state = State::Broken;
    }

    /// Where submissions complete what they submit, without a wait, larger batches go. What has arrived and was not taken
    /// yet is not at work any more.
    #[inline]
    fn size_batches(&mut self, without_wait: bool) {
        let at_once = without_wait && self.queue.in_flight() == self.queue.arrived();
        if at_once || !without_wait {
            self.sizes = self.sizes_of[usize::from(at_once)];
        }
    }

    fn count_batch(&mut self) {
        let count = self.batch.len() as u32;
        self.stats.submit_batches[batch_level(count)] += 1;
        self.stats.depth_levels[depth_level(self.queue.in_flight())] += u64::from(count);
        self.batch.clear();
    }

    /// Gives the batch its start and the end of its submission, and an open loop its lag.
    fn stamp(&mut self, begun: Nanos, submitted: Nanos) {
        for index in &self.batch {
            let slot = &mut self.slots[*index as usize];
            (slot.begun, slot.submitted) = (begun, submitted);
        }
        if self.parts.schedule.is_some() {
            for index in &self.batch {
                let slot = &self.slots[*index as usize];
                if !slot.is_sync() {
                    let could = slot.intended.max(self.full_until);
                    self.lag.add(begun.saturating_sub(could));
                }
            }
        }
        if self.free.is_empty() {
            self.full_until = Nanos::MAX;
        }
    }

    /// Takes note of the time: intervals, samples, the end of the warm-up and of the run.
    #[inline]
    fn tick(&mut self, now: Nanos) {
        self.now = now;
        if now >= self.boundaries.next() {
            self.pass_boundaries(now);
        } else if now >= self.clock.next_hold() {
            self.clock.hold(now);
        }
    }

    /// The job has moved what its warm-up asks for.
    #[cold]
    fn end_warm_up(&mut self, now: Nanos) {
        let runtime = self.parts.job.limits.runtime;
        self.boundaries.end_warm_up(now, runtime);
        self.measure_start = now;
        self.pass_boundaries(now);
    }

    /// Forgets what was measured: that was a search, and the job's time begins with what it has found, as in fio.
    #[cold]
    fn measure_anew(&mut self, now: Nanos) {
        self.parts.handover.forget();
        self.boundaries
            .end_warm_up(now, self.parts.job.limits.runtime);
        self.measure_start = now;
        self.stats.samples.clear();
        self.start_measuring();
        self.boundaries.update(now);
    }

    #[cold]
    fn pass_boundaries(&mut self, now: Nanos) {
        if !self.measuring && now >= self.boundaries.warm_end {
            let end = self.boundaries.interval_end;
            self.parts.handover.send(end, Phase::Warmup);
            self.start_measuring();
            let late = now.saturating_sub(self.measure_start).get();
            self.stats.outstanding_ns = u128::from(late) * u128::from(self.queue.in_flight());
            // The schedule starts again: what was late in the warm-up is not owed to the measurement.
            let base = self.measure_start.get().saturating_sub(self.last_start);
            self.base = Some(Nanos::new(base));
            if let Some(next) = &mut self.pending {
                next.due = self.measure_start;
            }
        }
        if now >= self.boundaries.interval_end {
            let phase = phase(self.measuring);
            self.parts
                .handover
                .send(self.boundaries.interval_end, phase);
            self.boundaries.next_interval(now);
        }
        if self.measuring {
            self.boundaries
                .take_samples(now, self.measure_start, &mut self.stats.samples);
        }
        if now >= self.boundaries.run_end {
            self.time_is_over();
        }
        if now >= self.boundaries.judged_at {
            self.judge_rates(now);
        }
        self.boundaries.update(now);
    }
}
