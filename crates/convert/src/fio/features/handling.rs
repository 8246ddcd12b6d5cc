//! What is done to files around their I/O, what errors it survives, and traces, in fio's options.

use std::fs::{self, File};
use std::io::BufReader;

use fathom_dialects::fio::syncs_file_systems;
use fathom_units::Percent;
use fathom_workload::trace::TraceReader;
use fathom_workload::{
    Advice, Backend, Caching, Calls, Direction, ErrorHandling, FileHandling, Growth, Job, Lifetime,
    OnMismatch, Replay, ReplayPace, Reserve, Submitter, SyncRange, TracePart, Verify, VerifyPhase,
};

use super::super::section::Section;
use super::super::{time, triple};
use super::text;
use crate::draft::Draft;

/// What the kernel is told; fio gives advice of its own unless it is told not to, which only matters to the page cache.
pub(super) fn told(calls: &Calls, job: &Job, section: &mut Section) {
    let Calls {
        advice,
        polled,
        uncached,
        no_wait,
        atomic,
        async_every,
        submitter,
        lifetime,
    } = calls;
    let cached = job.caching == Caching::Buffered && job.backend != Backend::Null;
    let advised = match advice {
        Advice::None => "0",
        Advice::ByPattern => "1",
        Advice::Random => "random",
        Advice::Sequential => "sequential",
        Advice::Once => "noreuse",
    };
    let heeded = (cached || job.backend == Backend::Mmap) && job.features.operation.is_none();
    section.put_if(
        heeded && *advice != Advice::ByPattern,
        "fadvise_hint",
        advised,
    );
    let opens = (job.features.operation).is_none_or(|operation| !operation.is_of_names());
    if let Some(lifetime) = lifetime
        && opens
        && job.backend != Backend::Null
    {
        let word = match lifetime {
            Lifetime::Unknown => "none",
            Lifetime::Short => "short",
            Lifetime::Medium => "medium",
            Lifetime::Long => "long",
            Lifetime::Extreme => "extreme",
        };
        section.put("write_hint", word);
    }
    if job.features.operation.is_some() {
        return;
    }
    section.put_if(*polled > 0, "hipri", "1");
    section.put_if(
        (1..100).contains(polled),
        "hipri_percentage",
        polled.to_string(),
    );
    section.put_if(*uncached && cached, "uncached", "1");
    section.put_if(*no_wait, "nowait", "1");
    section.put_if(*atomic, "atomic", "1");
    section.put_if(*async_every > 0, "force_async", async_every.to_string());
    if let Some(Submitter { processor }) = submitter {
        section.put("sqthread_poll", "1");
        if let Some(processor) = processor {
            section.put("sqthread_poll_cpu", processor.to_string());
        }
    }
}

pub(super) fn handling(files: &FileHandling, section: &mut Section) {
    let FileHandling {
        pre_read,
        must_exist,
        // Of file sets, which are lost as a whole.
        make_parents: _,
        // See `made`.
        grows: _,
        made_anew,
        sync_range,
        // See `synced`.
        end_syncfs: _,
    } = files;
    section.put_if(*made_anew, "unlink_each_loop", "1");
    section.put_if(*pre_read, "pre_read", "1");
    section.put_if(*must_exist, "allow_file_create", "0");
    if let Some(SyncRange {
        every,
        wait_before,
        write,
        wait_after,
    }) = sync_range
    {
        let words = [
            ("wait_before", *wait_before),
            ("write", *write),
            ("wait_after", *wait_after),
        ];
        let words: Vec<&str> = words
            .into_iter()
            .filter_map(|(word, used)| used.then_some(word))
            .collect();
        section.put_if(
            !words.is_empty(),
            "sync_file_range",
            format!("{}:{every}", words.join(",")),
        );
    }
}

/// Not every engine of fio syncs file systems, and it refuses to be asked.
pub(super) fn synced(
    files: &FileHandling,
    number: usize,
    section: &mut Section,
    draft: &mut Draft,
) {
    if !files.end_syncfs {
        return;
    }
    let engine = section.value("ioengine").unwrap_or_default();
    if syncs_file_systems(engine) {
        section.put("end_syncfs", "1");
    } else {
        let message = format!("fio's engine `{engine}` syncs no file systems");
        draft.lost(number, "end_syncfs", message);
    }
}

/// fio lets a job that writes alone write missing files first, and lays them out for every other.
pub(super) fn made(grows: Growth, job: &Job, section: &mut Section) {
    let features = &job.features;
    let dry = features
        .verify
        .as_ref()
        .is_some_and(|verify| matches!(verify.phase, VerifyPhase::Only | VerifyPhase::Nothing));
    let by_itself = job.moves(Direction::Write)
        && job.mix.read == Percent::ZERO
        && features.operation.is_none()
        && features.replay.is_none()
        && !matches!(job.backend, Backend::Mmap | Backend::Null)
        && !dry;
    match grows {
        _ if !by_itself => {}
        Growth::No => section.put("overwrite", "1"),
        // The nearest there is.
        Growth::Whole | Growth::Reserved(Reserve::Nothing) => section.put("fallocate", "none"),
        Growth::Reserved(Reserve::Allocate) => {}
        Growth::Reserved(Reserve::KeepSize) => section.put("fallocate", "keep"),
        Growth::Reserved(Reserve::Truncate) => section.put("fallocate", "truncate"),
    }
}

