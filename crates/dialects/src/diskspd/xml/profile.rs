//! A profile as XML: elements in the order of DISKSPD 2.2, those at their default left out where 2.2 leaves them out.

use super::Xml;
use crate::diskspd::settings::{
    Cache, Contents, Format, Profile, Span, SpreadUnit, Target, Throttle,
};

/// Elements of event tracing, in order.
const TRACING: [&str; 12] = [
    "Process",
    "Thread",
    "ImageLoad",
    "DiskIO",
    "MemoryPageFaults",
    "MemoryHardFaults",
    "Network",
    "Registry",
    "UsePagedMemory",
    "UsePerfTimer",
    "UseSystemTimer",
    "UseCyclesCounter",
];

/// The element `Profile`, `indent` blanks in.
pub fn write(profile: &Profile, indent: usize) -> String {
    let mut xml = Xml::at(indent);
    xml.open("Profile");
    xml.leaf("Progress", profile.progress);
    if profile.experiments > 0 {
        xml.leaf("ExperimentFlags", profile.experiments);
    }
    let format = match profile.format {
        Format::Text => "text",
        Format::Xml => "xml",
    };
    xml.leaf("ResultFormat", format);
    xml.leaf("Verbose", profile.verbose);
    if profile.verbose_stats {
        xml.leaf("VerboseStats", true);
    }
    if let Some(precreate) = &profile.precreate {
        xml.leaf("PrecreateFiles", precreate);
    }
    if !profile.tracing.is_empty() {
        xml.open("ETW");
        for name in TRACING {
            xml.leaf(name, profile.tracing.contains(name));
        }
        xml.close("ETW");
    }
    xml.open("TimeSpans");
    for span in &profile.spans {
        write_span(&mut xml, span);
    }
    xml.close("TimeSpans");
    xml.close("Profile");
    xml.into_text()
}

fn write_span(xml: &mut Xml, span: &Span) {
    xml.open("TimeSpan");
    xml.leaf("CompletionRoutines", span.completion_routines);
    xml.leaf("MeasureLatency", span.latency);
    xml.leaf("CalculateIopsStdDev", span.deviation);
    xml.leaf("DisableAffinity", span.no_affinity);
    xml.leaf("Duration", span.duration);
    xml.leaf("Warmup", span.warmup);
    xml.leaf("Cooldown", span.cooldown);
    xml.leaf("ThreadCount", span.pool.unwrap_or(0));
    xml.leaf("RequestCount", span.requests.unwrap_or(0));
    xml.leaf("IoBucketDuration", span.bucket_ms);
    xml.leaf("RandSeed", span.seed);
    if span.fresh_data {
        xml.leaf("RandomWriteData", true);
    }
    if !span.processors.is_empty() {
        xml.open("Affinity");
        for (group, cpu) in &span.processors {
            let attributes = format!("Group=\"{group}\" Processor=\"{cpu}\"");
            xml.empty(format!("AffinityGroupAssignment {attributes}"));
        }
        xml.close("Affinity");
    }
    xml.open("Targets");
    for target in &span.targets {
        write_target(xml, target);
    }
    xml.close("Targets");
    xml.close("TimeSpan");
}

fn write_target(xml: &mut Xml, target: &Target) {
    xml.open("Target");
    xml.leaf("Path", &target.path);
    xml.leaf("BlockSize", target.block);
    xml.leaf("BaseFileOffset", target.base);
    xml.leaf("SequentialScan", target.hints.contains(&'s'));
    xml.leaf("RandomAccess", target.hints.contains(&'r'));
    xml.leaf("TemporaryFile", target.hints.contains(&'t'));
    xml.leaf("UseLargePages", target.large_pages);
    write_caching(xml, target);
    write_contents(xml, &target.contents);
    xml.leaf("ParallelAsyncIO", target.parallel);
    if let Some(burst) = target.burst {
        xml.leaf("BurstSize", burst);
    }
    if let Some(think) = target.think_ms {
        xml.leaf("ThinkTime", think);
    }
    if let Some(size) = target.create {
        xml.leaf("FileSize", size);
    }
    write_order(xml, target);
    xml.leaf("ThreadStride", target.thread_stride.unwrap_or(0));
    xml.leaf("MaxFileSize", target.end.unwrap_or(0));
    xml.leaf("RequestCount", target.outstanding);
    xml.leaf("WriteRatio", target.writes);
    match target.throttle {
        Some(Throttle::Iops(rate)) => {
            xml.open_leaf("Throughput unit=\"IOPS\"", "Throughput", rate);
        }
        Some(Throttle::BytesPerMs(rate)) => xml.leaf("Throughput", rate),
        None => xml.leaf("Throughput", 0),
    }
    xml.leaf("ThreadsPerFile", target.threads);
    xml.leaf("IOPriority", target.priority);
    xml.leaf("Weight", target.weight);
    if !target.pool_threads.is_empty() {
        xml.open("ThreadTargets");
        for (thread, weight) in &target.pool_threads {
            xml.open("ThreadTarget");
            xml.leaf("Thread", thread);
            if let Some(weight) = weight {
                xml.leaf("Weight", weight);
            }
            xml.close("ThreadTarget");
        }
        xml.close("ThreadTargets");
    }
    xml.close("Target");
}

fn write_caching(xml: &mut Xml, target: &Target) {
    match target.cache {
        Cache::Cached => {}
        Cache::LocalOff => xml.leaf("DisableLocalCache", true),
        Cache::Uncached => xml.leaf("DisableOSCache", true),
    }
    if target.write_through {
        xml.leaf("WriteThrough", true);
    }
    if target.mapped {
        xml.leaf("MemoryMappedIo", true);
    }
    match target.flush {
        Some('v') => xml.leaf("FlushType", "ViewOfFile"),
        Some('n') => xml.leaf("FlushType", "NonVolatileMemory"),
        Some(_) => xml.leaf("FlushType", "NonVolatileMemoryNoDrain"),
        None => {}
    }
}

fn write_contents(xml: &mut Xml, contents: &Contents) {
    xml.open("WriteBufferContent");
    match contents {
        Contents::Zeroes => xml.leaf("Pattern", "zero"),
        Contents::Counting => xml.leaf("Pattern", "sequential"),
        Contents::Source { size, file } => {
            xml.leaf("Pattern", "random");
            xml.open("RandomDataSource");
            xml.leaf("SizeInBytes", size);
            if let Some(file) = file {
                xml.leaf("FilePath", file);
            }
            xml.close("RandomDataSource");
        }
    }
    xml.close("WriteBufferContent");
}

fn write_order(xml: &mut Xml, target: &Target) {
    let Some(share) = target.random else {
        xml.leaf("StrideSize", target.step());
        xml.leaf("InterlockedSequential", target.interlocked);
        return;
    };
    xml.leaf("Random", target.step());
    if share < 100 {
        xml.leaf("RandomRatio", share);
    }
    if target.spread.ranges.is_empty() {
        return;
    }
    let unit = match target.spread.unit {
        SpreadUnit::Percent => "Percent",
        SpreadUnit::Absolute => "Absolute",
    };
    xml.open("Distribution");
    xml.open(unit);
    for (io, length) in &target.spread.ranges {
        xml.open_leaf(format!("Range IO=\"{io}\""), "Range", length);
    }
    xml.close(unit);
    xml.close("Distribution");
}
