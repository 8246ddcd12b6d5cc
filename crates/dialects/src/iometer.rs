//! Iometer's configuration files (.icf), its command line and its results file.
//!
//! Files of 1.1.0 are read and those of all versions before it, with any of their sections absent; results are written in
//! the columns of 1.1.0. What is carried, and each deliberate difference, stands in `docs/dialects/iometer.md`.
//!
//! ```
//! use fathom_dialects::fio::SystemFiles;
//! use fathom_dialects::iometer;
//! let arguments = ["--spec", "Database", "--target", "/mnt/data", "--qd", "16", "--time", "30s", "--workers", "1"];
//! let input = iometer::read(&arguments.map(String::from), &SystemFiles, 2).unwrap();
//! let job = &input.workload.stages[0].jobs[0];
//! assert_eq!((job.depth, job.targets[0].place.path()), (16, "/mnt/data/iobw.tst"));
//! ```

mod config;
mod cycle;
mod explain;
mod fit;
mod jobs;
mod library;
mod line;
mod managers;
mod names;
mod plan;
mod read;
mod results;
mod source;
mod specs;
#[cfg(test)]
mod tests;

use std::io;

use fathom_diagnostics::{Diagnostic, Diagnostics, Location, Subject, why_unread};
use fathom_workload::Workload;

use crate::fio::Files;

pub use config::Record;
pub use explain::origins;
pub use fit::fit_to_machine;
pub use line::Options;
pub use names::{TEST_FILE, mapped_name};
pub use read::looks_like_icf;
pub use results::{
    CpuTimes, Machine, percentiles_header, usage, write_end, write_percentiles, write_results,
    write_setup, write_specs,
};

use source::Source;

/// What a line asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// I/O.
    Run,
    /// The usage text (`/?`).
    Help,
}

/// A worker's I/O on one target in one test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Index of the manager in [`IometerInput::managers`].
    pub manager: usize,
    /// Index of the worker among all.
    pub worker: usize,
    /// Name of the worker.
    pub worker_name: String,
    /// Name of the target as the file has it.
    pub target: String,
    /// Name of its access specification.
    pub spec: String,
    /// Index of the job in the test's stage.
    pub job: usize,
    /// First sector used.
    pub start: u64,
    /// Maximum Disk Size in sectors; 0: all of it.
    pub max_size: u64,
    /// I/Os outstanding.
    pub depth: u32,
    /// Replies to a hundred thousand requests, over many bursts.
    pub replies: u64,
}

/// An access specification as results tell it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpecText {
    /// Its name.
    pub name: String,
    /// Number of its default assignment.
    pub assigned: u32,
    /// Size, share, reads, random, delay, burst, align, reply.
    pub lines: Vec<[u32; 8]>,
}

/// One test: a stage of the workload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Test {
    /// The specifications that begin with this test; none in later steps of a cycle.
    pub specs: Vec<SpecText>,
    /// Workers in order, targets of a worker in order.
    pub rows: Vec<Row>,
}

/// A configuration that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct IometerInput {
    /// What to run: a stage for each test.
    pub workload: Workload,
    /// What was read otherwise than its writer may have meant.
    pub warnings: Diagnostics,
    /// What the line asks for.
    pub action: Action,
    /// The line's options.
    pub options: Options,
    /// The test's description.
    pub description: String,
    /// Number of the test type.
    pub test_type: u32,
    /// Which rows the results have.
    pub record: Record,
    /// By stage of the workload.
    pub tests: Vec<Test>,
    /// Paths of the targets that the file names, each with its line.
    pub places: Vec<(String, Location)>,
    /// Names of the managers that run; one without a name where the file has none.
    pub managers: Vec<String>,
}

