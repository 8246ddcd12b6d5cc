//! The sizes of a job's I/Os.

use fathom_units::Bytes;
use fathom_workload::{BlockSizes, Direction, SizeDraw, SizeRange, WeightedSize};

use super::settings::Settings;

/// Smallest and largest block of reads, writes and trims.
pub fn block_range(settings: &Settings) -> [(u64, u64); 3] {
    std::array::from_fn(|way| {
        let split = settings.splits[way].iter().map(|(size, _)| *size);
        let bounds = split.clone().min().zip(split.max());
        let range = bounds.or(settings.placement.ranges[way]);
        range.unwrap_or((settings.blocks[way], settings.blocks[way]))
    })
}

/// Smallest block of any direction, used or not, in bytes.
pub fn smallest_block(settings: &Settings) -> u64 {
    let least = block_range(settings).map(|(least, _)| least);
    least.into_iter().min().unwrap_or(1).max(1)
}

/// What the sizes of a job's I/Os are drawn from.
pub fn blocks(settings: &Settings) -> BlockSizes {
    let list = |way: Direction| -> Vec<WeightedSize> {
        let mut list = size_list(settings, way as usize);
        if settings.placement.by_order {
            // Any direction may have the sizes of sequential and of random I/O.
            let others = (0..2).filter(|other| *other != way as usize);
            let others: Vec<_> = others
                .flat_map(|other| size_list(settings, other))
                .collect();
            if way == Direction::Trim {
                list.clear();
            }
            list.extend(others);
        }
        list
    };
    let align = settings
        .align
        .iter()
        .copied()
        .filter(|align| *align > 0)
        .max();
    BlockSizes {
        read: list(Direction::Read),
        write: list(Direction::Write),
        trim: list(Direction::Trim),
        alignment: align.filter(|_| settings.pattern.random).map(Bytes::new),
    }
}

/// The weighted sizes of a direction; for a range, its bounds.
pub fn size_list(settings: &Settings, way: usize) -> Vec<WeightedSize> {
    let sized = |(size, weight): (u64, u32)| WeightedSize {
        size: Bytes::new(size),
        weight,
    };
    let split = &settings.splits[way];
    if split.iter().any(|(_, share)| *share > 0) {
        let least = split.iter().filter(|(_, share)| *share > 0);
        let least = least.map(|(size, _)| *size).min().unwrap_or(1).max(1);
        // fio rounds sizes down to whole numbers of the smallest.
        let step = if settings.placement.unaligned {
            1
        } else {
            least
        };
        let rounded = |(size, share): (u64, u32)| sized((size - size % step, share));
        return split.iter().copied().map(rounded).collect();
    }
    match settings.placement.ranges[way] {
        Some((least, most)) if least < most => [(least, 1), (most, 1)].map(sized).to_vec(),
        Some((only, _)) => vec![sized((only, 1))],
        None => vec![sized((settings.blocks[way], 1))],
    }
}

/// The range of sizes of a direction, where it has no list.
pub fn range_of(settings: &Settings, way: usize) -> Option<SizeRange> {
    if settings.splits[way].iter().any(|(_, share)| *share > 0) {
        return None;
    }
    let (least, most) = settings.placement.ranges[way]?;
    (least < most).then_some(SizeRange {
        least: Bytes::new(least),
        most: Bytes::new(most),
    })
}

/// The sizes that a direction would have by itself.
pub fn draw_of(settings: &Settings, way: usize) -> SizeDraw {
    match range_of(settings, way) {
        Some(range) => SizeDraw::Range(range),
        None => SizeDraw::List(size_list(settings, way)),
    }
}

/// Whether random offsets are multiples of the smallest block of their direction.
pub fn is_aligned(settings: &Settings) -> bool {
    (0..3)
        .all(|way| settings.align[way] == 0 || settings.align[way] == block_range(settings)[way].0)
}
