//! The registry of fio's options.
//!
//! One row an option, for all that fio 3.42 knows: an option that Fathom does not build yet must still be told from a
//! misspelt one. Help, the nearest-name search and the reader all draw on these rows.
//!
//! Source of names, aliases and kinds: fio's own `--cmdhelp=all` and `--enghelp`, and its `HOWTO` (3.42).

use fathom_workload::{Backend, FileOperation, StatCall};

mod engine_options;
mod job_options;
mod refusals;
mod run_options;
mod usual;
mod valid_values;

pub use refusals::refusal;
pub use usual::{bounds, usual};
pub use valid_values::{ValidValue, valid_values};

/// What an option's value looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Text taken as it is.
    Text,
    /// Text, or nothing in a job file.
    OptionalText,
    /// One of a list of words.
    Word,
    /// A whole number with an optional size suffix, perhaps one each for reads, writes and trims.
    Number,
    /// A time; a bare number means seconds.
    Seconds,
    /// A time; a bare number means microseconds.
    Micros,
    /// `0` or `1`; the value is required.
    Switch,
    /// `0`, `1`, or no value, which means 1.
    Flag,
    /// Numbers with decimals, separated by `:`.
    Decimals,
    /// Two sizes with `-` between them.
    Range,
}

/// How far Fathom carries an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Support {
    /// Read, and acted upon.
    Built,
    /// Read, and without effect here: what it asks for is so anyway, or changes nothing that is measured.
    NoEffect,
    /// Only this value (fio's default) is carried in a run; `--parse-only` takes every value that fio takes.
    AtRun(&'static str),
    /// Refused as not built yet, whatever its value.
    NotYet,
    /// Belongs to engines or devices that are refused by name: read, and of no effect without them.
    WithEngine,
    /// Withdrawn: fio refuses it, whatever its value.
    Withdrawn,
    /// Belongs to fio's built-in workloads (`profile=`): fio takes it without one, and it does nothing.
    ProfileOnly,
}

/// One option of fio.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OptionRow {
    /// The name that fio prints.
    pub name: &'static str,
    /// Other names of it.
    pub aliases: &'static [&'static str],
    /// What its value looks like.
    pub kind: Kind,
    /// How far it is carried.
    pub support: Support,
    /// What it is for.
    pub help: &'static str,
    /// The I/O engines that know it; empty: all.
    pub engines: &'static [&'static str],
}

const fn row(
    name: &'static str,
    aliases: &'static [&'static str],
    kind: Kind,
    support: Support,
    help: &'static str,
) -> OptionRow {
    OptionRow {
        name,
        aliases,
        kind,
        support,
        help,
        engines: &[],
    }
}

const fn engine_row(
    name: &'static str,
    engines: &'static [&'static str],
    kind: Kind,
    support: Support,
    help: &'static str,
) -> OptionRow {
    OptionRow {
        engines,
        ..row(name, &[], kind, support, help)
    }
}

/// Every option, those of single engines last.
pub fn rows() -> impl Iterator<Item = &'static OptionRow> {
    job_options::ROWS
        .iter()
        .chain(run_options::ROWS)
        .chain(engine_options::ROWS)
}

/// The row of an option by its name or an alias. Names are case-sensitive, as fio's are.
pub fn find(name: &str) -> Option<&'static OptionRow> {
    rows().find(|row| row.name == name || row.aliases.contains(&name))
}

/// Whether fio has an option of that name in its jobs.
pub fn is_option(name: &str) -> bool {
    find(name).is_some()
}

/// Whether an option belongs to single I/O engines: it must not be read before the job's engine is known.
pub fn belongs_to_engine(name: &str) -> bool {
    find(name).is_some_and(|row| !row.engines.is_empty())
}

/// Every name and alias.
pub fn names() -> impl Iterator<Item = &'static str> {
    rows().flat_map(|row| std::iter::once(row.name).chain(row.aliases.iter().copied()))
}

/// How far Fathom carries an I/O engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EngineRow {
    /// fio's name of it.
    pub name: &'static str,
    /// What it does.
    pub help: &'static str,
    /// Whether it is carried.
    pub carried: Carried,
}

/// Whether an engine is carried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Carried {
    /// This issues its I/O.
    By(Backend),
    /// It does this to files in place of reads and writes.
    Operation(FileOperation),
    /// It works in place of I/O.
    Work,
    /// It is refused by name, for this reason.
    No(&'static str),
    /// Every build of fio for Linux has it, but it does no I/O to storage, or none to files: `--parse-only` takes it, and a run
    /// refuses it by name, for this reason.
    NotRun(&'static str),
}

impl EngineRow {
    /// What issues its I/O here; `None`: it is refused.
    pub fn backend(&self) -> Option<Backend> {
        match self.carried {
            Carried::By(backend) => Some(backend),
            Carried::Operation(_) => Some(Backend::Sync),
            Carried::Work => Some(Backend::Null),
            Carried::No(_) | Carried::NotRun(_) => None,
        }
    }

    /// What it does to files in place of reads and writes, asking for attributes by `stat`.
    pub fn operation(&self, stat: StatCall) -> Option<FileOperation> {
        match self.carried {
            Carried::Operation(FileOperation::Stat(_)) => Some(FileOperation::Stat(stat)),
            Carried::Operation(FileOperation::StatDirectory(_)) => {
                Some(FileOperation::StatDirectory(stat))
            }
            Carried::Operation(other) => Some(other),
            Carried::By(_) | Carried::Work | Carried::No(_) | Carried::NotRun(_) => None,
        }
    }

    /// Whether it works in place of I/O.
    pub fn works(&self) -> bool {
        self.carried == Carried::Work
    }
}

/// Every I/O engine of fio 3.42.
pub const ENGINES: &[EngineRow] = engine_options::ENGINES;

/// Older names of `libaio`, which fio still takes.
pub const NAMES_OF_LIBAIO: [&str; 2] = ["aio", "linuxaio"];

/// The row of an engine by any of its names.
pub fn find_engine(name: &str) -> Option<&'static EngineRow> {
    let is_libaio = NAMES_OF_LIBAIO.contains(&name);
    let name = if is_libaio { "libaio" } else { name };
    ENGINES.iter().find(|engine| engine.name == name)
}

/// Whether fio's engine of that name syncs whole file systems; fio refuses `end_syncfs` with any other.
pub fn syncs_file_systems(engine: &str) -> bool {
    !matches!(
        engine,
        "mmap" | "null" | "filestat" | "dircreate" | "dirstat"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_name_stands_once() {
        let mut seen = BTreeSet::new();
        for name in names() {
            assert!(seen.insert(name), "{name} stands twice");
        }
        assert!(rows().all(|row| !row.help.is_empty() && !row.name.contains(' ')));
    }

    #[test]
    fn aliases_lead_to_their_option() {
        for (alias, name) in [
            ("readwrite", "rw"),
            ("blocksize", "bs"),
            ("timeout", "runtime"),
        ] {
            assert_eq!(find(alias).map(|row| row.name), Some(name));
        }
        assert_eq!(find("RW"), None);
    }
}
