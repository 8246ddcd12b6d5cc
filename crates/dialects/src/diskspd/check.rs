//! Settings that contradict each other, on a command line or in a profile.

use super::settings::{Cache, Contents, Profile, Span, SpreadUnit, Target};
use super::source::Source;
use fathom_workload::LINES_MAX;

/// Most threads on all targets of a timespan together.
const THREADS_MAX: u64 = 65_536;
/// Most pairs of a thread and a target over all timespans.
const PAIRS_MAX: u64 = 100_000;

/// What must not be.
struct Rule {
    broken: fn(&Span, &Target) -> bool,
    /// The option at fault.
    option: &'static str,
    message: &'static str,
    hint: &'static str,
}

const fn rule(
    option: &'static str,
    message: &'static str,
    hint: &'static str,
    broken: fn(&Span, &Target) -> bool,
) -> Rule {
    Rule {
        broken,
        option,
        message,
        hint,
    }
}

/// Whether several threads work on a target.
fn is_shared(span: &Span, target: &Target) -> bool {
    span.threads_on(target) > 1
}

/// Whether threads share their I/Os out among several targets.
fn is_pooled(span: &Span) -> bool {
    span.shares_requests() && span.targets.len() > 1
}

/// Whether strides are below the block, so that I/Os overlap.
pub fn overlaps(target: &Target) -> bool {
    target.random.is_none() && target.step() < target.block
}

const RULES: &[Rule] = &[
    rule(
        "F",
        "`-F` and `-t` (ThreadCount and ThreadsPerFile) both say how many threads there are",
        "leave one of them out",
        |span, it| span.pool.is_some() && it.threads > 1,
    ),
    rule(
        "O",
        "`-O` (RequestCount of a timespan) does not go with `-g`, `-j` or `-p`",
        "use `-o` (RequestCount of each target)",
        |span, it| {
            span.shares_requests()
                && (it.throttle.is_some() || it.think_ms.is_some() || it.parallel)
        },
    ),
    rule(
        "weight",
        "a weight of 0 gives the target no I/O",
        "give at least 1, or leave the target out",
        |span, it| {
            let none = |weight: &(u32, Option<u32>)| weight.1 == Some(0);
            span.shares_requests() && (it.weight == 0 || it.pool_threads.iter().any(none))
        },
    ),
    rule(
        "pool",
        "it names a thread that the timespan does not have",
        "threads are numbered from 0 to one below ThreadCount",
        |span, it| {
            let threads = span.pool.unwrap_or(u32::MAX);
            it.pool_threads.iter().any(|(thread, _)| *thread >= threads)
        },
    ),
    rule(
        "pool",
        "ThreadTargets is for timespans with a ThreadCount and a RequestCount",
        "give both, or leave it out",
        |span, it| !span.shares_requests() && !it.pool_threads.is_empty(),
    ),
    rule(
        "i",
        "a burst needs a think time, and the other way round",
        "give both `-i` and `-j` (BurstSize and ThinkTime)",
        |_, it| it.burst.is_some() && it.think_ms.is_none(),
    ),
    rule(
        "j",
        "a burst needs a think time, and the other way round",
        "give both `-i` and `-j` (BurstSize and ThinkTime)",
        |_, it| it.burst.is_none() && it.think_ms.is_some(),
    ),
    rule(
        "rd",
        "a distribution is of random offsets",
        "give `-r` (Random) too",
        |_, it| !it.spread.ranges.is_empty() && it.random.is_none(),
    ),
    rule(
        "T",
        "`-T` (ThreadStride) is for sequential access",
        "leave `-r` or `-T` out",
        |_, it| it.thread_stride.is_some() && it.random.is_some(),
    ),
    rule(
        "T",
        "threads that share a position have no starts of their own",
        "use `-s`, or leave `-T` out",
        |_, it| it.thread_stride.is_some() && it.interlocked,
    ),
    rule(
        "T",
        "`-T` (ThreadStride) needs several threads on a target",
        "give `-t` or `-F`",
        |span, it| it.thread_stride.is_some() && !is_shared(span, it),
    ),
    rule(
        "s",
        "random access has no position that threads could share",
        "leave InterlockedSequential out",
        |_, it| it.interlocked && it.random.is_some(),
    ),
    rule(
        "p",
        "`-p` (ParallelAsyncIO) is for sequential access, with a position for each outstanding I/O",
        "leave `-r` or `-p` out",
        |_, it| it.parallel && it.random.is_some(),
    ),
    rule(
        "p",
        "positions are either each outstanding I/O's own or shared by all threads",
        "leave `-p` or `-si` out",
        |_, it| it.parallel && it.interlocked,
    ),
    rule(
        "s",
        "strides below the block, whose I/Os overlap, are carried by a pool that shares its I/Os among targets (`-O`) only from the start of a target and for each thread by itself",
        "use at least the block's size, leave `-B`, `-T` and `-si` out, or use `-o` (RequestCount of each target)",
        |span, it| {
            let is_apart = it.base == 0 && it.thread_stride.is_none() && !it.interlocked;
            overlaps(it) && is_pooled(span) && !is_apart
        },
    ),
    rule(
        "r",
        "offsets cannot be multiples of 0",
        "give at least 1 byte",
        |_, it| it.random.is_some() && it.align == Some(0),
    ),
    rule(
        "x",
        "`-x` (CompletionRoutines) does not go with `-g` or `-Sm`",
        "leave `-x` out",
        |span, it| span.completion_routines && (it.throttle.is_some() || it.mapped),
    ),
    rule(
        "S",
        "a mapped file is always in the software cache",
        "leave `-Sm` out, or `-Su` and `-Sh`",
        |_, it| it.mapped && it.cache == Cache::Uncached,
    ),
    rule(
        "N",
        "`-N` (FlushType) is for mapped files",
        "give `-Sm` too",
        |_, it| it.flush.is_some() && !it.mapped,
    ),
    rule(
        "n",
        "`-n` and a list of processors contradict each other",
        "leave one of them out",
        |span, _| span.no_affinity && !span.processors.is_empty(),
    ),
    rule(
        "f",
        "nothing is left between the base offset and the end",
        "give a larger `-f` (MaxFileSize) or a smaller `-B` (BaseFileOffset)",
        |_, it| it.end.is_some_and(|end| end <= it.base),
    ),
    rule(
        "c",
        "not one block fits between the base offset and the end",
        "use a smaller block or a larger file",
        |_, it| {
            let least = it.base.saturating_add(it.block);
            it.create.is_some_and(|size| size < least)
        },
    ),
    rule(
        "Z",
        "the source of written data is smaller than a block",
        "give at least the block's size",
        |_, it| matches!(it.contents, Contents::Source { size, .. } if size < it.block),
    ),
];

