//! Verdicts on what was seen: the thresholds of the guides, each with its evidence in plain words.
//!
//! Sources: the guide to measuring IOPS on Windows ("how to understand the counters": 10 ms and 25 ms, queue of 2 per
//! disk, split I/O) and the guide on premium storage (which device's counters to read).

use std::fmt;

use fathom_profile::Level;
use fathom_units::{Nanos, counted};

use crate::checklist::mean_latency;
use crate::samples::{Device, Observation, Sample};
use crate::shares::{Held, over_time, percent};

/// A busy server's disk should answer within this.
const BUSY_LATENCY: Nanos = Nanos::from_millis(10);
/// A disk that takes longer does not keep up.
const ANY_LATENCY: Nanos = Nanos::from_millis(25);
/// I/Os outstanding that one disk should not exceed.
const QUEUE_PER_DISK: f64 = 2.0;
/// A device counts as busy in an interval with I/Os outstanding at least half of the time.
const BUSY_POINTS: u32 = 5_000;
/// Where a source does not tell that time, it counts as busy with a mean queue of so much.
const BUSY_QUEUE: f64 = 0.5;
/// A threshold that is passed in less than this share of the time is told, but not as a concern.
const CONCERN: f64 = 0.05;
/// I/Os split in more than this share are a concern.
const SPLIT: f64 = 0.01;

/// What a verdict says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finding {
    /// Within the guides' thresholds.
    Fine,
    /// Beyond a threshold, often enough to look into.
    Concern,
    /// Not to be judged from this source.
    Unknown,
}

/// One judgement on one device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The device.
    pub device: String,
    /// What is judged: "latency".
    pub what: &'static str,
    /// The judgement.
    pub finding: Finding,
    /// Why, with the figures.
    pub evidence: String,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match self.finding {
            Finding::Fine => "fine",
            Finding::Concern => "concern",
            Finding::Unknown => "unknown",
        };
        write!(
            f,
            "`{}`, {}: {word}. {}",
            self.device, self.what, self.evidence
        )
    }
}

/// Every verdict on every device with I/O.
pub fn verdicts(seen: &Observation) -> Vec<Verdict> {
    let mut found = Vec::new();
    for device in &seen.devices {
        if !device
            .samples
            .iter()
            .any(|it| it.ios().is_some_and(|ios| ios > 0.0))
        {
            continue;
        }
        let mut add = |what, (finding, evidence)| {
            found.push(Verdict {
                device: device.name.clone(),
                what,
                finding,
                evidence,
            });
        };
        add("latency", latency(device));
        add("queue", queue(device));
        add("split I/O", split(device));
        if let Some(remark) = log_like(device) {
            add("pattern", remark);
        }
    }
    found
}

/// Share of the time of those samples that `of` has a figure for in which it holds, and that time.
fn share_of_time(samples: &[Sample], of: impl Fn(&Sample) -> Option<bool>) -> (f64, Nanos) {
    let (mut held, mut whole) = (Nanos::ZERO, Nanos::ZERO);
    for sample in samples {
        if let Some(holds) = of(sample) {
            whole = whole.saturating_add(sample.length);
            if holds {
                held = held.saturating_add(sample.length);
            }
        }
    }
    (held.as_secs_f64() / whole.as_secs_f64().max(1e-9), whole)
}

fn at(device: &Device, level: Level, of: impl Fn(&Sample) -> Option<f64>) -> Option<f64> {
    let held = device.samples.iter().filter_map(|sample| {
        Some(Held {
            value: of(sample)?,
            length: sample.length,
        })
    });
    over_time(held.collect()).at(level)
}

fn latency(device: &Device) -> (Finding, String) {
    let samples = &device.samples;
    let over =
        |limit: Nanos| move |sample: &Sample| Some(mean_latency(sample)? > limit.get() as f64);
    let (slow, whole) = share_of_time(samples, over(ANY_LATENCY));
    if whole == Nanos::ZERO {
        let why = "The source has no latency, so that it cannot be held against 10 ms and 25 ms.";
        return (Finding::Unknown, why.to_owned());
    }
    let (busy_slow, busy) = share_of_time(samples, |sample| {
        if is_busy(sample) {
            over(BUSY_LATENCY)(sample)
        } else {
            None
        }
    });
    let told = |level| match at(device, level, mean_latency) {
        Some(mean) if mean >= 1.0 => Nanos::new(mean as u64).to_string(),
        _ => "too short for the source to tell".to_owned(),
    };
    let (p50, p99) = (told(Level::P50), told(Level::P99));
    let figures = if p50 == p99 {
        format!("The intervals' mean latency is {p50} at p50 and p99")
    } else {
        format!("The intervals' mean latency is {p50} at p50 and {p99} at p99")
    };
    // Which of the two was gone by; few sources tell the first in some of their intervals alone.
    let how = if samples.iter().any(|sample| sample.busy.is_some()) {
        "half of an interval or more"
    } else {
        "a mean queue of 0.5 or more: how long it was in use is not told"
    };
    if slow >= CONCERN {
        let share = percent(slow);
        return (
            Finding::Concern,
            format!(
                "{figures}; it was over 25 ms in {share} of the time: the storage does not keep up."
            ),
        );
    }
    if busy_slow >= CONCERN {
        let share = percent(busy_slow);
        return (
            Finding::Concern,
            format!(
                "{figures}; while the device was busy ({how}) it was over 10 ms in {share} of the time, which a busy \
                 server should not see."
            ),
        );
    }
    let seldom = if slow > 0.0 {
        format!(" It was over 25 ms in {} of the time.", percent(slow))
    } else {
        String::new()
    };
    let never_busy = if busy == Nanos::ZERO {
        format!(
            "; the device was never busy ({how}), so that the 10 ms of busy servers do not apply"
        )
    } else {
        ", within 10 ms while busy".to_owned()
    };
    (Finding::Fine, format!("{figures}{never_busy}.{seldom}"))
}

