//! What one device's I/Os add up to: by interval, by stretch, and in all.

use std::collections::HashMap;

use fathom_stats::Histogram;
use fathom_units::Nanos;

use super::format::Direction;
use crate::checklist::add_depths;
use crate::samples::{Ops, Placed, Stretch, Traced};

/// Deepest queue that is told from deeper ones.
const DEPTH_MOST: usize = 1 << 16;

/// One direction in one interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Way {
    ios: u64,
    bytes: u64,
    time: u64,
}

/// One interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Interval {
    reads: Way,
    writes: Way,
    /// Where I/Os began.
    pub placed: Placed,
    /// Least latency in nanoseconds.
    pub fastest: Option<u64>,
    /// I/Os that were split.
    pub splits: u64,
    /// Time at each depth times that depth, in nanoseconds: over the length the mean depth.
    pub queued: u64,
    /// Nanoseconds that were traced.
    pub traced: u64,
}

impl Way {
    /// Scaled from the traced part to the whole interval.
    pub fn ops(self, scale: f64) -> Ops {
        Ops {
            count: self.ios as f64 * scale,
            bytes: Some(self.bytes as f64 * scale),
            time: Some(Nanos::new((self.time as f64 * scale) as u64)),
            merged: None,
        }
    }
}

impl Interval {
    /// Reads and writes.
    pub fn ways(&self) -> (Way, Way) {
        (self.reads, self.writes)
    }
}

/// Time at each depth, where I/Os that were outstanding before the first event show only when they complete.
#[derive(Debug, Default)]
struct Depths {
    /// Relative to the start: place is depth plus what has shown since.
    times: HashMap<i64, u64>,
    now: i64,
    /// I/Os that must have been outstanding at the start.
    before: i64,
    since: Option<u64>,
    /// Depth times time, relative, not yet given to an interval.
    area: i64,
    span: u64,
    /// Time stands still: what still ends shows what was outstanding at the start, and nothing else.
    frozen: bool,
    /// The place last written and what it gathered, so that most events touch no map.
    last: (i64, u64),
}

impl Depths {
    #[inline]
    fn change(&mut self, at: u64, by: i64) {
        if !self.frozen {
            self.pass(at);
            self.now += by;
        }
    }

    #[inline]
    fn pass(&mut self, at: u64) {
        if self.frozen {
            return;
        }
        let Some(since) = self.since else {
            self.since = Some(at);
            return;
        };
        let time = at.saturating_sub(since);
        if self.last.0 != self.now {
            self.settle();
            self.last.0 = self.now;
        }
        self.last.1 += time;
        self.area += self.now * time.cast_signed();
        self.span += time;
        self.since = Some(at.max(since));
    }

    fn settle(&mut self) {
        if self.last.1 > 0 {
            *self.times.entry(self.last.0).or_default() += self.last.1;
            self.last.1 = 0;
        }
    }

    /// The times so far as places by depth, and from here on anew.
    fn take(&mut self) -> Vec<u64> {
        self.settle();
        let mut found = Vec::new();
        for (depth, time) in self.times.drain() {
            let depth = usize::try_from(depth + self.before)
                .unwrap_or(0)
                .min(DEPTH_MOST);
            if found.len() <= depth {
                found.resize(depth + 1, 0);
            }
            found[depth] += time;
        }
        found
    }

    /// Mean depth's area and the time of the interval that ends.
    fn take_area(&mut self) -> (u64, u64) {
        let area = self.area + self.before * self.span.cast_signed();
        let taken = (u64::try_from(area).unwrap_or(0), self.span);
        (self.area, self.span) = (0, 0);
        taken
    }
}

/// One device.
#[derive(Debug)]
pub struct Tally {
    interval: Interval,
    read_latency: Histogram,
    write_latency: Histogram,
    read_size: Histogram,
    write_size: Histogram,
    depths: Depths,
    depth: Vec<u64>,
    total: Traced,
    length: Nanos,
}

impl Default for Tally {
    fn default() -> Self {
        Self {
            interval: Interval::default(),
            read_latency: Histogram::new(),
            write_latency: Histogram::new(),
            read_size: Histogram::new(),
            write_size: Histogram::new(),
            depths: Depths::default(),
            depth: Vec::new(),
            total: Traced::default(),
            length: Nanos::ZERO,
        }
    }
}

impl Tally {
    /// An I/O begins.
    #[inline]
    pub fn issue(&mut self, at: u64) {
        self.depths.change(at, 1);
    }

    /// An I/O that had been issued goes back into the queue.
    pub fn requeue(&mut self, at: u64) {
        self.depths.change(at, -1);
    }

    /// An I/O began where it could be judged.
    #[inline]
    pub fn place(&mut self, is_random: Option<bool>) {
        if let Some(is_random) = is_random {
            self.interval.placed.judged += 1;
            self.interval.placed.random += u64::from(is_random);
        }
    }

