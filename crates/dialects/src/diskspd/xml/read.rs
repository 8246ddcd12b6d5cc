//! Profiles (`-X`), as DISKSPD 2.2 and 2.3 have them: elements in any order, each value once.

use std::ops::Range;

use fathom_diagnostics::nearest;
use roxmltree::{Document, Node, ParsingOptions};

use crate::diskspd::pattern::RANGES_MAX;
use crate::diskspd::settings::{
    Cache, Contents, Format, Given, Profile, Span, SpreadUnit, Target, Throttle,
};
use crate::diskspd::source::Source;
use crate::marked::marked;

/// Largest profile.
const PROFILE_MAX: usize = 4 << 20;
/// Most elements and texts of a profile.
const NODES_MAX: u32 = 500_000;
/// Most levels of elements: those of a profile are nine.
const LEVELS_MAX: usize = 32;
/// Most attributes of an element: those of a profile have two.
const ATTRIBUTES_MAX: usize = 16;
/// Characters of a text that are shown.
const SHOWN_MAX: usize = 60;

/// Targets that stand for `*1`, `*2` and so on, and whether they do.
#[derive(Debug)]
pub struct Substitutes<'a> {
    /// Paths.
    pub paths: &'a [(usize, String)],
    /// Whether each was used.
    pub used: Vec<bool>,
}

/// The text of a profile: UTF-8, or UTF-16 with a mark, as PowerShell writes it.
///
/// # Errors
/// Why it cannot be one.
pub fn decode(bytes: &[u8]) -> Result<String, String> {
    if bytes.len() > PROFILE_MAX {
        return Err(format!("it is larger than {} MiB", PROFILE_MAX >> 20));
    }
    marked(bytes).ok_or_else(|| "it holds bytes that are no text".to_owned())
}

/// Reads a profile; complaints go to `source`.
pub fn read(source: &mut Source, substitutes: &mut Substitutes<'_>) -> Profile {
    let text = source.text().to_owned();
    let mut profile = Profile::default();
    if let Some(at) = beyond(&text) {
        let message = format!(
            "elements stand more than {LEVELS_MAX} deep, or have more than {ATTRIBUTES_MAX} attributes"
        );
        source.error(at..at, message, "this is no profile of DISKSPD");
        return profile;
    }
    let options = ParsingOptions {
        nodes_limit: NODES_MAX,
        ..ParsingOptions::default()
    };
    let document = match Document::parse_with_options(&text, options) {
        Ok(document) => document,
        Err(error) => {
            let at = error.pos();
            let at = source.offset(at.row as usize, at.col as usize);
            let hint = "write a profile as `fathom diskspd -Rpxml …` prints it";
            source.error(at..at, format!("this is no XML: {error}"), hint);
            return profile;
        }
    };
    let mut reader = Reader {
        source,
        substitutes,
    };
    let root = document.root_element();
    if name(&root) == "Profile" {
        reader.profile(root, &mut profile);
    } else {
        let message = format!("`{}` is no profile of DISKSPD", short(name(&root)));
        reader.refuse(&root, message, "its first element is `Profile`");
    }
    profile
}

/// Where elements stand deeper, or have more attributes, than any profile's; what reads XML takes its time with these.
/// Comments are looked through alike: no profile comes near.
fn beyond(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut level, mut in_start, mut attributes) = (0usize, false, 0);
    for (at, one) in bytes.iter().enumerate() {
        match one {
            b'<' => {
                let next = bytes.get(at + 1);
                in_start = !matches!(next, Some(b'/' | b'!' | b'?') | None);
                attributes = 0;
                if in_start {
                    level += 1;
                } else if next == Some(&b'/') {
                    level = level.saturating_sub(1);
                }
            }
            b'>' if in_start => {
                level -= usize::from(at > 0 && bytes[at - 1] == b'/');
                in_start = false;
            }
            b'=' => attributes += 1,
            _ => {}
        }
        if level > LEVELS_MAX || (in_start && attributes > ATTRIBUTES_MAX) {
            return Some(at);
        }
    }
    None
}

/// The start of a text that may be long, for a message.
fn short(text: &str) -> String {
    let cut = text.char_indices().nth(SHOWN_MAX).map(|(at, _)| at);
    cut.map_or_else(|| text.to_owned(), |at| format!("{}…", &text[..at]))
}

