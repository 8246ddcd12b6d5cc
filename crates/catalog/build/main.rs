//! Reads the fact files, refuses rows that are incomplete, and writes them as constant tables.
//!
//! Facts are checked when the program is built, so that a wrong row stops the build with its name and costs nothing at
//! run time. Without orders to cargo, the script runs again when any file of the package changes.

mod emit;
mod emit_network;
mod row;
mod shapes;
mod validate;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fmt, fs};

const FILES: [&str; 5] = [
    "vm-sizes.toml",
    "disks.toml",
    "rules.toml",
    "devices.toml",
    "network.toml",
];

/// Why the facts cannot be used. Cargo shows the `Debug` form, so that is the readable one.
struct Refusal(String);

impl fmt::Debug for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn main() -> Result<(), Refusal> {
    run().map_err(Refusal)
}

fn run() -> Result<(), String> {
    let root = PathBuf::from(variable("CARGO_MANIFEST_DIR")?);
    let out = PathBuf::from(variable("OUT_DIR")?).join("tables.rs");
    let mut complaints = Vec::new();
    let mut code = String::new();
    for file in FILES {
        let path = root.join("data").join(file);
        code.push_str(&tables_of(&path, &mut complaints)?);
    }
    if !complaints.is_empty() {
        let mut text = String::from("the catalogue's facts are incomplete:\n");
        for complaint in &complaints {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "  {complaint}");
        }
        return Err(text);
    }
    fs::write(&out, code).map_err(|error| format!("{}: {error}", out.display()))
}

fn tables_of(path: &Path, complaints: &mut Vec<String>) -> Result<String, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let facts: toml::Table = text
        .parse()
        .map_err(|error: toml::de::Error| format!("{}: {error}", path.display()))?;
    let found = validate::complaints(&facts);
    if !found.is_empty() {
        complaints.extend(found.iter().map(|one| format!("{}: {one}", path.display())));
        return Ok(String::new());
    }
    Ok(emit::tables(&facts))
}

fn variable(name: &str) -> Result<String, String> {
    env::var(name).map_err(|error| format!("{name}: {error}"))
}
