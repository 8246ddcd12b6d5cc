//! What the kernel is told with or before a job's I/O: whether it can be, and in the terms of its calls.

use std::fs::{self, File};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use fathom_diagnostics::{Diagnostic, Diagnostics};
use fathom_rawio::{self as rawio, RingUnusable};
use fathom_units::Bytes;
use fathom_workload::{
    Access, Advice, Backend, Caching, Calls, Direction, Job, Lifetime, Target, Workload,
};

use crate::guard;
use crate::targets::{Kind, Object, Targets, standing_above};
use crate::{About, Capability, EngineError};

/// Drops what is used of a target from the page cache. It is a hint to the kernel: what it cannot drop (dirty pages, tmpfs)
/// stays.
pub(crate) fn drop_used(file: &File, target: &Target) {
    let length = target.length.map_or(0, Bytes::get);
    let _ = rawio::drop_cache(file, target.offset.get(), length);
}

/// What a pass finds in the page cache of the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NextPass {
    /// Nothing: what is used of a target is dropped when it begins anew.
    FindsNothing,
    /// Whatever is left.
    FindsWhatIsLeft,
    /// Files of its own: those of the pass before are removed when it begins.
    MakesFilesAnew,
}

impl NextPass {
    /// Of a job with this backend.
    pub(crate) fn of(job: &Job, backend: Backend) -> Self {
        let drops = job.drop_cache
            && job.caching == Caching::Buffered
            && !job.features.files.pre_read
            && job.features.operation.is_none()
            && backend.opens_files();
        if job.features.files.made_anew && backend.opens_files() {
            Self::MakesFilesAnew
        } else if drops {
            Self::FindsNothing
        } else {
            Self::FindsWhatIsLeft
        }
    }
}

/// Flags of the job's I/O.
pub(crate) fn of(job: &Job) -> rawio::Calls {
    let Calls {
        advice: _,
        polled,
        uncached,
        no_wait,
        atomic,
        async_every,
        submitter,
        lifetime: _,
    } = job.features.calls;
    rawio::Calls {
        polled,
        uncached,
        no_wait,
        atomic,
        async_every,
        submitter: submitter.map(|thread| rawio::Submitter {
            processor: thread.processor,
        }),
    }
}

/// What the kernel is told of the job's files; `None`: nothing.
pub(crate) fn advice(job: &Job) -> Option<rawio::Advice> {
    match (job.features.calls.advice, job.access) {
        (Advice::None, _) => None,
        (Advice::Sequential, _) | (Advice::ByPattern, Access::Sequential { .. }) => {
            Some(rawio::Advice::Sequential)
        }
        (Advice::Random | Advice::ByPattern, _) => Some(rawio::Advice::Random),
        (Advice::Once, _) => Some(rawio::Advice::Once),
    }
}

/// Tells the kernel how the job's files will be read. It is free not to listen, so an error is none of the job's.
pub(crate) fn advise(job: &Job, files: &[File]) {
    let Some(advice) = advice(job) else {
        return;
    };
    for (file, target) in files.iter().zip(&job.targets) {
        let length = target.length.map_or(0, Bytes::get);
        let _ = rawio::advise(file, target.offset.get(), length, advice);
    }
}

/// Tells the kernel how long what is written to the job's files and devices is expected to live.
///
/// # Errors
/// Where it does not take that.
pub(crate) fn tell_lifetime(job: &Job, files: &[File]) -> Result<(), EngineError> {
    let Some(lifetime) = job.features.calls.lifetime else {
        return Ok(());
    };
    let lifetime = match lifetime {
        Lifetime::Unknown => rawio::Lifetime::Unknown,
        Lifetime::Short => rawio::Lifetime::Short,
        Lifetime::Medium => rawio::Lifetime::Medium,
        Lifetime::Long => rawio::Lifetime::Long,
        Lifetime::Extreme => rawio::Lifetime::Extreme,
    };
    let caching = match job.caching {
        Caching::Direct => rawio::Caching::Direct,
        Caching::Buffered => rawio::Caching::Buffered,
    };
    for (file, target) in files.iter().zip(&job.targets) {
        // Character devices store nothing.
        let is_stored = file.metadata().is_ok_and(|it| {
            let kind = it.file_type();
            kind.is_file() || kind.is_block_device()
        });
        if is_stored && let Err(error) = rawio::set_lifetime(file, lifetime, caching) {
            return Err(EngineError::Unsupported {
                capability: Capability::ExpectedLifetime,
                about: About::Job(job.name.clone()),
                what: format!(
                    "job `{}`: telling how long data in `{}` is expected to live (fio: `write_hint`)",
                    job.name,
                    target.place.path()
                ),
                why: error.to_string(),
                remedy: "leave it out, or write to a file of your own on Linux 4.13 or newer"
                    .to_owned(),
            });
        }
    }
    Ok(())
}

/// Whether the job's writes are to be stored whole or not at all.
fn is_atomic(job: &Job) -> bool {
    let has_writes = job.backend != Backend::Null && job.features.operation.is_none();
    job.features.calls.atomic && job.moves(Direction::Write) && has_writes
}

