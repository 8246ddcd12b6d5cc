//! From what was measured to the record, the screen and the run folder.

use fathom_record::{
    EventSink, Evidence, Record, RunKind, SCHEMA, StageResult, TargetFacts, ToolRecord, Verdict,
    run_checks, stage_record, verdict,
};
use fathom_report::{Summary, summary};
use fathom_runs::{RunStart, RunWriter, Store, environment};
use fathom_units::Nanos;
use fathom_workload::native;
use serde_json::Value;

use crate::args::OutputArgs;
use crate::exit::{Code, Failure};
use crate::input::Input;
use crate::screen::{Fan, Screen, Show};

/// What is known of a run before it starts.
#[derive(Debug)]
pub struct Start {
    kind: RunKind,
    title: String,
    stored: bool,
    started_unix_ns: u64,
    design: Option<String>,
    environment: Value,
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
        Self {
            kind,
            title: format!("{} on {place}", input.name),
            stored: false,
            started_unix_ns: fathom_rawio::wall_clock(),
            design: design.map(|(_, text)| text),
            environment: environment(),
        }
    }

    /// The run's folder; a store that cannot be used is told and does without.
    pub fn store(&mut self, input: &Input) -> Option<RunWriter> {
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
        let writer = writer
            .map_err(|error| crate::tell(&format!("note: this run is not stored: {error}")))
            .ok();
        self.stored = writer.is_some();
        writer
    }

    /// The record of `outcome`.
    pub fn record(self, input: &Input, outcome: Outcome) -> Record {
        let Outcome {
            mut results,
            targets,
            notes,
            interrupted,
            design,
        } = outcome;
        results.retain(|result| !input.workload.stages[result.stage].discard);
        // A stage that was stopped before it measured anything says nothing of the storage; it would spoil the checks.
        if interrupted && results.iter().any(|result| result.measured > Nanos::ZERO) {
            results.retain(|result| result.measured > Nanos::ZERO);
        }
        let evidence = Evidence {
            workload: &input.workload,
            results: &results,
            targets: &targets,
            kind: self.kind,
        };
        let checks = run_checks(&evidence);
        let stages = results
            .iter()
            .map(|result| stage_record(&input.workload.stages[result.stage], result));
        Record {
            schema: SCHEMA.to_owned(),
            title: self.title,
            stored: self.stored,
            tool: ToolRecord {
                name: "fathom".to_owned(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
                git: env!("FATHOM_GIT").to_owned(),
            },
            kind: self.kind,
            started_unix_ns: self.started_unix_ns,
            workload: native::to_json(&input.workload),
            design,
            environment: self.environment,
            stages: stages.collect(),
            verdict: verdict(&checks, &results),
            checks,
            notes,
            interrupted,
        }
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

/// Does `work` while its events are shown and stored. A run that fails before it measured anything leaves no folder.
pub fn watch<T, E>(
    start: &mut Start,
    input: &Input,
    keep: Keep,
    show: Show,
    work: impl FnOnce(&mut dyn EventSink) -> Result<T, E>,
) -> Result<(T, Option<RunWriter>), E> {
    let mut writer = if keep == Keep::Run {
        start.store(input)
    } else {
        None
    };
    let mut screen = Screen::new(show);
    let mut sinks: Vec<&mut dyn EventSink> = vec![&mut screen];
    sinks.extend(writer.as_mut().map(|writer| writer as &mut dyn EventSink));
    let outcome = work(&mut Fan(sinks));
    screen.close();
    match outcome {
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

/// Prints the record as `output` asks, stores it, and says how the program ends.
pub fn finish(
    record: &Record,
    writer: Option<RunWriter>,
    output: &OutputArgs,
) -> Result<Code, Failure> {
    if let Some(problem) = writer.and_then(|writer| writer.finish(record)) {
        crate::tell(&format!("note: {problem}"));
    }
    show(record, output.json, output.full)?;
    let failed = record.verdict != Verdict::Trustworthy;
    Ok(match (record.interrupted, output.strict && failed) {
        (true, _) => Code::Interrupted,
        (false, true) => Code::Check,
        (false, false) => Code::Success,
    })
}

/// Prints a record: as JSON, or as a summary.
pub fn show(record: &Record, json: bool, full: bool) -> Result<(), Failure> {
    if json {
        return crate::print_json(record);
    }
    crate::print(&summary(
        record,
        if full { Summary::Full } else { Summary::Short },
    ));
    Ok(())
}
