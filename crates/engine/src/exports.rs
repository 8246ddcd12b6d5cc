//! Exports of NBD servers as targets: what their servers offer, what of a job they refuse, and connections to them.
//!
//! A server is asked once before the run, so that all that it refuses is known before anything is written; each worker then
//! has a connection of its own, on which the same must be offered.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;

use fathom_nbd::client::{HelloError, Offer};
use fathom_nbd::{Address, Uri};
use fathom_rawio::{
    NbdExport, NbdQueue, NbdUnreachable, NbdWrites, Silence, connect_to_export, look_at_export,
};
use fathom_units::{Bytes, Nanos, group_digits};
use fathom_workload::{
    Backend, Caching, Direction, Job, OpenSync, Target, Workload, unknown_to_exports,
};

use crate::complaints::Complaint;
use crate::targets::{Kind, MAP_THE_FILE, Targets, writes};
use crate::{About, Capability, EngineError};

/// How long a server may say nothing while it owes answers.
pub(crate) const SILENCE_MOST: Nanos = Nanos::from_secs(60);
/// The same while it flushes: all that it has cached may have to be written first.
const SILENCE_OF_FLUSH_MOST: Nanos = Nanos::from_secs(600);
/// The same once the run is to end.
const SILENCE_AT_END_MOST: Nanos = Nanos::from_secs(1);
/// `ECANCELED`: nobody waits for the answer any more.
pub(crate) const GIVEN_UP: i32 = 125;
/// `ETIMEDOUT`: the server has said nothing for [`SILENCE_MOST`], or its network for even longer.
pub(crate) const SILENT: i32 = 110;

/// An export that answers.
#[derive(Debug, Clone)]
pub(crate) struct Export {
    /// Where it is.
    uri: Uri,
    /// What its server offered when it was asked.
    pub(crate) offer: Offer,
}

/// The export that a target is; `None` where it is none, and the job does not want one.
pub(crate) fn identify(job: &Job, target: &Target) -> Option<Result<Export, Complaint>> {
    match (target.place.is_export(), job.backend) {
        (true, Backend::Nbd) => Some(look(target.place.path())),
        (true, other) => {
            let name = other.name();
            let problem = format!(
                "it is an export of an NBD server, which the backend `{name}` cannot reach"
            );
            Some(Err(
                Complaint::new(problem).hint("use the backend `nbd` (fio: `ioengine=nbd`)")
            ))
        }
        (false, Backend::Nbd) => {
            let problem =
                Complaint::new("it is no export of an NBD server, which the backend `nbd` needs");
            let hint = "name one, such as `nbd://HOST/EXPORT` or `nbd+unix:///EXPORT?socket=PATH`, or use another backend";
            Some(Err(problem.hint(hint)))
        }
        (false, _) => None,
    }
}

fn look(path: &str) -> Result<Export, Complaint> {
    let uri =
        Uri::parse(path).map_err(|error| Complaint::new(error.to_string()).hint(error.remedy()))?;
    let offer = look_at_export(&uri);
    let offer = offer.map_err(|error| {
        below_an_export(&uri, &error)
            .unwrap_or_else(|| Complaint::new(error.to_string()).hint(error.remedy()))
    })?;
    Ok(Export { uri, offer })
}

/// The complaint about a URI that goes on behind an export, as a folder's files do that was mapped to one.
fn below_an_export(uri: &Uri, error: &NbdUnreachable) -> Option<Complaint> {
    let what = match (error, &uri.address) {
        (NbdUnreachable::Connecting { .. }, Address::Unix { path, .. }) => {
            let mut above = Path::new(OsStr::from_bytes(path)).ancestors().skip(1);
            let found = above.find_map(|above| Some((above, fs::metadata(above).ok()?)));
            let (socket, _) = found.filter(|(_, found)| found.file_type().is_socket())?;
            format!("the URI goes on behind its socket, `{}`", socket.display())
        }
        (NbdUnreachable::Hello { source, .. }, _) => {
            let HelloError::Unknown(names) = source else {
                return None;
            };
            let is_above = |name: &&String| {
                let rest = uri.export.strip_prefix(name.as_str());
                !name.is_empty() && rest.is_some_and(|rest| rest.starts_with('/'))
            };
            let name = names.iter().find(is_above)?;
            format!("the URI goes on behind the name `{name}`, which its server has")
        }
        _ => return None,
    };
    let problem = format!("an export holds no files, and {what}");
    Some(Complaint::new(problem).hint(MAP_THE_FILE))
}

