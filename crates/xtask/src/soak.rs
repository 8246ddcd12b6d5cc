//! `cargo xtask soak [PART…]`: the long forms of what the tests show in short.
//!
//! Each part is a test file of `cli` that runs longer, more often and to tighter bounds where `FATHOM_SOAK` is set, and
//! prints what it found. They run on the program as users build it, one after another, as root.

use crate::command::{self, output};
use crate::{Failure, packages};

/// A part's name, its test file, and what it shows.
const PARTS: [(&str, &str, &str); 4] = [
    (
        "guide",
        "serve_guide",
        "the 2016 guide's jobs by fio on the served DS14, beside their prediction",
    ),
    (
        "crashes",
        "serve_crashes",
        "PostgreSQL through crashes of its machine: clients, crashes, acknowledged, lost",
    ),
    (
        "database",
        "serve_database",
        "pgbench on a P10 and a P30, beside the prediction of its own I/O",
    ),
    (
        "crowd",
        "serve_crowd",
        "24 exports, 128 connections and bad clients",
    ),
];

/// Runs the parts that are named, or all.
pub fn run(names: &[&str]) -> Result<(), Failure> {
    let known: Vec<&str> = PARTS.iter().map(|(name, ..)| *name).collect();
    if let Some(name) = names.iter().find(|name| !known.contains(name)) {
        let message = format!("`{name}` is no soak; known: {}", known.join(", "));
        return Err(Failure::Usage(message));
    }
    if output("id", &["-u"])?.trim() != "0" {
        return Err("soaks attach block devices and mount them: run them as root".into());
    }
    packages::install(packages::Needed::ToTest)?;
    let binary = command::release_binary()?;
    let binary = binary.to_str().ok_or("the program's path is no UTF-8")?;
    let environment = [("FATHOM_RELEASE_BIN", binary), ("FATHOM_SOAK", "1")];
    let mut failures = Vec::new();
    for (name, file, what) in PARTS {
        if !names.is_empty() && !names.contains(&name) {
            continue;
        }
        println!("\n{name}: {what}");
        let words = ["test", "--quiet", "--package", "fathom", "--test", file];
        let words = [&words[..], &["--", "--nocapture", "--test-threads=1"]].concat();
        failures.extend(command::run("cargo", &words, &environment).err());
    }
    if failures.is_empty() {
        Ok(())
    } else {
        Err(failures.join("\n").into())
    }
}
