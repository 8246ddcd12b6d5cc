//! A checklist as one JSON document (schema `fathom.observe/1`): what the page says, from the same structures.
//!
//! Keys end in their unit. Sentences are those of the page; what the source cannot know is `null`.

use fathom_profile::{Level, Levels, Period, Volume};
use fathom_units::{Bytes, BytesPerSec, Iops, Nanos, Percent};
use serde_json::{Map, Value, json};

use crate::checklist::Checklist;
use crate::samples::{Device, Observation};
use crate::verdict::{Finding, verdicts};

/// Of this document; a key keeps its meaning within a version.
const SCHEMA: &str = "fathom.observe/1";

/// The whole document. `interrupted` is whether the observation was ended before its time.
pub fn document(seen: &Observation, list: &Checklist, interrupted: bool) -> Value {
    let profile = &list.profile;
    let unknown = seen.unknown.iter();
    let unknown = unknown.map(|it| json!({ "figure": it.figure, "reason": it.reason }));
    let verdicts = verdicts(seen);
    let verdicts = verdicts.iter().map(|it| {
        json!({
            "volume": it.device,
            "what": it.what,
            "finding": match it.finding {
                Finding::Fine => "fine",
                Finding::Concern => "concern",
                Finding::Unknown => "unknown",
            },
            "evidence": it.evidence,
        })
    });
    json!({
        "schema": SCHEMA,
        "name": profile.name,
        "source": seen.source,
        "interrupted": interrupted,
        "transactions_per_sec": profile.transactions_per_sec,
        "growth": profile.growth.to_string(),
        "machine": machine_json(list),
        "volumes": profile.volumes.iter().map(|it| volume_json(list, it)).collect::<Vec<_>>(),
        "processes": seen.devices.iter().filter_map(processes_json).collect::<Vec<_>>(),
        "rules": list.rules,
        "notes": list.notes,
        "unknown": unknown.collect::<Vec<_>>(),
        "doubts": seen.doubts,
        "verdicts": verdicts.collect::<Vec<_>>(),
        "profile_toml": profile.to_toml(),
    })
}

fn machine_json(list: &Checklist) -> Value {
    let profile = &list.profile;
    json!({
        "logical_processors": profile.logical_processors,
        "average_processors_percent": levels(&profile.processors, percent),
        "peak_processors_percent": levels(&profile.peak_processors, percent),
        "average_memory_bytes": levels(&profile.memory, Bytes::get),
        "peak_memory_bytes": levels(&profile.peak_memory, Bytes::get),
    })
}

fn volume_json(list: &Checklist, volume: &Volume) -> Value {
    let periods = volume.periods.iter();
    json!({
        "volume": volume.name,
        "role": volume.role.name(),
        "capacity_bytes": volume.capacity.map(Bytes::get),
        "periods": periods.map(|it| period_json(list, volume, it)).collect::<Vec<_>>(),
    })
}

fn period_json(list: &Checklist, volume: &Volume, period: &Period) -> Value {
    let place = (volume.name.clone(), period.kind.name());
    let single = list.sizes.get(&place).copied().unwrap_or_default();
    json!({
        "period": period.kind.name(),
        "iops": levels(&period.iops, Iops::get),
        "reads_percent": levels(&period.reads, percent),
        "random_percent": levels(&period.random, percent),
        "mean_size_bytes": levels(&period.size, Bytes::get),
        "size_bytes": levels(&single, Bytes::get),
        "bandwidth_bytes_per_sec": levels(&period.throughput, BytesPerSec::get),
        "average_bandwidth_bytes_per_sec": levels(&period.average_throughput, BytesPerSec::get),
        "peak_bandwidth_bytes_per_sec": levels(&period.peak_throughput, BytesPerSec::get),
        "minimum_latency_ns": levels(&period.minimum_latency, Nanos::get),
        "average_latency_ns": levels(&period.average_latency, Nanos::get),
        "latency_ns": levels(&period.latency, Nanos::get),
        "queue_depth_ios": levels(&period.queue_depth, |depth| depth),
    })
}

