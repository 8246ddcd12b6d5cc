//! Everything that can be known to be wrong before anything is written.
//!
//! Complaints about the input come all at once; then what the write guard found, all at once; then what the machine
//! cannot do; then whether the files fit.

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::Range;
use std::path::Path;

use fathom_diagnostics::{Diagnostic, Diagnostics};
use fathom_rawio::{
    self as rawio, Access, Durability, FilesInUse, OpenHow, RingUnusable, SLOTS_MAX, probe_uring,
};
use fathom_units::{Bytes, Nanos};
use fathom_verify::{Intervals, LayoutProblem, Program};
use fathom_workload::generator::{SharedCursor, StreamError, StreamKey, WorkerStream};
use fathom_workload::{Arrival, Backend, Caching, FileSet, Job, Pacing, Stage, Workload};

use crate::scheduler;
use crate::store::open_error;
use crate::targets::{self, Afterwards, Kind, Object, Targets};
use crate::{
    EngineError, Overwrite, Refusal, RunOptions, calls, character, exports, file_sets, guard, numa,
    parents, processors, remote, space, trace,
};
use crate::{validation, verification};

/// Most workers of a stage: threads beyond measure no storage but the scheduler.
const WORKERS_MAX: u32 = 8192;
/// Largest block that is read or written: the kernel moves at most 2^31 − 4096 bytes in one call.
const BLOCK_MAX: Bytes = Bytes::gib(1);
/// Largest block that is trimmed.
const TRIM_MAX: Bytes = Bytes::new(u32::MAX as u64);
/// Longest of each of a job's times: sums of them stay far from the end of the clock.
const TIME_MAX: Nanos = Nanos::from_secs(10 * 365 * 86_400);
/// Share of the available memory that buffers may take, in percent.
const MEMORY_PERCENT: u64 = 80;

/// Says whether io_uring can be used by this process, and why not.
pub(crate) type RingProbe = fn() -> Result<(), RingUnusable>;

/// One stage or repeat that will run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedStage {
    /// Its name; repeats get `#2`, `#3`.
    pub name: String,
    /// Index of the stage in the workload.
    pub stage: usize,
    /// Which repeat, from 0.
    pub repeat: u32,
    /// How long it takes, where time ends every job.
    pub expected: Option<Nanos>,
}

/// What a run will do.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Stages and repeats in order.
    pub stages: Vec<PlannedStage>,
    /// Files that are written before the run, and how many bytes of each.
    pub layout: Vec<(String, Bytes)>,
    /// What a user should know before it begins.
    pub notes: Vec<String>,
    pub(crate) targets: Targets,
    pub(crate) uring: Backend,
}

/// Looks at everything that `workload` names, and writes nothing.
///
/// # Errors
/// [`EngineError::Invalid`], [`EngineError::Refused`], [`EngineError::Unsupported`], [`EngineError::NoSpace`] or
/// [`EngineError::Target`], whichever comes first in this order.
pub fn preflight(workload: &Workload, options: &RunOptions) -> Result<Plan, EngineError> {
    preflight_with(workload, options, probe_uring)
}

/// As [`preflight`], where `probe` says whether io_uring can be used.
pub(crate) fn preflight_with(
    workload: &Workload,
    options: &RunOptions,
    probe: RingProbe,
) -> Result<Plan, EngineError> {
    let mut problems = Diagnostics::default();
    let mut notes = Vec::new();
    for (_, job) in workload.jobs() {
        remote::check(job)?;
        check_job(job, &mut problems);
        calls::check(job, &mut problems);
    }
    trace::check_all(workload, &mut problems, &mut notes);
    for stage in &workload.stages {
        check_stage(stage, &mut problems);
        check_sets(stage, &mut problems);
    }
    let targets = targets::resolve(workload, &mut problems);
    if !problems.has_errors() {
        check_streams(workload, &targets, &mut problems);
        validation::check(workload, &targets, &mut problems);
    }
    if problems.has_errors() {
        return Err(EngineError::Invalid(problems));
    }
    let mut refusals = guard_objects(&targets, options, &mut notes);
    refusals.extend(guard::judge_results_of(workload));
    if !refusals.is_empty() {
        return Err(EngineError::Refused(refusals));
    }
    for (_, job) in workload.jobs() {
        processors::check(job)?;
        numa::check(job)?;
    }
    verification::check_states(workload)?;
    let mut tried = BTreeSet::new();
    for object in &targets.objects {
        check_opening(object, &mut tried)?;
    }
    calls::check_devices(workload, &targets)?;
    scheduler::check(workload, &targets, &mut notes)?;
    let uring = choose_uring(workload, probe, &mut notes)?;
    notes.extend(parents::note(&targets));
    notes.extend(character::note(&targets));
    notes.extend(exports::notes(workload, &targets));
    space::check(workload, &targets)?;
    let layout = targets.objects.iter().filter_map(|object| {
        let range = layout_range(object)?;
        Some((object.path.clone(), Bytes::new(range.end - range.start)))
    });
    Ok(Plan {
        stages: planned_stages(workload),
        layout: layout.collect(),
        uring,
        notes,
        targets,
    })
}

