//! How blocks are checked over all stages, in the native file.
//!
//! `validate = { name = "sd1", pre_read = true, read_after_write = false }`; the values shown count where a key is left out,
//! but for `name`, which is then empty.

use toml::{Table, Value as TomlValue};

use super::fields::{Reader, Value};
use crate::Validate;

/// The value of `validate`.
pub(super) fn value(validate: &Validate) -> TomlValue {
    let Validate {
        name,
        pre_read,
        read_after_write,
    } = validate;
    let mut table = Table::new();
    table.insert("name".to_owned(), name.as_str().into());
    table.insert("pre_read".to_owned(), (*pre_read).into());
    table.insert("read_after_write".to_owned(), (*read_after_write).into());
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
        fields.finish(self);
        Some(Validate {
            name: name.unwrap_or_default(),
            pre_read: pre_read.unwrap_or(true),
            read_after_write: after.unwrap_or(false),
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::native::{read, write};
    use crate::{Validate, preset};

    #[test]
    fn it_is_read_as_it_was_written() {
        for (pre_read, read_after_write) in [(true, false), (false, true)] {
            let mut workload = preset("quick", "/unused").unwrap();
            let validate = Validate {
                name: "sd1".to_owned(),
                pre_read,
                read_after_write,
            };
            workload.stages[0].jobs[0].features.validate = Some(Box::new(validate));
            let text = write(&workload);
            assert_eq!(read(&text, "written").unwrap().0, workload, "{text}");
        }
    }
}
