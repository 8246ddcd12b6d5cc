//! A sweep laid over a workload.

use fathom_units::Bytes;

use super::{Sweep, SweepError, SweepPoint, short_size};
use crate::{BlockSizes, Growth, JOBS_MAX, Job, STAGES_MAX, Stage, Workload};

/// A workload after a sweep, and what its stages measure.
#[derive(Debug, Clone, PartialEq)]
pub struct Swept {
    /// A stage for each point.
    pub workload: Workload,
    /// In the order of their stages.
    pub points: Vec<SweepPoint>,
}

/// Values of one point; `None` is not swept.
#[derive(Debug, Clone, Copy)]
struct Values {
    depth: Option<u32>,
    block: Option<Bytes>,
    threads: Option<u32>,
}

impl Sweep {
    /// Replaces every measured stage of `workload` by one for each point.
    ///
    /// # Errors
    ///
    /// Where a job cannot follow the sweep, or the stages become too many. What a block size contradicts (a target smaller
    /// than it, for example) is found by [`crate::validate`].
    pub fn apply(&self, workload: &Workload) -> Result<Swept, SweepError> {
        let measured = workload.stages.iter().filter(|stage| !stage.discard);
        let several = measured.clone().count() > 1;
        let points = self.point_count();
        let jobs: usize = measured.clone().map(|stage| stage.jobs.len()).sum();
        if measured.count() * points > STAGES_MAX || jobs * points > JOBS_MAX {
            let message = format!(
                "{points} points make the workload larger than {STAGES_MAX} stages or {JOBS_MAX} jobs"
            );
            return Err(SweepError::new(message, "sweep fewer values"));
        }
        let mut swept = Swept {
            workload: Workload {
                stages: Vec::new(),
                seed: workload.seed,
            },
            points: Vec::new(),
        };
        for stage in &workload.stages {
            if stage.discard {
                swept.workload.stages.push(stage.clone());
                continue;
            }
            if stage.rate_from.is_some() {
                let message = format!("stage `{}` takes its rate from another stage", stage.name);
                return Err(SweepError::new(
                    message,
                    "leave `rate_from` out to sweep it",
                ));
            }
            self.check(stage)?;
            for values in self.values() {
                let point = point(stage, several, values);
                let mut stage = stage.clone();
                stage.name.clone_from(&point.stage);
                stage.jobs.iter_mut().for_each(|job| values.set(job));
                let outstanding = stage.jobs.iter().map(outstanding).sum();
                swept.workload.stages.push(stage);
                swept.points.push(SweepPoint {
                    outstanding,
                    ..point
                });
            }
        }
        Ok(swept)
    }

    fn values(&self) -> impl Iterator<Item = Values> + '_ {
        let blocks = choices(&self.blocks);
        blocks.into_iter().flat_map(move |block| {
            choices(&self.threads).into_iter().flat_map(move |threads| {
                let depths = choices(&self.depths).into_iter();
                depths.map(move |depth| Values {
                    depth,
                    block,
                    threads,
                })
            })
        })
    }

    /// Jobs that a sweep would leave as they are must not be shown as if they had followed it.
    fn check(&self, stage: &Stage) -> Result<(), SweepError> {
        for (index, job) in stage.jobs.iter().enumerate() {
            if let Some(depth) = self.depths.iter().find(|depth| {
                let mut deeper = job.clone();
                deeper.depth = **depth;
                deeper.effective_depth() != **depth
            }) {
                let message = format!(
                    "job `{}` issues one I/O at a time (`{}`): a depth of {depth} would change nothing",
                    job.name,
                    job.backend.name()
                );
                let hint = "sweep `threads`, or use an engine that keeps several outstanding (`ioengine=libaio`, `backend = \"io_uring\"`)";
                return Err(SweepError::new(message, hint));
            }
            if !self.blocks.is_empty() && !has_plain_blocks(job) {
                let message = format!(
                    "the sizes of job `{}` come from a trace, an operation or ranges: a block size would not count",
                    job.name
                );
                return Err(SweepError::new(message, "leave `block` out of the sweep"));
            }
            let twin = |other: &&Job| other.name == job.name && other.host == job.host;
            let twins = stage.jobs[..index].iter().filter(twin).count();
            if !self.threads.is_empty() && twins > 0 {
                let clones = stage.jobs.iter().filter(twin).count();
                let message = format!(
                    "job `{}` has {clones} clones, each of which would get the threads of the sweep",
                    job.name
                );
                let hint = "let the sweep count alone: `numjobs=1` in fio's words";
                return Err(SweepError::new(message, hint));
            }
        }
        Ok(())
    }
}

impl Values {
    fn set(self, job: &mut Job) {
        // Points are compared: the first must not find a new file where the others find what it wrote.
        if let Growth::Reserved(_) = job.features.files.grows {
            job.features.files.grows = Growth::No;
        }
        if let Some(depth) = self.depth {
            job.depth = depth;
        }
        if let Some(size) = self.block {
            job.block = BlockSizes {
                alignment: job.block.alignment,
                ..BlockSizes::uniform(size)
            };
        }
        if let Some(threads) = self.threads {
            job.workers = threads;
        }
    }
}

/// The point of one stage and its values; `several`: the workload has others.
fn point(stage: &Stage, several: bool, values: Values) -> SweepPoint {
    let mut words = Vec::new();
    words.extend(several.then(|| stage.name.clone()));
    words.extend(values.depth.map(|depth| format!("depth={depth}")));
    words.extend(
        values
            .block
            .map(|size| format!("block={}", short_size(size))),
    );
    words.extend(values.threads.map(|threads| format!("threads={threads}")));
    SweepPoint {
        stage: words.join(" "),
        base: several.then(|| stage.name.clone()),
        depth: values.depth,
        block: values.block,
        threads: values.threads,
        outstanding: 0,
    }
}

fn outstanding(job: &Job) -> u64 {
    u64::from(job.effective_depth()) * u64::from(job.workers)
}

/// Whether the block sizes of the job are those of its list.
fn has_plain_blocks(job: &Job) -> bool {
    let features = &job.features;
    let drawn = features
        .placement
        .as_ref()
        .is_some_and(|rules| rules.ranges.iter().any(Option::is_some) || rules.by_order.is_some());
    let drawn = drawn || !features.lines.is_empty();
    !drawn && features.replay.is_none() && features.operation.is_none()
}

/// Every value of an axis, or that it is not swept.
fn choices<T: Copy>(values: &[T]) -> Vec<Option<T>> {
    if values.is_empty() {
        vec![None]
    } else {
        values.iter().copied().map(Some).collect()
    }
}
