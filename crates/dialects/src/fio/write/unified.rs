//! The directions of an entry as they are reported: each by itself, all as one, or both (`unified_rw_reporting`).

use std::borrow::Cow;

use super::entry::{Entry, GroupWay, Way};
use crate::fio::input::Unified;

/// One direction, or all of them as one.
#[derive(Debug)]
pub struct Shown<'a> {
    /// `read`, `write`, `trim` or `mixed`.
    pub name: &'static str,
    pub way: Cow<'a, Way>,
    pub group: GroupWay,
}

/// What stands where the directions do.
pub fn directions<'a>(entry: &'a Entry<'_>, group: &[GroupWay; 3]) -> Vec<Shown<'a>> {
    if entry.meta.unified == Unified::Mixed {
        return vec![all_as_one(entry, group)];
    }
    let names = ["read", "write", "trim"].into_iter();
    let ways = names.zip(&entry.ways).zip(group);
    ways.map(|((name, way), group)| Shown {
        name,
        way: Cow::Borrowed(way),
        group: *group,
    })
    .collect()
}

/// What stands behind the directions, where both are asked for.
pub fn beside<'a>(entry: &'a Entry<'_>, group: &[GroupWay; 3]) -> Option<Shown<'a>> {
    (entry.meta.unified == Unified::Both).then(|| all_as_one(entry, group))
}

fn all_as_one<'a>(entry: &Entry<'_>, group: &[GroupWay; 3]) -> Shown<'a> {
    let mut mixed = Way::default();
    for way in &entry.ways {
        mixed.merge(way);
    }
    Shown {
        name: "mixed",
        way: Cow::Owned(mixed),
        group: group_as_one(group),
    }
}

/// All directions of a group as one. Bounds are those of the directions: entries of several are not told apart here.
pub fn group_as_one(group: &[GroupWay; 3]) -> GroupWay {
    let mut used = group.iter().filter(|way| way.runtime_ms.1 > 0);
    let Some(first) = used.next() else {
        return GroupWay::default();
    };
    used.fold(*first, |sum, way| GroupWay {
        bytes: sum.bytes + way.bytes,
        runtime_ms: (
            sum.runtime_ms.0.min(way.runtime_ms.0),
            sum.runtime_ms.1.max(way.runtime_ms.1),
        ),
        rates: (sum.rates.0 + way.rates.0, sum.rates.1 + way.rates.1),
    })
}
