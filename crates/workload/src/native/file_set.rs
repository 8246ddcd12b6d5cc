//! File sets and work on them, in the native file.

use fathom_units::{Bytes, Iops, Percent};
use toml::de::DeValue;
use toml::{Table, Value as TomlValue};

use super::fields::{Fields, Reader, Value};
use super::words::{PROCESSES, SPREADS, TASKS, word};
use super::writer::{count, share, size, sizes};
use crate::{FileSet, FileSizes, FileWork, Place, SetChoice, SetRate, StopAfter, Target};

/// The word of a choice whose mean is `poisson`.
const RANDOM: &str = "random";
const SEQUENTIAL: &str = "sequential";
const POISSON: &str = "poisson";
/// Mean of a Poisson choice that names none.
const POISSON_MEAN: u32 = 3;

/// The keys of a target that is a file set.
pub(super) fn target(set: &FileSet) -> Table {
    let mut keys = Table::new();
    let mut add = |key: &str, value: TomlValue| drop(keys.insert(key.to_owned(), value));
    add("tree", set.anchor.as_str().into());
    add("depth", count(set.depth));
    add("width", count(set.width));
    add("files", count(set.files));
    add("spread", word(SPREADS, &set.spread).into());
    match &set.sizes {
        FileSizes::Weighted(list) => add("sizes", sizes(list)),
        FileSizes::Around(mean) => add("mean_size", size(*mean)),
    }
    if let Some(total) = set.total {
        add("total", size(total));
    }
    if let Some(part) = set.working_set {
        add("working_set", size(part));
    }
    keys
}

/// The value of `file_work`.
pub(super) fn value(work: &FileWork) -> TomlValue {
    let mut keys = Table::new();
    let mut add = |key: &str, value: TomlValue| drop(keys.insert(key.to_owned(), value));
    add("task", word(TASKS, &work.task).into());
    match work.choice {
        SetChoice::Random => add("choice", RANDOM.into()),
        SetChoice::Sequential => add("choice", SEQUENTIAL.into()),
        SetChoice::Poisson(mean) => {
            add("choice", POISSON.into());
            add("poisson_mean", count(mean));
        }
    }
    for (key, on) in [
        ("once", work.once),
        ("delete_first", work.delete_first),
        ("shared", work.shared),
    ] {
        if on {
            add(key, true.into());
        }
    }
    match work.stop_after {
        Some(StopAfter::Ios(ios)) => add("stop_after", count(ios)),
        Some(StopAfter::Share(part)) => add("stop_after", share(part)),
        None => {}
    }
    if let Some(rate) = work.rate {
        add("rate", format!("{}/s", rate.rate.get()).into());
        add("process", word(PROCESSES, &rate.process).into());
    }
    TomlValue::Table(keys)
}

impl Reader<'_> {
    /// The rest of a target that has a `tree`.
    pub(super) fn file_set(
        &mut self,
        tree: &Value<'_>,
        mut fields: Fields<'_, '_>,
    ) -> Option<Target> {
        let mut set = FileSet::at(self.text(tree)?);
        let mut number = |key, place: &mut u32| {
            if let Some(found) = fields.get(key).and_then(|value| self.count(value)) {
                *place = found;
            }
        };
        number("depth", &mut set.depth);
        number("width", &mut set.width);
        number("files", &mut set.files);
        let spread = fields.get("spread");
        if let Some(spread) = spread.and_then(|value| self.word(value, SPREADS)) {
            set.spread = spread;
        }
        let weighted = fields.get("sizes");
        let mean = fields.get("mean_size");
        if let (Some(_), Some(value)) = (weighted, mean) {
            let message = "`sizes` and `mean_size` are both given";
            self.error(value.span(), message, "leave one out");
        }
        if let Some(list) = weighted.and_then(|value| self.sizes(value)) {
            set.sizes = FileSizes::Weighted(list);
        }
        let mean: Option<Bytes> = mean.and_then(|value| self.quantity(value));
        if let Some(mean) = mean {
            set.sizes = FileSizes::Around(mean);
        }
        set.total = fields.get("total").and_then(|value| self.quantity(value));
        let part = fields.get("working_set");
        set.working_set = part.and_then(|value| self.quantity(value));
        fields.finish(self);
        Some(Target {
            place: Place::FileSet(Box::new(set)),
            offset: Bytes::ZERO,
            length: None,
        })
    }

    /// A task, or a table with it.
    pub(super) fn file_work(&mut self, value: &Value<'_>) -> Option<FileWork> {
        if matches!(value.get_ref(), DeValue::String(_)) {
            return self.word(value, TASKS).map(FileWork::new);
        }
        let mut fields = self.fields(value, "work on a file set")?;
        let task = fields.require("task", self);
        let task = task.and_then(|value| self.word(value, TASKS));
        let choice = fields.get("choice");
        let mean = fields.get("poisson_mean");
        let choice = choice.and_then(|value| self.choice(value, mean));
        let mut truth = |key| {
            let value = fields.get(key);
            value
                .and_then(|value| self.truth(value))
                .unwrap_or_default()
        };
        let [once, delete_first, shared] = ["once", "delete_first", "shared"].map(&mut truth);
        let stop_after = fields.get("stop_after");
        let stop_after = stop_after.and_then(|value| self.stop_after(value));
        let rate = fields.get("rate");
        let rate: Option<Iops> = rate.and_then(|value| self.quantity(value));
        let process = fields.get("process");
        let process = process.and_then(|value| self.word(value, PROCESSES));
        fields.finish(self);
        Some(FileWork {
            choice: choice.unwrap_or(SetChoice::Random),
            once,
            stop_after,
            delete_first,
            shared,
            rate: rate.map(|rate| SetRate {
                rate,
                process: process.unwrap_or_default(),
            }),
            ..FileWork::new(task?)
        })
    }

    fn choice(&mut self, value: &Value<'_>, mean: Option<&Value<'_>>) -> Option<SetChoice> {
        const KINDS: super::words::Words<u8> = &[(RANDOM, 0), (SEQUENTIAL, 1), (POISSON, 2)];
        let kind = self.word(value, KINDS)?;
        if let (0 | 1, Some(mean)) = (kind, mean) {
            let message = "`poisson_mean` belongs to the choice `poisson`";
            self.error(mean.span(), message, "remove it, or change `choice`");
        }
        Some(match kind {
            0 => SetChoice::Random,
            1 => SetChoice::Sequential,
            _ => {
                let mean = mean.map_or(Some(POISSON_MEAN), |mean| self.count(mean));
                SetChoice::Poisson(mean?)
            }
        })
    }

    /// A number of I/Os, or a share such as `"50%"`.
    fn stop_after(&mut self, value: &Value<'_>) -> Option<StopAfter> {
        let text = value.get_ref().as_str();
        if text.is_some_and(|text| text.ends_with('%')) {
            let part: Percent = self.quantity(value)?;
            return Some(StopAfter::Share(part));
        }
        self.count(value).map(StopAfter::Ios)
    }
}
