//! Who issues I/O, and whether each begins where that one's last ended.
//!
//! A thread is told by its number; buffered writes are issued by the kernel's workers on behalf of whoever wrote, and
//! count as one stream of the name "writeback". Reads and writes are streams of their own: a database that reads its data
//! and writes its log one after another is not random in both.
//!
//! Invariant: memory is bounded; a process that is gone before it could be looked up keeps its thread's name.

use std::collections::HashMap;
use std::fs;
use std::hash::BuildHasherDefault;
use std::path::PathBuf;

use super::format::Direction;
use super::matching::Mix;

/// Most streams remembered; beyond it all are forgotten, and the next I/O of each cannot be judged.
const STREAMS_MOST: usize = 1 << 16;
/// Most names counted apart.
const NAMES_MOST: usize = 4096;
/// Name of what does not get its own any more.
const OTHERS: &str = "others";
/// Parents that are followed to find whether a process is a descendant.
const GENERATIONS: usize = 64;

/// Which processes count.
#[derive(Debug, Clone, Default)]
pub struct Wanted(pub Vec<u32>);

#[derive(Debug)]
struct Stream {
    ends: [Option<u64>; 2],
    name: usize,
    epoch: u32,
    counts: bool,
}

/// The streams of all devices.
#[derive(Debug)]
pub struct Streams {
    known: HashMap<(u32, u32), Stream, BuildHasherDefault<Mix>>,
    /// By device and name, I/Os.
    names: Vec<(u32, String, u64)>,
    wanted: Wanted,
    proc: PathBuf,
    epoch: u32,
    by_kernel: u64,
}

/// One I/O's beginning.
#[derive(Debug, Clone, Copy)]
pub struct Begin<'a> {
    /// Place of the device.
    pub device: u32,
    /// The thread.
    pub thread: u32,
    /// Its name.
    pub command: &'a [u8],
    /// Read or write.
    pub direction: Direction,
    /// First sector, and that behind the last.
    pub sectors: (u64, u64),
}

/// What is said of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// It is of a process that does not count.
    Other,
    /// It is the first of its stream.
    First,
    /// It begins where the last ended.
    Sequential,
    /// It begins elsewhere.
    Random,
}

impl Streams {
    /// Streams of the processes `wanted` and their descendants, or of all where none is named; `proc` is `/proc`.
    pub fn new(wanted: Wanted, proc: PathBuf) -> Self {
        Self {
            known: HashMap::default(),
            names: Vec::new(),
            wanted,
            proc,
            epoch: 0,
            by_kernel: 0,
        }
    }

    /// Whether only some processes count.
    pub fn is_narrowed(&self) -> bool {
        !self.wanted.0.is_empty()
    }

    /// I/Os that the kernel's own workers issued, and that do not count, since nobody knows for whom they were.
    pub fn by_kernel(&self) -> u64 {
        self.by_kernel
    }

    /// What comes next does not follow on what was seen.
    pub fn forget_ends(&mut self) {
        self.epoch += 1;
    }

    /// An I/O begins.
    #[inline]
    pub fn begin(&mut self, io: Begin<'_>) -> Place {
        let kernel = kernel_name(io.command, io.direction);
        let thread = if kernel == Some(WRITEBACK) {
            0
        } else {
            io.thread
        };
        let key = (io.device, thread);
        if !self.known.contains_key(&key) {
            self.add(key, io.command, kernel);
        }
        let Some(stream) = self.known.get_mut(&key) else {
            return Place::Other;
        };
        if !stream.counts {
            self.by_kernel += u64::from(kernel.is_some());
            return Place::Other;
        }
        self.names[stream.name].2 += 1;
        if stream.epoch != self.epoch {
            stream.ends = [None; 2];
            stream.epoch = self.epoch;
        }
        let end = &mut stream.ends[usize::from(io.direction == Direction::Write)];
        let place = match *end {
            None => Place::First,
            Some(end) if end == io.sectors.0 => Place::Sequential,
            Some(_) => Place::Random,
        };
        *end = Some(io.sectors.1);
        place
    }

    fn add(&mut self, key: (u32, u32), command: &[u8], kernel: Option<&str>) {
        if self.known.len() >= STREAMS_MOST {
            self.known.clear();
        }
        let counts = !self.is_narrowed() || (kernel.is_none() && self.descends(key.1));
        let name = match kernel {
            Some(name) => name.to_owned(),
            None => self
                .process_name(key.1)
                .unwrap_or_else(|| String::from_utf8_lossy(command).into_owned()),
        };
        let name = self.name(key.0, name);
        self.known.insert(
            key,
            Stream {
                ends: [None; 2],
                name,
                epoch: self.epoch,
                counts,
            },
        );
    }

    fn name(&mut self, device: u32, name: String) -> usize {
        let is = |it: &(u32, String, u64), name: &str| it.0 == device && it.1 == name;
        if let Some(place) = self.names.iter().position(|it| is(it, &name)) {
            return place;
        }
        let name = if self.names.len() < NAMES_MOST {
            name
        } else {
            OTHERS.to_owned()
        };
        let there = self.names.iter().position(|it| is(it, &name));
        there.unwrap_or_else(|| {
            self.names.push((device, name, 0));
            self.names.len() - 1
        })
    }