/// The bytes of a regular file that are written before the run; `None` where none are.
pub(crate) fn layout_range(object: &Object) -> Option<Range<u64>> {
    let from = short_size(object)?;
    (from < object.making.laid_to).then_some(from..object.making.laid_to)
}

/// The size of a regular file that is too short; `None` where it is long enough, or no regular file.
pub(crate) fn short_size(object: &Object) -> Option<u64> {
    let has = match &object.kind {
        Kind::File { existing, .. } => existing.map_or(0, |file| file.size),
        Kind::Fresh { .. } => 0,
        Kind::Device { .. }
        | Kind::Export(_)
        | Kind::Directory { .. }
        | Kind::FileSet { .. }
        | Kind::Character
        | Kind::Nothing { .. } => return None,
    };
    (has < object.needed).then_some(has)
}

/// A stream that cannot be made, as an error of the input.
pub(crate) fn stream_error(error: &StreamError) -> EngineError {
    EngineError::Invalid(Diagnostics(vec![error.into()]))
}

/// Headers that do not fit into a job's blocks, as an error of the input.
pub(crate) fn layout_error(job: &Job, error: LayoutProblem) -> EngineError {
    let text = format!("job `{}`: {error}", job.name);
    EngineError::Invalid(Diagnostics(vec![Diagnostic::error(text)]))
}

fn check_job(job: &Job, problems: &mut Diagnostics) {
    let mut complain = |what: String, hint: &str| {
        problems.push(Diagnostic::error(format!("job `{}`: {what}", job.name)).hint(hint));
    };
    if job.targets.is_empty() {
        complain(
            "it names no target".to_owned(),
            "name a file, a directory or a device",
        );
    }
    if job.depth == 0 || job.depth > SLOTS_MAX {
        let what = format!("a depth of {} is not possible", job.depth);
        complain(what, "use 1 to 32,768 outstanding per worker");
    }
    if job.workers == 0 || job.workers > WORKERS_MAX {
        let what = format!("{} workers are not possible", job.workers);
        complain(what, "use 1 to 8,192 workers");
    }
    if job.largest_buffer() > BLOCK_MAX {
        let what = format!("a block of {} is too large", job.largest_buffer());
        complain(what, "read and write blocks of at most 1 GiB");
    } else if job.block.largest(job.mix) > TRIM_MAX {
        let what = format!("a trim of {} is too large", job.block.largest(job.mix));
        complain(what, "trim less than 4 GiB at a time");
    }
    let verify = job.features.verify.as_deref();
    if let Some(Err(problem)) = verify.map(|verify| Intervals::new(verify, job)) {
        let hint = "change how the job's data is checked, or its blocks";
        complain(problem.to_string(), hint);
    }
    if job.limits.time_based && job.limits.runtime.is_none() {
        let what = "it is to run for a time, but no time is given".to_owned();
        complain(what, "give a runtime");
    }
    if job.limits.runtime == Some(Nanos::ZERO) {
        complain(
            "a runtime of zero measures nothing".to_owned(),
            "give a longer one",
        );
    }
    let runtime = job.limits.runtime.unwrap_or_default();
    for time in [job.limits.start_delay, job.limits.warmup, runtime] {
        if time > TIME_MAX {
            complain(
                format!("a time of {time} is too long"),
                "use at most ten years",
            );
        }
    }
    if let Arrival::Open { rate, .. } = job.arrival {
        let per_sec = match rate {
            Pacing::Iops(rate) => rate.get(),
            Pacing::Bytes(rate) => rate.get(),
        };
        if per_sec == 0 {
            complain(
                "a rate of zero starts nothing".to_owned(),
                "give a rate above zero",
            );
        }
    }
}

fn check_stage(stage: &Stage, problems: &mut Diagnostics) {
    let workers: u64 = stage.jobs.iter().map(|job| u64::from(job.workers)).sum();
    if workers > u64::from(WORKERS_MAX) {
        let what = format!("stage `{}` has {workers} workers", stage.name);
        problems.push(Diagnostic::error(what).hint("use at most 8,192 in one stage"));
    }
    check_order(stage, problems);
    let of_job = |job: &Job| {
        let buffers = u128::from(job.workers) * u128::from(job.effective_depth());
        let locked = u128::from(job.features.process.locked_memory.get());
        buffers * u128::from(job.largest_buffer().get().next_multiple_of(4096))
            + u128::from(job.workers) * locked
    };
    let needed: u128 = stage.jobs.iter().map(of_job).sum();
    let Some(available) = available_memory() else {
        return;
    };
    if needed > u128::from(available.get()) * u128::from(MEMORY_PERCENT) / 100 {
        let needed = Bytes::new(u64::try_from(needed).unwrap_or(u64::MAX));
        let what = format!(
            "stage `{}` needs {needed} for buffers and locked memory, and this machine has {available}",
            stage.name
        );
        let hint =
            "lower workers, locked memory, depth or block size: their product is the memory needed";
        problems.push(Diagnostic::error(what).hint(hint));
    }
}

