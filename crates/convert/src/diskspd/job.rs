//! One job as the options and targets of a line.

use fathom_units::{Bytes, Nanos, Percent};
use fathom_workload::{
    Access, Advice, Arrival, Backend, BlockSizes, BufferContents, Caching, Coverage, Direction,
    Distribution, Features, FileHandling, FileOperation, Filling, IoLog, Job, Limits, MemoryPolicy,
    OpenSync, Pacing, Place, Placement, Process, ProcessorSharing, SequentialScope, SyncPolicy,
    ThinkCounts, ThinkTime, ThreadPriority,
};

use crate::draft::Draft;
use crate::zones;

/// How the threads of a line go about its targets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Threads {
    /// Each target has threads of its own, which begin together.
    Alike,
    /// This many threads of a target begin this many bytes after each other.
    Apart(u32, u64),
    /// All threads share their I/Os out among all targets.
    Pool,
}

/// The options of a line for `job`, which is the `number`th of all.
pub fn options(
    (job, threads): (&Job, Threads),
    seed: u64,
    cooldown: Nanos,
    number: usize,
    draft: &mut Draft,
) -> Vec<String> {
    let Job {
        // What a line cannot say shows when it is read back: names, groups, machines, salts and guards.
        name: _,
        group: _,
        host: _,
        targets: _,
        file_choice: _,
        workers,
        depth,
        mix,
        access,
        block,
        arrival,
        limits,
        sync,
        contents,
        backend,
        caching,
        existing: _,
        split_latency: _,
        drop_cache: _,
        unlink: _,
        salt: _,
        features,
    } = job;
    let mut words = Vec::new();
    let mut put = |word: String| words.push(word);
    extent(job).into_iter().for_each(&mut put);
    put(format!("-b{}", size(largest(job, block))));
    times(limits, cooldown).into_iter().for_each(&mut put);
    how_many((*workers, *depth, *backend), threads)
        .into_iter()
        .for_each(&mut put);
    order(job, *access, features.placement.as_deref())
        .into_iter()
        .for_each(&mut put);
    tell_share(job, number, draft);
    let writes = (mix.write.basis_points() + 50) / 100;
    put(format!("-w{writes}"));
    if mix.trim > Percent::ZERO {
        draft.lost(
            number,
            "mix",
            "DISKSPD does not trim; the trims are written as reads",
        );
    }
    cache(*caching, *sync, *backend)
        .into_iter()
        .for_each(&mut put);
    hint(job).into_iter().for_each(&mut put);
    rate(job, *arrival).into_iter().for_each(&mut put);
    if mix.changes_data() {
        filled(*contents, features.filling.as_deref(), block, job)
            .into_iter()
            .for_each(&mut put);
    }
    if seed > 0 {
        put(format!("-z{}", seed.min(u64::from(u32::MAX))));
    }
    extra(features, *workers, number, draft)
        .into_iter()
        .for_each(&mut put);
    // Latencies are measured always; DISKSPD prints them when asked.
    put("-L".to_owned());
    words
}

/// Threads, and the I/Os that each keeps outstanding.
fn how_many((workers, depth, backend): (u32, u32, Backend), threads: Threads) -> Vec<String> {
    // With one I/O outstanding, DISKSPD issues one at a time.
    let depth = match backend {
        Backend::Sync | Backend::Mmap => 1,
        _ => depth,
    };
    match threads {
        Threads::Alike => vec![format!("-t{workers}"), format!("-o{depth}")],
        Threads::Apart(count, stride) => vec![
            format!("-t{count}"),
            format!("-T{}", size(stride)),
            format!("-o{depth}"),
        ],
        Threads::Pool => vec![format!("-F{workers}"), format!("-O{depth}")],
    }
}

