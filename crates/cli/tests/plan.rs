//! `fathom profile` and `fathom plan` as a user meets them.

use std::path::Path;
use std::process::{Command, Output};

fn fathom(words: &[&str], folder: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
    command.env("LC_ALL", "C.UTF-8");
    command.args(words).current_dir(folder);
    command.output().expect("fathom starts")
}

#[track_caller]
fn check(words: &[&str], folder: &Path, code: i32, says: &[&str]) -> String {
    let output = fathom(words, folder);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let all = text(&output.stdout) + &text(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{words:?}\n{all}");
    for part in says {
        assert!(all.contains(part), "{words:?} does not say {part:?}\n{all}");
    }
    text(&output.stdout)
}

fn example(name: &str) -> String {
    format!("{}/../../examples/plan/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn a_rule_of_thumb_becomes_a_design_that_is_predicted() {
    let folder = tempfile::tempdir().expect("a folder");
    let new = "profile new --app exchange-2010 --users 5000 -o mail.profile.toml";
    let words: Vec<_> = new.split(' ').collect();
    check(&words, folder.path(), 0, &[]);
    check(
        &words,
        folder.path(),
        4,
        &["`mail.profile.toml` exists, and nothing is written over"],
    );
    let plan = [
        "plan",
        "mail.profile.toml",
        "--series",
        "DSv2",
        "-o",
        "mail",
    ];
    let says = [
        "3,750 IOPS of 8 KiB",
        "assumed:",
        "binds first:",
        "of 3,750 IOPS; writes p50",
    ];
    check(&plan, folder.path(), 0, &says);
    let predict = "predict --on mail.design.toml --no-record mail.workload.toml";
    let words: Vec<_> = predict.split(' ').collect();
    check(&words, folder.path(), 0, &["3,7", "TRUSTWORTHY"]);
    check(&plan, folder.path(), 4, &["nothing is written over"]);
}

#[test]
fn the_guide_s_cheaper_machine_is_found_by_its_own_prices() {
    let folder = tempfile::tempdir().expect("a folder");
    let (profile, prices) = (example("shop.profile.toml"), example("prices-2016.toml"));
    let plan = |more: &[&str], code, says: &[&str]| {
        let mut words = vec!["plan", profile.as_str(), "--prices", prices.as_str()];
        words.extend(more);
        check(&words, folder.path(), code, says)
    };
    let says = [
        "1. Standard_DS13 with 4 × P30: $1,544.34 a month",
        "searched in full: 8 machine sizes, 1 combination of kinds of storage\n",
        "ranked by the price list of 2016-02-20",
    ];
    plan(&["--era", "2016", "--series", "DS"], 0, &says);
    plan(
        &["--series", "D"],
        0,
        &["1. Standard_D14 with 32 × S30: $3,208.98 a month"],
    );
    let dear = [
        "NOTHING",
        "what carries the need costs more than --max-price",
    ];
    plan(&["--series", "D", "--max-price", "3000"], 6, &dear);
}

#[test]
fn scripts_are_printed_or_stored_and_nothing_is_written_over() {
    let folder = tempfile::tempdir().expect("a folder");
    let profile = example("shop.profile.toml");
    let words = |more: &[&'static str]| -> Vec<String> {
        let first = ["plan", profile.as_str(), "--only", "P30", "--emit"];
        first
            .iter()
            .chain(more)
            .map(|it| (*it).to_owned())
            .collect()
    };
    let run = |more: &[&'static str], code, says: &[&str]| {
        let words = words(more);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        check(&words, folder.path(), code, says)
    };
    let script = run(&["mdadm"], 0, &["--raid-devices=4 --chunk=64"]);
    assert!(script.starts_with("#!/usr/bin/env bash\n"), "{script}");
    let plan = run(&["mdadm", "--emit-to", "shop.sh"], 0, &["binds first"]);
    assert!(!plan.contains("mdadm --create"), "{plan}");
    let stored = std::fs::read_to_string(folder.path().join("shop.sh"));
    assert_eq!(stored.expect("the script"), script);
    run(
        &["az", "--emit-to", "shop.sh"],
        4,
        &["nothing is written over"],
    );
    run(&["mount"], 2, &["no volumes over the network"]);
    run(&["az", "--offer", "9"], 2, &["there is no offer 9"]);
    run(&["cobol"], 2, &["invalid value"]);
    check(&["explain", "factors"], folder.path(), 0, &["stripe size"]);
}

/// The document that a plan prints, with nothing beside it on standard output.
#[track_caller]
fn document(words: &[&str], folder: &Path, code: i32) -> serde_json::Value {
    let output = fathom(words, folder);
    assert_eq!(output.status.code(), Some(code), "{words:?} {output:?}");
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(text.ends_with("}\n") && text.lines().count() == 1, "{text}");
    serde_json::from_str(&text).expect("one document")
}

#[test]
fn a_plan_is_one_document_where_that_is_asked_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let (profile, prices) = (example("shop.profile.toml"), example("prices-2016.toml"));
    let words = ["plan", &profile, "--prices", &prices, "--json"];
    let of_2016 = [
        &words[..],
        &["--era", "2016", "--series", "DS", "-o", "shop"],
    ]
    .concat();
    let found = document(&of_2016, folder.path(), 0);
    assert_eq!(found["schema"], "fathom.plan/1");
    let offer = &found["offers"][0];
    assert_eq!(offer["title"], "Standard_DS13 with 4 × P30");
    assert_eq!(offer["month"]["amount"], 1544.34);
    assert_eq!(offer["month"]["currency"], "USD");
    let stored = std::fs::read_to_string(folder.path().join("shop.design.toml"));
    assert_eq!(offer["design_toml"], stored.expect("the design"));
    // A refused plan has the exit code of its text.
    let dear = [&words[..], &["--series", "D", "--max-price", "3000"]].concat();
    let found = document(&dear, folder.path(), 6);
    assert_eq!(found["offers"], serde_json::json!([]));
    let price = &found["ruled_out"]["too_dear"]["month"];
    assert_eq!(price["amount"], 3208.98);
    // A script has the standard output to itself.
    let script = [&words[..], &["--emit", "az"]].concat();
    let both = "`--json` and the script of `--emit` cannot both be printed";
    check(&script, folder.path(), 2, &[both, "--emit-to FILE"]);
    let stored = [&script[..], &["--emit-to", "shop.sh"]].concat();
    document(&stored, folder.path(), 0);
    assert!(folder.path().join("shop.sh").exists());
}

#[test]
fn a_volume_over_nfs_is_as_large_as_its_throughput_needs() {
    let folder = tempfile::tempdir().expect("a folder");
    let profile = example("stream.profile.toml");
    let words = ["plan", &profile, "--only", "nfs-premium", "--offers", "1"];
    let says = [
        "1 × nfs-premium of 70.31 TiB",
        "nconnect=8",
        "predicted lake, peak: 72,0",
    ];
    check(&words, folder.path(), 0, &says);
    let stored = [&words[..], &["-o", "stream.design.toml"]].concat();
    check(&stored, folder.path(), 0, &[]);
    let predict = "predict --on stream.design.toml --no-record stream.workload.toml";
    let words: Vec<_> = predict.split(' ').collect();
    check(&words, folder.path(), 0, &["72,0"]);
}

#[test]
fn wrong_words_are_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let profile = example("shop.profile.toml");
    let cases: [(&[&str], i32, &str); 11] = [
        (
            &["profile", "new", "--app", "orcl"],
            2,
            "`orcl` is no template",
        ),
        (
            &["profile", "new", "--app", "sql-server", "--users", "5"],
            2,
            "`--tps N`",
        ),
        (
            &["profile", "new", "--app", "app-server", "--users", "101"],
            2,
            "from 1 to 100 users",
        ),
        (&["plan", "none.toml"], 3, "`none.toml` cannot be read"),
        (&["plan", &profile, "--era", "1999"], 2, "no era `1999`"),
        (
            &["plan", &profile, "--series", "DSv9"],
            2,
            "no series `DSv9`",
        ),
        (
            &["plan", &profile, "--family", "tape"],
            2,
            "`tape` is no family",
        ),
        (
            &["plan", &profile, "--only", "P31"],
            2,
            "`P31` is no product",
        ),
        (
            &["plan", &profile, "--only", "smb-ssd-v2"],
            2,
            "did you mean `ssd-v2`?",
        ),
        (
            &["plan", &profile, "--only", "premum-v2"],
            2,
            "did you mean `premium-v2`?",
        ),
        (
            &["plan", &profile, "--rtt", "afar"],
            2,
            "`afar` is no distance",
        ),
    ];
    for (words, code, says) in cases {
        check(words, folder.path(), code, &[says]);
    }
}

