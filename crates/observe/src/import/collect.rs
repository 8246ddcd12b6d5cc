//! Reports in order of time become samples: what interval each covers, and what in the times is doubtful.
//!
//! A reader hands over the moment of each report and, for each device, what happened a second. When all are there the
//! lengths of the intervals are known, and rates become counts. Nothing is made of a first report (what it covers began
//! before the file), nor of the time that a gap left out.

use std::collections::HashMap;

use fathom_diagnostics::Diagnostics;
use fathom_units::{Nanos, Percent, counted};

use super::coarse::{EVENED_OUT, Groups, together};
use super::input::Line;
use super::spans::{Span, cover, spans};
use crate::{Device, Machine, MachineSample, Ops, Sample};

/// Most samples of devices that are kept of one input: about a week of ten disks, each ten seconds. Where there are more,
/// they are put together.
const MOST_SAMPLES: usize = 700_000;
/// Most reports of one input: six weeks, each second.
const MOST_REPORTS: usize = 4_000_000;
/// Most devices of one input.
const MOST_DEVICES: usize = 4_096;

/// What one direction does a second.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Flow {
    /// Operations a second.
    pub count: f64,
    /// Bytes a second.
    pub bytes: Option<f64>,
    /// Mean latency in seconds.
    pub latency: Option<f64>,
    /// Merges a second.
    pub merged: Option<f64>,
}

impl Flow {
    /// As operations of one second.
    pub fn ops(self) -> Ops {
        let time = |latency: f64| Nanos::new((latency * self.count * 1e9) as u64);
        Ops {
            count: self.count,
            bytes: self.bytes,
            time: self.latency.map(time),
            merged: self.merged,
        }
    }
}

/// A share from a percentage that may lie a rounding outside of 0 to 100.
pub(super) fn percent(value: f64) -> Option<Percent> {
    Percent::from_basis_points((value.clamp(0.0, 100.0) * 100.0).round() as u32)
}

/// One report: a row of PerfMon's, a table of iostat's.
#[derive(Debug, Clone, Copy)]
pub(super) struct Report {
    pub at: i64,
    /// Known where the source says it.
    pub length: Option<Nanos>,
    /// Begins a run: what lies between it and the report before was not watched.
    pub fresh: bool,
}

/// There is more than is kept.
#[derive(Debug)]
pub(super) struct TooMuch;

impl TooMuch {
    pub fn message() -> String {
        format!("it holds more than {MOST_REPORTS} reports or {MOST_DEVICES} devices")
    }

    pub const HINT: &'static str =
        "take a part of the time, longer intervals (`relog -t 10`, `sadf -i 60`), or fewer devices";
}

/// A file tells of two machines.
#[derive(Debug)]
pub(super) struct TwoMachines(String);

impl TwoMachines {
    pub fn new(one: &str, other: &str) -> Self {
        Self(format!(
            "`{one}` and `{other}` are two machines: their figures would be added up or lost"
        ))
    }

    /// The refusal of `line`, marked at `part`.
    pub fn refuse(self, line: &Line<'_>, part: &str, hint: &str) -> Diagnostics {
        Diagnostics(vec![line.error(part, self.0).hint(hint)])
    }
}

/// What a reader has found so far. A sample's time is the number of its report until [`Self::finish`].
#[derive(Debug)]
pub(super) struct Collector {
    reports: Vec<Report>,
    by_time: HashMap<i64, usize>,
    devices: Vec<Device>,
    /// Of each device.
    told: Vec<Told>,
    by_name: HashMap<String, usize>,
    machine: Machine,
    samples: usize,
    most: usize,
    /// Reports of which nothing can be made for any device.
    void: usize,
    /// How samples are put together, once there are more than are kept.
    groups: Option<Groups>,
}

/// How often a device was told of.
#[derive(Debug, Default)]
struct Told {
    /// Its samples, put together with others or alone.
    count: usize,
    /// Those of them that told of a report once more.
    twice: usize,
    /// The last report that was put together with others.
    last: Option<usize>,
}

