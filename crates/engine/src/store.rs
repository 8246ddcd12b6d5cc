//! The storage of a run, ready to be opened by its workers.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use fathom_nbd::client::Offer;
use fathom_rawio::{self as rawio, Access, Durability, OpenHow};
use fathom_record::{InMemory, Reducing};
use fathom_units::Bytes;
use fathom_workload::generator::TargetRange;
use fathom_workload::{Caching, Job, OpenSync};

use crate::exports::{self, Export};
use crate::fresh::FreshFile;
use crate::guard::{self, Below, DeviceNumber, HeldDevice};
use crate::targets::{Kind, Object, Targets, writes};
use crate::zeroes;
use crate::{About, Capability, EngineError, StopFlag};

/// Bytes read at a time where a file is read before its job.
const PRE_READ_BYTES: usize = 1 << 20;

/// Everything that the workers open, held as long as the run lasts.
#[derive(Debug)]
pub(crate) struct Store {
    opened: Vec<(String, Opened)>,
    /// What is below them, as far as it was asked for.
    below: Mutex<Below>,
}

#[derive(Debug)]
enum Opened {
    Path(PathBuf),
    Fresh(FreshFile, PathBuf),
    Device {
        path: PathBuf,
        number: DeviceNumber,
        /// Kept where the run writes to the device.
        _held: Option<HeldDevice>,
    },
    Export(Export),
    Nothing,
}

impl Store {
    /// Takes hold of the devices that are written to, and makes the temporary files.
    ///
    /// # Errors
    /// A device that is in use after all, or a directory without room for a file.
    pub(crate) fn open(targets: &Targets, stop: &StopFlag) -> Result<Self, EngineError> {
        let mut opened = Vec::new();
        for (number, object) in targets.objects.iter().enumerate() {
            opened.push((object.path.clone(), open_object(object, number, stop)?));
        }
        Ok(Self {
            opened,
            below: Mutex::default(),
        })
    }

    /// The temporary file that an object is; `None` where it is none.
    pub(crate) fn fresh(&self, object: usize) -> Option<&File> {
        match &self.opened[object].1 {
            Opened::Fresh(file, _) => Some(file.file()),
            _ => None,
        }
    }

    /// Opens an object as `job` wants it; `None` for the null backend, which opens nothing.
    ///
    /// # Errors
    /// Where it cannot be opened so, or is another device than was judged.
    pub(crate) fn open_for(&self, object: usize, job: &Job) -> Result<Option<File>, EngineError> {
        let (name, opened) = &self.opened[object];
        let how = how(job);
        let file = match opened {
            Opened::Nothing => return Ok(None),
            Opened::Export(export) => return exports::connect(name, export).map(Some),
            Opened::Path(path) | Opened::Device { path, .. } => rawio::open(path, how),
            Opened::Fresh(fresh, _) => rawio::reopen(fresh.file(), how),
        };
        let file = file.map_err(|error| open_error(name, how, error))?;
        if let Opened::Device { number, .. } = opened {
            guard::check_device(name, &file, *number)?;
        }
        Ok(Some(file))
    }

    /// The path of an object that has one.
    pub(crate) fn path(&self, object: usize) -> Option<PathBuf> {
        match &self.opened[object].1 {
            Opened::Path(path) | Opened::Device { path, .. } => Some(path.clone()),
            Opened::Fresh(..) | Opened::Export(_) | Opened::Nothing => None,
        }
    }

    /// What the server of an export offers; `None` where the object is none.
    pub(crate) fn offer(&self, object: usize) -> Option<Offer> {
        match &self.opened[object].1 {
            Opened::Export(export) => Some(export.offer),
            _ => None,
        }
    }

