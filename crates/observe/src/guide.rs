//! Two tables of the guide on premium storage (2016), for who reads counters or chooses what to change.
//!
//! `counters`: what each figure of the checklist is called in PerfMon and in iostat. `factors`: what makes I/Os a second,
//! throughput and latency best, "at a glance".

use std::fmt::Write as _;

/// Columns of prose in a cell.
const CELL: usize = 34;
/// Columns of a row's name.
const NAME: usize = 15;

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

/// The table of that name, as `fathom explain NAME` prints it.
pub fn guide_table(name: &str) -> Option<String> {
    Some(match name {
        "counters" => table(
            ["what it is", "PerfMon", "iostat"],
            &COUNTERS,
            &COUNTERS_NOTES,
        ),
        "factors" => table(
            ["best IOPS", "best throughput", "best latency"],
            &FACTORS,
            &FACTORS_NOTES,
        ),
        _ => return None,
    })
}

fn table(heads: [&str; 3], rows: &[Row], notes: &[&str]) -> String {
    let mut text = row("", heads);
    for (name, cells) in rows {
        text.push_str(&row(name, *cells));
    }
    for note in notes {
        text.push('\n');
        for line in lines(note, NAME + 3 * (CELL + 2)) {
            text.push_str(&line);
            text.push('\n');
        }
    }
    text
}

fn row(name: &str, cells: [&str; 3]) -> String {
    let cells = cells.map(|cell| lines(cell, CELL));
    let height = cells.iter().map(Vec::len).max().unwrap_or(1).max(1);
    let mut text = String::new();
    for place in 0..height {
        let name = if place == 0 { name } else { "" };
        let mut line = format!("{name:NAME$}");
        for cell in &cells {
            let part = cell.get(place).map_or("", String::as_str);
            let _ = write!(line, "  {part:CELL$}");
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
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
        let counters = guide_table("counters").unwrap();
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
        let factors = guide_table("factors").unwrap();
        let named = FACTORS.iter().filter(|(name, _)| factors.contains(name));
        assert_eq!(named.count(), 11);
        assert_eq!(guide_table("nothing"), None);
    }

    #[test]
    fn no_line_is_too_wide() {
        for name in ["counters", "factors"] {
            let table = guide_table(name).unwrap();
            let widest = table.lines().map(|line| line.chars().count()).max();
            assert!(widest <= Some(NAME + 3 * (CELL + 2)), "{table}");
        }
    }
}