#[test]
fn wrong_files_and_amounts_are_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let profile = example("shop.profile.toml");
    let prices = example("prices-2016.toml");
    let nothing = folder.path().join("nothing.toml");
    let nothing = nothing.to_str().expect("a path of ours");
    let text = "name = \"a\"\n[[volume]]\nname = \"v\"\n[[volume.period]]\nname = \"peak\"\nthroughput = \"0MB/s\"\n";
    std::fs::write(nothing, text).expect("a profile is written");
    std::fs::write(folder.path().join("bytes.toml"), [0xff, 0xff, 0x00])
        .expect("bytes are written");
    let unknown = folder.path().join("unknown.toml");
    let unknown = unknown.to_str().expect("a path of ours");
    let list = "currency = \"USD\"\n[[price]]\nitem = \"P31\"\nmonth = 1\n";
    std::fs::write(unknown, list).expect("a price list is written");
    let cases: [(&[&str], i32, &str); 8] = [
        (
            &["plan", nothing],
            3,
            "`throughput` at p99 must be more than 0",
        ),
        (
            &["plan", "bytes.toml"],
            3,
            "`bytes.toml` is no text: it holds bytes that are not UTF-8",
        ),
        (
            &["plan", &profile, "--growth", "-1x"],
            2,
            "`-1x` is no growth",
        ),
        (
            &["plan", &profile, "--prices", &prices, "--max-price", "-5"],
            2,
            "`-5` is no price of a month",
        ),
        (
            &["plan", &profile, "--prices", unknown],
            6,
            "nothing of these names of the price list, which are left out: P31",
        ),
        (
            &["plan", &profile, "--burst", "on-demand,soon"],
            2,
            "`soon` is no length of a peak",
        ),
        (
            &["plan", &profile, "--burst", "1s"],
            2,
            "no length of a peak",
        ),
        (
            &["plan", &profile, "--burst", "30m,40m"],
            2,
            "two lengths of a peak: 30 min and `40m`",
        ),
    ];
    for (words, code, says) in cases {
        check(words, folder.path(), code, &[says]);
    }
}

#[test]
fn names_without_a_beginning_are_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let profile = example("shop.profile.toml");
    let cases: [(&[&str], i32, &str); 3] = [
        (
            &["plan", &profile, "-o", ""],
            2,
            "write such as `shop`, for `shop.design.toml`",
        ),
        (
            &["plan", &profile, "-o", "plans/"],
            2,
            "write such as `plans/shop`",
        ),
        (
            &["plan", &profile, "-o", "plans/.design.toml"],
            2,
            "`--output plans/.design.toml` does not say how",
        ),
    ];
    for (words, code, says) in cases {
        check(words, folder.path(), code, &[says]);
    }
}
