//! What a job in order moves that leaves out bytes between its I/Os (`rw=write:4k`), goes back over some (`rw=read:-2k`), or
//! goes by zones.
//!
//! A pass of fio's goes through the files until none has a place for the next I/O, whatever `size` says; engines that queue
//! their I/Os look at `size` too. Passes follow each other as `loops` says, and then for as long as a block of `io_size` is
//! left; all of them together move no more than `io_size`, or `size`, has in so many passes.

use fathom_units::Bytes;
use fathom_workload::{Backend, Target, ZoneStride};

use super::blocks::block_range;
use super::engine::backend;
use super::passes::{forgets_files, forgets_nothing, skips};
use super::placement;
use super::settings::{Amount, Settings};

/// How one target is walked.
#[derive(Debug, Clone, Copy)]
struct Steps {
    block: u64,
    /// Bytes from the end of an I/O to the start of the next.
    skip: i64,
    /// First byte of the part in use, its length, and the end of the file.
    base: u64,
    length: u64,
    end: u64,
}

impl Steps {
    /// I/Os until there is no place for another; `None`: the walk goes round for ever.
    fn ios(self) -> Option<u64> {
        let step = i64::try_from(self.block).ok()?.checked_add(self.skip)?;
        let step = u64::try_from(step).ok().filter(|step| *step > 0)?;
        let rest = self.end.saturating_sub(self.base);
        if self.length == 0 || rest < self.block {
            return Some(0);
        }
        let last = (self.length - 1).min(rest - self.block) / step * step;
        let (reached, next) = (self.base + last + self.block, last + step);
        // The place is counted from `base`, and the end from the start of the file.
        let goes_round = self.skip > 0 && reached < self.end && next >= self.end;
        (!goes_round || self.base >= self.length).then_some(last / step + 1)
    }
}

/// I/Os of `block` bytes that go by `zones` from `base` until there is no place for another; `None`: the walk goes round for
/// ever.
fn ios_by_zones(block: u64, zones: ZoneStride, (base, end): (u64, u64)) -> Option<u64> {
    let (size, range) = (zones.size.get().max(1), zones.range.get().max(1));
    let each = size.div_ceil(block);
    // A zone is gone through again where it is smaller than what is moved in it.
    let reach = each.min(range.div_ceil(block)).saturating_mul(block);
    let rest = end.saturating_sub(base);
    let step = range.saturating_add(zones.skip.get());
    // The last zone is the one behind which the next would begin past the end.
    let whole = (rest / step).saturating_sub(u64::from(rest.is_multiple_of(step)));
    let in_last = rest - whole.saturating_mul(step);
    (in_last < reach).then(|| whole.saturating_mul(each).saturating_add(in_last / block))
}

/// Bytes of all passes over `targets`, which go on past the parts in use if `past_end` says so, and the number of passes that
/// have so many; `io_size` is that of a pass where one is given. Passes that end where their targets do have no bytes of their
/// own. `None`: a job without such steps, or one whose passes depend on more than these.
pub fn passes(
    settings: &Settings,
    targets: &[Target],
    io_size: Option<u64>,
    past_end: bool,
) -> Option<(Option<Bytes>, u32)> {
    let mut ways = (0..3).filter(|way| settings.pattern.directions[*way]);
    let (Some(way), None) = (ways.next(), ways.next()) else {
        return None;
    };
    let (block, largest) = block_range(settings)[way];
    let forward = i64::try_from(settings.pattern_number.unwrap_or(0)).ok()?;
    let skip = forward.checked_add(settings.placement.backwards)?;
    let engine = backend(settings);
    let zones = placement::zones(settings).filter(|_| io_size.is_some());
    let steps_alone = skips(settings) && placement::zones(settings).is_none();
    let zones_alone = zones.is_some() && skip == 0 && targets.len() == 1 && !past_end;
    let is_plain = (steps_alone || zones_alone)
        && !settings.pattern.random
        && block == largest
        && block > 0
        && (settings.verify.kind().is_none() || forgets_files(settings))
        && !(engine == Backend::Null && settings.placement.append)
        && !(skip < 0 && targets.iter().any(|target| target.offset > Bytes::ZERO));
    if !is_plain {
        return None;
    }
    let mut total = 0u64;
    let mut ios = Some(0u64);
    for target in targets {
        let (base, length) = (target.offset.get(), target.length?.get());
        total = total.saturating_add(length);
        let end = if past_end {
            i64::MAX as u64
        } else {
            base.saturating_add(length)
        };
        let steps = Steps {
            block,
            skip,
            base,
            length,
            end,
        };
        let of_target = match zones {
            Some(zones) => ios_by_zones(block, zones, (base, end)),
            None => steps.ios(),
        };
        ios = ios
            .zip(of_target)
            .map(|(sum, more)| sum.saturating_add(more));
    }
    let of_pass = ios.map(|ios| ios.saturating_mul(block));
    if of_pass == Some(0) {
        return None;
    }
    let passes = Passes {
        block,
        total,
        io_size,
        of_pass,
    };
    Some(passes.bytes(settings))
}

