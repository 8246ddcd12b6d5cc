//! What contradicts itself in work on a file set.

use fathom_units::{Bytes, Iops, Percent};

use super::{DIRECT_UNIT, Found};
use crate::{
    Access, Arrival, Backend, Caching, Calls, Direction, FileSet, FileSizes, FileTask, FileWork,
    Job, SET_DEPTH_MAX, SET_MAX, SetChoice, SetFormat, StopAfter,
};

/// Largest mean of a Poisson choice.
const POISSON_MAX: u32 = 100;

pub(super) fn check(job: &Job, found: &mut Found) {
    let sets: Vec<&FileSet> = (job.targets.iter())
        .filter_map(|target| target.place.file_set())
        .collect();
    let Some(work) = job.features.file_work.as_deref() else {
        if !sets.is_empty() {
            let message = "its target is a file set, and it does not say what is done there";
            found.add("target", message, "add `file_work`, such as \"read\"");
        }
        return;
    };
    let wanted = if work.task.has_second() { 2 } else { 1 };
    if sets.len() != job.targets.len() || sets.len() != wanted {
        let message = format!(
            "its work needs {} as its target",
            if wanted == 1 {
                "one file set"
            } else {
                "two file sets"
            }
        );
        found.add(
            "target",
            message,
            "name one like { tree = \"/mnt/tree\", files = 100 }",
        );
        return;
    }
    for set in &sets {
        check_set(set, found);
    }
    if let [first, second] = sets[..] {
        check_pair(first, second, found);
    }
    check_work(work, job, found);
    check_foreign(job, found);
    if job.caching == Caching::Direct {
        for set in sets
            .iter()
            .filter(|set| !set.sizes.are_multiples_of(DIRECT_UNIT))
        {
            let message = format!(
                "files of `{}` have sizes that are no multiples of 512, which direct I/O needs",
                set.anchor
            );
            found.add("target", message, "use multiples, or buffered I/O");
        }
    }
}

fn check_set(set: &FileSet, found: &mut Found) {
    let anchor = &set.anchor;
    if anchor.is_empty() || anchor.contains('\0') {
        let message = "the directory of its file set is empty or holds a zero byte";
        found.add("target", message, "name a directory");
    }
    if set.depth == 0 || set.width == 0 || set.files == 0 {
        let message = format!("a depth, width or number of files of `{anchor}` is 0");
        found.add("target", message, "give at least 1 of each");
        return;
    }
    if set.depth > SET_DEPTH_MAX {
        let depth = set.depth;
        let message =
            format!("`{anchor}` is {depth} directories deep; at most {SET_DEPTH_MAX} are possible");
        found.add("target", message, "use fewer levels");
        return;
    }
    for (count, what) in [
        (set.directory_count(), "directories"),
        (set.file_count(), "files"),
    ] {
        if count > SET_MAX {
            // Counting stops at the largest number.
            let count = match count {
                u64::MAX => "more than 10^19".to_owned(),
                count => count.to_string(),
            };
            let message = format!("`{anchor}` has {count} {what}; at most {SET_MAX} are possible");
            found.add("target", message, "use less depth, width or files");
            return;
        }
    }
    if check_sizes(set, found) {
        check_parts(set, found);
    }
}

fn check_sizes(set: &FileSet, found: &mut Found) -> bool {
    let anchor = &set.anchor;
    let good = match &set.sizes {
        FileSizes::Around(mean) => mean.get() >= 1024,
        FileSizes::Weighted(sizes) => {
            let mut used = sizes.iter().filter(|entry| entry.weight > 0).peekable();
            used.peek().is_some() && used.all(|entry| entry.size > Bytes::ZERO)
        }
    };
    if !good {
        let message = format!("a size of the files of `{anchor}` is 0, or there is none");
        found.add(
            "target",
            message,
            "give sizes above 0; a mean of at least 1 KiB",
        );
        return false;
    }
    // The largest file of ext4.
    if set.sizes.largest() > Bytes::gib(16 << 10) {
        let message = format!("files of `{anchor}` are larger than 16 TiB");
        found.add("target", message, "use smaller ones");
        return false;
    }
    true
}

fn check_parts(set: &FileSet, found: &mut Found) {
    let anchor = &set.anchor;
    if set.total.is_none() && set.working_set.is_none() {
        return;
    }
    let all = set.bytes();
    let used = set.total.unwrap_or(all);
    for (part, of, what) in [
        (set.total, all, "total size"),
        (set.working_set, used, "working set"),
    ] {
        let Some(part) = part else { continue };
        if part == Bytes::ZERO || part > of {
            let message = format!(
                "the {what} of `{anchor}` is {part}, and its files have {of} to choose from"
            );
            found.add("target", message, "give a size between");
        }
    }
}

/// Files go to the one of the same number.
fn check_pair(first: &FileSet, second: &FileSet, found: &mut Found) {
    let shape = |set: &FileSet| FileSet {
        anchor: String::new(),
        total: None,
        working_set: None,
        ..set.clone()
    };
    if shape(first) != shape(second) {
        let message = "its two file sets differ in more than their directory";
        found.add(
            "target",
            message,
            "give both the same depth, width, files and sizes",
        );
    }
    if first.anchor == second.anchor {
        let message = "both its file sets are in the same directory";
        found.add("target", message, "give each a directory of its own");
    }
}

