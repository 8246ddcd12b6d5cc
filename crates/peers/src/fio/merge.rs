//! `--merge-blktrace-only`: binary traces as one, in the order of their times.
//!
//! Invariant: the merged trace is whole, or there is none: it gets its name once it is written.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use fathom_dialects::fio::{Files as _, SystemFiles, TraceMerge};
use fathom_session::{Code, Failure};
use fathom_workload::trace::{MergeError, merge_blktraces};

/// What the file is called until it is whole.
const UNFINISHED: &str = ".unfinished";

/// Merges what `asked` names.
///
/// # Errors
/// Where a trace cannot be read, or the merged one not be written.
pub fn merge(asked: &TraceMerge) -> Result<(), Failure> {
    let into = &asked.into;
    let unwritable = |error: &dyn std::fmt::Display| {
        Failure::new(Code::Target, format!("`{into}` cannot be written: {error}"))
    };
    let path = format!("{into}{UNFINISHED}");
    let file = File::create(&path).map_err(|error| unwritable(&error))?;
    let open = |number: usize| SystemFiles.open(&asked.traces[number]);
    let merged = merge_blktraces(&open, &asked.passes, &mut BufWriter::new(file));
    let named = merged
        .map_err(|(number, error)| match error {
            MergeError::Write(error) => unwritable(&error),
            error => {
                let message = format!("trace `{}`: {error}", asked.traces[number]);
                Failure::new(Code::Input, message)
                    .hint("blktrace's output becomes such a trace by `blkparse -d FILE`")
            }
        })
        .and_then(|_| std::fs::rename(&path, into).map_err(|error| unwritable(&error)));
    if named.is_err() && Path::new(&path).exists() {
        // The failure that is told is the one before it.
        let _ = std::fs::remove_file(&path);
    }
    named
}
