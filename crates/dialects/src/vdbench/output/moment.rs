//! Clock times as Vdbench writes them.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Nanoseconds since the epoch in a zone, in `strftime`'s notation.
fn written(unix_ns: u64, zone: &TimeZone, format: &str) -> String {
    let at = Timestamp::from_nanosecond(i128::from(unix_ns)).unwrap_or_default();
    at.to_zoned(zone.clone()).strftime(format).to_string()
}

/// `16:38:12.068`.
pub fn of_day(unix_ns: u64, zone: &TimeZone) -> String {
    written(unix_ns, zone, "%H:%M:%S.%3f")
}

/// `11/20/2026-16:38:12-UTC`.
pub fn stamp(unix_ns: u64, zone: &TimeZone) -> String {
    written(unix_ns, zone, "%m/%d/%Y-%H:%M:%S-%Z")
}

/// `Nov 20, 2026`.
pub fn day(unix_ns: u64, zone: &TimeZone) -> String {
    written(unix_ns, zone, "%b %d, %Y")
}

/// `16:38:09 Nov 20 2026 UTC`.
pub fn created(unix_ns: u64, zone: &TimeZone) -> String {
    written(unix_ns, zone, "%H:%M:%S %b %d %Y %Z")
}
