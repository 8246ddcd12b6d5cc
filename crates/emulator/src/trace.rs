//! A trace of what was served: a line for each I/O, in the order of answers.
//!
//! The header names the columns: `arrival_ns,volume,op,offset,length,due_ns,done_ns,limit`. Times count from the start of
//! serving, in the client's moments: when it sent the request, when the model was done with it, and when it could have the
//! answer. `op` is `read`, `write`, `zeroes`, `trim` or `flush`, with `+fua` behind `write` and `zeroes` that were made durable;
//! `limit` is the limit that was waited for longest, empty where none was. A name with a comma, a quote or a line end stands in
//! quotes, with quotes doubled.
//!
//! A thread of its own writes. Invariant: the trace is whole; a file that cannot be written as fast as I/O is served slows
//! serving down, and one that fails ends the trace and is told.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use fathom_model::Limit;
use fathom_nbd::Command;
use fathom_units::Nanos;

/// The first line.
const HEADER: &str = "arrival_ns,volume,op,offset,length,due_ns,done_ns,limit";
/// Entries handed over at once.
const CHUNK: usize = 1024;
/// Chunks that may wait for the file.
const CHUNKS: usize = 256;

/// One I/O.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry {
    pub arrival: Nanos,
    pub export: u32,
    pub command: Command,
    /// Whether it was durable when it was answered.
    pub fua: bool,
    pub offset: u64,
    pub length: u32,
    pub due: Nanos,
    pub done: Nanos,
    pub limit: Option<Limit>,
}

/// What fills a trace.
#[derive(Debug)]
pub(crate) struct Tracer {
    chunk: Vec<Entry>,
    chunks: SyncSender<Vec<Entry>>,
}

/// What writes it.
#[derive(Debug)]
pub(crate) struct TraceFile(JoinHandle<io::Result<()>>);

/// A trace in a new file; `names` are those of the exports.
pub(crate) fn trace<'a>(
    path: &Path,
    names: impl Iterator<Item = &'a str>,
) -> io::Result<(Tracer, TraceFile)> {
    let mut file = BufWriter::new(File::create_new(path)?);
    writeln!(file, "{HEADER}")?;
    let names: Vec<String> = names.map(quoted).collect();
    let (chunks, coming) = sync_channel(CHUNKS);
    let thread = std::thread::Builder::new().name("trace".to_owned());
    let thread = thread.spawn(move || write(file, &names, &coming))?;
    let tracer = Tracer {
        chunk: Vec::with_capacity(CHUNK),
        chunks,
    };
    Ok((tracer, TraceFile(thread)))
}

impl Tracer {
    /// Adds an I/O.
    #[inline]
    pub fn add(&mut self, entry: Entry) {
        self.chunk.push(entry);
        if self.chunk.len() >= CHUNK {
            self.flush();
        }
    }

    /// Hands over what there is.
    pub fn flush(&mut self) {
        let chunk = std::mem::replace(&mut self.chunk, Vec::with_capacity(CHUNK));
        // A file that failed takes no more; its error is told at the end.
        let _ = self.chunks.send(chunk);
    }
}

impl Drop for Tracer {
    fn drop(&mut self) {
        self.flush();
    }
}

impl TraceFile {
    /// Waits until all is written, after its [`Tracer`] has gone.
    pub fn finish(self) -> io::Result<()> {
        let ended = self.0.join();
        ended.map_err(|_| io::Error::other("its writer ended early"))?
    }
}

fn quoted(name: &str) -> String {
    if name.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", name.replace('"', "\"\""))
    } else {
        name.to_owned()
    }
}

const fn operation(command: Command, fua: bool) -> &'static str {
    match (command, fua) {
        (Command::Read, _) => "read",
        (Command::Trim, _) => "trim",
        (Command::Flush, _) => "flush",
        (Command::WriteZeroes, false) => "zeroes",
        (Command::WriteZeroes, true) => "zeroes+fua",
        (_, false) => "write",
        (_, true) => "write+fua",
    }
}

fn write(
    mut file: BufWriter<File>,
    names: &[String],
    chunks: &Receiver<Vec<Entry>>,
) -> io::Result<()> {
    while let Ok(chunk) = chunks.recv() {
        for entry in chunk {
            let name = names.get(entry.export as usize);
            writeln!(
                file,
                "{},{},{},{},{},{},{},{}",
                entry.arrival.get(),
                name.map_or("", String::as_str),
                operation(entry.command, entry.fua),
                entry.offset,
                entry.length,
                entry.due.get(),
                entry.done.get(),
                entry.limit.map_or("", Limit::name),
            )?;
        }
        file.flush()?;
    }
    file.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_an_io_and_names_in_quotes_where_needed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("trace.csv");
        let (mut tracer, file) = trace(&path, ["a", "b,\"c"].into_iter()).unwrap();
        let all = [
            (Command::Write, false),
            (Command::Write, true),
            (Command::WriteZeroes, false),
            (Command::WriteZeroes, true),
            (Command::Read, true),
            (Command::Trim, true),
            (Command::Flush, false),
        ];
        for (export, (command, fua)) in [0, 1, 0, 0, 0, 0, 0].into_iter().zip(all) {
            tracer.add(Entry {
                arrival: Nanos::new(5),
                export,
                command,
                fua,
                offset: 4096,
                length: 512,
                due: Nanos::new(7),
                done: Nanos::new(8),
                limit: Some(Limit::DiskIops),
            });
        }
        drop(tracer);
        file.finish().unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<_> = text.lines().collect();
        let names = ["a", "\"b,\"\"c\"", "a", "a", "a", "a", "a"].into_iter();
        let told = "write write+fua zeroes zeroes+fua read trim flush";
        let told = names.zip(told.split(' '));
        let told = told.map(|(name, op)| format!("5,{name},{op},4096,512,7,8,disk-iops"));
        let expected: Vec<_> = [HEADER.to_owned()].into_iter().chain(told).collect();
        assert_eq!(lines, expected);
        assert!(trace(&path, [].into_iter()).is_err());
    }
}
