//! fio's log files, written as a run tells of its I/O.
//!
//! A file is made before the first I/O and added to with each chunk, so that a run that dies leaves all but the last of
//! it. Files are opened for each addition alone: a thousand jobs with five logs each need no five thousand descriptors.
//! A server makes no such files: it keeps what they would hold for its client.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Write};
use std::path::Path;

use fathom_dialects::fio::{FioInput, JobLogs, LogFile, LogLines};
use fathom_rawio::{Begin, is_refusal_of_results, open_results};
use fathom_record::LogChunk;
use flate2::Compression;
use flate2::write::ZlibEncoder;

use super::spool::Spool;
use super::wire::LogPiece;

/// Where logs go.
pub enum Place<'a> {
    /// Into their files.
    Files,
    /// To the client that asked for them.
    Client(&'a mut Spool),
}

/// The logs of all jobs of an input.
pub struct Logs<'a> {
    input: &'a FioInput,
    /// By job of the input.
    lines: BTreeMap<usize, LogLines<'a>>,
    problem: Option<String>,
    place: Place<'a>,
}

impl<'a> Logs<'a> {
    /// Makes the files, empty but for those that are added to.
    pub fn new(input: &'a FioInput, place: Place<'a>) -> Self {
        let mut logs = Self {
            input,
            lines: BTreeMap::new(),
            problem: None,
            place,
        };
        for job in &input.jobs {
            for file in &job.logs.files {
                logs.begin(&job.logs, file);
            }
        }
        logs
    }

    fn begin(&mut self, logs: &JobLogs, file: &LogFile) {
        let begun = match &mut self.place {
            Place::Files => begin(&file.path, logs.append),
            Place::Client(spool) => spool.put(piece(logs, file, String::new())),
        };
        self.keep(file, begun);
    }

    /// Takes what the `job`th job of the input tells; its measurement began at `begun_unix_ms`.
    pub fn take(&mut self, job: usize, begun_unix_ms: u64, chunk: &LogChunk) {
        let Some(meta) = self.input.jobs.get(job) else {
            return;
        };
        let lines = self.lines.entry(job);
        let lines = lines.or_insert_with(|| LogLines::new(&meta.logs, begun_unix_ms));
        let texts = lines.take(chunk);
        self.write(&meta.logs, texts);
    }

    /// Writes what is left; the first thing that could not be written, if any.
    pub fn finish(mut self) -> Option<String> {
        for (job, mut lines) in std::mem::take(&mut self.lines) {
            let input = self.input;
            self.write(&input.jobs[job].logs, lines.finish());
        }
        self.problem
    }

    fn write(&mut self, logs: &JobLogs, texts: Vec<String>) {
        for (file, text) in logs.files.iter().zip(texts) {
            if text.is_empty() {
                continue;
            }
            let written = match &mut self.place {
                Place::Files => add(&file.path, &text, logs.compressed),
                Place::Client(spool) => spool.put(piece(logs, file, text)),
            };
            self.keep(file, written);
        }
    }

    fn keep(&mut self, file: &LogFile, result: std::io::Result<()>) {
        if let Err(error) = result {
            self.problem
                .get_or_insert_with(|| unwritten(&file.path, &error));
        }
    }
}

/// What is said of a log that is not whole.
pub fn unwritten(path: &str, error: &std::io::Error) -> String {
    let hint = match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => "make its directory, or name another",
        _ if is_refusal_of_results(error) => "name another file in its place",
        _ => "free space, or name another file",
    };
    format!("the log `{path}` cannot be written: {error}\n  hint: {hint}")
}

fn piece(logs: &JobLogs, file: &LogFile, text: String) -> LogPiece {
    LogPiece {
        path: file.path.clone(),
        text,
        compressed: logs.compressed,
        append: logs.append,
    }
}

/// Makes a log's file, empty but where it is added to.
pub fn begin(path: &str, append: bool) -> std::io::Result<()> {
    let begin = if append { Begin::AtEnd } else { Begin::Emptied };
    open_results(Path::new(path), begin).map(drop)
}

/// Adds text to a log's file; compressed, as a zlib stream of its own.
pub fn add(path: &str, text: &str, compressed: bool) -> std::io::Result<()> {
    let mut file = open_results(Path::new(path), Begin::AtEndOfExisting)?;
    if !compressed {
        return file.write_all(text.as_bytes());
    }
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes())?;
    file.write_all(&encoder.finish()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_to_do_follows_from_what_is_wrong() {
        for (kind, hint) in [
            (
                ErrorKind::NotFound,
                "hint: make its directory, or name another",
            ),
            (
                ErrorKind::StorageFull,
                "hint: free space, or name another file",
            ),
        ] {
            let told = unwritten("p/x_bw.1.log", &kind.into());
            assert!(told.ends_with(hint), "{told}");
        }
    }
}