/// Reads the words after the program's name, and the file that they name. `processors`: workers of a manager that asks
/// for one for each.
///
/// # Errors
/// Every complaint at once. At least one of them is an error.
pub fn read(
    arguments: &[String],
    files: &dyn Files,
    processors: u32,
) -> Result<IometerInput, Diagnostics> {
    let (options, mut diagnostics) = line::read(arguments);
    if diagnostics.has_errors() {
        return Err(diagnostics);
    }
    if options.help {
        return Ok(help(options));
    }
    let text = match &options.config {
        None if options.specs.is_empty() => {
            let message = "no configuration is named";
            let hint =
                "name a file with `/c FILE.icf`, or an access specification with `--spec NAME`";
            return Err(Diagnostics(vec![Diagnostic::error(message).hint(hint)]));
        }
        None => String::new(),
        Some(path) => {
            let bytes = files.read_bytes(path).map_err(|error| {
                let message = format!("`{path}` cannot be read: {}", why_unread(&error));
                let hint = match error.kind() {
                    io::ErrorKind::NotFound => "name a file that is there",
                    io::ErrorKind::IsADirectory => "name a file in that folder",
                    _ => "name a file that can be read",
                };
                Diagnostics(vec![Diagnostic::error(message).hint(hint)])
            })?;
            let (text, guessed) = decode(path, &bytes);
            diagnostics.0.extend(guessed);
            text
        }
    };
    let mut input = read_with(&text, options, processors)?;
    input.warnings.0.splice(0..0, diagnostics.0);
    Ok(input)
}

/// The text of a file, and what is to be told of it: Iometer writes the code page of its Windows, most often this one.
pub fn decode(path: &str, bytes: &[u8]) -> (String, Option<Diagnostic>) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return (text.to_owned(), None);
    }
    let (text, encoding, _) = encoding_rs::WINDOWS_1252.decode(bytes);
    let message = format!(
        "`{path}` is not in UTF-8: it is read as {}",
        encoding.name()
    );
    let hint = "where names or paths are wrong, store it as UTF-8";
    let warning = Diagnostic::warning(message).hint(hint);
    (text.into_owned(), Some(warning))
}

/// Reads the text of a file; `path` is what complaints call it.
///
/// # Errors
/// As [`read`].
pub fn read_text(path: &str, text: &str, processors: u32) -> Result<IometerInput, Diagnostics> {
    let options = Options {
        config: Some(path.to_owned()),
        ..Options::default()
    };
    read_with(text, options, processors)
}

fn read_with(text: &str, options: Options, processors: u32) -> Result<IometerInput, Diagnostics> {
    // A byte order mark says nothing of the file.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let file = options.config.as_deref().unwrap_or("command line");
    let mut source = Source::new(file, text);
    read::check_kind(&mut source);
    let config = read::config(&mut source);
    if source.is_unread() {
        return Err(source.finish());
    }
    let plan = plan::build(&mut source, &config, &options, processors);
    let workers = config.managers.iter().flat_map(|manager| &manager.workers);
    let targets = workers.flat_map(|worker| &worker.targets);
    let places = targets.map(|line| {
        let place = source.location(*line, line.text());
        (names::path(line.text()), place)
    });
    let places = places.collect();
    let mut warnings = source.finish();
    let Some(plan) = plan.filter(|_| !warnings.has_errors()) else {
        if !warnings.has_errors() {
            warnings.push(Diagnostic::error(format!("`{file}` has nothing to do")));
        }
        return Err(warnings);
    };
    fathom_workload::validate(&plan.workload)?;
    let mut record = config.setup.record;
    if options.results.is_some() && record == Record::Nothing {
        // A file of results is asked for: as in Iometer, they are recorded then.
        record = Record::All;
    }
    Ok(IometerInput {
        workload: plan.workload,
        warnings,
        action: Action::Run,
        description: config.setup.description.clone(),
        test_type: config.setup.test_type as u32,
        record,
        tests: plan.tests,
        places,
        managers: plan.managers,
        options,
    })
}

impl IometerInput {
    /// Where the file names a target that is complained about.
    pub fn place_of(&self, subject: &Subject) -> Option<Location> {
        let mut places = self.places.iter();
        // A file may be named where a folder might have been.
        let is_it = |path: &str| {
            let folder = path.strip_suffix(TEST_FILE);
            let file = folder.and_then(|folder| folder.strip_suffix('/'));
            path == subject.value || file == Some(subject.value.as_str())
        };
        let found = places.find(|(path, _)| is_it(path));
        found.map(|(_, place)| place.clone())
    }
}

fn help(options: Options) -> IometerInput {
    IometerInput {
        workload: Workload {
            stages: Vec::new(),
            seed: 0,
        },
        warnings: Diagnostics::default(),
        action: Action::Help,
        options,
        description: String::new(),
        test_type: 0,
        record: Record::All,
        tests: Vec::new(),
        places: Vec::new(),
        managers: Vec::new(),
    }
}
