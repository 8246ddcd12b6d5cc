//! From what was measured to the record and the run folder.

use fathom_engine::RunOutcome;
use fathom_record::{
    EventSink, Evidence, MachineClock, PlannedStage, Record, RunKind, SCHEMA, StageResult,
    TargetFacts, ToolRecord, compressible_note, resolved_workload, run_checks, stage_record,
    sweep_record, verdict,
};
use fathom_report::Panel;
use fathom_runs::{RunStart, RunWriter, Store, StoreError, environment};
use fathom_units::Nanos;
use fathom_workload::native;
use serde_json::Value;

use crate::{Console, Fan, Input};

/// What is known of a run before it starts.
#[derive(Debug)]
pub struct Start {
    kind: RunKind,
    title: String,
    stored: bool,
    started_unix_ns: u64,
    design: Option<String>,
    environment: Value,
    /// What the run's clock was ahead of the wall clock, in ns.
    ahead_of_wall: i64,
}

/// What came of it.
#[derive(Debug)]
pub struct Outcome {
    /// Measured stages.
    pub results: Vec<StageResult>,
    /// What is known of the targets.
    pub targets: Vec<TargetFacts>,
    /// What a reader should know.
    pub notes: Vec<String>,
    /// Whether the user stopped it.
    pub interrupted: bool,
    /// The design predicted on.
    pub design: Value,
}

/// The engine's outcome as every verb finishes it.
pub fn measured(ran: RunOutcome) -> Outcome {
    Outcome {
        results: ran.results,
        targets: ran.facts.targets,
        notes: ran.notes,
        interrupted: ran.interrupted,
        design: Value::Null,
    }
}

impl Start {
    /// A run of `input` that starts now; `design`: name and text of the design file it is predicted on.
    pub fn now(input: &Input, design: Option<(&str, String)>) -> Self {
        let kind = if design.is_some() {
            RunKind::Predict
        } else {
            RunKind::Run
        };
        let place = design
            .as_ref()
            .map_or_else(|| places(input), |(name, _)| (*name).to_owned());
        let swept = match input.sweep.len() {
            0 => String::new(),
            1 => ", 1 point".to_owned(),
            points => format!(", {points} points"),
        };
        Self {
            kind,
            title: format!("{} on {place}{swept}", input.name),
            stored: false,
            started_unix_ns: fathom_rawio::wall_clock(),
            design: design.map(|(_, text)| text),
            environment: environment_of(kind),
            ahead_of_wall: fathom_rawio::ahead_of_wall_clock(),
        }
    }

    /// What a panel tells of it while it goes.
    pub fn panel(&self, input: &Input) -> Panel {
        let stages = input.workload.stages.iter();
        let repeats = stages.map(|stage| stage.repeats.max(1)).collect();
        Panel::new(self.kind, &self.title, repeats)
    }

    /// The run's folder; a store that cannot be used is told and does without.
    pub fn store(&mut self, input: &Input, console: &dyn Console) -> Option<RunWriter> {
        let workload = native::write(&input.workload);
        let start = RunStart {
            kind: if self.kind == RunKind::Run {
                "run"
            } else {
                "predict"
            },
            what: &self.title,
            started_unix_ns: self.started_unix_ns,
            workload: &workload,
            design: self.design.as_deref(),
            environment: &self.environment,
        };
        let writer =
            Store::of_user(|name| std::env::var(name).ok()).and_then(|store| store.begin(&start));
        let mut writer = writer
            .map_err(|error| console.tell(&not_stored(&error)))
            .ok();
        if let Some(note) = writer.as_mut().and_then(RunWriter::take_note) {
            console.tell(&format!("note: {note}"));
        }
        self.stored = writer.is_some();
        writer
    }

    /// The record of `outcome`.
    pub fn record(self, input: &Input, outcome: Outcome) -> Record {
        let Outcome {
            mut results,
            targets,
            mut notes,
            interrupted,
            design,
        } = outcome;
        results.retain(|result| !input.workload.stages[result.stage].discard);
        // A stage that was stopped before it measured anything says nothing of the storage; it would spoil the checks.
        if interrupted && results.iter().any(|result| result.measured > Nanos::ZERO) {
            results.retain(|result| result.measured > Nanos::ZERO);
        }
        let workload = resolved_workload(&input.workload, &results);
        let clock = MachineClock::of(&self.environment);
        let evidence = Evidence {
            workload: &workload,
            results: &results,
            targets: &targets,
            kind: self.kind,
            interrupted,
            clock: clock.as_ref(),
        };
        if self.kind == RunKind::Run {
            let now = fathom_rawio::ahead_of_wall_clock();
            notes.extend(clock_set(self.ahead_of_wall, now));
        }
        let checks = run_checks(&evidence);
        notes.extend(compressible_note(&evidence, &checks));
        let stages = results
            .iter()
            .map(|result| stage_record(&workload.stages[result.stage], result));
        let stages: Vec<_> = stages.collect();
        let planned = PlannedStage::all(&input.workload);
        Record {
            schema: SCHEMA.to_owned(),
            title: self.title,
            stored: self.stored,
            tool: tool(),
            kind: self.kind,
            started_unix_ns: self.started_unix_ns,
            workload: native::to_json(&input.workload),
            design,
            environment: self.environment,
            sweep: sweep_record(&input.sweep, &planned, &stages),
            stages,
            verdict: verdict(&checks, &results),
            checks,
            notes,
            interrupted,
        }
    }
}

