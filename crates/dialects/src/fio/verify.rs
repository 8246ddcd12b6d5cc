//! From fio's verification options to what the workload model checks.
//!
//! Which fields of a header are compared follows fio's own rules (`fixup_options` of its 3.42 release, read for facts):
//! the number of the write is not compared where the last writer of a block is uncertain, nor where nothing but a check
//! is done; the seed is not compared where blocks may be written twice, where a backlog is checked out of order, and by
//! jobs that only read. Either is compared all the same where the option asks for it.

use fathom_diagnostics::Diagnostic;
use fathom_units::{Bytes, Percent};
use fathom_workload::{
    Backend, Backlog, Checksum, Direction, HeaderCheck, OnMismatch, Pattern, PatternError,
    TrimmedData, Verify, VerifyPhase, VerifyRepeats, VerifyTrims, VerifyTrust,
};

use super::blocks::block_range;
use super::context::Files;
use super::engine::{backend, is_of_names};
use super::errno::EILSEQ;
use super::settings::{Amount, Settings};

/// Bytes of fio's own block header, which must fit behind `verify_offset`.
const FIO_HEADER: u64 = 48;

/// Which job of an invocation a state file belongs to.
#[derive(Debug, Clone, Copy)]
pub struct StatePlace<'a> {
    /// `--aux-path`.
    pub folder: Option<&'a str>,
    /// Name of the job.
    pub job: &'a str,
    /// Number of the job, clones counted, from 0.
    pub number: usize,
}

impl StatePlace<'_> {
    /// The name that fio gives its own state files.
    fn path(self) -> String {
        let name = self.job.replace('/', ".");
        let file = format!("local-{name}-{}-verify.state", self.number);
        match self.folder {
            Some(folder) => format!("{}/{file}", folder.trim_end_matches('/')),
            None => file,
        }
    }
}

/// What is checked, if anything is; `trace_writes` says of a job that replays a trace whether that writes.
///
/// # Errors
/// A file named by the pattern that cannot be read.
pub fn build(
    settings: &Settings,
    trace_writes: Option<bool>,
    place: StatePlace<'_>,
    files: &dyn Files,
) -> Result<Option<Box<Verify>>, PatternError> {
    let given = &settings.verify;
    let writes = settings.pattern.directions[Direction::Write as usize];
    let Some(kind) = given.kind() else {
        // Nothing is written where a check alone is asked for, and no check is named.
        let dry_run = Verify {
            phase: VerifyPhase::Nothing,
            ..Verify::new(Checksum::Null)
        };
        return Ok((given.only && writes).then(|| Box::new(dry_run)));
    };
    if is_of_names(settings) || reads_alone_of_a_mix(settings) {
        // Names hold no data, and fio's engines have no word of what their checks find; nor does it check what a mix reads.
        return Ok(None);
    }
    let read = |path: &str| files.read_bytes(path);
    let pattern = (given.pattern.as_deref()).map(|text| Pattern::parse(text, &read));
    let state = place.path();
    // Without a pattern there is nothing to compare with, nor anything that does (see `problems`).
    let kind = if kind.needs_pattern() && given.pattern.is_none() {
        Checksum::Null
    } else {
        kind
    };
    let verify = Verify {
        interval: (given.interval > 0).then(|| Bytes::new(given.interval)),
        header_offset: given.offset,
        pattern: pattern.transpose()?,
        pattern_interval: (given.pattern_interval > 0).then(|| Bytes::new(given.pattern_interval)),
        phase: match (given.only && writes, given.do_verify) {
            (true, true) => VerifyPhase::Only,
            (true, false) => VerifyPhase::Nothing,
            (false, true) => VerifyPhase::AfterPass,
            (false, false) => VerifyPhase::Never,
        },
        backlog: (given.backlog > 0).then_some(Backlog {
            writes: given.backlog,
            batch: batch(given.backlog_batch, given.backlog),
        }),
        repeats: if given.experimental {
            VerifyRepeats::EachWrite
        } else {
            VerifyRepeats::LastWrite
        },
        sequence: compared(given.write_sequence, sequence_is_sure(settings)),
        seed: if is_of_unknown_pass(settings) {
            HeaderCheck::Ignored
        } else {
            compared(given.header_seed, seed_is_sure(settings))
        },
        on_mismatch: match (given.fatal, survives(settings)) {
            (true, _) => OnMismatch::EndAtOnce,
            (false, true) => OnMismatch::GoOn,
            (false, false) => OnMismatch::EndJob,
        },
        dump: given.dump.then(|| place.folder.unwrap_or(".").to_owned()),
        trust: if given.fsynced {
            VerifyTrust::Synced
        } else {
            VerifyTrust::Completed
        },
        save_state: (given.save && trace_writes.unwrap_or(writes)).then(|| state.clone()),
        load_state: given.load.then_some(state),
        trims: trims(settings),
        ..Verify::new(kind)
    };
    Ok(Some(Box::new(verify)))
}

/// Whether a mix has reads alone (`rwmixread=100`).
fn reads_alone_of_a_mix(settings: &Settings) -> bool {
    let [reads, writes, _] = settings.pattern.directions;
    reads && writes && settings.read_share == 100
}

/// Whether `continue_on_error` or `ignore_error` covers wrong data.
fn survives(settings: &Settings) -> bool {
    settings.control.survived.checks().contains(&EILSEQ)
}

