//! The figures of a row: sums over the jobs that it stands for.

use fathom_record::{OpStats, StageResult};
use fathom_workload::Direction;

use super::super::Row;

/// Names of the latency bins, and where each ends in ns.
pub(super) const BINS: [(&str, u64); 21] = [
    ("0 to 50 uS", 50_000),
    ("50 to 100 uS", 100_000),
    ("100 to 200 uS", 200_000),
    ("200 to 500 uS", 500_000),
    ("0.5 to 1 mS", 1_000_000),
    ("1 to 2 mS", 2_000_000),
    ("2 to 5 mS", 5_000_000),
    ("5 to 10 mS", 10_000_000),
    ("10 to 15 mS", 15_000_000),
    ("15 to 20 mS", 20_000_000),
    ("20 to 30 mS", 30_000_000),
    ("30 to 50 mS", 50_000_000),
    ("50 to 100 mS", 100_000_000),
    ("100 to 200 mS", 200_000_000),
    ("200 to 500 mS", 500_000_000),
    ("0.5 to 1 S", 1_000_000_000),
    ("1 to 2 s", 2_000_000_000),
    ("2 to 4.7 s", 4_700_000_000),
    ("4.7 to 5 s", 5_000_000_000),
    ("5 to 10 s", 10_000_000_000),
    (" >= 10 s", u64::MAX),
];

const MIB: f64 = 1_048_576.0;
const MB: f64 = 1e6;
const NS_PER_MS: f64 = 1e6;

/// I/Os of one direction.
#[derive(Debug, Clone, Copy, Default)]
struct Way {
    ios: u64,
    bytes: u64,
    errors: u64,
    latency_sum_ns: u128,
    latency_max_ns: u64,
}

/// Sums over jobs.
#[derive(Debug, Default)]
pub(super) struct Figures {
    read: Way,
    write: Way,
    bins: [u64; 21],
    seconds: f64,
    run_ns: u64,
    /// Requests: I/Os without replies.
    transactions: f64,
}

impl Figures {
    /// Of the jobs that `rows` name.
    pub(super) fn of(result: &StageResult, rows: &[&Row]) -> Self {
        let mut figures = Self {
            seconds: result.measured.as_secs_f64(),
            run_ns: result.measured.get(),
            ..Self::default()
        };
        for row in rows {
            let mut ios = 0;
            for worker in result.workers.iter().filter(|worker| worker.job == row.job) {
                for (way, direction) in [
                    (&mut figures.read, Direction::Read),
                    (&mut figures.write, Direction::Write),
                ] {
                    let errors = worker
                        .errors
                        .iter()
                        .filter(|one| one.direction == direction);
                    way.errors += errors.map(|one| one.count).sum::<u64>();
                    if let Some(stats) = &worker.directions[direction as usize] {
                        way.add(stats);
                        fill(&mut figures.bins, stats);
                        ios += stats.ios();
                    }
                }
            }
            let replies = row.replies as f64 / 100_000.0;
            figures.transactions += ios as f64 / (1.0 + replies);
        }
        figures
    }

    fn per_second(&self, amount: f64) -> f64 {
        if self.seconds > 0.0 {
            amount / self.seconds
        } else {
            0.0
        }
    }

    fn ios(&self) -> u64 {
        self.read.ios + self.write.ios
    }

    /// I/Os a second.
    pub(super) fn iops(&self) -> f64 {
        self.per_second(self.ios() as f64)
    }

    /// From `IOps` to `Connections per Second`; each of all, reads, writes.
    pub(super) fn rates(&self) -> [f64; 11] {
        let [read, write] = [self.read, self.write];
        let per_second = |amount: f64| self.per_second(amount);
        let bytes = [read.bytes + write.bytes, read.bytes, write.bytes].map(|bytes| bytes as f64);
        [
            self.iops(),
            per_second(read.ios as f64),
            per_second(write.ios as f64),
            per_second(bytes[0] / MIB),
            per_second(bytes[1] / MIB),
            per_second(bytes[2] / MIB),
            per_second(bytes[0] / MB),
            per_second(bytes[1] / MB),
            per_second(bytes[2] / MB),
            per_second(self.transactions),
            0.0,
        ]
    }

    /// From `Average Response Time` to `Maximum Connection Time`. A transaction is a request and its reply, one after the
    /// other.
    pub(super) fn times_ms(&self) -> [f64; 10] {
        let [read, write] = [self.read, self.write];
        let mean = |sum: u128, count: f64| {
            if count > 0.0 {
                sum as f64 / count / NS_PER_MS
            } else {
                0.0
            }
        };
        let sum = read.latency_sum_ns + write.latency_sum_ns;
        let most = |ns: u64| ns as f64 / NS_PER_MS;
        let longest = most(read.latency_max_ns.max(write.latency_max_ns));
        [
            mean(sum, self.ios() as f64),
            mean(read.latency_sum_ns, read.ios as f64),
            mean(write.latency_sum_ns, write.ios as f64),
            mean(sum, self.transactions),
            0.0,
            longest,
            most(read.latency_max_ns),
            most(write.latency_max_ns),
            longest,
            0.0,
        ]
    }

    /// From `Errors` to `Connections`.
    pub(super) fn counts(&self) -> [u64; 8] {
        let [read, write] = [self.read, self.write];
        [
            read.errors + write.errors,
            read.errors,
            write.errors,
            read.bytes,
            write.bytes,
            read.ios,
            write.ios,
            0,
        ]
    }

    /// From `Total Raw Read Response Time` to `Total Raw Run Time`, in ns.
    pub(super) fn raw(&self) -> [u128; 9] {
        let [read, write] = [self.read, self.write];
        let longest = read.latency_max_ns.max(write.latency_max_ns);
        [
            read.latency_sum_ns,
            write.latency_sum_ns,
            read.latency_sum_ns + write.latency_sum_ns,
            0,
            read.latency_max_ns.into(),
            write.latency_max_ns.into(),
            longest.into(),
            0,
            self.run_ns.into(),
        ]
    }

    /// I/Os of each latency bin.
    pub(super) fn bins(&self) -> &[u64; 21] {
        &self.bins
    }
}

impl Way {
    fn add(&mut self, stats: &OpStats) {
        self.ios += stats.ios();
        self.bytes += stats.bytes;
        self.latency_sum_ns += stats.latency.sum();
        self.latency_max_ns = self.latency_max_ns.max(stats.latency.max());
    }
}

fn fill(bins: &mut [u64; 21], stats: &OpStats) {
    for (ns, count) in stats.latency.nonzero() {
        let index = BINS.partition_point(|(_, end)| *end <= ns);
        bins[index.min(BINS.len() - 1)] += count;
    }
}