/// Looks whether the job's files take writes of its sizes that are stored whole or not at all.
///
/// # Errors
/// Where one does not.
pub(crate) fn check_atomic(job: &Job, files: &[File]) -> Result<(), EngineError> {
    if !is_atomic(job) {
        return Ok(());
    }
    for (file, target) in files.iter().zip(&job.targets) {
        let path = target.place.path();
        let sizes = rawio::atomic_write_sizes(file)
            .map_err(|error| EngineError::target(path, "asking for atomic writes", error))?;
        let (why, remedy) = match sizes {
            None => {
                let why = "it offers no writes that are stored whole or not at all";
                let remedy = "use a disk that offers them (Linux 6.11 or newer) or XFS with reflinks (6.16), or leave them \
                              out (fio: `atomic`)";
                (why.to_owned(), remedy)
            }
            Some((least, most)) => {
                let writes = job.block.of(Direction::Write).iter();
                let fits = |size: &u64| (u64::from(least)..=u64::from(most)).contains(size);
                let Some(other) = writes
                    .map(|entry| entry.size.get())
                    .find(|size| !fits(size))
                else {
                    continue;
                };
                let [other, least, most] = [other, least.into(), most.into()].map(Bytes::new);
                let why = format!(
                    "it offers those of {least} to {most}, and the job has some of {other}"
                );
                (why, "use blocks of these sizes")
            }
        };
        return Err(EngineError::Unsupported {
            capability: Capability::AtomicWrites,
            about: About::Job(job.name.clone()),
            what: format!("job `{}`: atomic writes to `{path}`", job.name),
            why,
            remedy: remedy.to_owned(),
        });
    }
    Ok(())
}

/// Whether the job polls in its ring, which then does nothing else.
fn polls(job: &Job) -> bool {
    job.backend == Backend::IoUring && job.features.calls.polled > 0
}

/// Adds what atomic writes, or a ring that polls, cannot be.
pub(crate) fn check(job: &Job, problems: &mut Diagnostics) {
    let mut complain = |what: &str, hint: &str| {
        problems.push(Diagnostic::error(format!("job `{}`: {what}", job.name)).hint(hint));
    };
    if is_atomic(job) {
        if job.caching == Caching::Buffered {
            let hint = "use direct I/O, or leave atomic writes (fio: `atomic`) out";
            complain("buffered writes cannot be atomic", hint);
        }
        let writes = job.block.of(Direction::Write).iter();
        let mut sizes = writes.map(|entry| entry.size);
        if let Some(size) = sizes.find(|size| !size.get().is_power_of_two()) {
            let what = format!("an atomic write of {size} is not possible");
            complain(&what, "write blocks whose sizes are powers of two");
        }
    }
    if !polls(job) {
        return;
    }
    if job.caching == Caching::Buffered {
        let hint = "use direct I/O, or leave polling (fio: `hipri`) out";
        complain("buffered I/O cannot be polled for", hint);
    }
    let sync = &job.sync;
    let between = sync.fsync_every > 0 || sync.fdatasync_every > 0;
    // A job that only reads syncs nothing, whatever it asks for.
    if job.mix.changes_data() && (between || sync.at_end || sync.on_close) {
        let hint = "leave the syncs out, or polling (fio: `hipri`)";
        complain("a ring that polls for completions has no syncs", hint);
    }
}

/// Says where a job polls devices that cannot be polled.
///
/// # Errors
/// [`EngineError::Unsupported`] of the first.
pub(crate) fn check_devices(workload: &Workload, targets: &Targets) -> Result<(), EngineError> {
    for ((_, job), of_job) in workload.jobs().zip(&targets.jobs) {
        if !polls(job) {
            continue;
        }
        for index in &of_job.objects {
            let object = &targets.objects[*index];
            let Some(device) = path_of(object).and_then(guard::whole_device_under) else {
                continue;
            };
            let setting = format!("/sys/block/{}/queue/io_poll", device.name);
            if fs::read_to_string(&setting).is_ok_and(|text| text.trim() == "0") {
                return Err(EngineError::Unsupported {
                    capability: Capability::Polling,
                    about: About::Target(object.path.clone()),
                    what: format!("polling for completions on `{}`", object.path),
                    why: format!(
                        "the driver of {} has no queues for it ({setting} is 0)",
                        device.name
                    ),
                    remedy: "leave polling (fio: `hipri`) out; for NVMe, load its driver with `poll_queues=1`"
                        .to_owned(),
                });
            }
        }
    }
    Ok(())
}

/// Where an object lies, if it lies anywhere.
pub(crate) fn path_of(object: &Object) -> Option<&Path> {
    match &object.kind {
        // A file that is not there yet will lie where its directory does.
        Kind::File { full, existing } => match existing {
            Some(_) => Some(full),
            None => Some(standing_above(full)),
        },
        Kind::Fresh { directory } => Some(directory),
        Kind::Device { .. } => Some(Path::new(&object.path)),
        Kind::Directory { .. }
        | Kind::FileSet { .. }
        | Kind::Export(_)
        | Kind::Character
        | Kind::Nothing { .. } => None,
    }
}

/// Says where a job asks of io_uring what nothing else can do, and there is none.
///
/// # Errors
/// [`EngineError::Unsupported`] of the first.
pub(crate) fn check_without_ring(
    workload: &Workload,
    reason: &RingUnusable,
) -> Result<(), EngineError> {
    let needs_ring = |job: &Job| {
        let calls = &job.features.calls;
        let own = calls.polled > 0 || calls.async_every > 0 || calls.submitter.is_some();
        own && job.backend == Backend::IoUring
    };
    match workload.jobs().find(|(_, job)| needs_ring(job)) {
        None => Ok(()),
        Some((_, job)) => {
            let leave = "leave out polling, the kernel's submitting thread and asynchronous calls";
            let remedy = match reason.remedy() {
                Some(remedy) => format!("{remedy}; or {leave}"),
                None => leave.to_owned(),
            };
            Err(EngineError::Unsupported {
                capability: Capability::IoUring,
                about: About::Job(job.name.clone()),
                what: format!("what job `{}` asks of io_uring", job.name),
                why: reason.to_string(),
                remedy,
            })
        }
    }
}
