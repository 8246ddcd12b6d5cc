//! Why a run does not take place, or ends early.

use std::fmt;
use std::io;
use std::path::Path;

use fathom_diagnostics::Diagnostics;
use fathom_units::{Bytes, Nanos};
use fathom_workload::{Caching, Job};

use crate::denied;

/// One thing that is not written to, what was found on it, and what would be needed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The device or file, as the workload names it.
    pub path: String,
    /// What was found; at least one sentence.
    pub found: Vec<String>,
    /// What to do.
    pub remedy: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "writing to `{}` is refused", self.path)?;
        for found in &self.found {
            write!(f, "\n  found: {found}")?;
        }
        write!(f, "\n  hint: {}", self.remedy)
    }
}

/// What a job did not come to, since its trace was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceLeft {
    /// It was not replayed to its end.
    Unreplayed,
    /// Not all that it wrote was checked.
    Unchecked,
}

impl fmt::Display for TraceLeft {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unreplayed => "not all of its I/O was replayed",
            Self::Unchecked => "not all of what it wrote was checked",
        })
    }
}

/// What the kind of an error means to a caller of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitClass {
    /// The workload cannot be run as it is written (exit code 3).
    Input,
    /// Refused so that no data is lost (exit code 4).
    Refused,
    /// A target or an I/O failed (exit code 5).
    Target,
    /// This machine cannot do what is asked (exit code 8).
    Unsupported,
}

/// Who asks for what a machine cannot do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum About {
    /// The jobs of this name: clones have one.
    Job(String),
    /// Every job with this target, a path or the URI of an export.
    Target(String),
}

/// What a machine, its kernel or its user's rights may lack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Capability {
    /// Writes that are stored whole or not at all.
    AtomicWrites,
    /// I/O past the page cache.
    DirectIo,
    /// A connection to an export, or the export as it was a moment ago.
    Export,
    /// Telling how long what is written is expected to live.
    ExpectedLifetime,
    /// A ring of `io_uring`, or what only such a ring does.
    IoUring,
    /// Memory that stays in memory.
    LockedMemory,
    /// Running, or memory, on certain NUMA nodes.
    NumaNodes,
    /// Polling for completions.
    Polling,
    /// A nice value, or a priority of I/O.
    Priority,
    /// Running on certain processors.
    Processors,
    /// A target that lies elsewhere and is not mounted.
    RemoteTarget,
    /// An I/O scheduler of a disk, or switching to it.
    Scheduler,
    /// Running as another user or group.
    User,
}

