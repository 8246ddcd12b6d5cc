//! Sizes of I/O that fit into a job's files.
//!
//! fio draws a size again for as long as it leads past the end of a file, so that sizes larger than the file never come.

use std::borrow::Cow;

use fathom_diagnostics::{Diagnostic, Diagnostics};
use fathom_units::Bytes;
use fathom_workload::{Distribution, Target};

use super::blocks::{block_range, smallest_block};
use super::errno::EINVAL;
use super::late::Complaints;
use super::settings::{Amount, Settings};
use super::targets::share;

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

/// Complains of an `io_size` in percent of `targets` that no block of the job `name` fits into, as fio does; one in bytes is good
/// for one I/O there, and so it is here. `None` after an error.
pub fn check_share(
    settings: &Settings,
    name: &str,
    targets: &[Target],
    diagnostics: &mut Complaints<'_>,
) -> Option<()> {
    let Amount::Percent(percent @ 1..=99) = settings.io_size else {
        return Some(());
    };
    let lengths: Option<Vec<_>> = targets.iter().map(|target| target.length).collect();
    let Some(lengths) = lengths else {
        return Some(());
    };
    let shares = lengths.iter().map(|length| share(length.get(), percent));
    let all = shares.fold(0, u64::saturating_add);
    let block = smallest_block(settings);
    if all >= block {
        return Some(());
    }
    let (all, block) = (Bytes::new(all), Bytes::new(block));
    let message =
        format!("job `{name}`: {percent}% of its files is {all}, less than one block of {block}");
    let error = Diagnostic::error(message).hint("raise io_size= or size=, or lower bs=");
    let error = match settings.location("io_size") {
        Some(location) => error.at(location),
        None => error,
    };
    diagnostics.late(EINVAL, error);
    None
}

/// Complains of a block that the job `name` is to go to (`random_distribution=sequence:`) and that one of `targets` does not
/// have, as fio's development branch does when its job gets there. `None` after an error.
pub fn check_sequence(
    settings: &Settings,
    name: &str,
    targets: &[Target],
    diagnostics: &mut Complaints<'_>,
) -> Option<()> {
    let shortest = targets.iter().filter_map(|target| target.length).min();
    let Some(shortest) = shortest.filter(|_| settings.pattern.random) else {
        return Some(());
    };
    let range = block_range(settings);
    let used = (0..3).filter(|way| settings.pattern.directions[*way]);
    let mut outside = used.filter_map(|way| {
        let Distribution::Sequence { blocks, .. } = &settings.placement.distribution[way] else {
            return None;
        };
        let there = shortest.get() / range[way].0.max(1);
        let largest = blocks.iter().copied().max()?;
        (u64::from(largest) >= there).then_some((largest, there))
    });
    let Some((largest, there)) = outside.next() else {
        return Some(());
    };
    let message = format!("job `{name}`: there is no block {largest} in {shortest}");
    let hint = format!("blocks are counted from 0 to {}", there.saturating_sub(1));
    let error = Diagnostic::error(message).hint(hint);
    let error = match settings.location("random_distribution") {
        Some(location) => error.at(location),
        None => error,
    };
    diagnostics.late(EINVAL, error);
    None
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
