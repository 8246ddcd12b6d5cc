//! One stage on real storage: its workers' threads, and the control thread that watches them.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, channel, sync_channel};
use std::thread::ScopedJoinHandle;
use std::time::Duration;

use fathom_rawio::{self as rawio, Clock};
use fathom_record::{Began, Event, EventSink, OtherIo, StageResult, WorkerStats};
use fathom_units::Nanos;
use fathom_verify::directions_follow_time;
use fathom_workload::generator::{
    ArrivalSchedule, BufferFill, SetShare, SetStream, SharedCursor, StreamKey, WorkerStream,
};
use fathom_workload::{Backend, ExistingFiles, FileOperation, FileWork, Job, Pacing, Stage};

use crate::background::{Outside, Span};
use crate::collect::Collector;
use crate::failures::{io_error, too_slow};
use crate::file_sets::{FileSets, SetStart};
use crate::gate::{self, Gate, Upcoming};
use crate::interval::{Handover, IntervalSet, Message, sets_per_worker};
use crate::io_log::{CHUNKS_PER_WORKER, LogBatch, LogTaker, logger};
use crate::order::Order;
use crate::start::{IoStart, Opened, Start};
use crate::steady::SteadyWatch;
use crate::store::Store;
use crate::survey::are_on_each_other;
use crate::targets::JobTargets;
use crate::timing::{Begin, Gauge, INTERVAL, Times};
use crate::tolerance::Tolerance;
use crate::validation::KeyMaps;
use crate::verification::verification;
use crate::worker::{Finished, Flows, Parts, PlacedSet, SetParts, WarmUps};
use crate::{EngineError, RunOptions, StopFlag, calls, exports};

/// How often the control thread looks at least.
const LOOK_EVERY: Nanos = Nanos::from_millis(100);

/// One stage, or one repeat of it, to be run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StageRun<'a> {
    pub(crate) seed: u64,
    pub(crate) stage: &'a Stage,
    /// Index of the stage in the workload.
    pub(crate) stage_index: usize,
    /// Index among all stages and repeats of the run.
    pub(crate) index: usize,
    /// From 0.
    pub(crate) repeat: u32,
    pub(crate) name: &'a str,
    /// Index over the whole workload of the stage's first job.
    pub(crate) first_job: usize,
    /// Of the stage's jobs, in order.
    pub(crate) targets: &'a [JobTargets],
    pub(crate) store: &'a Store,
    pub(crate) file_sets: &'a FileSets,
    /// What is known of blocks that are checked, from stage to stage.
    pub(crate) key_maps: &'a KeyMaps,
    pub(crate) options: &'a RunOptions,
    /// That of the whole run.
    pub(crate) tolerance: &'a Tolerance,
    pub(crate) stop: &'a StopFlag,
    /// What jobs that ask for io_uring get.
    pub(crate) uring: Backend,
    /// Whether all that the run has written by its end went straight to block devices.
    pub(crate) writes_to_devices: bool,
    /// Who says when it begins, and how many stages and repeats there are; `None`: as soon as it can.
    pub(crate) gate: Option<(&'a dyn Gate, usize)>,
}

/// What a stage yields.
#[derive(Debug)]
pub(crate) struct StageOutput {
    pub(crate) result: StageResult,
    pub(crate) lag: Gauge,
    pub(crate) stamp_error: Gauge,
    /// The I/O that ended the stage.
    pub(crate) failure: Option<EngineError>,
    /// What a job did not do of what was asked; it ends nothing, and the run fails with it.
    pub(crate) problem: Option<EngineError>,
    /// What workers found wrong with data that was read.
    pub(crate) lines: Vec<String>,
    /// What is told of jobs that failed without ending the run.
    pub(crate) notes: Vec<String>,
    /// Whether a job that ended is to end the whole run.
    pub(crate) ends_run: bool,
}

impl StageOutput {
    /// With how `order` ended it.
    fn ended(mut self, order: &Order<'_>) -> Self {
        self.failure = self.failure.or(order.take_failure());
        self.ends_run = order.ends_run();
        self
    }

    fn tell(&mut self, notes: impl IntoIterator<Item = String>) {
        for note in notes {
            self.result.notes.push(note.clone());
            self.notes.push(note);
        }
    }
}

