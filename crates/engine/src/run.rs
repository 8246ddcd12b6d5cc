//! A whole run: look, hold, lay out, measure stage by stage, clean up.

use std::collections::BTreeMap;
use std::os::unix::fs::DirBuilderExt;

use fathom_rawio::{self as rawio, Clock, probe_uring, sleep_until};
use fathom_record::{
    Event, EventSink, InMemory, StageResult, TargetFacts, repeat_in_words, resolved_stage,
    stage_record,
};
use fathom_units::{Nanos, counted_ios, group_digits};
use fathom_workload::{ExistingFiles, Job, Stage, Workload};

use crate::background::writes_go_to_devices;
use crate::file_sets::{FileSets, clean};
use crate::gate::Gate;
use crate::holes::Holes;
use crate::layout::{LayoutEnd, Task, TaskPlace, lay_out};
use crate::order::io_is_behind;
use crate::parents::Parents;
use crate::preflight::{Plan, RingProbe, layout_range, preflight_with};
use crate::stage::{StageOutput, StageRun};
use crate::standing::Standing;
use crate::store::Store;
use crate::targets::Kind;
use crate::tolerance::Tolerance;
use crate::undo::Undo;
use crate::validation::KeyMaps;
use crate::{EngineError, RunOptions, StopFlag, growth, left, marker, merged, trace};

/// How soon a request to stop is seen during a pause.
const LOOK_EVERY: Nanos = Nanos::from_millis(20);

/// What was measured, and what is known about it.
#[derive(Debug)]
pub struct RunOutcome {
    /// Measured stages and repeats in order; the last may be cut short.
    pub results: Vec<StageResult>,
    /// What a reader of the figures should know.
    pub notes: Vec<String>,
    /// Whether the user stopped the run.
    pub interrupted: bool,
    /// The error that ended the run after it had begun to measure, or a trace of its I/O that could not be written whole.
    pub failure: Option<EngineError>,
    /// What the checks need beside the results.
    pub facts: RunFacts,
}

/// What is known of a run beside its results.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RunFacts {
    /// Of each target's file or device.
    pub targets: Vec<TargetFacts>,
    /// In the order of the results.
    pub stages: Vec<StageFacts>,
}

/// What is known of a stage beside its result.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StageFacts {
    /// Open loops: how late an I/O was submitted at most though a slot was free for it.
    pub lag_max: Nanos,
    /// Open loops: the mean of that over all I/Os.
    pub lag_mean: Nanos,
    /// How long a completion may have gone unseen at most: time stamps are late by up to this.
    pub stamp_error_max: Nanos,
    /// The mean of that over all batches.
    pub stamp_error_mean: Nanos,
}

/// Runs `workload` on real storage.
///
/// Nothing is written before everything that can be refused was. Temporary files are gone when it returns.
///
/// # Errors
/// Where the run cannot begin; what fails once something was measured is [`RunOutcome::failure`].
pub fn run(
    workload: &Workload,
    options: &RunOptions,
    stop: &StopFlag,
    sink: &mut dyn EventSink,
) -> Result<RunOutcome, EngineError> {
    run_with(workload, options, stop, sink, (None, probe_uring))
}

/// As [`run`], where `gate` says when each stage and repeat begins.
///
/// # Errors
/// As of [`run`].
pub fn run_gated(
    workload: &Workload,
    options: &RunOptions,
    stop: &StopFlag,
    sink: &mut dyn EventSink,
    gate: &dyn Gate,
) -> Result<RunOutcome, EngineError> {
    run_with(workload, options, stop, sink, (Some(gate), probe_uring))
}

/// As [`run`], of what [`crate::preflight`] found a moment ago: `plan` is of the same `workload` and `options`. `gate` says when
/// each stage and repeat begins, where that is asked.
///
/// # Errors
/// As of [`run`], but for what was looked at already.
pub fn run_planned(
    workload: &Workload,
    (options, plan): (&RunOptions, &Plan),
    gate: Option<&dyn Gate>,
    stop: &StopFlag,
    sink: &mut dyn EventSink,
) -> Result<RunOutcome, EngineError> {
    prepare();
    run_plan(workload, (options, plan), gate, stop, sink)
}

