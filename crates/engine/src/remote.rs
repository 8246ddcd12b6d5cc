//! Targets on network storage that is not reached from here: `smb://` and `nfs://`.
//!
//! A path of that form would be a file below a directory called `smb:`, which nobody means.

use fathom_workload::{Backend, Job};

use crate::{About, Capability, EngineError};

/// What is meant as storage, and what is mounted in its place.
const SCHEMES: [(&str, &str); 3] = [
    ("smb://", "share"),
    ("cifs://", "share"),
    ("nfs://", "volume"),
];

/// Looks whether all targets of a job can be reached.
///
/// # Errors
/// [`EngineError::Unsupported`] where one is the address of a share over SMB or of a volume over NFS.
pub(crate) fn check(job: &Job) -> Result<(), EngineError> {
    if job.backend == Backend::Null {
        return Ok(());
    }
    for target in &job.targets {
        let path = target.place.path();
        let found = SCHEMES.iter().find(|(scheme, _)| path.starts_with(scheme));
        if let Some((scheme, what)) = found {
            return Err(EngineError::Unsupported {
                capability: Capability::RemoteTarget,
                about: About::Job(job.name.clone()),
                what: format!("job `{}`: target `{path}`", job.name),
                why: format!("`{scheme}` targets are not built yet"),
                remedy: format!(
                    "mount the {what} and name a file or directory of it; `fathom predict` has {what}s of its design"
                ),
            });
        }
    }
    Ok(())
}
