//! Readings of whole inputs. `tests/real_fio.rs` sets many of the same beside fio's own.

use std::collections::BTreeMap;
use std::io;

use fathom_diagnostics::Severity;
use fathom_units::{Bytes, BytesPerSec, Iops, Nanos, Percent};
use fathom_workload::{
    Access, Arrival, Backend, Between, BufferContents, Caching, Coverage, FileChoice, Job, Mix,
    OpenSync, Pacing, Poisson,
};

use super::*;

mod engines;
mod extents;
mod files;
mod jobs;
mod late;
mod pacing;
mod placement;
mod process;
mod refused;
mod sections;
mod taken;
mod traces;

/// Job files by path, and what else is there.
#[derive(Default)]
struct Memory {
    texts: BTreeMap<String, String>,
    statuses: BTreeMap<String, FileStatus>,
}

impl Files for Memory {
    fn read_text(&self, path: &str) -> io::Result<String> {
        self.texts
            .get(path)
            .cloned()
            .ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    }

    fn status(&self, path: &str) -> FileStatus {
        self.statuses
            .get(path)
            .copied()
            .unwrap_or(FileStatus::Missing)
    }

    fn list(&self, directory: &str, _: usize) -> io::Result<Vec<String>> {
        Ok(self.below(directory))
    }
}

impl Memory {
    fn below(&self, directory: &str) -> Vec<String> {
        let inside = |path: &&String| {
            path.strip_prefix(directory)
                .is_some_and(|it| it.starts_with('/'))
        };
        self.statuses.keys().filter(inside).cloned().collect()
    }
}

fn environment(name: &str) -> Option<String> {
    match name {
        "BLOCK" => Some("16k".to_owned()),
        _ => None,
    }
}

fn read_in(files: &Memory, arguments: &[&str]) -> Result<FioInput, Diagnostics> {
    let context = ReadContext {
        files,
        environment,
        entropy: 99,
        page_size: Bytes::kib(4),
        processors: 3,
        memory_mib: 1000,
        clock: |number| (number == 1).then_some(-5_000),
    };
    let arguments: Vec<String> = arguments.iter().map(|it| (*it).to_owned()).collect();
    read(&arguments, &context)
}

fn read_text(text: &str) -> Result<FioInput, Diagnostics> {
    let mut files = Memory::default();
    files.texts.insert("job.fio".to_owned(), text.to_owned());
    read_in(&files, &["job.fio"])
}

/// The only job of a file with these options.
#[track_caller]
fn job(options: &str) -> Job {
    let text = format!("[j]\nsize=1m\n{options}\n");
    let input = read_text(&text).unwrap_or_else(|errors| panic!("{text}\n{errors}"));
    input.workload.stages[0].jobs[0].clone()
}

#[track_caller]
#[expect(
    clippy::needless_pass_by_value,
    reason = "calls are a table, and read better without `&`"
)]
fn check<T: PartialEq + std::fmt::Debug>(options: &str, of: impl Fn(&Job) -> T, expected: T) {
    assert_eq!(of(&job(options)), expected, "{options}");
}

/// The messages of all errors, in order.
#[track_caller]
fn errors_of(text: &str) -> Vec<String> {
    let found = read_text(text).expect_err("the input must be refused");
    let errors = found
        .0
        .into_iter()
        .filter(|it| it.severity == Severity::Error);
    errors.map(|error| error.message).collect()
}

#[track_caller]
fn check_error(text: &str, expected: &[&str]) {
    assert_eq!(errors_of(text), expected, "{text}");
}

#[track_caller]
fn check_warning(options: &str, expected: &[&str]) {
    let text = format!("[j]\nsize=1m\n{options}\n");
    let input = read_text(&text).unwrap_or_else(|errors| panic!("{text}\n{errors}"));
    let warnings: Vec<_> = input
        .warnings
        .0
        .iter()
        .map(|it| it.message.as_str())
        .collect();
    assert_eq!(warnings, expected, "{options}");
}

#[track_caller]
fn paths(text: &str) -> Vec<String> {
    let input = read_text(text).unwrap_or_else(|errors| panic!("{text}\n{errors}"));
    let targets = input.workload.jobs().flat_map(|(_, job)| &job.targets);
    targets
        .map(|target| target.place.path().to_owned())
        .collect()
}