impl Default for Collector {
    fn default() -> Self {
        Self {
            reports: Vec::new(),
            by_time: HashMap::new(),
            devices: Vec::new(),
            told: Vec::new(),
            by_name: HashMap::new(),
            machine: Machine::default(),
            samples: 0,
            most: MOST_SAMPLES,
            void: 0,
            groups: None,
        }
    }
}

/// What comes of it.
#[derive(Debug, Default)]
pub(super) struct Collected {
    pub devices: Vec<Device>,
    pub machine: Machine,
    pub doubts: Vec<String>,
}

impl Collector {
    /// A report at `at`. `fresh` begins a run.
    pub fn report(&mut self, at: i64, length: Option<Nanos>, fresh: bool) {
        self.reports.push(Report { at, length, fresh });
    }

    /// A report `interval` after the last, which does not say its own time.
    pub fn next_report(&mut self, interval: Nanos, fresh: bool) {
        let last = self.reports.last().map_or(0, |report| report.at);
        self.reports.push(Report {
            at: last.saturating_add_unsigned(interval.get()),
            length: (!fresh).then_some(interval),
            fresh,
        });
    }

    /// The report at `at` again where there was one, otherwise a new one: for sources that list one thing after another.
    pub fn again(&mut self, at: i64, length: Nanos) -> usize {
        if let Some(index) = self.by_time.get(&at) {
            return *index;
        }
        self.by_time.insert(at, self.reports.len());
        self.report(at, Some(length), false);
        self.reports.len() - 1
    }

    /// Nothing can be made of the last report, whatever device it tells of: there is no other before it to compare with.
    pub fn void(&mut self) {
        self.void += 1;
    }

    /// Reports so far.
    pub fn report_count(&self) -> usize {
        self.reports.len()
    }

    fn place(&mut self, name: &str) -> Result<usize, TooMuch> {
        if let Some(place) = self.by_name.get(name) {
            return Ok(*place);
        }
        if self.devices.len() == MOST_DEVICES {
            return Err(TooMuch);
        }
        self.by_name.insert(name.to_owned(), self.devices.len());
        self.devices.push(Device {
            name: name.to_owned(),
            ..Device::default()
        });
        self.told.push(Told::default());
        Ok(self.devices.len() - 1)
    }

    /// What happened a second on a device in the last report.
    pub fn sample(&mut self, device: &str, per_second: &Sample) -> Result<(), TooMuch> {
        let report = self.reports.len().saturating_sub(1);
        self.sample_of(report, device, per_second)
    }

    /// What happened a second on a device in that report.
    pub fn sample_of(
        &mut self,
        report: usize,
        device: &str,
        per_second: &Sample,
    ) -> Result<(), TooMuch> {
        if self.reports.len() > MOST_REPORTS || self.reports.is_empty() {
            return Err(TooMuch);
        }
        let place = self.place(device)?;
        self.told[place].count += 1;
        let sample = match self.groups {
            Some(groups) => self.grouped(groups, place, report, per_second),
            None => Some(Sample {
                at_unix_ns: number(report),
                ..*per_second
            }),
        };
        if let Some(sample) = sample {
            self.devices[place].samples.push(sample);
            self.samples += 1;
        }
        while self.samples > self.most {
            self.coarsen();
        }
        Ok(())
    }

    /// A sample that begins a group of its device; of one that has begun it becomes a part.
    fn grouped(
        &mut self,
        groups: Groups,
        place: usize,
        report: usize,
        per_second: &Sample,
    ) -> Option<Sample> {
        let told = &mut self.told[place];
        if told.last.is_some_and(|last| last >= report) {
            told.twice += 1;
            return None;
        }
        told.last = Some(report);
        let weight = groups.weight(&self.reports, report);
        let sample = Sample {
            at_unix_ns: groups.of(report),
            length: Nanos::new(weight),
            ..*per_second
        };
        let last = self.devices[place].samples.last_mut();
        match last.filter(|last| last.at_unix_ns == sample.at_unix_ns) {
            Some(last) if weight > 0 => *last = together(last, &sample),
            None if weight > 0 => return Some(sample),
            _ => {}
        }
        None
    }

