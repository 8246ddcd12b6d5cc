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
        let home = support::disk_folder();
        let words = command.split_whitespace();
        let output = fathom(home.path())
            .current_dir(support::root())
            .arg("predict")
            .args(words)
            .output();
        let output = output.unwrap_or_else(|error| panic!("{command}: {error}"));
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            printed,
            "{command}"
        );
        shown += 1;
    }
    assert_eq!(shown, 1, "README shows one prediction");
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
