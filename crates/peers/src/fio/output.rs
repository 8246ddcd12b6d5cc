//! Where fio's results go: standard output, or the file of `--output`.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use fathom_dialects::fio::{self, FioInput, FioRun, OutputFormat};
use fathom_rawio::{Begin, Clock, open_results};
use fathom_record::StageResult;
use fathom_session::{Code, Console, Failure, refuse_device, unwritten};
use fathom_units::Nanos;
use fathom_workload::Job;

/// The way out of results, in the order they are written.
pub struct Output<'a> {
    console: &'a dyn Console,
    file: Option<(String, File)>,
    failure: Option<std::io::Error>,
}

impl<'a> Output<'a> {
    /// Opens the file at `path`, if one is asked for; it begins empty.
    ///
    /// # Errors
    /// Where the file cannot be made, or is a block device.
    pub fn open(path: Option<&str>, console: &'a dyn Console) -> Result<Self, Failure> {
        let file = match path {
            None => None,
            Some(path) => {
                let file = open_results(Path::new(path), Begin::Emptied);
                let file = file.map_err(|error| unwritten(Path::new(path), &error))?;
                Some((path.to_owned(), file))
            }
        };
        Ok(Self {
            console,
            file,
            failure: None,
        })
    }

    /// A way out that leads to `console` alone.
    pub fn nowhere(console: &'a dyn Console) -> Self {
        Self {
            console,
            file: None,
            failure: None,
        }
    }

    /// Writes `text`. What a file does not take is printed, and told by [`Output::close`].
    pub fn write(&mut self, text: &str) {
        match &mut self.file {
            Some((_, file)) if self.failure.is_none() => {
                if let Err(error) = file.write_all(text.as_bytes()) {
                    self.failure = Some(error);
                    self.console.print(text);
                }
            }
            _ => self.console.print(text),
        }
    }

    /// Ends the writing.
    ///
    /// # Errors
    /// Where something was not written.
    pub fn close(self) -> Result<(), Failure> {
        match (self.file, self.failure) {
            (Some((path, _)), Some(error)) => Err(unwritable(&path, &error)
                .hint("free space, or name another file; what does not fit there is on the standard output")),
            _ => Ok(()),
        }
    }
}

/// Adds `message`, of why nothing more follows, to the file at `path`, which has what came before it.
pub fn note_failure(path: &str, message: &str) {
    // The message is on standard error already: a file that does not take it loses nothing.
    if let Ok(mut file) = open_results(Path::new(path), Begin::AtEndOfExisting) {
        let _ = writeln!(file, "{message}");
    }
}

fn unwritable(path: &str, error: &std::io::Error) -> Failure {
    if let Err(refused) = refuse_device(Path::new(path)) {
        return refused;
    }
    Failure::new(Code::Target, format!("`{path}` cannot be written: {error}"))
}

/// A run of the jobs whose results, all there is of it, are `results`.
pub fn run_of(results: &[StageResult], began: Nanos) -> FioRun<'_> {
    FioRun {
        results,
        finished_unix_ms: fathom_rawio::wall_clock() / 1_000_000,
        elapsed: Clock::now().saturating_sub(began),
        priorities: None,
        idle: &[],
        pid: std::process::id(),
    }
}

/// The results of jobs each of which has nothing but the error that `errno_of` gives for its place and itself.
pub fn errors(input: &FioInput, errno_of: &dyn Fn(usize, &Job) -> i32, began: Nanos) -> String {
    let results = fio::refused(&input.workload, errno_of);
    let run = run_of(&results, began);
    let mut text = String::new();
    for format in &input.output.formats {
        text.push_str(&match format {
            OutputFormat::Terse => fio::write_terse(input, &run),
            OutputFormat::Json | OutputFormat::JsonPlus => fio::write_json(input, &run),
            OutputFormat::Normal => String::new(),
        });
    }
    text
}

/// The results of `run` in every layout that is asked for; `signal`: what ended it.
pub fn results(input: &FioInput, run: &FioRun<'_>, signal: Option<i32>) -> String {
    let mut text = String::new();
    for format in &input.output.formats {
        text.push_str(&match format {
            OutputFormat::Terse => fio::write_terse(input, run),
            OutputFormat::Json | OutputFormat::JsonPlus => fio::write_json(input, run),
            OutputFormat::Normal => {
                // fio says so among its JSON too, and breaks it; that much of a peer nobody needs.
                let told = signal.map(|number| format!("\nfio: terminating on signal {number}\n"));
                told.unwrap_or_default() + &fio::write_normal(input, run)
            }
        });
    }
    text
}
