//! A profile's text, which reads back as the same profile.

use std::fmt::Write as _;

use fathom_units::{Bytes, BytesPerSec, Iops, Nanos, Percent};

use crate::{Growth, Level, Levels, Period, Profile, Volume};

impl Profile {
    /// The profile as a file.
    pub fn to_toml(&self) -> String {
        let mut text = String::from(
            "# What an application needs of its storage. A figure holds at the 50th, 90th and 99th percentile,\n\
             # or is written { p50 = …, p90 = …, p99 = … }; one that is absent is unknown.\n",
        );
        line(&mut text, "name", Some(quoted(&self.name)));
        line(&mut text, "origin", self.origin.as_deref().map(quoted));
        let transactions = self.transactions_per_sec.map(|rate| rate.to_string());
        line(&mut text, "transactions_per_sec", transactions);
        let growth = (self.growth != Growth::NONE).then(|| quoted(&self.growth.to_string()));
        line(&mut text, "growth", growth);
        let count = self.logical_processors.map(|count| count.to_string());
        line(&mut text, "logical_processors", count);
        line(&mut text, "processors", levels(&self.processors, percent));
        let peak = levels(&self.peak_processors, percent);
        line(&mut text, "peak_processors", peak);
        line(&mut text, "memory", levels(&self.memory, bytes));
        line(&mut text, "peak_memory", levels(&self.peak_memory, bytes));
        for volume in &self.volumes {
            write_volume(&mut text, volume);
        }
        text
    }
}

fn write_volume(text: &mut String, volume: &Volume) {
    text.push_str("\n[[volume]]\n");
    line(text, "name", Some(quoted(&volume.name)));
    line(text, "role", Some(quoted(volume.role.name())));
    line(text, "capacity", volume.capacity.map(bytes));
    line(text, "latency_goal", levels(&volume.latency_goal, nanos));
    for period in &volume.periods {
        write_period(text, period);
    }
}

fn write_period(text: &mut String, period: &Period) {
    text.push_str("\n[[volume.period]]\n");
    line(text, "name", Some(quoted(period.kind.name())));
    let iops = |rate: Iops| rate.get().to_string();
    line(text, "iops", levels(&period.iops, iops));
    line(text, "reads", levels(&period.reads, percent));
    line(text, "random", levels(&period.random, percent));
    line(text, "size", levels(&period.size, bytes));
    line(text, "throughput", levels(&period.throughput, rate));
    let average = levels(&period.average_throughput, rate);
    line(text, "average_throughput", average);
    let peak = levels(&period.peak_throughput, rate);
    line(text, "peak_throughput", peak);
    line(text, "latency", levels(&period.latency, nanos));
    let average = levels(&period.average_latency, nanos);
    line(text, "average_latency", average);
    let minimum = levels(&period.minimum_latency, nanos);
    line(text, "minimum_latency", minimum);
    let depth = |depth: u64| depth.to_string();
    line(text, "queue_depth", levels(&period.queue_depth, depth));
}

fn line(text: &mut String, key: &str, value: Option<String>) {
    if let Some(value) = value {
        let _ = writeln!(text, "{key} = {value}");
    }
}

fn levels<T: Copy + PartialEq>(levels: &Levels<T>, write: impl Fn(T) -> String) -> Option<String> {
    if levels.is_unknown() {
        return None;
    }
    if let Some(figure) = levels.same() {
        return Some(write(figure));
    }
    let known = Level::ALL
        .iter()
        .filter_map(|level| Some(format!("{level} = {}", write(levels.at(*level)?))));
    Some(format!("{{ {} }}", known.collect::<Vec<_>>().join(", ")))
}

fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}

/// Most whole units of a figure that is still read at a glance; more are written in a larger unit.
const GLANCE: u64 = 10_000;

/// Exactly: in an IEC unit where that divides, else as a decimal.
fn bytes(size: Bytes) -> String {
    quoted(&whole_bytes(size.get()))
}

fn whole_bytes(bytes: u64) -> String {
    let units = [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];
    let divides = |(_, shift): &&(&str, u32)| {
        bytes > 0 && bytes.trailing_zeros() >= *shift && bytes >> shift < GLANCE
    };
    if let Some((unit, shift)) = units.iter().find(divides) {
        return format!("{}{unit}", bytes >> shift);
    }
    // Means of I/O sizes are in whole sectors.
    if bytes % 1024 == 512 && bytes >> 10 < GLANCE {
        return format!("{}.5KiB", bytes >> 10);
    }
    let units = [
        ("TB", 1_000_000_000_000),
        ("GB", 1_000_000_000),
        ("MB", 1_000_000),
        ("kB", 1_000),
    ];
    let suited = units.iter().find(|(_, scale)| bytes >= *scale);
    match suited.filter(|_| bytes >= GLANCE) {
        Some((unit, scale)) => decimal(bytes, *scale, unit),
        None => format!("{bytes}B"),
    }
}

/// Exactly, in MB/s where that divides.
fn rate(rate: BytesPerSec) -> String {
    let bytes = rate.get();
    if bytes > 0 && bytes.is_multiple_of(1_000_000) {
        return quoted(&format!("{}MB/s", bytes / 1_000_000));
    }
    quoted(&format!("{}/s", whole_bytes(bytes)))
}

/// `value` as a decimal of units of `scale`, a power of ten: every digit, and no zero at the end.
fn decimal(value: u64, scale: u64, unit: &str) -> String {
    let digits = scale.ilog10() as usize;
    let part = format!("{:0digits$}", value % scale);
    match part.trim_end_matches('0') {
        "" => format!("{}{unit}", value / scale),
        part => format!("{}.{part}{unit}", value / scale),
    }
}

fn percent(share: Percent) -> String {
    let points = share.basis_points();
    let text = match (points / 100, points % 100) {
        (whole, 0) => format!("{whole}%"),
        (whole, part) => format!("{whole}.{part:02}%"),
    };
    quoted(&text)
}

/// Exactly, in the largest unit that it has one of.
fn nanos(time: Nanos) -> String {
    let ns = time.get();
    let units = [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000)];
    let suited = units.iter().find(|(_, scale)| ns >= *scale);
    quoted(&match suited {
        Some((unit, scale)) => decimal(ns, *scale, unit),
        None => format!("{ns}ns"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_exact_and_read_at_a_glance() {
        for (size, expected) in [
            (0, "0B"),
            (9_000, "9000B"),
            (9_728, "9.5KiB"),
            (12_288, "12KiB"),
            (4 << 30, "4GiB"),
            (1_326_391_179, "1.326391179GB"),
            (1_298_728 << 10, "1.329897472GB"),
        ] {
            assert_eq!(whole_bytes(size), expected);
            assert_eq!(expected.parse(), Ok(Bytes::new(size)));
        }
        for (per_sec, expected) in [
            (15_000_000, "15MB/s"),
            (12 << 20, "12MiB/s"),
            (11_195_758, "11.195758MB/s"),
            (23_456, "23.456kB/s"),
        ] {
            assert_eq!(rate(BytesPerSec::new(per_sec)), quoted(expected));
            assert_eq!(expected.parse(), Ok(BytesPerSec::new(per_sec)));
        }
        for (ns, expected) in [
            (0, "0ns"),
            (999, "999ns"),
            (907_264, "907.264us"),
            (2_203_349, "2.203349ms"),
            (5_000_000, "5ms"),
            (1_500_000_000, "1.5s"),
        ] {
            assert_eq!(nanos(Nanos::new(ns)), quoted(expected));
            assert_eq!(expected.parse(), Ok(Nanos::new(ns)));
        }
    }
}
