//! What the bytes of a device say it is part of.
//!
//! Only what makes writing dangerous though nothing is mounted is looked for: partition tables, and parts of swap, RAID,
//! LVM, encryption and pools. File systems are named too, for a note: an unmounted one may be destroyed by who asks for
//! it by name.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use super::firmware_raid;

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Signatures {
    /// Refuse writing.
    pub(crate) grave: Vec<&'static str>,
    /// A file system that is not known to be mounted.
    pub(crate) file_system: Option<&'static str>,
}

/// A name, and fixed bytes at a fixed place.
type Mark = (&'static str, u64, &'static [u8]);

/// Places and bytes: swap from `linux/swap.h` for each page size; LUKS from its on-disk specification (1.2.3 and 2);
/// Linux RAID from `linux/raid/md_p.h` (1.1 and 1.2 at fixed places); bcache from `bcache_ondisk.h`; BitLocker's volume
/// header.
const GRAVE: [Mark; 13] = [
    ("a GPT partition table", 512, b"EFI PART"),
    ("a GPT partition table", 4096, b"EFI PART"),
    ("a swap area", 4086, b"SWAPSPACE2"),
    ("a swap area", 8182, b"SWAPSPACE2"),
    ("a swap area", 16374, b"SWAPSPACE2"),
    ("a swap area", 65526, b"SWAPSPACE2"),
    ("a suspended system image", 4086, b"S1SUSPEND\0"),
    ("LUKS encryption", 0, b"LUKS\xba\xbe"),
    ("a Linux RAID member", 0, &[0xfc, 0x4e, 0x2b, 0xa9]),
    ("a Linux RAID member", 4096, &[0xfc, 0x4e, 0x2b, 0xa9]),
    (
        "a bcache member",
        4096 + 24,
        &[
            0xc6, 0x85, 0x73, 0xf6, 0x4e, 0x1a, 0x45, 0xca, 0x82, 0x65, 0xf5, 0x7f, 0x48, 0xba,
            0x6d, 0x81,
        ],
    ),
    ("BitLocker encryption", 3, b"-FVE-FS-"),
    ("a Ceph store", 0, b"bluestore block device"),
];

/// Magic numbers of file systems, as `magic(5)` and their own headers give them.
const FILE_SYSTEMS: [Mark; 8] = [
    ("ext2, ext3 or ext4", 1080, &[0x53, 0xef]),
    ("XFS", 0, b"XFSB"),
    ("Btrfs", 65536 + 64, b"_BHRfS_M"),
    ("F2FS", 1024, &[0x10, 0x20, 0xf5, 0xf2]),
    ("NTFS", 3, b"NTFS    "),
    ("exFAT", 3, b"EXFAT   "),
    ("FAT", 54, b"FAT"),
    ("FAT", 82, b"FAT"),
];

/// Looks for signatures on a device of `size` bytes.
///
/// # Errors
/// Where the device cannot be read.
pub(crate) fn find(device: &File, size: u64) -> io::Result<Signatures> {
    let head = read(device, 0, size.min(512 << 10))?;
    let matches = |(_, place, bytes): &&Mark| has(&head, *place, bytes);
    let mut grave: Vec<_> = GRAVE.iter().filter(matches).map(|mark| mark.0).collect();
    if has_mbr(&head) && !grave.contains(&"a GPT partition table") {
        grave.push("an MBR partition table");
    }
    if (0..4).any(|sector| has_lvm_label(&head, sector * 512)) {
        grave.push("an LVM physical volume");
    }
    if has_zfs(&head) {
        grave.push("a ZFS pool member");
    }
    if has_old_raid(device, size)? {
        grave.push("a Linux RAID member");
    }
    grave.extend(firmware_raid::find(device, size)?);
    if size > 512 && has(&read(device, size - 512, 512)?, 0, b"EFI PART") {
        grave.push("a GPT partition table (its copy at the end)");
    }
    grave.dedup();
    let file_system = FILE_SYSTEMS.iter().find(matches).map(|mark| mark.0);
    Ok(Signatures { grave, file_system })
}

pub(super) fn read(device: &File, offset: u64, length: u64) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; length as usize];
    let mut filled = 0;
    while filled < bytes.len() {
        match device.read_at(&mut bytes[filled..], offset + filled as u64)? {
            0 => break,
            count => filled += count,
        }
    }
    bytes.truncate(filled);
    Ok(bytes)
}

pub(super) fn has(bytes: &[u8], place: u64, mark: &[u8]) -> bool {
    bytes
        .get(place as usize..)
        .is_some_and(|rest| rest.starts_with(mark))
}

