//! How runs are named and ordered: `last`, `last~1`, and counters after the kind.

use super::{RunEntry, StoreError};

/// How many runs before the newest `name` stands for: none for `last`, 2 for `last~2`; `None` for names of other kinds.
pub(super) fn before_last(name: &str) -> Result<Option<usize>, StoreError> {
    match name.strip_prefix("last") {
        Some("") => Ok(Some(0)),
        Some(count) if count.starts_with('~') => {
            let digits = &count[1..];
            let is_number =
                !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
            // What is more than can be counted is more than there is.
            let count = is_number.then(|| digits.parse().unwrap_or(usize::MAX));
            count.map(Some).ok_or_else(|| StoreError::NoCount {
                name: name.to_owned(),
            })
        }
        _ => Ok(None),
    }
}

/// The run that stands `count` before the last of `runs`, which is called `name`.
pub(super) fn from_last(
    mut runs: Vec<RunEntry>,
    name: &str,
    count: usize,
) -> Result<RunEntry, StoreError> {
    let stored = runs.len();
    match stored
        .checked_sub(count)
        .and_then(|left| left.checked_sub(1))
    {
        Some(index) => Ok(runs.swap_remove(index)),
        None if stored == 0 => Err(StoreError::Empty),
        None => Err(StoreError::TooFew {
            name: name.to_owned(),
            stored,
        }),
    }
}

/// Orders `…-run-2` before `…-run-10`.
pub(super) fn natural(id: &str) -> (String, u32) {
    let split = id
        .rsplit_once('-')
        .and_then(|(base, last)| Some((base, last.parse::<u32>().ok()?)));
    // A date's own digits are part of the name: only a counter after the kind counts.
    match split {
        Some((base, counter)) if base.ends_with(|c: char| c.is_ascii_alphabetic()) => {
            (base.to_owned(), counter)
        }
        _ => (id.to_owned(), 1),
    }
}
