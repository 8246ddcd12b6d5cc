//! Every value of a SQLIO command line, with SQLIO's own defaults.

use std::collections::BTreeMap;

/// How files are opened (`-B`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Buffering {
    /// `-BN`: past the software cache, and through that of the disk.
    #[default]
    None,
    /// `-BY`: through both caches.
    All,
    /// `-BH`: past the software cache alone.
    Hardware,
    /// `-BS`: written through to the disk, by way of the software cache.
    Software,
}

/// Where I/Os go (`-f`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// `-frandom`.
    Random,
    /// `-fsequential`.
    Sequential,
    /// `-fN`: so many blocks from the start of one I/O to the next.
    Stripes(u32),
}

/// A file and who works on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// As it was written, with its drive where `-d` names one.
    pub path: String,
    /// Threads on it.
    pub threads: u32,
    /// Bits of the processors that these run on; 0: any.
    pub mask: u64,
    /// Size that it is made with, MiB; `None`: as it is.
    pub size_mib: Option<u64>,
}

/// Every value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// `-kW`.
    pub writes: bool,
    /// `-t`.
    pub threads: u32,
    /// `-s`, seconds.
    pub seconds: u64,
    /// `-f`.
    pub order: Order,
    /// `-o`: I/Os outstanding of each thread on each file; `None`: one at a time, without a queue.
    pub outstanding: Option<u32>,
    /// `-b`, KiB.
    pub block_kib: u32,
    /// `-i`: I/Os of a run.
    pub run: u32,
    /// `-L`.
    pub latency: bool,
    /// `-B`.
    pub buffering: Buffering,
    /// `-S`: number of the first block.
    pub first_block: u64,
    /// `-a`, `-p`: bits of the processors; 0: any.
    pub mask: u64,
    /// `-aR`, and the list of `-F`: processors in turn.
    pub in_turn: bool,
    /// `-F`.
    pub parameters: Option<String>,
    /// At least one.
    pub targets: Vec<Target>,
    /// Where each value came from, by the letter of its option.
    pub origins: BTreeMap<char, String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            writes: false,
            threads: 1,
            seconds: 30,
            order: Order::Stripes(64),
            outstanding: None,
            block_kib: 2,
            run: 64,
            latency: false,
            buffering: Buffering::None,
            first_block: 0,
            mask: 0,
            in_turn: false,
            parameters: None,
            targets: Vec::new(),
            origins: BTreeMap::new(),
        }
    }
}

impl Settings {
    /// Threads on all files.
    pub fn thread_count(&self) -> u32 {
        if self.parameters.is_some() {
            return self.targets.iter().map(|target| target.threads).sum();
        }
        self.threads
    }
}
