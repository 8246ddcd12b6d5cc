//! Which stages of a record are repeats of one stage.
//!
//! The record's workload says it: how often each of its stages is measured, in which order. Names alone do not: a stage may be
//! called `mix #2` by whoever wrote the workload.

use fathom_record::{Record, StageRecord};

/// A stage of the workload that is reported.
struct Planned<'a> {
    name: &'a str,
    repeats: u64,
}

impl Planned<'_> {
    /// Which repeat of it `name` is the name of, from 1.
    fn number_of(&self, name: &str) -> Option<u64> {
        let rest = name.strip_prefix(self.name)?;
        if rest.is_empty() {
            return Some(1);
        }
        let digits = rest.strip_prefix(" #")?;
        let number = digits.parse().ok()?;
        let is_own = (2..=self.repeats).contains(&number) && number.to_string() == digits;
        is_own.then_some(number)
    }
}

/// Repeats of one stage.
struct Group<'a> {
    /// Its index among the planned stages; `None` where the workload does not know it.
    planned: Option<usize>,
    name: &'a str,
    repeats: Vec<&'a StageRecord>,
}

/// The stages of a record by their names in the workload, repeats together, in order. What the workload does not know (there
/// is none where storage was served) stands by itself.
pub(crate) fn stages_with_repeats(record: &Record) -> Vec<(&str, Vec<&StageRecord>)> {
    let planned = planned(record);
    let mut groups: Vec<Group<'_>> = Vec::new();
    // Stages are in the workload's order, so that what is to come begins where the last one was found.
    let mut next = (0, 1);
    for stage in &record.stages {
        let found = find(&planned, next, &stage.name);
        if let Some((index, number)) = found {
            next = (index, number + 1);
        }
        let found = found.map(|(index, _)| index);
        let own = groups.iter_mut().rev().find(|group| group.planned == found);
        match own.filter(|_| found.is_some()) {
            Some(group) => group.repeats.push(stage),
            None => groups.push(Group {
                planned: found,
                name: found.map_or(&stage.name, |index| planned[index].name),
                repeats: vec![stage],
            }),
        }
    }
    let groups = groups.into_iter();
    groups.map(|group| (group.name, group.repeats)).collect()
}

/// What the workload of a record plans; stages that are not reported are left out.
fn planned(record: &Record) -> Vec<Planned<'_>> {
    let stages = record.workload["stage"].as_array().into_iter().flatten();
    let reported = stages.filter(|stage| stage["discard"] != true);
    let planned = reported.filter_map(|stage| {
        Some(Planned {
            name: stage["name"].as_str()?,
            repeats: stage["repeats"].as_u64().unwrap_or(1),
        })
    });
    planned.collect()
}

/// The stage and repeat called `name`, no earlier than `next`.
fn find(planned: &[Planned<'_>], next: (usize, u64), name: &str) -> Option<(usize, u64)> {
    let later = planned.iter().enumerate().skip(next.0);
    let mut named = later.filter_map(|(index, stage)| Some((index, stage.number_of(name)?)));
    named.find(|found| *found >= next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_are_found_in_order() {
        let stage = |name, repeats| Planned { name, repeats };
        let planned = [stage("x", 2), stage("x #2", 1), stage("x #3", 3)];
        assert_eq!(find(&planned, (0, 1), "x"), Some((0, 1)));
        assert_eq!(find(&planned, (0, 2), "x #2"), Some((0, 2)));
        assert_eq!(find(&planned, (0, 3), "x #2"), Some((1, 1)));
        assert_eq!(find(&planned, (1, 2), "x #3"), Some((2, 1)));
        assert_eq!(find(&planned, (2, 2), "x #3 #3"), Some((2, 3)));
        for strange in ["x #1", "x #02", "x #4", "y", "x #3 #4", "x #+2", "x 2"] {
            assert_eq!(find(&planned, (0, 1), strange), None, "{strange}");
        }
    }
}
