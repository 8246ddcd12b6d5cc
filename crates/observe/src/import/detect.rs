//! What a file is, by what is in it.

use std::str::FromStr;

use fathom_diagnostics::Diagnostic;

use super::{blktrace, json, vmstat};

/// A format that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// PerfMon's text.
    PerfMon,
    /// iostat's text.
    Iostat,
    /// JSON of iostat or sadf.
    SysstatJson,
    /// JSON of Azure Monitor's metrics.
    AzureMonitor,
    /// sadf's lines.
    Sadf,
    /// vmstat's text.
    Vmstat,
    /// Dumps of /proc/diskstats.
    Diskstats,
    /// blktrace's binary.
    Blktrace,
    /// fio's logs of latency, bandwidth or IOPS.
    FioLog,
}

const NAMES: &[(&str, Format)] = &[
    ("perfmon", Format::PerfMon),
    ("iostat", Format::Iostat),
    ("sysstat-json", Format::SysstatJson),
    ("azure-monitor", Format::AzureMonitor),
    ("sadf", Format::Sadf),
    ("vmstat", Format::Vmstat),
    ("diskstats", Format::Diskstats),
    ("blktrace", Format::Blktrace),
    ("fio-log", Format::FioLog),
];

impl Format {
    /// The words by which formats are named.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMES.iter().map(|(name, _)| *name)
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = NAMES.iter().find(|(name, _)| *name == text);
        found.map(|(_, format)| *format).ok_or_else(|| {
            let names: Vec<&str> = Self::names().collect();
            format!(
                "`{text}` is no format that is read: there are {}",
                names.join(", ")
            )
        })
    }
}

/// How a file begins that is not read, what it is, and what to do.
const CONVERTED: &[(&[u8], &str, &str)] = &[
    (
        b"\x1f\x8b",
        "it is compressed by gzip",
        "unpack it: `gunzip FILE`",
    ),
    (
        b"\xfd7zXZ",
        "it is compressed by xz",
        "unpack it: `unxz FILE`",
    ),
    (
        b"\x28\xb5\x2f\xfd",
        "it is compressed by zstd",
        "unpack it: `unzstd FILE`",
    ),
    (
        b"BZh",
        "it is compressed by bzip2",
        "unpack it: `bunzip2 FILE`",
    ),
    (
        b"PK\x03\x04",
        "it is a zip archive or a spreadsheet",
        "unpack it, or save it as CSV",
    ),
    (
        b"\x96\xd5",
        "it is sar's own binary, which differs between its versions",
        "convert it: `sadf -j FILE -- -d -u -r > FILE.json`",
    ),
    (
        b"\xd5\x96",
        "it is sar's own binary, of a machine of other byte order",
        "convert it there: `sadf -j FILE -- -d -u -r > FILE.json`",
    ),
];

/// What follows the length of the first record of PCP's archives, in front of their version (`LOGARCHIVE(5)`).
const PCP_MARK: &[u8] = b"\x50\x05\x26";

/// PerfMon's binary log is an event trace: its first buffer tells its own size and begins its headers with this mark.
fn is_binary_log(bytes: &[u8], name: &str) -> bool {
    let extension = name.rsplit('.').next().unwrap_or_default();
    let zeros = bytes.iter().take(512).filter(|byte| **byte == 0).count();
    extension.eq_ignore_ascii_case("blg") && zeros > 0
}

/// The format of bytes that are no text, or what to do with them.
pub(super) fn binary(bytes: &[u8], name: &str) -> Result<Option<Format>, Box<Diagnostic>> {
    let refuse = |message: &str, hint: &str| {
        Err(Box::new(
            Diagnostic::error(format!("`{name}`: {message}")).hint(hint),
        ))
    };
    if bytes.is_empty() {
        return refuse("it is empty", "name a log with reports in it");
    }
    if blktrace::looks_like(bytes) {
        return Ok(Some(Format::Blktrace));
    }
    if bytes.get(4..7) == Some(PCP_MARK) {
        return refuse(
            "it is an archive of PCP, which is not read",
            "log with `iostat -x -t`, or dumps of /proc/diskstats",
        );
    }
    if is_binary_log(bytes, name) {
        return refuse(
            "it is PerfMon's binary log, which is not read",
            "convert it where Windows is: `relog in.blg -f CSV -o out.csv`",
        );
    }
    let known = CONVERTED
        .iter()
        .find(|(start, ..)| bytes.starts_with(start));
    match known {
        Some((_, what, hint)) => refuse(what, hint),
        None => Ok(None),
    }
}