/// A label of LVM counts with its type alone, which is what `wipefs` takes away.
fn has_lvm_label(head: &[u8], place: u64) -> bool {
    has(head, place, b"LABELONE") && has(head, place + 24, b"LVM2 001")
}

/// A boot record whose four entries are all plausible and not all empty; a FAT or NTFS boot sector ends alike, but holds
/// code where the entries are.
fn has_mbr(head: &[u8]) -> bool {
    let Some(sector) = head.get(..512) else {
        return false;
    };
    let entries: Vec<_> = sector[446..510].chunks(16).collect();
    let plausible = entries.iter().all(|entry| matches!(entry[0], 0 | 0x80));
    let used = entries.iter().any(|entry| entry[4] != 0);
    sector[510..] == [0x55, 0xaa] && plausible && used
}

/// Linux RAID 0.90 keeps its superblock in the last 64 KiB that are 64 KiB aligned, 1.0 in the last 8 to 12 KiB.
fn has_old_raid(device: &File, size: u64) -> io::Result<bool> {
    const MAGIC: [u8; 4] = [0xfc, 0x4e, 0x2b, 0xa9];
    const MAGIC_BIG_ENDIAN: [u8; 4] = [0xa9, 0x2b, 0x4e, 0xfc];
    if size < 128 << 10 {
        return Ok(false);
    }
    let v0_90 = (size & !0xffff) - 0x1_0000;
    let v1_0 = ((size / 512 - 16) & !7) * 512;
    for place in [v0_90, v1_0] {
        let bytes = read(device, place, 4)?;
        if has(&bytes, 0, &MAGIC) || has(&bytes, 0, &MAGIC_BIG_ENDIAN) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// ZFS keeps uberblocks from 128 KiB on in each label, one in each KiB at least.
fn has_zfs(head: &[u8]) -> bool {
    const MAGIC: u64 = 0x00ba_b10c;
    let starts = (128..256).map(|kib| kib * 1024);
    let mut words = starts.filter_map(|place| head.get(place..place + 8)?.try_into().ok());
    words
        .any(|word: [u8; 8]| u64::from_le_bytes(word) == MAGIC || u64::from_be_bytes(word) == MAGIC)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(marks: &[(u64, &[u8])], grave: &[&str], file_system: Option<&str>) {
        let file = tempfile::tempfile().unwrap();
        file.set_len(1 << 20).unwrap();
        for (place, bytes) in marks {
            file.write_all_at(bytes, *place).unwrap();
        }
        let found = find(&file, 1 << 20).unwrap();
        assert_eq!(found.grave, grave);
        assert_eq!(found.file_system, file_system);
    }

    #[test]
    fn signatures_are_found() {
        check(&[], &[], None);
        check(&[(1080, &[0x53, 0xef])], &[], Some("ext2, ext3 or ext4"));
        check(&[(4086, b"SWAPSPACE2")], &["a swap area"], None);
        check(&[(0, b"LUKS\xba\xbe\0\x02")], &["LUKS encryption"], None);
        let label = [(512, &b"LABELONE"[..]), (536, b"LVM2 001")];
        check(&label, &["an LVM physical volume"], None);
        check(&label[..1], &[], None);
        let raid = [0xfc, 0x4e, 0x2b, 0xa9];
        check(&[(4096, &raid)], &["a Linux RAID member"], None);
        check(
            &[((1 << 20) - 65536, &raid)],
            &["a Linux RAID member"],
            None,
        );
        check(&[((1 << 20) - 8192, &raid)], &["a Linux RAID member"], None);
        let uber = 0x00ba_b10c_u64.to_le_bytes();
        check(&[(130 << 10, &uber)], &["a ZFS pool member"], None);
        check(&[(512, b"EFI PART")], &["a GPT partition table"], None);
        let copy = "a GPT partition table (its copy at the end)";
        check(&[((1 << 20) - 512, b"EFI PART")], &[copy], None);
    }

    #[test]
    fn a_partition_table_is_not_a_boot_sector() {
        let entry = [0x80, 0, 2, 0, 0x83, 0, 0, 0, 0, 8, 0, 0, 0, 8, 0, 0];
        let table = "an MBR partition table";
        check(&[(446, &entry), (510, &[0x55, 0xaa])], &[table], None);
        check(&[(510, &[0x55, 0xaa])], &[], None);
        check(
            &[(54, b"FAT16"), (446, &[0x33; 64]), (510, &[0x55, 0xaa])],
            &[],
            Some("FAT"),
        );
    }

    #[test]
    fn a_device_of_a_few_bytes_is_no_danger_to_us() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(100).unwrap();
        assert_eq!(find(&file, 100).unwrap(), Signatures::default());
    }
}
