//! What contradicts itself in a workload.
//!
//! Every dialect's reader ends here, so that nothing impossible reaches the engine or the simulator, whoever wrote it. All
//! contradictions are told at once.

mod batches;
mod calls;
mod file_set;
mod files;
mod lines;
mod minimum;
mod placement;
mod rate_from;
mod validation;

use fathom_diagnostics::{Diagnostic, Diagnostics};
use fathom_units::{Bytes, Nanos, Percent, group_digits};

use crate::{
    Access, Arrival, Backend, Caching, Direction, ExistingFiles, Job, Pacing, Place,
    RATE_STEPS_MAX, RateSteps, SequentialScope, Stage, Target, VerifyTrust, Workload,
};

/// Most workers of one job: more threads than any host carries.
pub const WORKERS_MAX: u32 = 65_536;
/// Most I/Os outstanding per worker.
pub const DEPTH_MAX: u32 = 1 << 20;
/// Most repeats of a stage.
pub const REPEATS_MAX: u32 = 10_000;
/// Most stages of a workload.
pub const STAGES_MAX: usize = 10_000;
/// Most jobs over all stages.
pub const JOBS_MAX: usize = 100_000;

/// Direct I/O is done in multiples of this at least; many devices ask for 4 KiB.
const DIRECT_UNIT: Bytes = Bytes::new(512);

/// Checks a workload for contradictions.
///
/// # Errors
/// All contradictions found, each naming its stage and job. They have no location, since any dialect may have been the
/// source.
pub fn validate(workload: &Workload) -> Result<(), Diagnostics> {
    let problems = problems(workload);
    if problems.is_empty() {
        return Ok(());
    }
    let diagnostics = problems.into_iter().map(Problem::into_diagnostic);
    Err(Diagnostics(diagnostics.collect()))
}

/// One contradiction, with the place in the model it is about.
#[derive(Debug)]
pub(crate) struct Problem {
    /// Index of the stage.
    pub(crate) stage: Option<usize>,
    /// Index of the job within the stage.
    pub(crate) job: Option<usize>,
    /// The key of the native file that is at fault.
    pub(crate) key: &'static str,
    message: String,
    /// How many bytes of the message name the stage and the job.
    prefix: usize,
    hint: &'static str,
}

/// A contradiction for a reader that knows what in its own text a job came from.
#[derive(Debug)]
pub struct Contradiction {
    /// Index of the stage.
    pub stage: Option<usize>,
    /// Index of the job within the stage.
    pub job: Option<usize>,
    /// Whether it is about what the job works on.
    pub is_of_target: bool,
    /// What is wrong, without the names of stage and job.
    pub message: String,
    /// What to do.
    pub hint: &'static str,
    /// The complaint for whoever knows no place.
    pub diagnostic: Diagnostic,
}

/// What [`validate`] finds, for readers that tell it in their own places.
pub fn contradictions(workload: &Workload) -> Vec<Contradiction> {
    let found = problems(workload).into_iter();
    let found = found.map(|problem| Contradiction {
        stage: problem.stage,
        job: problem.job,
        is_of_target: problem.key == "target",
        message: problem.message[problem.prefix..].to_owned(),
        hint: problem.hint,
        diagnostic: problem.into_diagnostic(),
    });
    found.collect()
}

impl Problem {
    pub(crate) fn into_diagnostic(self) -> Diagnostic {
        Diagnostic::error(self.message).hint(self.hint)
    }
}

/// All contradictions of a workload.
pub(crate) fn problems(workload: &Workload) -> Vec<Problem> {
    let mut found = Found {
        problems: Vec::new(),
        texts: 0,
        stage: None,
        job: None,
        prefix: String::new(),
    };
    if workload.stages.is_empty() {
        found.add(
            "stage",
            "the workload has no stages",
            "give at least one stage",
        );
    }
    if workload.stages.len() > STAGES_MAX || workload.jobs().count() > JOBS_MAX {
        let message = format!("the workload has over {STAGES_MAX} stages or {JOBS_MAX} jobs");
        found.add("stage", message, "split it, or give a job more workers");
        return found.problems;
    }
    let mut names = std::collections::HashSet::new();
    for (index, stage) in workload.stages.iter().enumerate() {
        found.stage = Some(index);
        found.job = None;
        found.prefix = format!("stage `{}`: ", stage.name);
        if !names.insert(stage.name.as_str()) {
            found.add("name", "another stage has this name", "give each its own");
        }
        check_stage(stage, &mut found);
        rate_from::check(stage, &workload.stages[..index], &mut found);
    }
    found.problems
}

