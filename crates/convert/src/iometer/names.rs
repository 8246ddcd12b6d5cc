//! Names in a configuration: of machines, workers and access specifications.

use std::collections::{HashMap, HashSet};

use fathom_workload::Job;

use super::spec::Lines;
use super::text::IDLE;
use super::{Part, Spec};

/// Longest name, in characters; Iometer reads 199 bytes of a line.
const NAME_MAX: usize = 80;

/// A text as it can stand on one line of at most `most` characters: no key, and no blanks around it.
pub(super) fn one_line(text: &str, most: usize) -> String {
    let plain = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    let plain: String = plain.collect();
    let plain = plain.trim_start_matches(|c: char| c.is_whitespace() || c == '\'');
    let short: String = plain.chars().take(most).collect();
    short.trim_end().to_owned()
}

/// A manager's name: nothing for a job that names no machine.
pub(super) fn host(host: Option<&str>) -> String {
    one_line(host.unwrap_or_default(), NAME_MAX)
}

/// A worker's name. Where there are several machines, a job's name has its machine's before it when it was read from such
/// a file.
pub(super) fn worker(job: &Job, has_machines: bool) -> String {
    let prefix = format!("{}/", host(job.host.as_deref()));
    let own = job.name.strip_prefix(&prefix).filter(|_| has_machines);
    one_line(own.unwrap_or(&job.name), NAME_MAX)
}

/// The name of a specification: it stands before a comma.
fn spec(name: &str) -> String {
    let name = one_line(&name.replace(',', ";"), NAME_MAX);
    if name.is_empty() {
        return "unnamed".to_owned();
    }
    name
}

/// Names for the specifications of one stage after another.
///
/// A stage is called by the names of its specifications when a file is read, in the order in which its workers use them:
/// those names are taken from it where they can be.
#[derive(Debug, Default)]
pub(super) struct SpecNames {
    /// Names of the stages so far, as they will be read.
    stages: HashSet<String>,
    /// The lines of the stage, each once, with the name that is wished for them.
    wished: Vec<(Lines, String)>,
    /// Specifications by their lines and the name that was wished for them.
    known: HashMap<(Lines, String), usize>,
    /// Names in use, in lower case: their case says nothing.
    used: HashSet<String>,
}

impl SpecNames {
    /// Begins a stage of that name.
    pub(super) fn begin(&mut self, stage: &str, parts: &[Part]) {
        let mut lines: Vec<&Lines> = Vec::new();
        let mut jobs = Vec::new();
        for part in parts {
            if !lines.contains(&&part.lines) {
                lines.push(&part.lines);
                jobs.push(part.job.as_str());
            }
        }
        let stage = self.without_number(stage);
        let split: Vec<&str> = stage.split(" + ").collect();
        let names: Vec<String> = match lines.len() {
            1 => vec![spec(stage)],
            // Read together, the parts are the stage's name again.
            count if count == split.len() => split.into_iter().map(spec).collect(),
            // Otherwise they are called by the first jobs that have them.
            _ => jobs.into_iter().map(spec).collect(),
        };
        self.wished = lines.into_iter().cloned().zip(names).collect();
        self.stages.insert(stage.to_owned());
    }

    /// A stage that has the name of an earlier one is read with a number behind it.
    fn without_number<'n>(&self, stage: &'n str) -> &'n str {
        let numbered = stage.strip_suffix(')').and_then(|rest| {
            let (base, number) = rest.rsplit_once(" (")?;
            let is_number = !number.is_empty() && number.chars().all(|c| c.is_ascii_digit());
            is_number.then_some(base)
        });
        numbered
            .filter(|base| self.stages.contains(*base))
            .unwrap_or(stage)
    }

    /// Index of the stage's specification with these lines among `specs`, which it joins where it is new.
    pub(super) fn place(&mut self, lines: Lines, specs: &mut Vec<Spec>) -> usize {
        let found = self.wished.iter().find(|(known, _)| *known == lines);
        let wish = found.map_or("unnamed", |(_, name)| name).to_owned();
        let key = (lines.clone(), wish.clone());
        if let Some(index) = self.known.get(&key) {
            return *index;
        }
        let numbered = (2u32..).map(|number| format!("{wish} #{number}"));
        let name = std::iter::once(wish.clone())
            .chain(numbered)
            .find(|name| self.is_free(name))
            .unwrap_or_default();
        self.used.insert(name.to_lowercase());
        self.known.insert(key, specs.len());
        specs.push(Spec { name, lines });
        specs.len() - 1
    }

    fn is_free(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        name != IDLE.to_lowercase() && !self.used.contains(&name)
    }
}
