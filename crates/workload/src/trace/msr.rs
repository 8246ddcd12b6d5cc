//! The CSV of the block traces of Microsoft Research Cambridge, and of whoever took over its form.
//!
//! ```text
//! 128166372003061629,hm,0,Read,9056768,4096,41286
//! ```
//!
//! Time of issue (Windows file time: units of 100 ns since 1601), machine, number of its disk, `Read` or `Write`, offset and
//! size in bytes, and how long it took, which is not read. A disk is called `MACHINE.NUMBER`, as the traces' files are.
//!
//! Source: the README of the traces (D. Narayanan, A. Donnelly, A. Rowstron: Write Off-Loading, FAST 2008; iotta.snia.org).

use fathom_units::Nanos;

use super::lines::{Line, ServedOp, whole};

const COLUMNS: &str = "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime";
/// Nanoseconds of a unit of time.
const TICK: u64 = 100;

/// Whether a line names the columns, which some copies begin with.
pub(super) fn is_header(line: &str) -> bool {
    line.eq_ignore_ascii_case(COLUMNS)
}

/// Whether a line has the form of one.
pub(super) fn is_line(line: &str) -> bool {
    line.split(',').count() == 7 && parse(line).is_ok()
}

/// What a line says.
///
/// # Errors
/// Why it says nothing.
pub(super) fn parse(line: &str) -> Result<Line, String> {
    let columns: Vec<&str> = line.split(',').collect();
    let [time, machine, disk, op, offset, length, ..] = columns.as_slice() else {
        return Err(format!("it has fewer columns than `{COLUMNS}`"));
    };
    let op = match op.trim() {
        op if op.eq_ignore_ascii_case("read") => ServedOp::Read,
        op if op.eq_ignore_ascii_case("write") => ServedOp::Write,
        other => return Err(format!("`{other}` is neither `Read` nor `Write`")),
    };
    let time = whole(time, "the time")?.checked_mul(TICK);
    Ok(Line {
        arrival: Nanos::new(time.ok_or("the time is past the year 2185")?),
        volume: format!("{}.{}", machine.trim(), whole(disk, "the disk's number")?),
        op,
        flushes: false,
        fua: false,
        offset: whole(offset, "the offset")?,
        length: whole(length, "the size")?,
    })
}