/// Contradictions are told until their texts have this many bytes: a hundred thousand jobs may all have the same one.
const TEXTS_MAX: usize = 4 << 20;

struct Found {
    problems: Vec<Problem>,
    /// Bytes of their texts.
    texts: usize,
    stage: Option<usize>,
    job: Option<usize>,
    prefix: String,
}

impl Found {
    fn add(&mut self, key: &'static str, message: impl AsRef<str>, hint: &'static str) {
        if self.texts > TEXTS_MAX {
            return;
        }
        self.texts += self.prefix.len() + message.as_ref().len();
        self.problems.push(Problem {
            stage: self.stage,
            job: self.job,
            key,
            message: format!("{}{}", self.prefix, message.as_ref()),
            prefix: self.prefix.len(),
            hint,
        });
    }

    fn in_range(&mut self, key: &'static str, value: u32, max: u32, what: &str) {
        if value == 0 {
            self.add(key, format!("it has 0 {what}"), "give at least 1");
        } else if value > max {
            let message = format!("it has {value} {what}; at most {max} are possible");
            self.add(key, message, "give fewer");
        }
    }
}

fn check_stage(stage: &Stage, found: &mut Found) {
    if stage.name.is_empty() {
        found.add("name", "it has no name", "name it after what it measures");
    }
    if stage.jobs.is_empty() {
        found.add("job", "it has no jobs", "give it at least one job");
    }
    found.in_range("repeats", stage.repeats, REPEATS_MAX, "repeats");
    for (index, job) in stage.jobs.iter().enumerate() {
        found.job = Some(index);
        found.prefix = format!("job `{}`: ", job.name);
        check_job(job, found);
    }
}

fn check_job(job: &Job, found: &mut Found) {
    found.in_range("workers", job.workers, WORKERS_MAX, "workers");
    found.in_range("depth", job.depth, DEPTH_MAX, "I/Os outstanding");
    check_mix(job, found);
    check_blocks(job, found);
    check_access(job, found);
    check_verify(job, found);
    validation::check(job, found);
    placement::check(job, found);
    batches::check(job, found);
    calls::check(job, found);
    lines::check(job, found);
    file_set::check(job, found);
    files::check(job, found);
    check_arrival(job, found);
    check_rate_steps(job, found);
    minimum::check(job, found);
    check_limits(job, found);
    if job.targets.is_empty() {
        found.add(
            "target",
            "it has no target",
            "name a file, a device or a directory",
        );
    }
    for target in &job.targets {
        if target.place.file_set().is_none() {
            check_target(target, job, found);
        }
    }
    if job.caching == Caching::Direct && job.backend != Backend::Null {
        check_direct(job, found);
    }
}

fn check_mix(job: &Job, found: &mut Found) {
    let shares = Direction::ALL.map(|way| job.mix.share(way));
    let total: u32 = shares.iter().map(|share| share.basis_points()).sum();
    if total != Percent::ALL.basis_points() {
        let total = f64::from(total) / 100.0;
        let message = format!("its mix of reads, writes and trims adds up to {total} %, not 100 %");
        found.add("mix", message, "change a share");
    }
}

fn check_blocks(job: &Job, found: &mut Found) {
    for way in Direction::ALL {
        if job.mix.share(way) == Percent::ZERO {
            continue;
        }
        let list = job.block.of(way);
        if list.iter().all(|entry| entry.weight == 0) {
            let message = format!("it has no block size for {}s", way.name());
            found.add(
                "block",
                message,
                "give at least one size with a weight above 0",
            );
        }
        for entry in list.iter().filter(|entry| entry.weight > 0) {
            if entry.size == Bytes::ZERO || entry.size.get() > u64::from(u32::MAX) {
                let message = format!("a block for {}s has {} bytes", way.name(), entry.size.get());
                found.add("block", message, "give 1 byte to 4 GiB - 1");
            }
        }
    }
    if job.block.alignment == Some(Bytes::ZERO) {
        let hint = "leave it out to align to the smallest block";
        found.add("block", "its alignment is 0 bytes", hint);
    }
}

fn check_access(job: &Job, found: &mut Found) {
    if matches!(job.access, Access::Random { run: 0, .. }) {
        let message = "each random offset is followed by a run of 0 I/Os";
        found.add("access", message, "a run of 1 makes every I/O random");
    }
}

