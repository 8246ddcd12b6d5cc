//! Jobs, workloads and a machine's resources for the tests.
#![expect(dead_code, reason = "each test file uses a part of it")]

use std::path::Path;
use std::process::{Child, Command};
use std::sync::{Mutex, MutexGuard, PoisonError};

use fathom_engine::{EngineError, ExitClass, RunOptions, RunOutcome, StopFlag, run};
use fathom_rawio::{Clock, sleep_until};
use fathom_record::{Event, EventSink};
use fathom_units::{Bytes, Nanos};
use fathom_workload::{
    Access, Arrival, Backend, BlockSizes, BufferContents, Caching, Coverage, ExistingFiles,
    Features, FileChoice, Job, Limits, Mix, Place, ReportGroup, Stage, SyncPolicy, Target,
    Workload,
};

pub fn target(path: &Path, length: Option<Bytes>) -> Target {
    Target {
        place: Place::Path(path.display().to_string()),
        offset: Bytes::ZERO,
        length,
    }
}

/// Random reads of 4 KiB, each block once, by io_uring and direct I/O at depth 8.
pub fn job(path: &Path, length: Bytes) -> Job {
    Job {
        name: "job".to_owned(),
        group: ReportGroup::default(),
        host: None,
        targets: vec![target(path, Some(length))],
        file_choice: FileChoice::RoundRobin,
        workers: 1,
        depth: 8,
        mix: Mix::READ,
        access: Access::Random {
            coverage: Coverage::EachBlockOnce,
            run: 1,
        },
        block: BlockSizes::uniform(Bytes::kib(4)),
        arrival: Arrival::Closed,
        limits: Limits::default(),
        sync: SyncPolicy::default(),
        contents: BufferContents::default(),
        backend: Backend::IoUring,
        caching: Caching::Direct,
        existing: ExistingFiles::OnlyOurs,
        split_latency: false,
        drop_cache: false,
        unlink: false,
        salt: 0,
        features: Features::default(),
    }
}

/// For `time`, over and over.
pub fn for_time(time: Nanos) -> Limits {
    Limits {
        runtime: Some(time),
        time_based: true,
        ..Limits::default()
    }
}

pub fn stage(name: &str, jobs: Vec<Job>) -> Stage {
    Stage {
        name: name.to_owned(),
        jobs,
        cooldown: Nanos::ZERO,
        repeats: 1,
        discard: false,
        rate_from: None,
    }
}

pub fn workload(jobs: Vec<Job>) -> Workload {
    Workload {
        stages: vec![stage("stage", jobs)],
        seed: 1,
    }
}

/// Runs one stage of these jobs. What is told of failures while it goes is what its workers have counted.
#[track_caller]
pub fn run_jobs(jobs: Vec<Job>) -> Result<RunOutcome, EngineError> {
    let mut told = Told::default();
    let (options, stop) = (RunOptions::default(), StopFlag::new());
    let outcome = run(&workload(jobs), &options, &stop, &mut told)?;
    let workers = outcome.results.iter().flat_map(|stage| &stage.workers);
    let errors = workers.flat_map(|worker| &worker.errors);
    assert_eq!(told.failed, errors.map(|error| error.count).sum::<u64>());
    Ok(outcome)
}

/// Looks whether an error is one of what this machine cannot do, and is about the job that asked for it and no other.
#[track_caller]
pub fn assert_asked_by(error: &EngineError, job: &Job) {
    assert_eq!(error.exit_class(), ExitClass::Unsupported, "{error}");
    assert!(error.is_about(job), "{error}");
    let mut other = job.clone();
    "another".clone_into(&mut other.name);
    other.targets = vec![target(Path::new("/elsewhere"), None)];
    assert!(!error.is_about(&other), "{error}");
}

/// Rounds in which something else on the machine may disturb a measurement; another round meets it, never a lower bar.
const MOST_ROUNDS: usize = 8;

/// The first of what `measure` gives that is right: a rate cannot be kept where the processor is taken from its worker as
/// the time ends, and what is always wrong is never right.
#[track_caller]
pub fn undisturbed<T: std::fmt::Debug>(
    mut measure: impl FnMut() -> T,
    is_right: impl Fn(&T) -> bool,
) -> T {
    let mut seen = Vec::new();
    for round in 1..=MOST_ROUNDS {
        let measured = measure();
        if is_right(&measured) {
            return measured;
        }
        seen.push(measured);
        // Whatever disturbed it may last a second: the rounds of a short measurement are not all to fall into that.
        sleep_until(Clock::now() + Nanos::from_millis(100 * round as u64));
    }
    panic!("in no round as it is to be: {seen:?}");
}

