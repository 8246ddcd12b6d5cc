//! Two tables of the guide on premium storage (2016), for who reads counters or chooses what to change.
//!
//! `counters`: what each figure of the checklist is called in PerfMon and in iostat. `factors`: what makes I/Os a second,
//! throughput and latency best, "at a glance".

use std::fmt::Write as _;

use fathom_diagnostics::nearest;
use fathom_report::{Lines, Width};
use fathom_session::{Code, Failure};

/// Columns of a row's name.
const NAME: usize = 14;
/// Columns of the cells of `counters`, in which no name of a counter is broken, and of `factors`.
const CELLS: [[usize; 3]; 2] = [[19, 25, 16], [20, 20, 20]];

/// A row: its name and its cells.
type Row = (&'static str, [&'static str; 3]);

const COUNTERS: [Row; 8] = [
    (
        "I/Os a second",
        [
            "requests issued to the disk in a second",
            "Disk Reads/sec\nDisk Writes/sec",
            "tps, r/s, w/s",
        ],
    ),
    (
        "reads, writes",
        [
            "share of reads and of writes",
            "% Disk Read Time\n% Disk Write Time",
            "r/s, w/s",
        ],
    ),
    (
        "throughput",
        [
            "bytes read from and written to the disk in a second",
            "Disk Read Bytes/sec\nDisk Write Bytes/sec",
            "kB_read/s, kB_wrtn/s (with -x: rkB/s, wkB/s)",
        ],
    ),
    (
        "latency",
        [
            "time until an I/O completes",
            "Avg. Disk sec/Read\nAvg. Disk sec/Write",
            "await (now r_await, w_await); svctm is gone and never meant it",
        ],
    ),
    (
        "I/O size",
        [
            "size of a request",
            "Avg. Disk Bytes/Read\nAvg. Disk Bytes/Write",
            "avgrq-sz, in sectors of 512 bytes (now rareq-sz, wareq-sz, in KiB)",
        ],
    ),
    (
        "queue depth",
        [
            "requests outstanding",
            "Current Disk Queue Length",
            "avgqu-sz (now aqu-sz)",
        ],
    ),
    (
        "peak memory",
        [
            "memory the application needs to run smoothly",
            "% Committed Bytes in Use",
            "none: vmstat has it",
        ],
    ),
    (
        "peak CPU",
        [
            "processor the application needs to run smoothly",
            "% Processor Time",
            "%util in the guide, which is the disk's; the processors' are %user and %system",
        ],
    ),
];

const COUNTERS_NOTES: [&str; 6] = [
    "Windows: read PhysicalDisk where disks and volumes map one to one, and LogicalDisk otherwise, as where a volume \
     lies on several disks. Read data and log disks apart. Take the values in normal, peak and off hours.",
    "Latency: over 10 ms on a busy server, and over 25 ms on any, the disks do not keep up.",
    "Queue: not over 2 for one disk, 8 for an array of four.",
    "Split IO/Sec: one I/O became several requests: fragments, or I/Os larger than the system takes at once.",
    "Averages hide the slow: a 99th percentile of latency is in none of these counters.",
    "Sources: guide on premium storage, \"counters to measure requirements\"; guide to measuring IOPS on Windows, \
     \"how to understand the counters\".",
];

const FACTORS: [Row; 11] = [
    (
        "scenario",
        [
            "transactions of many users, at a very high rate",
            "a data warehouse that processes much data",
            "near real time, such as games online, that needs an answer at once",
        ],
    ),
    (
        "I/O size",
        [
            "smaller gives more I/Os a second",
            "larger gives more throughput",
            "",
        ],
    ),
    (
        "VM size",
        [
            "one whose IOPS exceed the need",
            "one whose throughput exceeds the need",
            "one whose limits exceed the need",
        ],
    ),
    (
        "disk size",
        [
            "one whose IOPS exceed the need",
            "one whose throughput exceeds the need",
            "one whose limits exceed the need",
        ],
    ),
    (
        "scale limits",
        [
            "the VM's IOPS exceed those of its premium disks together",
            "the VM's throughput exceeds that of its premium disks together",
            "the VM's limits exceed those of its premium disks together",
        ],
    ),
    (
        "disk caching",
        [
            "ReadOnly where reads are many, for more IOPS of reads",
            "",
            "ReadOnly where reads are many, for lower latency of reads",
        ],
    ),
    (
        "disk striping",
        [
            "several disks in a stripe, for their IOPS together; the VM's must be higher",
            "several disks in a stripe, for their throughput together; the VM's must be higher",
            "",
        ],
    ),
    (
        "stripe size",
        [
            "smaller for small random I/O, such as 64 KiB for transactions",
            "larger for large sequential I/O, such as 256 KiB for a warehouse",
            "",
        ],
    ),
    (
        "threads",
        [
            "more, so that more requests are sent at once",
            "more, so that more requests are sent at once",
            "",
        ],
    ),
    (
        "queue depth",
        [
            "deeper gives more I/Os a second",
            "deeper gives more throughput",
            "shallower gives lower latency",
        ],
    ),
    (
        "arithmetic",
        [
            "IOPS × I/O size = throughput: raising one raises the other until a limit binds",
            "",
            "depth = IOPS × latency: 5,000 IOPS at 1 ms need a depth of 5",
        ],
    ),
];

