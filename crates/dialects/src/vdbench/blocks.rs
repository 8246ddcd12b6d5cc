//! Sizes of I/Os and percentages, from `xfersize=` and its kin to the workload's types.

use fathom_units::{Bytes, Percent};
use fathom_workload::{BlockSizes, WeightedSize};

use super::sections::Xfersize;

/// Most sizes that a range of transfer sizes may have.
const RANGE_SIZES_MAX: u64 = 1024;

/// The sizes that `xfersize=` means, for all directions alike.
///
/// # Errors
/// A range of too many sizes: what is wrong with it. Its remedy is a larger step.
pub(super) fn sizes(xfersize: &Xfersize) -> Result<Vec<WeightedSize>, String> {
    let equal = |size: u64| WeightedSize {
        size: Bytes::new(size),
        weight: 1,
    };
    match xfersize {
        Xfersize::One(size) => Ok(vec![equal(*size)]),
        Xfersize::Mix(sizes) => Ok(weighted(sizes)),
        Xfersize::Range { least, most, align } => {
            let count = (most - least) / (*align).max(1) + 1;
            if count > RANGE_SIZES_MAX {
                return Err(format!(
                    "`xfersize={xfersize}` has {count} sizes; at most {RANGE_SIZES_MAX} are possible"
                ));
            }
            Ok((0..count).map(|step| equal(least + step * align)).collect())
        }
    }
}

/// The same sizes in every direction.
pub(super) fn every_way(sizes: Vec<WeightedSize>, alignment: Option<Bytes>) -> BlockSizes {
    BlockSizes {
        read: sizes.clone(),
        write: sizes.clone(),
        trim: sizes,
        alignment,
    }
}

/// Sizes with their shares in percent, as weights of a hundredth of a percent.
pub(super) fn weighted(sizes: &[(u64, f64)]) -> Vec<WeightedSize> {
    let sizes = sizes.iter().filter(|(_, share)| *share > 0.0);
    let entry = |(size, share): &(u64, f64)| WeightedSize {
        size: Bytes::new(*size),
        weight: (share * 100.0).round() as u32,
    };
    sizes.map(entry).collect()
}

/// A percentage of a file, in hundredths.
pub(super) fn percent(percent: f64) -> Percent {
    let points = (percent.clamp(0.0, 100.0) * 100.0).round() as u32;
    Percent::from_basis_points(points).unwrap_or(Percent::ALL)
}
