//! DISKSPD's command line and profiles, and its text and XML output.
//!
//! Both are read as DISKSPD 2.2 reads them, with what 2.3 added where it means something here; results are printed in the
//! layouts of 2.2. What is carried, and each deliberate difference, stands in `docs/dialects/diskspd.md`.
//!
//! ```
//! use fathom_dialects::diskspd;
//! use fathom_dialects::fio::SystemFiles;
//! let arguments = ["-c1G", "-b4K", "-r", "-o32", "-Sh", "x.dat"].map(String::from);
//! let input = diskspd::read(&arguments, 0, &SystemFiles).unwrap();
//! assert_eq!(input.workload.stages[0].jobs[0].depth, 32);
//! ```

mod check;
mod effective;
mod explain;
mod fit;
mod line;
mod options;
mod pattern;
mod plan;
mod settings;
mod sizes;
mod source;
mod tally;
#[cfg(test)]
mod tests;
mod write;
mod xml;

use fathom_diagnostics::{Diagnostics, why_unread};
use fathom_workload::Workload;

use crate::fio::Files;

use self::line::Line;
use self::settings::{Contents, Format, Profile};
use self::source::{Places, Source};

pub use explain::origins;
pub use fit::{fit_to_files, is_windows_path};
pub use plan::cooling;
pub use tally::{Figures, Row, Tally, rows};
pub(crate) use write::date;
pub use write::{
    CpuUse, DiskspdRun, SpanRun, System, usage, write_profile, write_results, write_system,
};

/// Most bytes of a file that what is written is taken from.
const SOURCE_MAX: usize = 1 << 20;

/// What a line asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// I/O.
    Run,
    /// The usage text (`-?`).
    Help,
    /// The profile, and nothing else (`-Rp`).
    Profile,
    /// What the system is (`-Rs`).
    System,
}

/// Where a worker of a stage belongs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerPlace {
    /// Number of the thread within its timespan.
    pub thread: u32,
    /// Its targets in the order of its job, by their indexes within the timespan.
    pub targets: Vec<usize>,
}

/// A command line that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct DiskspdInput {
    /// What to run: one stage a timespan, and one behind it that is not reported where it has a cool-down.
    pub workload: Workload,
    /// What was read otherwise than its writer may have meant.
    pub warnings: Diagnostics,
    /// What it asks for.
    pub action: Action,
    /// Every value.
    profile: Profile,
    /// Where values came from.
    origins: Places,
    /// The words as they were given.
    arguments: Vec<String>,
    /// For each stage, where each of its workers belongs, job by job; of a cool-down nothing.
    pub places: Vec<Vec<WorkerPlace>>,
}

impl DiskspdInput {
    /// Targets of the timespan `span`, as they were written.
    pub fn targets(&self, span: usize) -> Vec<&str> {
        let targets = self.profile.spans.get(span).map(|span| &span.targets);
        let targets = targets.into_iter().flatten();
        targets.map(|target| target.path.as_str()).collect()
    }

    /// Index of the timespan to which the stage of this index belongs.
    pub fn span_of(&self, stage: usize) -> usize {
        let before = self.workload.stages.iter().take(stage + 1);
        let spans = before.filter(|stage| !stage.discard).count();
        spans.saturating_sub(1)
    }

    /// Whether its words, not those of a profile, say how results are printed (`-R`).
    pub fn names_format(&self) -> bool {
        self.arguments.iter().any(|word| word.starts_with("-R"))
    }

    /// Whether results are printed as XML.
    pub fn is_xml(&self) -> bool {
        self.profile.format == Format::Xml
    }
}

/// Reads the words after the program's name. `entropy` seeds a run that asks for a seed from the clock (a bare `-z`);
/// `files` has the profile and the data that the words name.
///
/// # Errors
/// Every complaint about the line or the profile at once. At least one of them is an error.
pub fn read(
    arguments: &[String],
    entropy: u64,
    files: &dyn Files,
) -> Result<DiskspdInput, Diagnostics> {
    let mut line = line::read(arguments, entropy);
    let action = match (line.help, line.system_only, line.profile_only) {
        (true, ..) => Action::Help,
        (_, true, _) => Action::System,
        (.., true) => Action::Profile,
        _ => Action::Run,
    };
    if matches!(action, Action::Help | Action::System) {
        if action == Action::Help || !line.source.has_errors() {
            line.source.forget();
        }
        if action == Action::System && arguments.len() > 1 {
            line.error(0, "`-Rs` stands alone", "leave the other words out");
        }
        let (mut profile, source) = line.into_profile();
        profile.spans.clear();
        return finish(arguments, action, profile, source, files);
    }
    let (profile, source) = match line.file.take() {
        None => {
            let (profile, mut source) = line.into_profile();
            check::check(&profile, &mut source, action == Action::Run, true);
            (profile, source)
        }
        Some((word, path)) => from_file(line, word, &path, files)?,
    };
    finish(arguments, action, profile, source, files)
}

