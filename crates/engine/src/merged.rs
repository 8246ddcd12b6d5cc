//! Binary traces as one, which is then replayed.
//!
//! Invariant: a merged trace is whole, or there is none: it gets its name once it is written.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use fathom_diagnostics::{Diagnostic, Diagnostics};
use fathom_rawio::{Begin, look_for_results, open_results};
use fathom_workload::trace::{MergeError, merge_blktraces};
use fathom_workload::{TracePart, Workload};

use crate::{EngineError, guard};

/// What the file is called until it is whole.
const UNFINISHED: &str = ".unfinished";
/// Bytes of a trace that are read at a time.
const BUFFER_BYTES: usize = 1 << 18;
pub(crate) const HINT: &str = "blktrace's output becomes such a trace by `blkparse -d FILE`";

/// Opens a trace that is to be merged: it is read once for each of its passes, so it must be a file.
pub(crate) fn open(path: &str) -> io::Result<Box<dyn BufRead + Send>> {
    let file = File::open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    Ok(Box::new(BufReader::with_capacity(BUFFER_BYTES, file)))
}

/// Makes `into` of `parts`.
///
/// # Errors
/// Where one of them cannot be read, or `into` not be written.
pub fn merge_traces(parts: &[TracePart], into: &str) -> Result<(), EngineError> {
    let unwritable = |error| guard::unwritten(into, "writing the merged trace", error);
    look_for_results(Path::new(into))
        .and_then(|()| writable(into))
        .map_err(unwritable)?;
    // A link stays one, and its file is made anew.
    let place = fs::canonicalize(into).unwrap_or_else(|_| into.into());
    let mut unfinished = place.clone().into_os_string();
    unfinished.push(UNFINISHED);
    let file = open_results(Path::new(&unfinished), Begin::Emptied).map_err(unwritable)?;
    let merged = merge_blktraces(&open, parts, &mut BufWriter::new(file));
    let named = merged
        .map_err(|error| match error {
            MergeError::Write(error) => unwritable(error),
            error @ MergeError::Part { .. } => {
                let error = Diagnostic::error(error.to_string()).hint(HINT);
                EngineError::Invalid(Diagnostics(vec![error]))
            }
        })
        .and_then(|()| fs::rename(&unfinished, &place).map_err(unwritable));
    if named.is_err() {
        // The failure that is told is the one before it.
        let _ = fs::remove_file(&unfinished);
    }
    named
}

/// Makes what the jobs of `workload` replay and is not there yet, each once.
pub(crate) fn make_all(workload: &Workload) -> Result<(), EngineError> {
    for (index, (into, parts)) in wanted(workload).enumerate() {
        if !wanted(workload).take(index).any(|(other, _)| other == into) {
            merge_traces(parts, into)?;
        }
    }
    Ok(())
}

/// Adds to `problems` what of the merges of `workload` cannot be.
pub(crate) fn check_all(workload: &Workload, problems: &mut Diagnostics) {
    for (index, (into, parts)) in wanted(workload).enumerate() {
        let mut complain = |what: &str| {
            let text = format!("merged trace `{into}`: {what}");
            problems.push(Diagnostic::error(text).hint("merge into another file"));
        };
        if let Some((_, others)) = wanted(workload)
            .take(index)
            .find(|(other, _)| *other == into)
        {
            if others != parts {
                complain("another job merges other traces into it");
            }
            continue;
        }
        if parts.iter().any(|part| part.path == into) {
            complain("it is one of the traces that are merged");
        }
        if let Err(error) = writable(into) {
            complain(&error.to_string());
        }
    }
}

/// Where a merged trace stands that is not whole yet.
pub(crate) fn unfinished(into: &str) -> String {
    format!("{into}{UNFINISHED}")
}

/// What is merged, and into what, by each job that replays it.
pub(crate) fn wanted(workload: &Workload) -> impl Iterator<Item = (&str, &[TracePart])> {
    workload.jobs().filter_map(|(_, job)| {
        let replay = job.features.replay.as_ref()?;
        let parts = &replay.merged[..];
        (!parts.is_empty()).then_some((replay.path.as_str(), parts))
    })
}

/// Whether a trace may take the place of what is there: of a regular file alone. Block devices are the write guard's to refuse.
fn writable(path: &str) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(found) if !found.is_file() && !found.file_type().is_block_device() => {
            Err(io::Error::other("it is no regular file"))
        }
        _ => Ok(()),
    }
}
