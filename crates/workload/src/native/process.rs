//! Placement and order of a job's workers, in the native file.

use std::collections::BTreeSet;

use fathom_units::Bytes;
use toml::{Table, Value as TomlValue};

use super::fields::{Fields, Reader, Value};
use super::words::{ENDS, word};
use super::writer::{count, size};
use crate::{
    EndsOthers, MemoryPolicy, NODE_MAX, NodeSet, Process, ProcessorSharing, ThreadPriority,
};

/// The word for all NUMA nodes.
const ALL: &str = "all";
/// The word for memory of the node on which a thread runs.
const LOCAL: &str = "local";

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
    if process.ends_on_error != EndsOthers::Nothing {
        keys.push(("ends_on_error", word(ENDS, &process.ends_on_error).into()));
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
    if let Some(set) = &process.nodes {
        add("nodes", nodes(set));
    }
    if let Some(policy) = memory(&process.memory) {
        add("memory", policy);
    }
    if process.locked_memory > Bytes::ZERO {
        add("locked_memory", size(process.locked_memory));
    }
    for (key, id) in [("user", process.user), ("user_group", process.user_group)] {
        if let Some(id) = id {
            add(key, count(id));
        }
    }
    if let Some(name) = &process.scheduler {
        add("scheduler", name.as_str().into());
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

fn nodes(set: &NodeSet) -> TomlValue {
    let list = |numbers: &BTreeSet<u32>| {
        let numbers = numbers.iter().map(|number| count(*number));
        TomlValue::Array(numbers.collect())
    };
    match set {
        NodeSet::Only(numbers) => list(numbers),
        NodeSet::AllBut(numbers) if numbers.is_empty() => ALL.into(),
        NodeSet::AllBut(numbers) => one_key("all_but", list(numbers)),
    }
}

/// `None`: it is left out.
fn memory(policy: &MemoryPolicy) -> Option<TomlValue> {
    Some(match policy {
        MemoryPolicy::Default => return None,
        MemoryPolicy::Local => LOCAL.into(),
        MemoryPolicy::Prefer(node) => one_key("prefer", count(*node)),
        MemoryPolicy::Bind(set) => one_key("bind", nodes(set)),
        MemoryPolicy::Interleave(set) => one_key("interleave", nodes(set)),
    })
}

fn one_key(key: &str, value: TomlValue) -> TomlValue {
    TomlValue::Table(Table::from_iter([(key.to_owned(), value)]))
}

impl Reader<'_> {
    /// `process`, `ends`, `ends_on_error`, `after`, `run_before` and `run_after`.
    pub(super) fn process(&mut self, fields: &mut Fields<'_, '_>, process: &mut Process) {
        if let Some(value) = fields.get("process") {
            self.thread_placement(value, process);
        }
        let ends = fields.get("ends").and_then(|value| self.word(value, ENDS));
        process.ends = ends.unwrap_or_default();
        let on_error = fields.get("ends_on_error");
        let on_error = on_error.and_then(|value| self.word(value, ENDS));
        process.ends_on_error = on_error.unwrap_or_default();
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
        process.nodes = fields.get("nodes").and_then(|value| self.nodes(value));
        if let Some(value) = fields.get("memory") {
            process.memory = self.memory(value).unwrap_or_default();
        }
        let locked = fields.get("locked_memory");
        let locked = locked.and_then(|value| self.quantity(value));
        process.locked_memory = locked.unwrap_or_default();
        process.user = fields.get("user").and_then(|value| self.count(value));
        let group = fields.get("user_group");
        process.user_group = group.and_then(|value| self.count(value));
        process.scheduler = fields.get("scheduler").and_then(|value| self.text(value));
        if let Some(value) = fields.get("nice") {
            let number = value.get_ref().as_integer();
            let number = number.and_then(|number| number.as_str().parse::<i32>().ok());
            if let Some(number) = number.filter(|number| (-20..=19).contains(number)) {
                process.nice = number;
            } else {
                let message = "`nice` is no whole number from -20 to 19";
                let hint = "write one without quotes, such as 10";
                self.error(value.span(), message, hint);
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

    /// `[0, 2]`, `"all"` or `{ all_but = [1] }`.
    fn nodes(&mut self, value: &Value<'_>) -> Option<NodeSet> {
        if let Some(word) = value.get_ref().as_str() {
            if word == ALL {
                return Some(NodeSet::ALL);
            }
            let message = format!("`{word}` names no NUMA nodes");
            let hint = "write \"all\", a list such as [0, 1], or { all_but = [0] }";
            self.error(value.span(), message, hint);
            return None;
        }
        if value.get_ref().as_table().is_none() {
            return self.node_numbers(value).map(NodeSet::Only);
        }
        let mut fields = self.fields(value, "a set of NUMA nodes")?;
        let but = fields.require("all_but", self);
        let but = but.and_then(|value| self.node_numbers(value));
        fields.finish(self);
        but.map(NodeSet::AllBut)
    }

    fn node_numbers(&mut self, value: &Value<'_>) -> Option<BTreeSet<u32>> {
        let list = self.list(value)?;
        if list.is_empty() {
            let hint = "name at least one, or write \"all\"";
            self.error(value.span(), "the list names no NUMA node", hint);
        }
        list.iter().map(|value| self.node(value)).collect()
    }

    fn node(&mut self, value: &Value<'_>) -> Option<u32> {
        let number = self.count(value)?;
        if number > NODE_MAX {
            let message = format!("NUMA nodes have numbers up to {NODE_MAX}");
            let hint = "see /sys/devices/system/node/online for those of a machine";
            self.error(value.span(), message, hint);
            return None;
        }
        Some(number)
    }

    /// `"local"`, `{ prefer = 0 }`, `{ bind = [0] }` or `{ interleave = "all" }`.
    fn memory(&mut self, value: &Value<'_>) -> Option<MemoryPolicy> {
        const HINT: &str =
            "write \"local\", { prefer = 0 }, { bind = [0] } or { interleave = \"all\" }";
        if let Some(word) = value.get_ref().as_str() {
            if word == LOCAL {
                return Some(MemoryPolicy::Local);
            }
            let message = format!("`{word}` is no placement of memory");
            self.error(value.span(), message, HINT);
            return None;
        }
        let mut fields = self.fields(value, "a placement of memory")?;
        let prefer = fields.get("prefer");
        let prefer = prefer.map(|value| self.node(value).map(MemoryPolicy::Prefer));
        let bind = fields.get("bind");
        let bind = bind.map(|value| self.nodes(value).map(MemoryPolicy::Bind));
        let interleave = fields.get("interleave");
        let interleave = interleave.map(|value| self.nodes(value).map(MemoryPolicy::Interleave));
        let mut given = [prefer, bind, interleave].into_iter().flatten();
        let (policy, more) = (given.next(), given.next());
        fields.finish(self);
        if policy.is_none() || more.is_some() {
            let message = "a placement of memory has one key of its three";
            self.error(value.span(), message, HINT);
        }
        policy?
    }
}
