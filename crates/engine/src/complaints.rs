//! What is wrong with the targets of a job.

use std::borrow::Cow;
use std::io;
use std::path::Path;

use fathom_diagnostics::{Diagnostic, Diagnostics};
use fathom_units::group_digits;
use fathom_workload::{Job, Target};

use crate::denied;

/// What is wrong with a target, and what to do.
#[derive(PartialEq)]
pub(crate) struct Complaint {
    pub(crate) what: String,
    hint: Option<Cow<'static, str>>,
}

impl Complaint {
    pub(crate) fn new(what: impl Into<String>) -> Self {
        let what = what.into();
        Self { what, hint: None }
    }

    /// What the system said of a path, and what to do where it did not permit it.
    pub(crate) fn of_system(path: &Path, error: &io::Error) -> Self {
        Self {
            what: error.to_string(),
            hint: denied::remedy(path, error).map(Cow::Owned),
        }
    }

    /// The complaint about a path that stands in no job.
    pub(crate) fn about(self, path: &str) -> Diagnostic {
        let diagnostic = Diagnostic::error(format!("`{path}`: {}", self.what));
        match self.hint {
            Some(hint) => diagnostic.hint(hint),
            None => diagnostic,
        }
    }

    pub(crate) fn hint(self, hint: impl Into<Cow<'static, str>>) -> Self {
        let hint = Some(hint.into());
        Self { hint, ..self }
    }
}

/// What is wrong with a job's targets. A job may have thousands, all of them wrong in the same way: that is said once.
pub(crate) struct Complaints<'a> {
    job: &'a Job,
    /// Each with the first target that it is about, and how many more it is about.
    of: Vec<(Complaint, &'a Target, usize)>,
}

impl<'a> Complaints<'a> {
    pub(crate) fn of(job: &'a Job) -> Self {
        Self {
            job,
            of: Vec::new(),
        }
    }

    pub(crate) fn add(&mut self, target: &'a Target, complaint: Complaint) {
        match self.of.last_mut() {
            Some((last, _, more)) if *last == complaint => *more += 1,
            _ => self.of.push((complaint, target, 0)),
        }
    }

    pub(crate) fn tell(self, problems: &mut Diagnostics) {
        for (Complaint { what, hint }, target, more) in self.of {
            let (name, path) = (&self.job.name, target.place.path());
            let more = match more {
                0 => String::new(),
                more => format!(" and {} more", group_digits(more as u64)),
            };
            let text = format!("job `{name}`: target `{path}`{more}: {what}");
            let diagnostic = Diagnostic::error(text).about(name, path);
            problems.push(match hint {
                Some(hint) => diagnostic.hint(hint),
                None => diagnostic,
            });
        }
    }
}
