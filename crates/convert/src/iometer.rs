//! Writing of an Iometer configuration (.icf).
//!
//! Each worker of a job is a worker of Iometer on one target; each stage is a test, in which a worker runs an access
//! specification of its own or rests (`Idle`). Stages that use the same targets alike share their workers.
//!
//! Invariants: workers stand in the order of the stages' jobs, so that jobs are read back in it; the first specification of
//! a stage is named for the stage, so that its name comes back.

mod names;
mod spec;
mod target;
mod text;

use fathom_diagnostics::Diagnostics;
use fathom_dialects::iometer;
use fathom_units::Nanos;
use fathom_workload::{
    BufferContents, Features, Filling, Job, Limits, Stage, SyncPolicy, Target, Workload,
};

use crate::back::{Reasons, header, losses};
use crate::draft::Draft;
use crate::normal::normal_form;
use crate::{Converted, Origin};

use names::SpecNames;
use spec::Lines;
use target::Volumes;

/// Most workers of Iometer that a job becomes.
const WORKERS_MAX: u32 = 4_096;

/// Seconds of a test where no job has a run time.
const RUN_TIME: u64 = 60;

const REASONS: Reasons = Reasons {
    dialect: "Iometer",
    known: &[
        (
            "access",
            "Iometer draws random offsets independently, or goes in order for each worker",
        ),
        ("arrival", "Iometer issues the next I/O when one completes"),
        ("backend", "Iometer has one way to issue I/O"),
        (
            "block",
            "Iometer has whole sectors of 512 bytes, and whole percents",
        ),
        ("caching", "Iometer works past every cache"),
        (
            "contents",
            "Iometer writes one byte, one random buffer, or random data",
        ),
        ("cooldown", "Iometer begins the next test at once"),
        ("discard", "Iometer reports every test"),
        ("drop_cache", "Iometer works past every cache"),
        ("existing", "Iometer writes to the file that is there"),
        (
            "files.grows",
            "here a file is laid out before Iometer's I/O",
        ),
        ("files", "Iometer makes a file where there is none"),
        ("filling", "Iometer repeats a byte of its own"),
        ("group", "Iometer reports every worker"),
        ("host", "names of machines stand on one line"),
        (
            "measure",
            "Iometer has one run time of whole seconds for all tests",
        ),
        ("mix", "Iometer reads and writes, in whole percent"),
        ("name", "names stand on one short line"),
        ("rate_from", "Iometer knows no rates"),
        ("repeats", "assign its specifications that often"),
        ("seed", "Iometer draws by a worker's own fixed seed"),
        ("sync", "Iometer does not flush"),
        (
            "warmup",
            "Iometer has one ramp-up of whole seconds for all tests",
        ),
    ],
};

/// A worker of Iometer on one target, whatever it runs there.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Hand {
    name: String,
    target: String,
    depth: u32,
    /// Sectors; 0: all of it.
    max_size: u64,
    start: u64,
    pattern: u8,
    seed: Option<u64>,
}

/// A worker over all tests.
#[derive(Debug)]
struct Worker {
    hand: Hand,
    /// Index of its specification, by test.
    specs: Vec<Option<usize>>,
}

/// A machine with its workers.
#[derive(Debug)]
struct Manager {
    name: String,
    workers: Vec<Worker>,
}

/// An access specification.
#[derive(Debug)]
struct Spec {
    name: String,
    lines: Lines,
}

/// A whole file.
#[derive(Debug, Default)]
struct Icf {
    /// Seconds.
    run_time: u64,
    ramp_up: u64,
    specs: Vec<Spec>,
    managers: Vec<Manager>,
}

/// One job of a stage as it is to be written.
struct Part {
    /// Number of the job over all stages.
    number: usize,
    /// Name of the job.
    job: String,
    manager: usize,
    hand: Hand,
    lines: Lines,
}

