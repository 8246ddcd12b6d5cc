//! Importers against what the tools really wrote, and against what nobody should have written.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod azure;
mod formats;
mod live;
mod perfmon;
mod refusals;
mod zones;

use std::path::PathBuf;

use fathom_observe::import::{self, Options};
use fathom_observe::{Device, Observation, Ops};

/// A file that a tool wrote.
fn sample(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/import/samples")
        .join(name)
}

/// Options that name devices.
fn only(devices: &[&str]) -> Options {
    Options {
        devices: devices.iter().map(|name| (*name).to_owned()).collect(),
        ..Options::default()
    }
}

#[track_caller]
fn read(names: &[&str], options: &Options) -> Observation {
    let paths: Vec<PathBuf> = names.iter().map(|name| sample(name)).collect();
    import::read_files(&paths, options).unwrap_or_else(|error| panic!("{error}"))
}

#[track_caller]
fn read_text(text: &str, options: &Options) -> Observation {
    import::read(text.as_bytes(), "log", options).unwrap_or_else(|error| panic!("{error}"))
}

#[track_caller]
fn refused(bytes: &[u8], name: &str, options: &Options) -> String {
    match import::read(bytes, name, options) {
        Ok(observation) => panic!("taken: {observation:?}"),
        Err(error) => {
            assert!(error.has_errors());
            for diagnostic in &error.0 {
                assert!(
                    diagnostic.hint.is_some(),
                    "says not what to do: {diagnostic}"
                );
            }
            error.to_string()
        }
    }
}

#[track_caller]
fn device<'a>(observation: &'a Observation, name: &str) -> &'a Device {
    let found = observation
        .devices
        .iter()
        .find(|device| device.name == name);
    found.unwrap_or_else(|| panic!("no `{name}`: {observation:?}"))
}

/// What a device did over all its samples: its reads, its writes, the seconds covered.
fn total(device: &Device) -> (Ops, Ops, f64) {
    let add = |sum: &mut Ops, ops: Option<Ops>| {
        let Some(ops) = ops else { return };
        sum.count += ops.count;
        *sum.bytes.get_or_insert(0.0) += ops.bytes.unwrap_or(0.0);
        let time = sum.time.unwrap_or_default();
        sum.time = Some(time.saturating_add(ops.time.unwrap_or_default()));
    };
    let (mut reads, mut writes, mut seconds) = (Ops::default(), Ops::default(), 0.0);
    for sample in &device.samples {
        add(&mut reads, sample.reads);
        add(&mut writes, sample.writes);
        seconds += sample.length.as_secs_f64();
    }
    (reads, writes, seconds)
}

/// Samples are in order and do not overlap.
#[track_caller]
fn in_order(observation: &Observation) {
    for device in &observation.devices {
        let mut last = i64::MIN;
        for sample in &device.samples {
            let begin = sample.at_unix_ns - i64::try_from(sample.length.get()).unwrap();
            assert!(begin >= last, "{}: {sample:?} after {last}", device.name);
            last = sample.at_unix_ns;
        }
    }
}

#[track_caller]
fn says(observation: &Observation, part: &str) {
    assert!(
        observation.doubts.iter().any(|doubt| doubt.contains(part)),
        "no doubt says `{part}`: {:#?}",
        observation.doubts
    );
}

#[track_caller]
fn near(found: f64, expected: f64, share: f64) {
    assert!(
        (found - expected).abs() <= expected.abs() * share,
        "{found} is not within {share} of {expected}"
    );
}
