//! Latencies that are known are found again: predicted on one design, fitted on another.

use fathom_calibrate::{CalibrateError, Calibration, Task, calibrate};
use fathom_catalog::Catalog;
use fathom_model::{Design, LatencyChoice};
use fathom_record::{Ignore, Record, RunKind, SCHEMA, ToolRecord, Verdict, stage_record};
use fathom_sim::predict;
use fathom_workload::{Workload, native};
use serde_json::Value;

fn workload(text: &str) -> Workload {
    native::read(text, "w.workload.toml")
        .unwrap_or_else(|errors| panic!("{errors}"))
        .0
}

fn design(text: &str) -> Design {
    Design::read(text, "d.design.toml", Catalog::builtin())
        .unwrap_or_else(|errors| panic!("{errors}\n{text}"))
        .0
}

/// What `workload` measures on the storage of `truth`.
fn measured(workload: &Workload, truth: &str) -> Record {
    let prediction = predict(workload, &design(truth), &mut Ignore, &|| false)
        .unwrap_or_else(|error| panic!("{error}"));
    let stages = prediction
        .results
        .iter()
        .map(|result| stage_record(&workload.stages[result.stage], result));
    Record {
        schema: SCHEMA.to_owned(),
        tool: ToolRecord {
            name: "fathom".to_owned(),
            version: String::new(),
            git: String::new(),
        },
        kind: RunKind::Run,
        title: "w on d".to_owned(),
        stored: false,
        started_unix_ns: 0,
        workload: native::to_json(workload),
        design: Value::Null,
        environment: Value::Null,
        stages: stages.collect(),
        sweep: None,
        checks: Vec::new(),
        verdict: Verdict::Trustworthy,
        notes: Vec::new(),
        interrupted: false,
    }
}

fn fitted(workload_text: &str, truth: &str, other: &str) -> Result<Calibration, CalibrateError> {
    let workload = workload(workload_text);
    let record = measured(&workload, truth);
    let task = Task {
        record: &record,
        workload: &workload,
        design: other,
        design_name: "d.design.toml",
        record_name: "a\nrun",
    };
    calibrate(&task, Catalog::builtin(), &|| false)
}

#[track_caller]
fn near(found: u64, expected_us: f64) {
    let off = found as f64 / 1000.0 / expected_us - 1.0;
    assert!(off.abs() < 0.03, "{found} ns, expected {expected_us} µs");
}

fn device(name: &str, latency: &str, iops: u64) -> String {
    format!(
        "[[device]]\nname = \"{name}\"\nmount = \"/{name}\"\nsize = \"1TiB\"\niops = {iops}\nlatency = {latency}\n"
    )
}

fn job(name: &str, target: &str, keys: &str) -> String {
    format!(
        "[[stage.job]]\nname = \"{name}\"\ntarget = {{ path = \"/{target}/f\", size = \"10GiB\" }}\n{keys}\n"
    )
}

#[test]
fn a_latency_under_queues_is_found() {
    // Half of the limit's rate, in bursts of a Poisson process: what the queue adds must come off.
    let keys = "mix = { read = \"70%\", write = \"30%\" }\ndepth = 256\narrival = { rate = \"2500/s\", process = \"poisson\" }";
    let text = format!(
        "[[stage]]\nname = \"s\"\nmeasure = \"40s\"\nwarmup = \"5s\"\n{}",
        job("j", "a", keys)
    );
    let truth = device("a", "{ median = \"300us\", p99 = \"2ms\" }", 5000);
    let other = device("a", "{ median = \"5ms\", p99 = \"6ms\" }", 5000);
    let calibration = fitted(&text, &truth, &other).unwrap_or_else(|error| panic!("{error}"));
    let fit = &calibration.fits[0];
    near(fit.median.get(), 300.0);
    near(fit.p99.get(), 2000.0);
    assert!(
        fit.error.most.abs() < 0.05 && !fit.error.is_poor(),
        "{:?}",
        fit.error
    );
    let comment = "# fathom calibrate: measured by a run (w on d): the prediction is off by ";
    assert!(
        calibration.design.contains(comment),
        "{}",
        calibration.design
    );
}

/// A stage that is called as the repeat of another would be is fitted by itself.
#[test]
fn a_stage_called_like_a_repeat_is_another() {
    let text = format!(
        "[[stage]]\nname = \"s\"\nmeasure = \"20s\"\nrepeats = 2\n{}[[stage]]\nname = \"s #2\"\nmeasure = \"20s\"\n{}",
        job("j", "a", "depth = 1"),
        job("k", "b", "depth = 1"),
    );
    let truth = [
        device("a", "{ median = \"300us\", p99 = \"2ms\" }", 100_000),
        device("b", "{ median = \"3ms\", p99 = \"20ms\" }", 100_000),
    ];
    let same = "{ median = \"1ms\", p99 = \"2ms\" }";
    let other = ["a", "b"].map(|name| device(name, same, 100_000));
    let calibration = fitted(&text, &truth.concat(), &other.concat());
    let calibration = calibration.unwrap_or_else(|error| panic!("{error}"));
    near(calibration.fits[0].median.get(), 300.0);
    near(calibration.fits[1].median.get(), 3000.0);
}

