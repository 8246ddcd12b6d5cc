//! Work on a file set: operations on its directories and files, and I/O inside its files.
//!
//! A worker does one thing at a time. What it does next is drawn by [`crate::generator::SetStream`], from the same rules
//! on real and on modelled storage.

use fathom_units::{Iops, Percent};

use crate::{Direction, Mix, Poisson};

/// What a job does on a file set, in place of I/O on files of their own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileWork {
    /// What is done.
    pub task: FileTask,
    /// How the next file or directory is chosen.
    pub choice: SetChoice,
    /// Whether each is chosen once; the job ends then.
    pub once: bool,
    /// When a file that is read or written is left for another; `None`: after as many bytes as it has.
    pub stop_after: Option<StopAfter>,
    /// Remove a file before it is written sequentially.
    pub delete_first: bool,
    /// Let several workers use one file at a time.
    pub shared: bool,
    /// Requests a second of all workers of the job together; `None`: as fast as they go.
    pub rate: Option<SetRate>,
}

impl FileWork {
    /// This task on files at random, as fast as it goes.
    pub const fn new(task: FileTask) -> Self {
        Self {
            task,
            choice: SetChoice::Random,
            once: false,
            stop_after: None,
            delete_first: false,
            shared: false,
            rate: None,
        }
    }
}

/// What is done on a file set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileTask {
    /// Make a directory that is not there.
    MakeDirectory,
    /// Remove an empty directory.
    RemoveDirectory,
    /// Make an empty file that is not there.
    Create,
    /// Remove a file.
    Delete,
    /// Open a file for reading, and close it.
    Open,
    /// Open a file for writing, and close it.
    Close,
    /// Open a complete file, read blocks of it, and close it.
    Read,
    /// Open a file, write blocks of it, and close it. Sequential writes make a file that is not there.
    Write,
    /// The same with reads and writes as the job's mix has it, of complete files.
    ReadWrite,
    /// Ask whether a file may be read (`access`).
    Access,
    /// Ask for a file's attributes (`stat`).
    GetAttributes,
    /// Change a file's time of modification (`utimensat`).
    SetAttributes,
    /// Copy a complete file to the one of the same number in the job's second file set.
    Copy,
    /// Rename a complete file to the one of the same number in the job's second file set.
    Move,
    /// Make what is to be there, once.
    Format(SetFormat),
}

/// What of a file set is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetFormat {
    /// Everything, after what is there was removed.
    Anew,
    /// What is missing; files that are too short are written again.
    Complete,
    /// Directories alone, those that are missing.
    Directories,
    /// Nothing: what is there is removed.
    Clean,
}

/// How the next file or directory of a set is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetChoice {
    /// All alike.
    Random,
    /// One after another, over all workers on the set.
    Sequential,
    /// The list of files is divided into bands; which band is a Poisson draw of this mean, 1 to 100.
    Poisson(u32),
}

/// When a file is left for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopAfter {
    /// After this many I/Os; at least 1.
    Ios(u64),
    /// After this share of the file's bytes.
    Share(Percent),
}

/// A rate that all workers of a job share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SetRate {
    /// Requests a second; above 0.
    pub rate: Iops,
    /// The gaps between them.
    pub process: Poisson,
}

/// An operation on a directory or file of a set, as it is counted. Reads and writes are counted by direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum SetOperation {
    /// `mkdir`.
    MakeDirectory,
    /// `rmdir`.
    RemoveDirectory,
    /// The `open` that makes a file.
    Create,
    /// `unlink`.
    Delete,
    /// `open` of a file that is there.
    Open,
    /// `close`.
    Close,
    /// `access`.
    Access,
    /// `stat`.
    GetAttributes,
    /// `utimensat`.
    SetAttributes,
    /// All of a copy: opening, reading, writing and closing, which are counted by themselves too.
    Copy,
    /// `rename`.
    Move,
}

impl SetOperation {
    /// All operations, in the order of their numbers.
    pub const ALL: [Self; 11] = [
        Self::MakeDirectory,
        Self::RemoveDirectory,
        Self::Create,
        Self::Delete,
        Self::Open,
        Self::Close,
        Self::Access,
        Self::GetAttributes,
        Self::SetAttributes,
        Self::Copy,
        Self::Move,
    ];

