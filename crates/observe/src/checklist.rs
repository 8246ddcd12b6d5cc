//! From samples to the guide's checklist: an [`Observation`] as a [`Profile`].
//!
//! What each figure is, at the 50th, 90th and 99th percentile of a period:
//!
//! - I/Os a second, throughput, mean latency: of intervals, over time;
//! - average and peak throughput, processors and memory, minimum latency: of stretches of several intervals, over time;
//! - shares of reads and of random I/O, and the I/O size: of the intervals whose rate is about that percentile's;
//! - latency: of single I/Os, where each was traced;
//! - queue depth: over time.
//!
//! Invariant: a figure that the source cannot know is absent, and its reason is told.

use std::collections::BTreeMap;

use fathom_profile::{Growth, Level, Levels, Period, PeriodKind, Profile, Role, Volume};
use fathom_stats::Histogram;
use fathom_units::{Bytes, BytesPerSec, Iops, Nanos};
use jiff::tz::TimeZone;

use crate::periods::{Given, Periods, middle};
use crate::samples::{Device, MachineSample, Observation, Ops, Sample, Stretch};
use crate::shares::{Held, Part, at_load, map, over_time, percent, rank};

/// Longest stretch over which average and peak are told apart.
const STRETCH_MOST: Nanos = Nanos::from_secs(60);
/// Said where nothing tells of a device: a profile is of volumes.
const NO_DEVICE: &str = "no profile can be made: nothing that was read tells of the I/O of a device\n  \
                         hint: read it beside what does, such as `iostat -x -t 1` of the same time";
/// A period has at least about so many stretches.
const STRETCHES: u64 = 10;

/// What the user says of the application.
#[derive(Debug, Clone, Default)]
pub struct About {
    /// Its name.
    pub name: String,
    /// Its transactions a second; no storage counter sees them.
    pub transactions_per_sec: Option<u64>,
    /// How much more it will need.
    pub growth: Growth,
    /// Devices that hold logs.
    pub logs: Vec<String>,
    /// When it is busy and when not.
    pub periods: Given,
}

/// An observation as what an application needs, and what a reader of it must know.
#[derive(Debug, Clone)]
pub struct Checklist {
    /// The profile.
    pub profile: Profile,
    /// Named rules that were used, one sentence each.
    pub rules: Vec<String>,
    /// What was left out and why, one sentence each.
    pub notes: Vec<String>,
    /// Sizes of single I/Os by volume and period, where each was traced.
    pub sizes: BTreeMap<(String, &'static str), Levels<Bytes>>,
}

impl Checklist {
    /// The checklist of what was seen; times of the day are those of `zone`.
    ///
    /// # Errors
    /// What the user said cannot be so, or nothing was seen that a profile could be made of; in one sentence.
    pub fn of(seen: &Observation, about: &About, zone: TimeZone) -> Result<Self, String> {
        if seen.devices.is_empty() {
            return Err(NO_DEVICE.to_owned());
        }
        let unknown: Vec<_> = about
            .logs
            .iter()
            .filter(|log| !seen.devices.iter().any(|device| device.name == **log))
            .map(|log| format!("`{log}`"))
            .collect();
        if !unknown.is_empty() {
            let names: Vec<_> = seen.devices.iter().map(|it| it.name.as_str()).collect();
            let (logs, names) = (unknown.join(", "), names.join(", "));
            return Err(format!(
                "`--log` names {logs}, which was not observed: observed were {names}"
            ));
        }
        let periods = Periods::of(seen, &about.periods, zone)?;
        let mut list = Self {
            profile: Profile {
                name: about.name.clone(),
                origin: Some(seen.source.clone()),
                transactions_per_sec: about.transactions_per_sec,
                growth: about.growth,
                logical_processors: seen.machine.processors,
                ..Profile::default()
            },
            rules: vec![periods.rule.clone()],
            notes: Vec::new(),
            sizes: BTreeMap::new(),
        };
        for device in &seen.devices {
            list.add_device(device, about, &periods);
        }
        list.add_machine(&seen.machine.samples);
        if list.profile.volumes.is_empty() {
            let reasons = list.notes.join("; ");
            return Err(format!(
                "no profile can be made: {reasons}\n  hint: observe while the application is at work, and for longer"
            ));
        }
        Ok(list)
    }

