//! Writing of DISKSPD's command lines.
//!
//! A line has one set of options for all its targets, and runs by itself: each stage becomes a line, or several where its jobs
//! differ in more than their target. The lines stand in a script that PowerShell and a shell read alike.

pub mod back;
mod job;
mod threads;

use std::fmt::Write as _;

use fathom_workload::{Job, Stage, Workload};

use crate::back::{Reasons, header, losses};
use crate::draft::Draft;
use crate::{Converted, Origin};

use job::Threads;

const REASONS: Reasons = Reasons {
    dialect: "DISKSPD",
    known: &[
        (
            "access",
            "DISKSPD draws random offsets independently, or goes in order",
        ),
        (
            "files.grows",
            "here a file is laid out before DISKSPD's I/O",
        ),
        (
            "calls.advice",
            "`-fr` and `-fs` say random or sequential access, to the page cache alone",
        ),
        ("calls", "they are options of Linux's own calls"),
        ("repeats", "run the line that often"),
        ("discard", "DISKSPD reports every line"),
        ("host", "start the line there"),
        ("name", "a target is called by its path"),
        ("existing", "DISKSPD writes to any file that is there"),
        ("salt", "DISKSPD draws by `-z` alone"),
        ("drop_cache", "DISKSPD leaves the cache as it is"),
        ("measure", "DISKSPD measures for a time of whole seconds"),
        ("warmup", "DISKSPD counts whole seconds"),
        ("backend", "DISKSPD has one way to issue I/O"),
        ("group", "DISKSPD reports all targets together"),
        ("mix", "DISKSPD reads and writes, in whole percent"),
        ("block", "DISKSPD has one size for all I/O"),
    ],
};

/// The workload as one line for each stage.
pub fn convert(workload: &Workload, origin: Origin<'_>) -> Converted {
    let Workload { stages, seed } = workload;
    let mut draft = Draft::default();
    let mut lines: Vec<Vec<String>> = Vec::new();
    let mut number = 0;
    for stage in stages {
        let Stage {
            // A line has no name.
            name: _,
            jobs,
            cooldown,
            repeats: _,
            discard: _,
            // No line knows what another reached.
            rate_from: _,
        } = stage;
        let mut became = Vec::new();
        let mut rest = jobs.as_slice();
        while let Some((first, _)) = rest.split_first() {
            let (threads, alike) = threads::of(rest, *seed, *cooldown);
            let of_first = (first, threads);
            let mut words = job::options(of_first, *seed, *cooldown, number, &mut draft);
            let mut place = 0;
            for (at, job) in rest[..alike].iter().enumerate() {
                let targets = job::targets((job, threads), number, &mut draft);
                let count = match threads {
                    Threads::Alike => targets.len(),
                    Threads::Apart(..) | Threads::Pool => 1,
                };
                draft.jobs.push(
                    (place..place + count)
                        .map(|place| (lines.len(), place))
                        .collect(),
                );
                if threads == Threads::Pool && told_alone(job) {
                    // Each I/O is told of, to count it for its target.
                    draft.same(number, "log");
                }
                if alike < jobs.len() {
                    let message =
                        "its line runs by itself, not together with the others of its stage";
                    draft.lost(number, "stage", message);
                }
                // Threads that begin after each other have one target.
                let names_target = match threads {
                    Threads::Apart(count, _) => at.is_multiple_of(count as usize),
                    Threads::Alike | Threads::Pool => true,
                };
                if names_target {
                    words.extend(targets);
                }
                place += count;
                number += 1;
            }
            became.push(lines.len());
            lines.push(words);
            rest = &rest[alike..];
        }
        draft.stages.push(became);
    }
    let losses = losses(workload, &draft, back::read(&lines), REASONS);
    let body: String = lines.iter().map(|words| script_line(words)).collect();
    let makes = |words: &Vec<String>| words.iter().any(|word| word.starts_with("-c"));
    let warning = if lines.iter().any(makes) {
        "# With -c, DISKSPD makes the file anew in this size: what a file of that name holds is lost.\n"
    } else {
        ""
    };
    Converted {
        text: format!("{}{warning}\n{body}", header("#", origin, &losses)),
        losses,
    }
}

/// Whether a job asks for no log of its own.
fn told_alone(job: &Job) -> bool {
    let log = job.features.io_log;
    log.window.is_none() && log.histogram.is_none()
}

/// The words of a line, in quotes where they need them.
fn script_line(words: &[String]) -> String {
    let plain = |word: &String| {
        !word.is_empty()
            && word
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "-_./:,%+=@".contains(c))
    };
    let mut line = "diskspd".to_owned();
    for word in words {
        line.push(' ');
        let safe: String = word
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect();
        if plain(word) {
            line.push_str(word);
        } else if safe.contains('\'') && !safe.contains(['"', '$', '`', '\\']) {
            let _ = write!(line, "\"{safe}\"");
        } else {
            let _ = write!(line, "'{}'", safe.replace('\'', "'\\''"));
        }
    }
    line.push('\n');
    line
}
