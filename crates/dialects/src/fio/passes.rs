//! How much a job does: its bytes and I/Os, and the passes over its files that they are done in.
//!
//! fio begins another pass as `loops` says, and then for as long as a block of `io_size` is left. A pass ends where its files do,
//! or where `size` or `io_size` was moved, by rules that differ by direction, order and engine; each function here is one of them.

use fathom_units::{Bytes, Nanos};
use fathom_workload::{FileChoice, Target};

use super::blocks::{block_range, smallest_block};
use super::pairs;
use super::placement::{is_independent, is_never_random, zones};
use super::settings::{Amount, Settings};
use super::skipping::{passes, queues};
use super::targets::share;

/// How much a job does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Bytes of a pass, where they are not simply the targets' own.
    pub bytes: Option<Bytes>,
    /// Most I/Os of all passes.
    pub ios: Option<u64>,
    /// Number of the passes.
    pub loops: u32,
}

/// How much a job does on `targets`, which go on past the parts in use if `past_end` says so.
pub fn extent(settings: &Settings, targets: &[Target], past_end: bool) -> Extent {
    // Many files of `filesize` may add up to more than any number of bytes; no `size` or `io_size` is larger.
    let total = targets.iter().try_fold(0u64, |sum, target| {
        Some(sum.saturating_add(target.length?.get()))
    });
    let io_size = asked(settings, total).or_else(|| read_on(settings, targets, total?));
    let most_ios = most_ios(settings);
    let of_pairs = pairs::extent(settings, targets, (total, io_size), most_ios);
    let of_pairs = of_pairs.filter(|_| !past_end);
    let extent = of_pairs.unwrap_or_else(|| {
        let (bytes, loops) = pass_bytes(settings, targets, (total, io_size), past_end);
        Extent {
            bytes,
            ios: None,
            loops,
        }
    });
    let of_mix = ios_of_unchecked_mix(settings, total.filter(|_| io_size.is_none()));
    let most = [extent.ios, most_ios, of_mix];
    Extent {
        ios: most.into_iter().flatten().min(),
        ..extent
    }
}

/// fio's `number_ios` is a number for each pass, of which it makes one sum over all; a time-based job ignores it.
fn most_ios(settings: &Settings) -> Option<u64> {
    let timed = settings.time_based && settings.runtime > Nanos::ZERO;
    let passes = u64::from(settings.loops.max(1));
    if settings.control.create_only {
        return Some(0);
    }
    let most = settings.number_ios.saturating_mul(passes);
    (settings.number_ios > 0 && !timed).then(|| most.saturating_mul(pairs::each(settings)))
}

/// I/Os of all passes over `total` bytes of a mix in order beside a `verify` by which nothing is checked: what several passes move
/// together ends it, where each by itself ends with an I/O that begins within `size`. `None`: of other jobs that follows from their
/// bytes, and passes that are checked know it by themselves, since their checks would count among so many I/Os.
fn ios_of_unchecked_mix(settings: &Settings, total: Option<u64>) -> Option<u64> {
    let [reads, writes, _] = settings.pattern.directions;
    let (smallest, block) = used_blocks(settings);
    let is_mix = reads && writes && !settings.pattern.random && settings.verify.kind().is_some();
    let is_other = skips(settings)
        || settings.verify.do_verify
        || settings.placement.zone_mode.is_some()
        || settings.placement.append
        || time_based(settings)
        || smallest != block;
    let all = total?.saturating_mul(u64::from(settings.loops.max(1)));
    (is_mix && !is_other && settings.loops > 1).then(|| all.div_ceil(block))
}

/// Bytes of a pass over `total` that are asked for, where they are not simply the targets' own.
fn asked(settings: &Settings, total: Option<u64>) -> Option<u64> {
    let size = match (settings.size, settings.file_size) {
        // With `filesize`, `size` only says how much of all files one pass covers, as `io_size` does.
        (Amount::Bytes(size), Some(_)) if total.is_some_and(|total| size < total) => Some(size),
        _ => None,
    };
    match settings.io_size {
        Amount::Unset | Amount::Bytes(0) | Amount::Percent(0 | 100) => size,
        Amount::Bytes(bytes) => Some(bytes),
        Amount::Percent(percent) => total.map(|total| share(total, percent)),
    }
}