/// A size with the largest of DISKSPD's letters that is exact.
fn size(bytes: u64) -> String {
    let units = [('T', 40), ('G', 30), ('M', 20), ('K', 10)];
    let exact = units
        .iter()
        .find(|(_, bits)| bytes > 0 && bytes.trailing_zeros() >= *bits);
    exact.map_or_else(
        || bytes.to_string(),
        |(unit, bits)| format!("{}{unit}", bytes >> bits),
    )
}

/// The path of each target.
pub fn targets((job, threads): (&Job, Threads), number: usize, draft: &mut Draft) -> Vec<String> {
    let several = job.targets.len() > 1;
    if several && threads != Threads::Pool {
        let depth = job.effective_depth();
        let message =
            format!("DISKSPD keeps {depth} I/Os outstanding on each target, not on all together");
        draft.lost(number, "target", message);
    }
    let path = |(index, place): (usize, &Place)| match place {
        Place::Path(path) => path.clone(),
        Place::FreshFileIn(folder) => format!("{folder}/fathom-{number}-{index}.dat"),
        Place::FileSet(set) => format!("{}/fathom-{number}-{index}.dat", set.anchor),
    };
    let mut paths = Vec::new();
    for (index, target) in job.targets.iter().enumerate() {
        let path = path((index, &target.place));
        if let Place::FreshFileIn(folder) = &target.place {
            let message =
                format!("a fresh file in `{folder}` is `{path}`, which DISKSPD leaves there");
            draft.lost(number, "target", message);
        }
        // A word that begins with `-` is an option.
        paths.push(if path.starts_with(['-', '–', '—', '−']) {
            format!("./{path}")
        } else {
            path
        });
    }
    paths
}

/// What is used of the targets, and whether they are made.
fn extent(job: &Job) -> Vec<String> {
    let Some(target) = job.targets.first() else {
        return Vec::new();
    };
    let (offset, length) = (target.offset.get(), target.length.map(Bytes::get));
    let end = length.map(|length| offset.saturating_add(length));
    let mut words = Vec::new();
    match (end, job.features.files.must_exist) {
        (Some(end), false) => words.push(format!("-c{}", size(end))),
        (Some(end), true) => words.push(format!("-f{}", size(end))),
        (None, _) => {}
    }
    if offset > 0 {
        words.push(format!("-B{}", size(offset)));
    }
    words
}

/// One size for all I/O: the largest where there are several.
fn largest(job: &Job, block: &BlockSizes) -> u64 {
    let BlockSizes {
        read: _,
        write: _,
        trim: _,
        // Stands with `-r`.
        alignment: _,
    } = block;
    block.largest(job.mix).get().max(1)
}

fn times(limits: &Limits, cooldown: Nanos) -> Vec<String> {
    let Limits {
        // DISKSPD begins at once, goes by time, and starts over.
        start_delay: _,
        warmup,
        runtime,
        time_based: _,
        bytes: _,
        ios: _,
        loops: _,
    } = limits;
    let whole = |time: Nanos| time.get().div_ceil(1_000_000_000);
    let mut words = vec![
        format!("-d{}", runtime.map_or(10, whole).max(1)),
        format!("-W{}", whole(*warmup)),
    ];
    if cooldown > Nanos::ZERO {
        words.push(format!("-C{}", whole(cooldown)));
    }
    words
}

