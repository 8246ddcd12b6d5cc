//! From fio's settings to a job of the workload model.

use fathom_diagnostics::{Diagnostic, Diagnostics};
use fathom_units::{Bytes, BytesPerSec, Iops, Nanos, Percent};
use fathom_workload::{
    Access, Arrival, Backend, BlockSizes, BufferContents, Caching, Coverage, Direction,
    ExistingFiles, Features, FileChoice, FileOperation, Job, Limits, Mix, Pacing, Poisson,
    ReportGroup, SequentialScope, SyncPolicy, Target, WhenFull,
};

use super::blocks::{blocks, is_aligned, smallest_block};
use super::conditioning;
use super::directions::{changes_data, goes, kept, mix};
use super::engine::{backend, engine_problem, operation};
use super::errno::EINVAL;
use super::exports;
use super::late::{self, Complaints};
use super::passes::{extent, time_based};
use super::placement::{is_independent, working_set_problem, zone_problem};
use super::processor_work;
use super::reopening::{makes_anew, opens_again};
use super::scatter::scatter;
use super::settings::{Amount, Settings, call_problem, pacing_problems};
use super::verify;

/// Whether the job is there for its files alone, and would make them as it opens them: as in fio, which ends before that, it
/// leaves none.
fn makes_nothing(settings: &Settings) -> bool {
    let control = &settings.control;
    control.create_only && control.making.on_open && operation(settings).is_none()
}

/// What issues the job's I/O, where it does any.
fn issued_by(settings: &Settings) -> Backend {
    if makes_nothing(settings) {
        Backend::Null
    } else {
        backend(settings)
    }
}

/// The job of one clone. `salt` sets its random numbers apart from those of all others.
pub fn build(
    settings: &Settings,
    name: &str,
    targets: Vec<Target>,
    group: ReportGroup,
    salt: u64,
    features: Features,
) -> Job {
    let backend = issued_by(settings);
    let one_at_a_time =
        matches!(backend, Backend::Sync | Backend::Mmap) || features.processor_work.is_some();
    let (arrival, mix) = (arrival(settings), mix(settings));
    let past_end = (features.placement.as_ref()).is_some_and(|rules| rules.past_end);
    let extent = extent(settings, &targets, past_end);
    let calls = features.calls;
    let of_names = features.operation.is_some_and(FileOperation::is_of_names);
    Job {
        name: name.to_owned(),
        group,
        host: None,
        targets,
        file_choice: if of_names {
            FileChoice::Sequential
        } else {
            settings.file_choice
        },
        workers: 1,
        depth: if one_at_a_time { 1 } else { settings.depth },
        mix,
        access: if of_names {
            access_of_names(mix)
        } else {
            access(settings)
        },
        // One operation on each name is one block, whatever sizes I/Os have.
        block: if of_names {
            BlockSizes::uniform(Bytes::new(smallest_block(settings)))
        } else {
            blocks(settings)
        },
        arrival,
        limits: Limits {
            start_delay: start_delay(settings, salt),
            warmup: settings.ramp,
            runtime: (settings.runtime > Nanos::ZERO).then_some(settings.runtime),
            time_based: time_based(settings),
            bytes: extent.bytes.filter(|_| !of_names),
            ios: extent.ios,
            loops: extent.loops,
        },
        sync: SyncPolicy {
            open: settings.open_sync,
            fsync_every: settings.fsync,
            fdatasync_every: settings.fdatasync,
            at_end: settings.end_fsync,
            on_close: settings.fsync_on_close,
        },
        contents: contents(settings),
        backend,
        // Exports have no page cache on this machine.
        caching: if settings.direct || backend == Backend::Nbd {
            Caching::Direct
        } else {
            Caching::Buffered
        },
        existing: ExistingFiles::AsPeer,
        // fio has no submission latency where the submitting call completes the I/O.
        split_latency: match backend {
            Backend::Sync | Backend::Mmap => false,
            Backend::Null => settings.depth > 1 && !one_at_a_time,
            // Where a kernel thread takes submissions, submitting is writing to memory.
            Backend::IoUring => calls.submitter.is_none(),
            Backend::Libaio | Backend::Nbd => true,
        },
        drop_cache: settings.invalidate,
        unlink: settings.unlink,
        salt,
        features,
    }
}

