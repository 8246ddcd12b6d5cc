//! Reading and writing of access lines in the native file.

use fathom_units::Percent;
use toml::{Table, Value as Toml};

use super::fields::{Fields, Reader, Value};
use super::writer::{count, share, size, time};
use crate::{AccessLine, Job};

/// `lines = [{ weight = 60, size = "4KiB", read = "80%", … }]`.
pub(super) fn value(lines: &[AccessLine]) -> Toml {
    Toml::Array(lines.iter().map(line).collect())
}

fn line(line: &AccessLine) -> Toml {
    let mut keys = Table::new();
    let mut add = |key: &str, value| keys.insert(key.to_owned(), value);
    add("weight", count(line.weight));
    add("size", size(line.size));
    add("read", share(line.read));
    add("random", share(line.random));
    if line.delay != fathom_units::Nanos::ZERO {
        add("delay", time(line.delay));
    }
    if line.burst != 1 {
        add("burst", count(line.burst));
    }
    if let Some(alignment) = line.alignment {
        add("alignment", size(alignment));
    }
    if let Some(reply) = line.reply {
        add("reply", size(reply));
    }
    if let Some(target) = line.target {
        add("target", count(target));
    }
    Toml::Table(keys)
}

impl Reader<'_> {
    /// The lines of a job. What it says itself of its mix, access and sizes is kept; the rest is what the lines come to.
    pub(super) fn lines(&mut self, fields: &mut Fields<'_, '_>, job: &mut Job) {
        let Some(value) = fields.get("lines") else {
            return;
        };
        let Some(list) = self.list(value) else {
            return;
        };
        if list.is_empty() {
            let hint = "write it like [{ size = \"4KiB\", read = \"80%\", random = \"100%\" }]";
            self.error(value.span(), "there are no lines", hint);
            return;
        }
        let lines = list.iter().map(|value| self.line(value));
        let Some(lines) = lines.collect::<Option<Vec<_>>>() else {
            return;
        };
        let (mix, access, block) = (job.mix, job.access, job.block.clone());
        job.set_lines(lines);
        if fields.get("mix").is_some() {
            job.mix = mix;
        }
        if fields.get("access").is_some() {
            job.access = access;
        }
        if fields.get("block").is_some() {
            job.block = block;
        }
    }

    fn line(&mut self, value: &Value<'_>) -> Option<AccessLine> {
        let mut fields = self.fields(value, "a line")?;
        let found = fields.get("size").map(|value| self.quantity(value));
        let weight = fields
            .get("weight")
            .map_or(Some(1), |value| self.count(value));
        let burst = fields
            .get("burst")
            .map_or(Some(1), |value| self.at_least_one(value));
        let [read, random] = ["read", "random"].map(|key| {
            let value = fields.get(key);
            value.map_or(Some(Percent::ALL), |value| self.quantity(value))
        });
        let delay = fields.get("delay");
        let delay = delay.map_or(Some(fathom_units::Nanos::ZERO), |value| {
            self.quantity(value)
        });
        let [alignment, reply] = ["alignment", "reply"].map(|key| {
            let value = fields.get(key);
            value.map_or(Some(None), |value| self.quantity(value).map(Some))
        });
        let target = fields.get("target");
        let target = target.map_or(Some(None), |value| self.count(value).map(Some));
        let span = fields.span();
        fields.finish(self);
        let Some(size) = found else {
            self.error(span, "the line has no size", "add `size`, such as \"4KiB\"");
            return None;
        };
        Some(AccessLine {
            weight: weight?,
            size: size?,
            read: read?,
            random: random?,
            delay: delay?,
            burst: burst?,
            alignment: alignment?,
            reply: reply?,
            target: target?,
        })
    }
}