/// Why a run does not take place, or ends early.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The workload and its targets do not fit together; all complaints at once.
    #[error("{0}")]
    Invalid(Diagnostics),
    /// The write guard refused.
    #[error("{}", join(.0))]
    Refused(Vec<Refusal>),
    /// Files to be laid out do not fit.
    #[error(
        "`{directory}` has {free} free, but the files to be written there need {needed}\n  hint: name a place with more room (for `quick`: `--target DIR`), ask for smaller files, or free space"
    )]
    NoSpace {
        /// A directory of the file system.
        directory: String,
        /// Bytes to be written.
        needed: Bytes,
        /// Bytes free.
        free: Bytes,
    },
    /// A target could not be used.
    #[error("`{path}`: {action}: {source}{}", hint(source, denied.as_deref()))]
    Target {
        /// The target.
        path: String,
        /// What was tried.
        action: &'static str,
        /// What the system said.
        source: io::Error,
        /// Where it did not permit it: what forbids it, and what to do.
        denied: Option<String>,
    },
    /// An export that its server does not offer.
    #[error("`{uri}`: {why}\n  hint: {remedy}")]
    Export {
        /// As it was named.
        uri: String,
        /// What is wrong with its name, or what its server says.
        why: String,
        /// What to do.
        remedy: &'static str,
    },
    /// An I/O of a job failed, and the run was to stop at the first.
    #[error(
        "job `{job}`: {direction} of {length} bytes at offset {offset} of `{path}`: {source}{}",
        io_hint(source, *caching)
    )]
    Io {
        /// The job.
        job: String,
        /// The target.
        path: String,
        /// Direction of the I/O, or `fsync`.
        direction: &'static str,
        /// First byte.
        offset: u64,
        /// Bytes.
        length: u32,
        /// How it was done.
        caching: Caching,
        /// What the system said.
        source: io::Error,
    },
    /// An operation on a file failed, and the run was to stop at the first.
    #[error(
        "job `{job}`: {operation} of `{path}`: {source}{}",
        operation_hint(source)
    )]
    Operation {
        /// The job.
        job: String,
        /// The target.
        path: String,
        /// What it was, as the record calls it.
        operation: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// An I/O of a job took longer than the job allows, and the run was to stop at the first.
    #[error(
        "job `{job}`: {direction} of {length} bytes at offset {offset} of `{path}`: it took {took}, where {limit} is the most\n  \
         hint: the target is slower than the job allows (fio: `max_latency`, `latency_target`); allow more, or lower the depth"
    )]
    TooLong {
        /// The job.
        job: String,
        /// The target.
        path: String,
        /// Direction of the I/O.
        direction: &'static str,
        /// First byte.
        offset: u64,
        /// Bytes.
        length: u32,
        /// From its submission to its completion.
        took: Nanos,
        /// The longest allowed.
        limit: Nanos,
    },
    /// A job did not keep up the rate that it was to, and failed.
    #[error(
        "job `{job}`: its {direction}s kept up {got} where {least} are the least\n  hint: the target is slower than \
         the job demands; lower the rate (fio: `rate_min`, `rate_iops_min`) or average it over more time"
    )]
    TooSlow {
        /// The job.
        job: String,
        /// Direction of the I/O.
        direction: &'static str,
        /// What it was to keep up, with its unit.
        least: String,
        /// What it did, with its unit.
        got: String,
    },
    /// The trace that a job replays was changed while the job ran.
    #[error(
        "job `{job}`: {left}: its trace `{path}` is not what it was when the job began: {why}\n  hint: leave the trace \
         alone until the job has ended, and run it again"
    )]
    TraceChanged {
        /// The job.
        job: String,
        /// The trace.
        path: String,
        /// What it did not come to.
        left: TraceLeft,
        /// What is found in it now.
        why: String,
    },
    /// What a job wrote cannot be told a second time.
    #[error(
        "job `{job}`: not all of what it wrote was checked: its order cannot be drawn again: {why}\n  hint: check it with \
         `verify_backlog`, which keeps what was written, and report this: it should not happen"
    )]
    Unchecked {
        /// The job.
        job: String,
        /// What is wrong.
        why: String,
    },
    /// What a job read is not what was written, and the run was to stop at the first.
    #[error(
        "job `{job}`: the {length} bytes at offset {offset} of `{path}` are not what was written there\n  hint: the target, or \
         what lies between, has lost or changed data, or something else has written there meanwhile"
    )]
    WrongData {
        /// The job.
        job: String,
        /// The target.
        path: String,
        /// First byte.
        offset: u64,
        /// Bytes.
        length: u32,
    },
    /// An I/O is not of whole blocks that are checked.
    #[error(
        "job `{job}`: {length} bytes at offset {offset} of `{path}` are no whole key blocks, so that they cannot be checked\n  \
         hint: use transfer sizes, ranges and hit areas that are multiples of the smallest transfer"
    )]
    Unvalidated {
        /// The job.
        job: String,
        /// The target.
        path: String,
        /// First byte.
        offset: u64,
        /// Bytes.
        length: u32,
    },
    /// The machine cannot do what is asked.
    #[error("{what}: {why}\n  hint: {remedy}")]
    Unsupported {
        /// What it lacks.
        capability: Capability,
        /// Who asks.
        about: About,
        /// What is asked, in words for people.
        what: String,
        /// Why it cannot be.
        why: String,
        /// What to do.
        remedy: String,
    },
}

impl EngineError {
    /// What it means to a caller of the program.
    pub fn exit_class(&self) -> ExitClass {
        match self {
            Self::Invalid(_) => ExitClass::Input,
            Self::Refused(_) => ExitClass::Refused,
            Self::NoSpace { .. }
            | Self::Target { .. }
            | Self::Export { .. }
            | Self::Io { .. }
            | Self::Operation { .. }
            | Self::TooLong { .. }
            | Self::TooSlow { .. }
            | Self::TraceChanged { .. }
            | Self::Unchecked { .. }
            | Self::WrongData { .. }
            | Self::Unvalidated { .. } => ExitClass::Target,
            Self::Unsupported { .. } => ExitClass::Unsupported,
        }
    }

    /// Linux's number for it: the system's own where it said one.
    pub fn errno(&self) -> i32 {
        const EPERM: i32 = 1;
        const ENOENT: i32 = 2;
        const EIO: i32 = 5;
        const EINVAL: i32 = 22;
        const ENOSPC: i32 = 28;
        const EOPNOTSUPP: i32 = 95;
        match self {
            Self::Invalid(_) => EINVAL,
            Self::Refused(_) => EPERM,
            Self::NoSpace { .. } => ENOSPC,
            Self::Export { .. } => ENOENT,
            Self::Unsupported { .. } => EOPNOTSUPP,
            Self::Target { source, .. }
            | Self::Io { source, .. }
            | Self::Operation { source, .. } => source.raw_os_error().unwrap_or(EIO),
            _ => EIO,
        }
    }

