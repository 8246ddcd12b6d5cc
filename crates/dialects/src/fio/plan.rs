//! From sections to stages of jobs: defaults, clones, reporting groups and stonewalls.

mod refused;

use std::collections::{BTreeMap, BTreeSet};

use fathom_diagnostics::{Diagnostic, Diagnostics};
use fathom_units::{Bytes, Nanos};
use fathom_workload::{
    Backend, EndsOthers, Features, FileOperation, IoPriority, Job, PatternError, ReportGroup,
    Stage, Target, ThreadPriority, Verify, Workload,
};

use super::blocks::block_range;
use super::command_line::CommandLine;
use super::context::{Files, ReadContext};
use super::ends::ends;
use super::engine::{backend, operation};
use super::errno::ECANCELED;
use super::features;
use super::file_kinds::problem_of_scheme;
use super::fitting::{check_sequence, check_share, fitting};
use super::input::{
    Action, FioInput, FioJobMeta, JobLogs, Origin, Provenance, SizesOf, TraceMerge,
};
use super::job::{self, Allowed};
use super::late::{self, Complaints};
use super::lexer::{RawOption, Section};
use super::placement::{filling, map_warning, placement};
use super::processor_work;
use super::replay::{self, Before, Replayed};
use super::scatter::scatter;
use super::settings::{Amount, Settings, io_log, pace, place_in_section};
use super::table::{self, Support};
use super::targets::Clone as JobClone;
use super::verify::{self, StatePlace};
use refused::clone_numbers;

/// Most jobs, clones counted.
pub const MAX_JOBS: u64 = 4096;
/// Most targets of all jobs together.
const MAX_TARGETS: usize = 1 << 20;
/// What is said where there are no jobs.
const NO_JOBS: &str = "no jobs defined";
/// fio's own seed.
const SEED: u64 = 0x89;

/// Whether it is the lack of jobs that is complained about, where fio shows its options.
pub fn lacks_jobs(complaints: &Diagnostics) -> bool {
    complaints.0.iter().any(|one| one.message == NO_JOBS)
}

/// What to do where there are no jobs, none of which is in a section of `only` where some are asked for.
fn what_job_to_name(only: &[String]) -> String {
    match only {
        [] => "name a job file, or --name=JOB".to_owned(),
        [one] => format!("no job is called `{one}`, as `--section` asks for"),
        several => format!(
            "no job is called one of `{}`, as `--section` asks for",
            several.join("`, `")
        ),
    }
}

/// Builds the whole input, and the number of each job's error; `None` after an error that fio, too, finds as it reads. All
/// errors are said.
pub fn build(
    line: CommandLine,
    context: &ReadContext<'_>,
    diagnostics: &mut Diagnostics,
) -> Option<(FioInput, Vec<i32>)> {
    let mut planner = Planner::new(&line, context);
    let mut complaints = Complaints::new(diagnostics);
    for sections in &line.files {
        planner.file(sections, &mut complaints);
    }
    let mut action = line.action.clone().unwrap_or(Action::Run);
    let no_jobs = planner.jobs.is_empty();
    if no_jobs && action == Action::Run && !complaints.has_errors() {
        complaints.push(Diagnostic::error(NO_JOBS).hint(what_job_to_name(&line.only)));
    }
    if line.warnings_fatal && !complaints.0.is_empty() {
        complaints.push(Diagnostic::error("warnings are fatal (--warnings-fatal)"));
    }
    let is_read = complaints.are_late();
    remove_doubles(diagnostics);
    if !is_read {
        return None;
    }
    planner.settle_exitall();
    if let Action::MergeTraces(merges) = &mut action {
        *merges = planner.merges;
    }
    let errno_of = |job: usize| planner.errnos.get(&job).copied().unwrap_or(ECANCELED);
    let errnos = (0..planner.jobs.len()).map(errno_of).collect();
    let input = FioInput {
        workload: Workload {
            stages: planner.stages,
            seed: planner.seed.unwrap_or(SEED),
        },
        warnings: Diagnostics::default(),
        output: line.output,
        action,
        jobs: planner.jobs,
        global_options: planner.global_options,
        provenance: planner.provenance,
    };
    Some((input, errnos))
}

/// The same complaint about a default, met in several jobs, is said once.
fn remove_doubles(diagnostics: &mut Diagnostics) {
    let mut seen = BTreeSet::new();
    diagnostics
        .0
        .retain(|diagnostic| seen.insert(diagnostic.to_string()));
}

