//! A job whose I/O comes from a trace: its files, directions and sizes, found by reading the trace once.
//!
//! A trace that a job of an earlier stage is yet to write cannot be read before the run. What that job may do says all that
//! must be known of it.

use std::io;

use fathom_diagnostics::{Diagnostic, Diagnostics};
use fathom_units::Bytes;
use fathom_workload::trace::{TraceReader, TraceSummary, merged_summary};
use fathom_workload::{
    Access, Arrival, Backend, Direction, Job, Limits, Place, Replay, ReplayPace, SequentialScope,
    Stage, Target, TracePart,
};

use super::context::{FileStatus, Files};
use super::engine::backend;
use super::errno::{EINVAL, EISDIR, ENOENT};
use super::file_names::split_list;
use super::input::TraceMerge;
use super::late::Complaints;
use super::settings::Settings;

/// Deepest queue that a trace asks for by itself: stacked devices do not tell every completion.
const DEPTH_MAX: u32 = 1024;

const MERGED_HINT: &str = "blktrace's output becomes such a trace by `blkparse -d FILE`";

/// A trace that was looked through.
#[derive(Debug)]
pub struct Replayed {
    replay: Replay,
    summary: TraceSummary,
    /// The depth of the trace, where the job asks for none.
    depth: Option<u32>,
    /// The files of the trace.
    pub targets: Vec<Target>,
}

/// Warns of a trace that the job is to write and nobody reads: words of its lines end at blanks.
pub fn warn_of_blanks(
    settings: &Settings,
    name: &str,
    targets: &[Target],
    diagnostics: &mut Diagnostics,
) {
    if settings.control.trace.write.is_none() || settings.control.trace.read.is_some() {
        return;
    }
    let mut paths = targets.iter().map(|target| target.place.path());
    let Some(path) = paths.find(|path| path.contains(char::is_whitespace)) else {
        return;
    };
    let message = format!(
        "job `{name}`: nobody can read its trace: names in it end at a blank, and `{path}` has one"
    );
    let warning =
        Diagnostic::warning(message).hint("name files without blanks, or leave out write_iolog=");
    diagnostics.push(match settings.location("write_iolog") {
        Some(location) => warning.at(location),
        None => warning,
    });
}

/// Where the traces of jobs come from that are no files yet.
#[derive(Clone, Copy)]
pub struct Before<'a> {
    /// Jobs that may write some.
    pub stages: &'a [Stage],
    /// What is merged before the first job begins.
    pub merges: &'a [TraceMerge],
}

/// Looks through the trace of clone `number`, or what it is merged from, or takes it for what a job of an earlier stage will
/// write; `None` after an error, which is said.
pub fn look_through(
    settings: &Settings,
    (name, number): (&str, u64),
    before: Before<'_>,
    files: &dyn Files,
    diagnostics: &mut Complaints<'_>,
) -> Option<Replayed> {
    let list = split_list(settings.control.trace.read.as_deref()?);
    let path = match &settings.control.trace.merge_into {
        Some(into) => into.clone(),
        None => list[(number % list.len() as u64) as usize].clone(),
    };
    let merge = before.merges.iter().find(|merge| merge.into == path);
    // What it says of a file without a first line is left from what it did before.
    let errno = match files.status(&path) {
        FileStatus::Directory => EISDIR,
        FileStatus::Regular(Bytes::ZERO) => ENOENT,
        _ => EINVAL,
    };
    let mut refuse = |message: String, hint: &str| {
        let error = Diagnostic::error(format!("job `{name}`: {message}")).hint(hint);
        let error = match settings.location("read_iolog") {
            Some(location) => error.at(location),
            None => error,
        };
        diagnostics.late(errno, error);
    };
    let replay = Replay {
        path: path.clone(),
        pace: if settings.control.trace.no_stall {
            ReplayPace::AtOnce
        } else {
            ReplayPace::Timed(settings.control.trace.time_scale)
        },
        scale: settings.control.trace.scale,
        align: settings.control.trace.align,
        skip: settings.control.trace.skip,
        files: Vec::new(),
        redirected: settings.control.trace.redirect.is_some(),
        plain_writes: true,
        merged: merge.map_or_else(Vec::new, |merge| merge.parts.clone()),
    };
    let jobs = before.stages.iter().flat_map(|stage| &stage.jobs);
    let mut writers = jobs.filter(|job| job.features.trace_to.as_ref() == Some(&path));
    let summary = match writers.next_back() {
        Some(writer) => Ok(yet_to_be_written(writer, &replay, files)),
        None => read(&replay, files),
    };
    let summary = match summary {
        Ok(summary) => summary,
        Err((problem, hint)) => {
            refuse(problem, hint);
            return None;
        }
    };
    if summary.ios == [0; 3] {
        let hint = "record one while I/O is done, or skip less of it (`replay_skip`)";
        refuse(format!("trace `{path}` holds no I/O to replay"), hint);
        return None;
    }
    match targets(settings, &summary, files) {
        Ok(targets) => Some(Replayed {
            replay,
            depth: summary
                .depth
                .filter(|_| settings.location("iodepth").is_none()),
            summary,
            targets,
        }),
        Err(message) => {
            let hint = "name the device to use in its place with `replay_redirect`";
            refuse(format!("trace `{path}`: {message}"), hint);
            None
        }
    }
}

