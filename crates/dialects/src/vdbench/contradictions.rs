//! What contradicts itself in the workload, told where its section stands in the files.
//!
//! A section that many runs use is told of once.

use std::collections::BTreeSet;

use fathom_workload::{Contradiction, Workload};

use super::build::Built;
use super::run::{Run, RunKind};
use super::source::{At, Complaints, Sources};

/// Most that are told.
const TOLD_MAX: usize = 20;

/// Adds to `complaints` what contradicts itself.
pub(super) fn tell(
    built: &Built,
    (runs, workload): (&[Run], &Workload),
    (sources, complaints): (&Sources, &mut Complaints),
) {
    let mut told = BTreeSet::new();
    for found in fathom_workload::contradictions(workload) {
        if told.len() >= TOLD_MAX {
            return;
        }
        let Some((section, at)) = section(built, runs, &found) else {
            if told.insert(found.diagnostic.message.clone()) {
                complaints.plain(found.diagnostic);
            }
            continue;
        };
        let message = format!("{section}: {}", found.message);
        if told.insert(message.clone()) {
            complaints.error(sources, at, message, found.hint);
        }
    }
}

/// The section that it comes from: what the job works on, or its RD.
fn section(built: &Built, runs: &[Run], found: &Contradiction) -> Option<(String, At)> {
    let run = runs.iter().find(|run| Some(run.stage) == found.stage)?;
    let job = found.job.and_then(|job| run.jobs.get(job));
    let storage = job.filter(|_| found.is_of_target);
    let of_storage = storage.and_then(|job| {
        if run.kind == RunKind::FileSystem {
            let fsd = built.fsds.get(job.sd)?;
            return Some((format!("fsd={}", fsd.name), fsd.at));
        }
        let sd = built.sds.get(job.sd)?;
        Some((format!("sd={}", sd.name), sd.at))
    });
    of_storage.or_else(|| {
        let rd = built.rds.get(run.rd?)?;
        Some((format!("rd={}", rd.name), rd.at))
    })
}
