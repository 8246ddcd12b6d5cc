//! Dumps of /proc/diskstats with their times: counters, from whose differences each interval follows.
//!
//! Expected is a line with the moment (`date +%s.%N`, or a date), then the lines of `/proc/diskstats`, and again. The first
//! line of `/proc/stat` (`cpu …`) and `MemTotal:` and `MemAvailable:` of `/proc/meminfo` may stand among them.

use std::collections::HashMap;

use fathom_diagnostics::{Diagnostic, Diagnostics};
use fathom_units::{Bytes, Nanos};

use super::collect::{Collector, Flow, TooMuch, percent};
use super::input::{Line, Text};
use super::sysstat::processors;
use super::when::Dates;
use super::{Options, devices, unknown};
use crate::{MachineSample, Observation, Sample};

/// Counters of a disk: reads, merged, sectors, ms; the same of writes; in flight; busy ms; weighted ms.
const COUNTERS: usize = 11;
/// Which of them are milliseconds, which every kernel prints with 32 bits.
const MILLISECONDS: [usize; 4] = [3, 7, 9, 10];
/// Times of `/proc/stat` that make up a processor's whole time; those of guests, behind them, are part of users'.
const TICKS: usize = 8;
/// What is no counter: I/Os in flight.
const IN_FLIGHT: usize = 8;

/// What is shown where the form is not met.
const FORM: &str = "the form is `while sleep 1; do date +%s.%N; cat /proc/diskstats; done`, with `head -1 /proc/stat` and `/proc/meminfo` as you like";

/// Reads a dump.
pub(super) fn read(text: &Text, options: &Options) -> Result<Observation, Diagnostics> {
    let mut reader = Reader::default();
    let mut lines = text.lines()?;
    while let Some(line) = lines.next()? {
        if reader.complaints.is_full() {
            break;
        }
        reader.line(&line)?;
    }
    reader.finish(text, options)
}

#[derive(Default)]
struct Reader {
    dates: Dates,
    collector: Collector,
    complaints: Diagnostics,
    doubts: Vec<String>,
    at: Option<i64>,
    /// The moment before.
    before: i64,
    /// Seconds since then, where time went on.
    seconds: Option<f64>,
    disks: HashMap<String, (i64, [u64; COUNTERS])>,
    processors: Option<(u64, u64, u64)>,
    total: Option<Bytes>,
    back: Vec<String>,
    wrapped: bool,
}

/// Whether a counter that went back has passed 2^32. Those of I/Os and sectors have 32 bits on machines of 32 bits alone: there
/// one in its upper quarter is taken to have done so that is in its lowest now, as when it is watched live.
fn has_wrapped(place: usize, before: u64, now: u64) -> bool {
    if MILLISECONDS.contains(&place) {
        before >> 31 == 1 && now >> 31 == 0
    } else {
        before >> 30 == 3 && now >> 30 == 0
    }
}

/// A moment as `date +%s.%N` writes it.
fn epoch(text: &str) -> Option<i64> {
    let (seconds, parts) = text.split_once('.').unwrap_or((text, ""));
    let whole: i64 = seconds.parse().ok()?;
    if seconds.len() < 9 || !(0..4_102_444_800).contains(&whole) || parts.len() > 9 {
        return None;
    }
    let scale = 10_i64.pow(9 - parts.len() as u32);
    let nanos = if parts.is_empty() {
        0
    } else {
        parts.parse::<i64>().ok()? * scale
    };
    (nanos >= 0).then_some(whole * 1_000_000_000 + nanos)
}

/// Whether the last line, which has no end, is a whole one of its kind as far as it is used; of a moment nothing follows.
fn is_whole(words: &[&str]) -> bool {
    match words {
        [memory, .., unit] if memory.ends_with(':') => *unit == "kB",
        ["cpu", ticks @ ..] => ticks.len() > TICKS,
        [first, ..] => {
            let is_disk = first.bytes().all(|byte| byte.is_ascii_digit());
            first.starts_with("cpu") || (is_disk && words.len() >= 3 + COUNTERS + 6)
        }
        [] => true,
    }
}