/// The traces of a job that are to be merged, where jobs before it merge those of `others`; `None` where there are none
/// but those, or after an error, which is said.
pub fn merge(
    settings: &Settings,
    name: &str,
    others: &[TraceMerge],
    diagnostics: &mut Diagnostics,
) -> Option<TraceMerge> {
    let trace = &settings.control.trace;
    let into = trace.merge_into.clone()?;
    let mut refuse = |option: &str, message: String, hint: &str| {
        let error = Diagnostic::error(format!("job `{name}`: {message}")).hint(hint);
        diagnostics.push(match settings.location(option) {
            Some(location) => error.at(location),
            None => error,
        });
    };
    let Some(traces) = trace.read.as_deref().map(split_list) else {
        let message = "`merge_blktrace_file` without `read_iolog` has nothing to merge".to_owned();
        refuse(
            "merge_blktrace_file",
            message,
            "name the traces, as in `read_iolog=a:b`",
        );
        return None;
    };
    if traces.contains(&into) {
        let message = format!("`{into}` is one of the traces that are merged");
        refuse("merge_blktrace_file", message, "name another file");
        return None;
    }
    let mut parts: Vec<_> = traces
        .into_iter()
        .map(|path| TracePart {
            path,
            scale: 100,
            passes: 1,
        })
        .collect();
    for (option, values) in [
        ("merge_blktrace_scalars", &trace.merge_scales),
        ("merge_blktrace_iters", &trace.merge_passes),
    ] {
        if !values.is_empty() && values.len() != parts.len() {
            let (values, traces) = (values.len(), parts.len());
            let message = format!("`{option}` has {values} for the {traces} of `read_iolog`");
            refuse(option, message, "write one for each trace, in their order");
            return None;
        }
        for (part, value) in parts.iter_mut().zip(values) {
            match option {
                "merge_blktrace_scalars" => part.scale = *value,
                _ => part.passes = *value,
            }
        }
    }
    if let Some(other) = others.iter().find(|other| other.into == into) {
        if other.parts == parts {
            return None;
        }
        let message = format!("a job before it merges other traces into `{into}`");
        refuse("merge_blktrace_file", message, "name another file");
        return None;
    }
    Some(TraceMerge { parts, into })
}

/// What is in a trace; or what is wrong with which one, and what to do.
fn read(replay: &Replay, files: &dyn Files) -> Result<TraceSummary, (String, &'static str)> {
    let hint = "traces are written by `write_iolog` and by blktrace";
    if !replay.merged.is_empty() {
        let summary = merged_summary(&|path| files.open(path), replay);
        return summary.map_err(|problem| (problem, MERGED_HINT));
    }
    let opened = match replay.path.as_str() {
        "-" => Err(io::Error::other(
            "a trace is read twice, so it must be a file",
        )),
        path => files.open(path),
    };
    let told = |problem: &dyn std::fmt::Display| format!("trace `{}`: {problem}", replay.path);
    let input = opened.map_err(|error| (told(&error), "name a trace that can be read"))?;
    let summary = TraceReader::new(input).and_then(|trace| TraceSummary::of(trace, replay));
    summary.map_err(|error| (told(&error), hint))
}

