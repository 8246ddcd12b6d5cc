//! What follows when every I/O of a device is seen: latencies, sizes, depth over time, places, and samples of intervals.

use std::collections::{BTreeMap, HashMap};

use fathom_stats::Histogram;
use fathom_units::Nanos;

use super::collect::percent;
use crate::{Device, Ops, Placed, Sample, Traced};

/// Most I/Os that are taken to be outstanding: more than any queue holds.
const MOST_OPEN: usize = 1 << 18;
/// Deepest queue that is told apart.
const MOST_DEPTH: usize = 4_096;
/// Most processes that are told apart.
const MOST_PROCESSES: usize = 4_096;
/// Most intervals of all devices together: more than a day of one device, second by second.
const MOST_INTERVALS: u64 = 100_000;

const SECOND: u64 = 1_000_000_000;

/// Length of the intervals that a trace of `span` of so many devices is told in: a second, but of very long ones.
pub(super) fn width(span: u64, devices: usize) -> Nanos {
    let most = (MOST_INTERVALS / devices.max(1) as u64).max(1);
    Nanos::new((span / most).max(SECOND))
}

/// One I/O's place and kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Place {
    /// First sector of 512 bytes.
    pub sector: u64,
    /// Whether it writes.
    pub write: bool,
}

#[derive(Debug, Clone, Copy)]
struct Open {
    at: u64,
    bytes: u64,
}

/// What happened in one interval.
#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    reads: Part,
    writes: Part,
    depth_ns: u128,
    busy_ns: u64,
    placed: Placed,
    fastest: Option<u64>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Part {
    count: u64,
    bytes: u64,
    time: u64,
    merged: u64,
}

impl Part {
    fn ops(self) -> Ops {
        Ops {
            count: self.count as f64,
            bytes: Some(self.bytes as f64),
            time: Some(Nanos::new(self.time)),
            merged: Some(self.merged as f64),
        }
    }
}

/// Follows the I/Os of one device, in order of time.
#[derive(Debug)]
pub(super) struct Tracker {
    width: u64,
    start: u64,
    now: u64,
    open: HashMap<Place, Open>,
    traced: Traced,
    slots: BTreeMap<u64, Slot>,
    ends: HashMap<(u32, bool), u64>,
    processes: HashMap<u32, u64>,
    /// Completions whose issue was not seen.
    pub orphans: u64,
    /// Issues that did not fit, or whose place was taken already.
    pub dropped: u64,
}

impl Tracker {
    /// Begins at `start` nanoseconds of the trace's own clock, with intervals of `width`.
    pub fn new(start: u64, width: Nanos) -> Self {
        let histogram = Histogram::new;
        Self {
            width: width.get().max(1),
            start,
            now: start,
            open: HashMap::new(),
            traced: Traced {
                read_latency: histogram(),
                write_latency: histogram(),
                read_size: histogram(),
                write_size: histogram(),
                depth: Vec::new(),
                random: 0,
                judged: 0,
                processes: Vec::new(),
                lost: 0,
                flushes: 0,
            },
            slots: BTreeMap::new(),
            ends: HashMap::new(),
            processes: HashMap::new(),
            orphans: 0,
            dropped: 0,
        }
    }

    fn slot(&mut self, at: u64) -> &mut Slot {
        self.slots
            .entry((at - self.start) / self.width)
            .or_default()
    }

    /// Lets time pass at the depth there is.
    fn pass(&mut self, at: u64) {
        let at = at.max(self.now);
        let depth = self.open.len().min(MOST_DEPTH);
        if self.traced.depth.len() <= depth {
            self.traced.depth.resize(depth + 1, 0);
        }
        self.traced.depth[depth] += at - self.now;
        let mut from = self.now;
        // Intervals in which nothing happened are told too.
        while from < at {
            let next = self.start + ((from - self.start) / self.width + 1) * self.width;
            let until = at.min(next);
            let slot = self.slot(from);
            slot.depth_ns += depth as u128 * u128::from(until - from);
            slot.busy_ns += if depth > 0 { until - from } else { 0 };
            from = until;
        }
        self.now = at;
    }

    /// An I/O goes to the device.
    pub fn issue(&mut self, at: u64, place: Place, bytes: u64, process: u32) {
        self.pass(at);
        if self.open.len() >= MOST_OPEN {
            self.dropped += 1;
            return;
        }
        let open = Open {
            at: self.now,
            bytes,
        };
        if self.open.insert(place, open).is_some() {
            self.dropped += 1;
        }
        let end = place.sector.saturating_add(bytes.div_ceil(512));
        // Reads and writes of a process are streams of their own.
        let stream = (process, place.write);
        if (self.ends.len() < MOST_PROCESSES || self.ends.contains_key(&stream))
            && let Some(last) = self.ends.insert(stream, end)
        {
            let random = u64::from(last != place.sector);
            self.traced.judged += 1;
            self.traced.random += random;
            let now = self.now;
            let placed = &mut self.slot(now).placed;
            placed.judged += 1;
            placed.random += random;
        }
        if self.processes.len() < MOST_PROCESSES || self.processes.contains_key(&process) {
            *self.processes.entry(process).or_default() += 1;
        }
    }

