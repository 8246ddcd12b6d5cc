//! The need as a workload of a peer, to verify the real thing with.

use fathom_convert::{Dialect, Origin, write};
use fathom_workload::{Place, Workload, native};

use crate::Script;
use crate::build::Build;

/// The need of one machine in a dialect's words.
pub fn text(build: &Build<'_>, dialect: Dialect) -> Result<Script, String> {
    let own = build.offer.workload_of(&build.plan.need, 1);
    let (mut workload, _) = native::read(&own, "the planned workload")
        .map_err(|found| format!("the planned workload cannot be read: {found}"))?;
    if dialect == Dialect::Diskspd {
        on_drives(&mut workload, build)?;
    }
    let origin = Origin {
        verb: "`fathom plan` for",
        source: &build.app,
        beyond: &[],
    };
    let converted = write(&workload, dialect, origin);
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

/// Puts the targets on the drives that the script for Windows makes.
fn on_drives(workload: &mut Workload, build: &Build<'_>) -> Result<(), String> {
    let drives = build.drives();
    let jobs = workload.stages.iter_mut().flat_map(|stage| &mut stage.jobs);
    for target in jobs.flat_map(|job| &mut job.targets) {
        let Place::Path(path) = &target.place else {
            continue;
        };
        let on_drive = drives.iter().find_map(|(mount, letter)| {
            let file = path.strip_prefix(mount.as_str())?.strip_prefix('/')?;
            Some(format!("{letter}:\\{file}"))
        });
        let on_drive = on_drive.ok_or_else(|| {
            format!("`{path}` is on a volume over NFS, which the design does not mount on Windows: choose fio or vdbench")
        })?;
        target.place = Place::Path(on_drive);
    }
    Ok(())
}
