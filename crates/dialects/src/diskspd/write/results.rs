//! Results as XML: the elements of DISKSPD 2.2, in its order.

use std::collections::BTreeSet;

use fathom_stats::Histogram;
use fathom_units::Nanos;

use super::latency::at;
use super::processors::{average, date};
use super::tables::{Ways, all};
use super::{CpuUse, DiskspdRun, INTERRUPTED, SpanRun, System, distributions};
use crate::diskspd::DiskspdInput;
use crate::diskspd::settings::Span;
use crate::diskspd::tally::{Buckets, Figures};
use crate::diskspd::xml::{Xml, escape, write_profile};

/// The version whose layout this is, with the program's own behind.
const VERSION: &str = concat!("2.2.0+fathom.", env!("CARGO_PKG_VERSION"));
/// The date of that version.
const VERSION_DATE: &str = "2024/6/3";

/// Percentiles between the smallest and the largest, and their decimals.
fn percentiles() -> impl Iterator<Item = (f64, usize)> {
    let nines = [
        99.9,
        99.99,
        99.999,
        99.9999,
        99.999_99,
        99.999_999,
        99.999_999_9,
    ];
    let nines = nines.into_iter().zip(1..);
    (1..=99u8).map(|one| (f64::from(one), 0)).chain(nines)
}

/// The element `Results`, without a line end behind it.
pub fn write(input: &DiskspdInput, run: &DiskspdRun<'_>) -> String {
    let mut xml = Xml::default();
    xml.open("Results");
    write_system(&mut xml, run.system, run.started_unix_ns);
    xml.lines(&write_profile(&input.profile, 2));
    for one in run.spans {
        if let Some(asked) = input.profile.spans.get(one.span) {
            xml.open("TimeSpan");
            write_span(&mut xml, asked, one);
            xml.close("TimeSpan");
        }
    }
    xml.close("Results");
    let mut text = xml.into_text();
    text.truncate(text.trim_end().len());
    text
}

/// The element `System`.
pub fn write_system(xml: &mut Xml, system: &System, started_unix_ns: u64) {
    xml.open("System");
    xml.leaf("ComputerName", &system.computer);
    xml.open("Tool");
    xml.leaf("Version", VERSION);
    xml.leaf("VersionDate", VERSION_DATE);
    xml.close("Tool");
    xml.leaf("RunTime", date(started_unix_ns));
    let power = escape(&system.power);
    xml.empty(format!("PowerScheme Name=\"{power}\" Guid=\"\""));
    topology(xml, &system.cpus);
    xml.close("System");
}

/// Number of a part of the machine that a processor belongs to.
type Number = fn(&CpuUse) -> u32;

fn topology(xml: &mut Xml, cpus: &[CpuUse]) {
    xml.open("ProcessorTopology Heterogeneous=\"false\"");
    let count = cpus.len();
    let whole = mask(cpus.iter());
    xml.empty(format!(
        "Group Group=\"0\" MaximumProcessors=\"{count}\" ActiveProcessors=\"{count}\" ActiveProcessorMask=\"{whole}\""
    ));
    let parts: [(&str, Number); 2] = [("Node", |it| it.node), ("Socket", |it| it.socket)];
    for (name, number) in parts {
        let numbers: BTreeSet<u32> = cpus.iter().map(number).collect();
        for one in numbers {
            let mask = mask(cpus.iter().filter(|cpu| number(cpu) == one));
            xml.open(format!("{name} {name}=\"{one}\""));
            xml.empty(format!("Group Group=\"0\" Mask=\"{mask}\""));
            xml.close(name);
        }
    }
    for (index, core) in cores(cpus).into_iter().enumerate() {
        let mask = mask(cpus.iter().filter(|cpu| (cpu.socket, cpu.core) == core));
        xml.empty(format!(
            "Core Group=\"0\" Core=\"{index}\" Mask=\"{mask}\" EfficiencyClass=\"0\""
        ));
    }
    xml.close("ProcessorTopology");
}

