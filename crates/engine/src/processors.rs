//! Processors that a job names: whether this machine has them.
//!
//! The kernel takes a list of which a single one is there and says nothing of the others. A job that is to run on one that
//! this machine does not have is told so before anything is written, as fio tells it.

use std::path::Path;

use fathom_workload::Job;

use crate::{About, Capability, EngineError};

/// Where the kernel has a directory for each processor, running or not.
const ALL: &str = "/sys/devices/system/cpu";

/// Looks whether this machine has the processors that a job names.
///
/// # Errors
/// [`EngineError::Unsupported`] where it has not.
pub(crate) fn check(job: &Job) -> Result<(), EngineError> {
    let named = &job.features.process.processors;
    let is_there = |number: u32| Path::new(ALL).join(format!("cpu{number}")).exists();
    // Where the kernel does not tell, it says no as a worker is put there.
    let tells = is_there(0);
    match named.iter().find(|number| tells && !is_there(**number)) {
        None => Ok(()),
        Some(missing) => Err(EngineError::Unsupported {
            capability: Capability::Processors,
            about: About::Job(job.name.clone()),
            what: format!("job `{}`: running on the processors {named:?}", job.name),
            why: format!("processor {missing} is not there"),
            remedy: format!(
                "leave it out, or name processors that are there; {ALL}/present lists those of this machine"
            ),
        }),
    }
}
