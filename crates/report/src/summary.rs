//! The one screen at the end of a run.
//!
//! One line for each job and direction: rate, throughput and the latency that matters; then what limited a prediction,
//! what makes a figure doubtful, and what to do next.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use fathom_record::{
    DirectionRecord, JobRecord, LatencyRecord, Record, RunKind, StageRecord, Verdict,
};
use fathom_stats::{Histogram, confidence_95, from_hdr_base64};
use fathom_units::{Nanos, group_digits};

use crate::format::{mebibytes, rate, share, short_mean, short_time};

/// How much to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Summary {
    /// One screen.
    #[default]
    Short,
    /// Every check, device and note.
    Full,
}

/// The summary of `record` as text of at most 80 columns where names allow.
pub fn summary(record: &Record, how_much: Summary) -> String {
    let mut text = format!("{}\n", record.title);
    let rows = rows_of(record);
    write_table(&mut text, &rows);
    for stage in &record.stages {
        write_limits(&mut text, stage);
    }
    if how_much == Summary::Full {
        write_storage(&mut text, record);
    }
    write_verdict(&mut text, record, how_much);
    text
}

/// Figures of one line: one for each repeat of its stage.
struct Row {
    name: String,
    repeats: Vec<DirectionRecord>,
}

impl Row {
    fn mean_of(&self, figure: fn(&DirectionRecord) -> f64) -> f64 {
        self.repeats.iter().map(figure).sum::<f64>() / self.repeats.len() as f64
    }

    /// Latency over all repeats: percentiles of the merged histograms, the mean over all I/Os.
    fn latency(&self) -> LatencyRecord {
        let mut latency = self.repeats[0].latency_ns.clone();
        if self.repeats.len() == 1 {
            return latency;
        }
        let all = self.repeats.iter().map(|repeat| &repeat.latency_ns);
        let mut merged = Histogram::new();
        for histogram in all
            .clone()
            .filter_map(|one| from_hdr_base64(&one.histogram).ok())
        {
            merged.merge(&histogram);
        }
        let ios: f64 = self.repeats.iter().map(|repeat| repeat.ios as f64).sum();
        let time: f64 = self
            .repeats
            .iter()
            .map(|repeat| repeat.latency_ns.mean * repeat.ios as f64)
            .sum();
        latency.mean = if ios > 0.0 { time / ios } else { 0.0 };
        latency.min = all.clone().map(|one| one.min).min().unwrap_or(0);
        latency.max = all.map(|one| one.max).max().unwrap_or(0);
        let within = |percent| merged.percentile(percent).clamp(latency.min, latency.max);
        latency.p50 = within(50.0);
        latency.p99 = within(99.0);
        latency.p99_9 = within(99.9);
        latency
    }
}

/// A line for each stage (repeats together), job name and direction; a total where a stage has several.
fn rows_of(record: &Record) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for stage in &record.stages {
        let base = stage.name.split(" #").next().unwrap_or(&stage.name);
        let several = record
            .stages
            .iter()
            .any(|other| !other.name.starts_with(base));
        for (name, direction, figures) in stage_lines(stage) {
            let prefix = if several && name != base {
                format!("{base}: ")
            } else {
                String::new()
            };
            let said = name.split(' ').any(|word| word.ends_with(direction));
            let direction = if said {
                String::new()
            } else {
                format!(" {direction}")
            };
            add(&mut rows, format!("{prefix}{name}{direction}"), figures);
        }
    }
    rows
}

fn add(rows: &mut Vec<Row>, name: String, figures: DirectionRecord) {
    match rows.iter_mut().find(|row| row.name == name) {
        Some(row) => row.repeats.push(figures),
        None => rows.push(Row {
            name,
            repeats: vec![figures],
        }),
    }
}

type Line = (String, &'static str, DirectionRecord);

fn stage_lines(stage: &StageRecord) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    let total = &stage.total;
    let directions = [
        ("read", &total.read),
        ("write", &total.write),
        ("trim", &total.trim),
    ];
    let used = directions
        .iter()
        .filter(|(_, figures)| figures.as_ref().is_some_and(|f| f.ios > 0))
        .count();
    if used > 1 {
        lines.extend(
            total
                .all
                .clone()
                .map(|figures| ("all".to_owned(), "together", figures)),
        );
    }
    let names = job_names(&stage.jobs);
    for (direction, figures) in directions {
        let Some(figures) = figures
            .as_ref()
            .filter(|figures| figures.ios > 0 || figures.errors > 0)
        else {
            continue;
        };
        let name = match names.as_slice() {
            [one] => one.clone(),
            many => format!("{} jobs", many.len()),
        };
        lines.push((name, direction, figures.clone()));
    }
    lines
}

