//! What stands before all sections: how written data compresses and repeats, whether directories are made, and whether SDs are
//! joined.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use fathom_units::Bytes;
use fathom_workload::{Dedupe, DedupeFrom, Filling, Job, Workload};

use super::joined::is_joined;
use super::size;

/// Largest ratio that Vdbench takes.
const RATIO_MAX: f64 = 100.0;

/// General parameters.
#[derive(Debug, Default)]
pub(super) struct General {
    /// Percent of a buffer that compresses to nothing.
    compress: u8,
    dedupe: Option<Dedupe>,
    unit: Option<Bytes>,
    create_anchors: bool,
    /// Whether the SDs of each workload are one.
    pub(super) joined: bool,
    /// Paths that some job writes to.
    written: BTreeSet<String>,
}

impl General {
    /// Those of a workload in its normal form: what its first writing job has; runs may compress otherwise.
    pub(super) fn of(workload: &Workload) -> Self {
        let jobs = || workload.jobs().map(|(_, job)| job);
        let writing = jobs().find(|job| job.mix.changes_data());
        let create_anchors = jobs().any(|job| {
            let of_sets = job.targets.iter().any(|it| it.place.file_set().is_some());
            of_sets && job.features.files.make_parents
        });
        let joined = jobs().any(is_joined);
        let changing = jobs().filter(|job| job.mix.changes_data());
        let paths = changing.flat_map(|job| job.targets.iter().map(|it| it.place.path()));
        let written: BTreeSet<_> = paths.map(str::to_owned).collect();
        let Some(Filling {
            // A pattern is a file of its own; what is left shows when the text is read back.
            pattern: _,
            anywhere: _,
            compress,
            chunk,
            dedupe,
        }) = writing.and_then(|job| job.features.filling.as_deref())
        else {
            return Self {
                create_anchors,
                joined,
                written,
                ..Self::default()
            };
        };
        Self {
            compress: *compress,
            dedupe: *dedupe,
            unit: *chunk,
            create_anchors,
            joined,
            written,
        }
    }

    /// Whether a job has a target that no job writes to.
    pub(super) fn is_only_read(&self, job: &Job) -> bool {
        let mut paths = job.targets.iter().map(|it| it.place.path());
        paths.any(|path| !self.written.contains(path))
    }

    /// The lines.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        if self.compress > 0 {
            let _ = writeln!(text, "compratio={}", ratio(self.compress));
        }
        if let Some(Dedupe { percent, from }) = self.dedupe {
            let _ = writeln!(text, "dedupratio={}", ratio(percent));
            if let DedupeFrom::WorkingSet { percent, .. } = from {
                let _ = writeln!(text, "dedupsets={percent}%");
            }
        }
        if let Some(unit) = self.unit {
            let _ = writeln!(text, "dedupunit={}", size(unit.get()));
        }
        if self.create_anchors {
            text.push_str("create_anchors=yes\n");
        }
        if self.joined {
            text.push_str("concatenatesds=yes\n");
        }
        text
    }

    /// How a run compresses, where all its writing jobs do so otherwise.
    pub(super) fn of_run(&self, jobs: &[(usize, &Job)]) -> String {
        let compress = |job: &Job| job.features.filling.as_ref().map_or(0, |own| own.compress);
        let writing = jobs.iter().filter(|(_, job)| job.mix.changes_data());
        let mut all: Vec<u8> = writing.map(|(_, job)| compress(job)).collect();
        all.dedup();
        match all.as_slice() {
            [own] if *own != self.compress => format!(",compratio={}", ratio(*own)),
            _ => String::new(),
        }
    }
}

/// The factor by which data becomes smaller where so many percent of it go, with decimals enough to be read as these.
fn ratio(percent: u8) -> f64 {
    let exact = 100.0 / f64::from(100 - percent.min(99));
    ((exact * 10_000.0).round() / 10_000.0).min(RATIO_MAX)
}
