//! What sysstat's tools tell of a disk in one interval, by the names of their columns, which text and JSON share.

use std::borrow::Cow;
use std::fmt;

use fathom_units::Bytes;
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};

use super::collect::{Flow, percent};
use crate::{MachineSample, Sample};

/// One disk in one interval; what the tool did not say is `None`.
#[derive(Debug, Clone, Default)]
pub(super) struct Row {
    pub name: String,
    reads: Option<f64>,
    writes: Option<f64>,
    transfers: Option<f64>,
    read_bytes: Option<f64>,
    write_bytes: Option<f64>,
    bytes: Option<f64>,
    size: Option<f64>,
    read_merges: Option<f64>,
    write_merges: Option<f64>,
    read_ms: Option<f64>,
    write_ms: Option<f64>,
    ms: Option<f64>,
    queue: Option<f64>,
    busy: Option<f64>,
    discards: Option<f64>,
    below_zero: bool,
}

const KIB: f64 = 1024.0;
const MIB: f64 = 1024.0 * 1024.0;
const SECTOR: f64 = 512.0;

/// Columns whose figures follow from others or are of no use here, of all versions.
const IGNORED: &[&str] = &[
    "%rrqm",
    "%wrqm",
    "%drqm",
    "rrqm",
    "wrqm",
    "drqm",
    "rareq-sz",
    "wareq-sz",
    "dareq-sz",
    "rqm/s",
    "%rqm",
    "svctm",
    "d_await",
    "f/s",
    "f_await",
    "drqm/s",
    "dkB/s",
    "dMB/s",
    "dsec/s",
    "kB_dscd/s",
    "MB_dscd/s",
    "Blk_dscd/s",
    "kB_read",
    "kB_wrtn",
    "kB_dscd",
    "MB_read",
    "MB_wrtn",
    "MB_dscd",
    "Blk_read",
    "Blk_wrtn",
    "Blk_dscd",
    "dc_sec",
    "dkB",
    "dc_sec/s",
];

impl Row {
    /// Takes the figure of a column; whether the column is known.
    pub fn put(&mut self, column: &str, value: f64) -> bool {
        let (place, unit) = match column {
            "r/s" => (&mut self.reads, 1.0),
            "w/s" => (&mut self.writes, 1.0),
            "d/s" => (&mut self.discards, 1.0),
            "tps" => (&mut self.transfers, 1.0),
            "rkB/s" | "rkB" | "kB_read/s" => (&mut self.read_bytes, KIB),
            "rMB/s" | "MB_read/s" => (&mut self.read_bytes, MIB),
            "rsec/s" | "rd_sec/s" | "rd_sec" | "Blk_read/s" => (&mut self.read_bytes, SECTOR),
            "wkB/s" | "wkB" | "kB_wrtn/s" => (&mut self.write_bytes, KIB),
            "wMB/s" | "MB_wrtn/s" => (&mut self.write_bytes, MIB),
            "wsec/s" | "wr_sec/s" | "wr_sec" | "Blk_wrtn/s" => (&mut self.write_bytes, SECTOR),
            "kB/s" => (&mut self.bytes, KIB),
            "MB/s" => (&mut self.bytes, MIB),
            "areq-sz" => (&mut self.size, KIB),
            "avgrq-sz" => (&mut self.size, SECTOR),
            "rrqm/s" => (&mut self.read_merges, 1.0),
            "wrqm/s" => (&mut self.write_merges, 1.0),
            "r_await" => (&mut self.read_ms, 1.0),
            "w_await" => (&mut self.write_ms, 1.0),
            "await" => (&mut self.ms, 1.0),
            "avgqu-sz" | "aqu-sz" => (&mut self.queue, 1.0),
            "%util" | "util" | "util-percent" => (&mut self.busy, 1.0),
            other => return IGNORED.contains(&other),
        };
        *place = Some(value.max(0.0) * unit);
        self.below_zero |= value < 0.0;
        true
    }

    /// Whether a figure is below 0: a counter went back within the interval, so that nothing is known of it.
    pub fn went_back(&self) -> bool {
        self.below_zero
    }

