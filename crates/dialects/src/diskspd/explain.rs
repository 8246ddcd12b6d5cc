//! The values in force, and where each came from.

use std::fmt::Write as _;

use super::DiskspdInput;
use super::settings::{Contents, Given, Span, SpreadUnit, Target, Throttle};
use super::sizes;

/// Most targets whose values are listed one by one.
const SHOWN_MAX: usize = 256;

/// One comment line a value, for `fathom explain`.
pub fn origins(input: &DiskspdInput) -> String {
    let mut text = String::from("# options in force, and where each came from\n");
    let spans = &input.profile.spans;
    let mut shown = 0;
    for (index, span) in spans.iter().enumerate() {
        if spans.len() > 1 {
            let _ = writeln!(text, "# timespan {}", index + 1);
        }
        lines(&mut text, input, &of_span(span), &span.given);
        let alike = span.targets.split_first();
        let alike = alike.is_some_and(|(first, rest)| rest.iter().all(|it| is_like(it, first)));
        for (number, target) in span.targets.iter().enumerate() {
            // On a command line one set of options holds for all targets.
            if (number == 0 || !alike) && shown < SHOWN_MAX {
                shown += 1;
                lines(&mut text, input, &of_target(span, target), &target.given);
            }
            let path = [("target", target.path.clone())];
            lines(&mut text, input, &path, &target.given);
        }
    }
    text.push('\n');
    text
}

fn is_like(one: &Target, other: &Target) -> bool {
    let named = |target: &Target| {
        let given = target.given.iter();
        let given = given.filter(|(name, _)| **name != "target");
        given
            .map(|(name, at)| (*name, at.start))
            .collect::<Vec<_>>()
    };
    one.is_used_like(other) && named(one) == named(other)
}

fn lines(
    text: &mut String,
    input: &DiskspdInput,
    values: &[(&'static str, String)],
    given: &Given,
) {
    for (letters, value) in values {
        let origin = match given.get(letters) {
            Some(place) => input.origins.name(place.start),
            None => "DISKSPD's default".to_owned(),
        };
        let option = match *letters {
            "target" => format!("target {value}"),
            "weight" | "pool" => value.clone(),
            letters => format!("-{letters} {value}"),
        };
        let _ = writeln!(text, "#   {option:40} {origin}");
    }
}

fn of_span(span: &Span) -> Vec<(&'static str, String)> {
    let mut all = vec![
        ("d", format!("{} s", span.duration)),
        ("W", format!("{} s", span.warmup)),
        ("C", format!("{} s", span.cooldown)),
        ("z", format!("seed {}", span.seed)),
    ];
    let threads = span.pool.map(|threads| ("F", format!("{threads} threads")));
    let requests = span.requests.filter(|_| span.pool.is_some());
    let requests = requests.map(|count| ("O", format!("{count} outstanding per thread")));
    let bucket = span
        .deviation
        .then(|| ("D", format!("{} ms", span.bucket_ms)));
    let latency = span.latency.then(|| ("L", "on".to_owned()));
    let processors = span.processors.iter().map(|(_, cpu)| cpu.to_string());
    let processors: Vec<String> = processors.collect();
    let processors = (!processors.is_empty()).then(|| ("a", processors.join(",")));
    let more = [threads, requests, bucket, latency, processors];
    all.extend(more.into_iter().flatten());
    all
}

fn of_target(span: &Span, target: &Target) -> Vec<(&'static str, String)> {
    let mut all = vec![
        ("b", sizes::show(target.block)),
        ("B", sizes::show(target.base)),
        ("w", format!("{} % writes", target.writes)),
    ];
    if span.pool.is_none() {
        all.push(("t", format!("{} threads", target.threads)));
    }
    if !span.shares_requests() {
        let depth = target.outstanding;
        all.push(("o", format!("{depth} outstanding per thread and target")));
    }
    let step = sizes::show(target.step());
    all.push(match target.random {
        Some(share) if target.given.contains_key("rs") => {
            ("rs", format!("{share} % random, aligned to {step}"))
        }
        Some(_) => ("r", format!("aligned to {step}")),
        None if target.interlocked => ("s", format!("stride {step}, shared")),
        None => ("s", format!("stride {step}")),
    });
    let through = if target.write_through { "on" } else { "off" };
    all.push(("S", format!("{:?}, write-through {through}", target.cache)));
    all.push(match &target.contents {
        _ if span.fresh_data => ("Z", "random, new for each write".to_owned()),
        Contents::Counting => ("Z", "bytes 0 to 255".to_owned()),
        Contents::Zeroes => ("Z", "zeroes".to_owned()),
        Contents::Source { size, file: None } => {
            ("Z", format!("random, from {}", sizes::show(*size)))
        }
        Contents::Source {
            size,
            file: Some(file),
        } => ("Z", format!("{} of {file}", sizes::show(*size))),
    });
    all.extend(given_alone(span, target));
    all
}

/// Values that do nothing where they are not given.
fn given_alone(span: &Span, target: &Target) -> Vec<(&'static str, String)> {
    let size = |letters, size: Option<u64>| size.map(|size| (letters, sizes::show(size)));
    let throttle = target.throttle.map(|throttle| match throttle {
        Throttle::BytesPerMs(rate) => ("g", format!("{rate} B/ms")),
        Throttle::Iops(rate) => ("g", format!("{rate} IOPS")),
    });
    let burst = target.burst.map(|burst| ("i", format!("{burst} I/Os")));
    let think = target.think_ms.map(|think| ("j", format!("{think} ms")));
    let parallel = target
        .parallel
        .then(|| ("p", "a position for each outstanding I/O".to_owned()));
    let ranges = target.spread.ranges.iter().map(|(io, length)| {
        let length = match target.spread.unit {
            SpreadUnit::Percent => format!("{length}%"),
            SpreadUnit::Absolute if *length == 0 => "rest".to_owned(),
            SpreadUnit::Absolute => sizes::show(*length),
        };
        format!("{io}%/{length}")
    });
    let ranges: Vec<String> = ranges.collect();
    let ranges = (!ranges.is_empty()).then(|| ("rd", ranges.join(":")));
    let weight = span
        .shares_requests()
        .then(|| ("weight", format!("weight {}", target.weight)));
    let all = [
        size("c", target.create),
        size("f", target.end),
        size("T", target.thread_stride),
        throttle,
        burst,
        think,
        parallel,
        ranges,
        weight,
    ];
    all.into_iter().flatten().collect()
}
