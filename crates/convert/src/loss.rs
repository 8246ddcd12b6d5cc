//! What a text cannot say of a workload.

use std::fmt::{self, Write as _};

/// How much a difference matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// Other I/O is done, or something that was asked for is not done.
    Lost,
    /// The same I/O is done, named, drawn, reported or guarded in the dialect's own way.
    Differs,
}

/// One difference between a workload and what its text says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// How much it matters.
    pub weight: Weight,
    /// What it is about: a job, a stage, or the whole workload.
    pub place: Place,
    /// The key of the native file that it is about, such as `placement.distribution`.
    pub key: String,
    /// What becomes of it.
    pub message: String,
}

/// What a difference is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// All of it.
    Workload,
    /// All its jobs alike.
    EveryJob,
    /// These stages.
    Stages(Vec<String>),
    /// These jobs.
    Jobs(Vec<String>),
}

/// Most names that are listed.
const NAMES_MAX: usize = 4;

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut list = |one: &str, several: &str, names: &[String]| {
            let shown: Vec<String> = names
                .iter()
                .take(NAMES_MAX)
                .map(|name| format!("`{name}`"))
                .collect();
            let word = if names.len() == 1 { one } else { several };
            write!(f, "{word} {}", shown.join(", "))?;
            match names.len().saturating_sub(NAMES_MAX) {
                0 => Ok(()),
                more => write!(f, " and {more} more"),
            }
        };
        match self {
            Self::Workload => f.write_str("workload"),
            Self::EveryJob => f.write_str("every job"),
            Self::Stages(names) => list("stage", "stages", names),
            Self::Jobs(names) => list("job", "jobs", names),
        }
    }
}

/// One line: `lost: job `a`: cooldown: …`.
impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let weight = match self.weight {
            Weight::Lost => "lost",
            Weight::Differs => "note",
        };
        let line = format!("{weight}: {}: {}: {}", self.place, self.key, self.message);
        // Names and values may hold line ends; a comment must not end before its line does.
        let safe = line.chars().map(|c| if c.is_control() { ' ' } else { c });
        safe.collect::<String>().fmt(f)
    }
}

/// Differences that were known before a text was written, and those that were found; what is lost comes first.
pub fn with(known: &[Loss], found: &[Loss]) -> Vec<Loss> {
    let mut losses = [known, found].concat();
    losses.sort_by_key(|loss| loss.weight);
    losses
}

/// Most differences of a key that are told apart.
const ALIKE_MAX: usize = 3;

/// Joins differences that are alike in all but their job or stage, and many of one key; `jobs` is the number of jobs.
pub fn joined(losses: Vec<Loss>, jobs: usize) -> Vec<Loss> {
    let same = |known: &Loss, loss: &Loss| known.message == loss.message;
    let joined = join(losses, same);
    let count = |loss: &Loss| joined.iter().filter(|other| is_of_one(other, loss)).count();
    let counts: Vec<usize> = joined.iter().map(count).collect();
    let (many, few): (Vec<_>, Vec<_>) = joined
        .into_iter()
        .zip(counts)
        .partition(|(_, count)| *count > ALIKE_MAX);
    let many = many.into_iter().map(|(mut loss, count)| {
        // The first stands for all.
        let _ = write!(loss.message, "; {} more are alike", count - 1);
        loss
    });
    let mut joined: Vec<Loss> = few.into_iter().map(|(loss, _)| loss).collect();
    joined.extend(
        join(many.collect(), |_, _| true)
            .into_iter()
            .map(|mut loss| {
                if let Place::Jobs(names) | Place::Stages(names) = &mut loss.place {
                    let mut seen = std::collections::HashSet::new();
                    names.retain(|name| seen.insert(name.clone()));
                }
                loss
            }),
    );
    for loss in &mut joined {
        if matches!(&loss.place, Place::Jobs(names) if names.len() == jobs && jobs > 1) {
            loss.place = Place::EveryJob;
        }
    }
    joined.sort_by_key(|loss| loss.weight);
    joined
}

/// Whether both are differences of one weight and key, and both of jobs or both of stages.
fn is_of_one(one: &Loss, other: &Loss) -> bool {
    let kind = |loss: &Loss| std::mem::discriminant(&loss.place);
    one.weight == other.weight && one.key == other.key && kind(one) == kind(other)
}

/// Joins differences of one weight and key that are `alike`; the first one's message stays.
fn join(losses: Vec<Loss>, alike: impl Fn(&Loss, &Loss) -> bool) -> Vec<Loss> {
    let mut joined: Vec<Loss> = Vec::new();
    for loss in losses {
        let mut known = joined.iter_mut();
        let known = known.find(|known| is_of_one(known, &loss) && alike(known, &loss));
        match (known.map(|known| &mut known.place), &loss.place) {
            (Some(Place::Jobs(known)), Place::Jobs(more))
            | (Some(Place::Stages(known)), Place::Stages(more)) => known.extend_from_slice(more),
            _ => joined.push(loss),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(place: Place, message: &str) -> Loss {
        Loss {
            weight: Weight::Differs,
            place,
            key: "name".to_owned(),
            message: message.to_owned(),
        }
    }

    #[test]
    fn many_of_jobs_and_one_of_a_stage_are_two() {
        let jobs = (0..5).map(|job| named(Place::Jobs(vec![format!("j{job}")]), &job.to_string()));
        let stage = named(Place::Stages(vec!["s".to_owned()]), "s");
        let told = joined(std::iter::once(stage).chain(jobs).collect(), 9);
        let told: Vec<String> = told.iter().map(Loss::to_string).collect();
        let expected = [
            "note: stage `s`: name: s",
            "note: jobs `j0`, `j1`, `j2`, `j3` and 1 more: name: 0; 4 more are alike",
        ];
        assert_eq!(told, expected);
    }
}
