//! How much of the store is kept, and removing what is over it.
//!
//! Invariant: a run under way is never removed. Its writer holds a lock on the event log, which the kernel lets go however the
//! writer ends, so that nothing is left to clean up and no other process need be asked.

use std::fmt;
use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;

use fathom_units::Bytes;

use crate::files;
use crate::store::{RunEntry, StoreError};

/// How much is kept: the oldest runs go first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Most runs kept.
    pub runs: usize,
    /// Most bytes kept over all runs.
    pub bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            runs: 500,
            bytes: 2 << 30,
        }
    }
}

impl fmt::Display for Limits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let runs = match self.runs {
            usize::MAX => None,
            1 => Some("1 run".to_owned()),
            runs => Some(format!("{runs} runs")),
        };
        let bytes = (self.bytes < u64::MAX).then(|| format!("{} in all", Bytes::new(self.bytes)));
        match (runs, bytes) {
            (Some(runs), Some(bytes)) => write!(f, "{runs}, {bytes}"),
            (Some(one), None) | (None, Some(one)) => f.write_str(&one),
            (None, None) => f.write_str("none"),
        }
    }
}

impl Limits {
    /// Names the variable of the environment that holds the most runs kept.
    pub const KEEP: &str = "FATHOM_RUNS_KEEP";
    /// Names the one that holds the most bytes kept.
    pub const SIZE: &str = "FATHOM_RUNS_SIZE";
    /// The least size: a number whose unit was forgotten is of bytes, and would have every run removed.
    const LEAST: u64 = 1 << 20;
    /// The value of either that sets no limit.
    const ALL: &str = "all";

    /// What the environment sets; what it does not is as by default.
    ///
    /// # Errors
    /// [`StoreError::BadLimit`] where a value is none.
    pub fn of_environment(
        environment: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, StoreError> {
        let mut limits = Self::default();
        let set = |name: &str| environment(name).filter(|value| !value.is_empty());
        if let Some(value) = set(Self::KEEP) {
            let runs = match value.as_str() {
                Self::ALL => Some(usize::MAX),
                number => number.parse().ok().filter(|runs| *runs > 0),
            };
            let wanted = "a number of runs from 1 on, or `all`";
            limits.runs = runs.ok_or_else(|| bad(Self::KEEP, &value, wanted))?;
        }
        if let Some(value) = set(Self::SIZE) {
            let bytes = match value.as_str() {
                Self::ALL => Some(u64::MAX),
                size => (size.parse().ok().map(Bytes::get)).filter(|size| *size >= Self::LEAST),
            };
            let wanted = "a size from 1 MiB on, such as `2GiB`, or `all`";
            limits.bytes = bytes.ok_or_else(|| bad(Self::SIZE, &value, wanted))?;
        }
        Ok(limits)
    }
}

fn bad(name: &'static str, value: &str, wanted: &'static str) -> StoreError {
    StoreError::BadLimit {
        name,
        value: value.to_owned(),
        wanted,
    }
}

/// What is known of a run's writer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Writer {
    /// It writes.
    AtWork,
    /// It has ended.
    Gone,
    /// The file system has no locks.
    Unknown,
}

/// Looks whether the run in `folder` is still written.
pub(crate) fn writer_of(folder: &Path) -> Writer {
    // Shared, so that those who look do not take each other for the writer.
    let looked = File::open(folder.join(files::EVENTS)).map(|log| log.try_lock_shared());
    match looked {
        Ok(Ok(())) => Writer::Gone,
        Ok(Err(TryLockError::WouldBlock)) => Writer::AtWork,
        Ok(Err(TryLockError::Error(_))) | Err(_) => Writer::Unknown,
    }
}

/// Removes the oldest of `runs` (the oldest first) until there is room for one more, but none under way; returns in words
/// what was removed.
pub(crate) fn prune(runs: &[RunEntry], limits: Limits) -> Option<String> {
    let sizes: Vec<u64> = runs.iter().map(|run| folder_bytes(&run.folder)).collect();
    let (mut count, mut bytes) = (runs.len(), sizes.iter().sum::<u64>());
    let mut removed: Vec<&str> = Vec::new();
    let mut kept: Vec<String> = Vec::new();
    for (run, size) in runs.iter().zip(sizes) {
        if count < limits.runs && bytes < limits.bytes {
            break;
        }
        let may_go = match writer_of(&run.folder) {
            Writer::AtWork => false,
            Writer::Gone => true,
            Writer::Unknown => run.folder.join(files::RECORD).exists(),
        };
        if !may_go {
            continue;
        }
        match std::fs::remove_dir_all(&run.folder) {
            Ok(()) => removed.push(&run.id),
            // Another process was faster.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => {
                kept.push(format!("`{}` could not be removed: {error}", run.id));
                continue;
            }
        }
        count -= 1;
        bytes -= size;
    }
    told(&removed, &kept, limits)
}

fn told(removed: &[&str], kept: &[String], limits: Limits) -> Option<String> {
    let what = match removed {
        [] => None,
        [one] => Some(format!("the oldest stored run was removed (`{one}`)")),
        [first, .., last] => Some(format!(
            "the {} oldest stored runs were removed (`{first}` to `{last}`)",
            removed.len()
        )),
    };
    let first = kept.first().map(|first| match kept.len() - 1 {
        0 => first.clone(),
        more => format!("{first}, nor could {more} others"),
    });
    let what: Vec<String> = what.into_iter().chain(first).collect();
    (!what.is_empty()).then(|| {
        format!(
            "{}: the limit is {limits} ({} and {} set it)",
            what.join("; "),
            Limits::KEEP,
            Limits::SIZE
        )
    })
}

fn folder_bytes(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(Result::ok);
    entries
        .filter_map(|entry| entry.metadata().ok())
        .map(|metadata| metadata.len())
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(name: &'static str, value: &'static str) -> Result<Limits, StoreError> {
        Limits::of_environment(|asked| (asked == name).then(|| value.to_owned()))
    }

    #[test]
    fn the_environment_sets_the_limits() {
        let default = Limits::default();
        assert_eq!(Limits::of_environment(|_| None).unwrap(), default);
        assert_eq!(set(Limits::KEEP, "").unwrap(), default);
        assert_eq!(
            set(Limits::KEEP, "7").unwrap(),
            Limits { runs: 7, ..default }
        );
        assert_eq!(set(Limits::KEEP, "all").unwrap().runs, usize::MAX);
        assert_eq!(set(Limits::SIZE, "1MiB").unwrap().bytes, 1 << 20);
        assert_eq!(set(Limits::SIZE, "3MiB").unwrap().bytes, 3 << 20);
        assert_eq!(set(Limits::SIZE, "all").unwrap().bytes, u64::MAX);
        for (name, value) in [
            (Limits::KEEP, "0"),
            (Limits::KEEP, "many"),
            (Limits::KEEP, "-1"),
            (Limits::SIZE, "0"),
            (Limits::SIZE, "10"),
            (Limits::SIZE, "1023KiB"),
            (Limits::SIZE, "big"),
        ] {
            let error = set(name, value).unwrap_err().to_string();
            assert!(error.contains(name) && error.contains(value), "{error}");
        }
        assert_eq!(default.to_string(), "500 runs, 2 GiB in all");
    }
}