/// Whether jobs are built, or options only read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Runs {
    Yes,
    No,
    /// Traces are merged.
    Merges,
}

/// Whether any section has `exitall`: it counts for every job, as in fio.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ExitsAll {
    Yes,
    No,
}

struct Planner<'a> {
    context: &'a ReadContext<'a>,
    allowed: Allowed,
    runs: Runs,
    merges: Vec<TraceMerge>,
    aux_path: Option<String>,
    template: Settings,
    global_options: Vec<(String, String)>,
    stages: Vec<Stage>,
    jobs: Vec<FioJobMeta>,
    /// The error of each job that is refused, by its number.
    errnos: BTreeMap<usize, i32>,
    provenance: Vec<Provenance>,
    seed: Option<u64>,
    group: u32,
    jobs_in_group: u64,
    job_count: u64,
    target_count: usize,
    full: bool,
    exits_all: ExitsAll,
    every_io_told: bool,
}

impl<'a> Planner<'a> {
    fn new(line: &CommandLine, context: &'a ReadContext<'a>) -> Self {
        Self {
            context,
            allowed: if line.readonly {
                Allowed::ReadsOnly
            } else {
                Allowed::Everything
            },
            runs: match &line.action {
                None | Some(Action::Run) => Runs::Yes,
                Some(Action::MergeTraces(_)) => Runs::Merges,
                Some(_) => Runs::No,
            },
            merges: Vec::new(),
            aux_path: line.aux_path.clone(),
            template: Settings::default(),
            global_options: Vec::new(),
            stages: Vec::new(),
            jobs: Vec::new(),
            errnos: BTreeMap::new(),
            provenance: Vec::new(),
            seed: None,
            group: 0,
            jobs_in_group: 0,
            job_count: 0,
            target_count: 0,
            full: false,
            exits_all: ExitsAll::No,
            every_io_told: line.output.debug.io,
        }
    }

    /// Each further file starts from fio's own defaults again.
    fn file(&mut self, sections: &[Section], diagnostics: &mut Complaints<'_>) {
        self.template = Settings::default();
        self.global_options.clear();
        for section in sections {
            if section.global {
                self.template.apply_all(&section.options, diagnostics);
                self.template.name = None;
                for (name, value) in typed_options(section) {
                    replace(&mut self.global_options, name, value);
                }
            } else if !self.full {
                self.section(section, diagnostics);
            }
        }
    }

    /// Without `exitall` the end of a job ends no other.
    fn settle_exitall(&mut self) {
        if self.exits_all == ExitsAll::Yes {
            return;
        }
        for job in self.stages.iter_mut().flat_map(|stage| &mut stage.jobs) {
            job.features.process.ends = EndsOthers::Nothing;
        }
    }

    fn section(&mut self, section: &Section, diagnostics: &mut Complaints<'_>) {
        diagnostics.begin_job();
        let mut settings = self.template.clone();
        settings.stonewall |= section.after_file;
        settings.apply_all(&section.options, diagnostics);
        let name = settings
            .name
            .clone()
            .unwrap_or_else(|| section.name.clone());
        if self.runs == Runs::No {
            // As fio, `--parse-only` reads each option by itself and looks at nothing else, but `rw` has to be allowed.
            return job::check_direction(&settings, &name, self.allowed, diagnostics);
        }
        if self.runs == Runs::Merges {
            self.merges
                .extend(replay::merge(&settings, &name, &self.merges, diagnostics));
            return;
        }
        let merge = replay::merge(&settings, &name, &self.merges, diagnostics);
        self.merges.extend(merge);
        if processor_work::works(&settings) {
            settings = processor_work::without_io(settings);
        }
        if settings.control.exit_all {
            self.exits_all = ExitsAll::Yes;
        }
        for (option, refusal) in &settings.control.refused_at_run {
            if job::heeds(&settings, option) {
                diagnostics.refuse(late::of_option(&settings, option), refusal.clone());
            }
        }
        diagnostics
            .0
            .extend(problem_of_scheme(&settings, self.context.files));
        job::check(&settings, &name, self.allowed, diagnostics);
        job::warn(&settings, &name, diagnostics);
        self.job_count = self.job_count.saturating_add(settings.clones);
        if self.job_count > MAX_JOBS {
            self.full = true;
            let message = format!("more than {MAX_JOBS} jobs, clones counted");
            let error = Diagnostic::error(message).hint("lower numjobs");
            diagnostics.push(match settings.location("numjobs") {
                Some(location) => error.at(location),
                None => error,
            });
            return;
        }
        self.resolve_wait(&mut settings, &name, diagnostics);
        if diagnostics.job_has_errors() {
            if diagnostics.errno_of_job().is_some() {
                self.open(&settings, &name);
            }
            let numbers = clone_numbers(settings.clones);
            return self.refused((section, &settings, &name), numbers, diagnostics);
        }
        self.clones(section, &settings, &name, diagnostics);
    }

