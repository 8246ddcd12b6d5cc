//! What contradicts itself in a job's placement, and in what its buffers hold.

use fathom_units::{Bytes, Percent};

use super::Found;
use crate::{
    Access, Caching, Conditioning, Coverage, DedupeFrom, Direction, ExistingFiles, Job, Mix,
    Placement, SequentialScope, SizeDraw, SizeRange,
};

/// Largest I/O that a range of sizes may ask for.
const SIZE_MAX: Bytes = Bytes::new(u32::MAX as u64);

pub(super) fn check(job: &Job, found: &mut Found) {
    if let Some(rules) = &job.features.placement {
        let key = "placement";
        for distribution in rules
            .distribution
            .iter()
            .chain([&rules.target_distribution])
        {
            if let Err(error) = distribution.check() {
                found.add(
                    key,
                    format!("its distribution {distribution}: {error}"),
                    "change it",
                );
            }
        }
        if rules.ios_per_target == 0 {
            let message = "each picked target gets 0 I/Os";
            found.add(key, message, "give at least 1");
        }
        if rules.targets_at_once == Some(0) {
            let message = "0 targets are used at the same time";
            found.add(key, message, "give at least 1, or leave it out for all");
        }
        if let Some(zones) = rules.zones
            && (zones.size == Bytes::ZERO || zones.range == Bytes::ZERO)
        {
            let message = "its zones have no bytes";
            found.add(key, message, "give them a size and a range");
        }
        if rules.trim_then_write && job.mix.read > Percent::ZERO {
            let message = "it trims and writes each block, but its mix has reads";
            found.add(key, message, "mix half trims and half writes");
        }
        let used = |way: &Direction| job.mix.share(*way) > Percent::ZERO;
        for way in Direction::ALL.into_iter().filter(used) {
            if let Some(range) = rules.ranges[way as usize] {
                check_range(job, range, found);
            }
            if rules.alignment[way as usize] == Some(Bytes::ZERO) {
                let hint = "leave it out to align to the smallest block";
                found.add(key, "its alignment is 0 bytes", hint);
            }
        }
        if job.caching == Caching::Direct && job.backend.opens_files() && rules.unaligned {
            let message = "sizes of any number of bytes do not go with direct I/O";
            found.add(key, message, "leave `unaligned` out, or use buffered I/O");
        }
        check_course(job, rules, found);
        check_conditioning(job, rules, found);
        for draw in rules.by_order.iter().flatten() {
            match draw {
                SizeDraw::Range(range) => check_range(job, *range, found),
                SizeDraw::List(list) => {
                    let largest = list.iter().map(|entry| entry.size).max();
                    check_largest(job, largest.unwrap_or_default(), found);
                }
            }
        }
    }
    check_filling(job, found);
}

/// Targets that are one, and strides, go with few other rules.
fn check_course(job: &Job, rules: &Placement, found: &mut Found) {
    if !rules.joined && rules.stride.is_none() {
        return;
    }
    let alone = Placement {
        joined: rules.joined,
        stride: rules.stride,
        distribution: rules.distribution.clone(),
        ..Placement::default()
    };
    if *rules != alone || (rules.joined && rules.stride.is_some()) {
        let message = "`joined` and `stride` go with no other rule but a distribution";
        found.add("placement", message, "leave the others out");
    }
    let is_random = matches!(job.access, Access::Random { .. });
    let covers = matches!(job.access, Access::Random { coverage, run } if coverage != Coverage::Independent || run > 1);
    if covers || (rules.stride.is_some() && is_random) {
        let message = "`joined` needs independent random offsets or a sequence, and `stride` a sequence, wholly or in part";
        found.add("placement", message, "change the job's access");
    }
    if rules.stride.is_some() && job.targets.len() > 1 {
        let message = "`stride` is for one target";
        found.add("placement", message, "give each target a job of its own");
    }
    let shares = Access::Sequential {
        gap: Bytes::ZERO,
        scope: SequentialScope::Shared,
    };
    if rules.joined
        && (matches!(job.access, Access::Sequential { gap, .. } if gap > Bytes::ZERO)
            || job.access == shares)
    {
        let message = "a sequence over `joined` targets has no gaps, and is each worker's own";
        found.add("placement", message, "change the job's access");
    }
    if job.features.verify.is_some() {
        let message = "`joined` and `stride` are not checked (`verify`)";
        found.add("placement", message, "leave one of them out");
    }
}