fn order(job: &Job, access: Access, rules: Option<&Placement>) -> Vec<String> {
    let block = largest(job, &job.block);
    let aligned = job.block.alignment.map_or(block, Bytes::get);
    match access {
        Access::Sequential { gap, scope } => {
            let letter = if scope == SequentialScope::Shared {
                "-si"
            } else {
                "-s"
            };
            let own = rules.and_then(|rules| rules.stride);
            let stride = own.map_or(block.saturating_add(gap.get()), Bytes::get);
            if stride == block && scope == SequentialScope::PerWorker {
                return Vec::new();
            }
            vec![format!("{letter}{}", size(stride))]
        }
        Access::Mixed { random } => {
            let share = ((random.basis_points() + 50) / 100).max(1);
            let own = rules.and_then(|rules| rules.stride);
            // Of a sequence alone a step may be 0: `-r0` is refused, and what is lost by that shows when the line is read back.
            let stride = own.filter(|own| *own > Bytes::ZERO);
            let stride = stride.or(job.block.alignment);
            let stride = stride.map(|bytes| format!("-r{}", size(bytes.get())));
            let drawn = rules.and_then(|rules| distribution(rules, zones::length(job), block));
            std::iter::once(format!("-rs{share}"))
                .chain(drawn)
                .chain(stride)
                .collect()
        }
        Access::Random { coverage, run: _ } => {
            // One way alone: a difference shows when the line is read back.
            let (Coverage::Independent | Coverage::EachBlockOnce) = coverage;
            if let Some(share) = share(job) {
                return vec![format!("-rs{share}"), format!("-r{}", size(aligned))];
            }
            let drawn = rules.and_then(|rules| distribution(rules, zones::length(job), block));
            drawn
                .into_iter()
                .chain([format!("-r{}", size(aligned))])
                .collect()
        }
    }
}

/// The percentage of random I/Os, where a part of them is in order, alike in all directions, and nothing else is asked of their
/// places.
fn share(job: &Job) -> Option<u32> {
    let rules = job.features.placement.as_deref()?;
    let Access::Random { .. } = job.access else {
        return None;
    };
    let used = Direction::ALL.into_iter().filter(|way| job.moves(*way));
    let mut shares = used.map(|way| rules.random[way as usize]);
    let first = shares.next()?;
    let percent = first.basis_points() / 100;
    let is_whole = (1..100).contains(&percent) && first.basis_points().is_multiple_of(100);
    // An alignment of random offsets that is the line's own asks for nothing more.
    let block = largest(job, &job.block);
    let aligned = job.block.alignment.map_or(block, Bytes::get);
    let is_own = |own: &Option<Bytes>| own.is_none_or(|own| own.get() == aligned);
    if !rules.alignment.iter().all(is_own) {
        return None;
    }
    let plain = Placement {
        random: rules.random,
        alignment: rules.alignment,
        ..Placement::default()
    };
    (is_whole && shares.all(|share| share == first) && *rules == plain).then_some(percent)
}

/// Says how a share of random I/Os is drawn.
fn tell_share(job: &Job, number: usize, draft: &mut Draft) {
    if share(job).is_none() {
        return;
    }
    let message = "`-rs` draws for both directions together";
    draft.differs(number, "placement", message);
    let independent = Access::Random {
        coverage: Coverage::Independent,
        run: 1,
    };
    // One that visits each block once is another matter, which shows when the line is read back.
    if job.access == independent {
        draft.differs(number, "access", message);
    }
}

/// DISKSPD has one distribution for all directions, and no range of it is smaller than a block. One that goes on to the end of
/// the target, of `length`, is left out: what the others leave goes there.
fn distribution(rules: &Placement, length: Option<Bytes>, block: u64) -> Option<String> {
    let Placement {
        distribution: [first, _, _],
        random: _,
        skip: _,
        between: _,
        trim_then_write: _,
        ranges: _,
        unaligned: _,
        by_order: _,
        alignment: _,
        zones: _,
        target_distribution: _,
        ios_per_target: _,
        targets_at_once: _,
        past_end: _,
        joined: _,
        stride: _,
        conditioning: _,
    } = rules;
    match first {
        Distribution::Zoned(zones) => {
            let zones: Vec<String> = zones
                .iter()
                .map(|zone| format!("{}/{}", zone.access, zone.size))
                .collect();
            Some(format!("-rdpct{}", zones.join(":")))
        }
        Distribution::ZonedAbsolute(own) => {
            let (last, others) = own.split_last()?;
            let is_left_out = last.access > 0 && !others.is_empty() && zones::is_open(own, length);
            let told = if is_left_out { others } else { own };
            if told.iter().any(|zone| zone.size.get() < block) {
                return None;
            }
            let zones: Vec<String> = told
                .iter()
                .map(|zone| format!("{}/{}", zone.access, size(zone.size.get())))
                .collect();
            Some(format!("-rdabs{}", zones.join(":")))
        }
        Distribution::Uniform
        | Distribution::Zipf { .. }
        | Distribution::Pareto { .. }
        | Distribution::Normal { .. }
        | Distribution::Sequence { .. } => None,
    }
}

