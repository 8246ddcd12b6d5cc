//! A profile of DISKSPD: timespans of targets, with DISKSPD's own defaults.
//!
//! A command line is a profile of one timespan whose targets are all alike; an XML profile says everything of each target
//! by itself.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Everything that one invocation asks for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Profile {
    /// Run one after another.
    pub spans: Vec<Span>,
    /// `-R`.
    pub format: Format,
    /// `-v`.
    pub verbose: bool,
    /// `-vs`.
    pub verbose_stats: bool,
    /// `-P`: I/Os of a thread from one dot to the next; 0: none.
    pub progress: u32,
    /// `-:`.
    pub experiments: u32,
    /// Which files are made before the first timespan, as XML says it.
    pub precreate: Option<String>,
    /// Event tracing, by the names of XML; empty where none is asked for.
    pub tracing: BTreeSet<&'static str>,
}

/// How results are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    /// As text.
    #[default]
    Text,
    /// As XML.
    Xml,
}

/// What holds each thread back on each target (`-g`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Throttle {
    /// Bytes a millisecond.
    BytesPerMs(u64),
    /// I/Os a second (`-gNi`).
    Iops(u64),
}

/// What is written (`-Z`).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Contents {
    /// Bytes 0 to 255 over and over.
    #[default]
    Counting,
    /// Zeroes (`-Z`).
    Zeroes,
    /// Bytes from anywhere in a source (`-ZSIZE[,FILE]`).
    Source {
        /// Bytes of the source.
        size: u64,
        /// The file that fills it; random bytes without one.
        file: Option<String>,
    },
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

/// A distribution of random offsets (`-rd`): shares of the I/Os and what they go to, in order from the base offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SpreadUnit {
    /// Percent of the target.
    #[default]
    Percent,
    /// Bytes; the last range may have 0, which is the rest of the target.
    Absolute,
}

/// A distribution of random offsets; uniform where it has no ranges.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Spread {
    /// What the second number of each range counts.
    pub unit: SpreadUnit,
    /// Percent of the I/Os, and the length that they go to.
    pub ranges: Vec<(u32, u64)>,
}

impl Spread {
    /// Adds what is left of the I/Os as a last range: the rest of the target.
    pub fn complete(&mut self) {
        let used = |part: fn(&(u32, u64)) -> u64| {
            let parts = self.ranges.iter().map(part);
            parts.fold(0, u64::saturating_add)
        };
        let (ios, length) = (used(|range| range.0.into()), used(|range| range.1));
        if self.ranges.is_empty() || ios >= 100 {
            return;
        }
        let rest = match self.unit {
            SpreadUnit::Percent => 100u64.saturating_sub(length),
            SpreadUnit::Absolute => 0,
        };
        self.ranges.push((100 - ios as u32, rest));
    }
}

/// Where values were given: by the letters of their option, bytes of the input.
pub type Given = BTreeMap<&'static str, Range<usize>>;

/// One timespan: targets that are used at the same time.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of DISKSPD's command line"
)]
pub struct Span {
    /// `-C`, seconds.
    pub cooldown: u64,
    /// `-d`, seconds.
    pub duration: u64,
    /// `-W`, seconds.
    pub warmup: u64,
    /// `-D`.
    pub deviation: bool,
    /// Length of the buckets of `-D`, milliseconds.
    pub bucket_ms: u64,
    /// `-F`: threads of a pool that works on all targets.
    pub pool: Option<u32>,
    /// `-O`.
    pub requests: Option<u32>,
    /// `-L`.
    pub latency: bool,
    /// `-n`.
    pub no_affinity: bool,
    /// `-a`: groups and processors of the threads, in turn.
    pub processors: Vec<(u32, u32)>,
    /// `-x`.
    pub completion_routines: bool,
    /// `-z`.
    pub seed: u64,
    /// `-Zr`.
    pub fresh_data: bool,
    /// At least one.
    pub targets: Vec<Target>,
    /// Where each value came from.
    pub given: Given,
}

impl Default for Span {
    fn default() -> Self {
        Self {
            cooldown: 0,
            duration: 10,
            warmup: 5,
            deviation: false,
            bucket_ms: 1000,
            pool: None,
            requests: None,
            latency: false,
            no_affinity: false,
            processors: Vec::new(),
            completion_routines: false,
            seed: 0,
            fresh_data: false,
            targets: Vec::new(),
            given: Given::new(),
        }
    }
}