/// What conditions flash is one walk of writes, which nothing else has a part in.
fn check_conditioning(job: &Job, rules: &Placement, found: &mut Found) {
    let Some(conditioning) = rules.conditioning else {
        return;
    };
    let alone = Placement {
        conditioning: rules.conditioning,
        past_end: rules.past_end,
        alignment: rules.alignment,
        ..Placement::default()
    };
    let mut refuse = |message: &str, hint: &'static str| found.add("placement", message, hint);
    if !(1..=Conditioning::REGIONS_MAX).contains(&conditioning.regions) {
        refuse(
            "the regions of its `conditioning` are outside 1 to 1048576",
            "name about 100",
        );
    }
    if *rules != alone {
        refuse(
            "`conditioning` goes with no other rule",
            "leave the others out",
        );
    }
    let is_random = matches!(
        job.access,
        Access::Random {
            coverage: Coverage::Independent,
            run: 1
        }
    );
    if job.mix != Mix::WRITE || !is_random {
        refuse(
            "`conditioning` writes alone, at random and independently",
            "change the job's mix and access",
        );
    }
    let [first, ..] = job.block.write.as_slice() else {
        return;
    };
    let one_size = job.block.write.iter().all(|entry| entry.size == first.size);
    if !one_size || job.block.alignment.is_some_and(|align| align != first.size) {
        refuse(
            "`conditioning` writes blocks of one size, each at a multiple of it",
            "name one block size, and no alignment",
        );
    }
    let limits = &job.limits;
    if limits.time_based || limits.loops > 1 || limits.bytes.is_some() {
        refuse(
            "`conditioning` is one pass, as long as the flash asks for",
            if job.existing == ExistingFiles::AsPeer {
                "leave `time_based`, `loops` and `bytes` out"
            } else {
                "say `measure = \"one-pass\"`"
            },
        );
    }
    if job.targets.len() != 1 || job.workers != 1 {
        refuse(
            "`conditioning` is for one target and one worker",
            "give each target a job of its own",
        );
    }
}

fn check_range(job: &Job, range: SizeRange, found: &mut Found) {
    let SizeRange { least, most } = range;
    if least == Bytes::ZERO || most < least || most > SIZE_MAX {
        let message = format!("its sizes from {least} to {most} are no range");
        found.add("placement", message, "give a smallest size, then a largest");
    }
    check_largest(job, most, found);
}

/// Buffers have the largest size of the block's lists.
fn check_largest(job: &Job, size: Bytes, found: &mut Found) {
    let block = job.block.largest(job.mix);
    if size > block {
        let message = format!("it has sizes up to {size}, but its blocks end at {block}");
        let hint = "name the smallest and the largest size in `block` too";
        found.add("placement", message, hint);
    }
}

fn check_filling(job: &Job, found: &mut Found) {
    let Some(rules) = &job.features.filling else {
        return;
    };
    let percents = rules.dedupe.map_or([1, 1], |dedupe| match dedupe.from {
        DedupeFrom::Last => [dedupe.percent, 1],
        DedupeFrom::WorkingSet { percent, .. } => [dedupe.percent, percent],
    });
    let good = percents.iter().all(|percent| (1..=100).contains(percent));
    if rules.compress > 100 || !good {
        let message = "a share of its buffers' contents is no percentage";
        found.add("filling", message, "give 1 to 100 %");
    }
    if rules.chunk == Some(Bytes::ZERO) {
        let hint = "leave it out for the size of the smallest write";
        found.add("filling", "its pieces have 0 bytes", hint);
    }
}