/// fio names errors for reads and for writes, and counts trims among the writes.
pub(super) fn survived(errors: &ErrorHandling, verify: Option<&Verify>, section: &mut Section) {
    let ErrorHandling {
        go_on,
        ignored,
        full_ends,
        latency_max,
    } = errors;
    if *full_ends {
        section.put("fill_device", "1");
    }
    let [reads, writes, _] = *go_on;
    let checks = verify.is_some_and(|verify| verify.on_mismatch == OnMismatch::GoOn);
    let what = match (reads, writes, checks) {
        (false, false, false) => None,
        (false, false, true) => Some("verify"),
        (_, _, true) => Some("all"),
        (true, true, false) => Some("io"),
        (true, false, false) => Some("read"),
        (false, true, false) => Some("write"),
    };
    if let Some(what) = what {
        section.put("continue_on_error", what);
    }
    let list = |numbers: &[i32]| {
        numbers
            .iter()
            .map(i32::to_string)
            .collect::<Vec<_>>()
            .join(":")
    };
    let [reads, writes, _] = ignored;
    if !reads.is_empty() || !writes.is_empty() {
        section.put("ignore_error", format!("{},{}", list(reads), list(writes)));
    }
    if *latency_max != [None; 3] {
        let limit = |way: Direction| latency_max[way as usize].map_or("0".to_owned(), time);
        section.put("max_latency", triple(Direction::ALL.map(limit)));
    }
}

/// What becomes of the traces that `read_iolog` names.
fn merging(
    into: &str,
    parts: &[TracePart],
    number: usize,
    section: &mut Section,
    draft: &mut Draft,
) {
    text("merge_blktrace_file", "trace", into, number, section, draft);
    let list = |of: fn(&TracePart) -> u32| {
        let numbers = parts.iter().map(|part| of(part).to_string());
        numbers.collect::<Vec<_>>().join(":")
    };
    for (option, usual, of) in [
        (
            "merge_blktrace_scalars",
            100,
            (|part| part.scale) as fn(&TracePart) -> u32,
        ),
        ("merge_blktrace_iters", 1, |part| part.passes),
    ] {
        let differs = parts.iter().any(|part| of(part) != usual);
        section.put_if(differs, option, list(of));
    }
}

/// Whether a binary trace is there.
fn is_blktrace(path: &str) -> bool {
    // A pipe that nobody writes to would be waited for.
    if !fs::metadata(path).is_ok_and(|found| found.is_file()) {
        return false;
    }
    let trace = File::open(path).map(|file| TraceReader::new(BufReader::new(file)));
    trace.is_ok_and(|trace| trace.is_ok_and(|trace| trace.depth().is_some()))
}

pub(super) fn trace(
    replay: &Replay,
    job: &Job,
    number: usize,
    section: &mut Section,
    draft: &mut Draft,
) {
    let Replay {
        path,
        pace,
        scale,
        align,
        skip,
        files,
        redirected,
        plain_writes,
        merged,
    } = replay;
    if !plain_writes && is_blktrace(path) {
        let message =
            "fio heeds neither flushes before writes nor durable writes of a trace of blktrace";
        draft.lost(number, "trace", message);
    }
    if !files.is_empty() {
        let message = "fio replays the I/O of all files of a trace";
        draft.lost(number, "trace", message);
    }
    if job.features.trace_to.is_some() {
        let message = "a job of fio that reads a trace writes none";
        draft.lost(number, "trace_to", message);
    }
    let read = match &merged[..] {
        [] => path.replace(':', "\\:"),
        parts => {
            merging(path, parts, number, section, draft);
            let paths = parts.iter().map(|part| part.path.replace(':', "\\:"));
            paths.collect::<Vec<_>>().join(":")
        }
    };
    text("read_iolog", "trace", &read, number, section, draft);
    match pace {
        ReplayPace::AtOnce => section.put("replay_no_stall", "1"),
        ReplayPace::Timed(100) => {}
        ReplayPace::Timed(percent) => section.put("replay_time_scale", percent.to_string()),
    }
    section.put_if(*scale > 1, "replay_scale", scale.to_string());
    section.put_if(*align > 0, "replay_align", align.to_string());
    let kinds = ["read", "write", "trim", "sync"];
    let left_out: Vec<&str> = kinds
        .into_iter()
        .zip(skip)
        .filter_map(|(kind, skip)| skip.then_some(kind))
        .collect();
    section.put_if(!left_out.is_empty(), "replay_skip", left_out.join(","));
    if *redirected && let Some(target) = job.targets.first() {
        text(
            "replay_redirect",
            "target",
            target.place.path(),
            number,
            section,
            draft,
        );
    }
}
