//! Storage that makes less of data that compresses or repeats: it looks faster than it is with other data.
//!
//! What the kernel does not tell is no finding: it is said to be unknown.

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
    if let Some(mount) = mounts::mount_over(place) {
        match compressing(&mount.kind, &mount.system_options) {
            Compressing::No => {}
            Compressing::Never => return None,
            Compressing::Maybe(how) => return Some(compressible(how.to_owned(), false)),
            Compressing::Always => return Some(compressible(mount.kind, true)),
        }
    }
    let device = device_under(place, &found)?;
    vdo_under(&device.parent().unwrap_or(device), deepest)
}

fn compressible(how: String, is_seen: bool) -> Reducing {
    Reducing {
        how,
        what: Reduced::Compressible,
        is_seen,
    }
}

/// What a file system does to all that it is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Compressing {
    /// Nothing, or what the extents of its files say; what it is on may still.
    No,
    /// Nothing, and it was told so.
    Never,
    /// In words: it compresses unless it was made or set up not to, which the kernel does not tell.
    Maybe(&'static str),
    /// It was told to compress.
    Always,
}

/// File systems that do not tell which files they compress. Of UBIFS and JFFS2 the mount says how where it overrides what the file
/// system or the kernel was made with (`compr=`, in `ubifs_show_options` and `jffs2_show_options` of the kernel); of zfs the kernel
/// says nothing.
fn compressing(kind: &str, options: &str) -> Compressing {
    let how = match kind {
        "zfs" => {
            return Compressing::Maybe(
                "zfs, which compresses unless its data set has `compression=off` (`zfs get compression` tells)",
            );
        }
        "ubifs" => "ubifs, which compresses unless it was made with `--compr=none`",
        "jffs2" => "jffs2, which compresses unless the kernel was built not to",
        _ => return Compressing::No,
    };
    let mut told = options.split(',');
    match told.find_map(|option| option.strip_prefix("compr=")) {
        Some("none") => Compressing::Never,
        Some(_) => Compressing::Always,
        None => Compressing::Maybe(how),
    }
}

/// What a file's extents say of the file system at `place`: some of them are compressed.
pub(crate) fn reducing_file(file: &File, place: &Path) -> Option<Reducing> {
    let share = rawio::encoded_share(file).ok()?;
    let kind = mounts::mount_over(place).map_or_else(|| "a file system".to_owned(), |it| it.kind);
    (share >= ENCODED_TOLD).then(|| {
        let percent = share * 100.0;
        compressible(
            format!("{kind}, which keeps {percent:.0} % of it compressed"),
            true,
        )
    })
}

fn vdo_under(device: &BlockDevice, deepest: u32) -> Option<Reducing> {
    let deeper = deepest.checked_sub(1)?;
    if device.attribute("dm/uuid").is_some_and(|id| is_vdo(&id)) {
        return Some(Reducing {
            how: format!(
                "{}, a VDO volume, which compresses and keeps equal blocks once unless it was told not to (`dmsetup table` tells)",
                device.name
            ),
            what: Reduced::CompressibleAndRepeated,
            is_seen: false,
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
    fn what_a_file_system_was_told_is_known_by_its_mount() {
        let check = |kind: &str, options: &str, expected: fn(Compressing) -> bool| {
            let found = compressing(kind, options);
            assert!(expected(found), "{kind} {options}: {found:?}");
        };
        let maybe = |found| matches!(found, Compressing::Maybe(_));
        check("zfs", "rw,xattr,noacl", maybe);
        check("ubifs", "rw,assert=read-only,ubi=0,vol=0", maybe);
        check("jffs2", "rw", maybe);
        check("ubifs", "rw,compr=none,ubi=0,vol=0", |it| {
            it == Compressing::Never
        });
        check("jffs2", "rw,compr=none", |it| it == Compressing::Never);
        check("ubifs", "rw,compr=zstd,ubi=0,vol=0", |it| {
            it == Compressing::Always
        });
        // btrfs and f2fs tell by the extents of each file.
        for kind in ["ext4", "xfs", "btrfs", "f2fs", "tmpfs", "nfs4"] {
            check(kind, "rw,compress=zstd:3,compr=lzo", |it| {
                it == Compressing::No
            });
        }
    }
}
