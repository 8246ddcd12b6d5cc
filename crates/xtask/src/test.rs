//! `cargo xtask test`: everything that must hold before a change lands.

use crate::command;
use crate::{order, packages, tidy};

/// Installs what the tests need, then runs every check and test; stops at the first that fails.
pub fn run() -> Result<(), String> {
    packages::install()?;
    tidy::run()?;
    command::run("cargo", &["fmt", "--all", "--check"], &[])?;
    let lints = [
        "clippy",
        "--workspace",
        "--all-targets",
        "--quiet",
        "--",
        "-D",
        "warnings",
    ];
    command::run("cargo", &lints, &[])?;
    let documents = ["doc", "--workspace", "--no-deps", "--quiet"];
    command::run("cargo", &documents, &[("RUSTDOCFLAGS", "-D warnings")])?;
    // The acceptance tests hold predictions to a wall time, which only the program as users build it can show.
    let binary = command::release_binary()?;
    let binary = binary.to_str().ok_or("the checkout's path is no UTF-8")?;
    order::note_if_stale(binary)?;
    command::run(
        "cargo",
        &["test", "--workspace", "--no-fail-fast"],
        &[("FATHOM_RELEASE_BIN", binary)],
    )
}