/// Whether the job only reads or trims beside a `verify` that has fio look for what is to be checked after each pass: it then
/// forgets which files it is done with, and begins another pass where `size` leaves room for a block.
pub fn forgets_files(settings: &Settings) -> bool {
    let writes = settings.pattern.directions[1];
    let given = &settings.verify;
    given.kind().is_some() && given.do_verify && !writes && !time_based(settings)
}

/// Bytes of all passes of such a job over `total` bytes, where the first `loops` of them leave room for a block.
fn read_on(settings: &Settings, targets: &[Target], total: u64) -> Option<u64> {
    if !forgets_files(settings) {
        return None;
    }
    let size = match settings.size {
        Amount::Bytes(size) => size.min(total),
        _ => of_file_size(settings, targets).map_or(total, |size| size.min(total)),
    };
    let (smallest, block) = used_blocks(settings);
    let whole = |target: &Target| Some(target.length?.get() / smallest * smallest);
    let pass = targets
        .iter()
        .try_fold(0u64, |sum, target| Some(sum.saturating_add(whole(target)?)))?;
    let passes = u64::from(settings.loops.max(1));
    let leaves_out = skips(settings) || settings.placement.zone_mode.is_some();
    let pass = pass.min(size.next_multiple_of(block));
    let left = size.saturating_sub(pass.saturating_mul(passes));
    (pass > 0 && (left >= block || leaves_out)).then_some(size)
}

/// Bytes of one pass where they are not simply the targets' own, and the number of passes.
fn pass_bytes(
    settings: &Settings,
    targets: &[Target],
    (total, io_size): (Option<u64>, Option<u64>),
    past_end: bool,
) -> (Option<Bytes>, u32) {
    // What conditions flash is one pass, and as long as that asks for.
    if settings.placement.conditioning.is_on {
        return (None, 1);
    }
    if let Some(passes) = passes(settings, targets, io_size, past_end) {
        return passes;
    }
    let Some(io_size) = io_size else {
        let passes = if appends_once(settings) {
            1
        } else {
            settings.loops
        };
        return match rounded_up(settings, (targets, total), passes) {
            Some(bytes) => (Some(bytes), 1),
            None => (None, passes),
        };
    };
    if let Some(passes) = verified_passes(settings, targets, (total, io_size)) {
        return passes;
    }
    // `io_size` of all passes is one limit, and the I/O that reaches it is still done whole.
    let loops = u64::from(settings.loops.max(1));
    let (smallest, block) = used_blocks(settings);
    let least = if smallest == block {
        let all = io_size.max(1).saturating_mul(loops);
        let rounds = whole_rounds(settings, targets, (io_size, block));
        // Walks that skip know by themselves what a round leaves.
        if skips(settings) && !settings.pattern.random {
            all.max(block)
        } else {
            all.next_multiple_of(block).min(rounds)
        }
    } else if is_last_pass(settings, targets) {
        io_size.min(total.unwrap_or(u64::MAX)).max(block)
    } else {
        io_size.saturating_mul(loops).max(block)
    };
    let round = total.filter(|_| appends_once(settings));
    let least = round.map_or(least, |round| least.min(round.max(block)));
    (Some(Bytes::new(least)), 1)
}

/// Whether nothing has fio forget which files it is done with: it then begins no pass once it is done with all of them.
pub fn forgets_nothing(settings: &Settings) -> bool {
    !settings.verify.do_verify && settings.loops <= 1 && !time_based(settings)
}

/// Whether the first pass over `targets` is the last for that reason, as far as passes end where files do. Engines that queue their
/// I/Os end a pass at `size`, and so are not done with files that whole blocks fill.
fn is_last_pass(settings: &Settings, targets: &[Target]) -> bool {
    let (smallest, _) = used_blocks(settings);
    let mut lengths = targets.iter().map(|target| target.length.map(Bytes::get));
    let are_filled = lengths.all(|length| length.is_some_and(|it| it.is_multiple_of(smallest)));
    let goes_on = are_filled && (queues(settings) || goes_round(settings));
    forgets_nothing(settings) && !goes_on && !ends_nowhere(settings)
}

