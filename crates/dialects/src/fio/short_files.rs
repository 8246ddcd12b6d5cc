//! Files that are too short for a job's I/O.
//!
//! Where no option says how long files are to be, they are taken as they are. fio does nothing to one that no block fits into, as
//! long as others hold more, and draws none of the sizes that lead past the end of one.

use fathom_diagnostics::{Diagnostic, Diagnostics};
use fathom_units::Bytes;
use fathom_workload::Target;

use super::blocks::block_range;
use super::settings::{Amount, Settings};

/// The targets of the job `name` that a block fits into, and a warning where others are left out; all of them where none is long
/// enough. `held` has how much each file holds that is there.
///
/// Those that not all sizes fit into have a length, which [`super::fitting`] goes by.
pub fn long_enough(
    settings: &Settings,
    name: &str,
    mut targets: Vec<Target>,
    held: &[Option<u64>],
    diagnostics: &mut Diagnostics,
) -> Vec<Target> {
    let are_made_longer = settings.file_size.is_some() || matches!(settings.size, Amount::Bytes(_));
    if are_made_longer || settings.placement.append {
        return targets;
    }
    let range = block_range(settings);
    let used = || (0..3).filter(|way| settings.pattern.directions[*way]);
    let least = used().map(|way| range[way].0).max().unwrap_or(1);
    let most = used().map(|way| range[way].1).max().unwrap_or(1);
    // An offset past the end is an error in fio too.
    let part = |(target, held): (&Target, &Option<u64>)| {
        let rest = held.and_then(|held| held.checked_sub(target.offset.get()))?;
        Some(target.length.map_or(rest, Bytes::get))
    };
    let parts: Vec<Option<u64>> = targets.iter().zip(held).map(part).collect();
    let is_short = |part: &Option<u64>| part.is_some_and(|part| part < least);
    if parts.iter().all(is_short) {
        return targets;
    }
    for (target, part) in targets.iter_mut().zip(&parts) {
        if let Some(part) = part.filter(|part| *part < most) {
            target.length = Some(Bytes::new(part));
        }
    }
    let (short, long): (Vec<_>, Vec<_>) =
        (targets.into_iter().zip(&parts)).partition(|(_, part)| is_short(part));
    if let [(first, _), more @ ..] = &short[..] {
        let path = first.place.path();
        let others = match more.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let block = Bytes::new(least);
        let warning = format!(
            "job `{name}`: files that no block of {block} fits into are left as found: `{path}`{others}"
        );
        let hint = "lower bs=, give size= or filesize=, or name other files";
        diagnostics.push(Diagnostic::warning(warning).hint(hint));
    }
    long.into_iter().map(|(target, _)| target).collect()
}