/// Jobs of one stage that work in one directory must agree on what stands there.
fn check_sets(stage: &Stage, problems: &mut Diagnostics) {
    let mut sets: BTreeMap<&str, &FileSet> = BTreeMap::new();
    let targets = stage.jobs.iter().flat_map(|job| &job.targets);
    for set in targets.filter_map(|target| target.place.file_set()) {
        if sets
            .insert(&set.anchor, set)
            .is_some_and(|other| other != set)
        {
            let (stage, anchor) = (&stage.name, &set.anchor);
            let what = format!("stage `{stage}` has different file sets in `{anchor}`");
            problems.push(Diagnostic::error(what).hint("give them directories of their own"));
        }
    }
}

/// Jobs that wait for others must have something to wait for, and must not wait in a circle.
fn check_order(stage: &Stage, problems: &mut Diagnostics) {
    let mut awaited: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for job in &stage.jobs {
        let others = awaited.entry(&job.name).or_default();
        others.extend(job.features.process.after.as_deref());
    }
    let mut told = BTreeSet::new();
    for (name, others) in &awaited {
        for other in others.iter().filter(|other| !awaited.contains_key(**other)) {
            let what = format!("job `{name}` waits for `{other}`, which its stage does not have");
            problems.push(Diagnostic::error(what).hint("name a job of the same stage"));
        }
        // Everything that is waited for, directly or not.
        let mut reached: BTreeSet<&str> = BTreeSet::new();
        let mut next: Vec<&str> = others.clone();
        while let Some(other) = next.pop() {
            if reached.insert(other) {
                next.extend(awaited.get(other).into_iter().flatten());
            }
        }
        if reached.contains(name) && told.insert(*name) {
            let what = format!("job `{name}` waits for its own end");
            problems.push(Diagnostic::error(what).hint("let one job of the circle start first"));
        }
    }
}

/// `MemAvailable` of `/proc/meminfo`.
fn available_memory() -> Option<Bytes> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib = line.trim().strip_suffix(" kB")?;
    kib.parse().ok().map(Bytes::kib)
}

fn check_streams(workload: &Workload, targets: &Targets, problems: &mut Diagnostics) {
    for (index, (_, job)) in workload.jobs().enumerate() {
        if job.features.file_work.is_some() {
            continue;
        }
        let key = StreamKey {
            seed: workload.seed,
            job: index as u32,
            worker: 0,
            salt: job.salt,
        };
        let ranges = &targets.jobs[index].ranges;
        let mut judged = WorkerStream::new(job, key, ranges, &SharedCursor::new()).map(drop);
        if judged.is_ok() && job.features.verify.is_some() {
            judged = Program::check_order(job, ranges);
        }
        if let Err(error) = judged {
            problems.push((&error).into());
        }
    }
}

/// Asks the write guard about everything that would be written to.
fn guard_objects(targets: &Targets, options: &RunOptions, notes: &mut Vec<String>) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    let in_use = LazyCell::new(FilesInUse::now);
    for object in &targets.objects {
        let grows = short_size(object).is_some();
        match &object.kind {
            Kind::Device { number, .. } if object.written => {
                match guard::judge_device(&object.path, *number, &options.destroy_data) {
                    Ok(note) => notes.extend(note),
                    Err(refusal) => refusals.push(refusal),
                }
            }
            Kind::Export(_) if object.written => {
                refusals.extend(guard::judge_export(&object.path, &options.destroy_data).err());
            }
            Kind::File {
                full,
                existing: Some(existing),
            } if object.written || grows => {
                refusals.extend(judge_file(object, full, existing.ours, options, &in_use));
            }
            Kind::File { full, .. } if object.afterwards == Afterwards::IsRemoved => {
                refusals.extend(guard::file_in_use(
                    full,
                    &object.path,
                    "nothing was removed",
                    &in_use,
                ));
            }
            Kind::FileSet { anchor, .. } if object.written => {
                refusals.extend(file_sets::judge(object, anchor, options));
            }
            Kind::Directory {
                full, exists: true, ..
            } if object.written => {
                refusals.extend(judge_file(object, full, false, options, &in_use));
            }
            _ => {}
        }
    }
    refusals
}