/// Gathers what is told.
#[derive(Default)]
pub struct Told {
    pub notes: Vec<String>,
    pub layout: Vec<(String, Bytes, Bytes)>,
    pub intervals: Vec<(Nanos, u64)>,
    pub stages: Vec<String>,
    /// What people are told that stages are called.
    pub words: Vec<String>,
    /// How many I/Os have failed, as was told last.
    pub failed: u64,
}

impl EventSink for Told {
    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Note { text } | Event::WrongData { text } | Event::JobFailed { text } => {
                self.notes.push((*text).to_owned());
            }
            Event::Layout { path, done, total } => {
                self.layout.push(((*path).to_owned(), *done, *total));
            }
            Event::Interval { interval, .. } => {
                let stats = interval.directions.iter().flatten();
                self.intervals
                    .push((interval.at, stats.map(fathom_record::OpStats::ios).sum()));
            }
            Event::StageStarted { name, words, .. } => {
                self.stages.push((*name).to_owned());
                self.words.push((*words).to_owned());
            }
            Event::MoreFailed { count } => self.failed = *count,
            Event::StageFinished { .. }
            | Event::IoLog { .. }
            | Event::JobInterval { .. }
            | Event::Syncs { .. }
            | Event::IoFailed { .. }
            | Event::IntervalLate { .. }
            | Event::Snapshot { .. } => {}
        }
    }
}

/// Held while a program begins, and by whoever has a device for itself: a program has for a moment what this process has
/// open, so that a device may be in use still after it was closed here.
pub fn no_program_begins() -> MutexGuard<'static, ()> {
    static BEGINS: Mutex<()> = Mutex::new(());
    BEGINS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends a program as a user would, so that it removes what it has made; one that does not listen is killed.
pub fn end(child: &mut Child) {
    let id = child.id().to_string();
    let _ = Command::new("kill").args(["-TERM", &id]).status();
    let until = Clock::now() + Nanos::from_secs(60);
    while matches!(child.try_wait(), Ok(None)) && Clock::now() < until {
        sleep_until(Clock::now() + Nanos::from_millis(5));
    }
    let _ = child.kill();
    let _ = child.wait();
}

/// Runs a program of the machine and returns what it prints.
#[track_caller]
pub fn command(line: &str) -> String {
    let mut words = line.split_whitespace();
    let _alone = no_program_begins();
    let output = Command::new(words.next().unwrap()).args(words).output();
    let output = output.unwrap_or_else(|error| panic!("`{line}` cannot be run: {error}"));
    assert!(
        output.status.success(),
        "`{line}` (these tests need root): {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// A loop device over a file of its own, detached when dropped.
pub struct LoopDevice {
    pub path: String,
    pub image: tempfile::NamedTempFile,
}

impl LoopDevice {
    #[track_caller]
    pub fn new(size: Bytes) -> Self {
        Self::new_in(&std::env::temp_dir(), size)
    }

    /// Its file is in `directory`.
    #[track_caller]
    pub fn new_in(directory: &Path, size: Bytes) -> Self {
        let image = tempfile::NamedTempFile::new_in(directory).unwrap();
        image.as_file().set_len(size.get()).unwrap();
        let place = image.path().display();
        let path = command(&format!("losetup --find --show --partscan {place}"));
        Self { path, image }
    }

    pub fn name(&self) -> &str {
        self.path.trim_start_matches("/dev/")
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        let _alone = no_program_begins();
        // Shown by `losetup` if it ever stays; a panic here would hide the test's own.
        let _ = Command::new("losetup").args(["-d", &self.path]).status();
    }
}

/// Something mounted in a directory of its own until dropped.
pub struct Mounted {
    pub directory: tempfile::TempDir,
}

impl Mounted {
    #[track_caller]
    pub fn new(arguments: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        command(&format!("mount {arguments} {}", directory.path().display()));
        Self { directory }
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _alone = no_program_begins();
        let _ = Command::new("umount").arg(self.directory.path()).status();
    }
}
