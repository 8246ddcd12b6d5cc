//! How blocks are checked over all stages, in the native file.
//!
//! `validate = { name = "sd1", pre_read = true, read_after_write = false, known_only = false, journal = { … } }`; the values shown
//! count where a key is left out, but for `name`, which is then empty, and `journal`, of which there is none then:
//! `journal = { path = "sd1.jnl", recovers = false, flushes = true, ignores_pending = false }`.

use toml::{Table, Value as TomlValue};

use super::fields::{Reader, Value};
use crate::{Journal, Validate};

/// The value of `validate`.
pub(super) fn value(validate: &Validate) -> TomlValue {
    let Validate {
        name,
        pre_read,
        read_after_write,
        known_only,
        journal,
    } = validate;
    let mut table = Table::new();
    table.insert("name".to_owned(), name.as_str().into());
    table.insert("pre_read".to_owned(), (*pre_read).into());
    table.insert("read_after_write".to_owned(), (*read_after_write).into());
    if *known_only {
        table.insert("known_only".to_owned(), true.into());
    }
    if let Some(journal) = journal {
        table.insert("journal".to_owned(), journal_value(journal));
    }
    TomlValue::Table(table)
}

fn journal_value(journal: &Journal) -> TomlValue {
    let Journal {
        path,
        recovers,
        flushes,
        ignores_pending,
    } = journal;
    let mut table = Table::new();
    table.insert("path".to_owned(), path.as_str().into());
    table.insert("recovers".to_owned(), (*recovers).into());
    table.insert("flushes".to_owned(), (*flushes).into());
    table.insert("ignores_pending".to_owned(), (*ignores_pending).into());
    TomlValue::Table(table)
}

impl Reader<'_> {
    /// `{ name = "sd1", pre_read = true, read_after_write = false }`.
    pub(super) fn validate(&mut self, value: &Value<'_>) -> Option<Validate> {
        let mut fields = self.fields(value, "a validation")?;
        let name = fields.get("name").and_then(|value| self.text(value));
        let pre_read = fields.get("pre_read").and_then(|value| self.truth(value));
        let after = fields.get("read_after_write");
        let after = after.and_then(|value| self.truth(value));
        let known_only = fields.get("known_only").and_then(|value| self.truth(value));
        let journal = fields.get("journal").and_then(|value| self.journal(value));
        fields.finish(self);
        Some(Validate {
            known_only: known_only.unwrap_or(false),
            journal,
            name: name.unwrap_or_default(),
            pre_read: pre_read.unwrap_or(true),
            read_after_write: after.unwrap_or(false),
        })
    }

    /// `{ path = "sd1.jnl", recovers = false, flushes = true, ignores_pending = false }`.
    fn journal(&mut self, value: &Value<'_>) -> Option<Journal> {
        let mut fields = self.fields(value, "a journal")?;
        let path = fields
            .require("path", self)
            .and_then(|value| self.text(value));
        let mut truth = |key: &'static str| fields.get(key).and_then(|value| self.truth(value));
        let [recovers, flushes, ignores_pending] =
            ["recovers", "flushes", "ignores_pending"].map(&mut truth);
        fields.finish(self);
        Some(Journal {
            path: path?,
            recovers: recovers.unwrap_or(false),
            flushes: flushes.unwrap_or(true),
            ignores_pending: ignores_pending.unwrap_or(false),
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::native::{read, write};
    use crate::{Journal, Validate, preset};

    #[test]
    fn it_is_read_as_it_was_written() {
        for (pre_read, read_after_write) in [(true, false), (false, true)] {
            let mut workload = preset("quick", "/unused").unwrap();
            let validate = Validate {
                name: "sd1".to_owned(),
                pre_read,
                read_after_write,
                known_only: read_after_write,
                journal: pre_read.then(|| Journal {
                    path: "dir/sd1.jnl".to_owned(),
                    recovers: true,
                    flushes: false,
                    ignores_pending: true,
                }),
            };
            workload.stages[0].jobs[0].features.validate = Some(Box::new(validate));
            let text = write(&workload);
            assert_eq!(read(&text, "written").unwrap().0, workload, "{text}");
        }
    }
}
