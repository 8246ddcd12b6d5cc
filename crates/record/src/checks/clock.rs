//! Whether the clock is good enough for the latencies that were read from it.

use fathom_stats::Histogram;
use fathom_units::Nanos;
use fathom_workload::{Backend, Direction};
use serde_json::Value;

use super::{Evidence, check, jobs};
use crate::{Check, WorkerStats};

/// What is known of the clock that workers read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MachineClock {
    /// What the kernel keeps time by, such as `tsc`.
    pub source: String,
    /// What one reading takes.
    pub reading: Nanos,
}

impl MachineClock {
    /// As the `environment` of a record tells it; `None` where it does not.
    pub fn of(environment: &Value) -> Option<Self> {
        let source = environment["clock_source"].as_str();
        Some(Self {
            source: source.unwrap_or("unknown").to_owned(),
            reading: Nanos::new(environment["clock_reading_ns"].as_u64()?),
        })
    }
}

/// A latency of which more than this share went by in reading the clock is the clock's in part: it is what other checks let
/// figures be off.
const MOST_READING: f64 = 0.05;

/// Clocks that a program reads by itself take 10 to 60 ns, and there is none quicker: what is over sooner than twenty of their
/// readings comes from memory, and no other clock would tell it better. The kernel's slow ones take 0.5 to 5 µs.
const QUICK: Nanos = Nanos::new(100);

/// An I/O goes through one reading as its batch is submitted and one as it is reaped, where it is a batch by itself; and
/// through one more where submission is told apart.
const READINGS: u64 = 2;

/// The figures of a counter that was given up are doubtful around that moment, whatever a reading takes.
pub(super) fn clock_source(evidence: &Evidence<'_>) -> Check {
    let deviated = evidence.results.iter().find(|result| {
        let mut workers = result.workers.iter();
        workers.any(|worker| worker.clock_deviated)
    });
    if let Some(result) = deviated {
        let finding = format!(
            "{}: the processor's counter and the kernel's clock disagreed; latencies around that moment are doubtful",
            result.name
        );
        let remedy = "run it again: a virtual machine that was moved or stopped does that; where it comes back, boot with \
                      `clocksource=` and another clock of `available_clocksource`";
        return check("clock-source", Some(finding), "", remedy);
    }
    let Some(clock) = evidence.clock else {
        let silent = "not judged: what a reading of the clock takes is not known";
        return check("clock-source", None, silent, "");
    };
    let MachineClock { source, reading } = clock;
    let silent = format!("a reading of the clock ({source}) takes {reading}");
    let slow = Some(clock).filter(|clock| clock.reading >= QUICK);
    check(
        "clock-source",
        slow.and_then(|clock| slow_for(evidence, clock)),
        &silent,
        "let the kernel keep time by the processor's counter (`tsc`; what there is stands in \
         /sys/devices/system/clocksource/clocksource0/available_clocksource), on a machine whose hypervisor lets programs read it",
    )
}

/// The first job whose latencies hold too much of the clock's.
fn slow_for(evidence: &Evidence<'_>, clock: &MachineClock) -> Option<String> {
    let mut real = jobs(evidence).filter(|(_, job, _)| job.backend != Backend::Null);
    real.find_map(|(_, job, workers)| {
        let (way, median, readings) = quickest(&workers)?;
        let spent = readings * clock.reading.get();
        let share = spent as f64 / median.max(1) as f64;
        (share > MOST_READING).then(|| {
            let MachineClock { source, reading } = clock;
            let (median, percent) = (Nanos::new(median), share.min(1.0) * 100.0);
            let way = way.name();
            format!(
                "{}: a reading of the clock ({source}) takes {reading}, {readings} of them {percent:.0} % of the median latency of \
                 {way}s, {median}",
                job.name
            )
        })
    })
}

/// The kind of operation that is over soonest, its median, and the readings that each of them went through.
fn quickest(workers: &[&WorkerStats]) -> Option<(Direction, u64, u64)> {
    let ways = Direction::ALL.into_iter().filter_map(|way| {
        let total = crate::total_of(workers, way)?;
        let apart = u64::from(total.submit.is_some());
        median(&total.latency).map(|median| (way, median, READINGS + apart))
    });
    ways.min_by_key(|(_, median, _)| *median)
}

fn median(latency: &Histogram) -> Option<u64> {
    (latency.count() > 0).then(|| latency.percentile(50.0))
}
