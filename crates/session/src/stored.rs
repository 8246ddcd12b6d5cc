//! The user's stored runs, and what is told where they cannot be had.

use fathom_record::Record;
use fathom_runs::{Limits, Store, StoreError, find};

use crate::{Code, Failure, unread};

/// The store of the user.
///
/// # Errors
/// There is no place for it, or its limits are none.
pub fn user_store() -> Result<Store, Failure> {
    Store::of_user(|name| std::env::var(name).ok()).map_err(|error| store_failure(&error))
}

/// Why a stored run cannot be had, with its exit code.
pub fn store_failure(error: &StoreError) -> Failure {
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
        | StoreError::Nothing { .. }
        | StoreError::CutOff { .. }
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
/// A variable of the environment sets no limit.
pub fn check_limits() -> Result<(), Failure> {
    let limits = Limits::of_environment(|name| std::env::var(name).ok());
    limits.map(|_| ()).map_err(|error| store_failure(&error))
}

/// The record of a run, by its id, path, `last` or `last~1`, with what the run is called later too: the id that `last` stands
/// for, or the name as given.
///
/// # Errors
/// There is no such record, or no store.
pub fn named_record(run: &str) -> Result<(String, Record), Failure> {
    let found = find(run, |name| std::env::var(name).ok());
    found.map_err(|error| store_failure(&error))
}
