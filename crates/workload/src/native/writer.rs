//! Writing of a workload as a native file, and as JSON of the same shape.
//!
//! Everything is written out, defaults too: a file in a run's folder must mean the same when defaults have changed.
//! Values are exact, unlike those shown to people: 4,000 bytes are `4000B`, not `3.91KiB`.

use fathom_diagnostics::{Diagnostic, Diagnostics};
use fathom_units::{Bytes, Nanos, Percent};
use toml::{Table, Value};

use super::placement::{filling, placement};
use super::rate_from::rate_from;
use super::values::ONE_PASS;
use super::words::{
    ACCESS_KINDS, AccessKind, BACKENDS, CACHINGS, CONTENTS, EXISTING, FILE_CHOICES, OPEN_SYNCS,
    PROCESSES, SCOPES, WHEN_FULL, word,
};
use crate::{
    Access, Arrival, BlockSizes, Coverage, Direction, Job, Limits, Mix, Pacing, Place, Stage,
    SyncPolicy, Target, WeightedSize, Workload,
};

/// The workload as the text of a native file; [`super::read_written`] gives the same workload back.
pub fn write(workload: &Workload) -> String {
    let mut text = String::new();
    section(&mut text, "", &[("seed", count(workload.seed))]);
    for stage in &workload.stages {
        section(
            &mut text,
            "\n[[stage]]\n",
            &stage_keys(stage, &workload.stages),
        );
        for job in &stage.jobs {
            section(&mut text, "\n[[stage.job]]\n", &job_keys(job));
        }
    }
    text
}

/// The workload as JSON, with the keys and values of the native file.
pub fn to_json(workload: &Workload) -> serde_json::Value {
    let object = |keys: Vec<(&'static str, Value)>| {
        let entries = keys
            .into_iter()
            .map(|(key, value)| (key.to_owned(), json(value)));
        entries.collect::<serde_json::Map<_, _>>()
    };
    let stage = |stage: &Stage| {
        let mut keys = object(stage_keys(stage, &workload.stages));
        let jobs = stage.jobs.iter().map(|job| object(job_keys(job)));
        let jobs: Vec<serde_json::Value> = jobs.map(serde_json::Value::Object).collect();
        keys.insert("job".to_owned(), jobs.into());
        serde_json::Value::Object(keys)
    };
    let stages: Vec<serde_json::Value> = workload.stages.iter().map(stage).collect();
    serde_json::json!({ "seed": json(count(workload.seed)), "stage": stages })
}

/// Reads what [`to_json`] gave. `name` is the document's in complaints.
///
/// # Errors
/// All complaints at once; places in them are those of the document's keys, written as a native file.
pub fn from_json(document: &serde_json::Value, name: &str) -> Result<Workload, Diagnostics> {
    let text = toml::to_string(document).map_err(|error| {
        let message = format!("`{name}` is no workload: {error}");
        Diagnostics(vec![Diagnostic::error(message)])
    })?;
    super::read_written(&text, name).map(|(workload, _)| workload)
}

fn json(value: Value) -> serde_json::Value {
    match value {
        Value::String(text) => text.into(),
        Value::Integer(number) => number.into(),
        Value::Float(number) => number.into(),
        Value::Boolean(truth) => truth.into(),
        Value::Datetime(date) => date.to_string().into(),
        Value::Array(list) => list.into_iter().map(json).collect(),
        Value::Table(table) => table
            .into_iter()
            .map(|(key, value)| (key, json(value)))
            .collect(),
    }
}