/// Whether a walk in order through files that whole blocks fill begins them again by itself.
fn goes_round(settings: &Settings) -> bool {
    let [reads, writes, _] = settings.pattern.directions;
    if settings.pattern.random {
        is_never_random(settings)
    } else {
        reads && writes
    }
}

/// Whether no file is ever done with: offsets that may repeat, files drawn by rank, and what goes round by skips and zones.
fn ends_nowhere(settings: &Settings) -> bool {
    let place = &settings.placement;
    let is_drawn = settings.file_choice == FileChoice::Random;
    let by_rank = is_drawn && !place.file_distribution.is_uniform();
    let is_random = settings.pattern.random;
    let by_place = if is_random {
        is_independent(settings)
    } else {
        skips(settings)
    };
    by_rank || by_place || place.zone_mode.is_some()
}

/// Smallest and largest block of the directions that the job goes.
pub fn used_blocks(settings: &Settings) -> (u64, u64) {
    let block = block_range(settings);
    let used = (0..3).filter(|way| settings.pattern.directions[*way]);
    let smallest = used.clone().map(|way| block[way].0).min().unwrap_or(1);
    (
        smallest,
        used.map(|way| block[way].1).max().unwrap_or(1).max(1),
    )
}

/// Bytes and number of the passes of a job whose writes are verified, where each pass visits its blocks once: `io_size` is that
/// of one pass, and where that is more than the files have, passes follow until writes and checks together have moved as much.
/// Reads and trims that `verify` stands beside, with nothing to be checked after them, go one pass too.
fn verified_passes(
    settings: &Settings,
    targets: &[Target],
    (total, io_size): (Option<u64>, u64),
) -> Option<(Option<Bytes>, u32)> {
    let [reads, writes, trims] = settings.pattern.directions;
    let has_verify = settings.verify.kind().is_some();
    let is_verified = writes && has_verify;
    let once = is_last_pass(settings, targets);
    if has_verify && !writes && once && total.is_some_and(|total| io_size > total) {
        return Some((None, 1));
    }
    // Such jobs go round within one pass.
    let goes_round = if settings.pattern.random {
        is_independent(settings)
    } else {
        let lone_trims = trims && !settings.pattern.pairs;
        reads || lone_trims || skips(settings) || settings.placement.zone_mode.is_some()
    };
    if !is_verified || goes_round || appends_once(settings) {
        return None;
    }
    let (smallest, block) = used_blocks(settings);
    if total.is_none_or(|total| io_size <= total) {
        // The I/O that reaches it is still done whole.
        let bytes = if smallest == block {
            io_size.max(1).next_multiple_of(block)
        } else {
            io_size.max(block)
        };
        return Some((Some(Bytes::new(bytes)), settings.loops));
    }
    Some(((!once).then(|| Bytes::new(io_size)), settings.loops))
}

/// Bytes of the rounds over the targets that fio begins in blocks of one size: as many as there are `loops`, and more for as long
/// as a block of `io_size` is left. Reads or trims among writes in order that fill their targets go round in one, and so do offsets
/// that may repeat, and those in order that a random job falls back from.
fn whole_rounds(settings: &Settings, targets: &[Target], (io_size, block): (u64, u64)) -> u64 {
    if let Some(rounds) = endless_rounds(settings, targets, (io_size, block)) {
        return rounds;
    }
    let mut lengths = targets.iter().map(|target| target.length.map(Bytes::get));
    let filled = |length: Option<u64>| length.is_some_and(|length| length.is_multiple_of(block));
    let [reads, writes, _] = settings.pattern.directions;
    let endless = if settings.pattern.random {
        is_independent(settings) || is_never_random(settings)
    } else {
        writes && reads && lengths.clone().all(filled)
    };
    let run = match settings.pattern_number {
        Some(run) if settings.pattern.random => run.max(1),
        _ => 1,
    };
    let round = lengths.try_fold(0u64, |sum, length| {
        // What is trimmed counts as what is then written does, and each random block has its run.
        let each = pairs::each(settings).saturating_mul(run);
        let bytes = (length? / block * block).saturating_mul(each);
        Some(sum.saturating_add(bytes))
    });
    let is_last = is_last_pass(settings, targets) && (!queues(settings) || run == 1);
    match round.filter(|round| *round > 0 && (is_last || !endless)) {
        Some(round) if is_last => round,
        Some(round) => {
            let rounds = (io_size + 1).saturating_sub(block).div_ceil(round);
            round.saturating_mul(rounds.max(u64::from(settings.loops.max(1))))
        }
        None => u64::MAX,
    }
}