    /// Whether it is about this job; `false` of all jobs where it does not say.
    pub fn is_about(&self, job: &Job) -> bool {
        let has = |path: &str| {
            let mut targets = job.targets.iter();
            targets.any(|target| target.place.path() == path)
        };
        match self {
            Self::Invalid(complaints) => {
                let mut subjects = complaints.0.iter().filter_map(|it| it.subject.as_ref());
                subjects.any(|it| it.owner == job.name || has(&it.value))
            }
            Self::Refused(refusals) => refusals.iter().any(|refusal| has(&refusal.path)),
            Self::NoSpace { directory, .. } => {
                let mut targets = job.targets.iter();
                targets.any(|target| Path::new(target.place.path()).starts_with(directory))
            }
            Self::Export { uri: path, .. } | Self::Target { path, .. } => has(path),
            Self::Io { job: name, .. }
            | Self::Operation { job: name, .. }
            | Self::TooLong { job: name, .. }
            | Self::TooSlow { job: name, .. }
            | Self::TraceChanged { job: name, .. }
            | Self::Unchecked { job: name, .. }
            | Self::WrongData { job: name, .. }
            | Self::Unvalidated { job: name, .. } => *name == job.name,
            Self::Unsupported { about, .. } => match about {
                About::Job(name) => *name == job.name,
                About::Target(path) => has(path),
            },
        }
    }

    pub(crate) fn target(path: &str, action: &'static str, source: io::Error) -> Self {
        Self::Target {
            path: path.to_owned(),
            action,
            denied: denied::remedy(Path::new(path), &source),
            source,
        }
    }
}

/// What to do about what the system said, where that is known.
fn hint(source: &io::Error, denied: Option<&str>) -> String {
    /// `ENFILE` and `EMFILE`.
    const TOO_MANY_OPEN: [i32; 2] = [23, 24];
    if source
        .raw_os_error()
        .is_some_and(|code| TOO_MANY_OPEN.contains(&code))
    {
        return "\n  hint: every worker keeps all its files open; use fewer files or workers, or raise the \
                limit of open files (`ulimit -Hn`)"
            .to_owned();
    }
    let hint = match source.kind() {
        io::ErrorKind::TimedOut => {
            "see whether the storage, its server and the way to it are still there"
        }
        io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionAborted => {
            "see whether the server is still there, and what it says; once it serves again, run again"
        }
        io::ErrorKind::PermissionDenied => {
            denied.unwrap_or("name a target that you may use, or run as a user who may")
        }
        io::ErrorKind::ReadOnlyFilesystem => "name a target on a writable file system",
        io::ErrorKind::StorageFull => "free space, or use smaller files",
        io::ErrorKind::FileTooLarge => {
            "use smaller files, or raise the limit of their size: that of this shell (`ulimit -f`), or of the \
             file system"
        }
        io::ErrorKind::InvalidInput => {
            "direct I/O needs sizes and offsets in whole blocks of the device (512 or 4,096 bytes)"
        }
        _ => return String::new(),
    };
    format!("\n  hint: {hint}")
}

/// The same for an I/O.
fn io_hint(source: &io::Error, caching: Caching) -> String {
    // What `hint` knows of it is about direct I/O.
    if source.kind() == io::ErrorKind::InvalidInput && caching == Caching::Buffered {
        return "\n  hint: the file system or the device takes no such I/O there; use other offsets or sizes, or name \
                another target"
            .to_owned();
    }
    hint(source, None)
}

/// The same for operations on files.
fn operation_hint(source: &io::Error) -> String {
    let remedy = match source.kind() {
        io::ErrorKind::NotFound => "make it first, by a stage before or another tool",
        io::ErrorKind::AlreadyExists => "remove it first, or name another",
        io::ErrorKind::DirectoryNotEmpty => "empty it first, or name another",
        io::ErrorKind::Unsupported => "name a target on a file system that does this",
        // What `hint` knows of it is about direct I/O.
        io::ErrorKind::InvalidInput => return String::new(),
        _ => return hint(source, None),
    };
    format!("\n  hint: {remedy}")
}

fn join(refusals: &[Refusal]) -> String {
    let texts: Vec<_> = refusals.iter().map(ToString::to_string).collect();
    texts.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(caching: Caching, expected: &str) {
        const EINVAL: i32 = 22;
        let error = EngineError::Io {
            job: "j".to_owned(),
            path: "f".to_owned(),
            direction: "read",
            offset: 0,
            length: 512,
            caching,
            source: io::Error::from_raw_os_error(EINVAL),
        };
        let text = error.to_string();
        let (_, hint) = text.split_once("hint: ").unwrap_or_default();
        assert!(hint.starts_with(expected), "{text}");
    }

    #[test]
    fn blocks_are_a_matter_of_direct_io() {
        check(Caching::Direct, "direct I/O needs");
        check(Caching::Buffered, "the file system or the device");
    }
}
