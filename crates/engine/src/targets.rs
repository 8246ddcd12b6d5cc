//! The storage objects that a workload's targets are, and the bytes of each that its jobs use.
//!
//! Several jobs may name one file or device, by several paths; it is judged, laid out and counted once. Everything here
//! only looks.

mod identify;
mod ranges;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use fathom_diagnostics::Diagnostics;
use fathom_units::Percent;
use fathom_workload::generator::TargetRange;
use fathom_workload::{
    Backend, Caching, ExistingFiles, FileOperation, Job, Target, VerifyPhase, Workload,
};

use self::identify::identify;
pub(crate) use self::identify::{no_such_device, standing, standing_above};
use self::ranges::find_ranges;
use crate::complaints::{Complaint, Complaints};
use crate::exports::Export;
use crate::file_sets::Anchor;
use crate::growth::Making;
use crate::guard::DeviceNumber;

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

/// What to do where a folder of files was given one place that holds none; who mapped the folder says which file is meant.
pub const MAP_THE_FILE: &str =
    "name what is there by itself, as one file of a job, and not as a folder of files";

/// What to do about a file among the volumes that are served as files; the path of one of them follows, in backticks.
pub const NAME_A_VOLUME: &str = "name a volume's own file there, such as ";

/// What to do about a directory that is not there.
pub const MAKE_DIRECTORY: &str =
    "make the directory first (nothing is made that was not asked for), or name another";

/// The same of a file set's, which a job can make.
pub const MAKE_ANCHOR: &str =
    "make the directory first, or let the job do it (Vdbench: `create_anchors=yes`)";
