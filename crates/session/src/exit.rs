//! How the program ends: one failure type, one exit code each.

use std::process::ExitCode;

use fathom_diagnostics::Diagnostics;
use fathom_engine::{EngineError, ExitClass};

/// The documented exit codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// All went well.
    Success = 0,
    /// Something nobody foresaw.
    Unexpected = 1,
    /// The command line is wrong.
    Usage = 2,
    /// An input is wrong.
    Input = 3,
    /// Refused for safety.
    Refused = 4,
    /// A target or an I/O failed.
    Target = 5,
    /// A check failed, and `--strict` was given; or a need is not met.
    Check = 6,
    /// A threshold of a comparison is crossed (`--fail-on`).
    Threshold = 7,
    /// Not possible on this machine.
    Unsupported = 8,
    /// fio's own code where a signal ended it.
    PeerStopped = 128,
    /// Stopped by the user; what was measured is kept.
    Interrupted = 130,
    /// Vdbench's own code for any failure: −99, as a shell shows it.
    VdbenchFailed = 157,
}

impl From<Code> for ExitCode {
    fn from(code: Code) -> Self {
        Self::from(code as u8)
    }
}

/// Why a verb did not do what it was asked, and the code that says so.
#[derive(Debug)]
pub struct Failure {
    /// The exit code.
    pub code: Code,
    /// What a person reads: what, why, what to do.
    pub message: String,
}

impl Failure {
    /// A failure whose text begins with `error:`.
    pub fn new(code: Code, message: impl std::fmt::Display) -> Self {
        Self {
            code,
            message: format!("error: {message}"),
        }
    }

    /// The same, with what to do.
    #[must_use]
    pub fn hint(mut self, hint: impl std::fmt::Display) -> Self {
        self.message = format!("{}\n  hint: {hint}", self.message);
        self
    }
}

impl From<Diagnostics> for Failure {
    fn from(diagnostics: Diagnostics) -> Self {
        Self {
            code: Code::Input,
            message: diagnostics.to_string(),
        }
    }
}

/// The engine's error with its exit code.
pub fn engine_failure(error: &EngineError) -> Failure {
    let code = match error.exit_class() {
        ExitClass::Input => Code::Input,
        ExitClass::Refused => Code::Refused,
        ExitClass::Target => Code::Target,
        ExitClass::Unsupported => Code::Unsupported,
    };
    match error {
        EngineError::Invalid(diagnostics) => diagnostics.clone().into(),
        other => Failure::new(code, other),
    }
}
