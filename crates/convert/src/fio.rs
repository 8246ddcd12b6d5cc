//! Writing of a fio job file.
//!
//! Every job is a section; jobs that are alike but for their random numbers become clones of one (`numjobs`), and what all
//! sections say stands in `[global]`. fio's own defaults are written out where the workload asks for something else.

pub mod back;
mod features;
mod names;
mod pattern;
mod placement;
mod section;

use std::fmt::Write as _;

use fathom_dialects::fio::belongs_to_engine;
use fathom_units::Nanos;
use fathom_workload::{Job, ReportGroup, Stage, SteadyState, Workload};

use crate::back::{Reasons, header, losses};
use crate::clones::are_clones;
use crate::draft::Draft;
use crate::normal::normal_form;
use crate::{Converted, Origin};

use section::Section;

/// Largest weight of a flow that fio takes.
const FLOW_MAX: u32 = 1000;

/// fio's own seed, which is in force where none is given.
const SEED: u64 = 0x89;

const REASONS: Reasons = Reasons {
    dialect: "fio",
    known: &[
        ("cooldown", "fio does not wait between stages"),
        ("repeats", "run it that often"),
        ("discard", "fio reports every job"),
        (
            "rate_from",
            "fio knows no rate that follows from an earlier job",
        ),
        ("lines", "fio draws sizes and directions apart"),
        ("flow", "fio takes weights up to 1,000"),
        (
            "host",
            "fio runs a job file on another machine by `--client`",
        ),
        ("existing", "fio writes to any file that is there"),
        (
            "group",
            "fio numbers groups in order, and one is steady by one rule",
        ),
        ("salt", "fio draws by the place of a job in its file"),
        (
            "split_latency",
            "fio times submission wherever submitting does not complete the I/O",
        ),
        ("placement", "fio walks each file by rules of its own"),
        ("backend", "fio has another engine for it"),
    ],
};

/// The workload as a job file.
pub fn convert(workload: &Workload, origin: Origin<'_>) -> Converted {
    let weighted = with_small_weights(workload);
    let Workload { stages, seed } = &weighted;
    let mut draft = Draft::default();
    let mut sections = Vec::new();
    let mut number = 0;
    let mut group = Groups::default();
    for (index, stage) in stages.iter().enumerate() {
        draft.stages.push(vec![index]);
        let Stage {
            // A stage has the name of its first job; what else a stage is shows when the text is read back.
            name: _,
            jobs,
            cooldown: _,
            repeats: _,
            discard: _,
            rate_from: _,
        } = stage;
        group.open_stage();
        let mut rest = jobs.as_slice();
        let mut place = 0;
        while let Some((first, _)) = rest.split_first() {
            let alike = rest
                .iter()
                .take_while(|job| are_clones(first, job))
                .count()
                .max(1);
            let clones = if alike > 1 {
                alike as u32
            } else {
                first.workers
            };
            let mut section = Section::of(first, (index, number), &mut draft);
            if index > 0 && place == 0 {
                section.put("stonewall", "1");
            }
            if group.is_new(first) {
                section.put("new_group", "1");
            }
            section.clones(clones);
            sections.push(section);
            for clone in 0..alike {
                let became = if alike > 1 {
                    place + clone..place + clone + 1
                } else {
                    place..place + clones as usize
                };
                draft
                    .jobs
                    .push(became.map(|place| (index, place)).collect());
            }
            if first.workers > 1 {
                let message = format!("{} workers become as many jobs of one name", first.workers);
                draft.differs(number, "workers", message);
            }
            place += clones as usize;
            number += alike;
            rest = &rest[alike..];
        }
    }
    let body = text(*seed, sections);
    let read = back::read(&body).map(|read| back::with_directories_of(workload, read));
    let losses = losses(workload, &draft, read, REASONS);
    Converted {
        text: format!("{}{body}", header("#", origin, &losses)),
        losses,
    }
}

