//! The pages of `docs/`: every file that one shows is read, and every option that a command there has exists.

mod support;

use std::path::Path;

use fathom_catalog::Catalog;
use fathom_model::Design;
use fathom_planner::Prices;
use support::{expect_code, root, run};

/// The pages, by their names below `docs`, with their text.
fn pages() -> Vec<(String, String)> {
    let docs = root().join("docs");
    let mut pages = Vec::new();
    for folder in [docs.clone(), docs.join("dialects")] {
        let entries = std::fs::read_dir(&folder).expect("the folder is there");
        for path in entries.map(|entry| entry.expect("it can be read").path()) {
            if path.extension().is_some_and(|ending| ending == "md") {
                let name = path.strip_prefix(&docs).unwrap_or(&path);
                let text = std::fs::read_to_string(&path).expect("it can be read");
                pages.push((name.display().to_string(), text));
            }
        }
    }
    pages.sort();
    pages
}

/// What stands between a fence that begins with `opening` and the next one.
fn blocks<'p>(page: &'p str, opening: &str) -> Vec<&'p str> {
    let fences = page.split("```").skip(1).step_by(2);
    fences
        .filter_map(|block| block.strip_prefix(opening))
        .collect()
}

/// Reads the fault script `text` as `fathom serve` does before it serves.
fn read_faults(home: &Path, text: &str) {
    let design = "[[vm]]\nname = 'db1'\nsize = 'Standard_D8ds_v4'\n[[vm.volume]]\nname = 'data'\nmount = '/data'\n\
                  disks = { type = 'P10' }\ncaching = 'none'\n";
    std::fs::write(home.join("db1.design.toml"), design).expect("the folder takes files");
    std::fs::write(home.join("page.faults.toml"), text).expect("the folder takes files");
    let command = "serve db1.design.toml --nbd unix:disks --faults page.faults.toml --for 10ms --no-record --quiet";
    let words: Vec<&str> = command.split_whitespace().collect();
    expect_code(home, &words, 0);
}

#[test]
fn every_file_shown_is_read() {
    let home = support::disk_folder();
    let mut read = 0;
    for (page, text) in pages() {
        // A page's prices are of one list.
        let mut prices = String::new();
        for shown in blocks(&text, "toml\n") {
            read += 1;
            if shown.contains("[[price]]") {
                prices += shown;
            } else if shown.contains("[[fault]]") {
                read_faults(home.path(), shown);
            } else if shown.contains("[[vm]]") {
                Design::read(shown, &page, Catalog::builtin())
                    .unwrap_or_else(|errors| panic!("{errors}"));
            } else {
                std::fs::write(home.path().join("page.workload.toml"), shown)
                    .expect("the folder takes files");
                expect_code(home.path(), &["explain", "page.workload.toml"], 0);
            }
        }
        if !prices.is_empty() {
            let prices = Prices::read(&prices, &page).unwrap_or_else(|errors| panic!("{errors}"));
            let unknown = fathom_planner::unknown_items(&prices, Catalog::builtin());
            assert!(unknown.is_empty(), "{page}: {unknown:?}");
        }
    }
    assert!(read >= 8, "{read}");
}

/// Words behind which another tool's own arguments stand.
const PEERS: [&str; 6] = [
    "fio",
    "diskspd",
    "iometer",
    "vdbench",
    "sqlio",
    "diskperformance",
];

/// Checks the options of a line that begins with `fathom`; how many there are.
fn check_options(home: &Path, page: &str, line: &str) -> usize {
    let line = line.split(" #").next().unwrap_or_default();
    let words = line.split_whitespace().skip(1);
    let own: Vec<&str> = words.take_while(|word| !PEERS.contains(word)).collect();
    let verb = match own.as_slice() {
        ["profile", below, ..] => vec!["profile", below, "--help"],
        [verb, ..] => vec![*verb, "--help"],
        [] => return 0,
    };
    let output = run(home, &verb);
    let help = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{page}: {line}");
    let options = own.iter().filter(|word| word.starts_with("--"));
    let mut checked = 0;
    for option in options.filter_map(|word| word.split('=').next()) {
        let mut known = help.split(|letter: char| !(letter.is_alphanumeric() || letter == '-'));
        assert!(
            known.any(|word| word == option),
            "{page}: {line}: no {option}"
        );
        checked += 1;
    }
    checked
}

#[test]
fn every_option_of_a_command_exists() {
    let home = support::disk_folder();
    let mut checked = 0;
    for (page, text) in pages() {
        for line in blocks(&text, "\n").into_iter().flat_map(str::lines) {
            if line.trim().starts_with("fathom ") {
                checked += check_options(home.path(), &page, line);
            }
        }
    }
    assert!(checked > 20, "{checked}");
}