/// Who issued a device's I/Os, most first; `None` where they were not traced.
fn processes_json(device: &Device) -> Option<Value> {
    let traced = device
        .traced
        .as_ref()
        .filter(|it| !it.processes.is_empty())?;
    let processes = traced.processes.iter();
    let processes = processes.map(|(name, ios)| json!({ "name": name, "ios": ios }));
    Some(json!({ "volume": device.name, "processes": processes.collect::<Vec<_>>() }))
}

fn percent(share: Percent) -> f64 {
    f64::from(share.basis_points()) / 100.0
}

/// `{"p50": 1, "p90": 2, "p99": null}`; `null` where none is known.
fn levels<T: Copy + PartialEq, V: Into<Value>>(
    levels: &Levels<T>,
    value: impl Fn(T) -> V,
) -> Value {
    if levels.is_unknown() {
        return Value::Null;
    }
    let figures = Level::ALL.map(|level| {
        let figure = levels.at(level).map_or(Value::Null, |it| value(it).into());
        (level.name().to_owned(), figure)
    });
    Value::Object(figures.into_iter().collect::<Map<_, _>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checklist::About;
    use crate::samples::{Ops, Sample, Traced, Unknown};
    use jiff::tz::TimeZone;

    #[test]
    fn the_document_has_the_figures_of_the_page_and_null_for_what_is_unknown() {
        let ops = |count: f64| Ops {
            count,
            bytes: Some(count * 4096.0),
            time: None,
            merged: None,
        };
        let sample = |second: i64| Sample {
            at_unix_ns: second * 1_000_000_000,
            length: Nanos::from_secs(1),
            reads: Some(ops(30.0)),
            writes: Some(ops(10.0)),
            ..Sample::default()
        };
        let traced = Traced {
            processes: vec![("db".to_owned(), 40)],
            ..Traced::default()
        };
        let seen = Observation {
            source: "a log".to_owned(),
            devices: vec![Device {
                name: "sda".to_owned(),
                capacity: Some(Bytes::gib(1)),
                samples: (1..=20).map(sample).collect(),
                traced: Some(traced),
                ..Device::default()
            }],
            unknown: vec![Unknown {
                figure: "latency",
                reason: "it is not told",
            }],
            doubts: vec!["a gap".to_owned()],
            ..Observation::default()
        };
        let about = About {
            name: "shop".to_owned(),
            ..About::default()
        };
        let list = Checklist::of(&seen, &about, TimeZone::UTC).unwrap();
        let found = document(&seen, &list, true);
        for (path, expected) in [
            ("/schema", json!("fathom.observe/1")),
            ("/name", json!("shop")),
            ("/source", json!("a log")),
            ("/interrupted", json!(true)),
            ("/transactions_per_sec", Value::Null),
            ("/machine/logical_processors", Value::Null),
            ("/volumes/0/volume", json!("sda")),
            ("/volumes/0/role", json!("data")),
            ("/volumes/0/capacity_bytes", json!(1u64 << 30)),
            ("/volumes/0/periods/0/period", json!("peak")),
            ("/volumes/0/periods/0/iops/p99", json!(40)),
            ("/volumes/0/periods/0/reads_percent/p50", json!(75.0)),
            ("/volumes/0/periods/0/mean_size_bytes/p90", json!(4096)),
            ("/volumes/0/periods/0/size_bytes", Value::Null),
            ("/volumes/0/periods/0/latency_ns", Value::Null),
            (
                "/volumes/0/periods/0/bandwidth_bytes_per_sec/p50",
                json!(163_840),
            ),
            ("/processes/0/processes/0/name", json!("db")),
            ("/unknown/0/reason", json!("it is not told")),
            ("/doubts/0", json!("a gap")),
            ("/verdicts/0/finding", json!("unknown")),
        ] {
            assert_eq!(found.pointer(path), Some(&expected), "{path}: {found:#}");
        }
        assert_eq!(found["rules"], json!(list.rules));
        let profile = found["profile_toml"].as_str().unwrap();
        let (read, _) = fathom_profile::Profile::read(profile, "shop.profile.toml").unwrap();
        assert_eq!(read, list.profile);
    }
}