/// The workload with the weights of its flows as fio takes them: as small as they can be, and rounded where one is too large
/// even so.
fn with_small_weights(workload: &Workload) -> Workload {
    let reduced = normal_form(workload);
    let mut weighted = workload.clone();
    for (stage, reduced) in weighted.stages.iter_mut().zip(&reduced.stages) {
        let flows = || reduced.jobs.iter().filter_map(|job| job.features.flow);
        for (job, own) in stage.jobs.iter_mut().zip(&reduced.jobs) {
            let (Some(flow), Some(own)) = (&mut job.features.flow, own.features.flow) else {
                continue;
            };
            let largest = flows().filter(|other| other.id == own.id);
            let largest = largest.map(|other| other.weight).max().unwrap_or(1);
            flow.weight = if largest <= FLOW_MAX {
                own.weight
            } else {
                let share = u64::from(own.weight) * u64::from(FLOW_MAX);
                (share / u64::from(largest)).max(1) as u32
            };
        }
    }
    weighted
}

/// How fio numbers groups of jobs: a new one at each stage, and wherever a job asks for one. All jobs of one are steady by
/// one rule.
#[derive(Default)]
struct Groups {
    id: Option<u32>,
    is_open: bool,
    /// The rule of the group that is open.
    steady: Option<SteadyState>,
    /// How many groups there are beside those of the workload.
    more: u32,
}

impl Groups {
    fn open_stage(&mut self) {
        self.id = Some(self.id.map_or(0, |id| id + 1));
        self.is_open = false;
    }

    /// Whether the next job must ask for a new group: to be in its own, or to be steady by another rule.
    fn is_new(&mut self, job: &Job) -> bool {
        let ReportGroup { id, together: _ } = job.group;
        let steady = job.features.steady;
        let current = self.id.unwrap_or_default();
        let next = current.wrapping_add(1);
        let own = self.is_open && id.wrapping_add(self.more) == next;
        let is_new = own || self.is_open && steady != self.steady;
        self.more += u32::from(is_new && !own);
        self.id = Some(if is_new { next } else { current });
        (self.is_open, self.steady) = (true, steady);
        is_new
    }
}

/// The sections, with what they have in common in front.
fn text(seed: u64, mut sections: Vec<Section>) -> String {
    let mut global = vec![("thread", "1".to_owned())];
    if seed != SEED {
        // fio's numbers end at 2^63.
        global.push(("randseed", (seed & i64::MAX as u64).to_string()));
    }
    if let [first, others @ ..] = sections.as_slice()
        && !others.is_empty()
    {
        let is_common = |option: &&(&'static str, String)| {
            !Section::OWN.contains(&option.0)
                && others.iter().all(|other| other.options.contains(option))
        };
        let engine = first.options.iter().find(|(key, _)| *key == "ioengine");
        let one_engine = engine.is_some_and(|option| is_common(&option));
        let common = first
            .options
            .iter()
            .filter(|option| is_common(option) && (one_engine || !belongs_to_engine(option.0)));
        let common: Vec<_> = common.cloned().collect();
        for section in &mut sections {
            section.options.retain(|option| !common.contains(option));
        }
        global.extend(common);
    }
    let mut text = String::new();
    let mut part = |name: &str, options: &[(&'static str, String)]| {
        let _ = writeln!(text, "\n[{name}]");
        for (key, value) in options {
            let line = if value.is_empty() {
                (*key).to_owned()
            } else {
                format!("{key}={value}")
            };
            text.push_str(&line);
            text.push('\n');
        }
    };
    part("global", &global);
    for section in &sections {
        part(&section.name, &section.options);
    }
    text
}

/// A size with the largest of fio's letters that is exact: `4k`.
fn size(bytes: u64) -> String {
    let units = [("t", 40), ("g", 30), ("m", 20), ("k", 10)];
    let exact = units
        .iter()
        .find(|(_, bits)| bytes > 0 && bytes.trailing_zeros() >= *bits);
    match exact {
        Some((unit, bits)) => format!("{}{unit}", bytes >> bits),
        None => bytes.to_string(),
    }
}

/// A time in whole microseconds at least, with its unit.
fn time(time: Nanos) -> String {
    let micros = time.get().div_ceil(1_000);
    let units = [("s", 1_000_000), ("ms", 1_000)];
    match units
        .iter()
        .find(|(_, scale)| micros.is_multiple_of(*scale))
    {
        Some((unit, scale)) => format!("{}{unit}", micros / scale),
        None => format!("{micros}us"),
    }
}

/// One value for reads, writes and trims; one alone where they are the same.
fn triple(values: [String; 3]) -> String {
    if values[0] == values[1] && values[0] == values[2] {
        let [first, ..] = values;
        return first;
    }
    values.join(",")
}
