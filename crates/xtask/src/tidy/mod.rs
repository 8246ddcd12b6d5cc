//! The invariants of ARCHITECTURE.md that a program can check. Also an ordinary test.

mod crates;
mod licences;
mod sources;

use std::path::{Path, PathBuf};

use crate::command::{output, root};

/// One broken rule: where, and what to do.
pub type Finding = String;

/// Checks the whole checkout.
pub fn run() -> Result<(), String> {
    let root = root();
    let mut findings = Vec::new();
    findings.extend(crates::check(&root)?);
    findings.extend(sources::check(&root)?);
    findings.extend(licences::check(&root)?);
    if findings.is_empty() {
        println!("tidy: the checkable invariants hold");
        Ok(())
    } else {
        Err(format!(
            "tidy: {} findings\n{}",
            findings.len(),
            findings.join("\n")
        ))
    }
}

/// Every file under version control, or about to be, with one of `extensions`.
fn tracked_files(root: &Path, extensions: &[&str]) -> Result<Vec<PathBuf>, String> {
    let list = output(
        "git",
        &["ls-files", "--cached", "--others", "--exclude-standard"],
    )?;
    let wanted = |path: &PathBuf| {
        path.extension()
            .and_then(|ext| ext.to_str())
            .is_some_and(|ext| extensions.contains(&ext))
    };
    Ok(list
        .lines()
        .map(|line| root.join(line))
        .filter(wanted)
        .filter(|path| path.exists())
        .collect())
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_checkout_is_tidy() {
        if let Err(findings) = super::run() {
            panic!("{findings}");
        }
    }
}
