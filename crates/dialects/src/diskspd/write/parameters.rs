//! The parameters of a run, as DISKSPD repeats them.

use std::fmt::Write as _;

use super::super::DiskspdInput;
use super::super::settings::{Cache, Contents, Span, SpreadUnit, Target, Throttle};
use super::super::sizes::{show, show_wide};

/// Command line and input parameters.
pub fn write(text: &mut String, input: &DiskspdInput, program: &str) {
    let words = input.arguments.join(" ");
    let _ = writeln!(text, "\nCommand Line: {program} {words}\n");
    let flags = input.profile.experiments;
    if flags > 0 {
        let _ = writeln!(text, "Experiment Flags: {flags:#x} ({flags})\n");
    }
    text.push_str("Input parameters:\n\n");
    if input.profile.verbose {
        text.push_str("\tusing verbose mode\n");
    }
    for (index, span) in input.profile.spans.iter().enumerate() {
        let _ = writeln!(text, "\ttimespan: {:>3}\n\t-------------", index + 1);
        for line in of_span(span) {
            let _ = writeln!(text, "\t{line}");
        }
        for target in &span.targets {
            let path = match target.path.strip_prefix('*') {
                Some(number) => format!("template target '{number}'"),
                None => format!("'{}'", target.path),
            };
            let _ = writeln!(text, "\tpath: {path}");
            for line in of_target(span, target) {
                let _ = writeln!(text, "\t\t{line}");
            }
        }
        text.push('\n');
    }
}

fn of_span(span: &Span) -> Vec<String> {
    let mut lines = vec![
        format!("duration: {}s", span.duration),
        format!("warm up time: {}s", span.warmup),
        format!("cool down time: {}s", span.cooldown),
    ];
    if span.no_affinity {
        lines.push("affinity disabled".to_owned());
    }
    if span.latency {
        lines.push("measuring latency".to_owned());
    }
    if span.deviation {
        let bucket = span.bucket_ms;
        lines.push(format!("gathering IOPS at intervals of {bucket}ms"));
    }
    lines.push(format!("random seed: {}", span.seed));
    if let Some(threads) = span.pool {
        lines.push(format!("thread pool with {threads} threads"));
        let requests = span.requests.unwrap_or(0);
        lines.push(format!(
            "number of outstanding I/O operations per thread: {requests}"
        ));
    }
    if !span.processors.is_empty() {
        let listed = span.processors.iter();
        let listed: Vec<_> = listed
            .map(|(group, cpu)| format!("{group}/{cpu}"))
            .collect();
        lines.push(format!(
            "advanced affinity round robin (group/core): {}",
            listed.join(", ")
        ));
    }
    if span.fresh_data {
        lines.push("generating random data for each write IO".to_owned());
        lines.push(
            "  WARNING: this increases the CPU cost of issuing writes and should only".to_owned(),
        );
        lines.push("           be compared to other results using the -Zr flag".to_owned());
    }
    lines
}

fn of_target(span: &Span, target: &Target) -> Vec<String> {
    let mut lines = vec![
        format!("think time: {}ms", target.think_ms.unwrap_or(0)),
        format!("burst size: {}", target.burst.unwrap_or(0)),
        caching(target).to_owned(),
        writing_through(target).to_owned(),
    ];
    if target.mapped {
        let flush = match target.flush {
            Some('v') => ", flush mode: FlushViewOfFile",
            Some('n') => ", flush mode: FlushNonVolatileMemory",
            Some(_) => ", flush mode: FlushNonVolatileMemory with no drain",
            None => "",
        };
        lines.push(format!("memory mapped I/O enabled{flush}"));
    }
    lines.extend(contents(&target.contents));
    if target.parallel {
        lines.push("using parallel async I/O".to_owned());
    }
    lines.push(match target.writes {
        0 => "performing read test".to_owned(),
        100 => "performing write test".to_owned(),
        writes => format!(
            "performing mix test (read/write ratio: {}/{writes})",
            100 - writes
        ),
    });
    lines.push(format!("block size: {}", show(target.block)));
    lines.push(order(target));
    lines.push(if span.shares_requests() {
        format!("relative IO weight in thread pool: {}", target.weight)
    } else {
        format!(
            "number of outstanding I/O operations per thread: {}",
            target.outstanding
        )
    });
    lines.extend(extent(target));
    if span.pool.is_none() {
        lines.push(format!("threads per file: {}", target.threads));
        if target.outstanding > 1 {
            let how = if span.completion_routines {
                "using completion routines (ReadFileEx/WriteFileEx)"
            } else {
                "using I/O Completion Ports"
            };
            lines.push(how.to_owned());
        }
    }
    let priority = ["very low", "low", "normal"][usize::from(target.priority.clamp(1, 3)) - 1];
    lines.push(format!("IO priority: {priority}"));
    match target.throttle {
        Some(Throttle::Iops(rate)) => lines.push(format!("throughput rate-limited to {rate} IOPS")),
        Some(Throttle::BytesPerMs(rate)) => {
            lines.push(format!("throughput rate-limited to {rate} B/ms"));
        }
        None => {}
    }
    lines.extend(distribution(target));
    lines
}

