//! The kernel's counters: /proc/diskstats, /proc/stat, /proc/meminfo, /proc/PID/io; their texts, and what lies between
//! two readings.
//!
//! Meaning of the fields: the kernel's Documentation/admin-guide/iostats.rst. Times are milliseconds, sectors 512 bytes.

use std::collections::HashMap;

use fathom_units::{Bytes, Nanos, Percent};

use super::devices::SECTOR;
use crate::samples::{Ops, Sample};
use crate::shares::percent;

/// One device's line of /proc/diskstats.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    reads: Way,
    writes: Way,
    /// Milliseconds with an I/O outstanding.
    busy_ms: u64,
    /// Milliseconds of all I/Os in all.
    weighted_ms: u64,
}

/// One direction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Way {
    completed: u64,
    merged: u64,
    sectors: u64,
    time_ms: u64,
}

/// Every device of /proc/diskstats; lines that are none are passed over.
pub fn read_diskstats(text: &str) -> HashMap<&str, Counters> {
    let line = |line: &'_ str| -> Option<Counters> {
        let mut fields = line.split_ascii_whitespace().skip(3).map(str::parse::<u64>);
        let mut next = || fields.next()?.ok();
        let mut way = || {
            Some(Way {
                completed: next()?,
                merged: next()?,
                sectors: next()?,
                time_ms: next()?,
            })
        };
        let (reads, writes) = (way()?, way()?);
        let _in_flight = next()?;
        Some(Counters {
            reads,
            writes,
            busy_ms: next()?,
            weighted_ms: next()?,
        })
    };
    let named = text
        .lines()
        .filter_map(|it| Some((it.split_ascii_whitespace().nth(2)?, line(it)?)));
    named.collect()
}

/// A counter went back, so that nothing can be said of the interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WentBack;

/// `later - earlier`; a counter that the kernel keeps in 32 bits may have wrapped once.
fn since(earlier: u64, later: u64) -> Result<u64, WentBack> {
    const WIDTH: u64 = 1 << 32;
    if later >= earlier {
        return Ok(later - earlier);
    }
    // Only a counter in its upper quarter that is now in its lower one has wrapped; anything else began anew.
    let wrapped = earlier < WIDTH && earlier > WIDTH / 4 * 3 && later < WIDTH / 4;
    if wrapped {
        Ok(WIDTH - earlier + later)
    } else {
        Err(WentBack)
    }
}

impl Counters {
    /// What happened between an earlier reading and this one, `length` apart.
    ///
    /// # Errors
    /// A counter went back: the device was replaced, or its counters reset.
    pub fn since(
        &self,
        earlier: &Self,
        length: Nanos,
        at_unix_ns: i64,
    ) -> Result<Sample, WentBack> {
        let busy = since(earlier.busy_ms, self.busy_ms)? as f64 * 1e6;
        let weighted = since(earlier.weighted_ms, self.weighted_ms)? as f64 * 1e6;
        let nanos = (length.get() as f64).max(1.0);
        Ok(Sample {
            at_unix_ns,
            length,
            reads: Some(self.reads.since(&earlier.reads)?),
            writes: Some(self.writes.since(&earlier.writes)?),
            queue: Some(weighted / nanos),
            busy: Some(percent(busy / nanos)),
            ..Sample::default()
        })
    }
}

impl Way {
    fn since(&self, earlier: &Self) -> Result<Ops, WentBack> {
        let time_ms = since(earlier.time_ms, self.time_ms)?;
        Ok(Ops {
            count: since(earlier.completed, self.completed)? as f64,
            bytes: Some((since(earlier.sectors, self.sectors)? * SECTOR) as f64),
            time: Some(Nanos::new(time_ms.saturating_mul(1_000_000))),
            merged: Some(since(earlier.merged, self.merged)? as f64),
        })
    }
}

/// Ticks of all processors: in use, and in all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Processors {
    used: u64,
    all: u64,
}

/// The first line of /proc/stat. Waiting for I/O is not use; a guest's time is part of its user's.
pub fn read_stat(text: &str) -> Option<Processors> {
    let line = text.lines().next()?.strip_prefix("cpu ")?;
    let ticks: Vec<u64> = line
        .split_ascii_whitespace()
        .take(8)
        .map_while(|it| it.parse().ok())
        .collect();
    let idle = ticks.get(3)? + ticks.get(4).unwrap_or(&0);
    let all: u64 = ticks.iter().sum();
    Some(Processors {
        used: all.saturating_sub(idle),
        all,
    })
}

