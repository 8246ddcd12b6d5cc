//! Writing of a Vdbench parameter file.
//!
//! Each job is a workload (WD) on storage of its own (SD), and each stage a run (RD) of its jobs' workloads. Vdbench's threads
//! on a piece of storage share its position, which is what one worker with as many I/Os outstanding does. Jobs on file sets are
//! workloads (FWD) on trees (FSD); what formats them stands with the run that follows.
//!
//! Invariant: storage and workloads that are alike stand once, and no name stands for two.

mod curve;
mod files;
mod general;
mod joined;
mod priorities;
mod rd;
mod sd;
mod sections;
mod steps;
mod storage;
mod wd;

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::Write as _;
use std::io;

use fathom_diagnostics::Diagnostics;
use fathom_dialects::fio::{FileStatus, Files};
use fathom_dialects::vdbench;
use fathom_units::{Nanos, Percent};
use fathom_workload::{Access, Features, Job, Limits, Stage, Workload};

use crate::back::{Reasons, header, losses};
use crate::clones::{self, Merged};
use crate::draft::Draft;
use crate::loss;
use crate::normal::normal_form;
use crate::{Converted, Origin};

use general::General;
use priorities::Priorities;
use sections::Sections;
use steps::Steps;

const REASONS: Reasons = Reasons {
    dialect: "Vdbench",
    known: &[
        (
            "access",
            "Vdbench draws random addresses independently, or goes in order",
        ),
        ("backend", "Vdbench has threads; here they are one queue"),
        ("block", "Vdbench has the same sizes for reads and writes"),
        ("contents", "Vdbench writes data of its own"),
        (
            "files.grows",
            "here a file is laid out before Vdbench's I/O, or by a run that formats it",
        ),
        ("discard", "Vdbench reports every run"),
        ("drop_cache", "Vdbench leaves the cache as it is"),
        (
            "filling",
            "Vdbench has one way to compress and to repeat for a whole run",
        ),
        ("existing", "Vdbench writes to any file that is there"),
        ("group", "Vdbench reports each SD"),
        (
            "measure",
            "Vdbench runs for `elapsed=`, in whole seconds, two at least",
        ),
        ("mix", "Vdbench reads and writes alone"),
        (
            "name",
            "a job is called by its WD and SD, in letters, digits and `_`",
        ),
        (
            "rate_from",
            "a rate follows from that of the run right before it, or from the start of a curve",
        ),
        (
            "rate_steps",
            "Vdbench has one list of rates for all of a run, in whole seconds and no longer than the run or an hour",
        ),
        (
            "placement",
            "of where I/Os go, Vdbench knows hits at the start of an SD, its own hot band and poisson, streams, strides and joined SDs",
        ),
        ("repeats", "give the RD that often"),
        ("salt", "Vdbench draws by its own seeds"),
        ("seed", "Vdbench draws by its own seeds"),
        (
            "warmup",
            "Vdbench leaves its first interval out, or whole seconds of `warmup=`",
        ),
    ],
};

/// The host of a job that names none, where others do: without it, the job would be done on every host.
const HERE: &str = "localhost";

/// A parameter file that is being written.
struct Writer {
    general: General,
    sections: Sections,
    runs: String,
    draft: Draft,
    /// The names of RDs so far, each of which is of one.
    run_names: HashSet<String>,
    /// Numbers of the jobs that clones became: one queue does what each of theirs did, and it is told of them.
    merged: HashSet<usize>,
    /// Stages that the text will be read as, so far.
    made: usize,
    /// Whether any job names a host.
    has_hosts: bool,
    /// Whether the workloads of the present run have rates of their own.
    is_paced_apart: bool,
    /// The priorities of the present run's workloads, where any has a rate.
    priorities: Option<Priorities>,
    /// The weights of the present run's workloads together, where they are held to shares.
    weights: Option<u64>,
    /// The rates of the present run where they follow one another.
    steps: Option<Steps>,
    /// The share of the present job in these, in percent, where jobs have different ones.
    skew: Option<f64>,
}

