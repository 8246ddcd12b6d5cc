//! How pairs of a trim and the write of the same block count (`trimwrite`, `randtrimwrite`).
//!
//! fio's limits count them in three ways: `size` and `io_size` of all passes end a job by its writes alone, a pass of an engine
//! that queues its I/Os ends by trims and writes together, and `number_ios` is the number of pairs. What ends a pass at the end
//! of the files needs none of these.

use fathom_units::Bytes;
use fathom_workload::Target;

use super::passes::{Extent, forgets_nothing, skips, time_based, used_blocks};
use super::placement::{is_independent, is_never_random};
use super::settings::{Amount, Settings};
use super::skipping::queues;

/// I/Os of which `number_ios` counts one, and blocks that are moved for each of a file's.
pub fn each(settings: &Settings) -> u64 {
    if settings.pattern.pairs { 2 } else { 1 }
}

/// How much a job of pairs does on `targets` of `total` bytes, where that does not follow from the ends of its files alone;
/// `io_size` is that of a pass where one is given, and `most_ios` is what `number_ios` allows. `None`: other jobs, those whose
/// blocks differ in size, those that are verified and end where the files do, those that leave something out or go by time.
pub fn extent(
    settings: &Settings,
    targets: &[Target],
    (total, io_size): (Option<u64>, Option<u64>),
    most_ios: Option<u64>,
) -> Option<Extent> {
    let (smallest, block) = used_blocks(settings);
    let place = &settings.placement;
    let is_checked = is_verified(settings);
    let is_other = is_checked && !never_ends(settings)
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
    if is_checked {
        return Some(of_checked(settings, (size, of_pass), block));
    }
    let most = match of_files {
        Some(pairs) => {
            // What is trimmed counts as what is then written does.
            let round = pairs.saturating_mul(block).saturating_mul(2);
            let left = of_pass.saturating_add(1).saturating_sub(block);
            let rounds = if forgets_nothing(settings) {
                1
            } else {
                left.div_ceil(round).max(loops)
            };
            let pairs = pairs.saturating_mul(rounds);
            pairs.saturating_mul(each(settings))
        }
        None if queues(settings) => {
            let of_one = ios_of_queued(size, (of_pass, all), block);
            let rest = all.div_ceil(block).saturating_sub(of_one / 2);
            match loops {
                1 => of_one,
                // A pass that ends with a trim leaves it without its write, and so there is one trim more.
                _ if of_one % 2 == 1 && rest > 0 => {
                    return Some(of_ios(all.div_ceil(block) * 2 + 1, most_ios, block));
                }
                _ => (of_one / 2 * 2).saturating_mul(loops),
            }
        }
        None => u64::MAX,
    };
    let ios = all.div_ceil(block).saturating_mul(each(settings)).min(most);
    Some(of_ios(ios, most_ios, block))
}

/// A job that ends by the number of its I/Os: `ios`, or `most_ios` where that is less.
fn of_ios(ios: u64, most_ios: Option<u64>, block: u64) -> Extent {
    let ios = ios.min(most_ios.unwrap_or(u64::MAX));
    Extent {
        // More than they move.
        bytes: Some(Bytes::new(ios.saturating_add(1).saturating_mul(block))),
        ios: Some(ios),
        loops: 1,
    }
}

/// I/Os that end a pass at offsets that may repeat, of an engine that queues them: the first that reaches these bytes, be it a
/// trim.
fn ios_of_queued(size: u64, (of_pass, all): (u64, u64), block: u64) -> u64 {
    size.max(of_pass).saturating_add(all).div_ceil(block)
}

/// How much a job does whose writes at offsets that may repeat are checked: passes of engines that queue their I/Os are checked
/// one by one, of which there are never more than two, and those of the others together.
fn of_checked(settings: &Settings, (size, of_pass): (u64, u64), block: u64) -> Extent {
    let loops = u64::from(settings.loops.max(1));
    let all = of_pass.saturating_mul(loops);
    let writes = all.div_ceil(block);
    let of_one = if queues(settings) {
        ios_of_queued(size, (of_pass, all), block) / 2
    } else {
        writes
    };
    let (of_pass, passes) = match loops {
        1 => (writes.min(of_one), 1),
        // The first is longer in fio; here both are alike.
        _ if of_one < writes => (writes.div_ceil(2), 2),
        _ => (writes, 1),
    };
    Extent {
        bytes: Some(Bytes::new(of_pass.saturating_mul(block))),
        ios: None,
        loops: passes,
    }
}

/// Whether offsets may repeat, so that a pass never ends where the files do.
fn never_ends(settings: &Settings) -> bool {
    settings.pattern.random && is_independent(settings)
}

/// Whether `verify` has a say in where passes end: it has none at offsets that may repeat, where nothing is checked.
fn is_verified(settings: &Settings) -> bool {
    settings.verify.kind().is_some() && (settings.verify.do_verify || !never_ends(settings))
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
