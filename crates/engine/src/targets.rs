//! The storage objects that a workload's targets are, and the bytes of each that its jobs use.
//!
//! Several jobs may name one file or device, by several paths; it is judged, laid out and counted once. Everything here
//! only looks.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Component, Path, PathBuf};

use fathom_diagnostics::Diagnostics;
use fathom_rawio::{self as rawio, OpenHow};
use fathom_units::{Bytes, Percent};
use fathom_workload::generator::TargetRange;
use fathom_workload::{
    Backend, Caching, Direction, ExistingFiles, FileOperation, Job, Place, Target, VerifyPhase,
    Workload,
};

use crate::character;
use crate::complaints::{Complaint, Complaints};
use crate::exports::{self, Export};
use crate::file_sets::{self, Anchor};
use crate::growth::Making;
use crate::guard::DeviceNumber;
use crate::marker;

/// A file or device that jobs use.
#[derive(Debug, Clone)]
pub(crate) struct Object {
    /// As the workload first names it.
    pub(crate) path: String,
    /// What it is.
    pub(crate) kind: Kind,
    /// End of the farthest byte that any job names.
    pub(crate) needed: u64,
    /// Whether any job writes or discards.
    pub(crate) written: bool,
    /// What the jobs have done with it at the end.
    pub(crate) afterwards: Afterwards,
    /// Whether a job that writes, or needs it longer, may do so only to files that we made.
    pub(crate) only_ours: bool,
    /// Whether any job uses direct I/O.
    pub(crate) direct: bool,
    /// What becomes of what is missing of it.
    pub(crate) making: Making,
}

/// What becomes of an object when the run is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Afterwards {
    /// No job asks for anything.
    Stays,
    /// A job has it removed.
    IsRemoved,
}

/// What an object is.
#[derive(Debug, Clone)]
pub(crate) enum Kind {
    /// A regular file, which exists or not.
    File {
        /// Through all symbolic links; the last part may not exist.
        full: PathBuf,
        /// What is there.
        existing: Option<Existing>,
    },
    /// A directory that is made, looked at or removed.
    Directory {
        /// Through all symbolic links; the last part may not exist.
        full: PathBuf,
        /// Whether it is there.
        exists: bool,
        /// Whether it has to be there when the job starts.
        wanted: bool,
    },
    /// A tree of directories and files.
    FileSet {
        /// Through all symbolic links; the last part may not exist.
        full: PathBuf,
        /// What is there.
        anchor: Anchor,
    },
    /// A temporary file in a directory.
    Fresh {
        /// The directory.
        directory: PathBuf,
    },
    /// A block device.
    Device {
        /// Its number.
        number: DeviceNumber,
        /// Its size in bytes.
        size: u64,
        /// Its logical sector in bytes.
        sector: u64,
    },
    /// An export of an NBD server.
    Export(Export),
    /// A character device that takes and gives bytes, and stores none.
    Character,
    /// Nothing is opened: the null backend.
    Nothing {
        /// Size of what is at the path, if anything is.
        size: Option<u64>,
    },
}

/// A regular file that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Existing {
    /// Its size in bytes.
    pub(crate) size: u64,
    /// Whether we laid it out.
    pub(crate) ours: bool,
}

impl Object {
    /// Bytes it has, once it is laid out or written.
    pub(crate) fn size(&self) -> u64 {
        match &self.kind {
            Kind::File { existing, .. } => existing.map_or(0, |file| file.size).max(self.needed),
            Kind::Fresh { .. }
            | Kind::Directory { .. }
            | Kind::FileSet { .. }
            | Kind::Character => self.needed,
            Kind::Device { size, .. } => *size,
            Kind::Export(export) => export.offer.size,
            Kind::Nothing { size } => size.unwrap_or(0).max(self.needed),
        }
    }
}

/// What one job uses.
#[derive(Debug, Clone)]
pub(crate) struct JobTargets {
    /// Its targets' objects, in the order of the job's targets.
    pub(crate) objects: Vec<usize>,
    /// Its targets' ranges, in the same order.
    pub(crate) ranges: Vec<TargetRange>,
}

