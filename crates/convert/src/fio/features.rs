//! What a job does beyond plain I/O, in fio's options.

use std::collections::BTreeSet;

use fathom_units::{Bytes, Nanos, Percent};
use fathom_workload::{
    Advice, AfterFound, Backend, Backlog, Batches, Caching, Calls, Dedupe, DedupeFrom, Direction,
    EndsOthers, ErrorHandling, Features, FileHandling, Filling, Flow, Growth, HeaderCheck, IoLog,
    Job, LatencyTarget, Lifetime, MemoryPolicy, MinimumRates, NodeSet, OnMismatch, Overlaps,
    Pacing, Pattern, Priorities, PriorityShare, Process, ProcessorSharing, Replay, ReplayPace,
    Reserve, SteadyJudgement, SteadyLimit, SteadyMetric, SteadyState, Submitter, SyncRange,
    ThinkCounts, ThinkTime, ThreadPriority, TrimmedData, Verify, VerifyPhase, VerifyRepeats,
    VerifyTrims, VerifyTrust,
};

use super::section::Section;
use super::{names, pattern, size, time, triple};
use crate::draft::Draft;

/// Adds the options of all features.
pub fn put(
    features: &Features,
    job: &Job,
    number: usize,
    section: &mut Section,
    draft: &mut Draft,
) {
    let Features {
        think,
        batches,
        verify,
        // Said with the pattern.
        rates: _,
        rate_steps: _,
        minimum,
        think_cycles,
        flow,
        latency_target,
        steady,
        overlaps,
        // Said with the pattern.
        placement: _,
        // What they come to is said by mix, access and sizes.
        lines: _,
        file_work,
        filling,
        io_log,
        priorities,
        process,
        calls,
        files,
        errors,
        // The engine.
        operation: _,
        replay,
        trace_to,
        // Said with the times.
        warmup_bytes: _,
    } = features;
    if file_work.is_some() {
        let message = "fio knows no file sets; one file is read or written instead";
        draft.lost(number, "file_work", message);
    }
    pacing(think.as_ref(), batches.as_ref(), flow.as_ref(), section);
    section.put_if(*think_cycles > 0, "thinkcycles", think_cycles.to_string());
    if let Some(minimum) = minimum {
        kept_up(minimum, job, number, section, draft);
    }
    section.put_if(*overlaps == Overlaps::Serialized, "serialize_overlap", "1");
    if let Some(target) = latency_target {
        latency(*target, section);
    }
    if let Some(state) = steady {
        steadiness(*state, section);
    }
    if let Some(filling) = filling {
        contents(filling, number, section, draft);
    }
    log(*io_log, priorities.is_some(), section);
    if let Some(priorities) = priorities {
        if matches!(job.backend, Backend::IoUring | Backend::Libaio)
            && job.features.operation.is_none()
        {
            shares(priorities, section);
        } else {
            let message = "only fio's engines `io_uring` and `libaio` give single I/Os a priority";
            draft.lost(number, "priorities", message);
        }
    }
    around(process, number, section, draft);
    told(calls, job, section);
    handling(files, section);
    made(files.grows, job, section);
    survived(errors, verify.as_deref(), section);
    match (replay, trace_to) {
        (Some(replay), _) => trace(replay, job, number, section, draft),
        (None, Some(path)) => text("write_iolog", "trace_to", path, number, section, draft),
        (None, None) => {}
    }
    checks(verify.as_deref(), section);
}

/// Adds a text that fio takes as it is; tells where it would not.
fn text(
    option: &'static str,
    key: &'static str,
    value: &str,
    number: usize,
    section: &mut Section,
    draft: &mut Draft,
) {
    if names::is_plain(value) {
        section.put(option, value);
    } else {
        draft.lost(
            number,
            key,
            format!("`{option}` cannot be `{value}` in a job file"),
        );
    }
}