/// The workload as a configuration.
pub fn convert(workload: &Workload, origin: Origin<'_>) -> Converted {
    let normal = normal_form(workload);
    let Workload {
        stages,
        // Workers have seeds of their own.
        seed: _,
    } = &normal;
    let mut draft = Draft {
        jobs: vec![Vec::new(); normal.jobs().count()],
        ..Draft::default()
    };
    let mut icf = Icf {
        managers: managers(&normal),
        ..Icf::default()
    };
    (icf.run_time, icf.ramp_up) = times(&normal);
    let volumes = Volumes::of(&normal);
    let mut names = SpecNames::default();
    let mut number = 0;
    for (index, stage) in stages.iter().enumerate() {
        draft.stages.push(vec![index]);
        let Stage {
            name,
            jobs,
            // They show when the text is read back.
            cooldown: _,
            repeats: _,
            discard: _,
            rate_from: _,
        } = stage;
        let mut parts = Vec::new();
        for job in jobs {
            let manager = icf.manager_of(job.host.as_deref());
            parts.extend(of_job(
                job,
                number,
                (manager, icf.managers.len()),
                &volumes,
                &mut draft,
            ));
            number += 1;
        }
        in_order(&mut parts, &mut draft);
        names.begin(name, &parts);
        for (place, part) in parts.into_iter().enumerate() {
            draft.jobs[part.number].push((index, place));
            let spec = names.place(part.lines, &mut icf.specs);
            icf.managers[part.manager].work(part.hand, index, spec);
        }
    }
    let body = text::body(&icf, origin.source);
    let losses = losses(workload, &draft, read(&text::file("", &body)), REASONS);
    let comments = text::wrapped(&header("'", origin, &losses));
    Converted {
        text: text::file(&comments, &body),
        losses,
    }
}

/// The machines, in the order in which jobs name them; one without a name for jobs that name none.
fn managers(workload: &Workload) -> Vec<Manager> {
    let mut managers: Vec<Manager> = Vec::new();
    for (_, job) in workload.jobs() {
        let name = names::host(job.host.as_deref());
        if !managers.iter().any(|manager| manager.name == name) {
            managers.push(Manager {
                name,
                workers: Vec::new(),
            });
        }
    }
    managers
}

/// Run time and ramp-up in seconds, long enough for every job.
fn times(workload: &Workload) -> (u64, u64) {
    let whole = |time: Nanos| time.get().div_ceil(1_000_000_000);
    let longest = |of: fn(&Limits) -> Nanos| {
        let all = workload.jobs().map(|(_, job)| whole(of(&job.limits)));
        all.max().unwrap_or(0)
    };
    let run_time = match longest(|limits| limits.runtime.unwrap_or_default()) {
        // Iometer would go on until it is stopped.
        0 => RUN_TIME,
        seconds => seconds,
    };
    (run_time, longest(|limits| limits.warmup))
}

/// Puts workers of a machine together: that is how they stand in the file.
fn in_order(parts: &mut [Part], draft: &mut Draft) {
    if parts.is_sorted_by_key(|part| part.manager) {
        return;
    }
    parts.sort_by_key(|part| part.manager);
    for part in parts.iter() {
        let message = "its jobs stand in the order of their machines";
        draft.differs(part.number, "stage", message);
    }
}

/// The workers of Iometer that a job becomes.
fn of_job(
    job: &Job,
    number: usize,
    (manager, managers): (usize, usize),
    volumes: &Volumes,
    draft: &mut Draft,
) -> Vec<Part> {
    decided(job);
    let lines = spec::lines(job, number, draft);
    let pattern = pattern(job.contents, &job.features);
    let workers = job.workers.clamp(1, WORKERS_MAX);
    if workers < job.workers {
        let message = format!("{} workers become {workers}", job.workers);
        draft.lost(number, "workers", message);
    }
    let targets = target::of_job(job, number, volumes, draft);
    let depth = depth(job, number, draft);
    let base = names::worker(job, managers > 1);
    let count = workers as usize * targets.len();
    if workers > 1 {
        let message = format!("its {workers} workers are workers of Iometer, `{base} 1` and so on");
        draft.differs(number, "workers", message);
    }
    if count > 1 {
        draft.same(number, "name");
    }
    let mut parts = Vec::new();
    for worker in 0..workers as usize {
        for (place, target) in targets.iter().enumerate() {
            let target::Disk {
                name: target,
                start,
                max_size,
            } = target.clone();
            let name = if count > 1 {
                format!("{base} {}", worker * targets.len() + place + 1)
            } else {
                base.clone()
            };
            parts.push(Part {
                number,
                job: base.clone(),
                manager,
                hand: Hand {
                    name,
                    target,
                    depth,
                    max_size,
                    start,
                    pattern,
                    seed: (job.salt > 0).then_some(job.salt),
                },
                lines: lines.clone(),
            });
        }
    }
    parts
}