fn check_work(work: &FileWork, job: &Job, found: &mut Found) {
    let key = "file_work";
    let moves = matches!(
        work.task,
        FileTask::Read | FileTask::Write | FileTask::ReadWrite
    );
    if work.task == FileTask::ReadWrite && job.moves(Direction::Trim) {
        found.add(
            "mix",
            "files of a set cannot be trimmed",
            "use reads and writes",
        );
    }
    if matches!(work.choice, SetChoice::Poisson(mean) if mean == 0 || mean > POISSON_MAX) {
        let message = format!("the mean of its Poisson choice is not from 1 to {POISSON_MAX}");
        found.add(key, message, "3 is usual");
    }
    let left_out = match work.stop_after {
        Some(StopAfter::Ios(ios)) => ios == 0,
        Some(StopAfter::Share(share)) => share == Percent::ZERO,
        None => false,
    };
    if left_out {
        found.add(key, "files are left after 0 I/Os", "allow at least one");
    }
    let sequential = matches!(job.access, Access::Sequential { .. });
    if matches!(job.access, Access::Mixed { .. }) && moves {
        let message = "access within the files of a set is either random or sequential";
        found.add("access", message, "choose one");
    }
    if work.delete_first && !(work.task == FileTask::Write && sequential) {
        let message = "only files that are written sequentially can be removed first";
        found.add(key, message, "use the task `write` and sequential access");
    }
    if work.shared && (!moves || sequential) {
        let message = "only random reads and writes can share their files";
        found.add(key, message, "use random access, or leave `shared` out");
    }
    if work.rate.is_some_and(|rate| rate.rate == Iops::new(0)) {
        found.add(
            key,
            "its rate is 0",
            "give one such as `100/s`, or leave it out",
        );
    }
    if matches!(
        work.task,
        FileTask::Format(SetFormat::Anew | SetFormat::Complete)
    ) && job.block.of(Direction::Write).is_empty()
    {
        found.add(
            "block",
            "formatting writes, and there is no size for writes",
            "give one",
        );
    }
}

/// What is for I/O on files and devices means nothing here, and must not be left out in silence.
fn check_foreign(job: &Job, found: &mut Found) {
    let asked = of_job(job).into_iter().chain(of_features(job));
    for (_, key, what) in asked.filter(|(asked, ..)| *asked) {
        let message = format!("it has {what}, which work on a file set has not");
        found.add(
            key,
            message,
            "leave it out; `workers` and `file_work.rate` set its load",
        );
    }
}

/// Whether a job asks for something, its key, and what it is.
type Foreign = (bool, &'static str, &'static str);

fn of_job(job: &Job) -> [Foreign; 7] {
    let sync = &job.sync;
    let syncs = sync.fsync_every > 0 || sync.fdatasync_every > 0;
    let depth = "more than one I/O outstanding per worker";
    let bytes = "an end after so many bytes";
    [
        (
            job.backend != Backend::Sync,
            "backend",
            "a backend other than `sync`",
        ),
        (job.depth != 1, "depth", depth),
        (
            job.arrival != Arrival::Closed,
            "arrival",
            "a rate per worker",
        ),
        (job.limits.bytes.is_some(), "measure", bytes),
        (job.limits.loops > 1, "measure", "several passes"),
        (syncs, "sync", "syncs between writes"),
        (job.split_latency, "split_latency", "latency taken apart"),
    ]
}

fn of_features(job: &Job) -> [Foreign; 16] {
    let features = &job.features;
    let search = features.latency_target.is_some();
    [
        (
            features.operation.is_some(),
            "operation",
            "an operation in place of I/O",
        ),
        (features.replay.is_some(), "trace", "a trace"),
        (
            features.trace_to.is_some(),
            "trace_to",
            "a trace to be written",
        ),
        (features.verify.is_some(), "verify", "checks of data"),
        (features.think.is_some(), "think", "pauses"),
        (
            features.think_cycles > 0,
            "think_cycles",
            "work between I/Os",
        ),
        (
            features.warmup_bytes > Bytes::ZERO,
            "warmup_bytes",
            "a warm-up of bytes",
        ),
        (features.rates.is_some(), "rates", "rates by direction"),
        (features.minimum.is_some(), "rates_min", "rates to keep up"),
        (search, "latency_target", "a search for a depth"),
        (
            features.steady.is_some(),
            "steady",
            "an end when results are steady",
        ),
        (features.io_log.is_on(), "log", "a log of its I/O"),
        (
            features.placement.is_some(),
            "placement",
            "a placement of its I/O",
        ),
        (
            features.priorities.is_some(),
            "priorities",
            "priorities of single I/Os",
        ),
        (features.batches.is_some(), "batches", "batches"),
        (
            features.calls != Calls::default(),
            "calls",
            "advice and flags for the kernel",
        ),
    ]
}
