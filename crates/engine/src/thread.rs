//! A worker's thread around its I/O: where it runs, what it has instead of plain I/O, when it begins, and what follows.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use fathom_rawio::{
    self as rawio, FileRights, LockedMemory, MappedFiles, MappedWrites, NameOperation, Names,
    Performer, Queue, RangeOperation, Ranges,
};
use fathom_record::EndReason;
use fathom_units::Bytes;
use fathom_workload::{
    Backend, Caching, ExistingFiles, FileOperation, Job, Process, ProcessorSharing, StatCall,
};

use crate::bursts::Bursts;
use crate::failures::io_error;
use crate::numa;
use crate::order::Order;
use crate::shell::{self, When};
use crate::timing::Times;
use crate::worker::{Finished, SetWorker, Source, Worker};
use crate::{About, Capability, EngineError, StopFlag, calls};

/// Files that a thread keeps beside its queue.
#[derive(Debug)]
pub(crate) struct Kept {
    /// The job's targets once more, where it asks for calls on them beside its I/O.
    pub(crate) targets: Vec<File>,
}

/// Keeps what the job needs of its files.
pub(crate) fn kept(job: &Job, files: &[File]) -> Kept {
    let handling = &job.features.files;
    let needed = handling.end_syncfs || handling.sync_range.is_some();
    let files = files.iter().filter(|_| needed);
    Kept {
        // Where descriptors run out, opening the files said so before.
        targets: files.filter_map(|file| file.try_clone().ok()).collect(),
    }
}

/// What a job asks for and the system does not allow.
fn refused(job: &Job, capability: Capability, what: &str, why: &io::Error) -> EngineError {
    EngineError::Unsupported {
        capability,
        about: About::Job(job.name.clone()),
        what: format!("job `{}`: {what}", job.name),
        why: why.to_string(),
        remedy: "leave it out, or run as a user who may ask for it".to_owned(),
    }
}

fn user_and_group(process: &Process) -> String {
    let number = |id: Option<u32>| id.map_or("as before".to_owned(), |id| id.to_string());
    let (user, group) = (number(process.user), number(process.user_group));
    format!("user {user}, group {group}")
}

/// The rights of the user that the job's files are opened by, until what is returned is dropped; `None`: the program's own.
///
/// # Errors
/// Where they cannot be had.
pub(crate) fn file_rights(job: &Job) -> Result<Option<FileRights>, EngineError> {
    let process = &job.features.process;
    if process.user.is_none() && process.user_group.is_none() {
        return Ok(None);
    }
    let rights = FileRights::of(process.user, process.user_group);
    let rights =
        rights.map_err(|error| refused(job, Capability::User, &user_and_group(process), &error))?;
    Ok(Some(rights))
}

/// What a thread holds where its job wants it.
#[derive(Debug)]
pub(crate) struct Placed {
    _locked: Option<LockedMemory>,
}

/// Takes the memory that each of the job's workers is to lock.
fn lock_memory(job: &Job) -> Result<Placed, EngineError> {
    let wanted = job.features.process.locked_memory;
    if wanted == Bytes::ZERO {
        return Ok(Placed { _locked: None });
    }
    let what = format!("locking {wanted} of memory");
    let locked = LockedMemory::new(wanted.get());
    let locked = locked.map_err(|error| match rawio::lockable() {
        Some(limit) => EngineError::Unsupported {
            capability: Capability::LockedMemory,
            about: About::Job(job.name.clone()),
            what: format!("job `{}`: {what}", job.name),
            why: format!("{error}; a process of this user may lock {limit} (`ulimit -l`)"),
            remedy: "lock less, raise the limit (`ulimit -l`, systemd's `LimitMEMLOCK=`), or run as root"
                .to_owned(),
        },
        None => refused(job, Capability::LockedMemory, &what, &error),
    });
    locked.map(|locked| Placed {
        _locked: Some(locked),
    })
}