fn judge_file(
    object: &Object,
    full: &Path,
    ours: bool,
    options: &RunOptions,
    in_use: &FilesInUse,
) -> Option<Refusal> {
    let path = object.path.clone();
    let in_use = guard::file_in_use(full, &path, "nothing was written", in_use);
    if in_use.is_some() {
        return in_use;
    }
    let is_others = object.only_ours && !ours && options.overwrite == Overwrite::Refuse;
    is_others.then(|| Refusal {
        path,
        found: vec![if object.written {
            "it exists, and Fathom did not make it".to_owned()
        } else {
            format!(
                "it exists, Fathom did not make it, and it is shorter than the {} to be read",
                Bytes::new(object.needed)
            )
        }],
        remedy: "name another file or a directory, or add `--overwrite` to lose what it holds"
            .to_owned(),
    })
}

/// Opens what will be opened, so that a lack of rights or of direct I/O shows before anything is written. `tried` are the
/// directories in which files can be made, and whether for direct I/O.
fn check_opening<'o>(
    object: &'o Object,
    tried: &mut BTreeSet<(&'o Path, bool)>,
) -> Result<(), EngineError> {
    let writes = object.written || short_size(object).is_some();
    let caching = if object.direct {
        rawio::Caching::Direct
    } else {
        rawio::Caching::Buffered
    };
    let how = OpenHow {
        access: if writes {
            Access::ReadWrite
        } else {
            Access::Read
        },
        caching,
        durability: Durability::None,
    };
    let directory = match &object.kind {
        Kind::Nothing { .. } | Kind::Export(_) | Kind::Directory { exists: true, .. } => {
            return Ok(());
        }
        Kind::FileSet { full, anchor } if anchor.exists => full,
        Kind::FileSet { full, .. } => targets::standing(full),
        Kind::Device { .. } | Kind::Character => {
            let opened = rawio::open(Path::new(&object.path), how);
            return opened
                .map(drop)
                .map_err(|error| open_error(&object.path, how, error));
        }
        Kind::File {
            full,
            existing: Some(_),
        } => {
            let opened = rawio::open(full, how);
            return opened
                .map(drop)
                .map_err(|error| open_error(&object.path, how, error));
        }
        Kind::File { full, .. } | Kind::Directory { full, .. } => targets::standing_above(full),
        Kind::Fresh { directory } => directory,
    };
    if matches!(object.kind, Kind::FileSet { .. }) && !object.written {
        return Ok(());
    }
    if !tried.insert((directory, object.direct)) {
        return Ok(());
    }
    match rawio::open_unnamed(directory, caching) {
        // Without unnamed files the directory cannot be tried out; making the file will tell.
        Err(error) if error.kind() == std::io::ErrorKind::Unsupported => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::IsADirectory => Ok(()),
        Err(error) => Err(open_error(&object.path, how, error)),
        Ok(_) => Ok(()),
    }
}

fn planned_stages(workload: &Workload) -> Vec<PlannedStage> {
    let mut planned = Vec::new();
    for (index, stage) in workload.stages.iter().enumerate() {
        let time = |job: &Job| {
            let limits = job.limits;
            let runtime = limits.runtime.filter(|_| limits.time_based)?;
            Some(limits.start_delay + limits.warmup + runtime)
        };
        let times: Option<Vec<_>> = stage.jobs.iter().map(time).collect();
        for repeat in 0..stage.repeats.max(1) {
            planned.push(PlannedStage {
                name: match repeat {
                    0 => stage.name.clone(),
                    more => format!("{} #{}", stage.name, more + 1),
                },
                stage: index,
                repeat,
                expected: times.iter().flatten().max().copied(),
            });
        }
    }
    planned
}

/// What jobs that ask for io_uring get here, said in a note where it is something else.
fn choose_uring(
    workload: &Workload,
    probe: RingProbe,
    notes: &mut Vec<String>,
) -> Result<Backend, EngineError> {
    if !workload
        .jobs()
        .any(|(_, job)| job.backend == Backend::IoUring)
    {
        return Ok(Backend::IoUring);
    }
    let Err(reason) = probe() else {
        return Ok(Backend::IoUring);
    };
    calls::check_without_ring(workload, &reason)?;
    let remedy = reason.remedy();
    let remedy = remedy.map_or(String::new(), |remedy| {
        format!("; to change that, {remedy}")
    });
    notes.push(format!(
        "libaio is used instead of io_uring: {reason}{remedy}"
    ));
    let buffered = |job: &Job| job.backend == Backend::IoUring && job.caching == Caching::Buffered;
    if workload.jobs().any(|(_, job)| buffered(job)) {
        notes.push(
            "buffered I/O with libaio is done one at a time: the depth asked for is not reached"
                .to_owned(),
        );
    }
    Ok(Backend::Libaio)
}