    /// A job may wait for one that was named before it. One of an earlier stage has ended when this one's stage begins.
    fn resolve_wait(&self, settings: &mut Settings, name: &str, diagnostics: &mut Diagnostics) {
        let Some(other) = settings.control.process.after.clone() else {
            return;
        };
        let of_present = self.stages.last().filter(|_| !settings.stonewall);
        let mut jobs = of_present
            .map(|stage| stage.jobs.iter())
            .into_iter()
            .flatten();
        if jobs.any(|job| job.name == other) {
            return;
        }
        settings.control.process.after = None;
        if self.jobs.iter().any(|job| job.name == other) {
            return;
        }
        let message = format!("job `{name}` waits for `{other}`, which no job before it is called");
        let error = Diagnostic::error(message).hint("name a job that stands further up");
        diagnostics.push(match settings.location("wait_for") {
            Some(location) => error.at(location),
            None => error,
        });
    }

    /// Opens the group and the stage that a section asks for.
    fn open(&mut self, settings: &Settings, name: &str) {
        if (settings.stonewall || settings.new_group) && self.jobs_in_group > 0 {
            self.jobs_in_group = 0;
            self.group += 1;
        }
        if self.stages.is_empty() || settings.stonewall {
            self.open_stage(name);
        }
    }

    fn clones(
        &mut self,
        section: &Section,
        settings: &Settings,
        name: &str,
        diagnostics: &mut Complaints<'_>,
    ) {
        let files = match settings.named_files.len() {
            0 => settings.file_count,
            named => named as u64,
        };
        if files * settings.clones > MAX_TARGETS.saturating_sub(self.target_count) as u64 {
            return self.too_many_files(diagnostics);
        }
        self.open(settings, name);
        self.check_group(settings, name, diagnostics);
        let filling = match filling(settings, self.context.files) {
            Ok(filling) => filling,
            Err(error) => {
                return unreadable(settings, (name, "buffer_pattern"), &error, diagnostics);
            }
        };
        let mut numbers = clone_numbers(settings.clones);
        while let Some(number) = numbers.next() {
            let ends = ends(settings, self.stages.iter().flat_map(|stage| &stage.jobs));
            let names = (name, section.name.as_str());
            let clone = clone_of(settings, names, (number, self.seed_of(settings)), &ends);
            let files = self.context.files;
            let before = self.before();
            let Some(found) = find_targets(&clone, before, files, diagnostics) else {
                let rest = std::iter::once(number).chain(numbers);
                return self.refused((section, settings, name), rest, diagnostics);
            };
            let (targets, replayed, past_end) = found;
            if self.allowed == Allowed::ReadsOnly && self.runs == Runs::Yes {
                clone.check_all_is_there(&targets, files, diagnostics);
            }
            clone.check_kinds(&targets, files, diagnostics);
            self.target_count += targets.len();
            if self.target_count > MAX_TARGETS {
                return self.too_many_files(diagnostics);
            }
            let group = self.report_group(settings);
            let salt = self.salt(settings);
            let verify = match self.verify(settings, replayed.as_ref(), name) {
                Ok(verify) => verify,
                Err(error) => {
                    return unreadable(settings, (name, "verify_pattern"), &error, diagnostics);
                }
            };
            warn_of_map(settings, name, &targets, diagnostics);
            let fitting = fitting(settings, name, &targets, diagnostics);
            let settings = fitting.as_ref();
            let mut features = Features {
                placement: placement(settings, &targets, past_end),
                filling: filling.clone(),
                verify,
                ..features::of(settings, number)
            };
            features.files.make_parents = clone.makes_parents(&targets, files);
            let mut job = job::build(settings, name, targets, group, salt, features);
            pace(&mut job, settings);
            if let Some(replayed) = replayed {
                replayed.apply(&mut job);
            }
            if let Some(errno) = diagnostics.errno_of_job() {
                self.errnos.insert(self.jobs.len(), errno);
            }
            self.add(section, settings, job, number);
        }
    }

