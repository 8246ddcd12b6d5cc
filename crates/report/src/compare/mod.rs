//! Records laid beside each other: the first is the baseline, and every figure of the others has its change from it.
//!
//! Stages and jobs are matched by their names, directions by what they are; what has no partner is named. A change is marked
//! where it is more than the noise, and all that differs beside it is told, since a comparison of unlike things is none.
//!
//! Invariant: a percentile is read from merged histograms and never averaged.

mod change;
mod csv;
mod differences;
mod doubts;
mod figure;
mod html;
mod json;
mod lines;
mod pairs;
mod text;
mod threshold;

use fathom_record::{Record, RunKind};

pub use change::{Basis, Change};
pub use figure::{Figure, Point};
pub use text::failure_line;
pub use threshold::{Threshold, ThresholdError, Worse};

use self::lines::Line;
use crate::summary::Summary;

/// Keys of a document that are named where not all are asked for.
const FEW: usize = 4;

/// Two or more records laid beside each other.
#[derive(Debug, Clone)]
pub struct Comparison {
    sides: Vec<Side>,
    groups: Vec<Group>,
    /// What has no partner, or one of another name.
    partners: Vec<String>,
    doubts: Vec<String>,
}

/// One of the records.
#[derive(Debug, Clone)]
struct Side {
    name: String,
    title: String,
    kind: RunKind,
    started_unix_ns: u64,
    verdict: fathom_record::Verdict,
    tool: fathom_record::ToolRecord,
}

/// A stage, a job name (`None`: all jobs) and a direction that the baseline and another record have.
#[derive(Debug, Clone)]
struct Group {
    stage: String,
    job: Option<String>,
    direction: String,
    /// By record, the baseline first.
    lines: Vec<Option<Line>>,
}

/// A figure of a group: its values by record, and the changes of all but the first.
struct Row {
    figure: Figure,
    values: Vec<Option<f64>>,
    changes: Vec<Option<Change>>,
}

impl Comparison {
    /// Lays `records` beside the first, each with the name by which it was asked for. `how_much` says whether all keys that
    /// differ are named or a few.
    ///
    /// # Panics
    /// Without a record.
    pub fn new(records: &[(String, Record)], how_much: Summary) -> Self {
        let most = match how_much {
            Summary::Short => FEW,
            Summary::Full => usize::MAX,
        };
        let sides = records.iter().map(|(name, record)| Side {
            name: name.clone(),
            title: record.title.clone(),
            kind: record.kind,
            started_unix_ns: record.started_unix_ns,
            verdict: record.verdict,
            tool: record.tool.clone(),
        });
        let base = &records[0].1;
        let mut doubts: Vec<String> = Vec::new();
        for (index, (_, other)) in records.iter().enumerate().skip(1) {
            let told = doubts::doubts(base, other, most).into_iter();
            doubts.extend(told.map(|doubt| format!("{}, {}: {doubt}", letter(0), letter(index))));
        }
        for (index, (_, record)) in records.iter().enumerate() {
            let told = doubts::own_doubts(record).into_iter();
            doubts.extend(told.map(|doubt| format!("{}: {doubt}", letter(index))));
        }
        let others: Vec<&Record> = records[1..].iter().map(|(_, record)| record).collect();
        let paired = pairs::pair(base, &others);
        doubts.extend(paired.times);
        Self {
            sides: sides.collect(),
            groups: paired.groups,
            partners: paired.partners,
            doubts,
        }
    }

    /// Whether nothing of the records could be laid beside each other.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// A group's name, without its stage's where there is but one.
    fn name_of(&self, group: &Group) -> String {
        let is_only = self.groups.iter().all(|other| other.stage == group.stage);
        if is_only {
            group.name_within()
        } else {
            group.name()
        }
    }

    /// Whether any figure changed by more than its noise.
    pub fn has_changes(&self) -> bool {
        let changes = self.groups.iter().flat_map(Group::rows);
        let mut changes = changes.flat_map(|row| row.changes.into_iter().flatten());
        changes.any(|change| change.more_than_noise == Some(true))
    }
}

impl Group {
    /// `mix: reader read`; one name where stage and job share it.
    fn name(&self) -> String {
        let (stage, direction) = (&self.stage, &self.direction);
        match &self.job {
            Some(job) if job == stage => format!("{job} {direction}"),
            _ => format!("{stage}: {}", self.name_within()),
        }
    }

    /// `reader read`.
    fn name_within(&self) -> String {
        let job = self.job.as_deref().unwrap_or("all jobs");
        format!("{job} {}", self.direction)
    }

    /// The figures that the baseline or another has; operations that move no bytes have no bandwidth.
    fn rows(&self) -> Vec<Row> {
        let rows = Figure::all().map(|figure| self.row(figure));
        let has = |row: &Row| {
            let mut known = row.values.iter().flatten();
            known.any(|value| row.figure != Figure::Bandwidth || *value > 0.0)
        };
        rows.filter(has).collect()
    }

    fn row(&self, figure: Figure) -> Row {
        let (base, others) = self.lines.split_first().map_or((&None, &[][..]), |it| it);
        let value = |line: &Option<Line>| line.as_ref()?.value(figure);
        let change = |other: &Option<Line>| {
            let (base, other) = base.as_ref().zip(other.as_ref())?;
            Some(Change::of(figure, base, other))
        };
        Row {
            figure,
            values: self.lines.iter().map(value).collect(),
            changes: others.iter().map(change).collect(),
        }
    }
}

/// How a record is called in text: `A`, `B`, … `Z`, `27`, …
fn letter(index: usize) -> String {
    u8::try_from(index)
        .ok()
        .filter(|index| *index < 26)
        .map_or_else(
            || (index + 1).to_string(),
            |index| char::from(b'A' + index).to_string(),
        )
}
