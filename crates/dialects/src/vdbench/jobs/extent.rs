//! Where on its storage a job works: the part of an SD that its range, its streams and the transfer sizes leave.

use std::collections::BTreeMap;

use fathom_units::Bytes;
use fathom_workload::{Place, Target};

use super::super::expand::Expander;
use super::super::sections::{Range, Sd, Seek};
use super::{Member, Slot, Spec};

impl Expander<'_> {
    /// The part of the SD that is used: its range, from the first usable byte to the last whole transfer.
    pub(super) fn targets(
        &mut self,
        slot: &Slot,
        sd: &Sd,
        lun: &str,
        spec: Spec<'_>,
        largest: u64,
    ) -> Option<Vec<Target>> {
        let place = Place::Path(lun.to_owned());
        // The first block of a device, where labels are, is left alone.
        let first = if self.is_device(slot.sd) { largest } else { 0 };
        let range = spec.wd.hotband.or(spec.wd.range).or(sd.range);
        let Some(size) = sd.size else {
            let range = range.filter(|range| *range != Range::Percent(0.0, 100.0));
            if range.is_some() || slot.stream.1 > 1 || spec.seek == Seek::SequentialNonZero {
                let message = format!(
                    "sd={}: a part of it is asked for, and its size is not known",
                    sd.name
                );
                self.values
                    .error(sd.at, message, "add `size=` to the `sd=`");
                return None;
            }
            return Some(vec![Target {
                place,
                offset: Bytes::new(sd.offset + first),
                length: None,
            }]);
        };
        let end = size - size % largest.max(1);
        // Streams go by the SD's size alone.
        let offset = if slot.stream.1 > 1 { 0 } else { sd.offset };
        let parts = behind(offset, parts(range, (first, end), largest), largest);
        let random = !spec.seek.is_in_order();
        if parts.is_empty() || (parts.len() > 1 && random) {
            let (message, hint) = if parts.is_empty() {
                (
                    "no transfer fits into the part that is used",
                    "use a larger `size=` or `range=`, or a smaller `xfersize=`",
                )
            } else {
                (
                    "a random workload on a range that wraps past 100 % is not done here",
                    "use a range within 0 to 100",
                )
            };
            self.values
                .error(sd.at, format!("sd={}: {message}", sd.name), hint);
            return None;
        }
        let mut parts = match parts.as_slice() {
            [(from, length)] if slot.stream.1 > 1 => {
                let piece = length / u64::from(slot.stream.1);
                let piece = piece - piece % largest;
                if piece == 0 {
                    let message = format!(
                        "sd={}: {} streams leave no whole transfer for each",
                        sd.name, slot.stream.1
                    );
                    self.values
                        .error(sd.at, message, "use fewer streams, or a larger `size=`");
                    return None;
                }
                vec![(from + piece * u64::from(slot.stream.0), piece)]
            }
            _ => parts,
        };
        if let (Seek::SequentialNonZero, [(from, length)]) = (spec.seek, parts.as_slice()) {
            // From a block somewhere to the end, then from the start to it.
            let blocks = length / largest;
            let before = scattered(slot.sd as u64 + 1) % blocks * largest;
            if before > 0 {
                parts = vec![(from + before, length - before), (*from, before)];
            }
        }
        let target = |(from, length): (u64, u64)| Target {
            place: place.clone(),
            offset: Bytes::new(from),
            length: Some(Bytes::new(length)),
        };
        Some(parts.into_iter().map(target).collect())
    }
}

/// For each SD the largest transfer size that is used on it.
pub(super) fn ends(slots: &[Slot], specs: &[Spec<'_>]) -> BTreeMap<usize, u64> {
    let mut largest = BTreeMap::new();
    for slot in slots {
        let size = specs[slot.member].xfersize.largest();
        let entry = largest.entry(slot.sd).or_insert(size);
        *entry = size.max(*entry);
    }
    largest
}
/// The same for the SDs of all workloads, each of which goes through its own.
pub(super) fn ends_of_all(members: &[Member<'_>], specs: &[Spec<'_>]) -> BTreeMap<usize, u64> {
    let mut largest = BTreeMap::new();
    for (member, spec) in members.iter().zip(specs) {
        let size = spec.xfersize.largest();
        for sd in &member.sds {
            let entry = largest.entry(*sd).or_insert(size);
            *entry = size.max(*entry);
        }
    }
    largest
}

/// First byte and length of the parts of a range, the second one where it wraps past the end.
pub(super) fn parts(range: Option<Range>, (first, end): (u64, u64), unit: u64) -> Vec<(u64, u64)> {
    let unit = unit.max(1);
    let down = |byte: f64| (byte.max(0.0) as u64) / unit * unit;
    let all = match range {
        None => vec![(first, end)],
        Some(Range::Bytes(low, high)) => {
            vec![(down(low as f64).max(first), down(high as f64).min(end))]
        }
        Some(Range::Percent(low, high)) => {
            let at = |percent: f64| down(end as f64 * percent / 100.0);
            if high <= 100.0 {
                vec![(at(low).max(first), at(high).min(end))]
            } else {
                vec![
                    (at(low.min(100.0)).max(first), end),
                    (first, at(high - 100.0).min(end)),
                ]
            }
        }
    };
    let whole = all
        .into_iter()
        .filter(|(from, to)| to > from && to - from >= unit);
    whole
        .map(|(from, to)| (from, (to - from) / unit * unit))
        .collect()
}

/// Parts that begin so much later, and end where they did, or before that with the last whole transfer.
fn behind(offset: u64, parts: Vec<(u64, u64)>, unit: u64) -> Vec<(u64, u64)> {
    let moved = parts.into_iter().map(|(from, length)| {
        let left = length.saturating_sub(offset);
        (from.saturating_add(offset), left - left % unit.max(1))
    });
    moved.filter(|(_, length)| *length > 0).collect()
}

/// A number that looks drawn, the same in every reading.
pub(super) fn scattered(number: u64) -> u64 {
    let mut mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^= mixed >> 31;
    mixed.wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 17
}