/// The most that the trace of `writer` may hold: its files, in its order of them, and the largest block of every direction that
/// it goes, of which its checks are one. The run compares this with the trace once it is there.
fn yet_to_be_written(writer: &Job, replay: &Replay, files: &dyn Files) -> TraceSummary {
    let end = |target: &Target| match (target.length, files.status(target.place.path())) {
        (Some(length), _) => target.offset.get().saturating_add(length.get()),
        (None, FileStatus::Regular(size) | FileStatus::Special(Some(size))) => size.get(),
        (None, _) => 0,
    };
    let largest = |way| {
        let sizes = writer.block.of(way).iter().map(|entry| entry.size.get());
        u32::try_from(sizes.max().unwrap_or(0)).unwrap_or(u32::MAX)
    };
    let mut summary = TraceSummary::default();
    for target in &writer.targets {
        summary.files.push(target.place.path().to_owned());
        let end = end(target) / u64::from(replay.scale.max(1));
        summary.ends.push(end);
    }
    for way in Direction::ALL {
        let number = way as usize;
        if replay.skip[number] || !writer.moves(way) {
            continue;
        }
        summary.ios[number] = u64::from(writer.mix.share(way).basis_points().max(1));
        summary.largest[number] = match way {
            // What is checked is as large as what was written.
            Direction::Read if writer.features.verify.is_some() => {
                largest(way).max(largest(Direction::Write))
            }
            way => largest(way),
        };
    }
    summary
}

fn targets(
    settings: &Settings,
    summary: &TraceSummary,
    files: &dyn Files,
) -> Result<Vec<Target>, String> {
    let block = summary.largest_buffer();
    let target = |path: String, end: u64| {
        // A device is as large as it is; a file must reach as far as the trace does, and so must what is not opened.
        let opens = backend(settings) != Backend::Null;
        let is_device = opens && matches!(files.status(&path), FileStatus::Special(_));
        Target {
            place: Place::Path(path),
            offset: Bytes::ZERO,
            length: (!is_device).then(|| Bytes::new(end.max(block))),
        }
    };
    if let Some(path) = &settings.control.trace.redirect {
        let end = summary.ends.iter().copied().max().unwrap_or(0);
        return Ok(vec![target(path.clone(), end)]);
    }
    let folders = settings.directory.as_deref().map(split_list);
    let mut targets = Vec::with_capacity(summary.files.len());
    for (name, end) in summary.files.iter().zip(&summary.ends) {
        let path = if summary.devices {
            files
                .device(name)
                .ok_or_else(|| format!("there is no block device {name} here"))?
        } else {
            match folders.as_deref() {
                Some([folder, ..]) => format!("{folder}/{name}"),
                _ => name.clone(),
            }
        };
        targets.push(target(path, *end));
    }
    Ok(targets)
}

impl Replayed {
    /// Whether the trace writes, whatever the job says of its pattern.
    pub fn writes(&self) -> bool {
        self.summary.ios[Direction::Write as usize] > 0
    }

    /// Makes `job` replay it. What the job says of pattern, sizes, rates and ends has no meaning any more.
    pub fn apply(self, job: &mut Job) {
        job.block = self.summary.block_sizes();
        job.mix = self.summary.mix();
        job.access = Access::Sequential {
            gap: Bytes::ZERO,
            scope: SequentialScope::PerWorker,
        };
        if let Some(depth) = self.depth
            && !matches!(job.backend, Backend::Sync | Backend::Mmap)
        {
            job.depth = depth.min(DEPTH_MAX);
        }
        job.features.placement = None;
        job.features.rates = None;
        let minimum = job.features.minimum.take();
        job.features.minimum = minimum.and_then(|minimum| minimum.only(|way| job.moves(way)));
        job.arrival = Arrival::Closed;
        // A trace has its own: fio looks whether one is due only where it draws the I/O itself.
        job.sync.fsync_every = 0;
        job.sync.fdatasync_every = 0;
        job.features.files.sync_range = None;
        job.limits = Limits {
            start_delay: job.limits.start_delay,
            runtime: job.limits.runtime,
            loops: 1,
            ..Limits::default()
        };
        job.features.replay = Some(self.replay);
    }
}
