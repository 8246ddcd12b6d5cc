//! What sources cannot know, in the checklist's words.

use crate::Unknown;

/// Percentiles of latency.
pub(super) const PERCENTILES: Unknown = Unknown {
    figure: "latency, percentiles",
    reason: "the source gives averages of intervals, and an average hides them",
};
/// Random and sequential.
pub(super) const RANDOM: Unknown = Unknown {
    figure: "% random, % sequential",
    reason: "counters do not say where on the disk an I/O goes",
};
/// Sizes.
pub(super) const SIZES: Unknown = Unknown {
    figure: "I/O size, distribution",
    reason: "the source gives averages of intervals, and an average hides it",
};
/// Which process.
pub(super) const PROCESSES: Unknown = Unknown {
    figure: "processes",
    reason: "the source counts for devices, not for processes",
};
/// Latency of each direction.
pub(super) const DIRECTIONS: Unknown = Unknown {
    figure: "latency of reads and of writes",
    reason: "the source gives one latency for both",
};
/// Reads and writes.
pub(super) const MIX: Unknown = Unknown {
    figure: "% read, % write",
    reason: "the source counts reads and writes together",
};
/// Latency altogether.
pub(super) const LATENCY: Unknown = Unknown {
    figure: "latency",
    reason: "no column of the source gives it",
};
/// Queue.
pub(super) const QUEUE: Unknown = Unknown {
    figure: "queue depth",
    reason: "no column of the source gives it",
};
/// Bytes.
pub(super) const BYTES: Unknown = Unknown {
    figure: "throughput and I/O size",
    reason: "no column of the source gives them",
};
/// Processors.
pub(super) const PROCESSORS: Unknown = Unknown {
    figure: "CPU",
    reason: "the source does not hold it",
};
/// Memory.
pub(super) const MEMORY: Unknown = Unknown {
    figure: "memory",
    reason: "the source does not hold it",
};
/// Memory where only what is free is known.
pub(super) const MEMORY_FREE: Unknown = Unknown {
    figure: "memory",
    reason: "the source holds what is free, not how much there is: `--memory SIZE` says it",
};
/// Rates of I/O from a source without them.
pub(super) const NO_DISKS: Unknown = Unknown {
    figure: "I/Os a second, throughput, latency, queue depth",
    reason: "vmstat counts blocks of all disks together, not I/Os",
};

/// Those that hold for every source of averages.
pub(super) const OF_AVERAGES: [Unknown; 4] = [PERCENTILES, RANDOM, SIZES, PROCESSES];

/// Adds what the devices and the machine turn out not to hold.
pub(super) fn complete(observation: &mut crate::Observation) {
    let samples = || {
        observation
            .devices
            .iter()
            .flat_map(|device| &device.samples)
    };
    let has = |found: &dyn Fn(&crate::Sample) -> bool| samples().any(found);
    let any = samples().next().is_some();
    let ops = |sample: &crate::Sample| [sample.reads, sample.writes, sample.all];
    let mut lacking = Vec::new();
    let traced = observation
        .devices
        .iter()
        .any(|device| device.traced.is_some());
    if any {
        let split = has(&|sample| sample.reads.is_some() || sample.writes.is_some());
        let timed = has(&|sample| ops(sample).iter().flatten().any(|ops| ops.time.is_some()));
        let apart = has(&|sample| {
            [sample.reads, sample.writes]
                .iter()
                .flatten()
                .any(|ops| ops.time.is_some())
        });
        let sized = has(&|sample| ops(sample).iter().flatten().any(|ops| ops.bytes.is_some()));
        let queued = has(&|sample| sample.queue.is_some());
        lacking.extend((!split).then_some(MIX));
        lacking.extend((!timed).then_some(LATENCY));
        lacking.extend((timed && split && !apart).then_some(DIRECTIONS));
        lacking.extend((!sized).then_some(BYTES));
        lacking.extend((!queued && !traced).then_some(QUEUE));
    }
    let machine = &observation.machine.samples;
    let processors = machine.iter().any(|sample| sample.processors.is_some());
    let memory = machine.iter().any(|sample| sample.memory.is_some());
    let free = observation.unknown.contains(&MEMORY_FREE);
    lacking.extend((!processors).then_some(PROCESSORS));
    lacking.extend((!memory && !free).then_some(MEMORY));
    for unknown in lacking {
        if !observation.unknown.contains(&unknown) {
            observation.unknown.push(unknown);
        }
    }
}