    fn add_device(&mut self, device: &Device, about: &About, periods: &Periods) {
        let mut volume = Volume {
            name: device.name.clone(),
            role: if about.logs.contains(&device.name) {
                Role::Log
            } else {
                Role::Data
            },
            capacity: device.capacity,
            latency_goal: Levels::default(),
            periods: Vec::new(),
        };
        let mut idle = Vec::new();
        for kind in PeriodKind::ALL {
            let of =
                |sample: &&Sample| periods.at(middle(sample.at_unix_ns, sample.length)) == kind;
            let samples: Vec<Sample> = device.samples.iter().filter(of).copied().collect();
            if samples.is_empty() {
                continue;
            }
            if !samples
                .iter()
                .any(|it| it.ios().is_some_and(|ios| ios > 0.0))
            {
                let name = &device.name;
                let why = format!(
                    "`{name}` had no I/O in the period `{}`, which is left out",
                    kind.name()
                );
                idle.push(why);
                continue;
            }
            let traced = single_ios(device, kind, periods);
            let period = self.period(kind, device, &samples, &traced);
            volume.periods.push(period);
        }
        if volume.periods.is_empty() {
            self.notes.push(format!(
                "`{}` is left out: no I/O was seen on it",
                device.name
            ));
        } else {
            self.notes.append(&mut idle);
            self.profile.volumes.push(volume);
        }
    }

    fn period(
        &mut self,
        kind: PeriodKind,
        device: &Device,
        samples: &[Sample],
        traced: &Traces,
    ) -> Period {
        let span = stretch_of(samples.iter().map(|sample| sample.length));
        self.add_stretch_rule(kind, span, samples.len());
        self.notes.extend(two_sizes(&device.name, kind, samples));
        let bytes = |sample: &Sample| Some(sample.per_second(sample.bytes()?));
        let throughput = |value: f64| BytesPerSec::new(value.ceil() as u64);
        let (average, peak) = average_and_peak(samples, span, bytes);
        if !traced.size.is_unknown() {
            let place = (device.name.clone(), kind.name());
            self.sizes.insert(place, traced.size);
        }
        Period {
            iops: self.rates(device, kind, samples),
            reads: map(
                mix(samples, |sample| Some((sample.reads?.count, sample.ios()?))),
                percent,
            ),
            random: map(
                mix(samples, |sample| {
                    let placed = sample.placed?;
                    Some((placed.random as f64, placed.judged as f64))
                }),
                percent,
            ),
            size: map(
                mix(samples, |sample| Some((sample.bytes()?, sample.ios()?))),
                sectors,
            ),
            throughput: map(over_time(held(samples, bytes)), throughput),
            average_throughput: map(average, throughput),
            peak_throughput: map(peak, throughput),
            latency: traced.latency,
            average_latency: self.mean_latencies(device, kind, samples),
            minimum_latency: map(fastest(samples, span), nanos),
            queue_depth: depths(samples, traced),
            kind,
        }
    }

    fn rates(&mut self, device: &Device, kind: PeriodKind, samples: &[Sample]) -> Levels<Iops> {
        let rates = held(samples, |sample| Some(sample.per_second(sample.ios()?)));
        let mut levels = map(over_time(rates), |rate| Iops::new(rate.ceil() as u64));
        if levels.p99.is_some_and(|rate| rate.get() == 0) {
            levels.p99 = Some(Iops::new(1));
            self.notes.push(format!(
                "`{}` had I/O in less than a hundredth of the period `{}`: its 99th percentile is written as 1 IOPS",
                device.name,
                kind.name()
            ));
        }
        levels
    }