impl Span {
    /// Whether the threads of a pool share their I/Os out among the targets (`-F` with `-O`).
    pub fn shares_requests(&self) -> bool {
        self.pool.is_some() && self.requests.is_some()
    }

    /// I/Os outstanding of each thread on `target`.
    pub fn depth(&self, target: &Target) -> u32 {
        match (self.pool, self.requests) {
            (Some(_), Some(requests)) => requests,
            _ => target.outstanding,
        }
    }

    /// Threads that work on `target`.
    pub fn threads_on(&self, target: &Target) -> u32 {
        self.pool.unwrap_or(target.threads)
    }

    /// All threads.
    pub fn thread_count(&self) -> u64 {
        match self.pool {
            Some(threads) => threads.into(),
            None => self.targets.iter().map(|it| u64::from(it.threads)).sum(),
        }
    }
}

/// One target and what is done to it; sizes in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of DISKSPD's command line"
)]
pub struct Target {
    /// As it was written.
    pub path: String,
    /// `-b`.
    pub block: u64,
    /// `-B`: first byte used.
    pub base: u64,
    /// `-fSIZE`, or the end that `-B` gives with a length: first byte that is not used.
    pub end: Option<u64>,
    /// `-c`.
    pub create: Option<u64>,
    /// `-fr`, `-fs`, `-ft`.
    pub hints: BTreeSet<char>,
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
    /// `-N`: `v`, `n` or `i`.
    pub flush: Option<char>,
    /// `-o`.
    pub outstanding: u32,
    /// `-p`: each outstanding I/O has a position of its own.
    pub parallel: bool,
    /// `-r`, `-rs`: percent of random I/Os; `None`: sequential.
    pub random: Option<u32>,
    /// Alignment of random offsets, or the stride of sequential ones; `None`: the block's size.
    pub align: Option<u64>,
    /// `-rd`.
    pub spread: Spread,
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
    /// `-Z`.
    pub contents: Contents,
    /// Share of a pool's I/Os, against the weights of the other targets. No option says it.
    pub weight: u32,
    /// Threads of the pool that work on it, with a weight where it is not the target's; empty: all. No option says it.
    pub pool_threads: Vec<(u32, Option<u32>)>,
    /// Where each value came from.
    pub given: Given,
}

impl Default for Target {
    fn default() -> Self {
        Self {
            path: String::new(),
            block: 64 << 10,
            base: 0,
            end: None,
            create: None,
            hints: BTreeSet::new(),
            throttle: None,
            burst: None,
            think_ms: None,
            priority: 3,
            large_pages: false,
            flush: None,
            outstanding: 2,
            parallel: false,
            random: None,
            align: None,
            spread: Spread::default(),
            interlocked: false,
            cache: Cache::Cached,
            write_through: false,
            mapped: false,
            threads: 1,
            thread_stride: None,
            writes: 0,
            contents: Contents::Counting,
            weight: 1,
            pool_threads: Vec::new(),
            given: Given::new(),
        }
    }
}

impl Target {
    /// Alignment or stride.
    pub fn step(&self) -> u64 {
        self.align.unwrap_or(self.block)
    }

    /// Whether its path stands for one that is named elsewhere (`*1`).
    pub fn is_template(&self) -> bool {
        self.path.starts_with('*')
    }

    /// Whether it is used as `other` is in all but the size of blocks, their order and the share of writes, and both go
    /// through their blocks one after another or evenly at random.
    pub fn differs_by_line(&self, other: &Self) -> bool {
        let plain = |one: &Self| Self {
            block: 0,
            align: None,
            random: None,
            writes: 0,
            ..one.clone()
        };
        let is_line = |one: &Self| {
            let steps = one.random.is_some() || one.step() == one.block;
            steps && one.spread.ranges.is_empty() && !one.interlocked && one.thread_stride.is_none()
        };
        is_line(self) && is_line(other) && plain(self).is_used_like(&plain(other))
    }

    /// Whether it is used as `other` is, whatever their paths, sizes and weights.
    pub fn is_used_like(&self, other: &Self) -> bool {
        let plain = |one: &Self| Self {
            path: String::new(),
            base: 0,
            end: None,
            create: None,
            weight: 1,
            pool_threads: Vec::new(),
            given: Given::new(),
            ..one.clone()
        };
        plain(self) == plain(other)
    }
}
