//! fio's log files, written as a run tells of its I/O.
//!
//! A file is made before the first I/O and added to with each chunk, so that a run that dies leaves all but the last of
//! it. Files are opened for each addition alone: a thousand jobs with five logs each need no five thousand descriptors.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};

use fathom_dialects::fio::{FioInput, JobLogs, LogFile, LogLines};
use fathom_record::LogChunk;
use flate2::Compression;
use flate2::write::ZlibEncoder;

/// The logs of all jobs of an input.
pub struct Logs<'a> {
    input: &'a FioInput,
    /// By job of the input.
    lines: BTreeMap<usize, LogLines<'a>>,
    problem: Option<String>,
}

impl<'a> Logs<'a> {
    /// Makes the files, empty but for those that are added to.
    pub fn new(input: &'a FioInput) -> Self {
        let mut logs = Self {
            input,
            lines: BTreeMap::new(),
            problem: None,
        };
        for job in &input.jobs {
            for file in &job.logs.files {
                let mut options = OpenOptions::new();
                options.create(true).write(true);
                options.append(job.logs.append).truncate(!job.logs.append);
                logs.keep(file, options.open(&file.path).map(drop));
            }
        }
        logs
    }

    /// Takes what the `job`th job of the input tells; its measurement began at `begun_unix_ms`.
    pub fn take(&mut self, job: usize, begun_unix_ms: u64, chunk: &LogChunk) {
        let Some(meta) = self.input.jobs.get(job) else {
            return;
        };
        let lines = self.lines.entry(job);
        let lines = lines.or_insert_with(|| LogLines::new(&meta.logs, begun_unix_ms));
        let texts = lines.take(chunk);
        self.write(&meta.logs, &texts);
    }

    /// Writes what is left; the first thing that could not be written, if any.
    pub fn finish(mut self) -> Option<String> {
        for (job, mut lines) in std::mem::take(&mut self.lines) {
            let input = self.input;
            self.write(&input.jobs[job].logs, &lines.finish());
        }
        self.problem
    }

    fn write(&mut self, logs: &JobLogs, texts: &[String]) {
        for (file, text) in logs.files.iter().zip(texts) {
            if text.is_empty() {
                continue;
            }
            let opened = OpenOptions::new().append(true).open(&file.path);
            let written = opened.and_then(|opened| add(opened, text, logs.compressed));
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
        _ => "free space, or name another file",
    };
    format!("the log `{path}` cannot be written: {error}\n  hint: {hint}")
}

/// Adds text to a file; compressed, as a zlib stream of its own.
fn add(mut file: File, text: &str, compressed: bool) -> std::io::Result<()> {
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
