//! `--sweep` and `fathom calibrate` as a person meets them.

mod support;

use serde_json::Value;
use support::{disk_folder, expect_code};

const DESIGN: &str = "\
[[device]]
name = \"san\"
mount = \"/san\"
size = \"1TiB\"
iops = 8000
latency = { median = \"1ms\", p99 = \"3ms\" }

[[device]]
name = \"spare\"
mount = \"/spare\"
size = \"1TiB\"
";

/// Paths of a design and of a fio job file on it, in a folder of their own.
struct Case {
    folder: tempfile::TempDir,
    design: String,
    job: String,
}

fn case() -> Case {
    let folder = disk_folder();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (design, job) = (path("san.design.toml"), path("job.fio"));
    let text = "[global]\ndirectory=/san\nsize=10g\ndirect=1\nioengine=libaio\nruntime=4\ntime_based\n[j]\nrw=randread\n";
    std::fs::write(&design, DESIGN).unwrap_or_else(|error| panic!("{error}"));
    std::fs::write(&job, text).unwrap_or_else(|error| panic!("{error}"));
    Case {
        folder,
        design,
        job,
    }
}

impl Case {
    #[track_caller]
    fn run(&self, words: &[&str], code: i32) -> (String, String) {
        expect_code(self.folder.path(), words, code)
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }
}

#[test]
fn a_fio_job_is_swept_and_its_knee_found() {
    let case = case();
    let sweep = "depth=1..64x2,block=4k,8k";
    let words = ["predict", "--on", &case.design, "--sweep", sweep, &case.job];
    let (shown, _) = case.run(&words, 0);
    for text in [
        "knee     block=4k: depth=8,",
        "mean latency over IOPS",
        "no job uses `spare` (`/spare`, san.design.toml:",
    ] {
        assert!(shown.contains(text), "`{text}` is not in\n{shown}");
    }
    assert!(
        shown.lines().all(|line| line.chars().count() <= 80),
        "{shown}"
    );
    let words = [
        "predict",
        "--on",
        &case.design,
        "--json",
        "--sweep",
        "depth=1..64x2",
        "--sweep",
        "block=4k,8k",
        &case.job,
    ];
    let (document, _) = case.run(&words, 0);
    let record: Value = serde_json::from_str(&document).unwrap_or_default();
    let curves = record["sweep"]["curves"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    assert_eq!(curves.len(), 2);
    assert_eq!(curves[1]["points"].as_array().map(Vec::len), Some(7));
    assert_eq!(curves[0]["knee"]["stage"], "depth=8 block=4k");
    assert_eq!(record["stages"].as_array().map(Vec::len), Some(14));
    let (again, _) = case.run(&["report", "last"], 0);
    assert!(again.contains("knee     block=8k: depth=8,"), "{again}");
}

#[test]
fn a_wrong_sweep_says_what_to_do() {
    let case = case();
    let words = |sweep: &'static str| {
        ["predict", "--on", &case.design, "--sweep", sweep, &case.job].map(str::to_owned)
    };
    for (sweep, told) in [
        ("depth=1..64", "1..64x2"),
        ("deph=1", "did you mean `depth`?"),
        ("depth=1..2000+1", "over 1000 values"),
    ] {
        let words = words(sweep);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let (_, stderr) = case.run(&words, 2);
        assert!(stderr.contains(told), "{stderr}");
    }
    // A block that does not fit the target is what any workload's would be.
    let words = words("block=4k,3000");
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (_, stderr) = case.run(&words, 3);
    assert!(stderr.contains("3000"), "{stderr}");
}

#[test]
fn a_path_that_nothing_serves_is_shown_where_it_stands() {
    let case = case();
    let other = case.path("other.fio");
    let text = "[global]\nsize=1g\nruntime=1\n[j]\nfilename=/sna/file\n";
    std::fs::write(&other, text).unwrap_or_else(|error| panic!("{error}"));
    let (_, stderr) = case.run(&["predict", "--on", &case.design, &other], 3);
    assert!(stderr.contains("other.fio:5:1"), "{stderr}");
    assert!(stderr.contains("--map /sna=/san"), "{stderr}");
}

#[test]
fn a_design_is_fitted_to_a_stored_run() {
    let case = case();
    let sweep = [
        "predict",
        "--on",
        &case.design,
        "--sweep",
        "depth=1,2",
        &case.job,
    ];
    case.run(&sweep, 0);
    let guess = case.path("guess.design.toml");
    let text = DESIGN.replace(
        "median = \"1ms\", p99 = \"3ms\"",
        "median = \"5ms\", p99 = \"9ms\"",
    );
    std::fs::write(&guess, &text).unwrap_or_else(|error| panic!("{error}"));
    let fitted = case.path("fitted.design.toml");
    let words = ["calibrate", "last", "--on", &guess, "-o", &fitted];
    let (stdout, stderr) = case.run(&words, 0);
    assert!(stdout.contains("written to"), "{stdout}");
    assert!(stderr.contains("this record is a prediction"), "{stderr}");
    let new = std::fs::read_to_string(&fitted).unwrap_or_default();
    assert!(
        new.contains("-predict (job.fio on san.design.toml, 2 points): the prediction is off by"),
        "{new}"
    );
    let table: toml::Table = new.parse().unwrap_or_default();
    let median = table["device"][0]["latency"]["median"]
        .as_str()
        .unwrap_or_default();
    let median: fathom_units::Nanos = median.parse().unwrap_or_default();
    assert!((970_000..1_030_000).contains(&median.get()), "{median}");
    let again = case.path("again.design.toml");
    let words_json = ["calibrate", "last", "--on", &guess, "-o", &again, "--json"];
    let (document, stderr) = case.run(&words_json, 0);
    assert!(stderr.contains("this record is a prediction"), "{stderr}");
    is_document(&document, (&stdout, &new, &again));
    // What is there already stays as it is, and nothing is printed.
    let (document, _) = case.run(&words_json, 4);
    assert_eq!(document, "");
    let (_, stderr) = case.run(&words, 4);
    assert!(
        stderr.contains("exists") && stderr.contains("hint:"),
        "{stderr}"
    );
    let predicted = ["predict", "--on", &fitted, &case.job];
    let (shown, _) = case.run(&predicted, 0);
    assert!(!shown.contains("assumed"), "{shown}");
}

/// What `calibrate --json` prints is the text's, beside the design that is written.
#[track_caller]
fn is_document(document: &str, (text, design, path): (&str, &str, &str)) {
    let document: Value = serde_json::from_str(document).expect("one document");
    assert_eq!(document["schema"], "fathom.calibrate/1");
    assert_eq!(document["record"]["is_measured"], false);
    assert_eq!(document["written_to"], path);
    assert_eq!(document["design_toml"], design);
    let written = std::fs::read_to_string(path).unwrap_or_default();
    assert_eq!(written, design);
    let fits = document["fits"].as_array().expect("fits");
    assert_eq!(fits.len(), 1, "{document}");
    let figure = |pointer: &str| fits[0].pointer(pointer).and_then(Value::as_u64);
    let time = |pointer: &str| fathom_units::Nanos::new(figure(pointer).unwrap_or_default());
    let [median, p99] = ["/media_latency/median_ns", "/media_latency/p99_ns"].map(time);
    let says = format!("media latency  median {median}, p99 {p99}\n");
    assert!(text.contains(&says), "no `{says}` in {text}");
    let page = include_str!("../../../docs/methodology.md");
    let all = [&document, &document["record"], &fits[0]];
    let deeper = ["measured", "media_latency", "off"].map(|key| &fits[0][key]);
    let objects = all.into_iter().chain(deeper);
    for key in objects
        .filter_map(|it| it.as_object())
        .flat_map(|it| it.keys())
    {
        assert!(
            page.contains(&format!("`{key}`")),
            "`{key}` is not in docs/methodology.md"
        );
    }
}

#[test]
fn a_saturated_run_is_refused() {
    let case = case();
    case.run(
        &[
            "predict",
            "--on",
            &case.design,
            "--sweep",
            "depth=64",
            &case.job,
        ],
        0,
    );
    let fitted = case.path("fitted.design.toml");
    let words = ["calibrate", "last", "--on", &case.design, "-o", &fitted];
    let (_, stderr) = case.run(&words, 3);
    assert!(stderr.contains("saturated at `device-iops`"), "{stderr}");
    assert!(stderr.contains("--sweep depth=1..8x2"), "{stderr}");
    assert!(!std::path::Path::new(&fitted).exists());
}