/// As [`run`], where `probe` says whether io_uring can be used.
fn run_with(
    workload: &Workload,
    options: &RunOptions,
    stop: &StopFlag,
    sink: &mut dyn EventSink,
    (gate, probe): (Option<&dyn Gate>, RingProbe),
) -> Result<RunOutcome, EngineError> {
    prepare();
    let plan = preflight_with(workload, options, probe)?;
    run_plan(workload, (options, &plan), gate, stop, sink)
}

/// Sets the process up for runs.
fn prepare() {
    rawio::map_large_allocations();
    rawio::prepare_cycle_clock();
    // Where it cannot be raised, opening says which file was one too many.
    let _ = rawio::raise_open_files_limit();
}

fn run_plan(
    workload: &Workload,
    (options, plan): (&RunOptions, &Plan),
    gate: Option<&dyn Gate>,
    stop: &StopFlag,
    sink: &mut dyn EventSink,
) -> Result<RunOutcome, EngineError> {
    let store = Store::open(&plan.targets, stop)?;
    for note in &plan.notes {
        sink.event(&Event::Note { text: note });
    }
    let mut outcome = RunOutcome {
        results: Vec::new(),
        notes: plan.notes.clone(),
        interrupted: false,
        failure: None,
        facts: RunFacts::default(),
    };
    let parents = Parents::make(&plan.targets)?;
    merged::make_all(workload)?;
    if lay_out_all(workload, plan, &store, stop, sink)? == LayoutEnd::Interrupted {
        outcome.interrupted = true;
        return Ok(outcome);
    }
    let ready = Ready {
        key_maps: open_key_maps(workload, plan, sink, &mut outcome)?,
        made: growth::make(&plan.targets, &store, stop)?,
        parents,
        plan,
        store: &store,
        gate,
    };
    make_directories(plan)?;
    FileSets::prepare(&plan.targets)?;
    outcome.facts.targets = plan
        .targets
        .objects
        .iter()
        .enumerate()
        .map(|(index, object)| TargetFacts {
            path: object.path.clone(),
            unwritten_share: None,
            zeroes_share: None,
            in_memory: store
                .memory_under(index)
                .filter(|memory| object.direct || !matches!(memory, InMemory::PageCache { .. })),
            reducing: None,
            changes: None,
        })
        .collect();
    let standing = Standing::now(workload, &plan.targets);
    let ran = run_stages(workload, options, &ready, stop, sink, &mut outcome);
    let closed = ready.key_maps.close();
    if ran.is_err() {
        tell_left(&ready, sink, &mut outcome);
    }
    ran?;
    if let Err(problem) = closed {
        outcome.failure.get_or_insert(problem);
    }
    for (index, object) in plan.targets.objects.iter().enumerate() {
        if object.written {
            outcome.facts.targets[index].reducing = store.reducing_under(index);
        }
    }
    let changes = standing.changes().into_iter();
    for (facts, changes) in outcome.facts.targets.iter_mut().zip(changes) {
        facts.changes = changes;
    }
    unlink(workload, plan);
    outcome.interrupted = stop.is_requested();
    if outcome.interrupted {
        tell_left(&ready, sink, &mut outcome);
    }
    Ok(outcome)
}

/// What is known of blocks that are checked, with what their journals tell.
fn open_key_maps(
    workload: &Workload,
    plan: &Plan,
    sink: &mut dyn EventSink,
    outcome: &mut RunOutcome,
) -> Result<KeyMaps, EngineError> {
    let (key_maps, lines) = KeyMaps::open(workload, &plan.targets)?;
    for line in lines {
        sink.event(&Event::Note { text: &line });
        outcome.notes.push(line);
    }
    Ok(key_maps)
}

/// Tells of the files that were written for a run which measured nothing.
fn tell_left(ready: &Ready<'_>, sink: &mut dyn EventSink, outcome: &mut RunOutcome) {
    if let Some(note) = left::note(ready.plan, ready.store, &outcome.results) {
        sink.event(&Event::Note { text: &note });
        outcome.notes.push(note);
    }
}