fn cache(caching: Caching, sync: SyncPolicy, backend: Backend) -> Vec<String> {
    let SyncPolicy {
        open,
        fsync_every,
        fdatasync_every,
        // DISKSPD flushes after each write or never.
        at_end: _,
        on_close: _,
    } = sync;
    let through = open != OpenSync::None;
    let mapped = backend == Backend::Mmap;
    let flushes = fsync_every.max(fdatasync_every) == 1;
    let word = match (caching, through, mapped) {
        (_, true, true) => "-Smw",
        (_, false, true) => "-Sm",
        (Caching::Direct, true, false) => "-Sh",
        (Caching::Direct, false, false) => "-Su",
        (Caching::Buffered, true, false) => "-Sw",
        (Caching::Buffered, false, false) => return Vec::new(),
    };
    let flush = (mapped && flushes).then_some("-Nv");
    std::iter::once(word)
        .chain(flush)
        .map(str::to_owned)
        .collect()
}

/// What the page cache is told of the order of access; DISKSPD says nothing by itself.
fn hint(job: &Job) -> Option<String> {
    if job.caching == Caching::Direct && job.backend != Backend::Mmap {
        return None;
    }
    let random = matches!(job.access, Access::Random { .. } | Access::Mixed { .. });
    let word = match (job.features.calls.advice, random) {
        (Advice::Random, _) | (Advice::ByPattern, true) => "-fr",
        (Advice::Sequential, _) | (Advice::ByPattern, false) => "-fs",
        (Advice::None | Advice::Once, _) => return None,
    };
    Some(word.to_owned())
}

/// A limit for each thread on each target.
fn rate(job: &Job, arrival: Arrival) -> Option<String> {
    let Arrival::Open {
        rate,
        // DISKSPD's gaps are equal, and its threads catch up.
        poisson: _,
        when_full: _,
    } = arrival
    else {
        return None;
    };
    // A rate for each direction by itself is said as a whole.
    let _ = job.features.rates;
    Some(match rate {
        Pacing::Iops(iops) => format!("-g{}i", iops.get().clamp(1, u64::from(u32::MAX))),
        Pacing::Bytes(bytes) => {
            format!("-g{}", (bytes.get() / 1_000).clamp(1, u64::from(u32::MAX)))
        }
    })
}

/// What is written; DISKSPD's own is the bytes 0 to 255 over and over.
fn filled(
    contents: BufferContents,
    filling: Option<&Filling>,
    block: &BlockSizes,
    job: &Job,
) -> Option<String> {
    let counting: Vec<u8> = (0..=u8::MAX).collect();
    if let Some(Filling {
        pattern: Some(pattern),
        anywhere: false,
        // Neither is known to DISKSPD.
        compress: _,
        chunk: _,
        dedupe: _,
    }) = filling
        && pattern.bytes() == counting
        && contents == BufferContents::RandomStamped
    {
        return None;
    }
    Some(match contents {
        BufferContents::RandomEachWrite => "-Zr".to_owned(),
        BufferContents::Zeroes => "-Z".to_owned(),
        BufferContents::RandomStamped | BufferContents::RandomOnce => {
            format!("-Z{}", size(largest(job, block).max(1 << 20)))
        }
    })
}