/// The format of a text.
pub(super) fn text(text: &str, name: &str) -> Result<Format, Box<Diagnostic>> {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    let head: Vec<&str> = std::iter::once(first).chain(lines.take(8)).collect();
    let starts = |words: &[&str]| {
        head.iter()
            .any(|line| words.iter().any(|word| line.starts_with(word)))
    };
    if first.trim_start_matches('"').starts_with("(PDH-") {
        return Ok(Format::PerfMon);
    }
    if first.starts_with(['{', '[']) {
        return json::kind(text, name);
    }
    if first.starts_with("# hostname;") {
        return Ok(Format::Sadf);
    }
    let second = head.get(1).copied().unwrap_or_default();
    if first.starts_with("procs")
        || first.starts_with("--procs")
        || vmstat::looks_like(first, second)
    {
        return Ok(Format::Vmstat);
    }
    let refuse = |what: &str, hint: &str| {
        Err(Box::new(
            Diagnostic::error(format!("`{name}`: {what}")).hint(hint),
        ))
    };
    if let Some((_, what, hint)) = OTHER_TEXTS.iter().find(|(is_it, ..)| is_it(&head)) {
        return refuse(what, hint);
    }
    if first.starts_with("disk-") {
        return refuse(
            "it is vmstat's table of disks, which bears no times",
            "log with `iostat -x -t`, or dumps of /proc/diskstats",
        );
    }
    if starts(&["avg-cpu", "Device"]) {
        return Ok(Format::Iostat);
    }
    if head
        .iter()
        .any(|line| line.split_whitespace().any(|word| word == "DEV"))
        || first.starts_with("Linux ")
    {
        return refuse(
            "it is sar's text, whose columns and clocks differ between versions",
            "write it from sar's file: `sadf -j FILE -- -d -u -r > FILE.json`",
        );
    }
    if head.iter().any(|line| is_diskstats(line)) {
        return Ok(Format::Diskstats);
    }
    if is_fio_log(first) {
        return Ok(Format::FioLog);
    }
    let hint = "PerfMon's CSV, iostat's text and JSON, sadf's JSON and lines, Azure Monitor's JSON, vmstat's text, dumps of /proc/diskstats, blktrace's files and fio's logs are; name one of them with `--format`";
    refuse("its format is none of those that are read", hint)
}

/// Whether a text that begins with these lines is one, what that is, and what to do.
type OtherText = (fn(&[&str]) -> bool, &'static str, &'static str);

/// Texts of tools whose other outputs are read.
const OTHER_TEXTS: [OtherText; 8] = [
    (
        |head| head.iter().any(|line| line.starts_with("<sysstat")),
        "it is XML of sadf",
        SADF_JSON,
    ),
    (
        |head| head.iter().any(|line| line.starts_with("<svg")),
        "it is a picture of sadf or of another tool",
        SADF_JSON,
    ),
    (
        |head| head[0].split('\t').count() == 6 && head[0].contains('%'),
        "it is sadf's text of a figure a line",
        SADF_JSON,
    ),
    (
        |head| is_blkparse(head[0]),
        "it is blkparse's text",
        "read what blktrace itself wrote: `--from sda.blktrace.*`; without it, `blkparse -d FILE` of the same trace",
    ),
    (
        |head| is_pcp(head),
        "it is text of PCP (pcp-iostat, pmrep)",
        LOG_ANEW,
    ),
    (
        |head| head[0].ends_with(" CSV output\"") || head[0].contains("dsk/total"),
        "it is dstat's or dool's, whose figures are rounded and bear no times of I/Os",
        LOG_ANEW,
    ),
    (
        |head| {
            let marks = ["# Collectl:", "#Date Time [", "#Date,Time,[", "### RECORD"];
            (head.iter()).any(|line| marks.iter().any(|mark| line.starts_with(mark)))
        },
        "it is collectl's",
        LOG_ANEW,
    ),
    (
        |head| head[0].starts_with("AAA,"),
        "it is nmon's, whose disks bear no times of I/Os",
        LOG_ANEW,
    ),
];

const LOG_ANEW: &str = "log with `iostat -x -t`, or dumps of /proc/diskstats";

/// Tables of pcp-iostat, and pmrep's: as CSV, or with the units under the names.
fn is_pcp(head: &[&str]) -> bool {
    let is_units = |line: &&str| line.split_whitespace().any(|word| word == "count/s");
    head[0].starts_with("# Device")
        || head[0].starts_with("Time,\"")
        || head.iter().take(4).any(is_units)
}

const SADF_JSON: &str = "write it from sar's file: `sadf -j FILE -- -d -u -r > FILE.json`";

/// `8,0  1  1  0.000000000  1234  Q  R 2048 + 8 [fio]`
fn is_blkparse(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [device, processor, sequence, time, process, action, ..] = words[..] else {
        return false;
    };
    let is_number = |word: &str| word.parse::<u64>().is_ok();
    device
        .split_once(',')
        .is_some_and(|(major, minor)| is_number(major) && is_number(minor))
        && [processor, sequence, process].into_iter().all(is_number)
        && time.parse::<f64>().is_ok()
        && (1..=2).contains(&action.len())
}

fn is_diskstats(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    let number = |word: &&str| word.bytes().all(|byte| byte.is_ascii_digit());
    words.len() >= 14
        && words[..2].iter().all(number)
        && !number(&words[2])
        && words[3..].iter().all(number)
}

/// `time, value, direction, size, …`
pub(super) fn is_fio_log(line: &str) -> bool {
    let fields: Vec<&str> = line.split(',').map(str::trim).collect();
    let number = |field: &&str| {
        !field.is_empty()
            && field
                .bytes()
                .all(|byte| byte.is_ascii_hexdigit() || byte == b'x')
    };
    (4..=8).contains(&fields.len())
        && fields.iter().all(number)
        && ["0", "1", "2"].contains(&fields[2])
}
