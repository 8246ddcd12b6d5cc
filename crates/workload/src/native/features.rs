//! What a job does beyond plain I/O, in the native file.
//!
//! One key a feature; a feature that is off is left out.

use toml::{Table, Value as TomlValue};

use super::fields::{Fields, Reader, Value};
use super::writer::time;
use super::{handling, process};
use crate::{FileOperation, IoLog, IoPriority, Job, Mix, Priorities, PriorityShare};

/// The keys of the features that are on.
pub(super) fn keys(job: &Job) -> Vec<(&'static str, TomlValue)> {
    let mut keys = super::pacing::keys(job);
    if let Some(shares) = &job.features.priorities {
        keys.push(("priorities", priorities(shares)));
    }
    if job.features.io_log.is_on() {
        keys.push(("log", io_log(job.features.io_log)));
    }
    if let Some(verify) = &job.features.verify {
        keys.push(("verify", super::verify::value(verify)));
    }
    if let Some(validate) = &job.features.validate {
        keys.push(("validate", super::validate::value(validate)));
    }
    keys.extend(process::keys(&job.features.process));
    keys.extend(handling::keys(&job.features));
    keys
}

fn priorities(priorities: &Priorities) -> TomlValue {
    let list = |shares: &[PriorityShare]| {
        let share = |share: &PriorityShare| {
            let mut table = Table::new();
            if let Some(size) = share.size {
                table.insert("size".to_owned(), super::writer::size(size));
            }
            let numbers = [
                ("percent", i64::from(share.percent)),
                ("class", i64::from(share.priority.class())),
                ("hint", i64::from(share.priority.hint())),
                ("level", i64::from(share.priority.level())),
            ];
            for (key, number) in numbers {
                table.insert(key.to_owned(), number.into());
            }
            TomlValue::Table(table)
        };
        TomlValue::Array(shares.iter().map(share).collect())
    };
    let mut table = Table::new();
    table.insert("read".to_owned(), list(&priorities.read));
    table.insert("write".to_owned(), list(&priorities.write));
    TomlValue::Table(table)
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
        if let Some(value) = fields.get("priorities") {
            job.features.priorities = self.priorities(value).map(Box::new);
        }
        if let Some(log) = fields.get("log").and_then(|value| self.io_log(value)) {
            job.features.io_log = log;
        }
        if let Some(value) = fields.get("verify") {
            job.features.verify = self.verify(value, job).map(Box::new);
        }
        if let Some(value) = fields.get("validate") {
            job.features.validate = self.validate(value).map(Box::new);
        }
        self.process(fields, &mut job.features.process);
        self.handling(fields, &mut job.features);
        if job.features.operation == Some(FileOperation::Truncate) && fields.get("mix").is_none() {
            job.mix = Mix::WRITE;
        }
    }

    /// `{ read = [{ size = "64KiB", percent = 25, class = 1, hint = 0, level = 0 }], write = [] }`.
    fn priorities(&mut self, value: &Value<'_>) -> Option<Priorities> {
        let mut fields = self.fields(value, "priorities")?;
        let mut list = |key| {
            let Some(value) = fields.get(key) else {
                return Some(Vec::new());
            };
            let shares = self
                .list(value)?
                .iter()
                .map(|value| self.priority_share(value));
            shares.collect::<Option<Vec<_>>>()
        };
        let (read, write) = (list("read"), list("write"));
        fields.finish(self);
        Some(Priorities {
            read: read?,
            write: write?,
        })
    }

    fn priority_share(&mut self, value: &Value<'_>) -> Option<PriorityShare> {
        let mut fields = self.fields(value, "a share with a priority")?;
        let size = fields.get("size").and_then(|value| self.quantity(value));
        let percent: Option<u32> = fields.get("percent").and_then(|value| self.count(value));
        let mut part = |key| {
            let value = fields.get(key);
            value
                .and_then(|value| self.count::<u16>(value))
                .unwrap_or(0)
        };
        let priority = IoPriority::new(part("class"), part("hint"), part("level"));
        let span = fields.span();
        fields.finish(self);
        let percent = percent.filter(|percent| *percent <= 100);
        let Some((percent, priority)) = percent.zip(priority) else {
            let message = "a share has a percent of 0 to 100, a class of 0 to 3, a hint of 0 to 1023 and a level \
                           of 0 to 7";
            let hint = "write it like { percent = 50, class = 1, level = 0 }";
            self.error(span, message, hint);
            return None;
        };
        Some(PriorityShare {
            size,
            percent,
            priority,
        })
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