/// Puts the calling thread where its job wants it, with the memory that it locks, until what is returned is
/// dropped.
///
/// # Errors
/// What the system does not allow.
pub(crate) fn place(job: &Job, worker: u32) -> Result<Placed, EngineError> {
    let process = &job.features.process;
    let refused = |capability, what: String, why: io::Error| refused(job, capability, &what, &why);
    rawio::become_user(process.user, process.user_group)
        .map_err(|error| refused(Capability::User, user_and_group(process), error))?;
    let all = process.processors.as_slice();
    let own = match (process.sharing, all) {
        (_, []) | (ProcessorSharing::Shared, _) => all,
        (ProcessorSharing::Split, _) => {
            // fio's clones are jobs of one worker each: their place among all is in the salt.
            let place = if job.workers > 1 {
                u64::from(worker)
            } else {
                job.salt.wrapping_sub(1)
            };
            let place = (place % all.len() as u64) as usize;
            &all[place..=place]
        }
    };
    if !own.is_empty() {
        let what = || format!("running on the processors {own:?}");
        rawio::run_on(own).map_err(|error| refused(Capability::Processors, what(), error))?;
    }
    // After the processors, as in fio: where both are given, the nodes hold.
    numa::place(job)?;
    if process.nice != 0 {
        let what = || format!("a nice value of {}", process.nice);
        rawio::be_nice(process.nice)
            .map_err(|error| refused(Capability::Priority, what(), error))?;
    }
    if let Some(priority) = process.io_priority {
        let set = rawio::set_io_priority(priority.class, priority.level, priority.hint);
        let what = || format!("I/O priority class {}", priority.class);
        set.map_err(|error| refused(Capability::Priority, what(), error))?;
    }
    lock_memory(job)
}

/// What does the job's requests in place of reads and writes of its backend; `None`: nothing does.
pub(crate) fn performer(
    job: &Job,
    files: &[File],
    names: Vec<PathBuf>,
    stop: &StopFlag,
) -> Option<io::Result<Box<dyn Performer>>> {
    let again = || {
        files
            .iter()
            .map(File::try_clone)
            .collect::<io::Result<Vec<_>>>()
    };
    if let Some(operation) = job.features.operation {
        let range = match operation {
            FileOperation::Allocate => RangeOperation::Allocate,
            FileOperation::Truncate => RangeOperation::Truncate,
            of_names => {
                let made = Names::new(name_operation(of_names), names);
                return Some(made.map(|names| Box::new(names) as Box<dyn Performer>));
            }
        };
        let made = again().map(|files| Box::new(Ranges::new(range, files)) as Box<dyn Performer>);
        return Some(made);
    }
    if let Some(work) = job.features.processor_work {
        let made = Bursts::new(work, stop.clone());
        return Some(made.map(|bursts| Box::new(bursts) as Box<dyn Performer>));
    }
    if job.backend != Backend::Mmap {
        return None;
    }
    let writes = match job.caching {
        Caching::Direct => MappedWrites::Through,
        Caching::Buffered => MappedWrites::Cached,
    };
    let mapped = again().and_then(|files| MappedFiles::new(files, writes));
    if let (Ok(mapped), Some(advice)) = (&mapped, calls::advice(job)) {
        // As with files, the kernel is free not to listen.
        let _ = mapped.advise(advice);
    }
    Some(mapped.map(|mapped| Box::new(mapped) as Box<dyn Performer>))
}

fn name_operation(operation: FileOperation) -> NameOperation {
    match operation {
        FileOperation::Create | FileOperation::Allocate | FileOperation::Truncate => {
            NameOperation::Create
        }
        FileOperation::Stat(call) | FileOperation::StatDirectory(call) => match call {
            StatCall::Stat => NameOperation::Stat,
            StatCall::Lstat => NameOperation::Lstat,
            StatCall::Statx => NameOperation::Statx,
        },
        FileOperation::Delete => NameOperation::Unlink,
        FileOperation::CreateDirectory => NameOperation::MakeDirectory,
        FileOperation::DeleteDirectory => NameOperation::RemoveDirectory,
    }
}

