//! fio's progress line: `Jobs: 1 (f=1): [r(1)][24.8%][r=20.5MiB/s][r=82 IOPS][eta 01m:31s]` (fio 3.42, `eta.c`).

use std::fmt::Write as _;

use fathom_workload::{Arrival, Direction, Job, Pacing};

use super::figures::{Prefixes, Unit, figure};
use crate::fio::input::FioInput;

/// What the line tells.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Eta {
    /// Index of the stage that runs; jobs of earlier ones have ended, those of later ones have not begun.
    pub stage: usize,
    /// Whether nothing is measured yet.
    pub ramping: bool,
    /// Share of the run that is over, 0 to 1, where it is known.
    pub done: Option<f64>,
    /// Seconds to the end, where they are known.
    pub left_s: Option<u64>,
    /// Bytes and I/Os a second of each direction, lately.
    pub rates: [(u64, u64); 3],
}

/// The line, without its end.
pub fn line(input: &FioInput, eta: &Eta) -> String {
    let stages = &input.workload.stages;
    let jobs = stages.get(eta.stage).map_or(&[][..], |stage| &stage.jobs);
    let files: usize = jobs.iter().map(|job| job.targets.len()).sum();
    let mut out = format!("Jobs: {} (f={files})", jobs.len());
    let prefixes = if input.jobs.iter().any(|job| job.kb_base == 1024) {
        Prefixes::Binary
    } else {
        Prefixes::Decimal
    };
    out.push_str(&limits(jobs, prefixes));
    let Some(left) = eta.left_s else {
        return out;
    };
    let percent = match eta.done {
        Some(done) if !eta.ramping => format!("{:.1}%", (done * 100.0).clamp(0.0, 100.0)),
        _ => "-.-%".to_owned(),
    };
    let _ = write!(out, ": [{}][{percent}]", run_string(input, eta));
    // As fio, in the unit of the last job.
    let unit = match input.jobs.last() {
        Some(job) if job.shows_bits => Unit::BitsPerSecond,
        _ => Unit::BytesPerSecond,
    };
    out.push_str(&rates(&eta.rates, prefixes, unit));
    let _ = write!(out, "[eta {}]", time(left));
    out
}

/// What jobs are held to, `, least-most`.
fn limits(jobs: &[Job], prefixes: Prefixes) -> String {
    let (mut ios, mut bytes) = (0, 0);
    let (mut least_ios, mut least_bytes) = (0, 0);
    for job in jobs {
        let minimum = job.features.minimum.iter();
        for least in minimum.flat_map(|minimum| minimum.rates.into_iter().flatten()) {
            match least {
                Pacing::Iops(rate) => least_ios += rate.get(),
                Pacing::Bytes(rate) => least_bytes += rate.get(),
            }
        }
        match job.arrival {
            Arrival::Closed => {}
            Arrival::Open {
                rate: Pacing::Iops(rate),
                ..
            } => ios += rate.get(),
            Arrival::Open {
                rate: Pacing::Bytes(rate),
                ..
            } => bytes += rate.get(),
        }
    }
    if bytes > 0 || least_bytes > 0 {
        let rate = |bytes| figure(bytes, 4, prefixes, Unit::BytesPerSecond);
        format!(", {}-{}", rate(least_bytes), rate(bytes))
    } else if ios > 0 || least_ios > 0 {
        format!(", {least_ios}-{ios} IOPS")
    } else {
        String::new()
    }
}

/// A letter for each job, equal neighbours counted: `_(2),r(1),P(3)`.
fn run_string(input: &FioInput, eta: &Eta) -> String {
    let mut runs: Vec<(char, usize)> = Vec::new();
    for (index, stage) in input.workload.stages.iter().enumerate() {
        for job in &stage.jobs {
            let letter = match index.cmp(&eta.stage) {
                std::cmp::Ordering::Less => '_',
                std::cmp::Ordering::Greater => 'P',
                std::cmp::Ordering::Equal if eta.ramping => '/',
                std::cmp::Ordering::Equal => letter(job),
            };
            match runs.last_mut() {
                Some((last, count)) if *last == letter => *count += 1,
                _ => runs.push((letter, 1)),
            }
        }
    }
    let runs = runs
        .iter()
        .map(|(letter, count)| format!("{letter}({count})"));
    runs.collect::<Vec<_>>().join(",")
}

