//! How much the runs of a file may come to: their number, that of their jobs, and the memory that describes them.
//!
//! A short file can ask for very much: each run of each loop has jobs of its own, and each of these repeats its names, its path
//! and its transfer sizes. Memory is counted as jobs are made, so that a file is refused before it takes more.

use fathom_workload::{
    BlockSizes, Distribution, FileSizes, Filling, Job, Place, Placement, RateStep, Target,
    WeightedSize, Zone,
};

use super::run::{LoopSetting, Run, RunJob};
use super::sections::{Rd, Xfersize};
use super::values::Values;

/// Most runs.
pub(super) const RUNS_MAX: usize = 10_000;
/// Most jobs over all runs.
pub(super) const JOBS_MAX: usize = fathom_workload::JOBS_MAX;
/// Most bytes that jobs and runs take. With what reading a file of 1 MiB takes before, that stays below 256 MiB.
const BYTES_MAX: usize = 96 << 20;
/// What an allocation takes beside its contents.
const ALLOCATION: usize = 16;

/// What is left of the limits.
#[derive(Debug, Default)]
pub(super) struct Budget {
    runs: usize,
    jobs: usize,
    /// Jobs that were begun, whatever became of them.
    begun: usize,
    bytes: usize,
    is_spent: bool,
}

impl Budget {
    /// Jobs so far.
    pub(super) fn jobs(&self) -> usize {
        self.jobs
    }

    /// Whether a limit was passed, which was told.
    pub(super) fn is_spent(&self) -> bool {
        self.is_spent
    }

    /// Whether `runs` more are possible.
    pub(super) fn has_room_for_runs(&self, runs: usize) -> bool {
        self.runs.saturating_add(runs) <= RUNS_MAX
    }

    /// Whether `jobs` more are possible; that they are not is told for `rd`.
    pub(super) fn has_room_for_jobs(
        &mut self,
        jobs: usize,
        rd: &Rd,
        values: &mut Values<'_>,
    ) -> bool {
        if self.jobs.saturating_add(jobs) <= JOBS_MAX {
            return !self.is_spent;
        }
        self.refuse(&format!("over {JOBS_MAX} jobs in all runs"), rd, values)
    }

    /// Counts `jobs` that are begun; whether there is room for them. Those of runs with errors count too, since they take time.
    pub(super) fn begin(&mut self, jobs: usize, rd: &Rd, values: &mut Values<'_>) -> bool {
        self.begun = self.begun.saturating_add(jobs);
        if self.begun <= JOBS_MAX {
            return !self.is_spent;
        }
        self.refuse(&format!("over {JOBS_MAX} jobs in all runs"), rd, values)
    }

    /// Counts a job; whether there was room for it.
    pub(super) fn job(&mut self, job: &Job, rd: &Rd, values: &mut Values<'_>) -> bool {
        self.jobs += 1;
        self.take(bytes_of_job(job), rd, values)
    }

    /// Counts a run; whether there was room for it.
    pub(super) fn run(&mut self, run: &Run, rd: &Rd, values: &mut Values<'_>) -> bool {
        self.runs += 1;
        if self.runs > RUNS_MAX {
            return self.refuse(&format!("over {RUNS_MAX} runs"), rd, values);
        }
        self.take(bytes_of_run(run), rd, values)
    }

    /// Whether everything fits `times` over: in runs, jobs and bytes.
    pub(super) fn repeats(&self, times: u64) -> bool {
        let fits =
            |amount: usize, most: usize| (amount as u64).saturating_mul(times) <= most as u64;
        fits(self.runs, RUNS_MAX) && fits(self.jobs, JOBS_MAX) && fits(self.bytes, BYTES_MAX)
    }

    fn take(&mut self, bytes: usize, rd: &Rd, values: &mut Values<'_>) -> bool {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes <= BYTES_MAX {
            return !self.is_spent;
        }
        let what = format!(
            "the {} jobs so far, with the names, paths and transfer sizes of each, take over {} MiB to describe",
            self.jobs,
            BYTES_MAX >> 20
        );
        self.refuse(&what, rd, values)
    }

    fn refuse(&mut self, what: &str, rd: &Rd, values: &mut Values<'_>) -> bool {
        if !self.is_spent {
            self.is_spent = true;
            let name: String = rd.name.chars().take(60).collect();
            let hint = "use fewer SDs, workloads, hosts, runs or transfer sizes, or split the file";
            values.error(rd.at, format!("rd={name}: {what}"), hint);
        }
        false
    }
}

/// What the limits are, for a complaint.
pub(super) fn limits() -> String {
    format!(
        "{RUNS_MAX} runs, {JOBS_MAX} jobs or {} MiB",
        BYTES_MAX >> 20
    )
}

fn text(text: &str) -> usize {
    text.len() + ALLOCATION
}

fn list<T>(length: usize) -> usize {
    if length == 0 {
        return 0;
    }
    length * size_of::<T>() + ALLOCATION
}

fn bytes_of_job(job: &Job) -> usize {
    let BlockSizes {
        read, write, trim, ..
    } = &job.block;
    let sizes: usize = [read, write, trim]
        .map(|sizes| list::<WeightedSize>(sizes.capacity()))
        .into_iter()
        .sum();
    let places: usize = job.targets.iter().map(|target| place(&target.place)).sum();
    let features = &job.features;
    let filling = features.filling.as_deref().map_or(0, |filling| {
        let pattern = filling.pattern.as_ref();
        size_of::<Filling>() + pattern.map_or(0, |pattern| text_of(pattern.bytes()))
    });
    let placement = features.placement.as_deref().map_or(0, |placement| {
        let zones = placement.distribution.iter().map(zones);
        size_of::<Placement>() + zones.sum::<usize>()
    });
    let steps = features.rate_steps.as_deref().map_or(0, |steps| {
        size_of_val(steps) + ALLOCATION + list::<RateStep>(steps.steps.capacity())
    });
    let work = features.file_work.as_deref();
    let work = work.map_or(0, |work| size_of_val(work) + ALLOCATION);
    size_of::<Job>()
        + size_of::<RunJob>()
        + text(&job.name)
        + job.host.as_deref().map_or(0, text)
        + list::<Target>(job.targets.capacity())
        + places
        + sizes
        + filling
        + placement
        + work
        + steps
}

fn text_of(bytes: &[u8]) -> usize {
    bytes.len() + ALLOCATION
}

fn place(place: &Place) -> usize {
    let set = place.file_set().map_or(0, |set| {
        let sizes = match &set.sizes {
            FileSizes::Weighted(sizes) => list::<WeightedSize>(sizes.capacity()),
            FileSizes::Around(_) => 0,
        };
        size_of_val(set) + ALLOCATION + sizes
    });
    text(place.path()) + set
}

fn zones(distribution: &Distribution) -> usize {
    match distribution {
        Distribution::Zoned(zones) => list::<Zone<u32>>(zones.capacity()),
        Distribution::ZonedAbsolute(zones) => list::<Zone<fathom_units::Bytes>>(zones.capacity()),
        _ => 0,
    }
}

fn bytes_of_run(run: &Run) -> usize {
    let value = |setting: &LoopSetting| size_of::<LoopSetting>() + text(&setting.value);
    let loops: usize = run.loops.iter().map(value).sum();
    let sizes = match &run.facts.xfersize {
        Some(Xfersize::Mix(sizes)) => list::<(u64, f64)>(sizes.capacity()),
        _ => 0,
    };
    // Its name stands with the run, with its stage and among the names that are taken, with its loops there.
    3 * text(&run.name) + 3 * loops + sizes + size_of::<Run>() + size_of::<fathom_workload::Stage>()
}