    /// Reads all of an object into the page cache.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub(crate) fn pre_read(&self, object: usize, stop: &StopFlag) -> Result<(), EngineError> {
        let (name, opened) = &self.opened[object];
        let failed = |error| EngineError::target(name, "reading it before the job", error);
        let file = match opened {
            Opened::Export(_) | Opened::Nothing => return Ok(()),
            Opened::Path(path) | Opened::Device { path, .. } => {
                rawio::open(path, OpenHow::LOOK).map_err(failed)?
            }
            Opened::Fresh(fresh, _) => {
                rawio::reopen(fresh.file(), OpenHow::LOOK).map_err(failed)?
            }
        };
        let mut buffer = vec![0; PRE_READ_BYTES];
        let mut offset = 0;
        while !stop.is_requested() {
            match file.read_at(&mut buffer, offset).map_err(failed)? {
                0 => break,
                read => offset += read as u64,
            }
        }
        Ok(())
    }

    /// Share of a range of a regular file that holds no data, be it in the page cache alone; `None` where that is unknown.
    pub(crate) fn share_without_data(&self, object: usize, range: TargetRange) -> Option<f64> {
        let file = self.looked_at(object)?;
        let (offset, length) = (Bytes::new(range.offset), Bytes::new(range.length));
        let shares = rawio::extent_shares(&file, offset, length).ok()?;
        let mut without = shares.unwritten + shares.hole;
        if without > Bytes::ZERO {
            without = without.min(rawio::bytes_without_data(&file, offset, length).ok()?);
        }
        Some(without.get() as f64 / range.length.max(1) as f64)
    }

    /// Share (0 to 1) of the places looked at in a block device's range that hold nothing but zeroes; `None` where that cannot
    /// be told, and for anything else.
    pub(crate) fn share_of_zeroes(&self, object: usize, range: TargetRange) -> Option<f64> {
        let Opened::Device { path, .. } = &self.opened[object].1 else {
            return None;
        };
        // What was looked at is not to be in the cache when jobs read.
        let how = OpenHow {
            caching: rawio::Caching::Direct,
            ..OpenHow::LOOK
        };
        zeroes::share_of_zeroes(rawio::open(path, how).ok()?, range)
    }

    /// A regular file, opened so that looking leaves no trace.
    fn looked_at(&self, object: usize) -> Option<File> {
        match &self.opened[object].1 {
            Opened::Path(path) => rawio::open(path, OpenHow::LOOK).ok(),
            Opened::Fresh(fresh, _) => fresh.file().try_clone().ok(),
            Opened::Device { .. } | Opened::Export(_) | Opened::Nothing => None,
        }
    }

    /// Kernel name of the whole block device under an object; `None` where there is none.
    pub(crate) fn device_under(&self, object: usize) -> Option<String> {
        let device = self.below().device(self.place(object)?);
        device.map(|device| device.name)
    }

    /// What of the machine's memory is under an object; `None` where nothing is known to be.
    pub(crate) fn memory_under(&self, object: usize) -> Option<InMemory> {
        self.below().memory(self.place(object)?)
    }

    /// What below an object makes less of what was written to it; a file system that compresses some files is asked whether it
    /// did, and what is seen comes before what may be.
    pub(crate) fn reducing_under(&self, object: usize) -> Option<Reducing> {
        let by_kind = || self.below().reducing(self.place(object)?);
        let by_extents = || guard::reducing_file(&self.looked_at(object)?, self.place(object)?);
        match by_kind() {
            Some(seen) if seen.is_seen => Some(seen),
            unseen => by_extents().or(unseen),
        }
    }

    fn below(&self) -> MutexGuard<'_, Below> {
        self.below.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where an object stands: itself, or its directory; `None` where it is on no storage.
    fn place(&self, object: usize) -> Option<&Path> {
        match &self.opened[object].1 {
            Opened::Path(path) | Opened::Device { path, .. } | Opened::Fresh(_, path) => Some(path),
            Opened::Export(_) | Opened::Nothing => None,
        }
    }
}

fn open_object(object: &Object, number: usize, stop: &StopFlag) -> Result<Opened, EngineError> {
    Ok(match &object.kind {
        Kind::Nothing { .. } => Opened::Nothing,
        Kind::File { full, .. } | Kind::Directory { full, .. } | Kind::FileSet { full, .. } => {
            Opened::Path(full.clone())
        }
        Kind::Export(export) => Opened::Export(export.clone()),
        Kind::Character => Opened::Path(PathBuf::from(&object.path)),
        Kind::Fresh { directory } => {
            let file = FreshFile::new(directory, number, stop);
            let making = "making a temporary file in it";
            let file = file.map_err(|error| EngineError::target(&object.path, making, error))?;
            Opened::Fresh(file, directory.clone())
        }
        Kind::Device { number, .. } => Opened::Device {
            path: PathBuf::from(&object.path),
            number: *number,
            _held: if object.written {
                Some(guard::hold_device(&object.path, *number)?)
            } else {
                None
            },
        },
    })
}

/// Makes a file where there is none, and opens it as the job does.
pub(crate) fn make(path: &Path, job: &Job) -> io::Result<File> {
    let mut options = File::options();
    options
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)?;
    rawio::open(path, how(job))
}

fn how(job: &Job) -> OpenHow {
    OpenHow {
        access: if writes(job) || job.features.operation.is_some() {
            Access::ReadWrite
        } else {
            Access::Read
        },
        caching: match job.caching {
            Caching::Direct => rawio::Caching::Direct,
            Caching::Buffered => rawio::Caching::Buffered,
        },
        durability: match job.sync.open {
            OpenSync::None => Durability::None,
            OpenSync::Dsync => Durability::Data,
            OpenSync::Sync => Durability::Full,
        },
    }
}

/// Tells a file system without direct I/O from other failures.
pub(crate) fn open_error(path: &str, how: OpenHow, error: io::Error) -> EngineError {
    if how.caching == rawio::Caching::Direct && error.kind() == io::ErrorKind::InvalidInput {
        return EngineError::Unsupported {
            capability: Capability::DirectIo,
            about: About::Target(path.to_owned()),
            what: format!("direct I/O on `{path}`"),
            why: "its file system has none".to_owned(),
            remedy: "use buffered I/O (`direct=0`), or a target on another file system".to_owned(),
        };
    }
    EngineError::target(path, "opening it", error)
}
