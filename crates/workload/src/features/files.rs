//! What is done to files beside a job's I/O.

use crate::Direction;

/// Treatment of a job's files.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a key of its own, and any may stand with any"
)]
pub struct FileHandling {
    /// Read all of it through the page cache before the job starts.
    pub pre_read: bool,
    /// A missing file is an error, instead of being made.
    pub must_exist: bool,
    /// Directories above a file, or that of a file set, are made where they are missing; otherwise that is an error.
    pub make_parents: bool,
    /// What becomes of a missing or short file before the job.
    pub grows: Growth,
    /// `sync_file_range` after a number of writes.
    pub sync_range: Option<SyncRange>,
    /// Each pass but the first writes files of its own: those of the pass before are removed as it comes to them.
    pub made_anew: bool,
    /// `syncfs` on the file system of each file when the job's I/O is done.
    pub end_syncfs: bool,
}

/// Whether a missing or short file is what the job is there to write, so that nothing is laid out for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Growth {
    /// It is not: the file is written in full before the run.
    #[default]
    No,
    /// The job writes all of it, and later jobs count on that.
    Whole,
    /// Its space is reserved, and the job writes of it what it comes to. Later jobs count on the size that this gives it.
    Reserved(Reserve),
}

/// How the space of a file is reserved before its first write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reserve {
    /// Not at all: the file grows with what is written.
    Nothing,
    /// `fallocate`: unwritten extents, and the file has its size.
    Allocate,
    /// `fallocate` behind the end of the file, whose size grows with what is written.
    KeepSize,
    /// `ftruncate`: the file has its size and no space.
    Truncate,
}

/// A call of `sync_file_range` on all bytes written since the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SyncRange {
    /// Writes from one call to the next; at least 1.
    pub every: u32,
    /// Wait for what is being written before.
    pub wait_before: bool,
    /// Start writing.
    pub write: bool,
    /// Wait for what was started.
    pub wait_after: bool,
}

/// One operation on a file or directory in place of reads and writes. It takes the place of the direction that the job's
/// mix names, and each target gets one in each pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileOperation {
    /// Open, making the file where it is missing.
    Create,
    /// Ask for a file's attributes.
    Stat(StatCall),
    /// Remove a file.
    Delete,
    /// Make a directory.
    CreateDirectory,
    /// Ask for a directory's attributes.
    StatDirectory(StatCall),
    /// Remove a directory.
    DeleteDirectory,
    /// `fallocate` of the block: reads reserve it, writes reserve it and may make the file longer, trims punch a hole.
    Allocate,
    /// `ftruncate` to the block's offset; for writes alone.
    Truncate,
}

/// The system call that asks for attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StatCall {
    /// `stat`.
    #[default]
    Stat,
    /// `lstat`.
    Lstat,
    /// `statx` of everything.
    Statx,
}

impl FileOperation {
    /// Its name in records: the key of `meta`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Stat(_) => "stat",
            Self::Delete => "delete",
            Self::CreateDirectory => "mkdir",
            Self::StatDirectory(_) => "stat-directory",
            Self::DeleteDirectory => "rmdir",
            Self::Allocate => "fallocate",
            Self::Truncate => "ftruncate",
        }
    }

    /// The same for what it does in place of a direction: `fallocate` does another thing in each.
    pub const fn name_by(self, way: Direction) -> &'static str {
        match (self, way) {
            (Self::Allocate, Direction::Read) => "fallocate-keep-size",
            (Self::Allocate, Direction::Trim) => "punch-hole",
            (other, _) => other.name(),
        }
    }

    /// Whether it names a file or directory and opens nothing: each target gets one operation in each pass.
    pub const fn is_of_names(self) -> bool {
        !matches!(self, Self::Allocate | Self::Truncate)
    }

    /// Whether its targets are directories.
    pub const fn is_of_directories(self) -> bool {
        matches!(
            self,
            Self::CreateDirectory | Self::StatDirectory(_) | Self::DeleteDirectory
        )
    }

    /// Whether it changes what is stored.
    pub const fn changes_data(self) -> bool {
        !matches!(self, Self::Stat(_) | Self::StatDirectory(_))
    }
}
