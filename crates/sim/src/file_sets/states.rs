//! What is there of each file set while a workload is predicted.

use std::collections::BTreeMap;
use std::sync::Arc;

use fathom_model::VolumeId;
use fathom_workload::generator::SetState;
use fathom_workload::{FileSet, FileTask};

/// The sets of a workload, from stage to stage.
#[derive(Debug, Default)]
pub(crate) struct SetStates(BTreeMap<(VolumeId, FileSet), Arc<SetState>>);

impl SetStates {
    /// What is there of a set when a job with this task begins. As a prediction takes files as existing in full, so it does
    /// sets, but for those that the workload makes first.
    pub fn of(&mut self, volume: VolumeId, set: &FileSet, task: FileTask) -> Arc<SetState> {
        let known = self.0.entry((volume, set.clone()));
        let state = known.or_insert_with(|| {
            let state = SetState::new(set);
            if !matches!(task, FileTask::Format(_) | FileTask::MakeDirectory) {
                state.fill();
            }
            Arc::new(state)
        });
        state.begin_stage();
        Arc::clone(state)
    }
}
