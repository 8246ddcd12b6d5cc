//! The calls on the directories and files of a set, and what a worker has open.
//!
//! What a call needs, a path above all, is made before it; only the call itself is timed.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fathom_rawio::{self as rawio, Access, Caching, Durability, OpenHow};
use fathom_workload::generator::{SetAct, SetFile, SetState};
use fathom_workload::{Direction, Job, OpenSync};

/// Where direct I/O wants its buffers to begin.
const ALIGNMENT: usize = 4096;

/// A set and where it is.
#[derive(Debug, Clone)]
pub(crate) struct PlacedSet {
    pub(crate) state: Arc<SetState>,
    pub(crate) anchor: PathBuf,
}

/// Does the acts of one worker.
#[derive(Debug)]
pub(super) struct SetFiles {
    sets: Vec<PlacedSet>,
    /// What is open, by set.
    open: [Option<Opened>; 2],
    how: OpenHow,
    sync_on_close: bool,
    buffer: Vec<u8>,
    /// Where in the buffer its aligned part begins.
    aligned: usize,
}

#[derive(Debug)]
struct Opened {
    file: File,
    written: bool,
}

/// An act with all that its call needs.
#[derive(Debug)]
pub(super) enum Call {
    MakeDirectory(PathBuf),
    RemoveDirectory(PathBuf),
    Open(PathBuf, u8, OpenHow),
    Transfer {
        set: u8,
        direction: Direction,
        offset: u64,
        length: u32,
    },
    Sync(u8),
    Close(u8),
    Delete(PathBuf),
    Access(PathBuf),
    GetAttributes(PathBuf),
    SetAttributes(PathBuf),
    Move(PathBuf, PathBuf),
}

impl SetFiles {
    pub(super) fn new(job: &Job, sets: Vec<PlacedSet>) -> Self {
        let block = Direction::ALL
            .into_iter()
            .flat_map(|way| job.block.of(way))
            .map(|entry| entry.size.get())
            .max();
        let buffer = vec![0u8; block.unwrap_or(0) as usize + ALIGNMENT];
        Self {
            sets,
            open: [None, None],
            how: OpenHow {
                access: Access::Read,
                caching: match job.caching {
                    fathom_workload::Caching::Direct => Caching::Direct,
                    fathom_workload::Caching::Buffered => Caching::Buffered,
                },
                durability: match job.sync.open {
                    OpenSync::None => Durability::None,
                    OpenSync::Dsync => Durability::Data,
                    OpenSync::Sync => Durability::Full,
                },
            },
            sync_on_close: job.sync.on_close,
            aligned: buffer.as_ptr().align_offset(ALIGNMENT).min(ALIGNMENT),
            buffer,
        }
    }

    /// The first `length` bytes that are read into and written from.
    pub(super) fn buffer(&mut self, length: u32) -> &mut [u8] {
        &mut self.buffer[self.aligned..][..length as usize]
    }

    /// Where the first set is.
    pub(super) fn anchor(&self) -> &Path {
        &self.sets[0].anchor
    }

    fn directory(&self, number: u32) -> PathBuf {
        let set = &self.sets[0];
        set.anchor.join(set.state.set().directory_path(number))
    }

    fn file(&self, file: SetFile) -> PathBuf {
        let set = &self.sets[file.set as usize];
        set.anchor.join(set.state.set().file_name(file.number))
    }

    /// What an act is on, for complaints.
    pub(super) fn path_of(&self, act: SetAct) -> PathBuf {
        match act {
            SetAct::MakeDirectory(directory) | SetAct::RemoveDirectory(directory) => {
                self.directory(directory)
            }
            SetAct::Create(file)
            | SetAct::Open(file, _)
            | SetAct::Close(file)
            | SetAct::Delete(file)
            | SetAct::Access(file)
            | SetAct::GetAttributes(file)
            | SetAct::SetAttributes(file)
            | SetAct::Transfer { file, .. } => self.file(file),
            SetAct::Move(number) => self.file(SetFile { set: 0, number }),
            SetAct::CleanUp => self.anchor().to_owned(),
        }
    }