fn batch(asked: u32, otherwise: u32) -> u32 {
    if asked > 0 { asked } else { otherwise }
}

fn compared(asked: Option<bool>, sure: bool) -> HeaderCheck {
    if asked.unwrap_or(sure) {
        HeaderCheck::Compared
    } else {
        HeaderCheck::Ignored
    }
}

/// Whether a pass may write a block twice.
fn may_overlap(settings: &Settings) -> bool {
    settings.independent || settings.pattern_number.is_some() || goes_past_size(settings)
}

/// Whether `io_size` is more than the files have.
fn goes_past_size(settings: &Settings) -> bool {
    match (settings.io_size, settings.size) {
        (Amount::Bytes(io_size), Amount::Bytes(size)) => io_size > size,
        (Amount::Bytes(_), Amount::Unset | Amount::Percent(_)) => true,
        _ => false,
    }
}

/// Whether what is checked was written by another run, and in the last of several passes: which seeds that had is not known.
/// fio's passes all have the same.
fn is_of_unknown_pass(settings: &Settings) -> bool {
    let writes = settings.pattern.directions[Direction::Write as usize];
    let several = settings.loops > 1 || goes_past_size(settings) || settings.time_based;
    (settings.verify.only || !writes) && several
}

fn is_asynchronous(settings: &Settings) -> bool {
    backend(settings) != Backend::Sync
}

fn sequence_is_sure(settings: &Settings) -> bool {
    let replays = settings.control.trace.read.is_some();
    let anywhere = settings.independent || replays;
    let uncertain = anywhere && is_asynchronous(settings) && (replays || settings.depth > 1);
    let (least, most) = block_range(settings)[Direction::Write as usize];
    let replayed = settings.verify.experimental && may_overlap(settings);
    !(settings.verify.only || uncertain || replayed || least != most || settings.time_based)
}

fn seed_is_sure(settings: &Settings) -> bool {
    let writes = settings.pattern.directions[Direction::Write as usize];
    let given = &settings.verify;
    // Of a trace the last write to a block is checked, whose seed follows from its number.
    let in_order = settings.control.trace.read.is_none() || sequence_is_sure(settings);
    writes && in_order && given.backlog == 0 && !given.only && !may_overlap(settings)
}

fn trims(settings: &Settings) -> Option<VerifyTrims> {
    let given = &settings.verify;
    let share = Percent::whole(given.trim_percentage)?;
    (given.trim_percentage > 0 && given.trim_backlog > 0).then(|| VerifyTrims {
        share,
        writes: given.trim_backlog,
        batch: batch(given.trim_batch, given.trim_backlog),
        zero: if given.trim_zero {
            TrimmedData::Zeroes
        } else {
            TrimmedData::Anything
        },
    })
}

/// Whether verification discards blocks.
pub fn trims_blocks(settings: &Settings) -> bool {
    settings.verify.kind().is_some() && trims(settings).is_some()
}

/// Whether data are ever compared: not where there are none, and not where a job that writes leaves out the checks.
fn compares(settings: &Settings) -> bool {
    let [reads, writes, _] = settings.pattern.directions;
    let given = &settings.verify;
    let has_data = backend(settings) != Backend::Null && !is_of_names(settings);
    let checks = if writes { given.do_verify } else { reads };
    has_data && checks && !settings.control.create_only
}

/// What is wrong with verification options, and the option it is about.
pub fn problems(settings: &Settings, readonly: bool) -> Vec<(&'static str, String, &'static str)> {
    let mut found = Vec::new();
    let given = &settings.verify;
    let Some(kind) = given.kind() else {
        return found;
    };
    if readonly && trims_blocks(settings) {
        let message = "`trim_percentage` discards blocks under --readonly".to_owned();
        found.push(("trim_percentage", message, "take --readonly away"));
    }
    if settings.control.trace.read.is_some() && given.only {
        let message = "`verify_only` checks no trace that an earlier run replayed".to_owned();
        found.push((
            "verify_only",
            message,
            "leave it out: what is replayed is checked after it",
        ));
    }
    if kind.needs_pattern() && given.pattern.is_none() && compares(settings) {
        let message = format!("`verify={}` has no pattern to compare with", kind.name());
        found.push(("verify", message, "add verify_pattern="));
    }
    let (least, _) = block_range(settings)[Direction::Write as usize];
    let asked = if given.interval > 0 {
        given.interval
    } else {
        least
    };
    let interval = asked.min(least);
    if given.offset > 0 && u64::from(given.offset) + FIO_HEADER > interval {
        let message = format!(
            "a header at `verify_offset={}` does not fit into {interval} bytes",
            given.offset
        );
        let hint = "lower verify_offset, or raise verify_interval or bs";
        found.push(("verify_offset", message, hint));
    }
    found
}

/// What a reader may not have meant.
pub fn trap(settings: &Settings) -> Option<Diagnostic> {
    let given = &settings.verify;
    let writes = settings.pattern.directions[Direction::Write as usize];
    let named = !settings.named_files.is_empty() || settings.control.trace.read.is_some();
    let shared = settings.clones > 1 && named;
    (given.kind().is_some() && writes && given.do_verify && shared).then(|| {
        let message = "several jobs write the same files: blocks of one may be overwritten by \
                       another, and then fail their check";
        Diagnostic::warning(message).hint("leave filename out, or set do_verify=0")
    })
}