impl Reader {
    fn line(&mut self, line: &Line<'_>) -> Result<(), Diagnostics> {
        let words: Vec<&str> = line.text.split_whitespace().collect();
        let Some(first) = words.first() else {
            return Ok(());
        };
        if line.cut && !is_whole(&words) {
            let doubt = format!(
                "its last line, {}, may be cut short and is left out",
                line.number
            );
            self.doubts.push(doubt);
            return Ok(());
        }
        let moment = line.text.trim().trim_start_matches(['#', '=', ' ']);
        if words.len() == 1 && epoch(moment).is_some() {
            self.moment(epoch(moment).unwrap_or_default());
            if moment.contains('.') {
                self.dates.parts_of_a_second();
            }
            return Ok(());
        }
        let kept = if *first == "cpu" {
            self.processors(&words)
        } else if let Some(name) = first.strip_suffix(':') {
            self.memory(name, &words)
        } else if first.bytes().all(|byte| byte.is_ascii_digit()) && words.len() > 3 {
            return self.disk(line, &words);
        } else if let Some(number) = first.strip_prefix("cpu") {
            self.one_processor(number);
            Ok(())
        } else {
            if let Ok(at) = self.dates.read(moment) {
                self.moment(at);
            } else {
                let message = "this is neither a moment nor a line of /proc/diskstats";
                self.complaints.push(line.error("", message).hint(FORM));
            }
            Ok(())
        };
        kept.map_err(|TooMuch| full(line))
    }

    fn moment(&mut self, at: i64) {
        let since = self.at.map(|last| at - last);
        self.seconds = since
            .filter(|since| *since > 0)
            .map(|since| since as f64 / 1e9);
        self.collector.report(at, None, self.at.is_none());
        if self.seconds.is_none() {
            self.collector.void();
        }
        self.before = self.at.unwrap_or(at);
        self.at = Some(at);
    }

    fn processors(&mut self, words: &[&str]) -> Result<(), TooMuch> {
        let ticks: Vec<u64> = words[1..]
            .iter()
            .filter_map(|word| word.parse().ok())
            .collect();
        if ticks.len() < 4 || self.at.is_none() {
            return Ok(());
        }
        let total = ticks
            .iter()
            .take(TICKS)
            .fold(0_u64, |sum, tick| sum.saturating_add(*tick));
        let (idle, waiting) = (ticks[3], ticks.get(4).copied().unwrap_or(0));
        let before = self.processors.replace((total, idle, waiting));
        let Some((total_before, idle_before, waiting_before)) = before else {
            return Ok(());
        };
        let passed = total.saturating_sub(total_before) as f64;
        if passed <= 0.0 {
            return Ok(());
        }
        let share = |now: u64, then: u64| now.saturating_sub(then) as f64 / passed * 100.0;
        let sample = processors(share(idle, idle_before), share(waiting, waiting_before));
        self.collector.machine(sample)
    }

    /// A processor's own line, of which there are as many as processors, numbered from 0.
    fn one_processor(&mut self, number: &str) {
        if let Ok(number) = number.parse::<u16>() {
            let known = &mut self.collector.machine_facts().processors;
            *known = (*known).max(Some(u64::from(number) + 1));
        }
    }

    fn memory(&mut self, name: &str, words: &[&str]) -> Result<(), TooMuch> {
        let kib = words.get(1).and_then(|word| word.parse::<u64>().ok());
        let bytes = kib.and_then(|kib| Bytes::kib(1).checked_mul(kib));
        let (Some(bytes), Some(_)) = (bytes, self.at) else {
            return Ok(());
        };
        match (name, self.total) {
            ("MemTotal", _) => self.total = Some(bytes),
            ("MemAvailable", Some(total)) => {
                return self.collector.machine(MachineSample {
                    memory: Some(total.saturating_sub(bytes)),
                    ..MachineSample::default()
                });
            }
            _ => {}
        }
        Ok(())
    }

    fn disk(&mut self, line: &Line<'_>, words: &[&str]) -> Result<(), Diagnostics> {
        let Some(at) = self.at else {
            let message = "no moment stands before it";
            self.complaints.push(line.error("", message).hint(FORM));
            return Ok(());
        };
        let mut now = [0; COUNTERS];
        let mut found = words[3..].iter();
        for place in &mut now {
            let word = found.next().copied().unwrap_or("");
            if let Ok(counter) = word.parse() {
                *place = counter;
            } else {
                let message = if word.is_empty() {
                    format!("it has fewer than {COUNTERS} counters")
                } else {
                    format!("`{word}` is no counter")
                };
                self.complaints.push(line.error(word, message).hint(FORM));
                return Ok(());
            }
        }
        let name = words[2].to_owned();
        let before = self.disks.insert(name.clone(), (at, now));
        let (Some((since, before)), Some(seconds)) = (before, self.seconds) else {
            return Ok(());
        };
        // A device that was away for a moment did what it did in more time than this interval's.
        if since != self.before {
            return Ok(());
        }
        let Some(passed) = self.passed(&before, &now) else {
            if !self.back.contains(&name) {
                self.back.push(name);
            }
            return Ok(());
        };
        let sample = per_second(&passed, seconds);
        self.collector
            .sample(words[2], &sample)
            .map_err(|TooMuch| full(line))
    }