/// The workload as a parameter file.
pub fn convert(workload: &Workload, origin: Origin<'_>) -> Converted {
    let Merged {
        workload,
        numbers: merged,
        told,
    } = clones::as_workers(workload, draws);
    let normal = normal_form(&workload);
    let Workload {
        stages,
        // Runs are drawn by Vdbench's own seeds.
        seed: _,
    } = &normal;
    let general = General::of(&normal);
    let mut writer = Writer {
        sections: Sections::new(general.joined),
        general,
        runs: String::new(),
        run_names: HashSet::new(),
        draft: Draft {
            jobs: vec![Vec::new(); normal.jobs().count()],
            stages: vec![Vec::new(); stages.len()],
            ..Draft::default()
        },
        merged,
        made: 0,
        has_hosts: false,
        is_paced_apart: true,
        priorities: None,
        weights: None,
        steps: None,
        skew: None,
    };
    let mut hosts: Vec<&str> = normal
        .jobs()
        .filter_map(|(_, job)| job.host.as_deref())
        .collect();
    if !hosts.is_empty() && normal.jobs().any(|(_, job)| job.host.is_none()) {
        hosts.push(HERE);
    }
    hosts.sort_unstable();
    hosts.dedup();
    writer.has_hosts = !hosts.is_empty();
    let mut number = 0;
    let mut formatted = None;
    // Points of a curve stand with the run that they follow from.
    let mut points = 0;
    for (index, stage) in stages.iter().enumerate() {
        let Stage {
            name: _,
            jobs,
            // Both stand with the RD; the others show when the text is read back.
            cooldown: _,
            rate_from: _,
            repeats: _,
            discard: _,
        } = stage;
        jobs.iter().for_each(decided);
        if points > 0 {
            writer.point((index, number), jobs);
            points -= 1;
        } else {
            points = curve::points_behind(stages, index).len();
            writer.stage(stages, (index, number), &mut formatted);
        }
        number += jobs.len();
    }
    let body = writer.text(&hosts);
    let found = losses(&workload, &writer.draft, read(&body), REASONS);
    let losses = loss::with(&told, &found);
    Converted {
        text: format!("{}\n{body}", header("*", origin, &losses)),
        losses,
    }
}

/// Whether one queue does what threads with their own do: not where each goes through all of the target in order.
fn draws(job: &Job) -> bool {
    matches!(job.access, Access::Random { .. })
}

impl Writer {
    /// A stage: one run, or two where some of its jobs work on file sets and others do not. `formatted` is what a stage
    /// before it has formatted, to be written with it.
    fn stage(
        &mut self,
        stages: &[Stage],
        (index, number): (usize, usize),
        formatted: &mut Option<files::Formatted>,
    ) {
        let stage = &stages[index];
        let numbered = (number..).zip(&stage.jobs);
        let (on_files, on_storage): (Vec<_>, Vec<_>) =
            numbered.partition(|(_, job)| job.features.file_work.is_some());
        if !on_files.is_empty() && !on_storage.is_empty() {
            for (number, _) in on_files.iter().chain(&on_storage) {
                let message = "its jobs on file sets are a run by themselves";
                self.draft.lost(*number, "stage", message);
            }
        }
        if !on_storage.is_empty() {
            self.storage_run(stages, index, &on_storage);
        }
        if !on_files.is_empty() {
            self.file_run(stages, index, &on_files, formatted);
        }
    }

    /// The name of the RD that stage `index` becomes: its own where that can be and no RD has it.
    fn run_name(&mut self, name: &str, index: usize) -> String {
        if is_name(name) && self.run_names.insert(name.to_owned()) {
            return name.to_owned();
        }
        let mut number = index + 1;
        loop {
            let free = format!("rd{number}");
            if self.run_names.insert(free.clone()) {
                return free;
            }
            number += 1;
        }
    }