/// Whether the job's engine queues its I/Os: fio then ends a pass at `size`, and else only where the files do.
pub fn queues(settings: &Settings) -> bool {
    match backend(settings) {
        Backend::Sync | Backend::Mmap => false,
        Backend::Null => settings.depth > 1,
        _ => true,
    }
}

/// The passes of a job.
struct Passes {
    block: u64,
    /// Bytes of all targets.
    total: u64,
    io_size: Option<u64>,
    /// Bytes of a pass that ends where the targets do; `None`: it does not.
    of_pass: Option<u64>,
}

impl Passes {
    /// Bytes of all of them, and how often.
    fn bytes(&self, settings: &Settings) -> (Option<Bytes>, u32) {
        let block = self.block;
        let whole = |bytes: u64| bytes.max(1).div_ceil(block).saturating_mul(block);
        let size = match settings.size {
            Amount::Bytes(size) => size.min(self.total),
            _ => self.total,
        };
        let bound = if queues(settings) {
            whole(size)
        } else {
            u64::MAX
        };
        let each = self.of_pass.map_or(bound, |bytes| bytes.min(bound));
        let loops = u64::from(settings.loops.max(1));
        let most = whole(self.io_size.unwrap_or(size).saturating_mul(loops));
        let left = |bytes: u64| (bytes + 1).saturating_sub(block).div_ceil(each);
        // What is over where the files are, and not by `size`, is so for good where fio does not forget that.
        let is_done = self.of_pass.is_some_and(|bytes| bytes < bound);
        let passes = if settings.placement.append || is_done && forgets_nothing(settings) {
            1
        } else {
            loops.max(self.io_size.map_or(0, left))
        };
        let all = each.saturating_mul(passes);
        // fio looks for one more I/O where a pass ends so, and syncs before.
        let ends_by_itself = self.of_pass == Some(each) && all <= most && self.io_size.is_none();
        match u32::try_from(passes) {
            Ok(passes) if ends_by_itself => (None, passes),
            _ => (Some(Bytes::new(most.min(all))), 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ios_until_the_end() {
        let ios = |block, skip, (base, length, end)| {
            let steps = Steps {
                block,
                skip,
                base,
                length,
                end,
            };
            steps.ios()
        };
        // The last I/O ends where the file does, or the next one begins behind the part in use.
        assert_eq!(ios(4, 2, (0, 10, 10)), Some(2));
        assert_eq!(ios(16, 2, (0, 60, 64)), Some(3));
        assert_eq!(ios(8, 12, (0, 100, u64::MAX)), Some(5));
        assert_eq!(ios(16, -8, (0, 64, 64)), Some(7));
        assert_eq!(ios(16, 16, (64, 64, 128)), Some(2));
        assert_eq!(ios(16, 0, (0, 15, 15)), Some(0));
        // A next one behind the end of the file is the first again, and one that goes back over all of a block is itself.
        assert_eq!(ios(4, 4, (0, 64, 64)), None);
        assert_eq!(ios(4, -4, (0, 64, 64)), None);
    }

    #[test]
    fn ios_by_zones_until_the_end() {
        let ios = |[size, range, skip]: [u64; 3], part| {
            let zones = ZoneStride {
                size: Bytes::new(size),
                range: Bytes::new(range),
                skip: Bytes::new(skip),
            };
            ios_by_zones(4, zones, part)
        };
        assert_eq!(ios([20, 20, 8], (0, 96)), Some(18));
        // The last zone is whole: the first follows.
        assert_eq!(ios([20, 20, 0], (16, 216)), None);
        assert_eq!(ios([20, 20, 8], (0, 104)), None);
        // Zones of which less than all is used, and those that are used twice.
        assert_eq!(ios([8, 32, 0], (0, 70)), Some(5));
        assert_eq!(ios([16, 8, 0], (0, 20)), Some(9));
    }
}
