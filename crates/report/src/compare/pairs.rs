//! Which stage, job and direction of one record is laid beside which of another.

use fathom_record::{Record, StageRecord};

use super::lines::{Line, job_names, lines_of_job, lines_of_total};
use super::{Group, doubts, letter};
use crate::repeats::stages_with_repeats;

/// What was matched, and what was not.
pub(super) struct Paired {
    pub(super) groups: Vec<Group>,
    /// Sentences on what has no partner, or one of another name.
    pub(super) partners: Vec<String>,
    /// Sentences on measured times that differ.
    pub(super) times: Vec<String>,
}

type Stage<'a> = (&'a str, Vec<&'a StageRecord>);

/// Lays the stages of `others` beside those of `base`.
pub(super) fn pair(base: &Record, others: &[&Record]) -> Paired {
    let stages = stages_with_repeats(base);
    let mut paired = Paired {
        groups: Vec::new(),
        partners: Vec::new(),
        times: Vec::new(),
    };
    let lists: Vec<Vec<Stage<'_>>> = others.iter().map(|it| stages_with_repeats(it)).collect();
    let names = |list: &[Stage<'_>]| list.iter().map(|it| it.0.to_owned()).collect::<Vec<_>>();
    let base_names = names(&stages);
    let matched: Vec<Vec<Option<usize>>> = lists
        .iter()
        .enumerate()
        .map(|(index, list)| {
            let partner = (index + 1, "stage", "");
            paired.matching(&base_names, &names(list), partner)
        })
        .collect();
    for (index, (name, repeats)) in stages.iter().enumerate() {
        let beside: Vec<Option<&Stage<'_>>> = matched
            .iter()
            .zip(&lists)
            .map(|(matched, list)| list.get(matched[index]?))
            .collect();
        paired.stage(name, repeats, &beside);
    }
    paired
}

impl Paired {
    /// For each name of `base`, the index of its partner in `other`: by name, the first with the first where several share
    /// it; the only one with the only one. Says what is alone.
    fn matching(
        &mut self,
        base: &[String],
        other: &[String],
        (record, what, within): (usize, &str, &str),
    ) -> Vec<Option<usize>> {
        let (first, second) = (letter(0), letter(record));
        if let ([one], [its]) = (base, other) {
            if one != its {
                self.partners.push(format!(
                    "the only {what}{within} of each is taken as one: {first}'s `{one}`, {second}'s `{its}`"
                ));
            }
            return vec![Some(0)];
        }
        let mut taken = vec![false; other.len()];
        let found = base.iter().map(|name| {
            let mut places = (0..other.len()).filter(|place| !taken[*place]);
            let place = places.find(|place| other[*place] == *name)?;
            taken[place] = true;
            Some(place)
        });
        let found: Vec<Option<usize>> = found.collect();
        let alone = base.iter().zip(&found).filter(|(_, place)| place.is_none());
        self.alone(alone.map(|(name, _)| name), (&first, &second, what, within));
        let alone = other.iter().zip(&taken).filter(|(_, taken)| !**taken);
        self.alone(alone.map(|(name, _)| name), (&second, &first, what, within));
        found
    }

    /// Says that `names` are in one record and not in the other.
    fn alone<'n>(
        &mut self,
        names: impl Iterator<Item = &'n String>,
        (has, lacks, what, within): (&str, &str, &str, &str),
    ) {
        const MOST: usize = 6;
        let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
        if names.is_empty() {
            return;
        }
        let shown = names[..names.len().min(MOST)].join(", ");
        let more = match names.len().saturating_sub(MOST) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let plural = if names.len() > 1 { "s" } else { "" };
        self.partners.push(format!(
            "in {has} alone, not in {lacks}: {what}{plural} {shown}{more}{within}"
        ));
    }

    fn stage(&mut self, name: &str, base: &[&StageRecord], beside: &[Option<&Stage<'_>>]) {
        if beside.iter().all(Option::is_none) {
            return;
        }
        let time = |repeats: &[&StageRecord]| repeats.iter().map(|stage| stage.measured_ns).max();
        let base_time = time(base).unwrap_or(0);
        for (index, stage) in beside.iter().enumerate() {
            let other = stage.and_then(|(_, repeats)| time(repeats));
            let told = other.and_then(|other| doubts::times(name, base_time, other));
            let who = |told| format!("{}, {}: {told}", letter(0), letter(index + 1));
            self.times.extend(told.map(who));
        }
        let repeats = beside
            .iter()
            .map(|stage| stage.map(|(_, repeats)| repeats.as_slice()));
        let repeats: Vec<Option<&[&StageRecord]>> = repeats.collect();
        let jobs = job_names(base);
        let several = |stage: &[&StageRecord]| job_names(stage).len() != 1;
        if several(base) || repeats.iter().flatten().any(|stage| several(stage)) {
            let totals = repeats.iter().map(|stage| stage.map(lines_of_total));
            self.lines((name, None), lines_of_total(base), totals.collect());
        }
        let within = format!(" of stage `{name}`");
        let owned = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect::<Vec<_>>();
        let base_names = owned(jobs.clone());
        let matched: Vec<Vec<Option<String>>> = repeats
            .iter()
            .enumerate()
            .map(|(index, stage)| {
                let Some(stage) = stage else {
                    return vec![None; jobs.len()];
                };
                let names = owned(job_names(stage));
                // Of a stage that was cut off the jobs are not known.
                if names.is_empty() || base_names.is_empty() {
                    return vec![None; jobs.len()];
                }
                let found = self.matching(&base_names, &names, (index + 1, "job", &within));
                found
                    .into_iter()
                    .map(|place| Some(names[place?].clone()))
                    .collect()
            })
            .collect();
        for (index, job) in jobs.iter().enumerate() {
            let beside = matched.iter().zip(&repeats).map(|(matched, stage)| {
                let (job, stage) = matched[index].as_ref().zip(*stage)?;
                Some(lines_of_job(stage, job))
            });
            self.lines((name, Some(job)), lines_of_job(base, job), beside.collect());
        }
    }

    /// Lays lines beside each other by their directions.
    fn lines(
        &mut self,
        (stage, job): (&str, Option<&str>),
        base: Vec<(String, Line)>,
        mut beside: Vec<Option<Vec<(String, Line)>>>,
    ) {
        let of = match job {
            Some(job) => format!(" of job `{job}` of stage `{stage}`"),
            None => format!(" of stage `{stage}`"),
        };
        for (direction, line) in base {
            let mut lines = vec![Some(line)];
            for (index, other) in beside.iter_mut().enumerate() {
                let place =
                    |list: &Vec<(String, Line)>| list.iter().position(|it| it.0 == direction);
                let found = other.as_mut().and_then(|list| {
                    let place = place(list)?;
                    Some(list.remove(place).1)
                });
                if found.is_none() && other.is_some() {
                    let (first, second) = (letter(0), letter(index + 1));
                    self.alone([&direction].into_iter(), (&first, &second, "I/O", &of));
                }
                lines.push(found);
            }
            if lines[1..].iter().any(Option::is_some) {
                self.groups.push(Group {
                    stage: stage.to_owned(),
                    job: job.map(str::to_owned),
                    direction,
                    lines,
                });
            }
        }
        for (index, list) in beside.into_iter().enumerate() {
            let (first, second) = (letter(0), letter(index + 1));
            let list: Vec<String> = list
                .into_iter()
                .flatten()
                .map(|(direction, _)| direction)
                .collect();
            self.alone(list.iter(), (&second, &first, "I/O", &of));
        }
    }
}
