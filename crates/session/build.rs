//! Puts the commit into the program, so that a record tells what made it.

use std::path::Path;
use std::process::Command;

/// What git prints, without the end of its line; `None` where there is no git, or no checkout.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = output.status.success().then_some(output.stdout)?;
    Some(String::from_utf8(text).ok()?.trim().to_owned())
}

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // It grows with each commit and checkout, and each worktree has its own. A path that is not there would have this run, and
    // all that needs it compiled, each time.
    let moves = git(&["rev-parse", "--git-path", "logs/HEAD"]);
    if let Some(moves) = moves.filter(|path| Path::new(path).exists()) {
        println!("cargo::rerun-if-changed={moves}");
    }
    let commit = git(&["rev-parse", "--short=12", "HEAD"]).unwrap_or_default();
    println!("cargo::rustc-env=FATHOM_GIT={commit}");
}