    /// I/Os of a device by name, most first.
    pub fn processes(&self, device: u32) -> Vec<(String, u64)> {
        let of = self.names.iter().filter(|it| it.0 == device && it.2 > 0);
        let mut found: Vec<_> = of.map(|it| (it.1.clone(), it.2)).collect();
        found.sort_by(|left, right| right.1.cmp(&left.1).then_with(|| left.0.cmp(&right.0)));
        found
    }

    /// A thread's number may be another's by now.
    pub fn forget_threads(&mut self) {
        let proc = &self.proc;
        let is_narrowed = !self.wanted.0.is_empty();
        // Without a choice of processes a wrong name is all that could come of it, and only for a moment.
        if is_narrowed {
            self.known.retain(|key, stream| {
                key.1 == 0 || (stream.counts && proc.join(key.1.to_string()).exists())
            });
        }
    }

    fn process_name(&self, thread: u32) -> Option<String> {
        let (process, _) = status(&self.proc, thread)?;
        let name = fs::read_to_string(self.proc.join(process.to_string()).join("comm")).ok()?;
        Some(name.trim_end().to_owned())
    }

    fn descends(&self, thread: u32) -> bool {
        let mut next = thread;
        for _ in 0..GENERATIONS {
            let Some((process, parent)) = status(&self.proc, next) else {
                return false;
            };
            if self.wanted.0.contains(&process) {
                return true;
            }
            if parent <= 1 {
                return self.wanted.0.contains(&parent);
            }
            next = parent;
        }
        false
    }
}

const WRITEBACK: &str = "writeback";

/// The kernel's own workers: `kworker/u8:1` are unbound, which is what writes dirty pages back; those with an H serve the
/// block layer's queues on behalf of others.
fn kernel_name(command: &[u8], direction: Direction) -> Option<&'static str> {
    let rest = command.strip_prefix(b"kworker/")?;
    Some(match (rest, direction) {
        ([b'u', ..], Direction::Write) => WRITEBACK,
        ([.., b'H'], _) => "kernel's block queue",
        _ => "kernel worker",
    })
}

/// Process and parent of a thread.
pub fn status(proc: &std::path::Path, thread: u32) -> Option<(u32, u32)> {
    let text = fs::read_to_string(proc.join(thread.to_string()).join("status")).ok()?;
    let of = |key: &str| {
        let value = text.lines().find_map(|line| line.strip_prefix(key))?;
        value.trim().parse::<u32>().ok()
    };
    Some((of("Tgid:")?, of("PPid:")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begin(thread: u32, command: &str, direction: Direction, sectors: (u64, u64)) -> Begin<'_> {
        Begin {
            device: 0,
            thread,
            command: command.as_bytes(),
            direction,
            sectors,
        }
    }

    #[test]
    fn each_thread_and_direction_is_a_stream() {
        use Direction::{Read, Write};
        let mut streams = Streams::new(Wanted::default(), PathBuf::from("/nonexistent"));
        let mut at = |thread, command, direction, from, to| {
            streams.begin(begin(thread, command, direction, (from, to)))
        };
        assert_eq!(at(1, "a", Read, 0, 8), Place::First);
        assert_eq!(at(2, "b", Read, 100, 108), Place::First);
        assert_eq!(at(1, "a", Read, 8, 16), Place::Sequential);
        assert_eq!(at(1, "a", Write, 500, 508), Place::First);
        assert_eq!(at(1, "a", Read, 16, 24), Place::Sequential);
        assert_eq!(at(2, "b", Read, 300, 308), Place::Random);
        assert_eq!(at(7, "kworker/u8:1", Write, 0, 8), Place::First);
        assert_eq!(at(8, "kworker/u8:2", Write, 8, 16), Place::Sequential);
        let expected =
            [("a", 4), ("b", 2), (WRITEBACK, 2)].map(|(name, ios)| (name.to_owned(), ios));
        assert_eq!(streams.processes(0), expected);
        streams.forget_ends();
        assert_eq!(streams.begin(begin(1, "a", Read, (24, 32))), Place::First);
    }

    #[test]
    fn descendants_count_and_others_do_not() {
        let own = std::process::id();
        let (_, parent) = status(std::path::Path::new("/proc"), own).unwrap();
        let mut streams = Streams::new(Wanted(vec![parent]), PathBuf::from("/proc"));
        assert_eq!(
            streams.begin(begin(own, "x", Direction::Read, (0, 8))),
            Place::First
        );
        assert_eq!(
            streams.begin(begin(4_194_999, "x", Direction::Read, (0, 8))),
            Place::Other
        );
        assert_eq!(
            streams.begin(begin(9, "kworker/u8:0", Direction::Write, (0, 8))),
            Place::Other
        );
        assert_eq!(streams.by_kernel(), 1);
    }
}