    /// Puts the samples of two groups of reports together, so that half of them are left.
    fn coarsen(&mut self) {
        let first = self.groups.is_none();
        let mut groups = self.groups.unwrap_or_else(|| Groups::new(&self.reports));
        groups.level += 1;
        self.groups = Some(groups);
        self.samples = 0;
        for (device, told) in self.devices.iter_mut().zip(&mut self.told) {
            if first {
                told.twice += once(device);
                told.last = device.samples.last().map(|last| last.at_unix_ns as usize);
                device.samples.retain_mut(|sample| {
                    let report = sample.at_unix_ns as usize;
                    let weight = groups.weight(&self.reports, report);
                    sample.at_unix_ns = groups.of(report);
                    sample.length = Nanos::new(weight);
                    weight > 0
                });
            } else {
                for sample in &mut device.samples {
                    sample.at_unix_ns /= 2;
                }
            }
            Groups::join(&mut device.samples);
            self.samples += device.samples.len();
        }
    }

    /// What the machine was like in that report; parts of it may come one after another.
    pub fn machine_of(&mut self, report: usize, part: MachineSample) -> Result<(), TooMuch> {
        let at_unix_ns = number(report);
        let samples = &mut self.machine.samples;
        match samples.binary_search_by_key(&at_unix_ns, |sample| sample.at_unix_ns) {
            Ok(place) => {
                let known = &mut samples[place];
                known.processors = known.processors.or(part.processors);
                known.memory = known.memory.or(part.memory);
            }
            Err(place) => {
                if self.reports.len() > MOST_REPORTS || self.reports.is_empty() {
                    return Err(TooMuch);
                }
                samples.insert(place, MachineSample { at_unix_ns, ..part });
            }
        }
        Ok(())
    }

    /// What the machine was like in the last report.
    pub fn machine(&mut self, part: MachineSample) -> Result<(), TooMuch> {
        self.machine_of(self.reports.len().saturating_sub(1), part)
    }

    /// What follows is of the machine `name`: one is observed, so another one than before is refused, with why.
    pub fn host(&mut self, name: &str) -> Result<(), TwoMachines> {
        match &self.machine.name {
            Some(known) if !known.eq_ignore_ascii_case(name) => Err(TwoMachines::new(known, name)),
            Some(_) => Ok(()),
            None => {
                self.machine.name = Some(name.to_owned());
                Ok(())
            }
        }
    }

    /// The machine's name and memory.
    pub fn machine_facts(&mut self) -> &mut Machine {
        &mut self.machine
    }

    /// Samples with the intervals they cover; `resolution` is the smallest step of the source's times.
    pub fn finish(mut self, resolution: Nanos) -> Collected {
        let mut doubts = Vec::new();
        let spans = spans(&self.reports, resolution, &mut doubts);
        let groups = self.groups.map(|it| (it, it.spans(&self.reports, &spans)));
        for (device, told) in self.devices.iter_mut().zip(&mut self.told) {
            if let Some((_, groups)) = &groups {
                cover(&mut device.samples, |sample| {
                    let (at, scale) = groups.get(sample.at_unix_ns as usize).copied().flatten()?;
                    let length = Nanos::new((sample.length.get() as f64 * scale).round() as u64);
                    Some(Span { at, length })
                });
            } else {
                told.twice += once(device);
                cover(&mut device.samples, |sample| {
                    spans.get(sample.at_unix_ns as usize).copied().flatten()
                });
            }
            told.tell(&device.name, self.reports.len() - self.void, &mut doubts);
        }
        if let Some((groups, _)) = groups {
            doubts.push(format!(
                "it holds more than the {} samples that are kept: intervals are put together to {} each, and {EVENED_OUT}; a part of the time tells it finer",
                self.most,
                groups.length()
            ));
        }
        let machine = &mut self.machine.samples;
        machine.retain_mut(|sample| {
            let span = spans.get(sample.at_unix_ns as usize).copied().flatten();
            sample.at_unix_ns = span.map_or(0, |span| span.at);
            span.is_some()
        });
        Collected {
            devices: self.devices,
            machine: self.machine,
            doubts,
        }
    }
}