fn pacing(
    think: Option<&ThinkTime>,
    batches: Option<&Batches>,
    flow: Option<&Flow>,
    section: &mut Section,
) {
    if let Some(ThinkTime {
        pause,
        spin,
        every,
        counts,
        after,
        stops_rate,
    }) = think
    {
        section.put_if(*stops_rate, "rate_ignore_thinktime", "1");
        section.put("thinktime", time(*pause));
        section.put_if(*spin > Nanos::ZERO, "thinktime_spin", time(*spin));
        let default = if *after > Nanos::ZERO { u32::MAX } else { 1 };
        section.put_if(*every != default, "thinktime_blocks", every.to_string());
        section.put_if(
            *counts == ThinkCounts::Issued,
            "thinktime_blocks_type",
            "issue",
        );
        section.put_if(*after > Nanos::ZERO, "thinktime_iotime", time(*after));
    }
    if let Some(Batches {
        submit,
        complete_min,
        complete_max,
        low,
    }) = batches
    {
        section.put("iodepth_batch", submit.to_string());
        section.put("iodepth_batch_complete_min", complete_min.to_string());
        section.put("iodepth_batch_complete_max", complete_max.to_string());
        section.put_if(*low > 0, "iodepth_low", low.to_string());
    }
    if let Some(Flow { id, weight, pause }) = flow {
        section.put("flow", weight.to_string());
        section.put("flow_id", id.to_string());
        section.put_if(*pause > Nanos::ZERO, "flow_sleep", time(*pause));
    }
}

/// fio judges all directions by I/Os or all by bytes, and refuses a rate above the one that a direction is held to.
fn kept_up(
    minimum: &MinimumRates,
    job: &Job,
    number: usize,
    section: &mut Section,
    draft: &mut Draft,
) {
    let MinimumRates { rates, cycle } = minimum;
    let held = pattern::held(job);
    let by_ios = rates.iter().any(|it| matches!(it, Some(Pacing::Iops(_))));
    let mut parts = [0; 3];
    for ((part, rate), held) in parts.iter_mut().zip(rates).zip(held) {
        *part = match (rate, held) {
            (None, _) => 0,
            (Some(Pacing::Iops(least)), Some(Pacing::Iops(held))) if by_ios => {
                least.get().min(held.get())
            }
            (Some(Pacing::Bytes(least)), Some(Pacing::Bytes(held))) if !by_ios => {
                least.get().min(held.get())
            }
            (Some(Pacing::Iops(least)), _) if by_ios => least.get().min(u32::MAX.into()),
            (Some(Pacing::Bytes(least)), _) if !by_ios => least.get(),
            (Some(_), _) => {
                let message = "fio judges all directions by I/Os or all by bytes";
                draft.lost(number, "rates_min", message);
                0
            }
        };
    }
    if by_ios {
        section.put("rate_iops_min", triple(parts.map(|it| it.to_string())));
    } else {
        section.put("rate_min", triple(parts.map(size)));
    }
    let millis = (cycle.get().div_ceil(1_000_000)).min(u32::MAX.into());
    section.put_if(
        *cycle != MinimumRates::CYCLE,
        "rate_cycle",
        millis.to_string(),
    );
}

fn latency(target: LatencyTarget, section: &mut Section) {
    let LatencyTarget {
        most,
        window,
        percentile,
        then,
    } = target;
    section.put("latency_target", time(most));
    section.put("latency_window", time(window));
    section.put("latency_percentile", percentile.to_string());
    section.put_if(then == AfterFound::GoesOn, "latency_run", "1");
}

fn steadiness(state: SteadyState, section: &mut Section) {
    let SteadyState {
        metric,
        judgement,
        limit,
        window,
        ramp,
        interval,
    } = state;
    let metric = match metric {
        SteadyMetric::Iops => "iops",
        SteadyMetric::Bandwidth => "bw",
        SteadyMetric::Latency => "lat",
    };
    let judgement = match judgement {
        SteadyJudgement::Deviation => "",
        SteadyJudgement::Slope => "_slope",
    };
    let limit = match limit {
        SteadyLimit::Absolute(value) => value.to_string(),
        SteadyLimit::Percent(value) => format!("{value}%"),
    };
    section.put("steadystate", format!("{metric}{judgement}:{limit}"));
    section.put("steadystate_duration", time(window));
    section.put_if(ramp > Nanos::ZERO, "steadystate_ramp_time", time(ramp));
    section.put_if(
        interval != Nanos::from_secs(1),
        "steadystate_check_interval",
        time(interval),
    );
}