/// What a job's requests are called where they cannot be done.
pub(crate) fn what(job: &Job) -> &'static str {
    match job.features.operation {
        Some(operation) => operation.name(),
        None if job.features.processor_work.is_some() => "work in place of I/O",
        None => job.backend.name(),
    }
}

/// Waits for its turn, does the job's I/O with its commands before and after, and says that it has ended.
pub(crate) fn run<Q: Queue, S: Source>(
    mut worker: Box<Worker<'_, Q, S>>,
    job: &Job,
    times: Times,
    order: &Order<'_>,
    kept: &Kept,
) -> Finished {
    let (index, stop) = (worker.job_index(), worker.stop().clone());
    if begin((index, &stop), job, order) == Begun::No {
        worker.end_at_once(&BEGAN_NOT);
        return not_begun(index, order, worker.run(times));
    }
    let mut finished = worker.run(times);
    if job.features.files.end_syncfs {
        for (file, target) in kept.targets.iter().zip(&job.targets) {
            if let Err(error) = rawio::sync_file_system(file) {
                order.fail(EngineError::target(target.place.path(), "syncfs", error));
            }
        }
    }
    end((index, job), order, &mut finished);
    finished
}

/// The same for a worker on a file set.
pub(crate) fn run_set(
    mut worker: SetWorker<'_>,
    job: &Job,
    times: Times,
    order: &Order<'_>,
) -> Finished {
    let (index, stop) = (worker.job_index(), worker.stop().clone());
    if begin((index, &stop), job, order) == Begun::No {
        worker.end_at_once(&BEGAN_NOT);
        return not_begun(index, order, worker.run(times));
    }
    let mut finished = worker.run(times);
    end((index, job), order, &mut finished);
    finished
}

/// Ends a worker whose job did not begin.
static BEGAN_NOT: AtomicBool = AtomicBool::new(true);

/// Whether a job began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Begun {
    Yes,
    /// Its command before it failed.
    No,
}

/// Waits for the job's turn, and runs the command before it. One that fails is that of a peer's job alone, which others go on
/// beside; a native run has failed.
fn begin((index, stop): (usize, &StopFlag), job: &Job, order: &Order<'_>) -> Begun {
    order.wait(index, stop);
    let Some(command) = &job.features.process.command_before else {
        return Begun::Yes;
    };
    match shell::run(command, &job.name, When::Before) {
        Ok(()) => return Begun::Yes,
        Err(error) if order.workers_fail_alone() => order.failed_alone(error),
        Err(error) => order.fail(error),
    }
    Begun::No
}

/// Says that a worker whose job did not begin is no more. Nothing is run after it, and as in fio it ends no other.
fn not_begun(index: usize, order: &Order<'_>, mut finished: Finished) -> Finished {
    finished.stats.ended = EndReason::Failed;
    order.gone(index);
    finished
}

/// Runs the job's command after its work, and says that the worker has ended.
fn end((index, job): (usize, &Job), order: &Order<'_>, finished: &mut Finished) {
    // How such a command ends is nothing to a peer; a native run has failed.
    if let Some(command) = &job.features.process.command_after
        && let Err(error) = shell::run(command, &job.name, When::After)
        && job.existing == ExistingFiles::OnlyOurs
    {
        order.fail(error);
    }
    end_of_worker((index, job), order, finished);
}

/// Ends what a failure ends, and says that the worker has ended.
fn end_of_worker((index, job): (usize, &Job), order: &Order<'_>, finished: &mut Finished) {
    // Others may go on for long.
    order.found_wrong(std::mem::take(&mut finished.lines));
    // A peer's other jobs go on where one was too slow; a native run has failed.
    let too_slow = finished.shortfall.is_some() && job.existing == ExistingFiles::OnlyOurs;
    match finished.failure {
        Some(failure) if order.workers_fail_alone() => {
            order.failed_alone(io_error(job, failure));
        }
        Some(_) => order.end_all(),
        None if too_slow => order.end_all(),
        None => {}
    }
    let by_error = matches!(finished.stats.ended, EndReason::Failed | EndReason::TooSlow);
    order.ended(index, by_error);
}