fn contents(contents: &Contents) -> Vec<String> {
    match contents {
        Contents::Counting => Vec::new(),
        Contents::Zeroes => vec!["zeroing write buffers".to_owned()],
        Contents::Source { size, file } => {
            let file = file.as_ref().map(|file| format!("'{file}'"));
            let source = file.unwrap_or_else(|| "random fill".to_owned());
            vec![
                format!("write buffer size: {}", show(*size)),
                format!("write buffer source: {source}"),
            ]
        }
    }
}

fn caching(target: &Target) -> &'static str {
    match target.cache {
        Cache::Cached => "using software cache",
        Cache::Uncached => "software cache disabled",
        Cache::LocalOff => "local software cache disabled, remote cache enabled",
    }
}

fn writing_through(target: &Target) -> &'static str {
    match (target.cache, target.write_through) {
        (_, false) => "using hardware write cache, writethrough off",
        (Cache::Uncached, true) => "hardware write cache disabled, writethrough on",
        (_, true) => "hardware and software write caches disabled, writethrough on",
    }
}

fn order(target: &Target) -> String {
    let step = show(target.step());
    match target.random {
        Some(share) if share < 100 => format!(
            "using mixed random/sequential I/O ({share}% random) (alignment/stride: {step})"
        ),
        Some(_) => format!("using random I/O (alignment: {step})"),
        None => {
            let shared = if target.interlocked {
                " interlocked"
            } else {
                ""
            };
            format!("using{shared} sequential I/O (stride: {step})")
        }
    }
}

fn extent(target: &Target) -> Vec<String> {
    let mut lines = Vec::new();
    if target.base > 0 {
        lines.push(format!("base file offset: {}", show(target.base)));
    }
    if let Some(end) = target.end {
        lines.push(format!("max file size: {}", show(end)));
    }
    if let Some(stride) = target.thread_stride {
        lines.push(format!("thread stride size: {}", show(stride)));
    }
    for (letter, hint) in [
        ('s', "using FILE_FLAG_SEQUENTIAL_SCAN hint"),
        ('r', "using FILE_FLAG_RANDOM_ACCESS hint"),
        ('t', "using FILE_ATTRIBUTE_TEMPORARY hint"),
    ] {
        if target.hints.contains(&letter) {
            lines.push(hint.to_owned());
        }
    }
    lines
}

/// The ranges of `-rd`, as they were asked for.
fn distribution(target: &Target) -> Vec<String> {
    if target.spread.ranges.is_empty() {
        return Vec::new();
    }
    let mut lines = vec!["IO Distribution:".to_owned()];
    let mut start = 0u64;
    for (io, length) in &target.spread.ranges {
        let end = start.saturating_add(*length);
        lines.push(match target.spread.unit {
            SpreadUnit::Percent => {
                format!("   {io:>3}% of IO => [{start:>2}% - {end:>3}%) of target")
            }
            SpreadUnit::Absolute => {
                let first = match start {
                    0 => "     0   ".to_owned(),
                    start => show_wide(start),
                };
                let last = match length {
                    0 => "      end".to_owned(),
                    _ => show_wide(end),
                };
                format!("   {io:>3}% of IO => [{first} - {last})")
            }
        });
        start = end;
    }
    lines
}
