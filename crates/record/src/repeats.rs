//! Which stages of a record are repeats of which stage of its workload.
//!
//! The workload says how often each of its stages is measured, in which order. Names alone do not: a stage may be called
//! `mix #2` by whoever wrote the workload.

use fathom_workload::Workload;
use serde_json::Value;

/// A stage of a workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlannedStage<'a> {
    /// Its name in the workload.
    pub name: &'a str,
    /// How often it is measured and reported; 0: it is not reported.
    pub repeats: u64,
}

impl<'a> PlannedStage<'a> {
    /// All stages of `workload`, in order.
    pub fn all(workload: &'a Workload) -> Vec<Self> {
        let stages = workload.stages.iter();
        let planned = stages.map(|stage| Self {
            name: &stage.name,
            repeats: if stage.discard {
                0
            } else {
                u64::from(stage.repeats.max(1))
            },
        });
        planned.collect()
    }

    /// The same of a workload as a record holds it.
    pub fn of_document(workload: &'a Value) -> Vec<Self> {
        let stages = workload["stage"].as_array().into_iter().flatten();
        let planned = stages.filter_map(|stage| {
            let repeats = stage["repeats"].as_u64().unwrap_or(1);
            Some(Self {
                name: stage["name"].as_str()?,
                repeats: if stage["discard"] == true { 0 } else { repeats },
            })
        });
        planned.collect()
    }

    /// Which repeat of it `name` is the name of, from 1.
    fn number_of(&self, name: &str) -> Option<u64> {
        let rest = name.strip_prefix(self.name)?;
        if rest.is_empty() {
            return (self.repeats > 0).then_some(1);
        }
        let digits = rest.strip_prefix(" #")?;
        let number = digits.parse().ok()?;
        let is_own = (2..=self.repeats).contains(&number) && number.to_string() == digits;
        is_own.then_some(number)
    }
}

/// For each stage of a record, by its name, the index of its stage in `planned`; `None` where no planned stage has that
/// name.
///
/// Both are in the workload's order, so that what is to come is looked for behind where the last one was found.
pub fn planned_stages<'n>(
    planned: &[PlannedStage<'_>],
    names: impl IntoIterator<Item = &'n str>,
) -> Vec<Option<usize>> {
    let mut next = (0, 1);
    let names = names.into_iter().map(|name| {
        let (index, number) = find(planned, next, name)?;
        next = (index, number + 1);
        Some(index)
    });
    names.collect()
}

/// The stage and repeat called `name`, no earlier than `next`.
fn find(planned: &[PlannedStage<'_>], next: (usize, u64), name: &str) -> Option<(usize, u64)> {
    let later = planned.iter().enumerate().skip(next.0);
    let mut named = later.filter_map(|(index, stage)| Some((index, stage.number_of(name)?)));
    named.find(|found| *found >= next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_are_found_in_order() {
        let stage = |name, repeats| PlannedStage { name, repeats };
        let planned = [
            stage("x", 2),
            stage("x #2", 0),
            stage("x #2", 1),
            stage("x #3", 3),
        ];
        let names = ["x", "x #2", "x #2", "x #3", "x #3 #2", "x #3 #3"];
        let found = planned_stages(&planned, names);
        let expected = [0, 0, 2, 3, 3, 3].map(Some);
        assert_eq!(found, expected);
        for strange in ["x #1", "x #02", "x #4", "y", "x #3 #4", "x #+2", "x 2"] {
            assert_eq!(planned_stages(&planned, [strange]), [None], "{strange}");
        }
    }
}