/// A whole number of microseconds within the bounds given, another for each clone.
fn start_delay(settings: &Settings, salt: u64) -> Nanos {
    let (least, most) = settings.start_delay;
    let choices = most.saturating_sub(least).get() / 1_000 + 1;
    let drawn = scatter(salt) % choices;
    least.saturating_add(Nanos::from_micros(drawn))
}

fn contents(settings: &Settings) -> BufferContents {
    if settings.zero_buffers {
        BufferContents::Zeroes
    } else if settings.refill_buffers {
        BufferContents::RandomEachWrite
    } else if settings.scramble_buffers {
        BufferContents::RandomStamped
    } else {
        BufferContents::RandomOnce
    }
}

fn access(settings: &Settings) -> Access {
    if !settings.pattern.random {
        let gap = Bytes::new(settings.pattern_number.unwrap_or(0));
        return Access::Sequential {
            gap,
            scope: SequentialScope::PerWorker,
        };
    }
    let coverage = if is_independent(settings) {
        Coverage::Independent
    } else {
        Coverage::EachBlockOnce
    };
    let run = settings.pattern_number.unwrap_or(1);
    Access::Random {
        coverage,
        run: u32::try_from(run).unwrap_or(u32::MAX),
    }
}

/// Each name once, one after another.
fn access_of_names(mix: Mix) -> Access {
    let used = Direction::ALL.into_iter();
    let used = used.filter(|way| mix.share(*way) > Percent::ZERO).count();
    if used > 1 {
        // In order each direction would go through all names by itself.
        return Access::Random {
            coverage: Coverage::EachBlockOnce,
            run: 1,
        };
    }
    Access::Sequential {
        gap: Bytes::ZERO,
        scope: SequentialScope::PerWorker,
    }
}

/// fio holds back each direction by itself, and so does a real run ([`fathom_workload::Features::rates`]); as a whole, which is
/// what a prediction goes by, a mixed job under rates is one stream at their sum.
fn arrival(settings: &Settings) -> Arrival {
    let used = |rates: [u64; 3]| -> Vec<u64> {
        let rates = kept(settings, rates);
        let used = (0..3).filter(|way| goes(settings)[*way]);
        used.map(|way| rates[way]).collect()
    };
    let (by_ios, by_bytes) = (used(settings.rate_iops), used(settings.rate));
    let mut both = by_ios.iter().zip(&by_bytes);
    if both.any(|(ios, bytes)| *ios == 0 && *bytes == 0) {
        // One of them goes as fast as it can: the job has no rate as a whole.
        return Arrival::Closed;
    }
    let (ios, bytes): (u64, u64) = (by_ios.iter().sum(), by_bytes.iter().sum());
    let rate = match (ios, bytes) {
        (0, 0) => return Arrival::Closed,
        (0, bytes) => Pacing::Bytes(BytesPerSec::new(bytes)),
        (ios, _) => Pacing::Iops(Iops::new(ios)),
    };
    Arrival::Open {
        rate,
        poisson: if settings.poisson {
            Poisson::Exponential
        } else {
            Poisson::Fixed
        },
        when_full: WhenFull::Queue,
    }
}

/// What jobs may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allowed {
    /// Read, write and trim.
    Everything,
    /// Read (`--readonly`).
    ReadsOnly,
}

/// Whether an option that a run refuses would change anything in fio.
pub fn heeds(settings: &Settings, option: &str) -> bool {
    match option {
        "block_error_percentiles" => settings.pattern.directions[2],
        // None is one, as in fio.
        "num_range" => {
            let value = settings.sources.get("num_range");
            settings.pattern.directions[2] && value.is_none_or(|(value, ..)| value != "0")
        }
        "lockfile" => locks(settings),
        "unlink_each_loop" => opens_again(settings) && !makes_anew(settings),
        _ => true,
    }
}