/// Cores of all sockets, in order.
fn cores(cpus: &[CpuUse]) -> BTreeSet<(u32, u32)> {
    cpus.iter().map(|cpu| (cpu.socket, cpu.core)).collect()
}

/// A bit for each processor, in hexadecimal.
fn mask<'a>(cpus: impl Iterator<Item = &'a CpuUse>) -> String {
    let mut digits = vec![0u8; 1];
    for cpu in cpus {
        let digit = cpu.cpu as usize / 4;
        if digits.len() <= digit {
            digits.resize(digit + 1, 0);
        }
        digits[digit] |= 1 << (cpu.cpu % 4);
    }
    let digits = digits.iter().rev().map(|digit| format!("{digit:x}"));
    format!("0x{}", digits.collect::<String>())
}

fn write_span(xml: &mut Xml, span: &Span, run: &SpanRun) {
    if run.measured == Nanos::ZERO {
        xml.leaf("Error", INTERRUPTED);
        return;
    }
    let seconds = run.measured.as_secs_f64();
    xml.leaf("TestTimeSeconds", format!("{seconds:.2}"));
    xml.leaf("ThreadCount", span.thread_count());
    xml.leaf("RequestCount", span.requests.unwrap_or(0));
    xml.leaf("ProcCount", run.cpus.len());
    write_cpus(xml, &run.cpus);
    let all = all(run);
    if span.latency {
        write_latencies(xml, &all);
    }
    if span.deviation {
        write_iops(xml, &all);
    }
    let mut rows = run.rows.iter().peekable();
    while let Some(row) = rows.peek() {
        let thread = row.thread;
        xml.open("Thread");
        xml.leaf("Id", thread);
        while let Some(row) = rows.next_if(|row| row.thread == thread) {
            let path = span
                .targets
                .get(row.target)
                .map_or("", |it| it.path.as_str());
            let size = run.sizes.get(row.target).copied().unwrap_or(0);
            xml.open("Target");
            write_target(xml, (path, size), &row.figures);
            distributions::write_element(xml, span, run, row);
            if span.latency {
                write_target_latency(xml, &row.figures);
            }
            if span.deviation {
                write_iops(xml, &row.figures);
            }
            xml.close("Target");
        }
        xml.close("Thread");
    }
}

fn write_cpus(xml: &mut Xml, cpus: &[CpuUse]) {
    let shares = |xml: &mut Xml, one: &CpuUse| {
        xml.leaf("UsagePercent", format!("{:.2}", 100.0 - one.idle));
        xml.leaf("UserPercent", format!("{:.2}", one.user));
        xml.leaf("KernelPercent", format!("{:.2}", one.kernel));
        xml.leaf("IdlePercent", format!("{:.2}", one.idle));
    };
    let cores: Vec<(u32, u32)> = cores(cpus).into_iter().collect();
    xml.open("CpuUtilization");
    for one in cpus {
        let core = cores.binary_search(&(one.socket, one.core)).unwrap_or(0);
        xml.open("CPU");
        xml.leaf("Socket", one.socket);
        xml.leaf("Node", one.node);
        xml.leaf("Group", 0);
        xml.leaf("Core", core);
        xml.leaf("EfficiencyClass", 0);
        xml.leaf("Id", one.cpu);
        shares(xml, one);
        xml.close("CPU");
    }
    if let Some(average) = average(cpus) {
        xml.open("Average");
        shares(xml, &average);
        xml.close("Average");
    }
    xml.close("CpuUtilization");
}

/// Reads, writes and both, as their elements are called.
const KINDS: [(&str, Ways); 3] = [
    ("Read", Ways::Read),
    ("Write", Ways::Write),
    ("Total", Ways::Total),
];