/// What stands ready for the first I/O.
struct Ready<'a> {
    plan: &'a Plan,
    store: &'a Store,
    /// Undone where the first stage does not begin.
    made: Undo<'a>,
    parents: Parents,
    gate: Option<&'a dyn Gate>,
    /// What is known of blocks that are checked.
    key_maps: KeyMaps,
}

impl Ready<'_> {
    /// A stage has begun: what was made for it stays.
    fn keep(&self) {
        self.made.keep();
        self.parents.keep();
    }
}

fn lay_out_all(
    workload: &Workload,
    plan: &Plan,
    store: &Store,
    stop: &StopFlag,
    sink: &mut dyn EventSink,
) -> Result<LayoutEnd, EngineError> {
    let mut tasks = Vec::new();
    for (index, object) in plan.targets.objects.iter().enumerate() {
        let Some(range) = layout_range(object) else {
            continue;
        };
        let place = match (&object.kind, store.fresh(index)) {
            (_, Some(file)) => TaskPlace::Open(file.try_clone().map_err(|error| {
                EngineError::target(&object.path, "opening its temporary file again", error)
            })?),
            (Kind::File { full, existing }, None) => match existing {
                None => TaskPlace::New(full.clone()),
                Some(_) => TaskPlace::Longer(full.clone()),
            },
            _ => continue,
        };
        tasks.push(Task {
            path: object.path.clone(),
            place,
            from: range.start,
            to: range.end,
        });
    }
    if tasks.is_empty() {
        return Ok(LayoutEnd::Done);
    }
    lay_out(&tasks, workload.seed, stop, sink)
}

/// Makes the directories that jobs look at or remove. They hold nothing, so nothing is lost where one is left over.
fn make_directories(plan: &Plan) -> Result<(), EngineError> {
    for object in &plan.targets.objects {
        if let Kind::Directory {
            full,
            exists: false,
            wanted: true,
        } = &object.kind
        {
            let made = std::fs::DirBuilder::new().mode(0o700).create(full);
            made.map_err(|error| EngineError::target(&object.path, "making it", error))?;
        }
    }
    Ok(())
}

fn run_stages(
    workload: &Workload,
    options: &RunOptions,
    ready: &Ready<'_>,
    stop: &StopFlag,
    sink: &mut dyn EventSink,
    outcome: &mut RunOutcome,
) -> Result<(), EngineError> {
    let Ready { plan, store, .. } = ready;
    let first_jobs = first_jobs(workload);
    let file_sets = FileSets::default();
    let mut holes = Holes::default();
    let tolerance = Tolerance::new(options);
    for (index, planned) in plan.stages.iter().enumerate() {
        if stop.take_skip() {
            continue;
        }
        let stage = resolved_stage(&workload.stages[planned.stage], &outcome.results);
        let stage = stage.as_ref();
        let first_job = first_jobs[planned.stage];
        let targets = &plan.targets.jobs[first_job..first_job + stage.jobs.len()];
        // A stop is heeded before anything more is told or done.
        if !stop.is_requested() {
            holes.look(stage, targets, (&plan.targets, store), outcome, sink);
        }
        if stop.is_requested() {
            break;
        }
        tell_started(stage, (index, plan), sink);
        let run = StageRun {
            seed: workload.seed,
            stage,
            stage_index: planned.stage,
            index,
            repeat: planned.repeat,
            name: &planned.name,
            first_job,
            targets,
            store,
            file_sets: &file_sets,
            key_maps: &ready.key_maps,
            options,
            tolerance: &tolerance,
            stop,
            uring: plan.uring,
            writes_to_devices: writes_go_to_devices(workload, planned.stage, &plan.targets),
            io_is_behind: io_is_behind(workload, planned.stage),
            gate: ready.gate.map(|gate| (gate, plan.stages.len())),
        };
        let failed_before = tolerance.counted();
        let fits = trace::check_recorded(workload, planned.stage);
        let output = match fits.and_then(|()| run.run(sink)) {
            // What earlier stages measured is not lost.
            Err(error) if !outcome.results.is_empty() => {
                outcome.failure = Some(error);
                return Ok(());
            }
            output => output?,
        };
        let Some(output) = output else {
            break;
        };
        ready.keep();
        let ends_run = output.ends_run;
        let failed = take_output(stage, index, output, outcome, sink);
        forget_failed((stage, failed), (&tolerance, failed_before), outcome, sink);
        tell_checks(&ready.key_maps, sink);
        if failed || ends_run {
            return Ok(());
        }
        if index + 1 < plan.stages.len() {
            pause(stage.cooldown, stop);
        }
    }
    Ok(())
}