/// What was written is known from a worker's own stream, so nobody else may write there or move its position.
fn check_verify(job: &Job, found: &mut Found) {
    let Some(verify) = &job.features.verify else {
        return;
    };
    if job.workers > 1 && job.mix.changes_data() {
        let message = "several workers write where each checks its own writes";
        let hint = "give each a job with a target of its own";
        found.add("verify", message, hint);
    }
    let shared = SequentialScope::Shared;
    if matches!(job.access, Access::Sequential { scope, .. } if scope == shared) {
        let message = "which worker wrote what is not known where they share a position";
        found.add("verify", message, "use `scope = \"per-worker\"`");
    }
    let unissued = [crate::VerifyPhase::Only, crate::VerifyPhase::Nothing];
    if job.features.replay.is_some() && unissued.contains(&verify.phase) {
        let message = "a trace is checked in the run that replays it";
        found.add("verify", message, "leave `phase` out");
    }
    let never_synced =
        job.sync.fsync_every == 0 && job.sync.fdatasync_every == 0 && !job.sync.at_end;
    if verify.trust == VerifyTrust::Synced
        && never_synced
        && job.existing == ExistingFiles::OnlyOurs
    {
        let message =
            "it trusts only what was synced, and it never syncs: nothing would be checked";
        let hint = "say when it does, such as `sync = { fsync_every = 32 }`, or leave `trust` out";
        found.add("verify", message, hint);
    }
    if verify.checksum.needs_pattern() && verify.pattern.is_none() {
        let message = format!(
            "`{}` compares with a pattern, and there is none",
            verify.checksum.name()
        );
        found.add("verify", message, "give the pattern");
    }
}

fn check_arrival(job: &Job, found: &mut Found) {
    let Arrival::Open { rate, .. } = job.arrival else {
        return;
    };
    let per_sec = match rate {
        Pacing::Iops(iops) => iops.get(),
        Pacing::Bytes(bytes) => bytes.get(),
    };
    if per_sec == 0 {
        let hint = "give a rate such as `20000/s`, or leave arrival out for a closed loop";
        found.add("arrival", "its rate is 0", hint);
    }
}

fn check_rate_steps(job: &Job, found: &mut Found) {
    let Some(RateSteps { steps, .. }) = job.features.rate_steps.as_deref() else {
        return;
    };
    let mut add = |message: String, hint| found.add("rate_steps", message, hint);
    if job.arrival == Arrival::Closed || job.features.rates.is_some() {
        let message =
            "they say how the rate of an open loop changes, and the job has none".to_owned();
        let hint = "give `arrival` a rate, and leave `rates` out";
        add(message, hint);
    }
    if steps.is_empty() || steps.len() > RATE_STEPS_MAX {
        let message = format!("{} steps; 1 to {RATE_STEPS_MAX} are possible", steps.len());
        add(message, "give fewer, longer steps");
    }
    if steps.iter().any(|step| step.length < Nanos::from_millis(1)) {
        add(
            "a step is shorter than 1 ms".to_owned(),
            "give longer steps",
        );
    }
    let is_none = |rate: Pacing| {
        matches!(rate, Pacing::Iops(iops) if iops.get() == 0)
            || matches!(rate, Pacing::Bytes(bytes) if bytes.get() == 0)
    };
    let rates = || steps.iter().filter_map(|step| step.rate);
    if rates().all(is_none) {
        add("no step has a rate".to_owned(), "give one of them a rate");
    }
    let of_bytes = rates()
        .filter(|rate| matches!(rate, Pacing::Bytes(_)))
        .count();
    if of_bytes > 0 && of_bytes < rates().count() {
        let message = "some rates are in I/Os and others in bytes".to_owned();
        add(message, "give all in one of them");
    }
}

fn check_limits(job: &Job, found: &mut Found) {
    let limits = &job.limits;
    match limits.runtime {
        None if limits.time_based => {
            let message = "it starts over when done, but has no time after which it ends";
            found.add("measure", message, "give it a time, such as `60s`");
        }
        Some(Nanos::ZERO) => {
            found.add(
                "measure",
                "its measured time is 0",
                "give a time such as `60s`",
            );
        }
        _ => {}
    }
    if limits.ios == Some(0) {
        found.add("measure", "it may do 0 I/Os", "allow at least 1");
    }
    let block = job.block.largest(job.mix);
    if let Some(bytes) = limits
        .bytes
        .filter(|bytes| *bytes < block || bytes.get() == 0)
    {
        let message = format!("it may move {bytes}, less than one block of {block}");
        found.add(
            "measure",
            message,
            "allow more bytes or use a smaller block",
        );
    }
    let times = [
        limits.start_delay,
        limits.warmup,
        limits.runtime.unwrap_or_default(),
    ];
    // A century in ns still leaves room to add.
    if times.into_iter().any(|time| time.as_secs_f64() > 3.2e9) {
        found.add(
            "measure",
            "one of its times is over 100 years",
            "give a shorter one",
        );
    }
}

