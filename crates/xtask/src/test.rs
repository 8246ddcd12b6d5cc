//! `cargo xtask test`: everything that must hold before a change lands.

use std::thread;

use crate::background::ReleaseBuild;
use crate::command;
use crate::packages::Needed;
use crate::{order, packages, programs, tidy};

/// Runs every check, installs what the tests need, then runs them; stops at the first that fails.
///
/// The tests alone need most packages and the program as users build it, so both come while the sources are checked and the
/// tests are built; what a crate cannot be built without comes before. Nothing runs beside the tests that measure.
pub fn run() -> Result<(), String> {
    tidy::run()?;
    command::run("cargo", &["fmt", "--all", "--check"], &[])?;
    let release = ReleaseBuild::start()?;
    packages::install(Needed::ToBuild)?;
    let programs = thread::scope(|scope| {
        let packages = scope.spawn(|| packages::install(Needed::ToTest));
        check()?;
        let programs = programs::build()?;
        packages
            .join()
            .map_err(|_| "packages were not installed")??;
        Ok::<_, String>(programs)
    })?;
    // The acceptance tests hold predictions to a wall time, which only the program as users build it can show.
    let binary = release.finish()?;
    let binary = binary.to_str().ok_or("the checkout's path is no UTF-8")?;
    let tested = programs::run(programs, &[("FATHOM_RELEASE_BIN", binary)]);
    let documents = ["test", "--workspace", "--doc", "--no-fail-fast"];
    let documents = command::run("cargo", &documents, &[]);
    tested.and(documents).and(order::check(binary))
}

fn check() -> Result<(), String> {
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
    command::run("cargo", &documents, &[("RUSTDOCFLAGS", "-D warnings")])
}
