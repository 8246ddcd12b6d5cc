//! Commands that a job asks to be run before or after its I/O.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use fathom_rawio::{Begin, open_results};

use crate::{EngineError, guard};

/// When a command is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum When {
    /// Before the job's first I/O.
    Before,
    /// After its last.
    After,
}

impl When {
    /// As fio calls it in the names of files.
    const fn word(self) -> &'static str {
        match self {
            Self::Before => "prerun",
            Self::After => "postrun",
        }
    }
}

/// The file in the working directory that has what a job's command prints.
pub(crate) fn output_path(job: &str, when: When) -> String {
    // A job may be named after a path.
    format!("{}.{}.txt", job.replace('/', "_"), when.word())
}

/// Runs `command` by the shell, and keeps what it prints in `JOB.prerun.txt` or `JOB.postrun.txt` of the working
/// directory, where fio keeps it.
///
/// # Errors
/// Where it cannot be run, where its output would go to a block device, or where it ends with another code than 0.
pub(crate) fn run(command: &str, job: &str, when: When) -> Result<(), EngineError> {
    let action = match when {
        When::Before => "running this command before the job",
        When::After => "running this command after the job",
    };
    let failed = |source| EngineError::target(command, action, source);
    let path = output_path(job, when);
    let output = open_results(Path::new(&path), Begin::Emptied)
        .map_err(|error| guard::unwritten(&path, action, error))?;
    let errors = output.try_clone().map_err(failed)?;
    let status = Command::new("/bin/sh")
        .args(["-c", command])
        .stdin(Stdio::null())
        .stdout(output)
        .stderr(errors)
        .status()
        .map_err(failed)?;
    if !status.success() {
        let what = format!("it ended with {status}; `{path}` has what it printed");
        return Err(failed(io::Error::other(what)));
    }
    Ok(())
}
