//! What a reader of fio's input may know of the machine.
//!
//! Reading an input must not depend on the process it runs in: environment, files, entropy and sizes come in here, so
//! that a reading can be repeated and tested.

use std::io;
use std::io::{BufRead, Read as _};

use fathom_units::Bytes;

/// Largest job file that is read.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// What is at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileStatus {
    /// Nothing, or nothing that can be seen.
    Missing,
    /// A regular file of this size.
    Regular(Bytes),
    /// A directory.
    Directory,
    /// A device or another special file; its size where it is known.
    Special(Option<Bytes>),
}

/// How the reader sees files.
pub trait Files {
    /// The text of a job file or an included one; `-` is the standard input.
    ///
    /// # Errors
    /// Whatever kept the file from being read; bytes that are no UTF-8 are replaced, not refused.
    fn read_text(&self, path: &str) -> io::Result<String>;

    /// The bytes of a file that a pattern is made of.
    ///
    /// # Errors
    /// Whatever kept the file from being read.
    fn read_bytes(&self, path: &str) -> io::Result<Vec<u8>> {
        self.read_text(path).map(String::into_bytes)
    }

    /// What is at `path`.
    fn status(&self, path: &str) -> FileStatus;

    /// A file of any size, to be read piece by piece.
    ///
    /// # Errors
    /// Whatever keeps it from being opened.
    fn open(&self, path: &str) -> io::Result<Box<dyn BufRead + Send>> {
        let text = self.read_text(path)?;
        Ok(Box::new(io::Cursor::new(text)))
    }

    /// The path of the block device `MAJOR:MINOR`, if there is one.
    fn device(&self, number: &str) -> Option<String> {
        let _ = number;
        None
    }

    /// Every regular file in and below a directory, sorted; at most `most`.
    ///
    /// # Errors
    /// What keeps a directory from being read, or that there are more.
    fn list(&self, directory: &str, most: usize) -> io::Result<Vec<String>> {
        let _ = (directory, most);
        Err(io::ErrorKind::NotFound.into())
    }
}

/// The files of this machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemFiles;

impl Files for SystemFiles {
    fn read_text(&self, path: &str) -> io::Result<String> {
        let bytes = self.read_bytes(path)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn read_bytes(&self, path: &str) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let limit = MAX_FILE_BYTES + 1;
        if path == "-" {
            io::stdin().lock().take(limit).read_to_end(&mut bytes)?;
        } else {
            std::fs::File::open(path)?
                .take(limit)
                .read_to_end(&mut bytes)?;
        }
        if bytes.len() as u64 > MAX_FILE_BYTES {
            let kind = io::ErrorKind::FileTooLarge;
            return Err(io::Error::new(kind, "it is larger than 16 MiB"));
        }
        Ok(bytes)
    }

    fn status(&self, path: &str) -> FileStatus {
        match std::fs::metadata(path) {
            Err(_) => FileStatus::Missing,
            Ok(found) if found.is_file() => FileStatus::Regular(Bytes::new(found.len())),
            Ok(found) if found.is_dir() => FileStatus::Directory,
            Ok(_) => FileStatus::Special(device_size(path)),
        }
    }

    fn open(&self, path: &str) -> io::Result<Box<dyn BufRead + Send>> {
        let file = std::fs::File::open(path)?;
        if !file.metadata()?.is_file() {
            return Err(io::Error::other("it is no regular file"));
        }
        Ok(Box::new(io::BufReader::with_capacity(1 << 18, file)))
    }

    fn device(&self, number: &str) -> Option<String> {
        let facts = std::fs::read_to_string(format!("/sys/dev/block/{number}/uevent")).ok()?;
        let mut lines = facts.lines();
        let name = lines.find_map(|line| line.strip_prefix("DEVNAME="))?;
        Some(format!("/dev/{name}"))
    }

    fn list(&self, directory: &str, most: usize) -> io::Result<Vec<String>> {
        let mut found = Vec::new();
        let mut directories = vec![std::path::PathBuf::from(directory)];
        while let Some(directory) = directories.pop() {
            for entry in std::fs::read_dir(&directory)? {
                let entry = entry?;
                // Links are not followed: they may lead in a circle.
                let kind = entry.file_type()?;
                if kind.is_dir() {
                    directories.push(entry.path());
                } else if kind.is_file() {
                    found.push(entry.path().to_string_lossy().into_owned());
                }
                if found.len() + directories.len() > most {
                    return Err(io::Error::other(format!("it holds more than {most} files")));
                }
            }
        }
        found.sort();
        Ok(found)
    }
}

/// Size of a block device from the kernel's own table; `None` for everything else.
fn device_size(path: &str) -> Option<Bytes> {
    let name = std::fs::canonicalize(path)
        .ok()?
        .file_name()?
        .to_str()?
        .to_owned();
    let sectors = std::fs::read_to_string(format!("/sys/class/block/{name}/size")).ok()?;
    sectors
        .trim()
        .parse::<u64>()
        .ok()?
        .checked_mul(512)
        .map(Bytes::new)
}

/// What a reader may know of the machine.
#[derive(Clone, Copy)]
pub struct ReadContext<'a> {
    /// Files it reads and looks at.
    pub files: &'a dyn Files,
    /// The value of an environment variable.
    pub environment: fn(&str) -> Option<String>,
    /// Seed for jobs that ask for different numbers in each run (`randrepeat=0`).
    pub entropy: u64,
    /// `$pagesize`.
    pub page_size: Bytes,
    /// `$ncpus`.
    pub processors: u32,
    /// `$mb_memory`.
    pub memory_mib: u64,
    /// What the clock of this number of Linux's is ahead of the wall clock, in ms; `None` where it is not known.
    pub clock: fn(u32) -> Option<i64>,
}

impl<'a> ReadContext<'a> {
    /// This machine's environment and processors, its files through `files`, and no entropy: give `entropy` a fresh
    /// value where runs shall differ, and `clock` where the times of other clocks than the wall clock are told.
    pub fn of_system(files: &'a dyn Files) -> Self {
        let memory = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
        let kib = memory
            .lines()
            .find_map(|line| line.strip_prefix("MemTotal:"))
            .and_then(|rest| {
                rest.trim()
                    .trim_end_matches("kB")
                    .trim()
                    .parse::<u64>()
                    .ok()
            });
        let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self {
            files,
            environment: |name| std::env::var(name).ok(),
            entropy: 0,
            page_size: Bytes::kib(4),
            processors: u32::try_from(processors).unwrap_or(u32::MAX),
            memory_mib: kib.unwrap_or(0) / 1024,
            clock: |_| None,
        }
    }
}

impl std::fmt::Debug for ReadContext<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReadContext")
            .field("entropy", &self.entropy)
            .field("page_size", &self.page_size)
            .field("processors", &self.processors)
            .finish_non_exhaustive()
    }
}