/// I/Os outstanding on each target.
fn depth(job: &Job, number: usize, draft: &mut Draft) -> u32 {
    let targets = u32::try_from(job.targets.len()).unwrap_or(u32::MAX).max(1);
    if targets == 1 {
        return job.depth;
    }
    let depth = job.depth.div_ceil(targets);
    let message = format!(
        "{} I/Os outstanding on all {targets} targets together become {depth} on each",
        job.depth
    );
    draft.lost(number, "depth", message);
    depth
}

/// The data pattern: 0 one byte over and over, 1 one buffer over and over, 2 random data.
fn pattern(contents: BufferContents, features: &Features) -> u8 {
    let is_byte = |filling: &Filling| {
        let pattern = filling.pattern.as_ref();
        pattern.is_some_and(|pattern| {
            let bytes = pattern.bytes();
            bytes.iter().all(|byte| *byte == bytes[0])
        })
    };
    let repeats = features.filling.as_deref().is_some_and(is_byte);
    match contents {
        BufferContents::Zeroes => 0,
        BufferContents::RandomOnce if repeats => 0,
        BufferContents::RandomOnce => 1,
        BufferContents::RandomEachWrite | BufferContents::RandomStamped => 2,
    }
}

/// Everything that a job has, named so that a new field is decided about here. What is written nowhere shows when the text
/// is read back.
fn decided(job: &Job) {
    let Job {
        name: _,
        group: _,
        host: _,
        targets,
        file_choice: _,
        workers: _,
        depth: _,
        mix: _,
        access: _,
        block: _,
        arrival: _,
        limits,
        sync,
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
    for target in targets {
        let Target {
            place: _,
            offset: _,
            length: _,
        } = target;
    }
    let Limits {
        start_delay: _,
        warmup: _,
        runtime: _,
        time_based: _,
        bytes: _,
        ios: _,
        loops: _,
    } = limits;
    let SyncPolicy {
        open: _,
        fsync_every: _,
        fdatasync_every: _,
        at_end: _,
        on_close: _,
    } = sync;
    decided_features(features);
}

/// The same of what a job does beyond plain I/O.
fn decided_features(features: &Features) {
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

impl Icf {
    fn manager_of(&self, host: Option<&str>) -> usize {
        let name = names::host(host);
        let found = self
            .managers
            .iter()
            .position(|manager| manager.name == name);
        found.unwrap_or_default()
    }
}

impl Manager {
    /// Gives a test's next work to the worker that already does the like after those that have work in it, or to a new one:
    /// so the jobs of a test keep their order.
    fn work(&mut self, hand: Hand, test: usize, spec: usize) {
        let busy = |worker: &Worker| worker.specs.get(test).is_some_and(Option::is_some);
        let from = self
            .workers
            .iter()
            .rposition(busy)
            .map_or(0, |last| last + 1);
        let alike = self.workers[from..]
            .iter()
            .position(|worker| worker.hand == hand);
        let place = alike.map_or(self.workers.len(), |place| from + place);
        if place == self.workers.len() {
            let specs = Vec::new();
            self.workers.push(Worker { hand, specs });
        }
        let specs = &mut self.workers[place].specs;
        specs.resize(test, None);
        specs.push(Some(spec));
    }
}

/// What Iometer's reader makes of a text.
pub fn read(text: &str) -> Result<Workload, Diagnostics> {
    iometer::read_text("written", text, 1).map(|input| input.workload)
}