    /// Its name in records, the key of `meta`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::MakeDirectory => "mkdir",
            Self::RemoveDirectory => "rmdir",
            Self::Create => "create",
            Self::Delete => "delete",
            Self::Open => "open",
            Self::Close => "close",
            Self::Access => "access",
            Self::GetAttributes => "getattr",
            Self::SetAttributes => "setattr",
            Self::Copy => "copy",
            Self::Move => "move",
        }
    }
}

impl FileTask {
    /// The operations that it may do.
    pub fn operations(self, delete_first: bool) -> Vec<SetOperation> {
        use SetOperation as Op;
        let mut all = match self {
            Self::MakeDirectory | Self::Format(SetFormat::Directories) => vec![Op::MakeDirectory],
            Self::RemoveDirectory => vec![Op::RemoveDirectory],
            Self::Create => vec![Op::Create, Op::Close],
            Self::Delete => vec![Op::Delete],
            Self::Open | Self::Close | Self::Read | Self::ReadWrite => vec![Op::Open, Op::Close],
            Self::Write => vec![Op::Create, Op::Open, Op::Close],
            Self::Access => vec![Op::Access],
            Self::GetAttributes => vec![Op::GetAttributes],
            Self::SetAttributes => vec![Op::SetAttributes],
            Self::Copy => vec![Op::Create, Op::Delete, Op::Open, Op::Close, Op::Copy],
            Self::Move => vec![Op::Delete, Op::Move],
            Self::Format(SetFormat::Clean) => vec![Op::Delete, Op::RemoveDirectory],
            Self::Format(SetFormat::Complete) => {
                vec![Op::MakeDirectory, Op::Create, Op::Open, Op::Close]
            }
            Self::Format(SetFormat::Anew) => vec![
                Op::MakeDirectory,
                Op::RemoveDirectory,
                Op::Create,
                Op::Delete,
                Op::Close,
            ],
        };
        if delete_first && !all.contains(&Op::Delete) {
            all.push(Op::Delete);
        }
        all
    }

    /// The operation that is asked for, and counts as a request; `None` where requests are I/Os.
    pub const fn asked(self) -> Option<SetOperation> {
        use SetOperation as Op;
        match self {
            Self::MakeDirectory => Some(Op::MakeDirectory),
            Self::RemoveDirectory => Some(Op::RemoveDirectory),
            Self::Create => Some(Op::Create),
            Self::Delete => Some(Op::Delete),
            Self::Open => Some(Op::Open),
            Self::Close => Some(Op::Close),
            Self::Access => Some(Op::Access),
            Self::GetAttributes => Some(Op::GetAttributes),
            Self::SetAttributes => Some(Op::SetAttributes),
            Self::Copy => Some(Op::Copy),
            Self::Move => Some(Op::Move),
            Self::Read | Self::Write | Self::ReadWrite | Self::Format(_) => None,
        }
    }

    /// Whether data moves this way; `mix` is that of the job.
    pub fn moves(self, way: Direction, mix: Mix) -> bool {
        match (self, way) {
            (Self::ReadWrite, _) => mix.share(way) > Percent::ZERO,
            (Self::Read | Self::Copy, Direction::Read)
            | (
                Self::Write | Self::Copy | Self::Format(SetFormat::Anew | SetFormat::Complete),
                Direction::Write,
            ) => true,
            _ => false,
        }
    }

    /// Whether it changes anything on storage.
    pub const fn changes(self) -> bool {
        !matches!(
            self,
            Self::Open | Self::Read | Self::Access | Self::GetAttributes
        )
    }

    /// Whether it may make files or directories.
    pub const fn makes(self) -> bool {
        matches!(
            self,
            Self::MakeDirectory
                | Self::Create
                | Self::Write
                | Self::Copy
                | Self::Move
                | Self::Format(SetFormat::Anew | SetFormat::Complete | SetFormat::Directories)
        )
    }

    /// Whether the job has a second set, that files go to.
    pub const fn has_second(self) -> bool {
        matches!(self, Self::Copy | Self::Move)
    }
}
