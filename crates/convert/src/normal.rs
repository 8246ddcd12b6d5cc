//! The normal form of a workload: one of all those that mean the same.
//!
//! A dialect may say a thing in one way alone that the model has two of: a pass that is made once is `0` or `1` passes, and
//! an order of targets says nothing about a single one. Two workloads are compared in this form, so that only differences
//! that make one are told.

use std::collections::BTreeMap;

use fathom_units::{Bytes, Percent};
use fathom_workload::{
    Access, AccessLine, Arrival, BlockSizes, BufferContents, Caching, Calls, Direction,
    Distribution, EndsOthers, ExistingFiles, FileChoice, FileHandling, FileOperation, Filling, Job,
    LINE_ALIGNMENT, Place, ProcessorSharing, SequentialScope, Stage, SyncPolicy, Target,
    WeightedSize, Workload,
};

use crate::zones;

/// The same workload, with everything that makes no difference at one value.
#[must_use]
pub fn normal_form(workload: &Workload) -> Workload {
    let mut normal = workload.clone();
    normal.stages.iter_mut().for_each(flows);
    let grouped = workload
        .jobs()
        .any(|(_, job)| job.group.together || job.features.process.ends == EndsOthers::Group);
    for job in normal.stages.iter_mut().flat_map(|stage| &mut stage.jobs) {
        if !grouped {
            job.group.id = 0;
        }
        job.depth = job.effective_depth();
        if job.features.processor_work.is_some() {
            working(job);
        }
        if job
            .features
            .operation
            .is_some_and(FileOperation::is_of_names)
        {
            names(job);
        }
        limits(job);
        lines(job);
        zones(job);
        blocks(job);
        if job.targets.len() == 1 {
            job.file_choice = FileChoice::RoundRobin;
        }
        if let Some(replay) = &mut job.features.replay {
            // What a conversion to fio loses is told where it is a loss.
            replay.plain_writes = true;
        }
        if !job.mix.changes_data() && job.features.replay.is_none() {
            job.existing = ExistingFiles::AsPeer;
            if job.features.verify.is_none() {
                job.contents = BufferContents::default();
                job.features.filling = None;
            }
        }
        if job.features.filling.as_deref() == Some(&Filling::default()) {
            job.features.filling = None;
        }
        let is_paced = job.arrival != Arrival::Closed || job.features.rates.is_some();
        if let Some(think) = job.features.think.as_mut().filter(|_| !is_paced) {
            think.stops_rate = false;
        }
        let process = &mut job.features.process;
        if process.processors.is_empty() {
            process.sharing = ProcessorSharing::Shared;
        }
    }
    normal
}

/// The weights of a flow are as small as they can be.
fn flows(stage: &mut Stage) {
    let mut divisors: BTreeMap<u32, u32> = BTreeMap::new();
    for flow in stage.jobs.iter().filter_map(|job| job.features.flow) {
        let divisor = divisors.entry(flow.id).or_default();
        *divisor = common(*divisor, flow.weight);
    }
    let flows = stage.jobs.iter_mut();
    for flow in flows.filter_map(|job| job.features.flow.as_mut()) {
        flow.weight /= divisors[&flow.id].max(1);
    }
}

/// Names get one operation each, in order: nothing is placed in them, and nothing is written.
fn names(job: &mut Job) {
    job.access = Access::Sequential {
        gap: Bytes::ZERO,
        scope: SequentialScope::PerWorker,
    };
    job.file_choice = FileChoice::Sequential;
    job.features.placement = None;
    job.features.filling = None;
    job.contents = BufferContents::default();
}

/// Where work takes the place of I/O, all that is said of I/O means nothing.
fn working(job: &mut Job) {
    let block = Bytes::kib(4);
    job.targets = vec![Target {
        place: Place::Path("processors".to_owned()),
        offset: Bytes::ZERO,
        length: Some(block),
    }];
    job.access = Access::Sequential {
        gap: Bytes::ZERO,
        scope: SequentialScope::PerWorker,
    };
    job.block = BlockSizes::uniform(block);
    job.caching = Caching::Buffered;
    job.sync = SyncPolicy::default();
    job.limits.bytes = None;
    (job.drop_cache, job.unlink, job.split_latency) = (true, false, false);
    job.features.calls = Calls::default();
    job.features.files = FileHandling::default();
}

