//! What written data is like: `compratio=`, `dedupratio=` and `pattern=`.

use fathom_units::Bytes;
use fathom_workload::{Dedupe, DedupeFrom, Filling, FormatAt, Pattern};

use super::sections::General;
use super::source::{Complaints, Sources};
use crate::fio::Files;

/// Percent of different blocks that duplicates are of, where `dedupsets=` is not given.
const DEDUPE_SETS: u8 = 5;

/// Percent of a buffer that has to compress to nothing, for the whole to compress by a factor.
pub(super) fn compressible(ratio: f64) -> u8 {
    ((1.0 - 1.0 / ratio.max(1.0)) * 100.0).round() as u8
}

/// What buffers hold; `None`: random bytes alone.
pub(super) fn filling(
    general: &General,
    files: &dyn Files,
    (sources, complaints): (&Sources, &mut Complaints),
) -> Option<Filling> {
    let pattern = general
        .pattern
        .as_ref()
        .and_then(|path| match files.read_bytes(path) {
            Ok(bytes) => {
                let pattern = Pattern::new(bytes, Vec::<FormatAt>::new());
                if pattern.is_none() {
                    let message =
                        format!("`pattern={path}`: the file is empty, or larger than 1 MiB");
                    complaints.error(sources, general.pattern_at, message, "give 1 byte to 1 MiB");
                }
                pattern
            }
            Err(error) => {
                let message = format!("`pattern={path}` cannot be read: {error}");
                let hint = "name a file that is there";
                complaints.error(sources, general.pattern_at, message, hint);
                None
            }
        });
    let compress = general.compratio.map_or(0, compressible);
    let duplicates = general.dedupratio.filter(|ratio| *ratio > 1.0);
    let sets = general
        .dedupsets
        .as_deref()
        .and_then(|text| text.strip_suffix('%')?.parse::<u8>().ok());
    let dedupe = duplicates.map(|ratio| Dedupe {
        percent: compressible(ratio).clamp(1, 100),
        from: DedupeFrom::WorkingSet {
            percent: sets.unwrap_or(DEDUPE_SETS).clamp(1, 100),
            global: true,
        },
    });
    let plain = pattern.is_none() && compress == 0 && dedupe.is_none();
    (!plain).then(|| Filling {
        anywhere: false,
        pattern,
        compress,
        chunk: general.dedupunit.map(Bytes::new),
        dedupe,
    })
}
