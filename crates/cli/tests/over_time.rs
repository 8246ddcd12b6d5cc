//! Caches and credits over time, in the record and in the sentence that tells where the time went.

mod support;

use serde_json::Value;
use support::{disk_folder, expect_code};

/// What is shown of a prediction, broken lines joined, and its first stage's part of the record.
#[track_caller]
fn predicted(size: &str, volume: &str, job: &str) -> (String, Value) {
    let folder = disk_folder();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (design, workload) = (path("vm.design.toml"), path("w.workload.toml"));
    let machine = format!("[[vm]]\nname = \"vm\"\n{size}\n");
    let machine = machine + "[[vm.volume]]\nname = \"data\"\nmount = \"/data\"\n";
    let target = "target = { path = \"/data/f\", size = \"4GiB\" }\n[[stage]]\nname = \"reads\"\n";
    for (path, text) in [
        (&design, format!("{machine}{volume}")),
        (&workload, format!("{target}{job}")),
    ] {
        std::fs::write(path, text).unwrap_or_else(|error| panic!("{error}"));
    }
    let words = ["predict", "--quiet", "--on", &design, &workload];
    let (shown, _) = expect_code(folder.path(), &words, 0);
    let words = ["report", "--json", "last"];
    let (document, _) = expect_code(folder.path(), &words, 0);
    let record: Value = serde_json::from_str(&document).unwrap_or_default();
    (shown.replace("\n    ", " "), record["stages"][0].clone())
}

fn figures(list: &Value) -> Vec<f64> {
    let list = list.as_array().cloned().unwrap_or_default();
    list.iter().filter_map(Value::as_f64).collect()
}

#[test]
fn a_cache_warms_up() {
    let (shown, stage) = predicted(
        "size = \"Standard_DS14\"\nera = \"2016\"",
        "disks = { type = \"P30\" }\ncaching = \"read-only\"\n",
        "measure = \"90s\"\n[[stage.job]]\nname = \"reads\"\naccess = { kind = \"independent\" }\nblock = \"64KiB\"\ndepth = 32\n",
    );
    let course = &stage["storage"]["vm/data"]["over_time"];
    let shares = figures(&course["hit_share"]);
    assert!(shares.len() >= 90 && shares[0] < 0.1, "{shares:?}");
    assert!(shares[80] > 0.98, "{shares:?}");
    assert_eq!(course["at_ns"][1], 2_000_000_000u64);
    assert!(shown.contains(" % at first, 100 % at last)"), "{shown}");
}

#[test]
fn credits_run_out() {
    // A hundredth of a full bucket, (3,500 - 120) x 1,800 I/Os, lasts 18 s at the highest rate.
    let (shown, stage) = predicted(
        "size = \"Standard_D8ds_v4\"",
        "disks = { type = \"P4\" }\ncaching = \"none\"\nburst = \"credits\"\ncredits = \"1%\"\n",
        "measure = \"30s\"\n[[stage.job]]\nname = \"reads\"\ndepth = 32\n",
    );
    let course = &stage["storage"]["vm/data/disk1"]["over_time"];
    let left = figures(&course["iops_credit_share"]);
    assert!((left[8] - 0.005).abs() < 0.000_1, "{left:?}");
    assert!(left[16] > 0.000_4 && left[18] < 1e-5, "{left:?}");
    assert!(
        shown.contains("credits of `vm/data/disk1` lasted 18 s"),
        "{shown}"
    );
}