/// Adds keys with their values on one line each.
fn section(text: &mut String, header: &str, keys: &[(&'static str, Value)]) {
    text.push_str(header);
    for (key, value) in keys {
        text.push_str(key);
        text.push_str(" = ");
        text.push_str(&value.to_string());
        text.push('\n');
    }
}

fn stage_keys(stage: &Stage, stages: &[Stage]) -> Vec<(&'static str, Value)> {
    let mut keys = vec![
        ("name", stage.name.as_str().into()),
        ("repeats", count(stage.repeats)),
        ("cooldown", time(stage.cooldown)),
        ("discard", stage.discard.into()),
    ];
    let rate = stage.rate_from.as_ref();
    keys.extend(rate.map(|rate| ("rate_from", rate_from(rate, stages))));
    keys
}

fn job_keys(job: &Job) -> Vec<(&'static str, Value)> {
    let group = [
        ("id", count(job.group.id)),
        ("together", job.group.together.into()),
    ];
    let mut keys = vec![("name", job.name.as_str().into()), ("group", table(group))];
    if let Some(host) = &job.host {
        keys.push(("host", host.as_str().into()));
    }
    match job.targets.as_slice() {
        [only] => keys.push(("target", target(only))),
        several => {
            let list = several.iter().map(target).collect();
            keys.push(("targets", Value::Array(list)));
        }
    }
    keys.extend([
        ("file_choice", word(FILE_CHOICES, &job.file_choice).into()),
        ("workers", count(job.workers)),
        ("depth", count(job.depth)),
        ("mix", mix(job.mix)),
        ("access", access(job.access)),
        ("block", block(&job.block)),
        ("arrival", arrival(job.arrival)),
        ("start_delay", time(job.limits.start_delay)),
        ("warmup", time(job.limits.warmup)),
        ("measure", measure(&job.limits)),
        ("sync", sync(job.sync)),
        ("contents", word(CONTENTS, &job.contents).into()),
        ("backend", word(BACKENDS, &job.backend).into()),
        ("caching", word(CACHINGS, &job.caching).into()),
        ("existing", word(EXISTING, &job.existing).into()),
        ("split_latency", job.split_latency.into()),
        ("drop_cache", job.drop_cache.into()),
        ("unlink", job.unlink.into()),
        ("salt", count(job.salt)),
    ]);
    if let Some(rules) = &job.features.placement {
        keys.push(("placement", placement(rules)));
    }
    if !job.features.lines.is_empty() {
        keys.push(("lines", super::lines::value(&job.features.lines)));
    }
    if let Some(rules) = &job.features.filling {
        keys.push(("filling", filling(rules)));
    }
    keys.extend(super::features::keys(job));
    keys
}

fn table<const N: usize>(entries: [(&str, Value); N]) -> Value {
    let entries = entries.into_iter();
    Value::Table(
        entries
            .map(|(key, value)| (key.to_owned(), value))
            .collect(),
    )
}

/// A whole number; past 2^63, which TOML has not, as a string of digits.
pub(super) fn count(number: impl Into<u64>) -> Value {
    let number = number.into();
    i64::try_from(number).map_or_else(|_| number.to_string().into(), Value::Integer)
}

/// The largest IEC unit that is exact.
pub(super) fn size(bytes: Bytes) -> Value {
    const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let mut number = bytes.get();
    let mut unit = 0;
    while number != 0 && number.is_multiple_of(1024) && unit + 1 < UNITS.len() {
        number /= 1024;
        unit += 1;
    }
    format!("{number}{}", UNITS[unit]).into()
}

/// The largest unit up to seconds that is exact.
pub(super) fn time(time: Nanos) -> Value {
    let nanos = time.get();
    let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")];
    let unit = units
        .into_iter()
        .find(|(scale, _)| nanos.is_multiple_of(*scale));
    let (scale, unit) = unit.unwrap_or((1, "ns"));
    format!("{}{unit}", nanos / scale).into()
}

/// Percent with as many decimals as needed.
pub(super) fn share(share: Percent) -> Value {
    let (whole, part) = (share.basis_points() / 100, share.basis_points() % 100);
    if part == 0 {
        format!("{whole}%").into()
    } else {
        format!("{whole}.{part:02}%").into()
    }
}

fn target(target: &Target) -> Value {
    let mut keys = Table::new();
    let key = match &target.place {
        Place::Path(_) => "path",
        Place::FreshFileIn(_) => "directory",
        Place::FileSet(set) => return Value::Table(super::file_set::target(set)),
    };
    keys.insert(key.to_owned(), target.place.path().into());
    if target.offset != Bytes::ZERO {
        keys.insert("offset".to_owned(), size(target.offset));
    }
    if let Some(length) = target.length {
        keys.insert("size".to_owned(), size(length));
    }
    Value::Table(keys)
}

fn mix(mix: Mix) -> Value {
    let used = Direction::ALL
        .into_iter()
        .filter(|way| mix.share(*way) > Percent::ZERO);
    let shares = used.map(|way| (way.name().to_owned(), share(mix.share(way))));
    Value::Table(shares.collect())
}

fn access(access: Access) -> Value {
    let kind = |kind: AccessKind| ("kind", word(ACCESS_KINDS, &kind).into());
    match access {
        Access::Sequential { gap, scope } => table([
            kind(AccessKind::Sequential),
            ("gap", size(gap)),
            ("scope", word(SCOPES, &scope).into()),
        ]),
        Access::Random { coverage, run } => {
            let which = match coverage {
                Coverage::EachBlockOnce => AccessKind::EachBlockOnce,
                Coverage::Independent => AccessKind::Independent,
            };
            table([kind(which), ("run", count(run))])
        }
        Access::Mixed { random } => table([kind(AccessKind::Mixed), ("random", share(random))]),
    }
}

fn block(block: &BlockSizes) -> Value {
    let same = block.read == block.write && block.read == block.trim;
    if same && block.alignment.is_none() {
        return sizes(&block.read);
    }
    let lists = Direction::ALL.map(|way| (way.name().to_owned(), sizes(block.of(way))));
    let mut keys: Table = lists.into_iter().collect();
    if let Some(alignment) = block.alignment {
        keys.insert("alignment".to_owned(), size(alignment));
    }
    Value::Table(keys)
}

pub(super) fn sizes(sizes: &[WeightedSize]) -> Value {
    if let [
        WeightedSize {
            size: only,
            weight: 1,
        },
    ] = sizes
    {
        return size(*only);
    }
    let entry =
        |entry: &WeightedSize| table([("size", size(entry.size)), ("weight", count(entry.weight))]);
    Value::Array(sizes.iter().map(entry).collect())
}

fn arrival(arrival: Arrival) -> Value {
    let Arrival::Open {
        rate,
        poisson,
        when_full,
    } = arrival
    else {
        return "closed".into();
    };
    let rate = match rate {
        Pacing::Iops(iops) => format!("{}/s", iops.get()),
        Pacing::Bytes(bytes) => format!("{}B/s", bytes.get()),
    };
    table([
        ("rate", rate.into()),
        ("process", word(PROCESSES, &poisson).into()),
        ("when_full", word(WHEN_FULL, &when_full).into()),
    ])
}

fn measure(limits: &Limits) -> Value {
    let mut keys = Table::new();
    let mut add = |key: &str, value| keys.insert(key.to_owned(), value);
    if let Some(runtime) = limits.runtime {
        add("time", time(runtime));
    }
    if let Some(bytes) = limits.bytes {
        add("bytes", size(bytes));
    }
    if let Some(ios) = limits.ios {
        add("ios", count(ios));
    }
    if limits.loops != 0 {
        add("passes", count(limits.loops));
    }
    if keys.is_empty() && !limits.time_based {
        return ONE_PASS.into();
    }
    keys.insert("start_over".to_owned(), limits.time_based.into());
    Value::Table(keys)
}

fn sync(sync: SyncPolicy) -> Value {
    table([
        ("open", word(OPEN_SYNCS, &sync.open).into()),
        ("fsync_every", count(sync.fsync_every)),
        ("fdatasync_every", count(sync.fdatasync_every)),
        ("at_end", sync.at_end.into()),
        ("on_close", sync.on_close.into()),
    ])
}