    /// What each counter went on by; `None` where one went back.
    fn passed(
        &mut self,
        before: &[u64; COUNTERS],
        now: &[u64; COUNTERS],
    ) -> Option<[f64; COUNTERS]> {
        let mut passed = [0.0; COUNTERS];
        for place in (0..COUNTERS).filter(|place| *place != IN_FLIGHT) {
            let (before, now) = (before[place], now[place]);
            passed[place] = if now >= before {
                (now - before) as f64
            } else if has_wrapped(place, before, now) {
                self.wrapped = true;
                ((1_u64 << 32) - before + now) as f64
            } else {
                return None;
            };
        }
        Some(passed)
    }

    fn finish(mut self, text: &Text, options: &Options) -> Result<Observation, Diagnostics> {
        if self.collector.report_count() < 2 && !self.complaints.has_errors() {
            let message = format!(
                "{}: it has fewer than two moments, and an interval lies between two",
                text.name
            );
            self.complaints.push(Diagnostic::error(message).hint(FORM));
        }
        if self.complaints.has_errors() {
            return Err(self.complaints);
        }
        let memory = options.memory.or(self.total);
        self.collector.machine_facts().memory = memory;
        // A dump without parts of a second was still taken at its own moment: intervals are evened out.
        let collected = self.collector.finish(self.dates.resolution());
        let mut doubts = self.dates.doubts();
        doubts.extend(self.doubts);
        if !self.back.is_empty() {
            doubts.push(format!(
                "counters of {} went back: the device was replaced or the machine started anew; those intervals are left out",
                devices::list(&self.back)
            ));
        }
        if self.wrapped {
            let doubt = "counters of 32 bits passed 2^32 and began anew: counted on";
            doubts.push(doubt.to_owned());
        }
        doubts.extend(collected.doubts.into_iter().filter(|doubt| {
            // Which intervals those are was said before.
            !doubt.contains("reports: it came or went") || self.back.is_empty()
        }));
        let mut devices = collected.devices;
        devices::choose(&mut devices, &options.devices, &mut doubts)
            .map_err(|error| Diagnostics(vec![*error]))?;
        Ok(Observation {
            source: format!("dumps of /proc/diskstats `{}`", text.name),
            devices,
            machine: collected.machine,
            unknown: unknown::OF_AVERAGES.to_vec(),
            doubts,
            zone: self.dates.zone(),
        })
    }
}

fn full(line: &Line<'_>) -> Diagnostics {
    Diagnostics(vec![line.error("", TooMuch::message()).hint(TooMuch::HINT)])
}

fn per_second(passed: &[f64; COUNTERS], seconds: f64) -> Sample {
    let flow = |first: usize| {
        let count = passed[first];
        Flow {
            count: count / seconds,
            bytes: Some(passed[first + 2] * 512.0 / seconds),
            latency: Some(if count > 0.0 {
                passed[first + 3] / 1e3 / count
            } else {
                0.0
            }),
            merged: Some(passed[first + 1] / seconds),
        }
    };
    Sample {
        reads: Some(flow(0).ops()),
        writes: Some(flow(4).ops()),
        queue: Some(passed[10] / 1e3 / seconds),
        busy: percent(passed[9] / 1e3 / seconds * 100.0),
        length: Nanos::ZERO,
        ..Sample::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_whole_though_it_ends_the_file() {
        for (line, expected) in [
            ("MemTotal:       24684084 kB", true),
            ("MemTotal:       24684084", false),
            ("MemTo", false),
            ("cpu  69589 46211 24427 83673 16556 0 228 291 0 0", true),
            ("cpu  69589 46211 24427 83673 16556 0 228 29", false),
            ("cpu0 69589 4621", true),
            ("254 0 vda 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17", true),
            ("254 0 vda 1 2 3 4 5 6 7 8 9 10 11", false),
            ("254 0 v", false),
            ("1795330991.04", false),
        ] {
            let words: Vec<&str> = line.split_whitespace().collect();
            assert_eq!(is_whole(&words), expected, "{line}");
        }
    }

    #[test]
    fn moments() {
        assert_eq!(
            epoch("1795330991.040426514"),
            Some(1_795_330_991_040_426_514)
        );
        assert_eq!(epoch("1795330991.5"), Some(1_795_330_991_500_000_000));
        assert_eq!(epoch("1795330991"), Some(1_795_330_991_000_000_000));
        assert_eq!(epoch("254"), None);
        assert_eq!(epoch("1795330991.-1"), None);
    }
}
