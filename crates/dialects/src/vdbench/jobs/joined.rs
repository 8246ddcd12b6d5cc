//! `concatenatesds=yes`: the SDs of a workload are one, one after another in their order.
//!
//! A job has a target for each SD, or for the part of it that is used; ranges, hot bands, hits and streams are of all of
//! them together. Threads are those of the workload, or the RD's for all workloads and hosts.

use std::collections::BTreeMap;

use fathom_units::Bytes;
use fathom_workload::{Place, Target};

use super::super::expand::Expander;
use super::super::sections::{Rd, Sd, Seek};
use super::super::shares::split;
use super::extent::{parts, scattered};
use super::{Member, Settings, Slot, Spec};

/// A part of one SD: its place in the list of a workload's SDs, first byte and length.
type Part = (usize, u64, u64);

impl Expander<'_> {
    /// Which host does which workload on all of its SDs.
    pub(super) fn joined_slots(
        &mut self,
        rd: &Rd,
        members: &[Member<'_>],
        (specs, settings): (&[Spec<'_>], &Settings<'_>),
    ) -> Option<Vec<Slot>> {
        let mut slots = Vec::new();
        for (index, (member, spec)) in members.iter().zip(specs).enumerate() {
            if settings.threads.is_none() && spec.wd.threads.is_none() {
                let message = format!(
                    "wd={}: for SD concatenation each WD must request a threads= parameter",
                    spec.wd.name
                );
                let hint = "give it `threads=`, or the RD `threads=` for all of them";
                self.values.error(spec.wd.at, message, hint);
                return None;
            }
            let hosts = self.hosts_of_all(rd, member, *spec)?;
            let Some(first) = member.sds.first().copied().filter(|_| !hosts.is_empty()) else {
                let message = format!("wd={}: no host has all of its SDs", spec.wd.name);
                let hint = "give a workload SDs of one host, or several hosts the same SDs";
                self.values.error(spec.wd.at, message, hint);
                return None;
            };
            let streams = spec.wd.streams.max(1);
            let one_position = spec.seek.is_in_order() && streams == 1;
            let count = if one_position { 1 } else { hosts.len() };
            let parts = if streams > 1 { streams as usize } else { count };
            for part in 0..parts {
                slots.push(Slot {
                    member: index,
                    sd: first,
                    host: hosts[part % count],
                    path: 0,
                    stream: if streams > 1 {
                        (part as u32, streams)
                    } else {
                        (0, 1)
                    },
                    threads: 1,
                    share: 1.0 / parts as f64,
                    maxdata: None,
                });
            }
            let room = (&mut self.budget, &mut self.values);
            if !room.0.has_room_for_jobs(slots.len(), rd, room.1) {
                return None;
            }
        }
        share_threads(&mut slots, specs, settings);
        Some(slots)
    }

    /// Hosts that may do a workload, and have every SD of it.
    fn hosts_of_all(&mut self, rd: &Rd, member: &Member<'_>, spec: Spec<'_>) -> Option<Vec<usize>> {
        let names = spec.wd.hosts.len() + rd.hosts.len() + 1;
        let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
        for sd in &member.sds {
            let hosts = self.storage.hosts.get(*sd).map_or(0, Vec::len);
            if !self.may_look_at(names.saturating_mul(hosts), rd) {
                return None;
            }
            for (host, _) in self.storage.hosts.get(*sd).into_iter().flatten() {
                *counts.entry(*host).or_default() += 1;
            }
        }
        let has_all = counts
            .into_iter()
            .filter(|(_, count)| *count == member.sds.len());
        let hosts = has_all.map(|(host, _)| host);
        Some(
            hosts
                .filter(|host| self.is_allowed(rd, spec, *host))
                .collect(),
        )
    }

    /// The parts of all SDs that a job uses.
    pub(super) fn joined_targets(
        &mut self,
        slot: &Slot,
        sds: &[usize],
        spec: Spec<'_>,
        ends: &BTreeMap<usize, u64>,
    ) -> Option<Vec<Target>> {
        let largest = spec.xfersize.largest().max(1);
        let range = spec.wd.hotband.or(spec.wd.range);
        let needs_sizes =
            range.is_some() || slot.stream.1 > 1 || spec.seek == Seek::SequentialNonZero;
        let built = self.built;
        let mut whole: Vec<Part> = Vec::new();
        for (number, index) in sds.iter().enumerate() {
            let sd = built.sds.get(*index)?;
            let unit = ends.get(index).copied().unwrap_or(largest).max(1);
            let first = if self.is_device(*index) { unit } else { 0 };
            let Some(size) = sd.size else {
                if needs_sizes {
                    let message = format!(
                        "sd={}: a part of all SDs is asked for, and its size is not known",
                        sd.name
                    );
                    self.values
                        .error(sd.at, message, "add `size=` to the `sd=`");
                    return None;
                }
                whole.push((number, first, 0));
                continue;
            };
            let end = size - size % unit;
            if end > first {
                whole.push((number, first, end - first));
            }
        }
        let total = super::super::sum(whole.iter().map(|(_, _, length)| *length));
        let used = if needs_sizes {
            let used = self.joined_part(slot, spec, (range, total, largest))?;
            used.into_iter()
                .flat_map(|part| cut(&whole, part))
                .collect()
        } else {
            whole
        };
        if used.is_empty() {
            let message = format!(
                "wd={}: no transfer fits into the SDs that are joined",
                spec.wd.name
            );
            let hint = "use a larger `size=` or range, or a smaller `xfersize=`";
            self.values.error(spec.wd.at, message, hint);
            return None;
        }
        let targets = used.into_iter().map(|(number, from, length)| {
            let sd = built.sds.get(*sds.get(number)?)?;
            Some(Target {
                place: Place::Path(self.path_on(sd, sds[number], slot.host)?),
                offset: Bytes::new(sd.offset + from),
                length: sd.size.map(|_| Bytes::new(length)),
            })
        });
        targets.collect()
    }

    /// First bytes and lengths, from the start of the first SD, of what a job uses of them all.
    fn joined_part(
        &mut self,
        slot: &Slot,
        spec: Spec<'_>,
        (range, total, largest): (Option<super::super::sections::Range>, u64, u64),
    ) -> Option<Vec<(u64, u64)>> {
        let mut found = parts(range, (0, total), largest);
        if let ([(from, length)], 2..) = (found.as_slice(), slot.stream.1) {
            let piece = length / u64::from(slot.stream.1);
            let piece = piece - piece % largest;
            if piece == 0 {
                let message = format!(
                    "wd={}: its streams leave no whole transfer for each",
                    spec.wd.name
                );
                self.values
                    .error(spec.wd.at, message, "use fewer streams, or larger SDs");
                return None;
            }
            found = vec![(from + piece * u64::from(slot.stream.0), piece)];
        }
        if let (Seek::SequentialNonZero, [(from, length)]) = (spec.seek, found.as_slice()) {
            let before = scattered(slot.sd as u64 + 1) % (length / largest).max(1) * largest;
            if before > 0 {
                found = vec![(from + before, length - before), (*from, before)];
            }
        }
        Some(found)
    }

    /// The path of an SD on a host.
    fn path_on(&self, sd: &Sd, index: usize, host: usize) -> Option<String> {
        let hosts = self.storage.hosts.get(index)?;
        let (_, path) = hosts.iter().find(|(one, _)| *one == host)?;
        Some(sd.paths.get(*path)?.lun.clone())
    }
}

/// The pieces of `whole` that lie in the part from `from` on.
fn cut(whole: &[Part], (from, length): (u64, u64)) -> Vec<Part> {
    let end = from.saturating_add(length);
    let mut start = 0u64;
    let mut pieces = Vec::new();
    for (number, first, size) in whole {
        let next = start.saturating_add(*size);
        let (low, high) = (from.max(start), end.min(next));
        if high > low {
            pieces.push((*number, first + (low - start), high - low));
        }
        start = next;
    }
    pieces
}

/// Threads of the RD over all jobs, or those of each workload over its own.
fn share_threads(slots: &mut [Slot], specs: &[Spec<'_>], settings: &Settings<'_>) {
    if let Some(threads) = settings.threads {
        let count = slots.len();
        for (slot, threads) in slots.iter_mut().zip(split(threads, count)) {
            slot.threads = threads.max(1);
        }
        return;
    }
    for (index, spec) in specs.iter().enumerate() {
        let of_member = |slot: &&mut Slot| slot.member == index;
        let count = slots.iter().filter(|slot| slot.member == index).count();
        let threads = split(spec.wd.threads.unwrap_or(1), count);
        for (slot, threads) in slots.iter_mut().filter(of_member).zip(threads) {
            slot.threads = threads.max(1);
        }
    }
}