fn check_target(target: &Target, job: &Job, found: &mut Found) {
    let path = target.place.path();
    if path.is_empty() || path.contains('\0') {
        let message = "a target's path is empty or holds a zero byte";
        found.add("target", message, "name a file, a device or a directory");
    }
    let Some(length) = target.length else {
        if matches!(target.place, Place::FreshFileIn(_)) {
            let message = format!("the fresh file in `{path}` has no size");
            found.add("target", message, "give a size, such as `1GiB`");
        }
        return;
    };
    let block = job.block.largest(job.mix);
    if length == Bytes::ZERO && target.offset > Bytes::ZERO {
        let message = format!(
            "nothing of `{path}` is left to use: this begins {} into it, at or past the end of what is used",
            target.offset
        );
        found.add("target", message, "begin earlier, or give a larger size");
    } else if length == Bytes::ZERO {
        found.add("target", format!("`{path}` has a size of 0"), "give a size");
    } else if length < block {
        let rounded = length.to_string();
        let shown = if rounded == block.to_string() {
            format!("{} B", group_digits(length.get()))
        } else {
            rounded
        };
        let message = format!("its blocks of {block} do not fit into the {shown} of `{path}`");
        found.add("target", message, "use a smaller block or a larger size");
    }
    let end = target.offset.checked_add(length);
    if end.is_none_or(|end| end.get() > i64::MAX as u64) {
        let message = format!("the used part of `{path}` ends past 2^63 bytes");
        found.add("target", message, "give a smaller offset or size");
    }
}

