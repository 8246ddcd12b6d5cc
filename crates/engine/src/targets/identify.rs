//! What stands at a target's path, or would be made there, and whether two paths name one thing. Everything here only looks.

use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Component, Path, PathBuf};
use std::{fs, io};

use fathom_rawio::{self as rawio, OpenHow};
use fathom_units::Bytes;
use fathom_workload::{Backend, ExistingFiles, FileOperation, Job, Place, Target};

use super::{Existing, Kind};
use super::{MAKE_ANCHOR, MAKE_DIRECTORY, MAKE_FIRST, MAP_THE_FILE, NAME_A_FILE, NAME_A_VOLUME};
use crate::complaints::Complaint;
use crate::exports::{self};
use crate::file_sets;
use crate::guard::{DeviceNumber, mount_over};
use crate::{character, marker};

/// Type of the mounts of `fathom serve --fuse`.
const SERVED: &str = "fuse.fathom";

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Identity {
    File(PathBuf),
    Inode(u64, u64),
    Fresh(PathBuf),
    Device(DeviceNumber),
    Nothing(String),
    Export(String),
}

pub(super) fn identify(job: &Job, target: &Target) -> Result<(Identity, Kind), Complaint> {
    let path = Path::new(target.place.path());
    if job.backend == Backend::Null {
        let size = fs::metadata(path).ok().filter(fs::Metadata::is_file);
        let size = size.map(|metadata| metadata.len());
        let identity = Identity::Nothing(target.place.path().to_owned());
        return Ok((identity, Kind::Nothing { size }));
    }
    if let Some(export) = exports::identify(job, target) {
        let uri = Identity::Export(target.place.path().to_owned());
        return export.map(|export| (uri, Kind::Export(export)));
    }
    if target.place.file_set().is_some() {
        return file_set(job, path);
    }
    if let Some(operation) = job.features.operation.filter(|it| it.is_of_names()) {
        return name_of(operation, job, target, path);
    }
    match (&target.place, fs::metadata(path)) {
        (Place::Path(_), Err(_)) if job.features.files.must_exist => {
            let problem = Complaint::new("it does not exist, and the job may not make it");
            Err(problem.hint(MAKE_FIRST))
        }
        (Place::FreshFileIn(_), Err(error)) => {
            let problem = Complaint::new(format!("no such directory: {error}"));
            Err(problem.hint("make the directory first, or name another"))
        }
        (Place::Path(_), Ok(metadata))
            if metadata.is_dir() && job.existing == ExistingFiles::AsPeer =>
        {
            let problem = Complaint::new("it is a directory, and not a file");
            Err(problem.hint(NAME_A_FILE))
        }
        (_, Ok(metadata)) if metadata.is_dir() && job.features.files.made_anew => {
            let problem =
                "it is a directory: a fresh file in it has no name under which to make it anew";
            Err(Complaint::new(problem).hint(NAME_A_FILE))
        }
        (_, Ok(metadata)) if metadata.is_dir() => fresh(target, path),
        (Place::FreshFileIn(_), Ok(_)) => {
            Err(Complaint::new("it is no directory")
                .hint("name a directory: the file is made there"))
        }
        (Place::Path(_), Ok(metadata))
            if job.existing == ExistingFiles::AsPeer && character::is_taken(&metadata) =>
        {
            character::check(job)?;
            Ok((
                Identity::Inode(metadata.dev(), metadata.ino()),
                Kind::Character,
            ))
        }
        (Place::Path(_), Ok(metadata)) => existing(path, &metadata),
        (Place::Path(_), Err(error)) if error.kind() == io::ErrorKind::NotFound => {
            missing_for(job, path)
        }
        (Place::Path(_), Err(error)) if error.kind() == io::ErrorKind::NotADirectory => {
            Err(below_a_file(path).unwrap_or_else(|| Complaint::of_system(path, &error)))
        }
        (_, Err(error)) => Err(Complaint::of_system(path, &error)),
        // Taken care of above.
        (Place::FileSet(_), Ok(_)) => file_set(job, path),
    }
}

/// The complaint about a path that goes on behind what is no directory.
fn below_a_file(path: &Path) -> Option<Complaint> {
    let mut above = path.ancestors().skip(1);
    let found = above.find_map(|above| Some((above, fs::metadata(above).ok()?)));
    let (culprit, found) = found.filter(|(_, found)| !found.is_dir())?;
    let kind = found.file_type();
    let what = if kind.is_file() {
        "a file"
    } else if kind.is_block_device() {
        "a block device"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "no directory"
    };
    let problem = format!("`{}` is {what}, which holds no files", culprit.display());
    Some(Complaint::new(problem).hint(MAP_THE_FILE))
}

