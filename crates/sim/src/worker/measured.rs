//! What a worker in virtual time has measured: its operations, its half-second samples, and its figures at the end.

use std::collections::BTreeMap;

use fathom_model::Limit;
use fathom_record::{HalfSecond, OpStats, WorkerStats};
use fathom_stats::Histogram;
use fathom_units::Nanos;
use fathom_workload::Direction;

use super::Worker;
use crate::recent::Recent;

/// Nanoseconds that a sample is of.
pub(super) const HALF_SECOND: u64 = 500_000_000;

/// Most half-second samples kept of a worker: more than a day; later I/Os are in no sample.
const MOST_SAMPLES: usize = 200_000;

impl Worker {
    /// An I/O of an open loop completed.
    pub(super) fn record_response(
        &mut self,
        now: Nanos,
        slot: u32,
        (way, submitted): (Direction, Nanos),
    ) {
        let stats = self.stats.directions[way as usize].as_mut();
        if let Some(response) = stats.and_then(|stats| stats.response.as_mut()) {
            let intended = self.intended.get(slot as usize).copied();
            let ns = (now - intended.unwrap_or(submitted)).get();
            response.record(ns);
            self.responses[way as usize].push(ns);
        }
    }

    /// Counts the response times of the I/Os of a direction that were put aside in `second`, the one that is going on.
    #[inline(never)]
    fn count_responses(&mut self, direction: Direction, second: Option<&mut OpStats>) {
        let put_aside = self.recent[direction as usize].counts().0 as usize;
        let responses = &mut self.responses[direction as usize];
        let counted = responses.drain(..put_aside.min(responses.len()));
        if let Some(second) = second {
            let histogram = second.response.get_or_insert_with(Histogram::new);
            counted.for_each(|ns| histogram.record(ns));
        }
    }

    /// Takes what [`Self::complete`] gave, to be counted later; `true`: now.
    #[inline]
    pub fn put_aside(&mut self, (direction, bytes, latency): (Direction, u64, Nanos)) -> bool {
        self.recent[direction as usize].add(bytes, latency)
    }

    /// Whether I/Os of a direction were put aside.
    pub fn has_recent(&self, direction: Direction) -> bool {
        self.recent[direction as usize].counts().0 > 0
    }

    /// Counts the I/Os of a direction that were put aside, here and in `other`; gives them, to be cleared.
    pub fn count_recent(
        &mut self,
        direction: Direction,
        mut other: Option<&mut OpStats>,
    ) -> &mut Recent {
        if !self.responses[direction as usize].is_empty() {
            self.count_responses(direction, other.as_deref_mut());
        }
        let recent = &mut self.recent[direction as usize];
        self.completions += recent.counts().0;
        let latencies = recent.latencies().iter();
        let outstanding: u128 = latencies.map(|ns| u128::from(*ns)).sum();
        self.stats.outstanding_ns += outstanding;
        match (&mut self.stats.directions[direction as usize], other) {
            (Some(own), Some(other)) => recent.count_in([own, other]),
            (Some(one), None) | (None, Some(one)) => recent.count_in([one]),
            (None, None) => {}
        }
        recent
    }

    /// Closes every half second that ended at or before `now`. A sample is what was counted since the last.
    #[cold]
    pub(super) fn close_samples(&mut self, now: Nanos) {
        let done = self.counted();
        while now >= self.half_end {
            let mut sample = HalfSecond {
                at: self.half_end - self.times.measure,
                ..HalfSecond::default()
            };
            for way in 0..3 {
                sample.ios[way] = done.0[way] - self.sampled.0[way];
                sample.bytes[way] = done.1[way] - self.sampled.1[way];
            }
            self.sampled = done;
            self.stats.samples.push(sample);
            self.half_end = if self.stats.samples.len() < MOST_SAMPLES {
                self.half_end.saturating_add(Nanos::new(HALF_SECOND))
            } else {
                Nanos::MAX
            };
        }
        self.sample_end = self.half_end;
        if let Some(windows) = &mut self.stats.windows {
            windows.close(now - self.times.measure, done);
            let end = self.times.measure.saturating_add(windows.next_end());
            self.sample_end = self.sample_end.min(end);
        }
        self.bound_turns();
    }

    /// Measured I/Os and bytes of each direction so far.
    fn counted(&self) -> ([u64; 3], [u64; 3]) {
        let mut done = ([0; 3], [0; 3]);
        for (way, stats) in self.stats.directions.iter().enumerate() {
            let (recent_ios, recent_bytes) = self.recent[way].counts();
            (done.0[way], done.1[way]) = stats.as_ref().map_or((0, 0), |stats| {
                (stats.ios() + recent_ios, stats.bytes + recent_bytes)
            });
        }
        done
    }

    /// Adds what those that are still outstanding have of the integral of outstanding I/Os, and figures that follow from
    /// others: in virtual time every I/O is a batch of its own, and submitting takes no time.
    fn complete_stats(&mut self) {
        let mut open = vec![true; self.slots.len()];
        for slot in &self.free {
            open[*slot as usize] = false;
        }
        let measure = self.times.measure;
        let open = self.slots.iter().zip(open);
        for (slot, _) in open.filter(|(slot, open)| *open && !slot.sync) {
            let until = self.last_event.max(measure);
            let span = until.saturating_sub(slot.submitted.max(measure));
            self.stats.outstanding_ns += u128::from(span.get());
        }
        self.stats.outstanding_ns -= self.before_ns;
        self.stats.submit_batches[1] = self.stats.depth_levels.iter().sum();
        self.stats.complete_batches[1] = self.completions;
        for stats in self.stats.directions.iter_mut().flatten() {
            if let Some(submit) = &mut stats.submit {
                submit.record_many(0, stats.latency.count());
            }
            if let Some(complete) = &mut stats.complete {
                *complete = stats.latency.clone();
            }
        }
    }

    /// Until when it has measured.
    pub fn end(&self) -> Nanos {
        self.times
            .measured_until(self.stats.ended, self.last_completion)
    }

    /// Its measurements.
    pub fn finish(mut self) -> WorkerStats {
        self.complete_stats();
        let end = self.end();
        self.stats.measured = end - self.times.measure;
        for (named, waited) in self.stats.waited_ns.iter_mut().zip(&self.waited) {
            let waits = Limit::ALL.iter().zip(waited).filter(|(_, ns)| **ns > 0);
            *named = waits
                .map(|(limit, ns)| (limit.name().to_owned(), *ns))
                .collect::<BTreeMap<_, _>>();
        }
        let done = self.stats.ios();
        let counted = self.stats.submit_batches[1];
        // What was outstanding when measurement began was submitted before.
        let before = if self.times.measure > self.times.first {
            u64::from(self.depth)
        } else {
            0
        };
        assert!(
            done <= counted + before,
            "completions never exceed submissions"
        );
        self.stats
    }
}