    /// Puts clone `number` of a section behind the other jobs.
    fn add(&mut self, section: &Section, settings: &Settings, mut job: Job, number: u64) {
        self.jobs_in_group += 1;
        let logs = self.log(settings, &mut job);
        self.jobs
            .push(self.meta(section, settings, &job, number, logs));
        if number == 0 {
            self.explain(settings, &job.name);
        }
        if let Some(stage) = self.stages.last_mut() {
            stage.jobs.push(job);
        }
    }

    /// Where the traces of the next job come from.
    fn before(&self) -> Before<'_> {
        let stages = self.stages.split_last();
        Before {
            stages: stages.map_or(&[][..], |(_, before)| before),
            merges: &self.merges,
        }
    }

    fn report_group(&self, settings: &Settings) -> ReportGroup {
        ReportGroup {
            id: self.group,
            together: settings.group_reporting,
        }
    }

    /// As in fio, a job that warms up by bytes joins those of its group alone that warm up by as many.
    fn check_warm_up(&self, settings: &Settings, name: &str, diagnostics: &mut Diagnostics) {
        let bytes = settings.pacing.warm_up_bytes();
        let jobs = self.stages.iter().flat_map(|stage| &stage.jobs);
        let mut others = jobs.filter(|job| job.group.id == self.group);
        if bytes > Bytes::ZERO && others.any(|job| job.features.warmup_bytes != bytes) {
            let message = format!("job `{name}`: `ramp_size` differs within its group");
            let error = Diagnostic::error(message).hint("set it alike, or add new_group");
            diagnostics.push(match settings.location("ramp_size") {
                Some(location) => error.at(location),
                None => error,
            });
        }
    }

    /// As in fio, jobs of one group are judged by one steady state, or none of them is.
    fn check_steady(&self, settings: &Settings, name: &str, diagnostics: &mut Diagnostics) {
        let steady = settings.pacing.steady_state();
        let jobs = self.stages.iter().flat_map(|stage| &stage.jobs);
        let mut others = jobs.filter(|job| job.group.id == self.group);
        if others.any(|job| job.features.steady != steady) {
            let message = format!("job `{name}`: its steady state differs within its group");
            let error = Diagnostic::error(message).hint(
                "set steadystate and ss_dur alike for all jobs of the group, or add new_group",
            );
            let location = ["steadystate_duration", "steadystate"].map(|it| settings.location(it));
            diagnostics.push(match location.into_iter().flatten().next() {
                Some(location) => error.at(location),
                None => error,
            });
        }
    }

    /// What is reported together has, or has not, percentiles of total latency, warms up alike, and is steady by one rule.
    fn check_group(&self, settings: &Settings, name: &str, diagnostics: &mut Diagnostics) {
        self.check_warm_up(settings, name, diagnostics);
        self.check_steady(settings, name, diagnostics);
        let total = settings.percentiles.total;
        let of_group = |job: &&FioJobMeta| job.group == self.group;
        let mut others = self.jobs.iter().filter(of_group);
        let joins = settings.group_reporting && settings.stats;
        if joins && others.any(|job| job.percentiles.total != total) {
            let message = format!("job `{name}`: `lat_percentiles` differs within its group");
            let error = Diagnostic::error(message).hint("set it alike, or add new_group");
            diagnostics.push(match settings.location("lat_percentiles") {
                Some(location) => error.at(location),
                None => error,
            });
        }
    }

    /// What the next job checks.
    fn verify(
        &self,
        settings: &Settings,
        replayed: Option<&Replayed>,
        name: &str,
    ) -> Result<Option<Box<Verify>>, PatternError> {
        let place = StatePlace {
            folder: self.aux_path.as_deref(),
            job: name,
            number: self.jobs.len(),
        };
        let trace_writes = replayed.map(Replayed::writes);
        verify::build(settings, trace_writes, place, self.context.files)
    }

    /// Gives a job what it tells of its single I/Os.
    fn log(&self, settings: &Settings, job: &mut Job) -> JobLogs {
        let logs = self.logs(settings, job);
        job.features.io_log = io_log(&logs);
        job.features.rate_samples = settings.log.rate_samples();
        job.features.priorities = settings.priority.priorities();
        // Latencies by priority are gathered from every I/O.
        job.features.io_log.each |= self.every_io_told || job.features.priorities.is_some();
        logs
    }

    fn too_many_files(&mut self, diagnostics: &mut Diagnostics) {
        self.full = true;
        let message = format!("more than {MAX_TARGETS} files in all jobs");
        diagnostics.push(Diagnostic::error(message).hint("lower nrfiles or numjobs"));
    }

    /// Stages bear the name of their first job, with a number where that is taken.
    fn open_stage(&mut self, name: &str) {
        let taken = |candidate: &str| self.stages.iter().any(|stage| stage.name == candidate);
        let numbered = (2..).map(|number| format!("{name} ({number})"));
        let free = std::iter::once(name.to_owned())
            .chain(numbered)
            .find(|it| !taken(it));
        self.stages.push(Stage {
            name: free.unwrap_or_default(),
            jobs: Vec::new(),
            cooldown: Nanos::ZERO,
            repeats: 1,
            discard: false,
            rate_from: None,
        });
    }

    fn seed_of(&self, settings: &Settings) -> u64 {
        match settings.seed {
            Some(seed) => seed,
            None if settings.repeatable => SEED,
            None => self.context.entropy,
        }
    }

    /// fio draws each job's numbers from its seed and its place among all jobs.
    fn salt(&mut self, settings: &Settings) -> u64 {
        let place = self.jobs.len() as u64 + 1;
        let seed = self.seed_of(settings);
        let shared = *self.seed.get_or_insert(seed);
        if seed == shared {
            place
        } else {
            scatter(seed).wrapping_add(place)
        }
    }

    /// Logs are numbered through all jobs.
    fn logs(&self, settings: &Settings, job: &Job) -> JobLogs {
        let one_size = |(least, most): (u64, u64)| if least == most { least } else { 0 };
        let block = if processor_work::works(settings) {
            [0; 3]
        } else {
            block_range(settings).map(one_size)
        };
        JobLogs {
            ahead_ms: settings.log.ahead_ms(self.context.clock),
            ..settings.log.of_job(&job.name, self.jobs.len() + 1, block)
        }
    }

    fn meta(
        &self,
        section: &Section,
        settings: &Settings,
        job: &Job,
        number: u64,
        logs: JobLogs,
    ) -> FioJobMeta {
        let rw = if settings.pattern.name == "readwrite" {
            "rw"
        } else {
            settings.pattern.name
        };
        FioJobMeta {
            name: job.name.clone(),
            group: self.group,
            group_reporting: settings.group_reporting,
            clone: u32::try_from(number).unwrap_or(u32::MAX),
            options: typed_options(section),
            description: settings.description.clone(),
            percentiles: settings.percentiles.clone(),
            depth: settings.depth,
            no_own_io: settings.control.create_only
                || settings.verify.only && settings.pattern.directions[1],
            latency_target: settings.pacing.typed_target(),
            significant_figures: settings.significant_figures,
            kb_base: settings.kb_base,
            shows_bits: settings.shows_bits,
            rw: rw.to_owned(),
            engine: settings.engine.clone(),
            blocks: block_range(settings),
            sizes: if settings.placement.by_order {
                SizesOf::Orders
            } else {
                SizesOf::Directions
            },
            makes_files_on_open: settings.control.making.on_open,
            thread: settings.thread,
            disk_util: settings.disk_util && has_disks(settings),
            unified: settings.unified,
            stats: settings.stats,
            has_priorities: job.features.priorities.is_some(),
            priority: (job.features.process.io_priority)
                .map_or_else(IoPriority::default, ThreadPriority::of_ios),
            tells_errors: settings.control.survived.any(),
            start_ahead_ms: settings.log.start_ahead_ms(self.context.clock),
            logs,
        }
    }

    /// Options given, and the defaults of those that shape the workload.
    fn explain(&mut self, settings: &Settings, name: &str) {
        for row in table::rows().filter(|row| row.support == Support::Built && row.name != "name") {
            let given = settings.sources.get(row.name);
            let default = default_of(row.name).map(|value| (value.to_owned(), Origin::Default));
            let found = given.map(|(value, origin, _)| {
                let value = if value.is_empty() { "1" } else { value };
                (value.to_owned(), origin.clone())
            });
            // A setting under its other name hides the default.
            let hidden = matches!(row.name, "direct") && settings.sources.contains_key("buffered")
                || matches!(row.name, "rwmixread") && settings.sources.contains_key("rwmixwrite")
                || matches!(row.name, "size") && settings.size == Amount::Unset && given.is_none();
            if let Some((value, origin)) = found.or(default.filter(|_| !hidden)) {
                let (job, key) = (name.to_owned(), row.name.to_owned());
                self.provenance.push(Provenance {
                    job,
                    key,
                    value,
                    origin,
                });
            }
        }
    }
}

