//! README shows what the program prints.

mod support;

use serde_json::Value;
use support::{expect_code, fathom};

fn readme() -> String {
    let path = support::root().join("README.md");
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn the_prediction_shown_is_the_one_made() {
    let readme = readme();
    let blocks = readme.split("```\n$ fathom predict ").skip(1);
    let mut shown = 0;
    for block in blocks {
        let (command, rest) = block.split_once('\n').unwrap_or_default();
        let printed = rest.split("```").next().unwrap_or_default();
        assert_eq!(printed_by("predict", command), printed, "{command}");
        shown += 1;
    }
    assert_eq!(shown, 1, "README shows one prediction");
}

#[test]
fn the_plan_shown_is_the_one_made() {
    let readme = readme();
    let blocks = readme.split("```\n$ fathom plan ").skip(1);
    let mut shown = 0;
    for block in blocks {
        let (command, rest) = block.split_once('\n').unwrap_or_default();
        let (printed, _) = rest.split_once("…\n```").unwrap_or_default();
        assert!(!printed.is_empty(), "{rest}");
        let made = printed_by("plan", command);
        assert!(made.starts_with(printed), "{command}\n{made}");
        shown += 1;
    }
    assert_eq!(shown, 1, "README shows one plan");
}

/// What `fathom VERB COMMAND` prints in the checkout.
fn printed_by(verb: &str, command: &str) -> String {
    let home = support::disk_folder();
    let mut program = fathom(home.path());
    program.current_dir(support::root()).arg(verb);
    let output = program.args(command.split_whitespace()).output();
    let output = output.unwrap_or_else(|error| panic!("{command}: {error}"));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// In the examples' own README files what a prediction prints stands below its command, but for what is around it.
#[test]
fn the_predictions_of_the_examples_are_those_made() {
    let mut shown = 0;
    for example in ["guide-2016", "guide-2021", "windows-guide"] {
        let path = support::example(&format!("{example}/README.md"));
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let mut blocks = text.split("```\n").skip(1).step_by(2);
        while let Some(block) = blocks.next() {
            let Some(command) = block.strip_prefix("fathom predict ") else {
                continue;
            };
            let rest = blocks.clone().next().unwrap_or_default();
            if !rest.trim_start().starts_with("IOPS ") {
                continue;
            }
            let made = printed_by("predict", command);
            assert!(made.contains(rest), "{path}: {command}{made}");
            shown += 1;
        }
    }
    assert_eq!(shown, 3, "each shows one prediction");
}

#[test]
fn the_table_holds_the_predicted_rates() {
    let readme = readme();
    let mut rows = 0;
    for row in readme.lines().filter(|line| line.starts_with("| `guide-")) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let job = cells[1].trim_matches('`');
        let design = match job.split('/').next() {
            Some("guide-2016") => "guide-2016/ds14.design.toml",
            _ => "guide-2021/d8ds_v4.design.toml",
        };
        let home = support::disk_folder();
        let (design, job) = (support::example(design), support::example(job));
        let arguments = [
            "predict",
            "--on",
            &design,
            "--json",
            "fio",
            "--runtime",
            "30",
            &job,
        ];
        let (stdout, _) = expect_code(home.path(), &arguments, 0);
        let record: Value = serde_json::from_str(&stdout).unwrap_or_default();
        let iops = record["stages"][0]["total"]["all"]["iops"]
            .as_f64()
            .unwrap_or_default();
        let shown: f64 = cells[4].replace(',', "").parse().unwrap_or_default();
        assert!((iops - shown).abs() < 0.51, "{row}\nis predicted as {iops}");
        rows += 1;
    }
    assert_eq!(rows, 6, "rows of README's table");
}
