//! What stands at a path before a run: its kind, what it lies on, and what a run could do with it.
//!
//! The write guard's own judgement is told, so that nobody learns of it from a refusal.
//!
//! Invariant: nothing here writes, and nothing is opened for writing.

mod device;
mod export;

use std::fs::{self, Metadata};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use fathom_diagnostics::Diagnostics;
use fathom_rawio::{self as rawio, Caching, FilesInUse, OpenHow};
use fathom_record::InMemory;
use fathom_units::Bytes;
use fathom_workload::Place;

pub use device::{DeviceFacts, block_devices};
pub(crate) use device::{are_on_each_other, chosen, stack};
pub use export::{ExportFacts, export_size, size_exports};

use crate::complaints::Complaint;
use crate::guard::{self, BlockDevice, DeviceNumber, Mount, file_in_use, mount_over};
use crate::targets::{no_such_device, standing_above};
use crate::{EngineError, Refusal, marker};

/// What is known of a target.
#[derive(Debug, Clone)]
pub struct Survey {
    /// As it was named.
    pub path: String,
    /// What stands there.
    pub kind: TargetKind,
    /// Where its files lie; `None` for a device.
    pub file_system: Option<FileSystem>,
    /// The devices below it, the nearest first; empty where no block device is known.
    pub devices: Vec<DeviceFacts>,
    /// What of the machine's memory holds it.
    pub in_memory: Option<InMemory>,
    /// Whether it can be read with direct I/O, or why not; `None` where there is nothing to be read yet.
    pub direct: Option<Result<(), String>>,
    /// Whether a run may write there.
    pub writing: Writing,
}

/// What stands at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TargetKind {
    /// A directory, in which a run makes files of its own.
    Directory,
    /// A regular file.
    File {
        /// Its size.
        size: Bytes,
        /// How much of that holds no data (holes, unwritten extents); `None`: the file system does not tell.
        without_data: Option<Bytes>,
    },
    /// A block device.
    Device {
        /// Its size.
        size: Bytes,
    },
    /// An export of an NBD server.
    Export(Box<ExportFacts>),
    /// An NBD server of which no export was named, and that has none without a name.
    NbdServer {
        /// Its socket, or its host and port.
        server: String,
        /// The names of its exports.
        names: Vec<String>,
    },
    /// Nothing; the deepest directory above it that is there.
    Nothing(PathBuf),
}

/// A mounted file system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSystem {
    /// Such as `ext4`.
    pub kind: String,
    /// Where it is mounted.
    pub mounted_at: String,
    /// The options of the mount, as the kernel tells them.
    pub options: String,
    /// What its users can still take of it; `None`: it does not tell.
    pub free: Option<Bytes>,
}

/// Whether a run may write to a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Writing {
    /// To a file that the run makes.
    NewFile,
    /// To the file, which an earlier run made.
    OwnFile,
    /// To the file with `--overwrite`, since Fathom did not make it.
    WithOverwrite,
    /// To the device or export with `--destroy-data=NAME`; what stands on it is destroyed.
    WithName {
        /// What to write for `NAME`.
        name: String,
        /// The file system that the device holds.
        file_system: Option<&'static str>,
    },
    /// Nowhere: what was found there.
    Refused(Refusal),
    /// Nowhere: what the kernel says.
    Denied(String),
}

/// Looks at what stands at `path`, or at an export where that is its URI.
///
/// # Errors
/// [`EngineError::Invalid`], as of a workload that names it: it cannot be looked at, or is no file, directory or block device,
/// or no device where regular files are none of a run's.
/// [`EngineError::Export`]: its server does not offer it.
pub fn survey(path: &str) -> Result<Survey, EngineError> {
    if Place::Path(path.to_owned()).is_export() {
        return export::survey(path);
    }
    let place = Path::new(path);
    let looking = |error: io::Error| unusable(path, Complaint::of_system(place, &error));
    let found = match fs::metadata(place) {
        Ok(found) => found,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            // What stands above a relative path is told by its whole.
            let whole = std::path::absolute(place).map_err(looking)?;
            if let Some(complaint) = no_such_device(&whole, standing_above(&whole)) {
                return Err(unusable(path, complaint));
            }
            return Ok(nothing(path, &whole));
        }
        Err(error) => return Err(looking(error)),
    };
    let (kind, writing) = if found.file_type().is_block_device() {
        device_at(path, &found).map_err(looking)?
    } else if found.is_dir() {
        (TargetKind::Directory, may_write(place, Writing::NewFile))
    } else if found.is_file() {
        file_at(path, &found)
    } else {
        let complaint = Complaint::new("it is no file, no directory and no block device");
        let hint = "name one of these, or the URI of an export";
        return Err(unusable(path, complaint.hint(hint)));
    };
    let is_device = matches!(kind, TargetKind::Device { .. });
    let direct = (!found.is_dir()).then(|| reads_directly(place));
    Ok(Survey {
        path: path.to_owned(),
        kind,
        file_system: (!is_device).then(|| file_system(place)).flatten(),
        devices: device::below(place),
        in_memory: guard::memory_under(place),
        direct,
        writing,
    })
}

