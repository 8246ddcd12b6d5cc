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
    use crate::guard::DeviceNumber;
    use crate::guard::made::Kernel;

    fn number(text: &str) -> DeviceNumber {
        DeviceNumber::parse(text).unwrap()
    }

    const VDO: &str = "VDO-e9b9d2c8-0bd1-4b0e-9f5c-8b1d5d3a0c11";

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

    /// A volume of the device mapper with this id is what files are on, or below that as `build` says; the name that is told.
    #[track_caller]
    fn check_volume(id: &str, expected: Option<&str>, build: impl FnOnce(&Kernel)) {
        let kernel = Kernel::new("ext4");
        build(&kernel);
        kernel.says("dm-7", "dm/uuid", id);
        let found = reducing_under(&kernel.file("a"));
        // What is not there yet comes to stand beside it.
        assert_eq!(reducing_under(&kernel.file("a").with_file_name("b")), found);
        assert!((found.iter()).all(|it| it.what == Reduced::CompressibleAndRepeated));
        assert!(found.iter().all(|it| !it.is_seen));
        let name = found.and_then(|it| Some(it.how.split_once(", a VDO volume,")?.0.to_owned()));
        assert_eq!(name.as_deref(), expected);
    }

    #[test]
    fn volumes_of_vdo_are_found_below_what_files_are_on() {
        let itself = |kernel: &Kernel| {
            kernel.device("dm-7", kernel.number_of_files());
        };
        check_volume(VDO, Some("dm-7"), itself);
        check_volume("LVM-m0cd0G3yHuDB-vpool", Some("dm-7"), itself);
        check_volume("LVM-m0cd0G3yHuDB", None, itself);
        // A partition of it.
        check_volume(VDO, Some("dm-7"), |kernel| {
            let volume = kernel.device("dm-7", number("4001:7"));
            kernel.part(&volume, "dm-7p1", kernel.number_of_files());
        });
        // What is encrypted is on a volume of LVM, and that on a disk and on it.
        let below = |part: &'static str| {
            move |kernel: &Kernel| {
                kernel.device("dm-9", kernel.number_of_files());
                kernel.device("dm-8", number("4001:8"));
                kernel.device("vdb", number("4001:16"));
                let volume = kernel.device("dm-7", number("4001:7"));
                kernel.part(&volume, "dm-7p1", number("4001:107"));
                kernel.made_of("dm-9", "dm-8");
                kernel.made_of("dm-8", "vdb");
                kernel.made_of("dm-8", part);
            }
        };
        check_volume(VDO, Some("dm-7"), below("dm-7"));
        check_volume(VDO, Some("dm-7"), below("dm-7p1"));
        check_volume(VDO, None, below("vdc"));
    }

    /// The file behind it is on a file system of its own, such as that of `/proc` here.
    fn elsewhere(kernel: &Kernel, kind: &str, options: &str) -> DeviceNumber {
        use std::os::unix::fs::MetadataExt as _;
        let (own, there) = (
            kernel.number_of_files(),
            fs::metadata("/proc/version").unwrap(),
        );
        let there = DeviceNumber::from_packed(there.dev());
        kernel.mounts(&format!(
            "1 0 {own} / / rw - ext4 none rw\n2 1 {there} / /proc rw - {kind} none {options}"
        ));
        there
    }

    #[test]
    fn what_is_below_the_file_of_a_loop_device_counts() {
        let on_loop = |dio: &'static str| {
            move |kernel: &Kernel| {
                kernel.device("loop3", kernel.number_of_files());
                kernel.attach("loop3", Path::new("/proc/version"), dio);
                let there = elsewhere(kernel, "xfs", "rw");
                kernel.device("dm-7", there);
            }
        };
        check_volume(VDO, Some("dm-7"), on_loop("1"));
        check_volume(VDO, Some("dm-7"), on_loop("0"));
        let file_system = |kind: &str, options: &str| {
            let kernel = Kernel::new("ext4");
            kernel.device("loop3", kernel.number_of_files());
            kernel.attach("loop3", Path::new("/proc/version"), "1");
            elsewhere(&kernel, kind, options);
            let found = reducing_under(&kernel.file("a"));
            found.map(|it| (it.how, it.is_seen))
        };
        let (how, is_seen) = file_system("zfs", "rw").unwrap();
        assert!(how.starts_with("zfs, which compresses unless ") && !is_seen);
        let seen = file_system("ubifs", "rw,compr=lzo");
        assert_eq!(seen, Some(("ubifs".to_owned(), true)));
        assert_eq!(file_system("ubifs", "rw,compr=none"), None);
        assert_eq!(file_system("xfs", "rw"), None);
    }

    /// No kernel has such a device, and none that had would be asked for ever.
    #[test]
    fn a_loop_device_on_itself_ends() {
        check_volume(VDO, None, |kernel| {
            kernel.device("loop3", kernel.number_of_files());
            kernel.device("dm-7", number("4001:7"));
            kernel.attach("loop3", &kernel.file("image"), "1");
        });
        check_volume("CRYPT-LUKS2", None, |kernel| {
            kernel.device("dm-7", kernel.number_of_files());
            kernel.made_of("dm-7", "dm-7");
        });
    }

    /// What a file system was told not to do, what it is on does not do for it: its data comes there as it is.
    #[test]
    fn what_a_file_system_does_comes_before_what_it_is_on() {
        let of = |kind: &str, options: &str| {
            let kernel = Kernel::new("ext4");
            let own = kernel.number_of_files();
            kernel.mounts(&format!("1 0 {own} / / rw - {kind} none {options}"));
            kernel.device("dm-7", own);
            kernel.says("dm-7", "dm/uuid", VDO);
            let found = reducing_under(&kernel.file("a"));
            found.map(|it| (it.how.split(',').next().unwrap().to_owned(), it.is_seen))
        };
        assert_eq!(of("zfs", "rw"), Some(("zfs".to_owned(), false)));
        assert_eq!(of("jffs2", "rw"), Some(("jffs2".to_owned(), false)));
        assert_eq!(
            of("ubifs", "rw,compr=zstd"),
            Some(("ubifs".to_owned(), true))
        );
        assert_eq!(
            of("btrfs", "rw,compress=zstd"),
            Some(("dm-7".to_owned(), false))
        );
    }
}
