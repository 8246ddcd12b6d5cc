//! User time by samples of Linux's `perf`: the kernel's own ticks, 250 a second, happen upon user mode once a second or so
//! where a program waits for a disk.

use std::process::Command;

use crate::command;

/// Samples of user mode a second.
const SAMPLES_PER_SECOND: u32 = 15_000;

/// Samples of one run, in a file of their own until they are counted.
pub struct UserSamples {
    file: String,
}

impl UserSamples {
    /// Samples in a file beside that one.
    pub fn beside(path: &str) -> Self {
        Self {
            file: format!("{path}.perf"),
        }
    }

    /// The same program under `perf`.
    pub fn of(&self, program: &Command) -> Command {
        let mut perf = Command::new("perf");
        perf.args(["record", "-q", "-e", "cpu-clock:u", "-o", &self.file]);
        perf.args(["-F", &SAMPLES_PER_SECOND.to_string(), "--"]);
        perf.arg(program.get_program()).args(program.get_args());
        perf
    }

    /// Time in user mode, ns; the samples are gone then.
    pub fn user_ns(self) -> Result<f64, String> {
        let lines = command::output("perf", &["script", "-i", &self.file, "-F", "tid"])?;
        std::fs::remove_file(&self.file).map_err(|error| format!("{}: {error}", self.file))?;
        let seen = lines.lines().count();
        Ok(seen as f64 * 1e9 / f64::from(SAMPLES_PER_SECOND))
    }
}

/// Whether `perf` is there and may sample.
pub fn can_sample() -> bool {
    let words = [
        "record",
        "-q",
        "-e",
        "cpu-clock:u",
        "-o",
        "/dev/null",
        "true",
    ];
    command::output("perf", &words).is_ok()
}
