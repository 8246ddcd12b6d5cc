//! Options of NUMA nodes: on whose processors a job runs, and where its memory lies.
//!
//! fio hands lists of nodes to libnuma where a job is to be run, and reads nothing of them under `--parse-only`: a wrong
//! one is an error of a run alone. Lists are those of `numa_parse_nodestring` of `numa(3)`.

use std::collections::BTreeSet;

use fathom_workload::{MemoryPolicy, NODE_MAX, NodeSet, Process};

use super::Settings;
use super::reader::ValueReader;

impl Settings {
    /// Applies an option of this kind; `false` where it is none.
    pub(super) fn apply_numa(&mut self, reader: &mut ValueReader<'_>) -> bool {
        match reader.name() {
            "numa_cpu_nodes" => self.set_numa(reader, node_set, |process, nodes| {
                process.nodes = Some(nodes);
            }),
            "numa_mem_policy" => self.set_numa(reader, memory_policy, |process, policy| {
                process.memory = policy;
            }),
            _ => return false,
        }
        true
    }

    fn set_numa<T>(
        &mut self,
        reader: &mut ValueReader<'_>,
        read: fn(&str) -> Result<T, String>,
        put: fn(&mut Process, T),
    ) {
        let (name, text) = (reader.name(), reader.optional_text().unwrap_or_default());
        match read(&text) {
            Ok(value) => put(&mut self.control.process, value),
            Err(hint) => {
                let (message, hint) = if text.is_empty() {
                    let hint = "an environment variable may not be set".to_owned();
                    (format!("option `{name}` has an empty value"), hint)
                } else {
                    (format!("`{text}` is no value of `{name}`"), hint)
                };
                reader.refuse_at_run(&message, Some(hint));
            }
        }
    }
}

/// `0,2-4`, `all`, or all but those after a `!`; what to write instead, where it is none of these.
fn node_set(text: &str) -> Result<NodeSet, String> {
    let but = text.strip_prefix('!');
    let list = but.unwrap_or(text);
    if list.starts_with('+') {
        return Err(
            "nodes counted from the first that is allowed are not carried: name them".into(),
        );
    }
    let entries: Vec<&str> = list.split(',').collect();
    let mut nodes = BTreeSet::new();
    for (index, entry) in entries.iter().enumerate() {
        // What stands before it is part of it; nothing may follow.
        if *entry == "all" && index + 1 == entries.len() {
            return match but {
                None => Ok(NodeSet::ALL),
                Some(_) => Err("no node is left: name those that the job may use".to_owned()),
            };
        }
        let (first, last) = entry.split_once('-').unwrap_or((entry, entry));
        let (first, last) = (node(first.trim_start())?, node(last.trim_start())?);
        if first > last {
            return Err(format!("write `{last}-{first}`"));
        }
        nodes.extend(first..=last);
    }
    Ok(match but {
        None => NodeSet::Only(nodes),
        Some(_) => NodeSet::AllBut(nodes),
    })
}

/// `default`, `local`, `prefer:0`, `bind:0-1`, `interleave` or `interleave:0-1`.
fn memory_policy(text: &str) -> Result<MemoryPolicy, String> {
    let (mode, nodes) = match text.split_once(':') {
        Some((mode, nodes)) => (mode, Some(nodes)),
        None => (text, None),
    };
    match (mode, nodes) {
        ("default", None) => Ok(MemoryPolicy::Default),
        ("local", None) => Ok(MemoryPolicy::Local),
        ("default" | "local", Some(_)) => Err(format!("`{mode}` takes no nodes")),
        ("prefer", Some(number)) => node(number).map(MemoryPolicy::Prefer),
        ("bind", Some(list)) => node_set(list).map(MemoryPolicy::Bind),
        ("interleave", Some(list)) => node_set(list).map(MemoryPolicy::Interleave),
        ("interleave", None) => Ok(MemoryPolicy::Interleave(NodeSet::ALL)),
        ("prefer", None) => Err("`prefer` takes one node, such as `prefer:0`".to_owned()),
        ("bind", None) => Err("`bind` takes nodes, such as `bind:0-1`".to_owned()),
        _ => Err("one of default, local, prefer:NODE, bind:NODES, interleave:NODES".to_owned()),
    }
}

fn node(text: &str) -> Result<u32, String> {
    let hint = || format!("nodes are numbers from 0 to {NODE_MAX}, such as `0,2-4`, or `all`");
    // libnuma reads a number with a 0 before it as an octal one.
    let plain = text == "0" || !text.starts_with('0');
    if !plain || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(hint());
    }
    let number = text.parse::<u32>().ok();
    number.filter(|number| *number <= NODE_MAX).ok_or_else(hint)
}