/// The kernel refuses direct I/O that is not aligned to the device's logical blocks, none of which are below 512 bytes.
fn check_direct(job: &Job, found: &mut Found) {
    let hint = "use a multiple, or buffered I/O";
    let odd = |bytes: Bytes| !bytes.get().is_multiple_of(DIRECT_UNIT.get());
    let mut tell = |key, what: &str, bytes: Bytes| {
        if odd(bytes) {
            let bytes = bytes.get();
            let message =
                format!("{what} of {bytes} bytes is no multiple of 512, which direct I/O needs");
            found.add(key, message, hint);
        }
    };
    let mut sizes: Vec<Bytes> = Direction::ALL
        .into_iter()
        .filter(|way| job.mix.share(*way) > Percent::ZERO)
        .flat_map(|way| job.block.of(way))
        .filter(|entry| entry.weight > 0)
        .map(|entry| entry.size)
        .collect();
    sizes.sort_unstable();
    sizes.dedup();
    for size in sizes {
        tell("block", "a block", size);
    }
    tell(
        "block",
        "an alignment",
        job.block.alignment.unwrap_or_default(),
    );
    if let Access::Sequential { gap, .. } = job.access {
        tell("access", "a gap", gap);
    }
    for target in &job.targets {
        tell(
            "target",
            &format!("the offset in `{}`", target.place.path()),
            target.offset,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Mix, preset};

    #[track_caller]
    fn check(change: impl FnOnce(&mut Workload), expected: &[&str]) {
        let mut workload = preset("quick", "/mnt/data").unwrap();
        workload.stages.truncate(1);
        change(&mut workload);
        let messages: Vec<String> = match validate(&workload) {
            Ok(()) => Vec::new(),
            Err(diagnostics) => diagnostics
                .0
                .into_iter()
                .map(|found| found.message)
                .collect(),
        };
        assert_eq!(messages, expected);
    }

    #[track_caller]
    fn check_job(change: impl FnOnce(&mut Job), expected: &[&str]) {
        let prefixed: Vec<String> = expected
            .iter()
            .map(|message| format!("job `random read 4k qd32`: {message}"))
            .collect();
        let expected: Vec<&str> = prefixed.iter().map(String::as_str).collect();
        check(
            |workload| change(&mut workload.stages[0].jobs[0]),
            &expected,
        );
    }

    #[test]
    fn stages_are_checked() {
        check(|_| {}, &[]);
        check(
            |workload| workload.stages.clear(),
            &["the workload has no stages"],
        );
        let stage = "stage `random read 4k qd32`: ";
        check(
            |workload| workload.stages.push(workload.stages[0].clone()),
            &[&format!("{stage}another stage has this name")],
        );
        check(
            |workload| {
                workload.stages[0].jobs.clear();
                workload.stages[0].repeats = 0;
            },
            &[
                &format!("{stage}it has no jobs"),
                &format!("{stage}it has 0 repeats"),
            ],
        );
    }

    #[test]
    fn counts_are_checked_all_at_once() {
        check_job(
            |job| {
                job.workers = 0;
                job.depth = DEPTH_MAX + 1;
                job.targets.clear();
                job.limits.ios = Some(0);
            },
            &[
                "it has 0 workers",
                "it has 1048577 I/Os outstanding; at most 1048576 are possible",
                "it may do 0 I/Os",
                "it has no target",
            ],
        );
    }

    #[test]
    fn shares_and_sizes_are_checked() {
        check_job(
            |job| job.mix.write = Percent::whole(20).unwrap(),
            &["its mix of reads, writes and trims adds up to 120 %, not 100 %"],
        );
        check_job(
            |job| job.block.read.clear(),
            &["it has no block size for reads"],
        );
        check_job(|job| job.block.write.clear(), &[]);
        check_job(
            |job| job.block.read[0].size = Bytes::ZERO,
            &["a block for reads has 0 bytes"],
        );
        check_job(
            |job| job.block.read[0].size = Bytes::new(5000),
            &["a block of 5000 bytes is no multiple of 512, which direct I/O needs"],
        );
        check_job(
            |job| {
                job.block.read[0].size = Bytes::new(5000);
                job.caching = Caching::Buffered;
            },
            &[],
        );
        check_job(
            |job| {
                job.access = Access::Random {
                    coverage: crate::Coverage::Independent,
                    run: 0,
                }
            },
            &["each random offset is followed by a run of 0 I/Os"],
        );
    }

    #[test]
    fn batches_fit_the_depth() {
        check_job(
            |job| {
                job.features.batches = Some(crate::Batches {
                    submit: 64,
                    complete_min: 8,
                    complete_max: 4,
                    low: 33,
                });
            },
            &[
                "it waits for 8 completions (`complete_min`), and takes 4 at a time (`complete_max`)",
                "`submit` is 64, and its depth is 32",
                "`low` is 33, and its depth is 32",
            ],
        );
    }

    #[test]
    fn what_is_trusted_when_synced_is_synced() {
        let trusting = |job: &mut Job| {
            let mut verify = crate::Verify::new(crate::Checksum::Md5);
            verify.trust = VerifyTrust::Synced;
            job.features.verify = Some(Box::new(verify));
        };
        let message =
            "it trusts only what was synced, and it never syncs: nothing would be checked";
        check_job(trusting, &[message]);
        check_job(
            |job| {
                trusting(job);
                job.sync.fsync_every = 32;
            },
            &[],
        );
    }

    #[test]
    fn files_made_anew_are_written_alone() {
        let reads =
            "each pass is to make its files anew, and there is nothing in them to read or trim";
        let fresh = "a fresh file in a directory has no name under which it could be made anew";
        let anew = |job: &mut Job| job.features.files.made_anew = true;
        check_job(anew, &[reads, fresh]);
        check_job(
            |job| {
                anew(job);
                job.mix = Mix::WRITE;
                job.targets[0].place = Place::Path("/mnt/data/file".to_owned());
            },
            &[],
        );
        check_job(
            |job| {
                anew(job);
                job.mix = Mix::WRITE;
                job.targets[0].place = Place::Path("/mnt/data/file".to_owned());
                job.features.files.sync_range = Some(crate::SyncRange {
                    every: 8,
                    wait_before: false,
                    write: true,
                    wait_after: false,
                });
            },
            &[
                "`sync_range` is of the files that were opened first, and each pass is to make others",
            ],
        );
    }

    #[test]
    fn ends_are_checked() {
        check_job(
            |job| job.limits.runtime = None,
            &["it starts over when done, but has no time after which it ends"],
        );
        check_job(
            |job| job.limits.runtime = Some(Nanos::ZERO),
            &["its measured time is 0"],
        );
        check_job(
            |job| job.limits.bytes = Some(Bytes::kib(1)),
            &["it may move 1 KiB, less than one block of 4 KiB"],
        );
        check_job(
            |job| job.limits.warmup = Nanos::MAX,
            &["one of its times is over 100 years"],
        );
        check_job(
            |job| {
                job.arrival = Arrival::Open {
                    rate: Pacing::Iops(fathom_units::Iops::new(0)),
                    poisson: crate::Poisson::Fixed,
                    when_full: crate::WhenFull::Queue,
                };
            },
            &["its rate is 0"],
        );
    }

    /// What is to be done about a pass that conditioning does not make, in a native file's words and in a peer's.
    #[test]
    fn conditioning_is_one_pass() {
        for (existing, remedy) in [
            (ExistingFiles::OnlyOurs, "say `measure = \"one-pass\"`"),
            (
                ExistingFiles::AsPeer,
                "leave `time_based`, `loops` and `bytes` out",
            ),
        ] {
            let mut workload = preset("quick", "/mnt/data").unwrap();
            workload.stages.truncate(1);
            let job = &mut workload.stages[0].jobs[0];
            job.existing = existing;
            job.mix = Mix::WRITE;
            job.access = Access::Random {
                coverage: crate::Coverage::Independent,
                run: 1,
            };
            job.features.placement = Some(Box::new(crate::Placement {
                conditioning: Some(crate::Conditioning {
                    over_provisioning: Percent::default(),
                    regions: 100,
                    cache: Bytes::ZERO,
                }),
                ..crate::Placement::default()
            }));
            let told = validate(&workload).unwrap_err();
            let hints: Vec<_> = told
                .0
                .iter()
                .filter_map(|one| one.hint.as_deref())
                .collect();
            assert_eq!(hints, [remedy], "{told}");
            let job = &mut workload.stages[0].jobs[0];
            job.limits.time_based = false;
            assert!(validate(&workload).is_ok(), "{existing:?}");
        }
    }

    #[test]
    fn targets_are_checked() {
        let target = |change: fn(&mut Target)| move |job: &mut Job| change(&mut job.targets[0]);
        check_job(
            target(|target| target.length = None),
            &["the fresh file in `/mnt/data` has no size"],
        );
        check_job(
            target(|target| target.length = Some(Bytes::kib(1))),
            &["its blocks of 4 KiB do not fit into the 1 KiB of `/mnt/data`"],
        );
        // Rounded, it would look as large as a block.
        check_job(
            |job| {
                job.targets[0].length = Some(Bytes::new(4095));
                job.caching = Caching::Buffered;
            },
            &["its blocks of 4 KiB do not fit into the 4,095 B of `/mnt/data`"],
        );
        check_job(
            target(|target| target.offset = Bytes::new(u64::MAX - 511)),
            &["the used part of `/mnt/data` ends past 2^63 bytes"],
        );
        check_job(
            target(|target| target.offset = Bytes::new(100)),
            &[
                "the offset in `/mnt/data` of 100 bytes is no multiple of 512, which direct I/O needs",
            ],
        );
        check_job(
            target(|target| target.place = Place::Path(String::new())),
            &["a target's path is empty or holds a zero byte"],
        );
    }

    #[test]
    fn checks_of_data_need_a_stream_of_their_own() {
        let verify = |kind| Some(Box::new(crate::Verify::new(kind)));
        check_job(
            |job| {
                job.features.verify = verify(crate::Checksum::Md5);
                job.mix = Mix::WRITE;
                job.workers = 2;
                job.access = Access::Sequential {
                    gap: Bytes::ZERO,
                    scope: SequentialScope::Shared,
                };
            },
            &[
                "several workers write where each checks its own writes",
                "which worker wrote what is not known where they share a position",
            ],
        );
        check_job(
            |job| {
                job.features.verify = Some(Box::new(crate::Verify {
                    phase: crate::VerifyPhase::Only,
                    ..crate::Verify::new(crate::Checksum::Md5)
                }));
                job.features.replay = Some(crate::Replay {
                    path: "/trace".to_owned(),
                    pace: crate::ReplayPace::AtOnce,
                    merged: Vec::new(),
                    scale: 1,
                    align: 0,
                    skip: [false; 4],
                    redirected: false,
                });
            },
            &["a trace is checked in the run that replays it"],
        );
        check_job(
            |job| job.features.verify = verify(crate::Checksum::Pattern),
            &["`pattern` compares with a pattern, and there is none"],
        );
        check_job(
            |job| job.features.verify = verify(crate::Checksum::Md5),
            &[],
        );
    }
}
