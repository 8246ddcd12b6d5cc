//! Whether what jobs read holds data: reads of holes and unwritten extents never reach the device, and what holds zeroes
//! alone on a device may never have been written.
//!
//! Each stage is looked at before it begins, since jobs before it may have written what it reads. Nothing is said of files
//! that are only written.

use std::collections::BTreeSet;

use fathom_record::{Event, EventSink};
use fathom_units::Percent;
use fathom_workload::Stage;

use crate::run::RunOutcome;
use crate::store::Store;
use crate::targets::{JobTargets, Object, Targets};

/// Share of a target without data that is told of.
const TOLD: f64 = 0.001;

/// What was looked at, so that nothing that cannot have changed is looked at again.
#[derive(Debug, Default)]
pub(crate) struct Holes {
    /// Objects that no job writes, each with a range's offset and length.
    looked: BTreeSet<(usize, u64, u64)>,
}

impl Holes {
    /// Looks at what the jobs of a stage, whose targets are `of_stage`, read. The most that was found of a file is kept for
    /// the checks, and told once.
    pub(crate) fn look(
        &mut self,
        stage: &Stage,
        of_stage: &[JobTargets],
        (targets, store): (&Targets, &Store),
        outcome: &mut RunOutcome,
        sink: &mut dyn EventSink,
    ) {
        let mut seen = BTreeSet::new();
        for (job, of_job) in stage.jobs.iter().zip(of_stage) {
            // Checks read back what was written alone.
            if job.mix.read == Percent::ZERO || job.features.operation.is_some() {
                continue;
            }
            for (index, range) in of_job.objects.iter().zip(&of_job.ranges) {
                let place = (*index, range.offset, range.length);
                let object = &targets.objects[*index];
                let known = if object.written {
                    &mut seen
                } else {
                    &mut self.looked
                };
                if !known.insert(place) {
                    continue;
                }
                if let Some(share) = store.share_without_data(*index, *range) {
                    keep(*index, object, share, outcome, sink);
                }
                if let Some(share) = store.share_of_zeroes(*index, *range) {
                    let known = &mut outcome.facts.targets[*index].zeroes_share;
                    *known = Some(known.unwrap_or_default().max(share));
                }
            }
        }
    }
}

fn keep(
    index: usize,
    object: &Object,
    share: f64,
    outcome: &mut RunOutcome,
    sink: &mut dyn EventSink,
) {
    let known = &mut outcome.facts.targets[index].unwritten_share;
    let is_new = known.is_none_or(|known| known <= TOLD) && share > TOLD;
    *known = Some(known.unwrap_or_default().max(share));
    if !is_new {
        return;
    }
    let text = format!(
        "{:.0} % of `{}` holds no data (holes or unwritten extents): reading there does not reach the device",
        share * 100.0,
        object.path
    );
    sink.event(&Event::Note { text: &text });
    outcome.notes.push(text);
}