fn contents(filling: &Filling, number: usize, section: &mut Section, draft: &mut Draft) {
    let Filling {
        pattern,
        anywhere,
        compress,
        chunk,
        dedupe,
    } = filling;
    if *anywhere {
        let message = "fio begins each write at the start of its `buffer_pattern`";
        draft.lost(number, "filling", message);
    }
    match pattern {
        Some(pattern) if pattern.has_offsets() => {
            draft.lost(
                number,
                "filling",
                "fio writes no offsets into a `buffer_pattern`",
            );
        }
        Some(pattern) if pattern.bytes().len() > 2_000 => {
            draft.lost(
                number,
                "filling",
                "the pattern is too long for a line of a job file",
            );
        }
        Some(pattern) => section.put("buffer_pattern", pattern.to_string()),
        None => {}
    }
    section.put_if(
        *compress > 0,
        "buffer_compress_percentage",
        compress.to_string(),
    );
    // fio's own is 512 bytes; 0 stands for the whole of the smallest write.
    let pieces = chunk.map_or(0, Bytes::get);
    section.put_if(
        pieces != 512 && (*compress > 0 || dedupe.is_some()),
        "buffer_compress_chunk",
        size(pieces),
    );
    if let Some(Dedupe { percent, from }) = dedupe {
        section.put("dedupe_percentage", percent.to_string());
        if let DedupeFrom::WorkingSet { percent, global } = from {
            section.put("dedupe_mode", "working_set");
            section.put("dedupe_working_set_percentage", percent.to_string());
            section.put_if(*global, "dedupe_global", "1");
        }
    }
}

/// Logs are told of every I/O anyway where it has priorities.
fn log(log: IoLog, has_priorities: bool, section: &mut Section) {
    let IoLog {
        each,
        window,
        histogram,
    } = log;
    let millis = |time: Nanos| time.get().div_ceil(1_000_000).to_string();
    section.put_if(each && !has_priorities, "write_lat_log", "");
    if let Some(window) = window {
        section.put("write_bw_log", "");
        section.put("write_iops_log", "");
        section.put("log_avg_msec", millis(window));
    }
    if let Some(window) = histogram {
        section.put("write_hist_log", "");
        section.put("log_hist_msec", millis(window));
    }
}

fn shares(priorities: &Priorities, section: &mut Section) {
    let Priorities { read, write } = priorities;
    let plain = |list: &[PriorityShare]| matches!(list, [] | [PriorityShare { size: None, .. }]);
    if plain(read) && plain(write) {
        let pair = |of: fn(&PriorityShare) -> u32| {
            let one = |list: &[PriorityShare]| list.first().map_or(0, of).to_string();
            format!("{},{}", one(read), one(write))
        };
        section.put("cmdprio_percentage", pair(|share| share.percent));
        section.put("cmdprio_class", pair(|share| share.priority.class().into()));
        section.put("cmdprio", pair(|share| share.priority.level().into()));
        section.put("cmdprio_hint", pair(|share| share.priority.hint().into()));
        return;
    }
    let list = |list: &[PriorityShare]| {
        let entry = |share: &PriorityShare| {
            let PriorityShare {
                size: bytes,
                percent,
                priority,
            } = share;
            let bytes = size(bytes.map_or(0, Bytes::get));
            let (class, level, hint) = (priority.class(), priority.level(), priority.hint());
            format!("{bytes}/{percent}/{class}/{level}/{hint}")
        };
        list.iter().map(entry).collect::<Vec<_>>().join(":")
    };
    section.put("cmdprio_bssplit", format!("{},{}", list(read), list(write)));
}

/// Nodes as libnuma reads them.
fn node_list(set: &NodeSet) -> String {
    let list = |numbers: &BTreeSet<u32>| {
        let numbers: Vec<String> = numbers.iter().map(u32::to_string).collect();
        numbers.join(",")
    };
    match set {
        NodeSet::Only(numbers) => list(numbers),
        NodeSet::AllBut(numbers) if numbers.is_empty() => "all".to_owned(),
        NodeSet::AllBut(numbers) => format!("!{}", list(numbers)),
    }
}

