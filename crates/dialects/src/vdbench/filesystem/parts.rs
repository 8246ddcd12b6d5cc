//! Who does what on which set: the workloads of an RD with one value of each of its loops.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::super::expand::Expander;
use super::super::run::LoopSetting;
use super::super::sections::{self, Fsd, Fwd, LoopKey, LoopValue, Name, Rd, matches};
use super::super::shares::{of_skews, split};

#[derive(Debug, Clone)]
pub(super) struct Part {
    pub(super) fwd: Rc<Fwd>,
    pub(super) fwd_index: usize,
    pub(super) fsd: Rc<Fsd>,
    pub(super) fsd_index: usize,
    pub(super) host: usize,
    pub(super) threads: u32,
    /// Its share of the rate, of 1.
    pub(super) share: f64,
    /// Whether its FWD has parts on other FSDs, which its name then tells it from.
    pub(super) siblings: bool,
    /// Whether its FWD does several operations at once, which its name then tells it from.
    pub(super) one_of_several: bool,
    /// `forcompratio=`: written data compresses by this factor.
    pub(super) compratio: Option<f64>,
}

/// The parts of one combination of an RD's loops.
pub(super) struct Combination {
    pub(super) parts: Vec<Part>,
    pub(super) loops: Vec<LoopSetting>,
}

impl Expander<'_> {
    /// Who does what on which set, with these values of the loops.
    pub(super) fn parts(
        &mut self,
        rd: &Rd,
        fwds: &[usize],
        chosen: &[(LoopKey, &LoopValue)],
    ) -> Option<Vec<Part>> {
        let mut parts = Vec::new();
        let mut shares = Vec::new();
        let mut fsds = BTreeMap::new();
        for fwd_index in fwds {
            let mut fwd = self.built.fwds.get(*fwd_index)?.clone();
            for (key, value) in chosen {
                change_fwd(&mut fwd, *key, value);
            }
            let found = self.fsds_of(rd, &fwd)?;
            let hosts = self.hosts_of(rd, &fwd);
            let fwds = with_operations(fwd, &rd.operations);
            let fwd = Rc::clone(&fwds[0]);
            let count = found.len() * hosts.len() * fwds.len();
            let room = (&mut self.budget, &mut self.values);
            if !room.0.has_room_for_jobs(parts.len() + count, rd, room.1) {
                return None;
            }
            if let (1.., Some(fsd)) = (hosts.len() - 1, found.first()) {
                self.refuse_hosts(&fwd, *fsd);
                return None;
            }
            // Each of several operations has the FWD's share.
            let operations = fwds.len() as f64;
            shares.push((fwd.skew.map(|skew| skew * operations), count));
            let pairs = found
                .iter()
                .flat_map(|fsd| fwds.iter().map(move |fwd| (fsd, fwd)));
            for ((fsd_index, fwd), threads) in pairs.zip(split(fwd.threads, count)) {
                parts.push(Part {
                    fwd: Rc::clone(fwd),
                    fwd_index: *fwd_index,
                    fsd: self.changed_fsd(&mut fsds, *fsd_index, chosen)?,
                    fsd_index: *fsd_index,
                    host: hosts[0],
                    threads: threads.max(1),
                    share: 0.0,
                    siblings: found.len() > 1,
                    one_of_several: fwds.len() > 1,
                    compratio: compratio_of(chosen),
                });
            }
        }
        let shares = self.shares(rd, &shares)?;
        for (part, share) in parts.iter_mut().zip(shares) {
            part.share = share;
        }
        Some(parts)
    }

    /// An FSD with these values of the loops, made once for all workloads on it.
    fn changed_fsd(
        &mut self,
        made: &mut BTreeMap<usize, Rc<Fsd>>,
        index: usize,
        chosen: &[(LoopKey, &LoopValue)],
    ) -> Option<Rc<Fsd>> {
        if let Some(fsd) = made.get(&index) {
            return Some(Rc::clone(fsd));
        }
        let mut fsd = self.built.fsds.get(index)?.clone();
        for (key, value) in chosen {
            self.change_fsd(&mut fsd, *key, value)?;
        }
        // Of what the other loops make of the set, whichever stands first.
        let share = chosen.iter().find_map(|chosen| match chosen {
            (LoopKey::Wss, LoopValue::Number(number)) if *number < 0.0 => Some(-number / 100.0),
            _ => None,
        });
        if let Some(share) = share {
            let all = match fsd.totalsize {
                Some(total) => total,
                None => self.file_set(&fsd)?.bytes().get(),
            };
            fsd.working_set = Some(((all as f64 * share) as u64).max(1));
        }
        let fsd = Rc::new(fsd);
        made.insert(index, Rc::clone(&fsd));
        Some(fsd)
    }

    /// Puts a loop's value in place of the FSD's own; `fortotalsize=50%` is a share of that.
    fn change_fsd(&mut self, fsd: &mut Fsd, key: LoopKey, value: &LoopValue) -> Option<()> {
        let LoopValue::Number(number) = value else {
            return Some(());
        };
        match key {
            LoopKey::Depth => fsd.depth = *number as u32,
            LoopKey::Width => fsd.width = *number as u32,
            LoopKey::Files => fsd.files = *number as u64,
            LoopKey::Sizes => fsd.sizes = sections::FileSizes::Mix(vec![(*number as u64, 100.0)]),
            LoopKey::Totalsize if *number < 0.0 => {
                let share = -number;
                let Some(total) = fsd.totalsize else {
                    let message = format!(
                        "fsd={}: Specifying 'totalsize={share}%' without a totalsize= value specified for the FSD",
                        fsd.name
                    );
                    let hint = "add `totalsize=` to the `fsd=`, of which it is a share";
                    self.values.error(fsd.at, message, hint);
                    return None;
                };
                fsd.totalsize = Some(((total as f64 * share / 100.0) as u64).max(1));
            }
            LoopKey::Totalsize => fsd.totalsize = Some(*number as u64),
            LoopKey::Wss if *number >= 0.0 => fsd.working_set = Some(*number as u64),
            _ => {}
        }
        Some(())
    }

    fn refuse_hosts(&mut self, fwd: &Fwd, fsd: usize) {
        let fsd = self.built.fsds.get(fsd).map_or("", |fsd| fsd.name.as_str());
        let message = format!(
            "fwd={}: several hosts work on fsd={fsd}, and each would have to know what the others make",
            fwd.name
        );
        let hint = "give each host an FSD of its own, and name it with `host=` in the `fwd=`";
        self.values.error(fwd.at, message, hint);
    }

    /// Of each part of each workload its share of the rate; workloads that name none share what the others leave.
    fn shares(&mut self, rd: &Rd, workloads: &[(Option<f64>, usize)]) -> Option<Vec<f64>> {
        let given: f64 = workloads.iter().filter_map(|(skew, _)| *skew).sum();
        let open = workloads.iter().filter(|(skew, _)| skew.is_none()).count();
        let wrong = given > 100.01 || (open == 0 && (given - 100.0).abs() > 0.01);
        if wrong || (open > 0 && given >= 100.0) {
            let message = format!(
                "rd={}: Total skew must add up to 100: {given}; its workloads have shares of it",
                rd.name
            );
            let hint = if rd.operations.len() > 1 {
                "change `skew=` of its `fwd=`: each of the `operations=` counts with it"
            } else {
                "change `skew=` of its `fwd=`"
            };
            self.values.error(rd.at, message, hint);
            return None;
        }
        let of_workloads = of_skews(workloads.iter().map(|(skew, _)| *skew));
        let shares = of_workloads.iter().zip(workloads);
        let shares = shares.flat_map(|(share, (_, parts))| {
            std::iter::repeat_n(share / (*parts).max(1) as f64, *parts)
        });
        Some(shares.collect())
    }

    fn fsds_of(&mut self, rd: &Rd, fwd: &Fwd) -> Option<Vec<usize>> {
        let names: &[Name] = if rd.fsds.is_empty() {
            &fwd.fsds
        } else {
            &rd.fsds
        };
        let mut found = Vec::new();
        let mut seen = BTreeSet::new();
        for name in names {
            if !self.may_look_at(self.built.fsds.len(), rd) {
                return None;
            }
            let all = self.built.fsds.iter().enumerate();
            let meant = all.filter(|(_, fsd)| matches(&name.text, &fsd.name));
            let meant: Vec<usize> = meant.map(|(index, _)| index).collect();
            if meant.is_empty() {
                let message = format!("Could not find fsd={} for fwd={}", name.text, fwd.name);
                let hint = "define it with `fsd=` before all `fwd=`";
                self.values.error(name.at, message, hint);
            }
            found.extend(meant.into_iter().filter(|index| seen.insert(*index)));
        }
        if names.is_empty() {
            let message = format!("fwd={} parameter requires at least one 'fsd='", fwd.name);
            self.values.error(fwd.at, message, "name its FSD");
        }
        (!found.is_empty()).then_some(found)
    }

    /// The hosts of a workload; the first where it names none.
    fn hosts_of(&self, rd: &Rd, fwd: &Fwd) -> Vec<usize> {
        let names = if fwd.hosts.is_empty() {
            &rd.hosts
        } else {
            &fwd.hosts
        };
        let all = self.built.hosts.iter().enumerate();
        let meant =
            all.filter(|(_, host)| names.iter().any(|name| matches(&name.text, &host.label)));
        let meant: Vec<usize> = meant.map(|(index, _)| index).collect();
        if meant.is_empty() { vec![0] } else { meant }
    }
}

