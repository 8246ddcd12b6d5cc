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

/// Whose samples count.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Threads {
    /// The whole program's.
    All,
    /// Those of all threads but the first, which starts the program and prints.
    Workers,
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
    pub fn user_ns(self, whose: Threads) -> Result<f64, String> {
        let lines = command::output("perf", &["script", "-i", &self.file, "-F", "pid,tid"])?;
        std::fs::remove_file(&self.file).map_err(|error| format!("{}: {error}", self.file))?;
        let seen = count(&lines, whose);
        Ok(seen as f64 * 1e9 / f64::from(SAMPLES_PER_SECOND))
    }
}

/// How many of the lines `PID/TID` count.
fn count(lines: &str, whose: Threads) -> usize {
    let ids = lines.lines().filter_map(|line| line.trim().split_once('/'));
    ids.filter(|(process, thread)| whose == Threads::All || process != thread)
        .count()
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

#[cfg(test)]
mod tests {
    use super::{Threads, count};

    #[test]
    fn the_first_thread_is_no_worker() {
        let lines = "  17/17  \n   17/18\n 17/18 \n\n";
        assert_eq!(count(lines, Threads::All), 3);
        assert_eq!(count(lines, Threads::Workers), 2);
    }
}
