//! How pairs of a trim and the write of the same block count (`trimwrite`, `randtrimwrite`).
//!
//! fio's limits count them in three ways: `size` and `io_size` of all passes end a job by its writes alone, a pass of an engine
//! that queues its I/Os ends by trims and writes together, and `number_ios` is the number of pairs. What ends a pass at the end
//! of the files needs none of these.

use fathom_units::Bytes;
use fathom_workload::Target;

use super::passes::{Extent, skips, time_based, used_blocks};
use super::placement::{is_independent, is_never_random};
use super::settings::{Amount, Settings};
use super::skipping::queues;

/// I/Os of which `number_ios` counts one, and blocks that are moved for each of a file's.
pub fn each(settings: &Settings) -> u64 {
    if settings.pattern.pairs { 2 } else { 1 }
}

/// How much a job of pairs does on `targets` of `total` bytes, where that does not follow from the ends of its files alone;
/// `io_size` is that of a pass where one is given, and `most_ios` is what `number_ios` allows. `None`: other jobs, those whose
/// blocks differ in size, those that are verified or leave something out, and those that go by time.
pub fn extent(
    settings: &Settings,
    targets: &[Target],
    (total, io_size): (Option<u64>, Option<u64>),
    most_ios: Option<u64>,
) -> Option<Extent> {
    let (smallest, block) = used_blocks(settings);
    let place = &settings.placement;
    let is_other = is_verified(settings)
        || time_based(settings)
        || place.append
        || place.zone_mode.is_some()
        || skips(settings);
    if !settings.pattern.pairs || is_other || smallest != block {
        return None;
    }
    let total = total?;
    let of_files = pairs_of_files(settings, targets, block);
    if of_files == Some(0) || of_files.is_some() && io_size.is_none() {
        return None;
    }
    let size = match settings.size {
        Amount::Bytes(size) => size.min(total),
        _ => total,
    };
    let of_pass = io_size.unwrap_or(size);
    let loops = u64::from(settings.loops.max(1));
    let all = of_pass.saturating_mul(loops);
    let most = match of_files {
        Some(pairs) => {
            // What is trimmed counts as what is then written does.
            let round = pairs.saturating_mul(block).saturating_mul(2);
            let left = of_pass.saturating_add(1).saturating_sub(block);
            let pairs = pairs.saturating_mul(left.div_ceil(round).max(loops));
            pairs.saturating_mul(each(settings))
        }
        None if queues(settings) => {
            // The first I/O that reaches this ends a pass, be it a trim; of several passes each ends with a write here.
            let both = size.max(of_pass).saturating_add(all);
            match (both.div_ceil(block), loops) {
                (of_one, 1) => of_one,
                (of_one, _) => (of_one / 2 * 2).saturating_mul(loops),
            }
        }
        None => u64::MAX,
    };
    let ios = all.div_ceil(block).saturating_mul(each(settings)).min(most);
    let ios = ios.min(most_ios.unwrap_or(u64::MAX));
    Some(Extent {
        // More than they move: they end by their number.
        bytes: Some(Bytes::new(ios.saturating_add(1).saturating_mul(block))),
        ios: Some(ios),
        loops: 1,
    })
}

/// Whether `verify` has a say in where passes end: it has none at offsets that may repeat, where nothing is checked.
fn is_verified(settings: &Settings) -> bool {
    let never_ends = settings.pattern.random && is_independent(settings);
    settings.verify.kind().is_some() && (settings.verify.do_verify || !never_ends)
}

/// Pairs of a pass that ends where the files do; `None`: offsets that may repeat, and those of a random job that goes in order
/// through files of whole blocks, never come there.
fn pairs_of_files(settings: &Settings, targets: &[Target], block: u64) -> Option<u64> {
    let lengths = targets.iter().filter_map(|target| target.length);
    let lengths = lengths.map(Bytes::get);
    let are_filled = lengths.clone().all(|length| length.is_multiple_of(block));
    let goes_round = is_independent(settings) || is_never_random(settings) && are_filled;
    if settings.pattern.random && goes_round {
        return None;
    }
    Some(lengths.fold(0, |sum, length| sum.saturating_add(length / block)))
}