/// The complaint about a file that would have to be made among the volumes that `fathom serve --fuse` shows.
fn among_served(directory: &Path) -> Option<Complaint> {
    // What is mounted is looked up for those alone that are on another device than what is above.
    let own = fs::metadata(directory).ok()?.dev();
    let is_mounted = fs::metadata(directory.parent()?).is_ok_and(|above| above.dev() != own);
    let over = is_mounted.then(|| mount_over(directory)).flatten()?;
    if over.kind != SERVED {
        return None;
    }
    let mut volumes: Vec<_> = fs::read_dir(directory).ok()?.flatten().collect();
    volumes.sort_by_key(fs::DirEntry::file_name);
    let there = directory.display();
    let problem = format!("`{there}` has the volumes that `fathom serve` shows, and no other file");
    let volume = volumes.first()?.path();
    Some(Complaint::new(problem).hint(format!("{NAME_A_VOLUME}`{}`", volume.display())))
}

/// The path with its deepest directory that is there in full; what lies below is to be made.
fn below_what_is_there(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let there = standing(&path);
    match (fs::canonicalize(there), path.strip_prefix(there)) {
        (Ok(full), Ok(below)) => full.join(below),
        _ => path,
    }
}

/// The deepest directory of a path that is there.
pub(crate) fn standing(path: &Path) -> &Path {
    let there = path.ancestors().find(|ancestor| ancestor.exists());
    there.unwrap_or(Path::new("/"))
}

/// The deepest directory above a path that is there.
pub(crate) fn standing_above(path: &Path) -> &Path {
    path.parent().map_or(Path::new("/"), standing)
}

/// The directory of a file set: there, or to be made by a job that makes files.
fn file_set(job: &Job, path: &Path) -> Result<(Identity, Kind), Complaint> {
    let anchor = file_sets::look(path).map_err(|error| {
        let problem = Complaint::new(format!("no file set can stand there: {error}"));
        problem.hint("name a directory")
    })?;
    if anchor.exists {
        let full = fs::canonicalize(path).map_err(|error| Complaint::of_system(path, &error))?;
        return Ok((Identity::File(full.clone()), Kind::FileSet { full, anchor }));
    }
    if job.features.files.must_exist {
        let problem = Complaint::new("the directory does not exist, and the job may not make it");
        return Err(problem.hint("make the directory first, or let the job do it"));
    }
    let has_parent = path
        .parent()
        .is_none_or(|parent| parent.as_os_str().is_empty() || parent.exists());
    if job.features.files.make_parents && !has_parent {
        let full = below_what_is_there(path);
        return Ok((Identity::File(full.clone()), Kind::FileSet { full, anchor }));
    }
    let found = missing(path);
    let (identity, kind) = found.map_err(|problem| problem.hint(MAKE_ANCHOR))?;
    match kind {
        Kind::File { full, .. } => Ok((identity, Kind::FileSet { full, anchor })),
        other => Ok((identity, other)),
    }
}

/// A file or directory whose name alone matters. Devices and other special files are none.
fn name_of(
    operation: FileOperation,
    job: &Job,
    target: &Target,
    path: &Path,
) -> Result<(Identity, Kind), Complaint> {
    if matches!(target.place, Place::FreshFileIn(_)) {
        let problem = Complaint::new("operations on names need a path of their own");
        return Err(problem.hint("give `path`"));
    }
    // A link itself is what is removed, so it must not be followed.
    let found = fs::symlink_metadata(path);
    let is_directory = found.as_ref().is_ok_and(fs::Metadata::is_dir);
    match (operation.is_of_directories(), &found) {
        (_, Err(error)) if error.kind() != io::ErrorKind::NotFound => {
            return Err(Complaint::of_system(path, error));
        }
        (true, Ok(_)) if !is_directory => {
            return Err(Complaint::new("it exists, and is no directory"));
        }
        (false, Ok(metadata)) if !metadata.is_file() => {
            let problem = Complaint::new("it exists, and is no regular file");
            return Err(problem.hint("only regular files are made, looked at and removed"));
        }
        (false, Ok(metadata)) => return existing(path, metadata),
        (_, _) => {}
    }
    let exists = found.is_ok();
    let full = if exists {
        fs::canonicalize(path).map_err(|error| Complaint::of_system(path, &error))?
    } else {
        match missing_for(job, path)?.1 {
            Kind::File { full, .. } => full,
            _ => path.to_owned(),
        }
    };
    let identity = Identity::File(full.clone());
    if !operation.is_of_directories() {
        let existing = None;
        return Ok((identity, Kind::File { full, existing }));
    }
    let kind = Kind::Directory {
        full,
        exists,
        wanted: false,
    };
    Ok((identity, kind))
}

