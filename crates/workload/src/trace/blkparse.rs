//! What `blkparse` prints of a trace of `blktrace`.
//!
//! ```text
//!   8,0    3        1     0.000000000   697  Q   W 223490 + 8 [kjournald]
//! ```
//!
//! Device, processor, number, time in seconds, process, action, kind, and first sector and number of sectors. As of the binary
//! trace, only what was queued (`Q`) counts, and a device is called `MAJOR:MINOR`. A kind is a letter (`R`, `W`, `D`), with `F`
//! before it where a flush comes first, and `F` behind it where the write is durable when it completes (FUA). The tables behind the
//! events are left out, as is whatever else does not begin with a device.
//!
//! Source: the manual page blkparse(1), sections "TRACE ACTIONS" and "DEFAULT OUTPUT", and what blkparse 1.3.0 prints.

use fathom_units::Nanos;

use super::lines::{Line, ServedOp, whole};

const SECTOR: u64 = 512;

/// Whether a line is one of an event.
pub(super) fn is_line(line: &str) -> bool {
    let mut words = line.split_ascii_whitespace();
    let mut next = || words.next().unwrap_or_default();
    let number = |word: &str| word.parse::<u64>().is_ok();
    device(next()).is_some()
        && number(next())
        && number(next())
        && time(next()).is_ok()
        && number(next())
}

/// `8,0` as `8:0`.
fn device(word: &str) -> Option<String> {
    let (major, minor) = word.split_once(',')?;
    let (major, minor): (u32, u32) = (major.parse().ok()?, minor.parse().ok()?);
    Some(format!("{major}:{minor}"))
}

/// Seconds with nine digits behind the point.
fn time(word: &str) -> Result<Nanos, String> {
    let told =
        || format!("the time `{word}` is no number of seconds with nine digits behind the point");
    let (seconds, nanos) = word.split_once('.').ok_or_else(told)?;
    let nanos = nanos.parse::<u32>().ok().filter(|_| nanos.len() == 9);
    let (seconds, nanos) = (seconds.parse::<u64>(), nanos.ok_or_else(told)?);
    let seconds = seconds.map_err(|_| told())?.checked_mul(1_000_000_000);
    let at = seconds.and_then(|seconds| seconds.checked_add(u64::from(nanos)));
    at.map(Nanos::new).ok_or_else(told)
}

/// What a line says; `None` where it is of nothing that was queued, or moves nothing.
///
/// # Errors
/// Why it says nothing.
pub(super) fn parse(line: &str) -> Result<Option<Line>, String> {
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let Some(volume) = words.first().and_then(|word| device(word)) else {
        return Ok(None);
    };
    let [_, _, _, at, _, action, kind, rest @ ..] = words.as_slice() else {
        return Err("it ends before the kind of the request".to_owned());
    };
    if *action != "Q" {
        return Ok(None);
    }
    let arrival = time(at)?;
    let (flushes, kind) = match kind.strip_prefix('F') {
        Some(kind) => (true, kind),
        None => (false, *kind),
    };
    let flush = Line {
        arrival,
        volume,
        op: ServedOp::Flush,
        flushes: false,
        fua: false,
        offset: 0,
        length: 0,
    };
    let [sector, "+", sectors, ..] = rest else {
        return Ok(flushes.then_some(flush));
    };
    let op = match kind.as_bytes().first() {
        Some(b'D') => ServedOp::Trim,
        Some(b'W') => ServedOp::Write,
        Some(b'R') => ServedOp::Read,
        _ => return Ok(flushes.then_some(flush)),
    };
    let bytes = |text, what| {
        let sectors = whole(text, what)?;
        let bytes = sectors.checked_mul(SECTOR);
        bytes.ok_or_else(|| format!("{what} `{text}` is past 2^64 bytes"))
    };
    let (offset, length) = (
        bytes(sector, "the first sector")?,
        bytes(sectors, "the number of sectors")?,
    );
    // Behind the letter of what is done, `F` is that of FUA.
    let fua = op == ServedOp::Write && kind[1..].starts_with('F');
    Ok(Some(Line {
        op,
        flushes,
        fua,
        offset,
        length,
        ..flush
    }))
}