fn tell_started(stage: &Stage, (index, plan): (usize, &Plan), sink: &mut dyn EventSink) {
    let planned = &plan.stages[index];
    sink.event(&Event::StageStarted {
        index,
        count: plan.stages.len(),
        name: &planned.name,
        words: &repeat_in_words(stage, planned.repeat + 1),
        expected: planned.expected,
    });
}

/// Index over the whole workload of each stage's first job.
fn first_jobs(workload: &Workload) -> Vec<usize> {
    let counts = workload.stages.iter().scan(0, |sum, stage| {
        let first = *sum;
        *sum += stage.jobs.len();
        Some(first)
    });
    counts.collect()
}

/// What a stage's checks of all blocks came to, in Vdbench's words.
fn tell_checks(key_maps: &KeyMaps, sink: &mut dyn EventSink) {
    let Some((checked, bad)) = key_maps.take_counts() else {
        return;
    };
    let (checked, bad) = (group_digits(checked), group_digits(bad));
    let text = format!(
        "Total amount of key blocks read and validated: {checked:>8}; key blocks marked in error: {bad:>4}"
    );
    sink.event(&Event::Note { text: &text });
}

/// Keeps what a stage yielded; tells whether an I/O ended it.
fn take_output(
    stage: &Stage,
    index: usize,
    output: StageOutput,
    outcome: &mut RunOutcome,
    sink: &mut dyn EventSink,
) -> bool {
    for line in &output.lines {
        sink.event(&Event::WrongData { text: line });
    }
    for note in &output.notes {
        sink.event(&Event::Note { text: note });
    }
    let failed = output.failure.is_some();
    let earlier = outcome.failure.take();
    outcome.failure = output.failure.or(earlier).or(output.problem);
    if !stage.discard {
        let record = stage_record(stage, &output.result);
        sink.event(&Event::StageFinished {
            index,
            record: &record,
        });
        outcome.facts.stages.push(StageFacts {
            lag_max: output.lag.max,
            lag_mean: output.lag.mean(),
            stamp_error_max: output.stamp_error.max,
            stamp_error_mean: output.stamp_error.mean(),
        });
        outcome.results.push(output.result);
    }
    failed
}

/// I/Os that failed in a stage that the record leaves out are told by themselves, and counted no more, unless one of them
/// ended the run, which its error tells.
fn forget_failed(
    (stage, failed): (&Stage, bool),
    (tolerance, before): (&Tolerance, u64),
    outcome: &mut RunOutcome,
    sink: &mut dyn EventSink,
) {
    if !stage.discard || failed {
        return;
    }
    let count = tolerance.forget_beyond(before);
    if count == 0 {
        return;
    }
    sink.event(&Event::MoreFailed { count: before });
    let (name, ios) = (&stage.name, counted_ios(count));
    let note = format!(
        "{ios} failed in stage `{name}`, of which nothing else is told: what it was to prepare may not be there"
    );
    sink.event(&Event::Note { text: &note });
    outcome.notes.push(note);
}

fn pause(time: Nanos, stop: &StopFlag) {
    let until = Clock::now().saturating_add(time);
    while Clock::now() < until && !stop.is_requested() {
        sleep_until(until.min(Clock::now() + LOOK_EVERY));
    }
}