    /// What happened a second; `None` where the columns do not say how many I/Os there were.
    pub fn sample(&self) -> Option<Sample> {
        let seconds = |ms: Option<f64>| ms.map(|ms| ms / 1e3);
        let reads = self.reads.map(|count| Flow {
            count,
            bytes: self.read_bytes,
            latency: seconds(self.read_ms),
            merged: self.read_merges,
        });
        let writes = self.writes.map(|count| Flow {
            count,
            bytes: self.write_bytes,
            latency: seconds(self.write_ms),
            merged: self.write_merges,
        });
        let both = self
            .read_bytes
            .zip(self.write_bytes)
            .map(|(read, written)| read + written);
        let apart = reads
            .zip(writes)
            .map(|(reads, writes)| reads.count + writes.count);
        let count = self.transfers.or(apart);
        // Both together are told only where they tell what the directions apart do not.
        let needed = apart.is_none() || (self.ms.is_some() && self.read_ms.is_none());
        let all = count.filter(|_| needed).map(|count| Flow {
            count,
            bytes: both.or(self.bytes).or(self.size.map(|size| size * count)),
            latency: seconds(self.ms),
            merged: None,
        });
        if reads.is_none() && all.is_none() {
            return None;
        }
        Some(Sample {
            reads: reads.map(Flow::ops),
            writes: writes.map(Flow::ops),
            all: all.map(Flow::ops),
            queue: self.queue,
            busy: self.busy.and_then(percent),
            ..Sample::default()
        })
    }

    /// Discards a second, which are neither reads nor writes.
    pub fn discards(&self) -> f64 {
        self.discards.unwrap_or(0.0)
    }
}

/// What is said of so many rows of [`Row::went_back`].
pub(super) fn went_back(rows: usize) -> Option<String> {
    match rows {
        0 => None,
        1 => Some(
            "1 row of a disk has a figure below 0, of a counter that went back: it is left out"
                .to_owned(),
        ),
        _ => Some(format!(
            "{rows} rows of disks have figures below 0, of counters that went back: they are left out"
        )),
    }
}

/// What is said where a log has discards.
pub(super) const DISCARDS: &str = "there are discards in it: they are counted neither as reads nor as writes, but in the queue's depth";

impl<'de> Deserialize<'de> for Row {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct RowVisitor;
        impl<'de> Visitor<'de> for RowVisitor {
            type Value = Row;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a disk's figures")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Row, M::Error> {
                let mut row = Row::default();
                while let Some(key) = map.next_key::<Cow<'de, str>>()? {
                    if matches!(&*key, "disk_device" | "disk-device") {
                        row.name = map.next_value()?;
                    } else if row.put(&key, 0.0) {
                        let value: f64 = map.next_value()?;
                        if !value.is_finite() || value.abs() > 1e18 {
                            return Err(serde::de::Error::custom(format!(
                                "`{key}` is more than can be"
                            )));
                        }
                        row.put(&key, value);
                    } else {
                        map.next_value::<IgnoredAny>()?;
                    }
                }
                Ok(row)
            }
        }
        deserializer.deserialize_map(RowVisitor)
    }
}

/// What sysstat tells of memory, in KiB.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
pub(super) struct Memory {
    #[serde(rename = "memused")]
    pub used: Option<f64>,
    #[serde(rename = "memused-percent")]
    pub used_percent: Option<f64>,
    #[serde(rename = "memfree")]
    pub free: Option<f64>,
    pub buffers: Option<f64>,
    pub cached: Option<f64>,
}

impl Memory {
    /// Memory in use besides caches. Older versions count all that is not free as used, as their own figures show.
    pub fn in_use(self) -> Option<MachineSample> {
        let used = self.used?;
        let percent = self.used_percent.filter(|percent| *percent > 0.0);
        let total = percent.map(|percent| used / percent * 100.0);
        let with_caches = total.zip(self.free).is_some_and(|(total, free)| {
            // The percentage is rounded to hundredths.
            (used + free - total).abs() <= total / 100.0
        });
        let caches = self.buffers.unwrap_or(0.0) + self.cached.unwrap_or(0.0);
        let used = if with_caches { used - caches } else { used };
        Some(MachineSample {
            memory: Some(Bytes::new((used.max(0.0) * 1024.0) as u64)),
            ..MachineSample::default()
        })
    }
}

/// Processors in use where `idle` and `waiting` percent are not.
pub(super) fn processors(idle: f64, waiting: f64) -> MachineSample {
    MachineSample {
        processors: percent(100.0 - idle - waiting),
        ..MachineSample::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(used: f64, used_percent: f64, expected: u64) {
        // 24,000,000 KiB in all, 2,000,000 free, 1,000,000 and 11,000,000 of caches.
        let memory = Memory {
            used: Some(used),
            used_percent: Some(used_percent),
            free: Some(2e6),
            buffers: Some(1e6),
            cached: Some(1.1e7),
        };
        let found = memory.in_use().and_then(|sample| sample.memory);
        assert_eq!(found, Some(Bytes::kib(expected)));
    }

    #[test]
    fn caches_are_no_memory_in_use_in_any_version() {
        check(22_000_000.0, 91.67, 10_000_000);
        check(9_000_000.0, 37.5, 9_000_000);
    }
}