/// What does not do what it says, though DISKSPD takes it.
const ODDITIES: &[Rule] = &[
    rule(
        "O",
        "`-O` has no effect without a pool of threads",
        "give `-F`, or use `-o`",
        |span, _| span.pool.is_none() && span.requests.is_some(),
    ),
    rule(
        "p",
        "`-p` has no effect with one I/O outstanding",
        "give `-o2` or more",
        |_, it| it.parallel && it.outstanding == 1 && it.random.is_none(),
    ),
    rule(
        "S",
        "`-Sr` (DisableLocalCache) passes by the whole page cache here",
        "write `-Su` (DisableOSCache)",
        |_, it| it.cache == Cache::LocalOff && !it.mapped,
    ),
    rule(
        "S",
        "`-Sr` (DisableLocalCache) has no effect on a mapped file, which is in the page cache here",
        "leave `r` out",
        |_, it| it.cache == Cache::LocalOff && it.mapped,
    ),
    rule(
        "f",
        "the file is made smaller (`-c`, FileSize) than the end that is asked for: it is used to its end",
        "give both alike",
        |_, it| it.create.zip(it.end).is_some_and(|(size, end)| size < end),
    ),
    rule(
        "s",
        "one thread has nobody to share its position with",
        "write `-s`, or give `-t` or `-F`",
        |span, it| it.interlocked && !is_shared(span, it),
    ),
    rule(
        "s",
        "each thread goes through the whole target by itself, so that the target sees no sequence",
        "write `-si` (InterlockedSequential) for one position of all threads",
        |span, it| {
            it.random.is_none()
                && is_shared(span, it)
                && !it.interlocked
                && it.thread_stride.is_none()
        },
    ),
    rule(
        "s",
        "strides are below the block: reads and writes each keep a position of their own",
        "use at least the block's size",
        |span, it| overlaps(it) && is_pooled(span) && (1..100).contains(&it.writes),
    ),
];

