//! Options that contradict each other.

use super::line::Line;
use super::settings::{Contents, Settings};

/// Most threads on all targets together.
const THREADS_MAX: u64 = 65_536;

type Rule = (
    fn(&Settings) -> bool,
    &'static str,
    &'static str,
    &'static str,
);

/// Each: what must not be, the option at fault, why, and what to do.
const RULES: &[Rule] = &[
    (
        |it| it.pool.is_some() && it.threads > 1,
        "F",
        "`-F` and `-t` both say how many threads there are",
        "leave one of them out",
    ),
    (
        |it| it.pool.is_none() && it.requests.is_some(),
        "O",
        "`-O` belongs to a pool of threads (`-F`)",
        "use `-o`, or give `-F`",
    ),
    (
        |it| it.requests.is_some() && (it.throttle.is_some() || it.think_ms.is_some()),
        "O",
        "`-O` does not go with `-g` or `-j`",
        "use `-o`",
    ),
    (
        |it| it.burst.is_some() != it.think_ms.is_some(),
        "i",
        "a burst needs a think time, and the other way round",
        "give both `-i` and `-j`",
    ),
    (
        |it| it.burst.is_some() != it.think_ms.is_some(),
        "j",
        "a burst needs a think time, and the other way round",
        "give both `-i` and `-j`",
    ),
    (
        |it| it.random.is_some() && it.stride.is_some(),
        "s",
        "random and sequential access exclude each other",
        "leave `-r` or `-s` out",
    ),
    (
        |it| it.random_percent.is_some() && it.stride.is_some(),
        "s",
        "`-rs` says how much is sequential",
        "leave `-s` out; `-r` gives the alignment",
    ),
    (
        |it| !it.distribution.is_uniform() && it.random.is_none() && it.random_percent.is_none(),
        "r",
        "a distribution is of random offsets",
        "give `-r` too",
    ),
    (
        |it| !it.distribution.is_uniform() && it.random_percent.is_some_and(|share| share < 100),
        "r",
        "a distribution of partly random access is not built yet",
        "leave `-rs` out",
    ),
    (
        |it| it.thread_stride == Some(0),
        "T",
        "the stride between threads is 0",
        "leave it out",
    ),
    (
        |it| it.thread_stride.is_some() && (it.random.is_some() || it.random_percent.is_some()),
        "T",
        "`-T` is for sequential access",
        "leave `-r` or `-T` out",
    ),
    (
        |it| it.thread_stride.is_some() && it.interlocked,
        "T",
        "threads that share a position have no starts of their own",
        "use `-s`, or leave `-T` out",
    ),
    (
        |it| it.thread_stride.is_some() && it.threads_per_target() == 1,
        "T",
        "`-T` needs several threads on a target",
        "give `-t` or `-F`",
    ),
    (
        |it| it.stride.is_some_and(|stride| stride < it.block),
        "s",
        "strides below the block, whose I/Os overlap, are not built yet",
        "use at least the block's size",
    ),
    (
        |it| it.completion_routines && (it.throttle.is_some() || it.mapped),
        "x",
        "`-x` does not go with `-g` or `-Sm`",
        "leave `-x` out",
    ),
    (
        |it| it.flush.is_some() && !it.mapped,
        "N",
        "`-N` is for mapped files",
        "give `-Sm` too",
    ),
    (
        |it| it.no_affinity && !it.processors.is_empty(),
        "n",
        "`-n` and a list of processors contradict each other",
        "leave one of them out",
    ),
    (
        |it| it.has("fSIZE") && it.has("B") && it.end.is_some_and(|end| end <= it.base),
        "f",
        "nothing is left between the base offset and the end",
        "give a larger `-f` or a smaller `-B`",
    ),
    (
        |it| {
            it.create
                .is_some_and(|size| size < it.base.saturating_add(it.block))
        },
        "c",
        "not one block fits between the base offset and the end",
        "use a smaller block or a larger file",
    ),
    (
        |it| matches!(it.contents, Contents::Source(size) if size < it.block),
        "Z",
        "the source of written data is smaller than a block",
        "give at least the block's size",
    ),
];

/// Complains about contradictions, at the option that is at fault.
pub fn check(line: &mut Line) {
    if line.help {
        line.diagnostics.0.clear();
        return;
    }
    for (broken, option, message, hint) in RULES {
        let place = line.places.iter().rev().find(|(name, _)| name == option);
        if let Some((_, index)) = place.cloned().filter(|_| broken(&line.settings)) {
            line.error(index, *message, *hint);
        }
    }
    if line.targets.is_empty() && !line.diagnostics.has_errors() {
        line.error(0, "no target is named", "name a file behind the options");
    }
    let threads = u64::from(line.settings.threads_per_target());
    if threads.saturating_mul(line.targets.len() as u64) > THREADS_MAX {
        let named = |(name, _): &&(String, usize)| name == "t" || name == "F";
        let index = line
            .places
            .iter()
            .rev()
            .find(named)
            .map_or(0, |place| place.1);
        let message = format!("more than {THREADS_MAX} threads on all targets together");
        line.error(index, message, "use fewer threads or targets");
    }
    let several = line.targets.get(1).map(|(index, _)| *index);
    if let (Some(index), Some(_)) = (several, line.settings.requests) {
        let message =
            "I/Os that a thread shares out among several targets (`-O`) are not built yet";
        line.error(index, message, "use `-o`, or one target");
    }
}