/// Reads, writes, both, trims: capital where offsets are sequential.
fn letter(job: &Job) -> char {
    let does = |way| job.mix.share(way).basis_points() > 0;
    let letter = match (does(Direction::Read), does(Direction::Write)) {
        (true, true) => 'M',
        (true, false) => 'R',
        (false, true) => 'W',
        (false, false) => 'D',
    };
    match job.access {
        fathom_workload::Access::Sequential { .. } => letter,
        _ => letter.to_ascii_lowercase(),
    }
}

fn rates(rates: &[(u64, u64); 3], prefixes: Prefixes, unit: Unit) -> String {
    let used = ['r', 'w', 't'].into_iter().zip(rates);
    let used: Vec<_> = used.filter(|(_, (_, ios))| *ios > 0).collect();
    if used.is_empty() {
        return String::new();
    }
    let list = |show: &dyn Fn(&(u64, u64)) -> String| {
        let each = used
            .iter()
            .map(|(letter, rate)| format!("{letter}={}", show(rate)));
        each.collect::<Vec<_>>().join(",")
    };
    let bytes = list(&|(bytes, _)| figure(*bytes, 4, prefixes, unit));
    let ios = list(&|(_, ios)| figure(*ios, 4, Prefixes::Decimal, Unit::None));
    format!("[{bytes}][{ios} IOPS]")
}

fn time(seconds: u64) -> String {
    let (days, hours) = (seconds / 86_400, seconds / 3600 % 24);
    let (minutes, seconds) = (seconds / 60 % 60, seconds % 60);
    let mut out = String::new();
    if days > 0 {
        let _ = write!(out, "{days:02}d:");
    }
    if days > 0 || hours > 0 {
        let _ = write!(out, "{hours:02}h:");
    }
    let _ = write!(out, "{minutes:02}m:{seconds:02}s");
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fio::{ReadContext, SystemFiles, read};

    #[track_caller]
    fn check(arguments: &str, eta: &Eta, expected: &str) {
        let arguments: Vec<String> = arguments.split(' ').map(str::to_owned).collect();
        let input = read(&arguments, &ReadContext::of_system(&SystemFiles)).unwrap();
        assert_eq!(line(&input, eta), expected);
    }

    #[test]
    fn the_line_is_fios() {
        let eta = Eta {
            done: Some(0.248),
            left_s: Some(91),
            rates: [(21_495_808, 82), (0, 0), (0, 0)],
            ..Eta::default()
        };
        check(
            "--name=a --ioengine=null --size=1g --rw=randread",
            &eta,
            "Jobs: 1 (f=1): [r(1)][24.8%][r=20.5MiB/s][r=82 IOPS][eta 01m:31s]",
        );
        check(
            "--name=a --ioengine=null --size=1g --rw=randread --unit_base=1 --kb_base=1000 --rate=21m",
            &eta,
            "Jobs: 1 (f=1), 0B/s-21.0MB/s: [r(1)][24.8%][r=172Mbit/s][r=82 IOPS][eta 01m:31s]",
        );
        let later = Eta {
            stage: 1,
            ramping: true,
            left_s: Some(100_000),
            ..Eta::default()
        };
        check(
            "--ioengine=null --size=1g --name=a --rw=read --numjobs=2 --name=b --rw=randrw --stonewall --rate_iops=70,30 --name=c --stonewall",
            &later,
            "Jobs: 1 (f=1), 0-100 IOPS: [_(2),/(1),P(1)][-.-%][eta 01d:03h:46m:40s]",
        );
        check(
            "--name=a --ioengine=null --size=1g",
            &Eta::default(),
            "Jobs: 1 (f=1)",
        );
        check(
            "--name=a --ioengine=null --size=1g --rate=2m --rate_min=1m",
            &Eta::default(),
            "Jobs: 1 (f=1), 1024KiB/s-2048KiB/s",
        );
        check(
            "--name=a --ioengine=null --size=1g --rw=rw --rate_iops_min=40,2",
            &Eta::default(),
            "Jobs: 1 (f=1), 42-0 IOPS",
        );
    }
}
