//! Reports in order of time become samples: what interval each covers, and what in the times is doubtful.
//!
//! A reader hands over the moment of each report and, for each device, what happened a second. When all are there the
//! lengths of the intervals are known, and rates become counts. Nothing is made of a first report (what it covers began
//! before the file), nor of the time that a gap left out.

use std::collections::HashMap;

use fathom_diagnostics::Diagnostics;
use fathom_units::{Nanos, Percent};

use super::input::Line;
use super::when;
use crate::{Device, Machine, MachineSample, Ops, Sample};

/// Most samples that are kept of one input: about a week of ten disks, each ten seconds.
const MOST_SAMPLES: usize = 700_000;
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
struct Report {
    at: i128,
    /// Known where the source says it.
    length: Option<Nanos>,
    /// Begins a run: what lies between it and the report before was not watched.
    fresh: bool,
}

/// There is more than is kept.
#[derive(Debug)]
pub(super) struct TooMuch;

impl TooMuch {
    pub fn message() -> String {
        format!("it holds more than {MOST_SAMPLES} samples or {MOST_DEVICES} devices")
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
#[derive(Debug, Default)]
pub(super) struct Collector {
    reports: Vec<Report>,
    by_time: HashMap<i64, usize>,
    devices: Vec<Device>,
    by_name: HashMap<String, usize>,
    machine: Machine,
    samples: usize,
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
        self.by_time.insert(at, self.reports.len());
        self.reports.push(Report {
            at: i128::from(at),
            length,
            fresh,
        });
    }

    /// A report `interval` after the last, which does not say its own time.
    pub fn next_report(&mut self, interval: Nanos, fresh: bool) {
        let last = self.reports.last().map_or(0, |report| report.at);
        self.reports.push(Report {
            at: last + i128::from(interval.get()),
            length: (!fresh).then_some(interval),
            fresh,
        });
    }

    /// The report at `at` again where there was one, otherwise a new one: for sources that list one thing after another.
    pub fn again(&mut self, at: i64, length: Nanos) -> usize {
        if let Some(index) = self.by_time.get(&at) {
            return *index;
        }
        self.report(at, Some(length), false);
        self.reports.len() - 1
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
        if self.samples == MOST_SAMPLES || self.reports.is_empty() {
            return Err(TooMuch);
        }
        self.samples += 1;
        let place = self.place(device)?;
        self.devices[place].samples.push(Sample {
            at_unix_ns: number(report),
            ..*per_second
        });
        Ok(())
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
                if self.samples == MOST_SAMPLES || self.reports.is_empty() {
                    return Err(TooMuch);
                }
                self.samples += 1;
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
        for device in &mut self.devices {
            once(device, &mut doubts);
            let before = device.samples.len();
            cover(&mut device.samples, &spans);
            missing(device, before, self.reports.len(), &mut doubts);
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

/// Samples in the order of their reports, one each: of two the first.
fn once(device: &mut Device, doubts: &mut Vec<String>) {
    device.samples.sort_by_key(|sample| sample.at_unix_ns);
    let before = device.samples.len();
    device.samples.dedup_by_key(|sample| sample.at_unix_ns);
    let twice = before - device.samples.len();
    if twice > 0 {
        doubts.push(format!(
            "`{}` is told twice in {twice} reports: the first counts",
            device.name
        ));
    }
}

fn missing(device: &Device, found: usize, reports: usize, doubts: &mut Vec<String>) {
    if found < reports {
        doubts.push(format!(
            "`{}` is in {found} of {reports} reports: it came or went, or did nothing",
            device.name
        ));
    }
}

/// A report's number in a sample's place for its time.
fn number(report: usize) -> i64 {
    i64::try_from(report).unwrap_or(i64::MAX)
}

/// What a report covers.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Span {
    at: i64,
    length: Nanos,
}

/// The spans of the reports, where they have one.
fn spans(reports: &[Report], resolution: Nanos, doubts: &mut Vec<String>) -> Vec<Option<Span>> {
    let mut covered: Vec<(i128, Option<i128>)> = Vec::with_capacity(reports.len());
    let mut back: Option<(usize, i128, i128)> = None;
    let (mut last, mut shift, mut step): (Option<i128>, i128, i128) = (None, 0, 0);
    for report in reports {
        let own = report.length.map(|length| i128::from(length.get()));
        let mut at = report.at + shift;
        let mut length = own;
        if let Some(last) = last {
            let equal = at == last && resolution >= Nanos::from_secs(1);
            if at < last || (at == last && !equal) {
                let next = last + own.unwrap_or(step).max(1);
                let (count, ..) = back.get_or_insert((0, last, next - at));
                *count += 1;
                shift += next - at;
                at = next;
                length = (own.is_some() || step > 0).then_some(next - last);
            } else if !report.fresh {
                let since = at - last;
                // What the source says it covers cannot reach back before the report before.
                length = Some(own.map_or(since, |own| {
                    if since > 0 && since + i128::from(resolution.get()) < own {
                        since
                    } else {
                        own
                    }
                }));
                step = since.max(own.unwrap_or(0));
            }
        }
        if report.fresh {
            length = own;
        }
        covered.push((at, length));
        last = Some(at);
    }
    if let Some((count, at, far)) = back {
        let often = match count {
            1 => "once,".to_owned(),
            _ => format!("{count} times, first"),
        };
        doubts.push(format!(
            "its clock goes back {often} by {} s after {}: what follows is moved on, so its hours are not the clock's",
            far / 1_000_000_000,
            when::show(at.clamp(0, i128::from(i64::MAX)) as i64),
        ));
    }
    without_gaps(covered, reports, resolution, doubts)
}

/// Of a gap only the length of an ordinary interval is kept; times in coarse steps get the length of the mean.
fn without_gaps(
    covered: Vec<(i128, Option<i128>)>,
    reports: &[Report],
    resolution: Nanos,
    doubts: &mut Vec<String>,
) -> Vec<Option<Span>> {
    let coarse = i128::from(resolution.get());
    let mut lengths: Vec<i128> = covered.iter().filter_map(|(_, length)| *length).collect();
    lengths.sort_unstable();
    let median = lengths.get(lengths.len() / 2).copied().unwrap_or(0);
    let given = reports.iter().any(|report| report.length.is_some());
    let is_gap = |length: i128| length > median.max(coarse) * 3 / 2 && length > median + 2 * coarse;
    let ordinary = lengths.iter().filter(|length| !is_gap(**length));
    let (count, sum) = ordinary.fold((0, 0), |(count, sum), length| (count + 1, sum + length));
    let mean = if count > 0 { sum / count } else { 0 };
    let even = coarse >= 1_000_000_000 && !given;
    let mut gaps: Option<(usize, i128, i128)> = None;
    let (mut last, mut end): (Option<i128>, i128) = (None, i128::MIN);
    let mut spans = Vec::with_capacity(covered.len());
    for (mut at, length) in covered {
        let span = length.and_then(|mut length| {
            if is_gap(length) && !given {
                let (count, ..) = gaps.get_or_insert((0, at - length, length));
                *count += 1;
                length = if even { mean } else { median };
            } else if even {
                length = mean;
                at = last.map_or(at, |last| last + mean);
            }
            // No interval reaches back into one before it, however odd the times are.
            let length = length.min(at.saturating_sub(end));
            let length = u64::try_from(length).ok().filter(|length| *length > 0)?;
            let span = Span {
                at: i64::try_from(at).ok()?,
                length: Nanos::new(length),
            };
            end = at;
            Some(span)
        });
        last = Some(at);
        spans.push(span);
    }
    if let Some((count, at, far)) = gaps {
        doubts.push(format!(
            "{count} gaps in its times, the first of {} s after {}: nothing is known of them, or its clock was set on",
            far / 1_000_000_000,
            when::show(at.clamp(0, i128::from(i64::MAX)) as i64),
        ));
    }
    spans
}

/// Rates become counts of the spans they cover.
fn cover(samples: &mut Vec<Sample>, spans: &[Option<Span>]) {
    samples.retain_mut(|sample| {
        let Some(span) = spans.get(sample.at_unix_ns as usize).copied().flatten() else {
            return false;
        };
        let seconds = span.length.as_secs_f64();
        let scaled = |ops: Option<Ops>| {
            ops.map(|ops| Ops {
                count: ops.count * seconds,
                bytes: ops.bytes.map(|bytes| bytes * seconds),
                time: ops
                    .time
                    .map(|time| Nanos::new((time.get() as f64 * seconds).round() as u64)),
                merged: ops.merged.map(|merged| merged * seconds),
            })
        };
        *sample = Sample {
            at_unix_ns: span.at,
            length: span.length,
            reads: scaled(sample.reads),
            writes: scaled(sample.writes),
            all: scaled(sample.all),
            ..*sample
        };
        true
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000_000;

    /// Seconds of the reports and whether each is fresh; the spans as (end, length) in milliseconds, and the doubts.
    #[track_caller]
    fn check(times: &[(f64, bool)], resolution: Nanos, expected: &[(i64, u64)], doubts: &[&str]) {
        let mut collector = Collector::default();
        for (at, fresh) in times {
            collector.report((at * SECOND as f64) as i64, None, *fresh);
            let reads = Flow {
                count: 10.0,
                ..Flow::default()
            };
            let sample = Sample {
                reads: Some(reads.ops()),
                ..Sample::default()
            };
            collector.sample("a", &sample).unwrap();
        }
        let collected = collector.finish(resolution);
        let found: Vec<(i64, u64)> = collected.devices[0]
            .samples
            .iter()
            .map(|sample| {
                (
                    sample.at_unix_ns / 1_000_000,
                    sample.length.get() / 1_000_000,
                )
            })
            .collect();
        assert_eq!(found, expected);
        for sample in &collected.devices[0].samples {
            let count = sample.reads.unwrap().count;
            assert!(
                (count - 10.0 * sample.length.as_secs_f64()).abs() < 1e-6,
                "{count}"
            );
        }
        assert_eq!(
            collected.doubts.len(),
            doubts.len(),
            "{:?}",
            collected.doubts
        );
        for (doubt, part) in collected.doubts.iter().zip(doubts) {
            assert!(doubt.contains(part), "{doubt}");
        }
    }

    const FINE: Nanos = Nanos::from_millis(1);
    const COARSE: Nanos = Nanos::from_secs(1);

    #[test]
    fn intervals_lie_between_reports() {
        let times = [(10.0, true), (11.0, false), (12.5, false)];
        check(&times, FINE, &[(11_000, 1_000), (12_500, 1_500)], &[]);
    }

    #[test]
    fn of_a_gap_only_its_last_interval_is_kept() {
        let times = [
            (0.0, true),
            (1.0, false),
            (2.0, false),
            (60.0, false),
            (61.0, false),
        ];
        let expected = [
            (1_000, 1_000),
            (2_000, 1_000),
            (60_000, 1_000),
            (61_000, 1_000),
        ];
        check(&times, FINE, &expected, &["1 gaps"]);
    }

    #[test]
    fn a_clock_that_goes_back_is_moved_on() {
        let times = [
            (7_200.0, true),
            (7_201.0, false),
            (3_602.0, false),
            (3_603.0, false),
        ];
        let expected = [(7_201_000, 1_000), (7_202_000, 1_000), (7_203_000, 1_000)];
        check(&times, FINE, &expected, &["goes back once, by 3600 s"]);
    }

    #[test]
    fn whole_seconds_are_evened_out() {
        let times = [
            (0.0, true),
            (1.0, false),
            (1.0, false),
            (3.0, false),
            (4.0, false),
        ];
        let expected = [
            (1_000, 1_000),
            (2_000, 1_000),
            (3_000, 1_000),
            (4_000, 1_000),
        ];
        check(&times, COARSE, &expected, &[]);
    }

    #[test]
    fn a_fresh_run_begins_anew() {
        let times = [(0.0, true), (1.0, false), (50.0, true), (51.0, false)];
        check(&times, FINE, &[(1_000, 1_000), (51_000, 1_000)], &[]);
    }
}
