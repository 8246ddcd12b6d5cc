//! Passes that begin with their files once more.

use fathom_units::Nanos;
use fathom_workload::Backend;

use super::engine::backend;
use super::settings::{Amount, Settings};

/// Whether fio closes the files and begins with them again: it does so for each of `loops`, and while time or more `io_size`
/// than a pass has is left. Where it goes on in the same files (in order, a mixed job does) there is nothing to be removed in
/// between.
pub fn opens_again(settings: &Settings) -> bool {
    let files = settings.listed_files.unwrap_or(settings.file_count);
    let one_file = files == 1 && settings.control.open_directory.is_none();
    if settings.time_based && settings.runtime > Nanos::ZERO {
        return !one_file;
    }
    let [reads, writes, _] = settings.pattern.directions;
    let goes_on = match (settings.io_size, settings.size) {
        (Amount::Unset | Amount::Percent(_), _) => false,
        (Amount::Bytes(more), Amount::Bytes(pass)) if more <= pass => false,
        (Amount::Bytes(_), _) => settings.pattern.random || !(reads && writes),
    };
    settings.loops > 1 || goes_on
}

/// Whether each pass writes files of its own (`unlink_each_loop`). A pass that reads needs files that hold something, and one
/// that is checked those that it wrote.
pub fn makes_anew(settings: &Settings) -> bool {
    let [reads, _, trims] = settings.pattern.directions;
    let by_time = settings.time_based && settings.runtime > Nanos::ZERO;
    let control = &settings.control;
    control.refused_at_run.contains_key("unlink_each_loop")
        && opens_again(settings)
        && !(reads || trims || by_time)
        && !settings.placement.append
        && settings.verify.kind().is_none()
        && control.handling.sync_range.is_none()
        && !matches!(
            backend(settings),
            Backend::Mmap | Backend::Nbd | Backend::Null
        )
}