fn fresh(target: &Target, path: &Path) -> Result<(Identity, Kind), Complaint> {
    if target.length.is_none() {
        let problem = Complaint::new("it is a directory, and no size is given");
        return Err(problem.hint("give a size: a fresh file of it is made there for the run"));
    }
    let directory = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let identity = Identity::Fresh(directory.clone());
    Ok((identity, Kind::Fresh { directory }))
}

fn existing(path: &Path, metadata: &fs::Metadata) -> Result<(Identity, Kind), Complaint> {
    let kind = metadata.file_type();
    if !kind.is_file() && !kind.is_block_device() {
        let problem = Complaint::new("it is neither a regular file nor a block device");
        return Err(problem.hint("name one, or choose the null engine, which needs no storage"));
    }
    let file =
        rawio::open(path, OpenHow::LOOK).map_err(|error| Complaint::of_system(path, &error))?;
    if kind.is_file() {
        let existing = Existing {
            size: metadata.len(),
            ours: marker::is_ours(&file),
        };
        let full = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let identity = Identity::Inode(metadata.dev(), metadata.ino());
        let existing = Some(existing);
        return Ok((identity, Kind::File { full, existing }));
    }
    let number = DeviceNumber::from_packed(metadata.rdev());
    let size = rawio::size_of(&file).map_err(|error| Complaint::of_system(path, &error))?;
    let sector = rawio::sector_size(&file).unwrap_or(Bytes::new(512)).get();
    let kind = Kind::Device {
        number,
        size: size.get(),
        sector,
    };
    Ok((Identity::Device(number), kind))
}

/// A file that is not there, whose directories `job` may make.
fn missing_for(job: &Job, path: &Path) -> Result<(Identity, Kind), Complaint> {
    // A file is made anew or not at all, which a link's name stands in the way of.
    if let Ok(to) = fs::read_link(path) {
        let what = format!("it is a link to `{}`, which is not there", to.display());
        return Err(Complaint::new(what).hint("make what it leads to, or remove the link"));
    }
    // What leads back out of a directory that is yet to be made has no place of its own before that.
    let is_plain = !path.components().any(|part| part == Component::ParentDir);
    let full = below_what_is_there(path);
    let has_parent = full.parent().is_none_or(Path::exists);
    // No directory of devices is made.
    let makes = job.features.files.make_parents && is_plain && !full.starts_with("/dev");
    if !makes || has_parent || path.file_name().is_none() {
        return missing(path);
    }
    let identity = Identity::File(full.clone());
    let existing = None;
    Ok((identity, Kind::File { full, existing }))
}

fn missing(path: &Path) -> Result<(Identity, Kind), Complaint> {
    let parent = match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
        Some(parent) => parent,
        None => Path::new("/"),
    };
    let name = path.file_name();
    let directory = fs::canonicalize(parent).ok().filter(|found| found.is_dir());
    let (Some(directory), Some(name)) = (directory, name) else {
        let what = format!("there is no directory `{}`", parent.display());
        return Err(Complaint::new(what).hint(MAKE_DIRECTORY));
    };
    if let Some(complaint) = no_such_device(path, &directory) {
        return Err(complaint);
    }
    if let Some(complaint) = among_served(&directory) {
        return Err(complaint);
    }
    let full = directory.join(name);
    let identity = Identity::File(full.clone());
    let existing = None;
    Ok((identity, Kind::File { full, existing }))
}

/// The complaint about `path`, at which nothing stands in `directory`, where that is among the devices.
pub(crate) fn no_such_device(path: &Path, directory: &Path) -> Option<Complaint> {
    let is_among_devices = path.starts_with("/dev")
        && directory.starts_with("/dev")
        && !directory.starts_with("/dev/shm");
    is_among_devices.then(|| {
        let problem = Complaint::new("there is no such device");
        problem.hint("`lsblk` lists the block devices; no regular file is made in /dev")
    })
}