/// `None`: what fio does by itself.
fn memory_policy(policy: &MemoryPolicy) -> Option<String> {
    Some(match policy {
        MemoryPolicy::Default => return None,
        MemoryPolicy::Local => "local".to_owned(),
        MemoryPolicy::Prefer(node) => format!("prefer:{node}"),
        MemoryPolicy::Bind(set) => format!("bind:{}", node_list(set)),
        MemoryPolicy::Interleave(set) => format!("interleave:{}", node_list(set)),
    })
}

fn around(process: &Process, number: usize, section: &mut Section, draft: &mut Draft) {
    let Process {
        processors,
        sharing,
        nodes,
        memory,
        locked_memory,
        user,
        user_group,
        nice,
        io_priority,
        scheduler,
        after,
        ends,
        ends_on_error,
        command_before,
        command_after,
    } = process;
    if !processors.is_empty() {
        let list: Vec<String> = processors.iter().map(u32::to_string).collect();
        section.put("cpus_allowed", list.join(","));
        section.put_if(
            *sharing == ProcessorSharing::Split,
            "cpus_allowed_policy",
            "split",
        );
    }
    if let Some(set) = nodes {
        section.put("numa_cpu_nodes", node_list(set));
    }
    if let Some(policy) = memory_policy(memory) {
        section.put("numa_mem_policy", policy);
    }
    section.put_if(
        *locked_memory > Bytes::ZERO,
        "lockmem",
        size(locked_memory.get()),
    );
    for (option, id) in [("uid", user), ("gid", user_group)] {
        if let Some(id) = id {
            section.put(option, id.to_string());
        }
    }
    if let Some(name) = scheduler {
        text("ioscheduler", "process", name, number, section, draft);
    }
    section.put_if(*nice != 0, "nice", nice.to_string());
    if let Some(ThreadPriority { class, level, hint }) = io_priority {
        section.put("prioclass", class.to_string());
        section.put("prio", level.to_string());
        section.put_if(*hint > 0, "priohint", hint.to_string());
    }
    if let Some(name) = after {
        let written = names::section(name);
        section.put("wait_for", written);
    }
    exits(*ends, *ends_on_error, number, section, draft);
    for (option, key, command) in [
        ("exec_prerun", "run_before", command_before),
        ("exec_postrun", "run_after", command_after),
    ] {
        if let Some(command) = command {
            text(option, key, command, number, section, draft);
        }
    }
}

/// `exitall` and `exitall_on_error`, which share one `exit_what`.
fn exits(
    ends: EndsOthers,
    ends_on_error: EndsOthers,
    number: usize,
    section: &mut Section,
    draft: &mut Draft,
) {
    let what = |ends| match ends {
        EndsOthers::Nothing => None,
        EndsOthers::Group => Some("group"),
        EndsOthers::Stage => Some("stonewall"),
        EndsOthers::Run => Some("all"),
    };
    let (at_end, on_error) = (what(ends), what(ends_on_error));
    section.put_if(at_end.is_some(), "exitall", "1");
    section.put_if(on_error.is_some(), "exitall_on_error", "1");
    if let Some(what) = at_end.or(on_error) {
        section.put("exit_what", what);
    }
    if at_end.is_some() && on_error.is_some() && at_end != on_error {
        let message = "fio ends the same jobs by an error and without one";
        draft.lost(number, "ends_on_error", message);
    }
}

