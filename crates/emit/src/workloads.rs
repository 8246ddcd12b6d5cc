//! The need as a workload of a peer, to verify the real thing with.

use fathom_convert::{Dialect, convert};
use fathom_workload::native;

use crate::Script;
use crate::build::Build;

/// The need of one machine in a dialect's words.
pub fn text(build: &Build<'_>, dialect: Dialect) -> Result<Script, String> {
    let own = build.offer.workload_of(&build.plan.need, 1);
    let (workload, _) = native::read(&own, "the planned workload")
        .map_err(|found| format!("the planned workload cannot be read: {found}"))?;
    let converted = convert(&workload, dialect, &build.app);
    let mut notes: Vec<String> = converted.losses.iter().map(ToString::to_string).collect();
    if build.machines.len() > 1 {
        notes.push(format!(
            "note: this is the part of the first of {} machines: run it on all of them at once, with `fathom-1-` in the \
             files' names replaced by each machine's number",
            build.machines.len()
        ));
    }
    Ok(Script {
        text: converted.text,
        notes,
    })
}