/// Samples in the order of their reports, one each: of two the first. How many were too many.
fn once(device: &mut Device) -> usize {
    device.samples.sort_by_key(|sample| sample.at_unix_ns);
    let before = device.samples.len();
    device.samples.dedup_by_key(|sample| sample.at_unix_ns);
    before - device.samples.len()
}

impl Told {
    /// Says what is odd about it.
    fn tell(&self, name: &str, reports: usize, doubts: &mut Vec<String>) {
        let Self { count, twice, .. } = self;
        if *twice > 0 {
            doubts.push(format!(
                "`{name}` is told twice in {}: the first counts",
                counted(*twice as u64, ("report", "reports"))
            ));
        }
        let found = count - twice;
        if found < reports {
            doubts.push(format!(
                "`{name}` is in {found} of {reports} reports: it came or went, or did nothing"
            ));
        }
    }
}

/// A report's number in a sample's place for its time.
fn number(report: usize) -> i64 {
    i64::try_from(report).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000_000;

    const FINE: Nanos = Nanos::from_millis(1);

    /// Figures of a device that are put together by pairs must add up to what they were.
    #[test]
    fn more_samples_than_are_kept_are_put_together() {
        let mut collectors = [Collector::default(), Collector::default()];
        collectors[1].most = 16;
        let [fine, coarse] = collectors.map(|mut collector| {
            // A gap, a clock that goes back, a new run, and a device that was away.
            let mut at = 1_000 * SECOND;
            for report in 0..100_i64 {
                at += match report {
                    40 => 60 * SECOND,
                    50 => -30 * SECOND,
                    _ => SECOND,
                };
                collector.report(at, None, report == 0 || report == 70);
                let reads = Flow {
                    count: (report % 7 * 10) as f64,
                    bytes: Some(4096.0),
                    latency: Some(0.001),
                    merged: None,
                };
                let sample = Sample {
                    reads: Some(reads.ops()),
                    queue: Some((report % 7) as f64),
                    ..Sample::default()
                };
                collector.sample("a", &sample).unwrap();
                if !(20..30).contains(&report) {
                    collector.sample("b", &sample).unwrap();
                }
            }
            collector.finish(FINE)
        });
        for (fine, coarse) in fine.devices.iter().zip(&coarse.devices) {
            assert!(coarse.samples.len() <= 16, "{}", coarse.samples.len());
            let sum = |device: &Device, of: &dyn Fn(&Sample) -> f64| {
                device.samples.iter().map(of).sum::<f64>()
            };
            let of: [&dyn Fn(&Sample) -> f64; 4] = [
                &|sample| sample.reads.unwrap().count,
                &|sample| sample.reads.unwrap().time.unwrap().get() as f64,
                &|sample| sample.queue.unwrap() * sample.length.as_secs_f64(),
                &|sample| sample.length.as_secs_f64(),
            ];
            for of in of {
                let (one, other) = (sum(fine, of), sum(coarse, of));
                assert!((one - other).abs() < one * 1e-6, "{one} {other}");
            }
            for pair in coarse.samples.windows(2) {
                let begin = pair[1]
                    .at_unix_ns
                    .saturating_sub_unsigned(pair[1].length.get());
                assert!(begin >= pair[0].at_unix_ns, "{pair:?}");
            }
        }
        let said = coarse.doubts.last().unwrap();
        assert!(said.contains("more than the 16 samples"), "{said}");
        assert!(said.contains("16 s each"), "{said}");
        let alike = &coarse.doubts[..coarse.doubts.len() - 1];
        assert_eq!(alike, fine.doubts);
    }
}
