//! What a parameter file defines: hosts, storage, workloads and runs, each as its keywords say, defaults filled in.
//!
//! Facts of each keyword and its default are those of Vdbench 5.04.07. Sizes are in bytes, times in seconds.

use std::fmt;
use std::num::NonZeroU64;

use fathom_units::Bytes;

use super::source::At;
use super::validation::Validation;

/// `hd=`: a machine that runs workloads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    /// Its name in the file.
    pub label: String,
    /// `system=`: its name or address on the network; the label where it is not given.
    pub system: String,
    /// `user=`.
    pub user: Option<String>,
    /// `shell=`: `rsh`, `ssh` or `vdbench`.
    pub shell: String,
    /// `vdbench=`: where Vdbench is installed there.
    pub vdbench: Option<String>,
    /// `jvms=`: Vdbench's processes on it; one process serves here, and threads are what counts.
    pub jvms: Option<u32>,
    /// `mount=`: a command that mounts file systems.
    pub mount: Option<String>,
    /// `master=`: the master's own address.
    pub master: Option<String>,
    /// Whether the file names it; without any `hd=` there is one host, `localhost`.
    pub given: bool,
    /// Where it stands.
    pub at: At,
}

/// How files and devices are opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OpenFlags {
    /// `o_direct`, `directio`.
    pub direct: bool,
    /// `o_sync`, `o_dsync` or `o_rsync`: Vdbench opens with `O_DSYNC` for each of them.
    pub dsync: bool,
    /// `fsync`: when the file is closed.
    pub fsync: bool,
}

/// One path to a storage definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LunPath {
    /// Labels of the hosts that use it, as written (lists and wildcards); empty: all hosts.
    pub hosts: Vec<String>,
    /// The file or device.
    pub lun: String,
}

/// A part of storage: in bytes, or in percent where both numbers are at most 200.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Range {
    /// First and last percent; the last may be past 100, which wraps to the start.
    Percent(f64, f64),
    /// First byte, and the first after it.
    Bytes(u64, u64),
}

/// `sd=`: a file or device.
#[derive(Debug, Clone, PartialEq)]
pub struct Sd {
    /// Its name.
    pub name: String,
    /// Where it is; several where hosts have different paths to it.
    pub paths: Vec<LunPath>,
    /// `size=`; without it the size of what exists.
    pub size: Option<u64>,
    /// `threads=`: I/Os outstanding, over all workloads and hosts that use it.
    pub threads: u32,
    /// `openflags=`.
    pub openflags: OpenFlags,
    /// `range=`.
    pub range: Option<Range>,
    /// `hitarea=`: bytes from its start that cache hits go to.
    pub hitarea: u64,
    /// `offset=`: added to every address.
    pub offset: u64,
    /// `align=`: random addresses are multiples of it; 0: of the transfer size.
    pub align: u64,
    /// `journal=`: the folder of its journal; none: the current one.
    pub journal: Option<String>,
    /// Where it stands.
    pub at: At,
}

impl Sd {
    /// Whether it is a device rather than a file.
    pub fn is_device(&self) -> bool {
        self.paths.iter().any(|path| path.lun.starts_with("/dev/"))
    }
}

/// Whether a name is meant by a pattern: itself, or with one `*` at the end every name that begins so.
pub fn matches(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(prefix) => name.starts_with(prefix),
        None => name == pattern,
    }
}

/// `xfersize=`.
#[derive(Debug, Clone, PartialEq)]
pub enum Xfersize {
    /// One size.
    One(u64),
    /// Sizes with their shares in percent, together 100.
    Mix(Vec<(u64, f64)>),
    /// Evenly from the least to the most, in multiples of the third.
    Range {
        /// Smallest size.
        least: u64,
        /// Largest size.
        most: u64,
        /// Sizes and addresses are multiples of it.
        align: u64,
    },
}

impl Xfersize {
    /// The largest size.
    pub fn largest(&self) -> u64 {
        match self {
            Self::One(size) => *size,
            Self::Mix(sizes) => sizes.iter().map(|(size, _)| *size).max().unwrap_or(0),
            Self::Range { most, .. } => *most,
        }
    }
}

impl fmt::Display for Xfersize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::One(size) => f.write_str(&show_size(*size)),
            Self::Mix(sizes) => {
                let pairs = sizes.iter();
                let pairs = pairs.map(|(size, share)| format!("{},{share}", show_size(*size)));
                write!(f, "({})", pairs.collect::<Vec<_>>().join(","))
            }
            Self::Range { least, most, align } => {
                let [least, most, align] = [*least, *most, *align].map(show_size);
                write!(f, "({least},{most},{align})")
            }
        }
    }
}

