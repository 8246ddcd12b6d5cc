//! Targets that the machine's memory holds: what is measured there is no storage.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use fathom_record::InMemory;

use super::device::{BlockDevice, DeviceNumber};
use super::{device_under, mounts};

/// File systems that keep files in memory alone.
const FILE_SYSTEMS: [&str; 4] = ["tmpfs", "ramfs", "hugetlbfs", "rootfs"];

/// How the kernel begins the names of block devices that keep their data in memory, or none at all.
const DEVICES: [&str; 3] = ["zram", "ram", "nullb"];

/// Devices under devices that are looked at: more than anybody has put on each other.
const DEEPEST: u32 = 16;

/// What of the machine's memory is under the file, directory or device at `path`; `None` where nothing is known to be.
pub(crate) fn memory_under(path: &Path) -> Option<InMemory> {
    under(path, DEEPEST)
}

fn under(path: &Path, deepest: u32) -> Option<InMemory> {
    // A file that is not there yet comes to stand where its directory is.
    let there = |path| fs::metadata(path).ok().map(|found| (path, found));
    let (place, found) = path.ancestors().find_map(there)?;
    if !found.file_type().is_block_device() {
        let files = DeviceNumber::from_packed(found.dev());
        let kind = mounts::kind_of(files);
        if let Some(kind) = kind.filter(|kind| FILE_SYSTEMS.contains(&kind.as_str())) {
            return Some(InMemory::FileSystem(kind));
        }
    }
    let device = device_under(place, &found)?;
    under_device(&device.parent().unwrap_or(device), deepest)
}

fn under_device(device: &BlockDevice, deepest: u32) -> Option<InMemory> {
    let deeper = deepest.checked_sub(1)?;
    let name = &device.name;
    if DEVICES.iter().any(|start| is_numbered(name, start)) {
        return Some(InMemory::Device(name.clone()));
    }
    match device.loop_file() {
        Some((file, false)) => Some(InMemory::PageCache {
            device: name.clone(),
            file: file.display().to_string(),
        }),
        Some((file, true)) => under(&file, deeper),
        None => {
            let mut parts = device.parts().into_iter();
            parts.find_map(|part| under_device(&part, deeper))
        }
    }
}

/// Whether a name is this start and a number.
fn is_numbered(name: &str, start: &str) -> bool {
    let number = name.strip_prefix(start);
    number.is_some_and(|number| {
        !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::made::Kernel;

    #[test]
    fn names_of_devices_in_memory_are_known() {
        assert!(is_numbered("zram0", "zram") && is_numbered("ram15", "ram"));
        assert!(!is_numbered("ram", "ram") && !is_numbered("ramdisk", "ram"));
        assert!(!is_numbered("sdram1", "ram"));
    }

    #[test]
    fn a_file_system_in_memory_is_known_before_its_file_is_there() {
        let shared_memory = Path::new("/dev/shm/no such file");
        let expected = InMemory::FileSystem("tmpfs".to_owned());
        assert_eq!(memory_under(shared_memory), Some(expected));
        assert_eq!(memory_under(Path::new("/proc/no such file")), None);
    }

    /// Name of the device in memory that is found under a file of a kernel that is built so.
    fn device_in_memory(build: impl FnOnce(&Kernel)) -> Option<InMemory> {
        let kernel = Kernel::new("ext4");
        kernel.device("zram1", DeviceNumber::parse("4001:1").unwrap());
        kernel.device("vdb", DeviceNumber::parse("4001:16").unwrap());
        build(&kernel);
        memory_under(&kernel.file("a"))
    }

    #[test]
    fn devices_in_memory_are_found_below_others() {
        let zram = Some(InMemory::Device("zram1".to_owned()));
        let volume_of = |parts: &'static [&'static str]| {
            move |kernel: &Kernel| {
                kernel.device("dm-0", kernel.number_of_files());
                kernel.device("dm-1", DeviceNumber::parse("4001:7").unwrap());
                kernel.made_of("dm-0", "dm-1");
                for part in parts {
                    kernel.made_of("dm-1", part);
                }
            }
        };
        assert_eq!(device_in_memory(volume_of(&["vdb", "zram1"])), zram);
        assert_eq!(device_in_memory(volume_of(&["vdb"])), None);
        // A loop device on itself, which no kernel has, ends.
        let looped = |dio: &'static str| {
            move |kernel: &Kernel| {
                kernel.device("loop3", kernel.number_of_files());
                kernel.attach("loop3", &kernel.file("image"), dio);
            }
        };
        assert_eq!(device_in_memory(looped("1")), None);
        let found = device_in_memory(looped("0"));
        assert!(
            matches!(&found, Some(InMemory::PageCache { device, .. }) if device == "loop3"),
            "{found:?}"
        );
    }
}