/// Complains about contradictions, at the option that is at fault. `runs`: I/O is asked for, not only its description.
pub fn check(profile: &Profile, source: &mut Source, runs: bool, is_line: bool) {
    let mut pairs = 0u64;
    for span in &profile.spans {
        // All targets of a line are alike.
        let apart = if is_line { 1 } else { usize::MAX };
        for target in span.targets.iter().take(apart) {
            check_target(span, target, source);
        }
        let place = |option: &str| {
            let found = span.given.get(option).cloned();
            let of_targets = || {
                span.targets
                    .iter()
                    .find_map(|it| it.given.get(option).cloned())
            };
            found.or_else(of_targets).unwrap_or(0..0)
        };
        if span.targets.is_empty() && !source.has_errors() {
            let hint = "name a file behind the options";
            source.error(place("targets"), "no target is named", hint);
        }
        let slots = |it: &Target| {
            let slots = if it.parallel { span.depth(it) } else { 1 };
            u64::from(span.threads_on(it)).saturating_mul(slots.into())
        };
        let threads = span.targets.iter().map(slots).fold(0, u64::saturating_add);
        pairs = pairs.saturating_add(threads);
        if threads > THREADS_MAX {
            let place = ["t", "F"].map(place).into_iter().find(|it| !it.is_empty());
            let message = format!("more than {THREADS_MAX} threads on all targets together");
            source.error(
                place.unwrap_or(0..0),
                message,
                "use fewer threads or targets",
            );
        }
        if runs {
            check_run(span, source, place("a"));
        }
        if source.has_errors() && pairs > PAIRS_MAX {
            break;
        }
    }
    if pairs > PAIRS_MAX && !source.has_errors() {
        let message = format!("more than {PAIRS_MAX} threads over all timespans");
        source.error(0..0, message, "split the profile");
    }
}

fn check_target(span: &Span, target: &Target, source: &mut Source) {
    let place = |option: &str| {
        let found = target.given.get(option).or_else(|| span.given.get(option));
        let path = || target.given.get("target");
        found.or_else(path).cloned().unwrap_or(0..0)
    };
    for rule in RULES.iter().filter(|rule| (rule.broken)(span, target)) {
        source.error(place(rule.option), rule.message, rule.hint);
    }
    for rule in ODDITIES.iter().filter(|rule| (rule.broken)(span, target)) {
        source.warn(place(rule.option), rule.message, rule.hint);
    }
    if let Err((message, hint)) = check_spread(target) {
        source.error(place("rd"), message, hint);
    }
}

/// Shares of at most 100 %, each range with room for a block.
fn check_spread(target: &Target) -> Result<(), (String, &'static str)> {
    let ranges = &target.spread.ranges;
    let ios = ranges.iter().map(|range| u64::from(range.0)).sum::<u64>();
    if ios > 100 {
        let message = format!("the ranges take {ios} % of the I/Os");
        return Err((message, "give 100 at most"));
    }
    if target.spread.unit == SpreadUnit::Absolute {
        let last = ranges.len().saturating_sub(1);
        let small = |(at, range): &(usize, &(u32, u64))| {
            range.1 < target.block && !(*at == last && range.1 == 0)
        };
        if let Some((_, range)) = ranges.iter().enumerate().find(small) {
            let message = format!("a range of {} bytes is smaller than a block", range.1);
            return Err((message, "give at least the block's size"));
        }
        return Ok(());
    }
    let (mut lengths, mut used) = (0u64, 0u64);
    for (io, length) in ranges {
        if lengths >= 100 && *io > 0 {
            let message = "the target is used up, with I/Os left for the rest".to_owned();
            return Err((message, "leave some of the target to the last I/Os"));
        }
        lengths = lengths.saturating_add(*length);
        used += u64::from(*io);
    }
    if !ranges.is_empty() && (lengths != 100 || used != 100) {
        let message = format!("the ranges take {lengths} % of the target");
        return Err((message, "give 100 with what is left"));
    }
    Ok(())
}

/// What this machine and this program can do.
fn check_run(span: &Span, source: &mut Source, affinity: std::ops::Range<usize>) {
    if let Some((group, cpu)) = span.processors.iter().find(|(group, _)| *group > 0) {
        let message = format!(
            "processor {cpu} of group {group} is asked for; Linux has one group of processors, 0"
        );
        source.error(affinity, message, "number all processors within group 0");
    }
    let place = |target: &Target| target.given.get("target").cloned().unwrap_or(0..0);
    for target in span.targets.iter().filter(|target| target.is_template()) {
        let message = format!("`{}` stands for a target that is not named", target.path);
        let hint = "name a target behind `-X` for each number";
        source.error(place(target), message, hint);
    }
    if span.shares_requests()
        && let Some((first, others)) = span.targets.split_first()
        && let Some(other) = others.iter().find(|other| !first.is_used_like(other))
        && (span.targets.len() > LINES_MAX
            || !others.iter().all(|other| first.differs_by_line(other)))
    {
        let message = "the targets that share the I/Os of a pool are used differently in more than their blocks, share of random I/Os and share of writes";
        let hint = "give them the same caching, contents, strides and distributions, or use RequestCount of each target; at most 100 may differ";
        source.error(place(other), message, hint);
    }
}