    /// The call that an act is; `None` for a clean-up, which is many.
    pub(super) fn call(&self, act: SetAct) -> Option<Call> {
        let how = |access| OpenHow { access, ..self.how };
        Some(match act {
            SetAct::MakeDirectory(directory) => Call::MakeDirectory(self.directory(directory)),
            SetAct::RemoveDirectory(directory) => Call::RemoveDirectory(self.directory(directory)),
            SetAct::Create(file) => Call::Open(self.file(file), file.set, how(Access::CreateNew)),
            SetAct::Open(file, Direction::Read) => {
                Call::Open(self.file(file), file.set, how(Access::Read))
            }
            SetAct::Open(file, _) => Call::Open(self.file(file), file.set, how(Access::ReadWrite)),
            SetAct::Transfer {
                file,
                direction,
                offset,
                length,
            } => Call::Transfer {
                set: file.set,
                direction,
                offset,
                length,
            },
            SetAct::Close(file) => Call::Close(file.set),
            SetAct::Delete(file) => Call::Delete(self.file(file)),
            SetAct::Access(file) => Call::Access(self.file(file)),
            SetAct::GetAttributes(file) => Call::GetAttributes(self.file(file)),
            SetAct::SetAttributes(file) => Call::SetAttributes(self.file(file)),
            SetAct::Move(number) => Call::Move(
                self.file(SetFile { set: 0, number }),
                self.file(SetFile { set: 1, number }),
            ),
            SetAct::CleanUp => return None,
        })
    }

    /// Whether a file is to be made durable before it is closed.
    pub(super) fn syncs_before(&self, call: &Call) -> Option<Call> {
        let Call::Close(set) = call else { return None };
        let written = self.open[*set as usize]
            .as_ref()
            .is_some_and(|it| it.written);
        (written && self.sync_on_close).then_some(Call::Sync(*set))
    }

    /// Does it; gives the bytes moved.
    ///
    /// # Errors
    /// Those of the call; a transfer that ends before its length is an unexpected end.
    pub(super) fn perform(&mut self, call: Call) -> io::Result<u32> {
        match call {
            Call::MakeDirectory(path) => fs::DirBuilder::new().mode(0o755).create(path)?,
            Call::RemoveDirectory(path) => fs::remove_dir(path)?,
            Call::Open(path, set, how) => {
                let file = rawio::open(&path, how)?;
                let written = false;
                self.open[set as usize] = Some(Opened { file, written });
            }
            Call::Transfer {
                set,
                direction,
                offset,
                length,
            } => return self.transfer(set, direction, offset, length),
            Call::Sync(set) => {
                if let Some(opened) = &self.open[set as usize] {
                    opened.file.sync_all()?;
                }
            }
            Call::Close(set) => drop(self.open[set as usize].take()),
            Call::Delete(path) => fs::remove_file(path)?,
            Call::Access(path) => rawio::may_read(&path)?,
            Call::GetAttributes(path) => {
                fs::metadata(path)?;
            }
            Call::SetAttributes(path) => rawio::touch(&path)?,
            Call::Move(from, to) => fs::rename(from, to)?,
        }
        Ok(0)
    }

    fn transfer(
        &mut self,
        set: u8,
        direction: Direction,
        offset: u64,
        length: u32,
    ) -> io::Result<u32> {
        let buffer = &mut self.buffer[self.aligned..][..length as usize];
        // Its opening failed, and the job goes on in spite of errors.
        let opened = self.open[set as usize].as_mut();
        let opened = opened.ok_or_else(|| io::Error::from_raw_os_error(EBADF))?;
        let moved = match direction {
            Direction::Read => opened.file.read_at(buffer, offset)?,
            Direction::Write | Direction::Trim => {
                opened.written = true;
                opened.file.write_at(buffer, offset)?
            }
        };
        if moved == 0 && length > 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(moved as u32)
    }
}

/// Linux's number of "bad file descriptor".
const EBADF: i32 = 9;
