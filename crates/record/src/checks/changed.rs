//! Whether what was measured is what was there at the start.

use super::{Evidence, check};
use crate::Check;

/// How many changes are told one by one.
const MOST_TOLD: usize = 3;

/// Whatever another size, scheduler or cache comes to, the figures are those of neither.
pub(super) fn device_changed(evidence: &Evidence<'_>) -> Check {
    let looked_at = evidence
        .targets
        .iter()
        .filter_map(|target| target.changes.as_ref());
    let is_known = looked_at.clone().next().is_some();
    let changes: Vec<&str> = looked_at.flatten().map(String::as_str).collect();
    let told = changes[..changes.len().min(MOST_TOLD)].join("; ");
    let finding = match changes.len() {
        0 => None,
        count if count > MOST_TOLD => Some(format!("{told}; {} more", count - MOST_TOLD)),
        _ => Some(told),
    };
    let silent = if is_known {
        "files, file systems and devices were after the run as before it"
    } else {
        "not judged: no file or device of the run is known"
    };
    check(
        "device-changed",
        finding,
        silent,
        "find who changed it (a resize, a service that sets devices, a fail-over), and run again: figures of two states are mixed",
    )
}