/// Logical processors that are in use, of /proc/stat: a line each.
pub fn count_processors(text: &str) -> Option<u64> {
    let is_one = |line: &&str| {
        let number = line.strip_prefix("cpu").and_then(|it| it.split(' ').next());
        number.is_some_and(|it| it.parse::<u32>().is_ok())
    };
    Some(text.lines().filter(is_one).count() as u64).filter(|count| *count > 0)
}

impl Processors {
    /// Share in use since an earlier reading; `None` where no tick has passed.
    pub fn since(&self, earlier: &Self) -> Option<Percent> {
        let all = self.all.checked_sub(earlier.all).filter(|all| *all > 0)?;
        // Idle time of a processor may be corrected backwards by a tick.
        let used = self.used.saturating_sub(earlier.used);
        Some(percent(used as f64 / all as f64))
    }
}

/// Memory in all and in use, of /proc/meminfo: in use is what is not available to a new program without swapping.
pub fn read_meminfo(text: &str) -> Option<(Bytes, Bytes)> {
    let kib = |key: &str| {
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
        line.split_ascii_whitespace().next()?.parse::<u64>().ok()
    };
    let all = kib("MemTotal")?;
    let available = kib("MemAvailable").or_else(|| Some(kib("MemFree")? + kib("Cached")?))?;
    Some((Bytes::kib(all), Bytes::kib(all.saturating_sub(available))))
}

/// `read_bytes` and `write_bytes` of /proc/PID/io: what a process caused storage to move, buffered writes when they are
/// made.
pub fn read_process_io(text: &str) -> Option<(u64, u64)> {
    let of = |key: &str| {
        let value = text.lines().find_map(|line| line.strip_prefix(key))?;
        value.trim().parse::<u64>().ok()
    };
    Some((of("read_bytes:")?, of("write_bytes:")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const EARLIER: &str =
        "   8       0 sda 100 5 8000 50 200 7 1600 4294967290 1 4000 90\n  8 1 sda1 1 2\n";
    const LATER: &str = "   8       0 sda 300 6 16000 250 210 7 1680 10 1 4500 190 0 0 0 0 3 9\n";

    #[test]
    fn an_interval_is_what_lies_between_two_readings() {
        let (earlier, later) = (read_diskstats(EARLIER), read_diskstats(LATER));
        assert_eq!(earlier.len(), 1, "a line cut short is none");
        let sample = later["sda"]
            .since(&earlier["sda"], Nanos::from_secs(2), 7)
            .unwrap();
        let expected = Sample {
            at_unix_ns: 7,
            length: Nanos::from_secs(2),
            reads: Some(Ops {
                count: 200.0,
                bytes: Some(8000.0 * 512.0),
                time: Some(Nanos::from_millis(200)),
                merged: Some(1.0),
            }),
            writes: Some(Ops {
                count: 10.0,
                bytes: Some(80.0 * 512.0),
                // 4,294,967,290 ms and 10 ms: wrapped at 2^32.
                time: Some(Nanos::from_millis(16)),
                merged: Some(0.0),
            }),
            queue: Some(0.05),
            busy: Percent::whole(25),
            ..Sample::default()
        };
        assert_eq!(sample.reads, expected.reads);
        assert_eq!(sample.writes, expected.writes);
        assert_eq!((sample.queue, sample.busy), (expected.queue, expected.busy));
        assert_eq!(
            earlier["sda"]
                .since(&later["sda"], Nanos::from_secs(2), 0)
                .map(|_| ()),
            Err(WentBack)
        );
    }

    #[test]
    fn processors_and_memory_are_read() {
        let (earlier, later) = (
            "cpu  100 0 50 800 50 0 0 0 0 0\n",
            "cpu  160 0 70 900 70 0 0 0 60 0\n",
        );
        let (earlier, later) = (read_stat(earlier).unwrap(), read_stat(later).unwrap());
        assert_eq!(later.since(&earlier), Percent::whole(40));
        assert_eq!(earlier.since(&earlier), None);
        let memory = read_meminfo("MemTotal: 1000 kB\nMemFree: 1 kB\nMemAvailable: 250 kB\n");
        assert_eq!(memory, Some((Bytes::kib(1000), Bytes::kib(750))));
        let io = "rchar: 9\nwchar: 8\nread_bytes: 4096\nwrite_bytes: 0\ncancelled_write_bytes: 5\n";
        assert_eq!(read_process_io(io), Some((4096, 0)));
        let text = "cpu  100 0 50\ncpu0 1 2\ncpu11 1 2\nintr 5\ncpux 1\n";
        assert_eq!(count_processors(text), Some(2));
        assert_eq!(count_processors("cpu  100 0 50 800\n"), None);
        for wrong in ["", "cpu", "cpu  1 2", "cpu  x y z w"] {
            assert_eq!(read_stat(wrong), None, "{wrong}");
        }
    }
}