/// The same for random offsets, or files drawn by rank, whose rounds never end by themselves: engines that queue their I/Os end
/// each at `size`, or at `io_size` where writes may repeat, and the others where `io_size` of all `loops` was moved. `None`:
/// rounds that end, those that are verified, and those of pairs.
fn endless_rounds(
    settings: &Settings,
    targets: &[Target],
    (io_size, block): (u64, u64),
) -> Option<u64> {
    let place = &settings.placement;
    let by_rank = settings.file_choice == FileChoice::Random
        && !place.file_distribution.is_uniform()
        && targets.len() > 1;
    let is_endless = by_rank || (is_independent(settings) && !is_never_random(settings));
    let is_other = settings.pattern.pairs || settings.verify.kind().is_some();
    if !settings.pattern.random || !is_endless || is_other {
        return None;
    }
    if !queues(settings) {
        return Some(u64::MAX);
    }
    let lengths = targets.iter().map(|target| target.length.map(Bytes::get));
    let total = lengths.sum::<Option<u64>>()?;
    let size = match settings.size {
        Amount::Bytes(size) => size,
        _ => total,
    };
    let may_repeat = is_independent(settings) && settings.pattern.directions[1];
    let bound = if may_repeat { size.max(io_size) } else { size };
    let round = bound.max(1).checked_next_multiple_of(block)?;
    let rounds = (io_size + 1).saturating_sub(block).div_ceil(round);
    Some(round.saturating_mul(rounds.max(u64::from(settings.loops.max(1)))))
}

/// Whether I/Os in order leave something out, or random ones come in runs.
pub fn skips(settings: &Settings) -> bool {
    settings.pattern_number.is_some() || settings.placement.backwards != 0
}

/// Bytes of all files that `filesize` gives each its part of, which may end within a block.
fn of_file_size(settings: &Settings, targets: &[Target]) -> Option<u64> {
    let each = settings.file_size.filter(|sizes| !sizes.is_range())?.low;
    let parts = targets
        .iter()
        .map(|target| each.saturating_sub(target.offset.get()));
    Some(parts.fold(0, u64::saturating_add))
}

/// Bytes of all passes together, where files that give their last block whole, in order, hold more than `size` or `filesize`:
/// that is still the job's.
fn rounded_up(
    settings: &Settings,
    (targets, total): (&[Target], Option<u64>),
    passes: u32,
) -> Option<Bytes> {
    if skips(settings) {
        return None;
    }
    let size = match (settings.size, settings.file_size) {
        (Amount::Bytes(size), None) => size,
        (Amount::Unset | Amount::Bytes(_) | Amount::Percent(100), Some(_)) => {
            of_file_size(settings, targets)?
        }
        _ => return None,
    };
    let (block, passes) = (smallest_block(settings), u64::from(passes.max(1)));
    let bytes = size.checked_mul(passes)?.checked_next_multiple_of(block)?;
    let held = total?.saturating_mul(passes);
    (total? > size && bytes < held).then_some(Bytes::new(bytes))
}

/// Whether each byte is appended once, whatever says how often: for fio the end of a file that grew is where the next pass
/// begins, and leaves it no room. Offsets that may repeat go on within the first, and so do random ones in runs, and a walk
/// backwards, which begins again at the end of what it wrote.
fn appends_once(settings: &Settings) -> bool {
    let goes_on = if settings.pattern.random {
        is_independent(settings) || settings.pattern_number.is_some()
    } else {
        settings.placement.backwards != 0 && zones(settings).is_none()
    };
    settings.placement.append && !goes_on
}

/// Whether the job starts over until its time is up: in order, what is appended is so once.
pub fn time_based(settings: &Settings) -> bool {
    if settings.placement.conditioning.is_on {
        return false;
    }
    let once = appends_once(settings) && !settings.pattern.random;
    settings.time_based && settings.runtime > Nanos::ZERO && !once
}
