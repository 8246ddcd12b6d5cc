//! The directions that a job goes, and what each has of it.

use fathom_units::Percent;
use fathom_workload::Mix;

use super::engine::is_of_names;
use super::settings::Settings;

/// Whether the job writes or trims.
pub fn changes_data(settings: &Settings) -> bool {
    settings.pattern.directions[1] || settings.pattern.directions[2]
}

/// The directions that a job goes: a mixed one whose share is all or nothing goes one of them alone.
pub fn goes(settings: &Settings) -> [bool; 3] {
    match (settings.pattern.directions, settings.read_share) {
        ([true, true, trims], 100..) => [true, false, trims],
        ([true, true, trims], 0) => [false, true, trims],
        (directions, _) => directions,
    }
}

/// The shares of reads, writes and trims.
pub fn mix(settings: &Settings) -> Mix {
    match settings.pattern.directions {
        [true, true, _] => Mix::reads(Percent::whole(settings.read_share).unwrap_or(Percent::ALL)),
        // A name gets one operation, not a pair.
        [false, true, true] if is_of_names(settings) => Mix::WRITE,
        // Each block is trimmed once and written once.
        [false, true, true] => {
            let half = Percent::whole(50).unwrap_or(Percent::ALL);
            Mix {
                read: Percent::ZERO,
                write: half,
                trim: half.rest(),
            }
        }
        [false, true, false] => Mix::WRITE,
        [_, _, true] => Mix::TRIM,
        _ => Mix::READ,
    }
}

/// Rates by direction as fio keeps them: where each block is trimmed, then written, trims go as their writes do.
pub fn kept(settings: &Settings, rates: [u64; 3]) -> [u64; 3] {
    if settings.pattern.pairs {
        [0, rates[1], rates[1]]
    } else {
        rates
    }
}
