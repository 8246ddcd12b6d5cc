//! Stored runs as a user names them.

use fathom_record::Record;
use fathom_runs::{Limits, RunEntry, Store, StoreError, find};

use crate::{Code, Failure, unread};

/// Every stored run of the user, the oldest first.
///
/// # Errors
/// A store that cannot be found or read.
pub fn stored_runs() -> Result<Vec<RunEntry>, Failure> {
    let store = Store::of_user(|name| std::env::var(name).ok());
    let runs = store.and_then(|store| store.list());
    runs.map_err(|error| failure(&error))
}

fn failure(error: &StoreError) -> Failure {
    let code = match error {
        StoreError::NoHome => Code::Target,
        StoreError::Io { .. } if error.place_hint().is_some() => Code::Target,
        StoreError::Io { .. }
        | StoreError::NotFound { .. }
        | StoreError::NoRun { .. }
        | StoreError::Empty
        | StoreError::TooFew { .. }
        | StoreError::NoCount { .. }
        | StoreError::Ambiguous { .. }
        | StoreError::OtherSchema { .. }
        | StoreError::BadRecord { .. }
        | StoreError::TooLarge { .. } => Code::Input,
        StoreError::BadLimit { .. } => Code::Usage,
    };
    match error {
        // A path that was named is a file like any other.
        StoreError::Io { path, source } if code == Code::Input => {
            unread("the record ", path, source)
        }
        _ => Failure::new(code, error).hint(error.hint()),
    }
}

/// Whether the limits of the store are set to what can be kept: known before a run, not when it cannot be stored.
///
/// # Errors
/// A limit that is none.
pub fn check_limits() -> Result<(), Failure> {
    let limits = Limits::of_environment(|name| std::env::var(name).ok());
    limits.map(|_| ()).map_err(|error| failure(&error))
}

/// The record of a run, by its id, path, `last` or `last~1`.
///
/// # Errors
/// There is no such record, or no store.
pub fn stored(run: &str) -> Result<Record, Failure> {
    named(run).map(|(_, record)| record)
}

/// The record of a run, with what the run is called later too: the id that `last` stands for, or the name as given.
///
/// # Errors
/// As of [`stored`].
pub fn named(run: &str) -> Result<(String, Record), Failure> {
    let found = find(run, |name| std::env::var(name).ok());
    found.map_err(|error| failure(&error))
}