fn name<'a>(node: &Node<'a, '_>) -> &'a str {
    node.tag_name().name()
}

struct Reader<'a, 'b> {
    source: &'a mut Source,
    substitutes: &'a mut Substitutes<'b>,
}

impl Reader<'_, '_> {
    fn refuse(&mut self, node: &Node<'_, '_>, message: impl Into<String>, hint: impl AsRef<str>) {
        self.source.error(start_tag(node), message, hint);
    }

    /// Calls `take` with each child and its name; one that `take` does not know, or a second of a name that is not in
    /// `lists`, is refused.
    fn children<'n, 'i>(
        &mut self,
        node: Node<'n, 'i>,
        known: &[&str],
        mut take: impl FnMut(&mut Self, Node<'n, 'i>, &str),
    ) {
        let mut seen: Vec<&str> = Vec::new();
        for child in node.children().filter(Node::is_element) {
            if self.source.is_full() {
                return;
            }
            let found = known.iter().find(|one| **one == name(&child));
            let Some(found) = found else {
                let unknown = short(name(&child));
                let near = nearest(&unknown, known.iter().copied());
                let hint = near.map_or("leave it out".to_owned(), |near| {
                    format!("did you mean `{near}`?")
                });
                let message = format!("`{unknown}` is nothing of `{}`", name(&node));
                self.refuse(&child, message, hint);
                continue;
            };
            if !LISTS.contains(found) {
                if seen.contains(found) {
                    let message = format!("`{found}` is given twice");
                    self.refuse(&child, message, "leave one of them out");
                    continue;
                }
                seen.push(found);
            }
            take(self, child, found);
        }
    }

    fn number(&mut self, node: &Node<'_, '_>, max: u64) -> u64 {
        let text = text_of(node);
        let found = text.parse::<u64>().ok().filter(|number| *number <= max);
        found.unwrap_or_else(|| {
            let message = format!("`{}` is no whole number from 0 to {max}", short(text));
            let is_number = !text.is_empty() && text.bytes().all(|one| one.is_ascii_digit());
            let hint = if is_number {
                "give less"
            } else {
                "write digits alone"
            };
            self.refuse(node, message, hint);
            // Of a 0 it would be told beside it that there is none.
            1
        })
    }

    /// A number below 2^32.
    fn count(&mut self, node: &Node<'_, '_>) -> u32 {
        self.number(node, u32::MAX.into()) as u32
    }

    /// A number of bytes.
    fn bytes(&mut self, node: &Node<'_, '_>) -> u64 {
        self.number(node, i64::MAX as u64)
    }

    fn flag(&mut self, node: &Node<'_, '_>) -> bool {
        match text_of(node) {
            "true" | "1" => true,
            "false" | "0" => false,
            other => {
                let message = format!("`{}` is neither true nor false", short(other));
                self.refuse(node, message, "write true or false");
                false
            }
        }
    }

