//! Stored predictions and runs beside each other, and thresholds of what may change.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::path::Path;

use support::{expect_code, names_in};

/// A device of `iops` as a design in `home`.
fn design(home: &Path, name: &str, iops: u32) -> String {
    let text = format!(
        "[[device]]\nname = \"d\"\nmount = \"/mnt/d\"\nsize = \"1TiB\"\niops = {iops}\nbandwidth = \"500MB/s\"\n\
         latency = {{ median = \"1ms\", p99 = \"4ms\" }}\n"
    );
    std::fs::write(home.join(name), text).unwrap();
    name.to_owned()
}

/// Predicts a job of random reads on `design`; gives the id of the stored record.
fn predict(home: &Path, design: &str, name: &str) -> String {
    let job = format!("--name={name}");
    let words = ["predict", "-q", "--on", design, "fio", &job];
    let more = ["--rw=randread", "--bs=8k", "--iodepth=16", "--size=1g"];
    let more = [
        more.as_slice(),
        &["--filename=/mnt/d/f", "--ioengine=libaio", "--direct=1"],
    ]
    .concat();
    let words = [&words[..], &more, &["--time_based", "--runtime=8"]].concat();
    expect_code(home, &words, 0);
    // Ids of one second differ in their last number alone: the newest is what `last` says.
    let (json, _) = expect_code(home, &["runs"], 0);
    let last = json.lines().last().unwrap();
    last.split_whitespace().next().unwrap().to_owned()
}

#[test]
fn predictions_are_laid_beside_each_other() {
    let folder = support::disk_folder();
    let home = folder.path();
    let whole = design(home, "whole.design.toml", 2000);
    let half = design(home, "half.design.toml", 1000);
    let first = predict(home, &whole, "reader");
    let again = predict(home, &whole, "reader");
    let halved = predict(home, &half, "reader");

    let gates = [
        "--fail-on",
        "iops-0%",
        "--fail-on",
        "p99+0%",
        "--fail-on",
        "max+0%",
    ];
    let same = [&["compare", &first, &again][..], &gates].concat();
    let (text, stderr) = expect_code(home, &same, 0);
    assert!(
        text.contains("no figure changed by more than the noise"),
        "{text}"
    );
    assert!(!text.contains("doubt") && !text.contains('*'), "{text}");
    assert_eq!(stderr, "");

    let (text, _) = expect_code(home, &["compare", &first, &halved], 0);
    for part in [
        "  IOPS ",
        "-50.0%*",
        "other designs: `device.iops` 2000 → 1000",
    ] {
        assert!(text.contains(part), "`{part}` is not in\n{text}");
    }
    let line = |text: &str| {
        text.lines()
            .find(|line| line.starts_with("FAIL"))
            .map(str::to_owned)
    };
    assert_eq!(line(&text), None);
    let gate = ["compare", &first, "last", "--fail-on", "iops-5%"];
    let (text, _) = expect_code(home, &gate, 7);
    let told = line(&text).unwrap();
    assert!(
        told.contains("`iops-5%`: B, reader read: IOPS fell by"),
        "{told}"
    );
    // Better is not worse.
    expect_code(
        home,
        &["compare", &halved, &first, "--fail-on", "iops-5%"],
        0,
    );
    assert!(text.contains(&format!("B  {halved}: ")), "{text}");
}

#[test]
fn programs_get_the_same_as_people() {
    let folder = support::disk_folder();
    let home = folder.path();
    let whole = design(home, "whole.design.toml", 2000);
    let half = design(home, "half.design.toml", 1000);
    let first = predict(home, &whole, "reader");
    let halved = predict(home, &half, "reader");
    let gate = ["compare", &first, "last", "--fail-on", "iops-5%"];
    let (csv, stderr) = expect_code(home, &[&gate[..], &["--csv"]].concat(), 7);
    assert!(
        csv.starts_with("stage,job,direction,figure,unit,A,B,"),
        "{csv}"
    );
    assert_eq!(csv.lines().count(), 7, "{csv}");
    assert!(stderr.contains("FAIL `iops-5%`"), "{stderr}");
    let (json, _) = expect_code(home, &[&gate[..], &["--json"]].concat(), 7);
    let document: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(document["schema"], "fathom.comparison/1");
    assert_eq!(
        document["groups"][0]["figures"][0]["changes"][0]["more_than_noise"],
        true
    );

    let (rows, _) = expect_code(home, &["report", &first, "--csv"], 0);
    assert!(rows.starts_with("stage,job,direction,ios,"), "{rows}");
    assert!(
        rows.lines()
            .nth(1)
            .unwrap()
            .starts_with("reader,reader,read,"),
        "{rows}"
    );
    assert_eq!(rows.lines().count(), 2, "{rows}");

    // A folder, a file and an id name one record.
    let store = home.join("data/fathom/runs");
    assert_eq!(names_in(&store).len(), 2);
    let by_folder = store.join(&first).display().to_string();
    let by_file = store.join(&first).join("record.json").display().to_string();
    let (text, _) = expect_code(home, &["compare", &first, &by_folder, &by_file, &halved], 0);
    assert!(text.contains('D') && text.contains("0.0%"), "{text}");
}