/// Whether I/Os were outstanding for half of the interval; by the mean queue where that time is not told. The queue follows
/// from the latencies (Little's law) where it is not told itself, so that an interval with latency is never without it.
fn is_busy(sample: &Sample) -> bool {
    if let Some(busy) = sample.busy {
        return busy.basis_points() >= BUSY_POINTS;
    }
    let little = || Some(sample.per_second(sample.time()? / 1e9));
    let queue = sample.queue.or_else(little);
    queue.is_some_and(|queue| queue >= BUSY_QUEUE)
}

fn queue(device: &Device) -> (Finding, String) {
    let disks = f64::from(device.disks.unwrap_or(1).max(1));
    let limit = QUEUE_PER_DISK * disks;
    let (over, whole) = share_of_time(&device.samples, |sample| Some(sample.queue? > limit));
    if whole == Nanos::ZERO {
        return (
            Finding::Unknown,
            "The source has no queue length.".to_owned(),
        );
    }
    let behind = match device.disks {
        Some(1) => "one disk".to_owned(),
        Some(disks) => format!("{disks} disks"),
        None => "an unknown number of disks, taken as one".to_owned(),
    };
    let figure = |level| at(device, level, |sample| sample.queue).unwrap_or(0.0);
    let (p50, p99) = (figure(Level::P50), figure(Level::P99));
    let figures =
        format!("The intervals' mean queue is {p50:.1} at p50 and {p99:.1} at p99, for {behind}");
    if over >= CONCERN {
        return (
            Finding::Concern,
            format!(
                "{figures}; it was over {limit:.0} (2 per disk) in {} of the time. Where latency is fine, solid state \
                 or a cloud's disk merely works in parallel; where it is not, requests wait.",
                percent(over)
            ),
        );
    }
    (
        Finding::Fine,
        format!("{figures}, within {limit:.0} (2 per disk)."),
    )
}

fn split(device: &Device) -> (Finding, String) {
    let (mut split, mut ios, mut known) = (0.0, 0.0, false);
    for sample in &device.samples {
        if let (Some(rate), Some(count)) = (sample.split, sample.ios()) {
            known = true;
            split += rate * sample.length.as_secs_f64();
            ios += count;
        }
    }
    if !known {
        return (
            Finding::Unknown,
            "The source does not count split I/Os.".to_owned(),
        );
    }
    // Of less than half of an I/O, which a rounded rate may leave, nothing is a share.
    if ios < 0.5 {
        let why = "There was no I/O in the intervals in which the source counts split ones.";
        return (Finding::Unknown, why.to_owned());
    }
    let share: f64 = split / ios;
    let split = counted(split.round() as u64, ("I/O was", "I/Os were"));
    if share > SPLIT {
        return (
            Finding::Concern,
            format!(
                "{split} split, {:.1} for each 100 I/Os of the device: they are larger than the device \
                 takes at once, or their data lie in pieces.",
                share * 100.0
            ),
        );
    }
    let of = counted(ios.round() as u64, ("I/O", "I/Os"));
    (Finding::Fine, format!("{split} split, of {of}."))
}

