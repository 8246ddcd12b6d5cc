//! `cargo xtask test`: everything that must hold before a change lands.

use std::thread;

use crate::background::ReleaseBuild;
use crate::command;
use crate::{order, packages, programs, tidy};

/// Runs every check, installs what the tests need, then runs them; stops at the first that fails.
///
/// The tests alone need the packages and the program as users build it, so both come while the sources are checked and the
/// tests are built. Nothing runs beside the tests that measure.
pub fn run() -> Result<(), String> {
    tidy::run()?;
    command::run("cargo", &["fmt", "--all", "--check"], &[])?;
    let release = ReleaseBuild::start()?;
    let programs = thread::scope(|scope| {
        let whole = packages::have_mpi();
        let packages = scope.spawn(packages::install);
        // What needs a package to be built is left for when that is there; everything else is built by then.
        let first = if whole {
            Members::All
        } else {
            Members::WithoutMpi
        };
        check(first)?;
        let programs = programs::build(first)?;
        packages
            .join()
            .map_err(|_| "packages were not installed")??;
        if whole {
            return Ok::<_, String>(programs);
        }
        check(Members::All)?;
        programs::build(Members::All)
    })?;
    // The acceptance tests hold predictions to a wall time, which only the program as users build it can show.
    let binary = release.finish()?;
    let binary = binary.to_str().ok_or("the checkout's path is no UTF-8")?;
    order::note_if_stale(binary)?;
    let tested = programs::run(programs, &[("FATHOM_RELEASE_BIN", binary)]);
    let documents = ["test", "--workspace", "--doc", "--no-fail-fast"];
    let documents = command::run("cargo", &documents, &[]);
    tested.and(documents)
}

/// Which crates of the workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Members {
    All,
    /// All that can be built without MPI.
    WithoutMpi,
}

impl Members {
    /// As cargo is told.
    pub fn options(self) -> &'static [&'static str] {
        match self {
            Self::All => &["--workspace"],
            Self::WithoutMpi => &["--workspace", "--exclude", "fathom-cluster"],
        }
    }
}

fn check(members: Members) -> Result<(), String> {
    let lints: &[&str] = &["--all-targets", "--quiet", "--", "-D", "warnings"];
    let lints = [&["clippy"], members.options(), lints].concat();
    command::run("cargo", &lints, &[])?;
    let documents: &[&str] = &["--no-deps", "--quiet"];
    let documents = [&["doc"], members.options(), documents].concat();
    command::run("cargo", &documents, &[("RUSTDOCFLAGS", "-D warnings")])
}
