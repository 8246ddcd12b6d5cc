//! What a job does beyond plain I/O, in the native file.
//!
//! One key a feature; a feature that is off is left out.

use toml::{Table, Value as TomlValue};

use super::fields::{Fields, Reader, Value};
use super::writer::time;
use crate::{IoLog, Job};

/// The keys of the features that are on.
pub(super) fn keys(job: &Job) -> Vec<(&'static str, TomlValue)> {
    let mut keys = super::pacing::keys(job);
    if job.features.io_log.is_on() {
        keys.push(("log", io_log(job.features.io_log)));
    }
    if let Some(verify) = &job.features.verify {
        keys.push(("verify", super::verify::value(verify)));
    }
    keys
}

fn io_log(log: IoLog) -> TomlValue {
    let mut table = Table::new();
    table.insert("each".to_owned(), log.each.into());
    let windows = [("window", log.window), ("histogram", log.histogram)];
    for (key, length) in windows {
        if let Some(length) = length {
            table.insert(key.to_owned(), time(length));
        }
    }
    TomlValue::Table(table)
}

impl Reader<'_> {
    /// The features of a job.
    pub(super) fn features(&mut self, fields: &mut Fields<'_, '_>, job: &mut Job) {
        self.pacing(fields, job);
        if let Some(log) = fields.get("log").and_then(|value| self.io_log(value)) {
            job.features.io_log = log;
        }
        if let Some(value) = fields.get("verify") {
            job.features.verify = self.verify(value, job).map(Box::new);
        }
    }

    /// `{ each = true, window = "100ms", histogram = "1s" }`.
    fn io_log(&mut self, value: &Value<'_>) -> Option<IoLog> {
        let mut fields = self.fields(value, "a log")?;
        let each = fields.get("each").and_then(|value| self.truth(value));
        let mut length = |key| {
            let value = fields.get(key)?;
            let length = self.quantity(value)?;
            if length == fathom_units::Nanos::ZERO {
                self.error(
                    value.span(),
                    "a window cannot be empty",
                    "write it like \"100ms\"",
                );
                return None;
            }
            Some(length)
        };
        let log = IoLog {
            each: each.unwrap_or_default(),
            window: length("window"),
            histogram: length("histogram"),
        };
        fields.finish(self);
        Some(log)
    }
}
