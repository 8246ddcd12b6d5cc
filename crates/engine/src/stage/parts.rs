//! What a stage's workers are made of: their I/O streams and schedules, the files they open, their file sets, and what they
//! hand their figures over by. All of it is made before the stage begins.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};

use fathom_verify::directions_follow_time;
use fathom_workload::generator::{
    ArrivalSchedule, BufferFill, SetShare, SetStream, SharedCursor, StreamKey, WorkerStream,
};
use fathom_workload::{Backend, FileOperation, FileWork, Job, Pacing};

use super::StageRun;
use crate::interval::{Handover, IntervalSet, Message};
use crate::order::Order;
use crate::start::Opened;
use crate::verification::verification;
use crate::worker::{Parts, PlacedSet, SetParts};
use crate::{EngineError, calls};

impl StageRun<'_> {
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

    /// What the arrivals of a worker are drawn by, which are each host's own: drawn alike, those of all hosts would come in
    /// bursts.
    fn arrivals(&self, repeat_key: StreamKey) -> StreamKey {
        repeat_key.of_host(self.options.host)
    }

    pub(super) fn parts<'a>(
        &'a self,
        (index, job): (usize, &'a Job),
        worker: u32,
        shared: &SharedCursor,
        handover: Handover,
        order: &'a Order<'a>,
    ) -> Result<Parts<'a, WorkerStream>, EngineError> {
        let (key, repeat_key) = self.keys((index, job), worker);
        let arrivals = self.arrivals(repeat_key);
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
                ArrivalSchedule::of(job, arrivals)
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
            arrivals,
            io_is_over: order.io_is_over(),
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
    pub(super) fn opened(&self, index: usize, job: &Job) -> Result<Opened, EngineError> {
        let objects = self.targets[index].objects.iter();
        let exports = objects.filter(|_| job.backend == Backend::Nbd);
        let offers = exports.filter_map(|object| self.store.offer(*object));
        Ok(Opened {
            files: self.files(index, job)?,
            offers: offers.collect(),
        })
    }

    /// What is there of each job's file sets.
    pub(super) fn sets(&self) -> Result<Vec<Vec<PlacedSet>>, EngineError> {
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
    pub(super) fn set_parts<'a>(
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
    pub(super) fn set_share<'j>(
        &self,
        (index, job): (usize, &'j Job),
    ) -> Option<(&'j FileWork, Arc<SetShare>)> {
        let work = job.features.file_work.as_deref()?;
        let arrivals = self.arrivals(self.keys((index, job), 0).1);
        let schedule = work
            .rate
            .map(|rate| ArrivalSchedule::new(Pacing::Iops(rate.rate), rate.process, arrivals));
        Some((work, Arc::new(SetShare::new(schedule))))
    }

    /// The paths of a job whose targets are names to it.
    pub(super) fn names(&self, index: usize, job: &Job) -> Vec<PathBuf> {
        let of_names = |operation: FileOperation| operation.is_of_names();
        if !job.features.operation.is_some_and(of_names) {
            return Vec::new();
        }
        let objects = self.targets[index].objects.iter();
        objects
            .filter_map(|object| self.store.path(*object))
            .collect()
    }
}

/// Whether its I/O is held to rates by direction, and to none as a whole.
fn heeds_directions(job: &Job) -> bool {
    let features = &job.features;
    features.rates.is_some() && (features.verify.is_none() || directions_follow_time(job))
}

/// What a worker hands its sets of figures over by, and the way on which they come back.
pub(super) fn handover(
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