/// A size as Vdbench writes it in names of runs: `4k`, `1m`, `512`.
pub fn show_size(size: u64) -> String {
    let units = [(40, 't'), (30, 'g'), (20, 'm'), (10, 'k')];
    let unit = units
        .iter()
        .find(|(bits, _)| size > 0 && size.is_multiple_of(1 << bits));
    unit.map_or_else(
        || size.to_string(),
        |(bits, letter)| format!("{}{letter}", size >> bits),
    )
}

/// `seekpct=`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Seek {
    /// This percentage of the I/Os go to a new random address, the others follow the last; 100: all random, 0: all
    /// sequential, from the start again at the end.
    Percent(f64),
    /// `eof`: sequential, and done at the end.
    Eof,
    /// `seqnz`: sequential from a random block.
    SequentialNonZero,
    /// `poisson`, with its midpoint: random addresses that crowd at the start.
    Poisson(f64),
}

impl Seek {
    /// Whether one position goes through the storage.
    pub fn is_in_order(self) -> bool {
        matches!(self, Self::Eof | Self::SequentialNonZero) || self == Self::Percent(0.0)
    }
}

impl fmt::Display for Seek {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Percent(percent) => write!(f, "{percent}"),
            Self::Eof => f.write_str("eof"),
            Self::SequentialNonZero => f.write_str("seqnz"),
            Self::Poisson(midpoint) => write!(f, "(poisson,{midpoint})"),
        }
    }
}

/// `wd=`: what I/O goes to which storage.
#[derive(Debug, Clone, PartialEq)]
pub struct Wd {
    /// Its name.
    pub name: String,
    /// `sd=`: names and wildcards; empty where the RD names them.
    pub sds: Vec<Name>,
    /// `host=`: labels and wildcards; empty: every host that has the SD.
    pub hosts: Vec<Name>,
    /// `xfersize=`.
    pub xfersize: Xfersize,
    /// `rdpct=`: percent of reads.
    pub rdpct: f64,
    /// `seekpct=`.
    pub seek: Seek,
    /// `skew=`: percent of the RD's rate.
    pub skew: Option<f64>,
    /// `iorate=`: its own rate, beside that of the RD.
    pub iorate: Option<u64>,
    /// `priority=`.
    pub priority: Option<u32>,
    /// `rhpct=`: percent of reads that go to the hit area.
    pub rhpct: f64,
    /// `whpct=`: percent of writes that do.
    pub whpct: f64,
    /// `range=`.
    pub range: Option<Range>,
    /// `hotband=`: the range that random addresses crowd at the start of.
    pub hotband: Option<Range>,
    /// `stride=(min,max)`: bytes from the end of one I/O to the next one's address.
    pub stride: Option<(u64, u64)>,
    /// `streams=`: equal pieces of the SD, each with a position of its own; 0 and 1: none.
    pub streams: u32,
    /// `threads=`; with `concatenatesds` alone.
    pub threads: Option<u32>,
    /// `openflags=`; where it is given it counts instead of the SD's.
    pub openflags: Option<OpenFlags>,
    /// Where it stands.
    pub at: At,
}

/// A name, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    /// As written.
    pub text: String,
    /// Where.
    pub at: At,
}

/// One rate of an RD.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rate {
    /// As fast as it goes.
    Max,
    /// I/Os a second, over all.
    Number(f64),
    /// Percent of the last rate observed.
    OfLast(f64),
    /// A run at [`Rate::Max`], then one at each point of the curve.
    Curve,
}

/// `distribution=`: gaps between I/Os of a rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Gaps {
    /// Exponential.
    #[default]
    Exponential,
    /// Even between 0 and twice the mean.
    Uniform,
    /// Equal.
    Deterministic,
}

/// `distribution=variable` and `spike`: the rate changes while a run lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Varies {
    /// It does not.
    #[default]
    No,
    /// `iorate=` is a list of rates with their seconds.
    Steps,
    /// The same, and all I/Os of a second start at its beginning.
    Spikes,
}

/// What a loop of an RD changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoopKey {
    /// `forxfersize`.
    Xfersize,
    /// `forthreads`.
    Threads,
    /// `forrdpct`.
    Rdpct,
    /// `forrhpct`.
    Rhpct,
    /// `forwhpct`.
    Whpct,
    /// `forseekpct`.
    Seekpct,
    /// `forhitarea`.
    Hitarea,
    /// `forcompratio`.
    Compratio,
    /// `fordepth`.
    Depth,
    /// `forwidth`.
    Width,
    /// `forfiles`.
    Files,
    /// `forsizes`.
    Sizes,
    /// `fortotalsize`.
    Totalsize,
    /// `forwss`.
    Wss,
    /// `foroperations`.
    Operations,
}

