//! Exports of NBD servers as targets: what their servers offer, what of a job they refuse, and connections to them.
//!
//! A server is asked once before the run, so that all that it refuses is known before anything is written; each worker then
//! has a connection of its own, on which the same must be offered.

use std::fs::File;
use std::io;

use fathom_nbd::Uri;
use fathom_nbd::client::Offer;
use fathom_rawio::{
    NbdExport, NbdQueue, NbdUnreachable, NbdWrites, connect_to_export, look_at_export,
};
use fathom_units::Bytes;
use fathom_workload::{Backend, Job, OpenSync, Target, unknown_to_exports};

use crate::EngineError;
use crate::complaints::Complaint;

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
    let offer = offer.map_err(|error| Complaint::new(error.to_string()).hint(error.remedy()))?;
    Ok(Export { uri, offer })
}

/// Holds a job's I/O against what the server takes.
///
/// # Errors
/// What it does not.
pub(crate) fn check(job: &Job, target: &Target, export: &Export) -> Result<(), Complaint> {
    if let Some((_, what)) = unknown_to_exports(job).next() {
        let problem = format!("it is an export of an NBD server, which does not know {what}");
        return Err(Complaint::new(problem).hint("leave that out, or use a file or a block device"));
    }
    let Offer { flags, blocks, .. } = export.offer;
    let writes = job.mix.changes_data();
    if writes && flags.is_read_only() {
        let problem = Complaint::new("its server offers it for reading alone, and the job writes");
        return Err(problem.hint("only read it, or let the server offer it for writing"));
    }
    if writes && job.sync.open != OpenSync::None && !flags.has_fua() {
        let problem = "its server has no writes that are durable when they are answered (FUA), which the job asks for";
        let hint = "leave `open` out of the job's `sync` (fio: `sync`), or ask for a flush after each write (`fsync = 1`)";
        return Err(Complaint::new(problem).hint(hint));
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
        what: format!("target `{path}`"),
        why: "its server offers something else than a moment ago: another size, or other requests"
            .to_owned(),
        remedy: "run again once nobody changes the export".to_owned(),
    })
}

fn unreachable(path: &str, error: &NbdUnreachable) -> EngineError {
    EngineError::Unsupported {
        what: format!("a connection to `{path}`"),
        why: error.to_string(),
        remedy: error.remedy().to_owned(),
    }
}

/// The queue of a worker on its connections.
///
/// # Errors
/// Where there is no memory for its buffers.
pub(crate) fn queue(
    job: &Job,
    (sockets, offers): (Vec<File>, Vec<Offer>),
    slots: u32,
    size: u32,
) -> io::Result<NbdQueue> {
    let exports = sockets.into_iter().zip(offers);
    let exports = exports.map(|(socket, offer)| NbdExport { socket, offer });
    let writes = match job.sync.open {
        OpenSync::None => NbdWrites::Cached,
        OpenSync::Sync | OpenSync::Dsync => NbdWrites::Through,
    };
    NbdQueue::new(exports.collect(), slots, size, writes)
}
