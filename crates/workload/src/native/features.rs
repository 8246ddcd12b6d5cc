//! What a job does beyond plain I/O, in the native file.
//!
//! One key a feature; a feature that is off is left out.

use toml::Value as TomlValue;

use super::fields::{Fields, Reader};
use super::{handling, process};
use crate::Job;

/// The keys of the features that are on.
pub(super) fn keys(job: &Job) -> Vec<(&'static str, TomlValue)> {
    let mut keys = Vec::new();
    keys.extend(process::keys(&job.features.process));
    keys.extend(handling::keys(&job.features));
    keys
}

impl Reader<'_> {
    /// The features of a job.
    pub(super) fn features(&mut self, fields: &mut Fields<'_, '_>, job: &mut Job) {
        self.process(fields, &mut job.features.process);
        self.handling(fields, &mut job.features);
    }
}