/// The last stage that writes an object and keeps it, by the object's index.
fn kept(workload: &Workload, plan: &Plan) -> BTreeMap<usize, usize> {
    let keeps = |(_, (_, job)): &(usize, (usize, &Job))| !job.unlink && job.mix.changes_data();
    let jobs = workload.jobs().enumerate().filter(keeps);
    let objects = jobs.flat_map(|(index, (stage, _))| {
        let objects = plan.targets.jobs[index].objects.iter();
        objects.map(move |object| (*object, stage))
    });
    // Stages come in order, and the last one counts.
    objects.collect()
}

/// Removes the regular files of jobs that ask for it, but for those that a later stage writes and keeps; native jobs may ask for
/// our own files alone.
fn unlink(workload: &Workload, plan: &Plan) {
    if !workload.jobs().any(|(_, job)| job.unlink) {
        return;
    }
    let kept = kept(workload, plan);
    for (index, (stage, job)) in workload.jobs().enumerate() {
        if !job.unlink {
            continue;
        }
        let objects = plan.targets.jobs[index].objects.iter();
        let is_kept = |object: &usize| kept.get(object).is_some_and(|last| *last > stage);
        for object in objects.filter(|object| !is_kept(object)) {
            let (full, existing) = match &plan.targets.objects[*object].kind {
                Kind::File { full, existing } => (full, existing),
                Kind::Directory {
                    full,
                    exists: false,
                    ..
                } => {
                    // What is not empty any more stays.
                    let _ = std::fs::remove_dir(full);
                    continue;
                }
                Kind::FileSet { full, anchor } => {
                    let removed = clean(full, &mut |removal| {
                        // What cannot be removed stays, and what holds it too.
                        let _ = removal.perform();
                        Ok(())
                    });
                    if removed.is_ok() && !anchor.exists {
                        let _ = std::fs::remove_dir(full);
                    }
                    continue;
                }
                _ => continue,
            };
            let ours = existing.is_none_or(|file| file.ours);
            if ours || job.existing == ExistingFiles::AsPeer {
                marker::forget(full);
                // Gone already is as good as removed.
                let _ = std::fs::remove_file(full);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_rawio::RingUnusable;
    use fathom_record::{Ignore, OpStats};
    use fathom_units::Bytes;
    use fathom_workload::{Backend, Caching, Place, preset};

    /// A job of io_uring where io_uring cannot be used does its I/O all the same, and says how.
    #[track_caller]
    fn check(caching: Caching, notes_expected: &[&str]) {
        let directory = tempfile::tempdir().unwrap();
        let mut workload = preset("quick", "/unused").unwrap();
        workload.stages.truncate(1);
        let stage = &mut workload.stages[0];
        stage.repeats = 1;
        stage.jobs.truncate(1);
        let job = &mut stage.jobs[0];
        let path = directory.path().join("file").display().to_string();
        job.targets[0].place = Place::Path(path);
        job.targets[0].length = Some(Bytes::mib(1));
        (job.backend, job.caching, job.workers) = (Backend::IoUring, caching, 1);
        job.limits = fathom_workload::Limits::default();
        let forbidden: RingProbe = || Err(RingUnusable::Forbidden);
        let options = RunOptions::default();
        let outcome = run_with(
            &workload,
            &options,
            &StopFlag::new(),
            &mut Ignore,
            (None, forbidden),
        );
        let outcome = outcome.unwrap();
        assert_eq!(outcome.notes, notes_expected);
        let worker = &outcome.results[0].workers[0];
        let done = worker.directions.iter().flatten().map(OpStats::ios);
        assert_eq!(done.sum::<u64>(), 256);
    }

    #[test]
    fn libaio_stands_in_for_a_forbidden_io_uring() {
        let forbidden = "libaio is used instead of io_uring: io_uring is forbidden to this process \
             (a seccomp filter, as containers have it); to change that, run outside the container, or with a filter \
             that lets `io_uring_setup`, `io_uring_enter` and `io_uring_register` pass (docker: `--security-opt \
             seccomp=PROFILE.json`)";
        let one_by_one =
            "buffered I/O with libaio is done one at a time: the depth asked for is not reached";
        check(Caching::Direct, &[forbidden]);
        check(Caching::Buffered, &[forbidden, one_by_one]);
    }
}