    /// `host=` of a job.
    fn host(&self, job: &Job) -> String {
        match job.host.as_deref() {
            Some(host) => format!(",host={}", quoted(host)),
            None if self.has_hosts => format!(",host={HERE}"),
            None => String::new(),
        }
    }

    fn text(&self, hosts: &[&str]) -> String {
        let mut text = self.general.text();
        for host in hosts {
            let host = quoted(host);
            let _ = writeln!(text, "hd={host},system={host}");
        }
        text.push_str(&self.sections.text());
        text.push_str(&self.runs);
        text
    }
}

/// Everything that a job has, named so that a new field is decided about here. What no line above or below takes up shows when
/// the text is read back.
fn decided(job: &Job) {
    let Job {
        name: _,
        group: _,
        host: _,
        targets: _,
        file_choice: _,
        workers: _,
        depth: _,
        mix: _,
        access: _,
        block: _,
        arrival: _,
        limits,
        sync: _,
        contents: _,
        backend: _,
        caching: _,
        existing: _,
        split_latency: _,
        drop_cache: _,
        unlink: _,
        salt: _,
        features,
    } = job;
    let Limits {
        start_delay: _,
        warmup: _,
        runtime: _,
        time_based: _,
        bytes: _,
        ios: _,
        loops: _,
    } = limits;
    let Features {
        think: _,
        batches: _,
        verify: _,
        validate: _,
        rates: _,
        rate_steps: _,
        minimum: _,
        think_cycles: _,
        flow: _,
        latency_target: _,
        steady: _,
        overlaps: _,
        placement: _,
        lines: _,
        file_work: _,
        filling: _,
        io_log: _,
        rate_samples: _,
        priorities: _,
        process: _,
        calls: _,
        files: _,
        errors: _,
        operation: _,
        processor_work: _,
        replay: _,
        trace_to: _,
        warmup_bytes: _,
    } = features;
}

/// A value as it can stand in a line: in double quotes where anything in it could end it. A double quote cannot be said.
fn quoted(value: &str) -> Cow<'_, str> {
    let is_plain =
        |c: char| c.is_ascii_alphanumeric() || "/\\_.:+-@%~*$#&;<>![]{}^|?'`".contains(c);
    if value.chars().all(is_plain) && !value.is_empty() || value.contains('"') {
        Cow::Borrowed(value)
    } else {
        Cow::Owned(format!("\"{value}\""))
    }
}

fn is_name(name: &str) -> bool {
    (1..=32).contains(&name.len())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !matches!(name, "default" | "format")
}

/// A size with the largest of Vdbench's letters that is exact.
fn size(bytes: u64) -> String {
    let units = [("t", 40), ("g", 30), ("m", 20), ("k", 10)];
    let exact = units
        .iter()
        .find(|(_, bits)| bytes > 0 && bytes.trailing_zeros() >= *bits);
    exact.map_or_else(
        || bytes.to_string(),
        |(unit, bits)| format!("{}{unit}", bytes >> bits),
    )
}

/// A share in percent with as many decimals as it has.
fn percent(share: Percent) -> String {
    (f64::from(share.basis_points()) / 100.0).to_string()
}

/// Whole seconds, rounded up.
fn whole(time: Nanos) -> u64 {
    time.get().div_ceil(1_000_000_000)
}

/// One word, or a list of them in parentheses.
fn list(words: &[String]) -> String {
    match words {
        [only] => only.clone(),
        several => format!("({})", several.join(",")),
    }
}

struct OneText<'a>(&'a str);

impl Files for OneText<'_> {
    fn read_text(&self, path: &str) -> io::Result<String> {
        match path {
            "written" => Ok(self.0.to_owned()),
            _ => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn status(&self, _: &str) -> FileStatus {
        FileStatus::Missing
    }
}

/// What Vdbench's reader makes of a text.
pub fn read(text: &str) -> Result<Workload, Diagnostics> {
    vdbench::read_file("written", &OneText(text)).map(|input| input.workload)
}
