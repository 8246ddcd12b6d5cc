//! A need beside what a record says came of it: each figure with what is needed, what was predicted (or measured), and
//! whether that is enough, in words.
//!
//! A figure passes, fails or stays unknown. It never passes for want of a figure: what the profile does not say, what the
//! record does not have and what the load did not ask for are unknown.

mod found;
mod html;
mod judge;
mod text;

use std::fmt::Write as _;

use fathom_profile::{Growth, Level, PeriodKind, Profile, Role};
use fathom_record::{Record, RunKind, Verdict};
use fathom_units::counted;

use self::found::Pairing;

/// A need beside a record.
#[derive(Debug, Clone, PartialEq)]
pub struct NeedBeside {
    /// Name of the application.
    pub name: String,
    /// The percentile of rates, over time.
    pub level: Level,
    /// What rates of the profile were multiplied by.
    pub growth: Growth,
    /// `predicted`, `measured` or `served`.
    pub found: &'static str,
    /// A part for each volume and period.
    pub parts: Vec<Part>,
    /// What a reader should know.
    pub notes: Vec<String>,
}

/// One volume in one period.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// Name of the volume.
    pub volume: String,
    /// What lies on it.
    pub role: Role,
    /// The period.
    pub period: PeriodKind,
    /// Its figures; none where the record has nothing of it.
    pub lines: Vec<Line>,
}

/// One figure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// What it is.
    pub figure: String,
    /// What is needed; `-` where nobody knows.
    pub need: String,
    /// What the record says; `-` where it does not.
    pub found: String,
    /// Whether that is enough.
    pub outcome: Outcome,
}

/// Whether a figure is enough.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It is.
    Pass,
    /// It is not: by how much.
    Fail(String),
    /// It cannot be told, and without it the need as a whole cannot: why.
    Open(String),
    /// It cannot be told, and need not be: why.
    Unknown(String),
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Pass => f.write_str("pass"),
            Self::Fail(how) => write!(f, "FAIL: {how}"),
            Self::Open(why) | Self::Unknown(why) => write!(f, "unknown: {why}"),
        }
    }
}

/// What all figures add up to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Met {
    /// What must pass does.
    Yes,
    /// A figure fails.
    No,
    /// No figure fails, and one that must pass is unknown.
    Unknown,
}

/// Why a need cannot stand beside a record.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the record has nothing of the need `{need}`: no job of its stages ({stages}) is of a volume of it ({volumes})"
)]
pub struct NothingOfIt {
    need: String,
    stages: String,
    volumes: String,
}

impl NeedBeside {
    /// Lays `profile` at `level` beside `record`.
    ///
    /// Jobs are told by the names that a plan gives them: a stage for each period, jobs that begin with their volume's
    /// name. Where there is one period or volume alone, names need not tell it.
    ///
    /// # Errors
    /// [`NothingOfIt`] where no job of the record is of a volume of the need.
    pub fn new(profile: &Profile, level: Level, record: &Record) -> Result<Self, NothingOfIt> {
        let pairing = Pairing::of(profile, record);
        let mut parts = Vec::new();
        for (number, volume) in profile.volumes.iter().enumerate() {
            for period in &volume.periods {
                let found = pairing.find(number, period.kind);
                let found = found.as_ref();
                let lines =
                    found.map(|found| judge::lines(profile, (volume, period), level, found));
                parts.push(Part {
                    volume: volume.name.clone(),
                    role: volume.role,
                    period: period.kind,
                    lines: lines.unwrap_or_default(),
                });
            }
        }
        if parts.iter().all(|part| part.lines.is_empty()) {
            let stages: Vec<_> = record
                .stages
                .iter()
                .map(|it| format!("`{}`", it.name))
                .collect();
            return Err(NothingOfIt {
                need: profile.name.clone(),
                stages: stages.join(", "),
                volumes: pairing.wanted(),
            });
        }
        Ok(Self {
            name: profile.name.clone(),
            level,
            growth: profile.growth,
            found: match record.kind {
                RunKind::Predict => "predicted",
                RunKind::Run => "measured",
                RunKind::Serve => "served",
            },
            parts,
            notes: notes(&pairing, record),
        })
    }