/// The workload once for each of the RD's operations, which count instead of its own.
fn with_operations(fwd: Fwd, operations: &[String]) -> Vec<Rc<Fwd>> {
    if operations.is_empty() {
        return vec![Rc::new(fwd)];
    }
    let each = operations.iter().map(|operation| {
        Rc::new(Fwd {
            operation: operation.clone(),
            operation_given: true,
            ..fwd.clone()
        })
    });
    each.collect()
}

fn compratio_of(chosen: &[(LoopKey, &LoopValue)]) -> Option<f64> {
    chosen.iter().find_map(|chosen| match chosen {
        (LoopKey::Compratio, LoopValue::Number(ratio)) => Some(*ratio),
        _ => None,
    })
}

/// Whether a loop goes through what a run on files does not have; Vdbench runs it for each value nonetheless.
pub(super) const fn is_of_storage_alone(key: LoopKey) -> bool {
    matches!(
        key,
        LoopKey::Seekpct | LoopKey::Hitarea | LoopKey::Rhpct | LoopKey::Whpct
    )
}

/// Puts a loop's value in place of the workload's own.
fn change_fwd(fwd: &mut Fwd, key: LoopKey, value: &LoopValue) {
    match (key, value) {
        (LoopKey::Threads, LoopValue::Number(number)) => fwd.threads = (*number as u32).max(1),
        (LoopKey::Xfersize, LoopValue::Xfersize(size)) => fwd.xfersize = size.clone(),
        (LoopKey::Rdpct, LoopValue::Number(number)) => fwd.rdpct = Some(*number),
        (LoopKey::Operations, LoopValue::Word(word)) => fwd.operation.clone_from(word),
        _ => {}
    }
}
