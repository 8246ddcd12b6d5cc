//! What contradicts itself in a job's lines.

use fathom_units::{Bytes, Nanos, Percent};

use super::{DIRECT_UNIT, Found};
use crate::{AccessLine, Arrival, Caching, Direction, FileChoice, Job, LINES_MAX};

pub(super) fn check(job: &Job, found: &mut Found) {
    let lines = &job.features.lines;
    if lines.is_empty() {
        return;
    }
    let key = "lines";
    if lines.len() > LINES_MAX {
        let message = format!(
            "it has {} lines; at most {LINES_MAX} are possible",
            lines.len()
        );
        found.add(key, message, "merge some of them");
    }
    if lines.iter().all(|line| line.weight == 0) {
        found.add(
            key,
            "no line has a weight",
            "give at least one a weight above 0",
        );
    }
    for line in lines {
        check_line(job, line, found);
    }
    check_shape(job, found);
    check_others(job, found);
}

fn check_line(job: &Job, line: &AccessLine, found: &mut Found) {
    let key = "lines";
    let sizes = [Some(line.size), line.reply];
    for size in sizes.into_iter().flatten() {
        if size == Bytes::ZERO || size.get() > u64::from(u32::MAX) {
            let message = format!("a line has I/Os of {} bytes", size.get());
            found.add(key, message, "give 1 byte to 4 GiB - 1");
        }
    }
    if line.burst == 0 {
        found.add(key, "a line's burst has 0 I/Os", "give at least 1");
    }
    if line
        .target
        .is_some_and(|target| target as usize >= job.targets.len())
    {
        let hint = "number the job's targets from 0";
        found.add(
            key,
            "a line names a target that the job does not have",
            hint,
        );
    }
    if line.alignment == Some(Bytes::ZERO) {
        let hint = "leave it out to align to 512 bytes";
        found.add(key, "a line's alignment is 0 bytes", hint);
    }
    let odd = |bytes: Bytes| !bytes.get().is_multiple_of(DIRECT_UNIT.get());
    let parts = [Some(line.size), line.reply, line.alignment];
    let mut parts = parts.into_iter().flatten();
    if job.caching == Caching::Direct && job.backend.opens_files() && parts.any(odd) {
        let message =
            "a line has a size or an alignment that is no multiple of 512, which direct I/O needs";
        found.add(key, message, "use multiples, or buffered I/O");
    }
}

/// Buffers and histograms are made by the job's own mix and sizes.
fn check_shape(job: &Job, found: &mut Found) {
    let drawn = || job.features.lines.iter().filter(|line| line.weight > 0);
    for way in Direction::ALL {
        let used = drawn().any(|line| line.moves(way));
        if used != (job.mix.share(way) > Percent::ZERO) {
            let message = format!("its lines and its mix do not agree on {}s", way.name());
            found.add("mix", message, "leave `mix` out: the lines say it");
        }
    }
    let largest = drawn().map(AccessLine::largest).max().unwrap_or_default();
    let block = job.block.largest(job.mix);
    if largest > block {
        let message = format!("it has lines of up to {largest}, but its blocks end at {block}");
        found.add("block", message, "leave `block` out: the lines say it");
    }
}

/// What would have a say in the same things.
fn check_others(job: &Job, found: &mut Found) {
    let features = &job.features;
    let delays = features.lines.iter().any(|line| line.delay > Nanos::ZERO);
    let open = job.arrival != Arrival::Closed;
    let others = [
        (features.placement.is_some(), "placement"),
        (features.rates.is_some(), "rates"),
        (features.verify.is_some(), "verify"),
        (features.replay.is_some(), "trace"),
        (features.operation.is_some(), "operation"),
        (delays && open, "arrival"),
        (job.file_choice == FileChoice::Sequential, "file_choice"),
    ];
    for (_, key) in others.into_iter().filter(|(given, _)| *given) {
        let message = format!("`{key}` does not go with lines, which say the same themselves");
        found.add(key, message, "leave one of them out");
    }
}
