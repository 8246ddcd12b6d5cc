//! Absolute zones beside the length of their target.
//!
//! The last of them may go on to the end of the target, whatever its length: the model says so by a zone that is longer than
//! any target. Another dialect may know no such zone (fio ends where its zones exceed the file), or say it by leaving it out
//! (DISKSPD), so that zones are written, and compared, as they lie within the target.

use fathom_units::Bytes;
use fathom_workload::{Job, Zone};

/// A zone of this length goes on to the end, wherever it begins: longer than any target.
const OPEN: Bytes = Bytes::new(1 << 53);

/// The length of the targets of `job`, where it is known and one for all.
pub fn length(job: &Job) -> Option<Bytes> {
    let first = job.targets.first()?.length?;
    let is_alike = job.targets.iter().all(|it| it.length == Some(first));
    is_alike.then_some(first)
}

/// The same zones, of which the last ends with the target at the latest. As they are where one lies past the end: its I/Os go
/// to the whole target.
pub fn within(zones: &[Zone<Bytes>], length: Option<Bytes>) -> Vec<Zone<Bytes>> {
    let end = length.unwrap_or(Bytes::new(u64::MAX)).get();
    let (mut clipped, mut start) = (Vec::new(), 0u64);
    for zone in zones {
        if start >= end {
            return zones.to_vec();
        }
        let size = zone.size.get().min(end - start).min(OPEN.get());
        start = start.saturating_add(zone.size.get());
        clipped.push(Zone {
            access: zone.access,
            size: Bytes::new(size),
        });
    }
    clipped
}

/// Whether the last of `zones` goes on to the end of a target of `length`.
pub fn is_open(zones: &[Zone<Bytes>], length: Option<Bytes>) -> bool {
    let all = zones
        .iter()
        .fold(0u64, |all, zone| all.saturating_add(zone.size.get()));
    let last = zones.last().map_or(Bytes::ZERO, |zone| zone.size);
    last >= OPEN || length.is_some_and(|length| all >= length.get())
}

/// Whether `zones` lie within a target of `length`, as far as it is known.
pub fn fit(zones: &[Zone<Bytes>], length: Option<Bytes>) -> bool {
    let all = zones
        .iter()
        .fold(0u64, |all, zone| all.saturating_add(zone.size.get()));
    all <= length.unwrap_or(OPEN).get() && zones.iter().all(|zone| zone.size < OPEN)
}
