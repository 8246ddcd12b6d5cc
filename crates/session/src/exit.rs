//! How the program ends: one failure type, one exit code each.

use std::num::NonZeroU8;
use std::process::ExitCode;

use fathom_diagnostics::Diagnostics;
use fathom_engine::{EngineError, ExitClass};

/// Most failed jobs that an exit code tells.
const FAILED_JOBS_MAX: usize = 127;

/// The documented exit codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// All went well.
    Success,
    /// Something nobody foresaw.
    Unexpected,
    /// The command line is wrong.
    Usage,
    /// An input is wrong.
    Input,
    /// Refused for safety.
    Refused,
    /// A target or an I/O failed.
    Target,
    /// A check failed, and `--strict` was given; or a need is not met.
    Check,
    /// A threshold of a comparison is crossed (`--fail-on`).
    Threshold,
    /// Not possible on this machine.
    Unsupported,
    /// fio's own code where a signal ended it.
    PeerStopped,
    /// Stopped by the user; what was measured is kept.
    Interrupted,
    /// Vdbench's own code for any failure: −99, as a shell shows it.
    VdbenchFailed,
    /// fio's own code where jobs failed: how many did, as [`Code::failed_jobs`] has it.
    JobsFailed(NonZeroU8),
}

impl Code {
    /// Of a run of fio's jobs of which so many failed. A process has one byte to tell it in: 127 stands for all numbers above,
    /// which would come to fio's code of a signal, or to none.
    pub fn failed_jobs(count: usize) -> Self {
        let told = u8::try_from(count.min(FAILED_JOBS_MAX)).unwrap_or(0);
        NonZeroU8::new(told).map_or(Self::Success, Self::JobsFailed)
    }

    /// The number itself.
    pub const fn number(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Unexpected => 1,
            Self::Usage => 2,
            Self::Input => 3,
            Self::Refused => 4,
            Self::Target => 5,
            Self::Check => 6,
            Self::Threshold => 7,
            Self::Unsupported => 8,
            Self::PeerStopped => 128,
            Self::Interrupted => 130,
            Self::VdbenchFailed => 157,
            Self::JobsFailed(count) => count.get(),
        }
    }
}

impl From<Code> for ExitCode {
    fn from(code: Code) -> Self {
        Self::from(code.number())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_jobs_are_counted_as_far_as_a_code_reaches() {
        #[track_caller]
        fn check(count: usize, expected: u8) {
            assert_eq!(Code::failed_jobs(count).number(), expected);
        }
        check(0, 0);
        check(1, 1);
        check(2, 2);
        check(127, 127);
        for count in [128, 255, 256, 4096] {
            check(count, 127);
        }
    }
}
