//! The lines that tell where the output of a job's commands goes: `a : Saving output of prerun in a.prerun.txt` (fio 3.42,
//! `backend.c`).

use std::fmt::Write as _;

use fathom_workload::Stage;

/// A line for each job of `stage` that has a command before its I/O, or after it.
pub fn lines(stage: &Stage, after: bool) -> String {
    let word = if after { "postrun" } else { "prerun" };
    let mut out = String::new();
    for job in &stage.jobs {
        let process = &job.features.process;
        let command = if after {
            &process.command_after
        } else {
            &process.command_before
        };
        if command.is_some() {
            let name = &job.name;
            // A job may be named after a path.
            let file = name.replace('/', "_");
            let _ = writeln!(out, "{name} : Saving output of {word} in {file}.{word}.txt");
        }
    }
    out
}