/// Whether `lockfile` has one I/O wait for another. fio's clones of a job that is given names share the locks, and hold one while
/// they submit: an I/O of a synchronous engine is done by then, another has only begun. Reads lock out no reads.
fn locks(settings: &Settings) -> bool {
    let [_, writes, trims] = settings.pattern.directions;
    let mode = settings.sources.get("lockfile");
    let lets_reads_pass = mode.is_some_and(|(mode, ..)| mode == "readwrite");
    let shares = !settings.named_files.is_empty() || settings.control.open_directory.is_some();
    let waits = !matches!(backend(settings), Backend::Libaio | Backend::IoUring);
    let shuts_out = !lets_reads_pass || writes || trims;
    settings.clones > 1 && shares && waits && shuts_out
}

/// A complaint where the job does what it may not.
pub fn check_direction(
    settings: &Settings,
    name: &str,
    allowed: Allowed,
    diagnostics: &mut Diagnostics,
) {
    if allowed == Allowed::Everything || !changes_data(settings) {
        return;
    }
    let rw = &settings.pattern.name;
    let message = format!("job `{name}`: `rw={rw}` writes or trims under --readonly");
    let error = Diagnostic::error(message).hint("take --readonly away, or read only");
    diagnostics.push(match settings.location("rw") {
        Some(location) => error.at(location),
        None => error,
    });
}

fn error_of(
    settings: &Settings,
    name: &str,
    (option, message, hint): (&str, String, &str),
) -> Diagnostic {
    let error = Diagnostic::error(format!("job `{name}`: {message}")).hint(hint);
    match settings.location(option) {
        Some(location) => error.at(location),
        None => error,
    }
}

/// Complaints of [`check`] some of which fio finds as it runs.
fn check_late(settings: &Settings, name: &str, allowed: Allowed, diagnostics: &mut Complaints<'_>) {
    let mut refuse = |errno: Option<i32>, option: &str, message: String, hint: &str| {
        diagnostics.refuse(errno, error_of(settings, name, (option, message, hint)));
    };
    for (option, message, hint) in verify::problems(settings, allowed == Allowed::ReadsOnly) {
        refuse(Some(late::of_check(option)), option, message, hint);
    }
    if let Some(problem) = settings.priority.problem() {
        let (option, hint) = ("cmdprio_bssplit", "keep one of them");
        refuse(Some(EINVAL), option, problem.to_owned(), hint);
    }
    if let Some((option, message, hint)) = processor_work::problem(settings) {
        refuse(Some(EINVAL), option, message, hint);
    }
    if let Some((option, message, hint)) = exports::problem(settings) {
        refuse(Some(late::of_export(option)), option, message, hint);
    }
    if let Some((option, message)) = engine_problem(settings) {
        let hint = "take another engine, or leave the option out";
        refuse(late::of_engine(option), option, message, hint);
    }
    if let Some((option, message, hint)) = zone_problem(settings) {
        refuse(late::of_zones(option), option, message.to_owned(), hint);
    }
    for (option, message, hint) in conditioning::problems(settings) {
        refuse(late::of_conditioning(option), option, message, hint);
    }
}

