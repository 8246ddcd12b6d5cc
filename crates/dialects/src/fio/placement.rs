//! From fio's settings to the placement of a job's I/Os, and to what its buffers hold.
//!
//! Plain jobs (one size, one order, targets of whole blocks) need no placement: their plain stream has fio's counts. All
//! others walk, which counts as fio does.

use fathom_units::{Bytes, Percent};
use fathom_workload::generator::MAP_BLOCKS_MAX;
use fathom_workload::{
    Between, Dedupe, DedupeFrom, Direction, Distribution, FileChoice, Filling, Pattern,
    PatternError, Placement, Target, ZoneStride,
};

use super::blocks::{block_range, draw_of, is_aligned, range_of};
use super::conditioning::conditioning;
use super::context::Files;
use super::directions::mix;
use super::engine::is_of_names;
use super::settings::{Amount, Settings, ZoneMode};

/// The placement of a job on `targets`; `past_end` says that these go on past the parts in use. `None`: its plain stream
/// is right.
pub fn placement(
    settings: &Settings,
    targets: &[Target],
    past_end: bool,
) -> Option<Box<Placement>> {
    // Names have no places within them.
    if is_of_names(settings) {
        return None;
    }
    if let Some(conditioning) = conditioning(settings) {
        return Some(Box::new(Placement {
            conditioning: Some(conditioning),
            ..Placement::default()
        }));
    }
    let place = &settings.placement;
    let mut rules = Placement {
        past_end,
        ..Placement::default()
    };
    if settings.pattern.random {
        let percent = |percent| Percent::whole(percent).unwrap_or(Percent::ALL);
        rules.random = settings.percentage_random.map(percent);
        rules.distribution.clone_from(&place.distribution);
        for distribution in &mut rules.distribution {
            if let Distribution::Sequence { stride, .. } = distribution {
                *stride = place.stride;
            }
        }
        if place.identical {
            rules.between = Between::Identical;
        }
    } else {
        let forward = settings.pattern_number.unwrap_or(0);
        let forward = i64::try_from(forward).unwrap_or(i64::MAX);
        rules.skip = forward.saturating_add(place.backwards);
    }
    rules.trim_then_write = settings.pattern.pairs;
    rules.ranges = std::array::from_fn(|way| range_of(settings, way));
    rules.unaligned = place.unaligned;
    if place.by_order {
        rules.by_order = Some([draw_of(settings, 0), draw_of(settings, 1)]);
    }
    if settings.file_choice == FileChoice::Random {
        rules.target_distribution = place.file_distribution.clone();
    }
    rules.ios_per_target = place.ios_per_file;
    rules.targets_at_once = files_at_once(settings, targets.len());
    rules.zones = zones(settings);
    let plain = rules
        == Placement {
            past_end,
            ..Placement::default()
        };
    if plain && !needs_walk(settings, targets) {
        return None;
    }
    let least = block_range(settings).map(|(least, _)| least);
    rules.alignment = std::array::from_fn(|way| {
        let own = settings.align[way];
        let given = settings.pattern.random && own > 0;
        Some(Bytes::new(if given { own } else { least[way] }))
    });
    Some(Box::new(rules))
}

/// Whether the plain stream would not have fio's counts.
fn needs_walk(settings: &Settings, targets: &[Target]) -> bool {
    let pattern = settings.pattern;
    // `rwmixread=100` leaves the writes out.
    let mix = mix(settings);
    let used = Direction::ALL
        .into_iter()
        .filter(|way| mix.share(*way) > Percent::ZERO);
    let sizes: Vec<(u64, u64)> = used
        .map(|way| block_range(settings)[way as usize])
        .collect();
    let one_size = sizes.windows(2).all(|pair| pair[0] == pair[1])
        && sizes.iter().all(|(least, most)| least == most);
    // Each direction has a position of its own.
    let mixed_in_order = !pattern.random && sizes.len() > 1;
    let runs = pattern.random && settings.pattern_number.is_some_and(|run| run > 1);
    let size = sizes.first().map_or(1, |(least, _)| *least).max(1);
    let odd = |target: &Target| {
        let length = target.length.map_or(0, Bytes::get);
        !length.is_multiple_of(size)
    };
    let odd_draws = pattern.random && is_independent(settings) && targets.iter().any(odd);
    !one_size || mixed_in_order || runs || odd_draws
}

/// Whether random offsets may repeat before all were used.
pub fn is_independent(settings: &Settings) -> bool {
    let place = &settings.placement;
    let uniform = place.distribution.iter().all(Distribution::is_uniform);
    place.conditioning.is_on
        || (settings.independent && !place.lfsr)
        || !is_aligned(settings)
        || !uniform
}

/// Whether each I/O of a random job goes on where the last ended.
pub fn is_never_random(settings: &Settings) -> bool {
    let used = |way: &usize| settings.pattern.directions[*way];
    (0..3)
        .filter(used)
        .all(|way| settings.percentage_random[way] == 0)
}

