//! Storage that is known to make less of data that compresses or repeats: it looks faster than it is with other data.

use std::fs::{self, File};
use std::path::Path;

use fathom_rawio as rawio;
use fathom_record::{Reduced, Reducing};

use super::device::BlockDevice;
use super::{device_under, mounts};

/// Share of a file in compressed extents from which on it is told.
const ENCODED_TOLD: f64 = 0.01;

/// Devices under devices that are looked at.
const DEEPEST: u32 = 16;

/// What below the file, directory or device at `path` compresses whatever it is given; `None` where nothing is known to.
pub(crate) fn reducing_under(path: &Path) -> Option<Reducing> {
    under(path, DEEPEST)
}

fn under(path: &Path, deepest: u32) -> Option<Reducing> {
    let there = |path| fs::metadata(path).ok().map(|found| (path, found));
    let (place, found) = path.ancestors().find_map(there)?;
    let kind = mounts::mount_over(place).map(|mount| mount.kind);
    if let Some(how) = kind.and_then(|kind| always_compresses(&kind)) {
        return Some(Reducing {
            how: how.to_owned(),
            what: Reduced::Compressible,
        });
    }
    let device = device_under(place, &found)?;
    vdo_under(&device.parent().unwrap_or(device), deepest)
}

/// File systems that compress all they are given unless told otherwise, and do not tell which files they did it to.
fn always_compresses(kind: &str) -> Option<&'static str> {
    match kind {
        "zfs" => Some("zfs, which compresses unless its data set has `compression=off`"),
        "ubifs" => Some("ubifs, which compresses unless mounted with `compr=none`"),
        "jffs2" => Some("jffs2, which compresses unless mounted with `compr=none`"),
        _ => None,
    }
}

/// What a file's extents say of the file system at `place`: some of them are compressed.
pub(crate) fn reducing_file(file: &File, place: &Path) -> Option<Reducing> {
    let share = rawio::encoded_share(file).ok()?;
    let kind = mounts::mount_over(place).map_or_else(|| "a file system".to_owned(), |it| it.kind);
    (share >= ENCODED_TOLD).then(|| Reducing {
        how: format!(
            "{kind}, which keeps {:.0} % of it compressed",
            share * 100.0
        ),
        what: Reduced::Compressible,
    })
}

fn vdo_under(device: &BlockDevice, deepest: u32) -> Option<Reducing> {
    let deeper = deepest.checked_sub(1)?;
    if device.attribute("dm/uuid").is_some_and(|id| is_vdo(&id)) {
        return Some(Reducing {
            how: format!(
                "{}, a VDO volume, which compresses and keeps equal blocks once",
                device.name
            ),
            what: Reduced::CompressibleAndRepeated,
        });
    }
    if let Some((file, _)) = device.loop_file() {
        return under(&file, deeper);
    }
    let mut parts = device.parts().into_iter();
    parts.find_map(|part| vdo_under(&part, deeper))
}

/// Whether this is how the device mapper calls a volume of VDO: `vdo` of its own, or a pool of LVM.
fn is_vdo(id: &str) -> bool {
    id.starts_with("VDO-") || (id.starts_with("LVM-") && id.ends_with("-vpool"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn volumes_of_vdo_are_known_by_their_id() {
        assert!(is_vdo("VDO-e9b9d2c8-0bd1-4b0e-9f5c-8b1d5d3a0c11"));
        assert!(is_vdo("LVM-m0cd0G3yHuDBPYqYHt2nVqVbRk5bOeDh-vpool"));
        assert!(!is_vdo("LVM-m0cd0G3yHuDBPYqYHt2nVqVbRk5bOeDh"));
        assert!(!is_vdo("CRYPT-LUKS2-vpool"));
    }

    #[test]
    fn file_systems_that_compress_at_all_times_are_known() {
        assert!(always_compresses("zfs").is_some());
        for kind in ["ext4", "xfs", "btrfs", "tmpfs", "nfs4"] {
            assert_eq!(always_compresses(kind), None, "{kind}");
        }
    }
}