/// A device that is written one after another looks like one of logs; only the user knows.
fn log_like(device: &Device) -> Option<(Finding, String)> {
    let traced = device.traced.as_ref()?;
    let (reads, writes) = (
        traced.read_size.count() as f64,
        traced.write_size.count() as f64,
    );
    let written = writes / (reads + writes).max(1.0);
    let random = traced.random as f64 / (traced.judged as f64).max(1.0);
    (traced.judged > 100 && written >= 0.9 && random <= 0.2).then(|| {
        let evidence = format!(
            "{} of its I/Os write and {} are random: if it holds logs, `--log {}` says so, since logs are planned \
             without a cache.",
            percent(written),
            percent(random),
            device.name
        );
        (Finding::Fine, evidence)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::Ops;
    use fathom_units::Percent;

    fn device(latency: Nanos, queue: f64, busy: u32, disks: u32) -> Device {
        let sample = Sample {
            length: Nanos::from_secs(1),
            all: Some(Ops {
                count: 100.0,
                time: Some(latency * 100),
                ..Ops::default()
            }),
            queue: Some(queue),
            busy: Percent::whole(busy),
            split: Some(0.0),
            ..Sample::default()
        };
        Device {
            name: "sda".to_owned(),
            disks: Some(disks),
            samples: vec![sample; 20],
            ..Device::default()
        }
    }

    #[track_caller]
    fn check(device: Device, expected: [Finding; 3]) {
        let seen = Observation {
            devices: vec![device],
            ..Observation::default()
        };
        let found: Vec<_> = verdicts(&seen).iter().map(|it| it.finding).collect();
        assert_eq!(found, expected, "{:?}", verdicts(&seen));
    }

    #[test]
    fn the_guides_thresholds_are_held_against_what_was_seen() {
        use Finding::{Concern, Fine, Unknown};
        let millis = Nanos::from_millis;
        check(device(millis(9), 1.0, 90, 1), [Fine, Fine, Fine]);
        check(device(millis(11), 1.0, 90, 1), [Concern, Fine, Fine]);
        check(device(millis(11), 1.0, 20, 1), [Fine, Fine, Fine]);
        check(device(millis(26), 1.0, 20, 1), [Concern, Fine, Fine]);
        check(device(millis(1), 7.9, 90, 1), [Fine, Concern, Fine]);
        check(device(millis(1), 7.9, 90, 4), [Fine, Fine, Fine]);
        check(device(millis(1), 8.1, 90, 4), [Fine, Concern, Fine]);
        // Where nothing says how long the device was in use, its queue does, or what makes the queue.
        let without_busy = |latency, queue, told: bool| {
            let mut device = device(latency, queue, 0, 1);
            for sample in &mut device.samples {
                sample.busy = None;
                sample.queue = sample.queue.filter(|_| told);
            }
            device
        };
        check(without_busy(millis(20), 2.0, true), [Concern, Fine, Fine]);
        check(without_busy(millis(20), 0.4, true), [Fine, Fine, Fine]);
        check(without_busy(millis(9), 2.0, true), [Fine, Fine, Fine]);
        // A hundred I/Os a second of 20 ms and of 4 ms: two outstanding, and 0.4.
        check(
            without_busy(millis(20), 0.0, false),
            [Concern, Unknown, Fine],
        );
        check(without_busy(millis(4), 0.0, false), [Fine, Unknown, Fine]);
        let mut split = device(millis(1), 1.0, 1, 1);
        split.samples[3].split = Some(50.0);
        check(split, [Fine, Fine, Concern]);
        // What had no I/O where splits are counted says nothing of them.
        let mut apart = device(millis(1), 1.0, 1, 1);
        for (place, sample) in apart.samples.iter_mut().enumerate() {
            if place < 10 {
                sample.split = None;
            } else {
                sample.all = Some(Ops::default());
            }
        }
        check(apart, [Fine, Fine, Unknown]);
        let mut bare = device(millis(1), 1.0, 1, 1);
        for sample in &mut bare.samples {
            (sample.queue, sample.split) = (None, None);
            sample.all.as_mut().unwrap().time = None;
        }
        check(bare, [Unknown; 3]);
    }

    #[test]
    fn figures_are_told_in_words_that_fit_them() {
        let told = |device: Device| {
            let devices = vec![device];
            let seen = Observation {
                devices,
                ..Observation::default()
            };
            let all = verdicts(&seen);
            all.into_iter().map(|it| it.evidence).collect::<Vec<_>>()
        };
        let mut one = device(Nanos::ZERO, 0.1, 1, 1);
        one.samples.truncate(1);
        one.samples[0].all.as_mut().unwrap().count = 1.0;
        one.samples[0].split = Some(0.005);
        let [latency, _, split] = &told(one)[..] else {
            panic!("three verdicts");
        };
        assert!(
            latency.starts_with(
                "The intervals' mean latency is too short for the source to tell at p50 and p99;"
            ),
            "{latency}"
        );
        assert_eq!(split, "0 I/Os were split, of 1 I/O.");
        let [latency, ..] = &told(device(Nanos::from_millis(2), 0.1, 1, 1))[..] else {
            panic!("three verdicts");
        };
        assert!(
            latency.contains("mean latency is 2 ms at p50 and p99;"),
            "{latency}"
        );
        let mut split = device(Nanos::from_millis(1), 1.0, 1, 1);
        split.samples.truncate(1);
        split.samples[0].all.as_mut().unwrap().count = 50.0;
        split.samples[0].split = Some(1.0);
        assert!(told(split)[2].starts_with("1 I/O was split, 2.0 for each 100 I/Os"));
    }
}