/// Complains of a pattern's file.
fn unreadable(
    settings: &Settings,
    (name, option): (&str, &str),
    error: &PatternError,
    diagnostics: &mut Diagnostics,
) {
    let message = format!("job `{name}`: {option}: {error}");
    let hint = match error {
        PatternError::Empty => "name a file that holds something",
        PatternError::TooLong => "name a shorter file",
        _ => "name a file that exists and can be read",
    };
    let error = Diagnostic::error(message).hint(hint);
    diagnostics.push(match settings.location(option) {
        Some(location) => error.at(location),
        None => error,
    });
}

/// Targets of a clone, the trace they come from, and whether they reach past the end of their files.
type Found = (Vec<Target>, Option<Replayed>, bool);

/// `None` after an error, which is said.
fn clone_of<'a>(
    settings: &'a Settings,
    (name, called): (&'a str, &'a str),
    (number, seed): (u64, u64),
    ends: &'a BTreeMap<String, u64>,
) -> JobClone<'a> {
    let options = ["size", "filename", "offset", "ioengine"];
    JobClone {
        settings,
        name,
        called,
        number,
        seed,
        ends,
        diskless: backend(settings) == Backend::Null,
        location: options.iter().find_map(|option| settings.location(option)),
    }
}

fn warn_of_map(settings: &Settings, name: &str, targets: &[Target], diagnostics: &mut Diagnostics) {
    if let Some(message) = map_warning(settings, targets) {
        let warning = Diagnostic::warning(format!("job `{name}`: {message}"));
        diagnostics.push(warning.hint("raise the smallest size, or lower size="));
    }
}