/// Everything that a workload's jobs use.
#[derive(Debug, Clone, Default)]
pub(crate) struct Targets {
    /// Each object once.
    pub(crate) objects: Vec<Object>,
    /// By index of the job over the whole workload.
    pub(crate) jobs: Vec<JobTargets>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Identity {
    File(PathBuf),
    Inode(u64, u64),
    Fresh(PathBuf),
    Device(DeviceNumber),
    Nothing(String),
    Export(String),
}

/// Finds what the targets of `workload` are, and adds to `problems` what is wrong with them.
pub(crate) fn resolve(workload: &Workload, problems: &mut Diagnostics) -> Targets {
    let mut targets = Targets::default();
    let mut known = BTreeMap::new();
    // What is wrong with a target is said once, however many jobs use it.
    let mut told = BTreeSet::new();
    for (_, job) in workload.jobs() {
        let mut objects = Vec::new();
        let mut complaints = Complaints::of(job);
        for target in &job.targets {
            match identify(job, target) {
                Ok((identity, kind)) => {
                    let count = targets.objects.len();
                    let index = *known.entry(identity).or_insert(count);
                    if index == count {
                        targets.objects.push(new_object(target, kind));
                    }
                    note_use(&mut targets.objects[index], job, target, &mut complaints);
                    objects.push(index);
                }
                Err(problem) => {
                    if told.insert((target.place.path(), problem.what.clone())) {
                        complaints.add(target, problem);
                    }
                }
            }
        }
        complaints.tell(problems);
        targets.jobs.push(JobTargets {
            objects,
            ranges: Vec::new(),
        });
    }
    if !problems.has_errors() {
        find_ranges(workload, &mut targets, problems);
    }
    targets
}

fn new_object(target: &Target, kind: Kind) -> Object {
    Object {
        path: target.place.path().to_owned(),
        making: Making::new(&kind),
        kind,
        needed: 0,
        written: false,
        afterwards: Afterwards::Stays,
        only_ours: false,
        direct: false,
    }
}

fn note_use<'a>(
    object: &mut Object,
    job: &Job,
    target: &'a Target,
    complaints: &mut Complaints<'a>,
) {
    let operation = job.features.operation;
    if let Kind::Directory { wanted, .. } = &mut object.kind {
        *wanted |= operation != Some(FileOperation::CreateDirectory);
    }
    // A file that the job makes is not made before it.
    let made_by_job = matches!(
        operation,
        Some(FileOperation::Create | FileOperation::CreateDirectory)
    );
    if let Some(length) = target.length.filter(|_| !made_by_job) {
        if let Some(end) = target.offset.checked_add(length) {
            object.needed = object.needed.max(end.get());
            object.making.need(job, end.get());
        } else {
            let problem = "offset and length exceed 2^64 bytes";
            complaints.add(target, Complaint::new(problem));
        }
    }
    let work = job.features.file_work.as_deref();
    let is_there = matches!(
        object.kind,
        Kind::File {
            existing: Some(_),
            ..
        }
    );
    object.written |= match (work, operation) {
        (Some(work), _) => work.task.changes(),
        // What is there already is opened, and left as it is.
        (None, Some(FileOperation::Create)) => job.unlink || !is_there,
        (None, Some(operation)) => operation.changes_data(),
        (None, None) => writes(job),
    };
    if job.unlink {
        object.afterwards = Afterwards::IsRemoved;
    }
    object.only_ours |= job.existing == ExistingFiles::OnlyOurs;
    let opens = job.backend.opens_files() && !operation.is_some_and(FileOperation::is_of_names);
    object.direct |= job.caching == Caching::Direct && opens;
}

/// Whether a job that does I/O changes data: one whose writes were done by an earlier run, and are only counted, reads alone.
pub(crate) fn writes(job: &Job) -> bool {
    let verify = job.features.verify.as_deref();
    let phases = [VerifyPhase::Only, VerifyPhase::Nothing];
    // Without writes there is nothing that could have been done before, and trims are issued. What is mapped must be open for
    // writing to be mapped as the job's writes would want it.
    let are_counted = job.mix.write > Percent::ZERO
        && job.backend != Backend::Mmap
        && job.features.replay.is_none()
        && verify.is_some_and(|verify| phases.contains(&verify.phase));
    job.mix.changes_data() && !are_counted
}

/// What to do about a file that must be there. How a job is to make it itself depends on the words that it was written in.
pub const MAKE_FIRST: &str = "make the file first";

/// What to do about a directory in place of a file; each dialect has its own word for files in one.
pub const NAME_A_FILE: &str = "name a file";

/// What to do about a directory that is not there.
pub const MAKE_DIRECTORY: &str =
    "make the directory first (nothing is made that was not asked for), or name another";

/// The same of a file set's, which a job can make.
pub const MAKE_ANCHOR: &str =
    "make the directory first, or let the job do it (Vdbench: `create_anchors=yes`)";