/// What a workload that names `path` is told too.
fn unusable(path: &str, complaint: Complaint) -> EngineError {
    EngineError::Invalid(Diagnostics(vec![complaint.about(path)]))
}

/// Of a path at which nothing stands; `place` is the whole of it.
fn nothing(path: &str, place: &Path) -> Survey {
    let above = standing_above(place).to_owned();
    let writing = if fs::symlink_metadata(place).is_ok() {
        Writing::Denied("it is a link to a file that does not exist".to_owned())
    } else if place.parent().is_some_and(|parent| parent == above) {
        may_write(&above, Writing::NewFile)
    } else {
        Writing::Denied(format!(
            "`{}` is the deepest that is there",
            above.display()
        ))
    };
    Survey {
        path: path.to_owned(),
        file_system: file_system(&above),
        devices: device::below(&above),
        in_memory: guard::memory_under(&above),
        direct: None,
        writing,
        kind: TargetKind::Nothing(above),
    }
}

fn device_at(path: &str, found: &Metadata) -> io::Result<(TargetKind, Writing)> {
    let number = DeviceNumber::from_packed(found.rdev());
    let size = device::size_of(&BlockDevice::find(number)?);
    let free = guard::free_device(path, number);
    let writing = match free.map(|free| (free, guard::refuse_held(path))) {
        Ok((free, None)) => Writing::WithName {
            name: free.name,
            file_system: free.file_system,
        },
        Ok((_, Some(refusal))) | Err(refusal) => Writing::Refused(refusal),
    };
    Ok((TargetKind::Device { size }, writing))
}

fn file_at(path: &str, found: &Metadata) -> (TargetKind, Writing) {
    let place = Path::new(path);
    let size = Bytes::new(found.len());
    let file = rawio::open(place, OpenHow::LOOK).ok();
    let extents =
        (file.as_ref()).and_then(|file| rawio::bytes_without_data(file, Bytes::ZERO, size).ok());
    let kind = TargetKind::File {
        size,
        without_data: extents,
    };
    if let Some(refusal) = file_in_use(place, path, "nothing was written", &FilesInUse::now()) {
        return (kind, Writing::Refused(refusal));
    }
    let writing = match file {
        Some(file) if marker::is_ours(&file) => Writing::OwnFile,
        _ => Writing::WithOverwrite,
    };
    (kind, may_write(place, writing))
}

/// `writing`, or why the kernel would not let this user.
fn may_write(place: &Path, writing: Writing) -> Writing {
    match rawio::may_write(place) {
        Ok(()) => writing,
        Err(error) => Writing::Denied(error.to_string()),
    }
}

fn reads_directly(place: &Path) -> Result<(), String> {
    let how = OpenHow {
        caching: Caching::Direct,
        ..OpenHow::LOOK
    };
    match rawio::open(place, how) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::InvalidInput => {
            Err("what it lies on has none (EINVAL)".to_owned())
        }
        Err(error) => Err(error.to_string()),
    }
}

/// The file system that `place`, which is there, lies on.
fn file_system(place: &Path) -> Option<FileSystem> {
    let Mount {
        kind,
        place: mounted_at,
        options,
        ..
    } = mount_over(place)?;
    Some(FileSystem {
        kind,
        mounted_at,
        options,
        free: rawio::free_space(place).ok(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_takes_new_files_and_a_file_of_others_wants_a_word() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        let directory = survey(&path("")).unwrap();
        assert_eq!(directory.kind, TargetKind::Directory);
        assert_eq!(directory.writing, Writing::NewFile);
        assert_eq!(directory.direct, None);
        let file_system = directory.file_system.unwrap();
        assert!(folder.path().starts_with(&file_system.mounted_at));
        assert!(file_system.free > Some(Bytes::ZERO));

        fs::write(path("found"), [1; 5000]).unwrap();
        let found = survey(&path("found")).unwrap();
        let TargetKind::File { size, .. } = found.kind else {
            panic!("{found:?}");
        };
        assert_eq!(size, Bytes::new(5000));
        assert_eq!(found.writing, Writing::WithOverwrite);
        marker::mark(&fs::File::open(path("found")).unwrap());
        assert_eq!(survey(&path("found")).unwrap().writing, Writing::OwnFile);
        marker::forget(Path::new(&path("found")));
    }

    #[test]
    fn what_is_not_there_is_told_with_what_is() {
        let folder = tempfile::tempdir().unwrap();
        let next = folder.path().join("next").display().to_string();
        let found = survey(&next).unwrap();
        assert_eq!(found.kind, TargetKind::Nothing(folder.path().to_owned()));
        assert_eq!(found.writing, Writing::NewFile);
        let deeper = survey(&format!("{next}/file")).unwrap();
        assert_eq!(deeper.kind, TargetKind::Nothing(folder.path().to_owned()));
        assert!(matches!(deeper.writing, Writing::Denied(_)), "{deeper:?}");
        std::os::unix::fs::symlink("nowhere", &next).unwrap();
        assert!(matches!(survey(&next).unwrap().writing, Writing::Denied(_)));
    }

    #[test]
    fn what_is_no_storage_is_refused() {
        let told = survey("/dev/null").unwrap_err().to_string();
        assert!(told.contains("no block device"), "{told}");
    }
}