/// The machine; of a real run also what its clock takes, which a prediction does not read.
fn environment_of(kind: RunKind) -> Value {
    let mut environment = environment();
    if kind == RunKind::Run {
        environment["clock_reading_ns"] = fathom_rawio::clock_reading().get().into();
    }
    environment
}

/// The note that the wall clock was set during the run, from what the run's clock was ahead of it before and after. Hosts are
/// kept within some milliseconds; a reading that had to wait for a processor is less than that off.
fn clock_set(before: i64, after: i64) -> Option<String> {
    const LEAST: Nanos = Nanos::from_millis(10);
    let moved = Nanos::new(after.abs_diff(before));
    let way = if after < before { "forward" } else { "back" };
    (moved >= LEAST).then(|| {
        format!(
            "the wall clock went {way} by {moved} beside the run's clock (it was set, or the machine slept): times of day in this \
             record and in logs do not fit together; latencies and rates do not depend on it"
        )
    })
}

/// The note that a run is not stored, why, and what to do.
pub fn not_stored(error: &StoreError) -> String {
    let hint = error.place_hint().map(|hint| format!("\n  hint: {hint}"));
    format!(
        "note: this run is not stored: {error}{}",
        hint.unwrap_or_default()
    )
}

/// The program, as records name it.
pub fn tool() -> ToolRecord {
    ToolRecord {
        name: "fathom".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        git: env!("FATHOM_GIT").to_owned(),
    }
}

/// Whether a run gets a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// It does.
    Run,
    /// It does not.
    Nothing,
}

/// Does `work` while its events go to `view` and are stored. A run that fails before it measured anything leaves no
/// folder.
///
/// # Errors
/// What `work` fails with.
pub fn watch<T, E>(
    start: &mut Start,
    input: &Input,
    keep: Keep,
    view: &mut dyn EventSink,
    console: &dyn Console,
    work: impl FnOnce(&mut dyn EventSink) -> Result<T, E>,
) -> Result<(T, Option<RunWriter>), E> {
    let mut writer = if keep == Keep::Run {
        start.store(input, console)
    } else {
        None
    };
    let mut sinks: Vec<&mut dyn EventSink> = vec![view];
    sinks.extend(writer.as_mut().map(|writer| writer as &mut dyn EventSink));
    match work(&mut Fan(sinks)) {
        Ok(done) => Ok((done, writer)),
        Err(error) => {
            writer.into_iter().for_each(RunWriter::discard);
            Err(error)
        }
    }
}

/// Where the I/O of a real run goes: the paths, or how many there are.
fn places(input: &Input) -> String {
    let jobs = input.workload.stages.iter().flat_map(|stage| &stage.jobs);
    let targets = jobs.flat_map(|job| &job.targets);
    let mut paths: Vec<&str> = targets.map(|target| target.place.path()).collect();
    paths.sort_unstable();
    paths.dedup();
    match paths.as_slice() {
        [path] => (*path).to_owned(),
        [first, second] => format!("{first} and {second}"),
        several => format!("{} and {} other targets", several[0], several.len() - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wall_clock_that_was_set_is_told() {
        const AHEAD: i64 = -1_700_000_000_000_000_000;
        let told = |moved: i64| clock_set(AHEAD, AHEAD + moved);
        assert_eq!(told(0), None);
        assert_eq!(told(-9_000_000), None);
        let said = |moved, words: &str| {
            let told = told(moved).unwrap_or_default();
            assert!(
                told.starts_with(&format!("the wall clock went {words} ")),
                "{told}"
            );
        };
        said(-1_500_000_000, "forward by 1.5 s");
        said(20_000_000, "back by 20 ms");
    }

    #[test]
    fn a_real_run_knows_what_its_clock_takes() {
        let of = |kind| MachineClock::of(&environment_of(kind));
        assert!(of(RunKind::Run).is_some_and(|clock| clock.reading > Nanos::ZERO));
        assert_eq!(of(RunKind::Predict), None);
    }
}
