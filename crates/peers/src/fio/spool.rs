//! What a server keeps of its client's logs until the jobs are over: the client has them with the report.
//!
//! They stand in one file without a name, as the messages they are sent as: logs of every I/O need no memory, and a client
//! that takes them slowly holds no job up.

use std::fs::{File, OpenOptions};
use std::io::{Seek, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use super::wire::{self, LogPiece, Reply};

/// The messages so far; without logs there is no file.
#[derive(Debug, Default)]
pub struct Spool(Option<File>);

impl Spool {
    /// Keeps one more.
    pub fn put(&mut self, piece: LogPiece) -> std::io::Result<()> {
        let file = match &mut self.0 {
            Some(file) => file,
            none => none.insert(nameless()?),
        };
        wire::send(file, &Reply::Log(piece))
    }

    /// Sends all that was kept.
    pub fn send(self, stream: &mut dyn Write) -> std::io::Result<()> {
        let Some(mut file) = self.0 else {
            return Ok(());
        };
        file.rewind()?;
        std::io::copy(&mut file, stream).map(drop)
    }
}

/// A new file that is gone when it is closed, where much may be kept: `/tmp` is memory on many machines. It has to do where
/// nothing else can be written.
fn nameless() -> std::io::Result<File> {
    let temporary = || nameless_in(&std::env::temp_dir());
    match std::env::var_os("TMPDIR") {
        Some(_) => temporary(),
        None => nameless_in(Path::new("/var/tmp")).or_else(|_| temporary()),
    }
}

fn nameless_in(folder: &Path) -> std::io::Result<File> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = format!("fathom-fio-{}-{number}", std::process::id());
    let path = folder.join(name);
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    let file = options.open(&path)?;
    std::fs::remove_file(&path)?;
    Ok(file)
}