/// What the kernel is told; fio gives advice of its own unless it is told not to, which only matters to the page cache.
fn told(calls: &Calls, job: &Job, section: &mut Section) {
    let Calls {
        advice,
        polled,
        uncached,
        no_wait,
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
    section.put_if(*async_every > 0, "force_async", async_every.to_string());
    if let Some(Submitter { processor }) = submitter {
        section.put("sqthread_poll", "1");
        if let Some(processor) = processor {
            section.put("sqthread_poll_cpu", processor.to_string());
        }
    }
}

fn handling(files: &FileHandling, section: &mut Section) {
    let FileHandling {
        pre_read,
        must_exist,
        // Of file sets, which are lost as a whole.
        make_parents: _,
        // See `made`.
        grows: _,
        made_anew,
        sync_range,
        end_syncfs,
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
    section.put_if(*end_syncfs, "end_syncfs", "1");
}

/// fio lets a job that writes alone write missing files first, and lays them out for every other.
fn made(grows: Growth, job: &Job, section: &mut Section) {
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
fn survived(errors: &ErrorHandling, verify: Option<&Verify>, section: &mut Section) {
    let ErrorHandling {
        go_on,
        ignored,
        latency_max,
    } = errors;
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

fn trace(replay: &Replay, job: &Job, number: usize, section: &mut Section, draft: &mut Draft) {
    let Replay {
        path,
        pace,
        scale,
        align,
        skip,
        redirected,
    } = replay;
    if job.features.trace_to.is_some() {
        let message = "a job of fio that reads a trace writes none";
        draft.lost(number, "trace_to", message);
    }
    if names::is_plain(path) {
        section.put("read_iolog", path.replace(':', "\\:"));
    } else {
        draft.lost(
            number,
            "trace",
            format!("`read_iolog` cannot be `{path}` in a job file"),
        );
    }
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

fn checks(verify: Option<&Verify>, section: &mut Section) {
    let Some(verify) = verify else { return };
    let Verify {
        checksum,
        interval,
        header_offset,
        pattern,
        pattern_interval,
        phase,
        backlog,
        repeats,
        sequence,
        seed,
        on_mismatch,
        dump,
        trust,
        save_state,
        load_state,
        trims,
    } = verify;
    section.put("verify", checksum.name());
    check_layout(
        *interval,
        *header_offset,
        pattern.as_ref(),
        *pattern_interval,
        section,
    );
    let (only, reads) = match phase {
        VerifyPhase::AfterPass => (false, true),
        VerifyPhase::Never => (false, false),
        VerifyPhase::Only => (true, true),
        VerifyPhase::Nothing => (true, false),
    };
    section.put_if(only, "verify_only", "1");
    section.put_if(!reads, "do_verify", "0");
    if let Some(Backlog { writes, batch }) = backlog {
        section.put("verify_backlog", writes.to_string());
        section.put_if(batch != writes, "verify_backlog_batch", batch.to_string());
    }
    section.put_if(
        *repeats == VerifyRepeats::EachWrite,
        "experimental_verify",
        "1",
    );
    let switch = |check: HeaderCheck| {
        if check == HeaderCheck::Compared {
            "1"
        } else {
            "0"
        }
    };
    section.put("verify_write_sequence", switch(*sequence));
    section.put("verify_header_seed", switch(*seed));
    section.put_if(*on_mismatch == OnMismatch::EndAtOnce, "verify_fatal", "1");
    section.put_if(dump.is_some(), "verify_dump", "1");
    section.put_if(*trust == VerifyTrust::Synced, "verify_policy", "fsynced");
    section.put_if(save_state.is_none(), "verify_state_save", "0");
    section.put_if(load_state.is_some(), "verify_state_load", "1");
    if let Some(trims) = trims {
        check_trims(*trims, section);
    }
}

fn check_layout(
    interval: Option<Bytes>,
    header_offset: u32,
    pattern: Option<&Pattern>,
    pattern_interval: Option<Bytes>,
    section: &mut Section,
) {
    if let Some(interval) = interval {
        section.put("verify_interval", size(interval.get()));
    }
    section.put_if(
        header_offset > 0,
        "verify_offset",
        header_offset.to_string(),
    );
    if let Some(pattern) = pattern {
        section.put("verify_pattern", pattern.to_string());
    }
    if let Some(interval) = pattern_interval {
        section.put("verify_pattern_interval", size(interval.get()));
    }
}

fn check_trims(trims: VerifyTrims, section: &mut Section) {
    let VerifyTrims {
        share,
        writes,
        batch,
        zero,
    } = trims;
    let percent = ((share.basis_points() + 50) / 100).max(1);
    section.put("trim_percentage", percent.to_string());
    section.put("trim_backlog", writes.to_string());
    section.put_if(batch != writes, "trim_backlog_batch", batch.to_string());
    section.put_if(zero == TrimmedData::Anything, "trim_verify_zero", "0");
}
