//! One stage on real storage: its workers' threads, and the control thread that watches them.

mod parts;
mod snapshots;
mod watch;

use std::sync::mpsc::{channel, sync_channel};

use fathom_record::{EventSink, StageResult};
use fathom_workload::generator::SharedCursor;
use fathom_workload::{Backend, Stage};

use self::parts::handover;
use self::watch::Ways;
use crate::file_sets::{FileSets, SetStart};
use crate::gate::{self, Gate, Upcoming};
use crate::interval::sets_per_worker;
use crate::io_log::{CHUNKS_PER_WORKER, logger};
use crate::order::Order;
use crate::start::{IoStart, Start};
use crate::steady::SteadyWatch;
use crate::store::Store;
use crate::targets::JobTargets;
use crate::timing::{Begin, Gauge};
use crate::tolerance::Tolerance;
use crate::validation::KeyMaps;
use crate::worker::{Flows, Parts, WarmUps};
use crate::{EngineError, RunOptions, StopFlag};

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
    /// Whether stages before it do I/O, and neither it nor any that is to come.
    pub(crate) io_is_behind: bool,
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

impl StageRun<'_> {
    fn order(&self) -> Order<'_> {
        let order = Order::new(self.stage, self.tolerance);
        if self.io_is_behind {
            order.end_io();
        }
        order
    }

    /// Runs it; `None` where its gate did not let it begin.
    ///
    /// # Errors
    /// Where it cannot begin. What fails later is part of the output.
    pub(crate) fn run(&self, sink: &mut dyn EventSink) -> Result<Option<StageOutput>, EngineError> {
        let order = self.order();
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
}
