//! Commands that a job asks to be run before or after its I/O.

use std::fs::File;
use std::io;
use std::process::{Command, Stdio};

use crate::EngineError;

/// When a command is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum When {
    /// Before the job's first I/O.
    Before,
    /// After its last.
    After,
}

/// Runs `command` by the shell, and keeps what it prints in `JOB.prerun.txt` or `JOB.postrun.txt` of the working
/// directory, where fio keeps it.
///
/// # Errors
/// Where it cannot be run, or ends with another code than 0.
pub(crate) fn run(command: &str, job: &str, when: When) -> Result<(), EngineError> {
    let (word, action) = match when {
        When::Before => ("prerun", "running this command before the job"),
        When::After => ("postrun", "running this command after the job"),
    };
    let failed = |source| EngineError::target(command, action, source);
    // A job may be named after a path.
    let path = format!("{}.{word}.txt", job.replace('/', "_"));
    let output = File::create(&path).map_err(|error| EngineError::target(&path, action, error))?;
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
