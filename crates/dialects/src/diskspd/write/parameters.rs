//! The parameters of a run, as DISKSPD repeats them.

use std::fmt::Write as _;

use super::super::DiskspdInput;
use super::super::settings::{Cache, Contents, Settings, Throttle};
use super::super::sizes::show;

/// Command line and input parameters.
pub fn write(text: &mut String, input: &DiskspdInput, program: &str) {
    let settings = &input.settings;
    let words = input.arguments.join(" ");
    let _ = writeln!(
        text,
        "\nCommand Line: {program} {words}\n\nInput parameters:\n"
    );
    if settings.verbose {
        text.push_str("\tusing verbose mode\n");
    }
    let mut lines = vec![
        "timespan:   1".to_owned(),
        "-------------".to_owned(),
        format!("duration: {}s", settings.duration),
        format!("warm up time: {}s", settings.warmup),
        format!("cool down time: {}s", settings.cooldown),
    ];
    if settings.no_affinity {
        lines.push("affinity disabled".to_owned());
    }
    if settings.latency {
        lines.push("measuring latency".to_owned());
    }
    if let Some(bucket) = settings.bucket_ms {
        lines.push(format!("gathering IOPS at intervals of {bucket}ms"));
    }
    lines.push(format!("random seed: {}", settings.seed));
    if let Some(threads) = settings.pool {
        lines.push(format!("thread pool with {threads} threads"));
        let requests = settings.requests.unwrap_or(0);
        lines.push(format!(
            "number of outstanding I/O operations per thread: {requests}"
        ));
    }
    if !settings.processors.is_empty() {
        let listed = settings.processors.iter().map(|one| format!("0/{one}"));
        let listed: Vec<_> = listed.collect();
        lines.push(format!(
            "advanced affinity round robin (group/core): {}",
            listed.join(", ")
        ));
    }
    for line in lines {
        let _ = writeln!(text, "\t{line}");
    }
    for path in &input.targets {
        let _ = writeln!(text, "\tpath: '{path}'");
        for line in of_target(settings) {
            let _ = writeln!(text, "\t\t{line}");
        }
    }
    text.push('\n');
}

fn of_target(settings: &Settings) -> Vec<String> {
    let mut lines = vec![
        format!("think time: {}ms", settings.think_ms.unwrap_or(0)),
        format!("burst size: {}", settings.burst.unwrap_or(0)),
        caching(settings).to_owned(),
        writing_through(settings).to_owned(),
    ];
    if settings.mapped {
        let flush = match settings.flush {
            Some('v') => ", flush mode: FlushViewOfFile",
            Some('n') => ", flush mode: FlushNonVolatileMemory",
            Some(_) => ", flush mode: FlushNonVolatileMemory with no drain",
            None => "",
        };
        lines.push(format!("memory mapped I/O enabled{flush}"));
    }
    match settings.contents {
        Contents::Zeroes => lines.push("zeroing write buffers".to_owned()),
        Contents::Source(size) => {
            lines.push(format!("write buffer size: {}", show(size)));
            lines.push("write buffer source: random fill".to_owned());
        }
        Contents::Counting | Contents::Fresh => {}
    }
    lines.push(match settings.writes {
        0 => "performing read test".to_owned(),
        100 => "performing write test".to_owned(),
        writes => format!(
            "performing mix test (read/write ratio: {}/{writes})",
            100 - writes
        ),
    });
    lines.push(format!("block size: {}", show(settings.block)));
    lines.push(order(settings));
    match (settings.pool, settings.requests) {
        (Some(_), Some(_)) => lines.push("relative IO weight in thread pool: 1".to_owned()),
        _ => lines.push(format!(
            "number of outstanding I/O operations per thread: {}",
            settings.outstanding
        )),
    }
    lines.extend(extent(settings));
    if settings.pool.is_none() {
        lines.push(format!("threads per file: {}", settings.threads));
    }
    if settings.depth() > 1 {
        let how = if settings.completion_routines {
            "using completion routines (ReadFileEx/WriteFileEx)"
        } else {
            "using I/O Completion Ports"
        };
        lines.push(how.to_owned());
    }
    let priority = ["very low", "low", "normal"][usize::from(settings.priority.clamp(1, 3)) - 1];
    lines.push(format!("IO priority: {priority}"));
    match settings.throttle {
        Some(Throttle::Iops(rate)) => lines.push(format!("throughput rate-limited to {rate} IOPS")),
        Some(Throttle::BytesPerMs(rate)) => {
            lines.push(format!("throughput rate-limited to {rate} B/ms"));
        }
        None => {}
    }
    lines
}

fn caching(settings: &Settings) -> &'static str {
    match settings.cache {
        Cache::Cached => "using software cache",
        Cache::Uncached => "software cache disabled",
        Cache::LocalOff => "local software cache disabled, remote cache enabled",
    }
}

fn writing_through(settings: &Settings) -> &'static str {
    match (settings.cache, settings.write_through) {
        (_, false) => "using hardware write cache, writethrough off",
        (Cache::Cached, true) => "hardware and software write caches disabled, writethrough on",
        (_, true) => "hardware write cache disabled, writethrough on",
    }
}

fn order(settings: &Settings) -> String {
    let step = |size: Option<u64>| show(size.unwrap_or(settings.block));
    match (settings.random_percent, settings.random) {
        (Some(share), align) if share < 100 => format!(
            "using mixed random/sequential I/O ({share}% random) (alignment/stride: {})",
            step(align)
        ),
        (Some(_), align) | (None, align @ Some(_)) => {
            format!("using random I/O (alignment: {})", step(align))
        }
        (None, None) => {
            let shared = if settings.interlocked {
                " interlocked"
            } else {
                ""
            };
            format!(
                "using{shared} sequential I/O (stride: {})",
                step(settings.stride)
            )
        }
    }
}

fn extent(settings: &Settings) -> Vec<String> {
    let mut lines = Vec::new();
    if settings.base > 0 {
        lines.push(format!("base file offset: {}", show(settings.base)));
    }
    if let Some(end) = settings.end {
        lines.push(format!("max file size: {}", show(end)));
    }
    if let Some(stride) = settings.thread_stride {
        lines.push(format!("thread stride size: {}", show(stride)));
    }
    for (letter, hint) in [
        ('s', "using FILE_FLAG_SEQUENTIAL_SCAN hint"),
        ('r', "using FILE_FLAG_RANDOM_ACCESS hint"),
        ('t', "using FILE_ATTRIBUTE_TEMPORARY hint"),
    ] {
        if settings.hints.contains(&letter) {
            lines.push(hint.to_owned());
        }
    }
    lines
}