#[test]
fn volumes_of_several_tables_are_fitted_at_once() {
    let vm = |latencies: [&str; 2]| {
        format!(
            "[[vm]]\nname = \"vm\"\nsize = \"Standard_DS14\"\nera = \"2016\"\n\
             [[vm.volume]]\nname = \"a\"\nmount = \"/a\"\ndisks = {{ type = \"P30\", count = 4 }}\ncaching = \"none\"\n{}\
             [[vm.volume]]\nname = \"b{{1..2}}\"\nmount = \"/b{{1..2}}\"\ndisks = {{ type = \"P30\" }}\ncaching = \"none\"\n{}",
            latencies[0], latencies[1]
        )
    };
    let text = format!(
        "[[stage]]\nname = \"s\"\nmeasure = \"60s\"\n{}{}{}",
        job("a", "a", "depth = 4"),
        job("b", "b1", "depth = 2\nmix = \"write\""),
        job("c", "b2", "depth = 3\nblock = \"16KiB\""),
    );
    let truth = vm([
        "latency = { median = \"900us\", p99 = \"4ms\" }\n",
        "latency = { median = \"2500us\", p99 = \"9ms\" }\n",
    ]);
    let calibration =
        fitted(&text, &truth, &vm(["", ""])).unwrap_or_else(|error| panic!("{error}"));
    let found: Vec<_> = calibration
        .fits
        .iter()
        .map(|fit| fit.volumes.as_slice())
        .collect();
    assert_eq!(
        found,
        [
            vec!["vm/a".to_owned()],
            vec!["vm/b1".to_owned(), "vm/b2".to_owned()]
        ]
    );
    near(calibration.fits[0].median.get(), 900.0);
    near(calibration.fits[0].p99.get(), 4000.0);
    near(calibration.fits[1].median.get(), 2500.0);
    near(calibration.fits[1].p99.get(), 9000.0);
    let assumed = |design: &Design| design.notes.iter().any(|note| note.contains("assumed"));
    assert!(assumed(&design(&vm(["", ""]))));
    let new = design(&calibration.design);
    assert!(!assumed(&new), "{:?}", new.notes);
    let known = |volume: fathom_model::AnyVolume<'_>| {
        matches!(volume.latency(), LatencyChoice::LogNormal { .. })
    };
    assert!(new.volumes().all(known));
}

#[test]
fn a_saturated_limit_tells_nothing() {
    let text = format!(
        "[[stage]]\nname = \"s\"\nmeasure = \"20s\"\n{}{}",
        job("full", "a", "depth = 64"),
        job("idle", "b", "depth = 1")
    );
    let storage = device("a", "{ median = \"1ms\", p99 = \"4ms\" }", 1000)
        + &device("b", "{ median = \"1ms\", p99 = \"4ms\" }", 5000);
    let calibration = fitted(&text, &storage, &storage).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(calibration.fits.len(), 1);
    assert_eq!(calibration.fits[0].volumes, ["b"]);
    assert!(
        calibration.left_out[0].starts_with("`a`: saturated at `device-iops`"),
        "{:?}",
        calibration.left_out
    );
    let full = format!(
        "[[stage]]\nname = \"s\"\nmeasure = \"20s\"\n{}",
        job("full", "a", "depth = 64")
    );
    let refused = fitted(&full, &storage, &storage);
    assert!(
        matches!(&refused, Err(CalibrateError::NothingToFit { reasons }) if reasons.len() == 1),
        "{refused:?}"
    );
}

#[test]
fn few_ios_tell_no_percentile() {
    let text = format!(
        "[[stage]]\nname = \"s\"\nmeasure = {{ ios = 500 }}\n{}",
        job("few", "a", "depth = 1")
    );
    let storage = device("a", "{ median = \"1ms\", p99 = \"4ms\" }", 1000);
    let refused = fitted(&text, &storage, &storage).map(|done| done.fits);
    let told = refused
        .as_ref()
        .err()
        .map(ToString::to_string)
        .unwrap_or_default();
    assert!(told.contains("500 I/Os tell no 99th percentile"), "{told}");
}

#[test]
fn a_path_that_nothing_serves_is_told() {
    let text = format!(
        "[[stage]]\nname = \"s\"\nmeasure = \"5s\"\n{}",
        job("j", "a", "depth = 1")
    );
    let storage = device("a", "{ median = \"1ms\", p99 = \"4ms\" }", 1000);
    let other = device("b", "{ median = \"1ms\", p99 = \"4ms\" }", 1000);
    let refused = fitted(&text, &storage, &other).map(|done| done.fits);
    let told = refused
        .as_ref()
        .err()
        .map(ToString::to_string)
        .unwrap_or_default();
    assert!(
        told.contains("nothing in the design serves `/a/f`"),
        "{told}"
    );
}

/// A record of a whole device does not say how large it was.
#[test]
fn a_whole_device_takes_all_of_the_volume_that_it_is_mapped_to() {
    let text = "[[stage]]\nname = \"s\"\nmeasure = \"20s\"\n[[stage.job]]\nname = \"j\"\n\
                target = { path = \"/dev/nvme1n1\" }\ndepth = 1\n";
    let own = workload(text);
    let truth = device("a", "{ median = \"300us\", p99 = \"2ms\" }", 100_000);
    let record = measured(&own, &truth.replace("\"/a\"", "\"/dev/nvme1n1\""));
    let other = device("a", "{ median = \"5ms\", p99 = \"6ms\" }", 100_000);
    for (path, mount, whole) in [
        ("/dev/nvme1n1", "/dev/nvme1n1", &[][..]),
        (
            "/a/all",
            "/a",
            &["`/dev/nvme1n1` was measured as a whole: `/a/all` takes all of `a` (1 TiB)"],
        ),
    ] {
        let mapped = workload(&text.replace("/dev/nvme1n1", path));
        let design = other.replace("\"/a\"", &format!("\"{mount}\""));
        let task = Task {
            record: &record,
            workload: &mapped,
            design: &design,
            design_name: "d.design.toml",
            record_name: "a run",
        };
        let calibration = calibrate(&task, Catalog::builtin(), &|| false);
        let calibration = calibration.unwrap_or_else(|error| panic!("{path}: {error}"));
        near(calibration.fits[0].median.get(), 300.0);
        assert_eq!(calibration.whole, whole);
    }
}