    /// An I/O ends that began `latency` nanoseconds ago.
    #[inline]
    pub fn complete(&mut self, at: u64, direction: Direction, bytes: u64, latency: u64) {
        self.depths.change(at, -1);
        let (way, latencies, sizes) = match direction {
            Direction::Read => (
                &mut self.interval.reads,
                &mut self.read_latency,
                &mut self.read_size,
            ),
            Direction::Write => (
                &mut self.interval.writes,
                &mut self.write_latency,
                &mut self.write_size,
            ),
        };
        way.ios += 1;
        way.bytes += bytes;
        way.time += latency;
        latencies.record(latency);
        sizes.record(bytes);
        let fastest = self.interval.fastest.unwrap_or(u64::MAX);
        self.interval.fastest = Some(fastest.min(latency));
    }

    /// An I/O ends that began before anything was traced.
    #[inline]
    pub fn complete_unknown(&mut self, at: u64) {
        self.depths.change(at, -1);
        self.depths.before += 1;
    }

    /// A flush without data ends.
    pub fn flush(&mut self) {
        self.total.flushes += 1;
    }

    /// An I/O was split.
    pub fn split(&mut self) {
        self.interval.splits += 1;
    }

    /// Time goes on to `at` without an event.
    pub fn pass(&mut self, at: u64) {
        self.depths.pass(at);
    }

    /// The depth after `at` does not count; what was outstanding before may still show.
    pub fn freeze(&mut self, at: u64) {
        self.depths.pass(at);
        self.depths.frozen = true;
    }

    /// What is outstanding is not known any more: tracing paused, or events were lost. I/Os that still end are forgotten.
    pub fn pause(&mut self) {
        self.close_depths();
        let (area, span) = (self.depths.area, self.depths.span);
        let carried = (area + self.depths.before * span.cast_signed(), span);
        self.depths = Depths::default();
        (self.depths.area, self.depths.span) = carried;
    }

    fn close_depths(&mut self) {
        let times = self.depths.take();
        add_depths(&mut self.depth, &times);
    }

    /// The interval, which ends; the next begins.
    pub fn end_interval(&mut self) -> Interval {
        let mut ended = std::mem::take(&mut self.interval);
        (ended.queued, ended.traced) = self.depths.take_area();
        self.total.random += ended.placed.random;
        self.total.judged += ended.placed.judged;
        ended
    }

    /// Adds to the stretch's length.
    pub fn lengthen(&mut self, length: Nanos) {
        self.length = self.length.saturating_add(length);
    }

    /// The stretch, which ends; the next begins. `None` without any I/O or time in it.
    pub fn end_stretch(&mut self, at_unix_ns: i64) -> Option<Stretch> {
        self.close_depths();
        let mut latency = self.read_latency.clone();
        latency.merge(&self.write_latency);
        let mut size = self.read_size.clone();
        size.merge(&self.write_size);
        for (all, part) in [
            (&mut self.total.read_latency, &mut self.read_latency),
            (&mut self.total.write_latency, &mut self.write_latency),
            (&mut self.total.read_size, &mut self.read_size),
            (&mut self.total.write_size, &mut self.write_size),
        ] {
            all.merge(part);
            part.clear();
        }
        add_depths(&mut self.total.depth, &self.depth);
        let stretch = Stretch {
            at_unix_ns,
            length: std::mem::replace(&mut self.length, Nanos::ZERO),
            latency,
            size,
            depth: std::mem::take(&mut self.depth),
        };
        (stretch.length > Nanos::ZERO).then_some(stretch)
    }

    /// Everything, after the last stretch ended.
    pub fn into_total(self) -> Traced {
        self.total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_is_weighted_with_time_and_knows_what_began_before() {
        let mut tally = Tally::default();
        // From 0: one I/O is outstanding that nobody saw begin. It ends at 30.
        tally.pass(0);
        tally.issue(10);
        tally.complete_unknown(30);
        tally.complete(50, Direction::Read, 4096, 40);
        tally.pass(100);
        let interval = tally.end_interval();
        // 10 at 1, 20 at 2, 20 at 1, 50 at 0.
        assert_eq!((interval.queued, interval.traced), (10 + 40 + 20, 100));
        tally.lengthen(Nanos::new(100));
        let stretch = tally.end_stretch(7).unwrap();
        assert_eq!(stretch.depth, [50, 30, 20]);
        assert_eq!((stretch.latency.count(), stretch.size.max()), (1, 4096));
        assert_eq!(interval.fastest, Some(40));
        let total = tally.into_total();
        assert_eq!(
            (total.read_latency.count(), total.depth),
            (1, vec![50, 30, 20])
        );
    }

    #[test]
    fn a_pause_begins_depth_anew() {
        let mut tally = Tally::default();
        tally.pass(0);
        tally.issue(10);
        tally.pause();
        tally.pass(1000);
        tally.issue(1010);
        tally.complete(1020, Direction::Write, 512, 10);
        tally.lengthen(Nanos::new(30));
        let stretch = tally.end_stretch(0).unwrap();
        assert_eq!(stretch.depth, [10 + 10, 10]);
    }
}