fn find_targets(
    clone: &JobClone<'_>,
    before: Before<'_>,
    files: &dyn Files,
    diagnostics: &mut Complaints<'_>,
) -> Option<Found> {
    if processor_work::works(clone.settings) {
        return Some((vec![processor_work::target(clone.settings)], None, false));
    }
    if clone.settings.control.trace.read.is_some() {
        let (settings, who) = (clone.settings, (clone.name, clone.number));
        let replayed = replay::look_through(settings, who, before, files, diagnostics)?;
        return Some((replayed.targets.clone(), Some(replayed), false));
    }
    let (targets, past_end) = clone.whole_targets(files, diagnostics)?;
    check_share(clone.settings, clone.name, &targets, diagnostics)?;
    check_sequence(clone.settings, clone.name, &targets, diagnostics)?;
    if clone.number == 0 {
        replay::warn_of_blanks(clone.settings, clone.name, &targets, diagnostics);
    }
    Some((targets, None, past_end))
}

fn default_of(name: &str) -> Option<&'static str> {
    Some(match name {
        "rw" => "read",
        "bs" => "4096",
        "ioengine" => "psync",
        "iodepth" | "numjobs" | "loops" | "nrfiles" | "invalidate" | "scramble_buffers"
        | "randrepeat" | "fadvise_hint" => "1",
        "direct" | "fsync" | "fdatasync" | "end_fsync" | "fsync_on_close" | "norandommap" => "0",
        "rwmixread" => "50",
        "sync" => "none",
        "randseed" => "0x89",
        "rate_process" => "linear",
        "file_service_type" => "roundrobin",
        _ => return None,
    })
}

/// The options of a section under fio's names, the last of each, in the order in which fio takes them; a job's own name is shown
/// where it was typed.
fn typed_options(section: &Section) -> Vec<(String, String)> {
    let mut options = Vec::new();
    let name_of = |option: &RawOption| {
        table::find(&option.name).map_or_else(|| option.name.clone(), |row| row.name.to_owned())
    };
    let mut typed: Vec<_> = section.options.iter().collect();
    typed.sort_by_key(|option| place_in_section(option));
    for option in typed {
        let name = name_of(option);
        replace(&mut options, name, option.value.clone().unwrap_or_default());
    }
    options
}

/// Whether the job's engine does I/O on disks, as fio sees it.
fn has_disks(settings: &Settings) -> bool {
    let of_names = operation(settings).filter(|it| it.is_of_names());
    // Those that make files or know directories have none in fio.
    let of_files = |it| matches!(it, FileOperation::Stat(_) | FileOperation::Delete);
    backend(settings) != Backend::Null && of_names.is_none_or(of_files)
}

fn replace(options: &mut Vec<(String, String)>, name: String, value: String) {
    match options.iter_mut().find(|(known, _)| *known == name) {
        Some(slot) => slot.1 = value,
        None => options.push((name, value)),
    }
}