    /// An I/O comes back from the device.
    pub fn complete(&mut self, at: u64, place: Place) {
        self.pass(at);
        let Some(open) = self.open.remove(&place) else {
            self.orphans += 1;
            return;
        };
        let taken = self.now - open.at;
        let traced = &mut self.traced;
        let (latency, size) = if place.write {
            (&mut traced.write_latency, &mut traced.write_size)
        } else {
            (&mut traced.read_latency, &mut traced.read_size)
        };
        latency.record(taken);
        size.record(open.bytes);
        let now = self.now;
        let slot = self.slot(now);
        slot.fastest = Some(slot.fastest.map_or(taken, |least| least.min(taken)));
        let part = if place.write {
            &mut slot.writes
        } else {
            &mut slot.reads
        };
        part.count += 1;
        part.bytes += open.bytes;
        part.time += taken;
    }

    /// An issued I/O goes back to the queue; it will be issued again.
    pub fn requeue(&mut self, at: u64, place: Place) {
        self.pass(at);
        self.open.remove(&place);
    }

    /// A request was merged into another one.
    pub fn merge(&mut self, at: u64, write: bool) {
        self.pass(at);
        let now = self.now;
        let slot = self.slot(now);
        let part = if write {
            &mut slot.writes
        } else {
            &mut slot.reads
        };
        part.merged += 1;
    }

    /// I/Os that were not back at the end.
    pub fn open_count(&self) -> usize {
        self.open.len()
    }

    /// The device as it was seen until `end`; `zero` is the trace's own zero in nanoseconds of the Unix epoch.
    pub fn finish(
        mut self,
        name: String,
        end: u64,
        zero: i64,
        names: &HashMap<u32, String>,
    ) -> Device {
        self.pass(end);
        let mut processes: BTreeMap<String, u64> = BTreeMap::new();
        for (process, count) in &self.processes {
            let name = match names.get(process) {
                Some(name) if name.starts_with("kworker") => "writeback".to_owned(),
                Some(name) => name.clone(),
                None => format!("process {process}"),
            };
            *processes.entry(name).or_default() += count;
        }
        let mut processes: Vec<(String, u64)> = processes.into_iter().collect();
        processes.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        self.traced.processes = processes;
        let (start, now, width) = (self.start, self.now, self.width);
        let samples = self.slots.iter().filter_map(|(number, seen)| {
            let from = start + number * width;
            let length = now.saturating_sub(from).min(width);
            let at = i128::from(zero) + i128::from(from + length);
            (length > 0).then(|| Sample {
                at_unix_ns: i64::try_from(at).unwrap_or(i64::MAX),
                length: Nanos::new(length),
                reads: Some(seen.reads.ops()),
                writes: Some(seen.writes.ops()),
                queue: Some(seen.depth_ns as f64 / length as f64),
                placed: (seen.placed.judged > 0).then_some(seen.placed),
                fastest: seen.fastest.map(Nanos::new),
                busy: percent(seen.busy_ns as f64 / length as f64 * 100.0),
                ..Sample::default()
            })
        });
        Device {
            name,
            samples: samples.collect(),
            traced: Some(self.traced),
            ..Device::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_i_os_one_after_another_within_a_second() {
        let mut tracker = Tracker::new(1_000, width(5_000, 1));
        let first = Place {
            sector: 8,
            write: false,
        };
        let second = Place {
            sector: 16,
            write: true,
        };
        tracker.issue(1_000, first, 4_096, 7);
        tracker.issue(2_000, second, 8_192, 7);
        tracker.complete(3_000, first);
        tracker.complete(5_000, second);
        tracker.complete(5_000, second);
        assert_eq!(tracker.orphans, 1);
        let names = HashMap::from([(7, "kworker/u8:1".to_owned())]);
        let device = tracker.finish("d".to_owned(), 6_000, 500, &names);
        let traced = device.traced.unwrap();
        assert_eq!(traced.depth, [1_000, 3_000, 1_000]);
        assert_eq!((traced.random, traced.judged), (0, 0));
        assert_eq!(traced.read_latency.max(), 2_000);
        assert_eq!(traced.write_latency.max(), 3_000);
        assert_eq!(traced.processes, [("writeback".to_owned(), 2)]);
        let [sample] = device.samples.as_slice() else {
            panic!("{:?}", device.samples);
        };
        assert_eq!(sample.at_unix_ns, 6_500);
        assert_eq!(sample.length, Nanos::new(5_000));
        assert!((sample.reads.unwrap().count - 1.0).abs() < 1e-9);
        assert!((sample.queue.unwrap() - 1.0).abs() < 1e-9);
        assert_eq!(sample.fastest, Some(Nanos::new(2_000)));
        assert_eq!(sample.placed, None);
    }

    #[test]
    fn intervals_tell_which_of_their_i_os_are_random() {
        let mut tracker = Tracker::new(0, Nanos::from_secs(1));
        let mut go = |at: u64, sector: u64, write: bool| {
            let place = Place { sector, write };
            tracker.issue(at, place, 4_096, 7);
            tracker.complete(at + 1_000, place);
        };
        // Reads go on where they ended, with a write between them; in the next second they do not.
        go(0, 0, false);
        go(10_000, 800, true);
        go(20_000, 8, false);
        go(SECOND, 16, false);
        go(SECOND + 10_000, 4_000, false);
        let device = tracker.finish("d".to_owned(), 2 * SECOND, 0, &HashMap::new());
        let placed: Vec<_> = device.samples.iter().map(|it| it.placed).collect();
        let of = |random, judged| Some(Placed { random, judged });
        assert_eq!(placed, [of(0, 1), of(1, 2)]);
    }
}
