//! What a job does beyond plain I/O, in fio's options.

mod checks;
mod handling;

use std::collections::BTreeSet;

use fathom_units::{Bytes, Nanos};
use fathom_workload::{
    AfterFound, Backend, Batches, Dedupe, DedupeFrom, EndsOthers, Features, FileOperation, Filling,
    Flow, IoLog, Job, LatencyTarget, MemoryPolicy, MinimumRates, NodeSet, Overlaps, Pacing,
    Priorities, PriorityShare, Process, ProcessorSharing, RateSamples, SteadyJudgement,
    SteadyLimit, SteadyMetric, SteadyState, ThinkCounts, ThinkTime, ThreadPriority,
};

use self::checks::checks;
use self::handling::{handling, made, survived, synced, told, trace};
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
        validate: _,
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
        rate_samples,
        priorities,
        process,
        calls,
        files,
        errors,
        // The engine.
        operation: _,
        processor_work: _,
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
    log((*io_log, *rate_samples), priorities.is_some(), section);
    if let Some(priorities) = priorities {
        prioritized(priorities, job, number, section, draft);
    }
    around(process, number, section, draft);
    told(calls, job, section);
    handling(files, section);
    synced(files, number, section, draft);
    made(files.grows, job, section);
    survived(errors, verify.as_deref(), section);
    match (replay, trace_to) {
        (Some(replay), _) => trace(replay, job, number, section, draft),
        (None, Some(path)) => text("write_iolog", "trace_to", path, number, section, draft),
        (None, None) => {}
    }
    verified(job, number, section, draft);
}

/// Priorities of single I/Os, where fio's engine gives them.
fn prioritized(
    priorities: &Priorities,
    job: &Job,
    number: usize,
    section: &mut Section,
    draft: &mut Draft,
) {
    if matches!(job.backend, Backend::IoUring | Backend::Libaio) && job.features.operation.is_none()
    {
        shares(priorities, section);
    } else {
        let message = "only fio's engines `io_uring` and `libaio` give single I/Os a priority";
        draft.lost(number, "priorities", message);
    }
}

/// What is checked; names hold no data.
fn verified(job: &Job, number: usize, section: &mut Section, draft: &mut Draft) {
    let verify = job.features.verify.as_deref();
    let operation = job.features.operation;
    if verify.is_some() && operation.is_some_and(FileOperation::is_of_names) {
        let message = "names hold no data that fio's engines could check";
        draft.lost(number, "verify", message);
        return;
    }
    checks(verify, section);
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
    if percentile > 0.0 {
        section.put("latency_percentile", percentile.to_string());
    } else {
        // No latency is judged that is not measured.
        section.put("disable_lat", "1");
    }
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

/// Logs, and windows of samples that are not fio's own. Logs are told of every I/O anyway where it has priorities.
fn log((log, windows): (IoLog, Option<RateSamples>), has_priorities: bool, section: &mut Section) {
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
    if let Some(RateSamples { bandwidth, iops }) = windows {
        let half = Nanos::from_millis(500);
        section.put_if(bandwidth != half, "bwavgtime", millis(bandwidth));
        section.put_if(iops != half, "iopsavgtime", millis(iops));
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
    if let Some(ThreadPriority { class: 0, .. }) = io_priority {
        let message =
            "`io_class = 0` asks for no class of I/O priority, which fio takes for 2, best effort";
        draft.lost(number, "process", message);
    } else if let Some(ThreadPriority { class, level, hint }) = io_priority {
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