/// Reads the profile at `path`, with what of the line goes with it.
fn from_file(
    mut line: Line,
    word: usize,
    path: &str,
    files: &dyn Files,
) -> Result<(Profile, Source), Diagnostics> {
    for index in line.apart_from_file.clone() {
        let hint =
            "change it in the profile; -d, -W, -C, -z, -v, -R and targets may stand beside `-X`";
        line.error(index, "this does not go with a profile (`-X`)", hint);
    }
    let text = files
        .read_bytes(path)
        .map_err(|error| why_unread(&error))
        .and_then(|bytes| xml::decode(&bytes));
    let text = match text {
        Ok(text) => text,
        Err(error) => {
            let message = format!("`{path}` cannot be read: {error}");
            line.error(word, message, "name an XML profile");
            return Err(line.into_complaints());
        }
    };
    if line.source.has_errors() {
        return Err(line.into_complaints());
    }
    let mut source = Source::new(path, text);
    let used = vec![false; line.targets.len()];
    let paths = std::mem::take(&mut line.targets);
    let mut substitutes = xml::Substitutes {
        paths: &paths,
        used,
    };
    let mut profile = xml::read(&mut source, &mut substitutes);
    let used = substitutes.used;
    if source.has_errors() {
        return Err(source.into_complaints());
    }
    for ((index, target), _) in paths.iter().zip(used).filter(|(_, used)| !used) {
        let message = format!("nothing in `{path}` stands for the target `{target}`");
        line.error(
            *index,
            message,
            "write `*1` as a path of the profile, or leave it out",
        );
    }
    if line.source.has_errors() {
        return Err(line.into_complaints());
    }
    compose(&line, &mut profile);
    check::check(&profile, &mut source, !line.profile_only, false);
    let told = line.into_complaints();
    told.0.into_iter().for_each(|one| source.add(one));
    Ok((profile, source))
}

/// Lays what of a line goes with a profile over it.
fn compose(line: &Line, profile: &mut Profile) {
    if line.names_format {
        profile.format = line.profile.format;
    }
    profile.verbose |= line.profile.verbose;
    profile.verbose_stats |= line.profile.verbose_stats;
    if line.profile.experiments > 0 {
        profile.experiments = line.profile.experiments;
    }
    let given = |option: &str| line.span.given.contains_key(option);
    for span in &mut profile.spans {
        let own = [
            ("d", &mut span.duration, line.span.duration),
            ("W", &mut span.warmup, line.span.warmup),
            ("C", &mut span.cooldown, line.span.cooldown),
            ("z", &mut span.seed, line.span.seed),
        ];
        for (option, place, value) in own {
            if given(option) {
                *place = value;
                // What the line says comes before every line of the file.
                span.given.insert(option, usize::MAX..usize::MAX);
            }
        }
    }
}

fn finish(
    arguments: &[String],
    action: Action,
    profile: Profile,
    mut source: Source,
    files: &dyn Files,
) -> Result<DiskspdInput, Diagnostics> {
    let sources = match action {
        Action::Run => read_sources(&profile, &mut source, files),
        _ => plan::Sources::new(),
    };
    if source.has_errors() {
        return Err(source.into_complaints());
    }
    let (workload, places) = plan::build(&profile, &sources);
    if action == Action::Run {
        fathom_workload::validate(&workload)?;
    }
    Ok(DiskspdInput {
        workload,
        origins: source.places(),
        warnings: source.into_complaints(),
        action,
        profile,
        arguments: arguments.to_vec(),
        places,
    })
}

/// The files that what is written is taken from.
fn read_sources(profile: &Profile, source: &mut Source, files: &dyn Files) -> plan::Sources {
    let mut sources = plan::Sources::new();
    for target in profile.spans.iter().flat_map(|span| &span.targets) {
        let Contents::Source {
            size,
            file: Some(file),
        } = &target.contents
        else {
            continue;
        };
        if sources.contains_key(file) || source.is_full() {
            continue;
        }
        let place = target.given.get("Z").cloned().unwrap_or(0..0);
        match files.read_bytes(file) {
            Ok(bytes) if bytes.is_empty() => {
                let message = format!("`{file}`, which written data is taken from, is empty");
                source.error(place, message, "name another file");
            }
            Ok(mut bytes) => {
                let wanted = usize::try_from(*size).unwrap_or(usize::MAX);
                if wanted.min(bytes.len()) > SOURCE_MAX {
                    let message = "written data is taken from the first MiB of the file";
                    source.warn(place, message, "give `-Z1M`, and the file");
                }
                bytes.truncate(wanted.min(SOURCE_MAX));
                sources.insert(file.clone(), bytes);
            }
            Err(error) => {
                let message = format!(
                    "`{file}`, which written data is taken from, cannot be read: {}",
                    why_unread(&error)
                );
                let hint = "name a file of this machine, or the size alone for random data";
                source.error(place, message, hint);
            }
        }
    }
    sources
}