/// Holds a job's I/O against what the server takes.
///
/// # Errors
/// What it does not.
pub(crate) fn check(job: &Job, target: &Target, export: &Export) -> Result<(), Complaint> {
    if let Some((_, what)) = unknown_to_exports(job).next() {
        let problem = format!("it is an export of an NBD server, which does not know {what}");
        let remedy = if job.caching == Caching::Buffered {
            "ask for direct I/O (`caching = \"direct\"`; fio: `direct=1`), or use a file or a block device"
        } else {
            "leave that out, or use a file or a block device"
        };
        return Err(Complaint::new(problem).hint(remedy));
    }
    let Offer { flags, blocks, .. } = export.offer;
    let writes = writes(job);
    if writes && flags.is_read_only() {
        let problem = Complaint::new("its server offers it for reading alone, and the job writes");
        return Err(problem.hint("only read it, or let the server offer it for writing"));
    }
    if writes && job.sync.open != OpenSync::None && !flags.has_fua() {
        let problem = "its server has no writes that are durable when they are answered (FUA), which the job asks for";
        let hint = "leave `open` out of the job's `sync` (fio: `sync`), or ask for a flush after each write (`fsync = 1`)";
        return Err(Complaint::new(problem).hint(hint));
    }
    if job.moves(Direction::Trim) && !flags.has_trim() {
        let problem = Complaint::new("its server has no trims, which the job asks for");
        return Err(problem.hint("leave them out, or let the server offer them"));
    }
    let largest = job.largest_buffer();
    if largest.get() > u64::from(blocks.maximum) {
        let maximum = Bytes::new(blocks.maximum.into());
        let who = if blocks.told {
            "its server takes"
        } else {
            "its server does not say what it takes, and clients then send"
        };
        let what =
            format!("{who} at most {maximum} in one request, and the job has blocks of {largest}");
        return Err(Complaint::new(what).hint("use smaller blocks"));
    }
    let smallest = job.block.smallest(job.mix);
    for (what, bytes) in [
        ("the smallest block", smallest),
        ("the largest block", largest),
        ("the alignment", job.block.alignment.unwrap_or(smallest)),
        ("the offset", target.offset),
    ] {
        if !bytes.get().is_multiple_of(blocks.minimum.into()) {
            let unit = Bytes::new(blocks.minimum.into());
            let what =
                format!("{what} ({bytes}) is no multiple of the {unit} that its server asks for");
            return Err(Complaint::new(what).hint("use multiples of that"));
        }
    }
    Ok(())
}

/// What a user should know of exports that several connections at a time write and read, and whose servers do not promise that
/// those see the same.
pub(crate) fn notes(workload: &Workload, targets: &Targets) -> Vec<String> {
    let mut notes = Vec::new();
    for (index, object) in targets.objects.iter().enumerate() {
        let Kind::Export(export) = &object.kind else {
            continue;
        };
        if export.offer.flags.has_multi_conn() {
            continue;
        }
        let stages = 0..workload.stages.len();
        let connections = stages.map(|stage| writers(workload, targets, stage, index));
        let connections = connections.max();
        if let Some(count) = connections.filter(|count| *count > 1) {
            notes.push(format!(
                "`{}` is written to over {count} connections, and its server does not promise that one sees what another has written (no multi-conn): what is read may be old, and a flush may be of one connection's writes alone",
                object.path
            ));
        }
    }
    notes
}

/// Connections that a stage has to an object, where any of them writes; 0 otherwise.
fn writers(workload: &Workload, targets: &Targets, stage: usize, object: usize) -> u32 {
    let jobs = workload.jobs().zip(&targets.jobs);
    let users = jobs.filter(|((of, _), used)| *of == stage && used.objects.contains(&object));
    let users: Vec<&Job> = users.map(|((_, job), _)| job).collect();
    if users.iter().any(|job| writes(job)) {
        users.iter().map(|job| job.workers).sum()
    } else {
        0
    }
}

/// A connection of a worker to an export.
///
/// # Errors
/// Where there is none, or the server offers something else than before.
pub(crate) fn connect(path: &str, export: &Export) -> Result<File, EngineError> {
    let connected = connect_to_export(&export.uri);
    let NbdExport { socket, offer } = connected.map_err(|error| unreachable(path, &error))?;
    if offer == export.offer {
        return Ok(socket);
    }
    Err(EngineError::Unsupported {
        capability: Capability::Export,
        about: About::Target(path.to_owned()),
        what: format!("target `{path}`"),
        why: "its server offers something else than a moment ago: another size, or other requests"
            .to_owned(),
        remedy: "run again once nobody changes the export".to_owned(),
    })
}

fn unreachable(path: &str, error: &NbdUnreachable) -> EngineError {
    EngineError::Unsupported {
        capability: Capability::Export,
        about: About::Target(path.to_owned()),
        what: format!("a connection to `{path}`"),
        why: error.to_string(),
        remedy: error.remedy().to_owned(),
    }
}

/// The queue of a worker on its connections.
///
/// # Errors
/// Where there is no memory for its buffers, or a connection takes no limit of time.
pub(crate) fn queue<'a>(
    job: &Job,
    (sockets, offers): (Vec<File>, Vec<Offer>),
    (slots, size): (u32, u32),
    is_called_off: impl Fn() -> bool + Send + 'a,
) -> io::Result<NbdQueue<'a>> {
    let exports = sockets.into_iter().zip(offers);
    let exports = exports.map(|(socket, offer)| NbdExport { socket, offer });
    let writes = match job.sync.open {
        OpenSync::None => NbdWrites::Cached,
        OpenSync::Sync | OpenSync::Dsync => NbdWrites::Through,
    };
    let times = [SILENCE_MOST, SILENCE_OF_FLUSH_MOST, SILENCE_AT_END_MOST];
    let silence = Silence::new(times, Box::new(is_called_off));
    NbdQueue::new(exports.collect(), slots, size, writes)?.heeding(silence)
}

/// What is told of each job whose server left so many requests unanswered that the run, which was to end, did not wait for.
pub(crate) fn unanswered_notes(jobs: &[Job], unanswered: &[u64]) -> Vec<String> {
    let left = jobs.iter().zip(unanswered).filter(|(_, count)| **count > 0);
    let note = |(job, count): (&Job, &u64)| {
        let (requests, they, count) = match count {
            1 => ("request", "it counts", "1".to_owned()),
            count => ("requests", "they count", group_digits(*count)),
        };
        format!(
            "job `{}`: the server of its export says nothing any more; {count} {requests} had no answer when the run was to end, and {they} as not done",
            job.name
        )
    };
    left.map(note).collect()
}
