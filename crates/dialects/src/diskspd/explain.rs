//! The options in force, and where each came from.

use std::fmt::Write as _;

use super::DiskspdInput;
use super::settings::{Contents, Settings, Throttle};
use super::sizes;

/// One comment line an option, for `fathom explain`.
pub fn origins(input: &DiskspdInput) -> String {
    let settings = &input.settings;
    let mut text = String::from("# options in force, and where each came from\n");
    for (letters, value) in in_force(settings) {
        let origin = if settings.has(letters) {
            "command line"
        } else {
            "DISKSPD's default"
        };
        let option = format!("-{letters} {value}");
        let _ = writeln!(text, "#   {option:40} {origin}");
    }
    for target in &input.targets {
        let option = format!("target {target}");
        let _ = writeln!(text, "#   {option:40} command line");
    }
    text.push('\n');
    text
}

fn in_force(settings: &Settings) -> Vec<(&'static str, String)> {
    let mut all = vec![
        ("b", sizes::show(settings.block)),
        ("B", sizes::show(settings.base)),
        ("d", format!("{} s", settings.duration)),
        ("W", format!("{} s", settings.warmup)),
        ("C", format!("{} s", settings.cooldown)),
    ];
    match settings.pool {
        Some(threads) => all.push(("F", format!("{threads} threads"))),
        None => all.push(("t", format!("{} threads per target", settings.threads))),
    }
    let depth = settings.depth();
    let per = if settings.requests.is_some() {
        "O"
    } else {
        "o"
    };
    all.push((per, format!("{depth} outstanding per thread and target")));
    all.push(("w", format!("{} % writes", settings.writes)));
    match (settings.random, settings.random_percent) {
        (align, Some(share)) => {
            let align = sizes::show(align.unwrap_or(settings.block));
            all.push(("rs", format!("{share} % random, aligned to {align}")));
        }
        (Some(align), None) => all.push(("r", format!("aligned to {}", sizes::show(align)))),
        (None, None) => {
            let stride = sizes::show(settings.stride.unwrap_or(settings.block));
            let shared = if settings.interlocked { ", shared" } else { "" };
            all.push(("s", format!("stride {stride}{shared}")));
        }
    }
    all.push((
        "S",
        format!(
            "{:?}, write-through {}",
            settings.cache,
            on(settings.write_through)
        ),
    ));
    all.push(("z", format!("seed {}", settings.seed)));
    let contents = match settings.contents {
        Contents::Counting => "bytes 0 to 255".to_owned(),
        Contents::Zeroes => "zeroes".to_owned(),
        Contents::Fresh => "random, new for each write".to_owned(),
        Contents::Source(size) => format!("random, from {}", sizes::show(size)),
    };
    all.push(("Z", contents));
    all.extend(given_alone(settings));
    all
}

/// Options that do nothing where they are not given.
fn given_alone(settings: &Settings) -> Vec<(&'static str, String)> {
    let size = |letters, size: Option<u64>| size.map(|size| (letters, sizes::show(size)));
    let throttle = settings.throttle.map(|throttle| match throttle {
        Throttle::BytesPerMs(rate) => ("g", format!("{rate} B/ms")),
        Throttle::Iops(rate) => ("g", format!("{rate} IOPS")),
    });
    let burst = settings.burst.map(|burst| ("i", format!("{burst} I/Os")));
    let think = settings.think_ms.map(|think| ("j", format!("{think} ms")));
    let bucket = settings
        .bucket_ms
        .map(|bucket| ("D", format!("{bucket} ms")));
    let latency = settings.latency.then(|| ("L", "on".to_owned()));
    let all = [
        size("c", settings.create),
        size("f", settings.end),
        size("T", settings.thread_stride),
        throttle,
        burst,
        think,
        bucket,
        latency,
    ];
    all.into_iter().flatten().collect()
}

fn on(flag: bool) -> &'static str {
    if flag { "on" } else { "off" }
}
