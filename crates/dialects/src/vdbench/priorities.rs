//! `priority=` of workloads, which Vdbench asks for where any of an RD has it or a rate of its own.

use super::expand::Expander;
use super::sections::{Rd, Wd};

const HINT: &str = "give each `wd=` of the RD another `priority=`, from 1 on and without gaps: first those with `iorate=`";

impl Expander<'_> {
    /// Tells of an RD whose workloads have not the priorities that they must have.
    pub(super) fn check_priorities<'w>(
        &mut self,
        rd: &Rd,
        wds: impl Iterator<Item = &'w Wd> + Clone,
    ) {
        if let Some(message) = wrong(wds) {
            let message = format!("rd={}: {message}", rd.name);
            self.values.error(rd.at, message, HINT);
        }
    }
}

/// What is wrong with the priorities of these workloads, if anything is.
fn wrong<'w>(wds: impl Iterator<Item = &'w Wd> + Clone) -> Option<String> {
    if let Some(wd) = wds
        .clone()
        .find(|wd| wd.iorate.is_some() && wd.priority.is_none())
    {
        return Some(format!(
            "A workload with iorate= also must have priority= specified: wd={}",
            wd.name
        ));
    }
    let mut given: Vec<u32> = wds.clone().filter_map(|wd| wd.priority).collect();
    if given.is_empty() {
        return None;
    }
    given.sort_unstable();
    given.dedup();
    if given.len() != wds.clone().count() {
        return Some(
            "When a workload priority= or iorate= parameter is used, ALL workloads must have a (different) priority defined"
                .to_owned(),
        );
    }
    if !(1..)
        .zip(&given)
        .all(|(place, priority)| place == *priority)
    {
        return Some(
            "Workload priorities must be defined in numeric sequence starting at 1".to_owned(),
        );
    }
    let others = wds.clone().filter(|wd| wd.iorate.is_none());
    let first = others.filter_map(|wd| wd.priority).min()?;
    let mut paced = wds.filter(|wd| wd.iorate.is_some());
    let late = paced.find(|wd| wd.priority > Some(first))?;
    Some(format!(
        "Workloads specifying iorate= must have a higher priority than workloads that do NOT specify iorate=: wd={}",
        late.name
    ))
}
