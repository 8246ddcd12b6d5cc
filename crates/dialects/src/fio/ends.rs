//! Where jobs leave the ends of their files, for the jobs that stand behind them.
//!
//! fio looks at the files of all jobs in their order before the first begins. By then a file has the size that laying it out,
//! or reserving its space, gave it for the jobs before.

use std::collections::BTreeMap;

use fathom_workload::{Backend, FileOperation, Growth, Job, Reserve};

use super::settings::{Amount, Settings};

/// Where `jobs` leave the ends of their files, by path; none where that makes no difference to a job of `settings`.
///
/// A job of all there is (`size=100%`) takes a file that a writer before it only makes longer for as long as that one's part is:
/// fio refuses it, having looked before there was a file.
pub fn ends<'a>(settings: &Settings, jobs: impl Iterator<Item = &'a Job>) -> BTreeMap<String, u64> {
    let mut ends = BTreeMap::new();
    let takes_all = settings.size == Amount::Percent(100) && settings.file_size.is_none();
    let is_sized = heeds_size(settings) && !takes_all;
    let is_placed = heeds_place(settings);
    for target in jobs
        .filter(|job| is_sized && gives_size(job) || is_placed && !is_sized)
        .flat_map(|job| &job.targets)
    {
        // What uses all there is leaves it as it is.
        let end = target.length.map_or(0, |it| target.offset.get() + it.get());
        if end > 0 {
            let known: &mut u64 = ends.entry(target.place.path().to_owned()).or_default();
            *known = end.max(*known);
        }
    }
    ends
}

/// Whether a job uses files as long as they are, or only such as are long enough.
fn heeds_size(settings: &Settings) -> bool {
    let takes_found = !matches!(settings.size, Amount::Bytes(_)) && settings.file_size.is_none();
    takes_found || settings.control.handling.must_exist
}

/// Whether a job appends to its files, or begins or ends at a share of them.
fn heeds_place(settings: &Settings) -> bool {
    let amounts = [settings.size, settings.offset, settings.offset_increment];
    settings.placement.append || amounts.iter().any(|it| matches!(it, Amount::Percent(_)))
}

/// Whether the files of a job have their size before the first I/O.
fn gives_size(job: &Job) -> bool {
    let features = &job.features;
    let grows = match features.files.grows {
        // What is mapped does not grow.
        Growth::Reserved(Reserve::Nothing | Reserve::KeepSize) => job.backend != Backend::Mmap,
        _ => false,
    };
    let has_files =
        job.backend.opens_files() && !features.operation.is_some_and(FileOperation::is_of_names);
    has_files && !grows && !features.errors.full_ends
}
