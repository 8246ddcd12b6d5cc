//! Every option of a DISKSPD command line, with DISKSPD's own defaults.

use std::collections::BTreeSet;

use fathom_workload::Distribution;

/// What holds each thread back on each target (`-g`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Throttle {
    /// Bytes a millisecond.
    BytesPerMs(u64),
    /// I/Os a second (`-gNi`).
    Iops(u64),
}

/// What is written (`-Z`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Contents {
    /// Bytes 0 to 255 over and over.
    #[default]
    Counting,
    /// Zeroes (`-Z`).
    Zeroes,
    /// Random bytes made anew for each write (`-Zr`).
    Fresh,
    /// Random bytes from a source of this many bytes (`-ZSIZE`).
    Source(u64),
}

/// Which software cache is passed by (`-S`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Cache {
    /// None.
    #[default]
    Cached,
    /// The page cache (`-Su`).
    Uncached,
    /// That of a remote file system's client (`-Sr`).
    LocalOff,
}

/// Options; sizes in bytes.
#[derive(Debug, Clone, PartialEq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of DISKSPD's command line"
)]
pub struct Settings {
    /// `-b`.
    pub block: u64,
    /// `-B`: first byte used.
    pub base: u64,
    /// `-fSIZE`, or the end that `-B` gives with a length: first byte that is not used.
    pub end: Option<u64>,
    /// `-c`.
    pub create: Option<u64>,
    /// `-C`, seconds.
    pub cooldown: u64,
    /// `-d`, seconds.
    pub duration: u64,
    /// `-W`, seconds.
    pub warmup: u64,
    /// `-D`, milliseconds.
    pub bucket_ms: Option<u64>,
    /// `-fr`, `-fs`, `-ft`.
    pub hints: BTreeSet<char>,
    /// `-F`: threads of a pool that works on all targets.
    pub pool: Option<u32>,
    /// `-g`.
    pub throttle: Option<Throttle>,
    /// `-i`: I/Os of a burst.
    pub burst: Option<u32>,
    /// `-j`, milliseconds.
    pub think_ms: Option<u64>,
    /// `-I`: 1 very low, 2 low, 3 normal.
    pub priority: u8,
    /// `-l`.
    pub large_pages: bool,
    /// `-L`.
    pub latency: bool,
    /// `-n`.
    pub no_affinity: bool,
    /// `-a`: processors of the threads, in turn.
    pub processors: Vec<u32>,
    /// `-N`: `v`, `n` or `i`.
    pub flush: Option<char>,
    /// `-o`.
    pub outstanding: u32,
    /// `-O`.
    pub requests: Option<u32>,
    /// `-r`: alignment of random offsets.
    pub random: Option<u64>,
    /// `-rs`: percent of random I/Os.
    pub random_percent: Option<u32>,
    /// `-rd`.
    pub distribution: Distribution,
    /// `-s`: stride.
    pub stride: Option<u64>,
    /// `-si`.
    pub interlocked: bool,
    /// `-S`.
    pub cache: Cache,
    /// `-Sw`.
    pub write_through: bool,
    /// `-Sm`.
    pub mapped: bool,
    /// `-t`.
    pub threads: u32,
    /// `-T`.
    pub thread_stride: Option<u64>,
    /// `-w`, percent.
    pub writes: u32,
    /// `-x`.
    pub completion_routines: bool,
    /// `-v`.
    pub verbose: bool,
    /// `-z`.
    pub seed: u64,
    /// `-Z`.
    pub contents: Contents,
    /// Options that were given, by their letters.
    pub given: BTreeSet<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            block: 64 << 10,
            base: 0,
            end: None,
            create: None,
            cooldown: 0,
            duration: 10,
            warmup: 5,
            bucket_ms: None,
            hints: BTreeSet::new(),
            pool: None,
            throttle: None,
            burst: None,
            think_ms: None,
            priority: 3,
            large_pages: false,
            latency: false,
            no_affinity: false,
            processors: Vec::new(),
            flush: None,
            outstanding: 2,
            requests: None,
            random: None,
            random_percent: None,
            distribution: Distribution::Uniform,
            stride: None,
            interlocked: false,
            cache: Cache::Cached,
            write_through: false,
            mapped: false,
            threads: 1,
            thread_stride: None,
            writes: 0,
            completion_routines: false,
            verbose: false,
            seed: 0,
            contents: Contents::Counting,
            given: BTreeSet::new(),
        }
    }
}

impl Settings {
    /// Whether the option of these letters was given.
    pub fn has(&self, option: &str) -> bool {
        self.given.contains(option)
    }

    /// I/Os outstanding of each thread on each target.
    pub fn depth(&self) -> u32 {
        match (self.pool, self.requests) {
            (Some(_), Some(requests)) => requests,
            _ => self.outstanding,
        }
    }

    /// Threads that work on each target.
    pub fn threads_per_target(&self) -> u32 {
        self.pool.unwrap_or(self.threads)
    }

    /// Threads on `targets` targets.
    pub fn thread_count(&self, targets: usize) -> u64 {
        match self.pool {
            Some(threads) => u64::from(threads),
            None => u64::from(self.threads) * targets as u64,
        }
    }
}
