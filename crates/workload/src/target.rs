//! What a job's I/O goes to.

use fathom_units::Bytes;

use crate::FileSet;

/// One file or device, and the part of it that is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Where it is.
    pub place: Place,
    /// First byte used.
    pub offset: Bytes,
    /// Bytes used from `offset`; `None` means to the end of what exists. A file shorter than `offset + length` is
    /// laid out to that size before it is measured.
    pub length: Option<Bytes>,
}

/// Where a target is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// A file or block device by its path, or an export of an NBD server by its URI, as the user wrote it after mapping.
    Path(String),
    /// A new file in this directory, made for the run and removed after it, whatever happens.
    FreshFileIn(String),
    /// A tree of directories and files, for jobs that work on it ([`crate::FileWork`]). Offset and length mean nothing.
    FileSet(Box<FileSet>),
}

impl Place {
    /// The path, the directory of a fresh file, or that of a file set.
    pub fn path(&self) -> &str {
        match self {
            Self::Path(path) | Self::FreshFileIn(path) => path,
            Self::FileSet(set) => &set.anchor,
        }
    }

    /// The same path to be changed.
    pub fn path_mut(&mut self) -> &mut String {
        match self {
            Self::Path(path) | Self::FreshFileIn(path) => path,
            Self::FileSet(set) => &mut set.anchor,
        }
    }

    /// Whether it is an export of an NBD server, by its URI, rightly written or not.
    pub fn is_export(&self) -> bool {
        let Self::Path(path) = self else {
            return false;
        };
        let schemes = ["nbd://", "nbds://", "nbd+unix://", "nbds+unix://"];
        schemes.iter().any(|scheme| path.starts_with(scheme))
    }

    /// The file set, where it is one.
    pub fn file_set(&self) -> Option<&FileSet> {
        match self {
            Self::FileSet(set) => Some(set),
            Self::Path(_) | Self::FreshFileIn(_) => None,
        }
    }
}

/// How a job with several targets picks one for each I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FileChoice {
    /// The next target for each I/O.
    #[default]
    RoundRobin,
    /// A target at random for each I/O.
    Random,
    /// One target to its end, then the next.
    Sequential,
}
