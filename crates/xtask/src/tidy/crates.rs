//! Which crate may know which, and why each foreign crate is there.

use std::path::Path;

use super::{Finding, read};

/// Each crate of the project and the others it may depend on. Keep in step with ARCHITECTURE.md.
const MAY_KNOW: &[(&str, &[&str])] = &[
    ("units", &[]),
    ("diagnostics", &["units"]),
    ("tables", &["units", "diagnostics"]),
    ("stats", &["units"]),
    ("workload", &["units", "diagnostics"]),
    ("verify", &["units", "workload"]),
    ("record", &["units", "stats", "workload"]),
    ("runs", &["units", "stats", "workload", "record"]),
    (
        "dialects",
        &["units", "diagnostics", "stats", "workload", "record"],
    ),
    ("rawio", &["units", "nbd"]),
    (
        "engine",
        &[
            "units",
            "diagnostics",
            "stats",
            "workload",
            "rawio",
            "nbd",
            "record",
            "verify",
        ],
    ),
    ("fuse", &[]),
    ("catalog", &["units", "diagnostics"]),
    ("model", &["units", "diagnostics", "tables", "catalog"]),
    ("profile", &["units", "diagnostics", "tables"]),
    (
        "observe",
        &[
            "units",
            "diagnostics",
            "stats",
            "profile",
            "rawio",
            "report",
            "session",
        ],
    ),
    (
        "planner",
        &[
            "units",
            "diagnostics",
            "tables",
            "workload",
            "record",
            "report",
            "profile",
            "catalog",
            "model",
            "sim",
        ],
    ),
    (
        "emit",
        &[
            "units", "profile", "catalog", "model", "planner", "workload", "convert", "session",
        ],
    ),
    (
        "sim",
        &[
            "units",
            "diagnostics",
            "stats",
            "workload",
            "model",
            "record",
        ],
    ),
    (
        "calibrate",
        &[
            "units",
            "diagnostics",
            "stats",
            "workload",
            "record",
            "catalog",
            "model",
            "sim",
        ],
    ),
    ("report", &["units", "stats", "record", "profile"]),
    (
        "session",
        &[
            "units",
            "diagnostics",
            "workload",
            "record",
            "dialects",
            "rawio",
            "engine",
            "runs",
            "report",
            "profile",
        ],
    ),
    (
        "peers",
        &[
            "units", "workload", "verify", "record", "dialects", "rawio", "engine", "runs",
            "session",
        ],
    ),
    (
        "cluster",
        &[
            "units", "workload", "record", "rawio", "engine", "peers", "report", "runs", "session",
        ],
    ),
    ("nbd", &[]),
    (
        "emulator",
        &[
            "units",
            "diagnostics",
            "tables",
            "stats",
            "workload",
            "catalog",
            "model",
            "sim",
            "record",
            "runs",
            "report",
            "rawio",
            "nbd",
            "fuse",
            "session",
        ],
    ),
    (
        "web",
        &["units", "record", "rawio", "runs", "report", "session"],
    ),
    ("manual", &["diagnostics", "workload", "catalog", "session"]),
    ("convert", &["units", "diagnostics", "workload", "dialects"]),
    (
        "fuzz",
        &[
            "units",
            "diagnostics",
            "workload",
            "dialects",
            "catalog",
            "model",
            "nbd",
            "fuse",
            "profile",
            "observe",
        ],
    ),
    ("xtask", &[]),
    ("cli", ANY),
];

const ANY: &[&str] = &[
    "units",
    "diagnostics",
    "tables",
    "profile",
    "planner",
    "emit",
    "observe",
    "stats",
    "workload",
    "record",
    "runs",
    "dialects",
    "rawio",
    "engine",
    "catalog",
    "model",
    "sim",
    "calibrate",
    "report",
    "verify",
    "session",
    "peers",
    "nbd",
    "emulator",
    "convert",
    "manual",
    "web",
];

pub fn check(root: &Path) -> Result<Vec<Finding>, String> {
    let mut findings = Vec::new();
    let folders =
        std::fs::read_dir(root.join("crates")).map_err(|error| format!("crates: {error}"))?;
    for folder in folders.filter_map(Result::ok).map(|entry| entry.path()) {
        let name = folder
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default()
            .to_owned();
        if !folder.join("Cargo.toml").exists() {
            continue;
        }
        let Some((_, allowed)) = MAY_KNOW.iter().find(|(known, _)| *known == name) else {
            findings.push(format!(
                "crates/{name}: not in the table of crates/xtask/src/tidy/crates.rs"
            ));
            continue;
        };
        findings.extend(check_crate(&folder, &name, allowed)?);
    }
    findings.extend(check_reasons(root)?);
    Ok(findings)
}

fn check_crate(folder: &Path, name: &str, allowed: &[&str]) -> Result<Vec<Finding>, String> {
    let manifest: toml::Table = toml::from_str(&read(&folder.join("Cargo.toml"))?)
        .map_err(|error| format!("crates/{name}/Cargo.toml: {error}"))?;
    let mut findings = Vec::new();
    for section in ["dependencies", "build-dependencies"] {
        let known = manifest.get(section).and_then(toml::Value::as_table);
        let known = known.into_iter().flat_map(|table| table.keys());
        for dependency in known.filter_map(|key| key.strip_prefix("fathom-")) {
            if !allowed.contains(&dependency) {
                findings.push(format!(
                    "crates/{name}: must not know `{dependency}` (ARCHITECTURE.md, code map)"
                ));
            }
        }
    }
    let inherits = manifest
        .get("lints")
        .and_then(|lints| lints.get("workspace"));
    if inherits.and_then(toml::Value::as_bool) != Some(true) && name != "rawio" {
        findings.push(format!(
            "crates/{name}: does not take the workspace's lints"
        ));
    }
    Ok(findings)
}

/// Each foreign dependency has its reason on its own line of the root manifest.
fn check_reasons(root: &Path) -> Result<Vec<Finding>, String> {
    let manifest = read(&root.join("Cargo.toml"))?;
    let section = manifest
        .split("[workspace.dependencies]")
        .nth(1)
        .unwrap_or_default();
    let section = section.split("\n[").next().unwrap_or_default();
    let lines = section
        .lines()
        .filter(|line| line.contains('=') && !line.starts_with("fathom-"));
    let bare = lines.filter(|line| !line.contains(" # "));
    Ok(bare
        .map(|line| format!("Cargo.toml: no reason beside `{}`", line.trim()))
        .collect())
}