/// Complaints about settings that do not go together.
pub fn check(settings: &Settings, name: &str, allowed: Allowed, diagnostics: &mut Complaints<'_>) {
    check_direction(settings, name, allowed, diagnostics);
    check_late(settings, name, allowed, diagnostics);
    let mut refuse = |option: &str, message: String, hint: &str| {
        diagnostics.push(error_of(settings, name, (option, message, hint)));
    };
    if let Some((option, message, hint)) = call_problem(settings) {
        refuse(option, message, hint);
    }
    if let Some(problem) = settings.log.problem() {
        let hint = "add write_lat_log= and log_offset=1";
        refuse("log_issue_time", problem.to_owned(), hint);
    }
    let both =
        settings.rate.iter().any(|it| *it > 0) && settings.rate_iops.iter().any(|it| *it > 0);
    if both {
        let message = "`rate` and `rate_iops` are mutually exclusive".to_owned();
        refuse("rate_iops", message, "keep one of them");
    }
    for (option, message, hint) in pacing_problems(settings) {
        refuse(option, message, hint);
    }
    if let Some((option, message, hint)) = working_set_problem(settings) {
        refuse(option, message, hint);
    }
    if let Amount::Bytes(size) = settings.size
        && size > 0
    {
        let least = smallest_block(settings);
        if size < least {
            let message = format!("size too small: {size} bytes, less than one block of {least}");
            refuse("size", message, "raise size, or lower bs");
        }
    }
    let run_over = settings.pattern.random
        && settings
            .pattern_number
            .is_some_and(|run| u32::try_from(run).is_err());
    if run_over {
        let message = "the number behind `rw` is above 4,294,967,295".to_owned();
        refuse("rw", message, "lower it");
    }
}

/// Traps in settings that fio itself passes over in silence.
pub fn warn(settings: &Settings, name: &str, diagnostics: &mut Diagnostics) {
    diagnostics.0.extend(verify::trap(settings));
    let mut say = |option: &str, message: String, hint: &str| {
        let warning = Diagnostic::warning(format!("job `{name}`: {message}")).hint(hint);
        diagnostics.push(match settings.location(option) {
            Some(location) => warning.at(location),
            None => warning,
        });
    };
    let one_at_a_time = matches!(backend(settings), Backend::Sync | Backend::Mmap)
        || processor_work::works(settings);
    if one_at_a_time && settings.depth > 1 {
        let message = format!(
            "`iodepth={}` has no effect with the synchronous engine `{}`",
            settings.depth, settings.engine
        );
        say(
            "iodepth",
            message,
            "choose ioengine=libaio or io_uring, or more jobs",
        );
    }
    if settings.pattern.random && !settings.independent && !is_aligned(settings) {
        let message = "`blockalign` other than the block size turns off the random map".to_owned();
        say("ba", message, "add norandommap=1, or leave it out");
    }
    let trace = &settings.control.trace;
    if trace.read.is_some() && trace.write.is_some() {
        let message = "`read_iolog` overrides `write_iolog`".to_owned();
        say("write_iolog", message, "leave one of them out");
    }
    for (option, given) in [
        ("fsync", settings.fsync > 0),
        ("fdatasync", settings.fdatasync > 0),
    ] {
        if given && trace.read.is_some() {
            let message = format!("`{option}` has no effect with `read_iolog`");
            say(
                option,
                message,
                "a trace is replayed with the syncs that it holds; end_fsync=1 is heeded",
            );
        }
    }
    for (option, message) in unjudged(settings) {
        say(option, message, "leave out what has it not measured");
    }
    if settings.time_based && settings.runtime == Nanos::ZERO {
        let message = "`time_based` requires a runtime, and has no effect without one".to_owned();
        say("time_based", message, "add runtime=");
    }
}

/// Limits of latency that nothing is judged by, and what is said of each.
fn unjudged(settings: &Settings) -> Vec<(&'static str, String)> {
    let most = settings.control.errors.latency_max;
    let given = [
        ("max_latency", most.iter().any(Option::is_some)),
        ("latency_target", settings.pacing.has_target()),
    ];
    let told = |option| {
        let message = format!(
            "`{option}` finds no I/O too slow where latency is not measured (`gtod_reduce`, \
             `disable_lat`, `stats=0`)"
        );
        (option, message)
    };
    let given = given
        .iter()
        .filter(|(_, given)| *given && !settings.judges_latency());
    given.map(|(option, _)| told(*option)).collect()
}
