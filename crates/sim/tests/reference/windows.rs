//! What left each queue, held against its limits over every window of time.

use super::allowance::Allowance;
use super::queue::{Counts, Departure};
use super::storage::Storage;

const NANOS_PER_SEC: i128 = 1_000_000_000;

/// Each limit of which some window served more than its allowance, or which lost something while I/Os waited for it.
pub fn breaches(storage: &Storage) -> Vec<String> {
    let mut found = Vec::new();
    for queue in &storage.queues {
        for (number, limit) in queue.limits.iter().enumerate() {
            let cost: fn(&Departure) -> u64 = match limit.counts {
                Counts::Ios => |left| left.units,
                Counts::Bytes => |left| left.bytes,
            };
            let name = format!("{}, limit {number}", queue.name);
            if let Some(excess) = most_above(&limit.allowance, &queue.left, cost) {
                found.push(format!("{name} let through {excess} too many"));
            }
            let loss = loss(&limit.allowance, &queue.left, number, cost);
            found.extend(loss.map(|loss| format!("{name} {loss}")));
        }
    }
    found
}

/// In every window, all that left but the last I/O is at most rate × (window + tolerance), to the nanosecond. Gives by how
/// many units the worst window is above that.
///
/// With A(n) the units of the first n departures and t(n) the time of departure n, this is
/// A(j) - rate × t(j) <= A(i) - rate × t(i) + rate × tolerance for all i < j: one pass that keeps the least right side.
fn most_above(limit: &Allowance, left: &[Departure], cost: fn(&Departure) -> u64) -> Option<i128> {
    let mut before = 0;
    let mut least = i128::MAX;
    let mut worst = 0;
    for departure in left {
        let height = before * NANOS_PER_SEC - limit.rate() * i128::from(departure.at);
        if least != i128::MAX {
            // Departures fall on whole nanoseconds: the last may be early by less than one.
            let allowed = least + limit.rate() * (limit.tolerance() + 1);
            worst = worst.max(height - allowed);
        }
        least = least.min(height);
        before += i128::from(cost(departure));
    }
    (worst > 0).then(|| worst / NANOS_PER_SEC + 1)
}

/// From each I/O on that waited for the limit, as long as the next ones waited for it too, the limit served exactly its rate,
/// to the nanosecond.
fn loss(
    limit: &Allowance,
    left: &[Departure],
    number: usize,
    cost: fn(&Departure) -> u64,
) -> Option<String> {
    let mut start: Option<(&Departure, i128)> = None;
    for departure in left {
        if departure.held_by != Some(number) {
            start = None;
            continue;
        }
        let (first, served) = *start.get_or_insert((departure, 0));
        let time = i128::from(departure.at - first.at);
        let due = limit.rate() * (time - 1);
        if served * NANOS_PER_SEC < due {
            return Some(format!(
                "served {served} in {time} ns that others waited, which is less than its rate"
            ));
        }
        start = Some((first, served + i128::from(cost(departure))));
    }
    None
}