fn write_latencies(xml: &mut Xml, all: &Figures) {
    let kinds = KINDS.map(|(name, ways)| (name, ways.sum(all).latency));
    let used = |one: &Histogram| one.nonzero().count();
    let [read, write, total] = [0, 1, 2].map(|kind: usize| used(&kinds[kind].1));
    xml.open(format!(
        "Latency ReadHistoBuckets=\"{read}\" WriteHistoBuckets=\"{write}\" TotalHistoBuckets=\"{total}\""
    ));
    let present = || kinds.iter().filter(|(_, latency)| latency.count() > 0);
    for (name, latency) in present() {
        let mean = format!("{:.3}", latency.mean() / 1e6);
        xml.leaf(&format!("Average{name}Milliseconds"), mean);
        let prefix = if *name == "Total" { "" } else { name };
        let deviation = format!("{:.3}", latency.stddev() / 1e6);
        xml.leaf(&format!("{prefix}LatencyStdev"), deviation);
    }
    let ends = |percent| std::iter::once((percent, 0));
    for (percent, decimals) in ends(0.0).chain(percentiles()).chain(ends(100.0)) {
        xml.open("Bucket");
        xml.leaf("Percentile", format!("{percent:.decimals$}"));
        for (name, latency) in present() {
            let value = format!("{:.3}", at(latency, percent));
            xml.leaf(&format!("{name}Milliseconds"), value);
        }
        xml.close("Bucket");
    }
    xml.close("Latency");
}

fn write_iops(xml: &mut Xml, figures: &Figures) {
    xml.open("Iops");
    if let Some(buckets) = &figures.buckets {
        for (name, ways) in KINDS {
            if let Some(deviation) = buckets.deviation(|counts| ways.of(counts)) {
                let prefix = if name == "Total" { "" } else { name };
                xml.leaf(&format!("{prefix}IopsStdDev"), format!("{deviation:.3}"));
            }
        }
        write_buckets(xml, buckets);
    }
    xml.close("Iops");
}

fn write_buckets(xml: &mut Xml, buckets: &Buckets) {
    for (end, [(reads, of_reads), (writes, of_writes)]) in buckets.series() {
        let latencies = |name: &str, [min, max, mean, deviation]: [f64; 4]| {
            format!(
                "{name}MinLatencyMilliseconds=\"{min:.3}\" {name}MaxLatencyMilliseconds=\"{max:.3}\" {name}AvgLatencyMilliseconds=\"{mean:.3}\" {name}LatencyStdDev=\"{deviation:.3}\""
            )
        };
        let read = latencies("Read", of_reads.milliseconds());
        let write = latencies("Write", of_writes.milliseconds());
        let total = reads + writes;
        xml.empty(format!(
            "Bucket SampleMillisecond=\"{end}\" Read=\"{reads:.0}\" Write=\"{writes:.0}\" Total=\"{total:.0}\" {read} {write}"
        ));
    }
}

fn write_target(xml: &mut Xml, (path, size): (&str, u64), figures: &Figures) {
    let [read, write] = &figures.ways;
    let (reads, writes) = (read.latency.count(), write.latency.count());
    xml.leaf("Path", path);
    xml.leaf("BytesCount", read.bytes + write.bytes);
    xml.leaf("FileSize", size);
    xml.leaf("IOCount", reads + writes);
    xml.leaf("ReadBytes", read.bytes);
    xml.leaf("ReadCount", reads);
    xml.leaf("WriteBytes", write.bytes);
    xml.leaf("WriteCount", writes);
}

fn write_target_latency(xml: &mut Xml, figures: &Figures) {
    for (name, ways) in KINDS {
        let latency = ways.sum(figures).latency;
        if latency.count() > 0 {
            let prefix = if name == "Total" { "" } else { name };
            let mean = format!("{:.3}", latency.mean() / 1e6);
            xml.leaf(&format!("Average{prefix}LatencyMilliseconds"), mean);
            let deviation = format!("{:.3}", latency.stddev() / 1e6);
            xml.leaf(&format!("{prefix}LatencyStdev"), deviation);
        }
    }
}
