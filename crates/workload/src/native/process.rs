//! Placement and order of a job's workers, in the native file.

use toml::{Table, Value as TomlValue};

use super::fields::{Fields, Reader, Value};
use super::words::{ENDS, word};
use super::writer::count;
use crate::{EndsOthers, Process, ProcessorSharing, ThreadPriority};

/// The keys of what is not as it is by default.
pub(super) fn keys(process: &Process) -> Vec<(&'static str, TomlValue)> {
    let mut keys = Vec::new();
    let placement = placement(process);
    if !placement.is_empty() {
        keys.push(("process", TomlValue::Table(placement)));
    }
    if process.ends != EndsOthers::Nothing {
        keys.push(("ends", word(ENDS, &process.ends).into()));
    }
    for (key, text) in [
        ("after", &process.after),
        ("run_before", &process.command_before),
        ("run_after", &process.command_after),
    ] {
        if let Some(text) = text {
            keys.push((key, text.as_str().into()));
        }
    }
    keys
}

fn placement(process: &Process) -> Table {
    let mut table = Table::new();
    let mut add = |key: &str, value: TomlValue| drop(table.insert(key.to_owned(), value));
    if !process.processors.is_empty() {
        let list = process.processors.iter().map(|number| count(*number));
        add("processors", TomlValue::Array(list.collect()));
    }
    if process.sharing == ProcessorSharing::Split {
        add("split", true.into());
    }
    if process.nice != 0 {
        add("nice", i64::from(process.nice).into());
    }
    if let Some(priority) = process.io_priority {
        add("io_class", count(priority.class));
        add("io_level", count(priority.level));
        add("io_hint", count(priority.hint));
    }
    table
}

impl Reader<'_> {
    /// `process`, `ends`, `after`, `run_before` and `run_after`.
    pub(super) fn process(&mut self, fields: &mut Fields<'_, '_>, process: &mut Process) {
        if let Some(value) = fields.get("process") {
            self.thread_placement(value, process);
        }
        let ends = fields.get("ends").and_then(|value| self.word(value, ENDS));
        process.ends = ends.unwrap_or_default();
        process.after = fields.get("after").and_then(|value| self.text(value));
        process.command_before = fields.get("run_before").and_then(|value| self.text(value));
        process.command_after = fields.get("run_after").and_then(|value| self.text(value));
    }

    /// `{ processors = [0, 1], split = true, nice = 5, io_class = 2, io_level = 4 }`.
    fn thread_placement(&mut self, value: &Value<'_>, process: &mut Process) -> Option<()> {
        let mut fields = self.fields(value, "a placement of threads")?;
        if let Some(value) = fields.get("processors") {
            let list = self.list(value)?;
            process.processors = list.iter().filter_map(|value| self.count(value)).collect();
        }
        if fields.get("split").and_then(|value| self.truth(value)) == Some(true) {
            process.sharing = ProcessorSharing::Split;
        }
        if let Some(value) = fields.get("nice") {
            let number = value.get_ref().as_integer();
            let number = number.and_then(|number| number.as_str().parse::<i32>().ok());
            match number.filter(|number| (-20..=19).contains(number)) {
                Some(number) => process.nice = number,
                None => self.mismatch(value, "a number from -20 to 19", "write digits alone"),
            }
        }
        let mut part = |key, most: u16| {
            let value = fields.get(key)?;
            let number: u16 = self.count(value)?;
            if number > most {
                let message = format!("`{key}` is at most {most}");
                self.error(value.span(), message, "see ioprio_set(2)");
                return None;
            }
            Some(number)
        };
        let (class, level, hint) = (
            part("io_class", 3),
            part("io_level", 7),
            part("io_hint", 1023),
        );
        if class.or(level).or(hint).is_some() {
            process.io_priority = Some(ThreadPriority {
                class: class.unwrap_or(0) as u8,
                level: level.unwrap_or(0) as u8,
                hint: hint.unwrap_or(0),
            });
        }
        fields.finish(self);
        Some(())
    }
}