impl LoopKey {
    /// Its name in labels of runs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Xfersize => "xfersize",
            Self::Threads => "threads",
            Self::Rdpct => "rdpct",
            Self::Rhpct => "rhpct",
            Self::Whpct => "whpct",
            Self::Seekpct => "seekpct",
            Self::Hitarea => "hitarea",
            Self::Compratio => "comp",
            Self::Depth => "depth",
            Self::Width => "width",
            Self::Files => "files",
            Self::Sizes => "sizes",
            Self::Totalsize => "totalsize",
            Self::Wss => "wss",
            Self::Operations => "operation",
        }
    }
}

/// One value of a loop.
#[derive(Debug, Clone, PartialEq)]
pub enum LoopValue {
    /// A count, a percentage or a size.
    Number(f64),
    /// A transfer size.
    Xfersize(Xfersize),
    /// `seekpct`.
    Seek(Seek),
    /// An operation on files.
    Word(String),
}

/// A loop of an RD: a run for each value.
#[derive(Debug, Clone, PartialEq)]
pub struct Loop {
    /// What changes.
    pub key: LoopKey,
    /// At least one.
    pub values: Vec<LoopValue>,
    /// Where it stands.
    pub at: At,
}

/// How much data ends a run; below 100 it is a multiple of the size of all SDs.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct MaxData {
    /// `maxdata=`: reads and writes.
    pub both: Option<f64>,
    /// `maxdataread=`.
    pub read: Option<f64>,
    /// `maxdatawritten=`.
    pub written: Option<f64>,
}

/// `rd=`: runs of workloads.
#[derive(Debug, Clone, PartialEq)]
pub struct Rd {
    /// Its name; several may share one.
    pub name: String,
    /// `wd=`: names and wildcards.
    pub wds: Vec<Name>,
    /// `sd=`: in place of those of the workloads.
    pub sds: Vec<Name>,
    /// `host=`.
    pub hosts: Vec<Name>,
    /// `fwd=`: names and wildcards.
    pub fwds: Vec<Name>,
    /// `fsd=`: in place of those of the workloads.
    pub fsds: Vec<Name>,
    /// `iorate=`, in order.
    pub rates: Vec<Rate>,
    /// `curve=`: points in percent.
    pub curve: Vec<f64>,
    /// `stopcurve=`: the average response time in ms that ends the curve.
    pub stopcurve: Option<f64>,
    /// `fwdrate=`, in order; empty: not given.
    pub fwd_rates: Vec<Rate>,
    /// `elapsed=`, s.
    pub elapsed: u64,
    /// `interval=`, s; 0: half of `elapsed`, 60 s at most.
    pub interval: u64,
    /// `warmup=`, s.
    pub warmup: u64,
    /// `pause=`, s, after each run.
    pub pause: u64,
    /// `maxdata=` and its kin.
    pub maxdata: MaxData,
    /// `distribution=`.
    pub gaps: Gaps,
    /// `distribution=variable` and `spike`.
    pub varies: Varies,
    /// `openflags=`; where it is given it counts instead of the others.
    pub openflags: Option<OpenFlags>,
    /// `startcmd=`.
    pub startcmd: Vec<String>,
    /// `endcmd=`.
    pub endcmd: Vec<String>,
    /// Loops in the order of their keywords; the rates are the innermost.
    pub loops: Vec<Loop>,
    /// `format=`: words such as `yes`, `no`, `only`, `restart`, `clean`; empty: not given.
    pub format: Vec<Name>,
    /// `operations=`: in place of each workload's own, all at once, its threads shared out among them.
    pub operations: Vec<String>,
    /// Where it stands.
    pub at: At,
}

/// `fsd=`: a tree of directories with files.
#[derive(Debug, Clone, PartialEq)]
pub struct Fsd {
    /// Its name.
    pub name: String,
    /// `anchor=`: the directory that the tree stands in.
    pub anchor: String,
    /// `depth=`: levels of directories.
    pub depth: u32,
    /// `width=`: directories in each.
    pub width: u32,
    /// `files=`: files in each directory that has any.
    pub files: u64,
    /// `sizes=`: with their shares in percent, together 100.
    pub sizes: FileSizes,
    /// `totalsize=`: files are made until they have this many bytes together.
    pub totalsize: Option<u64>,
    /// `workingsetsize=`, `wss=`: bytes of the files that are used.
    pub working_set: Option<u64>,
    /// `distribution=all`: files in every directory, instead of the lowest alone.
    pub files_everywhere: bool,
    /// `shared=yes`: each host takes its share of the files.
    pub shared: bool,
    /// `openflags=`.
    pub openflags: OpenFlags,
    /// Where it stands.
    pub at: At,
}

/// `sizes=` of an FSD.
#[derive(Debug, Clone, PartialEq)]
pub enum FileSizes {
    /// Sizes with their shares in percent.
    Mix(Vec<(u64, f64)>),
    /// `(average,0)`: sizes around this one.
    Around(u64),
}