/// Names of the jobs, clones of one name once.
fn job_names(jobs: &[JobRecord]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for job in jobs {
        if !names.contains(&job.name) {
            names.push(job.name.clone());
        }
    }
    names
}

/// The table, no wider than 80 columns for names of up to 22: where repeats show their spread, the mean gives way.
fn write_table(text: &mut String, rows: &[Row]) {
    let repeated = rows.iter().any(|row| row.repeats.len() > 1);
    let longest = rows.iter().map(|row| row.name.chars().count()).max();
    let width = longest.unwrap_or(0).clamp(8, 32);
    let second = if repeated { "±95%" } else { "mean" };
    let header = ["MiB/s", "p50", "p99", "p99.9", "max"].map(|title| format!(" {title:>7}"));
    let _ = writeln!(
        text,
        "{:width$} {:>9} {second:>7}{}",
        "",
        "IOPS",
        header.concat()
    );
    for row in rows {
        let rates: Vec<f64> = row.repeats.iter().map(|repeat| repeat.iops).collect();
        let latency = row.latency();
        let second = match confidence_95(&rates) {
            Some(interval) if interval.mean > 0.0 => {
                format!("{:.1}%", interval.half_width / interval.mean * 100.0)
            }
            _ if repeated => "-".to_owned(),
            _ => short_mean(latency.mean),
        };
        let figures = [
            mebibytes(row.mean_of(|repeat| repeat.bandwidth_bytes_per_sec)),
            short_time(latency.p50),
            short_time(latency.p99),
            short_time(latency.p99_9),
            short_time(latency.max),
        ];
        let figures = figures.map(|figure| format!(" {figure:>7}")).concat();
        let iops = rate(row.mean_of(|repeat| repeat.iops));
        let _ = writeln!(text, "{:width$} {iops:>9} {second:>7}{figures}", row.name);
        let errors: u64 = row.repeats.iter().map(|repeat| repeat.errors).sum();
        if errors > 0 {
            let _ = writeln!(text, "  {} I/Os failed", group_digits(errors));
        }
    }
}

/// What held the I/Os of a prediction, and which open loops fell behind.
fn write_limits(text: &mut String, stage: &StageRecord) {
    let total = &stage.total;
    for (direction, figures) in [
        ("reads", &total.read),
        ("writes", &total.write),
        ("trims", &total.trim),
    ] {
        let Some(figures) = figures
            .as_ref()
            .filter(|figures| !figures.bound_by.is_empty())
        else {
            continue;
        };
        let _ = writeln!(
            text,
            "  {direction} bound by {}",
            limits_in_words(&figures.bound_by)
        );
    }
    for job in &stage.jobs {
        let all = [&job.read, &job.write, &job.trim].into_iter().flatten();
        let got: f64 = all.clone().map(|figures| figures.iops).sum();
        if let Some(wanted) = job.iops_wanted.filter(|wanted| got < wanted * 0.99) {
            let limit = all
                .flat_map(|figures| &figures.bound_by)
                .max_by(|a, b| a.1.total_cmp(b.1));
            let why = limit.map_or(String::new(), |(limit, _)| {
                format!(": {} give no more", limit_name(limit))
            });
            let _ = writeln!(
                text,
                "  {} asked for {} IOPS and reached {}{why}",
                job.name,
                rate(wanted),
                rate(got)
            );
        }
        if let Some(response) = all_response(job) {
            let _ = writeln!(
                text,
                "  {} response time from the intended start: {response}",
                job.name
            );
        }
    }
}

fn all_response(job: &JobRecord) -> Option<String> {
    let directions = [&job.read, &job.write, &job.trim].into_iter().flatten();
    let response = directions
        .filter_map(|figures| figures.response_ns.as_ref())
        .max_by_key(|latency| latency.p99)?;
    let (p50, p99, max) = (
        short_time(response.p50),
        short_time(response.p99),
        short_time(response.max),
    );
    Some(format!("p50 {p50}, p99 {p99}, max {max}"))
}