    /// What the figures add up to.
    pub fn met(&self) -> Met {
        if self.outcomes().any(|it| matches!(it, Outcome::Fail(_))) {
            return Met::No;
        }
        let open = self.outcomes().any(|it| matches!(it, Outcome::Open(_)));
        if open || self.parts.iter().any(|part| part.lines.is_empty()) {
            Met::Unknown
        } else {
            Met::Yes
        }
    }

    fn outcomes(&self) -> impl Iterator<Item = &Outcome> {
        let lines = self.parts.iter().flat_map(|part| &part.lines);
        lines.map(|line| &line.outcome)
    }

    /// [`Self::met`] in words, with how many figures it rests on; what is unknown is counted apart.
    pub fn verdict(&self) -> String {
        let count = |is: fn(&Outcome) -> bool| self.outcomes().filter(|it| is(it)).count();
        let passed = count(|it| matches!(it, Outcome::Pass));
        let failed = count(|it| matches!(it, Outcome::Fail(_)));
        let open = count(|it| matches!(it, Outcome::Open(_)));
        let unknown = count(|it| matches!(it, Outcome::Unknown(_)));
        let missing = self.parts.iter().filter(|part| part.lines.is_empty());
        let missing = missing.count();
        let figures = |count: usize, words| counted(count as u64, words);
        let pass = figures(passed, ("figure passes", "figures pass"));
        let mut words = match self.met() {
            Met::Yes => format!("MET: {pass}"),
            Met::No if passed == 0 => format!(
                "NOT MET: {}",
                figures(failed, ("figure fails", "figures fail"))
            ),
            Met::No => {
                let fail = if failed == 1 { "fails" } else { "fail" };
                format!("NOT MET: {failed} of {} figures {fail}", passed + failed)
            }
            Met::Unknown if passed == 0 => "UNKNOWN: no figure passes, none fails".to_owned(),
            Met::Unknown => format!("UNKNOWN: {pass}, none fails"),
        };
        let are = |count: usize| if count == 1 { "is" } else { "are" };
        if open > 0 {
            let are = are(open);
            let _ = write!(words, "; {open} more that must pass {are} unknown");
        }
        if missing > 0 {
            let loads = self.parts.len();
            let _ = write!(words, "; of {missing} of {loads} loads nothing is known");
        }
        if unknown > 0 {
            let _ = write!(
                words,
                "; {unknown} more that no goal or rate is set for {} unknown",
                are(unknown)
            );
        }
        words
    }

    /// The need's own heading.
    fn heading(&self) -> String {
        let growth = match self.growth {
            Growth::NONE => String::new(),
            growth => format!(", after a growth of {growth}"),
        };
        format!("Need of `{}` at its {}{growth}", self.name, self.level)
    }
}

impl Part {
    fn heading(&self) -> String {
        format!(
            "{} ({}), {}",
            self.volume,
            self.role.name(),
            self.period.name()
        )
    }
}

/// What stands in place of figures where there are none.
const NOTHING: &str = "unknown: the record has nothing of it";

fn notes(pairing: &Pairing<'_>, record: &Record) -> Vec<String> {
    let mut notes = pairing.notes();
    let strangers = pairing.strangers();
    if let Some(first) = strangers.first() {
        notes.push(match strangers.len() {
            1 => format!("the job `{first}` of the record is of no volume of the need, and left out"),
            several => format!("`{first}` and other jobs of the record ({several}) are of no volume of the need, and left out"),
        });
    }
    if record.verdict != Verdict::Trustworthy {
        notes.push("the record itself is doubtful: its own verdict stands above".to_owned());
    }
    if record.interrupted {
        notes.push("the run was stopped before its end".to_owned());
    }
    notes
}