/// The wall clock at a moment that is near, or not yet there.
fn unix_ns_of(moment: Nanos) -> u64 {
    let (now, wall) = (Clock::now(), rawio::wall_clock());
    (wall + moment.saturating_sub(now).get()).saturating_sub(now.saturating_sub(moment).get())
}

/// When the first measurement of a stage began that was begun at `start`; `None` where nothing was measured.
fn began(workers: &[WorkerStats], start: Nanos, start_unix_ns: u64) -> Option<Began> {
    let measured = (workers.iter()).filter(|worker| worker.measured > Nanos::ZERO);
    let first = measured.map(|worker| worker.started).min()?;
    Some(Began {
        at: start + first,
        unix_ns: start_unix_ns + first.get(),
    })
}

/// The control thread's ends of all channels.
struct Ways<'a> {
    begin: Begin,
    steady: SteadyWatch,
    goes: &'a [SyncSender<Times>],
    messages: &'a Receiver<Message>,
    /// By worker.
    returns: Vec<SyncSender<Box<IntervalSet>>>,
    /// By worker, where its job asks for a log.
    log_returns: Vec<Option<SyncSender<Box<LogBatch>>>>,
}

/// Whether its I/O is held to rates by direction, and to none as a whole.
fn heeds_directions(job: &Job) -> bool {
    let features = &job.features;
    features.rates.is_some() && (features.verify.is_none() || directions_follow_time(job))
}

