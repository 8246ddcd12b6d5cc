//! What the kernel is told with or before the I/O, in the native file.

use toml::{Table, Value as TomlValue};

use super::fields::{Fields, Reader, Value};
use super::words::{ADVICE, LIFETIMES, word};
use super::writer::count;
use crate::{Advice, Calls, Submitter};

/// The value of what is not as it is by default.
pub(super) fn value(calls: &Calls) -> TomlValue {
    let Calls {
        advice,
        polled,
        uncached,
        no_wait,
        atomic,
        async_every,
        submitter,
        lifetime,
    } = *calls;
    let mut table = Table::new();
    let mut add = |key: &str, value: TomlValue| drop(table.insert(key.to_owned(), value));
    if advice != Advice::None {
        add("advice", word(ADVICE, &advice).into());
    }
    if polled > 0 {
        add("polled", count(polled));
    }
    for (key, on) in [
        ("uncached", uncached),
        ("no_wait", no_wait),
        ("atomic", atomic),
    ] {
        if on {
            add(key, true.into());
        }
    }
    if async_every > 0 {
        add("async_every", count(async_every));
    }
    match submitter {
        Some(Submitter { processor: None }) => add("submitter", true.into()),
        Some(Submitter {
            processor: Some(processor),
        }) => add("submitter", count(processor)),
        None => {}
    }
    if let Some(lifetime) = lifetime {
        add("lifetime", word(LIFETIMES, &lifetime).into());
    }
    TomlValue::Table(table)
}

impl Reader<'_> {
    /// `calls = { advice = "by-pattern", polled = 100, uncached = true, no_wait = true, atomic = true, async_every = 8,
    /// submitter = 3, lifetime = "short" }`.
    pub(super) fn calls(&mut self, fields: &mut Fields<'_, '_>) -> Calls {
        let Some(value) = fields.get("calls") else {
            return Calls::default();
        };
        let Some(mut fields) = self.fields(value, "what the kernel is told") else {
            return Calls::default();
        };
        let advice = fields.get("advice");
        let advice = advice.and_then(|value| self.word(value, ADVICE));
        let polled = fields.get("polled").and_then(|value| self.count(value));
        let uncached = fields.get("uncached").and_then(|value| self.truth(value));
        let no_wait = fields.get("no_wait").and_then(|value| self.truth(value));
        let atomic = fields.get("atomic").and_then(|value| self.truth(value));
        let every = fields.get("async_every");
        let async_every = every.and_then(|value| self.count(value));
        let submitter = fields.get("submitter");
        let submitter = submitter.and_then(|value| self.submitter(value));
        let lifetime = fields.get("lifetime");
        let lifetime = lifetime.and_then(|value| self.word(value, LIFETIMES));
        fields.finish(self);
        Calls {
            advice: advice.unwrap_or_default(),
            polled: polled.unwrap_or_default(),
            uncached: uncached.unwrap_or_default(),
            no_wait: no_wait.unwrap_or_default(),
            atomic: atomic.unwrap_or_default(),
            async_every: async_every.unwrap_or_default(),
            submitter,
            lifetime,
        }
    }

    /// `true`, or the number of a processor.
    fn submitter(&mut self, value: &Value<'_>) -> Option<Submitter> {
        if value.get_ref().as_bool().is_some() {
            return self.truth(value)?.then(Submitter::default);
        }
        let processor = Some(self.count(value)?);
        Some(Submitter { processor })
    }
}