/// Zones, which fio leaves out of jobs that ask for several open files.
pub fn zones(settings: &Settings) -> Option<ZoneStride> {
    let place = &settings.placement;
    let wanted = place.zone_mode == Some(ZoneMode::Strided);
    let range = if place.zone_range > 0 {
        place.zone_range
    } else {
        place.zone_size
    };
    (wanted && place.open_files <= 1 && place.zone_size > 0).then_some(ZoneStride {
        size: Bytes::new(place.zone_size),
        range: Bytes::new(range),
        skip: Bytes::new(place.zone_skip.unsigned_abs()),
    })
}

/// Files that fio has open at the same time, where they are not all of them: it opens the next when one is finished.
fn files_at_once(settings: &Settings, files: usize) -> Option<u32> {
    let open = settings.placement.open_files;
    (open > 0 && (open as usize) < files).then_some(open)
}

/// Why each block is not visited once though that is asked for, where it is so.
pub fn map_warning(settings: &Settings, targets: &[Target]) -> Option<String> {
    let pattern = settings.pattern;
    if !pattern.random || is_independent(settings) {
        return None;
    }
    let used = (0..3).filter(|way| pattern.directions[*way]);
    let sizes: Vec<(u64, u64)> = used.map(|way| block_range(settings)[way]).collect();
    let (least, most) = (
        sizes.iter().map(|(least, _)| *least).min()?.max(1),
        sizes.iter().map(|(_, most)| *most).max()?,
    );
    let lengths = targets.iter().filter_map(|target| target.length);
    let blocks = lengths.fold(0u64, |sum, length| sum.saturating_add(length.get() / least));
    (least < most && blocks > MAP_BLOCKS_MAX).then(|| {
        format!(
            "blocks of differing sizes are drawn independently: a map of {blocks} blocks of {least} \
             bytes would be larger than 64 MiB"
        )
    })
}

/// What is wrong with zones: the option at fault, and what to do.
pub fn zone_problem(settings: &Settings) -> Option<(&'static str, &'static str, &'static str)> {
    let place = &settings.placement;
    match (place.zone_mode, place.zone_size) {
        (Some(ZoneMode::Strided), 0) => Some((
            "zonemode",
            "`zonesize` must be specified with `zonemode=strided`",
            "add zonesize=",
        )),
        (Some(ZoneMode::Strided), _) if place.zone_skip < 0 => Some((
            "zoneskip",
            "`zoneskip` leads backwards, into the zone before, which is not carried",
            "write a number of bytes of 0 or more",
        )),
        (Some(ZoneMode::None) | None, 1..) => Some((
            "zonesize",
            "`zonemode=none` and `zonesize` are not compatible",
            "add zonemode=strided, or take zonesize away",
        )),
        _ => None,
    }
}

/// Why duplicates cannot come from a set of blocks that is made beforehand: the option at fault, why, and what to do.
pub fn working_set_problem(settings: &Settings) -> Option<(&'static str, String, &'static str)> {
    let contents = &settings.contents;
    if contents.dedupe == 0 || !contents.working_set {
        return None;
    }
    if settings.size == Amount::Unset {
        let message = "`dedupe_mode=working_set` requires a size".to_owned();
        return Some(("dedupe_mode", message, "add size="));
    }
    let files = settings.listed_files.unwrap_or(settings.file_count);
    if files != 1 {
        let message = format!("`dedupe_mode=working_set` takes a single file, not {files}");
        let hint = "give each file a job of its own, or take dedupe_mode=repeat";
        return Some(("dedupe_mode", message, hint));
    }
    let (set, share) = (contents.set_share, contents.dedupe);
    (u32::from(set) + u32::from(share) > 100).then(|| {
        let message = format!(
            "{share} % cannot be duplicates where {set} % of the size are the set that they come from"
        );
        let hint = "lower dedupe_percentage or dedupe_working_set_percentage";
        ("dedupe_percentage", message, hint)
    })
}

/// What buffers hold beyond fio's switches; `None`: nothing more.
///
/// # Errors
/// A file named by the pattern that cannot be read.
pub fn filling(
    settings: &Settings,
    files: &dyn Files,
) -> Result<Option<Box<Filling>>, PatternError> {
    let contents = &settings.contents;
    let read = |path: &str| files.read_bytes(path);
    let pattern = contents
        .pattern
        .as_deref()
        .map(|text| Pattern::parse(text, &read));
    let from = if contents.working_set {
        DedupeFrom::WorkingSet {
            percent: contents.set_share.max(1),
            global: contents.global,
        }
    } else {
        DedupeFrom::Last
    };
    let compresses = contents.compress > 0 || contents.dedupe > 0;
    let filling = Filling {
        pattern: pattern.transpose()?,
        anywhere: false,
        compress: contents.compress,
        chunk: (compresses && contents.chunk > 0).then(|| Bytes::new(contents.chunk)),
        dedupe: (contents.dedupe > 0).then_some(Dedupe {
            percent: contents.dedupe,
            from,
        }),
    };
    Ok((filling != Filling::default()).then(|| Box::new(filling)))
}
