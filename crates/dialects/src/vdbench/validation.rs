//! Data validation: `validate=` and `-v…`.
//!
//! What is asked for once counts for all runs, and becomes a feature of each job: what a run wrote is known to those behind it.
//! What cannot be checked is refused by name; nothing is run unchecked that was to be checked.

use std::collections::HashMap;

use fathom_diagnostics::Diagnostic;
use fathom_workload::{Journal, Validate, WeightedSize, Workload};

use super::build::Built;
use super::options::Options;
use super::run::{Run, RunKind};
use super::sections::{General, LoopKey, Sd};
use super::source::{At, Complaints, Sources};

/// What a stamp is of.
const SECTOR: u64 = 512;

/// What of data validation is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Validation {
    /// Whether blocks that are known are read before they are written: without `no_preread` (`-vw`).
    pub pre_read: bool,
    /// `read_after_write` (`-vr`).
    pub read_after_write: bool,
    /// `time` (`-vt`).
    pub time: bool,
    /// `journal=` (`-j`).
    pub journal: Option<Journaling>,
    /// Where it stands; none where the command line asks for it.
    pub at: Option<At>,
}

impl Validation {
    /// `yes`, `-v`.
    pub(super) const YES: Self = Self {
        pre_read: true,
        read_after_write: false,
        time: false,
        journal: None,
        at: None,
    };

    /// What the letters behind `-v` ask for; none where one is not known.
    pub(super) fn of_letters(letters: &str) -> Option<Self> {
        let mut asked = Self::YES;
        for letter in letters.chars() {
            match letter {
                'r' | '2' => asked.read_after_write = true,
                'w' => asked.pre_read = false,
                't' => asked.time = true,
                _ => return None,
            }
        }
        Some(asked)
    }

    /// What both ask for together.
    pub(super) fn with(self, other: Self) -> Self {
        Self {
            pre_read: self.pre_read && other.pre_read,
            read_after_write: self.read_after_write || other.read_after_write,
            time: self.time || other.time,
            journal: match (self.journal, other.journal) {
                (Some(one), Some(other)) => Some(one.with(other)),
                (one, other) => one.or(other),
            },
            at: self.at.or(other.at),
        }
    }
}

/// What of journals is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of Vdbench's own"
)]
pub struct Journaling {
    /// `recover` (`-jr`): goes on with the journals that are there.
    pub recovers: bool,
    /// `only` (`-jo`): reads what they tell of, and does nothing else.
    pub only: bool,
    /// Whether each write waits for its journal: without `noflush` (`-jn`).
    pub flushes: bool,
    /// Whether all that a journal tells of is read before the first run: without `skip_read_all` (`-js`).
    pub reads_all: bool,
    /// `ignore_pending` (`-ji`).
    pub ignores_pending: bool,
}

impl Journaling {
    /// `yes`, `-j`.
    pub(super) const YES: Self = Self {
        recovers: false,
        only: false,
        flushes: true,
        reads_all: true,
        ignores_pending: false,
    };

    /// What the letters behind `-j` ask for; none where one is not known.
    pub(super) fn of_letters(letters: &str) -> Option<Self> {
        let mut asked = Self::YES;
        for letter in letters.chars() {
            match letter {
                'r' => asked.recovers = true,
                'o' => (asked.recovers, asked.only) = (true, true),
                'n' => asked.flushes = false,
                's' => asked.reads_all = false,
                'i' => asked.ignores_pending = true,
                _ => return None,
            }
        }
        Some(asked)
    }

    /// What both ask for together.
    fn with(self, other: Self) -> Self {
        Self {
            recovers: self.recovers || other.recovers,
            only: self.only || other.only,
            flushes: self.flushes && other.flushes,
            reads_all: self.reads_all && other.reads_all,
            ignores_pending: self.ignores_pending || other.ignores_pending,
        }
    }

    /// That of one SD.
    fn of(self, sd: Option<&Sd>, name: &str) -> Journal {
        let file = format!("{name}.jnl");
        let folder = sd.and_then(|sd| sd.journal.as_deref());
        Journal {
            path: folder.map_or(file.clone(), |folder| {
                format!("{}/{file}", folder.trim_end_matches('/'))
            }),
            recovers: self.recovers,
            flushes: self.flushes,
            ignores_pending: self.ignores_pending,
        }
    }
}

/// What the files and the command line ask for.
pub(super) fn asked(general: &General, options: &Options) -> Option<Validation> {
    match (general.validation, options.validation) {
        (Some(one), Some(other)) => Some(one.with(other)),
        (one, other) => one.or(other),
    }
}