fn limits_in_words(bound_by: &BTreeMap<String, f64>) -> String {
    let mut limits: Vec<_> = bound_by
        .iter()
        .filter(|(_, part)| **part >= 0.005)
        .collect();
    limits.sort_by(|a, b| b.1.total_cmp(a.1));
    let words: Vec<_> = limits
        .iter()
        .map(|(limit, part)| {
            format!(
                "{} (`{limit}`, {} of the waiting)",
                limit_name(limit),
                share(**part)
            )
        })
        .collect();
    words.join(", ")
}

/// The limit in plain words.
fn limit_name(limit: &str) -> &str {
    match limit {
        "disk-iops" => "the disks' IOPS",
        "disk-bytes" => "the disks' throughput",
        "vm-cached-iops" => "the VM's cached IOPS",
        "vm-cached-bytes" => "the VM's cached throughput",
        "vm-uncached-iops" => "the VM's uncached IOPS",
        "vm-uncached-bytes" => "the VM's uncached throughput",
        "device-iops" => "the device's IOPS",
        "device-bytes" => "the device's throughput",
        other => other,
    }
}

fn write_storage(text: &mut String, record: &Record) {
    for stage in &record.stages {
        let _ = writeln!(text, "\n{} ({})", stage.name, Nanos::new(stage.measured_ns));
        for job in &stage.jobs {
            let _ = writeln!(
                text,
                "  {}: {} workers, depth {:.1} of {:.0} each, {} user {} system",
                job.name,
                job.workers,
                job.depth_achieved,
                job.depth_wanted,
                Nanos::new(job.cpu.user_ns),
                Nanos::new(job.cpu.system_ns)
            );
        }
        for (name, part) in &stage.storage {
            let depth = part
                .depth
                .map_or(String::new(), |depth| format!(", depth {depth:.1}"));
            let busy = part
                .busy_share
                .map_or(String::new(), |busy| format!(", busy {}", share(busy)));
            let hits = part.hit_share.map_or(String::new(), |hits| {
                format!(", cache hits {}", share(hits))
            });
            let ios = group_digits(part.ios);
            let _ = writeln!(
                text,
                "  {} {name}: {ios} I/Os{depth}{busy}{hits}",
                part.kind
            );
        }
    }
}

fn write_verdict(text: &mut String, record: &Record, how_much: Summary) {
    let mut notes: Vec<&String> = Vec::new();
    for note in record
        .notes
        .iter()
        .chain(record.stages.iter().flat_map(|stage| &stage.notes))
    {
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    for note in notes {
        let _ = writeln!(text, "note     {note}");
    }
    if record.interrupted {
        let _ = writeln!(
            text,
            "note     stopped before its end; these figures cover what was measured until then"
        );
    }
    let failed = record.checks.iter().filter(|check| !check.passed).count();
    let passed = record.checks.len() - failed;
    let verdict = match record.verdict {
        Verdict::Trustworthy => format!("TRUSTWORTHY: {passed} checks passed"),
        Verdict::Questionable => format!(
            "QUESTIONABLE: {failed} of {} checks failed",
            record.checks.len()
        ),
        Verdict::Empty => "NOTHING MEASURED".to_owned(),
    };
    let _ = writeln!(text, "verdict  {verdict}");
    for check in record
        .checks
        .iter()
        .filter(|check| how_much == Summary::Full || !check.passed)
    {
        let _ = writeln!(
            text,
            "  {} {}: {}",
            if check.passed { "ok  " } else { "FAIL" },
            check.id,
            check.evidence
        );
        if !check.remedy.is_empty() {
            let _ = writeln!(text, "       hint: {}", check.remedy);
        }
    }
    let next = match (record.stored, record.kind) {
        (false, _) => "without `--no-record` this run could be shown again by `fathom report`",
        (true, RunKind::Run) => "`fathom report last --full` shows every check, device and job",
        (true, RunKind::Predict | RunKind::Serve) => {
            "`fathom report last --full` shows each disk and VM limit"
        }
    };
    if how_much == Summary::Short {
        let _ = writeln!(text, "next     {next}");
    }
}