    fn word(&mut self, node: &Node<'_, '_>, known: &[&'static str]) -> &'static str {
        let text = text_of(node);
        if let Some(found) = known.iter().find(|one| **one == text) {
            return found;
        }
        let message = format!("`{}` is no value of `{}`", short(text), name(node));
        self.refuse(node, message, format!("write one of {}", known.join(", ")));
        known[0]
    }

    fn profile(&mut self, node: Node<'_, '_>, profile: &mut Profile) {
        self.children(node, PROFILE, |reader, child, name| match name {
            "Progress" => profile.progress = reader.count(&child),
            "ResultFormat" => {
                profile.format = match reader.word(&child, &["text", "xml"]) {
                    "xml" => Format::Xml,
                    _ => Format::Text,
                }
            }
            "Verbose" => profile.verbose = reader.flag(&child),
            "VerboseStats" => profile.verbose_stats = reader.flag(&child),
            "ExperimentFlags" => profile.experiments = reader.count(&child),
            "PrecreateFiles" => {
                profile.precreate = Some(reader.word(&child, PRECREATE).to_owned());
            }
            "ETW" => reader.children(child, TRACING, |reader, child, name| {
                let known = TRACING.iter().find(|one| **one == name);
                if let Some(known) = known.filter(|_| reader.flag(&child)) {
                    profile.tracing.insert(known);
                }
            }),
            _ => reader.children(child, &["TimeSpan"], |reader, child, _| {
                profile.spans.push(reader.span(child));
            }),
        });
        if profile.spans.is_empty() {
            self.refuse(
                &node,
                "it has no timespan",
                "give it `TimeSpans` with a `TimeSpan`",
            );
        }
    }

    fn span(&mut self, node: Node<'_, '_>) -> Span {
        let mut span = Span::default();
        span.given.insert("targets", start_tag(&node));
        let some = |count: u32| (count > 0).then_some(count);
        self.children(node, SPAN, |reader, child, name| {
            let key = match name {
                "Duration" => {
                    span.duration = reader.count(&child).into();
                    if span.duration == 0 {
                        reader.refuse(&child, "it takes no time", "give at least 1");
                    }
                    "d"
                }
                "Warmup" => set(&mut span.warmup, reader.count(&child).into(), "W"),
                "Cooldown" => set(&mut span.cooldown, reader.count(&child).into(), "C"),
                "RandSeed" => set(&mut span.seed, reader.count(&child).into(), "z"),
                "RandomWriteData" => set(&mut span.fresh_data, reader.flag(&child), "Zr"),
                "ThreadCount" => set(&mut span.pool, some(reader.count(&child)), "F"),
                "RequestCount" => set(&mut span.requests, some(reader.count(&child)), "O"),
                "DisableAffinity" => set(&mut span.no_affinity, reader.flag(&child), "n"),
                "CompletionRoutines" => {
                    set(&mut span.completion_routines, reader.flag(&child), "x")
                }
                "MeasureLatency" => set(&mut span.latency, reader.flag(&child), "L"),
                "CalculateIopsStdDev" => set(&mut span.deviation, reader.flag(&child), "D"),
                "IoBucketDuration" => {
                    let length = reader.count(&child);
                    set(&mut span.bucket_ms, length.max(1).into(), "Dms")
                }
                "Affinity" => {
                    span.processors = reader.affinity(child);
                    "a"
                }
                "Targets" => {
                    reader.children(child, &["Target"], |reader, child, _| {
                        span.targets.push(reader.target(child));
                    });
                    return;
                }
                _ => {
                    reader.without_effect(&child);
                    return;
                }
            };
            span.given.insert(key, start_tag(&child));
        });
        span
    }

    fn without_effect(&mut self, node: &Node<'_, '_>) {
        let message = format!("`{}` has no effect here", name(node));
        self.source.warn(start_tag(node), message, "leave it out");
    }

    fn affinity(&mut self, node: Node<'_, '_>) -> Vec<(u32, u32)> {
        let mut found = Vec::new();
        let known = ["AffinityAssignment", "AffinityGroupAssignment", "Group"];
        self.children(node, &known, |reader, child, name| {
            let attribute = |wanted: &str, max: u32| {
                let value = child.attribute(wanted)?.parse::<u32>().ok();
                value.filter(|value| *value <= max)
            };
            match name {
                "AffinityAssignment" => {
                    found.push((0, reader.number(&child, 255) as u32));
                }
                "AffinityGroupAssignment" => {
                    let both = (attribute("Group", 65_535), attribute("Processor", 255));
                    if let (Some(group), Some(cpu)) = both {
                        found.push((group, cpu));
                    } else {
                        let message = "it names no group and processor";
                        let hint = "write Group=\"0\" Processor=\"0\"";
                        reader.refuse(&child, message, hint);
                    }
                }
                _ => reader.without_effect(&child),
            }
        });
        found
    }

    fn target(&mut self, node: Node<'_, '_>) -> Target {
        let mut target = Target::default();
        let (mut stride, mut random, mut share) = (None, None, None);
        let some = |bytes: u64| (bytes > 0).then_some(bytes);
        let mut given = Given::new();
        given.insert("target", start_tag(&node));
        self.children(node, TARGET, |reader, child, name| {
            let it = &mut target;
            let key = match name {
                "Path" => {
                    it.path = reader.path(&child);
                    "target"
                }
                "BlockSize" => {
                    it.block = reader.count(&child).into();
                    if it.block == 0 {
                        reader.refuse(&child, "blocks of 0 bytes", "give at least 1");
                        it.block = 1;
                    }
                    "b"
                }
                "StrideSize" => set(&mut stride, Some(reader.bytes(&child)), "s"),
                "Random" => set(&mut random, Some(reader.bytes(&child)), "r"),
                "RandomRatio" => {
                    let percent = reader.number(&child, 99) as u32;
                    if percent == 0 {
                        reader.refuse(&child, "0 % of random I/Os", "give 1 to 99");
                    }
                    set(&mut share, Some(percent), "rs")
                }
                "BaseFileOffset" => set(&mut it.base, reader.bytes(&child), "B"),
                "MaxFileSize" => set(&mut it.end, some(reader.bytes(&child)), "f"),
                "FileSize" => set(&mut it.create, Some(reader.bytes(&child)), "c"),
                "ThreadStride" => set(&mut it.thread_stride, some(reader.bytes(&child)), "T"),
                "InterlockedSequential" => set(&mut it.interlocked, reader.flag(&child), "s"),
                "RequestCount" => {
                    it.outstanding = reader.count(&child);
                    if it.outstanding == 0 {
                        reader.refuse(&child, "no I/O is outstanding", "give at least 1");
                    }
                    "o"
                }
                "ThreadsPerFile" => {
                    it.threads = reader.count(&child);
                    if it.threads == 0 {
                        reader.refuse(&child, "no thread works on it", "give at least 1");
                    }
                    "t"
                }
                "WriteRatio" => set(&mut it.writes, reader.number(&child, 100) as u32, "w"),
                "ParallelAsyncIO" => set(&mut it.parallel, reader.flag(&child), "p"),
                _ => match reader.other(&child, name, it) {
                    Some(key) => key,
                    None => return,
                },
            };
            given.insert(key, start_tag(&child));
        });
        if target.path.is_empty() {
            self.refuse(&node, "it has no path", "give it `Path`");
        }
        if stride.is_some() && (random.is_some() || share.is_some()) {
            let message = "random and sequential access exclude each other";
            let place = given.get("r").or(given.get("rs")).cloned();
            let hint = "leave `StrideSize`, or `Random` and `RandomRatio` out";
            self.source.error(place.unwrap_or(0..0), message, hint);
        }
        target.align = random.or(stride);
        target.random = share.or(random.map(|_| 100));
        target.given = given;
        target
    }

    /// Elements of a target that are less often asked about.
    fn other(&mut self, node: &Node<'_, '_>, name: &str, it: &mut Target) -> Option<&'static str> {
        let mut hint = |reader: &mut Self, letter| {
            if reader.flag(node) {
                it.hints.insert(letter);
            }
        };
        match name {
            "SequentialScan" => hint(self, 's'),
            "RandomAccess" => hint(self, 'r'),
            "TemporaryFile" => hint(self, 't'),
            "UseLargePages" => it.large_pages = self.flag(node),
            "DisableAllCache" | "DisableOSCache" | "DisableLocalCache" | "WriteThrough"
            | "MemoryMappedIo" => {
                if self.flag(node) {
                    caching(name, it);
                }
                return Some("S");
            }
            "FlushType" => {
                it.flush = Some(self.flush(node));
                return Some("N");
            }
            "WriteBufferContent" => {
                it.contents = self.contents(*node);
                return Some("Z");
            }
            "BurstSize" => {
                it.burst = Some(self.count(node)).filter(|burst| *burst > 0);
                return Some("i");
            }
            "ThinkTime" => {
                it.think_ms = Some(u64::from(self.count(node))).filter(|think| *think > 0);
                return Some("j");
            }
            "Throughput" => {
                it.throttle = self.throttle(node);
                return Some("g");
            }
            "IOPriority" => {
                let priority = self.number(node, 3) as u8;
                it.priority = if priority == 0 { 3 } else { priority };
                return Some("I");
            }
            "Weight" => {
                it.weight = self.count(node);
                return Some("weight");
            }
            "ThreadTargets" => {
                it.pool_threads = self.pool_threads(*node);
                return Some("pool");
            }
            "Distribution" => {
                self.spread(*node, it);
                return Some("rd");
            }
            _ => self.without_effect(node),
        }
        None
    }

    fn flush(&mut self, node: &Node<'_, '_>) -> char {
        let known = [
            "ViewOfFile",
            "NonVolatileMemory",
            "NonVolatileMemoryNoDrain",
        ];
        match self.word(node, &known) {
            "ViewOfFile" => 'v',
            "NonVolatileMemory" => 'n',
            _ => 'i',
        }
    }

    /// The path of a target, or what stands for it.
    fn path(&mut self, node: &Node<'_, '_>) -> String {
        let path = text_of(node);
        let Some(number) = path.strip_prefix('*') else {
            return path.to_owned();
        };
        let digits = !number.is_empty() && number.bytes().all(|one| one.is_ascii_digit());
        let number = number.parse::<usize>().ok().filter(|it| digits && *it > 0);
        let Some(number) = number else {
            let message = format!("`{}` stands for no target", short(path));
            self.refuse(node, message, "write `*1`, `*2` and so on");
            return path.to_owned();
        };
        let Some((_, named)) = self.substitutes.paths.get(number - 1) else {
            if !self.substitutes.paths.is_empty() {
                let message = format!("`{path}` stands for a target that is not named");
                let hint = format!("name at least {number} targets behind `-X`");
                self.refuse(node, message, hint);
            }
            return path.to_owned();
        };
        self.substitutes.used[number - 1] = true;
        named.clone()
    }

    fn throttle(&mut self, node: &Node<'_, '_>) -> Option<Throttle> {
        let rate = u64::from(self.count(node));
        let throttle = match node.attribute("unit") {
            Some("IOPS") => Throttle::Iops(rate),
            None | Some("BPMS") => Throttle::BytesPerMs(rate),
            Some(unit) => {
                let message = format!("`{}` is no unit of a rate", short(unit));
                self.refuse(node, message, "write IOPS, or BPMS for bytes a millisecond");
                return None;
            }
        };
        (rate > 0).then_some(throttle)
    }

    fn contents(&mut self, node: Node<'_, '_>) -> Contents {
        let mut pattern = "sequential";
        let (mut size, mut file) = (None, None);
        let known = ["Pattern", "RandomDataSource"];
        self.children(node, &known, |reader, child, name| match name {
            "Pattern" => pattern = reader.word(&child, &["sequential", "zero", "random"]),
            _ => reader.children(
                child,
                &["SizeInBytes", "FilePath"],
                |reader, child, name| match name {
                    "SizeInBytes" => size = Some(reader.bytes(&child)),
                    _ => file = Some(text_of(&child).to_owned()),
                },
            ),
        });
        match (pattern, size) {
            ("zero", _) => Contents::Zeroes,
            ("random", Some(size)) => Contents::Source { size, file },
            ("random", None) => {
                let message = "random data needs the size of its source";
                self.refuse(&node, message, "give `RandomDataSource` with `SizeInBytes`");
                Contents::Counting
            }
            _ => Contents::Counting,
        }
    }

    fn pool_threads(&mut self, node: Node<'_, '_>) -> Vec<(u32, Option<u32>)> {
        let mut threads = Vec::new();
        self.children(node, &["ThreadTarget"], |reader, child, _| {
            let (mut thread, mut weight) = (None, None);
            let known = ["Thread", "Weight"];
            reader.children(child, &known, |reader, child, name| match name {
                "Thread" => thread = Some(reader.count(&child)),
                _ => weight = Some(reader.count(&child)),
            });
            match thread {
                Some(thread) => threads.push((thread, weight)),
                None => reader.refuse(&child, "it names no thread", "give `Thread`"),
            }
        });
        threads
    }

    fn spread(&mut self, node: Node<'_, '_>, target: &mut Target) {
        let known = ["Percent", "Absolute"];
        self.children(node, &known, |reader, child, name| {
            if !target.spread.ranges.is_empty() {
                let message = "a distribution is in percent or in bytes";
                reader.refuse(&child, message, "leave one of them out");
                return;
            }
            target.spread.unit = match name {
                "Percent" => SpreadUnit::Percent,
                _ => SpreadUnit::Absolute,
            };
            reader.children(child, &["Range"], |reader, child, _| {
                let io = child.attribute("IO").and_then(|io| io.parse::<u32>().ok());
                let Some(io) = io.filter(|io| *io <= 100) else {
                    let message = "its share of the I/Os is no percentage";
                    reader.refuse(&child, message, "write IO=\"0\" to IO=\"100\"");
                    return;
                };
                let ranges = &mut target.spread.ranges;
                if ranges.len() == RANGES_MAX {
                    let message = format!("over {RANGES_MAX} ranges");
                    reader.refuse(&child, message, "use fewer");
                }
                if ranges.len() <= RANGES_MAX {
                    ranges.push((io, reader.bytes(&child)));
                }
            });
            target.spread.complete();
        });
    }
}

fn text_of<'n>(node: &Node<'n, '_>) -> &'n str {
    node.text().unwrap_or("").trim()
}

/// A way of caching that is on.
fn caching(name: &str, target: &mut Target) {
    match name {
        "MemoryMappedIo" => target.mapped = true,
        "WriteThrough" => target.write_through = true,
        "DisableLocalCache" => target.cache = Cache::LocalOff,
        _ => {
            target.cache = Cache::Uncached;
            target.write_through |= name == "DisableAllCache";
        }
    }
}

/// Sets `place` and gives the letters of the option.
fn set<T>(place: &mut T, value: T, letters: &'static str) -> &'static str {
    *place = value;
    letters
}

/// Bytes of an element's start tag.
fn start_tag(node: &Node<'_, '_>) -> Range<usize> {
    let range = node.range();
    let length = 1 + node.tag_name().name().len();
    range.start..range.end.min(range.start + length)
}

/// Elements of which there may be several.
const LISTS: &[&str] = &[
    "TimeSpan",
    "Target",
    "Range",
    "ThreadTarget",
    "AffinityAssignment",
    "AffinityGroupAssignment",
    "Group",
];

const PROFILE: &[&str] = &[
    "TimeSpans",
    "Progress",
    "ResultFormat",
    "Verbose",
    "VerboseStats",
    "ExperimentFlags",
    "PrecreateFiles",
    "ETW",
];

const PRECREATE: &[&str] = &[
    "UseMaxSize",
    "CreateOnlyFilesWithConstantSizes",
    "CreateOnlyFilesWithConstantOrZeroSizes",
];

const TRACING: &[&str] = &[
    "Process",
    "Thread",
    "ImageLoad",
    "DiskIO",
    "MemoryPageFaults",
    "MemoryHardFaults",
    "Network",
    "Registry",
    "UsePagedMemory",
    "UsePerfTimer",
    "UseSystemTimer",
    "UseCyclesCounter",
];

/// The last are of 2.3, or say nothing, and have no effect.
const SPAN: &[&str] = &[
    "Duration",
    "Warmup",
    "Cooldown",
    "RandSeed",
    "RandomWriteData",
    "ThreadCount",
    "RequestCount",
    "DisableAffinity",
    "CompletionRoutines",
    "MeasureLatency",
    "CalculateIopsStdDev",
    "IoBucketDuration",
    "Affinity",
    "Targets",
    "GroupAffinity",
    "AffinityTraversal",
    "BufferSeparation",
    "CompletionDepth",
    "IoRing",
];

/// The last is of 2.3 and has no effect.
const TARGET: &[&str] = &[
    "Path",
    "BlockSize",
    "StrideSize",
    "InterlockedSequential",
    "BaseFileOffset",
    "SequentialScan",
    "RandomAccess",
    "TemporaryFile",
    "UseLargePages",
    "RequestCount",
    "Random",
    "RandomRatio",
    "DisableAllCache",
    "DisableLocalCache",
    "DisableOSCache",
    "WriteThrough",
    "MemoryMappedIo",
    "FlushType",
    "WriteBufferContent",
    "BurstSize",
    "ThinkTime",
    "Throughput",
    "ThreadsPerFile",
    "FileSize",
    "MaxFileSize",
    "WriteRatio",
    "ParallelAsyncIO",
    "ThreadStride",
    "IOPriority",
    "Weight",
    "ThreadTargets",
    "Distribution",
    "BypassIO",
];
