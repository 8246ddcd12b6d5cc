//! What fio wants a file to be before it runs a job: a device, where `filetype` says so, and a file that holds a placement
//! scheme.
//!
//! A device below `/dev` that this machine lacks may be one of a design, so that its job can be predicted.

use fathom_diagnostics::Diagnostic;
use fathom_workload::Target;

use super::context::{FileStatus, Files};
use super::engine::operation;
use super::errno::{EINVAL, ENOENT, ENOTTY};
use super::late::Complaints;
use super::settings::{Amount, Settings};
use super::targets::Clone;

impl Clone<'_> {
    /// Complains of the first of its files that is no device where `filetype` says that it is one.
    pub fn check_kinds(
        &self,
        targets: &[Target],
        files: &dyn Files,
        diagnostics: &mut Complaints<'_>,
    ) {
        let settings = self.settings;
        let kind = settings.typed("filetype").unwrap_or("");
        let opens = !self.diskless && operation(settings).is_none();
        if !opens || !matches!(kind, "block" | "char") {
            return;
        }
        let has_size = settings.size != Amount::Unset || settings.file_size.is_some();
        for path in targets.iter().map(|target| target.place.path()) {
            let (errno, problem) = match files.status(path) {
                FileStatus::Missing if !path.starts_with("/dev/") => {
                    (ENOENT, "does not exist, and such a file is not made")
                }
                FileStatus::Regular(_) if kind == "block" => (ENOTTY, "is a regular file"),
                FileStatus::Regular(_) if !has_size => {
                    (EINVAL, "is a regular file, whose size is not looked for")
                }
                _ => continue,
            };
            let message = format!(
                "job `{}`: `{path}` {problem}, but `filetype={kind}` says that it is a device",
                self.name
            );
            let error = Diagnostic::error(message).hint("leave filetype out");
            let error = match settings.location("filetype") {
                Some(location) => error.at(location),
                None => error,
            };
            return diagnostics.late(errno, error);
        }
    }
}

/// Why a file of a placement scheme cannot be taken, if one is named; fio refuses it as it reads the job.
pub fn problem_of_scheme(settings: &Settings, files: &dyn Files) -> Option<Diagnostic> {
    let path = settings.typed("dp_scheme")?.trim();
    let problem = match files.status(path) {
        FileStatus::Regular(_) => return None,
        FileStatus::Missing => "does not exist",
        FileStatus::Directory | FileStatus::Special(_) => "is no regular file",
    };
    let error = Diagnostic::error(format!("`{path}` of `dp_scheme` {problem}"))
        .hint("leave dp_scheme out: no engine that is carried places data by it");
    Some(match settings.location("dp_scheme") {
        Some(location) => error.at(location),
        None => error,
    })
}