fn extra(features: &Features, workers: u32, number: usize, draft: &mut Draft) -> Vec<String> {
    let Features {
        think,
        batches: _,
        verify: _,
        validate: _,
        rates: _,
        rate_steps: _,
        minimum: _,
        think_cycles: _,
        flow: _,
        latency_target: _,
        steady: _,
        overlaps: _,
        // Stands with `-r`.
        placement: _,
        lines: _,
        file_work: _,
        // Stands with `-Z`.
        filling: _,
        io_log,
        rate_samples: _,
        priorities: _,
        process,
        // Advice stands with the cache, and flags of calls are Linux's own.
        calls: _,
        files,
        errors: _,
        operation,
        processor_work: _,
        replay: _,
        trace_to: _,
        warmup_bytes: _,
    } = features;
    let mut words = Vec::new();
    lose_other_work(features, number, draft);
    if let Some(ThinkTime {
        pause,
        spin: _,
        every,
        counts,
        after: _,
        // A rate leaves no room for pauses.
        stops_rate: _,
    }) = think
    {
        // A burst is shared out among the threads of a target.
        words.push(format!("-i{}", every.saturating_mul(workers)));
        words.push(format!(
            "-j{}",
            pause.get().div_ceil(1_000_000).min(u64::from(u32::MAX))
        ));
        let (ThinkCounts::Issued | ThinkCounts::Completed) = counts;
    }
    words.extend(told(*io_log));
    threads(process, number, &mut words, draft);
    let FileHandling {
        // Stands with `-c`.
        must_exist: _,
        make_parents: _,
        pre_read: _,
        grows: _,
        made_anew: _,
        sync_range: _,
        end_syncfs: _,
    } = files;
    if operation.is_some_and(FileOperation::is_of_names) {
        draft.lost(
            number,
            "operation",
            "DISKSPD reads and writes alone; the files are read instead",
        );
    }
    words
}

/// Work that is no I/O on a file of one's own.
fn lose_other_work(features: &Features, number: usize, draft: &mut Draft) {
    if features.file_work.is_some() {
        let message = "DISKSPD knows no file sets; one file is read or written instead";
        draft.lost(number, "file_work", message);
    }
    if features.processor_work.is_some() {
        let message = "DISKSPD reads and writes alone; a file is read instead";
        draft.lost(number, "processor_work", message);
    }
}

/// The windows of what is told, which have latencies of their own in XML.
fn told(log: IoLog) -> Vec<String> {
    let IoLog {
        each: _,
        window,
        histogram,
    } = log;
    let Some(length) = window.or(histogram) else {
        return Vec::new();
    };
    let millis = length.get().div_ceil(1_000_000);
    let mut words = vec![format!("-D{}", millis.clamp(1, u64::from(u32::MAX)))];
    if window.is_none() {
        words.push("-Rxml".to_owned());
    }
    words
}

/// Where threads run, and before whom.
fn threads(process: &Process, number: usize, words: &mut Vec<String>, draft: &mut Draft) {
    let Process {
        processors,
        sharing,
        nodes,
        memory,
        // The rest is for jobs that know of each other.
        locked_memory: _,
        user: _,
        user_group: _,
        nice: _,
        io_priority,
        scheduler: _,
        after: _,
        ends: _,
        ends_on_error: _,
        command_before: _,
        command_after: _,
    } = process;
    if !processors.is_empty() {
        let list: Vec<String> = processors.iter().map(u32::to_string).collect();
        words.push(format!("-a{}", list.join(",")));
        if *sharing == ProcessorSharing::Shared {
            let message = "DISKSPD gives each thread one of the processors, in turn";
            draft.lost(number, "process", message);
        }
    }
    if nodes.is_some() || *memory != MemoryPolicy::Default {
        let message = "DISKSPD knows no NUMA nodes";
        draft.lost(number, "process", message);
    }
    match io_priority {
        Some(ThreadPriority {
            class: 3,
            level: _,
            hint: _,
        }) => words.push("-I1".to_owned()),
        Some(ThreadPriority {
            class: 2,
            level: 5..,
            hint: _,
        }) => words.push("-I2".to_owned()),
        _ => {}
    }
}