/// Which file an FWD takes next (`fileselect=`).
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FileSelect {
    /// One after another.
    Sequential,
    /// One after another from a random one.
    SequentialNonZero,
    /// Any.
    Random,
    /// Any, crowded around a midpoint.
    Poisson(f64),
    /// Any, each once.
    RandomOnce,
    /// One after another, each once.
    SequentialOnce,
}

/// Where in its file an FWD's I/O falls (`fileio=`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileIo {
    /// From start to end.
    Sequential,
    /// From a random block on.
    SequentialNonZero,
    /// From start to end, then the file is deleted.
    SequentialDelete,
    /// Anywhere; one thread to a file.
    Random,
    /// Anywhere; threads may share a file.
    RandomShared,
}

/// `fwd=`: operations on the files of trees.
#[derive(Debug, Clone, PartialEq)]
pub struct Fwd {
    /// Its name.
    pub name: String,
    /// `fsd=`: names and wildcards.
    pub fsds: Vec<Name>,
    /// `host=`: labels and wildcards; empty: all.
    pub hosts: Vec<Name>,
    /// `operation=`: `read` where it is not given.
    pub operation: String,
    /// Whether `operation=` was given.
    pub operation_given: bool,
    /// `rdpct=`: percent of reads; given, it stands for reads and writes mixed.
    pub rdpct: Option<f64>,
    /// `fileio=`.
    pub fileio: FileIo,
    /// `fileselect=`.
    pub fileselect: FileSelect,
    /// `xfersize=`.
    pub xfersize: Xfersize,
    /// `threads=`: over all its FSDs and hosts.
    pub threads: u32,
    /// `skew=`: percent of the rate.
    pub skew: Option<f64>,
    /// `stopafter=`: I/Os on a file before the next is taken; in percent of the file where it ends in `%`.
    pub stopafter: Option<StopAfter>,
    /// `openflags=`; where it is given it counts instead of the FSD's.
    pub openflags: Option<OpenFlags>,
    /// `target=`: the FSD that files are copied or moved to.
    pub target: Option<Name>,
    /// Where it stands.
    pub at: At,
}

/// `stopafter=`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum StopAfter {
    /// I/Os.
    Ios(u64),
    /// Percent of the file's size.
    Percent(f64),
}

/// `fwd=format`: how formats of trees are done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FormatWork {
    /// `threads=`.
    pub threads: u32,
    /// `xfersize=`, in bytes.
    pub xfersize: u64,
    /// `openflags=`.
    pub openflags: Option<OpenFlags>,
}

impl Default for FormatWork {
    fn default() -> Self {
        Self {
            threads: 8,
            xfersize: Bytes::kib(128).get(),
            openflags: None,
        }
    }
}

/// When storage is written in full before the first run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FormatSds {
    /// Files that are shorter than their `size=`.
    #[default]
    WhereShort,
    /// All files.
    Always,
    /// None.
    Never,
}

/// Parameters that stand before all sections.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct General {
    /// `compratio=`: written data compresses by this factor.
    pub compratio: Option<f64>,
    /// `dedupratio=`: blocks written for each different one.
    pub dedupratio: Option<f64>,
    /// `dedupunit=`, bytes.
    pub dedupunit: Option<u64>,
    /// `dedupsets=`: different blocks that are repeated, or percent of all (`%`).
    pub dedupsets: Option<String>,
    /// `pattern=`: the file that written data comes from.
    pub pattern: Option<String>,
    /// `formatsds=`.
    pub formatsds: FormatSds,
    /// `formatxfersize=`, bytes.
    pub formatxfersize: Option<u64>,
    /// `concatenatesds=yes`.
    pub concatenatesds: bool,
    /// `histogram=`: upper ends of classes in µs; empty: the default ones.
    pub histogram: Vec<u64>,
    /// `report=` words in full: `host_detail`, `slave_detail`, `no_sd_detail`, `no_fsd_detail`.
    pub report: Vec<String>,
    /// `data_errors=`: failed I/Os of all runs together at which all ends.
    pub data_errors: Option<NonZeroU64>,
    /// `validate=`.
    pub validation: Option<Validation>,
    /// `monitor=`: the file that ends a run.
    pub monitor: Option<String>,
    /// `startcmd=`.
    pub startcmd: Vec<String>,
    /// `endcmd=`.
    pub endcmd: Vec<String>,
    /// Where the first of them stands.
    pub commands_at: Option<At>,
    /// Where `pattern=` stands.
    pub pattern_at: At,
    /// `loop=`.
    pub repeat: Option<Repeat>,
    /// `create_anchors=yes`.
    pub create_anchors: bool,
    /// Keywords that were taken and do nothing here, as written.
    pub without_effect: Vec<String>,
}

/// `loop=` and `-l`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeat {
    /// All runs this often.
    Times(u64),
    /// All runs over and over for this many seconds.
    Seconds(u64),
}