#[test]
fn what_cannot_be_compared_is_told() {
    let folder = support::disk_folder();
    let home = folder.path();
    let whole = design(home, "whole.design.toml", 2000);
    let first = predict(home, &whole, "reader");
    let check = |words: &[&str], code: i32, said: &str| {
        let (_, stderr) = expect_code(home, &[&["compare"], words].concat(), code);
        assert!(stderr.contains(said), "`{said}` is not in\n{stderr}");
    };
    check(&[&first, "nope"], 3, "no run is called `nope`");
    check(&[&first], 2, "2 values required");
    check(
        &[&first, &first, "--fail-on", "iops"],
        2,
        "hint: write FIGURE-N%",
    );
    check(
        &[&first, &first, "--fail-on", "p98+5%"],
        2,
        "`p98` is none of iops",
    );
    check(
        &[&first, &first, "--fail-on", "bandwith-5%"],
        2,
        "did you mean `bandwidth`?",
    );
    check(
        &[&first, &first, "--fail-on", "response-p99+5%"],
        3,
        "the baseline has no `response-p99`",
    );
}

#[test]
fn a_run_stands_beside_a_prediction() {
    let folder = support::disk_folder();
    let home = folder.path();
    let whole = design(home, "whole.design.toml", 2000);
    let predicted = predict(home, &whole, "reader");
    let job = [
        "run",
        "-q",
        "fio",
        "--name=n",
        "--ioengine=null",
        "--size=4m",
    ];
    expect_code(home, &job, 0);
    let (text, _) = expect_code(home, &["compare", &predicted, "last"], 0);
    let joined = text.replace("\n         ", " ");
    for part in [
        "a prediction beside a run on real storage",
        "the only stage of each is taken as one",
        "other workloads: ",
        "only the first of the two has a design",
        "was measured for",
    ] {
        assert!(joined.contains(part), "`{part}` is not in\n{text}");
    }
}

/// Predictions that differ in their seed alone differ by chance; their repeats tell how much chance makes of them. At 95 %
/// one pair of twenty may be called different.
#[test]
fn another_seed_is_within_the_noise_of_the_repeats() {
    let folder = support::disk_folder();
    let home = folder.path();
    let design = design(home, "d.design.toml", 20_000);
    let predicted = |seed: u32| {
        let text = format!(
            "seed = {seed}\n[[stage]]\nname = \"s\"\nrepeats = 5\nmeasure = \"1s\"\n[[stage.job]]\nname = \"j\"\n\
             target = {{ path = \"/mnt/d/f\", size = \"1GiB\" }}\nmix = \"read\"\nblock = \"8KiB\"\ndepth = 8\n"
        );
        let (workload, record) = (format!("{seed}.workload.toml"), format!("{seed}.json"));
        std::fs::write(home.join(&workload), text).unwrap();
        let words = ["predict", "-q", "--no-record", "--json", "--on", &design];
        let (json, _) = expect_code(home, &[&words[..], &[&workload]].concat(), 0);
        std::fs::write(home.join(&record), json).unwrap();
        record
    };
    let is_different = |pair: &u32| {
        let [one, other] = [2 * pair, 2 * pair + 1].map(predicted);
        let (json, _) = expect_code(home, &["compare", "--json", &one, &other], 0);
        let compared: serde_json::Value = serde_json::from_str(&json).unwrap();
        let iops = &compared["groups"][0]["figures"][0];
        assert_eq!(iops["figure"], "iops", "{json}");
        let change = &iops["changes"][0];
        assert_eq!(change["judged_by"], "repeats", "{json}");
        change["more_than_noise"].as_bool().unwrap()
    };
    let different = (1..=20).filter(is_different).count();
    assert!(different <= 2, "{different} of 20");
}
