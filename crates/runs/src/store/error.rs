//! What can go wrong with stored runs, and what to do about it.

use std::io;
use std::path::{Path, PathBuf};

use fathom_record::SCHEMA;

use super::PLACE;
use super::document::PIPED_MOST;
use crate::{Limits, files};

/// A run could not be stored or found.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// No folder for user data is known.
    #[error(
        "no folder for runs is known: neither XDG_DATA_HOME nor HOME names one by its whole path"
    )]
    NoHome,
    /// A file of the store could not be read or written, or the record at a path could not be read.
    #[error("`{path}`: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// No run has that name.
    #[error("no run is called `{name}`")]
    NotFound {
        /// The id or prefix asked for.
        name: String,
    },
    /// A folder that was named is none of a run.
    #[error(
        "the folder `{folder}` holds no run: neither `{}` nor `{}` of one is in it",
        files::RECORD,
        files::EVENTS
    )]
    NoRun {
        /// The folder.
        folder: PathBuf,
    },
    /// There is no newest run.
    #[error("no runs are stored yet")]
    Empty,
    /// There are not so many runs before the newest.
    #[error("there is no `{name}`: {stored} {} stored", if *stored == 1 { "run is" } else { "runs are" })]
    TooFew {
        /// What was asked for.
        name: String,
        /// How many runs are stored.
        stored: usize,
    },
    /// What stands behind `last~` is no number.
    #[error("`{name}` is no run: how many runs before the last stands behind `last~`")]
    NoCount {
        /// What was asked for.
        name: String,
    },
    /// Several runs begin with that prefix.
    #[error("`{name}` may be any of {}", some_of(candidates))]
    Ambiguous {
        /// The prefix asked for.
        name: String,
        /// The ids it fits.
        candidates: Vec<String>,
    },
    /// A record is of another version, or it is another document.
    #[error(
        "`{path}` is not a record of this version: its schema is `{schema}`, expected `{SCHEMA}`"
    )]
    OtherSchema {
        /// The record.
        path: PathBuf,
        /// Its schema.
        schema: String,
    },
    /// A file holds no record.
    #[error("`{path}` is no record: {reason}")]
    BadRecord {
        /// The file.
        path: PathBuf,
        /// What was wrong.
        reason: String,
    },
    /// A file holds nothing.
    #[error("`{path}` is no record: it is empty")]
    Nothing {
        /// The file.
        path: PathBuf,
    },
    /// A record ends in its midst.
    #[error(
        "`{path}` is no whole record: it ends in line {line}, column {column}, before it is over"
    )]
    CutOff {
        /// The record.
        path: PathBuf,
        /// Its last line, from 1.
        line: usize,
        /// The last column of that.
        column: usize,
    },
    /// A pipe holds more than a record does.
    #[error("`{path}` holds no record: it goes on past {} MiB", PIPED_MOST >> 20)]
    TooLarge {
        /// The pipe.
        path: PathBuf,
    },
    /// A variable of the environment sets no limit.
    #[error("`{name}` is `{value}`: {wanted} is wanted")]
    BadLimit {
        /// The variable.
        name: &'static str,
        /// Its value.
        value: String,
        /// What it may be.
        wanted: &'static str,
    },
}

impl StoreError {
    /// What to do where the store's folder is the trouble, and not what was asked of it.
    pub fn place_hint(&self) -> Option<&'static str> {
        let is_store = match self {
            Self::NoHome => true,
            Self::Io { path, .. } => path.ancestors().any(|above| above.ends_with(PLACE)),
            _ => false,
        };
        is_store.then_some("set XDG_DATA_HOME to a folder that can be read and written")
    }

    /// What to do.
    pub fn hint(&self) -> String {
        const LIST: &str = "`fathom runs` lists the stored runs";
        if let Some(hint) = self.place_hint() {
            return hint.to_owned();
        }
        match self {
            Self::Empty => "`fathom run quick` makes one".to_owned(),
            Self::BadLimit { .. } => format!("without it, the limit is {}", Limits::default()),
            Self::NotFound { name } if Path::new(name).exists() => {
                format!("write `./{name}` for what is called so in this folder; {LIST}")
            }
            Self::NoRun { .. } => format!("name a run's folder or its `{}`; {LIST}", files::RECORD),
            Self::TooFew { stored: 1, .. } => format!("`last` is the only one; {LIST}"),
            Self::TooFew { stored, .. } => format!("`last~{}` is the oldest; {LIST}", stored - 1),
            Self::TooLarge { .. } => {
                "pipe one record into it, as `fathom report RUN --json` prints it".to_owned()
            }
            Self::Nothing { .. } => {
                format!("a run that is refused prints no record: what it told says why; {LIST}")
            }
            Self::CutOff { .. } => {
                format!(
                    "copy it again, or name the run's folder, whose seconds are read then; {LIST}"
                )
            }
            Self::OtherSchema { schema, .. } if is_record(schema) => {
                "read it with the version of Fathom that made it".to_owned()
            }
            Self::NoCount { .. } => format!("`last~1` is the run before the last; {LIST}"),
            _ => LIST.to_owned(),
        }
    }
}

/// Whether a schema is one of records, of whatever version.
fn is_record(schema: &str) -> bool {
    let name = SCHEMA.split('/').next();
    schema.split('/').next() == name
}

/// The newest few of many ids.
fn some_of(ids: &[String]) -> String {
    const SHOWN: usize = 5;
    let shown = ids[ids.len().saturating_sub(SHOWN)..].join(", ");
    match ids.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} older ones"),
    }
}
