//! Writing of DISKSPD's command lines.
//!
//! A line has one set of options for all its targets, and runs by itself: each stage becomes a line, or several where its jobs
//! differ in more than their target. The lines stand in a script that PowerShell and a shell read alike.

pub mod back;
mod job;
mod threads;

use std::fmt::Write as _;

use fathom_dialects::diskspd;
use fathom_units::Nanos;
use fathom_workload::{Job, Stage, Workload};

use crate::back::{Reasons, header, losses};
use crate::clones::{self, Merged};
use crate::draft::Draft;
use crate::loss;
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
        (
            "cooldown",
            "DISKSPD goes on with its I/O in `-C`; wait so long before the next line",
        ),
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
    let Merged { workload, told, .. } = clones::as_workers(workload, |_| true);
    let mut script = Script {
        seed: workload.seed,
        ..Script::default()
    };
    let mut rest = workload.stages.as_slice();
    while let Some((stage, behind)) = rest.split_first() {
        let cooling = behind.first().and_then(|next| cool_down(stage, next));
        script.stage(&stage.jobs, cooling.unwrap_or_default());
        rest = &behind[usize::from(cooling.is_some())..];
    }
    let Script { lines, draft, .. } = script;
    let found = losses(&workload, &draft, back::read(&lines), REASONS);
    let losses = loss::with(&told, &found);
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

/// How long `stage` goes on unmeasured, where that is all the `next` one does: DISKSPD's cool-down.
fn cool_down(stage: &Stage, next: &Stage) -> Option<Nanos> {
    let time = next.jobs.first()?.limits.runtime?;
    let seconds = time.get() / Nanos::from_secs(1).get();
    let goes_on = next.discard && !stage.discard && next.repeats == 1 && stage.repeats == 1;
    let at_once = stage.cooldown == Nanos::ZERO && next.rate_from.is_none();
    let mut cooling = diskspd::cooling(&stage.jobs, seconds)?;
    for (own, next) in cooling.iter_mut().zip(&next.jobs) {
        // Where nothing is reported together, a group is a number alone.
        if !own.group.together && !next.group.together {
            own.group = next.group;
        }
    }
    (goes_on && at_once && cooling == next.jobs).then_some(time)
}

/// Lines as they are written.
#[derive(Default)]
struct Script {
    seed: u64,
    lines: Vec<Vec<String>>,
    draft: Draft,
    /// Number of the next job over all stages.
    number: usize,
    /// How many stages the lines are, as they are read back.
    stages: usize,
}

impl Script {
    /// Writes the jobs of a stage, and those of its cool-down with them.
    fn stage(&mut self, jobs: &[Job], cooldown: Nanos) {
        let first = self.number;
        let (mut became, mut cooling) = (Vec::new(), Vec::new());
        let mut rest = jobs;
        while !rest.is_empty() {
            let (threads, alike) = threads::of(rest, self.seed, cooldown);
            self.line(&rest[..alike], threads, cooldown);
            if alike < jobs.len() {
                let message = "its line runs by itself, not together with the others of its stage";
                (self.number - alike..self.number)
                    .for_each(|number| self.draft.lost(number, "stage", message));
            }
            became.push(self.stages);
            self.stages += 1;
            if cooldown > Nanos::ZERO {
                cooling.push(self.stages);
                self.stages += 1;
            }
            rest = &rest[alike..];
        }
        self.draft.stages.push(became);
        if cooldown > Nanos::ZERO {
            self.draft.stages.push(cooling);
            self.cooling(first);
        }
    }

    /// Writes the first jobs of a stage as one line.
    fn line(&mut self, jobs: &[Job], threads: Threads, cooldown: Nanos) {
        let Some(first) = jobs.first() else {
            return;
        };
        let draft = &mut self.draft;
        let mut words = job::options((first, threads), self.seed, cooldown, self.number, draft);
        let mut place = 0;
        for (at, job) in jobs.iter().enumerate() {
            let targets = job::targets((job, threads), self.number, draft);
            let count = match threads {
                Threads::Alike => targets.len(),
                Threads::Apart(..) | Threads::Pool => 1,
            };
            let places = place..place + count;
            draft
                .jobs
                .push(places.map(|place| (self.stages, place)).collect());
            if threads == Threads::Pool && told_alone(job) {
                // Each I/O is told of, to count it for its target.
                draft.same(self.number, "log");
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
            self.number += 1;
        }
        self.lines.push(words);
    }

    /// The jobs since `first` stand once more in the stage behind theirs; what was told of them is told of these.
    fn cooling(&mut self, first: usize) {
        let count = self.number - first;
        let draft = &mut self.draft;
        for number in first..self.number {
            let behind = draft.jobs[number].iter();
            let behind = behind.map(|(stage, place)| (stage + 1, *place)).collect();
            draft.jobs.push(behind);
        }
        let told = draft.told.iter().map(|told| (told.job, told.key));
        let decided: Vec<_> = told.chain(draft.same.iter().copied()).collect();
        let own = decided.into_iter().filter(|(job, _)| *job >= first);
        draft.same.extend(own.map(|(job, key)| (job + count, key)));
        self.number += count;
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
