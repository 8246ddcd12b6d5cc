//! How caches and credits go on: the model's gauges, read once a virtual second.
//!
//! Invariants: memory is bounded ([`MOST_VALUES`] over all parts, but [`LEAST_SAMPLES`] of each): where samples become too
//! many, every other one goes and seconds become twice as long; nothing is read that the model does not hold anyway.

use std::collections::BTreeMap;

use fathom_model::{Gauge, Storage};
use fathom_record::{OverTimeRecord, StorageRecord};
use fathom_units::Nanos;

/// Most samples of one part: an hour of seconds.
const MOST_SAMPLES: usize = 3600;
/// Fewest samples that a part may keep, however many parts there are.
const LEAST_SAMPLES: usize = 60;
/// Most samples over all parts, some 10 MB of them.
const MOST_VALUES: usize = 200_000;

/// What was read of one part at one time.
#[derive(Debug, Clone, Copy)]
struct Sample {
    /// Counts since measurement began.
    reads: u64,
    hits: u64,
    iops_credits: Option<f64>,
    bytes_credits: Option<f64>,
    dirty_bytes: Option<u64>,
}

impl From<Gauge<'_>> for Sample {
    fn from(gauge: Gauge<'_>) -> Self {
        Self {
            reads: gauge.reads,
            hits: gauge.hits,
            iops_credits: gauge.iops_credits,
            bytes_credits: gauge.bytes_credits,
            dirty_bytes: gauge.dirty_bytes,
        }
    }
}

/// Samples of all parts, from the start of measurement.
#[derive(Debug)]
pub(crate) struct Gauges {
    start: Nanos,
    /// When the next sample is due; never, before measurement.
    next: Nanos,
    every: Nanos,
    most: usize,
    at: Vec<Nanos>,
    /// By part, in the order in which the model gives them.
    parts: Vec<Vec<Sample>>,
}

impl Default for Gauges {
    fn default() -> Self {
        Self {
            start: Nanos::ZERO,
            next: Nanos::MAX,
            every: Nanos::from_secs(1),
            most: MOST_SAMPLES,
            at: Vec::new(),
            parts: Vec::new(),
        }
    }
}

impl Gauges {
    /// When the next sample is due.
    #[inline]
    pub fn due(&self) -> Nanos {
        self.next
    }

    /// The last moment before that.
    #[inline]
    pub fn last_before(&self) -> Nanos {
        self.next.saturating_sub(Nanos::new(1))
    }

    /// Measurement begins at `now`.
    pub fn begin(&mut self, now: Nanos, storage: &Storage) {
        let parts = storage.gauges(now).count();
        self.most = (MOST_VALUES / parts.max(1)).clamp(LEAST_SAMPLES, MOST_SAMPLES);
        self.parts = vec![Vec::new(); parts];
        self.start = now;
        self.next = now.saturating_add(self.every);
    }

    /// Takes every sample that is due at or before `at`, up to where nothing happens.
    #[cold]
    pub fn read_until(&mut self, at: Nanos, storage: &Storage) {
        while self.next <= at && self.next < Nanos::MAX {
            self.read(self.next, storage);
            if self.at.len() >= self.most {
                self.coarsen();
            }
            let last = self.at.last().copied().unwrap_or(self.start);
            self.next = last.saturating_add(self.every);
        }
    }

    fn read(&mut self, at: Nanos, storage: &Storage) {
        self.at.push(at);
        for (samples, gauge) in self.parts.iter_mut().zip(storage.gauges(at)) {
            samples.push(gauge.into());
        }
    }

    /// Every other sample goes; the last one stays.
    fn coarsen(&mut self) {
        fn thin<T>(list: &mut Vec<T>) {
            let odd = list.len() % 2;
            let mut index = 0;
            list.retain(|_| {
                index += 1;
                index % 2 == odd
            });
        }
        thin(&mut self.at);
        self.parts.iter_mut().for_each(thin);
        self.every = self.every * 2;
    }

    /// Takes the last sample at `now`, and puts what was found into the rows of the parts.
    pub fn finish(
        mut self,
        now: Nanos,
        storage: &Storage,
        rows: &mut BTreeMap<String, StorageRecord>,
    ) {
        if self.next == Nanos::MAX {
            return;
        }
        if now > self.at.last().copied().unwrap_or(self.start) {
            self.read(now, storage);
        }
        for (gauge, samples) in storage.gauges(now).zip(&self.parts) {
            let found = over_time(&self.at, self.start, samples);
            if let (Some(row), Some(found)) = (rows.get_mut(gauge.name), found) {
                row.over_time = Some(found);
            }
        }
    }
}

/// `None` where a part has neither a cache that was read nor credits.
fn over_time(at: &[Nanos], start: Nanos, samples: &[Sample]) -> Option<OverTimeRecord> {
    let last = samples.last()?;
    let mut record = OverTimeRecord::default();
    if last.reads > 0 {
        let (mut reads, mut hits) = (0, 0);
        for sample in samples {
            let came = sample.reads - reads;
            let served = sample.hits - hits;
            let share = (came > 0).then(|| served as f64 / came as f64);
            record.hit_share.push(share);
            (reads, hits) = (sample.reads, sample.hits);
        }
    }
    let all = |pick: fn(&Sample) -> Option<f64>| samples.iter().filter_map(pick).collect();
    record.iops_credit_share = all(|sample| sample.iops_credits);
    record.bytes_credit_share = all(|sample| sample.bytes_credits);
    record.dirty_bytes = samples.iter().filter_map(|one| one.dirty_bytes).collect();
    let applies = !record.hit_share.is_empty()
        || !record.iops_credit_share.is_empty()
        || !record.bytes_credit_share.is_empty()
        || !record.dirty_bytes.is_empty();
    record.at_ns = at.iter().map(|at| at.saturating_sub(start).get()).collect();
    applies.then_some(record)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_those_of_each_second() {
        let sample = |reads, hits, left| Sample {
            reads,
            hits,
            iops_credits: Some(left),
            bytes_credits: None,
            dirty_bytes: None,
        };
        let at: Vec<Nanos> = (11..=13).map(Nanos::from_secs).collect();
        let samples = [sample(10, 0, 0.5), sample(10, 0, 0.25), sample(30, 15, 0.0)];
        let found = over_time(&at, Nanos::from_secs(10), &samples).unwrap_or_default();
        assert_eq!(found.hit_share, [Some(0.0), None, Some(0.75)]);
        assert_eq!(found.iops_credit_share, [0.5, 0.25, 0.0]);
        assert_eq!(found.at_ns[2], 3_000_000_000);
        assert!(found.bytes_credit_share.is_empty());
    }

    #[test]
    fn long_stages_keep_their_ends_and_bounded_memory() {
        let mut gauges = Gauges {
            next: Nanos::from_secs(1),
            ..Gauges::default()
        };
        for _ in 0..10_000 {
            gauges.at.push(gauges.next);
            if gauges.at.len() >= gauges.most {
                gauges.coarsen();
            }
            gauges.next = gauges.at.last().copied().unwrap_or_default() + gauges.every;
        }
        assert!(gauges.at.len() <= MOST_SAMPLES);
        let steps = gauges.at.windows(2).map(|pair| pair[1] - pair[0]);
        assert!(
            steps.clone().all(|step| step == gauges.every),
            "{:?}",
            gauges.every
        );
    }
}
