//! Traces of served runs: every I/O that modelled storage served, one line each.
//!
//! ```text
//! arrival_ns,volume,op,offset,length,due_ns,done_ns,limit
//! 1000000,vm/data,read,8192,4096,1200000,1210500,disk-iops
//! 1000350,vm/data,write+fua,12288,4096,3200000,3201000,
//! 1004000,vm/data,flush,0,0,1004000,1005100,
//! ```
//!
//! Operations are `read`, `write`, `flush`, `trim` and `zeroes`; `+fua` behind `write` or `zeroes` says that it was durable
//! when it completed. Times are of one clock. Columns behind `length` are what came of the I/O, and are not read.

use fathom_units::Nanos;

use super::lines::{Line, ServedOp, whole};

/// How the first line begins.
pub(super) const COLUMNS: &str = "arrival_ns,volume,op,offset,length";

/// Whether a line is the first one of such a trace.
pub(super) fn is_header(line: &str) -> bool {
    let rest = line.strip_prefix(COLUMNS);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(','))
}

/// What a line says.
///
/// # Errors
/// Why it says nothing.
pub(super) fn parse(line: &str) -> Result<Line, String> {
    let fewer = || format!("it has fewer columns than `{COLUMNS}`");
    let (arrival, rest) = line.split_once(',').ok_or_else(fewer)?;
    let (volume, rest) = name(rest).ok_or_else(fewer)?;
    let mut columns = rest.split(',');
    let mut next = || columns.next();
    let (Some(op), Some(offset), Some(length)) = (next(), next(), next()) else {
        return Err(fewer());
    };
    let arrival = Nanos::new(whole(arrival, "the arrival")?);
    let (offset, length) = (whole(offset, "the offset")?, whole(length, "the length")?);
    let (op, fua) = operation(op.trim())?;
    Ok(Line {
        arrival,
        volume,
        op,
        flushes: false,
        fua,
        offset,
        length,
    })
}

/// The name that `columns` begin with, and the columns behind it. One with commas or quotes stands in quotes, its own doubled.
fn name(columns: &str) -> Option<(String, &str)> {
    let Some(quoted) = columns.strip_prefix('"') else {
        let (name, rest) = columns.split_once(',')?;
        return Some((name.trim().to_owned(), rest));
    };
    let (mut name, mut rest) = (String::new(), quoted);
    loop {
        let (part, behind) = rest.split_once('"')?;
        name.push_str(part);
        if let Some(columns) = behind.strip_prefix(',') {
            return Some((name, columns));
        }
        rest = behind.strip_prefix('"')?;
        name.push('"');
    }
}

fn operation(text: &str) -> Result<(ServedOp, bool), String> {
    let (name, fua) = match text.strip_suffix("+fua") {
        Some(name) => (name, true),
        None => (text, false),
    };
    match (name, fua) {
        ("read", false) => Ok((ServedOp::Read, false)),
        ("write", fua) => Ok((ServedOp::Write, fua)),
        ("zeroes", fua) => Ok((ServedOp::Zeroes, fua)),
        ("flush", false) => Ok((ServedOp::Flush, false)),
        ("trim", false) => Ok((ServedOp::Trim, false)),
        _ => Err(format!(
            "`{text}` is no operation: it must be `read`, `write`, `flush`, `trim` or `zeroes`, and `+fua` may \
             follow `write` and `zeroes`"
        )),
    }
}
