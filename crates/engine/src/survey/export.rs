//! What an NBD server says of an export, or of all that it has.

use std::collections::BTreeMap;

use fathom_nbd::client::Offer;
use fathom_nbd::{Uri, UriError};
use fathom_rawio::{NbdUnreachable, list_exports, look_at_export, survey_export};
use fathom_units::Bytes;
use fathom_workload::Workload;

use crate::{EngineError, Survey, TargetKind, Writing};

/// An export, as its server tells of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportFacts {
    /// The server: its socket, or its host and port.
    pub server: String,
    /// The export's name; empty where it is the server's default.
    pub name: String,
    /// Its size, and what may be asked of it.
    pub offer: Offer,
    /// Whether the server can structure its replies; `None`: it could not be asked.
    pub has_structured_replies: Option<bool>,
    /// The names of the server's exports; asked for where none was named, and empty where they are not told.
    pub others: Vec<String>,
}

/// Asks the server of the export with this URI.
///
/// # Errors
/// [`EngineError::Export`]: there is no such URI, server or export.
pub(super) fn survey(path: &str) -> Result<Survey, EngineError> {
    let uri = Uri::parse(path).map_err(|error| wrong(path, &error))?;
    let server = uri.address.to_string();
    let names = uri.export.is_empty().then(|| list_exports(&uri));
    let of = |kind, writing| Survey {
        path: path.to_owned(),
        kind,
        file_system: None,
        devices: Vec::new(),
        in_memory: None,
        direct: None,
        writing,
    };
    match (survey_export(&uri), names) {
        (Ok((offer, has_structured_replies)), names) => {
            let writing = if offer.flags.is_read_only() {
                Writing::Denied("its server offers it for reading alone".to_owned())
            } else {
                Writing::WithName {
                    name: path.to_owned(),
                    file_system: None,
                }
            };
            let facts = ExportFacts {
                server,
                name: uri.export.clone(),
                offer,
                has_structured_replies,
                others: names.and_then(Result::ok).unwrap_or_default(),
            };
            Ok(of(TargetKind::Export(Box::new(facts)), writing))
        }
        // It has no default; what it has is told instead.
        (Err(_), Some(Ok(names))) if !names.is_empty() => {
            let writing = Writing::Denied("no export is named".to_owned());
            Ok(of(TargetKind::NbdServer { server, names }, writing))
        }
        (Err(error), _) => Err(unreachable(path, &error)),
    }
}

/// The size of the export with this URI, as its server says; `None` where there is none, or its server does not answer.
pub fn export_size(path: &str) -> Option<Bytes> {
    let offer = look_at_export(&Uri::parse(path).ok()?).ok()?;
    Some(Bytes::new(offer.size))
}

/// Gives the exports of a workload for which it has no size all that their servers say. Those that do not answer stay as they
/// are.
pub fn size_exports(workload: &mut Workload) {
    let mut known: BTreeMap<String, Option<Bytes>> = BTreeMap::new();
    let jobs = workload.stages.iter_mut().flat_map(|stage| &mut stage.jobs);
    let targets = jobs.flat_map(|job| &mut job.targets);
    for target in targets.filter(|it| it.length.is_none() && it.place.is_export()) {
        let path = target.place.path();
        let size = known
            .entry(path.to_owned())
            .or_insert_with(|| export_size(path));
        target.length = size.map(|size| size.saturating_sub(target.offset));
    }
}

fn wrong(path: &str, error: &UriError) -> EngineError {
    EngineError::Export {
        uri: path.to_owned(),
        why: error.to_string(),
        remedy: error.remedy(),
    }
}

fn unreachable(path: &str, error: &NbdUnreachable) -> EngineError {
    EngineError::Export {
        uri: path.to_owned(),
        why: error.to_string(),
        remedy: error.remedy(),
    }
}