/// Has all jobs check their blocks, where that is asked for.
pub(super) fn apply(
    (built, options): (&Built, &Options),
    (runs, workload): (&[Run], &mut Workload),
    (sources, complaints): (&Sources, &mut Complaints),
) {
    let Some(asked) = asked(&built.general, options) else {
        return;
    };
    if asked.time {
        let message = "`time` of `validate=` (`-vt`): when a block was last written is told of each that is wrong, as its own \
                       stamp has it; when it was last read is not kept";
        tell(
            asked.at,
            (sources, complaints),
            Diagnostic::warning(message).hint("leave it or remove it"),
        );
    }
    let repeats = options.repeat.is_some() || built.general.repeat.is_some();
    let recovers = asked.journal.is_some_and(|journal| journal.recovers);
    let in_loop = (repeats && recovers).then_some((
        "from a journal (`-jr`, `journal=recover`) in a loop (`-l`, `loop=`), whose every round would begin with it",
        "recover once, then start the loop",
    ));
    for (what, hint) in refused(built, runs, workload).into_iter().chain(in_loop) {
        let message = format!("data validation is not done {what}");
        tell(
            asked.at,
            (sources, complaints),
            Diagnostic::error(message).hint(hint),
        );
    }
    if let Some(message) = without_journals(built, asked) {
        let hint = "write `journal=yes` before all sections, or start with `-j`";
        tell(
            asked.at,
            (sources, complaints),
            Diagnostic::warning(message).hint(hint),
        );
    }
    let mut names: HashMap<String, Option<&Sd>> = HashMap::new();
    for run in runs {
        let Some(stage) = workload.stages.get_mut(run.stage) else {
            continue;
        };
        for (place, job) in run.jobs.iter().zip(&mut stage.jobs) {
            let sd = built.sds.get(place.sd);
            let path = job.targets.first().map_or("", |target| target.place.path());
            // Two SDs on one file or device have its stamps in common.
            let first = names.entry(path.to_owned()).or_insert(sd);
            let name = first.map_or("", |sd| sd.name.as_str());
            job.features.validate = Some(Box::new(Validate {
                name: name.to_owned(),
                pre_read: asked.pre_read,
                read_after_write: asked.read_after_write,
                known_only: false,
                journal: asked.journal.map(|journal| journal.of(*first, name)),
            }));
        }
    }
}

/// What of the files cannot be checked, and what to do instead.
fn refused(built: &Built, runs: &[Run], workload: &Workload) -> Vec<(&'static str, &'static str)> {
    let general = &built.general;
    let of_files = runs.iter().any(|run| run.kind == RunKind::FileSystem);
    let mut loops = built.rds.iter().flat_map(|rd| &rd.loops);
    let compresses = general.compratio.is_some_and(|ratio| ratio > 1.0)
        || loops.any(|of| of.key == LoopKey::Compratio);
    let blocks = workload.jobs().map(|(_, job)| &job.block);
    let has_parts = |sizes: &[WeightedSize]| {
        let sizes = sizes.iter().map(|one| one.size.get());
        { sizes }.any(|size| !size.is_multiple_of(SECTOR))
    };
    let of_parts = { blocks }.any(|block| has_parts(&block.read) || has_parts(&block.write));
    let all = [
        (
            of_parts && !of_files,
            "with an `xfersize=` that is no multiple of 512: each sector has its stamp",
            "give a multiple of 512, or remove `validate=` (`-v`)",
        ),
        (
            of_files,
            "on file systems (`fsd=`, `fwd=`)",
            "check files as SDs (`sd=…,lun=FILE`), or remove it",
        ),
        (
            general.concatenatesds,
            "on SDs that are joined (`concatenatesds=yes`)",
            "leave one of them out",
        ),
        (
            compresses,
            "with `compratio=`: what is written follows from place and key alone",
            "leave one of them out",
        ),
        (
            general.dedupratio.is_some_and(|ratio| ratio > 1.0),
            "with `dedupratio=`: what is written follows from place and key alone",
            "leave one of them out",
        ),
        (
            general.pattern.is_some(),
            "with `pattern=`: what is written follows from place and key alone",
            "leave one of them out",
        ),
    ];
    let found = all.into_iter().filter(|(is_there, ..)| *is_there);
    found.map(|(_, what, hint)| (what, hint)).collect()
}

/// That folders of journals count for nothing.
fn without_journals(built: &Built, asked: Validation) -> Option<String> {
    let mut with = built.sds.iter().filter(|sd| sd.journal.is_some());
    let sd = with.next().filter(|_| asked.journal.is_none())?;
    Some(format!(
        "`journal=` of sd={} says where its journal is, and none is kept",
        sd.name
    ))
}

fn tell(at: Option<At>, (sources, complaints): (&Sources, &mut Complaints), what: Diagnostic) {
    match at.and_then(|at| sources.location(at)) {
        Some(location) => complaints.plain(what.at(location)),
        None => complaints.plain(what),
    }
}
