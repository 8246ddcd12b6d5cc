//! Sizes of I/O that fit into a job's files.
//!
//! fio draws a size again for as long as it leads past the end of a file, so that sizes larger than the file never come.

use std::borrow::Cow;

use fathom_diagnostics::{Diagnostic, Diagnostics};
use fathom_units::Bytes;
use fathom_workload::Target;

use super::job::block_range;
use super::settings::Settings;

/// The settings of the job `name` with the sizes that fit into the shortest file, and a warning where others were left out.
/// Where none fits, or where nothing is known of the files, they are as given.
pub fn fitting<'a>(
    settings: &'a Settings,
    name: &str,
    targets: &[Target],
    diagnostics: &mut Diagnostics,
) -> Cow<'a, Settings> {
    let shortest = targets.iter().filter_map(|target| target.length).min();
    let used = || (0..3).filter(|way| settings.pattern.directions[*way]);
    let range = block_range(settings);
    let shortest = shortest.map(Bytes::get).filter(|shortest| {
        let leaves_some_out = |way: usize| (range[way].0..range[way].1).contains(shortest);
        used().any(leaves_some_out) && used().all(|way| draws_any(settings, way, *shortest))
    });
    let Some(shortest) = shortest else {
        return Cow::Borrowed(settings);
    };
    let largest = Bytes::new(shortest);
    let warning = Diagnostic::warning(format!(
        "job `{name}`: sizes of I/O above {largest} do not fit into its files: they never come"
    ));
    diagnostics.push(warning.hint("raise size= or filesize=, or leave them out"));
    let mut fitting = settings.clone();
    for way in used() {
        fitting.splits[way].retain(|(size, _)| *size <= shortest);
        if let Some((_, most)) = &mut fitting.placement.ranges[way] {
            *most = (*most).min(shortest);
        }
    }
    Cow::Owned(fitting)
}

/// Whether a direction ever draws a size of at most `most`: those without a share never come.
fn draws_any(settings: &Settings, way: usize, most: u64) -> bool {
    let split = &settings.splits[way];
    if split.is_empty() {
        return block_range(settings)[way].0 <= most;
    }
    split
        .iter()
        .any(|(size, share)| *share > 0 && *size <= most)
}
