//! Work in place of I/O, in the native file.
//!
//! ```toml
//! processor_work = { share = "50%", burst = "50ms", kind = "spin", ends_with_io = true }
//! ```

use fathom_units::{Nanos, Percent};
use toml::{Table, Value as TomlValue};

use super::fields::{Reader, Value};
use super::words::{Words, word};
use super::writer::{share, time};
use crate::{ProcessorWork, WorkKind};

const KINDS: Words<WorkKind> = &[("spin", WorkKind::Spin), ("sort", WorkKind::Sort)];

/// How long a burst is where nothing is said of it, as in fio.
const BURST: Nanos = Nanos::from_millis(50);

/// The value of the key.
pub(super) fn value(work: &ProcessorWork) -> TomlValue {
    let mut table = Table::new();
    table.insert("share".to_owned(), share(work.share));
    table.insert("burst".to_owned(), time(work.burst));
    table.insert("kind".to_owned(), word(KINDS, &work.kind).into());
    if work.ends_with_io {
        table.insert("ends_with_io".to_owned(), true.into());
    }
    TomlValue::Table(table)
}

impl Reader<'_> {
    /// What a job does in place of I/O; `None` after an error, which is said.
    pub(super) fn processor_work(&mut self, value: &Value<'_>) -> Option<ProcessorWork> {
        let mut fields = self.fields(value, "work in place of I/O")?;
        let share: Option<Percent> = (fields.get("share")).and_then(|value| self.quantity(value));
        let burst = fields.get("burst").map(|value| self.quantity(value));
        let kind = fields.get("kind").map(|value| self.word(value, KINDS));
        let ends = fields.get("ends_with_io");
        let ends_with_io = ends.and_then(|value| self.truth(value));
        let (span, has_share) = (fields.span(), fields.get("share").is_some());
        fields.finish(self);
        if !has_share {
            let hint = "write it like { share = \"50%\" }";
            self.error(
                span,
                "work in place of I/O needs a share of a processor",
                hint,
            );
        }
        Some(ProcessorWork {
            share: share?,
            burst: burst.unwrap_or(Some(BURST))?,
            kind: kind.unwrap_or(Some(WorkKind::default()))?,
            ends_with_io: ends_with_io.unwrap_or_default(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::native::{read, write};

    fn file(keys: &str) -> String {
        format!(
            "target = 'none'\n[[stage]]\nmeasure = '1s'\n[[stage.job]]\nbackend = 'null'\n{keys}"
        )
    }

    #[test]
    fn work_is_read_and_written_alike() {
        #[track_caller]
        fn check(value: &str, percent: u32, burst: Nanos, kind: WorkKind, ends_with_io: bool) {
            let (workload, _) = read(&file(&format!("processor_work = {{ {value} }}")), "f")
                .unwrap_or_else(|errors| panic!("{errors}"));
            let expected = ProcessorWork {
                share: Percent::from_basis_points(percent * 100).unwrap(),
                burst,
                kind,
                ends_with_io,
            };
            let job = &workload.stages[0].jobs[0];
            assert_eq!(job.features.processor_work, Some(expected));
            assert_eq!(job.effective_depth(), 1);
            let (again, _) = read(&write(&workload), "again").unwrap();
            assert_eq!(again, workload);
        }
        let fifty = Nanos::from_millis(50);
        check("share = '50%'", 50, fifty, WorkKind::Spin, false);
        check(
            "share = '7%', burst = '2ms', kind = 'sort', ends_with_io = true",
            7,
            Nanos::from_millis(2),
            WorkKind::Sort,
            true,
        );
    }

    #[test]
    fn what_contradicts_it_is_told() {
        #[track_caller]
        fn check(keys: &str, expected: &str) {
            let errors = read(&file(keys), "f").expect_err(keys).to_string();
            assert!(errors.contains(expected), "{keys}: {errors}");
        }
        let work = "processor_work = { share = '50%' }";
        check("processor_work = { burst = '1s' }", "needs a share");
        check(
            "processor_work = { share = '0%' }",
            "its share of a processor is 0",
        );
        check(
            "processor_work = { share = '1%', burst = '0s' }",
            "bursts are 0",
        );
        check(
            "processor_work = { share = '1%', burst = '2h' }",
            "bursts are 120 min",
        );
        check(
            &format!("{work}\narrival = {{ rate = '5/s' }}"),
            "it has a rate",
        );
        check(&format!("{work}\nmix = 'write'"), "it has a mix");
        check(
            &format!("{work}\nthink = {{ pause = '1s' }}"),
            "pauses of its own",
        );
        check(
            &format!("{work}\nflow = {{ id = 1, weight = 1 }}"),
            "a share in a flow",
        );
        let text = file(work).replace("'null'", "'sync'");
        let errors = read(&text, "f").expect_err("it has a backend").to_string();
        assert!(errors.contains("it does no I/O"), "{errors}");
    }
}
