//! Bytes that named processes and their descendants moved, by the kernel's own counters of each.
//!
//! A server's work is mostly that of its children, which its own counters do not have. A child that begins meanwhile counts
//! from nothing, one that ends keeps what it was last seen with; one that lives between two readings is not seen.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;

use fathom_units::{Bytes, counted};

use super::counters::read_process_io;

/// Most descendants of a process that are followed.
const DESCENDANTS_MOST: usize = 4096;

/// What each named process and its descendants moved.
#[derive(Debug)]
pub struct Moved {
    proc: PathBuf,
    named: Vec<Named>,
}

#[derive(Debug)]
struct Named {
    process: u32,
    /// Bytes read and written, of it and each descendant: at first and at last.
    seen: HashMap<u32, [(u64, u64); 2]>,
}

impl Moved {
    /// Reads the processes for the first time; `proc` is `/proc`.
    pub fn of(proc: PathBuf, processes: &[u32]) -> Self {
        let named = processes.iter().map(|process| Named {
            process: *process,
            seen: HashMap::new(),
        });
        let mut moved = Self {
            proc,
            named: named.collect(),
        };
        moved.look(|now| [now, now]);
        moved
    }

    /// Reads them again.
    pub fn read(&mut self) {
        self.look(|now| [(0, 0), now]);
    }

    fn look(&mut self, begin: impl Fn((u64, u64)) -> [(u64, u64); 2]) {
        let proc = &self.proc;
        for named in &mut self.named {
            for process in family(proc, named.process) {
                let text = fs::read_to_string(proc.join(process.to_string()).join("io"));
                if let Some(now) = text.ok().and_then(|text| read_process_io(&text)) {
                    named.seen.entry(process).or_insert(begin(now))[1] = now;
                }
            }
        }
    }

    /// One sentence for each named process whose counters could be read.
    pub fn told(&self) -> Vec<String> {
        let known = self.named.iter().filter(|named| !named.seen.is_empty());
        let told = known.map(|named| {
            let sum = |way: fn(&(u64, u64)) -> u64| {
                let each = named.seen.values();
                Bytes::new(each.map(|[from, to]| way(to).saturating_sub(way(from))).sum())
            };
            let who = match named.seen.len() - 1 {
                0 => format!("process {}", named.process),
                more => {
                    let more = counted(more as u64, ("descendant", "descendants"));
                    format!("process {} and {more}", named.process)
                }
            };
            let (read, written) = (sum(|it| it.0), sum(|it| it.1));
            format!(
                "{who} caused {read} to be read and {written} to be written, by their own counters, which take buffered \
                 writes when they are made"
            )
        });
        told.collect()
    }
}

/// A process and its descendants, as far as the kernel lists children.
fn family(proc: &std::path::Path, process: u32) -> Vec<u32> {
    let mut found = vec![process];
    let mut next = 0;
    while let Some(process) = found.get(next).copied() {
        next += 1;
        let tasks = fs::read_dir(proc.join(process.to_string()).join("task"));
        for task in tasks.into_iter().flatten().flatten() {
            let children = fs::read_to_string(task.path().join("children")).unwrap_or_default();
            let children = children
                .split_whitespace()
                .filter_map(|it| it.parse::<u32>().ok());
            found.extend(children.take(DESCENDANTS_MOST.saturating_sub(found.len())));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `/proc` with a process of its children and bytes: `(process, children, read, written)`.
    fn write(proc: &std::path::Path, processes: &[(u32, &str, u64, u64)]) {
        for (process, children, read, written) in processes {
            let place = proc.join(process.to_string());
            let task = place.join("task").join(process.to_string());
            fs::create_dir_all(&task).unwrap();
            fs::write(task.join("children"), children).unwrap();
            let text = format!("rchar: 1\nread_bytes: {read}\nwrite_bytes: {written}\n");
            fs::write(place.join("io"), text).unwrap();
        }
    }

    #[test]
    fn descendants_count_from_when_they_were_first_there() {
        let proc = tempfile::tempdir().unwrap();
        write(proc.path(), &[(7, "8 ", 1024, 0), (8, "", 4096, 2048)]);
        let mut moved = Moved::of(proc.path().to_owned(), &[7, 99]);
        assert!(moved.told()[0].contains("process 7 and 1 descendant caused 0 B to be read"));
        write(
            proc.path(),
            &[(7, "8 9 ", 1024, 0), (8, "", 6144, 4096), (9, "", 0, 1024)],
        );
        moved.read();
        fs::remove_dir_all(proc.path().join("8")).unwrap();
        moved.read();
        let told = moved.told();
        let expected =
            "process 7 and 2 descendants caused 2 KiB to be read and 3 KiB to be written";
        assert!(told.len() == 1 && told[0].starts_with(expected), "{told:?}");
    }
}