const FACTORS_NOTES: [&str; 1] = [
    "Source: guide on premium storage, \"optimize IOPS, throughput and latency at a glance\"; the last row is its formulas.",
];

/// The table that the words of `fathom explain` name; `None` where they are a workload's.
///
/// # Errors
/// There are words behind its name.
pub fn explained_table(words: &[String], width: Width) -> Result<Option<String>, Failure> {
    let Some((name, beyond)) = words.split_first() else {
        return Ok(None);
    };
    match (guide_table(name, width), beyond.first()) {
        (Some(_), Some(word)) => {
            let message = format!("unexpected argument `{word}`: `{name}` is a table");
            Err(Failure::new(Code::Usage, message).hint("leave it out"))
        }
        (table, _) => Ok(table),
    }
}

/// A workload that is not there may be a table whose name is misspelt.
pub fn or_table(words: &[String], failure: Failure) -> Failure {
    let name = words.first().map_or("", String::as_str);
    let near = nearest(name, TABLES).filter(|_| failure.code == Code::Usage && words.len() == 1);
    match near {
        Some(table) => failure.hint(format!("did you mean the table `fathom explain {table}`?")),
        None => failure,
    }
}

/// Names of the tables.
const TABLES: [&str; 2] = ["counters", "factors"];

/// The table of that name, as `fathom explain NAME` prints it on a screen of a width.
fn guide_table(name: &str, width: Width) -> Option<String> {
    let counters = ["what it is", "PerfMon", "iostat"];
    let factors = ["best IOPS", "best throughput", "best latency"];
    let (heads, cells, rows, notes) = match name {
        "counters" => (counters, CELLS[0], &COUNTERS[..], &COUNTERS_NOTES[..]),
        "factors" => (factors, CELLS[1], &FACTORS[..], &FACTORS_NOTES[..]),
        _ => return None,
    };
    let mut text = Lines::new(width);
    if text.is_narrow() {
        for (name, row) in rows {
            below(&mut text, name, heads, *row);
        }
    } else {
        row(&mut text, cells, "", heads);
        for (name, cell) in rows {
            row(&mut text, cells, name, *cell);
        }
    }
    for note in notes {
        text.push_str("\n");
        text.wrap("", note, 0);
    }
    Some(text.finish())
}

fn row(text: &mut Lines, columns: [usize; 3], name: &str, cells: [&str; 3]) {
    let cells: Vec<_> = std::iter::zip(cells, columns)
        .map(|(cell, columns)| lines(cell, columns))
        .collect();
    let height = cells.iter().map(Vec::len).max().unwrap_or(1).max(1);
    for place in 0..height {
        let name = if place == 0 { name } else { "" };
        let mut line = format!("{name:NAME$}");
        for (cell, columns) in cells.iter().zip(columns) {
            let part = cell.get(place).map_or("", String::as_str);
            let _ = write!(line, "  {part:columns$}");
        }
        text.push_str(line.trim_end());
        text.push_str("\n");
    }
}

/// A row on a narrow screen: its cells below its name.
fn below(text: &mut Lines, name: &str, heads: [&str; 3], cells: [&str; 3]) {
    text.wrap("", name, 2);
    for (head, cell) in heads.iter().zip(cells) {
        if !cell.is_empty() {
            let cell = cell.replace('\n', ", ");
            text.wrap("  ", &format!("{head}: {cell}"), 4);
        }
    }
}

/// Lines of at most `columns`; a line end in `text` stays one, so that no name of a counter is broken.
fn lines(text: &str, columns: usize) -> Vec<String> {
    text.split('\n')
        .flat_map(|part| wrapped(part, columns))
        .collect()
}

fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        let width = line.chars().count() + 1 + word.chars().count();
        if !line.is_empty() && width > columns {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_tables_hold_every_row_of_the_guide() {
        let counters = guide_table("counters", Width::PLAIN).unwrap();
        for name in [
            "Disk Reads/sec",
            "% Disk Read Time",
            "Disk Write Bytes/sec",
            "Avg. Disk sec/Read",
            "Avg. Disk Bytes/Write",
            "Current Disk Queue Length",
            "% Committed Bytes in Use",
            "% Processor Time",
            "avgrq-sz",
            "avgqu-sz",
            "svctm",
            "vmstat",
        ] {
            assert!(counters.contains(name), "{name} is not in\n{counters}");
        }
        let factors = guide_table("factors", Width::PLAIN).unwrap();
        let named = FACTORS.iter().filter(|(name, _)| factors.contains(name));
        assert_eq!(named.count(), 11);
        assert_eq!(guide_table("nothing", Width::PLAIN), None);
    }

    #[test]
    fn no_line_is_too_wide() {
        for name in ["counters", "factors"] {
            for columns in [40, 60, 80] {
                let table = guide_table(name, Width::of_terminal(columns)).unwrap();
                let widest = table.lines().map(|line| line.chars().count()).max();
                assert!(widest <= Some(columns), "{table}");
            }
        }
    }
}
