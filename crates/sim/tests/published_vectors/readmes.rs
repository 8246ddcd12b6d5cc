//! Tables in the README files of `examples/`: each row's prediction is made again, for a shorter time.
//!
//! A row is `| design | workload | stage | predicted | printed |`. The stage may be left blank where a workload has one;
//! what is predicted is a list of figures, each with its unit.

use fathom_units::Nanos;
use fathom_workload::Workload;

use super::support::*;

/// Each directory with how long its rows run.
const DIRECTORIES: [(&str, u64); 5] = [
    ("guide-2016", 5_000),
    ("guide-2021", 5_000),
    ("windows-guide", 10_000),
    ("anf-2019", 1_500),
    ("smb-files", 1_000),
];

/// Figures are printed to three digits or four.
const PRINTED: f64 = 0.012;

struct Row {
    design: String,
    workload: String,
    stage: String,
    figures: Vec<String>,
}

fn rows(directory: &str) -> Vec<Row> {
    let text = example_text(&format!("{directory}/README.md"));
    let lines = text.lines().filter(|line| line.starts_with("| `"));
    let rows = lines.map(|line| {
        let cells: Vec<&str> = line
            .split('|')
            .map(|cell| cell.trim().trim_matches('`'))
            .collect();
        Row {
            design: format!("{directory}/{}", cells[1]),
            workload: format!("{directory}/{}", cells[2]),
            stage: cells[3].to_owned(),
            figures: cells[4].split(", ").map(str::to_owned).collect(),
        }
    });
    rows.collect()
}

/// One stage, shortened; a cache that is warm from the start needs no warm-up.
fn shortened(row: &Row, millis: u64) -> Workload {
    let mut workload = example_workload(&row.workload);
    if !row.stage.is_empty() {
        workload.stages.retain(|stage| stage.name == row.stage);
    }
    assert_eq!(
        workload.stages.len(),
        1,
        "{}: no stage `{}`",
        row.workload,
        row.stage
    );
    for job in &mut workload.stages[0].jobs {
        job.limits.warmup = Nanos::from_millis(millis / 10);
        job.limits.runtime = Some(Nanos::from_millis(millis));
    }
    workload
}

#[track_caller]
fn check(row: &Row, millis: u64) {
    let found = run_workload(&shortened(row, millis), &example_design(&row.design)).remove(0);
    for figure in &row.figures {
        let (number, unit) = figure.split_once(' ').expect("a figure and its unit");
        let number: f64 = number.replace(',', "").parse().expect("a number");
        match unit {
            "IOPS" | "operations/s" => found.iops(number, PRINTED),
            "MB/s" => found.megabytes(number, PRINTED),
            "MiB/s" => found.mebibytes(number, PRINTED),
            "ms" => found.latency_ms(number, PRINTED),
            other => panic!("{figure}: `{other}` is no unit of these tables"),
        };
    }
}

#[test]
fn tables_hold_what_is_predicted() {
    let mut failed = Vec::new();
    for (directory, millis) in DIRECTORIES {
        let rows = rows(directory);
        assert!(!rows.is_empty(), "{directory}/README.md has no table");
        for row in rows {
            if std::panic::catch_unwind(|| check(&row, millis)).is_err() {
                failed.push(format!("{} on {} {}", row.workload, row.design, row.stage));
            }
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
fn every_design_stands_in_its_table() {
    for (directory, _) in DIRECTORIES {
        let rows = rows(directory);
        let files = std::fs::read_dir(example_path(directory)).expect("a directory");
        for file in files {
            let name = file
                .expect("a file")
                .file_name()
                .to_string_lossy()
                .into_owned();
            let path = format!("{directory}/{name}");
            if name.ends_with(".design.toml") {
                assert!(
                    rows.iter().any(|row| row.design == path),
                    "{path} is in no row"
                );
            } else if name != "README.md" && !is_of_a_peer(&name) {
                example_workload(&path);
            }
        }
    }
}

/// Whether a file is read by a peer's own reader, whose tests predict it.
fn is_of_a_peer(name: &str) -> bool {
    let extension = std::path::Path::new(name).extension();
    extension.is_some_and(|extension| ["icf", "xml"].iter().any(|known| extension == *known))
}
