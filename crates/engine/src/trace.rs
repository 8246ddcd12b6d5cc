//! Whether a trace that a job replays fits the job.
//!
//! The write guard judges a job's targets, and buffers are as large as its blocks: a trace that names more files, goes
//! other ways or moves larger blocks than its job says is refused before anything is written.

use std::fs::File;
use std::io::BufReader;

use fathom_diagnostics::{Diagnostic, Diagnostics};
use fathom_workload::trace::{TraceReader, TraceSummary};
use fathom_workload::{Direction, Job, Replay};

/// Adds to `problems` what of the job's trace does not fit.
pub(crate) fn check(job: &Job, problems: &mut Diagnostics) {
    let Some(replay) = &job.features.replay else {
        return;
    };
    let mut complain = |what: String, hint: &str| {
        let text = format!("job `{}`: trace `{}`: {what}", job.name, replay.path);
        problems.push(Diagnostic::error(text).hint(hint));
    };
    let summary = match summary(replay) {
        Ok(summary) => summary,
        Err(what) => return complain(what, "name a trace that can be read"),
    };
    let (files, targets) = (summary.files.len(), job.targets.len());
    if !replay.redirected && files > targets {
        let what = format!("it names {files} files, but the job has {targets} targets");
        complain(
            what,
            "name its files as targets, in the order in which it names them",
        );
    }
    for way in Direction::ALL {
        let largest = summary.largest[way as usize];
        if largest == 0 {
            continue;
        }
        if job.mix.share(way).basis_points() == 0 {
            let what = format!("it has {}s, which the job's mix leaves out", way.name());
            complain(what, "give them a share of the mix, or skip them");
        }
        let sizes = job.block.of(way).iter().map(|entry| entry.size.get());
        let most = sizes.max().unwrap_or(0);
        // Trims take no buffer.
        if way != Direction::Trim && u64::from(largest) > most {
            let what = format!(
                "its largest {} has {largest} bytes, but the job's blocks at most {most}",
                way.name()
            );
            complain(what, "make the job's block as large");
        }
    }
}

fn summary(replay: &Replay) -> Result<TraceSummary, String> {
    let file = File::open(&replay.path).map_err(|error| error.to_string())?;
    let trace = TraceReader::new(Box::new(BufReader::new(file)));
    let summary = trace.and_then(|trace| TraceSummary::of(trace, replay));
    summary.map_err(|error| error.to_string())
}