    /// Mean latencies of intervals; one of less than a nanosecond is unknown, and that is told.
    fn mean_latencies(
        &mut self,
        device: &Device,
        kind: PeriodKind,
        samples: &[Sample],
    ) -> Levels<Nanos> {
        let mut levels = map(over_time(held(samples, mean_latency)), nanos);
        let zero = |level: &Level| levels.at(*level) == Some(Nanos::ZERO);
        let zeros: Vec<Level> = Level::ALL.into_iter().filter(zero).collect();
        if let Some(highest) = zeros.last() {
            self.notes.push(format!(
                "`{}`, {}: up to {highest} I/Os took less than the source's clock tells: their mean latency is unknown there",
                device.name,
                kind.name()
            ));
        }
        for level in zeros {
            levels.set(level, None);
        }
        levels
    }

    fn add_stretch_rule(&mut self, kind: PeriodKind, span: Nanos, samples: usize) {
        let rule = if samples < 2 {
            format!("`{}` is one interval: its average is its peak", kind.name())
        } else {
            format!(
                "rule `stretches`: average and peak of `{}` are told apart within stretches of {span}",
                kind.name()
            )
        };
        if !self.rules.contains(&rule) {
            self.rules.push(rule);
        }
    }

    fn add_machine(&mut self, samples: &[MachineSample]) {
        let mut timed = Vec::new();
        for pair in samples.windows(2) {
            let length = pair[1].at_unix_ns.saturating_sub(pair[0].at_unix_ns);
            timed.push((pair[1], Nanos::new(u64::try_from(length).unwrap_or(0))));
        }
        if let (Some(first), length) = (samples.first(), timed.first().map(|it| it.1)) {
            timed.insert(0, (*first, length.unwrap_or(Nanos::from_secs(1))));
        }
        let span = stretch_of(timed.iter().map(|it| it.1));
        let figures = |of: &dyn Fn(&MachineSample) -> Option<f64>| {
            let parts = timed
                .iter()
                .filter_map(|(sample, length)| Some((sample.at_unix_ns, *length, of(sample)?)));
            stretches(parts, span)
        };
        let share =
            |sample: &MachineSample| Some(f64::from(sample.processors?.basis_points()) / 1e4);
        let memory = |sample: &MachineSample| Some(sample.memory?.get() as f64);
        let (average, peak) = figures(&share);
        self.profile.processors = map(average, percent);
        self.profile.peak_processors = map(peak, percent);
        let (average, peak) = figures(&memory);
        let bytes = |value: f64| Bytes::new(value.ceil() as u64);
        self.profile.memory = map(average, bytes);
        self.profile.peak_memory = map(peak, bytes);
    }
}

/// What single I/Os of a period say.
#[derive(Debug, Default)]
struct Traces {
    latency: Levels<Nanos>,
    size: Levels<Bytes>,
    depth: Vec<u64>,
}

/// Of the period's stretches; of the whole where the period is all there is.
fn single_ios(device: &Device, kind: PeriodKind, periods: &Periods) -> Traces {
    let is_of = |end: i64, length: Nanos| periods.at(middle(end, length)) == kind;
    let (mut latency, mut size, mut depth) = (Histogram::new(), Histogram::new(), Vec::new());
    if device.stretches.is_empty() {
        let all = device
            .samples
            .iter()
            .all(|it| is_of(it.at_unix_ns, it.length));
        if let Some(traced) = device.traced.as_ref().filter(|_| all) {
            latency.merge(&traced.read_latency);
            latency.merge(&traced.write_latency);
            size.merge(&traced.read_size);
            size.merge(&traced.write_size);
            depth.clone_from(&traced.depth);
        }
    }
    let of_period = |it: &&Stretch| is_of(it.at_unix_ns, it.length);
    for stretch in device.stretches.iter().filter(of_period) {
        latency.merge(&stretch.latency);
        size.merge(&stretch.size);
        add_depths(&mut depth, &stretch.depth);
    }
    let levels = |histogram: &Histogram| {
        let at = |level| (histogram.count() > 0).then(|| histogram.percentile(rank(level) * 100.0));
        (at(Level::P50), at(Level::P90), at(Level::P99))
    };
    let (latencies, sizes) = (levels(&latency), levels(&size));
    Traces {
        latency: Levels {
            p50: latencies.0.map(Nanos::new),
            p90: latencies.1.map(Nanos::new),
            p99: latencies.2.map(Nanos::new),
        },
        size: Levels {
            p50: sizes.0.map(Bytes::new),
            p90: sizes.1.map(Bytes::new),
            p99: sizes.2.map(Bytes::new),
        },
        depth,
    }
}

/// Adds time at each depth.
pub fn add_depths(to: &mut Vec<u64>, from: &[u64]) {
    if to.len() < from.len() {
        to.resize(from.len(), 0);
    }
    for (to, from) in to.iter_mut().zip(from) {
        *to += from;
    }
}

/// A mean size in whole sectors, since no I/O to a device has another size.
fn sectors(size: f64) -> Bytes {
    const SECTOR: f64 = 512.0;
    Bytes::new((size / SECTOR).round().max(1.0) as u64 * SECTOR as u64)
}

fn nanos(value: f64) -> Nanos {
    Nanos::new(value.round() as u64)
}

fn held(samples: &[Sample], of: impl Fn(&Sample) -> Option<f64>) -> Vec<Held> {
    let known = samples.iter().filter_map(|sample| {
        Some(Held {
            value: of(sample)?,
            length: sample.length,
        })
    });
    known.collect()
}

fn mix(samples: &[Sample], of: impl Fn(&Sample) -> Option<(f64, f64)>) -> Levels<f64> {
    let parts = samples.iter().filter_map(|sample| {
        let (part, whole) = of(sample)?;
        Some(Part {
            rate: sample.per_second(sample.ios()?),
            length: sample.length,
            of: part,
            whole,
        })
    });
    at_load(parts.collect())
}

/// That the one size a profile has stands for reads and writes of others: the mean sizes of all of a period's, where they are
/// more than a tenth apart.
fn two_sizes(device: &str, kind: PeriodKind, samples: &[Sample]) -> Option<String> {
    let mean = |of: fn(&Sample) -> Option<Ops>| {
        let known = samples.iter().filter_map(|sample| {
            let ops = of(sample)?;
            Some((ops.bytes?, ops.count))
        });
        let (bytes, count) = known.fold((0.0, 0.0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
        (bytes > 0.0 && count > 0.0).then(|| bytes / count)
    };
    let (reads, writes) = (mean(|it| it.reads)?, mean(|it| it.writes)?);
    if (reads - writes).abs() <= reads.max(writes) / 10.0 {
        return None;
    }
    Some(format!(
        "`{device}`, {}: reads are {} on average and writes {}; the profile has one size for both, their mean",
        kind.name(),
        sectors(reads),
        sectors(writes)
    ))
}

/// Mean latency of the interval's I/Os, in nanoseconds; `None` without I/O.
pub fn mean_latency(sample: &Sample) -> Option<f64> {
    let (time, ios) = (sample.time()?, sample.ios()?);
    (ios > 0.0).then(|| time / ios)
}

/// A minute, or a tenth of the time where that is shorter; at least two intervals.
fn stretch_of(lengths: impl Iterator<Item = Nanos>) -> Nanos {
    let (mut whole, mut longest) = (Nanos::ZERO, Nanos::ZERO);
    for length in lengths {
        whole = whole.saturating_add(length);
        longest = longest.max(length);
    }
    let tenth = Nanos::new(whole.get() / STRETCHES);
    let least = Nanos::new(longest.get().saturating_mul(2));
    // In whole tenths of a second, since intervals are never exactly as long as they were meant to be.
    let span = STRETCH_MOST.min(tenth).max(least).get();
    Nanos::new(span.div_ceil(100_000_000) * 100_000_000)
}

fn average_and_peak(
    samples: &[Sample],
    span: Nanos,
    of: impl Fn(&Sample) -> Option<f64>,
) -> (Levels<f64>, Levels<f64>) {
    let parts = samples
        .iter()
        .filter_map(|sample| Some((sample.at_unix_ns, sample.length, of(sample)?)));
    stretches(parts, span)
}

/// Percentiles over time of the averages and of the peaks of stretches of `span`.
fn stretches(
    parts: impl Iterator<Item = (i64, Nanos, f64)>,
    span: Nanos,
) -> (Levels<f64>, Levels<f64>) {
    /// Length, sum of value × length, largest value.
    type Sums = (u64, f64, f64);
    let mut stretches: BTreeMap<i64, Sums> = BTreeMap::new();
    for (end, length, value) in parts {
        let sums = stretches
            .entry(place(end, length, span))
            .or_insert((0, 0.0, value));
        sums.0 += length.get();
        sums.1 += value * length.get() as f64;
        sums.2 = sums.2.max(value);
    }
    let held = |of: &dyn Fn(&Sums) -> f64| {
        let held = stretches
            .values()
            .filter(|sums| sums.0 > 0)
            .map(|sums| Held {
                value: of(sums),
                length: Nanos::new(sums.0),
            });
        over_time(held.collect())
    };
    (held(&|sums| sums.1 / sums.0 as f64), held(&|sums| sums.2))
}

/// Number of the stretch that an interval is of.
fn place(end: i64, length: Nanos, span: Nanos) -> i64 {
    middle(end, length).div_euclid(i64::try_from(span.get()).unwrap_or(i64::MAX).max(1))
}

/// The least latency in each stretch, over time.
fn fastest(samples: &[Sample], span: Nanos) -> Levels<f64> {
    let mut least: BTreeMap<i64, (u64, Nanos)> = BTreeMap::new();
    for sample in samples {
        let Some(fastest) = sample.fastest else {
            continue;
        };
        let place = place(sample.at_unix_ns, sample.length, span);
        let there = least.entry(place).or_insert((fastest.get(), Nanos::ZERO));
        there.0 = there.0.min(fastest.get());
        there.1 = there.1.saturating_add(sample.length);
    }
    let held = least.values().map(|(fastest, length)| Held {
        value: *fastest as f64,
        length: *length,
    });
    over_time(held.collect())
}

/// Over time, from every moment where I/Os were traced, else from the intervals' means, rounded up.
fn depths(samples: &[Sample], traced: &Traces) -> Levels<u64> {
    let held: Vec<Held> = if traced.depth.is_empty() {
        held(samples, |sample| sample.queue)
    } else {
        let places = traced.depth.iter().enumerate();
        let held = places.map(|(depth, time)| Held {
            value: depth as f64,
            length: Nanos::new(*time),
        });
        held.collect()
    };
    map(over_time(held), |depth| {
        (depth - 1e-9).ceil().max(0.0) as u64
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Second by second `1, 2, … 100` I/Os of 8 KiB and 1 ms, of which the tenth part reads above 90.
    fn device(name: &str, factor: u32) -> Device {
        let samples = (1..=100u32).map(|second| {
            let ios = f64::from(second * factor);
            let reads = if second > 90 { ios / 10.0 } else { ios };
            let ops = |count: f64| Ops {
                count,
                bytes: Some(count * 8192.0),
                time: Some(Nanos::new((count * 1e6) as u64)),
                merged: None,
            };
            Sample {
                at_unix_ns: i64::from(second) * 1_000_000_000,
                length: Nanos::from_secs(1),
                reads: Some(ops(reads)),
                writes: Some(ops(ios - reads)),
                queue: Some(ios / 1000.0),
                ..Sample::default()
            }
        });
        Device {
            name: name.to_owned(),
            samples: samples.collect(),
            ..Device::default()
        }
    }

    #[test]
    fn figures_are_those_of_their_percentile_and_unknown_stays_so() {
        let seen = Observation {
            devices: vec![device("busy", 10), device("idle", 0)],
            ..Observation::default()
        };
        let about = About {
            logs: vec!["busy".to_owned()],
            ..About::default()
        };
        let list = Checklist::of(&seen, &about, TimeZone::UTC).unwrap();
        assert_eq!(list.profile.volumes.len(), 1);
        assert!(
            list.notes
                .iter()
                .any(|note| note.contains("`idle` is left out"))
        );
        let volume = &list.profile.volumes[0];
        assert_eq!((volume.role, volume.periods.len()), (Role::Log, 1));
        let period = &volume.periods[0];
        let levels = |p50, p90, p99| Levels {
            p50: Some(Iops::new(p50)),
            p90: Some(Iops::new(p90)),
            p99: Some(Iops::new(p99)),
        };
        assert_eq!(period.iops, levels(500, 900, 990));
        assert_eq!(period.size, Levels::all(Bytes::kib(8)));
        assert_eq!(period.average_latency, Levels::all(Nanos::from_millis(1)));
        assert_eq!(period.queue_depth, Levels::all(1));
        assert_eq!(period.reads.p50, Some(percent(1.0)));
        assert_eq!(period.reads.p99, Some(percent(0.1)));
        // Stretches of ten seconds: the first has 10 to 100 I/Os a second.
        assert!(period.peak_throughput.p50 > period.average_throughput.p50);
        assert!(period.latency.is_unknown() && period.minimum_latency.is_unknown());
        assert!(period.random.is_unknown() && list.profile.memory.is_unknown());
    }

    /// Counters in milliseconds have none for a few fast I/Os.
    #[test]
    fn a_latency_that_the_clock_does_not_tell_is_unknown() {
        let mut fast = device("sda", 1);
        for sample in &mut fast.samples[..60] {
            for ops in [&mut sample.reads, &mut sample.writes] {
                ops.as_mut().unwrap().time = Some(Nanos::ZERO);
            }
        }
        let seen = Observation {
            devices: vec![fast],
            ..Observation::default()
        };
        let list = Checklist::of(&seen, &About::default(), TimeZone::UTC).unwrap();
        let found = list.profile.volumes[0].periods[0].average_latency;
        assert_eq!(found.p50, None);
        assert_eq!(found.p90, Some(Nanos::from_millis(1)));
        let note = "`sda`, peak: up to p50 I/Os took less than the source's clock tells";
        assert!(
            list.notes.iter().any(|it| it.starts_with(note)),
            "{:?}",
            list.notes
        );
    }

    #[test]
    fn reads_and_writes_of_different_sizes_are_told_with_both() {
        #[track_caller]
        fn check((reads, writes): (f64, f64), expected: Option<&str>) {
            let mut busy = device("1 D:", 10);
            for sample in &mut busy.samples {
                let of = |count: f64, size: f64| Ops {
                    count,
                    bytes: Some(count * size),
                    time: None,
                    merged: None,
                };
                sample.reads = Some(of(300.0, reads));
                sample.writes = Some(of(100.0, writes));
            }
            let seen = Observation {
                devices: vec![busy],
                ..Observation::default()
            };
            let list = Checklist::of(&seen, &About::default(), TimeZone::UTC).unwrap();
            let told = list
                .notes
                .iter()
                .find(|note| note.contains("one size for both"));
            assert_eq!(told.map(String::as_str), expected);
        }
        check(
            (65_536.0, 4096.0),
            Some(
                "`1 D:`, peak: reads are 64 KiB on average and writes 4 KiB; the profile has one size for both, their mean",
            ),
        );
        check((8192.0, 8192.0), None);
        check((8192.0, 7680.0), None);
        // Flushes alone have no bytes.
        check((8192.0, 0.0), None);
    }

    #[test]
    fn what_cannot_be_is_told() {
        let of = |devices, logs: &[&str]| {
            let seen = Observation {
                devices,
                ..Observation::default()
            };
            let about = About {
                logs: logs.iter().map(|&log| log.to_owned()).collect(),
                ..About::default()
            };
            Checklist::of(&seen, &about, TimeZone::UTC).unwrap_err()
        };
        let idle = of(vec![device("idle", 0)], &[]);
        assert!(idle.contains("no I/O was seen on it"), "{idle}");
        let log = of(vec![device("busy", 1)], &["other"]);
        assert!(
            log.contains("`--log` names `other`, which was not observed"),
            "{log}"
        );
    }
}
