//! Programs that run beside other work of a chore.

use std::path::PathBuf;
use std::process::{Child, Command};

use crate::command::{BUILD_RELEASE, built_release, root};

/// The program as users build it, in the making; or the one that `FATHOM_RELEASE_BIN` names.
#[derive(Debug)]
pub enum ReleaseBuild {
    /// There before.
    Given(PathBuf),
    Running(Background),
}

impl ReleaseBuild {
    pub fn start() -> Result<Self, String> {
        match std::env::var_os("FATHOM_RELEASE_BIN") {
            Some(built) => Ok(Self::Given(built.into())),
            None => Background::start("cargo", &BUILD_RELEASE).map(Self::Running),
        }
    }

    /// Waits for it.
    pub fn finish(self) -> Result<PathBuf, String> {
        match self {
            Self::Given(built) => Ok(built),
            Self::Running(build) => build.finish().map(|()| built_release()),
        }
    }
}

/// A program that runs beside this one, and is ended where nobody waits for it any longer.
#[derive(Debug)]
pub struct Background {
    shown: String,
    child: Child,
}

impl Background {
    /// Starts `program` in the checkout's root.
    pub fn start(program: &str, arguments: &[&str]) -> Result<Self, String> {
        let shown = format!("{program} {}", arguments.join(" "));
        println!("\n== {shown} (beside what follows)");
        let mut command = Command::new(program);
        let child = command.args(arguments).current_dir(root()).spawn();
        let child = child.map_err(|error| format!("`{shown}` did not start: {error}"))?;
        Ok(Self { shown, child })
    }

    /// Waits for its end.
    pub fn finish(mut self) -> Result<(), String> {
        match self.child.wait() {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(format!("`{}` failed: {status}", self.shown)),
            Err(error) => Err(format!("`{}` was lost: {error}", self.shown)),
        }
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        // Where it has ended, there is nothing to end.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
