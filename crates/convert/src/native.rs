//! Writing of Fathom's own file, which says everything.

use fathom_workload::{Workload, native};

use crate::loss::{Loss, Place, Weight};
use crate::{Converted, Origin};

/// The workload as a native file.
pub fn convert(workload: &Workload, origin: Origin<'_>) -> Converted {
    let (workload, losses) = named(workload);
    let text = format!(
        "{}\n{}",
        crate::back::header("#", origin, &losses),
        native::write(&workload)
    );
    Converted { text, losses }
}

/// The workload with a name for each job: fio takes sections without one, and a native file does not.
fn named(workload: &Workload) -> (Workload, Vec<Loss>) {
    let mut workload = workload.clone();
    let mut losses = Vec::new();
    let jobs = workload.stages.iter_mut().flat_map(|stage| &mut stage.jobs);
    for (number, job) in (1..).zip(jobs) {
        if job.name.trim().is_empty() {
            let name = format!("job {number}");
            losses.push(Loss {
                weight: Weight::Differs,
                place: Place::Jobs(vec![name.clone()]),
                key: "name".to_owned(),
                message: "it had no name, and takes this one".to_owned(),
            });
            job.name = name;
        }
    }
    (workload, losses)
}
