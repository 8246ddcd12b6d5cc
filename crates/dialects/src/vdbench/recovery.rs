//! Journal recovery: `journal=recover` and `-jr`, and the run `journal_recovery` before all others, in which all is read and
//! compared that a journal tells of.

use std::collections::BTreeMap;

use fathom_units::{Bytes, Nanos, common_divisor};
use fathom_workload::{
    Access, Arrival, Backend, BlockSizes, Features, Job, Limits, Mix, SequentialScope, Stage,
    Target,
};

use super::VdbenchInput;
use super::run::{Run, RunFacts, RunJob, RunKind};
use super::sections::{Seek, Xfersize};
use super::validation;

/// Name of the run.
const NAME: &str = "journal_recovery";

/// What is read of one file or device.
struct Part {
    like: Job,
    run_job: RunJob,
    /// The largest size that divides all transfers.
    unit: u64,
    from: u64,
    to: u64,
}

impl VdbenchInput {
    /// Puts the run before all others that reads what the journals tell of, where they are to be gone on with; with `only` in
    /// the place of all others.
    pub(super) fn add_recovery(&mut self) {
        let asked = validation::asked(&self.general, &self.options);
        let Some(journal) = asked.and_then(|asked| asked.journal) else {
            return;
        };
        if !journal.recovers || !(journal.reads_all || journal.only) {
            return;
        }
        let parts = self.parts();
        if journal.only {
            self.runs.clear();
            self.workload.stages.clear();
        }
        self.shift_runs();
        let run_jobs: Vec<RunJob> = parts.values().map(|part| part.run_job).collect();
        let bytes = parts.values().map(|part| part.to - part.from).sum();
        let unit = parts.values().map(|part| part.unit).fold(0, common_divisor);
        self.runs.insert(0, run(run_jobs, unit, bytes));
        let stage = Stage {
            name: NAME.to_owned(),
            jobs: parts.into_values().map(job).collect(),
            cooldown: Nanos::ZERO,
            repeats: 1,
            discard: false,
            rate_from: None,
        };
        self.workload.stages.insert(0, stage);
    }

    /// By path: all of a file or device that any run may have written.
    fn parts(&self) -> BTreeMap<String, Part> {
        let mut parts: BTreeMap<String, Part> = BTreeMap::new();
        for run in &self.runs {
            let Some(stage) = self.workload.stages.get(run.stage) else {
                continue;
            };
            for (job, run_job) in stage.jobs.iter().zip(&run.jobs) {
                let Some(target) = job.targets.first() else {
                    continue;
                };
                let from = target.offset.get();
                let to = from.saturating_add(target.length.map_or(0, Bytes::get));
                let size = self.sds.get(run_job.sd).and_then(|sd| sd.size);
                let part = parts.entry(target.place.path().to_owned());
                let part = part.or_insert_with(|| Part {
                    like: job.clone(),
                    run_job: RunJob {
                        wd: None,
                        stream: 0,
                        ..*run_job
                    },
                    unit: 0,
                    from,
                    to: size.unwrap_or(0),
                });
                part.unit = common_divisor(common_divisor(part.unit, job.unit().get()), from);
                part.from = part.from.min(from);
                part.to = part.to.max(to);
            }
        }
        parts
    }
}

/// Reads a part, block by block, as far as anything is known of it.
fn job(part: Part) -> Job {
    let Part { like, unit, .. } = part;
    let unit = unit.max(1);
    let length = (part.to - part.from) / unit * unit;
    let mut validate = like.features.validate.clone();
    if let Some(validate) = &mut validate {
        validate.known_only = true;
    }
    let place = like.targets.first().map(|target| target.place.clone());
    let targets = place.map(|place| Target {
        place,
        offset: Bytes::new(part.from),
        length: (length > 0).then(|| Bytes::new(length)),
    });
    Job {
        targets: targets.into_iter().collect(),
        workers: 1,
        depth: part.run_job.threads.max(1),
        mix: Mix::READ,
        access: Access::Sequential {
            gap: Bytes::ZERO,
            scope: SequentialScope::PerWorker,
        },
        block: BlockSizes::uniform(Bytes::new(unit)),
        arrival: Arrival::Closed,
        limits: Limits::default(),
        backend: Backend::IoUring,
        features: Features {
            validate,
            ..Features::default()
        },
        ..like
    }
}

fn run(jobs: Vec<RunJob>, unit: u64, bytes: u64) -> Run {
    let facts = RunFacts {
        xfersize: Some(Xfersize::One(unit)),
        threads: None,
        rdpct: Some(100.0),
        rhpct: Some(0.0),
        whpct: Some(0.0),
        seek: Some(Seek::Eof),
        lun_bytes: bytes,
    };
    Run::before_all((NAME, RunKind::Recovery), jobs, facts)
}