/// Numbers of I/Os and passes end nothing where a job starts over until its time is out; no number of passes is one.
fn limits(job: &mut Job) {
    let limits = &mut job.limits;
    limits.loops = limits.loops.max(1);
    if limits.time_based {
        limits.ios = None;
        limits.loops = 1;
    }
}

/// Lines that are never drawn are left out, and the others say what the job's mix, access and sizes are.
fn lines(job: &mut Job) {
    let own = std::mem::take(&mut job.features.lines);
    let drawn: Vec<AccessLine> = own.into_iter().filter(|line| line.weight > 0).collect();
    if drawn.is_empty() {
        return;
    }
    let divisor = drawn
        .iter()
        .fold(0, |sum, line| common(sum, line.weight))
        .max(1);
    let reduced = drawn.into_iter().map(|line| AccessLine {
        weight: line.weight / divisor,
        alignment: line.alignment.or(Some(LINE_ALIGNMENT)),
        ..line
    });
    job.set_lines(reduced.collect());
}

/// Absolute zones end with the target.
fn zones(job: &mut Job) {
    let length = zones::length(job);
    let Some(rules) = &mut job.features.placement else {
        return;
    };
    for one in &mut rules.distribution {
        if let Distribution::ZonedAbsolute(own) = one {
            *own = zones::within(own, length);
        }
    }
}

/// Weights are as small as they can be; what no I/O uses is as the first direction that is used; random offsets are aligned to
/// the smallest block unless something else is said.
fn blocks(job: &mut Job) {
    let used: Vec<Direction> = Direction::ALL
        .into_iter()
        .filter(|way| job.moves(*way))
        .collect();
    let smallest = job.block.smallest(job.mix);
    let block = &mut job.block;
    for list in [&mut block.read, &mut block.write, &mut block.trim] {
        *list = reduced(list);
    }
    if let Some(first) = used.first() {
        let first = block.of(*first).to_vec();
        let unused = |way: Direction| !used.contains(&way);
        for (way, list) in [
            (Direction::Read, &mut block.read),
            (Direction::Write, &mut block.write),
            (Direction::Trim, &mut block.trim),
        ] {
            if unused(way) {
                list.clone_from(&first);
            }
        }
    }
    let in_order = matches!(job.access, Access::Sequential { .. });
    if block.alignment == Some(smallest) || in_order {
        block.alignment = None;
    }
    let Some(rules) = &mut job.features.placement else {
        return;
    };
    for way in Direction::ALL.into_iter().filter(|way| !used.contains(way)) {
        let first = used.first().map_or(0, |first| *first as usize);
        rules.distribution[way as usize] = rules.distribution[first].clone();
        rules.random[way as usize] = rules.random[first];
        rules.ranges[way as usize] = rules.ranges[first];
        rules.alignment[way as usize] = rules.alignment[first];
    }
    for way in Direction::ALL {
        let list = job.block.of(way).iter().map(|entry| entry.size);
        let list = rules.ranges[way as usize]
            .map(|range| range.least)
            .or(list.min());
        if rules.alignment[way as usize] == list || in_order {
            rules.alignment[way as usize] = None;
        }
    }
    if in_order {
        rules.random = [Percent::ALL; 3];
    }
}

/// The same shares with the smallest weights; sizes that are never drawn are left out.
fn reduced(list: &[WeightedSize]) -> Vec<WeightedSize> {
    let drawn = list
        .iter()
        .filter(|entry| entry.weight > 0 && entry.size > Bytes::ZERO);
    let divisor = drawn
        .clone()
        .fold(0, |sum, entry| common(sum, entry.weight))
        .max(1);
    let reduced = drawn.map(|entry| WeightedSize {
        size: entry.size,
        weight: entry.weight / divisor,
    });
    reduced.collect()
}

/// Greatest common divisor (Euclid).
fn common(one: u32, other: u32) -> u32 {
    if other == 0 {
        one
    } else {
        common(other, one % other)
    }
}