/// What a worker leaves behind; a panic of its thread goes on here.
fn joined(thread: ScopedJoinHandle<'_, Option<Finished>>) -> Option<Finished> {
    match thread.join() {
        Ok(finished) => finished,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

/// When the next snapshot is due.
struct Snapshots {
    every: Option<Nanos>,
    next: Nanos,
}

impl Snapshots {
    fn new(every: Option<Nanos>, origin: Nanos) -> Self {
        // Whole intervals: between them nothing new is known.
        let whole = |every: Nanos| INTERVAL * every.get().div_ceil(INTERVAL.get()).max(1);
        let every = every.map(whole);
        Self {
            every,
            next: every.map_or(Nanos::MAX, |every| origin + every),
        }
    }

    /// Whether one is due, with all intervals shown that end before `next_show`.
    fn is_due(&mut self, next_show: Nanos) -> bool {
        let Some(every) = self.every else {
            return false;
        };
        if next_show <= self.next + INTERVAL {
            return false;
        }
        self.next += every;
        true
    }

    /// Whether one that was due by `now` was not told: of a stage that ends with its interval nothing more will be shown.
    fn is_left(&mut self, now: Nanos) -> bool {
        let Some(every) = self.every.filter(|_| now >= self.next) else {
            return false;
        };
        self.next += every;
        true
    }
}

/// What a worker hands its sets of figures over by, and the way on which they come back.
fn handover(
    (worker, job): (usize, &Job),
    full: &SyncSender<Message>,
    sets: usize,
) -> (Handover, SyncSender<Box<IntervalSet>>) {
    let (give_back, spares) = sync_channel(sets);
    let set = || Box::new(IntervalSet::new(worker, job));
    for _ in 1..sets {
        // The channel has room for all sets.
        let _ = give_back.try_send(set());
    }
    (Handover::new(set(), full.clone(), spares), give_back)
}

impl StageRun<'_> {
    /// Runs it; `None` where its gate did not let it begin.
    ///
    /// # Errors
    /// Where it cannot begin. What fails later is part of the output.
    pub(crate) fn run(&self, sink: &mut dyn EventSink) -> Result<Option<StageOutput>, EngineError> {
        let order = Order::new(self.stage, self.tolerance);
        let count: usize = self.stage.jobs.iter().map(|job| job.workers as usize).sum();
        let sets = sets_per_worker(count);
        let (full, messages) = sync_channel(count * (sets + CHUNKS_PER_WORKER));
        let (ready, readiness) = channel();
        let mut returns = Vec::new();
        let mut log_returns = Vec::new();
        let (mut goes, mut starts) = (Vec::new(), Vec::new());
        let (mut flows, mut warm_ups) = (Flows::default(), WarmUps::default());
        let steady = SteadyWatch::new(self.stage);
        let placed = self.sets()?;
        for (index, job) in self.stage.jobs.iter().enumerate() {
            let shared = SharedCursor::new();
            let set_share = self.set_share((index, job));
            for worker in 0..job.workers {
                let (handover, give_back) = handover((returns.len(), job), &full, sets);
                let (logger, log_return) = logger(log_returns.len(), job, &full).unzip();
                let (go, gone) = sync_channel(1);
                goes.push(go);
                returns.push(give_back);
                log_returns.push(log_return);
                if let Some(share) = &set_share {
                    let own = (share, placed[index].as_slice());
                    let parts = self.set_parts((index, job), worker, own, handover, &order);
                    starts.push(Start::Set(Box::new(SetStart {
                        parts: parts.in_flow(flows.join(job)),
                        ready: ready.clone(),
                        go: gone,
                    })));
                    continue;
                }
                let parts = self.parts((index, job), worker, &shared, handover, &order)?;
                starts.push(Start::Io(IoStart {
                    parts: Box::new(Parts {
                        logger,
                        share: flows.join(job),
                        warm_up: warm_ups.join(index, job),
                        enough: steady.enough(index),
                        ..parts
                    }),
                    opened: self.opened(index, job)?,
                    names: self.names(index, job),
                    order: &order,
                    ready: ready.clone(),
                    go: gone,
                }));
            }
        }
        drop((full, ready));
        std::thread::scope(|scope| {
            let threads: Vec<_> = starts
                .into_iter()
                .map(|start| scope.spawn(move || start.work()))
                .collect();
            // Every worker says that it is ready before any begins. Where one cannot, leaving this closure drops `goes`,
            // which sends the others home.
            let goes = goes;
            (threads.iter()).try_for_each(|_| readiness.recv().unwrap_or(Ok(())))?;
            let Some(begin) = self.begin() else {
                return Ok(None);
            };
            let ways = Ways {
                begin,
                steady,
                goes: &goes,
                messages: &messages,
                returns,
                log_returns,
            };
            let output = self.watch(threads, ways, &order, sink);
            Ok(Some(output.ended(&order)))
        })
    }

    /// What a worker draws alike in all repeats (what its I/Os are), and what anew in each (when they come, and what its
    /// writes hold: a repeat must not write what is there already, or deduplicating storage would find it).
    fn keys(&self, (index, job): (usize, &Job), worker: u32) -> (StreamKey, StreamKey) {
        let key = StreamKey {
            seed: self.seed,
            job: (self.first_job + index) as u32,
            worker,
            salt: job.salt,
        };
        (key, key.of_repeat(self.repeat))
    }

    fn parts<'a>(
        &'a self,
        (index, job): (usize, &'a Job),
        worker: u32,
        shared: &SharedCursor,
        handover: Handover,
        order: &'a Order<'a>,
    ) -> Result<Parts<'a, WorkerStream>, EngineError> {
        let (key, repeat_key) = self.keys((index, job), worker);
        let ranges = &self.targets[index].ranges;
        let stream = WorkerStream::new(job, key, ranges, shared);
        Ok(Parts {
            job,
            job_index: index,
            worker,
            source: stream.map_err(|error| crate::preflight::stream_error(&error))?,
            schedule: if heeds_directions(job) {
                None
            } else {
                ArrivalSchedule::of(job, repeat_key)
            },
            fill: BufferFill::for_job(job, repeat_key),
            backend: match job.backend {
                Backend::IoUring => self.uring,
                other => other,
            },
            handover,
            logger: None,
            share: None,
            warm_up: None,
            enough: None,
            verification: verification(
                (self.first_job + index, job),
                worker,
                (key, repeat_key),
                ranges,
            )?,
            checked: self.key_maps.of(job, &self.targets[index].objects),
            repeat_key,
            tolerance: self.tolerance,
            outside_calls: self.options.outside_calls,
            stop: self.stop.clone(),
            abort: order.told_to_end(index),
        })
    }

    fn files(&self, index: usize, job: &Job) -> Result<Vec<File>, EngineError> {
        let mut files = Vec::new();
        let of_names = |operation: FileOperation| operation.is_of_names();
        if job.features.operation.is_some_and(of_names) {
            return Ok(files);
        }
        let _rights = crate::thread::file_rights(job)?;
        for (target, object) in job.targets.iter().zip(&self.targets[index].objects) {
            if job.features.files.pre_read {
                self.store.pre_read(*object, self.stop)?;
            }
            if let Some(file) = self.store.open_for(*object, job)? {
                if job.drop_cache && !job.features.files.pre_read {
                    calls::drop_used(&file, target);
                }
                files.push(file);
            }
        }
        Ok(files)
    }

    /// The job's targets as a worker has them.
    fn opened(&self, index: usize, job: &Job) -> Result<Opened, EngineError> {
        let objects = self.targets[index].objects.iter();
        let exports = objects.filter(|_| job.backend == Backend::Nbd);
        let offers = exports.filter_map(|object| self.store.offer(*object));
        Ok(Opened {
            files: self.files(index, job)?,
            offers: offers.collect(),
        })
    }

    /// What is there of each job's file sets.
    fn sets(&self) -> Result<Vec<Vec<PlacedSet>>, EngineError> {
        let places: Vec<Vec<(usize, PathBuf)>> = (self.targets.iter())
            .map(|job| {
                let objects = job.objects.iter();
                objects
                    .filter_map(|object| Some((*object, self.store.path(*object)?)))
                    .collect()
            })
            .collect();
        if !self
            .stage
            .jobs
            .iter()
            .any(|job| job.features.file_work.is_some())
        {
            return Ok(vec![Vec::new(); self.stage.jobs.len()]);
        }
        let states = self.file_sets.of_stage(self.stage, &places)?;
        let placed = states.into_iter().zip(places).map(|(states, places)| {
            let placed = states.into_iter().zip(places);
            placed
                .map(|(state, (_, anchor))| PlacedSet { state, anchor })
                .collect()
        });
        Ok(placed.collect())
    }

    /// A worker on a file set, but its part in a flow.
    fn set_parts<'a>(
        &'a self,
        (index, job): (usize, &'a Job),
        worker: u32,
        ((work, share), sets): (&(&'a FileWork, Arc<SetShare>), &[PlacedSet]),
        handover: Handover,
        order: &'a Order<'a>,
    ) -> SetParts<'a> {
        let (key, repeat_key) = self.keys((index, job), worker);
        let states = sets.iter().map(|set| Arc::clone(&set.state)).collect();
        SetParts {
            job,
            job_index: index,
            worker,
            stream: SetStream::new(job, work, key, states, Arc::clone(share)),
            share: Arc::clone(share),
            sets: sets.to_vec(),
            fill: BufferFill::for_job(job, repeat_key),
            handover,
            flow: None,
            order,
            tolerance: self.tolerance,
            stop: self.stop.clone(),
            abort: order.told_to_end(index),
        }
    }

    /// What the workers of a job on a file set share.
    fn set_share<'j>(
        &self,
        (index, job): (usize, &'j Job),
    ) -> Option<(&'j FileWork, Arc<SetShare>)> {
        let work = job.features.file_work.as_deref()?;
        let (_, repeat_key) = self.keys((index, job), 0);
        let schedule = work
            .rate
            .map(|rate| ArrivalSchedule::new(Pacing::Iops(rate.rate), rate.process, repeat_key));
        Some((work, Arc::new(SetShare::new(schedule))))
    }

    /// The paths of a job whose targets are names to it.
    fn names(&self, index: usize, job: &Job) -> Vec<PathBuf> {
        let of_names = |operation: FileOperation| operation.is_of_names();
        if !job.features.operation.is_some_and(of_names) {
            return Vec::new();
        }
        let objects = self.targets[index].objects.iter();
        objects
            .filter_map(|object| self.store.path(*object))
            .collect()
    }

    /// Start of the stage: now, or when the gate has it; `None` where it is not to begin.
    fn begin(&self) -> Option<Begin> {
        let Some((gate, count)) = self.gate else {
            return Some(Begin::now());
        };
        let upcoming = Upcoming {
            index: self.index,
            count,
            stage: self.stage_index,
            repeat: self.repeat,
            name: self.name,
        };
        gate::pass(gate, &upcoming, self.stop)
    }

    /// The moments of a stage that starts so: those of its start, and of the first job's measurement.
    fn times(&self, begin: &Begin) -> Times {
        Times {
            start: begin.at,
            origin: begin.at + self.stage.lead(),
            awake: begin.awake,
        }
    }

    fn empty_output(&self, started_unix_ns: u64) -> StageOutput {
        StageOutput {
            result: self.empty_result(started_unix_ns),
            lag: Gauge::default(),
            stamp_error: Gauge::default(),
            failure: None,
            problem: None,
            lines: Vec::new(),
            notes: Vec::new(),
            ends_run: false,
        }
    }

    fn watch(
        &self,
        threads: Vec<ScopedJoinHandle<'_, Option<Finished>>>,
        ways: Ways<'_>,
        order: &Order<'_>,
        sink: &mut dyn EventSink,
    ) -> StageOutput {
        // What was asked of the stage before is not asked of this one.
        self.stop.take_stage_end();
        let names = self.device_names();
        let times = self.times(&ways.begin);
        let lead = times.origin.saturating_sub(times.start);
        let began_unix_ns = unix_ns_of(times.start);
        let started_unix_ns = began_unix_ns + lead.get();
        let (start, mut measured) = (Outside::now(&names), None);
        for go in ways.goes {
            // A worker that is gone has panicked; joining it says so.
            let _ = go.send(times);
        }
        let mut steady = ways.steady;
        steady.begin(times.origin);
        let mut collector = Collector::new(self.index, times, ways.returns);
        if sink.wants_jobs() {
            collector = collector.with_jobs(self.job_of_workers());
        }
        let logs = LogTaker::new(
            self.index,
            self.stage,
            times,
            began_unix_ns,
            ways.log_returns,
        );
        let mut snapshots = Snapshots::new(self.options.snapshot_every, times.origin);
        let mut counted_from = times.start;
        loop {
            let now = Clock::now();
            if counted_from < times.origin && now >= times.origin {
                measured = Some(Outside::now(&names));
                counted_from = now;
            }
            let wake = collector.next_show().min(now + LOOK_EVERY);
            let wait = Duration::from(wake.saturating_sub(now));
            match ways.messages.recv_timeout(wait) {
                Ok(Message::Interval(set)) => {
                    steady.take(&set);
                    collector.take(set);
                }
                Ok(Message::Last(set)) => collector.add(&set),
                Ok(Message::Log(batch)) => logs.take(batch, sink),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            self.tell_failed(order, sink);
            let now = Clock::now();
            steady.judge(now);
            if self.stop.take_stage_end() {
                order.end_all();
            }
            collector.show(now, sink);
            if snapshots.is_due(collector.next_show()) || self.stop.take_snapshot_request() {
                self.tell_snapshot(started_unix_ns, &collector, sink);
            }
        }
        let ended = Clock::now();
        let over = ended.saturating_sub(counted_from);
        let mut output = self.empty_output(started_unix_ns);
        output.tell(gate::late_note(ways.begin.late));
        let span = Span::to_now(start, measured, &names);
        self.take_all(threads, &mut output);
        span.tell(&mut output.result, over);
        output.result.others = self.others(&names, &span, over);
        self.tell_failed(order, sink);
        steady.finish(&mut output.result.workers);
        collector.finish(&mut output.result, sink);
        output.result.began = began(&output.result.workers, times.start, began_unix_ns);
        self.tell_over((snapshots, ended), &output.result, sink);
        output
    }

    /// Waits for all workers to be gone, and takes what they leave.
    fn take_all(
        &self,
        threads: Vec<ScopedJoinHandle<'_, Option<Finished>>>,
        output: &mut StageOutput,
    ) {
        let mut unanswered = vec![0; self.stage.jobs.len()];
        for finished in threads.into_iter().filter_map(joined) {
            unanswered[finished.stats.job] += finished.unanswered;
            self.take_finished(finished, output);
        }
        output.tell(exports::unanswered_notes(&self.stage.jobs, &unanswered));
    }

    /// Tells what the stage comes to, for each interval that it ended with, too.
    fn tell_over(
        &self,
        (mut snapshots, ended): (Snapshots, Nanos),
        result: &StageResult,
        sink: &mut dyn EventSink,
    ) {
        let index = self.index;
        let left = std::iter::from_fn(|| snapshots.is_left(ended).then_some(false));
        for over in left.chain([true]) {
            sink.event(&Event::Snapshot {
                index,
                over,
                result,
            });
        }
    }

    fn empty_result(&self, started_unix_ns: u64) -> StageResult {
        StageResult {
            started_unix_ns,
            ..StageResult::new(self.name, self.stage_index)
        }
    }

    /// All workers in order, with when their measurements should begin.
    fn idle_workers(&self) -> Vec<WorkerStats> {
        let mut workers = Vec::new();
        for (index, job) in self.stage.jobs.iter().enumerate() {
            for number in 0..job.workers {
                let mut worker = WorkerStats::new(index, number);
                worker.started = job.limits.start_delay + job.warmup_time();
                workers.push(worker);
            }
        }
        workers
    }

    /// Index of its job for each worker, in order.
    fn job_of_workers(&self) -> Vec<usize> {
        let jobs = self.stage.jobs.iter().enumerate();
        jobs.flat_map(|(index, job)| (0..job.workers).map(move |_| index))
            .collect()
    }

    fn tell_snapshot(&self, started_unix_ns: u64, collector: &Collector, sink: &mut dyn EventSink) {
        let workers = collector.snapshot(self.idle_workers());
        let measured = workers.iter().map(|worker| worker.measured).max();
        let result = StageResult {
            measured: measured.unwrap_or_default(),
            workers,
            ..self.empty_result(started_unix_ns)
        };
        sink.event(&Event::Snapshot {
            index: self.index,
            over: false,
            result: &result,
        });
    }

    fn take_finished(&self, finished: Finished, output: &mut StageOutput) {
        output.lag.merge(&finished.lag);
        output.stamp_error.merge(&finished.stamp_error);
        let alone = self.tolerance.workers_fail_alone();
        if let (Some(failure), None, false) = (finished.failure, &output.failure, alone) {
            let job = &self.stage.jobs[finished.stats.job];
            output.failure = Some(io_error(job, failure));
        }
        if let Some(shortfall) = finished.shortfall {
            let job = &self.stage.jobs[finished.stats.job];
            let (error, line) = too_slow(job, shortfall);
            if job.existing == ExistingFiles::OnlyOurs {
                output.failure.get_or_insert(error);
            } else {
                output.result.notes.push(line.clone());
                output.notes.push(line);
            }
        }
        output.problem = output.problem.take().or(finished.problem);
        output.result.notes.extend(finished.handed_over);
        output.lines.extend(finished.lines);
        output.result.workers.push(finished.stats);
    }

    /// Tells of I/Os that failed, of what workers that have ended found wrong, and of those that ended by themselves.
    fn tell_failed(&self, order: &Order<'_>, sink: &mut dyn EventSink) {
        if let Some(count) = self.tolerance.take_more_failed() {
            sink.event(&Event::MoreFailed { count });
        }
        for failure in &self.tolerance.take_untold() {
            sink.event(&Event::IoFailed {
                index: self.index,
                failure,
            });
        }
        for line in &order.take_wrong() {
            sink.event(&Event::WrongData { text: line });
        }
        for error in order.take_failed_alone() {
            let text = format!("error: {error}");
            sink.event(&Event::JobFailed { text: &text });
        }
    }

    fn device_names(&self) -> Vec<String> {
        let objects = self.targets.iter().flat_map(|job| &job.objects);
        let mut names: Vec<_> = objects
            .filter_map(|object| self.store.device_under(*object))
            .collect();
        names.sort();
        names.dedup();
        names
    }

    /// What the devices did for others. Not told where other hosts begin together with this one: their runs may be on this
    /// machine, and on these devices.
    fn others(&self, names: &[String], span: &Span, over: Nanos) -> Option<OtherIo> {
        if self.gate.is_some() || are_on_each_other(names) {
            return None;
        }
        let others = span.others(over)?;
        Some(OtherIo {
            writes_known: self.writes_to_devices,
            ..others
        })
    }
}