fn identify(job: &Job, target: &Target) -> Result<(Identity, Kind), Complaint> {
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
        (_, Err(error)) => Err(Complaint::of_system(path, &error)),
        // Taken care of above.
        (Place::FileSet(_), Ok(_)) => file_set(job, path),
    }
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

/// Second pass, when the sizes of all objects are known.
fn find_ranges(workload: &Workload, targets: &mut Targets, problems: &mut Diagnostics) {
    for (index, (_, job)) in workload.jobs().enumerate() {
        let objects = targets.jobs[index].objects.clone();
        let mut complaints = Complaints::of(job);
        for (target, object) in job.targets.iter().zip(objects) {
            let object = &targets.objects[object];
            match range_of(job, target, object) {
                Ok(range) => targets.jobs[index].ranges.push(range),
                Err(problem) => complaints.add(target, problem),
            }
        }
        complaints.tell(problems);
    }
}

fn range_of(job: &Job, target: &Target, object: &Object) -> Result<TargetRange, Complaint> {
    let complain = |what: String| Complaint::new(what);
    let of_names = job
        .features
        .operation
        .is_some_and(FileOperation::is_of_names);
    if of_names || job.features.file_work.is_some() {
        // One operation a target: its length stands for one block, wherever that is.
        let length = job.block.largest(job.mix).get();
        return Ok(TargetRange { offset: 0, length });
    }
    let size = object.size();
    let offset = target.offset.get();
    if size == 0 {
        let problem = complain("it holds no bytes, and no size is given".to_owned());
        return Err(problem.hint("give a size, or name a target that holds data"));
    }
    if offset >= size {
        let size = Bytes::new(size);
        let problem = complain(format!(
            "the offset ({}) lies past its end ({size})",
            target.offset
        ));
        return Err(problem.hint("use a smaller offset, or a larger target"));
    }
    let rest = size - offset;
    let length = target.length.map_or(rest, Bytes::get);
    // As in fio, which knows how much a server has before it works out how much there is to do.
    let is_cut = matches!(object.kind, Kind::Export(_)) && job.existing == ExistingFiles::AsPeer;
    let length = if is_cut { length.min(rest) } else { length };
    if length == 0 {
        let problem = complain("a length of zero leaves nothing to do".to_owned());
        return Err(problem.hint("give a size above 0, or none for all that is behind the offset"));
    }
    if offset.saturating_add(length) > size {
        let (end, size) = (Bytes::new(offset.saturating_add(length)), Bytes::new(size));
        let problem = complain(format!("it has {size}, but {end} are asked for"));
        return Err(problem.hint("use a smaller size or offset, or a larger target"));
    }
    let largest = job.block.largest(job.mix).get();
    if length < largest {
        let (length, largest) = (Bytes::new(length), Bytes::new(largest));
        let problem = complain(format!(
            "{length} of it are used, less than one block of {largest}"
        ));
        return Err(problem.hint("use a smaller block, or a larger target"));
    }
    match &object.kind {
        Kind::Export(export) => exports::check(job, target, export)?,
        _ => check_alignment(job, target, object)?,
    }
    Ok(TargetRange { offset, length })
}

/// Direct I/O on a block device must be in whole sectors; a trim must be of a device, in whole sectors too.
fn check_alignment(job: &Job, target: &Target, object: &Object) -> Result<(), Complaint> {
    let trims = job.moves(Direction::Trim);
    let Kind::Device { sector, .. } = object.kind else {
        let is_file = !matches!(object.kind, Kind::Nothing { .. })
            && job.features.operation != Some(FileOperation::Allocate);
        return if trims && is_file {
            let problem = Complaint::new("only block devices can be trimmed");
            Err(problem.hint("name a block device, or leave the trims out"))
        } else {
            Ok(())
        };
    };
    if job.caching == Caching::Buffered && !trims {
        return Ok(());
    }
    let smallest = job.block.smallest(job.mix).get();
    let step = job.block.alignment.map_or(smallest, Bytes::get);
    for (what, number) in [
        ("the smallest block", smallest),
        ("the largest block", job.block.largest(job.mix).get()),
        ("the alignment", step),
        ("the offset", target.offset.get()),
    ] {
        if number % sector != 0 {
            let what = format!(
                "{what} ({}) is no multiple of its sector ({})",
                Bytes::new(number),
                Bytes::new(sector)
            );
            return Err(Complaint::new(what));
        }
    }
    Ok(())
}
